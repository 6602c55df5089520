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
	"unicode/utf8"

	"vbot/internal/cloud"
)

// maxFile is the maximum size of a secrets file, in bytes.
const maxFile = 16 << 20

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
	if was.Source == cloud.SourceReferenced {
		return referenced(s.name)
	}
	if s.region != "" && was.Region != "" && s.region != was.Region {
		return wrongRegion(s.name, was.Region, s.region)
	}
	s.was, s.region = was, cmp.Or(s.region, was.Region)
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
