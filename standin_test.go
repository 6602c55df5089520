package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vbot/internal/cloud"
)

// A standin is the API of Pipecat Cloud as its description has it, and strict: it
// fails the test for a request that a client must not send, for one that the test
// does not expect and for one that never came.
type standin struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	orgs     []string
	personal bool // the token is one of a person; else the key of orgs[0]
	sets     map[string]*kept
	cluster  map[string]string // the Kubernetes Secrets of region pce-acme, with their types
	noBulk   bool              // only one key a request, as the Python client sends it
	statuses []string          // what the next reads say of the status; the last stays
	faults   map[string][]misbehaviour
	log      []string
	wanted   []string
	anything bool            // no list of wanted requests
	slow     time.Duration   // how long a write takes
	writing  map[string]bool // sets that are being written
	overlaps int
}

// kept is what the API holds under one name.
type kept struct {
	kind    string
	region  string
	status  string
	message string
	source  string
	values  map[string]string
	host    string
}

const (
	testToken = "pcc_pat_tok3n-of-the-test"
	testKey   = "private-key-of-the-test"
)

// A misbehaviour answers in place of the API; serve is the API's right answer.
type misbehaviour func(w http.ResponseWriter, r *http.Request, body []byte, serve func())

func newStandin(t testing.TB) *standin {
	s := bareStandin(t)
	t.Cleanup(func() {
		s.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.anything && !slices.Equal(s.log, s.wanted) {
			t.Errorf("requests:\n  %s\nwanted:\n  %s", strings.Join(s.log, "\n  "), strings.Join(s.wanted, "\n  "))
		}
		for on, left := range s.faults {
			if len(left) > 0 {
				t.Errorf("%d faults of %s never happened", len(left), on)
			}
		}
	})
	return s
}

// bareStandin is one that takes any request of the API, any number of times.
func bareStandin(t testing.TB) *standin {
	s := &standin{t: t, orgs: []string{"acme"}, personal: true, sets: map[string]*kept{}, faults: map[string][]misbehaviour{}, writing: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	return s
}

// keep makes the API hold a secret set.
func (s *standin) keep(name, region, status string, keys ...string) *kept {
	k := &kept{kind: cloud.TypeSet, region: region, status: status, values: map[string]string{}}
	for _, key := range keys {
		k.values[key] = "old"
	}
	s.sets[name] = k
	return k
}

// values is what the API holds under the name; nil is nothing.
func (s *standin) values(name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.sets[name]; k != nil {
		return maps.Clone(k.values)
	}
	return nil
}

// want says which requests come, in order, with the organization's path as ~.
func (s *standin) want(requests ...string) *standin {
	s.wanted = append(s.wanted, requests...)
	return s
}

// misbehave makes the next requests of the method go wrong.
func (s *standin) misbehave(method string, how ...misbehaviour) *standin {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], how...)
	return s
}

// env is what vbot has to know. The lock tells the race detector that what the test
// set up before comes before the requests, which another process may send.
func (s *standin) env() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []string{"VBOT_API_URL=" + s.URL, "VBOT_TOKEN=" + testToken, "VBOT_ORGANIZATION=acme", "VBOT_CONFIG=" + filepath.Join(s.t.TempDir(), "config.json")}
}

func (s *standin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	short := strings.Replace(r.Method+" "+r.URL.RequestURI(), "/v1/organizations/acme/", "~/", 1)
	s.mu.Lock()
	s.log = append(s.log, short)
	var fault misbehaviour
	if left := s.faults[r.Method]; len(left) > 0 {
		fault, s.faults[r.Method] = left[0], left[1:]
	}
	s.mu.Unlock()
	s.checkHeaders(r, body)
	serve := func() { s.answer(w, r, body) }
	if fault != nil {
		fault(w, r, body, serve)
		return
	}
	serve()
}

// checkHeaders fails the test if the request is not one that vbot sends.
func (s *standin) checkHeaders(r *http.Request, body []byte) {
	wrong := func(format string, args ...any) {
		s.t.Errorf("%s %s: %s", r.Method, r.URL, fmt.Sprintf(format, args...))
	}
	if got := r.Header.Get("User-Agent"); got != "vbot/"+version {
		wrong("User-Agent is %q", got)
	}
	if r.Header.Get("Accept") != "application/json" {
		wrong("Accept is %q", r.Header.Get("Accept"))
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		wrong("there is no bearer token")
	}
	writes := r.Method == "PUT" || r.Method == "POST"
	if writes != (r.Header.Get("Content-Type") == "application/json") || writes != (len(body) > 0) {
		wrong("%d bytes of %q", len(body), r.Header.Get("Content-Type"))
	}
	if r.URL.RawQuery != "" && (r.Method != "GET" || len(r.URL.Query()) != 1 || r.URL.Query().Get("region") == "") {
		wrong("query %q", r.URL.RawQuery)
	}
}

// say answers with JSON.
func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	say(w, status, map[string]string{"error": message, "code": code})
}

// answer is what the API answers.
func (s *standin) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if path[0] != "v1" || strings.Contains(r.URL.EscapedPath(), "%") || slices.Contains(path, "") || slices.Contains(path, "..") {
		s.t.Errorf("%s %s is no path of the API", r.Method, r.URL)
		return
	}
	path = path[1:]
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	long := path[0] == "organizations"
	if s.personal && token != testToken || !s.personal && token != testKey || s.personal && !long {
		refuse(w, 401, "UNAUTHORIZED", "Unauthorized")
		return
	}
	if r.Method == "GET" && slices.Equal(path, []string{"organizations"}) {
		list := []map[string]string{}
		for _, o := range s.orgs {
			list = append(list, map[string]string{"name": o, "verboseName": strings.ToUpper(o)})
		}
		say(w, 200, map[string]any{"organizations": list})
		return
	}
	if long {
		if len(path) < 3 || !slices.Contains(s.orgs, path[1]) {
			refuse(w, 403, "FORBIDDEN", "Not your organization")
			return
		}
		path = path[2:]
	}
	if path[0] != "secrets" || len(path) > 3 {
		s.t.Errorf("%s %s is no path of the API", r.Method, r.URL)
		return
	}
	switch path = path[1:]; {
	case r.Method == "GET" && len(path) == 0:
		s.list(w, r.URL.Query().Get("region"))
	case r.Method == "GET" && len(path) == 1:
		s.get(w, path[0])
	case r.Method == "POST" && slices.Equal(path, []string{"references"}):
		s.reference(w, body)
	case slices.Contains(path, "references"):
		s.t.Errorf("%s %s takes a route of the API for a set", r.Method, r.URL)
	case r.Method == "PUT" && len(path) == 1:
		s.put(w, path[0], body)
	case r.Method == "DELETE" && len(path) > 0:
		s.remove(w, path)
	default:
		s.t.Errorf("%s %s is no request of the API", r.Method, r.URL)
	}
}

// status is what a read says of the readiness.
func (s *standin) status(k *kept) string {
	if len(s.statuses) == 0 {
		return k.status
	}
	next := s.statuses[0]
	if len(s.statuses) > 1 {
		s.statuses = s.statuses[1:]
	}
	return next
}

func (s *standin) list(w http.ResponseWriter, _ string) { // the filter is not described, and not applied
	rows := []map[string]string{}
	for name, k := range s.sets { // in any order
		row := map[string]string{"name": name, "type": k.kind}
		for field, value := range map[string]string{"region": k.region, "status": s.status(k), "errorMessage": k.message, "source": k.source} {
			if value != "" {
				row[field] = value
			}
		}
		rows = append(rows, row)
	}
	say(w, 200, map[string]any{"sets": rows})
}

func (s *standin) get(w http.ResponseWriter, name string) {
	k := s.sets[name]
	if k == nil {
		refuse(w, 404, "NOT_FOUND", "Set not found")
		return
	}
	if k.kind == cloud.TypeImagePull {
		refuse(w, 400, "PCC-1006", "Cannot retrieve image pull secrets by name")
		return
	}
	keys := []map[string]string{}
	for key := range k.values {
		keys = append(keys, map[string]string{"fieldName": key})
	}
	answer := map[string]any{"region": k.region, "secrets": keys}
	for field, value := range map[string]string{"status": s.status(k), "errorMessage": k.message, "source": k.source} {
		if value != "" {
			answer[field] = value
		}
	}
	say(w, 200, answer)
}

func (s *standin) put(w http.ResponseWriter, name string, body []byte) {
	type entry struct {
		Key   *string `json:"secretKey"`
		Value *string `json:"secretValue"`
	}
	var in struct {
		Secrets     *[]entry `json:"secrets"`
		Name        *string  `json:"name"`
		IsImagePull *bool    `json:"isImagePullSecret"`
		Key         *string  `json:"secretKey"`
		Value       *string  `json:"secretValue"`
		Host        *string  `json:"host"`
		Region      *string  `json:"region"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || dec.More() {
		s.t.Errorf("PUT %s: the body is not one of the API: %v", name, err)
		return
	}
	if s.writing[name] {
		s.overlaps++
		refuse(w, 409, "CONFLICT", "The set was modified concurrently, please retry")
		return
	}
	if s.slow > 0 {
		s.writing[name] = true
		s.mu.Unlock()
		time.Sleep(s.slow)
		s.mu.Lock()
		delete(s.writing, name)
	}
	k := s.sets[name]
	if k != nil && k.source == cloud.SourceReferenced {
		refuse(w, 409, "CONFLICT", "The name is used by a referenced secret")
		return
	}
	region := "us-west"
	if k != nil {
		region = k.region
	}
	if in.Region != nil && *in.Region != region && k != nil {
		refuse(w, 400, "GENERIC_BAD_REQUEST", "Set exists in another region")
		return
	}
	if in.Region != nil {
		region = *in.Region
		if !slices.Contains([]string{"us-west", "us-east", "eu-central", "ap-south"}, region) {
			refuse(w, 400, "GENERIC_BAD_REQUEST", "Invalid region")
			return
		}
	}
	image := in.IsImagePull != nil && *in.IsImagePull
	if k == nil {
		k = &kept{kind: cloud.TypeSet, region: region, status: "pending", values: map[string]string{}}
		if image {
			k.kind = cloud.TypeImagePull
		}
	}
	if image != (k.kind == cloud.TypeImagePull) {
		refuse(w, 400, "GENERIC_BAD_REQUEST", "Set is of another type")
		return
	}
	switch {
	case image:
		if in.Value == nil || *in.Value == "" || in.Host == nil || !strings.Contains(*in.Host, "://") || in.Secrets != nil || in.Key != nil || in.Name != nil {
			s.t.Errorf("PUT %s: no body for an image pull secret", name)
			return
		}
		k.values["value"], k.host = *in.Value, *in.Host
	case in.Secrets != nil:
		if in.Key != nil || in.Value != nil || in.Name != nil || in.IsImagePull != nil || in.Host != nil || len(*in.Secrets) == 0 {
			s.t.Errorf("PUT %s: the two forms are mixed", name)
			return
		}
		if s.noBulk {
			refuse(w, 400, "GENERIC_BAD_REQUEST", "secretKey is required")
			return
		}
		for _, e := range *in.Secrets {
			if e.Key == nil || e.Value == nil || *e.Value == "" {
				s.t.Errorf("PUT %s: a pair is not whole", name)
				return
			}
			k.values[*e.Key] = *e.Value
		}
	default:
		if in.Key == nil || in.Value == nil || *in.Value == "" || in.Name == nil || *in.Name != name || in.IsImagePull == nil {
			s.t.Errorf("PUT %s: the pair is not whole", name)
			return
		}
		k.values[*in.Key] = *in.Value
	}
	s.sets[name] = k
	say(w, 202, map[string]string{"status": "OK", "region": k.region})
}

// reference registers a Kubernetes Secret, which the API looks for in the cluster.
func (s *standin) reference(w http.ResponseWriter, body []byte) {
	var in struct {
		Name   string `json:"name"`
		Region string `json:"region"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || dec.More() || in.Name == "" || in.Region == "" {
		s.t.Errorf("POST references: the body is not one of the API: %s", body)
		return
	}
	kind := s.cluster[in.Name]
	switch k := s.sets[in.Name]; {
	case in.Region != "pce-acme":
		refuse(w, 400, "GENERIC_BAD_REQUEST", "Secrets can be referenced in self-hosted regions only")
	case kind == "":
		refuse(w, 404, "NOT_FOUND", "Secret not found in the cluster")
	case k != nil && k.source != cloud.SourceReferenced:
		refuse(w, 409, "CONFLICT", "The name is used by a secret that is not referenced")
	default:
		s.sets[in.Name] = &kept{kind: kind, region: in.Region, status: "ready", source: cloud.SourceReferenced}
		say(w, 200, map[string]string{"name": in.Name, "region": in.Region, "type": kind, "status": "ready"})
	}
}

func (s *standin) remove(w http.ResponseWriter, path []string) {
	k := s.sets[path[0]]
	if k == nil {
		refuse(w, 404, "NOT_FOUND", "Secret not found")
		return
	}
	if len(path) == 1 {
		delete(s.sets, path[0])
	} else if _, ok := k.values[path[1]]; ok {
		delete(k.values, path[1])
	} else {
		refuse(w, 404, "NOT_FOUND", "Secret not found")
		return
	}
	say(w, 200, map[string]string{"status": "OK"})
}

// Misbehaviours.

// drop closes the connection instead of answering.
func drop(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// loseAnswer does what was asked, and closes the connection instead of saying so.
func loseAnswer(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		defer conn.Close()
	}
	r.Context().Value(http.ServerContextKey).(*http.Server).Handler.(*standin).answer(httptest.NewRecorder(), r, body)
}

// half closes the connection in the middle of the answer.
func half(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, `{"status":"OK",`)
	panic(http.ErrAbortHandler)
}

// hang answers when the client has gone away.
func hang(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
	<-r.Context().Done()
}

// with200 answers 200 with a body of another kind.
func with200(body string) misbehaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) { io.WriteString(w, body) }
}

func huge(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	fmt.Fprintf(w, `{"status":"OK","region":"%s"}`, strings.Repeat("x", 8<<20))
}

// status answers with the HTTP status and the API's form of an error.
func status(code int, word, message string, headers ...string) misbehaviour {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		refuse(w, code, word, message)
	}
}

// echo answers with the status, and repeats in its message all that was sent, as
// it is, quoted, and decoded.
func echo(code int) misbehaviour {
	return func(w http.ResponseWriter, r *http.Request, body []byte, _ func()) {
		words := []string{"got", string(body), r.Header.Get("Authorization"), fmt.Sprintf("%q", body)}
		var v any
		json.Unmarshal(body, &v)
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case string:
				words = append(words, v, base64.StdEncoding.EncodeToString([]byte(v)))
				if plain, err := base64.StdEncoding.DecodeString(v); err == nil {
					_, password, _ := strings.Cut(string(plain), ":")
					words = append(words, string(plain), password)
				}
			case []any:
				for _, x := range v {
					walk(x)
				}
			case map[string]any:
				for _, k := range slices.Sorted(maps.Keys(v)) {
					walk(v[k])
				}
			}
		}
		walk(v)
		refuse(w, code, "ECHO", strings.Join(words, " | "))
	}
}

// times is one misbehaviour, several times.
func times(n int, m misbehaviour) []misbehaviour { return slices.Repeat([]misbehaviour{m}, n) }

// right is the right answer.
func right(_ http.ResponseWriter, _ *http.Request, _ []byte, serve func()) { serve() }

// Runs within the test, with a clock that a pause puts on.

type fakeClock struct {
	mu     sync.Mutex
	t      time.Time
	pauses []time.Duration
	real   time.Duration // what a second takes in truth
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) pause(ctx context.Context, d time.Duration) error {
	time.Sleep(time.Duration(d.Seconds() * float64(c.real)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	c.pauses = append(c.pauses, d)
	return ctx.Err()
}

// here is a run of vbot within the test.
type here struct {
	ctx   context.Context
	stdin io.Reader
	env   []string
	dir   string
	clock *fakeClock
}

func (h here) vbot(t testing.TB, args ...string) result {
	t.Helper()
	if h.ctx == nil {
		h.ctx = context.Background()
	}
	if h.stdin == nil {
		h.stdin = strings.NewReader("")
	}
	if h.dir == "" {
		h.dir = t.TempDir()
	}
	if h.clock == nil {
		h.clock = &fakeClock{t: time.Unix(1e9, 0)}
	}
	var stdout, stderr bytes.Buffer
	code := run(h.ctx, args, &app{stdin: h.stdin, stdout: &stdout, stderr: &stderr, dir: h.dir,
		getenv: func(name string) string {
			for _, kv := range slices.Backward(h.env) {
				if v, ok := strings.CutPrefix(kv, name+"="); ok {
					return v
				}
			}
			return ""
		},
		now: h.clock.now, pause: h.clock.pause, random: func() float64 { return 0.5 },
	})
	return result{args, stdout.String(), stderr.String(), code}
}

// here runs vbot within the test against the stand-in, signed in.
func (s *standin) here(t testing.TB, args ...string) result {
	t.Helper()
	return here{env: s.env()}.vbot(t, args...)
}

// transcript is the run as it looked, with the stand-in's address as API.
func (s *standin) transcript(r result) []byte {
	return bytes.ReplaceAll(r.transcript("/no/such/dir"), []byte(s.Listener.Addr().String()), []byte("API"))
}
