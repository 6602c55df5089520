package project

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"vbot/internal/report"
)

// A Record describes what vbot wrote, so that --check and --update know which files are unedited: a file
// that differs from its hash is edited. It lists all files that vbot writes for the configuration,
// including files that were deleted, or not written because others of that name existed. --keep-existing
// keeps an existing record, too, because it still describes the files beside it.
type Record struct {
	// Vbot is the version that wrote the record, "" if there is none.
	Vbot   string          `json:"vbot"`
	Config json.RawMessage `json:"config"`
	// Files are the SHA-256 of the bases in hex, or userOwnedHash, by path. It lacks the guides, which no
	// update changes.
	Files map[string]string `json:"files"`
}

// userOwnedHash stands in the record for the hash of a file that no update writes or changes: one that was
// there before the project, or that was deleted with its folder.
const userOwnedHash = ""

// RecordName is the path of the record in a project.
const RecordName = ".vbot.json"

// attributesName is the file beside the bases that keeps them out of Git's diffs and statistics, and keeps
// Git from converting line ends in them.
const attributesName = ".vbot/.gitattributes"

var attributesData = []byte("# What vbot wrote, for updates. Commit it, and do not edit it.\n" +
	"base/* binary linguist-generated\n")

// IsInternal reports whether only vbot reads the file: the bases, and the files beside them.
func IsInternal(name string) bool { return strings.HasPrefix(name, ".vbot/") }

// isRecorded reports whether the record lists a file of this path.
func isRecorded(name string) bool { return !IsGuide(name) && !IsInternal(name) && name != RecordName }

// example is the path of an example of a tool, which its owner may well delete.
const example = "server/appointments.py"

// writtenOnce are the paths of files that belong to the project's owner once they exist. They have no base,
// and no update changes them.
var writtenOnce = []string{
	".github/workflows/test.yml",
	"server/agent.py",
	example,
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

// AddRecord adds to the files their record, their bases, and the file of attributes. config is what a
// --config file may hold.
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

// bytes returns the text of the file.
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

// planRecord adds the new record, and the file of attributes beside the bases if it is missing.
func (u *updatePlanner) planRecord(t *Target) error {
	attributes, err := u.plan.examine(t, attributesName)
	if err != nil {
		return err
	}
	if attributes.at == "" {
		s := Step{Path: attributesName, data: attributesData, Action: Created, phase: basePhase}
		u.plan.Steps = append(u.plan.Steps, s)
	}
	found, err := u.plan.examine(t, RecordName)
	if err != nil {
		return err
	}
	now := &Record{Vbot: u.Now.Vbot, Config: u.Now.Config, Files: u.hashes}
	s := Step{Path: RecordName, found: found.data, Before: found.hash, phase: recordPhase}
	if s.data, err = now.bytes(); err != nil {
		return err
	}
	switch {
	case found.at == "":
		s.Action = Created
	case bytes.Equal(withLF(found.data), s.data):
		s.Action = Unchanged
	default:
		s.Action = Replaced
		if !u.Was.sameOrigin(now) {
			interim := &Record{Vbot: now.Vbot, Config: now.Config, Files: u.Was.Files}
			u.plan.interim, err = interim.bytes()
		}
	}
	u.plan.Steps = append(u.plan.Steps, s)
	return err
}
