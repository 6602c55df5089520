package wizard

import (
	"os"
	"path/filepath"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// A service of one's own is offered after vbot's.
func TestOwnServiceIsOffered(t *testing.T) {
	cat := catalog.New()
	if problems := cat.Add(os.DirFS("../catalog/testdata"), "services"); len(problems) > 0 {
		t.Fatal(problems)
	}
	w := &Wizard{Path: filepath.Clean, Catalog: cat, Answers: Answers{Bot: bot.Quickstart()}}
	delete(w.Bot, bot.OptSTT)
	choices := w.offer(bot.OptSTT, false)
	if last := choices[len(choices)-1]; last.Value != "acme" || last.Label != "Acme Speech" || last.Group != "From your catalog" {
		t.Errorf("the last choice is %+v", last)
	}
}

// In a window of 80 columns each service has its note beside it.
func TestServicesFitTheWindow(t *testing.T) {
	for _, o := range bot.Options {
		if o.Kind == "" {
			continue
		}
		w := &Wizard{Path: filepath.Clean, Catalog: catalog.New(), Answers: Answers{Bot: bot.Answers{}}}
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
	w := &Wizard{Path: filepath.Clean, Catalog: catalog.New(), Answers: Answers{Bot: bot.Quickstart()}}
	delete(w.Bot, bot.OptTTS)
	services := len(w.Catalog.List(catalog.KindTTS))
	for b.Loop() {
		if choices := w.offer(bot.OptTTS, false); len(choices) != services {
			b.Fatalf("%d are offered, want %d", len(choices), services)
		}
	}
}
