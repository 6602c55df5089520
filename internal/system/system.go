// Package system has what vbot needs of the system that it runs on: environment variables, the working
// directory, the clock, randomness, and a place for messages. Tests replace it.
package system

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"vbot/internal/report"
)

// A System is the system of one run.
type System struct {
	Program string                   // name and version for HTTP requests: "vbot/0.1.0"
	Dir     string                   // the working directory, absolute; "" if it was deleted
	Getenv  func(name string) string // as os.Getenv
	Stderr  io.Writer
	// Warnings has the warnings of the command so far, for its JSON; nil if nobody reads them.
	Warnings *[]report.Warning

	Now func() time.Time
	// Pause waits, or returns the error of the context if that ends first.
	Pause func(context.Context, time.Duration) error
	// WithTimeout is context.WithTimeout, by the same clock as Now and Pause.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	Random      func() float64 // in [0, 1)
}

// Path resolves name against the working directory.
func (s System) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(s.Dir, name)
}

// Note prints a message to stderr immediately.
func (s System) Note(format string, args ...any) {
	fmt.Fprintln(s.Stderr, report.Printable(fmt.Sprintf(format, args...)))
}

// Warn prints a warning to stderr immediately, and keeps it for the JSON of the command. field and where are
// as in report.Problems.Add.
func (s System) Warn(field, where, format string, args ...any) {
	w := report.Warning{Field: field, Message: report.Printable(fmt.Sprintf(format, args...))}
	if s.Warnings != nil {
		*s.Warnings = append(*s.Warnings, w)
	}
	if where != "" {
		where += ": "
	}
	s.Note("%s%s", where, w.Message)
}

// Pause waits for d. If ctx ends first, it returns the error of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
