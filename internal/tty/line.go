package tty

import (
	"cmp"
	"context"
	"strings"
)

// How to go back: what to type at a plain question, and the help of other questions.
const (
	PlainBack = "<"
	backHelp  = "Left goes back"
)

// A lineQuestion asks for a line of text.
type lineQuestion struct {
	ask      string
	yesNo    string // shown after a yes-or-no question
	fallback string // the answer if only Enter is pressed; "" if an answer must be typed
	// check validates the text, or the fallback if nothing is typed. note is shown
	// below the question.
	check   func(text string) (note string, ok bool)
	answer  func(text string) string // converts the text to the answer; may be nil
	line    editor
	invalid bool // Enter was pressed with an invalid text
}

func (q *lineQuestion) text() string {
	return cmp.Or(strings.TrimSpace(string(q.line.typed)), q.fallback)
}

func (q *lineQuestion) Title() string { return q.ask }
func (q *lineQuestion) Blank() bool   { return len(q.line.typed) == 0 }

func (q *lineQuestion) Answer() string {
	if q.answer != nil {
		return q.answer(q.text())
	}
	return q.text()
}

func (q *lineQuestion) Press(k key) bool {
	if k.Name != keyEnter {
		q.invalid = false
		q.line.press(k)
		return false
	}
	_, ok := q.check(q.text())
	q.invalid = !ok
	return ok
}

// head returns the question with the answer that Enter selects.
func (q *lineQuestion) head(enter string) string {
	if q.yesNo == "" && q.fallback != "" {
		return q.ask + " (" + enter + q.fallback + ")"
	}
	return q.ask + q.yesNo
}

func (q *lineQuestion) view(width, height int, back bool) view {
	v := head(q.head(""), &q.line, width)
	message, ok := q.check(q.text())
	if ok {
		v.Rows = append(v.Rows, note(message, faint, width)...)
	} else if q.invalid || !q.Blank() {
		v.Rows = append(v.Rows, note(message, red, width)...)
	}
	if back {
		v.Rows = append(v.Rows, note(backHelp, faint, width)...)
	}
	return v.fit(height)
}

func (q *lineQuestion) askPlain(ctx context.Context, t *Terminal) error {
	prompt := q.head("Enter: ") + ": "
	if q.yesNo != "" {
		prompt = q.head("") + " "
	}
	for {
		typed, err := t.plainLine(ctx, prompt)
		if err != nil {
			return err
		}
		q.line = editor{}
		q.line.insert(typed)
		message, ok := q.check(q.text())
		if ok {
			return nil
		}
		t.Say("%s", message)
	}
}

// Text asks for a line of text. fallback is the answer if only Enter is pressed, or "".
// check validates the typed text, and returns a note to show.
func (t *Terminal) Text(
	ctx context.Context, question, fallback string, check func(typed string) (note string, ok bool),
) (string, error) {
	q := &lineQuestion{ask: question, fallback: fallback, check: check}
	err := t.Ask(ctx, q)
	return q.Answer(), err
}

// abbreviates reports whether the text is the word or its beginning, in any letter case.
func abbreviates(text, word string) bool { return strings.HasPrefix(word, strings.ToLower(text)) }

// yesOrNo returns a yes-or-no question. Any other text counts as no if the fallback is no, and is invalid if
// the fallback is yes.
func yesOrNo(question string, fallback bool) *lineQuestion {
	q := &lineQuestion{ask: question, yesNo: " [y/N]", fallback: "no"}
	if fallback {
		q.yesNo, q.fallback = " [Y/n]", "yes"
	}
	q.check = func(text string) (string, bool) {
		if !fallback || abbreviates(text, "yes") || abbreviates(text, "no") {
			return "", true
		}
		return "answer y or n", false
	}
	q.answer = func(text string) string {
		if abbreviates(text, "yes") {
			return "yes"
		}
		return "no"
	}
	return q
}

// Confirm asks a yes-or-no question. fallback is the answer if only Enter is pressed.
func (t *Terminal) Confirm(ctx context.Context, question string, fallback bool) (bool, error) {
	q := yesOrNo(question, fallback)
	err := t.Ask(ctx, q)
	return abbreviates(q.text(), "yes"), err
}
