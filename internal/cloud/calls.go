package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// organizationPath returns the path below the organization, if there is one.
func (c *Client) organizationPath(segments ...string) []string {
	if c.Organization == "" {
		return segments
	}
	return append([]string{"organizations", c.Organization}, segments...)
}

// organizations returns the sorted names of the organizations of the token. action is that of the request.
func (c *Client) organizations(ctx context.Context, action string) (names []string, err error) {
	var got organizationList
	err = c.call(ctx, request{
		action: action,
		method: http.MethodGet,
		path:   []string{"organizations"},
	}, &got)
	for _, o := range got.Organizations {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names, err
}

// errNotList returns the error for a response that is not a list of things. It may come from another server.
func errNotList(things string) error {
	return errors.New("not a list of " + things + "; check VBOT_API_URL if it is set")
}

type organizationList struct {
	payload
	Organizations []payload `json:"organizations"`
}

func (l *organizationList) check(ref Ref) error {
	if err := l.checkMessage(ref); err != nil {
		return err
	}
	if l.Organizations == nil {
		return errNotList("organizations")
	}
	for _, o := range l.Organizations {
		// The name becomes part of paths, and is shown.
		if !IsSegment(o.Name) {
			return fmt.Errorf("organization %s cannot be used; "+
				"name yours with --organization or VBOT_ORGANIZATION", o.Name)
		}
	}
	return nil
}

// Regions returns the codes of the regions in which the organization can store secrets.
func (c *Client) Regions(ctx context.Context) (codes []string, err error) {
	var got regionList
	err = c.call(ctx, request{
		action: "listing regions",
		method: http.MethodGet,
		path:   c.organizationPath("regions"),
	}, &got)
	for _, r := range got.Regions {
		codes = append(codes, r.Code)
	}
	return codes, err
}

type regionList struct {
	payload
	Regions []struct {
		Code string `json:"code" text:"identifier"`
	} `json:"regions"`
}

func (l *regionList) check(ref Ref) error { return l.checkMessage(ref) }

// List returns all sets and image pull secrets, sorted by name. If region is not "", it returns
// only those of that region.
func (c *Client) List(ctx context.Context, region string) ([]Entry, error) {
	return c.list(ctx, "listing secrets", region)
}

// list is List with the action of the request.
func (c *Client) list(ctx context.Context, action, region string) ([]Entry, error) {
	r := request{action: action, method: http.MethodGet, path: c.organizationPath("secrets")}
	if region != "" {
		r.query = url.Values{"region": {region}}
	}
	var got secretList
	if err := c.call(ctx, r, &got); err != nil {
		return nil, err
	}
	// Not every version of the API supports the filter.
	entries := slices.DeleteFunc(got.Sets, func(e Entry) bool { return region != "" && e.Region != region })
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// Find looks for a secret of any kind in the listing. It returns nil if there is none of that
// name.
func (c *Client) Find(ctx context.Context, name string) (*Entry, error) {
	entries, err := c.List(ctx, "")
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return &entries[i], err
	}
	return nil, err
}

type secretList struct {
	payload
	Sets []Entry `json:"sets"`
}

func (l *secretList) check(ref Ref) error {
	if err := l.checkMessage(ref); err != nil {
		return err
	}
	isNameless := func(e Entry) bool { return e.Name == "" }
	if l.Sets == nil || slices.ContainsFunc(l.Sets, isNameless) {
		return errNotList("secrets")
	}
	return nil
}

// Get returns one secret set. For an image pull secret the API responds with 400.
func (c *Client) Get(ctx context.Context, name string) (*Set, error) {
	return c.get(ctx, Ref{Name: name, Type: TypeSet})
}

func (c *Client) get(ctx context.Context, ref Ref) (*Set, error) {
	var got Set
	err := c.call(ctx, request{
		action: "reading secret set " + ref.Name,
		method: http.MethodGet,
		path:   c.organizationPath("secrets", ref.Name),
		ref:    ref,
	}, &got)
	if err != nil {
		return nil, err
	}
	for _, k := range got.Secrets {
		got.Keys = append(got.Keys, k.Name)
	}
	slices.Sort(got.Keys)
	return &got, nil
}

// A Set is a secret set with its keys, without values.
type Set struct {
	Entry
	Secrets []setKey `json:"secrets"`
	Keys    []string `json:"-"` // sorted
}

type setKey struct {
	Name string `json:"fieldName" text:"identifier"`
}

// check allows the status failed, and the message about it: the set has keys nevertheless.
func (s *Set) check(ref Ref) error {
	if err := s.matches(ref); err != nil {
		return err
	}
	if s.Secrets == nil || slices.ContainsFunc(s.Secrets, func(k setKey) bool { return k.Name == "" }) {
		return errNotList("keys")
	}
	return nil
}

// storePairs adds all pairs to the set in one request, or replaces their values. It returns the
// region of the set, "" if the API did not say.
func (c *Client) storePairs(ctx context.Context, set Ref, pairs []secret.Pair) (string, error) {
	var entries []map[string]string
	for _, p := range pairs {
		entries = append(entries, map[string]string{"secretKey": p.Key, "secretValue": p.Value.Reveal()})
	}
	action := "storing " + report.Plural(len(pairs), "key") + " in " + set.Name
	return c.put(ctx, action, set, map[string]any{"secrets": entries}, pairs...)
}

// storePair adds one pair, in the form that the Python client uses, which openapi.json does not describe. It
// protects no values, because storePairs has done so.
func (c *Client) storePair(ctx context.Context, set Ref, p secret.Pair) (string, error) {
	return c.put(ctx, "storing "+p.Key+" in "+set.Name, set, map[string]any{
		"name":              set.Name,
		"isImagePullSecret": false,
		"secretKey":         p.Key,
		"secretValue":       p.Value.Reveal(),
	})
}

// A Change is a change to a secret set.
type Change struct {
	Ref                 // of the set; the region is "" if the API chooses it
	Pairs []secret.Pair // to add
	Prune []string      // keys to remove after all pairs are stored, so that a failure loses nothing
}

// A Progress says how much of a change was carried out. It counts pairs and keys in their order: first the
// pairs that are stored, then the keys that are removed.
type Progress struct {
	Region string // of the set; "" if the API did not say
	Done   int
	Tried  int // those after the first Done ones failed, or may have been applied
}

// StoreAll carries out the change: all pairs in one request or, if the API refuses that form, one request
// per pair; then it removes keys.
func (c *Client) StoreAll(ctx context.Context, ch Change) (p Progress, err error) {
	p.Tried = len(ch.Pairs)
	p.Region, err = c.storePairs(ctx, ch.Ref, ch.Pairs)
	if IsBadRequest(err) {
		p, err = c.storeEach(ctx, ch, report.As(err))
	}
	if err != nil {
		return p, err
	}
	p.Done = len(ch.Pairs)
	for _, key := range ch.Prune {
		p.Tried++
		if err = c.prune(ctx, ch.Name, key); err != nil {
			return p, err
		}
		p.Done++
	}
	return p, nil
}

// storeEach stores one pair after the other, because the request with all pairs failed with bulk.
func (c *Client) storeEach(ctx context.Context, ch Change, bulk *report.Failure) (p Progress, err error) {
	for _, pair := range ch.Pairs {
		region, err := c.storePair(ctx, ch.Ref, pair)
		if err == nil {
			p.Done++
			p.Region = cmp.Or(region, p.Region)
			continue
		}
		p.Tried = p.Done + 1
		if bulk.MaybeApplied { // then any of the pairs may be stored
			p.Tried = len(ch.Pairs)
			if ctx.Err() != nil {
				err = interrupted("storing " + pair.Key + " in " + ch.Name)
			}
		}
		f := *report.As(err)
		f.MaybeApplied = f.MaybeApplied || bulk.MaybeApplied
		// If not even one pair can be stored, the first failure may be the better explanation.
		if p.Done == 0 && ctx.Err() == nil && f.HTTPStatus != bulk.HTTPStatus {
			f.Message = bulk.Message + "; " + f.Message
		}
		return p, &f
	}
	p.Tried = len(ch.Pairs)
	return p, nil
}

// prune removes a key that the set has, unless somebody else has just removed it. It tries again if somebody
// has removed it and stored it again.
func (c *Client) prune(ctx context.Context, set, key string) error {
	for try := 1; ; try++ {
		err := c.Remove(ctx, "removing key "+key+" from "+set, set, key)
		switch {
		case !report.HasCode(err, report.NotFound):
			return err
		case c.IsGone(ctx, set, key):
			return nil
		case try == maxTries:
			return err
		}
		c.Pause(ctx, c.pauseAfter(try)) // ignore the error: the next request fails if ctx has ended
	}
}

// GetOrNew returns a secret set, or says that it is new: neither a request for it nor the listing finds it.
// If only one of them does, somebody may have just created the set, so it tries again.
func (c *Client) GetOrNew(ctx context.Context, name string) (set *Set, isNew bool, err error) {
	for try := 1; ; try++ {
		set, err = c.Get(ctx, name)
		isMissing := report.HasCode(err, report.NotFound)
		switch {
		case isMissing && c.IsGone(ctx, name):
			return &Set{}, true, nil
		case !isMissing || try == maxTries:
			return set, false, err
		}
		c.Pause(ctx, c.pauseAfter(try)) // ignore the error: the next request fails if ctx has ended
	}
}

// WaitReady polls until the secret is ready, for at most limit. It returns the last status, "" if there was
// none. soFar is the beginning of the message if it fails: "app is stored, but".
func (c *Client) WaitReady(
	ctx context.Context, ref Ref, limit time.Duration, soFar string,
) (status string, err error) {
	timed, cancel := c.WithTimeout(ctx, limit) // for a response that never comes
	defer cancel()
	began := c.Now()
	for pause := time.Second; ; pause = min(pause*2, 5*time.Second) {
		// Pause before the first poll, too: the API reports the old state for a moment.
		left := limit - c.Now().Sub(began)
		if left <= 0 || errors.Is(timed.Err(), context.DeadlineExceeded) {
			state := "the API gives no status"
			if status != "" {
				state = "its status is " + status
			}
			f := c.Errorf(report.Timeout, "%s not ready after %v; %s", soFar, limit, state)
			f.Retryable = true
			f.Hint = waitAgain(ref)
			return status, f
		}
		var now *Entry
		err := c.Pause(ctx, min(pause, left))
		if err == nil && c.Now().Sub(began) > limit {
			continue // a request would get no time, and hide the status of the last one
		}
		if err == nil {
			now, err = c.state(timed, ref)
		}
		switch {
		case ctx.Err() != nil:
			return status, &report.Failure{
				Code:      report.Interrupted,
				Retryable: true,
				Message:   "interrupted; " + soFar + " it may not be ready",
				Hint:      waitAgain(ref),
			}
		case timed.Err() != nil, report.HasCode(err, report.NotFound), err == nil && now == nil:
			continue // a new secret may take a moment to appear
		case err != nil:
			return status, report.Reword(err, "%s it may not be ready: %v", soFar, err)
		}
		status = now.Status
		err = now.matches(ref)
		switch {
		case err != nil:
			return status, c.Errorf(report.Failed, "%s the API lists it with %v", soFar, err)
		case status == StatusReady:
			c.Note("%s is ready", ref.Name)
			return status, nil
		case status == StatusFailed:
			return status, c.Errorf(report.Failed, "%s %s", soFar, now.FailedText())
		}
	}
}

func waitAgain(ref Ref) string { return "to wait again: vbot cloud secrets wait " + ref.Name }

// state reads what the API says about a secret. It returns nil if the listing has none of that name.
func (c *Client) state(ctx context.Context, ref Ref) (*Entry, error) {
	if ref.Type != TypeSet {
		return c.Find(ctx, ref.Name)
	}
	set, err := c.get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &set.Entry, nil
}

// StoreImagePull stores an image pull secret. The API passes value to the registry unchanged. It
// returns the region, "" if the API did not say.
func (c *Client) StoreImagePull(
	ctx context.Context, ref Ref, host string, value secret.Value,
) (region string, err error) {
	body := map[string]any{"isImagePullSecret": true, "secretValue": value.Reveal(), "host": host}
	action := "storing image pull secret " + ref.Name
	return c.put(ctx, action, ref, body, secret.Pair{Value: value})
}

// put sends a body with secrets, and returns the region in which they are stored, "" if the API did not say.
// If ref has no region, the API chooses it. pairs are those in the body, whose values responses may not
// repeat.
func (c *Client) put(
	ctx context.Context, action string, ref Ref, body map[string]any, pairs ...secret.Pair,
) (region string, err error) {
	if ref.Region != "" {
		body["region"] = ref.Region
	}
	var got confirmation
	err = c.call(ctx, request{
		action: action,
		method: http.MethodPut,
		path:   c.organizationPath("secrets", ref.Name),
		body:   body,
		pairs:  pairs,
		ref:    ref,
	}, &got)
	if err != nil {
		return "", err // do not use a response that is not trusted
	}
	return got.Region, nil
}

// A confirmation is the response of the API after storing or deleting. Its status is the
// word OK, not the status of the secret.
type confirmation struct{ payload }

func (c *confirmation) check(ref Ref) error {
	if err := c.checkMessage(ref); err != nil {
		return err
	}
	if !strings.EqualFold(c.Status, "ok") {
		return errors.New("its status is " + cmp.Or(c.Status, "missing"))
	}
	return nil
}

// Reference registers a Kubernetes Secret of a self-hosted region as a set. The response
// is not in openapi.json.
func (c *Client) Reference(ctx context.Context, name, region string) (*Entry, error) {
	var got Entry
	err := c.call(ctx, request{
		action: "registering " + name + " in " + region,
		method: http.MethodPost,
		path:   c.organizationPath("secrets", "references"),
		body:   map[string]any{"name": name, "region": region},
		ref:    Ref{Name: name, Region: region},
	}, &got)
	return &got, err
}

// Remove deletes a secret, or one key of a set. path is the name of the secret and, if any, the key. After a
// try without a response, "not found" may mean that this try removed it, or that something else is missing,
// so Remove looks whether it is gone.
func (c *Client) Remove(ctx context.Context, action string, path ...string) error {
	r := request{
		action: action,
		method: http.MethodDelete,
		path:   c.organizationPath(append([]string{"secrets"}, path...)...),
		ref:    Ref{Name: path[0]},
	}
	err := c.call(ctx, r, &confirmation{})
	switch {
	case !report.HasCode(err, report.NotFound) || !report.As(err).MaybeApplied:
		return err
	case c.IsGone(ctx, path...):
		return nil
	case ctx.Err() != nil:
		return interrupted(action)
	}
	return err
}

// IsGone reports whether the secret or key is missing from the API's listing. path is a name
// and, for a key of a set, that key.
func (c *Client) IsGone(ctx context.Context, path ...string) bool {
	if len(path) > 1 {
		if set, err := c.Get(ctx, path[0]); err == nil {
			return !slices.Contains(set.Keys, path[1])
		}
	}
	e, err := c.Find(ctx, path[0])
	return err == nil && e == nil
}
