//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// suspend stops the program, and whatever was started with it, as Ctrl-Z does. It
// returns when the program goes on.
func suspend() {
	if signal.Ignored(syscall.SIGTSTP) {
		return
	}
	awake := make(chan os.Signal, 1)
	signal.Notify(awake, syscall.SIGCONT)
	defer signal.Stop(awake)
	if syscall.Kill(0, syscall.SIGTSTP) != nil {
		return
	}
	// Another thread may take the signal a moment later; and where no shell could
	// wake the program up, it does not stop at all.
	select {
	case <-awake:
	case <-time.After(time.Second):
	}
}
