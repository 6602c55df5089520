package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A topic is one question of the wizard, about one option or several toggles. The
// rules in resolve.go decide which answers it offers (see allows).
type topic struct {
	ask     string
	label   string // in the summary
	options []*option
}

// topics returns all questions in order. Toggles without a question of their own
// share one.
func topics() (all []topic) {
	inTurn := slices.Clone(options)
	slices.SortStableFunc(inTurn, func(a, b *option) int { return cmp.Compare(a.turn, b.turn) })
	for _, o := range inTurn {
		if o.ask != "" {
			all = append(all, topic{o.ask, o.label, []*option{o}})
		} else if last := len(all) - 1; all[last].label == "Features" {
			all[last].options = append(all[last].options, o)
		} else {
			all = append(all, topic{"Which features?", "Features", []*option{o}})
		}
	}
	return all
}

// A wizard asks a person which bot to scaffold.
type wizard struct {
	p              prompter
	cat            *catalog
	topics         []topic
	dir            string // the working directory
	target         string // as it was typed
	keepExisting   bool
	overwriteGuide bool
	said           answers
	done           map[string]bool // labels of the topics that were asked
}

// start asks for the directory, unless it was given, and whether to scaffold a bot
// or write the guides.
func (w *wizard) start(ctx context.Context) (scaffold bool, err error) {
	if w.target == "" {
		if err := w.askTarget(ctx); err != nil {
			return false, err
		}
	}
	return w.askHow(ctx)
}

// path returns the absolute target directory.
func (w *wizard) path() string { return absolute(w.dir, w.target) }

// name returns the default project name.
func (w *wizard) name() string { return nameFromDir(w.path()) }

func (w *wizard) askTarget(ctx context.Context) error {
	fallback := w.target
	if fallback == "" {
		fallback = newTarget(w.dir)
	}
	target, err := w.p.line(ctx, "Directory", fallback, func(s string) (string, bool) { return describeTarget(absolute(w.dir, s), s) })
	if err != nil {
		return err
	}
	if target == "quickstart" {
		target = "./quickstart" // a directory, not the preset of that name
	}
	w.target = target
	return nil
}

// askHow asks for the bot or the guides.
func (w *wizard) askHow(ctx context.Context) (scaffold bool, err error) {
	choices := []choice{
		{label: "Scaffold a bot now", note: "answer some questions, get a project that runs"},
		{label: "Build with a coding agent", note: "write the guides it needs"},
	}
	at := 0
	if hasBot(w.path()) {
		w.p.say("This directory already has a bot: %s", filepath.Join(w.target, "server", "bot.py"))
	}
	if w.overwriteGuide || hasBot(w.path()) {
		at = 1
	}
	i, err := w.p.choose(ctx, "How do you want to start?", choices, at)
	return i == 0, err
}

// askAll asks all questions, shows the result, and lets the person change answers
// until they confirm or cancel.
func (w *wizard) askAll(ctx context.Context) (config, *plan, error) {
	for {
		for _, t := range w.topics {
			if !w.answered(t) {
				if err := w.askTopic(ctx, t, false); err != nil {
					return config{}, nil, err
				}
			}
		}
		cfg, _, problems := resolve(w.cat, w.said, w.name())
		if len(problems) > 0 {
			return cfg, nil, &failure{Code: codeInvalidConfig, Problems: problems, hint: "nothing was written"}
		}
		files, err := render(cfg, w.cat)
		if err != nil {
			return cfg, nil, err
		}
		plan, err := makePlan(w.path(), files, w.keepExisting, w.overwriteGuide)
		if err != nil {
			return cfg, nil, err
		}
		w.show(cfg, plan)
		what, err := w.askWhatNow(ctx, plan)
		switch {
		case err != nil:
			return cfg, nil, err
		case what == doCancel:
			return cfg, nil, &failure{Code: codeDeclined, Message: "nothing was written"}
		case what == doChange:
			if err := w.askChange(ctx, cfg); err != nil {
				return cfg, nil, err
			}
			continue
		case what == doKeep:
			w.keepExisting = true
			plan, err = makePlan(w.path(), files, true, w.overwriteGuide)
		}
		return cfg, plan, err
	}
}

// answered reports whether the topic was asked or already has an answer.
func (w *wizard) answered(t topic) bool {
	return w.done[t.label] || slices.ContainsFunc(t.options, func(o *option) bool { _, ok := w.said[o]; return ok })
}

// allows reports whether the rules allow the value beside all other answers.
func (w *wizard) allows(o *option, a answer) bool {
	return w.objection(o, a) == ""
}

// objection returns why the rules refuse the value, or "".
func (w *wizard) objection(o *option, a answer) string {
	said := maps.Clone(w.said)
	said[o] = a
	_, _, problems := resolve(w.cat, said, w.name())
	for _, p := range problems {
		if !p.missing {
			return p.Message
		}
	}
	return ""
}

// askTopic asks a question, unless only one answer is possible.
//
// A changed answer is treated like an option of the command line, and the other
// answers like the file: those that no longer fit are dropped with a note.
func (w *wizard) askTopic(ctx context.Context, t topic, changed bool) error {
	var err error
	o := t.options[0]
	switch {
	case o.ask == "":
		err = w.askFeatures(ctx, t, changed)
	case o == optName:
		err = w.askName(ctx)
	case o.list != nil:
		err = w.askTransports(ctx, o, changed)
	case o.toggle != nil:
		err = w.askToggle(ctx, o, changed)
	default:
		err = w.askChoice(ctx, o, changed)
	}
	if err != nil {
		return err
	}
	w.dropConflicting()
	return nil
}

// dropConflicting drops answers that do not fit the changed ones.
func (w *wizard) dropConflicting() {
	_, left, _ := resolve(w.cat, w.said, w.name())
	for _, l := range left {
		if l.option == nil {
			continue
		}
		delete(w.said, l.option)
		if l.option.ask != "" {
			delete(w.done, l.option.label)
		}
		w.p.say("  Dropped %s: %s", l.option.label, l.why)
	}
	for o, a := range w.said {
		a.flag = false
		w.said[o] = a
	}
}

func (w *wizard) askName(ctx context.Context) error {
	fallback := w.name()
	if a, ok := w.said[optName]; ok {
		fallback = a.text
	}
	name, err := w.p.line(ctx, optName.ask, fallback, func(s string) (string, bool) {
		why := nameProblem(s)
		return why, why == ""
	})
	w.said[optName] = answer{text: name}
	return err
}

// askChoice asks for one value of an option.
func (w *wizard) askChoice(ctx context.Context, o *option, changed bool) error {
	was, transports := w.said[o], w.said[optTransports]
	if o == optBotType {
		delete(w.said, optTransports) // the other bot type has other transports
	}
	values, choices := w.offer(o, changed)
	if len(choices) < 2 {
		return nil
	}
	at := 0
	for i, value := range values {
		if current, ok := w.said[o]; ok && current.text == value || !ok && choices[i].is(o.first) {
			at = i
		}
	}
	i, err := w.p.choose(ctx, o.ask, choices, at)
	if err != nil {
		return err
	}
	w.done[o.label] = true
	delete(w.said, o)
	if values[i] != "" {
		w.said[o] = answer{text: values[i], flag: changed}
	}
	if o == optBotType && was.text == values[i] {
		w.said[optTransports] = transports
	}
	return nil
}

// offer returns the allowed values of the option and how to show them. The value
// "" stands for none.
func (w *wizard) offer(o *option, changed bool) (values []string, choices []choice) {
	add := func(value string, c choice) {
		a := answer{text: value, flag: changed}
		if o.list != nil {
			a = answer{list: []string{value}, flag: changed}
		}
		if value == "" || w.allows(o, a) {
			values, choices = append(values, value), append(choices, c)
		}
	}
	if o.none != "" {
		add("", choice{label: o.none})
	}
	for _, word := range o.words {
		add(word.name, choice{label: word.name, note: word.meaning})
	}
	if o.kind == "" {
		return values, choices
	}
	providers := w.cat.all(o.kind)
	if o.kind == kindTransport && w.said[optBotType].text == botTelephony {
		providers = slices.Concat(w.cat.transports(true), w.cat.transports(false))
	}
	for _, p := range providers {
		if p.generic != "" {
			continue // the dial mode is a separate question
		}
		c := choice{label: p.label, id: p.id, names: p.names}
		if o.kind != kindTransport {
			c.note = strings.Join(p.needs(), ", ")
		}
		add(p.id, c)
	}
	return values, choices
}

// hasChoice reports whether the topic has more than one answer.
func (w *wizard) hasChoice(t topic) bool {
	if t.options[0].ask == "" {
		return true
	}
	values, _ := w.offer(t.options[0], true)
	return len(values) > 1
}

// askTransports asks for one or more transports.
func (w *wizard) askTransports(ctx context.Context, o *option, changed bool) error {
	values, choices := w.offer(o, changed)
	m := &menu{ask: o.ask, choices: choices, several: true, needed: true}
	pick := func(marked []int) answer {
		a := answer{flag: changed}
		for _, i := range marked {
			a.list = append(a.list, values[i])
		}
		return a
	}
	m.allow = func(marked []int) string { return w.objection(o, pick(marked)) }
	for i, c := range choices {
		if c.is(o.first) && w.said[optBotType].text == botWeb {
			m.at = i
		}
	}
	for _, id := range w.said[o].list {
		if i := slices.Index(values, id); i >= 0 {
			m.marked, m.at = append(m.marked, i), i
		}
	}
	if err := w.p.ask(ctx, m); err != nil {
		return err
	}
	w.said[o] = pick(m.marked)
	return nil
}

// askFeatures asks which of several toggles to turn on.
func (w *wizard) askFeatures(ctx context.Context, t topic, changed bool) error {
	m := &menu{ask: t.ask, several: true}
	var offered []*option
	for _, o := range t.options {
		// Skip toggles that cannot be turned off: an avatar needs video output.
		if w.allows(o, answer{on: true, flag: changed}) && w.allows(o, answer{on: false}) {
			if w.said[o].on {
				m.marked = append(m.marked, len(offered))
			}
			offered = append(offered, o)
			m.choices = append(m.choices, choice{label: o.label, note: o.note})
		}
	}
	if err := w.p.ask(ctx, m); err != nil {
		return err
	}
	w.done[t.label] = true
	for i, o := range offered {
		w.said[o] = answer{on: slices.Contains(m.marked, i), flag: changed}
	}
	return nil
}

// askToggle asks a yes-or-no question.
func (w *wizard) askToggle(ctx context.Context, o *option, changed bool) error {
	if !w.allows(o, answer{on: false, flag: changed}) || !w.allows(o, answer{on: true, flag: changed}) {
		return nil
	}
	fallback := o.on
	if a, ok := w.said[o]; ok {
		fallback = a.on
	}
	yes, err := w.p.confirm(ctx, o.ask, fallback)
	w.said[o] = answer{on: yes, flag: changed}
	return err
}

// The summary.

// show prints the answers and the conflicts with existing files.
func (w *wizard) show(cfg config, p *plan) {
	w.p.say("")
	for _, f := range w.facts(cfg) {
		w.p.say("  %-14s  %s", f.label, f.value)
	}
	w.p.say("")
	for _, c := range p.conflicts {
		w.p.say("  Conflict: %s", c.line())
	}
	if p.stuck {
		w.p.say("  Directories and links are not replaced: move them, or choose another directory.")
	}
	for _, step := range p.steps {
		if step.action == actionKept {
			w.p.say("  Kept: %s", step.path)
		}
	}
	if len(p.conflicts) > 0 || p.count(actionKept) > 0 {
		w.p.say("")
	}
}

// A fact is one line of the summary. topic is nil for the directory.
type fact struct {
	label, value string
	topic        *topic
}

// facts returns the lines of the summary, in the order of the questions.
func (w *wizard) facts(cfg config) []fact {
	facts := []fact{{"Directory", w.target, nil}}
	said := cfg.answers()
	for i, t := range w.topics {
		o := t.options[0]
		value := said[o].text
		var labels []string
		switch {
		case o.ask == "":
			for _, o := range t.options {
				if said[o].on {
					labels = append(labels, o.label)
				}
			}
			value = strings.Join(labels, ", ")
		case o.list != nil:
			for _, id := range said[o].list {
				labels = append(labels, w.cat.find(o.kind, id).label)
			}
			value = strings.Join(labels, ", ")
		case o.toggle != nil && said[o].on:
			value = o.yes
		case o.toggle != nil:
			value = o.no
		case o.kind != "" && value != "":
			value = w.cat.find(o.kind, value).label
		}
		if value == "" && w.done[t.label] && w.hasChoice(t) {
			value = "none"
		}
		if value != "" {
			facts = append(facts, fact{t.label, value, &w.topics[i]})
		}
	}
	return facts
}

// The actions offered after the summary.
const (
	doWrite = iota
	doKeep
	doChange
	doCancel
)

func (w *wizard) askWhatNow(ctx context.Context, p *plan) (int, error) {
	var actions []int
	var choices []choice
	add := func(action int, label, name string) {
		actions, choices = append(actions, action), append(choices, choice{label: label, names: []string{name}})
	}
	n := p.count(actionCreated) + p.count(actionReplaced)
	switch {
	case len(p.conflicts) == 0 && n == 0:
		add(doWrite, "Finish: all files are up to date", "yes")
	case len(p.conflicts) == 0:
		add(doWrite, "Write "+plural(n, "file")+" to "+w.target, "yes")
	case !p.stuck:
		add(doKeep, "Keep existing files, write "+plural(n-len(p.conflicts), "missing file"), "keep")
	}
	add(doChange, "Change an answer", "change")
	add(doCancel, "Cancel without writing", "no")
	i, err := w.p.choose(ctx, "Proceed?", choices, 0)
	return actions[i], err
}

// askChange asks which answer to change, then asks that question again.
func (w *wizard) askChange(ctx context.Context, cfg config) error {
	var choices []choice
	facts := w.facts(cfg)
	for _, f := range facts {
		choices = append(choices, choice{label: f.label, note: f.value})
	}
	choices = append(choices, choice{label: "None of them"})
	i, err := w.p.choose(ctx, "Which answer?", choices, 0)
	if err != nil || i == len(facts) {
		return err
	}
	if facts[i].topic != nil {
		return w.askTopic(ctx, *facts[i].topic, true)
	}
	was := w.name()
	if err := w.askTarget(ctx); err != nil {
		return err
	}
	if was != w.name() && w.said[optName].text == was {
		delete(w.said, optName) // it was derived from the directory
	}
	return nil
}

// newTarget suggests a directory for the project: dir itself if it contains only
// hidden files, otherwise a new directory in it.
func newTarget(dir string) string {
	entries, _ := os.ReadDir(dir)
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		return "."
	}
	name := "my-bot"
	for n := 2; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return name
		}
		name = fmt.Sprintf("my-bot-%d", n)
	}
}

// describeTarget describes what is at dir, which a person entered as typed. ok
// reports whether a project can go there.
func describeTarget(dir, typed string) (note string, ok bool) {
	if typed == "~" || strings.HasPrefix(typed, "~/") {
		return "~ is not expanded here; write the full path", false
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) == 0:
		return "an empty directory", true
	case err == nil:
		return "exists; its files are not overwritten", true
	case !errors.Is(err, fs.ErrNotExist):
		return rootCause(err).Error(), false
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		info, err := os.Stat(up)
		switch {
		case err == nil && info.IsDir():
			return "a new directory", true
		case err == nil:
			return up + " is a file", false
		case !errors.Is(err, fs.ErrNotExist) || up == filepath.Dir(up):
			return rootCause(err).Error(), false
		}
	}
}

// hasBot reports whether dir contains a scaffolded bot.
func hasBot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "server", "bot.py"))
	return err == nil
}
