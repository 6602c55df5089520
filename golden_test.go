package main

import (
	"bytes"
	"cmp"
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
)

var (
	goldensRead sync.Map    // the golden files that a test read, by path
	skipped     atomic.Bool // whether a test was skipped
)

// updating says whether this run writes the golden files, instead of comparing
// with them.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// parallel lets the test run beside others, unless golden files are written: each may depend
// on earlier ones.
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
	got = asOnUnix(got)
	// The tests of goldie take a *testing.T; its -clean flag is never used,
	// because it deletes more than it should.
	goldie.New(t.(*testing.T), goldie.WithFixtureDir("golden"), goldie.WithNameSuffix(""), goldie.WithDiffEngine(goldie.ClassicDiff)).
		Assert(t.(*testing.T), name, got)
}

// asOnUnix replaces what Windows writes in another way: separators in paths and texts of
// the system's errors.
func asOnUnix(text []byte) []byte {
	if runtime.GOOS != "windows" {
		return text
	}
	var pairs []string
	for code, message := range map[syscall.Errno]string{1: "is a directory", 2: "no such file or directory", 3: "no such file or directory"} {
		pairs = append(pairs, code.Error(), message)
	}
	text = []byte(strings.NewReplacer(pairs...).Replace(string(text)))
	path := regexp.MustCompile(`DIR(\\{1,2}[^\\\s"';:]+)+|[\w -]\\{1,2}(server|client)\b|\\nowhere\\`)
	text = path.ReplaceAllFunc(text, func(path []byte) []byte { return regexp.MustCompile(`\\+`).ReplaceAll(path, []byte("/")) })
	text = regexp.MustCompile(`(cd )"(.*)"`).ReplaceAll(text, []byte("$1'$2'")) // see shellQuote
	return text
}

// goldenTree compares the project in dir with the golden project of that name.
//
// A golden project is a folder that reads as the real one, without the files that
// an earlier golden project holds in the same bytes. If there are such files,
// golden/name.files lists the whole project, a path a line, and says of each of
// them where it is: `.gitignore -> quickstart/.gitignore`.
func goldenTree(t *testing.T, name, dir string) {
	t.Helper()
	got := filetest.Tree(t, dir)
	if name != "quickstart" {
		delete(got, project.RecordName) // checkRecord; as a golden file, each change would show in each project
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
	return append([]string{"quickstart", "guides"}, goldenBots(t)...)
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

// checkGoldens finds, after a run of all tests, golden files that stand twice, and
// those that no test read, which the next reader would take for the truth. With
// -update it removes these.
func checkGoldens() (code int) {
	for _, part := range []string{"test.run", "test.skip", "test.fuzz", "test.list"} {
		if flag.Lookup(part).Value.String() != "" {
			return 0
		}
	}
	// The tests at a terminal are for Linux.
	everyTest := !skipped.Load() && runtime.GOOS == "linux"
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
			fmt.Fprintf(os.Stderr, "%s holds the same as %s; `make golden` keeps a project's file once, and cases with one result share its name\n", path, other)
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
