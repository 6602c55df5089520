package render

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/templates"
)

// GettingStarted is the guide of the coding-agent path alone.
const GettingStarted = "GETTING_STARTED.md"

// Files returns all files of the project by path, relative to it and with slashes. The
// same version and configuration always produce the same bytes.
func (d *Data) Files() (map[string][]byte, error) {
	files, about := map[string][]byte{}, map[string]string{".vbot.json": "what vbot wrote; commit it"}
	add := func(to, from string, data any) error {
		text, what, err := execute(from, data)
		if strings.HasSuffix(from, ".py.tmpl") {
			text = catalog.TidyImports(text, d.imports())
		}
		if strings.TrimSpace(text) != "" { // what a project lacks, its template leaves out
			files[to], about[to] = []byte(text), what
		}
		return err
	}
	for _, folder := range append([]string{"server", "deploy"}, d.clientFolders()...) {
		err := fs.WalkDir(templates.Files, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			to := strings.TrimSuffix(name, ".tmpl")
			if rest, ok := strings.CutPrefix(to, folder); ok && strings.HasPrefix(folder, "client/") {
				to = "client" + rest // several folders make up the client
			}
			return add(to, name, d)
		})
		if err != nil {
			return nil, err
		}
	}
	for to, from := range map[string]string{".gitignore": ".gitignore.tmpl", "DEPLOY.md": "DEPLOY.md.tmpl", "AGENTS.md": "guide/AGENTS.md.tmpl", "AGENT_IMPORT.md": "guide/AGENT_IMPORT.md.tmpl"} {
		if err := add(to, from, d); err != nil {
			return nil, err
		}
	}
	_, about["README.md"], _ = source("README.md.tmpl") // its tree has itself
	return files, add("README.md", "README.md.tmpl", struct {
		*Data
		Tree string // the files of the project
	}{d, tree(about)})
}

// Paths are those of all files that any version of vbot has written in a project, without
// guides. TestPaths adds those of this version; none is ever taken from the list.
func Paths() []string {
	list, _ := templates.Files.ReadFile("paths.txt") // it is there
	return strings.Fields(string(list))
}

// NextSteps says how to run the new bot. server and client are the paths of these folders, as
// one types them.
func (d *Data) NextSteps(server, client string) (string, error) {
	text, _, err := execute("next.txt.tmpl", struct {
		*Data
		ServerDir, ClientDir string
	}{d, server, client})
	return strings.TrimSuffix(text, "\n"), err
}

// clientFolders returns the folders of templates/client that make up the web client.
// Files that several clients share are in a folder of their own.
func (d *Data) clientFolders() []string {
	switch {
	case d.ClientFramework == bot.ClientVanilla:
		return []string{"client/shared", "client/vite", "client/vanilla"}
	case d.ClientServer == bot.ServerNext:
		return []string{"client/shared", "client/react", "client/react-nextjs"}
	case d.ClientFramework == bot.ClientReact:
		return []string{"client/shared", "client/vite", "client/react", "client/react-vite"}
	}
	return nil
}

// Guides returns the guides of the coding-agent path.
func Guides(version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md", GettingStarted} {
		text, _, err := execute("guide/"+name+".tmpl", &Data{Version: version, Range: frameworkRange})
		if err != nil {
			return nil, err
		}
		files[name] = []byte(text)
	}
	return files, nil
}

// source returns a template, without its first line: a comment that says what the file is.
// A Python file that is no template says it in its docstring.
func source(name string) (text, what string, err error) {
	raw, err := templates.Files.ReadFile(name)
	text = string(raw)
	if head, rest, ok := strings.Cut(text, " */ -%>\n"); ok && strings.HasPrefix(head, "<%/* ") {
		what, text = head[len("<%/* "):], rest
	} else if head, _, _ := strings.Cut(text, "\n"); strings.HasSuffix(name, ".py") {
		what = strings.Trim(head, `".`)
		what = strings.ToLower(what[:1]) + what[1:]
	}
	return text, what, err
}

// Include returns what a template makes of the data, for a template that holds the same.
func (d *Data) Include(name string) (string, error) {
	text, _, err := execute(name, d)
	return strings.TrimSuffix(text, "\n"), err
}

// execute fills in one template. It also returns what the file is.
func execute(name string, data any) (text, what string, err error) {
	text, what, err = source(name)
	if err != nil || !strings.HasSuffix(name, ".tmpl") || !strings.Contains(text, "<%") {
		return text, what, err // most of a web client: the template is the file
	}
	t, err := template.New(name).Delims("<%", "%>").Parse(text)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	b.Grow(len(text))
	err = t.Execute(&b, data)
	return b.String(), what, err
}

// tree draws the paths with what they are as an indented list, directories before their
// files.
func tree(about map[string]string) string {
	var b strings.Builder
	shown := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(about)) {
		for i, r := range p {
			if dir := p[:i]; r == '/' && !shown[dir] {
				shown[dir] = true
				fmt.Fprintf(&b, "%s%s/\n", strings.Repeat("  ", strings.Count(dir, "/")), path.Base(dir))
			}
		}
		line := strings.Repeat("  ", strings.Count(p, "/")) + path.Base(p)
		if about[p] != "" {
			line = fmt.Sprintf("%-28s%s", line, about[p])
		}
		fmt.Fprintln(&b, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// imports are those of all services of the project.
func (d *Data) imports() (imports []catalog.Import) {
	for _, s := range d.all() {
		imports = append(imports, s.Imports...)
	}
	return imports
}
