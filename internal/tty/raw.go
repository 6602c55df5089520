package tty

import (
	"fmt"
	"io"

	"golang.org/x/term"
)

// Bracketed paste: the terminal marks pasted text, so that a line end in it does not
// count as Enter.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// enterRaw switches to raw mode: single keys, no echo. release restores the mode, if
// this call changed it, and may be called twice. Callers defer it.
func (t *Terminal) enterRaw() (release func(), err error) {
	if t.modeBefore.Load() != nil {
		return func() {}, nil // an outer call releases it
	}
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("switching the terminal to raw mode: %w", err)
	}
	t.modeBefore.Store(before)
	t.rawMode, _ = term.GetState(fd)
	t.control(pasteOn)
	return func() {
		if t.modeBefore.Load() != nil {
			t.control(pasteOff)
			t.Restore()
		}
	}, nil
}

// Restore ends raw mode immediately. Other goroutines may call it, for a program that
// ends while it still prints.
func (t *Terminal) Restore() {
	if before := t.modeBefore.Swap(nil); before != nil {
		term.Restore(int(t.in.Fd()), before)
	}
}

// reenterRaw returns to raw mode if something else changed the mode, as a shell does
// while the program is stopped. It reports whether it did.
func (t *Terminal) reenterRaw() bool {
	now, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil || t.rawMode == nil || *now == *t.rawMode {
		return false
	}
	t.control(pasteOn)
	t.shown = view{} // the cursor is elsewhere
	return true
}

// Hold keeps the terminal from echoing between questions, until release. For plain
// questions, which need the echo, it does nothing.
func (t *Terminal) Hold() (release func(), err error) {
	if t.Plain {
		return func() {}, nil
	}
	return t.enterRaw()
}

// control writes a control sequence, but not to a plain terminal.
func (t *Terminal) control(sequence string) {
	if !t.Plain {
		io.WriteString(t.out, sequence)
	}
}
