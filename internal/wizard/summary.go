package wizard

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
	"vbot/internal/tty"
)

// finish shows the result and asks whether to write it. The plan is nil if an answer was
// changed.
func (w *wizard) finish(ctx context.Context) (*project.Plan, error) {
	cfg, _, problems := bot.Resolve(w.env.Catalog, w.Bot, w.name())
	if w.askMissing(problems) {
		return nil, nil
	}
	if len(problems) > 0 {
		f := &report.Failure{Code: report.InvalidConfig, Problems: problems, Hint: "nothing was written"}
		return nil, f
	}
	planned, err := w.Plan(w.env, cfg)
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
			return w.Plan(w.env, cfg)
		case what == doWrite:
			return planned, nil
		}
		if err := w.askChange(ctx, cfg); !errors.Is(err, tty.ErrBack) {
			return nil, err
		}
	}
}

// askMissing marks the topics of missing options as not asked, and reports whether one of them will be asked:
// a change of the mode needs other services.
func (w *wizard) askMissing(problems report.Problems) bool {
	for _, p := range problems {
		if p.Missing {
			w.askAgain(bot.ByKey(p.Field))
		}
	}
	return w.next() != nil
}

// show prints the answers, the keys they need, and the conflicts with existing files.
func (w *wizard) show(cfg bot.Config, plan *project.Plan) {
	w.terminal.Say("")
	answers := cfg.Values()
	for _, t := range w.topics {
		if fact := w.fact(t, answers); fact != "" {
			w.terminal.Say("  %-14s  %s", t.label, fact)
		}
	}
	var keys []string // the next steps say where to get them
	for _, c := range render.New(cfg, w.env.Catalog, "").Credentials() {
		keys = append(keys, c.String())
	}
	w.terminal.Say("  %-14s  %s\n", "Keys", cmp.Or(strings.Join(keys, ", "), "none"))
	for _, c := range plan.Conflicts {
		w.terminal.Say("  Conflict: %s", c.Line())
	}
	if plan.Blocked {
		w.terminal.Say("  Directories and links are not replaced: move them, or choose another directory.")
	}
	kept := plan.Shown(project.Kept)
	for _, name := range kept {
		w.terminal.Say("  Kept: %s", name)
	}
	if len(plan.Conflicts) > 0 || len(kept) > 0 {
		w.terminal.Say("")
	}
}

// fact returns what the summary says about the topic, or "".
func (w *wizard) fact(t *topic, answers bot.Values) string {
	if t.subject == aboutDirectory {
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
		return t.noneLabel()
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

func (w *wizard) askWhatNow(ctx context.Context, plan *project.Plan) (action string, err error) {
	var choices []tty.Choice
	add := func(action, label string) {
		choices = append(choices, tty.Choice{Value: action, Label: label, Names: []string{action}})
	}
	n := len(plan.Shown(project.Created)) + len(plan.Shown(project.Replaced))
	switch {
	case len(plan.Conflicts) == 0 && n == 0:
		add(doWrite, "Finish: all files are up to date")
	case len(plan.Conflicts) == 0:
		add(doWrite, "Write "+report.Plural(n, "file")+" to "+w.Target)
	case !plan.Blocked:
		add(doKeep, "Keep existing files, write "+report.Plural(n-len(plan.Conflicts), "missing file"))
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
	now := cfg.Values()
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
	v := visit{topic: offered[i], mark: w.terminal.Mark(), changed: true}
	w.clearAnswer(v.topic)
	if err := w.askTopic(ctx, v.topic, true); err != nil {
		w.Bot = answers
		v.topic.asked = true
		return err
	}
	w.visits = append(w.visits, v)
	return nil
}
