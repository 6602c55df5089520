package tty

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Choice is an entry of a menu.
type Choice struct {
	Value  string   // identifies the choice for the program; not shown
	Group  string   // the heading of its group, or ""
	Label  string   // shown first
	Names  []string // other names to type; not shown
	Words  []string // other words that the filter finds; not shown
	Note   string   // a short description, or ""
	Detail string   // more about it, or ""; shown at the cursor
}

// matches reports whether the label, the names and the other words of the choice contain all words, which
// are in lower case.
func (c Choice) matches(words []string) bool {
	all := strings.ToLower(c.Label + "\n" + strings.Join(slices.Concat(c.Names, c.Words), "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

// Is reports whether the word, which is in lower case, is a name or the label of the choice.
func (c Choice) Is(word string) bool {
	isWord := func(name string) bool { return strings.ToLower(name) == word }
	return slices.ContainsFunc(append(c.Names, c.Label), isWord)
}

// beginsWith reports whether a name or the label of the choice begins with the word, which is in lower
// case.
func (c Choice) beginsWith(word string) bool {
	hasPrefix := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), word) }
	return slices.ContainsFunc(append(c.Names, c.Label), hasPrefix)
}

// A Menu asks for one or several choices of a list. Enter selects the choice at the cursor, or
// those that are ticked, so there is always an answer; "none" has to be a choice.
type Menu struct {
	Ask     string
	Choices []Choice
	Several bool // several may be ticked
	// Check returns an error if the marked choices cannot be combined. It may be nil.
	Check  func(marked []int) error
	Marked []int // in the order of marking; the answer after Enter
	At     int   // the choice at the cursor, if the filter shows it

	filter  editor
	from    int    // the choice at the cursor before the filter was typed
	message string // why the last Enter or Space had no effect, or ""
	warned  int    // 1 + the index of the choice for which the warning was shown
	page    int    // how many rows of the list were drawn last
}

// shown returns the choices that match the filter.
func (m *Menu) shown() (out []int) {
	words := strings.Fields(strings.ToLower(string(m.filter.typed)))
	for i, c := range m.Choices {
		if c.matches(words) {
			out = append(out, i)
		}
	}
	return out
}

// An entry is a line of a list: a choice, or a heading.
type entry struct {
	heading string
	choice  int
}

// entries returns the shown choices, with headings if there are several.
func (m *Menu) entries(shown []int) (out []entry) {
	group := ""
	if last := m.Choices[len(m.Choices)-1].Group; m.Choices[0].Group == last {
		group = last
	}
	for _, i := range shown {
		if g := m.Choices[i].Group; g != group {
			group, out = g, append(out, entry{heading: g})
		}
		out = append(out, entry{choice: i})
	}
	return out
}

func (m *Menu) Title() string { return m.Ask }
func (m *Menu) Blank() bool   { return len(m.filter.typed) == 0 }

func (m *Menu) Answer() string {
	var labels []string
	for _, i := range m.Marked {
		labels = append(labels, m.Choices[i].Label)
	}
	return strings.Join(labels, ", ")
}

func (m *Menu) Press(k key) bool {
	shown := m.shown()
	at := slices.Index(shown, m.At) // -1 if nothing is shown
	last := len(shown) - 1
	to, moves := map[keyName]int{
		keyUp: at - 1, keyPageUp: max(0, at-m.page), keyHome: 0,
		keyDown: at + 1, keyPageDown: min(last, at+m.page), keyEnd: last,
	}[k.Name]
	m.message = ""
	switch {
	case k.Name == keyEscape && !m.Blank():
		m.filter, m.At = editor{}, m.from
	case len(shown) == 0 && k.Name == keyEnter:
		m.message = "no match"
	case k.Name == keyEnter:
		return m.enter()
	case m.Several && (k.Name == keyText && k.Text == " " || k.Name == keyTab):
		m.warned = m.At + 1 // no warning after it was ticked or unticked
		if len(shown) > 0 && m.toggle(m.At) {
			m.filter = editor{} // for the next one
		}
	case moves && len(shown) > 0:
		m.At = shown[(to+len(shown))%len(shown)] // Up and Down wrap around
	default:
		before := string(m.filter.typed)
		if before == "" {
			m.from = m.At
		}
		if m.filter.press(k); string(m.filter.typed) != before {
			m.seek()
		}
	}
	return false
}

// seek moves the cursor to the best match: a choice with that name, otherwise one whose
// name begins with the filter, otherwise the first match.
func (m *Menu) seek() {
	shown := m.shown()
	word := strings.ToLower(strings.TrimSpace(string(m.filter.typed)))
	if len(shown) == 0 || word == "" && slices.Contains(shown, m.At) {
		return
	}
	m.At = shown[0]
	for _, matches := range []func(Choice, string) bool{Choice.Is, Choice.beginsWith} {
		if i := slices.IndexFunc(shown, func(i int) bool { return matches(m.Choices[i], word) }); i >= 0 {
			m.At = shown[i]
			return
		}
	}
}

// toggle marks or unmarks the choice, and reports whether that is allowed.
func (m *Menu) toggle(i int) bool {
	if n := slices.Index(m.Marked, i); n >= 0 {
		m.Marked = slices.Delete(m.Marked, n, n+1)
		return true
	}
	return m.take(append(slices.Clone(m.Marked), i))
}

// enter reports whether the selection of Enter answers the question. If other choices are ticked
// but not the one at the cursor, it warns first.
func (m *Menu) enter() bool {
	switch {
	case len(m.Marked) == 0:
		return m.take([]int{m.At})
	case m.Several && !slices.Contains(m.Marked, m.At) && m.warned != m.At+1:
		m.warned = m.At + 1
		m.message = "Space ticks " + m.Choices[m.At].Label + "; Enter again selects only " + m.Answer()
		return false
	}
	return m.take(m.Marked)
}

// take makes the chosen choices the answer, and reports whether that is allowed.
func (m *Menu) take(chosen []int) bool {
	if m.Check != nil {
		if err := m.Check(chosen); err != nil {
			m.message = err.Error()
			return false
		}
	}
	m.message = ""
	m.Marked = chosen
	return true
}

func (m *Menu) view(width, height int, back bool) view {
	shown := m.shown()
	v := head(m.Ask, &m.filter, width)
	room := height - len(v.Rows)
	help := note(m.help(len(shown), back), faint, width)
	foot, longest := m.foot(shown, help, room, width)
	list := m.entries(shown)
	// Leave room for the longest foot, so that the list keeps its height when the cursor moves.
	m.page = min(len(list), max(1, room-max(min(longest, room/3), len(foot))))
	v.Rows = append(v.Rows, m.drawList(list, m.page, width)...)
	v.Rows = append(v.Rows, foot...)
	return v.fit(height)
}

// foot draws what is below the list: the message or, for the choice at the cursor, what does not fit beside
// its label, its detail, and the help. room is the height of the list with its foot, in rows. longest is the
// height of the longest foot that a shown choice has.
func (m *Menu) foot(shown []int, help []row, room, width int) (foot []row, longest int) {
	foot = help
	labelWidth := m.labelWidth()
	isEmpty := func(s string) bool { return s == "" }
	for _, i := range shown {
		_, left := m.row(i, true, labelWidth, width)
		about := slices.DeleteFunc([]string{left, m.Choices[i].Detail}, isEmpty)
		text := append(note(strings.Join(about, "; "), faint, width), help...)
		longest = max(longest, len(text))
		if i != m.At {
			continue
		}
		foot = text
		if len(text) > room/2 {
			foot = append(note(left, faint, width), help...)
		}
	}
	if len(foot) > room/2 {
		foot = help[:1]
	}
	if m.message != "" {
		foot = note(m.message, red, width)
	}
	return foot, longest
}

// drawList draws n entries around the cursor. If there are more, the first and the last row say how many
// choices they stand for.
func (m *Menu) drawList(list []entry, n, width int) (rows []row) {
	labelWidth := m.labelWidth()
	at := slices.Index(list, entry{choice: m.At})
	from := max(0, min(at-n/2, len(list)-n))
	for i, e := range list[from : from+n] {
		switch {
		case i == 0 && from > 0 && n > 2:
			more := fmt.Sprintf("  %d more above", choices(list[:from+1]))
			rows = append(rows, row{{style: faint, Text: more}})
		case i == n-1 && from+n < len(list) && n > 2:
			more := fmt.Sprintf("  %d more below", choices(list[from+i:]))
			rows = append(rows, row{{style: faint, Text: more}})
		case e.heading != "":
			rows = append(rows, row{{style: bold, Text: e.heading}})
		default:
			drawn, _ := m.row(e.choice, from+i == at, labelWidth, width)
			rows = append(rows, drawn)
		}
	}
	return rows
}

// choices returns how many of the entries are choices.
func choices(all []entry) (n int) {
	for _, e := range all {
		if e.heading == "" {
			n++
		}
	}
	return n
}

// maxWithoutFilter is the number of choices up to which the help does not mention the filter.
const maxWithoutFilter = 7

// help returns the line that explains the keys.
func (m *Menu) help(shown int, back bool) string {
	how := "Enter selects"
	switch {
	case shown == 0:
		return "no match; Esc shows all"
	case m.Several && len(m.Marked) == 0:
		how = "Enter selects, Space ticks several"
	case m.Several:
		how = "Enter selects what is ticked"
	}
	if len(m.Choices) > maxWithoutFilter {
		how = fmt.Sprintf("%d of %d; %s, type to filter", shown, len(m.Choices), how)
	}
	if back {
		how += ", " + backHelp
	}
	return how
}

// labelWidth returns the width of the longest label, in columns.
func (m *Menu) labelWidth() (width int) {
	for _, c := range m.Choices {
		width = max(width, Width(c.Label))
	}
	return width
}

// pad adds spaces up to the width.
func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// row draws one choice. hasCursor says that the cursor is at it. left is the part of its note that does not
// fit into width columns, of which the label has labelWidth.
func (m *Menu) row(i int, hasCursor bool, labelWidth, width int) (drawn row, left string) {
	c := m.Choices[i]
	pointer, style := "  ", normal
	if hasCursor {
		pointer, style = "> ", cyan
	}
	if m.Several {
		box := "[ ] "
		if slices.Contains(m.Marked, i) {
			box = "[x] "
		}
		pointer += box
	}
	if c.Note == "" || len(pointer)+labelWidth+2+Width(c.Note) > width-1 {
		return row{{style: style, Text: pointer + c.Label}}, c.Note
	}
	label := pad(c.Label, labelWidth)
	name := span{style: style, Text: pointer + label[:len(c.Label)]}
	note := span{style: faint, Text: label[len(c.Label):] + "  " + c.Note}
	return row{name, note}, ""
}

// askPlain prints numbered choices and reads numbers, ids or names. Any other text narrows the list.
func (m *Menu) askPlain(ctx context.Context, t *Terminal) error {
	t.Say("%s", m.Ask)
	m.list(t)
	for {
		typed, err := t.plainLine(ctx, m.plainPrompt())
		if err != nil {
			return err
		}
		typed = strings.ToLower(typed)
		m.message = ""
		switch chosen, ok := m.parse(typed); {
		case typed == "" && m.enter(), typed != "" && ok && m.take(chosen):
			return nil
		case m.message != "":
			t.Say("%s", m.message)
		case typed == "?":
			m.filter = editor{}
			m.list(t)
		case len(m.shown()) == 0:
			const noChoice = "%q is not a choice; enter a number from 1 to %d or a name"
			t.Say(noChoice, string(m.filter.typed), len(m.Choices))
			m.filter = editor{}
		default:
			t.Say("%d of %d match; ? lists all:", len(m.shown()), len(m.Choices))
			m.list(t)
		}
	}
}

// list prints the choices that match the filter.
func (m *Menu) list(t *Terminal) {
	labelWidth, digits := m.labelWidth(), len(strconv.Itoa(len(m.Choices)))
	for _, e := range m.entries(m.shown()) {
		if e.heading != "" {
			t.Say(" %s:", e.heading)
			continue
		}
		c := m.Choices[e.choice]
		line := fmt.Sprintf("  %*d  %s  %s", digits, e.choice+1, pad(c.Label, labelWidth), c.Note)
		if c.Detail != "" && !m.Blank() {
			line = strings.TrimRight(line, " ") + "; " + c.Detail
		}
		t.Say("%s", strings.TrimRight(line, " "))
	}
}

// plainPrompt says what can be typed, and what Enter selects.
func (m *Menu) plainPrompt() string {
	ask, enter := "Number or name", m.Choices[m.At].Label
	if len(m.Choices) > maxWithoutFilter {
		ask = "Number, name or part of one"
	}
	if m.Several {
		ask = "Numbers or names, such as 1,3"
		enter = cmp.Or(m.Answer(), enter)
	}
	return ask + " (Enter: " + enter + "): "
}

// parse returns the typed choices. ok is false if a word is not a choice; it becomes the filter.
func (m *Menu) parse(typed string) (chosen []int, ok bool) {
	words := []string{typed}
	if m.Several {
		words = strings.Split(typed, ",")
		if len(words) == 1 && m.find(typed) < 0 {
			words = strings.Fields(typed)
		}
	}
	for _, word := range words {
		i := m.find(strings.TrimSpace(word))
		if i < 0 {
			return nil, false
		}
		if !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	return chosen, true
}

// find returns the choice for the word, or -1. A word is a number, a name, or the beginning of a
// name if no other choice matches it. It is in lower case.
func (m *Menu) find(word string) int {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(m.Choices) {
		return n - 1
	}
	m.filter = editor{}
	m.filter.insert(word)
	m.seek()
	shown := m.shown()
	if word == "" || len(shown) == 0 {
		return -1
	}
	c := m.Choices[m.At]
	isOnlyOne := len(shown) == 1 && c.beginsWith(word)
	if c.Is(word) || isOnlyOne {
		return m.At
	}
	return -1
}

// Choose asks for one choice and returns its index. at is the preselected index.
func (t *Terminal) Choose(ctx context.Context, question string, choices []Choice, at int) (int, error) {
	m := &Menu{Ask: question, Choices: choices, At: at}
	if err := t.Ask(ctx, m); err != nil {
		return 0, err
	}
	return m.Marked[0], nil
}
