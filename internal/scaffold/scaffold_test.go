package scaffold

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/report"
)

// env returns an environment whose working directory is dir, and the notes of its jobs.
func env(dir string) (Env, *[]string) {
	notes := &[]string{}
	return Env{
		Version: "0.1.0",
		Catalog: catalog.New(),
		Path:    func(name string) string { return filepath.Join(dir, name) },
		Note:    func(format string, args ...any) { *notes = append(*notes, fmt.Sprintf(format, args...)) },
		Warn: func(_, where, format string, args ...any) {
			*notes = append(*notes, strings.TrimPrefix(where+": ", ": ")+fmt.Sprintf(format, args...))
		},
	}, notes
}

// A job is one of Create, Guides, Check and Update.
type job interface {
	Run(context.Context, Env) (report.Result, error)
}

// runWarned runs the job, and returns its result, what it prints for people, and its warnings after that.
func runWarned(j job, e Env) (result report.Result, text string, err error) {
	warnings := ""
	e.Warn = func(_, _, format string, args ...any) { warnings += fmt.Sprintf(format, args...) + "\n" }
	if result, err = j.Run(context.Background(), e); result != nil {
		text = asText(result)
	}
	return result, text + warnings, err
}

// created returns a directory with the quickstart in the folder bot.
func created(t *testing.T) (dir string, e Env) {
	t.Helper()
	dir = t.TempDir()
	e, _ = env(dir)
	job := Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}}
	if _, err := job.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	return dir, e
}

// edit replaces text in a file.
func edit(t *testing.T, dir, name, from, to string) {
	t.Helper()
	text := filetest.Tree(t, dir)[name]
	if !strings.Contains(text, from) {
		t.Fatalf("%s lacks %q", name, from)
	}
	filetest.Put(t, dir, name, strings.Replace(text, from, to, 1))
}

// asText returns what a result prints for people: stdout, followed by stderr.
func asText(r report.Result) string {
	var stdout, stderr strings.Builder
	r.Text(&report.Printer{Stdout: &stdout, Stderr: &stderr})
	return stdout.String() + stderr.String()
}

func TestCreateSaysWhatItWroteAndWhatComesNext(t *testing.T) {
	dir := t.TempDir()
	e, _ := env(dir)
	result, err := Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}}.Run(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	written := result.(Written)
	tree := filetest.Tree(t, dir)
	for _, f := range written.Files {
		if f.Action != project.Created || filetest.Sum(tree["bot/"+f.Path]) != string(f.SHA256) {
			t.Errorf("%+v", f)
		}
	}
	if len(written.Files) != len(tree) || written.Config.ProjectName != "vbot-quickstart" {
		t.Errorf("%d files of %d, %+v", len(written.Files), len(tree), written.Config)
	}
	if !slices.Contains(written.Next, "uv run bot.py") || !strings.Contains(asText(result), "uv run bot.py") {
		t.Errorf("%q\n%s", written.Next, asText(result))
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	dir := t.TempDir()
	e, _ := env(dir)
	job := Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}, DryRun: true}
	result, err := job.Run(context.Background(), e)
	if err != nil || !strings.HasPrefix(asText(result), "{\n  \"project_name\": \"vbot-quickstart\",\n") {
		t.Errorf("%v\n%s", err, asText(result))
	}
	if tree := filetest.Tree(t, dir); len(tree) > 0 {
		t.Errorf("there is %d files", len(tree))
	}
}

func TestConfigurationFileIsOverriddenWithANote(t *testing.T) {
	e, notes := env(t.TempDir())
	file := &ConfigFile{Path: "-", Name: "stdin", Data: []byte(`{
		"transports": ["daily"], "mode": "cascade", "stt_service": "deepgram", "llm_service": "openai",
		"tts_service": "cartesia"
	}`)}
	values := bot.Values{
		bot.OptMode:     {Text: bot.ModeRealtime, FromFlag: true},
		bot.OptRealtime: {Text: "openai", FromFlag: true},
	}
	job := Create{Project: Project{Target: "bot", Bot: values, File: file}, DryRun: true}
	if _, err := job.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	const stt = "ignoring stt_service from the configuration file: " +
		"only cascade mode uses it; the mode is realtime"
	if len(*notes) != 3 || (*notes)[0] != stt {
		t.Errorf("%q", *notes)
	}
}

func TestIncompleteJobNamesWhatIsMissing(t *testing.T) {
	e, _ := env(t.TempDir())
	values := bot.Values{bot.OptTransports: {List: []string{"daily"}, FromFlag: true}}
	job := Create{Project: Project{Target: "bot", Bot: values}}
	_, err := job.Run(context.Background(), e)
	if f := report.As(err); f.Code != report.InvalidConfig || !f.Problems[0].Missing {
		t.Errorf("%+v", f)
	}
	if missing := job.Missing(e); !slices.Equal(missing, []string{"--mode"}) {
		t.Errorf("missing: %q", missing)
	}
}

func TestCheckListsWhatDiffers(t *testing.T) {
	dir, e := created(t)
	job := Check{Project: Project{Target: "bot"}}
	result, err := job.Run(context.Background(), e)
	if err != nil || !strings.HasPrefix(asText(result), "all ") {
		t.Errorf("%v\n%s", err, asText(result))
	}
	edit(t, dir, "bot/server/bot.py", "import", "# mine\nimport")
	result, err = job.Run(context.Background(), e)
	if !report.HasCode(err, report.Differs) || asText(result) != "edited     server/bot.py\n" {
		t.Errorf("%v\n%s", err, asText(result))
	}
}

func TestUpdateKeepsEditsAndSaysWhatItNeeds(t *testing.T) {
	dir, e := created(t)
	edit(t, dir, "bot/server/bot.py", "import", "# mine\nimport")
	values := bot.Values{bot.OptTTS: {Text: "elevenlabs", FromFlag: true}}
	result, err := Update{Project: Project{Target: "bot", Bot: values}}.Run(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	text := filetest.Tree(t, dir)["bot/server/bot.py"]
	if !strings.Contains(text, "# mine\n") || !strings.Contains(text, "ElevenLabs") {
		t.Errorf("bot.py:\n%s", text)
	}
	for _, want := range []string{"merged with your edits 1 file", "ELEVENLABS_API_KEY"} {
		if !strings.Contains(asText(result), want) {
			t.Errorf("%s lacks %q", asText(result), want)
		}
	}
}

func TestUpdateThatIsDeclinedWritesNothing(t *testing.T) {
	dir, e := created(t)
	before := filetest.Listing(t, dir)
	no := errors.New("no")
	e.Confirm = func(context.Context, string) error { return no }
	values := bot.Values{bot.OptTTS: {Text: "elevenlabs", FromFlag: true}}
	result, err := Update{Project: Project{Target: "bot", Bot: values}}.Run(context.Background(), e)
	if result != nil || err != no || filetest.Listing(t, dir) != before {
		t.Errorf("%v, %v\n%s", result, err, filetest.Listing(t, dir))
	}
}

func TestUpdateWithConflicts(t *testing.T) {
	dir, e := created(t)
	edit(t, dir, "bot/server/bot.py", "DeepgramSTTService(", "MySTTService(")
	before := filetest.Listing(t, dir)
	job := Update{Project: Project{Target: "bot", Bot: option(bot.OptSTT, "assemblyai")}}
	result, err := job.Run(context.Background(), e)
	if result != nil || !report.HasCode(err, report.Conflict) || filetest.Listing(t, dir) != before {
		t.Errorf("%v, %v", result, err)
	}
	job.Markers = true
	result, err = job.Run(context.Background(), e)
	text := asText(result)
	if !report.HasCode(err, report.Conflict) || !strings.Contains(text, "conflicts between markers") {
		t.Errorf("%v\n%s", err, text)
	}
	if text := filetest.Tree(t, dir)["bot/server/bot.py"]; !strings.Contains(text, "<<<<<<<") {
		t.Error("bot.py has no markers")
	}
}

func TestUpdateWithoutARecord(t *testing.T) {
	_, e := created(t)
	for target, hint := range map[string]string{
		"bot/server": "the project is in " + e.Path("bot") + ": vbot init bot --update",
		"other":      "",
	} {
		_, err := Update{Project: Project{Target: target}}.Run(context.Background(), e)
		if f := report.As(err); f.Code != report.NotFound || f.Hint != hint {
			t.Errorf("%s: %+v", target, f)
		}
	}
}

// The hint differs between a merge conflict in the record and other damage.
func TestUpdateWithADamagedRecord(t *testing.T) {
	for text, hint := range map[string]string{
		"<<<<<<< HEAD\n":                     "choose one side: ",
		"{\n<<<<<<< HEAD\n  \"vbot\": \"1\"": "choose one side: ",
		"{":                                  "to create it again, remove it ",
		`{"vbot": "<<<<<<< HEAD"}`:           "to create it again, remove it ",
	} {
		dir, e := created(t)
		filetest.Put(t, dir, "bot/"+project.RecordName, text)
		_, err := Update{Project: Project{Target: "bot"}}.Run(context.Background(), e)
		if f := report.As(err); f.Code != report.InvalidConfig || !strings.HasPrefix(f.Hint, hint) {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// Another language changes the files of vbot and of the options; a note says that agent.py stays as it is.
func TestUpdateOfTheLanguage(t *testing.T) {
	dir, _ := created(t)
	e, notes := env(dir)
	edit(t, dir, "bot/server/agent.py", "a friendly assistant", "Mila")
	values := bot.Values{bot.OptLanguage: {Text: "fr", FromFlag: true}}
	update := Update{Project: Project{Target: "bot", Bot: values}}
	if _, err := update.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	tree := filetest.Tree(t, dir)
	isFrench := strings.Contains(tree["bot/server/sentences.py"], "Désolé")
	if !isFrench || !strings.Contains(tree["bot/server/agent.py"], "You are Mila") {
		t.Errorf("%s\n%s", tree["bot/server/sentences.py"], tree["bot/server/agent.py"])
	}
	if len(*notes) != 1 || !strings.Contains((*notes)[0], "agent.py stays in the language") {
		t.Errorf("%q", *notes)
	}
}
