package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"vbot/internal/report"
)

// Record reads the record, which may list only these paths, because the project may come from somebody
// else. Without a record, Vbot is "". In Config, blanks replace the text before the configuration, so that
// problems with it have the lines and columns of the file.
//
// If the file is no valid record, the error is a *report.Failure with the code InvalidConfig. Its cause is
// ErrMergeConflict if Git left a conflict in the file. The record then has the version, if that is valid.
func (t *Target) Record(paths []string) (*Record, error) {
	found, err := t.look(RecordName)
	switch {
	case err == nil && found.at == "":
		return &Record{}, nil
	case err == nil && (!found.mode.IsRegular() || found.size > maxSize):
		return nil, report.One(report.InvalidConfig, RecordName, RecordName,
			"must be a regular file of at most 1 MiB")
	case err == nil && found.hash == "":
		err = fs.ErrPermission
	}
	if err != nil {
		return nil, report.IOError("reading "+t.path(RecordName), err)
	}
	p := recordParser{data: found.data}
	r, cause := p.parse(paths)
	if len(p.problems) > 0 {
		return r, &report.Failure{Code: report.InvalidConfig, Problems: p.problems, Err: cause}
	}
	return r, nil
}

// ErrMergeConflict is the cause of Record's failure if Git left a conflict in the record.
var ErrMergeConflict = errors.New("the record has an unresolved merge conflict")

// A recordParser reads a record from the text of its file.
type recordParser struct {
	data     []byte
	problems report.Problems
	configAt int // where the configuration begins, in bytes
}

// add adds a problem at an offset in the text, in bytes.
func (p *recordParser) add(offset int, format string, args ...any) {
	at := report.PlaceOf(RecordName, p.data, offset)
	p.problems.AddAt(at, at.String(), format, args...)
}

// parse returns the record, which may list only these paths. cause is ErrMergeConflict or nil.
func (p *recordParser) parse(paths []string) (r *Record, cause error) {
	members, at, err := report.Members(p.data)
	if err != nil {
		p.add(at, "%v", err)
		if bytes.HasPrefix(p.data[at:], []byte(markBegin)) {
			cause = ErrMergeConflict
		}
		return &Record{}, cause
	}
	r = p.fields(members)
	if len(p.problems) > 0 {
		return &Record{}, nil
	}
	isUnprintable := func(c rune) bool { return c <= ' ' || c > '~' }
	if _, ok := CompareVersions(r.Vbot, ""); !ok || strings.ContainsFunc(r.Vbot, isUnprintable) {
		p.add(0, "vbot: expected a version")
		r.Vbot = ""
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		if !slices.Contains(paths, name) {
			at := max(0, bytes.Index(p.data, []byte(`"`+name+`"`)))
			p.add(at, "%q is not the path of a file that vbot writes", name)
		}
	}
	r.Config = append(blanks(p.data[:p.configAt]), r.Config...)
	return r, nil
}

// fields returns the record with these members. Unknown ones are ignored: a later version may write them.
func (p *recordParser) fields(members []report.Member) *Record {
	r := &Record{}
	into := map[string]any{ // nil once it was read
		"vbot":   &r.Vbot,
		"config": &r.Config,
		"files":  &r.Files,
	}
	for _, m := range members {
		if m.Key == "config" {
			p.configAt = m.ValueAt
		}
		switch field, isKnown := into[m.Key]; {
		case isKnown && field == nil:
			p.add(m.At, "%s appears twice", m.Key)
		case isKnown && json.Unmarshal(m.Value, field) != nil:
			p.add(m.ValueAt, "%s: unexpected value", m.Key)
		}
		into[m.Key] = nil
	}
	if r.Config == nil {
		p.add(0, "config is missing")
	}
	if r.Files == nil {
		p.add(0, "files is missing")
	}
	return r
}

// blanks returns the text with a blank for each byte of it, except line ends.
func blanks(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}
