package wizard

import (
	"os"
	"path/filepath"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/scaffold"
)

// newWizard returns a wizard that knows these values so far.
func newWizard(cat *catalog.Catalog, values bot.Values) *wizard {
	env := scaffold.Env{Catalog: cat, Path: filepath.Clean}
	return &wizard{env: env, Job: scaffold.Job{Bot: values}}
}

// A service of one's own is offered after vbot's.
func TestOwnServiceIsOffered(t *testing.T) {
	cat := catalog.New()
	if problems := cat.Add(os.DirFS("../catalog/testdata"), "services"); len(problems) > 0 {
		t.Fatal(problems)
	}
	w := newWizard(cat, bot.Quickstart())
	delete(w.Bot, bot.OptSTT)
	choices := w.offer(bot.OptSTT, false)
	last := choices[len(choices)-1]
	if last.Value != "acme" || last.Label != "Acme Speech" || last.Group != "From your catalog" {
		t.Errorf("the last choice is %+v", last)
	}
}

// In a window of 80 columns each service has its note beside it.
func TestServicesFitTheWindow(t *testing.T) {
	for _, o := range bot.Options {
		if o.Kind == "" {
			continue
		}
		w := newWizard(catalog.New(), bot.Values{})
		choices, labels := w.offer(o, false), 0
		for _, c := range choices {
			labels = max(labels, len(c.Label))
		}
		for _, c := range choices {
			if n := len("> ") + labels + len("  ") + len(c.Note); n >= 80 {
				t.Errorf("%s: %d columns: %s", c.Label, n, c.Note)
			}
		}
	}
}

// What is offered at a question: every value is put to the rules.
func BenchmarkOffer(b *testing.B) {
	w := newWizard(catalog.New(), bot.Quickstart())
	delete(w.Bot, bot.OptTTS)
	services := len(w.env.Catalog.List(catalog.KindTTS))
	for b.Loop() {
		if choices := w.offer(bot.OptTTS, false); len(choices) != services {
			b.Fatalf("%d are offered, want %d", len(choices), services)
		}
	}
}
