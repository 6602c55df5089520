package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/report"
)

// Package flag parses one option at a time; parse adds what it lacks.

// An Option is an option as the help page shows it.
type Option struct {
	Names []string `json:"names"` // as typed: "-n", "--name"
	Value string   `json:"value"` // placeholder of its value: "NAME"; "" for a switch
	About string   `json:"about"`

	Key      string                              `json:"-"` // its name in problems; the long one by default
	Complete func(a *App, typed string) []string `json:"-"` // returns its values that begin with typed; may be nil
	// Allowed returns its values if they are fixed, and for people as many as fit a line; it may be nil.
	Allowed func() (all []string, line string) `json:"-"`
	section int
	bare    bool // its value may be left out
}

// A value is what an option does with its text.
type value struct {
	put  func(text string) error
	on   bool   // the option is enough alone, and takes a value only as --x=v
	what string // the accepted values, in words; "" if they are the option's Allowed
	// reads returns the value that the next argument would be, or "".
	reads func(next string) string
}

func (v value) String() string        { return "" }
func (v value) IsBoolFlag() bool      { return v.on }
func (v value) Set(text string) error { return v.put(text) }

// add registers an option. names are its short name, if it has one, and its long one.
func (inv *Invocation) add(names, placeholder, about string, v value) *Option {
	o := &Option{Value: placeholder, About: about, section: inv.section, bare: v.on}
	for _, name := range strings.Fields(names) {
		inv.set.Var(v, name, "")
		inv.named[name] = o
		o.Names = append(o.Names, dashed(name))
		o.Key = name
	}
	inv.options = append(inv.options, o)
	return o
}

// About sets the description of an option that every command has.
func (inv *Invocation) About(name, about string) { inv.named[name].About = about }

// Section begins the next section of options of the help page.
func (inv *Invocation) Section() { inv.section++ }

// Text registers an option with a value. put gets each value.
func (inv *Invocation) Text(names, placeholder, about string, put func(string)) *Option {
	return inv.add(names, placeholder, about, value{put: func(s string) error { put(s); return nil }})
}

// toggle is the value of a boolean option that is on or off if it stands alone.
func toggle(on bool, put func(bool)) value {
	return value{on: true, what: "true or false", reads: truth, put: func(text string) error {
		is, err := strconv.ParseBool(text)
		if err == nil {
			put(is == on)
		}
		return err
	}}
}

// truth returns "true" or "false" for a word that means it, or "".
func truth(word string) string {
	switch strings.ToLower(word) {
	case "true", "yes", "on":
		return "true"
	case "false", "no", "off":
		return "false"
	}
	return ""
}

// Bool registers a boolean option. Its --no- form goes without saying.
func (inv *Invocation) Bool(names, about string, p *bool) *Option {
	o := inv.Toggle(names, about, func(on bool) { *p = on })
	o.Names = o.Names[:len(o.Names)-1]
	return o
}

// Toggle registers a boolean option whose --no- form matters.
func (inv *Invocation) Toggle(names, about string, put func(bool)) *Option {
	o := inv.add(names, "", about, toggle(true, put))
	name := "no-" + o.Key
	inv.set.Var(toggle(false, put), name, "")
	inv.named[name], o.Names = o, append(o.Names, dashed(name))
	return o
}

// Switch registers an option whose value may be left out. put gets "true" if the option
// stands alone. what are its values in words, or "" if Allowed has them. reads returns the
// value that a word would be, or "".
func (inv *Invocation) Switch(name, placeholder, about, what string, reads func(string) string, put func(string) error) *Option {
	return inv.add(name, placeholder, about, value{put: put, on: true, what: what, reads: func(next string) string {
		if s := reads(next); s != "" {
			return s
		}
		return truth(next)
	}})
}

// InsteadOption registers an option that runs do in place of the command.
func (inv *Invocation) InsteadOption(names, about string, do Action) *Option {
	return inv.add(names, "", about, toggle(true, func(on bool) {
		inv.Instead = nil
		if on {
			inv.Instead = do
		}
	}))
}

// dashed returns the option as typed: -n or --name.
func dashed(name string) string {
	if len([]rune(name)) == 1 {
		return "-" + name
	}
	return "--" + name
}

// left is the left column of the option in the help page.
func (o *Option) left() string {
	left := strings.Join(o.Names, ", ")
	if !strings.HasPrefix(left, "--") {
		left = "  " + left
	} else {
		left = "      " + left
	}
	switch {
	case o.Value == "":
		return left
	case o.bare:
		return left + "[=" + o.Value + "]"
	}
	return left + " " + o.Value
}

const (
	maxLeft  = 27 // columns; longer options have a line of their own
	maxWidth = 80
)

// print prints the option, with its description in the column.
func (o *Option) print(b *strings.Builder, column int) {
	line := o.left()
	if len(line) > maxLeft {
		b.WriteString(line + "\n")
		line = ""
	}
	for _, about := range report.Fill(strings.Fields(o.About), "", maxWidth-column) {
		fmt.Fprintf(b, "%-*s%s\n", column, line, about)
		line = ""
	}
}

// parse reads the options in args and returns the other arguments.
//
// Options and arguments come in any order, `--` ends the options, the last one wins. Each
// problem is one line that names the option but never its value, which may be a secret.
// Parsing continues after a problem, so --help and --json work in any position.
func (inv *Invocation) parse(args []string) (rest []string, problems []report.Problem) {
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return append(rest, args[1:]...), problems
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest, args = append(rest, arg), args[1:]
			continue
		}
		name, typed, inline := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		f := inv.set.Lookup(name)
		if f == nil {
			problems, args = append(problems, inv.unknownOption(arg)), args[1:]
			continue
		}
		message, n, v := "", 1, f.Value.(value)
		switch {
		case inline:
		case v.on && len(args) > 1 && v.reads(args[1]) != "":
			problems = append(problems, report.Problem{
				Field: inv.named[name].Key, Where: dashed(name),
				Message: "its value goes after =, not after a space: " + dashed(name) + "=" + v.reads(args[1]),
			})
			args = args[2:]
			continue
		case v.on:
		case len(args) == 1:
			message, inv.wanting = "missing value", name
		case inv.isOption(args[1]): // in `--stt --llm x` the value of --stt is missing
			message = "missing value"
		default:
			n = 2
		}
		if message == "" && inv.set.Parse(args[:n]) != nil {
			message = "must be " + v.what
			if v.what == "" {
				all, _ := inv.named[name].Allowed()
				message = "unknown value" + report.DidYouMean(report.Nearest(typed, all))
			}
			inv.JSON = inv.JSON || name == "json" // who typed it reads JSON
		}
		if message != "" {
			p := report.Problem{Field: inv.named[name].Key, Message: message, Where: dashed(name)}
			if allowed := inv.named[name].Allowed; allowed != nil {
				p.Allowed, p.Names = allowed()
			}
			problems = append(problems, p)
		}
		args = args[n:]
	}
	return rest, problems
}

// isOption reports whether arg is an option, or `--`.
func (inv *Invocation) isOption(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return name == "" || inv.named[name] != nil
}

// unknownOption returns the problem with arg, which begins with a hyphen but is no option.
// It repeats arg only if that resembles an option: others may be secrets.
func (inv *Invocation) unknownOption(arg string) report.Problem {
	typed, _, _ := strings.Cut(arg, "=")
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(typed, "-")), "_", "-")
	short := typed[1:min(2, len(typed))]
	if near := inv.nearest(plain); near != "" {
		return report.Problem{Field: inv.named[near].Key, Where: typed, Message: "unknown option" + report.DidYouMean(dashed(near)) + "; see `" + inv.Path + " --help`"}
	} else if o := inv.named[short]; o != nil && o.Value != "" && !o.bare {
		return report.Problem{Field: o.Key, Where: "-" + short, Message: "put a space before its value"}
	} else if len(plain) != 1 && strings.Trim(typed, "abcdefghijklmnopqrstuvwxyz-_") != "" || plain == "" {
		return report.Problem{Message: "unknown option; put `--` before an argument that begins with -"}
	}
	return report.Problem{Field: plain, Where: typed, Message: "unknown option; see `" + inv.Path + " --help`"}
}

// nearest returns the long name of the option that is nearest to word, by its name or by
// its key, or "".
func (inv *Invocation) nearest(word string) string {
	flags := map[string]string{}
	for name, o := range inv.named {
		if len(name) == 1 {
			continue
		}
		flags[name] = name
		key := strings.ReplaceAll(o.Key, "_", "-")
		if strings.HasPrefix(name, "no-") {
			key = "no-" + key
		}
		if inv.named[key] == nil {
			flags[key] = name
		}
	}
	if inv.named["skip"] != nil { // the word for what other tools call so
		flags["yes"], flags["y"], flags["force"] = "skip", "skip", "skip"
	}
	// As other tools spell it. The nearest name may mean the opposite.
	plain := strings.NewReplacer("enable-", "", "with-", "", "disable-", "no-", "without-", "no-").Replace(word)
	return cmp.Or(flags[plain], flags[report.Nearest(word, slices.Sorted(maps.Keys(flags)))])
}
