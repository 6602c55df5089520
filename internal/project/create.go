package project

import (
	"encoding/json"
	"slices"
)

// PlanCreate compares files with what exists in the target. overwrite lists the guides to replace. It
// follows no link below the target and changes nothing.
func (t *Target) PlanCreate(files map[string][]byte, keepExisting bool, overwrite []string) (*Plan, error) {
	p := &Plan{Dir: t.Dir}
	for _, name := range inOrder(files) {
		found, err := p.examine(t, name)
		if err != nil {
			return nil, err
		}
		s := Step{Path: name, data: files[name], found: found.data, Before: found.hash}
		keep := keepExisting
		if IsGuide(name) {
			keep = !slices.Contains(overwrite, name)
		}
		p.compareNew(&s, found, keep)
		p.Steps = append(p.Steps, s)
	}
	return p, p.noteUserOwned()
}

// compareNew chooses the action for one file of a new project by what exists at its path. With keep, that
// stays.
func (p *Plan) compareNew(s *Step, found existing, keep bool) {
	isGuide := IsGuide(s.Path)
	s.Action = Created // not carried out if there is a conflict
	switch {
	case found.at == "":
	case found.at != s.Path:
		p.block(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
	case found.mode.IsDir(), !found.mode.IsRegular() && isGuide && !keep:
		p.block(s.Path, "a "+typeName(found.mode)+" is in the way")
	case !found.mode.IsRegular() && !keep:
		p.conflict(s.Path, "a "+typeName(found.mode)+" is in the way")
	case s.Before == hexSum(s.data):
		s.Action = Unchanged
	case keep:
		s.Action = Kept
	case IsInternal(s.Path) && s.isReadable():
		s.Action = Replaced
	case !s.isReadable():
		p.conflict(s.Path, "exists, and is unreadable or larger than 1 MiB")
	case isGuide:
		s.Action = Replaced
	default:
		p.conflict(s.Path, "exists with different content")
	}
}

// noteUserOwned notes in a new record which of the kept files are not vbot's, because an update would merge
// vbot's changes into the others.
func (p *Plan) noteUserOwned() error {
	at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Path == RecordName && s.Action == Created })
	var kept []string
	for _, s := range p.Steps {
		if s.Action == Kept && hasBase(s.Path) && !resembles(s.found, s.data) {
			kept = append(kept, s.Path)
		}
	}
	if at < 0 || kept == nil {
		return nil
	}
	var r Record
	if err := json.Unmarshal(p.Steps[at].data, &r); err != nil {
		return err
	}
	for _, name := range kept {
		r.Files[name] = userOwnedHash
	}
	data, err := r.bytes()
	p.Steps[at].data = data
	return err
}

// resembles reports whether a text has at least half of the lines that vbot writes, so that it is probably
// an edited form of vbot's file.
func resembles(text, written []byte) bool {
	has, found, all := linesOf(withLF(text)), 0, linesOf(written)
	for _, line := range all {
		if slices.Contains(has, line) {
			found++
		}
	}
	return 2*found >= len(all)
}
