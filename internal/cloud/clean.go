package cloud

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"vbot/internal/report"
)

// The API may repeat what it was sent. An identifier of an answer is shown as it is, or the
// answer is not believed; prose is shown whole, or not at all. See decode.

const (
	maxIdentifier = 255  // bytes
	maxProse      = 2000 // bytes
	minRepeated   = 16   // bytes of a value that no identifier equals by chance
	minPart       = 4    // bytes of a value that no word has by chance
)

// carry remembers a value that a request carries, and what it is the base64 of, such as
// USER:PASSWORD. A name that a request has, or that the API said before it got the value, is
// none. A value that is much longer than prose stands in none.
func (c *Client) carry(v Secret) {
	value := v.Reveal()
	if value == "" || len(value) > 8*maxProse || c.named[value] {
		return
	}
	c.carried = append(c.carried, v)
	forms := []string{value}
	if data := []byte(value); len(data) >= minPart {
		forms = append(forms, hex.EncodeToString(data), base64.RawStdEncoding.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data))
	}
	for _, form := range forms {
		if form = canonical(form); len(form) <= maxProse {
			c.forms = append(c.forms, NewSecret(form))
		}
	}
	if decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "=\r\n")); err == nil && utf8.Valid(decoded) {
		_, password, _ := strings.Cut(string(decoded), ":")
		c.carry(NewSecret(string(decoded)))
		c.carry(NewSecret(password))
	}
}

// canonical returns s as one line in one letter case, without the escapes of JSON and of
// URLs, and of one in the other.
func canonical(s string) string {
	for was := ""; s != was; {
		was, s = s, strings.ToLower(strings.ToUpper(s))
		s = unescape(s, "%", 2, func(code uint64) string { return string([]byte{byte(code)}) })
		s = unescape(s, `\u`, 4, func(code uint64) string { return string(rune(code)) })
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) { // as JSON escapes: half a pair is U+FFFD
		b.WriteRune(rune(unit))
	}
	s = strings.NewReplacer(`\n`, " ", `\r`, "", `\t`, " ", `\b`, "", `\f`, "", `\`, "", "+", " ").Replace(report.Printable(b.String()))
	return strings.Join(strings.Fields(s), " ")
}

// unescape replaces each mark with so many hexadecimal digits after it.
func unescape(s, mark string, digits int, char func(code uint64) string) string {
	parts := strings.Split(s, mark)
	for i, part := range parts[1:] {
		n := min(digits, len(part))
		if code, err := strconv.ParseUint(part[:n], 16, 4*digits); err == nil && n == digits {
			parts[i+1] = char(code) + part[n:]
		} else {
			parts[i+1] = mark + part
		}
	}
	return strings.Join(parts, "")
}

// prose returns a message of the API as it may be shown. A short value counts where it is a
// word.
func (c *Client) prose(s string) string {
	if s = strings.Join(strings.Fields(report.Printable(s)), " "); len(s) > maxProse {
		return "the API's message is too long to be shown"
	}
	text := canonical(s)
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if slices.ContainsFunc(c.forms, func(form Secret) bool {
		f := form.Reveal()
		return len(f) >= minPart && strings.Contains(text, f) || slices.Contains(words, f)
	}) {
		return "the API's message repeats a value, so it is not shown"
	}
	return s
}

// identifier returns what is wrong with an identifier, or "".
func (c *Client) identifier(what, s string) string {
	odd := func(r rune) bool { return r != ' ' && unicode.IsSpace(r) || r == utf8.RuneError || report.IsHidden(r) }
	if len(s) > maxIdentifier || strings.ContainsFunc(s, odd) {
		return "a " + what + " that cannot be shown"
	}
	if len(s) >= minRepeated && slices.ContainsFunc(c.carried, func(v Secret) bool { return v.Reveal() == s }) {
		return "a " + what + " that repeats a value"
	}
	c.named[s] = true
	return ""
}
