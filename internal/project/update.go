package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"vbot/internal/report"
)

// Update compares the project with files, which this version writes, and was, the record
// of what was written before. What nobody touched is replaced or removed; what somebody
// edited gets what changes in it, if written, which is asked only then, has the text that was
// edited: what the record lists, and before it what an interrupted update started from. The
// rest is left alone. CRLF counts as LF. An empty file that vbot wrote otherwise is what a
// power failure leaves, and nobody's work.
func (t *Target) Update(files map[string][]byte, was *Record, written func() []map[string][]byte) (*Plan, error) {
	files = maps.Clone(files)
	for _, name := range was.paths() {
		if _, ok := files[name]; !ok {
			files[name] = nil
		}
	}
	p := &Plan{Dir: t.Dir}
	err := p.survey(t, files, func(s *Step, found finding) {
		hash, lf := found.hash, bytes.ReplaceAll(found.data, crlf, newline)
		if len(lf) < len(found.data) {
			hash = hexSum(lf) // as it was before Git on Windows checked it out
		}
		untouched := was.wrote(s.Path, hash)
		if !untouched && hash == hexSum(nil) && slices.Contains(was.paths(), s.Path) {
			untouched, s.Why = true, "empty, as after a power failure"
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
			if s.data != nil && hash != "" && !s.Guide {
				p.merge(s, lf, was, written())
			}
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

var crlf, newline = []byte("\r\n"), []byte("\n")

// merge puts what this version changes in an edited file, with LF, into it, or says why not.
func (p *Plan) merge(s *Step, edited []byte, was *Record, written []map[string][]byte) {
	list := path.Ext(s.Path) == ".toml" || path.Base(s.Path) == ".env.example"
	for _, files := range written {
		text := files[s.Path]
		if s.base == nil {
			if was.wrote(s.Path, hexSum(text)) {
				s.base = text
			}
		} else if now, meet, _ := merge(s.base, edited, text, list); meet == nil && bytes.Equal(now, edited) {
			s.base = text // the interrupted update had come to this file
		}
	}
	merged, meet, ok := merge(s.base, edited, s.data, list)
	switch {
	case s.base == nil || !ok:
		s.Why = "vbot cannot tell your edits from its own changes"
	case meet != nil:
		at := strings.Trim(strings.ReplaceAll(fmt.Sprint(meet), " ", ", "), "[]")
		s.Why = "your edits and vbot's changes meet at line " + at
		p.Conflicts = append(p.Conflicts, report.Problem{Field: s.Path, Where: s.Path, Message: s.Why})
	case !bytes.Equal(merged, edited):
		if bytes.Count(s.found, crlf) == bytes.Count(edited, newline) {
			merged = bytes.ReplaceAll(merged, newline, crlf)
		}
		s.Action, s.data, s.Why = Replaced, merged, "your edits stay"
	}
}

// begin returns the record for the time of the update: see Began. now is the new record.
func (was *Record) begin(steps []Step, now []byte) ([]byte, error) {
	r := &Record{}
	if err := json.Unmarshal(now, r); err != nil {
		return nil, err
	}
	r.Files, r.Began, r.From = maps.Clone(was.Files), map[string][]string{}, was.From
	if r.From == nil {
		r.From = &was.Origin
	}
	maps.Copy(r.Began, was.Began)
	for _, s := range steps {
		if s.Guide || s.State == Edited || s.Path == RecordName || s.Action != Created && s.Action != Replaced && s.Action != Removed {
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

// Diff returns the diffs from what is there to what an update makes of it, with writes, or
// of all that differs from what this version writes. Where edits meet what changes, or are
// all that differs, it is what changes.
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
		b.WriteString(s.Diff())
	}
	return b.String()
}

// Diff is what this version changes in the file, or what an update does with it.
func (s Step) Diff() string {
	from := s.found
	if s.base != nil && s.Action == Kept {
		from = s.base
	}
	if from != nil && bytes.Equal(from, s.data) {
		return ""
	}
	return unified(s.Path, from, s.data)
}
