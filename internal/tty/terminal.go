// Package tty asks questions at a terminal: it takes the keys one by one, draws
// the open question again at each of them, and leaves the terminal as it was.
//
// Ctrl-Z does nothing while a question is open. Whatever else stops the program
// (kill -STOP, say), it takes the terminal back when it goes on.
package tty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// IsTerminal says whether stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A Terminal asks the questions of one run, one after the other. Each question
// reads as far as the Enter that ends it, and no further: what was typed ahead is
// there for the next one.
//
// Its errors are context.Canceled when the person leaves (Ctrl-C, Ctrl-D where
// nothing is typed, the terminal is closed), or when the context ends.
type Terminal struct {
	Plain bool // text alone: no cursor movement, and the terminal's own line editing

	in     *os.File
	out    io.Writer
	width  int // in columns, as of the last look
	height int // in lines

	// A read from a terminal cannot be called off. So there is one at a time, and
	// what it finds belongs to whoever asks next.
	reading bool
	found   chan reading
	decoder Decoder
	keys    []Key
	due     time.Time // when the decoder has waited long enough

	holds   int         // how many want raw mode
	was     *term.State // how the terminal was set before raw mode
	raw     *term.State // how raw mode sets it
	shown   View        // the block that stands on the screen
	holding bool        // between Hold and its release
	record  []Row       // what was printed since Hold
	broken  bool        // the terminal may have broken lines in other places
}

// A reading is what one read from the terminal found.
type reading struct {
	b   byte
	err error
}

// Open is the terminal that in and out are.
func Open(in *os.File, out io.Writer, plain bool) *Terminal {
	t := &Terminal{in: in, out: out, Plain: plain, found: make(chan reading, 1)}
	t.look()
	return t
}

// look notes the size of the terminal, and says whether it changed.
func (t *Terminal) look() bool {
	width, height := 0, 0
	if f, ok := t.out.(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd()))
	}
	if width < 1 || height < 1 {
		width, height = 80, 24 // some terminals do not know
	}
	changed := width != t.width || height != t.height
	t.broken = t.broken || changed
	t.width, t.height = width, height
	return changed
}

// Raw mode.

// Bracketed paste: the terminal marks what is pasted, so that a line end in it is
// not taken for the Enter that a person did not press.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// takeKeys takes the keys from the terminal one by one, unseen, until release is
// called; to call that twice does no harm. Callers defer release, so that the
// terminal is as it was whatever happens.
func (t *Terminal) takeKeys() (release func(), err error) {
	fd := int(t.in.Fd())
	if t.holds == 0 {
		if t.was, err = term.MakeRaw(fd); err != nil {
			return nil, fmt.Errorf("switching the terminal to raw mode: %w", err)
		}
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
			term.Restore(fd, t.was)
		}
	}, nil
}

// takeBack takes the keys again if something else has set the terminal, as a
// shell does while the program is stopped. It says whether that was so.
func (t *Terminal) takeBack() bool {
	now, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil || t.raw == nil || *now == *t.raw {
		return false
	}
	t.mark(pasteOn)
	t.shown = View{} // the cursor is elsewhere
	return true
}

// Hold keeps what is typed from showing between the questions up to release. For
// plain questions it does nothing.
func (t *Terminal) Hold() (release func(), err error) {
	if t.Plain {
		return func() {}, nil
	}
	restore, err := t.takeKeys()
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

// read starts a read, if none is under way.
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

// next waits for a key. It is KeyNone when the screen has to be drawn again.
//
// A look at the terminal every tenth of a second works on every system; the
// signals that tell of a new size, and of a stop that is over, do not.
func (t *Terminal) next(ctx context.Context, looks <-chan time.Time) (Key, error) {
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
		case <-looks:
			if t.takeBack() || t.look() {
				return Key{Name: KeyNone}, nil
			}
		}
	}
	k := t.keys[0]
	t.keys = t.keys[1:]
	return k, nil
}

// Line prints the prompt, and reads a line as the terminal's own editing gives it.
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

// MaxLine is how long a line a terminal carries, in bytes, with the byte that ends
// it (N_TTY_BUF_SIZE of Linux). What is longer may have been cut before it came
// here, when it was pasted ahead of the question.
const MaxLine = 4096

// ErrTooLong is the error of a hidden line that the terminal may have cut.
var ErrTooLong = errors.New("the line is longer than a terminal allows")

// Hidden prints the prompt, and reads a line that is not shown.
func (t *Terminal) Hidden(ctx context.Context, prompt string) (string, error) {
	release, err := t.takeKeys()
	if err != nil {
		return "", err
	}
	defer release()
	defer io.WriteString(t.out, "\r\n")
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	show := func() { fmt.Fprintf(t.out, "\r%s ", prompt) }
	show()

	var typed []byte
	odd := "" // why what was typed will not do
	for {
		k, err := t.next(ctx, looks.C)
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

// up moves the cursor to the beginning of the block that is shown. A terminal that
// became narrower may have broken the block's lines.
func (t *Terminal) up() string {
	n := t.shown.Column / t.width
	for _, r := range t.shown.Rows[:min(t.shown.Line, len(t.shown.Rows))] {
		n += 1 + max(0, r.width()-1)/t.width
	}
	if n == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", n)
}

// again clears a screen of another size, and prints the end of the record once
// more, as much as fits above rows lines: terminals differ in where a tall block
// and the cursor in it are after that.
func (t *Terminal) again(b *strings.Builder, rows int) {
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

// draw shows v in the place of what is shown. It is one write, and no line is
// erased before it is written again: so nothing flickers. The last column stays
// free, where terminals differ in what they do next.
func (t *Terminal) draw(v View) {
	var b strings.Builder
	if t.broken && len(t.shown.Rows) > 0 && t.holding {
		t.again(&b, len(v.Rows))
	} else {
		b.WriteString(t.up())
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
	// What is shown is what fits.
	for i, r := range v.Rows {
		if r.width() > t.width-1 {
			v.Rows[i] = Row{{Normal, r.Text(t.width - 1)}}
		}
	}
	t.shown = v
}

// settle puts a line in the place of the block.
func (t *Terminal) settle(r Row) {
	var b strings.Builder
	b.WriteString(t.up() + "\x1b[J")
	r.write(&b, 1<<20) // the terminal may break it: nothing is drawn over it
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

// A Question is what is asked, and how far its answer has come. It stands apart
// from the terminal: a key changes its state, and its state gives lines.
type Question interface {
	// Press takes a key, and says whether the question is answered.
	Press(k Key) bool
	// View is the question as it stands, for a terminal of this size.
	View(width, height int) View
	// Blank says whether nothing is typed, so that Ctrl-D means that all is over.
	Blank() bool
	// Title and Answer are what stays of it.
	Title() string
	Answer() string
}

// Ask asks q until it is answered.
func (t *Terminal) Ask(ctx context.Context, q Question) error {
	release, err := t.takeKeys()
	if err != nil {
		return err
	}
	defer release()
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	for t.look(); ; {
		t.draw(q.View(t.width, t.height))
		k, err := t.next(ctx, looks.C)
		if k.Name == KeyInterrupt || k.Name == KeyEOF && q.Blank() {
			err = context.Canceled
		}
		if err != nil {
			t.settle(Row{{Bold, "? " + q.Title()}})
			return err
		}
		if k.Name != KeyNone && q.Press(k) {
			t.settle(Row{{Bold, "? " + q.Title()}, {Normal, "  "}, {Cyan, q.Answer()}})
			return nil
		}
	}
}
