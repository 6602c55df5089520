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

// Questions go to stderr, so that stdout may be a pipe. On a terminal that can
// move its cursor, an open question is a block of lines that is drawn again at
// every key, and that gives way to one line with the answer. Elsewhere it is text,
// numbered lines, and the terminal's own line editing, which serves screen readers
// best.

// canAsk says whether a person is there to be asked: stdin and stderr are
// terminals.
func canAsk(a *app) bool {
	return tty.IsTerminal(a.stdin) && tty.IsTerminal(a.stderr)
}

// stdinShows says whether what is typed on stdin would be seen.
func stdinShows(a *app) bool { return tty.IsTerminal(a.stdin) }

// confirm asks a question that Enter answers with no.
func confirm(ctx context.Context, a *app, question string) (bool, error) {
	p, err := a.prompter()
	if err != nil {
		return false, err
	}
	return p.confirm(ctx, question, false)
}

// A prompter asks the questions of one run, one after the other. Its errors are
// context.Canceled when the person leaves, or ctx ends.
type prompter struct{ *tty.Terminal }

// prompter is the one of this run. Its error is that stdin is no file.
func (a *app) prompter() (prompter, error) {
	if a.terminal == nil {
		in, ok := a.stdin.(*os.File)
		if !ok {
			return prompter{}, errors.New("cannot ask: stdin is not a terminal")
		}
		kind := a.getenv("TERM")
		plain := kind == "" || kind == "dumb" || a.getenv("NO_COLOR") != "" || a.getenv("VBOT_PLAIN_PROMPTS") != ""
		a.terminal = tty.Open(in, a.stderr, plain)
	}
	return prompter{a.terminal}, nil
}

// say prints lines between questions.
func (p prompter) say(format string, args ...any) {
	p.Say(printable(fmt.Sprintf(format, args...)))
}

// A question can be asked with a cursor, and plainly without one.
type question interface {
	tty.Question
	plainly(ctx context.Context, p prompter) error
}

// ask asks q until it is answered.
func (p prompter) ask(ctx context.Context, q question) error {
	if p.Plain {
		return q.plainly(ctx, p)
	}
	return p.Ask(ctx, q)
}

// A lineQuestion asks for a line of text.
type lineQuestion struct {
	ask      string
	hint     string // after the question
	standard string // what Enter alone answers; "" if something has to be typed
	// check says something about the text, and whether it will do. The text is what
	// is typed, or else standard.
	check  func(text string) (note string, ok bool)
	answer func(text string) string // what an answer comes to; nil if to itself
	line   tty.Editor
	wrong  bool // Enter was pressed, and the text will not do
}

func (q *lineQuestion) text() string {
	return cmp.Or(strings.TrimSpace(string(q.line.Typed)), q.standard)
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

func (q *lineQuestion) View(width, height int) tty.View {
	v := tty.Head(q.ask+q.hint, &q.line, width)
	says, ok := q.check(q.text())
	if ok {
		v.Rows = append(v.Rows, tty.Note(says, tty.Faint, width)...)
	} else if q.wrong || !q.Blank() {
		v.Rows = append(v.Rows, tty.Note(says, tty.Red, width)...)
	}
	return v.Fit(height)
}

func (q *lineQuestion) plainly(ctx context.Context, p prompter) error {
	prompt := printable(q.ask+q.hint) + ": "
	if strings.HasSuffix(q.hint, "]") {
		prompt = printable(q.ask+q.hint) + " "
	}
	for {
		said, err := p.Line(ctx, prompt)
		if err != nil {
			return err
		}
		q.line = tty.Editor{}
		q.line.Insert(said)
		note, ok := q.check(q.text())
		if ok {
			return nil
		}
		p.say("%s", note)
	}
}

// line asks for a line of text.
func (p prompter) line(ctx context.Context, question, standard string, check func(string) (string, bool)) (string, error) {
	q := &lineQuestion{ask: question, standard: standard, check: check}
	if standard != "" {
		q.hint = " (" + standard + ")"
	}
	err := p.ask(ctx, q)
	return q.Answer(), err
}

// yesOrNo is a question that Enter alone answers with standard. What is neither yes
// nor no is a no where Enter is one; where Enter is a yes, it is no answer.
func yesOrNo(question string, standard bool) *lineQuestion {
	yes := func(text string) bool { return strings.HasPrefix("yes", strings.ToLower(text)) }
	q := &lineQuestion{ask: printable(question), hint: " [y/N]", standard: "no"}
	if standard {
		q.hint, q.standard = " [Y/n]", "yes"
	}
	q.check = func(text string) (string, bool) {
		if !standard || yes(text) || strings.HasPrefix("no", strings.ToLower(text)) {
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

// confirm asks for a yes or a no.
func (p prompter) confirm(ctx context.Context, question string, standard bool) (bool, error) {
	q := yesOrNo(question, standard)
	err := p.ask(ctx, q)
	return q.Answer() == "yes", err
}

// A choice is one of the answers to choose from.
type choice struct {
	label string   // what is read
	id    string   // the short form, or ""
	names []string // further forms
	note  string   // in a few words, or ""
}

// matches says whether every one of words is found in the choice.
func (c choice) matches(words []string) bool {
	all := strings.ToLower(c.label + "\n" + c.id + "\n" + strings.Join(c.names, "\n") + "\n" + c.note)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

// is says whether word is a full name of the choice, and begins whether one of its
// names begins with word; word is in lower case.
func (c choice) is(word string) bool {
	return slices.ContainsFunc(append(c.names, c.label, c.id), func(n string) bool { return strings.ToLower(n) == word })
}

func (c choice) begins(word string) bool {
	return slices.ContainsFunc(append(c.names, c.label, c.id), func(n string) bool { return strings.HasPrefix(strings.ToLower(n), word) })
}

// A menu asks to choose one, or several, of a list.
type menu struct {
	ask     string
	choices []choice
	several bool
	// needed says that of several at least one has to be chosen: if none is marked,
	// Enter selects the one at the cursor.
	needed bool
	// allow says why the marked ones will not do together, or "". It may be nil.
	allow  func(marked []int) string
	marked []int // in the order in which they were marked; the answer, in the end
	filter tty.Editor
	at     int // the choice at the cursor, if the filter lets it through
	wrong  string
}

// shown are the choices that the filter lets through.
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
	move := func(to int) { m.at = shown[max(0, min(to, len(shown)-1))] }
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
	case k.Name == tty.KeyUp && len(shown) > 0:
		move((at + len(shown) - 1) % len(shown))
	case k.Name == tty.KeyDown && len(shown) > 0:
		move((at + 1) % len(shown))
	case k.Name == tty.KeyPageUp && len(shown) > 0:
		move(at - menuPage)
	case k.Name == tty.KeyPageDown && len(shown) > 0:
		move(at + menuPage)
	case k.Name == tty.KeyHome && len(shown) > 0:
		move(0)
	case k.Name == tty.KeyEnd && len(shown) > 0:
		move(len(shown) - 1)
	default:
		before := string(m.filter.Typed)
		if m.filter.Press(k) && string(m.filter.Typed) != before {
			m.seek()
		}
	}
	return false
}

// seek moves the cursor to what the filter most likely means: the choice of that
// name, else one that begins so, else the first that matches.
func (m *menu) seek() {
	shown := m.shown()
	word := strings.ToLower(strings.TrimSpace(string(m.filter.Typed)))
	if len(shown) == 0 || word == "" && slices.Contains(shown, m.at) {
		return
	}
	m.at = shown[0]
	for _, likely := range []func(choice) bool{
		func(c choice) bool { return c.is(word) },
		func(c choice) bool { return c.begins(word) },
	} {
		if i := slices.IndexFunc(shown, func(i int) bool { return likely(m.choices[i]) }); i >= 0 {
			m.at = shown[i]
			return
		}
	}
}

// mark marks the choice, or takes its mark away, and says whether that may be.
func (m *menu) mark(i int) bool {
	if n := slices.Index(m.marked, i); n >= 0 {
		m.marked = slices.Delete(m.marked, n, n+1)
		return true
	}
	marked := append(slices.Clone(m.marked), i)
	if m.wrong = m.refuses(marked); m.wrong != "" {
		return false
	}
	m.marked = marked
	return true
}

func (m *menu) refuses(marked []int) string {
	if m.allow == nil {
		return ""
	}
	return m.allow(marked)
}

// enter ends the question, if it can.
func (m *menu) enter() bool {
	chosen := m.marked
	if !m.several || m.needed && len(chosen) == 0 {
		chosen = []int{m.at}
	}
	if m.wrong = m.refuses(chosen); m.wrong == "" {
		m.marked = chosen
	}
	return m.wrong == ""
}

// menuPage is how many choices are shown at most, so that what was answered before
// stays in sight.
const menuPage = 12

func (m *menu) View(width, height int) tty.View {
	shown := m.shown()
	v := tty.Head(m.ask, &m.filter, width)
	foot := []tty.Row{{{Style: tty.Faint, Text: "  " + m.help(len(shown))}}}
	if m.wrong != "" {
		foot = tty.Note(m.wrong, tty.Red, width)
	}
	rows := min(len(shown), menuPage, max(1, height-len(v.Rows)-len(foot)))
	at := slices.Index(shown, m.at)
	from := max(0, min(at-rows/2, len(shown)-rows))
	labels, ids := 0, 0
	for _, c := range m.choices {
		labels, ids = max(labels, tty.Width(c.label)), max(ids, tty.Width(c.id))
	}
	for n, i := range shown[from : from+rows] {
		v.Rows = append(v.Rows, m.row(i, from+n == at, labels, ids))
	}
	v.Rows = append(v.Rows, foot...)
	return v.Fit(height)
}

// help says what can be done.
func (m *menu) help(shown int) string {
	how := "Enter selects"
	if m.several {
		how = "Space selects, Enter continues"
	}
	if shown == 0 {
		return "no match; Esc shows all"
	}
	if len(m.choices) > menuPage {
		return fmt.Sprintf("%d of %d; %s, type to filter", shown, len(m.choices), how)
	}
	return how
}

// row is one choice; the columns are labels and ids wide.
func (m *menu) row(i int, here bool, labels, ids int) tty.Row {
	c := m.choices[i]
	pointer, look := "  ", tty.Normal
	if here {
		pointer, look = "> ", tty.Cyan
	}
	if m.several {
		box := "[ ] "
		if slices.Contains(m.marked, i) {
			box = "[x] "
		}
		pointer += box
	}
	r := tty.Row{{Style: look, Text: pointer + c.label}}
	if rest := c.rest(ids); rest != "" {
		r = append(r, tty.Span{Style: tty.Faint, Text: strings.Repeat(" ", labels-tty.Width(c.label)+2) + rest})
	}
	return r
}

// rest is what stands behind the label: the id in a column of its own, names, note.
func (c choice) rest(ids int) string {
	rest := ""
	if ids > 0 {
		rest = c.id + strings.Repeat(" ", ids-tty.Width(c.id)+2)
	}
	rest += strings.Join(c.names, " ")
	if c.note != "" && len(c.names) > 0 {
		rest += "  "
	}
	return strings.TrimRight(rest+c.note, " ")
}

// plainly prints the choices with numbers, and takes numbers, ids and names.
func (m *menu) plainly(ctx context.Context, p prompter) error {
	labels, ids := 0, 0
	for _, c := range m.choices {
		labels, ids = max(labels, tty.Width(c.label)), max(ids, tty.Width(c.id))
	}
	digits := len(strconv.Itoa(len(m.choices)))
	p.Say(m.ask)
	for i, c := range m.choices {
		line := fmt.Sprintf("  %*d  %s%s  %s", digits, i+1, c.label, strings.Repeat(" ", labels-tty.Width(c.label)), c.rest(ids))
		p.Say(strings.TrimRight(line, " "))
	}
	standard, ask := strconv.Itoa(m.at+1), "Number"
	if m.several {
		ask = "Numbers, such as 1,3"
		var numbers []string
		for _, i := range m.marked {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
		if len(numbers) > 0 || !m.needed {
			standard = cmp.Or(strings.Join(numbers, ","), "none")
		}
	}
	for {
		said, err := p.Line(ctx, ask+" ("+standard+"): ")
		if err != nil {
			return err
		}
		chosen, wrong := m.read(said)
		if wrong == "" {
			if wrong = m.refuses(chosen); wrong == "" {
				m.marked = chosen
				return nil
			}
		}
		p.say("%s", wrong)
	}
}

// read takes what was typed for choices, or says what is wrong with it.
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
			return nil, fmt.Sprintf("%q is not a choice; enter a number from 1 to %d, an id or a name", strings.TrimSpace(word), len(m.choices))
		}
		if !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return chosen, ""
}

// find is the choice that word, in lower case, names; or whose name alone begins
// so; or -1.
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

// choose asks to choose one, and returns its index. The cursor stands at the one
// with the index at.
func (p prompter) choose(ctx context.Context, question string, choices []choice, at int) (int, error) {
	m := &menu{ask: question, choices: choices, at: at}
	if err := p.ask(ctx, m); err != nil {
		return 0, err
	}
	return m.marked[0], nil
}

// hidden asks for a line that is not shown. stdin must be a terminal. Whatever
// ends it, the terminal is as it was before.
func hidden(ctx context.Context, a *app, question string) (cloud.Secret, error) {
	p, err := a.prompter()
	if err != nil {
		return cloud.Secret{}, err
	}
	typed, err := p.Hidden(ctx, printable(question))
	if errors.Is(err, tty.ErrTooLong) {
		err = &failure{Code: codeUsage, Message: fmt.Sprintf("the terminal may have truncated the input at %d bytes; nothing was written", tty.MaxLine-1),
			hint: "use a file or stdin"}
	}
	return cloud.NewSecret(typed), err
}

// maxHiddenLine bounds a line on stdin that is never shown, in bytes.
const maxHiddenLine = 16 << 10

// secretLine reads a line that is not shown: from the terminal, or else from
// stdin. field is what the line is for.
func secretLine(ctx context.Context, a *app, noInput bool, field, question string) (cloud.Secret, error) {
	if canAsk(a) && !noInput {
		return hidden(ctx, a, question)
	}
	wrong := func(message string) (cloud.Secret, error) {
		return cloud.Secret{}, oneProblem(codeUsage, field, field, "%s", message)
	}
	if stdinShows(a) {
		return wrong("is missing, and vbot cannot ask for it; pass it on stdin")
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
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return wrong("is missing: the first line of stdin is empty")
	}
	return cloud.NewSecret(text), nil
}
