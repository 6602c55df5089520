package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"vbot/internal/report"
)

// An operation is one change of the target. It notes in the target how to undo it.
type operation struct {
	attempt string // for the message if it fails, such as "writing /home/me/bot/README.md"
	do      func() error
}

// Apply carries out the whole plan or, on any error, nothing. Each file is written under a temporary name
// and then linked into place, so a killed run leaves no half-written file. The target was locked before the
// plan was made, so only other programs can have changed files since; their files are not overwritten. The
// error is a *report.Failure.
func (t *Target) Apply(ctx context.Context, p *Plan) error {
	interrupted := &report.Failure{Code: report.Interrupted, Message: "cancelled", Retryable: true}
	staged := map[string]string{}
	for _, op := range t.writeFiles(p, staged) {
		if ctx.Err() != nil {
			return t.rollBack(interrupted)
		}
		if err := op.do(); err != nil {
			return t.rollBack(failureOf(op.attempt, err))
		}
	}
	t.undo = nil // all files are in place, and the next run can finish what follows
	for _, op := range t.cleanUp(p, staged[RecordName]) {
		if err := op.do(); err != nil {
			f := report.IOError("all files are written, but the run did not finish: "+op.attempt, err)
			f.Hint = "run the same command again to finish"
			return f
		}
	}
	return nil
}

// writeFiles returns the operations that create, replace and remove files, in order. They put the temporary
// names of replacements into staged, by path. The new record is only staged, if there is an old one.
func (t *Target) writeFiles(p *Plan, staged map[string]string) (list []operation) {
	add := func(verb, name string, do func() error) {
		list = append(list, operation{verb + " " + t.path(name), do})
	}
	if p.interim != nil {
		add("writing", RecordName, func() error { return t.writeInterim(p) })
	}
	byPhase := func(a, b Step) int { return int(a.phase - b.phase) }
	steps := slices.SortedStableFunc(slices.Values(p.Steps), byPhase)
	for _, s := range steps { // first, because undoing this needs no disk space
		if s.Action == Created {
			add("writing", s.Path, func() error { return t.create(s.Path, s.data) })
		}
	}
	for _, s := range steps { // all of them in full before the first one is put in place
		if s.overwrites() {
			add("writing", s.Path, func() (err error) {
				staged[s.Path], err = t.stage(s.Path, s.data)
				return err
			})
		}
	}
	for _, s := range steps {
		switch {
		case s.phase == recordPhase:
		case s.overwrites():
			add("replacing", s.Path, func() error { return t.replace(staged[s.Path], s) })
		case s.Action == Removed:
			add("replacing", s.Path, func() error { return t.remove(s) })
		}
	}
	return list
}

// cleanUp returns the operations that finish a run. They remove temporary files (the old texts of replaced
// files, and what killed runs left), empty directories, and unneeded bases. record is the temporary name of
// the new record if there is an old one, or "". It is put in place when the directories are clean: if this
// run ends before, the next one finds these directories in the old record.
func (t *Target) cleanUp(p *Plan, record string) (list []operation) {
	root := t.dirs["."]
	add := func(verb, name string, do func() error) {
		list = append(list, operation{verb + " " + t.path(name), do})
	}
	for _, name := range t.temporaryFiles(p.dirs) {
		if name != record {
			add("removing", name, func() error { return ignoreMissing(root.Remove(name)) })
		}
	}
	for _, name := range p.leaves {
		for _, dir := range slices.Backward(parents(name)) {
			add("removing", dir, func() error { return t.removeEmpty(dir) })
		}
	}
	if record != "" {
		add("replacing", RecordName, func() error { return root.Rename(record, RecordName) })
	}
	for _, name := range p.unneeded {
		add("removing", name, func() error { return ignoreMissing(root.Remove(name)) })
	}
	return list
}

// writeInterim replaces the record by the interim one.
func (t *Target) writeInterim(p *Plan) error {
	tmp, err := t.stage(RecordName, p.interim)
	if err == nil {
		err = t.replace(tmp, p.Steps[len(p.Steps)-1]) // see comparePaths
	}
	if err == nil {
		t.undo[len(t.undo)-1].onlyIfAll = true
	}
	return err
}

// removeEmpty removes a path below the target if it is an empty directory.
func (t *Target) removeEmpty(dir string) error {
	root := t.dirs["."]
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return nil
	}
	if entries, err := fs.ReadDir(root.FS(), dir); err != nil || len(entries) > 0 {
		return nil
	}
	t.closeDir(dir)
	return ignoreMissing(root.Remove(dir))
}

// temporaryFiles returns the paths of the temporary files in the directories. While the target is locked, no
// other run has any.
func (t *Target) temporaryFiles(dirs []string) (names []string) {
	for _, dir := range dirs {
		entries, _ := fs.ReadDir(t.dirs["."].FS(), dir) // it may not exist
		for _, e := range entries {
			if isTemporary(e.Name()) && e.Type().IsRegular() {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// isTemporary reports whether a file's name has the form of tempName's.
func isTemporary(name string) bool {
	matches, _ := path.Match(".vbot-[0-9]*-[0-9]*.tmp", name)
	return matches
}

// closeDir closes a directory before its removal, because Windows does not remove an open one. For the target
// itself, it also unlocks.
func (t *Target) closeDir(name string) {
	if d := t.dirs[name]; d != nil {
		d.Close()
	}
	if name == "." && t.lock != nil {
		t.lock.Close()
	}
}

// makeDir opens the directory name below the target. It creates the directory and its parents if they are
// missing.
func (t *Target) makeDir(name string) (*os.Root, error) {
	if d := t.dirs[name]; d != nil {
		return d, nil
	}
	parent, err := t.makeDir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	base := path.Base(name)
	switch err := parent.Mkdir(base, 0o755); {
	case err == nil:
		t.onFailure(name, func() error {
			if info, err := parent.Lstat(base); err != nil || !info.IsDir() {
				return ignoreMissing(err) // something else replaced it
			}
			t.closeDir(name)
			return parent.Remove(base)
		})
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	d, err := parent.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	t.dirs[name] = d
	// Opening follows links inside the target. The plan found none, but one may have replaced the directory
	// since.
	opened, err := d.Stat(".")
	if err != nil {
		return nil, err
	}
	named, err := parent.Lstat(base)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(named, opened) {
		return nil, fmt.Errorf("%s %w", base, errChanged)
	}
	return d, nil
}

// errChanged is the error if a file or directory is not the one that was found before.
var errChanged = errors.New("changed while vbot was running")

// stage writes data to a new temporary file beside name, and returns its name in the directory.
func (t *Target) stage(name string, data []byte) (tmp string, err error) {
	dir, err := t.makeDir(path.Dir(name))
	if err != nil {
		return "", err
	}
	var f *os.File
	for f == nil {
		tmp = t.tempName()
		f, err = dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		// An older process with the same id may have left a file of that name.
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	t.onFailure(path.Join(path.Dir(name), tmp), func() error {
		if _, err := dir.Lstat(tmp); err != nil {
			return ignoreMissing(err) // missing if it was renamed
		}
		return dir.Remove(tmp)
	})
	_, err = f.Write(data)
	return tmp, errors.Join(err, f.Close())
}

// tempName returns a new name for a temporary file.
func (t *Target) tempName() string {
	t.temps++
	return fmt.Sprintf(".vbot-%d-%d.tmp", os.Getpid(), t.temps)
}

// create writes data to a new file, and fails if one exists.
func (t *Target) create(name string, data []byte) error {
	tmp, err := t.stage(name, data)
	if err != nil {
		return err
	}
	dir, base := t.dirs[path.Dir(name)], path.Base(name)
	removeOnFailure := func(hashes ...string) {
		t.onFailure(name, func() error {
			if now, _, err := inspect(dir, base); err != nil || !slices.Contains(hashes, now) {
				return ignoreMissing(err) // another program changed it
			}
			return dir.Remove(base)
		})
	}
	// A link fails if the name is taken; a rename would overwrite it.
	err = dir.Link(tmp, base)
	if err == nil {
		removeOnFailure(hexSum(data))
		return dir.Remove(tmp)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no links. Take the name with an empty file, and replace that.
	f, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	removeOnFailure(hexSum(nil), hexSum(data))
	f.Close()
	return dir.Rename(tmp, base)
}

// replace replaces the file that the plan found by the staged one, which gets its permissions.
func (t *Target) replace(tmp string, s Step) error {
	dir, base := t.dirs[path.Dir(s.Path)], path.Base(s.Path)
	if err := t.checkAgain(s); err != nil {
		return err
	}
	info, err := dir.Lstat(base)
	if err != nil {
		return err
	}
	if err := dir.Chmod(tmp, info.Mode().Perm()); err != nil {
		return err
	}
	if err := t.setAside(dir, s.Path); err != nil {
		return err
	}
	return dir.Rename(tmp, base)
}

// remove removes the file that the plan found.
func (t *Target) remove(s Step) error {
	dir, err := t.makeDir(path.Dir(s.Path))
	if err != nil {
		return err
	}
	if err := t.checkAgain(s); err != nil {
		return err
	}
	if err := t.setAside(dir, s.Path); err != nil {
		return err
	}
	return ignoreMissing(dir.Remove(path.Base(s.Path)))
}

// setAside gives a file a second, temporary name, so that undoing needs no disk space. cleanUp removes that
// name.
func (t *Target) setAside(dir *os.Root, name string) error {
	base, old := path.Base(name), t.tempName()
	if err := dir.Link(base, old); err != nil {
		// A file system without links: for a moment, there is no file of this name.
		if err := dir.Rename(base, old); err != nil {
			return err
		}
	}
	t.onFailure(name, func() error {
		// While both names are one file, the rename does nothing.
		return errors.Join(dir.Rename(old, base), ignoreMissing(dir.Remove(old)))
	})
	return nil
}

// checkAgain fails if the file is not the one that the plan found.
func (t *Target) checkAgain(s Step) error {
	now, err := t.look(s.Path)
	if err == nil && (now.at == "" || now.hash != s.Before) {
		err = errChanged
	}
	return err
}
