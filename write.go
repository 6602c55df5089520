package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What happens to a file, in the words of the JSON report.
const (
	actionCreated   = "created"
	actionKept      = "kept"      // something else exists and stays
	actionUnchanged = "unchanged" // it exists with the same bytes
	actionReplaced  = "replaced"
	actionRemoved   = "removed"
	actionMissing   = "missing" // somebody deleted it, and it stays deleted
)

// A step is what a run does, or would do, with one file.
type step struct {
	generatedFile
	action string
	state  string // in the words of --check; "" in other runs, and for guides and the record
	found  []byte // the first maxHead bytes of the existing file
	before string // SHA-256 of the existing file in hex, "" if there is none or it was not read
}

// sum is the SHA-256 in hex of the file after the run, "" if it was not read or is not
// there.
func (s step) sum() string {
	switch s.action {
	case actionKept, actionUnchanged:
		return s.before
	case actionRemoved, actionMissing:
		return ""
	}
	return hexSum(s.data)
}

// A plan is everything that a run would do in a directory. It is complete before
// the first byte is written.
type plan struct {
	dir       string // absolute
	steps     []step // sorted by path
	conflicts []problem
	// stuck says that --keep-existing would not resolve all conflicts.
	stuck bool
}

// makePlan compares files with what exists in dir, an absolute path that need not
// exist. It follows no link below dir and changes nothing.
func makePlan(dir string, files []generatedFile, keepExisting, overwriteGuide bool) (*plan, error) {
	p := &plan{dir: dir}
	inWay := map[string]bool{} // directories already reported
	err := p.survey(files, func(s *step, found finding) {
		p.compare(s, found, inWay, keepExisting, overwriteGuide)
	})
	return p, err
}

// survey makes the steps of the plan: decide sets the action of each by what exists at
// its path. A step without an action is left out.
func (p *plan) survey(files []generatedFile, decide func(*step, finding)) error {
	root, err := openTarget(p.dir)
	if err != nil {
		return err
	}
	if root != nil {
		defer root.Close()
	}
	for _, f := range inOrder(files) {
		var found finding
		if root != nil {
			if found, err = look(root, f.path); err != nil {
				return ioFailure("reading "+filepath.Join(p.dir, filepath.FromSlash(f.path)), err)
			}
		}
		s := step{generatedFile: f, found: found.head, before: found.hash}
		if decide(&s, found); s.action != "" {
			p.steps = append(p.steps, s)
		}
	}
	return nil
}

// inOrder sorts files by path, the record last: what a killed run leaves is no record,
// or the one from before, which is still true.
func inOrder(files []generatedFile) []generatedFile {
	return slices.SortedFunc(slices.Values(files), func(a, b generatedFile) int {
		switch recordName {
		case a.path:
			return 1
		case b.path:
			return -1
		}
		return strings.Compare(a.path, b.path)
	})
}

// compare decides what to do with one file by what exists at its path.
func (p *plan) compare(s *step, found finding, inWay map[string]bool, keepExisting, overwriteGuide bool) {
	conflict := func(at, message string) {
		s.action = actionCreated // it is never carried out
		if !inWay[at] {
			inWay[at] = true
			p.conflicts = append(p.conflicts, problem{Field: at, Message: message, where: at})
		}
	}
	switch {
	case found.at == "":
		s.action = actionCreated
	case found.at != s.path:
		conflict(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
		p.stuck = true
	case !found.mode.IsRegular() && (found.mode.IsDir() || s.guide && overwriteGuide || !s.guide && !keepExisting):
		conflict(s.path, "a "+typeName(found.mode)+" is in the way")
		p.stuck = p.stuck || found.mode.IsDir() || s.guide
	case s.before == hexSum(s.data):
		s.action = actionUnchanged
	case s.guide && !overwriteGuide || !s.guide && keepExisting:
		s.action = actionKept
	case s.before == "":
		conflict(s.path, "exists and cannot be read")
	case s.guide:
		s.action = actionReplaced
	default:
		conflict(s.path, "exists with different content")
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

// apply carries out the whole plan, or on any error nothing. Each file is written
// under a temporary name and then linked into place, so a run that is killed
// leaves no half-written file. A file that appeared after the plan was made is
// not overwritten.
//
// Two runs may plan for one target at the same time: what one found there may be
// the other's, which may yet take it back. So only one at a time applies its plan,
// from its first change to its last or to the end of its undo, and in that time it
// looks again at what it found. Looking again alone would not do: the other might
// undo after that.
func (p *plan) apply(ctx context.Context) (err error) {
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
	if err := w.open(p.dir); err != nil {
		return ioFailure("creating "+p.dir, err)
	}
	// Creations come first, because undoing them needs no disk space. All
	// replacements are written in full before the first one is put in place.
	var staged []string
	for _, action := range []string{actionCreated, actionReplaced} {
		for _, s := range p.steps {
			if s.action != action {
				continue
			}
			if ctx.Err() != nil {
				return interrupted()
			}
			var err error
			if action == actionCreated {
				err = w.create(s.path, s.data)
			} else {
				var tmp string
				if tmp, err = w.stage(s.path, s.data); err == nil {
					staged = append(staged, tmp)
				}
			}
			if err != nil {
				return ioFailure("writing "+filepath.Join(p.dir, filepath.FromSlash(s.path)), err)
			}
		}
	}
	for _, s := range p.steps {
		if s.action != actionReplaced && s.action != actionRemoved {
			continue
		}
		if ctx.Err() != nil {
			return interrupted()
		}
		tmp := ""
		if s.action == actionReplaced {
			tmp, staged = staged[0], staged[1:]
		}
		if err := w.replace(tmp, s); err != nil {
			return ioFailure("replacing "+filepath.Join(p.dir, filepath.FromSlash(s.path)), err)
		}
	}
	for _, s := range p.steps {
		if s.action != actionKept && s.action != actionUnchanged {
			continue
		}
		if err := w.checkAgain(s); err != nil {
			return ioFailure("reading "+filepath.Join(p.dir, filepath.FromSlash(s.path)), err)
		}
	}
	for _, remove := range w.backups {
		remove() // a backup that stays does no harm
	}
	for _, s := range p.steps {
		for dir := path.Dir(s.path); s.action == actionRemoved && dir != "."; dir = path.Dir(dir) {
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
		return &failure{Code: codeIO, Message: "another vbot is writing to " + dir + "; nothing was written",
			hint: "run the same command again when it has finished", err: err}
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
func (w *writer) replace(tmp string, s step) error {
	dir, err := w.dir(path.Dir(s.path))
	if err != nil {
		return err
	}
	base := path.Base(s.path)
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
	w.onFailure(s.path, func() error {
		// While both names are one file, the rename does nothing.
		return errors.Join(dir.Rename(old, base), ignoreMissing(dir.Remove(old)))
	})
	if tmp == "" {
		return ignoreMissing(dir.Remove(base))
	}
	return dir.Rename(tmp, base)
}

// checkAgain fails if what the plan found is no longer there.
func (w *writer) checkAgain(s step) error {
	now, err := look(w.dirs["."], s.path)
	if err == nil && (now.at == "" || now.hash != s.before) {
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
			left = append(left, fmt.Errorf("%s: %w", u.name, rootCause(err)))
		}
	}
	if len(left) == 0 {
		return cause
	}
	f := *asFailure(cause)
	f.Message = strings.TrimSuffix(f.Message, "; nothing was written") + "; some new files could not be removed: " + errors.Join(left...).Error()
	return &f
}

// openTarget opens dir, or returns nil if it does not exist yet.
func openTarget(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, obstacle(dir)
	}
	if err != nil {
		return nil, ioFailure("reading "+dir, err)
	}
	if !info.IsDir() {
		return nil, inTheWay(dir, "a "+typeName(info.Mode())+", not a directory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, ioFailure("opening "+dir, err)
	}
	return root, nil
}

// obstacle returns the error if dir, which does not exist, cannot be made: it or
// something above it is a link that leads nowhere or not a directory.
func obstacle(dir string) error {
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err == nil && info.IsDir() {
			return nil
		}
		if err == nil {
			return inTheWay(d, "a "+typeName(info.Mode())+", not a directory")
		}
		if _, err := os.Lstat(d); err == nil {
			return inTheWay(d, "a dangling link")
		}
	}
	return nil
}

func inTheWay(dir, what string) error {
	return &failure{Code: codeConflict, Message: fmt.Sprintf("%s is %s; nothing was written", dir, what)}
}

// ioFailure says what was attempted, and that nothing was written.
func ioFailure(attempt string, err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err // the attempt names the path in full
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	f := &failure{Code: codeIO, Message: fmt.Sprintf("%s: %v; nothing was written", attempt, cause), err: err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		f.hint = "free some space and run the same command again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		f.hint = "choose a directory that you can write to"
	case errors.Is(err, fs.ErrExist), errors.Is(err, errChanged):
		f.hint = "another program wrote there at the same time; run the same command again"
	}
	return f
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

func typeName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m.IsRegular():
		return "file"
	}
	return "device or pipe"
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (p *plan) count(action string) (n int) {
	for _, s := range p.steps {
		if s.action == action {
			n++
		}
	}
	return n
}

// writes returns how many files the plan changes.
func (p *plan) writes() int {
	return p.count(actionCreated) + p.count(actionReplaced) + p.count(actionRemoved)
}
