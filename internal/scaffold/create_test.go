package scaffold

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/report"
)

// remove removes a file.
func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

// The hint for files in the way says whether --update or --keep-existing would help.
func TestHintsForFilesInTheWay(t *testing.T) {
	for name, hint := range map[string]string{
		"bot/README.md": "choose another directory, move them away, or use --keep-existing to write only " +
			"missing files",
		"bot/README.md/x": "choose another directory, or move them away; --keep-existing does not help " +
			"with directories and links",
	} {
		dir := t.TempDir()
		e, _ := env(dir)
		filetest.Put(t, dir, name, "mine")
		_, err := Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}}.Run(context.Background(), e)
		if f := report.As(err); f.Code != report.Conflict || f.Hint != hint || len(f.Problems) != 1 {
			t.Errorf("%s: %+v", name, f)
		}
		if tree := filetest.Tree(t, dir); len(tree) != 1 {
			t.Errorf("%s: %d files", name, len(tree))
		}
	}
	dir, e := created(t)
	edit(t, dir, "bot/README.md", "#", "# mine")
	values := bot.Quickstart()
	values[bot.OptTTS] = bot.Value{Text: "elevenlabs", FromFlag: true}
	e.CatalogDir = "mine"
	_, err := Create{Project: Project{Target: "bot", Bot: values}}.Run(context.Background(), e)
	const start = "to change the project and keep your edits: `vbot init "
	if f := report.As(err); !strings.HasPrefix(f.Hint, start) || !strings.Contains(f.Hint, " --update ") ||
		!strings.Contains(f.Hint, "--tts elevenlabs") || !strings.Contains(f.Hint, " --catalog mine`") {
		t.Errorf("%+v", f)
	}
}

// Files that --keep-existing keeps are named, and a README.md that vbot did not write is not pointed at.
func TestKeepExisting(t *testing.T) {
	dir := t.TempDir()
	e, notes := env(dir)
	filetest.Put(t, dir, "bot/README.md", "mine")
	job := Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}, KeepExisting: true, DryRun: true}
	result, err := job.Run(context.Background(), e)
	if err != nil || !strings.Contains(asText(result), "would keep: README.md\n") {
		t.Errorf("%v\n%s", err, asText(result))
	}
	job.KeepExisting = false
	result, err = job.Run(context.Background(), e)
	const wouldConflict = "would conflict: README.md: exists with different content"
	preview := result.(Preview)
	inTheWay := func(f WrittenFile) bool { return f.Path == "README.md" && f.Action == conflict }
	if err != nil || !slices.Contains(*notes, wouldConflict) ||
		!slices.ContainsFunc(preview.Files, inTheWay) || preview.ProjectName != "vbot-quickstart" {
		t.Errorf("%v, %q\n%+v", err, *notes, preview)
	}
	job = Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}, KeepExisting: true, ListFiles: true}
	result, err = job.Run(context.Background(), e)
	text := asText(result)
	if err != nil || !strings.Contains(text, "kept 1 file in "+e.Path("bot")+":\n  README.md\n") ||
		!strings.Contains(text, "AGENTS.md") || filetest.Tree(t, dir)["bot/README.md"] != "mine" {
		t.Errorf("%v\n%s", err, text)
	}
}

// A dry run with a target that cannot be used says so, and prints the configuration all the same.
func TestDryRunThatWouldFail(t *testing.T) {
	dir := t.TempDir()
	e, notes := env(dir)
	filetest.Put(t, dir, "file", "")
	job := Create{Project: Project{Target: "file", Bot: bot.Quickstart()}, DryRun: true}
	result, err := job.Run(context.Background(), e)
	want := "would fail: " + e.Path("file") + " is a file, not a directory"
	if err != nil || !strings.HasPrefix(strings.Join(*notes, ""), want) ||
		!strings.HasPrefix(asText(result), "{\n") {
		t.Errorf("%v, %q\n%s", err, *notes, asText(result))
	}
}

// The command line of a job does the same without asking.
func TestCommandLine(t *testing.T) {
	plain, _ := env(t.TempDir())
	custom := plain
	custom.CatalogDir = "c d"
	file := &ConfigFile{Path: "a b.json"}
	for _, c := range []struct {
		job  interface{ CommandLine(Env) string }
		env  Env
		want string
	}{
		{
			job:  Create{Project: Project{Target: "bot", Bot: option(bot.OptTTS, "elevenlabs")}},
			env:  plain,
			want: "vbot init bot --tts elevenlabs",
		},
		{
			job:  Create{Project: Project{Target: "bot", File: file}, KeepExisting: true},
			env:  custom,
			want: "vbot init bot --config 'a b.json' --catalog 'c d' --keep-existing",
		},
		{
			job:  Create{Project: Project{Target: "bot"}, ReplaceGuides: project.GuideFiles[:1]},
			env:  plain,
			want: "vbot init bot",
		},
		{
			job:  Guides{Target: "bot", ReplaceGuides: project.GuideFiles},
			env:  custom,
			want: "vbot init bot --no-input --catalog 'c d' --overwrite-guide",
		},
	} {
		if got := c.job.CommandLine(c.env); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// The variables that a bot needs are complete: a program that has values for one list of each entry has what
// the bot requires.
func TestNeededVariables(t *testing.T) {
	e, _ := env(t.TempDir())
	values := bot.Quickstart()
	values[bot.OptTransports] = bot.Value{List: []string{"twilio", "smallwebrtc"}}
	values[bot.OptBotType] = bot.Value{Text: bot.BotTelephony}
	values[bot.OptSTT] = bot.Value{Text: "nvidia"}
	values[bot.OptTTS] = bot.Value{Text: "nvidia"}
	job := Create{Project: Project{Target: "bot", Bot: values}, DryRun: true}
	result, err := job.Run(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	const openai = "https://platform.openai.com/api-keys"
	const nvidia = "https://build.nvidia.com/settings/api-keys"
	account := NeededVariable{
		Name:      "TWILIO_ACCOUNT_SID",
		Or:        [][]string{},
		From:      "https://console.twilio.com",
		Only:      "tel_a",
		OnlyLabel: "Twilio",
	}
	token := account
	token.Name = "TWILIO_AUTH_TOKEN"
	token.Or = [][]string{{"TWILIO_API_KEY", "TWILIO_API_SECRET"}}
	token.OnlyOne = true
	want := []NeededVariable{
		// The recognizer and the voice need the same key, unless each has a server of its own.
		{Name: "NVIDIA_API_KEY", Or: [][]string{{"NVIDIA_STT_SERVER"}}, From: nvidia},
		{Name: "OPENAI_API_KEY", Or: [][]string{{"OPENAI_BASE_URL"}}, From: openai},
		{Name: "NVIDIA_API_KEY", Or: [][]string{{"NVIDIA_TTS_SERVER"}}, From: nvidia},
		account,
		token,
	}
	if got := result.(Preview).Variables; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	// Two services with the same requirement have one entry.
	values[bot.OptTTS] = bot.Value{Text: "sarvam"}
	values[bot.OptSTT] = bot.Value{Text: "sarvam"}
	if result, err = job.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range result.(Preview).Variables {
		names = append(names, v.Name)
	}
	const all = "SARVAM_API_KEY OPENAI_API_KEY TWILIO_ACCOUNT_SID TWILIO_AUTH_TOKEN"
	if got := strings.Join(names, " "); got != all {
		t.Error(got)
	}
}
