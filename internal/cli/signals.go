package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"vbot/internal/report"
)

// terminationSignals are the signals that ask a program to end. Go would react to SIGQUIT (Ctrl-\) and
// SIGABRT with a dump, and leave the terminal without echo.
var terminationSignals = []os.Signal{
	os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT,
}

// SurviveClosedPipes makes a write to a closed pipe fail instead of ending the program, so that a
// closed stderr loses only messages.
func SurviveClosedPipes() { signal.Ignore(syscall.SIGPIPE) }

// untilSignal returns a context that ends with the first termination signal. The second one ends the
// program immediately, because a call that cannot be interrupted may never return.
func untilSignal(ctx context.Context, e *Env) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	received := make(chan os.Signal, 1)
	for _, s := range terminationSignals {
		if !signal.Ignored(s) { // by nohup, for example
			signal.Notify(received, s)
		}
	}
	go func() {
		<-received
		cancel()
		<-received
		if t := e.terminal.Load(); t != nil {
			t.Restore()
		}
		os.Exit(report.Interruption().ExitCode())
	}()
	return ctx
}

// interruptible runs f, which may wait for a person or a pipe. It returns as soon as ctx
// ends, even if f has not returned.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
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
