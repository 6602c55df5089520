package report

import (
	"reflect"
	"strings"
	"testing"
)

func TestPrintableDropsWhatMovesTheCursor(t *testing.T) {
	if got, want := Printable("a\x1b[2J\rb\x00\u202ec\u009b1m\td\n"), "a[2Jbc1m\td\n"; got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
	const want = "é שלום世界\U0001f600."
	got := Printable("é \u200bשלום\u200d世界\U0001f600\ufeff.\u2060\u3164\ufe0f\U000e0041")
	if got != want {
		t.Errorf("printable: %q, want %q", got, want)
	}
}

func TestPlaceCountsCharacters(t *testing.T) {
	if got := PlaceOf("bot.json", []byte("é\n\"üé\": 1"), len("é\n\"üé")).String(); got != "bot.json:2:4" {
		t.Errorf("the place is %s", got)
	}
}

// A word that is far longer than a name is not compared with it letter by letter.
func TestNearestOfALongWord(t *testing.T) {
	names := strings.Fields("deepgram openai cartesia")
	got := testing.AllocsPerRun(1, func() { Nearest(strings.Repeat("x", 100_000), names) })
	if got > 10 {
		t.Errorf("%.0f allocations", got)
	}
}

// What a person declined is not to be tried again; what was interrupted may be.
func TestCancelledIsRetryable(t *testing.T) {
	if Cancelled(Declined, "stored").Retryable || !Cancelled(Interrupted, "stored").Retryable {
		t.Error("declined or interrupted")
	}
}

// No text of the JSON of a failure has a character that a terminal would act on.
func TestHiddenCharactersInAFailure(t *testing.T) {
	problems := []Problem{{Message: "b\u202ec"}, {Message: "d\u200be"}}
	f := &Failure{Code: Failed, Hint: "a\x1b[2J", Problems: problems}
	details := f.JSON(nil).Error
	texts := []string{details.Message, string(details.Hint)}
	for _, p := range details.Problems {
		texts = append(texts, p.Message)
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, IsHidden) {
			t.Errorf("%q", text)
		}
	}
}

// Other words for a failure leave all that is known of it.
func TestReword(t *testing.T) {
	was := &Failure{Code: Unavailable, Hint: "wait", Retryable: true, HTTPStatus: 503, MaybeApplied: true}
	f := Reword(was, "it is stored, but %s", "not ready")
	want := *was
	want.Message, want.Err = "it is stored, but not ready", was
	if !reflect.DeepEqual(f, &want) {
		t.Errorf("%+v", f)
	}
}
