package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"vbot/internal/cloud"
)

const helpSet = `Create a secret set or add keys to one. Other keys of the set stay.

Usage: vbot cloud secrets set NAME [KEY | KEY=VALUE]... [OPTIONS]

NAME is 1 to 63 letters and digits, with hyphens only between them. There are
four ways to pass a value. The first three keep it out of the shell's history
and out of the process list, which every user of the machine can read:

  KEY                      ask for the value in a hidden prompt
  --file FILE              read pairs from a file such as .env; - is stdin
  --value-file KEY=PATH    the file PATH is the value, such as a private key
  KEY=VALUE                take the value from the command line

One argument may hold several pairs, with double quotes around values that
contain white space: 'A=1 B="two words"'. In FILE, each line is KEY=VALUE, with
comments and 'single' or "double" quotes as in other dotenv files; or FILE is
one JSON object of strings. Nothing is expanded.

Options:
  -f, --file FILE              read pairs from a file; - is stdin
      --value-file KEY=PATH    store a file byte for byte; repeatable
      --skip-empty             leave out keys of FILE that have no value
      --prune                  remove keys of the set that are neither given nor
                               in FILE
  -s, --skip                   store without asking
      --dry-run                show what would be stored; store nothing
      --wait[=DURATION]        wait until the set is ready, at most DURATION
                               (default: no; without DURATION: 2m)
  -r, --region REGION          region of a new set; must be the region of the
                               agents that use it (default: the organization's)
  -o, --organization ORG       organization (default: the current one)
      --no-input               never ask
      --json                   print the result as JSON
  -h, --help                   print this help

Examples:
  vbot cloud secrets set my-bot OPENAI_API_KEY
  vbot cloud secrets set my-bot --file server/.env --skip-empty
  vbot cloud secrets set my-bot --value-file GOOGLE_CREDENTIALS_JSON=key.json
  pass show my-bot | vbot cloud secrets set my-bot --file - --skip --wait
  vbot cloud secrets set my-bot LOG_LEVEL=debug GREETING='hello there'
`

type setOptions struct {
	scope
	file       *string
	valueFiles []string // KEY=PATH
	skipEmpty  bool
	prune      bool
	skip       bool
	dryRun     bool
	wait       time.Duration
}

func setupSet(inv *invocation) runFunc {
	o := &setOptions{}
	o.orgFlag(inv)
	o.regionFlag(inv)
	textFlag(inv.set, func(s string) { o.file = &s }, "file", "f")
	textFlag(inv.set, func(s string) { o.valueFiles = append(o.valueFiles, s) }, "value-file")
	boolFlag(inv.set, &o.skipEmpty, "skip-empty")
	boolFlag(inv.set, &o.prune, "prune")
	boolFlag(inv.set, &o.skip, "skip", "s")
	boolFlag(inv.set, &o.dryRun, "dry-run")
	boolFlag(inv.set, &inv.noInput, "no-input")
	inv.set.Var(waitFlag{&o.wait}, "wait", "")
	return o.do
}

func (o *setOptions) do(ctx context.Context, a *app, inv *invocation, args []string) error {
	s := &setUpdate{region: o.regionGiven()}
	err := o.read(ctx, a, args, s)
	if err != nil {
		return err
	}
	if s.session, err = signIn(a, o.scope); err != nil {
		return err
	}
	if err := o.ask(ctx, a, s); err != nil {
		return err
	}
	for _, p := range s.pairs {
		s.Hide(p.Value)
		s.Keep(p.Key)
	}
	s.Keep(s.left...)
	if err := s.findOrganization(ctx); err != nil {
		return err
	}
	if err := s.load(ctx, o.prune); err != nil {
		return err
	}
	if o.dryRun {
		if inv.json {
			return writeJSON(a.stdout, s.result(0, keyPlanned, keyPlanned))
		}
		_, err := io.WriteString(a.stdout, printable(s.plan()))
		return err
	}
	if !o.skip {
		a.note("%s", strings.TrimSuffix(s.plan(), "\n"))
		question := "Store " + plural(len(s.pairs), "key")
		if len(s.pruned) > 0 {
			question += " and remove " + plural(len(s.pruned), "key")
		}
		if err := mustConfirm(ctx, a, question+"?", "nothing was stored"); err != nil {
			return err
		}
	}
	if err := s.store(ctx); err != nil {
		return err
	}
	a.note("stored in secret set %s of %s%s:", s.name, s.orgLabel(), inRegion(s.region))
	for _, k := range s.done().Keys {
		a.note("  %s  %s", k.Key, k.words("replaced"))
	}
	if o.wait > 0 {
		if s.status, err = s.waitReady(ctx, s.name, o.wait, s.entry); err != nil {
			return withResult(err, s.done())
		}
	}
	return inv.report(a, s.done())
}

// read checks the command line and reads the files. Pairs whose value is still to be
// asked for have an empty value.
func (o *setOptions) read(ctx context.Context, a *app, args []string, s *setUpdate) error {
	var ch checker
	rest := args[min(1, len(args)):]
	s.name = ch.arguments(args[:len(args)-len(rest)], 1, "name")[0]
	ch.newName(s.name)
	ch.wrong = append(ch.wrong, o.problems()...)
	if !o.dryRun {
		ch.confirmation(a, o.skip, "set")
	}
	var named []pair // in the file, with and without a value
	if o.file != nil {
		named = ch.filePairs(ctx, a, *o.file, o.skipEmpty)
	} else if o.skipEmpty {
		ch.missing("skip-empty", "--skip-empty", "needs --file")
	}
	given := ch.argumentPairs(rest)
	for _, arg := range o.valueFiles {
		given = ch.valueFile(ctx, a, given, arg)
	}
	if o.file == nil && len(rest)+len(o.valueFiles) == 0 && len(args) > 0 {
		ch.missing("secrets", "SECRETS", "nothing to store; pass KEY, KEY=VALUE or --file")
	}
	for _, p := range given {
		field, where := p.called()
		// A key may come from the file or the command line, not both.
		i := slices.IndexFunc(named, func(q pair) bool { return q.Key == p.Key })
		if i >= 0 && !named[i].Value.Empty() {
			ch.invalid(field, where, "is given twice: also on line %d of the file", named[i].line)
		} else if i >= 0 {
			named = slices.Delete(named, i, i+1)
		}
		if p.Value.Empty() && !o.dryRun && !canAsk(a) {
			ch.missing(field, where, "has no value, and vbot cannot ask for it; use --file - or KEY=VALUE")
		}
	}
	var notes []string
	if o.file != nil {
		notes = s.addFile(fileLabel(*o.file), named)
	}
	if s.pairs = append(s.pairs, given...); len(s.pairs) == 0 && len(s.left) > 0 {
		ch.invalid("file", "--file", "no key in %s has a value", fileLabel(*o.file))
	}
	if err := ch.err(ctx); err != nil {
		return err
	}
	for _, text := range notes {
		a.note("%s", text)
	}
	return nil
}

// addFile adds the pairs of the file that have a value. The notes are about keys that
// the bot would not get as python-dotenv reads them from the file.
func (s *setUpdate) addFile(name string, pairs []pair) (notes []string) {
	var expanded []string
	for _, p := range pairs {
		if p.Value.Empty() {
			s.left = append(s.left, p.Key)
			continue
		}
		s.pairs = append(s.pairs, p)
		if strings.Contains(p.Value.Reveal(), "${") {
			expanded = append(expanded, p.Key)
		}
	}
	if len(s.left) > 0 {
		notes = append(notes, name+": left out, without a value: "+strings.Join(s.left, ", "))
	}
	if len(expanded) > 0 {
		notes = append(notes, name+": python-dotenv would expand ${ in "+strings.Join(expanded, ", ")+"; vbot stores it unchanged")
	}
	return notes
}

// fileLabel returns the name of a --file for messages.
func fileLabel(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// filePairs reads the pairs of a file; "-" is stdin. blank allows empty values.
func (ch *checker) filePairs(ctx context.Context, a *app, name string, blank bool) []pair {
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
	pairs, faults := parseSecrets(string(data), blank)
	for _, f := range faults {
		at := fmt.Sprintf("%s:%d", fileLabel(name), f.line)
		ch.invalid(at, at, "%s", f.message)
	}
	if len(pairs) == 0 && len(faults) == 0 {
		ch.invalid("file", "--file", "%s contains no KEY=VALUE", fileLabel(name))
	}
	return pairs
}

// valueFile appends the pair of a --value-file. What stands after the = may be a
// value by mistake, so messages do not repeat it.
func (ch *checker) valueFile(ctx context.Context, a *app, pairs []pair, arg string) []pair {
	key, path, ok := strings.Cut(arg, "=")
	if !ok || !cloud.IsKey(key) || path == "" {
		ch.invalid("value-file", "--value-file", "must be KEY=PATH; %s", cloud.KeyRule)
		return pairs
	}
	data, err := readReady(ctx, a, path, maxFile)
	if err != nil {
		ch.invalid(key, "--value-file "+key, "the file cannot be read: %v", err)
		return pairs
	}
	p := pair{Pair: cloud.Pair{Key: key, Value: cloud.NewSecret(string(data))}}
	return ch.add(pairs, p, 0, len(data) == 0)
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
	if p.Value.Empty() {
		p.word = n
	}
	field, where := p.called()
	switch {
	case !cloud.IsKey(p.Key):
		// Do not repeat it: it may be a value without its key.
		ch.invalid("secrets", fmt.Sprintf("pair %d", n), "is neither KEY nor KEY=VALUE; %s", cloud.KeyRule)
	case slices.ContainsFunc(pairs, func(q pair) bool { return q.Key == p.Key }):
		ch.invalid(field, where, "is given twice")
	case empty:
		ch.invalid(field, where, "the value is empty")
	case valueFault(p.Value) != "":
		ch.invalid(field, where, "%s", valueFault(p.Value))
	default:
		return append(pairs, p)
	}
	return pairs
}

// ask asks for the missing values.
func (o *setOptions) ask(ctx context.Context, a *app, s *setUpdate) error {
	if o.dryRun {
		return nil // it only shows names
	}
	var ch checker
	for i, p := range s.pairs {
		if !p.Value.Empty() {
			continue
		}
		value, err := hidden(ctx, a, p.Key+" for "+s.name+" (hidden):")
		if err != nil {
			return err
		}
		if strings.HasPrefix(value.Reveal(), "-----BEGIN ") {
			// The rest of the key would go to whatever reads the terminal next.
			field, where := p.called()
			return oneProblem(codeInvalidConfig, field, where, "a key of several lines cannot be typed; use --value-file KEY=PATH")
		}
		p.Value = value
		ch.add(nil, p, p.word, value.Empty())
		s.pairs[i] = p
	}
	return ch.err(ctx)
}

// A setUpdate stores pairs in a secret set.
type setUpdate struct {
	*session
	name   string
	region string // as requested; after load or store, the actual one
	pairs  []pair
	left   []string   // keys of the file without a value, left out
	was    *cloud.Set // nil if the set does not exist yet
	pruned []string   // keys to remove, after load
	status string
}

// Values of keyResult.Result.
const (
	keyPlanned  = "planned"
	keyStored   = "stored"
	keyRemoved  = "removed"
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
	Result   string `json:"result" enum:"planned,stored,removed,failed,not_tried"`
	Replaced bool   `json:"replaced"`
	Prune    bool   `json:"prune"` // remove it
}

// words returns what the result means. replaced is the word for a replaced value.
func (k keyResult) words(replaced string) string {
	if k.Prune {
		return "removed"
	}
	return newOrReplaced(k.Replaced, replaced)
}

// result returns the JSON result after n changes: pairs are stored in order, and then
// keys are pruned. next is the result of the change after those, rest of all others.
func (s *setUpdate) result(n int, next, rest string) setResult {
	r := setResult{s.name, orNull(s.region), s.was == nil, orNull(s.status), []keyResult{}}
	for _, p := range s.pairs {
		r.Keys = append(r.Keys, keyResult{p.Key, keyStored, s.was != nil && slices.Contains(s.was.Keys, p.Key), false})
	}
	for _, key := range s.pruned {
		r.Keys = append(r.Keys, keyResult{key, keyRemoved, false, true})
	}
	for i := n; i < len(r.Keys); i++ {
		r.Keys[i].Result, next = next, rest
	}
	return r
}

// done returns the JSON result after all changes.
func (s *setUpdate) done() setResult { return s.result(len(s.pairs)+len(s.pruned), "", "") }

// load reads the existing set, and refuses what the API would refuse. With prune, it
// finds the keys that were not given.
func (s *setUpdate) load(ctx context.Context, prune bool) error {
	was, err := s.Get(ctx, s.name)
	if cloud.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return s.setError(ctx, s.name, err, codeRejected)
	}
	if was.Source == cloud.SourceReferenced {
		return referenced(s.name)
	}
	if s.region != "" && was.Region != "" && s.region != was.Region {
		return wrongRegion(s.name, was.Region, s.region)
	}
	s.was, s.region = was, cmp.Or(s.region, was.Region)
	for _, key := range was.Keys {
		given := slices.Contains(s.left, key) || slices.ContainsFunc(s.pairs, func(p pair) bool { return p.Key == key })
		if prune && !given {
			s.pruned = append(s.pruned, key)
		}
	}
	return nil
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
	for _, k := range s.done().Keys {
		fmt.Fprintf(w, "  %s\t%s\n", k.Key, k.words("replaces the current value"))
	}
	w.Flush()
	return b.String()
}

// store sends all pairs in one request. If the API refuses that form, it sends one
// request per pair. Once all are stored it prunes, so that a failure loses nothing.
func (s *setUpdate) store(ctx context.Context) error {
	var pairs []cloud.Pair
	for _, p := range s.pairs {
		pairs = append(pairs, p.Pair)
	}
	region, err := s.StorePairs(ctx, s.name, s.region, pairs)
	if cloud.IsBadRequest(err) {
		region, err = s.storeOneByOne(ctx, err)
	}
	if err != nil {
		return err
	}
	s.region = cmp.Or(region, s.region)
	for i, key := range s.pruned {
		if err := s.Remove(ctx, "removing key "+key+" of "+s.name, s.name, key); err != nil {
			return s.partial(err, len(s.pairs)+i)
		}
	}
	return nil
}

// storeOneByOne stores the pairs in order and stops at the first failure. whole is
// the error of the single request for all pairs.
func (s *setUpdate) storeOneByOne(ctx context.Context, whole error) (region string, err error) {
	for i, p := range s.pairs {
		region, err = s.StorePair(ctx, s.name, s.region, p.Pair)
		switch {
		case err == nil:
			s.region = cmp.Or(region, s.region)
		case i > 0:
			return "", s.partial(err, i)
		default:
			if e := cloud.AsError(err); e != nil && e.Message != cloud.AsError(whole).Message {
				err = &failure{Code: e.Code(), Message: whole.Error() + "; " + e.Error(), err: err}
			}
			return "", err
		}
	}
	return region, nil
}

// partial returns the failure of a run that err ended after n changes.
func (s *setUpdate) partial(err error, n int) error {
	what := fmt.Sprintf("stored %d of %d keys in %s", n, len(s.pairs), s.name)
	if more := n - len(s.pairs); more >= 0 {
		what = fmt.Sprintf("stored %s in %s and removed %d of %d", plural(len(s.pairs), "key"), s.name, more, len(s.pruned))
	}
	f := *asFailure(err)
	if f.Code == codeInterrupted {
		f.Message = "interrupted; " + what
	} else {
		f.Code, f.Message = codePartial, fmt.Sprintf("%s: %v", what, err)
	}
	f.hint = "run the same command again to finish"
	result := s.result(n, keyFailed, keyNotTried) // or unconfirmed
	f.Problems = nil
	for i, k := range result.Keys {
		if i < n {
			s.app.note("  %s  %s", k.Key, k.Result)
		} else {
			f.Problems = append(f.Problems, problem{Field: k.Key, where: k.Key, Message: strings.ReplaceAll(k.Result, "_", " ")})
		}
	}
	f.result = result
	return &f
}

// entry returns the set as it is now.
func (s *setUpdate) entry(ctx context.Context) (*cloud.Entry, error) {
	now, err := s.Get(ctx, s.name)
	if err != nil {
		return nil, err
	}
	return &now.Entry, nil
}

// check.

const helpCheck = `Compare the keys of a file with those of a secret set, not the values.

Usage: vbot cloud secrets check NAME --file FILE [OPTIONS]

FILE has the form that "vbot cloud secrets set" reads; keys without a value
count. The answer lists the keys that the set lacks (missing) and those that
only the set has (extra). The exit code is 1 if any are missing.

Options:
  -f, --file FILE           file with the keys, such as .env; - is stdin
  -o, --organization ORG    organization (default: the current one)
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud secrets check my-bot --file server/.env.example
`

// A checkResult is the JSON result of check.
type checkResult struct {
	Name    string   `json:"name"`
	Region  orNull   `json:"region"`
	Status  orNull   `json:"status"`
	Missing []string `json:"missing"`
	Extra   []string `json:"extra"`
}

func setupCheck(inv *invocation) runFunc {
	var sc scope
	var file *string
	sc.orgFlag(inv)
	textFlag(inv.set, func(s string) { file = &s }, "file", "f")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		var ch checker
		name := ch.arguments(args, 1, "name")[0]
		ch.existingName(name)
		ch.wrong = append(ch.wrong, sc.problems()...)
		var pairs []pair
		if file != nil {
			pairs = ch.filePairs(ctx, a, *file, true)
		} else {
			ch.missing("file", "--file", "missing")
		}
		c, err := ch.connect(ctx, a, sc)
		if err != nil {
			return err
		}
		return c.check(ctx, inv, name, *file, pairs)
	}
}

// check prints how the keys of a set differ from those of pairs, read from file.
func (c *session) check(ctx context.Context, inv *invocation, name, file string, pairs []pair) error {
	s, err := c.Get(ctx, name)
	if err != nil {
		return c.setError(ctx, name, err, codeNotFound)
	}
	if s.Source == cloud.SourceReferenced {
		return referenced(name)
	}
	r := checkResult{name, orNull(s.Region), orNull(s.Status), []string{}, []string{}}
	extra := slices.Clone(s.Keys)
	for _, p := range pairs {
		if !slices.Contains(s.Keys, p.Key) {
			r.Missing = append(r.Missing, p.Key)
		}
		extra = slices.DeleteFunc(extra, func(key string) bool { return key == p.Key })
	}
	r.Extra = append(r.Extra, extra...)
	slices.Sort(r.Missing)
	if !inv.json {
		w := tabwriter.NewWriter(c.app.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "KEY\tSTATE")
		for _, key := range r.Missing {
			fmt.Fprintf(w, "%s\tmissing\n", key)
		}
		for _, key := range r.Extra {
			fmt.Fprintf(w, "%s\textra\n", key)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if len(r.Missing) > 0 {
		return &failure{Code: codeDiffers, result: r,
			Message: fmt.Sprintf("secret set %s of %s lacks %s of %s", name, c.orgLabel(), plural(len(r.Missing), "key"), fileLabel(file))}
	}
	c.app.note("secret set %s of %s has all keys of %s", name, c.orgLabel(), fileLabel(file))
	return inv.report(c.app, r)
}
