package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bot is a complete set of options, to be added to.
const bot = "-t webrtc -m cascade --stt deepgram --llm openai --tts cartesia"

func TestQuickstart(t *testing.T) {
	dir := t.TempDir()
	r := vbot(t, dir, "init", "quickstart")
	r.wantCode(t, 0)
	golden(t, "quickstart.txt", r.transcript(dir))
	goldenTree(t, "quickstart", filepath.Join(dir, "vbot-quickstart"))

	before := readTree(t, dir)
	again := vbot(t, dir, "init", "quickstart")
	again.wantCode(t, 0)
	golden(t, "quickstart-again.txt", again.transcript(dir))
	if after := readTree(t, dir); !equalTrees(before, after) {
		t.Error("the second run changed something")
	}
}

func TestQuickstartReports(t *testing.T) {
	dir := t.TempDir()
	dry := vbot(t, dir, "init", "quickstart", "--dry-run")
	dry.wantCode(t, 0)
	golden(t, "quickstart-dry-run.json", []byte(dry.stdout))
	if dry.stderr != "" || len(readTree(t, dir)) > 0 {
		t.Errorf("the dry run said %q and wrote %v", dry.stderr, readTree(t, dir))
	}
	r := vbot(t, dir, "init", "quickstart", "--json")
	r.wantCode(t, 0)
	golden(t, "quickstart.json", []byte(withoutDir(r.stdout, dir)))
}

func TestListings(t *testing.T) {
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"list-options.json":     {"init", "--list-options"},
		"describe-options.txt":  {"init", "--describe-options"},
		"describe-options.json": {"init", "--describe-options", "--json"},
		"describe-video.txt":    {"init", "--describe-options=video"},
		"describe-video.json":   {"init", "--describe-options=video", "--json"},
	} {
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		golden(t, name, []byte(r.stdout))
		if r.stderr != "" {
			t.Errorf("vbot %q wrote to stderr: %s", args, r.stderr)
		}
		for line := range strings.Lines(r.stdout) {
			if strings.HasSuffix(name, ".txt") && len([]rune(line)) > 81 {
				t.Errorf("vbot %q prints a line of more than 80 columns: %s", args, line)
			}
		}
	}
}

// Each golden/bots/NAME.json is a bot of its own: what a dry run prints of it, and
// so a configuration file that reads back as itself. Beside it are its files.
func TestBots(t *testing.T) {
	for _, project := range goldenBots(t) {
		t.Run(project, func(t *testing.T) {
			dir, name := t.TempDir(), filepath.Base(project)
			config, err := filepath.Abs("golden/" + project + ".json")
			if err != nil {
				t.Fatal(err)
			}
			dry := vbot(t, dir, "init", name, "--config", config, "--dry-run")
			dry.wantCode(t, 0)
			golden(t, project+".json", []byte(dry.stdout))
			if dry.stderr != "" {
				t.Errorf("vbot init --config %s.json wrote to stderr: %s", project, dry.stderr)
			}
			vbot(t, dir, "init", name, "--config", config).wantCode(t, 0)
			checkRecord(t, filepath.Join(dir, name), dry.stdout)
			goldenTree(t, project, filepath.Join(dir, name))
		})
	}
}

// A web client takes two terminals.
func TestClientSaysHowToGoOn(t *testing.T) {
	dir := t.TempDir()
	r := vbot(t, dir, append([]string{"init", "my bot", "--client-framework", "vanilla"}, strings.Fields(bot)...)...)
	r.wantCode(t, 0)
	_, next, _ := strings.Cut(string(r.transcript(dir)), "\nNext, ")
	golden(t, "client-next.txt", []byte("Next, "+next))
}

// An option is visible where it is on, and leaves no trace where it is off.
func TestOptionsLeaveNoTrace(t *testing.T) {
	cat := newCatalog()
	for key, trace := range map[string]string{
		"recording":            `(?i)recording|AudioBufferProcessor`,
		"transcription":        `Transcript:`,
		"enable_observability": `(?i)whisker`,
		"enable_noise_cancel":  `(?i)krisp`,
		"enable_eval":          `(?i)\bevals?\b`,
		"deploy_to_cloud":      `(?i)docker|cloud-deploy|pipecatcloud`,
		"video_input":          `video_in`,
		"video_output":         `video_out`,
		"self_host":            `(?i)self_host|kubernetes|compose`,
	} {
		for _, on := range []bool{false, true} {
			said := quickstart()
			said[optionOf(key)] = answer{on: on}
			cfg, _, problems := resolve(cat, said, "")
			files, err := render(cfg, cat)
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			found := ""
			for _, f := range files {
				if !f.guide && f.path != recordName { // it has the keys of all options
					found += regexp.MustCompile(trace).FindString(f.path + "\n" + string(f.data))
				}
			}
			if (found != "") != on {
				t.Errorf("%s is %v, and of it there is %q", key, on, found)
			}
		}
	}
}

// Every bad combination is refused before anything is touched, and all that is
// wrong is listed at once.
func TestRefusedConfigurations(t *testing.T) {
	for _, c := range []struct{ name, args string }{
		{"everything-missing", "--dry-run"},
		{"everything-missing-json", "--dry-run --json"},
		{"mode-missing", "-t webrtc"},
		{"mode-missing-with-a-service", "-t webrtc --stt deepgram"},
		{"cascade-services-missing", "-t webrtc -m cascade --llm openai"},
		{"realtime-service-missing", "-t webrtc -m realtime"},
		{"realtime-in-cascade", bot + " --realtime openai"},
		{"cascade-in-realtime", "-t webrtc -m realtime --realtime openai --stt deepgram --tts cartesia"},
		{"unknown-everywhere", "-t pigeon -m talk --stt deepgrm --llm gtp --tts x --bot-type phone"},
		{"unknown-transport", bot + " -t daly"},
		{"web-with-telephony", bot + " -b web -t twilio"},
		{"video-on-the-phone", bot + " -t twilio --video tavus --video-input --video-output"},
		{"video-without-a-carrier", "-t websocket -m realtime --realtime openai --video simli --video-input"},
		{"video-input-unseen", "-t webrtc -m realtime --realtime nova_sonic --video-input"},
		{"avatar-without-output", bot + " --video tavus --no-video-output"},
		{"noise-cancel-without-cloud", bot + " --enable-noise-cancel --no-deploy-to-cloud"},
		{"livekit-on-the-cloud", "-t livekit -m realtime --realtime openai --deploy-to-cloud"},
		{"livekit-with-noise-cancel", "-t livekit -m realtime --realtime openai --enable-noise-cancel"},
		{"client-server-alone", bot + " --client-server vite"},
		{"client-unknown", bot + " --client-framework angular"},
		{"dial-mode-without-transport", bot + " --daily-pstn-mode dial-in --twilio-daily-sip-mode dial-out"},
		{"name-bad", bot + " -n /etc/passwd"},
		{"eval-alone", "--eval"},
		{"client-alone", "--client-framework none"},
		{"name-reserved", bot + " -n aux.bot"},
		{"name-long", bot + " -n " + strings.Repeat("n", 65)},
		{"values-empty", "--name= -t= --mode= --stt= --llm= --tts="},
		{"config-missing", "--config nowhere.json"},
		{"config-missing-json", "--config nowhere.json --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := vbot(t, dir, append([]string{"init", "there"}, strings.Fields(c.args)...)...)
			r.wantCode(t, 2)
			golden(t, "errors/init/"+c.name+".txt", r.transcript(dir))
			if got := readTree(t, dir); len(got) > 0 {
				t.Errorf("it wrote %v", got)
			}
		})
	}
}

func TestQuickstartTakesNoBotOptions(t *testing.T) {
	dir := t.TempDir()
	r := vbot(t, dir, "init", "quickstart", "--recording", "-m", "realtime", "--config", "x.json")
	r.wantCode(t, 2)
	golden(t, "errors/init/quickstart-with-options.txt", r.transcript(dir))

	// ./quickstart is a directory like any other.
	vbot(t, dir, append([]string{"init", "./quickstart"}, strings.Fields(bot)...)...).wantCode(t, 0)
	if _, err := os.Stat(filepath.Join(dir, "quickstart", "server", "bot.py")); err != nil {
		t.Error(err)
	}
}

func TestConfigFileProblems(t *testing.T) {
	for _, c := range []struct{ name, config string }{
		{"empty", ""},
		{"not-json", "{\n  \"mode\": cascade\n}"},
		{"cut-off", `{"mode": "cascade", `},
		{"not-an-object", `["cascade"]`},
		{"trailing-data", `{"mode": "talk"} {}`},
		{"key-that-forges-a-line", `{"mode\nvbot init: all is well\u001b[2J": 1}`},
		{"unknown-keys", `{"recordng": true, "stt": "deepgram", "xyz": 1}`},
		{"keys-in-another-case", `{"Mode": "cascade"}`},
		{"duplicate-keys", `{"mode": "cascade", "mode": "realtime"}`},
		{"wrong-types", `{"transports": "daily", "recording": "no", "mode": 7, "stt_service": ["deepgram"], "llm_service": {}, "tts_service": true}`},
		{"a-list-of-other-things", `{"transports": ["daily", 7]}`},
		{"empty-strings", `{"mode": "", "transports": [""], "project_name": ""}`},
		{"nulls", `{"mode": null, "transports": null, "recording": null}`},
		{"file-against-file", `{"mode": "realtime", "realtime_service": "openai", "stt_service": "deepgram", "transports": ["twilio"], "bot_type": "web"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := with{stdin: c.config}.vbot(t, dir, "init", "there", "--config", "-")
			r.wantCode(t, 2)
			golden(t, "errors/config/"+c.name+".txt", slices.Concat([]byte(c.config+"\n"), r.transcript(dir)))
		})
	}
}

// A flag beats the file; what of the file it makes inapplicable is left out with
// a note.
func TestFlagsBeatTheFile(t *testing.T) {
	for _, c := range []struct{ name, config, args string }{
		{"services-of-the-other-mode", `{"mode": "cascade", "transports": ["daily"], "stt_service": "deepgram", "llm_service": "openai", "tts_service": "cartesia"}`,
			"--mode realtime --realtime openai"},
		{"bot-type", `{"bot_type": "web", "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "-t twilio"},
		{"a-feature", `{"recording": true, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "--no-recording --eval"},
		{"noise-cancel", `{"enable_noise_cancel": true, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "--no-deploy-to-cloud"},
		{"noise-cancel-wanted", `{"deploy_to_cloud": false, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "--enable-noise-cancel"},
		{"video", `{"video_service": "tavus", "video_input": true, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "-t twilio"},
		{"avatar", `{"video_service": "tavus", "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "--no-video-output"},
		{"avatar-wanted", `{"video_output": false, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "--video tavus"},
		{"model-without-sight", `{"video_input": true, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "--realtime grok"},
		{"transport-off-the-cloud", `{"deploy_to_cloud": true, "enable_noise_cancel": true, "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "-t livekit"},
		{"telephony-wanted", `{"video_service": "tavus", "mode": "realtime", "realtime_service": "openai", "transports": ["daily"]}`, "-b telephony"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := with{stdin: c.config}.vbot(t, dir, append([]string{"init", "there", "--config", "-", "--dry-run"}, strings.Fields(c.args)...)...)
			r.wantCode(t, 0)
			golden(t, "config/"+c.name+".txt", slices.Concat([]byte(c.config+"\n"), r.transcript(dir)))
		})
	}
}

func TestConfigFileForms(t *testing.T) {
	dir := t.TempDir()
	const config = "\ufeff" + `{"mode": "realtime", "realtime_service": "openai", "transports": ["daily", "rtc_hosted"], "recording": null}`
	if err := os.WriteFile(filepath.Join(dir, "bot.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, "init", "there", "-c", "bot.json", "--dry-run")
	r.wantCode(t, 0)
	var got config_
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Transports, []string{"rtc_hosted"}) || got.ProjectName != "there" {
		t.Errorf("got %+v", got)
	}
	long := with{stdin: `{"project_name": "` + strings.Repeat("x", maxConfig) + `"}`}.vbot(t, dir, "init", "-c", "-")
	long.wantCode(t, 2)
	if !strings.Contains(long.stderr, "larger than") {
		t.Errorf("a huge file: %s", long.stderr)
	}
	vbot(t, dir, "init", "there", "--config", ".").wantCode(t, 2)
}

// config_ reads what a config writes.
type config_ struct {
	ProjectName string   `json:"project_name"`
	Transports  []string `json:"transports"`
}

func TestNameOfTheDirectory(t *testing.T) {
	for dir, want := range map[string]string{
		"/x/my-bot":                             "my-bot",
		"/x/_my bot!":                           "my bot",
		"/x/Grüezi":                             "Grüezi",
		"/x/क्षेत्र":                            "क्षेत्र",
		"/x/.hidden":                            "hidden",
		"/x/my@bot":                             "",
		"/x/@@@":                                "",
		"/":                                     "",
		"/x/con":                                "",
		"/x/" + strings.Repeat("a", 80):         strings.Repeat("a", 64),
		"/x/" + strings.Repeat("ab!", 1):        "ab",
		"/x/" + strings.Repeat("é", 64):         strings.Repeat("é", 64),
		"/x/" + strings.Repeat("b", 63) + "!!!": strings.Repeat("b", 63),
	} {
		if got := nameFromDir(dir); got != want {
			t.Errorf("nameFromDir(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"vbot-quickstart":         "vbot-quickstart",
		"My Bot_2.0":              "my-bot-2-0",
		"Café":                    "caf",
		"日本":                      "bot",
		"a--b":                    "a-b",
		"1":                       "1",
		strings.Repeat("ab-", 30): strings.TrimSuffix(strings.Repeat("ab-", 19)[:55], "-"),
	} {
		if got := slug(name); got != want {
			t.Errorf("slug(%q) = %q, want %q", name, got, want)
		}
	}
}

// The directory decides the name in a dry run too.
func TestTargetForms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "parlour")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{".": "parlour", "": "parlour", "sub/deep er": "deep er", "..": filepath.Base(filepath.Dir(dir))} {
		args := append([]string{"init"}, strings.Fields(bot+" --dry-run")...)
		if target != "" {
			args = append(args, target)
		}
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		var got config_
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got.ProjectName != want {
			t.Errorf("target %q: name %q, want %q", target, got.ProjectName, want)
		}
	}
	vbot(t, dir, "init", "").wantCode(t, 2)
}

// A guide that is a link stays, and is not said to differ: nobody read it.
func TestGuideThatIsALink(t *testing.T) {
	dir := t.TempDir()
	symlink(t, "elsewhere", filepath.Join(dir, "AGENTS.md"))
	r := vbot(t, dir, "init", ".", "--no-input")
	r.wantCode(t, 0)
	if !strings.Contains(r.stderr, "kept AGENTS.md, which is a link or cannot be read\n") {
		t.Errorf("it said %s", r.stderr)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"mode": "cascade", "transports": ["daily"], "recording": true}`))
	f.Add([]byte(`{"a": {"b": [1, null]}}`))
	f.Add([]byte("\xff{"))
	cat := newCatalog()
	f.Fuzz(func(t *testing.T, data []byte) {
		said, problems := parseConfig("fuzz.json", data)
		if said == nil {
			return
		}
		cfg, _, wrong := resolve(cat, said, "name")
		if len(problems)+len(wrong) == 0 {
			// What is accepted can be rendered, and reads back as itself.
			if _, err := render(cfg, cat); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := writeJSON(&b, cfg); err != nil {
				t.Fatal(err)
			}
			again, problems := parseConfig("again.json", b.Bytes())
			if len(problems) > 0 {
				t.Fatalf("%s: %v", b.Bytes(), problems)
			}
			back, notes, wrong := resolve(cat, again, "other")
			if len(notes)+len(wrong) > 0 || fmt.Sprint(back) != fmt.Sprint(cfg) {
				t.Fatalf("%+v reads back as %+v: %v %v", cfg, back, notes, wrong)
			}
		}
	})
}

// randomBot is a valid configuration, chosen by rng.
func randomBot(t testing.TB, cat *catalog, rng *rand.Rand) config {
	pick := func(kind string) string {
		p := cat.list(kind)[rng.IntN(len(cat.list(kind)))]
		return p.names[rng.IntN(len(p.names))]
	}
	for {
		said := answers{optTransports: {}}
		for range 1 + rng.IntN(3) {
			said[optTransports] = answer{list: append(said[optTransports].list, pick(kindTransport))}
		}
		if rng.IntN(4) == 0 {
			said[optMode] = answer{text: modeRealtime}
			said[optRealtime] = answer{text: pick(kindRealtime)}
		} else {
			said[optMode] = answer{text: modeCascade}
			said[optSTT] = answer{text: pick(kindSTT)}
			said[optLLM] = answer{text: pick(kindLLM)}
			said[optTTS] = answer{text: pick(kindTTS)}
		}
		if rng.IntN(4) == 0 {
			said[optVideo] = answer{text: pick(kindVideo)}
		}
		for _, o := range options {
			if o.toggle != nil && rng.IntN(2) == 0 {
				said[o] = answer{on: rng.IntN(2) == 0}
			}
		}
		if cfg, _, problems := resolve(cat, said, "random bot"); len(problems) == 0 {
			return cfg
		}
	}
}

// Whatever can be asked for gives a whole project.
func TestRandomBots(t *testing.T) {
	cat := newCatalog()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	// The first bot has a service that needs more than an extra: few have.
	needy := quickstart()
	needy[optSTT] = answer{text: "funasr"}
	first, _, _ := resolve(cat, needy, "")
	for i := range 300 {
		cfg := first
		if i > 0 {
			cfg = randomBot(t, cat, rng)
		}
		files, err := render(cfg, cat)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, cfg, err)
		}
		again, _ := render(cfg, cat)
		text := map[string]string{}
		for i, f := range files {
			text[f.path] = string(f.data)
			if !bytes.Equal(f.data, again[i].data) {
				t.Errorf("seed %d: %s is not the same twice", seed, f.path)
			}
			for _, leftover := range []string{"<%", "%>", "<no value>", "# when:", "\r", "\t ", " \n", "\n\n\n\n"} {
				if strings.Contains(text[f.path], leftover) {
					t.Errorf("seed %d: %s holds %q", seed, f.path, leftover)
				}
			}
			if !strings.HasSuffix(text[f.path], "\n") || strings.HasSuffix(text[f.path], "\n\n") {
				t.Errorf("seed %d: %s does not end in one line end", seed, f.path)
			}
		}
		checkVariables(t, seed, cat, text)
		for _, s := range newProject(cfg, cat).Services {
			for _, requirement := range s.pip {
				if !strings.Contains(text["server/pyproject.toml"], `    "`+requirement+"\",\n") {
					t.Errorf("seed %d: %s needs %s", seed, s.id, requirement)
				}
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^COPY (.*) \S+$`).FindAllStringSubmatch(text["server/Dockerfile"], -1) {
			for _, source := range strings.Fields(m[1]) {
				// uv.lock* is there once uv made it.
				if _, ok := text["server/"+source]; !ok && source != "uv.lock*" {
					t.Errorf("seed %d: the Dockerfile copies %s, which is not there", seed, source)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("%+v\n%s", cfg, text["server/bot.py"])
		}
	}
}

// checkVariables compares the variables that the code reads with .env.example.
func checkVariables(t *testing.T, seed uint64, cat *catalog, text map[string]string) {
	library := map[string]bool{"KRISP_VIVA_FILTER_MODEL_PATH": true, "KRISP_VIVA_API_KEY": true}
	for _, kind := range append(serviceKinds, kindTransport) {
		for _, p := range cat.all(kind) {
			for _, v := range p.env {
				if v.readByLibrary {
					library[v.name] = true
				}
			}
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$`).FindAllStringSubmatch(text["server/.env.example"], -1) {
		if named[m[1]] {
			t.Errorf("seed %d: .env.example names %s twice", seed, m[1])
		}
		if m[2] != "" {
			t.Errorf("seed %d: .env.example holds a value for %s", seed, m[1])
		}
		named[m[1]] = true
	}
	read := map[string]bool{}
	code := text["server/bot.py"] + text["server/server.py"]
	for _, m := range regexp.MustCompile(`(?:environ\[|getenv\(|if_set\(\w+=)["']([A-Z0-9_]+)["']`).FindAllStringSubmatch(code, -1) {
		read[m[1]] = true
		if !named[m[1]] {
			t.Errorf("seed %d: the code reads %s, which .env.example does not name", seed, m[1])
		}
	}
	for name := range named {
		if !read[name] && !library[name] {
			t.Errorf("seed %d: .env.example names %s, which nothing reads", seed, name)
		}
	}
}

func equalTrees(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for path, data := range a {
		if other, ok := b[path]; !ok || other != data {
			return false
		}
	}
	return true
}

func BenchmarkRenderQuickstart(b *testing.B) {
	cat := newCatalog()
	cfg, _, _ := resolve(cat, quickstart(), "")
	for b.Loop() {
		if _, err := render(cfg, cat); err != nil {
			b.Fatal(err)
		}
	}
}

// Every service once, in the smallest bot that takes it.
func BenchmarkEveryService(b *testing.B) {
	cat := newCatalog()
	var bots []config
	for _, kind := range serviceKinds {
		for _, p := range cat.list(kind) {
			said := quickstart()
			if kind == kindRealtime {
				said[optMode] = answer{text: modeRealtime}
				for _, o := range []*option{optSTT, optLLM, optTTS} {
					delete(said, o)
				}
			}
			said[optionOf(kind+"_service")] = answer{text: p.id}
			cfg, _, problems := resolve(cat, said, "")
			if len(problems) > 0 {
				b.Fatal(problems)
			}
			bots = append(bots, cfg)
		}
	}
	for b.Loop() {
		for _, cfg := range bots {
			if _, err := render(cfg, cat); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// What is offered at a question: every value is put to the rules.
func BenchmarkOffer(b *testing.B) {
	w := &wizard{cat: newCatalog(), said: quickstart(), done: map[string]bool{}}
	delete(w.said, optTTS)
	services := len(w.cat.list(kindTTS))
	for b.Loop() {
		if choices := w.offer(optTTS, false); len(choices) != services {
			b.Fatalf("%d are offered, want %d", len(choices), services)
		}
	}
}

// The options that give a configuration give it, whatever it is.
func TestArguments(t *testing.T) {
	cat := newCatalog()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		cfg := randomBot(t, cat, rng)
		target := []string{"random bot", "another", "@@@"}[rng.IntN(3)]
		dir := t.TempDir()
		args := cfg.answers().arguments(cat, nameFromDir(absolute(dir, target)))
		var want, got, stderr bytes.Buffer
		if err := writeJSON(&want, cfg); err != nil {
			t.Fatal(err)
		}
		run(context.Background(), append([]string{"init", target, "--dry-run"}, args...), &app{stdin: strings.NewReader(""), stdout: &got, stderr: &stderr, dir: dir, getenv: func(string) string { return "" }})
		if got.String() != want.String() || stderr.Len() > 0 {
			t.Fatalf("seed %d: %s gives %q, which gives %s%s", seed, &want, args, &got, &stderr)
		}
	}
}

// What a program checks at its start follows from the words of its variables.
func TestNeeds(t *testing.T) {
	const missing = `    if missing := [name for name in required if not os.getenv(name)]:
        sys.exit(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")`
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"MODEL optional model: model"}, ""},
		{[]string{"KEY required secret: key"}, "    required = [\n        \"KEY\",\n    ]\n" + missing},
		{[]string{"KEY required secret unless URL: key", "URL optional url =https://a: address"}, `    required: list[str] = []
    if not os.getenv("URL"):
        required.append("KEY")
` + missing},
		{[]string{"KEY required secret unless OWN: key", "OWN optional url else URL: address", "URL optional url: address"}, `    required: list[str] = []
    if not (os.getenv("OWN") or os.getenv("URL")):
        required.append("KEY")
` + missing},
		{[]string{"KEY required secret unless OWN: key", "--", "KEY required secret unless URL: key", "--", "KEY required secret unless URL: key"}, `    required: list[str] = []
    if not os.getenv("OWN"):
        required.append("KEY")
    if not os.getenv("URL"):
        required.append("KEY")
` + strings.Replace(missing, "in required", "in dict.fromkeys(required)", 1)},
		{[]string{"NAME required id: name", "SECRET optional secret server with NAME: secret"}, `    required = [
        "NAME",
    ]
    if os.getenv("NAME"):
        required.append("SECRET")
` + missing},
		{[]string{"TOKEN required secret unless KEY: token", "KEY optional id without TOKEN: key", "SECRET optional secret with KEY: secret"}, `    required: list[str] = []
    if os.getenv("KEY"):
        required.append("SECRET")
    else:
        required.append("TOKEN")
` + missing + `
    if os.getenv("KEY") and os.getenv("TOKEN"):
        sys.exit("Set TOKEN or KEY in .env, not both.")`},
		{[]string{"KEY optional id without TOKEN: key"}, `    if os.getenv("KEY") and os.getenv("TOKEN"):
        sys.exit("Set TOKEN or KEY in .env, not both.")`},
	} {
		var start startCheck
		for _, lines := range strings.Split(strings.Join(c.env, "\n"), "\n--\n") {
			var env []variable
			for line := range strings.Lines(lines) {
				v, why := parseVariable(strings.TrimSpace(line))
				if why != "" {
					t.Fatal(line, why)
				}
				env = append(env, v)
			}
			for _, v := range env {
				start.add(v, env)
			}
		}
		if got := start.code("sys.exit"); got != c.want {
			t.Errorf("%q:\n%s\nwant:\n%s", c.env, got, c.want)
		}
	}
}

// What bot.py says to check if a service does not work.
func TestKeysToCheck(t *testing.T) {
	cat := newCatalog()
	for _, c := range []struct{ kind, name, want string }{
		{kindSTT, "deepgram", "DEEPGRAM_API_KEY"},
		{kindLLM, "bedrock", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{kindTTS, "google", "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON"},
		{kindLLM, "ollama", "its settings"},
	} {
		if got := cat.find(c.kind, c.name).Keys(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
