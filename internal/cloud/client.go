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

	maxAuthorities = 4 << 20 // bytes; the certificates of a Linux system have 220,000
)

// A World is what the client needs from the program.
type World struct {
	UserAgent string
	Getenv    func(string) string
	Path      func(name string) string // resolves it against the working directory
	Now       func() time.Time
	Pause     func(context.Context, time.Duration) error
	Random    func() float64    // from [0, 1)
	Note      func(text string) // tells the person about a retry
	IsHidden  func(rune) bool   // a terminal shows nothing for it
}

// A Client calls the API with one token.
type Client struct {
	World
	*cleaner
	Base         *url.URL
	Organization string // "" for a key that belongs to one
	TryTimeout   time.Duration
	CallTimeout  time.Duration
	TokenFrom    string // a variable, a file, or ""

	token    Secret
	accepted bool // the API has accepted the token
	http     *http.Client
}

// New makes a client for the API at base. roots are the authorities to trust; nil
// means the system's.
func New(base *url.URL, roots *x509.CertPool, world World) *Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	proxy := http.ProxyFromEnvironment
	if base != nil && base.Scheme == "http" {
		dialer.Control, proxy = onlyThisMachine(base.Host), nil
	}
	transport := &http.Transport{
		Proxy: proxy,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK {
				return &Error{code: Unavailable, hint: "check HTTPS_PROXY",
					Message: fmt.Sprintf("the proxy refused the connection: %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
			}
			return nil
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if roots == nil && base.Scheme == "https" {
				// Parsing the system's authorities takes about 10 ms, so start it now.
				// Verification uses the same pool and waits for it.
				go x509.SystemCertPool()
			}
			return dialer.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		TLSClientConfig:     &tls.Config{RootCAs: roots},
	}
	// With GODEBUG=http2debug=2 net/http logs requests with their values. It also
	// logs bytes that a server sends unasked.
	log.SetOutput(io.Discard)
	return &Client{World: world, cleaner: newCleaner(world.IsHidden), Base: base, TryTimeout: tryTimeout, CallTimeout: callTimeout, http: &http.Client{
		Transport: transport,
		// A redirect would send the values elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Personal says whether the token belongs to a person, who may be in several
// organizations. A private API key belongs to one organization.
func (c *Client) Personal() bool { return strings.HasPrefix(c.token.Reveal(), "pcc_pat_") }

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
			return &Error{code: Failed, hint: "use https in VBOT_API_URL",
				Message: fmt.Sprintf("%s is %s, another machine; http would send the token there in clear text", host, dialed)}
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
	body   any
	asked  Entry // what the answer must not contradict
}

// A shape is what a JSON answer is decoded into. It is believed if it neither contradicts
// what was asked for nor lacks anything.
type shape interface {
	misfit(asked Entry) string
	lacks() string
}

// The codes of an error, words that scripts match on.
const (
	Usage         = "usage"
	InvalidConfig = "invalid_config" // a variable or a file is wrong
	IO            = "io"
	Failed        = "failed"      // an unexpected answer
	Unavailable   = "unavailable" // no answer, or "not now"
	Timeout       = "timeout"
	Interrupted   = "interrupted"
	Rejected      = "rejected" // the API understood, and refuses
	Unauthorized  = "unauthorized"
	Forbidden     = "forbidden"
	NotFound      = "not_found"
)

// An Error is a failed request, or what keeps one from being sent.
type Error struct {
	Doing   string // for messages: "listing secrets"; "" if there was no request
	Message string // what was wrong, fit to show
	Tries   int
	Unsure  bool // the request may have taken effect
	code    string
	status  int           // of HTTP; 0 if there was no answer
	hint    string        // what to do
	later   bool          // the same request may succeed later
	soon    bool          // and soon enough to try it again at once
	after   time.Duration // how long the API asked to wait
	err     error

	field   string   // the option, variable or file that is wrong, or ""
	shown   string   // the same, as shown to people
	allowed []string // its allowed values, if they are known
}

func (e *Error) Unwrap() error { return e.err }

// Code is one of the codes above.
func (e *Error) Code() string { return e.code }

// HTTPStatus is 0 if there was no answer.
func (e *Error) HTTPStatus() int { return e.status }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.later }

// Field is the option, variable or file that is wrong, its name as shown to people, and
// its allowed values; "" if it is none of these.
func (e *Error) Field() (name, shown string, allowed []string) { return e.field, e.shown, e.allowed }

// Hint says what to do, or "".
func (e *Error) Hint() string {
	switch {
	case e.hint != "":
		return e.hint
	case e.Unsure:
		return "it is safe to run the same command again"
	case e.later:
		return "run the same command again later"
	}
	return ""
}

func (e *Error) Error() string {
	s := e.Message
	if e.Doing != "" {
		s = e.Doing + ": " + s
	}
	if e.Tries > 1 {
		s += fmt.Sprintf(" (tried %d times)", e.Tries)
	}
	if e.Unsure {
		s += "; the request may have succeeded"
	}
	return s
}

// asError finds the API's error in err's chain, or nil.
func asError(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// IsNotFound says whether the API answered that there is no such thing.
func IsNotFound(err error) bool {
	e := asError(err)
	return e != nil && e.code == NotFound
}

// IsBadRequest says whether the API answered 400 or 422.
func IsBadRequest(err error) bool {
	e := asError(err)
	return e != nil && (e.status == http.StatusBadRequest || e.status == http.StatusUnprocessableEntity)
}

// do sends the request, with retries, and decodes the answer into into. Every
// request can be repeated safely: it sets or removes, and never adds.
func (c *Client) do(ctx context.Context, r request, into shape) error {
	var body []byte
	if r.body != nil {
		body, _ = json.Marshal(r.body) // strings and booleans
	}
	c.Keep(r.asked.Name, r.asked.Region)
	began := c.Now()
	all, cancel := context.WithTimeout(ctx, c.CallTimeout)
	defer cancel()
	unsure := false
	for try := 1; ; try++ {
		e := c.try(all, r, body, into)
		if e == nil {
			c.accepted = true
			return nil
		}
		unsure = (unsure || e.Unsure) && r.method != http.MethodGet
		e.Doing, e.Tries, e.Unsure = r.doing, try, unsure
		if ctx.Err() != nil {
			return e.interrupted(ctx)
		}
		if !e.soon || try == maxTries || all.Err() != nil {
			return e
		}
		pause := firstPause << (try - 1)
		pause = pause/2 + time.Duration(c.Random()*float64(pause/2))
		pause += e.after
		if pause > c.CallTimeout-c.Now().Sub(began) {
			e.Message += fmt.Sprintf("; the API asks to wait %v, longer than vbot waits", e.after)
			return e
		}
		in := ""
		if e.after > 0 {
			in = fmt.Sprintf(" in %v", pause.Round(time.Second))
		}
		c.Note(fmt.Sprintf("%s: %s; trying again%s (%d of %d)", e.Doing, e.Message, in, try+1, maxTries))
		if c.Pause(all, pause) != nil && ctx.Err() != nil {
			return e.interrupted(ctx)
		}
	}
}

// interrupted returns the error of a call whose context has ended. That is the
// context's own error if the request cannot have taken effect.
func (e *Error) interrupted(ctx context.Context) error {
	if !e.Unsure {
		return context.Canceled
	}
	e.code, e.Message, e.hint, e.err = Interrupted, "interrupted", "", ctx.Err()
	return e
}

// try sends the request once.
func (c *Client) try(ctx context.Context, r request, body []byte, into shape) *Error {
	ctx, cancel := context.WithTimeout(ctx, c.TryTimeout)
	defer cancel()
	connected, informed := false, 0
	var notFinal atomic.Pointer[Error] // HTTP/2 hides the error of the hook
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
		// With this, net/http no longer bounds their number.
		Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
			if informed++; informed > maxInformed || status != http.StatusContinue && status != http.StatusEarlyHints {
				notFinal.Store(unexpected(status, "not a final status"))
				return notFinal.Load()
			}
			return nil
		},
	})
	u := *c.Base
	for _, segment := range append([]string{"v1"}, r.path...) {
		if segment == "" || segment == "." || segment == ".." {
			return &Error{code: Failed, Message: "a name in the URL is empty or a relative path"}
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
		return &Error{code: Failed, Message: "the request is invalid"}
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	req.Header.Set("User-Agent", c.UserAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if e := notFinal.Load(); e != nil {
		return e
	}
	if err != nil {
		return c.noAnswer(err, connected)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 { // net/http takes 101 for final; reading would have no end
		return unexpected(resp.StatusCode, "not a final status")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.noAnswer(err, true)
	}
	if resp.StatusCode > 299 {
		return c.refusal(resp, data)
	}
	if resp.StatusCode == http.StatusNoContent && r.method == http.MethodDelete {
		return nil
	}
	wrong := ""
	switch {
	case len(data) > maxAnswer:
		wrong = fmt.Sprintf("longer than %d megabytes", maxAnswer>>20)
	case len(bytes.TrimSpace(data)) == 0:
		wrong = "empty"
	case !json.Valid(data):
		wrong = "not JSON"
	case !c.decode(data, into):
		wrong = "unexpected JSON"
	default:
		wrong = cmp.Or(into.misfit(r.asked), into.lacks())
	}
	if wrong != "" {
		return unexpected(resp.StatusCode, wrong)
	}
	return nil
}

// unexpected returns the error of an answer that cannot be believed.
func unexpected(status int, what string) *Error {
	return &Error{code: Failed, status: status, Unsure: true, Message: fmt.Sprintf("unexpected answer (%d): %s", status, what)}
}

// noAnswer returns the error of a request without a complete answer. connected says
// whether the request may have been sent.
func (c *Client) noAnswer(err error, connected bool) *Error {
	if e := asError(err); e != nil {
		return e // from the transport
	}
	host := c.Base.Host
	e := &Error{code: Unavailable, err: err, hint: "check the network, and VBOT_API_URL and HTTPS_PROXY if they are set"}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		e.Message, e.soon, e.later = "the host "+dns.Name+" cannot be found", !dns.IsNotFound, !dns.IsNotFound
		return e
	}
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Message = "the certificate of " + host + " is not trusted: " + c.clean(strings.TrimPrefix(untrusted.Err.Error(), "x509: "))
		e.hint = certificateHint(untrusted.Err)
		return e
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		e.Message = host + " does not speak TLS"
		return e
	}
	op, _ := errors.AsType[*net.OpError](err)
	dialing := op != nil && (op.Op == "dial" || op.Op == "proxyconnect")
	e.soon, e.later, e.Unsure = true, true, connected
	if dialing && op.Op == "proxyconnect" {
		host = "the proxy"
	}
	errno, _ := errors.AsType[syscall.Errno](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || ok && timeout.Timeout():
		e.code, e.Message, e.hint = Timeout, host+" did not answer in time", ""
	case dialing && (errno == syscall.ECONNREFUSED || errno == 10061): // WSAECONNREFUSED, Windows
		e.Message, e.soon = "nothing answers at "+host, false
	case dialing:
		e.Message = host + " cannot be reached"
		if errno != 0 {
			e.Message += ": " + errno.Error()
		}
	default:
		e.Message, e.hint = "the connection to "+host+" was lost", ""
		if (op == nil || op.Op == "remote error") && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			if u, ok := errors.AsType[*url.Error](err); ok {
				err = u.Err
			}
			if !connected {
				e.Message, e.hint = "no TLS connection to "+host, "vbot needs TLS 1.2 or newer; check VBOT_API_URL and HTTPS_PROXY if they are set"
				e.soon, e.later = false, false
			}
			e.Message += ": " + c.clean(err.Error())
		}
	}
	return e
}

// certificateHint says what to do about a certificate that is not trusted.
func certificateHint(err error) string {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "check the clock of this machine, and the server's certificate"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "check VBOT_API_URL"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && !strings.Contains(err.Error(), "insecure algorithm") {
		return "to trust another certificate authority, set VBOT_CA_FILE"
	}
	return "the server needs another certificate"
}

// refusal returns the error of an answer that is not a success.
func (c *Client) refusal(resp *http.Response, data []byte) *Error {
	e := &Error{status: resp.StatusCode, code: Rejected}
	var said struct{ Error, Message string }
	text := ""
	if c.decode(data, &said) {
		text = cmp.Or(said.Error, said.Message)
	}
	switch s := resp.StatusCode; {
	case s >= 300 && s <= 399:
		e.code, e.hint = Failed, "check VBOT_API_URL"
		e.Message = fmt.Sprintf("the API answered with a redirect (%d); vbot does not follow it, because the values would go to another address", s)
		return e
	case s == http.StatusUnauthorized:
		e.code, e.hint = Unauthorized, c.otherToken()
	case s == http.StatusForbidden:
		e.code, e.hint = Forbidden, "check --organization, or use a token that has the permission"
	case s == http.StatusNotFound && text != "":
		e.code, e.hint = NotFound, "`vbot cloud secrets list` lists all secrets"
		if !strings.Contains(resp.Request.URL.Path, "/secrets/") {
			e.hint = "check --organization, and VBOT_API_URL if it is set"
		}
	case s == http.StatusNotFound:
		// A missing page is not a missing set.
		e.code = Failed
	case s == http.StatusConflict:
		// Somebody else is writing the same set: try again. But a name taken by a
		// referenced Secret stays taken.
		e.soon = !strings.Contains(strings.ToLower(text), "referenc")
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable:
		e.code, e.soon = Unavailable, true
	case s == http.StatusBadGateway, s == http.StatusGatewayTimeout:
		e.code, e.soon, e.Unsure = Unavailable, true, true
	case s >= 500:
		e.code, e.Unsure = Unavailable, true
	}
	e.later = e.soon || e.code == Unavailable
	if e.soon {
		e.after = retryAfter(resp.Header.Get("Retry-After"), c.Now())
	}
	e.Message = strings.TrimSpace(fmt.Sprintf("the API answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	if text != "" {
		e.Message += ": " + text
	}
	if e.code == Unauthorized {
		e.Message += "; the token"
		if c.TokenFrom != "" {
			e.Message += " from " + c.TokenFrom
		}
		e.Message += " is not valid"
	}
	return e
}

// retryAfter parses a Retry-After header: seconds or a date. What is longer than maxAfter
// is not waited for anyway.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(n, 0), int(maxAfter/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return min(max(t.Sub(now), 0), maxAfter)
	}
	return 0
}
