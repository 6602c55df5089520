package python

import (
	"iter"
	"strings"
)

// Words yields the indices at which name is in the code as a whole word.
func Words(code, name string) iter.Seq[int] {
	letter := func(at int) bool {
		if at < 0 || at >= len(code) {
			return false
		}
		c := code[at]
		return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	return func(yield func(int) bool) {
		for end := 0; name != ""; {
			at := strings.Index(code[end:], name) + end
			if at < end {
				return
			}
			end = at + len(name)
			if !letter(at-1) && !letter(end) && !yield(at) {
				return
			}
		}
	}
}

// Uses reports whether the code contains name as a whole word.
func Uses(code, name string) bool {
	for range Words(code, name) {
		return true
	}
	return false
}

// Code returns the source without comments and strings. The text in braces in strings stays, because it is
// code in an f-string.
func Code(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); {
		switch c := source[i]; c {
		case '#':
			end := strings.IndexByte(source[i:], '\n')
			if end < 0 {
				return b.String()
			}
			i += end
		case '"', '\'':
			end := stringEnd(source, i)
			for rest := source[i:end]; ; {
				_, after, opened := strings.Cut(rest, "{")
				field, more, closed := strings.Cut(after, "}")
				if !opened || !closed {
					break
				}
				b.WriteString(" " + field + " ")
				rest = more
			}
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// stringEnd returns the index after the string that begins at start.
func stringEnd(source string, start int) int {
	quote := source[start : start+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(source[start:], triple) {
		quote = triple
	}
	for i := start + len(quote); i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i++
		case strings.HasPrefix(source[i:], quote):
			return i + len(quote)
		case source[i] == '\n' && len(quote) == 1:
			return i // the string is not closed
		}
	}
	return len(source)
}

// Substitute returns the code with the variable called name renamed to other. Keyword arguments, attributes
// and strings of that name stay.
func Substitute(code, name, other string) string {
	var b strings.Builder
	rest := 0
	for at := range Words(code, name) {
		end := at + len(name)
		isOther := strings.ContainsAny(code[max(0, at-1):at], `."'`) || strings.HasPrefix(code[end:], "=")
		if !isOther {
			b.WriteString(code[rest:at] + other)
			rest = end
		}
	}
	return b.String() + code[rest:]
}
