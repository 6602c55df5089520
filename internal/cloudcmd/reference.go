package cloudcmd

import (
	"cmp"
	"context"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// Reference is `vbot cloud secrets reference`: it registers a Kubernetes Secret of a self-hosted region. The
// Secret's values stay in the cluster.
type Reference struct {
	Name   string
	Region string
	DryRun bool // register nothing
}

// A ReferenceResult is the JSON of reference.
type ReferenceResult struct {
	Name string `json:"name" about:"name of the Secret and of the set"`
	Place
	Kind   report.OrNull `json:"kind" about:"secret_set or image_pull_secret; null with --dry-run"`
	Status report.OrNull `json:"status" about:"what the API says of it; null with --dry-run"`
	Result string        `json:"result" enum:"planned,registered" about:"planned with --dry-run"`
}

// Run returns a *ReferenceResult. Only the cluster knows whether the Secret exists, so a dry run cannot say.
func (r *Reference) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	existing, err := api.Find(ctx, r.Name)
	switch {
	case err != nil:
		return nil, err
	case existing != nil && existing.Source != cloud.SourceReferenced:
		return nil, nameTaken(api, *existing)
	}
	if err := checkRegionExists(ctx, api, r.Region); err != nil {
		return nil, err
	}
	if r.DryRun {
		return &ReferenceResult{Name: r.Name, Place: placeIn(api, r.Region), Result: resultPlanned}, nil
	}
	e, err := api.Reference(ctx, r.Name, r.Region)
	if err != nil {
		return nil, err
	}
	return &ReferenceResult{
		Name:   r.Name,
		Place:  placeIn(api, cmp.Or(e.Region, r.Region)),
		Kind:   report.OrNull(e.Kind()),
		Status: report.OrNull(e.Status),
		Result: resultRegistered,
	}, nil
}

// Text prints the plan of a dry run, or says what was registered.
func (r *ReferenceResult) Text(out *report.Printer) {
	if r.Result == resultPlanned {
		out.Print(report.Printable("would register "+r.Name+" of "+r.label()) + "\n")
		return
	}
	out.Note("registered %s %s of %s; the Secret stays in your cluster",
		kindLabel(string(r.Kind)), r.Name, r.label())
}
