package render

import (
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/report"
	"vbot/templates"
)

// The text of an option is quoted wherever it becomes a string of a program or of a settings file, whether
// the rules allow such a text or not.
func TestTextsOfOptionsAreQuoted(t *testing.T) {
	const odd = `odd"\text`
	languages := []string{".py", ".js", ".ts", ".tsx", ".json", ".toml", ".yaml", ".yml"}
	cat := catalog.New()
	for _, o := range bot.Options {
		if !o.IsText() {
			continue
		}
		for _, framework := range []report.OrNull{bot.ClientReact, bot.ClientVanilla} {
			cfg := configured(t, cat, bot.Quickstart())
			cfg.EnableEval, cfg.SelfHost, cfg.Recording, cfg.EnableObservability = true, true, true, true
			cfg.ClientFramework, cfg.ClientServer, cfg.Language = framework, bot.ServerVite, "de"
			fields := reflect.ValueOf(&cfg).Elem()
			for i := range fields.NumField() {
				if fields.Type().Field(i).Tag.Get("json") == o.Key {
					fields.Field(i).SetString(odd)
				}
			}
			files, err := New(cfg, cat, "0.1.0").Files()
			if err != nil {
				t.Fatal(err)
			}
			quoted := 0
			for name, text := range files {
				if slices.Contains(languages, path.Ext(name)) && strings.Contains(string(text), odd) {
					t.Errorf("%s: the template writes the %s without `quote`", name, o.Key)
				}
				quoted += strings.Count(string(text), `odd\"\\text`)
			}
			if quoted == 0 && o.Key != bot.OptName.Key {
				t.Errorf("no file has the %s in quotes", o.Key)
			}
		}
	}
}

// In templates of Python, no quotes are written around a value by hand.
func TestQuotesInPythonTemplates(t *testing.T) {
	byHand := regexp.MustCompile(`"<% [^%]*%>|<% [^%]* %>"`)
	err := fs.WalkDir(templates.Files, "server", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".py.tmpl") {
			return err
		}
		text, err := templates.Files.ReadFile(name)
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, `" ".join(`) { // the action is not in the quotes
				continue
			}
			if found := byHand.FindString(line); found != "" {
				t.Errorf("templates/%s:%d: %s: write <%% quote ... %%>", name, i+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What is quoted is the same text again in Python, JavaScript, JSON, TOML and YAML.
func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":           `""`,
		"it's <é>":   `"it's <é>"`,
		`a"b\c`:      `"a\"b\\c"`,
		"a\nb\x01":   `"a\nb\u0001"`,
		"a\u2028b":   `"a\u2028b"`,
		"{{x}} $y":   `"{{x}} $y"`,
		"日本 <% . %>": `"日本 <% . %>"`,
	} {
		if got, err := quote(text); got != want || err != nil {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
