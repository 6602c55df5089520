package render

import (
	"slices"
	"strconv"
	"strings"

	"vbot/internal/catalog"
)

// Required returns what must be right before bot.py starts, as entries of a Python list: variables, and
// functions that say what is wrong.
func (d *Data) Required() []string {
	entries := d.required(false)
	if d.Reads("GOOGLE_CREDENTIALS_JSON") {
		entries = append(entries, "google.problems")
	}
	if d.DetectsVoicemail() {
		entries = append(entries, "voicemail.problems")
	}
	if d.Recording {
		entries = append(entries, "Recording.problems")
	}
	return entries
}

// ServerRequired returns what must be right before webhooks.py starts.
func (d *Data) ServerRequired() []string { return d.required(true) }

// SelfHostRequired returns what self_host.py requires in addition to bot.py.
func (d *Data) SelfHostRequired() (entries []string) {
	for _, v := range d.selfHost {
		if rule := v.Rule(nil); !rule.IsZero() {
			entries = append(entries, d.needs(rule, ""))
		}
	}
	return entries
}

// required returns the entries for bot.py or for webhooks.py, each once.
func (d *Data) required(server bool) (entries []string) {
	for _, r := range d.requirements {
		if r.Server != server || r.Rule.IsZero() {
			continue
		}
		if entry := d.needs(r.Rule, r.Runs); !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// needs returns the rule as an entry of REQUIRED in bot.py: the name of a variable, or vbot.Needs(...). If
// transport, a key of TRANSPORTS, is not "", the rule applies only to that transport.
func (d *Data) needs(rule catalog.Rule, transport string) string {
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
	if value := d.inTests(rule.Names[0]); value != "" {
		arguments = append(arguments, "in_tests="+strconv.Quote(value))
	}
	if len(arguments) == 1 {
		return arguments[0]
	}
	return "vbot.Needs(" + strings.Join(arguments, ", ") + ")"
}

// inTests returns what the tests of the bot set a required variable to, or "" if any text will do.
func (d *Data) inTests(name string) string {
	for _, s := range d.all() {
		for _, v := range s.Env {
			switch {
			case v.Name != name || !d.EnableEval:
			case v.Kind == "url":
				return "https://test.example"
			case v.Kind == "region":
				return "us-east-1"
			}
		}
	}
	return ""
}

// MustBeSet returns the variables that every session needs, as README.md lists them.
func (d *Data) MustBeSet() (texts []string) {
	seen := map[string]bool{}
	for _, r := range d.requirements {
		if r.Text != "" && !r.Rule.IsZero() && r.Runs == "" && !r.Server && !seen[r.Name] {
			seen[r.Name] = true
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// Needed returns the variables that only this transport needs, for a sentence.
func (d *Data) Needed(t Service) string {
	var texts []string
	for _, r := range d.requirements {
		if r.Text != "" && r.Only == t.Label {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, " and ")
}

// Keyless returns the variables for an address of your own server that make a required key
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

// Credentials returns what a person has to get.
func (d *Data) Credentials() []catalog.Credential { return catalog.Credentials(d.requirements) }

// ToGet returns the variables whose values a person has to get, in addition to those of another bot if was is
// not nil.
func (d *Data) ToGet(was *Data) (needed []catalog.Requirement) {
	had := map[string]bool{}
	if was != nil {
		for _, r := range was.ToGet(nil) {
			had[r.Name] = true
		}
	}
	for _, r := range d.requirements {
		if r.Text != "" && !had[r.Name] {
			needed = append(needed, r)
		}
	}
	return needed
}
