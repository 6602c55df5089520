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

	"vbot/internal/cloud"
)

// maxFile is the maximum size of a secrets file, in bytes.
const maxFile = 16 << 20

const helpSecrets = `List, set, unset and delete secrets. Values are never shown.

Usage: vbot cloud secrets COMMAND [ARGUMENTS] [OPTIONS]

Commands:
  list                 list secret sets and image pull secrets, or the keys of a set
  set                  create a set or add keys to one
  unset                remove a key from a set
  delete               delete a set or an image pull secret
  image-pull-secret    store the credentials of a private image registry

Options:
      --json    print the result as JSON
  -h, --help    print this help

Examples:
  vbot cloud secrets list
  vbot cloud secrets set my-bot --file server/.env
`

const helpList = `List secret sets and image pull secrets, or the keys of a set.

Usage:
  vbot cloud secrets list [OPTIONS]         name, kind, status and region of each
  vbot cloud secrets list NAME [OPTIONS]    the keys of a set, without values

Options:
  -s, --sets, --no-sets     list secret sets only (default: no)
  -r, --region REGION       list this region only (default: all)
  -o, --organization ORG    organization (default: the current one)
      --json                print the result as JSON
  -h, --help                print this help

The kind is secret_set or image_pull_secret; the status is ready, pending or failed.
Other values from the API are shown unchanged, missing ones as a hyphen.

Examples:
  vbot cloud secrets list
  vbot cloud secrets list --sets --region us-west
  vbot cloud secrets list my-bot --json
`

const helpSet = `Create a secret set or add keys to one. Other keys of the set stay.

Usage: vbot cloud secrets set NAME [KEY | KEY=VALUE]... [OPTIONS]

NAME is 1 to 63 letters and digits, with hyphens only between them. There are four
ways to pass a value. The first three keep it out of the shell's history and out of
the process list, which every user of the machine can read:

  KEY            ask for the value in a hidden prompt
  --file FILE    read pairs from a file such as .env
  --file -       read pairs from stdin
  KEY=VALUE      take the value from the command line

One argument may hold several pairs, with double quotes around values that contain
white space: 'A=1 B="two words"'. In a file, each line is KEY=VALUE, with comments and
'single' or "double" quotes as in other dotenv files. Nothing is expanded.

Options:
  -f, --file FILE           read pairs from a file; - is stdin
  -s, --skip                store without asking
      --dry-run             show what would be stored; store nothing
      --wait[=DURATION]     wait until the set is ready (default: no; bare --wait: 2m)
  -r, --region REGION       region of a new set; must be the region of the agents that
                            use it (default: the organization's)
  -o, --organization ORG    organization (default: the current one)
      --no-input            never ask
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud secrets set my-bot OPENAI_API_KEY
  vbot cloud secrets set my-bot --file server/.env
  pass show my-bot | vbot cloud secrets set my-bot --file - --skip --wait
  vbot cloud secrets set my-bot LOG_LEVEL=debug GREETING='hello there'
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

const helpDelete = `Delete a secret set with all its keys, or an image pull secret. This cannot be undone.

Usage: vbot cloud secrets delete NAME [OPTIONS]

Options:
  -s, --skip                delete without asking
  -o, --organization ORG    organization (default: the current one)
      --no-input            never ask
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud secrets delete old-bot
`

const helpImagePull = `Store the credentials of a private image registry.

Usage: vbot cloud secrets image-pull-secret NAME HOST [USER:PASSWORD] [OPTIONS]

NAME is 1 to 63 letters and digits, with hyphens only between them. HOST is a bare
host or an https URL. An existing secret of that name is updated without asking.

Without USER:PASSWORD, vbot asks for it in a hidden prompt or, if stdin is not a
terminal, reads the first line of stdin. Both keep the password out of the shell's
history and out of the process list, which every user of the machine can read.

Options:
      --encode, --no-encode    encode USER:PASSWORD in base64 (default: yes);
                               otherwise send it unchanged
      --wait[=DURATION]        wait until it is ready (default: no; bare --wait: 2m)
  -r, --region REGION          region of a new secret; must be the region of the agents
                               that use it (default: the organization's)
  -o, --organization ORG       organization (default: the current one)
      --no-input               never ask
      --json                   print the result as JSON
  -h, --help                   print this help

Examples:
  vbot cloud secrets image-pull-secret hub ghcr.io
  printf '%s\n' "$USER_AND_TOKEN" | vbot cloud secrets image-pull-secret hub ghcr.io
`

// Arguments.

// A checker collects the problems of a command line. Messages never repeat an
// argument, which may be a misplaced secret.
type checker struct {
	usage []problem // missing arguments and answers: codeUsage
	wrong []problem // invalid values: codeInvalidConfig
}

func (ch *checker) missing(field, format string, args ...any) {
	ch.usage = append(ch.usage, problem{Field: field, where: strings.ToUpper(field), Message: fmt.Sprintf(format, args...)})
}

func (ch *checker) invalid(field, where, format string, args ...any) {
	ch.wrong = append(ch.wrong, problem{Field: field, where: where, Message: fmt.Sprintf(format, args...)})
}

// err returns all problems as one failure, or nil.
func (ch *checker) err() error {
	switch {
	case len(ch.wrong) > 0:
		return &failure{Code: codeInvalidConfig, Problems: append(ch.usage, ch.wrong...)}
	case len(ch.usage) > 0:
		return &failure{Code: codeUsage, Problems: ch.usage}
	}
	return nil
}

// names splits args into the required arguments called fields, "" for those that
// are missing, and the rest. most is the maximum number of args, or -1.
func (ch *checker) names(args []string, most int, fields ...string) (named, rest []string) {
	for i, field := range fields {
		if i < len(args) {
			named = append(named, args[i])
			continue
		}
		named = append(named, "")
		ch.missing(field, "is missing")
	}
	if most >= 0 && len(args) > most {
		ch.missing("arguments", "%d too many", len(args)-most)
	}
	return named, args[min(len(fields), len(args)):]
}

// newName checks the name of a secret that vbot may create.
func (ch *checker) newName(name string) {
	if name != "" && !cloud.IsName(name, 63, "-") {
		ch.invalid("name", "NAME", "must be 1 to 63 letters and digits, with hyphens only between them")
	} else if strings.EqualFold(name, "references") {
		ch.invalid("name", "NAME", "the API reserves the name references")
	}
}

// existingName checks the name of a secret that another tool may have created.
func (ch *checker) existingName(name string) {
	if name != "" && !cloud.IsName(name, 63, "-._") {
		ch.invalid("name", "NAME", "must be 1 to 63 letters and digits, with hyphens, dots and underscores only between them")
	}
}

// empty reports arguments that are given but empty.
func (ch *checker) empty(args []string, fields ...string) {
	for i, field := range fields {
		if i < len(args) && args[i] == "" {
			ch.invalid(field, strings.ToUpper(field), "is empty")
		}
	}
}

// confirmation checks that vbot can ask for confirmation, unless skip is set.
func (ch *checker) confirmation(a *app, skip, noInput bool, what string) {
	if !skip && (noInput || !canAsk(a)) {
		ch.usage = append(ch.usage, problem{Field: "skip", Message: what + " needs confirmation, and vbot cannot ask; use --skip to go ahead without it"})
	}
}

// A waitFlag is --wait, --wait=DURATION or --wait=false.
type waitFlag struct{ limit *time.Duration }

const defaultWait = 2 * time.Minute

func (w waitFlag) String() string   { return "" }
func (w waitFlag) IsBoolFlag() bool { return true }
func (w waitFlag) takes() string    { return "a duration such as 90s" }
func (w waitFlag) accepts(s string) bool {
	_, err := time.ParseDuration(s)
	_, bare := time.ParseDuration(s + "s") // also catch --wait 30
	return s == "true" || s == "false" || err == nil || bare == nil
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
	boolFlag(inv.set, &sets, "sets")
	boolFlag(inv.set, &sets, "s")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		var ch checker
		ch.names(args, 1)
		ch.empty(args, "name")
		ch.wrong = append(ch.wrong, sc.problems()...)
		if len(args) > 0 {
			ch.existingName(args[0])
		}
		if err := ch.err(); err != nil {
			return err
		}
		c, err := connect(ctx, a, sc)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			return c.showSet(ctx, args[0], sc.regionGiven(), inv.json)
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
		type entry struct {
			Name    string `json:"name"`
			Kind    orNull `json:"kind"`
			Status  orNull `json:"status"`
			Region  orNull `json:"region"`
			Message orNull `json:"message"`
		}
		answer := struct {
			Secrets []entry `json:"secrets"`
		}{[]entry{}}
		for _, r := range rows {
			answer.Secrets = append(answer.Secrets, entry{r.Name, orNull(r.Kind()), orNull(r.Status), orNull(r.Region), orNull(r.Message)})
		}
		return writeJSON(c.app.stdout, answer)
	}
	if len(rows) == 0 {
		where := ""
		if region != "" {
			where = " in region " + region
		}
		c.app.note("no secrets%s in %s", where, c.orgLabel())
	}
	w := tabwriter.NewWriter(c.app.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tSTATUS\tREGION")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, orDash(r.Kind()), orDash(r.Status), orDash(r.Region))
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
		return writeJSON(c.app.stdout, struct {
			Name    string   `json:"name"`
			Kind    string   `json:"kind"`
			Status  orNull   `json:"status"`
			Region  orNull   `json:"region"`
			Message orNull   `json:"message"`
			Keys    []string `json:"keys"`
		}{name, cloud.KindSet, orNull(s.Status), orNull(s.Region), orNull(s.Message), append([]string{}, s.Keys...)})
	}
	w := tabwriter.NewWriter(c.app.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Name:\t%s\nKind:\t%s\nStatus:\t%s\nRegion:\t%s\n", name, cloud.KindSet, orDash(s.Status), orDash(s.Region))
	if s.Message != "" {
		fmt.Fprintf(w, "Message:\t%s\n", s.Message)
	}
	fmt.Fprintf(w, "Keys:\t%d\n", len(s.Keys))
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

// set.

type setOptions struct {
	scope
	file    *string
	skip    bool
	dryRun  bool
	noInput bool
	wait    time.Duration
}

func setupSet(inv *invocation) runFunc {
	o := &setOptions{}
	o.orgFlag(inv)
	o.regionFlag(inv)
	textFlag(inv.set, func(s string) { o.file = &s }, "file", "f")
	boolFlag(inv.set, &o.skip, "skip", "s")
	boolFlag(inv.set, &o.dryRun, "dry-run")
	boolFlag(inv.set, &o.noInput, "no-input")
	inv.set.Var(waitFlag{&o.wait}, "wait", "")
	return o.run
}

func (o *setOptions) run(ctx context.Context, a *app, inv *invocation, args []string) error {
	name, pairs, err := o.read(ctx, a, args)
	if err != nil {
		return err
	}
	c, err := signIn(a, o.scope)
	if err != nil {
		return err
	}
	if err := o.ask(ctx, a, name, pairs); err != nil {
		return err
	}
	for _, p := range pairs {
		c.Hide(p.Value)
		c.Keep(p.Key)
	}
	if err := c.findOrganization(ctx, nil); err != nil {
		return err
	}
	s := &setUpdate{session: c, name: name, region: o.regionGiven(), pairs: pairs}
	if err := s.load(ctx); err != nil {
		return err
	}
	if o.dryRun {
		if inv.json {
			return writeJSON(a.stdout, s.result(keyPlanned))
		}
		_, err := io.WriteString(a.stdout, printable(s.plan()))
		return err
	}
	if !o.skip {
		a.note("%s", strings.TrimSuffix(s.plan(), "\n"))
		if err := mustConfirm(ctx, a, "Store "+plural(len(pairs), "key")+"?", "nothing was stored"); err != nil {
			return err
		}
	}
	if err := s.store(ctx); err != nil {
		return err
	}
	a.note("stored in secret set %s of %s%s:", name, c.orgLabel(), inRegion(s.region))
	for _, k := range s.result(keyStored).Keys {
		a.note("  %s  %s", k.Key, newOrReplaced(k.Replaced, "replaced"))
	}
	if o.wait > 0 {
		if s.status, err = c.waitReady(ctx, name, o.wait, s.readiness); err != nil {
			return withResult(err, s.result(keyStored))
		}
	}
	return inv.report(a, s.result(keyStored))
}

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

// read checks the command line and reads the file. Pairs whose value is still to be
// asked for have an empty value.
func (o *setOptions) read(ctx context.Context, a *app, args []string) (string, []cloud.Pair, error) {
	var ch checker
	named, rest := ch.names(args, -1, "name")
	name := named[0]
	ch.empty(args, "name")
	ch.newName(name)
	ch.wrong = append(ch.wrong, o.problems()...)
	if !o.dryRun {
		ch.confirmation(a, o.skip, o.noInput, "set")
	}
	var pairs []pair
	if o.file != nil {
		pairs = ch.filePairs(ctx, a, *o.file)
	}
	if ctx.Err() != nil {
		return "", nil, interrupted()
	}
	if o.file == nil && len(rest) == 0 && len(args) > 0 {
		ch.missing("secrets", "nothing to store; pass KEY, KEY=VALUE or --file")
	}
	given := ch.argumentPairs(rest)
	if len(pairs) > 0 {
		// A key may come from the file or the command line, not both.
		for _, p := range given {
			if i := slices.IndexFunc(pairs, func(q pair) bool { return q.Key == p.Key }); i >= 0 {
				ch.invalid(p.Key, p.Key, "is given twice: as an argument and on line %d of the file", pairs[i].line)
			}
		}
	}
	for _, p := range given {
		if p.Value.Empty() && !o.dryRun && (o.noInput || !canAsk(a)) {
			ch.usage = append(ch.usage, problem{Field: p.Key, where: p.Key, Message: "has no value, and vbot cannot ask for it; use --file - or KEY=VALUE"})
		}
	}
	var all []cloud.Pair
	for _, p := range append(pairs, given...) {
		all = append(all, p.Pair)
	}
	return name, all, ch.err()
}

// filePairs reads the pairs of a file; "-" is stdin.
func (ch *checker) filePairs(ctx context.Context, a *app, name string) []pair {
	if name == "-" && stdinEchoes(a) {
		// The terminal would echo the values.
		ch.invalid("file", "--file", "stdin is a terminal, which would show the values; pass KEY to enter its value in a hidden prompt")
		return nil
	}
	data, err := readAll(ctx, a, name, maxFile)
	if err != nil {
		ch.invalid("file", "--file", "%s: %v", name, err)
		return nil
	}
	pairs, faults := parseDotenv(string(data))
	if name == "-" {
		name = "stdin"
	}
	for _, f := range faults {
		at := fmt.Sprintf("%s:%d", name, f.line)
		ch.invalid(at, at, "%s", f.message)
	}
	if len(pairs) == 0 && len(faults) == 0 {
		ch.invalid("file", "--file", "%s contains no KEY=VALUE", name)
	}
	return pairs
}

// argumentPairs reads the arguments after the name.
func (ch *checker) argumentPairs(args []string) (pairs []pair) {
	if len(args) == 1 {
		several, err := splitPairs(args[0])
		if err != nil {
			ch.invalid("secrets", "SECRETS", "%v", err)
			return nil
		}
		for i, p := range several {
			pairs = ch.add(pairs, p, i+1, p.Value.Empty())
		}
		if several != nil {
			return pairs
		}
	}
	for i, arg := range args {
		p, ok := onePair(arg)
		pairs = ch.add(pairs, p, i+1, ok && p.Value.Empty())
	}
	return pairs
}

// add appends the pair if it is valid. n is its number, from 1, for messages.
func (ch *checker) add(pairs []pair, p pair, n int, empty bool) []pair {
	switch {
	case !cloud.IsKey(p.Key):
		// Do not repeat it: it may be a value without its key.
		ch.invalid("secrets", fmt.Sprintf("pair %d", n), "is neither KEY nor KEY=VALUE; %s", cloud.KeyRule)
	case slices.ContainsFunc(pairs, func(q pair) bool { return q.Key == p.Key }):
		ch.invalid(p.Key, p.Key, "is given twice")
	case empty:
		ch.invalid(p.Key, p.Key, "the value is empty")
	case valueFault(p.Value) != "":
		ch.invalid(p.Key, p.Key, "%s", valueFault(p.Value))
	default:
		return append(pairs, p)
	}
	return pairs
}

// valueFault returns why a value cannot be stored unchanged, or "".
func valueFault(value cloud.Secret) string {
	if !utf8.ValidString(value.Reveal()) {
		return "the value is not valid UTF-8" // JSON would change it
	}
	if strings.ContainsRune(value.Reveal(), 0) {
		return "the value contains a NUL character"
	}
	return ""
}

// ask asks for the missing values.
func (o *setOptions) ask(ctx context.Context, a *app, name string, pairs []cloud.Pair) error {
	if o.dryRun {
		return nil // it only shows names
	}
	var ch checker
	for i, p := range pairs {
		if !p.Value.Empty() {
			continue
		}
		value, err := hidden(ctx, a, p.Key+" for "+name+" (hidden):")
		if err != nil {
			return err
		}
		pairs[i].Value = value
		if value.Empty() {
			ch.invalid(p.Key, p.Key, "the value is empty")
		} else if fault := valueFault(value); fault != "" {
			ch.invalid(p.Key, p.Key, "%s", fault)
		} else if strings.HasPrefix(value.Reveal(), "-----BEGIN ") {
			// The rest of the key would go to whatever reads the terminal next.
			return &failure{Code: codeInvalidConfig, Problems: []problem{{Field: p.Key, where: p.Key,
				Message: "a key of several lines cannot be typed; put it into a file in double quotes, and use --file"}}}
		}
	}
	return ch.err()
}

// A setUpdate stores pairs in a secret set.
type setUpdate struct {
	*session
	name   string
	region string // as requested; after load or store, the actual one
	pairs  []cloud.Pair
	was    *cloud.Set // nil if the set does not exist yet
	status string
}

// Values of keyResult.Result.
const (
	keyPlanned  = "planned"
	keyStored   = "stored"
	keyFailed   = "failed"
	keyNotTried = "not_tried"
)

// A setResult is the JSON result of set.
type setResult struct {
	Name    string      `json:"name"`
	Region  orNull      `json:"region"`
	Created bool        `json:"created"`
	Status  orNull      `json:"status"`
	Keys    []keyResult `json:"keys"`
}

type keyResult struct {
	Key      string `json:"key"`
	Result   string `json:"result"`
	Replaced bool   `json:"replaced"`
}

// result returns the JSON result with the same result for every key.
func (s *setUpdate) result(each string) setResult {
	r := setResult{s.name, orNull(s.region), s.was == nil, orNull(s.status), []keyResult{}}
	for _, p := range s.pairs {
		r.Keys = append(r.Keys, keyResult{p.Key, each, s.was != nil && slices.Contains(s.was.Keys, p.Key)})
	}
	return r
}

// load reads the existing set, and refuses what the API would refuse.
func (s *setUpdate) load(ctx context.Context) error {
	was, err := s.Get(ctx, s.name)
	if cloud.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return s.setError(ctx, s.name, err, codeRejected)
	}
	if was.Source == "referenced" {
		return &failure{Code: codeRejected, Message: s.name + " refers to a secret in your own cluster; set its keys there"}
	}
	if s.region != "" && was.Region != "" && s.region != was.Region {
		return wrongRegion(s.name, was.Region, s.region)
	}
	s.was, s.region = was, cmp.Or(s.region, was.Region)
	return nil
}

// wrongRegion returns the error for storing in another region: secrets cannot move.
func wrongRegion(name, is, asked string) error {
	return &failure{Code: codeRejected, Problems: []problem{{Field: "region", where: "--region",
		Message: fmt.Sprintf("%s is in %s and cannot be stored in %s; nothing was written", name, is, asked)}}}
}

// plan describes what would be stored, without values.
func (s *setUpdate) plan() string {
	var b strings.Builder
	kind := "new secret set "
	if s.was != nil {
		kind = "secret set "
	}
	fmt.Fprintf(&b, "%s%s of %s%s:\n", kind, s.name, s.orgLabel(), inRegion(s.region))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range s.result(keyPlanned).Keys {
		fmt.Fprintf(w, "  %s\t%s\n", k.Key, newOrReplaced(k.Replaced, "replaces the current value"))
	}
	w.Flush()
	return b.String()
}

// store sends all pairs in one request. If the API refuses that form, it sends one
// request per pair.
func (s *setUpdate) store(ctx context.Context) error {
	region, err := s.StorePairs(ctx, s.name, s.region, s.pairs)
	if cloud.IsBadRequest(err) {
		return s.storeOneByOne(ctx, err)
	}
	s.region = cmp.Or(region, s.region)
	return err
}

// storeOneByOne stores the pairs in order and stops at the first failure. whole is
// the error of the single request for all pairs.
func (s *setUpdate) storeOneByOne(ctx context.Context, whole error) error {
	result := s.result(keyNotTried)
	for i, p := range s.pairs {
		region, err := s.StorePair(ctx, s.name, s.region, p)
		if err == nil {
			result.Keys[i].Result = keyStored
			s.region = cmp.Or(region, s.region)
			continue
		}
		if i == 0 {
			if e := cloud.AsError(err); e != nil && e.Message != cloud.AsError(whole).Message {
				return &failure{Code: e.Code(), Message: whole.Error() + "; " + e.Error(), err: err}
			}
			return err
		}
		f := *asFailure(err)
		if f.Code == codeInterrupted {
			f.Message = fmt.Sprintf("interrupted; %d of %d keys are stored in %s", i, len(s.pairs), s.name)
		} else {
			f.Code = codePartial
			f.Message = fmt.Sprintf("stored %d of %d keys in %s: %v", i, len(s.pairs), s.name, err)
		}
		f.hint = "run the same command again to finish"
		result.Keys[i].Result = keyFailed // or unconfirmed
		f.Problems = nil
		for _, k := range result.Keys {
			if k.Result == keyStored {
				s.app.note("  %s  stored", k.Key)
			} else {
				f.Problems = append(f.Problems, problem{Field: k.Key, where: k.Key, Message: strings.ReplaceAll(k.Result, "_", " ")})
			}
		}
		result.Region = orNull(s.region)
		f.result = result
		return &f
	}
	return nil
}

// readiness returns the status of the set and the API's message about it.
func (s *setUpdate) readiness(ctx context.Context) (status, message string, err error) {
	now, err := s.Get(ctx, s.name)
	if err == nil {
		status, message = now.Status, now.Message
	}
	return status, message, err
}

// waitReady polls until the status is ready, for at most limit. It returns the last
// status.
func (c *session) waitReady(ctx context.Context, name string, limit time.Duration, poll func(context.Context) (status, message string, err error)) (string, error) {
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
		var status, message string
		err := c.app.pause(ctx, min(pause, left))
		if err == nil {
			status, message, err = poll(timed)
		}
		switch {
		case ctx.Err() != nil:
			return last, &failure{Code: codeInterrupted, Message: "interrupted; " + stored + "it may not be ready"}
		case timed.Err() != nil, cloud.IsNotFound(err):
			continue // a new secret may take a moment to appear
		case err != nil:
			f := *asFailure(err)
			f.Message = stored + "it may not be ready: " + f.Message
			return last, &f
		}
		last = status
		switch status {
		case "ready":
			c.app.note("%s is ready", name)
			return status, nil
		case "failed":
			if message != "" {
				message = ": " + message
			}
			return status, &failure{Code: codeFailed, Message: stored + "its status is failed" + message}
		}
	}
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
	var skip, noInput bool
	sc.orgFlag(inv)
	boolFlag(inv.set, &skip, "skip", "s")
	boolFlag(inv.set, &noInput, "no-input")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		var ch checker
		named, _ := ch.names(args, len(fields), fields...)
		name, key := named[0], ""
		ch.empty(args, fields...)
		ch.existingName(name)
		if len(named) > 1 {
			key = named[1]
		}
		if key != "" && !cloud.IsKey(key) {
			ch.invalid("key", "KEY", "is not a key; %s", cloud.KeyRule)
		}
		ch.wrong = append(ch.wrong, sc.problems()...)
		ch.confirmation(a, skip, noInput, inv.cmd.name)
		if err := ch.err(); err != nil {
			return err
		}
		c, err := connect(ctx, a, sc)
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

// mustConfirm asks for confirmation. If the answer is no, it fails with the message
// declined.
func mustConfirm(ctx context.Context, a *app, question, declined string) error {
	yes, err := confirm(ctx, a, question)
	if err == nil && !yes {
		err = &failure{Code: codeDeclined, Message: declined}
	}
	return err
}

// image-pull-secret.

type imagePullOptions struct {
	scope
	encode  bool
	noInput bool
	wait    time.Duration
}

func setupImagePull(inv *invocation) runFunc {
	o := &imagePullOptions{encode: true}
	o.orgFlag(inv)
	o.regionFlag(inv)
	boolFlag(inv.set, &o.encode, "encode")
	boolFlag(inv.set, &o.noInput, "no-input")
	inv.set.Var(waitFlag{&o.wait}, "wait", "")
	return o.run
}

func (o *imagePullOptions) run(ctx context.Context, a *app, inv *invocation, args []string) error {
	name, host, login, err := o.read(ctx, a, args)
	if err != nil {
		return err
	}
	c, err := signIn(a, o.scope)
	if err != nil {
		return err
	}
	if login.Empty() {
		if login, err = o.ask(ctx, a, host); err != nil {
			return err
		}
	}
	value := login
	if o.encode {
		value = cloud.NewSecret(base64.StdEncoding.EncodeToString([]byte(login.Reveal())))
		_, password, _ := strings.Cut(login.Reveal(), ":")
		c.Hide(cloud.NewSecret(password))
	}
	c.Hide(login, value)
	if err := c.findOrganization(ctx, nil); err != nil {
		return err
	}
	was, err := c.Find(ctx, name)
	if err != nil {
		return err
	}
	region := o.regionGiven()
	if was != nil {
		if was.Type != cloud.TypeImagePull {
			return &failure{Code: codeRejected, Message: fmt.Sprintf("a %s named %s already exists; nothing was written", kindWords(was.Kind()), name)}
		}
		if region != "" && was.Region != "" && region != was.Region {
			return wrongRegion(name, was.Region, region)
		}
		region = cmp.Or(region, was.Region)
	}
	now, err := c.StoreImagePull(ctx, name, region, host, value)
	if err != nil {
		return err
	}
	result := struct {
		Name    string `json:"name"`
		Region  orNull `json:"region"`
		Host    string `json:"host"`
		Created bool   `json:"created"`
		Status  orNull `json:"status"`
	}{name, orNull(cmp.Or(now, region)), host, was == nil, ""}
	a.note("stored image pull secret %s for %s in %s%s (%s)", name, host, c.orgLabel(), inRegion(string(result.Region)), newOrReplaced(was != nil, "updated"))
	if o.wait > 0 {
		status, err := c.waitReady(ctx, name, o.wait, func(ctx context.Context) (string, string, error) {
			r, err := c.Find(ctx, name)
			if err != nil || r == nil {
				return "", "", err
			}
			return r.Status, r.Message, nil
		})
		if result.Status = orNull(status); err != nil {
			return withResult(err, result)
		}
	}
	return inv.report(a, result)
}

// read checks the command line. login is empty if it is still to be asked for.
func (o *imagePullOptions) read(ctx context.Context, a *app, args []string) (name, host string, login cloud.Secret, err error) {
	var ch checker
	named, rest := ch.names(args, 3, "name", "host")
	name = named[0]
	ch.empty(args, "name", "host", "credentials")
	ch.newName(name)
	ch.wrong = append(ch.wrong, o.problems()...)
	if named[1] != "" {
		var ok bool
		if host, ok = registry(named[1]); !ok {
			ch.invalid("host", "HOST", "must be a bare host, or an http or https URL without user, query and fragment")
		}
	}
	switch {
	case len(rest) > 0:
		login = cloud.NewSecret(rest[0])
	case len(args) < 2:
		// Without a host there is nothing to ask for.
	case !o.noInput && canAsk(a):
		return name, host, cloud.Secret{}, ch.err()
	default:
		login, err = secretLine(ctx, a, true, "credentials", "")
		if f, ok := errors.AsType[*failure](err); ok && f.Code == codeUsage {
			ch.usage = append(ch.usage, f.Problems...)
		} else if err != nil {
			return "", "", cloud.Secret{}, err
		}
	}
	if !login.Empty() {
		ch.credentials(login, o.encode)
	}
	return name, host, login, ch.err()
}

// credentials checks the USER:PASSWORD argument.
func (ch *checker) credentials(login cloud.Secret, encode bool) {
	user, password, ok := strings.Cut(login.Reveal(), ":")
	switch {
	case !utf8.ValidString(login.Reveal()) || strings.ContainsFunc(login.Reveal(), unicode.IsControl):
		ch.invalid("credentials", "CREDENTIALS", "contain a control character or invalid UTF-8")
	case encode && (!ok || user == "" || password == ""):
		ch.invalid("credentials", "CREDENTIALS", "are not USER:PASSWORD; use --no-encode to send other text unchanged")
	}
}

// ask asks for the credentials, then for the password if only a user was entered.
func (o *imagePullOptions) ask(ctx context.Context, a *app, host string) (cloud.Secret, error) {
	question := "USER:PASSWORD for " + host + " (hidden):"
	if !o.encode {
		question = "Encoded credentials for " + host + " (hidden):"
	}
	login, err := hidden(ctx, a, question)
	if err != nil {
		return cloud.Secret{}, err
	}
	if o.encode && !login.Empty() && !strings.Contains(login.Reveal(), ":") {
		password, err := hidden(ctx, a, "Password for that user (hidden):")
		if err != nil {
			return cloud.Secret{}, err
		}
		login = cloud.NewSecret(login.Reveal() + ":" + password.Reveal())
	}
	var ch checker
	if login.Empty() {
		ch.missing("credentials", "is missing")
	} else {
		ch.credentials(login, o.encode)
	}
	return login, ch.err()
}

// registry returns the URL of a registry; the default scheme is https.
func registry(s string) (string, bool) {
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
