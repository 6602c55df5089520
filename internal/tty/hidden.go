package tty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Errors of Hidden.
var (
	ErrCut   = errors.New("the terminal may have truncated the input")
	ErrLines = errors.New("expected one line, but several were pasted")
)

// Hidden prints the prompt and reads a line without showing it; with lines, a paste may have several lines.
//
// isLast reports whether the typed text is the last answer. Further input is then the rest of a paste whose
// lines came as single keys: Hidden discards it, so that the next program does not get it, and returns
// ErrLines. It returns ErrCut if the terminal may have truncated the line.
func (t *Terminal) Hidden(
	ctx context.Context, prompt string, lines bool, isLast func(typed string) bool,
) (string, error) {
	release, err := t.enterRaw()
	if err != nil {
		return "", err
	}
	defer release()
	defer io.WriteString(t.out, "\r\n")
	for {
		input, err := t.readHidden(ctx, prompt, lines)
		if err != nil {
			return "", err
		}
		if err := input.check(); err != nil {
			return "", err
		}
		if input.hasOtherKey {
			io.WriteString(t.out, "\r\nThat key types no character. Try again.\r\n")
			continue
		}
		typed := string(input.typed)
		if isLast(typed) && t.discardInput(ctx) {
			return "", ErrLines
		}
		return typed, nil
	}
}

// readHidden prints the prompt and reads keys up to Enter.
func (t *Terminal) readHidden(ctx context.Context, prompt string, lines bool) (*hiddenInput, error) {
	show := func() { fmt.Fprintf(t.out, "\r%s ", t.printable(prompt)) }
	show()
	input := &hiddenInput{lines: lines}
	for {
		k, err := t.next(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case k.Name == keyEnter:
			return input, nil
		case k.Name == keyInterrupt, k.Name == keyEOF && len(input.typed) == 0:
			return nil, context.Canceled
		case k.Name == keyNone: // another program may have printed over the prompt
			show()
		default:
			input.press(k)
		}
	}
}

// discardInput discards further input until it pauses, and reports whether there was text in it.
func (t *Terminal) discardInput(ctx context.Context) (hasText bool) {
	for t.more(ctx, keyPause) {
		k, err := t.next(ctx)
		if err != nil {
			break
		}
		hasText = hasText || k.Name != keyEnter && k.Name != keyNone
	}
	return hasText
}

// A hiddenInput is what was typed at a hidden question.
type hiddenInput struct {
	lines       bool // a paste may have several lines
	typed       []byte
	err         error // ErrCut or ErrLines, if a paste is incomplete
	hasOtherKey bool  // a key without a character was pressed, so something may be missing
}

// press applies a key.
func (h *hiddenInput) press(k key) {
	switch k.Name {
	case keyText, keyTab:
		h.typed = append(h.typed, k.Text...)
	case keyPaste:
		h.paste(k.Text)
	case keyCut:
		h.err = ErrCut
	case keyBackspace:
		_, size := utf8.DecodeLastRune(h.typed)
		h.typed = h.typed[:len(h.typed)-size]
	case keyKill:
		*h = hiddenInput{lines: h.lines}
	case keyEOF: // ends the input only if nothing is typed
	default:
		h.hasOtherKey = true
	}
}

// paste adds a pasted text, without the line ends after its last line.
func (h *hiddenInput) paste(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.TrimSuffix(text, "\n")
	if !h.lines {
		text = strings.TrimRight(text, "\n")
		if strings.Contains(text, "\n") {
			h.err = ErrLines
		}
	}
	h.typed = append(h.typed, text...)
}

// maxLine is the maximum length of a line in a terminal's buffer, in bytes, with the
// line end (N_TTY_BUF_SIZE of Linux). Longer lines, pasted ahead of the question, may
// have been truncated.
const maxLine = 4096

// check returns ErrCut or ErrLines if the input cannot be used.
func (h *hiddenInput) check() error {
	for line := range strings.SplitSeq(string(h.typed), "\n") {
		if len(line) >= maxLine-1 {
			return ErrCut
		}
	}
	return h.err
}
