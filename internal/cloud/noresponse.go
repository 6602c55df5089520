package cloud

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"vbot/internal/report"
)

// A connectionError is a request without a complete response.
type connectionError struct {
	err     error         // from net/http; its text is never shown, as it may quote a server
	op      *net.OpError  // the network operation that failed; nil if unknown
	dns     *net.DNSError // nil unless the lookup of a name failed
	errno   syscall.Errno // of the operating system; 0 if unknown
	sent    bool          // the request may have been sent
	byProxy bool          // vbot reached only the proxy
	// wantsCertificate says that the server asked for a client certificate in the last handshake.
	wantsCertificate bool
}

// An outcome is the error code of a connectionError, and whether the same request may succeed.
type outcome struct {
	code     string
	later    bool // it may succeed later
	retryNow bool // it may succeed immediately
}

var (
	neverRetry = outcome{code: report.Unavailable}
	retryLater = outcome{code: report.Unavailable, later: true}
	retryNow   = outcome{code: report.Unavailable, later: true, retryNow: true}
	timedOut   = outcome{code: report.Timeout, later: true, retryNow: true}
)

// A diagnosis is one kind of connectionError. In its texts, {at} is the server or the proxy, {check} is
// what to check if that may be the wrong one, {api} is the API's host, {name} the host that was looked up,
// {errno} the text of the operating system, and {limit} how long vbot waited.
type diagnosis struct {
	is      func(*connectionError) bool
	outcome outcome
	message string
	hint    string
}

// diagnoses are all diagnoses. The first one that holds counts; the last one always does.
var diagnoses = []diagnosis{
	{isUnknownHost, neverRetry, "{at} cannot be found", "{check}"},
	{isDNSTimeout, retryLater, noAddress, "check the network"}, // it has already taken long
	{isDNS, retryNow, noAddress, "check the network"},
	{isTimeout, timedOut, "{at} did not answer within {limit}", ""},

	{isExpired, neverRetry, certificate + "has expired, or is not valid yet", checkClock},
	{isOtherHost, neverRetry, certificate + "is for another host", "{check}"},
	{isUnknownAuthority, neverRetry, certificate + "is not trusted: its authority is unknown", setCAFile},
	{isUntrusted, neverRetry, certificate + "is not trusted", "the server needs another certificate"},
	{isPlain, neverRetry, "{at} does not speak TLS", "{check}"},
	{lacksCertificate, neverRetry, "{at} requires a client certificate, which vbot does not have", "{check}"},

	{isRefused, retryLater, "nothing answers at {at}", "{check}"},
	{isDialWithErrno, retryNow, "{at} cannot be reached: {errno}", "{check}"},
	{isDial, retryNow, "{at} cannot be reached", "{check}"},
	{isTLS, neverRetry, "no TLS connection to {at}", "vbot needs TLS 1.2 or newer; {check}"},
	{isSOCKSSignIn, neverRetry, "{at} did not connect to {api}", proxyHint},
	{isSOCKS, retryLater, "{at} did not connect to {api}", proxyHint},
	{isLost, retryNow, "the connection to {at} was lost", ""},
	{isAny, retryNow, "{at} sent no answer that vbot can read", "{check}"},
}

const (
	noAddress   = "the name server returned no address for {name}"
	certificate = "the certificate of {at} "
	checkClock  = "check the clock of this machine, and the server's certificate"
	setCAFile   = "to trust another certificate authority, set VBOT_CA_FILE"
	proxyHint   = "check HTTPS_PROXY, and its user and password if it has any"
)

// noResponse returns the error for a request without a complete response. limit is how long vbot waited for
// it, unless it could not connect. sent says that the request may have been sent, byProxy that vbot reached
// only the proxy, and wantsCertificate that the server asked for a client certificate.
func (c *Client) noResponse(
	err error, limit time.Duration, sent, byProxy, wantsCertificate bool,
) *tryError {
	if e, ok := errors.AsType[*tryError](err); ok {
		return e // of a function in the transport
	}
	e := newConnectionError(err)
	e.sent, e.byProxy, e.wantsCertificate = sent, byProxy, wantsCertificate
	at, check := c.Base.Host, "check the network, and VBOT_API_URL if it is set"
	if byProxy {
		at, check = "the proxy "+c.proxy.Host+" (HTTPS_PROXY)", "check HTTPS_PROXY"
	}
	name := ""
	if e.dns != nil {
		name = e.dns.Name
	}
	if isDial(e) || !errors.Is(err, context.DeadlineExceeded) {
		limit = min(limit, dialTimeout) // connecting has a limit of its own
	}
	precision := 10 * time.Millisecond
	if limit > time.Second {
		precision = time.Second
	}
	text := strings.NewReplacer(
		"{at}", at, "{check}", check, "{api}", c.Base.Host, "{name}", name, "{errno}", e.errno.Error(),
		"{limit}", limit.Round(precision).String())
	d := diagnoses[slices.IndexFunc(diagnoses, func(d diagnosis) bool { return d.is(e) })]
	return &tryError{
		Failure: report.Failure{
			Code:         d.outcome.code,
			Message:      text.Replace(d.message),
			Hint:         text.Replace(d.hint),
			Retryable:    d.outcome.later,
			MaybeApplied: d.outcome.later && sent,
			Err:          err,
		},
		retryNow: d.outcome.retryNow,
	}
}

// newConnectionError returns what is known from an error of net/http.
func newConnectionError(err error) *connectionError {
	e := &connectionError{err: err}
	e.op, _ = errors.AsType[*net.OpError](err)
	if e.op != nil && e.op.Err != nil {
		if inner, ok := errors.AsType[*net.OpError](e.op.Err); ok {
			e.op = inner // of an attempt to connect to a proxy
		}
	}
	e.dns, _ = errors.AsType[*net.DNSError](err)
	e.errno, _ = errors.AsType[syscall.Errno](err)
	return e
}

// isOp reports whether one of the operations failed; see net.OpError.
func (e *connectionError) isOp(names ...string) bool {
	return e.op != nil && slices.Contains(names, e.op.Op)
}

// hasEnded reports whether the other side closed the connection.
func (e *connectionError) hasEnded() bool {
	return errors.Is(e.err, io.EOF) || errors.Is(e.err, io.ErrUnexpectedEOF)
}

func isUnknownHost(e *connectionError) bool { return isDNS(e) && e.dns.IsNotFound }
func isDNSTimeout(e *connectionError) bool  { return isDNS(e) && e.dns.IsTimeout }
func isDNS(e *connectionError) bool         { return e.dns != nil }

func isTimeout(e *connectionError) bool {
	netError, ok := errors.AsType[net.Error](e.err)
	return errors.Is(e.err, context.DeadlineExceeded) || ok && netError.Timeout()
}

func isUntrusted(e *connectionError) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](e.err)
	return ok
}

func isExpired(e *connectionError) bool {
	invalid, ok := errors.AsType[x509.CertificateInvalidError](e.err)
	return isUntrusted(e) && ok && invalid.Reason == x509.Expired
}

func isOtherHost(e *connectionError) bool {
	_, ok := errors.AsType[x509.HostnameError](e.err)
	return isUntrusted(e) && ok
}

// isUnknownAuthority reports whether it may help to trust another authority. It does not if Go refuses the
// algorithm of the signature; x509.UnknownAuthorityError hides that x509.InsecureAlgorithmError. The
// signature of a trusted root is not checked.
func isUnknownAuthority(e *connectionError) bool {
	unknown, ok := errors.AsType[x509.UnknownAuthorityError](e.err)
	if !isUntrusted(e) || !ok {
		return false
	}
	cert := unknown.Cert
	isRoot := cert != nil && cert.IsCA && bytes.Equal(cert.RawIssuer, cert.RawSubject)
	return cert == nil || isRoot || !slices.Contains(insecureAlgorithms, cert.SignatureAlgorithm)
}

// insecureAlgorithms are those with MD5 and SHA-1.
var insecureAlgorithms = []x509.SignatureAlgorithm{
	x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1,
}

// isPlain reports whether the server answered in something other than TLS.
func isPlain(e *connectionError) bool {
	_, ok := errors.AsType[tls.RecordHeaderError](e.err)
	return ok
}

// isAlert reports whether the server ended the handshake with a TLS alert.
func isAlert(e *connectionError) bool          { return e.isOp("remote error") }
func lacksCertificate(e *connectionError) bool { return isAlert(e) && e.wantsCertificate }

func isRefused(e *connectionError) bool {
	return e.errno == syscall.ECONNREFUSED || e.errno == 10061 // WSAECONNREFUSED, Windows
}

func isDial(e *connectionError) bool          { return e.isOp("dial", "proxyconnect") }
func isDialWithErrno(e *connectionError) bool { return isDial(e) && e.errno != 0 }

// isTLS reports whether the TLS handshake failed. Most errors of crypto/tls about it have no type: they are
// errors before the request was sent that are not of the network.
func isTLS(e *connectionError) bool {
	return isAlert(e) || !e.hasEnded() && e.op == nil && !e.sent && !e.byProxy
}

func isSOCKS(e *connectionError) bool {
	return e.isOp("socks connect") && !e.hasEnded()
}

// isSOCKSSignIn reports whether a SOCKS proxy refused the user and the password. The error has no type, so
// its text is compared: "authentication" is in all such errors of net/http/socks_bundle.go in Go 1.26, and
// in no other. It decides only whether the failure is called retryable: nothing was sent.
func isSOCKSSignIn(e *connectionError) bool {
	return isSOCKS(e) && strings.Contains(e.op.Err.Error(), "authentication")
}

func isLost(e *connectionError) bool { return e.hasEnded() || e.op != nil }

func isAny(*connectionError) bool { return true }
