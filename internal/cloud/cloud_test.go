package cloud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// test is a world that drops control characters.
var test = World{Printable: func(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}}

func TestParseAddress(t *testing.T) {
	for in, ok := range map[string]bool{
		"https://api.example.com": true, "https://api.example.com/prefix/": true, "https://[::1]:8443": true, "http://127.0.0.1:80": true, "http://localhost": true,
		"http://[::1]:80": true, "HTTP://LOCALHOST:1": true,
		"http://example.com": false, "http://127.0.0.1.example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false, "http://0.0.0.0": false,
		"api.example.com": false, "https://": false, "https://:80": false, "ftp://localhost": false, "//localhost": false, "https://u:p@example.com": false,
		"https://example.com?x": false, "https://example.com/#x": false, "https:example.com": false, "\x00": false, "http://localhost@example.com": false,
	} {
		if _, err := ParseAddress(in); (err == nil) != ok {
			t.Errorf("ParseAddress(%q): %v", in, err)
		}
	}
}

func TestClean(t *testing.T) {
	c := &Client{World: test, hide: []Secret{NewSecret("hunter2"), NewSecret("1"), NewSecret("multi\nline-secret\n"), NewSecret("sk-abcdefghij-long-and-cut")}}
	for in, want := range map[string]string{
		"no hunter2 here":               "no [hidden] here",
		"value \"1\" in us-west-1, 100": "value \"[hidden]\" in us-west-[hidden], 100",
		"v1 of 11":                      "v1 of 11",
		"got line-secret":               "got line-[hidden]",
		`got multi\nline-secret`:        "got [hidden]",
		"aHVudGVyMg==":                  "[hidden]",
		"starts with sk-abcdefghij...":  "starts with sk-[hidden]...",
		"a\nb\x1b[2J\tc":                "a b[2J c",
	} {
		if got := c.clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := c.clean(strings.Repeat("é ", 2000)); len([]rune(got)) != maxMessage+3 {
		t.Errorf("%d runes", len([]rune(got)))
	}
}

// Paths are escaped, and never shortened.
func TestPathsAreEscaped(t *testing.T) {
	c := &Client{World: test, Organization: "acme", Base: &url.URL{Scheme: "https", Host: "example.com"}, http: http.DefaultClient, TryTimeout: time.Second}
	for _, segment := range []string{"", ".", ".."} {
		if e := c.try(context.Background(), request{method: "GET", path: c.below("secrets", segment)}, nil, nil); e == nil || e.code != Failed {
			t.Errorf("a request for %q: %v", segment, e)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	c := &Client{World: test}
	for i := range 1000 {
		c.hide = append(c.hide, NewSecret(fmt.Sprintf("value-%d-%s", i, strings.Repeat("x", 4<<10))))
	}
	for b.Loop() {
		c.clean("the API does not take the value of KEY_17, and says so at some length: value-17-xxxxxxxx")
	}
}

// What the API calls keys is not what vbot takes for the keys of a set.
func TestKeysComeFromTheSecretsAlone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"keys": ["X"], "secrets": [{"fieldName": "B"}, {"fieldName": "A"}]}`)
	}))
	defer server.Close()
	base, err := ParseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	world := test
	world.Now = time.Now
	got, err := New(base, nil, world).Get(context.Background(), "set")
	if err != nil || !slices.Equal(got.Keys, []string{"A", "B"}) {
		t.Errorf("keys %q, %v", got.Keys, err)
	}
}
