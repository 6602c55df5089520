package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// madeSection compares what stands in file between the lines `<!-- name -->` and
// `<!-- /name -->` with want, and rewrites it with -update.
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
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The tables of providers are made from the catalog: a row a kind in README.md, a
// row a provider in PROVIDERS.md.
func TestProviderTables(t *testing.T) {
	cat := newCatalog()
	var short, long bytes.Buffer
	short.WriteString("| kind | option | names |\n| --- | --- | --- |\n")
	for _, k := range []struct {
		title, option string
		providers     []*provider
	}{
		{"Web transports", "--transport", cat.transports(false)},
		{"Telephony transports", "--transport", cat.transports(true)},
		{"Speech to text", "--stt", cat.all(kindSTT)},
		{"Language models", "--llm", cat.all(kindLLM)},
		{"Text to speech", "--tts", cat.all(kindTTS)},
		{"Speech to speech", "--realtime", cat.all(kindRealtime)},
		{"Video avatars", "--video", cat.all(kindVideo)},
	} {
		var names []string
		fmt.Fprintf(&long, "## %s (`%s`)\n\n| id | provider | names | needed variables | also needs | hosts |\n| --- | --- | --- | --- | --- | --- |\n", k.title, k.option)
		for _, p := range k.providers {
			p.load()
			names = append(names, p.names[0])
			label := p.label
			if p.keysURL != "" {
				label = "[" + label + "](" + p.keysURL + ")"
			}
			var needed []string
			for _, v := range p.env {
				if other := p.unless(v); other != "" {
					needed = append(needed, v.name+"` or `"+other)
				} else if v.required {
					needed = append(needed, v.name)
				}
			}
			fmt.Fprintf(&long, "| `%s` | %s | %s | %s | %s | %s |\n", p.id, label, quoted(p.names), quoted(needed), quoted(p.needs()), quoted(p.addresses()))
		}
		fmt.Fprintln(&long)
		fmt.Fprintf(&short, "| %s (%d) | `%s` | %s |\n", k.title, len(names), k.option, quoted(names))
	}
	madeSection(t, "README.md", "providers", short.String())
	madeSection(t, "PROVIDERS.md", "providers", strings.TrimSuffix(long.String(), "\n"))
}

// quoted lists words as code.
func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, "`"+w+"`")
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// The session in README.md is what a terminal shows.
func TestReadmeSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		skip(t, "the README shows another terminal")
	}
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("```console\n")
	for _, c := range []struct {
		args string
		code int
	}{
		{"init quickstart", 0},
		{"init my-bot -t twilio -m realtime --realtime openai --video tavus --enable-noise-cancel --no-deploy-to-cloud", 2},
		{"init vbot-quickstart -t twilio -m realtime --realtime openai", 1},
	} {
		r := vbot(t, dir, strings.Fields(c.args)...)
		r.wantCode(t, c.code)
		b.WriteString("$ vbot " + c.args + "\n" + strings.ReplaceAll(r.stdout+r.stderr, dir, "/home/you"))
	}
	b.WriteString("```\n")
	madeSection(t, "README.md", "session", b.String())
}

// document reads a file of the repository.
func document(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sources are the Go files of the program, without tests.
func sources(t testing.TB) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, filepath.ToSlash(f))
		}
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// lines counts the lines of files.
func lines(t *testing.T, files []string) (n int) {
	t.Helper()
	for _, f := range files {
		n += strings.Count(document(t, f), "\n")
	}
	return n
}

// The figures in AUDIT.md are true to five percent; -update writes them anew where
// they are not.
func TestAuditFigures(t *testing.T) {
	needGo(t)
	text := document(t, "AUDIT.md")
	figure := func(pattern string, got int) {
		t.Helper()
		at := regexp.MustCompile(pattern).FindStringSubmatchIndex(text)
		if at == nil {
			t.Fatalf("AUDIT.md has nothing like %q", pattern)
		}
		said, _ := strconv.Atoi(strings.ReplaceAll(text[at[2]:at[3]], ",", ""))
		if 20*max(said-got, got-said) <= got {
			return
		}
		if !updating() {
			t.Errorf("AUDIT.md says %d where %d is right (%s); `make golden` mends it", said, got, pattern)
		}
		rounded := 1 // to two digits
		for ; got >= 100; rounded *= 10 {
			got = (got + 5) / 10
		}
		number := fmt.Sprint(got * rounded)
		for i := len(number) - 3; i > 0; i -= 3 {
			number = number[:i] + "," + number[i:]
		}
		text = text[:at[2]] + number + text[at[3]:]
	}
	bytes := 0
	for _, data := range readTree(t, "templates") {
		bytes += len(data)
	}
	figure(`about ([\d,]+) lines of Go and`, lines(t, sources(t)))
	figure(`and ([\d,]+) kB of templates`, bytes/1000)
	for name, pattern := range map[string]string{"golang.org/x/term": `1, with about ([\d,]+) lines`, "golang.org/x/sys/unix": "1 \\(`unix`\\), with about ([\\d,]+) lines"} {
		cmd := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, name)
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		figure(pattern, lines(t, strings.Fields(string(out))))
	}
	if updating() {
		if err := os.WriteFile("AUDIT.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// CONTRIBUTING.md has a row for each file of the program, and for each package.
func TestTableOfFiles(t *testing.T) {
	described := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `?([a-z_*/]+(?:\\.go)?)`? \\|").FindAllStringSubmatch(document(t, "CONTRIBUTING.md"), -1) {
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

// docs/scripting.md lists the codes of errors that the program has.
func TestTableOfErrorCodes(t *testing.T) {
	codes := func(pattern, text string) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	var code strings.Builder
	for _, f := range sources(t) {
		code.WriteString(document(t, f))
	}
	said := codes("(?m)^\\| `([a-z_]+)` \\| \\d+ \\|", document(t, "docs/scripting.md"))
	if has := codes(`(?m)^\t[cC]ode[A-Z]\w* += "([a-z_]+)"`, code.String()); len(has) < 10 || !slices.Equal(said, has) {
		t.Errorf("docs/scripting.md lists %q, and the program has %q", said, has)
	}
	if f, _ := reflect.TypeFor[failureAnswer]().FieldByName("Code"); !slices.Equal(said, slices.Sorted(strings.SplitSeq(f.Tag.Get("enum"), ","))) {
		t.Errorf("the schema lists %q", f.Tag.Get("enum"))
	}
}

// The documents name only tests, make targets and versions that there are.
func TestNamesInDocuments(t *testing.T) {
	all := ""
	for _, name := range []string{"README.md", "AUDIT.md", "CONTRIBUTING.md", "SECURITY.md", "docs/performance.md", "docs/scripting.md", "docs/secrets.md"} {
		all += document(t, name)
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
	for _, m := range regexp.MustCompile(`\bGo(?:\]\(https://go.dev/dl/\))? (1\.\d+)`).FindAllStringSubmatch(all, -1) {
		if m[1] != goMod {
			t.Errorf("a document names %s, and go.mod Go %s", m[0], goMod)
		}
	}
}
