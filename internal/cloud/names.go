// Package cloud is the client of Pipecat Cloud's API, and keeps what login stores.
// It returns data and errors, and prints nothing.
package cloud

import "strings"

// What the API takes for a name, and text that is never shown.

// A Secret is text that is never shown. It is behind a pointer, because fmt and a
// panic would print a field however it is declared. Reveal is the only way to it.
type Secret struct{ text *string }

// NewSecret hides s.
func NewSecret(s string) Secret { return Secret{&s} }

// Reveal is the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty says whether there is no text.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// IsKey says whether the API takes s as a key.
func IsKey(s string) bool {
	return len(s) > 0 && len(s) <= 64 && consistsOf(s, "_-")
}

// KeyRule is what IsKey checks, in words.
const KeyRule = "a key is 1 to 64 letters, digits, _ or -"

// IsName says whether s is a name of at most the given length, with inner only
// between letters and digits.
func IsName(s string, most int, inner string) bool {
	return len(s) > 0 && len(s) <= most && consistsOf(s, inner) && consistsOf(s[:1]+s[len(s)-1:], "")
}

// consistsOf says whether s is letters and digits of ASCII, and what others holds.
// (A regular expression for it would be compiled at each start of the program.)
func consistsOf(s, others string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(others, c) >= 0) {
			return false
		}
	}
	return true
}

// IsSegment says whether s looks like an organization or a region. Anything else
// could lead to another path of the API, however well it is escaped: servers and
// proxies in between may undo that.
func IsSegment(s string) bool { return IsName(s, 128, "._-") }

// SegmentRule is what IsSegment checks, in words.
const SegmentRule = "must be letters and digits, with hyphens, dots and underscores only between them"

// IsToken says whether s fits in a header, and is not empty.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// TokenRule is what IsToken checks, in words.
const TokenRule = "contains white space, control characters or non-ASCII text"

// A Pair is one key of a secret set with its value.
type Pair struct {
	Key   string
	Value Secret
}
