package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"vbot/internal/files"
	"vbot/internal/report"
)

// maxService is the maximum size of a service's file, in bytes.
const maxService = 64 << 10

// Add adds a user's own services: the files KIND/NAME.py in dir, which have the form of templates/services.
// It ignores other files, and names that begin with . or _. A service in a folder that is not a KIND is a
// problem. name is the name of dir in problems.
func (c *Catalog) Add(dir fs.FS, name string) (problems report.Problems) {
	fs.WalkDir(dir, ".", func(file string, d fs.DirEntry, err error) error {
		s := &Service{Kind: path.Dir(file), file: path.Join(name, file)}
		isInKind := slices.Contains(ServiceKinds, s.Kind)
		isIgnored := file != "." && strings.Trim(path.Base(file)[:1], "._") == ""
		var text []byte
		switch {
		case err != nil:
		case d.IsDir() && (isIgnored || strings.Count(file, "/") == 2):
			return fs.SkipDir
		case slices.Contains(ServiceKinds, file) && !d.IsDir():
			err = errors.New("expected a folder")
		case d.IsDir() || isIgnored || !strings.HasSuffix(file, ".py"):
			return nil
		default:
			text, err = readService(dir, file)
		}
		switch {
		case err != nil && (isInKind || !strings.Contains(file, "/")):
			s.refuse(&problems, 0, "%v", report.Cause(err))
		case isInKind:
			problems = append(problems, c.addService(s, strings.ReplaceAll(string(text), "\r\n", "\n"))...)
		case bytes.HasPrefix(text, []byte("# id: ")):
			near := report.DidYouMean(report.Nearest(s.Kind, ServiceKinds))
			last := len(ServiceKinds) - 1
			folders := strings.Join(ServiceKinds[:last], ", ") + " or " + ServiceKinds[last]
			s.refuse(&problems, 0, "not in a folder %s%s", folders, near)
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
		return nil, fmt.Errorf("expected a file of at most %d KiB", maxService>>10)
	}
	f, err := dir.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return files.Read(f, maxService)
}

// addService adds the service in this file, and returns problems with it.
func (c *Catalog) addService(s *Service, text string) (problems report.Problems) {
	isInvisible := func(r rune) bool { return r == '\t' || r == utf8.RuneError || report.IsHidden(r) }
	for i, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(line, isInvisible) {
			const found = "a tab or a hidden character; save the file as UTF-8 without a byte-order mark"
			s.refuse(&problems, i+1, found)
			return problems
		}
	}
	problems = append(s.parse(strings.TrimSuffix(text, "\n")+"\n"), s.checkFrontMatter()...)
	name := s.fileName()
	if s.ID != name || slices.Index(s.Names, name) != 0 {
		s.refuse(&problems, 1, "id and the first name must be %q, the name of the file", name)
	}
	for _, n := range s.Names {
		letters, isLikeBuiltin := strings.CutPrefix(n, s.Kind+"_")
		other := c.Find(s.Kind, n)
		switch {
		case other != nil && other.isCustom && n == name && n != other.fileName():
			other.refuse(&problems, other.line("names: "), "%s is a name of %s", n, s.Label)
		case other != nil:
			s.refuse(&problems, s.line("names: "), "%s is a name of %s", n, other.Label)
		case isLikeBuiltin && len(letters) < 3:
			s.refuse(&problems, s.line("names: "), "%s is reserved for ids of vbot", n)
		}
	}
	c.byKind[s.Kind] = append(c.byKind[s.Kind], s)
	s.isCustom = true
	return append(problems, s.checkCode()...)
}

// fileName returns the name of the service's file without .py, which no other service of the kind may have.
func (s *Service) fileName() string { return strings.TrimSuffix(path.Base(s.file), ".py") }
