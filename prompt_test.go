package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// press gives all keys that the bytes stand for to q, and says whether one of them
// answered it; the keys after that are not pressed.
func press(q question, bytes string) bool {
	var d decoder
	for _, b := range []byte(bytes) {
		for _, k := range d.take(b) {
			if q.press(k) {
				return true
			}
		}
	}
	return slices.ContainsFunc(d.flush(), q.press)
}

// drawing is what the view of q shows, line by line, with | at the cursor.
func drawing(q question, width, height int) string {
	v := q.view(width, height)
	var out strings.Builder
	for i, r := range v.rows {
		var b strings.Builder
		r.write(&b, width-1, false)
		line := b.String()
		if i == v.line {
			before := cut(line, v.column)
			line = before + strings.Repeat(" ", v.column-textWidth(before)) + "|" + line[len(before):]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func TestKeys(t *testing.T) {
	for bytes, want := range map[string]string{
		"a":                               "0:a",
		"é日":                              "0:é 0:日",
		"\r\n":                            fmt.Sprintf("%d:\r %d:\n", keyEnter, keyEnter),
		"\x1b[A\x1bOB":                    fmt.Sprintf("%d: %d:", keyUp, keyDown),
		"\x1b[1;5C\x1bOD":                 fmt.Sprintf("%d: %d:", keyRight, keyLeft),
		"\x1b[1~\x1b[4~\x1b[H\x1bOF":      fmt.Sprintf("%d: %d: %d: %d:", keyHome, keyEnd, keyHome, keyEnd),
		"\x1b[3~\x1b[5~\x1b[6~":           fmt.Sprintf("%d: %d: %d:", keyDelete, keyPageUp, keyPageDown),
		"\x1b":                            fmt.Sprintf("%d:", keyEscape),
		"\x1b\x1b":                        fmt.Sprintf("%d: %d:", keyEscape, keyEscape),
		"\x1b\x03":                        fmt.Sprintf("%d: %d:\x03", keyEscape, keyInterrupt),
		"\x1b[\x03":                       fmt.Sprintf("%d: %d:\x03", keyOther, keyInterrupt),
		"\x1b[12\r":                       fmt.Sprintf("%d: %d:\r", keyOther, keyEnter),
		"\x1bf":                           fmt.Sprintf("%d:", keyOther),
		"\x1b[[A1":                        fmt.Sprintf("%d: 0:1", keyOther),
		"\x1b[99~\x1b[Z":                  fmt.Sprintf("%d: %d:", keyOther, keyOther),
		"\x1b[200~a\rb\x1b[201~c":         fmt.Sprintf("%d:a\rb 0:c", keyPaste),
		"\x1b[200~a\x03":                  fmt.Sprintf("%d:a %d:", keyPaste, keyInterrupt),
		"\x1b[200~never ended":            fmt.Sprintf("%d:never ended", keyPaste),
		"\xc3a":                           "0:\xc3 0:a",
		"\xff":                            "0:\xff",
		"\x1b[" + strings.Repeat("1", 40): fmt.Sprintf("%d: %s", keyOther, strings.TrimSpace(strings.Repeat("0:1 ", 9))),
	} {
		var d decoder
		var keys []key
		for _, b := range []byte(bytes) {
			keys = append(keys, d.take(b)...)
		}
		keys = append(keys, d.flush()...)
		var got []string
		for _, k := range keys {
			got = append(got, fmt.Sprintf("%d:%s", k.name, k.text))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: keys %q, want %q", bytes, got, want)
		}
		if d.patience() != 0 {
			t.Errorf("%q: something is held after all", bytes)
		}
	}
	var d decoder
	for _, b := range []byte("\x1b[200~" + strings.Repeat("x", 3*maxPaste)) {
		d.take(b)
	}
	if keys := d.flush(); len(keys[0].text) > maxPaste+len(pasteEnd) {
		t.Errorf("a paste of %d bytes is kept", len(keys[0].text))
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
		"a\tb\x07":                        "ab|",
		"\x1b[200~two\nlines\n\x1b[201~!": "two lines!|",
		"\x7f\x7f\x1b[D\x1b[C":            "|",
		"\xff\u200b\u202e":                "|",
	} {
		q := &lineQuestion{check: func(string) (string, bool) { return "", true }}
		if press(q, keys) {
			t.Errorf("%q ended the question", keys)
		}
		if got := string(q.line.typed[:q.line.at]) + "|" + string(q.line.typed[q.line.at:]); got != want {
			t.Errorf("%q: %s, want %s", keys, got, want)
		}
	}
}

func TestMenuKeys(t *testing.T) {
	m := func() *menu {
		return &menu{ask: "Which?", choices: []choice{
			{label: "Alpha", id: "x_a", names: []string{"first", "one"}}, {label: "Beta"}, {label: "Alphabet", id: "x_aa"}, {label: "Gamma rays"},
		}}
	}
	for keys, want := range map[string]string{
		"\r": "Alpha", "\x1b[B\r": "Beta", "\x1b[A\r": "Gamma rays", "\x1b[B\x1b[B\x1b[B\x1b[B\r": "Alpha", "\x1b[F\r": "Gamma rays",
		"\x1b[6~\x1b[H\r": "Alpha", "alpha\r": "Alpha", "alphab\r": "Alphabet", "x_aa\r": "Alphabet", "ONE\r": "Alpha", "bet\r": "Beta",
		"gamma r\r": "Gamma rays", "rays gam\r": "Gamma rays", "zzz\r\x15\r": "Alpha", "be\x1b\r": "Beta", "a\x7f\x7f\x7f\n": "Alpha",
		"\x1b[200~beta\n\x1b[201~": "",
	} {
		q := m()
		got := ""
		if press(q, keys) {
			got = q.answer()
		}
		if got != want {
			t.Errorf("%q: chose %q, want %q", keys, got, want)
		}
	}
	for keys, want := range map[string]string{
		"\r": "none", " \r": "Alpha", "\x1b[B\x1b[B \x1b[A \r": "Alphabet, Beta", "  \r": "none", "gam bet alp\r": "Gamma rays, Beta", "gam gam \r": "none",
		"gam\t\x01\r": "Gamma rays", " \x1b[B \x1b[B \r": "Alpha, Beta",
	} {
		q := m()
		q.several = true
		q.allow = func(marked []int) string {
			if len(marked) > 2 {
				return "two at most"
			}
			return ""
		}
		if !press(q, keys) || q.answer() != want {
			t.Errorf("%q: chose %q, want %q", keys, q.answer(), want)
		}
		q.marked, q.needed = nil, true
	}
	q := m()
	q.several, q.needed = true, true
	if !press(q, "\x1b[B\r") || q.answer() != "Beta" {
		t.Errorf("nothing was marked, and Enter chose %q", q.answer())
	}
}

// What was typed for numbered lines.
func TestPlainAnswers(t *testing.T) {
	m := &menu{several: true, choices: []choice{{label: "Alpha One", id: "x_a", names: []string{"first"}}, {label: "Beta"}, {label: "Alphabet"}}}
	for said, want := range map[string]string{
		"": "[]", "2": "[1]", "1,3": "[0 2]", "3 1": "[2 0]", "alpha one": "[0]", "alpha one, BETA": "[0 1]", "x_a first": "[0]", "none": "[]", "0": "[]",
		"be": "[1]", "alphab": "[2]",
	} {
		if chosen, wrong := m.read(said); fmt.Sprint(chosen) != want || wrong != "" {
			t.Errorf("%q: %v, want %s; %s", said, chosen, want, wrong)
		}
	}
	for _, said := range []string{"4", "-1", "alpha", "beta, gamma", ",,1", "1e1"} {
		if chosen, wrong := m.read(said); wrong == "" {
			t.Errorf("%q was taken for %v", said, chosen)
		}
	}
}

// Questions in windows of all sizes.
func TestViews(t *testing.T) {
	services := func() *menu { return serviceMenu(kindTTS) }
	dir := &lineQuestion{ask: "Directory", standard: "my-bot", check: func(s string) (string, bool) {
		return "it exists; nothing there is written over", !strings.Contains(s, "!")
	}}
	var b strings.Builder
	show := func(name string, q question, keys string, width, height int) {
		press(q, keys)
		fmt.Fprintf(&b, "--- %s, %q, %dx%d\n%s", name, keys, width, height, drawing(q, width, height))
	}
	show("list", services(), "", 80, 24)
	show("list", services(), "\x1b[F", 40, 10)
	show("list", services(), "deepgram", 40, 10)
	show("list", services(), "zzz\r", 40, 10)
	show("list", services(), "", 20, 6)
	show("list", services(), "a long filter that is longer than the window", 20, 6)
	show("list", services(), "\x1b[B", 20, 2)
	show("list", services(), "", 3, 3)
	several := services()
	several.several = true
	show("several", several, " \x1b[B\x1b[B ", 40, 6)
	show("line", dir, "", 80, 24)
	show("line", dir, "日本語のディレクトリ", 20, 10)
	show("line", dir, "!", 20, 10)
	yes := &yesOrNo{ask: "A question that takes more room than there is in the window?", standard: true}
	show("yes or no", yes, "perhaps\r", 24, 10)
	golden(t, "wizard/views.txt", []byte(b.String()))
}

// serviceMenu is the list of all services of the kind.
func serviceMenu(kind string) *menu {
	m := &menu{ask: "Text to speech"}
	for _, p := range newCatalog().all(kind) {
		m.choices = append(m.choices, choice{label: p.label, id: p.id, names: p.names, note: strings.Join(p.needs(), ", ")})
	}
	return m
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "한글": 4, "\u1112\u1161\u11ab": 2, "👍": 2, "\u200b": 0, "ｱ": 1, "": 0, "क्षि": 3} {
		if got := textWidth(s); got != want {
			t.Errorf("%q is %d columns wide, want %d", s, got, want)
		}
	}
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{{"日本語", 5, "日本"}, {"日本語", 1, ""}, {"abc", 2, "ab"}, {"e\u0301x", 1, "e\u0301"}, {"abc", 0, ""}, {"abc", -1, ""}} {
		if got := cut(c.s, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"one two three", 8, "one two/  three"}, {"one", 8, "one"}, {"  one two", 5, "  one/  two"}, {"abcdefghij", 4, "abcd/  ef/  gh/  ij"},
		{"日本語", 1, "日/本/語"}, {"", 5, ""},
	} {
		if got := strings.Join(wrap(c.s, c.width), "/"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

// Whatever is pressed, in windows of whatever size: a question never fails, keeps
// to its window, and Enter on a good answer ends it.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("deep\x1b[B\x1b[A \r"), 80, 24, uint8(0))
	f.Add([]byte("\x1b[200~a\nb\x1b[201~\x17\x15\xff日\u0301"), 20, 3, uint8(1))
	f.Add([]byte("y\x1b\x1b[99999999~\x03\x04\x1a"), 1, 1, uint8(2))
	video, realtime := serviceMenu(kindVideo).choices, serviceMenu(kindRealtime).choices
	f.Fuzz(func(t *testing.T, keys []byte, width, height int, kind uint8) {
		width, height = 1+abs(width)%200, 1+abs(height)%100
		q := []question{
			&menu{ask: "Video avatar", choices: video},
			&lineQuestion{ask: "Directory", standard: "x", check: func(s string) (string, bool) { return s, len(s)%2 == 0 }},
			&yesOrNo{ask: "A question of some length, over several lines?", standard: kind%2 == 0},
			&menu{ask: "Several", several: true, choices: realtime},
		}[int(kind)%4]
		var d decoder
		done := false
		for _, b := range keys {
			for _, k := range d.take(b) {
				done = done || q.press(k)
			}
			v := q.view(width, height)
			if len(v.rows) > height || len(v.rows) == 0 || v.line < 0 || v.line >= len(v.rows) || v.column < 0 || v.column > max(0, width-1) {
				t.Fatalf("%dx%d: %d rows, cursor at %d, %d", width, height, len(v.rows), v.line, v.column)
			}
			for _, r := range v.rows {
				var b strings.Builder
				r.write(&b, width-1, false)
				if textWidth(b.String()) > width-1 || strings.ContainsFunc(b.String(), func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
					t.Fatalf("%d columns: %q", width, b.String())
				}
			}
		}
		if done {
			q.answer()
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// What a key press costs on the longest list there is: to filter and draw it.
func BenchmarkKeyPress(b *testing.B) {
	m := serviceMenu(kindTTS)
	p := &prompter{out: discard{}, width: 80, height: 24}
	keys := []key{{keyText, "d"}, {keyText, "e"}, {name: keyDown}, {name: keyBackspace}, {name: keyBackspace}, {name: keyUp}}
	for i := 0; b.Loop(); i++ {
		m.press(keys[i%len(keys)])
		p.draw(m.view(p.width, p.height))
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
