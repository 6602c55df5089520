package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
)

// frameworkRange is the range of pipecat-ai versions that the templates were
// tested with.
const frameworkRange = ">=1.14,<2"

// pythonFloor is what pipecat-ai 1.14 needs; some services need more.
const pythonFloor = "3.11"

// gettingStarted is the guide of the coding-agent path alone.
const gettingStarted = "GETTING_STARTED.md"

// A project is the data of the templates: a configuration and everything derived from
// it.
type project struct {
	config
	Slug         string
	Summary      string // who listens, thinks and speaks, in a sentence
	Range        string // of pipecat-ai
	Dependencies []string
	Python       string // as in requires-python
	PythonFloor  string
	Services     []service // in the order in which bot.py builds them
	STT, LLM     *service
	TTS          *service
	Realtime     *service
	Video        *service
	Transports   []service
	// ClientTransports are those that the web client can use: for them there is a
	// package for browsers.
	ClientTransports []service
	NeedsSession     bool // some service takes an aiohttp session
	NeedsIfSet       bool // some service takes arguments with if_set
	// MustBeSet are the variables without which no session works, as README.md lists them.
	MustBeSet []string
	botCheck  startCheck
	// Dial is how a call comes about that server.py or Daily starts: "pstn dial-in",
	// "pstn dial-out", "sip dial-in", "sip dial-out", or "".
	Dial        string
	DialParams  string // the parameters of its transport, where bot.py builds that
	serverCheck startCheck
	Env         []envGroup
	Tree        string // the files of the project, as the README draws them
}

// A service is a provider, for the templates.
type service struct {
	*provider
	code pythonCode
}

func (s service) Label() string { return s.label }
func (s service) Key() string   { return s.key }

// ClientPackage is the name of its package for browsers, and ClientRange the range
// of versions that was tested: "^1.6.9".
func (s service) ClientPackage() string { name, _, _ := strings.Cut(s.client, " "); return name }
func (s service) ClientRange() string   { _, versions, _ := strings.Cut(s.client, " "); return versions }

// Body is the code that builds it, without the last line's end.
func (s service) Body() string { return s.code.body }

// KeysEntry is its entry of `services` in bot.py, as ruff formats it at 100 columns.
func (s service) KeysEntry() string {
	name, label, keys := s.Name()+".name", `"`+s.label+`"`, `"`+s.Keys()+`"`
	line := "        " + name + ": (" + label + ", " + keys + "),"
	if len(line) <= 100 {
		return line
	}
	const indent = "\n            "
	return "        " + name + ": (" + indent + label + "," + indent + keys + ",\n        ),"
}

func (p project) Telephony() bool { return p.BotType == botTelephony }
func (p project) HasVideo() bool  { return p.VideoInput || p.VideoOutput }

// Has says whether the bot has the transport with the id.
func (p project) Has(id string) bool { return p.hasTransport(id) }

// TransportLabels names the transports: "SmallWebRTC, Daily".
func (p project) TransportLabels() string {
	var labels []string
	for _, t := range p.Transports {
		labels = append(labels, t.label)
	}
	return strings.Join(labels, ", ")
}

// Entries are the transports that create_transport makes. Two may share an entry:
// Daily's rooms, and calls that come into them.
func (p project) Entries() (entries []service) {
	for _, t := range p.Transports {
		if t.key != "" && !slices.ContainsFunc(entries, func(e service) bool { return e.key == t.key }) {
			entries = append(entries, t)
		}
	}
	return entries
}

// CanLook says whether the language model has a tool to see the camera: realtime
// services are shown it anyway.
func (p project) CanLook() bool { return p.VideoInput && p.Mode == modeCascade }

// StartsWithContext says whether the model hears nothing before it is given a
// context, be it empty.
func (p project) StartsWithContext() bool { return p.Realtime != nil && p.Realtime.starts == "context" }

// UsesGoogleKey says whether a service takes the key of a Google service account.
func (p project) UsesGoogleKey() bool {
	return slices.ContainsFunc(p.Services, func(s service) bool {
		return slices.ContainsFunc(s.env, func(v variable) bool { return v.name == "GOOGLE_CREDENTIALS_JSON" })
	})
}

// TakesKeys says whether a service or transport takes a key.
func (p project) TakesKeys() bool {
	return slices.ContainsFunc(slices.Concat(p.Services, p.Transports), func(s service) bool {
		return slices.ContainsFunc(s.env, func(v variable) bool { return v.kind == "secret" })
	})
}

// Watched is the service, by its name in bot.py, that may fail silently: bot.py
// waits for it to deliver the greeting. "" if there is none.
func (p project) Watched() string {
	switch {
	case p.CallsOut() && p.OnlyCalls(): // the person who is called speaks first
		return ""
	case p.Video != nil:
		return p.Video.Name()
	case p.Realtime != nil:
		return p.Realtime.Name()
	}
	return ""
}

// CallsOut says whether the bot calls people.
func (p project) CallsOut() bool { return strings.HasSuffix(p.Dial, "dial-out") }

// OnlyCalls says whether every session is a call that server.py starts.
func (p project) OnlyCalls() bool {
	return p.HasServer() && len(p.Entries()) == 0 && !p.EnableEval
}

// HasServer says whether server.py starts the calls.
func (p project) HasServer() bool { return p.DialParams != "" }

// A hostRow is a row of the README's table of hosts.
type hostRow struct{ Host, Port, For string }

// Hosts are the hosts that the bot contacts, each address once.
func (p project) Hosts() (rows []hostRow) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, h := range s.hosts {
			name, port, _ := strings.Cut(h.address, ":")
			row := hostRow{name, strings.Replace(cmp.Or(port, "443"), "/udp", ", UDP", 1), s.label}
			if h.note != "" {
				row.For += ": " + h.note
			}
			i := slices.IndexFunc(rows, func(r hostRow) bool { return r.Host == row.Host && r.Port == row.Port })
			switch {
			case i < 0:
				rows = append(rows, row)
			case rows[i].For != row.For:
				rows[i].For += "; " + row.For
			}
		}
	}
	return rows
}

// OtherPorts are the TCP ports other than 443 at which the bot contacts hosts.
func (p project) OtherPorts() (ports []string) {
	for _, row := range p.Hosts() {
		udp := strings.HasSuffix(row.Port, "UDP")
		if !udp && row.Port != "443" && row.Host != "localhost" && !slices.Contains(ports, row.Port) {
			ports = append(ports, row.Port)
		}
	}
	return ports
}

// UsesUDP says whether the bot sends audio over UDP.
func (p project) UsesUDP() bool {
	return p.Dial != "" || p.Has("rtc_small") || p.Has("rtc_hosted") || p.Has("rtc_room")
}

// OnlyPhone is the key of the only transport, if that is a telephone provider that
// calls the bot.
func (p project) OnlyPhone() string {
	if phones := p.PhoneTransports(); len(phones) == 1 && len(p.Transports) == 1 {
		return phones[0].key
	}
	return ""
}

// MaxSessions is how many sessions one process carries: 8 telephone calls
// took 0.45 cores, 4 sessions over SmallWebRTC 0.63 (`e2e/run -m cost` on an idle Xeon).
// With SmallWebRTC each does its own encryption, in Python.
func (p project) MaxSessions() int {
	if p.Has("rtc_small") {
		return 4
	}
	return 8
}

func (p project) PhoneTransports() (phones []service) {
	for _, t := range p.Transports {
		if t.telephony && t.generic == "" {
			phones = append(phones, t)
		}
	}
	return phones
}

// An envGroup is one paragraph of .env.example.
type envGroup struct {
	Title     string
	Variables []string // lines
}

// render returns all files of the project, in no particular order. The same
// configuration always produces the same bytes.
func render(cfg config, cat *catalog) ([]generatedFile, error) {
	p := newProject(cfg, cat)
	paths := []string{".gitignore", "server/.env.example", "server/bot.py", "server/pyproject.toml"}
	if cfg.DeployToCloud {
		paths = append(paths, "server/Dockerfile", "server/cloud-deploy.toml")
	}
	if p.HasServer() {
		paths = append(paths, "server/call.py", "server/server.py")
	}
	if cfg.SelfHost {
		paths = append(paths, "server/self_host.py", "deploy/Dockerfile", "deploy/compose.yaml",
			"deploy/kubernetes/kustomization.yaml", "deploy/kubernetes/bot.yaml",
			"deploy/kubernetes/autoscaler.yaml", "deploy/kubernetes/network.yaml")
	}
	if cfg.EnableEval {
		paths = append(paths, "server/evals/starter_audio.yaml")
		if cfg.Mode == modeCascade {
			paths = append(paths, "server/evals/starter_text.yaml")
		}
	}
	var files []generatedFile
	for _, name := range paths {
		data, err := execute(name, p)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".py") {
			data = tidyImports(data, p.imports())
		}
		files = append(files, generatedFile{path: name, data: []byte(data)})
	}
	client, err := p.renderClient()
	if err != nil {
		return nil, err
	}
	files = append(files, client...)
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md"} {
		f, err := renderGuide(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	all := []string{"README.md", recordName}
	for _, f := range files {
		all = append(all, f.path)
	}
	p.Tree = tree(all)
	readme, err := execute("README.md", p)
	if err != nil {
		return nil, err
	}
	return withRecord(cfg, append(files, generatedFile{path: "README.md", data: []byte(readme)}))
}

// A record says where a project came from, so that --check and --update know which
// files nobody edited. It lists what vbot writes for the configuration, whether or not
// a file of that name was kept or deleted: a file that differs from its hash is
// somebody's own. --keep-existing keeps an existing record, too: it still says who
// wrote the files beside it.
type record struct {
	Vbot   string            `json:"vbot"`
	Config config            `json:"config"`
	Files  map[string]string `json:"files"` // SHA-256 in hex; no guides, which say their version themselves
}

const recordName = ".vbot.json"

// withRecord adds the record of the other files.
func withRecord(cfg config, files []generatedFile) ([]generatedFile, error) {
	r := record{version, cfg, map[string]string{}}
	for _, f := range files {
		if !f.guide {
			r.Files[f.path] = hexSum(f.data)
		}
	}
	var data bytes.Buffer
	err := writeJSON(&data, r)
	return append(files, generatedFile{path: recordName, data: data.Bytes()}), err
}

// hexSum returns the SHA-256 of data in hex.
func hexSum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// clientFolders returns the folders of templates/client that make up the web client.
// Files that several clients share are in a folder of their own.
func (p project) clientFolders() []string {
	switch {
	case p.ClientFramework == clientVanilla:
		return []string{"shared", "vite", "vanilla"}
	case p.ClientServer == serverNext:
		return []string{"shared", "react", "react-nextjs"}
	case p.ClientFramework == clientReact:
		return []string{"shared", "vite", "react", "react-vite"}
	}
	return nil
}

// renderClient returns the files of the web client. A template with blank output adds
// no file.
func (p project) renderClient() (files []generatedFile, err error) {
	for _, folder := range p.clientFolders() {
		top := "templates/client/" + folder + "/"
		err := fs.WalkDir(templates, "templates/client/"+folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name = strings.TrimSuffix(name, ".tmpl")
			data, err := execute(strings.TrimPrefix(name, "templates/"), p)
			if strings.TrimSpace(data) != "" {
				files = append(files, generatedFile{path: "client/" + strings.TrimPrefix(name, top), data: []byte(data)})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// renderGuides returns the guides of the coding-agent path.
func renderGuides() (files []generatedFile, err error) {
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md", gettingStarted} {
		f, err := renderGuide(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// renderGuide fills in the two values of a guide, which is the same for all projects.
func renderGuide(name string) (generatedFile, error) {
	text, err := templates.ReadFile("templates/guide/" + name + ".tmpl")
	text = bytes.ReplaceAll(text, []byte("<% .Version %>"), []byte(version))
	text = bytes.ReplaceAll(text, []byte("<% .Range %>"), []byte(frameworkRange))
	return generatedFile{path: name, data: text, guide: true}, err
}

// execute fills in one template of templates/.
func execute(name string, data any) (string, error) {
	raw, err := templates.ReadFile("templates/" + name + ".tmpl")
	text := string(raw)
	if err != nil || !strings.Contains(text, "<%") {
		return text, err // most of a web client: the template is the file
	}
	t, err := template.New(name).Delims("<%", "%>").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(len(text))
	err = t.Execute(&b, data)
	return b.String(), err
}

func newProject(cfg config, cat *catalog) *project {
	p := &project{config: cfg, Slug: slug(cfg.ProjectName), Range: frameworkRange, PythonFloor: pythonFloor}
	when := map[string]bool{
		"noise_cancel": cfg.EnableNoiseCancel,
		"video_in":     cfg.VideoInput,
		"video_out":    cfg.VideoOutput,
		"avatar":       cfg.VideoService != "",
	}
	add := func(kind, id string) *service {
		if id == "" {
			return nil
		}
		found := cat.find(kind, id)
		return &service{found, found.parseCode(when)}
	}
	p.STT = add(kindSTT, string(cfg.STTService))
	p.LLM = add(kindLLM, string(cfg.LLMService))
	p.TTS = add(kindTTS, string(cfg.TTSService))
	p.Realtime = add(kindRealtime, string(cfg.RealtimeService))
	p.Video = add(kindVideo, string(cfg.VideoService))
	for _, s := range []*service{p.STT, p.LLM, p.TTS, p.Realtime, p.Video} {
		if s != nil {
			p.Services = append(p.Services, *s)
			p.NeedsSession = p.NeedsSession || s.code.needsSession
			p.NeedsIfSet = p.NeedsIfSet || s.code.needsIfSet
		}
	}
	for _, id := range cfg.Transports {
		switch id { // a dialed transport is generated from the file of its mode
		case "rtc_hosted_pstn":
			p.Dial = "pstn " + string(cfg.DailyPSTNMode)
			id += "_" + strings.ReplaceAll(string(cfg.DailyPSTNMode), "-", "")
		case "tel_a_rtc_hosted_sip":
			p.Dial = "sip " + string(cfg.TwilioDailySIPMode)
			id += "_" + strings.ReplaceAll(string(cfg.TwilioDailySIPMode), "-", "")
		}
		s := add(kindTransport, id)
		s.code.body = asExpression(s.code.body)
		if p.Video != nil { // what it shows goes out as it is
			s.code.body = strings.NewReplacer("=video_width", "="+p.Video.width, "=video_height", "="+p.Video.height).Replace(s.code.body)
		}
		if s.key == "" {
			p.DialParams = s.code.body
			if len(cfg.Transports) > 1 || cfg.EnableEval { // one level deeper
				p.DialParams = strings.ReplaceAll(p.DialParams, "\n", "\n    ")
			}
		}
		p.Transports = append(p.Transports, *s)
	}
	for _, t := range p.Transports {
		if t.client != "" {
			p.ClientTransports = append(p.ClientTransports, t)
		}
	}
	p.Summary = p.summary()
	p.describeRequirements()
	return p
}

func (p *project) summary() string {
	s := ""
	if p.Realtime != nil {
		s = p.Realtime.label + " listens and speaks"
	} else {
		s = fmt.Sprintf("%s listens, %s thinks, %s speaks", p.STT.label, p.LLM.label, p.TTS.label)
	}
	if p.Video != nil {
		s += ", " + p.Video.label + " shows a face"
	}
	return s + "."
}

// describeRequirements fills in the dependencies and the variables.
func (p *project) describeRequirements() {
	extras := map[string]bool{"runner": true}
	if p.Mode == modeCascade {
		extras["silero"] = true // a realtime model detects turns itself
	}
	floor := pythonFloor
	seen := map[string]bool{}
	var must []string // the names of MustBeSet
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, e := range s.extras {
			extras[e] = true
		}
		if v, ok := strings.CutPrefix(s.python, ">="); ok && olderPython(floor, v) {
			floor = v
		}
		group := envGroup{Title: s.label}
		if s.keysURL != "" {
			group.Title += ": " + s.keysURL
		}
		if s.kind == kindTransport && s.generic == "" && len(p.Transports) > 1 {
			group.Title += " (only to connect over " + s.label + ")"
		}
		for _, v := range s.env {
			// Services may need the same key, each unless another variable is set.
			first := !seen[v.name]
			seen[v.name] = true
			if first {
				group.Variables = append(group.Variables, v.lines()...)
			}
			chosen := s.kind == kindTransport && len(p.Transports) > 1 // one of several ways in
			switch {
			case v.server:
				p.serverCheck.add(v, s.env)
			case !chosen:
				p.botCheck.add(v, s.env)
			case v.without != "":
				p.botCheck.add(variable{name: v.name, without: v.without}, nil)
			}
			if v.required && !v.server && !chosen {
				switch i := slices.Index(must, v.name); {
				case i < 0:
					must = append(must, v.name)
					p.MustBeSet = append(p.MustBeSet, s.must(v))
				case p.MustBeSet[i] != s.must(v): // services can do without it in different ways
					p.MustBeSet[i] = "`" + v.name + "`"
				}
			}
			if v.required && !v.server && s.generic != "" {
				// Without a substitute: see unless.
				p.serverCheck.add(variable{name: v.name, required: true}, nil)
			}
		}
		if len(group.Variables) > 0 {
			p.Env = append(p.Env, group)
		}
	}
	if p.EnableNoiseCancel {
		p.Env = append(p.Env, envGroup{"Noise cancelling (set by Pipecat Cloud; only to run it elsewhere)", []string{
			"# path of the Krisp VIVA model", "# KRISP_VIVA_FILTER_MODEL_PATH=",
			"# licence key of the Krisp SDK", "# KRISP_VIVA_API_KEY=",
		}})
	}
	p.Python, p.PythonFloor = ">="+floor, floor
	p.Dependencies = []string{fmt.Sprintf("pipecat-ai[%s]%s", strings.Join(slices.Sorted(maps.Keys(extras)), ","), frameworkRange)}
	for _, s := range slices.Concat(p.Services, p.Transports) {
		p.Dependencies = append(p.Dependencies, s.pip...)
	}
	if p.EnableObservability {
		p.Dependencies = append(p.Dependencies, "pipecat-ai-whisker>=2.0.1,<3")
	}
}

// Offline lists the variables with which the bot needs no internet: addresses of one's
// own servers, and models as files. There are none if a service has neither, or if
// every transport is somebody else's.
func (p project) Offline() (lines []string) {
	if !p.Has("rtc_small") && !p.Has("rtc_room") && !p.Has("websocket") {
		return nil
	}
	for _, s := range p.Services {
		before := len(lines)
		for _, v := range s.env {
			model := slices.Contains(s.flags, "local") && (v.kind == "model" || v.kind == "path")
			if v.kind == "url" || model {
				lines = append(lines, "`"+v.name+"`: "+v.note)
			}
		}
		if len(lines) == before {
			return nil
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Keyless are the variables for an address of one's own that make a required key
// optional.
func (p project) Keyless() string {
	var names []string
	for _, s := range p.Services {
		for _, v := range s.env {
			if other := s.unless(v); v.required && s.isAddress(other) {
				names = append(names, "`"+other+"`")
			}
		}
	}
	return strings.Join(slices.Compact(names), ", ")
}

// keys returns what the bot requires: each variable once.
func (p *project) keys() (out []requiredKeys) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, k := range s.keys() {
			if s.kind == kindTransport && s.generic == "" && len(p.Transports) > 1 {
				k.only = s.label
			}
			if !slices.ContainsFunc(out, func(o requiredKeys) bool { return o.names == k.names }) {
				out = append(out, k)
			}
		}
	}
	return out
}

// Check and ServerCheck are the code with which bot.py and server.py stop at their
// start where a variable is missing, without the last line's end.
func (p project) Check() string {
	if !p.UsesGoogleKey() {
		return p.botCheck.code("sys.exit")
	}
	// Problems with the key are reported together with the others.
	return "    problems = google_problems()\n" + p.botCheck.code("problems.append") +
		"\n    if problems:\n        sys.exit(\"\\n\".join(problems))"
}
func (p project) ServerCheck() string { return p.serverCheck.code("sys.exit") }

func olderPython(a, b string) bool {
	var x, y int
	fmt.Sscanf(a, "3.%d", &x)
	fmt.Sscanf(b, "3.%d", &y)
	return x < y
}

// tree draws paths as an indented list, directories before their files.
func tree(paths []string) string {
	slices.Sort(paths)
	var b strings.Builder
	shown := map[string]bool{}
	for _, p := range paths {
		for _, dir := range parents(p) {
			if !shown[dir] {
				shown[dir] = true
				fmt.Fprintf(&b, "%s%s/\n", strings.Repeat("  ", strings.Count(dir, "/")), path.Base(dir))
			}
		}
		line := strings.Repeat("  ", strings.Count(p, "/")) + path.Base(p)
		if what := whatItIs[p]; what != "" {
			line = fmt.Sprintf("%-28s%s", line, what)
		}
		fmt.Fprintln(&b, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var whatItIs = map[string]string{
	".gitignore":                            "files to keep out of git",
	".vbot.json":                            "what vbot wrote; commit it",
	"AGENTS.md":                             "for coding agents",
	"AGENT_IMPORT.md":                       "imports AGENTS.md",
	"README.md":                             "this file",
	"client/.env.example":                   "copy to .env for a bot on another host",
	"client/.oxlintrc.json":                 "linter rules",
	"client/index.html":                     "the page",
	"client/next.config.ts":                 "settings for Next.js",
	"client/package.json":                   "dependencies and scripts",
	"client/src/App.tsx":                    "the page",
	"client/src/app/api/[...path]/route.ts": "forwards requests to the bot",
	"client/src/main.js":                    "behavior of the page",
	"client/src/problems.js":                "what the page says if something fails",
	"client/src/session.js":                 "connects to the bot",
	"client/src/style.css":                  "styles; colors at the top",
	"client/src/words.js":                   "what the page says",
	"client/vite.config.js":                 "Vite settings; forwards requests to the bot",
	"client/vite.config.ts":                 "Vite settings; forwards requests to the bot",
	"deploy/Dockerfile":                     "the image for your own machines",
	"deploy/compose.yaml":                   "runs it on one machine",
	"deploy/kubernetes/autoscaler.yaml":     "how many pods",
	"deploy/kubernetes/bot.yaml":            "a pod, and the service in front of it",
	"deploy/kubernetes/kustomization.yaml":  "namespace, image and .env",
	"deploy/kubernetes/network.yaml":        "what may connect, and where to",
	"server/.env.example":                   "copy to .env and fill in",
	"server/Dockerfile":                     "the image for Pipecat Cloud",
	"server/bot.py":                         "the bot",
	"server/call.py":                        "data about a call, from server.py to bot.py",
	"server/self_host.py":                   "runs the bot in a container",
	"server/server.py":                      "starts the bot for each call",
	"server/cloud-deploy.toml":              "settings for Pipecat Cloud",
	"server/evals/starter_audio.yaml":       "an eval by voice",
	"server/evals/starter_text.yaml":        "a text eval",
	"server/pyproject.toml":                 "dependencies",
}

// imports are those of all providers of the project.
func (p *project) imports() (imports []pythonImport) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		imports = append(imports, s.code.imports...)
	}
	return imports
}

// A generatedFile is one file of a project, or a guide.
type generatedFile struct {
	path  string // relative to the target, with slashes
	data  []byte // nil for a file of an earlier version that is no longer written
	guide bool   // an existing one is kept, unless --overwrite-guide is given
}

// parents are the directories above a slash-separated path, outermost first.
func parents(name string) (dirs []string) {
	for i, r := range name {
		if r == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}
