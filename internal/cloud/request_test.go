package cloud

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/system"
)

// A testClient is a client with the fake that it calls, and the messages that it prints.
type testClient struct {
	*Client
	api   *cloudtest.Fake
	notes []string
}

// newTestClient returns a client with the API's key and the fake's clock. The fake expects exactly the
// requests.
func newTestClient(t *testing.T, requests ...string) *testClient {
	t.Helper()
	return connect(t, cloudtest.New(t, "test/1").Expect(requests...))
}

// newLenientClient is newTestClient for any requests.
func newLenientClient(t *testing.T) *testClient {
	t.Helper()
	s := cloudtest.NewLenient(t, "test/1")
	t.Cleanup(s.Close)
	return connect(t, s)
}

func connect(t *testing.T, s *cloudtest.Fake) *testClient {
	t.Helper()
	b := &testClient{api: s}
	s.Personal = false
	base, err := parseAddress(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.Client = New(base, nil, b.system(nil))
	b.Use(secret.New(cloudtest.Key), "")
	return b
}

// system returns what a client needs, with these variables as its environment. Half of each pause is random.
func (b *testClient) system(env map[string]string) system.System {
	return system.System{
		Program:     "test/1",
		Getenv:      func(name string) string { return env[name] },
		Stderr:      b,
		Now:         b.api.Clock.Now,
		Pause:       b.api.Clock.Pause,
		WithTimeout: b.api.Clock.WithTimeout,
		Random:      func() float64 { return 0.5 },
	}
}

// Write collects what the client notes.
func (b *testClient) Write(note []byte) (int, error) {
	b.notes = append(b.notes, strings.TrimSuffix(string(note), "\n"))
	return len(note), nil
}

// pairs returns pairs of these keys, with the value "v4lue".
func pairs(keys ...string) (out []secret.Pair) {
	for _, key := range keys {
		out = append(out, secret.Pair{Key: key, Value: secret.New("v4lue")})
	}
	return out
}

var app = Ref{Name: "app", Type: TypeSet}

// An operation is a request of one kind.
type operation struct {
	name    string
	action  string
	method  string
	request string
	do      func(ctx context.Context, c *Client) error
}

var operations = []operation{
	{
		name: "list", action: "listing secrets", method: "GET", request: "GET /v1/secrets",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.List(ctx, "")
			return err
		},
	},
	{
		name: "get", action: "reading secret set app", method: "GET", request: "GET /v1/secrets/app",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Get(ctx, "app")
			return err
		},
	},
	{
		name: "put", action: "storing 1 key in app", method: "PUT", request: "PUT /v1/secrets/app",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.storePairs(ctx, app, pairs("A"))
			return err
		},
	},
	{
		name: "post", action: "registering team in pce-acme", method: "POST",
		request: "POST /v1/secrets/references",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Reference(ctx, "team", "pce-acme")
			return err
		},
	},
	{
		name: "regions", action: "listing regions", method: "GET", request: "GET /v1/regions",
		do: func(ctx context.Context, c *Client) error {
			_, err := c.Regions(ctx)
			return err
		},
	},
	{
		name: "image pull secret", action: "storing image pull secret reg", method: "PUT",
		request: "PUT /v1/secrets/reg",
		do: func(ctx context.Context, c *Client) error {
			reg := Ref{Name: "reg", Type: TypeImagePull}
			_, err := c.StoreImagePull(ctx, reg, "https://ghcr.io", secret.New("v4lue"))
			return err
		},
	},
	{
		name: "delete", action: "deleting app", method: "DELETE", request: "DELETE /v1/secrets/app",
		do: func(ctx context.Context, c *Client) error { return c.Remove(ctx, "deleting app", "app") },
	},
}

// Each method of the client that calls the API is among the operations, or has tests of its own.
func TestEveryMethodIsTested(t *testing.T) {
	tested := map[string]string{
		"List": "list", "Get": "get", "Reference": "post", "Regions": "regions", "Remove": "delete",
		"StoreImagePull": "image pull secret", "StoreAll": "put",

		"Find":             "TestList",
		"IsGone":           "TestRemove",
		"GetOrNew":         "TestGetOrNew",
		"WaitReady":        "TestWaitReady",
		"FindOrganization": "TestOrganization",
		"Verify":           "TestVerify",
	}
	client := reflect.TypeFor[*Client]()
	for i := range client.NumMethod() {
		m := client.Method(i)
		if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() || tested[m.Name] != "" {
			continue
		}
		t.Errorf("add %s to operations, so that it is tried with each fault of the API", m.Name)
	}
	for method, name := range tested {
		isOperation := slices.ContainsFunc(operations, func(op operation) bool { return op.name == name })
		if _, ok := client.MethodByName(method); !ok || !isOperation && !strings.HasPrefix(name, "Test") {
			t.Errorf("%s: %s is no operation", method, name)
		}
	}
}

// A responseCase is a response that is not trusted, and the failure for it.
type responseCase struct {
	name         string
	fault        cloudtest.Fault
	message      string // without what was attempted
	hint         string
	status       int
	code         string
	later        bool
	tries        int  // 0 is one
	maybeApplied bool // a request that changes something may have succeeded
}

func responseCases() []responseCase {
	status := func(code int) cloudtest.Fault { return cloudtest.Status(code, "X", "oops") }
	const (
		redirect = "; vbot does not follow it, because the token would go to another address"
		again    = "run the same command again later"
		lost     = "the connection to HOST was lost (tried 4 times)"
	)
	return []responseCase{
		{
			name: "dropped", fault: cloudtest.Drop, message: lost,
			hint: again, code: report.Unavailable, later: true, tries: 4, maybeApplied: true,
		},
		{
			name: "half", fault: cloudtest.Truncate, message: lost,
			hint: again, code: report.Unavailable, later: true, tries: 4, maybeApplied: true,
		},
		{
			name: "html", fault: cloudtest.Respond("<html>"),
			status: 200, code: report.Failed, maybeApplied: true,
			message: "unexpected answer (200): a web page; a proxy or a Wi-Fi sign-in may have sent it",
		},
		{
			name: "empty", fault: cloudtest.Respond(""), status: 200, code: report.Failed, maybeApplied: true,
			message: "unexpected answer (200): empty",
		},
		{
			name: "trailing", fault: cloudtest.Respond(`{"status":"OK","sets":[]} x`), status: 200,
			code: report.Failed, maybeApplied: true, message: "unexpected answer (200): not JSON",
		},
		{
			name: "huge", fault: cloudtest.Huge, status: 200, code: report.Failed, maybeApplied: true,
			message: "unexpected answer (200): longer than 2 megabytes",
		},
		{
			name: "204", status: 204, code: report.Failed, maybeApplied: true,
			fault: func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
				w.WriteHeader(204)
			},
			message: "unexpected answer (204): empty",
		},
		{
			name: "101", fault: cloudtest.OnlyInformational(101),
			status: 101, code: report.Failed, maybeApplied: true,
			message: "unexpected answer (101): not a final status",
		},
		{
			name: "102", fault: cloudtest.OnlyInformational(102),
			status: 102, code: report.Failed, maybeApplied: true,
			message: "unexpected answer (102): not a final status",
		},
		{
			name: "nine times 103", fault: cloudtest.Informational(slices.Repeat([]int{103}, 9)...),
			status: 103,
			code:   report.Failed, maybeApplied: true, message: "unexpected answer (103): not a final status",
		},
		{
			name: "300", fault: status(300), status: 300, code: report.Failed, hint: "check VBOT_API_URL",
			message: "the API answered with a redirect (300)" + redirect,
		},
		{
			name: "302", fault: cloudtest.Status(302, "X", "x", "Location", "/"), status: 302,
			code: report.Failed, hint: "check VBOT_API_URL",
			message: "the API answered with a redirect (302)" + redirect,
		},
		{
			name: "399", fault: status(399), status: 399, code: report.Failed, hint: "check VBOT_API_URL",
			message: "the API answered with a redirect (399)" + redirect,
		},
		{
			name: "400", fault: status(400), status: 400, code: report.Rejected,
			message: "the API answered 400 Bad Request: oops",
		},
		{
			name: "422", fault: status(422), status: 422, code: report.Rejected,
			message: "the API answered 422 Unprocessable Entity: oops",
		},
		{
			name: "413", fault: status(413), status: 413, code: report.Rejected,
			message: "the API answered 413 Request Entity Too Large: oops",
		},
		{
			name: "401", fault: status(401), status: 401, code: report.Unauthorized,
			message: "the API answered 401 Unauthorized: oops; the token is not valid",
			hint:    "copy the token again, or create a new one in the dashboard of Pipecat Cloud",
		},
		{
			name: "403", fault: status(403), status: 403, code: report.Forbidden,
			message: "the API answered 403 Forbidden: oops",
			hint:    "check --organization, or use a token that has the permission",
		},
		{
			name: "404 page", status: 404, code: report.Failed,
			fault: func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
				http.Error(w, "<html>", 404)
			},
			message: "the API answered 404 Not Found",
		},
		{
			name: "408", fault: status(408), status: 408, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 408 Request Timeout: oops",
		},
		{
			name: "425", fault: status(425), status: 425, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 425 Too Early: oops",
		},
		{
			name: "409", fault: status(409), status: 409, code: report.Rejected,
			hint:    "if another program is changing it, run the same command again when that is done",
			message: "the API answered 409 Conflict: oops (tried 4 times)", tries: 4,
		},
		{
			name: "429", fault: status(429), status: 429, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 429 Too Many Requests: oops (tried 4 times)", tries: 4,
		},
		{
			name: "500", fault: status(500), status: 500, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 500 Internal Server Error: oops", maybeApplied: true,
		},
		{
			name: "502", fault: status(502), status: 502, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 502 Bad Gateway: oops (tried 4 times)", tries: 4, maybeApplied: true,
		},
		{
			name: "503", fault: status(503), status: 503, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 503 Service Unavailable: oops (tried 4 times)", tries: 4,
		},
		{
			name: "504", fault: status(504), status: 504, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 504 Gateway Timeout: oops (tried 4 times)", tries: 4,
			maybeApplied: true,
		},
		{
			name: "511", fault: status(511), status: 511, code: report.Unavailable, later: true,
			message: "the network answered 511 Network Authentication Required",
			hint:    "sign in to the network in a browser, and run the same command again",
		},
		{
			name: "599", fault: status(599), status: 599, code: report.Unavailable, later: true, hint: again,
			message: "the API answered 599: oops", maybeApplied: true,
		},
	}
}

// Each response that is not trusted has its failure, whatever the request. A request that reads has no
// effect, so there is nothing to be maybeApplied of.
func TestResponses(t *testing.T) {
	for _, op := range operations {
		for _, c := range responseCases() {
			if op.method == "DELETE" && c.status == 204 {
				continue // that is how the API may confirm it
			}
			tries := max(c.tries, 1)
			b := newTestClient(t, slices.Repeat([]string{op.request}, tries)...)
			b.api.FailNext(op.method, cloudtest.Repeat(tries, c.fault)...)
			host := strings.TrimPrefix(b.api.URL, "http://")
			want := report.Failure{
				Code:       c.code,
				Message:    op.action + ": " + strings.ReplaceAll(c.message, "HOST", host),
				Hint:       c.hint,
				Retryable:  c.later,
				HTTPStatus: c.status,
			}
			if c.maybeApplied && op.method != "GET" {
				want.MaybeApplied = true
				want.Message += "; the request may have succeeded"
				want.Hint = "it is safe to run the same command again"
			}
			f, ok := errors.AsType[*report.Failure](op.do(context.Background(), b.Client))
			if !ok {
				t.Errorf("%s, %s: no failure", op.name, c.name)
				continue
			}
			got := *f
			got.Err = nil
			if got.Error() != want.Error() || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s:\n%+v\nwant\n%+v", op.name, c.name, got, want)
			}
			if pauses := b.api.Clock.Pauses; len(pauses) != tries-1 || len(b.notes) != tries-1 {
				t.Errorf("%s, %s: pauses %v, notes %q", op.name, c.name, pauses, b.notes)
			}
		}
	}
}

// A 404 is about a secret, or about the organization or the address.
func TestNotFound(t *testing.T) {
	for i, hint := range []string{
		"check --organization, and VBOT_API_URL if it is set",
		"`vbot cloud secrets list` lists all secrets",
		"`vbot cloud secrets list` lists all secrets",
		"`vbot cloud secrets list` lists all secrets",
	} {
		op := operations[i]
		b := newTestClient(t, op.request)
		b.api.FailNext(op.method, cloudtest.Status(404, "NOT_FOUND", "oops"))
		f := report.As(op.do(context.Background(), b.Client))
		if f.Code != report.NotFound || f.Hint != hint || f.Retryable || f.MaybeApplied ||
			f.Message != op.action+": the API answered 404 Not Found: oops" {
			t.Errorf("%s: %+v", op.name, f)
		}
	}
}

// The hint names the source of what is wrong: an option or a variable; a variable or a file.
func TestSourcesInHints(t *testing.T) {
	for _, c := range []struct{ option, variable, want string }{
		{"", "acme", "check the organization in VBOT_ORGANIZATION (acme)"},
		{"acme", "acme", "check --organization"},
		{"acme", "beta", "check --organization"},
		{"acme", "", "check --organization"},
		{"", "", "check --organization"},
	} {
		b := newLenientClient(t)
		signedIn, problems := Open(b.system(map[string]string{"VBOT_ORGANIZATION": c.variable}), c.option)
		if problems != nil {
			t.Fatal(problems)
		}
		b.Organization, b.organizationFrom = signedIn.Organization, signedIn.organizationFrom
		c.want += ", or use a token that has the permission"
		b.api.FailNext("GET", cloudtest.Status(403, "X", "no"))
		_, err := b.List(context.Background(), "")
		if got := report.As(err).Hint; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for source, want := range map[string]string{
		"VBOT_TOKEN": "correct VBOT_TOKEN, or unset it to use the token that `vbot cloud login` stores",
		"/x.json":    "run `vbot cloud login` with a new token",
	} {
		b := newLenientClient(t)
		b.Use(secret.New("wrong-token"), source)
		_, err := b.List(context.Background(), "")
		f := report.As(err)
		const message = "listing secrets: the API answered 401 Unauthorized: Unauthorized; the token from "
		if f.Hint != want || f.Message != message+source+" is not valid" {
			t.Errorf("%s: %+v", source, f)
		}
	}
}

// The API's message is under error, or under message. It is shown if it repeats no value.
func TestMessageOfAnError(t *testing.T) {
	const notShown = ": the API's message repeats a value, so it is not shown"
	for body, want := range map[string]string{
		`{"error":"first","message":"second"}`:             ": first",
		`{"message":"second","code":"X"}`:                  ": second",
		`{"error":"","message":"second"}`:                  ": second",
		`{"error":{"message":"inner"},"message":"second"}`: ": second",
		`{"error":"second","source":"a\nb"}`:               ": second",
		`{"error":"no v4lue"}`:                             notShown,
		`{"code":"X"}`:                                     "",
		`<html>`:                                           "",
		``:                                                 "",
	} {
		b := newTestClient(t, "PUT /v1/secrets/app")
		b.api.FailNext("PUT", func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
			w.WriteHeader(422)
			io.WriteString(w, body)
		})
		_, err := b.storePairs(context.Background(), app, pairs("A"))
		const prefix = "storing 1 key in app: the API answered 422 Unprocessable Entity"
		if got := err.Error(); got != prefix+want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// How long a header asks to wait.
func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name, after, date string
		want              time.Duration
	}{
		{name: "none"},
		{name: "seconds", after: "7", want: 7 * time.Second},
		{name: "zero", after: "0"},
		{name: "negative", after: "-5"},
		{name: "nonsense", after: "soon"},
		{name: "too many seconds", after: "9223372036854775807", want: maxRetryAfter},
		{name: "no number of seconds", after: "99999999999999999999", want: maxRetryAfter},
		{name: "the largest number", after: "3600000", want: maxRetryAfter},
		{name: "almost the largest number", after: "3599999", want: maxRetryAfter - time.Second},
		{name: "a date", after: at(20 * time.Second), want: 20 * time.Second},
		{name: "the server's clock", after: at(time.Hour), date: at(59 * time.Minute), want: time.Minute},
		{name: "no clock", after: at(time.Minute), date: "soon", want: time.Minute},
		{name: "a past date", after: at(-time.Second)},
		{name: "a distant date", after: at(10_000 * time.Hour), want: maxRetryAfter},
	} {
		header := http.Header{}
		header.Set("Retry-After", c.after)
		header.Set("Date", c.date)
		if got := parseRetryAfter(header, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A request is tried until it succeeds. Each further try is announced, with the pause if the API asked for
// one.
func TestRetries(t *testing.T) {
	after := func(seconds string) cloudtest.Fault {
		return cloudtest.Status(503, "X", "x", "Retry-After", seconds)
	}
	const ms = time.Millisecond
	const lost = "listing secrets: the connection to HOST was lost; trying again"
	const busy = "listing secrets: the API answered 503 Service Unavailable: x; trying again"
	for _, c := range []struct {
		name   string
		faults []cloudtest.Fault
		pauses []time.Duration
		notes  []string
		err    string // "" if it succeeds
	}{
		{
			name:   "once",
			faults: []cloudtest.Fault{cloudtest.Drop},
			pauses: []time.Duration{375 * ms},
			notes:  []string{lost + " (2 of 4)"},
		},
		{
			name:   "three times",
			faults: []cloudtest.Fault{cloudtest.Drop, cloudtest.Truncate, after("0")},
			pauses: []time.Duration{375 * ms, 750 * ms, 1500 * ms},
			notes:  []string{lost + " (2 of 4)", lost + " (3 of 4)", busy + " (4 of 4)"},
		},
		{
			name:   "after a pause",
			faults: []cloudtest.Fault{after("7")},
			pauses: []time.Duration{7375 * ms},
			notes:  []string{busy + " in 7s (2 of 4)"},
		},
		{
			name:   "after the longest pause",
			faults: []cloudtest.Fault{after("119")},
			pauses: []time.Duration{119375 * ms},
			notes:  []string{busy + " in 1m59s (2 of 4)"},
		},
		{
			name:   "too long a pause",
			faults: []cloudtest.Fault{after("120")},
			err: "listing secrets: the API answered 503 Service Unavailable: x; " +
				"the API asks to wait 2m0s, longer than vbot waits",
		},
		{
			name:   "too long in all",
			faults: []cloudtest.Fault{after("100"), after("100")},
			pauses: []time.Duration{100375 * ms},
			notes:  []string{busy + " in 1m40s (2 of 4)"},
			err: "listing secrets: the API answered 503 Service Unavailable: x; " +
				"the API asks to wait 1m40s, longer than vbot waits (tried 2 times)",
		},
		{
			name:   "no time for a pause",
			faults: []cloudtest.Fault{after("118"), cloudtest.Drop, cloudtest.Drop},
			pauses: []time.Duration{118375 * ms, 750 * ms},
			notes:  []string{busy + " in 1m58s (2 of 4)", lost + " (3 of 4)"},
			err:    "listing secrets: the connection to HOST was lost (tried 3 times)",
		},
		{
			name:   "after the last try",
			faults: []cloudtest.Fault{cloudtest.Drop, cloudtest.Drop, cloudtest.Drop, after("500")},
			pauses: []time.Duration{375 * ms, 750 * ms, 1500 * ms},
			notes:  []string{lost + " (2 of 4)", lost + " (3 of 4)", lost + " (4 of 4)"},
			err:    "listing secrets: the API answered 503 Service Unavailable: x (tried 4 times)",
		},
	} {
		n := len(c.faults)
		if c.err == "" {
			n++
		}
		b := newTestClient(t, slices.Repeat([]string{"GET /v1/secrets"}, n)...)
		b.api.FailNext("GET", c.faults...)
		_, err := b.List(context.Background(), "")
		host := strings.TrimPrefix(b.api.URL, "http://")
		got := strings.ReplaceAll(fmt.Sprint(err), host, "HOST")
		if (err == nil) != (c.err == "") || err != nil && got != c.err {
			t.Errorf("%s: %v", c.name, err)
		}
		if !slices.Equal(b.api.Clock.Pauses, c.pauses) {
			t.Errorf("%s: it waited %v", c.name, b.api.Clock.Pauses)
		}
		notes := strings.ReplaceAll(strings.Join(b.notes, "\n"), host, "HOST")
		if notes != strings.Join(c.notes, "\n") {
			t.Errorf("%s: it noted\n%s", c.name, notes)
		}
		if b.tokenGood != (err == nil) {
			t.Errorf("%s: the token is good: %v", c.name, b.tokenGood)
		}
	}
}

// A try that may have taken effect makes the call maybeApplied, even if a later try certainly has not.
func TestTriesThatMayBeApplied(t *testing.T) {
	refused := cloudtest.Status(403, "X", "no")
	for name, c := range map[string]struct {
		faults       []cloudtest.Fault
		maybeApplied bool
	}{
		"lost, then refused": {[]cloudtest.Fault{cloudtest.Drop, refused}, true},
		"busy, then refused": {[]cloudtest.Fault{cloudtest.Status(503, "X", "x"), refused}, false},
	} {
		b := newLenientClient(t)
		b.api.FailNext("PUT", c.faults...)
		_, err := b.storePairs(context.Background(), app, pairs("A"))
		f := report.As(err)
		if f.MaybeApplied != c.maybeApplied || f.Code != report.Forbidden ||
			strings.HasSuffix(f.Message, "; the request may have succeeded") != c.maybeApplied {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// After an interruption nothing more is sent. If a try may have taken effect, the failure says so; otherwise
// the call was only cancelled.
func TestInterruptions(t *testing.T) {
	faults := map[string]cloudtest.Fault{"lost": cloudtest.Drop, "busy": cloudtest.Status(503, "X", "x")}
	for _, op := range operations {
		for name, fault := range faults {
			b := newTestClient(t, op.request)
			b.api.FailNext(op.method, fault)
			ctx, cancel := context.WithCancel(context.Background())
			b.WithTimeout = context.WithTimeout // it ends immediately
			b.Pause = func(pause context.Context, _ time.Duration) error {
				if cancel(); pause.Err() == nil {
					t.Error("the pause goes on")
				}
				return pause.Err()
			}
			err := op.do(ctx, b.Client)
			if op.method == "GET" || name == "busy" {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s: %v", op.name, name, err)
				}
				continue
			}
			if f := report.As(err); f.Code != report.Interrupted || !f.MaybeApplied || !f.Retryable ||
				f.Message != op.action+": interrupted; the request may have succeeded" ||
				f.Hint != "it is safe to run the same command again" {
				t.Errorf("%s, %s: %+v", op.name, name, f)
			}
		}
	}
}

// Up to eight announcements of a response are ignored.
func TestInformationalResponses(t *testing.T) {
	for _, statuses := range [][]int{{100}, {103}, slices.Repeat([]int{103}, maxInformational)} {
		b := newTestClient(t, "GET /v1/secrets")
		b.api.FailNext("GET", cloudtest.Informational(statuses...))
		if _, err := b.List(context.Background(), ""); err != nil {
			t.Errorf("%v: %v", statuses, err)
		}
	}
}

// A redirect is not followed, wherever it leads.
func TestRedirects(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, code := range []int{300, 301, 302, 303, 307, 308} {
		b := newTestClient(t, "PUT /v1/secrets/app")
		b.api.FailNext("PUT", cloudtest.Status(code, "X", "moved", "Location", other.URL+"/v1/x"))
		_, err := b.storePairs(context.Background(), app, pairs("A"))
		if err == nil || report.As(err).HTTPStatus != code {
			t.Errorf("%d: %v", code, err)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests went to another server", n)
	}
}

// A response may be compressed with gzip, and must be complete.
func TestCompressedResponses(t *testing.T) {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	io.WriteString(z, `{"sets":[{"name":"app"}]}`)
	z.Close()
	half := body.Bytes()[:body.Len()-6]
	for name, c := range map[string]struct {
		encoding string
		body     []byte
		code     string // "" if it is accepted
	}{
		"whole":         {"gzip", body.Bytes(), ""},
		"half":          {"gzip", half, report.Unavailable},
		"not gzip":      {"gzip", []byte("{}"), report.Unavailable},
		"another":       {"br", half, report.Failed},
		"not announced": {"", half, report.Failed},
	} {
		b := newLenientClient(t)
		respond := func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
			w.Header().Set("Content-Encoding", c.encoding)
			w.Write(c.body)
		}
		b.api.FailNext("GET", cloudtest.Repeat(4, respond)...)
		entries, err := b.List(context.Background(), "")
		isGood := err == nil && len(entries) == 1
		if isGood != (c.code == "") || !isGood && !report.HasCode(err, c.code) {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
}

func TestIsBadRequest(t *testing.T) {
	for status, want := range map[int]bool{
		0: false, 200: false, 400: true, 401: false, 422: true, 500: false,
	} {
		if got := IsBadRequest(&report.Failure{HTTPStatus: status}); got != want {
			t.Errorf("%d: %v", status, got)
		}
	}
	if IsBadRequest(nil) || IsBadRequest(errors.New("x")) {
		t.Error("no response is a bad request")
	}
}

// A response without an end is read only up to a limit.
func TestEndlessResponse(t *testing.T) {
	const most = 256 << 20
	written := make(chan int, 1)
	c := newTestClient(t, "GET /v1/secrets")
	c.api.FailNext("GET", func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
		total := 0
		for total < most {
			n, err := w.Write(make([]byte, 1<<16))
			if total += n; err != nil {
				break
			}
		}
		written <- total
	})
	_, err := c.List(context.Background(), "")
	if n := <-written; err == nil || !strings.HasSuffix(err.Error(), "longer than 2 megabytes") || n >= most {
		t.Errorf("it read %d bytes: %v", n, err)
	}
}
