package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Questions go to stderr, so that stdout may be a pipe. On a terminal that can
// move its cursor, an open question is a block of lines that is drawn again at
// every key, and that gives way to one line with the answer. Elsewhere it is text,
// numbered lines, and the terminal's own line editing, which serves screen readers
// best.
//
// What a question is stands apart from the terminal: a key changes its state
// (press), and its state gives lines (view).

// canAsk says whether a person is there to be asked: stdin and stderr are
// terminals.
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
	p, err := a.prompter()
	if err != nil {
		return false, err
	}
	return p.confirm(ctx, question, false)
}

// A prompter asks the questions of one run, one after the other. Each question
// reads as far as the Enter that ends it, and no further: what was typed ahead is
// there for the next one.
type prompter struct {
	in     *os.File
	out    io.Writer
	plain  bool // numbered lines, no control sequences
	width  int  // of the terminal, in columns, as of the last look
	height int  // in lines

	// A read from a terminal cannot be called off. So there is one at a time, and
	// what it finds belongs to whoever asks next.
	reading bool
	found   chan reading
	decoder decoder
	keys    []key
	due     time.Time // when the decoder has waited long enough

	mu       sync.Mutex
	raws     int           // how many want raw mode
	was      *term.State   // how the terminal was set before raw mode
	shown    view          // the block that stands on the screen
	holding  bool          // between hold and its release
	record   []spans       // what was printed since hold
	broken   bool          // the terminal may have broken lines in other places
	watching bool          // SIGTSTP is caught, once and for all
	resumed  bool          // from a stop of our own: the SIGCONT that comes with it is no news
	redraw   chan struct{} // the program was stopped, and goes on
}

// A reading is what one read from the terminal found.
type reading struct {
	b   byte
	err error
}

// prompter is the one of this run. Its error is that stdin is no file.
func (a *app) prompter() (*prompter, error) {
	if a.asks != nil {
		return a.asks, nil
	}
	in, ok := a.stdin.(*os.File)
	if !ok {
		return nil, errors.New("a question needs a terminal")
	}
	kind := a.getenv("TERM")
	a.asks = &prompter{
		in: in, out: a.stderr,
		plain:  kind == "" || kind == "dumb" || a.getenv("NO_COLOR") != "" || a.getenv("VBOT_PLAIN_PROMPTS") != "",
		found:  make(chan reading, 1),
		redraw: make(chan struct{}, 1),
	}
	a.asks.look()
	go a.asks.handleStops(watchStops(false))
	return a.asks, nil
}

// look notes the size of the terminal, and says whether it changed.
func (p *prompter) look() bool {
	width, height := 0, 0
	if f, ok := p.out.(*os.File); ok {
		width, height, _ = term.GetSize(int(f.Fd()))
	}
	if width < 1 || height < 1 {
		width, height = 80, 24 // some terminals do not know
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := width != p.width || height != p.height
	p.broken = p.broken || changed
	p.width, p.height = width, height
	return changed
}

// Raw mode.

// Bracketed paste: the terminal marks what is pasted, so that a line end in it is
// not taken for the Enter that a person did not press.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// raw takes the keys from the terminal one by one, unseen, until release is
// called; to call that twice does no harm. Whoever calls raw defers release: so
// the terminal is as it was whatever happens.
func (p *prompter) raw() (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.raws == 0 {
		if !p.watching {
			p.watching = true
			go p.handleStops(watchStops(true))
		}
		if p.was, err = term.MakeRaw(int(p.in.Fd())); err != nil {
			return nil, fmt.Errorf("taking the keys from the terminal: %w", err)
		}
		p.mark(pasteOn)
	}
	p.raws++
	released := false
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if released {
			return
		}
		released = true
		if p.raws--; p.raws == 0 {
			p.cooked()
		}
	}, nil
}

// hold is raw for several questions, between which nothing typed shall show. For
// plain questions it does nothing.
func (p *prompter) hold() (release func(), err error) {
	if p.plain {
		return func() {}, nil
	}
	cooked, err := p.raw()
	if err != nil {
		return nil, err
	}
	p.holding, p.record = true, nil
	return func() {
		p.holding = false
		cooked()
	}, nil
}

// cooked puts the terminal back as it was.
func (p *prompter) cooked() {
	p.mark(pasteOff)
	term.Restore(int(p.in.Fd()), p.was)
}

func (p *prompter) mark(sequence string) {
	if !p.plain {
		io.WriteString(p.out, sequence)
	}
}

// stop stops the program, as Ctrl-Z asks for, with the terminal as it was.
func (p *prompter) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.raws > 0 {
		if len(p.shown.rows) > 0 {
			io.WriteString(p.out, p.up()+"\x1b[J")
			p.shown = view{}
		} else {
			io.WriteString(p.out, "\r\n")
		}
		p.cooked()
	}
	p.resumed = suspend()
	p.goOn()
}

// goOn takes the terminal again after a stop.
func (p *prompter) goOn() {
	if p.raws > 0 {
		term.MakeRaw(int(p.in.Fd())) // it went well before; the state to go back to stays
		p.mark(pasteOn)
	}
	select {
	case p.redraw <- struct{}{}:
	default:
	}
}

// handleStops does what signals ask for: to stop, and to go on after a stop that
// could not be caught, when a shell may have set the terminal its own way.
func (p *prompter) handleStops(signals <-chan os.Signal) {
	for s := range signals {
		if asksToStop(s) {
			p.stop()
			continue
		}
		p.mu.Lock()
		if !p.resumed {
			p.goOn()
		}
		p.resumed = false
		p.mu.Unlock()
	}
}

// Reading.

// read starts a read, if none is under way.
func (p *prompter) read() {
	if p.reading {
		return
	}
	p.reading = true
	go func() {
		var b [1]byte
		_, err := io.ReadFull(p.in, b[:])
		p.found <- reading{b[0], err}
	}()
}

// next waits for a key. It is keyNone when the screen has to be drawn again: the
// terminal's size changed, or the program was stopped and goes on. It returns the
// failure "interrupted" when ctx ends or the terminal is gone.
//
// A look at the size every tenth of a second works on every system; the signal
// that tells of a new size does not.
func (p *prompter) next(ctx context.Context, looks <-chan time.Time) (key, error) {
	for len(p.keys) == 0 {
		if ctx.Err() != nil {
			return key{}, interrupted()
		}
		var late <-chan time.Time
		if p.decoder.patience() > 0 {
			late = time.After(time.Until(p.due))
		}
		p.read()
		select {
		case <-ctx.Done():
			return key{}, interrupted()
		case r := <-p.found:
			p.reading = false
			if r.err != nil {
				return key{}, interrupted()
			}
			p.keys = p.decoder.take(r.b)
			p.due = time.Now().Add(p.decoder.patience())
		case <-late:
			p.keys = p.decoder.flush()
		case <-looks:
			if p.look() {
				return key{name: keyNone}, nil
			}
		case <-p.redraw:
			p.look()
			return key{name: keyNone}, nil
		}
	}
	k := p.keys[0]
	p.keys = p.keys[1:]
	return k, nil
}

// typed reads a line as the terminal's own editing gives it. The prompt is printed
// first; and again, below all of the question, when the program was stopped
// meanwhile.
func (p *prompter) typed(ctx context.Context, question, prompt string) (string, error) {
	p.forgetRedraw()
	io.WriteString(p.out, prompt)
	var line []byte
	for {
		p.read()
		select {
		case <-ctx.Done():
			fmt.Fprintln(p.out)
			return "", interrupted()
		case <-p.redraw:
			line = nil // the terminal has dropped it
			io.WriteString(p.out, question+prompt)
		case r := <-p.found:
			p.reading = false
			if r.err != nil && len(line) == 0 {
				fmt.Fprintln(p.out)
				return "", interrupted()
			}
			if r.err != nil || r.b == '\n' {
				return strings.TrimRight(string(line), "\r"), nil
			}
			line = append(line, r.b)
		}
	}
}

// forgetRedraw forgets a stop before the question: it is about to be drawn anyway.
func (p *prompter) forgetRedraw() {
	select {
	case <-p.redraw:
	default:
	}
}

// The screen.

// up moves the cursor to the beginning of the block that is shown. A terminal that
// became narrower may have broken the block's lines.
func (p *prompter) up() string {
	n := p.shown.column / p.width
	for _, r := range p.shown.rows[:min(p.shown.line, len(p.shown.rows))] {
		n += 1 + max(0, r.width()-1)/p.width
	}
	if n == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", n)
}

// again clears a screen of another size, and prints the end of the
// record once more, as much as fits above rows lines: terminals differ in where a
// tall block and the cursor in it are after that.
func (p *prompter) again(b *strings.Builder, rows int) {
	from, left := len(p.record), p.height-rows
	for from > 0 {
		if left -= 1 + max(0, p.record[from-1].width()-1)/p.width; left < 0 {
			break
		}
		from--
	}
	b.WriteString("\x1b[H\x1b[J")
	for _, r := range p.record[from:] {
		r.write(b, 1<<20, true)
		b.WriteString("\r\n")
	}
}

// draw shows v in the place of what is shown. It is one write, and no line is
// erased before it is written again: so nothing flickers. The last column stays
// free, where terminals differ in what they do next.
func (p *prompter) draw(v view) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	if p.broken && len(p.shown.rows) > 0 && p.holding {
		p.again(&b, len(v.rows))
	} else {
		b.WriteString(p.up())
	}
	p.broken = false
	for i, r := range v.rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		r.write(&b, p.width-1, true)
		b.WriteString("\x1b[K")
	}
	b.WriteString("\x1b[J\r")
	if n := len(v.rows) - 1 - v.line; n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	if v.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", v.column)
	}
	io.WriteString(p.out, b.String())
	// What is shown is what fits.
	for i, r := range v.rows {
		if r.width() > p.width-1 {
			var cut strings.Builder
			r.write(&cut, p.width-1, false)
			v.rows[i] = spans{{normal, cut.String()}}
		}
	}
	p.shown = v
}

// settle puts a line in the place of the block.
func (p *prompter) settle(r spans) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	b.WriteString(p.up() + "\x1b[J")
	r.write(&b, 1<<20, true) // the terminal may break it: nothing is drawn over it
	b.WriteString("\r\n")
	io.WriteString(p.out, b.String())
	p.shown = view{}
	p.record = append(p.record, r)
}

// say prints lines between questions.
func (p *prompter) say(format string, args ...any) {
	text := printable(fmt.Sprintf(format, args...))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plain {
		io.WriteString(p.out, text+"\n")
		return
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if textWidth(line) > p.width {
			lines = append(lines, wrap(line, p.width)...)
		} else {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		io.WriteString(p.out, line+"\r\n")
		p.record = append(p.record, spans{{normal, line}})
	}
}

// Questions.

// A question is what is asked, and how far its answer has come.
type question interface {
	// press takes a key, and says whether the question is answered.
	press(k key) bool
	// view is the question as it stands, for a terminal of this size.
	view(width, height int) view
	// blank says whether nothing is typed, so that Ctrl-D means that all is over.
	blank() bool
	// title and answer are what stays of it.
	title() string
	answer() string
	// plainly asks without a cursor to move.
	plainly(ctx context.Context, p *prompter) error
}

// ask asks q until it is answered. It returns the failure "interrupted" at Ctrl-C,
// at Ctrl-D where nothing is typed, and when ctx ends or the terminal is closed.
func (p *prompter) ask(ctx context.Context, q question) error {
	if p.plain {
		return q.plainly(ctx, p)
	}
	release, err := p.raw()
	if err != nil {
		return err
	}
	defer release()
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	p.forgetRedraw()
	for p.look(); ; {
		p.draw(q.view(p.width, p.height))
		k, err := p.next(ctx, looks.C)
		if k.name == keyInterrupt || k.name == keyEOF && q.blank() {
			err = interrupted()
		}
		if err != nil {
			p.settle(spans{{bold, "? " + q.title()}})
			return err
		}
		if k.name == keySuspend {
			p.stop()
		} else if k.name != keyNone && q.press(k) {
			p.settle(spans{{bold, "? " + q.title()}, {normal, "  "}, {cyan, q.answer()}})
			return nil
		}
	}
}

// A lineQuestion asks for a line of text.
type lineQuestion struct {
	ask      string
	standard string // what Enter alone answers; "" if something has to be typed
	// check says something about the text, and whether it will do. The text is what
	// is typed, or else standard.
	check func(text string) (note string, ok bool)
	line  editor
	wrong bool // Enter was pressed, and the text will not do
}

func (q *lineQuestion) value() string {
	return cmp.Or(strings.TrimSpace(string(q.line.typed)), q.standard)
}

func (q *lineQuestion) text() string {
	if q.standard != "" {
		return q.ask + " (" + q.standard + ")"
	}
	return q.ask
}
func (q *lineQuestion) title() string  { return q.ask }
func (q *lineQuestion) answer() string { return q.value() }
func (q *lineQuestion) blank() bool    { return len(q.line.typed) == 0 }

func (q *lineQuestion) press(k key) bool {
	if k.name != keyEnter {
		q.wrong = false
		q.line.press(k)
		return false
	}
	_, ok := q.check(q.value())
	q.wrong = !ok
	return ok
}

func (q *lineQuestion) view(width, height int) view {
	v := head(q.text(), &q.line, width)
	says, ok := q.check(q.value())
	if ok {
		v.rows = append(v.rows, note(says, faint, width)...)
	} else if q.wrong || !q.blank() {
		v.rows = append(v.rows, note(says, red, width)...)
	}
	return v.fit(height)
}

func (q *lineQuestion) plainly(ctx context.Context, p *prompter) error {
	for {
		said, err := p.typed(ctx, "", printable(q.text())+": ")
		if err != nil {
			return err
		}
		q.line = editor{}
		q.line.insert(said)
		note, ok := q.check(q.value())
		if ok {
			return nil
		}
		p.say("%s", note)
	}
}

// line asks for a line of text.
func (p *prompter) line(ctx context.Context, question, standard string, check func(string) (string, bool)) (string, error) {
	q := &lineQuestion{ask: question, standard: standard, check: check}
	err := p.ask(ctx, q)
	return q.value(), err
}

// A yesOrNo is a question that Enter alone answers with standard.
type yesOrNo struct {
	ask      string
	standard bool
	line     editor
	yes      bool
	wrong    bool
}

func (q *yesOrNo) text() string {
	if q.standard {
		return q.ask + " [Y/n]"
	}
	return q.ask + " [y/N]"
}
func (q *yesOrNo) title() string { return q.ask }
func (q *yesOrNo) blank() bool   { return len(q.line.typed) == 0 }

func (q *yesOrNo) answer() string {
	if q.yes {
		return "yes"
	}
	return "no"
}

// decide takes word for an answer. What is neither yes nor no is a no where Enter
// is one; where Enter is a yes, it is no answer.
func (q *yesOrNo) decide(word string) bool {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "":
		q.yes = q.standard
	case "y", "yes":
		q.yes = true
	case "n", "no":
		q.yes = false
	default:
		q.yes, q.wrong = false, q.standard
		return !q.standard
	}
	return true
}

func (q *yesOrNo) press(k key) bool {
	if k.name == keyEnter {
		return q.decide(string(q.line.typed))
	}
	q.wrong = false
	q.line.press(k)
	return false
}

func (q *yesOrNo) view(width, height int) view {
	v := head(q.text(), &q.line, width)
	if q.wrong {
		v.rows = append(v.rows, spans{{red, "  y or n, please"}})
	}
	return v.fit(height)
}

func (q *yesOrNo) plainly(ctx context.Context, p *prompter) error {
	for {
		word, err := p.typed(ctx, "", printable(q.text())+" ")
		if err != nil {
			return err
		}
		if q.decide(word) {
			return nil
		}
		p.say("y or n, please")
	}
}

// confirm asks for a yes or a no.
func (p *prompter) confirm(ctx context.Context, question string, standard bool) (bool, error) {
	q := &yesOrNo{ask: printable(question), standard: standard}
	err := p.ask(ctx, q)
	return q.yes, err
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
	// Enter chooses the one at the cursor.
	needed bool
	// allow says why the marked ones will not do together, or "". It may be nil.
	allow  func(marked []int) string
	marked []int // in the order in which they were marked; the answer, in the end
	filter editor
	at     int // the choice at the cursor, if the filter lets it through
	wrong  string
}

// shown are the choices that the filter lets through.
func (m *menu) shown() (out []int) {
	words := strings.Fields(strings.ToLower(string(m.filter.typed)))
	for i, c := range m.choices {
		if c.matches(words) {
			out = append(out, i)
		}
	}
	return out
}

func (m *menu) title() string { return m.ask }
func (m *menu) blank() bool   { return len(m.filter.typed) == 0 }

func (m *menu) answer() string {
	var labels []string
	for _, i := range m.marked {
		labels = append(labels, m.choices[i].label)
	}
	return cmp.Or(strings.Join(labels, ", "), "none")
}

func (m *menu) press(k key) bool {
	shown := m.shown()
	at := slices.Index(shown, m.at) // -1 if nothing is shown
	move := func(to int) { m.at = shown[max(0, min(to, len(shown)-1))] }
	m.wrong = ""
	switch {
	case k.name == keyEscape:
		m.filter = editor{}
	case len(shown) == 0 && k.name == keyEnter:
		m.wrong = "nothing matches what is typed"
	case k.name == keyEnter:
		return m.enter()
	case m.several && (k.name == keyText && k.text == " " || k.name == keyTab):
		if len(shown) > 0 && m.mark(m.at) {
			m.filter = editor{} // for the next one
		}
	case k.name == keyUp && len(shown) > 0:
		move((at + len(shown) - 1) % len(shown))
	case k.name == keyDown && len(shown) > 0:
		move((at + 1) % len(shown))
	case k.name == keyPageUp && len(shown) > 0:
		move(at - menuPage)
	case k.name == keyPageDown && len(shown) > 0:
		move(at + menuPage)
	case k.name == keyHome && len(shown) > 0:
		move(0)
	case k.name == keyEnd && len(shown) > 0:
		move(len(shown) - 1)
	default:
		before := string(m.filter.typed)
		if m.filter.press(k) && string(m.filter.typed) != before {
			m.seek()
		}
	}
	return false
}

// seek moves the cursor to what the filter most likely means: the choice of that
// name, else one that begins so, else the first that matches.
func (m *menu) seek() {
	shown := m.shown()
	word := strings.ToLower(strings.TrimSpace(string(m.filter.typed)))
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

func (m *menu) view(width, height int) view {
	shown := m.shown()
	v := head(m.ask, &m.filter, width)
	foot := []spans{{{faint, "  " + m.help(len(shown))}}}
	if m.wrong != "" {
		foot = note(m.wrong, red, width)
	}
	rows := min(len(shown), menuPage, max(1, height-len(v.rows)-len(foot)))
	at := slices.Index(shown, m.at)
	from := max(0, min(at-rows/2, len(shown)-rows))
	labels, ids := 0, 0
	for _, c := range m.choices {
		labels, ids = max(labels, textWidth(c.label)), max(ids, textWidth(c.id))
	}
	for n, i := range shown[from : from+rows] {
		v.rows = append(v.rows, m.row(i, from+n == at, labels, ids))
	}
	v.rows = append(v.rows, foot...)
	return v.fit(height)
}

// help says what can be done.
func (m *menu) help(shown int) string {
	how := "Enter chooses"
	if m.several {
		how = "Space marks, Enter goes on"
	}
	if shown == 0 {
		return "nothing matches; Esc shows all"
	}
	if len(m.choices) > menuPage {
		return fmt.Sprintf("%d of %d; %s, typing filters", shown, len(m.choices), how)
	}
	return how
}

// row is one choice; the columns are labels and ids wide.
func (m *menu) row(i int, here bool, labels, ids int) spans {
	c := m.choices[i]
	pointer, look := "  ", normal
	if here {
		pointer, look = "> ", cyan
	}
	if m.several {
		box := "[ ] "
		if slices.Contains(m.marked, i) {
			box = "[x] "
		}
		pointer += box
	}
	r := spans{{look, pointer + c.label}}
	if rest := c.rest(ids); rest != "" {
		r = append(r, span{faint, strings.Repeat(" ", labels-textWidth(c.label)+2) + rest})
	}
	return r
}

// rest is what stands behind the label: the id in a column of its own, names, note.
func (c choice) rest(ids int) string {
	rest := ""
	if ids > 0 {
		rest = c.id + strings.Repeat(" ", ids-textWidth(c.id)+2)
	}
	rest += strings.Join(c.names, " ")
	if c.note != "" && len(c.names) > 0 {
		rest += "  "
	}
	return strings.TrimRight(rest+c.note, " ")
}

// plainly prints the choices with numbers, and takes numbers, ids and names.
func (m *menu) plainly(ctx context.Context, p *prompter) error {
	labels, ids := 0, 0
	for _, c := range m.choices {
		labels, ids = max(labels, textWidth(c.label)), max(ids, textWidth(c.id))
	}
	digits := len(strconv.Itoa(len(m.choices)))
	var question strings.Builder
	fmt.Fprintln(&question, m.ask)
	for i, c := range m.choices {
		line := fmt.Sprintf("  %*d  %s%s  %s", digits, i+1, c.label, strings.Repeat(" ", labels-textWidth(c.label)), c.rest(ids))
		fmt.Fprintln(&question, strings.TrimRight(line, " "))
	}
	io.WriteString(p.out, question.String())
	standard, ask := strconv.Itoa(m.at+1), "Number"
	if m.several {
		ask = "Numbers, as in 1,3"
		var numbers []string
		for _, i := range m.marked {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
		if len(numbers) > 0 || !m.needed {
			standard = cmp.Or(strings.Join(numbers, ","), "none")
		}
	}
	for {
		said, err := p.typed(ctx, question.String(), ask+" ("+standard+"): ")
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
			return nil, fmt.Sprintf("%q is none of them: a number from 1 to %d, an id or a name", strings.TrimSpace(word), len(m.choices))
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
func (p *prompter) choose(ctx context.Context, question string, choices []choice, at int) (int, error) {
	m := &menu{ask: question, choices: choices, at: at}
	if err := p.ask(ctx, m); err != nil {
		return 0, err
	}
	return m.marked[0], nil
}

// maxTyped is how long a line a terminal carries, in bytes, with the byte that
// ends it (N_TTY_BUF_SIZE of Linux). What is longer may have been cut before it
// came here, when it was pasted ahead of the question.
const maxTyped = 4096

// hidden asks for a line that is not shown. stdin must be a terminal. Whatever
// ends it, the terminal is as it was before.
func hidden(ctx context.Context, a *app, question string) (secret, error) {
	p, err := a.prompter()
	if err != nil {
		return secret{}, err
	}
	release, err := p.raw()
	if err != nil {
		return secret{}, err
	}
	defer release()
	defer io.WriteString(p.out, "\r\n")
	show := func() { fmt.Fprintf(p.out, "\r%s ", printable(question)) }
	p.forgetRedraw()
	show()

	var typed []byte
	odd := "" // why what was typed will not do
	for {
		k, err := p.next(ctx, nil)
		if err != nil {
			return secret{}, err
		}
		switch k.name {
		case keyEnter:
			if len(typed) >= maxTyped-1 {
				return secret{}, &failure{Code: codeUsage, Message: fmt.Sprintf("what was typed is %d bytes or more, and a terminal may cut that; nothing was written", maxTyped-1),
					hint: "give it in a file, or on stdin"}
			}
			if odd == "" {
				return newSecret(string(typed)), nil
			}
			fmt.Fprintf(p.out, "\r\n%s; once more, please.\r\n", odd)
			typed, odd = nil, ""
			show()
		case keyInterrupt:
			return secret{}, interrupted()
		case keyEOF:
			if len(typed) == 0 {
				return secret{}, interrupted()
			}
		case keyBackspace:
			_, size := utf8.DecodeLastRune(typed)
			typed = typed[:len(typed)-size]
		case keyKill:
			typed, odd = nil, ""
		case keySuspend:
			p.stop()
		case keyNone:
			show()
		case keyText, keyTab:
			typed = append(typed, k.text...)
		case keyPaste:
			text := strings.TrimRight(k.text, "\r\n")
			if strings.ContainsAny(text, "\r\n") && !strings.HasPrefix(text, "-----BEGIN ") {
				odd = "Several lines were pasted, and one is needed"
			}
			text, _, _ = strings.Cut(text, "\n")
			text, _, _ = strings.Cut(text, "\r")
			typed = append(typed, text...)
		default:
			odd = "A key that types nothing was pressed"
		}
	}
}
