package secrets

import (
	"context"
	"slices"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// Remove is `vbot cloud secrets unset` and `delete`: it removes one key of a secret set, or a secret.
type Remove struct {
	Name     string
	Key      string  // "" for the whole secret
	IfExists bool    // succeed if there is nothing to remove
	Confirm  Confirm // nil to go ahead without asking
}

// A Removal is the JSON of unset and delete.
type Removal struct {
	Name    string        `json:"name"`
	Key     report.OrNull `json:"key"`
	Deleted bool          `json:"deleted"`

	message string
}

// Text says what was removed.
func (r *Removal) Text(out *report.Printer) { out.Note("%s", r.message) }

// path is the path of the secret or key in the API.
func (r Remove) path() []string {
	if r.Key == "" {
		return []string{r.Name}
	}
	return []string{r.Name, r.Key}
}

// Run removes the key or the secret. It fails with report.NotFound if there is none, unless IfExists.
func (r Remove) Run(ctx context.Context, api *cloud.Client) (*Removal, error) {
	out := &Removal{Name: r.Name, Key: report.OrNull(r.Key)}
	doing, done := "deleting "+r.Name, "deleted"
	if r.Key != "" {
		doing, done = "removing key "+r.Key+" of "+r.Name, "removed"
	}
	what, err := r.describe(ctx, api)
	found := err == nil
	if found && r.Confirm != nil {
		question := "Delete " + what + "? This cannot be undone."
		if r.Key != "" {
			question = "Remove " + what + "?"
		}
		err = r.Confirm(ctx, "", question)
	}
	if err == nil {
		err = api.Remove(ctx, doing, r.path()...)
	}
	isMissing := report.HasCode(err, report.NotFound)
	switch {
	case r.IfExists && isMissing && api.IsGone(ctx, r.path()...): // perhaps somebody else was faster
		out.message = "nothing to do: " + err.Error()
		return out, nil
	case !found:
		return nil, suggest(ctx, api, r.Name, err)
	case err != nil:
		return nil, err
	}
	out.Deleted = true
	out.message = done + " " + what
	if r.Key != "" {
		out.message += "\n" + agentsKeepValues(r.Name)
	}
	return out, nil
}

// describe returns what would be removed, in words.
func (r Remove) describe(ctx context.Context, api *cloud.Client) (string, error) {
	set, err := api.Get(ctx, r.Name)
	if r.Key == "" && cloud.IsBadRequest(err) {
		if e, _ := api.Find(ctx, r.Name); e != nil {
			return kindWords(e.Kind()) + " " + r.Name + " of " + location(api, e.Region), nil
		}
	}
	if err != nil {
		return "", explain(ctx, api, r.Name, err, report.Rejected)
	}
	isReferenced := set.Source == cloud.SourceReferenced
	where := location(api, set.Region)
	switch {
	case isReferenced && r.Key == "":
		return "the reference to Kubernetes Secret " + r.Name + " of " + where, nil
	case isReferenced:
		return "", referencedError(r.Name)
	case r.Key == "":
		keys := report.Plural(len(set.Keys), "key")
		return "secret set " + r.Name + " of " + where + ", with " + keys, nil
	case slices.Contains(set.Keys, r.Key):
		return "key " + r.Key + " of secret set " + r.Name + " of " + where, nil
	}
	near := report.DidYouMean(report.Nearest(r.Key, set.Keys))
	const noKey = "no key %s in secret set %s of %s%s"
	return "", report.Errorf(report.NotFound, noKey, r.Key, r.Name, location(api, ""), near)
}
