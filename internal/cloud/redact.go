package cloud

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// Responses of the API may repeat secret values. An identifier is shown unchanged, or the whole response is
// rejected. Prose is shown in full, or not at all. See decode.

const (
	maxIdentifier = 255  // bytes
	maxProse      = 2000 // bytes
	minRepeated   = 16   // bytes; an identifier may equal a shorter value by chance
	minPart       = 4    // bytes; a word may contain a shorter value by chance
)

// ProtectValues remembers the values of pairs that the next requests are about, so that no prose of a
// response repeats them, even before one of them is sent: the API may know them from an earlier run. The
// secret's name and the keys may be repeated.
func (c *Client) ProtectValues(name string, pairs []secret.Pair) {
	c.addNames(pairs, name)
	for _, p := range pairs {
		c.protectInProse(p.Value)
	}
}

// addNames remembers the names in a request and the keys of its pairs, which a response may repeat.
func (c *Client) addNames(pairs []secret.Pair, names ...string) {
	for _, p := range pairs {
		names = append(names, p.Key)
	}
	for _, name := range names {
		c.sentNames[name] = true
		c.publicNames[name] = true
	}
}

// protect remembers a secret value that a request sends, so that no response that repeats it is shown. A
// value that is also a name in the request, or in an earlier response, may still be an identifier.
func (c *Client) protect(v secret.Value) {
	c.protectInProse(v)
	for _, v := range append(decodedValues(v), v) {
		value := v.Reveal()
		if value != "" && len(value) <= maxIdentifier && !c.publicNames[value] { // no identifier is longer
			c.sensitive = append(c.sensitive, v)
		}
	}
}

// protectInProse remembers a value, so that no prose that repeats it is shown. A value much longer than prose
// cannot be in prose.
func (c *Client) protectInProse(v secret.Value) {
	value := v.Reveal()
	if value == "" || len(value) > 8*maxProse || c.sentNames[value] || c.protected[v] {
		return
	}
	c.protected[v] = true
	forms := []string{value}
	if data := []byte(value); len(data) >= minPart {
		forms = append(forms, hex.EncodeToString(data))
		for offset := range 3 {
			forms = append(forms,
				insideBase64(base64.RawStdEncoding, data, offset),
				insideBase64(base64.RawURLEncoding, data, offset))
		}
	}
	for _, form := range forms {
		if form = canonical(form); len(form) <= maxProse {
			c.sensitiveForms = append(c.sensitiveForms, secret.New(form))
		}
	}
	for _, decoded := range decodedValues(v) {
		c.protectInProse(decoded)
	}
}

// decodedValues returns the text of a value in base64, such as USER:PASSWORD, and the password.
func decodedValues(v secret.Value) []secret.Value {
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v.Reveal(), "=\r\n"))
	if err != nil || !utf8.Valid(decoded) {
		return nil
	}
	_, password, _ := strings.Cut(string(decoded), ":")
	return []secret.Value{secret.New(string(decoded)), secret.New(password)}
}

// insideBase64 returns what data looks like in the base64 of a longer text, such as {"KEY":"VALUE"}: the
// characters that depend on data alone. As three bytes are four characters, they depend on the offset of data
// in the text, modulo 3.
func insideBase64(encoding *base64.Encoding, data []byte, offset int) string {
	text := encoding.EncodeToString(append(make([]byte, offset), data...))
	if (offset+len(data))%3 != 0 {
		text = text[:len(text)-1] // it also has bits of the byte after data
	}
	first := (8*offset + 5) / 6 // the first character without bits of the bytes before data
	return text[first:]
}

// jsonEscapes are the escapes of JSON other than those with a number, and a + of URLs.
var jsonEscapes = strings.NewReplacer(
	`\n`, " ", `\r`, "", `\t`, " ", `\b`, "", `\f`, "", `\`, "", "+", " ",
)

// canonical returns s as one line in one letter case. It undoes the escapes of JSON and of URLs, even
// nested ones, so that texts that look the same to a person are equal.
func canonical(s string) string {
	for before := ""; s != before; {
		before = s
		s = strings.ToLower(strings.ToUpper(s)) // as encoding/json folds letters
		s = unescape(s, "%", 2, func(code uint64) string { return string([]byte{byte(code)}) })
		s = unescape(s, `\u`, 4, func(code uint64) string { return string(rune(code)) })
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) { // as JSON escapes: half a pair is U+FFFD
		b.WriteRune(rune(unit))
	}
	s = jsonEscapes.Replace(report.Printable(b.String()))
	return strings.Join(strings.Fields(s), " ")
}

// unescape replaces each escape, such as \u, together with the hexadecimal digits after it, by a character.
func unescape(s, escape string, digits int, char func(code uint64) string) string {
	parts := strings.Split(s, escape)
	for i, part := range parts[1:] {
		n := min(digits, len(part))
		if code, err := strconv.ParseUint(part[:n], 16, 4*digits); err == nil && n == digits {
			parts[i+1] = char(code) + part[n:]
		} else {
			parts[i+1] = escape + part
		}
	}
	return strings.Join(parts, "")
}

// redact returns a message of the API in a form that may be shown: on one line, without hidden characters,
// and replaced as a whole if it repeats a value. A value of less than minPart bytes is found only as a whole
// word.
func (c *Client) redact(s string) string {
	if s = strings.Join(strings.Fields(report.Printable(s)), " "); len(s) > maxProse {
		return "the API's message is too long to be shown"
	}
	text := canonical(s)
	isSeparator := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(text, isSeparator)
	isRepeated := func(form secret.Value) bool {
		f := form.Reveal()
		return len(f) >= minPart && strings.Contains(text, f) || slices.Contains(words, f)
	}
	if slices.ContainsFunc(c.sensitiveForms, isRepeated) {
		return "the API's message repeats a value, so it is not shown"
	}
	return s
}

// checkIdentifier returns an error if an identifier cannot be shown. kind is for its message: "name".
func (c *Client) checkIdentifier(kind, s string) error {
	isHidden := func(r rune) bool {
		return r != ' ' && unicode.IsSpace(r) || r == utf8.RuneError || report.IsHidden(r)
	}
	if len(s) > maxIdentifier || strings.ContainsFunc(s, isHidden) {
		return fmt.Errorf("a %s that cannot be shown", kind)
	}
	isRepeated := func(v secret.Value) bool {
		value := v.Reveal()
		return len(value) >= minRepeated && strings.Contains(s, value)
	}
	if !c.publicNames[s] && slices.ContainsFunc(c.sensitive, isRepeated) {
		return fmt.Errorf("a %s that repeats a value", kind)
	}
	c.publicNames[s] = true
	return nil
}
