package report

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// IsHidden reports whether a terminal shows nothing for r: it is a control,
// bidirectional, zero-width or filler character. With these, text from files, names
// or servers could move the cursor or look like other text.
func IsHidden(r rune) bool {
	if r >= ' ' && r <= '~' {
		return false // the common case first: secrets may have megabytes
	}
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Printable returns s without hidden characters.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if IsHidden(r) {
			return -1
		}
		return r
	}, s)
}

// DidYouMean returns " (did you mean X?)", or "" if there is no suggestion.
func DidYouMean(likely string) string {
	if likely == "" {
		return ""
	}
	return " (did you mean " + likely + "?)"
}

// Nearest returns the name with the smallest edit distance from word, the first one of equals.
// If every distance exceeds a third of the word's length, it returns the first name that
// begins with word, or "".
func Nearest(word string, names []string) string {
	length := len([]rune(word))
	best, limit := "", max(1, length/3)+1
	if length < 2 {
		return ""
	}
	for _, name := range names {
		n := len([]rune(name))
		if n < 2 || max(n-length, length-n) >= limit { // too many edits already
			continue
		}
		if d := edits(strings.ToLower(word), strings.ToLower(name)); d < limit {
			best, limit = name, d
		}
	}
	for _, name := range names {
		if best == "" && len(word) > 2 && strings.HasPrefix(name, word) {
			best = name
		}
	}
	return best
}

// edits returns the edit distance from a to b: insertions, deletions, changes and
// swaps of neighbouring letters.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1)
	for i := range d {
		d[i] = make([]int, len(t)+1)
		d[i][0] = i
	}
	for j := range t {
		d[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			d[i+1][j+1] = d[i][j]
			if s[i] != t[j] {
				d[i+1][j+1] = 1 + min(d[i][j+1], d[i+1][j], d[i][j])
				if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
					d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
				}
			}
		}
	}
	return d[len(s)][len(t)]
}

// Fill breaks a list of words into lines of at most width bytes; a longer word has a line of its own.
// mark, such as a comma, follows each word but the last.
func Fill(words []string, mark string, width int) (lines []string) {
	for i, word := range words {
		if i < len(words)-1 {
			word += mark
		}
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Plural returns "1 file", "2 files".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Typed returns in double quotes, with escapes as in Go, what a person typed. In place of what has the form
// KEY=VALUE it returns this form, because the value may be a secret in the wrong place.
func Typed(word string) string {
	isSeparator := func(r rune) bool { return r == ',' || unicode.IsSpace(r) }
	if slices.ContainsFunc(append(strings.FieldsFunc(word, isSeparator), word), isAssignment) {
		return "KEY=VALUE"
	}
	return fmt.Sprintf("%q", word)
}

// QuoteAll returns the words in double quotes, with escapes as in Go.
func QuoteAll(words []string) (out []string) {
	for _, w := range words {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return out
}

// Cause returns the error without the operation and the path, for a message that already names the file.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// CheckFileName returns an error if the name of a file or directory looks like KEY=VALUE: a message that
// repeats the name would show the value.
func CheckFileName(name string) error {
	if !isAssignment(name) {
		return nil
	}
	return errors.New("expected the name of a file or directory, got KEY=VALUE; " +
		"if it is a name, write ./ before it")
}

// isAssignment reports whether text has the form KEY=VALUE, also with `export ` before it or spaces round
// the =.
func isAssignment(text string) bool {
	key, _, isAssignment := strings.Cut(strings.TrimPrefix(text, "export "), "=")
	isSpecial := func(r rune) bool {
		isLetter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return !isLetter && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	key = strings.TrimSpace(key)
	return isAssignment && key != "" && !strings.ContainsFunc(key, isSpecial)
}
