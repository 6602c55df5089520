package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/dotenv"
	"vbot/internal/report"
	"vbot/internal/tty"
)

// A setUpdate is what set does to a secret set: its options, and what they come to.
type setUpdate struct {
	file       *string
	valueFiles []string // KEY=PATH
	skipEmpty  bool
	pruning    bool
	skip       bool
	dryRun     bool
	wait       time.Duration

	cloud.Change           // its region is the requested one
	left         []string  // keys of the file without a value, left out
	result       setResult // after load, what comes of it if nothing fails
}

func setupSet(inv *cli.Invocation) cli.RunFunc {
	s := &setUpdate{}
	inv.Text("f file", "FILE", "read pairs from a file; - is stdin", func(name string) { s.file = &name })
	inv.Text("value-file", "KEY=PATH", "store a file byte for byte; repeatable", func(arg string) { s.valueFiles = append(s.valueFiles, arg) })
	inv.Bool("skip-empty", "leave out keys of FILE that have no value", &s.skipEmpty)
	inv.Bool("prune", "remove keys of the set that are neither given nor in FILE", &s.pruning)
	inv.Bool("s skip", "store without asking", &s.skip)
	inv.Bool("dry-run", "show what would be stored; store nothing", &s.dryRun)
	waitOption(inv, "the set", &s.wait)
	return cloudCommand(inv, currentOrg, regionOfNew("set"), s.do)
}

func (s *setUpdate) do(ctx context.Context, r *cloudRun, args []string) error {
	if err := s.read(ctx, r, args); err != nil {
		return err
	}
	if err := r.signIn(ctx); err != nil {
		return err
	}
	if err := s.ask(ctx, r); err != nil {
		return err
	}
	if err := r.api.FindOrganization(ctx, nil); err != nil {
		return err
	}
	if err := s.load(ctx, r); err != nil {
		return err
	}
	if s.dryRun {
		for i := range s.result.Keys {
			s.result.Keys[i].Result = keyPlanned
		}
		return r.show(s.result, s.plan(r))
	}
	if !s.skip {
		r.app.Note("%s", strings.TrimSuffix(columns(s.plan(r)), "\n"))
		question := "Store " + report.Plural(len(s.Pairs), "key")
		if len(s.Prune) > 0 {
			question += " and remove " + report.Plural(len(s.Prune), "key")
		}
		if err := mustConfirm(ctx, r.app, question+"?", "stored"); err != nil {
			return err
		}
	}
	p, err := r.api.StoreAll(ctx, s.Change)
	s.result.Region = cmp.Or(report.OrNull(p.Region), s.result.Region)
	if err != nil {
		return s.partial(r, err, p)
	}
	var stored strings.Builder
	fmt.Fprintf(&stored, "stored in secret set %s of %s:", s.Name, r.where(string(s.result.Region)))
	for _, k := range s.result.Keys {
		fmt.Fprintf(&stored, "\n  %s  %s", k.Key, k.words("replaced"))
	}
	return r.finish(ctx, s.Ref, s.wait, stored.String(), func(status string) any {
		s.result.Status = report.OrNull(status)
		return s.result
	})
}

// read checks the command line and reads the files. Pairs whose value is still to be
// asked for have an empty value.
func (s *setUpdate) read(ctx context.Context, r *cloudRun, args []string) error {
	rest := args[min(1, len(args)):]
	s.Ref = cloud.Ref{Name: r.arguments(args[:len(args)-len(rest)], 1, r.newName, "name")[0], Type: cloud.TypeSet, Region: r.given["region"]}
	nothing := s.file == nil && len(rest)+len(s.valueFiles) == 0 && len(args) > 0
	r.confirmable(s.skip || s.dryRun || nothing)
	if s.file != nil {
		s.Pairs = r.filePairs(ctx, *s.file, s.skipEmpty)
	} else if s.skipEmpty {
		r.badUsage("skip-empty", "--skip-empty", "needs --file")
	}
	s.addArguments(r, rest)
	for _, arg := range s.valueFiles {
		s.addValueFile(ctx, r, arg)
	}
	if nothing {
		r.badUsage("secrets", "", "nothing to store: pass KEY, KEY=VALUE or --file")
	}
	var expanded []string // python-dotenv would read these differently
	for _, p := range s.Pairs {
		if p.Line > 0 && p.Value.Empty() {
			s.left = append(s.left, p.Key)
		} else if p.Line > 0 && strings.Contains(p.Value.Reveal(), "${") {
			expanded = append(expanded, p.Key)
		}
	}
	s.Pairs = slices.DeleteFunc(s.Pairs, func(p cloud.Pair) bool { return p.Line > 0 && p.Value.Empty() })
	if len(s.Pairs) == 0 && len(s.left) > 0 {
		r.invalid("file", "--file", "no key in %s has a value", fileLabel(*s.file))
	}
	if err := r.faults(ctx); err != nil {
		return err
	}
	services := sync.OnceValue(catalog.New) // which few values need
	for _, p := range s.Pairs {
		if what, _ := suspect(services, p); what != "" {
			r.app.Note("check %s: the value %s; vbot stores it unchanged", p.Key, what)
		}
	}
	if len(s.left) > 0 {
		r.app.Note("%s: left out keys without a value: %s", fileLabel(*s.file), strings.Join(s.left, ", "))
	}
	if len(expanded) > 0 {
		r.app.Note("%s: python-dotenv would expand ${...} in %s; vbot stores it unchanged", fileLabel(*s.file), strings.Join(expanded, ", "))
	}
	return nil
}

// filePairs reads the pairs of a file; "-" is stdin. blank allows empty values.
func (r *cloudRun) filePairs(ctx context.Context, name string, blank bool) []cloud.Pair {
	if name == "-" && stdinEchoes(r.app) {
		// The terminal would echo the values.
		r.invalid("file", "--file", "stdin is a terminal, which would show the values; pass KEY to enter its value in a hidden prompt")
		return nil
	}
	data, err := cli.ReadAll(ctx, r.app, name, maxFile)
	if err != nil {
		r.invalid("file", "--file", "%s: %v", name, err)
		return nil
	}
	pairs, faults := dotenv.Parse(string(data), blank)
	for _, f := range faults {
		if strings.HasSuffix(f.Message, dotenv.Empty) {
			r.hint = "--skip-empty leaves out keys without a value"
		}
		at := fmt.Sprintf("%s:%d", fileLabel(name), f.Line)
		r.invalid(at, at, "%s", f.Message)
	}
	if len(pairs) == 0 && len(faults) == 0 {
		r.invalid("file", "--file", "%s contains no KEY=VALUE", fileLabel(name))
	}
	return pairs
}

// addValueFile adds the pair of a --value-file. What stands after the = may be a value by
// mistake, so messages do not repeat it.
func (s *setUpdate) addValueFile(ctx context.Context, r *cloudRun, arg string) {
	key, path, ok := strings.Cut(arg, "=")
	if !ok || !cloud.IsKey(key) || path == "" {
		r.invalid("value-file", "--value-file", "must be KEY=PATH; %s", cloud.KeyRule)
		return
	}
	data, err := cli.ReadAll(ctx, r.app, path, maxFile)
	if err != nil {
		r.invalid(key, "--value-file "+key, "the file cannot be read: %v", err)
		return
	}
	s.add(r, cloud.Pair{Key: key, Value: cloud.NewSecret(string(data))}, 0, false)
}

// addArguments adds the pairs of the arguments after the name.
func (s *setUpdate) addArguments(r *cloudRun, args []string) {
	if len(args) == 1 {
		several, err := dotenv.Split(args[0])
		if err != nil {
			r.invalid("secrets", "SECRETS", "%v", err)
			return
		}
		for i, p := range several {
			s.add(r, p, i+1, false)
		}
		if several != nil {
			return
		}
	}
	for i, arg := range args {
		p, ok := dotenv.One(arg)
		s.add(r, p, i+1, !ok)
	}
}

// add adds a pair of the command line to those of the file, if it is valid. n is its number,
// from 1, for messages. blank allows an empty value, which is to be asked for.
func (s *setUpdate) add(r *cloudRun, p cloud.Pair, n int, blank bool) {
	if p.Value.Empty() || !cloud.IsKey(p.Key) {
		p.Word = n
	}
	field, fault := p.Called(), dotenv.ValueFault(p.Value, blank)
	i := slices.IndexFunc(s.Pairs, func(q cloud.Pair) bool { return q.Key == p.Key })
	switch {
	case !cloud.IsKey(p.Key):
		fault = "expected KEY or KEY=VALUE; " + cloud.KeyRule
		if info, err := os.Stat(r.app.Path(p.Key)); err == nil && !info.IsDir() {
			fault = "is a file; to read pairs from it: --file FILE"
		}
	case i >= 0 && s.Pairs[i].Line == 0:
		fault = "given twice"
	case fault != "": // the value cannot be stored
	case i >= 0 && !s.Pairs[i].Value.Empty():
		r.invalid(field, field, "given twice; it is also on line %d of the file", s.Pairs[i].Line)
	case i >= 0:
		s.Pairs = slices.Delete(s.Pairs, i, i+1)
	}
	if fault != "" {
		r.invalid(field, field, "%s", fault)
		return
	}
	if blank && !s.dryRun && !canAsk(r.app) {
		r.badUsage(field, field, "no value, and vbot cannot ask for one; use --file - or KEY=VALUE")
	}
	s.Pairs = append(s.Pairs, p)
}

// ask asks for the values of pairs that were given as KEY alone.
func (s *setUpdate) ask(ctx context.Context, r *cloudRun) error {
	if s.dryRun {
		return nil // it only shows names
	}
	for i, p := range s.Pairs {
		if !p.Value.Empty() {
			continue
		}
		nothingFollows := s.skip && !slices.ContainsFunc(s.Pairs[i+1:], func(q cloud.Pair) bool { return q.Value.Empty() })
		for again := true; again; {
			value, err := hidden(ctx, r.app, p.Key+" for "+s.Name+" (hidden):", false, func(typed string) bool {
				return nothingFollows || isPEM(typed)
			})
			if errors.Is(err, tty.ErrLines) || isPEM(value.Reveal()) {
				return report.One(report.InvalidConfig, p.Called(), p.Called(), "a value of several lines cannot be typed; use --value-file KEY=PATH")
			}
			if err != nil {
				return err
			}
			p.Value = value
			if s.Pairs[i], again, err = s.accept(ctx, r, p); err != nil {
				return cancelled(err, "stored")
			}
		}
		if fault := dotenv.ValueFault(s.Pairs[i].Value, false); fault != "" {
			r.invalid(p.Called(), p.Called(), "%s", fault)
		}
	}
	return r.faults(ctx)
}

// accept returns a pair whose value was typed, as it is to be stored, or says that it has to be
// typed again.
func (s *setUpdate) accept(ctx context.Context, r *cloudRun, p cloud.Pair) (_ cloud.Pair, again bool, err error) {
	what, better := suspect(catalog.New, p)
	said := p.Key + ": the value " + what
	switch {
	case p.Value.Empty():
		r.app.Note("%s is empty; enter it again, or press Ctrl-C", p.Key)
		return p, true, nil
	case what == "":
	case better.Empty():
		again, err = r.app.Terminal().Confirm(ctx, said+"; enter it again?", true)
	default:
		var without bool
		if without, err = r.app.Terminal().Confirm(ctx, said+"; store it without them?", true); without {
			p.Value = better
		}
	}
	return p, again, err
}

// suspect returns what looks like a mistake in a value that somebody pasted, or "", and the
// value without it, empty if that is unknown. A value may be right all the same.
func suspect(services func() *catalog.Catalog, p cloud.Pair) (what string, better cloud.Secret) {
	value := p.Value.Reveal()
	inner := strings.Trim(value, " \t\u00a0")
	for _, marks := range []string{`""`, "''", "``", "\u201c\u201d", "\u2018\u2019"} {
		rest, begins := strings.CutPrefix(inner, marks[:len(marks)/2])
		rest, ends := strings.CutSuffix(rest, marks[len(marks)/2:])
		if begins && ends && !strings.ContainsAny(rest, marks) {
			return "is in quotes", cloud.NewSecret(rest)
		}
	}
	switch {
	case value == "": // it is to be asked for
	case inner != value:
		return "has blanks around it", cloud.NewSecret(inner)
	case !cloud.IsToken(value) && !strings.HasPrefix(value, "{") && !isPEM(value) && services().HasSecret(p.Key):
		return "has characters that no key has, such as blanks, line breaks or curly quotes", cloud.Secret{}
	}
	return "", cloud.Secret{}
}

// isPEM reports whether the line is the first of a key or certificate.
func isPEM(line string) bool { return strings.HasPrefix(line, "-----BEGIN ") }

// Values of keyResult.Result.
const (
	keyPlanned     = "planned"
	keyStored      = "stored"
	keyRemoved     = "removed"
	keyFailed      = "failed"
	keyUnconfirmed = "unconfirmed" // the request went out, and no answer came
	keyNotTried    = "not_tried"
)

// A setResult is the JSON result of set.
type setResult struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Created bool          `json:"created"`
	Status  report.OrNull `json:"status"`
	Keys    []keyResult   `json:"keys"`
}

type keyResult struct {
	Key      string `json:"key"`
	Result   string `json:"result" enum:"planned,stored,removed,failed,unconfirmed,not_tried"`
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

// load reads the existing set, and refuses what the API would refuse. With --prune, it
// finds the keys that were not given.
func (s *setUpdate) load(ctx context.Context, r *cloudRun) error {
	was, err := r.api.Get(ctx, s.Name)
	isNew := report.HasCode(err, report.NotFound)
	switch {
	case isNew && s.pruning && !r.api.IsGone(ctx, s.Name):
		return err // of something else: the keys to remove are unknown
	case isNew:
		if near := r.like(ctx, s.Name); near != "" {
			r.app.Note("%s is a new secret set; there is also %s", s.Name, near)
		}
		was, err = &cloud.Set{}, r.unknownRegion(ctx)
	case err != nil:
		err = r.explain(ctx, s.Name, err, report.Rejected)
	case was.Source == cloud.SourceReferenced:
		err = referencedError(s.Name)
	default:
		err = r.sameRegion(s.Name, was.Region)
	}
	if err != nil {
		return err
	}
	s.result = setResult{Name: s.Name, Region: report.OrNull(cmp.Or(s.Region, was.Region)), Created: isNew, Keys: []keyResult{}}
	for _, p := range s.Pairs {
		s.result.Keys = append(s.result.Keys, keyResult{p.Key, keyStored, slices.Contains(was.Keys, p.Key), false})
	}
	for _, key := range was.Keys {
		given := slices.Contains(s.left, key) || slices.ContainsFunc(s.Pairs, func(p cloud.Pair) bool { return p.Key == key })
		if s.pruning && !given && !cloud.IsKey(key) {
			return report.One(report.Rejected, "prune", "--prune", "key %s cannot be removed: "+cloud.KeyRule+"; nothing was written", key)
		} else if s.pruning && !given {
			s.Prune = append(s.Prune, key)
			s.result.Keys = append(s.result.Keys, keyResult{key, keyRemoved, false, true})
		}
	}
	return nil
}

// plan describes what would be stored, without values.
func (s *setUpdate) plan(r *cloudRun) string {
	var b strings.Builder
	kind := "new secret set "
	if !s.result.Created {
		kind = "secret set "
	}
	fmt.Fprintf(&b, "%s%s of %s:\n", kind, s.Name, r.where(string(s.result.Region)))
	for _, k := range s.result.Keys {
		fmt.Fprintf(&b, "  %s\t%s\n", k.Key, k.words("replaces the current value"))
	}
	return b.String()
}

// partial returns the failure of a run that err ended.
func (s *setUpdate) partial(r *cloudRun, err error, p cloud.Progress) error {
	f := *report.As(err)
	failed := keyFailed
	switch {
	case f.Unsure:
		failed = keyUnconfirmed
	case p.Done == 0:
		return err
	case f.Code == report.Interrupted:
		p.Tried = p.Done // nothing more went out
	}
	var problems []report.Problem
	for i := range s.result.Keys {
		k := &s.result.Keys[i]
		if i < p.Done {
			r.app.Note("  %s  %s", k.Key, k.Result)
			continue
		}
		done := k.Result
		if k.Result = failed; i >= p.Tried {
			k.Result = keyNotTried
		}
		message := strings.ReplaceAll(k.Result, "_", " ")
		if k.Result == keyUnconfirmed {
			message += ": it may be " + done
		}
		problems = append(problems, report.Problem{Field: k.Key, Where: k.Key, Message: message})
	}
	s.result.Created = s.result.Created && p.Done > 0
	f.Result = s.result
	if p.Done == 0 {
		return &f
	}
	what := fmt.Sprintf("stored %d of %d keys in %s", p.Done, len(s.Pairs), s.Name)
	if more := p.Done - len(s.Pairs); more >= 0 {
		what = fmt.Sprintf("stored %s in %s and removed %d of %d", report.Plural(len(s.Pairs), "key"), s.Name, more, len(s.Prune))
	}
	if f.Code == report.Interrupted {
		f.Message = "interrupted; " + what
	} else {
		f.Code, f.Message = report.Partial, fmt.Sprintf("%s: %v", what, err)
	}
	if f.Retryable {
		f.Hint = "run the same command again to finish"
	}
	f.Problems = problems
	return &f
}

// check.

// A checkResult is the JSON result of check.
type checkResult struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Status  report.OrNull `json:"status"`
	Missing []string      `json:"missing"`
	Extra   []string      `json:"extra"`
}

func setupCheck(inv *cli.Invocation) cli.RunFunc {
	var file *string
	var skipEmpty, exact bool
	inv.Text("f file", "FILE", "file with the keys, such as .env; - is stdin", func(s string) { file = &s })
	inv.Bool("skip-empty", "leave out keys without a value, as set does", &skipEmpty)
	inv.Bool("exact", "fail for extra keys, too", &exact)
	return cloudCommand(inv, currentOrg, "", func(ctx context.Context, r *cloudRun, args []string) error {
		name := r.arguments(args, 1, r.existingName, "name")[0]
		var pairs []cloud.Pair
		if file != nil {
			pairs = r.filePairs(ctx, *file, true)
		} else {
			r.badUsage("file", "--file", "missing")
		}
		if err := r.connect(ctx); err != nil {
			return err
		}
		s, err := r.getSet(ctx, name)
		if err != nil {
			return err
		}
		if s.Source == cloud.SourceReferenced {
			return referencedError(name)
		}
		out := checkResult{name, report.OrNull(s.Region), report.OrNull(s.Status), []string{}, slices.Clone(s.Keys)}
		for _, p := range pairs {
			out.Extra = slices.DeleteFunc(out.Extra, func(key string) bool { return key == p.Key })
			if !slices.Contains(s.Keys, p.Key) && !(skipEmpty && p.Value.Empty()) {
				out.Missing = append(out.Missing, p.Key)
			}
		}
		slices.Sort(out.Missing)
		return r.reportCheck(out, fileLabel(*file), exact)
	})
}

// reportCheck prints how the keys of a set differ from those of the file, and fails for those
// that are missing; if exact, for extra ones, too.
func (r *cloudRun) reportCheck(out checkResult, file string, exact bool) error {
	var table strings.Builder
	table.WriteString("KEY\tSTATE\n")
	for _, key := range out.Missing {
		table.WriteString(key + "\tmissing\n")
	}
	for _, key := range out.Extra {
		table.WriteString(key + "\textra\n")
	}
	set := fmt.Sprintf("secret set %s of %s", out.Name, r.where(""))
	var faults []string
	if n := len(out.Missing); n > 0 {
		faults = append(faults, fmt.Sprintf("is missing %s from %s: %s", report.Plural(n, "key"), file, strings.Join(out.Missing, ", ")))
	}
	if n := len(out.Extra); n > 0 && exact {
		faults = append(faults, fmt.Sprintf("has %s besides those of %s: %s", report.Plural(n, "key"), file, strings.Join(out.Extra, ", ")))
	}
	if faults == nil || !r.inv.JSON { // the JSON of a failure has the result
		if err := r.show(out, table.String()); err != nil {
			return err
		}
	}
	if faults != nil {
		return &report.Failure{Code: report.Differs, Result: out, Message: set + " " + strings.Join(faults, "; it ")}
	}
	r.app.Note("%s has all keys of %s", set, file)
	return nil
}
