package cloudcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// Remove is `vbot cloud secrets unset` and `delete`: it removes keys of a secret set, or secrets. All of them
// are looked up before the first one is removed.
type Remove struct {
	Names    []string // of the secrets; of unset, the name of the set
	Keys     []string // nil for whole secrets
	IfExists bool     // succeed if there is nothing to remove
	DryRun   bool     // remove nothing
	// Again is the command line that finishes a run which ended early: the same one, with IfExists.
	Again   string
	Confirm Confirm // nil to go ahead without asking
}

// A RemoveResult is the JSON of unset and delete.
type RemoveResult struct {
	Name report.OrNull `json:"name" about:"name of the secret; null if several were given"`
	Key  report.OrNull `json:"key" about:"the key; null for a secret, and if several were given"`
	Place
	Deleted bool          `json:"deleted" about:"something was removed"`
	Removed []RemovedItem `json:"removed" about:"each secret or key that was given"`
}

// A RemovedItem is what became of one secret, or of one key.
type RemovedItem struct {
	Name   string        `json:"name" about:"name of the secret"`
	Key    report.OrNull `json:"key" about:"the key; null for the whole secret"`
	Region report.OrNull `json:"region" about:"its region; null if the API did not say"`
	Result removeResult  `json:"result" about:"absent: there was none; unconfirmed: no response came"`

	description string // for messages: "key A of secret set app of organization acme"
	absence     string // why there is nothing to remove
}

// A removeResult says what became of a secret or a key.
type removeResult string

// Enum returns the values, for the JSON Schema.
func (removeResult) Enum() []string {
	return []string{
		resultPlanned, resultRemoved, resultAbsent, resultFailed, resultUnconfirmed, resultNotTried,
	}
}

// path returns the arguments of cloud.Client.Remove: the name and, for a key, the key.
func (item *RemovedItem) path() []string {
	if item.Key == "" {
		return []string{item.Name}
	}
	return []string{item.Name, string(item.Key)}
}

// label returns what is removed: the key or, for a secret, its name.
func (item *RemovedItem) label() string { return cmp.Or(string(item.Key), item.Name) }

// areKeys reports whether keys of a set are removed, and not secrets.
func (r *RemoveResult) areKeys() bool { return r.Removed[0].Key != "" }

// verbs returns what is done to keys or to secrets, and its past tense.
func (r *RemoveResult) verbs() (verb, past string) {
	if r.areKeys() {
		return "remove", "removed"
	}
	return "delete", "deleted"
}

// Run returns a *RemoveResult. It fails with code report.NotFound if something does not exist, unless
// IfExists. If it fails after something was removed, it returns the result with the error.
func (r *Remove) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	out, err := r.plan(ctx, api)
	if err != nil {
		return nil, err
	}
	if r.DryRun {
		return out, nil
	}
	if r.Confirm != nil && out.count(resultPlanned) > 0 {
		if err := r.Confirm(ctx, out.summary(), out.question()); err != nil {
			return nil, err
		}
	}
	for i := range out.Removed {
		item := &out.Removed[i]
		if item.Result == resultAbsent {
			continue
		}
		attempt := "deleting " + item.Name
		if item.Key != "" {
			attempt = "removing key " + item.label() + " of " + item.Name
		}
		err := api.Remove(ctx, attempt, item.path()...)
		switch {
		case err == nil:
			item.Result, out.Deleted = resultRemoved, true
		case r.isAbsent(ctx, api, item, err): // somebody else has just removed it
			item.Result, item.absence = resultAbsent, err.Error()
		default:
			return r.partial(out, i, err)
		}
	}
	return out, nil
}

// isAbsent reports whether err means that there is no such item, and IfExists accepts that.
func (r *Remove) isAbsent(ctx context.Context, api *cloud.Client, item *RemovedItem, err error) bool {
	return r.IfExists && report.HasCode(err, report.NotFound) && api.IsGone(ctx, item.path()...)
}

// plan looks everything up, and returns the result with each item planned or absent.
func (r *Remove) plan(ctx context.Context, api *cloud.Client) (*RemoveResult, error) {
	out := &RemoveResult{Place: placeIn(api, ""), Removed: r.items()}
	if r.Keys != nil || len(out.Removed) == 1 {
		out.Name = report.OrNull(r.Names[0])
	}
	if len(out.Removed) == 1 {
		out.Key = out.Removed[0].Key
	}
	var set *cloud.Set // of the keys; nil until it was read
	var errs []error
	for i := range out.Removed {
		item := &out.Removed[i]
		var err error
		if set, err = item.find(ctx, api, set); err == nil {
			continue
		}
		if r.isAbsent(ctx, api, item, err) {
			item.Result, item.absence = resultAbsent, err.Error()
			continue
		}
		isSetMissing := r.Keys != nil && set == nil
		if r.Keys != nil && !isSetMissing {
			errs = append(errs, about(item.label(), err))
		} else {
			errs = append(errs, suggest(ctx, api, item.Name, err))
		}
		if isSetMissing || !report.HasCode(err, report.NotFound) {
			break // the others would fail for the same reason
		}
	}
	if len(errs) > 0 {
		return nil, joinFailures(errs)
	}
	if r.Keys != nil || len(out.Removed) == 1 {
		out.Region = out.Removed[0].Region
	}
	return out, nil
}

// items returns the items as they were given, without repetitions.
func (r *Remove) items() (items []RemovedItem) {
	add := func(name, key string) {
		item := RemovedItem{Name: name, Key: report.OrNull(key), Result: resultPlanned}
		if !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	for _, name := range r.Names {
		if r.Keys == nil {
			add(name, "")
		}
		for _, key := range r.Keys {
			add(name, key)
		}
	}
	return items
}

// joinFailures returns the failure for the names or keys that cannot be removed, with a problem for each. The
// last error counts: it ended the search.
func joinFailures(errs []error) error {
	last := *report.As(errs[len(errs)-1])
	if len(errs) == 1 {
		return &last
	}
	last.Message, last.Effect, last.Problems = "", "nothing was removed", nil
	for _, err := range errs {
		one := report.About("", err)
		last.Problems = append(last.Problems, one.Problems...)
	}
	return &last
}

// find completes the item with what the API says about it. set is the set of a key, nil if it was not read
// yet; find returns it.
func (item *RemovedItem) find(
	ctx context.Context, api *cloud.Client, set *cloud.Set,
) (_ *cloud.Set, err error) {
	isKey := item.Key != ""
	if !isKey || set == nil {
		if set, err = api.Get(ctx, item.Name); !isKey && cloud.IsBadRequest(err) {
			if e, _ := api.Find(ctx, item.Name); e != nil {
				place := placeIn(api, e.Region)
				item.Region = place.Region
				item.description = kindLabel(e.Kind()) + " " + e.Name + " of " + place.label()
				return nil, nil
			}
		}
	}
	if err != nil {
		return nil, explain(ctx, api, item.Name, err)
	}
	place := placeIn(api, set.Region)
	item.Region = place.Region
	isReferenced := set.Source == cloud.SourceReferenced
	switch key := string(item.Key); {
	case isReferenced && !isKey:
		item.description = "the reference to Kubernetes Secret " + item.Name + " of " + place.label()
	case isReferenced:
		return nil, referencedError(api, item.Name)
	case !isKey:
		keys := report.Plural(len(set.Keys), "key")
		item.description = "secret set " + item.Name + " of " + place.label() + ", with " + keys
	case slices.Contains(set.Keys, key):
		item.description = "key " + key + " of secret set " + item.Name + " of " + place.label()
	default:
		near := report.DidYouMean(report.Nearest(key, set.Keys))
		const noKey = "no key %s in secret set %s of %s%s"
		return set, api.Errorf(report.NotFound, noKey, key, item.Name, placeIn(api, "").label(), near)
	}
	return set, nil
}

// count returns how many items have the result.
func (r *RemoveResult) count(result removeResult) (n int) {
	for _, item := range r.Removed {
		if item.Result == result {
			n++
		}
	}
	return n
}

// describe describes the items with the result, one per line. Each line begins with prefix.
func (r *RemoveResult) describe(result removeResult, prefix string) string {
	var lines []string
	for _, item := range r.Removed {
		if item.Result == result {
			lines = append(lines, prefix+item.description)
		}
	}
	return strings.Join(lines, "\n")
}

// summary lists what would be removed; "" if the question is enough.
func (r *RemoveResult) summary() string {
	if r.count(resultPlanned) == 1 {
		return ""
	}
	return r.describe(resultPlanned, "  ")
}

// question asks whether to remove what is planned.
func (r *RemoveResult) question() string {
	what := r.describe(resultPlanned, "")
	n := r.count(resultPlanned)
	switch {
	case r.areKeys() && n > 1:
		return fmt.Sprintf("Remove these %d keys?", n)
	case r.areKeys():
		return "Remove " + what + "?"
	case n > 1:
		what = fmt.Sprintf("these %d secrets", n)
	}
	return "Delete " + what + "? This cannot be undone."
}

// partial returns the result of a run that err ended at the item with the index, and the failure. If there is
// only one item, or if nothing was sent, it returns no result.
func (r *Remove) partial(out *RemoveResult, index int, err error) (report.Result, error) {
	isUnsent := errors.Is(err, context.Canceled)
	if isUnsent && !out.Deleted {
		return nil, err
	}
	f := *report.As(err)
	switch {
	case !out.Deleted && !f.MaybeApplied: // the same command does all of it
	case r.IfExists:
		f.Hint = hintToFinish(&f, "run the same command again")
	default: // the same command fails, as what was removed does not exist
		f.Hint = hintToFinish(&f, "run: "+r.Again)
		f.Retryable = false
	}
	if len(out.Removed) == 1 {
		return nil, &f
	}
	_, past := out.verbs()
	for i := index; i < len(out.Removed); i++ {
		item := &out.Removed[i]
		switch {
		case item.Result == resultAbsent:
			continue
		case i > index || isUnsent:
			item.Result = resultNotTried
		case f.MaybeApplied:
			item.Result = resultUnconfirmed
		default:
			item.Result = resultFailed
		}
		f.Problems.Add(item.label(), item.label(), "%s", incomplete(string(item.Result), past))
	}
	progress := fmt.Sprintf("%s %d of %d", past, out.count(resultRemoved), len(out.Removed))
	switch {
	case f.Code == report.Interrupted:
		f.Message, f.Effect = "interrupted", progress
	case out.Deleted:
		f.Code = report.Partial
		f.Message, f.Effect = fmt.Sprintf("%s: %v", progress, err), ""
	}
	return out, &f
}

// Text prints the plan of a dry run, or says what was removed.
func (r *RemoveResult) Text(out *report.Printer) {
	verb, past := r.verbs()
	if plan := r.describe(resultPlanned, "would "+verb+" "); plan != "" {
		out.Print(report.Printable(plan) + "\n")
	}
	if removed := r.describe(resultRemoved, past+" "); removed != "" {
		out.Note("%s", removed)
		if r.areKeys() {
			out.Note("%s", redeployNote(r.Removed[0].Name))
		}
	}
	for _, item := range r.Removed {
		if item.Result == resultAbsent {
			out.Note("nothing to do: %s", item.absence)
		}
	}
}
