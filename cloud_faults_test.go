package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vbot/internal/cloudtest"
	"vbot/internal/report"
)

// An apiFault is a fault of an API, or of a server in front of it.
type apiFault struct {
	name   string
	how    cloudtest.Fault
	status int    // the HTTP status, or 0 without a response
	code   string // of a read and of a write
	tries  int
	later  bool // running the command again later may help
	// maybeApplied says that a request that changes something may have succeeded.
	maybeApplied bool
}

// apiFaults has a fault for each way in which a command can end. internal/cloud tries all faults, with each
// of its requests.
var apiFaults = func() []apiFault {
	body := func(name, text string) apiFault {
		how := cloudtest.Respond(text)
		return apiFault{name: name, how: how, status: 200, code: report.Failed, tries: 1, maybeApplied: true}
	}
	refused := func(status int, word, code string) apiFault {
		how := cloudtest.Status(status, word, "no")
		return apiFault{name: word, how: how, status: status, code: code, tries: 1}
	}
	dropped := apiFault{name: "dropped", how: cloudtest.Drop, code: report.Unavailable, tries: 4}
	dropped.later, dropped.maybeApplied = true, true
	busy := refused(503, "SERVICE_UNAVAILABLE", report.Unavailable)
	busy.tries, busy.later = 4, true
	crashed := refused(500, "INTERNAL_SERVER_ERROR", report.Unavailable)
	crashed.later, crashed.maybeApplied = true, true
	conflict := refused(409, "CONFLICT", report.Rejected)
	conflict.tries = 4 // and no more: the refusal may never change
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
		before: []string{"GET ~/secrets", "GET ~/regions"},
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
	s := cloudtest.NewLenient(t, "vbot/"+version)
	s.Put("app", "us-west", "ready", "K")
	s.FailNext(c.method, cloudtest.Repeat(20, f.how)...)
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
		c.checkJSON(t, f, what, r)
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
	saysMaybe := strings.Contains(r.stderr, "; the request may have succeeded")
	if saysMaybe != (f.maybeApplied && c.method != "GET") {
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

// checkJSON checks the JSON for scripts.
func (c faultyCommand) checkJSON(t *testing.T, f apiFault, what string, r result) {
	t.Helper()
	var printed struct {
		Error struct {
			Code, Message, Hint string
			Retryable           *bool
			Status              int `json:"http_status"`
		}
	}
	err := json.Unmarshal([]byte(r.stdout), &printed)
	e := printed.Error
	if err != nil || e.Code != f.code {
		t.Errorf("%s: code %q, want %q; %s", what, e.Code, f.code, e.Message)
	}
	later := f.later
	if c.method == "DELETE" && f.maybeApplied { // then it may not exist any more
		later = false
		isComplete := strings.Contains(e.Hint, "run: vbot cloud secrets "+c.args[0]+" --if-exists "+c.args[1])
		if !isComplete {
			t.Errorf("%s: the hint is %q", what, e.Hint)
		}
	}
	if e.Status != f.status || e.Retryable == nil || *e.Retryable != later {
		t.Errorf("%s: the JSON says %s; want the status %d and retryable %v", what, r.stdout, f.status, later)
	}
}
