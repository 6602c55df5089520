package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/scaffold"
)

// cascade is a complete set of options, to be added to.
const cascade = "-t webrtc -m cascade --stt deepgram --llm openai --tts cartesia"

func TestQuickstart(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := subprocess{}.vbot(t, dir, "init", "quickstart")
	r.wantCode(t, 0)
	section(t, "init.txt", "quickstart", r.transcript(dir))
	goldenTree(t, "quickstart", filepath.Join(dir, "vbot-quickstart"))

	before := filetest.Tree(t, dir)
	again := vbot(t, dir, "init", "quickstart")
	again.wantCode(t, 0)
	section(t, "init.txt", "quickstart again", again.transcript(dir))
	if after := filetest.Tree(t, dir); !equalTrees(before, after) {
		t.Error("the second run changed something")
	}
}

func TestQuickstartReports(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	dry := vbot(t, dir, "init", "quickstart", "--dry-run")
	dry.wantCode(t, 0)
	golden(t, "quickstart-dry-run.json", []byte(dry.stdout))
	if dry.stderr != "" || len(filetest.Tree(t, dir)) > 0 {
		t.Errorf("the dry run said %q and wrote %v", dry.stderr, filetest.Tree(t, dir))
	}
	r := vbot(t, dir, "init", "quickstart", "--json")
	r.wantCode(t, 0)
	golden(t, "quickstart.json", []byte(withoutDir(r.stdout, dir)))
	var answer scaffold.Written
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
		t.Fatal(err)
	}
	tree := filetest.Tree(t, filepath.Join(dir, "vbot-quickstart"))
	for _, f := range answer.Files {
		if string(f.SHA256) != filetest.Sum(tree[f.Path]) {
			t.Errorf("%s: the sum %s is not that of the file", f.Path, f.SHA256)
		}
	}
}

func TestListings(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"list-options.json":    {"init", "--list-options"},
		"describe-options.txt": {"init", "--describe-options"},
		"describe-video.txt":   {"init", "--describe-options=video"},
		"describe-video.json":  {"init", "--describe-options=video", "--json"},
	} {
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		golden(t, name, []byte(r.stdout))
		if r.stderr != "" {
			t.Errorf("vbot %q wrote to stderr: %s", args, r.stderr)
		}
		for line := range strings.Lines(r.stdout) {
			if strings.HasSuffix(name, ".txt") && len([]rune(line)) > 81 {
				t.Errorf("vbot %q prints a line of more than 80 columns: %s", args, line)
			}
		}
	}
}

// --describe-options --json has an entry for each service of --list-options, in its order.
// describe-video.json shows such entries, and e2e/test_schemas.py checks all against the schema.
func TestDescribeAll(t *testing.T) {
	parallel(t)
	var listed, described map[string]json.RawMessage
	for option, into := range map[string]*map[string]json.RawMessage{
		"--list-options": &listed, "--describe-options": &described,
	} {
		r := vbot(t, t.TempDir(), "init", option, "--json")
		if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(described)); !slices.Equal(a, b) {
		t.Errorf("the keys are %q and %q", a, b)
	}
	for _, kind := range catalog.ServiceKinds {
		var ids []string
		var entries []struct{ ID string }
		err := errors.Join(json.Unmarshal(listed[kind], &ids), json.Unmarshal(described[kind], &entries))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range entries {
			if len(entries) != len(ids) || e.ID != ids[i] {
				t.Errorf("%s: entry %d is %s; listed are %q", kind, i, e.ID, ids)
			}
		}
	}
}

// Each golden/bots/NAME.json is the output of a dry run for one bot. It is also a configuration file, and a
// dry run with it prints the same. The bot's files are in golden/bots/NAME.
func TestBots(t *testing.T) {
	parallel(t)
	for _, project := range goldenBots(t) {
		t.Run(project, func(t *testing.T) {
			dir, name := t.TempDir(), filepath.Base(project)
			config, err := filepath.Abs("golden/" + project + ".json")
			if err != nil {
				t.Fatal(err)
			}
			line := []string{"init", name, "--config", config}
			for _, o := range bot.Options {
				if o.IsToggle() && name == "every-feature" { // those that come to be, too
					line = append(line, "--"+o.Flag)
				}
			}
			dry := vbot(t, dir, append(line, "--dry-run")...)
			dry.wantCode(t, 0)
			golden(t, project+".json", []byte(dry.stdout))
			if dry.stderr != "" {
				t.Errorf("vbot init --config %s.json wrote to stderr: %s", project, dry.stderr)
			}
			vbot(t, dir, line...).wantCode(t, 0)
			checkRecord(t, filepath.Join(dir, name), dry.stdout)
			goldenTree(t, project, filepath.Join(dir, name))
		})
	}
}

// More bots, for which golden/ has only the configuration: a dry run prints it again.
func TestMoreBots(t *testing.T) {
	parallel(t)
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(document(t, "golden/more-bots.json")), &all); err != nil {
		t.Fatal(err)
	}
	for i, config := range all {
		dry := inProcess{stdin: bytes.NewReader(config)}.vbot(t, "init", "there", "--config", "-",
			"--dry-run")
		dry.wantCode(t, 0)
		all[i] = json.RawMessage(dry.stdout)
		if dry.stderr != "" {
			t.Errorf("%s: it said %s", config, dry.stderr)
		}
	}
	got, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "more-bots.json", append(got, '\n'))
}

// A web client needs two terminals.
func TestClientSaysHowToGoOn(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	r := vbot(t, dir, append([]string{"init", "my bot", "--client-framework", "vanilla"},
		strings.Fields(cascade)...)...)
	r.wantCode(t, 0)
	_, next, _ := strings.Cut(string(r.transcript(dir)), "\nNext, ")
	section(t, "init.txt", "client: what comes next", []byte("Next, "+next))
}

// config_ reads what a config writes.
type config_ struct {
	ProjectName string   `json:"project_name"`
	Transports  []string `json:"transports"`
}

// The directory decides the name in a dry run too.
func TestTargetForms(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "parlour")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		".":           "parlour",
		"":            "parlour",
		"sub/deep er": "deep er",
		"..":          filepath.Base(filepath.Dir(dir)),
	} {
		args := append([]string{"init"}, strings.Fields(cascade+" --dry-run")...)
		if target != "" {
			args = append(args, target)
		}
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		var got config_
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got.ProjectName != want {
			t.Errorf("target %q: name %q, want %q", target, got.ProjectName, want)
		}
	}
	vbot(t, dir, "init", "").wantCode(t, 2)
}

// A ~ that the shell did not expand, in quotes or after --config=, is the home directory.
func TestHomeDirectory(t *testing.T) {
	parallel(t)
	dir, home := t.TempDir(), t.TempDir()
	filetest.Put(t, home, "bot.json", `{"mode": "realtime", "realtime_service": "openai"}`)
	run := func(args ...string) result {
		return inProcess{env: []string{"HOME=" + home}, dir: dir}.vbot(t, append([]string{"init"},
			args...)...)
	}
	run("~/bot", "--config=~/bot.json", "-t", "smallwebrtc").wantCode(t, 0)
	if !project.Has(home, "bot/server/bot.py") {
		t.Error("no bot in the home directory")
	}
	for _, name := range []string{"~bob/bot", "~x"} {
		if r := run(name, "-t", "smallwebrtc"); r.code != 2 || !strings.Contains(r.stderr, "or ./"+name) {
			t.Errorf("%s: exit code %d: %s", name, r.code, r.stderr)
		}
	}
	run("./~x", "--config=~/bot.json", "-t", "smallwebrtc").wantCode(t, 0) // as people may name it
	if tree := filetest.Tree(t, dir); tree["~x/server/bot.py"] == "" || len(tree) == 0 {
		t.Error("no bot in ./~x")
	}
}

// initArgs scaffolds a small bot into the directory `target`.
func initArgs(more ...string) []string {
	return append(append([]string{"init", "target"}, strings.Fields(cascade)...), more...)
}

// conflictCases are the cases of TestConflicts.
var conflictCases = []struct {
	name, args string
	prepare    func(t *testing.T, dir string)
}{
	{"files", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "target/README.md", "mine")
		filetest.Put(t, dir, "target/server/bot.py", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
	}},
	{
		"files-json", "--json",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/README.md", "mine") },
	},
	{"empty-file", "", func(t *testing.T, dir string) { filetest.Put(t, dir, "target/.gitignore", "") }},
	{
		"file-for-a-directory", "",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/server", "mine") },
	},
	{
		"file-for-a-directory-kept", "--keep-existing",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/server", "mine") },
	},
	{
		"directory-for-a-file", "",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/README.md/mine", "mine") },
	},
	{
		"directory-for-a-file-kept", "--keep-existing",
		func(t *testing.T, dir string) { filetest.Put(t, dir, "target/README.md/mine", "mine") },
	},
	{"link-for-a-file", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside.md", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "../outside.md", filepath.Join(dir, "target/README.md"))
	}},
	{"link-for-a-directory", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside/mine", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "../outside", filepath.Join(dir, "target/server"))
	}},
	{"link-for-a-directory-kept", "--keep-existing", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside/mine", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, filepath.Join(dir, "outside"), filepath.Join(dir, "target/server"))
	}},
	{"link-for-a-file: one that leads nowhere", "", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "nowhere", filepath.Join(dir, "target/README.md"))
	}},
	{"directory-and-link", "", func(t *testing.T, dir string) { // of which only the link could be kept
		filetest.Put(t, dir, "target/README.md/mine", "mine")
		filetest.Put(t, dir, "outside.py", "mine")
		filetest.Put(t, dir, "target/server/notes.txt", "mine")
		filetest.Link(t, "../../outside.py", filepath.Join(dir, "target/server/bot.py"))
	}},
	{"link-for-a-guide-to-replace", "--overwrite-guide", func(t *testing.T, dir string) {
		filetest.Put(t, dir, "outside.md", "mine")
		filetest.Put(t, dir, "target/notes.txt", "mine")
		filetest.Link(t, "../outside.md", filepath.Join(dir, "target/AGENTS.md"))
	}},
	{"target-is-a-file", "", func(t *testing.T, dir string) { filetest.Put(t, dir, "target", "mine") }},
	{
		"target-is-a-link-to-nowhere", "",
		func(t *testing.T, dir string) { filetest.Link(t, "nowhere", filepath.Join(dir, "target")) },
	},
}

// If anything is in the way, a run lists all of it, changes nothing, and says what to
// do.
func TestConflicts(t *testing.T) {
	parallel(t)
	for _, c := range conflictCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			before := filetest.Listing(t, dir)
			r := vbot(t, dir, initArgs(strings.Fields(c.args)...)...)
			r.wantCode(t, 1)
			result, _, _ := strings.Cut(c.name, ": ")
			section(t, "errors/conflict.txt", result, r.transcript(dir))
			if after := filetest.Listing(t, dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// --keep-existing keeps every file and link that exists, and writes the rest.
func TestKeepExisting(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/server/bot.py", "mine")
	filetest.Put(t, dir, "target/notes.txt", "mine")
	filetest.Put(t, dir, "outside.md", "mine")
	filetest.Link(t, "../outside.md", filepath.Join(dir, "target/README.md"))
	r := vbot(t, dir, initArgs("--keep-existing", "--json")...)
	r.wantCode(t, 0)
	section(t, "init.txt", "keep-existing", r.transcript(dir))
	tree := filetest.Tree(t, dir)
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
	if !equalTrees(tree, filetest.Tree(t, dir)) {
		t.Error("the second run changed something")
	}
}

// If an existing .gitignore is kept, git still ignores the files with the keys of the bot and of its client.
func TestKeysStayIgnored(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/.gitignore", "*.log\n")
	vbot(t, dir, initArgs("--keep-existing", "--client-framework", "react")...).wantCode(t, 0)
	tree := filetest.Tree(t, dir)
	for _, folder := range []string{"server", "client"} {
		ignored := "\n" + tree["target/"+folder+"/.gitignore"]
		if !strings.Contains(ignored, "\n.env\n") || strings.Contains(ignored, "\nlib/") {
			t.Errorf("%s/.gitignore: %s", folder, ignored)
		}
	}
	if tree["target/.gitignore"] != "*.log\n" {
		t.Errorf(".gitignore: %s", tree["target/.gitignore"])
	}
}

// A dry run needs no lock, as it writes nothing.
func TestDryRunBesideARun(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	target, err := project.Lock(filepath.Join(dir, "target"))
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	r := vbot(t, dir, initArgs("--dry-run")...)
	if r.wantCode(t, 0); r.stderr != "" {
		t.Errorf("it said %s", r.stderr)
	}
}

// A dry run says what a run would do, and never writes anything.
func TestDryRunBesideFiles(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "target/README.md", "mine")
	filetest.Put(t, dir, "target/AGENTS.md", "mine")
	before := filetest.Listing(t, dir)
	for name, args := range map[string][]string{
		"dry-run-refuses": initArgs("--dry-run"),
		"dry-run-keeps":   initArgs("--dry-run", "--keep-existing"),
		"dry-run-fails": append([]string{"init", "target/README.md"},
			strings.Fields(cascade+" --dry-run -n x")...),
	} {
		r := vbot(t, dir, args...)
		r.wantCode(t, 0)
		section(t, "init.txt", name, r.transcript(dir))
	}
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func BenchmarkQuickstartTree(b *testing.B) { benchmarkTree(b, bot.Quickstart()) }

func BenchmarkReactTree(b *testing.B) {
	said := bot.Quickstart()
	said[bot.OptTransports] = bot.Value{List: []string{"smallwebrtc"}}
	said[bot.OptClient] = bot.Value{Text: bot.ClientReact}
	said[bot.OptClientServer] = bot.Value{Text: bot.ServerVite}
	benchmarkTree(b, said)
}

func benchmarkTree(b *testing.B, said bot.Values) {
	cat := catalog.New()
	cfg, _, _ := bot.Resolve(cat, said, "")
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		files, err := render.New(cfg, cat, version).Files()
		if err != nil {
			b.Fatal(err)
		}
		writeProject(b, filepath.Join(dir, "bot"), files)
		b.StopTimer()
		os.RemoveAll(filepath.Join(dir, "bot"))
		b.StartTimer()
	}
}

// An existing directory with a name similar to quickstart is used as a directory.
func TestDirectoryLikeTheQuickstart(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, "init", "quickstar").wantCode(t, 2)
	if err := os.Mkdir(filepath.Join(dir, "quickstar"), 0o755); err != nil {
		t.Fatal(err)
	}
	vbot(t, dir, "init", "quickstar").wantCode(t, 0)
	if tree := filetest.Tree(t, dir); len(tree) != 3 || tree["quickstar/GETTING_STARTED.md"] == "" {
		t.Errorf("it wrote %d files", len(tree))
	}
}

// A server for a client that the command line drops is refused, as is one without a client.
func TestServerOfADroppedClient(t *testing.T) {
	parallel(t)
	config := `{"client_framework": "react", "mode": "realtime", "realtime_service": "openai", ` +
		`"transports": ["daily"]}`
	r := inProcess{stdin: strings.NewReader(config)}.vbot(t, "init", "there", "--config", "-", "--dry-run",
		"-t", "twilio", "--client-server", "nextjs")
	if r.wantCode(t, 2); !strings.Contains(r.stderr, "needs a web client") {
		t.Errorf("it said %s", r.stderr)
	}
}
