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
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"
)

// TestMain makes the test binary stand in for vbot, so that the tests run the
// command as a user does: with its own process, streams and exit code.
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
	code := m.Run()
	if code == 0 {
		code = checkGoldens()
	}
	os.Exit(code)
}

// result is what one run of vbot left.
type result struct {
	args           []string
	stdout, stderr string
	code           int
}

// with is what a run starts from; the zero value is an empty stdin.
type with struct {
	stdin string
	env   []string
}

// vbot runs the real command in dir and waits for it.
func vbot(t testing.TB, dir string, args ...string) result {
	t.Helper()
	return with{}.vbot(t, dir, args...)
}

func (w with) vbot(t testing.TB, dir string, args ...string) result {
	t.Helper()
	cmd := vbotCommand(t, dir, args...)
	cmd.Stdin = strings.NewReader(w.stdin)
	cmd.Env = append(cmd.Env, w.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok && err != nil {
		t.Fatal(err)
	} else if ok && exit.ExitCode() < 0 {
		t.Fatalf("vbot %q ended by a signal: %v", args, err)
	}
	r := result{args, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	if strings.Contains(r.stderr, "goroutine ") {
		t.Fatalf("vbot %q panicked:\n%s", args, r.stderr)
	}
	return r
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
	cmd.Env = testEnv(t.TempDir(), os.Getenv("PATH"))
	return cmd
}

// testEnv is the environment that makes the test binary stand in for vbot.
func testEnv(home, path string) []string {
	return []string{"VBOT_TEST_RUN=1", "HOME=" + home, "APPDATA=" + home, "PATH=" + path,
		"GODEBUG=" + os.Getenv("GODEBUG"), // the FIPS 140 mode, in `make fips`
		"GORACE=atexit_sleep_ms=0",        // the race detector would wait for a second at the end of each run
		// Built with -cover, each run would complain that it has no place for its counts.
		"GOCOVERDIR=" + cmp.Or(flag.Lookup("test.gocoverdir").Value.String(), home)}
}

// wantCode fails the test unless the run ended with code.
func (r result) wantCode(t testing.TB, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("vbot %s: exit code %d, want %d\nstdout: %s\nstderr: %s", strings.Join(r.args, " "), r.code, code, r.stdout, r.stderr)
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

// transcript is the run as it looked on a terminal, with dir called DIR.
func (r result) transcript(dir string) []byte {
	var b bytes.Buffer
	b.WriteString("$ vbot")
	for _, a := range r.args {
		b.WriteString(" " + quoteOn("linux", a))
	}
	fmt.Fprintf(&b, "\n--- stdout\n%s--- stderr\n%s--- exit %d\n", r.stdout, r.stderr, r.code)
	return []byte(withoutDir(b.String(), dir))
}

// withoutDir is text with dir called DIR. On Windows, dir may also be in it as JSON.
func withoutDir(text, dir string) string {
	quoted, _ := json.Marshal(dir)
	return strings.NewReplacer(dir, "DIR", strings.Trim(string(quoted), `"`), "DIR").Replace(text)
}

func TestQuoteOn(t *testing.T) {
	for _, c := range []struct{ text, unix, windows string }{
		{`my-bot/server`, `my-bot/server`, `my-bot/server`},
		{`my bot`, `'my bot'`, `"my bot"`},
		{`C:\bots\it's`, `'C:\bots\it'\''s'`, `"C:\bots\it's"`},
		{`C:\bots`, `'C:\bots'`, `C:\bots`},
		{``, `''`, `""`},
	} {
		if unix, windows := quoteOn("linux", c.text), quoteOn("windows", c.text); unix != c.unix || windows != c.windows {
			t.Errorf("%s: %s, %s", c.text, unix, windows)
		}
	}
}

// Help, flags and errors.

func TestHelpIsPrintedAtEveryLevel(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, args string }{
		{"vbot", "--help"}, {"vbot", "-h"}, {"vbot", "help"}, {"vbot", "inti --help"},
		{"init", "init --help"}, {"init", "help init"}, {"init", "init -h"}, {"init", "--help init"},
		{"version", "version --help"}, {"completion", "completion -h"},
		{"environment", "help environment"}, {"exit-codes", "help exit-codes"}, {"json", "help json"},
	} {
		r := vbot(t, dir, strings.Fields(c.args)...)
		r.wantCode(t, 0)
		golden(t, "help/"+c.name+".txt", []byte(r.stdout))
		if r.stderr != "" {
			t.Errorf("vbot %s wrote to stderr: %s", c.args, r.stderr)
		}
	}
}

// Listing and help flags win over everything else on the line.
func TestHelpWinsOverEverythingElse(t *testing.T) {
	for _, args := range [][]string{
		{"init", "--bogus", "--help"},
		{"init", "--stt", "nonsense", "-h", "a", "b", "c"},
		{"init", "--name", "--help"},
		{"init", "quickstart", "--mode", "cascade", "--help"},
	} {
		r := vbot(t, t.TempDir(), args...)
		r.wantCode(t, 0)
		if r.stdout != fmt.Sprintf(helpInit, helpOptions()) {
			t.Errorf("vbot %q did not print the help of init", args)
		}
	}
	r := vbot(t, t.TempDir(), "init", "--bogus", "--list-options", "quickstart")
	r.wantCode(t, 0)
	golden(t, "list-options.json", []byte(r.stdout))
}

// everyCommand calls f for the command and all below it.
func everyCommand(c *command, path string, f func(c *command, path string)) {
	f(c, path)
	for i := range c.sub {
		everyCommand(&c.sub[i], path+" "+c.sub[i].name, f)
	}
}

// A help page names exactly the flags that its command takes, and the commands
// below it.
func TestHelpAndFlagsAgree(t *testing.T) {
	root := commandTree()
	everyCommand(root, "vbot", func(c *command, path string) {
		if c.pageOnly {
			return
		}
		inv := &invocation{root: root, cmd: c, path: path}
		inv.flags()
		var documented []string
		for _, l := range optionLines(c.page()) {
			for _, name := range l.Names {
				name = strings.TrimLeft(name, "-")
				if documented = append(documented, name); inv.set.Lookup(name) == nil {
					t.Errorf("%s --help names %s, which it does not take", path, dashed(name))
				}
			}
			if name := strings.TrimLeft(l.Names[0], "-"); inv.set.Lookup(name) != nil && inv.takesValue(name) != (l.Value != "") {
				t.Errorf("%s --help: whether %s takes a value is said wrongly", path, dashed(name))
			}
		}
		inv.set.VisitAll(func(f *flag.Flag) {
			// The --no- form of an option that is off by itself goes without saying.
			if base, ok := strings.CutPrefix(f.Name, "no-"); ok && slices.Contains(documented, base) {
				return
			}
			if !slices.Contains(documented, f.Name) && f.Name != "version" { // which works everywhere
				t.Errorf("%s --help does not name %s", path, dashed(f.Name))
			}
		})
		for _, sub := range c.sub {
			if !regexp.MustCompile(`(?m)^  ` + sub.name + ` `).MatchString(c.help) {
				t.Errorf("%s --help does not name the command %s", path, sub.name)
			}
		}
	})
}

// Help fits a terminal of 80 columns.
func TestHelpFits(t *testing.T) {
	everyCommand(commandTree(), "vbot", func(c *command, path string) {
		for line := range strings.Lines(c.page()) {
			if width := len([]rune(strings.TrimSuffix(line, "\n"))); width > 80 {
				t.Errorf("%s --help has a line of %d columns: %s", path, width, line)
			}
		}
	})
}

// With --json, help is the page and its parts.
func TestHelpAsJSON(t *testing.T) {
	for _, args := range [][]string{{"help", "version", "--json"}, {"version", "--json", "-h"}, {"--json", "help", "version"}} {
		r := vbot(t, t.TempDir(), args...)
		r.wantCode(t, 0)
		golden(t, "help/version.json", []byte(r.stdout))
	}
}

// Each variable that the program asks for stands in `vbot help environment`, and each
// code of an error, with its exit code, in `vbot help exit-codes`.
func TestTopics(t *testing.T) {
	code := ""
	for _, f := range sources(t) {
		code += document(t, f)
	}
	for _, m := range regexp.MustCompile(`getenv\("(\w+)"\)`).FindAllStringSubmatch(code, -1) {
		if !strings.Contains(helpEnvironment, "\n  "+strings.ToUpper(m[1])+" ") {
			t.Errorf("vbot help environment lacks %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\tcode[A-Z]\w* += "([a-z_]+)"`).FindAllStringSubmatch(code, -1) {
		exit := (&failure{Code: m[1]}).exitCode()
		if !regexp.MustCompile(fmt.Sprintf(`\n  %s \(%d\)  `, m[1], exit)).MatchString(helpExitCodes) {
			t.Errorf("vbot help exit-codes does not say that %s is %d", m[1], exit)
		}
	}
}

// --version works after every command, and before.
func TestVersion(t *testing.T) {
	off := with{env: []string{"GODEBUG=fips140=off"}}
	for _, args := range [][]string{{"version"}, {"--version"}, {"--version", "init"}, {"init", "--bogus", "--version"}, {"inti", "--version"}} {
		r := off.vbot(t, t.TempDir(), args...)
		r.wantCode(t, 0)
		if r.stdout != "vbot "+version+"\n" || r.stderr != "" {
			t.Errorf("vbot %q printed %q and %q", args, r.stdout, r.stderr)
		}
	}
	r := vbot(t, t.TempDir(), "version", "--json")
	r.wantCode(t, 0)
	var answer struct {
		Version, Go string
		Modules     []struct{ Path, Version string }
		Commit      *string
	}
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Version != version || !strings.HasPrefix(answer.Go, "go1.") || answer.Modules == nil {
		t.Errorf("vbot version --json printed %s", r.stdout)
	}
	// Tests are built without the commit, unless they come from a tarball.
	if fromGit := strings.HasPrefix(commit, "$"); fromGit != (answer.Commit == nil) || !fromGit && *answer.Commit != commit {
		t.Errorf("vbot version --json says %s; version.go has %s", r.stdout, commit)
	}
}

// The version says whether the FIPS 140 module is in force.
func TestVersionAndFIPS(t *testing.T) {
	for godebug, mode := range map[string]string{"off": "off", "on": "on", "only": "on"} {
		w := with{env: []string{"GODEBUG=fips140=" + godebug}}
		want := fmt.Sprintf("\"fips140\": %q,\n  \"fips140_module\": %q\n}", mode, fips140.Version())
		if r := w.vbot(t, t.TempDir(), "version", "--json"); !strings.Contains(r.stdout, want) {
			t.Errorf("fips140=%s: vbot version --json printed %s", godebug, r.stdout)
		}
		want = fmt.Sprintf("\nFIPS 140 mode: %s, module %s\n", mode, fips140.Version())
		if r := w.vbot(t, t.TempDir(), "version"); strings.HasSuffix(r.stdout, want) == (mode == "off") {
			t.Errorf("fips140=%s: vbot version printed %q", godebug, r.stdout)
		}
	}
}

// Every way of typing it wrong is one line a problem, exit code 2, and with
// --json an object on stdout.
func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ name, args string }{
		{"no-command", ""},
		{"unknown-command", "inti"},
		{"unknown-command-far", "frobnicate"},
		{"unknown-command-json", "inti --json"},
		{"unknown-option", "init --obervability"},
		{"unknown-option-of-vbot", "-x"},
		{"unknown-option-hides-its-value", "init --tokn=hunter2"},
		{"missing-value", "init dir --stt"},
		{"missing-value-before-a-flag", "init dir --stt --llm openai"},
		{"boolean-with-a-space", "init --recording false"},
		{"boolean-with-nonsense", "init --recording=perhaps"},
		{"switches-as-other-tools-spell-them", "init --enable-recording --with-transcription --disable-eval --no-enable-eval --ENABLE_NOISE_CANCEL"},
		{"several-at-once", "init --bogus --recording=x --name --json"},
		{"two-directories", "init one two"},
		{"nothing-to-do", "init"},
		{"nothing-to-do-json", "init --json"},
		{"check-and-update", "init . --check --update"},
		{"diff-alone", "init . --diff --recording"},
		{"diff-as-json", "init . --check --diff --json"},
		{"update-and-keep", "init . --update --keep-existing"},
		{"version-with-an-argument", "version 2"},
		{"completion-of-no-shell", "completion"},
		{"completion-of-an-unknown-shell", "completion tcsh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			r := vbot(t, dir, strings.Fields(c.args)...)
			r.wantCode(t, 2)
			if strings.Contains(r.stdout+r.stderr, "hunter2") {
				t.Error("the value of an unknown option was printed")
			}
			golden(t, "errors/"+c.name+".txt", r.transcript(dir))
			if got := readTree(t, dir); len(got) > 0 {
				t.Errorf("it wrote %v", got)
			}
		})
	}
}

// The failure in `vbot help json` is one that vbot prints, but for what is long in it.
func TestExampleOfAFailure(t *testing.T) {
	r := vbot(t, t.TempDir(), append(initArgs("--json"), "--stt", "deepgrm")...)
	r.wantCode(t, 2)
	_, example, _ := strings.Cut(helpJSON, "\n\n  {")
	example, _, _ = strings.Cut(example, "\n\n")
	var got, want struct {
		Error struct {
			Code, Message string
			Problems      []problem
		}
	}
	if err := errors.Join(json.Unmarshal([]byte(r.stdout), &got), json.Unmarshal([]byte("{"+example), &want)); err != nil {
		t.Fatal(err)
	}
	message := strings.TrimSuffix(want.Error.Message, "...")
	said, shown := got.Error.Problems[0], want.Error.Problems[0]
	if got.Error.Code != want.Error.Code || !strings.HasPrefix(got.Error.Message, message) || said.Field != shown.Field ||
		!strings.HasPrefix(said.Message, shown.Message) || !slices.Equal(said.Allowed[:len(shown.Allowed)], shown.Allowed) {
		t.Errorf("vbot prints %s, and its help has %s", r.stdout, example)
	}
}

func TestParse(t *testing.T) {
	type parsed struct {
		name, list string
		on         bool
		rest       string
		problems   int
	}
	for _, c := range []struct {
		args string
		want parsed
	}{
		{"a --name x b", parsed{name: "x", rest: "a b"}},
		{"--name=x", parsed{name: "x"}},
		{"-n x", parsed{name: "x"}},
		{"-n=x", parsed{name: "x"}},
		{"--name x --name y", parsed{name: "y"}},
		{"-t a -t b", parsed{list: "a,b"}},
		{"--on", parsed{on: true}},
		{"--on --no-on", parsed{}},
		{"--no-on --on", parsed{on: true}},
		{"--on=false", parsed{}},
		{"--no-on=false", parsed{on: true}},
		{"-- --name x", parsed{rest: "--name x"}},
		{"a -- -b", parsed{rest: "a -b"}},
		{"--name=-- -", parsed{name: "--", rest: "-"}},
		{"--name -", parsed{name: "-"}},
		{"--name -5", parsed{name: "-5"}},
		{"--name --", parsed{problems: 1}},
		{"--on true x", parsed{rest: "x", problems: 1}},
		{"--x --y", parsed{problems: 2}},
	} {
		var got parsed
		set := flag.NewFlagSet("test", flag.ContinueOnError)
		set.SetOutput(&bytes.Buffer{})
		set.Usage = func() {}
		textFlag(set, func(s string) { got.name = s }, "name", "n")
		textFlag(set, func(s string) { got.list = strings.TrimPrefix(got.list+","+s, ",") }, "transport", "t")
		set.Var(toggle{func(on bool) { got.on = on }, true}, "on", "")
		set.Var(toggle{func(on bool) { got.on = on }, false}, "no-on", "")
		rest, problems := (&invocation{set: set, cmd: &command{}}).parse(strings.Fields(c.args))
		got.rest, got.problems = strings.Join(rest, " "), len(problems)
		if got != c.want {
			t.Errorf("parse(%s) = %+v, want %+v", c.args, got, c.want)
		}
	}
}

// An answer that cannot be written is a failure, not a success without output.
func TestFullStdout(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		skip(t, "this system has no /dev/full")
	}
	defer full.Close()
	for _, args := range [][]string{{"version"}, {"--help"}, {"init", "--list-options"}, {"init", "--describe-options"},
		{"init", "x", "-t", "webrtc", "-m", "realtime", "--realtime", "openai", "--dry-run"}} {
		cmd := vbotCommand(t, t.TempDir(), args...)
		cmd.Stdout = full
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("vbot %q to a full disk: %v, want exit code 1", args, err)
		}
	}
}

func TestPrintableDropsWhatMovesTheCursor(t *testing.T) {
	if got, want := printable("a\x1b[2J\rb\x00\u202ec\u009b1m\td\n"), "a[2Jbc1m\td\n"; got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
	if got, want := printable("é \u200bשלום\u200d世界\U0001f600\ufeff.\u2060\u3164\ufe0f\U000e0041"), "é שלום世界\U0001f600."; got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
}

// A directory's name reaches scripts as it is, and terminals without what a terminal
// would act on or not show.
func TestHiddenCharactersInNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		skip(t, "no name holds such characters")
	}
	dir := t.TempDir()
	name := "a\x7f\u009b31m\u202e\u200b\u2028\U000e0041b"
	r := vbot(t, dir, "init", name, "--json")
	r.wantCode(t, 0)
	if strings.ContainsFunc(r.stdout+r.stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("stdout: %q\nstderr: %q", r.stdout, r.stderr)
	}
	if !strings.Contains(r.stdout, `/a\u007f\u009b31m\u202e\u200b\u2028\udb40\udc41b"`) {
		t.Errorf("stdout: %s", r.stdout)
	}
	var answer struct{ Directory string }
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || answer.Directory != filepath.Join(dir, name) {
		t.Errorf("%v: directory %q", err, answer.Directory)
	}
}

func BenchmarkVersion(b *testing.B) {
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: func(string) string { return "" }}
	for b.Loop() {
		run(context.Background(), []string{"version"}, a)
	}
}
