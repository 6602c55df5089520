package cloud

import (
	"encoding/base64"
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
	maxText    = 4 << 10 // bytes of a string to look at
	maxMessage = 500     // runes of a string to show
	maxSearch  = 1 << 25 // bytes of secrets to compare with answers, in all: about a second
	mark       = "[hidden]"

	// A text that has this many letters and digits in a row in common with a value is
	// hidden there: the API may have cut the value or escaped it.
	overlap = 8
	// The same for names, such as a region: AWS_REGION=eu-central-1 must not hide the
	// region eu-central.
	overlapInName = 16
)

// A cleaner removes secrets from the API's answers.
type cleaner struct {
	printable func(string) string
	forms     []Secret          // in which the API may write what was sent
	letters   []Secret          // of the forms
	plain     map[string]bool   // texts to leave alone, in lower case
	exact     map[string]string // names as the API has them, by the cleaned name
	searched  int               // bytes
}

// newCleaner leaves alone the words that the API itself uses.
func newCleaner(printable func(string) string) *cleaner {
	c := &cleaner{printable: printable, plain: map[string]bool{}, exact: map[string]string{}}
	c.Keep("ready", "pending", "failed", "unknown", "managed", "referenced", TypeSet, TypeImagePull, "OK")
	return c
}

// Hide removes values from the API's answers: as they are, quoted, in a URL, and in
// base64.
func (c *cleaner) Hide(values ...Secret) {
	for _, v := range values {
		value := v.Reveal()
		quoted, _ := json.Marshal(value)
		escaped := url.QueryEscape(value)
		var forms, letters []string
		for _, form := range []string{value, strings.Trim(string(quoted), `"`), strings.Trim(strconv.QuoteToASCII(value), `"`),
			escaped, strings.ReplaceAll(escaped, "+", "%20"), base64.StdEncoding.EncodeToString([]byte(value))} {
			if form = c.oneLine(form); form == "" || slices.Contains(forms, form) {
				continue
			}
			forms, c.forms = append(forms, form), append(c.forms, NewSecret(form))
			if l := lettersOf(form); len(l) >= overlap && !slices.Contains(letters, l) {
				letters, c.letters = append(letters, l), append(c.letters, NewSecret(l))
			}
		}
	}
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
	s, ok := into.(shape)
	if json.Unmarshal(data, into) != nil || ok && !s.complete() {
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
	said := s
	s = cut(c.oneLine(s), maxText)
	if c.plain[strings.ToLower(s)] {
		return s
	}
	s = c.hide(s)
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "..."
	}
	if s != said && IsSegment(said) {
		if other, ok := c.exact[s]; ok && other != said {
			said = "" // it stands for several
		}
		c.exact[s] = said
	}
	return s
}

// asSaid returns a name as the API has it, for the next request.
func (c *cleaner) asSaid(name string) string {
	if said := c.exact[name]; said != "" {
		return said
	}
	return name
}

// oneLine makes s printable, with spaces for line ends and tabs.
func (c *cleaner) oneLine(s string) string {
	return strings.TrimSpace(c.printable(strings.Join(strings.Fields(s), " ")))
}

// cut returns the first most bytes of s, without a broken character at the end.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// hide replaces the secrets in s.
func (c *cleaner) hide(s string) string {
	name, run := IsSegment(s), overlap
	if name {
		run = overlapInName
	}
	hidden := make([]bool, len(s)) // by byte
	cover := func(from, to int) {
		for i := from; i < to; i++ {
			hidden[i] = true
		}
	}
	for _, secret := range c.forms {
		form := secret.Reveal()
		for from := 0; from+len(form) <= len(s); {
			i := strings.Index(s[from:], form)
			if i < 0 {
				break
			}
			start := from + i
			if from = start + len(form); isWhole(s, start, from, name) {
				cover(start, from)
			}
		}
	}
	letters, at := lettersOf(s), []int{} // and where in s each of their bytes is
	for i := range len(s) {
		if isLetterOrDigit(s[i]) {
			at = append(at, i)
		}
	}
	shared := c.shared(letters, run)
	for i := 0; i+run <= len(letters); i++ {
		if shared[letters[i:i+run]] {
			cover(at[i], at[i+run-1]+1)
		}
	}
	if c.searched > maxSearch {
		return mark // no answer takes this long
	}
	var b strings.Builder
	for i := range len(s) {
		if !hidden[i] {
			b.WriteByte(s[i])
		} else if i == 0 || !hidden[i-1] {
			b.WriteString(mark)
		}
	}
	return strings.ToValidUTF8(b.String(), "")
}

// shared returns the runs of letters, true for those that a secret has too.
func (c *cleaner) shared(letters string, run int) map[string]bool {
	runs := map[string]bool{}
	for i := 0; i+run <= len(letters); i++ {
		runs[letters[i:i+run]] = false
	}
	c.searched += len(c.forms)
	for _, secret := range c.letters {
		if len(runs) == 0 || c.searched > maxSearch {
			break
		}
		s := secret.Reveal()
		c.searched += len(s)
		for i := 0; i+run <= len(s); i++ {
			if _, ok := runs[s[i:i+run]]; ok {
				runs[s[i:i+run]] = true
			}
		}
	}
	return runs
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

// lettersOf returns the letters and digits of s.
func lettersOf(s string) string {
	letters := make([]byte, 0, len(s))
	for i := range len(s) {
		if isLetterOrDigit(s[i]) {
			letters = append(letters, s[i])
		}
	}
	return string(letters)
}

// isLetterOrDigit reports whether c is one, or part of a character beyond ASCII.
func isLetterOrDigit(c byte) bool {
	return c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}
