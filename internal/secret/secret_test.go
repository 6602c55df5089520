package secret

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// No way of printing a value, or a struct with it, has its text.
func TestValuesArePrintedNowhere(t *testing.T) {
	pair := Pair{Key: "A", Value: New("hunter2")}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		text := fmt.Sprintf(format, pair.Value) + fmt.Sprintf(format, pair) + fmt.Sprintf(format, &pair) +
			fmt.Sprintf(format, []Pair{pair})
		if strings.Contains(text, "hunter2") || strings.Contains(text, "68756e74") {
			t.Errorf("%s prints %s", format, text)
		}
	}
	if data, err := json.Marshal(pair); err != nil || strings.Contains(string(data), "hunter2") {
		t.Errorf("JSON: %s, %v", data, err)
	}
	if pair.Value.Reveal() != "hunter2" || pair.Value.Empty() {
		t.Error("the text is lost")
	}
	if zero := (Value{}); zero.Reveal() != "" || !zero.Empty() || !New("").Empty() {
		t.Error("the zero value is not empty")
	}
}

// A pair without a valid key is called by its number.
func TestFields(t *testing.T) {
	for want, pair := range map[string]Pair{
		"KEY": {Key: "KEY", File: ".env", Line: 3}, "pair 1": {Key: "hunter2", Number: 1},
	} {
		if got := pair.Field(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"A": true, "9": true, "_": true, "-": true, "aZ_-09": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "a.b": false, "é": false, "a\n": false,
		"@": false, "[": false, "`": false, "{": false, "/": false, ":": false,
	} {
		if got := IsKey(key); got != want {
			t.Errorf("IsKey(%q): %v", key, got)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a.b": true, "a-b.c": true, "12345678": true,
		"": false, "123456789": false, ".a": false, "a.": false, "-": false, "a_b": false, "é": false,
	} {
		if got := IsName(name, 8, ".-"); got != want {
			t.Errorf("IsName(%q): %v", name, got)
		}
	}
}
