package cloud

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"vbot/internal/report"
)

// Address is the API's address. Its openapi.json describes the API.
const Address = "https://api.pipecat.daily.co"

const (
	maxTries    = 4
	firstPause  = 500 * time.Millisecond // doubled for each further try
	tryTimeout  = 30 * time.Second       // for one request with its answer
	callTimeout = 2 * time.Minute        // for a request with all its tries
	maxAnswer   = 2 << 20                // bytes; a listing of 200 sets has 30,000
	maxInformed = 8                      // answers before the final one
	maxAfter    = 1000 * time.Hour       // of Retry-After
	maxDepth    = 5                      // levels of an answer; what vbot reads has three

	maxAuthorities = 4 << 20 // bytes; the certificates of a Linux system have 220,000
)

// Deps is what a client needs from the program.
type Deps struct {
	UserAgent string
	Getenv    func(string) string
	Path      func(name string) string // resolves it against the working directory
	Now       func() time.Time
	Pause     func(context.Context, time.Duration) error
	// WithTimeout is context.WithTimeout, by the same clock as Now and Pause.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	Random      func() float64    // from [0, 1)
	Note        func(text string) // tells the person about a retry
}

// A Client calls the API with one token.
type Client struct {
	Deps
	Base         *url.URL
	Organization string        // "" for a key that belongs to one
	TryTimeout   time.Duration // for one request with its answer
	CallTimeout  time.Duration // for a request with all its tries
	TokenFrom    string        // a variable, a file, or ""

	token     Secret
	accepted  bool   // the API has accepted the token
	doing     string // instead of what the requests do, for messages; or ""
	proxy     *url.URL
	transport *http.Transport
	wanted    atomic.Bool // a server wants a certificate of vbot

	carried, forms []Secret        // see carry
	named          map[string]bool // what requests name, and the API said
}

// New makes a client for the API at base. roots are the authorities to trust; nil
// means the system's.
func New(base *url.URL, roots *x509.CertPool, d Deps) *Client {
	c := &Client{Deps: d, Base: base, TryTimeout: tryTimeout, CallTimeout: callTimeout, named: map[string]bool{}}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if base != nil && base.Scheme == "http" {
		dialer.Control = onlyThisMachine(base.Host)
	} else if base != nil {
		c.proxy, _ = http.ProxyFromEnvironment(&http.Request{URL: base}) // Open has checked it
	}
	if c.proxy != nil && c.proxy.User != nil {
		password, _ := c.proxy.User.Password()
		c.carry(NewSecret(password))
		c.carry(NewSecret(c.proxy.User.Username() + ":" + password))
	}
	// With each request on a connection of its own, in HTTP/1.1, net/http repeats none by
	// itself, whatever the server does.
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	c.transport = &http.Transport{
		Protocols:          protocols,
		DisableKeepAlives:  true,
		Proxy:              http.ProxyURL(c.proxy),
		ProxyConnectHeader: http.Header{"User-Agent": {d.UserAgent}},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			return proxyRefusal(resp.StatusCode)
		},
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig: &tls.Config{RootCAs: roots, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c.wanted.Store(true)
			return &tls.Certificate{}, nil // none
		}},
	}
	// net/http logs bytes that a server sends unasked.
	log.SetOutput(io.Discard)
	return c
}

// personal reports whether the token belongs to a person, who may be in several
// organizations. A private API key belongs to one organization.
func (c *Client) personal() bool { return strings.HasPrefix(c.token.Reveal(), "pcc_pat_") }

// parseAddress parses the API's address. Its error does not repeat the address,
// which may hold a password.
func parseAddress(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return nil, errors.New("must be a URL such as " + Address)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must not contain a user, a query or a fragment")
	}
	ip := net.ParseIP(u.Hostname())
	loopback := strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil, errors.New("must start with https://; http:// is allowed only for localhost and 127.0.0.1")
	}
	u.Host = strings.ToLower(u.Host)
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// onlyThisMachine refuses to dial any other machine: names such as localhost may have
// any address. http would send the token there in clear text.
func onlyThisMachine(host string) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		dialed, _, _ := net.SplitHostPort(address)
		if ip := net.ParseIP(dialed); ip == nil || !ip.IsLoopback() {
			return &fault{Failure: report.Failure{
				Code: report.Failed, Hint: "use https in VBOT_API_URL",
				Message: fmt.Sprintf("%s is %s, another machine; http would send the token there in clear text", host, dialed),
			}}
		}
		return nil
	}
}

// IsProxy reports whether s is the address of a proxy. net/http ignores others, and
// connects directly.
func IsProxy(s string) bool {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// authorities returns the system's authorities and those in the file.
func authorities(name string) (*x509.CertPool, error) {
	data, _, err := readFile(name, maxAuthorities)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	const begin = "-----BEGIN CERTIFICATE-----"
	blocks := strings.Split(string(data), begin)[1:]
	if len(blocks) == 0 {
		return nil, errors.New("contains no PEM certificate")
	}
	for i, rest := range blocks {
		// One by one: pem.Decode skips damaged blocks.
		var authority *x509.Certificate
		if block, _ := pem.Decode([]byte(begin + rest)); block != nil {
			authority, _ = x509.ParseCertificate(block.Bytes)
		}
		if authority == nil {
			return nil, fmt.Errorf("certificate %d is damaged", i+1)
		}
		pool.AddCert(authority)
	}
	return pool, nil
}

// A request is one call of the API.
type request struct {
	doing  string // for messages: "listing secrets"
	method string
	path   []string // below /v1
	query  url.Values
	body   map[string]any // strings, booleans and lists of such; or nil
	pairs  []Pair         // in the body
	asked  Ref            // what the answer must not contradict
}

// A shape is what a JSON answer is decoded into. It is believed if it neither contradicts
// what was asked for nor lacks anything.
type shape interface {
	misfit(asked Ref) string
	lacks() string
}

// A fault is why a try failed.
type fault struct {
	report.Failure
	soon  bool          // the same request may succeed at once
	after time.Duration // how long the API asked to wait
}

// IsBadRequest reports whether the API answered 400 or 422.
func IsBadRequest(err error) bool {
	return err != nil && slices.Contains([]int{http.StatusBadRequest, http.StatusUnprocessableEntity}, report.As(err).HTTPStatus)
}

// do sends the request, with retries, and decodes the answer into into. Every
// request can be repeated safely: it sets or removes, and never adds.
func (c *Client) do(ctx context.Context, r request, into shape) error {
	var body []byte
	if r.body != nil {
		body, _ = json.Marshal(r.body)
	}
	for _, name := range append(r.path, r.asked.Region) {
		c.named[name] = true
	}
	for _, p := range r.pairs {
		c.named[p.Key] = true
	}
	for _, p := range r.pairs {
		c.carry(p.Value)
	}
	r.doing = cmp.Or(c.doing, r.doing)
	began := c.Now()
	all, cancel := c.WithTimeout(ctx, c.CallTimeout)
	defer cancel()
	unsure := false
	for try := 1; ; try++ {
		e := c.try(all, r, body, into)
		if e == nil {
			c.accepted = true
			return nil
		}
		unsure = (unsure || e.Unsure) && r.method != http.MethodGet
		pause := firstPause << (try - 1)
		pause = pause/2 + time.Duration(c.Random()*float64(pause/2)) + e.after
		again := e.soon && try < maxTries && all.Err() == nil
		if again && pause > c.CallTimeout-c.Now().Sub(began) {
			if again = false; e.after > 0 {
				e.Message += fmt.Sprintf("; the API asks to wait %v, longer than vbot waits", e.after)
			}
		}
		if again {
			in := ""
			if e.after > 0 {
				in = fmt.Sprintf(" in %v", pause.Round(time.Second))
			}
			c.Note(fmt.Sprintf("%s: %s; trying again%s (%d of %d)", r.doing, e.Message, in, try+1, maxTries))
			c.Pause(all, pause) // the next try sees that there is no time left
		}
		switch {
		case ctx.Err() != nil && unsure:
			return interrupted(r.doing)
		case ctx.Err() != nil:
			return context.Canceled // it cannot have taken effect
		case !again:
			return e.failure(r.doing, try, unsure)
		}
	}
}

// failure returns the failure of a request after so many tries.
func (e *fault) failure(doing string, tries int, unsure bool) error {
	f := e.Failure
	f.Message, f.Unsure = doing+": "+f.Message, unsure
	if tries > 1 {
		f.Message += fmt.Sprintf(" (tried %d times)", tries)
	}
	if unsure {
		f.Message += "; the request may have succeeded"
		f.Hint = "it is safe to run the same command again"
	} else if f.Hint == "" && f.Retryable {
		f.Hint = "run the same command again later"
	}
	return &f
}

// interrupted returns the failure of a request that may have taken effect when the context
// ended.
func interrupted(doing string) error {
	f := fault{Failure: report.Failure{Code: report.Interrupted, Message: "interrupted", Retryable: true}}
	return f.failure(doing, 1, true)
}

// try sends the request once. It returns nil if the answer is believed.
func (c *Client) try(ctx context.Context, r request, body []byte, into shape) *fault {
	ctx, cancel := c.WithTimeout(ctx, c.TryTimeout)
	defer cancel()
	sent, informed := false, 0
	var handshakes atomic.Int32 // which end with the API's
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { handshakes.Add(1); c.wanted.Store(false) },
		GotConn:           func(httptrace.GotConnInfo) { sent = true },
		// With this, net/http no longer bounds their number.
		Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
			if informed++; informed > maxInformed || status != http.StatusContinue && status != http.StatusEarlyHints {
				return unexpected(status, "not a final status")
			}
			return nil
		},
	})
	u := *c.Base
	for _, segment := range append([]string{"v1"}, r.path...) {
		if segment == "" || segment == "." || segment == ".." {
			return &fault{Failure: report.Failure{Code: report.Failed, Message: "a name in the URL is empty or a relative path"}}
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
		return &fault{Failure: report.Failure{Code: report.Failed, Message: "the request is invalid"}}
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.transport.RoundTrip(req) // an http.Client would follow redirects, and send the values elsewhere
	if err != nil {
		toProxy := c.proxy != nil && (handshakes.Load() == 0 || c.proxy.Scheme == "https" && handshakes.Load() == 1)
		return c.noAnswer(err, sent, toProxy)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 { // net/http takes 101 for final; reading would have no end
		return unexpected(resp.StatusCode, "not a final status")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.noAnswer(err, true, false)
	}
	if resp.StatusCode > 299 {
		return c.refusal(resp, data)
	}
	if resp.StatusCode == http.StatusNoContent && r.method == http.MethodDelete {
		return nil
	}
	problem := c.decode(data, into)
	if problem == "" {
		problem = cmp.Or(into.misfit(r.asked), into.lacks())
	}
	if problem != "" {
		return unexpected(resp.StatusCode, problem)
	}
	return nil
}

// unexpected returns the fault of an answer that cannot be believed.
func unexpected(status int, what string) *fault {
	return &fault{Failure: report.Failure{Code: report.Failed, HTTPStatus: status, Unsure: true, Message: fmt.Sprintf("unexpected answer (%d): %s", status, what)}}
}

// known are the keys of answers that vbot reads, in lower case, and whether they hold prose.
var known = map[string]bool{
	"error": true, "message": true, "errormessage": true, "name": false, "fieldname": false, "region": false, "status": false,
	"type": false, "source": false, "success": false, "sets": false, "secrets": false, "organizations": false,
	"regions": false, "code": false,
}

// decode reads an answer into into, and returns why it cannot be believed, or "". It is the
// only way from an answer to the rest of the program. encoding/json alone takes keys that are
// there twice, and in any letter case.
func (c *Client) decode(data []byte, into any) (problem string) {
	switch {
	case len(data) > maxAnswer:
		return fmt.Sprintf("longer than %d megabytes", maxAnswer>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return "empty"
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")):
		return "a web page; a proxy or a Wi-Fi sign-in may have sent it"
	case !json.Valid(data):
		return "not JSON"
	}
	var tidy func(key string, data json.RawMessage, depth int) any
	tidy = func(key string, data json.RawMessage, depth int) any {
		switch {
		case depth > maxDepth:
			return nil
		case data[0] == '{':
			object := map[string]any{}
			members, _, _ := report.Members(data)
			for _, m := range members {
				name := strings.ToLower(strings.ToUpper(m.Key))
				if _, ok := known[name]; !ok || name == "code" && key != "regions" {
					continue
				}
				if _, twice := object[name]; twice {
					problem = "a key twice"
				}
				object[name] = tidy(name, m.Value, depth+1)
			}
			return object
		case data[0] == '[':
			var list []json.RawMessage
			json.Unmarshal(data, &list) // it is valid
			elements := []any{}
			for _, element := range list {
				elements = append(elements, tidy(key, element, depth+1))
			}
			return elements
		case data[0] == '"':
			var s string
			json.Unmarshal(data, &s)
			if known[key] {
				return c.prose(s)
			}
			problem = cmp.Or(problem, c.identifier(strings.TrimPrefix(key, "field"), s))
			return s
		}
		return data
	}
	data, _ = json.Marshal(tidy("", bytes.TrimSpace(data), 1))
	if json.Unmarshal(data, into) != nil {
		problem = cmp.Or(problem, "unexpected JSON")
	}
	return problem
}

// noAnswer returns the fault of a request without a complete answer. sent says whether the
// request may have been sent, and toProxy whether vbot did not come to talk with the API. The
// texts of net/http may quote a server, so none is shown.
func (c *Client) noAnswer(err error, sent, toProxy bool) *fault {
	if e, ok := errors.AsType[*fault](err); ok {
		return e // from the transport
	}
	at, check := c.Base.Host, "check the network, and VBOT_API_URL if it is set"
	if toProxy {
		at, check = "the proxy "+c.proxy.Host+" (HTTPS_PROXY)", "check HTTPS_PROXY"
	}
	fail := func(hint, message string, later, soon bool) *fault {
		return &fault{soon: soon, Failure: report.Failure{Code: report.Unavailable, Hint: hint, Message: message, Retryable: later, Unsure: later && sent, Err: err}}
	}
	op, _ := errors.AsType[*net.OpError](err)
	if op != nil && op.Err != nil {
		if inner, ok := errors.AsType[*net.OpError](op.Err); ok {
			op = inner // of an attempt to connect to a proxy
		}
	}
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	alert := op != nil && op.Op == "remote error"
	dns, isDNS := errors.AsType[*net.DNSError](err)
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, isPlain := errors.AsType[tls.RecordHeaderError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	errno, _ := errors.AsType[syscall.Errno](err)
	switch {
	case isDNS && dns.IsNotFound:
		return fail(check, at+" cannot be found", false, false)
	case isDNS:
		return fail("check the network", "the name server gave no address of "+dns.Name, true, !dns.IsTimeout) // which took long
	case errors.Is(err, context.DeadlineExceeded) || isNet && timeout.Timeout():
		e := fail("", at+" did not answer in time", true, true)
		e.Code = report.Timeout
		return e
	case isUntrusted:
		what, hint := certificateFault(untrusted.Err)
		return fail(cmp.Or(hint, check), "the certificate of "+at+" "+what, false, false)
	case isPlain:
		return fail(check, at+" does not speak TLS", false, false)
	case alert && c.wanted.Load():
		return fail(check, at+" wants a client certificate, which vbot does not have", false, false)
	case errno == syscall.ECONNREFUSED || errno == 10061: // WSAECONNREFUSED, Windows
		return fail(check, "nothing answers at "+at, true, false)
	case op != nil && (op.Op == "dial" || op.Op == "proxyconnect"):
		why := map[bool]string{true: ": " + errno.Error()}[errno != 0]
		return fail(check, at+" cannot be reached"+why, true, true)
	case alert || !ended && op == nil && !sent && !toProxy:
		return fail("vbot needs TLS 1.2 or newer; "+check, "no TLS connection to "+at, false, false)
	case !ended && op != nil && strings.HasPrefix(op.Op, "socks"):
		return fail(proxyHint, at+" did not connect to "+c.Base.Host, !strings.Contains(op.Err.Error(), "authentication"), false)
	case ended || op != nil:
		return fail("", "the connection to "+at+" was lost", true, true)
	}
	return fail(check, at+" sent no answer that vbot can read", true, true)
}

// proxyHint says what to do about a proxy that does not connect.
const proxyHint = "check HTTPS_PROXY, and its user and password if it has any"

// certificateFault returns what is wrong with a certificate, and what to do about it; "" if
// the address is to be checked.
func certificateFault(err error) (what, hint string) {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "has expired, or is not valid yet", "check the clock of this machine, and the server's certificate"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "is for another host", ""
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && !strings.Contains(err.Error(), "insecure algorithm") {
		return "is not trusted: its authority is unknown", "to trust another certificate authority, set VBOT_CA_FILE"
	}
	return "is not trusted", "the server needs another certificate"
}

// temporary reports whether the status says that the same request may succeed later, and
// soon.
func temporary(status int) (later, soon bool) {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, true
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true, false
	}
	return status >= 500, false
}

// proxyRefusal returns the fault of a proxy that answers CONNECT with the status, or nil.
func proxyRefusal(status int) error {
	if status == http.StatusOK {
		return nil
	}
	later, soon := temporary(status)
	return &fault{soon: soon, Failure: report.Failure{
		Code: report.Unavailable, Hint: proxyHint, Retryable: later,
		Message: strings.TrimSpace(fmt.Sprintf("the proxy refused the connection: %d %s", status, http.StatusText(status))),
	}}
}

// refusal returns the fault of an answer that is not a success.
func (c *Client) refusal(resp *http.Response, data []byte) *fault {
	var said struct{ Error, Message string }
	c.decode(data, &said) // it may be anything
	text, s := cmp.Or(said.Error, said.Message), resp.StatusCode
	e := &fault{Failure: report.Failure{Code: report.Rejected, HTTPStatus: s}}
	if e.Retryable, e.soon = temporary(s); e.Retryable {
		e.Code, e.Unsure = report.Unavailable, s >= 500 && s != http.StatusServiceUnavailable
	}
	e.Message = strings.TrimSpace(fmt.Sprintf("the API answered %d %s", s, http.StatusText(s)))
	if text != "" {
		e.Message += ": " + text
	}
	switch {
	case s >= 300 && s <= 399:
		e.Code, e.Hint = report.Failed, "check VBOT_API_URL"
		e.Message = fmt.Sprintf("the API answered with a redirect (%d); vbot does not follow it, because the token would go to another address", s)
	case s == http.StatusUnauthorized:
		e.Code, e.Hint = report.Unauthorized, c.otherToken()
		e.Message += "; the token"
		if c.TokenFrom != "" {
			e.Message += " from " + c.TokenFrom
		}
		e.Message += " is not valid"
	case s == http.StatusForbidden:
		e.Code, e.Hint = report.Forbidden, c.checkOrganization()+", or use a token that has the permission"
	case s == http.StatusNotFound && text == "":
		e.Code = report.Failed // a missing page is not a missing set
	case s == http.StatusNotFound:
		e.Code, e.Hint = report.NotFound, "`vbot cloud secrets list` lists all secrets"
		if !strings.Contains(resp.Request.URL.Path, "/secrets/") {
			e.Hint = c.checkOrganization() + ", and VBOT_API_URL if it is set"
		}
	case s == http.StatusConflict:
		// Somebody else is writing the same set: try again. But a name taken by a
		// referenced Secret stays taken.
		e.soon = !bytes.Contains(bytes.ToLower(data), []byte("referenc"))
		e.Retryable = e.soon
	}
	if e.soon {
		e.after = retryAfter(resp.Header, c.Now())
	}
	return e
}

// checkOrganization says where the organization came from.
func (c *Client) checkOrganization() string {
	if c.Organization != "" && c.Organization == c.Getenv("VBOT_ORGANIZATION") {
		return "check VBOT_ORGANIZATION (" + c.Organization + ")"
	}
	return "check --organization"
}

// retryAfter parses a Retry-After header: seconds, or a date by the clock of the server. What
// is longer than maxAfter is not waited for anyway.
func retryAfter(header http.Header, now time.Time) time.Duration {
	s := header.Get("Retry-After")
	if n, err := strconv.Atoi(s); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(n, 0), int(maxAfter/time.Second))) * time.Second
	}
	if said, err := http.ParseTime(header.Get("Date")); err == nil {
		now = said
	}
	if t, err := http.ParseTime(s); err == nil {
		return min(max(t.Sub(now), 0), maxAfter)
	}
	return 0
}
