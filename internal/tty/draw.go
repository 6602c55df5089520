package tty

import (
	"fmt"
	"io"
	"strings"
	"time"
)

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
