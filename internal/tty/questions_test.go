package tty

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sebdah/goldie/v2"
)

// press gives all keys that the bytes stand for to q, and says whether one of them
// answered it; the keys after that are not pressed.
func press(q question, bytes string) bool {
	var d decoder
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
func drawing(q question, width, height int, back bool) string {
	v := q.view(width, height, back)
	var out strings.Builder
	for i, r := range v.Rows {
		line := textOf(r.cut(width - 1))
		if i == v.line {
			before := Cut(line, v.Column)
			line = before + strings.Repeat(" ", v.Column-Width(before)) + "|" + line[len(before):]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func textOf(r row) string {
	var all strings.Builder
	for _, s := range r {
		all.WriteString(s.Text)
	}
	return all.String()
}

func TestMenuKeys(t *testing.T) {
	m := func() *Menu {
		return &Menu{Ask: "Which?", Choices: []Choice{
			{Label: "Alpha", Names: []string{"first", "one", "x_a"}},
			{Label: "Beta", Note: "zzz", Detail: "zzz"},
			{Label: "Alphabet", Names: []string{"x_aa"}},
			{Label: "Gamma rays", Names: []string{"al"}},
		}}
	}
	for keys, want := range map[string]string{
		"\r": "Alpha", "\x1b[B\r": "Beta", "\x1b[A\r": "Gamma rays", "\x1b[B\x1b[B\x1b[B\x1b[B\r": "Alpha",
		"\x1b[F\r":        "Gamma rays",
		"\x1b[6~\x1b[H\r": "Alpha", "alpha\r": "Alpha", "alphab\r": "Alphabet", "x_aa\r": "Alphabet",
		"ONE\r": "Alpha", "bet\r": "Beta",
		"gamma r\r": "Gamma rays", "al\r": "Gamma rays", "rays gam\r": "Gamma rays", "zzz\r\x15\r": "Alpha",
		"be\x1b\r": "Alpha", "\x1b[Bgam\x1b\r": "Beta", "a\x7f\x7f\x7f\n": "Alpha",
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
		"\r": "Alpha", "\x1b[B\r": "Beta", " \r": "Alpha", "\x1b[B \x1b[B\r\r": "Beta",
		"\x1b[B\x1b[B \x1b[A \r": "Alphabet, Beta",
		"  \x1b[B\r":             "Beta", "gam bet alp\r\r": "Gamma rays, Beta", "gam gam \r": "Gamma rays",
		"gam\t\x01\r": "Gamma rays", " \x1b[B \x1b[B \r": "Alpha, Beta",
	} {
		q := m()
		q.Several = true
		q.Check = func(marked []int) error {
			if len(marked) > 2 {
				return errors.New("two at most")
			}
			return nil
		}
		if !press(q, keys) || q.Answer() != want {
			t.Errorf("%q: chose %q, want %q", keys, q.Answer(), want)
		}
	}
	// What nobody ticked is left out only after a word about it.
	q := m()
	if q.Several = true; press(q, "gam \x1b[H\r") ||
		q.message != "Space ticks Alpha; Enter again selects only Gamma rays" {
		t.Errorf("it says %q", q.message)
	}
}

// What was typed for numbered lines.
func TestPlainAnswers(t *testing.T) {
	m := &Menu{
		Several: true,
		Choices: []Choice{
			{Label: "Alpha One", Names: []string{"first", "x_a"}}, {Label: "Beta"}, {Label: "Alphabet"},
		},
	}
	for said, want := range map[string]string{
		"2": "[1]", "2,2": "[1]", "1,3": "[0 2]", "3 1": "[2 0]", "alpha one": "[0]",
		"alpha one, BETA": "[0 1]", "x_a first": "[0]",
		"beta": "[1]", "alphab": "[2]",
	} {
		if chosen, ok := m.parse(strings.ToLower(said)); fmt.Sprint(chosen) != want || !ok {
			t.Errorf("%q: %v, want %s", said, chosen, want)
		}
	}
	for _, said := range []string{"4", "-1", "0", "none", "alpha", "be", "beta, gamma", ",,1", "1e1"} {
		if chosen, ok := m.parse(said); ok {
			t.Errorf("%q was taken for %v", said, chosen)
		}
	}
}

// Questions in windows of all sizes.
func TestViews(t *testing.T) {
	dir := &lineQuestion{ask: "Directory", fallback: "my-bot", check: func(s string) (string, bool) {
		return "exists; its files are not overwritten", !strings.Contains(s, "!")
	}}
	var b strings.Builder
	back := false
	show := func(name string, q question, keys string, width, height int) {
		press(q, keys)
		fmt.Fprintf(&b, "--- %s, %q, %dx%d\n%s", name, keys, width, height, drawing(q, width, height, back))
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
	several.Several = true
	show("several", several, " \x1b[B\x1b[B ", 40, 6)
	back = true
	several = services()
	several.Several = true
	show("several", several, "", 80, 8)
	show("several", several, "\x1b[6~ ", 80, 8)
	show("line", dir, "", 80, 24)
	show("line", dir, "日本語のディレクトリ", 20, 10)
	show("line", dir, "!", 20, 10)
	back = false
	yes := yesOrNo("A question that takes more room than there is in the window?", true)
	show("yes or no", yes, "perhaps\r", 24, 10)
	goldie.New(t, goldie.WithNameSuffix("")).Assert(t, "views.txt", []byte(b.String()))
}

// A list moves no row where the text about a choice is longer than that about the one before.
func TestListKeepsItsHeight(t *testing.T) {
	m := services()
	m.Choices[1].Detail = strings.Repeat("words ", 30)
	rows := 0
	for range 3 {
		drawn := drawing(m, 80, 14, false)
		now := strings.Count(drawn[:strings.Index(drawn, "more below")], "\n")
		if rows > 0 && now != rows {
			t.Errorf("%d rows, and then %d\n%s", rows, now, drawn)
		}
		rows = now
		press(m, "\x1b[B")
	}
}

// services is a menu as long as those of services.
func services() *Menu {
	m := &Menu{Ask: "Text to speech"}
	for i, label := range strings.Fields("Cartesia ElevenLabs Async AWS_Polly Azure_TTS Camb Deepgram " +
		"Deepgram_Flux Deepgram_Flux_SageMaker Fish_Audio Google_TTS Gradium Groq Hume Inworld Kokoro") {
		name := strings.ToLower(label)
		m.Choices = append(m.Choices, Choice{
			Group: []string{"Usual", "Others"}[min(1, i/3)], Label: strings.ReplaceAll(label, "_", " "),
			Names: []string{fmt.Sprintf("tts_%c", 'a'+i), name}, Note: "of " + name,
			Detail: strings.ToUpper(name) + "_API_KEY  https://console.example.com/settings/api-keys",
		})
	}
	return m
}

// Whatever is pressed, in windows of whatever size: a question never fails, keeps
// to its window, and Enter on a good answer ends it.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("deep\x1b[B\x1b[A \r"), 80, 24, uint8(0))
	f.Add([]byte("\x1b[200~a\nb\x1b[201~\x17\x15\xff日\u0301"), 20, 3, uint8(1))
	f.Add([]byte("y\x1b\x1b[99999999~\x03\x04\x1a"), 1, 1, uint8(2))
	video, realtime := services().Choices[:3], services().Choices
	f.Fuzz(func(t *testing.T, keys []byte, width, height int, kind uint8) {
		width, height = 1+abs(width)%200, 1+abs(height)%100
		keys = keys[:min(len(keys), 1000)] // each draws all that was typed; Go ends an input after 10 s
		q := []question{
			&Menu{Ask: "Video avatar", Choices: video},
			&lineQuestion{
				ask:      "Directory",
				fallback: "x",
				check:    func(s string) (string, bool) { return s, len(s)%2 == 0 },
			},
			yesOrNo("A question of some length, over several lines?", kind%2 == 0),
			&Menu{Ask: "Several", Several: true, Choices: realtime},
		}[int(kind)%4]
		var d decoder
		done := false
		for _, b := range keys {
			for _, k := range d.Take(b) {
				done = done || q.Press(k)
			}
			v := q.view(width, height, kind%3 == 0)
			if len(v.Rows) > height || len(v.Rows) == 0 || v.line < 0 || v.line >= len(v.Rows) ||
				v.Column < 0 || v.Column > max(0, width-1) {
				t.Fatalf("%dx%d: %d rows, cursor at %d, %d", width, height, len(v.Rows), v.line, v.Column)
			}
			for _, r := range v.Rows {
				if text := textOf(r.cut(width - 1)); Width(text) > width-1 ||
					strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
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
	m := services()
	keys := []key{
		{Name: keyText, Text: "d"},
		{Name: keyText, Text: "e"},
		{Name: keyDown},
		{Name: keyBackspace},
		{Name: keyBackspace},
		{Name: keyUp},
	}
	for i := 0; b.Loop(); i++ {
		m.Press(keys[i%len(keys)])
		for _, r := range m.view(80, 24, true).Rows {
			r.cut(79)
		}
	}
}
