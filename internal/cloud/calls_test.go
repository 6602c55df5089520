package cloud

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// The listing is sorted by name. A region leaves out the others, whether the API filters or not.
func TestList(t *testing.T) {
	const listing = "GET /v1/secrets"
	b := newTestClient(t, listing, listing+"?region=us-west", listing, listing)
	b.api.Put("b", "us-west", "ready", "K")
	b.api.Put("c", "us-east", "failed").Message = "no\nspace"
	b.api.Put("a", "us-west", "pending").Kind = TypeImagePull
	list := func(region string) string {
		entries, err := b.List(context.Background(), region)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, e := range entries {
			out = append(out, strings.Join([]string{e.Name, e.Kind(), e.Region, e.Status, e.Message}, " "))
		}
		return strings.Join(out, "\n")
	}
	const all = "a image_pull_secret us-west pending \nb secret_set us-west ready \n" +
		"c secret_set us-east failed no space"
	if got := list(""); got != all {
		t.Errorf("all:\n%s", got)
	}
	const west = "a image_pull_secret us-west pending \nb secret_set us-west ready "
	if got := list("us-west"); got != west {
		t.Errorf("one region:\n%s", got)
	}
	if e, err := b.Find(context.Background(), "c"); err != nil || e == nil || e.Region != "us-east" {
		t.Errorf("found %+v, %v", e, err)
	}
	if e, err := b.Find(context.Background(), "d"); err != nil || e != nil {
		t.Errorf("found %+v, %v", e, err)
	}
	if got := (Ref{Type: "certificate"}).Kind(); got != "certificate" {
		t.Errorf("an unknown type is %q", got)
	}
}

// Regions and organizations come as the API lists them; organizations are sorted.
func TestRegionsAndOrganizations(t *testing.T) {
	b := newTestClient(t, "GET /v1/regions", "GET /v1/organizations")
	codes, err := b.Regions(context.Background())
	const all = "ap-south eu-central us-east us-west pce-acme pce-acme-production"
	if err != nil || strings.Join(codes, " ") != all {
		t.Errorf("%q, %v", codes, err)
	}
	b.api.Orgs = []string{"beta", "acme"}
	if names, err := b.organizations(context.Background(), "listing your organizations"); err != nil ||
		!slices.Equal(names, []string{"acme", "beta"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// A personal token has the organization in each path.
func TestPathsOfAnOrganization(t *testing.T) {
	b := newTestClient(t,
		"GET ~/secrets/app", "GET ~/regions", "PUT ~/secrets/app", "POST ~/secrets/references")
	b.api.Personal = true
	b.Use(secret.New(cloudtest.Token), "")
	b.Organization = "acme"
	b.api.Put("app", "us-west", "ready", "B", "A")
	b.api.Cluster = map[string]string{"team": TypeSet}
	ctx := context.Background()
	set, err := b.Get(ctx, "app")
	if err != nil || fmt.Sprint(set.Keys) != "[A B]" || set.Region != "us-west" {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := b.Regions(ctx); err != nil {
		t.Error(err)
	}
	if region, err := b.storePair(ctx, app, pairs("C")[0]); err != nil || region != "us-west" {
		t.Errorf("%q, %v", region, err)
	}
	if e, err := b.Reference(ctx, "team", "pce-acme"); err != nil || e.Name != "team" || e.Status != "ready" {
		t.Errorf("%+v, %v", e, err)
	}
	if got := fmt.Sprint(b.api.Values("app")); got != "map[A:old B:old C:v4lue]" {
		t.Error(got)
	}
}

// A contradiction is a response that does not fit the request.
func TestContradictions(t *testing.T) {
	ctx := context.Background()
	east := Ref{Name: "app", Type: TypeSet, Region: "us-east"}
	store := func(b *testClient) error { _, err := b.storePairs(ctx, east, pairs("A")); return err }
	list := func(b *testClient) error { _, err := b.List(ctx, ""); return err }
	get := func(b *testClient) error { _, err := b.Get(ctx, "app"); return err }
	regions := func(b *testClient) error { _, err := b.Regions(ctx); return err }
	organizations := func(b *testClient) error {
		_, err := b.organizations(ctx, "listing your organizations")
		return err
	}
	reference := func(b *testClient) error { _, err := b.Reference(ctx, "app", "us-east"); return err }
	remove := func(b *testClient) error { return b.Remove(ctx, "deleting app", "app") }
	notSecrets, notKeys := errNotList("secrets").Error(), errNotList("keys").Error()
	for _, c := range []struct {
		call   func(b *testClient) error
		method string
		body   string
		want   string // "" if the response is trusted
	}{
		{store, "PUT", `{"status":"OK"}`, ""},
		{store, "PUT", `{"status":"ok","name":"app","type":"secret","region":"us-east"}`, ""},
		{store, "PUT", `{"status":"OK","error":"","errorMessage":null,"success":true}`, ""},
		{store, "PUT", `{"status":"OK","region":"us-west"}`, "region us-west instead of us-east"},
		{store, "PUT", `{"status":"OK","name":"other"}`, "name other instead of app"},
		{store, "PUT", `{"status":"OK","type":"imagePullSecret"}`, "type imagePullSecret instead of secret"},
		{store, "PUT", `{"error":"quota exceeded","name":"other"}`, "error: quota exceeded"},
		{store, "PUT", `{"status":"OK","success":false}`, "success is false"},
		{store, "PUT", `{"status":"OK","errorMessage":"quota exceeded"}`, "error: quota exceeded"},
		{store, "PUT", `{"status":"failed"}`, "its status is failed"},
		{store, "PUT", `{}`, "its status is missing"},
		{remove, "DELETE", `{"status":"OK","name":"other"}`, "name other instead of app"},
		{remove, "DELETE", `{"hello":"world"}`, "its status is missing"},

		{list, "GET", `{"sets":[]}`, ""},
		{list, "GET", `{"hello":"world"}`, notSecrets},
		{list, "GET", `null`, notSecrets},
		{list, "GET", `{"sets":[{"region":"us-west"}]}`, notSecrets},
		{list, "GET", `{"sets":[],"errorMessage":"backend down"}`, "error: backend down"},
		{list, "GET", `{"errorMessage":"backend down"}`, "error: backend down"},
		{get, "GET", `{"secrets":[]}`, ""},
		{get, "GET", `{"hello":"world"}`, notKeys},
		{get, "GET", `{"secrets":[{"fieldName":"A"},{"name":"B"}]}`, notKeys},
		{get, "GET", `{"secrets":[],"type":"imagePullSecret"}`, "type imagePullSecret instead of secret"},

		{regions, "GET", `{"regions":[{"code":"us-west"}]}`, ""},
		{regions, "GET", `{"errorMessage":"backend down"}`, "error: backend down"},
		{regions, "GET", `{"regions":[{"code":"a\nb"}]}`, "a code that cannot be shown"},
		{organizations, "GET", `{"organizations":[]}`, ""},
		{organizations, "GET", `{"hello":"world"}`, errNotList("organizations").Error()},
		{organizations, "GET", `{"organizations":[],"errorMessage":"backend down"}`, "error: backend down"},
		{
			organizations, "GET", `{"organizations":[{"name":"acme"},{"name":"a/b"}]}`,
			"organization a/b cannot be used; name yours with --organization or VBOT_ORGANIZATION",
		},

		{reference, "POST", `{"name":"app","region":"us-east","status":"ready"}`, ""},
		{reference, "POST", `{"region":"us-east"}`, "no name"},
		{reference, "POST", `{"name":"app","errorMessage":"gone"}`, "error: gone"},
		{reference, "POST", `{"name":"app","status":"failed"}`, "its status is failed"},
		{reference, "POST", `{"name":"app","status":"failed","errorMessage":"x"}`, "its status is failed: x"},
	} {
		b := newLenientClient(t)
		b.api.FailNext(c.method, cloudtest.Respond(c.body))
		err := c.call(b)
		want := ": unexpected answer (200): " + c.want
		if c.method != "GET" {
			want += "; the request may have succeeded"
		}
		if c.want == "" && err == nil {
			continue
		}
		if c.want == "" || err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

// A set is new if neither a request for it nor the listing finds it. Somebody may create it between the two.
func TestGetOrNew(t *testing.T) {
	const get, list = "GET ~/secrets/app", "GET ~/secrets"
	noSet := cloudtest.Status(404, "NOT_FOUND", "Set not found")
	for _, c := range []struct {
		name     string
		keys     []string // of the set; nil if there is none
		faults   []cloudtest.Fault
		requests []string
		isNew    bool
		err      string
	}{
		{name: "there", keys: []string{"A"}, requests: []string{get}},
		{name: "new", requests: []string{get, list}, isNew: true},
		{
			name: "just created", keys: []string{"A"},
			faults:   []cloudtest.Fault{noSet},
			requests: []string{get, list, get},
		},
		{
			name: "contradiction", keys: []string{"A"},
			faults: []cloudtest.Fault{
				noSet, cloudtest.Succeed, noSet, cloudtest.Succeed, noSet, cloudtest.Succeed, noSet,
			},
			requests: []string{get, list, get, list, get, list, get, list},
			err:      "reading secret set app: the API answered 404 Not Found: Set not found",
		},
		{
			name: "forbidden", keys: []string{"A"},
			faults:   []cloudtest.Fault{cloudtest.Status(403, "FORBIDDEN", "no")},
			requests: []string{get},
			err:      "reading secret set app: the API answered 403 Forbidden: no",
		},
	} {
		b := newLenientClient(t)
		if c.keys != nil {
			b.api.Put("app", "us-west", "ready", c.keys...)
		}
		b.api.FailNext("GET", c.faults...)
		set, isNew, err := b.GetOrNew(context.Background(), "app")
		switch {
		case isNew != c.isNew, c.err == "" && (err != nil || !slices.Equal(set.Keys, c.keys)):
			t.Errorf("%s: %+v, %v, %v", c.name, set, isNew, err)
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%s: %v", c.name, err)
		}
		var requests []string
		for _, request := range b.api.Log {
			requests = append(requests, strings.Replace(request, "/v1/", "~/", 1))
		}
		if !slices.Equal(requests, c.requests) {
			t.Errorf("%s: it sent %q", c.name, requests)
		}
	}
}

// A storeCase is a case of TestStoreAll.
type storeCase struct {
	name         string
	prune        []string
	setup        func(s *cloudtest.Fake)
	requests     string // PUT, GET and DELETE
	want         string // progress
	values       string // what the API stores then
	err          string
	maybeApplied bool
}

var storeCases = []storeCase{
	{
		name: "together", requests: "PUT", want: "2 of 2 in us-west",
		values: "map[A:v4lue B:v4lue C:old D:old]",
	},
	{
		name: "one by one", requests: "PUT PUT PUT", want: "2 of 2 in us-west",
		setup: func(s *cloudtest.Fake) { s.NoBulk = true }, values: "map[A:v4lue B:v4lue C:old D:old]",
	},
	{
		name: "pruned", prune: []string{"C", "D"}, requests: "PUT DELETE DELETE", want: "4 of 4 in us-west",
		values: "map[A:v4lue B:v4lue]",
	},
	{
		name: "one by one, pruned", prune: []string{"C"}, requests: "PUT PUT PUT DELETE",
		setup: func(s *cloudtest.Fake) { s.NoBulk = true }, want: "3 of 3 in us-west",
		values: "map[A:v4lue B:v4lue D:old]",
	},
	{
		name: "pruned by others", prune: []string{"E", "C"}, requests: "PUT DELETE GET DELETE",
		want: "4 of 4 in us-west", values: "map[A:v4lue B:v4lue D:old]",
	},
	{
		name: "not pruned", prune: []string{"C", "D"}, requests: "PUT DELETE", want: "2 of 3 in us-west",
		setup:  func(s *cloudtest.Fake) { s.FailNext("DELETE", cloudtest.Status(403, "X", "no")) },
		values: "map[A:v4lue B:v4lue C:old D:old]",
		err:    "removing key C from app: the API answered 403 Forbidden: no",
	},
	{
		name: "removed and stored again", prune: []string{"C"}, requests: "PUT DELETE GET DELETE",
		setup: func(s *cloudtest.Fake) { s.FailNext("DELETE", cloudtest.Status(404, "X", "no")) },
		want:  "3 of 3 in us-west", values: "map[A:v4lue B:v4lue D:old]",
	},
	{
		name: "not found, but there", prune: []string{"C"},
		requests: "PUT DELETE GET DELETE GET DELETE GET DELETE GET",
		setup: func(s *cloudtest.Fake) {
			s.FailNext("DELETE", cloudtest.Repeat(4, cloudtest.Status(404, "X", "no"))...)
		},
		want:   "2 of 3 in us-west",
		values: "map[A:v4lue B:v4lue C:old D:old]",
		err:    "removing key C from app: the API answered 404 Not Found: no",
	},
	{
		name: "refused", requests: "PUT", want: "0 of 2 in ",
		setup:  func(s *cloudtest.Fake) { s.FailNext("PUT", cloudtest.Status(403, "X", "no")) },
		values: "map[C:old D:old]", err: "storing 2 keys in app: the API answered 403 Forbidden: no",
	},
	{
		name: "refused in both forms", requests: "PUT PUT", want: "0 of 1 in ",
		setup: func(s *cloudtest.Fake) {
			s.FailNext("PUT", cloudtest.Repeat(2, cloudtest.Status(400, "X", "no"))...)
		},
		values: "map[C:old D:old]", err: "storing A in app: the API answered 400 Bad Request: no",
	},
	{
		name: "refused for two reasons", requests: "PUT PUT", want: "0 of 1 in ",
		setup: func(s *cloudtest.Fake) {
			s.FailNext("PUT", cloudtest.Status(422, "X", "no region"), cloudtest.Status(400, "X", "no"))
		},
		values: "map[C:old D:old]",
		err: "storing 2 keys in app: the API answered 422 Unprocessable Entity: no region; " +
			"storing A in app: the API answered 400 Bad Request: no",
	},
	{
		name: "half", requests: "PUT PUT PUT", want: "1 of 2 in us-west",
		setup: func(s *cloudtest.Fake) {
			s.NoBulk = true
			s.FailNext("PUT", cloudtest.Succeed, cloudtest.Succeed, cloudtest.Status(403, "X", "no"))
		},
		values: "map[A:v4lue C:old D:old]", err: "storing B in app: the API answered 403 Forbidden: no",
	},
	{
		name: "perhaps all", requests: "PUT PUT PUT", want: "0 of 2 in ", maybeApplied: true,
		setup: func(s *cloudtest.Fake) {
			s.FailNext("PUT", cloudtest.LoseResponse, cloudtest.Status(400, "X", "no"),
				cloudtest.Status(400, "X", "no"))
		},
		values: "map[A:v4lue B:v4lue C:old D:old]",
		err:    "storing A in app: the API answered 400 Bad Request: no",
	},
}

// StoreAll stores all pairs, with one request for each if need be, and then removes keys. It says how far
// it came.
func TestStoreAll(t *testing.T) {
	for _, c := range storeCases {
		b := newLenientClient(t)
		b.api.Put("app", "us-west", "ready", "C", "D")
		if c.setup != nil {
			c.setup(b.api)
		}
		p, err := b.StoreAll(context.Background(), Change{Ref: app, Pairs: pairs("A", "B"), Prune: c.prune})
		if got := fmt.Sprintf("%d of %d in %s", p.Done, p.Tried, p.Region); got != c.want {
			t.Errorf("%s: it did %s, want %s", c.name, got, c.want)
		}
		var requests []string
		for _, request := range b.api.Log {
			method, _, _ := strings.Cut(request, " ")
			requests = append(requests, method)
		}
		if got := strings.Join(requests, " "); got != c.requests {
			t.Errorf("%s: it sent %s, want %s", c.name, got, c.requests)
		}
		if got := fmt.Sprint(b.api.Values("app")); got != c.values {
			t.Errorf("%s: the API has %s, want %s", c.name, got, c.values)
		}
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.err == "":
		case err == nil || err.Error() != c.err || report.As(err).MaybeApplied != c.maybeApplied:
			t.Errorf("%s: %+v", c.name, err)
		}
	}
}

// An interruption between the requests with one pair is one of the whole change, if that may have been done.
func TestStoreAllInterrupted(t *testing.T) {
	for name, maybeApplied := range map[string]bool{"refused": false, "lost": true} {
		b := newLenientClient(t)
		b.WithTimeout = context.WithTimeout // it ends immediately
		b.api.Put("app", "us-west", "ready")
		ctx, cancel := context.WithCancel(context.Background())
		if maybeApplied {
			b.api.FailNext("PUT", cloudtest.Drop)
		}
		b.api.FailNext("PUT", cloudtest.Status(400, "X", "no"),
			func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				cancel()
				<-r.Context().Done()
			})
		p, err := b.StoreAll(ctx, Change{Ref: app, Pairs: pairs("A", "B")})
		f := report.As(err)
		// The try that was interrupted may have stored its pair.
		if f.Code != report.Interrupted || !f.MaybeApplied || p.Done != 0 || (p.Tried == 2) != maybeApplied ||
			f.Message != "storing A in app: interrupted; the request may have succeeded" {
			t.Errorf("%s: %+v, %+v", name, p, f)
		}
	}
}

// After a deletion whose response was lost, "not found" may mean that it succeeded. Remove looks.
func TestRemove(t *testing.T) {
	notFound := cloudtest.Status(404, "NOT_FOUND", "Secret not found")
	const del, delKey = "DELETE /v1/secrets/app", "DELETE /v1/secrets/app/K"
	const get, list = "GET /v1/secrets/app", "GET /v1/secrets"
	for _, c := range []struct {
		name     string
		path     []string
		deletes  []cloudtest.Fault
		gets     []cloudtest.Fault
		requests []string
		isGone   bool
	}{
		{name: "secret", path: []string{"app"}, requests: []string{del}, isGone: true},
		{name: "key", path: []string{"app", "K"}, requests: []string{delKey}, isGone: true},
		{
			name: "no content", path: []string{"app"}, requests: []string{del}, isGone: true,
			deletes: []cloudtest.Fault{func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
				w.WriteHeader(204)
			}},
		},
		{
			name: "lost", path: []string{"app"}, deletes: []cloudtest.Fault{cloudtest.LoseResponse},
			requests: []string{del, del, list}, isGone: true,
		},
		{
			name: "lost, key", path: []string{"app", "K"}, deletes: []cloudtest.Fault{cloudtest.LoseResponse},
			requests: []string{delKey, delKey, get}, isGone: true,
		},
		{
			name: "not found", path: []string{"app"}, deletes: []cloudtest.Fault{notFound},
			requests: []string{del},
		},
		{
			name: "lost, not found elsewhere", path: []string{"app"},
			deletes: []cloudtest.Fault{cloudtest.Drop, notFound}, requests: []string{del, del, list},
		},
		{
			name: "lost, key not found elsewhere", path: []string{"app", "K"},
			deletes:  []cloudtest.Fault{cloudtest.Drop, notFound},
			requests: []string{delKey, delKey, get},
		},
		{
			name: "lost, the set is gone, too", path: []string{"app", "K"}, isGone: true,
			deletes: []cloudtest.Fault{func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				panic(http.ErrAbortHandler)
			}, notFound},
			gets:     []cloudtest.Fault{notFound, cloudtest.Respond(`{"sets":[]}`)},
			requests: []string{delKey, delKey, get, list},
		},
		{
			name: "lost, and nobody knows", path: []string{"app", "K"},
			deletes:  []cloudtest.Fault{cloudtest.Drop, notFound},
			gets:     []cloudtest.Fault{notFound, notFound},
			requests: []string{delKey, delKey, get, list},
		},
	} {
		b := newTestClient(t, c.requests...)
		b.api.Put("app", "us-west", "ready", "K")
		b.api.FailNext("DELETE", c.deletes...).FailNext("GET", c.gets...)
		err := b.Remove(context.Background(), "deleting", c.path...)
		if (err == nil) != c.isGone || err != nil && !report.HasCode(err, report.NotFound) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// An interruption while it looks.
	b := newTestClient(t, del, del, list)
	b.WithTimeout = context.WithTimeout
	ctx, cancel := context.WithCancel(context.Background())
	b.api.FailNext("DELETE", cloudtest.Drop, notFound).
		FailNext("GET", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
			cancel()
			<-r.Context().Done()
		})
	err := b.Remove(ctx, "deleting app", "app")
	if f := report.As(err); f.Code != report.Interrupted || !f.MaybeApplied ||
		f.Message != "deleting app: interrupted; the request may have succeeded" {
		t.Errorf("%+v", f)
	}
}

// A waitCase is a case of TestWaitReady. Pauses are in seconds.
type waitCase struct {
	name     string
	stored   Ref
	statuses []string
	setup    func(s *cloudtest.Fake)
	pauses   []int
	status   string // the last one
	code     string // "" if the secret is ready
	message  string
}

var waitCases = []waitCase{
	{name: "ready", statuses: []string{"ready"}, pauses: []int{1}, status: "ready"},
	{
		name: "soon", statuses: []string{"pending", "pending", "pending", "unheard-of", "ready"},
		pauses: []int{1, 2, 4, 5, 5}, status: "ready",
	},
	{
		name: "never", statuses: []string{"pending"}, pauses: []int{1, 2, 4, 5, 5, 3}, status: "pending",
		code: report.Timeout, message: "app is stored, but not ready after 20s; its status is pending",
	},
	{
		name: "no status", statuses: []string{""}, pauses: []int{1, 2, 4, 5, 5, 3},
		code: report.Timeout, message: "app is stored, but not ready after 20s; the API gives no status",
	},
	{
		name: "failed", statuses: []string{"pending", "failed"}, pauses: []int{1, 2}, status: "failed",
		setup: func(s *cloudtest.Fake) { s.Sets["app"].Message = "no space" },
		code:  report.Failed, message: "app is stored, but its status is failed: no space",
	},
	{
		name: "not there yet", statuses: []string{"ready"}, pauses: []int{1, 2, 4}, status: "ready",
		setup: func(s *cloudtest.Fake) {
			s.FailNext("GET", cloudtest.Repeat(2, cloudtest.Status(404, "X", "no"))...)
		},
	},
	{
		name: "refused", pauses: []int{1}, code: report.Forbidden,
		setup: func(s *cloudtest.Fake) { s.FailNext("GET", cloudtest.Status(403, "X", "no")) },
		message: "app is stored, but it may not be ready: " +
			"reading secret set app: the API answered 403 Forbidden: no",
	},
	{
		name: "image pull secret", stored: Ref{Name: "hub", Type: TypeImagePull},
		statuses: []string{"pending", "ready"}, pauses: []int{1, 2}, status: "ready",
	},
	{
		name: "image pull secret, not there yet", stored: Ref{Name: "hub", Type: TypeImagePull},
		statuses: []string{"ready"}, pauses: []int{1, 2}, status: "ready",
		setup: func(s *cloudtest.Fake) { s.FailNext("GET", cloudtest.Respond(`{"sets":[]}`)) },
	},
	{
		name: "elsewhere", stored: Ref{Name: "hub", Type: TypeImagePull, Region: "us-east"},
		statuses: []string{"ready"}, pauses: []int{1}, status: "ready", code: report.Failed,
		message: "hub is stored, but the API lists it with region us-west instead of us-east",
	},
}

// WaitReady looks more and more rarely, until the secret is ready or the time is over.
func TestWaitReady(t *testing.T) {
	for _, c := range waitCases {
		b := newLenientClient(t)
		stored := c.stored
		if stored.Name == "" {
			stored = app
		}
		b.api.Put(stored.Name, "us-west", "pending").Kind = stored.Type
		b.api.Statuses = c.statuses
		if c.setup != nil {
			c.setup(b.api)
		}
		soFar := stored.Name + " is stored, but"
		status, err := b.WaitReady(context.Background(), stored, 20*time.Second, soFar)
		var pauses []int
		for _, pause := range b.api.Clock.Pauses {
			pauses = append(pauses, int(pause.Seconds()))
		}
		if status != c.status || !slices.Equal(pauses, c.pauses) {
			t.Errorf("%s: status %q after %v", c.name, status, pauses)
		}
		switch {
		case c.code == "":
			if err != nil || !slices.Equal(b.notes, []string{stored.Name + " is ready"}) {
				t.Errorf("%s: %v, %q", c.name, err, b.notes)
			}
		case !report.HasCode(err, c.code) || err.Error() != c.message || len(b.notes) > 0:
			t.Errorf("%s: %v, %q", c.name, err, b.notes)
		}
	}
}

// A response that never comes does not make WaitReady wait longer than its limit. An interruption ends it.
func TestWaitReadyEnds(t *testing.T) {
	b := newLenientClient(t)
	b.api.FailNext("GET", b.api.Clock.Hang(10*time.Second))
	_, err := b.WaitReady(context.Background(), app, 5*time.Second, "app is stored, but")
	if f := report.As(err); f.Code != report.Timeout || !f.Retryable ||
		f.Hint != "to wait again: vbot cloud secrets wait app" {
		t.Errorf("%+v", f)
	}
	for name, interrupt := range map[string]func(b *testClient, cancel func()){
		"in a pause": func(b *testClient, cancel func()) { b.api.Clock.Begin = cancel },
		"in a request": func(b *testClient, cancel func()) {
			b.api.FailNext("GET", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				cancel()
				<-r.Context().Done()
			})
		},
	} {
		b := newLenientClient(t)
		b.WithTimeout = context.WithTimeout // it ends immediately
		ctx, cancel := context.WithCancel(context.Background())
		interrupt(b, cancel)
		_, err := b.WaitReady(ctx, app, time.Minute, "app is stored, but")
		if f := report.As(err); f.Code != report.Interrupted || !f.Retryable ||
			f.Message != "interrupted; app is stored, but it may not be ready" ||
			f.Hint != "to wait again: vbot cloud secrets wait app" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// By the real clock, no request is sent when the time is over, so the status is that of the last response.
func TestWaitReadyKeepsTheStatus(t *testing.T) {
	b := newLenientClient(t)
	b.api.Put("app", "us-west", "pending")
	b.Now, b.WithTimeout = time.Now, context.WithTimeout
	b.Pause = func(_ context.Context, d time.Duration) error {
		time.Sleep(d)
		return nil
	}
	_, err := b.WaitReady(context.Background(), app, 1100*time.Millisecond, "app:")
	if f := report.As(err); f.Code != report.Timeout || f.HTTPStatus != 200 || len(b.api.Log) != 1 {
		t.Errorf("%+v, %q", f, b.api.Log)
	}
}

// The credentials of an image pull secret are sent as they are.
func TestStoreImagePull(t *testing.T) {
	b := newTestClient(t, "PUT /v1/secrets/hub", "PUT /v1/secrets/hub")
	hub := Ref{Name: "hub", Type: TypeImagePull, Region: "us-east"}
	login := secret.New("Ym9iOmh1bnRlcjI=")
	region, err := b.StoreImagePull(context.Background(), hub, "https://ghcr.io", login)
	if err != nil || region != "us-east" || b.api.Values("hub")["value"] != "Ym9iOmh1bnRlcjI=" {
		t.Errorf("%q, %v, %v", region, err, b.api.Values("hub"))
	}
	b.api.FailNext("PUT", cloudtest.Status(403, "X", "not hunter2"))
	if _, err = b.StoreImagePull(context.Background(), hub, "https://ghcr.io", login); err == nil ||
		err.Error() != "storing image pull secret hub: the API answered 403 Forbidden: "+
			"the API's message repeats a value, so it is not shown" {
		t.Error(err)
	}
}
