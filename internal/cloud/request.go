package cloud

import (
	"bytes"
	"cmp"
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
	doing  string // for messages: "listing secrets"
	method string
	path   []string // below /v1
	query  url.Values
	body   map[string]any // strings, booleans and lists; or nil
	pairs  []secret.Pair  // in the body
	asked  Ref            // what the response must not contradict
}

// A response is a type that a JSON response is decoded into. It is trusted if it does not
// contradict the request, and if nothing is missing.
type response interface {
	contradicts(asked Ref) string // returns how, or ""
	incomplete() string           // returns what is missing, or ""
}

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
	unsure := false // a try may have taken effect
	for try := 1; ; try++ {
		f := c.send(all, r, end, body, into)
		if f == nil {
			c.tokenGood = true
			return nil
		}
		unsure = unsure || f.Unsure && r.method != http.MethodGet
		pause := c.pauseAfter(try) + f.retryAfter
		mayRetry := f.retryNow && try < maxTries && all.Err() == nil
		isTooLong := pause > end.Sub(c.Now())
		if mayRetry && !isTooLong {
			c.Note("%s", f.retryNote(r.doing, try+1, pause))
			c.Pause(all, pause) // ignore the error: the next try fails if all has ended
			if ctx.Err() == nil {
				continue
			}
		}
		switch {
		case ctx.Err() != nil && unsure:
			return interrupted(r.doing)
		case ctx.Err() != nil:
			return context.Canceled // it cannot have taken effect
		case mayRetry && isTooLong:
			f.addLongWait()
		}
		return f.failure(r.doing, try, unsure)
	}
}

// protectValues remembers which names the response may repeat, and which values it may not.
func (c *Client) protectValues(r request) {
	for _, name := range append(r.path, r.asked.Region) {
		c.publicNames[name] = true
	}
	for _, p := range r.pairs { // all names before any value
		c.publicNames[p.Key] = true
	}
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
func (c *Client) send(ctx context.Context, r request, end time.Time, body []byte, into response) *fault {
	limit := min(c.TryTimeout, end.Sub(c.Now()))
	ctx, cancel := c.WithTimeout(ctx, limit)
	defer cancel()
	c.answered = 0
	sent := false
	informed := 0
	made := &handshakes{}
	ctx = context.WithValue(ctx, handshakesKey{}, made)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() {
			made.number.Add(1)
			made.wantsCertificate.Store(false)
		},
		GotConn: func(httptrace.GotConnInfo) { sent = true },
		// With this function, net/http does not limit their number.
		Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
			informed++
			isUsual := status == http.StatusContinue || status == http.StatusEarlyHints
			if informed > maxInformed || !isUsual {
				return invalidResponse(status, "not a final status")
			}
			return nil
		},
	})
	req, f := c.httpRequest(ctx, r, body)
	if f != nil {
		return f
	}
	// An http.Client would follow redirects, and send the values elsewhere.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		withProxy := int32(0) // handshakes
		if c.proxy != nil && c.proxy.Scheme == "https" {
			withProxy = 1
		}
		byProxy := c.proxy != nil && made.number.Load() <= withProxy
		return c.noResponse(err, limit, sent, byProxy, made.wantsCertificate.Load())
	}
	defer resp.Body.Close()
	c.answered = resp.StatusCode
	if resp.StatusCode < 200 { // net/http treats 101 as final; reading would never end
		return invalidResponse(resp.StatusCode, "not a final status")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		c.answered = 0
		return c.noResponse(err, limit, true, false, made.wantsCertificate.Load())
	}
	if resp.StatusCode > 299 {
		return c.errorResponse(r, resp, data)
	}
	if resp.StatusCode == http.StatusNoContent && r.method == http.MethodDelete {
		return nil
	}
	problem := c.decode(data, into)
	if problem == "" {
		problem = cmp.Or(into.contradicts(r.asked), into.incomplete())
	}
	if problem != "" {
		return invalidResponse(resp.StatusCode, problem)
	}
	return nil
}

// httpRequest converts the request to one of net/http.
func (c *Client) httpRequest(ctx context.Context, r request, body []byte) (*http.Request, *fault) {
	invalid := func(message string) *fault {
		return &fault{Failure: report.Failure{Code: report.Failed, Message: message}}
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
// server's clock. It returns at most maxAfter, which is longer than vbot waits anyway.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(n, 0), int(maxAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	if until, err := http.ParseTime(text); err == nil {
		return min(max(until.Sub(now), 0), maxAfter)
	}
	return 0
}
