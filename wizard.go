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

// A topic is one question of the wizard: about an option, or about several that are
// each on or off. What may be answered is not written down here: the rules of the
// configuration are asked (suits).
type topic struct {
	ask     string
	label   string // in the summary
	options []*option
}

// topics are all questions, in their order. One that has a single answer, or none,
// is not asked. Options without a question of their own share one.
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

// A wizard asks what the bot shall be.
type wizard struct {
	p              prompter
	cat            *catalog
	topics         []topic
	dir            string // the working directory
	target         string // as it was typed
	keepExisting   bool
	overwriteGuide bool
	said           answers
	done           map[string]bool // the labels of topics that were asked
}

// start asks where the project goes, if that is not known, and whether it is to be
// a bot or the guides.
func (w *wizard) start(ctx context.Context) (scaffold bool, err error) {
	if w.target == "" {
		if err := w.askTarget(ctx); err != nil {
			return false, err
		}
	}
	return w.askHow(ctx)
}

// path is the target directory, absolute.
func (w *wizard) path() string { return absolute(w.dir, w.target) }

// name is the project's name, if none is given.
func (w *wizard) name() string { return nameFromDir(w.path()) }

func (w *wizard) askTarget(ctx context.Context) error {
	standard := w.target
	if standard == "" {
		standard = newTarget(w.dir)
	}
	target, err := w.p.line(ctx, "Directory", standard, func(s string) (string, bool) { return describeTarget(absolute(w.dir, s), s) })
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

// settle asks all questions, shows what would come of the answers, and lets them
// be changed until the person agrees.
func (w *wizard) settle(ctx context.Context) (config, *plan, error) {
	for {
		for _, t := range w.topics {
			if !w.answered(t) {
				if err := w.put(ctx, t, false); err != nil {
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
		case what == cancel:
			return cfg, nil, &failure{Code: codeDeclined, Message: "nothing was written"}
		case what == change:
			if err := w.askChange(ctx, cfg); err != nil {
				return cfg, nil, err
			}
			continue
		case what == keep:
			w.keepExisting = true
			plan, err = makePlan(w.path(), files, true, w.overwriteGuide)
		}
		return cfg, plan, err
	}
}

// answered says whether the topic was asked, or need not be.
func (w *wizard) answered(t topic) bool {
	return w.done[t.label] || slices.ContainsFunc(t.options, func(o *option) bool { _, ok := w.said[o]; return ok })
}

// suits says whether the option may have the value, given all other answers.
func (w *wizard) suits(o *option, a answer) bool {
	return w.objection(o, a) == ""
}

// objection is what the rules say against the value of the option, or "".
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

// put asks a question, if there is anything to choose.
//
// An answer that is changed counts as an option of the command line does beside
// the file: other answers that it makes impossible are left out, with a note.
func (w *wizard) put(ctx context.Context, t topic, changed bool) error {
	var err error
	o := t.options[0]
	switch {
	case o.ask == "":
		err = w.putFeatures(ctx, t, changed)
	case o == optName:
		err = w.putName(ctx)
	case o.list != nil:
		err = w.putTransports(ctx, o, changed)
	case o.toggle != nil:
		err = w.putToggle(ctx, o, changed)
	default:
		err = w.putChoice(ctx, o, changed)
	}
	if err != nil {
		return err
	}
	w.agree()
	return nil
}

// agree leaves out what does not go together with the answers that were changed.
func (w *wizard) agree() {
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

func (w *wizard) putName(ctx context.Context) error {
	standard := w.name()
	if a, ok := w.said[optName]; ok {
		standard = a.text
	}
	name, err := w.p.line(ctx, optName.ask, standard, func(s string) (string, bool) {
		why := nameProblem(s)
		return why, why == ""
	})
	w.said[optName] = answer{text: name}
	return err
}

// putChoice asks for one of the values of an option.
func (w *wizard) putChoice(ctx context.Context, o *option, changed bool) error {
	was, transports := w.said[o], w.said[optTransports]
	if o == optBotType {
		delete(w.said, optTransports) // another kind of bot is reached in another way
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

// offer is what the option may be: the values, "" for none, and how they
// are presented.
func (w *wizard) offer(o *option, changed bool) (values []string, choices []choice) {
	add := func(value string, c choice) {
		a := answer{text: value, flag: changed}
		if o.list != nil {
			a = answer{list: []string{value}, flag: changed}
		}
		if value == "" || w.suits(o, a) {
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
			continue // who calls is a question of its own
		}
		c := choice{label: p.label, id: p.id, names: p.names}
		if o.kind != kindTransport {
			c.note = strings.Join(p.needs(), ", ")
		}
		add(p.id, c)
	}
	return values, choices
}

// open says whether there is anything to choose.
func (w *wizard) open(t topic) bool {
	if t.options[0].ask == "" {
		return true
	}
	values, _ := w.offer(t.options[0], true)
	return len(values) > 1
}

// putTransports asks for one or more.
func (w *wizard) putTransports(ctx context.Context, o *option, changed bool) error {
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

// putFeatures asks which of several options shall be on.
func (w *wizard) putFeatures(ctx context.Context, t topic, changed bool) error {
	m := &menu{ask: t.ask, several: true}
	var offered []*option
	for _, o := range t.options {
		// An avatar takes video output along: where off is impossible there is no choice.
		if w.suits(o, answer{on: true, flag: changed}) && w.suits(o, answer{on: false}) {
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

// putToggle asks for yes or no.
func (w *wizard) putToggle(ctx context.Context, o *option, changed bool) error {
	if !w.suits(o, answer{on: false, flag: changed}) || !w.suits(o, answer{on: true, flag: changed}) {
		return nil
	}
	standard := o.on
	if a, ok := w.said[o]; ok {
		standard = a.on
	}
	yes, err := w.p.confirm(ctx, o.ask, standard)
	w.said[o] = answer{on: yes, flag: changed}
	return err
}

// The summary.

// show prints what the answers come to, and which files that means.
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

// A fact is an answer as the summary has it. Without a topic it is the directory.
type fact struct {
	label, value string
	topic        *topic
}

// facts are the answers, in the order of the questions.
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
		if value == "" && w.done[t.label] && w.open(t) {
			value = "none"
		}
		if value != "" {
			facts = append(facts, fact{t.label, value, &w.topics[i]})
		}
	}
	return facts
}

// What a person may want once the summary is there.
const (
	write = iota
	keep
	change
	cancel
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
		add(write, "Finish: all files are up to date", "yes")
	case len(p.conflicts) == 0:
		add(write, "Write "+plural(n, "file")+" to "+w.target, "yes")
	case !p.stuck:
		add(keep, "Keep existing files, write "+plural(n-len(p.conflicts), "missing file"), "keep")
	}
	add(change, "Change an answer", "change")
	add(cancel, "Cancel without writing", "no")
	i, err := w.p.choose(ctx, "Proceed?", choices, 0)
	return actions[i], err
}

// askChange asks which answer to change, and for another one.
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
		return w.put(ctx, *facts[i].topic, true)
	}
	was := w.name()
	if err := w.askTarget(ctx); err != nil {
		return err
	}
	if was != w.name() && w.said[optName].text == was {
		delete(w.said, optName) // it came from the directory
	}
	return nil
}

// newTarget is where to put a project, if nothing better is known: the directory
// dir itself where it is empty, but for hidden files, or else a new one in it.
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

// describeTarget says what is at the path dir, which a person wrote as typed, and
// whether a project can go there.
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

// hasBot says whether a bot was scaffolded in the directory.
func hasBot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "server", "bot.py"))
	return err == nil
}
