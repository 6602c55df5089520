package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// A Requirement is a variable that must be set, always or if another one is set.
type Requirement struct {
	Name string
	Rule Rule
	// Text is the requirement for people, in Markdown: "either `A` or `B` with `C`"; "" if the variable is
	// needed only if another one is set.
	Text    string
	Page    string     // where a person gets it, or what it is
	Instead [][]string // see Service.Instead
	Address string     // the variable for the address of a server of your own that makes it optional; or ""
	Server  bool       // read by webhooks.py, not by bot.py
	Only    string     // the label of the only transport that needs it, or ""
	OnlyID  string     // the id of that transport, or ""
	Runs    string     // bot.py needs it only if it serves this key of TRANSPORTS; "" if always
}

// A Rule says what must be set. The zero value requires nothing.
type Rule struct {
	Names   []string // of variables; one of them must be set
	OnlyOne bool     // no other one may be set
	IfSet   string   // the rule applies only if this variable is set, or always if ""
}

// IsZero reports whether nothing must be set.
func (r Rule) IsZero() bool { return len(r.Names) == 0 }

// String returns the rule for people: "A", "A or B", "A xor B", "A if B"; "" if nothing must be set.
func (r Rule) String() string {
	between := " or "
	if r.OnlyOne {
		between = " xor "
	}
	text := strings.Join(r.Names, between)
	if r.IfSet != "" {
		text += " if " + r.IfSet
	}
	return text
}

// Requirements returns the requirements of the service. isChoice says that it is one of several
// transports, so that a bot also works without it.
func (s *Service) Requirements(isChoice bool) (out []Requirement) {
	pages := map[string]string{} // by the first word of the variables' names, such as TWILIO
	for _, v := range s.Env {
		r := Requirement{Name: v.Name, Rule: v.Rule(s.Env), Page: cmp.Or(s.KeysURL, v.Note), Server: v.Server}
		if isChoice && s.ModeOf == "" {
			r.Only, r.OnlyID = s.Label, s.ID
		}
		if isChoice && !v.Server {
			r.Runs = cmp.Or(s.Key, "call") // which webhooks.py starts, so that bot.py starts without it
		}
		if v.Required {
			s.describeRequired(&r, v, pages)
		}
		if !r.Rule.IsZero() || r.Text != "" {
			out = append(out, r)
		}
		if v.Required && !v.Server && s.ModeOf != "" {
			// webhooks.py needs it, too, and accepts no other variable instead: see Unless.
			out = append(out, Requirement{Name: v.Name, Rule: Rule{Names: []string{v.Name}}, Server: true})
		}
	}
	return out
}

// describeRequired adds the text for people: that the variable is required, and where they get it.
func (s *Service) describeRequired(r *Requirement, v Variable, pages map[string]string) {
	r.Text = "`" + v.Name + "`"
	r.Instead = s.Instead(v)
	other := s.Unless(v)
	isAddress := func(w Variable) bool { return w.Name == other && w.Kind == "url" }
	switch {
	case slices.ContainsFunc(s.Env, isAddress):
		r.Address = other
	case other != "":
		r.Text = "either " + r.Text + " or `" + other + "`"
		for _, name := range s.with(other) {
			r.Text += " with `" + name + "`"
		}
	}
	prefix, _, _ := strings.Cut(v.Name, "_")
	if v.Page != "" {
		pages[prefix] = v.Page
	} else if v.Server {
		r.Page = v.Note
	}
	r.Page = cmp.Or(pages[prefix], r.Page)
}

// Rule returns what the variable requires. variables are those of its service: one of them may replace it.
func (v Variable) Rule(variables []Variable) Rule {
	switch {
	case v.With != "":
		return Rule{Names: []string{v.Name}, IfSet: v.With}
	case !v.Required:
		return Rule{}
	case v.unless == "":
		return Rule{Names: []string{v.Name}}
	}
	rule := Rule{Names: []string{v.Name, v.unless}}
	for _, w := range variables {
		switch {
		case w.Name != v.unless:
		case w.Without == v.Name:
			rule.OnlyOne = true
		case w.Other != "":
			rule.Names = append(rule.Names, w.Other)
		}
	}
	return rule
}

// Instead returns what may be set in place of the required variable: each alternative is the variables that
// must be set together.
func (s *Service) Instead(v Variable) (alternatives [][]string) {
	for _, name := range v.Rule(s.Env).Names {
		if name != v.Name {
			alternatives = append(alternatives, append([]string{name}, s.with(name)...))
		}
	}
	return alternatives
}

// with returns the variables that must be set, too, if the one with the name is.
func (s *Service) with(name string) (names []string) {
	for _, w := range s.Env {
		if w.With == name {
			names = append(names, w.Name)
		}
	}
	return names
}

// Lines returns the lines of the variable in .env.example: without a value, and commented
// out if it is optional.
func (v Variable) Lines() []string {
	note := v.Note
	if text := cmp.Or(v.Fallback, v.Other); text != "" {
		note += " (default: " + text + ")"
	}
	if v.Required {
		return []string{"# " + note, v.Name + "="}
	}
	return []string{"# optional: " + note, "# " + v.Name + "="}
}

// A Credential is what a person has to get at one page.
type Credential struct {
	Names string // of the variables, for a sentence
	Page  string // or a description, if there is no page
	Only  string // see Requirement
}

// Credentials returns what a person has to get for these requirements, each once.
func Credentials(needed []Requirement) (out []Credential) {
	seen := map[Credential]bool{}
	for _, r := range needed {
		c := Credential{strings.ReplaceAll(r.Text, "`", ""), r.Page, r.Only}
		if last := len(out) - 1; r.Text == "" || seen[c] {
			continue
		} else if last >= 0 && out[last].Page == c.Page && out[last].Only == c.Only {
			out[last].Names = strings.ReplaceAll(out[last].Names, " and ", ", ") + " and " + c.Names
		} else {
			out = append(out, c)
		}
		seen[c] = true
	}
	return out
}

// Credentials returns what a person has to get for this service.
func (s *Service) Credentials() []Credential { return Credentials(s.Requirements(false)) }

// String names the variables, and the transport if only one needs them.
func (c Credential) String() string {
	if c.Only != "" {
		return c.Names + " (only for " + c.Only + ")"
	}
	return c.Names
}

// Line names the variables and their page, in as many lines as a terminal needs.
func (c Credential) Line() string {
	line := c.String() + "  " + c.Page
	if len(line) > 78 {
		line = strings.Replace(c.String(), " or ", "\n    or ", 1) + "\n    " + c.Page
	}
	return line
}

// Keys names what to check if the service rejects its key: at most two variables, or how their names begin
// if that is shorter, so that they fit into a line of bot.py.
func (s *Service) Keys() string {
	var required, optional []string
	between, otherwise := " and ", "its settings" // of a local model, for example
	for _, v := range s.Env {
		switch {
		case v.Kind == "secret" && v.Required:
			required = append(required, v.Name)
		case v.Kind == "secret":
			optional = append(optional, v.Name)
		case v.Kind == "path": // a file in place of a secret, or of a model
			optional, between = append(optional, v.Name), " or "
		case v.Kind == "url" && s.Local(): // a server on a machine of one's own
			otherwise = "that it runs, " + v.Name
		}
	}
	names := strings.Join(required[:min(2, len(required))], " and ")
	if len(required) == 0 {
		names = strings.Join(optional[:min(2, len(optional))], between)
	}
	if len(names) > maxKeys {
		prefix, _, _ := strings.Cut(names, "_")
		return "the " + prefix + "_ variables"
	}
	return cmp.Or(names, otherwise)
}

// maxKeys is the length of the longest text of Keys.
const maxKeys = 50
