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
}

// A Reference is the JSON of reference.
type Reference struct {
	Name   string        `json:"name"`
	Region string        `json:"region"`
	Kind   report.OrNull `json:"kind"`
	Status report.OrNull `json:"status"`

	message string
}

// Text says what was registered.
func (r *Reference) Text(out *report.Printer) { out.Note("%s", r.message) }

// Run registers the Secret.
func (r Register) Run(ctx context.Context, api *cloud.Client) (*Reference, error) {
	e, err := api.Reference(ctx, r.Name, r.Region)
	if err != nil {
		return nil, err
	}
	region := cmp.Or(e.Region, r.Region)
	return &Reference{
		Name:   r.Name,
		Region: region,
		Kind:   report.OrNull(e.Kind()),
		Status: report.OrNull(e.Status),
		message: fmt.Sprintf("registered %s %s of %s; the Secret stays in your cluster",
			kindWords(e.Kind()), r.Name, location(api, region)),
	}, nil
}
