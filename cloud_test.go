package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/fips140"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
	"vbot/internal/report"
)

// Flags may stand before the command they belong to, on every level.
func TestFlagsBeforeTheCommand(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets", "GET ~/secrets")
	for _, args := range []string{"cloud --json secrets list", "--json cloud secrets list"} {
		if r := runOn(t, s, strings.Fields(args)...); !json.Valid([]byte(r.stdout)) {
			t.Errorf("vbot %s printed %s", args, r.stdout)
		}
	}
	for _, args := range []string{
		"cloud", "cloud secrets", "cloud --json", "cloud secret list", "cloud secrets lits",
		"cloud secrets API=hunter2", "cloud --help secrets", "cloud secrets help set",
	} {
		r := here{}.vbot(t, strings.Fields(args)...)
		section(t, "errors/usage.txt", args, r.transcript("/no/such"))
	}
}

// Signing in.

func storedConfig(t testing.TB, text string) (path string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vbot")
	filetest.Put(t, dir, "config.json", text)
	for path, mode := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "config.json"): 0o600} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "config.json")
}

// loginCases are the cases of TestLoginTranscripts.
var loginCases = []struct {
	name  string
	args  []string
	stdin string
	env   []string
	setup func(s *cloudtest.Standin)
	want  []string
	code  int
	holds string // the configuration file, if it was written
}{
	{
		name:  "login",
		args:  []string{"login"},
		stdin: cloudtest.Token + "\n",
		want:  []string{"GET /v1/organizations"},
		code:  0,
		holds: `{"token":"` + cloudtest.Token + `","organization":"acme"}`,
	},
	{
		name:  "login-json",
		args:  []string{"login", "--json"},
		stdin: cloudtest.Token + "\r\n",
		want:  []string{"GET /v1/organizations"},
		code:  0,
		holds: `{"token":"` + cloudtest.Token + `","organization":"acme"}`,
	},
	{
		name:  "login-organization",
		args:  []string{"login", "-o", "beta"},
		stdin: cloudtest.Token, setup: func(s *cloudtest.Standin) { s.Orgs = []string{"acme", "beta"} },
		want: []string{"GET /v1/organizations"},
		code: 0, holds: `{"token":"` + cloudtest.Token + `","organization":"beta"}`,
	},
	{
		name:  "login-other-organization",
		args:  []string{"login", "-o", "else", "--json"},
		stdin: cloudtest.Token,
		want:  []string{"GET /v1/organizations"},
		code:  4,
	},
	{
		name:  "login-several",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		setup: func(s *cloudtest.Standin) { s.Orgs = []string{"beta", "acme"} },
		want:  []string{"GET /v1/organizations"},
		code:  2,
	},
	{
		name:  "login-several-environment",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		env:   []string{"VBOT_ORGANIZATION=beta"},
		setup: func(s *cloudtest.Standin) { s.Orgs = []string{"beta", "acme"} },
		want:  []string{"GET /v1/organizations"},
		code:  0, holds: `{"token":"` + cloudtest.Token + `","organization":"beta"}`,
	},
	{
		name:  "login-none",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		setup: func(s *cloudtest.Standin) { s.Orgs = nil },
		want:  []string{"GET /v1/organizations"},
		code:  4,
	},
	{
		name:  "login-private-key",
		args:  []string{"login", "--json"},
		stdin: cloudtest.Key,
		setup: func(s *cloudtest.Standin) { s.Personal = false },
		want:  []string{"GET /v1/secrets"},
		code:  0,
		holds: `{"token":"` + cloudtest.Key + `"}`,
	},
	{
		name:  "login-private-key-and-organization",
		args:  []string{"login", "--organization=acme"},
		stdin: cloudtest.Key, setup: func(s *cloudtest.Standin) { s.Personal = false },
		want: []string{"GET ~/secrets"},
		code: 0, holds: `{"token":"` + cloudtest.Key + `","organization":"acme"}`,
	},
	{
		name:  "login-refused",
		args:  []string{"login"},
		stdin: "pcc_pat_wrong",
		want:  []string{"GET /v1/organizations"},
		code:  5,
	},
	{
		name:  "login-refused-json",
		args:  []string{"login", "--json"},
		stdin: "wrong",
		want:  []string{"GET /v1/secrets"},
		code:  5,
	},
	{name: "login-empty", args: []string{"login"}, code: 2},
	{name: "login-two-lines", args: []string{"login"}, stdin: cloudtest.Token + "\nmore\n", code: 2},
	{name: "login-control-character", args: []string{"login"}, stdin: "pcc_pat_a\x1bb\n", code: 2},
	{
		name: "login-arguments",
		args: []string{"login", "pcc_pat_hunter2", "-o", "../x", "--json"},
		code: 2,
	},
	{
		name:  "login-with-variable",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		env:   []string{"VBOT_TOKEN=other"},
		want:  []string{"GET /v1/organizations"},
		code:  0,
		holds: `{"token":"` + cloudtest.Token + `","organization":"acme"}`,
	},
	{
		name:  "login-down",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		setup: func(s *cloudtest.Standin) { s.Misbehave("GET", cloudtest.Times(4, cloudtest.Drop)...) },
		want:  slices.Repeat([]string{"GET /v1/organizations"}, 4),
		code:  6,
	},
}

func TestLoginTranscripts(t *testing.T) {
	parallel(t)
	for _, c := range loginCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
			if c.setup != nil {
				c.setup(s)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "sub", "config.json")
			r := here{
				env:   append([]string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + path}, c.env...),
				stdin: strings.NewReader(c.stdin),
			}.vbot(t, append([]string{"cloud"}, c.args...)...)
			r.wantCode(t, c.code)
			section(t, "cloud/login.txt", c.name, []byte(withoutDir(string(transcriptOn(s, r)), dir)))
			if strings.Contains(r.stdout+r.stderr, "hunter2") ||
				strings.Contains(r.stdout+r.stderr, cloudtest.Token) ||
				strings.Contains(r.stdout+r.stderr, cloudtest.Key) {
				t.Error("a token was printed")
			}
			tree := filetest.Tree(t, dir)
			if c.holds == "" {
				if len(tree) > 0 {
					t.Errorf("it wrote %v", tree)
				}
				return
			}
			var compact bytes.Buffer
			holds := strings.TrimSuffix(c.holds, "}") + `,"api_url":"` + s.URL + `"}`
			if err := json.Compact(&compact,
				[]byte(tree["sub/config.json"])); err != nil || compact.String() != holds || len(tree) != 1 {
				t.Errorf("it wrote %v", tree)
			}
			for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
				if runtime.GOOS == "windows" {
					break // it has no such modes
				}
				if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: %v, %v", name, info.Mode(), err)
				}
			}
		})
	}
}

// A whoamiCase is a case of TestWhoamiAndLogoutTranscripts.
type whoamiCase struct {
	name string
	args []string
	file string
	env  []string
	set  func(s *cloudtest.Standin)
	want []string
	code int
}

func whoamiCases() []whoamiCase {
	const both = `{"token":"` + cloudtest.Token + `","organization":"acme"}`
	return []whoamiCase{
		{
			name: "whoami",
			args: []string{"whoami"},
			file: both,
			want: []string{"GET /v1/organizations"},
			code: 0,
		},
		{
			name: "whoami-json",
			args: []string{"whoami", "--json"},
			file: both,
			want: []string{"GET /v1/organizations"},
			code: 0,
		},
		{
			name: "whoami-environment",
			args: []string{"whoami", "--json"},
			env:  []string{"VBOT_TOKEN=" + cloudtest.Token + "\n"},
			want: []string{"GET /v1/organizations"},
			code: 0,
		},
		{
			name: "whoami-private-key",
			args: []string{"whoami"},
			env:  []string{"VBOT_TOKEN=" + cloudtest.Key},
			set:  func(s *cloudtest.Standin) { s.Personal = false },
			want: []string{"GET /v1/secrets"},
			code: 0,
		},
		{
			name: "whoami-private-key-json",
			args: []string{"whoami", "--json"},
			env:  []string{"VBOT_TOKEN=" + cloudtest.Key},
			set:  func(s *cloudtest.Standin) { s.Personal = false },
			want: []string{"GET /v1/secrets"},
			code: 0,
		},
		{
			name: "whoami-expired",
			args: []string{"whoami"},
			file: `{"token":"pcc_pat_old","organization":"acme"}`,
			want: []string{"GET /v1/organizations"},
			code: 5,
		},
		{
			name: "whoami-wrong-variable",
			args: []string{"whoami"},
			file: both,
			env:  []string{"VBOT_TOKEN=pcc_pat_old"},
			want: []string{"GET /v1/organizations"},
			code: 5,
		},
		{name: "whoami-not-signed-in", args: []string{"whoami"}, code: 5},
		{
			name: "whoami-not-signed-in-json",
			args: []string{"whoami", "--json"},
			file: `{}`,
			env:  []string{"VBOT_TOKEN="},
			code: 5,
		},
		{
			name: "whoami-several",
			args: []string{"whoami"},
			file: `{"token":"` + cloudtest.Token + `"}`,
			set:  func(s *cloudtest.Standin) { s.Orgs = []string{"acme", "beta"} },
			want: []string{"GET /v1/organizations"},
			code: 2,
		},
		{name: "whoami-malformed", args: []string{"whoami", "--json"}, file: `{"token":`, code: 2},
		{
			name: "whoami-malformed-and-more",
			args: []string{"whoami"},
			file: `{"token":5}`,
			env: []string{
				"VBOT_API_URL=http://example.com", "VBOT_CA_FILE=none.pem", "VBOT_ORGANIZATION=a/b",
			},
			code: 2,
		},
		{name: "whoami-bad-token", args: []string{"whoami"}, env: []string{"VBOT_TOKEN=a b"}, code: 2},
		{
			name: "whoami-quoted-token",
			args: []string{"whoami"},
			env:  []string{"VBOT_TOKEN='" + cloudtest.Token + "'", "VBOT_ORGANIZATION=\"acme\""},
			code: 2,
		},
		{
			name: "whoami-bearer-token",
			args: []string{"whoami"},
			env:  []string{"VBOT_TOKEN=Bearer " + cloudtest.Token},
			code: 2,
		},
		{
			name: "whoami-malformed-beside-variable",
			args: []string{"whoami"},
			file: `nonsense`,
			env:  []string{"VBOT_TOKEN=" + cloudtest.Token},
			want: []string{"GET /v1/organizations"},
			code: 0,
		},
		{
			name: "list-wrong-organization",
			args: []string{"secrets", "list"},
			env:  []string{"VBOT_TOKEN=" + cloudtest.Token, "VBOT_ORGANIZATION=acmee"},
			want: []string{"GET /v1/organizations/acmee/secrets"},
			code: 5,
		},
		{
			name: "whoami-malformed-not-needed",
			args: []string{"whoami"},
			file: `nonsense`,
			env:  []string{"VBOT_TOKEN=" + cloudtest.Token, "VBOT_ORGANIZATION=acme"},
			want: []string{"GET /v1/organizations"},
			code: 0,
		},
		{name: "logout", args: []string{"logout"}, file: both, code: 0},
		{name: "logout-json", args: []string{"logout", "--json"}, file: both, code: 0},
		{name: "logout-again", args: []string{"logout", "--json"}, code: 0},
		{
			name: "logout-malformed",
			args: []string{"logout"},
			file: "nonsense",
			env:  []string{"VBOT_TOKEN=x"},
			code: 1,
		},
	}
}

func TestWhoamiAndLogoutTranscripts(t *testing.T) {
	parallel(t)

	for _, c := range whoamiCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
			if c.set != nil {
				c.set(s)
			}
			path := filepath.Join(t.TempDir(), "none.json")
			if c.file != "" {
				path = storedConfig(t, strings.Replace(c.file, `"}`, `","api_url":"`+s.URL+`"}`, 1))
			}
			r := here{
				dir: "/nowhere",
				env: append([]string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + path}, c.env...),
			}.vbot(t, append([]string{"cloud"}, c.args...)...)
			r.wantCode(t, c.code)
			command, _, _ := strings.Cut(c.name, "-")
			got := withoutDir(string(transcriptOn(s, r)), filepath.Dir(path))
			section(t, "cloud/"+command+".txt", c.name, []byte(got))
			if _, err := os.Stat(path); c.args[0] == "logout" && c.code == 0 && err == nil {
				t.Error("the file is still there")
			}
		})
	}
}

// The default place is the user's config directory; modes that let others in are
// repaired, of the file and of the directory that is vbot's own.
func TestSettingsAreClosedToOthers(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" {
		skip(t, "it has no such modes")
	}
	s := cloudtest.New(t, "vbot/"+version).Want("GET /v1/organizations", "GET ~/secrets",
		"GET /v1/organizations", "GET ~/secrets")
	home := t.TempDir()
	env := []string{"VBOT_API_URL=" + s.URL, "XDG_CONFIG_HOME=" + filepath.Join(home, "cfg"), "HOME=" + home}
	with{env: env, stdin: cloudtest.Token}.vbot(t, home, "cloud", "login").wantCode(t, 0)
	var dir string
	filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if d.Name() == "config.json" {
			dir = filepath.Dir(path)
		}
		return err
	})
	if filepath.Base(dir) != "vbot" {
		t.Fatalf("config.json is in %q", dir)
	}
	file := filepath.Join(dir, "config.json")
	for path, want := range map[string]fs.FileMode{file: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	with{env: env}.vbot(t, home, "cloud", "secrets", "list", "--json").wantCode(t, 0)
	for _, mode := range []fs.FileMode{0o644, 0o660, 0o602} {
		os.Chmod(file, mode)
		r := with{env: env}.vbot(t, home, "cloud", "secrets", "list", "--json")
		r.wantCode(t, 2)
		if !strings.Contains(r.stderr,
			fmt.Sprintf("other users have access to the token in it (mode %04o); run chmod 600 on it",
				mode)) {
			t.Errorf("it said %q", r.stderr)
		}
	}
	// A new login makes a new file.
	with{env: env, stdin: cloudtest.Token}.vbot(t, home, "cloud", "login").wantCode(t, 0)
	with{env: env}.vbot(t, home, "cloud", "secrets", "list", "--json").wantCode(t, 0)
}

// A token that another user planted is not used: what is stored with it would go to them. A
// new login makes a file of one's own.
func TestLoginFileOfAnotherUser(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		skip(t, "only root can give a file away")
	}
	s := cloudtest.New(t, "vbot/"+version).Want("GET /v1/organizations", "GET ~/secrets")
	path := storedConfig(t, `{"token":"`+cloudtest.Token+`","organization":"acme","api_url":"`+s.URL+`"}`)
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + path}
	r := here{env: env}.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--skip")
	r.wantCode(t, 2)
	if !strings.Contains(r.stderr,
		path+": belongs to another user; set VBOT_CONFIG to a file of your own\n") {
		t.Errorf("it said %s", r.stderr)
	}
	here{env: env, stdin: strings.NewReader(cloudtest.Token)}.vbot(t, "cloud", "login").wantCode(t, 0)
	here{env: env}.vbot(t, "cloud", "secrets", "list").wantCode(t, 0)
}

// A login that cannot store the token leaves the old one, and nothing beside it.
func TestLoginThatCannotBeStored(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET /v1/organizations")
	dir := t.TempDir()
	filetest.Put(t, dir, "file", "in the way")
	r := here{
		env:   []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + filepath.Join(dir, "file", "config.json")},
		stdin: strings.NewReader(cloudtest.Token),
	}.vbot(t, "cloud", "login")
	r.wantCode(t, 1)
	if !strings.Contains(r.stderr, "storing the token in") || len(filetest.Tree(t, dir)) != 1 {
		t.Errorf("it said %q", r.stderr)
	}
}

// Without an absolute directory for the settings, the token is not stored anywhere else.
func TestRelativeHome(t *testing.T) {
	parallel(t)
	s, dir := cloudtest.New(t, "vbot/"+version), t.TempDir()
	env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=", "HOME=home", "XDG_CONFIG_HOME=", "AppData=home"}
	for _, args := range []string{"login", "logout", "whoami"} {
		r := with{env: env, stdin: cloudtest.Token}.vbot(t, dir, "cloud", args)
		if r.code == 0 || !strings.Contains(r.stderr, "cannot find your configuration directory: ") ||
			!strings.Contains(r.stderr, " is a relative path; set VBOT_CONFIG to a file") {
			t.Errorf("vbot cloud %s: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	if tree := filetest.Tree(t, dir); len(tree) > 0 {
		t.Errorf("it wrote %v", tree)
	}
}

// organizationCases are the cases of TestOrganization.
var organizationCases = []struct {
	name, flag, env, file string
	token                 string
	orgs                  []string
	want                  []string
	code                  int
}{
	{
		name:  "flag first",
		flag:  "acme",
		env:   "beta",
		file:  "gamma",
		token: cloudtest.Token,
		want:  []string{"GET ~/secrets"},
		code:  0,
	},
	{
		name:  "then the variable",
		env:   "acme",
		file:  "gamma",
		token: cloudtest.Token,
		want:  []string{"GET ~/secrets"},
		code:  0,
	},
	{
		name:  "then the file",
		file:  "acme",
		token: cloudtest.Token,
		want:  []string{"GET ~/secrets"},
		code:  0,
	},
	{
		name:  "else the only one",
		token: cloudtest.Token,
		want:  []string{"GET /v1/organizations", "GET ~/secrets"},
		code:  0,
	},
	{
		name:  "never one of several",
		token: cloudtest.Token,
		orgs:  []string{"acme", "beta"},
		want:  []string{"GET /v1/organizations"},
		code:  2,
	},
	{name: "a key needs none", token: cloudtest.Key, want: []string{"GET /v1/secrets"}, code: 0},
	{
		name:  "a key with one",
		flag:  "acme",
		token: cloudtest.Key,
		want:  []string{"GET ~/secrets"},
		code:  0,
	},
	{
		name:  "one that is not yours",
		flag:  "beta",
		token: cloudtest.Token,
		want:  []string{"GET /v1/organizations/beta/secrets"},
		code:  5,
	},
}

// Which organization and which paths.
func TestOrganization(t *testing.T) {
	parallel(t)
	for _, c := range organizationCases {
		t.Run(c.name, func(t *testing.T) {
			s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
			if c.orgs != nil {
				s.Orgs = c.orgs
			}
			s.Personal = c.token == cloudtest.Token
			file, _ := json.Marshal(cloud.Login{Token: c.token, Organization: c.file, APIURL: s.URL})
			args := []string{"cloud", "secrets", "list"}
			if c.flag != "" {
				args = append(args, "-o", c.flag)
			}
			r := here{
				env: []string{
					"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + storedConfig(t, string(file)),
					"VBOT_ORGANIZATION=" + c.env,
				},
			}.vbot(t, args...)
			r.wantCode(t, c.code)
		})
	}
}

// The address.

func TestAddressWithAPath(t *testing.T) {
	parallel(t)
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath()
		cloudtest.Say(w, 200, map[string]any{"sets": []string{}})
	}))
	defer server.Close()
	here{
		env: []string{
			"VBOT_API_URL=" + server.URL + "/pre%2Ffix/", "VBOT_TOKEN=" + cloudtest.Key, "VBOT_CONFIG=none",
		},
	}.vbot(t, "cloud", "secrets", "list").wantCode(t, 0)
	if got != "/pre%2Ffix/v1/secrets" {
		t.Errorf("it asked for %s", got)
	}
}

// Faults.

// An apiFault is what an API can do wrong. Its name begins with its status, if that is not
// 200.
type apiFault struct {
	name  string
	how   cloudtest.Fault
	code  string // of a read and of a write
	tries int
}

// status is the one of HTTP, or 0 without an answer.
func (f apiFault) status() int {
	if status, err := strconv.Atoi(strings.Trim(strings.Fields(f.name)[0], ",")); err == nil {
		return status
	}
	switch f.name {
	case "dropped", "half an answer":
		return 0
	case "no content":
		return 204
	}
	return 200
}

// apiFaults are what an API, or what stands before it, does wrong.
var apiFaults = []apiFault{
	{"dropped", cloudtest.Drop, report.Unavailable, 4},
	{"half an answer", cloudtest.Half, report.Unavailable, 4},
	{"html", cloudtest.With200("<html>welcome</html>"), report.Failed, 1},
	{"empty", cloudtest.With200(""), report.Failed, 1},
	{"broken JSON", cloudtest.With200(`{"sets":[`), report.Failed, 1},
	{"other JSON", cloudtest.With200(`{"hello":"world"}`), report.Failed, 1},
	{
		"wrong types", cloudtest.With200(`{"sets":"x","secrets":5,"status":[],"organizations":{}}`),
		report.Failed, 1,
	},
	{"null", cloudtest.With200(`null`), report.Failed, 1},
	{"array", cloudtest.With200(`[]`), report.Failed, 1},
	{"trailing data", cloudtest.With200(`{"sets":[],"secrets":[],"status":"OK"} x`), report.Failed, 1},
	{"no content", noContent, report.Failed, 1},
	{"101", cloudtest.Informed(101), report.Failed, 1},
	{"102", cloudtest.Informed(102), report.Failed, 1},
	{"103, without end", cloudtest.Informed(slices.Repeat([]int{103}, 100)...), report.Failed, 1},
	{
		"an error",
		cloudtest.With200(`{"sets":[],"secrets":[],"status":"OK","error":"nothing was stored"}`),
		report.Failed, 1,
	},
	{"another name", cloudtest.With200(`{"sets":[{"region":"us-west"}],"secrets":[],"status":"OK",` +
		`"name":"other"}`), report.Failed, 1},
	{"another type", cloudtest.With200(`{"secrets":[],"type":"else"}`), report.Failed, 1},
	{"301", cloudtest.Status(301, "X", "x", "Location", "/"), report.Failed, 1},
	{"302", cloudtest.Status(302, "X", "x", "Location", "/"), report.Failed, 1},
	{"307", cloudtest.Status(307, "X", "x", "Location", "/"), report.Failed, 1},
	{"308", cloudtest.Status(308, "X", "x", "Location", "/"), report.Failed, 1},
	{"400", cloudtest.Status(400, "GENERIC_BAD_REQUEST", "no"), report.Rejected, 1},
	{"422", cloudtest.Status(422, "X", "no"), report.Rejected, 1},
	{"400 {}", emptyObject, report.Rejected, 1},
	{"401", cloudtest.Status(401, "UNAUTHORIZED", "Unauthorized"), report.Unauthorized, 1},
	{"403", cloudtest.Status(403, "FORBIDDEN", "no"), report.Forbidden, 1},
	{"404 html", pageNotFound, report.Failed, 1},
	{"408", cloudtest.Status(408, "X", "too slow"), report.Unavailable, 1},
	{"425", cloudtest.Status(425, "X", "too early"), report.Unavailable, 1},
	{"409", cloudtest.Status(409, "CONFLICT", "modified concurrently, please retry"), report.Rejected, 4},
	{
		"409 referenced", cloudtest.Status(409, "CONFLICT", "Referenced secrets use the name"),
		report.Rejected, 1,
	},
	{"413", cloudtest.Status(413, "X", "too large"), report.Rejected, 1},
	{"429", cloudtest.Status(429, "X", "slow down"), report.Unavailable, 4},
	{"500", cloudtest.Status(500, "INTERNAL_SERVER_ERROR", "oops"), report.Unavailable, 1},
	{"502", cloudtest.Status(502, "X", "oops"), report.Unavailable, 4},
	{"503", cloudtest.Status(503, "X", "oops"), report.Unavailable, 4},
	{"504", cloudtest.Status(504, "X", "oops"), report.Unavailable, 4},
}

func noContent(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) { w.WriteHeader(204) }

func emptyObject(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	cloudtest.Say(w, 400, struct{}{})
}

func pageNotFound(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	http.Error(w, "<html>", 404)
}

// A faultyCommand is a command of which one request goes wrong.
type faultyCommand struct {
	name   string
	method string
	args   []string
	before []string
	on     string // the request that goes wrong
}

var faultyCommands = []faultyCommand{
	{name: "list", method: "GET", args: []string{"list"}, on: "GET ~/secrets"},
	{name: "list NAME", method: "GET", args: []string{"list", "app"}, on: "GET ~/secrets/app"},
	{
		name:   "set, reading",
		method: "GET",
		args:   []string{"set", "app", "A=v4lue", "--skip"},
		on:     "GET ~/secrets/app",
	},
	{
		name:   "set, writing",
		method: "PUT",
		args:   []string{"set", "app", "A=v4lue", "--skip"},
		before: []string{"GET ~/secrets/app"},
		on:     "PUT ~/secrets/app",
	},
	{
		name:   "unset, reading",
		method: "GET",
		args:   []string{"unset", "app", "K", "--skip"},
		on:     "GET ~/secrets/app",
	},
	{
		name:   "unset",
		method: "DELETE",
		args:   []string{"unset", "app", "K", "--skip"},
		before: []string{"GET ~/secrets/app"},
		on:     "DELETE ~/secrets/app/K",
	},
	{
		name:   "delete",
		method: "DELETE",
		args:   []string{"delete", "app", "--skip"},
		before: []string{"GET ~/secrets/app"},
		on:     "DELETE ~/secrets/app",
	},
	{
		name:   "image-pull-secret, reading",
		method: "GET",
		args:   []string{"image-pull-secret", "reg", "ghcr.io", "bob:v4lue"},
		on:     "GET ~/secrets",
	},
	{
		name:   "image-pull-secret",
		method: "PUT",
		args:   []string{"image-pull-secret", "reg", "ghcr.io", "bob:v4lue"},
		before: []string{"GET ~/secrets"},
		on:     "PUT ~/secrets/reg",
	},
	{
		name:   "reference",
		method: "POST",
		args:   []string{"reference", "team", "--region=pce-acme"},
		on:     "POST ~/secrets/references",
	},
}

// Each fault in each request of each command: the exit code and the word of the
// contract, nothing on stdout, and nothing said to be done that is not.
func TestFaults(t *testing.T) {
	parallel(t)
	for _, c := range faultyCommands {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range apiFaults {
				c.check(t, f, false)
				c.check(t, f, true)
			}
		})
	}
}

// check runs the command, of which a request meets the fault.
func (c faultyCommand) check(t *testing.T, f apiFault, asJSON bool) {
	t.Helper()
	s := cloudtest.Bare(t, "vbot/"+version)
	s.Keep("app", "us-west", "ready", "K")
	s.Misbehave(c.method, cloudtest.Times(20, f.how)...)
	args := append([]string{"cloud", "secrets"}, c.args...)
	if asJSON {
		args = append(args, "--json")
	}
	r := runOn(t, s, args...)
	s.Close()
	what := c.name + ", " + f.name
	if f.name == "no content" && c.method == "DELETE" {
		r.wantCode(t, 0) // that is how the API may confirm a deletion
		return
	}
	r.wantCode(t, (&report.Failure{Code: f.code}).ExitCode())
	if want := c.requests(f); !slices.Equal(s.Log, want) {
		t.Errorf("%s: it sent %q, want %q", what, s.Log, want)
	}
	if len(s.Clock.Pauses) != f.tries-1 {
		t.Errorf("%s: it waited %v", what, s.Clock.Pauses)
	}
	if v := s.Values("app"); len(v) != 1 || s.Values("reg") != nil {
		t.Errorf("%s: the API holds %v", what, v)
	}
	c.checkMessage(t, f, what, r)
	if asJSON {
		checkFaultJSON(t, f, what, r)
	} else if r.stdout != "" {
		t.Errorf("%s: stdout is %q", what, r.stdout)
	}
}

// requests are those that the command sends when one meets the fault.
func (c faultyCommand) requests(f apiFault) []string {
	requests := append(slices.Clone(c.before), slices.Repeat([]string{c.on}, f.tries)...)
	isBad := f.status() == 400 || f.status() == 422
	switch {
	case isBad && strings.HasPrefix(c.name, "set, writing"):
		return append(requests, c.on) // one pair a request
	case isBad && strings.HasSuffix(c.on, "GET ~/secrets/app"):
		return append(requests, "GET ~/secrets") // is it an image pull secret?
	}
	return requests
}

// checkMessage checks what people read of the fault.
func (c faultyCommand) checkMessage(t *testing.T, f apiFault, what string, r result) {
	t.Helper()
	if f.tries > 1 && !strings.Contains(r.stderr, "(tried 4 times)") {
		t.Errorf("%s: it does not say how often it tried: %s", what, r.stderr)
	}
	isUnsure := f.status() < 300 || slices.Contains([]int{500, 502, 504}, f.status())
	saysUnsure := strings.Contains(r.stderr, "; the request may have succeeded")
	if saysUnsure != (isUnsure && c.method != "GET") {
		t.Errorf("%s: it says %s", what, r.stderr)
	}
	if strings.Contains(r.stderr, "v4lue") {
		t.Errorf("%s: the value came out: %s", what, r.stderr)
	}
	saysHow := strings.Contains(r.stderr, "vbot cloud login") && strings.Contains(r.stderr, "VBOT_TOKEN")
	if f.code == report.Unauthorized && !saysHow {
		t.Errorf("%s: it does not say how to sign in: %s", what, r.stderr)
	}
}

// checkFaultJSON checks what scripts read of the fault.
func checkFaultJSON(t *testing.T, f apiFault, what string, r result) {
	t.Helper()
	var printed struct {
		Error struct {
			Code, Message string
			Retryable     *bool
			Status        int `json:"http_status"`
		}
	}
	err := json.Unmarshal([]byte(r.stdout), &printed)
	e := printed.Error
	if err != nil || e.Code != f.code {
		t.Errorf("%s: code %q, want %q; %s", what, e.Code, f.code, e.Message)
	}
	later := f.tries > 1 || slices.Contains([]int{408, 425, 500}, f.status())
	if e.Status != f.status() || e.Retryable == nil || *e.Retryable != later {
		t.Errorf("%s: the JSON says %s; want the status %d and retryable %v", what, r.stdout, f.status(),
			later)
	}
}

// A retryCase is a case of TestRetries.
type retryCase struct {
	name   string
	faults []cloudtest.Fault
	pauses []time.Duration
	code   int
}

func retryCases() []retryCase {
	const atAPI = "Sun, 09 Sep 2001 02:46:40 GMT"
	later := time.Unix(1e9+3600+20, 0).UTC().Format(http.TimeFormat)
	return []retryCase{
		{"once dropped", []cloudtest.Fault{cloudtest.Drop}, []time.Duration{375 * time.Millisecond}, 0},
		{
			"three times",
			[]cloudtest.Fault{cloudtest.Drop, cloudtest.Half, cloudtest.Status(503, "X", "x")},
			[]time.Duration{375 * time.Millisecond, 750 * time.Millisecond, 1500 * time.Millisecond},
			0,
		},
		{
			"Retry-After",
			[]cloudtest.Fault{cloudtest.Status(429, "X", "x", "Retry-After", "7")},
			[]time.Duration{7375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, a date",
			[]cloudtest.Fault{cloudtest.Status(503, "X", "x", "Retry-After", later, "Date", atAPI)},
			[]time.Duration{20375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, a date: of an API without a clock",
			[]cloudtest.Fault{func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
				w.Header()["Date"] = nil
				cloudtest.Status(503, "X", "x", "Retry-After",
					time.Unix(1e9+20, 0).UTC().Format(http.TimeFormat))(w, r, body, serve)
			}},
			[]time.Duration{20375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, a date: of an API whose clock is behind",
			[]cloudtest.Fault{cloudtest.Status(503, "X", "x", "Retry-After",
				time.Unix(1e9-3600+20, 0).UTC().Format(http.TimeFormat), "Date",
				time.Unix(1e9-3600, 0).UTC().Format(http.TimeFormat))},
			[]time.Duration{20375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, useless: the past",
			[]cloudtest.Fault{cloudtest.Status(503, "X", "x", "Retry-After",
				"Thu, 01 Jan 1970 00:00:00 GMT")},
			[]time.Duration{375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, useless: nonsense",
			[]cloudtest.Fault{cloudtest.Status(503, "X", "x", "Retry-After", "soon")},
			[]time.Duration{375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, useless: negative",
			[]cloudtest.Fault{cloudtest.Status(503, "X", "x", "Retry-After", "-5")},
			[]time.Duration{375 * time.Millisecond},
			0,
		},
		{
			"Retry-After, too long",
			[]cloudtest.Fault{cloudtest.Status(429, "X", "x", "Retry-After", "3600")},
			nil, 6,
		},
		{
			"Retry-After, endless: no number of seconds",
			[]cloudtest.Fault{cloudtest.Status(429, "X", "x", "Retry-After", "9223372036854775807")},
			nil, 6,
		},
		{
			"Retry-After, endless: no number at all",
			[]cloudtest.Fault{cloudtest.Status(429, "X", "x", "Retry-After", "99999999999999999999")},
			nil, 6,
		},
		{
			"Retry-After, endless: no time at all",
			[]cloudtest.Fault{cloudtest.Status(429, "X", "x", "Retry-After",
				"Fri, 31 Dec 9999 23:59:59 GMT")},
			nil, 6,
		},
		{
			"Retry-After, twice too long",
			[]cloudtest.Fault{
				cloudtest.Status(429, "X", "x", "Retry-After", "100"),
				cloudtest.Status(429, "X", "x", "Retry-After", "100"),
			},
			[]time.Duration{100375 * time.Millisecond},
			6,
		},
		{
			"conflict",
			[]cloudtest.Fault{cloudtest.Status(409, "CONFLICT", "modified concurrently")},
			[]time.Duration{375 * time.Millisecond},
			0,
		},
	}
}

// What comes right after a while is right, and asked for no more often than needed.
func TestRetries(t *testing.T) {
	parallel(t)
	// an hour after vbot's clock

	for _, c := range retryCases() {
		t.Run(c.name, func(t *testing.T) {
			s := cloudtest.New(t, "vbot/"+version).
				Want(slices.Repeat([]string{"GET ~/secrets"}, len(c.pauses)+1)...).Misbehave("GET",
				c.faults...)
			r := runOn(t, s, "cloud", "secrets", "list")
			r.wantCode(t, c.code)
			if !slices.Equal(s.Clock.Pauses, c.pauses) {
				t.Errorf("it waited %v, want %v", s.Clock.Pauses, c.pauses)
			}
			result, _, _ := strings.Cut(c.name, ": ")
			section(t, "cloud/connection.txt", "retry: "+result, transcriptOn(s, r))
		})
	}
}

// Time runs out in a pause that the API did not ask for.
func TestNoTimeForAnotherTry(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want(slices.Repeat([]string{"GET ~/secrets"}, 3)...).
		Misbehave("GET", cloudtest.Status(503, "X", "x", "Retry-After", "118"), cloudtest.Drop,
			cloudtest.Drop)
	r := runOn(t, s, "cloud", "secrets", "list")
	if r.wantCode(t, 6); strings.Contains(r.stderr, "asks to wait") ||
		!strings.HasSuffix(r.stderr, "was lost (tried 3 times)\nhint: run the same command again later\n") {
		t.Errorf("it said %s", r.stderr)
	}
}

// What the API answers beside what vbot reads is none of its business.
func TestHealthyAnswers(t *testing.T) {
	parallel(t)
	for get, code := range map[string]int{
		`{"sets":[{"name":"app","type":"secret","status":"ready","labels":{"App":"x","app":"y"},` +
			`"owner":{"name":"Line1\nLine2","type":"` + strings.Repeat("x", 300) + `"}}],"next":null}`: 0,
		`{"sets":[{"name":"app"}],"metadata":` + strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50) +
			`}`: 0,
		`{"sets":[{"name":"app","status":"in progress","type":"Zertifikat","region":"pce-über",` +
			`"errorMessage":""}],"error":null,"success":1,"code":"a\nb"}`: 0,
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets").Misbehave("GET", cloudtest.With200(get))
		if r := runOn(t, s, "cloud", "secrets", "list"); r.code != code ||
			!strings.Contains(r.stdout, "\napp  ") {
			t.Errorf("%.100s: %s%s", get, r.stdout, r.stderr)
		}
	}
	for _, notFound := range []string{
		`{"error":"Set not found","details":{"Path":"/x","path":"/x"}}`,
		`{"error":"Set not found","code":"NOT_FOUND\n","source":"a-value-of-sixteen"}`,
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app").Misbehave("GET",
			func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
				w.WriteHeader(404)
				io.WriteString(w, notFound)
			})
		runOn(t, s, "cloud", "secrets", "set", "app", "A=a-value-of-sixteen", "--skip").wantCode(t, 0)
	}
	// What is decided does not depend on what is shown.
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app").Misbehave("PUT",
		cloudtest.Status(409, "CONFLICT", "app is a referenced Kubernetes Secret"))
	r := runOn(t, s, "cloud", "secrets", "set", "app", "KIND=secret", "--skip", "--json")
	if r.wantCode(t, 1); !strings.Contains(r.stdout, `"retryable": false`) ||
		!strings.Contains(r.stderr, "repeats a value") {
		t.Errorf("it said %s%s", r.stdout, r.stderr)
	}
}

// A deletion whose answer was lost is done when what was there is seen to be gone: "not
// found" may be said of something else.
func TestDeletionWithALostAnswer(t *testing.T) {
	parallel(t)
	const get, list = "GET ~/secrets/app", "GET ~/secrets"
	notFound := cloudtest.Status(404, "NOT_FOUND", "Secret not found")
	elsewhere := []cloudtest.Fault{
		cloudtest.Status(502, "X", "x"), cloudtest.Status(404, "NOT_FOUND", "Organization not found"),
	}
	for _, c := range []struct {
		args    string
		deletes []cloudtest.Fault
		look    cloudtest.Fault
		want    []string // requests after the deletions
		code    int
	}{
		{args: "delete app", deletes: []cloudtest.Fault{cloudtest.LoseAnswer}, want: []string{list}, code: 0},
		{args: "unset app K", deletes: []cloudtest.Fault{cloudtest.LoseAnswer}, want: []string{get}, code: 0},
		{args: "delete app", deletes: []cloudtest.Fault{notFound}, code: 4},
		{args: "unset app K", deletes: []cloudtest.Fault{notFound}, code: 4},
		{args: "delete app", deletes: elsewhere, want: []string{list}, code: 4},
		{args: "unset app K", deletes: elsewhere, want: []string{get}, code: 4},
		{
			args:    "delete app",
			deletes: []cloudtest.Fault{cloudtest.LoseAnswer},
			look:    notFound,
			want:    []string{list},
			code:    4,
		},
		{
			args:    "unset app K",
			deletes: []cloudtest.Fault{cloudtest.LoseAnswer},
			look:    notFound,
			want:    []string{get, list},
			code:    4,
		},
	} {
		deletion := "DELETE ~/secrets/app"
		if strings.HasPrefix(c.args, "unset") {
			deletion += "/K"
		}
		tries := max(len(c.deletes), 2)
		if c.want == nil {
			tries = 1
		}
		s := cloudtest.New(t, "vbot/"+version).
			Want(append(append([]string{get}, slices.Repeat([]string{deletion}, tries)...), c.want...)...).
			Misbehave("DELETE", c.deletes...)
		if c.look != nil {
			s.Misbehave("GET", cloudtest.Right, c.look)
		}
		s.Keep("app", "us-west", "ready", "K")
		r := runOn(t, s, append([]string{"cloud", "secrets"}, strings.Fields(c.args+" --skip --json")...)...)
		r.wantCode(t, c.code)
		if unsure := strings.Contains(r.stderr,
			"the request may have succeeded"); unsure != (c.code != 0 && c.want != nil) {
			t.Errorf("vbot cloud secrets %s: %s", c.args, r.stderr)
		}
	}
	// Interrupted while it looks.
	ctx, cancel := context.WithCancel(context.Background())
	s := cloudtest.New(t, "vbot/"+version).Want(get, "DELETE ~/secrets/app", "DELETE ~/secrets/app", list).
		Misbehave("DELETE", cloudtest.LoseAnswer).
		Misbehave("GET", cloudtest.Right,
			func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				cancel()
				<-r.Context().
					Done()
			})
	s.Keep("app", "us-west", "ready", "K")
	r := here{ctx: ctx, env: s.Env()}.vbot(t, "cloud", "secrets", "delete", "app", "--skip")
	r.wantCode(t, 130)
	if !strings.Contains(r.stderr, "deleting app: interrupted; the request may have succeeded") {
		t.Errorf("it said %s", r.stderr)
	}
}

// contradictionCases are the cases of TestContradictions.
var contradictionCases = []struct{ args, answer, want string }{
	{
		"set app A=1 --region us-east", `{"status":"OK","region":"eu-central"}`,
		"region eu-central instead of us-east",
	},
	{"set app A=1", `{"status":"OK","name":"other"}`, "name other instead of app"},
	{"set app A=1", `{"status":"OK","type":"imagePullSecret"}`, "type imagePullSecret instead of secret"},
	{
		"set app A=1", `{"error":"quota exceeded, nothing stored"}`,
		"error: quota exceeded, nothing stored",
	},
	{"set app A=1", `{"status":"OK","error":"quota exceeded"}`, "error: quota exceeded"},
	{"set app A=1", `{"status":"failed"}`, "its status is failed"},
	{"set app A=1", `{"status":"O\u200bK"}`, "a status that cannot be shown"},
	{"set app A=1", `{"status":"failed","STATUS":"ok"}`, "a key twice"},
	{"set app A=1", `{"status":"OK","error":"quota exceeded","ERROR":""}`, "a key twice"},
	{"set app A=1", `{"status":"OK","errorMessage":"quota exceeded"}`, "error: quota exceeded"},
	{"set app A=1", `{"status":"OK","success":false}`, "success is false"},
	{"delete old", `{"status":"OK","Success":false}`, "success is false"},
	{"reference team --region pce-a", `{"name":"team","errorMessage":"gone"}`, "error: gone"},
	{
		"image-pull-secret reg ghcr.io bob:x --region us-east",
		`{"status":"OK","region":"us-we\u200bst"}`, "a region that cannot be shown",
	},
	{
		"image-pull-secret reg ghcr.io bob:x", `{"status":"OK","type":"secret"}`,
		"type secret instead of imagePullSecret",
	},
	{"delete old", `{"status":"OK","name":"other"}`, "name other instead of old"},
	{"unset old K", `{"status":"OK","error":"no"}`, "error: no"},
	{"list", `{"sets":[],"errorMessage":"backend down"}`, "error: backend down"},
	{"list", `{"sets":[],"success":false}`, "success is false"},
	{"list old", `{"secrets":[{"fieldName":"A"},{"name":"B"}]}`, "no names of keys"},
	{"reference team --region pce-a", `{"name":"other","region":"pce-a"}`, "name other instead of team"},
	{
		"reference team --region pce-a", `{"name":"team","region":"pce-b"}`,
		"region pce-b instead of pce-a",
	},
	{"reference team --region pce-a", `{"name":"team","status":"failed"}`, "its status is failed;"},
	{
		"reference team --region pce-a", `{"name":"team","status":"failed","errorMessage":"gone"}`,
		"its status is failed: gone",
	},
}

// What an answer says against what was asked for is a failure that says so.
func TestContradictions(t *testing.T) {
	parallel(t)
	for _, c := range contradictionCases {
		s := cloudtest.Bare(t, "vbot/"+version)
		s.Keep("old", "us-west", "ready", "K")
		for _, method := range []string{"PUT", "POST", "DELETE"} {
			s.Misbehave(method, cloudtest.With200(c.answer))
		}
		args := strings.Fields("cloud secrets " + c.args)
		reads := strings.HasPrefix(c.args, "list")
		if reads {
			s.Misbehave("GET", cloudtest.With200(c.answer))
		} else if !strings.HasPrefix(c.args, "reference") && !strings.HasPrefix(c.args, "image") {
			args = append(args, "--skip")
		}
		r := runOn(t, s, args...)
		s.Close()
		r.wantCode(t, 1)
		if !strings.Contains(r.stderr, "unexpected answer (200): "+c.want) ||
			strings.Contains(r.stderr, "; the request may have succeeded\n") == reads {
			t.Errorf("vbot %s: it said %s", args, r.stderr)
		}
	}
	// What fits may read like a value.
	s := cloudtest.Bare(t, "vbot/"+version).Misbehave("PUT",
		cloudtest.With200(`{"status":"OK","name":"app","region":"us-east","error":null,"errorMessage":"",`+
			`"success":true}`))
	defer s.Close()
	runOn(t, s, "cloud", "secrets", "set", "app", "A=app", "B=us-east", "--region=us-east", "--skip").
		wantCode(t, 0)
	// While it waits.
	for _, row := range []string{
		`"type":"secret","region":"us-east"`, `"type":"imagePullSecret","region":"us-west"`,
	} {
		s.Misbehave("GET", cloudtest.Right, cloudtest.Right,
			cloudtest.With200(`{"sets":[{"name":"reg","status":"ready",`+row+`}]}`))
		r := runOn(t, s, "cloud", "secrets", "image-pull-secret", "reg", "ghcr.io", "bob:x",
			"--region=us-east", "--wait")
		r.wantCode(t, 1)
		if !strings.Contains(r.stderr, "reg is stored, but the API lists it with ") {
			t.Errorf("it said %s", r.stderr)
		}
	}
}

// 100 and 103 announce an answer. What else is not final ends the run, and so does what never
// becomes final.
func TestInformationalAnswers(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		fault cloudtest.Fault
		want  string
	}{
		{cloudtest.Inform(100, 103, 103), "no secrets in organization acme\n"},
		{cloudtest.Informed(101), "error: listing secrets: unexpected answer (101): not a final status\n"},
		{cloudtest.Inform(102), "error: listing secrets: unexpected answer (102): not a final status\n"},
		{
			cloudtest.Inform(slices.Repeat([]int{103}, 9)...),
			"error: listing secrets: unexpected answer (103): not a final status\n",
		},
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets").Misbehave("GET", c.fault)
		if r := runOn(t, s, "cloud", "secrets", "list"); r.stderr != c.want {
			t.Errorf("it said %s, want %s", r.stderr, c.want)
		}
	}
}

// The API says what was wrong in error, or in message.
func TestTextOfARefusal(t *testing.T) {
	parallel(t)
	for answer, want := range map[string]string{
		`{"error":"first","message":"second"}`: ": first\n", `{"message":"second","code":"X"}`: ": second\n",
		`{"error":"","message":"second"}`:                  ": second\n",
		`{"error":{"message":"inner"},"message":"second"}`: ": second\n",
		`{"error":"second","source":"a\nb"}`:               ": second\n",
		`{"code":"X"}`:                                     "422 Unprocessable Entity\n",
		`<html>`:                                           "422 Unprocessable Entity\n",
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets").Misbehave("GET",
			func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
				w.WriteHeader(422)
				io.WriteString(w, answer)
			})
		if r := runOn(t, s, "cloud", "secrets", "list"); r.code != 1 || !strings.HasSuffix(r.stderr, want) {
			t.Errorf("%s: %s", answer, r.stderr)
		}
	}
}

// A redirect is not followed, to wherever it leads.
func TestRedirectsAreNotFollowed(t *testing.T) {
	parallel(t)
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, code := range []int{300, 301, 302, 303, 307, 308} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app").Misbehave("PUT",
			cloudtest.Status(code, "X", "moved", "Location", other.URL+"/v1/x"))
		runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip").wantCode(t, 1)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests went to another server", n)
	}
}

// An answer without end is not read to its end.
func TestHugeAnswers(t *testing.T) {
	parallel(t)
	taken := make(chan int, 1)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets").Misbehave("GET",
		func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
			all, n := 0, 0
			for err := error(nil); err == nil && all < 256<<20; all += n {
				n, err = w.Write(make([]byte, 1<<16))
			}
			taken <- all
		})
	r := runOn(t, s, "cloud", "secrets", "list")
	r.wantCode(t, 1)
	if n := <-taken; !strings.Contains(r.stderr, "longer than 2 megabytes") || n >= 256<<20 {
		t.Errorf("it took %d bytes and said %s", n, r.stderr)
	}
}

// TLS and proxies, in the real binary.

// tlsStandin is the stand-in behind TLS, with the certificate's file.
func tlsStandin(t *testing.T, want ...string) (s *cloudtest.Standin, ca string) {
	s = cloudtest.New(t, "vbot/"+version).Want(want...)
	s.Close()
	s.Server = httptest.NewUnstartedServer(s)
	s.Server.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Server.StartTLS()
	ca = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, ca
}

func TestTLS(t *testing.T) {
	parallel(t)
	s, ca := tlsStandin(t, "GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	set := []string{"cloud", "secrets", "set", "fresh", "A=hunter2", "--skip", "--json"}
	r := with{env: s.Env()}.vbot(t, t.TempDir(), set...)
	r.wantCode(t, 6)
	section(t, "cloud/connection.txt", "tls: untrusted", transcriptOn(s, r))

	// What the runtime can be made to log holds what is sent.
	r = with{env: append(s.Env(), "VBOT_CA_FILE="+ca, "GODEBUG=http2debug=2")}.vbot(t, t.TempDir(), set...)
	r.wantCode(t, 0)
	if strings.Contains(r.stderr, "hunter2") || strings.Contains(r.stderr, cloudtest.Token) {
		t.Errorf("the runtime printed it:\n%s", r.stderr)
	}

	// Further authorities do not turn verification off.
	elsewhere := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	r = with{env: append(s.Env(), "VBOT_CA_FILE="+ca, "VBOT_API_URL="+elsewhere)}.vbot(t, t.TempDir(), set...)
	r.wantCode(t, 6)
	if !strings.Contains(r.stderr,
		"the certificate of localhost:"+port+
			" is for another host\nhint: check the network, and VBOT_API_URL if it is set\n") {
		t.Errorf("it said %s", r.stderr)
	}

	plain := cloudtest.New(t, "vbot/"+version)
	r = with{env: append(s.Env(), "VBOT_API_URL=https://"+plain.Listener.Addr().String())}.vbot(t,
		t.TempDir(), set...)
	r.wantCode(t, 6)
	section(t, "cloud/connection.txt", "tls: not spoken", transcriptOn(plain, r))

	filetest.Put(t, filepath.Dir(ca), "empty.pem", "nothing")
	r = with{env: append(s.Env(), "VBOT_CA_FILE="+filepath.Join(filepath.Dir(ca), "empty.pem"))}.vbot(t,
		t.TempDir(), set...)
	r.wantCode(t, 2)
	got := withoutDir(string(transcriptOn(s, r)), filepath.Dir(ca))
	section(t, "cloud/connection.txt", "tls: no certificate in the file", []byte(got))
}

// certificateCases are the cases of TestCertificates.
var certificateCases = []struct {
	name string
	ends time.Duration
	host net.IP
	with x509.SignatureAlgorithm
	max  uint16 // version of TLS
	want string
}{
	{name: "good", ends: time.Hour, host: net.IPv4(127, 0, 0, 1), with: 0, max: 0},
	{
		name: "expired",
		ends: -time.Minute,
		host: net.IPv4(127, 0, 0, 1),
		with: 0,
		max:  0,
		want: "hint: check the clock of this machine, and the server's certificate\n",
	},
	{
		name: "another host",
		ends: time.Hour,
		host: net.IPv4(127, 0, 0, 2),
		with: 0,
		max:  0,
		want: "is for another host\nhint: check the network, and VBOT_API_URL if it is set\n",
	},
	{
		name: "SHA-1",
		ends: time.Hour,
		host: net.IPv4(127, 0, 0, 1),
		with: x509.SHA1WithRSA,
		max:  0,
		want: "hint: the server needs another certificate\n",
	},
	{
		name: "TLS 1.0",
		ends: time.Hour,
		host: net.IPv4(127, 0, 0, 1),
		with: 0,
		max:  tls.VersionTLS10,
		want: "hint: vbot needs TLS 1.2 or newer; check",
	},
}

// What is wrong with a certificate, and with TLS, is said at once, with what helps.
func TestCertificates(t *testing.T) {
	parallel(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	sign := func(template, parent *x509.Certificate) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	block := func(der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	dir, ca := t.TempDir(), block(sign(authority, authority))
	filetest.Put(t, dir, "ca.pem", "# ours\n"+ca)
	list := []string{"cloud", "secrets", "list"}
	for _, c := range certificateCases {
		if fips140.Enabled() && (c.with != 0 || c.max != 0) {
			continue // no such server can be made
		}
		leaf := &x509.Certificate{
			SerialNumber:       big.NewInt(2),
			NotBefore:          now.Add(-time.Hour),
			NotAfter:           now.Add(c.ends),
			IPAddresses:        []net.IP{c.host},
			SignatureAlgorithm: c.with,
		}
		s := cloudtest.Bare(t, "vbot/"+version)
		s.Close()
		s.Server = httptest.NewUnstartedServer(s)
		s.TLS = &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{sign(leaf, authority)}, PrivateKey: key}},
			MaxVersion:   c.max,
			MinVersion:   min(c.max, tls.VersionTLS12),
		}
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		r := with{env: append(s.Env(), "VBOT_CA_FILE="+filepath.Join(dir, "ca.pem"))}.vbot(t, dir, list...)
		s.Close()
		if (r.code == 0) != (c.want == "") || !strings.Contains(r.stderr, c.want) ||
			strings.Contains(r.stderr, "trying again") || strings.Count(r.stderr, "VBOT_CA_FILE") > 0 {
			t.Errorf("%s: exit code %d, %s", c.name, r.code, r.stderr)
		}
	}
	// Each certificate of VBOT_CA_FILE counts.
	for name, text := range map[string]string{
		"base64": ca + strings.Replace(ca, "M", "!", 1), "content": ca + block([]byte("nonsense")),
		"end": ca + ca[:len(ca)-10], "begin": ca[:100] + "\n" + ca,
	} {
		filetest.Put(t, dir, "broken.pem", text)
		r := with{env: append(cloudtest.New(t, "vbot/"+version).Env(), "VBOT_CA_FILE=broken.pem")}.vbot(t,
			dir, list...)
		r.wantCode(t, 2)
		if want := filepath.Join(dir, "broken.pem") + ": certificate "; !strings.Contains(r.stderr, want) ||
			!strings.Contains(r.stderr, " is damaged\n") {
			t.Errorf("%s: it said %s", name, r.stderr)
		}
	}
}

// tunnel answers CONNECT: it connects the client with the address.
func tunnel(t *testing.T, w http.ResponseWriter, address string) {
	up, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	down, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	// By hand: what the server wrote and read ahead would be lost with it.
	io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { io.Copy(up, buffered); up.Close() }()
	io.Copy(down, up)
	down.Close()
}

// A proxy gets the host and nothing else, and its password is not printed.
func TestProxy(t *testing.T) {
	s, ca := tlsStandin(t, "GET ~/secrets")
	asked := make(chan string, 10)
	var answer atomic.Int32
	answer.Store(http.StatusOK)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		if status := int(answer.Load()); status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		tunnel(t, w, s.Listener.Addr().String())
	}))
	defer proxy.Close()
	at := strings.Replace(proxy.URL, "http://", "http://bob:hunter2@", 1)
	// The certificate of httptest is for example.com, which is not asked for here.
	env := append(s.Env(), "VBOT_API_URL=https://example.com", "VBOT_CA_FILE="+ca)
	r := with{env: append(env, "HTTPS_PROXY="+at)}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
	r.wantCode(t, 0)
	if got := <-asked; got != "CONNECT example.com:443" || len(asked) > 0 {
		t.Errorf("the proxy was asked for %q, and %d more", got, len(asked))
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	down := strings.Replace(closed.URL, "http://", "http://bob:hunter2@", 1)
	r = with{env: append(env, "HTTPS_PROXY="+down)}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
	r.wantCode(t, 6)
	address := []byte(closed.Listener.Addr().String())
	got := bytes.ReplaceAll(transcriptOn(s, r), address, []byte("PROXY"))
	section(t, "cloud/connection.txt", "proxy down", got)
	for status, later := range map[int]bool{403: false, 407: false, 500: true} {
		answer.Store(int32(status))
		r = with{env: append(env, "HTTPS_PROXY="+at)}.vbot(t, t.TempDir(), "cloud", "secrets", "list",
			"--json")
		r.wantCode(t, 6)
		if text := fmt.Sprintf("the proxy refused the connection: %d %s", status,
			http.StatusText(status)); !strings.Contains(r.stderr, text) ||
			!strings.Contains(r.stderr, "hint: check HTTPS_PROXY") ||
			!strings.Contains(r.stdout, fmt.Sprintf(`"retryable": %v,`, later)) ||
			!strings.Contains(r.stdout, `"http_status": null`) {
			t.Errorf("%d: it said %s%s", status, r.stdout, r.stderr)
		}
	}
}

// What a proxy does wrong is not put on the API, and its password not told, whatever it repeats.
func TestBadProxies(t *testing.T) {
	parallel(t)
	s, ca := tlsStandin(t)
	raw := func(talk func(conn net.Conn, in *bufio.Reader)) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					in := bufio.NewReader(conn)
					talk(conn, in)
					// A connection that is closed with something unread is reset, and what
					// was sent may be lost.
					conn.(*net.TCPConn).CloseWrite()
					io.Copy(io.Discard, in)
				}()
			}
		}()
		return listener.Addr().String()
	}
	connect := func(answer func(basic string) string) string {
		return raw(func(conn net.Conn, in *bufio.Reader) {
			if r, err := http.ReadRequest(in); err == nil {
				if got := r.Header.Get("User-Agent"); got != "vbot/"+version {
					t.Errorf("the proxy sees the User-Agent %q", got)
				}
				io.WriteString(conn, answer(r.Header.Get("Proxy-Authorization")))
			}
		})
	}
	refuses := raw(func(conn net.Conn, in *bufio.Reader) { // RFC 1928 and 1929
		if greeting, err := in.Peek(2); err == nil {
			in.Discard(2 + int(greeting[1]))
			conn.Write([]byte{5, 2})
			in.Peek(1)
			conn.Write([]byte{1, 1})
		}
	})
	hangsUp := raw(func(conn net.Conn, _ *bufio.Reader) {
		secure := tls.Server(conn, &tls.Config{Certificates: s.TLS.Certificates})
		http.ReadRequest(bufio.NewReader(secure))
	})
	for _, c := range []struct{ proxy, at, want string }{
		{
			"http://bob:hunter2@",
			connect(func(basic string) string { return "HTTP/1.1 200 OK\r\n" + basic + "\r\n\r\n" }),
			" sent no answer that vbot can read",
		},
		{
			"http://bob:hunter2@", connect(func(basic string) string { return basic + "\r\n\r\n" }),
			" sent no answer that vbot can read",
		},
		{
			"http://bob:hunter2@",
			connect(func(basic string) string { return "HTTP/1.1 403 " + basic + "\r\n\r\n" }),
			"the proxy refused the connection: 403 Forbidden",
		},
		{"https://bob:hunter2@", s.Listener.Addr().String(), "the certificate of the proxy "},
		{
			"https://bob:hunter2@",
			raw(func(conn net.Conn, in *bufio.Reader) {
				io.WriteString(conn,
					"HTTP/1.1 400 hunter2\r\n\r\n")
			}),
			" does not speak TLS",
		},
		{"https://bob:hunter2@", hangsUp, " (HTTPS_PROXY) was lost"},
		{
			"socks5://bob:hunter2@", refuses,
			" did not connect to api.example.com\nhint: check HTTPS_PROXY, and its user and password",
		},
	} {
		env := append(s.Env(), "VBOT_API_URL=https://api.example.com", "HTTPS_PROXY="+c.proxy+c.at)
		if c.at == hangsUp {
			env = append(env, "VBOT_CA_FILE="+ca)
		}
		t.Run(c.want, func(t *testing.T) {
			t.Parallel() // some are tried again
			r := with{env: env}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
			r.wantCode(t, 6)
			if !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, "the proxy") ||
				strings.Contains(strings.ReplaceAll(r.stderr, "did not connect to api.example.com", ""),
					"api.example.com") || strings.Contains(r.stderr, "hunter2") ||
				strings.Contains(r.stderr, "Ym9iOmh1bnRlcjI") {
				t.Errorf("it said %s", r.stderr)
			}
		})
	}
}

// What the API does wrong behind a proxy is not put on the proxy.
func TestBadCertificateBehindAProxy(t *testing.T) {
	parallel(t)
	s, _ := tlsStandin(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tunnel(t, w,
			s.Listener.Addr().String())
	}))
	defer proxy.Close()
	r := with{env: append(s.Env(), "VBOT_API_URL=https://example.com", "HTTPS_PROXY="+proxy.URL)}.vbot(t,
		t.TempDir(), "cloud", "secrets", "list")
	if r.wantCode(t, 6); !strings.Contains(r.stderr, "the certificate of example.com is not trusted") ||
		strings.Contains(r.stderr, "proxy") {
		t.Errorf("it said %s", r.stderr)
	}
}

// An API behind a proxy that repeats what the proxy asks for.
func TestRepeatedProxyPassword(t *testing.T) {
	parallel(t)
	for _, text := range []string{"hunter2", "BOB:HUNTER2", "Ym9iOmh1bnRlcjI="} {
		s, ca := tlsStandin(t, "GET ~/secrets")
		s.Misbehave("GET", cloudtest.Status(403, "X", "no, "+text))
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tunnel(t,
				w, s.Listener.Addr().String())
		}))
		env := append(s.Env(), "VBOT_API_URL=https://example.com", "VBOT_CA_FILE="+ca,
			"HTTPS_PROXY="+strings.Replace(proxy.URL, "://", "://bob:hunter2@", 1))
		r := with{env: env}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
		proxy.Close()
		r.wantCode(t, 5)
		if !strings.Contains(r.stderr,
			"403 Forbidden: the API's message repeats a value, so it is not shown\n") {
			t.Errorf("it said %s", r.stderr)
		}
	}
}

// Nobody at the address, and no such host.
func TestNobodyAnswers(t *testing.T) {
	s := cloudtest.New(t, "vbot/"+version)
	s.Close()
	r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip", "--json")
	r.wantCode(t, 6)
	section(t, "cloud/connection.txt", "refused", transcriptOn(s, r))
	r = runOn(t, s, "cloud", "secrets", "reference", "team", "-r=pce-acme")
	r.wantCode(t, 6)
	if strings.Contains(r.stderr, "the request may have succeeded") {
		t.Errorf("it said %s", r.stderr)
	}
	r = here{env: append(s.Env(), "VBOT_API_URL=https://api.invalid")}.vbot(t, "cloud", "secrets", "list")
	r.wantCode(t, 6)
	if !strings.Contains(r.stderr, "api.invalid") {
		t.Errorf("it said %s", r.stderr)
	}
}

// No request is sent, and nothing asked, before the command line is right and the
// token is there.
func TestSignInComesAfterTheCommandLine(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=none"}
	for _, args := range [][]string{
		{"list"},
		{"list", "app"},
		{"set", "app", "A=1", "--skip"},
		{"set", "app", "A=1", "--dry-run"},
		{"unset", "app", "K", "-s"},
		{"delete", "app", "-s"},
		{"image-pull-secret", "reg", "ghcr.io", "a:b"},
		{"reference", "a", "-r=pce-a"},
	} {
		r := here{env: env}.vbot(t, append([]string{"cloud", "secrets"}, args...)...)
		r.wantCode(t, 5)
		if !strings.Contains(r.stderr, "vbot cloud login") || !strings.Contains(r.stderr, "VBOT_TOKEN") {
			t.Errorf("vbot cloud secrets %q: %s", args, r.stderr)
		}
		r = here{env: env}.vbot(t, append([]string{"cloud", "secrets"}, append(args, "--bogus")...)...)
		r.wantCode(t, 2)
	}
}

// What the API may not do.

// parrot answers as the API does, but with name in the place of every identifier that is not
// one of the few that vbot must understand, and with text in the place of prose.
func parrot(name, text string) cloudtest.Fault {
	return func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
		answer := httptest.NewRecorder()
		r.Context().Value(http.ServerContextKey).(*http.Server).Handler.(*cloudtest.Standin).Answer(answer, r,
			body)
		var v any
		json.Unmarshal(answer.Body.Bytes(), &v)
		var walk func(key string, v any) any
		walk = func(key string, v any) any {
			switch v := v.(type) {
			case string:
				if key == "error" || key == "errorMessage" {
					return text
				} else if v != "OK" && v != "imagePullSecret" {
					return name
				}
			case []any:
				for i := range v {
					v[i] = walk("", v[i])
				}
			case map[string]any:
				for k := range v {
					v[k] = walk(k, v[k])
				}
			}
			return v
		}
		cloudtest.Say(w, answer.Code, walk("", v))
	}
}

// Neither a value nor the token comes out, in whichever field the API repeats it: as an
// identifier, and in prose in any form.
func TestRepeatedSecretsNeverComeOut(t *testing.T) {
	parallel(t)
	const value = "pl4nted-value-that-is-long"
	login := base64.StdEncoding.EncodeToString([]byte("bob:" + value))
	commands := []string{
		"secrets list", "secrets list app", "secrets list hub", "secrets set app A=" + value + " K=x --skip",
		"secrets set fresh A=" + value + " --skip --wait=3s",
		"secrets set app A=" + value + " --skip --prune",
		"secrets set app A=" + value + " --skip --region=us-east", "secrets unset app K --skip",
		"secrets delete app --skip",
		"secrets delete hub --skip", "secrets image-pull-secret hub ghcr.io bob:" + value + " --wait=3s",
		"secrets image-pull-secret hub ghcr.io --no-encode " + login, "whoami", "login",
	}
	for _, c := range []struct {
		name, text string
		sent       func(args string) bool
	}{
		{cloudtest.Token, "Bearer " + cloudtest.Token, nil},
		{cloudtest.Token, url.QueryEscape("Bearer\n" + cloudtest.Token), nil},
		{
			value, "bad: " + strings.ToUpper(value),
			func(args string) bool { return strings.Contains(args, value) || strings.Contains(args, login) },
		},
		{
			value, "pl4nted\x1b-va\u200blue-that-is-long",
			func(args string) bool { return strings.Contains(args, value) || strings.Contains(args, login) },
		},
		{
			value, base64.StdEncoding.EncodeToString([]byte(value)),
			func(args string) bool { return strings.Contains(args, value) || strings.Contains(args, login) },
		},
		{login, "got " + login, func(args string) bool { return strings.Contains(args, "hub ghcr.io") }},
	} {
		for _, args := range commands {
			if c.sent != nil && !c.sent(args) {
				continue
			}
			for _, end := range []string{"", " --json"} {
				for _, organization := range []string{"acme", ""} {
					s := cloudtest.Bare(t, "vbot/"+version)
					s.Keep("app", "us-west", "ready", "K", "L").Message = "oops"
					s.Keep("hub", "us-west", "ready").Kind = cloud.TypeImagePull
					if c.sent != nil { // what comes before a value is sent repeats none
						s.Misbehave("GET",
							cloudtest.Times(2-len(organization)/4+strings.Count(args, "set fresh"),
								cloudtest.Right)...)
					}
					for _, method := range []string{"GET", "PUT", "DELETE"} {
						s.Misbehave(method, cloudtest.Times(20, parrot(c.name, c.text))...)
					}
					env := append(s.Env(), "VBOT_ORGANIZATION="+organization)
					r := here{env: env, stdin: strings.NewReader(cloudtest.Token), dir: "/nowhere"}.vbot(t,
						strings.Fields("cloud "+args+end)...)
					s.Close()
					for _, secret := range []string{
						"tok3n-of-the", "pl4nted", "PL4NTED", "cGw0bnRlZC", login,
					} {
						if strings.Contains(r.stdout+r.stderr, secret) {
							t.Errorf("%q and %q in answers to vbot cloud %s%s: it printed\n%s%s", c.name,
								c.text, args, end, r.stdout, r.stderr)
						}
					}
				}
			}
		}
	}
}

// Names are names: what a value equals, or is part of, changes nothing.
func TestValuesThatLookLikeNames(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app", "GET ~/secrets/app")
	s.Keep("app", "eu-central", "ready", "KEY_1", "eu-central")
	r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "B=ready", "C=eu-central", "D=OK", "E=app",
		"KEY_1=KEY_1", "F=acme", "--skip", "--wait", "--json")
	r.wantCode(t, 0)
	section(t, "cloud/set.txt", "set-values-like-names", transcriptOn(s, r))
	// A part of a key that is to go, of a region, and of a status.
	s = cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/PROD_URL", "GET ~/secrets/app")
	s.Keep("app", "us-west", "ready", "PROD_URL")
	s.Statuses = []string{"pending", "ready"}
	r = runOn(t, s, "cloud", "secrets", "set", "app", "ENV=prod", "DIRECTION=west", "CLOUD_REGION=us-west",
		"MODE=pending", "API_KEY=abcdef", "--skip", "--prune", "--wait", "--json")
	r.wantCode(t, 0)
	section(t, "cloud/set.txt", "set-prune-values-like-names", transcriptOn(s, r))
	// A long one: of the command line, or of what the API said before.
	s = cloudtest.New(t, "vbot/"+version).Want("GET /v1/organizations",
		"GET /v1/organizations/a-long-organization/secrets/a-long-name-of-a-set",
		"PUT /v1/organizations/a-long-organization/secrets/a-long-name-of-a-set",
		"GET /v1/organizations/a-long-organization/secrets/a-long-name-of-a-set")
	s.Orgs = []string{"a-long-organization"}
	s.Keep("a-long-name-of-a-set", "pce-acme-production", "ready", "A_KEY_THAT_IS_OLD")
	r = here{env: append(s.Env(), "VBOT_ORGANIZATION=")}.vbot(t, "cloud", "secrets", "set",
		"a-long-name-of-a-set", "A=pce-acme-production", "B=A_KEY_THAT_IS_OLD",
		"A_KEY_THAT_IS_NEW=A_KEY_THAT_IS_NEW", "C=a-long-organization", "D=a-long-name-of-a-set", "--skip",
		"--wait")
	r.wantCode(t, 0)
	// A region that was asked for.
	s = cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "GET ~/regions", "PUT ~/secrets/fresh").
		Misbehave("PUT", cloudtest.With200(`{"status":"OK","region":"pce-acme-production"}`))
	runOn(t, s, "cloud", "secrets", "set", "fresh", "A=pce-acme-production", "--region=pce-acme-production",
		"--skip").wantCode(t, 0)
	// The name of a new set, which no answer had before.
	s = cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/the-name-of-a-new-set",
		"PUT ~/secrets/the-name-of-a-new-set").Misbehave("PUT",
		cloudtest.With200(`{"status":"OK","name":"the-name-of-a-new-set"}`))
	runOn(t, s, "cloud", "secrets", "set", "the-name-of-a-new-set", "A=the-name-of-a-new-set", "--skip").
		wantCode(t, 0)
	// The name and the region of an image pull secret.
	s = cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets", "PUT ~/secrets/my-hub", "GET ~/secrets")
	s.Keep("my-hub", "eu-central", "ready").Kind = cloud.TypeImagePull
	runOn(t, s, "cloud", "secrets", "image-pull-secret", "my-hub", "ghcr.io", "eu-central:my-hub", "--wait").
		wantCode(t, 0)
}

// Names that a terminal could not show as they are make an answer unreadable; names that only
// the rules of vbot do not allow are shown.
func TestOddNames(t *testing.T) {
	parallel(t)
	for name, code := range map[string]int{
		"evil\x1b[2J":            1,
		"two\nlines":             1,
		"bidi\u202e":             1,
		strings.Repeat("x", 256): 1,
		"two words":              0,
		"été":                    0,
		"a.b_C-1":                0,
		strings.Repeat("x", 255): 0,
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets", "GET ~/secrets/app")
		s.Keep(name, "us-west", "ready")
		s.Keep("app", "us-west", "ready", name)
		for _, args := range []string{"list", "list app"} {
			r := runOn(t, s, append([]string{"cloud", "secrets"}, strings.Fields(args)...)...)
			if r.wantCode(t, code); strings.Contains(r.stdout, name) != (code == 0) ||
				code == 1 && !strings.Contains(r.stderr, "name that cannot be shown") {
				t.Errorf("%q, %s: %s%s", name, args, r.stdout, r.stderr)
			}
		}
	}
}

// --wait is over when its time is, whatever the API does.
func TestWaitEnds(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	s.Want("GET ~/secrets/app", "PUT ~/secrets/app", "GET ~/secrets/app")
	s.Misbehave("GET", cloudtest.Right, s.Clock.Hang(time.Second))
	r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip", "--wait=1s", "--json")
	r.wantCode(t, 6)
	section(t, "cloud/set.txt", "set-wait-hanging", transcriptOn(s, r))
	// A poll that is to be tried again later than that.
	s = cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app", "GET ~/secrets/app").
		Misbehave("GET", cloudtest.Right, cloudtest.Status(429, "X", "x", "Retry-After", "40"))
	r = runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip", "--wait=1200ms")
	if r.wantCode(t, 6); !strings.Contains(r.stderr, "app is stored, but not ready after 1.2s") {
		t.Errorf("it said %s", r.stderr)
	}
	// It waits no longer than it says, and until then.
	for limit, want := range map[string]time.Duration{
		"6s":    6 * time.Second,
		"7s":    7 * time.Second,
		"500ms": time.Second / 2,
	} {
		s := cloudtest.Bare(t, "vbot/"+version)
		r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip", "--wait="+limit)
		s.Close()
		if took := s.Clock.Time.Sub(time.Unix(1e9, 0)); r.code == 0 || took != want {
			t.Errorf("--wait=%s: exit code %d after %v", limit, r.code, took)
		}
	}
}

// What a poll may meet.
func TestWaitPolls(t *testing.T) {
	parallel(t)
	set, pull := "set app A=1 --skip --wait", "image-pull-secret app ghcr.io bob:x --wait"
	for _, c := range []struct {
		args string
		poll cloudtest.Fault // nil: an interrupt
		code int
		want string
	}{
		{set, cloudtest.Status(404, "X", "Set not found"), 0, "app is ready\n"},
		{pull, cloudtest.With200(`{"sets":[]}`), 0, "app is ready\n"},
		{
			set, cloudtest.With200(`{"status":"failed","errorMessage":"no room","secrets":[]}`), 1,
			"error: app is stored, but its status is failed: no room\n",
		},
		{
			pull, cloudtest.With200(`{"sets":[{"name":"app","type":"imagePullSecret","status":"failed"}]}`),
			1, "error: app is stored, but its status is failed\n",
		},
		{
			set, cloudtest.Status(500, "X", "oops"), 6,
			"error: app is stored, but it may not be ready: reading secret set app: the API answered 500 " +
				"Internal Server Error: oops\nhint: run the same command again later\n",
		},
		{
			set, cloudtest.Status(403, "X", "no"), 5,
			"error: app is stored, but it may not be ready: reading secret set app: the API answered 403 " +
				"Forbidden: no\n",
		},
		{set, nil, 130, "\ninterrupted; app is stored, but it may not be ready\n"},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		if c.poll == nil {
			c.poll = func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				cancel()
				<-r.Context().Done()
			}
		}
		s := cloudtest.Bare(t, "vbot/"+version).Misbehave("GET", cloudtest.Right)
		s.Misbehave("GET", c.poll)
		s.Statuses = []string{"ready"}
		r := here{ctx: ctx, env: s.Env()}.vbot(t,
			append([]string{"cloud", "secrets"}, strings.Fields(c.args)...)...)
		s.Close()
		cancel()
		r.wantCode(t, c.code)
		if !strings.Contains(r.stderr, c.want) {
			t.Errorf("vbot cloud secrets %s: it said %s", c.args, r.stderr)
		}
	}
}

// The stored token goes to the address that it was checked with and to no other.
func TestStoredTokenStaysAtItsAddress(t *testing.T) {
	parallel(t)
	for _, file := range []string{
		`{"token":"` + cloudtest.Token + `","organization":"acme","api_url":"https://elsewhere.example"}`,
		`{"token":"` + cloudtest.Token + `","organization":"acme"}`, // of a version that stored no address
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET /v1/organizations", "GET ~/secrets")
		s.Orgs = []string{"acme"}
		env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + storedConfig(t, file)}
		for _, args := range []string{"whoami", "secrets list --json"} {
			r := here{env: env}.vbot(t, strings.Fields("cloud "+args)...)
			r.wantCode(t, 5)
			if !strings.Contains(r.stderr, "is not sent to "+s.URL) ||
				!strings.Contains(r.stderr, "VBOT_TOKEN") {
				t.Errorf("it said %s", r.stderr)
			}
		}
		// VBOT_TOKEN goes where VBOT_API_URL says; the stored organization is another matter.
		here{env: append(env, "VBOT_TOKEN="+cloudtest.Token)}.vbot(t, "cloud", "secrets", "list").wantCode(t,
			0)
	}
	// Letters of a host have no case, those of a path have. The token may end a line.
	s := cloudtest.New(t, "vbot/"+version).Want("GET /v1/organizations")
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stored, address string
		code            int
	}{{"", "HTTP://LocalHost:" + port, 0}, {"/a", "http://localhost:" + port + "/A", 5}} {
		path := storedConfig(t,
			`{"token":"`+cloudtest.Token+`\r\n","api_url":"http://localhost:`+port+c.stored+`"}`)
		here{env: []string{"VBOT_API_URL=" + c.address, "VBOT_CONFIG=" + path}}.vbot(t, "cloud", "whoami").
			wantCode(t, c.code)
	}
	file := cloud.LoginFile{Path: storedConfig(t, `{"token":"x"}`)}
	if stored, err := file.Read(); err != nil || stored.APIURL != cloud.Address {
		t.Errorf("%v, %v", stored, err)
	}
}

// A proxy that cannot be parsed is an error: net/http would connect without it.
func TestUnreadableProxy(t *testing.T) {
	parallel(t)
	s, ca := tlsStandin(t)
	for _, variable := range []string{"HTTPS_PROXY", "https_proxy"} {
		for _, proxy := range []string{
			"http://bob:hunter2@proxy:port", "http://proxy:1%zz", " http://proxy:1", "http://", "://x",
			"ftp://proxy", "http://[::1", "\x01",
		} {
			r := here{env: append(s.Env(), "VBOT_CA_FILE="+ca, variable+"="+proxy)}.vbot(t, "cloud",
				"secrets", "list")
			r.wantCode(t, 2)
			if !strings.HasPrefix(r.stderr, "error: HTTPS_PROXY: must be the address of a proxy") ||
				strings.Contains(r.stderr, "hunter2") {
				t.Errorf("%s=%q: %s", variable, proxy, r.stderr)
			}
		}
	}
	for _, proxy := range []string{
		"proxy", "proxy:3128", "http://bob:pass@proxy:3128/", "https://proxy", "socks5://10.0.0.1:1080",
		"[::1]:3128",
	} {
		if !cloud.IsProxy(proxy) {
			t.Errorf("%s is refused", proxy)
		}
	}
}

// A file that vbot did not write is neither removed nor replaced, and keeps its mode.
func TestForeignConfigFiles(t *testing.T) {
	parallel(t)
	const ours = `{"token":"` + cloudtest.Token + `","organization":"acme"}`
	for name, text := range map[string]string{
		"other JSON":     `{"name":"app","version":"1.0.0"}`,
		"more than ours": `{"token":"x","refresh_token":"y"}`, "no token": `{"organization":"acme"}`,
		"a path": `{"token":"x","organization":"../x"}`, "empty": `{}`,
		"null": `null`, "list": `[]`, "text": "my notes\n", "two": ours + ours,
		"large": ours + strings.Repeat(" ", 64<<10), "link": ours,
	} {
		t.Run(name, func(t *testing.T) {
			s := cloudtest.New(t, "vbot/"+version)
			path := storedConfig(t, text)
			config := path
			if name == "link" {
				config = filepath.Join(t.TempDir(), "link.json")
				filetest.Link(t, path, config)
			}
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + config}
			for _, args := range []string{"logout", "login", "logout --json", "whoami"} {
				r := here{env: env, stdin: strings.NewReader(cloudtest.Token)}.vbot(t,
					strings.Fields("cloud "+args)...)
				if args != "whoami" {
					r.wantCode(t, 1)
				}
				if args == "logout --json" && !strings.Contains(r.stdout, `"code": "conflict"`) {
					t.Errorf("it printed %s", r.stdout)
				}
			}
			data, err := os.ReadFile(path)
			info, statErr := os.Lstat(path)
			link, linkErr := os.Lstat(config)
			if err != nil || statErr != nil || linkErr != nil || string(data) != text ||
				info.Mode() != before.Mode() || (name == "link") == link.Mode().IsRegular() {
				t.Errorf("%q, %v, %v %v %v", data, info.Mode(), err, statErr, linkErr)
			}
		})
	}
}

// Files that the environment names are read up to a bound.
func TestLargeAuthorities(t *testing.T) {
	parallel(t)
	s, ca := tlsStandin(t)
	data, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, filepath.Dir(ca), "large.pem", string(data)+strings.Repeat("\n", 4<<20))
	r := with{env: append(s.Env(), "VBOT_CA_FILE="+filepath.Join(filepath.Dir(ca), "large.pem"))}.vbot(t,
		t.TempDir(), "cloud", "secrets", "list")
	r.wantCode(t, 2)
	if !strings.Contains(r.stderr, "is larger than 4194304 bytes") {
		t.Errorf("it said %s", r.stderr)
	}
}

// A token is one line, whatever its end is.
func TestSeveralLinesOnStdin(t *testing.T) {
	parallel(t)
	for _, token := range []string{"sk_a\nsk_b", "sk_a\rsk_b"} {
		r := with{stdin: token}.vbot(t, t.TempDir(), "cloud", "login")
		if r.wantCode(t, 2); !strings.Contains(r.stderr, "expected one line on stdin") ||
			strings.Contains(r.stderr, "sk_") {
			t.Errorf("%q: it said %s", token, r.stderr)
		}
	}
}

// PowerShell and Windows editors put a byte-order mark in front of a text.
func TestByteOrderMarkOnStdin(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets", "PUT ~/secrets/reg", "GET /v1/organizations")
	here{env: s.Env(), stdin: strings.NewReader("\ufeffbob:t0k\r\n")}.vbot(t, "cloud", "secrets",
		"image-pull-secret", "reg", "ghcr.io").wantCode(t, 0)
	if got := s.Values("reg")["value"]; got != "Ym9iOnQwaw==" {
		t.Errorf("stored %q", got)
	}
	here{env: s.Env(), stdin: strings.NewReader("\ufeff" + cloudtest.Token)}.vbot(t, "cloud", "login").
		wantCode(t, 0)
	here{env: s.Env(), stdin: strings.NewReader("\ufeff\n")}.vbot(t, "cloud", "login").wantCode(t, 2)
}

// A 404 of a listing is about the organization or the address: the hint is not the
// command that just failed.
func TestHintOfAListingNotFound(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets").Misbehave("GET",
		cloudtest.Status(404, "NOT_FOUND", "Organization not found"))
	r := runOn(t, s, "cloud", "secrets", "list")
	r.wantCode(t, 4)
	if !strings.Contains(r.stderr, "hint: check VBOT_ORGANIZATION (acme), and VBOT_API_URL if it is set\n") {
		t.Error(r.stderr)
	}
}
