package project

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
)

// Update compares the project in dir with files, which this version writes, and was,
// the hashes of what was written before. The plan is dpkg's rule for configuration
// files: what nobody touched is replaced or removed, and the rest is left alone. CRLF
// counts as LF.
func Update(dir string, files map[string][]byte, was map[string]string) (*Plan, error) {
	files = maps.Clone(files)
	for name := range was {
		if _, ok := files[name]; !ok {
			files[name] = nil
		}
	}
	p := &Plan{Dir: dir}
	err := p.survey(files, func(s *Step, found finding) {
		hash := found.hash
		if lf := bytes.ReplaceAll(found.head, []byte("\r\n"), []byte("\n")); len(lf) < len(found.head) && len(found.head) < maxHead {
			hash = hexSum(lf) // as it was before Git on Windows checked it out
		}
		untouched := hash != "" && hash == was[s.Path]
		switch {
		case found.at == "" && (s.Guide || s.data == nil):
		case found.at == "" && was[s.Path] == "":
			s.State, s.Action = Missing, Created
		case found.at == "":
			s.State, s.Action = Missing, Missing
		case s.data != nil && hash == hexSum(s.data):
			s.State, s.Action = Unchanged, Unchanged
		case untouched && s.data == nil:
			s.State, s.Action = Outdated, Removed
		case untouched && !s.Guide || s.Path == RecordName:
			s.State, s.Action = Outdated, Replaced
		default:
			s.State, s.Action = Edited, Kept
		}
		if s.Guide || s.Path == RecordName {
			s.State = ""
		}
	})
	return p, err
}

// Diff returns the diffs from what is there to what this version writes. With writes
// it is limited to what an update writes and removes.
func (p *Plan) Diff(writes bool) string {
	var b strings.Builder
	for _, s := range p.Steps {
		left := s.Action == Kept || s.Action == Missing
		if s.State == "" || s.State == Unchanged || writes && left {
			continue
		}
		if s.State != Missing && s.Before == "" || len(s.found) == maxHead {
			fmt.Fprintf(&b, "%s differs, and cannot be compared: it is no regular file, is too large or cannot be read\n", s.Path)
			continue
		}
		b.WriteString(unified(s.Path, s.found, s.data))
	}
	return b.String()
}
