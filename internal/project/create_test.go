package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// putFile writes a file.
func putFile(t *testing.T, at, text string) {
	t.Helper()
	filetest.Put(t, filepath.Dir(at), filepath.Base(at), text)
}

// What exists at a path, and whether it may be kept, decide what a new project does there.
func TestCreateBesideExistingFiles(t *testing.T) {
	const file, guide, internal = "a.py", "AGENTS.md", ".vbot/x"
	same := func(t *testing.T, at string) { putFile(t, at, "new") }
	other := func(t *testing.T, at string) { putFile(t, at, "mine") }
	huge := func(t *testing.T, at string) { putFile(t, at, strings.Repeat("x", maxSize+1)) }
	link := func(t *testing.T, at string) { filetest.Link(t, "nowhere", at) }
	dir := func(t *testing.T, at string) { filetest.Put(t, at, "x", "mine") }
	nothing := func(t *testing.T, at string) {}
	for _, c := range []struct {
		name     string
		put      func(t *testing.T, at string)
		keep     bool
		action   string // "" if there is a conflict
		conflict string
		blocked  bool
	}{
		{name: file, put: nothing, action: Created},
		{name: file, put: same, action: Unchanged},
		{name: file, put: other, conflict: "exists with different content"},
		{name: file, put: other, keep: true, action: Kept},
		{name: file, put: huge, conflict: "exists, and is unreadable or larger than 1 MiB"},
		{name: file, put: huge, keep: true, action: Kept},
		{name: file, put: link, conflict: "a link is in the way"},
		{name: file, put: link, keep: true, action: Kept},
		{name: file, put: dir, conflict: "a directory is in the way", blocked: true},
		{name: file, put: dir, keep: true, conflict: "a directory is in the way", blocked: true},
		{name: guide, put: nothing, action: Created},
		{name: guide, put: same, action: Unchanged},
		{name: guide, put: other, action: Replaced},
		{name: guide, put: other, keep: true, action: Kept},
		{name: guide, put: huge, conflict: "exists, and is unreadable or larger than 1 MiB"},
		{name: guide, put: link, conflict: "a link is in the way", blocked: true},
		{name: guide, put: link, keep: true, action: Kept},
		{name: internal, put: other, action: Replaced},
		{name: internal, put: other, keep: true, action: Kept},
		{name: internal, put: huge, conflict: "exists, and is unreadable or larger than 1 MiB"},
	} {
		folder := t.TempDir()
		at := filepath.Join(folder, filepath.FromSlash(c.name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		c.put(t, at)
		target, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		var overwrite []string // the guides
		if !c.keep {
			overwrite = GuideFiles
		}
		p, err := target.PlanCreate(map[string][]byte{c.name: []byte("new")}, c.keep, overwrite)
		target.Close()
		if err != nil {
			t.Fatal(err)
		}
		if p.Blocked != c.blocked || len(p.Conflicts) > 0 != (c.conflict != "") {
			t.Errorf("%+v: %v, blocked %v", c, p.Conflicts, p.Blocked)
		}
		if c.action != "" && p.Steps[0].Action != c.action {
			t.Errorf("%+v: %s", c, p.Steps[0].Action)
		}
		if c.conflict != "" && p.Conflicts[0].Line() != c.name+": "+c.conflict {
			t.Errorf("%+v: %s", c, p.Conflicts[0].Line())
		}
	}
}

// A file in the place of a directory is one conflict, however many files are to be written there.
func TestCreateBelowAFile(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "server", "mine")
	target, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	p, err := target.PlanCreate(texts{"server/a.py": "1\n", "server/b/c.py": "1\n"}.bytes(), true, nil)
	want := report.Problem{Field: "server", Where: "server", Message: "a file is in the way of a directory"}
	if err != nil || len(p.Conflicts) != 1 || p.Conflicts[0].Line() != want.Line() || !p.Blocked {
		t.Errorf("%v, %+v", err, p)
	}
}

// A kept file with at least half of the lines of vbot's is recorded as an edited one. Any other belongs to
// its owner.
func TestKeptFilesInANewRecord(t *testing.T) {
	const written = "1\n2\n3\n4\n"
	for text, isOwned := range map[string]bool{
		"1\n2\nmine\n":       false,
		"1\r\nmine\r\n2\r\n": false,
		"1\nmine\n":          true,
		"":                   true,
	} {
		dir := t.TempDir()
		filetest.Put(t, dir, "a.py", text)
		files := texts{"a.py": written, "b.py": written}.bytes()
		if err := AddRecord("0.1.0", struct{}{}, files); err != nil {
			t.Fatal(err)
		}
		lockAndApply(t, dir, files, true)
		var r Record
		if err := json.Unmarshal([]byte(filetest.Tree(t, dir)[RecordName]), &r); err != nil {
			t.Fatal(err)
		}
		hash := hexSum([]byte(written))
		want := hash
		if isOwned {
			want = userOwnedHash
		}
		if r.Files["a.py"] != want || r.Files["b.py"] != hash {
			t.Errorf("%q: %q", text, r.Files)
		}
	}
}
