package render

import (
	"slices"
	"strings"

	"vbot/internal/catalog"
)

// Required are what bot.py requires of .env when it starts; ServerRequired and
// SelfHostRequired are what server.py and self_host.py require besides, as settings.require
// reads it.
func (d *Data) Required() []string       { return d.rules(false) }
func (d *Data) ServerRequired() []string { return d.rules(true) }
func (d *Data) SelfHostRequired() (rules []string) {
	for _, v := range d.selfHost {
		if rule := v.Rule(nil); rule != "" {
			rules = append(rules, rule)
		}
	}
	return rules
}

// rules are those for bot.py or for server.py, each once. Those of one transport share a line of
// 100 columns, as far as they fit.
func (d *Data) rules(server bool) (rules []string) {
	for _, r := range d.requirements {
		tail := ""
		if r.Runs != "" {
			tail = " for " + r.Runs
		}
		if r.Server != server || r.Rule == "" || slices.Contains(rules, r.Rule+tail) {
			continue
		}
		last := len(rules) - 1
		if tail != "" && last >= 0 {
			if before, same := strings.CutSuffix(rules[last], tail); same && len(before+r.Rule+tail) <= 88 {
				rules[last] = before + " and " + r.Rule + tail
				continue
			}
		}
		rules = append(rules, r.Rule+tail)
	}
	return rules
}

// MustBeSet are the variables without which no session works, as README.md lists them.
func (d *Data) MustBeSet() (texts []string) {
	seen := map[string]bool{}
	for _, r := range d.requirements {
		if r.Text != "" && r.Rule != "" && r.Runs == "" && !r.Server && !seen[r.Name] {
			seen[r.Name] = true
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// Needed are the variables of one transport among several, for a sentence.
func (d *Data) Needed(t Service) string {
	var texts []string
	for _, r := range d.requirements {
		if r.Text != "" && r.Only == t.Label {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, " and ")
}

// Keyless are the variables for an address of one's own that make a required key
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

// NewCredentials are what a person has to get besides what another bot already needed.
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
