package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// A dangling link exists: no file of its name can be created.
func TestHas(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "file", "")
	filetest.Link(t, "nowhere", filepath.Join(dir, "link"))
	for name, want := range map[string]bool{
		".":          true,
		"file":       true,
		"link":       true,
		"nothing":    false,
		"file/below": false,
	} {
		if Has(dir, name) != want {
			t.Errorf("Has(%q) is %v", name, !want)
		}
	}
}

// The suggested directory is new, unless the current one has a project or nothing visible.
func TestSuggest(t *testing.T) {
	for want, names := range map[string][]string{
		"my-bot":   {"notes.txt"},
		"my-bot-2": {"my-bot"},
		"my-bot-3": {"my-bot", "my-bot-2/x"},
	} {
		dir := t.TempDir()
		for _, name := range names {
			filetest.Put(t, dir, name, "")
		}
		if got := Suggest(dir); got != want {
			t.Errorf("beside %q: %s, want %s", names, got, want)
		}
		filetest.Put(t, dir, RecordName, "")
		if got := Suggest(dir); got != "." {
			t.Errorf("with a project: %s", got)
		}
	}
	dir := t.TempDir()
	filetest.Put(t, dir, ".git/HEAD", "")
	if got := Suggest(dir); got != "." {
		t.Errorf("with hidden files: %s", got)
	}
}

// People read what is in a directory before they choose it, and why none can be there.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "one/a  b\tc", "")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		filetest.Put(t, dir, "many/"+name, "")
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	filetest.Link(t, "one", filepath.Join(dir, "link"))
	filetest.Link(t, "nowhere", filepath.Join(dir, "dangling"))
	const kept = "; existing files are not overwritten"
	for name, want := range map[string]string{
		"new/new":    "a new directory",
		"empty":      "an empty directory",
		"one":        "contains a b c" + kept,
		"many":       "contains a, b, c, 2 more" + kept,
		"link":       "a link to a directory; contains a b c" + kept,
		"many/a":     "many/a is a file, not a directory; nothing was written",
		"many/a/new": "many/a is a file, not a directory; nothing was written",
		"dangling":   "dangling is a dangling link; nothing was written",
	} {
		got, err := Describe(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			got = strings.TrimPrefix(filepath.ToSlash(err.Error()), filepath.ToSlash(dir)+"/")
			if report.As(err).Code != report.Conflict {
				t.Errorf("%s: %+v", name, report.As(err))
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Whether a directory is writable is tried in the nearest one that exists, which stays as it is.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "file", "")
	for name, want := range map[string]string{
		"":                              "",
		"new/new":                       "",
		"file/new":                      "creating ",
		strings.Repeat("x", 255):        "",
		strings.Repeat("x", 256):        "creating ",
		strings.Repeat("x", 256) + "/y": "creating ",
	} {
		err := Writable(filepath.Join(dir, filepath.FromSlash(name)))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want+dir) {
			t.Errorf("%.20s: %v", name, err)
		}
	}
	if tree := filetest.Tree(t, dir); len(tree) != 1 {
		t.Errorf("left: %q", tree)
	}
}
