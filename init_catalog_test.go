package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/filetest"
	"vbot/internal/report"
	"vbot/internal/scaffold"
	"vbot/internal/system"
)

// acme is the file of a user's own service. docs/own-services.md has it, too.
func acme(t testing.TB) string { return document(t, "internal/catalog/testdata/stt/acme.py") }

const withAcme = "-t webrtc -m cascade --stt acme --llm openai --tts cartesia"

// A user's own service is listed, offered, accepted and written like vbot's.
func TestOwnService(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "services/stt/acme.py", acme(t))
	filetest.Put(t, dir, "services/stt/__pycache__/acme.cpython-312.pyc", "\x00")
	filetest.Put(t, dir, "services/stt/__init__.py", "")
	filetest.Put(t, dir, "services/stt/._acme.py", "\x00") // of macOS
	filetest.Put(t, dir, "services/README.md", "Services of Acme\n")
	filetest.Put(t, dir, "services/tests/check.py", "assert True\n")
	filetest.Put(t, dir, "services/venv/lib/acme/acme.py", acme(t))
	filetest.Put(t, dir, "bot.json",
		`{"transports": ["smallwebrtc"], "mode": "cascade", "stt_service": "acme_stt", "llm_service": `+
			`"openai", "tts_service": "cartesia"}`)

	r := vbot(t, dir, append([]string{"init", "there", "--catalog", "services"},
		strings.Fields(withAcme)...)...)
	r.wantCode(t, 0)
	section(t, "own.txt", "written", r.transcript(dir))
	known := strings.Fields(strings.Replace(withAcme, "acme", "deepgram", 1))
	vbot(t, dir, append([]string{"init", "other"}, known...)...).wantCode(t, 0)
	tree := filetest.Tree(t, dir)
	for _, name := range []string{"server/bot.py", "server/.env.example", "server/pyproject.toml"} {
		section(t, "own.txt", name, []byte(besides(tree["there/"+name], tree["other/"+name])))
	}
	filetest.Put(t, dir, "services/stt/acme.py",
		strings.ReplaceAll(acme(t), "\n", "\r\n")) // as Git checks it out on Windows
	again := inProcess{env: []string{"VBOT_CATALOG=services"}, dir: dir}.vbot(t, "init", "there", "--config",
		"bot.json", "--json")
	again.wantCode(t, 0)
	if !strings.Contains(again.stdout, `"stt_service": "acme"`) || strings.Contains(again.stdout, "created") {
		t.Errorf("the same from VBOT_CATALOG and a file: %s", again.stdout)
	}

	var shown bytes.Buffer
	for _, line := range []string{
		"init --list-options --catalog services", "init --describe-options=stt --catalog services",
		"init --describe-options=stt --json --catalog services",
		"schema config --catalog services", "completion words -- init --catalog services --stt ac",
		"completion words -- init --catalog=services --stt=acme_s",
		"completion words -- init --stt ac", "completion words -- init --catalog nowhere --stt openai_r",
		"completion words -- init --catalog s",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		r.wantCode(t, 0)
		shown.WriteString("$ vbot " + line + "\n")
		found := false
		for text := range strings.Lines(r.stdout) {
			if strings.Contains(strings.ToLower(text), "acme") || !strings.Contains(line, "services") {
				shown.WriteString(text)
				found = true
			}
		}
		if !found && strings.Contains(line, "services") {
			t.Errorf("vbot %s does not show it:\n%s", line, r.stdout)
		}
	}
	section(t, "own.txt", "shown", shown.Bytes())
	ids := catalog.IDs(catalog.New().List(catalog.KindSTT))
	list := vbot(t, dir, "init", "--list-options", "--catalog", "services").stdout
	if !strings.Contains(list, `"`+ids[len(ids)-1]+"\",\n    \"acme\"\n  ]") {
		t.Errorf("it does not come after vbot's own: %s", list)
	}
}

// besides returns the lines of text that are not in other.
func besides(text, other string) string {
	has := map[string]bool{}
	for line := range strings.Lines(other) {
		has[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !has[line] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// faultyServices are files of services, each with what is wrong with it.
func faultyServices(acme string) map[string]string {
	return map[string]string{
		"stt/acme.py": strings.NewReplacer("# id: acme", "# id: Acme", "names: acme, acme_stt",
			"names: acme, deepgram, stt_zz", "required url", "needed url", "# host", "# hots").Replace(acme),
		"stt/bom.py":   "\ufeff" + acme,
		"stt/cr.py":    strings.ReplaceAll(acme, "\n", "\r"),
		"stt/latin.py": strings.Replace(acme, "Acme Speech", "Acm\xe9", 1),
		"stt/tab.py":   strings.Replace(acme, "    stt", "\tstt", 1),
		"stt/quote.py": "# id: quote\n# label: \"Quote\"\n# keys: <% .Slug %>\n# names: quote\n# names: " +
			"quote\n",
		"stt/code.py": "# id: code\n# label: Code\n# names: code\n# env: CODE_URL optional url: " +
			"address\nimport os\nimport numpy as np\n\nfrom .parts import Part\nfrom code import Code\n\nX " +
			"= 1\n\n\ndef build(key: str, language: str) -> Code:\n    stt = " +
			"Code(os.environ[\"CODE_KEY\"])\n    stt.x(language)  # when: raining\n    return stt\n",
		"stt/returns.py": "# id: returns\n# label: Returns\n# names: returns\nfrom a import A\n\n\ndef " +
			"build() -> A:\n    return A()\n",
		"stt/empty.py":    "",
		"stt/large.py":    "#" + strings.Repeat("#", 64<<10),
		"stt/twin.py":     strings.ReplaceAll(acme, "# id: acme\n", "# id: twin\n"),
		"sst/other.py":    acme,
		"other.py":        acme,
		"a/stt/nested.py": acme,
		"video/face.py": "# id: face\n# id: face\n# label: Face\n# names: face\n# env: FACE_KEY required " +
			"secret libary: key\n# host: https://a\n# host: a:8x\n# host: a:1-2/udp\n# python: 3.12\n# " +
			"extras: face]\n# model: 5 MB, 0 cores\nfrom face import Face\n\n\ndef build() -> Face:\n    " +
			"video = Face()\n    return video\n",
	}
}

// All problems with the folder are reported together, with file and line, before anything
// else is done, even by a listing. Nothing is written.
func TestFaultyCatalog(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	for name, text := range faultyServices(acme(t)) {
		filetest.Put(t, dir, "services/"+name, text)
	}
	filetest.Put(t, dir, "empty/README.md", "nothing\n")
	filetest.Put(t, dir, "file", "no folder\n")
	filetest.Put(t, dir, "good/stt/acme.py", acme(t))
	filetest.Put(t, dir, "bad/stt", "a file\n")
	if err := os.MkdirAll(filepath.Join(dir, "bad", "llm", "folder.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := filetest.Tree(t, dir)
	first := vbot(t, dir, strings.Fields("init there --catalog services "+withAcme)...)
	first.wantCode(t, 2)
	all := bytes.NewBuffer(first.transcript(dir))
	for _, line := range []string{
		"init --catalog services --list-options", "init --describe-options --catalog services",
		"init there --no-input --catalog services", "schema config --catalog services",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		if r.wantCode(t, 2); r.stderr != first.stderr || r.stdout != "" {
			t.Errorf("vbot %s says %s%s", line, r.stdout, r.stderr)
		}
	}
	for _, line := range []string{
		"init there --catalog bad", "init --list-options --catalog bad --json",
		"init there --catalog nowhere " + withAcme, "init there --catalog file", "init there --catalog empty",
		"init there --catalog=", "init there --catalog good --list-options --catalog nowhere",
		"init --catalog",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		r.wantCode(t, 2)
		all.Write(r.transcript(dir))
	}
	r := inProcess{env: []string{"VBOT_CATALOG=nowhere"}, dir: dir}.vbot(t, "init", "quickstart")
	r.wantCode(t, 2)
	all.WriteString("VBOT_CATALOG=nowhere\n")
	all.Write(r.transcript(dir))
	r = inProcess{
		stdin: strings.NewReader(`{"transports": ["daily"], "mode": "cascade", "stt_service": "acme", ` +
			`"llm_service": "openai", "tts_service": "cartesia"}`),
		dir: dir,
	}.vbot(t, "init", "there", "--config", "-")
	r.wantCode(t, 2)
	all.Write(r.transcript(dir))
	section(t, "own.txt", "faults", all.Bytes())
	if !equalTrees(before, filetest.Tree(t, dir)) {
		t.Error("something was written")
	}
	// Help and version need no catalog.
	vbot(t, dir, "init", "--catalog", "services", "--help").wantCode(t, 0)
	vbot(t, dir, "--version", "init", "--catalog", "services").wantCode(t, 0)
}

// Only links inside the folder are followed, and only regular files are read.
func TestCatalogStaysInItsFolder(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" {
		skip(t, "links need privileges there")
	}
	dir := t.TempDir()
	filetest.Put(t, dir, "secret.py", acme(t))
	filetest.Put(t, dir, "services/.data/acme.py", acme(t))
	filetest.Put(t, dir, "services/stt/README.md", "")
	filetest.Link(t, "../../secret.py", filepath.Join(dir, "services", "stt", "leak.py"))
	filetest.Link(t, "../.data/acme.py", filepath.Join(dir, "services", "stt", "acme.py"))
	filetest.Link(t, "/dev/zero", filepath.Join(dir, "services", "stt", "zero.py"))
	if err := exec.Command("mkfifo", filepath.Join(dir, "services", "stt", "pipe.py")).Run(); err != nil {
		skip(t, err)
	}
	r := vbot(t, dir, "init", "--list-options", "--catalog", "services")
	r.wantCode(t, 2)
	if want := "error: services/stt/leak.py: path escapes from parent\nerror: services/stt/pipe.py: " +
		"expected a file of at most 64 KiB\nerror: services/stt/zero.py: path escapes from " +
		"parent\n"; r.stderr != want {
		t.Errorf("got %s", r.stderr)
	}
}

// The command line that the wizard prints includes the folder.
func TestCommandLineWithACatalog(t *testing.T) {
	parallel(t)
	dir, folder := t.TempDir(), "my services"
	filetest.Put(t, dir, folder+"/stt/acme.py", acme(t))
	a := &cli.Env{System: system.System{Dir: dir, Getenv: func(string) string { return "" }}}
	cat, err := openCatalog(a, folder)
	if err != nil {
		t.Fatal(err)
	}
	job := scaffold.Create{Project: scaffold.Project{Target: "there", Bot: bot.Quickstart()}}
	job.Bot[bot.OptSTT] = bot.Value{Text: "acme"}
	want := "vbot init there --name vbot-quickstart -t smallwebrtc -t daily -m cascade --stt acme --llm " +
		"openai --tts cartesia --catalog " + report.ShellQuote(folder)
	if got := job.CommandLine(scaffold.Env{Catalog: cat, CatalogDir: folder, Path: a.Path}); got != want {
		t.Errorf("the command line is %s", got)
	}
}
