// Package project handles a folder that vbot writes: it plans changes, applies and
// undoes them, and keeps a record, by which a later run knows which files are unedited.
package project

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"vbot/internal/files"
	"vbot/internal/report"
)

// What happens to a file, in the words of the JSON result, and its state, in the words
// of --check.
const (
	Created   = "created"
	Kept      = "kept"      // something else exists and stays
	Unchanged = "unchanged" // it exists with the same bytes
	Replaced  = "replaced"
	Removed   = "removed"
	Missing   = "missing"  // this version writes it, but it does not exist: it is new, or was deleted
	Edited    = "edited"   // different from this version's file and from the recorded one
	Pending   = "pending"  // edited, and this version has changes for it
	Outdated  = "outdated" // as recorded; this version writes another file, or none
)

// A Step is what a run does, or would do, with one file.
//
// Target.Plan or Target.Update creates it from what exists at the path and what this version writes, and
// chooses the action. Target.Apply carries it out, in the order of the phases, and notes how to undo it.
// If a step fails, all previous ones are undone.
type Step struct {
	Path   string // relative to the target, with slashes
	data   []byte // what to write; nil for a file that is no longer written
	Guide  bool   // see IsGuide
	Action string
	State  string // in the words of --check; "" in other runs, for guides, and for what only vbot reads
	Why    string // for people: the reason for the action, or ""
	found  []byte // the existing file, nil if there is none or it was not read
	Before string // SHA-256 of the existing file in hex, "" if there is none or it was not read

	// Only of an update.
	Merged    bool   // data is merged from edits and changes
	Marked    int    // the line, from 1, at which the file has markers of an earlier conflict, or 0
	Conflicts []int  // the lines of the file, from 1, at which these conflict; data then has markers
	base      []byte // what vbot had written, nil if that is unknown
	newBase   []byte // the base after the run, nil if it is unknown or there is none
	needed    bool   // vbot no longer writes it, but it stays because another file needs it
	isThere   bool   // something exists at the path
	isLeftOut bool   // its owner deleted the whole folder
	phase     phase
}

// A phase determines the order in which steps are carried out.
type phase int

// The zero value is filePhase.
const (
	basePhase   phase = iota - 1 // bases, and the file of attributes beside them
	filePhase                    // the project's files
	recordPhase                  // the record
)

// isReadable reports whether the existing file was read.
func (s *Step) isReadable() bool { return s.Before != "" }

// Sum is the SHA-256 in hex of the file after the run, "" if it was not read or does not
// exist.
func (s Step) Sum() string {
	switch s.Action {
	case Kept, Unchanged:
		return s.Before
	case Removed, Missing:
		return ""
	}
	return hexSum(s.data)
}

// A Plan is everything that a run would do in a directory. It is complete before
// the first byte is written.
type Plan struct {
	Dir       string // absolute
	Steps     []Step // sorted by path
	Conflicts []report.Problem
	interim   []byte   // the record that an update writes first, nil if there is no need
	dirs      []string // of all files that were compared, for temporaryFiles
	leaves    []string // paths of files that are no longer written; their directories are removed if empty
	unneeded  []string // paths of bases to remove once the record is written
	// Blocked says that --keep-existing or, for an update, --conflict-markers does not resolve all conflicts.
	Blocked bool
}

// PlanCreate compares files with what exists in the target. overwrite lists the guides to replace. It
// follows no link below the target and changes nothing.
func (t *Target) PlanCreate(files map[string][]byte, keepExisting bool, overwrite []string) (*Plan, error) {
	p := &Plan{Dir: t.Dir}
	for _, name := range inOrder(files) {
		found, err := p.look(t, name)
		if err != nil {
			return nil, err
		}
		s := Step{Path: name, data: files[name], Guide: IsGuide(name), found: found.data, Before: found.hash}
		keep := keepExisting
		if s.Guide {
			keep = !slices.Contains(overwrite, s.Path)
		}
		p.compareNew(&s, found, keep)
		p.Steps = append(p.Steps, s)
	}
	return p, p.noteUserOwned()
}

// Unedited returns which of these files exist with exactly that text.
func (t *Target) Unedited(files map[string][]byte) (names []string) {
	for name, data := range files {
		if found, err := t.look(name); err == nil && found.at == name && found.hash == hexSum(data) {
			names = append(names, name)
		}
	}
	return names
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

// noteDir notes the directory of a file that was compared.
func (p *Plan) noteDir(name string) {
	if dir := path.Dir(name); !slices.Contains(p.dirs, dir) {
		p.dirs = append(p.dirs, dir)
	}
}

// inOrder sorts files by path, the record last: a killed run leaves no record, or the
// previous one, which is still correct.
func inOrder(files map[string][]byte) []string {
	return slices.SortedFunc(maps.Keys(files), comparePaths)
}

// comparePaths compares two paths of a project: those of vbot's own files come after the others, and
// the record last.
func comparePaths(a, b string) int {
	rank := func(name string) int {
		switch {
		case name == RecordName:
			return 2
		case IsInternal(name):
			return 1
		}
		return 0
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

// GuideFiles are the paths of the guides for coding agents. Existing ones are kept unless somebody asks to
// replace them.
var GuideFiles = []string{"AGENTS.md", "AGENT_IMPORT.md", "GETTING_STARTED.md"}

// IsGuide reports whether the path is one of GuideFiles.
func IsGuide(name string) bool { return slices.Contains(GuideFiles, name) }

// hexSum returns the SHA-256 of data in hex.
func hexSum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// compareNew chooses the action for one file of a new project by what exists at its path. With keep, that
// stays.
func (p *Plan) compareNew(s *Step, found existing, keep bool) {
	s.Action = Created // not carried out if there is a conflict
	switch {
	case found.at == "":
	case found.at != s.Path:
		p.block(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
	case found.mode.IsDir(), !found.mode.IsRegular() && s.Guide && !keep:
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
	case s.Guide:
		s.Action = Replaced
	default:
		p.conflict(s.Path, "exists with different content")
	}
}

// conflict adds a conflict of the whole plan.
func (p *Plan) conflict(at, why string) {
	if !slices.ContainsFunc(p.Conflicts, func(c report.Problem) bool { return c.Field == at }) {
		p.Conflicts = append(p.Conflicts, report.Problem{Field: at, Where: at, Message: why})
	}
}

// block adds a conflict that no option resolves.
func (p *Plan) block(at, why string) {
	p.conflict(at, why)
	p.Blocked = true
}

// existing describes what exists at a path below the target.
type existing struct {
	at   string // the path, or a parent that is not a directory; "" if nothing exists
	mode fs.FileMode
	size int64  // in bytes
	hash string // SHA-256 of a regular file in hex, "" if it is too large or cannot be read
	data []byte
}

// look finds what exists at name. It follows no link, and opens only regular files:
// a link may lead anywhere, and a pipe may never end.
func (t *Target) look(name string) (found existing, err error) {
	root := t.dirs["."]
	if root == nil {
		return existing{}, nil
	}
	for _, at := range append(parents(name), name) {
		info, err := root.Lstat(at)
		if err != nil {
			return existing{}, ignoreMissing(err)
		}
		if found = (existing{at: at, mode: info.Mode(), size: info.Size()}); !info.IsDir() {
			break
		}
	}
	if found.at == name && found.mode.IsRegular() {
		found.hash, found.data, err = inspect(root, name)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return found, err
}

// look is Target.look with a failure that names the file. Apply later removes temporary files beside it.
func (p *Plan) look(t *Target, name string) (existing, error) {
	p.noteDir(name)
	found, err := t.look(name)
	if err != nil {
		return found, ioFailure("reading "+t.path(name), err)
	}
	return found, nil
}

// maxSize is the size of the largest file that is read, in bytes. All that vbot writes is
// smaller.
const maxSize = 1 << 20

// inspect returns the SHA-256 of a file in hex, and its content, unless it is larger than
// maxSize.
func inspect(root *os.Root, name string) (hash string, data []byte, err error) {
	f, err := root.Open(name)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	data, err = files.Read(f, maxSize)
	if _, ok := errors.AsType[*files.TooLargeError](err); ok {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	return hexSum(data), data, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Paths returns the paths of the files with the action.
func (p *Plan) Paths(action string) (paths []string) {
	for _, s := range p.Steps {
		if s.Action == action {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// Shown returns the Paths to show to people, without files that only vbot reads.
func (p *Plan) Shown(action string) []string { return slices.DeleteFunc(p.Paths(action), IsInternal) }

// Count returns the number of files with the action.
func (p *Plan) Count(action string) int { return len(p.Paths(action)) }

// Writes returns how many files the plan changes.
func (p *Plan) Writes() int {
	return p.Count(Created) + p.Count(Replaced) + p.Count(Removed)
}

// parents are the directories above a slash-separated path, outermost first.
func parents(name string) (dirs []string) {
	for i, r := range name {
		if r == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}

// HasOldGuide reports whether an older vbot wrote the existing guide, by the versions in the
// last lines of both.
func (s Step) HasOldGuide() bool {
	stamp := func(guide []byte) string {
		text := strings.TrimSpace(string(guide))
		version, ok := strings.CutPrefix(text[strings.LastIndex(text, "\n")+1:], "<!-- vbot ")
		if !ok || !strings.HasSuffix(version, "-->") {
			return ""
		}
		return version
	}
	age, ok := CompareVersions(stamp(s.found), stamp(s.data))
	return ok && age < 0
}

// CompareVersions compares the versions at the beginning of a and b: -1 if a is older, 0 if
// they are equal, 1 if a is newer. It reports false if a has none.
func CompareVersions(a, b string) (order int, ok bool) {
	const form = "%d.%d.%d"
	var x, y [3]int
	_, err := fmt.Sscanf(a, form, &x[0], &x[1], &x[2])
	fmt.Sscanf(b, form, &y[0], &y[1], &y[2])
	return slices.Compare(x[:], y[:]), err == nil
}
