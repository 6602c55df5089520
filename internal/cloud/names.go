// Package cloud is a client for the Pipecat Cloud API and manages the login file. It
// returns data and errors, and prints nothing. The error of a call of the API is a
// *report.Failure, or context.Canceled if an interrupt came before the call had any effect.
package cloud

import (
	"fmt"
	"strings"
)

// The names that the API accepts, and secrets.

// A Secret is text that is never printed. It is behind a pointer, because fmt and
// panics would print any other field. Only Reveal returns it.
type Secret struct{ text *string }

func NewSecret(s string) Secret { return Secret{&s} }

func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

func (s Secret) Empty() bool { return s.Reveal() == "" }

// IsKey reports whether the API accepts s as a key.
func IsKey(s string) bool {
	return len(s) > 0 && len(s) <= 64 && consistsOf(s, "_-")
}

// KeyRule describes what IsKey accepts.
const KeyRule = "a key has 1 to 64 letters, digits, _ or -"

// IsName reports whether s consists of ASCII letters and digits, with the characters
// of inner only between them, and is no longer than most bytes.
func IsName(s string, most int, inner string) bool {
	return len(s) > 0 && len(s) <= most && consistsOf(s, inner) && consistsOf(s[:1]+s[len(s)-1:], "")
}

// consistsOf reports whether s contains only ASCII letters, digits and the characters
// of others. (A regular expression would be compiled at every start.)
func consistsOf(s, others string) bool {
	for i := range len(s) {
		c := s[i]
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		isDigit := '0' <= c && c <= '9'
		if !isLetter && !isDigit && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// IsSegment reports whether s can be an organization or a region. Anything else might
// lead to another path of the API: servers and proxies may undo the escaping.
func IsSegment(s string) bool { return IsName(s, 128, "._-") }

// SegmentRule describes what IsSegment accepts.
const SegmentRule = "must be letters, digits, hyphens, dots and underscores, " +
	"and begin and end with a letter or digit"

// IsToken reports whether s is not empty and fits in a header.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// TokenFault returns why s cannot be a token of the API, or "".
func TokenFault(s string) string {
	switch {
	case s == "":
		return "missing"
	case pastedAlong(s) != "":
		return pastedAlong(s)
	case !IsToken(s):
		return "must not contain white space, control characters or non-ASCII text"
	}
	return ""
}

// pastedAlong returns what was pasted together with a name or a token, or "".
func pastedAlong(s string) string {
	switch {
	case strings.HasPrefix(s, "Bearer "):
		return "begins with Bearer; leave that out"
	case strings.ContainsAny(s[:1]+s[len(s)-1:], "\"'"):
		return "is in quotes; leave them out"
	case strings.ContainsAny(s, "${}<>"): // $TOKEN, ${{ secrets.TOKEN }}, <token>, {"token": ...}
		return "is a placeholder or in brackets; pass the value itself"
	case isAssignment(s):
		return "begins with a name and =; leave that out"
	}
	return ""
}

// isAssignment reports whether s is a line such as VBOT_TOKEN=x, and not one that ends in the = of base64.
func isAssignment(s string) bool {
	name, value, _ := strings.Cut(s, "=")
	isVariable := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	return isVariable && strings.Trim(value, "=") != ""
}

// A Pair is a key of a secret set with its value.
type Pair struct {
	Key   string
	Value Secret
	File  string // the name, for messages, of the secrets file that it is from; "" if it is from none
	Line  int    // its first line in File, from 1
	// Number is the number, from 1, of an argument without a value or a valid key. The
	// "key" may be a value without its key, so messages give only the number.
	Number int
}

// Field returns the name of the pair in messages.
func (p Pair) Field() string {
	if p.Number > 0 {
		return fmt.Sprintf("pair %d", p.Number)
	}
	return p.Key
}
