package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// countdown is a context that is cancelled when Err has been called a number of times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// watched is a context whose Err is a function.
type watched struct {
	context.Context
	err func() error
}

func (w *watched) Err() error { return w.err() }

// project returns the files of a small project with folders in folders.
func project() map[string][]byte {
	files := map[string][]byte{}
	for _, name := range []string{
		".gitignore", ".vbot.json", "AGENTS.md", "AGENT_IMPORT.md", "README.md", "client/src/lib/a.js",
		"client/src/main.js", "server/bot.py", "server/evals/a.yaml",
	} {
		files[name] = []byte("ours: " + name + "\n")
	}
	return files
}

// lockAndPlan locks dir, and plans to write files there.
func lockAndPlan(
	t *testing.T, dir string, files map[string][]byte, keepExisting bool, overwrite []string,
) (*Target, *Plan) {
	t.Helper()
	target, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	p, err := target.PlanCreate(files, keepExisting, overwrite)
	if err != nil || len(p.Conflicts) > 0 {
		t.Fatal(err, p.Conflicts)
	}
	return target, p
}

// lockAndApply writes files into dir.
func lockAndApply(t *testing.T, dir string, files map[string][]byte, keepExisting bool) {
	t.Helper()
	target, p := lockAndPlan(t, dir, files, keepExisting, nil)
	defer target.Close()
	if err := target.Apply(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

// A run that is interrupted at any point undoes exactly what it did.
func TestInterruptedAnywhere(t *testing.T) {
	interruptAnywhere(t, 8, func(dir string) (*Target, *Plan) {
		filetest.Put(t, dir, "parent/target/server/mine.txt", "mine")
		filetest.Put(t, dir, "parent/target/AGENTS.md", "mine\n")
		filetest.Put(t, dir, "parent/target/AGENT_IMPORT.md", "mine\n")
		return lockAndPlan(t, filepath.Join(dir, "parent", "target"), project(), false, GuideFiles)
	})
}

// interruptAnywhere applies a plan again and again, each time in a new directory. The first run is
// interrupted when it first looks for an interruption, the next one when it looks for the second time, and
// so on; each leaves the directory as prepare has made it. It returns the directory of the run that was not
// interrupted, which must have looked at least that many times.
func interruptAnywhere(t *testing.T, least int64, prepare func(dir string) (*Target, *Plan)) (dir string) {
	t.Helper()
	for looks := int64(0); ; looks++ {
		dir := t.TempDir()
		target, p := prepare(dir)
		before := filetest.Listing(t, dir)
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(looks)
		err := target.Apply(ctx, p)
		if err == nil {
			if looks < least {
				t.Fatalf("the run looked only %d times whether it was interrupted", looks)
			}
			return dir
		}
		if after := filetest.Listing(t, dir); after != before || report.As(err).Code != report.Interrupted {
			t.Fatalf("interrupted at look %d: %v\nbefore:\n%s\nafter:\n%s", looks, err, before, after)
		}
	}
}

// What others put into a directory stays, and everything else is undone.
func TestUndoBesideOthers(t *testing.T) {
	dir := t.TempDir()
	target, p := lockAndPlan(t, filepath.Join(dir, "target"),
		map[string][]byte{"a/b/c": []byte("ours"), "d": []byte("ours")}, false, nil)
	looks := 0
	err := target.Apply(&watched{context.Background(), func() error {
		if looks++; looks < 2 {
			return nil
		}
		filetest.Put(t, dir, "target/a/b/mine", "mine")
		return context.Canceled
	}}, p)
	if err == nil || err.Error() != "cancelled; nothing was written" {
		t.Errorf("apply: %v", err)
	}
	if tree := filetest.Tree(t, dir); len(tree) != 1 || tree["target/a/b/mine"] != "mine" {
		t.Errorf("left: %q", tree)
	}
}

// applyInVain applies a plan that fails, and returns its error. Below dir, everything stays as it was.
func applyInVain(t *testing.T, dir string, target *Target, p *Plan) error {
	t.Helper()
	before := filetest.Listing(t, dir)
	err := target.Apply(context.Background(), p)
	if err == nil {
		t.Error("apply succeeded")
	}
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	return err
}

// A file that appears after the plan was made is not overwritten.
func TestFileThatAppearsInBetween(t *testing.T) {
	dir := t.TempDir()
	target, p := lockAndPlan(t, filepath.Join(dir, "target"),
		map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours")}, false, nil)
	filetest.Put(t, dir, "target/b/c", "mine")
	if err := applyInVain(t, dir, target, p); !errors.Is(err, fs.ErrExist) {
		t.Errorf("apply: %v", err)
	}
}

// A guide that changes after the plan was made is not replaced.
func TestGuideThatChangesInBetween(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "AGENTS.md", "old")
	target, p := lockAndPlan(t, dir, map[string][]byte{"AGENTS.md": []byte("new"), "other": []byte("ours")},
		false, GuideFiles)
	filetest.Put(t, dir, "AGENTS.md", "edited just now")
	applyInVain(t, dir, target, p)
}

// What a killed run left is removed, and nothing else.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		".vbot-1-2.tmp", "b/.vbot-33-4.tmp", "mine/.vbot-1-2.tmp", ".vbot-mine.tmp", "b/c",
	} {
		filetest.Put(t, dir, name, "ours")
	}
	filetest.Link(t, "b/c", filepath.Join(dir, ".vbot-1-3.tmp"))
	target, p := lockAndPlan(t, dir, map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours")}, false,
		nil)
	if err := target.Apply(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	var left []string
	for name := range filetest.Tree(t, dir) {
		left = append(left, name)
	}
	slices.Sort(left)
	if want := []string{
		".vbot-1-3.tmp", ".vbot-mine.tmp", "a", "b/c", "mine/.vbot-1-2.tmp",
	}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// A link that takes the place of a directory in the target during a run is not
// followed, wherever it leads, and not removed.
func TestLinkThatAppearsInBetween(t *testing.T) {
	for _, to := range []string{"mine", "../outside"} {
		dir := t.TempDir()
		filetest.Put(t, dir, "outside/notes.txt", "mine")
		filetest.Put(t, dir, "target/mine/notes.txt", "mine")
		target, p := lockAndPlan(t, filepath.Join(dir, "target"),
			map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours")}, false, nil)
		filetest.Link(t, to, filepath.Join(dir, "target/b"))
		applyInVain(t, dir, target, p)
	}
}

// Undoing leaves what another program put in the place of a file or directory of the run.
func TestUndoKeepsWhatOthersChanged(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "elsewhere", "mine")
	target, p := lockAndPlan(t, filepath.Join(dir, "target"),
		map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours"), "d": []byte("ours")}, false, nil)
	looks := 0
	target.Apply(&watched{context.Background(), func() error {
		if looks++; looks < 3 {
			return nil
		}
		filetest.Put(t, dir, "target/a", "mine")
		if err := os.RemoveAll(filepath.Join(dir, "target/b")); err != nil {
			t.Fatal(err)
		}
		filetest.Link(t, "../elsewhere", filepath.Join(dir, "target/b"))
		return context.Canceled
	}}, p)
	if tree := filetest.Tree(t,
		dir); tree["target/a"] != "mine" || tree["target/b"] != "link to ../elsewhere" || len(tree) != 3 {
		t.Errorf("left: %q", tree)
	}
}

// A temporary file never gets the name of an existing file, which may be a link to any other file.
func TestTemporaryNameThatExists(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "mine.txt", "mine")
	temp := fmt.Sprintf(".vbot-%d-1.tmp", os.Getpid())
	filetest.Link(t, "mine.txt", filepath.Join(dir, temp))
	target, p := lockAndPlan(t, dir, map[string][]byte{"a": []byte("ours")}, false, nil)
	if err := target.Apply(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if tree := filetest.Tree(t, dir); tree["mine.txt"] != "mine" || tree[temp] != "link to mine.txt" ||
		tree["a"] != "ours" {
		t.Errorf("left: %q", tree)
	}
}

// An update that is interrupted at any point undoes exactly what it did.
func TestUpdateInterruptedAnywhere(t *testing.T) {
	files := project()
	was := []string{"old/deep/gone.py", "server/bot.py", "README.md"}
	dir := interruptAnywhere(t, 5, func(dir string) (*Target, *Plan) {
		for name, data := range files {
			if name != ".gitignore" && name != "server/evals/a.yaml" { // the next version has these, too
				filetest.Put(t, dir, name, string(data))
			}
		}
		for _, name := range was {
			filetest.Put(t, dir, name, "old")
		}
		return updating(t, dir, files, was...)
	})
	if listing := filetest.Listing(t, dir); strings.Contains(listing, "/old") {
		t.Fatal(listing)
	}
}

// What another program changes or removes after the plan was made is left alone.
func TestEditDuringAnUpdate(t *testing.T) {
	for _, edit := range []func(bot, gone string) error{
		func(bot, gone string) error { return os.WriteFile(bot, []byte("mine"), 0o644) },
		func(bot, gone string) error { return os.WriteFile(gone, []byte("mine"), 0o644) },
		func(bot, gone string) error { return os.Remove(gone) },
	} {
		dir := t.TempDir()
		filetest.Put(t, dir, "bot.py", "old")
		filetest.Put(t, dir, "old/gone.py", "old")
		target, p := updating(t, dir, map[string][]byte{"bot.py": []byte("new"), "new.py": []byte("new")},
			"bot.py", "old/gone.py")
		if p.Writes() != 6 { // three files, a base, the file of attributes, and the record
			t.Fatal(p.Steps)
		}
		if err := edit(filepath.Join(dir, "bot.py"), filepath.Join(dir, "old", "gone.py")); err != nil {
			t.Fatal(err)
		}
		if err := applyInVain(t, dir, target, p); !errors.Is(err, errChanged) {
			t.Errorf("apply: %v", err)
		}
	}
}

// A link that takes the place of a directory that vbot no longer needs is not removed.
func TestLinkInPlaceOfAnOldDirectory(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "mine/notes.txt", "mine")
	filetest.Put(t, dir, "other/gone.py", "x")
	target, p := updating(t, dir, map[string][]byte{"a": []byte("new")}, "old/gone.py")
	filetest.Link(t, "mine", filepath.Join(dir, "old"))
	if err := target.Apply(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if tree := filetest.Tree(t, dir); tree["old"] != "link to mine" {
		t.Errorf("left: %q", tree)
	}
}
