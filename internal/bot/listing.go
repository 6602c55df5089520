package bot

import (
	"fmt"
	"slices"
	"strings"

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

// bySection returns a listing. list converts the providers of each key.
func bySection[T any](c *Catalog, botTypes T, list func([]*Provider) T) Sections[T] {
	return Sections[T]{
		botTypes, byBotType[T]{list(c.Transports(false)), list(c.Transports(true))},
		list(c.List(KindSTT)), list(c.List(KindLLM)), list(c.List(KindTTS)), list(c.List(KindRealtime)), list(c.List(KindVideo)),
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

// A ProviderAnswer describes one id in the JSON of --describe-options.
type ProviderAnswer struct {
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
func (c *Catalog) Describe(kind string) any {
	botTypes := []ProviderAnswer{}
	for _, id := range OptBotType.Allowed() {
		botTypes = append(botTypes, ProviderAnswer{id, strings.ToUpper(id[:1]) + id[1:], []string{}, []variableAnswer{}, []string{}, []string{}, []string{}, "", []string{}})
	}
	all := bySection(c, botTypes, func(providers []*Provider) []ProviderAnswer {
		out := []ProviderAnswer{}
		for _, p := range providers {
			p.Load()
			e := ProviderAnswer{p.ID, p.Label, p.Names, []variableAnswer{}, append([]string{}, p.Extras...), append([]string{}, p.Needs()...), p.Addresses(), report.OrNull(p.language()), []string{}}
			if e.Language == "told" || e.Language == "fixed" {
				e.Languages = p.languages
			}
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
	one := map[string]any{KindTransport: all.Transports, KindSTT: all.STT, KindLLM: all.LLM, KindTTS: all.TTS, KindRealtime: all.Realtime, KindVideo: all.Video}
	return map[string]any{kind: one[kind]}
}

// DescribeText returns a paragraph for each provider, at most 80 columns wide.
func (c *Catalog) DescribeText(kind string) string {
	var b strings.Builder
	for _, s := range []struct {
		title     string
		option    *Option
		providers []*Provider
	}{
		{"Web transports", OptTransports, c.Transports(false)},
		{"Telephony transports", OptTransports, c.Transports(true)},
		{"Speech to text", OptSTT, c.List(KindSTT)},
		{"Language models", OptLLM, c.List(KindLLM)},
		{"Text to speech", OptTTS, c.List(KindTTS)},
		{"Speech to speech", OptRealtime, c.List(KindRealtime)},
		{"Video avatars", OptVideo, c.List(KindVideo)},
	} {
		if kind != "" && kind != s.option.Kind {
			continue
		}
		fmt.Fprintf(&b, "%s (--%s)\n\n", s.title, s.option.Flag)
		for _, p := range s.providers {
			var variables []string
			for _, v := range p.Load().Env {
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
				for _, line := range wrapped(words, 52) {
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

// ListOptions returns what --list-options prints.
func (c *Catalog) ListOptions() Sections[[]string] { return bySection(c, OptBotType.Allowed(), IDs) }

// Groups are the headings of long lists of services. Ids are letters in the order in which
// vbot got the services: the usual ones are the first two of each kind.
var Groups = []string{"", "By phone", "To try it without a phone", "Usual", "On your own machine", "Others", "From your catalog"}

// Group returns the index of the service's heading.
func (p *Provider) Group() int {
	switch {
	case p.own:
		return 6
	case p.Kind == KindVideo: // a short list
		return 0
	case p.botType == BotTelephony:
		return 1
	case p.Kind == KindTransport: // of a telephony bot: in a list of a group there are no headings
		return 2
	case slices.Contains(p.flags, "local"):
		return 4
	case strings.HasSuffix(p.ID, "_a") || strings.HasSuffix(p.ID, "_b"):
		return 3
	}
	return 5
}

// Gist says in half a line what sets the provider apart. has are the credentials that the
// bot needs without it.
func (p *Provider) Gist(has map[string]bool) string {
	var facts, languages []string
	for _, tag := range p.languages {
		base, _, _ := strings.Cut(tag, "-")
		if !slices.Contains(languages, base) {
			languages = append(languages, base)
		}
	}
	switch n := len(languages); {
	case n > 3:
		facts = append(facts, fmt.Sprintf("%d languages", n))
	case n > 0 && languages[0] == languageAuto:
		facts = append(facts, "language detected")
	case n > 0 && languages[0] == languageVoice:
		facts = append(facts, "language by voice")
	case n > 0:
		facts = append(facts, strings.Join(languages, ", ")+" only")
	}
	if p.Kind == KindRealtime && p.videoIn {
		facts = append(facts, "sees the camera")
	}
	if p.model.megabytes > 0 {
		facts = append(facts, fmt.Sprintf("%d MB of memory", p.model.megabytes))
	}
	key, credentials := "no key", p.Credentials()
	if slices.ContainsFunc(p.Env, func(v variable) bool { return v.Kind == "secret" }) {
		key = "key"
		if slices.ContainsFunc(p.Env, func(v variable) bool { return v.Kind == "voice" && v.Required }) {
			key = "key and voice"
		}
		if page := strings.Split(p.KeysURL, "/"); len(page) > 2 {
			key += " from " + strings.TrimPrefix(page[2], "www.")
		}
	}
	if len(credentials) > 0 && !slices.ContainsFunc(credentials, func(k Credential) bool { return !has[k.Names] }) {
		key = "no further key"
	}
	facts = append(facts, key)
	if slices.Contains(p.flags, "deprecated") {
		facts = append(facts, "deprecated")
	}
	return strings.Join(facts, "; ")
}
