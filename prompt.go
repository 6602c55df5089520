package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// canAsk says whether a person is there to be asked: stdin and stderr are
// terminals. (Questions go to stderr, so that stdout may be a pipe.)
func canAsk(a *app) bool {
	return isTerminal(a.stdin) && isTerminal(a.stderr)
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// confirm asks a question that Enter answers with no. It returns the failure
// "interrupted" when ctx ends or the terminal is closed.
func confirm(ctx context.Context, a *app, question string) (bool, error) {
	text, err := line(ctx, a, question+" [y/N]")
	word := strings.ToLower(strings.TrimSpace(text))
	return word == "y" || word == "yes", err
}

// line asks a question and reads a line. It returns the failure "interrupted"
// when ctx ends or the terminal is closed.
func line(ctx context.Context, a *app, question string) (string, error) {
	fmt.Fprintf(a.stderr, "%s ", printable(question))
	text, err := interruptible(ctx, func() (string, error) {
		return bufio.NewReader(a.stdin).ReadString('\n')
	})
	if errors.Is(err, io.EOF) && text != "" {
		err = nil // a last line without an end
	}
	if err != nil {
		fmt.Fprintln(a.stderr)
		if errors.Is(err, io.EOF) {
			err = interrupted()
		}
		return "", err
	}
	return strings.TrimRight(text, "\r\n"), nil
}

// maxTyped is how long a line a terminal carries, in bytes, with the byte that
// ends it (N_TTY_BUF_SIZE of Linux). What is longer may have been cut before it
// came here, when it was pasted ahead of the question.
const maxTyped = 4096

// The keys that mean something while a hidden line is typed.
const (
	keyCtrlC     = 3
	keyCtrlD     = 4
	keyBackspace = 8
	keyCtrlU     = 21
	keyCtrlZ     = 26
	keyDelete    = 127
)

// hidden asks for a line that is not shown. stdin must be a terminal. Whatever
// ends it, the terminal is as it was before.
//
// The terminal is in raw mode and the keys are read here, one at a time: so
// Ctrl-Z can put the terminal right before it stops the program, and what was
// typed ahead is left for the next question.
func hidden(ctx context.Context, a *app, question string) (secret, error) {
	in, ok := a.stdin.(*os.File)
	if !ok {
		return secret{}, errors.New("a hidden question needs a terminal")
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return secret{}, fmt.Errorf("hiding what is typed: %w", err)
	}
	defer fmt.Fprint(a.stderr, "\n")
	defer func() { term.Restore(int(in.Fd()), was) }()
	ask := func() { fmt.Fprintf(a.stderr, "\r%s ", printable(question)) }
	ask()

	var typed []byte
	odd := false // a key was pressed that types nothing
	for {
		key, err := interruptible(ctx, func() (byte, error) {
			var b [1]byte
			_, err := io.ReadFull(in, b[:])
			return b[0], err
		})
		if errors.Is(err, io.EOF) {
			return secret{}, interrupted()
		}
		if err != nil {
			return secret{}, fmt.Errorf("reading what is typed: %w", err)
		}
		switch key {
		case '\r', '\n':
			if len(typed) >= maxTyped-1 {
				return secret{}, &failure{Code: codeUsage, Message: fmt.Sprintf("what was typed is %d bytes or more, and a terminal may cut that; nothing was written", maxTyped-1),
					hint: "give it in a file, or on stdin"}
			}
			if !odd {
				return newSecret(string(typed)), nil
			}
			// An arrow key leaves letters behind that nobody sees.
			typed, odd = nil, false
			fmt.Fprint(a.stderr, "\r\nA key that types nothing was pressed; once more, please.\r\n")
			ask()
		case keyCtrlC:
			return secret{}, interrupted()
		case keyCtrlD:
			if len(typed) == 0 {
				return secret{}, interrupted()
			}
		case keyBackspace, keyDelete:
			_, size := utf8.DecodeLastRune(typed)
			typed = typed[:len(typed)-size]
		case keyCtrlU:
			typed, odd = nil, false
		case keyCtrlZ:
			term.Restore(int(in.Fd()), was)
			fmt.Fprintln(a.stderr)
			suspend()
			if _, err := term.MakeRaw(int(in.Fd())); err != nil {
				return secret{}, fmt.Errorf("hiding what is typed: %w", err)
			}
			ask()
		default:
			if key < ' ' && key != '\t' {
				odd = true
			}
			typed = append(typed, key)
		}
	}
}
