// Package tty asks questions at a terminal. It reads single keys, redraws the question
// at each key, and restores the terminal at the end.
//
// Ctrl-Z does nothing during a question. If the program is stopped in another way
// (kill -STOP), it takes the terminal back when it continues.
package tty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// IsTerminal reports whether stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A Terminal asks the questions of one run. Each question reads up to the Enter that
// ends it, so the next one sees what was typed ahead.
//
// Its methods return context.Canceled if the person leaves (Ctrl-C, Ctrl-D when
// nothing is typed, a closed terminal) or the context ends.
type Terminal struct {
	Plain bool // no cursor movement; the terminal's own line editing

	in     *os.File
	out    io.Writer
	width  int // in columns, at the last update
	height int // in lines

	// A read from a terminal cannot be cancelled. So there is at most one, and the next
	// question takes its result.
	reading bool
	found   chan reading
	decoder Decoder
	keys    []Key
	due     time.Time // when to flush the decoder

	holds   int                        // nested calls of enterRaw
	was     atomic.Pointer[term.State] // the mode before raw mode, nil out of it
	raw     *term.State                // raw mode
	shown   View                       // the block on the screen
	holding bool                       // between Hold and its release
	record  []Row                      // the rows printed since Hold
	broken  bool                       // after a resize: the terminal may have rewrapped lines
}

// A reading is the result of one read from the terminal.
type reading struct {
	b   byte
	err error
}

// Open returns a Terminal that reads from in and writes to out.
func Open(in *os.File, out io.Writer, plain bool) *Terminal {
	t := &Terminal{in: in, out: out, Plain: plain, found: make(chan reading, 1)}
	t.updateSize()
	return t
}

// updateSize reads the size of the terminal and reports whether it changed.
func (t *Terminal) updateSize() bool {
	width, height := 0, 0
	if f, ok := t.out.(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd()))
	}
	if width < 1 || height < 1 {
		width, height = 80, 24 // some terminals do not report it
	}
	changed := width != t.width || height != t.height
	t.broken = t.broken || changed
	t.width, t.height = width, height
	return changed
}

// Raw mode.

// Bracketed paste: the terminal marks pasted text, so that a line end in it does not
// count as Enter.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// enterRaw switches to raw mode: single keys, no echo. release restores the mode and
// may be called twice. Callers defer it.
func (t *Terminal) enterRaw() (release func(), err error) {
	fd := int(t.in.Fd())
	if t.holds == 0 {
		was, err := term.MakeRaw(fd)
		if err != nil {
			return nil, fmt.Errorf("switching the terminal to raw mode: %w", err)
		}
		t.was.Store(was)
		t.raw, _ = term.GetState(fd)
		t.mark(pasteOn)
	}
	t.holds++
	released := false
	return func() {
		if released {
			return
		}
		released = true
		if t.holds--; t.holds == 0 {
			t.mark(pasteOff)
			t.Restore()
		}
	}, nil
}

// Restore ends raw mode at once. Other goroutines may call it, for a program that ends
// while it still prints.
func (t *Terminal) Restore() {
	if was := t.was.Swap(nil); was != nil {
		term.Restore(int(t.in.Fd()), was)
	}
}

// reenterRaw returns to raw mode if something else changed the mode, as a shell does
// while the program is stopped. It reports whether it did.
func (t *Terminal) reenterRaw() bool {
	now, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil || t.raw == nil || *now == *t.raw {
		return false
	}
	t.mark(pasteOn)
	t.shown = View{} // the cursor is elsewhere
	return true
}

// Hold keeps the terminal from echoing between questions, until release. For plain
// questions it does nothing.
func (t *Terminal) Hold() (release func(), err error) {
	if t.Plain {
		return func() {}, nil
	}
	restore, err := t.enterRaw()
	if err != nil {
		return nil, err
	}
	t.holding, t.record = true, nil
	return func() {
		t.holding = false
		restore()
	}, nil
}

func (t *Terminal) mark(sequence string) {
	if !t.Plain {
		io.WriteString(t.out, sequence)
	}
}

// Reading.

// read starts a read unless one is running.
func (t *Terminal) read() {
	if t.reading {
		return
	}
	t.reading = true
	go func() {
		var b [1]byte
		_, err := io.ReadFull(t.in, b[:])
		t.found <- reading{b[0], err}
	}()
}

// next waits for a key, or returns KeyNone to request a redraw.
//
// It polls for a new size or mode at every tick: unlike SIGWINCH and SIGCONT, that
// works on every system.
func (t *Terminal) next(ctx context.Context, ticks <-chan time.Time) (Key, error) {
	for len(t.keys) == 0 {
		if ctx.Err() != nil {
			return Key{}, context.Canceled
		}
		var late <-chan time.Time
		if t.decoder.patience() > 0 {
			late = time.After(time.Until(t.due))
		}
		t.read()
		select {
		case <-ctx.Done():
			return Key{}, context.Canceled
		case r := <-t.found:
			t.reading = false
			if r.err != nil {
				return Key{}, context.Canceled
			}
			t.keys = t.decoder.Take(r.b)
			t.due = time.Now().Add(t.decoder.patience())
		case <-late:
			t.keys = t.decoder.Flush()
		case <-ticks:
			if t.reenterRaw() || t.updateSize() {
				return Key{Name: KeyNone}, nil
			}
		}
	}
	k := t.keys[0]
	t.keys = t.keys[1:]
	return k, nil
}

// Line prints the prompt and reads a line with the terminal's own line editing.
func (t *Terminal) Line(ctx context.Context, prompt string) (string, error) {
	io.WriteString(t.out, prompt)
	var line []byte
	for {
		t.read()
		select {
		case <-ctx.Done():
			fmt.Fprintln(t.out)
			return "", context.Canceled
		case r := <-t.found:
			t.reading = false
			if r.err != nil && len(line) == 0 {
				fmt.Fprintln(t.out)
				return "", context.Canceled
			}
			if r.err != nil || r.b == '\n' {
				return strings.TrimRight(string(line), "\r"), nil
			}
			line = append(line, r.b)
		}
	}
}

// MaxLine is the maximum length of a line in a terminal's buffer, in bytes, with the
// line end (N_TTY_BUF_SIZE of Linux). Longer lines, pasted ahead of the question, may
// have been truncated.
const MaxLine = 4096

// ErrTooLong means that the terminal may have truncated a hidden line.
var ErrTooLong = errors.New("the line is longer than a terminal allows")

// Hidden prints the prompt and reads a line without showing it.
func (t *Terminal) Hidden(ctx context.Context, prompt string) (string, error) {
	release, err := t.enterRaw()
	if err != nil {
		return "", err
	}
	defer release()
	defer io.WriteString(t.out, "\r\n")
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	show := func() { fmt.Fprintf(t.out, "\r%s ", prompt) }
	show()

	var typed []byte
	odd := "" // why the input is refused, or ""
	for {
		k, err := t.next(ctx, ticks.C)
		if err != nil {
			return "", err
		}
		switch k.Name {
		case KeyEnter:
			if len(typed) >= MaxLine-1 {
				return "", ErrTooLong
			}
			if odd == "" {
				return string(typed), nil
			}
			fmt.Fprintf(t.out, "\r\n%s. Try again.\r\n", odd)
			typed, odd = nil, ""
			show()
		case KeyInterrupt:
			return "", context.Canceled
		case KeyEOF:
			if len(typed) == 0 {
				return "", context.Canceled
			}
		case KeyBackspace:
			_, size := utf8.DecodeLastRune(typed)
			typed = typed[:len(typed)-size]
		case keyKill:
			typed, odd = nil, ""
		case KeyNone:
			show()
		case KeyText, KeyTab:
			typed = append(typed, k.Text...)
		case KeyPaste:
			text := strings.TrimRight(k.Text, "\r\n")
			if strings.ContainsAny(text, "\r\n") && !strings.HasPrefix(text, "-----BEGIN ") {
				odd = "Expected one line, but several were pasted"
			}
			text, _, _ = strings.Cut(text, "\n")
			text, _, _ = strings.Cut(text, "\r")
			typed = append(typed, text...)
		default:
			odd = "That key types no character"
		}
	}
}

// Drawing.

// toTop returns the sequence that moves the cursor to the top of the block. A terminal
// that became narrower may have rewrapped its lines.
func (t *Terminal) toTop() string {
	n := t.shown.Column / t.width
	for _, r := range t.shown.Rows[:min(t.shown.Line, len(t.shown.Rows))] {
		n += 1 + max(0, r.width()-1)/t.width
	}
	if n == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", n)
}

// reprint clears a resized screen and prints the last rows of the record that fit
// above rows lines. Terminals differ in where they put a tall block after a resize.
func (t *Terminal) reprint(b *strings.Builder, rows int) {
	from, left := len(t.record), t.height-rows
	for from > 0 {
		if left -= 1 + max(0, t.record[from-1].width()-1)/t.width; left < 0 {
			break
		}
		from--
	}
	b.WriteString("\x1b[H\x1b[J")
	for _, r := range t.record[from:] {
		r.write(b, 1<<20)
		b.WriteString("\r\n")
	}
}

// draw replaces the block by v. It is one write that erases no line before rewriting
// it, to avoid flicker. The last column stays free: terminals differ in how they
// wrap there.
func (t *Terminal) draw(v View) {
	var b strings.Builder
	if t.broken && len(t.shown.Rows) > 0 && t.holding {
		t.reprint(&b, len(v.Rows))
	} else {
		b.WriteString(t.toTop())
	}
	t.broken = false
	for i, r := range v.Rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		r.write(&b, t.width-1)
		b.WriteString("\x1b[K")
	}
	b.WriteString("\x1b[J\r")
	if n := len(v.Rows) - 1 - v.Line; n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	if v.Column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", v.Column)
	}
	io.WriteString(t.out, b.String())
	// Remember what fits.
	for i, r := range v.Rows {
		if r.width() > t.width-1 {
			v.Rows[i] = Row{{Normal, r.Text(t.width - 1)}}
		}
	}
	t.shown = v
}

// collapse replaces the block by one row.
func (t *Terminal) collapse(r Row) {
	var b strings.Builder
	b.WriteString(t.toTop() + "\x1b[J")
	r.write(&b, 1<<20) // the terminal may wrap it: nothing is drawn over it
	b.WriteString("\r\n")
	io.WriteString(t.out, b.String())
	t.shown = View{}
	t.record = append(t.record, r)
}

// Say prints lines between questions.
func (t *Terminal) Say(text string) {
	if t.Plain {
		io.WriteString(t.out, text+"\n")
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines := []string{line}
		if Width(line) > t.width {
			lines = wrap(line, t.width)
		}
		for _, line := range lines {
			io.WriteString(t.out, line+"\r\n")
			t.record = append(t.record, Row{{Normal, line}})
		}
	}
}

// A Question is a question with the state of its answer. It does not know the
// terminal.
type Question interface {
	// Press applies a key and reports whether the question is answered.
	Press(k Key) bool
	// View draws the question for a terminal of this size.
	View(width, height int) View
	// Blank reports whether nothing is typed; then Ctrl-D leaves.
	Blank() bool
	// Title and Answer remain on the screen.
	Title() string
	Answer() string
}

// Ask asks q until it is answered.
func (t *Terminal) Ask(ctx context.Context, q Question) error {
	release, err := t.enterRaw()
	if err != nil {
		return err
	}
	defer release()
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for t.updateSize(); ; {
		t.draw(q.View(t.width, t.height))
		k, err := t.next(ctx, ticks.C)
		if k.Name == KeyInterrupt || k.Name == KeyEOF && q.Blank() {
			err = context.Canceled
		}
		if err != nil {
			t.collapse(Row{{Bold, "? " + q.Title()}})
			return err
		}
		if k.Name != KeyNone && q.Press(k) {
			t.collapse(Row{{Bold, "? " + q.Title()}, {Normal, "  "}, {Cyan, q.Answer()}})
			return nil
		}
	}
}
