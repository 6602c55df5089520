package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
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
	Vbot   string            `json:"vbot"` // the version that wrote it; "" if there is no record
	Config json.RawMessage   `json:"config"`
	Files  map[string]string `json:"files"` // SHA-256 in hex; no guides, which say their version themselves
	// Began is set while an update runs, and after one that was killed: for each file that
	// it changes, the SHA-256 of what vbot wrote there or is about to write. Vbot and Config
	// are the update's then, and Files has only the other files.
	Began map[string][]string `json:"began,omitempty"`
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
	r := Record{Vbot: version, Config: raw, Files: map[string]string{}}
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

// Record reads the record. What comes before the configuration in the file is blank in
// Config, so that problems with it name the file's lines.
func (t *Target) Record() (*Record, error) {
	found, err := t.look(RecordName)
	if err == nil && found.at == RecordName && found.hash == "" && found.mode.IsRegular() {
		err = fs.ErrPermission
	}
	switch {
	case err != nil:
		return nil, report.IOError("reading "+t.path(RecordName), err)
	case found.at == "":
		return &Record{}, nil
	case found.hash == "" || len(found.head) == maxHead:
		return nil, report.One(report.InvalidConfig, RecordName, RecordName, "must be a readable regular file of less than %d KiB", maxHead>>10)
	}
	r, problems := parseRecord(found.head)
	if len(problems) > 0 {
		return r, &report.Failure{Code: report.InvalidConfig, Problems: problems}
	}
	return r, nil
}

// parseRecord reads a record. It may come with a project of a stranger: its paths must
// stay in the target, and name nothing that vbot never writes.
func parseRecord(data []byte) (r *Record, problems []report.Problem) {
	r = &Record{}
	wrong := func(offset int, format string, args ...any) {
		at := report.Place(RecordName, data, offset)
		problems = append(problems, report.Problem{Field: at, Message: at + ": " + fmt.Sprintf(format, args...)})
	}
	members, at, fault := report.Members(data)
	if fault != "" {
		wrong(at, "%s", fault)
		return r, problems
	}
	into, configAt := map[string]any{"vbot": &r.Vbot, "config": &r.Config, "files": &r.Files, "began": &r.Began}, 0
	for _, m := range members {
		if m.Key == "config" {
			configAt = m.ValueAt
		}
		if field := into[m.Key]; field != nil && json.Unmarshal(m.Value, field) != nil {
			wrong(m.ValueAt, "%s: unexpected value", m.Key)
		}
	}
	if r.Config == nil {
		wrong(0, "config is missing")
	}
	if r.Files == nil {
		wrong(0, "files is missing")
	}
	if len(problems) > 0 {
		return &Record{}, problems
	}
	if _, ok := CompareVersions(r.Vbot, ""); !ok || strings.ContainsFunc(r.Vbot, isOdd) {
		wrong(0, "vbot: expected a version")
		r.Vbot = ""
	}
	for _, name := range r.paths() {
		if !ownPath(name) {
			wrong(max(0, bytes.Index(data, []byte(name))), "%q is not the path of a file that vbot writes", name)
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

// isOdd reports whether no name that vbot writes has the character. Windows has a
// meaning for some of them.
func isOdd(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\:*?"<>|`, r) }

// ownPath reports whether vbot may have written the file. Windows has names that are
// devices, which are not local there.
func ownPath(name string) bool {
	git := func(element string) bool { return strings.EqualFold(element, ".git") }
	return fs.ValidPath(name) && filepath.IsLocal(name) && !strings.ContainsFunc(name, isOdd) && name != RecordName &&
		!slices.ContainsFunc(strings.Split(name, "/"), git)
}
