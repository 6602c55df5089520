package cloudcmd

import (
	"context"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// Wait is `vbot cloud secrets wait`: it waits until a secret set or image pull secret is ready.
type Wait struct {
	Name  string
	Limit time.Duration // how long to wait at most
}

// A WaitResult is the JSON of wait.
type WaitResult struct{ ListedSecret }

// Text prints nothing: the client has noted that the secret is ready.
func (*WaitResult) Text(*report.Printer) {}

// Run returns a *WaitResult. If only the wait fails, it returns the result with the error.
func (w *Wait) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	began := api.Now()
	api.CallTimeout = min(api.CallTimeout, w.Limit)
	e, err := api.Find(ctx, w.Name)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		near := report.DidYouMean(nearest(ctx, api, w.Name))
		const none = "no secret %s in %s%s"
		return nil, about(w.Name, api.Errorf(report.NotFound, none, w.Name, placeIn(api, "").label(), near))
	case e.Source == cloud.SourceReferenced:
		return nil, referencedError(api, w.Name)
	}
	out := &WaitResult{listed(api, *e)}
	switch e.Status {
	case cloud.StatusReady:
		api.Note("%s is ready", w.Name)
	case cloud.StatusFailed:
		err = api.Errorf(report.Failed, "%s: %s", w.Name, e.FailedText())
	default:
		var status string
		ref := cloud.Ref{Name: e.Name, Type: e.Type, Region: e.Region}
		left := w.Limit - api.Now().Sub(began).Truncate(time.Second)
		status, err = api.WaitReady(ctx, ref, left, w.Name+":")
		out.Status = report.OrNull(status)
	}
	return out, err
}
