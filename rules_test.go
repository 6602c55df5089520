package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
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
		"os":                    {"main.go", "cli.go", "wizard.go", "write.go", "lock_unix.go", "lock_windows.go", "prompt.go", "internal/tty/terminal.go", "internal/cloud/settings.go"},
		"os/signal":             {"cli.go"},
		"syscall":               {"cli.go", "write.go", "lock_unix.go", "internal/cloud/client.go"}, // signals; the names of errors; flock and access
		"runtime":               {"main.go", "cli.go", "internal/cloud/settings.go"},                // the Go version; Windows quotes differently and has other file modes
		"runtime/debug":         {"main.go"},                                                        // the linked modules
		"embed":                 {"catalog.go", "completion.go"},
		"flag":                  {"cli.go"},
		"crypto/fips140":        {"main.go"}, // whether it is in force
		"crypto/sha256":         {"render.go", "write.go"},
		"crypto/rand":           {},
		"crypto/tls":            {"internal/cloud/client.go"},
		"math/rand":             {},
		"math/rand/v2":          {"main.go"}, // jitter
		"net":                   {"internal/cloud/client.go"},
		"net/http":              {"internal/cloud/client.go", "internal/cloud/calls.go"},
		"os/exec":               {},
		"os/user":               {},
		"plugin":                {},
		"time":                  {"main.go", "cli.go", "secrets.go", "set.go", "imagepull.go", "internal/cloud/client.go", "internal/tty/terminal.go", "internal/tty/keys.go"},
		"unsafe":                {},
		"log":                   {"internal/cloud/client.go"}, // to silence it
		"html/template":         {},
		"golang.org/x/term":     {"internal/tty/terminal.go"},
		"golang.org/x/sys/unix": {},
		"vbot/internal/tty":     {"cli.go", "prompt.go"},
		"vbot/internal/cloud":   {"signin.go", "login.go", "secrets.go", "set.go", "imagepull.go", "prompt.go", "dotenv.go"},
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
	needGo(t)
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	if want := []string{"golang.org/x/sys", "golang.org/x/term"}; !slices.Equal(got, want) {
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
			for _, problem := range p.checkCode() {
				t.Error(problem.line())
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
				check(kind, p.file, p.parseCode(map[string]bool{"noise_cancel": true, "video_in": true, "video_out": true, "avatar": true}).imports)
			}
		}
	}
}

// floors are the files from the ground up, with the files whose names each uses.
// What a command needs of another is on the ground: commands do not know each
// other, but for those that share secrets.go.
var floors = []struct{ file, uses string }{
	{"failure.go", ""},
	{"version.go", ""},
	{"dotenv.go", ""},
	{"cli.go", "failure.go"},
	{"options.go", "failure.go"},
	{"catalog.go", "failure.go options.go"},
	{"resolve.go", "catalog.go failure.go options.go"},
	{"python.go", "catalog.go failure.go options.go"},
	{"own.go", "catalog.go cli.go failure.go options.go python.go"},
	{"variables.go", "catalog.go"},
	{"render.go", "catalog.go failure.go options.go python.go variables.go version.go"},
	{"lock_unix.go", ""},
	{"write.go", "failure.go lock_unix.go render.go"},
	{"diff.go", ""},
	{"update.go", "diff.go failure.go options.go render.go version.go write.go"},
	{"prompt.go", "cli.go failure.go"},
	{"signin.go", "cli.go failure.go version.go"},

	{"wizard.go", "catalog.go cli.go failure.go lock_unix.go options.go prompt.go render.go resolve.go variables.go write.go"},
	{"listing.go", "catalog.go cli.go failure.go options.go own.go"},
	{"init.go", "catalog.go cli.go failure.go listing.go options.go own.go prompt.go render.go resolve.go update.go variables.go version.go wizard.go write.go"},
	{"completion.go", "catalog.go cli.go failure.go options.go own.go"},
	{"schema.go", "catalog.go cli.go failure.go options.go own.go"},
	{"login.go", "cli.go failure.go prompt.go signin.go write.go"},
	{"secrets.go", "cli.go failure.go prompt.go signin.go"},
	{"set.go", "cli.go dotenv.go failure.go prompt.go secrets.go signin.go"},
	{"imagepull.go", "cli.go failure.go prompt.go secrets.go signin.go"},

	{"main.go", "cli.go completion.go failure.go imagepull.go init.go listing.go login.go options.go schema.go secrets.go set.go update.go version.go"},
}

// No file calls upstairs: each uses names of files below it alone, and of those
// that the plan says.
func TestNoFileCallsUpstairs(t *testing.T) {
	fset, pkg, info := named(t)
	used := map[string]map[string]string{} // by file: other files, and one name of each
	for id, obj := range info.Uses {       // methods and fields too
		if obj.Pkg() == pkg {
			from, to := fset.Position(id.Pos()).Filename, fset.Position(obj.Pos()).Filename
			if used[from] == nil {
				used[from] = map[string]string{}
			}
			used[from][to] = id.Name
		}
	}
	contributing, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var below []string
	for _, floor := range floors {
		if !strings.Contains(string(contributing), "\n| "+floor.file+" |") {
			t.Errorf("the table in CONTRIBUTING.md lacks %s", floor.file)
		}
		may := strings.Fields(floor.uses)
		for _, to := range may {
			if !slices.Contains(below, to) {
				t.Errorf("the plan has %s call upstairs, to %s", floor.file, to)
			}
			if used[floor.file][to] == "" {
				t.Errorf("%s uses nothing of %s; the plan says it does", floor.file, to)
			}
		}
		for to, name := range used[floor.file] {
			if to != floor.file && !slices.Contains(may, to) {
				t.Errorf("%s uses %s of %s, which the plan does not say", floor.file, name, to)
			}
		}
		below = append(below, floor.file)
	}
	for _, name := range sources(t) {
		if !strings.Contains(name, "/") && name != "lock_windows.go" && !slices.Contains(below, name) {
			t.Errorf("the plan lacks %s", name)
		}
	}
}

// A name in a function never hides one of the package: a reader would take it for
// the other, and so would a tool that searches.
func TestNoNameHidesAnother(t *testing.T) {
	fset, pkg, info := named(t)
	for id, obj := range info.Defs {
		if obj == nil || obj.Parent() == nil || obj.Parent() == pkg.Scope() { // fields and methods have no parent
			continue
		}
		if hidden := pkg.Scope().Lookup(id.Name); hidden != nil {
			t.Errorf("%s: %s hides %s of %s", fset.Position(id.Pos()), id.Name, id.Name, fset.Position(hidden.Pos()).Filename)
		}
	}
}

// named returns package main, and what its names stand for.
func named(t *testing.T) (*token.FileSet, *types.Package, *types.Info) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for name, f := range parsed(t, fset) {
		// lock_windows.go stands in for lock_unix.go.
		if !strings.Contains(name, "/") && name != "lock_windows.go" {
			files = append(files, f)
		}
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	// What is imported stays unknown, and the names of this package do not.
	pkg, _ := (&types.Config{Importer: noImports{}, Error: func(error) {}}).Check("vbot", fset, files, info)
	return fset, pkg, info
}

// noImports knows no package.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) { return nil, errors.New(path) }
