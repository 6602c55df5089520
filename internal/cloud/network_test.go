package cloud

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"vbot/internal/report"
)

// A storm is a server that offers HTTP/2 and HTTP/1.1, and does to each request what reply does;
// n is its number on the connection.
type storm struct {
	net.Listener
	client    *Client
	mu        sync.Mutex
	requests  int
	protocols []string // that were negotiated
}

func newStorm(t *testing.T, reply func(conn net.Conn, n int)) *storm {
	t.Helper()
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &storm{Listener: listener}
	go func() {
		for {
			raw, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer raw.Close()
				conn := tls.Server(raw,
					&tls.Config{
						Certificates: server.TLS.Certificates,
						NextProtos:   []string{"h2", "http/1.1"},
					})
				if conn.Handshake() != nil {
					return
				}
				s.mu.Lock()
				s.protocols = append(s.protocols, conn.ConnectionState().NegotiatedProtocol)
				s.mu.Unlock()
				in := bufio.NewReader(conn)
				for n := 1; ; n++ {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					io.Copy(io.Discard, r.Body)
					s.mu.Lock()
					s.requests++
					s.mu.Unlock()
					reply(conn, n)
				}
			}()
		}
	}()
	base, err := parseAddress("https://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s.client = New(base, roots, test)
	s.client.transport.TLSClientConfig.ServerName = "example.com"
	s.client.Use(NewSecret("token"), "")
	return s
}

// Whatever a server does, it gets a request at most four times, and always in HTTP/1.1: net/http
// would repeat one of HTTP/2 for as long as the server asks for it.
func TestAtMostFourTries(t *testing.T) {
	reset := func(conn net.Conn) {
		conn.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
		conn.(*tls.Conn).NetConn().Close()
	}
	const unavailable = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
	for name, c := range map[string]struct {
		answer string
		end    func(net.Conn) // after the answer; nil keeps the connection, but for a second request
	}{
		"closed": {"", func(conn net.Conn) { conn.Close() }},
		"reset":  {"", reset},
		"half an answer": {
			"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", func(conn net.Conn) { conn.Close() },
		},
		"503":             {unavailable, func(conn net.Conn) { conn.Close() }},
		"503, kept alive": {unavailable, nil},
		"HTTP/2's GOAWAY": {
			"\x00\x00\x08\x07" + strings.Repeat("\x00", 13), func(conn net.Conn) { conn.Close() },
		},
		"no HTTP": {"220 mail.example.com\r\n", func(conn net.Conn) { conn.Close() }},
		"a header without a colon": {
			"HTTP/1.1 200 OK\r\nhunter2\r\n\r\n", func(conn net.Conn) { conn.Close() },
		},
	} {
		reply := func(conn net.Conn, n int) {
			if n > 1 {
				reset(conn) // what net/http takes for a connection that had ended already
			} else if io.WriteString(conn, c.answer); c.end != nil {
				c.end(conn)
			}
		}
		for _, method := range []string{"GET", "PUT"} {
			s := newStorm(t, reply)
			var err error
			if method == "GET" {
				_, err = s.client.List(context.Background(), "")
			} else {
				_, err = s.client.storePairs(context.Background(), Ref{Name: "app", Type: TypeSet},
					[]Pair{{Key: "A", Value: NewSecret("hunter2")}})
			}
			s.Close()
			s.mu.Lock()
			if err == nil || !strings.Contains(err.Error(), "(tried 4 times)") || s.requests != 4 ||
				strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %d requests %s, %v", name, s.requests, method, err)
			}
			if slices.Contains(s.protocols, "h2") {
				t.Errorf("%s: it spoke %q", name, s.protocols)
			}
			s.mu.Unlock()
		}
	}
}

// A server that wants a client certificate gets none. Without one it may answer, or not.
func TestClientCertificates(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for auth, want := range map[tls.ClientAuthType]string{
			tls.RequestClientCert:    "",
			tls.RequireAnyClientCert: " requires a client certificate, which vbot does not have",
		} {
			noSets := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"sets":[]}`) }
			server := httptest.NewUnstartedServer(http.HandlerFunc(noSets))
			server.TLS = &tls.Config{ClientAuth: auth, MinVersion: version, MaxVersion: version}
			server.Config.ErrorLog = nothing
			server.StartTLS()
			base, err := parseAddress(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			roots := x509.NewCertPool()
			roots.AddCert(server.Certificate())
			_, err = New(base, roots, test).List(context.Background(), "")
			if want == "" && err != nil {
				t.Error(err)
			} else if want != "" &&
				(err == nil || report.As(err).Retryable ||
					err.Error() != "listing secrets: "+base.Host+want) {
				t.Errorf("TLS %x: %+v", version, report.As(err))
			}
			_, err = New(base, roots, test).Reference(context.Background(), "team",
				"pce-acme") // it was not carried out
			server.Close()
			if want != "" && (err == nil || strings.Contains(err.Error(), "may have succeeded")) {
				t.Errorf("TLS %x: %v", version, err)
			}
		}
	}
}

// hunter2 is a password that no text of the libraries may bring to light.
const hunter2 = "hunter2"

// opError is an error of net, as net/http wraps it.
func opError(op string, err error) error { return fmt.Errorf("x: %w", &net.OpError{Op: op, Err: err}) }

// A noResponseCase is an error of net/http, and what vbot makes of it.
type noResponseCase struct {
	err             error
	sent, proxy     bool
	message         string
	code            string
	retryNow, later bool
	unsure          bool
}

var dialTimedOut = opError("dial", context.DeadlineExceeded)

var noResponseCases = []noResponseCase{
	{
		err:     opError("dial", &net.DNSError{Err: hunter2, Name: "api.example.com", IsNotFound: true}),
		message: "api.example.com cannot be found",
		code:    report.Unavailable,
	},
	{
		err:     opError("dial", &net.DNSError{Err: hunter2, Name: "api.example.com", IsTimeout: true}),
		message: "the name server returned no address for api.example.com",
		code:    report.Unavailable,
		later:   true,
	},
	{
		err:      opError("dial", &net.DNSError{Err: hunter2, Name: "api.example.com", IsTemporary: true}),
		message:  "the name server returned no address for api.example.com",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err: opError("proxyconnect",
			opError("dial", &net.DNSError{Name: "proxy.example.com", IsNotFound: true})),
		proxy:   true,
		message: "the proxy proxy.example.com:3128 (HTTPS_PROXY) cannot be found",
		code:    report.Unavailable,
	},
	{
		err:      dialTimedOut,
		message:  "api.example.com did not answer in time",
		code:     report.Timeout,
		retryNow: true,
		later:    true,
	},
	{
		err:      dialTimedOut,
		proxy:    true,
		message:  "the proxy proxy.example.com:3128 (HTTPS_PROXY) did not answer in time",
		code:     report.Timeout,
		retryNow: true,
		later:    true,
	},
	{
		err:      context.DeadlineExceeded,
		sent:     true,
		message:  "api.example.com did not answer in time",
		code:     report.Timeout,
		retryNow: true,
		later:    true,
		unsure:   true,
	},
	{
		err:     opError("dial", syscall.ECONNREFUSED),
		message: "nothing answers at api.example.com",
		code:    report.Unavailable,
		later:   true,
	},
	{
		err:      opError("dial", syscall.ENETUNREACH),
		message:  "api.example.com cannot be reached: network is unreachable",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err:      opError("proxyconnect", errors.New(hunter2)),
		proxy:    true,
		message:  "the proxy proxy.example.com:3128 (HTTPS_PROXY) cannot be reached",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err:     opError("proxyconnect", &tls.CertificateVerificationError{Err: x509.HostnameError{}}),
		proxy:   true,
		message: "the certificate of the proxy proxy.example.com:3128 (HTTPS_PROXY) is for another host",
		code:    report.Unavailable,
	},
	{
		err:     opError("proxyconnect", tls.RecordHeaderError{Msg: hunter2}),
		proxy:   true,
		message: "the proxy proxy.example.com:3128 (HTTPS_PROXY) does not speak TLS",
		code:    report.Unavailable,
	},
	{
		err:     opError("socks connect", errors.New("username/password authentication failed")),
		proxy:   true,
		message: "the proxy proxy.example.com:3128 (HTTPS_PROXY) did not connect to api.example.com",
		code:    report.Unavailable,
	},
	{
		err:     opError("socks connect", errors.New("unknown error host unreachable")),
		proxy:   true,
		message: "the proxy proxy.example.com:3128 (HTTPS_PROXY) did not connect to api.example.com",
		code:    report.Unavailable,
		later:   true,
	},
	{
		err:      opError("socks connect", io.EOF),
		proxy:    true,
		message:  "the connection to the proxy proxy.example.com:3128 (HTTPS_PROXY) was lost",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err:     opError("proxyconnect", opError("remote error", errors.New("tls: "+hunter2))),
		proxy:   true,
		message: "no TLS connection to the proxy proxy.example.com:3128 (HTTPS_PROXY)",
		code:    report.Unavailable,
	},
	{
		err:      opError("socks connect", opError("read", syscall.ECONNRESET)),
		proxy:    true,
		message:  "the connection to the proxy proxy.example.com:3128 (HTTPS_PROXY) was lost",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err:      errors.New("malformed MIME header: " + hunter2),
		proxy:    true,
		message:  "the proxy proxy.example.com:3128 (HTTPS_PROXY) sent no answer that vbot can read",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err:      errors.New("malformed HTTP response " + hunter2),
		sent:     true,
		message:  "api.example.com sent no answer that vbot can read",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
		unsure:   true,
	},
	{
		err:     opError("remote error", errors.New("tls: "+hunter2)),
		message: "no TLS connection to api.example.com",
		code:    report.Unavailable,
	},
	{
		err:     errors.New("tls: " + hunter2),
		message: "no TLS connection to api.example.com",
		code:    report.Unavailable,
	},
	{
		err:      io.EOF,
		message:  "the connection to api.example.com was lost",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
	},
	{
		err:      io.ErrUnexpectedEOF,
		sent:     true,
		message:  "the connection to api.example.com was lost",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
		unsure:   true,
	},
	{
		err:      opError("read", syscall.ECONNRESET),
		sent:     true,
		message:  "the connection to api.example.com was lost",
		code:     report.Unavailable,
		retryNow: true,
		later:    true,
		unsure:   true,
	},
	{
		err:     &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		message: "the certificate of api.example.com is not trusted: its authority is unknown",
		code:    report.Unavailable,
	},
	{
		err: &tls.CertificateVerificationError{
			Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: hunter2},
		},
		message: "the certificate of api.example.com has expired, or is not valid yet",
		code:    report.Unavailable,
	},
	{
		err:     &tls.CertificateVerificationError{Err: errors.New(hunter2)},
		message: "the certificate of api.example.com is not trusted",
		code:    report.Unavailable,
	},
}

// What kept an answer away is said in words of vbot, of the one that is to blame.
func TestNoAnswer(t *testing.T) {
	base, err := parseAddress("https://api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	c := New(base, nil, test)
	for _, k := range noResponseCases {
		c.proxy = nil
		if k.proxy {
			if c.proxy, err = base.Parse("http://bob:hunter2@proxy.example.com:3128"); err != nil {
				t.Fatal(err)
			}
		}
		e := c.noResponse(k.err, k.sent, k.proxy)
		if e.Message != k.message || e.Code != k.code || e.retryNow != k.retryNow || e.Retryable != k.later ||
			e.Unsure != k.unsure || e.HTTPStatus != 0 {
			t.Errorf("%v: %+v", k.err, e)
		}
		if strings.Contains(e.Message+e.Hint, hunter2) ||
			strings.Contains(e.Hint, "HTTPS_PROXY") != k.proxy && e.Hint != "" &&
				!strings.Contains(e.Hint, "name") && e.Code != report.Timeout {
			t.Errorf("%v: hint %q", k.err, e.Hint)
		}
	}
}

// A server that accepts a connection, and then says nothing, is not waited for longer than a
// handshake takes.
func TestHandshakeTimeout(t *testing.T) {
	if got := New(nil, nil, test).transport.TLSHandshakeTimeout; got <= 0 || got >= tryTimeout {
		t.Errorf("the handshake may take %v", got)
	}
}

// Only a token with the whole prefix is a person's.
func TestPersonal(t *testing.T) {
	for token, want := range map[string]bool{
		"pcc_pat_x":  true,
		"pcc_x":      false,
		"pcc_pa_x":   false,
		"PCC_PAT_x":  false,
		"x_pcc_pat_": false,
	} {
		c := New(nil, nil, test)
		c.Use(NewSecret(token), "")
		if c.isPersonal() != want {
			t.Errorf("%s: %v", token, c.isPersonal())
		}
	}
}

// nothing is a log that is not read.
var nothing = log.New(io.Discard, "", 0)

// What a proxy answers to CONNECT may pass, or not.
func TestProxyRefusals(t *testing.T) {
	for status, want := range map[int]struct{ later, retryNow bool }{
		301: {}, 403: {}, 404: {}, 407: {}, 408: {true, false}, 425: {true, false}, 429: {true, true},
		500: {true, false}, 502: {true, true}, 503: {true, true}, 504: {true, true},
	} {
		if e, ok := errors.AsType[*fault](proxyRefusal(status)); !ok || e.Retryable != want.later ||
			e.retryNow != want.retryNow || e.Unsure || e.HTTPStatus != 0 || e.Code != report.Unavailable {
			t.Errorf("%d: %+v", status, e)
		}
	}
	if err := proxyRefusal(200); err != nil {
		t.Error(err)
	}
}

// Values that are longer than any prose take no memory but for their request, also when it is
// repeated one by one.
func TestManyLargeValues(t *testing.T) {
	const size, n = 1 << 20, 16
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"secrets"`)) {
			w.WriteHeader(400)
			return
		}
		io.WriteString(w, `{"status":"OK"}`)
	}))
	defer server.Close()
	base, err := parseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ch := Change{Ref: Ref{Name: "app", Type: TypeSet}}
	for i := range n {
		ch.Pairs = append(ch.Pairs,
			Pair{Key: fmt.Sprintf("KEY_%d", i), Value: NewSecret(strings.Repeat(string(rune('a'+i)), size))})
	}
	c := New(base, nil, test)
	if p, err := c.StoreAll(context.Background(), ch); p.Done != n || err != nil {
		t.Fatalf("%d, %v", p.Done, err)
	}
	if len(c.sensitive)+len(c.sensitiveForms) > 0 {
		t.Errorf("it remembers %d values and %d forms", len(c.sensitive), len(c.sensitiveForms))
	}
}

// A large value is copied for its request, and not for anything that is longer than an answer.
func TestLargeValue(t *testing.T) {
	const size = 16 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n < size {
			t.Errorf("%d bytes came, %v", n, err)
		}
		w.WriteHeader(403)
		io.WriteString(w, `{"error":"no, and small"}`)
	}))
	defer server.Close()
	base, err := parseAddress(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := New(base, nil, test)
	pairs := []Pair{
		{Key: "LARGE", Value: NewSecret(strings.Repeat("x", size))},
		{Key: "SMALL", Value: NewSecret("small")},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = c.storePairs(context.Background(), Ref{Name: "app", Type: TypeSet}, pairs)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.HasSuffix(err.Error(),
		"403 Forbidden: the API's message repeats a value, so it is not shown") {
		t.Errorf("%v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8*size {
		t.Errorf("it allocated %d MiB for a value of %d", got>>20, size>>20)
	}
}
