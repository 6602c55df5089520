package bot

import (
	"io/fs"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// Each field of the configuration has one row of the table, and each row a field.
func TestEveryFieldHasARow(t *testing.T) {
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		key := config.Field(i).Tag.Get("json")
		isRow := func(o *Option) bool { return o.Key == key }
		if !slices.ContainsFunc(Options, isRow) {
			t.Errorf("options.go: Options has no row with the Key %q, for the field %s of Config", key,
				config.Field(i).Name)
		}
	}
	for i, o := range Options {
		if position(o.Key) < 0 {
			t.Errorf("options.go: Config has no field with the JSON key %q", o.Key)
			continue
		}
		for _, other := range Options[:i] {
			if other.Key == o.Key || other.Flag == o.Flag {
				t.Errorf("options.go: two rows have the key %s or the flag --%s", o.Key, o.Flag)
			}
		}
		switch {
		case o.Flag == "" || o.Help == "" || o.Label == "" || o.Order == 0 || o.Question() == "":
			t.Errorf("options.go: %s needs Flag, Help, Label, Order, and Ask or Shared", o.Key)
		case o.IsToggle() && o.Note == "":
			t.Errorf("options.go: %s needs a Note for the menu of toggles", o.Key)
		case !o.IsToggle() && o.Placeholder == "":
			t.Errorf("options.go: %s needs a Placeholder for the help", o.Key)
		}
	}
}

// A literal of Config would lack the defaults, so only this package has one.
func TestNobodyElseMakesConfigurations(t *testing.T) {
	literal := regexp.MustCompile(`(^|[^\]\w])bot\.Config\{`) // not that of a slice
	files := 0
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		isHidden := name != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (isHidden || entry.Name() == "node_modules" || name == "vendor"):
			return fs.SkipDir
		case path.Ext(name) != ".go" || path.Dir(name) == "internal/bot":
			return nil
		}
		files++
		text, err := fs.ReadFile(root, name)
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if literal.MatchString(line) {
				t.Errorf("%s:%d: use bot.Resolve or bot.Defaults", name, number)
			}
		}
		return err
	})
	if err != nil || files < 50 {
		t.Error(files, err)
	}
	if !Defaults().DeployToCloud || Defaults().Recording {
		t.Errorf("the defaults are %+v", Defaults())
	}
}

func TestNameOfTheDirectory(t *testing.T) {
	for dir, want := range map[string]string{
		"/x/my-bot":                             "my-bot",
		"/x/_my bot!":                           "my bot",
		"/x/Grüezi":                             "Grüezi",
		"/x/क्षेत्र":                            "क्षेत्र",
		"/x/.hidden":                            "hidden",
		"/x/@scope/bot":                         "bot",
		"/x/@scope":                             "scope",
		"/x/my@bot":                             "",
		"/x/@@@":                                "",
		"/":                                     "",
		"/x/con":                                "",
		"/x/" + strings.Repeat("a", 80):         strings.Repeat("a", 64),
		"/x/" + strings.Repeat("ab!", 1):        "ab",
		"/x/" + strings.Repeat("é", 64):         strings.Repeat("é", 64),
		"/x/" + strings.Repeat("b", 63) + "!!!": strings.Repeat("b", 63),
	} {
		if got := NameFromDir(dir); got != want {
			t.Errorf("nameFromDir(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestReservedNames(t *testing.T) {
	for _, name := range []string{
		"con", "PRN", "Aux", "nul", "nul.txt", "con .a.b", "COM0", "com9.txt", "Lpt0", "LPT1 ",
	} {
		err := CheckName(name)
		if err == nil || !strings.HasSuffix(err.Error(), "is a reserved name on Windows") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"console", "com", "com10", "coma", "lpt.1", "nul-1", "a.con", "com٣"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	if CheckName("COM¹") == nil {
		t.Error("COM¹ is taken")
	}
}

// A bot's namespace in Kubernetes is none of the cluster's own.
func TestNamesOfTheCluster(t *testing.T) {
	cat := catalog.New()
	for name, ok := range map[string]bool{
		"default":     false,
		"Default!":    false,
		"kube-system": false,
		"Kube x":      false,
		"kube":        true,
		"kubes-1":     true,
		"a-kube-x":    true,
		"defaults":    true,
	} {
		for _, given := range []bool{true, false} {
			for _, on := range []bool{true, false} {
				said := Values{
					OptTransports: {List: []string{"twilio"}},
					OptMode:       {Text: "realtime"},
					OptRealtime:   {Text: "openai"},
					optSelfHost:   {On: on},
				}
				if given {
					said[OptName] = Value{Text: name}
				}
				_, _, problems := Resolve(cat, said, name)
				if refused := slices.ContainsFunc(problems,
					func(p report.Problem) bool {
						return strings.Contains(p.Message,
							"namespace")
					}); refused != (on && !ok) {
					t.Errorf("%q, given %v, self-host %v: %v", name, given, on, problems)
				}
			}
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"vbot-quickstart":         "vbot-quickstart",
		"My Bot_2.0":              "my-bot-2-0",
		"Café":                    "caf",
		"日本":                      "bot",
		"a--b":                    "a-b",
		"1":                       "1",
		strings.Repeat("ab-", 30): strings.TrimSuffix(strings.Repeat("ab-", 19)[:55], "-"),
	} {
		if got := Slug(name); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
}

// What is wrong with the text of a file is named.
func TestTextOfAConfigurationFile(t *testing.T) {
	for text, want := range map[string]string{
		"{\"mode\": \"cascade\",\n}": "bot.json:2:1: remove the comma " +
			"before }",
		"{\"transports\": [\"daily\",\n  ],\n\"mode\": " +
			"\"cascade\"}": "bot.json:2:3: remove the comma before ]",
		"{,}": "bot.json:1:2: invalid character ',' looking for beginning " +
			"of object key string",
		"{\"a\": [}": "bot.json:1:8: invalid character '}' looking for beginning " +
			"of value",
		"\xff\xfe{\x00}\x00":                  "bot.json:1:1: the file is UTF-16; save it as UTF-8",
		"\xfe\xff\x00{\x00}":                  "bot.json:1:1: the file is UTF-16; save it as UTF-8",
		"{\x00\n\x00}\x00":                    "bot.json:1:1: the file is UTF-16; save it as UTF-8",
		"\x00{\x00}":                          "bot.json:1:1: the file is UTF-16; save it as UTF-8",
		"{\"mode\": \"a\x00\"}":               "bot.json:1:12: invalid character '\\x00' in string literal",
		"{\n<<<<<<< HEAD\n\"mode\": 1\n":      "bot.json:2:1: this merge conflict is not resolved",
		"{\"$schema\": 5}":                    "bot.json:1:13: $schema: expected a string",
		"{\"$schema\": null}":                 "bot.json:1:13: $schema: expected a string",
		"{\"$schema\": {\"mode\": \"x\"}}":    "bot.json:1:13: $schema: expected a string",
		"{\"$schema\": \"vbot.schema.json\"}": "",
		"\ufeff{}":                            "",
		// Other formats, and what they have that JSON does not.
		"// a\n{}":                              "bot.json:1:1: JSON has no comments; remove this one",
		"{\n# a\n\"mode\": 1}":                  "bot.json:2:1: JSON has no comments; remove this one",
		"{\"mode\": /* a */ 1}":                 "bot.json:1:10: JSON has no comments; remove this one",
		"{'mode': 'cascade'}":                   "bot.json:1:2: JSON strings need double quotes",
		"mode: cascade\n":                       "bot.json:1:1: expected a JSON object: {...}",
		"\nmode = \"cascade\"":                  "bot.json:2:1: expected a JSON object: {...}",
		strings.Repeat("[", 20_000):             "bot.json:1:10001: invalid character '[' exceeded max depth",
		"{\"config\": {\"mode\": \"cascade\"}}": "bot.json:1:2: unknown key \"config\"; pass its value alone",
		"{\"$schema\": \"http://x/#'\"}":        "",
	} {
		_, problems := ParseConfig("bot.json", []byte(text))
		if want == "" && len(problems) > 0 ||
			want != "" && (len(problems) != 1 || problems[0].Message != want) {
			t.Errorf("%q: %v, want %q", text, problems, want)
		}
	}
}

// A bot with a server on localhost is deployed to the cloud only if somebody says so, or wants what only the
// cloud has.
func TestModelsOnLocalhostStayThere(t *testing.T) {
	cat := catalog.New()
	for _, c := range []struct {
		about, llm string
		more       Values
		want       bool
	}{
		{"a service of a company", "openai", nil, true},
		{"a model on localhost", "ollama", nil, false},
		{"by flag", "ollama", Values{optDeploy: {On: true, FromFlag: true}}, true},
		{"by a file", "ollama", Values{optDeploy: {On: true}}, true},
		{"turned off", "openai", Values{optDeploy: {FromFlag: true}}, false},
		{"noise cancelling", "ollama", Values{optNoiseCancel: {On: true}}, true},
		{"without noise cancelling", "ollama", Values{optNoiseCancel: {}}, false},
	} {
		said := OnThisMachine()
		said[OptName], said[OptLLM] = Value{Text: "bot"}, Value{Text: c.llm}
		for o, v := range c.more {
			said[o] = v
		}
		config, dropped, problems := Resolve(cat, said, "")
		if len(problems)+len(dropped) > 0 || config.DeployToCloud != c.want {
			t.Errorf("%s: to the cloud %v; %v %v", c.about, config.DeployToCloud, dropped, problems)
		}
		again, _, problems := Resolve(cat, Update(cat, config.Values(), Values{}), "") // as recorded
		if len(problems) > 0 || !reflect.DeepEqual(again, config) {
			t.Errorf("%s: the update is of %+v, %v", c.about, again, problems)
		}
	}
}
