package cloud

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/report"
)

func TestParseAddress(t *testing.T) {
	for in, ok := range map[string]bool{
		"https://api.example.com": true, "https://api.example.com/prefix/": true, "https://[::1]:8443": true,
		"http://127.0.0.1:80": true, "http://localhost": true,
		"http://[::1]:80": true, "HTTP://LOCALHOST:1": true,
		"http://example.com": false, "http://127.0.0.1.example.com": false, "http://10.0.0.1": false,
		"http://localhost.example.com": false, "http://0.0.0.0": false,
		"api.example.com": false, "https://": false, "https://:80": false, "ftp://localhost": false,
		"//localhost": false, "https://u:p@example.com": false,
		"https://example.com?x": false, "https://example.com/#x": false, "https:example.com": false,
		"\x00": false, "http://localhost@example.com": false,
		"http://notlocalhost": false, "http://x.localhost": false,
		"https://example.com:65535": true, "https://example.com:65536": false, "http://[::1%25lo]:1": false,
		"https://u:1/hunter2@example.com": false,
	} {
		if _, err := parseAddress(in); (err == nil) != ok {
			t.Errorf("parseAddress(%q): %v", in, err)
		}
	}
}

// A text that was pasted together with a token is named. Otherwise the API decides whether a token is valid.
func TestCheckToken(t *testing.T) {
	for token, want := range map[string]string{
		"pcc_pat_x": "", "sk_0f8fad5b-d9cb-469f-a165-70867728950e": "", "aGVsbG8=": "",
		"AQ==": "", "QUJD": "",
		"eyJh.eyJz.S_-~+/": "", "a%b": "", "A=": "", "a=b": "",
		"VBOT_TOKEN=pcc_pat_x":    "begins with a name and =",
		"TOKEN=aGVsbG8=":          "begins with a name and =",
		"${VBOT_TOKEN}":           "is a placeholder",
		"$pcc_pat_x":              "is a placeholder",
		"{{VBOT_TOKEN}}":          "is a placeholder",
		"<your-token>":            "is a placeholder",
		`{"token":"pcc_pat_x"}`:   "is a placeholder",
		"'pcc_pat_x'":             "is in quotes",
		"Bearer pcc_pat_x":        "begins with Bearer",
		"pcc_pat_x\u200b":         "must not contain",
		"\x1b[200~p\x1b[201~":     "must not contain",
		"export VBOT_TOKEN=pcc_x": "must not contain",
	} {
		if got := message(CheckToken(token)); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", token, got)
		}
	}
}

// Paths are escaped, and never shortened.
func TestPathsAreEscaped(t *testing.T) {
	c := New(&url.URL{Scheme: "https", Host: "example.com"}, nil, test)
	c.Organization, c.TryTimeout = "acme", time.Second
	for _, segment := range []string{"", ".", ".."} {
		r := request{method: "GET", path: c.organizationPath("secrets", segment)}
		f := c.send(context.Background(), r, c.Now().Add(time.Minute), nil, nil)
		if f == nil || f.Code != report.Failed {
			t.Errorf("a request for %q: %v", segment, f)
		}
	}
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.RequestURI
	}))
	defer server.Close()
	var err error
	if c.Base, err = parseAddress(server.URL); err != nil {
		t.Fatal(err)
	}
	r := request{method: "GET", path: c.organizationPath("secrets", "a/../b?c#d%2fe")}
	c.send(context.Background(), r, c.Now().Add(time.Minute), nil, nil)
	if want := "/v1/organizations/acme/secrets/a%2F..%2Fb%3Fc%23d%252fe"; asked != want {
		t.Errorf("it asked for %s, want %s", asked, want)
	}
}

// The keys of a set are the names in secrets, and not in a member called keys.
func TestKeysComeFromTheSecretsAlone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"keys": ["X"], "secrets": [{"fieldName": "B"}, {"fieldName": "A"}]}`)
	}))
	defer server.Close()
	base, err := parseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := New(base, nil, test).Get(context.Background(), "set")
	if err != nil || !slices.Equal(got.Keys, []string{"A", "B"}) {
		t.Errorf("keys %q, %v", got.Keys, err)
	}
}

// http is only for this machine, whatever the name in the URL resolves to.
func TestHTTPStaysOnThisMachine(t *testing.T) {
	for _, host := range []string{"192.0.2.1:80", "[2001:db8::1]:80"} {
		base, err := parseAddress("http://localhost")
		if err != nil {
			t.Fatal(err)
		}
		c := New(base, nil, test)
		c.CallTimeout = time.Second
		base.Host = host // as if localhost had that address
		_, err = c.organizations(context.Background(), "listing your organizations")
		if f := report.As(err); f.Code != report.Failed || f.Retryable ||
			strings.Contains(f.Message, "tried") || !strings.Contains(f.Message, "another machine") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// Remove removes what a killed login left beside the file, and nothing else.
func TestRemoveTakesWhatAKilledLoginLeft(t *testing.T) {
	dir := t.TempDir()
	f := TokenFile{Path: filepath.Join(dir, "config.json")}
	for range 2 {
		tmp, err := f.temporary()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := tmp.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		tmp.WriteString(`{"token":`)
		tmp.Close()
	}
	for _, other := range []string{"config.json.vbot-1", ".config.json", ".other.json.vbot-1"} {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stay := 3
	if runtime.GOOS != "windows" { // Wine makes no links
		if err := os.Symlink("config.json.vbot-1", filepath.Join(dir, ".config.json.vbot-link")); err != nil {
			t.Fatal(err)
		}
		stay++
	}
	for _, want := range []bool{true, false} {
		if removed, err := f.Remove(); err != nil || removed != want {
			t.Errorf("removed: %v, %v", removed, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != stay {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A login replaces the file of another one by a new file that only the user can read, and
// leaves nothing beside it, whether it succeeds or not.
func TestLoginReplacesTheFile(t *testing.T) {
	dir := t.TempDir()
	f := TokenFile{filepath.Join(dir, "config.json")}
	backup := filepath.Join(dir, "backup")
	login := StoredToken{Token: "new", APIURL: Address}
	for _, err := range []error{
		os.WriteFile(f.Path, []byte("old"), 0o644), os.Link(f.Path, backup), f.Write(login),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(backup); err != nil || string(old) != "old" {
		t.Errorf("the old file holds %q, %v", old, err)
	}
	if info, err := os.Stat(f.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if s, err := f.Read(); err != nil || s.Token != "new" {
		t.Errorf("stored %q, %v", s.Token, err)
	}
	f.Path = filepath.Join(dir, "directory")
	if err := os.Mkdir(f.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(login); err == nil {
		t.Error("it replaced a directory")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The name of an organization becomes a part of paths, and cannot lead elsewhere.
func TestNamesOfOrganizations(t *testing.T) {
	for _, name := range []string{"..", "a/b", "a%2fb", "", "a?b", "-a"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"organizations": [{"name": "acme"}, {"name": "`+name+`"}]}`)
		}))
		base, err := parseAddress(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		c := New(base, nil, test)
		if names, err := c.organizations(context.Background(), "listing"); err == nil {
			t.Errorf("organizations %q", names)
		}
		server.Close()
	}
}

// The pauses differ from run to run, within bounds.
func TestPausesAreJittered(t *testing.T) {
	for random, want := range map[float64][2]time.Duration{
		0:     {250 * time.Millisecond, 500 * time.Millisecond},
		0.999: {499 * time.Millisecond, 999 * time.Millisecond},
	} {
		b := newLenientClient(t)
		b.Random = func() float64 { return random }
		b.api.FailNext("GET", cloudtest.Drop, cloudtest.Drop)
		if _, err := b.List(context.Background(), ""); err != nil {
			t.Fatal(err)
		}
		for i, want := range want {
			if got := b.api.Clock.Pauses[i].Truncate(time.Millisecond); got != want {
				t.Errorf("with %v it waited %v before try %d, want %v", random, got, i+2, want)
			}
		}
	}
}

// A server that does not respond, a try that takes too long, and a call that takes too long are timeouts.
func TestTimeouts(t *testing.T) {
	b := newLenientClient(t)
	b.Now, b.Pause, b.WithTimeout = test.Now, test.Pause, test.WithTimeout // the real clock
	b.api.FailNext("PUT", cloudtest.Repeat(4, cloudtest.Hang)...)
	b.TryTimeout = 200 * time.Millisecond
	_, err := b.storePairs(context.Background(), app, pairs("A"))
	if !report.HasCode(err, report.Timeout) || !report.As(err).Retryable || !report.As(err).MaybeApplied ||
		!strings.Contains(err.Error(), "(tried 4 times)") {
		t.Errorf("four tries: %v", err)
	}
	b.api.FailNext("PUT", func(_ http.ResponseWriter, r *http.Request, _ []byte, serve func()) {
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
			serve()
		}
	})
	b.TryTimeout, b.CallTimeout = time.Minute, 200*time.Millisecond
	_, err = b.storePairs(context.Background(), app, pairs("A"))
	if !report.HasCode(err, report.Timeout) || strings.Contains(err.Error(), "tried") {
		t.Fatalf("one call: %v", err)
	}
	// The end of the call, and not that of the try a minute later.
	if !strings.HasSuffix(err.Error(), "did not answer within 200ms; the request may have succeeded") {
		t.Errorf("it says %v", err)
	}
}
