package cloud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"vbot/internal/cloudtest"
)

// A response that encoding/json would accept is refused if a key that vbot reads comes twice. Keys that it
// does not read may hold anything, at any depth.
func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"a","status":"OK"}`:                                        "",
		` {"NAME":"a","unknown":[{"x":[1,null,true,"y"]}],"success":true} `: "",
		`{}`:         "",
		`null`:       "",
		`{"name":5}`: "unexpected JSON",
		`[]`:         "unexpected JSON",
		`"a"`:        "unexpected JSON",

		``:                    "empty",
		` `:                   "empty",
		`<html>`:              "a web page; a proxy or a Wi-Fi sign-in may have sent it",
		`{`:                   "not JSON",
		`{} {}`:               "not JSON",
		"{\"name\":\"\xff\"}": "a name that cannot be shown",

		`{"status":"failed","status":"OK"}`:         "a key twice",
		`{"status":"failed","STATUS":"ok"}`:         "a key twice",
		`{"status":null,"status":"OK"}`:             "a key twice",
		`{"error":"x","ERROR":""}`:                  "a key twice",
		`{"Success":true,"success":false}`:          "a key twice",
		`{"\u0073tatus":"x","status":"OK"}`:         "a key twice",
		"{\"\u017ftatus\":\"x\",\"status\":\"OK\"}": "a key twice",

		`{"labels":{"App":1,"app":2,"name":"x\ny"},"x":1,"X":2}`:                    "",
		`{"labels":{"type":"` + strings.Repeat("x", 300) + `"}}`:                    "",
		`{"details":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`: "",
		// The key of a listing, and not of an entry.
		`{"sets":[{"name":"a\nb","name":"c"}]}`: "",
		strings.Repeat("[", 20_000):             "not JSON",

		strings.Repeat(" ", maxResponse) + "{}":      "longer than 2 megabytes",
		strings.Repeat(" ", maxResponse-2) + "{}":    "",
		`"` + strings.Repeat("x", maxResponse) + `"`: "longer than 2 megabytes",
	} {
		var e Entry
		if got := message(clientThatSent().decode([]byte(in), &e)); got != want {
			t.Errorf("decode(%.60q): %q, want %q", in, got, want)
		}
	}
	var e Entry
	const body = `{"Name":"a","errorMessage":"not hunter2","ERROR":"x\ny"}`
	if err := clientThatSent("hunter2").decode([]byte(body), &e); err != nil || e.Name != "a" ||
		e.Error != "x y" || strings.Contains(e.Message, "hunter2") {
		t.Errorf("%v, %+v", err, e)
	}
}

// message returns the message of an error, "" for none.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The rules hold for the elements of lists, too.
func TestDecodeList(t *testing.T) {
	const value = "a-value-of-sixteen"
	for in, want := range map[string]string{
		`{"sets":[{"name":"a"},{"name":"b","errorMessage":"no"}]}`: "",
		`{"sets":[{"name":"a"},{"name":"a\nb"}]}`:                  "a name that cannot be shown",
		`{"sets":[{"name":"a","region":"` + value + `"}]}`:         "a region that repeats a value",
		`{"sets":[{"name":"a","Name":"b"}]}`:                       "a key twice",
		`{"sets":[{"name":"a"}],"SETS":[]}`:                        "a key twice",
		`{"sets":{"name":"a"}}`:                                    "unexpected JSON",
		`{"sets":["a"]}`:                                           "unexpected JSON",
		`{"sets":[{"name":["a"]}]}`:                                "unexpected JSON",
	} {
		var l secretList
		if got := message(clientThatSent(value).decode([]byte(in), &l)); got != want {
			t.Errorf("decode(%s): %q, want %q", in, got, want)
		}
		for _, e := range l.Sets {
			if e.Name == "a\nb" || e.Region == value {
				t.Errorf("decode(%s) passes on %+v", in, e)
			}
		}
	}
	var l secretList
	clientThatSent(value).decode([]byte(`{"sets":[null,{"name":"a","errorMessage":"`+value+`"}]}`), &l)
	if len(l.Sets) != 2 || l.Sets[1].Name != "a" ||
		l.Sets[1].Message != "the API's message repeats a value, so it is not shown" {
		t.Errorf("%+v", l.Sets)
	}
	// A missing list differs from an empty one.
	var missing, empty secretList
	clientThatSent().decode([]byte(`{"sets":null}`), &missing)
	clientThatSent().decode([]byte(`{"sets":[]}`), &empty)
	if missing.Sets != nil || empty.Sets == nil {
		t.Errorf("missing: %v, empty: %v", missing.Sets, empty.Sets)
	}
}

// After a field of another type, the others are decoded: an error may come in any form.
func TestDecodeAfterAMismatch(t *testing.T) {
	var body errorBody
	err := clientThatSent("hunter2").decode([]byte(`{"error":{"message":"x"},"message":"no hunter2"}`), &body)
	if message(err) != "unexpected JSON" || body.Error != "" ||
		body.Message != "the API's message repeats a value, so it is not shown" {
		t.Errorf("%v, %+v", err, body)
	}
}

// Only false denies success.
func TestDecodeSuccess(t *testing.T) {
	for value, want := range map[string]string{
		"false": "success is false", "true": "", "null": "", "0": "", `"no"`: "", `{"x":["y"]}`: "",
	} {
		var e Entry
		err := clientThatSent().decode([]byte(`{"success":`+value+`}`), &e)
		if got := message(e.matches(Ref{})); err != nil || got != want {
			t.Errorf("%s: %v, %q", value, err, got)
		}
	}
}

// A new field of a response is one line: the field, with its key and what its text is.
func TestDecodeReadsTheFieldsOfTheStruct(t *testing.T) {
	type region struct {
		Code string `json:"code" text:"identifier"`
	}
	var got struct {
		Entry
		Owner     string   `json:"owner,omitempty" text:"identifier"`
		Note      string   `json:"note" text:"prose"`
		Labels    []string `json:"labels" text:"identifier"`
		Shared    bool     `json:"shared"`
		Region    region   `json:"home"`
		Untagged  string   `text:"identifier"`
		Computed  string   `json:"-"`
		unnoticed string
	}
	in := `{"name":"a","OWNER":"bob","note":"x\ny hunter2","labels":["p","q"],"shared":true,` +
		`"home":{"code":"us"},"untagged":"u","Computed":"c","unnoticed":"n"}`
	err := clientThatSent().decode([]byte(in), &got)
	const want = "a bob|x y hunter2|[p q]|true|us|u||"
	text := fmt.Sprintf("%s %s|%s|%v|%v|%s|%s|%s|%s", got.Name, got.Owner, got.Note, got.Labels, got.Shared,
		got.Region.Code, got.Untagged, got.Computed, got.unnoticed)
	if err != nil || text != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
	for key, want := range map[string]string{
		"owner": `"owner":"a-value-of-sixteen"`, "labels": `"labels":["p","a-value-of-sixteen"]`,
		"code": `"home":{"code":"a-value-of-sixteen"}`,
	} {
		err := clientThatSent("a-value-of-sixteen").decode([]byte("{"+want+"}"), &got)
		if message(err) != "a "+key+" that repeats a value" {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// A field that does not declare what its text is cannot be forgotten: no response can be decoded with it,
// not even one without the field.
func TestFieldsThatDeclareNothing(t *testing.T) {
	type row struct {
		Owner string `json:"owner"`
	}
	for name, into := range map[string]any{
		"Owner": &row{},
		"Owners": &struct {
			Owners []string `json:"owners"`
		}{},
		"Rows": &struct {
			Rows []row `json:"rows"`
		}{},
		"Misspelt": &struct {
			Misspelt string `text:"Prose"`
		}{},
		"Anything": &struct {
			Anything any `json:"anything" text:"prose"`
		}{},
		"Pointer": &struct {
			Pointer *string `json:"pointer" text:"prose"`
		}{},
		"Nested": &struct {
			Nested [][]string `json:"nested" text:"prose"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of %v is decoded", name, reflect.TypeOf(into))
				}
			}()
			clientThatSent().decode([]byte(`{}`), into)
		}()
	}
	for _, into := range []any{
		&organizationList{}, &regionList{}, &secretList{}, &Set{}, &Entry{}, &confirmation{}, &errorBody{},
	} {
		if err := clientThatSent().decode([]byte(`{}`), into); err != nil {
			t.Errorf("%T: %v", into, err)
		}
	}
}

// A listing of two thirds of the largest response.
func BenchmarkDecode(b *testing.B) {
	const row = `{"name":"a-name-of-a-set","type":"secret","region":"us-west","status":"ready"},`
	n := 2 * maxResponse / 3 / len(row)
	data := []byte(`{"sets":[` + strings.TrimSuffix(strings.Repeat(row, n), ",") + `]}`)
	for b.Loop() {
		var l secretList
		if err := clientThatSent().decode(data, &l); err != nil || len(l.Sets) != n {
			b.Fatal(err, len(l.Sets))
		}
	}
}

// The fake sends each key that vbot reads of a secret. Without it, a field that the API has would be tested
// only without a value.
func TestFakeSendsEveryKey(t *testing.T) {
	b := newLenientClient(t)
	kept := b.api.Put("app", "us-west", "ready", "K")
	kept.Message, kept.Source = "a message", "managed"
	req, err := http.NewRequest(http.MethodGet, b.api.URL+"/v1/secrets", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+cloudtest.Key)
	b.api.Personal = false
	w := httptest.NewRecorder()
	b.api.Respond(w, req, nil)
	var sent struct{ Sets []map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &sent); err != nil || len(sent.Sets) != 1 {
		t.Fatal(err, w.Body)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Entry]()) {
		key := field.Tag.Get("json")
		if field.Anonymous || key == "error" || key == "success" { // of failures
			continue
		}
		if sent.Sets[0][key] == nil {
			t.Errorf("cloudtest.Fake does not send %s, which vbot reads: %v", key, sent.Sets[0])
		}
	}
}
