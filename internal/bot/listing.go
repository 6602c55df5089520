package bot

import (
	"fmt"
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// Sections is the JSON of a listing. With --describe-options=KIND it has one key.
type Sections[T any] struct {
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

// bySection returns a listing. list converts the services of each key.
func bySection[T any](c *catalog.Catalog, botTypes T, list func([]*catalog.Service) T) Sections[T] {
	return Sections[T]{
		botTypes,
		byBotType[T]{list(c.Transports(false)), list(c.Transports(true))},
		list(c.List(catalog.KindSTT)), list(c.List(catalog.KindLLM)), list(c.List(catalog.KindTTS)), list(c.List(catalog.KindRealtime)), list(c.List(catalog.KindVideo)),
	}
}

type variableAnswer struct {
	Name     string        `json:"name"`
	Required bool          `json:"required"`
	Unless   report.OrNull `json:"required_unless"`
	With     report.OrNull `json:"required_with"`
	Without  report.OrNull `json:"refused_with"`
	Kind     string        `json:"kind"`
	Default  report.OrNull `json:"default"`
	Other    report.OrNull `json:"default_variable"`
	Note     string        `json:"note"`
}

// A ServiceAnswer describes one id in the JSON of --describe-options.
type ServiceAnswer struct {
	ID     string           `json:"id"`
	Label  string           `json:"label"`
	Names  []string         `json:"names"`
	Env    []variableAnswer `json:"env"`
	Extras []string         `json:"extras"`
	Needs  []string         `json:"needs"`
	Hosts  []string         `json:"hosts"`
	// How it comes to the language of the conversation, and those that it can be told or is
	// made for.
	Language  report.OrNull `json:"language"` // told, fixed, auto or voice
	Languages []string      `json:"languages"`
}

// Describe returns what --describe-options prints as JSON, of one kind or, if that is "",
// of all.
func Describe(c *catalog.Catalog, kind string) any {
	botTypes := []ServiceAnswer{}
	for _, id := range OptBotType.Allowed() {
		botTypes = append(botTypes, ServiceAnswer{id, strings.ToUpper(id[:1]) + id[1:], []string{}, []variableAnswer{}, []string{}, []string{}, []string{}, "", []string{}})
	}
	all := bySection(c, botTypes, func(services []*catalog.Service) []ServiceAnswer {
		out := []ServiceAnswer{}
		for _, p := range services {
			e := ServiceAnswer{p.ID, p.Label, p.Names, []variableAnswer{}, append([]string{}, p.Extras...), append([]string{}, p.Needs()...), p.Addresses(), report.OrNull(p.Language()), p.Languages()}
			for _, v := range p.Env {
				e.Env = append(e.Env, variableAnswer{v.Name, v.Required, report.OrNull(p.Unless(v)), report.OrNull(v.With), report.OrNull(v.Without), v.Kind, report.OrNull(v.Fallback), report.OrNull(v.Other), v.Note})
			}
			out = append(out, e)
		}
		return out
	})
	if kind == "" {
		return all
	}
	one := map[string]any{catalog.KindTransport: all.Transports, catalog.KindSTT: all.STT, catalog.KindLLM: all.LLM, catalog.KindTTS: all.TTS, catalog.KindRealtime: all.Realtime, catalog.KindVideo: all.Video}
	return map[string]any{kind: one[kind]}
}

// DescribeText returns a paragraph for each service, at most 80 columns wide.
func DescribeText(c *catalog.Catalog, kind string) string {
	var b strings.Builder
	for _, s := range []struct {
		title    string
		option   *Option
		services []*catalog.Service
	}{
		{"Web transports", OptTransports, c.Transports(false)},
		{"Telephony transports", OptTransports, c.Transports(true)},
		{"Speech to text", OptSTT, c.List(catalog.KindSTT)},
		{"Language models", OptLLM, c.List(catalog.KindLLM)},
		{"Text to speech", OptTTS, c.List(catalog.KindTTS)},
		{"Speech to speech", OptRealtime, c.List(catalog.KindRealtime)},
		{"Video avatars", OptVideo, c.List(catalog.KindVideo)},
	} {
		if kind != "" && kind != s.option.Kind {
			continue
		}
		fmt.Fprintf(&b, "%s (--%s)\n\n", s.title, s.option.Flag)
		for _, p := range s.services {
			var variables []string
			for _, v := range p.Env {
				if v.Required {
					variables = append(variables, v.Name)
				} else {
					variables = append(variables, "["+v.Name+"]")
				}
			}
			needs := p.Needs()
			if len(p.Extras) > 0 {
				needs = append(needs, "extras "+strings.Join(p.Extras, " "))
			}
			left := p.Names[0]
			names := slices.DeleteFunc(append([]string{p.ID}, p.Names...), func(name string) bool { return name == left })
			for _, words := range [][]string{append([]string{p.Label}, names...), variables, needs} {
				for _, line := range report.Fill(words, ",", 52) {
					fmt.Fprintf(&b, "  %-25s %s\n", left, line)
					left = ""
				}
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("Each entry has its name, label, id and other names; its variables, with optional\nones in brackets; what else it needs; and the extras of pipecat-ai.\n")
	return b.String()
}

// ListOptions returns what --list-options prints.
func ListOptions(c *catalog.Catalog) Sections[[]string] {
	return bySection(c, OptBotType.Allowed(), catalog.IDs)
}
