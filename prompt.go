package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	fmt.Fprintf(a.stderr, "%s [y/N] ", printable(question))
	text, err := interruptible(ctx, func() (string, error) {
		return bufio.NewReader(a.stdin).ReadString('\n')
	})
	if errors.Is(err, io.EOF) && text != "" {
		err = nil // a last line without an end
	}
	if err != nil {
		fmt.Fprintln(a.stderr)
		if errors.Is(err, io.EOF) {
			return false, interrupted()
		}
		return false, err
	}
	word := strings.ToLower(strings.TrimSpace(text))
	return word == "y" || word == "yes", nil
}
