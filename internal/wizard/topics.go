package wizard

import (
	"cmp"
	"slices"

	"vbot/internal/bot"
)

// A topic is one question of the wizard, about one option or several toggles. The
// rules of package bot decide which answers it offers (see allows).
type topic struct {
	label   string        // in the summary
	options []*bot.Option // none for the directory and the start
	asked   bool          // asked since its answer was last removed
}

const (
	labelDirectory = "Directory"
	labelStart     = "Start"
)

// togglesAbout has the summary's labels for the questions that toggles share.
var togglesAbout = map[string]string{bot.AskOptions: "Options", bot.AskWhere: "Runs on"}

// topics returns all questions in order. Toggles share one.
func topics() []*topic {
	byRank := func(a, b *bot.Option) int { return cmp.Compare(a.Rank, b.Rank) }
	all := []*topic{{label: labelDirectory}, {label: labelStart}}
	question := ""
	for _, o := range slices.SortedStableFunc(slices.Values(bot.Options), byRank) {
		if o.Ask != question {
			all = append(all, &topic{label: cmp.Or(togglesAbout[o.Ask], o.Label)})
			question = o.Ask
		}
		last := all[len(all)-1]
		last.options = append(last.options, o)
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
