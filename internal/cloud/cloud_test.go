package cloud

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

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

// Paths are escaped, and never shortened.
func TestPathsAreEscaped(t *testing.T) {
	c := &Client{World: test, cleaner: newCleaner(test.Printable), Organization: "acme", Base: &url.URL{Scheme: "https", Host: "example.com"}, http: http.DefaultClient, TryTimeout: time.Second}
	for _, segment := range []string{"", ".", ".."} {
		if e := c.try(context.Background(), request{method: "GET", path: c.below("secrets", segment)}, nil, nil); e == nil || e.code != Failed {
			t.Errorf("a request for %q: %v", segment, e)
		}
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

// http reaches this machine alone, by its address: a name may mean another one.
func TestHTTPStaysOnThisMachine(t *testing.T) {
	for _, host := range []string{"192.0.2.1:80", "[2001:db8::1]:80"} {
		base, err := ParseAddress("http://localhost")
		if err != nil {
			t.Fatal(err)
		}
		world := test
		world.Now = time.Now
		c := New(base, nil, world)
		base.Host = host // as if localhost had that address
		_, err = c.Organizations(context.Background())
		if e := AsError(err); e == nil || e.Code() != Failed || e.Retryable() || e.Tries != 1 || !strings.Contains(e.Message, "another machine") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
