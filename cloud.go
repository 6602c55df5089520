package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode"

	"vbot/internal/tty"
)

// The cloud is Pipecat Cloud; its API is described in its openapi.json.
const apiAddress = "https://api.pipecat.daily.co"

// personalToken begins the tokens that stand for a person, who may belong to
// several organizations. A private API key belongs to one.
const personalToken = "pcc_pat_"

const (
	maxTries    = 4
	firstPause  = 500 * time.Millisecond // doubled for each further try
	tryTimeout  = 30 * time.Second       // for one request with its answer
	callTimeout = 2 * time.Minute        // for a request with all its tries
	maxAnswer   = 8 << 20                // bytes; a listing of 200 sets has 30,000
	maxMessage  = 500                    // runes of the API's text that are shown
	maxSettings = 64 << 10
	maxToken    = 16 << 10
)

const helpCloud = `Sign in to Pipecat Cloud and manage secrets.

Usage: vbot cloud COMMAND [ARGUMENTS] [OPTIONS]

Commands:
  login      store a token and the organization to work in
  logout     remove them
  whoami     show the organization, the API's address and where the token is from
  secrets    list, set, unset and delete secrets

Options:
      --json    answer with one JSON object on stdout
  -h, --help    print this help

Environment:
  VBOT_TOKEN           token; comes before the one that login stored
  VBOT_ORGANIZATION    organization; comes before the one that login stored
  VBOT_CONFIG          file for what login stores
                       (default: vbot/config.json in your config directory)
  VBOT_API_URL         address of the API (default: ` + apiAddress + `)
  VBOT_CA_FILE         PEM file of authorities to trust besides the system's
  HTTPS_PROXY, NO_PROXY
                       proxy for requests, and hosts to reach without it

Examples:
  vbot cloud login
  vbot cloud secrets list
`

const helpLogin = `Store a token and the organization to work in.

Usage: vbot cloud login [OPTIONS]

The token is a personal access token (pcc_pat_...) or a private API key of Pipecat
Cloud. It is asked for and not shown; when stdin is no terminal, its first line is
the token. It is checked with the API before it is stored, in a file that only you
can read.

Options:
  -o, --organization ORG    organization to work in
                            (default: the token's only one, else it is asked for)
      --no-input            never ask
      --json                report as JSON on stdout
  -h, --help                print this help

Examples:
  vbot cloud login
  vbot cloud login --organization acme < token.txt
`

const helpLogout = `Remove the stored token and organization.

Usage: vbot cloud logout [OPTIONS]

Options:
      --json    report as JSON on stdout
  -h, --help    print this help

Examples:
  vbot cloud logout
`

const helpWhoami = `Show the organization, the API's address and where the token is from.

Usage: vbot cloud whoami [OPTIONS]

The token is checked with the API, and never shown.

Options:
  -o, --organization ORG    organization to ask about (default: the current one)
      --json                answer with one JSON object
  -h, --help                print this help

Examples:
  vbot cloud whoami
  vbot cloud whoami --json
`

// Signing in.

// A target is what --organization and --region said; nil is "not given".
type target struct {
	org    *string
	region *string
}

func (t *target) orgFlag(inv *invocation) {
	textFlag(inv.set, func(s string) { t.org = &s }, "organization", "o")
}

func (t *target) regionFlag(inv *invocation) {
	textFlag(inv.set, func(s string) { t.region = &s }, "region", "r")
}

// problems checks both before anything else is done.
func (t *target) problems() (problems []problem) {
	if t.org != nil && !isSegment(*t.org) {
		problems = append(problems, problem{Field: "organization", where: "--organization", Message: segmentRule})
	}
	if t.region != nil && !isSegment(*t.region) {
		problems = append(problems, problem{Field: "region", where: "--region", Message: segmentRule})
	}
	return problems
}

// regionGiven is the region that was asked for, or "".
func (t *target) regionGiven() string {
	if t.region == nil {
		return ""
	}
	return *t.region
}

// isSegment says whether s looks like an organization or a region. Anything else
// could lead to another path of the API, however well it is escaped: servers and
// proxies in between may undo that.
func isSegment(s string) bool { return isName(s, 128, "._-") }

const segmentRule = "is not a name: letters, digits and inner hyphens, dots and underscores"

// signIn makes the client, without a request: the API's address, the token and,
// as far as it is known, the organization.
func signIn(a *app, t target) (*client, error) {
	c, problems := newClient(a)
	token, from := a.getenv("VBOT_TOKEN"), "VBOT_TOKEN"
	token = strings.TrimRight(token, "\r\n")
	org := cmp.Or(deref(t.org), a.getenv("VBOT_ORGANIZATION"))
	if t.org == nil && org != "" && !isSegment(org) {
		problems = append(problems, problem{Field: "VBOT_ORGANIZATION", where: "VBOT_ORGANIZATION", Message: segmentRule})
	}
	// A broken file is in nobody's way who does not need it.
	if token == "" || org == "" {
		path, err := settingsPath(a)
		if err != nil {
			path = ""
		}
		stored, wrong := readSettings(a, path)
		problems = append(problems, wrong...)
		if token == "" {
			token, from = stored.Token, path
		}
		org = cmp.Or(org, stored.Organization)
	}
	if token != "" && !isToken(token) {
		problems = append(problems, problem{Field: "token", where: "the token from " + from, Message: tokenRule})
	}
	if len(problems) > 0 {
		return nil, &failure{Code: codeInvalidConfig, Problems: problems}
	}
	if token == "" {
		return nil, &failure{Code: codeUnauthorized, Message: "not signed in; " + howToSignIn}
	}
	c.use(newSecret(token), from, org)
	return c, nil
}

const howToSignIn = "sign in with `vbot cloud login`, or set VBOT_TOKEN"

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// isToken says whether s fits in a header, and is not empty.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

const tokenRule = "it holds white space, control characters or letters that no token has"

// findOrganization asks the API for the organization if a personal token has to
// say which one and nothing does.
func (c *client) findOrganization(ctx context.Context) error {
	if c.org != "" || !strings.HasPrefix(c.token.reveal(), personalToken) {
		return nil
	}
	names, err := c.organizations(ctx)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return severalOrganizations(names)
	}
	c.org = names[0]
	return nil
}

// connect signs in for a command that works in one organization, and finds out
// which that is.
func connect(ctx context.Context, a *app, t target) (*client, error) {
	c, err := signIn(a, t)
	if err != nil {
		return nil, err
	}
	return c, c.findOrganization(ctx)
}

func severalOrganizations(names []string) error {
	if len(names) == 0 {
		return &failure{Code: codeNotFound, Message: "the token belongs to no organization"}
	}
	return &failure{Code: codeUsage, Problems: []problem{{Field: "organization", where: "--organization",
		Message: "the token belongs to several organizations; say which, here or in VBOT_ORGANIZATION", Allowed: names}}}
}

// orgLabel names the organization for people.
func (c *client) orgLabel() string {
	if c.org == "" {
		return "the API key's organization"
	}
	return "organization " + c.org
}

// verify asks the API whether the token is good for the organization.
func (c *client) verify(ctx context.Context) error {
	if !strings.HasPrefix(c.token.reveal(), personalToken) {
		_, err := c.list(ctx, "")
		return err
	}
	names, err := c.organizations(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, c.org) {
		return &failure{Code: codeNotFound, Problems: []problem{{Field: "organization", where: "--organization",
			Message: fmt.Sprintf("the token does not belong to %s", c.org), Allowed: names}}}
	}
	return nil
}

// Settings: what login stores.

type settings struct {
	Token        string `json:"token"`
	Organization string `json:"organization,omitempty"`
}

// settingsPath is where the settings are.
func settingsPath(a *app) (string, error) {
	if path := a.getenv("VBOT_CONFIG"); path != "" {
		return absolute(a.dir, path), nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", &failure{Code: codeIO, Message: "your config directory cannot be found: " + err.Error() + "; VBOT_CONFIG can name a file", err: err}
	}
	return filepath.Join(dir, "vbot", "config.json"), nil
}

// readSettings reads the file at path; what is missing is empty.
func readSettings(a *app, path string) (settings, []problem) {
	wrong := func(format string, args ...any) (settings, []problem) {
		return settings{}, []problem{{Field: "config_file", where: path, Message: fmt.Sprintf(format, args...)}}
	}
	f, err := os.Open(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	if err != nil {
		return wrong("%v", rootCause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return wrong("%v", rootCause(err))
	}
	var s *settings
	// The decoder's own words may quote the file, and so the token.
	if len(data) > maxSettings || json.Unmarshal(data, &s) != nil || s == nil ||
		s.Organization != "" && !isSegment(s.Organization) {
		return wrong("is not what `vbot cloud login` writes; signing in again writes it anew")
	}
	s.Token = strings.TrimRight(s.Token, "\r\n")
	closeToOthers(a, path, 0o600)
	if a.getenv("VBOT_CONFIG") == "" {
		closeToOthers(a, filepath.Dir(path), 0o700) // it is ours alone
	}
	return *s, nil
}

// closeToOthers takes away what others may do with the file or directory.
func closeToOthers(a *app, path string, mode fs.FileMode) {
	info, err := os.Stat(path)
	if runtime.GOOS == "windows" || err != nil || info.Mode().Perm()&^mode == 0 {
		return
	}
	if err := os.Chmod(path, mode); err != nil {
		a.note("warning: others can read %s, and this cannot be changed: %v", path, rootCause(err))
		return
	}
	a.note("%s was open to others; its mode is %04o now", path, mode)
}

// write stores the settings at path: beside it, then by renaming.
func (s settings) write(a *app, path string) (err error) {
	defer func() {
		if err != nil {
			err = ioFailure("storing the token in "+path, err)
		}
	}()
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if a.getenv("VBOT_CONFIG") == "" {
		closeToOthers(a, dir, 0o700)
	}
	f, err := os.CreateTemp(dir, ".config-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // in vain once it is renamed
	err = writeJSON(f, s)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// login, logout, whoami.

func setupLogin(inv *invocation) runFunc {
	var t target
	var noInput bool
	t.orgFlag(inv)
	boolFlag(inv.set, &noInput, "no-input")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		if problems := append(noArguments(args), t.problems()...); len(problems) > 0 {
			return &failure{Code: codeUsage, Problems: problems}
		}
		return login(ctx, a, t, noInput, inv.json)
	}
}

// noArguments says so if there are any. It does not repeat them: a token may be
// among them.
func noArguments(args []string) []problem {
	if len(args) == 0 {
		return nil
	}
	return []problem{{Field: "arguments", Message: "takes no arguments, and got " + strconv.Itoa(len(args))}}
}

func login(ctx context.Context, a *app, t target, noInput, asJSON bool) error {
	path, err := settingsPath(a)
	if err != nil {
		return err
	}
	c, problems := newClient(a)
	org := cmp.Or(deref(t.org), a.getenv("VBOT_ORGANIZATION"))
	if t.org == nil && org != "" && !isSegment(org) {
		problems = append(problems, problem{Field: "VBOT_ORGANIZATION", where: "VBOT_ORGANIZATION", Message: segmentRule})
	}
	if len(problems) > 0 {
		return &failure{Code: codeInvalidConfig, Problems: problems}
	}
	token, err := secretLine(ctx, a, noInput, "token", "Token (not shown):", maxToken)
	if err != nil {
		return err
	}
	if !isToken(token.reveal()) {
		message := tokenRule
		if token.empty() {
			message = "is missing"
		}
		return &failure{Code: codeInvalidConfig, Problems: []problem{{Field: "token", where: "token", Message: message}}}
	}
	c.use(token, "", org)
	if err := c.chooseOrganization(ctx, a, noInput); err != nil {
		return err
	}
	if err := (settings{token.reveal(), c.org}).write(a, path); err != nil {
		return err
	}
	a.note("signed in to %s; the token is in %s", c.orgLabel(), path)
	if a.getenv("VBOT_TOKEN") != "" {
		a.note("VBOT_TOKEN is set, and comes before it")
	}
	if asJSON {
		return writeJSON(a.stdout, struct {
			Organization orNull `json:"organization"`
			APIURL       string `json:"api_url"`
			ConfigFile   string `json:"config_file"`
		}{orNull(c.org), c.base.String(), path})
	}
	return nil
}

// chooseOrganization checks the token with the API, and finds the organization to
// store beside it.
func (c *client) chooseOrganization(ctx context.Context, a *app, noInput bool) error {
	if c.org != "" || !strings.HasPrefix(c.token.reveal(), personalToken) {
		return c.verify(ctx)
	}
	names, err := c.organizations(ctx)
	if err != nil {
		return err
	}
	if len(names) == 1 {
		c.org = names[0]
		return nil
	}
	if len(names) == 0 || noInput || !canAsk(a) {
		return severalOrganizations(names)
	}
	p, err := a.prompter()
	if err != nil {
		return err
	}
	var choices []choice
	for _, name := range names {
		choices = append(choices, choice{label: printable(name)})
	}
	i, err := p.choose(ctx, "Organization to work in", choices, 0)
	if err != nil {
		return err
	}
	c.org = names[i]
	return nil
}

// secretLine reads a line that is not shown: from the terminal, or else from
// stdin. field is what the line is for.
func secretLine(ctx context.Context, a *app, noInput bool, field, question string, limit int) (secret, error) {
	if canAsk(a) && !noInput {
		return hidden(ctx, a, question)
	}
	wrong := func(message string) (secret, error) {
		return secret{}, &failure{Code: codeUsage, Problems: []problem{{Field: field, where: field, Message: message}}}
	}
	if tty.IsTerminal(a.stdin) {
		return wrong("is missing, and nobody can be asked; give it on stdin")
	}
	text, err := interruptible(ctx, func() (string, error) {
		return bufio.NewReader(io.LimitReader(a.stdin, int64(limit)+1)).ReadString('\n')
	})
	if f, ok := errors.AsType[*failure](err); ok {
		return secret{}, f
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return secret{}, fmt.Errorf("reading stdin: %w", rootCause(err))
	}
	if len(text) > limit {
		return wrong(fmt.Sprintf("the line on stdin is longer than %d bytes", limit))
	}
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return wrong("is missing: stdin holds no line")
	}
	return newSecret(text), nil
}

func setupLogout(*invocation) runFunc {
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		if problems := noArguments(args); problems != nil {
			return &failure{Code: codeUsage, Problems: problems}
		}
		path, err := settingsPath(a)
		if err != nil {
			return err
		}
		err = os.Remove(path)
		removed := err == nil
		if err := ignoreMissing(err); err != nil {
			return ioFailure("removing "+path, err)
		}
		if removed {
			a.note("signed out: %s is removed", path)
		} else {
			a.note("nothing to do: there is no %s", path)
		}
		if a.getenv("VBOT_TOKEN") != "" {
			a.note("VBOT_TOKEN is set, and still signs you in")
		}
		if inv.json {
			return writeJSON(a.stdout, struct {
				Removed    bool   `json:"removed"`
				ConfigFile string `json:"config_file"`
			}{removed, path})
		}
		return nil
	}
}

func setupWhoami(inv *invocation) runFunc {
	var t target
	t.orgFlag(inv)
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		if problems := append(noArguments(args), t.problems()...); len(problems) > 0 {
			return &failure{Code: codeUsage, Problems: problems}
		}
		c, err := signIn(a, t)
		if err != nil {
			return err
		}
		if c.org == "" {
			err = c.findOrganization(ctx)
		}
		if err == nil && !c.asked {
			err = c.verify(ctx)
		}
		if err != nil {
			return err
		}
		if inv.json {
			return writeJSON(a.stdout, struct {
				Organization orNull `json:"organization"`
				APIURL       string `json:"api_url"`
				TokenFrom    string `json:"token_from"`
			}{orNull(c.org), c.base.String(), c.tokenFrom})
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "Organization:\t%s\nAPI:\t%s\nToken from:\t%s\n",
			cmp.Or(c.org, "the one that the API key belongs to"), printable(c.base.String()), printable(c.tokenFrom))
		return w.Flush()
	}
}

// The client.

// A client speaks with the API for one token.
type client struct {
	app         *app
	base        *url.URL
	token       secret
	tokenFrom   string // VBOT_TOKEN, or the file
	org         string // "" for a key that belongs to one
	http        *http.Client
	tryTimeout  time.Duration
	callTimeout time.Duration
	hide        []secret // what the API's words are cleaned of
	asked       bool     // the API has accepted the token
}

// newClient makes a client for the API that the environment names.
func newClient(a *app) (*client, []problem) {
	var problems []problem
	base, message := parseAddress(cmp.Or(a.getenv("VBOT_API_URL"), apiAddress))
	if message != "" {
		problems = append(problems, problem{Field: "VBOT_API_URL", where: "VBOT_API_URL", Message: message})
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK {
				return proxyError(resp.StatusCode)
			}
			return nil
		},
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
	}
	if name := a.getenv("VBOT_CA_FILE"); name != "" {
		pool, err := authorities(absolute(a.dir, name))
		if err != nil {
			problems = append(problems, problem{Field: "VBOT_CA_FILE", where: "VBOT_CA_FILE", Message: err.Error()})
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	// net/http logs there what GODEBUG=http2debug=2 asks for, values and all, and
	// bytes that a server sends unasked.
	log.SetOutput(io.Discard)
	return &client{app: a, base: base, tryTimeout: tryTimeout, callTimeout: callTimeout, http: &http.Client{
		Transport: transport,
		// A redirect would carry the values elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, problems
}

// use makes the client speak for token.
func (c *client) use(token secret, from, org string) {
	c.token, c.tokenFrom, c.org = token, from, org
	c.hide = append(c.hide, token)
}

// clean makes the API's words fit to be shown: one line, of bounded length, and
// without anything that was sent to be kept secret.
func (c *client) clean(s string) string {
	var words []string
	for _, h := range c.hide {
		value := strings.TrimSpace(h.reveal())
		if value == "" {
			continue
		}
		quoted, _ := json.Marshal(value)
		words = append(words, value, strings.Trim(string(quoted), `"`), base64.StdEncoding.EncodeToString([]byte(value)), url.QueryEscape(value))
		// What is longer than the text may have been cut to fit in it; and a part may
		// be all that is recognizable, when the text was quoted twice.
		for _, run := range longRuns(s) {
			if strings.Contains(value, run) {
				words = append(words, run)
			}
		}
		if len(value) < 2*len(s) {
			words = append(words, longRuns(value)...)
		}
	}
	// Of two that overlap the longer one goes first.
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, w := range words {
		s = hideWord(s, w)
	}
	s = oneLine(s)
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "..."
	}
	return s
}

// longRuns are the letters and digits in s that stand together, 6 or more.
func longRuns(s string) []string {
	runs := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(runs, func(run string) bool { return len(run) < 6 || run == "hidden" })
}

// hideWord replaces word in s. One of up to 3 bytes is replaced only where it
// stands alone: it would be found in half of all words.
func hideWord(s, word string) string {
	var b strings.Builder
	inWord := func(i int) bool {
		return i >= 0 && i < len(s) && (s[i] >= 0x80 || unicode.IsLetter(rune(s[i])) || unicode.IsDigit(rune(s[i])))
	}
	at := 0
	for {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return b.String() + s[at:]
		}
		start, end := at+i, at+i+len(word)
		b.WriteString(s[at:start])
		if len(word) <= 3 && (inWord(start-1) || inWord(end)) {
			b.WriteString(word)
		} else {
			b.WriteString("[hidden]")
		}
		at = end
	}
}

// oneLine is s with its line ends and tabs as spaces, and printable.
func oneLine(s string) string {
	return strings.TrimSpace(printable(strings.Join(strings.Fields(s), " ")))
}

// parseAddress reads the address of the API, or says what is wrong with it. It
// does not repeat it, for it may hold a password.
func parseAddress(s string) (*url.URL, string) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return nil, "is not an address such as " + apiAddress
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, "is an address with a user, a query or a fragment, and takes none"
	}
	ip := net.ParseIP(u.Hostname())
	loopback := strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil, "must begin with https://; http:// is for this machine only (localhost, 127.0.0.1)"
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, ""
}

// A proxyError is the HTTP status with which a proxy refused to go on.
type proxyError int

func (e proxyError) Error() string {
	return fmt.Sprintf("the proxy refuses to connect: %d %s", int(e), http.StatusText(int(e)))
}

// authorities are the system's, and those in the file.
func authorities(name string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, rootCause(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: holds no certificate in PEM form", name)
	}
	return pool, nil
}

// A request is one call of the API.
type request struct {
	doing  string // what a person would say: "listing secrets"
	method string
	path   []string // below /v1
	query  url.Values
	body   any
}

// A shape is what a JSON answer is read into. Its check finds what is missing.
type shape interface{ check() error }

// An apiError is a request that did not succeed.
type apiError struct {
	doing   string
	code    string // of the JSON contract
	status  int    // of HTTP; 0 if there was no answer
	message string // what was wrong, fit to be shown
	tries   int
	unsure  bool // a request may have done its work all the same
	again   bool // another try may succeed
	after   time.Duration
	err     error
}

func (e *apiError) Unwrap() error { return e.err }

func (e *apiError) Error() string {
	s := e.doing + ": " + e.message
	if e.tries > 1 {
		s += fmt.Sprintf(" (tried %d times)", e.tries)
	}
	if e.unsure {
		s += "; it is not known whether it was done, and it can be repeated safely"
	}
	return s
}

// Code is the word of the JSON contract.
func (e *apiError) Code() string { return e.code }

// asAPI finds the API's error in err's chain, or nil.
func asAPI(err error) *apiError {
	e, _ := errors.AsType[*apiError](err)
	return e
}

// notFound says whether the API answered that what was asked for is not there.
func notFound(err error) bool {
	e := asAPI(err)
	return e != nil && e.code == codeNotFound
}

// badRequest says whether the API did not take the request for what it is.
func badRequest(err error) bool {
	e := asAPI(err)
	return e != nil && (e.status == http.StatusBadRequest || e.status == http.StatusUnprocessableEntity)
}

// do sends the request, again if need be, and reads the answer into into. Every
// request here can be repeated safely: it sets or removes, and never adds.
func (c *client) do(ctx context.Context, r request, into shape) error {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return err
		}
	}
	began := c.app.now()
	all, cancel := context.WithTimeout(ctx, c.callTimeout)
	defer cancel()
	unsure := false
	for try := 1; ; try++ {
		e := c.try(all, r, body, into)
		if e == nil {
			c.asked = true
			return nil
		}
		unsure = (unsure || e.unsure) && r.method != http.MethodGet
		e.doing, e.tries, e.unsure = r.doing, try, unsure
		if ctx.Err() != nil {
			if !unsure {
				return interrupted()
			}
			e.code, e.message, e.err = codeInterrupted, "interrupted", ctx.Err()
			return e
		}
		if !e.again || try == maxTries || all.Err() != nil {
			return e
		}
		pause := firstPause << (try - 1)
		pause = pause/2 + time.Duration(c.app.random()*float64(pause/2))
		if e.after > 0 {
			pause += e.after
		}
		if pause > c.callTimeout-c.app.now().Sub(began) {
			e.message += fmt.Sprintf("; the API asks to wait %v, which is too long", e.after)
			return e
		}
		in := ""
		if e.after > 0 {
			in = fmt.Sprintf(" in %v", pause.Round(time.Second))
		}
		c.app.note("%s: %s; trying again%s (%d of %d)", e.doing, e.message, in, try+1, maxTries)
		if c.app.pause(all, pause) != nil && ctx.Err() != nil {
			e.code, e.message, e.err = codeInterrupted, "interrupted", ctx.Err()
			if !unsure {
				return interrupted()
			}
			return e
		}
	}
}

// try sends the request once.
func (c *client) try(ctx context.Context, r request, body []byte, into shape) *apiError {
	ctx, cancel := context.WithTimeout(ctx, c.tryTimeout)
	defer cancel()
	u := *c.base
	for _, segment := range append([]string{"v1"}, r.path...) {
		if segment == "" || segment == "." || segment == ".." {
			return &apiError{code: codeFailed, message: "a part of the address is empty or leads elsewhere"}
		}
		u.RawPath = u.EscapedPath() + "/" + url.PathEscape(segment)
		u.Path += "/" + segment
	}
	u.RawQuery = r.query.Encode()
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), in)
	if err != nil {
		return &apiError{code: codeFailed, message: "the request cannot be made"}
	}
	req.Header.Set("Authorization", "Bearer "+c.token.reveal())
	req.Header.Set("User-Agent", "vbot/"+version)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.noAnswer(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.noAnswer(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.refusal(resp, data)
	}
	if resp.StatusCode == http.StatusNoContent && r.method == http.MethodDelete {
		return nil
	}
	unreadable := func(what string) *apiError {
		return &apiError{code: codeFailed, status: resp.StatusCode, unsure: true,
			message: fmt.Sprintf("the answer (%d) is %s, not what the API answers", resp.StatusCode, what)}
	}
	switch {
	case len(data) > maxAnswer:
		return unreadable("longer than " + plural(maxAnswer>>20, "megabyte"))
	case len(bytes.TrimSpace(data)) == 0:
		return unreadable("empty")
	case !json.Valid(data):
		return unreadable("no JSON")
	case json.Unmarshal(data, into) != nil || into.check() != nil:
		return unreadable("JSON of another shape")
	}
	return nil
}

// noAnswer is the error of a request without a whole answer.
func (c *client) noAnswer(err error) *apiError {
	host := c.base.Host
	e := &apiError{code: codeUnavailable, err: err}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		e.message, e.again = "the host "+dns.Name+" cannot be found", !dns.IsNotFound
		return e
	}
	if refused, ok := errors.AsType[proxyError](err); ok {
		e.message = refused.Error()
		return e
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if untrusted {
		e.message = fmt.Sprintf("the certificate of %s is not trusted (%s); VBOT_CA_FILE can name further authorities", host, certificateFault(err))
		return e
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		e.message = host + " does not speak TLS"
		return e
	}
	op, _ := errors.AsType[*net.OpError](err)
	dialing := op != nil && (op.Op == "dial" || op.Op == "proxyconnect")
	e.again, e.unsure = true, !dialing
	if dialing && op.Op == "proxyconnect" {
		host = "the proxy"
	}
	errno, _ := errors.AsType[syscall.Errno](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || ok && timeout.Timeout():
		e.code, e.message = codeTimeout, "no answer from "+host+" in time"
	case dialing && errno == syscall.ECONNREFUSED:
		e.message, e.again = "nothing answers at "+host, false
	case dialing:
		e.message = host + " cannot be reached"
		if errno != 0 {
			e.message += ": " + errno.Error()
		}
	default:
		e.message = "the connection to " + host + " was lost"
		if (op == nil || op.Op == "remote error") && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			if u, ok := errors.AsType[*url.Error](err); ok {
				err = u.Err
			}
			e.message += ": " + c.clean(err.Error())
		}
	}
	return e
}

// certificateFault says in a few words why a certificate is not trusted.
func certificateFault(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "unknown authority"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "made for another host"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "expired"
	}
	return "invalid"
}

// refusal is the error of an answer that is no success.
func (c *client) refusal(resp *http.Response, data []byte) *apiError {
	e := &apiError{status: resp.StatusCode, code: codeRejected}
	var said struct{ Error, Message, Code string }
	text := ""
	if json.Unmarshal(data, &said) == nil {
		text = c.clean(cmp.Or(said.Error, said.Message))
	}
	switch s := resp.StatusCode; {
	case s >= 300 && s <= 399:
		e.code, e.unsure = codeFailed, false
		e.message = fmt.Sprintf("the API answered with a redirect (%d), which is not followed: it would carry the values elsewhere", s)
		return e
	case s == http.StatusUnauthorized:
		e.code = codeUnauthorized
	case s == http.StatusForbidden:
		e.code = codeForbidden
	case s == http.StatusNotFound && text != "":
		e.code = codeNotFound
	case s == http.StatusNotFound:
		// A page that is not there is not a set that is not there.
		e.code = codeFailed
	case s == http.StatusConflict:
		// Somebody else writes the same set; but a name that is taken by a
		// referenced secret stays taken.
		e.again = !strings.Contains(strings.ToLower(text), "referenc")
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable:
		e.code, e.again = codeUnavailable, true
	case s == http.StatusBadGateway, s == http.StatusGatewayTimeout:
		e.code, e.again, e.unsure = codeUnavailable, true, true
	case s >= 500:
		e.code, e.unsure = codeUnavailable, true
	}
	if e.again {
		e.after = retryAfter(resp.Header.Get("Retry-After"), c.app.now())
	}
	e.message = strings.TrimSpace(fmt.Sprintf("the API answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	if text != "" {
		e.message += ": " + text
	}
	if e.code == codeUnauthorized {
		from := ""
		if c.tokenFrom != "" {
			from = " from " + c.tokenFrom
		}
		e.message += "; the token" + from + " is not accepted; " + howToSignIn
	}
	return e
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Duration(min(max(n, 0), 1<<20)) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// The calls.

// below is the path of something that belongs to the organization.
func (c *client) below(segments ...string) []string {
	if c.org == "" {
		return segments
	}
	return append([]string{"organizations", c.org}, segments...)
}

// organizations are the names of those that the token belongs to, sorted.
func (c *client) organizations(ctx context.Context) (names []string, err error) {
	var got organizationList
	err = c.do(ctx, request{doing: "listing your organizations", method: http.MethodGet, path: []string{"organizations"}}, &got)
	if err != nil {
		return nil, err
	}
	for _, o := range *got.Organizations {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names, nil
}

type organizationList struct {
	Organizations *[]struct {
		Name string `json:"name"`
	} `json:"organizations"`
}

func (l *organizationList) check() error {
	if l.Organizations == nil {
		return errShape
	}
	for _, o := range *l.Organizations {
		if !isSegment(o.Name) {
			return errShape
		}
	}
	return nil
}

var errShape = errors.New("JSON of another shape")

// list is all sets and image pull secrets, sorted by name.
func (c *client) list(ctx context.Context, region string) ([]row, error) {
	r := request{doing: "listing secrets", method: http.MethodGet, path: c.below("secrets")}
	if region != "" {
		r.query = url.Values{"region": {region}}
	}
	var got secretList
	if err := c.do(ctx, r, &got); err != nil {
		return nil, err
	}
	rows := *got.Sets
	for i := range rows {
		r := &rows[i]
		r.Name, r.Type, r.Region, r.Status = oneLine(r.Name), oneLine(r.Type), oneLine(r.Region), oneLine(r.Status)
		r.Message = c.clean(r.Message)
	}
	// The API does not know the filter in every version.
	rows = slices.DeleteFunc(rows, func(r row) bool { return region != "" && r.Region != region })
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Name, b.Name) })
	return rows, nil
}

// find is the row of the listing with the name, or nil.
func (c *client) find(ctx context.Context, name string) (*row, error) {
	rows, err := c.list(ctx, "")
	if i := slices.IndexFunc(rows, func(r row) bool { return r.Name == name }); i >= 0 {
		return &rows[i], err
	}
	return nil, err
}

type secretList struct {
	Sets *[]row `json:"sets"`
}

// A row is a secret of either kind, as a listing shows it.
type row struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Region  string `json:"region"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

// The kinds of the API, and what vbot calls them.
const (
	typeSet       = "secret"
	typeImagePull = "imagePullSecret"
	kindSet       = "secret_set"
	kindImagePull = "image_pull_secret"
)

// kind is what vbot calls the row's type. One that it does not know is shown as
// it is.
func (r row) kind() string {
	switch r.Type {
	case typeSet:
		return kindSet
	case typeImagePull:
		return kindImagePull
	}
	return r.Type
}

func (l *secretList) check() error {
	if l.Sets == nil || slices.ContainsFunc(*l.Sets, func(r row) bool { return r.Name == "" }) {
		return errShape
	}
	return nil
}

// get is one secret set. For an image pull secret the API answers 400.
func (c *client) get(ctx context.Context, name string) (*secretSet, error) {
	var got secretSet
	err := c.do(ctx, request{doing: "reading secret set " + name, method: http.MethodGet, path: c.below("secrets", name)}, &got)
	if err != nil {
		return nil, err
	}
	got.Region, got.Status, got.Message = oneLine(got.Region), oneLine(got.Status), c.clean(got.Message)
	for _, s := range *got.Secrets {
		got.keys = append(got.keys, oneLine(s.FieldName))
	}
	slices.Sort(got.keys)
	return &got, nil
}

type secretSet struct {
	Region  string `json:"region"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
	Source  string `json:"source"`
	Secrets *[]struct {
		FieldName string `json:"fieldName"`
	} `json:"secrets"`
	keys []string // sorted
}

func (s *secretSet) check() error {
	if s.Secrets == nil {
		return errShape
	}
	for _, f := range *s.Secrets {
		if f.FieldName == "" {
			return errShape
		}
	}
	return nil
}

// putPairs stores all pairs in one request, which adds to the keys that are
// there. It returns the region of the set.
func (c *client) putPairs(ctx context.Context, name, region string, pairs []pair) (string, error) {
	type entry struct {
		Key   string `json:"secretKey"`
		Value string `json:"secretValue"`
	}
	body := struct {
		Secrets []entry `json:"secrets"`
		Region  string  `json:"region,omitempty"`
	}{Region: region}
	for _, p := range pairs {
		body.Secrets = append(body.Secrets, entry{p.key, p.value.reveal()})
	}
	return c.put(ctx, "storing "+plural(len(pairs), "key")+" in "+name, name, body)
}

// putPair stores one pair, in the form of the Python client, which the openapi
// description does not have.
func (c *client) putPair(ctx context.Context, name, region string, p pair) (string, error) {
	return c.put(ctx, "storing "+p.key+" in "+name, name, struct {
		Name        string `json:"name"`
		IsImagePull bool   `json:"isImagePullSecret"`
		Key         string `json:"secretKey"`
		Value       string `json:"secretValue"`
		Region      string `json:"region,omitempty"`
	}{name, false, p.key, p.value.reveal(), region})
}

// putImagePull stores an image pull secret.
func (c *client) putImagePull(ctx context.Context, name, region, host string, value secret) (string, error) {
	return c.put(ctx, "storing image pull secret "+name, name, struct {
		IsImagePull bool   `json:"isImagePullSecret"`
		Value       string `json:"secretValue"`
		Host        string `json:"host"`
		Region      string `json:"region,omitempty"`
	}{true, value.reveal(), host, region})
}

func (c *client) put(ctx context.Context, doing, name string, body any) (region string, err error) {
	var got confirmation
	err = c.do(ctx, request{doing: doing, method: http.MethodPut, path: c.below("secrets", name), body: body}, &got)
	return oneLine(got.Region), err
}

// A confirmation is what the API answers when it has stored or deleted.
type confirmation struct {
	Status string `json:"status"` // the word OK, and not the readiness
	Region string `json:"region"`
}

func (c *confirmation) check() error {
	if !strings.EqualFold(c.Status, "ok") {
		return errShape
	}
	return nil
}

// remove deletes a secret of either kind, or with a key that key of a set. The
// caller has seen it there: so if an answer is lost and the next says that it is
// not there, it is gone.
func (c *client) remove(ctx context.Context, doing string, path ...string) error {
	err := c.do(ctx, request{doing: doing, method: http.MethodDelete, path: c.below(append([]string{"secrets"}, path...)...)}, &confirmation{})
	if e := asAPI(err); notFound(err) && e.unsure {
		return nil
	}
	return err
}
