package cloud

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"vbot/internal/report"
)

// The values of the tag text, which each string field of a response has. They say what happens to a text
// that repeats a secret value; see redact.go.
const (
	isProse      = "prose"      // a sentence for people: it is replaced
	isIdentifier = "identifier" // a name, or one of the API's words: the response is rejected
)

// decode decodes a response into a pointer to a struct. The error says why the response cannot be trusted;
// the fields may be set nevertheless, but hold nothing that must not be shown. Only decode passes data of a
// response to the rest of the program. It reads the keys that the struct has fields for; other keys may hold
// anything. Unlike encoding/json, it rejects a key that comes twice, in any letter case.
func (c *Client) decode(data []byte, into any) error {
	if len(data) > maxResponse {
		return fmt.Errorf("longer than %d megabytes", maxResponse>>20)
	}
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return errors.New("empty")
	case data[0] == '<':
		return errors.New("a web page; a proxy or a Wi-Fi sign-in may have sent it")
	case !json.Valid(data):
		return errors.New("not JSON")
	}
	d := &decoder{client: c, fields: map[reflect.Type]fieldsByKey{}}
	target := reflect.ValueOf(into).Elem()
	d.addFields(target.Type())
	d.read(data, target, reflect.StructField{})
	if d.err == nil && d.mismatch {
		return errors.New("unexpected JSON")
	}
	return d.err
}

// fieldsByKey are the fields of a struct by their keys in JSON, in lower case.
type fieldsByKey map[string]reflect.StructField

// A decoder decodes one response.
type decoder struct {
	client   *Client
	fields   map[reflect.Type]fieldsByKey // of the response, and of each struct in it
	err      error                        // why the response cannot be trusted
	mismatch bool                         // a value is not of its field's type
}

// addFields adds the fields of the struct t and of the structs in it. It panics if a string does not
// declare what it is, and if a field is of a kind that read does not know.
func (d *decoder) addFields(t reflect.Type) {
	fields := fieldsByKey{}
	for _, field := range reflect.VisibleFields(t) { // also those of embedded structs
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || !field.IsExported() || key == "-" {
			continue
		}
		element := field.Type
		if element.Kind() == reflect.Slice {
			element = element.Elem()
		}
		switch text := field.Tag.Get("text"); element.Kind() {
		case reflect.Struct:
			d.addFields(element)
		case reflect.String:
			if text != isProse && text != isIdentifier {
				panic(fmt.Sprintf("cloud: %v.%s does not declare what its text is", t, field.Name))
			}
		case reflect.Bool: // it has no text
		default:
			panic(fmt.Sprintf("cloud: %v.%s is of a kind that decode does not read", t, field.Name))
		}
		fields[foldCase(cmp.Or(key, field.Name))] = field
	}
	d.fields[t] = fields
}

// foldCase folds letters as encoding/json does when it compares keys.
func foldCase(key string) string { return strings.ToLower(strings.ToUpper(key)) }

// read decodes valid JSON into a field, or into an element of its list.
func (d *decoder) read(data json.RawMessage, into reflect.Value, field reflect.StructField) {
	switch {
	case string(data) == "null":
	case into.Kind() == reflect.Struct && data[0] == '{':
		d.readObject(data, into)
	case into.Kind() == reflect.Slice && data[0] == '[':
		var list []json.RawMessage
		json.Unmarshal(data, &list) // it is valid
		into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
		for i, element := range list {
			d.read(element, into.Index(i), field)
		}
	case into.Kind() == reflect.String && data[0] == '"':
		var s string
		json.Unmarshal(data, &s)
		d.readText(s, into, field)
	case into.Kind() == reflect.Bool:
		d.mismatch = json.Unmarshal(data, into.Addr().Interface()) != nil || d.mismatch
	default:
		d.mismatch = true
	}
}

// readText sets a string, unless it is an identifier that must not be shown.
func (d *decoder) readText(s string, into reflect.Value, field reflect.StructField) {
	if field.Tag.Get("text") == isProse {
		into.SetString(d.client.redact(s))
		return
	}
	if err := d.client.checkIdentifier(strings.ToLower(field.Name), s); err != nil {
		if d.err == nil {
			d.err = err
		}
		return
	}
	into.SetString(s)
}

// readObject decodes the members of an object that are fields of a struct.
func (d *decoder) readObject(data json.RawMessage, into reflect.Value) {
	seen := map[string]bool{}
	members, _, _ := report.Members(data)
	for _, m := range members {
		key := foldCase(m.Key)
		field, isRead := d.fields[into.Type()][key]
		if !isRead {
			continue
		}
		if seen[key] {
			d.err = errors.New("a key twice")
		}
		seen[key] = true
		d.read(m.Value, into.FieldByIndex(field.Index), field)
	}
}
