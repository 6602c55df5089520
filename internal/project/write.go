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

// Apply carries out the whole plan or, on any error, nothing. Each file is written
// under a temporary name and then linked into place, so a killed run leaves no
// half-written file. The target was locked before the plan was made, so only other
// programs can have changed files since; their files are not overwritten.
func (t *Target) Apply(ctx context.Context, p *Plan) (err error) {
	defer func() {
		if err != nil {
			err = t.rollBack(err)
		}
	}()
	if ctx.Err() != nil {
		return report.Interruption()
	}
	if p.interim != nil {
		tmp, err := t.stage(RecordName, p.interim)
		if err == nil {
			err = t.replace(tmp, p.Steps[len(p.Steps)-1]) // see comparePaths
			t.undo[len(t.undo)-1].onlyIfAll = true
		}
		if err != nil {
			return ioFailure("writing "+t.path(RecordName), err)
		}
	}
	byPhase := func(a, b Step) int { return int(a.phase - b.phase) }
	steps := slices.SortedStableFunc(slices.Values(p.Steps), byPhase)
	// Creations come first, because undoing them needs no disk space. All
	// replacements are written in full before the first one is put in place.
	staged := map[string]string{} // temporary names by path
	for _, action := range []string{Created, Replaced} {
		for _, s := range steps {
			if s.Action != action {
				continue
			}
			if ctx.Err() != nil {
				return report.Interruption()
			}
			var err error
			if action == Created {
				err = t.create(s.Path, s.data)
			} else {
				staged[s.Path], err = t.stage(s.Path, s.data)
			}
			if err != nil {
				return ioFailure("writing "+t.path(s.Path), err)
			}
		}
	}
	for _, s := range steps {
		if s.Action != Replaced && s.Action != Removed || s.phase == recordPhase {
			continue
		}
		if ctx.Err() != nil {
			return report.Interruption()
		}
		if err := t.replace(staged[s.Path], s); err != nil {
			return ioFailure("replacing "+t.path(s.Path), err)
		}
	}
	// All files are in place. The new record comes last, so that after any earlier end of this
	// run the next one knows where to clean up.
	t.undo = nil
	root, record := t.dirs["."], staged[RecordName]
	if name, err := t.sweep(p.dirs, record); err != nil {
		return notFinished("removing "+t.path(name), err)
	}
	for _, name := range p.leaves {
		for _, dir := range slices.Backward(parents(name)) {
			if err := t.removeEmpty(dir); err != nil {
				return notFinished("removing "+t.path(dir), err)
			}
		}
	}
	if record != "" {
		if err := root.Rename(record, RecordName); err != nil {
			return notFinished("replacing "+t.path(RecordName), err)
		}
	}
	for _, name := range p.unneeded {
		if err := ignoreMissing(root.Remove(name)); err != nil {
			return notFinished("removing "+t.path(name), err)
		}
	}
	return nil
}

// removeEmpty removes a directory below the target, if it is one and is empty.
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

// notFinished returns a failure of the last part of a run.
func notFinished(attempt string, err error) error {
	f := report.IOError("all files are written, but the run did not finish: "+attempt, err)
	f.Hint = "run the same command again to finish"
	return f
}

// sweep removes the temporary files in the directories: old files that were replaced, and files
// that a killed run left. While the target is locked, no other run has any. It does not remove
// the file called but. If removing fails, it returns the name of the file.
func (t *Target) sweep(dirs []string, but string) (name string, err error) {
	root := t.dirs["."]
	for _, dir := range dirs {
		entries, _ := fs.ReadDir(root.FS(), dir) // it may not exist yet
		for _, e := range entries {
			if name := path.Join(dir, e.Name()); isTemporary(e.Name()) && name != but &&
				e.Type().IsRegular() {
				if err := ignoreMissing(root.Remove(name)); err != nil {
					return name, err
				}
			}
		}
	}
	return "", nil
}

// isTemporary reports whether name is that of a temporary file of vbot.
func isTemporary(name string) bool {
	ours, _ := path.Match(".vbot-[0-9]*-[0-9]*.tmp", name)
	return ours
}

// closeDir closes a directory before its removal, because Windows does not remove an open
// one. For the target itself, it also unlocks.
func (t *Target) closeDir(name string) {
	if d := t.dirs[name]; d != nil {
		d.Close()
	}
	if name == "." && t.lock != nil {
		t.lock.Close()
	}
}

// dir opens the directory name below the target, and creates it and its missing
// parents.
func (t *Target) dir(name string) (*os.Root, error) {
	if d := t.dirs[name]; d != nil {
		return d, nil
	}
	parent, err := t.dir(path.Dir(name))
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
	// Opening follows links inside the target. The plan found none, but one may have
	// replaced the directory since.
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
func (t *Target) stage(name string, data []byte) (tmp string, err error) {
	dir, err := t.dir(path.Dir(name))
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
	t.onFailure(path.Join(path.Dir(name), tmp), func() error { return ignoreMissing(dir.Remove(tmp)) })
	_, err = f.Write(data)
	return tmp, errors.Join(err, f.Close())
}

// tempName returns a new name for a temporary file.
func (t *Target) tempName() string {
	t.temps++
	return fmt.Sprintf(".vbot-%d-%d.tmp", os.Getpid(), t.temps)
}

// create writes data to name, where nothing may exist.
func (t *Target) create(name string, data []byte) error {
	tmp, err := t.stage(name, data)
	if err != nil {
		return err
	}
	if err := t.publish(tmp, Step{Path: name, data: data}); err != nil {
		return err
	}
	// The temporary file is gone, so drop the step that removes it.
	t.undo = slices.Delete(t.undo, len(t.undo)-2, len(t.undo)-1)
	return nil
}

// publish gives the staged file its name. Nothing may exist there.
func (t *Target) publish(tmp string, s Step) error {
	name, data := s.Path, s.data
	dir, base := t.dirs[path.Dir(name)], path.Base(name)
	remove := func(hash string) undoStep {
		return undoStep{name: name, do: func() error {
			if now, _, err := inspect(dir, base); err != nil || now != hash {
				return ignoreMissing(err) // changed since: no longer ours to remove
			}
			return dir.Remove(base)
		}}
	}
	// A link fails if the name is taken; a rename would overwrite it.
	err := dir.Link(tmp, base)
	if err == nil {
		t.undo = append(t.undo, remove(hexSum(data)))
		err = dir.Remove(tmp)
	} else if !errors.Is(err, fs.ErrExist) { // a file system without links
		var f *os.File
		// Take the name with an empty file, which is ours to overwrite.
		if f, err = dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			t.undo = append(t.undo, remove(hexSum(nil)))
			f.Close()
			err = dir.Rename(tmp, base)
		}
	}
	if err == nil {
		t.undo[len(t.undo)-1] = remove(hexSum(data))
	}
	return err
}

// replace replaces the file that the plan found by the staged one, or removes it if tmp is "".
// The old file stays beside it under a temporary name until everything is done, so that undoing
// needs no disk space.
func (t *Target) replace(tmp string, s Step) error {
	dir, err := t.dir(path.Dir(s.Path))
	if err != nil {
		return err
	}
	base := path.Base(s.Path)
	if err := t.checkAgain(s); err != nil {
		return err
	}
	if tmp != "" { // keep the permissions
		info, err := dir.Lstat(base)
		if err == nil {
			err = dir.Chmod(tmp, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	old := t.tempName()
	if err := dir.Link(base, old); err != nil {
		// A file system without links: for a moment, there is no file of this name.
		if err := dir.Rename(base, old); err != nil {
			return err
		}
	}
	t.onFailure(s.Path, func() error {
		// While both names are one file, the rename does nothing.
		return errors.Join(dir.Rename(old, base), ignoreMissing(dir.Remove(old)))
	})
	if tmp == "" {
		return ignoreMissing(dir.Remove(base))
	}
	return dir.Rename(tmp, base)
}

// checkAgain fails if the file is not the one that the plan found.
func (t *Target) checkAgain(s Step) error {
	now, err := t.look(s.Path)
	if err == nil && (now.at == "" || now.hash != s.Before) {
		err = errChanged
	}
	return err
}
