package render

import (
	"slices"
	"strconv"
	"strings"

	"vbot/internal/catalog"
)

// Required are the variables of .env that bot.py requires when it starts, as entries of a Python list.
// ServerRequired and SelfHostRequired are those that webhooks.py and self_host.py require in addition.
func (d *Data) Required() []string       { return d.required(false) }
func (d *Data) ServerRequired() []string { return d.required(true) }
func (d *Data) SelfHostRequired() (entries []string) {
	for _, r := range d.requirements {
		if r.Calls && !r.Rule.IsZero() {
			entries = append(entries, needs(r.Rule, ""))
		}
	}
	for _, v := range d.selfHost {
		if rule := v.Rule(nil); !rule.IsZero() {
			entries = append(entries, needs(rule, ""))
		}
	}
	return entries
}

// SelfHostTransports are the words of -t for the transports that a rule of bot.py depends on. self_host.py
// serves all of them.
func (d *Data) SelfHostTransports() (keys []string) {
	for _, r := range d.requirements {
		if r.Runs != "" && !r.Rule.IsZero() && !slices.Contains(keys, r.Runs) {
			keys = append(keys, r.Runs)
		}
	}
	return keys
}

// required are the entries for bot.py or for webhooks.py, each once.
func (d *Data) required(server bool) (entries []string) {
	for _, r := range d.requirements {
		if r.Server != server || r.Calls || r.Rule.IsZero() {
			continue
		}
		if entry := needs(r.Rule, r.Runs); !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// needs returns the rule as an argument of settings.require: the name of a variable, or Needs(...). If
// transport, a word of -t, is not "", the rule applies only to that transport.
func needs(rule catalog.Rule, transport string) string {
	var arguments []string
	for _, name := range rule.Names {
		arguments = append(arguments, strconv.Quote(name))
	}
	if rule.OnlyOne {
		arguments = append(arguments, "only_one=True")
	}
	if rule.IfSet != "" {
		arguments = append(arguments, "if_set="+strconv.Quote(rule.IfSet))
	}
	if transport != "" {
		arguments = append(arguments, "transport="+strconv.Quote(transport))
	}
	if len(arguments) == 1 {
		return arguments[0]
	}
	return "Needs(" + strings.Join(arguments, ", ") + ")"
}

// MustBeSet are the variables that every session needs, as README.md lists them.
func (d *Data) MustBeSet() (texts []string) {
	seen := map[string]bool{}
	for _, r := range d.requirements {
		if r.Text != "" && !r.Rule.IsZero() && r.Runs == "" && !r.Calls && !r.Server && !seen[r.Name] {
			seen[r.Name] = true
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// Needed are the variables that only this transport needs, for a sentence.
func (d *Data) Needed(t Service) string {
	var texts []string
	for _, r := range d.requirements {
		if r.Text != "" && r.Only == t.Label {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, " and ")
}

// Keyless are the variables for an address of your own server that make a required key
// optional.
func (d *Data) Keyless() string {
	var names []string
	for _, r := range d.requirements {
		if r.Address != "" {
			names = append(names, "`"+r.Address+"`")
		}
	}
	return strings.Join(slices.Compact(names), ", ")
}

// Credentials are what a person has to get.
func (d *Data) Credentials() []catalog.Credential { return catalog.Credentials(d.requirements) }

// NewCredentials are what a person has to get in addition to the credentials of another bot.
func (d *Data) NewCredentials(was *Data) []catalog.Credential {
	had := map[string]bool{}
	for _, r := range was.requirements {
		had[r.Name] = had[r.Name] || r.Text != ""
	}
	var needed []catalog.Requirement
	for _, r := range d.requirements {
		if !had[r.Name] {
			needed = append(needed, r)
		}
	}
	return catalog.Credentials(needed)
}

// HandsOver are the entries of REQUIRED in bot.py for the number that calls are transferred to. It is
// needed if the bot serves telephones.
func (d *Data) HandsOver() (entries []string) {
	rule := catalog.Rule{Names: []string{"COLLEAGUE"}}
	if len(d.Transports) == 1 {
		return []string{needs(rule, "")}
	}
	for _, t := range d.Transports {
		if t.Service.Telephony && t.Key != "exotel" {
			entries = append(entries, needs(rule, t.Key))
		}
	}
	return slices.Compact(entries)
}
