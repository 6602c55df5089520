// Package secret has the values and keys of secrets, which no print function reveals.
package secret

import (
	"fmt"
	"strings"
)

// A Value is text that is never printed. It is behind a pointer, because fmt and panics would print any
// other field. Only Reveal returns it. The zero value is an empty text.
type Value struct{ text *string }

// New returns the value with the text.
func New(text string) Value { return Value{&text} }

// Reveal returns the text.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// Empty reports whether the text is empty.
func (v Value) Empty() bool { return v.Reveal() == "" }

// A Pair is a key of a secret set with its value.
type Pair struct {
	Key   string
	Value Value
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

// HasUsualKey reports whether the letters of the key are of one case, as is usual. Otherwise a "key" without
// a value may be the end of a value in base64 that goes on in a second line of a file, so messages do not
// repeat it.
func (p Pair) HasUsualKey() bool {
	return p.Key == strings.ToUpper(p.Key) || p.Key == strings.ToLower(p.Key)
}

// IsKey reports whether the API of Pipecat Cloud accepts s as a key.
func IsKey(s string) bool {
	return len(s) > 0 && len(s) <= 64 && consistsOf(s, "_-")
}

// KeyRule describes what IsKey accepts.
const KeyRule = "a key has 1 to 64 letters, digits, _ or -"

// IsName reports whether s consists of ASCII letters and digits, with the characters
// of inner only between them, and has 1 to most bytes.
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
