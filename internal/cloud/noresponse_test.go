package cloud

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/fips140"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"vbot/internal/report"
)

// hunter2 is a password in texts of the libraries, which are not shown.
const hunter2 = "hunter2"

// opError is an error of net, as net/http wraps it.
func opError(op string, err error) error { return fmt.Errorf("x: %w", &net.OpError{Op: op, Err: err}) }

// A noResponseCase is an error of net/http, and the fault for it.
type noResponseCase struct {
	err             error
	sent, proxy     bool
	message         string
	code            string
	retryNow, later bool
	maybeApplied    bool
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
		message:  "api.example.com did not answer within 10s",
		code:     report.Timeout,
		retryNow: true,
		later:    true,
	},
	{
		err:      dialTimedOut,
		proxy:    true,
		message:  "the proxy proxy.example.com:3128 (HTTPS_PROXY) did not answer within 10s",
		code:     report.Timeout,
		retryNow: true,
		later:    true,
	},
	{
		err:          context.DeadlineExceeded,
		sent:         true,
		message:      "api.example.com did not answer within 30s",
		code:         report.Timeout,
		retryNow:     true,
		later:        true,
		maybeApplied: true,
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
		err:          errors.New("malformed HTTP response " + hunter2),
		sent:         true,
		message:      "api.example.com sent no answer that vbot can read",
		code:         report.Unavailable,
		retryNow:     true,
		later:        true,
		maybeApplied: true,
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
		err:          io.ErrUnexpectedEOF,
		sent:         true,
		message:      "the connection to api.example.com was lost",
		code:         report.Unavailable,
		retryNow:     true,
		later:        true,
		maybeApplied: true,
	},
	{
		err:          opError("read", syscall.ECONNRESET),
		sent:         true,
		message:      "the connection to api.example.com was lost",
		code:         report.Unavailable,
		retryNow:     true,
		later:        true,
		maybeApplied: true,
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

// The message is vbot's own, and blames the server or the proxy.
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
		e := c.noResponse(k.err, tryTimeout, k.sent, k.proxy, false)
		if e.Message != k.message || e.Code != k.code || e.retryNow != k.retryNow || e.Retryable != k.later ||
			e.MaybeApplied != k.maybeApplied || e.HTTPStatus != 0 {
			t.Errorf("%v: %+v", k.err, e)
		}
		if strings.Contains(e.Message+e.Hint, hunter2) ||
			strings.Contains(e.Hint, "HTTPS_PROXY") != k.proxy && e.Hint != "" &&
				!strings.Contains(e.Hint, "name") && e.Code != report.Timeout {
			t.Errorf("%v: hint %q", k.err, e.Hint)
		}
	}
}

// A certificateChain is what a server sends, and what the client trusts.
type certificateChain struct {
	name      string
	leaf      x509.SignatureAlgorithm // 0 is the usual one
	authority x509.SignatureAlgorithm
	trusted   bool   // the authority is trusted
	alone     bool   // the server sends an authority as its own certificate
	want      string // "" if the chain is good
}

// The Go library has an error of its own for signatures that it refuses, but wraps it in the text of the
// one for unknown authorities. The hint still says whether to trust another authority.
func TestInsecureSignatures(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("no such certificate can be made")
	}
	const (
		isUnknown = "the certificate of api.example.com is not trusted: its authority is unknown"
		isRefused = "the certificate of api.example.com is not trusted"
	)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(c, parent *x509.Certificate, algorithm x509.SignatureAlgorithm) *x509.Certificate {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		c.SignatureAlgorithm = algorithm
		der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	for _, chain := range []certificateChain{
		{name: "good", trusted: true},
		{name: "unknown authority", want: isUnknown},
		{name: "SHA-1", leaf: x509.ECDSAWithSHA1, trusted: true, want: isRefused},
		{name: "SHA-1 of an unknown authority", leaf: x509.ECDSAWithSHA1, want: isRefused},
		{name: "root with SHA-1", authority: x509.ECDSAWithSHA1, trusted: true},
		{name: "unknown root with SHA-1", authority: x509.ECDSAWithSHA1, want: isUnknown},
		{name: "root alone", authority: x509.ECDSAWithSHA1, alone: true, want: isUnknown},
		{name: "trusted root alone", authority: x509.ECDSAWithSHA1, trusted: true, alone: true},
	} {
		root := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
		root.Subject.CommonName = "root"
		root.DNSNames = []string{"api.example.com"}
		root = sign(root, root, chain.authority)
		leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{"api.example.com"}}
		leaf.Subject.CommonName = "leaf"
		leaf = sign(leaf, root, chain.leaf)
		options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool()}
		options.DNSName = "api.example.com"
		options.Intermediates.AddCert(root)
		if chain.trusted {
			options.Roots.AddCert(root)
		}
		if chain.alone {
			leaf = root
		}
		got := ""
		if _, err := leaf.Verify(options); err != nil {
			c := New(&url.URL{Scheme: "https", Host: "api.example.com"}, nil, test)
			got = c.noResponse(&tls.CertificateVerificationError{Err: err}, 0, false, false, false).Message
		}
		if got != chain.want {
			t.Errorf("%s: %q, want %q", chain.name, got, chain.want)
		}
	}
}

// socksProxy returns the address of a SOCKS proxy (RFC 1928) that chooses a method of signing in, answers
// to the user and password (RFC 1929), and then to the request. Instead of an answer that is nil, it closes
// the connection.
func socksProxy(t *testing.T, method byte, signIn, reply []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				// answer reads a message, whose length is in its header, and sends one.
				answer := func(header int, length func(header []byte) int, with []byte) bool {
					begin, err := in.Peek(header)
					if err != nil || with == nil {
						return false
					}
					io.CopyN(io.Discard, in, int64(length(begin)))
					_, err = conn.Write(with)
					return err == nil
				}
				if !answer(2, func(h []byte) int { return 2 + int(h[1]) }, []byte{5, method}) {
					return
				}
				toName := func(h []byte) int { return 3 + int(h[1]) + len(hunter2) }
				if method == 2 && !answer(2, toName, signIn) {
					return
				}
				answer(5, func(h []byte) int { return 7 + int(h[4]) }, reply)
			}()
		}
	}()
	return listener.Addr().String()
}

// The Go library has nothing but text about a SOCKS proxy that refuses the user and password.
func TestSOCKSErrors(t *testing.T) {
	ok, refused := []byte{1, 0}, []byte{1, 1}
	unreachable := []byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0}
	const (
		notConnected = " did not connect to api.example.com"
		lost         = " was lost (tried 4 times)"
	)
	for name, c := range map[string]struct {
		method        byte
		signIn, reply []byte
		want          string
		later         bool
	}{
		"wrong password":     {method: 2, signIn: refused, want: notConnected},
		"no known method":    {method: 0xff, want: notConnected},
		"an unknown method":  {method: 1, want: notConnected},
		"unreachable":        {reply: unreachable, want: notConnected, later: true},
		"signed in":          {method: 2, signIn: ok, reply: unreachable, want: notConnected, later: true},
		"closed immediately": {method: 2, want: lost, later: true},
		"closed later":       {want: lost, later: true},
	} {
		c0 := New(&url.URL{Scheme: "https", Host: "api.example.com"}, nil, test)
		c0.proxy = &url.URL{
			Scheme: "socks5",
			Host:   socksProxy(t, c.method, c.signIn, c.reply),
			User:   url.UserPassword("bob", hunter2),
		}
		c0.transport.Proxy = http.ProxyURL(c0.proxy)
		_, err := c0.List(context.Background(), "")
		if err == nil {
			t.Fatal(name)
		}
		f := report.As(err)
		want := "listing secrets: "
		if !strings.HasPrefix(f.Message, want) || !strings.Contains(f.Message, c.want) ||
			!strings.Contains(f.Message, "the proxy "+c0.proxy.Host) || f.Retryable != c.later ||
			f.Code != report.Unavailable || strings.Contains(f.Message+f.Hint, hunter2) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
