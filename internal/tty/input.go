package tty

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// read starts a read unless one is running, and returns the channel for its result.
func (t *Terminal) read() chan []byte {
	if t.pending == nil {
		result := make(chan []byte, 1)
		t.pending = result
		go func() {
			b := make([]byte, 1)
			n, _ := t.in.Read(b)
			result <- b[:n]
		}()
	}
	return t.pending
}

// more reports whether there is more input, waiting at most d for it.
func (t *Terminal) more(ctx context.Context, d time.Duration) bool {
	if len(t.keys) > 0 {
		return true
	}
	select {
	case b := <-t.read():
		t.pending <- b // for readByte
		return true
	case <-ctx.Done():
	case <-time.After(d):
	}
	return false
}

// readByte waits for a byte.
func (t *Terminal) readByte(ctx context.Context) (byte, error) {
	select {
	case b := <-t.read():
		t.pending = nil
		if len(b) > 0 {
			return b[0], nil
		}
	case <-ctx.Done():
	}
	return 0, context.Canceled
}

// next waits for a key, or returns keyNone where only a redraw may be needed.
//
// It polls for a new size or mode at every pause: unlike SIGWINCH and SIGCONT, that
// works on every system.
func (t *Terminal) next(ctx context.Context) (key, error) {
	for len(t.keys) == 0 {
		if !t.more(ctx, t.decoder.timeout()) && ctx.Err() == nil {
			t.keys = t.decoder.Flush()
			if t.reenterRaw() || t.updateSize() {
				t.keys = append(t.keys, key{Name: keyNone})
			}
			continue
		}
		b, err := t.readByte(ctx)
		if err != nil {
			return key{}, err
		}
		t.keys = t.decoder.Take(b)
	}
	k := t.keys[0]
	t.keys = t.keys[1:]
	return k, nil
}

// plainLine prints the prompt and reads the answer to a plain question, with the terminal's
// own line editing.
func (t *Terminal) plainLine(ctx context.Context, prompt string) (string, error) {
	io.WriteString(t.out, t.printable(prompt))
	var line []byte
	for {
		b, err := t.readByte(ctx)
		if err != nil && (len(line) == 0 || ctx.Err() != nil) {
			fmt.Fprintln(t.out)
			return "", err
		}
		if err == nil && b != '\n' {
			line = append(line, b)
			continue
		}
		said := strings.TrimSpace(string(line))
		if t.Back && said == PlainBack {
			return "", ErrBack
		}
		return said, nil
	}
}
