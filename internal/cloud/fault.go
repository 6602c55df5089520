package cloud

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
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

// retryNote returns the message that announces the next try, with its number from 2, after a pause.
func (f *fault) retryNote(doing string, try int, pause time.Duration) string {
	when := ""
	if f.retryAfter > 0 {
		when = fmt.Sprintf(" in %v", pause.Round(time.Second))
	}
	const note = "%s: %s; trying again%s (%d of %d)"
	return fmt.Sprintf(note, doing, f.Message, when, try, maxTries)
}

// addLongWait adds to the message that no time is left for the pause that the API asked for, if it did.
func (f *fault) addLongWait() {
	if f.retryAfter > 0 {
		f.Message += fmt.Sprintf("; the API asks to wait %v, longer than vbot waits", f.retryAfter)
	}
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
func (c *Client) errorResponse(r request, resp *http.Response, data []byte) *fault {
	var said refusal
	c.decode(data, &said) // ignore problems: the body may be anything
	text := cmp.Or(said.Error, said.Message)
	status := resp.StatusCode
	f := &fault{Failure: report.Failure{
		Code:       report.Rejected,
		HTTPStatus: status,
		Message:    strings.TrimSuffix("the API answered "+statusText(status)+": "+text, ": "),
	}}
	f.Retryable, f.retryNow = isTemporary(status)
	if f.Retryable {
		f.Code = report.Unavailable
		f.Unsure = status >= 500 && status != http.StatusServiceUnavailable
	}
	switch status {
	case http.StatusNetworkAuthenticationRequired: // from a Wi-Fi or a proxy, and not from the API
		f.Unsure = false
		f.Message = "the network answered " + statusText(status)
		f.Hint = "sign in to the network in a browser, and run the same command again"
	case http.StatusUnauthorized:
		f.Code = report.Unauthorized
		f.Message += "; " + c.tokenWithSource() + " is not valid"
		f.Hint = c.otherToken()
	case http.StatusForbidden:
		f.Code = report.Forbidden
		f.Hint = c.checkOrganization() + ", or use a token that has the permission"
	case http.StatusNotFound:
		f.Code = report.NotFound
		switch {
		case text == "": // a missing page, and not a missing secret
			f.Code = report.Failed
		case r.asked.Name == "":
			f.Hint = c.checkOrganization() + ", and VBOT_API_URL if it is set"
		default:
			f.Hint = "`vbot cloud secrets list` lists all secrets"
		}
	case http.StatusConflict: // of two writes at the same time, or of two kinds of secrets
		f.retryNow = !isNameTaken(data)
		f.Retryable = f.retryNow
	default:
		if status >= 300 && status <= 399 {
			const redirect = "the API answered with a redirect (%d); " +
				"vbot does not follow it, because the token would go to another address"
			f.Code = report.Failed
			f.Message = fmt.Sprintf(redirect, status)
			f.Hint = "check VBOT_API_URL"
		}
	}
	if f.retryNow {
		f.retryAfter = parseRetryAfter(resp.Header, c.Now())
	}
	return f
}

// isNameTaken reports whether a response with 409 is about a name that a referenced secret uses, or a
// managed one instead of it; then the same request fails again. The API's documents have one code for both
// conflicts, CONFLICT. Only the message differs, and that only by the tests of the Python client 1.4.0; if
// it is reworded, vbot tries such a request four times.
func isNameTaken(data []byte) bool {
	return bytes.Contains(bytes.ToLower(data), []byte("referenc"))
}

// checkOrganization returns the hint to check the organization at its source.
func (c *Client) checkOrganization() string {
	if c.named == "--organization" {
		return "check --organization"
	}
	return "check the organization in " + c.named + " (" + c.Organization + ")"
}
