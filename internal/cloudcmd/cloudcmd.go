// Package cloudcmd has the commands of `vbot cloud`. A command is a struct with its options; Run carries it
// out and returns the result, whose fields are the JSON and whose Text is for people. Commands print nothing
// but notes on their progress, to stderr, and ask only through functions in the struct. Errors are a
// *report.Failure, or context.Canceled if nothing was done.
package cloudcmd

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

// A Place is the JSON of where a secret is.
type Place struct {
	Organization report.OrNull `json:"organization" about:"its organization; null for that of an API key"`
	Region       report.OrNull `json:"region" about:"its region; null if the API did not say"`
}

// placeIn returns a place in the organization of the client.
func placeIn(api *cloud.Client, region string) Place {
	return Place{Organization: report.OrNull(api.Organization), Region: report.OrNull(region)}
}

// label returns the place for messages: "organization acme, region us-west".
func (p Place) label() string {
	s := "the API key's organization"
	if p.Organization != "" {
		s = "organization " + string(p.Organization)
	}
	if p.Region != "" {
		s += ", region " + string(p.Region)
	}
	return s
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

// What became of a key or a secret, in the JSON of several results.
const (
	resultPlanned     = "planned" // in a dry run
	resultStored      = "stored"
	resultRegistered  = "registered"
	resultRemoved     = "removed"
	resultAbsent      = "absent" // there was nothing to remove
	resultFailed      = "failed"
	resultUnconfirmed = "unconfirmed" // the request was sent, but no response came
	resultNotTried    = "not_tried"   // an earlier request failed, or the run was interrupted
)

// incomplete describes a result in a problem. done is the result of a success.
func incomplete[T ~string](result, done T) string {
	message := strings.ReplaceAll(string(result), "_", " ")
	if result == resultUnconfirmed {
		message += ": it may be " + string(done)
	}
	return message
}

// hintToFinish returns the hint for a run that ended early. finish says how to finish it.
func hintToFinish(f *report.Failure, finish string) string {
	finish = "to finish, " + finish
	switch {
	case !cloud.IsGeneralHint(f.Hint):
		return f.Hint + "; then, " + finish
	case f.Retryable || f.MaybeApplied:
		return finish
	}
	return "correct what the message says; then, " + finish
}

// orDash returns s, or a hyphen if the API left it out.
func orDash[T ~string](s T) T { return cmp.Or(s, "-") }

// kindLabel returns the kind of a secret for a sentence: "image pull secret".
func kindLabel(kind string) string {
	return cmp.Or(strings.ReplaceAll(kind, "_", " "), "secret")
}

// redeployNote says when agents get changed values: the API passes them to an agent when it is deployed.
func redeployNote(set string) string {
	return "Agents that use " + set + " get the new values when they are deployed again."
}

// maxHint is the time limit of a request that only improves a message.
const maxHint = 3 * time.Second

// nearest returns the existing name that is most similar to name, which does not exist; "" if there is none,
// or if the API does not list it in time.
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

// suggest adds a similar name to the failure for a name that does not exist, and makes it a problem of that
// name.
func suggest(ctx context.Context, api *cloud.Client, name string, err error) error {
	if report.HasCode(err, report.NotFound) && report.As(err).HTTPStatus == 404 {
		err = report.Reword(err, "%v%s", err, report.DidYouMean(nearest(ctx, api, name)))
	}
	return about(name, err)
}

// about makes the failure for a name that does not exist a problem of that name, and returns other errors
// unchanged.
func about(name string, err error) error {
	if report.HasCode(err, report.NotFound) {
		return report.About(name, err)
	}
	return err
}

// explain rewords an error from reading a secret set. The API responds with 400 for an image pull secret, but
// also for other reasons; the listing tells them apart.
func explain(ctx context.Context, api *cloud.Client, name string, err error) error {
	switch {
	case report.HasCode(err, report.NotFound):
		return report.Reword(err, "no secret set %s in %s", name, placeIn(api, "").label())
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

// referencedError returns the failure for a secret that is only in the cluster.
func referencedError(api *cloud.Client, name string) error {
	const referenced = "%s refers to a Kubernetes Secret in your own cluster; read and change its keys there"
	return api.Errorf(report.Rejected, referenced, name)
}

// nameTaken returns the failure for a name that another kind of secret has.
func nameTaken(api *cloud.Client, existing cloud.Entry) error {
	const exists = "a %s named %s already exists; nothing was written"
	return api.Errorf(report.Rejected, exists, kindLabel(existing.Kind()), existing.Name)
}

// checkRegion fails if a secret that exists in region is to be stored in wanted, because secrets cannot move.
// Both are "" if they are not known.
func checkRegion(api *cloud.Client, name, wanted, region string) error {
	if wanted == "" || region == "" || wanted == region {
		return nil
	}
	const elsewhere = "%s is in %s and cannot be stored in %s; nothing was written"
	f := api.Errorf(report.Rejected, "")
	f.Problems.Add("region", "--region", elsewhere, name, region, wanted)
	return f
}

// checkRegionExists fails if the API does not list the region, which is "" if --region was not given. If the
// API lists none, the request that stores the secret fails instead.
func checkRegionExists(ctx context.Context, api *cloud.Client, region string) error {
	if region == "" {
		return nil
	}
	ctx, cancel := api.WithTimeout(ctx, maxHint)
	defer cancel()
	codes, err := api.Regions(ctx)
	if err != nil || len(codes) == 0 || slices.Contains(codes, region) {
		return nil
	}
	near := report.DidYouMean(report.Nearest(region, codes))
	f := api.Errorf(report.NotFound, "")
	f.Problems.Add("region", "--region", "there is no region %s%s", region, near).Allowed = codes
	return f
}

// waitReady notes what was stored, then waits at most limit until the secret is ready. It returns its last
// status.
func waitReady(
	ctx context.Context, api *cloud.Client, ref cloud.Ref, limit time.Duration, stored string,
) (report.OrNull, error) {
	api.Note("%s", stored)
	status, err := api.WaitReady(ctx, ref, limit, ref.Name+" is stored, but")
	return report.OrNull(status), err
}
