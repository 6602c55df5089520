package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/report"
)

// parse reads the text of the service's file: the front matter, which is comments of the form `# key: value`,
// and the code. It returns problems with what it cannot read; checkFrontMatter and checkCode find the other
// problems.
func (s *Service) parse(text string) (problems report.Problems) {
	s.frontMatter = text
	for at := 1; strings.HasPrefix(text, "# "); at++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, value, _ := strings.Cut(line[2:], ": ")
		var err error
		switch f := fields[name]; {
		case f.text != nil:
			*f.text(s) = value
		case f.words != nil:
			words := f.words(s) // languages take several lines
			*words = append(*words, strings.Split(value, ", ")...)
		case f.read != nil:
			err = f.read(s, value)
		default:
			err = errors.New("unknown key")
		}
		if err != nil {
			s.refuse(&problems, at, "%s: %v", name, err)
		}
	}
	s.frontMatter = strings.TrimSuffix(s.frontMatter, text)
	s.source = text
	s.Build = parseBuild(text)
	return problems
}

// parseBuild splits the code of a service's file.
func parseBuild(code string) (b Build) {
	rest, hasNoImports := strings.CutPrefix(code, "def build(")
	if !hasNoImports {
		b.Imports, rest, _ = strings.Cut(code, "\ndef build(")
	}
	b.Parameters, rest, _ = strings.Cut(rest, ") -> ")
	b.Class, rest, _ = strings.Cut(rest, ":\n")
	b.Statements, _, _ = strings.Cut(rest, "\n    return ")
	return b
}

// line returns the number of the line of the front matter that begins with `# start`, or 0.
func (s *Service) line(start string) int {
	before, _, found := strings.Cut("\n"+s.frontMatter, "\n# "+start)
	if !found {
		return 0
	}
	return strings.Count(before, "\n") + 1
}

// checkFrontMatter returns problems with lines of the front matter: a wrong form, duplicates, and missing
// lines.
func (s *Service) checkFrontMatter() (problems report.Problems) {
	number := 0
	for line := range strings.Lines(s.frontMatter) {
		number++
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n")[2:], ": ")
		f := fields[name]
		first := s.line(name + ": ")
		if first != number && first > 0 && !slices.Contains(repeatable, name) {
			s.refuse(&problems, number, "%s is already on line %d", name, first)
		}
		hasMarkup := strings.ContainsAny(value, "\"\\|`") || strings.Contains(value, "<%")
		words := strings.Split(value, ", ")
		switch {
		case f.allowed != nil && slices.ContainsFunc(words, f.refuses):
			s.refuse(&problems, number, "%s: expected %s", name, strings.Join(f.allowed, ", "))
		case slices.ContainsFunc(words, f.refuses):
			s.refuse(&problems, number, "%s: expected something like %s", name, f.exampleOrName())
		case hasMarkup: // the value is copied to Python, TOML, YAML or Markdown
			s.refuse(&problems, number, "%s: a value must not contain \" \\ | ` or <%%", name)
		}
	}
	required := []string{"id", "label", "names"}
	if s.Kind == KindVideo {
		required = append(required, "size")
	}
	for _, name := range required {
		if s.line(name+": ") == 0 {
			example := fields[name].exampleOrName()
			s.refuse(&problems, 1, "missing: a line like `# %s: %s`", name, example)
		}
	}
	if slices.ContainsFunc(s.languages, s.isNoLanguage) {
		const expected = "languages: expected auto, voice, or tags such as en, de, pt-BR"
		s.refuse(&problems, s.line("languages: "), expected)
	}
	return problems
}

// isNoLanguage reports whether the word is not allowed in the list of languages.
func (s *Service) isNoLanguage(word string) bool {
	isAlone := len(s.languages) == 1
	if isAlone && (word == languageAuto || word == languageVoice) {
		return false
	}
	tag, _ := LanguageTag(word)
	return tag != word
}

// repeatable are the keys that may have several lines.
var repeatable = []string{"env", "self-host-env", "host", "download", "languages", "license", "voices"}

// refuses reports whether a word does not have the form of the field's words.
func (f field) refuses(word string) bool {
	if f.allowed != nil {
		return !slices.Contains(f.allowed, word)
	}
	rest, found := strings.CutPrefix(word, f.prefix)
	hasOther := f.characters != "" && strings.Trim(rest, f.characters) != ""
	return !found || rest == "" || hasOther
}

// exampleOrName returns an example of a value.
func (f field) exampleOrName() string { return cmp.Or(f.example, "Acme") }

const (
	lower  = "abcdefghijklmnopqrstuvwxyz_"
	digits = "0123456789"
)

// A field of the front matter says where its value goes, and its form. One of text, words and read is set.
// Each word is prefix, followed by some of characters; "" allows all characters. If there are allowed words,
// no others are.
type field struct {
	text       func(*Service) *string
	words      func(*Service) *[]string
	read       func(*Service, string) error
	prefix     string
	characters string
	allowed    []string
	example    string // of the value
}

// fields are the fields of the front matter by key.
var fields = map[string]field{
	"id": {
		text:       func(s *Service) *string { return &s.ID },
		characters: lower + digits,
		example:    "acme_stt",
	},
	"label": {text: func(s *Service) *string { return &s.Label }},
	"names": {
		words:      func(s *Service) *[]string { return &s.Names },
		characters: lower + digits,
		example:    "acme_stt, acme",
	},
	"extras": {
		words:      func(s *Service) *[]string { return &s.Extras },
		characters: lower + digits + "-",
		example:    "openai, aws-nova-sonic",
	},
	"pip": {words: func(s *Service) *[]string { return &s.Pip }},
	"python": {
		text:       func(s *Service) *string { return &s.Python },
		prefix:     ">=3.",
		characters: digits,
		example:    ">=3.12",
	},
	"flags": {
		words:   func(s *Service) *[]string { return &s.flags },
		allowed: []string{"local", "deprecated", "daily_pstn_mode", "twilio_daily_sip_mode"},
	},
	"languages": {words: func(s *Service) *[]string { return &s.languages }},
	"voices":    {read: (*Service).readVoices},
	"license":   {read: (*Service).readLicense},
	"model":     {read: (*Service).readModel},
	"loop":      {read: (*Service).readLoop},
	"starts":    {text: func(s *Service) *string { return &s.Starts }, allowed: []string{"context"}},
	"turns":     {text: func(s *Service) *string { return &s.Turns }},
	"keys":      {text: func(s *Service) *string { return &s.KeysURL }},
	"env":       {read: (*Service).readServiceVariable},
	"host":      {read: (*Service).readHost},
	"region":    {read: (*Service).readRegion},
	"download":  {read: (*Service).readDownload},
	"stand-in":  {read: (*Service).readStandIn},
	"video":     {read: (*Service).readVideo, allowed: []string{"in", "out"}},
	"size":      {read: (*Service).readSize, example: "1280x720"},
	"turns-import": {
		text:    func(s *Service) *string { return &s.TurnsImport },
		prefix:  "from ",
		example: "from acme.turns import Turns",
	},

	// Transports only.
	"order":   {text: func(s *Service) *string { return &s.order }},
	"type":    {read: (*Service).readType, allowed: []string{"web", "telephony"}},
	"generic": {text: func(s *Service) *string { return &s.ModeOf }},
	"mode":    {text: func(s *Service) *string { return &s.Mode }},
	"key":     {text: func(s *Service) *string { return &s.Key }},
	"client":  {read: (*Service).readClient},
	"cloud":   {read: (*Service).readCloud},

	// For transports with --self-host.
	"self-host-env": {read: (*Service).readSelfHostVariable},
	"self-host-pip": {words: func(s *Service) *[]string { return &s.SelfHostPip }},
}

func (s *Service) readServiceVariable(value string) error  { return readVariable(&s.Env, value) }
func (s *Service) readSelfHostVariable(value string) error { return readVariable(&s.SelfHost, value) }

// A Region says how a service offers processing in the EU, and which page of its documents says so. Where
// they say nothing, it is empty.
type Region struct{ How, Page string }

// readRegion reads "at eu.acme.com https://acme.com/docs/regions".
func (s *Service) readRegion(value string) error {
	at := strings.LastIndex(value, " ")
	how, page := strings.TrimSpace(value[:max(at, 0)]), value[at+1:]
	if how == "" || !strings.HasPrefix(page, "https://") {
		return errors.New("expected how it processes in the EU, then the address of the page that says so")
	}
	s.Region = Region{how, page}
	return nil
}

// readVideo reads "in", "out" or "in, out".
func (s *Service) readVideo(value string) error {
	words := strings.Split(value, ", ")
	s.VideoIn, s.VideoOut = slices.Contains(words, "in"), slices.Contains(words, "out")
	return nil
}

// readSize reads the size of the picture in pixels: "1280x720".
func (s *Service) readSize(value string) error {
	s.Width, s.Height, _ = strings.Cut(value, "x")
	for _, pixels := range []string{s.Width, s.Height} { // they stand in Python
		if n, err := strconv.ParseUint(pixels, 10, 16); err != nil || fmt.Sprint(n) != pixels || n == 0 {
			return errors.New("expected WIDTHxHEIGHT, such as 1280x720")
		}
	}
	return nil
}

// readLoop reads "yes".
func (s *Service) readLoop(value string) error {
	s.NeedsLoop = true
	return expectWord(value, "yes")
}

// readCloud reads "no".
func (s *Service) readCloud(value string) error {
	s.notInCloud = true
	return expectWord(value, "no")
}

// expectWord returns an error unless the value is this word.
func expectWord(value, word string) error {
	if value != word {
		return errors.New("expected " + word + ", or no such line")
	}
	return nil
}

// readClient reads "@pipecat-ai/daily-transport ^1.6.9".
func (s *Service) readClient(value string) error {
	var ok bool
	if s.Client.Package, s.Client.Range, ok = strings.Cut(value, " "); !ok {
		return errors.New("expected PACKAGE RANGE, such as @pipecat-ai/daily-transport ^1.6.9")
	}
	return nil
}

// readType reads "web" or "telephony".
func (s *Service) readType(value string) error {
	s.Telephony = value == "telephony"
	return nil
}

// readVoices adds the voices of one line: `de de_DE-thorsten-medium, fr fr_FR-siwis-medium`. `any` says
// that every voice speaks every language.
func (s *Service) readVoices(value string) error {
	if value == "any" {
		s.anyVoice = true
		return nil
	}
	if s.voices == nil {
		s.voices = map[string]string{}
	}
	for pair := range strings.SplitSeq(value, ", ") {
		tag, voice, ok := strings.Cut(pair, " ")
		if named, _ := LanguageTag(tag); !ok || named != tag {
			return errors.New("expected any, or LANGUAGE VOICE, such as de de_DE-thorsten-medium")
		}
		s.voices[tag] = voice
	}
	return nil
}

// readModel reads "400 MB, 0.5 cores", with ", each session" if sessions do not share the model.
func (s *Service) readModel(value string) error {
	value, s.Model.Apart = strings.CutSuffix(value, ", each session")
	memory, rest, _ := strings.Cut(value, " MB, ")
	number, isWhole := strings.CutSuffix(rest, " cores")
	megabytes, err := strconv.Atoi(memory)
	cores, err2 := strconv.ParseFloat(number, 64)
	s.Model.Megabytes, s.Model.CPU = megabytes, int(1000*cores)
	if !isWhole || err != nil || err2 != nil || megabytes < 1 || !(cores > 0 && cores < 100) {
		return errors.New("expected something like 400 MB, 0.5 cores")
	}
	return nil
}

// readLicense reads "GPL-3.0-or-later: piper-tts".
func (s *Service) readLicense(value string) error {
	license, names, ok := strings.Cut(value, ": ")
	if !ok {
		return errors.New("expected LICENSE: PACKAGE, such as GPL-3.0-or-later: piper-tts")
	}
	s.Licenses = append(s.Licenses, License{SPDX: license, Of: strings.Split(names, ", ")})
	return nil
}

// readHost reads "HOST[:PORT[/udp]][: NOTE]".
func (s *Service) readHost(value string) error {
	address, note, _ := strings.Cut(value, ": ")
	_, port, given := strings.Cut(address, ":")
	ports := []string{port}
	if ranges, udp := strings.CutSuffix(port, "/udp"); udp {
		ports = strings.FieldsFunc(ranges, func(r rune) bool { return r == '-' || r == ',' })
	}
	isBad := func(port string) bool {
		n, err := strconv.ParseUint(port, 10, 16)
		return err != nil || n == 0
	}
	if given && (len(ports) == 0 || slices.ContainsFunc(ports, isBad)) { // it stands in YAML
		return errors.New("expected HOST[:PORT[/udp]]: NOTE, such as media.example.com:3478/udp: media")
	}
	s.Hosts = append(s.Hosts, Host{Address: address, Note: note})
	return nil
}

// readDownload reads a host from which a model in the bot's process is downloaded when the bot first starts.
func (s *Service) readDownload(value string) error {
	if err := s.readHost(value); err != nil {
		return err
	}
	host := &s.Hosts[len(s.Hosts)-1]
	host.Note += ", at the first start"
	host.ForDownload = true
	return nil
}

// readStandIn reads `FILE [tls] [untimed] [NAME=VALUE...]`, where {} in a value is the stand-in's
// HOST:PORT.
func (s *Service) readStandIn(value string) error {
	words := strings.Fields(value)
	if len(words) == 0 {
		return errors.New("expected FILE NAME=VALUE..., such as openai_chat ACME_BASE_URL=http://{}/v1")
	}
	s.StandIn.File = words[0]
	for _, word := range words[1:] {
		switch word {
		case "tls":
			s.StandIn.TLS = true
			continue
		case "untimed":
			s.StandIn.Untimed = true
			continue
		}
		name, value, ok := strings.Cut(word, "=")
		isKnown := slices.ContainsFunc(s.Env, func(v Variable) bool { return v.Name == name })
		if !ok || !isKnown || !strings.Contains(value, "{}") {
			return errors.New("expected NAME=VALUE, a variable above and an address with {} for HOST:PORT")
		}
		s.StandIn.Addresses = append(s.StandIn.Addresses, Address{name, value})
	}
	return nil
}

// readVariable adds `NAME required|optional KIND [library|server] [unless OTHER] [with OTHER]
// [without OTHER] [else OTHER] [from PAGE] [=VALUE]: NOTE` to the list.
func readVariable(to *[]Variable, value string) error {
	left, note, hasNote := strings.Cut(value, ": ")
	words := strings.Fields(left)
	if !hasNote || len(words) < 3 || !isVariable(words[0], words[1], words[2]) {
		const expected = "expected NAME required|optional %s [=VALUE]: NOTE"
		return fmt.Errorf(expected, strings.Join(variableKinds, "|"))
	}
	v := Variable{Name: words[0], Required: words[1] == "required", Kind: words[2], Note: note}
	others := map[string]*string{
		"unless":  &v.unless,
		"with":    &v.With,
		"without": &v.Without,
		"else":    &v.Other,
		"from":    &v.Page,
	}
	for rest := words[3:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		fallback, isFallback := strings.CutPrefix(word, "=")
		switch {
		case others[word] != nil && len(rest) > 1:
			*others[word] = rest[1]
			rest = rest[1:]
		case isFallback:
			v.Fallback = fallback
		case word == "library":
			v.ReadByLibrary = true
		case word == "server":
			v.Server = true
		default:
			return fmt.Errorf("unknown word %q", word)
		}
	}
	if v.Page != "" {
		v.Note += ", from " + v.Page
	}
	*to = append(*to, v)
	return nil
}

// isVariable reports whether these can be the first three words of a variable.
func isVariable(name, need, kind string) bool {
	isName := strings.Trim(name, strings.ToUpper(lower)+digits) == ""
	isNeed := need == "required" || need == "optional"
	return isName && isNeed && slices.Contains(variableKinds, kind)
}

var variableKinds = []string{"secret", "id", "model", "voice", "region", "url", "path"}
