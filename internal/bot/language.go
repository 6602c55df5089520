package bot

import (
	"slices"
	"strings"
)

// What a service's file says in place of a list of languages.
const (
	languageAuto  = "auto"  // the service finds out by itself
	languageVoice = "voice" // a voice speaks the language that it was made for
)

// LanguageTag returns the BCP 47 tag in the usual case. It knows LANGUAGE[-SCRIPT][-REGION]:
// de, pt-BR, zh-Hant-TW, es-419.
func LanguageTag(text string) (tag string, ok bool) {
	letters := lower[:26] + strings.ToUpper(lower[:26])
	region := false
	for i, part := range strings.Split(text, "-") {
		word, number := strings.Trim(part, letters) == "", strings.Trim(part, digits) == ""
		switch n := len(part); {
		case i == 0 && word && (n == 2 || n == 3):
			tag = strings.ToLower(part)
		case i == 1 && word && n == 4:
			tag += "-" + strings.ToUpper(part[:1]) + strings.ToLower(part[1:])
		case i > 0 && !region && (word && n == 2 || number && n == 3):
			tag, region = tag+"-"+strings.ToUpper(part), true
		default:
			return "", false
		}
	}
	return tag, true
}

// language says how the service comes to the language of the conversation: "told" one of
// those that it lists, "fixed" to these, "auto", "voice"; "" if it has none.
func (p *Provider) language() string {
	_, parameters, _, _, _ := p.parts()
	switch {
	case p.languages == nil:
		return ""
	case slices.Contains([]string{languageAuto, languageVoice}, p.languages[0]):
		return p.languages[0]
	case strings.Contains(parameters, "language:"):
		return "told"
	}
	return "fixed"
}

// speaks reports whether the service can be used in the language: a list has the tag, or a
// wider one with none of its regions.
func (p *Provider) speaks(tag string) bool {
	if way := p.language(); way != "told" && way != "fixed" {
		return true
	}
	for narrower := false; !slices.Contains(p.languages, tag) || narrower; {
		end := strings.LastIndexByte(tag, '-')
		if end < 0 {
			return false
		}
		tag = tag[:end]
		narrower = slices.ContainsFunc(p.languages, func(other string) bool { return strings.HasPrefix(other, tag+"-") })
	}
	return true
}

// speaking returns the service as a bot with this language needs it, "" being none: the
// voice has to be chosen where that decides.
func (p *Provider) speaking(tag string) *Provider {
	if tag == "" || p.language() != languageVoice {
		return p
	}
	choosing := *p
	choosing.Env = slices.Clone(p.Env)
	for i, v := range choosing.Env {
		if v.Kind == "voice" {
			v.Required, v.Fallback, v.Note = true, "", "one that speaks "+tag+": "+v.Note
			choosing.Env[i] = v
		}
	}
	return &choosing
}

// language checks the language, and every service for it.
func (r *resolver) language() {
	if !r.has(OptLanguage) {
		return
	}
	a := r.said[OptLanguage]
	tag, ok := LanguageTag(a.Text)
	if !ok {
		r.wrong(OptLanguage, "%q is not a language tag; expected one such as de or pt-BR", a.Text)
		r.said[OptLanguage] = Answer{broken: true}
		return
	}
	a.Text = tag
	r.said[OptLanguage] = a
	for _, o := range Options {
		if !slices.Contains(ServiceKinds, o.Kind) || !r.has(o) {
			continue
		}
		p := r.cat.Find(o.Kind, r.said[o].Text)
		if p == nil || p.speaks(tag) {
			continue
		}
		able := slices.DeleteFunc(slices.Clone(r.cat.All(o.Kind)), func(p *Provider) bool { return !p.speaks(tag) })
		r.oneOf(o, "%s does not support the language %s", p.Label, tag)
		last := &r.problems[len(r.problems)-1]
		last.Allowed, last.Names = IDs(able), ""
		if len(able) > 0 {
			last.Names = names(able, "`vbot init --describe-options="+o.Kind+" --json` has all languages")
		}
	}
}

// BaseLanguage is the language without script and region, "" if none is set.
func (p Project) BaseLanguage() string {
	base, _, _ := strings.Cut(string(p.Language), "-")
	return base
}

// English says whether the bot speaks English, as one without a language does.
func (p Project) English() bool { return p.Language == "" || p.BaseLanguage() == "en" }
