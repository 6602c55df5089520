package bot

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"vbot/templates"
)

// frameworkRange is the range of pipecat-ai versions that the templates were
// tested with.
const frameworkRange = ">=1.14,<2"

// pythonFloor is what pipecat-ai 1.14 needs; some services need more.
const pythonFloor = "3.11"

// GettingStarted is the guide of the coding-agent path alone.
const GettingStarted = "GETTING_STARTED.md"

// A Project is the data of the templates: a configuration and everything derived from
// it.
type Project struct {
	Config
	Slug         string
	Summary      string // who listens, thinks and speaks, in a sentence
	Version      string // of vbot
	Range        string // of pipecat-ai
	Dependencies []string
	Python       string // as in requires-python
	PythonFloor  string
	Services     []Service // in the order in which bot.py builds them
	STT, LLM     *Service
	TTS          *Service
	Realtime     *Service
	Video        *Service
	Transports   []Service
	// ClientTransports are those that the web client can use: for them there is a
	// package for browsers.
	ClientTransports []Service
	NeedsSession     bool // some service takes an aiohttp session
	NeedsLoop        bool // the constructor of some service needs the event loop
	// MustBeSet are the variables without which no session works, as README.md lists them.
	MustBeSet []string
	// Requires and ServerRequires are what bot.py and server.py require of .env when they start.
	Requires, ServerRequires []string
	SelfHostRequires         []string // and self_host.py, besides Requires
	// Dial is how a call comes about that server.py or Daily starts: "pstn dial-in",
	// "pstn dial-out", "sip dial-in", "sip dial-out", or "".
	Dial       string
	DialParams string // the parameters of its transport, where bot.py builds that
	Env        []envGroup
	Tree       string // the files of the project, as the README draws them
	ServerDir  string // see NextSteps
	ClientDir  string
}

// A Service is a provider, for the templates.
type Service struct {
	*Provider
	code pythonCode
}

// ClientPackage is the name of its package for browsers, and ClientRange the range
// of versions that was tested: "^1.6.9".
func (s Service) ClientPackage() string { name, _, _ := strings.Cut(s.client, " "); return name }
func (s Service) ClientRange() string   { _, versions, _ := strings.Cut(s.client, " "); return versions }

// Body is the code that builds it, without the last line's end.
func (s Service) Body() string { return s.code.body }

// Apart says whether each session loads a model of its own.
func (s Service) Apart() bool { return s.model.apart }

// Class is the framework's class of it.
func (s Service) Class() string {
	_, _, class, _, _ := s.parts()
	return class
}

// Local says whether it runs on the owner's machines, and so does not charge.
func (s Service) Local() bool { return slices.Contains(s.flags, "local") }

// WatchEntry is its entry of `services` in bot.py, as ruff formats it at 100 columns.
func (s Service) WatchEntry() string {
	name, label, keys := s.Name(), `"`+s.Label+`"`, `"`+s.Keys()+`"`
	line := name + ": Service(" + label + ", " + keys + ")"
	if len(line) <= 91 {
		return line
	}
	const indent = "\n            "
	if len(label+keys) <= 86 {
		return name + ": Service(" + indent + label + ", " + keys + "\n        )"
	}
	return name + ": Service(" + indent + label + "," + indent + keys + ",\n        )"
}

// ServiceNames are the names of the services in bot.py: "stt, llm, tts".
func (p Project) ServiceNames() string {
	var names []string
	for _, s := range p.Services {
		names = append(names, s.Name())
	}
	return strings.Join(names, ", ")
}

// BuildArguments are those of build in bot.py: "transport, session".
func (p Project) BuildArguments() string {
	arguments := "transport"
	if p.Recording || p.Transcription {
		arguments += ", runner_args"
	}
	if p.NeedsSession {
		arguments += ", session"
	}
	if p.CallsOut() && !p.OnlyCalls() {
		arguments += ", call"
	}
	return arguments
}

// LooksAtContext says whether bot.py asks how many messages there are.
func (p Project) LooksAtContext() bool {
	return p.Telephony() && p.Has("rtc_small") && !p.CallsOut()
}

// ServicesApart says whether bot.py builds the services in a function of their own, so
// that no function is longer than 70 lines, and so that models.py can call it.
func (p Project) ServicesApart() bool {
	lines := 0
	for _, s := range p.Services {
		lines += 1 + strings.Count(s.Body(), "\n")
	}
	for _, on := range []bool{p.Recording, p.Transcription, p.EnableObservability, p.HasServer(), p.Dial != ""} {
		if on {
			lines += 5
		}
	}
	return lines > 25 || len(p.LocalModels()) > 0
}

// CallNames are what bot.py imports from call.py: "Call, record".
func (p Project) CallNames() string {
	var names []string
	for _, n := range []struct {
		name string
		on   bool
	}{{"Call", p.HasServer()}, {"camera_tool", p.CanLook()}, {"end_call", p.Dial != ""}, {"handle_call", p.Dial == "pstn dial-in"}, {"log_transcript", p.Transcription}, {"noise_filter", p.EnableNoiseCancel && len(p.Entries()) > 0}, {"observe", p.EnableObservability}, {"recorder", p.Recording}, {"refuse_strangers", p.Dial != ""}} {
		if n.on {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

// HasPage says whether the bot serves a page of its own: server/page.html.
func (p Project) HasPage() bool { return p.Has("rtc_small") && p.ClientFramework == "" }

func (p Project) Telephony() bool { return p.BotType == BotTelephony }
func (p Project) HasVideo() bool  { return p.VideoInput || p.VideoOutput }

// Has says whether the bot has the transport with the id.
func (p Project) Has(id string) bool { return p.hasTransport(id) }

// Entries are the transports that create_transport makes. Two may share an entry:
// Daily's rooms, and calls that come into them.
func (p Project) Entries() (entries []Service) {
	for _, t := range p.Transports {
		if t.Key != "" && !slices.ContainsFunc(entries, func(e Service) bool { return e.Key == t.Key }) {
			entries = append(entries, t)
		}
	}
	return entries
}

// Shared are the parameters, indented for a function, that several of the entries have in
// common, if that saves lines. "" if there are none.
func (p Project) Shared() (shared string) {
	saves, users := 0, map[string]int{}
	for _, e := range p.Entries() {
		_, parameters, _ := strings.Cut(e.Body(), "(")
		users[parameters]++
		if lines := strings.Count(parameters, "\n"); (users[parameters]-1)*lines-4 > saves {
			saves, shared = (users[parameters]-1)*lines-4, parameters
		}
	}
	return shared
}

// Params is the code that makes the parameters of the transport, where those are shared.
func (s Service) Params(shared string) string {
	class, parameters, _ := strings.Cut(s.Body(), "(")
	if shared != "" && parameters == shared {
		return "shared(" + class + ")"
	}
	return s.Body()
}

// CanLook says whether the language model has a tool to see the camera: realtime
// services are shown it anyway.
func (p Project) CanLook() bool { return p.VideoInput && p.Mode == modeCascade }

// StartsWithContext says whether the model hears nothing before it is given a
// context, be it empty.
func (p Project) StartsWithContext() bool { return p.Realtime != nil && p.Realtime.starts == "context" }

// UsesGoogleKey says whether a service takes the key of a Google service account.
func (p Project) UsesGoogleKey() bool {
	return slices.ContainsFunc(p.Services, func(s Service) bool {
		return slices.ContainsFunc(s.Env, func(v variable) bool { return v.Name == "GOOGLE_CREDENTIALS_JSON" })
	})
}

// CallsOut says whether the bot calls people.
func (p Project) CallsOut() bool { return strings.HasSuffix(p.Dial, "dial-out") }

// OnlyCalls says whether every session is a call that server.py starts.
func (p Project) OnlyCalls() bool {
	return p.HasServer() && len(p.Entries()) == 0 && !p.EnableEval
}

// HasServer says whether server.py starts the calls.
func (p Project) HasServer() bool { return p.DialParams != "" }

// A hostRow is a row of DEPLOY.md's table of hosts.
type hostRow struct{ Host, Port, For string }

// Hosts are the hosts that the bot contacts, each address once.
func (p Project) Hosts() (rows []hostRow) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, h := range s.hosts {
			name, port, _ := strings.Cut(h.address, ":")
			row := hostRow{name, strings.Replace(cmp.Or(port, "443"), "/udp", ", UDP", 1), s.Label}
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
func (p Project) OtherPorts() (ports []string) {
	for _, row := range p.Hosts() {
		udp := strings.HasSuffix(row.Port, "UDP")
		if !udp && row.Port != "443" && row.Host != "localhost" && !slices.Contains(ports, row.Port) {
			ports = append(ports, row.Port)
		}
	}
	return ports
}

// UsesUDP says whether the bot sends audio over UDP.
func (p Project) UsesUDP() bool {
	return p.Dial != "" || p.Has("rtc_small") || p.Has("rtc_hosted") || p.Has("rtc_room")
}

// LocalModels are the services whose models self_host.py loads before the first session.
func (p Project) LocalModels() (models []Service) {
	for _, s := range p.Services {
		if p.SelfHost && s.model.megabytes > 0 {
			models = append(models, s)
		}
	}
	return models
}

// size is how many sessions one process carries, and the thousandths of a core and the
// megabytes that they take: 8 telephone calls took 0.45 cores, 4 sessions over SmallWebRTC
// 0.63 (`e2e/run -m cost` on an idle Xeon). With SmallWebRTC each does its own encryption, in
// Python. A recording takes 7 MB, however long it gets. With local models it is as many sessions as two cores carry, and one at least.
func (p Project) size() (sessions, cpu, memory int) {
	sessions = 8
	if p.Has("rtc_small") {
		sessions = 4
	}
	each, busy, memory, own := 500/sessions, 0, 155, 90
	if p.Recording {
		own += 7
	}
	for _, s := range p.LocalModels() {
		busy = max(busy, s.model.cpu) // not their sum: people and bot speak in turn
		if s.model.apart {
			own += s.model.megabytes
		} else {
			memory += s.model.megabytes
		}
	}
	if busy > 0 {
		each += busy
		sessions = max(1, min(sessions, 2000/each))
	}
	return sessions, max(500, sessions*each), max(1024, memory+sessions*own)
}

// What a pod gets. The limit leaves room for long conversations.
func (p Project) MaxSessions() int { n, _, _ := p.size(); return n }
func (p Project) CPURequest() string {
	_, cpu, _ := p.size()
	return fmt.Sprintf("%dm", (cpu+99)/100*100)
}
func (p Project) MemoryRequest() string { _, _, mb := p.size(); return quantity(mb) }
func (p Project) MemoryLimit() string   { _, _, mb := p.size(); return quantity(mb + 1024) }

// quantity is an amount of memory as Kubernetes has it, in steps of a quarter of 1 Gi.
func quantity(megabytes int) string {
	mi := (megabytes + 255) / 256 * 256
	if mi%1024 == 0 {
		return fmt.Sprintf("%dGi", mi/1024)
	}
	return fmt.Sprintf("%dMi", mi)
}

// RecordingRate is the samples a second of a recording: those of telephone lines, if a bot
// has nothing but them, and otherwise those of the framework.
func (p Project) RecordingRate() int {
	if len(p.PhoneTransports()) == len(p.Transports) {
		return 8000
	}
	return 24000
}

// RecordingMB is what an hour of one session takes on the disk: two bytes a sample.
func (p Project) RecordingMB() int { return (p.RecordingRate()*2*3600 + 999_999) / 1_000_000 }

// RecordingsLimit is what a day of MaxSessions takes, in steps of 1 Gi.
func (p Project) RecordingsLimit() string {
	return fmt.Sprintf("%dGi", (24*p.MaxSessions()*p.RecordingMB()+1073)/1074)
}

// StartsPerMinute is how many sessions an address may ask a bot for, unless STARTS_PER_MINUTE is set.
func (p Project) StartsPerMinute() int { return p.MaxSessions() + 2 }

// SessionsTarget is 60 % of MaxSessions, as Kubernetes writes fractions.
func (p Project) SessionsTarget() string { return fmt.Sprintf("%dm", p.MaxSessions()*600) }

func (p Project) PhoneTransports() (phones []Service) {
	for _, t := range p.Transports {
		if t.botType == BotTelephony && t.Generic == "" {
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

// Files returns all files of the project by path, relative to it and with slashes. The
// same version and configuration always produce the same bytes.
func (p *Project) Files(version string) (map[string][]byte, error) {
	files, about := map[string][]byte{}, map[string]string{".vbot.json": "what vbot wrote; commit it"}
	add := func(path, source string) error {
		data, what, err := execute(source, p)
		if strings.HasSuffix(source, ".py.tmpl") {
			data = tidyImports(data, p.imports())
		}
		if strings.TrimSpace(data) != "" { // what a project lacks, its template leaves out
			files[path], about[path] = []byte(data), what
		}
		return err
	}
	for _, folder := range append([]string{"server", "deploy"}, p.clientFolders()...) {
		err := fs.WalkDir(templates.Files, folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			path := strings.TrimSuffix(name, ".tmpl")
			if rest, ok := strings.CutPrefix(path, folder); ok && strings.HasPrefix(folder, "client/") {
				path = "client" + rest // several folders make up the client
			}
			return add(path, name)
		})
		if err != nil {
			return nil, err
		}
	}
	p.Version = version
	for path, source := range map[string]string{".gitignore": ".gitignore.tmpl", "DEPLOY.md": "DEPLOY.md.tmpl", "AGENTS.md": "guide/AGENTS.md.tmpl", "AGENT_IMPORT.md": "guide/AGENT_IMPORT.md.tmpl"} {
		if err := add(path, source); err != nil {
			return nil, err
		}
	}
	_, about["README.md"], _ = source("README.md.tmpl") // its tree has itself
	p.Tree = tree(about)
	return files, add("README.md", "README.md.tmpl")
}

// Paths are those of all files that any version of vbot has written in a project, without
// guides. TestPaths adds those of this version; none is ever taken from the list.
func Paths() []string {
	list, _ := templates.Files.ReadFile("paths.txt") // it is there
	return strings.Fields(string(list))
}

// NextSteps says how to run the new bot. server and client are the paths of these folders, as
// one types them.
func (p *Project) NextSteps(server, client string) (string, error) {
	p.ServerDir, p.ClientDir = server, client
	text, _, err := execute("next.txt.tmpl", p)
	return strings.TrimSuffix(text, "\n"), err
}

// clientFolders returns the folders of templates/client that make up the web client.
// Files that several clients share are in a folder of their own.
func (p *Project) clientFolders() []string {
	switch {
	case p.ClientFramework == clientVanilla:
		return []string{"client/shared", "client/vite", "client/vanilla"}
	case p.ClientServer == serverNext:
		return []string{"client/shared", "client/react", "client/react-nextjs"}
	case p.ClientFramework == ClientReact:
		return []string{"client/shared", "client/vite", "client/react", "client/react-vite"}
	}
	return nil
}

// Guides returns the guides of the coding-agent path.
func Guides(version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md", GettingStarted} {
		text, _, err := execute("guide/"+name+".tmpl", &Project{Version: version, Range: frameworkRange})
		if err != nil {
			return nil, err
		}
		files[name] = []byte(text)
	}
	return files, nil
}

// source returns a template, without its first line: a comment that says what the file is.
// A Python file that is no template says it in its docstring.
func source(name string) (text, what string, err error) {
	raw, err := templates.Files.ReadFile(name)
	text = string(raw)
	if head, rest, ok := strings.Cut(text, " */ -%>\n"); ok && strings.HasPrefix(head, "<%/* ") {
		what, text = head[len("<%/* "):], rest
	} else if head, _, _ := strings.Cut(text, "\n"); strings.HasSuffix(name, ".py") {
		what = strings.Trim(head, `".`)
		what = strings.ToLower(what[:1]) + what[1:]
	}
	return text, what, err
}

// Include returns what a template makes of p, for a template that holds the same.
func (p *Project) Include(name string) (string, error) {
	text, _, err := execute(name, p)
	return strings.TrimSuffix(text, "\n"), err
}

// execute fills in one template. It also returns what the file is.
func execute(name string, data any) (text, what string, err error) {
	text, what, err = source(name)
	if err != nil || !strings.HasSuffix(name, ".tmpl") || !strings.Contains(text, "<%") {
		return text, what, err // most of a web client: the template is the file
	}
	t, err := template.New(name).Delims("<%", "%>").Parse(text)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	b.Grow(len(text))
	err = t.Execute(&b, data)
	return b.String(), what, err
}

func New(cfg Config, cat *Catalog) *Project {
	p := &Project{Config: cfg, Slug: slug(cfg.ProjectName), Range: frameworkRange, PythonFloor: pythonFloor}
	when := map[string]bool{
		"language":     cfg.Language != "",
		"telephony":    cfg.BotType == BotTelephony,
		"noise_cancel": cfg.EnableNoiseCancel,
		"video_in":     cfg.VideoInput,
		"video_out":    cfg.VideoOutput,
		"avatar":       cfg.VideoService != "",
	}
	add := func(kind, id string) *Service {
		if id == "" {
			return nil
		}
		found := cat.Find(kind, id)
		return &Service{found.speaking(string(cfg.Language)), found.parseCode(when)}
	}
	p.STT = add(KindSTT, string(cfg.STTService))
	p.LLM = add(KindLLM, string(cfg.LLMService))
	p.TTS = add(KindTTS, string(cfg.TTSService))
	p.Realtime = add(KindRealtime, string(cfg.RealtimeService))
	p.Video = add(KindVideo, string(cfg.VideoService))
	for _, s := range []*Service{p.STT, p.LLM, p.TTS, p.Realtime, p.Video} {
		if s != nil {
			p.Services = append(p.Services, *s)
			p.NeedsSession = p.NeedsSession || s.code.needsSession
			p.NeedsLoop = p.NeedsLoop || s.loop != ""
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
		s := add(KindTransport, id)
		arguments := []string{"=krisp_filter", "=noise_filter()"}
		if p.Video != nil { // what it shows goes out as it is
			arguments = append(arguments, "=video_width", "="+p.Video.width, "=video_height", "="+p.Video.height)
		}
		s.code.body = asExpression(s.Key, strings.NewReplacer(arguments...).Replace(s.code.body))
		if s.Key == "" {
			p.DialParams = s.code.body
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

func (p *Project) summary() string {
	s := ""
	if p.Realtime != nil {
		s = p.Realtime.Label + " listens and speaks"
	} else {
		s = fmt.Sprintf("%s listens, %s thinks, %s speaks", p.STT.Label, p.LLM.Label, p.TTS.Label)
	}
	if p.Video != nil {
		s += ", " + p.Video.Label + " shows a face"
	}
	return s + "."
}

// describeRequirements fills in the dependencies and the variables.
func (p *Project) describeRequirements() {
	extras := map[string]bool{"runner": true}
	if p.Mode == modeCascade {
		extras["silero"] = true // a realtime model detects turns itself
	}
	if p.EnableObservability {
		extras["tracing"] = true
	}
	floor := pythonFloor
	seen := map[string]bool{}
	var must []string // the names of MustBeSet
	require := func(list *[]string, what string) {
		if what != "" && !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, e := range s.Extras {
			extras[e] = true
		}
		if v, ok := strings.CutPrefix(s.python, ">="); ok && olderPython(floor, v) {
			floor = v
		}
		group := envGroup{Title: s.Label}
		if s.KeysURL != "" {
			group.Title += ": " + s.KeysURL
		}
		if s.Kind == KindTransport && s.Generic == "" && len(p.Transports) > 1 {
			group.Title += " (only to connect over " + s.Label + ")"
		}
		for _, v := range s.Env {
			// Services may need the same key, each unless another variable is set.
			first := !seen[v.Name]
			seen[v.Name] = true
			if first {
				group.Variables = append(group.Variables, v.lines()...)
			}
			chosen := s.Kind == KindTransport && len(p.Transports) > 1 // one of several ways in
			switch {
			case v.server:
				require(&p.ServerRequires, v.requirement(s.Env))
			case !chosen:
				require(&p.Requires, v.requirement(s.Env))
			case v.Without != "":
				require(&p.Requires, v.Without+" without "+v.Name)
			}
			if v.Required && !v.server && !chosen && !slices.Contains(must, v.Name) {
				must = append(must, v.Name)
				p.MustBeSet = append(p.MustBeSet, s.must(v))
			}
			if v.Required && !v.server && s.Generic != "" {
				require(&p.ServerRequires, v.Name) // without a substitute: see Unless
			}
		}
		if len(group.Variables) > 0 {
			p.Env = append(p.Env, group)
		}
	}
	if p.EnableObservability {
		p.Env = append(p.Env, envGroup{"Observability", []string{"# optional: where traces go over OTLP, such as http://localhost:4318", "# OTEL_EXPORTER_OTLP_ENDPOINT="}})
	}
	if p.EnableNoiseCancel {
		p.Env = append(p.Env, envGroup{"Noise cancelling (Pipecat Cloud sets these; set them only elsewhere)", []string{
			"# path of the Krisp VIVA model", "# KRISP_VIVA_FILTER_MODEL_PATH=",
			"# licence key of the Krisp SDK", "# KRISP_VIVA_API_KEY=",
		}})
	}
	if p.SelfHost {
		p.describeSelfHost()
	}
	p.Python, p.PythonFloor = ">="+floor, floor
	p.Dependencies = []string{fmt.Sprintf("pipecat-ai[%s]%s", strings.Join(slices.Sorted(maps.Keys(extras)), ","), frameworkRange)}
	for _, s := range slices.Concat(p.Services, p.Transports) {
		p.Dependencies = append(p.Dependencies, s.pip...)
	}
	if p.EnableObservability {
		p.Dependencies = append(p.Dependencies, "opentelemetry-exporter-otlp-proto-http>=1.33,<2", "pipecat-ai-whisker>=2.0.1,<3")
	}
	if p.SelfHost {
		p.Dependencies = append(p.Dependencies, "prometheus-client>=0.22,<1")
		if p.Has("tel_c") {
			p.Dependencies = append(p.Dependencies, "plivo>=4.59,<5")
		}
	}
}

// describeSelfHost adds the variables that self_host.py and deploy/ read.
func (p *Project) describeSelfHost() {
	group := envGroup{Title: "Your own machines; see DEPLOY.md"}
	required := func(name, note string) {
		group.Variables = append(group.Variables, "# "+note, name+"=")
		p.SelfHostRequires = append(p.SelfHostRequires, name)
	}
	optional := func(name, note string) {
		group.Variables = append(group.Variables, "# optional: "+note, "# "+name+"=")
	}
	if p.PhoneTransports() != nil {
		required("PHONE_TOKEN", "part of the bot's address: a long random text, such as `openssl rand -hex 32` prints; while you change it, NEW,OLD")
	}
	if p.Has("tel_c") {
		required("BOT_PUBLIC_URL", "https address at which Plivo reaches the bot")
	} else if p.Has("tel_a") || p.Has("websocket") {
		optional("BOT_PUBLIC_URL", "https address at which the bot is reached")
	}
	if p.Dial == "pstn dial-in" {
		required("DAILY_HMAC_SECRET", "the `hmac` that Daily shows for the dial-in webhook of the number")
	}
	if p.StartsByRequest() {
		optional("PIPECAT_ALLOWED_ORIGINS", "other origins whose pages may start sessions, such as https://example.com")
		optional("START_TOKEN", "what a request for a session must send as a bearer token")
		optional("STARTS_PER_MINUTE", fmt.Sprintf("sessions that one address gets of a bot (default: %d)", p.StartsPerMinute()))
	}
	optional("MAX_SESSION_SECONDS", "how long a session may last (default: 3600)")
	if p.Has("rtc_small") {
		optional("PIPECAT_ICE_SERVERS", "STUN and TURN servers, as URLs or JSON")
		optional("TURN_URL", "your TURN server, such as turn:turn.example.com:3478")
		optional("TURN_SECRET", "a long random text, the same as on the TURN server")
		p.SelfHostRequires = append(p.SelfHostRequires, "TURN_URL if TURN_SECRET")
	}
	if group.Variables != nil {
		p.Env = append(p.Env, group)
	}
}

// StartsByRequest says whether POST /start begins sessions.
func (p Project) StartsByRequest() bool {
	return p.Has("rtc_small") || p.Has("rtc_room") || p.Has("rtc_hosted") || p.Has("websocket")
}

// Offline lists the variables with which the bot needs no internet: addresses of one's
// own servers, and which models. There are none if a service is only elsewhere, or if
// every transport is.
func (p Project) Offline() (lines []string) {
	if !p.Has("rtc_small") && !p.Has("rtc_room") && !p.Has("websocket") {
		return nil
	}
	for _, s := range p.Services {
		here := s.Local()
		before := len(lines)
		for _, v := range s.Env {
			if v.Kind == "url" || here && (v.Kind == "model" || v.Kind == "path") {
				lines = append(lines, "`"+v.Name+"`: "+v.Note)
			}
		}
		if len(lines) == before && !here {
			return nil
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Charges says whether the bot uses anything that charges.
func (p Project) Charges() bool {
	hosted := func(s Service) bool { return !s.Local() }
	return slices.ContainsFunc(p.Services, hosted) || p.Has("rtc_hosted") || p.Dial != "" || len(p.PhoneTransports()) > 0
}

// LocalNames are the services that run on the owner's machines: "Moonshine, Ollama and Piper".
func (p Project) LocalNames() string {
	var names []string
	for _, s := range p.Services {
		if s.Local() {
			names = append(names, s.Label)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Downloads are the hosts from which models come that run in the bot.
func (p Project) Downloads() (hosts []string) {
	for _, s := range p.Services {
		for _, h := range s.hosts {
			if strings.HasSuffix(h.note, "at the first start") && !slices.Contains(hosts, h.address) {
				hosts = append(hosts, h.address)
			}
		}
	}
	return hosts
}

// Keyless are the variables for an address of one's own that make a required key
// optional.
func (p Project) Keyless() string {
	var names []string
	for _, s := range p.Services {
		for _, v := range s.Env {
			if other := s.Unless(v); v.Required && s.isAddress(other) {
				names = append(names, "`"+other+"`")
			}
		}
	}
	return strings.Join(slices.Compact(names), ", ")
}

// Credentials returns what the bot requires: each variable once.
func (p *Project) Credentials() (out []Credential) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, k := range s.Credentials() {
			if s.Kind == KindTransport && s.Generic == "" && len(p.Transports) > 1 {
				k.Only = s.Label
			}
			if !slices.ContainsFunc(out, func(o Credential) bool { return o.Names == k.Names }) {
				out = append(out, k)
			}
		}
	}
	return out
}

func olderPython(a, b string) bool {
	var x, y int
	fmt.Sscanf(a, "3.%d", &x)
	fmt.Sscanf(b, "3.%d", &y)
	return x < y
}

// tree draws the paths with what they are as an indented list, directories before their
// files.
func tree(about map[string]string) string {
	var b strings.Builder
	shown := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(about)) {
		for i, r := range p {
			if dir := p[:i]; r == '/' && !shown[dir] {
				shown[dir] = true
				fmt.Fprintf(&b, "%s%s/\n", strings.Repeat("  ", strings.Count(dir, "/")), path.Base(dir))
			}
		}
		line := strings.Repeat("  ", strings.Count(p, "/")) + path.Base(p)
		if about[p] != "" {
			line = fmt.Sprintf("%-28s%s", line, about[p])
		}
		fmt.Fprintln(&b, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// imports are those of all providers of the project.
func (p *Project) imports() (imports []pythonImport) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		imports = append(imports, s.code.imports...)
	}
	return imports
}
