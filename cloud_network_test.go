package main

import (
	"bufio"
	"bytes"
	"crypto/fips140"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
)

// TLS and proxies, in the real binary.

// tlsFake returns a fake of the API behind TLS, and the file with its certificate.
func tlsFake(t *testing.T, want ...string) (s *cloudtest.Fake, ca string) {
	s = cloudtest.New(t, "vbot/"+version).Expect(want...)
	s.Close()
	s.Server = httptest.NewUnstartedServer(s)
	s.Server.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Server.StartTLS()
	ca = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, ca
}

func TestTLS(t *testing.T) {
	parallel(t)
	s, ca := tlsFake(t, "GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	set := []string{"cloud", "secrets", "set", "fresh", "A=hunter2", "--skip", "--json"}
	r := subprocess{env: s.Env()}.vbot(t, t.TempDir(), set...)
	r.wantCode(t, 6)
	section(t, "cloud/connection.txt", "tls: untrusted", transcriptOn(s, r))

	// GODEBUG can make the runtime log what is sent.
	r = subprocess{env: append(s.Env(), "VBOT_CA_FILE="+ca, "GODEBUG=http2debug=2")}.vbot(t, t.TempDir(),
		set...)
	r.wantCode(t, 0)
	if strings.Contains(r.stderr, "hunter2") || strings.Contains(r.stderr, cloudtest.Token) {
		t.Errorf("the runtime printed it:\n%s", r.stderr)
	}

	// Additional authorities do not turn verification off.
	elsewhere := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	r = subprocess{env: append(s.Env(), "VBOT_CA_FILE="+ca, "VBOT_API_URL="+elsewhere)}.vbot(t, t.TempDir(),
		set...)
	r.wantCode(t, 6)
	if !strings.Contains(r.stderr,
		"the certificate of localhost:"+port+
			" is for another host\nhint: check the network, and VBOT_API_URL if it is set\n") {
		t.Errorf("it said %s", r.stderr)
	}

	// A server with TLS 1.1 gets nothing.
	old := httptest.NewUnstartedServer(s)
	old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.StartTLS()
	defer old.Close()
	env := append(s.Env(), "VBOT_CA_FILE="+ca, "VBOT_API_URL="+old.URL)
	subprocess{env: env}.vbot(t, t.TempDir(), set...).wantCode(t, 6)

	plain := cloudtest.New(t, "vbot/"+version)
	r = subprocess{env: append(s.Env(), "VBOT_API_URL=https://"+plain.Listener.Addr().String())}.vbot(t,
		t.TempDir(), set...)
	r.wantCode(t, 6)
	section(t, "cloud/connection.txt", "tls: not spoken", transcriptOn(plain, r))

	filetest.Put(t, filepath.Dir(ca), "empty.pem", "nothing")
	r = subprocess{env: append(s.Env(), "VBOT_CA_FILE="+filepath.Join(filepath.Dir(ca), "empty.pem"))}.vbot(t,
		t.TempDir(), set...)
	r.wantCode(t, 2)
	got := withoutDir(string(transcriptOn(s, r)), filepath.Dir(ca))
	section(t, "cloud/connection.txt", "tls: no certificate in the file", []byte(got))
}

// certificateCases are the cases of TestCertificates.
var certificateCases = []struct {
	name string
	ends time.Duration
	host net.IP
	with x509.SignatureAlgorithm
	max  uint16 // version of TLS
	want string
}{
	{name: "good", ends: time.Hour, host: net.IPv4(127, 0, 0, 1), with: 0, max: 0},
	{
		name: "expired",
		ends: -time.Minute,
		host: net.IPv4(127, 0, 0, 1),
		with: 0,
		max:  0,
		want: "hint: check the clock of this machine, and the server's certificate\n",
	},
	{
		name: "another host",
		ends: time.Hour,
		host: net.IPv4(127, 0, 0, 2),
		with: 0,
		max:  0,
		want: "is for another host\nhint: check the network, and VBOT_API_URL if it is set\n",
	},
	{
		name: "SHA-1",
		ends: time.Hour,
		host: net.IPv4(127, 0, 0, 1),
		with: x509.SHA1WithRSA,
		max:  0,
		want: "hint: the server needs another certificate\n",
	},
	{
		name: "TLS 1.0",
		ends: time.Hour,
		host: net.IPv4(127, 0, 0, 1),
		with: 0,
		max:  tls.VersionTLS10,
		want: "hint: vbot needs TLS 1.2 or newer; check",
	},
}

// Errors of a certificate or of TLS are reported immediately, with a hint.
func TestCertificates(t *testing.T) {
	parallel(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	sign := func(template, parent *x509.Certificate) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	block := func(der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	dir, ca := t.TempDir(), block(sign(authority, authority))
	filetest.Put(t, dir, "ca.pem", "# ours\n"+ca)
	list := []string{"cloud", "secrets", "list"}
	for _, c := range certificateCases {
		if fips140.Enabled() && (c.with != 0 || c.max != 0) {
			continue // no such server can be made
		}
		leaf := &x509.Certificate{
			SerialNumber:       big.NewInt(2),
			NotBefore:          now.Add(-time.Hour),
			NotAfter:           now.Add(c.ends),
			IPAddresses:        []net.IP{c.host},
			SignatureAlgorithm: c.with,
		}
		s := cloudtest.NewLenient(t, "vbot/"+version)
		s.Close()
		s.Server = httptest.NewUnstartedServer(s)
		s.TLS = &tls.Config{
			Certificates: []tls.Certificate{{Certificate: [][]byte{sign(leaf, authority)}, PrivateKey: key}},
			MaxVersion:   c.max,
			MinVersion:   min(c.max, tls.VersionTLS12),
		}
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		r := subprocess{env: append(s.Env(), "VBOT_CA_FILE="+filepath.Join(dir, "ca.pem"))}.vbot(t, dir,
			list...)
		s.Close()
		if (r.code == 0) != (c.want == "") || !strings.Contains(r.stderr, c.want) ||
			strings.Contains(r.stderr, "trying again") || strings.Count(r.stderr, "VBOT_CA_FILE") > 0 {
			t.Errorf("%s: exit code %d, %s", c.name, r.code, r.stderr)
		}
	}
}

// tunnel answers CONNECT: it connects the client with the address.
func tunnel(t *testing.T, w http.ResponseWriter, address string) {
	up, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	down, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	// The response goes to the hijacked connection; data that the server has read ahead is in buffered.
	io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { io.Copy(up, buffered); up.Close() }()
	io.Copy(down, up)
	down.Close()
}

// A proxy sees only the host, and its password is not printed.
func TestProxy(t *testing.T) {
	s, ca := tlsFake(t, "GET ~/secrets")
	asked := make(chan string, 10)
	var answer atomic.Int32
	answer.Store(http.StatusOK)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		if status := int(answer.Load()); status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		tunnel(t, w, s.Listener.Addr().String())
	}))
	defer proxy.Close()
	at := strings.Replace(proxy.URL, "http://", "http://bob:hunter2@", 1)
	// The certificate of httptest is for example.com, which is not asked for here.
	env := append(s.Env(), "VBOT_API_URL=https://example.com", "VBOT_CA_FILE="+ca)
	r := subprocess{env: append(env, "HTTPS_PROXY="+at)}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
	r.wantCode(t, 0)
	if got := <-asked; got != "CONNECT example.com:443" || len(asked) > 0 {
		t.Errorf("the proxy was asked for %q, and %d more", got, len(asked))
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	down := strings.Replace(closed.URL, "http://", "http://bob:hunter2@", 1)
	r = subprocess{env: append(env, "HTTPS_PROXY="+down)}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
	r.wantCode(t, 6)
	address := []byte(closed.Listener.Addr().String())
	got := bytes.ReplaceAll(transcriptOn(s, r), address, []byte("PROXY"))
	section(t, "cloud/connection.txt", "proxy down", got)
	for status, later := range map[int]bool{403: false, 407: false, 500: true} {
		answer.Store(int32(status))
		r = subprocess{env: append(env, "HTTPS_PROXY="+at)}.vbot(t, t.TempDir(), "cloud", "secrets", "list",
			"--json")
		r.wantCode(t, 6)
		want := fmt.Sprintf("the proxy refused the connection: %d %s", status, http.StatusText(status))
		if !strings.Contains(r.stderr, want) ||
			!strings.Contains(r.stderr, "hint: check HTTPS_PROXY") ||
			!strings.Contains(r.stdout, fmt.Sprintf(`"retryable": %v,`, later)) ||
			!strings.Contains(r.stdout, `"http_status": null`) {
			t.Errorf("%d: it said %s%s", status, r.stdout, r.stderr)
		}
	}
}

// listens returns the address of a server that handles each connection with the function.
func listens(t *testing.T, talk func(conn net.Conn, in *bufio.Reader)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		talk(conn, in)
		// A connection that is closed with unread data is reset, and sent data may be lost.
		conn.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, in)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return listener.Addr().String()
}

// connects returns the address of a proxy that handles CONNECT with the function; basic is the sign-in.
func connects(t *testing.T, respond func(basic string) string) string {
	t.Helper()
	return listens(t, func(conn net.Conn, in *bufio.Reader) {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if got := r.Header.Get("User-Agent"); got != "vbot/"+version {
			t.Errorf("the proxy sees the User-Agent %q", got)
		}
		io.WriteString(conn, respond(r.Header.Get("Proxy-Authorization")))
	})
}

// refusesSOCKS is a SOCKS proxy that refuses the sign-in (RFC 1928 and 1929).
func refusesSOCKS(conn net.Conn, in *bufio.Reader) {
	greeting, err := in.Peek(2)
	if err != nil {
		return
	}
	in.Discard(2 + int(greeting[1]))
	conn.Write([]byte{5, 2})
	in.Peek(1)
	conn.Write([]byte{1, 1})
}

// Faults of a proxy are not attributed to the API, and its password is not shown, whatever it repeats.
func TestBadProxies(t *testing.T) {
	parallel(t)
	s, ca := tlsFake(t)
	hangsUp := listens(t, func(conn net.Conn, _ *bufio.Reader) {
		secure := tls.Server(conn, &tls.Config{Certificates: s.TLS.Certificates})
		http.ReadRequest(bufio.NewReader(secure))
	})
	plain := listens(t, func(conn net.Conn, _ *bufio.Reader) {
		io.WriteString(conn, "HTTP/1.1 400 hunter2\r\n\r\n")
	})
	noColon := connects(t, func(basic string) string { return "HTTP/1.1 200 OK\r\n" + basic + "\r\n\r\n" })
	noHTTP := connects(t, func(basic string) string { return basic + "\r\n\r\n" })
	refuses := connects(t, func(basic string) string { return "HTTP/1.1 403 " + basic + "\r\n\r\n" })
	for _, c := range []struct {
		proxy, at, want string
		later           bool // the same command may succeed later
	}{
		{"http", noColon, " sent no answer that vbot can read", true},
		{"http", noHTTP, " sent no answer that vbot can read", true},
		{"http", refuses, "the proxy refused the connection: 403 Forbidden", false},
		{"https", s.Listener.Addr().String(), "the certificate of the proxy ", false},
		{"https", plain, " does not speak TLS", false},
		{"https", hangsUp, " (HTTPS_PROXY) was lost", true},
		{
			"socks5", listens(t, refusesSOCKS),
			" did not connect to api.example.com\nhint: check HTTPS_PROXY, and its user and password", false,
		},
	} {
		proxy := c.proxy + "://bob:hunter2@" + c.at
		env := append(s.Env(), "VBOT_API_URL=https://api.example.com", "HTTPS_PROXY="+proxy)
		if c.at == hangsUp {
			env = append(env, "VBOT_CA_FILE="+ca)
		}
		t.Run(c.want, func(t *testing.T) {
			t.Parallel() // some are tried again
			r := subprocess{env: env}.vbot(t, t.TempDir(), "cloud", "secrets", "list", "--json")
			r.wantCode(t, 6)
			if !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, "the proxy") {
				t.Errorf("it said %s", r.stderr)
			}
			if !strings.Contains(r.stdout, fmt.Sprintf(`"retryable": %v,`, c.later)) {
				t.Errorf("the JSON is %s", r.stdout)
			}
			others := strings.ReplaceAll(r.stderr, "did not connect to api.example.com", "")
			for _, not := range []string{"api.example.com", "hunter2", "Ym9iOmh1bnRlcjI"} {
				if strings.Contains(others, not) {
					t.Errorf("%s is in %s", not, r.stderr)
				}
			}
		})
	}
}

// Faults of an API behind a proxy are not attributed to the proxy.
func TestBadCertificateBehindAProxy(t *testing.T) {
	parallel(t)
	s, _ := tlsFake(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tunnel(t, w, s.Listener.Addr().String())
	}))
	defer proxy.Close()
	env := append(s.Env(), "VBOT_API_URL=https://example.com", "HTTPS_PROXY="+proxy.URL)
	r := subprocess{env: env}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
	if r.wantCode(t, 6); !strings.Contains(r.stderr, "the certificate of example.com is not trusted") ||
		strings.Contains(r.stderr, "proxy") {
		t.Errorf("it said %s", r.stderr)
	}
}

// An API behind a proxy that repeats the proxy's credentials.
func TestRepeatedProxyPassword(t *testing.T) {
	parallel(t)
	for _, text := range []string{"hunter2", "BOB:HUNTER2", "Ym9iOmh1bnRlcjI="} {
		s, ca := tlsFake(t, "GET ~/secrets")
		s.FailNext("GET", cloudtest.Status(403, "X", "no, "+text))
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tunnel(t,
				w, s.Listener.Addr().String())
		}))
		env := append(s.Env(), "VBOT_API_URL=https://example.com", "VBOT_CA_FILE="+ca,
			"HTTPS_PROXY="+strings.Replace(proxy.URL, "://", "://bob:hunter2@", 1))
		r := subprocess{env: env}.vbot(t, t.TempDir(), "cloud", "secrets", "list")
		proxy.Close()
		r.wantCode(t, 5)
		if !strings.Contains(r.stderr,
			"403 Forbidden: the API's message repeats a value, so it is not shown\n") {
			t.Errorf("it said %s", r.stderr)
		}
	}
}

// No server at the address, and no such host.
func TestNobodyAnswers(t *testing.T) {
	s := cloudtest.New(t, "vbot/"+version)
	s.Close()
	r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "--skip", "--json")
	r.wantCode(t, 6)
	section(t, "cloud/connection.txt", "refused", transcriptOn(s, r))
	r = runOn(t, s, "cloud", "secrets", "reference", "team", "-r=pce-acme")
	r.wantCode(t, 6)
	if strings.Contains(r.stderr, "the request may have succeeded") {
		t.Errorf("it said %s", r.stderr)
	}
	r = inProcess{env: append(s.Env(), "VBOT_API_URL=https://api.invalid")}.vbot(t, "cloud", "secrets",
		"list")
	r.wantCode(t, 6)
	if !strings.Contains(r.stderr, "api.invalid") {
		t.Errorf("it said %s", r.stderr)
	}
}

// NO_PROXY names hosts that are reached directly, and all hosts below a domain.
func TestNoProxy(t *testing.T) {
	parallel(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	env := append(cloudtest.New(t, "vbot/"+version).Env(), "VBOT_API_URL=https://api.invalid",
		"https_proxy="+closed.URL)
	for list, isDirect := range map[string]bool{
		"api.invalid": true, ".invalid": true, "*.invalid": true, "example.com, invalid": true, "*": true,
		"API.INVALID:443": true,
		"":                false, "pi.invalid": false, "api.invalid:8443": false, "10.0.0.0/8": false,
	} {
		for _, variable := range []string{"NO_PROXY", "no_proxy"} {
			r := subprocess{env: append(env, variable+"="+list)}.vbot(t, t.TempDir(), "cloud", "secrets",
				"list")
			if r.wantCode(t, 6); strings.Contains(r.stderr, "HTTPS_PROXY") == isDirect {
				t.Errorf("%s=%s: %s", variable, list, r.stderr)
			}
		}
	}
}
