package render

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/report"
)

// Each translation has every text, with the same places for values, and none that would need an escape
// where it stands: in strings of Python and JavaScript, in CSS, HTML, JSX and YAML.
func TestTranslations(t *testing.T) {
	english := translations()["en"]()
	if n := len(translations()); n != 20 {
		t.Errorf("there are translations into %d languages, with English", n)
	}
	for tag, read := range translations() {
		texts := read()
		if catalog.LanguageName(tag) == "" {
			t.Errorf("%s is not in languages.txt", tag)
		}
		for key, text := range texts {
			about := tag + ": " + key
			switch {
			case english[key] == "":
				t.Errorf("%s: English has no such text", about)
			case strings.Count(text, "{}") != strings.Count(english[key], "{}"):
				t.Errorf("%s: %q has other places for values than English", about, text)
			case strings.ContainsAny(strings.ReplaceAll(text, "{}", ""), "\"\\`$<>&{}"):
				t.Errorf("%s: %q needs an escape somewhere", about, text)
			case tag != "en" && text == english[key] && strings.Contains(text, " "):
				t.Errorf("%s: %q is not translated", about, text)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(english)) {
			if strings.TrimSpace(texts[key]) == "" {
				t.Errorf("%s: %s is missing", tag, key)
			}
		}
	}
}

// A bot in each language speaks it everywhere; one with a region, too.
func TestBotsInEachLanguage(t *testing.T) {
	cat := catalog.New()
	for tag, read := range translations() {
		texts := read()
		for _, tag := range []string{tag, tag + "-XX"} {
			cfg := configured(t, cat, bot.Values{
				bot.OptTransports:        {List: []string{"smallwebrtc", "twilio"}},
				bot.OptMode:              {Text: bot.ModeCascade},
				bot.OptSTT:               {Text: "whisper"},
				bot.OptLLM:               {Text: "ollama"},
				bot.OptTTS:               {Text: "azure"},
				bot.ByKey("enable_eval"): {On: true},
				bot.ByKey("self_host"):   {On: true},
			})
			cfg.Language = report.OrNull(tag) // also one that a service does not speak
			files, err := New(cfg, cat, "1").Files()
			if err != nil {
				t.Fatal(tag, err)
			}
			sentences, page := string(files["server/sentences.py"]), string(files["server/page.html"])
			for _, key := range []string{"hello", "apology", "please_wait", "last_minute", "recorded"} {
				if line := "    " + key + `="` + texts[key] + "\",\n"; !strings.Contains(sentences, line) {
					t.Errorf("%s: sentences.py lacks %s", tag, line)
				}
			}
			evals := string(files["server/evals/starter_text.yaml"])
			for _, part := range []string{texts["ask_week"], `"` + texts["seven"] + `"`, texts["ask_day"]} {
				if !strings.Contains(evals, part) {
					t.Errorf("%s: evals lack %s", tag, part)
				}
			}
			lang := `lang="` + tag + `"`
			if strings.HasPrefix(tag, "en") {
				lang = `lang="en"`
			}
			parts := []string{lang, texts["lead"], texts["status_not_connected"], texts["cut_off"]}
			for _, part := range parts {
				if !strings.Contains(page, part) {
					t.Errorf("%s: the page lacks %s", tag, part)
				}
			}
			if hasDir := strings.Contains(page, `dir="rtl"`); hasDir != strings.HasPrefix(tag, "ar") {
				t.Errorf("%s: the page is written from the wrong side", tag)
			}
		}
	}
}

func TestAnswerIn(t *testing.T) {
	for tag, want := range map[string]string{
		"de":    "Answer in German.",
		"pt-BR": "Answer in Portuguese (pt-BR).",
		"xh":    "Answer in the language with the BCP 47 tag xh.",
	} {
		d := &Data{}
		d.Language = report.OrNull(tag)
		if got := d.AnswerIn(); got != want {
			t.Errorf("%s: %q", tag, got)
		}
	}
}

// A text that no template has, or with other values, is found when a project is rendered, not in the project.
func TestSay(t *testing.T) {
	d := &Data{}
	d.Language = "xh"
	for _, c := range []struct {
		key, want string
		values    []string
	}{
		{"apology", "Sorry, I cannot answer right now. Please try again.", nil},
		{"waiting_for", "Waiting for Acme", []string{"Acme"}},
		{"waiting_for", "error", nil},
		{"apologies", "error", nil},
	} {
		got, err := d.Say(c.key, c.values...)
		if got != c.want && !(err != nil && c.want == "error") {
			t.Errorf("%s %q: %q, %v", c.key, c.values, got, err)
		}
	}
}
