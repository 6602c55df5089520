// Package cli is the command line: what a command runs with, its options, dispatch, help
// and completion. It knows no command.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"vbot/internal/report"
	"vbot/internal/tty"
)

// App holds everything that a run takes from outside. Tests replace it.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Dir    string // the working directory, absolute; "" if it was deleted
	Now    func() time.Time
	Pause  func(context.Context, time.Duration) error
	// WithTimeout is context.WithTimeout, by the same clock as Now and Pause.
	WithTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc)
	Random      func() float64               // in [0, 1)
	NoInput     bool                         // --no-input was given
	term        atomic.Pointer[tty.Terminal] // nil before the first question
}

// Sleep waits for d. If ctx ends first, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Note prints a message to stderr.
func (a *App) Note(format string, args ...any) {
	fmt.Fprintln(a.Stderr, report.Printable(fmt.Sprintf(format, args...)))
}

// isDumb reports whether the terminal knows neither colours nor cursor movement, or is
// unknown, as on Windows.
func (a *App) isDumb() bool {
	kind := a.Getenv("TERM")
	return kind == "" || kind == "dumb"
}

// colors reports whether stderr shows colours.
func (a *App) colors() bool {
	return tty.IsTerminal(a.Stderr) && !a.isDumb() && a.Getenv("NO_COLOR") == ""
}

// Terminal returns the terminal at which vbot can ask.
func (a *App) Terminal() *tty.Terminal {
	if a.term.Load() == nil {
		in, _ := a.Stdin.(*os.File) // it is one, if vbot can ask
		plain := a.isDumb() || a.Getenv("VBOT_PLAIN_PROMPTS") != ""
		a.term.Store(tty.Open(in, a.Stderr, plain, a.Getenv("NO_COLOR") == "", report.Printable))
	}
	return a.term.Load()
}

// endings are the signals that ask a program to end. Go would answer SIGQUIT (Ctrl-\) and
// SIGABRT with a dump, and leave the terminal without echo.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT}

// UntilInterrupted returns a context that ends with the first of these signals. The second
// one ends the program at once, wherever it is: something that cannot be interrupted may
// never return. SIGPIPE ends nothing: a reader of stderr that has gone costs its text alone.
func UntilInterrupted(ctx context.Context, a *App) context.Context {
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan os.Signal, 1)
	for _, s := range endings {
		if !signal.Ignored(s) { // by nohup, for example
			signal.Notify(asked, s)
		}
	}
	go func() {
		<-asked
		cancel()
		<-asked
		if t := a.term.Load(); t != nil {
			t.Restore()
		}
		os.Exit(report.Interruption().ExitCode())
	}()
	return ctx
}

// Interruptible runs f, which may wait for a person or a pipe. It returns as soon as ctx
// ends, even if f has not returned.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, report.Interruption()
	case o := <-done:
		return o.value, o.err
	}
}

// ReadAll reads a file or pipe of at most limit bytes; "-" is stdin.
func ReadAll(ctx context.Context, a *App, name string, limit int64) ([]byte, error) {
	return Interruptible(ctx, func() ([]byte, error) {
		in := a.Stdin
		if name != "-" {
			f, err := os.Open(a.Path(name))
			if err != nil {
				return nil, report.Cause(err)
			}
			defer f.Close()
			in = f
		}
		data, err := io.ReadAll(io.LimitReader(in, limit+1))
		if err == nil && int64(len(data)) > limit {
			err = fmt.Errorf("larger than %d bytes", limit)
		}
		return data, report.Cause(err)
	})
}

// Path resolves name against the working directory.
func (a *App) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(a.Dir, name)
}

// ShellQuote quotes s if necessary: for a POSIX shell, or on Windows for PowerShell and
// cmd.
func ShellQuote(s string) string { return QuoteOn(runtime.GOOS, s) }

// QuoteOn is ShellQuote on another system.
func QuoteOn(goos, s string) string {
	safe := "_@%+=:,./-"
	if goos == "windows" {
		safe += `\`
	}
	special := func(r rune) bool {
		return !(r >= '0' && r <= '9') && !(r >= 'A' && r <= 'Z') && !(r >= 'a' && r <= 'z') && !strings.ContainsRune(safe, r)
	}
	switch {
	case s != "" && strings.IndexFunc(s, special) < 0:
		return s
	case goos == "windows":
		return `"` + s + `"` // no path holds a double quote
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShellPath quotes a path, and keeps it from looking like an option.
func ShellPath(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	return ShellQuote(s)
}
