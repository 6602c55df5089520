package bot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/report"
	"vbot/templates"
)

// A Provider is a service or transport: one file of templates/services. Its head
// describes it, its code builds it.
type Provider struct {
	Kind  string
	file  string   // its path in templates
	ID    string   // canonical: "stt_a", "rtc_small"
	Label string   // "Deepgram"
	Names []string // names for the id, the usual one first

	// The fields below are set by load.
	Extras  []string // of pipecat-ai, without brackets
	pip     []string // requirements beside pipecat-ai
	python  string   // a bound that is stricter than the framework's, ">=3.12"
	flags   []string // "local" (runs on the bot's machine), "deprecated"
	loop    string   // "yes" where its constructor needs the event loop, and so cannot run in a thread
	starts  string   // "context" where a realtime session starts with the first context, "" with the connection
	Turns   string   // code that makes it wait longer before a turn ends, where the service decides that by default
	KeysURL string   // where a person gets the keys
	Env     []variable
	// languages are BCP 47 tags, or "auto" (it finds out by itself) or "voice" (each voice
	// has its own) alone; none where nothing is heard or spoken.
	languages []string
	model     localModel
	hosts     []serviceHost  // that it contacts, if .env holds no address of one's own
	videoIn   bool           // a transport carries the person's camera, a realtime service looks at it
	source    string         // the file without its head; "" before load
	lines     map[string]int // of the keys in the head
	own       bool           // not one of vbot's

	// Video avatars only.
	width, height string // of the picture, in pixels

	// Transports only.
	order    string // two digits
	Generic  string // of one way of dialing: the id of the transport that it is a mode of
	mode     string // and that mode, "dial-in" or "dial-out"
	botType  string // "web" or "telephony"
	Key      string // the entry in create_transport's dictionary
	videoOut bool
	cloud    string // "no": Pipecat Cloud's runner (pipecatcloud 1.4) starts no bot with it
	client   string // its package for browsers and the tested range, "@pipecat-ai/daily-transport ^1.6.9"; "" if there is none
}

// A localModel is what a model in the bot's process takes: there is none if it takes no memory.
type localModel struct {
	megabytes int
	cpu       int  // thousandths of a core, while it works for one session, so that it keeps up
	apart     bool // each session loads its own
}

// A serviceHost is what a firewall has to let through.
type serviceHost struct {
	address string // HOST[:PORT[/udp]], with {NAME} for what a variable holds; without a port it is 443
	note    string
}

// A variable is an environment variable that a provider reads.
type variable struct {
	Name          string
	Required      bool
	Kind          string // secret, id, model, voice, region, url or path
	readByLibrary bool   // read by the framework, not by the generated code
	server        bool   // read by server.py, not by bot.py
	unless        string // though required, not needed where that variable is set
	With          string // though optional, needed where that variable is set
	Without       string // refused where that variable is set
	Other         string // though optional, that variable is read where this one is unset
	Fallback      string // the default when unset or blank; "" if it is not fixed
	Note          string // a short description
}

// A Catalog finds providers. It reads vbot's own files only when they are needed. It
// panics on one that does not have the form in CONTRIBUTING.md; a test reads them all.
type Catalog struct {
	known  map[string]*Provider   // by file
	listed map[string][]*Provider // by kind, all of it, in the order of ids
	Own    int                    // how many of these are one's own
}

func NewCatalog() *Catalog {
	return &Catalog{known: map[string]*Provider{}, listed: map[string][]*Provider{}}
}

// wrong returns a problem with a line of the provider's file; 0 is none of them.
func (p *Provider) wrong(line int, format string, args ...any) report.Problem {
	at := p.file
	if line > 0 {
		at += fmt.Sprintf(":%d", line)
	}
	return report.Problem{Field: at, Where: at, Message: fmt.Sprintf(format, args...)}
}

// List returns the providers of the kind, in order. They may not be loaded.
func (c *Catalog) List(kind string) []*Provider {
	if c.listed[kind] != nil {
		return c.listed[kind]
	}
	entries, err := templates.Files.ReadDir("services/" + kind)
	if err != nil {
		panic(err)
	}
	var all []*Provider
	for _, e := range entries {
		p := c.provider(kind, strings.TrimSuffix(e.Name(), ".py"))
		if kind == KindTransport {
			p.Load() // its order, and whether it is one of telephones
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Provider) int {
		// stt_z comes before stt_aa.
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	c.listed[kind] = all
	return all
}

// All are the providers of the kind, loaded, in order.
func (c *Catalog) All(kind string) []*Provider {
	for _, p := range c.List(kind) {
		p.Load()
	}
	return c.List(kind)
}

// provider is the one whose first name is name, or nil.
func (c *Catalog) provider(kind, name string) *Provider {
	file := "services/" + kind + "/" + name + ".py"
	if c.known[file] == nil {
		c.known[file] = readNames(kind, file)
	}
	return c.known[file]
}

// Find is the provider of the kind that word names, by id or by real name,
// loaded; or nil.
func (c *Catalog) Find(kind, word string) *Provider {
	for _, p := range c.known {
		if p != nil && p.Kind == kind && p.Is(word) {
			return p.Load()
		}
	}
	if p := c.provider(kind, word); p != nil {
		return p.Load()
	}
	for _, p := range c.List(kind) {
		if p.Is(word) {
			return p.Load()
		}
	}
	return nil
}

// Is reports whether word is the id or a name of the provider.
func (p *Provider) Is(word string) bool { return p.ID == word || slices.Contains(p.Names, word) }

// readNames reads the three lines that a provider's file begins with: `# id: `,
// `# label: ` and `# names: `. It is nil if there is no such file.
func readNames(kind, file string) *Provider {
	f, err := templates.Files.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var first [256]byte
	n, err := f.Read(first[:])
	if err != nil {
		panic(err)
	}
	id, rest, _ := strings.Cut(string(first[:n]), "\n# label: ")
	label, rest, _ := strings.Cut(rest, "\n# names: ")
	names, _, complete := strings.Cut(rest, "\n")
	id, ok := strings.CutPrefix(id, "# id: ")
	if !ok || !complete {
		panic(file + ": it must begin with the lines id, label and names")
	}
	return &Provider{Kind: kind, file: file, ID: id, Label: label, Names: strings.Split(names, ", ")}
}

// Load reads the provider's whole file, once.
func (p *Provider) Load() *Provider {
	if p.source != "" {
		return p
	}
	data, err := templates.Files.ReadFile(p.file)
	if err != nil {
		panic(err)
	}
	if problems := p.parse(string(data)); len(problems) > 0 {
		panic(problems[0].Line())
	}
	return p
}

// parse reads the text of the provider's file: the head, which is comment lines of the
// form `# key: value` up to the first line that is none, and the code. It returns what
// is wrong.
func (p *Provider) parse(text string) (problems []report.Problem) {
	at := 1
	wrong := func(format string, args ...any) { problems = append(problems, p.wrong(at, format, args...)) }
	keys := p.headKeys()
	p.lines = map[string]int{}
	for ; strings.HasPrefix(text, "# "); at++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, value, _ := strings.Cut(line[2:], ": ")
		key, words := keys[name], strings.Split(value, ", ")
		if p.lines[name] > 0 && name != "env" && name != "host" && name != "languages" {
			wrong("%s is already in line %d", name, p.lines[name])
		}
		p.lines[name] = at
		if slices.ContainsFunc(words, func(word string) bool {
			rest, found := strings.CutPrefix(word, key.prefix)
			return !found || rest == "" || key.characters != "" && strings.Trim(rest, key.characters) != ""
		}) {
			wrong("%s: expected something like %s", name, cmp.Or(key.example, "Acme"))
		} else if strings.ContainsAny(value, "\"\\|`") || strings.Contains(value, "<%") { // in Python, TOML, YAML or Markdown
			wrong("%s: a value must not contain \" \\ | ` or <%%", name)
		}
		switch to := key.to.(type) {
		case *string:
			*to = value
		case *[]string:
			*to = words
		case func(string) string:
			if why := to(value); why != "" {
				wrong("%s: %s", name, why)
			}
		default:
			wrong("unknown key %q", name)
		}
		if name == "env" && len(p.Env) > 0 {
			p.lines[p.Env[len(p.Env)-1].Name] = at
		}
	}
	p.source, p.lines["code"] = strings.TrimSuffix(text, "\n")+"\n", at
	for _, key := range []string{"id", "label", "names", "size"} {
		if at = 1; p.lines[key] == 0 && (key != "size" || p.Kind == KindVideo) {
			wrong("missing: a line like `# %s: %s`", key, cmp.Or(keys[key].example, "Acme"))
		}
	}
	return problems
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz_"
	digits = "0123456789"
)

// A headKey is a key of a provider's head: where its value goes, and its form. Each word of
// it begins with prefix, and more of these characters follow; none means any.
type headKey struct {
	to                          any // *string, *[]string for its words, or a function that says what is wrong
	prefix, characters, example string
}

// headKeys returns the keys of the provider's head.
func (p *Provider) headKeys() map[string]headKey {
	return map[string]headKey{
		"id":     {&p.ID, "", lower + digits, "acme_stt"},
		"label":  {to: &p.Label},
		"names":  {&p.Names, "", lower + digits, "acme_stt, acme"},
		"extras": {&p.Extras, "", lower + digits + "-", "openai, aws-nova-sonic"},
		"pip":    {to: &p.pip},
		"python": {&p.python, ">=3.", digits, ">=3.12"},
		"flags":  {to: &p.flags},
		"languages": {to: func(value string) string {
			words := strings.Split(value, ", ")
			p.languages = append(p.languages, words...)
			for _, word := range words {
				if tag, _ := LanguageTag(word); tag != word && value != languageAuto && value != languageVoice {
					return "expected auto, voice, or tags such as en, de, pt-BR"
				}
			}
			return ""
		}},
		"model": {to: func(value string) string {
			cores := 0.0
			value, p.model.apart = strings.CutSuffix(value, ", each session")
			_, err := fmt.Sscanf(value, "%d MB, %g cores", &p.model.megabytes, &cores)
			p.model.cpu = int(1000 * cores)
			if err != nil || p.model.megabytes < 1 || !(cores > 0 && cores < 100) {
				return "expected something like 400 MB, 0.5 cores"
			}
			return ""
		}},
		"loop":   {to: &p.loop},
		"starts": {to: &p.starts},
		"turns":  {to: &p.Turns},
		"keys":   {to: &p.KeysURL},
		"env": {to: func(value string) string {
			v, why := parseVariable(value)
			if why == "" {
				p.Env = append(p.Env, v)
			}
			return why
		}},
		"host": {to: func(value string) string {
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
			p.hosts = append(p.hosts, serviceHost{address, note})
			return ""
		}},
		"video": {to: func(value string) string {
			p.videoIn, p.videoOut = strings.Contains(value, "in"), strings.Contains(value, "out")
			return ""
		}},
		"size": {func(value string) string {
			p.width, p.height, _ = strings.Cut(value, "x")
			return ""
		}, "", digits + "x", "1280x720"},

		// Transports only.
		"order":   {to: &p.order},
		"type":    {to: &p.botType},
		"generic": {to: &p.Generic},
		"mode":    {to: &p.mode},
		"key":     {to: &p.Key},
		"client":  {to: &p.client},
		"cloud":   {to: &p.cloud},
	}
}

// parseVariable reads `NAME required|optional KIND [library|server] [unless OTHER]
// [with OTHER] [without OTHER] [else OTHER] [=VALUE]: NOTE`. The text is what is wrong
// with it, or "".
func parseVariable(s string) (v variable, wrong string) {
	left, note, ok := strings.Cut(s, ": ")
	words := strings.Fields(left)
	if !ok || len(words) < 3 || strings.Trim(words[0], strings.ToUpper(lower)+digits) != "" || words[1] != "required" && words[1] != "optional" || !slices.Contains(variableKinds, words[2]) {
		return v, "expected NAME required|optional " + strings.Join(variableKinds, "|") + " [=VALUE]: NOTE"
	}
	v = variable{Name: words[0], Required: words[1] == "required", Kind: words[2], Note: note}
	others := map[string]*string{"unless": &v.unless, "with": &v.With, "without": &v.Without, "else": &v.Other}
	for rest := words[3:]; len(rest) > 0; rest = rest[1:] {
		if other := others[rest[0]]; other != nil && len(rest) > 1 {
			*other, rest = rest[1], rest[1:]
		} else if value, ok := strings.CutPrefix(rest[0], "="); ok {
			v.Fallback = value
		} else if rest[0] == "library" {
			v.readByLibrary = true
		} else if rest[0] == "server" {
			v.server = true
		} else {
			wrong = fmt.Sprintf("unknown word %q", rest[0])
		}
	}
	return v, wrong
}

var variableKinds = []string{"secret", "id", "model", "voice", "region", "url", "path"}

// Unless is the variable that takes the place of v, or "". Where server.py starts
// the calls it holds for bot.py alone: server.py needs v itself, to know who
// signed a request.
func (p *Provider) Unless(v variable) string {
	if p.Generic != "" || p.standsFor() {
		return ""
	}
	return v.unless
}

// standsFor reports whether the provider is a transport that stands for several ways of
// dialing: their files have the code.
func (p *Provider) standsFor() bool { return strings.TrimSpace(p.source) == "" }

// Addresses are those of the provider's hosts.
func (p *Provider) Addresses() []string {
	out := []string{}
	for _, h := range p.hosts {
		out = append(out, h.address)
	}
	return out
}

// IDs are the ids of providers.
func IDs(providers []*Provider) []string {
	out := []string{}
	for _, p := range providers {
		out = append(out, p.ID)
	}
	return out
}

// IDs are the ids of all providers of the kind, in order.
func (c *Catalog) IDs(kind string) []string { return IDs(c.List(kind)) }

// Transports are the web or the telephony transports, in order.
func (c *Catalog) Transports(telephony bool) (out []*Provider) {
	for _, p := range c.List(KindTransport) {
		if (p.botType == BotTelephony) == telephony {
			out = append(out, p)
		}
	}
	return out
}

// Needs returns what the provider needs besides its variables.
func (p *Provider) Needs() (out []string) {
	if p.python != "" {
		out = append(out, "python"+p.python)
	}
	return append(out, p.flags...)
}

// nearest returns the name or id of the kind that is nearest to word, or "".
func (c *Catalog) nearest(kind, word string) string {
	var words []string
	for _, p := range c.List(kind) {
		words = append(append(words, p.Names...), p.ID)
	}
	return report.Nearest(word, words)
}

// names returns the first names of the providers, as many as fit a line, and where the
// others are.
func names(providers []*Provider, others string) string {
	line := "allowed: "
	for i, p := range providers {
		if i > 0 {
			line += ", "
		}
		if len(line)+len(p.Names[0]) > 60 {
			return line + "... (" + others + ")"
		}
		line += p.Names[0]
	}
	return line
}
