package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// A Heading is what services stand under in long lists, in this order. Ids are letters in the
// order in which vbot got the services: the usual ones are the first two of each kind.
type Heading int

const (
	noHeading Heading = iota
	byPhone
	withoutPhone // of transports of a telephony bot: in a list of one heading there is none
	usual
	ownMachine
	Others // sorted by label
	ownCatalog
)

func (h Heading) String() string {
	return [...]string{"", "By phone", "To try it without a phone", "Usual", "On your own machine", "Others", "From your catalog"}[h]
}

// Heading returns the service's heading.
func (s *Service) Heading() Heading {
	switch {
	case s.own:
		return ownCatalog
	case s.Kind == KindVideo: // a short list
		return noHeading
	case s.Telephony:
		return byPhone
	case s.Kind == KindTransport:
		return withoutPhone
	case s.Local():
		return ownMachine
	case strings.HasSuffix(s.ID, "_a") || strings.HasSuffix(s.ID, "_b"):
		return usual
	}
	return Others
}

// Gist says in half a line what sets the service apart. has are the credentials that the
// bot needs without it.
func (s *Service) Gist(has map[string]bool) string {
	var facts, languages []string
	for _, tag := range s.languages {
		base, _, _ := strings.Cut(tag, "-")
		if !slices.Contains(languages, base) {
			languages = append(languages, base)
		}
	}
	switch n := len(languages); {
	case n > 3:
		facts = append(facts, fmt.Sprintf("%d languages", n))
	case n > 0 && languages[0] == languageAuto:
		facts = append(facts, "language detected")
	case n > 0 && languages[0] == languageVoice:
		facts = append(facts, "language by voice")
	case n > 0:
		facts = append(facts, strings.Join(languages, ", ")+" only")
	}
	if s.Kind == KindRealtime && s.VideoIn {
		facts = append(facts, "video")
	}
	if s.Model.Megabytes > 0 {
		facts = append(facts, fmt.Sprintf("%d MB of memory", s.Model.Megabytes))
	}
	key, credentials := "no key", s.Credentials()
	if slices.ContainsFunc(s.Env, func(v Variable) bool { return v.Kind == "secret" }) {
		key = "key"
		if slices.ContainsFunc(s.Env, func(v Variable) bool { return v.Kind == "voice" && v.Required }) {
			key = "key and voice"
		}
		if page := strings.Split(s.KeysURL, "/"); len(page) > 2 {
			host := page[2]
			for _, what := range []string{"app.", "console.", "dashboard.", "platform.", "www."} { // half a line has no room for it
				host = strings.TrimPrefix(host, what)
			}
			key += " from " + host
		}
	}
	if len(credentials) > 0 && !slices.ContainsFunc(credentials, func(k Credential) bool { return !has[k.Names] }) {
		key = "no further key"
	}
	facts = append(facts, key)
	if s.Deprecated() {
		facts = append(facts, "deprecated")
	}
	return strings.Join(facts, "; ")
}
