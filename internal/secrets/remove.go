package secrets

import (
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
	Confirm  Confirm  // nil to go ahead without asking
}

// A Removal is the JSON of unset and delete.
type Removal struct {
	Name report.OrNull `json:"name" about:"name of the secret; null if several were given"`
	Key  report.OrNull `json:"key" about:"the key; null for a secret, and if several were given"`
	Place
	Deleted bool          `json:"deleted" about:"something was removed"`
	Removed []RemovedItem `json:"removed" about:"each secret or key that was given"`

	done string // "deleted" or "removed"
	note string // what to know after the removal, or ""
}

// A RemovedItem is what became of one secret, or of one key.
type RemovedItem struct {
	Name   string        `json:"name" about:"name of the secret"`
	Key    report.OrNull `json:"key" about:"the key; null for the whole secret"`
	Region report.OrNull `json:"region" about:"its region; null if the API did not say"`
	Result removeResult  `json:"result" about:"absent: there was none; unconfirmed: no response came"`

	what   string // for messages: "key A of secret set app of organization acme"
	absent string // why there is nothing to remove
}

// A removeResult is what became of one secret, or of one key.
type removeResult keyResult

// keyAbsent says that there was nothing to remove.
const keyAbsent = "absent"

// Enum returns the values, for the JSON Schema.
func (removeResult) Enum() []string {
	return []string{keyPlanned, keyRemoved, keyAbsent, keyFailed, keyUnconfirmed, keyNotTried}
}

// path is the path of the secret or key in the API.
func (i *RemovedItem) path() []string {
	if i.Key == "" {
		return []string{i.Name}
	}
	return []string{i.Name, string(i.Key)}
}

// label is the name of the secret, or the key.
func (i *RemovedItem) label() string { return i.path()[len(i.path())-1] }

// Run removes the keys or the secrets. It fails with report.NotFound if one does not exist, unless IfExists.
// If some are removed, the result is returned with the error, too.
func (r Remove) Run(ctx context.Context, api *cloud.Client) (*Removal, error) {
	out, err := r.plan(ctx, api)
	if err != nil || r.DryRun {
		return out, err
	}
	if r.Confirm != nil && out.count(keyPlanned) > 0 {
		if err := r.Confirm(ctx, out.summary(), out.question()); err != nil {
			return nil, err
		}
	}
	for i := range out.Removed {
		item := &out.Removed[i]
		if item.Result == keyAbsent {
			continue
		}
		doing := "deleting " + item.Name
		if item.Key != "" {
			doing = "removing key " + item.label() + " of " + item.Name
		}
		err := api.Remove(ctx, doing, item.path()...)
		switch {
		case err == nil:
			item.Result, out.Deleted = keyRemoved, true
		case r.IfExists && report.HasCode(err, report.NotFound) && api.IsGone(ctx, item.path()...):
			item.Result, item.absent = keyAbsent, err.Error() // somebody else was faster
		default:
			return out.partial(i, err)
		}
	}
	return out, nil
}

// plan looks up what is to be removed. With an error, nothing is to be removed.
func (r Remove) plan(ctx context.Context, api *cloud.Client) (*Removal, error) {
	out := &Removal{Place: placeIn(api, ""), Removed: r.items(), done: "deleted"}
	if r.Keys != nil {
		out.done, out.note = "removed", agentsKeepValues(r.Names[0])
	}
	if r.Keys != nil || len(out.Removed) == 1 {
		out.Name = report.OrNull(r.Names[0])
	}
	if len(out.Removed) == 1 {
		out.Key = out.Removed[0].Key
	}
	var set *cloud.Set // of unset: the set of all keys
	var errs []error
	for i := range out.Removed {
		item := &out.Removed[i]
		var err error
		if set, err = r.find(ctx, api, item, set); err == nil {
			continue
		}
		if r.IfExists && report.HasCode(err, report.NotFound) && api.IsGone(ctx, item.path()...) {
			item.Result, item.absent = keyAbsent, err.Error()
			continue
		}
		errs = append(errs, suggest(ctx, api, item.Name, err))
		isOfSet := r.Keys != nil && set == nil
		if isOfSet || !report.HasCode(err, report.NotFound) {
			break // the others would fail for the same reason
		}
	}
	if len(errs) > 0 {
		field := "name"
		if r.Keys != nil {
			field = "key"
		}
		return nil, joined(field, errs)
	}
	if r.Keys != nil || len(out.Removed) == 1 {
		out.Region = out.Removed[0].Region
	}
	return out, nil
}

// items returns what was asked for, each once.
func (r Remove) items() (items []RemovedItem) {
	add := func(name, key string) {
		item := RemovedItem{Name: name, Key: report.OrNull(key), Result: keyPlanned}
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

// joined returns the failure of several names that cannot be removed, with a problem for each.
func joined(field string, errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	f := *report.As(errs[len(errs)-1])
	f.Message = "nothing was removed"
	for _, err := range errs {
		f.Problems.Add(field, "", "%s", err)
	}
	return &f
}

// find completes the item with what the API says about it. known is its set if that was read already, which
// find returns, too.
func (r Remove) find(
	ctx context.Context, api *cloud.Client, item *RemovedItem, known *cloud.Set,
) (set *cloud.Set, err error) {
	isKey := item.Key != ""
	if set = known; !isKey || set == nil {
		if set, err = api.Get(ctx, item.Name); !isKey && cloud.IsBadRequest(err) {
			if e, _ := api.Find(ctx, item.Name); e != nil {
				item.Region = report.OrNull(e.Region)
				item.what = kindWords(e.Kind()) + " " + e.Name + " of " + location(api, e.Region)
				return nil, nil
			}
		}
	}
	if err != nil {
		return nil, explain(ctx, api, item.Name, err)
	}
	item.Region = report.OrNull(set.Region)
	isReferenced := set.Source == cloud.SourceReferenced
	where := location(api, set.Region)
	switch key := string(item.Key); {
	case isReferenced && !isKey:
		item.what = "the reference to Kubernetes Secret " + item.Name + " of " + where
	case isReferenced:
		return nil, referencedError(api, item.Name)
	case !isKey:
		keys := report.Plural(len(set.Keys), "key")
		item.what = "secret set " + item.Name + " of " + where + ", with " + keys
	case slices.Contains(set.Keys, key):
		item.what = "key " + key + " of secret set " + item.Name + " of " + where
	default:
		near := report.DidYouMean(report.Nearest(key, set.Keys))
		const noKey = "no key %s in secret set %s of %s%s"
		return set, api.Errorf(report.NotFound, noKey, key, item.Name, location(api, ""), near)
	}
	return set, nil
}

// count returns how many items have the result.
func (r *Removal) count(result removeResult) (n int) {
	for _, item := range r.Removed {
		if item.Result == result {
			n++
		}
	}
	return n
}

// listed returns what the items with the result are, a line for each that begins with start.
func (r *Removal) listed(result removeResult, start string) string {
	var lines []string
	for _, item := range r.Removed {
		if item.Result == result {
			lines = append(lines, start+item.what)
		}
	}
	return strings.Join(lines, "\n")
}

// summary lists what would be removed; "" if the question is enough.
func (r *Removal) summary() string {
	if r.count(keyPlanned) == 1 {
		return ""
	}
	return r.listed(keyPlanned, "  ")
}

// question asks whether to remove what is planned.
func (r *Removal) question() string {
	what := r.listed(keyPlanned, "")
	n := r.count(keyPlanned)
	switch {
	case r.done == "removed" && n > 1:
		return fmt.Sprintf("Remove these %d keys?", n)
	case r.done == "removed":
		return "Remove " + what + "?"
	case n > 1:
		what = fmt.Sprintf("these %d secrets", n)
	}
	return "Delete " + what + "? This cannot be undone."
}

// partial returns the result of a run that err ended at an item, and the failure. The result is nil if there
// was only one item, or if nothing was sent.
func (r *Removal) partial(at int, err error) (*Removal, error) {
	isUnsent := errors.Is(err, context.Canceled)
	if len(r.Removed) == 1 || isUnsent && !r.Deleted {
		return nil, err
	}
	f := *report.As(err)
	for i := at; i < len(r.Removed); i++ {
		item := &r.Removed[i]
		switch {
		case item.Result == keyAbsent:
			continue
		case i > at || isUnsent:
			item.Result = keyNotTried
		case f.Unsure:
			item.Result = keyUnconfirmed
		default:
			item.Result = keyFailed
		}
		message := notDone(keyResult(item.Result), keyResult(r.done))
		f.Problems.Add(item.label(), item.label(), "%s", message)
	}
	howFar := fmt.Sprintf("%s %d of %d", r.done, r.count(keyRemoved), len(r.Removed))
	switch {
	case f.Code == report.Interrupted:
		f.Message, f.Effect = "interrupted", howFar
	case r.Deleted:
		f.Code = report.Partial
		f.Message, f.Effect = fmt.Sprintf("%s: %v", howFar, err), ""
	}
	return r, &f
}

// Text says what was removed, or would be.
func (r *Removal) Text(out *report.Printer) {
	if plan := r.listed(keyPlanned, "would "+strings.TrimSuffix(r.done, "d")+" "); plan != "" {
		out.Print(report.Printable(plan) + "\n")
	}
	if done := r.listed(keyRemoved, r.done+" "); done != "" {
		out.Note("%s", done)
		if r.note != "" {
			out.Note("%s", r.note)
		}
	}
	for _, item := range r.Removed {
		if item.Result == keyAbsent {
			out.Note("nothing to do: %s", item.absent)
		}
	}
}
