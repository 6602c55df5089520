package cloudcmd

import (
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// A SetResult is the JSON of set. Set.plan makes it, with each key planned; record sets what became of each
// key.
type SetResult struct {
	Name string `json:"name" about:"name of the set"`
	Place
	Created bool          `json:"created" about:"the set is new, or would be"`
	Status  report.OrNull `json:"status" about:"its last status, with --wait"`
	Keys    []KeyResult   `json:"keys" about:"first the keys to store, then those to remove"`
	LeftOut []string      `json:"left_out" about:"keys without a value that --skip-empty left out"`

	isPrinted bool // what was stored was printed before the wait
}

// A KeyResult is the result for one key.
type KeyResult struct {
	Key      string    `json:"key" about:"the key"`
	Result   keyResult `json:"result" about:"unconfirmed: no response came, so it may be done"`
	Replaced bool      `json:"replaced" about:"the set had a value for it"`
	Prune    bool      `json:"prune" about:"it is to be removed, because of --prune"`
}

// A keyResult says what became of a key.
type keyResult string

// Enum returns the values, for the JSON Schema.
func (keyResult) Enum() []string {
	return []string{
		resultPlanned, resultStored, resultRemoved, resultFailed, resultUnconfirmed, resultNotTried,
	}
}

// done returns the result of the key if the request succeeds.
func (k KeyResult) done() keyResult {
	if k.Prune {
		return resultRemoved
	}
	return resultStored
}

func (k KeyResult) isDone() bool    { return k.Result == k.done() }
func (k KeyResult) isPlanned() bool { return k.Result == resultPlanned }

// counts returns how many keys are to be stored, and how many removed.
func (s *SetResult) counts() (store, remove int) {
	for _, k := range s.Keys {
		if k.Prune {
			remove++
		} else {
			store++
		}
	}
	return store, remove
}

// planText describes what would be stored, without values.
func (s *SetResult) planText() string {
	kind := "secret set"
	if s.Created {
		kind = "new secret set"
	}
	lines := []string{fmt.Sprintf("%s %s of %s:", kind, s.Name, s.label())}
	for _, k := range s.Keys {
		verb := "add"
		switch {
		case k.Prune:
			verb = "remove"
		case k.Replaced:
			verb = "replace the value of"
		}
		lines = append(lines, "  would "+verb+" "+k.Key)
	}
	return strings.Join(lines, "\n")
}

// question asks whether to carry out the plan.
func (s *SetResult) question() string {
	store, remove := s.counts()
	question := "Store " + report.Plural(store, "key")
	if remove > 0 {
		question += " and remove " + report.Plural(remove, "key")
	}
	return question + "?"
}

// record sets the result of each key. f is the failure that ended the run; its zero value is a success.
func (s *SetResult) record(p cloud.Progress, f report.Failure) {
	isUnsent := f.Code == report.Interrupted && !f.MaybeApplied // the request for the next keys
	for i := range s.Keys {
		k := &s.Keys[i]
		switch {
		case i < p.Done:
			k.Result = k.done()
		case i >= p.Tried || isUnsent:
			k.Result = resultNotTried
		case f.MaybeApplied:
			k.Result = resultUnconfirmed
		default:
			k.Result = resultFailed
		}
	}
}

// partial returns the result of a run that err ended, and the failure that lists the keys that are not done.
// If nothing was done, it returns no result.
func (s *SetResult) partial(p cloud.Progress, err error) (report.Result, error) {
	f := *report.As(err)
	if p.Done == 0 && !f.MaybeApplied {
		return nil, err
	}
	s.record(p, f)
	if p.Done == 0 {
		s.Created = false
		return s, &f
	}
	if f.Code == report.Interrupted {
		f.Message, f.Effect = "interrupted", s.progressText(p)
	} else {
		f.Code = report.Partial
		f.Message, f.Effect = fmt.Sprintf("%s: %v", s.progressText(p), err), ""
	}
	f.Hint = hintToFinish(&f, "run the same command again")
	f.Problems = nil
	for _, k := range s.Keys {
		if !k.isDone() {
			f.Problems.Add(k.Key, k.Key, "%s", incomplete(k.Result, k.done()))
		}
	}
	return s, &f
}

// progressText says how many of the keys are stored, and how many removed.
func (s *SetResult) progressText(p cloud.Progress) string {
	store, remove := s.counts()
	if p.Done < store {
		return fmt.Sprintf("stored %d of %d keys in %s", p.Done, store, s.Name)
	}
	all := report.Plural(store, "key")
	return fmt.Sprintf("stored %s in %s and removed %d of %d", all, s.Name, p.Done-store, remove)
}

// storedText says what was stored.
func (s *SetResult) storedText() string {
	lines := []string{fmt.Sprintf("stored in secret set %s of %s:", s.Name, s.label())}
	for _, k := range s.Keys {
		effect := "new"
		switch {
		case k.Prune:
			effect = "removed"
		case k.Replaced:
			effect = "replaced"
		}
		lines = append(lines, fmt.Sprintf("  %s  %s", k.Key, effect))
	}
	if s.needsRedeploy() {
		lines = append(lines, redeployNote(s.Name))
	}
	return strings.Join(lines, "\n")
}

// needsRedeploy reports whether a value that agents may already have was replaced or removed.
func (s *SetResult) needsRedeploy() bool {
	isChanged := func(k KeyResult) bool { return k.isDone() && (k.Replaced || k.Prune) }
	return slices.ContainsFunc(s.Keys, isChanged)
}

// Text prints the plan of a dry run; otherwise it says what was stored. After a failure, which lists the
// other keys, it lists those that are done.
func (s *SetResult) Text(out *report.Printer) {
	isIncomplete := func(k KeyResult) bool { return !k.isDone() }
	switch {
	case slices.ContainsFunc(s.Keys, KeyResult.isPlanned):
		out.Print(report.Printable(s.planText()) + "\n")
	case slices.ContainsFunc(s.Keys, isIncomplete):
		for _, k := range s.Keys {
			if k.isDone() {
				out.Note("  %s  %s", k.Key, k.Result)
			}
		}
		if s.needsRedeploy() {
			out.Note("%s", redeployNote(s.Name))
		}
	case !s.isPrinted:
		out.Note("%s", s.storedText())
	}
}
