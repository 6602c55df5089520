package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"vbot/internal/report"
	"vbot/internal/system"
)

// A greeting is the result of the command greet.
type greeting struct {
	Name string `json:"name"`
}

func (g greeting) Text(out *report.Printer) {
	out.Print("hello " + g.Name + "\n")
	out.Note("that was %s", g.Name)
}

// A greetRun is a command with an argument and an option.
type greetRun struct{ fail, mood string }

func (r *greetRun) Prepare(_ context.Context, e *Env) (problems report.Problems) {
	if e.Arg(0) == "Ann" && r.mood == "sad" {
		problems.Add("mood", "--mood", "Ann is not sad")
	}
	return problems
}

func (r *greetRun) Run(_ context.Context, e *Env) (report.Result, error) {
	result := greeting{Name: e.Arg(0)}
	switch r.fail {
	case "":
		return result, nil
	case "late":
		return result, report.Errorf(report.Differs, "too late")
	}
	return nil, errors.New(r.fail)
}

// allExcept returns a check that fails with the message for one word.
func allExcept(word, message string) func(string) error {
	return func(text string) error {
		if text == word {
			return errors.New(message)
		}
		return nil
	}
}

// greetTree is a tree with the command greet and a topic.
func greetTree() *Command {
	newGreet := func(f *Flags) Runner {
		r := &greetRun{}
		f.String("f fail", "WHY", "fail for this reason", &r.fail)
		f.String("mood", "WORD", "be in this mood", &r.mood).Check = allExcept("odd", "is no mood")
		f.Ignored("no-bow", "nobody bows")
		return r
	}
	root := &Command{
		Name: "tool",
		New: func(f *Flags) Runner {
			f.EarlyExit("version", "print the version", func(*Env) (report.Result, error) {
				return Document{Value: []int{1}}, nil
			})
			return nil
		},
		Other: map[string]string{"rm": "use greet"},
		Sub: []Command{
			{
				Name: "greet",
				New:  newGreet,
				Args: Args{
					Named: []Arg{{Name: "name", Check: allExcept("nobody", "is nobody")}},
					Words: []string{"world", AnyDir},
				},
				Results: Results{"": greeting{}, "late": greeting{}},
			},
			{Name: "weather", Topic: true},
		},
	}
	return WithPages(fstest.MapFS{
		"help/tool.txt":    {Data: []byte("tool greets.\n\n{commands}\n\n{topics}\n")},
		"help/greet.txt":   {Data: []byte("Greet somebody.\n\n{options}\n")},
		"help/weather.txt": {Data: []byte("It rains.\n")},
	}, root)
}

func noVariables(string) string { return "" }

// runTool runs a command line, and returns stdout, stderr and the exit code.
func runTool(line string) (stdout, stderr string, code int) {
	var out, messages bytes.Buffer
	env := &Env{System: system.System{Stderr: &messages, Getenv: noVariables}, Stdout: &out}
	code = Run(context.Background(), greetTree(), strings.Fields(line), env)
	return out.String(), messages.String(), code
}

func TestRunPrintsResultsAndFailures(t *testing.T) {
	for _, c := range []struct {
		line   string
		code   int
		stdout string
		stderr string
	}{
		{line: "greet Ann", stdout: "hello Ann\n", stderr: "that was Ann\n"},
		{
			line: "greet Ann --json", stdout: "{\n  \"name\": \"Ann\",\n  \"warnings\": []\n}\n",
			stderr: "that was Ann\n",
		},
		{
			line: "greet Ann --fail late", code: 3,
			stdout: "hello Ann\n", stderr: "that was Ann\nerror: too late\n",
		},
		{line: "greet Ann --fail why", code: 1, stderr: "error: why\n"},
		{line: "greet nobody", code: 2, stderr: "error: NAME: is nobody\n"},
		{line: "greet Ann --mood sad", code: 2, stderr: "error: --mood: Ann is not sad\n"},
		{
			line: "greet nobody --mood odd x", code: 2,
			stderr: "error: tool greet takes at most 1 argument, got 2\n" +
				"error: NAME: is nobody\nerror: --mood: is no mood\n",
		},
		{line: "greet --mood odd --mood sad", code: 2, stderr: "--mood is given more than once; " +
			"only the last value counts\nerror: NAME: missing\n"},
		{line: "greet", code: 2, stderr: "error: NAME: missing\n"},
		{line: "greet a b", code: 2, stderr: "error: tool greet takes at most 1 argument, got 2\n"},
		{line: "", code: 2, stderr: toolPage},
		{line: "--json", code: 2, stderr: "error: missing command (greet); see `tool --help`\n"},
		{line: "gret", code: 2, stderr: "error: unknown command \"gret\" (did you mean `tool greet`?); " +
			"see `tool --help`\n"},
		{
			line: "wrld", code: 2,
			stderr: "error: unknown command \"wrld\" (did you mean `tool greet world`?); " +
				"see `tool --help`\n",
		},
		{line: "rm", code: 2, stderr: "error: tool has no command \"rm\"; use greet\n"},
		{line: "weather", code: 2, stderr: "error: unknown command \"weather\" " +
			"(did you mean `tool help weather`?); see `tool --help`\n"},
		{line: "help weather", stdout: "It rains.\n"},
		{line: "greet --version", stdout: "[\n  1\n]\n"},
		{line: "greet --no-version Ann", stdout: "", code: 2, stderr: "error: --no-version: unknown option " +
			"(did you mean --version?); see `tool greet --help`\n"},
		{line: "greet --fial x Ann", code: 2, stderr: "error: --fial: unknown option " +
			"(did you mean --fail?); see `tool greet --help`\n"},
		{
			line: "greet Ann --fail late --fail why --fail late", code: 3,
			stdout: "hello Ann\n",
			stderr: "--fail is given more than once; only the last value counts\n" +
				"that was Ann\nerror: too late\n",
		},
		{
			line: "greet Ann --fail late --fail late", code: 3, // as before
			stdout: "hello Ann\n", stderr: "that was Ann\nerror: too late\n",
		},
		{line: "greet --fail", code: 2, stderr: "error: --fail: missing value\n"},
	} {
		stdout, stderr, code := runTool(c.line)
		if strings.Contains(c.line, "--json") && code != 0 { // checked below
			stdout = ""
		}
		if stdout != c.stdout || stderr != c.stderr || code != c.code {
			t.Errorf("tool %s: exit code %d\nstdout: %s\nstderr: %s", c.line, code, stdout, stderr)
		}
	}
}

// With --json, a failure is an object, which has what was found all the same.
func TestFailureInJSON(t *testing.T) {
	stdout, _, code := runTool("greet Ann --fail late --json")
	const want = `{
  "error": {
    "code": "differs",
    "message": "too late",
    "retryable": false,
    "http_status": null,
    "hint": null,
    "problems": []
  },
  "result": {
    "name": "Ann"
  },
  "warnings": []
}
`
	if stdout != want || code != 3 {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

// An option of another tool has no effect; its opposite is not suggested.
func TestIgnoredOption(t *testing.T) {
	stdout, stderr, code := runTool("greet Ann --no-bow")
	const said = "--no-bow has no effect: nobody bows\nthat was Ann\n"
	if stdout != "hello Ann\n" || stderr != said || code != 0 {
		t.Errorf("%d, %q, %q", code, stdout, stderr)
	}
	const unknown = "error: --bow: unknown option; see `tool greet --help`\n"
	if _, stderr, _ = runTool("greet Ann --bow"); stderr != unknown {
		t.Errorf("%q", stderr)
	}
}

// A required option is asked for with the arguments.
func TestRequiredOption(t *testing.T) {
	var region string
	ran := false
	root := &Command{Name: "tool", Sub: []Command{{
		Name: "go",
		Args: Args{Named: []Arg{{Name: "name"}}},
		New: func(f *Flags) Runner {
			f.String("region", "REGION", "", &region).Required = true
			return RunnerFunc(func(*Env) (report.Result, error) {
				ran = true
				return nil, nil
			})
		},
	}}}
	root.New = func(*Flags) Runner { return nil }
	var messages bytes.Buffer
	env := &Env{System: system.System{Stderr: &messages, Getenv: noVariables}}
	code := Run(context.Background(), root, []string{"go", ""}, env)
	const want = "error: --region: missing\nerror: NAME: must not be empty\n"
	if code != 2 || messages.String() != want || ran {
		t.Errorf("%d, %q, ran: %v", code, &messages, ran)
	}
	if code = Run(context.Background(), root, []string{"go", "x", "--region", "r"}, env); code != 0 || !ran {
		t.Errorf("%d, %q", code, &messages)
	}
}

func TestHelpPage(t *testing.T) {
	stdout, _, _ := runTool("greet --help")
	const want = `Greet somebody.

  -f, --fail WHY     fail for this reason
      --mood WORD    be in this mood
      --no-bow       ignored: nobody bows
      --no-input     never ask
      --json         print the result as JSON
  -h, --help         print this help

`
	if stdout != want && stdout != strings.TrimSuffix(want, "\n") {
		t.Errorf("%q", stdout)
	}
}

const toolPage = "tool greets.\n\n" +
	"  greet      greet somebody\n" +
	"  help       print help for a command or a topic\n\n" +
	"  weather    it rains\n"

// The page above a command has the first line of its page.
func TestListsOfCommands(t *testing.T) {
	if stdout, _, _ := runTool("--help"); stdout != toolPage {
		t.Errorf("%q", stdout)
	}
}

func TestComplete(t *testing.T) {
	env := &Env{System: system.System{Getenv: noVariables}}
	abouts := map[string]string{
		"greet":   "greet somebody",
		"help":    aboutHelp,
		"weather": "it rains",
		"--fail":  "fail for this reason",
	}
	for typed, want := range map[string]string{
		"":               "greet help",
		"g":              "greet",
		"greet ":         "world :dirs",
		"greet w":        "world :dirs",
		"greet --f":      "--fail",
		"help ":          "greet weather",
		"greet --fail ":  "",
		"greet -- ":      "",
		"greet --fail=x": "",
	} {
		var words []string
		last := strings.LastIndexByte(typed, ' ')
		line := append(strings.Fields(typed[:last+1]), typed[last+1:])
		for _, w := range Complete(env, greetTree(), line) {
			words = append(words, w.Word)
			if about := abouts[w.Word]; w.About != about {
				t.Errorf("%q is described as %q, want %q", w.Word, w.About, about)
			}
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q is completed by %q, want %q", typed, got, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	schemas := Schemas(greetTree())
	for _, name := range []string{"failure", "help", "greet", "greet-late"} {
		if schemas[name] == nil {
			t.Errorf("there is no schema %s in %v", name, schemas)
		}
	}
	if len(schemas) != 4 {
		t.Errorf("there are more: %v", schemas)
	}
}
