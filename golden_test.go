package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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

var (
	goldensRead sync.Map    // the golden files that a test read, by path
	skipped     atomic.Bool // whether a test was skipped
)

// updating reports whether this run writes the golden files instead of comparing
// with them.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// parallel lets the test run in parallel with others, except while golden files are written, because each
// may depend on earlier ones.
//
// A test runs alone if it changes the mode of new files, mounts a file system (one that another
// test's process has inherited cannot be unmounted), needs a port or a pipe that nobody else
// has, or compares what vbot does with the time that it takes.
func parallel(t *testing.T) {
	if !updating() {
		t.Parallel()
	}
}

// skip skips the test, and lets checkGoldens know.
func skip(t *testing.T, reason ...any) {
	t.Helper()
	skipped.Store(true)
	t.Skip(reason...)
}

// golden compares got with golden/name, and rewrites that with -update.
func golden(t testing.TB, name string, got []byte) {
	t.Helper()
	goldensRead.Store(filepath.Join("golden", filepath.FromSlash(name)), true)
	// The tests of goldie take a *testing.T; its -clean flag is never used,
	// because it deletes more than it should.
	goldie.New(t.(*testing.T), goldie.WithFixtureDir("golden"), goldie.WithNameSuffix(""),
		goldie.WithDiffEngine(goldie.ClassicDiff)).
		Assert(t.(*testing.T), name, lasting(got))
}

// A golden file of sections has several short texts, such as the output of similar commands. Each
// section begins with a line `=== NAME`; they are sorted by name.
var sections struct {
	sync.Mutex
	files map[string]map[string]string // by path below golden, and by name: as it is on the disk
	seen  map[string]map[string]string // the same, as tests had it
}

// sectionsOf returns the sections of the golden file.
func sectionsOf(t testing.TB, file string) map[string]string {
	t.Helper()
	if read, ok := sections.files[file]; ok {
		return read
	}
	data, err := os.ReadFile(filepath.Join("golden", file))
	if err != nil && !(updating() && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	read := map[string]string{}
	for _, part := range strings.Split("\n"+strings.TrimSuffix(string(data), "\n"), "\n=== ")[1:] {
		name, text, _ := strings.Cut(part+"\n", "\n")
		read[name] = text
	}
	if sections.files == nil {
		sections.files, sections.seen = map[string]map[string]string{}, map[string]map[string]string{}
	}
	sections.files[file], sections.seen[file] = read, map[string]string{}
	return read
}

// section compares got with the section of the golden file, which -update writes at the end of the
// run. Two tests may have one section, with the same text.
func section(t testing.TB, file, name string, got []byte) {
	t.Helper()
	goldensRead.Store(filepath.Join("golden", filepath.FromSlash(file)), true)
	text := strings.TrimSuffix(string(lasting(got)), "\n") + "\n"
	sections.Lock()
	defer sections.Unlock()
	want, ok := sectionsOf(t, file)[name]
	if earlier, twice := sections.seen[file][name]; twice && earlier != text {
		t.Errorf("two tests have the section %q of golden/%s, with other texts:\n%s\n%s", name, file, earlier,
			text)
	}
	sections.seen[file][name] = text
	switch {
	case updating():
	case !ok:
		t.Errorf("golden/%s has no section %q; `make golden` writes it:\n%s", file, name, text)
	case want != text:
		t.Errorf("section %q of golden/%s:\n%s", name, file, goldie.Diff(goldie.ClassicDiff, text, want))
	}
}

// finishSections reports, after a run of every test, sections that none of them has. With -update
// it writes the files, after a run of some tests with the sections of the others as they were.
func finishSections(everyTest bool) (code int) {
	for file, seen := range sections.seen {
		onDisk := sections.files[file]
		for name, text := range onDisk {
			switch _, ok := seen[name]; {
			case ok:
			case !everyTest:
				seen[name] = text
			case !updating():
				fmt.Fprintf(os.Stderr, "golden/%s: no test reads the section %q; `make golden` removes it\n",
					file, name)
				code = 1
			}
		}
		if !updating() || maps.Equal(onDisk, seen) {
			continue
		}
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			b.WriteString("=== " + name + "\n" + seen[name])
		}
		at := filepath.Join("golden", file)
		err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(b.String()), 0o644))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
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
	goldensRead.Store(filepath.Join("golden", filepath.FromSlash(name)+".files"), true)
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
	goldensRead.Store(filepath.Join("golden", "README.md"), true)
	var listed []string
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$")
	for _, m := range row.FindAllStringSubmatch(document(t, "golden/README.md"), -1) {
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
	folder := filepath.Join("golden", name)
	if err := errors.Join(os.RemoveAll(folder), os.RemoveAll(folder+".files")); err != nil {
		t.Fatal(err)
	}
	var list bytes.Buffer
	elsewhere := false
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if source, err := templates.Files.ReadFile(path); err == nil && string(source) == tree[path] {
			fmt.Fprintf(&list, "%s -> ../templates/%s\n", path, path)
			elsewhere = true
			continue
		}
		if at, ok := kept[tree[path]]; ok {
			fmt.Fprintf(&list, "%s -> %s\n", path, at)
			elsewhere = true
			continue
		}
		kept[tree[path]] = name + "/" + path
		fmt.Fprintln(&list, path)
		filetest.Put(t, folder, path, tree[path])
	}
	if elsewhere {
		filetest.Put(t, "golden", name+".files", list.String())
	}
}

// checkGoldens finds, after a run of all tests, duplicate golden files, and golden files
// that no test read, which readers would believe. With -update, it removes the
// latter.
func checkGoldens() (code int) {
	some := false
	for _, part := range []string{"test.run", "test.skip", "test.fuzz", "test.list"} {
		some = some || flag.Lookup(part).Value.String() != ""
	}
	// The tests at a terminal are for Linux.
	everyTest := !some && !skipped.Load() && runtime.GOOS == "linux"
	code = finishSections(everyTest)
	if some {
		return code
	}
	seen := map[string]string{}
	err := filepath.WalkDir("golden", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, read := goldensRead.Load(path); !read && everyTest {
			if updating() {
				fmt.Fprintf(os.Stderr, "%s: removed, because no test reads it\n", path)
				return os.Remove(path)
			}
			fmt.Fprintf(os.Stderr, "%s: no test reads this golden file; `make golden` removes it\n", path)
			code = 1
		}
		data, err := os.ReadFile(path)
		if other, ok := seen[string(data)]; ok && filepath.Ext(path) != ".files" {
			fmt.Fprintf(os.Stderr,
				"%s holds the same as %s; `make golden` keeps a project's file once, and cases with one "+
					"result share its name\n", path, other)
			code = 1
		}
		seen[string(data)] = path
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
