package project

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// keepNeeded keeps files that an update would remove if a remaining file imports or names them. Step.Why
// names that file.
func (t *Target) keepNeeded(p *Plan) error {
	if p.Count(Removed) == 0 {
		return nil
	}
	if err := t.keepIgnored(p); err != nil {
		return err
	}
	remaining, err := t.ownersFiles(p)
	if err != nil {
		return err
	}
	for len(remaining) > 0 {
		user := remaining[0]
		remaining = remaining[1:]
		for i := range p.Steps {
			s := &p.Steps[i]
			if s.Action != Removed || !needs(user, s.Path) {
				continue
			}
			s.keep(user.path + " needs it")
			remaining = append(remaining, source{s.Path, string(s.found)})
		}
	}
	return nil
}

// keepIgnored keeps each .gitignore that an update would remove, if other files remain in its folder:
// files that it names must not be committed.
func (t *Target) keepIgnored(p *Plan) error {
	removed := map[string]bool{}
	for _, name := range p.Paths(Removed) {
		removed[name] = true
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Action != Removed || path.Base(s.Path) != ".gitignore" {
			continue
		}
		left := ""
		stays := func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || removed[name] || isTemporary(d.Name()) {
				return err
			}
			left = name
			return fs.SkipAll
		}
		err := fs.WalkDir(t.dirs["."].FS(), path.Dir(s.Path), stays)
		if err != nil {
			return ioFailure("reading "+t.path(path.Dir(s.Path)), err)
		}
		if left != "" {
			s.keep(left + " is still there")
		}
	}
	return nil
}

// keep keeps a file that the update would remove.
func (s *Step) keep(why string) {
	s.Action, s.State, s.Why = Kept, "", why
}

// A source is a text file that may need others.
type source struct{ path, text string }

// maxSources limits how many files are read that vbot did not write. It is about 20 times as many as vbot
// writes.
const maxSources = 2000

// ownersFiles returns the sources that will differ from what vbot writes: edited files, and files that vbot
// did not write.
func (t *Target) ownersFiles(p *Plan) (list []source, err error) {
	byVbot := map[string]bool{}
	for _, s := range p.Steps {
		byVbot[s.Path] = true
		switch {
		case (s.Action == Kept || s.Action == "") && s.found != nil: // without an action vbot wrote it once
			list = append(list, source{s.Path, string(s.found)})
		case s.Action == Merged:
			list = append(list, source{s.Path, string(s.data)})
		}
	}
	for _, folder := range []string{"server", "client", "deploy"} {
		root := t.dirs["."]
		if info, err := root.Lstat(folder); err != nil || !info.IsDir() {
			continue
		}
		err := fs.WalkDir(root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // ignore what cannot be read
			}
			isHidden := strings.HasPrefix(d.Name(), ".")
			switch {
			case d.IsDir() && (isHidden || slices.Contains(generatedFolders, d.Name())):
				return fs.SkipDir
			case !d.Type().IsRegular() || byVbot[name] || !isSource(name):
				return nil
			case len(list) == maxSources:
				return fs.SkipAll
			}
			found, err := t.look(name)
			if err == nil && found.hash != "" {
				list = append(list, source{name, string(found.data)})
			}
			return err
		})
		if err != nil {
			return nil, ioFailure("reading "+t.path(folder), err)
		}
	}
	return list, nil
}

// generatedFolders are the names of folders whose files nobody edits.
var generatedFolders = []string{"node_modules", "__pycache__", "dist", "wheels", "models", "recordings"}

var (
	pythonFiles = []string{".py"}
	webFiles    = []string{".js", ".jsx", ".mjs", ".ts", ".tsx", ".css", ".html"}
	deployFiles = []string{".yaml", ".yml", ".cfg", ".sh"}
)

func isSource(name string) bool {
	ext := path.Ext(name)
	known := slices.Concat(pythonFiles, webFiles, deployFiles)
	return slices.Contains(known, ext) || isBuildFile(name)
}

// isBuildFile reports whether the file is a Dockerfile.
func isBuildFile(name string) bool { return strings.Contains(path.Base(name), "Dockerfile") }

// needs reports whether a source imports the file, or names it.
func needs(user source, file string) bool {
	inClient := strings.HasPrefix(user.path, "client/")
	switch ext := path.Ext(file); {
	case inClient != strings.HasPrefix(file, "client/"):
		return false
	case inClient:
		return linksTo(user.text, file)
	case slices.Contains(pythonFiles, path.Ext(user.path)):
		return slices.Contains(pythonFiles, ext) && importsModule(user.text, moduleName(file))
	case isBuildFile(user.path), slices.Contains(deployFiles, path.Ext(user.path)):
		return namesPath(user, file)
	}
	return false
}

// linksTo reports whether a source of a web client has a path in quotes that ends in the file's name, with
// or without its extension.
func linksTo(text, file string) bool {
	ext := path.Ext(file)
	start := "/" + strings.TrimSuffix(path.Base(file), ext)
	for _, after := range strings.Split(text, start)[1:] {
		for _, end := range []string{"", ext, ".js"} {
			rest, ok := strings.CutPrefix(after, end)
			if ok && rest != "" && strings.ContainsRune("\"'`)?", rune(rest[0])) {
				return true
			}
		}
	}
	return false
}

// moduleName returns the name by which Python code of the project imports a file of server/.
func moduleName(file string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(file, "server/"), "tests/")
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__")
	return strings.ReplaceAll(name, "/", ".")
}

// importsModule reports whether Python code imports the module, something in it, or names from it.
func importsModule(code, module string) bool {
	isInside := func(name string) bool { return name == module || strings.HasPrefix(name, module+".") }
	for line := range strings.Lines(joinParenthesized(code)) {
		words := strings.Fields(strings.NewReplacer(",", " ", "(", " ", ")", " ").Replace(line))
		switch {
		case len(words) < 2:
		case words[0] == "from" && isInside(words[1]):
			return true
		case words[0] == "from" && len(words) > 2:
			isPart := func(name string) bool { return words[1]+"."+name == module }
			if slices.ContainsFunc(words[3:], isPart) {
				return true
			}
		case words[0] == "import":
			if slices.ContainsFunc(words[1:], isInside) {
				return true
			}
		}
	}
	return false
}

// joinParenthesized joins the lines inside each pair of parentheses.
func joinParenthesized(code string) string {
	return parenthesized.ReplaceAllStringFunc(code, func(text string) string {
		return strings.ReplaceAll(text, "\n", " ")
	})
}

var parenthesized = regexp.MustCompile(`\([^()]*\)`)

// namesPath reports whether a source has a path that may be the file's: its name, alone or after its
// folder. A source that mentions its own name does not mean another file of that name.
func namesPath(user source, file string) bool {
	base, folder := path.Base(file), path.Base(path.Dir(file))
	isPathRune := func(r rune) bool { return isNameRune(r) || r == '.' || r == '-' }
	for at, rest := 0, user.text; ; {
		n := strings.Index(rest, base)
		if n < 0 {
			return false
		}
		at += n
		before, after := user.text[:at], user.text[at+len(base):]
		at, rest = at+len(base), after
		start := strings.LastIndexFunc(before, func(r rune) bool { return !isPathRune(r) && r != '/' }) + 1
		above := before[start:]
		next := strings.TrimPrefix(after, ".") // a sentence may end here
		isWhole := next == "" || strings.ContainsRune(" \t\r\n", rune(next[0])) || !isPathRune(rune(after[0]))
		switch {
		case !isWhole || above != "" && !strings.HasSuffix(above, "/"):
		case above == "":
			if path.Base(user.path) != base {
				return true
			}
		default:
			if parent := path.Base(above); parent == folder || parent == "." || parent == ".." {
				return true
			}
		}
	}
}

// isNameRune reports whether names of variables and files may contain the character.
func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
