package cli

import (
	"cmp"
	"errors"
	"flag"
	"io"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/report"
)

// Flags are the options of a command, and what the command line gives for them. Package flag parses one
// option with its value; parse finds the options among the arguments.
type Flags struct {
	Root    *Command // of the tree
	Command *Command // whose options these are
	path    string   // the command as typed: "vbot init"

	set     *flag.FlagSet // its values are of the type value
	options []*Option     // in the order of the help page
	section int           // the section of the help page for the next option

	// What the command line gives.
	json     bool
	noInput  bool
	given    map[*Option]string // the options that were given, with their last values
	warnings []report.Warning   // such as about repeated options
	wanting  string             // the last option, if its value is missing, or ""
	// earlyExit runs instead of the command if an option asks for it; nil if none does.
	earlyExit RunnerFunc
}

func newFlags(inv *invocation) *Flags {
	f := &Flags{
		Root:    inv.root,
		Command: inv.command,
		path:    inv.path,
		given:   map[*Option]string{},
	}
	f.set = flag.NewFlagSet(inv.path, flag.ContinueOnError)
	f.set.SetOutput(io.Discard)
	f.set.Usage = func() {}
	return f
}

// An Option is an option as the help page shows it.
type Option struct {
	Names       []string `json:"names" about:"as typed: -n, --name"`
	Placeholder string   `json:"value" about:"placeholder of its value; empty for a switch"`
	About       string   `json:"about" about:"what it does"`

	Key string `json:"-"` // its name in problems; by default the long one, without hyphens
	// Repeatable says that all its values count, not only the last one.
	Repeatable bool `json:"-"`
	// Once is why a second value is refused, such as "only one file is read"; "" if the last one counts.
	Once string `json:"-"`
	// Required says that the option must be given.
	Required bool `json:"-"`
	// Check returns an error if the last value is invalid. It may be nil: then any value is valid.
	Check func(text string) error `json:"-"`
	// Complete returns the values of the option that begin with typed; it may be nil.
	Complete func(e *Env, typed string) []string `json:"-"`
	// Allowed returns its values if they are fixed, and a line for people that lists them; it may be nil.
	Allowed func() (all []string, line string) `json:"-"`

	section       int // of the help page
	valueOptional bool
	ignored       bool // see Flags.Ignored
}

// A value is the flag.Value of one name of an option.
type value struct {
	option     *Option
	put        func(text string) error
	standalone bool // the value may be left out, and is given only as --x=v
	// check returns the error for a text that put refuses. It may be nil if Allowed lists the valid ones.
	check func(text string) error
	// recognize is for a value that was typed after a space: it returns the value that next means, or "" if
	// next is an argument. It may be nil unless standalone.
	recognize func(next string) string
}

func (v value) String() string        { return "" }
func (v value) IsBoolFlag() bool      { return v.standalone }
func (v value) Set(text string) error { return v.put(text) }

// add registers an option. names are its short name, if it has one, and its long one.
func (f *Flags) add(names, placeholder, about string, v value) *Option {
	o := &Option{Placeholder: placeholder, About: about, section: f.section, valueOptional: v.standalone}
	for _, name := range strings.Fields(names) {
		f.addName(o, name, v)
		o.Names = append(o.Names, dashed(name))
		o.Key = name
	}
	f.options = append(f.options, o)
	return o
}

// addName registers a name of an option, with what its values do.
func (f *Flags) addName(o *Option, name string, v value) {
	v.option = o
	f.set.Var(v, name, "")
}

// option returns the option with the name, which has no hyphens before it; nil if there is none.
func (f *Flags) option(name string) *Option {
	if registered := f.set.Lookup(name); registered != nil {
		return registered.Value.(value).option
	}
	return nil
}

// About sets the description of an option that every command has.
func (f *Flags) About(name, about string) { f.option(name).About = about }

// Section begins the next section of options of the help page, which takes the place of the next {options}.
func (f *Flags) Section() { f.section++ }

// String registers an option that sets *p to its value. Without the option, *p keeps its default.
func (f *Flags) String(names, placeholder, about string, p *string) *Option {
	return f.Func(names, placeholder, about, func(text string) { *p = text })
}

// List registers an option that may be given several times; each value is added to *p.
func (f *Flags) List(names, placeholder, about string, p *[]string) *Option {
	o := f.Func(names, placeholder, about, func(text string) { *p = append(*p, text) })
	o.Repeatable = true
	return o
}

// Func registers an option with a value. put gets each value.
func (f *Flags) Func(names, placeholder, about string, put func(text string)) *Option {
	return f.add(names, placeholder, about, value{put: func(text string) error {
		put(text)
		return nil
	}})
}

// boolean returns the flag.Value of a boolean option. put gets on for --x and --x=true, and the opposite for
// --x=false.
func boolean(on bool, put func(bool)) value {
	return value{
		standalone: true,
		check:      func(string) error { return errors.New("must be true or false") },
		recognize:  truth,
		put: func(text string) error {
			isTrue, err := strconv.ParseBool(text)
			if err == nil {
				put(isTrue == on)
			}
			return err
		},
	}
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

// Bool registers a boolean option. Its --no- form is not shown.
func (f *Flags) Bool(names, about string, p *bool) *Option {
	o := f.Toggle(names, about, p)
	o.Names = o.Names[:len(o.Names)-1]
	return o
}

// Toggle registers a boolean option. Its --no- form is shown, too.
func (f *Flags) Toggle(names, about string, p *bool) *Option {
	return f.ToggleFunc(names, about, func(on bool) { *p = on })
}

// ToggleFunc is Toggle with a function that gets each value.
func (f *Flags) ToggleFunc(names, about string, put func(on bool)) *Option {
	o := f.add(names, "", about, boolean(true, put))
	name := "no-" + o.Key
	f.addName(o, name, boolean(false, put))
	o.Names = append(o.Names, dashed(name))
	return o
}

// Ignored registers an option of another tool that has no effect here. why is for the help page and for a
// note when it is given.
func (f *Flags) Ignored(name, why string) {
	warning := report.Warning{Field: name, Message: dashed(name) + " has no effect: " + why}
	warn := func(bool) { f.warnings = append(f.warnings, warning) }
	f.add(name, "", "ignored: "+why, boolean(true, warn)).ignored = true
}

// An OptionalValueFlag is an option whose value may be left out, such as --wait and --wait=30s.
type OptionalValueFlag struct {
	Name, Placeholder, About string

	Put func(text string) error // gets "true" if there is no value
	// Check returns the error for a text that Put refuses. It may be nil if Allowed lists the valid ones.
	Check func(text string) error
	// Recognize is for a value that was typed after a space by mistake: it returns the value that the word
	// means, or "" if the word is an argument.
	Recognize func(word string) string
}

// OptionalValue registers an option whose value may be left out.
func (f *Flags) OptionalValue(o OptionalValueFlag) *Option {
	return f.add(o.Name, o.Placeholder, o.About, value{
		put:        o.Put,
		standalone: true,
		check:      o.Check,
		recognize:  func(next string) string { return cmp.Or(o.Recognize(next), truth(next)) },
	})
}

// EarlyExit registers an option such as --help, which runs do instead of the command, whatever else is on the
// command line.
func (f *Flags) EarlyExit(names, about string, do RunnerFunc) *Option {
	return f.add(names, "", about, boolean(true, func(on bool) {
		f.SetEarlyExit(nil)
		if on {
			f.SetEarlyExit(do)
		}
	}))
}

// SetEarlyExit sets what runs instead of the command; nil for the command itself.
func (f *Flags) SetEarlyExit(do RunnerFunc) { f.earlyExit = do }

// check returns the problems with the options that were given, and with those that are missing, sorted by
// name. The parser has already refused what it cannot read.
func (f *Flags) check() (problems report.Problems) {
	byName := func(a, b *Option) int { return strings.Compare(a.Key, b.Key) }
	for _, o := range slices.SortedFunc(slices.Values(f.options), byName) {
		text, isGiven := f.given[o]
		switch {
		case !isGiven && o.Required:
			problems.Add(o.Key, o.long(), "missing").Usage = true
		case isGiven && o.Check != nil:
			if err := o.Check(text); err != nil {
				problems.Add(o.Key, o.long(), "%v", err)
			}
		}
	}
	return problems
}

// long returns the long name as typed.
func (o *Option) long() string { return o.Names[len(o.Names)-1] }

// dashed returns the option as typed: -n or --name.
func dashed(name string) string {
	if len([]rune(name)) == 1 {
		return "-" + name
	}
	return "--" + name
}
