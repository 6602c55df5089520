package project

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"vbot/internal/report"
)

// A failure says what was attempted and why it failed, with a hint for common causes.
func TestFailureOf(t *testing.T) {
	const again, other = "run the same command again", "another program wrote there at the same time; "
	for _, c := range []struct {
		err, cause error
		hint       string
	}{
		{syscall.ENOSPC, syscall.ENOSPC, "free some space and " + again},
		{syscall.EACCES, syscall.EACCES, "choose a directory that you can write to"},
		{syscall.EROFS, syscall.EROFS, "choose a directory that you can write to"},
		{errChanged, errChanged, other + again},
		{&os.LinkError{Op: "link", Old: "x", New: "y", Err: syscall.EEXIST}, syscall.EEXIST, other + again},
		{io.ErrShortWrite, io.ErrShortWrite, ""},
	} {
		f := failureOf("writing a", c.err)
		if f.Message != "writing a: "+c.cause.Error() || f.Hint != c.hint || f.Code != report.IO {
			t.Errorf("%v: %+v", c.err, f)
		}
		if !errors.Is(f, c.cause) {
			t.Errorf("%v: the cause is %v", c.err, errors.Unwrap(f))
		}
		if got := ioFailure("writing a", c.err).Error(); got != f.Message+"; nothing was written" {
			t.Error(got)
		}
	}
}

// What cannot be undone is listed. The interim record then stays: it describes the files that are left.
func TestUndoThatFails(t *testing.T) {
	for _, fails := range []bool{false, true} {
		var done []string
		target := &Target{}
		target.onFailure(RecordName, func() error { done = append(done, RecordName); return nil })
		target.undo[0].onlyIfAll = true
		target.onFailure("a", func() error {
			if fails {
				return syscall.EIO
			}
			return nil
		})
		target.onFailure("b", func() error { return fs.ErrExist }) // another program put something there
		err := target.rollBack(&report.Failure{Message: "cancelled"})
		want, undone := "cancelled; nothing was written", 1
		if fails {
			want, undone = "cancelled; some new files could not be removed: a: "+syscall.EIO.Error(), 0
		}
		if err.Error() != want || len(done) != undone || target.undo != nil {
			t.Errorf("%v; undone: %q", err, done)
		}
	}
}

// A run that is over before it begins writes nothing.
func TestInterruptedBeforeItBegins(t *testing.T) {
	dir := t.TempDir()
	target, p := lockAndPlan(t, dir, texts{"a": "1\n"}.bytes(), false, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := report.As(target.Apply(ctx, p))
	if want := report.Interruption(); f.Code != want.Code || f.Error() != want.Error() || !f.Retryable {
		t.Errorf("%+v, want %+v", f, want)
	}
	if Has(dir, "a") {
		t.Error("a was written")
	}
}
