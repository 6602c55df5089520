package cloudcmd

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/system"
)

const userAgent = "vbot/test"

// connect returns a client of the fake, and what the client noted so far.
func connect(t *testing.T, s *cloudtest.Fake) (*cloud.Client, *[]string) {
	t.Helper()
	env := map[string]string{}
	for _, pair := range s.Env() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	notes := &noteWriter{}
	api, err := cloud.SignIn(system.System{
		Program:     userAgent,
		Getenv:      func(name string) string { return env[name] },
		Stderr:      notes,
		Now:         s.Clock.Now,
		Pause:       s.Clock.Pause,
		WithTimeout: s.Clock.WithTimeout,
		Random:      func() float64 { return 0 },
	}, "")
	if err != nil {
		t.Fatal(err)
	}
	return api, &notes.notes
}

// A noteWriter collects what is noted.
type noteWriter struct{ notes []string }

func (w *noteWriter) Write(note []byte) (int, error) {
	w.notes = append(w.notes, strings.TrimSuffix(string(note), "\n"))
	return len(note), nil
}

// A command is a command that calls the API.
type command interface {
	Run(ctx context.Context, api *cloud.Client) (report.Result, error)
}

// run runs a command, which returns a result of type *T or, with an error, perhaps none.
func run[T any](ctx context.Context, api *cloud.Client, c command) (*T, error) {
	result, err := c.Run(ctx, api)
	out, _ := any(result).(*T)
	return out, err
}

// pair returns a pair of a secret set.
func pair(key, value string) secret.Pair {
	return secret.Pair{Key: key, Value: secret.New(value)}
}

// asJSON returns a result as --json prints it.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// asText returns a result as people read it: stdout, and then stderr.
func asText(r report.Result) string {
	var stdout, stderr strings.Builder
	r.Text(&report.Printer{Stdout: &stdout, Stderr: &stderr})
	return stdout.String() + stderr.String()
}

func TestSetStoresPairsAndPrunesOthers(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	s.Put("app", "us-west", "ready", "A", "B", "C")
	s.Expect("GET ~/secrets/app", "PUT ~/secrets/app", "DELETE ~/secrets/app/B")
	api, _ := connect(t, s)
	result, err := run[SetResult](t.Context(), api, &Set{
		Name:  "app",
		Pairs: Pairs{List: []secret.Pair{pair("A", "1"), pair("D", "2")}, LeftOut: []string{"C"}},
		Prune: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []KeyResult{
		{Key: "A", Result: "stored", Replaced: true},
		{Key: "D", Result: "stored"},
		{Key: "B", Result: "removed", Prune: true},
	}
	if !slices.Equal(result.Keys, want) || result.Region != "us-west" || result.Created {
		t.Errorf("%+v", result)
	}
	if got := asJSON(t, s.Values("app")); got != `{"A":"1","C":"old","D":"2"}` {
		t.Errorf("the set holds %s", got)
	}
	const said = "stored in secret set app of organization acme, region us-west:\n" +
		"  A  replaced\n  D  new\n  B  removed\n" +
		"Agents that use app get the new values when they are deployed again.\n"
	if got := asText(result); got != said {
		t.Errorf("it said %s", got)
	}
}

func TestSetThatIsDeclinedStoresNothing(t *testing.T) {
	s := cloudtest.New(t, userAgent).Expect("GET ~/secrets/app")
	s.Put("app", "us-west", "ready", "A")
	api, _ := connect(t, s)
	no := errors.New("no")
	asked := ""
	result, err := run[SetResult](t.Context(), api, &Set{
		Name:  "app",
		Pairs: Pairs{List: []secret.Pair{pair("A", "1")}},
		Confirm: func(_ context.Context, summary, question string) error {
			asked = summary + "\n" + question
			return no
		},
	})
	if result != nil || err != no {
		t.Errorf("%+v, %v", result, err)
	}
	const want = "secret set app of organization acme, region us-west:\n" +
		"  would replace the value of A\nStore 1 key?"
	if asked != want {
		t.Errorf("it asked %q", asked)
	}
}

// A person who is asked learns of a name that is much like the new one. A script is not kept waiting: it
// sends no request for that.
func TestNameThatIsNearlyAnothers(t *testing.T) {
	yes := func(context.Context, string, string) error { return nil }
	set := &Set{Name: "app-secret", Pairs: Pairs{List: []secret.Pair{pair("A", "1")}}}
	for _, c := range []struct {
		confirm Confirm
		wanted  []string
		hangs   bool // the listing does
		notes   []string
	}{
		{confirm: nil, wanted: []string{"GET ~/secrets/app-secret", "PUT ~/secrets/app-secret"}},
		{
			confirm: yes,
			wanted:  []string{"GET ~/secrets/app-secret", "GET ~/secrets", "PUT ~/secrets/app-secret"},
			notes:   []string{"app-secret is a new secret set; there is also app-secrets"},
		},
		{ // a listing that takes long is not waited for
			confirm: yes,
			wanted:  []string{"GET ~/secrets/app-secret", "GET ~/secrets", "PUT ~/secrets/app-secret"},
			hangs:   true,
		},
	} {
		s := cloudtest.New(t, userAgent).Expect(c.wanted...)
		s.Put("app-secrets", "us-west", "ready", "A")
		if c.hangs {
			s.FailNext("GET", cloudtest.Succeed, s.Clock.Hang(maxHint))
		}
		api, notes := connect(t, s)
		set.Confirm = c.confirm
		if _, err := set.Run(t.Context(), api); err != nil || !slices.Equal(*notes, c.notes) {
			t.Errorf("%v, %q, want %q", err, *notes, c.notes)
		}
		if took := s.Clock.Time.Sub(time.Unix(1e9, 0)); took > maxHint+time.Millisecond {
			t.Errorf("it took %v", took)
		}
	}
}

func TestSetSaysWhatBecameOfEachKey(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	s.Put("app", "us-west", "ready", "A", "B", "C")
	s.Expect("GET ~/secrets/app", "PUT ~/secrets/app", "DELETE ~/secrets/app/B")
	s.FailNext("DELETE", cloudtest.Status(403, "FORBIDDEN", "No"))
	api, _ := connect(t, s)
	result, err := run[SetResult](t.Context(), api, &Set{
		Name:  "app",
		Pairs: Pairs{List: []secret.Pair{pair("A", "1")}},
		Prune: true,
	})
	if f := report.As(err); f.Code != report.Partial || f.Problems[0].Line() != "B: failed" {
		t.Errorf("%+v", f)
	}
	want := []KeyResult{
		{Key: "A", Result: "stored", Replaced: true},
		{Key: "B", Result: "failed", Prune: true},
		{Key: "C", Result: "not_tried", Prune: true},
	}
	if !slices.Equal(result.Keys, want) {
		t.Errorf("%+v", result.Keys)
	}
}

func TestSetWaitsUntilTheSetIsReady(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	s.Put("app", "us-west", "ready", "A")
	s.Expect("GET ~/secrets/app", "PUT ~/secrets/app", "GET ~/secrets/app", "GET ~/secrets/app")
	s.Statuses = []string{"ready", "pending", "ready"}
	api, notes := connect(t, s)
	result, err := run[SetResult](t.Context(), api, &Set{
		Name:  "app",
		Pairs: Pairs{List: []secret.Pair{pair("A", "1")}},
		Wait:  time.Minute,
	})
	if err != nil || result.Status != "ready" {
		t.Errorf("%+v, %v", result, err)
	}
	stored := "stored in secret set app of organization acme, region us-west:\n  A  replaced\n" +
		"Agents that use app get the new values when they are deployed again."
	if !slices.Equal(*notes, []string{stored, "app is ready"}) || asText(result) != "" {
		t.Errorf("it noted %q, and then %q", *notes, asText(result))
	}
}

func TestRemoveOfWhatIsNotThere(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	s.Expect("GET ~/secrets/app", "GET ~/secrets/app", "GET ~/secrets")
	s.Expect("GET ~/secrets/app", "GET ~/secrets")
	api, _ := connect(t, s)
	unset := &Remove{Names: []string{"app"}, Keys: []string{"A"}, IfExists: true}
	result, err := run[RemoveResult](t.Context(), api, unset)
	const nothing = "nothing to do: no secret set app in organization acme\n"
	if err != nil || result.Deleted || asText(result) != nothing {
		t.Errorf("%+v, %v", result, err)
	}
	result, err = run[RemoveResult](t.Context(), api, &Remove{Names: []string{"app"}})
	if result != nil || !report.HasCode(err, report.NotFound) {
		t.Errorf("%+v, %v", result, err)
	}
}

// Of several secrets, all are looked up before the first one is deleted. What became of each is said.
func TestRemoveOfSeveral(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	for _, name := range []string{"a", "b", "c"} {
		s.Put(name, "us-west", "ready", "A")
	}
	s.Expect("GET ~/secrets/a", "GET ~/secrets/x", "GET ~/secrets", "GET ~/secrets/c")
	s.Expect("GET ~/secrets/a", "GET ~/secrets/b", "GET ~/secrets/c")
	s.Expect("DELETE ~/secrets/a", "DELETE ~/secrets/b")
	api, _ := connect(t, s)
	result, err := run[RemoveResult](t.Context(), api, &Remove{Names: []string{"a", "x", "c"}})
	if result != nil || !report.HasCode(err, report.NotFound) {
		t.Errorf("%+v, %v", result, err)
	}
	s.FailNext("DELETE", cloudtest.Succeed, cloudtest.Status(403, "FORBIDDEN", "No"))
	result, err = run[RemoveResult](t.Context(), api, &Remove{Names: []string{"a", "b", "a", "c"}})
	if f := report.As(err); f.Code != report.Partial || len(f.Problems) != 2 || f.HTTPStatus != 403 {
		t.Errorf("%+v", f)
	}
	var got []string
	for _, item := range result.Removed {
		got = append(got, item.Name+" "+string(item.Result))
	}
	if want := []string{"a removed", "b failed", "c not_tried"}; !slices.Equal(got, want) || !result.Deleted {
		t.Errorf("%q", got)
	}
}

// An interrupt says how far the run came, and what may be done all the same.
func TestRemoveOfSeveralIsInterrupted(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	for _, name := range []string{"a", "b", "c"} {
		s.Put(name, "us-west", "ready", "A")
	}
	s.Expect("GET ~/secrets/a", "GET ~/secrets/b", "GET ~/secrets/c")
	s.Expect("DELETE ~/secrets/a", "DELETE ~/secrets/b")
	ctx, cancel := context.WithCancel(context.Background())
	s.FailNext("DELETE", cloudtest.Succeed,
		func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
			cancel()
			<-r.Context().Done()
		})
	api, _ := connect(t, s)
	remove := &Remove{Names: []string{"a", "b", "c"}, Again: "vbot AGAIN"}
	result, err := run[RemoveResult](ctx, api, remove)
	if f := report.As(err); f.Code != report.Interrupted || f.Error() != "interrupted; deleted 1 of 3" ||
		f.Hint != "to finish, run: vbot AGAIN" || f.Retryable {
		t.Errorf("%+v", f)
	}
	if got := result.Removed; got[0].Result != "removed" || got[1].Result != "unconfirmed" ||
		got[2].Result != "not_tried" {
		t.Errorf("%+v", got)
	}
}

// A dry run asks what there is, and changes nothing.
func TestDryRunsSendNoWrites(t *testing.T) {
	s := cloudtest.New(t, userAgent)
	s.Put("app", "us-west", "ready", "A", "B")
	s.Expect("GET ~/secrets/app", "GET ~/secrets", "GET ~/secrets", "GET ~/regions")
	api, _ := connect(t, s)
	unset := &Remove{Names: []string{"app"}, Keys: []string{"A", "B"}, DryRun: true}
	removal, err := run[RemoveResult](t.Context(), api, unset)
	if err != nil || removal.Deleted || removal.count(resultPlanned) != 2 || asText(removal) !=
		"would remove key A of secret set app of organization acme, region us-west\n"+
			"would remove key B of secret set app of organization acme, region us-west\n" {
		t.Errorf("%+v, %v: %s", removal, err, asText(removal))
	}
	pullSecret := &PullSecret{Name: "hub", Host: "https://ghcr.io", DryRun: true}
	stored, err := run[PullSecretResult](t.Context(), api, pullSecret)
	if err != nil || stored.Result != resultPlanned || !stored.Created {
		t.Errorf("%+v, %v", stored, err)
	}
	reference := &Reference{Name: "team", Region: "us-west", DryRun: true}
	registered, err := run[ReferenceResult](t.Context(), api, reference)
	if err != nil || registered.Result != resultPlanned {
		t.Errorf("%+v, %v", registered, err)
	}
}

// A name that refers to a Secret of a cluster takes no credentials, and a name of the API's own secrets no
// reference. Both are known before anything is written.
func TestNamesOfOtherSources(t *testing.T) {
	s := cloudtest.New(t, userAgent).Expect("GET ~/secrets", "GET ~/secrets")
	s.Put("app", "us-west", "ready", "A")
	hub := s.Put("hub", "pce-acme", "ready")
	hub.Kind, hub.Source = cloud.TypeImagePull, cloud.SourceReferenced
	api, _ := connect(t, s)
	for _, c := range []struct {
		command command
		want    string
	}{
		{
			&Reference{Name: "app", Region: "pce-acme"},
			"a secret set named app already exists; nothing was written",
		},
		{
			&PullSecret{Name: "hub", Host: "https://ghcr.io"},
			"hub refers to a Kubernetes Secret in your own cluster; read and change its keys there",
		},
	} {
		_, err := c.command.Run(t.Context(), api)
		if !report.HasCode(err, report.Rejected) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A secret that is ready is not waited for; neither is one that will never be.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		status, code string
		polls        []string // the statuses that follow
	}{
		{"ready", "", nil},
		{"pending", "", []string{"pending", "ready"}},
		{"pending", report.Failed, []string{"failed"}},
		{"failed", report.Failed, nil},
		{"pending", report.Timeout, []string{"pending"}},
	} {
		s := cloudtest.NewLenient(t, userAgent)
		defer s.Close()
		s.Put("app", "us-west", c.status, "A")
		s.Statuses = append([]string{c.status}, c.polls...)
		api, _ := connect(t, s)
		result, err := run[WaitResult](t.Context(), api, &Wait{Name: "app", Limit: 20 * time.Second})
		isReady := err == nil && result.Status == "ready"
		if isReady != (c.code == "") || err != nil && !report.HasCode(err, c.code) {
			t.Errorf("%+v: %+v, %v", c, result, err)
		}
		if isSlow := len(s.Clock.Pauses) > 0; isSlow != (len(c.polls) > 0) {
			t.Errorf("%+v: pauses %v", c, s.Clock.Pauses)
		}
	}
}

// The time of --timeout is over even if the API does not answer.
func TestWaitForAnAPIThatHangs(t *testing.T) {
	s := cloudtest.NewLenient(t, userAgent)
	defer s.Close()
	s.Put("app", "us-west", "pending", "A")
	hang := s.Clock.Hang(5 * time.Second)
	s.FailNext("GET", hang, hang)
	api, _ := connect(t, s)
	began := s.Clock.Time
	_, err := run[WaitResult](t.Context(), api, &Wait{Name: "app", Limit: 5 * time.Second})
	if took := s.Clock.Time.Sub(began); !report.HasCode(err, report.Timeout) || took > 6*time.Second {
		t.Errorf("%v, after %v", err, took)
	}
}

func TestCheckFailsForMissingKeys(t *testing.T) {
	s := cloudtest.New(t, userAgent).Expect("GET ~/secrets/app", "GET ~/secrets/app", "GET ~/secrets/app")
	s.Put("app", "us-west", "ready", "A", "X")
	api, _ := connect(t, s)
	check := &Check{Name: "app"}
	if problems := check.Pairs.AddFile(".env", []byte("A=1\nB="), true); problems != nil {
		t.Fatal(problems)
	}
	result, err := check.Run(t.Context(), api)
	if !report.HasCode(err, report.Differs) || asText(result) != "KEY  STATE\nB    missing\nX    extra\n" {
		t.Errorf("%v\n%s", err, asText(result))
	}
	check.SkipEmpty = true
	if _, err = check.Run(t.Context(), api); err != nil {
		t.Error(err)
	}
	check.Exact = true
	_, err = check.Run(t.Context(), api)
	const extra = "secret set app of organization acme has X, which .env lacks"
	if err == nil || err.Error() != extra {
		t.Error(err)
	}
}

// A field of State that stateOf forgets would always be null.
func TestStateOfSetsEveryField(t *testing.T) {
	var entry cloud.Entry
	v := reflect.ValueOf(&entry).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type.Kind() == reflect.String {
			v.FieldByIndex(f.Index).SetString(f.Name)
		}
	}
	state := reflect.ValueOf(stateOf(&cloud.Client{Organization: "acme"}, entry))
	for i := range state.NumField() {
		if state.Field(i).IsZero() {
			t.Errorf("%s is not set", state.Type().Field(i).Name)
		}
	}
}

// Arrays are never null.
func TestEmptySetsInJSON(t *testing.T) {
	s := cloudtest.New(t, userAgent).Expect("GET ~/secrets/app", "GET ~/secrets/app")
	s.Put("app", "us-west", "ready")
	api, _ := connect(t, s)
	shown, err := run[ShowResult](t.Context(), api, &Show{Name: "app"})
	if err != nil || !strings.Contains(asJSON(t, shown), `"keys":[]`) {
		t.Errorf("%s, %v", asJSON(t, shown), err)
	}
	compared, err := run[CheckResult](t.Context(), api, &Check{Name: "app"})
	if err != nil || !strings.Contains(asJSON(t, compared), `"missing":[],"extra":[]`) {
		t.Errorf("%s, %v", asJSON(t, compared), err)
	}
}
