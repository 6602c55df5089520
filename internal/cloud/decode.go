package cloud

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"vbot/internal/report"
)

// readKeys are the keys of responses that vbot reads, in lower case, and whether they hold prose.
var readKeys = map[string]bool{
	"error":         true,
	"message":       true,
	"errormessage":  true,
	"name":          false,
	"fieldname":     false,
	"region":        false,
	"status":        false,
	"type":          false,
	"source":        false,
	"success":       false,
	"sets":          false,
	"secrets":       false,
	"organizations": false,
	"regions":       false,
	"code":          false, // of a region; elsewhere it is not read
}

// decode reads a response into into, and returns why it cannot be trusted, or "". Only decode passes
// data of a response to the rest of the program: it drops unknown keys, replaces prose that repeats a secret
// value, and rejects an identifier that does. (encoding/json by itself accepts duplicate keys, and any
// letter case.)
func (c *Client) decode(data []byte, into any) (problem string) {
	if len(data) > maxResponse {
		return fmt.Sprintf("longer than %d megabytes", maxResponse>>20)
	}
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return "empty"
	case data[0] == '<':
		return "a web page; a proxy or a Wi-Fi sign-in may have sent it"
	case !json.Valid(data):
		return "not JSON"
	}
	f := &filter{client: c}
	data, _ = json.Marshal(f.value("", data, 1))
	if json.Unmarshal(data, into) != nil {
		f.problem = cmp.Or(f.problem, "unexpected JSON")
	}
	return f.problem
}

// A filter keeps the keys of valid JSON that vbot reads.
type filter struct {
	client  *Client
	problem string // why the response cannot be trusted, or ""
}

// value returns the filtered value of a key, "" for the whole response, at a depth from 1.
func (f *filter) value(key string, data json.RawMessage, depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch data[0] {
	case '{':
		return f.object(key, data, depth)
	case '[':
		var list []json.RawMessage
		json.Unmarshal(data, &list) // it is valid
		elements := []any{}
		for _, element := range list {
			elements = append(elements, f.value(key, element, depth+1))
		}
		return elements
	case '"':
		var s string
		json.Unmarshal(data, &s)
		if readKeys[key] {
			return f.client.prose(s)
		}
		f.problem = cmp.Or(f.problem, f.client.identifier(strings.TrimPrefix(key, "field"), s))
		return s
	}
	return data
}

// object returns the members that vbot reads of the object under key.
func (f *filter) object(key string, data json.RawMessage, depth int) map[string]any {
	object := map[string]any{}
	members, _, _ := report.Members(data)
	for _, m := range members {
		name := strings.ToLower(strings.ToUpper(m.Key)) // as encoding/json folds letters
		_, isRead := readKeys[name]
		if !isRead || name == "code" && key != "regions" {
			continue
		}
		if _, twice := object[name]; twice {
			f.problem = "a key twice"
		}
		object[name] = f.value(name, m.Value, depth+1)
	}
	return object
}
