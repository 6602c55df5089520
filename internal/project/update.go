package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Update compares the project with files, which this version writes, and was, the record
// of what was written before. The plan is dpkg's rule for configuration files: what nobody
// touched is replaced or removed, and the rest is left alone. CRLF counts as LF. An empty
// file that vbot wrote otherwise is what a power failure leaves, and nobody's work.
func (t *Target) Update(files map[string][]byte, was *Record) (*Plan, error) {
	files = maps.Clone(files)
	for _, name := range was.paths() {
		if _, ok := files[name]; !ok {
			files[name] = nil
		}
	}
	p := &Plan{Dir: t.Dir}
	err := p.survey(t, files, func(s *Step, found finding) {
		hash := found.hash
		if lf := bytes.ReplaceAll(found.data, []byte("\r\n"), []byte("\n")); len(lf) < len(found.data) {
			hash = hexSum(lf) // as it was before Git on Windows checked it out
		}
		untouched := was.wrote(s.Path, hash)
		if !untouched && hash == hexSum(nil) && slices.Contains(was.paths(), s.Path) {
			untouched, s.Emptied = true, true
		}
		switch {
		case found.at == "" && (s.Guide || s.data == nil):
		case found.at == "" && was.Files[s.Path] == "":
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
	if err == nil && slices.Contains(p.Paths(Replaced), RecordName) {
		p.journal, err = was.begin(p.Steps, files[RecordName])
	}
	return p, err
}

// begin returns the record for the time of the update: see Began. now is the new record.
func (was *Record) begin(steps []Step, now []byte) ([]byte, error) {
	r := &Record{}
	if err := json.Unmarshal(now, r); err != nil {
		return nil, err
	}
	r.Files, r.Began = maps.Clone(was.Files), map[string][]string{}
	maps.Copy(r.Began, was.Began)
	for _, s := range steps {
		if s.Guide || s.Path == RecordName || s.Action != Created && s.Action != Replaced && s.Action != Removed {
			continue
		}
		hashes := slices.Clone(was.Began[s.Path])
		if old := was.Files[s.Path]; old != "" {
			hashes = append(hashes, old)
		}
		if s.data != nil {
			hashes = append(hashes, hexSum(s.data))
		}
		slices.Sort(hashes)
		r.Began[s.Path] = slices.Compact(hashes)
		delete(r.Files, s.Path)
	}
	return r.bytes()
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
		if s.State != Missing && s.Before == "" {
			fmt.Fprintf(&b, "%s differs, but cannot be compared: it is not a regular file, is too large or cannot be read\n", s.Path)
			continue
		}
		b.WriteString(unified(s.Path, s.found, s.data))
	}
	return b.String()
}
