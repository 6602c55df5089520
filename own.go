package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Services of one's own: a folder of files in the form of templates/services.

// openCatalog returns the catalog with the services in the folder that --catalog or
// VBOT_CATALOG names. Nothing in it is run.
func openCatalog(a *app, inv *invocation) (*catalog, error) {
	c, dir, where := newCatalog(), a.getenv("VBOT_CATALOG"), "VBOT_CATALOG"
	if inv.catalogDir != nil {
		dir, where = *inv.catalogDir, "--catalog"
	} else if dir == "" {
		return c, nil
	}
	var problems []problem
	root, err := openFolder(a, dir)
	if err == nil {
		defer root.Close()
		problems = c.add(root.FS(), dir)
		if len(problems) == 0 && c.own == 0 {
			err = errors.New("no service is there; expected files such as stt/acme.py")
		}
	}
	if err != nil {
		problems = []problem{{Field: strings.TrimPrefix(where, "--"), where: where, Message: fmt.Sprintf("%q: %v", dir, err)}}
	}
	if len(problems) > 0 {
		return nil, &failure{Code: codeInvalidConfig, Problems: problems}
	}
	return c, nil
}

// maxService is the maximum size of a service's file, in bytes.
const maxService = 64 << 10

// add reads the services in the folder dir, KIND/NAME.py, and returns what is wrong.
// It ignores other files and what begins with . or _, but finds services that are in
// no folder of that name.
func (c *catalog) add(dir fs.FS, name string) (problems []problem) {
	fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		p := &provider{kind: path.Dir(file), file: path.Join(name, file)}
		known := slices.Contains(serviceKinds, p.kind)
		dotted := file != "." && strings.Trim(path.Base(file)[:1], "._") == ""
		var text []byte
		switch {
		case err != nil:
		case d.IsDir() && (dotted || strings.Count(file, "/") == 2):
			return fs.SkipDir
		case slices.Contains(serviceKinds, file) && !d.IsDir():
			err = errors.New("expected a folder")
		case d.IsDir() || dotted || !strings.HasSuffix(file, ".py"):
			return nil
		default:
			text, err = readService(dir, file)
		}
		switch {
		case err != nil && (known || !strings.Contains(file, "/")):
			problems = append(problems, p.wrong(0, "%v", rootCause(err)))
		case known:
			problems = append(problems, c.adopt(p, strings.ReplaceAll(string(text), "\r\n", "\n"))...)
		case bytes.HasPrefix(text, []byte("# id: ")):
			problems = append(problems, p.wrong(0, "not in a folder stt, llm, tts, realtime or video%s", didYouMean(nearest(p.kind, serviceKinds))))
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
func (c *catalog) adopt(p *provider, text string) (problems []problem) {
	for i, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return r == '\t' || r == utf8.RuneError || isHidden(r) }) {
			return []problem{p.wrong(i+1, "a tab or a hidden character; save the file as UTF-8 without a byte-order mark")}
		}
	}
	problems = p.parse(text)
	if name := strings.TrimSuffix(path.Base(p.file), ".py"); p.id != name || slices.Index(p.names, name) != 0 {
		problems = append(problems, p.wrong(1, "id and the first of names must be %s, as the file's name", name))
	}
	for _, n := range p.names {
		if other := c.find(p.kind, n); other != nil {
			problems = append(problems, p.wrong(p.lines["names"], "%s is a name of %s", n, other.label))
		} else if letters, ok := strings.CutPrefix(n, p.kind+"_"); ok && len(letters) < 3 {
			problems = append(problems, p.wrong(p.lines["names"], "%s may become an id of vbot's own", n))
		}
	}
	c.listed[p.kind] = append(c.list(p.kind), p)
	c.own++
	return append(problems, p.checkCode()...)
}
