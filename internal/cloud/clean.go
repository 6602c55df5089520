package cloud

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The API may repeat what it was sent, in any string of an answer. decode is the only
// way from an answer to the rest of the program, and cleans all of them.

const (
	maxMessage = 500     // runes of a string to show
	maxSearch  = 1 << 32 // bytes to search for values, in all answers: about a second
	mark       = "[hidden]"
)

// A cleaner removes secrets from the API's answers. It marks what it removes, so that
// what it returns equals a name or a word only if the API said just that.
type cleaner struct {
	isHidden func(rune) bool // a terminal shows nothing for it
	forms    []Secret        // in which the API may write what was sent, folded
	plain    map[string]bool // texts to leave alone, in lower case
	searched int             // bytes
}

// newCleaner leaves alone the words that the API itself uses.
func newCleaner(isHidden func(rune) bool) *cleaner {
	c := &cleaner{isHidden: isHidden, plain: map[string]bool{}}
	c.Keep("ready", "pending", "failed", "unknown", "managed", "referenced", TypeSet, TypeImagePull, "OK")
	return c
}

// Hide removes values from the API's answers, in any letter case: as they are, as JSON,
// percent-encoded, in base64 and in hex. Values of up to 3 bytes it hides only as they are:
// their encodings are too common in other words.
func (c *cleaner) Hide(values ...Secret) {
	var forms []string
	for _, v := range values {
		forms = append(forms, v.Reveal())
		for _, value := range []string{v.Reveal(), strings.TrimSpace(v.Reveal())} {
			if len(value) <= 3 {
				continue
			}
			quoted, _ := json.Marshal(value)
			escaped := url.QueryEscape(value)
			forms = append(forms, strings.Trim(string(quoted), `"`), strings.Trim(strconv.QuoteToASCII(value), `"`),
				escaped, strings.ReplaceAll(escaped, "+", "%20"), hex.EncodeToString([]byte(value)),
				base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)))
		}
	}
	for i, form := range forms {
		forms[i], _ = fold(strings.TrimSpace(c.oneLine(form)))
	}
	slices.Sort(forms)
	for _, form := range slices.Compact(forms) {
		if form != "" {
			c.forms = append(c.forms, NewSecret(form))
		}
	}
}

// fold returns s with each letter in one case, without backslashes, so that JSON within
// JSON is found, too, and without marks of what is hidden; and for each byte of that the
// offset of its letter in s, and the end.
func fold(s string) (folded string, at []int) {
	var b strings.Builder
	for i, r := range s {
		if r == '\\' || r == utf8.RuneError {
			continue
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		b.WriteRune(least)
		for len(at) < b.Len() {
			at = append(at, i)
		}
	}
	return b.String(), append(at, len(s))
}

// Keep leaves strings of the API's answers alone that are one of texts, because a
// person typed them as names.
func (c *cleaner) Keep(texts ...string) {
	for _, text := range texts {
		c.plain[strings.ToLower(text)] = true
	}
}

// decode parses an answer and cleans every string of it. It reports whether the answer
// has the form of into.
func (c *cleaner) decode(data []byte, into any) bool {
	if json.Unmarshal(data, into) != nil {
		return false
	}
	c.cleanAll(reflect.ValueOf(into))
	return true
}

func (c *cleaner) cleanAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.cleanAll(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.cleanAll(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.cleanAll(v.Index(i))
		}
	case reflect.String:
		if v.CanSet() { // fields that JSON fills can be set
			v.SetString(c.clean(v.String()))
		}
	}
}

// clean makes a string of an answer fit to show: one line, of bounded length, without
// the secrets. Control characters go first: they may stand inside a value.
func (c *cleaner) clean(s string) string {
	s = c.oneLine(s)
	if c.plain[strings.ToLower(s)] {
		return s
	}
	s = c.hide(s)
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "..."
	}
	return s
}

// oneLine returns s with a space for white space and U+FFFD for hidden characters.
func (c *cleaner) oneLine(s string) string {
	var b strings.Builder
	last := 'x'
	for _, r := range s {
		if unicode.IsSpace(r) {
			r = ' '
		} else if c.isHidden(r) {
			r = utf8.RuneError
		}
		if r != last || r != ' ' && r != utf8.RuneError {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// hide replaces the secrets in s.
func (c *cleaner) hide(s string) string {
	folded, at := fold(s)
	if c.searched += len(c.forms) * (len(folded) + 32); c.searched > maxSearch {
		return mark // no answer takes this long
	}
	hidden := make([]bool, len(s)) // by byte
	for _, secret := range c.forms {
		form := secret.Reveal()
		for from := 0; ; {
			i := strings.Index(folded[from:], form)
			if i < 0 {
				break
			}
			start := from + i
			if from = start + len(form); isWhole(folded, start, from, IsSegment(s)) {
				for j := at[start]; j < at[from]; j++ {
					hidden[j] = true
				}
			}
		}
	}
	var b strings.Builder
	for i := range len(s) {
		if !hidden[i] {
			b.WriteByte(s[i])
		} else if i == 0 || !hidden[i-1] {
			b.WriteString(mark)
		}
	}
	return b.String()
}

// isWhole reports whether s[start:end] is to be hidden if it equals a value. Values of
// up to 3 bytes are part of many other words.
func isWhole(s string, start, end int, name bool) bool {
	isLetter := func(i int) bool { return i >= 0 && i < len(s) && isLetterOrDigit(s[i]) }
	switch {
	case end-start > 3:
		return true
	case name:
		return end-start == len(s)
	}
	return !isLetter(start-1) && !isLetter(end)
}

// isLetterOrDigit reports whether c is one, or part of a character beyond ASCII.
func isLetterOrDigit(c byte) bool {
	return c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}
