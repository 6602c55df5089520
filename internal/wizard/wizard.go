// Package wizard asks a person at a terminal what to write. Its answers are those that
// options give.
package wizard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
	"vbot/internal/scaffold"
	"vbot/internal/tty"
)

// A topic is one question of the wizard, about one option or several toggles. The
// rules of package bot decide which answers it offers (see allows).
type topic struct {
	label   string        // in the summary
	options []*bot.Option // none for the directory and the start
	asked   bool          // since its answer was last taken back
}

const (
	labelDirectory = "Directory"
	labelStart     = "Start"
)

// togglesAbout has the labels of the questions that toggles share.
var togglesAbout = map[string]string{bot.AskOptions: "Options", bot.AskWhere: "Runs on"}

// topics returns all questions in order. Toggles share one.
func topics() []*topic {
	all := []*topic{{label: labelDirectory}, {label: labelStart}}
	ask := ""
	for _, o := range slices.SortedStableFunc(slices.Values(bot.Options), func(a, b *bot.Option) int { return cmp.Compare(a.Rank, b.Rank) }) {
		if o.Ask != ask {
			all = append(all, &topic{label: cmp.Or(togglesAbout[o.Ask], o.Label)})
		}
		last := all[len(all)-1]
		last.options, ask = append(last.options, o), o.Ask
	}
	return all
}

// What to write: the answers to "How do you want to start?".
const (
	startUnknown     = iota - 1
	startRecommended // these are in the order of the menu
	startHere
	startOwn
	startGuides
)

// A wizard asks a person what to write.
type wizard struct {
	terminal *tty.Terminal
	env      scaffold.Env
	home     string // the person's home directory; "" if it is unknown

	scaffold.Job      // as it is so far; its target is as it was typed, but for ~
	located      bool // the target was asked for, or given and found good
	topics       []*topic
	start        int
	before       bot.Answers // values that were taken back; preselected
	visits       []visit
}

// A visit is a question that was answered, and the way back to it.
type visit struct {
	topic   *topic
	mark    int  // see tty.Terminal
	changed bool // see askTopic
}

// dir returns the target, absolute.
func (w *wizard) dir() string { return w.env.Path(w.Target) }

// name returns the default project name, "" if the directory's name cannot be one.
func (w *wizard) name() string { return bot.NameFromDir(w.dir()) }

// Ask asks what to write, shows it, and lets the person change answers until they confirm or cancel.
// The job may have a target. home is the person's home directory, "" if it is unknown. Also with an error,
// it returns the job as far as it was described; its target is "" if none was found good. Until it
// returns, Ctrl-C is a key.
func Ask(
	ctx context.Context, t *tty.Terminal, env scaffold.Env, home string, job scaffold.Job,
) (scaffold.Job, error) {
	job.Bot = bot.Answers{}
	w := &wizard{
		terminal: t,
		env:      env,
		home:     home,
		Job:      job,
		topics:   topics(),
		start:    startUnknown,
		before:   bot.Answers{},
	}
	err := w.ask(ctx)
	if !w.located {
		w.Target = ""
	}
	return w.Job, err
}

func (w *wizard) ask(ctx context.Context) error {
	release, err := w.terminal.Hold()
	if err != nil {
		return err
	}
	defer release()
	if w.Target != "" {
		if _, err := project.Describe(w.dir()); err != nil {
			return err
		}
		if err := project.Writable(w.dir()); err != nil {
			return err
		}
		w.topics[0].asked = true
		w.located = true
	}
	if w.terminal.Plain {
		w.terminal.Say("Type %s to go back one question.", tty.PlainBack)
	}
	v := visit{topic: w.next()}
	for {
		w.terminal.Back = len(w.visits) > 0
		v.mark = w.terminal.Mark()
		var planned *project.Plan // once all is answered
		if v.topic == nil {
			planned, err = w.finish(ctx)
		} else if err = w.askTopic(ctx, v.topic, v.changed); err == nil {
			w.visits = append(w.visits, v)
			w.Mode = scaffold.Create
			if w.start == startGuides {
				w.Mode = scaffold.Guides
				planned, err = w.Plan(w.env, nil)
			}
		}
		switch {
		case errors.Is(err, tty.ErrBack):
			last := len(w.visits) - 1
			v, w.visits = w.visits[last], w.visits[:last]
			w.terminal.Rewind(v.mark)
			w.takeBack(v.topic)
			continue
		case err != nil:
			return err
		case planned != nil:
			return w.offerRefresh(ctx, planned)
		}
		v = visit{topic: w.next()}
	}
}

// offerRefresh asks whether to replace guides that an older vbot wrote.
func (w *wizard) offerRefresh(ctx context.Context, p *project.Plan) error {
	w.terminal.Back = false
	kept := 0 // guides that differ
	for _, s := range p.Steps {
		if !s.Guide || s.Action != project.Kept {
			continue
		}
		kept++
		if !s.HasOldGuide() {
			continue
		}
		yes, err := w.terminal.Confirm(ctx, s.Path+" was written by an older vbot. Replace it and lose any changes you made?", false)
		if err != nil {
			return err
		}
		if yes {
			w.Refresh = append(w.Refresh, s.Path)
		}
	}
	if kept > 0 && kept == len(w.Refresh) {
		w.OverwriteGuide = true // for the command line
	}
	return nil
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
	return t.asked || slices.ContainsFunc(t.options, func(o *bot.Option) bool { _, ok := w.Bot[o]; return ok })
}

// takeBack makes a topic one without an answer. The old answer will be preselected.
func (w *wizard) takeBack(t *topic) {
	if t.label == labelStart { // nothing but the directory comes before it
		w.Bot = bot.Answers{}
		for _, other := range w.topics {
			other.asked = other.label == labelDirectory
		}
	}
	if w.answered(t) {
		for _, o := range t.options {
			delete(w.before, o)
			if a, ok := w.Bot[o]; ok {
				w.before[o] = a
			}
			delete(w.Bot, o)
		}
	}
	t.asked = false
}

// askAgain makes the topic of the option one to ask.
func (w *wizard) askAgain(o *bot.Option) {
	for _, t := range w.topics {
		if slices.Contains(t.options, o) && o.Toggle == nil {
			t.asked = false
		}
	}
}

// finish shows the result and asks whether to write it. The plan is nil if an answer was
// changed.
func (w *wizard) finish(ctx context.Context) (*project.Plan, error) {
	cfg, _, problems := bot.Resolve(w.env.Catalog, w.Bot, w.name())
	if len(problems) > 0 {
		return nil, &report.Failure{Code: report.InvalidConfig, Problems: problems, Hint: "nothing was written"}
	}
	planned, err := w.Plan(w.env, &cfg)
	if err != nil {
		return nil, err
	}
	w.show(cfg, planned)
	for mark := w.terminal.Mark(); ; w.terminal.Rewind(mark) {
		what, err := w.askWhatNow(ctx, planned)
		switch {
		case err != nil:
			return nil, err
		case what == doCancel:
			return nil, report.Cancelled(report.Declined, "written")
		case what == doKeep:
			w.KeepExisting = true
			return w.Plan(w.env, &cfg)
		case what == doWrite:
			return planned, nil
		}
		if err := w.askChange(ctx, cfg); !errors.Is(err, tty.ErrBack) {
			return nil, err
		}
	}
}

// The questions.

func (w *wizard) askTarget(ctx context.Context) error {
	target, err := w.terminal.Text(ctx, "Directory", cmp.Or(w.Target, project.Suggest(w.env.Path(""))), func(typed string) (string, bool) {
		target, err := w.expand(typed)
		note := ""
		if err == nil {
			note, err = project.Describe(w.env.Path(target))
		}
		if err != nil {
			return atTheQuestion(err), false
		}
		return note, true
	})
	if err != nil {
		return err
	}
	if target, err = w.expand(target); err != nil {
		return err
	}
	if err := project.Writable(w.env.Path(target)); err != nil {
		w.terminal.Say("%s", atTheQuestion(err))
		return w.askTarget(ctx)
	}
	if w.Target = target; target == "quickstart" {
		w.Target = "./quickstart" // a directory, not the preset of that name
	}
	w.located = true
	if !w.allows(bot.OptName, bot.Answer{Text: w.name()}) {
		w.askAgain(bot.OptName) // it cannot come from the directory
	}
	return nil
}

// atTheQuestion returns the text of an error without what goes without saying there.
func atTheQuestion(err error) string {
	return strings.TrimSuffix(err.Error(), "; nothing was written")
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

// askStart asks for one of the ready-made bots, one of the person's own, or the guides.
func (w *wizard) askStart(ctx context.Context) error {
	ready := []bot.Answers{bot.Quickstart(), bot.OnThisMachine()} // in the order of the menu
	delete(ready[startRecommended], bot.OptName)
	var services []string
	for _, o := range []*bot.Option{bot.OptSTT, bot.OptLLM, bot.OptTTS} {
		services = append(services, w.env.Catalog.Find(o.Kind, ready[startRecommended][o].Text).Label)
	}
	choices := []tty.Choice{
		{Label: "Recommended bot", Note: "in the browser: " + strings.Join(services, ", ")},
		{Label: "On this machine", Note: "no key; downloads 3 GB; two cores answer in 3 s"},
		{Label: "A bot of your own", Names: []string{"scaffold"}, Note: "choose its services and options"},
		{Label: "Build with a coding agent", Names: []string{"guides"}, Note: "write the guides it needs"},
	}
	at := max(w.start, startRecommended)
	dir := w.dir()
	hasBot := project.Has(dir, project.BotName)
	if hasBot {
		w.terminal.Say("This directory already has a bot: %s", filepath.Join(w.Target, project.BotName))
		if project.Has(dir, project.RecordName) {
			w.terminal.Say("To update it, or to change its options: vbot init %s --update", report.ShellPath(w.Target))
		}
	}
	if w.start == startUnknown && (w.OverwriteGuide || hasBot) {
		at = startGuides
	}
	i, err := w.terminal.Choose(ctx, "How do you want to start?", choices, at)
	if err != nil {
		return err
	}
	w.start = i
	if w.start >= len(ready) {
		return nil
	}
	w.Bot = ready[w.start]
	for _, t := range w.topics {
		t.asked = t.label != bot.OptName.Label || w.name() != ""
	}
	return nil
}

// allows reports whether the rules allow the value beside all other answers.
func (w *wizard) allows(o *bot.Option, a bot.Answer) bool {
	return w.objection(o, a) == ""
}

// objection returns why the rules refuse the value, or "".
func (w *wizard) objection(o *bot.Option, a bot.Answer) string {
	answers := maps.Clone(w.Bot)
	if o == bot.OptBotType {
		delete(answers, bot.OptTransports) // the other bot type has other transports
	}
	answers[o] = a
	_, _, problems := bot.Resolve(w.env.Catalog, answers, w.name())
	for _, p := range problems {
		if !p.Missing {
			return p.Message
		}
	}
	return ""
}

// askTopic asks a question.
//
// A changed answer is treated like an option of the command line, and the other
// answers like the file: those that no longer fit are dropped with a note.
func (w *wizard) askTopic(ctx context.Context, t *topic, changed bool) (err error) {
	switch {
	case t.label == labelDirectory:
		err = w.askTarget(ctx)
	case t.label == labelStart:
		err = w.askStart(ctx)
	case t.options[0] == bot.OptName:
		err = w.askName(ctx)
	case t.options[0] == bot.OptLanguage:
		err = w.askLanguage(ctx, t.options[0], changed)
	case t.options[0].Toggle != nil:
		err = w.askToggles(ctx, t.options, changed)
	default:
		err = w.askValues(ctx, t.options[0], changed)
	}
	if err != nil {
		return err
	}
	t.asked = true
	w.dropConflicting()
	return nil
}

// dropConflicting drops answers that do not fit the changed ones.
func (w *wizard) dropConflicting() {
	_, left, _ := bot.Resolve(w.env.Catalog, w.Bot, w.name())
	for _, l := range left {
		if l.Option == nil {
			continue
		}
		w.before[l.Option] = w.Bot[l.Option]
		delete(w.Bot, l.Option)
		w.askAgain(l.Option)
		w.terminal.Say("  Dropped %s: %s", l.Option.Label, l.Why)
	}
	for o, a := range w.Bot {
		a.Flag = false
		w.Bot[o] = a
	}
}

func (w *wizard) askName(ctx context.Context) error {
	name, err := w.terminal.Text(ctx, bot.OptName.Ask, cmp.Or(w.before[bot.OptName].Text, w.name()), func(s string) (string, bool) {
		why := w.objection(bot.OptName, bot.Answer{Text: s})
		return why, why == ""
	})
	if err == nil && name != w.name() { // else it follows the directory
		w.Bot[bot.OptName] = bot.Answer{Text: name}
	}
	return err
}

// askLanguage asks for a language that the services support, or none.
func (w *wizard) askLanguage(ctx context.Context, o *bot.Option, changed bool) error {
	typed, err := w.terminal.Text(ctx, o.Ask, cmp.Or(w.before[o].Text, o.None), func(s string) (why string, ok bool) {
		if s != o.None {
			why = w.objection(o, bot.Answer{Text: cmp.Or(catalog.TagOf(s), s), Flag: changed})
		}
		return why, why == ""
	})
	if tag, ok := catalog.LanguageTag(cmp.Or(catalog.TagOf(typed), typed)); ok && typed != o.None && err == nil {
		w.Bot[o] = bot.Answer{Text: tag, Flag: changed}
	}
	return err
}

// values returns the values of an option that an answer holds.
func values(a bot.Answer) []string {
	if a.Text == "" {
		return a.List
	}
	return []string{a.Text}
}

// answer returns the answer that holds the values. "" stands for none.
func answer(o *bot.Option, changed bool, values ...string) bot.Answer {
	if o.List != nil {
		return bot.Answer{List: values, Flag: changed}
	}
	return bot.Answer{Text: values[0], Flag: changed}
}

// askValues asks for the value of an option, or the values of a list.
func (w *wizard) askValues(ctx context.Context, o *bot.Option, changed bool) error {
	m := &tty.Menu{Ask: o.Ask, Choices: w.offer(o, changed), Several: o.List != nil}
	picked := func(marked []int) bot.Answer {
		var ids []string
		for _, i := range marked {
			ids = append(ids, m.Choices[i].Value)
		}
		return answer(o, changed, ids...)
	}
	if o != bot.OptTransports || w.Bot[bot.OptBotType].Text == bot.BotWeb {
		m.At = max(0, slices.IndexFunc(m.Choices, func(c tty.Choice) bool { return c.Is(o.First) }))
	}
	was := values(w.before[o])
	for _, id := range was {
		if i := slices.IndexFunc(m.Choices, func(c tty.Choice) bool { return c.Value == id }); i >= 0 {
			m.Marked, m.At = append(m.Marked, i), i
		}
	}
	if m.Several {
		m.Allow = func(marked []int) string { return w.objection(o, picked(marked)) }
	} else {
		m.Marked = nil // there, Enter takes what is at the cursor
	}
	if err := w.terminal.Ask(ctx, m); err != nil {
		return err
	}
	now := picked(m.Marked)
	if len(values(now)) > 0 {
		w.Bot[o] = now
	}
	if o == bot.OptBotType && was != nil && !slices.Equal(was, values(now)) {
		delete(w.Bot, bot.OptTransports) // the other bot type has other ones
		delete(w.before, bot.OptTransports)
		w.askAgain(bot.OptTransports)
	}
	return nil
}

// offer returns the allowed values of the option. The value "" stands for none.
func (w *wizard) offer(o *bot.Option, changed bool) (choices []tty.Choice) {
	add := func(c tty.Choice) {
		if c.Value == "" || w.allows(o, answer(o, changed, c.Value)) {
			choices = append(choices, c)
		}
	}
	if o.None != "" {
		add(tty.Choice{Label: o.None})
	}
	for _, word := range o.Words {
		c := tty.Choice{Value: word.Name, Label: word.Name, Note: word.Meaning}
		if c.Value == bot.ClientNone && slices.Contains(w.Bot[bot.OptTransports].List, bot.OptTransports.First) {
			c.Note = "use the page that comes with the bot" // see HasPage
		}
		add(c)
	}
	if o.Kind == "" {
		return choices
	}
	services, has := slices.Clone(w.env.Catalog.List(o.Kind)), w.credentials()
	here := w.env.Catalog.Find(o.Kind, bot.OnThisMachine()[o].Text) // the first of its group
	rank := func(s *catalog.Service) int {
		if s == here {
			return 2 * int(s.Heading())
		}
		return 2*int(s.Heading()) + 1
	}
	slices.SortStableFunc(services, func(a, b *catalog.Service) int {
		byLabel := 0
		if a.Heading() == catalog.Others {
			byLabel = cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label))
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), byLabel)
	})
	for _, p := range services {
		if p.ModeOf == "" { // else the dial mode is a separate question
			add(choiceOf(p, has))
		}
	}
	return choices
}

// credentials returns what the services and transports need that were chosen so far.
func (w *wizard) credentials() map[string]bool {
	has := map[string]bool{}
	for o, a := range w.Bot {
		if o.Kind == "" {
			continue
		}
		for _, name := range values(a) {
			for _, k := range w.env.Catalog.Find(o.Kind, name).Credentials() {
				has[k.Names] = true
			}
		}
	}
	return has
}

// choiceOf returns the service as a choice. has is what the bot needs anyway.
func choiceOf(p *catalog.Service, has map[string]bool) tty.Choice {
	c := tty.Choice{Value: p.Names[0], Group: p.Heading().String(), Label: p.Label, Names: append([]string{p.ID}, p.Names...), Also: p.LanguageNames(), Note: p.Gist(has)}
	var details []string
	for _, k := range p.Credentials() {
		details = append(details, k.Names+"  "+k.Page)
	}
	c.Detail = strings.Join(details, "; ")
	return c
}

// hasChoice reports whether the topic has more than one answer.
func (w *wizard) hasChoice(t *topic, changed bool) bool {
	return !slices.ContainsFunc(t.options, func(o *bot.Option) bool {
		return (o.Words != nil || o.Kind != "") && len(w.offer(o, changed)) < 2
	})
}

// askToggles asks which of several toggles to turn on.
func (w *wizard) askToggles(ctx context.Context, toggles []*bot.Option, changed bool) error {
	none := cmp.Or(toggles[0].None, "none")
	m := &tty.Menu{Ask: toggles[0].Ask, Several: true, Choices: []tty.Choice{{Label: none}}}
	m.Allow = func(marked []int) string {
		if len(marked) > 1 && slices.Contains(marked, 0) {
			return "choose either " + none + " or some of the others"
		}
		return ""
	}
	var offered []*bot.Option
	for _, o := range toggles {
		was, known := w.before[o]
		// Skip toggles that cannot be turned off: an avatar needs video output.
		if !w.allows(o, bot.Answer{On: true, Flag: changed}) || !was.On && !w.allows(o, bot.Answer{On: false}) {
			continue
		}
		if was.On || !known && o.On {
			m.At = len(m.Choices)
		}
		if was.On {
			m.Marked = append(m.Marked, m.At)
		}
		offered = append(offered, o)
		m.Choices = append(m.Choices, tty.Choice{Label: o.Label, Note: o.Note})
	}
	if err := w.terminal.Ask(ctx, m); err != nil {
		return err
	}
	for i, o := range offered {
		w.Bot[o] = bot.Answer{On: slices.Contains(m.Marked, 1+i), Flag: changed}
	}
	return nil
}

// The summary.

// show prints the answers, the keys they need, and the conflicts with existing files.
func (w *wizard) show(cfg bot.Config, p *project.Plan) {
	w.terminal.Say("")
	answers := cfg.Answers()
	for _, t := range w.topics {
		if fact := w.fact(t, answers); fact != "" {
			w.terminal.Say("  %-14s  %s", t.label, fact)
		}
	}
	var keys []string // where to get them stands in the next steps
	for _, c := range render.New(cfg, w.env.Catalog, "").Credentials() {
		keys = append(keys, c.String())
	}
	w.terminal.Say("  %-14s  %s\n", "Keys", cmp.Or(strings.Join(keys, ", "), "none"))
	for _, c := range p.Conflicts {
		w.terminal.Say("  Conflict: %s", c.Line())
	}
	if p.Stuck {
		w.terminal.Say("  Directories and links are not replaced: move them, or choose another directory.")
	}
	kept := p.Shown(project.Kept)
	for _, name := range kept {
		w.terminal.Say("  Kept: %s", name)
	}
	if len(p.Conflicts) > 0 || len(kept) > 0 {
		w.terminal.Say("")
	}
}

// fact returns what the summary says about the topic, or "".
func (w *wizard) fact(t *topic, answers bot.Answers) string {
	if t.label == labelDirectory {
		return w.Target
	}
	var labels []string
	for _, o := range t.options {
		if answers[o].On {
			labels = append(labels, o.Label)
		}
		for _, value := range values(answers[o]) {
			if o.Kind != "" {
				value = w.env.Catalog.Find(o.Kind, value).Label
			}
			labels = append(labels, value)
		}
	}
	if labels == nil && t.options != nil && t.asked && w.hasChoice(t, true) {
		return cmp.Or(t.options[0].None, "none")
	}
	return strings.Join(labels, ", ")
}

// The actions offered after the summary, as they can be typed.
const (
	doWrite  = "yes"
	doKeep   = "keep"
	doChange = "change"
	doCancel = "no"
)

func (w *wizard) askWhatNow(ctx context.Context, p *project.Plan) (action string, err error) {
	var choices []tty.Choice
	add := func(action, label string) {
		choices = append(choices, tty.Choice{Value: action, Label: label, Names: []string{action}})
	}
	n := len(p.Shown(project.Created)) + len(p.Shown(project.Replaced))
	switch {
	case len(p.Conflicts) == 0 && n == 0:
		add(doWrite, "Finish: all files are up to date")
	case len(p.Conflicts) == 0:
		add(doWrite, "Write "+report.Plural(n, "file")+" to "+w.Target)
	case !p.Stuck:
		add(doKeep, "Keep existing files, write "+report.Plural(n-len(p.Conflicts), "missing file"))
	}
	add(doChange, "Change an answer")
	add(doCancel, "Cancel without writing")
	i, err := w.terminal.Choose(ctx, "Proceed?", choices, 0)
	return choices[i].Value, err
}

// askChange asks which answer to change, then asks that question again.
func (w *wizard) askChange(ctx context.Context, cfg bot.Config) error {
	var choices []tty.Choice
	var offered []*topic
	now := cfg.Answers()
	for _, t := range w.topics {
		if fact := w.fact(t, now); fact != "" && w.hasChoice(t, true) {
			choices = append(choices, tty.Choice{Label: t.label, Note: fact})
			offered = append(offered, t)
		}
	}
	i, err := w.terminal.Choose(ctx, "Which answer?", append(choices, tty.Choice{Label: "None of them"}), 0)
	if err != nil || i == len(offered) {
		return err
	}
	answers := maps.Clone(w.Bot)
	v := visit{offered[i], w.terminal.Mark(), true}
	w.takeBack(v.topic)
	if err := w.askTopic(ctx, v.topic, true); err != nil {
		w.Bot, v.topic.asked = answers, true
		return err
	}
	w.visits = append(w.visits, v)
	return nil
}
