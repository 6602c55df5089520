package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"vbot/internal/tty"
)

// The command line: what a command runs with, its flags, and dispatch.

// app holds everything that a run takes from outside. Tests replace it.
type app struct {
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	getenv   func(string) string
	dir      string // the working directory, absolute; "" if it was deleted
	now      func() time.Time
	pause    func(context.Context, time.Duration) error
	random   func() float64               // in [0, 1)
	terminal atomic.Pointer[tty.Terminal] // nil before the first question
}

// pause waits for d. If ctx ends first, it returns the error of ctx.
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

// note prints a message to stderr.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.stderr, printable(fmt.Sprintf(format, args...)))
}

// A command is one word of the command line. It either runs or has subcommands.
type command struct {
	name  string
	help  string        // the help page; %s in it stands for fill()
	fill  func() string // nil if the page has no %s
	setup func(inv *invocation) runFunc
	quick bool // it never waits or writes, so a signal may kill it
	sub   []command
	first []string // completions of the first argument
}

// page returns the complete help page.
func (c *command) page() string {
	if c.fill == nil {
		return c.help
	}
	return fmt.Sprintf(c.help, c.fill())
}

// A runFunc runs a command. args are the arguments without the flags.
type runFunc func(ctx context.Context, a *app, inv *invocation, args []string) error

// An invocation is one command line being executed.
type invocation struct {
	root *command
	cmd  *command
	path string // of the command, such as "vbot init"
	set  *flag.FlagSet
	json bool
	// fields maps flags to their configuration keys where the names differ.
	fields map[string]string
	// instead is set by flags such as --help. It runs in place of the command,
	// whatever else is on the line.
	instead func(a *app, inv *invocation) error
}

// report prints v as JSON if --json was given.
func (inv *invocation) report(a *app, v any) error {
	if !inv.json {
		return nil
	}
	return writeJSON(a.stdout, v)
}

// insteadFlag registers a flag that runs f in place of the command.
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

// enter moves to the subcommand called name and reports whether it exists.
func (inv *invocation) enter(name string) bool {
	i := slices.IndexFunc(inv.cmd.sub, func(c command) bool { return c.name == name })
	if i >= 0 {
		inv.cmd, inv.path = &inv.cmd.sub[i], inv.path+" "+name
	}
	return i >= 0
}

// newInvocation returns an invocation at the root command.
func newInvocation(root *command) *invocation {
	return &invocation{root: root, cmd: root, path: root.name}
}

// flags registers the flags of the command and returns its runFunc.
func (inv *invocation) flags() runFunc {
	inv.set = flag.NewFlagSet(inv.path, flag.ContinueOnError)
	inv.set.SetOutput(io.Discard)
	inv.set.Usage = func() {}
	boolFlag(inv.set, &inv.json, "json")
	do := inv.cmd.setup(inv)
	inv.insteadFlag(printHelp, "help", "h")
	return do
}

// dispatch finds the command that args name, parses its flags and runs it.
func dispatch(ctx context.Context, args []string, a *app, inv *invocation) error {
	if len(args) == 0 {
		fmt.Fprint(a.stderr, inv.cmd.page())
		return &failure{Code: codeUsage}
	}
	// Flags may come before the command.
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
		// The text after = may be a misplaced secret: do not repeat it.
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
		ctx = untilInterrupted(ctx, a)
	}
	return do(ctx, a, inv, rest)
}

// untilInterrupted returns a context that ends with the first SIGINT, SIGTERM or
// SIGHUP. The second one ends the program at once, wherever it is: something that
// cannot be interrupted may never return. It is never stopped: stopping
// signal.NotifyContext takes as long as writing a project.
func untilInterrupted(ctx context.Context, a *app) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // by nohup, for example
			signal.Notify(asked, s)
		}
	}
	go func() {
		<-asked
		cancel()
		<-asked
		if t := a.terminal.Load(); t != nil {
			t.Restore()
		}
		os.Exit(interrupted().exitCode())
	}()
	return ctx
}

func printHelp(a *app, inv *invocation) error {
	_, err := io.WriteString(a.stdout, inv.cmd.page())
	return err
}

// setupGroup is for commands that only have subcommands.
func setupGroup(*invocation) runFunc {
	return func(_ context.Context, _ *app, inv *invocation, _ []string) error {
		return usageError("missing command; see `%s --help`", inv.path)
	}
}

// Package flag parses one flag at a time; parse adds what it lacks.

// A switchFlag takes its value only as --x=v. --x alone is enough.
type switchFlag interface {
	flag.Value
	IsBoolFlag() bool
	accepts(value string) bool
	takes() string // the accepted values, in words
}

// toggle is a boolean flag, or the --no- form of one.
type toggle struct {
	set   func(bool)
	value bool // of the bare flag
}

func (t toggle) String() string { return "" }

func (t toggle) IsBoolFlag() bool { return true }

func (t toggle) takes() string { return "true or false" }

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

// textFlag registers a flag that calls put with each value.
func textFlag(set *flag.FlagSet, put func(string), names ...string) {
	for _, name := range names {
		if name != "" {
			set.Func(name, "", func(s string) error { put(s); return nil })
		}
	}
}

// isOption reports whether name is spelled like an option. Other arguments that
// begin with a hyphen may be secrets, so messages do not repeat them.
func isOption(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == "" && strings.Trim(name, "-") == name && name != ""
}

// parse reads the flags in args into set and returns the other arguments.
//
// Flags and arguments come in any order, `--` ends the flags, the last flag
// wins. Each problem is one line that names the flag but never its value, which
// may be a secret. Parsing continues after a problem, so --help and --json work
// in any position.
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
			problems = append(problems, problem{Message: "unknown option; put `--` before an argument that begins with -"})
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
				wrong(name, "use %s=%s", dashed(name), args[1])
				args = args[2:]
				continue
			}
		} else if !inline {
			// In `--stt --llm x` the value of --stt is missing.
			if len(args) == 1 || isFlag(set, args[1]) {
				wrong(name, "missing value")
				args = args[1:]
				continue
			}
			n = 2
		}
		if err := set.Parse(args[:n]); err != nil && isSwitch {
			wrong(name, "must be %s", sw.takes())
		}
		args = args[n:]
	}
	return rest, problems
}

// isFlag reports whether arg is a flag of set, or `--`.
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

// dashed returns the flag as typed: -n or --name.
func dashed(name string) string {
	if len([]rune(name)) == 1 {
		return "-" + name
	}
	return "--" + name
}

// interruptible runs f, which may wait for a person or a pipe. It returns as soon
// as ctx ends, even if f has not returned.
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

// readAll reads a file of at most limit bytes; "-" is stdin.
func readAll(ctx context.Context, a *app, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return interruptible(ctx, func() ([]byte, error) { return readBounded(a.stdin, limit) })
	}
	return readFile(ctx, a, name, limit, 0)
}

// readReady is readAll without stdin. A named pipe that nobody writes to is empty
// instead of keeping vbot waiting.
func readReady(ctx context.Context, a *app, name string, limit int64) ([]byte, error) {
	return readFile(ctx, a, name, limit, syscall.O_NONBLOCK)
}

func readFile(ctx context.Context, a *app, name string, limit int64, mode int) ([]byte, error) {
	return interruptible(ctx, func() ([]byte, error) {
		f, err := os.OpenFile(absolute(a.dir, name), os.O_RDONLY|mode, 0)
		if err != nil {
			return nil, rootCause(err)
		}
		defer f.Close()
		return readBounded(f, limit)
	})
}

func readBounded(in io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("larger than %d bytes", limit)
	}
	return data, rootCause(err)
}

// absolute resolves name against dir.
func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// shellQuote quotes s for a POSIX shell if necessary.
func shellQuote(s string) string {
	special := func(r rune) bool {
		return !(r >= '0' && r <= '9') && !(r >= 'A' && r <= 'Z') && !(r >= 'a' && r <= 'z') && !strings.ContainsRune("_@%+=:,./-", r)
	}
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shellPath quotes a path, and keeps it from looking like an option.
func shellPath(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	return shellQuote(s)
}
