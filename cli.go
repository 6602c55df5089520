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
	"runtime"
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
	noInput  bool                         // --no-input was given
	terminal atomic.Pointer[tty.Terminal] // nil before the first question
}

// sleep waits for d. If ctx ends first, it returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
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

// isDumb reports whether the terminal knows neither colours nor cursor movement, or
// is unknown, as on Windows.
func (a *app) isDumb() bool {
	kind := a.getenv("TERM")
	return kind == "" || kind == "dumb"
}

// colours reports whether stderr shows colours.
func (a *app) colours() bool {
	return tty.IsTerminal(a.stderr) && !a.isDumb() && a.getenv("NO_COLOR") == ""
}

// A command is one word of the command line. It either runs, has subcommands, or is
// only a help page.
type command struct {
	name     string
	help     string        // the help page; %s in it stands for fill()
	fill     func() string // nil if the page has no %s
	setup    func(inv *invocation) runFunc
	quick    bool // it never waits or writes, so a signal may kill it
	pageOnly bool // only a help page: `vbot help NAME`
	sub      []command
	first    []string // completions of the first argument
	shapes   []shape  // what it prints as JSON
}

// A shape is what a command prints as JSON: a value of its type. Its name follows the
// command's: "list-options". It is empty if the command has one shape.
type shape struct {
	name  string
	value any
}

// oneShape is the shape of a command that has one.
func oneShape(value any) []shape { return []shape{{"", value}} }

// page returns the complete help page.
func (c *command) page() string {
	if c.fill == nil {
		return c.help
	}
	return fmt.Sprintf(c.help, c.fill())
}

// below returns the command as typed, below the one typed as path.
func (c *command) below(path string) string {
	if c.pageOnly {
		path += " help"
	}
	return path + " " + c.name
}

// A runFunc runs a command. args are the arguments without the flags.
type runFunc func(ctx context.Context, a *app, inv *invocation, args []string) error

// An invocation is one command line being executed.
type invocation struct {
	root       *command
	cmd        *command
	path       string // of the command, such as "vbot init"
	set        *flag.FlagSet
	json       bool
	noInput    bool
	help       bool    // `vbot help ...`, which also knows topics
	catalogDir *string // of --catalog; nil if it was not given
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

// catalogFlag registers --catalog.
func (inv *invocation) catalogFlag() {
	textFlag(inv.set, func(s string) { inv.catalogDir = &s }, "catalog")
}

// enter moves to the subcommand called name and reports whether it exists.
func (inv *invocation) enter(name string) bool {
	i := slices.IndexFunc(inv.cmd.sub, func(c command) bool { return c.name == name && (inv.help || !c.pageOnly) })
	if i < 0 {
		return false
	}
	inv.cmd = &inv.cmd.sub[i]
	inv.path = inv.cmd.below(inv.path)
	return true
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
	if inv.cmd != inv.root {
		inv.root.setup(inv) // --version works everywhere
	}
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
	known, name := true, ""
	for len(args) > 0 && inv.cmd.sub != nil && known {
		// The text after = may be a misplaced secret: do not repeat it.
		name, _, _ = strings.Cut(args[0], "=")
		switch {
		case strings.HasPrefix(name, "-"):
			before = append(before, args[0])
		case name == "help":
			inv.help = true
		default:
			known = inv.enter(name)
		}
		args = args[1:]
	}

	do := inv.flags()
	rest, problems := inv.parse(append(before, args...))
	switch {
	case inv.instead != nil && (known || !inv.help):
		return inv.instead(a, inv)
	case !known:
		return usageError("unknown command %q%s; see `%s --help`", name, inv.meant(name), inv.path)
	case inv.help:
		return printHelp(a, inv)
	case len(problems) > 0:
		return &failure{Code: codeUsage, Problems: problems}
	}
	a.noInput = inv.noInput
	if !inv.cmd.quick {
		ctx = untilInterrupted(ctx, a)
	}
	return do(ctx, a, inv, rest)
}

// meant returns " (did you mean `vbot init`?)" for the command that is nearest to
// word, or "". The commands below the current one come first.
func (inv *invocation) meant(word string) string {
	var names, paths []string
	add := func(name, path string) { names, paths = append(names, name), append(paths, path) }
	var walk func(c *command, path string)
	walk = func(c *command, path string) {
		for _, sub := range c.sub {
			add(sub.name, sub.below(path))
		}
		for _, sub := range c.sub {
			for _, word := range sub.first {
				if word[0] != ':' { // such as quickstart
					add(word, sub.below(path)+" "+word)
				}
			}
			walk(&sub, sub.below(path))
		}
	}
	walk(inv.cmd, inv.path)
	walk(inv.root, inv.root.name)
	if i := slices.Index(names, nearest(word, names)); i >= 0 {
		return didYouMean("`" + paths[i] + "`")
	}
	return ""
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

// printHelp prints the help page; as JSON also its parts, for tools.
func printHelp(a *app, inv *invocation) error {
	if !inv.json {
		_, err := io.WriteString(a.stdout, inv.cmd.page())
		return err
	}
	commands := []string{}
	for _, c := range inv.cmd.sub {
		commands = append(commands, c.name)
	}
	return writeJSON(a.stdout, helpAnswer{inv.path, inv.cmd.page(), commands, optionLines(inv.cmd.page())})
}

// A helpAnswer is the JSON of a help page.
type helpAnswer struct {
	Command  string       `json:"command"`
	Page     string       `json:"page"`
	Commands []string     `json:"commands"`
	Options  []optionLine `json:"options"`
}

// An optionLine is the description of one option in a help page.
type optionLine struct {
	Names []string `json:"names"` // as typed: "-n", "--name"
	Value string   `json:"value"` // placeholder of its value: "NAME"; "" for a switch
	About string   `json:"about"`
}

// optionLines parses the sections of a help page with "options" in the heading.
func optionLines(help string) []optionLine {
	out := []optionLine{}
	inOptions := false
	for line := range strings.Lines(help) {
		text := strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, " "):
			if text != "" {
				inOptions = strings.Contains(strings.ToLower(text), "options") && strings.HasSuffix(text, ":")
			}
		case !inOptions:
		case strings.HasPrefix(text, "-"):
			spelled, about, _ := strings.Cut(text, "  ")
			l := optionLine{About: strings.TrimSpace(about)}
			for name := range strings.SplitSeq(spelled, ", ") {
				name, l.Value, _ = strings.Cut(name, " ")
				name, _, _ = strings.Cut(name, "[=")
				l.Names = append(l.Names, name)
			}
			out = append(out, l)
		case len(out) > 0: // continues the line before
			l := &out[len(out)-1]
			l.About = strings.TrimSpace(l.About + " " + text)
		}
	}
	return out
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
	takes() string // the accepted values, in words
	// reads returns the value that the next argument would be, or "".
	reads(next string) string
}

// toggle is a boolean flag, or the --no- form of one.
type toggle struct {
	set   func(bool)
	value bool // of the bare flag
}

func (t toggle) String() string { return "" }

func (t toggle) IsBoolFlag() bool { return true }

func (t toggle) takes() string { return "true or false" }

func (t toggle) reads(next string) string {
	switch strings.ToLower(next) {
	case "true", "yes", "on":
		return "true"
	case "false", "no", "off":
		return "false"
	}
	return ""
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

// parse reads the flags in args and returns the other arguments.
//
// Flags and arguments come in any order, `--` ends the flags, the last flag
// wins. Each problem is one line that names the flag but never its value, which
// may be a secret. Parsing continues after a problem, so --help and --json work
// in any position.
func (inv *invocation) parse(args []string) (rest []string, problems []problem) {
	set := inv.set
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
		if f == nil {
			problems, args = append(problems, inv.unknownOption(arg)), args[1:]
			continue
		}
		wrong := func(format string, a ...any) {
			problems = append(problems, problem{Field: inv.field(name), Message: fmt.Sprintf(format, a...), where: dashed(name)})
		}
		n := 1
		sw, isSwitch := f.Value.(switchFlag)
		if isSwitch {
			if !inline && len(args) > 1 && sw.reads(args[1]) != "" {
				wrong("its value goes after =, not after a space: %s=%s", dashed(name), sw.reads(args[1]))
				args = args[2:]
				continue
			}
		} else if !inline {
			// In `--stt --llm x` the value of --stt is missing.
			if len(args) == 1 || isFlag(set, args[1]) {
				wrong("missing value")
				args = args[1:]
				continue
			}
			n = 2
		}
		if err := set.Parse(args[:n]); err != nil && isSwitch {
			wrong("must be %s", sw.takes())
		}
		args = args[n:]
	}
	return rest, problems
}

// field returns the name of a flag in problems: its key or, like the help page, its
// long name.
func (inv *invocation) field(name string) string {
	for _, l := range optionLines(inv.cmd.page()) {
		if slices.Contains(l.Names, dashed(name)) {
			long := slices.IndexFunc(l.Names, func(name string) bool { return len(name) > 2 })
			name = strings.TrimPrefix(l.Names[max(0, long)], "--")
		}
	}
	return cmp.Or(inv.fields[name], name)
}

// unknownOption returns the problem with arg, which begins with a hyphen but is no
// flag. It repeats arg only if that resembles an option: others may be secrets.
func (inv *invocation) unknownOption(arg string) problem {
	typed, _, _ := strings.Cut(arg, "=")
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(typed, "-")), "_", "-")
	near := inv.nearestFlag(plain)
	short := typed[1:min(2, len(typed))]
	switch {
	case near != "":
		return problem{Field: inv.field(near), where: typed, Message: "unknown option" + didYouMean(dashed(near))}
	case inv.takesValue(short):
		return problem{Field: inv.field(short), where: "-" + short, Message: "put a space before its value"}
	case len(plain) != 1 && strings.Trim(typed, "abcdefghijklmnopqrstuvwxyz-_") != "" || plain == "":
		return problem{Message: "unknown option; put `--` before an argument that begins with -"}
	}
	return problem{Field: plain, where: typed, Message: "unknown option; see `" + inv.path + " --help`"}
}

// nearestFlag returns the flag that is nearest to word, by its name or its
// configuration key, or "". A single letter stands for the only flag that begins
// with it.
func (inv *invocation) nearestFlag(word string) string {
	flags := map[string]string{}
	var names []string
	inv.set.VisitAll(func(f *flag.Flag) {
		flags[f.Name], names = f.Name, append(names, f.Name)
		key := strings.ReplaceAll(inv.fields[f.Name], "_", "-")
		if strings.HasPrefix(f.Name, "no-") {
			key = "no-" + key
		}
		if len(f.Name) > 1 && inv.fields[f.Name] != "" && flags[key] == "" {
			flags[key], names = f.Name, append(names, key)
		}
	})
	if len(word) != 1 {
		// As other tools spell it. The nearest name may mean the opposite.
		plain := strings.NewReplacer("enable-", "", "with-", "", "disable-", "no-", "without-", "no-").Replace(word)
		return cmp.Or(flags[plain], flags[nearest(word, names)])
	}
	names = slices.DeleteFunc(names, func(name string) bool { return len(name) == 1 || name[0] != word[0] })
	if len(names) != 1 {
		return ""
	}
	return flags[names[0]]
}

// takesValue reports whether the next word is the value of the option.
func (inv *invocation) takesValue(name string) bool {
	f := inv.set.Lookup(name)
	if f == nil {
		return false
	}
	_, isSwitch := f.Value.(switchFlag)
	return !isSwitch
}

// isFlag reports whether arg is a flag of set, or `--`.
func isFlag(set *flag.FlagSet, arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return name == "" || set.Lookup(name) != nil
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

// openFolder opens a folder for reading. Links in it that lead elsewhere cannot be
// followed.
func openFolder(a *app, name string) (*os.Root, error) {
	if name != "" {
		name = absolute(a.dir, name)
	}
	root, err := os.OpenRoot(name)
	return root, rootCause(err)
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

// shellQuote quotes s if necessary: for a POSIX shell, or on Windows for PowerShell
// and cmd.
func shellQuote(s string) string { return quoteOn(runtime.GOOS, s) }

func quoteOn(goos, s string) string {
	safe := "_@%+=:,./-"
	if goos == "windows" {
		safe += `\`
	}
	special := func(r rune) bool {
		return !(r >= '0' && r <= '9') && !(r >= 'A' && r <= 'Z') && !(r >= 'a' && r <= 'z') && !strings.ContainsRune(safe, r)
	}
	switch {
	case s != "" && strings.IndexFunc(s, special) < 0:
		return s
	case goos == "windows":
		return `"` + s + `"` // no path holds a double quote
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
