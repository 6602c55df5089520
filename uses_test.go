package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vbot/internal/filetest"
)

// uses are lines such as "internal/cli imports errors" and "internal/cli os.Open": what a package of
// vbot imports, and which names it uses of the packages that are not in harmless.
type uses map[string]bool

// Each package of vbot uses only what docs/uses.txt lists, and all of that, on three systems. The list has
// no -update: a person writes what a package may do.
func TestUses(t *testing.T) {
	parallel(t)
	needGo(t)
	harmless, listed := readUses(t)
	used, compiled := uses{}, map[string]bool{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		usesOn(t, goos, "", nil, harmless, used, compiled)
	}
	cloudOnly := map[string]bool{}
	usesOn(t, "linux", "nocreate", nil, harmless, used, cloudOnly)
	for file := range cloudOnly {
		compiled[file] = true
		for _, room := range []string{"bot", "catalog", "project", "python", "render", "scaffold", "wizard"} {
			if strings.HasPrefix(file, "internal/"+room+"/") {
				t.Errorf("with -tags nocreate, vbot contains %s", file)
			}
		}
	}
	for _, problem := range compareUses(used, listed) {
		t.Error(problem)
	}
	for _, file := range sources(t) {
		if !compiled[file] {
			t.Errorf("%s is compiled on none of the three systems", file)
		}
	}
	for _, pattern := range []string{"*", "internal/*/*", "templates/*"} {
		for _, suffix := range []string{".s", ".S", ".syso", ".c", ".h"} { // for any processor
			if found, _ := filepath.Glob(pattern + suffix); found != nil {
				t.Errorf("%s would be linked", found)
			}
		}
	}
}

// TestUses finds each of these backdoors.
func TestUsesFindsBackdoors(t *testing.T) {
	parallel(t)
	needGo(t)
	backdoors := []struct{ file, code, want string }{
		{"internal/cli/x.go", `import "syscall"
			func x() { syscall.Connect(0, nil) }`, "internal/cli syscall.Connect"},
		{"internal/catalog/x.go", `import "net/smtp"
			func x() { smtp.SendMail("", nil, "", nil, nil) }`, "internal/catalog net/smtp.SendMail"},
		{"internal/render/x.go", `import "io/ioutil"
			func x() { ioutil.WriteFile("", nil, 0) }`, "internal/render io/ioutil.WriteFile"},
		{"internal/files/x.go", `import strings "os"
			func x() { write := strings.WriteFile; write("", nil, 0) }`, "internal/files os.WriteFile"},
		{"internal/secret/x.go", `import . "os/exec"
			func x() { Command("id").Run() }`, "internal/secret os/exec.Cmd.Run"},
		{"internal/cloud/x.go", `import "crypto/tls"
			var x = tls.Config{InsecureSkipVerify: true}`, "internal/cloud crypto/tls.InsecureSkipVerify"},
		{"internal/tty/x.go", `import "os"
			func x(f *os.File) { f.SyscallConn() }`, "internal/tty os.File.SyscallConn"},
		{"internal/system/x.go", `import "golang.org/x/sys/unix"
			func x() { unix.Exec("", nil, nil) }`, "internal/system golang.org/x/sys/unix.Exec"},
		{"internal/python/x.go", `import _ "unsafe"
			//go:linkname x syscall.connect
			func x(int, uintptr, uintptr) error`, "internal/python imports unsafe"},
		{"internal/report/x.go", `import "reflect"
			func x(v any) { reflect.ValueOf(v).Method(0).Call(nil) }`, "internal/report reflect.Value.Call"},
		{"internal/cloudcmd/x.go", `func x(text string) { println(text) }`, "internal/cloudcmd println"},
		{"internal/wizard/x.go", `//go:linkname x internal/poll.x
			var x int`, "internal/wizard //go:linkname"},
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, overlay := t.TempDir(), map[string]string{}
	for i, b := range backdoors {
		name := strconv.Itoa(i) + ".go"
		filetest.Put(t, dir, name, "package "+filepath.Base(filepath.Dir(b.file))+"\n"+b.code+"\n")
		overlay[filepath.Join(root, filepath.FromSlash(b.file))] = filepath.Join(dir, name)
	}
	harmless, listed := readUses(t)
	used := uses{}
	usesOn(t, "linux", "", overlay, harmless, used, map[string]bool{})
	found := compareUses(used, listed)
	for _, b := range backdoors {
		if !slices.Contains(found, "docs/uses.txt does not list "+b.want) {
			t.Errorf("not found: %s", b.want)
		}
	}
}

// compareUses says what differs from the list.
func compareUses(used, listed uses) (problems []string) {
	for _, use := range slices.Sorted(maps.Keys(used)) {
		if !listed[use] {
			problems = append(problems, "docs/uses.txt does not list "+use)
		}
	}
	for _, use := range slices.Sorted(maps.Keys(listed)) {
		if !used[use] {
			problems = append(problems, "docs/uses.txt lists what the code does not do: "+use)
		}
	}
	return problems
}

// readUses reads docs/uses.txt.
func readUses(t *testing.T) (harmless map[string]bool, listed uses) {
	t.Helper()
	harmless, listed = map[string]bool{}, uses{}
	pkg, from := "", ""
	for line := range strings.Lines(document(t, "docs/uses.txt")) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) > 0 && !strings.HasPrefix(line, " ") {
			pkg, from, words = words[0], "", words[1:]
		}
		for _, word := range words {
			switch {
			case strings.HasSuffix(word, ":"):
				from = strings.TrimSuffix(word, ":")
				if from != "imports" && pkg != "harmless" {
					listed[pkg+" imports "+from] = true
				}
			case pkg == "harmless" && from == "":
				harmless[word] = true
			case pkg == "harmless":
				harmless[from+"."+word] = true
			case from == "imports":
				listed[pkg+" imports "+word] = true
			default:
				listed[pkg+" "+from+"."+word] = true
			}
		}
	}
	return harmless, listed
}

// usesOn adds what the program uses on one system, and the names of its files that are compiled there with
// the build tags. The overlay has other contents for files, by their paths.
func usesOn(
	t *testing.T, goos, tags string, overlay map[string]string, harmless map[string]bool, used uses,
	compiled map[string]bool,
) {
	t.Helper()
	replaced, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	filetest.Put(t, dir, "overlay.json", string(replaced))
	cmd := exec.Command("go", "list", "-overlay", filepath.Join(dir, "overlay.json"), "-tags", tags, "-deps",
		"-json", ".")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	fset, checked := token.NewFileSet(), map[string]*types.Package{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath, Dir            string
			GoFiles, SFiles, SysoFiles []string
			ImportMap                  map[string]string // the copies of modules in the standard library
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, "vbot")
		name = cmp.Or(strings.TrimPrefix(name, "/"), "vbot")
		var files []*ast.File
		for _, file := range p.GoFiles {
			file = filepath.Join(p.Dir, file)
			f, err := parser.ParseFile(fset, cmp.Or(overlay[file], file), nil,
				parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
			compiled[strings.TrimPrefix(name+"/"+filepath.Base(file), "vbot/")] = ours
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: listedImporter{checked, p.ImportMap}, IgnoreFuncBodies: !ours}
		if checked[p.ImportPath], err = config.Check(p.ImportPath, fset, files, info); err != nil {
			t.Fatal(err)
		}
		if ours {
			for _, other := range slices.Concat(p.SFiles, p.SysoFiles) {
				used[name+" assembles "+other] = true
			}
			addUses(used, name, harmless, files, info)
		}
	}
}

// addUses adds what the files of one package use.
func addUses(used uses, name string, harmless map[string]bool, files []*ast.File, info *types.Info) {
	for _, f := range files {
		for _, i := range f.Imports {
			imported, _ := strconv.Unquote(i.Path.Value)
			used[name+" imports "+strings.TrimPrefix(imported, "vbot/")] = true
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				directive, _, _ := strings.Cut(c.Text, " ")
				isDirective := strings.HasPrefix(directive, "//go:") || strings.HasPrefix(directive, "//line")
				if isDirective && directive != "//go:build" && directive != "//go:embed" {
					used[name+" "+directive] = true
				}
			}
		}
	}
	for _, object := range info.Uses {
		if b, ok := object.(*types.Builtin); ok && strings.HasPrefix(b.Name(), "print") { // to stderr
			used[name+" "+b.Name()] = true
		}
		pkg := object.Pkg()
		if pkg == nil || harmless[pkg.Path()] || strings.HasPrefix(pkg.Path()+"/", "vbot/") {
			continue
		}
		switch object.(type) {
		case *types.PkgName, *types.Const: // they do nothing
			continue
		}
		symbol := object.Name()
		if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
			of := types.TypeString(f.Signature().Recv().Type(), func(*types.Package) string { return "" })
			symbol = strings.TrimPrefix(of, "*") + "." + symbol
		}
		if symbol = pkg.Path() + "." + symbol; !harmless[symbol] {
			used[name+" "+symbol] = true
		}
	}
}

// listedImporter finds packages that were checked before: go list prints them before those that import them.
type listedImporter struct {
	checked map[string]*types.Package
	renamed map[string]string
}

func (i listedImporter) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i.checked[cmp.Or(i.renamed[path], path)]; p != nil {
		return p, nil
	}
	return nil, errors.New("not listed: " + path)
}

// docs/uses-python.txt lists which files of generated bots import modules that can reach a network, another
// program or other code.
func TestPythonUses(t *testing.T) {
	parallel(t)
	modules := []string{
		"aiohttp", "asyncio.subprocess", "ctypes", "ftplib", "http.client", "http.server", "httpx",
		"importlib", "multiprocessing", "pickle", "requests", "runpy", "smtplib", "socket", "ssl",
		"subprocess", "telnetlib", "urllib.request", "websockets",
	}
	names := strings.ReplaceAll(strings.Join(modules, "|"), ".", `\.`)
	reaching := regexp.MustCompile(`(?m)^\s*(?:from|import) +(` + names + `)\b|` +
		`\b(os\.system|os\.exec|create_subprocess|__import__)`)
	isTest := regexp.MustCompile("^server/(tests|vbot/testing)/")
	found, files := map[string]bool{}, 0
	root := os.DirFS("templates")
	err := fs.WalkDir(root, "server", func(name string, d fs.DirEntry, err error) error {
		of, isTemplate := strings.CutSuffix(name, ".tmpl")
		if err != nil || path.Ext(of) != ".py" || isTest.MatchString(name) {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if isTemplate {
			text = templateTags.ReplaceAll(text, nil)
		}
		for _, m := range reaching.FindAllSubmatch(text, -1) {
			found[string(m[1])+string(m[2])+" "+of] = true
		}
		files++
		return err
	})
	if err != nil || files == 0 {
		t.Fatal(files, err)
	}
	listed, module := map[string]bool{}, ""
	for line := range strings.Lines(document(t, "docs/uses-python.txt")) {
		switch word := strings.TrimSpace(line); {
		case word == "" || strings.HasPrefix(word, "#"):
		case strings.HasPrefix(line, " "):
			listed[module+" "+word] = true
		default:
			module = word
		}
	}
	for _, use := range slices.Sorted(maps.Keys(found)) {
		if !listed[use] {
			t.Errorf("docs/uses-python.txt does not list %s", use)
		}
	}
	for _, use := range slices.Sorted(maps.Keys(listed)) {
		if !found[use] {
			t.Errorf("docs/uses-python.txt lists what no file does: %s", use)
		}
	}
}

// templateTags are the tags of a template.
var templateTags = regexp.MustCompile(`<%.*?%>`)
