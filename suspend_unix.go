//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// watchStops tells of the signals that stop the program for a while, if stops, or
// else of the one that lets it go on.
//
// Whoever watches for stops has to stop the program, for good: the Go runtime
// does not give the signal back its own effect.
func watchStops(stops bool) <-chan os.Signal {
	c := make(chan os.Signal, 1)
	s := syscall.SIGCONT
	if stops {
		s = syscall.SIGTSTP
	}
	if !signal.Ignored(s) {
		signal.Notify(c, s)
	}
	return c
}

func asksToStop(s os.Signal) bool { return s == syscall.SIGTSTP }

// suspend stops the program, and whatever was started with it, as Ctrl-Z does. It
// returns when the program goes on, and says whether it was stopped.
//
// SIGTTIN takes the place of SIGTSTP, which is watched. Unlike SIGSTOP it has no
// effect where no shell could wake the program up.
func suspend() bool {
	if signal.Ignored(syscall.SIGTSTP) {
		return false
	}
	awake := make(chan os.Signal, 1)
	signal.Notify(awake, syscall.SIGCONT)
	defer signal.Stop(awake)
	if syscall.Kill(0, syscall.SIGTTIN) != nil {
		return false
	}
	// Another thread may take the signal a moment later; and where no shell could
	// wake the program up, it does not stop at all.
	select {
	case <-awake:
		return true
	case <-time.After(time.Second):
		return false
	}
}
