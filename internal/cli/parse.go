package cli

import (
	"cmp"
	"flag"
	"maps"
	"slices"
	"strings"

	"vbot/internal/report"
)

// parse reads the options in args and returns the other arguments.
//
// Options and arguments may come in any order; `--` ends the options; the last value of a repeated
// option wins. Each problem is one line that names the option but never its value, which may be a
// secret. Parsing continues after a problem, so --help and --json work in any position.
func (f *Flags) parse(args []string) (rest []string, problems report.Problems) {
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return append(rest, args[1:]...), problems
		}
		if problem, taken := f.longDash(args); problem != nil {
			problems = append(problems, *problem)
			args = args[taken:]
			continue
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			args = args[1:]
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		registered := f.set.Lookup(name)
		if registered == nil {
			problems = append(problems, f.unknownOption(arg))
			args = args[1:]
			continue
		}
		taken, problem := f.parseOption(name, registered.Value.(value), args)
		if problem != nil {
			problems = append(problems, *problem)
		}
		args = args[taken:]
	}
	return rest, problems
}

// dashes look like a hyphen. Editors, chats and web pages may replace hyphens with them.
const dashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"

// longDash returns a problem if args begins with an option whose hyphens became a dash, and how many of args
// that option takes. Otherwise it returns nil, and args[0] may be an argument.
func (f *Flags) longDash(args []string) (problem *report.Problem, taken int) {
	name, _, inline := strings.Cut(strings.TrimLeft(args[0], "-"+dashes), "=")
	o := f.option(name)
	if before, _, _ := strings.Cut(args[0], name); o == nil || !strings.ContainsAny(before, dashes) {
		return nil, 0
	}
	taken = 1
	if o.Placeholder != "" && !o.valueOptional && !inline && len(args) > 1 {
		taken = 2
	}
	message := "is written with a dash here; use hyphens"
	return &report.Problem{Field: o.Key, Where: dashed(name), Message: message}, taken
}

// parseOption reads the option at the beginning of args, which has this name and value. It returns how many
// of args it takes: 1 or 2.
func (f *Flags) parseOption(name string, v value, args []string) (taken int, problem *report.Problem) {
	o := v.option
	_, typed, inline := strings.Cut(args[0], "=")
	refuse := func(message string) *report.Problem {
		p := &report.Problem{Field: o.Key, Where: dashed(name), Message: message}
		if o.Allowed != nil {
			p.Allowed, p.Names = o.Allowed()
		}
		return p
	}
	taken = 1
	switch {
	case inline:
	case v.standalone && len(args) > 1 && v.recognize(args[1]) != "":
		right := dashed(name) + "=" + v.recognize(args[1])
		return 2, &report.Problem{
			Field:   o.Key,
			Where:   dashed(name),
			Message: "its value goes after =, not after a space: " + right,
		}
	case v.standalone:
	case len(args) == 1:
		f.wanting = name
		return 1, refuse("missing value")
	case f.isOption(args[1]): // in `--stt --llm x` the value of --stt is missing
		return 1, refuse("missing value")
	default:
		taken = 2
		typed = args[1]
	}
	isLeftOut := v.standalone && !inline
	isPath := slices.Contains([]string{"FILE", "DIR"}, o.Placeholder)
	if typed == "" && isPath && !isLeftOut { // Path would return Env.Dir
		return taken, refuse("missing value")
	}
	if err := report.CheckFileName(typed); err != nil && o.Placeholder == "FILE" {
		return taken, refuse(err.Error())
	}
	if f.set.Parse(args[:taken]) == nil {
		return taken, f.checkRepeated(o, typed)
	}
	f.json = f.json || name == "json" // a caller that misspells its value still expects JSON
	if v.check != nil {
		return taken, refuse(v.check(typed).Error())
	}
	all, _ := o.Allowed()
	return taken, refuse("unknown value" + report.DidYouMean(report.Nearest(typed, all)))
}

// checkRepeated refuses, or notes, a second value of an option that takes only one. It is silent about the
// same value and about switches, because scripts add options to those that they were given.
func (f *Flags) checkRepeated(o *Option, typed string) *report.Problem {
	before, isRepeated := f.given[o]
	f.given[o] = typed
	if !isRepeated || before == typed || o.Placeholder == "" || o.Repeatable {
		return nil
	}
	if o.Once != "" {
		return &report.Problem{Field: o.Key, Where: o.long(), Message: "given twice; " + o.Once}
	}
	const only = " is given more than once; only the last value counts"
	warning := report.Warning{Field: o.Key, Message: o.long() + only}
	if !slices.Contains(f.warnings, warning) {
		f.warnings = append(f.warnings, warning)
	}
	return nil
}

// isOption reports whether arg is an option, or `--`.
func (f *Flags) isOption(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	return name == "" || f.option(name) != nil
}

// unknownOption returns the problem with arg, which begins with a hyphen but is not an option.
// It repeats arg only if it looks like an option: anything else may be a secret.
func (f *Flags) unknownOption(arg string) report.Problem {
	typed, _, _ := strings.Cut(arg, "=")
	plain := strings.ReplaceAll(strings.ToLower(strings.TrimLeft(typed, "-")), "_", "-")
	short := typed[1:min(2, len(typed))]
	seeHelp := "; see `" + f.path + " --help`"
	isOptionLike := strings.Trim(typed, "abcdefghijklmnopqrstuvwxyz-_") == "" || len(plain) == 1
	if near := f.nearest(plain); near != "" {
		message := "unknown option" + report.DidYouMean(dashed(near)) + seeHelp
		return report.Problem{Field: strings.TrimLeft(typed, "-"), Where: typed, Message: message}
	}
	if o := f.option(short); o != nil && o.Placeholder != "" && !o.valueOptional {
		return report.Problem{Field: o.Key, Where: "-" + short, Message: "put a space before its value"}
	}
	if plain == "" || !isOptionLike {
		return report.Problem{Message: "unknown option; put `--` before an argument that begins with -"}
	}
	field := strings.TrimLeft(typed, "-")
	return report.Problem{Field: field, Where: typed, Message: "unknown option" + seeHelp}
}

// otherNames are the names that other tools have for an option, by its name in vbot.
var otherNames = map[string][]string{
	"skip":       {"yes", "y", "force"},
	"file":       {"env-file", "from-env-file", "dotenv"},
	"value-file": {"from-file", "file-value"},
}

// otherSpellings replaces other tools' prefixes in option names with vbot's.
var otherSpellings = strings.NewReplacer("enable-", "", "with-", "", "disable-", "no-", "without-", "no-")

// nearest returns the long name of the option that is nearest to word, by its name or by
// its key, or "".
func (f *Flags) nearest(word string) string {
	names := map[string]string{} // long names, by these and other words for them
	f.set.VisitAll(func(registered *flag.Flag) {
		name, o := registered.Name, registered.Value.(value).option
		if len(name) == 1 || o.ignored {
			return
		}
		names[name] = name
		key := strings.ReplaceAll(o.Key, "_", "-")
		if strings.HasPrefix(name, "no-") {
			key = "no-" + key
		}
		if f.option(key) == nil {
			names[key] = name
		}
	})
	for name, others := range otherNames {
		if f.option(name) == nil {
			continue
		}
		for _, other := range others {
			names[other] = name
		}
	}
	exact := names[otherSpellings.Replace(word)] // preferred, as the nearest name may mean the opposite
	return cmp.Or(exact, names[report.Nearest(word, slices.Sorted(maps.Keys(names)))])
}
