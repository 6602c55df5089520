package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"vbot/templates"
)

// Words of a service's file instead of a list of languages.
const (
	languageAuto  = "auto"  // the service detects the language
	languageVoice = "voice" // each voice speaks one language
)

// LanguageTag returns the BCP 47 tag in the usual case. It knows LANGUAGE[-SCRIPT][-REGION]:
// de, pt-BR, zh-Hant-TW, es-419.
func LanguageTag(text string) (tag string, ok bool) {
	isOther := func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
	hasRegion := false
	i := -1
	for part := range strings.SplitSeq(text, "-") {
		i++
		n := len(part)
		isWord := !strings.ContainsFunc(part, isOther)
		isNumber := strings.Trim(part, digits) == ""
		isRegion := isWord && n == 2 || isNumber && n == 3
		switch {
		case i == 0 && isWord && (n == 2 || n == 3):
			tag = strings.ToLower(part)
		case i == 1 && isWord && n == 4:
			tag += "-" + strings.ToUpper(part[:1]) + strings.ToLower(part[1:])
		case i > 0 && isRegion && !hasRegion:
			tag += "-" + strings.ToUpper(part)
			hasRegion = true
		default:
			return "", false
		}
	}
	return tag, true
}

// languageNames are the English names of languages by tag, for menus, suggestions and prompts.
var languageNames = sync.OnceValue(func() map[string]string {
	data, _ := templates.Files.ReadFile("languages.txt") // embedded
	names := map[string]string{}
	for line := range strings.Lines(string(data)) {
		tag, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		names[tag] = name
	}
	return names
})

// TagOf returns the tag of the language with this English name, in any letter case, or "".
func TagOf(name string) string {
	for tag, other := range languageNames() {
		if strings.EqualFold(name, other) {
			return tag
		}
	}
	return ""
}

// LanguageName returns the English name of the language with this tag, or "". The tag must have no region.
func LanguageName(tag string) string { return languageNames()[tag] }

// LanguageNames returns the English names of the languages that the service lists.
func (s *Service) LanguageNames() (names []string) {
	for _, tag := range s.Languages() {
		if name := languageNames()[tag]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Language says how the service gets the language of the conversation: "told" (the bot passes
// one of its languages), "fixed" (it knows only these), "auto" or "voice"; "" if it has none.
func (s *Service) Language() string {
	switch {
	case s.languages == nil:
		return ""
	case slices.Contains([]string{languageAuto, languageVoice}, s.languages[0]):
		return s.languages[0]
	case strings.Contains(s.Build.Parameters, "language:"):
		return "told"
	}
	return "fixed"
}

// Languages returns the tags of the languages that the service supports, if it lists them.
func (s *Service) Languages() []string {
	if source := s.Language(); source != "told" && source != "fixed" {
		return []string{}
	}
	return s.languages
}

// Speaks reports whether the service can be used in the language: its list has the tag, or a
// more general tag without other regions of the language.
func (s *Service) Speaks(tag string) bool {
	if len(s.Languages()) == 0 {
		return true
	}
	hasRegions := func(other string) bool { return strings.HasPrefix(other, tag+"-") }
	for isWider := false; ; isWider = true {
		isListed := slices.Contains(s.languages, tag)
		if isListed && !(isWider && slices.ContainsFunc(s.languages, hasRegions)) {
			return true
		}
		end := strings.LastIndexByte(tag, '-')
		if end < 0 {
			return false
		}
		tag = tag[:end]
	}
}

// setDefault matches the default of a variable in the code of a bot with a language.
var setDefault = regexp.MustCompile(`os\.environ\.setdefault\("(\w+)", "([^"]*)"\)`)

// Speaking returns the service for a bot with this language; "" is none. Its default voice is the
// one that the catalog has for the language. Without one, a person may choose a voice, and has to if
// the voice determines the language.
func (s *Service) Speaking(tag string) *Service {
	base, _, _ := strings.Cut(tag, "-")
	voice := cmp.Or(s.voices[tag], s.voices[base])
	isByVoice := s.Language() == languageVoice
	isTold := len(s.Languages()) > 0 && !s.anyVoice
	if tag == "" || voice == "" && !isByVoice && !isTold {
		return s
	}
	speaking := *s
	speaking.Env = slices.Clone(s.Env)
	for i, v := range speaking.Env {
		switch {
		case v.Kind != "voice":
			// The code may have another default, such as a model that knows more languages than English.
			if set := setDefault.FindStringSubmatch(s.Build.Statements); set != nil && set[1] == v.Name {
				speaking.Env[i].Fallback = set[2]
			}
			continue
		case voice != "":
			speaking.Build.Statements = withDefault(s.Build.Statements, v.Name, voice)
			v.Required = false
			v.Fallback = voice
		case base == "en" && (s.voices != nil || !isByVoice): // the default voices speak English
			continue
		default:
			if isByVoice {
				v.Required = true
				v.Fallback = ""
			}
			v.Note = "one that speaks " + tag + ": " + v.Note
		}
		speaking.Env[i] = v
	}
	return &speaking
}

// withDefault returns the code with this default for the variable, which the code reads once.
func withDefault(code, name, value string) string {
	withValue := `os.getenv("` + name + `", "` + value + `")`
	for _, reads := range []string{`os.environ["` + name + `"]`, `os.getenv("` + name + `", NOT_GIVEN)`} {
		if strings.Contains(code, reads) {
			return strings.Replace(code, reads, withValue, 1)
		}
	}
	before, rest, _ := strings.Cut(code, `os.getenv("`+name+`", "`)
	_, after, _ := strings.Cut(rest, `")`)
	return before + withValue + after
}
