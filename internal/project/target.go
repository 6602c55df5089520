package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"vbot/internal/report"
)

// A Target is the directory of a project. While it is locked, no other run of vbot writes there, so only
// other programs can change what was read.
type Target struct {
	Dir   string              // absolute
	dirs  map[string]*os.Root // by path below the target; "." is the target, nil if it does not exist
	lock  io.Closer
	undo  []undoStep // what to do if the run fails, newest last
	temps int        // how many temporary names this run has used
	// Unlocked is why the target could not be locked: its file system has no locks.
	Unlocked error
}

// Open opens dir for reading. It is absolute, and need not exist.
func Open(dir string) (*Target, error) {
	root, err := openRoot(dir)
	return &Target{Dir: dir, dirs: map[string]*os.Root{".": root}}, err
}

// Lock opens dir for writing. It creates dir and its missing parents, which Close removes again if nothing
// was applied.
func Lock(dir string) (*Target, error) {
	t, err := Open(dir)
	if err != nil {
		return nil, err
	}
	err = t.makeAndLock()
	if err == nil {
		return t, nil
	}
	defer t.Close()
	if errors.Is(err, errLocked) {
		t.undo = nil // the other run needs the new directories
		return nil, &report.Failure{
			Code:      report.IO,
			Message:   "another vbot is writing to " + dir,
			Effect:    nothingWritten,
			Hint:      "run the same command again when it has finished",
			Retryable: true,
			Err:       err,
		}
	}
	return nil, t.rollBack(failureOf("creating "+dir, err))
}

// errLocked is the error of lock if another run has the lock.
var errLocked = errors.New("locked by another run")

// makeAndLock creates the directory of the target, and locks it if its file system has locks. If another run
// has the lock, the error is errLocked.
func (t *Target) makeAndLock() error {
	made, err := makeDirs(t.Dir)
	for _, d := range made {
		t.onFailure(d, func() error {
			t.closeDir(".")
			return os.Remove(d)
		})
	}
	if err != nil {
		return err
	}
	if t.dirs["."] == nil {
		if t.dirs["."], err = os.OpenRoot(t.Dir); err != nil {
			return err
		}
	}
	t.lock, err = lock(t.dirs["."])
	if errors.Is(err, errLocked) {
		return err
	}
	t.Unlocked = err
	if !t.isAt(t.Dir) {
		return errChanged // another run created it, and removed it again
	}
	return nil
}

// isAt reports whether the open target is still at dir.
func (t *Target) isAt(dir string) bool {
	opened, err := t.dirs["."].Stat(".")
	if err != nil {
		return false
	}
	named, err := os.Stat(dir)
	return err == nil && os.SameFile(opened, named)
}

// makeDirs creates dir and its missing parents, and returns those that it created.
func makeDirs(dir string) (made []string, err error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		switch err := os.Mkdir(d, 0o755); {
		case err == nil:
			made = append(made, d)
		case !errors.Is(err, fs.ErrExist): // another run was faster
			return made, err
		}
	}
	return made, nil
}

// Close unlocks the target, and undoes what was not applied.
func (t *Target) Close() {
	t.undoAll()
	for name := range t.dirs {
		t.closeDir(name)
	}
}

// path returns the full path of a file, whose name has slashes.
func (t *Target) path(name string) string { return filepath.Join(t.Dir, filepath.FromSlash(name)) }

// openRoot opens dir, or returns nil if it does not exist yet. It returns an error if dir cannot be created,
// because it or a parent is a dangling link or not a directory.
func openRoot(dir string) (*os.Root, error) {
	inTheWay := func(at, what string) error {
		return &report.Failure{Code: report.Conflict, Message: at + " is " + what, Effect: nothingWritten}
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		switch {
		case err == nil && !info.IsDir():
			return nil, inTheWay(d, "a "+typeName(info.Mode())+", not a directory")
		case err == nil && d == dir:
			root, err := os.OpenRoot(dir)
			if err != nil {
				return nil, ioFailure("opening "+dir, err)
			}
			return root, nil
		case err == nil || d == filepath.Dir(d):
			return nil, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return nil, ioFailure("reading "+dir, err)
		}
		if _, err := os.Lstat(d); err == nil {
			return nil, inTheWay(d, "a dangling link")
		}
	}
}
