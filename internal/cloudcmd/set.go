package cloudcmd

import (
	"cmp"
	"context"
	"slices"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// Set is `vbot cloud secrets set`: it stores pairs in a secret set.
type Set struct {
	Name    string
	Region  string        // "" for the API's choice
	Pairs   Pairs         // each with a value, unless it is a dry run
	Prune   bool          // remove keys of the set that are neither in Pairs.List nor in Pairs.LeftOut
	DryRun  bool          // store nothing
	Wait    time.Duration // how long to wait until the set is ready; 0 for not at all
	Confirm Confirm       // nil to go ahead without asking
}

// Run returns a *SetResult. With an error, it says which keys are stored; it is nil if none is.
func (s *Set) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	out, err := s.plan(ctx, api)
	if err != nil {
		return nil, err
	}
	if s.DryRun {
		return out, nil
	}
	if s.Confirm != nil {
		if err := s.Confirm(ctx, out.planText(), out.question()); err != nil {
			return nil, err
		}
	}
	change := cloud.Change{
		Ref:   cloud.Ref{Name: s.Name, Type: cloud.TypeSet, Region: s.Region},
		Pairs: s.Pairs.List,
	}
	for _, k := range out.Keys {
		if k.Prune {
			change.Prune = append(change.Prune, k.Key)
		}
	}
	progress, err := api.StoreAll(ctx, change)
	out.Region = cmp.Or(report.OrNull(progress.Region), out.Region)
	if err != nil {
		return out.partial(progress, err)
	}
	out.record(progress, report.Failure{})
	if s.Wait > 0 {
		out.isPrinted = true
		out.Status, err = waitReady(ctx, api, change.Ref, s.Wait, out.storedText())
	}
	return out, err
}

// plan returns the result with each key planned. It fails if the API would refuse the change.
func (s *Set) plan(ctx context.Context, api *cloud.Client) (*SetResult, error) {
	set, isNew, err := s.existing(ctx, api)
	if err != nil {
		return nil, err
	}
	out := &SetResult{
		Name:    s.Name,
		Place:   placeIn(api, cmp.Or(s.Region, set.Region)),
		Created: isNew,
		Keys:    []KeyResult{},
		LeftOut: append([]string{}, s.Pairs.LeftOut...),
	}
	for _, p := range s.Pairs.List {
		isReplaced := slices.Contains(set.Keys, p.Key)
		out.Keys = append(out.Keys, KeyResult{Key: p.Key, Result: resultPlanned, Replaced: isReplaced})
	}
	if !s.Prune {
		return out, nil
	}
	for _, key := range set.Keys {
		switch {
		case s.Pairs.index(key) >= 0 || slices.Contains(s.Pairs.LeftOut, key):
		case !secret.IsKey(key):
			return nil, report.One(report.Rejected, "prune", "--prune",
				"key %s cannot be removed: %s; nothing was written", key, secret.KeyRule)
		default:
			out.Keys = append(out.Keys, KeyResult{Key: key, Result: resultPlanned, Prune: true})
		}
	}
	return out, nil
}

// existing reads the set before it is changed. If there is none, the set is empty and isNew is true. It fails
// if the pairs cannot be stored in the set, or in the region.
func (s *Set) existing(ctx context.Context, api *cloud.Client) (set *cloud.Set, isNew bool, err error) {
	if s.Prune { // the keys to remove must be known
		set, isNew, err = api.GetOrNew(ctx, s.Name)
	} else if set, err = api.Get(ctx, s.Name); report.HasCode(err, report.NotFound) {
		set, isNew, err = &cloud.Set{}, true, nil
	}
	switch {
	case isNew:
		if s.Confirm != nil { // a person may have mistyped the name; a script should not wait for this
			noteSimilarName(ctx, api, s.Name)
		}
		return set, true, checkRegionExists(ctx, api, s.Region)
	case report.HasCode(err, report.NotFound): // the API lists the set, so something else is missing
		return nil, false, about(s.Name, err)
	case err != nil:
		return nil, false, about(s.Name, explain(ctx, api, s.Name, err))
	case set.Source == cloud.SourceReferenced:
		return nil, false, referencedError(api, s.Name)
	}
	return set, false, checkRegion(api, s.Name, s.Region, set.Region)
}

// noteSimilarName notes that there is a secret with a name similar to that of a new set.
func noteSimilarName(ctx context.Context, api *cloud.Client, name string) {
	if near := nearest(ctx, api, name); near != "" {
		api.Warn("name", "", "%s is a new secret set; there is also %s", name, near)
	}
}
