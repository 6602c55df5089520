// Package tty asks questions at a terminal. It reads single keys, redraws the question
// after them, and restores the terminal at the end.
//
// Ctrl-Z does nothing during a question. If the program is stopped in another way
// (kill -STOP), it sets up the terminal again when it continues.
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
// Its methods return context.Canceled if the person cancels (Ctrl-C, Ctrl-D when
// nothing is typed, a closed terminal) or the context ends.
type Terminal struct {
	Plain bool // no cursor movement; the terminal's own line editing
	Back  bool // the person can go back to the previous question

	styles    bool                // colors, bold and faint text
	printable func(string) string // drops what would move the cursor
	in        *os.File
	out       io.Writer
	width     int // in columns, at the last update
	height    int // in lines

	// A read from a terminal cannot be cancelled. So there is at most one, and the next
	// question takes its result: a byte, or none if the terminal was closed.
	pending chan []byte // gets the result of the read; nil if no read is running
	decoder decoder
	keys    []key // decoded and not yet used

	modeBefore atomic.Pointer[term.State] // the mode before raw mode, nil outside raw mode
	rawMode    *term.State
	shown      view  // the block on the screen
	shownWidth int   // the terminal's width when the block was drawn, in columns
	printed    []row // the rows above the block that this Terminal printed
}

// ErrBack means that the person wants to go back to the previous question.
var ErrBack = errors.New("back to the last question")

// Open returns a Terminal that reads from in and writes to out.
func Open(in *os.File, out io.Writer, plain, styles bool, printable func(string) string) *Terminal {
	t := &Terminal{in: in, out: out, Plain: plain, styles: styles, printable: printable}
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

// Reading.

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
		if !t.more(ctx, t.decoder.patience()) && ctx.Err() == nil {
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

// Drawing.

// drawPause is how long to wait for more input before drawing. Text that a terminal pastes as
// single keys is drawn once.
const drawPause = 5 * time.Millisecond

// Sequences that turn line wrapping of the terminal off and on.
const (
	wrapOff = "\x1b[?7l"
	wrapOn  = "\x1b[?7h"
)

// up returns the sequence that moves the cursor from this column up by these rows, to
// the first column. A terminal that became narrower may have wrapped them again.
func (t *Terminal) up(rows []row, column int) string {
	n := column / t.width
	for _, r := range rows {
		n += 1 + max(0, r.width()-1)/t.width
	}
	if n == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", n)
}

// toTop returns the sequence that moves the cursor to the top of the block. Lines above
// it, such as output of the shell, are never redrawn.
func (t *Terminal) toTop() string {
	return t.up(t.shown.Rows[:t.shown.line], t.shown.Column)
}

// Mark returns a position above the next question, for Rewind.
func (t *Terminal) Mark() int { return len(t.printed) }

// Rewind erases what was printed since the mark, but not if questions are plain.
func (t *Terminal) Rewind(mark int) {
	if !t.Plain {
		io.WriteString(t.out, t.up(t.printed[mark:], 0)+"\x1b[J")
		t.printed = t.printed[:mark]
	}
}

// draw replaces the block by v. To avoid flicker, it uses one write, and erases no line
// before rewriting it. The last column stays free, because terminals wrap there in
// different ways. Wrapping is off meanwhile, so that a row stays one row even if the
// terminal has just become narrower.
func (t *Terminal) draw(v view) {
	var b strings.Builder
	b.WriteString(t.toTop() + wrapOff)
	if t.shownWidth != t.width {
		b.WriteString("\x1b[J") // otherwise a wider terminal may join rows that it had wrapped
		t.shownWidth = t.width
	}
	for i, r := range v.Rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		v.Rows[i] = r.cut(t.width - 1)
		t.write(&b, v.Rows[i])
		b.WriteString("\x1b[K")
	}
	b.WriteString("\x1b[J\r")
	if n := len(v.Rows) - 1 - v.line; n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	if v.Column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", v.Column)
	}
	io.WriteString(t.out, b.String()+wrapOn)
	t.shown = v
}

// write appends the row.
func (t *Terminal) write(b *strings.Builder, r row) {
	for _, s := range r {
		text := t.printable(s.Text)
		if t.styles && text != "" && s.style != normal {
			text = fmt.Sprintf("\x1b[%sm%s\x1b[m", s.style, text)
		}
		b.WriteString(text)
	}
}

// collapse replaces the block by rows that stay.
func (t *Terminal) collapse(rows ...row) {
	io.WriteString(t.out, t.toTop()+"\x1b[J")
	t.shown = view{}
	t.print(rows)
}

// print prints rows that fit the terminal.
func (t *Terminal) print(rows []row) {
	var b strings.Builder
	for _, r := range rows {
		t.write(&b, r)
		if !t.Plain {
			b.WriteString("\r") // in raw mode
		}
		b.WriteString("\n")
	}
	io.WriteString(t.out, b.String())
	t.printed = append(t.printed, rows...)
}

// Say prints lines between questions.
func (t *Terminal) Say(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		t.print(lines(line, normal, t.width))
	}
}

// A question holds what is asked and the answer so far. It does not know the terminal.
type question interface {
	// Press applies a key and reports whether the question is answered.
	Press(k key) bool
	// view draws the question for a terminal of this size. back says that the person can
	// go back to the previous question.
	view(width, height int, back bool) view
	// Blank reports whether nothing is typed; then Ctrl-D cancels.
	Blank() bool
	// Title and Answer remain on the screen.
	Title() string
	Answer() string
	// plainly asks with numbered lines.
	plainly(ctx context.Context, t *Terminal) error
}

// Ask asks q until it is answered. With Back, it returns ErrBack for Shift-Tab, and for
// the left arrow key if nothing is typed.
func (t *Terminal) Ask(ctx context.Context, q question) error {
	if t.Plain {
		return q.plainly(ctx, t)
	}
	release, err := t.enterRaw()
	if err != nil {
		return err
	}
	defer release()
	for t.updateSize(); ; {
		if !t.more(ctx, drawPause) {
			t.draw(q.view(t.width, t.height, t.Back))
		}
		k, err := t.next(ctx)
		if k.Name == keyInterrupt || k.Name == keyEOF && q.Blank() {
			err = context.Canceled
		}
		title := lines("? "+q.Title(), bold, t.width)
		switch {
		case err != nil:
			t.collapse(title...)
			return err
		case t.Back && (k.Name == keyBackTab || k.Name == keyLeft && q.Blank()):
			t.collapse()
			return ErrBack
		case k.Name != keyNone && q.Press(k):
			answer := span{cyan, "  " + q.Answer()}
			if len(title) == 1 && title[0].width()+Width(answer.Text) <= t.width {
				title[0] = append(title[0], answer)
			} else {
				title = append(title, lines(answer.Text, answer.style, t.width)...)
			}
			t.collapse(title...)
			return nil
		}
	}
}
