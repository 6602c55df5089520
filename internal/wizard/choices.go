package wizard

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/tty"
)

// allows reports whether the rules allow the value together with all other answers.
func (w *wizard) allows(o *bot.Option, a bot.Value) bool {
	return w.check(o, a) == nil
}

// check returns an error if the rules do not allow the value together with all other answers.
func (w *wizard) check(o *bot.Option, a bot.Value) error {
	answers := maps.Clone(w.Bot)
	if o == bot.OptBotType {
		delete(answers, bot.OptTransports) // the other bot type has other transports
	}
	answers[o] = a
	_, _, problems := bot.Resolve(w.env.Catalog, answers, w.name())
	for _, p := range problems {
		if !p.Missing {
			return errors.New(p.Message)
		}
	}
	return nil
}

// values returns the values of an answer.
func values(a bot.Value) []string {
	if a.Text == "" {
		return a.List
	}
	return []string{a.Text}
}

// answer returns an answer with these values; "" stands for none. For changed, see askTopic.
func answer(o *bot.Option, changed bool, values ...string) bot.Value {
	if o.IsList() {
		return bot.Value{List: values, FromFlag: changed}
	}
	return bot.Value{Text: values[0], FromFlag: changed}
}

// offer returns the choices that the rules allow for the option. The value "" stands for none. For changed,
// see askTopic.
func (w *wizard) offer(o *bot.Option, changed bool) (choices []tty.Choice) {
	add := func(c tty.Choice) {
		if c.Value == "" || w.allows(o, answer(o, changed, c.Value)) {
			choices = append(choices, c)
		}
	}
	if o.NoneLabel != "" {
		add(tty.Choice{Label: o.NoneLabel})
	}
	for _, word := range o.Enum {
		c := tty.Choice{Value: word.Name, Label: word.Name, Note: word.Meaning}
		if c.Value == bot.ClientNone && w.hasPage() {
			c.Note = "use the page that comes with the bot"
		}
		add(c)
	}
	if o.Kind == "" {
		return choices
	}
	services := slices.Clone(w.env.Catalog.List(o.Kind))
	has := w.credentials()
	first := w.env.Catalog.Find(o.Kind, bot.OnThisMachine()[o].Text) // of the local ones
	rank := func(s *catalog.Service) int {
		if s == first {
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
	for _, s := range services {
		if s.ModeOf == "" { // else the dial mode is a separate question
			add(choiceOf(s, has))
		}
	}
	return choices
}

// hasPage reports whether the bot would serve a page of its own, on the same condition as
// render.Data.HasPage.
func (w *wizard) hasPage() bool {
	return slices.ContainsFunc(w.Bot[bot.OptTransports].List, func(name string) bool {
		return w.env.Catalog.Find(catalog.KindTransport, name).ID == catalog.SmallWebRTC
	})
}

// credentials returns the credentials of the services and transports that were chosen so far.
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

// choiceOf returns the service as a choice. has are the credentials that the bot needs anyway.
func choiceOf(s *catalog.Service, has map[string]bool) tty.Choice {
	c := tty.Choice{
		Value: s.Names[0],
		Group: s.Heading().String(),
		Label: s.Label,
		Names: append([]string{s.ID}, s.Names...),
		Words: s.LanguageNames(),
		Note:  s.Summary(has),
	}
	var details []string
	for _, k := range s.Credentials() {
		details = append(details, k.Names+"  "+k.Page)
	}
	c.Detail = strings.Join(details, "; ")
	return c
}

// hasChoice reports whether the topic has more than one answer.
func (w *wizard) hasChoice(t *topic, changed bool) bool {
	return !slices.ContainsFunc(t.options, func(o *bot.Option) bool {
		return !o.IsToggle() && !o.IsText() && len(w.offer(o, changed)) < 2
	})
}
