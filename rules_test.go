package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parsed are the files of the program, by their path.
func parsed(t testing.TB, fset *token.FileSet) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, name := range sources(t) {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(name)] = f
	}
	return files
}

// Each file may touch one outside thing, and its imports say so: an auditor who
// wants to know what writes files reads write.go.
func TestImportsOfEachFile(t *testing.T) {
	// Packages that touch something outside the program, and who may.
	outside := map[string][]string{
		"os":                    {"main.go", "cli.go", "wizard.go", "write.go", "prompt.go", "internal/tty/terminal.go", "internal/cloud/client.go", "internal/cloud/settings.go"},
		"os/signal":             {"cli.go"},
		"syscall":               {"cli.go", "write.go", "internal/cloud/client.go"}, // signals; the names of errors
		"runtime":               {"main.go", "internal/cloud/settings.go"},          // the Go version; Windows has other file modes
		"runtime/debug":         {"main.go"},                                        // the linked modules
		"embed":                 {"catalog.go"},
		"flag":                  {"cli.go"},
		"crypto/sha256":         {"write.go"},
		"crypto/rand":           {},
		"crypto/tls":            {"internal/cloud/client.go"},
		"math/rand":             {},
		"math/rand/v2":          {"main.go"}, // jitter
		"net":                   {"internal/cloud/client.go"},
		"net/http":              {"internal/cloud/client.go", "internal/cloud/calls.go"},
		"os/exec":               {},
		"os/user":               {},
		"plugin":                {},
		"time":                  {"main.go", "cli.go", "secrets.go", "internal/cloud/client.go", "internal/tty/terminal.go", "internal/tty/keys.go"},
		"unsafe":                {},
		"log":                   {"internal/cloud/client.go"}, // to silence it
		"html/template":         {},
		"golang.org/x/term":     {"internal/tty/terminal.go"},
		"golang.org/x/sys/unix": {},
		"vbot/internal/tty":     {"cli.go", "prompt.go"},
		"vbot/internal/cloud":   {"signin.go", "login.go", "secrets.go", "prompt.go", "dotenv.go"},
	}
	for name, f := range parsed(t, token.NewFileSet()) {
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if may, ok := outside[path]; ok && !slices.Contains(may, name) {
				t.Errorf("%s imports %s, which only %q may", name, path, may)
			} else if !ok && strings.Contains(path, ".") {
				t.Errorf("%s imports %s, which is not of the standard library", name, path)
			}
		}
	}
}

// The program is its own code, the standard library and two modules.
func TestLinkedModules(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	if want := []string{"golang.org/x/sys", "golang.org/x/term", "vbot"}; !slices.Equal(got, want) {
		t.Errorf("linked modules: %q, want %q", got, want)
	}
}

// What is embedded is what templates/ holds, at any depth and with files whose names
// begin with a dot; no cache of a linter, and no file of an editor.
func TestEmbeddedFiles(t *testing.T) {
	var embedded, there []string
	err := fs.WalkDir(templates, "templates", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			embedded = append(embedded, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range readTree(t, "templates") {
		service, _ := filepath.Match("services/*/*.py", path)
		if service || strings.HasSuffix(path, ".tmpl") {
			there = append(there, "templates/"+path)
		} else if !strings.Contains(path, "__pycache__/") && !strings.Contains(path, "_cache/") {
			t.Errorf("templates/%s is neither a template nor a service", path)
		}
	}
	slices.Sort(embedded)
	slices.Sort(there)
	for _, path := range there {
		if !slices.Contains(embedded, path) {
			t.Errorf("%s is not embedded: catalog.go lacks a pattern for it", path)
		}
	}
	if len(embedded) > len(there) {
		t.Errorf("embedded are %q, and templates/ holds %q", embedded, there)
	}
}

// Ids and names are unique within a kind, every id has the form of its kind, and
// every file can be cut up.
func TestCatalog(t *testing.T) {
	cat := newCatalog()
	for _, kind := range serviceKinds {
		for i, p := range cat.list(kind) {
			if want := kind + "_" + letters(i); p.id != want {
				t.Errorf("%s: id %s, want %s: a letter that was given is never given again", p.file, p.id, want)
			}
		}
	}
	for _, kind := range append(serviceKinds, kindTransport) {
		providers := cat.all(kind)
		seen := map[string]string{}
		for _, p := range providers {
			for _, name := range append(p.names, p.id) {
				if other, ok := seen[name]; ok && other != p.id {
					t.Errorf("%s: %s and %s are both called %s", kind, other, p.id, name)
				}
				seen[name] = p.id
				if name != strings.ToLower(name) || strings.ContainsAny(name, " -") {
					t.Errorf("%s: %q is not a name to type", p.file, name)
				}
			}
			if p.file == "" {
				continue // a transport that stands for several ways of dialing
			}
			if !strings.HasSuffix(p.file, "/"+p.names[0]+".py") {
				t.Errorf("%s: the first name is %s", p.file, p.names[0])
			}
			p.python3(map[string]bool{"noise_cancel": true, "video_in": true, "video_out": true, "avatar": true})
			for _, v := range p.env {
				if !slices.Contains([]string{"secret", "id", "model", "voice", "region", "url", "path"}, v.kind) {
					t.Errorf("%s: %s has the kind %q", p.file, v.name, v.kind)
				}
			}
		}
	}
}

// letters are a, b, ... z, aa, ab, ...
func letters(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letters(i/26-1) + letters(i%26)
}

// No two files whose code meets in one bot import a name from different places:
// one would hide the other. Of each kind of service a bot has one.
func TestImportsAgree(t *testing.T) {
	bot, err := templates.ReadFile("templates/server/bot.py.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(bot), "# imports\n")
	block, _, _ := strings.Cut(rest, "# end of imports\n")
	type origin struct{ kind, module string }
	origins := map[string][]origin{}
	check := func(kind, file string, imports []pythonImport) {
		for _, i := range imports {
			module, names := i.module, i.names
			if len(names) == 0 {
				name, _, _ := strings.Cut(i.module, ".")
				module, names = "", []string{name} // the module itself
			}
			for _, n := range names {
				for _, o := range origins[n] {
					if o.module != module && (o.kind != kind || kind == kindTransport) {
						t.Errorf("%s imports %s from %q, and another file from %q", file, n, module, o.module)
					}
				}
				origins[n] = append(origins[n], origin{kind, module})
			}
		}
	}
	check("", "bot.py.tmpl", parseImports(block))
	cat := newCatalog()
	for _, kind := range append(serviceKinds, kindTransport) {
		for _, p := range cat.all(kind) {
			if p.file != "" {
				check(kind, p.file, p.python3(map[string]bool{"noise_cancel": true, "video_in": true, "video_out": true, "avatar": true}).imports)
			}
		}
	}
}
