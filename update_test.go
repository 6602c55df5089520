package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
	"vbot/internal/scaffold"
	"vbot/internal/system"
)

// checkRecord checks that the record in dir is complete: it has config, as a dry run prints it, and the
// hash of each file except the guides.
func checkRecord(t *testing.T, dir, config string) {
	t.Helper()
	tree := filetest.Tree(t, dir)
	var got struct {
		Vbot   string            `json:"vbot"`
		Config json.RawMessage   `json:"config"`
		Files  map[string]string `json:"files"`
	}
	if err := json.Unmarshal([]byte(tree[project.RecordName]), &got); err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(strings.TrimSpace(config), "\n", "\n  "); got.Vbot != version ||
		string(got.Config) != want {
		t.Errorf("vbot %s, config %s, want %s", got.Vbot, got.Config, want)
	}
	bases := map[string]string{}
	for name, sum := range got.Files {
		if sum != filetest.Sum(tree[name]) {
			t.Errorf("the recorded hash of %s is %s", name, sum)
		}
		if base, data := project.Base([]byte(tree[name])); !project.IsWrittenOnce(name) {
			bases[base] = string(data)
		}
	}
	for name, data := range tree {
		_, recorded := got.Files[name]
		if recorded == (name == project.RecordName || project.IsGuide(name) || project.IsInternal(name)) {
			t.Errorf("the record has %s: %v", name, recorded)
		}
		if strings.HasPrefix(name, project.BaseDir+"/") && bases[name] != data {
			t.Errorf("%s is not the base of a recorded file", name)
		}
		delete(bases, name)
	}
	if len(bases) > 0 {
		t.Errorf("%d files have no base", len(bases))
	}
}

// makeOlder makes the project in dir/target look as if an older vbot had written it: one that wrote old as
// the text of these files, and did not yet write the files in later.
func makeOlder(t testing.TB, dir string, old map[string]string, later ...string) {
	t.Helper()
	target := filepath.Join(dir, "target")
	var r map[string]any
	if err := json.Unmarshal([]byte(filetest.Tree(t, target)[project.RecordName]), &r); err != nil {
		t.Fatal(err)
	}
	r["vbot"] = "0.0.9"
	files := r["files"].(map[string]any)
	for name, data := range old {
		filetest.Put(t, target, name, data)
		base, packed := project.Base([]byte(data))
		filetest.Put(t, target, base, string(packed))
		files[name] = filetest.Sum(data)
	}
	for _, name := range later {
		delete(files, name)
		if err := os.Remove(filepath.Join(target, name)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, target, project.RecordName, string(data))
}

// writeProject writes the files of a project into dir.
func writeProject(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	target, err := project.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	p, err := target.PlanCreate(files, false, nil)
	if err == nil {
		err = target.Apply(context.Background(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// editedProject is a project of an older vbot that its owner has edited.
func editedProject(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{
		"server/Dockerfile":     "FROM old",
		"client/src/devices.js": "gone\n",
		"client/src/views.js":   "old\n",
		"server/bot.py":         "old\n",
	}, "server/cloud-deploy.toml")
	bot := filetest.Tree(t, dir)["target/server/pyproject.toml"]
	filetest.Put(t, dir, "target/server/pyproject.toml", bot+"# mine\n")
	filetest.Put(t, dir, "target/client/src/views.js", "mine\n")
	filetest.Put(t, dir, "target/notes.txt", "mine\n")
	if err := os.Remove(filepath.Join(dir, "target/.gitignore")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A check reports the state of each file, and writes nothing. An update replaces the files that nobody
// edited. A second update changes nothing.
func TestCheckAndUpdate(t *testing.T) {
	parallel(t)
	dir := editedProject(t)
	before := filetest.Listing(t, dir)
	for _, c := range []struct {
		name, args string
		code       int
	}{
		{"check", "--check", 3},
		{"check-json", "--check --json", 3},
		{"check-diff", "--check --diff", 3},
		{"check-dry-run", "--check --dry-run --no-deploy-to-cloud", 0},
		{"check-with-options", "--check --no-deploy-to-cloud", 3},
		{"update-diff", "--update --diff", 0},
		{"update-dry-run", "--update --dry-run", 0},
		{"update-refused", "--update -t pigeon", 2},
	} {
		r := vbot(t, dir, append([]string{"init", "target"}, strings.Fields(c.args)...)...)
		r.wantCode(t, c.code)
		section(t, "update/check.txt", c.name, outlined(r.transcript(dir)))
		if after := filetest.Listing(t, dir); after != before {
			t.Fatalf("%s: before:\n%s\nafter:\n%s", c.args, before, after)
		}
	}
	r := vbot(t, dir, "init", "target", "--update")
	r.wantCode(t, 0)
	section(t, "update/update.txt", "update", r.transcript(dir))
	tree := filetest.Tree(t, dir)
	for name, want := range map[string]string{
		"server/bot.py":         "",
		"server/pyproject.toml": "# mine\n",
		"client/src/views.js":   "mine\n",
		"notes.txt":             "mine\n",
	} {
		if got := tree["target/"+name]; !strings.HasSuffix(got, want) || got == "old\n" {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if strings.Contains(filetest.Listing(t, dir), "public") || tree["target/.gitignore"] != "" {
		t.Errorf("after the update:\n%s", filetest.Listing(t, dir))
	}
	for _, name := range []string{"update-again", "update-again-json"} {
		args := []string{"init", "target", "--update"}
		if name == "update-again-json" {
			args = append(args, "--json")
		}
		r = vbot(t, dir, args...)
		r.wantCode(t, 0)
		section(t, "update/update.txt", name, r.transcript(dir))
	}
	if !equalTrees(tree, filetest.Tree(t, dir)) {
		t.Error("the second update changed something")
	}
}

// Files that git on Windows has checked out with CRLF do not count as edited.
func TestLineEndsOfGit(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{"server/Dockerfile": "FROM old\n", "client/src/views.js": "gone\n"})
	for name, data := range filetest.Tree(t, dir) {
		if !project.IsInternal(strings.TrimPrefix(name, "target/")) { // .gitattributes says binary
			filetest.Put(t, dir, name, strings.ReplaceAll(data, "\n", "\r\n"))
		}
	}
	const edited = "# mine\r\n"
	filetest.Put(t, dir, "target/server/bot.py", edited)
	before := filetest.Tree(t, dir)
	r := vbot(t, dir, "init", "target", "--check")
	r.wantCode(t, 3)
	section(t, "update/check.txt", "crlf", r.transcript(dir))
	r = vbot(t, dir, "init", "target", "--update", "--json")
	r.wantCode(t, 0)
	after := filetest.Tree(t, dir)
	for name, data := range before {
		isOwn := project.IsInternal(strings.TrimPrefix(name, "target/"))
		switch name {
		case "target/client/src/views.js":
			data = ""
		case "target/server/Dockerfile", "target/.vbot.json":
			if after[name] == data || strings.Contains(after[name], "\r") {
				t.Errorf("%s holds %q", name, after[name])
			}
			continue
		}
		if after[name] != data && !isOwn {
			t.Errorf("%s holds %q", name, after[name])
		}
	}
	var answer scaffold.Written
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
		t.Fatal(err)
	}
	for _, f := range answer.Files {
		if data, ok := after["target/"+f.Path]; ok && string(f.SHA256) != filetest.Sum(data) {
			t.Errorf("the hash of %s is not that of the file", f.Path)
		}
	}
}

// A check names the files that a power failure or a kill left, and the next update repairs them.
func TestUpdateAfterAPowerFailure(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	fresh := filetest.Tree(t, dir)
	for name, leave := range map[string]func(){
		"empty": func() {
			filetest.Put(t, dir, "target/server/bot.py", "")
			filetest.Put(t, dir, "target/README.md", "")
			filetest.Put(t, dir, "target/DEPLOY.md", "mine")
		},
		"killed": func() {
			// The record has the old hashes, and the bases are those that this version writes.
			hash := filetest.Sum("old")
			record := strings.NewReplacer(
				filetest.Sum(fresh["target/server/bot.py"]), hash,
				`"files": {`, `"files": {"client/src/views.js": "`+hash+`",`,
			).Replace(fresh["target/.vbot.json"])
			filetest.Put(t, dir, "target/.vbot.json", record)
			filetest.Put(t, dir, "target/server/bot.py", "old")
			filetest.Put(t, dir, "target/client/src/views.js", "old")
			filetest.Put(t, dir, "target/DEPLOY.md", fresh["target/DEPLOY.md"])
		},
	} {
		leave()
		r := vbot(t, dir, "init", "target", "--check")
		r.wantCode(t, 3)
		section(t, "update/left.txt", name+": check", r.transcript(dir))
		r = vbot(t, dir, "init", "target", "--update")
		r.wantCode(t, 0)
		section(t, "update/left.txt", name+": update", r.transcript(dir))
		left := filetest.Tree(t, dir)
		if left["target/DEPLOY.md"] == "mine" {
			left["target/DEPLOY.md"] = fresh["target/DEPLOY.md"]
		}
		if !equalTrees(fresh, left) {
			t.Errorf("%s:\n%s", name, filetest.Listing(t, dir))
		}
	}
}

// Running the command of an older vbot again is a conflict, and an update only with --update.
func TestOtherVersionIsAConflict(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	fresh := filetest.Tree(t, dir)
	makeOlder(t, dir, nil)
	r := vbot(t, dir, initArgs()...)
	r.wantCode(t, 1)
	section(t, "errors/conflict.txt", "other version", r.transcript(dir))
	r = vbot(t, dir, "init", "target", "--check")
	r.wantCode(t, 0)
	section(t, "update/check.txt", "clean", r.transcript(dir))
	r = vbot(t, dir, "init", "target", "--update", "--json")
	r.wantCode(t, 0)
	section(t, "update/update.txt", "json", r.transcript(dir))
	if !equalTrees(fresh, filetest.Tree(t, dir)) {
		t.Error("the update differs from a fresh project")
	}
}

// The hint of a check is an update only if the update would change a file that differs.
func TestNoHintWhereAnUpdateChangesNothing(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, nil)
	filetest.Put(t, dir, "target/server/bot.py", "mine\n")
	if err := os.Remove(filepath.Join(dir, "target/README.md")); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, "init", "target", "--check")
	r.wantCode(t, 3)
	if strings.Contains(r.stderr, "hint:") {
		t.Error(r.stderr)
	}
}

// A check that is interrupted says so, and does not print what it has found so far.
func TestInterruptedCheck(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	filetest.Put(t, dir, "target/server/bot.py", "mine")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	inProcess{ctx: ctx, dir: dir}.vbot(t, "init", "target", "--check").wantCode(t, 130)
}

// The quickstart can be checked in its own directory, and its options cannot be changed.
func TestUpdateOfTheQuickstart(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, "init", "quickstart", "--check").wantCode(t, 4)
	vbot(t, dir, "init", "quickstart").wantCode(t, 0)
	vbot(t, dir, "init", "quickstart", "--check").wantCode(t, 0)
	filetest.Put(t, dir, "vbot-quickstart/server/bot.py", "mine")
	vbot(t, dir, "init", "quickstart", "--check").wantCode(t, 3)
	vbot(t, dir, "init", "quickstart", "--update", "--recording").wantCode(t, 2)
	at := filepath.Join(dir, "vbot-quickstart")
	vbot(t, at, "init", "--update", "--recording").wantCode(t, 1)
	vbot(t, at, "init", "--update", "--recording", "--conflict-markers").wantCode(t, 1)
	tree := filetest.Tree(t, at)
	got, marked := tree["server/bot.py"], "<<<<<<< yours\nmine\n=======\n"
	if !strings.HasPrefix(got, marked) || tree["server/vbot/recording.py"] == "" {
		t.Errorf("bot.py: %q", got)
	}
}

// If nobody edited a project, an update gives the same files as a new project, whatever an older vbot wrote.
func TestUpdatedIsFresh(t *testing.T) {
	parallel(t)
	cat := catalog.New()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	var before *bot.Config
	for range filetest.Rounds(10, 400) {
		dir := t.TempDir()
		cfg := anyBot(t, cat, rng)
		d, err := newDraft(cat, &cfg, version)
		if err != nil {
			t.Fatal(err)
		}
		was := cfg // or another bot, so that the update changes options
		if before != nil && rng.IntN(2) == 0 {
			was = *before
		}
		before = &cfg
		old, err := render.New(was, cat, version).Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(old)) {
			switch n := rng.IntN(15); {
			case project.IsGuide(name), filepath.Base(name) == ".gitignore": // no line of which goes
			case n < 5:
				old[name] = append([]byte("# old\n"), old[name]...)
			case n < 8:
				delete(old, name)
			}
		}
		old["client/src/views.js"] = []byte("gone\n")
		if err := project.AddRecord(version, was, old); err != nil {
			t.Fatal(err)
		}
		for name, data := range old {
			filetest.Put(t, dir, name, string(data))
		}
		var config, said bytes.Buffer
		if err := report.WriteJSON(&config, cfg); err != nil {
			t.Fatal(err)
		}
		args := []string{"init", dir, "--config", "-", "--update"}
		if code := run(context.Background(), args,
			&cli.Env{
				System: system.System{Stderr: &said, Getenv: func(string) string { return "" }},
				Stdin:  &config,
				Stdout: &said,
			}); code != 0 {
			t.Fatalf("seed %d: exit code %d: %s", seed, code, &said)
		}
		want, got := vbotsFiles(texts(d.files)), vbotsFiles(filetest.Tree(t, dir))
		if !equalTrees(want, got) || hasEmptyDirs(dir) {
			t.Fatalf("seed %d: after the update:\n%s", seed, filetest.Listing(t, dir))
		}
		args = []string{"init", dir, "--check"}
		if code := run(context.Background(), args,
			&cli.Env{
				System: system.System{Stderr: &said, Getenv: func(string) string { return "" }},
				Stdin:  &config,
				Stdout: &said,
			}); code != 0 {
			t.Fatalf("seed %d: the check after the update: %s", seed, &said)
		}
	}
}

// vbotsFiles returns the files of a project without those that are written once: no update changes these, nor
// what the record has of them.
func vbotsFiles(tree map[string]string) map[string]string {
	own := map[string]string{}
	for name, text := range tree {
		if !project.IsWrittenOnce(name) {
			own[name] = text
		}
	}
	var lines []string
	for line := range strings.Lines(tree[project.RecordName]) {
		name, _, _ := strings.Cut(strings.TrimLeft(line, ` "`), `"`)
		if !project.IsWrittenOnce(name) {
			lines = append(lines, line)
		}
	}
	own[project.RecordName] = strings.Join(lines, "")
	return own
}

// A randomEdit is an edit of one line of a file.
type randomEdit struct {
	name  string   // of the file
	lines []string // before
	at    int      // the line, from 0
	mine  string   // after
}

// editAtRandom edits a line of a file of a bot.
func editAtRandom(rng *rand.Rand, files map[string][]byte) (e randomEdit) {
	names := slices.Sorted(maps.Keys(files))
	e.name = project.RecordName
	for e.name == project.RecordName || project.IsGuide(e.name) || project.IsInternal(e.name) {
		e.name = names[rng.IntN(len(names))]
	}
	e.lines = slices.Collect(strings.Lines(string(files[e.name])))
	e.at = rng.IntN(len(e.lines))
	mine := slices.Clone(e.lines)
	switch rng.IntN(3) {
	case 0:
		mine = slices.Insert(mine, e.at, "# mine\n")
	case 1:
		mine[e.at] = "# mine\n"
	case 2:
		mine = slices.Delete(mine, e.at, e.at+1)
	}
	e.mine = strings.Join(mine, "")
	return e
}

// lost returns the lines of the edit and of the update that are missing from the file after the update, and
// how often each is. fresh is the file as this version writes it, or nil if it does not.
func (e randomEdit) lost(fresh []byte, after string) map[string]int {
	missing := map[string]int{}
	count := func(text string, n int) {
		for line := range strings.Lines(text) {
			missing[line] += n
		}
	}
	count(e.mine, 1)
	count(string(fresh), 1)
	count(strings.Join(e.lines, ""), -1)
	count(strings.ReplaceAll(after, "\r\n", "\n"), -1)
	maps.DeleteFunc(missing, func(line string, n int) bool {
		isRemoved := fresh == nil || line == e.lines[e.at] // both may have removed it
		return n == 0 || isRemoved
	})
	return missing
}

// updateTo updates the project to a bot, and returns the exit code and the output.
func updateTo(t *testing.T, dir string, now bot.Config) (code int, said string) {
	t.Helper()
	var config, out bytes.Buffer
	if err := report.WriteJSON(&config, now); err != nil {
		t.Fatal(err)
	}
	env := &cli.Env{
		System: system.System{Stderr: &out, Getenv: func(string) string { return "" }},
		Stdin:  &config,
		Stdout: &out,
	}
	code = run(context.Background(), []string{"init", dir, "--config", "-", "--update"}, env)
	return code, out.String()
}

// After an update with changed options, a file with an edit on any line has both the edit and the change, or
// nothing is written. The same update again changes nothing.
func TestEditsStay(t *testing.T) {
	parallel(t)
	cat := catalog.New()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	merged, refused := 0, 0
	for range filetest.Rounds(12, 500) {
		dir := t.TempDir()
		was, now := anyBot(t, cat, rng), anyBot(t, cat, rng)
		if rng.IntN(2) == 0 { // one option
			now = was
			now.Recording = !was.Recording
		}
		old, err := newDraft(cat, &was, version)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := newDraft(cat, &now, version)
		if err != nil {
			t.Fatal(err)
		}
		edit := editAtRandom(rng, old.files)
		writeProject(t, dir, old.files)
		end := []string{"\n", "\r\n"}[rng.IntN(2)]
		filetest.Put(t, dir, edit.name, strings.ReplaceAll(edit.mine, "\n", end))
		before := filetest.Tree(t, dir)
		code, said := updateTo(t, dir, now)
		after := filetest.Tree(t, dir)
		again, saidAgain := updateTo(t, dir, now)
		if again != code || !equalTrees(after, filetest.Tree(t, dir)) {
			const second = "seed %d: %s, exit code %d: %s\nand then %d: %s"
			t.Fatalf(second, seed, edit.name, code, said, again, saidAgain)
		}
		isNamed := strings.Contains(said, edit.name+": your edits conflict with vbot's changes at line ")
		if code == 1 && equalTrees(before, after) && isNamed {
			refused++
			continue
		}
		if code != 0 {
			t.Fatalf("seed %d: exit code %d: %s", seed, code, said)
		}
		merged++
		for path := range fresh.files {
			// The record also lists a file that vbot no longer writes but that stays.
			lists := path == project.RecordName && fresh.files[edit.name] == nil
			isOther := path != edit.name && !project.IsGuide(path) && !lists
			if isOther && vbotsFiles(after)[path] != vbotsFiles(texts(fresh.files))[path] {
				t.Fatalf("seed %d: %s is not fresh, with %s edited: %s", seed, path, edit.name, said)
			}
		}
		for line, n := range edit.lost(fresh.files[edit.name], after[edit.name]) {
			t.Errorf("seed %d: %s, edited at line %d: %q stands there %d times too few:\n%s",
				seed, edit.name, edit.at+1, line, n, after[edit.name])
		}
	}
	if filetest.Thorough() && merged < refused {
		t.Errorf("seed %d: %d merged, %d refused", seed, merged, refused)
	}
}

// When services change, edits are merged. If an edit and the change are on the same lines, a person decides.
func TestServicesOfAnEditedBot(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, "init", "target", "-t", "smallwebrtc", "-m", "cascade", "--stt", "google", "--llm", "openai",
		"--tts", "piper").wantCode(t, 0)
	edit := func(name, old, new string) {
		text := filetest.Tree(t, dir)["target/"+name]
		if strings.Count(text, old) != 1 {
			t.Fatalf("%s does not hold %q once", name, old)
		}
		filetest.Put(t, dir, "target/"+name, strings.Replace(text, old, new, 1))
	}
	edit("server/agent.py", "You are a friendly assistant", "You are Captain Ahab")
	edit("server/bot.py", "runner_args.pipeline_idle_timeout_secs", "60")
	edit("server/pyproject.toml", "dependencies = []", "dependencies = [\n    \"requests\",\n]")
	edit("server/.env.example", "# Your own: ", "SHIP=pequod\n# Your own: ")
	options := []string{"init", "target", "--update", "--stt", "deepgram", "--tts", "cartesia"}
	r := vbot(t, dir, append(options, "--diff", "--dry-run")...)
	r.wantCode(t, 0)
	section(t, "update/edited.txt", "plan", outlined(r.transcript(dir)))
	r = vbot(t, dir, options...)
	r.wantCode(t, 0)
	section(t, "update/edited.txt", "merged", r.transcript(dir))
	tree := filetest.Tree(t, dir)
	for name, words := range map[string][]string{
		"server/agent.py":       {"Captain Ahab"},
		"server/bot.py":         {"idle_timeout_secs=60", "DeepgramSTTService", "CartesiaTTSService"},
		"server/pyproject.toml": {"requests", "cartesia,deepgram"},
		"server/.env.example":   {"SHIP=pequod", "DEEPGRAM_API_KEY=", "CARTESIA_API_KEY="},
	} {
		for _, word := range words {
			if !strings.Contains(tree["target/"+name], word) {
				t.Errorf("%s lacks %s:\n%s", name, word, tree["target/"+name])
			}
		}
	}
	edit("server/bot.py", "tts = CartesiaTTSService(", "tts = MyTTSService(")
	before := filetest.Tree(t, dir)
	for _, c := range []struct {
		name, args string
		code       int
	}{
		{"check", "--check --tts elevenlabs", 3},
		{"refused", "--update --tts elevenlabs", 1},
		{"refused-json", "--update --tts elevenlabs --json", 1},
		{"refused-diff", "--update --tts elevenlabs --diff", 1},
		{"conflict-markers", "--update --tts elevenlabs --conflict-markers", 1},
		{"markers", "--update --tts elevenlabs", 1},
		{"markers-check", "--check", 3},
	} {
		r := vbot(t, dir, append([]string{"init", "target"}, strings.Fields(c.args)...)...)
		r.wantCode(t, c.code)
		section(t, "update/edited.txt", c.name, outlined(r.transcript(dir)))
		after := filetest.Tree(t, dir)
		if writes := c.name == "conflict-markers"; equalTrees(before, after) == writes {
			t.Errorf("%s: after the update:\n%s", c.args, filetest.Listing(t, dir))
		}
		before = after
	}
}

// hasEmptyDirs says whether there is a directory without files in dir.
func hasEmptyDirs(dir string) (found bool) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			entries, err := os.ReadDir(path)
			found = found || err != nil || len(entries) == 0
		}
		return err
	})
	return found
}

// An update does not touch a file of the owner that init kept; it merges a file of vbot that was edited.
func TestUpdateOfKeptFiles(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	const last = "    await runner.run()\n"
	bot := strings.Replace(filetest.Tree(t, dir)["target/server/bot.py"], last, last+"    # mine\n", 1)
	for _, remove := range []string{project.RecordName, ".vbot"} {
		if err := os.RemoveAll(filepath.Join(dir, "target", remove)); err != nil {
			t.Fatal(err)
		}
	}
	filetest.Put(t, dir, "target/server/bot.py", bot)
	filetest.Put(t, dir, "target/README.md", "# My repository\n")
	vbot(t, dir, initArgs("--keep-existing")...).wantCode(t, 0)
	r := vbot(t, dir, "init", "target", "--update", "--recording")
	r.wantCode(t, 0)
	section(t, "update/update.txt", "kept", r.transcript(dir))
	tree := filetest.Tree(t, dir)
	if got := tree["target/README.md"]; got != "# My repository\n" {
		t.Errorf("README.md holds %q", got)
	}
	got := tree["target/server/bot.py"]
	if !strings.Contains(got, "recorder") || !strings.Contains(got, last+"    # mine\n") {
		t.Errorf("bot.py holds %q", got)
	}
}

// A check names a deleted file with a command, and this command restores it.
func TestRestoringCommand(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	fresh := filetest.Tree(t, dir)
	if err := os.Remove(filepath.Join(dir, "target/DEPLOY.md")); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, "init", "target", "--update")
	r.wantCode(t, 0)
	section(t, "update/update.txt", "deleted", r.transcript(dir))
	_, line, _ := strings.Cut(r.stderr, "to restore what you deleted: ")
	line, _, _ = strings.Cut(line, "\n")
	first, second, ok := strings.Cut(line, " | ")
	if !ok {
		t.Fatal(r.stderr)
	}
	config := vbot(t, dir, strings.Fields(first)[1:]...).stdout
	at := inProcess{stdin: strings.NewReader(config), dir: dir}
	at.vbot(t, strings.Fields(second)[1:]...).wantCode(t, 0)
	if !equalTrees(fresh, filetest.Tree(t, dir)) {
		t.Errorf("%s left:\n%s", line, filetest.Listing(t, dir))
	}
}

// Removing the client from a bot removes its files, except one that was edited.
func TestUpdateWithOptions(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs("--client-framework", "vanilla")...).wantCode(t, 0)
	filetest.Put(t, dir, "target/client/src/main.js", "mine")
	filetest.Put(t, dir, "target/client/node_modules/mine.js", "mine")
	r := vbot(t, dir, "init", "target", "--update", "--client-framework", "none")
	r.wantCode(t, 0)
	section(t, "update/update.txt", "with options", r.transcript(dir))
	for name := range filetest.Tree(t, filepath.Join(dir, "target/client")) {
		if !slices.Contains([]string{".gitignore", "src/main.js", "node_modules/mine.js"}, name) {
			t.Errorf("client/%s is left", name)
		}
	}
	// A file that vbot no longer writes belongs to the owner.
	vbot(t, dir, "init", "target", "--check").wantCode(t, 0)
	r = vbot(t, dir, "init", "target", "--update", "-t", "twilio", "--no-deploy-to-cloud")
	r.wantCode(t, 0)
	if !strings.Contains(filetest.Tree(t, dir)["target/.vbot.json"], `"bot_type": "telephony"`) {
		t.Errorf("it is no telephony bot; it said %s", r.stderr)
	}
}

// A bot whose model runs on localhost has no files for the cloud, unless an option asks for them. It keeps
// those that an older vbot wrote.
func TestCloudOfABotWithItsOwnModel(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	const services = "init target -t smallwebrtc -m cascade --stt moonshine --llm ollama --tts piper"
	const note = "OLLAMA_BASE_URL"
	deploys := func() bool {
		_, hasFile := filetest.Tree(t, dir)["target/server/cloud-deploy.toml"]
		return hasFile
	}
	r := vbot(t, dir, strings.Fields(services)...)
	r.wantCode(t, 0)
	if deploys() || strings.Contains(r.stderr, note) {
		t.Errorf("it has files for the cloud: %s", r.stderr)
	}
	r = vbot(t, dir, "init", "target", "--update", "--deploy-to-cloud")
	r.wantCode(t, 0)
	if !deploys() || !strings.Contains(r.stderr, note) {
		t.Errorf("it has no files for the cloud, or no note was printed: %s", r.stderr)
	}
	r = vbot(t, dir, "init", "target", "--update")
	r.wantCode(t, 0)
	if !deploys() || strings.Contains(r.stderr, note) {
		t.Errorf("it lost its files for the cloud, or the note was printed twice: %s", r.stderr)
	}
	other := t.TempDir()
	r = vbot(t, other, append(strings.Fields(services), "--deploy-to-cloud")...)
	r.wantCode(t, 0)
	if text := filetest.Tree(t, other)["target/DEPLOY.md"]; !strings.Contains(r.stderr, note) ||
		!strings.Contains(text, "set `"+note+"` in `.env`") {
		t.Errorf("no note was printed: %s", r.stderr)
	}
}

// An update keeps the modes of files that somebody changed.
func TestUpdateKeepsModes(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{"server/bot.py": "old"})
	bot := filepath.Join(dir, "target/server/bot.py")
	if err := os.Chmod(bot, 0o700); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(bot)
	if err != nil {
		t.Fatal(err)
	}
	vbot(t, dir, "init", "target", "--update").wantCode(t, 0)
	if got, err := os.Stat(bot); err != nil || got.Mode() != want.Mode() || got.Size() == want.Size() {
		t.Errorf("%v, mode %v, want %v", err, got.Mode(), want.Mode())
	}
}

// An update neither reads, follows nor replaces a link or another file that is not regular. It does not
// touch the target of a link, either.
func TestUpdateFollowsNoLinks(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs("--eval")...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{
		"server/bot.py":            "old",
		"client/src/views.js":      "gone",
		"server/Dockerfile":        "old",
		"server/cloud-deploy.toml": "old",
	})
	filetest.Put(t, dir, "outside/views.js", "gone")
	filetest.Put(t, dir, "outside/starter_text.yaml", "old")
	for name, to := range map[string]string{
		"client/src":    "../../outside",
		"server/evals":  "../../outside",
		"server/bot.py": "../../outside/views.js",
	} {
		at := filepath.Join(dir, "target", name)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		filetest.Link(t, to, at)
	}
	if err := os.Remove(filepath.Join(dir, "target/server/Dockerfile")); err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, dir, "target/server/Dockerfile/mine", "mine")
	r := vbot(t, dir, "init", "target", "--check", "--diff")
	r.wantCode(t, 3)
	section(t, "update/check.txt", "links", outlined(r.transcript(dir)))
	r = vbot(t, dir, "init", "target", "--update")
	r.wantCode(t, 1)
	isUntouched := func(links map[string]string) {
		t.Helper()
		tree := filetest.Tree(t, dir)
		links["outside/views.js"], links["outside/starter_text.yaml"] = "gone", "old"
		for _, name := range []string{"target/client/src", "target/server/evals"} {
			links[name] = "link to ../../outside"
		}
		for name, want := range links {
			if tree[name] != want {
				t.Errorf("%s: %q, want %q", name, tree[name], want)
			}
		}
	}
	isUntouched(map[string]string{
		"target/server/cloud-deploy.toml": "old",
		"target/server/Dockerfile/mine":   "mine",
		"target/server/bot.py":            "link to ../../outside/views.js",
	})
	for _, name := range []string{"target/server/Dockerfile", "target/server/bot.py"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	vbot(t, dir, "init", "target", "--update").wantCode(t, 0)
	isUntouched(map[string]string{})
	if filetest.Tree(t, dir)["target/server/cloud-deploy.toml"] == "old" {
		t.Error("cloud-deploy.toml was not replaced")
	}
}

// hostile makes a project with files of its owner and with bases that a stranger wrote. It returns the
// directory and the record.
func hostile(t *testing.T) (dir, record string) {
	t.Helper()
	dir = t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	filetest.Put(t, dir, "outside.txt", "mine")
	filetest.Put(t, dir, "target/.git/HEAD", "mine")
	filetest.Put(t, dir, "target/server/.env", "OPENAI_API_KEY=sk-hunter2\n")
	filetest.Put(t, dir, "target/server/__init__.py", "")
	filetest.Put(t, dir, "target/server/mine.txt", "mine")
	filetest.Put(t, dir, "target/.vbot/base/server/mine.txt", "mine")
	filetest.Put(t, dir, "target/.vbot/base/.git/HEAD", "mine")
	return dir, filetest.Tree(t, dir)["target/.vbot.json"]
}

// A recordCase is a record that a stranger may have made of a good one.
type recordCase struct{ name, record string }

// hostileRecords are made from a good record in the directory.
func hostileRecords(dir, good string) []recordCase {
	hash := filetest.Sum("mine")
	with := func(name string) string {
		quoted, _ := json.Marshal(name)
		return strings.Replace(good, `"files": {`, `"files": {`+"\n    "+string(quoted)+`: "`+hash+`",`, 1)
	}
	return []recordCase{
		{"path: up", with("../outside.txt")},
		{"path: up from below", with("server/../../outside.txt")},
		{"path: absolute", with(filepath.ToSlash(dir) + "/outside.txt")},
		{"path: of git", with(".GIT/HEAD")},
		{"path: of git, on NTFS", with("GIT~1/HEAD")},
		{"path: secrets", with("server/.env")},
		{"path: an empty file", with("server/__init__.py")},
		{"path: a file of one's own", with("server/mine.txt")},
		{"path: another letter case", with("Server/bot.py")},
		{"path: a guide", with("AGENTS.md")},
		{"path: backslashes", with(`..\outside.txt`)},
		{"path: drive", with("C:outside.txt")},
		{"path: line end", with("a\nb")},
		{"path: the record", with(project.RecordName)},
		{"path: empty", with("")},
		{"path: device", with("server/nul.txt")},
		{"empty", ""},
		{"merge-conflict", strings.Replace(good, `  "files": {`,
			"<<<<<<< HEAD\n  \"files\": {\n=======\n  \"files\": {\n>>>>>>> theirs", 1)},
		{"merge-conflict-everywhere", "<<<<<<< HEAD\n" + good + "=======\n" + good + ">>>>>>> theirs\n"},
		{"utf-16", "\xff\xfe{\x00"},
		{"trailing-comma", strings.Replace(good, "\n  }\n}", ",\n  }\n}", 1)},
		{"files-twice", strings.Replace(good, `  "files": {`, `  "files": {}, "files": {`, 1)},
		{"cut-off", good[:100]},
		{"not-an-object", "[]"},
		{"wrong-types", strings.Replace(good, `"files": {`, `"files": {"a": 7,`, 1)},
		{"two-objects", good + "{}"},
		{"no-version", strings.Replace(good, `"`+version+`"`, `"new\n"`, 1)},
		{"no-version", strings.Replace(good, `"`+version+`"`, `"`+version+`-é"`, 1)},
		{"no-version", strings.Replace(good, `"`+version+`"`, `"`+version+`\u001b[2J"`, 1)},
		{"no-files", good[:strings.Index(good, ",\n  \"files\"")] + "\n}\n"},
		{"no-config", `{"vbot": "` + version + `"}`},
		{"bad-config", strings.NewReplacer(`"mode": "cascade"`, `"mode": "talk"`, `"recording"`,
			`"recordng"`).Replace(good)},
		{"newer-config", strings.NewReplacer(`"`+version+`"`, `"9.0.0"`, `"recording"`, `"dancing"`).
			Replace(good)},
		{"newer", strings.Replace(good, `"`+version+`"`, `"9.0.0"`, 1)},
		{"unreadable", good + strings.Repeat(" ", 1<<20)},
	}
}

// A record that a stranger wrote is refused if it lists a path that no vbot ever wrote. Each error is printed
// with its line, and vbot reads, shows, writes and removes no file that the record names.
func TestHostileRecords(t *testing.T) {
	parallel(t)
	dir, good := hostile(t)
	for _, c := range hostileRecords(dir, good) {
		filetest.Put(t, dir, "target/.vbot.json", c.record)
		before := filetest.Listing(t, dir)
		r := vbot(t, dir, "init", "target", "--check", "--diff")
		if strings.Contains(r.stdout+r.stderr, "hunter2") || r.code == 3 {
			t.Errorf("%s: exit code %d, %s%s", c.name, r.code, r.stdout, r.stderr)
		}
		r = vbot(t, dir, "init", "target", "--update")
		r.wantCode(t, 2)
		if after := filetest.Listing(t, dir); after != before {
			t.Fatalf("%s: before:\n%s\nafter:\n%s", c.name, before, after)
		}
		if !strings.HasPrefix(c.name, "path: ") {
			section(t, "update/record.txt", c.name, r.transcript(dir))
		} else if !strings.Contains(r.stderr, "is not the path of a file that vbot writes") ||
			!strings.HasPrefix(r.stderr, "error: .vbot.json:") {
			t.Errorf("%s: %s", c.name, r.stderr)
		}
	}
}

// Bases of files that vbot does not write were written by a stranger. They are not read.
func TestBasesOfAStranger(t *testing.T) {
	parallel(t)
	dir, good := hostile(t)
	before := filetest.Listing(t, dir)
	vbot(t, dir, "init", "target", "--update").wantCode(t, 0)
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("with bases of a stranger's, before:\n%s\nafter:\n%s", before, after)
	}
	filetest.Put(t, dir, "target/.vbot.json", strings.Replace(good, `"`+version+`"`, `"9.0.0"`, 1))
	r := vbot(t, dir, "init", "target", "--check")
	r.wantCode(t, 0)
	section(t, "update/record.txt", "newer: check", r.transcript(dir))
}

// An update fails if the record cannot be read.
func TestUpdateWithoutAReadableRecord(t *testing.T) {
	parallel(t)
	dir, _ := hostile(t)
	for name, prepare := range map[string]func(string){
		"none":       func(string) {},
		"unreadable": func(at string) { filetest.Link(t, "../outside.txt", at) },
	} {
		at := filepath.Join(dir, "target", project.RecordName)
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		prepare(at)
		r := vbot(t, dir, "init", "target", "--update")
		if r.code == 0 {
			t.Errorf("%s: the update succeeded", name)
		}
		section(t, "update/record.txt", name, r.transcript(dir))
	}
}

// A project without a record is compared with the options of the command line.
func TestCheckWithoutRecord(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	if err := os.Remove(filepath.Join(dir, "target", project.RecordName)); err != nil {
		t.Fatal(err)
	}
	vbot(t, dir, initArgs("--check")...).wantCode(t, 0)
	bot := filetest.Tree(t, dir)["target/server/bot.py"]
	filetest.Put(t, dir, "target/server/bot.py", bot+"# mine\n")
	r := vbot(t, dir, initArgs("--check", "--json")...)
	r.wantCode(t, 3)
	if !strings.Contains(r.stdout, `"written_by": null`) ||
		strings.Count(r.stdout, `"state": "edited"`) != 1 {
		t.Errorf("it said %s", r.stdout)
	}
	// --keep-existing writes a record, which says that bot.py is edited.
	vbot(t, dir, initArgs("--keep-existing")...).wantCode(t, 0)
	r = vbot(t, dir, "init", "target", "--check")
	r.wantCode(t, 3)
	if !strings.Contains(r.stdout, "edited     server/bot.py\n") {
		t.Errorf("it said %s", r.stdout)
	}
	r = vbot(t, dir, "init", "nowhere", "--check")
	if r.wantCode(t, 4); r.stderr != "error: there is no directory "+filepath.Join(dir, "nowhere")+"\n" {
		t.Errorf("it said %s", r.stderr)
	}
}

// In a folder of a project, the hint is a command that works on the project.
func TestUpdateInAFolderOfAProject(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	for _, at := range []string{"target/server", "target/server/evals"} {
		if err := os.MkdirAll(filepath.Join(dir, at), 0o755); err != nil {
			t.Fatal(err)
		}
		before := filetest.Tree(t, dir)
		for _, job := range []string{"--update", "--check"} {
			r := vbot(t, filepath.Join(dir, at), "init", ".", job)
			r.wantCode(t, 4)
			_, command, ok := strings.Cut(strings.TrimSpace(r.stderr), ": vbot ")
			if r = vbot(t, filepath.Join(dir, at), strings.Fields(command)...); !ok || r.code != 0 ||
				!equalTrees(before, filetest.Tree(t, dir)) {
				t.Errorf("%s in %s: %q, which says %s", job, at, command, r.stderr)
			}
		}
	}
}

// Without a record, --config says what to compare with, and an update is not offered as a hint.
func TestCheckWithAConfigurationFile(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	config := vbot(t, dir, initArgs("--dry-run")...).stdout
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	if err := os.Remove(filepath.Join(dir, "target", project.RecordName)); err != nil {
		t.Fatal(err)
	}
	inProcess{stdin: strings.NewReader(config), dir: dir}.vbot(t, "init", "target", "--check", "--config",
		"-").
		wantCode(t, 0)
	if err := os.Remove(filepath.Join(dir, "target/server/bot.py")); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, initArgs("--check", "--json")...)
	if r.wantCode(t, 3); !strings.Contains(r.stdout, `"hint": null`) {
		t.Errorf("it said %s", r.stdout)
	}
}

// A dry run of an update takes no lock, and fails if the update itself would fail.
func TestDryRunOfAnUpdate(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	target, err := project.Lock(filepath.Join(dir, "target"))
	if err != nil {
		t.Fatal(err)
	}
	vbot(t, dir, "init", "target", "--update", "--dry-run").wantCode(t, 0)
	vbot(t, dir, "init", "target", "--check").wantCode(t, 0)
	r := vbot(t, dir, "init", "target", "--update", "--json")
	if r.wantCode(t, 1); !strings.Contains(r.stdout, `"retryable": true`) {
		t.Errorf("it said %s", r.stdout)
	}
	target.Close()
	record := filetest.Tree(t, dir)["target/.vbot.json"]
	filetest.Put(t, dir, "target/.vbot.json",
		strings.Replace(record, `"vbot": "`+version, `"vbot": "99.0.0`, 1))
	for _, args := range [][]string{{"--update"}, {"--update", "--dry-run"}} {
		if r := vbot(t, dir, append([]string{"init", "target"}, args...)...); r.code != 2 ||
			strings.Contains(r.stderr, "would:") {
			t.Errorf("%q: %s", args, r.stderr)
		}
	}
}

// --diff=FILE prints the patch of one file.
func TestDiffOfOneFile(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	for _, file := range []string{"server/bot.py", "./server//bot.py"} {
		r := vbot(t, dir, "init", "target", "--update", "--recording", "--diff="+file)
		if r.wantCode(t, 0); strings.Count(r.stdout, "\n+++ ") != 1 ||
			!strings.Contains(r.stdout, "\n+++ b/server/bot.py\n") {
			t.Errorf("--diff=%s printed %s", file, r.stdout)
		}
	}
	r := vbot(t, dir, "init", "target", "--update", "--diff=bot.py")
	if r.wantCode(t, 4); !strings.Contains(r.stderr, `"bot.py"`) || r.stdout != "" {
		t.Errorf("it said %s", r.stderr)
	}
	vbot(t, dir, "init", "target", "--check", "--diff=").wantCode(t, 2)
}

// An update that changes a manifest beside a lock file says how to refresh it.
func TestLockFilesOfAnUpdate(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs("--client-framework", "react")...).wantCode(t, 0)
	filetest.Put(t, dir, "target/server/uv.lock", "old")
	filetest.Put(t, dir, "target/client/package-lock.json", "old")
	const commands = "uv lock --directory target/server\n"
	r := vbot(t, dir, "init", "target", "--update", "--tts", "elevenlabs")
	if r.wantCode(t, 0); !strings.Contains(r.stderr, commands) || strings.Contains(r.stderr, "npm") {
		t.Errorf("it said %s", r.stderr)
	}
	r = vbot(t, dir, "init", "target", "--update", "-t", "daily", "--json")
	var got scaffold.Written
	next := []string{"uv lock --directory target/server", "npm install --prefix target/client"}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || !slices.Equal(got.Next, next) {
		t.Errorf("%v, next: %q", err, got.Next)
	}
	r = vbot(t, dir, "init", "target", "--update")
	if r.wantCode(t, 0); strings.Contains(r.stderr, "lock") {
		t.Errorf("it said %s", r.stderr)
	}
}

// After a folder was renamed, an update stops, until its owner says that the folder was deleted.
func TestUpdateOfARenamedFolder(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	server, backend := filepath.Join(dir, "target/server"), filepath.Join(dir, "target/backend")
	if err := os.Rename(server, backend); err != nil {
		t.Fatal(err)
	}
	before := filetest.Listing(t, dir)
	for _, c := range []struct {
		job  string
		code int
	}{{"--check", 3}, {"--update", 1}} {
		r := vbot(t, dir, "init", "target", c.job, "--recording")
		section(t, "update/moved.txt", "moved "+c.job, r.transcript(dir))
		if r.wantCode(t, c.code); filetest.Listing(t, dir) != before {
			t.Error(filetest.Listing(t, dir))
		}
	}
	if err := os.Rename(backend, server); err != nil {
		t.Fatal(err)
	}
	vbot(t, dir, "init", "target", "--update", "--recording").wantCode(t, 0)
	vbot(t, dir, "init", "target", "--check").wantCode(t, 0)
	if err := os.RemoveAll(server); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, "init", "target", "--update", "--eval", "--accept-missing")
	r.wantCode(t, 0)
	section(t, "update/moved.txt", "accepted", outlined(r.transcript(dir)))
	if strings.Contains(filetest.Listing(t, dir), "server") {
		t.Error(filetest.Listing(t, dir))
	}
	vbot(t, dir, "init", "target", "--update", "--no-eval").wantCode(t, 0)
}

// --check lists the files of a folder that is gone, and names the commands that restore it.
func TestFolderIsRestored(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs("--self-host")...).wantCode(t, 0)
	before := filetest.Listing(t, dir)
	deploy := filepath.Join(dir, "target/deploy")
	if err := os.RemoveAll(deploy); err != nil {
		t.Fatal(err)
	}
	r := vbot(t, dir, "init", "target", "--check", "--json")
	r.wantCode(t, 3)
	var printed struct {
		Error struct {
			Code, Hint string
		}
		Result struct {
			Files []struct {
				Path, State string
				SHA256      *string
			}
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &printed); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range printed.Result.Files {
		isGone := strings.HasPrefix(f.Path, "deploy/")
		if isGone != (f.State == "missing") || isGone != (f.SHA256 == nil) {
			t.Errorf("%+v", f)
		}
		if isGone {
			n++
		}
	}
	const restore = "vbot init target --check --dry-run | vbot init target --config - --keep-existing"
	if n < 5 || printed.Error.Code != report.Differs || !strings.HasSuffix(printed.Error.Hint, restore) {
		t.Errorf("%d files are missing: %s, %s", n, printed.Error.Code, printed.Error.Hint)
	}
	config := vbot(t, dir, "init", "target", "--check", "--dry-run")
	config.wantCode(t, 0)
	in := inProcess{dir: dir, stdin: strings.NewReader(config.stdout)}
	in.vbot(t, "init", "target", "--config", "-", "--keep-existing").wantCode(t, 0)
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("%s\nwant\n%s", after, before)
	}
	vbot(t, dir, "init", "target", "--check").wantCode(t, 0)
}

// The JSON of a dry run says whether the update would change a file. An edited file is no change.
func TestChanged(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	changed := func(want bool, args ...string) {
		t.Helper()
		r := vbot(t, dir, append(args, "--json")...)
		r.wantCode(t, 0)
		var printed struct{ Changed *bool }
		err := json.Unmarshal([]byte(r.stdout), &printed)
		if err != nil || printed.Changed == nil || *printed.Changed != want {
			t.Errorf("%q: %v\n%s", args, err, r.stdout)
		}
	}
	changed(true, append(initArgs(), "--dry-run")...)
	changed(true, initArgs()...)
	changed(false, initArgs()...)
	filetest.Put(t, dir, "target/.gitignore", document(t, filepath.Join(dir, "target/.gitignore"))+"mine\n")
	changed(false, "init", "target", "--update", "--dry-run")
	changed(true, "init", "target", "--update", "--dry-run", "--eval")
	changed(true, "init", "target", "--update", "--eval")
	changed(false, "init", "target", "--update", "--eval", "--dry-run")
	changed(false, "init", "target", "--update")
	makeOlder(t, dir, map[string]string{"server/bot.py": "old\n"})
	changed(true, "init", "target", "--update", "--dry-run")
}

// A patch in a pipe has the exact bytes of the files, even those that could affect a terminal.
func TestDiffOfHiddenCharacters(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{"server/bot.py": "old\n"})
	filetest.Put(t, dir, "target/server/bot.py", "a\u200bb\x1b[m\r\n")
	r := vbot(t, dir, "init", "target", "--check", "--diff")
	if r.wantCode(t, 3); !strings.Contains(r.stdout, " a\u200bb\x1b[m\r\n") {
		t.Errorf("it printed %q", r.stdout)
	}
}

// differing returns the names of files that differ between two trees, or are in only one of them.
func differing(a, b map[string]string) (names []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x, inA := a[name]
		if y, inB := b[name]; inA != inB || x != y {
			names = append(names, name)
		}
	}
	return names
}
