// Package tty asks questions at a terminal. It reads single keys, redraws the question
// after them, and restores the terminal at the end.
//
// Ctrl-Z does nothing during a question. If the program is stopped in another way
// (kill -STOP), it sets up the terminal again when it continues.
package tty

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

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

	// A read from a terminal cannot be cancelled. So there is at most one, and the next question takes its
	// result: a byte, or none if the terminal was closed.
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
	// askPlain asks without moving the cursor.
	askPlain(ctx context.Context, t *Terminal) error
}

// Ask asks q until it is answered. With Back, it returns ErrBack for Shift-Tab, and for
// the left arrow key if nothing is typed.
func (t *Terminal) Ask(ctx context.Context, q question) error {
	if t.Plain {
		return q.askPlain(ctx, t)
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
