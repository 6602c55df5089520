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
	// EndsAtOnce says that there is nothing to interrupt: the command neither waits nor writes.
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
	Names    []string // as problems name them, in their order: "name", "key"
	Required int      // how many of them must be there
	Rest     bool     // any number may follow the named ones
	Words    []string // completions of the first argument; may be AnyDir

	// Refuse returns an error if there are too many or too few arguments. It may be nil: then the
	// message is the usual one. command is the command as typed.
	Refuse func(command string, args []string) error
}

// check adds a fault if the number of arguments is wrong. Messages never repeat an argument, which may
// be a misplaced secret.
func (a Args) check(command string, args []string, faults *report.Faults) error {
	if a.Refuse != nil {
		return a.Refuse(command, args)
	}
	for i, name := range a.Names {
		switch where := strings.ToUpper(name); {
		case i >= len(args) && i < a.Required:
			faults.Usage.Add(name, where, "missing")
		case i < len(args) && args[i] == "":
			faults.Values.Add(name, where, "must not be empty")
		}
	}
	switch {
	case a.Rest || len(args) <= len(a.Names):
	case len(a.Names) == 0:
		faults.Usage.Add("arguments", "", "%s takes no arguments, got %d", command, len(args))
	default:
		most := report.Plural(len(a.Names), "argument")
		faults.Usage.Add("arguments", "", "%s takes at most %s, got %d", command, most, len(args))
	}
	return nil
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

// below returns the command as typed, below the one typed as path.
func (c *Command) below(path string) string {
	if c.Topic {
		path += " help"
	}
	return path + " " + c.Name
}
