package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
	"vbot/internal/scaffold"
)

// cascade is a complete set of options, to be added to.
const cascade = "-t webrtc -m cascade --stt deepgram --llm openai --tts cartesia"

func TestQuickstart(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := with{}.vbot(t, dir, "init", "quickstart")
	r.wantCode(t, 0)
	section(t, "init.txt", "quickstart", r.transcript(dir))
	goldenTree(t, "quickstart", filepath.Join(dir, "vbot-quickstart"))

	before := filetest.Tree(t, dir)
	again := vbot(t, dir, "init", "quickstart")
	again.wantCode(t, 0)
	section(t, "init.txt", "quickstart again", again.transcript(dir))
	if after := filetest.Tree(t, dir); !equalTrees(before, after) {
		t.Error("the second run changed something")
	}
}

func TestQuickstartReports(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	dry := vbot(t, dir, "init", "quickstart", "--dry-run")
	dry.wantCode(t, 0)
	golden(t, "quickstart-dry-run.json", []byte(dry.stdout))
	if dry.stderr != "" || len(filetest.Tree(t, dir)) > 0 {
		t.Errorf("the dry run said %q and wrote %v", dry.stderr, filetest.Tree(t, dir))
	}
	r := vbot(t, dir, "init", "quickstart", "--json")
	r.wantCode(t, 0)
	golden(t, "quickstart.json", []byte(withoutDir(r.stdout, dir)))
	var answer scaffold.Written
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
		t.Fatal(err)
	}
	tree := filetest.Tree(t, filepath.Join(dir, "vbot-quickstart"))
	for _, f := range answer.Files {
		if f.SHA256 != filetest.Sum(tree[f.Path]) {
			t.Errorf("%s: the sum %s is not that of the file", f.Path, f.SHA256)
		}
	}
}

func TestListings(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"list-options.json":    {"init", "--list-options"},
		"describe-options.txt": {"init", "--describe-options"},
		"describe-video.txt":   {"init", "--describe-options=video"},
		"describe-video.json":  {"init", "--describe-options=video", "--json"},
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

// --describe-options --json has an entry for each service of --list-options, in its order.
// describe-video.json shows such entries, and e2e/test_schemas.py checks all against the schema.
func TestDescribeAll(t *testing.T) {
	parallel(t)
	var listed, described map[string]json.RawMessage
	for option, into := range map[string]*map[string]json.RawMessage{
		"--list-options": &listed, "--describe-options": &described,
	} {
		if err := json.Unmarshal([]byte(vbot(t, t.TempDir(), "init", option, "--json").stdout),
			into); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(described)); !slices.Equal(a, b) {
		t.Errorf("the keys are %q and %q", a, b)
	}
	for _, kind := range catalog.ServiceKinds {
		var ids []string
		var entries []struct{ ID string }
		err := errors.Join(json.Unmarshal(listed[kind], &ids), json.Unmarshal(described[kind], &entries))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range entries {
			if len(entries) != len(ids) || e.ID != ids[i] {
				t.Errorf("%s: entry %d is %s; listed are %q", kind, i, e.ID, ids)
			}
		}
	}
}

// Each golden/bots/NAME.json is a bot of its own: what a dry run prints of it, and
// so a configuration file that reads back as itself. Beside it are its files.
func TestBots(t *testing.T) {
	parallel(t)
	for _, project := range goldenBots(t) {
		t.Run(project, func(t *testing.T) {
			dir, name := t.TempDir(), filepath.Base(project)
			config, err := filepath.Abs("golden/" + project + ".json")
			if err != nil {
				t.Fatal(err)
			}
			line := []string{"init", name, "--config", config}
			for _, o := range bot.Options {
				if o.Toggle != nil && name == "every-feature" { // those that come to be, too
					line = append(line, "--"+o.Flag)
				}
			}
			dry := vbot(t, dir, append(line, "--dry-run")...)
			dry.wantCode(t, 0)
			golden(t, project+".json", []byte(dry.stdout))
			if dry.stderr != "" {
				t.Errorf("vbot init --config %s.json wrote to stderr: %s", project, dry.stderr)
			}
			vbot(t, dir, line...).wantCode(t, 0)
			checkRecord(t, filepath.Join(dir, name), dry.stdout)
			goldenTree(t, project, filepath.Join(dir, name))
		})
	}
}

// More bots, of which golden/ has the configuration alone: a dry run gives it back.
func TestMoreBots(t *testing.T) {
	parallel(t)
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(document(t, "golden/more-bots.json")), &all); err != nil {
		t.Fatal(err)
	}
	for i, config := range all {
		dry := here{stdin: bytes.NewReader(config)}.vbot(t, "init", "there", "--config", "-", "--dry-run")
		dry.wantCode(t, 0)
		all[i] = json.RawMessage(dry.stdout)
		if dry.stderr != "" {
			t.Errorf("%s: it said %s", config, dry.stderr)
		}
	}
	got, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "more-bots.json", append(got, '\n'))
}

// A web client takes two terminals.
func TestClientSaysHowToGoOn(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := vbot(t, dir, append([]string{"init", "my bot", "--client-framework", "vanilla"},
		strings.Fields(cascade)...)...)
	r.wantCode(t, 0)
	_, next, _ := strings.Cut(string(r.transcript(dir)), "\nNext, ")
	section(t, "init.txt", "client: what comes next", []byte("Next, "+next))
}

// Every bad combination is refused before anything is touched, and all that is
// wrong is listed at once.
func TestRefusedConfigurations(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ name, args string }{
		{"everything-missing", "--dry-run"},
		{"everything-missing-json", "--dry-run --json"},
		{"mode-missing", "-t webrtc"},
		{"mode-missing-with-a-service", "-t webrtc --stt deepgram"},
		{"cascade-services-missing", "-t webrtc -m cascade --llm openai"},
		{"realtime-service-missing", "-t webrtc -m realtime"},
		{"realtime-in-cascade", cascade + " --realtime openai"},
		{"cascade-in-realtime", "-t webrtc -m realtime --realtime openai --stt deepgram --tts cartesia"},
		{"unknown-everywhere", "-t pigeon -m talk --stt deepgrm --llm gtp --tts x --bot-type phone"},
		{"unknown-transport", cascade + " -t daly"},
		{"web-with-telephony", cascade + " -b web -t twilio"},
		{"video-on-the-phone", cascade + " -t twilio --video tavus --video-input --video-output"},
		{"video-without-a-carrier", "-t websocket -m realtime --realtime openai --video simli --video-input"},
		{"video-input-unseen", "-t webrtc -m realtime --realtime nova_sonic --video-input"},
		{"avatar-without-output", cascade + " --video tavus --no-video-output"},
		{"noise-cancel-without-cloud", cascade + " --enable-noise-cancel --no-deploy-to-cloud"},
		{"livekit-on-the-cloud", "-t livekit -m realtime --realtime openai --deploy-to-cloud"},
		{"livekit-with-noise-cancel", "-t livekit -m realtime --realtime openai --enable-noise-cancel"},
		{
			"livekit-on-the-cloud-with-noise-cancel",
			"-t livekit -m realtime --realtime openai --deploy-to-cloud --enable-noise-cancel",
		},
		{"client-server-alone", cascade + " --client-server vite"},
		{"client-unknown", cascade + " --client-framework angular"},
		{
			"dial-mode-without-transport",
			cascade + " --daily-pstn-mode dial-in --twilio-daily-sip-mode dial-out",
		},
		{"name-bad", cascade + " -n /etc/passwd"},
		{"eval-alone", "--eval"},
		{"client-alone", "--client-framework none"},
		{"name-reserved", cascade + " -n aux.bot"},
		{"name-of-the-cluster", cascade + " -n Kube_System --self-host"},
		{"name-long", cascade + " -n " + strings.Repeat("n", 65)},
		{"values-empty", "--name= -t= --mode= --stt= --llm= --tts="},
		{"config-missing", "--config nowhere.json"},
		{"config-missing-json", "--config nowhere.json --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := vbot(t, dir, append([]string{"init", "there"}, strings.Fields(c.args)...)...)
			r.wantCode(t, 2)
			section(t, "errors/init.txt", c.name, r.transcript(dir))
			if got := filetest.Tree(t, dir); len(got) > 0 {
				t.Errorf("it wrote %v", got)
			}
		})
	}
}

func TestQuickstartTakesNoBotOptions(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := vbot(t, dir, "init", "quickstart", "--recording", "-m", "realtime", "--config", "x.json")
	r.wantCode(t, 2)
	section(t, "errors/init.txt", "quickstart-with-options", r.transcript(dir))
	r = vbot(t, dir, "init", "quickstart", "--update", "--recording")
	r.wantCode(t, 2)
	section(t, "errors/init.txt", "quickstart-update-with-options", r.transcript(dir))
	if r = vbot(t, dir, "init", "quickstart", "--config", "x.json"); r.code != 2 ||
		!strings.Contains(r.stderr, "--config: quickstart takes no bot options") {
		t.Errorf("--config alone: %d, %s", r.code, r.stderr)
	}

	// ./quickstart is a directory like any other.
	vbot(t, dir, append([]string{"init", "./quickstart"}, strings.Fields(cascade)...)...).wantCode(t, 0)
	if _, err := os.Stat(filepath.Join(dir, "quickstart", "server", "bot.py")); err != nil {
		t.Error(err)
	}
}

func TestConfigFileProblems(t *testing.T) {
	parallel(t)
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
		{"wrong-types", `{"transports": "daily", "recording": "no", "mode": 7, "stt_service": ["deepgram"],` +
			` "llm_service": {}, "tts_service": true}`},
		{"a-list-of-other-things", `{"transports": ["daily", 7]}`},
		{"empty-strings", `{"mode": "", "transports": [""], "project_name": ""}`},
		{"nulls", `{"mode": null, "transports": null, "recording": null}`},
		{"client-without-a-framework", `{"mode": "realtime", "generate_client": true}`},
		{"file-against-file", `{"mode": "realtime", "realtime_service": "openai", "stt_service": ` +
			`"deepgram", "transports": ["twilio"], "bot_type": "web"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := here{stdin: strings.NewReader(c.config), dir: dir}.vbot(t, "init", "there", "--config", "-")
			r.wantCode(t, 2)
			section(t, "errors/config.txt", c.name, slices.Concat([]byte(c.config+"\n"), r.transcript(dir)))
		})
	}
}

// A flag beats the file; what of the file it makes inapplicable is left out with
// a note.
func TestFlagsBeatTheFile(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ name, config, args string }{
		{
			"services-of-the-other-mode",
			`{"mode": "cascade", "transports": ["daily"], "stt_service": "deepgram", "llm_service": ` +
				`"openai", "tts_service": "cartesia"}`,
			"--mode realtime --realtime openai",
		},
		{"bot-type", `{"bot_type": "web", "mode": "realtime", "realtime_service": "openai", "transports": ` +
			`["daily"]}`, "-t twilio"},
		{"a-feature", `{"recording": true, "mode": "realtime", "realtime_service": "openai", "transports": ` +
			`["daily"]}`, "--no-recording --eval"},
		{"noise-cancel", `{"enable_noise_cancel": true, "mode": "realtime", "realtime_service": "openai", ` +
			`"transports": ["daily"]}`, "--no-deploy-to-cloud"},
		{
			"noise-cancel-wanted",
			`{"deploy_to_cloud": false, "mode": "realtime", "realtime_service": "openai", "transports": ` +
				`["daily"]}`,
			"--enable-noise-cancel",
		},
		{"video", `{"video_service": "tavus", "video_input": true, "mode": "realtime", "realtime_service": ` +
			`"openai", "transports": ["daily"]}`, "-t twilio"},
		{"avatar", `{"video_service": "tavus", "mode": "realtime", "realtime_service": "openai", ` +
			`"transports": ["daily"]}`, "--no-video-output"},
		{"avatar-wanted", `{"video_output": false, "mode": "realtime", "realtime_service": "openai", ` +
			`"transports": ["daily"]}`, "--video tavus"},
		{
			"model-without-sight",
			`{"video_input": true, "mode": "realtime", "realtime_service": "openai", "transports": ` +
				`["daily"]}`,
			"--realtime grok",
		},
		{
			"transport-off-the-cloud",
			`{"deploy_to_cloud": true, "enable_noise_cancel": true, "mode": "realtime", ` +
				`"realtime_service": "openai", "transports": ["daily"]}`,
			"-t livekit",
		},
		{"client", `{"client_framework": "react", "client_server": "nextjs", "mode": "realtime", ` +
			`"realtime_service": "openai", "transports": ["daily"]}`, "-t twilio"},
		{"telephony-wanted", `{"video_service": "tavus", "mode": "realtime", "realtime_service": "openai", ` +
			`"transports": ["daily"]}`, "-b telephony"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := here{stdin: strings.NewReader(c.config), dir: dir}.vbot(t,
				append([]string{"init", "there", "--config", "-", "--dry-run"}, strings.Fields(c.args)...)...)
			r.wantCode(t, 0)
			section(t, "config.txt", c.name, slices.Concat([]byte(c.config+"\n"), r.transcript(dir)))
		})
	}
}

func TestConfigFileForms(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	const config = "\ufeff" + `{"mode": "realtime", "realtime_service": "openai", "transports": ["daily", ` +
		`"rtc_hosted"], "recording": null}`
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
	long := here{
		stdin: strings.NewReader(`{"project_name": "` + strings.Repeat("x", maxConfig) + `"}`),
		dir:   dir,
	}.vbot(t, "init", "-c", "-")
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

// The directory decides the name in a dry run too.
func TestTargetForms(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "parlour")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		".":           "parlour",
		"":            "parlour",
		"sub/deep er": "deep er",
		"..":          filepath.Base(filepath.Dir(dir)),
	} {
		args := append([]string{"init"}, strings.Fields(cascade+" --dry-run")...)
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
	parallel(t)
	dir := t.TempDir()
	filetest.Link(t, "elsewhere", filepath.Join(dir, "AGENTS.md"))
	r := vbot(t, dir, "init", ".", "--no-input")
	r.wantCode(t, 0)
	if !strings.Contains(r.stderr, "kept AGENTS.md, which is a link, unreadable or larger than 1 MiB\n") {
		t.Errorf("it said %s", r.stderr)
	}
}

// anyBot is one of the configurations with other features, chosen by rng.
func anyBot(t testing.TB, cat *catalog.Catalog, rng *rand.Rand) bot.Config {
	all := configurations(t)
	for {
		said, problems := bot.ParseConfig("any", all[rng.IntN(len(all))])
		for _, o := range bot.Options {
			if o.Toggle != nil && rng.IntN(2) == 0 {
				said[o] = bot.Value{On: rng.IntN(2) == 0}
			}
		}
		cfg, _, wrong := bot.Resolve(cat, said, "")
		if len(problems)+len(wrong) == 0 {
			return cfg
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

// Every option, set by its flag, by a file and in the wizard, comes back in the
// dry run and in the report, and changes what is written.
func TestEveryOption(t *testing.T) {
	parallel(t)
	cat := catalog.New()
	for _, o := range bot.Options {
		values := samples(cat, o)
		for i, value := range values {
			said, want := bed(t, cat, o, value)
			whole, err := json.MarshalIndent(want, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			for way, got := range map[string]string{
				"flag":   dryRun(t, "", typed(said)...),
				"file":   dryRun(t, string(whole), "--config", "-"),
				"wizard": wizardAnswers(t, cat, want),
			} {
				if got != string(whole)+"\n" {
					t.Errorf("%s by %s is %s and not %s", o.Key, way, got, whole)
				}
			}
			if o == bot.OptMode {
				continue // each mode has services of its own
			}
			said[o] = append(values, bot.Value{On: o.On})[(i+1)%(len(values)+1)]
			if said[o].Text == "" && o.Toggle == nil {
				delete(said, o)
			}
			other, _, problems := bot.Resolve(cat, said, "there")
			if len(problems) == 0 && sameFiles(t, cat, want, other) {
				t.Errorf("%s changes no file", o.Key)
			}
		}
	}
}

// samples are values of the option: a toggle that is not as by default, each of a
// few words, two services.
func samples(cat *catalog.Catalog, o *bot.Option) (values []bot.Value) {
	switch {
	case o.Toggle != nil:
		return []bot.Value{{On: !o.On}}
	case o.List != nil:
		return []bot.Value{{List: []string{"rtc_hosted"}}, {List: []string{"tel_b", "websocket"}}}
	case o.Kind != "":
		ids := catalog.IDs(cat.List(o.Kind))
		return []bot.Value{{Text: ids[0]}, {Text: ids[len(ids)-1]}}
	case o.Words != nil:
		for _, w := range o.Words {
			if w.Name != bot.ClientNone { // null in the dry run
				values = append(values, bot.Value{Text: w.Name})
			}
		}
		return values
	}
	if o == bot.OptLanguage {
		return []bot.Value{{Text: "de"}}
	}
	return []bot.Value{{Text: "Another name"}}
}

// bed is a bot that takes the value: what is said for it, and what comes of it.
func bed(t *testing.T, cat *catalog.Catalog, o *bot.Option, value bot.Value) (bot.Values, bot.Config) {
	t.Helper()
	realtime := bot.Values{
		bot.OptTransports: {List: []string{"websocket"}},
		bot.OptMode:       {Text: bot.ModeRealtime},
		bot.OptRealtime:   {Text: "openai"},
	}
	react, pstn, sip := bot.Quickstart(), bot.Quickstart(), bot.Quickstart()
	react[bot.OptClient] = bot.Value{Text: bot.ClientReact}
	pstn[bot.OptTransports], pstn[bot.OptPSTNMode] = bot.Value{
		List: []string{"daily_pstn"},
	}, bot.Value{Text: bot.ModeDialIn}
	sip[bot.OptTransports], sip[bot.OptSIPMode] = bot.Value{
		List: []string{"twilio_daily_sip"},
	}, bot.Value{Text: bot.ModeDialIn}
	for _, said := range []bot.Values{bot.Quickstart(), realtime, react, pstn, sip} {
		said[o] = value
		if cfg, _, problems := bot.Resolve(cat, said, "there"); len(problems) == 0 {
			return said, cfg
		}
	}
	t.Fatalf("%s: no bot of this test takes %+v", o.Key, value)
	return nil, bot.Config{}
}

// typed are the flags that say the same.
func typed(said bot.Values) (args []string) {
	for o, a := range said {
		switch {
		case o.Toggle != nil:
			args = append(args, fmt.Sprintf("--%s=%v", o.Flag, a.On))
		case o.List != nil:
			for _, word := range a.List {
				args = append(args, "--"+o.Flag, word)
			}
		default:
			args = append(args, "--"+o.Flag, a.Text)
		}
	}
	return args
}

// dryRun is what a dry run prints.
func dryRun(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &cli.Env{
		Stdin:  strings.NewReader(stdin),
		Stdout: &stdout,
		Stderr: &stderr,
		Dir:    t.TempDir(),
		Getenv: func(string) string { return "" },
	}
	if code := run(context.Background(), append([]string{"init", "there", "--dry-run"}, args...),
		a); code != 0 {
		t.Errorf("%q: exit code %d, %s", args, code, &stderr)
	}
	return stdout.String()
}

// wizardAnswers is the configuration that the wizard reports when it is answered
// so that want comes of it.
func wizardAnswers(t *testing.T, cat *catalog.Catalog, want bot.Config) string {
	t.Helper()
	in, person, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer person.Close()
	answers := map[string]string{"How do you want to start?": "scaffold", "Proceed?": "1"}
	said := want.Values()
	toggles := map[string][]string{bot.AskWhere: nil, bot.AskOptions: nil}
	for _, o := range bot.Options {
		words := said[o].List
		switch {
		case o.Toggle != nil:
			if said[o].On {
				toggles[o.Ask] = append(toggles[o.Ask], o.Label)
			}
			continue
		case o.List == nil:
			words = []string{cmp.Or(said[o].Text, o.None, bot.ClientNone)}
		}
		answers[o.Ask] = cmp.Or(strings.Join(words, ","), "none")
	}
	for ask, labels := range toggles {
		answers[ask] = cmp.Or(strings.Join(labels, ","), "1")
	}
	asked := &asker{answers: answers, person: person}
	a := &cli.Env{Stdin: in, Stderr: asked, Getenv: func(string) string { return "" }, Dir: t.TempDir()}
	jobEnv := scaffold.Env{Version: version, Catalog: catalog.New(), Path: a.Path, Note: a.Note}
	result, err := (&initRun{job: scaffold.Job{Target: "there"}}).ask(context.Background(), a, jobEnv)
	if err != nil {
		t.Fatalf("the wizard: %v, after\n%s", err, &asked.shown)
	}
	written, err := json.Marshal(cli.JSONOf(result))
	if err != nil {
		t.Fatal(err)
	}
	var report struct{ Config json.RawMessage }
	if err := json.Unmarshal(written, &report); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, report.Config, "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// An asker answers each question as soon as it is asked, and leaves at one that it
// has no answer to.
type asker struct {
	answers map[string]string
	person  io.WriteCloser
	shown   bytes.Buffer
	seen    int
}

func (a *asker) Write(b []byte) (int, error) {
	a.shown.Write(b)
	text := "\n" + a.shown.String()[a.seen:]
	if !strings.HasSuffix(text, ": ") && !strings.HasSuffix(text, "] ") {
		return len(b), nil
	}
	a.seen = a.shown.Len()
	for question, said := range a.answers {
		if _, shown, ok := strings.Cut(text, "\n"+question); ok {
			// What an avatar takes along is not offered.
			words := slices.DeleteFunc(strings.Split(said, ","),
				func(w string) bool { return question == bot.AskOptions && !strings.Contains(shown, w) })
			fmt.Fprintln(a.person, cmp.Or(strings.Join(words, ","), "none"))
			return len(b), nil
		}
	}
	a.person.Close()
	return len(b), nil
}

// sameFiles says whether both give the same files.
func sameFiles(t *testing.T, cat *catalog.Catalog, a, b bot.Config) bool {
	t.Helper()
	var all [2]map[string][]byte
	for i, cfg := range []bot.Config{a, b} {
		files, err := render.New(cfg, cat, version).Files()
		if err != nil {
			t.Fatal(err)
		}
		all[i] = files
	}
	return reflect.DeepEqual(all[0], all[1])
}

// A configuration file full of unknown transports is refused in a few lines.
func TestTooManyTransports(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	var transports []string
	for i := range 90000 {
		transports = append(transports, fmt.Sprintf(`"x%d"`, i))
	}
	filetest.Put(t, dir, "bot.json", `{"transports":[`+strings.Join(transports, ",")+`]}`)
	r := vbot(t, dir, "init", "target", "--config", "bot.json")
	r.wantCode(t, 2)
	if !strings.Contains(r.stderr, "90000 transports; the maximum is 100\n") ||
		strings.Contains(r.stderr, "unknown transport") {
		t.Errorf("%d bytes on stderr: %.500s", len(r.stderr), r.stderr)
	}
	filetest.Put(t, dir, "most.json",
		`{"mode": "realtime", "realtime_service": "openai", "transports":[`+strings.Repeat(`"daily",`, 99)+
			`"daily"]}`)
	vbot(t, dir, "init", "target", "--config", "most.json", "--dry-run").wantCode(t, 0)
	// So is one full of unknown keys.
	filetest.Put(t, dir, "keys.json",
		`{`+strings.ReplaceAll(strings.Join(transports[:60000], ": 1, "), "x", "y")+`: 1}`)
	r = vbot(t, dir, "init", "target", "--config", "keys.json")
	r.wantCode(t, 2)
	if lines := strings.Count(r.stderr, "\n"); lines > 120 ||
		!strings.Contains(r.stderr, ": there are more problems\n") {
		t.Errorf("%d lines on stderr: %.500s", lines, r.stderr)
	}
}

// What `pipecat init` calls otherwise is taken, and a sentence says for what.
func TestNamesOfPipecatInit(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "peer.json",
		`{"project_name": "x", "bot_type": "web", "transports": ["daily"], "mode": "realtime",
 "realtime_service": "openai_realtime", "enable_krisp": true, "generate_client": false,
 "client_framework": null}`)
	filetest.Put(t, dir, "both.json",
		`{"transports": ["daily"], "mode": "realtime", "realtime_service": "openai_realtime", `+
			`"client_framework": "react", "generate_client": false}`)
	filetest.Put(t, dir, "twice.json",
		`{"enable_krisp": true, "enable_noise_cancel": true, "generate_client": "yes"}`)
	var all []byte
	for _, args := range []string{
		"x --config peer.json --dry-run",
		"x --config peer.json --dry-run --no-enable-krisp --no-context-hub --client-framework vanilla",
		"x --config both.json --dry-run", "x --config twice.json --no-input", "x --context-hub",
		"quickstart --enable-krisp", "x --enable-krisp=perhaps",
	} {
		all = append(all, vbot(t, dir, append([]string{"init"}, strings.Fields(args)...)...).
			transcript(dir)...)
	}
	section(t, "config.txt", "pipecat-init", all)
}

// acme is the file of a service of one's own. docs/own-services.md has it, too.
func acme(t testing.TB) string { return document(t, "internal/catalog/testdata/stt/acme.py") }

const withAcme = "-t webrtc -m cascade --stt acme --llm openai --tts cartesia"

// A service of one's own is listed, offered, taken and written like vbot's.
func TestOwnService(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "services/stt/acme.py", acme(t))
	filetest.Put(t, dir, "services/stt/__pycache__/acme.cpython-312.pyc", "\x00")
	filetest.Put(t, dir, "services/stt/__init__.py", "")
	filetest.Put(t, dir, "services/stt/._acme.py", "\x00") // of macOS
	filetest.Put(t, dir, "services/README.md", "Services of Acme\n")
	filetest.Put(t, dir, "services/tests/check.py", "assert True\n")
	filetest.Put(t, dir, "services/venv/lib/acme/acme.py", acme(t))
	filetest.Put(t, dir, "bot.json",
		`{"transports": ["smallwebrtc"], "mode": "cascade", "stt_service": "acme_stt", "llm_service": `+
			`"openai", "tts_service": "cartesia"}`)

	r := vbot(t, dir, append([]string{"init", "there", "--catalog", "services"},
		strings.Fields(withAcme)...)...)
	r.wantCode(t, 0)
	section(t, "own.txt", "written", r.transcript(dir))
	known := strings.Fields(strings.Replace(withAcme, "acme", "deepgram", 1))
	vbot(t, dir, append([]string{"init", "other"}, known...)...).wantCode(t, 0)
	tree := filetest.Tree(t, dir)
	for _, name := range []string{"server/bot.py", "server/.env.example", "server/pyproject.toml"} {
		section(t, "own.txt", name, []byte(besides(tree["there/"+name], tree["other/"+name])))
	}
	filetest.Put(t, dir, "services/stt/acme.py",
		strings.ReplaceAll(acme(t), "\n", "\r\n")) // as Git checks it out on Windows
	again := here{env: []string{"VBOT_CATALOG=services"}, dir: dir}.vbot(t, "init", "there", "--config",
		"bot.json", "--json")
	again.wantCode(t, 0)
	if !strings.Contains(again.stdout, `"stt_service": "acme"`) || strings.Contains(again.stdout, "created") {
		t.Errorf("the same from VBOT_CATALOG and a file: %s", again.stdout)
	}

	var shown bytes.Buffer
	for _, line := range []string{
		"init --list-options --catalog services", "init --describe-options=stt --catalog services",
		"init --describe-options=stt --json --catalog services",
		"schema config --catalog services", "completion words -- init --catalog services --stt ac",
		"completion words -- init --catalog=services --stt=acme_s",
		"completion words -- init --stt ac", "completion words -- init --catalog nowhere --stt openai_r",
		"completion words -- init --catalog s",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		r.wantCode(t, 0)
		shown.WriteString("$ vbot " + line + "\n")
		found := false
		for text := range strings.Lines(r.stdout) {
			if strings.Contains(strings.ToLower(text), "acme") || !strings.Contains(line, "services") {
				shown.WriteString(text)
				found = true
			}
		}
		if !found && strings.Contains(line, "services") {
			t.Errorf("vbot %s does not show it:\n%s", line, r.stdout)
		}
	}
	section(t, "own.txt", "shown", shown.Bytes())
	ids := catalog.IDs(catalog.New().List(catalog.KindSTT))
	list := vbot(t, dir, "init", "--list-options", "--catalog", "services").stdout
	if !strings.Contains(list, `"`+ids[len(ids)-1]+"\",\n    \"acme\"\n  ]") {
		t.Errorf("it does not come after vbot's own: %s", list)
	}
}

// besides are the lines of text that other lacks.
func besides(text, other string) string {
	has := map[string]bool{}
	for line := range strings.Lines(other) {
		has[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !has[line] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// faultyServices are files of services, each with what is wrong with it.
func faultyServices(acme string) map[string]string {
	return map[string]string{
		"stt/acme.py": strings.NewReplacer("# id: acme", "# id: Acme", "names: acme, acme_stt",
			"names: acme, deepgram, stt_zz", "required url", "needed url", "# host", "# hots").Replace(acme),
		"stt/bom.py":   "\ufeff" + acme,
		"stt/cr.py":    strings.ReplaceAll(acme, "\n", "\r"),
		"stt/latin.py": strings.Replace(acme, "Acme Speech", "Acm\xe9", 1),
		"stt/tab.py":   strings.Replace(acme, "    stt", "\tstt", 1),
		"stt/quote.py": "# id: quote\n# label: \"Quote\"\n# keys: <% .Slug %>\n# names: quote\n# names: " +
			"quote\n",
		"stt/code.py": "# id: code\n# label: Code\n# names: code\n# env: CODE_URL optional url: " +
			"address\nimport os\nimport numpy as np\n\nfrom .parts import Part\nfrom code import Code\n\nX " +
			"= 1\n\n\ndef build(key: str, language: str) -> Code:\n    stt = " +
			"Code(os.environ[\"CODE_KEY\"])\n    stt.x(language)  # when: raining\n    return stt\n",
		"stt/returns.py": "# id: returns\n# label: Returns\n# names: returns\nfrom a import A\n\n\ndef " +
			"build() -> A:\n    return A()\n",
		"stt/empty.py":    "",
		"stt/large.py":    "#" + strings.Repeat("#", 64<<10),
		"stt/twin.py":     strings.ReplaceAll(acme, "# id: acme\n", "# id: twin\n"),
		"sst/other.py":    acme,
		"other.py":        acme,
		"a/stt/nested.py": acme,
		"video/face.py": "# id: face\n# id: face\n# label: Face\n# names: face\n# env: FACE_KEY required " +
			"secret libary: key\n# host: https://a\n# host: a:8x\n# host: a:1-2/udp\n# python: 3.12\n# " +
			"extras: face]\n# model: 5 MB, 0 cores\nfrom face import Face\n\n\ndef build() -> Face:\n    " +
			"video = Face()\n    return video\n",
	}
}

// Whatever is wrong with the folder is said, with file and line, all at once, before
// anything else is done: of a listing, too. Nothing is written.
func TestFaultyCatalog(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	for name, text := range faultyServices(acme(t)) {
		filetest.Put(t, dir, "services/"+name, text)
	}
	filetest.Put(t, dir, "empty/README.md", "nothing\n")
	filetest.Put(t, dir, "file", "no folder\n")
	filetest.Put(t, dir, "good/stt/acme.py", acme(t))
	filetest.Put(t, dir, "bad/stt", "a file\n")
	if err := os.MkdirAll(filepath.Join(dir, "bad", "llm", "folder.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := filetest.Tree(t, dir)
	first := vbot(t, dir, strings.Fields("init there --catalog services "+withAcme)...)
	first.wantCode(t, 2)
	all := bytes.NewBuffer(first.transcript(dir))
	for _, line := range []string{
		"init --catalog services --list-options", "init --describe-options --catalog services",
		"init there --no-input --catalog services", "schema config --catalog services",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		if r.wantCode(t, 2); r.stderr != first.stderr || r.stdout != "" {
			t.Errorf("vbot %s says %s%s", line, r.stdout, r.stderr)
		}
	}
	for _, line := range []string{
		"init there --catalog bad", "init --list-options --catalog bad --json",
		"init there --catalog nowhere " + withAcme, "init there --catalog file", "init there --catalog empty",
		"init there --catalog=", "init there --catalog good --list-options --catalog nowhere",
		"init --catalog",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		r.wantCode(t, 2)
		all.Write(r.transcript(dir))
	}
	r := here{env: []string{"VBOT_CATALOG=nowhere"}, dir: dir}.vbot(t, "init", "quickstart")
	r.wantCode(t, 2)
	all.WriteString("VBOT_CATALOG=nowhere\n")
	all.Write(r.transcript(dir))
	r = here{
		stdin: strings.NewReader(`{"transports": ["daily"], "mode": "cascade", "stt_service": "acme", ` +
			`"llm_service": "openai", "tts_service": "cartesia"}`),
		dir: dir,
	}.vbot(t, "init", "there", "--config", "-")
	r.wantCode(t, 2)
	all.Write(r.transcript(dir))
	section(t, "own.txt", "faults", all.Bytes())
	if !equalTrees(before, filetest.Tree(t, dir)) {
		t.Error("something was written")
	}
	// Help and version need no catalog.
	vbot(t, dir, "init", "--catalog", "services", "--help").wantCode(t, 0)
	vbot(t, dir, "--version", "init", "--catalog", "services").wantCode(t, 0)
}

// Links lead nowhere but into the folder itself, and only files are read.
func TestCatalogStaysInItsFolder(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" {
		skip(t, "links need privileges there")
	}
	dir := t.TempDir()
	filetest.Put(t, dir, "secret.py", acme(t))
	filetest.Put(t, dir, "services/.data/acme.py", acme(t))
	filetest.Put(t, dir, "services/stt/README.md", "")
	filetest.Link(t, "../../secret.py", filepath.Join(dir, "services", "stt", "leak.py"))
	filetest.Link(t, "../.data/acme.py", filepath.Join(dir, "services", "stt", "acme.py"))
	filetest.Link(t, "/dev/zero", filepath.Join(dir, "services", "stt", "zero.py"))
	if err := exec.Command("mkfifo", filepath.Join(dir, "services", "stt", "pipe.py")).Run(); err != nil {
		skip(t, err)
	}
	r := vbot(t, dir, "init", "--list-options", "--catalog", "services")
	r.wantCode(t, 2)
	if want := "error: services/stt/leak.py: path escapes from parent\nerror: services/stt/pipe.py: " +
		"expected a file of at most 65536 bytes\nerror: services/stt/zero.py: path escapes from " +
		"parent\n"; r.stderr != want {
		t.Errorf("got %s", r.stderr)
	}
}

// The command line that the wizard prints has the folder.
func TestCommandLineWithACatalog(t *testing.T) {
	parallel(t)
	dir, folder := t.TempDir(), "my services"
	filetest.Put(t, dir, folder+"/stt/acme.py", acme(t))
	a := &cli.Env{Dir: dir, Getenv: func(string) string { return "" }}
	cat, err := openCatalog(a, &folder)
	if err != nil {
		t.Fatal(err)
	}
	job := scaffold.Job{Target: "there", Bot: bot.Quickstart(), CatalogDir: folder}
	job.Bot[bot.OptSTT] = bot.Value{Text: "acme"}
	want := "vbot init there --name vbot-quickstart -t smallwebrtc -t daily -m cascade --stt acme --llm " +
		"openai --tts cartesia --catalog " + report.ShellQuote(folder)
	if got := job.CommandLine(scaffold.Env{Catalog: cat, Path: a.Path}); got != want {
		t.Errorf("the command line is %s", got)
	}
}

// initArgs scaffolds a small bot into the directory `target`.
func initArgs(more ...string) []string {
	return append(append([]string{"init", "target"}, strings.Fields(cascade)...), more...)
}

// conflictCases are the cases of TestConflicts.
var conflictCases = []struct {
	name, args string
	prepare    func(t *testing.T, dir string)
}{
	{"files", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "target/README.md", "mine")
		filetest.Put(t, dir, "target/server/bot.py", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
	}},
	{
		"files-json", "--json",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/README.md", "mine") },
	},
	{"empty-file", "", func(t *testing.T, dir string) { filetest.Put(t, dir, "target/.gitignore", "") }},
	{
		"file-for-a-directory", "",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/server", "mine") },
	},
	{
		"file-for-a-directory-kept", "--keep-existing",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/server", "mine") },
	},
	{
		"directory-for-a-file", "",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/README.md/mine", "mine") },
	},
	{
		"directory-for-a-file-kept", "--keep-existing",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/README.md/mine", "mine") },
	},
	{"link-for-a-file", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside.md", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "../outside.md", filepath.Join(dir, "target/README.md"))
	}},
	{"link-for-a-directory", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside/mine", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "../outside", filepath.Join(dir, "target/server"))
	}},
	{"link-for-a-directory-kept", "--keep-existing", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside/mine", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, filepath.Join(dir, "outside"), filepath.Join(dir, "target/server"))
	}},
	{"link-for-a-file: one that leads nowhere", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "nowhere", filepath.Join(dir, "target/README.md"))
	}},
	{"directory-and-link", "", func(t *testing.T, dir string) { // of which only the link could be kept
		filetest.Put(t, dir, "target/README.md/mine", "mine")
		filetest.Put(t, dir, "outside.py", "mine")
		filetest.Put(t, dir, "target/server/notes.txt", "mine")
		filetest.Link(t, "../../outside.py", filepath.Join(dir, "target/server/bot.py"))
	}},
	{"link-for-a-guide-to-replace", "--overwrite-guide", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside.md", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "../outside.md", filepath.Join(dir, "target/AGENTS.md"))
	}},
	{"target-is-a-file", "", func(t *testing.T, dir string) { filetest.Put(t, dir, "target", "mine") }},
	{
		"target-is-a-link-to-nowhere", "",
		func(t *testing.T, dir string) { filetest.Link(t, "nowhere", filepath.Join(dir, "target")) },
	},
}

// Whatever stands in the way, a run refuses with all of it listed, changes
// nothing, and says what to do.
func TestConflicts(t *testing.T) {
	parallel(t)
	for _, c := range conflictCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			before := filetest.Listing(t, dir)
			r := vbot(t, dir, initArgs(strings.Fields(c.args)...)...)
			r.wantCode(t, 1)
			result, _, _ := strings.Cut(c.name, ": ")
			section(t, "errors/conflict.txt", result, r.transcript(dir))
			if after := filetest.Listing(t, dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// --keep-existing keeps every file and link that exists, and writes the rest.
func TestKeepExisting(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/server/bot.py", "mine")
	filetest.Put(t, dir, "target/notes.txt", "mine")
	filetest.Put(t, dir, "outside.md", "mine")
	filetest.Link(t, "../outside.md", filepath.Join(dir, "target/README.md"))
	r := vbot(t, dir, initArgs("--keep-existing", "--json")...)
	r.wantCode(t, 0)
	section(t, "init.txt", "keep-existing", r.transcript(dir))
	tree := filetest.Tree(t, dir)
	for _, name := range []string{"target/server/bot.py", "target/notes.txt", "outside.md"} {
		if tree[name] != "mine" {
			t.Errorf("%s holds %q", name, tree[name])
		}
	}
	if tree["target/README.md"] != "link to ../outside.md" || tree["target/server/pyproject.toml"] == "" {
		t.Errorf("README.md: %s", tree["target/README.md"])
	}
	again := vbot(t, dir, initArgs("--keep-existing")...)
	again.wantCode(t, 0)
	if !equalTrees(tree, filetest.Tree(t, dir)) {
		t.Error("the second run changed something")
	}
}

// A dry run needs no lock, as it writes nothing.
func TestDryRunBesideARun(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	target, err := project.Lock(filepath.Join(dir, "target"))
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	r := vbot(t, dir, initArgs("--dry-run")...)
	if r.wantCode(t, 0); r.stderr != "" {
		t.Errorf("it said %s", r.stderr)
	}
}

// A dry run says what a run would do, and writes nothing, ever.
func TestDryRunBesideFiles(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/README.md", "mine")
	filetest.Put(t, dir, "target/AGENTS.md", "mine")
	before := filetest.Listing(t, dir)
	for name, args := range map[string][]string{
		"dry-run-refuses": initArgs("--dry-run"),
		"dry-run-keeps":   initArgs("--dry-run", "--keep-existing"),
		"dry-run-fails": append([]string{"init", "target/README.md"},
			strings.Fields(cascade+" --dry-run -n x")...),
	} {
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		section(t, "init.txt", name, r.transcript(dir))
	}
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// Guides.

func TestGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := vbot(t, dir, "init", "target")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides", r.transcript(dir))
	goldenTree(t, "guides", filepath.Join(dir, "target"))
	again := vbot(t, dir, "init", "target", "--json")
	again.wantCode(t, 0)
	section(t, "init.txt", "guides again", again.transcript(dir))
}

const stamp = "<!-- vbot %s wrote this; `vbot init --overwrite-guide` brings it up to date. -->\n"

// Existing guides are kept, whoever wrote them, and the person is told how to
// replace them.
func TestExistingGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/AGENTS.md", "from long ago\n"+strings.Replace(stamp, "%s", "0.0.9", 1))
	filetest.Put(t, dir, "target/AGENT_IMPORT.md", "my own")
	filetest.Put(t, dir, "target/GETTING_STARTED.md",
		"from the future\n"+strings.Replace(stamp, "%s", "99.0.0", 1))
	before := filetest.Listing(t, dir)
	r := vbot(t, dir, "init", "target")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides kept", r.transcript(dir))
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	r = vbot(t, dir, "init", "target", "--overwrite-guide")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides replaced", r.transcript(dir))
	goldenTree(t, "guides", filepath.Join(dir, "target"))
	if got := filetest.Listing(t, dir); strings.Contains(got, ".vbot-") {
		t.Errorf("something was left behind:\n%s", got)
	}
}

// The last line of a guide names the command that replaces it, as a coding agent would
// run it: in the guide's directory, without a terminal.
func TestCommandInGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, "init", ".").wantCode(t, 0)
	for name, guide := range filetest.Tree(t, dir) {
		_, command, _ := strings.Cut(guide[strings.LastIndex(guide, "<!-- vbot "):], "`vbot ")
		command, _, _ = strings.Cut(command, "`")
		filetest.Put(t, dir, name, "old")
		vbot(t, dir, strings.Fields(command)...).wantCode(t, 0)
		if filetest.Tree(t, dir)[name] != guide {
			t.Errorf("vbot %s did not replace %s", command, name)
		}
	}
}

// The command that replaces a guide is one that a shell takes, whatever the directory is called.
func TestCommandForAGuide(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "my bot/AGENTS.md", "mine")
	r := vbot(t, dir, "init", "my bot", "--no-input")
	if r.wantCode(t, 0); !strings.Contains(r.stderr,
		"to replace it: vbot init --no-input --overwrite-guide "+
			report.ShellQuote(filepath.Join(dir, "my bot"))+"\n") {
		t.Errorf("it said %s", r.stderr)
	}
}

// An agent that follows the guide to add an option to an edited bot gets all of it, and where
// its edits are in the way, both between markers.
func TestOptionsChangedAsTheGuideSays(t *testing.T) {
	parallel(t)
	for edit, code := range map[string]int{"# mine\n": 0, "": 1} {
		dir := t.TempDir()
		vbot(t, dir, append([]string{"init", "."}, strings.Fields(cascade)...)...).wantCode(t, 0)
		tree := filetest.Tree(t, dir)
		_, section, _ := strings.Cut(tree["AGENTS.md"], "## Change the options\n")
		_, command, _ := strings.Cut(section, "`vbot ")
		command, _, _ = strings.Cut(command, "`")
		mine := strings.Replace(tree["server/bot.py"], "\n    }\n    await", "\n    }  # mine\n    await", 1)
		if code == 0 {
			mine = tree["server/bot.py"] + edit
		}
		filetest.Put(t, dir, "server/bot.py", mine)
		vbot(t, dir, strings.Fields(command)...).wantCode(t, code)
		text := filetest.Tree(t, dir)["server/bot.py"]
		if code == 1 {
			vbot(t, dir, append(strings.Fields(command), "--conflict-markers")...).wantCode(t, 1)
			text = filetest.Tree(t, dir)["server/bot.py"]
			if !strings.Contains(text, "\n<<<<<<< yours\n") {
				t.Errorf("bot.py has no markers:\n%s", text)
			}
		}
		if tree := filetest.Tree(t,
			dir); !strings.Contains(text, "\"eval\": lambda") || !strings.Contains(text, edit) ||
			tree["server/evals/starter_text.yaml"] == "" {
			t.Errorf("after the update:\n%s\n%s", filetest.Listing(t, dir), text)
		}
	}
}

// Who has a bot needs no guide to get started.
func TestGuidesBesideABot(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/server/bot.py", "mine")
	filetest.Put(t, dir, "target/GETTING_STARTED.md", "mine")
	r := vbot(t, dir, "init", "target", "--overwrite-guide")
	r.wantCode(t, 0)
	section(t, "init.txt", "guides beside a bot", r.transcript(dir))
	if got := filetest.Tree(t, filepath.Join(dir, "target"))["GETTING_STARTED.md"]; got != "mine" {
		t.Errorf("GETTING_STARTED.md holds %q", got)
	}
}

// A scaffold keeps existing guides, too, and they are never a conflict.
func TestScaffoldBesideGuides(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/AGENTS.md", "my own")
	filetest.Put(t, dir, "target/GETTING_STARTED.md", "my own")
	r := vbot(t, dir, initArgs()...)
	r.wantCode(t, 0)
	section(t, "init.txt", "bot beside guides", r.transcript(dir))
	vbot(t, dir, initArgs("--overwrite-guide")...).wantCode(t, 0)
	tree := filetest.Tree(t, filepath.Join(dir, "target"))
	if tree["AGENTS.md"] == "my own" || tree["GETTING_STARTED.md"] != "my own" {
		t.Errorf("AGENTS.md: %.20q, GETTING_STARTED.md: %q", tree["AGENTS.md"], tree["GETTING_STARTED.md"])
	}
}

func BenchmarkQuickstartTree(b *testing.B) { benchmarkTree(b, bot.Quickstart()) }

func BenchmarkReactTree(b *testing.B) {
	said := bot.Quickstart()
	said[bot.OptTransports] = bot.Value{List: []string{"smallwebrtc"}}
	said[bot.OptClient] = bot.Value{Text: bot.ClientReact}
	said[bot.OptClientServer] = bot.Value{Text: bot.ServerVite}
	benchmarkTree(b, said)
}

func benchmarkTree(b *testing.B, said bot.Values) {
	cat := catalog.New()
	cfg, _, _ := bot.Resolve(cat, said, "")
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		files, err := render.New(cfg, cat, version).Files()
		if err != nil {
			b.Fatal(err)
		}
		writeProject(b, filepath.Join(dir, "bot"), files)
		b.StopTimer()
		os.RemoveAll(filepath.Join(dir, "bot"))
		b.StartTimer()
	}
}

// A directory whose name is nearly that of the quickstart is one's own if it is there.
func TestDirectoryLikeTheQuickstart(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, "init", "quickstar").wantCode(t, 2)
	if err := os.Mkdir(filepath.Join(dir, "quickstar"), 0o755); err != nil {
		t.Fatal(err)
	}
	vbot(t, dir, "init", "quickstar").wantCode(t, 0)
	if tree := filetest.Tree(t, dir); len(tree) != 3 || tree["quickstar/GETTING_STARTED.md"] == "" {
		t.Errorf("it wrote %d files", len(tree))
	}
}

// A server for a client that the command line drops is refused, as is one without a client.
func TestServerOfADroppedClient(t *testing.T) {
	parallel(t)
	config := `{"client_framework": "react", "mode": "realtime", "realtime_service": "openai", ` +
		`"transports": ["daily"]}`
	r := here{stdin: strings.NewReader(config)}.vbot(t, "init", "there", "--config", "-", "--dry-run", "-t",
		"twilio", "--client-server", "nextjs")
	if r.wantCode(t, 2); !strings.Contains(r.stderr, "needs a web client") {
		t.Errorf("it said %s", r.stderr)
	}
}
