package main

import (
	"context"
	"errors"
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

// fileLabel returns the name of a --file for messages.
func fileLabel(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// mustConfirm asks for confirmation; the default is no. Unless the answer is yes, it fails;
// done is what is then not done, such as "deleted".
func mustConfirm(ctx context.Context, a *cli.App, question, done string) error {
	yes, err := a.Terminal().Confirm(ctx, question, false)
	if err == nil && !yes {
		return report.Cancelled(report.Declined, done)
	}
	return cancelled(err, done)
}

// cancelled returns err, or the failure of a question that a person left.
func cancelled(err error, done string) error {
	if errors.Is(err, context.Canceled) {
		return report.Cancelled(report.Interrupted, done)
	}
	return err
}

// hidden reads a secret without showing it. stdin must be a terminal, whose mode is always
// restored. See tty.Terminal.Hidden for lines and last.
func hidden(ctx context.Context, a *cli.App, question string, lines bool, last func(typed string) bool) (cloud.Secret, error) {
	typed, err := a.Terminal().Hidden(ctx, question, lines, last)
	if errors.Is(err, tty.ErrCut) || errors.Is(err, tty.ErrLines) {
		err = &report.Failure{Code: report.Usage, Message: err.Error() + "; nothing was stored", Hint: "use a file or stdin", Err: err}
	}
	return cloud.NewSecret(typed), cancelled(err, "stored")
}

// always says of any answer that nothing may follow it.
func always(string) bool { return true }

// maxSecret is the maximum size of a secret on stdin, in bytes.
const maxSecret = 64 << 10

// secretFromStdin reads a secret, less one line end at its end: a line or, with lines, all
// that comes. field is its name in problems.
func secretFromStdin(ctx context.Context, a *cli.App, field string, lines bool) (cloud.Secret, error) {
	fail := func(message string) (cloud.Secret, error) {
		return cloud.Secret{}, report.One(report.Usage, field, field, "%s", message)
	}
	if stdinEchoes(a) {
		return fail("missing, and vbot cannot ask for it; pass it on stdin")
	}
	data, err := cli.ReadAll(ctx, a, "-", maxSecret)
	if f, ok := errors.AsType[*report.Failure](err); ok {
		return cloud.Secret{}, f
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"); !lines {
		text = strings.TrimRight(text, "\r\n")
	}
	switch {
	case err != nil:
		return fail("stdin: " + err.Error())
	case text == "":
		return fail("missing: stdin is empty")
	case !lines && strings.ContainsAny(text, "\r\n"):
		return fail("expected one line on stdin, but there are several")
	}
	return cloud.NewSecret(text), nil
}
