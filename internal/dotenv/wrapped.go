package dotenv

import (
	"fmt"
	"strings"
)

// A value of several lines that has no quotes ends at its first line, and the next ones are read as keys.
// They are parts of a secret, so they are recognized before anything of them is stored or shown.

// continues is the error for a line that continues a value.
const continues = "this line looks like the rest of the value before it, which then needs quotes around " +
	"all of it; if it is a key without a value, write \"\" after its ="

const (
	beginOfPEM = "-----BEGIN"
	endOfPEM   = "-----END"
)

// minWrapped is the minimum length, in bytes, of a line of base64 that goes on in the next one. Programs
// wrap base64 at 64 (PEM) or 76 columns (MIME), terminals and editors anywhere.
const minWrapped = 32

// A previousLine is what the next line needs to know about the one before it. The zero value is no line.
type previousLine struct {
	isWrapped bool // it ends in long base64 without padding
	isBare    bool // it has no key: it is already refused
}

// newPreviousLine returns what the next line needs to know about a line. text has no blanks at its beginning.
func newPreviousLine(text string) previousLine {
	_, value, hasKey := strings.Cut(text, "=")
	if !hasKey {
		value = text
	}
	value = strings.TrimSuffix(strings.Trim(value, " \t"), `\`) // as in a shell
	isWrapped := len(value) >= minWrapped && isBase64(value, "+/-_")
	return previousLine{isWrapped: isWrapped, isBare: !hasKey}
}

// continuesIn reports whether the next line is the end of a value: it is all base64 with padding, and what
// is before the padding is not a name as people give them. In a value that is already refused, such a name
// counts only if base64 cannot end like this.
func (p previousLine) continuesIn(text string) bool {
	text = strings.TrimRight(text, " \t")
	name := strings.TrimRight(text, "=")
	padding := len(text) - len(name)
	if !p.isWrapped || padding < 1 || padding > 2 || name == "" {
		return false
	}
	const capitals, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
	if strings.Trim(name, capitals+"0123456789_") == "" {
		return p.isBare && len(text)%4 == 0
	}
	// In the alphabet for URLs, lower_case= is base64 as well.
	isMixed := strings.ContainsAny(name, capitals) && strings.ContainsAny(name, lower)
	return isBase64(name, "+/") || isMixed && isBase64(name, "-_")
}

// isBase64 reports whether s has only the letters and digits of base64, and the others of its alphabet.
func isBase64(s, others string) bool {
	for i := range len(s) {
		c := s[i] | 0x20 // a capital becomes a small letter
		isLetter, isDigit := 'a' <= c && c <= 'z', '0' <= s[i] && s[i] <= '9'
		if !isLetter && !isDigit && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}

// beginsPEM reports whether a PEM begins in a line, outside of quotes and comments, and does not end in it.
func beginsPEM(text string) bool {
	name, value, hasKey := strings.Cut(text, "=")
	if hasKey && !strings.Contains(name, beginOfPEM) {
		value = strings.TrimLeft(value, " \t")
		if value != "" && strings.IndexByte(`"'`, value[0]) >= 0 {
			return false
		}
		text = unquoted(value, true)
	}
	_, rest, begins := strings.Cut(text, beginOfPEM)
	return begins && !strings.Contains(rest, endOfPEM)
}

// skipPEM moves behind the last line of a PEM without quotes, or to the end of the file, and adds the error
// for all these lines.
func (r *reader) skipPEM() {
	first, last := r.line, r.line
	hasEnd := false
	for isFirst := true; r.text != "" && !hasEnd; isFirst = false {
		last = r.line
		hasEnd = strings.Contains(r.rest(), endOfPEM) && !isFirst
	}
	r.before = previousLine{}
	lines := fmt.Sprintf("lines %d to %d are", first, last)
	if first == last {
		lines = fmt.Sprintf("line %d is", first)
	}
	message := lines + " a PEM without quotes; put one quote at each end of it, or store it from a file of " +
		"its own: --value-file KEY=PATH"
	if !hasEnd {
		message = lines + " a PEM without quotes and without its END line"
	}
	r.addError(first, message)
}
