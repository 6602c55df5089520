package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vbot/internal/cloudtest"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// writeTokenFile writes a login file of this user, which nobody else can access, and returns its name.
func writeTokenFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A signInCase is a case of TestSignIn. FILE is the name of the login file.
type signInCase struct {
	name         string
	env          string // "NAME=VALUE NAME=VALUE"
	organization string // of the command line
	file         string // its content; "" for none
	want         string // "TOKEN from SOURCE for ORGANIZATION at ADDRESS", or the problems
	code         string // "" if there is no failure
	notes        string
}

const badProxy = "HTTPS_PROXY: HTTPS_PROXY: must be the address of a proxy, such as " +
	"http://proxy.example.com:3128; percent-encode special characters of its user and password\n"

const segmentRule = "must be letters, digits, hyphens, dots and underscores, " +
	"and begin and end with a letter or digit"

var signInCases = []signInCase{
	{
		name: "variable", env: "VBOT_TOKEN=tok3n",
		want: "tok3n from VBOT_TOKEN for  at https://api.pipecat.daily.co",
	},
	{
		name: "variable, with all others", organization: "acme",
		env:  "VBOT_TOKEN=tok3n VBOT_ORGANIZATION=beta VBOT_API_URL=https://api.example.com/x/",
		want: "tok3n from VBOT_TOKEN for acme at https://api.example.com/x",
	},
	{
		name: "organization in a variable", env: "VBOT_TOKEN=tok3n VBOT_ORGANIZATION=beta",
		want: "tok3n from VBOT_TOKEN for beta at https://api.pipecat.daily.co",
	},
	{
		name: "file",
		file: `{"token":"st0red","organization":"acme","api_url":"https://api.pipecat.daily.co"}`,
		want: "st0red from FILE for acme at https://api.pipecat.daily.co",
	},
	{
		name: "file, but another organization", organization: "beta",
		file: `{"token":"st0red","organization":"acme","api_url":"https://api.pipecat.daily.co"}`,
		want: "st0red from FILE for beta at https://api.pipecat.daily.co",
	},
	{
		name: "organization of the file, but another token", env: "VBOT_TOKEN=tok3n",
		file: `{"token":"st0red","organization":"acme","api_url":"https://api.pipecat.daily.co"}`,
		want: "tok3n from VBOT_TOKEN for acme at https://api.pipecat.daily.co",
	},
	{
		name: "file for another address", env: "VBOT_API_URL=https://api.example.com",
		file: `{"token":"st0red","api_url":"https://api.pipecat.daily.co"}`, code: report.Unauthorized,
		want: "the token in FILE is for https://api.pipecat.daily.co " +
			"and is not sent to https://api.example.com",
	},
	{
		name: "file for another address, but a token",
		env:  "VBOT_API_URL=https://api.example.com VBOT_TOKEN=tok3n",
		file: `{"token":"st0red","organization":"acme","api_url":"https://api.pipecat.daily.co"}`,
		want: "tok3n from VBOT_TOKEN for  at https://api.example.com",
	},
	{
		name: "file that is not needed", env: "VBOT_TOKEN=tok3n VBOT_ORGANIZATION=acme", file: "nonsense",
		want: "tok3n from VBOT_TOKEN for acme at https://api.pipecat.daily.co",
	},
	{
		name: "broken file beside a token", env: "VBOT_TOKEN=tok3n", file: "nonsense",
		want: "tok3n from VBOT_TOKEN for  at https://api.pipecat.daily.co",
		notes: "ignoring FILE, as the token is in VBOT_TOKEN: is not a file that `vbot cloud login` wrote; " +
			"remove it, or set VBOT_CONFIG to another file",
	},
	{
		name: "broken file", file: "nonsense", code: report.InvalidConfig,
		want: "config_file: FILE: is not a file that `vbot cloud login` wrote; " +
			"remove it, or set VBOT_CONFIG to another file",
	},
	{name: "nothing", code: report.Unauthorized, want: "not signed in"},
	{
		name: "bad token in the file", code: report.InvalidConfig,
		file: `{"token":"a b","organization":"acme","api_url":"https://api.pipecat.daily.co"}`,
		want: "config_file: the token from FILE: must not contain white space, control characters " +
			"or non-ASCII text",
	},
	{
		name: "bad token", env: "VBOT_TOKEN=$TOKEN VBOT_ORGANIZATION=acme", code: report.InvalidConfig,
		want: "VBOT_TOKEN: the token from VBOT_TOKEN: is a placeholder or in brackets; pass the value itself",
	},
	{
		name: "everything", code: report.InvalidConfig, file: "nonsense",
		env: "VBOT_API_URL=http://example.com VBOT_CA_FILE=FILE VBOT_ORGANIZATION=a/b HTTPS_PROXY=://x",
		want: "VBOT_API_URL: VBOT_API_URL: must start with https://; " +
			"http:// is allowed only for localhost and 127.0.0.1\n" +
			badProxy +
			"VBOT_CA_FILE: VBOT_CA_FILE: FILE: contains no PEM certificate\n" +
			"VBOT_ORGANIZATION: VBOT_ORGANIZATION: " + segmentRule + "\n" +
			"config_file: FILE: is not a file that `vbot cloud login` wrote; " +
			"remove it, or set VBOT_CONFIG to another file",
	},
	{
		name: "lower case, and quotes", env: "VBOT_TOKEN=tok3n https_proxy=ftp://x VBOT_ORGANIZATION='acme'",
		code: report.InvalidConfig,
		want: badProxy + "VBOT_ORGANIZATION: VBOT_ORGANIZATION: is in quotes; leave them out",
	},
}

// The token is that of the variable or of the file, which is read only if needed. The file's token goes only
// to the address that it is for.
func TestSignIn(t *testing.T) {
	for _, c := range signInCases {
		file := filepath.Join(t.TempDir(), "none.json")
		if c.file != "" {
			file = writeTokenFile(t, c.file)
		}
		env := map[string]string{"VBOT_CONFIG": file}
		for _, variable := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(variable, "=")
			env[name] = strings.ReplaceAll(value, "FILE", file)
		}
		b := newLenientClient(t)
		api, err := SignIn(b.system(env), c.organization)
		got := ""
		switch {
		case err == nil:
			got = fmt.Sprintf("%s from %s for %s at %s", api.token.Reveal(), api.TokenFrom, api.Organization,
				api.Base)
		default:
			f := report.As(err)
			got = f.Message
			for _, p := range f.Problems {
				got += p.Field + ": " + p.Line() + "\n"
			}
			if f.Code != c.code {
				t.Errorf("%s: the code is %s", c.name, f.Code)
			}
			if f.Code == report.Unauthorized && f.Hint != "run `vbot cloud login` or set VBOT_TOKEN" {
				t.Errorf("%s: the hint is %s", c.name, f.Hint)
			}
		}
		got = strings.ReplaceAll(strings.TrimSuffix(got, "\n"), file, "FILE")
		if got != c.want || (err == nil) != (c.code == "") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if notes := strings.ReplaceAll(strings.Join(b.notes, "\n"), file, "FILE"); notes != c.notes {
			t.Errorf("%s: it noted %s", c.name, notes)
		}
	}
}

// Line ends after the token, as in a file of Docker's secrets, do not count.
func TestTokenWithLineEnds(t *testing.T) {
	b := newLenientClient(t)
	env := map[string]string{"VBOT_TOKEN": "tok3n\r\n", "VBOT_ORGANIZATION": "acme"}
	api, err := SignIn(b.system(env), "")
	if err != nil || api.token.Reveal() != "tok3n" {
		t.Errorf("%v", err)
	}
}

// A response that repeats the token is not shown.
func TestTokenIsProtected(t *testing.T) {
	b := newLenientClient(t)
	b.api.FailNext("GET", cloudtest.Status(403, "X", "not "+cloudtest.Key))
	_, err := b.List(context.Background(), "")
	if err == nil || strings.Contains(err.Error(), cloudtest.Key) {
		t.Error(err)
	}
}

// An organizationCase is a case of TestOrganization.
type organizationCase struct {
	name     string
	token    string
	is       string // the organization, if it is known
	names    []string
	choose   Choose
	requests []string // of FindOrganization
	want     string
	code     string
	message  string
}

func organizationCases() []organizationCase {
	ask := []string{"GET /v1/organizations"}
	second := func(_ context.Context, names []string) (string, error) { return names[1], nil }
	cancelled := errors.New("cancelled")
	none := func(context.Context, []string) (string, error) { return "", cancelled }
	return []organizationCase{
		{name: "key", token: cloudtest.Key},
		{name: "known", token: cloudtest.Token, is: "acme", want: "acme"},
		{name: "one", token: cloudtest.Token, names: []string{"acme"}, requests: ask, want: "acme"},
		{
			name: "none", token: cloudtest.Token, requests: ask, code: report.NotFound,
			message: "the token belongs to no organization",
		},
		{
			name: "several", token: cloudtest.Token, names: []string{"beta", "acme"}, requests: ask,
			code: report.Usage,
			message: "--organization: the token belongs to several organizations; choose one here or in " +
				"VBOT_ORGANIZATION; allowed: acme, beta",
		},
		{
			name: "chosen", token: cloudtest.Token, names: []string{"beta", "acme"}, choose: second,
			requests: ask, want: "beta",
		},
		{
			name: "not chosen", token: cloudtest.Token, names: []string{"beta", "acme"}, choose: none,
			requests: ask, code: report.Failed, message: "cancelled",
		},
		{
			name: "refused", token: "pcc_pat_wrong", requests: ask, code: report.Unauthorized,
			message: "listing your organizations: the API answered 401 Unauthorized: Unauthorized; " +
				"the token is not valid",
		},
	}
}

// The organization of a personal token is the only one, or somebody chooses it.
func TestOrganization(t *testing.T) {
	for _, c := range organizationCases() {
		b := newTestClient(t, c.requests...)
		b.api.Personal = true
		b.api.Orgs = c.names
		b.Use(secret.New(c.token), "")
		b.Organization = c.is
		err := b.FindOrganization(context.Background(), c.choose)
		if b.Organization != c.want || (err == nil) != (c.code == "") {
			t.Errorf("%s: %q, %v", c.name, b.Organization, err)
		}
		if err != nil && (!report.HasCode(err, c.code) || err.Error() != c.message) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Verify sends one request, which shows that the token is valid.
func TestVerify(t *testing.T) {
	const refused = "checking the token: the API answered 401 Unauthorized: Unauthorized; " +
		"the token is not valid"
	for _, c := range []struct {
		name, token, organization string
		requests                  []string
		code, message             string
	}{
		{name: "key", token: cloudtest.Key, requests: []string{"GET /v1/secrets"}},
		{
			name: "key for an organization", token: cloudtest.Key, organization: "acme",
			requests: []string{"GET ~/secrets"},
		},
		{name: "person", token: cloudtest.Token, requests: []string{"GET /v1/organizations"}},
		{
			name: "person in an organization", token: cloudtest.Token, organization: "acme",
			requests: []string{"GET /v1/organizations"},
		},
		{
			name: "another organization", token: cloudtest.Token, organization: "beta",
			requests: []string{"GET /v1/organizations"}, code: report.NotFound,
			message: "--organization: the token does not belong to beta; allowed: acme",
		},
		{
			name: "wrong key", token: "wrong", code: report.Unauthorized,
			requests: []string{"GET /v1/secrets"},
			message:  refused,
		},
		{
			name: "wrong token", token: "pcc_pat_x", organization: "acme", code: report.Unauthorized,
			requests: []string{"GET /v1/organizations"},
			message:  refused,
		},
	} {
		b := newTestClient(t, c.requests...)
		b.api.Personal = strings.HasPrefix(c.token, "pcc_pat_")
		b.Use(secret.New(c.token), "")
		b.Organization = c.organization
		err := b.Verify(context.Background(), nil)
		if c.code == "" && err == nil {
			continue
		}
		if !report.HasCode(err, c.code) || err.Error() != c.message {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The login file is that of VBOT_CONFIG, or in the user's configuration directory.
func TestFindLoginFile(t *testing.T) {
	b := newLenientClient(t)
	d := b.system(map[string]string{"VBOT_CONFIG": "x.json"})
	d.Dir = "/folder"
	if f, err := FindTokenFile(d); err != nil || f.Path != "/folder/x.json" {
		t.Errorf("%+v, %v", f, err)
	}
	if runtime.GOOS != "linux" {
		return // the variables are others
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	f, err := FindTokenFile(b.system(nil))
	if err != nil || f.Path != filepath.Join(dir, "vbot", "config.json") {
		t.Errorf("%+v, %v", f, err)
	}
	for _, home := range []string{"", "relative"} {
		t.Setenv("XDG_CONFIG_HOME", "")
		t.Setenv("HOME", home)
		_, err := FindTokenFile(b.system(nil))
		if !report.HasCode(err, report.IO) ||
			err.Error() != "your configuration directory is unknown; set VBOT_CONFIG to a file" {
			t.Errorf("HOME=%s: %v", home, err)
		}
		// Without a place for the file, the variable is enough; otherwise nobody is signed in.
		if api, err := SignIn(b.system(map[string]string{"VBOT_TOKEN": "tok3n"}), ""); err != nil ||
			api.token.Reveal() != "tok3n" {
			t.Errorf("HOME=%s: %v", home, err)
		}
		if _, err := SignIn(b.system(nil), ""); !report.HasCode(err, report.Unauthorized) ||
			report.As(err).Hint != "set VBOT_TOKEN" {
			t.Errorf("HOME=%s: %v", home, err)
		}
	}
}
