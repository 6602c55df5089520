package cloud

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"vbot/internal/report"
)

// A fault is why one try of a request failed. Its message does not say what was attempted.
type fault struct {
	report.Failure
	retryNow   bool          // the same request may succeed immediately
	retryAfter time.Duration // how long the API asked to wait before
}

// failure returns the failure of a request after a number of tries. unsure says that one of them may have
// taken effect.
func (f *fault) failure(doing string, tries int, unsure bool) error {
	out := f.Failure
	out.Message = doing + ": " + out.Message
	out.Unsure = unsure
	if tries > 1 {
		out.Message += fmt.Sprintf(" (tried %d times)", tries)
	}
	if unsure {
		out.Message += "; the request may have succeeded"
		out.Hint = "it is safe to run the same command again"
	} else if out.Hint == "" && out.Retryable {
		out.Hint = "run the same command again later"
	}
	return &out
}

// interrupted returns the failure of a request that may have taken effect before the context
// ended.
func interrupted(doing string) error {
	f := fault{Failure: report.Failure{Code: report.Interrupted, Message: "interrupted", Retryable: true}}
	return f.failure(doing, 1, true)
}

// IsBadRequest reports whether the API responded with 400 or 422.
func IsBadRequest(err error) bool {
	if err == nil {
		return false
	}
	status := report.As(err).HTTPStatus
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// invalidResponse returns the fault of a response that cannot be trusted.
func invalidResponse(status int, what string) *fault {
	return &fault{Failure: report.Failure{
		Code:       report.Failed,
		HTTPStatus: status,
		Unsure:     true,
		Message:    fmt.Sprintf("unexpected answer (%d): %s", status, what),
	}}
}

// noResponse returns the fault of a request without a complete response. sent says that the request
// may have been sent, and byProxy that vbot reached only the proxy. Errors of net/http may quote a
// server, so their text is not shown.
func (c *Client) noResponse(err error, sent, byProxy bool) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f // from the transport
	}
	at := c.Base.Host
	check := "check the network, and VBOT_API_URL if it is set"
	if byProxy {
		at = "the proxy " + c.proxy.Host + " (HTTPS_PROXY)"
		check = "check HTTPS_PROXY"
	}
	// final is a fault that stays. later is one that may go away; again may go away immediately.
	final := func(message, hint string) *fault {
		return &fault{Failure: report.Failure{
			Code:    report.Unavailable,
			Message: message,
			Hint:    hint,
			Err:     err,
		}}
	}
	later := func(message, hint string) *fault {
		f := final(message, hint)
		f.Retryable = true
		f.Unsure = sent
		return f
	}
	again := func(message, hint string) *fault {
		f := later(message, hint)
		f.retryNow = true
		return f
	}

	op, _ := errors.AsType[*net.OpError](err)
	if op != nil && op.Err != nil {
		if inner, ok := errors.AsType[*net.OpError](op.Err); ok {
			op = inner // of an attempt to connect to a proxy
		}
	}
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	isAlert := op != nil && op.Op == "remote error" // of TLS
	isDial := op != nil && (op.Op == "dial" || op.Op == "proxyconnect")
	isSocks := op != nil && strings.HasPrefix(op.Op, "socks")
	dns, isDNS := errors.AsType[*net.DNSError](err)
	untrusted, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, isPlain := errors.AsType[tls.RecordHeaderError](err)
	netError, isNet := errors.AsType[net.Error](err)
	isTimeout := errors.Is(err, context.DeadlineExceeded) || isNet && netError.Timeout()
	errno, _ := errors.AsType[syscall.Errno](err)
	isRefused := errno == syscall.ECONNREFUSED || errno == 10061 // WSAECONNREFUSED, Windows
	switch {
	case isDNS && dns.IsNotFound:
		return final(at+" cannot be found", check)
	case isDNS:
		f := later("the name server returned no address for "+dns.Name, "check the network")
		f.retryNow = !dns.IsTimeout // a timeout already took long
		return f
	case isTimeout:
		f := again(at+" did not answer in time", "")
		f.Code = report.Timeout
		return f
	case isUntrusted:
		what, hint := certificateFault(untrusted.Err)
		return final("the certificate of "+at+" "+what, cmp.Or(hint, check))
	case isPlain:
		return final(at+" does not speak TLS", check)
	case isAlert && c.wantsCertificate.Load():
		return final(at+" requires a client certificate, which vbot does not have", check)
	case isRefused:
		return later("nothing answers at "+at, check)
	case isDial && errno != 0:
		return again(at+" cannot be reached: "+errno.Error(), check)
	case isDial:
		return again(at+" cannot be reached", check)
	case isAlert || !ended && op == nil && !sent && !byProxy:
		return final("no TLS connection to "+at, "vbot needs TLS 1.2 or newer; "+check)
	case !ended && isSocks && strings.Contains(op.Err.Error(), "authentication"):
		return final(at+" did not connect to "+c.Base.Host, proxyHint)
	case !ended && isSocks:
		return later(at+" did not connect to "+c.Base.Host, proxyHint)
	case ended || op != nil:
		return again("the connection to "+at+" was lost", "")
	}
	return again(at+" sent no answer that vbot can read", check)
}

// proxyHint says what to do about a proxy that does not connect.
const proxyHint = "check HTTPS_PROXY, and its user and password if it has any"

// certificateFault returns what is wrong with a certificate, and what to do about it; the hint is
// "" if the address may be wrong.
func certificateFault(err error) (what, hint string) {
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	_, isOtherHost := errors.AsType[x509.HostnameError](err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		return "has expired, or is not valid yet",
			"check the clock of this machine, and the server's certificate"
	case isOtherHost:
		return "is for another host", ""
	case isUnknown && !strings.Contains(err.Error(), "insecure algorithm"):
		return "is not trusted: its authority is unknown",
			"to trust another certificate authority, set VBOT_CA_FILE"
	}
	return "is not trusted", "the server needs another certificate"
}

// isTemporary reports whether the status means that the same request may succeed later, and whether
// it may succeed immediately.
func isTemporary(status int) (later, now bool) {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true, true
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true, false
	}
	return status >= 500, false
}

// statusText returns the status with its usual name: "503 Service Unavailable".
func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// proxyRefusal returns the fault of a proxy that responds to CONNECT with the status, or nil.
func proxyRefusal(status int) error {
	if status == http.StatusOK {
		return nil
	}
	f := &fault{Failure: report.Failure{
		Code:    report.Unavailable,
		Hint:    proxyHint,
		Message: "the proxy refused the connection: " + statusText(status),
	}}
	f.Retryable, f.retryNow = isTemporary(status)
	return f
}

// A refusal is the body of a response whose status is not a success.
type refusal struct {
	Error   string `json:"error" text:"prose"`
	Message string `json:"message" text:"prose"` // the Python client reads it, too
}

// errorResponse returns the fault of a response whose status is not a success.
func (c *Client) errorResponse(resp *http.Response, data []byte) *fault {
	var said refusal
	c.decode(data, &said) // ignore problems: the body may be anything
	text := cmp.Or(said.Error, said.Message)
	status := resp.StatusCode
	f := &fault{Failure: report.Failure{Code: report.Rejected, HTTPStatus: status}}
	f.Retryable, f.retryNow = isTemporary(status)
	if f.Retryable {
		f.Code = report.Unavailable
		f.Unsure = status >= 500 && status != http.StatusServiceUnavailable
	}
	f.Message = "the API answered " + statusText(status)
	if text != "" {
		f.Message += ": " + text
	}
	switch {
	case status >= 300 && status <= 399:
		const redirect = "the API answered with a redirect (%d); " +
			"vbot does not follow it, because the token would go to another address"
		f.Code = report.Failed
		f.Hint = "check VBOT_API_URL"
		f.Message = fmt.Sprintf(redirect, status)
	case status == http.StatusNetworkAuthenticationRequired: // of a Wi-Fi or a proxy, and not of the API
		f.Unsure = false
		f.Hint = "sign in to the network in a browser, and run the same command again"
		f.Message = "the network answered " + statusText(status)
	case status == http.StatusUnauthorized:
		f.Code = report.Unauthorized
		f.Hint = c.otherToken()
		f.Message += "; the token"
		if c.TokenFrom != "" {
			f.Message += " from " + c.TokenFrom
		}
		f.Message += " is not valid"
	case status == http.StatusForbidden:
		f.Code = report.Forbidden
		f.Hint = c.checkOrganization() + ", or use a token that has the permission"
	case status == http.StatusNotFound && text == "":
		f.Code = report.Failed // a missing page is not a missing set
	case status == http.StatusNotFound:
		f.Code = report.NotFound
		f.Hint = "`vbot cloud secrets list` lists all secrets"
		if !strings.Contains(resp.Request.URL.Path, "/secrets/") {
			f.Hint = c.checkOrganization() + ", and VBOT_API_URL if it is set"
		}
	case status == http.StatusConflict:
		// Somebody else is writing the same set: try again. But a name that a
		// referenced Secret uses stays in use.
		f.retryNow = !bytes.Contains(bytes.ToLower(data), []byte("referenc"))
		f.Retryable = f.retryNow
	}
	if f.retryNow {
		f.retryAfter = parseRetryAfter(resp.Header, c.Now())
	}
	return f
}

// checkOrganization returns the hint to check the organization at its source.
func (c *Client) checkOrganization() string {
	if c.Organization != "" && c.Organization == c.Getenv("VBOT_ORGANIZATION") {
		return "check VBOT_ORGANIZATION (" + c.Organization + ")"
	}
	return "check --organization"
}
