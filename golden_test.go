package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sebdah/goldie/v2"

	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/templates"
)

// goldens are the golden files of this repository.
var goldens = &goldenDir{path: "golden"}

// skipped says that a test was skipped, so that not all golden files were produced.
var skipped atomic.Bool

// updating reports whether this run writes the golden files instead of comparing
// with them.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// parallel lets the test run in parallel with others, except while golden files are written: each golden
// project refers to files of earlier ones.
//
// A test runs alone if it changes the mode of new files, mounts a file system (one that another
// test's process has inherited cannot be unmounted), needs a port or a pipe that nobody else
// has, or compares what vbot does with the time that it takes.
func parallel(t *testing.T) {
	if !updating() {
		t.Parallel()
	}
}

// afterGoldens is called by a test that reads golden files of other tests. With -update, these tests come
// first: the testing package starts parallel tests after all others.
func afterGoldens(t *testing.T) { t.Parallel() }

// skip skips the test, and notes that not all tests ran.
func skip(t *testing.T, reason ...any) {
	t.Helper()
	skipped.Store(true)
	t.Skip(reason...)
}

// A goldenDir is a folder of golden files, and what the tests of this run produced for it.
//
// With -update, each file is written as soon as its test has produced it, whatever else fails. Files and
// sections that no test produced are removed by finish, if every test ran and passed.
//
// A golden file of sections has several short texts, such as the output of similar commands. Each section
// begins with a line `=== NAME`; they are sorted by name.
type goldenDir struct {
	path   string
	update bool

	mu       sync.Mutex
	produced map[string]bool              // files that a test produced or read, as paths below path
	sections map[string]map[string]string // by file, and by name: the sections that tests produced
	written  []string                     // what -update wrote: paths, with the sections if a file has some
	removed  []string
}

// golden compares got with golden/name, or writes that with -update.
func golden(t testing.TB, name string, got []byte) {
	t.Helper()
	if problem := goldens.file(filepath.FromSlash(name), string(lasting(got))); problem != "" {
		t.Error(problem)
	}
}

// section compares got with the section of the golden file, or writes that with -update. Two tests may have
// one section, with the same text.
func section(t testing.TB, file, name string, got []byte) {
	t.Helper()
	text := strings.TrimSuffix(string(lasting(got)), "\n") + "\n"
	if problem := goldens.section(filepath.FromSlash(file), name, text); problem != "" {
		t.Error(problem)
	}
}

// rewrite writes a file of the repository, with -update.
func rewrite(t testing.TB, path, text string) {
	t.Helper()
	goldens.mu.Lock()
	defer goldens.mu.Unlock()
	if err := goldens.write(path, text, path); err != nil {
		t.Fatal(err)
	}
}

// use notes that a test reads the file, so that it is not taken for out of date.
func (g *goldenDir) use(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.markProduced(name)
}

func (g *goldenDir) markProduced(name string) {
	if g.produced == nil {
		g.produced = map[string]bool{}
	}
	g.produced[filepath.FromSlash(name)] = true
}

// file compares the text with the golden file, or writes it. It returns what is wrong, or "".
func (g *goldenDir) file(name, text string) (problem string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.markProduced(name)
	at := filepath.Join(g.path, name)
	want, err := os.ReadFile(at)
	switch {
	case err == nil && string(want) == text:
		return ""
	case g.update:
		if err := g.write(at, text, at); err != nil {
			return err.Error()
		}
		return ""
	case err != nil:
		return fmt.Sprintf("%v; `make golden` writes it:\n%s", err, text)
	}
	return at + ":\n" + goldie.Diff(goldie.ClassicDiff, text, string(want))
}

// section compares the text with the section, or writes it. It returns what is wrong, or "".
func (g *goldenDir) section(file, name, text string) (problem string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.markProduced(file)
	at := filepath.Join(g.path, file)
	if earlier, twice := g.sections[file][name]; twice && earlier != text {
		return fmt.Sprintf("two tests have the section %q of %s, with other texts:\n%s\n%s", name, at,
			earlier, text)
	}
	if g.sections == nil {
		g.sections = map[string]map[string]string{}
	}
	if g.sections[file] == nil {
		g.sections[file] = map[string]string{}
	}
	g.sections[file][name] = text
	all, err := readSections(at)
	if err != nil && !(g.update && errors.Is(err, fs.ErrNotExist)) {
		return err.Error()
	}
	want, ok := all[name]
	switch {
	case ok && want == text:
		return ""
	case g.update:
		all[name] = text
		if err := g.write(at, joinSections(all), fmt.Sprintf("%s: %s", at, name)); err != nil {
			return err.Error()
		}
		return ""
	case !ok:
		return fmt.Sprintf("%s has no section %q; `make golden` writes it:\n%s", at, name, text)
	}
	return fmt.Sprintf("section %q of %s:\n%s", name, at, goldie.Diff(goldie.ClassicDiff, text, want))
}

// readSections returns the sections of the file, by name.
func readSections(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	sections := map[string]string{}
	for _, part := range strings.Split("\n"+strings.TrimSuffix(string(data), "\n"), "\n=== ")[1:] {
		name, text, _ := strings.Cut(part+"\n", "\n")
		sections[name] = text
	}
	return sections, err
}

func joinSections(sections map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		b.WriteString("=== " + name + "\n" + sections[name])
	}
	return b.String()
}

// write replaces the file with one that holds the text, and notes what was written.
func (g *goldenDir) write(path, text, what string) error {
	g.written = append(g.written, what)
	return replaceFile(path, text)
}

// replaceFile replaces the file with one that holds the text, in one step.
func replaceFile(path, text string) error {
	return errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path+".new", []byte(text), 0o644),
		os.Rename(path+".new", path),
	)
}

// remove removes the file, and its folder if that is empty then.
func (g *goldenDir) remove(path string) error {
	g.removed = append(g.removed, path)
	err := os.Remove(path)
	for dir := filepath.Dir(path); dir != g.path && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return err
}

// finish ends a run of the tests, and returns its exit code. allRan says that no test was left out, and
// passed that none failed. Only if both are true, files and sections that no test produced are known to be
// out of date: -update removes them, and without it, they are a failure, as two files with the same content
// are. With -update, finish writes to out what this run wrote, removed and left.
func (g *goldenDir) finish(out io.Writer, allRan, passed bool) (code int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !passed {
		code = 1
	}
	complete := allRan && passed
	unused, same, err := g.survey()
	if complete && g.update {
		err = errors.Join(err, g.removeUnused(unused))
		unused = nil
	}
	if g.update {
		list := func(what string, names []string) {
			fmt.Fprintf(out, "golden files: %s %d\n", what, len(names))
			for _, name := range names {
				fmt.Fprintln(out, "  "+name)
			}
		}
		list("wrote", g.written)
		list("removed", g.removed)
		switch {
		case !allRan:
			fmt.Fprintln(out, "golden files: left what no test produced: only some ran")
		case !passed:
			list("a test failed; left what none produced:", unused)
		}
	} else if complete {
		for _, name := range unused {
			fmt.Fprintf(out, "%s: no test reads it; `make golden` removes it\n", name)
			code = 1
		}
	}
	if complete {
		for _, pair := range same {
			fmt.Fprintln(out, pair+"; `make golden` keeps a file of projects once; cases with one result "+
				"share a name")
			code = 1
		}
	}
	if err != nil {
		fmt.Fprintln(out, err)
		code = 1
	}
	return code
}

// survey returns the paths of files that no test produced, and `FILE: SECTION` for sections that none did.
// same has a sentence for each two files with the same content.
func (g *goldenDir) survey() (unused, same []string, err error) {
	seen := map[string]string{}
	err = filepath.WalkDir(g.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(g.path, path)
		if !g.produced[name] {
			unused = append(unused, path)
			return nil
		}
		if produced := g.sections[name]; produced != nil {
			onDisk, err := readSections(path)
			if err != nil {
				return err
			}
			for _, section := range slices.Sorted(maps.Keys(onDisk)) {
				if _, ok := produced[section]; !ok {
					unused = append(unused, path+": "+section)
				}
			}
		}
		data, err := os.ReadFile(path)
		if other, ok := seen[string(data)]; ok && filepath.Ext(path) != ".files" {
			same = append(same, path+" holds the same as "+other)
		}
		seen[string(data)] = path
		return err
	})
	return unused, same, err
}

// removeUnused removes files and sections that survey found.
func (g *goldenDir) removeUnused(unused []string) error {
	var errs []error
	for _, name := range unused {
		path, section, isSection := strings.Cut(name, ": ")
		if !isSection {
			errs = append(errs, g.remove(path))
			continue
		}
		all, err := readSections(path)
		delete(all, section)
		errs = append(errs, err, replaceFile(path, joinSections(all)))
		g.removed = append(g.removed, name)
	}
	return errors.Join(errs...)
}

// outlined replaces the longer hunks of the patches in text: they have lines of templates, which
// golden projects show.
func outlined(text []byte) []byte {
	var out, hunk []string
	end := func() {
		if len(hunk) > 5 {
			hunk = []string{"[...]\n"}
		}
		out, hunk = append(out, hunk...), nil
	}
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			end()
			hunk = []string{line}
		case len(hunk) > 0 && strings.ContainsAny(line[:1], "-+ \\") && !strings.HasPrefix(line, "--- "):
			hunk = append(hunk, line)
		default:
			end()
			out = append(out, line)
		}
	}
	end()
	return []byte(strings.Join(out, ""))
}

var sum = regexp.MustCompile(`"[0-9a-f]{64}"`)

// lasting replaces text that does not help a reader of a golden file: sums of files, which change with
// each template, and differences of Windows.
func lasting(text []byte) []byte {
	return sum.ReplaceAll(asOnUnix(text), []byte(`"SHA-256"`))
}

// asOnUnix replaces differences of Windows: separators in paths and texts of the system's
// errors.
func asOnUnix(text []byte) []byte {
	if runtime.GOOS != "windows" {
		return text
	}
	var pairs []string
	for code, message := range map[syscall.Errno]string{
		1: "is a directory",
		2: "no such file or directory",
		3: "no such file or directory",
	} {
		pairs = append(pairs, code.Error(), message)
	}
	text = []byte(strings.NewReplacer(pairs...).Replace(string(text)))
	path := regexp.MustCompile(`DIR(\\{1,2}[^\\\s"';:]+)+|[\w -]\\{1,2}(server|client)\b|\\nowhere\\`)
	text = path.ReplaceAllFunc(text,
		func(path []byte) []byte { return regexp.MustCompile(`\\+`).ReplaceAll(path, []byte("/")) })
	text = regexp.MustCompile(`(cd )"(.*)"`).ReplaceAll(text, []byte("$1'$2'")) // see shellQuote
	return text
}

// goldenTree compares the project in dir with the golden project of that name.
//
// A golden project is a folder like the real one, without files that are identical in an earlier golden
// project, or that are copied from templates/ as they are. golden/name.files lists the whole project, one
// path per line, and where each of those files is: `.gitignore -> quickstart/.gitignore`.
func goldenTree(t *testing.T, name, dir string) {
	t.Helper()
	got := filetest.Tree(t, dir)
	maps.DeleteFunc(got, func(path, _ string) bool {
		return project.IsInternal(path)
	}) // checkRecord compares these
	if name != "quickstart" {
		// checkRecord reads it. As a golden file, each change would show in each project.
		delete(got, project.RecordName)
	}
	if updating() {
		writeGoldenTree(t, name, got)
	}
	where := goldenFiles(t, name)
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if where[path] == "" {
			t.Errorf("the run made %s, which the golden project %s lacks", path, name)
			continue
		}
		if strings.HasPrefix(where[path], "../") {
			if got[path] != document(t, filepath.Join("golden", where[path])) {
				t.Errorf("%s has %s with other bytes than templates/", name, path)
			}
			continue
		}
		golden(t, where[path], []byte(got[path]))
	}
	for _, path := range slices.Sorted(maps.Keys(where)) {
		if _, ok := got[path]; !ok {
			t.Errorf("the golden project %s has %s, which the run did not make", name, path)
		}
	}
}

// goldenFiles says where each file of a golden project is, below golden/.
func goldenFiles(t testing.TB, name string) map[string]string {
	t.Helper()
	where := map[string]string{}
	list, err := os.ReadFile(filepath.Join("golden", name+".files"))
	if errors.Is(err, fs.ErrNotExist) {
		for path := range filetest.Tree(t, filepath.Join("golden", name)) {
			where[path] = name + "/" + path
		}
		return where
	} else if err != nil {
		t.Fatal(err)
	}
	goldens.use(name + ".files")
	for line := range strings.Lines(string(list)) {
		path, elsewhere, found := strings.Cut(strings.TrimSuffix(line, "\n"), " -> ")
		if where[path] = elsewhere; !found {
			where[path] = name + "/" + path
		}
	}
	return where
}

// goldenProjects are the golden projects, each after those that its files may be in.
func goldenProjects(t testing.TB) []string {
	t.Helper()
	return append([]string{"guides", "quickstart"}, goldenBots(t)...)
}

// golden/README.md describes each golden project. There are at most ten, with few enough files to read
// them.
func TestGoldenProjects(t *testing.T) {
	afterGoldens(t)
	goldens.use("README.md")
	var listed []string
	table, _, _ := strings.Cut(document(t, "golden/README.md"), "\n## Scenarios\n")
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		listed = append(listed, m[1])
	}
	if projects := goldenProjects(t); !slices.Equal(listed, projects) || len(projects) > 10 {
		t.Errorf("golden/README.md lists %q; there are %q, and at most ten are to be", listed, projects)
	}
	if n := len(filetest.Tree(t, "golden")); n > 400 {
		t.Errorf("golden has %d files, more than 400", n)
	}
}

// goldenBots are the projects that golden/bots/NAME.json describes.
func goldenBots(t testing.TB) (names []string) {
	t.Helper()
	files, err := filepath.Glob("golden/bots/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("golden/bots has no bot: ", err)
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.ToSlash(f[len("golden/"):]), ".json"))
	}
	slices.Sort(names) // a name before its longer forms
	return names
}

// configurations are those of the golden projects and of more bots, each as a dry run prints it.
func configurations(t testing.TB) (all []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(document(t, "golden/more-bots.json")), &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range goldenBots(t) {
		all = append(all, json.RawMessage(document(t, "golden/"+name+".json")))
	}
	return all
}

// writeGoldenTree replaces a golden project.
func writeGoldenTree(t *testing.T, name string, tree map[string]string) {
	t.Helper()
	kept := map[string]string{} // where the earlier projects have it, by what it holds
	for _, earlier := range goldenProjects(t) {
		if earlier == name {
			break
		}
		for path, data := range filetest.Tree(t, filepath.Join("golden", earlier)) {
			kept[data] = cmp.Or(kept[data], earlier+"/"+path)
		}
	}
	own := map[string]string{} // the files that this project has itself
	var list strings.Builder
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if source, err := templates.Files.ReadFile(path); err == nil && string(source) == tree[path] {
			fmt.Fprintf(&list, "%s -> ../templates/%s\n", path, path)
			continue
		}
		if at, ok := kept[tree[path]]; ok {
			fmt.Fprintf(&list, "%s -> %s\n", path, at)
			continue
		}
		kept[tree[path]] = name + "/" + path
		own[path] = string(lasting([]byte(tree[path])))
		fmt.Fprintln(&list, path)
	}
	folder := filepath.Join("golden", name)
	listed := map[string]string{}
	if len(own) < len(tree) {
		listed[name+".files"] = list.String()
	}
	replaceFiles(t, folder, filetest.Tree(t, folder), own)
	replaceFiles(t, "golden", filesAt("golden", name+".files"), listed)
}

// filesAt returns the file of that name in dir, if there is one, as a tree.
func filesAt(dir, name string) map[string]string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return map[string]string{name: string(data)}
}

// replaceFiles makes the files in folder, which are those of was, those of want.
func replaceFiles(t *testing.T, folder string, was, want map[string]string) {
	t.Helper()
	for path, text := range want {
		if before, ok := was[path]; !ok || before != text {
			rewrite(t, filepath.Join(folder, path), text)
		}
	}
	for path := range was {
		if _, ok := want[path]; !ok {
			goldens.mu.Lock()
			err := goldens.remove(filepath.Join(folder, path))
			goldens.mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// everyTestRan reports whether this run left out no test.
func everyTestRan() bool {
	for _, part := range []string{"test.run", "test.skip", "test.fuzz", "test.list"} {
		if flag.Lookup(part).Value.String() != "" {
			return false
		}
	}
	return !skipped.Load() && runtime.GOOS == "linux" // the tests at a terminal are for Linux
}

// With -update, a file and a section are written as soon as a test has produced them. What no test produced
// is removed only if all ran and passed.
func TestUpdateOfGoldens(t *testing.T) {
	parallel(t)
	const old = "=== one\n1\n=== other\nnot produced\n=== two\n2\n"
	const updated = "=== one\nI\n=== other\nnot produced\n=== three\nIII\n=== two\n2\n"
	for _, c := range []struct {
		name           string
		update         bool
		allRan, passed bool
		code           int
		files          map[string]string
		said           string
	}{
		{
			name: "complete", update: true, allRan: true, passed: true, code: 0,
			files: map[string]string{"a.txt": "new", "s.txt": "=== one\nI\n=== three\nIII\n=== two\n2\n"},
			said: "golden files: wrote 3\n  DIR/a.txt\n  DIR/s.txt: one\n  DIR/s.txt: three\n" +
				"golden files: removed 2\n  DIR/s.txt: other\n  DIR/sub/stale.txt\n",
		},
		{
			name: "a test failed", update: true, allRan: true, passed: false, code: 1,
			files: map[string]string{
				"a.txt": "new", "s.txt": updated, "sub/stale.txt": "stale",
			},
			said: "golden files: wrote 3\n  DIR/a.txt\n  DIR/s.txt: one\n  DIR/s.txt: three\n" +
				"golden files: removed 0\ngolden files: a test failed; left what none produced: 2\n" +
				"  DIR/s.txt: other\n  DIR/sub/stale.txt\n",
		},
		{
			name: "some tests", update: true, allRan: false, passed: true, code: 0,
			files: map[string]string{
				"a.txt": "new", "s.txt": updated, "sub/stale.txt": "stale",
			},
			said: "golden files: wrote 3\n  DIR/a.txt\n  DIR/s.txt: one\n  DIR/s.txt: three\n" +
				"golden files: removed 0\ngolden files: left what no test produced: only some ran\n",
		},
		{
			name: "compared", update: false, allRan: true, passed: true, code: 1,
			files: map[string]string{"a.txt": "old", "s.txt": old, "sub/stale.txt": "stale"},
			said: "DIR/s.txt: other: no test reads it; `make golden` removes it\n" +
				"DIR/sub/stale.txt: no test reads it; `make golden` removes it\n",
		},
		{
			name: "compared, and a test failed", update: false, allRan: true, passed: false, code: 1,
			files: map[string]string{"a.txt": "old", "s.txt": old, "sub/stale.txt": "stale"},
		},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.txt": "old", "s.txt": old, "sub/stale.txt": "stale"} {
			filetest.Put(t, dir, name, text)
		}
		g := &goldenDir{path: dir, update: c.update}
		for i, problem := range []string{
			g.file("a.txt", "new"), g.section("s.txt", "one", "I\n"), g.section("s.txt", "three", "III\n"),
		} {
			if (problem == "") != c.update {
				t.Errorf("%s: text %d: %q", c.name, i, problem)
			}
		}
		if problem := g.section("s.txt", "two", "2\n"); problem != "" {
			t.Errorf("%s: a text that is unchanged: %s", c.name, problem)
		}
		if g.section("s.txt", "two", "another\n") == "" {
			t.Errorf("%s: two tests have a section with other texts", c.name)
		}
		var out strings.Builder
		code := g.finish(&out, c.allRan, c.passed)
		if said := strings.ReplaceAll(out.String(), dir, "DIR"); code != c.code || said != c.said {
			t.Errorf("%s: code %d, it said\n%s\nwant\n%s", c.name, code, said, c.said)
		}
		if got := filetest.Tree(t, dir); !equalTrees(got, c.files) {
			t.Errorf("%s: %q, want %q", c.name, got, c.files)
		}
	}
}

// Two golden files with the same content are a failure.
func TestGoldensTwice(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	g := &goldenDir{path: dir, update: true}
	g.file("a.txt", "same")
	g.file("b.txt", "same")
	var out strings.Builder
	if code := g.finish(&out, true, true); code != 1 || !strings.Contains(out.String(), "holds the same as") {
		t.Errorf("code %d, %s", code, &out)
	}
}

// A run of the tests with -update writes what a failing test produced.
func TestUpdateThatFails(t *testing.T) {
	parallel(t)
	if os.Getenv("VBOT_TEST_GOLDENS") != "" {
		golden(t, "file.txt", []byte("new\n"))
		section(t, "sections.txt", "one", []byte("new\n"))
		t.Fatal("on purpose")
	}
	dir := t.TempDir()
	filetest.Put(t, dir, "golden/file.txt", "old\n")
	filetest.Put(t, dir, "golden/sections.txt", "=== one\nold\n=== two\nof another test\n")
	cmd := vbotCommand(t, dir, "-test.run=^TestUpdateThatFails$", "-update")
	cmd.Env = append(cmd.Env, "VBOT_TEST_RUN=", "VBOT_TEST_GOLDENS=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 ||
		!strings.Contains(string(out), "golden files: wrote 2\n") {
		t.Errorf("exit code %d, %s", code, out)
	}
	if got, want := filetest.Tree(t, dir), map[string]string{
		"golden/file.txt":     "new\n",
		"golden/sections.txt": "=== one\nnew\n=== two\nof another test\n",
	}; !equalTrees(got, want) {
		t.Errorf("%q", got)
	}
}
