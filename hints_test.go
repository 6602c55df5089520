package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/report"
)

// A hintCase is a case of TestHintsDoWhatTheySay.
type hintCase struct {
	before string // a command
	do     func(t *testing.T, dir string)
	args   string // the command that has the hint
	hint   string // in what it prints
	then   string // the command to run: "" is the one in the hint, "+ARGS" is args with ARGS added
	code   int
	leads  string // the file that it writes, or a text that it prints
}

func hintCases() []hintCase {
	const bot, other = "init target -t smallwebrtc -m realtime --realtime openai", "init target -t " +
		"smallwebrtc -m realtime --realtime gemini_live"
	edit := func(t *testing.T, dir string) {
		text := filetest.Tree(t, dir)["target/server/bot.py"]
		filetest.Put(t, dir, "target/server/bot.py",
			strings.ReplaceAll(text, "OpenAIRealtimeLLMService(", "MyLLMService("))
	}
	return []hintCase{
		{args: "init", hint: "vbot init quickstart", leads: "vbot-quickstart/server/bot.py"},
		{args: "init quickstrat", hint: "vbot init ./quickstrat", leads: "quickstrat/AGENTS.md"},
		{args: "init quickstrat", hint: "vbot init quickstart", leads: "vbot-quickstart/server/bot.py"},
		{
			args: "init quickstart --recording",
			hint: "vbot init my-bot -t smallwebrtc -t daily -m cascade --stt deepgram --llm openai --tts " +
				"cartesia OPTIONS",
			then: "init my-bot -t smallwebrtc -t daily -m cascade --stt deepgram --llm openai --tts " +
				"cartesia --recording", leads: "my-bot/server/bot.py",
		},
		{
			before: "init quickstart",
			args:   "init quickstart --update --recording",
			hint:   "vbot init vbot-quickstart --update OPTIONS",
			then:   "init vbot-quickstart --update --recording",
			leads:  `"recording": true`,
		},
		{args: "init x -t smallwebrtc", hint: "vbot init --help", leads: "Examples:"},
		{
			args:  "init x -t smallwebrtc -m realtime --realtime nosuch",
			hint:  "vbot init --describe-options=realtime",
			leads: "gemini_live",
		},
		{
			args:  "init x -t smallwebrtc -m cascade --stt soniox --llm openai --tts cartesia --language xh",
			hint:  "vbot init --describe-options=tts --json",
			leads: `"languages"`,
		},
		{
			before: bot,
			args:   "init target/server --update",
			hint:   "vbot init target --update",
			leads:  "nothing to do",
		},
		{
			before: bot,
			args:   "init target/server --check",
			hint:   "vbot init target --check",
			leads:  "files are what",
		},
		{
			before: bot,
			args:   other,
			hint:   "vbot init DIR/target --update -t smallwebrtc -m realtime --realtime gemini_live",
			leads:  `"realtime_service": "realtime_b"`,
		},
		{
			before: bot, do: func(t *testing.T, dir string) {
				filetest.Put(t, dir, "target/AGENTS.md",
					"mine\n")
			}, args: bot,
			hint: "vbot init --no-input --overwrite-guide DIR/target", leads: "replaced 1 file",
		},
		{
			before: bot, do: edit, args: "init target --update --realtime gemini_live",
			hint: "the same command with --conflict-markers",
			then: "+ --conflict-markers", code: 1, leads: "between markers",
		},
		{
			before: bot, do: edit, args: "init target --update --realtime gemini_live",
			hint: "with --diff it shows the conflicts", then: "+ --diff", code: 1, leads: "+<<<<<<< yours",
		},
		{
			before: bot, do: edit, args: "init target --check --realtime gemini_live",
			hint: "the same command with --update instead of --check shows the conflicts",
			then: "init target --update --realtime gemini_live", code: 1, leads: "at line",
		},
		{
			before: bot,
			args:   "init target --check --recording",
			hint:   "the same command with --update instead of --check",
			then:   "init target --update --recording",
			leads:  `"recording": true`,
		},
		{
			before: bot, do: func(t *testing.T, dir string) {
				os.Remove(filepath.Join(dir,
					"target/.vbot.json"))
			}, args: "init target --update",
			hint: "run init with these options and --keep-existing", then: bot + " --keep-existing",
			leads: "target/.vbot.json",
		},
		{
			before: bot, do: func(t *testing.T, dir string) {
				os.Remove(filepath.Join(dir,
					"target/.vbot.json"))
			}, args: "init target --check",
			hint: "pass the bot's options with --check", then: bot + " --check", leads: "files are what",
		},
		{
			before: bot, do: func(t *testing.T, dir string) {
				filetest.Put(t, dir, "target/.vbot.json",
					"{}")
			}, args: "init target --update",
			hint: "remove it and run init with the bot's options and --keep-existing",
			then: "rm " + bot + " --keep-existing", leads: "target/.vbot.json",
		},
		{args: "init target --foo", hint: "vbot init --help", leads: "--keep-existing"},
		{args: "login", hint: "vbot cloud login", then: "cloud login", leads: "signed in"},
		{args: "schema nosuch", hint: "vbot schema", leads: "init"},
		{
			args:  "cloud secrets get app",
			hint:  "vbot cloud secrets list NAME",
			then:  "cloud secrets list app",
			leads: "API_KEY",
		},
		{
			args:  "cloud secrets rm app",
			hint:  "vbot cloud secrets unset",
			then:  "cloud secrets unset app API_KEY --skip",
			leads: "removed key API_KEY",
		},
		{
			args:  "cloud secrets rm app",
			hint:  "vbot cloud secrets delete",
			then:  "cloud secrets delete app --skip",
			leads: "deleted secret set app",
		},
		{args: "cloud secrets ls", hint: "vbot cloud secrets list", leads: "app "},
		{
			do:    func(t *testing.T, dir string) { filetest.Put(t, dir, "a.env", "A=1\n") },
			args:  "cloud secrets import app a.env",
			hint:  "vbot cloud secrets set NAME --file FILE",
			then:  "cloud secrets set app --file a.env --skip",
			leads: "stored in",
		},
		{
			args:  "cloud secrets create app A=1",
			hint:  "vbot cloud secrets set NAME KEY",
			then:  "cloud secrets set app A=1 --skip",
			leads: "stored in",
		},
		{
			before: bot, args: "update target", hint: "vbot init DIR --update", then: "init target --update",
			leads: "nothing to do",
		},
		{
			args: "create x", hint: "vbot init", then: "init x -t smallwebrtc -m realtime --realtime openai",
			leads: "x/server/bot.py",
		},
		{args: "cloud secrets list apps", hint: "vbot cloud secrets list", leads: "app "},
		{
			args:  "cloud secrets list apps",
			hint:  "did you mean app?",
			then:  "cloud secrets list app",
			leads: "API_KEY",
		},
		{args: "cloud secrets set app A=1", hint: "add --skip", then: "+ --skip", leads: "stored in"},
		{
			do:    func(t *testing.T, dir string) { filetest.Put(t, dir, "a.env", "A=1\nB=\n") },
			args:  "cloud secrets set app --file a.env --skip",
			hint:  "--skip-empty leaves out",
			then:  "+ --skip-empty",
			leads: "stored in",
		},
		{
			do:    func(t *testing.T, dir string) { filetest.Put(t, dir, "a.env", "A=1\n") },
			args:  "cloud secrets set app a.env --skip",
			hint:  "--file FILE",
			then:  "cloud secrets set app --file a.env --skip",
			leads: "stored in",
		},
		{
			args:  "cloud secrets set app A=1 --skip --wait=2s",
			hint:  "vbot cloud secrets wait app",
			leads: "app: not ready after 2m0s; its status is pending",
			code:  6,
		},
		{
			args:  "cloud whoami --organization none",
			hint:  "acme",
			then:  "cloud whoami --organization acme",
			leads: "acme",
		},
	}
}

// Each command that a message names works where the message is shown. Words in capitals are filled in.
func TestHintsDoWhatTheySay(t *testing.T) {
	parallel(t)

	for _, c := range hintCases() {
		s := cloudtest.NewLenient(t, "vbot/"+version)
		s.Put("app", "us-west", "ready", "API_KEY")
		if strings.Contains(c.args, "--wait") {
			s.Statuses = []string{"pending"}
		}
		dir := t.TempDir()
		run := func(line string) result {
			args := strings.Fields(strings.ReplaceAll(line, "DIR/", dir+"/"))
			return inProcess{env: s.Env(), stdin: strings.NewReader(cloudtest.Token), dir: dir}.vbot(t,
				args...)
		}
		if c.before != "" {
			run(c.before).wantCode(t, 0)
		}
		if c.do != nil {
			c.do(t, dir)
		}
		hint := strings.ReplaceAll(c.hint, "DIR/target", report.ShellQuote(filepath.Join(dir, "target")))
		if r := run(c.args); !strings.Contains(r.stderr, hint) {
			t.Errorf("vbot %s does not say %q:\n%s", c.args, c.hint, r.stderr)
		}
		line := c.then
		switch {
		case line == "":
			line = strings.TrimPrefix(c.hint, "vbot ")
		case line[0] == '+':
			line = c.args + line[1:]
		case strings.HasPrefix(line, "rm "):
			os.Remove(filepath.Join(dir, "target/.vbot.json"))
			line = line[3:]
		}
		r := run(line)
		said := r.stdout + r.stderr
		if strings.HasPrefix(c.leads, `"`) { // in the record
			said += filetest.Tree(t, dir)["target/.vbot.json"] +
				filetest.Tree(t, dir)["vbot-quickstart/.vbot.json"]
		}
		if r.code != c.code || !strings.Contains(said, c.leads) && !project.Has(dir, c.leads) {
			t.Errorf("vbot %s leads to exit code %d, not to %s:\n%s", line, r.code, c.leads, said)
		}
		if project.Has(dir, "target/server/server") || project.Has(dir, "target/server/AGENTS.md") {
			t.Errorf("vbot %s wrote a project into a project", line)
		}
		s.Close()
	}
	// Every hint in the source is tried above, except the wizard's command lines, which
	// TestWizardEqualsOptions tries, and those of login, which TestLoginTranscripts tries.
	tried := []string{
		"try `vbot init quickstart`", "DidYouMean(\"`vbot init quickstart`\")", "to create it: vbot init ./",
		"pass another directory: vbot init my-bot", "to change its options: vbot init ",
		"ends with complete examples",
		"--update` finishes it", "the project is in ", "report.ShellQuote(plan.Dir) + \" --update\"",
		"vbot init --no-input --overwrite-guide", "noValues",
		"unsetOrDelete", "toStore", "toCreate",
		"`vbot init DIR --update` brings", "--file FILE` stores", "`vbot cloud secrets list` lists the",
		`see "vbot init --help"`,
		"`vbot schema` lists them", "--describe-options=", "lists all secrets",
		`line := "vbot init " + report.ShellPath(`, "To update it, or to change its options",
		"`vbot cloud login`",
		"const restore = ", // TestRestoringCommand
		"to wait again: vbot cloud secrets wait ",
		"-tags nocreate",   // release/audit
		"jq 'map(",         // e2e/test_documents.py
		"jq '.data | map_", // needs kubectl
	}
	command := regexp.MustCompile("[\"`(: ]vbot (init|cloud|schema|help)\\b")
	files, _ := filepath.Glob("*.go")
	below, _ := filepath.Glob("internal/*/*.go")
	for _, name := range append(files, below...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			code, _, _ := strings.Cut(line, "// ")
			if command.MatchString(code) && !strings.HasSuffix(name, "_test.go") &&
				!slices.ContainsFunc(tried, func(text string) bool { return strings.Contains(code, text) }) {
				t.Errorf("%s: nobody tries %s", name, strings.TrimSpace(code))
			}
		}
	}
}
