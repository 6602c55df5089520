package scaffold

import (
	"context"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/report"
)

// generated returns a directory with the guides for a coding agent in the folder bot.
func generated(t *testing.T) (dir string, e Env) {
	t.Helper()
	dir = t.TempDir()
	e, _ = env(dir)
	result, err := Guides{Target: "bot"}.Run(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	want := "created 3 files in " + e.Path("bot") + "\n\n" +
		"Next: start your coding agent in bot and ask it for the bot you want.\n"
	if asText(result) != want {
		t.Errorf("guides: %q", asText(result))
	}
	if w := result.(Written); w.Config != nil || len(w.Next) > 0 {
		t.Errorf("%+v", w)
	}
	return dir, e
}

// A bot comes with the guides that vbot writes where there is none, and keeps an edited one with a note.
func TestBotBesideGuides(t *testing.T) {
	for _, isEdited := range []bool{false, true} {
		dir, e := generated(t)
		before := filetest.Tree(t, dir)["bot/AGENTS.md"]
		if isEdited {
			filetest.Put(t, dir, "bot/AGENTS.md", "mine\n"+before)
		}
		_, text, err := runWarned(Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}}, e)
		if err != nil {
			t.Fatal(err)
		}
		const kept = "kept AGENTS.md, which differs from this version's guide; to replace it: " +
			"vbot init --no-input --overwrite-guide "
		if (filetest.Tree(t, dir)["bot/AGENTS.md"] != before) != isEdited ||
			strings.Contains(text, kept+e.Path("bot")) != isEdited {
			t.Errorf("edited %v: %s", isEdited, text)
		}
		if isEdited {
			job := Guides{Target: "bot", ReplaceGuides: project.GuideFiles}
			if _, err := job.Run(context.Background(), e); err != nil {
				t.Error(err)
			}
			if filetest.Tree(t, dir)["bot/AGENTS.md"] != before {
				t.Error("--overwrite-guide keeps the guide")
			}
		}
	}
}

// Beside a bot, the guide for directories without one is not written.
func TestGuidesBesideABot(t *testing.T) {
	dir, e := created(t)
	result, err := Guides{Target: "bot"}.Run(context.Background(), e)
	if err != nil || filetest.Tree(t, dir)["bot/GETTING_STARTED.md"] != "" {
		t.Errorf("%v\n%s", err, asText(result))
	}
}

// Why a guide was kept is said as far as it is known.
func TestKeptGuides(t *testing.T) {
	dir := t.TempDir()
	e, _ := env(dir)
	filetest.Put(t, dir, "bot/AGENTS.md", "mine\n<!-- vbot 0.0.1 -->\n")
	filetest.Put(t, dir, "bot/AGENT_IMPORT.md", strings.Repeat("x", 1<<20+1))
	_, text, err := runWarned(Guides{Target: "bot"}, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"created 1 file in ",
		"kept 2 files in ",
		"kept AGENTS.md, which an older vbot wrote; to replace it: vbot init --no-input --overwrite-guide ",
		"kept AGENT_IMPORT.md, which is a link, unreadable or larger than 1 MiB\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %q", text, want)
		}
	}
	filetest.Put(t, dir, "other/AGENTS.md/x", "mine")
	job := Guides{Target: "other"}
	_, err = job.Run(context.Background(), e)
	f := report.As(err)
	if f.Code != report.Conflict || !strings.HasPrefix(f.Hint, "choose another directory, or move") {
		t.Errorf("%+v", f)
	}
	if _, err := job.Plan(e); !report.HasCode(err, report.Conflict) {
		t.Errorf("plan: %v", err)
	}
}

// A plan says what a job would do, and leaves the conflicts of a bot to the caller.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	e, _ := env(dir)
	job := Create{Project: Project{Target: "bot", Bot: bot.Quickstart()}}
	cfg, err := job.configure(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, dir, "bot/README.md", "mine")
	p, err := job.Plan(e, cfg)
	if err != nil || len(p.Conflicts) != 1 || p.Count(project.Created) < 10 || p.Blocked {
		t.Errorf("%v, %+v", err, p)
	}
	if tree := filetest.Tree(t, dir); len(tree) != 1 {
		t.Errorf("%d files", len(tree))
	}
}
