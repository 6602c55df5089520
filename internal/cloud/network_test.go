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
	"testing"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// A rawServer is a server that offers HTTP/2 and HTTP/1.1, and does to each request what reply does;
// n is its number on the connection.
type rawServer struct {
	net.Listener
	client    *Client
	mu        sync.Mutex
	requests  int
	protocols []string // that were negotiated
}

func newRawServer(t *testing.T, reply func(conn net.Conn, n int)) *rawServer {
	t.Helper()
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &rawServer{Listener: listener}
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
	s.client.Use(secret.New("token"), "")
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
			s := newRawServer(t, reply)
			var err error
			if method == "GET" {
				_, err = s.client.List(context.Background(), "")
			} else {
				_, err = s.client.storePairs(context.Background(), Ref{Name: "app", Type: TypeSet},
					[]secret.Pair{{Key: "A", Value: secret.New("hunter2")}})
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

// A server that asks for a client certificate gets none; it may accept that.
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

// The handshake with a server that accepts a connection and sends nothing has its own time limit.
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
		c.Use(secret.New(token), "")
		if c.isPersonal() != want {
			t.Errorf("%s: %v", token, c.isPersonal())
		}
	}
}

// nothing is a log that discards its lines.
var nothing = log.New(io.Discard, "", 0)

// Whether a proxy that refuses CONNECT is tried again depends on the status.
func TestProxyErrors(t *testing.T) {
	for status, want := range map[int]struct{ later, retryNow bool }{
		301: {}, 403: {}, 404: {}, 407: {}, 408: {true, false}, 425: {true, false}, 429: {true, true},
		500: {true, false}, 502: {true, true}, 503: {true, true}, 504: {true, true},
	} {
		if e, ok := errors.AsType[*tryError](proxyError(status)); !ok || e.Retryable != want.later ||
			e.retryNow != want.retryNow || e.MaybeApplied || e.HTTPStatus != 0 ||
			e.Code != report.Unavailable {
			t.Errorf("%d: %+v", status, e)
		}
	}
	if err := proxyError(200); err != nil {
		t.Error(err)
	}
}

// Values that are longer than any message take no memory after their request, even if they are stored one
// by one.
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
		value := secret.New(strings.Repeat(string(rune('a'+i)), size))
		ch.Pairs = append(ch.Pairs, secret.Pair{Key: fmt.Sprintf("KEY_%d", i), Value: value})
	}
	c := New(base, nil, test)
	if p, err := c.StoreAll(context.Background(), ch); p.Done != n || err != nil {
		t.Fatalf("%d, %v", p.Done, err)
	}
	if len(c.sensitive)+len(c.sensitiveForms) > 0 {
		t.Errorf("it remembers %d values and %d forms", len(c.sensitive), len(c.sensitiveForms))
	}
}

// A large value is copied for its request, but its other forms are not computed.
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
	pairs := []secret.Pair{
		{Key: "LARGE", Value: secret.New(strings.Repeat("x", size))},
		{Key: "SMALL", Value: secret.New("small")},
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
