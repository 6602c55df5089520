package cloud

import (
	"cmp"
	"context"
	"errors"
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

// organizations returns the sorted names of the organizations of the token. doing says in messages what the
// request is for.
func (c *Client) organizations(ctx context.Context, doing string) (names []string, err error) {
	var got organizationList
	err = c.call(ctx, request{
		doing:  doing,
		method: http.MethodGet,
		path:   []string{"organizations"},
	}, &got)
	for _, o := range got.Organizations {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names, err
}

// checkAddress ends the description of a response that is not of the API.
const checkAddress = "; check VBOT_API_URL if it is set"

type organizationList struct {
	payload
	Organizations []payload `json:"organizations"`
}

func (l *organizationList) incomplete() string {
	if l.Organizations == nil || l.Message != "" {
		return cmp.Or(l.complaint(), "not a list of organizations"+checkAddress)
	}
	for _, o := range l.Organizations {
		// The name becomes part of paths, and is shown.
		if !IsSegment(o.Name) {
			return "organization " + o.Name + " cannot be used; " +
				"name yours with --organization or VBOT_ORGANIZATION"
		}
	}
	return ""
}

// Regions returns the codes of the regions in which the organization can store secrets.
func (c *Client) Regions(ctx context.Context) (codes []string, err error) {
	var got regionList
	err = c.call(ctx, request{
		doing:  "listing regions",
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

func (l *regionList) incomplete() string { return l.complaint() }

// List returns all sets and image pull secrets, sorted by name. If region is not "", it returns
// only those of that region.
func (c *Client) List(ctx context.Context, region string) ([]Entry, error) {
	return c.list(ctx, "listing secrets", region)
}

// list is List for another purpose, which doing describes in messages.
func (c *Client) list(ctx context.Context, doing, region string) ([]Entry, error) {
	r := request{doing: doing, method: http.MethodGet, path: c.organizationPath("secrets")}
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

func (l *secretList) incomplete() string {
	isNameless := func(e Entry) bool { return e.Name == "" }
	if l.Message != "" || l.Sets == nil || slices.ContainsFunc(l.Sets, isNameless) {
		return cmp.Or(l.complaint(), "not a list of secrets"+checkAddress)
	}
	return ""
}

// Get returns one secret set. For an image pull secret the API responds with 400.
func (c *Client) Get(ctx context.Context, name string) (*Set, error) {
	return c.get(ctx, Ref{Name: name, Type: TypeSet})
}

func (c *Client) get(ctx context.Context, asked Ref) (*Set, error) {
	var got Set
	err := c.call(ctx, request{
		doing:  "reading secret set " + asked.Name,
		method: http.MethodGet,
		path:   c.organizationPath("secrets", asked.Name),
		asked:  asked,
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

func (s *Set) incomplete() string {
	if s.Secrets == nil || slices.ContainsFunc(s.Secrets, func(k setKey) bool { return k.Name == "" }) {
		return "not a list of keys" + checkAddress
	}
	return ""
}

// storePairs adds all pairs to the set in one request, or replaces their values. It returns the
// region of the set, "" if the API did not say.
func (c *Client) storePairs(ctx context.Context, set Ref, pairs []secret.Pair) (string, error) {
	var entries []map[string]string
	for _, p := range pairs {
		entries = append(entries, map[string]string{"secretKey": p.Key, "secretValue": p.Value.Reveal()})
	}
	doing := "storing " + report.Plural(len(pairs), "key") + " in " + set.Name
	return c.put(ctx, doing, set, map[string]any{"secrets": entries}, pairs...)
}

// storePair adds one pair, in the form that the Python client uses. openapi.json does
// not describe it. It protects no values, because storePairs ran before and did so.
func (c *Client) storePair(ctx context.Context, set Ref, p secret.Pair) (string, error) {
	return c.put(ctx, "storing "+p.Key+" in "+set.Name, set, map[string]any{
		"name":              set.Name,
		"isImagePullSecret": false,
		"secretKey":         p.Key,
		"secretValue":       p.Value.Reveal(),
	})
}

// A Change is what StoreAll does to a secret set.
type Change struct {
	Ref                 // its region is "" if the API chooses it
	Pairs []secret.Pair // to add
	Prune []string      // keys to remove after all pairs are stored, so that a failure loses nothing
}

// A Progress says how far a change came. First its pairs are stored in order, then keys are
// removed.
type Progress struct {
	Region string // of the set; "" if the API did not say
	Done   int    // of the pairs and keys
	Tried  int    // of the pairs and keys; those after Done failed, or may have been done
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

// storeEach stores one pair after the other, because the request with all pairs failed with refused.
func (c *Client) storeEach(ctx context.Context, ch Change, refused *report.Failure) (p Progress, err error) {
	for _, pair := range ch.Pairs {
		region, err := c.storePair(ctx, ch.Ref, pair)
		if err == nil {
			p.Done++
			p.Region = cmp.Or(region, p.Region)
			continue
		}
		p.Tried = p.Done + 1
		if refused.Unsure { // the request with all pairs may have stored any of them
			p.Tried = len(ch.Pairs)
			if ctx.Err() != nil {
				err = interrupted("storing " + pair.Key + " in " + ch.Name)
			}
		}
		f := *report.As(err)
		f.Unsure = f.Unsure || refused.Unsure
		// If not even one pair can be stored, the first failure may be the better explanation.
		if p.Done == 0 && ctx.Err() == nil && f.HTTPStatus != refused.HTTPStatus {
			f.Message = refused.Message + "; " + f.Message
		}
		return p, &f
	}
	p.Tried = len(ch.Pairs)
	return p, nil
}

// prune removes a key that the set has, unless somebody else has just removed it.
func (c *Client) prune(ctx context.Context, set, key string) error {
	err := c.Remove(ctx, "removing key "+key+" from "+set, set, key)
	if report.HasCode(err, report.NotFound) && c.IsGone(ctx, set, key) {
		return nil
	}
	return err
}

// WaitReady polls until the secret is ready, for at most limit. It returns the last status, "" if there was
// none. soFar begins the message of a failure: "app is stored, but".
func (c *Client) WaitReady(
	ctx context.Context, wanted Ref, limit time.Duration, soFar string,
) (status string, err error) {
	timed, cancel := c.WithTimeout(ctx, limit) // for a response that never comes
	defer cancel()
	began := c.Now()
	for pause := time.Second; ; pause = min(pause*2, 5*time.Second) {
		// Pause before the first poll, too: the API reports the old state for a moment.
		left := limit - c.Now().Sub(began)
		if left <= 0 || errors.Is(timed.Err(), context.DeadlineExceeded) {
			is := "the API gives no status"
			if status != "" {
				is = "its status is " + status
			}
			f := c.Errorf(report.Timeout, "%s not ready after %v; %s", soFar, limit, is)
			f.Retryable = true
			f.Hint = "to wait again: vbot cloud secrets wait " + wanted.Name
			return status, f
		}
		var now *Entry
		err := c.Pause(ctx, min(pause, left))
		if err == nil {
			now, err = c.state(timed, wanted)
		}
		switch {
		case ctx.Err() != nil:
			return status, &report.Failure{
				Code:      report.Interrupted,
				Retryable: true,
				Message:   "interrupted; " + soFar + " it may not be ready",
			}
		case timed.Err() != nil, report.HasCode(err, report.NotFound), err == nil && now == nil:
			continue // a new secret may take a moment to appear
		case err != nil:
			return status, report.Reword(err, "%s it may not be ready: %v", soFar, err)
		}
		status = now.Status
		other := now.contradicts(wanted)
		switch {
		case other != "":
			return status, c.Errorf(report.Failed, "%s the API lists it with %s", soFar, other)
		case status == StatusReady:
			c.Note("%s is ready", wanted.Name)
			return status, nil
		case status == StatusFailed:
			return status, c.Errorf(report.Failed, "%s %s", soFar, now.Failed())
		}
	}
}

// state reads what the API says about a secret. It returns nil if the listing has none of that name.
func (c *Client) state(ctx context.Context, wanted Ref) (*Entry, error) {
	if wanted.Type != TypeSet {
		return c.Find(ctx, wanted.Name)
	}
	set, err := c.get(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return &set.Entry, nil
}

// StoreImagePull stores an image pull secret. The API passes value to the registry unchanged. It
// returns the region, "" if the API did not say.
func (c *Client) StoreImagePull(
	ctx context.Context, asked Ref, host string, value secret.Value,
) (region string, err error) {
	body := map[string]any{"isImagePullSecret": true, "secretValue": value.Reveal(), "host": host}
	doing := "storing image pull secret " + asked.Name
	return c.put(ctx, doing, asked, body, secret.Pair{Value: value})
}

// put stores pairs, which are in the body. If asked has no region, the API chooses it. It returns the
// region, "" if the API did not say.
func (c *Client) put(
	ctx context.Context, doing string, asked Ref, body map[string]any, pairs ...secret.Pair,
) (region string, err error) {
	if asked.Region != "" {
		body["region"] = asked.Region
	}
	var got confirmation
	err = c.call(ctx, request{
		doing:  doing,
		method: http.MethodPut,
		path:   c.organizationPath("secrets", asked.Name),
		body:   body,
		pairs:  pairs,
		asked:  asked,
	}, &got)
	if err != nil {
		return "", err // do not use a response that is not trusted
	}
	return got.Region, nil
}

// A confirmation is the response of the API after storing or deleting. Its status is the
// word OK, not the status of the secret.
type confirmation struct{ payload }

func (c *confirmation) incomplete() string {
	if c.Message == "" && strings.EqualFold(c.Status, "ok") {
		return ""
	}
	return cmp.Or(c.complaint(), "its status is "+cmp.Or(c.Status, "missing"))
}

// Reference registers a Kubernetes Secret of a self-hosted region as a set. The response
// is not in openapi.json.
func (c *Client) Reference(ctx context.Context, name, region string) (*Entry, error) {
	var got Entry
	err := c.call(ctx, request{
		doing:  "registering " + name + " in " + region,
		method: http.MethodPost,
		path:   c.organizationPath("secrets", "references"),
		body:   map[string]any{"name": name, "region": region},
		asked:  Ref{Name: name, Region: region},
	}, &got)
	return &got, err
}

// Remove deletes a secret, or one key of a set. path is its name and, if any, the key.
// After a try without a response, the API may say "not found" because that try removed it, or because
// something else is missing. So Remove checks whether it is gone.
func (c *Client) Remove(ctx context.Context, doing string, path ...string) error {
	r := request{
		doing:  doing,
		method: http.MethodDelete,
		path:   c.organizationPath(append([]string{"secrets"}, path...)...),
		asked:  Ref{Name: path[0]},
	}
	err := c.call(ctx, r, &confirmation{})
	switch {
	case !report.HasCode(err, report.NotFound) || !report.As(err).Unsure:
		return err
	case c.IsGone(ctx, path...):
		return nil
	case ctx.Err() != nil:
		return interrupted(doing)
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
