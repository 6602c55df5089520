package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The states of a file of a project, in the words of --check.
const (
	stateUnchanged = "unchanged" // as this version writes it
	stateEdited    = "edited"    // neither as this version writes it nor as the record says
	stateMissing   = "missing"   // this version writes it, and it is not there
	stateOutdated  = "outdated"  // as the record says; this version writes it otherwise, or not at all
)

// An origin is what the record of a project says.
type origin struct {
	version string // "" if there is no record
	said    answers
	files   map[string]string // SHA-256 by path
}

// readOrigin reads the record in dir.
func readOrigin(dir string) (*origin, error) {
	root, err := openTarget(dir)
	if root == nil {
		return &origin{}, err
	}
	defer root.Close()
	found, err := look(root, recordName)
	switch {
	case err != nil:
		return nil, ioFailure("reading "+filepath.Join(dir, recordName), err)
	case found.at == "":
		return &origin{}, nil
	case found.hash == "" || len(found.head) == maxHead:
		return nil, oneProblem(codeInvalidConfig, recordName, recordName, "no regular file that can be read, of less than %d KiB", maxHead>>10)
	}
	o, problems := parseRecord(found.head)
	if len(problems) > 0 {
		f := &failure{Code: codeInvalidConfig, Problems: problems}
		if age, _ := compareVersion(o.version); age > 0 {
			f.hint = "vbot " + o.version + " wrote it; use that version or a later one"
		}
		return nil, f
	}
	return o, nil
}

// parseRecord reads a record. It may come with a project of a stranger: its paths must
// stay in the target, and name nothing that vbot never writes.
func parseRecord(data []byte) (o *origin, problems []problem) {
	o = &origin{}
	wrong := func(offset int, format string, args ...any) {
		at := place(recordName, data, offset)
		problems = append(problems, problem{Field: at, Message: at + ": " + fmt.Sprintf(format, args...)})
	}
	var r struct {
		Vbot   string
		Config json.RawMessage
		Files  map[string]string
	}
	offset, message := jsonFault(data)
	if err := json.Unmarshal(data, &r); message == "" && err != nil {
		offset, message = len(data), err.Error()
		if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			offset, message = int(mistyped.Offset), mistyped.Value+" is not allowed here"
		}
	} else if message == "" && r.Config == nil {
		message = "config is missing"
	}
	if message != "" {
		wrong(offset, "%s", message)
		return o, problems
	}
	o.version, o.files = r.Vbot, r.Files
	if _, ok := compareVersion(r.Vbot); !ok || strings.ContainsFunc(r.Vbot, isOdd) {
		wrong(0, "vbot: expected a version")
		o.version = ""
	}
	for name := range r.Files {
		if !ownPath(name) {
			wrong(max(0, bytes.Index(data, []byte(name))), "%q is no path of a file that vbot writes", name)
		}
	}
	// What comes before the configuration becomes blank, so that problems name its lines.
	before := bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, data[:max(0, bytes.Index(data, r.Config))])
	said, more := parseConfig(recordName, append(before, r.Config...))
	o.said = said
	return o, append(problems, more...)
}

// isOdd reports whether no name that vbot writes has the character. Windows has a
// meaning for some of them.
func isOdd(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\:*?"<>|`, r) }

// ownPath reports whether vbot may have written the file.
func ownPath(name string) bool {
	odd := func(element string) bool { return reservedName(element) || strings.EqualFold(element, ".git") }
	return fs.ValidPath(name) && !strings.ContainsFunc(name, isOdd) && name != recordName &&
		!slices.ContainsFunc(strings.Split(name, "/"), odd)
}

// planUpdate compares the project in dir with files, which this version writes, and was,
// the hashes of what was written before. The plan is dpkg's rule for configuration
// files: what nobody touched is replaced or removed, and the rest is left alone. CRLF
// counts as LF.
func planUpdate(dir string, files []generatedFile, was map[string]string) (*plan, error) {
	for name := range was {
		if !slices.ContainsFunc(files, func(f generatedFile) bool { return f.path == name }) {
			files = append(files, generatedFile{path: name})
		}
	}
	p := &plan{dir: dir}
	err := p.survey(files, func(s *step, found finding) {
		hash := found.hash
		if lf := bytes.ReplaceAll(found.head, []byte("\r\n"), []byte("\n")); len(lf) < len(found.head) && len(found.head) < maxHead {
			hash = hexSum(lf) // as it was before Git on Windows checked it out
		}
		untouched := hash != "" && hash == was[s.path]
		switch {
		case found.at == "" && (s.guide || s.data == nil):
		case found.at == "" && was[s.path] == "":
			s.state, s.action = stateMissing, actionCreated
		case found.at == "":
			s.state, s.action = stateMissing, actionMissing
		case s.data != nil && hash == hexSum(s.data):
			s.state, s.action = stateUnchanged, actionUnchanged
		case untouched && s.data == nil:
			s.state, s.action = stateOutdated, actionRemoved
		case untouched && !s.guide || s.path == recordName:
			s.state, s.action = stateOutdated, actionReplaced
		default:
			s.state, s.action = stateEdited, actionKept
		}
		if s.guide || s.path == recordName {
			s.state = ""
		}
	})
	return p, err
}

// A projectAnswer is the JSON of --check.
type projectAnswer struct {
	Directory string        `json:"directory"`
	Config    config        `json:"config"`
	WrittenBy orNull        `json:"written_by"` // the version in the record
	Files     []stateAnswer `json:"files"`
}

type stateAnswer struct {
	Path   string `json:"path"`
	State  string `json:"state" enum:"unchanged,edited,missing,outdated"`
	SHA256 orNull `json:"sha256"` // of the file that is there
}

// states returns the state of each file, and all of them in a sentence.
func (p *plan) states() (files []stateAnswer, summary string) {
	named := map[string][]string{}
	for _, s := range p.steps {
		if s.state != "" {
			files = append(files, stateAnswer{s.path, s.state, orNull(s.before)})
			named[s.state] = append(named[s.state], s.path)
		}
	}
	summary = plural(len(named[stateUnchanged]), "file") + " as vbot " + version + " writes them"
	comma := ", "
	for _, state := range []string{stateEdited, stateMissing, stateOutdated} {
		if names := named[state]; len(names) > 0 {
			summary += fmt.Sprintf("%s%d %s: %s", comma, len(names), state, strings.Join(names[:min(3, len(names))], ", "))
			comma = "; "
			if len(names) > 3 {
				summary += fmt.Sprintf(" and %d more", len(names)-3)
			}
		}
	}
	return files, summary
}

// changes says for people what an update does.
func (p *plan) changes() string {
	var b strings.Builder
	for _, s := range p.steps {
		word := map[string]string{
			actionCreated: "write    %s", actionReplaced: "replace  %s", actionRemoved: "remove   %s",
			actionKept: "keep     %s (edited)", actionMissing: "skip     %s (deleted)",
		}[s.action]
		if word != "" && !s.guide {
			fmt.Fprintf(&b, "  "+word+"\n", s.path)
		}
	}
	return cmp.Or(b.String(), "  change nothing\n")
}

// diff returns the diffs from what is there to what this version writes. With writes
// it is limited to what an update writes and removes.
func (p *plan) diff(writes bool) string {
	var b strings.Builder
	for _, s := range p.steps {
		left := s.action == actionKept || s.action == actionMissing
		if s.state == "" || s.state == stateUnchanged || writes && left {
			continue
		}
		if s.state != stateMissing && s.before == "" || len(s.found) == maxHead {
			fmt.Fprintf(&b, "%s differs, and cannot be compared: it is no regular file, is too large or cannot be read\n", s.path)
			continue
		}
		b.WriteString(unified(s.path, s.found, s.data))
	}
	return b.String()
}
