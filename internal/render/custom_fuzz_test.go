package render

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// Whatever the file of a service has, vbot reports a problem with it, or writes a project whose files are
// well formed.
func FuzzCustomService(f *testing.F) {
	acme, err := os.ReadFile("../catalog/testdata/stt/acme.py")
	if err != nil {
		f.Fatal(err)
	}
	for _, replaced := range []string{
		"", "# id: acme\n", "required", "\n    return stt", "os.environ", ", acme_stt", "def build",
	} {
		f.Add(strings.Replace(string(acme), replaced, "", 1))
		f.Add(strings.Replace(string(acme), replaced, "\"<% .Slug %>", 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := catalog.New()
		if len(c.Add(fstest.MapFS{"stt/acme.py": {Data: []byte(text)}}, "services")) > 0 {
			return
		}
		said := bot.Quickstart()
		said[bot.OptSTT] = bot.Value{Text: "acme"}
		cfg, _, problems := bot.Resolve(c, said, "")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		files, err := New(cfg, c, "0.1.0").Files()
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range files {
			for line := range strings.Lines(string(data)) {
				switch {
				case strings.Contains(line, "<%") && !strings.HasSuffix(name, ".py"):
					t.Errorf("%s: %q", name, line)
				case name == "server/.env.example" && line != "\n" && line[0] != '#' &&
					strings.Trim(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "=\n":
					t.Errorf("%s: %q", name, line)
				case name == "server/pyproject.toml" && strings.Count(line, `"`)%2 != 0:
					t.Errorf("%s: %q", name, line)
				}
			}
		}
	})
}
