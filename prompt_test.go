package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"vbot/internal/tty"
)

// press gives all keys that the bytes stand for to q, and says whether one of them
// answered it; the keys after that are not pressed.
func press(q widget, bytes string) bool {
	var d tty.Decoder
	for _, b := range []byte(bytes) {
		for _, k := range d.Take(b) {
			if q.Press(k) {
				return true
			}
		}
	}
	return slices.ContainsFunc(d.Flush(), q.Press)
}

// drawing is what the view of q shows, line by line, with | at the cursor.
func drawing(q widget, width, height int) string {
	v := q.View(width, height)
	var out strings.Builder
	for i, r := range v.Rows {
		line := r.Text(width - 1)
		if i == v.Line {
			before := tty.Cut(line, v.Column)
			line = before + strings.Repeat(" ", v.Column-tty.Width(before)) + "|" + line[len(before):]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func TestMenuKeys(t *testing.T) {
	m := func() *menu {
		return &menu{ask: "Which?", choices: []choice{
			{label: "Alpha", id: "x_a", names: []string{"first", "one"}}, {label: "Beta", note: "zzz", detail: "zzz"}, {label: "Alphabet", id: "x_aa"}, {label: "Gamma rays"},
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
			got = q.Answer()
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
		if !press(q, keys) || q.Answer() != want {
			t.Errorf("%q: chose %q, want %q", keys, q.Answer(), want)
		}
		q.marked, q.needed = nil, true
	}
	q := m()
	q.several, q.needed = true, true
	if !press(q, "\x1b[B\r") || q.Answer() != "Beta" {
		t.Errorf("nothing was marked, and Enter chose %q", q.Answer())
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
	dir := &lineQuestion{ask: "Directory", fallback: "my-bot", check: func(s string) (string, bool) {
		return "exists; its files are not overwritten", !strings.Contains(s, "!")
	}}
	var b strings.Builder
	show := func(name string, q widget, keys string, width, height int) {
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
	needed := services()
	needed.several, needed.needed, needed.back = true, true, true
	show("several, at least one", needed, "", 80, 8)
	show("several, at least one", needed, "\x1b[6~ ", 80, 8)
	dir.back = true
	show("line", dir, "", 80, 24)
	show("line", dir, "日本語のディレクトリ", 20, 10)
	show("line", dir, "!", 20, 10)
	yes := yesOrNo("A question that takes more room than there is in the window?", true)
	show("yes or no", yes, "perhaps\r", 24, 10)
	golden(t, "wizard/views.txt", []byte(b.String()))
}

// serviceMenu is the list of all services of the kind.
func serviceMenu(kind string) *menu {
	m := &menu{ask: "Text to speech"}
	for _, p := range newCatalog().all(kind) {
		m.choices = append(m.choices, choiceOf(p))
	}
	return m
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
		keys = keys[:min(len(keys), 1000)] // each draws all that was typed; Go ends an input after 10 s
		q := []widget{
			&menu{ask: "Video avatar", choices: video},
			&lineQuestion{ask: "Directory", fallback: "x", check: func(s string) (string, bool) { return s, len(s)%2 == 0 }},
			yesOrNo("A question of some length, over several lines?", kind%2 == 0),
			&menu{ask: "Several", several: true, choices: realtime},
		}[int(kind)%4]
		var d tty.Decoder
		done := false
		for _, b := range keys {
			for _, k := range d.Take(b) {
				done = done || q.Press(k)
			}
			v := q.View(width, height)
			if len(v.Rows) > height || len(v.Rows) == 0 || v.Line < 0 || v.Line >= len(v.Rows) || v.Column < 0 || v.Column > max(0, width-1) {
				t.Fatalf("%dx%d: %d rows, cursor at %d, %d", width, height, len(v.Rows), v.Line, v.Column)
			}
			for _, r := range v.Rows {
				if text := r.Text(width - 1); tty.Width(text) > width-1 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
					t.Fatalf("%d columns: %q", width, text)
				}
			}
		}
		if done {
			q.Answer()
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// What a key press costs on the longest list there is: to filter and draw it.
func BenchmarkKeyPress(b *testing.B) {
	m := serviceMenu(kindTTS)
	keys := []tty.Key{{Name: tty.KeyText, Text: "d"}, {Name: tty.KeyText, Text: "e"}, {Name: tty.KeyDown}, {Name: tty.KeyBackspace}, {Name: tty.KeyBackspace}, {Name: tty.KeyUp}}
	for i := 0; b.Loop(); i++ {
		m.Press(keys[i%len(keys)])
		for _, r := range m.View(80, 24).Rows {
			r.Text(79)
		}
	}
}
