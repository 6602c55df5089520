package bot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// maxProblems limits the number of problems with a configuration file, and so the time to find
// their lines and columns.
const maxProblems = 100

// ParseConfig reads the JSON object in data. name is the file's name in problems. The
// values are nil if data is not a JSON object.
func ParseConfig(name string, data []byte) (Values, report.Problems) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	p := &configParser{name: name, data: data, values: Values{}, given: map[*Option]string{}}
	members, end, err := report.Members(data)
	if members == nil {
		p.refuse("config", end, "%v", err)
		return nil, p.problems
	}
	for _, m := range members {
		if len(p.problems) == maxProblems {
			p.refuse("config", m.At, "there are more problems")
			break
		}
		p.member(m)
	}
	if _, ok := p.values[OptClient]; p.clientWantedAt > 0 && !ok {
		const needs = "generate_client needs client_framework: react or vanilla"
		p.refuse(OptClient.Key, p.clientWantedAt, needs)
	}
	if err != nil {
		p.refuse("config", end, "%v", err)
	}
	return p.values, p.problems
}

// afterConfig are the keys that --dry-run --json prints after the configuration. They are ignored in a
// configuration file.
var afterConfig = []string{"files", "variables", "changed", "warnings"}

// A configParser reads one configuration file.
type configParser struct {
	name           string
	data           []byte
	values         Values
	given          map[*Option]string // where each option is in the file: "bot.json:3:5"
	clientWantedAt int                // where generate_client asks for a client, in bytes; 0 if it does not
	problems       report.Problems
}

// refuse adds a problem at the offset, in bytes.
func (p *configParser) refuse(key string, offset int, format string, args ...any) {
	p.problems.AddAt(p.place(offset), key, format, args...)
}

// place converts an offset, in bytes, to a place in the file.
func (p *configParser) place(offset int) report.Place {
	return report.PlaceOf(p.name, p.data, offset)
}

// member reads a member of the object.
func (p *configParser) member(m report.Member) {
	o := ByKey(m.Key)
	switch {
	case m.Key == "$schema": // for editors; see `vbot schema`
		if m.Value[0] != '"' {
			p.refuse(m.Key, m.ValueAt, "$schema: expected a string")
		}
	case slices.Contains(afterConfig, m.Key):
	case m.Key == "generate_client":
		p.generateClient(m)
	case o == nil:
		near := nearestKey(m.Key)
		hint := report.DidYouMean(near)
		if m.Key == "config" && m.Value[0] == '{' { // of .vbot.json, and of what --json prints
			hint = "; pass its value alone"
		}
		p.refuse(m.Key, m.At, "unknown key %q%s", m.Key, hint)
		if meant := ByKey(near); meant != nil && p.given[meant] == "" {
			p.values[meant] = Value{reported: true} // do not report it as missing, too
		}
	case p.given[o] != "":
		p.refuse(m.Key, m.At, "%s is already given in %s", m.Key, p.given[o])
	default:
		p.option(o, m)
	}
}

// generateClient reads generate_client, which `pipecat init` has in addition to client_framework.
func (p *configParser) generateClient(m report.Member) {
	var on bool
	if json.Unmarshal(m.Value, &on) != nil {
		p.refuse(m.Key, m.ValueAt, "%s: expected true or false", m.Key)
		return
	}
	if on {
		p.clientWantedAt = m.ValueAt
		return
	}
	if _, ok := p.values[OptClient]; !ok {
		at := p.place(m.ValueAt)
		p.values[OptClient] = Value{Text: ClientNone, Alias: m.Key, at: at}
	}
}

// option reads the value of an option; null means that there is none.
func (p *configParser) option(o *Option, m report.Member) {
	p.given[o] = p.place(m.At).String()
	if string(m.Value) == "null" {
		return
	}
	var v Value
	var err error
	expected := "a string"
	switch {
	case o.IsToggle():
		expected = "true or false"
		err = json.Unmarshal(m.Value, &v.On)
	case o.IsList():
		expected = "a list of strings"
		err = json.Unmarshal(m.Value, &v.List)
	default:
		err = json.Unmarshal(m.Value, &v.Text)
	}
	if err != nil {
		v = Value{reported: true}
		p.refuse(m.Key, m.ValueAt, "%s: expected %s", m.Key, expected)
	}
	v.at = p.place(m.ValueAt)
	if m.Key != o.Key {
		v.Alias = m.Key
	}
	p.values[o] = v
}

// nearestKey returns the key that word may mean, or "". It also knows the names of the
// command-line options.
func nearestKey(word string) string {
	keys := map[string]string{}
	var names []string
	for _, o := range Options {
		for _, name := range []string{o.Key, strings.ReplaceAll(o.Flag, "-", "_")} {
			keys[name] = o.Key
			names = append(names, name)
		}
	}
	return keys[report.Nearest(strings.ReplaceAll(word, "-", "_"), names)]
}

// DescribeKey returns the description of a key of the configuration, and its values if they are fixed.
func (Config) DescribeKey(key string) (about string, enum []string) {
	o := ByKey(key)
	if o == nil {
		return "", nil
	}
	return o.Help, o.Allowed()
}

// Schema returns the JSON Schema of a configuration file, in which null means "not given". It
// lists ids and real names where they are fixed, and requires the services of the mode.
func Schema(cat *catalog.Catalog) map[string]any {
	properties := map[string]any{
		"$schema": map[string]any{"type": "string", "description": "the address of this schema"},
		"generate_client": map[string]any{
			"type": "boolean", "description": "of pipecat init: whether there is a client",
		},
	}
	for _, key := range afterConfig {
		properties[key] = map[string]any{"description": "of --dry-run --json; means nothing here"}
	}
	for _, o := range Options {
		words := o.Allowed()
		for _, s := range cat.List(o.Kind) {
			words = append(words, slices.Compact(append([]string{s.ID}, s.Names...))...)
		}
		value := map[string]any{"type": "string"}
		if words != nil {
			value = map[string]any{"enum": words}
		}
		if o.IsToggle() {
			value = map[string]any{"type": "boolean"}
		} else if o.IsList() {
			value = map[string]any{"type": "array", "items": value}
		}
		for _, key := range []string{o.Key, cmp.Or(o.PipecatName, o.Key)} {
			properties[key] = map[string]any{
				"description": o.Help,
				"anyOf":       []any{value, map[string]any{"type": "null"}},
			}
		}
	}
	return map[string]any{
		"type":                 "object",
		"properties":           properties,
		"additionalProperties": false,
		"allOf":                []any{servicesOf(ModeCascade), servicesOf(ModeRealtime)},
	}
}

// servicesOf returns the part of the schema that requires the services of the mode in a file with this
// mode.
func servicesOf(mode string) map[string]any {
	isMode := map[string]any{OptMode.Key: map[string]any{"const": mode}}
	services := map[string]any{}
	var keys []string
	for _, o := range Options {
		if o.mode == mode {
			keys = append(keys, o.Key)
			services[o.Key] = map[string]any{"type": "string"}
		}
	}
	return map[string]any{
		"if":   map[string]any{"properties": isMode, "required": []string{OptMode.Key}},
		"then": map[string]any{"properties": services, "required": keys},
	}
}
