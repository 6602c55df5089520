package tty_test

import (
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"vbot/internal/ptytest"
	"vbot/internal/tty"
)

// open returns a Terminal, the person's side of it, and how much was printed so far.
func open(t *testing.T) (term *tty.Terminal, keys *os.File, printed *atomic.Int64) {
	keys, file := ptytest.Pair(t, 80, 24)
	printed = new(atomic.Int64)
	closed := make(chan bool)
	go func() {
		defer close(closed)
		buf := make([]byte, 4096)
		for n, err := keys.Read(buf); err == nil; n, err = keys.Read(buf) {
			printed.Add(int64(n))
		}
	}()
	t.Cleanup(func() {
		io.WriteString(keys, "\n") // for a read that waits
		file.Close()
		<-closed
		keys.Close()
	})
	return tty.Open(file, file, false, true, strings.Clone), keys, printed
}

// Text that a terminal pastes as single keys is drawn when it is there, not at each.
func TestDrawsOnce(t *testing.T) {
	term, keys, printed := open(t)
	go io.WriteString(keys, strings.Repeat("0123456789", 1000)+"\r")
	said, err := term.Text(t.Context(), "Directory", "", func(string) (string, bool) { return "a note", true })
	if n := printed.Load(); err != nil || len(said) != 4096 || n > 20_000 {
		t.Errorf("%v: took %d bytes, and printed %d", err, len(said), n)
	}
}
