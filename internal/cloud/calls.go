package cloud

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// below returns the path below the organization, if there is one.
func (c *Client) below(segments ...string) []string {
	if c.Organization == "" {
		return segments
	}
	return append([]string{"organizations", c.Organization}, segments...)
}

// Organizations returns the sorted names of the organizations of the token.
func (c *Client) Organizations(ctx context.Context) (names []string, err error) {
	var got organizationList
	err = c.do(ctx, request{doing: "listing your organizations", method: http.MethodGet, path: []string{"organizations"}}, &got)
	if err != nil {
		return nil, err
	}
	for _, o := range *got.Organizations {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names, nil
}

type organizationList struct {
	Organizations *[]organization `json:"organizations"`
}

type organization struct {
	Name string `json:"name"`
}

func (l *organizationList) complete() bool {
	return l.Organizations != nil && !slices.ContainsFunc(*l.Organizations, func(o organization) bool { return !IsSegment(o.Name) })
}

// List returns all sets and image pull secrets, sorted by name; of one region, unless
// region is "".
func (c *Client) List(ctx context.Context, region string) ([]Entry, error) {
	r := request{doing: "listing secrets", method: http.MethodGet, path: c.below("secrets")}
	if region != "" {
		r.query = url.Values{"region": {region}}
	}
	var got secretList
	if err := c.do(ctx, r, &got); err != nil {
		return nil, err
	}
	rows := *got.Sets
	// Not every version of the API supports the filter.
	rows = slices.DeleteFunc(rows, func(r Entry) bool { return region != "" && r.Region != region })
	slices.SortStableFunc(rows, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return rows, nil
}

// Find returns the entry with the name, or nil.
func (c *Client) Find(ctx context.Context, name string) (*Entry, error) {
	c.Keep(name)
	rows, err := c.List(ctx, "")
	if i := slices.IndexFunc(rows, func(r Entry) bool { return r.Name == name }); i >= 0 {
		return &rows[i], err
	}
	return nil, err
}

// An Entry is a secret set or image pull secret in a listing.
type Entry struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Region  string `json:"region"`
	Status  string `json:"status"`
	Source  string `json:"source"`
	Message string `json:"errorMessage"`
}

// Kind returns vbot's name for the entry's type. Unknown types are returned unchanged.
func (r Entry) Kind() string {
	switch r.Type {
	case TypeSet:
		return KindSet
	case TypeImagePull:
		return KindImagePull
	}
	return r.Type
}

// The API's types, and vbot's names for them.
const (
	TypeSet       = "secret"
	TypeImagePull = "imagePullSecret"
	KindSet       = "secret_set"
	KindImagePull = "image_pull_secret"
)

// SourceReferenced marks a set that stands for a Kubernetes Secret in a cluster of
// the organization. The API knows neither its keys nor its values.
const SourceReferenced = "referenced"

type secretList struct {
	Sets *[]Entry `json:"sets"`
}

func (l *secretList) complete() bool {
	return l.Sets != nil && !slices.ContainsFunc(*l.Sets, func(r Entry) bool { return r.Name == "" })
}

// Get returns one secret set. For an image pull secret the API answers 400.
func (c *Client) Get(ctx context.Context, name string) (*Set, error) {
	var got Set
	err := c.do(ctx, request{doing: "reading secret set " + name, method: http.MethodGet, path: c.below("secrets", name)}, &got)
	if err != nil {
		return nil, err
	}
	for _, k := range *got.Secrets {
		got.Keys = append(got.Keys, k.Name)
	}
	slices.Sort(got.Keys)
	return &got, nil
}

// A Set is a secret set with its keys, without values.
type Set struct {
	Entry
	Secrets *[]setKey `json:"secrets"`
	Keys    []string  `json:"-"` // sorted
}

type setKey struct {
	Name string `json:"fieldName"`
}

func (s *Set) complete() bool {
	return s.Secrets != nil && !slices.ContainsFunc(*s.Secrets, func(k setKey) bool { return k.Name == "" })
}

// StorePairs adds all pairs to the set in one request. It returns the region of the
// set.
func (c *Client) StorePairs(ctx context.Context, name, region string, pairs []Pair) (string, error) {
	type entry struct {
		Key   string `json:"secretKey"`
		Value string `json:"secretValue"`
	}
	body := struct {
		Secrets []entry `json:"secrets"`
		Region  string  `json:"region,omitempty"`
	}{Region: c.asSaid(region)}
	for _, p := range pairs {
		body.Secrets = append(body.Secrets, entry{p.Key, p.Value.Reveal()})
	}
	doing := fmt.Sprintf("storing %d keys in %s", len(pairs), name)
	if len(pairs) == 1 {
		doing = "storing 1 key in " + name
	}
	return c.put(ctx, doing, name, body)
}

// StorePair adds one pair, in the form that the Python client uses. openapi.json does
// not describe it.
func (c *Client) StorePair(ctx context.Context, name, region string, p Pair) (string, error) {
	return c.put(ctx, "storing "+p.Key+" in "+name, name, struct {
		Name        string `json:"name"`
		IsImagePull bool   `json:"isImagePullSecret"`
		Key         string `json:"secretKey"`
		Value       string `json:"secretValue"`
		Region      string `json:"region,omitempty"`
	}{name, false, p.Key, p.Value.Reveal(), c.asSaid(region)})
}

// StoreImagePull stores an image pull secret and returns its region.
func (c *Client) StoreImagePull(ctx context.Context, name, region, host string, value Secret) (string, error) {
	return c.put(ctx, "storing image pull secret "+name, name, struct {
		IsImagePull bool   `json:"isImagePullSecret"`
		Value       string `json:"secretValue"`
		Host        string `json:"host"`
		Region      string `json:"region,omitempty"`
	}{true, value.Reveal(), host, c.asSaid(region)})
}

func (c *Client) put(ctx context.Context, doing, name string, body any) (region string, err error) {
	var got confirmation
	err = c.do(ctx, request{doing: doing, method: http.MethodPut, path: c.below("secrets", name), body: body}, &got)
	return got.Region, err
}

// A confirmation is the answer of the API after storing or deleting.
type confirmation struct {
	Status string `json:"status"` // the word OK; not the status of the secret
	Region string `json:"region"`
}

func (c *confirmation) complete() bool { return strings.EqualFold(c.Status, "ok") }

// Reference registers a Kubernetes Secret of a self-hosted region as a set. The answer
// is not in openapi.json.
func (c *Client) Reference(ctx context.Context, name, region string) (*Entry, error) {
	var got reference
	err := c.do(ctx, request{doing: "registering " + name + " in " + region, method: http.MethodPost, path: c.below("secrets", "references"),
		body: struct {
			Name   string `json:"name"`
			Region string `json:"region"`
		}{name, region}}, &got)
	return (*Entry)(&got), err
}

type reference Entry

func (r *reference) complete() bool { return r.Name != "" }

// Remove deletes a secret, or one key of a set. path is its name and, if any, the
// key. The caller has seen that it exists, so "not found" after a lost answer means
// that it was removed.
func (c *Client) Remove(ctx context.Context, doing string, path ...string) error {
	err := c.do(ctx, request{doing: doing, method: http.MethodDelete, path: c.below(append([]string{"secrets"}, path...)...)}, &confirmation{})
	if e := AsError(err); IsNotFound(err) && e.Unsure {
		return nil
	}
	return err
}
