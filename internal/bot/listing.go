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
	BotType    T            `json:"bot_type" about:"types of bots"`
	Transports ByBotType[T] `json:"transports" about:"by type of bot"`
	STT        T            `json:"stt" about:"speech to text"`
	LLM        T            `json:"llm" about:"language models"`
	TTS        T            `json:"tts" about:"text to speech"`
	Realtime   T            `json:"realtime" about:"speech to speech"`
	Video      T            `json:"video" about:"video avatars"`
}

// ByBotType has the transports of each type of bot.
type ByBotType[T any] struct {
	Web       T `json:"web" about:"for the web"`
	Telephony T `json:"telephony" about:"for telephones"`
}

// A Section is a part of a listing: the services of a kind, or the transports of a type of bot.
type Section struct {
	Title     string
	Option    *Option // whose values they are
	Telephony bool    // of transports: which of the two types of bot has them
}

// AllSections are the sections in their order.
var AllSections = []Section{
	{Title: "Web transports", Option: OptTransports},
	{Title: "Telephony transports", Option: OptTransports, Telephony: true},
	{Title: "Speech to text", Option: OptSTT},
	{Title: "Language models", Option: OptLLM},
	{Title: "Text to speech", Option: OptTTS},
	{Title: "Speech to speech", Option: OptRealtime},
	{Title: "Video avatars", Option: OptVideo},
}

// Services returns the services of the section, in order.
func (s Section) Services(c *catalog.Catalog) []*catalog.Service {
	if s.Option == OptTransports {
		return c.Transports(s.Telephony)
	}
	return c.List(s.Option.Kind)
}

// field returns the section's part of a listing.
func (all *Sections[T]) field(s Section) *T {
	switch {
	case s.Option == OptTransports && s.Telephony:
		return &all.Transports.Telephony
	case s.Option == OptTransports:
		return &all.Transports.Web
	}
	return map[*Option]*T{
		OptSTT:      &all.STT,
		OptLLM:      &all.LLM,
		OptTTS:      &all.TTS,
		OptRealtime: &all.Realtime,
		OptVideo:    &all.Video,
	}[s.Option]
}

// bySection returns a listing. list converts the services of each section.
func bySection[T any](c *catalog.Catalog, botTypes T, list func([]*catalog.Service) T) Sections[T] {
	all := Sections[T]{BotType: botTypes}
	for _, s := range AllSections {
		*all.field(s) = list(s.Services(c))
	}
	return all
}

// VariableInfo describes a variable in the JSON of --describe-options.
type VariableInfo struct {
	Name     string        `json:"name" about:"name of the variable"`
	Required bool          `json:"required" about:"a bot needs it"`
	Unless   report.OrNull `json:"required_unless" about:"variable that replaces it"`
	With     report.OrNull `json:"required_with" about:"needed if this one is set"`
	Without  report.OrNull `json:"refused_with" about:"refused if this one is set"`
	Kind     string        `json:"kind" enum:"secret,id,model,voice,region,url,path" about:"kind of value"`
	Default  report.OrNull `json:"default" about:"its value if unset"`
	Other    report.OrNull `json:"default_variable" about:"variable whose value is the default"`
	Note     string        `json:"note" about:"what it is"`
}

// ServiceInfo describes one id in the JSON of --describe-options.
type ServiceInfo struct {
	ID        string         `json:"id" about:"id in configuration files"`
	Label     string         `json:"label" about:"name for people"`
	Names     []string       `json:"names" about:"names that options take, too"`
	Env       []VariableInfo `json:"env" about:"variables that it reads"`
	Extras    []string       `json:"extras" about:"extras of pipecat-ai"`
	Needs     []string       `json:"needs" about:"what else it needs"`
	Hosts     []string       `json:"hosts" about:"hosts that it contacts"`
	Language  report.OrNull  `json:"language" enum:"told,fixed,auto,voice" about:"how it gets one"`
	Languages []string       `json:"languages" about:"those to choose from, or that it knows"`
}

// infoOf describes a service.
func infoOf(s *catalog.Service) ServiceInfo {
	info := ServiceInfo{
		ID:        s.ID,
		Label:     s.Label,
		Names:     s.Names,
		Env:       []VariableInfo{},
		Extras:    append([]string{}, s.Extras...),
		Needs:     append([]string{}, s.Needs()...),
		Hosts:     s.Addresses(),
		Language:  report.OrNull(s.Language()),
		Languages: s.Languages(),
	}
	for _, v := range s.Env {
		info.Env = append(info.Env, VariableInfo{
			Name:     v.Name,
			Required: v.Required,
			Unless:   report.OrNull(s.Unless(v)),
			With:     report.OrNull(v.With),
			Without:  report.OrNull(v.Without),
			Kind:     v.Kind,
			Default:  report.OrNull(v.Fallback),
			Other:    report.OrNull(v.Other),
			Note:     v.Note,
		})
	}
	return info
}

// Describe returns the JSON of --describe-options for one kind or, if that is "", for all.
func Describe(c *catalog.Catalog, kind string) any {
	botTypes := []ServiceInfo{}
	for _, id := range OptBotType.Allowed() {
		botTypes = append(botTypes, ServiceInfo{
			ID:        id,
			Label:     strings.ToUpper(id[:1]) + id[1:],
			Names:     []string{},
			Env:       []VariableInfo{},
			Extras:    []string{},
			Needs:     []string{},
			Hosts:     []string{},
			Languages: []string{},
		})
	}
	all := bySection(c, botTypes, func(services []*catalog.Service) []ServiceInfo {
		list := []ServiceInfo{}
		for _, s := range services {
			list = append(list, infoOf(s))
		}
		return list
	})
	if kind == "" {
		return all
	}
	if kind == catalog.KindTransport {
		return map[string]any{kind: all.Transports}
	}
	i := slices.IndexFunc(AllSections, func(s Section) bool { return s.Option.Kind == kind })
	return map[string]any{kind: *all.field(AllSections[i])}
}

// DescribeText returns a paragraph for each service, at most 80 columns wide.
func DescribeText(c *catalog.Catalog, kind string) string {
	var b strings.Builder
	for _, s := range AllSections {
		if kind != "" && kind != s.Option.Kind {
			continue
		}
		fmt.Fprintf(&b, "%s (--%s)\n\n", s.Title, s.Option.Flag)
		for _, service := range s.Services(c) {
			describeService(&b, service)
		}
		b.WriteString("\n")
	}
	b.WriteString("Each entry has its name, label, id and other names; its variables, with optional\n" +
		"ones in brackets; its languages, without regions; what else it needs; and the\n" +
		"extras of pipecat-ai.\n")
	return b.String()
}

// describeService writes the paragraph of a service.
func describeService(b *strings.Builder, s *catalog.Service) {
	var variables []string
	for _, v := range s.Env {
		if v.Required {
			variables = append(variables, v.Name)
		} else {
			variables = append(variables, "["+v.Name+"]")
		}
	}
	languages := s.BaseLanguages()
	if len(languages) > 0 {
		languages = append([]string{"languages"}, languages...)
	}
	needs := s.Needs()
	if len(s.Extras) > 0 {
		needs = append(needs, "extras "+strings.Join(s.Extras, " "))
	}
	left := s.Names[0]
	isLeft := func(name string) bool { return name == left }
	names := slices.DeleteFunc(append([]string{s.ID}, s.Names...), isLeft)
	write := func(words []string, mark string) {
		for _, line := range report.Fill(words, mark, 52) {
			fmt.Fprintf(b, "  %-25s %s\n", left, line)
			left = ""
		}
	}
	write(append([]string{s.Label}, names...), ",")
	write(variables, ",")
	write(languages, "")
	write(needs, ",")
}

// ListOptions returns what --list-options prints.
func ListOptions(c *catalog.Catalog) Sections[[]string] {
	return bySection(c, OptBotType.Allowed(), catalog.IDs)
}
