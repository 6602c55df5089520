package secrets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	Wait    time.Duration // until the set is ready; 0 for not at all
	Confirm Confirm       // nil to go ahead without asking
}

// A SetResult is the JSON of set. It begins as the plan of what to do, with each key planned, and ends with
// what became of each key.
type SetResult struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Created bool          `json:"created"`
	Status  report.OrNull `json:"status"`
	Keys    []KeyResult   `json:"keys"` // first the keys to store, then those to remove

	location string // of the set, for messages
	dryRun   bool
	failed   bool // some keys may not be done
	waited   bool // what was stored is already printed
}

// A KeyResult is the result for one key.
type KeyResult struct {
	Key      string `json:"key"`
	Result   string `json:"result" enum:"planned,stored,removed,failed,unconfirmed,not_tried"`
	Replaced bool   `json:"replaced"`
	Prune    bool   `json:"prune"` // remove it
}

// Values of KeyResult.Result.
const (
	keyPlanned     = "planned"
	keyStored      = "stored"
	keyRemoved     = "removed"
	keyFailed      = "failed"
	keyUnconfirmed = "unconfirmed" // the request was sent, but no response came
	keyNotTried    = "not_tried"   // an earlier request failed
)

// success returns the result of the key if the request succeeds.
func (k KeyResult) success() string {
	if k.Prune {
		return keyRemoved
	}
	return keyStored
}

// effect says what the plan does to the key. replaces describes that it replaces a value.
func (k KeyResult) effect(replaces string) string {
	switch {
	case k.Prune:
		return "removed"
	case k.Replaced:
		return replaces
	}
	return "new"
}

// Run stores the pairs. Even with an error, the result says what was stored; it is nil if nothing was.
func (s Set) Run(ctx context.Context, api *cloud.Client) (*SetResult, error) {
	out, err := s.plan(ctx, api)
	if err != nil {
		return nil, err
	}
	if s.DryRun {
		out.dryRun = true
		return out, nil
	}
	if s.Confirm != nil {
		summary := strings.TrimSuffix(report.Columns(out.summary()), "\n")
		if err := s.Confirm(ctx, summary, out.question()); err != nil {
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
	out.location = location(api, string(out.Region))
	if err != nil {
		return out.partial(err, progress)
	}
	out.markDone(len(out.Keys))
	if s.Wait > 0 {
		out.waited = true
		out.Status, err = waitReady(ctx, api, change.Ref, s.Wait, out.stored())
	}
	return out, err
}

// plan reads the existing set, and returns what is to be done. It refuses what the API would refuse. To
// prune, it finds the keys that were not given.
func (s Set) plan(ctx context.Context, api *cloud.Client) (*SetResult, error) {
	set, err := api.Get(ctx, s.Name)
	isNew := report.HasCode(err, report.NotFound)
	switch {
	case isNew && s.Prune && !api.IsGone(ctx, s.Name):
		return nil, err // something else is missing, so the keys to remove are unknown
	case isNew:
		if s.Confirm != nil { // a person may have mistyped the name; a script should not wait for this
			noteNearName(ctx, api, s.Name)
		}
		set, err = &cloud.Set{}, refuseUnknownRegion(ctx, api, s.Region)
	case err != nil:
		err = explain(ctx, api, s.Name, err, report.Rejected)
	case set.Source == cloud.SourceReferenced:
		err = referencedError(s.Name)
	default:
		err = refuseOtherRegion(s.Name, s.Region, set.Region)
	}
	if err != nil {
		return nil, err
	}
	region := cmp.Or(s.Region, set.Region)
	out := &SetResult{
		Name:     s.Name,
		Region:   report.OrNull(region),
		Created:  isNew,
		Keys:     []KeyResult{},
		location: location(api, region),
	}
	for _, p := range s.Pairs.List {
		isReplaced := slices.Contains(set.Keys, p.Key)
		out.Keys = append(out.Keys, KeyResult{Key: p.Key, Result: keyPlanned, Replaced: isReplaced})
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
			out.Keys = append(out.Keys, KeyResult{Key: key, Result: keyPlanned, Prune: true})
		}
	}
	return out, nil
}

// noteNearName notes that there is a secret with a name similar to that of a new set.
func noteNearName(ctx context.Context, api *cloud.Client, name string) {
	if near := nearest(ctx, api, name); near != "" {
		api.Note("%s is a new secret set; there is also %s", name, near)
	}
}

// counts returns how many keys are to be stored, and how many removed.
func (s *SetResult) counts() (stored, removed int) {
	for _, k := range s.Keys {
		if k.Prune {
			removed++
		} else {
			stored++
		}
	}
	return stored, removed
}

// question asks whether to carry out the plan.
func (s *SetResult) question() string {
	stored, removed := s.counts()
	question := "Store " + report.Plural(stored, "key")
	if removed > 0 {
		question += " and remove " + report.Plural(removed, "key")
	}
	return question + "?"
}

// markDone records that the first n keys are stored or removed.
func (s *SetResult) markDone(n int) {
	for i := range s.Keys[:n] {
		s.Keys[i].Result = s.Keys[i].success()
	}
}

// partial returns the result of a run that err ended, and the failure that lists the keys that are not
// done. The result is nil if nothing was done.
func (s *SetResult) partial(err error, p cloud.Progress) (*SetResult, error) {
	f := *report.As(err)
	isInterrupted := f.Code == report.Interrupted
	failed := keyFailed
	switch {
	case f.Unsure:
		failed = keyUnconfirmed
	case p.Done == 0:
		return nil, err
	case isInterrupted:
		p.Tried = p.Done // nothing more was sent
	}
	s.failed = true
	s.Created = s.Created && p.Done > 0
	s.markDone(p.Done)
	var problems report.Problems
	for i := p.Done; i < len(s.Keys); i++ {
		k := &s.Keys[i]
		k.Result = failed
		if i >= p.Tried {
			k.Result = keyNotTried
		}
		message := strings.ReplaceAll(k.Result, "_", " ")
		if k.Result == keyUnconfirmed {
			message += ": it may be " + k.success()
		}
		problems.Add(k.Key, k.Key, "%s", message)
	}
	if p.Done == 0 {
		return s, &f
	}
	if isInterrupted {
		f.Message = "interrupted; " + s.howFar(p.Done)
	} else {
		f.Code = report.Partial
		f.Message = fmt.Sprintf("%s: %v", s.howFar(p.Done), err)
	}
	if f.Retryable {
		f.Hint = "run the same command again to finish"
	}
	f.Problems = problems
	return s, &f
}

// howFar says how many keys are stored and removed, of which done keys are.
func (s *SetResult) howFar(done int) string {
	stored, removed := s.counts()
	if done < stored {
		return fmt.Sprintf("stored %d of %d keys in %s", done, stored, s.Name)
	}
	all := report.Plural(stored, "key")
	return fmt.Sprintf("stored %s in %s and removed %d of %d", all, s.Name, done-stored, removed)
}

// summary describes what would be stored, without values, in columns.
func (s *SetResult) summary() string {
	var b strings.Builder
	kind := "secret set "
	if s.Created {
		kind = "new secret set "
	}
	fmt.Fprintf(&b, "%s%s of %s:\n", kind, s.Name, s.location)
	for _, k := range s.Keys {
		fmt.Fprintf(&b, "  %s\t%s\n", k.Key, k.effect("replaces the current value"))
	}
	return b.String()
}

// stored says what was stored.
func (s *SetResult) stored() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stored in secret set %s of %s:", s.Name, s.location)
	for _, k := range s.Keys {
		fmt.Fprintf(&b, "\n  %s  %s", k.Key, k.effect("replaced"))
	}
	if note := s.redeploy(); note != "" {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// redeploy returns the line that says when agents notice that values they may already have were replaced
// or removed; "" if none was.
func (s *SetResult) redeploy() string {
	isOld := func(k KeyResult) bool { return k.Result == k.success() && (k.Replaced || k.Prune) }
	if !slices.ContainsFunc(s.Keys, isOld) {
		return ""
	}
	return agentsKeepValues(s.Name)
}

// Text says what would be, or was, stored. For a failed run, it lists the keys that are done; the failure
// lists the others.
func (s *SetResult) Text(out *report.Printer) {
	switch {
	case s.dryRun:
		out.PrintColumns(s.summary())
	case s.failed:
		for _, k := range s.Keys {
			if k.Result == k.success() {
				out.Note("  %s  %s", k.Key, k.Result)
			}
		}
		if note := s.redeploy(); note != "" {
			out.Note("%s", note)
		}
	case !s.waited: // otherwise it was printed before the wait
		out.Note("%s", s.stored())
	}
}
