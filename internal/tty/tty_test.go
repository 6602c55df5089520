package tty

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// keysCases are the cases of TestKeys.
var keysCases = map[string]string{
	"a":                          "0:a",
	"é日":                         "0:é 0:日",
	"\r\n":                       fmt.Sprintf("%d:\r %d:\n", keyEnter, keyEnter),
	"\x1b[A\x1bOB":               fmt.Sprintf("%d: %d:", keyUp, keyDown),
	"\x1b[1;5C\x1bOD":            fmt.Sprintf("%d: %d:", keyRight, keyLeft),
	"\x1b[1~\x1b[4~\x1b[H\x1bOF": fmt.Sprintf("%d: %d: %d: %d:", keyHome, keyEnd, keyHome, keyEnd),
	"\x1b[3;5~\x1b[5~\x1b[6~":    fmt.Sprintf("%d: %d: %d:", keyDelete, keyPageUp, keyPageDown),
	"\x1b":                       fmt.Sprintf("%d:", keyEscape),
	"\x1b\x1b":                   fmt.Sprintf("%d: %d:", keyEscape, keyEscape),
	"\x1b\x03":                   fmt.Sprintf("%d: %d:\x03", keyEscape, keyInterrupt),
	"\x1b[\x03":                  fmt.Sprintf("%d: %d:\x03", keyOther, keyInterrupt),
	"\x1b[12\r":                  fmt.Sprintf("%d: %d:\r", keyOther, keyEnter),
	"\x1bf":                      fmt.Sprintf("%d:", keyOther),
	"\x1b[[A1":                   fmt.Sprintf("%d: 0:1", keyOther),
	"\x1b[99~\x1b[Z":             fmt.Sprintf("%d: %d:", keyOther, keyBackTab),
	"\x1b[200~a\rb\x1b[201~c":    fmt.Sprintf("%d:a\rb 0:c", keyPaste),
	"\x1b[200~a\x03":             fmt.Sprintf("%d:a %d:\x03", keyCut, keyInterrupt),
	"\x1b[200~never ended":       fmt.Sprintf("%d:never ended", keyCut),
	// Answers of the terminal, and what only begins like one.
	"a\x1b]11;rgb:0000/0000/0000\ab":     "0:a 0:b",
	"a\x1b]11;rgb:0000/0000\x1b\\b":      "0:a 0:b",
	"\x1bP>|XTerm é\x1b\\":               "",
	"\x1b_Gi=1;OK\x1b\\\x1b^x\a\x1bXy\a": "",
	"\x1b[?62;22c\x1b[>0;1;0ca":          "0:a",
	"\x1b]1;never ended":                 "",
	"\x1b]1;never ended\r":               fmt.Sprintf("%d:\r", keyEnter),
	"\x1b]1;never ended\x03":             fmt.Sprintf("%d:\x03", keyInterrupt),
	"\x1b]1;never ended\x1b[A":           fmt.Sprintf("%d:", keyUp),
	"\x1b]":                              fmt.Sprintf("%d:", keyOther),
	"\x1bX\r":                            fmt.Sprintf("%d: %d:\r", keyOther, keyEnter),
	"\x1b]\a\a":                          fmt.Sprintf("%d: %d:\a %d:\a", keyOther, keyOther, keyOther),
	"\xc3a":                              "0:\xc3 0:a",
	"\xff":                               "0:\xff",
	"\x1b[" + strings.Repeat("1", 40): fmt.Sprintf("%d: %s", keyOther,
		strings.TrimSpace(strings.Repeat("0:1 ", 9))),
}

func TestKeys(t *testing.T) {
	for bytes, want := range keysCases {
		var d decoder
		var keys []key
		for _, b := range []byte(bytes) {
			keys = append(keys, d.Take(b)...)
		}
		keys = append(keys, d.Flush()...)
		keys = slices.DeleteFunc(keys, func(k key) bool { return k.Name == keyNone })
		var got []string
		for _, k := range keys {
			got = append(got, fmt.Sprintf("%d:%s", k.Name, k.Text))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: keys %q, want %q", bytes, got, want)
		}
		if len(d.held) > 0 || d.pasting {
			t.Errorf("%q: something is held after all", bytes)
		}
	}
	for n, want := range map[int]keyName{maxPaste - 1: keyPaste, maxPaste: keyCut, 3 * maxPaste: keyCut} {
		var d decoder
		for _, b := range []byte("\x1b[200~" + strings.Repeat("x", n)) {
			d.Take(b)
		}
		if len(d.held) > maxPaste+len(pasteEnd) {
			t.Errorf("of a paste of %d bytes, %d are kept", n, len(d.held))
		}
		var keys []key
		for _, b := range []byte(pasteEnd) {
			keys = append(keys, d.Take(b)...)
		}
		if len(keys) != 1 || keys[0].Name != want || len(keys[0].Text) < min(n, maxPaste) {
			t.Errorf("a paste of %d bytes: %d keys", n, len(keys))
		}
	}
	var d decoder
	for _, b := range []byte("\x1b]" + strings.Repeat("x", 3*maxString)) {
		d.Take(b)
	}
	if len(d.held) > maxString || d.timeout() != keyPause || d.Take('\a')[0].Name != keyNone {
		t.Errorf("of an endless answer, %d bytes are kept", len(d.held))
	}
}

// Rows that a terminal wrapped when it became narrower count as they stand there.
func TestUp(t *testing.T) {
	term := &Terminal{width: 50}
	for width, want := range map[int]string{
		0:   "\r\x1b[2A",
		50:  "\r\x1b[2A",
		51:  "\r\x1b[3A",
		101: "\r\x1b[4A",
	} {
		if got := term.up([]row{nil, {{Text: strings.Repeat("x", width)}}}, 0); got != want {
			t.Errorf("above a row of %d columns and an empty one: %q", width, got)
		}
	}
	if got := term.up(nil, 60); got != "\r\x1b[1A" {
		t.Errorf("from column 60: %q", got)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"abc":                3,
		"é":                  1,
		"e\u0301":            1,
		"日本":                 4,
		"한글":                 4,
		"\u1112\u1161\u11ab": 2,
		"👍":                  2,
		"\u200b":             0,
		"ｱ":                  1,
		"":                   0,
		"क्षि":               3,
	} {
		if got := Width(s); got != want {
			t.Errorf("%q is %d columns wide, want %d", s, got, want)
		}
	}
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"日本語", 5, "日本"},
		{"日本語", 1, ""},
		{"abc", 2, "ab"},
		{"e\u0301x", 1, "e\u0301"},
		{"abc", 0, ""},
		{"abc", -1, ""},
	} {
		if got := Cut(c.s, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"one two three", 8, "one two/  three"},
		{"one", 8, "one"},
		{"  one two", 5, "  one/  two"},
		{"abcdefghij", 4, "abcd/  ef/  gh/  ij"},
		{"日本語", 1, "日/本/語"},
		{"日本語", 3, "日/  本/  語"},
		{"", 5, ""},
		{"  a   b  c", 8, "  a   b/  c"},
		{"ab   cd", 4, "ab/  cd"},
		{"abcd e", 4, "abcd/  e"},
		{"  a  one two three", 15, "  a  one two/     three"},
		{"  a  one two three", 14, "  a  one two/  three"},
	} {
		if got := strings.Join(wrap(c.s, c.width), "/"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

func TestEditing(t *testing.T) {
	for keys, want := range map[string]string{
		"abc":                             "abc|",
		"abc\x01x":                        "x|abc",
		"abc\x1b[D\x7f":                   "a|c",
		"abc\x1b[D\x1b[D\x1b[3~":          "a|c",
		"abc\x1b[H\x1b[Fd":                "abcd|",
		"abc\x01\x04":                     "|bc",
		"one two  \x17":                   "one |",
		"one two\x17\x17":                 "|",
		"one two\x1b[D\x15":               "|o",
		"one two\x01\x06\x0b":             "o|",
		"e\u0301x\x02\x7f":                "|x", // the mark goes with its letter
		"日本\x1b[D":                        "日|本",
		"日本\x08x\x08\x08\x08":             "|",  // Ctrl-H, as some terminals send Backspace
		"\x1b[Ia\x1b[O\x1b[97u":           "a|", // the window is entered and left
		"a\tb\x07":                        "ab|",
		"\x1b[200~two\nlines\n\x1b[201~!": "two lines!|",
		"\x7f\x7f\x1b[D\x1b[C":            "|",
		"\xff\u200b\u202e":                "|",
	} {
		var d decoder
		var e editor
		for _, b := range []byte(keys) {
			for _, k := range d.Take(b) {
				e.press(k)
			}
		}
		if got := string(e.typed[:e.at]) + "|" + string(e.typed[e.at:]); got != want {
			t.Errorf("%q: %s, want %s", keys, got, want)
		}
	}
}
