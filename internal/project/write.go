// Package project is a folder that vbot writes: what a run would do there, doing and
// undoing it, and the record by which a later run knows what nobody edited.
package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vbot/internal/report"
)

// What happens to a file, in the words of the JSON report, and what is with it, in those
// of --check.
const (
	Created   = "created"
	Kept      = "kept"      // something else exists and stays
	Unchanged = "unchanged" // it exists with the same bytes
	Replaced  = "replaced"
	Removed   = "removed"
	Missing   = "missing"  // this version writes it, and it is not there; if somebody deleted it, it stays deleted
	Edited    = "edited"   // neither as this version writes it nor as the record says
	Outdated  = "outdated" // as the record says; this version writes it otherwise, or not at all
)

// A Step is what a run does, or would do, with one file.
type Step struct {
	Path   string // relative to the target, with slashes
	data   []byte // nil for a file of an earlier version that is no longer written
	Guide  bool   // see IsGuide
	Action string
	State  string // in the words of --check; "" in other runs, and for guides and the record
	found  []byte // the first maxHead bytes of the existing file
	Before string // SHA-256 of the existing file in hex, "" if there is none or it was not read
}

// Sum is the SHA-256 in hex of the file after the run, "" if it was not read or is not
// there.
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
	// Stuck says that --keep-existing would not resolve all conflicts.
	Stuck bool
}

// New compares files with what exists in dir, an absolute path that need not
// exist. overwrite are the guides to replace. It follows no link below dir and changes
// nothing.
func New(dir string, files map[string][]byte, keepExisting bool, overwrite []string) (*Plan, error) {
	p := &Plan{Dir: dir}
	inWay := map[string]bool{} // directories already reported
	err := p.survey(files, func(s *Step, found finding) {
		p.compare(s, found, inWay, keepExisting, slices.Contains(overwrite, s.Path))
	})
	return p, err
}

// survey makes the steps of the plan: decide sets the action of each by what exists at
// its path. A step without an action is left out.
func (p *Plan) survey(files map[string][]byte, decide func(*Step, finding)) error {
	root, err := openTarget(p.Dir)
	if err != nil {
		return err
	}
	if root != nil {
		defer root.Close()
	}
	for _, name := range inOrder(files) {
		var found finding
		if root != nil {
			if found, err = look(root, name); err != nil {
				return ioFailure("reading "+filepath.Join(p.Dir, filepath.FromSlash(name)), err)
			}
		}
		s := Step{Path: name, data: files[name], Guide: IsGuide(name), found: found.head, Before: found.hash}
		if decide(&s, found); s.Action != "" {
			p.Steps = append(p.Steps, s)
		}
	}
	return nil
}

// inOrder sorts files by path, the record last: what a killed run leaves is no record,
// or the one from before, which is still true.
func inOrder(files map[string][]byte) []string {
	return slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		switch RecordName {
		case a:
			return 1
		case b:
			return -1
		}
		return strings.Compare(a, b)
	})
}

// Guides are the guides for coding agents. Existing ones are kept, unless a person wants
// them replaced.
var Guides = []string{"AGENTS.md", "AGENT_IMPORT.md", "GETTING_STARTED.md"}

func IsGuide(name string) bool { return slices.Contains(Guides, name) }

// hexSum returns the SHA-256 of data in hex.
func hexSum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// compare decides what to do with one file by what exists at its path.
func (p *Plan) compare(s *Step, found finding, inWay map[string]bool, keepExisting, overwriteGuide bool) {
	conflict := func(at, message string) {
		s.Action = Created // it is never carried out
		if !inWay[at] {
			inWay[at] = true
			p.Conflicts = append(p.Conflicts, report.Problem{Field: at, Message: message, Where: at})
		}
	}
	switch {
	case found.at == "":
		s.Action = Created
	case found.at != s.Path:
		conflict(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
		p.Stuck = true
	case !found.mode.IsRegular() && (found.mode.IsDir() || s.Guide && overwriteGuide || !s.Guide && !keepExisting):
		conflict(s.Path, "a "+typeName(found.mode)+" is in the way")
		p.Stuck = p.Stuck || found.mode.IsDir() || s.Guide
	case s.Before == hexSum(s.data):
		s.Action = Unchanged
	case s.Guide && !overwriteGuide || !s.Guide && keepExisting:
		s.Action = Kept
	case s.Before == "":
		conflict(s.Path, "exists and cannot be read")
	case s.Guide:
		s.Action = Replaced
	default:
		conflict(s.Path, "exists with different content")
	}
}

// A finding is what exists at a path below the target.
type finding struct {
	at   string // the path, or a parent that is no directory; "" if nothing exists
	mode fs.FileMode
	hash string // SHA-256 of a regular file in hex, "" if it cannot be read
	head []byte // its first maxHead bytes
}

// look finds what exists at name. It follows no link, and opens only regular files:
// a link may lead anywhere, and a pipe may never end.
func look(root *os.Root, name string) (found finding, err error) {
	for _, at := range append(parents(name), name) {
		info, err := root.Lstat(at)
		if err != nil {
			return finding{}, ignoreMissing(err)
		}
		if found = (finding{at: at, mode: info.Mode()}); !info.IsDir() {
			break
		}
	}
	if found.at == name && found.mode.IsRegular() {
		found.hash, found.head, err = inspect(root, name)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return found, err
}

// Apply carries out the whole plan, or on any error nothing. Each file is written
// under a temporary name and then linked into place, so a run that is killed
// leaves no half-written file. A file that appeared after the plan was made is
// not overwritten.
//
// Two runs may plan for one target at the same time: what one found there may be
// the other's, which may yet take it back. So only one at a time applies its plan,
// from its first change to its last or to the end of its undo, and in that time it
// looks again at what it found. Looking again alone would not do: the other might
// undo after that.
func (p *Plan) Apply(ctx context.Context) (err error) {
	w := &writer{dirs: map[string]*os.Root{}}
	defer func() {
		if err != nil {
			err = w.rollBack(err)
		}
		w.closeDir(".")
		for _, d := range w.dirs {
			d.Close()
		}
	}()
	if err := w.open(p.Dir); err != nil {
		return ioFailure("creating "+p.Dir, err)
	}
	// Creations come first, because undoing them needs no disk space. All
	// replacements are written in full before the first one is put in place.
	var staged []string
	for _, action := range []string{Created, Replaced} {
		for _, s := range p.Steps {
			if s.Action != action {
				continue
			}
			if ctx.Err() != nil {
				return report.Interruption()
			}
			var err error
			if action == Created {
				err = w.create(s.Path, s.data)
			} else {
				var tmp string
				if tmp, err = w.stage(s.Path, s.data); err == nil {
					staged = append(staged, tmp)
				}
			}
			if err != nil {
				return ioFailure("writing "+filepath.Join(p.Dir, filepath.FromSlash(s.Path)), err)
			}
		}
	}
	for _, s := range p.Steps {
		if s.Action != Replaced && s.Action != Removed {
			continue
		}
		if ctx.Err() != nil {
			return report.Interruption()
		}
		tmp := ""
		if s.Action == Replaced {
			tmp, staged = staged[0], staged[1:]
		}
		if err := w.replace(tmp, s); err != nil {
			return ioFailure("replacing "+filepath.Join(p.Dir, filepath.FromSlash(s.Path)), err)
		}
	}
	for _, s := range p.Steps {
		if s.Action != Kept && s.Action != Unchanged {
			continue
		}
		if err := w.checkAgain(s); err != nil {
			return ioFailure("reading "+filepath.Join(p.Dir, filepath.FromSlash(s.Path)), err)
		}
	}
	for _, remove := range w.backups {
		remove() // a backup that stays does no harm
	}
	for _, s := range p.Steps {
		for dir := path.Dir(s.Path); s.Action == Removed && dir != "."; dir = path.Dir(dir) {
			w.closeDir(dir)
			w.dirs["."].Remove(dir) // fails unless it is empty
		}
	}
	return nil
}

// A writer writes below one directory and can undo all of it.
type writer struct {
	dirs    map[string]*os.Root // by path below the target; "." is the target
	lock    io.Closer           // of the target
	undo    []undoStep          // newest last
	backups []func()            // each removes the old version of a replaced file
	temps   int
}

type undoStep struct {
	name string // the path to name if it fails
	do   func() error
}

func (w *writer) onFailure(name string, do func() error) {
	w.undo = append(w.undo, undoStep{name, do})
}

// open opens the target and locks it. It makes dir and its missing parents.
func (w *writer) open(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
		w.onFailure(d, func() error {
			w.closeDir(".")
			return os.Remove(d)
		})
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	w.dirs["."] = root
	if w.lock, err = lock(root); errors.Is(err, fs.ErrExist) {
		return &report.Failure{Code: report.IO, Message: "another vbot is writing to " + dir + "; nothing was written",
			Hint: "run the same command again when it has finished", Err: err}
	}
	return err
}

// closeDir comes before the removal: Windows keeps an open directory. The target is
// unlocked, too.
func (w *writer) closeDir(name string) {
	if d := w.dirs[name]; d != nil {
		d.Close()
	}
	if name == "." && w.lock != nil {
		w.lock.Close()
	}
}

// dir opens the directory name below the target. It makes it and its missing
// parents.
func (w *writer) dir(name string) (*os.Root, error) {
	if d := w.dirs[name]; d != nil {
		return d, nil
	}
	parent, err := w.dir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	base := path.Base(name)
	switch err := parent.Mkdir(base, 0o755); {
	case err == nil:
		w.onFailure(name, func() error {
			if info, err := parent.Lstat(base); err != nil || !info.IsDir() {
				return ignoreMissing(err) // something else took its place
			}
			w.closeDir(name)
			return parent.Remove(base)
		})
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	d, err := parent.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	w.dirs[name] = d
	// Opening follows links inside the target. The plan found none, but one may have
	// taken the place of the directory since.
	opened, err := d.Stat(".")
	if err != nil {
		return nil, err
	}
	if there, err := parent.Lstat(base); err != nil {
		return nil, err
	} else if !os.SameFile(there, opened) {
		return nil, fmt.Errorf("%s %w", base, errChanged)
	}
	return d, nil
}

var errChanged = errors.New("changed while vbot was running")

// stage writes data to a new file beside name and returns that file's name in the
// directory. While files are created, at most one such file exists at a time.
func (w *writer) stage(name string, data []byte) (tmp string, err error) {
	dir, err := w.dir(path.Dir(name))
	if err != nil {
		return "", err
	}
	var f *os.File
	for f == nil {
		tmp = w.tempName()
		f, err = dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		// An older process with the same id may have left a file of that name.
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	w.onFailure(path.Join(path.Dir(name), tmp), func() error { return ignoreMissing(dir.Remove(tmp)) })
	_, err = f.Write(data)
	return tmp, errors.Join(err, f.Close())
}

// tempName returns a new name for a temporary file.
func (w *writer) tempName() string {
	w.temps++
	return fmt.Sprintf(".vbot-%d-%d.tmp", os.Getpid(), w.temps)
}

// create writes data to name, where nothing may exist.
func (w *writer) create(name string, data []byte) error {
	tmp, err := w.stage(name, data)
	if err != nil {
		return err
	}
	dir, base := w.dirs[path.Dir(name)], path.Base(name)
	remove := func(hash string) undoStep {
		return undoStep{name, func() error {
			if now, _, err := inspect(dir, base); err != nil || now != hash {
				return ignoreMissing(err) // changed since: no longer ours to remove
			}
			return dir.Remove(base)
		}}
	}
	// A link fails if the name is taken; a rename would overwrite it.
	err = dir.Link(tmp, base)
	if err == nil {
		w.undo = append(w.undo, remove(hexSum(data)))
		err = dir.Remove(tmp)
	} else if !errors.Is(err, fs.ErrExist) { // a file system without links
		var f *os.File
		// Take the name with an empty file, which is ours to overwrite.
		if f, err = dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			w.undo = append(w.undo, remove(hexSum(nil)))
			f.Close()
			err = dir.Rename(tmp, base)
		}
	}
	if err != nil {
		return err
	}
	w.undo = append(w.undo[:len(w.undo)-2], remove(hexSum(data))) // the temporary file is gone
	return nil
}

// replace puts the staged file in place of the one that the plan found, or removes that
// one if tmp is "". The old file stays beside it under another name until all is done,
// so that undoing needs no disk space.
func (w *writer) replace(tmp string, s Step) error {
	dir, err := w.dir(path.Dir(s.Path))
	if err != nil {
		return err
	}
	base := path.Base(s.Path)
	if err := w.checkAgain(s); err != nil {
		return err
	}
	if tmp != "" { // keep the modes that somebody set
		info, err := dir.Lstat(base)
		if err == nil {
			err = dir.Chmod(tmp, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	old := w.tempName()
	if err := dir.Link(base, old); err != nil {
		// A file system without links: for a moment there is no file of this name.
		if err := dir.Rename(base, old); err != nil {
			return err
		}
	}
	w.backups = append(w.backups, func() { dir.Remove(old) })
	w.onFailure(s.Path, func() error {
		// While both names are one file, the rename does nothing.
		return errors.Join(dir.Rename(old, base), ignoreMissing(dir.Remove(old)))
	})
	if tmp == "" {
		return ignoreMissing(dir.Remove(base))
	}
	return dir.Rename(tmp, base)
}

// checkAgain fails if what the plan found is no longer there.
func (w *writer) checkAgain(s Step) error {
	now, err := look(w.dirs["."], s.Path)
	if err == nil && (now.at == "" || now.hash != s.Before) {
		err = errChanged
	}
	return err
}

// rollBack undoes what was written and returns cause, with what it could not
// undo.
func (w *writer) rollBack(cause error) error {
	var left []error
	for _, u := range slices.Backward(w.undo) {
		if err := u.do(); err != nil {
			left = append(left, fmt.Errorf("%s: %w", u.name, report.Cause(err)))
		}
	}
	if len(left) == 0 {
		return cause
	}
	f := *report.As(cause)
	f.Message = strings.TrimSuffix(f.Message, "; nothing was written") + "; some new files could not be removed: " + errors.Join(left...).Error()
	return &f
}

// maxHead is how much of an existing file is kept, to read a guide's version, the
// record, and for the diff.
const maxHead = 256 << 10

// inspect returns the SHA-256 of a file in hex, and its first maxHead bytes.
func inspect(root *os.Root, name string) (hash string, head []byte, err error) {
	f, err := root.Open(name)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	h := sha256.New()
	head, err = io.ReadAll(io.TeeReader(io.LimitReader(f, maxHead), h))
	if err == nil {
		_, err = io.Copy(h, f)
	}
	return hex.EncodeToString(h.Sum(nil)), head, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Paths returns the paths of the files to which the action happens.
func (p *Plan) Paths(action string) (paths []string) {
	for _, s := range p.Steps {
		if s.Action == action {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// Count returns to how many files the action happens.
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

// GuideAge compares the versions in the last lines of the guide that is there and of the
// new one: -1 if it is older, 0 if equal, 1 if it is newer or cannot be read.
func (s Step) GuideAge() int {
	stamp := func(guide []byte) string {
		text := strings.TrimSpace(string(guide))
		version, ok := strings.CutPrefix(text[strings.LastIndex(text, "\n")+1:], "<!-- vbot ")
		if !ok || !strings.HasSuffix(version, "-->") {
			return ""
		}
		return version
	}
	age, ok := CompareVersions(stamp(s.found), stamp(s.data))
	if !ok {
		return 1
	}
	return age
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
