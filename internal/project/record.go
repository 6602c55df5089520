package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"vbot/internal/report"
)

// A Record says where a project came from, so that --check and --update know which
// files nobody edited. It lists what vbot writes for the configuration, whether or not
// a file of that name was kept or deleted: a file that differs from its hash is
// somebody's own. --keep-existing keeps an existing record, too: it still says who
// wrote the files beside it.
type Record struct {
	Origin
	Files map[string]string `json:"files"` // SHA-256 in hex; no guides, which say their version themselves
	// Began is set while an update runs, and after one that was killed: for each file that
	// it changes, the SHA-256 of what vbot wrote there or is about to write. Vbot and Config
	// are the update's then, and Files has only the other files.
	Began map[string][]string `json:"began,omitempty"`
	From  *Origin             `json:"from,omitempty"` // before that update
}

// An Origin is what a project was made from.
type Origin struct {
	Vbot   string          `json:"vbot"` // the version that wrote it; "" if there is no record
	Config json.RawMessage `json:"config"`
}

// paths are those of all files in the record.
func (r *Record) paths() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(r.Files)), maps.Keys(r.Began))
}

// wrote reports whether vbot wrote the file with this hash.
func (r *Record) wrote(name, hash string) bool {
	return hash != "" && (r.Files[name] == hash || slices.Contains(r.Began[name], hash))
}

const RecordName = ".vbot.json"

// AddRecord adds the record of the files. config is what a --config file may hold.
func AddRecord(version string, config any, files map[string][]byte) error {
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	r := Record{Origin: Origin{version, raw}, Files: map[string]string{}}
	for name, data := range files {
		if !IsGuide(name) {
			r.Files[name] = hexSum(data)
		}
	}
	files[RecordName], err = r.bytes()
	return err
}

// bytes returns the record as it stands in the file.
func (r *Record) bytes() ([]byte, error) {
	var data bytes.Buffer
	err := report.WriteJSON(&data, r)
	return data.Bytes(), err
}

// Record reads the record, which may list only these paths: it may come with a project of a
// stranger. What comes before the configuration in the file is blank in Config, so that
// problems with it name the file's lines.
func (t *Target) Record(paths []string) (*Record, error) {
	found, err := t.look(RecordName)
	switch {
	case err == nil && found.at == "":
		return &Record{}, nil
	case err == nil && (!found.mode.IsRegular() || found.size > maxSize):
		return nil, report.One(report.InvalidConfig, RecordName, RecordName, "must be a regular file of at most 1 MiB")
	case err == nil && found.hash == "":
		err = fs.ErrPermission
	}
	if err != nil {
		return nil, report.IOError("reading "+t.path(RecordName), err)
	}
	r, problems := parseRecord(found.data, paths)
	if len(problems) > 0 {
		return r, &report.Failure{Code: report.InvalidConfig, Problems: problems}
	}
	return r, nil
}

// parseRecord reads a record that may list only these paths.
func parseRecord(data []byte, paths []string) (r *Record, problems []report.Problem) {
	r = &Record{}
	add := func(offset int, format string, args ...any) {
		at := report.Place(RecordName, data, offset)
		problems = append(problems, report.Problem{Field: at, Message: at + ": " + fmt.Sprintf(format, args...)})
	}
	members, at, fault := report.Members(data)
	if fault != "" {
		add(at, "%s", fault)
		return r, problems
	}
	into, configAt := map[string]any{"vbot": &r.Vbot, "config": &r.Config, "files": &r.Files, "began": &r.Began, "from": &r.From}, 0
	for _, m := range members {
		if m.Key == "config" {
			configAt = m.ValueAt
		}
		switch field, known := into[m.Key]; {
		case known && field == nil:
			add(m.At, "%s stands there twice", m.Key)
		case known && json.Unmarshal(m.Value, field) != nil:
			add(m.ValueAt, "%s: unexpected value", m.Key)
		}
		into[m.Key] = nil
	}
	if r.Config == nil {
		add(0, "config is missing")
	}
	if r.Files == nil {
		add(0, "files is missing")
	}
	if len(problems) > 0 {
		return &Record{}, problems
	}
	if _, ok := CompareVersions(r.Vbot, ""); !ok || strings.ContainsFunc(r.Vbot, func(c rune) bool { return c <= ' ' || c > '~' }) {
		add(0, "vbot: expected a version")
		r.Vbot = ""
	}
	for _, name := range r.paths() {
		if !slices.Contains(paths, name) {
			add(max(0, bytes.Index(data, []byte(`"`+name+`"`))), "%q is not the path of a file that vbot writes", name)
		}
	}
	before := bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, data[:configAt])
	r.Config = append(before, r.Config...)
	return r, problems
}
