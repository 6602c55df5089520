package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"vbot/internal/report"
)

// An undoStep undoes one operation.
type undoStep struct {
	name string // the path, for the message if undoing fails
	do   func() error
	// onlyIfAll says to skip this if undoing a later step failed: the remaining files then match the
	// record, and the next update finishes it.
	onlyIfAll bool
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

// rollBack undoes what was done, and returns f. Its effect is that nothing was written, or what could not
// be undone.
func (t *Target) rollBack(f *report.Failure) error {
	if left := t.undoAll(); len(left) > 0 {
		f.Effect = "some new files could not be removed: " + errors.Join(left...).Error()
	} else {
		f.Effect = nothingWritten
	}
	return f
}

// nothingWritten is the effect of a run that left everything as it was.
const nothingWritten = "nothing was written"

// ioFailure returns the failure of an attempt such as "reading NAME", in a run that has written nothing.
func ioFailure(attempt string, err error) error {
	f := failureOf(attempt, err)
	f.Effect = nothingWritten
	return f
}

// failureOf returns the failure of an attempt, with a hint but no effect.
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
