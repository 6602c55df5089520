package project

import (
	"bytes"
	"cmp"
	"path"
)

// What an update does with a file follows from three facts about it: what is on disk, what the record says,
// and whether this version writes it. Each value of a fact is one bit, so that a rule can cover several.
type facts struct {
	disk    onDisk
	record  inRecord
	version inVersion
}

type onDisk uint8

const (
	absent    onDisk = 1 << iota // the owner deleted it, or it was never written
	upToDate                     // the text that this version writes
	untouched                    // a text that vbot wrote before, or a file that a power failure emptied
	edited                       // anything else, also what is no readable file of at most 1 MiB
)

type inRecord uint8

const (
	unlisted    inRecord = 1 << iota // no earlier version wrote the file
	userOwned                        // listed with userOwnedHash
	baseKnown                        // listed with the hash of a text that is known
	baseMissing                      // listed with the hash of a text that is lost
	listed      = userOwned | baseKnown | baseMissing
)

type inVersion uint8

const (
	omitted inVersion = 1 << iota // this version no longer writes the file
	written
)

// covers reports whether the facts of a file are among those of a rule.
func (rule facts) covers(file facts) bool {
	return rule.disk&file.disk != 0 && rule.record&file.record != 0 && rule.version&file.version != 0
}

// A decision is what an update does with a file, and what --check says about it.
type decision struct {
	state, action string
	conflict      string // why this file stops the whole update, or ""
	merges        bool   // updatePlanner.merge decides the rest
}

// rules has exactly one rule for each combination of facts. Two kinds of combinations cannot occur: a file
// is listed or written, because the paths come from there; and one that is omitted cannot be up to date.
var rules = []struct {
	when facts
	then decision
}{
	// A file that its owner deleted stays deleted. Without its base, a killed update removed it.
	{facts{absent, listed, omitted}, decision{}},
	{facts{absent, userOwned | baseKnown, written}, decision{state: Missing, action: Missing}},
	{facts{absent, unlisted | baseMissing, written}, decision{state: Missing, action: Created}},

	{facts{upToDate, unlisted | listed, written}, decision{state: Unchanged, action: Unchanged}},

	{facts{untouched, listed, omitted}, decision{state: Outdated, action: Removed}},
	{facts{untouched, unlisted | listed, written}, decision{state: Outdated, action: Replaced}},

	{facts{edited, userOwned, omitted | written}, decision{}},
	{facts{edited, baseKnown | baseMissing, omitted}, decision{action: Kept}},
	{facts{edited, baseKnown | baseMissing, written}, decision{state: Edited, merges: true}},
	{facts{edited, unlisted, written}, decision{state: Edited, action: Kept, conflict: nameInUse}},
}

const nameInUse = "it is your own file, and vbot would write a file of that name"

// decisionFor returns the decision for a file with these facts.
func decisionFor(file facts) decision {
	for _, rule := range rules {
		if rule.when.covers(file) {
			return rule.then
		}
	}
	panic("project: no rule for a file")
}

// compare chooses the action for a file. text is what this version writes, nil if it no longer does.
func (u *updatePlanner) compare(name string, text []byte, found existing) Step {
	if text == nil {
		u.plan.leaves = append(u.plan.leaves, name)
	}
	s := Step{Path: name, data: text, found: found.data, Before: found.hash, isThere: found.at == name}
	switch {
	case IsGuide(name):
		s.compareGuide(found)
	case IsWrittenOnce(name):
		u.compareWrittenOnce(&s, found)
	default:
		u.compareOrdinary(&s, found)
	}
	return s
}

// compareOrdinary chooses the action for a file that every update may change.
func (u *updatePlanner) compareOrdinary(s *Step, found existing) {
	s.base = u.baseOf(s)
	if path.Base(s.Path) == ".gitignore" && s.data != nil {
		s.data = withLinesOf(s.data, s.base)
	}
	s.newBase = s.data
	if s.data == nil {
		s.newBase = s.base // if the file stays, a later update may write it again
	}
	if u.isEmptied(s) {
		s.Why = "empty, as after a power failure"
	}
	then := decisionFor(u.factsOf(s, found))
	s.State, s.Action = then.state, then.action
	switch {
	case then.conflict != "":
		u.keepWithConflict(s, then.conflict)
	case then.merges:
		u.merge(s)
	}
}

// factsOf returns the facts by which rules decide about a file.
func (u *updatePlanner) factsOf(s *Step, found existing) facts {
	f := facts{disk: edited, record: baseMissing, version: written}
	if s.data == nil {
		f.version = omitted
	}
	hash, isListed := u.Was.Files[s.Path]
	switch {
	case !isListed:
		f.record = unlisted
	case hash == userOwnedHash:
		f.record = userOwned
	case s.base != nil:
		f.record = baseKnown
	}
	text := withLF(s.found)
	sum := hexSum(text)
	switch {
	case found.at == "":
		f.disk = absent
	case !s.isReadable():
	case s.data != nil && bytes.Equal(text, s.data):
		f.disk = upToDate
	case u.bases[sum] != nil, sum == hash, u.isEmptied(s):
		f.disk = untouched
	}
	return f
}

// baseOf returns the text that vbot wrote by the record, or nil if it is lost.
func (u *updatePlanner) baseOf(s *Step) []byte {
	hash := u.Was.Files[s.Path]
	for _, text := range [][]byte{u.bases[hash], withLF(s.found), s.data} {
		if text != nil && hexSum(text) == hash {
			return text
		}
	}
	return nil
}

// isEmptied reports whether a file that vbot wrote is empty: vbot writes no empty file, but one can be left
// by a power failure.
func (u *updatePlanner) isEmptied(s *Step) bool {
	_, isListed := u.Was.Files[s.Path]
	return isListed && s.isReadable() && len(s.found) == 0
}

// keepWithConflict keeps a file, and makes that a conflict of the whole update.
func (u *updatePlanner) keepWithConflict(s *Step, why string) {
	s.Action, s.Why = Kept, why
	u.plan.block(s.Path, why)
}

// compareWrittenOnce chooses the action for one of writtenOnce: a new one is written, an unedited one that is
// no longer written is removed, and any other stays as it is.
func (u *updatePlanner) compareWrittenOnce(s *Step, found existing) {
	hash, isListed := u.Was.Files[s.Path]
	switch {
	case found.at == "" && s.data == nil:
		// Nothing exists, and nothing is written.
	case found.at == "" && isListed && s.Path == example:
		// Nobody misses an example that its owner deleted.
	case found.at == "" && isListed:
		s.State, s.Action = Missing, Missing // its owner deleted it
	case found.at == "":
		s.State, s.Action = Missing, Created
	case s.data == nil && hexSum(withLF(found.data)) == hash:
		s.State, s.Action = Outdated, Removed
	}
	if s.data != nil {
		u.hashes[s.Path] = cmp.Or(hash, hexSum(s.data))
	}
}

// compareGuide chooses the action for a guide: an update writes missing ones, and keeps the others.
func (s *Step) compareGuide(found existing) {
	switch {
	case found.at == "":
		s.Action = Created
	case found.hash == hexSum(s.data):
		s.Action = Unchanged
	default:
		s.Action = Kept
	}
}
