package secrets

import (
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// A SetResult is the JSON of set. It begins as the plan of what to do, with each key planned, and ends with
// what became of each key.
type SetResult struct {
	Name string `json:"name" about:"name of the set"`
	Place
	Created bool          `json:"created" about:"the set is new, or would be"`
	Status  report.OrNull `json:"status" about:"its last status, with --wait"`
	Keys    []KeyResult   `json:"keys" about:"first the keys to store, then those to remove"`
	LeftOut []string      `json:"left_out" about:"keys without a value that --skip-empty left out"`

	location string // of the set, for messages
	dryRun   bool
	failed   bool // some keys may not be done
	waited   bool // what was stored is already printed
}

// A KeyResult is the result for one key.
type KeyResult struct {
	Key      string    `json:"key" about:"the key"`
	Result   keyResult `json:"result" about:"unconfirmed: no response came, so it may be done"`
	Replaced bool      `json:"replaced" about:"the set had a value for it"`
	Prune    bool      `json:"prune" about:"it is to be removed, because of --prune"`
}

// A keyResult is what became of a key, or of a secret to delete.
type keyResult string

// Values of keyResult.
const (
	keyPlanned     = planned
	keyStored      = "stored"
	keyRemoved     = "removed"
	keyFailed      = "failed"
	keyUnconfirmed = "unconfirmed" // the request was sent, but no response came
	keyNotTried    = "not_tried"   // an earlier request failed
)

// Enum returns the values of a key, for the JSON Schema.
func (keyResult) Enum() []string {
	return []string{keyPlanned, keyStored, keyRemoved, keyFailed, keyUnconfirmed, keyNotTried}
}

// notDone returns the problem message of something that failed, was not confirmed or not tried. success is
// the result that it may have nevertheless.
func notDone(result, success keyResult) string {
	message := strings.ReplaceAll(string(result), "_", " ")
	if result == keyUnconfirmed {
		message += ": it may be " + string(success)
	}
	return message
}

// success returns the result of the key if the request succeeds.
func (k KeyResult) success() keyResult {
	if k.Prune {
		return keyRemoved
	}
	return keyStored
}

// effect says what was done to the key.
func (k KeyResult) effect() string {
	switch {
	case k.Prune:
		return "removed"
	case k.Replaced:
		return "replaced"
	}
	return "new"
}

// plan says what is to be done to the key.
func (k KeyResult) plan() string {
	switch {
	case k.Prune:
		return "remove"
	case k.Replaced:
		return "replace the value of"
	}
	return "add"
}

// counts returns how many keys are to be stored, and how many removed.
func (s *SetResult) counts() (stored, removed int) {
	for _, k := range s.Keys {
		if k.Prune {
			removed++
		} else {
			stored++
		}
	}
	return stored, removed
}

// question asks whether to carry out the plan.
func (s *SetResult) question() string {
	stored, removed := s.counts()
	question := "Store " + report.Plural(stored, "key")
	if removed > 0 {
		question += " and remove " + report.Plural(removed, "key")
	}
	return question + "?"
}

// markDone records that the first n keys are stored or removed.
func (s *SetResult) markDone(n int) {
	for i := range s.Keys[:n] {
		s.Keys[i].Result = s.Keys[i].success()
	}
}

// markNotDone records what became of the keys after the first p.Done, and returns a problem for each. failed
// is the result of those that were tried.
func (s *SetResult) markNotDone(p cloud.Progress, failed keyResult) (problems report.Problems) {
	for i := p.Done; i < len(s.Keys); i++ {
		k := &s.Keys[i]
		k.Result = failed
		if i >= p.Tried {
			k.Result = keyNotTried
		}
		problems.Add(k.Key, k.Key, "%s", notDone(k.Result, k.success()))
	}
	return problems
}

// partial returns the result of a run that err ended, and the failure that lists the keys that are not
// done. The result is nil if nothing was done.
func (s *SetResult) partial(err error, p cloud.Progress) (*SetResult, error) {
	f := *report.As(err)
	isInterrupted := f.Code == report.Interrupted
	failed := keyResult(keyFailed)
	switch {
	case f.Unsure:
		failed = keyUnconfirmed
	case p.Done == 0:
		return nil, err
	case isInterrupted:
		p.Tried = p.Done // nothing more was sent
	}
	s.failed = true
	s.Created = s.Created && p.Done > 0
	s.markDone(p.Done)
	problems := s.markNotDone(p, failed)
	if p.Done == 0 {
		return s, &f
	}
	if isInterrupted {
		f.Message, f.Effect = "interrupted", s.howFar(p.Done)
	} else {
		f.Code = report.Partial
		f.Message, f.Effect = fmt.Sprintf("%s: %v", s.howFar(p.Done), err), ""
	}
	if f.Retryable {
		f.Hint = "run the same command again to finish"
	}
	f.Problems = problems
	return s, &f
}

// howFar says how many of the keys are stored, and how many removed, after the first done of them.
func (s *SetResult) howFar(done int) string {
	stored, removed := s.counts()
	if done < stored {
		return fmt.Sprintf("stored %d of %d keys in %s", done, stored, s.Name)
	}
	all := report.Plural(stored, "key")
	return fmt.Sprintf("stored %s in %s and removed %d of %d", all, s.Name, done-stored, removed)
}

// summary describes what would be stored, without values.
func (s *SetResult) summary() string {
	var b strings.Builder
	kind := "secret set "
	if s.Created {
		kind = "new secret set "
	}
	fmt.Fprintf(&b, "%s%s of %s:\n", kind, s.Name, s.location)
	for _, k := range s.Keys {
		fmt.Fprintf(&b, "  would %s %s\n", k.plan(), k.Key)
	}
	return b.String()
}

// stored says what was stored.
func (s *SetResult) stored() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stored in secret set %s of %s:", s.Name, s.location)
	for _, k := range s.Keys {
		fmt.Fprintf(&b, "\n  %s  %s", k.Key, k.effect())
	}
	if note := s.redeploy(); note != "" {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// redeploy returns the line that says when agents notice that values they may already have were replaced
// or removed; "" if none was.
func (s *SetResult) redeploy() string {
	isOld := func(k KeyResult) bool { return k.Result == k.success() && (k.Replaced || k.Prune) }
	if !slices.ContainsFunc(s.Keys, isOld) {
		return ""
	}
	return agentsKeepValues(s.Name)
}

// Text says what would be, or was, stored. For a failed run, it lists the keys that are done; the failure
// lists the others.
func (s *SetResult) Text(out *report.Printer) {
	switch {
	case s.dryRun:
		out.Print(report.Printable(s.summary()))
	case s.failed:
		for _, k := range s.Keys {
			if k.Result == k.success() {
				out.Note("  %s  %s", k.Key, k.Result)
			}
		}
		if note := s.redeploy(); note != "" {
			out.Note("%s", note)
		}
	case !s.waited: // otherwise it was printed before the wait
		out.Note("%s", s.stored())
	}
}
