package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/report"
)

// maxFile is the maximum size of a file with secrets, in bytes.
const maxFile = 16 << 20

// A cloudRun is one run of a command of `vbot cloud`. It collects what is wrong with the
// command line; messages never repeat an argument, which may be a misplaced secret.
type cloudRun struct {
	app   *cli.App
	inv   *cli.Invocation
	given map[string]string // --organization and --region, if they were given
	api   *cloud.Client     // after signIn

	usageProblems []report.Problem // too many or too few arguments, nobody to ask: report.Usage
	valueProblems []report.Problem // report.InvalidConfig
	hint          string           // about valueProblems
}

// currentOrg describes --organization where the command works in one.
const currentOrg = "organization (default: the current one)"

// cloudCommand sets up a command of `vbot cloud`. org and region describe --organization and
// --region in help; "" if the command does not have the option.
func cloudCommand(inv *cli.Invocation, org, region string, do func(ctx context.Context, r *cloudRun, args []string) error) cli.RunFunc {
	r := &cloudRun{inv: inv, given: map[string]string{}}
	if region != "" {
		inv.Text("r region", "REGION", region, func(s string) { r.given["region"] = s })
	}
	if org != "" {
		inv.Text("o organization", "ORG", org, func(s string) { r.given["organization"] = s })
	}
	return func(ctx context.Context, a *cli.App, _ *cli.Invocation, args []string) error {
		r.app = a
		return do(ctx, r, args)
	}
}

func (r *cloudRun) badUsage(field, where, format string, args ...any) {
	r.usageProblems = append(r.usageProblems, report.Problem{Field: field, Where: where, Message: fmt.Sprintf(format, args...)})
}

func (r *cloudRun) invalid(field, where, format string, args ...any) {
	r.valueProblems = append(r.valueProblems, report.Problem{Field: field, Where: where, Message: fmt.Sprintf(format, args...)})
}

// faults returns all problems as one failure, or nil. If ctx has ended, reading a file may
// have failed for that reason alone.
func (r *cloudRun) faults(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return report.Interruption()
	case len(r.valueProblems) > 0:
		return &report.Failure{Code: report.InvalidConfig, Problems: append(r.usageProblems, r.valueProblems...), Hint: r.hint}
	case len(r.usageProblems) > 0:
		return &report.Failure{Code: report.Usage, Problems: r.usageProblems}
	}
	return nil
}

// arguments returns an argument for each field, "" for those not given. The first ones
// are required, and none may be empty; name checks the first of all. The options that
// many commands have are checked, too.
func (r *cloudRun) arguments(args []string, required int, name func(string), fields ...string) []string {
	named := make([]string, len(fields))
	copy(named, args)
	for i, field := range fields {
		if i >= len(args) && i < required {
			r.badUsage(field, strings.ToUpper(field), "missing")
		} else if i < len(args) && args[i] == "" {
			r.invalid(field, strings.ToUpper(field), "must not be empty")
		}
	}
	if len(args) > 0 && len(fields) == 0 {
		r.badUsage("arguments", "", "%s takes no arguments, got %d", r.inv.Path, len(args))
	} else if len(args) > len(fields) {
		r.badUsage("arguments", "", "%s takes at most %s, got %d", r.inv.Path, report.Plural(len(fields), "argument"), len(args))
	}
	if len(fields) > 0 && named[0] != "" {
		name(named[0])
	}
	for _, option := range []string{"organization", "region"} {
		if value, given := r.given[option]; given && !cloud.IsSegment(value) {
			r.invalid(option, "--"+option, cloud.SegmentRule)
		}
	}
	return named
}

// newName checks the name of a secret that vbot may create.
func (r *cloudRun) newName(name string) {
	if !cloud.IsName(name, 63, "-") {
		rule := "must be 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit"
		if cloud.IsName(strings.ReplaceAll(name, "_", "-"), 63, "-") {
			rule = "must not contain _; write - instead"
		}
		r.invalid("name", "NAME", "%s", rule)
	}
	r.notReserved(name)
}

// notReserved refuses a name that is a route of the API.
func (r *cloudRun) notReserved(name string) {
	if strings.EqualFold(name, "references") {
		r.invalid("name", "NAME", "the API reserves this name")
	}
}

// existingName checks the name of a secret that another tool may have created.
func (r *cloudRun) existingName(name string) {
	if !cloud.IsName(name, 63, "-._") {
		r.invalid("name", "NAME", "must be 1 to 63 letters, digits, hyphens, dots and underscores, and begin and end with a letter or digit")
	}
}

// confirmable checks that vbot can ask for confirmation, unless skip is set.
func (r *cloudRun) confirmable(skip bool) {
	if !skip && !canAsk(r.app) {
		r.badUsage("skip", "", "%s needs confirmation, and vbot cannot ask; use --skip to go ahead without it", r.inv.Cmd.Name)
	}
}

// deps returns what the API's client needs of the program.
func deps(a *cli.App) cloud.Deps {
	return cloud.Deps{
		UserAgent: "vbot/" + version, Getenv: a.Getenv, Path: a.Path, Now: a.Now, Pause: a.Pause, Random: a.Random,
		WithTimeout: a.WithTimeout,
		Note:        func(s string) { a.Note("%s", s) },
	}
}

// signIn makes r.api, unless there are problems. It sends no request.
func (r *cloudRun) signIn(ctx context.Context) error {
	err := r.faults(ctx)
	if err == nil {
		r.api, err = cloud.SignIn(deps(r.app), r.given["organization"])
	}
	return err
}

// connect signs in and finds the organization to work in, unless there are problems.
func (r *cloudRun) connect(ctx context.Context) error {
	if err := r.signIn(ctx); err != nil {
		return err
	}
	return r.api.FindOrganization(ctx, nil)
}

// where returns "organization NAME, region REGION", without a region if that is "".
func (r *cloudRun) where(region string) string {
	s := "the API key's organization"
	if r.api.Organization != "" {
		s = "organization " + r.api.Organization
	}
	if region != "" {
		s += ", region " + region
	}
	return s
}

// sameRegion refuses to store in another region than the one in which the secret is:
// secrets cannot move.
func (r *cloudRun) sameRegion(name, is string) error {
	asked := r.given["region"]
	if asked == "" || is == "" || asked == is {
		return nil
	}
	return report.One(report.Rejected, "region", "--region", "%s is in %s and cannot be stored in %s; nothing was written", name, is, asked)
}

// unknownRegion returns the failure of a requested region that the API does not list, or nil.
// If it lists none, the request will tell.
func (r *cloudRun) unknownRegion(ctx context.Context) error {
	asked := r.given["region"]
	if asked == "" {
		return nil
	}
	ctx, cancel := r.app.WithTimeout(ctx, maxHint)
	defer cancel()
	codes, err := r.api.Regions(ctx)
	if err != nil || len(codes) == 0 || slices.Contains(codes, asked) {
		return nil
	}
	return &report.Failure{Code: report.NotFound, Problems: []report.Problem{{
		Field: "region", Where: "--region", Allowed: codes,
		Message: "there is no region " + asked + report.DidYouMean(report.Nearest(asked, codes)),
	}}}
}

// maxHint is how long the API may take to answer what only makes a message better.
const maxHint = 3 * time.Second

// like returns the name of a secret that is much like this one, which does not exist; "" if
// there is none, or the API does not list it soon.
func (r *cloudRun) like(ctx context.Context, name string) string {
	ctx, cancel := r.app.WithTimeout(ctx, maxHint)
	defer cancel()
	var names []string
	rows, _ := r.api.List(ctx, "")
	for _, e := range rows {
		names = append(names, e.Name)
	}
	return report.Nearest(name, names)
}

// regionOfNew describes --region where a secret is stored.
func regionOfNew(what string) string {
	return "region of a new " + what + "; must be the region of the agents that use it (default: the organization's)"
}

// newOrReplaced returns "new", or word if something is replaced.
func newOrReplaced(replaced bool, word string) string {
	if replaced {
		return word
	}
	return "new"
}

const defaultWait = 2 * time.Minute

// waitOption registers --wait, --wait=DURATION and --wait=false.
func waitOption(inv *cli.Invocation, what string, limit *time.Duration) {
	reads := func(next string) string {
		for _, s := range []string{next, next + "s"} { // also --wait 30
			if _, err := time.ParseDuration(s); err == nil {
				return s
			}
		}
		return ""
	}
	about := "wait until " + what + " is ready, at most DURATION (default: no; without DURATION: 2m)"
	inv.Switch("wait", "DURATION", about, "a duration such as 90s", reads, func(s string) (err error) {
		switch s {
		case "true":
			*limit = defaultWait
		case "false":
			*limit = 0
		default:
			if *limit, err = time.ParseDuration(s); err == nil && *limit <= 0 {
				err = errors.New("not a time to wait")
			}
		}
		return err
	})
}

// finish reports what was stored, in the words of message. With a limit it waits until that
// is ready; result is then the answer with its status.
func (r *cloudRun) finish(ctx context.Context, stored cloud.Ref, limit time.Duration, message string, result func(status string) any) error {
	if limit == 0 {
		return r.inv.Report(r.app, result(""), "%s", message)
	}
	r.app.Note("%s", message)
	status, err := r.api.WaitReady(ctx, stored, limit)
	if err != nil {
		return report.WithResult(err, result(status))
	}
	return r.inv.Report(r.app, result(status), "")
}

// list.

// The JSON of list, and of list NAME.
type (
	listAnswer struct {
		Secrets []secretAnswer `json:"secrets"`
	}
	secretAnswer struct {
		Name string        `json:"name"`
		Kind report.OrNull `json:"kind"`
		secretState
	}
	showAnswer struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
		secretState
		Keys []string `json:"keys"`
	}
	secretState struct {
		Status  report.OrNull `json:"status"`
		Region  report.OrNull `json:"region"`
		Message report.OrNull `json:"message"`
		Source  report.OrNull `json:"source"`
	}
)

func stateOf(e cloud.Entry) secretState {
	return secretState{report.OrNull(e.Status), report.OrNull(e.Region), report.OrNull(e.Message), report.OrNull(e.Source)}
}

func setupList(inv *cli.Invocation) cli.RunFunc {
	var sets bool
	inv.Toggle("s sets", "list secret sets only (default: no)", func(on bool) { sets = on })
	return cloudCommand(inv, currentOrg, "list this region only (default: all)", func(ctx context.Context, r *cloudRun, args []string) error {
		name := r.arguments(args, 0, r.existingName, "name")[0]
		if err := r.connect(ctx); err != nil {
			return err
		}
		if name != "" {
			return r.showSet(ctx, name)
		}
		return r.showAll(ctx, sets)
	})
}

func (r *cloudRun) showAll(ctx context.Context, setsOnly bool) error {
	region := r.given["region"]
	rows, err := r.api.List(ctx, region)
	if err == nil && len(rows) == 0 {
		err = r.unknownRegion(ctx)
	}
	if err != nil {
		return err
	}
	if setsOnly {
		rows = slices.DeleteFunc(rows, func(e cloud.Entry) bool { return e.Type == cloud.TypeImagePull })
	}
	out := listAnswer{[]secretAnswer{}}
	var table strings.Builder
	table.WriteString("NAME\tKIND\tSTATUS\tREGION\tSOURCE\n")
	for _, e := range rows {
		out.Secrets = append(out.Secrets, secretAnswer{e.Name, report.OrNull(e.Kind()), stateOf(e)})
		fmt.Fprintf(&table, "%s\t%s\t%s\t%s\t%s\n", e.Name, orDash(e.Kind()), orDash(e.Status), orDash(e.Region), orDash(e.Source))
	}
	if len(rows) == 0 && !r.inv.JSON {
		where := ""
		if region != "" {
			where = " in region " + region
		}
		r.app.Note("no secrets%s in %s", where, r.where(""))
	}
	if err := r.show(out, table.String()); err != nil || r.inv.JSON {
		return err
	}
	for _, e := range rows {
		if e.Message != "" {
			r.app.Note("%s: %s", e.Name, e.Message)
		}
	}
	return nil
}

// orDash returns s, or a hyphen if the API left it out.
func orDash(s string) string { return cmp.Or(s, "-") }

func (r *cloudRun) showSet(ctx context.Context, name string) error {
	s, err := r.getSet(ctx, name)
	if err != nil {
		return err
	}
	if region := r.given["region"]; region != "" && s.Region != region {
		return report.Errorf(report.NotFound, "%s is in region %s, not in %s", name, orDash(s.Region), region)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "Name:\t%s\nKind:\t%s\nStatus:\t%s\nRegion:\t%s\nSource:\t%s\n",
		name, cloud.KindSet, orDash(s.Status), orDash(s.Region), orDash(s.Source))
	if s.Message != "" {
		fmt.Fprintf(&table, "Message:\t%s\n", s.Message)
	}
	keys := fmt.Sprint(len(s.Keys))
	if s.Source == cloud.SourceReferenced {
		keys = "in your cluster"
	}
	fmt.Fprintf(&table, "Keys:\t%s\n", keys)
	for _, k := range s.Keys {
		fmt.Fprintln(&table, "  "+k)
	}
	return r.show(showAnswer{name, cloud.KindSet, stateOf(s.Entry), append([]string{}, s.Keys...)}, table.String())
}

// show prints v as JSON, or else the text in columns.
func (r *cloudRun) show(v any, text string) error {
	if r.inv.JSON {
		return report.WriteJSON(r.app.Stdout, v)
	}
	_, err := io.WriteString(r.app.Stdout, columns(text))
	return err
}

// columns aligns what tabs separate.
func columns(text string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	io.WriteString(w, report.Printable(text))
	w.Flush()
	return b.String()
}

// getSet reads a secret set.
func (r *cloudRun) getSet(ctx context.Context, name string) (*cloud.Set, error) {
	s, err := r.api.Get(ctx, name)
	return s, r.suggest(ctx, name, r.explain(ctx, name, err, report.NotFound))
}

// suggest adds to the failure of a name that does not exist one that does.
func (r *cloudRun) suggest(ctx context.Context, name string, err error) error {
	if report.HasCode(err, report.NotFound) && report.As(err).HTTPStatus == 404 {
		return report.Reword(err, "%v%s", err, report.DidYouMean(r.like(ctx, name)))
	}
	return err
}

// explain explains an error from reading a secret set. The API answers 400 for an image
// pull secret, but also for other reasons; the listing tells them apart. code is the code of
// the failure if it is one.
func (r *cloudRun) explain(ctx context.Context, name string, err error, code string) error {
	switch {
	case report.HasCode(err, report.NotFound):
		return report.Reword(err, "no secret set %s in %s", name, r.where(""))
	case cloud.IsBadRequest(err):
		if e, _ := r.api.Find(ctx, name); e != nil && e.Type == cloud.TypeImagePull {
			f := report.Reword(err, "%s is an image pull secret, not a secret set", name)
			f.Code = code
			return f
		}
	}
	return err
}

// unset and delete.

// A removeResult is the JSON result of unset and delete.
type removeResult struct {
	Name    string        `json:"name"`
	Key     report.OrNull `json:"key"`
	Deleted bool          `json:"deleted"`
}

func setupUnset(inv *cli.Invocation) cli.RunFunc {
	return setupRemove(inv, "remove without asking", "name", "key")
}

func setupDelete(inv *cli.Invocation) cli.RunFunc {
	return setupRemove(inv, "delete without asking; this cannot be undone", "name")
}

// setupRemove sets up unset, with a name and a key, or delete, with a name.
func setupRemove(inv *cli.Invocation, about string, fields ...string) cli.RunFunc {
	var skip, ifExists bool
	inv.Bool("s skip", about, &skip)
	inv.Bool("if-exists", "succeed even if there is nothing to remove", &ifExists)
	return cloudCommand(inv, currentOrg, "", func(ctx context.Context, r *cloudRun, args []string) error {
		path := r.arguments(args, len(fields), r.existingName, fields...)
		name, key := path[0], strings.Join(path[1:], "")
		if key != "" && !cloud.IsKey(key) {
			r.invalid("key", "KEY", "%s", cloud.KeyRule)
		}
		r.confirmable(skip)
		if err := r.connect(ctx); err != nil {
			return err
		}
		what, err := r.describe(ctx, name, key)
		found := err == nil
		doing, done, question := "deleting "+name, "deleted", "Delete "+what+"? This cannot be undone."
		if key != "" {
			doing, done, question = "removing key "+key+" of "+name, "removed", "Remove "+what+"?"
		}
		if found && !skip {
			err = mustConfirm(ctx, r.app, question, done)
		}
		if err == nil {
			err = r.api.Remove(ctx, doing, path...)
		}
		switch {
		case ifExists && report.HasCode(err, report.NotFound) && r.api.IsGone(ctx, path...): // perhaps somebody else was faster
			return r.inv.Report(r.app, removeResult{name, report.OrNull(key), false}, "nothing to do: %v", err)
		case !found:
			return r.suggest(ctx, name, err)
		case err != nil:
			return err
		}
		return r.inv.Report(r.app, removeResult{name, report.OrNull(key), true}, "%s %s", done, what)
	})
}

// describe returns what would be removed, in words: the key or, if key is "", the secret
// set or image pull secret.
func (r *cloudRun) describe(ctx context.Context, name, key string) (string, error) {
	s, err := r.api.Get(ctx, name)
	if key == "" && cloud.IsBadRequest(err) {
		if e, _ := r.api.Find(ctx, name); e != nil {
			return kindWords(e.Kind()) + " " + name + " of " + r.where(e.Region), nil
		}
	}
	if err != nil {
		return "", r.explain(ctx, name, err, report.Rejected)
	}
	switch referenced := s.Source == cloud.SourceReferenced; {
	case referenced && key == "":
		return "the reference to Kubernetes Secret " + name + " of " + r.where(s.Region), nil
	case referenced:
		return "", referencedError(name)
	case key == "":
		return "secret set " + name + " of " + r.where(s.Region) + ", with " + report.Plural(len(s.Keys), "key"), nil
	case slices.Contains(s.Keys, key):
		return "key " + key + " of secret set " + name + " of " + r.where(s.Region), nil
	}
	near := report.DidYouMean(report.Nearest(key, s.Keys))
	return "", report.Errorf(report.NotFound, "no key %s in secret set %s of %s%s", key, name, r.where(""), near)
}

func kindWords(kind string) string {
	return cmp.Or(strings.ReplaceAll(kind, "_", " "), "secret")
}

// referencedError is for keys that only the cluster knows.
func referencedError(name string) error {
	return report.Errorf(report.Rejected, "%s refers to a Kubernetes Secret in your own cluster; read and change its keys there", name)
}

// reference.

// A referenceResult is the JSON result of reference.
type referenceResult struct {
	Name   string        `json:"name"`
	Region string        `json:"region"`
	Kind   report.OrNull `json:"kind"`
	Status report.OrNull `json:"status"`
}

func setupReference(inv *cli.Invocation) cli.RunFunc {
	return cloudCommand(inv, currentOrg, "self-hosted region of the Secret", func(ctx context.Context, r *cloudRun, args []string) error {
		name := r.arguments(args, 1, func(name string) { r.existingName(name); r.notReserved(name) }, "name")[0]
		if _, given := r.given["region"]; !given {
			r.badUsage("region", "--region", "missing")
		}
		if err := r.connect(ctx); err != nil {
			return err
		}
		e, err := r.api.Reference(ctx, name, r.given["region"])
		if err != nil {
			return err
		}
		region := cmp.Or(e.Region, r.given["region"])
		return inv.Report(r.app, referenceResult{name, region, report.OrNull(e.Kind()), report.OrNull(e.Status)},
			"registered %s %s of %s; the Secret stays in your cluster", kindWords(e.Kind()), name, r.where(region))
	})
}

// image-pull-secret.

// An imagePull is what image-pull-secret stores, and how.
type imagePull struct {
	encode bool
	wait   time.Duration

	cloud.Ref              // its region is the requested one
	host      string       // a URL
	login     cloud.Secret // not encoded; empty until it is known
}

// An imagePullResult is the JSON result of image-pull-secret.
type imagePullResult struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Host    string        `json:"host"`
	Created bool          `json:"created"`
	Status  report.OrNull `json:"status"`
}

func setupImagePull(inv *cli.Invocation) cli.RunFunc {
	o := &imagePull{encode: true}
	inv.Toggle("encode", "encode USER:PASSWORD in base64 (default: yes); --no-encode sends it unchanged", func(on bool) { o.encode = on })
	waitOption(inv, "the secret", &o.wait)
	return cloudCommand(inv, currentOrg, regionOfNew("secret"), o.do)
}

func (o *imagePull) do(ctx context.Context, r *cloudRun, args []string) error {
	if err := o.read(ctx, r, args); err != nil {
		return err
	}
	if err := r.signIn(ctx); err != nil {
		return err
	}
	if o.login.Empty() {
		if err := o.ask(ctx, r); err != nil {
			return err
		}
	}
	value := o.login
	if o.encode {
		value = cloud.NewSecret(base64.StdEncoding.EncodeToString([]byte(value.Reveal())))
	}
	if err := r.api.FindOrganization(ctx, nil); err != nil {
		return err
	}
	was, err := r.api.Find(ctx, o.Name)
	region := o.Region
	switch {
	case err != nil:
	case was == nil:
		err = r.unknownRegion(ctx)
	case was.Type != cloud.TypeImagePull:
		err = report.Errorf(report.Rejected, "a %s named %s already exists; nothing was written", kindWords(was.Kind()), o.Name)
	default:
		err = r.sameRegion(o.Name, was.Region)
		region = cmp.Or(region, was.Region)
	}
	if err != nil {
		return err
	}
	now, err := r.api.StoreImagePull(ctx, o.Ref, o.host, value)
	if err != nil {
		return err
	}
	region = cmp.Or(now, region)
	stored := fmt.Sprintf("stored image pull secret %s for %s in %s (%s)", o.Name, o.host, r.where(region), newOrReplaced(was != nil, "updated"))
	return r.finish(ctx, o.Ref, o.wait, stored, func(status string) any {
		return imagePullResult{o.Name, report.OrNull(region), o.host, was == nil, report.OrNull(status)}
	})
}

// read checks the command line. The login stays empty if it is still to be asked for.
func (o *imagePull) read(ctx context.Context, r *cloudRun, args []string) (err error) {
	named := r.arguments(args, 2, r.newName, "name", "host", "credentials")
	o.Ref = cloud.Ref{Name: named[0], Type: cloud.TypeImagePull, Region: r.given["region"]}
	if named[1] != "" {
		var ok bool
		if o.host, ok = registryURL(named[1]); !ok {
			r.invalid("host", "HOST", "must be a bare host, or an http or https URL without user, query and fragment")
		}
	}
	switch {
	case len(args) > 2:
		o.login = cloud.NewSecret(named[2])
	case o.host != "" && !canAsk(r.app): // without a host there is nothing to read
		o.login, err = secretFromStdin(ctx, r.app, "credentials", true)
		if f, ok := errors.AsType[*report.Failure](err); ok && f.Code == report.Usage {
			r.usageProblems = append(r.usageProblems, f.Problems...)
		} else if err != nil {
			return err
		}
	}
	if !o.login.Empty() {
		o.checkLogin(r)
	}
	return r.faults(ctx)
}

// checkLogin checks USER:PASSWORD. The password may have several lines: registries of Google
// take a key file there.
func (o *imagePull) checkLogin(r *cloudRun) {
	login := o.login.Reveal()
	user, password, ok := strings.Cut(login, ":")
	control := func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune("\t\r\n", c) }
	switch {
	case !utf8.ValidString(login) || strings.ContainsFunc(login, control) || o.encode && strings.ContainsFunc(user, unicode.IsControl):
		r.invalid("credentials", "CREDENTIALS", "must not contain control characters or invalid UTF-8")
	case o.encode && (!ok || user == "" || password == ""):
		r.invalid("credentials", "CREDENTIALS", "must be USER:PASSWORD; use --no-encode to send other text unchanged")
	}
}

// ask asks for the login, then for the password if only a user was entered.
func (o *imagePull) ask(ctx context.Context, r *cloudRun) (err error) {
	question := "USER:PASSWORD for " + o.host + " (hidden):"
	if !o.encode {
		question = "Encoded credentials for " + o.host + " (hidden):"
	}
	o.login, err = hidden(ctx, r.app, question, true, func(typed string) bool { return !o.encode || strings.Contains(typed, ":") })
	if err != nil {
		return err
	}
	if o.encode && !o.login.Empty() && !strings.Contains(o.login.Reveal(), ":") {
		password, err := hidden(ctx, r.app, "Password for that user (hidden):", true, always)
		if err != nil {
			return err
		}
		o.login = cloud.NewSecret(o.login.Reveal() + ":" + password.Reveal())
	}
	if o.login.Empty() {
		r.badUsage("credentials", "CREDENTIALS", "missing")
	} else {
		o.checkLogin(r)
	}
	return r.faults(ctx)
}

// registryURL returns the URL of a registry; the default scheme is https.
func registryURL(s string) (string, bool) {
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	ok := err == nil && (u.Scheme == "https" || u.Scheme == "http") && isHost(u.Hostname()) &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(s, "#") &&
		!strings.ContainsFunc(s, unicode.IsSpace) && !strings.ContainsFunc(s, unicode.IsControl)
	return s, ok
}

// isHost reports whether s is a host name or an IP address.
func isHost(s string) bool {
	return cloud.IsName(s, 253, ".-") || s != "" && strings.Trim(s, "0123456789abcdefABCDEF:.") == ""
}
