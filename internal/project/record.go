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

// A Record describes what vbot wrote, so that --check and --update know which files are unedited. It
// lists all files that vbot writes for the configuration, even if an existing file of that name was
// kept, or it was deleted: a file that differs from its hash is edited. --keep-existing keeps an
// existing record, too, because it still describes the files beside it.
//
// BaseDir has each file as vbot wrote it: the base of every merge. Files that are written once have none.
type Record struct {
	// Vbot is the version that wrote it; "" if there is no record.
	Vbot   string          `json:"vbot"`
	Config json.RawMessage `json:"config"`
	// Files are the SHA-256 of the bases in hex, or notVbots, by path, without guides, which contain their
	// version.
	Files map[string]string `json:"files"`
	// Guides are the SHA-256 of the guides that an unfinished update is replacing.
	Guides map[string]string `json:"guides,omitempty"`
}

// RecordName is the path of the record in a project.
const RecordName = ".vbot.json"

// attributesName is the file beside the bases that keeps them out of Git's diffs and statistics, and keeps
// Git from converting line ends in them.
const attributesName = ".vbot/.gitattributes"

var attributesData = []byte("# What vbot wrote, for updates. Commit it, and do not edit it.\n" +
	"base/* binary linguist-generated\n")

// IsOwn reports whether only vbot reads the file: the bases, and the files beside them.
func IsOwn(name string) bool { return strings.HasPrefix(name, ".vbot/") }

// isRecorded reports whether the record lists a file. It does not list guides, because they contain their
// version.
func isRecorded(name string) bool { return !IsGuide(name) && !IsOwn(name) && name != RecordName }

// writtenOnce are the files that belong to the project's owner from the moment they exist. They have no
// base, and no update changes them.
var writtenOnce = []string{
	".github/workflows/test.yml",
	"server/agent.py",
	"server/tests/appointments.py",
	"server/tests/conftest.py",
	"server/tests/test_agent.py",
}

// IsWrittenOnce reports whether the file is one of writtenOnce.
func IsWrittenOnce(name string) bool { return slices.Contains(writtenOnce, name) }

// hasBase reports whether a file has a base.
func hasBase(name string) bool { return isRecorded(name) && !IsWrittenOnce(name) }

// NewRecord returns the record of the files. config is what a --config file may hold.
func NewRecord(version string, config any, files map[string][]byte) (*Record, error) {
	raw, err := json.Marshal(config)
	r := &Record{Vbot: version, Config: raw, Files: map[string]string{}}
	for name, data := range files {
		if isRecorded(name) {
			r.Files[name] = hexSum(data)
		}
	}
	return r, err
}

// AddRecord adds the record of the files, and their bases.
func AddRecord(version string, config any, files map[string][]byte) error {
	r, err := NewRecord(version, config, files)
	if err != nil {
		return err
	}
	for name := range r.Files {
		if hasBase(name) {
			base, data := Base(files[name])
			files[base] = data
		}
	}
	files[attributesName] = attributesData
	files[RecordName], err = r.bytes()
	return err
}

// bytes returns the record as it stands in the file.
func (r *Record) bytes() ([]byte, error) {
	var data bytes.Buffer
	err := report.WriteJSON(&data, r)
	return data.Bytes(), err
}

// sameOrigin reports whether both have the same version and configuration.
func (r *Record) sameOrigin(other *Record) bool {
	var a, b bytes.Buffer
	if json.Compact(&a, r.Config) != nil || json.Compact(&b, other.Config) != nil {
		return false
	}
	return r.Vbot == other.Vbot && a.String() == b.String()
}

// Record reads the record, which may list only these paths, because the project may come from somebody
// else. In Config, blanks replace the text before the configuration, so that problems with it have the
// lines and columns of the file.
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
	r, problems := parseRecord(found.data, paths)
	if len(problems) > 0 {
		return r, &report.Failure{Code: report.InvalidConfig, Problems: problems}
	}
	return r, nil
}

// parseRecord reads a record that may list only these paths.
func parseRecord(data []byte, paths []string) (r *Record, problems report.Problems) {
	r = &Record{}
	add := func(offset int, format string, args ...any) {
		at := report.Place(RecordName, data, offset)
		problems.Add(at, "", "%s: %s", at, fmt.Sprintf(format, args...))
	}
	members, at, fault := report.Members(data)
	if fault != "" {
		add(at, "%s", fault)
		return r, problems
	}
	into := map[string]any{ // nil once it was read
		"vbot":   &r.Vbot,
		"config": &r.Config,
		"files":  &r.Files,
		"guides": &r.Guides,
	}
	configAt := 0
	for _, m := range members {
		if m.Key == "config" {
			configAt = m.ValueAt
		}
		switch field, known := into[m.Key]; {
		case known && field == nil:
			add(m.At, "%s appears twice", m.Key)
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
	isOdd := func(c rune) bool { return c <= ' ' || c > '~' }
	if _, ok := CompareVersions(r.Vbot, ""); !ok || strings.ContainsFunc(r.Vbot, isOdd) {
		add(0, "vbot: expected a version")
		r.Vbot = ""
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		if !slices.Contains(paths, name) {
			at := max(0, bytes.Index(data, []byte(`"`+name+`"`)))
			add(at, "%q is not the path of a file that vbot writes", name)
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
