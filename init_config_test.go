package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/filetest"
	"vbot/internal/render"
	"vbot/internal/scaffold"
	"vbot/internal/system"
)

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
	long := inProcess{
		stdin: strings.NewReader(`{"project_name": "` + strings.Repeat("x", maxConfig) + `"}`),
		dir:   dir,
	}.vbot(t, "init", "-c", "-")
	long.wantCode(t, 2)
	if !strings.Contains(long.stderr, "larger than") {
		t.Errorf("a huge file: %s", long.stderr)
	}
	vbot(t, dir, "init", "there", "--config", ".").wantCode(t, 2)
}

// The message about a locale, or about the name of a language, suggests the right code.
func TestLanguageThatWasMeant(t *testing.T) {
	parallel(t)
	for typed, meant := range map[string]string{
		"en_US.UTF-8": "en-US", "pt_BR.utf8": "pt-BR", "de_DE@euro": "de-DE", "sr_RS.UTF-8@latin": "sr-RS",
		"de_DE": "de-DE", "German": "de", "C.UTF-8": "", "POSIX": "",
	} {
		r := vbot(t, t.TempDir(), "init", "there", "-t", "daily", "-m", "realtime", "--realtime", "openai",
			"--language", typed)
		r.wantCode(t, 2)
		if !strings.Contains(r.stderr, "(did you mean "+meant+"?)") && meant != "" ||
			meant == "" && strings.Contains(r.stderr, "did you mean") {
			t.Errorf("%s: %s", typed, r.stderr)
		}
	}
}

// An empty value, as of a variable that is not set, is refused as a file and as a directory.
func TestEmptyNamesOfFiles(t *testing.T) {
	parallel(t)
	for _, args := range [][]string{
		{"init", "there", "--config="},
		{"init", "there", "-c", ""},
		{"cloud", "secrets", "set", "app", "--file", "", "--skip"},
		{"cloud", "secrets", "check", "app", "--file="},
		{"init", "there", "--catalog", ""},
	} {
		r := vbot(t, t.TempDir(), args...)
		if r.wantCode(t, 2); !strings.Contains(r.stderr, ": missing value\n") {
			t.Errorf("vbot %q: %s", args, r.stderr)
		}
	}
}

// anyBot returns one of the configurations with random features.
func anyBot(t testing.TB, cat *catalog.Catalog, rng *rand.Rand) bot.Config {
	all := configurations(t)
	for {
		said, problems := bot.ParseConfig("any", all[rng.IntN(len(all))])
		for _, o := range bot.Options {
			if o.IsToggle() && rng.IntN(2) == 0 {
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
			said, want := botAccepting(t, cat, o, value)
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
			said[o] = append(values, bot.Value{On: o.Default})[(i+1)%(len(values)+1)]
			if said[o].Text == "" && !o.IsToggle() {
				delete(said, o)
			}
			other, _, problems := bot.Resolve(cat, said, "there")
			if len(problems) == 0 && sameFiles(t, cat, want, other) {
				t.Errorf("%s changes no file", o.Key)
			}
		}
	}
}

// samples are values of the option: a toggle that differs from the default, each of a
// few words, two services.
func samples(cat *catalog.Catalog, o *bot.Option) (values []bot.Value) {
	switch {
	case o.IsToggle():
		return []bot.Value{{On: !o.Default}}
	case o.IsList():
		return []bot.Value{{List: []string{"rtc_hosted"}}, {List: []string{"tel_b", "websocket"}}}
	case o.Kind != "":
		ids := catalog.IDs(cat.List(o.Kind))
		return []bot.Value{{Text: ids[0]}, {Text: ids[len(ids)-1]}}
	case o.Enum != nil:
		for _, w := range o.Enum {
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

// botAccepting is a bot that accepts the value: the values given, and the resulting configuration.
func botAccepting(t *testing.T, cat *catalog.Catalog, o *bot.Option, value bot.Value) (bot.Values,
	bot.Config,
) {
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
	return nil, bot.Defaults()
}

// typed are the options with the same meaning.
func typed(said bot.Values) (args []string) {
	for o, a := range said {
		switch {
		case o.IsToggle():
			args = append(args, fmt.Sprintf("--%s=%v", o.Flag, a.On))
		case o.IsList():
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
		System: system.System{
			Stderr: &stderr,
			Dir:    t.TempDir(),
			Getenv: func(string) string { return "" },
		},
		Stdin:  strings.NewReader(stdin),
		Stdout: &stdout,
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
	toggles := map[string][]string{bot.AskWhere.Text: nil, bot.AskOptions.Text: nil}
	for _, o := range bot.Options {
		words := said[o].List
		switch {
		case o.IsToggle():
			if said[o].On {
				toggles[o.Question()] = append(toggles[o.Question()], o.Label)
			}
			continue
		case !o.IsList():
			words = []string{cmp.Or(said[o].Text, o.NoneLabel, bot.ClientNone)}
		}
		answers[o.Question()] = cmp.Or(strings.Join(words, ","), "none")
	}
	for ask, labels := range toggles {
		answers[ask] = cmp.Or(strings.Join(labels, ","), "1")
	}
	asked := &asker{answers: answers, person: person}
	a := &cli.Env{
		System: system.System{Stderr: asked, Getenv: func(string) string { return "" }, Dir: t.TempDir()},
		Stdin:  in,
	}
	jobEnv := scaffold.Env{Version: version, Catalog: catalog.New(), Path: a.Path, Note: a.Note, Warn: a.Warn}
	result, err := (&initRun{project: scaffold.Project{Target: "there"}}).ask(context.Background(), a, jobEnv)
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

// An asker answers each question as soon as it is asked, and cancels at one without
// an answer.
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
			// Options that an avatar turns on are not offered.
			words := slices.DeleteFunc(strings.Split(said, ","),
				func(w string) bool { return question == bot.AskOptions.Text && !strings.Contains(shown, w) })
			fmt.Fprintln(a.person, cmp.Or(strings.Join(words, ","), "none"))
			return len(b), nil
		}
	}
	a.person.Close()
	return len(b), nil
}

// sameFiles reports whether both produce the same files.
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

// Names of `pipecat init` are accepted, with a note that says how they are read.
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
