package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/report"
)

// Faults.

// An apiFault is a fault of an API, or of a server in front of it.
type apiFault struct {
	name   string
	how    cloudtest.Fault
	status int    // the HTTP status, or 0 without a response
	code   string // of a read and of a write
	tries  int
	later  bool // running the command again later may help
	unsure bool // a request that changes something may have succeeded
}

// apiFaults has a fault for each way in which a command can end. internal/cloud tries all faults, with each
// of its requests.
var apiFaults = func() []apiFault {
	body := func(name, text string) apiFault {
		how := cloudtest.With200(text)
		return apiFault{name: name, how: how, status: 200, code: report.Failed, tries: 1, unsure: true}
	}
	refused := func(status int, word, code string) apiFault {
		how := cloudtest.Status(status, word, "no")
		return apiFault{name: word, how: how, status: status, code: code, tries: 1}
	}
	dropped := apiFault{name: "dropped", how: cloudtest.Drop, code: report.Unavailable, tries: 4}
	dropped.later, dropped.unsure = true, true
	busy := refused(503, "SERVICE_UNAVAILABLE", report.Unavailable)
	busy.tries, busy.later = 4, true
	crashed := refused(500, "INTERNAL_SERVER_ERROR", report.Unavailable)
	crashed.later, crashed.unsure = true, true
	conflict := refused(409, "CONFLICT", report.Rejected)
	conflict.tries, conflict.later = 4, true
	noContent := body("no content", "")
	noContent.status = 204
	noContent.how = func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) { w.WriteHeader(204) }
	return []apiFault{
		dropped, busy, crashed, conflict, noContent,
		body("broken JSON", `{"sets":[`),
		body("other JSON", `{"hello":"world"}`),
		body("wrong types", `{"sets":"x","secrets":5,"status":[],"organizations":{}}`),
		body("null", `null`),
		body("array", `[]`),
		body("an error", `{"sets":[],"secrets":[],"status":"OK","error":"nothing was stored"}`),
		body("another name", `{"sets":[{"region":"us-west"}],"secrets":[],"status":"OK","name":"other"}`),
		body("another type", `{"secrets":[],"type":"else"}`),
		refused(302, "MOVED", report.Failed),
		refused(400, "GENERIC_BAD_REQUEST", report.Rejected),
		refused(401, "UNAUTHORIZED", report.Unauthorized),
		refused(403, "FORBIDDEN", report.Forbidden),
	}
}()

// A faultyCommand is a command with one request that fails.
type faultyCommand struct {
	name   string
	method string
	args   []string
	before []string
	on     string // the request that goes wrong
	after  string // the request that follows if the API refuses that one as a bad request, or ""
}

// mayBePull is the request that finds out whether a secret is an image pull secret.
const mayBePull = "GET ~/secrets"

var faultyCommands = []faultyCommand{
	{name: "list", method: "GET", args: []string{"list"}, on: "GET ~/secrets"},
	{name: "wait", method: "GET", args: []string{"wait", "app"}, on: "GET ~/secrets"},
	{
		name:   "list NAME",
		method: "GET",
		args:   []string{"list", "app"},
		on:     "GET ~/secrets/app",
		after:  mayBePull,
	},
	{
		name:   "set, reading",
		method: "GET",
		args:   []string{"set", "app", "A=v4lue", "--skip"},
		on:     "GET ~/secrets/app",
		after:  mayBePull,
	},
	{
		name:   "set, writing",
		method: "PUT",
		args:   []string{"set", "app", "A=v4lue", "--skip"},
		before: []string{"GET ~/secrets/app"},
		on:     "PUT ~/secrets/app",
		after:  "PUT ~/secrets/app", // one pair a request
	},
	{
		name:   "unset, reading",
		method: "GET",
		args:   []string{"unset", "app", "K", "--skip"},
		on:     "GET ~/secrets/app",
		after:  mayBePull,
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

// After each fault in each request of each command, the exit code and the error code are those of the
// contract, stdout is empty, and only changes that were made are reported.
func TestFaults(t *testing.T) {
	parallel(t)
	var lines []string
	for _, c := range faultyCommands {
		lines = append(lines, c.args[0])
	}
	wantEachSecretsCommand(t, lines, map[string]string{"check": "its request is that of list NAME"})
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

// check runs the command with the fault in one request.
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
	if f.status == 204 && c.method == "DELETE" {
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

// requests are the requests that the command sends if one of them has the fault.
func (c faultyCommand) requests(f apiFault) []string {
	requests := append(slices.Clone(c.before), slices.Repeat([]string{c.on}, f.tries)...)
	if f.status == 400 && c.after != "" {
		requests = append(requests, c.after)
	}
	return requests
}

// checkMessage checks the message for people.
func (c faultyCommand) checkMessage(t *testing.T, f apiFault, what string, r result) {
	t.Helper()
	if f.tries > 1 && !strings.Contains(r.stderr, "(tried 4 times)") {
		t.Errorf("%s: it does not say how often it tried: %s", what, r.stderr)
	}
	saysUnsure := strings.Contains(r.stderr, "; the request may have succeeded")
	if saysUnsure != (f.unsure && c.method != "GET") {
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

// checkFaultJSON checks the JSON for scripts.
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
	if e.Status != f.status || e.Retryable == nil || *e.Retryable != f.later {
		t.Errorf("%s: the JSON says %s; want the status %d and retryable %v", what, r.stdout, f.status,
			f.later)
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

// A command succeeds if its request succeeds after some tries, and makes no more tries than needed.
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

// The time limit can end a pause that the API did not ask for.
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

// The sign-in page of a network is not taken for the API.
func TestNetworkSignIn(t *testing.T) {
	parallel(t)
	s := cloudtest.Bare(t, "vbot/"+version).Misbehave("PUT", cloudtest.Status(511, "X", "<html>"))
	defer s.Close()
	r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip")
	r.wantCode(t, 6)
	const want = "error: storing 1 key in app: the network answered 511 Network Authentication Required\n" +
		"hint: sign in to the network in a browser, and run the same command again\n"
	if !strings.HasSuffix(r.stderr, want) || strings.Contains(r.stderr, "may have succeeded") {
		t.Errorf("it said %s", r.stderr)
	}
}

// Answers may be compressed, and must be whole.
func TestCompressedAnswers(t *testing.T) {
	parallel(t)
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	io.WriteString(z, `{"sets":[{"name":"app"}]}`)
	z.Close()
	half := body.Bytes()[:body.Len()-6]
	for _, c := range []struct {
		encoding string
		body     []byte
		code     int
	}{
		{"gzip", body.Bytes(), 0},
		{"gzip", half, 6},
		{"gzip", []byte("{}"), 6},
		{"br", half, 1},
		{"", half, 1},
	} {
		s := cloudtest.Bare(t, "vbot/"+version)
		answer := func(w http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				t.Error("it does not ask for gzip")
			}
			w.Header().Set("Content-Encoding", c.encoding)
			w.Write(c.body)
		}
		s.Misbehave("GET", cloudtest.Times(4, answer)...)
		r := runOn(t, s, "cloud", "secrets", "list")
		s.Close()
		if r.code != c.code || strings.Contains(r.stdout, "\napp ") != (c.code == 0) {
			t.Errorf("%s, %d bytes: exit code %d, %s%s", c.encoding, len(c.body), r.code, r.stdout, r.stderr)
		}
	}
}

// vbot ignores keys of a response that it does not read.
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
	// Decisions do not depend on the message that is shown.
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app").Misbehave("PUT",
		cloudtest.Status(409, "CONFLICT", "app is a referenced Kubernetes Secret"))
	r := runOn(t, s, "cloud", "secrets", "set", "app", "KIND=secret", "--skip", "--json")
	if r.wantCode(t, 1); !strings.Contains(r.stdout, `"retryable": false`) ||
		!strings.Contains(r.stderr, "repeats a value") {
		t.Errorf("it said %s%s", r.stdout, r.stderr)
	}
}

// After a deletion whose response was lost, vbot checks that the secret is gone, because "not
// found" may be about something else.
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
		unsure := strings.Contains(r.stderr, "the request may have succeeded")
		if unsure != (c.code != 0 && c.want != nil) {
			t.Errorf("vbot cloud secrets %s: %s", c.args, r.stderr)
		}
	}
	// An interruption while it checks.
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
	r := inProcess{ctx: ctx, env: s.Env()}.vbot(t, "cloud", "secrets", "delete", "app", "--skip")
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
	{"list old", `{"secrets":[{"fieldName":"A"},{"name":"B"}]}`, "not a list of keys"},
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

// A response that contradicts the request is a failure that says so.
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
	// A correct response may contain text that looks like a value.
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

// 100 and 103 announce a response. Any other informational status ends the run, and so do
// announcements without a final response.
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

// The API's error message is under error, or under message.
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

// A redirect is not followed, wherever it leads.
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

// An endless response is read only up to a limit.
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

// A 404 of a listing is about the organization or the address: the hint is not the
// command that just failed.
func TestHintOfAListingNotFound(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets").Misbehave("GET",
		cloudtest.Status(404, "NOT_FOUND", "Organization not found"))
	r := runOn(t, s, "cloud", "secrets", "list")
	r.wantCode(t, 4)
	const hint = "hint: check the organization in VBOT_ORGANIZATION (acme), and VBOT_API_URL if it is set\n"
	if !strings.Contains(r.stderr, hint) {
		t.Error(r.stderr)
	}
}
