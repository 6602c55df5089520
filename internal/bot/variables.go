package bot

import (
	"cmp"
	"slices"
	"strings"
)

// Keys names what to check when the service refuses its key: at most two variables,
// so that a sentence in bot.py holds them.
func (p *Provider) Keys() string {
	var required, optional []string
	between := " and "
	for _, v := range p.Env {
		switch {
		case v.Kind == "secret" && v.Required:
			required = append(required, v.Name)
		case v.Kind == "secret":
			optional = append(optional, v.Name)
		case v.Kind == "path": // a file in place of a secret, or of a model
			optional, between = append(optional, v.Name), " or "
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
func (p *Provider) must(v variable) string {
	text := "`" + v.Name + "`"
	if other := p.Unless(v); other != "" && !p.isAddress(other) {
		text += ", or `" + other + "`"
		for _, w := range p.Env {
			if w.With == other {
				text += " and `" + w.Name + "`"
			}
		}
	}
	return text
}

// isAddress reports whether the variable name holds an address.
func (p *Provider) isAddress(name string) bool {
	return slices.ContainsFunc(p.Env, func(v variable) bool { return v.Name == name && v.Kind == "url" })
}

// Needed lists the variables that the transport requires, for a sentence.
func (p *Provider) Needed() string {
	var out []string
	for _, v := range p.Env {
		if v.Required {
			out = append(out, p.must(v))
		}
	}
	return strings.Join(out, " and ")
}

// Credential are variables that must be set, and where to get them.
type Credential struct {
	Names string
	Page  string // or a description, if there is no page
	Only  string // the transport without which nobody needs them, or ""
}

// String names the variables, and what needs them if not every session does.
func (c Credential) String() string {
	if c.Only != "" {
		return c.Names + " (only for " + c.Only + ")"
	}
	return c.Names
}

// Line names the variables and their page, in one line or two.
func (c Credential) Line() string {
	line := c.String() + "  " + c.Page
	if len(line) > 78 {
		line = strings.Replace(line, "  ", "\n    ", 1)
	}
	return line
}

// Credentials returns what the service requires.
func (p *Provider) Credentials() (out []Credential) {
	elsewhere := map[string]string{} // pages of variables that begin with a word, such as TWILIO
	for _, v := range p.Env {
		if !v.Required {
			continue
		}
		k := Credential{Names: strings.ReplaceAll(p.must(v), "`", ""), Page: cmp.Or(p.KeysURL, v.Note)}
		vendor, _, _ := strings.Cut(v.Name, "_")
		if _, page, ok := strings.Cut(v.Note, " from https://"); ok {
			elsewhere[vendor] = "https://" + page
		} else if v.server {
			k.Page = v.Note
		}
		k.Page = cmp.Or(elsewhere[vendor], k.Page)
		if last := len(out) - 1; last >= 0 && out[last].Page == k.Page {
			out[last].Names = strings.ReplaceAll(out[last].Names, " and ", ", ") + " and " + k.Names
		} else {
			out = append(out, k)
		}
	}
	return out
}

// requirement returns what must be set, of a provider that has the variables env, as
// settings.require reads it; "" if v is optional.
func (v variable) requirement(env []variable) string {
	switch {
	case v.With != "":
		return v.Name + " if " + v.With
	case !v.Required:
		return ""
	case v.unless == "":
		return v.Name
	}
	for _, w := range env {
		switch {
		case w.Name != v.unless:
		case w.Without == v.Name:
			return v.Name + " xor " + w.Name
		case w.Other != "":
			return v.Name + " or " + w.Name + " or " + w.Other
		}
	}
	return v.Name + " or " + v.unless
}

// lines returns the variable as in .env.example: without a value, and commented out if
// it is optional.
func (v variable) lines() []string {
	note := v.Note
	if text := cmp.Or(v.Fallback, v.Other); text != "" {
		note += " (default: " + text + ")"
	}
	if v.Required {
		return []string{"# " + note, v.Name + "="}
	}
	return []string{"# optional: " + note, "# " + v.Name + "="}
}
