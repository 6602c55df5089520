// Package catalog knows what services there are: their heads and code in templates/services, and
// those of one's own.
package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vbot/internal/report"
	"vbot/templates"
)

// A Service is what a bot uses, or a transport: one file of templates/services. Its head
// describes it, its code builds it.
type Service struct {
	Kind  string
	file  string   // its path in templates
	ID    string   // canonical: "stt_a", "rtc_small"
	Label string   // "Deepgram"
	Names []string // names for the id, the usual one first

	Extras  []string // of pipecat-ai, without brackets
	Pip     []string // requirements beside pipecat-ai
	Python  string   // a bound that is stricter than the framework's, ">=3.12"; "" if there is none
	flags   []string // "local" (runs on the bot's machine), "deprecated"
	Loop    string   // "yes" where its constructor needs the event loop, and so cannot run in a thread
	Starts  string   // "context" where a realtime session starts with the first context, "" with the connection
	Turns   string   // code that makes it wait longer before a turn ends, where the service decides that by default
	KeysURL string   // where a person gets the keys
	Env     []Variable
	// languages are BCP 47 tags, or "auto" (it finds out by itself) or "voice" (each voice
	// has its own) alone; none where nothing is heard or spoken.
	languages []string
	voices    map[string]string // by language, those that speak it where nobody chose another one
	Model     LocalModel
	Hosts     []Host // that it contacts, if .env holds no address of one's own
	VideoIn   bool   // a transport carries the person's camera, a realtime service looks at it
	head      string // of the file, with the end of its last line
	source    string // the file without its head
	own       bool   // not one of vbot's

	Build Build

	// Video avatars only.
	Width, Height string // of the picture, in pixels

	// Transports only.
	order       string     // two digits
	ModeOf      string     // of one way of dialing: the id of the transport that it is a mode of
	Mode        string     // and that mode, "dial-in" or "dial-out"
	Telephony   bool       // it carries calls, not sessions of a browser or an app
	Key         string     // the entry in create_transport's dictionary
	VideoOut    bool       // it carries the bot's picture
	cloud       string     // "no": Pipecat Cloud's runner (pipecatcloud 1.4) starts no bot with it
	Client      string     // its package for browsers and the tested range, "@pipecat-ai/daily-transport ^1.6.9"; "" if there is none
	SelfHost    []Variable // that self_host.py reads
	SelfHostPip []string   // requirements of self_host.py
}

// A Build is the code of a service's file: its imports and the function build, which makes it.
type Build struct {
	Imports    string // without an empty line at the end
	Parameters string // of build, as they stand between its brackets
	Class      string // that build returns
	Statements string // of build above its return, indented by four
}

// A LocalModel is what a model in the bot's process takes: there is none if it takes no memory.
type LocalModel struct {
	Megabytes int
	CPU       int  // thousandths of a core, while it works for one session, so that it keeps up
	Apart     bool // each session loads its own
}

// A Host is what a firewall has to let through.
type Host struct {
	Address string // HOST[:PORT[/udp]], with {NAME} for what a variable holds; without a port it is 443
	Note    string
}

// A Variable is an environment variable that a service reads.
type Variable struct {
	Name          string
	Required      bool
	Kind          string // secret, id, model, voice, region, url or path
	ReadByLibrary bool   // read by the framework, not by the generated code
	Server        bool   // read by server.py, not by bot.py
	unless        string // though required, not needed where that variable is set
	With          string // though optional, needed where that variable is set
	Without       string // refused where that variable is set
	Other         string // though optional, that variable is read where this one is unset
	Fallback      string // the default when unset or blank; "" if it is not fixed
	Note          string // a short description
}

// The kinds of service, each a folder of templates/services.
const (
	KindSTT       = "stt"
	KindLLM       = "llm"
	KindTTS       = "tts"
	KindRealtime  = "realtime"
	KindVideo     = "video"
	KindTransport = "transports"
)

// ServiceKinds are the kinds of AI service, in the order of listings.
var ServiceKinds = []string{KindSTT, KindLLM, KindTTS, KindRealtime, KindVideo}

// A Catalog has all services there are.
type Catalog struct {
	byKind map[string][]*Service // in the order of ids, those of one's own last
	Own    int                   // how many of these are one's own
}

// New returns the catalog of vbot's own services, to which Add may add others.
func New() *Catalog {
	c := &Catalog{byKind: map[string][]*Service{}}
	for kind, services := range ours() {
		c.byKind[kind] = slices.Clip(services)
	}
	return c
}

// ours returns vbot's own services by kind, in order. It reads them once: they are part of the
// program. It panics on a file that it cannot read; a test checks that all have the form in
// CONTRIBUTING.md.
var ours = sync.OnceValue(func() map[string][]*Service {
	byKind := map[string][]*Service{}
	for _, kind := range append(ServiceKinds, KindTransport) {
		folder := "services/" + kind + "/"
		entries, err := templates.Files.ReadDir(strings.TrimSuffix(folder, "/"))
		if err != nil {
			panic(err)
		}
		for _, e := range entries {
			text, err := templates.Files.ReadFile(folder + e.Name())
			s := &Service{Kind: kind, file: folder + e.Name()}
			if problems := s.parse(string(text)); err != nil || len(problems) > 0 {
				panic(fmt.Sprint(s.file, err, problems))
			}
			byKind[kind] = append(byKind[kind], s)
		}
		slices.SortFunc(byKind[kind], func(a, b *Service) int {
			// stt_z comes before stt_aa.
			return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
		})
	}
	return byKind
})

// List returns the services of the kind, in order.
func (c *Catalog) List(kind string) []*Service { return c.byKind[kind] }

// HasSecret reports whether a service has a secret variable of this name.
func (c *Catalog) HasSecret(name string) bool {
	for _, services := range c.byKind {
		for _, s := range services {
			if slices.ContainsFunc(s.Env, func(v Variable) bool { return v.Name == name && v.Kind == "secret" }) {
				return true
			}
		}
	}
	return false
}

// Find is the service of the kind that word names, by id, by real name or by label, in any
// letter case; or nil.
func (c *Catalog) Find(kind, word string) *Service {
	lower := strings.ToLower(word)
	for _, s := range c.byKind[kind] {
		if s.ID == lower || slices.Contains(s.Names, lower) || strings.EqualFold(s.Label, word) {
			return s
		}
	}
	return nil
}

// problem returns a problem with a line of the service's file; 0 is none of them.
func (s *Service) problem(line int, format string, args ...any) report.Problem {
	at := s.file
	if line > 0 {
		at += fmt.Sprintf(":%d", line)
	}
	return report.Problem{Field: at, Where: at, Message: fmt.Sprintf(format, args...)}
}

// parse reads the text of the service's file: the head, which is comment lines of the
// form `# key: value` up to the first line that is none, and the code. It returns what it
// cannot read; checkHead and checkCode find the rest.
func (s *Service) parse(text string) (problems []report.Problem) {
	s.head = text
	for at := 1; strings.HasPrefix(text, "# "); at++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, value, _ := strings.Cut(line[2:], ": ")
		why := ""
		switch key := headKeys[name]; {
		case key.text != nil:
			*key.text(s) = value
		case key.words != nil:
			*key.words(s) = append(*key.words(s), strings.Split(value, ", ")...) // languages take several lines
		case key.read != nil:
			why = key.read(s, value)
		default:
			why = "unknown key"
		}
		if why != "" {
			problems = append(problems, s.problem(at, "%s: %s", name, why))
		}
	}
	s.head, s.source = strings.TrimSuffix(s.head, text), text
	s.Build.Imports, text, _ = strings.Cut("\n"+text, "\ndef build(")
	s.Build.Imports = strings.TrimPrefix(s.Build.Imports, "\n")
	s.Build.Parameters, text, _ = strings.Cut(text, ") -> ")
	s.Build.Class, text, _ = strings.Cut(text, ":\n")
	s.Build.Statements, _, _ = strings.Cut(text, "\n    return ")
	return problems
}

// line returns the number of the line of the head that begins with `# start`, or 0.
func (s *Service) line(start string) int {
	before, _, found := strings.Cut("\n"+s.head, "\n# "+start)
	if !found {
		return 0
	}
	return strings.Count(before, "\n") + 1
}

// checkHead returns which lines of the head do not have the form of their key, are there
// twice, or are missing.
func (s *Service) checkHead() (problems []report.Problem) {
	at := 0
	add := func(format string, args ...any) { problems = append(problems, s.problem(at, format, args...)) }
	for line := range strings.Lines(s.head) {
		at++
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n")[2:], ": ")
		key := headKeys[name]
		if first := s.line(name + ": "); first != at && first > 0 && !strings.HasSuffix(name, "env") && name != "host" && name != "languages" && name != "voices" {
			add("%s is already in line %d", name, first)
		}
		if slices.ContainsFunc(strings.Split(value, ", "), func(word string) bool {
			rest, found := strings.CutPrefix(word, key.prefix)
			return !found || rest == "" || key.characters != "" && strings.Trim(rest, key.characters) != ""
		}) {
			add("%s: expected something like %s", name, cmp.Or(key.example, "Acme"))
		} else if strings.ContainsAny(value, "\"\\|`") || strings.Contains(value, "<%") { // in Python, TOML, YAML or Markdown
			add("%s: a value must not contain \" \\ | ` or <%%", name)
		}
	}
	for _, key := range []string{"id", "label", "names", "size"} {
		if at = 1; s.line(key+": ") == 0 && (key != "size" || s.Kind == KindVideo) {
			add("missing: a line like `# %s: %s`", key, cmp.Or(headKeys[key].example, "Acme"))
		}
	}
	at = s.line("languages: ")
	for _, word := range s.languages {
		if tag, _ := LanguageTag(word); tag != word && (word != languageAuto && word != languageVoice || len(s.languages) > 1) {
			add("languages: expected auto, voice, or tags such as en, de, pt-BR")
			break
		}
	}
	return problems
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz_"
	digits = "0123456789"
)

// A headKey is a key of a service's head: where its value goes, and its form. One of text,
// words and read is set; read says what is wrong with the value, or "". Each word begins with
// prefix, and more of these characters follow; none means any.
type headKey struct {
	text                        func(*Service) *string
	words                       func(*Service) *[]string
	read                        func(*Service, string) string
	prefix, characters, example string
}

var headKeys = map[string]headKey{
	"id":        {text: func(s *Service) *string { return &s.ID }, characters: lower + digits, example: "acme_stt"},
	"label":     {text: func(s *Service) *string { return &s.Label }},
	"names":     {words: func(s *Service) *[]string { return &s.Names }, characters: lower + digits, example: "acme_stt, acme"},
	"extras":    {words: func(s *Service) *[]string { return &s.Extras }, characters: lower + digits + "-", example: "openai, aws-nova-sonic"},
	"pip":       {words: func(s *Service) *[]string { return &s.Pip }},
	"python":    {text: func(s *Service) *string { return &s.Python }, prefix: ">=3.", characters: digits, example: ">=3.12"},
	"flags":     {words: func(s *Service) *[]string { return &s.flags }},
	"languages": {words: func(s *Service) *[]string { return &s.languages }},
	"voices":    {read: (*Service).readVoices},
	"model":     {read: (*Service).readModel},
	"loop":      {text: func(s *Service) *string { return &s.Loop }},
	"starts":    {text: func(s *Service) *string { return &s.Starts }},
	"turns":     {text: func(s *Service) *string { return &s.Turns }},
	"keys":      {text: func(s *Service) *string { return &s.KeysURL }},
	"env":       {read: func(s *Service, value string) string { return readVariable(&s.Env, value) }},
	"host":      {read: (*Service).readHost},
	"video": {read: func(s *Service, value string) string {
		s.VideoIn, s.VideoOut = strings.Contains(value, "in"), strings.Contains(value, "out")
		return ""
	}},
	"size": {read: func(s *Service, value string) string {
		s.Width, s.Height, _ = strings.Cut(value, "x")
		return ""
	}, characters: digits + "x", example: "1280x720"},

	// Transports only.
	"order":   {text: func(s *Service) *string { return &s.order }},
	"type":    {read: func(s *Service, value string) string { s.Telephony = value == "telephony"; return "" }},
	"generic": {text: func(s *Service) *string { return &s.ModeOf }},
	"mode":    {text: func(s *Service) *string { return &s.Mode }},
	"key":     {text: func(s *Service) *string { return &s.Key }},
	"client":  {text: func(s *Service) *string { return &s.Client }},
	"cloud":   {text: func(s *Service) *string { return &s.cloud }},

	// Of self_host.py.
	"self-host-env": {read: func(s *Service, value string) string { return readVariable(&s.SelfHost, value) }},
	"self-host-pip": {words: func(s *Service) *[]string { return &s.SelfHostPip }},
}

// readVoices adds the voices of one line of several: `de de_DE-thorsten-medium, fr fr_FR-siwis-medium`.
func (s *Service) readVoices(value string) string {
	if s.voices == nil {
		s.voices = map[string]string{}
	}
	for pair := range strings.SplitSeq(value, ", ") {
		tag, voice, ok := strings.Cut(pair, " ")
		if named, _ := LanguageTag(tag); !ok || named != tag {
			return "expected LANGUAGE VOICE, such as de de_DE-thorsten-medium"
		}
		s.voices[tag] = voice
	}
	return ""
}

func (s *Service) readModel(value string) string {
	cores := 0.0
	value, s.Model.Apart = strings.CutSuffix(value, ", each session")
	_, err := fmt.Sscanf(value, "%d MB, %g cores", &s.Model.Megabytes, &cores)
	s.Model.CPU = int(1000 * cores)
	if err != nil || s.Model.Megabytes < 1 || !(cores > 0 && cores < 100) {
		return "expected something like 400 MB, 0.5 cores"
	}
	return ""
}

func (s *Service) readHost(value string) string {
	address, note, _ := strings.Cut(value, ": ")
	_, port, given := strings.Cut(address, ":")
	ports := []string{port}
	if ranges, udp := strings.CutSuffix(port, "/udp"); udp {
		ports = strings.FieldsFunc(ranges, func(r rune) bool { return r == '-' || r == ',' })
	}
	bad := func(port string) bool { n, err := strconv.ParseUint(port, 10, 16); return err != nil || n == 0 }
	if given && (len(ports) == 0 || slices.ContainsFunc(ports, bad)) { // it stands in YAML
		return "expected HOST[:PORT[/udp]]: NOTE, such as media.example.com:3478/udp: media"
	}
	s.Hosts = append(s.Hosts, Host{address, note})
	return ""
}

// readVariable adds `NAME required|optional KIND [library|server] [unless OTHER]
// [with OTHER] [without OTHER] [else OTHER] [=VALUE]: NOTE` to the list. It returns
// what is wrong with it, or "".
func readVariable(to *[]Variable, value string) string {
	left, note, ok := strings.Cut(value, ": ")
	words := strings.Fields(left)
	if !ok || len(words) < 3 || strings.Trim(words[0], strings.ToUpper(lower)+digits) != "" || words[1] != "required" && words[1] != "optional" || !slices.Contains(variableKinds, words[2]) {
		return "expected NAME required|optional " + strings.Join(variableKinds, "|") + " [=VALUE]: NOTE"
	}
	v := Variable{Name: words[0], Required: words[1] == "required", Kind: words[2], Note: note}
	before, others := []string{"unless", "with", "without", "else"}, []*string{&v.unless, &v.With, &v.Without, &v.Other}
	for rest := words[3:]; len(rest) > 0; rest = rest[1:] {
		if i := slices.Index(before, rest[0]); i >= 0 && len(rest) > 1 {
			*others[i], rest = rest[1], rest[1:]
		} else if value, ok := strings.CutPrefix(rest[0], "="); ok {
			v.Fallback = value
		} else if rest[0] == "library" {
			v.ReadByLibrary = true
		} else if rest[0] == "server" {
			v.Server = true
		} else {
			return fmt.Sprintf("unknown word %q", rest[0])
		}
	}
	*to = append(*to, v)
	return ""
}

var variableKinds = []string{"secret", "id", "model", "voice", "region", "url", "path"}

// Unless is the variable that takes the place of v, or "". Where server.py starts
// the calls it holds for bot.py alone: server.py needs v itself, to know who
// signed a request.
func (s *Service) Unless(v Variable) string {
	if s.ModeOf != "" || s.standsFor() {
		return ""
	}
	return v.unless
}

// standsFor reports whether the service is a transport that stands for several ways of
// dialing: their files have the code.
func (s *Service) standsFor() bool { return strings.TrimSpace(s.source) == "" }

// Addresses are those of the service's hosts.
func (s *Service) Addresses() []string {
	out := []string{}
	for _, h := range s.Hosts {
		out = append(out, h.Address)
	}
	return out
}

// IDs are the ids of services.
func IDs(services []*Service) []string {
	out := []string{}
	for _, s := range services {
		out = append(out, s.ID)
	}
	return out
}

// Transports are the web or the telephony transports, in order.
func (c *Catalog) Transports(telephony bool) []*Service {
	return slices.DeleteFunc(slices.Clone(c.byKind[KindTransport]), func(s *Service) bool { return s.Telephony != telephony })
}

// Needs returns what the service needs besides its variables.
func (s *Service) Needs() (out []string) {
	if s.Python != "" {
		out = append(out, "python"+s.Python)
	}
	return append(out, s.flags...)
}

// Local says whether it runs on the owner's machines, and so does not charge.
func (s *Service) Local() bool { return slices.Contains(s.flags, "local") }

// Deprecated says whether the framework will not have it for long.
func (s *Service) Deprecated() bool { return slices.Contains(s.flags, "deprecated") }

// CloudRuns says whether Pipecat Cloud runs bots with the transport.
func (s *Service) CloudRuns() bool { return s.cloud != "no" }

// Nearest returns the name of the service of the kind that is nearest to word, or "".
func (c *Catalog) Nearest(kind, word string) string {
	var words []string
	for _, s := range c.List(kind) {
		words = append(append(words, s.Names...), s.ID)
	}
	near := report.Nearest(word, words)
	if s := c.Find(kind, near); s != nil && near == s.ID {
		return s.Names[0]
	}
	return near
}

// OfModel returns the service of the kind that is called like the language model's service
// whose default model is of the same family as this one, or nil: gpt-4o is of that of gpt-4.1.
func (c *Catalog) OfModel(kind, model string) *Service {
	family := func(name string) string {
		return name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	}
	same := func(v Variable) bool {
		return v.Kind == "model" && family(v.Fallback) != "" && family(v.Fallback) == family(model)
	}
	for _, s := range c.List(KindLLM) {
		if found := c.Find(kind, s.Names[0]); found != nil && slices.ContainsFunc(s.Env, same) {
			return found
		}
	}
	return nil
}

// FirstNames returns the first names of the services, as many as fit a line, and where the
// others are.
func FirstNames(services []*Service, others string) string {
	line := "allowed: "
	for i, s := range services {
		if i > 0 {
			line += ", "
		}
		if len(line)+len(s.Names[0]) > 60 {
			return line + "... (" + others + ")"
		}
		line += s.Names[0]
	}
	return line
}
