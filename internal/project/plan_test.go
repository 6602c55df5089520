package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// countdown is a context that ends at the n-th look at it: a run that is
// interrupted at every point in turn.
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

// project is a tree of some depth.
func project() map[string][]byte {
	files := map[string][]byte{}
	for _, name := range []string{".gitignore", ".vbot.json", "AGENTS.md", "AGENT_IMPORT.md", "README.md", "client/src/lib/a.js", "client/src/main.js", "server/bot.py", "server/evals/a.yaml"} {
		files[name] = []byte("ours: " + name + "\n")
	}
	return files
}

// Interrupted at any point, a run takes back exactly what it made.
func TestInterruptedAnywhere(t *testing.T) {
	for looks := int64(0); ; looks++ {
		dir := t.TempDir()
		filetest.Put(t, dir, "parent/target/server/mine.txt", "mine")
		filetest.Put(t, dir, "parent/target/AGENTS.md", "mine\n")
		filetest.Put(t, dir, "parent/target/AGENT_IMPORT.md", "mine\n")
		before := filetest.Listing(t, dir)
		p, err := New(filepath.Join(dir, "parent", "target"), project(), false, Guides)
		if err != nil || len(p.Conflicts) > 0 {
			t.Fatal(err, p.Conflicts)
		}
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(looks)
		err = p.Apply(ctx)
		if err == nil {
			if looks < 8 {
				t.Fatalf("the run looked only %d times whether it was interrupted", looks)
			}
			return
		}
		if f, ok := errors.AsType[*report.Failure](err); !ok || f.Code != report.Interrupted {
			t.Fatalf("interrupted: %v", err)
		}
		if after := filetest.Listing(t, dir); after != before {
			t.Fatalf("interrupted at look %d\nbefore:\n%s\nafter:\n%s", looks, before, after)
		}
	}
}

// What cannot be undone is named, and everything else is undone.
func TestUndoThatFails(t *testing.T) {
	dir := t.TempDir()
	p, err := New(filepath.Join(dir, "target"), map[string][]byte{"a/b/c": []byte("ours"), "d": []byte("ours")}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	err = p.Apply(&watched{context.Background(), func() error {
		if looks++; looks == 1 {
			return nil
		}
		filetest.Put(t, dir, "target/a/b/mine", "mine")
		return context.Canceled
	}})
	if err == nil || !strings.Contains(err.Error(), "could not be removed: a/b: ") {
		t.Errorf("apply: %v", err)
	}
	if tree := filetest.Tree(t, dir); len(tree) != 1 || tree["target/a/b/mine"] != "mine" {
		t.Errorf("left: %q", tree)
	}
}

// A file that appears after the plan was made is not written over.
func TestFileThatAppearsInBetween(t *testing.T) {
	dir := t.TempDir()
	p, err := New(filepath.Join(dir, "target"), map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours")}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, dir, "target/b/c", "mine")
	before := filetest.Listing(t, dir)
	err = p.Apply(context.Background())
	if !errors.Is(err, fs.ErrExist) {
		t.Fatalf("apply: %v", err)
	}
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A guide that changes after the plan was made is not replaced.
func TestGuideThatChangesInBetween(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "AGENTS.md", "old")
	p, err := New(dir, map[string][]byte{"AGENTS.md": []byte("new"), "other": []byte("ours")}, false, Guides)
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, dir, "AGENTS.md", "edited just now")
	before := filetest.Listing(t, dir)
	if err := p.Apply(context.Background()); err == nil {
		t.Fatal("apply succeeded")
	}
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// While one run writes into a target, another one is told to come back, and one that
// planned with what the first took back again does not report that as there.
func TestTwoRunsAtOnce(t *testing.T) {
	dir := t.TempDir()
	newPlan := func() *Plan {
		p, err := New(filepath.Join(dir, "target"), map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours"), "d": []byte("ours")}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var second *Plan
	looks := 0
	err := newPlan().Apply(&watched{context.Background(), func() error {
		if looks++; looks < 3 {
			return nil
		}
		if second = newPlan(); second.Count(Unchanged) != 2 {
			t.Fatalf("beside half a run, another one plans %v", second.Steps)
		}
		if err := second.Apply(context.Background()); err == nil || err.Error() != "another vbot is writing to "+filepath.Join(dir, "target")+"; nothing was written" {
			t.Errorf("the second run beside the first: %v", err)
		}
		return context.Canceled
	}})
	if report.As(err).Code != report.Interrupted {
		t.Errorf("the first run: %v", err)
	}
	if err := second.Apply(context.Background()); !errors.Is(err, errChanged) {
		t.Errorf("the second run after the first: %v", err)
	}
	if left := filetest.Listing(t, dir); strings.Count(left, "\n") != 1 {
		t.Errorf("left:\n%s", left)
	}
	if err := newPlan().Apply(context.Background()); err != nil {
		t.Errorf("a third run: %v", err)
	}
}

// A file that was kept, though not read, is there at the end.
func TestKeptFileThatVanishes(t *testing.T) {
	dir := t.TempDir()
	filetest.Link(t, "nowhere", filepath.Join(dir, "a"))
	p, err := New(dir, map[string][]byte{"a": []byte("ours"), "b": []byte("ours")}, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(context.Background()); !errors.Is(err, errChanged) {
		t.Errorf("apply: %v", err)
	}
	if tree := filetest.Tree(t, dir); len(tree) != 0 {
		t.Errorf("left: %q", tree)
	}
}

// A link that takes the place of a directory in the target during a run is not
// followed, wherever it leads, and not removed.
func TestLinkThatAppearsInBetween(t *testing.T) {
	for _, to := range []string{"mine", "../outside"} {
		dir := t.TempDir()
		filetest.Put(t, dir, "outside/notes.txt", "mine")
		filetest.Put(t, dir, "target/mine/notes.txt", "mine")
		p, err := New(filepath.Join(dir, "target"), map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours")}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		filetest.Link(t, to, filepath.Join(dir, "target/b"))
		before := filetest.Listing(t, dir)
		if err := p.Apply(context.Background()); err == nil {
			t.Errorf("%s: apply succeeded", to)
		}
		if after := filetest.Listing(t, dir); after != before {
			t.Errorf("%s: before:\n%s\nafter:\n%s", to, before, after)
		}
	}
}

// Undoing removes nothing that somebody else put in the place of what a run made.
func TestUndoKeepsWhatOthersChanged(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "elsewhere", "mine")
	p, err := New(filepath.Join(dir, "target"), map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours"), "d": []byte("ours")}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	p.Apply(&watched{context.Background(), func() error {
		if looks++; looks < 3 {
			return nil
		}
		filetest.Put(t, dir, "target/a", "mine")
		if err := os.RemoveAll(filepath.Join(dir, "target/b")); err != nil {
			t.Fatal(err)
		}
		filetest.Link(t, "../elsewhere", filepath.Join(dir, "target/b"))
		return context.Canceled
	}})
	if tree := filetest.Tree(t, dir); tree["target/a"] != "mine" || tree["target/b"] != "link to ../elsewhere" || len(tree) != 3 {
		t.Errorf("left: %q", tree)
	}
}

// A temporary file takes no name that exists: it may be a link of somebody else's.
func TestTemporaryNameThatExists(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "mine.txt", "mine")
	temp := fmt.Sprintf(".vbot-%d-1.tmp", os.Getpid())
	filetest.Link(t, "mine.txt", filepath.Join(dir, temp))
	p, err := New(dir, map[string][]byte{"a": []byte("ours")}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(context.Background()); err != nil {
		t.Fatal(err)
	}
	if tree := filetest.Tree(t, dir); tree["mine.txt"] != "mine" || tree[temp] != "link to mine.txt" || tree["a"] != "ours" {
		t.Errorf("left: %q", tree)
	}
}

func TestGuideAge(t *testing.T) {
	const stamp = "<!-- vbot %s -->\n"
	for _, c := range []struct {
		text string
		want int
	}{
		{fmt.Sprintf(stamp, "0.1.9"), -1},
		{fmt.Sprintf(stamp, "0.2.0"), 0},
		{fmt.Sprintf(stamp, "0.10.0"), 1},
		{"x\n" + fmt.Sprintf(stamp, "0.0.1") + "\n\n", -1},
		{fmt.Sprintf(stamp, "0.0.1") + "and more", 1},
		{"", 1},
		{"<!-- vbot 999999999999999999999.0.0 -->", 1},
	} {
		if got := (Step{found: []byte(c.text), data: []byte(fmt.Sprintf(stamp, "0.2.0"))}).GuideAge(); got != c.want {
			t.Errorf("guideAge(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

// Interrupted at any point, an update takes back exactly what it did.
func TestUpdateInterruptedAnywhere(t *testing.T) {
	files := project()
	was := map[string]string{"old/deep/gone.py": hexSum([]byte("old")), "server/bot.py": hexSum([]byte("old")), "README.md": hexSum([]byte("old"))}
	for looks := int64(0); ; looks++ {
		dir := t.TempDir()
		for name, data := range files {
			if name != ".gitignore" && name != "server/evals/a.yaml" { // the next version has these, too
				filetest.Put(t, dir, name, string(data))
			}
		}
		for name := range was {
			filetest.Put(t, dir, name, "old")
		}
		before := filetest.Listing(t, dir)
		p, err := Update(dir, files, was)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(looks)
		if err = p.Apply(ctx); err == nil {
			if looks < 5 || strings.Contains(filetest.Listing(t, dir), "/old") {
				t.Fatalf("after %d looks:\n%s", looks, filetest.Listing(t, dir))
			}
			return
		}
		if after := filetest.Listing(t, dir); after != before || report.As(err).Code != report.Interrupted {
			t.Fatalf("interrupted at look %d: %v\nbefore:\n%s\nafter:\n%s", looks, err, before, after)
		}
	}
}

// What somebody edits or removes after an update looked is left alone.
func TestEditDuringAnUpdate(t *testing.T) {
	for _, edit := range []func(bot, gone string) error{
		func(bot, gone string) error { return os.WriteFile(bot, []byte("mine"), 0o644) },
		func(bot, gone string) error { return os.WriteFile(gone, []byte("mine"), 0o644) },
		func(bot, gone string) error { return os.Remove(gone) },
	} {
		dir := t.TempDir()
		filetest.Put(t, dir, "bot.py", "old")
		filetest.Put(t, dir, "old/gone.py", "old")
		p, err := Update(dir, map[string][]byte{"bot.py": []byte("new"), "new.py": []byte("new")},
			map[string]string{"bot.py": hexSum([]byte("old")), "old/gone.py": hexSum([]byte("old"))})
		if err != nil || p.Writes() != 3 {
			t.Fatal(err, p.Steps)
		}
		if err := edit(filepath.Join(dir, "bot.py"), filepath.Join(dir, "old", "gone.py")); err != nil {
			t.Fatal(err)
		}
		before := filetest.Listing(t, dir)
		if err := p.Apply(context.Background()); !errors.Is(err, errChanged) {
			t.Errorf("apply: %v", err)
		}
		if after := filetest.Listing(t, dir); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	}
}
