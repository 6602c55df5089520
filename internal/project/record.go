package project

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
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
}

const RecordName = ".vbot.json"

// AddRecord adds the record of the files. config is what a --config file may hold.
func AddRecord(version string, config any, files map[string][]byte) error {
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	r := Record{version, raw, map[string]string{}}
	for name, data := range files {
		if !IsGuide(name) {
			r.Files[name] = hexSum(data)
		}
	}
	var data bytes.Buffer
	err = report.WriteJSON(&data, r)
	files[RecordName] = data.Bytes()
	return err
}

// ReadRecord reads the record in dir. What comes before the configuration in the file is
// blank in Config, so that problems with it name the file's lines.
func ReadRecord(dir string) (*Record, error) {
	root, err := openTarget(dir)
	if root == nil {
		return &Record{}, err
	}
	defer root.Close()
	found, err := look(root, RecordName)
	switch {
	case err != nil:
		return nil, ioFailure("reading "+filepath.Join(dir, RecordName), err)
	case found.at == "":
		return &Record{}, nil
	case found.hash == "" || len(found.head) == maxHead:
		return nil, report.One(report.InvalidConfig, RecordName, RecordName, "no regular file that can be read, of less than %d KiB", maxHead>>10)
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
	into, configAt := map[string]any{"vbot": &r.Vbot, "config": &r.Config, "files": &r.Files}, 0
	for _, m := range members {
		if m.Key == "config" {
			configAt = m.ValueAt
		}
		if field := into[m.Key]; field != nil && json.Unmarshal(m.Value, field) != nil {
			wrong(m.ValueAt, "%s: not what vbot writes there", m.Key)
		}
	}
	if r.Config == nil {
		wrong(0, "config is missing")
	}
	if len(problems) > 0 {
		return &Record{}, problems
	}
	if _, ok := CompareVersions(r.Vbot, ""); !ok || strings.ContainsFunc(r.Vbot, isOdd) {
		wrong(0, "vbot: expected a version")
		r.Vbot = ""
	}
	for name := range r.Files {
		if !ownPath(name) {
			wrong(max(0, bytes.Index(data, []byte(name))), "%q is no path of a file that vbot writes", name)
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
