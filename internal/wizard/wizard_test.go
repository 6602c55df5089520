package wizard

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/scaffold"
	"vbot/internal/tty"
)

// newWizard returns a wizard that knows these values so far.
func newWizard(cat *catalog.Catalog, values bot.Values) *wizard {
	env := scaffold.Env{Catalog: cat, Path: filepath.Clean}
	return &wizard{env: env, Create: scaffold.Create{Project: scaffold.Project{Bot: values}}}
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
		choices, labelWidth := w.offer(o, false), 0
		for _, c := range choices {
			labelWidth = max(labelWidth, len(c.Label))
		}
		for _, c := range choices {
			if n := len("> ") + labelWidth + len("  ") + len(c.Note); n >= 80 {
				t.Errorf("%s: %d columns: %s", c.Label, n, c.Note)
			}
		}
	}
}

// Enter deploys a bot to the cloud, but not one whose model is on localhost.
func TestWhereABotRuns(t *testing.T) {
	for llm, wantCloud := range map[string]bool{"openai": true, "ollama": false} {
		said := bot.OnThisMachine()
		said[bot.OptName], said[bot.OptLLM] = bot.Value{Text: "bot"}, bot.Value{Text: llm}
		w := newWizard(catalog.New(), said)
		keys, person, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := person.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
		w.terminal = tty.Open(keys, io.Discard, true, false, strings.Clone)
		for _, about := range topics() {
			if about.label == bot.AskWhere.Label {
				err = w.askTopic(t.Context(), about, false)
			}
		}
		cfg, _, problems := bot.Resolve(w.env.Catalog, w.Bot, "")
		if err != nil || len(problems) > 0 || cfg.DeployToCloud != wantCloud {
			t.Errorf("%s: to the cloud %v; %v %v", llm, cfg.DeployToCloud, err, problems)
		}
		_, _ = keys.Close(), person.Close()
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
