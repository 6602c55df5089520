package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"vbot/internal/report"
	"vbot/internal/tty"
)

// An invocation is the search for the command that a command line names.
type invocation struct {
	root    *Command
	command *Command // found so far
	path    string   // the command as typed: "vbot init"
	help    bool     // `vbot help ...`, which also knows topics
}

// newInvocation returns an invocation that has found the root command.
func newInvocation(root *Command) *invocation {
	return &invocation{root: root, command: root, path: root.Name}
}

// Run runs the command of the tree that args name, prints its result or failure, and returns the exit
// code. It does not exit itself, so that every defer runs; a second signal does.
func Run(ctx context.Context, root *Command, args []string, e *Env) int {
	e.Warnings = &[]report.Warning{}
	result, err := newInvocation(root).dispatch(ctx, args, e)
	if notPrinted := e.print(result, err); err == nil {
		err = notPrinted
	} else if notPrinted != nil {
		fmt.Fprintln(e.Stderr, "error: writing the result:", notPrinted)
	}
	if err == nil {
		return 0
	}
	if pipe, ok := errors.AsType[*fs.PathError](err); ok && pipe.Err == syscall.EPIPE {
		return 128 + int(syscall.SIGPIPE) // stdout is closed; see SurviveClosedPipes
	}
	f := report.As(err)
	fmt.Fprint(e.Stderr, f.Text(e.hasColors()))
	return f.ExitCode()
}

// print prints what a command returned, except the text of a failure. Only this function writes to
// stdout. JSON comes first, because stderr may be closed.
func (e *Env) print(result report.Result, err error) error {
	out := &report.Printer{Stdout: e.Stdout, Stderr: e.Stderr, Terminal: tty.IsTerminal(e.Stdout)}
	var v any
	if result != nil {
		v = JSONOf(result)
	}
	if err != nil {
		v = report.As(err).JSON(v)
	}
	if _, isDocument := result.(Document); v != nil && (err != nil || !isDocument) {
		v = report.Joined{v, report.Warnings{Warnings: *e.Warnings}}
	}
	if e.JSON && v != nil {
		out.Stdout = nil
		out.Err = report.WriteJSON(e.Stdout, v)
	}
	if result != nil {
		result.Text(out)
	}
	return out.Err
}

// dispatch finds the command that args name, parses its options, and runs it, or what an option asks for
// instead.
func (inv *invocation) dispatch(ctx context.Context, args []string, e *Env) (report.Result, error) {
	others, name, known := inv.find(args)
	flags, runner := inv.register()
	rest, problems := flags.parse(others)
	e.JSON, e.NoInput = flags.json, flags.noInput
	e.Command, e.Args, e.Typed = inv.path, rest, others
	switch {
	case len(args) == 0:
		fmt.Fprint(e.Stderr, inv.page(flags))
		return nil, &report.Failure{Code: report.Usage}
	case flags.earlyExit != nil && (known || !inv.help):
		return flags.earlyExit(e)
	case !known:
		return nil, inv.unknownCommand(name)
	case inv.help:
		return inv.helpPage(flags), nil
	case len(problems) > 0:
		return nil, &report.Failure{Code: report.Usage, Problems: problems}
	case runner == nil:
		list := strings.Join(inv.command.names(false), ", ")
		return nil, report.Usagef("missing command (%s); see `%s --help`", list, inv.path)
	}
	for _, w := range flags.warnings {
		e.Warn(w.Field, "", "%s", w.Message)
	}
	if e.HandleSignals && !inv.command.EndsAtOnce {
		ctx = untilSignal(ctx, e)
	}
	problems = append(inv.command.Args.check(inv.path, rest), flags.check()...)
	if p, ok := runner.(Preparer); ok {
		problems = append(problems, p.Prepare(ctx, e)...)
		if ctx.Err() != nil { // reading a file may have failed only because of it
			return nil, report.Interruption()
		}
	}
	if len(problems) > 0 {
		return nil, problems.Err()
	}
	return runner.Run(ctx, e)
}

// find enters the commands that args name, and returns the other arguments, because options may
// come before a command. At a word that is not a command, it stops, and returns that word and false.
func (inv *invocation) find(args []string) (others []string, name string, known bool) {
	known = true
	for len(args) > 0 && inv.command.Sub != nil && known {
		// The text after = may be a misplaced secret: do not repeat it.
		name, _, _ = strings.Cut(args[0], "=")
		switch {
		case strings.HasPrefix(name, "-"):
			others = append(others, args[0])
		case name == "help":
			inv.help = true
		default:
			known = inv.enter(name)
		}
		args = args[1:]
	}
	return append(others, args...), name, known
}

// enter moves to the command called name below this one, and reports whether it exists.
func (inv *invocation) enter(name string) bool {
	i := slices.IndexFunc(inv.command.Sub, func(c Command) bool {
		return c.Name == name && (inv.help || !c.Topic)
	})
	if i < 0 {
		return false
	}
	inv.command = &inv.command.Sub[i]
	inv.path = inv.command.typedAfter(inv.path)
	return true
}

// register makes the command's runner and registers its options. The runner is nil for a group or a page.
func (inv *invocation) register() (flags *Flags, runner Runner) {
	flags = newFlags(inv)
	if inv.command != inv.root {
		inv.root.New(flags) // --version works everywhere
	}
	printJSON := boolean(true, func(on bool) { flags.json = on })
	printJSON.check = func(string) error { return errors.New("takes no list of fields; it prints all") }
	asJSON := flags.add("json", "", "print the result as JSON", printJSON)
	flags.addName(asJSON, "no-json", boolean(false, func(on bool) { flags.json = on }))
	noInput := flags.add("no-input", "", "never ask", boolean(true, func(on bool) { flags.noInput = on }))
	flags.options = nil // only one page shows --version, and these two come last
	if inv.command.New != nil {
		runner = inv.command.New(flags)
	}
	asJSON.section, noInput.section = flags.section, flags.section
	flags.options = append(flags.options, noInput, asJSON)
	flags.EarlyExit("h help", "print this help", func(*Env) (report.Result, error) {
		return inv.helpPage(flags), nil
	})
	return flags, runner
}

// unknownCommand returns the failure for a word that is not a command.
func (inv *invocation) unknownCommand(name string) error {
	if other := cmp.Or(inv.root.Other[inv.path+" "+name], inv.root.Other[name]); other != "" {
		return report.Usagef("%s has no command %q; %s", inv.path, name, other)
	}
	return report.Usagef("unknown command %q%s; see `%s --help`", name, inv.meant(name), inv.path)
}

// meant returns " (did you mean `vbot init`?)" for the command that is nearest to word, or
// "". A first argument such as quickstart counts as a command.
func (inv *invocation) meant(word string) string {
	var names, paths []string
	add := func(name, path string) {
		names = append(names, name)
		paths = append(paths, path)
	}
	var walk func(c *Command, path string)
	walk = func(c *Command, path string) {
		for _, sub := range c.Sub {
			add(sub.Name, sub.typedAfter(path))
		}
		for _, sub := range c.Sub {
			for _, word := range sub.Args.Words {
				if word[0] != ':' { // else it is AnyFile or AnyDir
					add(word, sub.typedAfter(path)+" "+word)
				}
			}
			walk(&sub, sub.typedAfter(path))
		}
	}
	walk(inv.root, inv.root.Name)
	if i := slices.Index(names, report.Nearest(word, names)); i >= 0 {
		return report.DidYouMean("`" + paths[i] + "`")
	}
	return ""
}
