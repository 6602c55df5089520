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
)

// A SetRequest asks to store pairs in a secret set.
type SetRequest struct {
	Name    string
	Region  string        // "" is the API's choice
	Pairs   []cloud.Pair  // each with a value, unless it is a dry run
	LeftOut []string      // keys that were given without a value: they are neither stored nor removed
	Prune   bool          // remove keys of the set that are neither in Pairs nor in LeftOut
	DryRun  bool          // store nothing
	Wait    time.Duration // until the set is ready; 0 is not at all
	Confirm Confirm       // nil to go ahead without asking
}

// A SetResult is the JSON of set.
type SetResult struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Created bool          `json:"created"`
	Status  report.OrNull `json:"status"`
	Keys    []KeyResult   `json:"keys"`

	location string
	dryRun   bool
	failed   bool
	waited   bool
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
	keyNotTried    = "not_tried"
)

// done returns the result for a key if the request succeeded.
func (k KeyResult) done() string {
	if k.Prune {
		return keyRemoved
	}
	return keyStored
}

// words describes for people what happens to the key. replaced is the word for a replaced value.
func (k KeyResult) words(replaced string) string {
	if k.Prune {
		return "removed"
	}
	return newOr(replaced, k.Replaced)
}

// Set stores the pairs. Even with an error, the result says what was stored; it is nil if nothing was.
func Set(ctx context.Context, api *cloud.Client, r SetRequest) (*SetResult, error) {
	c, err := newChange(ctx, api, r)
	if err != nil {
		return nil, err
	}
	if r.DryRun {
		out := c.result(c.region, keyPlanned)
		out.dryRun = true
		return out, nil
	}
	if r.Confirm != nil {
		summary := report.Columns(c.result(c.region, keyPlanned).summary())
		if err := r.Confirm(ctx, strings.TrimSuffix(summary, "\n"), c.question()); err != nil {
			return nil, err
		}
	}
	progress, err := api.StoreAll(ctx, c.Change)
	region := cmp.Or(progress.Region, c.region)
	if err != nil {
		return c.partial(region, err, progress)
	}
	out := c.result(region, "")
	if r.Wait > 0 {
		out.waited = true
		out.Status, err = await(ctx, api, c.Ref, r.Wait, out.stored())
	}
	return out, err
}

// A change is what a request does to a secret set.
type change struct {
	cloud.Change
	location func(region string) string
	region   string   // of the set, "" if the API chooses it
	created  bool     // the set is new
	existing []string // the keys of the set before
}

// newChange reads the existing set, and refuses what the API would refuse. To prune, it finds the keys
// that were not given.
func newChange(ctx context.Context, api *cloud.Client, r SetRequest) (*change, error) {
	set, err := api.Get(ctx, r.Name)
	isNew := report.HasCode(err, report.NotFound)
	switch {
	case isNew && r.Prune && !api.IsGone(ctx, r.Name):
		return nil, err // something else is missing, so the keys to remove are unknown
	case isNew:
		if r.Confirm != nil { // a person may have mistyped the name; a script should not wait for this
			noteNearName(ctx, api, r.Name)
		}
		set, err = &cloud.Set{}, unknownRegion(ctx, api, r.Region)
	case err != nil:
		err = explain(ctx, api, r.Name, err, report.Rejected)
	case set.Source == cloud.SourceReferenced:
		err = referencedError(r.Name)
	default:
		err = sameRegion(r.Name, r.Region, set.Region)
	}
	if err != nil {
		return nil, err
	}
	c := &change{
		location: func(region string) string { return location(api, region) },
		region:   cmp.Or(r.Region, set.Region),
		created:  isNew,
		existing: set.Keys,
	}
	c.Ref = cloud.Ref{Name: r.Name, Type: cloud.TypeSet, Region: r.Region}
	c.Pairs = r.Pairs
	if !r.Prune {
		return c, nil
	}
	for _, key := range set.Keys {
		isPaired := slices.ContainsFunc(r.Pairs, func(p cloud.Pair) bool { return p.Key == key })
		switch {
		case isPaired || slices.Contains(r.LeftOut, key):
		case !cloud.IsKey(key):
			return nil, report.One(report.Rejected, "prune", "--prune",
				"key %s cannot be removed: %s; nothing was written", key, cloud.KeyRule)
		default:
			c.Prune = append(c.Prune, key)
		}
	}
	return c, nil
}

// noteNearName notes that there is a secret with a name similar to that of a new set.
func noteNearName(ctx context.Context, api *cloud.Client, name string) {
	if near := nearest(ctx, api, name); near != "" {
		api.Note(name + " is a new secret set; there is also " + near)
	}
}

// question asks whether to carry out the change.
func (c *change) question() string {
	question := "Store " + report.Plural(len(c.Pairs), "key")
	if len(c.Prune) > 0 {
		question += " and remove " + report.Plural(len(c.Prune), "key")
	}
	return question + "?"
}

// result returns the result of the change with each key in this state; "" means that it succeeded. region
// is the set's.
func (c *change) result(region, state string) *SetResult {
	out := &SetResult{
		Name:     c.Name,
		Region:   report.OrNull(region),
		Created:  c.created,
		Keys:     []KeyResult{},
		location: c.location(region),
	}
	add := func(k KeyResult) {
		k.Result = cmp.Or(state, k.done())
		out.Keys = append(out.Keys, k)
	}
	for _, p := range c.Pairs {
		add(KeyResult{Key: p.Key, Replaced: slices.Contains(c.existing, p.Key)})
	}
	for _, key := range c.Prune {
		add(KeyResult{Key: key, Prune: true})
	}
	return out
}

// partial returns the result for each key of a run that err ended, and the failure that lists them.
func (c *change) partial(region string, err error, p cloud.Progress) (*SetResult, error) {
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
	out := c.result(region, "")
	out.failed = true
	out.Created = out.Created && p.Done > 0
	var problems report.Problems
	for i := range out.Keys[p.Done:] {
		k := &out.Keys[p.Done+i]
		done := k.Result
		k.Result = failed
		if p.Done+i >= p.Tried {
			k.Result = keyNotTried
		}
		message := strings.ReplaceAll(k.Result, "_", " ")
		if k.Result == keyUnconfirmed {
			message += ": it may be " + done
		}
		problems.Add(k.Key, k.Key, "%s", message)
	}
	if p.Done == 0 {
		return out, &f
	}
	what := c.count(p.Done)
	if isInterrupted {
		f.Message = "interrupted; " + what
	} else {
		f.Code = report.Partial
		f.Message = fmt.Sprintf("%s: %v", what, err)
	}
	if f.Retryable {
		f.Hint = "run the same command again to finish"
	}
	f.Problems = problems
	return out, &f
}

// count describes how far the change came: done is the number of keys that are stored or removed.
func (c *change) count(done int) string {
	removed := done - len(c.Pairs)
	if removed < 0 {
		return fmt.Sprintf("stored %d of %d keys in %s", done, len(c.Pairs), c.Name)
	}
	all := report.Plural(len(c.Pairs), "key")
	return fmt.Sprintf("stored %s in %s and removed %d of %d", all, c.Name, removed, len(c.Prune))
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
		fmt.Fprintf(&b, "  %s\t%s\n", k.Key, k.words("replaces the current value"))
	}
	return b.String()
}

// stored says what was stored.
func (s *SetResult) stored() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stored in secret set %s of %s:", s.Name, s.location)
	for _, k := range s.Keys {
		fmt.Fprintf(&b, "\n  %s  %s", k.Key, k.words("replaced"))
	}
	if note := s.redeploy(); note != "" {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// redeploy returns the line that says when agents notice that values they may already have were replaced
// or removed; "" if none was.
func (s *SetResult) redeploy() string {
	isOld := func(k KeyResult) bool { return k.Result == k.done() && (k.Replaced || k.Prune) }
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
			if k.Result == k.done() {
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
