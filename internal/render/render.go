package render

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"text/template"

	"vbot/internal/bot"
	"vbot/internal/python"
	"vbot/templates"
)

// GettingStarted is the guide that only a directory without a bot gets.
const GettingStarted = "GETTING_STARTED.md"

// topLevel maps the files beside server/, deploy/ and client/ to their templates.
var topLevel = map[string]string{
	".gitignore":                 ".gitignore.tmpl",
	"README.md":                  "README.md.tmpl",
	"DEPLOY.md":                  "DEPLOY.md.tmpl",
	"RECIPES.md":                 "RECIPES.md.tmpl",
	"BUSINESS.md":                "BUSINESS.md.tmpl",
	"AGENTS.md":                  "guide/AGENTS.md.tmpl",
	"AGENT_IMPORT.md":            "guide/AGENT_IMPORT.md.tmpl",
	".github/workflows/test.yml": "test.yml.tmpl",
}

// Files returns all files of the project by path, relative to it and with slashes. The
// same version and configuration always produce the same bytes.
func (d *Data) Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	var imports []python.Import
	for _, s := range d.all() {
		imports = append(imports, s.Imports...)
	}
	add := func(to, from string) error {
		text, err := execute(from, d)
		if strings.HasSuffix(from, ".py.tmpl") {
			text = tidyImports(text, imports)
		}
		if isTemplate := to != from; !isTemplate || strings.TrimSpace(text) != "" { // else there is no file
			files[to] = []byte(text)
		}
		return err
	}
	for _, folder := range append([]string{"server", "deploy"}, d.clientFolders()...) {
		err := fs.WalkDir(templates.Files, folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case folder == "server" && !d.hasServerFile(name):
				return skip(entry)
			case entry.IsDir():
				return nil
			}
			to := strings.TrimSuffix(name, ".tmpl")
			if rest, ok := strings.CutPrefix(to, folder); ok && strings.HasPrefix(folder, "client/") {
				to = "client" + rest // several folders make up the client
			}
			return add(to, name)
		})
		if err != nil {
			return nil, err
		}
	}
	for to, from := range topLevel {
		if err := add(to, from); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// skip tells fs.WalkDir to skip the entry.
func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// Paths returns the paths of all files that any version of vbot has written in a project, without
// guides. TestPaths adds those of this version; none is ever removed.
func Paths() []string {
	list, _ := templates.Files.ReadFile("paths.txt") // embedded
	return strings.Fields(string(list))
}

// nextSteps is the data of next.txt.tmpl.
type nextSteps struct {
	*Data
	ServerDir, ClientDir string // as they are typed
	Guide                string // the file that explains more
	commands             []string
}

// Command returns a command for the text, and adds it to the commands.
func (n *nextSteps) Command(words ...string) string {
	command := strings.Join(words, " ")
	n.commands = append(n.commands, command)
	return command
}

// CopyExample returns the command that makes .env of .env.example, readable by its owner alone.
func (n *nextSteps) CopyExample() string {
	if runtime.GOOS == "windows" {
		return n.Command("copy .env.example .env") // in cmd and PowerShell; the profile's permissions apply
	}
	return n.Command("install -m 600 .env.example .env")
}

// NextSteps returns a text that says how to run the new bot, and the commands in it. server and
// client are the paths of these folders as they are typed; guide is the file that explains more.
func (d *Data) NextSteps(server, client, guide string) (text string, commands []string, err error) {
	steps := &nextSteps{Data: d, ServerDir: server, ClientDir: client, Guide: guide}
	text, err = execute("next.txt.tmpl", steps)
	return strings.TrimSuffix(text, "\n"), steps.commands, err
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

// GuideFiles returns the guides for a coding agent, by name. They depend only on the version.
func GuideFiles(version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md", GettingStarted} {
		text, err := execute("guide/"+name+".tmpl", &Data{Version: version, Range: frameworkRange})
		if err != nil {
			return nil, err
		}
		files[name] = []byte(text)
	}
	return files, nil
}

// Include returns the text of another template with the same data, without the last line end. Templates
// use it for text that several files share.
func (d *Data) Include(name string) (string, error) {
	text, err := execute(name, d)
	return strings.TrimSuffix(text, "\n"), err
}

// execute fills in one template.
func execute(name string, data any) (string, error) {
	raw, err := templates.Files.ReadFile(name)
	if err != nil || !strings.HasSuffix(name, ".tmpl") || !bytes.Contains(raw, []byte("<%")) {
		return string(raw), err // as in most files of a web client, nothing has to be filled in
	}
	if condition := conditionOf(string(raw)); condition != "" {
		holds, err := filledIn(name+", condition", "<% if "+condition+" %>yes<% end %>", data)
		if err != nil || holds == "" {
			return "", err
		}
	}
	return filledIn(name, string(raw), data)
}

// conditionOf returns the condition on which a template has any output, or "" if it always has some. No
// bot needs all templates, and evaluating a condition takes less time than parsing what depends on it.
func conditionOf(text string) string {
	condition, _, _ := strings.Cut(text, "-%>")
	for _, begin := range []string{"<% if ", "<%- if "} {
		after, ok := strings.CutPrefix(condition, begin)
		if ok && strings.HasSuffix(text, "<% end -%>\n") {
			return after
		}
	}
	return ""
}

// filledIn returns the output of the template with this name and text.
func filledIn(name, text string, data any) (string, error) {
	t, err := parsed(name, text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(len(text))
	err = t.Execute(&b, data)
	return b.String(), err
}

// templatesByName caches parsed templates by name. Their texts are part of the program, so they
// never change.
var templatesByName sync.Map

// parsed returns the template of this name and text.
func parsed(name, text string) (*template.Template, error) {
	if t, ok := templatesByName.Load(name); ok {
		return t.(*template.Template), nil
	}
	t, err := template.New(name).Delims("<%", "%>").Funcs(template.FuncMap{"quote": quote}).Parse(text)
	if err != nil {
		return nil, err
	}
	templatesByName.Store(name, t)
	return t, nil
}

// quote returns the text between double quotes, with escapes that Python, JavaScript, JSON, TOML and YAML
// understand. Templates use it for each value that becomes a string in one of these languages.
func quote(text string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(text)
	return strings.TrimSuffix(b.String(), "\n"), err
}
