package python

import (
	"iter"
	"regexp"
	"strings"
)

// Words yields where name stands in the code as a whole word.
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

// text matches a comment or a string.
var text = regexp.MustCompile(`(?s)""".*?"""|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'|#[^\n]*`)

// field matches what an f-string fills in.
var field = regexp.MustCompile(`\{[^{}]*\}`)

// Code returns the source without comments and strings, but with what stands in braces in strings: that may
// be code.
func Code(source string) string {
	return text.ReplaceAllStringFunc(source, func(found string) string {
		if found[0] == '#' {
			return ""
		}
		return strings.Join(field.FindAllString(found, -1), " ")
	})
}
