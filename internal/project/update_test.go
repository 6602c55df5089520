package project

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// A folder is a project that several versions of vbot write in turn.
type folder struct {
	t   *testing.T
	dir string
	// markers says to write conflicts between markers.
	markers bool
	// rendered returns what this version writes for the configuration in the record; nil if it cannot.
	rendered func(was *Record) texts
}

// texts is what files hold, by path.
type texts map[string]string

func (x texts) bytes() map[string][]byte {
	files := map[string][]byte{}
	for name, text := range x {
		files[name] = []byte(text)
	}
	return files
}

// newFolder creates a project with these files, written by a version.
func newFolder(t *testing.T, version string, files texts) *folder {
	t.Helper()
	f := &folder{t: t, dir: t.TempDir()}
	all := files.bytes()
	if err := AddRecord(version, struct{}{}, all); err != nil {
		t.Fatal(err)
	}
	lockAndApply(t, f.dir, all, false)
	return f
}

func (f *folder) put(name, text string) { filetest.Put(f.t, f.dir, name, text) }
func (f *folder) tree() map[string]string {
	f.t.Helper()
	return filetest.Tree(f.t, f.dir)
}

// plan plans an update to a version and its files.
func (f *folder) plan(version string, files texts) (*Target, *Plan) {
	f.t.Helper()
	target, err := Lock(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	known := slices.Collect(maps.Keys(files))
	for name := range f.tree() {
		known = append(known, name, strings.TrimPrefix(name, BaseDir+"/"))
	}
	was, err := target.Record(append(known, "gone.py"))
	if err != nil {
		f.t.Fatal(err)
	}
	u := updateTo(f.t, files.bytes(), was)
	u.Now.Vbot = version
	if f.rendered != nil {
		u.Rendered = func() map[string][]byte { return f.rendered(was).bytes() }
	}
	p, err := target.PlanUpdate(u)
	if err != nil {
		f.t.Fatal(err)
	}
	return target, p
}

// update brings the project up to date. With conflicts it does so only if f.markers is set.
func (f *folder) update(version string, files texts) *Plan {
	f.t.Helper()
	target, p := f.plan(version, files)
	defer target.Close()
	if len(p.Conflicts) > 0 && !f.markers {
		return p
	}
	if err := target.Apply(context.Background(), p); err != nil {
		f.t.Fatal(err)
	}
	return p
}

// states returns the state of each file that is not unchanged, as a line.
func states(p *Plan) string {
	var lines []string
	for _, s := range p.Steps {
		if s.State != "" && s.State != Unchanged {
			lines = append(lines, s.State+" "+s.Path)
		}
	}
	return strings.Join(lines, ", ")
}

// wants reports an error unless the file holds the text. "" means that there is no file.
func (f *folder) wants(name, text string) {
	f.t.Helper()
	if got := f.tree()[name]; got != text {
		f.t.Errorf("%s holds %q, want %q", name, got, text)
	}
}

// Edits are merged with what each version changes, whichever one wrote the base.
func TestThreeVersionsInARow(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n2\n3\n4\n5\n"})
	f.put("a.py", "1\n2\nmine\n4\n5\n")
	f.update("0.2.0", texts{"a.py": "one\n2\n3\n4\n5\n"})
	f.wants("a.py", "one\n2\nmine\n4\n5\n")
	f.put("a.py", "one\n2\nmine\n4\n5\nmine, too\n")
	f.update("0.3.0", texts{"a.py": "1.0\n2\n3\n4\n5\n"})
	f.wants("a.py", "1.0\n2\nmine\n4\n5\nmine, too\n")
	f.put("a.py", "1.0\n2\n3\n4\n5\n")
	if p := f.update("0.3.0", texts{"a.py": "1.0\n2\n3\n4\n5\n"}); p.Writes() != 0 || states(p) != "" {
		t.Errorf("without the edits: %s", states(p))
	}
}

// With a conflict, an update writes nothing or, if told to, markers. Until somebody removes the markers, no
// update writes anything.
func TestConflict(t *testing.T) {
	old := texts{"a.py": "1\n2\n3\n4\n", "b.py": "b\n"}
	files := texts{"a.py": "1\ntheirs\n3\n4\n", "b.py": "new\n"}
	const marked = "mine, too\n1\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> vbot 0.2.0\n3\n4\n"
	for resolved, want := range map[string]string{
		"mine, too\n1\nmine\n3\n4\n":   "mine, too\n1\nmine\n3\n4.0\n",
		"mine, too\n1\ntheirs\n3\n4\n": "mine, too\n1\ntheirs\n3\n4.0\n",
		"1\ntheirs\n3\n4\n":            "1\ntheirs\n3\n4.0\n",
	} {
		f := newFolder(t, "0.1.0", old)
		f.put("a.py", "mine, too\n1\nmine\n3\n4\n")
		before := f.tree()
		p := f.update("0.2.0", files)
		if len(p.Conflicts) != 1 || !strings.HasSuffix(p.Conflicts[0].Line(), "at line 3") {
			t.Fatal(p.Conflicts)
		}
		if !strings.Contains(p.Diff("", false), "\n+<<<<<<< yours\n") || !maps.Equal(before, f.tree()) {
			t.Errorf("%s\n%q", p.Diff("", false), f.tree())
		}
		f.markers = true
		if p := f.update("0.2.0", files); states(p) != "pending a.py, outdated b.py" {
			t.Error(states(p))
		}
		f.wants("a.py", marked)
		f.wants("b.py", "new\n")
		before = f.tree()
		f.markers = false
		if p := f.update("0.2.0", files); len(p.Conflicts) != 1 || states(p) != "edited a.py" ||
			!strings.Contains(p.Conflicts[0].Message, "from line 3 on") || !maps.Equal(before, f.tree()) {
			t.Error(states(p), p.Conflicts)
		}
		f.put("a.py", resolved)
		if p := f.update("0.2.0", files); len(p.Conflicts) > 0 || p.Writes() > 0 {
			t.Errorf("%q: %s, %v", resolved, states(p), p.Conflicts)
		}
		f.update("0.3.0", texts{"a.py": "1\ntheirs\n3\n4.0\n", "b.py": "new\n"})
		f.wants("a.py", want)
	}
}

// Markers of conflicts are found, also if some were removed. Underlined headings and quoted markers are not
// taken for them.
func TestMarkers(t *testing.T) {
	for text, want := range map[string]int{
		"Title\n=======\ntext\n":                       0,
		"<<<<<<< is how Git begins a conflict\n":       0,
		"  <<<<<<< yours\n=======\n  >>>>>>> vbot 1\n": 0,
		">>>>>>> theirs\n<<<<<<< HEAD\n":               0,
		"a\n<<<<<<< yours\n=======\n>>>>>>> vbot 1\n":  2,
		"a\n<<<<<<< HEAD\n=======\n>>>>>>> theirs\n":   2,
		"a\nb\n>>>>>>> vbot 1\n":                       3, // resolved in part
		"<<<<<<< yours\r\nb\n":                         1,
	} {
		if got := markersAt([]byte(text)); got != want {
			t.Errorf("%q: line %d, want %d", text, got, want)
		}
	}
}

// A file that was there before vbot wrote one of that name is neither overwritten nor merged.
func TestNewFileWhosePlaceIsTaken(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n"})
	f.put("new.py", "mine\n")
	before := f.tree()
	files := texts{"a.py": "1\n", "new.py": "theirs\n"}
	for _, f.markers = range []bool{false, true} {
		target, p := f.plan("0.2.0", files)
		target.Close()
		if len(p.Conflicts) != 1 || p.Conflicts[0].Field != "new.py" || !maps.Equal(before, f.tree()) {
			t.Errorf("%v", p.Conflicts)
		}
	}
	f.markers = false
	f.put("new.py", "theirs\n") // what vbot would write anyway
	if p := f.update("0.2.0", files); len(p.Conflicts) > 0 {
		t.Error(p.Conflicts)
	}
}

// A file that its owner deleted stays deleted, even if a later version changes it. A file that no earlier
// version wrote is created.
func TestDeletedFile(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n", "b.py": "b\n"})
	target, err := Lock(f.dir)
	if err == nil {
		err = target.dirs["."].Remove("a.py")
		target.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	p := f.update("0.2.0", texts{"a.py": "2\n", "b.py": "b\n", "new.py": "new\n"})
	if states(p) != "missing a.py, missing new.py" || !slices.Equal(p.Paths(Missing), []string{"a.py"}) {
		t.Error(states(p), p.Paths(Missing))
	}
	f.wants("a.py", "")
	f.wants("new.py", "new\n")
	f.put("a.py", "2\nmine\n") // it is back, as this version writes it but for an edit
	f.update("0.3.0", texts{"a.py": "0\n2\n", "b.py": "b\n", "new.py": "new\n"})
	f.wants("a.py", "0\n2\nmine\n")
}

// An edited file that is no longer written stays, and is merged when it is written again.
func TestEditedFileThatIsNoLongerWritten(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n2\n3\n"})
	f.put("a.py", "1\n2\nmine\n")
	p := f.update("0.2.0", texts{"b.py": "b\n"})
	if len(p.Conflicts) > 0 || !slices.Contains(p.Paths(Kept), "a.py") {
		t.Error(p.Conflicts, p.Paths(Kept))
	}
	if p := f.update("0.2.0", texts{"b.py": "b\n"}); p.Writes() > 0 || states(p) != "" {
		t.Errorf("again: %s, %q", states(p), p.Paths(Replaced))
	}
	f.wants("a.py", "1\n2\nmine\n")
	f.update("0.3.0", texts{"a.py": "one\n2\n3\n"})
	f.wants("a.py", "one\n2\nmine\n")
}

// Lines of .gitignore stay, because the files that Git ignored may still exist and must not be committed.
func TestGitignoreLosesNoLine(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{".gitignore": "recordings/\n.env\n"})
	f.update("0.2.0", texts{".gitignore": ".env\ndist/\n"})
	f.wants(".gitignore", ".env\ndist/\nrecordings/\n")
	f.put(".gitignore", ".env\ndist/\nrecordings/\nmine\n")
	f.update("0.3.0", texts{".gitignore": ".env\n"})
	f.wants(".gitignore", ".env\ndist/\nrecordings/\nmine\n")
}

// A file that vbot no longer writes stays as long as another file imports or names it.
func TestWhatStaysKeepsWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		name  string // of a file of vbot's that goes
		user  string // a file of the owner's
		text  string
		stays bool
	}{
		{"server/call.py", "server/mine.py", "from call import recorder\n", true},
		{"server/call.py", "server/mine.py", "import os, call as c\n", true},
		{"server/call.py", "server/mine.py", "    import call\n", true},
		{
			"server/call.py", "server/mine.py", "# import a call\nimport caller\nfrom .calls import call\n",
			false,
		},
		{"server/call.py", "client/src/mine.ts", `import x from "./call"`, false},
		{"client/src/api.ts", "client/src/mine.ts", `import { x } from "./api";`, true},
		{"client/src/api.ts", "client/src/mine.ts", `import { x } from "./api2";`, false},
		{"client/src/style.css", "client/index.html", `<link href="src/style.css">`, true},
		{"deploy/Dockerfile", "deploy/mine.yaml", "build:\n  dockerfile: deploy/Dockerfile\n", true},
		{"deploy/Dockerfile", "deploy/mine.yaml", "build:\n  dockerfile: deploy/Dockerfile.mine\n", false},
		{"server/Dockerfile", "deploy/Dockerfile", "# -f deploy/Dockerfile\nCOPY Dockerfile .\n", false},
		{"client/package.json", "client/src/mine.ts", "export const x = 1;\n", false},
		{"deploy/kubernetes/pod.yaml", "deploy/mine/k.yaml", "resources: [../kubernetes/pod.yaml]\n", true},
		{"deploy/kubernetes/pod.yaml", "deploy/kubernetes/mine/k.yaml", "resources: [../pod.yaml]\n", true},
		{"server/page.html", "server/Dockerfile.mine", "COPY bot.py page.html ./\n", true},
		{"server/page.html", "server/notes.txt", "page.html\n", false},
	} {
		f := newFolder(t, "0.1.0", texts{c.name: "vbot's\n", "a.py": "1\n"})
		f.put(c.user, c.text)
		for range 2 { // and again
			f.update("0.2.0", texts{"a.py": "1\n"})
			if _, ok := f.tree()[c.name]; ok != c.stays {
				t.Errorf("%s, which %s may need: stays %v\n%s", c.name, c.user, ok, c.text)
			}
		}
		f.put(c.user, "")
		f.update("0.2.0", texts{"a.py": "1\n"})
		if tree := f.tree(); tree[c.name] != "" || tree[basePath(c.name)] != "" {
			t.Errorf("%s stays though nothing needs it", c.name)
		}
	}
}

// If the folder of the bases is a link, nothing is written through it.
func TestBasesThatAreALink(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n2\n3\n"})
	target, err := Lock(f.dir)
	if err == nil {
		err = target.dirs["."].RemoveAll(".vbot")
		target.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	filetest.Link(t, t.TempDir(), filepath.Join(f.dir, ".vbot"))
	p := f.update("0.2.0", texts{"a.py": "1\n2\n3.0\n"})
	if len(p.Conflicts) != 1 || p.Conflicts[0].Line() != ".vbot: a link is in the way of a directory" {
		t.Error(p.Conflicts)
	}
	f.wants("a.py", "1\n2\n3\n")
}

// A link or a directory in the place of a needed base is a conflict that names it, and nothing is written. In
// the place of an unneeded base it stays. A file that is too large for a base is replaced.
func TestWhatIsInTheWayOfABase(t *testing.T) {
	files := texts{"a.py": "1\n2\n3\n"}
	base := basePath(hexSum([]byte(files["a.py"])))
	for what, put := range map[string]func(at string){
		"link":      func(at string) { filetest.Link(t, "a.py", at) },
		"directory": func(at string) { filetest.Put(t, at, "x", "mine\n") },
	} {
		f := newFolder(t, "0.1.0", files)
		at := filepath.Join(f.dir, filepath.FromSlash(base))
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		put(at)
		before := f.tree()
		for range 2 { // it does not go away by itself
			p := f.update("0.2.0", files)
			want := base + ": a " + what + " is in the way of a file of vbot"
			if len(p.Conflicts) != 1 || p.Conflicts[0].Line() != want || !maps.Equal(before, f.tree()) {
				t.Errorf("%s: %v", what, p.Conflicts)
			}
		}
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if p := f.update("0.2.0", files); p.Conflicts != nil || f.tree()[base] == "" {
			t.Errorf("%s, moved away: %v", what, p.Conflicts)
		}
	}

	f := newFolder(t, "0.1.0", files)
	f.put(base, strings.Repeat("x", maxSize+1))
	unneeded := basePath(hexSum([]byte("of no file\n")))
	filetest.Link(t, "a.py", filepath.Join(f.dir, filepath.FromSlash(unneeded)))
	_, want := Base([]byte(files["a.py"]))
	if p := f.update("0.2.0", files); p.Conflicts != nil {
		t.Error(p.Conflicts)
	}
	f.wants(base, string(want))
	f.wants(unneeded, "link to a.py")
}

// killed is the value of a panic that stands for the end of a process.
type killed struct{}

// applyUntil carries out the first n operations of a plan. It reports whether these were all.
func applyUntil(target *Target, p *Plan, n int) (done bool) {
	defer func() {
		if r := recover(); r != nil && r != (killed{}) {
			panic(r)
		}
		target.undo = nil // a killed run undoes nothing
		target.Close()
	}()
	looks := 0
	err := target.Apply(&watched{context.Background(), func() error {
		if looks++; looks > n {
			panic(killed{})
		}
		return nil
	}}, p)
	return err == nil
}

// If an update is killed at any point, the next one leaves the same project as one that was not killed, and
// takes nothing that vbot wrote for edits.
func TestUpdateKilledAnywhere(t *testing.T) {
	old := texts{
		".gitignore": "a\n", "gone.py": "old\n", "server/bot.py": "1\n2\n3\n4\n5\n",
		"server/call.py": "1\n2\n3\n",
		"README.md":      "old\n", "server/conflict.py": "1\n2\n3\n", "deleted.py": "1\n",
		"AGENTS.md": "old\n",
	}
	files := texts{
		".gitignore": "b\n", "server/bot.py": "one\n2\n3\n4\n5\n", "server/call.py": "1\n2\n3\n4\n",
		"README.md": "new\n", "server/conflict.py": "1\ntheirs\n3\n", "new/new.py": "new\n",
		"deleted.py": "2\n", "AGENTS.md": "new\n",
	}
	start := func() *folder {
		f := newFolder(t, "0.1.0", old)
		f.markers = true
		f.rendered = func(was *Record) texts {
			if was.Vbot == "0.1.0" {
				return old
			}
			return files
		}
		f.put("server/bot.py", "1\n2\n3\n4\nmine\n")
		f.put("server/conflict.py", "1\nmine\n3\n")
		target, err := Lock(f.dir)
		if err == nil {
			err = target.dirs["."].Remove("deleted.py")
			target.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := start()
	f.update("0.2.0", files)
	want := f.tree()
	for n := 0; ; n++ {
		f := start()
		target, p := f.plan("0.2.0", files)
		if applyUntil(target, p, n) {
			if n < 20 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		target, p = f.plan("0.2.0", files)
		target.Close()
		for _, s := range p.Steps {
			ofVbot := s.Path != "server/bot.py" && s.Path != "server/conflict.py"
			if ofVbot && (s.State == Edited || s.State == Pending || s.Action == Merged) {
				t.Errorf("killed before step %d: %s is %s", n, s.Path, s.State)
			}
		}
		if p.Conflicts != nil && markersAt([]byte(f.tree()["server/conflict.py"])) > 0 {
			f.put("server/conflict.py", "1\nmine\n3\n") // its owner resolves it first, as always
		}
		f.update("0.2.0", files)
		if got := f.tree(); !maps.Equal(got, want) {
			t.Fatalf("killed before step %d:\n%q\nwant:\n%q", n, got, want)
		}
	}
}

// No update changes a file that is written once, and --check does not list it. A new one is written, and an
// unedited one is removed when the bot no longer has it.
func TestFilesThatAreWrittenOnce(t *testing.T) {
	const agent, fixtures, test = "server/agent.py", "server/tests/conftest.py", "server/tests/test_agent.py"
	const bot = "server/bot.py"
	f := newFolder(t, "0.1.0", texts{agent: "you\n", bot: "1\n"})
	f.wants(BaseDir+"/"+agent, "")
	f.put(agent, "Mila\n")
	p := f.update("0.2.0", texts{agent: "you, too\n", bot: "2\n", fixtures: "yours\n", test: "yours\n"})
	if states(p) != "outdated "+bot+", missing "+fixtures+", missing "+test || p.Conflicts != nil {
		t.Error(states(p), p.Conflicts)
	}
	f.wants(agent, "Mila\n")
	f.wants(fixtures, "yours\n")
	f.put(test, "mine\n")
	p = f.update("0.3.0", texts{agent: "you, too\n", bot: "2\n", fixtures: "others\n", test: "others\n"})
	if states(p) != "" || p.Writes() != 1 { // the record
		t.Error(states(p), p.Writes())
	}
	f.wants(fixtures, "yours\n")
	f.update("0.3.0", texts{agent: "you, too\n", bot: "2\n"})
	f.wants(fixtures, "") // as vbot wrote it
	f.wants(test, "mine\n")
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(agent))); err != nil {
		t.Fatal(err)
	}
	p = f.update("0.4.0", texts{agent: "you, too\n", bot: "2\n"})
	if states(p) != "missing "+agent || p.Count(Missing) != 1 {
		t.Error(states(p))
	}
	f.wants(agent, "")
}

// An example that its owner deleted is neither missed nor restored. While a tool of agent.py comes from it,
// it stays, even if the bot has no tests any more.
func TestTheExampleIsTheOwners(t *testing.T) {
	const agent = "server/agent.py"
	files := texts{agent: "you\n", example: "a tool\n"}
	f := newFolder(t, "0.1.0", files)
	f.put(agent, "from appointments import book_appointment\n")
	f.update("0.2.0", texts{agent: "you\n"})
	f.wants(example, "a tool\n")

	f = newFolder(t, "0.1.0", files)
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(example))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p := f.update("0.2.0", files)
		if states(p) != "" || p.Count(Missing) != 0 {
			t.Error(states(p))
		}
		f.wants(example, "")
	}
}

// A module of a package is needed by files that import it in any of these ways.
func TestNeededModules(t *testing.T) {
	for code, wants := range map[string]bool{
		"from vbot.recording import Recording\n":               true,
		"from vbot import recording\n":                         true,
		"from vbot import (\n    camera,\n    recording,\n)\n": true,
		"import vbot.recording\n":                              true,
		"import vbot\n":                                        false,
		"from vbot import records\n":                           false,
		"import recording\n":                                   false,
		"from vbot.recording.parts import Part\n":              true,
	} {
		user := source{"server/agent.py", code}
		if got := needs(user, "server/vbot/recording.py"); got != wants {
			t.Errorf("%q needs vbot/recording.py: %t", code, got)
		}
	}
	for file, module := range map[string]string{
		"server/vbot/testing/__init__.py": "vbot.testing",
		"server/tests/cast.py":            "cast",
		"server/bot.py":                   "bot",
	} {
		if got := moduleName(file); got != module {
			t.Errorf("%s is imported as %s", file, got)
		}
	}
}

// If its base is missing or damaged, an unedited file is updated; an edited one for which there are changes
// is a conflict, and nothing is written.
func TestMissingAndDamagedBases(t *testing.T) {
	old := texts{"edited.py": "1\n2\n3\n", "same.py": "1\n", "other.py": "1\n"}
	files := texts{"edited.py": "1\n2\n3.0\n", "same.py": "2\n", "other.py": "1\n"}
	for name, damage := range map[string]func(f *folder, base string){
		"missing": func(f *folder, base string) { os.Remove(filepath.Join(f.dir, base)) },
		"text":    func(f *folder, base string) { f.put(base, "1\n2\n3\n") },
		"another": func(f *folder, base string) { f.put(base, string(pack([]byte("1\nX\n3\n")))) },
		"empty":   func(f *folder, base string) { f.put(base, "") },
		"huge":    func(f *folder, base string) { f.put(base, string(pack(make([]byte, maxSize+1)))) },
	} {
		f := newFolder(t, "0.1.0", old)
		for _, text := range old {
			damage(f, basePath(hexSum([]byte(text))))
		}
		f.put("edited.py", "mine\n2\n3\n")
		before := f.tree()
		p := f.update("0.2.0", files)
		if states(p) != "pending edited.py, outdated same.py" || len(p.Conflicts) != 1 ||
			!strings.Contains(p.Conflicts[0].Message, "missing or damaged") || !maps.Equal(before, f.tree()) {
			t.Errorf("%s: %s, %v", name, states(p), p.Conflicts)
		}
		f.markers = true // then all that differs conflicts
		f.update("0.2.0", files)
		f.wants("same.py", "2\n")
		f.wants("edited.py", "<<<<<<< yours\nmine\n2\n3\n=======\n1\n2\n3.0\n>>>>>>> vbot 0.2.0\n")
		f.put("edited.py", "mine\n2\n3.0\n")
		f.markers = false
		if p := f.update("0.2.0", files); states(p) != "edited edited.py" || p.Conflicts != nil {
			t.Errorf("%s, resolved: %s, %v", name, states(p), p.Conflicts)
		}
	}
}

// The lost base of an edited file is written again by an update without changes for the file.
func TestBaseComesBack(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n2\n3\n"})
	base := basePath(hexSum([]byte("1\n2\n3\n")))
	if err := os.Remove(filepath.Join(f.dir, base)); err != nil {
		t.Fatal(err)
	}
	f.put("a.py", "1\n2\nmine\n")
	if p := f.update("0.2.0", texts{"a.py": "1\n2\n3\n"}); p.Conflicts != nil || f.tree()[base] == "" {
		t.Error(p.Conflicts, f.tree())
	}
	f.update("0.3.0", texts{"a.py": "one\n2\n3\n"})
	f.wants("a.py", "one\n2\nmine\n")
}

// A search and replace in all files of a project edits files, and no bases.
func TestSearchAndReplace(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "you are friendly\n2\n3\n4\n"})
	for name, text := range f.tree() {
		f.put(name, strings.ReplaceAll(text, "friendly", "Mila"))
	}
	f.update("0.2.0", texts{"a.py": "you are friendly\n2\n3\nfour\n"})
	f.wants("a.py", "you are Mila\n2\n3\nfour\n")
}

// An update fails if all files of a top-level folder are gone, because the folder may have been renamed.
func TestFolderThatMoved(t *testing.T) {
	old := texts{"server/a.py": "1\n", "server/b.py": "1\n", "client/c.js": "1\n"}
	files := texts{"server/a.py": "2\n", "server/b.py": "1\n", "server/new.py": "new\n", "client/c.js": "2\n"}
	f := newFolder(t, "0.1.0", old)
	if err := os.Rename(filepath.Join(f.dir, "server"), filepath.Join(f.dir, "backend")); err != nil {
		t.Fatal(err)
	}
	plan := func(accept bool) (*Target, *Plan, error) {
		target, err := Lock(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		was, err := target.Record(slices.Collect(maps.Keys(files)))
		if err != nil {
			t.Fatal(err)
		}
		u := updateTo(t, files.bytes(), was)
		u.AcceptMissing = accept
		p, err := target.PlanUpdate(u)
		return target, p, err
	}
	target, _, err := plan(false)
	target.Close()
	failure := report.As(err)
	if failure.Code != report.Conflict || failure.Problems[0].Field != "server" {
		t.Error(err)
	}
	target, p, err := plan(true)
	if err == nil {
		err = target.Apply(context.Background(), p)
	}
	target.Close()
	f.wants("client/c.js", "2\n")
	f.wants("server/a.py", "")
	gone := []string{"server/a.py", "server/b.py", "server/new.py"}
	if !slices.Equal(p.GoneFolders, []string{"server"}) {
		t.Error(p.GoneFolders)
	}
	if err != nil || !slices.Equal(p.Paths(Missing), gone) {
		t.Error(err, p.Paths(Missing))
	}
	target, p, err = plan(false) // from now on it is known
	target.Close()
	if err != nil || p.Writes() > 0 || p.GoneFolders != nil || !slices.Equal(p.Paths(Missing), gone) {
		t.Error(err, p.Paths(Created), p.Paths(Replaced), p.Paths(Removed), p.Paths(Missing))
	}
}

// An update writes a missing guide, which is in the patch, and keeps one that exists, whatever its text.
func TestGuidesInAnUpdate(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n"})
	f.put("AGENTS.md", "old\n")
	target, err := Lock(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	was, err := target.Record([]string{"a.py"})
	if err != nil {
		t.Fatal(err)
	}
	files := texts{"a.py": "1\n", "AGENTS.md": "new\n", "AGENT_IMPORT.md": "new\n"}
	p, err := target.PlanUpdate(updateTo(t, files.bytes(), was))
	if err != nil {
		t.Fatal(err)
	}
	kept, created := p.Paths(Kept), p.Shown(Created)
	if !slices.Equal(kept, []string{"AGENTS.md"}) || !slices.Equal(created, []string{"AGENT_IMPORT.md"}) {
		t.Errorf("kept %q, created %q", kept, created)
	}
	const patch = "--- /dev/null\n+++ b/AGENT_IMPORT.md\n@@ -0,0 +1,1 @@\n+new\n"
	if diff := p.Diff("", false); diff != patch {
		t.Errorf("%q", diff)
	}
}

// updating returns a plan that updates the project in dir, in which vbot wrote "old" into each file
// in was, to files. It has no bases.
func updating(t *testing.T, dir string, files map[string][]byte, was ...string) (*Target, *Plan) {
	t.Helper()
	old := map[string][]byte{}
	for _, name := range was {
		old[name] = []byte("old")
	}
	record, err := NewRecord("0.0.1", struct{}{}, old)
	if err != nil {
		t.Fatal(err)
	}
	data, err := record.bytes()
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, dir, RecordName, string(data))
	target, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	p, err := target.PlanUpdate(updateTo(t, files, record))
	if err != nil {
		t.Fatal(err)
	}
	return target, p
}

// updateTo returns the request to update a project with this record to these files. What the record describes
// cannot be rendered again.
func updateTo(t *testing.T, files map[string][]byte, was *Record) *UpdateRequest {
	t.Helper()
	now, err := NewRecord("0.0.2", struct{}{}, files)
	if err != nil {
		t.Fatal(err)
	}
	return &UpdateRequest{
		Files:    files,
		Was:      was,
		Now:      now,
		Rendered: func() map[string][]byte { return nil },
	}
}

// An empty file counts as damaged by a power failure only if vbot wrote a file of that path.
func TestEmptyFileOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"new.py", "was.py"} {
		filetest.Put(t, dir, name, "")
	}
	filetest.Link(t, "new.py", filepath.Join(dir, "link.py")) // that is not read
	_, p := updating(t, dir, map[string][]byte{
		"link.py": []byte("new"),
		"new.py":  []byte("new"),
		"was.py":  []byte("new"),
	}, "was.py")
	if kept, replaced := p.Paths(Kept), p.Paths(Replaced); !slices.Equal(kept,
		[]string{"link.py", "new.py"}) || !slices.Equal(replaced, []string{"was.py", RecordName}) {
		t.Errorf("kept %q, replaced %q", kept, replaced)
	}
}

// A merged file keeps its line ends, and several conflicts are all listed.
func TestMergedText(t *testing.T) {
	old := texts{"a.py": "1\n2\n3\n4\n5\n"}
	for mine, want := range map[string]string{
		"1\r\n2\r\nmine\r\n4\r\n5\r\n": "one\r\n2\r\nmine\r\n4\r\n5.0\r\n",
		"1\n2\nmine\r\n4\n5\n":         "one\n2\nmine\n4\n5.0\n", // mixed: most editors write LF then
	} {
		f := newFolder(t, "0.1.0", old)
		f.put("a.py", mine)
		p := f.update("0.2.0", texts{"a.py": "one\n2\n3\n4\n5.0\n"})
		f.wants("a.py", want)
		if s := p.Steps[0]; s.Action != Merged || s.Why != "your edits stay" || s.State != Pending {
			t.Errorf("%+v", s)
		}
	}
	f := newFolder(t, "0.1.0", old)
	f.put("a.py", "I\n2\n3\n4\nV\n")
	p := f.update("0.2.0", texts{"a.py": "one\n2\n3\n4\n5.0\n"})
	const want = "a.py: your edits conflict with vbot's changes at line 1, 5"
	if len(p.Conflicts) != 1 || p.Conflicts[0].Line() != want || p.Blocked {
		t.Errorf("%v, blocked %v", p.Conflicts, p.Blocked)
	}
	f.put("a.py", "<<<<<<< yours\n")
	p = f.update("0.2.0", texts{"a.py": "one\n"})
	if len(p.Conflicts) != 1 || !p.Blocked || p.Steps[0].Marked != 1 {
		t.Errorf("%v, blocked %v", p.Conflicts, p.Blocked)
	}
}

// A .gitignore that vbot no longer writes stays as long as there are files that it may be for.
func TestGitignoreOfAFolder(t *testing.T) {
	f := newFolder(t, "0.1.0", texts{"a.py": "1\n", "client/.gitignore": "dist/\n", "client/a.js": "1\n"})
	f.put("client/dist/x.js", "")
	p := f.update("0.2.0", texts{"a.py": "1\n"})
	f.wants("client/.gitignore", "dist/\n")
	f.wants("client/a.js", "")
	for _, s := range p.Steps {
		if s.Path == "client/.gitignore" && (s.Action != Kept || s.Why != "client/dist/x.js is still there") {
			t.Errorf("%+v", s)
		}
	}
	if err := os.RemoveAll(filepath.Join(f.dir, "client", "dist")); err != nil {
		t.Fatal(err)
	}
	f.put("client/.vbot-1-2.tmp", "of a killed run")
	f.update("0.2.0", texts{"a.py": "1\n"})
	if Has(f.dir, "client") {
		t.Error("the folder stays")
	}
}
