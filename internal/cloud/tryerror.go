package cloud

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"vbot/internal/report"
)

// A tryError is why one try of a request failed. Its message does not say what was attempted.
type tryError struct {
	report.Failure
	retryNow   bool          // the same request may succeed immediately
	retryAfter time.Duration // how long the API asked to wait before the next try
}

// Hints that say nothing about the cause, so that a command may replace them.
const (
	hintAgain = "it is safe to run the same command again"
	hintLater = "run the same command again later"
	hintList  = "`vbot cloud secrets list` lists all secrets"
)

// IsGeneralHint reports whether the hint of a request says nothing about what caused its failure.
func IsGeneralHint(hint string) bool {
	return slices.Contains([]string{"", hintAgain, hintLater, hintList}, hint)
}

// failure returns the failure of a request after a number of tries. action is that of the request, and
// mayBeApplied says that one of the tries may have taken effect.
func (e *tryError) failure(action string, tries int, mayBeApplied bool) error {
	f := e.Failure
	f.Message = action + ": " + f.Message
	f.MaybeApplied = mayBeApplied
	if tries > 1 {
		f.Message += fmt.Sprintf(" (tried %d times)", tries)
	}
	if mayBeApplied {
		f.Message += "; the request may have succeeded"
		f.Hint = hintAgain
	} else if f.Hint == "" && f.Retryable {
		f.Hint = hintLater
	}
	return &f
}

// retryNote returns the message that announces the next try, with its number from 2, after a pause.
func (e *tryError) retryNote(action string, try int, pause time.Duration) string {
	when := ""
	if e.retryAfter > 0 {
		when = fmt.Sprintf(" in %v", pause.Round(time.Second))
	}
	const note = "%s: %s; trying again%s (%d of %d)"
	return fmt.Sprintf(note, action, e.Message, when, try, maxTries)
}

// addLongWait adds to the message that no time is left for the pause that the API asked for, if it did.
func (e *tryError) addLongWait() {
	if e.retryAfter > 0 {
		e.Message += fmt.Sprintf("; the API asks to wait %v, longer than vbot waits", e.retryAfter)
	}
}

// interrupted returns the failure of a request that may have taken effect before the context ended.
func interrupted(action string) error {
	e := tryError{Failure: report.Failure{
		Code:      report.Interrupted,
		Message:   "interrupted",
		Retryable: true,
	}}
	return e.failure(action, 1, true)
}

// IsBadRequest reports whether the API responded with 400 or 422.
func IsBadRequest(err error) bool {
	if err == nil {
		return false
	}
	status := report.As(err).HTTPStatus
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// invalidResponse returns the error for a response that cannot be trusted.
func invalidResponse(status int, reason string) *tryError {
	return &tryError{Failure: report.Failure{
		Code:         report.Failed,
		HTTPStatus:   status,
		MaybeApplied: true,
		Message:      fmt.Sprintf("unexpected answer (%d): %s", status, reason),
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

// proxyError returns the error for a proxy that responds to CONNECT with the status; nil for a success.
func proxyError(status int) error {
	if status == http.StatusOK {
		return nil
	}
	e := &tryError{Failure: report.Failure{
		Code:    report.Unavailable,
		Hint:    proxyHint,
		Message: "the proxy refused the connection: " + statusText(status),
	}}
	e.Retryable, e.retryNow = isTemporary(status)
	return e
}

// An errorBody is the body of a response whose status is not a success.
type errorBody struct {
	Error   string `json:"error" text:"prose"`
	Message string `json:"message" text:"prose"` // the Python client reads it, too
}

// errorResponse returns the error for a response whose status is not a success.
func (c *Client) errorResponse(r request, resp *http.Response, data []byte) *tryError {
	var body errorBody
	c.decode(data, &body) // ignore errors: the body may be anything
	text := cmp.Or(body.Error, body.Message)
	status := resp.StatusCode
	e := &tryError{Failure: report.Failure{
		Code:       report.Rejected,
		HTTPStatus: status,
		Message:    strings.TrimSuffix("the API answered "+statusText(status)+": "+text, ": "),
	}}
	e.Retryable, e.retryNow = isTemporary(status)
	if e.Retryable {
		e.Code = report.Unavailable
		e.MaybeApplied = status >= 500 && status != http.StatusServiceUnavailable
	}
	switch status {
	case http.StatusNetworkAuthenticationRequired: // from a Wi-Fi or a proxy, and not from the API
		e.MaybeApplied = false
		e.Message = "the network answered " + statusText(status)
		e.Hint = "sign in to the network in a browser, and run the same command again"
	case http.StatusUnauthorized:
		e.Code = report.Unauthorized
		e.Message += "; " + c.tokenWithSource() + " is not valid"
		e.Hint = c.otherToken()
	case http.StatusForbidden:
		e.Code = report.Forbidden
		e.Hint = c.checkOrganization() + ", or use a token that has the permission"
	case http.StatusNotFound:
		e.Code = report.NotFound
		switch {
		case text == "": // a missing page, and not a missing secret
			e.Code = report.Failed
		case r.ref.Name == "":
			e.Hint = c.checkOrganization() + ", and VBOT_API_URL if it is set"
		default:
			e.Hint = hintList
		}
	case http.StatusConflict:
		// Two writes at the same time, which is over when the last try fails. A refusal that never changes,
		// such as a name that another kind of secret uses, has the same code, CONFLICT. So a script must not
		// repeat it.
		e.retryNow = true
		e.Hint = "if another program is changing it, run the same command again when that is done"
	default:
		if status >= 300 && status <= 399 {
			const redirect = "the API answered with a redirect (%d); " +
				"vbot does not follow it, because the token would go to another address"
			e.Code = report.Failed
			e.Message = fmt.Sprintf(redirect, status)
			e.Hint = "check VBOT_API_URL"
		}
	}
	if e.retryNow {
		e.retryAfter = parseRetryAfter(resp.Header, c.Now())
	}
	return e
}

// checkOrganization returns the hint to check the organization at its source.
func (c *Client) checkOrganization() string {
	if c.organizationFrom == "--organization" {
		return "check --organization"
	}
	return "check the organization in " + c.organizationFrom + " (" + c.Organization + ")"
}
