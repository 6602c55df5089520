// Package secrets has the commands of `vbot cloud`: list, set, check, remove, register and wait for secrets,
// and sign in and out. A command is a struct with its options; Run carries it out and returns the result. It
// prints only notes on the progress to stderr, and asks only through functions in the struct. Errors are a
// *report.Failure, or context.Canceled if nothing was done.
package secrets

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// A Confirm asks a person whether to go ahead, and fails if the answer is no. summary has lines that describe
// what would be done; "" if the question is enough.
type Confirm func(ctx context.Context, summary, question string) error

// location returns "organization NAME, region REGION", without a region if that is "".
func location(api *cloud.Client, region string) string {
	s := "the API key's organization"
	if api.Organization != "" {
		s = "organization " + api.Organization
	}
	if region != "" {
		s += ", region " + region
	}
	return s
}

// A Place is the JSON of where a secret is.
type Place struct {
	Organization report.OrNull `json:"organization" about:"its organization; null for that of an API key"`
	Region       report.OrNull `json:"region" about:"its region; null if the API did not say"`
}

// placeIn returns a place in the organization of the client.
func placeIn(api *cloud.Client, region string) Place {
	return Place{Organization: report.OrNull(api.Organization), Region: report.OrNull(region)}
}

// A State is the JSON of what the API reports about a secret.
type State struct {
	Status report.OrNull `json:"status" about:"ready, pending, failed, or another word of the API"`
	Place
	Message report.OrNull `json:"message" about:"why its status is failed, if the API said so"`
	Source  report.OrNull `json:"source" about:"managed, or referenced for a Kubernetes Secret"`
}

func stateOf(api *cloud.Client, e cloud.Entry) State {
	return State{
		Status:  report.OrNull(e.Status),
		Place:   placeIn(api, e.Region),
		Message: report.OrNull(e.Message),
		Source:  report.OrNull(e.Source),
	}
}

// orDash returns s, or a hyphen if the API left it out.
func orDash[T ~string](s T) T { return cmp.Or(s, "-") }

// kindWords returns the kind of a secret for a sentence: "image pull secret".
func kindWords(kind string) string {
	return cmp.Or(strings.ReplaceAll(kind, "_", " "), "secret")
}

// agentsKeepValues says when the agents that use a set get values that were changed: the API gives them
// to an agent when it is deployed.
func agentsKeepValues(set string) string {
	return "Agents that use " + set + " get the new values when they are deployed again."
}

// maxHint is how long a request that only improves a message may take.
const maxHint = 3 * time.Second

// nearest returns the existing name that is most similar to name, which does not exist; "" if
// there is none, or the API does not list it in time.
func nearest(ctx context.Context, api *cloud.Client, name string) string {
	ctx, cancel := api.WithTimeout(ctx, maxHint)
	defer cancel()
	var names []string
	entries, _ := api.List(ctx, "")
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return report.Nearest(name, names)
}

// suggest adds a similar name to the failure for a name that does not exist.
func suggest(ctx context.Context, api *cloud.Client, name string, err error) error {
	if report.HasCode(err, report.NotFound) && report.As(err).HTTPStatus == 404 {
		return report.Reword(err, "%v%s", err, report.DidYouMean(nearest(ctx, api, name)))
	}
	return err
}

// explain rewords an error from reading a secret set. The API responds with 400 for an image
// pull secret, but also for other reasons; the listing tells them apart.
func explain(ctx context.Context, api *cloud.Client, name string, err error) error {
	switch {
	case report.HasCode(err, report.NotFound):
		return report.Reword(err, "no secret set %s in %s", name, location(api, ""))
	case cloud.IsBadRequest(err):
		if e, _ := api.Find(ctx, name); e != nil && e.Type == cloud.TypeImagePull {
			return api.Errorf(report.NotFound, "%s is an image pull secret, not a secret set", name)
		}
	}
	return err
}

// getSet reads a secret set that must exist.
func getSet(ctx context.Context, api *cloud.Client, name string) (*cloud.Set, error) {
	set, err := api.Get(ctx, name)
	return set, suggest(ctx, api, name, explain(ctx, api, name, err))
}

// referencedError returns the failure for keys that are only in the cluster.
func referencedError(api *cloud.Client, name string) error {
	const referenced = "%s refers to a Kubernetes Secret in your own cluster; read and change its keys there"
	return api.Errorf(report.Rejected, referenced, name)
}

// nameTaken returns the failure for a name that another kind of secret has.
func nameTaken(api *cloud.Client, existing cloud.Entry) error {
	const exists = "a %s named %s already exists; nothing was written"
	return api.Errorf(report.Rejected, exists, kindWords(existing.Kind()), existing.Name)
}

// planned is the result of what a dry run would do.
const planned = "planned"

// printDone prints what a dry run would do, which is its result, or notes what a run did.
func printDone(out *report.Printer, isPlan bool, message string) {
	switch {
	case isPlan:
		out.Print(report.Printable(message) + "\n")
	case message != "":
		out.Note("%s", message)
	}
}

// refuseOtherRegion fails for a region that is not the secret's own, because secrets cannot move. asked is
// the value of --region and is that of the API, "" if not given.
func refuseOtherRegion(api *cloud.Client, name, asked, is string) error {
	if asked == "" || is == "" || asked == is {
		return nil
	}
	const elsewhere = "%s is in %s and cannot be stored in %s; nothing was written"
	f := api.Errorf(report.Rejected, "")
	f.Problems.Add("region", "--region", elsewhere, name, is, asked)
	return f
}

// refuseUnknownRegion fails for a value of --region that the API does not list.
// If the API lists no regions, the request itself reports an unknown one.
func refuseUnknownRegion(ctx context.Context, api *cloud.Client, asked string) error {
	if asked == "" {
		return nil
	}
	ctx, cancel := api.WithTimeout(ctx, maxHint)
	defer cancel()
	codes, err := api.Regions(ctx)
	if err != nil || len(codes) == 0 || slices.Contains(codes, asked) {
		return nil
	}
	near := report.Nearest(asked, codes)
	f := api.Errorf(report.NotFound, "")
	p := f.Problems.Add("region", "--region", "there is no region %s%s", asked, report.DidYouMean(near))
	p.Allowed = codes
	return f
}

// waitReady notes what was stored, then waits at most limit until the secret is ready, and returns its last
// status.
func waitReady(
	ctx context.Context, api *cloud.Client, stored cloud.Ref, limit time.Duration, message string,
) (report.OrNull, error) {
	api.Note("%s", message)
	status, err := api.WaitReady(ctx, stored, limit, stored.Name+" is stored, but")
	return report.OrNull(status), err
}
