package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Members finds what is wrong with a configuration file, and where. The offset is that of the byte at which
// the second part of the text begins.
func TestMembersOfWhatIsNoObject(t *testing.T) {
	for _, c := range []struct{ before, rest, want string }{
		{"", "", "the file is empty; expected a JSON object"},
		{"", " \n", "the file is empty; expected a JSON object"},
		{"", "[1]", notAnObject},
		{"", "\"word\"", notAnObject},
		{"", "mode=cascade", notAnObject},
		{"{\"a\": 1", "", "the JSON ends too early: a bracket or quote is not closed"},
		{"{\"a\": \"1", "", "the JSON ends too early: a bracket or quote is not closed"},
		{"", "\xff\xfe{\x00", UTF16},
		{"", "{\x00\"\x00", UTF16},
		{"{\n", "<<<<<<< HEAD\n", MergeConflict},
		{"{\"a\": 1, ", "}", "remove the comma before }"},
		{"{\"a\": [1, ", "]}", "remove the comma before ]"},
		{"{", "}}", "unexpected text after the JSON object"},
		{"{\n", "# a comment\n}", "JSON has no comments; remove this one"},
		{"{\n", "// a comment\n}", "JSON has no comments; remove this one"},
		{"{\n", "/* a comment */}", "JSON has no comments; remove this one"},
		{"{", "'a': 1}", "JSON strings need double quotes"},
		{"{\"a\": ", "yes}", "invalid character 'y' looking for beginning of value"},
		{strings.Repeat("[", 10000), "[", "invalid character '[' exceeded max depth"},
		{"{\"a\": 1} ", "{}", "unexpected text after the JSON object"},
	} {
		_, at, err := Members([]byte(c.before + c.rest))
		if c.before == "{" && c.rest == "}}" {
			c.before = "{}" // the object ends after its bracket
		}
		if err == nil || err.Error() != c.want || at != len(c.before) {
			t.Errorf("%.40q: %v, at %d; want %s, at %d", c.before+c.rest, err, at, c.want, len(c.before))
		}
		_, isSyntaxError := errors.AsType[*json.SyntaxError](err)
		if isSyntaxError != strings.HasPrefix(c.want, "invalid character") {
			t.Errorf("%.40q: the error has the type %T", c.before+c.rest, err)
		}
	}
}

// Every key is a member, in order, even one that is there twice or in another letter case.
func TestMembers(t *testing.T) {
	const text = ` {"a": 1, "A" : [2, {"b": 3}],` + "\n" + `"a":"x"} `
	members, at, err := Members([]byte(text))
	got := ""
	for _, m := range members {
		got += fmt.Sprintf("%s=%s %d %d\n", m.Key, m.Value, m.At, m.ValueAt)
		isKey := strings.HasPrefix(text[m.At:], `"`+m.Key+`"`)
		if !isKey || !strings.HasPrefix(text[m.ValueAt:], string(m.Value)) {
			t.Errorf("%s is not at %d, or its value not at %d", m.Key, m.At, m.ValueAt)
		}
	}
	const want = "a=1 2 7\nA=[2, {\"b\": 3}] 10 16\na=\"x\" 31 35\n"
	if got != want || at != 0 || err != nil {
		t.Errorf("%q, %d, %v; want %q", got, at, err, want)
	}
	if members, _, err := Members([]byte("{}")); members == nil || len(members) > 0 || err != nil {
		t.Errorf("{}: %v, %v", members, err)
	}
	if members, _, _ := Members([]byte(`{"a": 1} more`)); len(members) != 1 {
		t.Errorf("an object with text after it: %v", members)
	}
}

func TestIsUTF16(t *testing.T) {
	for text, want := range map[string]bool{
		"\xff\xfea": true, "\xfe\xffa": true, "a\x00": true, "\x00a": true,
		"": false, "a": false, "\x00": false, "ab": false, "\x00\x00": false, "\xef\xbb\xbfa": false,
	} {
		if got := IsUTF16([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestPlaceOnAnyLine(t *testing.T) {
	for offset, want := range map[int]string{0: "f:1:1", 1: "f:1:2", 2: "f:2:1", 4: "f:3:1"} {
		if got := PlaceOf("f", []byte("a\nb\nc"), offset).String(); got != want {
			t.Errorf("offset %d is at %s, want %s", offset, got, want)
		}
	}
}

// JSON has every character: hidden ones as escapes, and < > & as they are.
func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	v := struct {
		Text  string
		Empty OrNull
		Given OrNull
	}{"<&> \u202e \U000e0041 é", "", "x"}
	err := WriteJSON(&b, v)
	const want = `{
  "Text": "<&> \u202e \udb40\udc41 é",
  "Empty": null,
  "Given": "x"
}
`
	if b.String() != want || err != nil {
		t.Errorf("%s, %v", &b, err)
	}
	if err := WriteJSON(&b, func() {}); err == nil {
		t.Error("a function was written")
	}
	if err := WriteJSON(full{}, v); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
