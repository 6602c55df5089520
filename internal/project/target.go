package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"vbot/internal/report"
)

// maxFileName is the maximum length of a file name on common systems, in bytes.
const maxFileName = 255

// Suggest suggests a directory for the project: dir itself if it contains a project or only
// hidden files, otherwise a new directory in it.
func Suggest(dir string) string {
	entries, _ := os.ReadDir(dir)
	isVisible := func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }
	if Has(dir, RecordName) || !slices.ContainsFunc(entries, isVisible) {
		return "."
	}
	name := "my-bot"
	for n := 2; Has(dir, name); n++ {
		name = fmt.Sprintf("my-bot-%d", n)
	}
	return name
}

// Describe describes what is at dir. It returns an error if a project cannot go
// there, and changes nothing.
func Describe(dir string) (note string, err error) {
	root, err := openRoot(dir)
	if err != nil {
		return "", err
	}
	if root == nil {
		return "a new directory", nil
	}
	root.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", ioFailure("reading "+dir, err)
	}
	if _, err := os.Readlink(dir); err == nil {
		note = "a link to a directory; "
	}
	if len(entries) == 0 {
		return note + "an empty directory", nil
	}
	var names []string
	for _, e := range entries[:min(len(entries), 3)] {
		names = append(names, strings.Join(strings.Fields(e.Name()), " "))
	}
	if more := len(entries) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return note + "contains " + strings.Join(names, ", ") + "; existing files are not overwritten", nil
}

// Writable returns an error if nothing can be created at dir, which need not exist. It tries,
// because permissions do not tell for a read-only file system, for /proc, or for root.
func Writable(dir string) error {
	up, attempt := dir, "writing to "
	for _, err := os.Stat(up); err != nil; _, err = os.Stat(up) {
		if len(filepath.Base(up)) > maxFileName {
			return ioFailure("creating "+dir, errors.New("file name too long"))
		}
		up, attempt = filepath.Dir(up), "creating "
	}
	made, err := os.MkdirTemp(up, ".vbot-*.tmp")
	if err == nil {
		err = os.Remove(made)
	}
	if err != nil {
		return ioFailure(attempt+dir, err)
	}
	return nil
}

// BotName is the file of a project that every bot has.
const BotName = "server/bot.py"

// Has reports whether dir has a file of this name, which has slashes.
func Has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// A Target is the directory of a project. While it is locked, no other run of vbot writes
// there, so only other programs can change what was read.
type Target struct {
	Dir   string              // absolute
	dirs  map[string]*os.Root // by path below the target; "." is the target, nil if it does not exist
	lock  io.Closer
	undo  []undoStep // what to do if the run fails, newest last
	temps int        // how many temporary names this run has used
	// Unlocked is why the target could not be locked: its file system has no locks.
	Unlocked error
}

// An undoStep undoes one operation.
type undoStep struct {
	name string // the path, for the message if undoing fails
	do   func() error
	// onlyIfAll says to skip this if undoing a later step failed: the remaining files then match the
	// record, and the next update finishes it.
	onlyIfAll bool
}

// Open opens dir for reading. It is absolute, and need not exist.
func Open(dir string) (*Target, error) {
	root, err := openRoot(dir)
	return &Target{Dir: dir, dirs: map[string]*os.Root{".": root}}, err
}

// Lock opens dir for writing. It creates dir and its missing parents, which Close removes
// again if nothing was applied.
func Lock(dir string) (*Target, error) {
	t, err := Open(dir)
	if err != nil {
		return nil, err
	}
	busy := false
	made, err := makeDirs(dir)
	if err == nil && t.dirs["."] == nil {
		t.dirs["."], err = os.OpenRoot(dir)
	}
	if err == nil {
		t.lock, err = lock(t.dirs["."])
		if busy = errors.Is(err, fs.ErrExist); !busy {
			t.Unlocked, err = err, nil
		}
	}
	if err == nil && !t.isAt(dir) {
		err = errChanged // another run created it, and removed it again
	}
	for _, d := range made {
		t.onFailure(d, func() error {
			t.closeDir(".")
			return os.Remove(d)
		})
	}
	switch {
	case err == nil:
		return t, nil
	case busy:
		t.undo = nil // the other run needs the new directories
		err = &report.Failure{
			Code: report.IO, Retryable: true, Message: "another vbot is writing to " + dir + nothingWritten,
			Hint: "run the same command again when it has finished", Err: err,
		}
	default:
		err = t.rollBack(failureOf("creating "+dir, err))
	}
	t.Close()
	return nil, err
}

// isAt reports whether the open target is still at dir.
func (t *Target) isAt(dir string) bool {
	opened, err := t.dirs["."].Stat(".")
	there, err2 := os.Stat(dir)
	return err == nil && err2 == nil && os.SameFile(opened, there)
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

// onFailure notes what undoes an operation on the file or directory called name.
func (t *Target) onFailure(name string, do func() error) {
	t.undo = append(t.undo, undoStep{name: name, do: do})
}

// undoAll undoes what was done, and returns the errors. A directory stays if others put something into it.
func (t *Target) undoAll() (left []error) {
	for _, u := range slices.Backward(t.undo) {
		if u.onlyIfAll && len(left) > 0 {
			continue
		}
		if err := u.do(); err != nil && !errors.Is(err, fs.ErrExist) {
			left = append(left, fmt.Errorf("%s: %w", u.name, report.Cause(err)))
		}
	}
	t.undo = nil
	return left
}

// rollBack undoes what was done, and returns f with a message that says so, or what could not be undone.
func (t *Target) rollBack(f *report.Failure) error {
	if left := t.undoAll(); len(left) > 0 {
		f.Message += "; some new files could not be removed: " + errors.Join(left...).Error()
	} else {
		f.Message += nothingWritten
	}
	return f
}

// path returns the full path of a file, whose name has slashes.
func (t *Target) path(name string) string { return filepath.Join(t.Dir, filepath.FromSlash(name)) }

// nothingWritten ends the message of a run that left everything as it was.
const nothingWritten = "; nothing was written"

// openRoot opens dir, or returns nil if it does not exist yet. It returns an error if dir
// cannot be created, because it or a parent is a dangling link or not a directory.
func openRoot(dir string) (*os.Root, error) {
	inTheWay := func(at, what string) error {
		return &report.Failure{Code: report.Conflict, Message: at + " is " + what + nothingWritten}
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

// ioFailure returns the failure of an attempt such as "reading NAME", in a run that has written nothing.
func ioFailure(attempt string, err error) error {
	f := failureOf(attempt, err)
	f.Message += nothingWritten
	return f
}

// failureOf returns the failure of an attempt, with a hint. Its message does not say what was written.
func failureOf(attempt string, err error) *report.Failure {
	cause := err
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	f := report.IOError(attempt, cause)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		f.Hint = "free some space and run the same command again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		f.Hint = "choose a directory that you can write to"
	case errors.Is(err, fs.ErrExist), errors.Is(err, errChanged):
		f.Hint = "another program wrote there at the same time; run the same command again"
	}
	return f
}

// typeName returns the type of a file for messages.
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
