// Package cloudtest is a fake of the API of Pipecat Cloud, for tests.
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

// A Fake is the API of Pipecat Cloud as openapi.json describes it. It is strict: it fails the test for a
// request that a client must not send, for an unexpected request, and for an expected one that never came.
type Fake struct {
	*httptest.Server
	t         testing.TB
	userAgent string // of every request
	Clock     *Clock // the client's, for faults that take time

	Mu         sync.Mutex
	Orgs       []string
	Personal   bool // the token belongs to a person; otherwise it is the key of Orgs[0]
	Sets       map[string]*Secret
	Cluster    map[string]string // the Kubernetes Secrets of region pce-acme, with their types
	NoBulk     bool              // accept only one key per request, as the Python client sends it
	Statuses   []string          // the statuses that the next reads return; the last one stays
	faults     map[string][]Fault
	Log        []string
	expected   []string
	AnyRequest bool            // accept any requests, without Expect
	Slow       time.Duration   // how long a write takes
	writing    map[string]bool // sets that are being written
	Overlaps   int
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

// New returns a fake that expects exactly the requests of its list; see Expect.
func New(t testing.TB, userAgent string) *Fake {
	s := NewLenient(t, userAgent)
	t.Cleanup(func() {
		s.Close()
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if !s.AnyRequest && !slices.Equal(s.Log, s.expected) {
			log, expected := strings.Join(s.Log, "\n  "), strings.Join(s.expected, "\n  ")
			t.Errorf("requests:\n  %s\nexpected:\n  %s", log, expected)
		}
		for on, left := range s.faults {
			if len(left) > 0 {
				t.Errorf("%d faults of %s never happened", len(left), on)
			}
		}
	})
	return s
}

// NewLenient returns a fake that accepts any request of the API, any number of times.
func NewLenient(t testing.TB, userAgent string) *Fake {
	s := &Fake{
		t: t, userAgent: userAgent, Clock: &Clock{Time: time.Unix(1e9, 0)},
		Orgs: []string{"acme"}, Personal: true, Sets: map[string]*Secret{},
		faults: map[string][]Fault{}, writing: map[string]bool{},
	}
	s.Server = httptest.NewServer(s)
	return s
}

// Put stores a secret set in the API. Each key has the value "old".
func (s *Fake) Put(name, region, status string, keys ...string) *Secret {
	k := &Secret{Kind: typeSet, region: region, status: status, Values: map[string]string{}}
	for _, key := range keys {
		k.Values[key] = "old"
	}
	s.Sets[name] = k
	return k
}

// Values returns what the API stores under the name, or nil.
func (s *Fake) Values(name string) map[string]string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if k := s.Sets[name]; k != nil {
		return maps.Clone(k.Values)
	}
	return nil
}

// Expect adds expected requests, in order, with the organization's path as ~.
func (s *Fake) Expect(requests ...string) *Fake {
	s.expected = append(s.expected, requests...)
	return s
}

// FailNext sets the faults of the next requests of the method, in order. Later requests succeed.
func (s *Fake) FailNext(method string, faults ...Fault) *Fake {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
	return s
}

// Env returns the environment for vbot. The lock tells the race detector that the test's setup happens before
// the requests, which another process may send.
func (s *Fake) Env() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return []string{
		"VBOT_API_URL=" + s.URL,
		"VBOT_TOKEN=" + Token,
		"VBOT_ORGANIZATION=acme",
		"VBOT_CONFIG=" + filepath.Join(filetest.Fresh(s.t), "config.json"),
	}
}

func (s *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	serve := func() { s.Respond(w, r, body) }
	if fault != nil {
		fault(w, r, body, serve)
		return
	}
	serve()
}

// checkHeaders fails the test if vbot must not send the request.
func (s *Fake) checkHeaders(r *http.Request, body []byte) {
	fail := func(format string, args ...any) {
		s.t.Errorf("%s %s: %s", r.Method, r.URL, fmt.Sprintf(format, args...))
	}
	if got := r.Header.Get("User-Agent"); got != s.userAgent {
		fail("User-Agent is %q", got)
	}
	if r.Header.Get("Accept") != "application/json" {
		fail("Accept is %q", r.Header.Get("Accept"))
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		fail("there is no bearer token")
	}
	writes := r.Method == "PUT" || r.Method == "POST"
	if writes != (r.Header.Get("Content-Type") == "application/json") || writes != (len(body) > 0) {
		fail("%d bytes of %q", len(body), r.Header.Get("Content-Type"))
	}
	query := r.URL.Query()
	isFilter := r.Method == "GET" && len(query) == 1 && query.Get("region") != ""
	if r.URL.RawQuery != "" && !isFilter {
		fail("query %q", r.URL.RawQuery)
	}
}

// SendJSON responds with JSON.
func SendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func sendError(w http.ResponseWriter, status int, code, message string) {
	SendJSON(w, status, map[string]string{"error": message, "code": code})
}

// Respond sends the response of the API.
func (s *Fake) Respond(w http.ResponseWriter, r *http.Request, body []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	isEscaped := strings.Contains(r.URL.EscapedPath(), "%") || slices.Contains(path, "") ||
		slices.Contains(path, "..")
	if path[0] != "v1" || isEscaped {
		s.t.Errorf("%s %s is no path of the API", r.Method, r.URL)
		return
	}
	path = path[1:]
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	hasOrganization := path[0] == "organizations"
	if s.Personal && token != Token || !s.Personal && token != Key || s.Personal && !hasOrganization {
		sendError(w, 401, "UNAUTHORIZED", "Unauthorized")
		return
	}
	if r.Method == "GET" && slices.Equal(path, []string{"organizations"}) {
		list := []map[string]string{}
		for _, o := range s.Orgs {
			list = append(list, map[string]string{"name": o, "verboseName": strings.ToUpper(o)})
		}
		SendJSON(w, 200, map[string]any{"organizations": list})
		return
	}
	if hasOrganization {
		if len(path) < 3 || !slices.Contains(s.Orgs, path[1]) {
			sendError(w, 403, "FORBIDDEN", "Not your organization")
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
		SendJSON(w, 200, map[string]any{"regions": list})
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

// status returns the status for the next read.
func (s *Fake) status(k *Secret) string {
	if len(s.Statuses) == 0 {
		return k.status
	}
	next := s.Statuses[0]
	if len(s.Statuses) > 1 {
		s.Statuses = s.Statuses[1:]
	}
	return next
}

func (s *Fake) list(w http.ResponseWriter, _ string) { // the filter is not described, and not applied
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
	SendJSON(w, 200, map[string]any{"sets": rows})
}

func (s *Fake) get(w http.ResponseWriter, name string) {
	k := s.Sets[name]
	if k == nil {
		sendError(w, 404, "NOT_FOUND", "Set not found")
		return
	}
	if k.Kind == typeImagePull {
		sendError(w, 400, "PCC-1006", "Cannot retrieve image pull secrets by name")
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
	SendJSON(w, 200, answer)
}

func (s *Fake) put(w http.ResponseWriter, name string, body []byte) {
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
		sendError(w, 409, "CONFLICT", "The set was modified concurrently, please retry")
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
		sendError(w, 409, "CONFLICT", "The name is used by a referenced secret")
		return
	}
	region := "us-west"
	if k != nil {
		region = k.region
	}
	if in.Region != nil && *in.Region != region && k != nil {
		sendError(w, 400, "GENERIC_BAD_REQUEST", "Set exists in another region")
		return
	}
	if in.Region != nil {
		region = *in.Region
		if !slices.Contains([]string{"us-west", "us-east", "eu-central", "ap-south"}, region) {
			sendError(w, 400, "GENERIC_BAD_REQUEST", "Invalid region")
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
		sendError(w, 400, "GENERIC_BAD_REQUEST", "Set is of another type")
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
			sendError(w, 400, "GENERIC_BAD_REQUEST", "secretKey is required")
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
	SendJSON(w, 202, map[string]string{"status": "OK", "region": k.region})
}

// reference registers a Kubernetes Secret, which the API looks for in the cluster.
func (s *Fake) reference(w http.ResponseWriter, body []byte) {
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
		sendError(w, 400, "GENERIC_BAD_REQUEST", "Secrets can be referenced in self-hosted regions only")
	case kind == "":
		sendError(w, 404, "NOT_FOUND", "Secret not found in the cluster")
	case k != nil && k.Source != sourceReferenced:
		sendError(w, 409, "CONFLICT", "The name is used by a secret that is not referenced")
	default:
		s.Sets[in.Name] = &Secret{Kind: kind, region: in.Region, status: "ready", Source: sourceReferenced}
		SendJSON(w, 200, map[string]string{
			"name": in.Name, "region": in.Region, "type": kind, "status": "ready",
		})
	}
}

func (s *Fake) remove(w http.ResponseWriter, path []string) {
	k := s.Sets[path[0]]
	if k == nil {
		sendError(w, 404, "NOT_FOUND", "Secret not found")
		return
	}
	if len(path) == 1 {
		delete(s.Sets, path[0])
	} else if _, ok := k.Values[path[1]]; ok {
		delete(k.Values, path[1])
	} else {
		sendError(w, 404, "NOT_FOUND", "Secret not found")
		return
	}
	SendJSON(w, 200, map[string]string{"status": "OK"})
}

// Faults.

// Drop closes the connection instead of answering.
func Drop(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// LoseResponse carries out the request, and closes the connection instead of responding.
func LoseResponse(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
	Apply(Drop)(w, r, body, serve)
}

// Apply carries out the request, and then responds with the fault.
func Apply(fault Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
		server := r.Context().Value(http.ServerContextKey).(*http.Server)
		server.Handler.(*Fake).Respond(httptest.NewRecorder(), r, body)
		fault(w, r, body, serve)
	}
}

// Truncate closes the connection in the middle of a response, after complete JSON.
func Truncate(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, `{"status":"OK","sets":[],"secrets":[],"organizations":[],"name":"team"}`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// Hang does not respond until the client closes the connection.
func Hang(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
	<-r.Context().Done()
}

// Informational sends informational responses (1xx), and then the correct one.
func Informational(statuses ...int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, serve func()) {
		for _, status := range statuses {
			w.WriteHeader(status)
		}
		serve()
	}
}

// OnlyInformational sends informational responses (1xx), and then nothing.
func OnlyInformational(statuses ...int) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
		if statuses[0] != http.StatusSwitchingProtocols {
			Informational(statuses...)(w, r, nil, func() { <-r.Context().Done() })
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

// Respond responds with status 200 and the body.
func Respond(body string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) { io.WriteString(w, body) }
}

// Huge responds with a body of more than 8 MiB.
func Huge(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
	fmt.Fprintf(w, `{"status":"OK","region":"%s"}`, strings.Repeat("x", 8<<20))
}

// Status responds with the HTTP status and an error in the API's form.
func Status(code int, word, message string, headers ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ func()) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		sendError(w, code, word, message)
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
		sendError(w, code, "ECHO", strings.Join(words, " | "))
	}
}

// Repeat returns n times the same fault.
func Repeat(n int, fault Fault) []Fault { return slices.Repeat([]Fault{fault}, n) }

// Succeed sends the correct response, for a request before one that fails.
func Succeed(_ http.ResponseWriter, _ *http.Request, _ []byte, serve func()) { serve() }

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
