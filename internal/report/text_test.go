package report

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// A suggestion differs from the word in at most a third of its letters, or begins with it.
func TestNearest(t *testing.T) {
	names := strings.Fields("deepgram openai cartesia openai_llm x ab")
	for word, want := range map[string]string{
		"deepgrm":      "deepgram", // a letter is missing
		"deepgramm":    "deepgram",
		"dEEpgrbm":     "deepgram",
		"peegdram":     "", // four edits
		"edepgram":     "deepgram",
		"depegarm":     "deepgram", // two swaps
		"opnai":        "openai",
		"cart":         "cartesia", // its beginning
		"ca":           "",         // too short for a beginning
		"opena":        "openai",
		"openai_ll":    "openai_llm",
		"frobnication": "",
		"y":            "",
		"":             "",
		"aX":           "ab",
		"dépgram":      "deepgram",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("abc", []string{"abd", "abe"}); got != "abd" {
		t.Errorf("of two that are as near, it takes %s", got)
	}
	if got := Nearest("open", []string{"openai_llm", "openai_tts"}); got != "openai_llm" {
		t.Errorf("of two that begin with the word, it takes %s", got)
	}
}

// An edit is an insertion, a deletion, a change or a swap of neighbours.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "acb", 1},
		{"abc", "bca", 2},
		{"kitten", "sitting", 3},
		{"é", "e", 1},
		{"abcd", "badc", 2},
		{"ab", "ba", 1},
	} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d edits, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	for width, want := range map[int][]string{
		5:  {"ab,", "cd,", "efghij,", "k"},
		6:  {"ab,", "cd,", "efghij,", "k"},
		7:  {"ab, cd,", "efghij,", "k"},
		9:  {"ab, cd,", "efghij, k"},
		14: {"ab, cd,", "efghij, k"},
		15: {"ab, cd, efghij,", "k"},
		80: {"ab, cd, efghij, k"},
	} {
		if got := Fill(strings.Fields("ab cd efghij k"), ",", width); !slices.Equal(got, want) {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
	if got := Fill(nil, ",", 80); got != nil {
		t.Errorf("no words: %q", got)
	}
}

func TestIsHidden(t *testing.T) {
	for r, want := range map[rune]bool{
		' ': false, '~': false, 'é': false, '世': false, '\n': false, '\t': false,
		'\x1f': true, '\x7f': true, '\r': true, '\x1b': true, '\u2028': true, '\ufe0f': true, '\u00ad': true,
	} {
		if got := IsHidden(r); got != want {
			t.Errorf("%q: %v", r, got)
		}
	}
}

func TestWordsOfMessages(t *testing.T) {
	for got, want := range map[string]string{
		Plural(0, "file"):  "0 files",
		Plural(1, "file"):  "1 file",
		Plural(2, "file"):  "2 files",
		DidYouMean(""):     "",
		DidYouMean("init"): " (did you mean init?)",
		ShellWords([]string{"init", "my bot"})[:5]:       " init",
		strings.Join(QuoteAll([]string{"a", "\n"}), " "): `"a" "\n"`,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A message that names a file does not repeat its name.
func TestCause(t *testing.T) {
	err := errors.New("no space left")
	for _, e := range []error{&fs.PathError{Op: "open", Path: "a", Err: err}, err} {
		if got := Cause(e); got != err {
			t.Errorf("%v: %v", e, got)
		}
	}
}
