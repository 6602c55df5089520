package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// acme is a service of one's own. The README has it, too.
const acme = `# id: acme
# label: Acme Speech
# names: acme, acme_stt
# pip: acme-speech>=1,<2
# env: ACME_STT_URL required url: address, such as ws://stt.internal:9000
# env: ACME_STT_KEY optional secret: key, if the server wants one
# host: {ACME_STT_URL}
import os
import time

from acme_speech import AcmeSTTService


def build() -> AcmeSTTService:
    stt = AcmeSTTService(url=os.environ["ACME_STT_URL"], key=os.getenv("ACME_STT_KEY") or "")
    return stt
`

const withAcme = "-t webrtc -m cascade --stt acme --llm openai --tts cartesia"

// A service of one's own is listed, offered, taken and written like vbot's.
func TestOwnService(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "services/stt/acme.py", acme)
	put(t, dir, "services/stt/__pycache__/acme.cpython-312.pyc", "\x00")
	put(t, dir, "services/README.md", "Services of Acme\n")
	put(t, dir, "services/tests/check.py", "assert True\n")
	put(t, dir, "bot.json", `{"transports": ["smallwebrtc"], "mode": "cascade", "stt_service": "acme_stt", "llm_service": "openai", "tts_service": "cartesia"}`)

	r := vbot(t, dir, append([]string{"init", "there", "--catalog", "services"}, strings.Fields(withAcme)...)...)
	r.wantCode(t, 0)
	golden(t, "own/written.txt", r.transcript(dir))
	for _, name := range []string{"bot.py", ".env.example", "pyproject.toml"} {
		data, err := os.ReadFile(filepath.Join(dir, "there", "server", name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "own/"+name, data)
	}
	put(t, dir, "services/stt/acme.py", strings.ReplaceAll(acme, "\n", "\r\n")) // as Git checks it out on Windows
	again := with{env: []string{"VBOT_CATALOG=services"}}.vbot(t, dir, "init", "there", "--config", "bot.json", "--json")
	again.wantCode(t, 0)
	if !strings.Contains(again.stdout, `"stt_service": "acme"`) || strings.Contains(again.stdout, "created") {
		t.Errorf("the same from VBOT_CATALOG and a file: %s", again.stdout)
	}

	var shown bytes.Buffer
	for _, line := range []string{
		"init --list-options --catalog services", "init --describe-options=stt --catalog services", "init --describe-options=stt --json --catalog services",
		"schema config --catalog services", "completion words -- init --catalog services --stt ac", "completion words -- init --catalog=services --stt=acme_s",
		"completion words -- init --stt ac", "completion words -- init --catalog nowhere --stt openai_r", "completion words -- init --catalog s",
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
	golden(t, "own/shown.txt", shown.Bytes())
	ids := newCatalog().ids(kindSTT)
	list := vbot(t, dir, "init", "--list-options", "--catalog", "services").stdout
	if !strings.Contains(list, `"`+ids[len(ids)-1]+"\",\n    \"acme\"\n  ]") {
		t.Errorf("it does not come after vbot's own: %s", list)
	}
}

// The wizard offers it, and the command line that it prints has the folder.
func TestOwnServiceInTheWizard(t *testing.T) {
	dir, folder := t.TempDir(), "my services"
	put(t, dir, folder+"/stt/acme.py", acme)
	cat, err := openCatalog(&app{dir: dir, getenv: func(string) string { return "" }}, &invocation{catalogDir: &folder})
	if err != nil {
		t.Fatal(err)
	}
	w := newWizard(&app{dir: dir, getenv: os.Getenv}, prompter{}, cat, "there")
	w.catalog, w.done[labelDirectory] = &folder, true
	w.said = quickstart()
	delete(w.said, optSTT)
	choices := w.offer(optSTT, false)
	if last := choices[len(choices)-1]; last.value != "acme" || last.label != "Acme Speech" {
		t.Errorf("the last choice is %+v", last)
	}
	w.said[optSTT] = answer{text: "acme"}
	if got, want := w.command(), "vbot init there --name vbot-quickstart -t smallwebrtc -t daily -m cascade --stt acme --llm openai --tts cartesia --catalog "+shellQuote(folder); got != want {
		t.Errorf("the command line is %s", got)
	}
}

// faultyServices are files of services, each with what is wrong with it.
var faultyServices = map[string]string{
	"stt/acme.py":     strings.NewReplacer("# id: acme", "# id: Acme", "names: acme, acme_stt", "names: acme, deepgram, stt_zz", "required url", "needed url", "# host", "# hots").Replace(acme),
	"stt/bom.py":      "\ufeff" + acme,
	"stt/cr.py":       strings.ReplaceAll(acme, "\n", "\r"),
	"stt/latin.py":    strings.Replace(acme, "Acme Speech", "Acm\xe9", 1),
	"stt/tab.py":      strings.Replace(acme, "    stt", "\tstt", 1),
	"stt/quote.py":    "# id: quote\n# label: \"Quote\"\n# keys: <% .Slug %>\n# names: quote\n# names: quote\n",
	"stt/code.py":     "# id: code\n# label: Code\n# names: code\n# env: CODE_URL optional url: address\nimport os\nimport numpy as np\n\nfrom .parts import Part\nfrom code import Code\n\nX = 1\n\n\ndef build(key: str, if_set) -> Code:\n    stt = Code(os.environ[\"CODE_KEY\"])\n    stt.x()  # when: raining\n    return stt\n",
	"stt/returns.py":  "# id: returns\n# label: Returns\n# names: returns\nfrom a import A\n\n\ndef build() -> A:\n    return A()\n",
	"stt/empty.py":    "",
	"stt/large.py":    "#" + strings.Repeat("#", maxService),
	"stt/twin.py":     strings.ReplaceAll(acme, "# id: acme\n", "# id: twin\n"),
	"sst/other.py":    acme,
	"other.py":        acme,
	"a/stt/nested.py": acme,
	"video/face.py":   "# id: face\n# label: Face\n# names: face\n# python: 3.12\n# extras: face]\nfrom face import Face\n\n\ndef build() -> Face:\n    video = Face()\n    return video\n",
}

// Whatever is wrong with the folder is said, with file and line, all at once, before
// anything else is done: of a listing, too. Nothing is written.
func TestFaultyCatalog(t *testing.T) {
	dir := t.TempDir()
	for name, text := range faultyServices {
		put(t, dir, "services/"+name, text)
	}
	put(t, dir, "empty/README.md", "nothing\n")
	put(t, dir, "file", "no folder\n")
	put(t, dir, "good/stt/acme.py", acme)
	put(t, dir, "bad/stt", "a file\n")
	if err := os.MkdirAll(filepath.Join(dir, "bad", "llm", "folder.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := readTree(t, dir)
	first := vbot(t, dir, strings.Fields("init there --catalog services "+withAcme)...)
	first.wantCode(t, 2)
	all := bytes.NewBuffer(first.transcript(dir))
	for _, line := range []string{"init --catalog services --list-options", "init --describe-options --catalog services", "init there --no-input --catalog services", "schema config --catalog services"} {
		r := vbot(t, dir, strings.Fields(line)...)
		if r.wantCode(t, 2); r.stderr != first.stderr || r.stdout != "" {
			t.Errorf("vbot %s says %s%s", line, r.stdout, r.stderr)
		}
	}
	for _, line := range []string{
		"init there --catalog bad", "init --list-options --catalog bad --json", "init there --catalog nowhere " + withAcme, "init there --catalog file", "init there --catalog empty",
		"init there --catalog=", "init there --catalog good --list-options --catalog nowhere", "init --catalog",
	} {
		r := vbot(t, dir, strings.Fields(line)...)
		r.wantCode(t, 2)
		all.Write(r.transcript(dir))
	}
	r := with{env: []string{"VBOT_CATALOG=nowhere"}}.vbot(t, dir, "init", "quickstart")
	r.wantCode(t, 2)
	all.WriteString("VBOT_CATALOG=nowhere\n")
	all.Write(r.transcript(dir))
	r = with{stdin: `{"transports": ["daily"], "mode": "cascade", "stt_service": "acme", "llm_service": "openai", "tts_service": "cartesia"}`}.vbot(t, dir, "init", "there", "--config", "-")
	r.wantCode(t, 2)
	all.Write(r.transcript(dir))
	golden(t, "own/faults.txt", all.Bytes())
	if !equalTrees(before, readTree(t, dir)) {
		t.Error("something was written")
	}
	// Help and version need no catalog.
	vbot(t, dir, "init", "--catalog", "services", "--help").wantCode(t, 0)
	vbot(t, dir, "--version", "init", "--catalog", "services").wantCode(t, 0)
}

// Links lead nowhere but into the folder itself, and only files are read.
func TestCatalogStaysInItsFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		skip(t, "links need privileges there")
	}
	dir := t.TempDir()
	put(t, dir, "secret.py", acme)
	put(t, dir, "services/.data/acme.py", acme)
	put(t, dir, "services/stt/README.md", "")
	symlink(t, "../../secret.py", filepath.Join(dir, "services", "stt", "leak.py"))
	symlink(t, "../.data/acme.py", filepath.Join(dir, "services", "stt", "acme.py"))
	symlink(t, "/dev/zero", filepath.Join(dir, "services", "stt", "zero.py"))
	if err := exec.Command("mkfifo", filepath.Join(dir, "services", "stt", "pipe.py")).Run(); err != nil {
		skip(t, err)
	}
	r := vbot(t, dir, "init", "--list-options", "--catalog", "services")
	r.wantCode(t, 2)
	if want := "error: services/stt/leak.py: path escapes from parent\nerror: services/stt/pipe.py: expected a file of at most 65536 bytes\nerror: services/stt/zero.py: path escapes from parent\n"; r.stderr != want {
		t.Errorf("got %s", r.stderr)
	}
}

// Whatever the file of a service holds: vbot says what is wrong with it, or writes a
// project of which every file is well formed.
func FuzzOwnService(f *testing.F) {
	f.Add(acme)
	for _, text := range faultyServices {
		f.Add(text[:min(len(text), 2000)])
	}
	ours := newCatalog()
	for _, kind := range serviceKinds {
		ours.list(kind)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := newCatalog()
		for kind, list := range ours.listed {
			c.listed[kind] = slices.Clone(list)
		}
		if len(c.add(fstest.MapFS{"stt/acme.py": {Data: []byte(text)}}, "services")) > 0 {
			return
		}
		said := quickstart()
		said[optSTT] = answer{text: "acme"}
		cfg, _, problems := resolve(c, said, "")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		files, err := render(cfg, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for line := range strings.Lines(string(f.data)) {
				switch {
				case strings.Contains(line, "<%") && !strings.HasSuffix(f.path, ".py"):
					t.Errorf("%s: %q", f.path, line)
				case f.path == "server/.env.example" && line != "\n" && line[0] != '#' && strings.Trim(line, strings.ToUpper(lower)+digits) != "=\n":
					t.Errorf("%s: %q", f.path, line)
				case f.path == "server/pyproject.toml" && strings.Count(line, `"`)%2 != 0:
					t.Errorf("%s: %q", f.path, line)
				}
			}
		}
	})
}
