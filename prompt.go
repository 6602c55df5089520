package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/tty"
)

// Questions go to stderr, so stdout may be a pipe. On a terminal that can move its
// cursor, a question is a block of lines, redrawn at every key, that one line with
// the answer replaces in the end. Plain prompts are numbered lines with the
// terminal's own line editing, which works best with screen readers.

// canAsk reports whether vbot can ask questions: stdin and stderr are terminals, and
// --no-input was not given.
func canAsk(a *cli.App) bool {
	return !a.NoInput && tty.IsTerminal(a.Stdin) && tty.IsTerminal(a.Stderr)
}

// readByPerson reports whether w is a terminal.
func readByPerson(w io.Writer) bool { return tty.IsTerminal(w) }

// stdinEchoes reports whether stdin is a terminal, which shows what is typed.
func stdinEchoes(a *cli.App) bool { return tty.IsTerminal(a.Stdin) }

// mustConfirm asks for confirmation; the default is no. If the answer is no, it fails
// with the message declined.
func mustConfirm(ctx context.Context, a *cli.App, question, declined string) error {
	yes, err := a.Terminal().Confirm(ctx, question, false)
	if err == nil && !yes {
		err = &report.Failure{Code: report.Declined, Message: declined}
	}
	return err
}

// hidden reads a line without showing it. stdin must be a terminal, whose mode is
// always restored.
func hidden(ctx context.Context, a *cli.App, question string) (cloud.Secret, error) {
	typed, err := a.Terminal().Hidden(ctx, question, false)
	if errors.Is(err, tty.ErrCut) || errors.Is(err, tty.ErrLines) {
		err = &report.Failure{Code: report.Usage, Message: err.Error() + "; nothing was written", Hint: "use a file or stdin", Err: err}
	}
	return cloud.NewSecret(typed), err
}

// maxHiddenLine is the maximum length of a secret line on stdin, in bytes.
const maxHiddenLine = 16 << 10

// secretLine reads a secret from a hidden prompt or, if vbot cannot ask, from the
// first line of stdin. field is its name in problems.
func secretLine(ctx context.Context, a *cli.App, field, question string) (cloud.Secret, error) {
	if canAsk(a) {
		return hidden(ctx, a, question)
	}
	wrong := func(message string) (cloud.Secret, error) {
		return cloud.Secret{}, report.One(report.Usage, field, field, "%s", message)
	}
	if stdinEchoes(a) {
		return wrong("missing, and vbot cannot ask for it; pass it on stdin")
	}
	text, err := cli.Interruptible(ctx, func() (string, error) {
		return bufio.NewReader(io.LimitReader(a.Stdin, maxHiddenLine+1)).ReadString('\n')
	})
	if f, ok := errors.AsType[*report.Failure](err); ok {
		return cloud.Secret{}, f
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return cloud.Secret{}, fmt.Errorf("reading stdin: %w", report.Cause(err))
	}
	if len(text) > maxHiddenLine {
		return wrong(fmt.Sprintf("the line on stdin is longer than %d bytes", maxHiddenLine))
	}
	text = strings.TrimRight(strings.TrimPrefix(text, "\ufeff"), "\r\n")
	if text == "" {
		return wrong("missing: the first line of stdin is empty")
	}
	return cloud.NewSecret(text), nil
}
