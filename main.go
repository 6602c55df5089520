// Command vbot starts voice-bot projects and keeps their secrets in the cloud.
//
// Output. The answer goes to stdout and nothing else does: JSON, a listing,
// help that was asked for, a version. What a person reads along the way
// (progress, notes, questions, warnings, errors) goes to stderr. With --json
// stdout holds exactly one object, also when the command fails; without it a
// failing command leaves stdout empty.
//
// Exit codes. 0: done. 1: it failed (a disk, the network, the cloud, a refusal
// to overwrite, not found, declined, not signed in). 2: what was typed, or what
// a configuration or secrets file holds, is wrong or incomplete, or an answer
// was needed and nobody can be asked. 130: interrupted.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// version is the version of this source tree, in semantic versioning. It is a
// constant, so that a plain `go build` and a tarball know it.
const version = "0.1.0"

func main() {
	// Where it was deleted, relative names are not found; all else works.
	dir, _ := os.Getwd()
	os.Exit(run(context.Background(), os.Args[1:], &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, dir: dir,
		now: time.Now, pause: pause, random: rand.Float64,
	}))
}

// app is the world as one run sees it; tests put their own in its place.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	dir    string // the working directory, absolute; "" if it was deleted
	now    func() time.Time
	pause  func(context.Context, time.Duration) error
	random func() float64 // from [0, 1)
	asks   *prompter      // nil before the first question
}

// pause waits for d, or until ctx ends, and then returns its error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// note tells the person something along the way.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.stderr, printable(fmt.Sprintf(format, args...)))
}

// printable drops control characters from text that may come from a file, a
// name or a server, so that it cannot move the cursor or forge a line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

// A command is one word of the command line: either it runs, or it has
// commands below it.
type command struct {
	name  string
	help  string // the whole help page, written by hand
	setup func(inv *invocation) runFunc
	quick bool // it neither waits nor writes, so that signals may just end it
	sub   []command
	first []string // what its first argument may be, as far as that is known: for completion
}

// A runFunc does what a command is for. Its args are what is left when the
// flags are gone.
type runFunc func(ctx context.Context, a *app, inv *invocation, args []string) error

// An invocation is one command line on its way.
type invocation struct {
	cmd  *command
	path string // "vbot init"
	set  *flag.FlagSet
	json bool
	// fields are the configuration keys of flags that have another name.
	fields map[string]string
	// instead is what a listing or help flag asked for; it wins over everything
	// else on the line.
	instead func(a *app, inv *invocation) error
}

// insteadFlag registers a flag that does f instead of what the command does.
func (inv *invocation) insteadFlag(f func(a *app, inv *invocation) error, names ...string) {
	for _, name := range names {
		inv.set.Var(toggle{func(on bool) {
			inv.instead = nil
			if on {
				inv.instead = f
			}
		}, true}, name, "")
	}
}

// enter goes on to the command called name below the one it is at, if there is one.
func (inv *invocation) enter(name string) bool {
	i := slices.IndexFunc(inv.cmd.sub, func(c command) bool { return c.name == name })
	if i >= 0 {
		inv.cmd, inv.path = &inv.cmd.sub[i], inv.path+" "+name
	}
	return i >= 0
}

// flags registers all flags of the command, and returns what it does.
func (inv *invocation) flags() runFunc {
	inv.set = flag.NewFlagSet(inv.path, flag.ContinueOnError)
	inv.set.SetOutput(io.Discard)
	inv.set.Usage = func() {}
	boolFlag(inv.set, &inv.json, "json")
	do := inv.cmd.setup(inv)
	inv.insteadFlag(printHelp, "help", "h")
	return do
}

func commands() *command {
	return &command{name: "vbot", help: helpTop, setup: setupTop, quick: true, sub: []command{
		{name: "init", help: helpInit, setup: setupInit, first: []string{"quickstart", anyDir}},
		cloudCommands(),
		{name: "completion", help: helpCompletion, setup: setupCompletion, quick: true, first: []string{"bash", "zsh", "fish"}},
		{name: "version", help: helpVersion, setup: setupVersion, quick: true},
	}}
}

const helpTop = `vbot starts voice-bot projects and keeps their secrets in the cloud.

Usage: vbot COMMAND [ARGUMENTS] [OPTIONS]

Commands:
  init          scaffold a voice bot, or write the guides for a coding agent
  cloud         sign in to Pipecat Cloud and manage secrets
  completion    print a script that completes commands in a shell
  version       print the version
  help          print the help of a command

Options:
  -h, --help    print this help; it works after every command too
  --version     print the version
  --json        answer with one JSON object on stdout

Examples:
  vbot init quickstart         a bot that talks, in ./vbot-quickstart
  vbot init --help             every option of init
  vbot init --list-options     the services and transports there are, as JSON
  vbot cloud secrets --help    the commands for secrets
`

const helpVersion = `Print the version of vbot.

Usage: vbot version [--json]

Options:
  --json        also the Go version and the linked modules, as JSON
  -h, --help    print this help

Examples:
  vbot version
  vbot version --json
`

// run runs one command line and returns the exit code. Nothing else exits, so
// that every defer runs.
func run(ctx context.Context, args []string, a *app) int {
	inv := &invocation{cmd: commands(), path: "vbot"}
	err := dispatch(ctx, args, a, inv)
	if err == nil {
		return 0
	}
	f := asFailure(err)
	if inv.json {
		answer := struct {
			Error  *failure `json:"error"`
			Result any      `json:"result,omitempty"`
		}{f, f.result}
		if err := writeJSON(a.stdout, answer); err != nil {
			fmt.Fprintln(a.stderr, "vbot: writing the answer:", err)
		}
	}
	fmt.Fprint(a.stderr, f.text(inv.path))
	return f.exitCode()
}

// dispatch finds the command that args name, parses its flags and runs it.
func dispatch(ctx context.Context, args []string, a *app, inv *invocation) error {
	if len(args) == 0 {
		fmt.Fprint(a.stderr, helpTop)
		return &failure{Code: codeUsage}
	}
	// A flag before the command belongs to the command: the order is free.
	var before []string
	for len(args) > 0 && inv.cmd.sub != nil {
		if strings.HasPrefix(args[0], "-") {
			before, args = append(before, args[0]), args[1:]
			continue
		}
		if args[0] == "help" {
			before, args = append(before, "--help"), args[1:]
			continue
		}
		// What follows a = may be a secret that went to the wrong place.
		name, _, _ := strings.Cut(args[0], "=")
		if !inv.enter(name) {
			if rest := append(before, args...); slices.Contains(rest, "--help") || slices.Contains(rest, "-h") {
				return printHelp(a, inv)
			}
			inv.json = slices.Contains(before, "--json") || slices.Contains(args, "--json")
			var names []string
			for _, c := range inv.cmd.sub {
				names = append(names, c.name)
			}
			return usageError("unknown command %q%s; see `%s --help`", name, didYouMean(name, names), inv.path)
		}
		args = args[1:]
	}

	do := inv.flags()
	rest, problems := parse(inv.set, append(before, args...))
	if inv.instead != nil {
		return inv.instead(a, inv)
	}
	if len(problems) > 0 {
		for i, p := range problems {
			problems[i].Field = cmp.Or(inv.fields[p.Field], p.Field)
		}
		return &failure{Code: codeUsage, Problems: problems}
	}
	if !inv.cmd.quick {
		ctx = untilInterrupted(ctx)
	}
	return do(ctx, a, inv, rest)
}

// untilInterrupted is ctx until the first signal that asks the process to end.
// It is meant for the rest of the process: signal.NotifyContext would be the
// same, but to stop it takes as long as to write a project.
func untilInterrupted(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // by nohup, say
			signal.Notify(asked, s)
		}
	}
	go func() {
		<-asked
		cancel()
	}()
	return ctx
}

func printHelp(a *app, inv *invocation) error {
	_, err := io.WriteString(a.stdout, inv.cmd.help)
	return err
}

func setupTop(inv *invocation) runFunc {
	inv.insteadFlag(printVersion, "version")
	return setupGroup(inv)
}

// setupGroup is for a command that only has others below it.
func setupGroup(*invocation) runFunc {
	return func(_ context.Context, _ *app, inv *invocation, _ []string) error {
		return usageError("a command is missing; see `%s --help`", inv.path)
	}
}

func setupVersion(*invocation) runFunc {
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		if len(args) > 0 {
			return usageError("takes no arguments, and got %q", args[0])
		}
		return printVersion(a, inv)
	}
}

func printVersion(a *app, inv *invocation) error {
	if !inv.json {
		_, err := fmt.Fprintln(a.stdout, "vbot", version)
		return err
	}
	type module struct {
		Path    string `json:"path"`
		Version string `json:"version"`
	}
	answer := struct {
		Version string   `json:"version"`
		Go      string   `json:"go"`
		Modules []module `json:"modules"`
	}{version, runtime.Version(), []module{}}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			answer.Modules = append(answer.Modules, module{m.Path, m.Version})
		}
	}
	return writeJSON(a.stdout, answer)
}

// writeJSON writes v as indented JSON. It does not escape <, > and &, which
// encoding/json does for the sake of HTML.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Flags. The flag package parses one flag at a time; parse adds what it lacks.

// A switchFlag needs no value: it is --x, or --x=v.
type switchFlag interface {
	flag.Value
	IsBoolFlag() bool
	accepts(value string) bool
	takes() string // what it accepts, in words
}

// toggle is a boolean flag, or the --no- form of one.
type toggle struct {
	set   func(bool)
	value bool // what the bare flag stands for
}

func (t toggle) String() string   { return "" }
func (t toggle) IsBoolFlag() bool { return true }
func (t toggle) takes() string    { return "true or false" }
func (t toggle) accepts(s string) bool {
	return s == "true" || s == "false"
}
func (t toggle) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return err
	}
	t.set(on == t.value)
	return nil
}

// boolFlag registers a boolean as --name and --no-name.
func boolFlag(set *flag.FlagSet, p *bool, names ...string) {
	for _, name := range names {
		set.Var(toggle{func(on bool) { *p = on }, true}, name, "")
		if len(name) > 1 && !strings.HasPrefix(name, "no-") {
			set.Var(toggle{func(on bool) { *p = on }, false}, "no-"+name, "")
		}
	}
}

// textFlag calls put with the value each time the flag is given.
func textFlag(set *flag.FlagSet, put func(string), names ...string) {
	for _, name := range names {
		if name != "" {
			set.Func(name, "", func(s string) error { put(s); return nil })
		}
	}
}

// isOption says whether name is spelled as options are. Other arguments that begin
// with a hyphen are not repeated in messages, for they may be secrets.
func isOption(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == "" && strings.Trim(name, "-") == name && name != ""
}

// parse reads args into set and returns the arguments that are no flags.
//
// Flags and arguments come in any order, `--` ends the flags, the last flag
// wins. Each problem is one line and names the flag but never its value, which
// may be a secret. Parsing goes on after a problem, so that --help and --json
// count wherever they stand.
func parse(set *flag.FlagSet, args []string) (rest []string, problems []problem) {
	wrong := func(name, format string, a ...any) {
		problems = append(problems, problem{Field: name, Message: fmt.Sprintf(format, a...), where: dashed(name)})
	}
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return append(rest, args[1:]...), problems
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest, args = append(rest, arg), args[1:]
			continue
		}
		name, _, inline := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		f := set.Lookup(name)
		if f == nil && !isOption(name) {
			problems = append(problems, problem{Message: "an argument that begins with - is no option; `--` before it makes it an argument"})
			args = args[1:]
			continue
		}
		if f == nil {
			near := nearest(name, flagNames(set))
			if near != "" {
				near = " (did you mean " + dashed(near) + "?)"
			}
			wrong(name, "unknown option%s; see `%s --help`", near, set.Name())
			args = args[1:]
			continue
		}
		n := 1
		sw, isSwitch := f.Value.(switchFlag)
		if isSwitch {
			if !inline && len(args) > 1 && sw.accepts(args[1]) {
				wrong(name, "write %s=%s", dashed(name), args[1])
				args = args[2:]
				continue
			}
		} else if !inline {
			// `--stt --llm x` is a forgotten value, not a service called --llm.
			if len(args) == 1 || isFlag(set, args[1]) {
				wrong(name, "a value is missing")
				args = args[1:]
				continue
			}
			n = 2
		}
		if err := set.Parse(args[:n]); err != nil && isSwitch {
			wrong(name, "takes %s", sw.takes())
		}
		args = args[n:]
	}
	return rest, problems
}

// isFlag says whether arg is a flag of set, or the end of the flags.
func isFlag(set *flag.FlagSet, arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return name == "" || set.Lookup(name) != nil
}

func flagNames(set *flag.FlagSet) (names []string) {
	set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// dashed is the name of a flag as it is typed.
func dashed(name string) string {
	if len([]rune(name)) == 1 {
		return "-" + name
	}
	return "--" + name
}

// didYouMean is " (did you mean X?)" for the nearest of names, if one is near.
func didYouMean(word string, names []string) string {
	if best := nearest(word, names); best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ""
}

// nearest is the name that takes the fewest edits to reach from word, or "" if
// all are more than a third of the word away. Of equals, the first wins.
func nearest(word string, names []string) string {
	best, limit := "", max(1, len([]rune(word))/3)+1
	if len([]rune(word)) < 2 {
		return ""
	}
	for _, name := range names {
		if len([]rune(name)) < 2 {
			continue
		}
		if d := edits(strings.ToLower(word), name); d < limit {
			best, limit = name, d
		}
	}
	return best
}

// edits counts the letters to insert, delete, change or swap with a neighbour to
// get from a to b.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1)
	for i := range d {
		d[i] = make([]int, len(t)+1)
		d[i][0] = i
	}
	for j := range t {
		d[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			d[i+1][j+1] = d[i][j]
			if s[i] != t[j] {
				d[i+1][j+1] = 1 + min(d[i][j+1], d[i+1][j], d[i][j])
				if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
					d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
				}
			}
		}
	}
	return d[len(s)][len(t)]
}

// Errors.

// The codes of the JSON contract. Scripts match on them: they never change.
const (
	codeUsage         = "usage"          // the command line could not be parsed, or nobody can be asked
	codeInvalidConfig = "invalid_config" // it was parsed, and asks for something that cannot be
	codeConflict      = "conflict"       // existing files are in the way
	codeDeclined      = "declined"       // a person said no
	codeInterrupted   = "interrupted"
	codeIO            = "io"
	codeUnauthorized  = "unauthorized" // not signed in, or the API does not know the token
	codeForbidden     = "forbidden"
	codeNotFound      = "not_found"
	codeRejected      = "rejected"    // the API understood, and refuses
	codeUnavailable   = "unavailable" // no answer, or "not now"; later may be better
	codeTimeout       = "timeout"
	codePartial       = "partial" // some of it was done
	codeFailed        = "failed"  // anything else
)

// A failure is an error that a person and a script can act on.
type failure struct {
	Code     string    `json:"code"`
	Message  string    `json:"message"`
	Problems []problem `json:"problems"`
	hint     string    // what to do, printed last
	result   any       // what was done all the same, for --json
	err      error     // the cause, if there is one
}

// A problem is one thing that is wrong: one line of text.
type problem struct {
	Field   string   `json:"field"` // the long configuration key or the argument's name
	Message string   `json:"message"`
	Allowed []string `json:"allowed"`
	where   string   // the field as the person knows it, "--stt (stt_service)"
	missing bool     // nothing was said that is wrong: something was not said
}

func (f *failure) Error() string {
	if f.Message == "" && len(f.Problems) > 0 {
		return f.Problems[0].line()
	}
	return f.Message
}
func (f *failure) Unwrap() error { return f.err }

// line is the problem as text: where, what is wrong, what is allowed.
func (p problem) line() string {
	s := p.Message
	if p.where != "" {
		s = p.where + ": " + s
	}
	if len(p.Allowed) > 0 {
		s += "; allowed: " + strings.Join(p.Allowed, ", ")
	}
	return strings.ReplaceAll(s, "\n", " ") // a key of a file may hold one
}

// text is what a person reads of the failure of the command at path.
func (f *failure) text(path string) string {
	var b strings.Builder
	for _, p := range f.Problems {
		fmt.Fprintf(&b, "%s: %s\n", path, p.line())
	}
	if f.Message != "" {
		fmt.Fprintf(&b, "%s: %s\n", path, f.Message)
	}
	if f.hint != "" {
		fmt.Fprintln(&b, f.hint)
	}
	return printable(b.String())
}

// MarshalJSON fills in a message where the problems say it all, and keeps
// arrays from being null.
func (f *failure) MarshalJSON() ([]byte, error) {
	type plain failure
	out := plain(*f)
	if out.Message == "" {
		out.Message = plural(len(f.Problems), "problem")
	}
	out.Message = printable(out.Message)
	out.Problems = []problem{}
	for _, p := range f.Problems {
		p.Message = printable(p.Message)
		if p.Allowed == nil {
			p.Allowed = []string{}
		}
		out.Problems = append(out.Problems, p)
	}
	return json.Marshal(out)
}

// exitCode is the one place that maps failures to exit codes.
func (f *failure) exitCode() int {
	switch f.Code {
	case codeUsage, codeInvalidConfig:
		return 2
	case codeInterrupted:
		return 130
	}
	return 1
}

// asFailure finds the failure in err's chain, or makes one.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e := asAPI(err); e != nil {
		return e.failure()
	}
	if errors.Is(err, context.Canceled) {
		return interrupted()
	}
	return &failure{Code: codeFailed, Message: err.Error(), err: err}
}

func usageError(format string, args ...any) error {
	return &failure{Code: codeUsage, Message: fmt.Sprintf(format, args...)}
}

func interrupted() *failure {
	return &failure{Code: codeInterrupted, Message: "interrupted; nothing was written"}
}

// interruptible runs f, which may wait for a person or a pipe, and comes back
// when ctx ends, whatever f does.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, interrupted()
	case o := <-done:
		return o.value, o.err
	}
}

// plural is "1 file", "2 files".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
