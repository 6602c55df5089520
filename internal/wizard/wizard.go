// Package wizard asks a person at a terminal what `vbot init` should do. The answers are values of the
// command-line options.
package wizard

import (
	"context"
	"errors"

	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/report"
	"vbot/internal/scaffold"
	"vbot/internal/tty"
)

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
	expand   func(path string) (string, error) // replaces ~ by the person's home directory

	// The answers so far. The target is as it was typed, except that ~ is expanded.
	scaffold.Create
	located bool // the target was asked for, or given and checked

	topics []*topic
	start  int        // the answer to "How do you want to start?", startUnknown before it
	before bot.Values // removed answers, to preselect them
	visits []visit    // the questions that were answered, oldest first
}

// A visit is a question that was answered, with what is needed to go back to it.
type visit struct {
	topic   *topic
	mark    int  // see tty.Terminal
	changed bool // see askTopic
}

// dir returns the target, absolute.
func (w *wizard) dir() string { return w.env.Path(w.Target) }

// name returns the default project name, "" if the directory's name cannot be one.
func (w *wizard) name() string { return bot.NameFromDir(w.dir()) }

// A Job is what a person asked for: a scaffold.Create or scaffold.Guides.
type Job interface {
	Run(context.Context, scaffold.Env) (report.Result, error)
	CommandLine(scaffold.Env) string
}

// Ask asks what to write, shows it, and lets the person change answers until they confirm or cancel.
// given has what the command line says, which may be a target. expand replaces ~ at the beginning of a path
// that was typed.
//
// Even with an error, the returned job has the answers so far; it is nil if there is no usable directory yet.
// Until Ask returns, Ctrl-C is a key, not a signal.
func Ask(
	ctx context.Context, t *tty.Terminal, env scaffold.Env,
	expand func(path string) (string, error), given scaffold.Create,
) (Job, error) {
	given.Bot = bot.Values{}
	w := &wizard{
		terminal: t,
		env:      env,
		expand:   expand,
		Create:   given,
		topics:   topics(),
		start:    startUnknown,
		before:   bot.Values{},
	}
	err := w.ask(ctx)
	switch {
	case !w.located:
		return nil, err
	case w.start == startGuides:
		return w.guides(), err
	}
	return w.Create, err
}

// guides returns the job that writes the guides.
func (w *wizard) guides() scaffold.Guides {
	return scaffold.Guides{Target: w.Target, ReplaceGuides: w.ReplaceGuides, ListFiles: w.ListFiles}
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
			if w.start == startGuides {
				planned, err = w.guides().Plan(w.env)
			}
		}
		switch {
		case errors.Is(err, tty.ErrBack):
			last := len(w.visits) - 1
			v, w.visits = w.visits[last], w.visits[:last]
			w.terminal.Rewind(v.mark)
			w.clearAnswer(v.topic)
			continue
		case err != nil:
			return err
		case planned != nil:
			return w.offerGuides(ctx, planned)
		}
		v = visit{topic: w.next()}
	}
}

// offerGuides asks whether to replace guides that an older vbot wrote.
func (w *wizard) offerGuides(ctx context.Context, plan *project.Plan) error {
	w.terminal.Back = false
	kept := 0 // guides that differ
	for _, s := range plan.Steps {
		if !project.IsGuide(s.Path) || s.Action != project.Kept {
			continue
		}
		kept++
		if !s.HasOldGuide() {
			continue
		}
		const replace = " was written by an older vbot. Replace it and lose any changes you made?"
		yes, err := w.terminal.Confirm(ctx, s.Path+replace, false)
		if err != nil {
			return err
		}
		if yes {
			w.ReplaceGuides = append(w.ReplaceGuides, s.Path)
		}
	}
	if kept > 0 && kept == len(w.ReplaceGuides) {
		w.ReplaceGuides = project.GuideFiles // then the command line has --overwrite-guide
	}
	return nil
}

// clearAnswer removes the answer to a topic, so that it is asked again with that answer preselected.
func (w *wizard) clearAnswer(t *topic) {
	if t.subject == aboutStart { // only the directory is asked before it
		w.Bot = bot.Values{}
		for _, other := range w.topics {
			other.asked = other.subject == aboutDirectory
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

// askAgain marks the topic of the option as not asked.
func (w *wizard) askAgain(o *bot.Option) {
	for _, t := range w.topics {
		if t.isAbout(o) && !o.IsToggle() {
			t.asked = false
		}
	}
}
