package cli

import (
	"cmp"
	"context"
	"io/fs"
	"strings"

	"vbot/internal/report"
)

// A Command is one word of the command line. It either runs, has commands below it, or is only
// a help page.
type Command struct {
	Name    string
	Args    Args
	New     func(*Flags) Runner // registers the options of the runner; nil if it does not run
	Results Results
	// EndsAtOnce says that there is nothing to interrupt: the command neither waits nor writes. It runs
	// without a signal handler, which saves a tenth of the time of `vbot version`.
	EndsAtOnce bool

	Topic bool // only a help page: `vbot help NAME`
	Sub   []Command
	Other map[string]string // commands that vbot does not have, by name or whole path, and what to do instead
	page  string            // the help page, in which {options} stands for a section of options
}

// A Runner is a command with its options. Run returns what the command did or found, also if it
// returns an error.
type Runner interface {
	Run(context.Context, *Env) (report.Result, error)
}

// A Preparer is a Runner that reads what Run needs, such as files, or that checks more than its Args and
// Options declare. Prepare returns what is wrong. If there is any problem with the command line, Run is
// not called.
type Preparer interface {
	Prepare(context.Context, *Env) report.Problems
}

// JSONOf returns what --json prints for the result.
func JSONOf(r report.Result) any {
	if other, ok := r.(interface{ JSON() any }); ok {
		return other.JSON()
	}
	return r
}

// A Document is a result that is JSON even without --json.
type Document struct{ Value any }

// Text prints the document.
func (d Document) Text(out *report.Printer) { out.PrintJSON(d.Value) }

// JSON returns the document.
func (d Document) JSON() any { return d.Value }

// Results are examples of what a command prints with --json, for `vbot schema`: {"": Written{},
// "check": Compared{}}. The key is an option or argument, or "" for none.
type Results map[string]any

// Args are the arguments that a command takes.
type Args struct {
	Named []Arg    // in their order
	Rest  bool     // any number may follow the named ones; the command itself checks them
	Words []string // completions of the first argument; may be AnyDir
}

// An Arg is an argument.
type Arg struct {
	Name     string // as problems name it: "key"
	Optional bool
	// Check returns what is wrong with the argument, or ""; nil if it may have any value but "". Messages
	// never repeat an argument, which may be a misplaced secret.
	Check func(text string) string
}

// check returns what is wrong with the arguments. command is the command as typed.
func (a Args) check(command string, args []string) (problems report.Problems) {
	for i, arg := range a.Named {
		field, where := arg.Name, strings.ToUpper(arg.Name)
		switch {
		case i >= len(args) && !arg.Optional:
			problems.Add(field, where, "missing").Usage = true
		case i >= len(args):
		case args[i] == "":
			problems.Add(field, where, "must not be empty")
		case arg.Check != nil:
			if fault := arg.Check(args[i]); fault != "" {
				problems.Add(field, where, "%s", fault)
			}
		}
	}
	switch {
	case a.Rest || len(args) <= len(a.Named):
	case len(a.Named) == 0:
		problems.Add("arguments", "", "%s takes no arguments, got %d", command, len(args)).Usage = true
	default:
		most := report.Plural(len(a.Named), "argument")
		problems.Add("arguments", "", "%s takes at most %s, got %d", command, most, len(args)).Usage = true
	}
	return problems
}

// WithPages adds the help pages of the command and of all commands below it. files has them as
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

// typedAfter returns the command as typed after its parent: "vbot cloud login" after "vbot cloud".
func (c *Command) typedAfter(parent string) string {
	if c.Topic {
		parent += " help"
	}
	return parent + " " + c.Name
}
