// Package cloudtest stands in for the API of Pipecat Cloud in tests.
package cloudtest

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

	"vbot/internal/filetest"
)

// A Standin is the API of Pipecat Cloud as openapi.json describes it. It is strict: it
// fails the test for a request that a client must not send, for an unexpected request,
// and for an expected one that never came.
type Standin struct {
	*httptest.Server
	t         testing.TB
	userAgent string // of every request
	Clock     *Clock // the client's, for faults that take time

	Mu       sync.Mutex
	Orgs     []string
	Personal bool // the token belongs to a person; otherwise it is the key of Orgs[0]
	Sets     map[string]*Secret
	Cluster  map[string]string // the Kubernetes Secrets of region pce-acme, with their types
	NoBulk   bool              // accept only one key per request, as the Python client sends it
	Statuses []string          // the statuses that the next reads return; the last one stays
	faults   map[string][]Fault
	Log      []string
	wanted   []string
	Anything bool            // no list of wanted requests
	Slow     time.Duration   // how long a write takes
	writing  map[string]bool // sets that are being written
	Overlaps int
}

// Secret is what the API stores under one name.
type Secret struct {
	Kind    string
	region  string
	status  string
	Message string
	Source  string
	Values  map[string]string
	host    string
}

// The API's words.
const (
	typeSet          = "secret"
	typeImagePull    = "imagePullSecret"
	sourceReferenced = "referenced"
)

const (
	Token = "pcc_pat_tok3n-of-the-test"
	Key   = "private-key-of-the-test"
)

// A Fault responds instead of the API; serve sends the API's correct response.
type Fault func(w http.ResponseWriter, r *http.Request, body []byte, serve func())

// New returns a stand-in that expects exactly the requests in its list; see Want.
func New(t testing.TB, userAgent string) *Standin {
	s := Bare(t, userAgent)
	t.Cleanup(func() {
		s.Close()
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if !s.Anything && !slices.Equal(s.Log, s.wanted) {
			log, wanted := strings.Join(s.Log, "\n  "), strings.Join(s.wanted, "\n  ")
			t.Errorf("requests:\n  %s\nwanted:\n  %s", log, wanted)
		}
		for on, left := range s.faults {
			if len(left) > 0 {
				t.Errorf("%d faults of %s never happened", len(left), on)
			}
		}
	})
	return s
}

// Bare returns a stand-in that accepts any request of the API, any number of times.
func Bare(t testing.TB, userAgent string) *Standin {
	s := &Standin{
		t: t, userAgent: userAgent, Clock: &Clock{Time: time.Unix(1e9, 0)},
		Orgs: []string{"acme"}, Personal: true, Sets: map[string]*Secret{},
		faults: map[string][]Fault{}, writing: map[string]bool{},
	}
	s.Server = httptest.NewServer(s)
	return s
}

// Keep stores a secret set in the API.
func (s *Standin) Keep(name, region, status string, keys ...string) *Secret {
	k := &Secret{Kind: typeSet, region: region, status: status, Values: map[string]string{}}
	for _, key := range keys {
		k.Values[key] = "old"
	}
	s.Sets[name] = k
	return k
}

// Values returns what the API stores under the name, or nil.
func (s *Standin) Values(name string) map[string]string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if k := s.Sets[name]; k != nil {
		return maps.Clone(k.Values)
	}
	return nil
}

// Want adds expected requests, in order, with the organization's path as ~.
func (s *Standin) Want(requests ...string) *Standin {
	s.wanted = append(s.wanted, requests...)
	return s
}

// Misbehave makes the next requests of the method go wrong.
func (s *Standin) Misbehave(method string, how ...Fault) *Standin {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.faults[method] = append(s.faults[method], how...)
	return s
}

// Env is the environment for vbot. The lock tells the race detector that the test's setup
// happens before the requests, which another process may send.
func (s *Standin) Env() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return []string{
		"VBOT_API_URL=" + s.URL,
		"VBOT_TOKEN=" + Token,
		"VBOT_ORGANIZATION=acme",
		"VBOT_CONFIG=" + filepath.Join(filetest.Fresh(s.t), "config.json"),
	}
}

func (s *Standin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	short := strings.Replace(r.Method+" "+r.URL.RequestURI(), "/v1/organizations/acme/", "~/", 1)
	s.Mu.Lock()
	s.Log = append(s.Log, short)
	var fault Fault
	if left := s.faults[r.Method]; len(left) > 0 {
		fault, s.faults[r.Method] = left[0], left[1:]
	}
	s.Mu.Unlock()
	s.checkHeaders(r, body)
	serve := func() { s.Answer(w, r, body) }
	if fault != nil {
		fault(w, r, body, serve)
		return
	}
	serve()
}

// checkHeaders fails the test if the request is not one that vbot sends.
func (s *Standin) checkHeaders(r *http.Request, body []byte) {
	wrong := func(format string, args ...any) {
		s.t.Errorf("%s %s: %s", r.Method, r.URL, fmt.Sprintf(format, args...))
	}
	if got := r.Header.Get("User-Agent"); got != s.userAgent {
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
	query := r.URL.Query()
	isFilter := r.Method == "GET" && len(query) == 1 && query.Get("region") != ""
	if r.URL.RawQuery != "" && !isFilter {
		wrong("query %q", r.URL.RawQuery)
	}
}

// Say answers with JSON.
func Say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	Say(w, status, map[string]string{"error": message, "code": code})
}

// Answer sends the API's response.
func (s *Standin) Answer(w http.ResponseWriter, r *http.Request, body []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	isOdd := strings.Contains(r.URL.EscapedPath(), "%") || slices.Contains(path, "") ||
		slices.Contains(path, "..")
	if path[0] != "v1" || isOdd {
		s.t.Errorf("%s %s is no path of the API", r.Method, r.URL)
		return
	}
	path = path[1:]
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	long := path[0] == "organizations"
	if s.Personal && token != Token || !s.Personal && token != Key || s.Personal && !long {
		refuse(w, 401, "UNAUTHORIZED", "Unauthorized")
		return
	}
	if r.Method == "GET" && slices.Equal(path, []string{"organizations"}) {
		list := []map[string]string{}
		for _, o := range s.Orgs {
			list = append(list, map[string]string{"name": o, "verboseName": strings.ToUpper(o)})
		}
		Say(w, 200, map[string]any{"organizations": list})
		return
	}
	if long {
		if len(path) < 3 || !slices.Contains(s.Orgs, path[1]) {
			refuse(w, 403, "FORBIDDEN", "Not your organization")
			return
		}
		path = path[2:]
	}
	if r.Method == "GET" && slices.Equal(path, []string{"regions"}) {
		list := []map[string]string{}
		codes := strings.Fields("ap-south eu-central us-east us-west pce-acme pce-acme-production")
		for _, code := range codes {
			list = append(list, map[string]string{"code": code, "display_name": strings.ToUpper(code)})
		}
		Say(w, 200, map[string]any{"regions": list})
		return
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

// status is the status that a read returns.
func (s *Standin) status(k *Secret) string {
	if len(s.Statuses) == 0 {
		return k.status
	}
	next := s.Statuses[0]
	if len(s.Statuses) > 1 {
		s.Statuses = s.Statuses[1:]
	}
	return next
}

func (s *Standin) list(w http.ResponseWriter, _ string) { // the filter is not described, and not applied
	rows := []map[string]string{}
	for name, k := range s.Sets { // the order does not matter
		row := map[string]string{"name": name, "type": k.Kind}
		for field, value := range map[string]string{
			"region":       k.region,
			"status":       s.status(k),
			"errorMessage": k.Message,
			"source":       k.Source,
		} {
			if value != "" {
				row[field] = value
			}
		}
		rows = append(rows, row)
	}
	Say(w, 200, map[string]any{"sets": rows})
}

func (s *Standin) get(w http.ResponseWriter, name string) {
	k := s.Sets[name]
	if k == nil {
		refuse(w, 404, "NOT_FOUND", "Set not found")
		return
	}
	if k.Kind == typeImagePull {
		refuse(w, 400, "PCC-1006", "Cannot retrieve image pull secrets by name")
		return
	}
	keys := []map[string]string{}
	for key := range k.Values {
		keys = append(keys, map[string]string{"fieldName": key})
	}
	answer := map[string]any{"region": k.region, "secrets": keys}
	for field, value := range map[string]string{
		"status":       s.status(k),
		"errorMessage": k.Message,
		"source":       k.Source,
	} {
		if value != "" {
			answer[field] = value
		}
	}
	Say(w, 200, answer)
}

func (s *Standin) put(w http.ResponseWriter, name string, body []byte) {
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
		s.Overlaps++
		refuse(w, 409, "CONFLICT", "The set was modified concurrently, please retry")
		return
	}
	if s.Slow > 0 {
		s.writing[name] = true
		s.Mu.Unlock()
		time.Sleep(s.Slow)
		s.Mu.Lock()
		delete(s.writing, name)
	}
	k := s.Sets[name]
	if k != nil && k.Source == sourceReferenced {
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
		k = &Secret{Kind: typeSet, region: region, status: "pending", Values: map[string]string{}}
		if image {
			k.Kind = typeImagePull
		}
	}
	if image != (k.Kind == typeImagePull) {
		refuse(w, 400, "GENERIC_BAD_REQUEST", "Set is of another type")
		return
	}
	switch {
	case image:
		hasValue := in.Value != nil && *in.Value != ""
		hasHost := in.Host != nil && strings.Contains(*in.Host, "://")
		if !hasValue || !hasHost || in.Secrets != nil || in.Key != nil || in.Name != nil {
			s.t.Errorf("PUT %s: no body for an image pull secret", name)
			return
		}
		k.Values["value"], k.host = *in.Value, *in.Host
	case in.Secrets != nil:
		hasOther := in.Key != nil || in.Value != nil || in.Name != nil || in.IsImagePull != nil ||
			in.Host != nil
		if hasOther || len(*in.Secrets) == 0 {
			s.t.Errorf("PUT %s: the two forms are mixed", name)
			return
		}
		if s.NoBulk {
			refuse(w, 400, "GENERIC_BAD_REQUEST", "secretKey is required")
			return
		}
		for _, e := range *in.Secrets {
			if e.Key == nil || e.Value == nil || *e.Value == "" {
				s.t.Errorf("PUT %s: a pair is not whole", name)
				return
			}
			k.Values[*e.Key] = *e.Value
		}
	default:
		hasValue := in.Value != nil && *in.Value != ""
		hasName := in.Name != nil && *in.Name == name
		if in.Key == nil || !hasValue || !hasName || in.IsImagePull == nil {
			s.t.Errorf("PUT %s: the pair is not whole", name)
			return
		}
		k.Values[*in.Key] = *in.Value
	}
	s.Sets[name] = k
	Say(w, 202, map[string]string{"status": "OK", "region": k.region})
}

// reference registers a Kubernetes Secret, which the API looks for in the cluster.
func (s *Standin) reference(w http.ResponseWriter, body []byte) {
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
	kind := s.Cluster[in.Name]
	switch k := s.Sets[in.Name]; {
	case in.Region != "pce-acme":
		refuse(w, 400, "GENERIC_BAD_REQUEST", "Secrets can be referenced in self-hosted regions only")
	case kind == "":
		refuse(w, 404, "NOT_FOUND", "Secret not found in the cluster")
	case k != nil && k.Source != sourceReferenced:
		refuse(w, 409, "CONFLICT", "The name is used by a secret that is not referenced")
	default:
		s.Sets[in.Name] = &Secret{Kind: kind, region: in.Region, status: "ready", Source: sourceReferenced}
		Say(w, 200, map[string]string{"name": in.Name, "region": in.Region, "type": kind, "status": "ready"})
	}
}

func (s *Standin) remove(w http.ResponseWriter, path []string) {
	k := s.Sets[path[0]]
	if k == nil {
		refuse(w, 404, "NOT_FOUND", "Secret not found")
		return
	}
	if len(path) == 1 {
		delete(s.Sets, path[0])
	} else if _, ok := k.Values[path[1]]; ok {
		delete(k.Values, path[1])
	} else {
		refuse(w, 404, "NOT_FOUND", "Secret not found")
		return
	}
	Say(w, 200, map[string]string{"status": "OK"})
}

// Misbehaviours.

// Drop closes the connection instead of answering.
func Drop(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// LoseAnswer carries out the request, and closes the connection instead of responding.
func LoseAnswer(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
	Do(Drop)(w, r, body, serve)
}

// Do carries out the request, and then responds in another way.
func Do(otherwise Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
		server := r.Context().Value(http.ServerContextKey).(*http.Server)
		server.Handler.(*Standin).Answer(httptest.NewRecorder(), r, body)
		otherwise(w, r, body, serve)
	}
}

// Half closes the connection in the middle of a response, after complete JSON.
func Half(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, `{"status":"OK","sets":[],"secrets":[],"organizations":[],"name":"team"}`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// Hang does not respond until the client closes the connection.
func Hang(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
	<-r.Context().Done()
}

// Inform sends informational responses (1xx), and then the correct one.
func Inform(statuses ...int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, serve func()) {
		for _, status := range statuses {
			w.WriteHeader(status)
		}
		serve()
	}
}

// Informed sends informational responses (1xx), and then nothing.
func Informed(statuses ...int) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
		if statuses[0] != http.StatusSwitchingProtocols {
			Inform(statuses...)(w, r, nil, func() { <-r.Context().Done() })
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			defer conn.Close()
			const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
			io.WriteString(conn, switching)
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			io.Copy(io.Discard, conn)
		}
	}
}

// With200 responds with 200 and another body.
func With200(body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) { io.WriteString(w, body) }
}

func Huge(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	fmt.Fprintf(w, `{"status":"OK","region":"%s"}`, strings.Repeat("x", 8<<20))
}

// Status responds with the HTTP status and an error in the API's form.
func Status(code int, word, message string, headers ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		refuse(w, code, word, message)
	}
}

// Echo responds with the status, and a message that repeats everything that was sent:
// unchanged, quoted, and decoded.
func Echo(code int) Fault {
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

// Times repeats a fault n times.
func Times(n int, m Fault) []Fault { return slices.Repeat([]Fault{m}, n) }

// Right sends the correct response.
func Right(_ http.ResponseWriter, _ *http.Request, _ []byte, serve func()) { serve() }

// A Clock is the clock of runs within the test. A pause advances it.
type Clock struct {
	mu     sync.Mutex
	Time   time.Time
	Pauses []time.Duration
	Second time.Duration // the real duration of a second
	Begin  func()        // runs when a pause begins, if it is set
	limits []*limited
}

// A limited context ends when the clock has passed its deadline.
type limited struct {
	context.Context
	deadline time.Time
	done     chan struct{}
	once     sync.Once
	err      error // set before done is closed
}

// Deadline returns none, because net/http would compare it with the real time.
func (l *limited) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *limited) Done() <-chan struct{}       { return l.done }

func (l *limited) Err() error {
	select {
	case <-l.done:
		return l.err
	default:
		return nil
	}
}

func (l *limited) end(err error) {
	l.once.Do(func() {
		l.err = err
		close(l.done)
	})
}

// WithTimeout is context.WithTimeout by this clock.
func (c *Clock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &limited{Context: ctx, deadline: c.Time.Add(d), done: make(chan struct{})}
	c.limits = append(c.limits, l)
	stop := context.AfterFunc(ctx, func() { l.end(ctx.Err()) })
	return l, func() {
		stop()
		l.end(context.Canceled)
	}
}

// Hang advances the clock by a little more than d, and does not respond.
func (c *Clock) Hang(d time.Duration) Fault {
	return func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
		c.pass(d + 1)
		Hang(w, r, body, serve)
	}
}

// pass advances the clock.
func (c *Clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Time = c.Time.Add(d)
	for _, l := range c.limits {
		if c.Time.After(l.deadline) {
			l.end(context.DeadlineExceeded)
		}
	}
}

func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Time
}

func (c *Clock) Pause(ctx context.Context, d time.Duration) error {
	if c.Begin != nil {
		c.Begin()
	}
	time.Sleep(time.Duration(d.Seconds() * float64(c.Second)))
	c.pass(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Pauses = append(c.Pauses, d)
	return ctx.Err()
}
