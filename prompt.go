package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/tty"
)

// Questions go to stderr, so stdout may be a pipe. On a terminal that can move its
// cursor, a question is a block of lines, redrawn at every key, that one line with
// the answer replaces in the end. Plain prompts are numbered lines with the
// terminal's own line editing, which works best with screen readers.

// canAsk reports whether vbot can ask questions: stdin and stderr are terminals, and
// --no-input was not given.
func canAsk(a *app) bool {
	return !a.noInput && tty.IsTerminal(a.stdin) && tty.IsTerminal(a.stderr)
}

// readByPerson reports whether w is a terminal.
func readByPerson(w io.Writer) bool { return tty.IsTerminal(w) }

// stdinEchoes reports whether stdin is a terminal, which shows what is typed.
func stdinEchoes(a *app) bool { return tty.IsTerminal(a.stdin) }

// confirm asks a yes-or-no question; the default is no.
func confirm(ctx context.Context, a *app, question string) (bool, error) {
	return a.prompter().confirm(ctx, question, false)
}

// mustConfirm asks for confirmation. If the answer is no, it fails with the message
// declined.
func mustConfirm(ctx context.Context, a *app, question, declined string) error {
	yes, err := confirm(ctx, a, question)
	if err == nil && !yes {
		err = &failure{Code: codeDeclined, Message: declined}
	}
	return err
}

// A prompter asks the questions of one run. Its methods return context.Canceled if
// the person leaves or ctx ends, and errBack for the question before, if back is set.
type prompter struct {
	*tty.Terminal
	back bool
}

var errBack = tty.ErrBack

// prompter returns the prompter of this run, in which vbot can ask.
func (a *app) prompter() prompter {
	if a.terminal.Load() == nil {
		in, _ := a.stdin.(*os.File) // it is one: see canAsk
		plain := a.isDumb() || a.getenv("VBOT_PLAIN_PROMPTS") != ""
		a.terminal.Store(tty.Open(in, a.stderr, plain, a.getenv("NO_COLOR") == "", printable))
	}
	return prompter{Terminal: a.terminal.Load()}
}

// A widget can be asked with cursor movement, or plainly.
type widget interface {
	tty.Question
	plainly(ctx context.Context, p prompter) error
}

// ask asks q until it is answered.
func (p prompter) ask(ctx context.Context, q widget) error {
	if p.Plain {
		return q.plainly(ctx, p)
	}
	return p.Ask(ctx, q, p.back)
}

// How to go back, as a plain question reads it and as the others say it.
const (
	plainBack = "<"
	backHelp  = "Left goes back"
)

// readLine reads the answer to a plain question.
func (p prompter) readLine(ctx context.Context, prompt string) (string, error) {
	said, err := p.Line(ctx, prompt)
	if err == nil && p.back && strings.TrimSpace(said) == plainBack {
		err = errBack
	}
	return said, err
}

// A lineQuestion asks for a line of text.
type lineQuestion struct {
	ask      string
	yesNo    string // shown after a yes-or-no question
	fallback string // the answer to Enter alone; "" if an answer must be typed
	back     bool
	// check validates the text, or the fallback if nothing is typed. note is shown
	// below the question.
	check  func(text string) (note string, ok bool)
	answer func(text string) string // converts the text to the answer; may be nil
	line   tty.Editor
	wrong  bool // Enter was pressed on an invalid text
}

func (q *lineQuestion) text() string {
	return cmp.Or(strings.TrimSpace(string(q.line.Typed)), q.fallback)
}

func (q *lineQuestion) Title() string { return q.ask }
func (q *lineQuestion) Blank() bool   { return len(q.line.Typed) == 0 }

func (q *lineQuestion) Answer() string {
	if q.answer != nil {
		return q.answer(q.text())
	}
	return q.text()
}

func (q *lineQuestion) Press(k tty.Key) bool {
	if k.Name != tty.KeyEnter {
		q.wrong = false
		q.line.Press(k)
		return false
	}
	_, ok := q.check(q.text())
	q.wrong = !ok
	return ok
}

// head returns the question with what Enter takes.
func (q *lineQuestion) head(enter string) string {
	if q.yesNo == "" && q.fallback != "" {
		return q.ask + " (" + enter + q.fallback + ")"
	}
	return q.ask + q.yesNo
}

func (q *lineQuestion) View(width, height int) tty.View {
	v := tty.Head(q.head(""), &q.line, width)
	says, ok := q.check(q.text())
	if ok {
		v.Rows = append(v.Rows, tty.Note(says, tty.Faint, width)...)
	} else if q.wrong || !q.Blank() {
		v.Rows = append(v.Rows, tty.Note(says, tty.Red, width)...)
	}
	if q.back {
		v.Rows = append(v.Rows, tty.Note(backHelp, tty.Faint, width)...)
	}
	return v.Fit(height)
}

func (q *lineQuestion) plainly(ctx context.Context, p prompter) error {
	prompt := q.head("Enter: ") + ": "
	if q.yesNo != "" {
		prompt = q.head("") + " "
	}
	for {
		said, err := p.readLine(ctx, prompt)
		if err != nil {
			return err
		}
		q.line = tty.Editor{}
		q.line.Insert(said)
		note, ok := q.check(q.text())
		if ok {
			return nil
		}
		p.Say("%s", note)
	}
}

// line asks for a line of text.
func (p prompter) line(ctx context.Context, question, fallback string, check func(string) (string, bool)) (string, error) {
	q := &lineQuestion{ask: question, fallback: fallback, check: check, back: p.back}
	err := p.ask(ctx, q)
	return q.Answer(), err
}

// yesOrNo returns a yes-or-no question. Any other text counts as no if the fallback
// is no, and is refused if the fallback is yes.
func yesOrNo(question string, fallback bool) *lineQuestion {
	yes := func(text string) bool { return strings.HasPrefix("yes", strings.ToLower(text)) }
	q := &lineQuestion{ask: question, yesNo: " [y/N]", fallback: "no"}
	if fallback {
		q.yesNo, q.fallback = " [Y/n]", "yes"
	}
	q.check = func(text string) (string, bool) {
		if !fallback || yes(text) || strings.HasPrefix("no", strings.ToLower(text)) {
			return "", true
		}
		return "answer y or n", false
	}
	q.answer = func(text string) string {
		if yes(text) {
			return "yes"
		}
		return "no"
	}
	return q
}

// confirm asks a yes-or-no question.
func (p prompter) confirm(ctx context.Context, question string, fallback bool) (bool, error) {
	q := yesOrNo(question, fallback)
	q.back = p.back
	err := p.ask(ctx, q)
	return q.Answer() == "yes", err
}

// A choice is an entry of a menu.
type choice struct {
	value  string   // what it stands for; not shown
	label  string   // shown first
	id     string   // "stt_a", or ""
	names  []string // other names to type; not shown
	note   string   // a short description, or ""
	detail string   // more about it, or ""; shown at the cursor
}

// matches reports whether label, id and names contain all words, which are in lower
// case.
func (c choice) matches(words []string) bool {
	all := strings.ToLower(c.label + "\n" + c.id + "\n" + strings.Join(c.names, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

// is reports whether word is a name, id or label of the choice; begins, whether one
// of them begins with word. word is in lower case.
func (c choice) is(word string) bool {
	return slices.ContainsFunc(append(c.names, c.label, c.id), func(n string) bool { return strings.ToLower(n) == word })
}

func (c choice) begins(word string) bool {
	return slices.ContainsFunc(append(c.names, c.label, c.id), func(n string) bool { return strings.HasPrefix(strings.ToLower(n), word) })
}

// A menu asks for one or several choices of a list.
type menu struct {
	ask     string
	choices []choice
	several bool
	// needed means that of several at least one has to be chosen: if none is marked,
	// Enter selects the one at the cursor.
	needed bool
	// allow returns why the marked choices cannot be combined, or "". It may be nil.
	allow  func(marked []int) string
	back   bool
	marked []int // in the order of marking; the answer after Enter
	filter tty.Editor
	at     int // the choice at the cursor, if the filter shows it
	wrong  string
}

// shown returns the choices that match the filter.
func (m *menu) shown() (out []int) {
	words := strings.Fields(strings.ToLower(string(m.filter.Typed)))
	for i, c := range m.choices {
		if c.matches(words) {
			out = append(out, i)
		}
	}
	return out
}

func (m *menu) Title() string { return m.ask }
func (m *menu) Blank() bool   { return len(m.filter.Typed) == 0 }

func (m *menu) Answer() string {
	var labels []string
	for _, i := range m.marked {
		labels = append(labels, m.choices[i].label)
	}
	return cmp.Or(strings.Join(labels, ", "), "none")
}

func (m *menu) Press(k tty.Key) bool {
	shown := m.shown()
	at := slices.Index(shown, m.at) // -1 if nothing is shown
	last := len(shown) - 1
	to, moves := map[tty.KeyName]int{
		tty.KeyUp: at - 1, tty.KeyPageUp: max(0, at-menuPage), tty.KeyHome: 0,
		tty.KeyDown: at + 1, tty.KeyPageDown: min(last, at+menuPage), tty.KeyEnd: last,
	}[k.Name]
	m.wrong = ""
	switch {
	case k.Name == tty.KeyEscape:
		m.filter = tty.Editor{}
	case len(shown) == 0 && k.Name == tty.KeyEnter:
		m.wrong = "no match"
	case k.Name == tty.KeyEnter:
		return m.enter()
	case m.several && (k.Name == tty.KeyText && k.Text == " " || k.Name == tty.KeyTab):
		if len(shown) > 0 && m.mark(m.at) {
			m.filter = tty.Editor{} // for the next one
		}
	case moves && len(shown) > 0:
		m.at = shown[(to+len(shown))%len(shown)] // Up and Down go round
	default:
		before := string(m.filter.Typed)
		if m.filter.Press(k) && string(m.filter.Typed) != before {
			m.seek()
		}
	}
	return false
}

// seek moves the cursor to the best match: a choice with that name, else one whose
// name begins with the filter, else the first match.
func (m *menu) seek() {
	shown := m.shown()
	word := strings.ToLower(strings.TrimSpace(string(m.filter.Typed)))
	if len(shown) == 0 || word == "" && slices.Contains(shown, m.at) {
		return
	}
	m.at = shown[0]
	for _, likely := range []func(choice, string) bool{choice.is, choice.begins} {
		if i := slices.IndexFunc(shown, func(i int) bool { return likely(m.choices[i], word) }); i >= 0 {
			m.at = shown[i]
			return
		}
	}
}

// mark marks or unmarks the choice, and reports whether that is allowed.
func (m *menu) mark(i int) bool {
	if n := slices.Index(m.marked, i); n >= 0 {
		m.marked = slices.Delete(m.marked, n, n+1)
		return true
	}
	return m.take(append(slices.Clone(m.marked), i))
}

// enter reports whether the marked choices answer the question.
func (m *menu) enter() bool {
	chosen := m.marked
	if !m.several || m.needed && len(chosen) == 0 {
		chosen = []int{m.at}
	}
	return m.take(chosen)
}

// take makes the chosen ones the answer, and reports whether that is allowed.
func (m *menu) take(chosen []int) bool {
	m.wrong = ""
	if m.allow != nil {
		m.wrong = m.allow(chosen)
	}
	if m.wrong == "" {
		m.marked = chosen
	}
	return m.wrong == ""
}

// menuPage is the maximum number of lines of a list. Earlier answers stay on the
// screen, and few lines scroll away, out of reach, when a window is made narrower and
// the terminal wraps them.
const menuPage = 7

func (m *menu) View(width, height int) tty.View {
	shown := m.shown()
	v := tty.Head(m.ask, &m.filter, width)
	at := slices.Index(shown, m.at)
	labels, ids := m.columns()
	help, room := tty.Note(m.help(len(shown)), tty.Faint, width), height-len(v.Rows)
	foot := help
	if at >= 0 {
		_, left := m.row(m.at, true, labels, ids, width)
		about := slices.DeleteFunc([]string{left, m.choices[m.at].detail}, func(s string) bool { return s == "" })
		foot = append(tty.Note(strings.Join(about, "; "), tty.Faint, width), help...)
	}
	if room-len(foot) < 3 {
		foot = help[:1]
	}
	if m.wrong != "" {
		foot = tty.Note(m.wrong, tty.Red, width)
	}
	rows := min(len(shown), menuPage, max(1, room-len(foot)))
	from := max(0, min(at-rows/2, len(shown)-rows))
	for n, i := range shown[from : from+rows] {
		row, _ := m.row(i, from+n == at, labels, ids, width)
		// The first and the last line say how many choices they stand for.
		if above := from + 1; n == 0 && from > 0 && rows > 2 {
			row = tty.Row{{Style: tty.Faint, Text: fmt.Sprintf("  %d more above", above)}}
		} else if below := len(shown) - from - n; n == rows-1 && below > 1 && rows > 2 {
			row = tty.Row{{Style: tty.Faint, Text: fmt.Sprintf("  %d more below", below)}}
		}
		v.Rows = append(v.Rows, row)
	}
	v.Rows = append(v.Rows, foot...)
	return v.Fit(height)
}

// help returns the line about keys.
func (m *menu) help(shown int) string {
	how := "Enter selects"
	switch {
	case shown == 0:
		return "no match; Esc shows all"
	case m.several && m.needed && len(m.marked) == 0:
		how = "Enter selects, Space selects several"
	case m.several:
		how = "Space selects, Enter continues"
	}
	if len(m.choices) > menuPage {
		how = fmt.Sprintf("%d of %d; %s, type to filter", shown, len(m.choices), how)
	}
	if m.back {
		how += ", " + backHelp
	}
	return how
}

// columns returns the widths of the labels and the ids.
func (m *menu) columns() (labels, ids int) {
	for _, c := range m.choices {
		labels, ids = max(labels, tty.Width(c.label)), max(ids, tty.Width(c.id))
	}
	return labels, ids
}

// pad adds spaces up to the width.
func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-tty.Width(s))) }

// row draws one choice. labels and ids are the widths of the columns. left is what
// does not fit.
func (m *menu) row(i int, here bool, labels, ids, width int) (row tty.Row, left string) {
	c := m.choices[i]
	pointer, style := "  ", tty.Normal
	if here {
		pointer, style = "> ", tty.Cyan
	}
	if m.several {
		box := "[ ] "
		if slices.Contains(m.marked, i) {
			box = "[x] "
		}
		pointer += box
	}
	label := pad(c.label, labels)
	rest := c.rest(ids)
	if len(pointer)+labels+2+tty.Width(rest) > width-1 {
		rest, left = c.id, c.note
	}
	if len(pointer)+labels+2+ids > width-1 {
		rest, left = "", strings.TrimSpace(c.id+" "+c.note)
	}
	if rest == "" {
		return tty.Row{{Style: style, Text: pointer + c.label}}, left
	}
	return tty.Row{{Style: style, Text: pointer + label[:len(c.label)]}, {Style: tty.Faint, Text: label[len(c.label):] + "  " + rest}}, left
}

// rest returns the text after the label: the id, padded to ids columns, and the note.
func (c choice) rest(ids int) string {
	if ids == 0 {
		return c.note
	}
	return strings.TrimRight(pad(c.id, ids)+"  "+c.note, " ")
}

// plainly prints numbered choices and reads numbers, ids or names. Any other text
// narrows the list.
func (m *menu) plainly(ctx context.Context, p prompter) error {
	p.Say("%s", m.ask)
	m.list(p)
	for {
		said, err := p.readLine(ctx, m.plainPrompt())
		if err != nil {
			return err
		}
		chosen, wrong := m.read(said)
		if wrong == "" {
			if m.take(chosen) {
				return nil
			}
			p.Say("%s", m.wrong)
			continue
		}
		m.filter = tty.Editor{}
		if strings.TrimSpace(said) != "?" {
			m.filter.Insert(said)
		}
		if shown := len(m.shown()); shown == 0 {
			m.filter = tty.Editor{}
			p.Say("%s", wrong)
			continue
		} else if shown < len(m.choices) {
			p.Say("%d of %d match; ? lists all:", shown, len(m.choices))
		}
		m.seek()
		m.list(p)
	}
}

// list prints the choices that match the filter.
func (m *menu) list(p prompter) {
	labels, ids := m.columns()
	for _, i := range m.shown() {
		c := m.choices[i]
		line := fmt.Sprintf("  %*d  %s  %s", len(strconv.Itoa(len(m.choices))), i+1, pad(c.label, labels), c.rest(ids))
		if c.detail != "" && !m.Blank() {
			line = strings.TrimRight(line, " ") + "; " + c.detail
		}
		p.Say("%s", strings.TrimRight(line, " "))
	}
}

// plainPrompt says what can be typed, and what Enter takes.
func (m *menu) plainPrompt() string {
	ask, enter := "Number or name", m.choices[m.at].label
	if len(m.choices) > menuPage {
		ask += ", or part of a name for a shorter list"
	}
	if m.several {
		ask = "Numbers or names, such as 1,3"
		if len(m.marked) > 0 || !m.needed {
			enter = m.Answer()
		}
	}
	return ask + " (Enter: " + enter + "): "
}

// read parses the typed choices. wrong is the problem, or "".
func (m *menu) read(said string) (chosen []int, wrong string) {
	said = strings.ToLower(strings.TrimSpace(said))
	words := []string{said}
	if m.several {
		words = strings.FieldsFunc(said, func(r rune) bool { return r == ',' })
		if len(words) == 1 && m.find(said) < 0 {
			words = strings.Fields(said)
		}
	}
	switch {
	case said == "" && (!m.several || m.needed && len(m.marked) == 0):
		return []int{m.at}, ""
	case said == "":
		return m.marked, ""
	case m.several && !m.needed && (said == "none" || said == "0"):
		return nil, ""
	}
	for _, word := range words {
		i := m.find(strings.TrimSpace(word))
		if i < 0 {
			return nil, fmt.Sprintf("%q is not a choice; enter a number from 1 to %d or a name", strings.TrimSpace(word), len(m.choices))
		}
		if !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return chosen, ""
}

// find returns the choice that word names, else the only one whose name begins with
// word, else -1. word is in lower case.
func (m *menu) find(word string) int {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(m.choices) {
		return n - 1
	}
	if word == "" {
		return -1
	}
	if i := slices.IndexFunc(m.choices, func(c choice) bool { return c.is(word) }); i >= 0 {
		return i
	}
	found := -1
	for i, c := range m.choices {
		if c.begins(word) && found >= 0 {
			return -1
		} else if c.begins(word) {
			found = i
		}
	}
	return found
}

// choose asks for one choice and returns its index. at is the preselected index.
func (p prompter) choose(ctx context.Context, question string, choices []choice, at int) (int, error) {
	m := &menu{ask: question, choices: choices, at: at, back: p.back}
	if err := p.ask(ctx, m); err != nil {
		return 0, err
	}
	return m.marked[0], nil
}

// hidden reads a line without showing it. stdin must be a terminal, whose mode is
// always restored.
func hidden(ctx context.Context, a *app, question string) (cloud.Secret, error) {
	typed, err := a.prompter().Hidden(ctx, question)
	if errors.Is(err, tty.ErrTooLong) {
		err = &failure{Code: codeUsage, Message: fmt.Sprintf("the terminal may have truncated the input at %d bytes; nothing was written", tty.MaxLine-1),
			hint: "use a file or stdin"}
	}
	return cloud.NewSecret(typed), err
}

// maxHiddenLine is the maximum length of a secret line on stdin, in bytes.
const maxHiddenLine = 16 << 10

// secretLine reads a secret from a hidden prompt or, if vbot cannot ask, from the
// first line of stdin. field is its name in problems.
func secretLine(ctx context.Context, a *app, field, question string) (cloud.Secret, error) {
	if canAsk(a) {
		return hidden(ctx, a, question)
	}
	wrong := func(message string) (cloud.Secret, error) {
		return cloud.Secret{}, oneProblem(codeUsage, field, field, "%s", message)
	}
	if stdinEchoes(a) {
		return wrong("missing, and vbot cannot ask for it; pass it on stdin")
	}
	text, err := interruptible(ctx, func() (string, error) {
		return bufio.NewReader(io.LimitReader(a.stdin, maxHiddenLine+1)).ReadString('\n')
	})
	if f, ok := errors.AsType[*failure](err); ok {
		return cloud.Secret{}, f
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return cloud.Secret{}, fmt.Errorf("reading stdin: %w", rootCause(err))
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
