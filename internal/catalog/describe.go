package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// A Heading groups services in long lists, in this order. The usual services are those with the ids
// _a and _b of each kind.
type Heading int

const (
	noHeading Heading = iota
	byPhone
	withoutPhone // shown only among the transports of a telephony bot: a single heading is left out
	usual
	ownMachine
	Others // sorted by label
	customCatalog
)

// headings are the headings as people read them.
var headings = [...]string{
	noHeading:     "",
	byPhone:       "By phone",
	withoutPhone:  "To try it without a phone",
	usual:         "Usual",
	ownMachine:    "On your own machine",
	Others:        "Others",
	customCatalog: "From your catalog",
}

func (h Heading) String() string { return headings[h] }

// Heading returns the service's heading.
func (s *Service) Heading() Heading {
	switch {
	case s.isCustom:
		return customCatalog
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

// Summary describes the service in half a line: languages, memory, and the key that it needs. has are the
// credentials that the bot needs anyway.
func (s *Service) Summary(has map[string]bool) string {
	facts := s.languageFacts()
	if s.Kind == KindRealtime && s.VideoIn {
		facts = append(facts, "video")
	}
	if s.Model.Megabytes > 0 {
		facts = append(facts, fmt.Sprintf("%d MB of memory", s.Model.Megabytes))
	}
	facts = append(facts, s.keyFact(has))
	if s.Deprecated() {
		facts = append(facts, "deprecated")
	}
	return strings.Join(facts, "; ")
}

// BaseLanguages returns the service's languages as its file lists them, without scripts and regions: tags, or
// only "auto" or "voice".
func (s *Service) BaseLanguages() (languages []string) {
	for _, tag := range s.languages {
		base, _, _ := strings.Cut(tag, "-")
		if !slices.Contains(languages, base) {
			languages = append(languages, base)
		}
	}
	return languages
}

// languageFacts describes the languages of the service, if it has any.
func (s *Service) languageFacts() []string {
	languages := s.BaseLanguages()
	switch n := len(languages); {
	case n == 0:
		return nil
	case n > 3:
		return []string{fmt.Sprintf("%d languages", n)}
	case languages[0] == languageAuto:
		return []string{"language detected"}
	case languages[0] == languageVoice:
		return []string{"language by voice"}
	}
	return []string{strings.Join(languages, ", ") + " only"}
}

// keyFact says which key the service needs, and where it comes from.
func (s *Service) keyFact(has map[string]bool) string {
	credentials := s.Credentials()
	isNew := func(c Credential) bool { return !has[c.Names] }
	isSecret := func(v Variable) bool { return v.Kind == "secret" }
	isRequiredVoice := func(v Variable) bool { return v.Kind == "voice" && v.Required }
	switch {
	case len(credentials) > 0 && !slices.ContainsFunc(credentials, isNew):
		return "no further key"
	case !slices.ContainsFunc(s.Env, isSecret):
		return "no key"
	}
	key := "key"
	if slices.ContainsFunc(s.Env, isRequiredVoice) {
		key = "key and voice"
	}
	if parts := strings.Split(s.KeysURL, "/"); len(parts) > 2 {
		key += " from " + shortHost(parts[2])
	}
	return key
}

// shortHost returns a host without a first part such as console.
func shortHost(host string) string {
	for _, prefix := range []string{"app.", "console.", "dashboard.", "platform.", "www."} {
		host = strings.TrimPrefix(host, prefix)
	}
	return host
}
