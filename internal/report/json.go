package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON writes v as indented JSON, without the HTML escapes of <, > and &. It
// escapes hidden characters, so that every name is preserved.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	var out []byte
	for _, r := range b.String() {
		if !IsHidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	_, err := w.Write(out)
	return err
}

// Joined are values whose JSON is objects, printed as one object with the keys of all, in their order.
type Joined []any

// MarshalJSON returns the object.
func (j Joined) MarshalJSON() ([]byte, error) {
	var members [][]byte
	for _, v := range j {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		object := bytes.TrimSpace(b.Bytes())
		if inner := object[1 : len(object)-1]; len(inner) > 0 {
			members = append(members, inner)
		}
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}")), nil
}

// A Warning is what a person should know although the command goes on, such as a value that looks wrong.
type Warning struct {
	Field   string `json:"field" about:"a key, option, argument, variable or path; or empty"`
	Message string `json:"message" about:"what to know, in one sentence"`
}

// Warnings is the end of what --json prints.
type Warnings struct {
	Warnings []Warning `json:"warnings" about:"what to check although the command went on"`
}

// OrNull is a string that becomes null in JSON when it is empty.
type OrNull string

// MarshalJSON returns null for an empty string.
func (s OrNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

// A Number is a positive number, or 0, which becomes null in JSON.
type Number int

// MarshalJSON returns null for 0.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int(n))
}

// A Member is a key of a JSON object with its value, and where they begin.
type Member struct {
	Key     string
	Value   json.RawMessage
	At      int // where the key begins, in bytes
	ValueAt int // where the value begins, in bytes
}

// Messages about the syntax of a file.
const (
	UTF16         = "the file is UTF-16; save it as UTF-8"
	MergeConflict = "this merge conflict is not resolved"
	notAnObject   = "expected a JSON object: {...}"
)

// Members returns the members of the JSON object in data, in order. (encoding/json by itself
// silently accepts duplicate keys, and keys in another letter case.) An error says what is wrong
// with data; at is where, in bytes. Errors that quote data are of the type *json.SyntaxError. If
// data begins with a valid object and only the text after it is wrong, the members are returned
// as well.
func Members(data []byte) (members []Member, at int, err error) {
	if at, err = checkSyntax(data); err != nil {
		return nil, at, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	// next returns where the next token begins, after the punctuation.
	next := func(punctuation string) int {
		return len(data) - len(bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"+punctuation))
	}
	if start, _ := dec.Token(); start != json.Delim('{') {
		return nil, 0, errors.New(notAnObject)
	}
	for members = []Member{}; dec.More(); {
		m := Member{At: next(",")}
		key, _ := dec.Token()
		m.Key, m.ValueAt = key.(string), next(":")
		dec.Decode(&m.Value)
		members = append(members, m)
	}
	dec.Token()
	if end := next(""); end < len(data) {
		return members, end, errors.New("unexpected text after the JSON object")
	}
	return members, 0, nil
}

// checkSyntax returns what is wrong with the first JSON value in data, and where, in bytes.
func checkSyntax(data []byte) (at int, err error) {
	var first json.RawMessage
	err = json.NewDecoder(bytes.NewReader(data)).Decode(&first)
	switch {
	case err == nil:
		return 0, nil
	case errors.Is(err, io.EOF):
		return 0, errors.New("the file is empty; expected a JSON object")
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return len(data), errors.New("the JSON ends too early: a bracket or quote is not closed")
	}
	at = int(syntax.Offset) - 1
	before, rest := bytes.TrimSpace(data[:at]), data[at:]
	begins := func(text string) bool { return bytes.HasPrefix(rest, []byte(text)) }
	switch {
	case IsUTF16(data):
		return 0, errors.New(UTF16)
	case begins("<<<<<<< "):
		return at, errors.New(MergeConflict)
	case (begins("}") || begins("]")) && bytes.HasSuffix(before, []byte(",")):
		return at, fmt.Errorf("remove the comma before %c", rest[0])
	case begins("#"), begins("//"), begins("/*"):
		return at, errors.New("JSON has no comments; remove this one")
	case begins("'"):
		return at, errors.New("JSON strings need double quotes")
	case len(before) == 0:
		return at, errors.New(notAnObject)
	}
	return at, syntax
}

// A Place is a position in a file.
type Place struct {
	File         string // its name for messages
	Line, Column int    // from 1
}

// PlaceOf returns the place of the offset, in bytes.
func PlaceOf(name string, data []byte, offset int) Place {
	before := data[:offset]
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return Place{File: name, Line: 1 + bytes.Count(before, []byte("\n")), Column: column}
}

// String returns the place as editors read it: "bot.json:3:5".
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// IsUTF16 reports whether a text that begins in ASCII is UTF-16: it begins with a byte order mark, or
// with an ASCII character in two bytes.
func IsUTF16(text []byte) bool {
	for _, start := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(text, []byte(start)) {
			return true
		}
	}
	return len(text) > 1 && (text[0] == 0) != (text[1] == 0)
}
