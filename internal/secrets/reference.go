package secrets

import (
	"cmp"
	"context"
	"fmt"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// Register is `vbot cloud secrets reference`: it registers a Kubernetes Secret of a self-hosted region. The
// Secret's values stay in the cluster.
type Register struct {
	Name   string
	Region string
	DryRun bool // register nothing
}

// A Reference is the JSON of reference.
type Reference struct {
	Name string `json:"name" about:"name of the Secret and of the set"`
	Place
	Kind   report.OrNull `json:"kind" about:"secret_set or image_pull_secret; null with --dry-run"`
	Status report.OrNull `json:"status" about:"what the API says of it; null with --dry-run"`
	Result string        `json:"result" enum:"planned,registered" about:"planned with --dry-run"`

	message string
}

// Text says what was registered, or would be.
func (r *Reference) Text(out *report.Printer) { printDone(out, r.Result == planned, r.message) }

// Run registers the Secret.
func (r Register) Run(ctx context.Context, api *cloud.Client) (*Reference, error) {
	if r.DryRun {
		return r.plan(ctx, api)
	}
	e, err := api.Reference(ctx, r.Name, r.Region)
	if err != nil {
		return nil, err
	}
	region := cmp.Or(e.Region, r.Region)
	return &Reference{
		Name:   r.Name,
		Place:  placeIn(api, region),
		Kind:   report.OrNull(e.Kind()),
		Status: report.OrNull(e.Status),
		Result: "registered",
		message: fmt.Sprintf("registered %s %s of %s; the Secret stays in your cluster",
			kindWords(e.Kind()), r.Name, location(api, region)),
	}, nil
}

// plan returns what would be registered. Only the cluster knows whether the Secret exists.
func (r Register) plan(ctx context.Context, api *cloud.Client) (*Reference, error) {
	existing, err := api.Find(ctx, r.Name)
	switch {
	case err != nil:
		return nil, err
	case existing != nil && existing.Source != cloud.SourceReferenced:
		return nil, nameTaken(api, *existing)
	}
	if err := refuseUnknownRegion(ctx, api, r.Region); err != nil {
		return nil, err
	}
	return &Reference{
		Name:    r.Name,
		Place:   placeIn(api, r.Region),
		Result:  planned,
		message: fmt.Sprintf("would register %s of %s", r.Name, location(api, r.Region)),
	}, nil
}
