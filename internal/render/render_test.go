package render

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"text/template/parse"

	"vbot/internal/bot"
	"vbot/internal/bottest"
	"vbot/internal/catalog"
	"vbot/templates"
)

// A toggleEffect says how a toggle is seen in a project.
type toggleEffect struct {
	trace string // a regular expression for the text that is there only if it is on
	// The project's own tests, which --eval writes, must pass with the toggle and without it. Either it has
	// a file of tests, in server/, or there is a reason why the tests need not know.
	tests  string
	reason string
}

var toggleEffects = map[string]toggleEffect{
	"recording":     {trace: `(?i)recording|AudioBufferProcessor`, tests: "vbot/testing/test_recording.py"},
	"transcription": {trace: "`Transcript`", reason: "it only writes a log"},
	"enable_observability": {
		trace:  `(?i)whisker`,
		reason: "it only watches, and sends traces only if a variable is set",
	},
	"enable_noise_cancel": {
		trace:  `(?i)krisp`,
		reason: "the filter is off, because the SDK of Krisp is not on PyPI",
	},
	"enable_eval":     {trace: `(?i)\bevals?\b`, tests: "vbot/testing/test_tools.py"},
	"deploy_to_cloud": {trace: `(?i)docker|cloud-deploy`, reason: "the bot is the same"},
	"video_input":     {trace: `video_in`, reason: "people in tests have no camera"},
	"video_output":    {trace: `video_out`, reason: "people in tests do not look"},
	"self_host": {
		trace: `(?i)self_host|kubernetes|compose`,
		tests: "vbot/testing/test_hosting.py",
	},
}

// filesWith returns the files of the quickstart's bot with these toggles.
func filesWith(t *testing.T, toggles map[string]bool) map[string][]byte {
	t.Helper()
	cat := catalog.New()
	values := bot.Quickstart()
	for key, on := range toggles {
		values[bot.ByKey(key)] = bot.Value{On: on}
	}
	files, err := New(configured(t, cat, values), cat, "0.1.0").Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A toggle is visible where it is on, and leaves no trace where it is off.
func TestOptionsLeaveNoTrace(t *testing.T) {
	for _, o := range bot.Options {
		effect, ok := toggleEffects[o.Key]
		if !o.IsToggle() {
			continue
		}
		if !ok {
			t.Errorf("toggleEffects in render_test.go needs an entry for %s", o.Key)
			continue
		}
		for _, on := range []bool{false, true} {
			found := ""
			for name, data := range filesWith(t, map[string]bool{o.Key: on}) {
				sameInAll := []string{
					".gitignore", "Dockerfile.dockerignore", "sentences.py", "cloud-deploy.toml",
					"pyproject.toml",
				}
				isWhole := slices.Contains(sameInAll, path.Base(name)) || strings.HasPrefix(name, "AGENT") ||
					strings.HasPrefix(name, "server/vbot/")
				if !isWhole { // what it says of the option is in every bot
					found += regexp.MustCompile(effect.trace).FindString(name + "\n" + string(data))
				}
			}
			if (found != "") != on {
				t.Errorf("%s is %v, and of it there is %q", o.Key, on, found)
			}
		}
	}
}

// The tests of a project know what its toggles change.
func TestProjectTestsKnowToggles(t *testing.T) {
	for _, o := range bot.Options {
		effect, ok := toggleEffects[o.Key]
		switch {
		case !o.IsToggle() || !ok:
			continue
		case (effect.tests == "") == (effect.reason == ""):
			t.Errorf("toggleEffects[%q] needs either tests, a file that only bots with it have, or the "+
				"reason why a project's tests pass with it and without (e2e/test_own_tests.py)", o.Key)
			continue
		case effect.tests == "":
			continue
		}
		for _, on := range []bool{false, true} {
			files := filesWith(t, map[string]bool{"enable_eval": true, o.Key: on})
			if has := files["server/"+effect.tests] != nil; has != on {
				t.Errorf("%s is %v, and the project has %s: %v; see package.go", o.Key, on, effect.tests, has)
			}
		}
	}
}

// Every method for templates has a reader: a template, or another package.
func TestMethodsHaveReaders(t *testing.T) {
	read := map[string]bool{
		"Files": true, "NextSteps": true, "ToGet": true, // package scaffold
	}
	err := fs.WalkDir(templates.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".tmpl" {
			return err
		}
		text, err := templates.Files.ReadFile(name)
		for _, action := range regexp.MustCompile(`<%.*?%>`).FindAllString(string(text), -1) {
			for _, m := range regexp.MustCompile(`\.([A-Z]\w*)`).FindAllStringSubmatch(action, -1) {
				read[m[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	inherited := map[string]bool{ // of bot.Config
		"DescribeKey": true, "HasTelephone": true, "Values": true,
	}
	data := reflect.TypeFor[*Data]()
	for i := range data.NumMethod() {
		if name := data.Method(i).Name; !read[name] && !inherited[name] {
			t.Errorf("nothing reads Data.%s", name)
		}
	}
}

// pythonFault returns what is wrong with the brackets and quotes of Python code, or "". The
// rest is for Python's own tools, in e2e.
func pythonFault(code string) string {
	var open []byte
	line := 1
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\n':
			line++
		case '#':
			end := strings.IndexByte(code[i:], '\n')
			if end < 0 {
				return fmt.Sprintf("line %d: no line end", line)
			}
			i += end - 1
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			opening := map[byte]byte{')': '(', ']': '[', '}': '{'}[c]
			if len(open) == 0 || open[len(open)-1] != opening {
				return fmt.Sprintf("line %d: %c closes nothing", line, c)
			}
			open = open[:len(open)-1]
		case '\'', '"':
			quote := string(c)
			if strings.HasPrefix(code[i:], strings.Repeat(quote, 3)) {
				quote = strings.Repeat(quote, 3)
			}
			start := line
			for i += len(quote); i < len(code) && !strings.HasPrefix(code[i:], quote); i++ {
				if code[i] == '\\' {
					i++
				} else if code[i] == '\n' && len(quote) == 1 {
					return fmt.Sprintf("line %d: %s is not closed", start, quote)
				}
				if i < len(code) && code[i] == '\n' {
					line++
				}
			}
			if i >= len(code) {
				return fmt.Sprintf("line %d: %s is not closed", start, quote)
			}
			i += len(quote) - 1
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%s: not closed", open)
	}
	return ""
}

func TestPythonFault(t *testing.T) {
	for code, fault := range map[string]string{
		"a = [1, (2), {'b': \"]\"}]  # ( it's\n":                 "",
		"\"\"\"It's a \\\"text\\\".\n\"\"\"\nf(f\"{x['a']}\")\n": "",
		"a = (1\n":           "(: not closed",
		"a = 1)\n":           "line 1: ) closes nothing",
		"a = [1}\n":          "line 1: } closes nothing",
		"b = 1\na = 'x\n'\n": "line 2: ' is not closed",
		"\"\"\"x\"\n":        "line 1: \"\"\" is not closed",
		"# end":              "line 1: no line end",
	} {
		if got := pythonFault(code); got != fault {
			t.Errorf("%q: %q, want %q", code, got, fault)
		}
	}
}

// Whatever can be asked for gives a whole project.
func TestRandomBots(t *testing.T) {
	cat := catalog.New()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	// The first bot has a service that needs more than an extra: few have.
	needy := bot.Quickstart()
	needy[bot.OptSTT] = bot.Value{Text: "funasr"}
	first, _, _ := bot.Resolve(cat, needy, "")
	bots := append(bottest.Full(cat), first)
	for len(bots) < 300 {
		bots = append(bots, bottest.Random(cat, rng))
	}
	for _, cfg := range bots {
		files, err := New(cfg, cat, "0.1.0").Files()
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, cfg, err)
		}
		again, _ := New(cfg, cat, "0.1.0").Files()
		text := map[string]string{}
		for name, data := range files {
			text[name] = string(data)
			if !bytes.Equal(data, again[name]) {
				t.Errorf("seed %d: %s is not the same twice", seed, name)
			}
			for _, leftover := range []string{
				"<%", "%>", "<no value>", "# when:", "\r", "\t ", " \n", "\n\n\n\n", "=video_width",
				"=video_height", "=krisp_filter",
			} {
				if strings.Contains(text[name], leftover) {
					t.Errorf("seed %d: %s holds %q", seed, name, leftover)
				}
			}
			if fault := pythonFault(text[name]); strings.HasSuffix(name, ".py") && fault != "" {
				t.Errorf("seed %d: %s: %s", seed, name, fault)
			}
			if !strings.HasSuffix(text[name], "\n") || strings.HasSuffix(text[name], "\n\n") {
				t.Errorf("seed %d: %s does not end in one line end", seed, name)
			}
		}
		checkPackage(t, seed, text)
		checkVariables(t, seed, cat, text)
		for _, s := range New(cfg, cat, "0.1.0").Services {
			for _, requirement := range s.Pip {
				if !strings.Contains(text["server/pyproject.toml"], `    "`+requirement+"\",\n") {
					t.Errorf("seed %d: %s needs %s", seed, s.ID, requirement)
				}
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^COPY (.*) \S+$`).
			FindAllStringSubmatch(text["server/Dockerfile"], -1) {
			for _, source := range strings.Fields(m[1]) {
				// uv.lock* is there once uv made it.
				_, isFile := text["server/"+source]
				if !isFile && !slices.Contains([]string{"uv.lock*", "*.py", "vbot"}, source) {
					t.Errorf("seed %d: the Dockerfile copies %s, which is not there", seed, source)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("%+v\n%s", cfg, text["server/bot.py"])
		}
	}
}

// checkPackage checks that the files of the package are those of templates/, that agent.py is, too, and that
// whatever the bot's Python imports of the project is there.
func checkPackage(t *testing.T, seed uint64, text map[string]string) {
	modules := map[string]bool{}
	for name := range text {
		inServer, ok := strings.CutPrefix(name, "server/")
		module, isPython := strings.CutSuffix(strings.TrimPrefix(inServer, "tests/"), ".py")
		if ok && isPython {
			modules[strings.ReplaceAll(strings.TrimSuffix(module, "/__init__"), "/", ".")] = true
		}
		if !strings.HasPrefix(inServer, "vbot/") && inServer != "agent.py" {
			continue
		}
		data, err := templates.Files.ReadFile(name)
		if err != nil || text[name] != string(data) {
			t.Errorf("seed %d: %s is not as in templates, %v", seed, name, err)
		}
	}
	const ours = `((?:vbot|agent|bot|cast|sentences)\b[\w.]*)`
	imports := regexp.MustCompile(`(?m)^(?:from ` + ours + ` import |import ` + ours + `$)`)
	for name, code := range text {
		if !strings.HasPrefix(name, "server/") || !strings.HasSuffix(name, ".py") {
			continue
		}
		for _, m := range imports.FindAllStringSubmatch(code, -1) {
			if !modules[m[1]+m[2]] {
				t.Errorf("seed %d: %s imports %s, which is not there", seed, name, m[1]+m[2])
			}
		}
	}
}

// checkVariables compares the variables that the code reads with .env.example.
func checkVariables(t *testing.T, seed uint64, cat *catalog.Catalog, text map[string]string) {
	library := map[string]bool{"KRISP_VIVA_FILTER_MODEL_PATH": true, "KRISP_VIVA_API_KEY": true}
	for _, kind := range append(catalog.ServiceKinds, catalog.KindTransport) {
		for _, p := range cat.List(kind) {
			for _, v := range p.Env {
				if v.ReadByLibrary {
					library[v.Name] = true
				}
			}
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$`).
		FindAllStringSubmatch(text["server/.env.example"], -1) {
		if named[m[1]] {
			t.Errorf("seed %d: .env.example names %s twice", seed, m[1])
		}
		if m[2] != "" {
			t.Errorf("seed %d: .env.example holds a value for %s", seed, m[1])
		}
		named[m[1]] = true
	}
	read := map[string]bool{"PIPECAT_LOG_LEVEL": true} // by Pipecat Cloud's base image
	deployed := map[string]bool{
		"LOGURU_SERIALIZE":        true,
		"PIPECAT_ALLOWED_ORIGINS": true,
		"POD_IP":                  true,
		"MAX_SESSIONS":            true,
		"DRAIN_SECONDS":           true,
		"LOG_FORMAT":              true,
		"LOG_LEVEL":               true,
	}
	made, all := "", "" // of the options, and with the package, which reads variables of other bots, too
	for name, code := range text {
		if !strings.HasPrefix(name, "server/") || !strings.HasSuffix(name, ".py") {
			continue
		}
		all += code
		isForTests := name == "server/conftest.py" || name == "server/appointments.py" ||
			strings.HasPrefix(name, "server/tests/")
		if !strings.HasPrefix(name, "server/vbot/") && !isForTests {
			made += code
		}
	}
	for _, m := range regexp.MustCompile(`["']([A-Z][A-Z0-9_]+)["']`).FindAllStringSubmatch(all, -1) {
		read[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:environ\[|getenv\()\s*["']([A-Z0-9_]+)["']`).
		FindAllStringSubmatch(made, -1) {
		if !named[m[1]] && !deployed[m[1]] {
			t.Errorf("seed %d: the code reads %s, which .env.example does not name", seed, m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\$\{([A-Z0-9_]+)`).
		FindAllStringSubmatch(text["deploy/compose.yaml"], -1) {
		read[m[1]] = true
	}
	for name := range named {
		if !read[name] && !library[name] {
			t.Errorf("seed %d: .env.example names %s, which nothing reads", seed, name)
		}
	}
	for _, problem := range wrongDefaults(text["server/.env.example"], all) {
		t.Errorf("seed %d: %s", seed, problem)
	}
}

// wrongDefaults returns which defaults of .env.example are not those that the code takes. It knows
// os.getenv with a text, os.environ.setdefault, which comes first, and a line of a dictionary with a number.
func wrongDefaults(env, code string) (problems []string) {
	taken := map[string][]string{} // several if services differ, as with AWS_REGION
	for _, form := range []string{
		`(?m)^    "([A-Z_]+)": ([0-9_]+),`,
		`os\.getenv\(\s*"([A-Z0-9_]+)", "([^"]+)"`,
		`os\.environ\.setdefault\("([A-Z0-9_]+)", "([^"]+)"\)`,
	} {
		for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(code, -1) {
			value := strings.ReplaceAll(m[2], "_", "")
			if strings.Contains(form, "setdefault") {
				taken[m[1]] = nil
			}
			taken[m[1]] = append(taken[m[1]], value)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^#.* \(default: (.+)\)\n(?:# )?([A-Z0-9_]+)=`).
		FindAllStringSubmatch(env, -1) {
		if got := taken[m[2]]; got != nil && !slices.Contains(got, strings.ReplaceAll(m[1], "_", "")) {
			problems = append(problems, fmt.Sprintf("the default of %s is %s, not %s", m[2], got[0], m[1]))
		}
	}
	return problems
}

// The default of a model may depend on the language: Whisper's own knows only English.
func TestWrongDefaults(t *testing.T) {
	const env = "# optional: seconds (default: 10)\n# SECONDS=\n\n" +
		"# optional: a model (default: m_1)\n# MODEL=\n# optional: characters (default: 4000)\n" +
		"# CHARS=\n# optional: no default\n# OTHER=\n"
	for _, c := range []struct{ code, want string }{
		{`os.getenv("SECONDS", "10") os.getenv("MODEL", "m_1") os.getenv("OTHER", "x")`, ""},
		{"\n    \"CHARS\": 4_000,\n", ""},
		{"\n    \"CHARS\": 5_000,\n", "the default of CHARS is 5000, not 4000"},
		{`os.getenv("SECONDS", "9")`, "the default of SECONDS is 9, not 10"},
		{"os.getenv(\n\"MODEL\", \"m_2\"", "the default of MODEL is m2, not m_1"},
		{
			`os.environ.setdefault("MODEL", "m_2") os.getenv("MODEL", "m_1")`,
			"the default of MODEL is m2, not m_1",
		},
	} {
		if got := strings.Join(wrongDefaults(env, c.code), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
	cat := catalog.New()
	for _, language := range []string{"", "de", "en", "ja"} {
		for _, kind := range catalog.ServiceKinds {
			for _, s := range cat.List(kind) {
				if language != "" && !s.Speaks(language) {
					continue
				}
				speaking := s.Speaking(language)
				code := speaking.Build.Statements
				if language == "" {
					code = regexp.MustCompile(`.*# when: language`).ReplaceAllString(code, "")
				}
				env := ""
				for _, v := range speaking.Env {
					env += strings.Join(v.Lines(), "\n") + "\n"
				}
				for _, problem := range wrongDefaults(env, code) {
					t.Errorf("%s, %q: %s", s.Label, language, problem)
				}
			}
		}
	}
}

// Each value that is put into YAML, TOML or JSON stands in quotes: a project may be called null or
// 123, and a language is called no. What the readers of these make of it is for e2e.
func TestValuesStandInQuotes(t *testing.T) {
	action := regexp.MustCompile(`<%-? (if|else|end|range|quote|\$\w+ :=)?.*?%>`)
	comment := regexp.MustCompile(`(^|\s)#.*`)
	files := 0
	err := fs.WalkDir(templates.Files, ".", func(name string, d fs.DirEntry, err error) error {
		kind, ok := strings.CutSuffix(name, ".tmpl")
		if !ok || !slices.Contains([]string{".yaml", ".toml", ".json"}, path.Ext(kind)) {
			return err
		}
		files++
		text, err := fs.ReadFile(templates.Files, name)
		for line := range strings.Lines(string(text)) {
			line = action.ReplaceAllStringFunc(line, func(a string) string {
				if action.FindStringSubmatch(a)[1] != "" {
					return ""
				}
				return "<%"
			})
			line = strings.ReplaceAll(comment.ReplaceAllString(line, ""), "{port: <%}",
				"") // the catalog's ports are digits
			for i, part := range strings.Split(line, `"`) {
				if i%2 == 0 && strings.Contains(part, "<%") {
					t.Errorf("%s: a value without quotes: %s", name, line)
				}
			}
		}
		return err
	})
	if err != nil || files < 12 {
		t.Error(files, err)
	}
}

// configured returns the configuration that the values make.
func configured(t testing.TB, cat *catalog.Catalog, values bot.Values) bot.Config {
	t.Helper()
	cfg, _, problems := bot.Resolve(cat, values, "bot")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}

// smallBot has these transports, and one service where there may be three: "llm ollama".
func smallBot(t *testing.T, service string, transports ...string) (*Data, string) {
	return botWith(t, catalog.New(), service, bot.Values{bot.OptTransports: {List: transports}})
}

// selfHosted is smallBot with --self-host and the option with this key.
func selfHosted(
	t *testing.T, cat *catalog.Catalog, service, option string, transports ...string,
) (*Data, string) {
	said := bot.Values{bot.OptTransports: {List: transports}}
	for _, o := range bot.Options {
		if o.Key == "self_host" || o.Key == option {
			said[o] = bot.Value{On: true}
		}
	}
	return botWith(t, cat, service, said)
}

func botWith(t *testing.T, cat *catalog.Catalog, service string, with bot.Values) (*Data, string) {
	said := bot.Quickstart()
	kind, name, _ := strings.Cut(service, " ")
	if kind == catalog.KindRealtime {
		said = bot.Values{bot.OptMode: {Text: bot.ModeRealtime}}
	}
	said[bottest.ServiceOption(kind)] = bot.Value{Text: name}
	maps.Copy(said, with)
	cfg, _, problems := bot.Resolve(cat, said, "small")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := New(cfg, cat, "0.1.0")
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	return p, string(files["server/bot.py"])
}

// A project may be named like a package that it needs; uv refuses a project that requires itself.
func TestNameOfADependency(t *testing.T) {
	for _, name := range []string{"pipecat-ai", "Pipecat AI", "openai", "loguru", "ruff"} {
		said := bot.Values{bot.OptName: {Text: name}, bot.OptTransports: {List: []string{"daily"}}}
		p, _ := botWith(t, catalog.New(), "realtime openai", said)
		files, err := p.Files()
		if err != nil {
			t.Fatal(err)
		}
		project := string(files["server/pyproject.toml"])
		_, own, _ := strings.Cut(project, "\nname = \"")
		own, _, _ = strings.Cut(own, "\"")
		required := regexp.MustCompile(`"` + own + `[\[<>="]`)
		if own == "" || required.MatchString(strings.Replace(project, own, "", 1)) {
			t.Errorf("%s: the project %s requires itself:\n%s", name, own, project)
		}
	}
}

// Docker and Kubernetes read quotes, comments and $ of .env in ways of their own; they get it as a file.
func TestDotenvIsAFile(t *testing.T) {
	p, _ := selfHosted(t, catalog.New(), "realtime openai", "", "smallwebrtc")
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string]string{
		"deploy/compose.yaml":                  "file: ../server/.env",
		"deploy/kubernetes/kustomization.yaml": "files: [.env]",
	} {
		text := string(files[name])
		reads := regexp.MustCompile(`\b(env_file|envs|envFrom):`)
		if !strings.Contains(text, wants) || reads.MatchString(text) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A cluster's network lets through what the services need, and nothing to this machine itself.
func TestOtherPorts(t *testing.T) {
	for service, want := range map[string]string{
		"llm ollama":         "[]",
		"stt aws_transcribe": "[8443]",
		"stt deepgram":       "[]",
	} {
		if p, _ := smallBot(t, service, "websocket"); fmt.Sprint(p.OtherPorts()) != want {
			t.Errorf("%s: %v, want %s", service, p.OtherPorts(), want)
		}
	}
}

// A bot can be carried if each service can: as an address of one's own, or with its models.
func TestOffline(t *testing.T) {
	const quickstart = "CARTESIA_API_KEY CARTESIA_TTS_BASE_URL DEEPGRAM_STT_BASE_URL OPENAI_BASE_URL"
	for _, c := range []struct{ service, transport, want, models string }{
		{"stt deepgram", "smallwebrtc", quickstart, ""},
		{"stt deepgram", "websocket", quickstart, ""},
		{"stt deepgram", "livekit", quickstart, ""},
		{"stt deepgram", "daily", "", ""},
		{"tts kokoro", "twilio", "", "github.com"},
		{
			"tts kokoro", "smallwebrtc",
			"DEEPGRAM_STT_BASE_URL KOKORO_MODEL_PATH KOKORO_VOICES_PATH OPENAI_BASE_URL", "github.com",
		},
		{"tts pocket_tts", "smallwebrtc", "DEEPGRAM_STT_BASE_URL OPENAI_BASE_URL", "huggingface.co"},
		{
			"llm ollama", "smallwebrtc",
			"CARTESIA_API_KEY CARTESIA_TTS_BASE_URL DEEPGRAM_STT_BASE_URL OLLAMA_BASE_URL OLLAMA_MODEL", "",
		},
		{"stt aws_transcribe", "smallwebrtc", "", ""},
	} {
		p, _ := smallBot(t, c.service, c.transport)
		var names []string
		for _, line := range p.Offline() {
			name, _, _ := strings.Cut(strings.Trim(line, "`"), "`")
			names = append(names, name)
		}
		if got, models := strings.Join(names, " "), strings.Join(p.Downloads(), " "); got != c.want ||
			models != c.models {
			t.Errorf("%s, %s: %q and models of %q", c.service, c.transport, got, models)
		}
	}
}

// DEPLOY.md names what charges, and nothing that runs on the owner's machines; README.md says so.
func TestCosts(t *testing.T) {
	const local = "stt moonshine, llm ollama, tts piper"
	for _, c := range []struct{ services, transport, charge, text string }{
		{"", "smallwebrtc", "Deepgram OpenAI Cartesia", "Most services charge by use"},
		{"stt moonshine, tts piper", "smallwebrtc", "OpenAI", "You host Moonshine and Piper yourself"},
		{"llm ollama", "daily", "Deepgram Cartesia Daily", "You host Ollama yourself"},
		{local, "smallwebrtc", "", "You host all services yourself, so only the machine costs anything."},
		{local, "twilio", "Twilio", "You host Moonshine, Ollama and Piper yourself"},
	} {
		said := bot.Quickstart()
		said[bot.OptTransports] = bot.Value{List: []string{c.transport}}
		for _, service := range strings.Split(c.services, ", ") {
			if kind, name, ok := strings.Cut(service, " "); ok {
				said[bottest.ServiceOption(kind)] = bot.Value{Text: name}
			}
		}
		cfg, _, problems := bot.Resolve(catalog.New(), said, "small")
		files, err := New(cfg, catalog.New(), "0.1.0").Files()
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		_, costs, _ := strings.Cut(string(files["README.md"]), "## What it costs\n")
		costs, _, _ = strings.Cut(costs, "\n## ")
		var charge []string
		_, table, _ := strings.Cut(string(files["DEPLOY.md"]), "\n## What it costs\n")
		table, _, _ = strings.Cut(table, "\n## ")
		for _, row := range regexp.MustCompile(`(?m)^\| (\w+) \| by`).FindAllStringSubmatch(table, -1) {
			charge = append(charge, row[1])
		}
		if got := strings.Join(charge, " "); got != c.charge || !strings.Contains(costs, c.text) {
			t.Errorf("%s, %s: %q charge\n%s", c.services, c.transport, got, costs)
		}
	}
}

// A pod holds the sessions, and gets what they and their models take: for the heaviest model of a
// session at a time, in steps, and never less than without models.
func TestSizeOfPods(t *testing.T) {
	size := func(p *Data) string {
		ids := []string{}
		for _, s := range p.LocalModels() {
			ids = append(ids, s.ID)
		}
		return fmt.Sprintf("%d %s %s %s %s", p.Pod.MaxSessions, p.Pod.CPURequest, p.Pod.MemoryRequest,
			p.Pod.MemoryLimit, ids)
	}
	for _, test := range []struct{ services, transport, want string }{
		{"stt deepgram", "twilio", "8 500m 1Gi 2Gi []"},
		{"stt deepgram", "smallwebrtc", "4 500m 1Gi 2Gi []"},
		{"tts xtts", "twilio", "8 500m 1Gi 2Gi []"}, // a server of its own
		{"tts piper", "twilio", "4 1700m 1792Mi 2816Mi [tts_aa]"},
		{"tts piper", "smallwebrtc", "4 1900m 1792Mi 2816Mi [tts_aa]"},
		{"stt moonshine", "twilio", "5 1900m 1280Mi 2304Mi [stt_ab]"},
		{"stt whisper", "smallwebrtc", "1 1600m 2Gi 3Gi [stt_ac]"},
		{"tts pocket_tts", "twilio", "1 1100m 1Gi 2Gi [tts_ab]"},
		{"llm ollama", "twilio", "1 500m 1Gi 2Gi []"},
	} {
		_, code := smallBot(t, test.services, test.transport)
		p, _ := selfHosted(t, catalog.New(), test.services, "", test.transport)
		if got := size(p); got != test.want {
			t.Errorf("%s over %s: %s, want %s", test.services, test.transport, got, test.want)
		}
		files, err := p.Files()
		if err != nil {
			t.Fatal(err)
		}
		local := p.LoadsModels()
		loads := "load_models(make_services)"
		if strings.Contains(code, loads) != local || (files["server/vbot/models.py"] != nil) != local {
			t.Errorf("%s: models are loaded where there are none, or not where there are", test.services)
		}
	}
	cat := catalog.New()
	cat.Find(catalog.KindTTS, "pocket_tts").Model.CPU = 200
	p, _ := selfHosted(t, cat, "tts pocket_tts", "", "twilio")
	if got, want := size(p), "7 1900m 5888Mi 6912Mi [tts_ab]"; got != want {
		t.Errorf("models that sessions don't share: %s, want %s", got, want)
	}
	cat.Find(catalog.KindTTS, "piper").Model.Megabytes = 1260 // 1775 MB with four sessions
	p, _ = selfHosted(t, cat, "tts piper", "recording", "twilio")
	if got, want := size(p), "4 1700m 2Gi 3Gi [tts_aa]"; got != want {
		t.Errorf("with recordings: %s, want %s", got, want)
	}
}

// vbot/downloads knows where each model of the catalog is, and DEPLOY.md says how to carry models: not where
// a service is only elsewhere.
func TestModelsAreFound(t *testing.T) {
	cat, known := catalog.New(), 0
	for _, kind := range []string{catalog.KindSTT, catalog.KindTTS} {
		for _, s := range cat.List(kind) {
			if s.Model.Megabytes == 0 {
				continue
			}
			known++
			p, _ := smallBot(t, kind+" "+s.Names[0], "smallwebrtc")
			files, err := p.Files()
			if err != nil {
				t.Fatal(err)
			}
			var modules []string
			for name := range files {
				if strings.HasPrefix(name, "server/vbot/downloads/") {
					modules = append(modules, name)
				}
			}
			if len(modules) < 2 { // what they have in common, and one of the model
				t.Errorf("%s has no module in vbot/downloads: %q", s.Label, modules)
			}
		}
	}
	if known == 0 {
		t.Error("no service has a model")
	}
	for llm, want := range map[string]bool{"ollama": true, "aws_bedrock": false} {
		said := bot.Values{
			bot.OptTransports:                      {List: []string{"smallwebrtc"}},
			bottest.ServiceOption(catalog.KindLLM): {Text: llm},
			bottest.ServiceOption(catalog.KindTTS): {Text: "piper"},
		}
		p, _ := botWith(t, cat, "stt moonshine", said)
		files, err := p.Files()
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(string(files["DEPLOY.md"]), "HF_HUB_OFFLINE=1"); says != want {
			t.Errorf("%s: DEPLOY.md says how to carry models: %t", llm, says)
		}
	}
}

// A recording has the rate of the telephone lines, if there is nothing else, and the volume holds
// a day of as many as there are sessions.
func TestRecordingSizes(t *testing.T) {
	for transports, want := range map[string]string{
		"twilio":              "8000 58 11Gi",
		"daily_pstn_dialin":   "24000 173 31Gi",
		"smallwebrtc":         "24000 173 16Gi",
		"smallwebrtc, twilio": "24000 173 16Gi",
	} {
		p, _ := smallBot(t, "stt deepgram", strings.Split(transports, ", ")...)
		if got := fmt.Sprint(p.Pod.RecordingRate, p.Pod.RecordingMB, " ",
			p.Pod.RecordingsLimit); got != want {
			t.Errorf("%s: %s, want %s", transports, got, want)
		}
	}
}

// The tool that ends a call is in bots with a telephone, and a service that takes the tools itself gets
// those of the list.
func TestTools(t *testing.T) {
	for transport, want := range map[string]bool{"smallwebrtc": false, "twilio": true} {
		_, code := smallBot(t, "realtime ultravox", transport)
		hangsUp := strings.Contains(code, "\n        realtime.hang_up,\n")
		if !strings.Contains(code, "one_shot_selected_tools=[*tools]") || hangsUp != want {
			t.Errorf("%s: %s", transport, code)
		}
	}
}

// self_host.py requires what keeps strangers out, .env.example explains it, and the
// packages that it imports are installed.
func TestSelfHostRequires(t *testing.T) {
	for transport, want := range map[string]string{
		"twilio": `["PHONE_TOKEN"] [prometheus-client>=0.22,<1]`,
		"plivo": `["PHONE_TOKEN" vbot.Needs("BOT_PUBLIC_URL", "DOMAIN")] ` +
			`[prometheus-client>=0.22,<1 plivo>=4.59,<5]`,
		"asterisk":          `["PHONE_TOKEN" "ASTERISK_PASSWORD"] [prometheus-client>=0.22,<1]`,
		"daily_pstn_dialin": `["DAILY_HMAC_SECRET"] [prometheus-client>=0.22,<1]`,
		"smallwebrtc":       `[vbot.Needs("TURN_URL", if_set="TURN_SECRET")] [prometheus-client>=0.22,<1]`,
	} {
		p, _ := selfHosted(t, catalog.New(), "stt deepgram", "", transport)
		files, err := p.Files()
		if got := fmt.Sprint(p.SelfHostRequired(), p.Dependencies[3:]); err != nil || got != want {
			t.Errorf("%s: %s, %v", transport, got, err)
		}
		_, required, _ := strings.Cut(string(files["server/self_host.py"]), "*bot.REQUIRED")
		for _, entry := range p.SelfHostRequired() {
			variable := strings.Split(entry, `"`)[1]
			if !strings.Contains(string(files["server/.env.example"]), variable+"=\n") ||
				!strings.Contains(required, "            "+entry+",\n") {
				t.Errorf("%s: %s is not required", transport, entry)
			}
		}
	}
}

// What only some transports need is required if the program serves them: bot.py those of -t, and self_host.py
// all.
func TestRequiredByTransport(t *testing.T) {
	for transports, want := range map[string]string{
		"smallwebrtc livekit":             "[livekit]",
		"livekit":                         "[]", // always
		"daily websocket twilio telnyx":   "[daily telnyx twilio]",
		"smallwebrtc daily_pstn_dialin":   "[daily]",
		"smallwebrtc daily_pstn_dialout":  "[call]",
		"plivo twilio_daily_sip_dialin":   "[call plivo]",
		"twilio_daily_sip_dialin":         "[]",
		"websocket twilio exotel livekit": "[livekit twilio]",
		"exotel twilio_daily_sip_dialout": "[call]",
		"smallwebrtc websocket":           "[]",
	} {
		_, code := smallBot(t, "stt deepgram", strings.Fields(transports)...)
		var keys []string
		for _, m := range regexp.MustCompile(`transport="(\w+)"`).FindAllStringSubmatch(code, -1) {
			keys = append(keys, m[1])
		}
		slices.Sort(keys)
		if got := fmt.Sprint(slices.Compact(keys)); got != want {
			t.Errorf("%s: %s", transports, got)
		}
	}
}

// Everything that metrics.py counts is shown, and nothing else of a bot is shown or warned about.
func TestMetrics(t *testing.T) {
	d, _ := selfHosted(t, catalog.New(), "llm openai", "", "twilio")
	files, err := d.Files()
	if err != nil {
		t.Fatal(err)
	}
	names := func(file, pattern string) []string {
		var found []string
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(files[file]), -1) {
			found = append(found,
				strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(match[1], "_total"), "_bucket"),
					"_count"))
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	made := names("server/vbot/hosting/metrics.py", `= (?:Counter|Gauge|Histogram)\(\s*"(\w+)"`)
	shown := names("deploy/dashboard.json", `\b(bot_\w+)`)
	warned := names("deploy/kubernetes/monitoring.yaml", `\b(bot_\w+)`)
	if len(made) != 10 || !slices.Equal(shown, made) {
		t.Errorf("metrics.py has %q, dashboard.json shows %q", made, shown)
	}
	for _, name := range warned {
		if !slices.Contains(made, name) {
			t.Errorf("monitoring.yaml asks for %s", name)
		}
	}
	if len(warned) != 4 {
		t.Errorf("monitoring.yaml asks for %q", warned)
	}
}

// A template that conditionOf names has no output without its condition.
func TestConditionsOfTemplates(t *testing.T) {
	found := 0
	err := fs.WalkDir(templates.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := templates.Files.ReadFile(name)
		if err != nil || conditionOf(string(data)) == "" {
			return err
		}
		found++
		tree, err := parsed(name, string(data))
		if err != nil {
			return err
		}
		nodes := slices.DeleteFunc(slices.Clone(tree.Root.Nodes), func(node parse.Node) bool {
			text, isText := node.(*parse.TextNode)
			return isText && len(bytes.TrimSpace(text.Text)) == 0
		})
		if len(nodes) != 1 || nodes[0].Type() != parse.NodeIf || nodes[0].(*parse.IfNode).ElseList != nil {
			t.Errorf("%s: the first condition is not that of the whole file", name)
		}
		return nil
	})
	if err != nil || found < 20 {
		t.Errorf("%d templates have a condition, %v", found, err)
	}
}

// bot.py stays short enough to be read in two minutes, for every choice of services, and so does every
// function. Unset variables are handled in one way.
func TestSizes(t *testing.T) {
	cat := catalog.New()
	check := func(cfg bot.Config, most int) {
		files, err := New(cfg, cat, "0.1.0").Files()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(files["server/bot.py"]), "\n"); n > most {
			t.Errorf("bot.py has %d lines, more than %d, in %+v", n, most, cfg)
		}
		for name, data := range files {
			if !strings.HasPrefix(name, "server/") || !strings.HasSuffix(name, ".py") {
				continue
			}
			for function, n := range functionLengths(string(data)) {
				if n > 70 {
					t.Errorf("%s: %s has %d lines in %+v", name, function, n, cfg)
				}
			}
			unset := regexp.MustCompile(`getenv\([^()]*\) or |environ.get\(`).Find(data)
			if unset != nil && name != "server/vbot/monitor.py" {
				t.Errorf("%s has %q in %+v", name, unset, cfg)
			}
		}
	}
	quickstart, _, _ := bot.Resolve(cat, bot.Quickstart(), "")
	check(quickstart, 160)
	longest := func(kind string) string {
		length := func(s *catalog.Service) int { return strings.Count(codeOf(s, nil).Body, "\n") }
		return slices.MaxFunc(cat.List(kind), func(a, b *catalog.Service) int {
			return length(a) - length(b)
		}).ID
	}
	// With Asterisk, a bot with everything else also calls people, and notices machines that answer.
	for _, cfg := range bottest.Full(cat) {
		cfg.Language = "de"
		check(cfg, 255)
		said := cfg.Values()
		for _, kind := range catalog.ServiceKinds {
			if o := bottest.ServiceOption(kind); said[o].Text != "" {
				said[o] = bot.Value{Text: longest(kind)}
			}
		}
		cfg, _, _ := bot.Resolve(cat, said, "full")
		check(cfg, 255)
	}
}

// functionLengths returns how many lines each function of the Python code has, by its first line.
func functionLengths(code string) map[string]int {
	lengths := map[string]int{}
	lines := strings.Split(strings.TrimSuffix(code, "\n"), "\n")
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	for i, line := range lines {
		head := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(strings.TrimPrefix(head, "async "), "def ") {
			continue
		}
		end, body := i+1, i+1
		for end < len(lines) {
			isInside := lines[end] == "" || lines[end][0] == ')' || indent(lines[end]) > indent(line)
			if !isInside && body != end {
				break
			}
			end++
			if lines[end-1] != "" {
				body = end
			}
		}
		lengths[head] = body - i
	}
	return lengths
}

func BenchmarkRenderQuickstart(b *testing.B) {
	cat := catalog.New()
	cfg, _, _ := bot.Resolve(cat, bot.Quickstart(), "")
	for b.Loop() {
		if _, err := New(cfg, cat, "0.1.0").Files(); err != nil {
			b.Fatal(err)
		}
	}
}

// Every service once, in the smallest bot that takes it.
func BenchmarkEveryService(b *testing.B) {
	cat := catalog.New()
	var bots []bot.Config
	for _, kind := range catalog.ServiceKinds {
		for _, p := range cat.List(kind) {
			said := bot.Quickstart()
			if kind == catalog.KindRealtime {
				said[bot.OptMode] = bot.Value{Text: bot.ModeRealtime}
				for _, o := range []*bot.Option{bot.OptSTT, bot.OptLLM, bot.OptTTS} {
					delete(said, o)
				}
			}
			said[bottest.ServiceOption(kind)] = bot.Value{Text: p.ID}
			cfg, _, problems := bot.Resolve(cat, said, "")
			if len(problems) > 0 {
				b.Fatal(problems)
			}
			bots = append(bots, cfg)
		}
	}
	for b.Loop() {
		for _, cfg := range bots {
			if _, err := New(cfg, cat, "0.1.0").Files(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// Each key is named with the page that has it, or with what it is.
func TestCredentials(t *testing.T) {
	for transports, want := range map[string]string{
		"twilio": "TWILIO_ACCOUNT_SID and either TWILIO_AUTH_TOKEN\n    or TWILIO_API_KEY " +
			"with TWILIO_API_SECRET\n    https://console.twilio.com",
		"daily_pstn_dialout": "DAILY_API_KEY  https://dashboard.daily.co/developers\nSERVER_API_KEY  " +
			"a long random text, the password of webhooks.py",
		"twilio_daily_sip_dialin": "DAILY_API_KEY  https://dashboard.daily.co/developers\n" +
			"TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN  https://console.twilio.com",
		"smallwebrtc daily": "DAILY_API_KEY (only for Daily)  https://dashboard.daily.co/developers",
	} {
		p, _ := smallBot(t, "llm openai", strings.Fields(transports)...)
		var got []string
		for _, c := range p.Credentials()[3:] { // those of the services come first
			got = append(got, c.Line())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: %q", transports, got)
		}
	}
}

// What a configuration file may say can be rendered.
func FuzzConfigurationIsRendered(f *testing.F) {
	f.Add([]byte(`{"mode": "cascade", "transports": ["daily"], "recording": true}`))
	cat := catalog.New()
	f.Fuzz(func(t *testing.T, data []byte) {
		values, problems := bot.ParseConfig("fuzz.json", data)
		if values == nil {
			return
		}
		cfg, _, wrong := bot.Resolve(cat, values, "name")
		if len(problems)+len(wrong) == 0 {
			if _, err := New(cfg, cat, "0.1.0").Files(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// languageOfServicesCases are the cases of TestLanguageOfServices.
var languageOfServicesCases = []struct{ service, tag, want string }{
	{"told", "de", ""},
	{"told", "de-at", ""},
	{"told", "pt-BR", ""},
	{"told", "zh-hans-cn", ""},
	{"told", "zh-Hant", "Acme told does not support the language zh-Hant"},
	{"told", "pt", "Acme told does not support the language pt"},
	{"told", "es", ""},
	{"told", "es-MX", ""},
	{"told", "es-AR", "Acme told does not support the language es-AR"},
	{"fixed", "en-GB", ""},
	{"fixed", "fr", "Acme fixed does not support the language fr"},
	{"auto", "fr", ""},
	{"silent", "fr", ""},
	{"voice", "fr", ""},
	{"told", "German", `"German" is not a language tag; expected one such as de or pt-BR (did you mean ` +
		`de?)`},
}

// A service is refused where it does not support the language, together with those that do.
// One that finds out by itself is not, nor one of one's own that says nothing.
func TestLanguageOfServices(t *testing.T) {
	cat, files := catalog.New(), fstest.MapFS{}
	for name, c := range map[string][2]string{
		"told":  {"# languages: en, de, pt-BR, zh-Hans\n# languages: es, es-MX\n", "language: str"},
		"fixed": {"# languages: en\n", ""},
		"auto":  {"# languages: auto\n", ""}, "silent": {}, "voice": {"# languages: voice\n", ""},
	} {
		code := "stt = Acme(\n        voice=os.getenv(\"ACME_VOICE\", \"joe\"),\n"
		if c[1] != "" {
			code += "        settings=Settings(language=language),  # when: language\n"
		}
		files["stt/acme_"+name+
			".py"] = &fstest.MapFile{Data: []byte("# id: acme_" + name + "\n# label: Acme " + name +
			"\n# names: acme_" + name + "\n" + c[0] +
			"# env: ACME_VOICE optional voice =joe: voice\nimport os\n\nfrom acme import Acme, Settings\n\n" +
			"\ndef build(" + c[1] + ") -> Acme:\n    " + code + "    )\n    return stt\n")}
	}
	if problems := cat.Add(files, "services"); len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range languageOfServicesCases {
		said := bot.Quickstart()
		said[bot.OptSTT], said[bot.OptLLM], said[bot.OptTTS] = bot.Value{
			Text: "acme_" + c.service,
		}, bot.Value{Text: "openai"}, bot.Value{Text: "elevenlabs"}
		said[bot.OptLanguage] = bot.Value{Text: c.tag}
		cfg, _, problems := bot.Resolve(cat, said, "")
		got := ""
		for _, p := range problems {
			if got = p.Message; p.Field == bot.OptSTT.Key &&
				(!slices.Contains(p.Allowed, "acme_silent") ||
					slices.Contains(p.Allowed, "acme_"+c.service) || !strings.Contains(p.Names, "--json")) {
				t.Errorf("%v: it allows %q, %s", c, p.Allowed, p.Names)
			}
		}
		if got != c.want {
			t.Errorf("%v: %q", c, got)
		}
		if got != "" {
			continue
		}
		if p := New(cfg, cat, "0.1.0"); p.English() != strings.HasPrefix(c.tag, "en") {
			t.Errorf("%v: it speaks English: %v", c, p.English())
		}
		written, err := New(cfg, cat, "0.1.0").Files()
		if err != nil {
			t.Fatal(err)
		}
		code, env := string(written["server/bot.py"]), string(written["server/.env.example"])
		tag, _ := catalog.LanguageTag(c.tag)
		if !strings.Contains(code, `LANGUAGE = "`+tag+`"`) ||
			strings.Contains(code, "Settings(language=LANGUAGE)") != (c.service == "told") {
			t.Errorf("%v: %s", c, code)
		}
		if strings.Contains(env, "# one that speaks fr: voice\nACME_VOICE=") != (c.service == "voice") {
			t.Errorf("%v: %s", c, env)
		}
	}
	if v := cat.Find(catalog.KindSTT, "acme_voice").Env[0]; v.Required || v.Fallback != "joe" {
		t.Errorf("the bots changed the catalog: %+v", v)
	}
}

// A template that asks for a transport that there is not ends rendering.
func TestUnknownTransport(t *testing.T) {
	cat := catalog.New()
	cfg, _, _ := bot.Resolve(cat, bot.Quickstart(), "")
	d := New(cfg, cat, "0.1.0")
	for _, name := range []string{"smallwebrt", catalog.SmallWebRTC} {
		if _, err := d.Has(name); err == nil || err.Error() != `no transport is called "`+name+`"` {
			t.Errorf("%v", err)
		}
	}
	if has, err := d.Has("smallwebrtc"); !has || err != nil {
		t.Errorf("%t, %v", has, err)
	}
}

// What a template compares with is a word that there is: a transport's first name where it asks for one.
func TestWordsOfTemplates(t *testing.T) {
	transports, variables, models := map[string]bool{}, map[string]bool{}, map[string]bool{}
	known := map[string]bool{}
	for _, o := range bot.Options {
		for _, word := range o.Allowed() {
			known[word] = true
		}
	}
	cat := catalog.New()
	for _, kind := range append(catalog.ServiceKinds, catalog.KindTransport) {
		for _, s := range cat.List(kind) {
			for _, word := range []string{s.ID, s.Key, s.Build.Class, s.Names[0]} {
				known[word] = true
			}
			for _, v := range s.Env {
				variables[v.Name] = variables[v.Name] || kind != catalog.KindTransport
			}
			if kind == catalog.KindTransport {
				transports[s.Names[0]] = true
			}
			if s.Model.Megabytes > 0 {
				models[s.Names[0]] = true
			}
		}
	}
	of := map[string]map[string]bool{
		".Has": transports, ".Reads": variables, ".Runs": models,
	}
	words := 0
	err := fs.WalkDir(templates.Files, ".", func(name string, _ fs.DirEntry, err error) error {
		text, _ := templates.Files.ReadFile(name)
		for _, action := range regexp.MustCompile(`<%.*?%>`).FindAllString(string(text), -1) {
			for _, m := range regexp.MustCompile(`(eq [^"()]+|eq \(.*?\)|\.Has|\.Reads|\.Runs) "([^"]*)"`).
				FindAllStringSubmatch(action, -1) {
				right, special := of[m[1]]
				if words++; special && !right[m[2]] || !special && !known[m[2]] {
					t.Errorf("%s: %s", name, action)
				}
			}
		}
		return err
	})
	if err != nil || words < 150 {
		t.Error(words, err)
	}
}

// Where the catalog has a voice for the language, nobody has to choose one, and the default voice
// of another language is nowhere.
func TestVoicesOfLanguages(t *testing.T) {
	for _, c := range []struct{ tts, tag, voice string }{
		{"piper", "", "en_US-kristin-medium"},
		{"piper", "en-GB", "en_US-kristin-medium"},
		{"piper", "de-AT", "de_DE-thorsten-medium"},
		{"piper", "fi", ""},
		{"kokoro", "", "af_heart"},
		{"kokoro", "fr", "ff_siwis"},
	} {
		said := bot.OnThisMachine()
		said[bot.OptSTT], said[bot.OptTTS] = bot.Value{Text: "whisper"}, bot.Value{Text: c.tts}
		if c.tag != "" {
			said[bot.OptLanguage] = bot.Value{Text: c.tag}
		}
		cfg, _, problems := bot.Resolve(catalog.New(), said, "here")
		p := New(cfg, catalog.New(), "0.1.0")
		written, err := p.Files()
		if err != nil || len(problems) > 0 {
			t.Fatal(c, err, problems)
		}
		code, env := string(written["server/bot.py"]), string(written["server/.env.example"])
		if c.voice == "" {
			if got := strings.Join(p.Required(), " "); got != `"PIPER_VOICE_ID"` {
				t.Errorf("%v: it requires %q", c, got)
			}
		} else if !strings.Contains(code, `"`+c.voice+`"`) ||
			!strings.Contains(env, "(default: "+c.voice+")") || len(p.Required()) > 0 {
			t.Errorf("%v: not in its code, or something is required: %v", c, p.Required())
		}
	}
}

// The last words of init, their list for scripts and the README give one command that starts the
// bot that was asked for, and say where it is then.
func TestStartCommand(t *testing.T) {
	for _, c := range []struct{ transports, command, then string }{
		{"smallwebrtc", "uv run bot.py", "open http://localhost:7860 and talk"},
		{"livekit smallwebrtc", "uv run bot.py", "open http://localhost:7860 and talk"},
		{"daily", "uv run bot.py", "open http://localhost:7860/daily"},
		{"livekit", "uv run bot.py -t livekit", "open the address that it prints"},
		{"twilio", "uv run bot.py -t twilio -x YOUR_TUNNEL_HOST", "README.md says how to reach the bot"},
		{"plivo livekit", "uv run bot.py -t livekit", "open the address that it prints"},
		{"asterisk", "uv run bot.py -t asterisk", "README.md says how to reach the bot"},
		{"websocket", "uv run bot.py", "README.md says how to reach the bot"},
		{"twilio smallwebrtc", "uv run bot.py", "open http://localhost:7860 and talk"},
	} {
		said := bot.OnThisMachine()
		said[bot.OptTransports] = bot.Value{List: strings.Fields(c.transports)}
		cfg, _, problems := bot.Resolve(catalog.New(), said, "here")
		d := New(cfg, catalog.New(), "0.1.0")
		text, commands, err := d.NextSteps("here/server", "here/client", "README.md")
		if err != nil || len(problems) > 0 {
			t.Fatal(c, err, problems)
		}
		if got := commands[len(commands)-1]; got != c.command || !strings.Contains(text, c.then) {
			t.Errorf("%s: %q, and then\n%s", c.transports, got, text)
		}
		if files, err := d.Files(); err != nil ||
			!strings.Contains(string(files["README.md"]), "\n"+c.command+"\n```") {
			t.Errorf("%s: README.md says something else (%v)", c.transports, err)
		}
	}
}

// DEPLOY.md says for each transport how a session of the deployed bot starts.
func TestDeployedSessions(t *testing.T) {
	cat := catalog.New()
	for _, c := range []struct{ transports, client, want string }{
		{"daily", "", `-d '{"createDailyRoom": true}'`},
		{"daily", "vanilla", "under \"A bot on another host\""},
		{"smallwebrtc", "", "Over SmallWebRTC, a web page starts it"},
		{"smallwebrtc websocket", "", "Over SmallWebRTC and WebSocket, a web page"},
		{"websocket", "", "to `https://api.pipecat.daily.co/v1/public/vbot-quickstart/start`"},
		{"twilio", "", "wss://api.pipecat.daily.co/ws/twilio"},
		{"telnyx", "", "wss://api.pipecat.daily.co/ws/telnyx"},
		{"plivo", "", "wss://api.pipecat.daily.co/ws/plivo"},
		{"exotel", "", "wss://api.pipecat.daily.co/ws/exotel"},
		{"daily_pstn_dialin", "", "/v1/public/webhooks/ORGANIZATION/vbot-quickstart/dialin"},
		{"daily_pstn_dialout", "", "It starts the deployed bot if"},
		{"twilio_daily_sip_dialin", "", "It starts the deployed bot if"},
		{"twilio_daily_sip_dialout", "", "It starts the deployed bot if"},
	} {
		said := bot.Quickstart()
		said[bot.OptTransports] = bot.Value{List: strings.Fields(c.transports)}
		for _, o := range bot.Options {
			switch {
			case o.Key == "deploy_to_cloud":
				said[o] = bot.Value{On: true}
			case o.Key == "client_framework" && c.client != "":
				said[o] = bot.Value{Text: c.client}
			}
		}
		cfg, _, problems := bot.Resolve(cat, said, "small")
		files, err := New(cfg, cat, "0.1.0").Files()
		if err != nil || len(problems) > 0 {
			t.Fatal(c, err, problems)
		}
		text := string(files["DEPLOY.md"])
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: DEPLOY.md does not say %q", c.transports, c.want)
		}
		hasPage := c.client != "" || !regexp.MustCompile("webrtc|websocket").MatchString(c.transports)
		if asks := strings.Contains(text, "a web page starts it"); asks == hasPage {
			t.Errorf("%s, %q: %v that DEPLOY.md asks for a page", c.transports, c.client, asks)
		}
	}
}

// What bot.py says of each service fits into a line as ruff formats it.
func TestServicesFitIntoALine(t *testing.T) {
	cat := catalog.New()
	for _, kind := range catalog.ServiceKinds {
		for _, s := range cat.List(kind) {
			line := fmt.Sprintf("        %s: vbot.Service(%q, %q),", s.Name(), s.Label, s.Keys())
			if len(line) > 100 || (Service{Service: s}).Does() == "" {
				t.Errorf("%s: %s", s.ID, line)
			}
		}
	}
}
