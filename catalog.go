package main

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// templates holds the sources of all generated files. The patterns match files: a
// folder would omit .env.example, or with `all:` include the caches of linters.
//
//go:embed templates/*.tmpl templates/*/*.tmpl templates/*/*/*.tmpl templates/*/*/*/*.tmpl
//go:embed templates/*/*/*/*/*.tmpl templates/*/*/*/*/*/*/*.tmpl templates/services/*/*.py
var templates embed.FS

// A provider is a service or transport: one file of templates/services. Its head
// describes it, its code builds it.
type provider struct {
	kind  string
	file  string   // its path in templates
	id    string   // canonical: "stt_a", "rtc_small"
	label string   // "Deepgram"
	names []string // names for the id, the usual one first

	// The fields below are set by load.
	extras  []string // of pipecat-ai, without brackets
	pip     []string // requirements beside pipecat-ai
	python  string   // a bound that is stricter than the framework's, ">=3.12"
	flags   []string // "local" (runs on the bot's machine), "deprecated"
	starts  string   // "context" where a realtime session starts with the first context, "" with the connection
	keysURL string   // where a person gets the keys
	env     []variable
	hosts   []serviceHost  // that it contacts, if .env holds no address of one's own
	videoIn bool           // a transport carries the person's camera, a realtime service looks at it
	source  string         // the file without its head; "" before load
	lines   map[string]int // of the keys in the head

	// Video avatars only.
	width, height string // of the picture, in pixels

	// Transports only.
	order     int
	generic   string // of one way of dialing: the id of the transport that it is a mode of
	mode      string // and that mode, "dial-in" or "dial-out"
	telephony bool
	key       string // the entry in create_transport's dictionary
	videoOut  bool
	notCloud  bool   // Pipecat Cloud's runner (pipecatcloud 1.4) starts no bot with it
	client    string // its package for browsers and the tested range, "@pipecat-ai/daily-transport ^1.6.9"; "" if there is none
}

// A serviceHost is what a firewall has to let through.
type serviceHost struct {
	address string // HOST[:PORT[/udp]], with {NAME} for what a variable holds; without a port it is 443
	note    string
}

// A variable is an environment variable that a provider reads.
type variable struct {
	name          string
	required      bool
	kind          string // secret, id, model, voice, region, url or path
	readByLibrary bool   // read by the framework, not by the generated code
	server        bool   // read by server.py, not by bot.py
	unless        string // though required, not needed where that variable is set
	with          string // though optional, needed where that variable is set
	without       string // refused where that variable is set
	other         string // though optional, that variable is read where this one is unset
	fallback      string // the default when unset or blank; "" if it is not fixed
	note          string // a short description
}

// A catalog finds providers. It reads vbot's own files only when they are needed. It
// panics on one that does not have the form in CONTRIBUTING.md; a test reads them all.
type catalog struct {
	known  map[string]*provider   // by file
	listed map[string][]*provider // by kind, all of it, in the order of ids
	own    int                    // how many of these are one's own
}

func newCatalog() *catalog {
	return &catalog{known: map[string]*provider{}, listed: map[string][]*provider{}}
}

// wrong returns a problem with a line of the provider's file; 0 is none of them.
func (p *provider) wrong(line int, format string, args ...any) problem {
	at := p.file
	if line > 0 {
		at += fmt.Sprintf(":%d", line)
	}
	return problem{Field: at, where: at, Message: fmt.Sprintf(format, args...)}
}

// list returns the providers of the kind, in order. They may not be loaded.
func (c *catalog) list(kind string) []*provider {
	if c.listed[kind] != nil {
		return c.listed[kind]
	}
	entries, err := templates.ReadDir("templates/services/" + kind)
	if err != nil {
		panic(err)
	}
	var all []*provider
	for _, e := range entries {
		all = append(all, c.provider(kind, strings.TrimSuffix(e.Name(), ".py")))
	}
	if kind == kindTransport {
		all = append(all, generics(all)...)
	}
	slices.SortFunc(all, func(a, b *provider) int {
		// stt_z comes before stt_aa.
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(len(a.id), len(b.id)), strings.Compare(a.id, b.id))
	})
	c.listed[kind] = all
	return all
}

// generics are the transports that stand for several ways of dialing: no file
// of their own, the variables of all, and a mode to be chosen.
func generics(transports []*provider) (out []*provider) {
	for _, p := range transports {
		p.load()
		if p.generic == "" {
			continue
		}
		i := slices.IndexFunc(out, func(g *provider) bool { return g.id == p.generic })
		if i < 0 {
			label, _, _ := strings.Cut(p.label, " (")
			name, _, _ := strings.Cut(p.names[0], "_dial")
			out = append(out, &provider{kind: p.kind, id: p.generic, label: label, names: []string{name}, source: " ",
				order: p.order, telephony: p.telephony, extras: p.extras, keysURL: p.keysURL, flags: []string{dialed[p.generic].key}})
			i = len(out) - 1
		}
		for _, v := range p.env {
			if !slices.ContainsFunc(out[i].env, func(w variable) bool { return w.name == v.name }) {
				out[i].env = append(out[i].env, v)
			}
		}
		for _, h := range p.hosts {
			if !slices.Contains(out[i].hosts, h) {
				out[i].hosts = append(out[i].hosts, h)
			}
		}
	}
	return out
}

// all are the providers of the kind, loaded, in order.
func (c *catalog) all(kind string) []*provider {
	for _, p := range c.list(kind) {
		p.load()
	}
	return c.list(kind)
}

// provider is the one whose first name is name, or nil.
func (c *catalog) provider(kind, name string) *provider {
	file := "templates/services/" + kind + "/" + name + ".py"
	if c.known[file] == nil {
		c.known[file] = readNames(kind, file)
	}
	return c.known[file]
}

// find is the provider of the kind that word names, by id or by real name,
// loaded; or nil.
func (c *catalog) find(kind, word string) *provider {
	for _, p := range c.known {
		if p != nil && p.kind == kind && p.is(word) {
			return p.load()
		}
	}
	if p := c.provider(kind, word); p != nil {
		return p.load()
	}
	for _, p := range c.list(kind) {
		if p.is(word) {
			return p.load()
		}
	}
	return nil
}

// is reports whether word is the id or a name of the provider.
func (p *provider) is(word string) bool { return p.id == word || slices.Contains(p.names, word) }

// readNames reads the three lines that a provider's file begins with: `# id: `,
// `# label: ` and `# names: `. It is nil if there is no such file.
func readNames(kind, file string) *provider {
	f, err := templates.Open(file)
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
	return &provider{kind: kind, file: file, id: id, label: label, names: strings.Split(names, ", ")}
}

// load reads the provider's whole file, once.
func (p *provider) load() *provider {
	if p.source != "" {
		return p
	}
	data, err := templates.ReadFile(p.file)
	if err != nil {
		panic(err)
	}
	if problems := p.parse(string(data)); len(problems) > 0 {
		panic(problems[0].line())
	}
	return p
}

// parse reads the text of the provider's file: the head, which is comment lines of the
// form `# key: value` up to the first line that is none, and the code. It returns what
// is wrong.
func (p *provider) parse(text string) (problems []problem) {
	at := 1
	wrong := func(format string, args ...any) { problems = append(problems, p.wrong(at, format, args...)) }
	texts := map[string]*string{"id": &p.id, "label": &p.label, "python": &p.python, "starts": &p.starts, "keys": &p.keysURL,
		"generic": &p.generic, "mode": &p.mode, "key": &p.key, "client": &p.client}
	lists := map[string]*[]string{"names": &p.names, "extras": &p.extras, "pip": &p.pip, "flags": &p.flags}
	p.lines = map[string]int{}
	for ; strings.HasPrefix(text, "# "); at++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		key, value, _ := strings.Cut(line[2:], ": ")
		words := strings.Split(value, ", ")
		if p.lines[key] > 0 && key != "env" && key != "host" {
			wrong("%s is already in line %d", key, p.lines[key])
		}
		p.lines[key] = at
		form := headForms[key]
		if slices.ContainsFunc(words, func(word string) bool {
			rest, found := strings.CutPrefix(word, form.prefix)
			return !found || rest == "" || form.characters != "" && strings.Trim(rest, form.characters) != ""
		}) {
			wrong("%s: expected something like %s", key, cmp.Or(form.example, "Acme"))
		} else if strings.ContainsAny(value, "\"\\|`") || strings.Contains(value, "<%") { // in Python, TOML or Markdown
			wrong("%s: a value may not have \" \\ | ` or <%%", key)
		}
		switch {
		case texts[key] != nil:
			*texts[key] = value
		case lists[key] != nil:
			*lists[key] = words
		case key == "env":
			if v, why := parseVariable(value); why != "" {
				wrong("env: %s", why)
			} else {
				p.env, p.lines[v.name] = append(p.env, v), at
			}
		case key == "host":
			address, note, _ := strings.Cut(value, ": ")
			p.hosts = append(p.hosts, serviceHost{address, note})
		case key == "order":
			p.order, _ = strconv.Atoi(value)
		case key == "type":
			p.telephony = value == "telephony"
		case key == "video":
			p.videoIn = strings.Contains(value, "in")
			p.videoOut = strings.Contains(value, "out")
		case key == "size":
			p.width, p.height, _ = strings.Cut(value, "x")
		case key == "cloud":
			p.notCloud = value == "no"
		default:
			wrong("unknown key %q", key)
		}
	}
	p.source, p.lines["code"] = strings.TrimSuffix(text, "\n")+"\n", at
	for _, key := range []string{"id", "label", "names", "size"} {
		if at = 1; p.lines[key] == 0 && (key != "size" || p.kind == kindVideo) {
			wrong("missing: a line like `# %s: %s`", key, cmp.Or(headForms[key].example, "Acme"))
		}
	}
	return problems
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz_"
	digits = "0123456789"
)

// headForms are the forms of values: each word of one begins with prefix, and more of
// these characters follow.
var headForms = map[string]struct{ prefix, characters, example string }{
	"id":     {"", lower + digits, "acme_stt"},
	"names":  {"", lower + digits, "acme_stt, acme"},
	"extras": {"", lower + digits + "-", "openai, aws-nova-sonic"},
	"python": {">=3.", digits, ">=3.12"},
	"size":   {"", digits + "x", "1280x720"},
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
	v = variable{name: words[0], required: words[1] == "required", kind: words[2], note: note}
	others := map[string]*string{"unless": &v.unless, "with": &v.with, "without": &v.without, "else": &v.other}
	for rest := words[3:]; len(rest) > 0; rest = rest[1:] {
		if other := others[rest[0]]; other != nil && len(rest) > 1 {
			*other, rest = rest[1], rest[1:]
		} else if value, ok := strings.CutPrefix(rest[0], "="); ok {
			v.fallback = value
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

// unless is the variable that takes the place of v, or "". Where server.py starts
// the calls it holds for bot.py alone: server.py needs v itself, to know who
// signed a request.
func (p *provider) unless(v variable) string {
	if p.generic != "" || p.file == "" {
		return ""
	}
	return v.unless
}

// addresses are those of the provider's hosts.
func (p *provider) addresses() []string {
	out := []string{}
	for _, h := range p.hosts {
		out = append(out, h.address)
	}
	return out
}

// idsOf are the ids of providers.
func idsOf(providers []*provider) []string {
	out := []string{}
	for _, p := range providers {
		out = append(out, p.id)
	}
	return out
}

// ids are the ids of all providers of the kind, in order.
func (c *catalog) ids(kind string) []string { return idsOf(c.list(kind)) }

// transports are the web or the telephony transports, in order.
func (c *catalog) transports(telephony bool) (out []*provider) {
	for _, p := range c.list(kindTransport) {
		if p.telephony == telephony {
			out = append(out, p)
		}
	}
	return out
}

// needs returns what the provider needs besides its variables.
func (p *provider) needs() (out []string) {
	if p.python != "" {
		out = append(out, "python"+p.python)
	}
	return append(out, p.flags...)
}

// nearest returns the name or id of the kind that is nearest to word, or "".
func (c *catalog) nearest(kind, word string) string {
	var words []string
	for _, p := range c.list(kind) {
		words = append(append(words, p.names...), p.id)
	}
	return nearest(word, words)
}

// names returns the first names of the kind, as many as fit a line, and the command
// that shows the others.
func (c *catalog) names(kind string) string {
	line := "allowed: "
	for i, p := range c.list(kind) {
		if i > 0 {
			line += ", "
		}
		if len(line)+len(p.names[0]) > 60 {
			return fmt.Sprintf("%s... (`vbot init --describe-options=%s` shows all %d)", line, kind, len(c.list(kind)))
		}
		line += p.names[0]
	}
	return line
}
