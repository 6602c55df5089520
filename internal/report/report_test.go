package report

import (
	"strings"
	"testing"
)

func TestPrintableDropsWhatMovesTheCursor(t *testing.T) {
	if got, want := Printable("a\x1b[2J\rb\x00\u202ec\u009b1m\td\n"), "a[2Jbc1m\td\n"; got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
	if got, want := Printable("é \u200bשלום\u200d世界\U0001f600\ufeff.\u2060\u3164\ufe0f\U000e0041"), "é שלום世界\U0001f600."; got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
}

func TestPlaceCountsCharacters(t *testing.T) {
	if got := Place("bot.json", []byte("é\n\"üé\": 1"), len("é\n\"üé")); got != "bot.json:2:4" {
		t.Errorf("the place is %s", got)
	}
}

// A word that is far longer than a name is not compared with it letter by letter.
func TestNearestOfALongWord(t *testing.T) {
	if got := testing.AllocsPerRun(1, func() { Nearest(strings.Repeat("x", 100_000), strings.Fields("deepgram openai cartesia")) }); got > 10 {
		t.Errorf("%.0f allocations", got)
	}
}
