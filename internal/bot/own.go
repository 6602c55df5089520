package bot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"vbot/internal/report"
)

// Services of one's own: a folder of files in the form of templates/services.

// AddOwn adds the services of one's own to the schema of the configuration file.
func (c *Catalog) AddOwn(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for _, o := range Options {
		if !slices.Contains(ServiceKinds, o.Kind) {
			continue
		}
		for _, p := range c.List(o.Kind) {
			if p.own {
				text := properties[o.Key].(map[string]any)["anyOf"].([]any)[0].(map[string]any)
				for _, name := range p.Names {
					text["enum"] = append(text["enum"].([]any), name)
				}
			}
		}
	}
}

// maxService is the maximum size of a service's file, in bytes.
const maxService = 64 << 10

// Add reads the services in the folder dir, KIND/NAME.py, and returns what is wrong.
// It ignores other files and what begins with . or _, but finds services that are in
// no folder of that name.
func (c *Catalog) Add(dir fs.FS, name string) (problems []report.Problem) {
	fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		p := &Provider{Kind: path.Dir(file), file: path.Join(name, file)}
		known := slices.Contains(ServiceKinds, p.Kind)
		dotted := file != "." && strings.Trim(path.Base(file)[:1], "._") == ""
		var text []byte
		switch {
		case err != nil:
		case d.IsDir() && (dotted || strings.Count(file, "/") == 2):
			return fs.SkipDir
		case slices.Contains(ServiceKinds, file) && !d.IsDir():
			err = errors.New("expected a folder")
		case d.IsDir() || dotted || !strings.HasSuffix(file, ".py"):
			return nil
		default:
			text, err = readService(dir, file)
		}
		switch {
		case err != nil && (known || !strings.Contains(file, "/")):
			problems = append(problems, p.wrong(0, "%v", report.Cause(err)))
		case known:
			problems = append(problems, c.adopt(p, strings.ReplaceAll(string(text), "\r\n", "\n"))...)
		case bytes.HasPrefix(text, []byte("# id: ")):
			problems = append(problems, p.wrong(0, "not in a folder stt, llm, tts, realtime or video%s", report.DidYouMean(report.Nearest(p.Kind, ServiceKinds))))
		}
		return nil
	})
	return problems
}

// readService reads a file. It opens no device or pipe, which could keep vbot waiting.
func readService(dir fs.FS, file string) ([]byte, error) {
	info, err := fs.Stat(dir, file) // a link may lead to another file of dir
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxService {
		return nil, fmt.Errorf("expected a file of at most %d bytes", maxService)
	}
	return fs.ReadFile(dir, file)
}

// adopt adds the service p with this file, and returns what is wrong with it.
func (c *Catalog) adopt(p *Provider, text string) (problems []report.Problem) {
	for i, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return r == '\t' || r == utf8.RuneError || report.IsHidden(r) }) {
			return []report.Problem{p.wrong(i+1, "a tab or a hidden character; save the file as UTF-8 without a byte-order mark")}
		}
	}
	problems = p.parse(text)
	if name := strings.TrimSuffix(path.Base(p.file), ".py"); p.ID != name || slices.Index(p.Names, name) != 0 {
		problems = append(problems, p.wrong(1, "id and the first name must be %q, the name of the file", name))
	}
	for _, n := range p.Names {
		if other := c.Find(p.Kind, n); other != nil {
			problems = append(problems, p.wrong(p.lines["names"], "%s is a name of %s", n, other.Label))
		} else if letters, ok := strings.CutPrefix(n, p.Kind+"_"); ok && len(letters) < 3 {
			problems = append(problems, p.wrong(p.lines["names"], "%s is reserved for ids of vbot", n))
		}
	}
	c.listed[p.Kind] = append(c.List(p.Kind), p)
	p.own = true
	c.Own++
	return append(problems, p.checkCode()...)
}
