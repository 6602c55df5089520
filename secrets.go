package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"vbot/internal/cloud"
)

// maxFile is the maximum size of a file with secrets, in bytes.
const maxFile = 16 << 20

const helpSecrets = `List, set, unset and delete secrets. Values are never shown.

Usage: vbot cloud secrets COMMAND [ARGUMENTS] [OPTIONS]

Commands:
  list                 list sets and image pull secrets, or the keys of a set
  set                  create a set or add keys to one
  check                compare the keys of a file with those of a set
  unset                remove a key from a set
  delete               delete a set or an image pull secret
  image-pull-secret    store the credentials of a private image registry
  reference            register a Kubernetes Secret of your cluster as a set

Options:
      --json    print the result as JSON
  -h, --help    print this help

Examples:
  vbot cloud secrets list
  vbot cloud secrets set my-bot --file server/.env --skip-empty
`

const helpList = `List secret sets and image pull secrets, or the keys of a set.

Usage:
  vbot cloud secrets list [OPTIONS]         all, with kind, status and region
  vbot cloud secrets list NAME [OPTIONS]    the keys of a set, without values

Options:
  -s, --sets, --no-sets     list secret sets only (default: no)
  -r, --region REGION       list this region only (default: all)
  -o, --organization ORG    organization (default: the current one)
      --json                print the result as JSON
  -h, --help                print this help

The kind is secret_set or image_pull_secret; the status is ready, pending or
failed; the source is managed or, for a Kubernetes Secret of your own cluster,
referenced. Other values from the API are shown unchanged, missing ones as a
hyphen.

Examples:
  vbot cloud secrets list
  vbot cloud secrets list --sets --region us-west
  vbot cloud secrets list my-bot --json
`

const helpUnset = `Remove a key from a secret set.

Usage: vbot cloud secrets unset NAME KEY [OPTIONS]

Options:
  -s, --skip                remove without asking
  -o, --organization ORG    organization (default: the current one)
      --no-input            never ask
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud secrets unset my-bot OLD_KEY
`

const helpDelete = `Delete a secret set with all its keys, or an image pull secret.

Usage: vbot cloud secrets delete NAME [OPTIONS]

Options:
  -s, --skip                delete without asking; this cannot be undone
  -o, --organization ORG    organization (default: the current one)
      --no-input            never ask
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud secrets delete old-bot
`

// Arguments.

// A checker collects the problems of a command line. Messages never repeat an
// argument, which may be a misplaced secret.
type checker struct {
	usage []problem // missing or superfluous arguments and answers: codeUsage
	wrong []problem // invalid values: codeInvalidConfig
}

func (ch *checker) missing(field, where, format string, args ...any) {
	ch.usage = append(ch.usage, problem{Field: field, where: where, Message: fmt.Sprintf(format, args...)})
}

func (ch *checker) invalid(field, where, format string, args ...any) {
	ch.wrong = append(ch.wrong, problem{Field: field, where: where, Message: fmt.Sprintf(format, args...)})
}

// err returns all problems as one failure, or nil. If ctx has ended, reading a file
// may have failed for that reason alone.
func (ch *checker) err(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case len(ch.wrong) > 0:
		return &failure{Code: codeInvalidConfig, Problems: append(ch.usage, ch.wrong...)}
	case len(ch.usage) > 0:
		return &failure{Code: codeUsage, Problems: ch.usage}
	}
	return nil
}

// arguments returns an argument for each field, "" for those not given. The first
// ones are required, and none may be empty.
func (ch *checker) arguments(args []string, required int, fields ...string) []string {
	named := make([]string, len(fields))
	copy(named, args)
	for i, field := range fields {
		if i >= len(args) && i < required {
			ch.missing(field, strings.ToUpper(field), "missing")
		} else if i < len(args) && args[i] == "" {
			ch.invalid(field, strings.ToUpper(field), "is empty")
		}
	}
	if len(args) > len(fields) {
		ch.missing("arguments", "", "%s given, at most %d expected", plural(len(args), "argument"), len(fields))
	}
	return named
}

// newName checks the name of a secret that vbot may create.
func (ch *checker) newName(name string) {
	if name != "" && !cloud.IsName(name, 63, "-") {
		ch.invalid("name", "NAME", "must be 1 to 63 letters and digits, with hyphens only between them")
	}
	ch.notReserved(name)
}

// notReserved refuses a name that is a route of the API.
func (ch *checker) notReserved(name string) {
	if strings.EqualFold(name, "references") {
		ch.invalid("name", "NAME", "the API reserves the name references")
	}
}

// existingName checks the name of a secret that another tool may have created.
func (ch *checker) existingName(name string) {
	if name != "" && !cloud.IsName(name, 63, "-._") {
		ch.invalid("name", "NAME", "must be 1 to 63 letters and digits, with hyphens, dots and underscores only between them")
	}
}

// connect signs in and finds the organization to work in, unless there are problems.
func (ch *checker) connect(ctx context.Context, a *app, sc scope) (*session, error) {
	if err := ch.err(ctx); err != nil {
		return nil, err
	}
	c, err := signIn(a, sc)
	if err != nil {
		return nil, err
	}
	return c, c.findOrganization(ctx)
}

// confirmation checks that vbot can ask for confirmation, unless skip is set.
func (ch *checker) confirmation(a *app, skip bool, what string) {
	if !skip && !canAsk(a) {
		ch.missing("skip", "", "%s needs confirmation, and vbot cannot ask; use --skip to go ahead without it", what)
	}
}

// A waitFlag is --wait, --wait=DURATION or --wait=false.
type waitFlag struct{ limit *time.Duration }

const defaultWait = 2 * time.Minute

func (w waitFlag) String() string   { return "" }
func (w waitFlag) IsBoolFlag() bool { return true }
func (w waitFlag) takes() string    { return "a duration such as 90s" }
func (w waitFlag) reads(next string) string {
	for _, s := range []string{next, next + "s"} { // also --wait 30
		if _, err := time.ParseDuration(s); err == nil {
			return s
		}
	}
	return toggle{}.reads(next)
}
func (w waitFlag) Set(s string) error {
	switch s {
	case "true":
		*w.limit = defaultWait
		return nil
	case "false":
		*w.limit = 0
		return nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = errors.New("not a time to wait")
	}
	*w.limit = d
	return err
}

// list.

func setupList(inv *invocation) runFunc {
	var sc scope
	var sets bool
	sc.orgFlag(inv)
	sc.regionFlag(inv)
	boolFlag(inv.set, &sets, "sets", "s")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		var ch checker
		name := ch.arguments(args, 0, "name")[0]
		ch.wrong = append(ch.wrong, sc.problems()...)
		ch.existingName(name)
		c, err := ch.connect(ctx, a, sc)
		if err != nil {
			return err
		}
		if name != "" {
			return c.showSet(ctx, name, sc.regionGiven(), inv.json)
		}
		return c.showAll(ctx, sets, sc.regionGiven(), inv.json)
	}
}

// showAll prints all sets and image pull secrets.
func (c *session) showAll(ctx context.Context, setsOnly bool, region string, asJSON bool) error {
	rows, err := c.List(ctx, region)
	if err != nil {
		return err
	}
	if setsOnly {
		rows = slices.DeleteFunc(rows, func(r cloud.Entry) bool { return r.Type == cloud.TypeImagePull })
	}
	if asJSON {
		out := listAnswer{[]secretAnswer{}}
		for _, r := range rows {
			out.Secrets = append(out.Secrets, secretAnswer{r.Name, orNull(r.Kind()), orNull(r.Status), orNull(r.Region), orNull(r.Message), orNull(r.Source)})
		}
		return writeJSON(c.app.stdout, out)
	}
	if len(rows) == 0 {
		where := ""
		if region != "" {
			where = " in region " + region
		}
		c.app.note("no secrets%s in %s", where, c.orgLabel())
	}
	w := tabwriter.NewWriter(c.app.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tSTATUS\tREGION\tSOURCE")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, orDash(r.Kind()), orDash(r.Status), orDash(r.Region), orDash(r.Source))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Message != "" {
			c.app.note("%s: %s", r.Name, r.Message)
		}
	}
	return nil
}

// The JSON of list, and of list NAME.
type (
	listAnswer struct {
		Secrets []secretAnswer `json:"secrets"`
	}
	secretAnswer struct {
		Name    string `json:"name"`
		Kind    orNull `json:"kind"`
		Status  orNull `json:"status"`
		Region  orNull `json:"region"`
		Message orNull `json:"message"`
		Source  orNull `json:"source"`
	}
	showAnswer struct {
		Name    string   `json:"name"`
		Kind    string   `json:"kind"`
		Status  orNull   `json:"status"`
		Region  orNull   `json:"region"`
		Message orNull   `json:"message"`
		Source  orNull   `json:"source"`
		Keys    []string `json:"keys"`
	}
)

// orDash returns s, or a hyphen if the API left it out.
func orDash(s string) string { return cmp.Or(s, "-") }

// showSet prints one secret set.
func (c *session) showSet(ctx context.Context, name, region string, asJSON bool) error {
	s, err := c.Get(ctx, name)
	if err != nil {
		return c.setError(ctx, name, err, codeNotFound)
	}
	if region != "" && s.Region != region {
		return &failure{Code: codeNotFound, Message: fmt.Sprintf("%s is in region %s, not in %s", name, orDash(s.Region), region)}
	}
	if asJSON {
		return writeJSON(c.app.stdout, showAnswer{name, cloud.KindSet, orNull(s.Status), orNull(s.Region), orNull(s.Message), orNull(s.Source), append([]string{}, s.Keys...)})
	}
	w := tabwriter.NewWriter(c.app.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Name:\t%s\nKind:\t%s\nStatus:\t%s\nRegion:\t%s\nSource:\t%s\n", name, cloud.KindSet, orDash(s.Status), orDash(s.Region), orDash(s.Source))
	if s.Message != "" {
		fmt.Fprintf(w, "Message:\t%s\n", s.Message)
	}
	keys := fmt.Sprint(len(s.Keys))
	if s.Source == cloud.SourceReferenced {
		keys = "in your cluster"
	}
	fmt.Fprintf(w, "Keys:\t%s\n", keys)
	if err := w.Flush(); err != nil {
		return err
	}
	for _, k := range s.Keys {
		if _, err := fmt.Fprintln(c.app.stdout, "  "+k); err != nil {
			return err
		}
	}
	return nil
}

// setError explains an error from reading a secret set. The API answers 400 for an
// image pull secret, but also for other reasons; the listing tells them apart. code
// is the code for an image pull secret.
func (c *session) setError(ctx context.Context, name string, err error, code string) error {
	if cloud.IsNotFound(err) {
		return &failure{Code: codeNotFound, Message: fmt.Sprintf("no secret set %s in %s", name, c.orgLabel()), err: err}
	}
	if !cloud.IsBadRequest(err) {
		return err
	}
	r, listErr := c.Find(ctx, name)
	if listErr != nil || r == nil || r.Type != cloud.TypeImagePull {
		return err
	}
	return &failure{Code: code, Message: name + " is an image pull secret, not a secret set", err: err}
}

// unset and delete.

// A removeResult is the JSON result of unset and delete.
type removeResult struct {
	Name    string `json:"name"`
	Key     orNull `json:"key"`
	Deleted bool   `json:"deleted"`
}

func setupUnset(inv *invocation) runFunc  { return setupRemove(inv, "name", "key") }
func setupDelete(inv *invocation) runFunc { return setupRemove(inv, "name") }

// setupRemove sets up unset, with a name and a key, or delete, with a name.
func setupRemove(inv *invocation, fields ...string) runFunc {
	var sc scope
	var skip bool
	sc.orgFlag(inv)
	boolFlag(inv.set, &skip, "skip", "s")
	boolFlag(inv.set, &inv.noInput, "no-input")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		var ch checker
		named := ch.arguments(args, len(fields), fields...)
		name, key := named[0], ""
		ch.existingName(name)
		if len(named) > 1 {
			key = named[1]
		}
		if key != "" && !cloud.IsKey(key) {
			ch.invalid("key", "KEY", "is not a key; %s", cloud.KeyRule)
		}
		ch.wrong = append(ch.wrong, sc.problems()...)
		ch.confirmation(a, skip, inv.cmd.name)
		c, err := ch.connect(ctx, a, sc)
		if err != nil {
			return err
		}
		what, err := c.describe(ctx, name, key)
		if err != nil {
			return err
		}
		path, doing, done, question := []string{name}, "deleting "+name, "deleted", "Delete "+what+"? This cannot be undone."
		if key != "" {
			path, doing, done, question = []string{name, key}, "removing key "+key+" of "+name, "removed", "Remove "+what+"?"
		}
		if !skip {
			if err := mustConfirm(ctx, a, question, "nothing was "+done); err != nil {
				return err
			}
		}
		if err := c.Remove(ctx, doing, path...); err != nil {
			return err
		}
		a.note("%s %s", done, what)
		return inv.report(a, removeResult{name, orNull(key), true})
	}
}

// describe returns what would be removed, in words: the key or, if key is "", the
// secret set or image pull secret.
func (c *session) describe(ctx context.Context, name, key string) (string, error) {
	s, err := c.Get(ctx, name)
	switch {
	case err == nil && s.Source == cloud.SourceReferenced && key == "":
		return fmt.Sprintf("the reference to Kubernetes Secret %s of %s%s", name, c.orgLabel(), inRegion(s.Region)), nil
	case err == nil && s.Source == cloud.SourceReferenced:
		return "", referenced(name)
	case err == nil && key == "":
		return fmt.Sprintf("secret set %s of %s%s, with %s", name, c.orgLabel(), inRegion(s.Region), plural(len(s.Keys), "key")), nil
	case err == nil && slices.Contains(s.Keys, key):
		return fmt.Sprintf("key %s of secret set %s of %s%s", key, name, c.orgLabel(), inRegion(s.Region)), nil
	case err == nil:
		return "", &failure{Code: codeNotFound, Message: fmt.Sprintf("no key %s in secret set %s of %s", key, name, c.orgLabel())}
	case key == "" && cloud.IsBadRequest(err):
		if r, listErr := c.Find(ctx, name); listErr == nil && r != nil {
			return fmt.Sprintf("%s %s of %s%s", kindWords(r.Kind()), name, c.orgLabel(), inRegion(r.Region)), nil
		}
	}
	return "", c.setError(ctx, name, err, codeRejected)
}

func kindWords(kind string) string {
	return cmp.Or(strings.ReplaceAll(kind, "_", " "), "secret")
}

// reference.

const helpReference = `Register a Kubernetes Secret of your own cluster as a secret set.

Usage: vbot cloud secrets reference NAME --region REGION [OPTIONS]

NAME is the name of the Secret, and becomes the name of the set. The Secret
stays in the cluster of the self-hosted region. Pipecat Cloud never sees its
keys and values, and "vbot cloud secrets delete" removes only the reference.

Options:
  -r, --region REGION       self-hosted region of the Secret
  -o, --organization ORG    organization (default: the current one)
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud secrets reference my-bot --region pce-acme
`

// A referenceResult is the JSON result of reference.
type referenceResult struct {
	Name   string `json:"name"`
	Region string `json:"region"`
	Kind   orNull `json:"kind"`
	Status orNull `json:"status"`
}

func setupReference(inv *invocation) runFunc {
	var sc scope
	sc.orgFlag(inv)
	sc.regionFlag(inv)
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		var ch checker
		name := ch.arguments(args, 1, "name")[0]
		ch.existingName(name)
		ch.notReserved(name)
		ch.wrong = append(ch.wrong, sc.problems()...)
		if sc.region == nil {
			ch.missing("region", "--region", "missing")
		}
		c, err := ch.connect(ctx, a, sc)
		if err != nil {
			return err
		}
		r, err := c.Reference(ctx, name, sc.regionGiven())
		if err != nil {
			return err
		}
		region := cmp.Or(r.Region, sc.regionGiven())
		a.note("registered %s %s of %s%s; the Secret stays in your cluster", kindWords(r.Kind()), name, c.orgLabel(), inRegion(region))
		return inv.report(a, referenceResult{name, region, orNull(r.Kind()), orNull(r.Status)})
	}
}

// referenced returns the error for keys that only the cluster knows.
func referenced(name string) error {
	return &failure{Code: codeRejected, Message: name + " refers to a Secret in your own cluster; its keys are managed there"}
}

// Shared by the commands.

func newOrReplaced(replaced bool, word string) string {
	if replaced {
		return word
	}
	return "new"
}

func inRegion(region string) string {
	if region == "" {
		return ""
	}
	return ", region " + region
}

// wrongRegion returns the error for storing in another region: secrets cannot move.
func wrongRegion(name, is, asked string) error {
	return &failure{Code: codeRejected, Problems: []problem{{Field: "region", where: "--region",
		Message: fmt.Sprintf("%s is in %s and cannot be stored in %s; nothing was written", name, is, asked)}}}
}

// waitReady polls until the status is ready, for at most limit. It returns the last
// status. The entry is nil while it is not listed.
func (c *session) waitReady(ctx context.Context, name string, limit time.Duration, poll func(context.Context) (*cloud.Entry, error)) (string, error) {
	timed, cancel := context.WithTimeout(ctx, limit) // for an answer that never comes
	defer cancel()
	began := c.app.now()
	stored := name + " is stored, but "
	last := ""
	for pause := time.Second; ; pause = min(pause*2, 5*time.Second) {
		// Pause before the first poll too: the API is slow to leave the old state.
		left := limit - c.app.now().Sub(began)
		if left <= 0 || errors.Is(timed.Err(), context.DeadlineExceeded) {
			return last, &failure{Code: codeTimeout, Message: fmt.Sprintf("%snot ready after %v; its status is %s", stored, limit, orDash(last)), hint: "`vbot cloud secrets list` shows its status"}
		}
		var now *cloud.Entry
		err := c.app.pause(ctx, min(pause, left))
		if err == nil {
			now, err = poll(timed)
		}
		switch {
		case ctx.Err() != nil:
			return last, &failure{Code: codeInterrupted, Message: "interrupted; " + stored + "it may not be ready"}
		case timed.Err() != nil, cloud.IsNotFound(err), err == nil && now == nil:
			continue // a new secret may take a moment to appear
		case err != nil:
			f := *asFailure(err)
			f.Message = stored + "it may not be ready: " + f.Message
			return last, &f
		}
		switch last = now.Status; last {
		case "ready":
			c.app.note("%s is ready", name)
			return last, nil
		case "failed":
			message := "its status is failed"
			if now.Message != "" {
				message += ": " + now.Message
			}
			return last, &failure{Code: codeFailed, Message: stored + message}
		}
	}
}
