package project

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"vbot/internal/report"
)

// An UpdateRequest is what --check and --update compare a project with.
type UpdateRequest struct {
	// Files are the files of this version and configuration, by path, without the record and the bases.
	Files map[string][]byte
	// Was is the record in the project. Now has the version and the configuration of Files.
	Was, Now *Record
	// Rendered returns what this version writes for the configuration in Was, or nil if it cannot.
	Rendered func() map[string][]byte
	// AcceptMissing says that a folder without any of its files was deleted, and not moved.
	AcceptMissing bool
}

// PlanUpdate compares the project with what this version writes. Unedited files are replaced or removed.
// Into edited files, the changes since their base are merged by the rules of merge3. See rules for the other
// cases. CRLF counts as LF. An error is a *report.Failure; conflicts are in the plan.
//
// No journal is needed to recover from a killed run. New bases are written first, so that each file that
// vbot wrote has a base of that text. Then the record is written with the new version and configuration and
// the old hashes, then the files, and the record with the new hashes. A merge done twice gives the same
// result. Bases that no file needs any more are removed last.
func (t *Target) PlanUpdate(r *UpdateRequest) (*Plan, error) {
	u := &updatePlanner{
		UpdateRequest: r,
		plan:          &Plan{Dir: t.Dir},
		hashes:        map[string]string{},
		needed:        map[string][]byte{},
	}
	var err error
	if u.bases, u.baseNames, err = t.bases(); err != nil {
		return nil, err
	}
	if found, err := t.look(BaseDir); err == nil && found.at != "" && !found.mode.IsDir() {
		u.plan.block(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
	}
	files := maps.Clone(r.Files)
	for name := range r.Was.Files {
		if _, ok := files[name]; !ok {
			files[name] = nil
		}
	}
	for _, name := range inOrder(files) {
		found, err := u.plan.examine(t, name)
		if err != nil {
			return nil, err
		}
		u.plan.Steps = append(u.plan.Steps, u.compare(name, files[name], found))
	}
	if err := u.checkFolders(); err != nil {
		return nil, err
	}
	if err := t.keepNeeded(u.plan); err != nil {
		return nil, err
	}
	for _, s := range u.plan.Steps {
		if hasBase(s.Path) {
			u.noteBase(s)
		}
	}
	u.plan.Steps = slices.DeleteFunc(u.plan.Steps, func(s Step) bool { return s.Action == "" })
	if err := u.planBases(t); err != nil {
		return nil, err
	}
	if err := u.planRecord(t); err != nil {
		return nil, err
	}
	slices.SortStableFunc(u.plan.Steps, func(a, b Step) int { return comparePaths(a.Path, b.Path) })
	return u.plan, nil
}

// An updatePlanner turns an UpdateRequest into a plan.
type updatePlanner struct {
	*UpdateRequest
	bases     map[string][]byte // the texts of the valid bases, by their SHA-256 in hex
	baseNames []string          // of all existing bases, also damaged ones
	hashes    map[string]string // for the record: Record.Files after the run
	needed    map[string][]byte // the texts of the bases after the run, by their SHA-256 in hex
	plan      *Plan
}

var crlf, newline = []byte("\r\n"), []byte("\n")

// withLF returns the text with LF line ends, as it was before Git on Windows checked it out.
func withLF(text []byte) []byte { return bytes.ReplaceAll(text, crlf, newline) }

// checkFolders fails if all files that vbot wrote into a top-level folder are gone, as after renaming it,
// unless AcceptMissing says that they were deleted. Then this update and later ones write nothing there.
func (u *updatePlanner) checkFolders() error {
	hasFile, lacksFile, isUndecided := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range u.plan.Steps {
		folder, _, isInside := strings.Cut(s.Path, "/")
		hash, isListed := u.Was.Files[s.Path]
		switch {
		case !isInside || !isListed:
		case s.isThere:
			hasFile[folder] = true
		case s.data != nil:
			lacksFile[folder] = true
			isUndecided[folder] = isUndecided[folder] || hash != userOwnedHash
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(lacksFile)) {
		switch {
		case hasFile[folder]:
		case isUndecided[folder] && !u.AcceptMissing:
			return movedFolder(folder)
		case isUndecided[folder]:
			u.plan.GoneFolders = append(u.plan.GoneFolders, folder)
			u.leaveOut(folder)
		default:
			u.leaveOut(folder)
		}
	}
	return nil
}

// movedFolder returns the failure of an update of a project without any of the files of a folder.
func movedFolder(folder string) error {
	f := report.Errorf(report.Conflict, "a folder of the project is gone; nothing was written")
	const none = "none of the files that vbot wrote here exists"
	f.Problems = report.Problems{{Field: folder, Where: folder + "/", Message: none}}
	f.Hint = "if you renamed the folder, give it its old name for the update; " +
		"if you deleted it, --accept-missing goes ahead without it"
	return f
}

// leaveOut makes the update write nothing into a folder.
func (u *updatePlanner) leaveOut(folder string) {
	for i := range u.plan.Steps {
		s := &u.plan.Steps[i]
		if strings.HasPrefix(s.Path, folder+"/") && (s.Action == Created || s.Action == Missing) {
			s.Action, s.isLeftOut = Missing, true
			u.hashes[s.Path] = userOwnedHash
		}
	}
}

// noteBase notes the hash of a file for the new record, and the base that it needs.
func (u *updatePlanner) noteBase(s Step) {
	hash, isListed := u.Was.Files[s.Path]
	isLeftAlone := s.Action == "" && isListed && hash == userOwnedHash
	switch {
	case s.isLeftOut: // leaveOut set the hash
	case isLeftAlone && s.data != nil:
		u.hashes[s.Path] = userOwnedHash
	case s.data == nil && (s.Action == Removed || s.Action == ""): // vbot no longer writes it
	case s.newBase != nil:
		sum := hexSum(s.newBase)
		u.hashes[s.Path], u.needed[sum] = sum, s.newBase
	case isListed:
		u.hashes[s.Path] = hash // of a base that is lost
	}
}
