package render

import (
	"testing"

	"vbot/internal/catalog"
)

// bot.py has an HTTP session where a service takes one, after whatever else.
func TestSessions(t *testing.T) {
	for parameters, want := range map[string]bool{
		"":                               false,
		"language: str":                  false,
		"session: aiohttp.ClientSession": true,
		"language: str, session: aiohttp.ClientSession": true,
	} {
		s := &catalog.Service{Build: catalog.Build{Parameters: parameters}}
		if got := codeOf(s, nil).NeedsSession; got != want {
			t.Errorf("%q: %v", parameters, got)
		}
	}
}
