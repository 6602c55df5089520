package tty

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The screen.

// A style is the parameter of Select Graphic Rendition (ECMA-48).
type style string

const (
	normal style = ""
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	cyan   style = "36"
)

// A row is a line of the screen.
type row []span

// A span is text in one style.
type span struct {
	style style
	Text  string
}

// A view is the drawing of a question: rows that fit the terminal, and the position of
// the cursor.
type view struct {
	Rows         []row
	line, Column int
}

// cut returns the beginning of the row that fits into width columns.
func (r row) cut(width int) (short row) {
	for _, s := range r {
		short = append(short, span{s.style, Cut(s.Text, width)})
		width -= Width(s.Text)
	}
	return short
}

func (r row) width() (n int) {
	for _, s := range r {
		n += Width(s.Text)
	}
	return n
}

// head draws the question, followed by the typed text. The cursor is in the last row.
func head(text string, e *editor, width int) view {
	width = max(1, width-1)
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "]") {
		text += ":"
	}
	v := view{Rows: lines("? "+text, bold, width)}
	last := len(v.Rows) - 1
	left := width - v.Rows[last].width() - 1
	if left < min(1+Width(string(e.typed)), 12, width) {
		v.Rows = append(v.Rows, nil)
		last, left = last+1, width
	} else {
		v.Rows[last] = append(v.Rows[last], span{normal, " "})
	}
	start := v.Rows[last].width()
	shown, column := e.window(left)
	v.Rows[last] = append(v.Rows[last], span{cyan, shown})
	v.line, v.Column = last, start+column
	return v
}

// note draws a text below the question, or nothing if text is "".
func note(text string, style style, width int) []row {
	if text == "" {
		return nil
	}
	return lines("  "+text, style, max(1, width-1))
}

// lines draws a text over as many rows as it needs.
func lines(text string, style style, width int) (rows []row) {
	for _, line := range wrap(text, width) {
		rows = append(rows, row{{style, line}})
	}
	return rows
}

// fit cuts v to height rows. It cuts from the top as long as the cursor stays
// visible.
func (v view) fit(height int) view {
	if over := min(len(v.Rows)-height, v.line); over > 0 {
		v.Rows, v.line = v.Rows[over:], v.line-over
	}
	v.Rows = v.Rows[:min(len(v.Rows), height)]
	return v
}

// Width on the screen.

// wide are the blocks whose characters take two columns (East Asian Width W and F of Unicode, by whole
// blocks), each with its first and last character.
var wide = [][2]rune{
	{0x1100, 0x115f},   // Hangul consonants
	{0x2e80, 0x303e},   // CJK radicals and punctuation
	{0x3040, 0xa4cf},   // kana, CJK, Yi
	{0xa960, 0xa97c},   // Hangul
	{0xac00, 0xd7a3},   // Hangul syllables
	{0xf900, 0xfaff},   // CJK
	{0xfe30, 0xfe6f},   // CJK forms
	{0xff00, 0xff60},   // full-width forms
	{0xffe0, 0xffe6},   // full-width signs
	{0x1f300, 0x1f64f}, // emoji
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1faff},
	{0x20000, 0x3fffd}, // CJK
}

// runeWidth returns the width of r: 0, 1 or 2 columns. A terminal may draw some characters of
// the wide blocks with another width.
func runeWidth(r rune) int {
	isIn := func(block [2]rune) bool { return r >= block[0] && r <= block[1] }
	hangulEnding := [2]rune{0x1160, 0x11ff} // joins the letter before
	switch {
	case r < 0x300 && r >= ' ' && r != 0x7f && r != 0xad:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc), isIn(hangulEnding):
		return 0
	case slices.ContainsFunc(wide, isIn):
		return 2
	}
	return 1
}

// Width returns the width of s in columns.
func Width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// Cut returns the beginning of s that fits into width columns.
func Cut(s string, width int) string {
	for i, r := range s {
		if width -= runeWidth(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// wrap breaks s into lines of at most width columns, at spaces if possible. Later
// lines are indented by two columns, or like the second column of a table.
func wrap(s string, width int) (lines []string) {
	indent := "  "
	if first, second, ok := strings.Cut(strings.TrimLeft(s, " "), "  "); ok {
		second = strings.TrimLeft(second, " ")
		if at := Width(s) - Width(second); first != "" && at <= width/3 {
			indent = strings.Repeat(" ", at)
		}
	}
	if width <= len(indent) {
		indent = ""
	}
	for {
		end := len(Cut(s, width))
		if end == len(s) {
			return append(lines, s)
		}
		if strings.TrimSpace(s[:end]) == "" { // a letter wider than the rest of the line
			end = len(s) - len(strings.TrimLeft(s, " "))
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		space := strings.LastIndexByte(s[:min(end+1, len(s))], ' ')
		if strings.TrimSpace(s[:max(0, space)]) != "" {
			end = space
		}
		lines = append(lines, strings.TrimRight(s[:end], " "))
		rest := strings.TrimLeft(s[end:], " ")
		if rest == "" {
			return lines
		}
		s = indent + rest
	}
}
