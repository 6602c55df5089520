// Package cloud is a client for the Pipecat Cloud API, and manages the file with the token that `vbot cloud
// login` stores. It prints only notes to stderr: that it tries again, and that a secret is ready. The error
// of a call of the API is a *report.Failure, or context.Canceled if an interrupt came before the call had
// any effect.
package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/system"
)

// Address is the API's address. Its openapi.json describes the API.
const Address = "https://api.pipecat.daily.co"

const (
	maxTries         = 4
	firstPause       = 500 * time.Millisecond // doubled for each further try
	tryTimeout       = 30 * time.Second       // for one request with its response
	callTimeout      = 2 * time.Minute        // for a request with all its tries
	dialTimeout      = 10 * time.Second       // for TCP, and again for TLS
	maxResponse      = 2 << 20                // bytes; a listing of 200 sets has 30,000
	maxInformational = 8                      // responses with status 1xx before the final one
	maxRetryAfter    = 1000 * time.Hour
	maxAuthorities   = 4 << 20 // bytes; the certificates of a Linux system have 220,000
)

// A Client calls the API with one token.
type Client struct {
	system.System
	Base             *url.URL
	Organization     string        // "" for a private API key, which belongs to one organization
	organizationFrom string        // the source of Organization: an option, a variable or a file
	TryTimeout       time.Duration // for one request with its response
	CallTimeout      time.Duration // for a request with all its tries
	TokenFrom        string        // a variable, a file, or ""

	status    int // of the last response; 0 if the last request got none
	token     secret.Value
	tokenGood bool     // the API has accepted the token
	proxy     *url.URL // nil for none
	transport *http.Transport

	// The values that responses may not repeat, and names that they may; see protect.
	sensitive      []secret.Value        // values as they are
	sensitiveForms []secret.Value        // the forms that these values may have in prose
	protected      map[secret.Value]bool // whose forms these are
	sentNames      map[string]bool       // names in requests
	publicNames    map[string]bool       // these, and names that the API mentioned first
}

// New makes a client for the API at base. roots are the certificate authorities to trust; nil
// means the system's.
func New(base *url.URL, roots *x509.CertPool, s system.System) *Client {
	c := &Client{
		System:           s,
		Base:             base,
		TryTimeout:       tryTimeout,
		CallTimeout:      callTimeout,
		organizationFrom: "--organization",
		protected:        map[secret.Value]bool{},
		sentNames:        map[string]bool{},
		publicNames:      map[string]bool{},
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	if base != nil && base.Scheme == "http" {
		dialer.Control = onlyLoopback(base.Host)
	} else if base != nil {
		c.proxy, _ = http.ProxyFromEnvironment(&http.Request{URL: base}) // Open has checked it
	}
	if c.proxy != nil && c.proxy.User != nil {
		password, _ := c.proxy.User.Password()
		c.protect(secret.New(password))
		c.protect(secret.New(c.proxy.User.Username() + ":" + password))
	}
	// net/http never retries by itself if each request has its own connection, in HTTP/1.1.
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	checkConnect := func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		return proxyError(resp.StatusCode)
	}
	noCertificate := func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if h, ok := info.Context().Value(handshakesKey{}).(*handshakes); ok {
			h.wantsCertificate.Store(true)
		}
		return &tls.Certificate{}, nil
	}
	c.transport = &http.Transport{
		Protocols:              protocols,
		DisableKeepAlives:      true,
		Proxy:                  http.ProxyURL(c.proxy),
		ProxyConnectHeader:     http.Header{"User-Agent": {s.Program}},
		OnProxyConnectResponse: checkConnect,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		TLSClientConfig: &tls.Config{
			RootCAs:              roots,
			MinVersion:           tls.VersionTLS12,
			GetClientCertificate: noCertificate,
		},
	}
	return c
}

// handshakes counts the TLS handshakes of one request: with a proxy, and then with the API.
type handshakes struct {
	number           atomic.Int32
	wantsCertificate atomic.Bool // in the last one, the server asked for a client certificate
}

// handshakesKey is the key for the *handshakes in the context of a request.
type handshakesKey struct{}

// Limit sets how long a request may take with all its tries; 0 for the default.
func (c *Client) Limit(d time.Duration) {
	if d > 0 {
		c.CallTimeout = d
		c.TryTimeout = max(tryTimeout, d/maxTries)
	}
}

// Errorf returns a failure that follows from the last response, with its status.
func (c *Client) Errorf(code, format string, args ...any) *report.Failure {
	f := report.Errorf(code, format, args...)
	f.HTTPStatus = c.status
	return f
}

// isPersonal reports whether the token belongs to a person, who may be in several
// organizations. A private API key belongs to one organization.
func (c *Client) isPersonal() bool { return strings.HasPrefix(c.token.Reveal(), "pcc_pat_") }

// onlyLoopback returns a net.Dialer.Control that refuses to dial another machine: a name such as localhost
// may have any address, and http would send the token there in clear text.
func onlyLoopback(host string) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		dialed, _, _ := net.SplitHostPort(address)
		if ip := net.ParseIP(dialed); ip == nil || !ip.IsLoopback() {
			const elsewhere = "%s is %s, another machine; http would send the token there in clear text"
			return &tryError{Failure: report.Failure{
				Code:    report.Failed,
				Hint:    "use https in VBOT_API_URL",
				Message: fmt.Sprintf(elsewhere, host, dialed),
			}}
		}
		return nil
	}
}
