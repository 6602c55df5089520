package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	label   string    // in the summary
	options []*option // none for the directory and the start
}

const (
	labelDirectory = "Directory"
	labelStart     = "Start"
	labelFeatures  = "Features"
)

// topics returns all questions in order. Toggles without a question of their own
// share one.
func topics() (all []*topic) {
	all = []*topic{{ask: "Directory", label: labelDirectory}, {ask: "How do you want to start?", label: labelStart}}
	inTurn := slices.Clone(options)
	slices.SortStableFunc(inTurn, func(a, b *option) int { return cmp.Compare(a.turn, b.turn) })
	for _, o := range inTurn {
		if o.ask != "" {
			all = append(all, &topic{o.ask, o.label, []*option{o}})
		} else if last := all[len(all)-1]; last.label == labelFeatures {
			last.options = append(last.options, o)
		} else {
			all = append(all, &topic{"Which features?", labelFeatures, []*option{o}})
		}
	}
	return all
}

// What to write: the answers to "How do you want to start?".
const (
	startUnknown     = iota - 1
	startRecommended // these are in the order of the menu
	startOwn
	startGuides
)

// A wizard asks a person what to write.
type wizard struct {
	p              prompter
	cat            *catalog
	catalog        *string // of --catalog
	topics         []*topic
	dir            string // the working directory
	home           string // the person's home directory; "" if it is unknown
	target         string // as it was typed, but for ~
	start          int
	keepExisting   bool
	overwriteGuide bool
	said           answers
	before         answers         // answers that were taken back; preselected
	done           map[string]bool // labels of the topics that were asked
	visits         []visit
}

// A visit is a question that was answered, and the way back to it.
type visit struct {
	topic   *topic
	mark    int  // see tty.Terminal
	changed bool // see askTopic
}

// newWizard returns a wizard for a target, which is "" if it was not given.
func newWizard(a *app, p prompter, cat *catalog, target string) *wizard {
	return &wizard{p: p, cat: cat, topics: topics(), dir: a.dir, home: cmp.Or(a.getenv("HOME"), a.getenv("USERPROFILE")), target: target, start: startUnknown,
		said: answers{}, before: answers{}, done: map[string]bool{}}
}

// path returns the absolute target directory.
func (w *wizard) path() string { return absolute(w.dir, w.target) }

// name returns the default project name.
func (w *wizard) name() string { return nameFromDir(w.path()) }

// ask asks all questions, shows the result, and lets the person change answers until
// they confirm or cancel. The configuration and the plan are nil for guides.
func (w *wizard) ask(ctx context.Context) (*config, *plan, error) {
	if w.target != "" {
		if _, err := describeTarget(w.path()); err != nil {
			return nil, nil, err
		}
		w.done[labelDirectory] = true
	}
	if w.p.Plain {
		w.p.Say("Type %s to go back one question.", plainBack)
	}
	v := visit{topic: w.next()}
	for {
		w.p.back = len(w.visits) > 0
		v.mark = w.p.Mark()
		var err error
		if v.topic == nil {
			var cfg *config
			var planned *plan
			if cfg, planned, err = w.finish(ctx); cfg != nil {
				return cfg, planned, err
			}
		} else if err = w.askTopic(ctx, v.topic, v.changed); err == nil {
			w.visits = append(w.visits, v)
		}
		switch {
		case errors.Is(err, errBack):
			last := len(w.visits) - 1
			v, w.visits = w.visits[last], w.visits[:last]
			w.p.Rewind(v.mark)
			w.takeBack(v.topic)
			continue
		case err != nil || w.start == startGuides:
			return nil, nil, err
		}
		v = visit{topic: w.next()}
	}
}

// next returns the first question without an answer, or nil.
func (w *wizard) next() *topic {
	for _, t := range w.topics {
		if !w.answered(t) && w.hasChoice(t, false) {
			return t
		}
	}
	return nil
}

// answered reports whether the topic was asked or already has an answer.
func (w *wizard) answered(t *topic) bool {
	return w.done[t.label] || slices.ContainsFunc(t.options, func(o *option) bool { _, ok := w.said[o]; return ok })
}

// takeBack makes a topic one without an answer. The old answer will be preselected.
func (w *wizard) takeBack(t *topic) {
	if t.label == labelStart { // nothing but the directory comes before it
		w.said, w.done = answers{}, map[string]bool{labelDirectory: true}
	}
	if w.answered(t) {
		for _, o := range t.options {
			w.before[o] = w.said[o]
			delete(w.said, o)
		}
	}
	delete(w.done, t.label)
}

// finish shows the result and asks whether to write it. The configuration is nil if
// an answer was changed.
func (w *wizard) finish(ctx context.Context) (*config, *plan, error) {
	cfg, _, problems := resolve(w.cat, w.said, w.name())
	if len(problems) > 0 {
		return nil, nil, &failure{Code: codeInvalidConfig, Problems: problems, hint: "nothing was written"}
	}
	files, err := render(cfg, w.cat)
	if err != nil {
		return nil, nil, err
	}
	planned, err := makePlan(w.path(), files, w.keepExisting, w.overwriteGuide)
	if err != nil {
		return nil, nil, err
	}
	w.show(cfg, planned)
	for mark := w.p.Mark(); ; w.p.Rewind(mark) {
		w.p.back = len(w.visits) > 0
		what, err := w.askWhatNow(ctx, planned)
		switch {
		case err != nil:
			return nil, nil, err
		case what == doCancel:
			return nil, nil, &failure{Code: codeDeclined, Message: "nothing was written"}
		case what == doKeep:
			w.keepExisting = true
			planned, err = makePlan(w.path(), files, true, w.overwriteGuide)
			return &cfg, planned, err
		case what == doWrite:
			return &cfg, planned, nil
		}
		w.p.back = true
		if err := w.askChange(ctx, cfg); !errors.Is(err, errBack) {
			return nil, nil, err
		}
	}
}

// command returns the command line for the answers so far, or "" if there are none.
func (w *wizard) command() string {
	if !w.done[labelDirectory] {
		return ""
	}
	args := w.said.arguments(w.cat, w.name())
	if w.start == startGuides {
		args = []string{"--no-input"}
	}
	if w.catalog != nil {
		args = append(args, "--catalog", *w.catalog)
	}
	if w.keepExisting {
		args = append(args, "--keep-existing")
	}
	if w.overwriteGuide {
		args = append(args, "--overwrite-guide")
	}
	words := []string{"vbot init", shellPath(w.target)}
	for _, arg := range args {
		words = append(words, shellQuote(arg))
	}
	return strings.Join(words, " ")
}

// The questions.

func (w *wizard) askTarget(ctx context.Context) error {
	target, err := w.p.line(ctx, "Directory", cmp.Or(w.target, newTarget(w.dir)), func(typed string) (string, bool) {
		target, err := w.expand(typed)
		note := ""
		if err == nil {
			note, err = describeTarget(absolute(w.dir, target))
		}
		if err != nil {
			return strings.TrimSuffix(err.Error(), "; nothing was written"), false
		}
		return note, true
	})
	if err != nil {
		return err
	}
	if w.target, err = w.expand(target); err != nil {
		return err
	}
	if w.target == "quickstart" {
		w.target = "./quickstart" // a directory, not the preset of that name
	}
	w.done[labelDirectory] = true
	if w.name() == "" {
		w.done[optName.label] = false // it cannot come from the directory
	}
	return nil
}

// expand replaces ~ by the home directory, as a shell does.
func (w *wizard) expand(typed string) (string, error) {
	rest, home := strings.CutPrefix(typed, "~")
	switch {
	case !home:
		return typed, nil
	case rest != "" && rest[0] != '/':
		return "", fmt.Errorf("only ~ and ~/ are expanded; write the full path, or ./%s", typed)
	case w.home == "":
		return "", errors.New("the home directory is unknown; write the full path")
	}
	return filepath.Join(w.home, rest), nil
}

// askStart asks for the recommended bot, one of the person's own, or the guides.
func (w *wizard) askStart(ctx context.Context) error {
	recommended := quickstart()
	delete(recommended, optName)
	var labels []string
	for _, o := range []*option{optSTT, optLLM, optTTS} {
		labels = append(labels, w.cat.find(o.kind, recommended[o].text).label)
	}
	choices := []choice{
		{label: "Recommended bot", note: "in the browser: " + strings.Join(labels, ", ")},
		{label: "A bot of your own", names: []string{"scaffold"}, note: "choose its services and features"},
		{label: "Build with a coding agent", names: []string{"guides"}, note: "write the guides it needs"},
	}
	at := max(w.start, startRecommended)
	if hasBot(w.path()) {
		w.p.Say("This directory already has a bot: %s", filepath.Join(w.target, "server", "bot.py"))
		if _, err := os.Lstat(filepath.Join(w.path(), recordName)); err == nil {
			w.p.Say("To update it, or to change its options: vbot init %s --update", shellPath(w.target))
		}
	}
	if w.start == startUnknown && (w.overwriteGuide || hasBot(w.path())) {
		at = startGuides
	}
	i, err := w.p.choose(ctx, "How do you want to start?", choices, at)
	if err != nil {
		return err
	}
	w.start, w.done[labelStart] = i, true
	if w.start != startRecommended {
		return nil
	}
	w.said = recommended
	for _, t := range w.topics {
		w.done[t.label] = t.label != optName.label || w.name() != ""
	}
	return nil
}

// allows reports whether the rules allow the value beside all other answers.
func (w *wizard) allows(o *option, a answer) bool {
	return w.objection(o, a) == ""
}

// objection returns why the rules refuse the value, or "".
func (w *wizard) objection(o *option, a answer) string {
	said := maps.Clone(w.said)
	if o == optBotType {
		delete(said, optTransports) // the other bot type has other transports
	}
	said[o] = a
	_, _, problems := resolve(w.cat, said, w.name())
	for _, p := range problems {
		if !p.missing {
			return p.Message
		}
	}
	return ""
}

// askTopic asks a question.
//
// A changed answer is treated like an option of the command line, and the other
// answers like the file: those that no longer fit are dropped with a note.
func (w *wizard) askTopic(ctx context.Context, t *topic, changed bool) error {
	switch {
	case t.label == labelDirectory:
		return w.askTarget(ctx)
	case t.label == labelStart:
		return w.askStart(ctx)
	}
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
	w.done[t.label] = true
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
		w.before[l.option] = w.said[l.option]
		delete(w.said, l.option)
		if l.option.ask != "" {
			delete(w.done, l.option.label)
		}
		w.p.Say("  Dropped %s: %s", l.option.label, l.why)
	}
	for o, a := range w.said {
		a.flag = false
		w.said[o] = a
	}
}

func (w *wizard) askName(ctx context.Context) error {
	name, err := w.p.line(ctx, optName.ask, cmp.Or(w.before[optName].text, w.name()), func(s string) (string, bool) {
		why := nameProblem(s)
		return why, why == ""
	})
	if err == nil && name != w.name() { // else it follows the directory
		w.said[optName] = answer{text: name}
	}
	return err
}

// askChoice asks for one value of an option.
func (w *wizard) askChoice(ctx context.Context, o *option, changed bool) error {
	choices := w.offer(o, changed)
	was, known := w.before[o]
	at := max(0, slices.IndexFunc(choices, func(c choice) bool { return c.is(o.first) }))
	if i := slices.IndexFunc(choices, func(c choice) bool { return c.value == was.text }); known && i >= 0 {
		at = i
	}
	i, err := w.p.choose(ctx, o.ask, choices, at)
	if err != nil {
		return err
	}
	value := choices[i].value
	if value != "" {
		w.said[o] = answer{text: value, flag: changed}
	}
	if o == optBotType && known && was.text != value {
		delete(w.said, optTransports) // the other bot type has other ones
		delete(w.before, optTransports)
		delete(w.done, optTransports.label)
	}
	return nil
}

// offer returns the allowed values of the option. The value "" stands for none.
func (w *wizard) offer(o *option, changed bool) (choices []choice) {
	add := func(c choice) {
		a := answer{text: c.value, flag: changed}
		if o.list != nil {
			a = answer{list: []string{c.value}, flag: changed}
		}
		if c.value == "" || w.allows(o, a) {
			choices = append(choices, c)
		}
	}
	if o.none != "" {
		add(choice{label: o.none})
	}
	for _, word := range o.words {
		add(choice{value: word.name, label: word.name, note: word.meaning})
	}
	if o.kind == "" {
		return choices
	}
	providers := w.cat.all(o.kind)
	if o.kind == kindTransport && w.said[optBotType].text == botTelephony {
		providers = slices.Concat(w.cat.transports(true), w.cat.transports(false))
	}
	for _, p := range providers {
		if p.generic != "" {
			continue // the dial mode is a separate question
		}
		add(choiceOf(p))
	}
	return choices
}

// choiceOf returns the provider as a choice.
func choiceOf(p *provider) choice {
	c := choice{value: p.id, label: p.label, id: p.id, names: p.names}
	for _, name := range p.names {
		// An alias such as deepgram_stt only repeats deepgram.
		if short := strings.TrimSuffix(name, "_"+p.kind); short == name || !slices.Contains(p.names, short) {
			c.note = strings.TrimSpace(c.note + " " + name)
		}
	}
	var details []string
	for _, k := range (service{provider: p}).keys() {
		details = append(details, k.names+"  "+k.page)
	}
	if len(details) == 0 {
		details = []string{"needs no key"}
	}
	if p.kind != kindTransport {
		details = append(details, p.needs()...)
	}
	c.detail = strings.Join(details, "; ")
	return c
}

// hasChoice reports whether the topic has more than one answer.
func (w *wizard) hasChoice(t *topic, changed bool) bool {
	if len(t.options) == 0 || t.options[0].ask == "" || t.options[0] == optName {
		return true
	}
	if o := t.options[0]; o.toggle != nil {
		return w.allows(o, answer{on: false, flag: changed}) && w.allows(o, answer{on: true, flag: changed})
	}
	return len(w.offer(t.options[0], changed)) > 1
}

// askTransports asks for one or more transports.
func (w *wizard) askTransports(ctx context.Context, o *option, changed bool) error {
	choices := w.offer(o, changed)
	m := &menu{ask: o.ask, choices: choices, several: true, needed: true, back: w.p.back}
	pick := func(marked []int) answer {
		a := answer{flag: changed}
		for _, i := range marked {
			a.list = append(a.list, choices[i].value)
		}
		return a
	}
	m.allow = func(marked []int) string { return w.objection(o, pick(marked)) }
	for i, c := range choices {
		if c.is(o.first) && w.said[optBotType].text == botWeb {
			m.at = i
		}
	}
	for _, id := range w.before[o].list {
		if i := slices.IndexFunc(choices, func(c choice) bool { return c.value == id }); i >= 0 {
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
func (w *wizard) askFeatures(ctx context.Context, t *topic, changed bool) error {
	m := &menu{ask: t.ask, several: true, back: w.p.back}
	var offered []*option
	for _, o := range t.options {
		// Skip toggles that cannot be turned off: an avatar needs video output.
		if w.allows(o, answer{on: true, flag: changed}) && w.allows(o, answer{on: false}) {
			if w.before[o].on {
				m.marked = append(m.marked, len(offered))
			}
			offered = append(offered, o)
			m.choices = append(m.choices, choice{label: o.label, note: o.note})
		}
	}
	if err := w.p.ask(ctx, m); err != nil {
		return err
	}
	for i, o := range offered {
		w.said[o] = answer{on: slices.Contains(m.marked, i), flag: changed}
	}
	return nil
}

// askToggle asks a yes-or-no question.
func (w *wizard) askToggle(ctx context.Context, o *option, changed bool) error {
	fallback := o.on
	if a, ok := w.before[o]; ok {
		fallback = a.on
	}
	yes, err := w.p.confirm(ctx, o.ask, fallback)
	if err == nil {
		w.said[o] = answer{on: yes, flag: changed}
	}
	return err
}

// The summary.

// show prints the answers and the conflicts with existing files.
func (w *wizard) show(cfg config, p *plan) {
	w.p.Say("")
	for _, f := range w.facts(cfg) {
		w.p.Say("  %-14s  %s", f.label, f.value)
	}
	label := "Keys"
	for _, k := range newProject(cfg, w.cat).keys() {
		if k.only != "" {
			label = "Key for " + k.only
		}
		w.p.Say("  %-14s  %s  %s", label, k.names, k.page)
		label = ""
	}
	w.p.Say("")
	for _, c := range p.conflicts {
		w.p.Say("  Conflict: %s", c.line())
	}
	if p.stuck {
		w.p.Say("  Directories and links are not replaced: move them, or choose another directory.")
	}
	for _, s := range p.steps {
		if s.action == actionKept {
			w.p.Say("  Kept: %s", s.path)
		}
	}
	if len(p.conflicts) > 0 || p.count(actionKept) > 0 {
		w.p.Say("")
	}
}

// A fact is one line of the summary.
type fact struct {
	label, value string
	topic        *topic
}

// facts returns the lines of the summary, in the order of the questions.
func (w *wizard) facts(cfg config) (facts []fact) {
	said := cfg.answers()
	for _, t := range w.topics {
		if t.label == labelDirectory {
			facts = append(facts, fact{t.label, w.target, t})
		}
		if len(t.options) == 0 {
			continue
		}
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
		if value == "" && w.done[t.label] && w.hasChoice(t, true) {
			value = "none"
		}
		if value != "" {
			facts = append(facts, fact{t.label, value, t})
		}
	}
	return facts
}

// The actions offered after the summary, as they can be typed.
const (
	doWrite  = "yes"
	doKeep   = "keep"
	doChange = "change"
	doCancel = "no"
)

func (w *wizard) askWhatNow(ctx context.Context, p *plan) (action string, err error) {
	var choices []choice
	add := func(action, label string) {
		choices = append(choices, choice{value: action, label: label, names: []string{action}})
	}
	n := p.count(actionCreated) + p.count(actionReplaced)
	switch {
	case len(p.conflicts) == 0 && n == 0:
		add(doWrite, "Finish: all files are up to date")
	case len(p.conflicts) == 0:
		add(doWrite, "Write "+plural(n, "file")+" to "+w.target)
	case !p.stuck:
		add(doKeep, "Keep existing files, write "+plural(n-len(p.conflicts), "missing file"))
	}
	add(doChange, "Change an answer")
	add(doCancel, "Cancel without writing")
	i, err := w.p.choose(ctx, "Proceed?", choices, 0)
	return choices[i].value, err
}

// askChange asks which answer to change, then asks that question again.
func (w *wizard) askChange(ctx context.Context, cfg config) error {
	var choices []choice
	facts := slices.DeleteFunc(w.facts(cfg), func(f fact) bool { return !w.hasChoice(f.topic, true) })
	for _, f := range facts {
		choices = append(choices, choice{label: f.label, note: f.value})
	}
	i, err := w.p.choose(ctx, "Which answer?", append(choices, choice{label: "None of them"}), 0)
	if err != nil || i == len(facts) {
		return err
	}
	said, done := maps.Clone(w.said), maps.Clone(w.done)
	v := visit{facts[i].topic, w.p.Mark(), true}
	w.takeBack(v.topic)
	if err := w.askTopic(ctx, v.topic, true); err != nil {
		w.said, w.done = said, done
		return err
	}
	w.visits = append(w.visits, v)
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

// maxFileName is the maximum length of a file name on common systems, in bytes.
const maxFileName = 255

// describeTarget describes what is at dir. It returns an error if a project cannot go
// there, and changes nothing.
func describeTarget(dir string) (note string, err error) {
	root, err := openTarget(dir)
	if err != nil {
		return "", err
	}
	if root == nil {
		up := dir
		for _, err := os.Stat(up); err != nil; _, err = os.Stat(up) {
			if len(filepath.Base(up)) > maxFileName {
				return "", ioFailure("creating "+dir, errors.New("file name too long"))
			}
			up = filepath.Dir(up)
		}
		if err := writable(up); err != nil {
			return "", ioFailure("creating "+dir, err)
		}
		return "a new directory", nil
	}
	root.Close()
	if err := writable(dir); err != nil {
		return "", ioFailure("writing to "+dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", ioFailure("reading "+dir, err)
	}
	if _, err := os.Readlink(dir); err == nil {
		note = "a link to a directory; "
	}
	if len(entries) == 0 {
		return note + "an empty directory", nil
	}
	var names []string
	for _, e := range entries[:min(len(entries), 3)] {
		names = append(names, strings.Join(strings.Fields(e.Name()), " "))
	}
	if more := len(entries) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return note + "contains " + strings.Join(names, ", ") + "; existing files are not overwritten", nil
}

// hasBot reports whether dir contains a scaffolded bot.
func hasBot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "server", "bot.py"))
	return err == nil
}
