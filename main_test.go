package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/fips140"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
	"vbot/internal/report"
	"vbot/internal/system"
)

// TestMain makes the test binary stand in for vbot, so that tests can run the command as a
// user does: with its own process, streams and exit code. Most call run; see TestProcess.
func TestMain(m *testing.M) {
	if os.Getenv("VBOT_TEST_RUN") == "1" {
		os.Unsetenv("VBOT_TEST_RUN")
		main()
		return
	}
	// A signal that is ignored here, as nohup and background jobs of a shell have
	// it, would be ignored by every run of vbot; watched for, it is not passed on.
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen { // many tests wait, for a process, a terminal or a clock
		flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	if missingPage() != nil { // every run of vbot would panic
		flag.Set("test.run", "^TestHelpPages$")
		flag.Set("test.bench", "")
	}
	goldens.update = updating()
	passed := m.Run() == 0
	os.Exit(goldens.finish(os.Stderr, everyTestRan(), passed))
}

// result is the result of one run of vbot.
type result struct {
	args           []string
	stdout, stderr string
	code           int
}

// vbot is a run of vbot in dir, within the test.
func vbot(t testing.TB, dir string, args ...string) result {
	t.Helper()
	return inProcess{dir: dir}.vbot(t, args...)
}

// subprocess is the input of a process of vbot; the zero value is an empty stdin. A test needs a process
// for signals, terminals, the environment that libraries read, and code that may end a process.
type subprocess struct {
	stdin string
	env   []string
}

// vbot runs the real command in dir and waits for it.
func (s subprocess) vbot(t testing.TB, dir string, args ...string) result {
	t.Helper()
	cmd := vbotCommand(t, dir, args...)
	cmd.Stdin = strings.NewReader(s.stdin)
	cmd.Env = append(cmd.Env, s.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok && err != nil {
		t.Fatal(err)
	} else if ok && exit.ExitCode() < 0 {
		t.Fatalf("vbot %q ended by a signal: %v", args, err)
	}
	r := result{args, onAnySystem(stdout), onAnySystem(stderr), cmd.ProcessState.ExitCode()}
	if strings.Contains(r.stderr, "goroutine ") {
		t.Fatalf("vbot %q panicked:\n%s", args, r.stderr)
	}
	return r
}

// onAnySystem is what vbot printed, with the command of Linux where Windows has another.
func onAnySystem(printed bytes.Buffer) string {
	return strings.ReplaceAll(printed.String(), "copy .env.example .env", "install -m 600 .env.example .env")
}

// vbotCommand is a run of vbot that has not started yet.
func vbotCommand(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), self, args...)
	cmd.Dir = dir
	cmd.Env = testEnv(filetest.Dir(t), os.Getenv("PATH"))
	return cmd
}

// testEnv is the environment that makes the test binary stand in for vbot.
func testEnv(home, path string) []string {
	return []string{
		"VBOT_TEST_RUN=1", "HOME=" + home, "APPDATA=" + home, "PATH=" + path,
		"GODEBUG=" + os.Getenv("GODEBUG"), // the FIPS 140 mode, in `make fips`
		"GORACE=atexit_sleep_ms=0",        // the race detector would wait for a second at the end of each run
		// Built with -cover, each run would complain that it has no place for its counts.
		"GOCOVERDIR=" + cmp.Or(flag.Lookup("test.gocoverdir").Value.String(), home),
	}
}

// wantCode fails the test unless the run ended with code.
func (r result) wantCode(t testing.TB, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("vbot %s: exit code %d, want %d\nstdout: %s\nstderr: %s", strings.Join(r.args, " "), r.code,
			code, r.stdout, r.stderr)
	}
}

// needGo skips the test on Windows if there is no Go: the tests are built elsewhere and run
// under Wine.
func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil && runtime.GOOS == "windows" {
		skip(t, err)
	}
}

// transcript is the run as it looked on a terminal, with DIR instead of dir.
func (r result) transcript(dir string) []byte {
	var b bytes.Buffer
	b.WriteString("$ vbot")
	for _, a := range r.args {
		b.WriteString(" " + report.QuoteOn("linux", a))
	}
	fmt.Fprintf(&b, "\n--- stdout\n%s--- stderr\n%s--- exit %d\n", r.stdout, r.stderr, r.code)
	return []byte(withoutDir(b.String(), dir))
}

// withoutDir is text with DIR instead of dir. On Windows, it may also contain dir as JSON.
func withoutDir(text, dir string) string {
	quoted, _ := json.Marshal(dir)
	return strings.NewReplacer(dir, "DIR", strings.Trim(string(quoted), `"`), "DIR").Replace(text)
}

// A process of vbot does, prints and returns what run does.
func TestProcess(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		line, stdin string
		code        int
	}{
		{"init bot --config bot.json --catalog services --json", "", 0},
		{
			"init sub/bot --config -",
			`{"transports": ["daily"], "mode": "realtime", "realtime_service": "openai"}`, 0,
		},
		{"init .", "", 0},
		{"init target --config bot.json", "", 1},
		{"init --recording=perhaps", "", 2},
		{"init --json", "", 2},
		{"init target --check", "", 3},
		{"init nowhere --check --json", "", 4},
		{"cloud whoami", "", 5},
		{"cloud login", "a b", 2},
		{"cloud secrets set app --file my.env", "", 2},
		{"completion words -- init --config b", "", 0},
		{"help", "", 0},
		{"", "", 2},
	} {
		var got []string
		for _, process := range []bool{true, false} {
			dir := t.TempDir()
			vbot(t, dir, initArgs()...).wantCode(t, 0)
			filetest.Put(t, dir, "target/server/bot.py", "mine\n")
			filetest.Put(t, dir, "services/stt/acme.py", acme(t))
			filetest.Put(t, dir, "bot.json",
				`{"transports": ["daily"], "mode": "cascade", "stt_service": "acme", "llm_service": `+
					`"openai", "tts_service": "cartesia"}`)
			filetest.Put(t, dir, "my.env", "A=\n")
			if strings.HasPrefix(c.line, "init target") { // which has no catalog
				filetest.Put(t, dir, "bot.json",
					`{"transports": ["daily"], "mode": "realtime", "realtime_service": "openai"}`)
			}
			env, args := []string{"VBOT_CONFIG=none.json"}, strings.Fields(c.line)
			var r result
			if process {
				r = subprocess{stdin: c.stdin, env: env}.vbot(t, dir, args...)
			} else {
				r = inProcess{stdin: strings.NewReader(c.stdin), env: env, dir: dir}.vbot(t, args...)
			}
			r.wantCode(t, c.code)
			got = append(got, string(r.transcript(dir))+
				strings.ReplaceAll(filetest.Listing(t, dir), dir, "DIR"))
		}
		if got[0] != got[1] {
			t.Errorf("a process:\n%s\nrun:\n%s", got[0], got[1])
		}
	}
}

// Help, flags and errors.

// missingPage is the panic of the tree of commands if a help page is missing.
func missingPage() (reason any) {
	defer func() { reason = recover() }()
	commandTree()
	return nil
}

// Every command, and every topic, has a help page. Without one, this test runs alone.
func TestHelpPages(t *testing.T) {
	if reason := missingPage(); reason != nil {
		t.Error("templates/help lacks a page: ", reason)
	}
}

// Every command, and every topic, has a help page of at most 80 columns, which names the
// commands below it. It is the same however it is asked for.
func TestHelp(t *testing.T) {
	parallel(t)
	everyCommand(commandTree(), "vbot", func(c *cli.Command, path string) {
		words := strings.Fields(path)[1:]
		r := inProcess{}.vbot(t, append([]string{"help"}, words...)...)
		r.wantCode(t, 0)
		golden(t, "help/"+cmp.Or(strings.Join(words, "-"), "vbot")+".txt", []byte(r.stdout))
		for line := range strings.Lines(r.stdout) {
			if width := len([]rune(strings.TrimSuffix(line, "\n"))); width > 80 {
				t.Errorf("%s --help has a line of %d columns: %s", path, width, line)
			}
		}
		for _, sub := range c.Sub {
			if !strings.Contains(r.stdout, "\n  "+sub.Name+" ") {
				t.Errorf("%s --help does not name %s", path, sub.Name)
			}
		}
		for _, args := range [][]string{
			append(words, "--help"), append(words, "-h"), append([]string{"--help"}, words...),
		} {
			same := inProcess{}.vbot(t, args...)
			if !c.Topic && (same.stdout != r.stdout || same.stderr != "") {
				t.Errorf("vbot %q prints %s%s", args, same.stdout, same.stderr)
			}
		}
	})
	for _, args := range [][]string{{"help"}, {"inti", "--help"}} {
		if r := vbot(t, t.TempDir(), args...); r.code != 0 ||
			r.stdout != document(t, "golden/help/vbot.txt") {
			t.Errorf("vbot %q: exit code %d, %s", args, r.code, r.stdout)
		}
	}
}

// Options for listings and help take precedence over everything else on the line.
func TestHelpWinsOverEverythingElse(t *testing.T) {
	parallel(t)
	for _, args := range [][]string{
		{"init", "--bogus", "--help"},
		{"init", "--stt", "nonsense", "-h", "a", "b", "c"},
		{"init", "--name", "--help"},
		{"init", "quickstart", "--mode", "cascade", "--help"},
	} {
		r := vbot(t, t.TempDir(), args...)
		r.wantCode(t, 0)
		if r.stdout != document(t, "golden/help/init.txt") {
			t.Errorf("vbot %q did not print the help of init", args)
		}
	}
	r := vbot(t, t.TempDir(), "init", "--bogus", "--list-options", "quickstart")
	r.wantCode(t, 0)
	golden(t, "list-options.json", []byte(r.stdout))
}

// everyCommand calls f for the command and all below it.
func everyCommand(c *cli.Command, path string, f func(c *cli.Command, path string)) {
	f(c, path)
	for i := range c.Sub {
		everyCommand(&c.Sub[i], path+" "+c.Sub[i].Name, f)
	}
}

// wantEachSecretsCommand fails unless each command of `vbot cloud secrets` begins one of the lines, or is
// among the exceptions, with the reason.
func wantEachSecretsCommand(t *testing.T, lines []string, except map[string]string) {
	t.Helper()
	const family = "vbot cloud secrets "
	everyCommand(commandTree(), "vbot", func(c *cli.Command, path string) {
		name, isOne := strings.CutPrefix(path, family)
		isIn := slices.ContainsFunc(lines, func(line string) bool { return strings.Fields(line)[0] == name })
		if isOne && !isIn && except[name] == "" {
			t.Errorf("%s: no case of this test is about it", path)
		}
	})
}

// With --json, help is the page and its parts.
func TestHelpAsJSON(t *testing.T) {
	parallel(t)
	for _, args := range [][]string{
		{"help", "version", "--json"}, {"version", "--json", "-h"}, {"--json", "help", "version"},
	} {
		r := vbot(t, t.TempDir(), args...)
		r.wantCode(t, 0)
		golden(t, "help/version.json", []byte(r.stdout))
	}
	r := vbot(t, t.TempDir(), "help", "--json") // of which release/man makes the list of its pages
	if !strings.Contains(r.stdout, `"exit-codes",`) || !strings.Contains(r.stdout, `"completion",`) {
		t.Errorf("it lacks commands or topics: %s", r.stdout)
	}
	r = vbot(t, t.TempDir(), "help", "exit-codes", "--json")
	if !strings.Contains(r.stdout, `"options": []`) {
		t.Errorf("a page without options: %s", r.stdout)
	}
}

// `vbot help environment` lists each variable that the program reads, and `vbot help exit-codes`
// each error code with its exit code.
func TestTopics(t *testing.T) {
	parallel(t)
	code := ""
	for _, f := range sources(t) {
		code += document(t, f)
	}
	read := regexp.MustCompile(`Getenv\("(\w+)"\)`).FindAllStringSubmatch(code, -1)
	if len(read) == 0 {
		t.Error("no source reads a variable")
	}
	for _, m := range read {
		if !strings.Contains(document(t, "templates/help/environment.txt"),
			"\n  "+strings.ToUpper(m[1])+" ") {
			t.Errorf("vbot help environment lacks %s", m[1])
		}
	}
	page := document(t, "templates/help/exit-codes.txt")
	for _, code := range report.ErrorCode("").Enum() {
		exit := (&report.Failure{Code: code}).ExitCode()
		if !strings.Contains(page, fmt.Sprintf("\n  %s (%d)  ", code, exit)) {
			t.Errorf("vbot help exit-codes does not say that %s is %d", code, exit)
		}
	}
}

// --version works after every command, and before it.
func TestVersion(t *testing.T) {
	parallel(t)
	off := subprocess{env: []string{"GODEBUG=fips140=off"}}
	want, cgo := "vbot "+version+"\n", "off" // as the tests are built
	if info, _ := debug.ReadBuildInfo(); slices.Contains(info.Settings, cgoOn) {
		want, cgo = want+"cgo: on; releases are built with CGO_ENABLED=0\n", "on"
	}
	for _, args := range [][]string{
		{"version"},
		{"--version"},
		{"--version", "init"},
		{"init", "--bogus", "--version"},
		{"inti", "--version"},
	} {
		r := off.vbot(t, t.TempDir(), args...)
		r.wantCode(t, 0)
		if r.stdout != want || r.stderr != "" {
			t.Errorf("vbot %q printed %q and %q", args, r.stdout, r.stderr)
		}
	}
	r := vbot(t, t.TempDir(), "version", "--json")
	r.wantCode(t, 0)
	var answer struct {
		Version, Go string
		Modules     []struct{ Path, Version string }
		Commit      *string
		Cgo         string
	}
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Version != version || !strings.HasPrefix(answer.Go, "go1.") || answer.Modules == nil ||
		answer.Cgo != cgo {
		t.Errorf("vbot version --json printed %s", r.stdout)
	}
	// Tests are built without the commit, unless they come from a tarball.
	if fromGit := strings.HasPrefix(commit, "$"); fromGit != (answer.Commit == nil) ||
		!fromGit && *answer.Commit != commit {
		t.Errorf("vbot version --json says %s; main.go has %s", r.stdout, commit)
	}
}

// cgoOn is the setting of a program that is built with cgo.
var cgoOn = debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}

// A build of an edited checkout names no commit, because its source is not that of the commit.
func TestRevision(t *testing.T) {
	parallel(t)
	for modified, want := range map[string]string{"false": "0123abc", "true": "", "": ""} {
		settings := map[string]string{"vcs.revision": "0123abc", "vcs.modified": modified}
		if got := revision(settings); got != want {
			t.Errorf("modified %q: %q", modified, got)
		}
	}
}

// The version says whether the FIPS 140 module is in force.
func TestVersionAndFIPS(t *testing.T) {
	parallel(t)
	for godebug, mode := range map[string]string{"off": "off", "on": "on", "only": "on"} {
		w := subprocess{env: []string{"GODEBUG=fips140=" + godebug}}
		want := fmt.Sprintf("\"fips140\": %q,\n  \"fips140_module\": %q,\n", mode, fips140.Version())
		if r := w.vbot(t, t.TempDir(), "version", "--json"); !strings.Contains(r.stdout, want) {
			t.Errorf("fips140=%s: vbot version --json printed %s", godebug, r.stdout)
		}
		want = fmt.Sprintf("\nFIPS 140 mode: %s, module %s\n", mode, fips140.Version())
		if r := w.vbot(t, t.TempDir(), "version"); strings.HasSuffix(r.stdout, want) == (mode == "off") {
			t.Errorf("fips140=%s: vbot version printed %q", godebug, r.stdout)
		}
	}
}

// The failure in `vbot help json` is a real one, with its long parts shortened.
func TestExampleOfAFailure(t *testing.T) {
	parallel(t)
	r := vbot(t, t.TempDir(), append(initArgs("--json"), "--stt", "deepgrm")...)
	r.wantCode(t, 2)
	_, example, _ := strings.Cut(document(t, "templates/help/json.txt"), "\n\n  {")
	example, _, _ = strings.Cut(example, "\n\n")
	var got, want struct {
		Error struct {
			Code, Message string
			Problems      []report.Problem
		}
	}
	err := errors.Join(json.Unmarshal([]byte(r.stdout), &got), json.Unmarshal([]byte("{"+example), &want))
	if err != nil {
		t.Fatal(err)
	}
	message := strings.TrimSuffix(want.Error.Message, "...")
	said, shown := got.Error.Problems[0], want.Error.Problems[0]
	if got.Error.Code != want.Error.Code || !strings.HasPrefix(got.Error.Message, message) ||
		said.Field != shown.Field ||
		!strings.HasPrefix(said.Message, shown.Message) ||
		!slices.Equal(said.Allowed[:len(shown.Allowed)], shown.Allowed) {
		t.Errorf("vbot prints %s, and its help has %s", r.stdout, example)
	}
}

// A result that cannot be written is a failure, not a success without output.
func TestFullStdout(t *testing.T) {
	parallel(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		skip(t, "this system has no /dev/full")
	}
	defer full.Close()
	for _, args := range [][]string{
		{"version"},
		{"--help"},
		{"init", "--list-options"},
		{"init", "--describe-options"},
		{"init", "x", "-t", "webrtc", "-m", "realtime", "--realtime", "openai", "--dry-run"},
	} {
		cmd := vbotCommand(t, t.TempDir(), args...)
		cmd.Stdout = full
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("vbot %q to a full disk: %v, want exit code 1", args, err)
		}
	}
}

// Scripts get a directory's name unchanged; terminals get it without characters that they
// would interpret or not show.
func TestHiddenCharactersInNames(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" {
		skip(t, "no name holds such characters")
	}
	dir := t.TempDir()
	name := "a\x7f\u009b31m\u202e\u200b\u2028\U000e0041b"
	r := vbot(t, dir, "init", name, "--json")
	r.wantCode(t, 0)
	if strings.ContainsFunc(r.stdout+r.stderr,
		func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("stdout: %q\nstderr: %q", r.stdout, r.stderr)
	}
	if !strings.Contains(r.stdout, `/a\u007f\u009b31m\u202e\u200b\u2028\udb40\udc41b"`) {
		t.Errorf("stdout: %s", r.stdout)
	}
	var answer struct{ Directory string }
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil ||
		answer.Directory != filepath.Join(dir, name) {
		t.Errorf("%v: directory %q", err, answer.Directory)
	}
}

func BenchmarkVersion(b *testing.B) {
	a := &cli.Env{
		System: system.System{Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "" }},
		Stdout: &bytes.Buffer{},
	}
	for b.Loop() {
		run(context.Background(), []string{"version"}, a)
	}
}

// inProcess is a run of vbot within the test. Unless dir is given, its directory does not exist. It
// does not read settings of the person who runs the tests.
type inProcess struct {
	ctx   context.Context
	stdin io.Reader
	env   []string
	dir   string
	clock *cloudtest.Clock
}

func (in inProcess) vbot(t testing.TB, args ...string) result {
	t.Helper()
	if in.ctx == nil {
		in.ctx = context.Background()
	}
	if in.stdin == nil {
		in.stdin = strings.NewReader("")
	}
	if in.dir == "" {
		in.dir = filetest.Fresh(t)
	}
	if in.clock == nil {
		in.clock = &cloudtest.Clock{Time: time.Unix(1e9, 0)}
	}
	in.env = append([]string{"VBOT_CONFIG=none"}, in.env...)
	var stdout, stderr bytes.Buffer
	code := run(in.ctx, args, &cli.Env{
		System: system.System{
			Dir: in.dir,
			Getenv: func(name string) string {
				for _, kv := range slices.Backward(in.env) {
					if v, ok := strings.CutPrefix(kv, name+"="); ok {
						return v
					}
				}
				return ""
			},
			Stderr: &stderr,
			Now:    in.clock.Now, Pause: in.clock.Pause, WithTimeout: in.clock.WithTimeout,
			Random: func() float64 { return 0.5 },
		},
		Stdin: in.stdin, Stdout: &stdout,
	})
	return result{args, onAnySystem(stdout), onAnySystem(stderr), code}
}

// runOn runs vbot in the process of the test, signed in to the fake.
func runOn(t testing.TB, s *cloudtest.Fake, args ...string) result {
	t.Helper()
	return inProcess{env: s.Env(), clock: s.Clock}.vbot(t, args...)
}

// transcriptOn is the run as it looked, with API instead of the fake's address.
func transcriptOn(s *cloudtest.Fake, r result) []byte {
	return bytes.ReplaceAll(r.transcript("/no/such/dir"), []byte(s.Listener.Addr().String()), []byte("API"))
}

// Every position of the cursor on a command line has the expected completions.
func TestCompletion(t *testing.T) {
	parallel(t)
	var got bytes.Buffer
	for _, typed := range []string{
		"", "in", "cloud ", "cloud secrets ", "cloud secrets un", "help clo", "--json cloud l",
		"init ", "init dir ", "init -", "init --no-", "init --no-input --mode ", "init --mode=re", "init -b ",
		"init --stt deepgram", "init --stt stt_a", "init -t rtc", "init --client-framework ", "init --name ",
		"init --config ",
		"init -- ", "inti ", "cloud secrets set set --file ", "cloud secrets set set --file=",
		"cloud secrets set set --wait",
		"cloud secrets list --region ", "cloud secrets list ", "completion ", "version ",
		"schema cl", "schema config ", "init --describe-options=", "init --describe-options ",
		`completion ""`,
	} {
		words := strings.Split(typed, " ")
		r := vbot(t, t.TempDir(), append([]string{"completion", "words", "--"}, words...)...)
		r.wantCode(t, 0)
		got.WriteString("$ vbot " + typed + "<Tab>\n" + r.stdout)
	}
	golden(t, "completion/words.txt", got.Bytes())
	r := vbot(t, t.TempDir(), "completion", "words", "--json", "--", "init", "--mode", "")
	r.wantCode(t, 0)
	golden(t, "completion/words.json", []byte(r.stdout))
}

// An option accepts every value that is suggested for it.
func TestCompletionKnowsEveryService(t *testing.T) {
	parallel(t)
	cat, a := catalog.New(), &cli.Env{System: system.System{Getenv: func(string) string { return "" }}}
	for _, o := range bot.Options {
		if o.Kind == "" {
			continue
		}
		words := cli.Complete(a, commandTree(), []string{"init", "--" + o.Flag, ""})
		if len(words) != len(cat.List(o.Kind)) {
			t.Errorf("--%s: %d words, for %d services", o.Flag, len(words), len(cat.List(o.Kind)))
		}
		for _, p := range cat.List(o.Kind) {
			for _, name := range append([]string{p.ID}, p.Names...) {
				words := cli.Complete(a, commandTree(), []string{"init", "--" + o.Flag, name})
				if !slices.ContainsFunc(words,
					func(s cli.Completion) bool { return cat.Find(o.Kind, s.Word) == p }) {
					t.Errorf("--%s %s: the service is not suggested", o.Flag, name)
				}
			}
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	parallel(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := vbot(t, t.TempDir(), "completion", shell)
		r.wantCode(t, 0)
		if r.stdout != document(t, "templates/completion/"+completionFiles[shell]) || r.stderr != "" {
			t.Errorf("vbot completion %s printed %q and %q", shell, r.stdout, r.stderr)
		}
	}
}

// There is a schema of the configuration file and of every result. The diff of the golden files shows
// what a change of a type means for its readers.
func TestSchemas(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	list := vbot(t, dir, "schema")
	names := strings.Fields(list.stdout)
	if !slices.IsSorted(names) {
		t.Errorf("vbot schema lists %q", names)
	}
	for _, name := range names {
		schema := vbot(t, dir, "schema", name).stdout
		golden(t, "schemas/"+name+".json", []byte(schema))
		var document any
		if err := json.Unmarshal([]byte(schema), &document); err != nil {
			t.Fatal(err)
		}
		for _, key := range undescribed(document) {
			t.Errorf("the schema %s does not describe %s", name, key)
		}
	}
	section(t, "schemas.txt", "names", list.transcript(dir))
	section(t, "schemas.txt", "unknown", vbot(t, dir, "schema", "confg").transcript(dir))
	everyCommand(commandTree(), "", func(c *cli.Command, path string) {
		if name := strings.ReplaceAll(strings.TrimSpace(path), " ", "-"); c.New != nil && name != "" &&
			cli.Schemas(commandTree())[name] == nil {
			t.Errorf("there is no schema of what %s prints", name)
		}
	})
}

// undescribed returns the keys of a schema that have no description.
func undescribed(schema any) (keys []string) {
	switch schema := schema.(type) {
	case []any:
		for _, s := range schema {
			keys = append(keys, undescribed(s)...)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for key, property := range properties {
			if p := property.(map[string]any); p["description"] == nil {
				keys = append(keys, key)
			}
			keys = append(keys, undescribed(property)...)
		}
		keys = append(append(keys, undescribed(schema["items"])...), undescribed(schema["anyOf"])...)
	}
	return keys
}

// wrongLines are typical wrong command lines, one per line. ~ is a space within an
// argument, ” an empty argument.
const wrongLines = `
inti
int
new
create
update
ls
quickstart
login
logout
secrets
secrets list
list
whomai
environment
bash
help foo
help secrets
help env
help cloud foo
cloud init
cloud secret
cloud secrets
cloud secrets lst
cloud secrets remove
cloud secrets ls
cloud secrets create app
cloud secrets add app
cloud secrets update app
cloud secrets import app
cloud secrets set app --env-file x
cloud secrets set app --from-file KEY=hunter2
cloud login acme
cloud whoami me
cloud
''
'' init
dirs
--jsno
-V
-v
-x
--config=x
completion
completion tcsh
completion bash zsh
version 2
version API_KEY=hunter2
version --short
schema API_KEY=hunter2

init
init one two
init ''
init ---mode
init --MODE
init --Mode=cascade
init --stt_service deepgram
init --stt-service deepgram
init --transports daily
init --enable-observability
init --no-enable-eval
init --observabilty
init --no-recordin
init --deploy
init --bogus
init --bogus=hunter2
init --BOGUS
init -hunter2
init -5
init -=x
init --=x
init ---
init -é
init -q
init -V
init -tdaily
init -tdaily -mcascade
init -nMyBot
init -mcascade
init -mode2 x
init –mode cascade
init -c values.json -c other.json
init -c values.json --config=values.json --mode x --mode y
init --name
init --name --stt deepgram
init -t
init --stt --llm openai
init --config
init --recording yes
init --recording false
init --eval No
init --recording=perhaps
init --no-recording=maybe
init --describe-options stt
init --describe-options=nothing
init --list-options=stt

init bot -t daily
init bot -t daily,twilio -m realtime --realtime openai
init bot -t daily~twilio -m realtime --realtime openai
init bot -t daily,twillio -m realtime --realtime openai
init bot -t daily, -m realtime --realtime openai
init bot -t dailly -m realtime --realtime openai
init bot -t pigeon -m realtime --realtime openai
init bot -t '' -m realtime --realtime openai
init bot -t Daly -m realtime --realtime openai
init bot -t tel_z -m realtime --realtime openai
init bot -t daily -m realtime
init bot -t daily -m cascade
init bot -t daily -m Cascade
init bot -t daily -m talk
init bot -t daily --stt deepgram --llm openai
init bot -t daily -m cascade --stt deepgrm --llm openai --tts cartesia
init bot -t daily -m cascade --stt Deepgrm --llm gpt-4o --tts cartesia
init bot -t daily -m realtime --realtime gpt-realtime
init bot -t phone -m realtime --realtime openai
init bot -t web -m realtime --realtime openai
init bot -t daily -m realtime --realtime openai --language de_DE
init bot -t A=hunter2 -t daily,A=hunter2 -m cascade --stt A=hunter2 --llm A~=~hunter2 --tts export~A=hunter2
init bot -t daily -m A=hunter2 --language A=hunter2 --name A=hunter2
init bot -t daily -m cascade --stt stt_zz --llm openai --tts cartesia
init bot -t daily -m cascade --stt stt_zz --llm openai --tts cartesia
init bot -t daily -m cascade --stt claude --llm claude --tts claude
init bot -t daily -m cascade --stt deepgram --llm gpt-4 --tts 11labs
init bot -t daily -m realtime --realtime openai --stt deepgram
init bot -t daily -m cascade --stt deepgram --llm openai --tts cartesia --realtime openai
init bot -t daily -m realtime --realtime openai --video heygan
init bot -t twilio -m realtime --realtime openai --video heygen
init bot -t tel_a -b web -m realtime --realtime openai
init bot -t twilio -b web -m realtime --realtime openai
init bot -t daily_pstn_dialin -b web -m realtime --realtime openai
init bot -b phone -t daily -m realtime --realtime openai
init bot -t daily_pstn -m realtime --realtime openai
init bot -t rtc_hosted_pstn -m realtime --realtime openai
init bot -t daily_pstn --daily-pstn-mode dialin -m realtime --realtime openai
init bot -t daily_pstn_dialin --daily-pstn-mode dial-out -m realtime --realtime openai
init bot -t daily_pstn_dialin -t daily_pstn_dialout -m realtime --realtime openai
init bot -t daily_pstn_dialin -t twilio_daily_sip_dialin -m realtime --realtime openai
init bot -t daily --daily-pstn-mode dial-in -m realtime --realtime openai
init bot -t twilio_daily_sip -m realtime --realtime openai
init bot -t daily -m realtime --realtime openai --client-framework vue
init bot -t daily -m realtime --realtime openai --client-framework vanilla --client-server nextjs
init bot -t daily -m realtime --realtime openai --client-server next
init bot -t twilio -m realtime --realtime openai --client-framework react
init bot -t livekit -m realtime --realtime openai --deploy-to-cloud
init bot -t websocket -m realtime --realtime openai --video-input
init bot -t daily -m realtime --realtime openai --enable-noise-cancel --no-deploy-to-cloud
init bot -t daily -m realtime --realtime openai --name a/b
init bot -t daily -m realtime --realtime openai --name ''
init quickstart --stt deepgram
init quickstart --config bot.json
init @@@ -t daily -m realtime --realtime openai

init bot --config none.json
init bot --config .
init bot --config empty.json
init bot --config -
init bot --config comma.json
init bot --config nan.json
init bot --config utf16.json
init bot --config twice.json
init bot --config after.json
init bot --config comma-after.json
init bot --config comment.json
init bot --config conflict.json
init bot --config single.json
init bot --config python.json
init bot --config ture.json
init bot --config list.json
init bot --config open.json
init bot --config keys.json
init bot --config types.json
init bot --config values.json

cloud whoami
cloud login --no-input
cloud login -oacme --no-input
cloud secrets list a b
cloud secrets list a/b
cloud secrets list --regoin x
cloud secrets list -r
cloud secrets set
cloud secrets set my-bot
cloud secrets set my_bot A=1
cloud secrets set my-bot A=1 --wait 2m
cloud secrets set my-bot A=1 --wait 30
cloud secrets set my-bot A=1 --wait=30
cloud secrets set my-bot A=1 --wait=0s
cloud secrets set my-bot A=1 --yes
cloud secrets set my-bot A=1
cloud secrets set my-bot A=1 A=2 --skip
cloud secrets set my-bot A= --skip
cloud secrets set my-bot --flie x
cloud secrets set my-bot --file none.env --skip
cloud secrets unset my-bot
cloud secrets unset my-bot A B --skip
cloud secrets delete
cloud secrets delete a b --skip
cloud secrets image-pull-secret
cloud secrets image-pull-secret hub
cloud secrets image-pull-secret hub ghcr.io --encode false
cloud secrets image-pull-secret hub ghcr.io user:hunter2 --encode No
cloud secrets image-pull-secret hub ghcr.io user:hunter2 more
`

// wrongFiles are the files that wrongLines name.
var wrongFiles = map[string]string{
	"bot.json":   `{"mode": "realtime"}`,
	"empty.json": "\n",
	"comma.json": "{\n  \"mode\": \"cascade\",\n  \"transports\": [\"daily\"],\n}\n",
	"nan.json":   "{\n  \"recording\": NaN\n}\n",
	"utf16.json": "\xff\xfe{\x00\"\x00m\x00",
	"twice.json": "{\n  \"mode\": \"realtime\", \"realtime_service\": \"openai\", \"transports\": " +
		"[\"daily\"],\n  \"mode\": \"cascade\"\n}\n",
	"after.json": "\ufeff{\"mode\": \"realtime\", \"realtime_service\": \"openai\", \"transports\": " +
		"[\"daily\"]}\n}\n",
	"comma-after.json": "{\"mode\": \"realtime\", \"realtime_service\": \"openai\", \"transports\": " +
		"[\"daily\"]},\n",
	"comment.json": "{\n  // the mode\n  \"mode\": \"cascade\"\n}\n",
	"conflict.json": "{\n  \"mode\": \"cascade\",\n<<<<<<< HEAD\n  \"recording\": true\n=======\n  " +
		"\"recording\": false\n>>>>>>> other\n}\n",
	"single.json": "{'mode': 'cascade'}\n",
	"python.json": "{\"recording\": True}\n",
	"ture.json":   "{\"recording\": ture}\n",
	"list.json":   "[\n  \"daily\"\n]\n",
	"open.json":   "{\n  \"mode\": \"cascade\",\n  \"transports\": [\"daily\"\n",
	"keys.json": "{\n  \"Mode\": \"realtime\",\n  \"stt\": \"deepgram\",\n  \"client-framework\": " +
		"\"react\",\n  \"colour\": 1\n}\n",
	"types.json": "{\n  \"mode\": true,\n  \"transports\": \"daily\",\n  \"recording\": \"yes\",\n  " +
		"\"llm_service\": [\"openai\"]\n}\n",
	"values.json": "{\n  \"mode\": \"cascade\",\n  \"transports\": [\"daily,twilio\", \"\"],\n  " +
		"\"stt_service\": \"deepgrm\",\n  \"llm_service\": \"\",\n  \"tts_service\": \"cartesia\"\n}\n",
}

// The messages for all mistakes are in one golden file, to be read as a newcomer would
// read them. With --json, the same problems are one object.
func TestWrongLines(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	for name, text := range wrongFiles {
		filetest.Put(t, dir, name, text)
	}
	before := filetest.Tree(t, dir)
	var all bytes.Buffer
	for line := range strings.Lines(wrongLines) {
		args := strings.Fields(line)
		if len(args) == 0 {
			continue
		}
		for i, arg := range args {
			arg = strings.ReplaceAll(arg, "~", " ")
			args[i] = strings.ReplaceAll(arg, "''", "")
		}
		r := vbot(t, dir, args...)
		isSignedOut := r.code == 5 && strings.Contains(r.stderr, "not signed in")
		if r.code != 2 && !isSignedOut || r.stdout != "" {
			t.Errorf("vbot %s: exit code %d, stdout %q", strings.TrimSpace(line), r.code, r.stdout)
		}
		if strings.Contains(r.stderr, "hunter2") {
			t.Errorf("vbot %s: the text was repeated: %s", strings.TrimSpace(line), r.stderr)
		}
		transcript := strings.Replace(string(r.transcript(dir)), "--- stdout\n--- stderr\n", "", 1)
		all.WriteString(transcript + "--- " + problemsInJSON(t, dir, r) + "\n")
	}
	golden(t, "errors/lines.txt", all.Bytes())
	if !equalTrees(before, filetest.Tree(t, dir)) {
		t.Error("something was written")
	}
}

// problemsInJSON runs the command line of r with --json, checks that it fails as r did, and returns the error
// code and the fields of the problems.
func problemsInJSON(t *testing.T, dir string, r result) string {
	t.Helper()
	asJSON := vbot(t, dir, append([]string{"--json"}, r.args...)...)
	line := strings.Join(asJSON.args, " ")
	if asJSON.code != r.code || asJSON.stderr != r.stderr {
		t.Errorf("vbot %s: exit code %d, %s", line, asJSON.code, asJSON.stderr)
	}
	var answer struct {
		Error struct {
			Code, Message string
			Problems      []struct {
				Field, Message string
				Allowed        []string
			}
		}
	}
	err := json.Unmarshal([]byte(asJSON.stdout), &answer)
	if err != nil || answer.Error.Message == "" {
		t.Errorf("vbot %s: %v: %s", line, err, asJSON.stdout)
	}
	summary := answer.Error.Code + ":"
	for _, p := range answer.Error.Problems {
		if p.Message == "" || p.Allowed == nil {
			t.Errorf("vbot %s: %+v", line, p)
		}
		summary += " " + p.Field
	}
	return summary
}
