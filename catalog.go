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
	hosts   []host // that it contacts, if .env holds no address of one's own
	videoIn bool   // a transport carries the person's camera, a realtime service looks at it
	source  string // the file without its head; "" before load

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

// A host is what a firewall has to let through.
type host struct {
	address string // HOST[:PORT[/udp]], with {NAME} for what a variable holds; without a port it is 443
	note    string
}

// A variable is an environment variable that a provider reads.
type variable struct {
	name     string
	required bool
	kind     string // secret, id, model, voice, region, url or path
	library  bool   // read by the framework, not by the generated code
	server   bool   // read by server.py, not by bot.py
	unless   string // though required, not needed where that variable is set
	with     string // though optional, needed where that variable is set
	without  string // refused where that variable is set
	other    string // though optional, that variable is read where this one is unset
	fallback string // the default when unset or blank; "" if it is not fixed
	note     string // a short description
}

// A catalog finds providers. It reads files only when they are needed. It panics on a
// file that does not have the form in CONTRIBUTING.md; a test reads them all.
type catalog struct {
	known  map[string]*provider   // by file
	listed map[string][]*provider // by kind, all of it, in the order of ids
}

func newCatalog() *catalog {
	return &catalog{map[string]*provider{}, map[string][]*provider{}}
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

// load reads the provider's whole file, once: the head, which is comment lines of
// the form `# key: value` up to the first line that is none, and the code.
func (p *provider) load() *provider {
	if p.source != "" {
		return p
	}
	data, err := templates.ReadFile(p.file)
	if err != nil {
		panic(err)
	}
	text := string(data)
	for strings.HasPrefix(text, "# ") {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		key, value, _ := strings.Cut(line[2:], ": ")
		switch key {
		case "id", "label", "names": // readNames has them
		case "extras":
			p.extras = strings.Split(value, ", ")
		case "python":
			p.python = value
		case "flags":
			p.flags = strings.Split(value, ", ")
		case "starts":
			p.starts = value
		case "keys":
			p.keysURL = value
		case "env":
			p.env = append(p.env, p.variable(value))
		case "host":
			address, note, _ := strings.Cut(value, ": ")
			p.hosts = append(p.hosts, host{address, note})
		case "order":
			if p.order, err = strconv.Atoi(value); err != nil {
				panic(p.file + ": order: " + err.Error())
			}
		case "generic":
			p.generic = value
		case "mode":
			p.mode = value
		case "pip":
			p.pip = strings.Split(value, ", ")
		case "type":
			p.telephony = value == "telephony"
		case "key":
			p.key = value
		case "video":
			p.videoIn = strings.Contains(value, "in")
			p.videoOut = strings.Contains(value, "out")
		case "size":
			p.width, p.height, _ = strings.Cut(value, "x")
		case "cloud":
			p.notCloud = value == "no"
		case "client":
			p.client = value
		default:
			panic(fmt.Sprintf("%s: unknown key %q", p.file, key))
		}
	}
	p.source = text
	return p
}

// variable reads `NAME required|optional KIND [library|server] [unless OTHER]
// [with OTHER] [without OTHER] [else OTHER] [=VALUE]: NOTE`.
func (p *provider) variable(s string) variable {
	left, note, ok := strings.Cut(s, ": ")
	words := strings.Fields(left)
	if !ok || len(words) < 3 || words[1] != "required" && words[1] != "optional" {
		panic(fmt.Sprintf("%s: env %q is not `NAME required|optional KIND [library|server] [=VALUE]: NOTE`", p.file, s))
	}
	v := variable{name: words[0], required: words[1] == "required", kind: words[2], note: note}
	others := map[string]*string{"unless": &v.unless, "with": &v.with, "without": &v.without, "else": &v.other}
	for rest := words[3:]; len(rest) > 0; rest = rest[1:] {
		if other := others[rest[0]]; other != nil && len(rest) > 1 {
			*other, rest = rest[1], rest[1:]
		} else if value, ok := strings.CutPrefix(rest[0], "="); ok {
			v.fallback = value
		} else if rest[0] == "library" {
			v.library = true
		} else if rest[0] == "server" {
			v.server = true
		} else {
			panic(fmt.Sprintf("%s: env %q: unknown word %q", p.file, s, rest[0]))
		}
	}
	return v
}

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

// ids are the ids of providers.
func ids(providers []*provider) []string {
	out := []string{}
	for _, p := range providers {
		out = append(out, p.id)
	}
	return out
}

// ids are the ids of all providers of the kind, in order.
func (c *catalog) ids(kind string) []string { return ids(c.list(kind)) }

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
