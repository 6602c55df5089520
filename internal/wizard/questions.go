package wizard

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/report"
	"vbot/internal/tty"
)

func (w *wizard) askTarget(ctx context.Context) error {
	describe := func(typed string) (note string, ok bool) {
		target, err := w.expand(typed)
		if err == nil {
			note, err = project.Describe(w.env.Path(target))
		}
		if err != nil {
			return report.As(err).Message, false // that nothing was written is obvious
		}
		return note, true
	}
	suggested := cmp.Or(w.Target, project.Suggest(w.env.Path("")))
	target, err := w.terminal.Text(ctx, "Directory", suggested, describe)
	if err != nil {
		return err
	}
	if target, err = w.expand(target); err != nil {
		return err
	}
	if err := project.Writable(w.env.Path(target)); err != nil {
		w.terminal.Say("%s", report.As(err).Message)
		return w.askTarget(ctx)
	}
	if w.Target = target; target == "quickstart" {
		w.Target = "./quickstart" // a directory, not the preset of that name
	}
	w.located = true
	if !w.allows(bot.OptName, bot.Value{Text: w.name()}) {
		w.askAgain(bot.OptName) // it cannot come from the directory
	}
	return nil
}

// askStart asks for one of the ready-made bots, one of the person's own, or the guides.
func (w *wizard) askStart(ctx context.Context) error {
	ready := []bot.Values{bot.Quickstart(), bot.OnThisMachine()} // in the order of the menu
	delete(ready[startRecommended], bot.OptName)
	var services []string
	for _, o := range []*bot.Option{bot.OptSTT, bot.OptLLM, bot.OptTTS} {
		services = append(services, w.env.Catalog.Find(o.Kind, ready[startRecommended][o].Text).Label)
	}
	needs := bot.Measured()
	choices := []tty.Choice{
		{Label: "Recommended bot", Note: "in the browser: " + strings.Join(services, ", ")},
		{
			Label:  "On this machine",
			Note:   "no key; " + needs.Memory + "; " + needs.Answers,
			Detail: "downloads " + needs.Downloads + ", and Ollama itself (" + needs.Ollama + ")",
		},
		{Label: "A bot of your own", Names: []string{"scaffold"}, Note: "choose its services and options"},
		{Label: "Build with a coding agent", Names: []string{"guides"}, Note: "write the guides it needs"},
	}
	at := max(w.start, startRecommended)
	dir := w.dir()
	hasBot := project.Has(dir, project.BotName)
	if hasBot {
		w.terminal.Say("This directory already has a bot: %s", filepath.Join(w.Target, project.BotName))
		if project.Has(dir, project.RecordName) {
			const update = "To update it, or to change its options: vbot init %s --update"
			w.terminal.Say(update, report.ShellPath(w.Target))
		}
	}
	if w.start == startUnknown && (len(w.ReplaceGuides) > 0 || hasBot) {
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
		t.asked = !t.isAbout(bot.OptName) || w.name() != ""
	}
	return nil
}

// askTopic asks a question.
//
// A changed answer is treated like a command-line option, and the other answers
// like a configuration file: those that no longer fit are dropped with a note.
func (w *wizard) askTopic(ctx context.Context, t *topic, changed bool) (err error) {
	switch {
	case t.subject == aboutDirectory:
		err = w.askTarget(ctx)
	case t.subject == aboutStart:
		err = w.askStart(ctx)
	case t.options[0].IsToggle():
		err = w.askToggles(ctx, t, changed)
	case t.options[0].IsText():
		err = w.askText(ctx, t, changed)
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
	_, dropped, _ := bot.Resolve(w.env.Catalog, w.Bot, w.name())
	for _, d := range dropped {
		if d.Option == nil {
			continue
		}
		w.drop(d.Option)
		if d.Option == bot.OptClient {
			w.drop(bot.OptClientServer)
		}
		w.terminal.Say("  Dropped %s: %s", d.Option.Label, d.Why)
	}
	for o, a := range w.Bot {
		a.FromFlag = false
		w.Bot[o] = a
	}
}

// drop removes the answer, which is preselected if the question is asked again.
func (w *wizard) drop(o *bot.Option) {
	if a, ok := w.Bot[o]; ok {
		w.before[o] = a
	}
	delete(w.Bot, o)
	w.askAgain(o)
}

// askText asks for the text of an option. Enter gives the earlier answer or, without one, the default: the
// directory's name as the project's name, and no value for all other options.
func (w *wizard) askText(ctx context.Context, t *topic, changed bool) error {
	o, fallback := t.options[0], t.noneLabel()
	if o == bot.OptName {
		fallback = w.name()
	}
	valueOf := func(typed string) bot.Value {
		if o == bot.OptLanguage {
			typed = cmp.Or(catalog.TagOf(typed), typed)
			if tag, ok := catalog.LanguageTag(typed); ok {
				typed = tag
			}
		}
		return bot.Value{Text: typed, FromFlag: changed}
	}
	suggested := cmp.Or(w.before[o].Text, fallback)
	typed, err := w.terminal.Text(ctx, o.Ask, suggested, func(typed string) (message string, ok bool) {
		if o != bot.OptName && typed == fallback { // only the directory's name may break a rule
			return "", true
		}
		if err := w.check(o, valueOf(typed)); err != nil {
			return err.Error(), false
		}
		return "", true
	})
	if err == nil && typed != fallback {
		w.Bot[o] = valueOf(typed)
	}
	return err
}

// askValues asks for the value of an option, or the values of a list.
func (w *wizard) askValues(ctx context.Context, o *bot.Option, changed bool) error {
	m := &tty.Menu{Ask: o.Ask, Choices: w.offer(o, changed), Several: o.IsList()}
	picked := func(marked []int) bot.Value {
		var ids []string
		for _, i := range marked {
			ids = append(ids, m.Choices[i].Value)
		}
		return answer(o, changed, ids...)
	}
	if o != bot.OptTransports || w.Bot[bot.OptBotType].Text == bot.BotWeb {
		m.At = max(0, slices.IndexFunc(m.Choices, func(c tty.Choice) bool { return c.Is(o.Preselected) }))
	}
	was := values(w.before[o])
	for _, id := range was {
		if i := slices.IndexFunc(m.Choices, func(c tty.Choice) bool { return c.Value == id }); i >= 0 {
			m.Marked, m.At = append(m.Marked, i), i
		}
	}
	if m.Several {
		m.Check = func(marked []int) error { return w.check(o, picked(marked)) }
	} else {
		m.Marked = nil // Enter selects the choice at the cursor
	}
	if err := w.terminal.Ask(ctx, m); err != nil {
		return err
	}
	now := picked(m.Marked)
	if len(values(now)) > 0 {
		w.Bot[o] = now
	}
	if o == bot.OptBotType && was != nil && !slices.Equal(was, values(now)) {
		delete(w.Bot, bot.OptTransports) // the other bot type has other transports
		delete(w.before, bot.OptTransports)
		w.askAgain(bot.OptTransports)
	}
	return nil
}

// askToggles asks which of the topic's toggles to turn on.
func (w *wizard) askToggles(ctx context.Context, t *topic, changed bool) error {
	none := t.noneLabel()
	m := &tty.Menu{Ask: t.options[0].Question(), Several: true, Choices: []tty.Choice{{Label: none}}}
	m.Check = func(marked []int) error {
		if len(marked) > 1 && slices.Contains(marked, 0) {
			return errors.New("choose either " + none + " or some of the others")
		}
		return nil
	}
	var offered []*bot.Option
	byDefault, _, _ := bot.Resolve(w.env.Catalog, w.Bot, w.name())
	for _, o := range t.options {
		was, known := w.before[o]
		mayBeOn := w.allows(o, bot.Value{On: true, FromFlag: changed})
		mayBeOff := was.On || w.allows(o, bot.Value{On: false}) // an avatar needs video output
		if !mayBeOn || !mayBeOff {
			continue
		}
		if was.On || !known && byDefault.Values()[o].On {
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
		w.Bot[o] = bot.Value{On: slices.Contains(m.Marked, 1+i), FromFlag: changed}
	}
	return nil
}
