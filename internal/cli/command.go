package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"vbot/internal/report"
)

// A Command is a command of the tree: one that runs, a group of other commands, or a help page.
type Command struct {
	Name    string // as typed: "login"
	Args    Args
	New     func(*Flags) Runner // makes the runner, and registers its options; nil for a group or a page
	Results Results
	// EndsAtOnce says that there is nothing to interrupt: the command neither waits nor writes. It runs
	// without a signal handler, which saves a tenth of the time of `vbot version`.
	EndsAtOnce bool

	Topic bool // only a help page: `vbot help NAME`
	Sub   []Command
	// Other has advice for commands that vbot does not have, by name ("rm") or, where the advice differs, by
	// path ("vbot cloud secrets add"). It is nil except in the root.
	Other map[string]string
	page  string // the help page, with marks such as {options}
}

// A Runner is a command with its options. Run returns what the command did or found. With an error, it
// returns the part that was done or found before.
type Runner interface {
	Run(context.Context, *Env) (report.Result, error)
}

// A RunnerFunc is a command without options of its own, or what runs instead of a command.
type RunnerFunc func(*Env) (report.Result, error)

func (f RunnerFunc) Run(_ context.Context, e *Env) (report.Result, error) { return f(e) }

// A Preparer is a Runner that reads what Run needs, such as files, or that checks more than its Args and
// Options declare. Prepare returns what is wrong. If there is any problem with the command line, Run is
// not called.
type Preparer interface {
	Prepare(context.Context, *Env) report.Problems
}

// JSONOf returns what --json prints for the result: what its method JSON returns, or the result itself.
func JSONOf(r report.Result) any {
	if other, ok := r.(interface{ JSON() any }); ok {
		return other.JSON()
	}
	return r
}

// A Document is a result that is JSON even without --json. Its form is fixed, so no warnings are added to it.
type Document struct{ Value any }

func (d Document) Text(out *report.Printer) { out.PrintJSON(d.Value) }

func (d Document) JSON() any { return d.Value }

// Results are values of the types that a command prints with --json, for `vbot schema`: {"": Written{},
// "check": Compared{}}. The key is the option or argument with which it prints that type, or "".
type Results map[string]any

// Args are the arguments that a command takes.
type Args struct {
	Named []Arg    // in their order
	Rest  bool     // any number may follow the named ones; the command itself checks them
	Words []string // completions of the first argument; may be AnyDir
}

// An Arg describes one argument of a command, or the rest of them.
type Arg struct {
	Name     string // as problems name it: "key"
	Optional bool
	Repeated bool // the last one: it may be given several times
	// Check returns an error if the argument is invalid. It may be nil: then any value but "" is valid.
	// Errors never repeat an argument, which may be a misplaced secret.
	Check func(text string) error
}

// check checks a text that was given for the argument.
func (a Arg) check(text string) error {
	switch {
	case text == "":
		return errors.New("must not be empty")
	case a.Check != nil:
		return a.Check(text)
	}
	return nil
}

// check returns the problems with the arguments. command is the command as typed.
func (a Args) check(command string, args []string) (problems report.Problems) {
	isRepeated := false
	for i, arg := range a.Named {
		isRepeated = arg.Repeated
		given := args[min(i, len(args)):]
		if len(given) == 0 && !arg.Optional {
			problems.Add(arg.Name, strings.ToUpper(arg.Name), "missing").Usage = true
		}
		if len(given) > 1 && !arg.Repeated {
			given = given[:1]
		}
		for n, text := range given {
			field := arg.Name
			if len(given) > 1 {
				field += fmt.Sprintf(" %d", n+1)
			}
			if err := arg.check(text); err != nil {
				problems.Add(field, strings.ToUpper(field), "%v", err)
			}
		}
	}
	switch {
	case a.Rest || isRepeated || len(args) <= len(a.Named):
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

// names returns the names of the commands below this one, or of the help topics. It is never nil, because
// JSON would have null.
func (c *Command) names(topics bool) []string {
	names := []string{}
	for _, sub := range c.Sub {
		if sub.Topic == topics {
			names = append(names, sub.Name)
		}
	}
	return names
}

// summary returns the first line of the help page: "print the version of vbot".
func (c *Command) summary() string {
	line, _, _ := strings.Cut(c.page, "\n")
	return strings.ToLower(line[:1]) + strings.TrimSuffix(line[1:], ".")
}

// typedAfter returns the command as typed below its parent: "vbot cloud login" below "vbot cloud".
func (c *Command) typedAfter(parent string) string {
	if c.Topic {
		parent += " help"
	}
	return parent + " " + c.Name
}
