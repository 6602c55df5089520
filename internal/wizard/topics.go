package wizard

import (
	"cmp"
	"slices"

	"vbot/internal/bot"
)

// A topic is one question of the wizard: where to write, how to start, or about one option or several
// toggles. The rules of package bot decide which answers it offers (see allows).
type topic struct {
	subject subject
	label   string        // in the summary
	options []*bot.Option // one, or the toggles that share the question; none for the directory and the start
	asked   bool          // asked since its answer was last removed
}

// A subject is what a topic asks about.
type subject int

const (
	aboutDirectory subject = iota
	aboutStart
	aboutOptions
)

// isAbout reports whether the topic asks for the option.
func (t *topic) isAbout(o *bot.Option) bool { return slices.Contains(t.options, o) }

// noneLabel is the label of the answer without a value.
func (t *topic) noneLabel() string {
	if shared := t.options[0].Shared; shared != nil {
		return shared.NoneLabel
	}
	return cmp.Or(t.options[0].NoneLabel, "none")
}

// topics returns all questions in order.
func topics() []*topic {
	all := []*topic{
		{subject: aboutDirectory, label: "Directory"},
		{subject: aboutStart, label: "Start"},
	}
	ofShared := map[*bot.Question]*topic{}
	byOrder := func(a, b *bot.Option) int { return cmp.Compare(a.Order, b.Order) }
	for _, o := range slices.SortedStableFunc(slices.Values(bot.Options), byOrder) {
		if shared := ofShared[o.Shared]; shared != nil {
			shared.options = append(shared.options, o)
			continue
		}
		t := &topic{subject: aboutOptions, label: o.Label, options: []*bot.Option{o}}
		if o.Shared != nil {
			t.label = o.Shared.Label
			ofShared[o.Shared] = t
		}
		all = append(all, t)
	}
	return all
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
	hasValue := func(o *bot.Option) bool {
		_, ok := w.Bot[o]
		return ok
	}
	return t.asked || slices.ContainsFunc(t.options, hasValue)
}
