package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// sections is the JSON of a listing. With --describe-options=KIND it has one key.
type sections[T any] struct {
	BotType    T            `json:"bot_type"`
	Transports byBotType[T] `json:"transports"`
	STT        T            `json:"stt"`
	LLM        T            `json:"llm"`
	TTS        T            `json:"tts"`
	Realtime   T            `json:"realtime"`
	Video      T            `json:"video"`
}

type byBotType[T any] struct {
	Web       T `json:"web"`
	Telephony T `json:"telephony"`
}

// bySection returns a listing. list converts the providers of each key.
func bySection[T any](cat *catalog, botTypes T, list func([]*provider) T) sections[T] {
	return sections[T]{
		botTypes, byBotType[T]{list(cat.transports(false)), list(cat.transports(true))},
		list(cat.list(kindSTT)), list(cat.list(kindLLM)), list(cat.list(kindTTS)), list(cat.list(kindRealtime)), list(cat.list(kindVideo)),
	}
}

// listOptions prints the ids that options take, as JSON.
func listOptions(a *app, inv *invocation) error {
	cat, err := openCatalog(a, inv)
	if err != nil {
		return err
	}
	return writeJSON(a.stdout, bySection(cat, optBotType.allowed(), idsOf))
}

// A describeFlag is --describe-options or --describe-options=KIND.
type describeFlag struct{ inv *invocation }

func (d describeFlag) String() string   { return "" }
func (d describeFlag) IsBoolFlag() bool { return true }
func (d describeFlag) takes() string {
	return kindTransport + ", stt, llm, tts, realtime or video"
}

func (d describeFlag) reads(next string) string {
	if next == kindTransport || slices.Contains(serviceKinds, next) {
		return next
	}
	return toggle{}.reads(next)
}

func (d describeFlag) Set(kind string) error {
	switch d.reads(kind) {
	case "":
		return errors.New("unknown kind")
	case "true":
		kind = ""
	case "false":
		d.inv.instead = nil
		return nil
	}
	d.inv.instead = func(a *app, inv *invocation) error { return describeOptions(a, inv, kind) }
	return nil
}

type variableAnswer struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Unless   orNull `json:"required_unless"`
	With     orNull `json:"required_with"`
	Without  orNull `json:"refused_with"`
	Kind     string `json:"kind"`
	Default  orNull `json:"default"`
	Other    orNull `json:"default_variable"`
	Note     string `json:"note"`
}

// A providerAnswer describes one id in the JSON of --describe-options.
type providerAnswer struct {
	ID     string           `json:"id"`
	Label  string           `json:"label"`
	Names  []string         `json:"names"`
	Env    []variableAnswer `json:"env"`
	Extras []string         `json:"extras"`
	Needs  []string         `json:"needs"`
	Hosts  []string         `json:"hosts"`
}

// describeOptions prints every id with its names and requirements, for people or,
// with --json, under the same keys as listOptions. kind limits it to one key; "" is
// all.
func describeOptions(a *app, inv *invocation, kind string) error {
	cat, err := openCatalog(a, inv)
	if err != nil {
		return err
	}
	if !inv.json {
		_, err := io.WriteString(a.stdout, describeForPeople(cat, kind))
		return err
	}
	botTypes := []providerAnswer{}
	for _, id := range optBotType.allowed() {
		botTypes = append(botTypes, providerAnswer{id, strings.ToUpper(id[:1]) + id[1:], []string{}, []variableAnswer{}, []string{}, []string{}, []string{}})
	}
	all := bySection(cat, botTypes, func(providers []*provider) []providerAnswer {
		out := []providerAnswer{}
		for _, p := range providers {
			p.load()
			e := providerAnswer{p.id, p.label, p.names, []variableAnswer{}, append([]string{}, p.extras...), append([]string{}, p.needs()...), p.addresses()}
			for _, v := range p.env {
				e.Env = append(e.Env, variableAnswer{v.name, v.required, orNull(p.unless(v)), orNull(v.with), orNull(v.without), v.kind, orNull(v.fallback), orNull(v.other), v.note})
			}
			out = append(out, e)
		}
		return out
	})
	if kind == "" {
		return writeJSON(a.stdout, all)
	}
	one := map[string]any{kindTransport: all.Transports, kindSTT: all.STT, kindLLM: all.LLM, kindTTS: all.TTS, kindRealtime: all.Realtime, kindVideo: all.Video}
	return writeJSON(a.stdout, map[string]any{kind: one[kind]})
}

// describeForPeople returns a paragraph for each provider, at most 80 columns wide.
func describeForPeople(cat *catalog, kind string) string {
	var b strings.Builder
	for _, s := range []struct {
		title     string
		option    *option
		providers []*provider
	}{
		{"Web transports", optTransports, cat.transports(false)},
		{"Telephony transports", optTransports, cat.transports(true)},
		{"Speech to text", optSTT, cat.list(kindSTT)},
		{"Language models", optLLM, cat.list(kindLLM)},
		{"Text to speech", optTTS, cat.list(kindTTS)},
		{"Speech to speech", optRealtime, cat.list(kindRealtime)},
		{"Video avatars", optVideo, cat.list(kindVideo)},
	} {
		if kind != "" && kind != s.option.kind {
			continue
		}
		fmt.Fprintf(&b, "%s (--%s)\n\n", s.title, s.option.flag)
		for _, p := range s.providers {
			var variables []string
			for _, v := range p.load().env {
				if v.required {
					variables = append(variables, v.name)
				} else {
					variables = append(variables, "["+v.name+"]")
				}
			}
			needs := p.needs()
			if len(p.extras) > 0 {
				needs = append(needs, "extras "+strings.Join(p.extras, " "))
			}
			left := p.names[0]
			names := slices.DeleteFunc(append([]string{p.id}, p.names...), func(name string) bool { return name == left })
			for _, words := range [][]string{append([]string{p.label}, names...), variables, needs} {
				for _, line := range wrapped(words, 52) {
					fmt.Fprintf(&b, "  %-25s %s\n", left, line)
					left = ""
				}
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("Beside each name: its label, id and other names; its variables, optional ones in\nbrackets; what else it needs, and the extras of pipecat-ai.\n")
	return b.String()
}

// wrapped joins words with commas, in lines of at most width columns.
func wrapped(words []string, width int) (lines []string) {
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if last := len(lines) - 1; i > 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
