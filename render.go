package main

import (
	"cmp"
	"fmt"
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

// A project is what the templates see: a configuration with all that follows
// from it.
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
	NeedsSession bool     // some service takes an aiohttp session
	Required     []string // variables without which no session works
	// Dial is how a call comes about that server.py or Daily starts: "pstn dial-in",
	// "pstn dial-out", "sip dial-in", "sip dial-out", or "".
	Dial           string
	DialParams     string   // the parameters of its transport, where bot.py builds that
	ServerRequired []string // variables without which server.py does not start
	Env            []envGroup
	Tree           string // the files of the project, as the README draws them
}

// A service is a provider as the templates see it.
type service struct {
	*provider
	code pythonCode
}

func (s service) Label() string { return s.label }
func (s service) Key() string   { return s.key }

// Body is the code that builds it, without the last line's end.
func (s service) Body() string { return s.code.body }

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

// CallsOut says whether the bot calls people.
func (p project) CallsOut() bool { return strings.HasSuffix(p.Dial, "dial-out") }

// OnlyCalls says whether every session is a call that server.py starts.
func (p project) OnlyCalls() bool {
	return p.HasServer() && len(p.Entries()) == 0 && !p.EnableEval
}

// HasServer says whether server.py starts the calls.
func (p project) HasServer() bool { return p.DialParams != "" }

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

// render returns all files of the project that cfg describes, in no particular
// order. It is pure: the same configuration gives the same bytes.
func render(cfg config, cat *catalog) ([]file, error) {
	p := newProject(cfg, cat)
	paths := []string{".gitignore", "README.md", "server/.env.example", "server/bot.py", "server/pyproject.toml"}
	if cfg.DeployToCloud {
		paths = append(paths, "server/Dockerfile", "server/cloud-deploy.toml")
	}
	if p.HasServer() {
		paths = append(paths, "server/call.py", "server/server.py")
	}
	if cfg.EnableEval {
		paths = append(paths, "server/evals/starter_audio.yaml")
		if cfg.Mode == modeCascade {
			paths = append(paths, "server/evals/starter_text.yaml")
		}
	}
	p.Tree = tree(append([]string{"AGENTS.md", "AGENT_IMPORT.md"}, paths...))

	var files []file
	for _, name := range paths {
		data, err := execute(name, p)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".py") {
			data = tidyImports(data, p.imports())
		}
		files = append(files, file{path: name, data: []byte(data)})
	}
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md"} {
		f, err := renderGuide(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// renderGuides returns the guides of the coding-agent path.
func renderGuides() (files []file, err error) {
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md", gettingStarted} {
		f, err := renderGuide(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// renderGuide fills in a guide, which names two values and is the same for all
// projects: it needs no template engine.
func renderGuide(name string) (file, error) {
	text, err := templates.ReadFile("templates/guide/" + name + ".tmpl")
	filled := strings.NewReplacer("<% .Version %>", version, "<% .Range %>", frameworkRange).Replace(string(text))
	return file{path: name, data: []byte(filled), guide: true}, err
}

// execute fills in one template of templates/.
func execute(name string, data any) (string, error) {
	text, err := templates.ReadFile("templates/" + name + ".tmpl")
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Delims("<%", "%>").Parse(string(text))
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
	}
	add := func(kind, id string) *service {
		if id == "" {
			return nil
		}
		found := cat.find(kind, id)
		return &service{found, found.python3(when)}
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
		if s.key == "" {
			p.DialParams = s.code.body
			if len(cfg.Transports) > 1 || cfg.EnableEval { // one level deeper
				p.DialParams = strings.ReplaceAll(p.DialParams, "\n", "\n    ")
			}
		}
		p.Transports = append(p.Transports, *s)
	}
	p.Summary = p.summary()
	p.describeNeeds()
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

// describeNeeds fills in the dependencies and the variables.
func (p *project) describeNeeds() {
	extras := map[string]bool{"runner": true, "silero": true}
	floor := pythonFloor
	seen := map[string]bool{}
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
		if s.kind == kindTransport && len(p.Transports) > 1 {
			group.Title += " (only to connect over " + s.label + ")"
		}
		for _, v := range s.env {
			if seen[v.name] {
				continue
			}
			seen[v.name] = true
			group.Variables = append(group.Variables, v.lines()...)
			switch {
			case v.required && v.server:
				p.ServerRequired = append(p.ServerRequired, v.name)
			case v.required && (s.kind != kindTransport || len(p.Transports) == 1):
				p.Required = append(p.Required, v.name)
			}
			if v.required && !v.server && s.generic != "" {
				p.ServerRequired = append(p.ServerRequired, v.name)
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
	for _, t := range p.Transports {
		p.Dependencies = append(p.Dependencies, t.pip...)
	}
	if p.EnableObservability {
		p.Dependencies = append(p.Dependencies, "pipecat-ai-whisker>=2.0.1,<3")
	}
	if p.DeployToCloud {
		p.Dependencies = append(p.Dependencies, "pipecatcloud>=1.4,<2")
	}
	for _, d := range p.Dependencies {
		// uv refuses a project that depends on its own name.
		if name, _, _ := strings.Cut(d, "["); p.Slug == name || strings.HasPrefix(d, p.Slug+">") {
			p.Slug += "-bot"
		}
	}
}

// lines is the variable in .env.example: required ones to be filled in, the
// others commented out. None holds a value.
func (v variable) lines() []string {
	note := v.note
	if v.standard != "" {
		note += "; " + v.standard + " unless set"
	}
	if v.required {
		return []string{"# " + note, v.name + "="}
	}
	return []string{"# optional: " + note, "# " + v.name + "="}
}

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
	".gitignore":                      "what stays out of the repository",
	"AGENTS.md":                       "for coding agents",
	"AGENT_IMPORT.md":                 "imports AGENTS.md, for one that wants it so",
	"README.md":                       "this page",
	"server/.env.example":             "copy it to .env and fill it in",
	"server/Dockerfile":               "the image for Pipecat Cloud",
	"server/bot.py":                   "the bot",
	"server/call.py":                  "what server.py tells bot.py about a call",
	"server/server.py":                "starts the bot for a call",
	"server/cloud-deploy.toml":        "how Pipecat Cloud runs it",
	"server/evals/starter_audio.yaml": "a spoken eval",
	"server/evals/starter_text.yaml":  "a text eval",
	"server/pyproject.toml":           "its dependencies",
}

// Python. The files of templates/services hold plain Python; what bot.py needs
// of them is cut out and joined here.

// pythonCode is the code of one provider.
type pythonCode struct {
	imports      []pythonImport
	body         string // the statements that build it, indented by four
	needsSession bool
}

// A pythonImport is `import MODULE`, or with names `from MODULE import NAMES`.
type pythonImport struct {
	module string
	names  []string
}

// python3 cuts the provider's file into imports and body. Lines that end in
// `# when: CONDITION` are kept only where the condition holds.
func (p *provider) python3(when map[string]bool) pythonCode {
	imports, rest, isFunction := strings.Cut(p.source, "\ndef build(")
	signature, rest, hasBody := strings.Cut(rest, ":\n")
	statements, last, returns := strings.Cut(rest, "\n    return ")
	if !isFunction || !hasBody || !returns || strings.Count(last, "\n") != 1 {
		panic(p.file + ": imports and one function build(...) that ends in a return are needed")
	}
	code := pythonCode{imports: parseImports(imports), needsSession: strings.Contains(signature, "session:")}
	var body []string
	for line := range strings.Lines(statements) {
		line = strings.TrimSuffix(line, "\n")
		if kept, condition, ok := strings.Cut(line, "  # when: "); ok {
			on, known := when[condition]
			if !known {
				panic(fmt.Sprintf("%s: unknown condition %q", p.file, condition))
			}
			if !on {
				continue
			}
			line = kept
		}
		body = append(body, line)
	}
	// The parameter of build is a constant of bot.py, and as long.
	code.body = strings.ReplaceAll(strings.Join(body, "\n"), "=system_instruction", "=SYSTEM_INSTRUCTION")
	return code
}

// asExpression turns `    params = X(...)` into X(...) as it stands in the
// dictionary of transports, two levels deep.
func asExpression(body string) string {
	_, expression, _ := strings.Cut(body, " = ")
	return strings.ReplaceAll(expression, "\n", "\n    ")
}

// parseImports reads the import statements of src, which holds nothing else.
func parseImports(src string) (imports []pythonImport) {
	src = strings.NewReplacer("(\n", "", ",\n)", "", "\n    ", " ").Replace(src)
	for line := range strings.Lines(src) {
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		switch {
		case len(words) == 2 && words[0] == "import":
			imports = append(imports, pythonImport{module: words[1]})
		case len(words) > 3 && words[0] == "from":
			imports = append(imports, pythonImport{words[1], words[3:]})
		}
	}
	return imports
}

// imports are those of all providers of the project.
func (p *project) imports() (imports []pythonImport) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		imports = append(imports, s.code.imports...)
	}
	return imports
}

// tidyImports puts the imports between the markers of a template and the extra
// ones into the form that ruff wants, leaving out what the code does not use.
func tidyImports(src string, extra []pythonImport) string {
	before, rest, ok := strings.Cut(src, "# imports\n")
	if !ok {
		return src
	}
	block, code, _ := strings.Cut(rest, "# end of imports\n")
	names := map[string]map[string]bool{} // by module; an empty name is a plain import
	for _, i := range append(parseImports(block), extra...) {
		if names[i.module] == nil {
			names[i.module] = map[string]bool{}
		}
		top, _, _ := strings.Cut(i.module, ".")
		if len(i.names) == 0 && uses(code, top) && !strings.Contains(before, "import "+i.module+"\n") {
			names[i.module][""] = true
		}
		for _, n := range i.names {
			if uses(code, n) {
				names[i.module][n] = true
			}
		}
	}
	var standard, thirdParty []string
	for _, module := range slices.Sorted(maps.Keys(names)) {
		to := &thirdParty
		if slices.Contains(pythonStandard, strings.Split(module, ".")[0]) {
			to = &standard
		}
		if names[module][""] {
			*to = append(*to, "import "+module)
		}
		delete(names[module], "")
		if len(names[module]) > 0 {
			*to = append(*to, fromImport(module, slices.Collect(maps.Keys(names[module]))))
		}
	}
	var sections []string
	for _, s := range [][]string{standard, thirdParty} {
		// Plain imports come before the others.
		slices.SortStableFunc(s, func(a, b string) int { return -cmp.Compare(a[:1], b[:1]) })
		if len(s) > 0 {
			sections = append(sections, strings.Join(s, "\n"))
		}
	}
	return before + strings.Join(sections, "\n\n") + "\n" + code
}

// pythonStandard are the modules of Python's standard library that templates
// and providers import.
var pythonStandard = []string{"asyncio", "collections", "contextlib", "datetime", "hmac", "importlib", "os", "pathlib", "sys", "typing", "urllib", "wave", "xml"}

// uses says whether a name stands in Python code as a word of its own.
func uses(code, name string) bool {
	letter := func(s string, at int) bool {
		return at >= 0 && at < len(s) && (s[at] == '_' || s[at] >= '0' && s[at] <= '9' || s[at]|0x20 >= 'a' && s[at]|0x20 <= 'z')
	}
	for from := 0; ; {
		i := strings.Index(code[from:], name)
		if i < 0 {
			return false
		}
		from += i + len(name)
		if !letter(code, from-len(name)-1) && !letter(code, from) {
			return true
		}
	}
}

// fromImport is one import statement as ruff formats it at 100 columns:
// constants, then classes, then the rest, each in order.
func fromImport(module string, names []string) string {
	class := func(n string) int {
		switch {
		case len(n) > 1 && n == strings.ToUpper(n):
			return 0
		case n[0] >= 'A' && n[0] <= 'Z':
			return 1
		}
		return 2
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), strings.Compare(a, b))
	})
	line := "from " + module + " import " + strings.Join(names, ", ")
	if len(line) <= 100 {
		return line
	}
	return "from " + module + " import (\n    " + strings.Join(names, ",\n    ") + ",\n)"
}
