package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// initArgs scaffolds a small bot into the directory `target`.
func initArgs(more ...string) []string {
	return append(append([]string{"init", "target"}, strings.Fields(bot)...), more...)
}

// put writes a file below dir, and the directories above it.
func put(t testing.TB, dir, name, data string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Whatever stands in the way, a run refuses with all of it listed, changes
// nothing, and says what to do.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name, args string
		prepare    func(t *testing.T, dir string)
	}{
		{"files", "", func(t *testing.T, dir string) {
			put(t, dir, "target/README.md", "mine")
			put(t, dir, "target/server/bot.py", "mine")
			put(t, dir, "target/notes.txt", "mine")
		}},
		{"files-json", "--json", func(t *testing.T, dir string) { put(t, dir, "target/README.md", "mine") }},
		{"empty-file", "", func(t *testing.T, dir string) { put(t, dir, "target/.gitignore", "") }},
		{"file-for-a-directory", "", func(t *testing.T, dir string) { put(t, dir, "target/server", "mine") }},
		{"file-for-a-directory-kept", "--keep-existing", func(t *testing.T, dir string) { put(t, dir, "target/server", "mine") }},
		{"directory-for-a-file", "", func(t *testing.T, dir string) { put(t, dir, "target/README.md/mine", "mine") }},
		{"directory-for-a-file-kept", "--keep-existing", func(t *testing.T, dir string) { put(t, dir, "target/README.md/mine", "mine") }},
		{"link-for-a-file", "", func(t *testing.T, dir string) {
			put(t, dir, "outside.md", "mine")
			put(t, dir, "target/notes.txt", "mine")
			symlink(t, "../outside.md", filepath.Join(dir, "target/README.md"))
		}},
		{"link-for-a-directory", "", func(t *testing.T, dir string) {
			put(t, dir, "outside/mine", "mine")
			put(t, dir, "target/notes.txt", "mine")
			symlink(t, "../outside", filepath.Join(dir, "target/server"))
		}},
		{"link-for-a-directory-kept", "--keep-existing", func(t *testing.T, dir string) {
			put(t, dir, "outside/mine", "mine")
			put(t, dir, "target/notes.txt", "mine")
			symlink(t, filepath.Join(dir, "outside"), filepath.Join(dir, "target/server"))
		}},
		{"link-for-a-file: one that leads nowhere", "", func(t *testing.T, dir string) {
			put(t, dir, "target/notes.txt", "mine")
			symlink(t, "nowhere", filepath.Join(dir, "target/README.md"))
		}},
		{"link-for-a-guide-to-replace", "--overwrite-guide", func(t *testing.T, dir string) {
			put(t, dir, "outside.md", "mine")
			put(t, dir, "target/notes.txt", "mine")
			symlink(t, "../outside.md", filepath.Join(dir, "target/AGENTS.md"))
		}},
		{"target-is-a-file", "", func(t *testing.T, dir string) { put(t, dir, "target", "mine") }},
		{"target-is-a-link-to-nowhere", "", func(t *testing.T, dir string) { symlink(t, "nowhere", filepath.Join(dir, "target")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			before := listing(t, dir)
			r := vbot(t, dir, initArgs(strings.Fields(c.args)...)...)
			r.wantCode(t, 1)
			result, _, _ := strings.Cut(c.name, ": ")
			golden(t, "errors/conflict/"+result+".txt", r.transcript(dir))
			if after := listing(t, dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(at); runtime.GOOS == "windows" && (err != nil || info.Mode().Type() != fs.ModeSymlink) {
		skip(t, "Wine makes no links")
	}
}

// listing is every name below dir with its type and content.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(d.Type().String() + " " + path)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(" " + hexSum(data))
		} else if to, err := os.Readlink(path); err == nil {
			b.WriteString(" -> " + to)
		}
		b.WriteString("\n")
		return nil
	})
	return b.String()
}

// --keep-existing keeps every file and link that exists, and writes the rest.
func TestKeepExisting(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "target/server/bot.py", "mine")
	put(t, dir, "target/notes.txt", "mine")
	put(t, dir, "outside.md", "mine")
	symlink(t, "../outside.md", filepath.Join(dir, "target/README.md"))
	r := vbot(t, dir, initArgs("--keep-existing", "--json")...)
	r.wantCode(t, 0)
	golden(t, "keep-existing.txt", r.transcript(dir))
	tree := readTree(t, dir)
	for _, name := range []string{"target/server/bot.py", "target/notes.txt", "outside.md"} {
		if tree[name] != "mine" {
			t.Errorf("%s holds %q", name, tree[name])
		}
	}
	if tree["target/README.md"] != "link to ../outside.md" || tree["target/server/pyproject.toml"] == "" {
		t.Errorf("README.md: %s", tree["target/README.md"])
	}
	again := vbot(t, dir, initArgs("--keep-existing")...)
	again.wantCode(t, 0)
	if !equalTrees(tree, readTree(t, dir)) {
		t.Error("the second run changed something")
	}
}

// A dry run says what a run would do, and writes nothing, ever.
func TestDryRunBesideFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "target/README.md", "mine")
	put(t, dir, "target/AGENTS.md", "mine")
	before := listing(t, dir)
	for name, args := range map[string][]string{
		"dry-run-refuses": initArgs("--dry-run"),
		"dry-run-keeps":   initArgs("--dry-run", "--keep-existing"),
		"dry-run-fails":   append([]string{"init", "target/README.md"}, strings.Fields(bot+" --dry-run -n x")...),
	} {
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		golden(t, name+".txt", r.transcript(dir))
	}
	if after := listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

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

// Interrupted at any point, a run takes back exactly what it made.
func TestInterruptedAnywhere(t *testing.T) {
	cat := newCatalog()
	for seed := uint64(0); ; seed++ {
		dir := t.TempDir()
		put(t, dir, "parent/target/server/mine.txt", "mine")
		put(t, dir, "parent/target/AGENTS.md", "mine\n")
		put(t, dir, "parent/target/AGENT_IMPORT.md", "mine\n")
		before := listing(t, dir)
		files, err := render(randomBot(t, cat, rand.New(rand.NewPCG(1, 0))), cat)
		if err != nil {
			t.Fatal(err)
		}
		p, err := makePlan(filepath.Join(dir, "parent", "target"), files, false, true)
		if err != nil || len(p.conflicts) > 0 {
			t.Fatal(err, p.conflicts)
		}
		ctx := &countdown{Context: context.Background()}
		ctx.left.Store(int64(seed))
		err = p.apply(ctx)
		if err == nil {
			if seed < 8 {
				t.Fatalf("the run looked only %d times whether it was interrupted", seed)
			}
			return
		}
		if f, ok := errors.AsType[*failure](err); !ok || f.exitCode() != 130 {
			t.Fatalf("interrupted: %v", err)
		}
		if after := listing(t, dir); after != before {
			t.Fatalf("interrupted at look %d\nbefore:\n%s\nafter:\n%s", seed, before, after)
		}
	}
}

// What cannot be undone is named, and everything else is undone.
func TestUndoThatFails(t *testing.T) {
	dir := t.TempDir()
	p, err := makePlan(filepath.Join(dir, "target"), []generatedFile{{path: "a/b/c", data: []byte("ours")}, {path: "d", data: []byte("ours")}}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	err = p.apply(&watched{context.Background(), func() error {
		if looks++; looks == 1 {
			return nil
		}
		put(t, dir, "target/a/b/mine", "mine")
		return context.Canceled
	}})
	if err == nil || !strings.Contains(err.Error(), "could not be removed: a/b: ") {
		t.Errorf("apply: %v", err)
	}
	if tree := readTree(t, dir); len(tree) != 1 || tree["target/a/b/mine"] != "mine" {
		t.Errorf("left: %q", tree)
	}
}

// watched is a context whose Err is a function.
type watched struct {
	context.Context
	err func() error
}

func (w *watched) Err() error { return w.err() }

// A file that appears after the plan was made is not written over.
func TestFileThatAppearsInBetween(t *testing.T) {
	dir := t.TempDir()
	p, err := makePlan(filepath.Join(dir, "target"), []generatedFile{{path: "a", data: []byte("ours")}, {path: "b/c", data: []byte("ours")}}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "target/b/c", "mine")
	before := listing(t, dir)
	err = p.apply(context.Background())
	if !errors.Is(err, fs.ErrExist) {
		t.Fatalf("apply: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A guide that changes after the plan was made is not replaced.
func TestGuideThatChangesInBetween(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "AGENTS.md", "old")
	p, err := makePlan(dir, []generatedFile{{"AGENTS.md", []byte("new"), true}, {"other", []byte("ours"), false}}, false, true)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "AGENTS.md", "edited just now")
	before := listing(t, dir)
	if err := p.apply(context.Background()); err == nil {
		t.Fatal("apply succeeded")
	}
	if after := listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// While one run writes into a target, another one is told to come back, and one that
// planned with what the first took back again does not report that as there.
func TestTwoRunsAtOnce(t *testing.T) {
	dir := t.TempDir()
	newPlan := func() *plan {
		p, err := makePlan(filepath.Join(dir, "target"), []generatedFile{{path: "a", data: []byte("ours")}, {path: "b/c", data: []byte("ours")}, {path: "d", data: []byte("ours")}}, false, false)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var second *plan
	looks := 0
	err := newPlan().apply(&watched{context.Background(), func() error {
		if looks++; looks < 3 {
			return nil
		}
		if second = newPlan(); second.count(actionUnchanged) != 2 {
			t.Fatalf("beside half a run, another one plans %v", second.steps)
		}
		if err := second.apply(context.Background()); err == nil || err.Error() != "another vbot is writing to "+filepath.Join(dir, "target")+"; nothing was written" {
			t.Errorf("the second run beside the first: %v", err)
		}
		return context.Canceled
	}})
	if asFailure(err).Code != codeInterrupted {
		t.Errorf("the first run: %v", err)
	}
	if err := second.apply(context.Background()); !errors.Is(err, errChanged) {
		t.Errorf("the second run after the first: %v", err)
	}
	if left := listing(t, dir); strings.Count(left, "\n") != 1 {
		t.Errorf("left:\n%s", left)
	}
	if err := newPlan().apply(context.Background()); err != nil {
		t.Errorf("a third run: %v", err)
	}
}

// A file that was kept, though not read, is there at the end.
func TestKeptFileThatVanishes(t *testing.T) {
	dir := t.TempDir()
	symlink(t, "nowhere", filepath.Join(dir, "a"))
	p, err := makePlan(dir, []generatedFile{{path: "a", data: []byte("ours")}, {path: "b", data: []byte("ours")}}, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := p.apply(context.Background()); !errors.Is(err, errChanged) {
		t.Errorf("apply: %v", err)
	}
	if tree := readTree(t, dir); len(tree) != 0 {
		t.Errorf("left: %q", tree)
	}
}

// A link that takes the place of a directory in the target during a run is not
// followed, wherever it leads, and not removed.
func TestLinkThatAppearsInBetween(t *testing.T) {
	for _, to := range []string{"mine", "../outside"} {
		dir := t.TempDir()
		put(t, dir, "outside/notes.txt", "mine")
		put(t, dir, "target/mine/notes.txt", "mine")
		p, err := makePlan(filepath.Join(dir, "target"), []generatedFile{{path: "a", data: []byte("ours")}, {path: "b/c", data: []byte("ours")}}, false, false)
		if err != nil {
			t.Fatal(err)
		}
		symlink(t, to, filepath.Join(dir, "target/b"))
		before := listing(t, dir)
		if err := p.apply(context.Background()); err == nil {
			t.Errorf("%s: apply succeeded", to)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%s: before:\n%s\nafter:\n%s", to, before, after)
		}
	}
}

// Undoing removes nothing that somebody else put in the place of what a run made.
func TestUndoKeepsWhatOthersChanged(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "elsewhere", "mine")
	p, err := makePlan(filepath.Join(dir, "target"), []generatedFile{{path: "a", data: []byte("ours")}, {path: "b/c", data: []byte("ours")}, {path: "d", data: []byte("ours")}}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	p.apply(&watched{context.Background(), func() error {
		if looks++; looks < 3 {
			return nil
		}
		put(t, dir, "target/a", "mine")
		if err := os.RemoveAll(filepath.Join(dir, "target/b")); err != nil {
			t.Fatal(err)
		}
		symlink(t, "../elsewhere", filepath.Join(dir, "target/b"))
		return context.Canceled
	}})
	if tree := readTree(t, dir); tree["target/a"] != "mine" || tree["target/b"] != "link to ../elsewhere" || len(tree) != 3 {
		t.Errorf("left: %q", tree)
	}
}

// A temporary file takes no name that exists: it may be a link of somebody else's.
func TestTemporaryNameThatExists(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "mine.txt", "mine")
	temp := fmt.Sprintf(".vbot-%d-1.tmp", os.Getpid())
	symlink(t, "mine.txt", filepath.Join(dir, temp))
	p, err := makePlan(dir, []generatedFile{{path: "a", data: []byte("ours")}}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.apply(context.Background()); err != nil {
		t.Fatal(err)
	}
	if tree := readTree(t, dir); tree["mine.txt"] != "mine" || tree[temp] != "link to mine.txt" || tree["a"] != "ours" {
		t.Errorf("left: %q", tree)
	}
}

// Guides.

func TestGuides(t *testing.T) {
	dir := t.TempDir()
	r := vbot(t, dir, "init", "target")
	r.wantCode(t, 0)
	golden(t, "guides.txt", r.transcript(dir))
	goldenTree(t, "guides", filepath.Join(dir, "target"))
	again := vbot(t, dir, "init", "target", "--json")
	again.wantCode(t, 0)
	golden(t, "guides-again.txt", again.transcript(dir))
}

const stamp = "<!-- vbot %s wrote this; `vbot init --overwrite-guide` brings it up to date. -->\n"

// Existing guides are kept, whoever wrote them, and the person is told how to
// replace them.
func TestExistingGuides(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "target/AGENTS.md", "from long ago\n"+strings.Replace(stamp, "%s", "0.0.9", 1))
	put(t, dir, "target/AGENT_IMPORT.md", "my own")
	put(t, dir, "target/GETTING_STARTED.md", "from the future\n"+strings.Replace(stamp, "%s", "99.0.0", 1))
	before := listing(t, dir)
	r := vbot(t, dir, "init", "target")
	r.wantCode(t, 0)
	golden(t, "guides-kept.txt", r.transcript(dir))
	if after := listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	r = vbot(t, dir, "init", "target", "--overwrite-guide")
	r.wantCode(t, 0)
	golden(t, "guides-replaced.txt", r.transcript(dir))
	goldenTree(t, "guides", filepath.Join(dir, "target"))
	if got := listing(t, dir); strings.Contains(got, ".vbot-") {
		t.Errorf("something was left behind:\n%s", got)
	}
}

// The last line of a guide names the command that replaces it, as a coding agent would
// run it: in the guide's directory, without a terminal.
func TestCommandInGuides(t *testing.T) {
	dir := t.TempDir()
	vbot(t, dir, "init", ".").wantCode(t, 0)
	for name, guide := range readTree(t, dir) {
		_, command, _ := strings.Cut(guide[strings.LastIndex(guide, "<!-- vbot "):], "`vbot ")
		command, _, _ = strings.Cut(command, "`")
		put(t, dir, name, "old")
		vbot(t, dir, strings.Fields(command)...).wantCode(t, 0)
		if readTree(t, dir)[name] != guide {
			t.Errorf("vbot %s did not replace %s", command, name)
		}
	}
}

// An agent that follows the guide to add an option to an edited bot gets all but that
// file, and is shown what to copy.
func TestOptionsChangedAsTheGuideSays(t *testing.T) {
	dir := t.TempDir()
	vbot(t, dir, append([]string{"init", "."}, strings.Fields(bot)...)...).wantCode(t, 0)
	tree := readTree(t, dir)
	put(t, dir, "server/bot.py", tree["server/bot.py"]+"# mine\n")
	_, section, _ := strings.Cut(tree["AGENTS.md"], "## Change the options\n")
	section, _, _ = strings.Cut(section, "\n## ")
	said := ""
	for i, command := range strings.Split(section, "`vbot ")[1:] {
		command, _, _ = strings.Cut(command, "`")
		r := vbot(t, dir, strings.Fields(command)...)
		r.wantCode(t, i) // the update is done; the check finds the edited file
		said += r.stdout
	}
	if tree = readTree(t, dir); !strings.HasSuffix(tree["server/bot.py"], "# mine\n") || tree["server/evals/starter_text.yaml"] == "" {
		t.Errorf("after the update:\n%s", listing(t, dir))
	}
	if !strings.Contains(said, "\n+        \"eval\": lambda") {
		t.Errorf("the commands of the guide said:\n%s", said)
	}
}

// Who has a bot needs no guide to get started.
func TestGuidesBesideABot(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "target/server/bot.py", "mine")
	put(t, dir, "target/GETTING_STARTED.md", "mine")
	r := vbot(t, dir, "init", "target", "--overwrite-guide")
	r.wantCode(t, 0)
	golden(t, "guides-beside-a-bot.txt", r.transcript(dir))
	if got := readTree(t, filepath.Join(dir, "target"))["GETTING_STARTED.md"]; got != "mine" {
		t.Errorf("GETTING_STARTED.md holds %q", got)
	}
}

// A scaffold keeps existing guides, too, and they are never a conflict.
func TestScaffoldBesideGuides(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "target/AGENTS.md", "my own")
	put(t, dir, "target/GETTING_STARTED.md", "my own")
	r := vbot(t, dir, initArgs()...)
	r.wantCode(t, 0)
	golden(t, "scaffold-beside-guides.txt", r.transcript(dir))
	vbot(t, dir, initArgs("--overwrite-guide")...).wantCode(t, 0)
	tree := readTree(t, filepath.Join(dir, "target"))
	if tree["AGENTS.md"] == "my own" || tree["GETTING_STARTED.md"] != "my own" {
		t.Errorf("AGENTS.md: %.20q, GETTING_STARTED.md: %q", tree["AGENTS.md"], tree["GETTING_STARTED.md"])
	}
}

func TestGuideAge(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{strings.Replace(stamp, "%s", "0.0.9", 1), -1},
		{strings.Replace(stamp, "%s", version, 1), 0},
		{strings.Replace(stamp, "%s", "0.10.0", 1), 1},
		{"x\n" + strings.Replace(stamp, "%s", "0.0.1", 1) + "\n\n", -1},
		{strings.Replace(stamp, "%s", "0.0.1", 1) + "and more", 1},
		{"", 1},
		{"<!-- vbot 999999999999999999999.0.0 -->", 1},
	} {
		if got := guideAge([]byte(c.text)); got != c.want {
			t.Errorf("guideAge(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

func BenchmarkQuickstartTree(b *testing.B) { benchmarkTree(b, quickstart()) }

func BenchmarkReactTree(b *testing.B) {
	said := quickstart()
	said[optTransports] = answer{list: []string{"smallwebrtc"}}
	said[optClient] = answer{text: clientReact}
	said[optClientServer] = answer{text: serverVite}
	benchmarkTree(b, said)
}

func benchmarkTree(b *testing.B, said answers) {
	cat := newCatalog()
	cfg, _, _ := resolve(cat, said, "")
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		files, err := render(cfg, cat)
		if err != nil {
			b.Fatal(err)
		}
		p, err := makePlan(filepath.Join(dir, "bot"), files, false, false)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.apply(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.RemoveAll(filepath.Join(dir, "bot"))
		b.StartTimer()
	}
}
