package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Keys names what to check when the service refuses its key: at most two variables,
// so that a sentence in bot.py holds them.
func (p *provider) Keys() string {
	var required, optional []string
	between := " and "
	for _, v := range p.env {
		switch {
		case v.kind == "secret" && v.required:
			required = append(required, v.name)
		case v.kind == "secret":
			optional = append(optional, v.name)
		case v.kind == "path": // a file in place of a secret, or of a model
			optional, between = append(optional, v.name), " or "
		}
	}
	switch {
	case len(required) > 0:
		return strings.Join(required[:min(2, len(required))], " and ")
	case len(optional) > 0:
		return strings.Join(optional[:min(2, len(optional))], between)
	}
	return "its settings" // of a local model, for example
}

// must is a required variable in README.md, with what takes its place.
func (p *provider) must(v variable) string {
	text := "`" + v.name + "`"
	if other := p.unless(v); other != "" && !p.isAddress(other) {
		text += ", or `" + other + "`"
		for _, w := range p.env {
			if w.with == other {
				text += " and `" + w.name + "`"
			}
		}
	}
	return text
}

// isAddress reports whether the variable name holds an address.
func (p *provider) isAddress(name string) bool {
	return slices.ContainsFunc(p.env, func(v variable) bool { return v.name == name && v.kind == "url" })
}

// Needed lists the variables that the transport requires, for a sentence.
func (p *provider) Needed() string {
	var out []string
	for _, v := range p.env {
		if v.required && !v.server {
			out = append(out, p.must(v))
		}
	}
	return strings.Join(out, " and ")
}

// requiredKeys are variables that must be set, and where to get them.
type requiredKeys struct {
	names string
	page  string // or a description, if there is no page
	only  string // the transport without which nobody needs them, or ""
}

// keys returns what the service requires.
func (p *provider) keys() (out []requiredKeys) {
	elsewhere := map[string]string{} // pages of variables that begin with a word, such as TWILIO
	for _, v := range p.env {
		if !v.required {
			continue
		}
		k := requiredKeys{names: strings.ReplaceAll(p.must(v), "`", ""), page: cmp.Or(p.keysURL, v.note)}
		vendor, _, _ := strings.Cut(v.name, "_")
		if _, page, ok := strings.Cut(v.note, " from https://"); ok {
			elsewhere[vendor] = "https://" + page
		} else if v.server {
			k.page = v.note
		}
		k.page = cmp.Or(elsewhere[vendor], k.page)
		if last := len(out) - 1; last >= 0 && out[last].page == k.page {
			out[last].names += " and " + k.names
		} else {
			out = append(out, k)
		}
	}
	return out
}

// A startCheck holds the variables that a program checks when it starts.
type startCheck struct {
	required   []string
	conditions []startCondition
	conflicts  [][2]string // pairs of which one is refused beside the other
}

// A startCondition lists the variables required if a variable is set, and if it is unset.
type startCondition struct {
	isSet      string // in Python
	set, unset []string
}

// add adds the variable of a provider that has the variables env. A variable of
// several providers is added once for each.
func (c *startCheck) add(v variable, env []variable) {
	on := func(name string) *startCondition {
		isSet := `os.getenv("` + name + `")`
		if i := slices.IndexFunc(env, func(w variable) bool { return w.name == name }); i >= 0 && env[i].other != "" {
			isSet = "(" + isSet + ` or os.getenv("` + env[i].other + `"))`
		}
		i := slices.IndexFunc(c.conditions, func(o startCondition) bool { return o.isSet == isSet })
		if i < 0 {
			i = len(c.conditions)
			c.conditions = append(c.conditions, startCondition{isSet: isSet})
		}
		return &c.conditions[i]
	}
	once := func(names *[]string) {
		if !slices.Contains(*names, v.name) {
			*names = append(*names, v.name)
		}
	}
	switch {
	case v.unless != "":
		once(&on(v.unless).unset)
	case v.with != "":
		once(&on(v.with).set)
	case v.required:
		once(&c.required)
	}
	if both := [2]string{v.name, v.without}; v.without != "" && !slices.Contains(c.conflicts, both) {
		c.conflicts = append(c.conflicts, both)
	}
}

// code is Python that passes each problem to the function report.
func (c startCheck) code(report string) string {
	var b strings.Builder
	line := func(format string, names ...any) { fmt.Fprintf(&b, "    "+format+"\n", names...) }
	times := map[string]int{}
	require := func(names []string) {
		for _, name := range names {
			line(`    required.append("%s")`, name)
			times[name]++
		}
	}
	if len(c.required) > 0 {
		line("required = [")
		for _, name := range c.required {
			line(`    "%s",`, name)
			times[name]++
		}
		line("]")
	} else if len(c.conditions) > 0 {
		line("required: list[str] = []")
	}
	for _, on := range c.conditions {
		switch {
		case len(on.set) == 0:
			line("if not %s:", on.isSet)
			require(on.unset)
		default:
			line("if %s:", on.isSet)
			require(on.set)
			if len(on.unset) > 0 {
				line("else:")
				require(on.unset)
			}
		}
	}
	if len(c.required)+len(c.conditions) > 0 {
		names := "required"
		if len(times) > 0 && slices.Max(slices.Collect(maps.Values(times))) > 1 {
			names = "dict.fromkeys(required)" // without repetitions
		}
		line("if missing := [name for name in %s if not os.getenv(name)]:", names)
		line(`    %s(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")`, report)
	}
	for _, both := range c.conflicts {
		line(`if os.getenv("%s") and os.getenv("%s"):`, both[0], both[1])
		line(`    %s("Set %s or %s in .env, not both.")`, report, both[1], both[0])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lines returns the variable as in .env.example: without a value, and commented out if
// it is optional.
func (v variable) lines() []string {
	note := v.note
	if text := cmp.Or(v.fallback, v.other); text != "" {
		note += " (default: " + text + ")"
	}
	if v.required {
		return []string{"# " + note, v.name + "="}
	}
	return []string{"# optional: " + note, "# " + v.name + "="}
}
