package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"vbot/internal/report"
)

// A Command is one word of the command line. It either runs, has subcommands, or is only
// a help page.
type Command struct {
	Name  string
	Setup func(inv *Invocation) RunFunc // registers the options; nil if it does not run
	Topic bool                          // only a help page: `vbot help NAME`
	Sub   []Command
	First []string          // completions of the first argument
	Other map[string]string // commands that vbot lacks, and what to do instead
	page  string            // the help page, in which {options} stands for a section of options
}

// WithPages adds the help pages of the command and all below it. files has them as
// help/PATH.txt, where PATH is the command's: cloud-login.
func WithPages(files fs.FS, root *Command) *Command {
	var add func(c *Command, path string)
	add = func(c *Command, path string) {
		page, err := fs.ReadFile(files, "help/"+cmp.Or(path, c.Name)+".txt")
		if err != nil {
			panic(err)
		}
		c.page = string(page)
		for i := range c.Sub {
			sub := &c.Sub[i]
			add(sub, strings.TrimPrefix(path+"-"+sub.Name, "-"))
		}
	}
	add(root, "")
	return root
}

// below returns the command as typed, below the one typed as path.
func (c *Command) below(path string) string {
	if c.Topic {
		path += " help"
	}
	return path + " " + c.Name
}

// A RunFunc runs a command. args are the arguments without the options.
type RunFunc func(ctx context.Context, a *App, inv *Invocation, args []string) error

// An Invocation is one command line being executed.
type Invocation struct {
	Root    *Command
	Cmd     *Command
	Path    string // of the command, such as "vbot init"
	JSON    bool   // --json was given
	Instead Action // what an option asks for in place of the command, or nil

	help    bool // `vbot help ...`, which also knows topics
	set     *flag.FlagSet
	options []*Option          // in the order of the help page
	named   map[string]*Option // by name, without hyphens
	section int                // of the help page
	wanting string             // the option whose value would be the next word, or ""
	noInput bool
}

// An Action runs in place of a command, whatever else is on the line.
type Action func(a *App, inv *Invocation) error

// Report prints v as JSON if --json was given, and then the message: whoever reads messages
// may have gone.
func (inv *Invocation) Report(a *App, v any, format string, args ...any) (err error) {
	if inv.JSON {
		err = report.WriteJSON(a.Stdout, v)
	}
	if format != "" {
		a.Note(format, args...)
	}
	return err
}

// Print prints the answer: v as JSON if --json was given, or else the text. It is for answers
// that cost little: both are made.
func (inv *Invocation) Print(a *App, v any, text string) error {
	if inv.JSON {
		return report.WriteJSON(a.Stdout, v)
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// enter moves to the subcommand called name and reports whether it exists.
func (inv *Invocation) enter(name string) bool {
	i := slices.IndexFunc(inv.Cmd.Sub, func(c Command) bool { return c.Name == name && (inv.help || !c.Topic) })
	if i < 0 {
		return false
	}
	inv.Cmd = &inv.Cmd.Sub[i]
	inv.Path = inv.Cmd.below(inv.Path)
	return true
}

// newInvocation returns an invocation at the root command.
func newInvocation(root *Command) *Invocation {
	return &Invocation{Root: root, Cmd: root, Path: root.Name}
}

// Run runs the command of the tree that args name, and returns its exit code. Only main and
// a second signal exit, so every defer runs.
func Run(ctx context.Context, root *Command, args []string, a *App) int {
	inv := newInvocation(root)
	err := inv.dispatch(ctx, args, a)
	if err == nil {
		return 0
	}
	if pipe, ok := errors.AsType[*fs.PathError](err); ok && pipe.Err == syscall.EPIPE {
		return 128 + int(syscall.SIGPIPE) // nobody reads the answer; see UntilInterrupted
	}
	f := report.As(err)
	if inv.JSON {
		if err := report.WriteJSON(a.Stdout, f.JSON()); err != nil {
			fmt.Fprintln(a.Stderr, "error: writing the answer:", err)
		}
	}
	fmt.Fprint(a.Stderr, f.Text(a.colors()))
	return f.ExitCode()
}

// dispatch finds the command that args name, parses its options and runs it.
func (inv *Invocation) dispatch(ctx context.Context, args []string, a *App) error {
	others, name, known := inv.find(args)
	do := inv.setup()
	rest, problems := inv.parse(others)
	switch {
	case len(args) == 0:
		fmt.Fprint(a.Stderr, inv.page())
		return &report.Failure{Code: report.Usage}
	case inv.Instead != nil && (known || !inv.help):
		return inv.Instead(a, inv)
	case !known:
		if other := inv.Root.Other[name]; other != "" {
			return report.Usagef("%s has no command %q; %s", inv.Path, name, other)
		}
		return report.Usagef("unknown command %q%s; see `%s --help`", name, inv.meant(name), inv.Path)
	case inv.help:
		return printHelp(a, inv)
	case len(problems) > 0:
		return &report.Failure{Code: report.Usage, Problems: problems}
	case do == nil:
		var names []string
		for _, sub := range inv.Cmd.Sub {
			names = append(names, sub.Name)
		}
		return report.Usagef("missing command (%s); see `%s --help`", strings.Join(names, ", "), inv.Path)
	}
	a.NoInput = inv.noInput
	return do(ctx, a, inv, rest)
}

// find enters the commands that args name, and returns the other arguments: options may come
// before a command. If a word is no command, it ends there, and reports the name and false.
func (inv *Invocation) find(args []string) (others []string, name string, known bool) {
	known = true
	for len(args) > 0 && inv.Cmd.Sub != nil && known {
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

// setup registers the options of the command, and returns its RunFunc.
func (inv *Invocation) setup() (do RunFunc) {
	inv.set = flag.NewFlagSet(inv.Path, flag.ContinueOnError)
	inv.set.SetOutput(io.Discard)
	inv.set.Usage = func() {}
	inv.named = map[string]*Option{}
	if inv.Cmd != inv.Root {
		inv.Root.Setup(inv) // --version works everywhere
	}
	asJSON := inv.Bool("json", "print the result as JSON", &inv.JSON)
	noInput := inv.add("no-input", "", "never ask", toggle(true, func(on bool) { inv.noInput = on }))
	inv.options = nil // --version stands on one page, and these two come last
	if inv.Cmd.Setup != nil {
		do = inv.Cmd.Setup(inv)
	}
	asJSON.section, noInput.section = inv.section, inv.section
	inv.options = append(inv.options, noInput, asJSON)
	inv.InsteadOption("h help", "print this help", printHelp)
	return do
}

// meant returns " (did you mean `vbot init`?)" for the command that is nearest to word, or
// "".
func (inv *Invocation) meant(word string) string {
	var names, paths []string
	add := func(name, path string) { names, paths = append(names, name), append(paths, path) }
	var walk func(c *Command, path string)
	walk = func(c *Command, path string) {
		for _, sub := range c.Sub {
			add(sub.Name, sub.below(path))
		}
		for _, sub := range c.Sub {
			for _, word := range sub.First {
				if word[0] != ':' { // such as quickstart
					add(word, sub.below(path)+" "+word)
				}
			}
			walk(&sub, sub.below(path))
		}
	}
	walk(inv.Root, inv.Root.Name)
	if i := slices.Index(names, report.Nearest(word, names)); i >= 0 {
		return report.DidYouMean("`" + paths[i] + "`")
	}
	return ""
}

// page returns the help page: its options are those that are registered.
func (inv *Invocation) page() string {
	column := 0
	for _, o := range inv.options {
		if left := len(o.left()); left <= maxLeft {
			column = max(column, left+4)
		}
	}
	page := inv.Cmd.page
	for section := 0; strings.Contains(page, "{options}\n"); section++ {
		var b strings.Builder
		for _, o := range inv.options {
			if o.section == section {
				o.print(&b, column)
			}
		}
		page = strings.Replace(page, "{options}\n", b.String(), 1)
	}
	return page
}

// printHelp prints the help page; as JSON also its parts, for tools.
func printHelp(a *App, inv *Invocation) error {
	out := HelpAnswer{inv.Path, inv.page(), []string{}, []Option{}}
	for _, c := range inv.Cmd.Sub {
		out.Commands = append(out.Commands, c.Name)
	}
	for _, o := range inv.options {
		if strings.Contains(inv.Cmd.page, "{options}") {
			out.Options = append(out.Options, *o)
		}
	}
	return inv.Print(a, out, out.Page)
}

// A HelpAnswer is the JSON of a help page.
type HelpAnswer struct {
	Command  string   `json:"command"`
	Page     string   `json:"page"`
	Commands []string `json:"commands"`
	Options  []Option `json:"options"`
}
