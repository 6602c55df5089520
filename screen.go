package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What questions are made of, apart from the terminal: bytes become keys, keys
// change a line of text, and lines are cut and broken to a width.

// Keys.

// A key is a key that was pressed, or a text that was pasted.
type key struct {
	name keyName
	text string // of keyText and keyPaste; of others, the bytes where there is just one
}

type keyName int

const (
	keyText keyName = iota
	keyPaste
	keyEnter
	keyTab
	keyEscape
	keyUp
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyPageUp
	keyPageDown
	keyBackspace
	keyDelete
	keyStart     // Ctrl-A
	keyFinish    // Ctrl-E
	keyKill      // Ctrl-U: all before the cursor
	keyKillRest  // Ctrl-K
	keyKillWord  // Ctrl-W
	keyInterrupt // Ctrl-C
	keyEOF       // Ctrl-D
	keySuspend   // Ctrl-Z
	keyOther     // it means nothing here
	keyNone      // none was pressed: the screen has to be drawn again
)

// controls are the keys that send one byte.
var controls = map[byte]keyName{
	1: keyStart, 2: keyLeft, 3: keyInterrupt, 4: keyEOF, 5: keyFinish, 6: keyRight, 8: keyBackspace, '\t': keyTab, '\n': keyEnter,
	11: keyKillRest, '\r': keyEnter, 14: keyDown, 16: keyUp, 21: keyKill, 23: keyKillWord, 26: keySuspend, 127: keyBackspace,
}

// finals are the keys that send ESC [ or ESC O and a letter, and numbered those
// that send ESC [, a number and a tilde (XTerm Control Sequences, PC-Style
// Function Keys; the Linux console's are among them).
var (
	finals   = map[byte]keyName{'A': keyUp, 'B': keyDown, 'C': keyRight, 'D': keyLeft, 'F': keyEnd, 'H': keyHome}
	numbered = map[string]keyName{"1": keyHome, "3": keyDelete, "4": keyEnd, "5": keyPageUp, "6": keyPageDown, "7": keyHome, "8": keyEnd}
)

const (
	escape = 27
	// A key's bytes come together. After this pause, what came is all.
	keyPause   = 100 * time.Millisecond
	pastePause = time.Second
	// maxPaste bounds a paste, in bytes; the rest of it is dropped.
	maxPaste   = 1 << 16
	pasteBegin = "200"
	pasteEnd   = "\x1b[201~"
)

// A decoder turns bytes into keys. The zero value is ready.
type decoder struct {
	held    []byte // the beginning of a key, or all of a paste
	pasting bool
}

// patience is how long to wait for more before what is held is complete, or 0 if
// nothing is held.
func (d *decoder) patience() time.Duration {
	switch {
	case d.pasting:
		return pastePause
	case len(d.held) > 0:
		return keyPause
	}
	return 0
}

// take takes one byte, and returns the keys that it completes.
func (d *decoder) take(b byte) []key {
	if d.pasting && controls[b] == keyInterrupt {
		return append(d.flush(), key{keyInterrupt, ""}) // a way out of a paste without an end
	}
	if d.pasting {
		d.held = append(d.held, b)
		if text, ok := strings.CutSuffix(string(d.held[max(0, len(d.held)-len(pasteEnd)):]), pasteEnd); ok && text == "" {
			d.held = d.held[:len(d.held)-len(pasteEnd)]
			return d.flush()
		}
		if len(d.held) > maxPaste+len(pasteEnd) {
			d.held = slices.Delete(d.held, maxPaste, maxPaste+1)
		}
		return nil
	}
	if len(d.held) == 0 {
		switch {
		case b == escape || b >= utf8.RuneSelf:
			d.held = append(d.held, b)
			return d.complete()
		case b >= ' ' && b != 127:
			return []key{{keyText, string(rune(b))}}
		}
		name, ok := controls[b]
		if !ok {
			name = keyOther
		}
		return []key{{name, string(rune(b))}}
	}
	sequence := d.held[0] == escape
	if b < ' ' || b == 127 && sequence || !sequence && b < utf8.RuneSelf {
		// What began has no end; what comes now stands for itself.
		return append(d.flush(), d.take(b)...)
	}
	d.held = append(d.held, b)
	return d.complete()
}

// complete returns the key that is held, if that is all of it.
func (d *decoder) complete() []key {
	done := func(k key) []key {
		d.held = nil
		return []key{k}
	}
	h := d.held
	if h[0] != escape {
		if !utf8.FullRune(h) {
			return nil
		}
		return done(key{keyText, string(h)})
	}
	if len(h) == 1 {
		return nil
	}
	last := h[len(h)-1]
	switch {
	case h[1] != '[' && h[1] != 'O':
		if len(h) == 2 && last < utf8.RuneSelf {
			return done(key{name: keyOther}) // Alt and a letter
		}
		if utf8.FullRune(h[1:]) {
			return done(key{name: keyOther})
		}
		return nil
	case len(h) == 2:
		return nil
	case h[1] == '[' && h[2] == '[': // F1 to F5 of the Linux console
		if len(h) == 3 {
			return nil
		}
		return done(key{name: keyOther})
	case last < '@' || last > '~':
		if len(h) > 32 {
			return done(key{name: keyOther})
		}
		return nil
	}
	parameter, _, _ := strings.Cut(string(h[2:len(h)-1]), ";")
	if last == '~' && parameter == pasteBegin {
		d.held, d.pasting = nil, true
		return nil
	}
	name, ok := finals[last]
	if last == '~' {
		name, ok = numbered[parameter]
	}
	if last == 'M' && h[1] == 'O' {
		name, ok = keyEnter, true // of the keypad
	}
	if !ok {
		name = keyOther
	}
	return done(key{name: name})
}

// flush ends what is held.
func (d *decoder) flush() []key {
	held, pasting := string(d.held), d.pasting
	d.held, d.pasting = nil, false
	switch {
	case pasting:
		return []key{{keyPaste, held}}
	case held == "":
		return nil
	case held == "\x1b":
		return []key{{name: keyEscape}}
	case held[0] == escape:
		return []key{{name: keyOther}}
	}
	return []key{{keyText, held}} // not UTF-8
}

// An editor is a line of text that is being typed.
type editor struct {
	typed []rune
	at    int // where the cursor stands, in runes
}

// maxEdited bounds what is typed, in runes; what is more is not taken.
const maxEdited = 4096

// press takes a key, and says whether it was one that edits.
func (e *editor) press(k key) bool {
	switch k.name {
	case keyText, keyPaste:
		e.insert(k.text)
	case keyBackspace:
		e.delete(e.before(), e.at)
	case keyDelete, keyEOF:
		e.delete(e.at, e.after())
	case keyLeft:
		e.at = e.before()
	case keyRight:
		e.at = e.after()
	case keyHome, keyStart:
		e.at = 0
	case keyEnd, keyFinish:
		e.at = len(e.typed)
	case keyKill:
		e.delete(0, e.at)
	case keyKillRest:
		e.delete(e.at, len(e.typed))
	case keyKillWord:
		from := e.at
		for from > 0 && unicode.IsSpace(e.typed[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(e.typed[from-1]) {
			from--
		}
		e.delete(from, e.at)
	default:
		return false
	}
	return true
}

// insert takes text at the cursor. Line ends of a paste become spaces, but for the
// last, and what cannot be seen is left out.
func (e *editor) insert(text string) {
	for _, r := range strings.TrimRight(text, "\r\n") {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) || len(e.typed) >= maxEdited {
			continue
		}
		e.typed = slices.Insert(e.typed, e.at, r)
		e.at++
	}
}

func (e *editor) delete(from, to int) {
	e.typed = slices.Delete(e.typed, from, to)
	e.at = from
}

// before and after are the neighbouring places of the cursor: it never stands
// between a letter and its marks.
func (e *editor) before() int {
	at := max(0, e.at-1)
	for at > 0 && runeWidth(e.typed[at]) == 0 {
		at--
	}
	return at
}

func (e *editor) after() int {
	at := min(len(e.typed), e.at+1)
	for at < len(e.typed) && runeWidth(e.typed[at]) == 0 {
		at++
	}
	return at
}

// window is what of the text fits into width columns round the cursor, and the
// column of the cursor in it.
func (e *editor) window(width int) (string, int) {
	from, column := e.at, 0
	for from > 0 && column+runeWidth(e.typed[from-1]) < width {
		from--
		column += runeWidth(e.typed[from])
	}
	for from < e.at && runeWidth(e.typed[from]) == 0 {
		from++ // a mark whose letter is not shown
	}
	return cut(string(e.typed[from:]), width), column
}

// head is the question and what is typed after it, in as many rows as that takes;
// the cursor stands in the last one.
func head(text string, e *editor, width int) view {
	width = max(1, width-1)
	if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "]") {
		text += ":"
	}
	var v view
	for _, line := range wrap("? "+text, width) {
		v.rows = append(v.rows, spans{{bold, line}})
	}
	last := len(v.rows) - 1
	left := width - v.rows[last].width() - 1
	if left < min(1+textWidth(string(e.typed)), 12, width) {
		v.rows = append(v.rows, nil)
		last, left = last+1, width
	} else {
		v.rows[last] = append(v.rows[last], span{normal, " "})
	}
	start := v.rows[last].width()
	shown, column := e.window(left)
	v.rows[last] = append(v.rows[last], span{cyan, shown})
	v.line, v.column = last, start+column
	return v
}

// note is something to say below the question; "" is nothing.
func note(text string, look style, width int) (rows []spans) {
	if text == "" {
		return nil
	}
	for _, line := range wrap("  "+text, max(1, width-1)) {
		rows = append(rows, spans{{look, line}})
	}
	return rows
}

// fit cuts v to height rows, from above: the cursor stays in sight as long as
// there is room for it.
func (v view) fit(height int) view {
	if over := min(len(v.rows)-height, v.line); over > 0 {
		v.rows, v.line = v.rows[over:], v.line-over
	}
	v.rows = v.rows[:min(len(v.rows), height)]
	return v
}

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

// spans is a line of the screen in pieces of one style each.
type spans []span

type span struct {
	style style
	text  string
}

// A view is what an open question looks like: rows that fit the terminal, and
// where its cursor stands.
type view struct {
	rows         []spans
	line, column int
}

// write appends the row, cut to width columns.
func (r spans) write(b *strings.Builder, width int, colour bool) {
	for _, s := range r {
		text := cut(s.text, width)
		if text == "" {
			continue
		}
		width -= textWidth(text)
		if colour && s.style != normal {
			fmt.Fprintf(b, "\x1b[%sm%s\x1b[m", s.style, text)
		} else {
			b.WriteString(text)
		}
	}
}

func (r spans) width() (n int) {
	for _, s := range r {
		n += textWidth(s.text)
	}
	return n
}

// Width on the screen.

// wide are the characters that take two columns: those that EastAsianWidth.txt of
// Unicode 15.0 calls W or F, with the unassigned ones between them.
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

// runeWidth is how many columns r takes: none, one or two.
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

func textWidth(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// cut is as much of s as fits into width columns.
func cut(s string, width int) string {
	for i, r := range s {
		if width -= runeWidth(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// wrap breaks s into lines of at most width columns, at spaces where there are
// any; later lines begin as far in as the text of the first does.
func wrap(s string, width int) (lines []string) {
	indent := 2
	if indent >= width {
		indent = 0
	}
	line := ""
	if strings.HasPrefix(s, "  ") {
		line = strings.Repeat(" ", indent)
	}
	for word := range strings.FieldsSeq(s) {
		for {
			sep := " "
			if line == "" || strings.TrimSpace(line) == "" {
				sep = ""
			}
			if left := width - textWidth(line+sep); cut(word, left) == word {
				line += sep + word
				break
			}
			if strings.TrimSpace(line) != "" {
				lines, line = append(lines, line), strings.Repeat(" ", indent)
				continue
			}
			part := cut(word, width-textWidth(line))
			if part == "" {
				_, size := utf8.DecodeRuneInString(word)
				part = word[:size] // wider than the whole line
			}
			lines, line, word = append(lines, line+part), strings.Repeat(" ", indent), word[len(part):]
			if word == "" {
				break
			}
		}
	}
	if strings.TrimSpace(line) != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
