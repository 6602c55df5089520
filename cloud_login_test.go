package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
)

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
	setup func(s *cloudtest.Fake)
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
		stdin: cloudtest.Token, setup: func(s *cloudtest.Fake) { s.Orgs = []string{"acme", "beta"} },
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
		setup: func(s *cloudtest.Fake) { s.Orgs = []string{"beta", "acme"} },
		want:  []string{"GET /v1/organizations"},
		code:  2,
	},
	{
		name:  "login-several-environment",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		env:   []string{"VBOT_ORGANIZATION=beta"},
		setup: func(s *cloudtest.Fake) { s.Orgs = []string{"beta", "acme"} },
		want:  []string{"GET /v1/organizations"},
		code:  0, holds: `{"token":"` + cloudtest.Token + `","organization":"beta"}`,
	},
	{
		name:  "login-none",
		args:  []string{"login"},
		stdin: cloudtest.Token,
		setup: func(s *cloudtest.Fake) { s.Orgs = nil },
		want:  []string{"GET /v1/organizations"},
		code:  4,
	},
	{
		name:  "login-private-key",
		args:  []string{"login", "--json"},
		stdin: cloudtest.Key,
		setup: func(s *cloudtest.Fake) { s.Personal = false },
		want:  []string{"GET /v1/secrets"},
		code:  0,
		holds: `{"token":"` + cloudtest.Key + `"}`,
	},
	{
		name:  "login-private-key-and-organization",
		args:  []string{"login", "--organization=acme"},
		stdin: cloudtest.Key, setup: func(s *cloudtest.Fake) { s.Personal = false },
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
		setup: func(s *cloudtest.Fake) { s.FailNext("GET", cloudtest.Repeat(4, cloudtest.Drop)...) },
		want:  slices.Repeat([]string{"GET /v1/organizations"}, 4),
		code:  6,
	},
}

func TestLoginTranscripts(t *testing.T) {
	parallel(t)
	for _, c := range loginCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Expect(c.want...)
			if c.setup != nil {
				c.setup(s)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "sub", "config.json")
			r := inProcess{
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
			err := json.Compact(&compact, []byte(tree["sub/config.json"]))
			if err != nil || compact.String() != holds || len(tree) != 1 {
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
	set  func(s *cloudtest.Fake)
	want []string
	code int
	// golden is the file of golden/cloud with the transcript; "" is whoami.txt.
	golden string
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
			set:  func(s *cloudtest.Fake) { s.Personal = false },
			want: []string{"GET /v1/secrets"},
			code: 0,
		},
		{
			name: "whoami-private-key-json",
			args: []string{"whoami", "--json"},
			env:  []string{"VBOT_TOKEN=" + cloudtest.Key},
			set:  func(s *cloudtest.Fake) { s.Personal = false },
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
			env:  []string{"VBOT_TOKEN="},
			code: 5,
		},
		{
			name: "whoami-several",
			args: []string{"whoami"},
			file: `{"token":"` + cloudtest.Token + `"}`,
			set:  func(s *cloudtest.Fake) { s.Orgs = []string{"acme", "beta"} },
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
			code: 5, golden: "list.txt",
		},
		{
			name: "whoami-malformed-not-needed",
			args: []string{"whoami"},
			file: `nonsense`,
			env:  []string{"VBOT_TOKEN=" + cloudtest.Token, "VBOT_ORGANIZATION=acme"},
			want: []string{"GET /v1/organizations"},
			code: 0,
		},
		{name: "logout", args: []string{"logout"}, file: both, code: 0, golden: "logout.txt"},
		{name: "logout-json", args: []string{"logout", "--json"}, file: both, code: 0, golden: "logout.txt"},
		{name: "logout-again", args: []string{"logout", "--json"}, code: 0, golden: "logout.txt"},
		{
			name: "logout-malformed",
			args: []string{"logout"},
			file: "nonsense",
			env:  []string{"VBOT_TOKEN=x"},
			code: 2, golden: "logout.txt",
		},
	}
}

func TestWhoamiAndLogoutTranscripts(t *testing.T) {
	parallel(t)

	for _, c := range whoamiCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Expect(c.want...)
			if c.set != nil {
				c.set(s)
			}
			path := filepath.Join(t.TempDir(), "none.json")
			if c.file != "" {
				path = storedConfig(t, strings.Replace(c.file, `"}`, `","api_url":"`+s.URL+`"}`, 1))
			}
			r := inProcess{
				dir: "/nowhere",
				env: append([]string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + path}, c.env...),
			}.vbot(t, append([]string{"cloud"}, c.args...)...)
			r.wantCode(t, c.code)
			got := withoutDir(string(transcriptOn(s, r)), filepath.Dir(path))
			section(t, "cloud/"+cmp.Or(c.golden, "whoami.txt"), c.name, []byte(got))
			if _, err := os.Stat(path); c.args[0] == "logout" && c.code == 0 && err == nil {
				t.Error("the file is still there")
			}
		})
	}
}

// The default is the user's configuration directory. login repairs modes that give others access,
// of the file and of vbot's own directory.
func TestSettingsAreClosedToOthers(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" {
		skip(t, "it has no such modes")
	}
	s := cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations", "GET ~/secrets",
		"GET /v1/organizations", "GET ~/secrets")
	home := t.TempDir()
	env := []string{"VBOT_API_URL=" + s.URL, "XDG_CONFIG_HOME=" + filepath.Join(home, "cfg"), "HOME=" + home}
	subprocess{env: env, stdin: cloudtest.Token}.vbot(t, home, "cloud", "login").wantCode(t, 0)
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
	subprocess{env: env}.vbot(t, home, "cloud", "secrets", "list", "--json").wantCode(t, 0)
	for _, mode := range []fs.FileMode{0o644, 0o660, 0o602} {
		os.Chmod(file, mode)
		r := subprocess{env: env}.vbot(t, home, "cloud", "secrets", "list", "--json")
		r.wantCode(t, 2)
		const want = "other users have access to the token in it (mode %04o); run chmod 600 on it"
		if !strings.Contains(r.stderr, fmt.Sprintf(want, mode)) {
			t.Errorf("it said %q", r.stderr)
		}
	}
	// A new login makes a new file.
	subprocess{env: env, stdin: cloudtest.Token}.vbot(t, home, "cloud", "login").wantCode(t, 0)
	subprocess{env: env}.vbot(t, home, "cloud", "secrets", "list", "--json").wantCode(t, 0)
}

// A token that another user planted is not used, because they would get the secrets that are stored
// with it. A new login creates the user's own file.
func TestLoginFileOfAnotherUser(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		skip(t, "only root can give a file away")
	}
	s := cloudtest.New(t, "vbot/"+version)
	path := storedConfig(t, `{"token":"`+cloudtest.Token+`","organization":"acme","api_url":"`+s.URL+`"}`)
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + path}
	r := inProcess{env: env}.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--skip")
	r.wantCode(t, 2)
	const want = ": belongs to another user; set VBOT_CONFIG to a file of your own\n"
	if !strings.Contains(r.stderr, path+want) {
		t.Errorf("it said %s", r.stderr)
	}
	// Neither login nor logout takes it away from that user.
	for _, command := range []string{"login", "logout"} {
		r := inProcess{env: env, stdin: strings.NewReader(cloudtest.Token)}.vbot(t, "cloud", command)
		r.wantCode(t, 2)
		if _, err := os.Lstat(path); err != nil || !strings.Contains(r.stderr, "belongs to another user") {
			t.Errorf("%s: %v; it said %s", command, err, r.stderr)
		}
	}
}

// A login that cannot store the token leaves the old one, and no other file.
func TestLoginThatCannotBeStored(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations")
	dir := t.TempDir()
	filetest.Put(t, dir, "file", "in the way")
	r := inProcess{
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
	const unknown = "error: your configuration directory is unknown; set VBOT_CONFIG to a file\n"
	for args, want := range map[string]result{
		"login":  {code: 1, stderr: unknown},
		"logout": {code: 1, stderr: unknown},
		"whoami": {code: 5, stderr: "error: not signed in\nhint: set VBOT_TOKEN\n"},
	} {
		r := subprocess{env: env, stdin: cloudtest.Token}.vbot(t, dir, "cloud", args)
		if r.code != want.code || r.stderr != want.stderr {
			t.Errorf("vbot cloud %s: exit code %d, %s", args, r.code, r.stderr)
		}
	}
	if tree := filetest.Tree(t, dir); len(tree) > 0 {
		t.Errorf("it wrote %v", tree)
	}
}

// The address.

func TestAddressWithAPath(t *testing.T) {
	parallel(t)
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath()
		cloudtest.SendJSON(w, 200, map[string]any{"sets": []string{}})
	}))
	defer server.Close()
	inProcess{
		env: []string{
			"VBOT_API_URL=" + server.URL + "/pre%2Ffix/", "VBOT_TOKEN=" + cloudtest.Key, "VBOT_CONFIG=none",
		},
	}.vbot(t, "cloud", "secrets", "list").wantCode(t, 0)
	if got != "/pre%2Ffix/v1/secrets" {
		t.Errorf("it asked for %s", got)
	}
}

// No request is sent, and no question asked, before the command line is correct and the
// token is known.
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
		r := inProcess{env: env}.vbot(t, append([]string{"cloud", "secrets"}, args...)...)
		r.wantCode(t, 5)
		if !strings.Contains(r.stderr, "vbot cloud login") || !strings.Contains(r.stderr, "VBOT_TOKEN") {
			t.Errorf("vbot cloud secrets %q: %s", args, r.stderr)
		}
		r = inProcess{env: env}.vbot(t, append([]string{"cloud", "secrets"}, append(args, "--bogus")...)...)
		r.wantCode(t, 2)
	}
}

// The stored token is sent only to the address that it was checked with.
func TestStoredTokenStaysAtItsAddress(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations", "GET ~/secrets")
	s.Orgs = []string{"acme"}
	env := []string{"VBOT_API_URL=" + s.URL, "VBOT_CONFIG=" + storedConfig(t,
		`{"token":"`+cloudtest.Token+`","organization":"acme","api_url":"https://elsewhere.example"}`)}
	for _, args := range []string{"whoami", "secrets list --json"} {
		r := inProcess{env: env}.vbot(t, strings.Fields("cloud "+args)...)
		r.wantCode(t, 5)
		if !strings.Contains(r.stderr, "is not sent to "+s.URL) || !strings.Contains(r.stderr, "VBOT_TOKEN") {
			t.Errorf("it said %s", r.stderr)
		}
	}
	// VBOT_TOKEN is sent to VBOT_API_URL, which does not affect the stored organization.
	env = append(env, "VBOT_TOKEN="+cloudtest.Token)
	inProcess{env: env}.vbot(t, "cloud", "secrets", "list").wantCode(t, 0)
	// Hosts are compared without regard to case, but paths are not.
	s = cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations")
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stored, address string
		code            int
	}{{"", "HTTP://LocalHost:" + port, 0}, {"/a", "http://localhost:" + port + "/A", 5}} {
		path := storedConfig(t,
			`{"token":"`+cloudtest.Token+`","api_url":"http://localhost:`+port+c.stored+`"}`)
		env := []string{"VBOT_API_URL=" + c.address, "VBOT_CONFIG=" + path}
		inProcess{env: env}.vbot(t, "cloud", "whoami").
			wantCode(t, c.code)
	}
}

// A file that vbot did not write is neither removed nor replaced, and keeps its mode.
func TestForeignConfigFiles(t *testing.T) {
	parallel(t)
	const ours = `{"token":"` + cloudtest.Token + `","organization":"acme","api_url":"https://api.example"}`
	for name, text := range map[string]string{
		"other JSON":     `{"name":"app","version":"1.0.0"}`,
		"no address":     `{"token":"x","organization":"acme"}`,
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
				r := inProcess{env: env, stdin: strings.NewReader(cloudtest.Token)}.vbot(t,
					strings.Fields("cloud "+args)...)
				r.wantCode(t, 2)
				if args == "logout --json" && !strings.Contains(r.stdout, `"code": "invalid_config"`) {
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

// A token is one line, with any line end.
func TestSeveralLinesOnStdin(t *testing.T) {
	parallel(t)
	for _, token := range []string{"sk_a\nsk_b", "sk_a\rsk_b"} {
		r := subprocess{stdin: token}.vbot(t, t.TempDir(), "cloud", "login")
		if r.wantCode(t, 2); !strings.Contains(r.stderr, "expected one line on stdin") ||
			strings.Contains(r.stderr, "sk_") {
			t.Errorf("%q: it said %s", token, r.stderr)
		}
	}
}

// PowerShell and Windows editors put a byte-order mark in front of a text.
func TestByteOrderMarkOnStdin(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect(
		"GET ~/secrets", "PUT ~/secrets/reg", "GET /v1/organizations")
	inProcess{env: s.Env(), stdin: strings.NewReader("\ufeffbob:t0k\r\n")}.vbot(t, "cloud", "secrets",
		"image-pull-secret", "reg", "ghcr.io").wantCode(t, 0)
	if got := s.Values("reg")["value"]; got != "Ym9iOnQwaw==" {
		t.Errorf("stored %q", got)
	}
	inProcess{env: s.Env(), stdin: strings.NewReader("\ufeff" + cloudtest.Token)}.vbot(t, "cloud", "login").
		wantCode(t, 0)
	inProcess{env: s.Env(), stdin: strings.NewReader("\ufeff\n")}.vbot(t, "cloud", "login").wantCode(t, 2)
}
