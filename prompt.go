package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"vbot/internal/cli"
	"vbot/internal/cloudcmd"
	"vbot/internal/dotenv"
	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/tty"
)

// Questions go to stderr, so stdout may be a pipe. On a terminal that can move its
// cursor, a question is a block of lines that is redrawn after every key; in the end,
// one line with the answer replaces it. Plain prompts are numbered lines with the
// terminal's own line editing, which works best with screen readers.

// canAsk reports whether vbot can ask questions: stdin and stderr are terminals, and
// --no-input was not given.
func canAsk(env *cli.Env) bool {
	return !env.NoInput && tty.IsTerminal(env.Stdin) && tty.IsTerminal(env.Stderr)
}

// stdinEchoes reports whether stdin is a terminal, which shows what is typed.
func stdinEchoes(env *cli.Env) bool { return tty.IsTerminal(env.Stdin) }

// fileLabel returns the name of a file for messages.
func fileLabel(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// requireTerminal returns a problem if vbot cannot ask whether to carry out the command.
func requireTerminal(env *cli.Env) (problems report.Problems) {
	switch {
	case canAsk(env):
	case env.NoInput:
		problems.Add("skip", "", "--no-input does not confirm; add --skip to go ahead").Usage = true
	default:
		problems.Add("skip", "", "no terminal to confirm; add --skip to go ahead").Usage = true
	}
	return problems
}

// confirmation returns a function that shows what would be done and asks whether to do it, or nil with skip.
// done is a word such as "stored", for the message if the answer is no.
func confirmation(env *cli.Env, skip bool, done string) cloudcmd.Confirm {
	if skip {
		return nil
	}
	return func(ctx context.Context, summary, question string) error {
		if summary != "" {
			env.Note("%s", summary)
		}
		return mustConfirm(ctx, env, question, done)
	}
}

// mustConfirm asks for confirmation; the default is no. It fails unless the answer is yes. done is a word
// such as "deleted", for the message that nothing was.
func mustConfirm(ctx context.Context, env *cli.Env, question, done string) error {
	yes, err := env.Terminal().Confirm(ctx, question, false)
	if err == nil && !yes {
		return report.Cancelled(report.Declined, done)
	}
	return cancelled(err, done)
}

// cancelled returns err or, if the person cancelled the question, the failure that says so.
func cancelled(err error, done string) error {
	if errors.Is(err, context.Canceled) {
		return report.Cancelled(report.Interrupted, done)
	}
	return err
}

// readSecret asks for a secret without showing it. stdin must be a terminal, whose mode is always restored.
// lines and isLast are those of tty.Terminal.Hidden.
func readSecret(
	ctx context.Context, env *cli.Env, question string, lines bool, isLast func(typed string) bool,
) (secret.Value, error) {
	typed, err := env.Terminal().Hidden(ctx, question, lines, isLast)
	if errors.Is(err, tty.ErrCut) || errors.Is(err, tty.ErrLines) {
		err = &report.Failure{
			Code:    report.Usage,
			Message: err.Error() + "; nothing was stored",
			Hint:    "use a file or stdin",
			Err:     err,
		}
	}
	return secret.New(typed), cancelled(err, "stored")
}

// isLastAnswer is for readSecret: no question follows, whatever is typed.
func isLastAnswer(string) bool { return true }

// askToken asks for a token, or reads it from stdin.
func askToken(ctx context.Context, env *cli.Env) (secret.Value, error) {
	if !canAsk(env) {
		return secretFromStdin(ctx, env, "token", false)
	}
	env.Note("Paste a personal access token or a private API key from the Pipecat Cloud dashboard.")
	return readSecret(ctx, env, "Token (hidden):", false, isLastAnswer)
}

// chooseOrganization asks which organization to use.
func chooseOrganization(ctx context.Context, env *cli.Env, names []string) (string, error) {
	var choices []tty.Choice
	for _, name := range names {
		choices = append(choices, tty.Choice{Label: name})
	}
	i, err := env.Terminal().Choose(ctx, "Which organization?", choices, 0)
	return names[i], err
}

// valueQuestions asks for the values of a secret set.
type valueQuestions struct {
	env          *cli.Env
	set          string                // its name
	isServiceKey func(key string) bool // reports whether a key is the secret of a service
	isLast       bool                  // no question follows
}

// fill asks for each value that is empty. It fails if a value cannot be stored.
func (q *valueQuestions) fill(ctx context.Context, pairs []secret.Pair) error {
	var problems report.Problems
	isEmpty := func(p secret.Pair) bool { return p.Value.Empty() }
	for i, p := range pairs {
		if !isEmpty(p) {
			continue
		}
		isLast := q.isLast && !slices.ContainsFunc(pairs[i+1:], isEmpty)
		value, err := q.value(ctx, p, isLast)
		if err != nil {
			return err
		}
		pairs[i].Value = value
		if err := dotenv.CheckValue(value, false); err != nil {
			problems.Add(p.Field(), p.Field(), "%v", err)
		}
	}
	return problems.Err()
}

// value asks for the value of a pair until it is accepted.
func (q *valueQuestions) value(ctx context.Context, p secret.Pair, isLast bool) (secret.Value, error) {
	question := p.Key + " for " + q.set + " (hidden):"
	endsInput := func(typed string) bool { return isLast || cloudcmd.IsPEM(typed) }
	for {
		value, err := readSecret(ctx, q.env, question, false, endsInput)
		if errors.Is(err, tty.ErrLines) || cloudcmd.IsPEM(value.Reveal()) {
			return value, report.One(report.InvalidConfig, p.Field(), p.Field(),
				"a value of several lines cannot be typed; use --value-file KEY=PATH")
		}
		if err != nil {
			return value, err
		}
		p.Value = value
		accepted, again, err := q.accept(ctx, p)
		if err != nil || !again {
			return accepted, cancelled(err, "stored")
		}
	}
}

// accept returns the value to store for one that was typed, or reports that it must be typed again.
func (q *valueQuestions) accept(
	ctx context.Context, p secret.Pair,
) (value secret.Value, again bool, err error) {
	if p.Value.Empty() {
		q.env.Note("%s is empty; enter it again, or press Ctrl-C", p.Key)
		return p.Value, true, nil
	}
	mistake := cloudcmd.FindMistake(p, q.isServiceKey)
	if mistake.Description == "" {
		return p.Value, false, nil
	}
	message := p.Key + ": the value " + mistake.Description
	if mistake.Fixed.Empty() {
		again, err = q.env.Terminal().Confirm(ctx, message+"; enter it again?", true)
		return p.Value, again, err
	}
	isFixed, err := q.env.Terminal().Confirm(ctx, message+"; store it without them?", true)
	if isFixed {
		return mistake.Fixed, false, err
	}
	return p.Value, false, err
}

// maxSecret is the maximum size of a secret on stdin, in bytes.
const maxSecret = 64 << 10

// secretFromStdin reads a secret from stdin: one line or, with lines, everything. It drops the line end at
// the end. field is its name in problems.
func secretFromStdin(ctx context.Context, env *cli.Env, field string, lines bool) (secret.Value, error) {
	fail := func(message string) *report.Failure {
		return report.One(report.Usage, field, field, "%s", message)
	}
	missing := func(message string) *report.Failure {
		f := fail(message)
		f.Problems[0].Missing = true
		return f
	}
	if stdinEchoes(env) {
		return secret.Value{}, missing("missing, and vbot cannot ask for it; pass it on stdin")
	}
	data, err := env.ReadAll(ctx, "-", maxSecret)
	if f, ok := errors.AsType[*report.Failure](err); ok {
		return secret.Value{}, f
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"); !lines {
		text = strings.TrimRight(text, "\r\n")
	}
	switch {
	case err != nil:
		return secret.Value{}, fail("stdin: " + err.Error())
	case text == "":
		return secret.Value{}, missing("missing: stdin is empty")
	case !lines && strings.ContainsAny(text, "\r\n"):
		return secret.Value{}, fail("expected one line on stdin, but there are several")
	}
	return secret.New(text), nil
}
