package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
	"vbot/templates"
)

// madeSection compares the text in file between the lines `<!-- name -->` and
// `<!-- /name -->` with want. With -update, it rewrites that text.
func madeSection(t *testing.T, file, name, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "<!-- "+name+" -->\n")
	got, after, ok2 := strings.Cut(rest, "<!-- /"+name+" -->\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no section %s", file, name)
	}
	want = "\n" + want + "\n"
	if got == want {
		return
	}
	if !updating() {
		t.Errorf("the section %s of %s is out of date; `make golden` makes it anew", name, file)
		return
	}
	text := before + "<!-- " + name + " -->\n" + want + "<!-- /" + name + " -->\n" + after
	rewrite(t, file, text)
}

// Each command has a run in golden/, and README.md or docs/ mentions it. Other tests check its help
// page and the schema of its result.
func TestEveryCommandIsShown(t *testing.T) {
	afterGoldens(t)
	transcripts, documents := "", document(t, "README.md")
	for _, dir := range []string{"golden", "docs"} {
		for name, text := range filetest.Tree(t, dir) {
			switch {
			case dir == "docs":
				documents += text
			case strings.HasSuffix(name, ".txt") && !strings.HasPrefix(name, "errors/"):
				transcripts += text
			}
		}
	}
	everyCommand(commandTree(), "vbot", func(c *cli.Command, path string) {
		if c.New == nil || path == "vbot" {
			return
		}
		if !regexp.MustCompile(`(?m)^\$ ` + path + `( |$)`).MatchString(transcripts) {
			t.Errorf("golden/ has no transcript of %s", path)
		}
		if !strings.Contains(documents, path) {
			t.Errorf("neither README.md nor docs/ names %s", path)
		}
	})
}

// README.md or docs/ mentions each option of init and of the cloud commands.
func TestEveryOptionIsDocumented(t *testing.T) {
	parallel(t)
	documents := document(t, "README.md")
	for _, text := range filetest.Tree(t, "docs") {
		documents += text
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`--[a-z][a-z-]*[a-z]`).FindAllString(documents, -1) {
		named[name] = true
	}
	n := 0
	everyCommand(commandTree(), "vbot", func(c *cli.Command, path string) {
		if c.New == nil || c.Name != "init" && !strings.HasPrefix(path, "vbot cloud ") {
			return
		}
		var help cli.HelpPage
		r := inProcess{}.vbot(t, append(strings.Fields(path)[1:], "--help", "--json")...)
		if err := json.Unmarshal([]byte(r.stdout), &help); err != nil {
			t.Fatal(err)
		}
		n += len(help.Options)
		for _, o := range help.Options {
			if !slices.ContainsFunc(o.Names, func(name string) bool { return named[name] }) {
				t.Errorf("neither README.md nor docs/ names %s of %s", strings.Join(o.Names, ", "), path)
			}
		}
	})
	if n < 80 {
		t.Errorf("the help pages list only %d options", n)
	}
}

// The tables of services are made from the catalog.
func TestServiceTables(t *testing.T) {
	parallel(t)
	cat := catalog.New()
	var b bytes.Buffer
	for _, section := range bot.AllSections {
		fmt.Fprintf(&b, "## %s (`--%s`)\n\n"+
			"| id | service | names | needed variables | also needs | hosts |\n"+
			"| --- | --- | --- | --- | --- | --- |\n", section.Title, section.Option.Flag)
		for _, p := range section.Services(cat) {
			label := p.Label
			if p.KeysURL != "" {
				label = "[" + label + "](" + p.KeysURL + ")"
			}
			var needed []string
			for _, v := range p.Env {
				if other := p.Unless(v); other != "" {
					instead := strings.Join(p.Instead(v)[0], "` with `")
					needed = append(needed, v.Name+"` or `"+instead)
				} else if v.Required {
					needed = append(needed, v.Name)
				}
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", p.ID, label, quoted(p.Names),
				quoted(needed), quoted(p.Needs()), quoted(p.Addresses()))
		}
		fmt.Fprintln(&b)
	}
	madeSection(t, "docs/services.md", "services", strings.TrimSuffix(b.String(), "\n"))
}

// quoted lists words as code.
func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, "`"+w+"`")
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// document reads a file of the repository.
func document(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sources are the Go files of the program, without tests and the packages for them.
func sources(t testing.TB) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "internal/*/*.go", "templates/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, filepath.ToSlash(f))
		}
	}
	return slices.DeleteFunc(files,
		func(f string) bool {
			return strings.HasSuffix(f, "_test.go") ||
				strings.HasSuffix(path.Dir(f), "test")
		})
}

// lines counts the lines of files.
func lines(t *testing.T, files []string) (n int) {
	t.Helper()
	for _, f := range files {
		n += strings.Count(document(t, f), "\n")
	}
	return n
}

// The reading list of AUDIT.md has every file of the program once, with line counts that are
// correct within five percent. -update corrects the others.
func TestAuditReadingList(t *testing.T) {
	parallel(t)
	text := document(t, "docs/AUDIT.md")
	all, read := sources(t), []string{}
	item := regexp.MustCompile("(?m)^(\\d\\. .*`) \\((\\d+) lines\\)")
	made := item.ReplaceAllStringFunc(text, func(s string) string {
		m := item.FindStringSubmatch(s)
		files := slices.DeleteFunc(slices.Clone(all), func(f string) bool {
			return !strings.Contains(m[1], "`"+f+"`") && !strings.Contains(m[1], "`"+path.Dir(f)+"`")
		})
		read = append(read, files...)
		said, _ := strconv.Atoi(m[2])
		got := lines(t, files)
		if 20*max(said-got, got-said) <= got {
			return s
		}
		return fmt.Sprintf("%s (%d lines)", m[1], (got+5)/10*10)
	})
	slices.Sort(all)
	if slices.Sort(read); !slices.Equal(read, all) {
		t.Errorf("AUDIT.md lists %q to read, and the program is %q", read, all)
	}
	if made == text {
		return
	}
	if !updating() {
		t.Error("counts of lines in AUDIT.md are out of date; `make golden` makes them anew")
	} else {
		rewrite(t, "docs/AUDIT.md", made)
	}
}

// CONTRIBUTING.md has a row for each file of the program, and for each package.
func TestTableOfFiles(t *testing.T) {
	parallel(t)
	described := map[string]bool{}
	_, table, _ := strings.Cut(document(t, "docs/CONTRIBUTING.md"), "\n## Structure\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| `?([a-z_*/]+(?:\\.go)?)`? \\|").
		FindAllStringSubmatch(table, -1) {
		found, err := filepath.Glob(row[1])
		if row[1] == "file" {
			continue // the table's head
		}
		if err != nil || len(found) == 0 {
			t.Errorf("CONTRIBUTING.md describes %s, and there is no such file", row[1])
		}
		for _, f := range found {
			described[f] = true
		}
	}
	for _, f := range sources(t) {
		if !described[f] && !described[path.Dir(f)] {
			t.Errorf("CONTRIBUTING.md does not describe %s", f)
		}
	}
}

// docs/scripting.md lists the program's error codes.
func TestTableOfErrorCodes(t *testing.T) {
	parallel(t)
	var listed []string
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| \\d+ \\|")
	for _, m := range row.FindAllStringSubmatch(document(t, "docs/scripting.md"), -1) {
		listed = append(listed, m[1])
	}
	codes := slices.Sorted(slices.Values(report.ErrorCode("").Enum()))
	if slices.Sort(listed); !slices.Equal(listed, codes) {
		t.Errorf("docs/scripting.md lists %q, and the program has %q", listed, codes)
	}
}

// A coding agent reads little before the bot is changed and tested: AGENTS.md, and the files that it names
// for that. 3.5 characters are a token; the tokenizers of large models make 3.6 to 4 of such text.
func TestAgentsReadLittle(t *testing.T) {
	parallel(t)
	const limit, characters = 7000, 3.5
	const hotline = "-t twilio -t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia " +
		"--language de --self-host"
	for _, options := range []string{cascade, hotline} {
		dir := t.TempDir()
		vbot(t, dir, append(strings.Fields("init . --eval"), strings.Fields(options)...)...).wantCode(t, 0)
		tree := filetest.Tree(t, dir)
		read := len(tree["AGENTS.md"])
		for _, name := range []string{"agent.py", "bot.py", "tests/test_agent.py", "appointments.py"} {
			if !strings.Contains(tree["AGENTS.md"], name) {
				t.Errorf("AGENTS.md does not name %s", name)
			}
			text, ok := tree["server/"+name]
			if !ok {
				t.Errorf("there is no %s", name)
			}
			read += len(text)
		}
		tokens := int(float64(read) / characters)
		t.Logf("%d tokens", tokens)
		if tokens > limit {
			t.Errorf("an agent reads %d tokens, more than %d", tokens, limit)
		}
	}
}

// Sizes and counts in README.md are those that docs/performance.md measured, and the limit in AUDIT.md,
// which release/audit checks, is no more than 3 percent above that size.
func TestFiguresInDocuments(t *testing.T) {
	parallel(t)
	measured := document(t, "docs/performance.md")
	figure := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(measured)
		if found == nil {
			t.Fatalf("docs/performance.md has no %s", pattern)
		}
		return found[1]
	}
	size := figure(`\| installed \| ([\d.]+) MB, 1 file`)
	packages, err := strconv.Atoi(figure(`\| installed \| [^|]* \| \d+ MB, (\d+) packages`))
	if err != nil {
		t.Fatal(err)
	}
	readme := strings.Join(strings.Fields(document(t, "README.md")), " ")
	for _, text := range []string{
		"one " + size + " MB file",
		fmt.Sprintf("about %d packages", (packages+5)/10*10),
		"installs " + figure(`\| installed \| (\d+ MB), \d+ packages`) + " of Python packages",
	} {
		if !strings.Contains(readme, text) {
			t.Errorf("README.md does not say %q", text)
		}
	}
	limit := regexp.MustCompile(`less than ([\d.]+) million bytes`).
		FindStringSubmatch(document(t, "docs/AUDIT.md"))
	most, err := strconv.ParseFloat(limit[1], 64)
	is, err2 := strconv.ParseFloat(size, 64)
	if err != nil || err2 != nil || is > most || most > 1.03*is {
		t.Errorf("AUDIT.md: less than %s million bytes; docs/performance.md: %s MB", limit[1], size)
	}
}

// README.md shows a picture of the bot's page, which `make picture` makes, and which loads at once.
func TestPictureInTheReadme(t *testing.T) {
	parallel(t)
	const name, largest = "docs/page.png", 60_000 // bytes
	if !strings.Contains(document(t, "README.md"), "]("+name+")") {
		t.Errorf("README.md does not show %s", name)
	}
	picture := document(t, name)
	if config, err := png.DecodeConfig(strings.NewReader(picture)); err != nil || config.Width > 800 {
		t.Errorf("%s: %+v, %v", name, config, err)
	}
	if len(picture) > largest {
		t.Errorf("%s has %d bytes, more than %d", name, len(picture), largest)
	}
}

// README.md names the Macs that README.md of a bot names, which e2e/test_platforms.py checks.
func TestMacsInDocuments(t *testing.T) {
	afterGoldens(t)
	macs := regexp.MustCompile(`A Mac needs\n(Apple silicon and macOS \d+ or later)\.`).
		FindStringSubmatch(document(t, "golden/quickstart/README.md"))
	if macs == nil || !strings.Contains(document(t, "README.md"), "on a Mac, "+macs[1]+".") {
		t.Errorf("README.md does not say that a bot needs %q", macs)
	}
}

// The documents name only existing tests, make targets and versions.
func TestNamesInDocuments(t *testing.T) {
	parallel(t)
	all := document(t, "README.md")
	for _, text := range filetest.Tree(t, "docs") {
		all += text
	}
	tests := ""
	files, _ := filepath.Glob("*_test.go")
	more, _ := filepath.Glob("internal/*/*_test.go")
	for _, f := range append(files, more...) {
		tests += document(t, f)
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(all, -1) {
		if !strings.Contains(tests, "\nfunc "+m[1]+"(") {
			t.Errorf("a document names %s, and there is no such test", m[1])
		}
	}
	makefile := document(t, "Makefile")
	for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z0-9-]+)").FindAllStringSubmatch(all, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("a document names `make %s`, and the Makefile has no such target", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):(.*)`).FindAllStringSubmatch(makefile, -1) {
		if !strings.Contains(m[2], " ## ") {
			t.Errorf("make help does not say what `make %s` does", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`vbot-(\d+\.\d+\.\d+)`).FindAllStringSubmatch(all, -1) {
		if m[1] != version {
			t.Errorf("a document names %s, and this is vbot %s", m[0], version)
		}
	}
	goMod := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(document(t, "go.mod"))[1]
	if strings.Contains(document(t, "go.mod"), "toolchain") {
		t.Error("go.mod names a toolchain: without a network, another Go of that line cannot build vbot")
	}
	if released := document(t, "release/go-version"); !strings.HasPrefix(released, goMod+".") {
		t.Errorf("releases are built with Go %s, and go.mod has Go %s", released, goMod)
	}
	for _, m := range regexp.MustCompile(`\bGo(?:\]\(https://go.dev/dl/\))? (1\.\d+)`).
		FindAllStringSubmatch(all, -1) {
		if m[1] != goMod {
			t.Errorf("a document names %s, and go.mod Go %s", m[0], goMod)
		}
	}
}

// The program is its own code, the standard library and two modules.
func TestLinkedModules(t *testing.T) {
	parallel(t)
	needGo(t)
	const module = "{{with .Module}}{{if not .Main}}{{.Path}}{{with .Replace}}=>{{.Path}}{{end}}" +
		"{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-f", module, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	if want := []string{"golang.org/x/sys", "golang.org/x/term"}; !slices.Equal(got, want) {
		t.Errorf("linked modules: %q, want %q", got, want)
	}
}

// All files of templates/ are embedded, at any depth, including files whose names begin
// with a dot, but no cache of a linter and no file of an editor.
func TestEmbeddedFiles(t *testing.T) {
	parallel(t)
	var embedded, there []string
	err := fs.WalkDir(templates.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			embedded = append(embedded, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range filetest.Tree(t, "templates") {
		service, _ := filepath.Match("services/*/*.py", path)
		module := strings.HasPrefix(path, "server/") && strings.HasSuffix(path, ".py")
		text, _ := filepath.Match("help/*.txt", path)
		script, _ := filepath.Match("completion/vbot.*", path)
		translation, _ := filepath.Match("translations/*.txt", path)
		isList := path == "paths.txt" || path == "languages.txt"
		ofRecords := path == "server/vbot/records/README.md" || path == "server/vbot/records/schema.json"
		if service || module || text || script || translation || isList || ofRecords ||
			strings.HasSuffix(path, ".tmpl") {
			there = append(there, path)
		} else if !strings.HasSuffix(path, ".go") &&
			!strings.HasPrefix(path, "unit/") && // tests of server/vbot
			!strings.Contains(path, "__pycache__/") && !strings.Contains(path, "_cache/") {
			t.Errorf("templates/%s is neither a template nor a service, a module, a help page, "+
				"a translation nor a completion script", path)
		}
	}
	slices.Sort(embedded)
	slices.Sort(there)
	for _, path := range there {
		if !slices.Contains(embedded, path) {
			t.Errorf("%s is not embedded: templates/files.go lacks a pattern for it", path)
		}
	}
	if len(embedded) > len(there) {
		t.Errorf("embedded are %q, and templates/ holds %q", embedded, there)
	}
}

// The list of paths that a record may have includes all paths that this version writes, of templates and
// of golden projects, and those of earlier versions. -update adds paths; none is ever removed.
func TestPaths(t *testing.T) {
	afterGoldens(t)
	listed := render.Paths()
	paths := slices.Clone(listed)
	for name := range filetest.Tree(t, "templates") {
		dir, rest, _ := strings.Cut(name, "/")
		if dir == "client" {
			_, rest, _ = strings.Cut(rest, "/") // several folders make up the client
			name = "client/" + rest
		}
		isDocument := dir == name && strings.HasSuffix(name, ".md.tmpl")
		if isDocument || dir == "server" || dir == "deploy" || dir == "client" {
			paths = append(paths, strings.TrimSuffix(name, ".tmpl"))
		}
	}
	for _, name := range goldenProjects(t) {
		for path := range goldenFiles(t, name) {
			paths = append(paths, path)
		}
	}
	unlisted := func(path string) bool {
		return path == project.RecordName || project.IsGuide(path) || strings.Contains(path, "_cache")
	}
	paths = slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(paths, unlisted))))
	if slices.Equal(paths, listed) {
		return
	}
	if !updating() {
		t.Errorf("templates/paths.txt has %d paths and lacks some of %q; `make golden` adds them",
			len(listed), paths)
	} else {
		rewrite(t, "templates/paths.txt", strings.Join(paths, "\n")+"\n")
	}
}

// README.md and the wizard state the same measured figures of the bot without a key.
func TestWhatABotWithoutAKeyTakes(t *testing.T) {
	parallel(t)
	text := strings.Join(strings.Fields(document(t, "README.md")), " ")
	for _, figure := range []string{
		"takes " + bot.Measured().Memory, "(" + bot.Measured().Ollama + ")",
		"another " + bot.Measured().Downloads + " of downloads", "answers after " + bot.Measured().Answers,
	} {
		if !strings.Contains(text, figure) {
			t.Errorf("README.md does not say %q", figure)
		}
	}
}

// Workflows use actions by commit, and no pull request gets a token to sign with.
func TestWorkflows(t *testing.T) {
	parallel(t)
	files, _ := filepath.Glob(".github/workflows/*.yml")
	uses := regexp.MustCompile(`uses: (\S+)`)
	byCommit := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	for _, file := range append(files, "templates/test.yml.tmpl") {
		found := uses.FindAllStringSubmatch(document(t, file), -1)
		if len(found) < 2 {
			t.Errorf("%s uses %q", file, found)
		}
		for _, m := range found {
			if !byCommit.MatchString(m[1]) {
				t.Errorf("%s uses %s", file, m[1])
			}
		}
		const onlyOnTags = "\n    if: github.event_name == 'push'\n"
		for _, job := range regexp.MustCompile(`\n  \w+:\n`).Split(document(t, file), -1) {
			if strings.Contains(job, "id-token: write") && !strings.Contains("\n"+job, onlyOnTags) {
				t.Errorf("%s may sign in a job for pull requests", file)
			}
		}
	}
}
