package scaffold

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/report"
)

// option returns the values of an option as somebody types it.
func option(o *bot.Option, value string) bot.Values {
	return bot.Values{o: {Text: value, FromFlag: true}}
}

// A dry run of an update says what it would do, and prints the new configuration. --diff prints a patch.
func TestUpdatePreview(t *testing.T) {
	dir, e := created(t)
	edit(t, dir, "bot/server/bot.py", "import", "# mine\nimport")
	before := filetest.Listing(t, dir)
	job := Update{Project: Project{Target: "bot", Bot: option(bot.OptTTS, "elevenlabs")}, DryRun: true}
	result, err := job.Run(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	text := asText(result)
	for _, want := range []string{
		"vbot 0.1.0 wrote " + e.Path("bot") + "; vbot 0.1.0 would:\n",
		"  merge with your edits:\n    server/bot.py (your edits stay)\n",
		"  replace:\n",
		`"tts_service": "tts_b"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
	isMerged := func(f WrittenFile) bool { return f.Path == "server/bot.py" && f.Action == project.Merged }
	preview := result.(UpdatePreview)
	if !slices.ContainsFunc(preview.Files, isMerged) || preview.TTSService != "tts_b" ||
		len(preview.Variables) != 2 || preview.Variables[0].Name != "ELEVENLABS_API_KEY" {
		t.Errorf("%+v", preview)
	}
	job.DryRun, job.Diff, job.DiffOf = false, true, "server/bot.py"
	result, err = job.Run(context.Background(), e)
	if err != nil {
		t.Error(err)
	}
	if text := asText(result); !strings.HasPrefix(text, "--- a/server/bot.py\n+++ b/server/bot.py\n@@ ") ||
		strings.Contains(text, "+++ b/server/pyproject.toml") || strings.Contains(text, `"tts_service"`) {
		t.Errorf("%s", text)
	}
	job.DiffOf = "server/none.py"
	if _, err = job.Run(context.Background(), e); !report.HasCode(err, report.NotFound) {
		t.Error(err)
	}
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("something was written:\n%s", after)
	}
}

// Without anything to do, an update says so; a lock file is to be refreshed only if its manifest changed.
func TestUpdateWithNothingToDo(t *testing.T) {
	dir, e := created(t)
	filetest.Put(t, dir, "bot/server/uv.lock", "")
	result, err := Update{Project: Project{Target: "bot"}}.Run(context.Background(), e)
	text := asText(result)
	if err != nil || !strings.HasPrefix(text, "nothing to do: all ") || len(result.(Written).Next) > 0 {
		t.Errorf("%v\n%s", err, asText(result))
	}
	job := Update{Project: Project{Target: "bot", Bot: option(bot.OptTTS, "elevenlabs")}}
	result, err = job.Run(context.Background(), e)
	const command = "uv lock --directory bot/server"
	if err != nil || !strings.Contains(asText(result), "refresh their lock files:\n  "+command+"\n") {
		t.Errorf("%v\n%s", err, asText(result))
	}
	if next := result.(Written).Next; len(next) != 1 || next[0] != command {
		t.Errorf("%q", next)
	}
}

// A deleted file stays deleted, and the result says how to restore it.
func TestUpdateOfADeletedFile(t *testing.T) {
	dir, e := created(t)
	remove(t, dir, "bot/server/Dockerfile")
	_, text, err := runWarned(Update{Project: Project{Target: "bot"}}, e)
	for _, want := range []string{
		"did not restore 1 file in ",
		"to restore what you deleted: vbot init bot --check --dry-run | " +
			"vbot init bot --config - --keep-existing\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%v\n%s\nlacks %q", err, text, want)
		}
	}
	_, err = Check{Project: Project{Target: "bot"}}.Run(context.Background(), e)
	f := report.As(err)
	if f.Code != report.Differs || !strings.HasSuffix(f.Message, ": 1 missing") || f.Hint != "" {
		t.Errorf("%+v", f)
	}
}

// An older vbot does not update the project of a later one. It compares it, with a note.
func TestProjectOfALaterVersion(t *testing.T) {
	dir, _ := created(t)
	e, notes := env(dir)
	edit(t, dir, "bot/"+project.RecordName, `"vbot": "0.1.0"`, `"vbot": "0.2.0"`)
	_, err := Update{Project: Project{Target: "bot"}}.Run(context.Background(), e)
	if f := report.As(err); f.Code != report.InvalidConfig || f.Hint != "use vbot 0.2.0 or a later one" {
		t.Errorf("%+v", f)
	}
	if _, err := (Check{Project: Project{Target: "bot"}}).Run(context.Background(), e); err != nil {
		t.Error(err)
	}
	if len(*notes) != 1 || !strings.HasSuffix((*notes)[0], "; this is vbot 0.1.0, which is older") {
		t.Errorf("%q", *notes)
	}
}

// The hint of a check says what would help: an update, or a look at the conflicts.
func TestHintsOfACheck(t *testing.T) {
	job := Check{Project: Project{Target: "bot", Bot: option(bot.OptSTT, "assemblyai")}}
	for _, c := range []struct {
		from, to, hint string
	}{
		{"import", "import", "the same command with --update instead of --check brings it up to date"},
		{
			"DeepgramSTTService(", "MySTTService(",
			"the same command with --update instead of --check shows the conflicts",
		},
	} {
		dir, e := created(t)
		edit(t, dir, "bot/server/bot.py", c.from, c.to)
		_, err := job.Run(context.Background(), e)
		if f := report.As(err); f.Code != report.Differs || f.Hint != c.hint {
			t.Errorf("%s: %+v", c.to, f)
		}
	}
	dir, e := created(t)
	edit(t, dir, "bot/server/bot.py", "import", "# mine\nimport")
	verbose := Check{Project: Project{Target: "bot"}, Verbose: true, Diff: true}
	result, err := verbose.Run(context.Background(), e)
	text := asText(result)
	if f := report.As(err); f.Code != report.Differs || f.Hint != "" {
		t.Errorf("%+v", f)
	}
	for _, want := range []string{"edited     server/bot.py\n", "unchanged  README.md\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
}

// The JSON of a check lists every recorded file with its hash.
func TestJSONOfACheck(t *testing.T) {
	dir, e := created(t)
	remove(t, dir, "bot/server/Dockerfile")
	result, _ := Check{Project: Project{Target: "bot"}}.Run(context.Background(), e)
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Directory string
		WrittenBy string `json:"written_by"`
		Files     []struct {
			Path, State string
			SHA256      *string
		}
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	tree := filetest.Tree(t, dir)
	for _, f := range out.Files {
		text, isThere := tree["bot/"+f.Path]
		switch {
		case !isThere && (f.SHA256 != nil || f.State != project.Missing || f.Path != "server/Dockerfile"):
			t.Errorf("missing: %+v", f)
		case isThere && (f.SHA256 == nil || *f.SHA256 != filetest.Sum(text) || f.State != project.Unchanged):
			t.Errorf("%+v", f)
		}
	}
	if out.Directory != e.Path("bot") || out.WrittenBy != "0.1.0" || len(out.Files) < 10 {
		t.Errorf("%s, %s, %d files", out.Directory, out.WrittenBy, len(out.Files))
	}
}

// An option that takes something from the owner's tools or tests says so, once, and others say nothing.
func TestUpdateSaysWhatIsLost(t *testing.T) {
	const spoken = "a realtime model speaks for itself, and nothing speaks a TTSSpeakFrame"
	eval := bot.ByKey("enable_eval")
	const tests = "nothing runs the tests in server/tests any more"
	realtime := bot.Values{
		bot.OptMode:     {Text: "realtime", FromFlag: true},
		bot.OptRealtime: {Text: "openai", FromFlag: true},
	}
	for _, c := range []struct {
		from, to bot.Values
		note     string
	}{
		{nil, realtime, spoken},
		{nil, bot.Values{eval: {On: false, FromFlag: true}}, tests},
		{nil, bot.Values{bot.OptTTS: {Text: "elevenlabs", FromFlag: true}}, ""},
	} {
		dir := t.TempDir()
		e, notes := env(dir)
		values := bot.Quickstart()
		values[eval] = bot.Value{On: true, FromFlag: true}
		create := Create{Project: Project{Target: "bot", Bot: values}}
		if _, err := create.Run(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		*notes = nil
		update := Update{Project: Project{Target: "bot", Bot: c.to}}
		if _, err := update.Run(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		isDropped := func(note string) bool { return strings.HasPrefix(note, "ignoring ") }
		said := slices.DeleteFunc(*notes, isDropped)
		if c.note == "" && len(said) == 0 {
			continue
		}
		if len(said) != 1 || c.note == "" || !strings.HasPrefix(said[0], c.note) {
			t.Errorf("%q instead of %q", said, c.note)
		}
	}
}

// A bot that loses its last telephone transport loses more than that: a note lists it.
func TestUpdateWithoutTheTelephone(t *testing.T) {
	dir := t.TempDir()
	e, notes := env(dir)
	values := bot.Quickstart()
	values[bot.OptTransports] = bot.Value{List: []string{"daily", "twilio"}, FromFlag: true}
	create := Create{Project: Project{Target: "bot", Bot: values}}
	if _, err := create.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	*notes = nil
	daily := bot.Values{bot.OptTransports: {List: []string{"daily"}, FromFlag: true}}
	update := Update{Project: Project{Target: "bot", Bot: daily}}
	if _, err := update.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	const start = "without its last telephone transport, the bot loses "
	if len(*notes) != 1 || !strings.HasPrefix((*notes)[0], start) {
		t.Errorf("%q", *notes)
	}
}
