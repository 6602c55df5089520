package tty

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The screen.

// A Style is the parameter of Select Graphic Rendition (ECMA-48).
type Style string

const (
	Normal Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Cyan   Style = "36"
)

// A Row is a line of the screen.
type Row []Span

// A Span is text in one style.
type Span struct {
	Style Style
	Text  string
}

// A View is the drawing of a question: rows that fit the terminal, and the position of
// the cursor.
type View struct {
	Rows         []Row
	Line, Column int
}

// Text returns the row without styles, cut to width columns.
func (r Row) Text(width int) string {
	all := ""
	for _, s := range r {
		all += s.Text
	}
	return Cut(all, width)
}

func (r Row) width() (n int) {
	for _, s := range r {
		n += Width(s.Text)
	}
	return n
}

// Head draws the question and the typed text after it. The cursor is in the last row.
func Head(text string, e *Editor, width int) View {
	width = max(1, width-1)
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "]") {
		text += ":"
	}
	v := View{Rows: lines("? "+text, Bold, width)}
	last := len(v.Rows) - 1
	left := width - v.Rows[last].width() - 1
	if left < min(1+Width(string(e.Typed)), 12, width) {
		v.Rows = append(v.Rows, nil)
		last, left = last+1, width
	} else {
		v.Rows[last] = append(v.Rows[last], Span{Normal, " "})
	}
	start := v.Rows[last].width()
	shown, column := e.window(left)
	v.Rows[last] = append(v.Rows[last], Span{Cyan, shown})
	v.Line, v.Column = last, start+column
	return v
}

// Note draws a text below the question; none if text is "".
func Note(text string, style Style, width int) []Row {
	if text == "" {
		return nil
	}
	return lines("  "+text, style, max(1, width-1))
}

// lines draws a text over as many rows as it needs.
func lines(text string, style Style, width int) (rows []Row) {
	for _, line := range wrap(text, width) {
		rows = append(rows, Row{{style, line}})
	}
	return rows
}

// Fit cuts v to height rows. It cuts from the top as long as the cursor stays
// visible.
func (v View) Fit(height int) View {
	if over := min(len(v.Rows)-height, v.Line); over > 0 {
		v.Rows, v.Line = v.Rows[over:], v.Line-over
	}
	v.Rows = v.Rows[:min(len(v.Rows), height)]
	return v
}

// Width on the screen.

// wide contains the characters of two columns: W and F in EastAsianWidth.txt of
// Unicode 15.0, and the unassigned ones between them.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x2329, 0x232a, 1}, {0x23e9, 0x23ec, 1}, {0x23f0, 0x23f3, 3},
		{0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1}, {0x2648, 0x2653, 1}, {0x267f, 0x2693, 20}, {0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x26ce, 0x26d4, 6}, {0x26ea, 0x26ea, 1},
		{0x26f2, 0x26f3, 1}, {0x26f5, 0x26fa, 5}, {0x26fd, 0x2705, 8}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1},
		{0x274c, 0x274e, 2}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1}, {0x27b0, 0x27bf, 15},
		{0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b55, 5}, {0x2e80, 0x303e, 1}, {0x3041, 0x3247, 1}, {0x3250, 0x4dbf, 1},
		{0x4e00, 0xa4c6, 1}, {0xa960, 0xa97c, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfad9, 1}, {0xfe10, 0xfe1f, 1},
		{0xfe30, 0xfe6b, 1}, {0xff01, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x1b2fb, 1}, {0x1f004, 0x1f004, 1}, {0x1f0cf, 0x1f0cf, 1}, {0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1},
		{0x1f200, 0x1f320, 1}, {0x1f32d, 0x1f335, 1}, {0x1f337, 0x1f37c, 1}, {0x1f37e, 0x1f393, 1}, {0x1f3a0, 0x1f3ca, 1},
		{0x1f3cf, 0x1f3d3, 1}, {0x1f3e0, 0x1f3f0, 1}, {0x1f3f4, 0x1f3f4, 1}, {0x1f3f8, 0x1f43e, 1}, {0x1f440, 0x1f440, 1},
		{0x1f442, 0x1f4fc, 1}, {0x1f4ff, 0x1f53d, 1}, {0x1f54b, 0x1f54e, 1}, {0x1f550, 0x1f567, 1}, {0x1f57a, 0x1f57a, 1},
		{0x1f595, 0x1f596, 1}, {0x1f5a4, 0x1f5a4, 1}, {0x1f5fb, 0x1f64f, 1}, {0x1f680, 0x1f6c5, 1}, {0x1f6cc, 0x1f6cc, 1},
		{0x1f6d0, 0x1f6d2, 1}, {0x1f6d5, 0x1f6df, 1}, {0x1f6eb, 0x1f6ec, 1}, {0x1f6f4, 0x1f6fc, 1}, {0x1f7e0, 0x1f7f0, 1},
		{0x1f90c, 0x1f93a, 1}, {0x1f93c, 0x1f945, 1}, {0x1f947, 0x1f9ff, 1}, {0x1fa70, 0x1faf8, 1}, {0x20000, 0x3fffd, 1},
	},
}

// runeWidth returns the width of r: 0, 1 or 2 columns.
func runeWidth(r rune) int {
	switch {
	case r < 0x300 && r >= ' ' && r != 0x7f && r != 0xad:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc), r >= 0x1160 && r <= 0x11ff: // vowels and ends of Hangul join
		return 0
	case unicode.Is(wide, r):
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
		if space := strings.LastIndexByte(s[:min(end+1, len(s))], ' '); strings.TrimSpace(s[:max(0, space)]) != "" {
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
