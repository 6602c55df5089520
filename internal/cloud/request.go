package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"time"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// A request is one call of the API.
type request struct {
	action string // for messages: "listing secrets"
	method string
	path   []string // below /v1
	query  url.Values
	body   map[string]any // strings, booleans and lists; or nil
	pairs  []secret.Pair  // in the body
	ref    Ref            // the secret that the response must be about
}

// A response is what the JSON of a response is decoded into. check returns why it cannot be trusted: it is
// not about the secret of the request, it reports an error, or something is missing in it.
type response interface{ check(ref Ref) error }

// call sends the request, with retries, and decodes the response into into. All requests are
// idempotent: they set or remove, and never append.
func (c *Client) call(ctx context.Context, r request, into response) error {
	var body []byte
	if r.body != nil {
		body, _ = json.Marshal(r.body)
	}
	c.protectValues(r)
	end := c.Now().Add(c.CallTimeout)
	all, cancel := c.WithTimeout(ctx, c.CallTimeout)
	defer cancel()
	maybeApplied := false // a try may have taken effect
	for try := 1; ; try++ {
		e := c.send(all, r, end, body, into)
		if e == nil {
			c.tokenGood = true
			return nil
		}
		maybeApplied = maybeApplied || e.MaybeApplied && r.method != http.MethodGet
		pause := c.pauseAfter(try) + e.retryAfter
		mayRetry := e.retryNow && try < maxTries && all.Err() == nil
		isTooLong := pause > end.Sub(c.Now())
		if mayRetry && !isTooLong {
			c.Note("%s", e.retryNote(r.action, try+1, pause))
			c.Pause(all, pause) // ignore the error: the next try fails if all has ended
			if ctx.Err() == nil {
				continue
			}
		}
		switch {
		case ctx.Err() != nil && maybeApplied:
			return interrupted(r.action)
		case ctx.Err() != nil:
			return context.Canceled // it cannot have taken effect
		case mayRetry && isTooLong:
			e.addLongWait()
		}
		return e.failure(r.action, try, maybeApplied)
	}
}

// protectValues remembers the values that the response may not repeat, and the names that it may.
func (c *Client) protectValues(r request) {
	c.addNames(r.pairs, append(r.path, r.ref.Region)...) // all names before any value
	for _, p := range r.pairs {
		c.protect(p.Value)
	}
}

// pauseAfter returns how long to wait after a number of tries: twice as long each time, minus a random
// part of at most a half, so that clients do not all return at the same time.
func (c *Client) pauseAfter(try int) time.Duration {
	half := firstPause << (try - 1) / 2
	return half + time.Duration(c.Random()*float64(half))
}

// send sends the request once, and gives up at the end of all its tries. It returns nil if the response is
// trusted.
func (c *Client) send(ctx context.Context, r request, end time.Time, body []byte, into response) *tryError {
	limit := min(c.TryTimeout, end.Sub(c.Now()))
	ctx, cancel := c.WithTimeout(ctx, limit)
	defer cancel()
	c.status = 0
	sent := false
	informational := 0
	tlsHandshakes := &handshakes{}
	ctx = context.WithValue(ctx, handshakesKey{}, tlsHandshakes)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() {
			tlsHandshakes.number.Add(1)
			tlsHandshakes.wantsCertificate.Store(false)
		},
		GotConn: func(httptrace.GotConnInfo) { sent = true },
		// With this function, net/http does not limit their number.
		Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
			informational++
			isUsual := status == http.StatusContinue || status == http.StatusEarlyHints
			if informational > maxInformational || !isUsual {
				return invalidResponse(status, "not a final status")
			}
			return nil
		},
	})
	req, invalid := c.httpRequest(ctx, r, body)
	if invalid != nil {
		return invalid
	}
	// An http.Client would follow redirects, and send the values elsewhere.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		withProxy := int32(0) // handshakes
		if c.proxy != nil && c.proxy.Scheme == "https" {
			withProxy = 1
		}
		byProxy := c.proxy != nil && tlsHandshakes.number.Load() <= withProxy
		return c.noResponse(err, limit, sent, byProxy, tlsHandshakes.wantsCertificate.Load())
	}
	defer resp.Body.Close()
	c.status = resp.StatusCode
	if resp.StatusCode < 200 { // net/http treats 101 as final; reading would never end
		return invalidResponse(resp.StatusCode, "not a final status")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		c.status = 0
		return c.noResponse(err, limit, true, false, tlsHandshakes.wantsCertificate.Load())
	}
	if resp.StatusCode > 299 {
		return c.errorResponse(r, resp, data)
	}
	if resp.StatusCode == http.StatusNoContent && r.method == http.MethodDelete {
		return nil
	}
	if err = c.decode(data, into); err == nil {
		err = into.check(r.ref)
	}
	if err != nil {
		return invalidResponse(resp.StatusCode, err.Error())
	}
	return nil
}

// httpRequest converts the request to one of net/http.
func (c *Client) httpRequest(ctx context.Context, r request, body []byte) (*http.Request, *tryError) {
	invalid := func(message string) *tryError {
		return &tryError{Failure: report.Failure{Code: report.Failed, Message: message}}
	}
	u := *c.Base
	for _, segment := range append([]string{"v1"}, r.path...) {
		if segment == "" || segment == "." || segment == ".." {
			return nil, invalid("a name in the URL is empty or a relative path")
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
		return nil, invalid("the request is invalid")
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	req.Header.Set("User-Agent", c.Program)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// parseRetryAfter returns how long a Retry-After header asks to wait: seconds, or until a date by the
// server's clock. It returns at most maxRetryAfter, which is longer than vbot waits anyway.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(n, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	if until, err := http.ParseTime(text); err == nil {
		return min(max(until.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
