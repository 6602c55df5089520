package cloud

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
)

// test is a world that drops control characters and characters without a width, and does
// not pause.
var test = World{
	Now:      time.Now,
	Pause:    func(context.Context, time.Duration) error { return nil },
	Random:   func() float64 { return 0 },
	Note:     func(string) {},
	IsHidden: func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) },
}

func TestClean(t *testing.T) {
	c := newCleaner(test.IsHidden)
	c.Hide(NewSecret("hunter2"), NewSecret("1"), NewSecret("multi\nline-secret\n"), NewSecret("eu-central-1"), NewSecret("!!??"), NewSecret("e\u200bs\x1bc"), NewSecret("geheimnis é \"quoted\""), NewSecret("ümlaut\n<x>"))
	for in, want := range map[string]string{
		"no hunter2 here":               "no [hidden] here",
		"value \"1\" in us-west-1, 100": "value \"[hidden]\" in us-west-[hidden], 100",
		"v1 of 11, 31, MQ":              "v1 of 11, 31, MQ",
		"got multi\nline-secret":        "got [hidden]",
		`got multi\nline-secret`:        "got [hidden]",
		"a\nb\x1b[2J\tc":                "a b\ufffd[2J c",
		// In any letter case, as each of the forms.
		"HUNTER2 Hunter2":                      "[hidden] [hidden]",
		"aHVudGVyMg== aHVudGVyMg AHVUDGVYMG==": "[hidden]== [hidden] [hidden]==",
		"bXVsdGkKbGluZS1zZWNyZXQ=":             "[hidden]=",
		"ISE/Pw== ISE_Pw":                      "[hidden]== [hidden]", // both alphabets of base64
		"68756e74657232 68756E74657232":        "[hidden] [hidden]",
		"GEHEIMNIS É \"QUOTED\"":               "[hidden]",
		`say "geheimnis \u00e9 \"quoted\""`:    `say "[hidden]""`,
		`say "GEHEIMNIS \u00E9 \"QUOTED\""`:    `say "[hidden]""`,
		`say "ümlaut\n\u003cx\u003e"`:          `say "[hidden]"`,
		"geheimnis+%C3%A9+%22quoted%22":        "[hidden]",
		"geheimnis%20%c3%a9%20%22quoted%22":    "[hidden]",
		// Characters that are not shown do not hide a value from the search.
		"hun\x1bter2, hun\u200bter2, h\u202eunter2": "[hidden], [hidden], [hidden]",
		"the value !!??":   "the value [hidden]",
		"esc, and e\x1bsc": "[hidden], and [hidden]",
		// Names.
		"hunter2":      "[hidden]",
		"x-hunter2":    "x-[hidden]",
		"1":            "[hidden]",
		"KEY_1":        "KEY_1",
		"eu-central":   "eu-central",
		"eu-central-1": "[hidden]",
		"ready":        "ready",
	} {
		if got := c.clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := c.clean(strings.Repeat("é ", 2000)); len([]rune(got)) != maxMessage+3 {
		t.Errorf("%d runes", len([]rune(got)))
	}
}

// What comes out equals a name or a word only if the API said just that, and what a
// person typed stays as it is.
func TestWhatIsCleanedIsMarked(t *testing.T) {
	c := newCleaner(test.IsHidden)
	c.Hide(NewSecret("eu-central"), NewSecret("pending"), NewSecret("my-bot"))
	c.Keep("My-Bot")
	for in, want := range map[string]string{
		"eu-central": mark, "pending": "pending", "my-bot": "my-bot", "ap-south": "ap-south",
		"B\u200bC": "B\ufffdC", "\u200b\u200bBC\x00": "\ufffdBC\ufffd", " BC": " BC", "BC\n": "BC ", "B\xffC": "B\ufffdC",
	} {
		if got := c.clean(in); got != want {
			t.Errorf("clean(%q) = %q", in, got)
		}
	}
}

// Whatever an API repeats, in whichever form and however much of it, no value comes out,
// and it takes no time to speak of.
func TestCleanOfHostileTexts(t *testing.T) {
	var values []string
	var secrets []Secret
	for i := range 200 {
		value := ""
		for n := range 4 << 10 / 16 {
			value += fmt.Sprintf("%016x", uint64(i*7919+n+1)*0x9e3779b97f4a7c15)
		}
		values, secrets = append(values, value), append(secrets, NewSecret(value))
	}
	body, _ := json.Marshal(map[string]any{"secrets": values})
	all := string(body)
	c := newCleaner(test.IsHidden)
	c.Hide(secrets...)
	for name, text := range map[string]string{
		"the body":                 all,
		"the body, twice":          strings.Repeat(all, 2),
		"upper case":               strings.ToUpper(all),
		"quoted":                   strconv.Quote(all),
		"escaped":                  url.QueryEscape(all),
		"encoded":                  base64.StdEncoding.EncodeToString([]byte(values[0])),
		"in hex":                   fmt.Sprintf("%X", values[0]),
		"control characters first": strings.Repeat("\x1b", 2<<20) + values[0],
		"far behind":               strings.Repeat("x ", 240) + values[7],
		"with control characters":  strings.Join(strings.Split(values[3], ""), "\x1b"),
	} {
		c.searched = 0
		got := strings.ToLower(c.clean(text))
		for _, value := range values {
			for _, start := range []string{value[:8], base64.StdEncoding.EncodeToString([]byte(value))[:8], fmt.Sprintf("%x", value)[:8]} {
				if strings.Contains(got, strings.ToLower(start)) {
					t.Fatalf("%s: a value begins in %q", name, got)
				}
			}
		}
		if len(got) > maxMessage+3 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	// Many strings that need a search each, or a long one: at some time it is enough.
	rows := make([]struct{ Name string }, 100_000)
	for i := range rows {
		rows[i].Name = fmt.Sprintf("row %d of the listing", i)
	}
	data, _ := json.Marshal(rows)
	c.searched = maxSearch - 1<<24
	if !c.decode(data, &rows) || rows[99_999].Name != mark {
		t.Errorf("the last row is %q", rows[99_999].Name)
	}
	c.searched = 0
	if got := c.clean(strings.Repeat("a", 7<<20)); got != mark {
		t.Errorf("a long string: %q", got)
	}
}

func BenchmarkClean(b *testing.B) {
	for _, size := range []int{16, 4 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			c := newCleaner(test.IsHidden)
			for i := range 1000 {
				c.Hide(NewSecret(fmt.Sprintf("value-%d-%s", i, strings.Repeat("x", size))))
			}
			for b.Loop() {
				c.searched = 0
				c.clean("the API does not take the value of KEY_17, and says so at some length: value-17-xxxxxxxx")
			}
		})
	}
}
