package project

import (
	"regexp"
	"strings"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// A record that vbot cannot have written is refused, with the place of each problem.
func TestInvalidRecords(t *testing.T) {
	for text, want := range map[string]string{
		``:               "1:1: the file is empty; expected a JSON object",
		`[]`:             "1:1: expected a JSON object: {...}",
		`{}`:             "1:1: config is missing|1:1: files is missing",
		`{"config": {}}`: "1:1: files is missing",
		`{"files": {}}`:  "1:1: config is missing",
		`{"vbot": 1, "x": 1, "files": {}, "config": {}}`: "1:10: vbot: unexpected value",
		`{"files": [], "config": {}}`: "1:11: files: unexpected value|" +
			"1:1: files is missing",
		"{\"files\": {}, \"config\": {},\n\"files\": {}}": "2:1: files appears twice",
		`{"files": {}, "config": {}}`:                     "1:1: vbot: expected a version",
		`{"vbot": "x", "files": {}, "config": {}}`:        "1:1: vbot: expected a version",
		`{"vbot": "1.2.3 x", "files": {}, "config": {}}`:  "1:1: vbot: expected a version",
		`{"vbot": "1.2.3é", "files": {}, "config": {}}`:   "1:1: vbot: expected a version",
		"{\"vbot\": \"1.2.3\", \"config\": {}, \"files\": {\n \"a.py\": \"\", \"../b\": \"\"}}": "2:14: " +
			`"../b" is not the path of a file that vbot writes`,
		"{\n<<<<<<< HEAD\n": "2:1: this merge conflict is not resolved",
	} {
		dir := t.TempDir()
		filetest.Put(t, dir, RecordName, text)
		target, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = target.Record([]string{"a.py"})
		target.Close()
		var lines []string
		for _, p := range report.As(err).Problems {
			lines = append(lines, strings.TrimPrefix(p.Line(), RecordName+":"))
		}
		if got := strings.Join(lines, "|"); got != want || !report.HasCode(err, report.InvalidConfig) {
			t.Errorf("%s:\n%s\nwant:\n%s", text, got, want)
		}
	}
}

// Problems with the configuration have the lines and columns of the record: blanks stand before it.
func TestPlaceOfTheConfiguration(t *testing.T) {
	const before = "{\"vbot\": \"1.2.3-dev\",\n \"files\": {\"a.py\": \"x\"},\n \"config\": "
	const config = `{"é": 1}`
	dir := t.TempDir()
	filetest.Put(t, dir, RecordName, before+config+"}")
	target, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	r, err := target.Record([]string{"a.py"})
	want := regexp.MustCompile(".").ReplaceAllString(before, " ") + config
	if err != nil || string(r.Config) != want || r.Vbot != "1.2.3-dev" || r.Files["a.py"] != "x" {
		t.Errorf("%v, %q, %+v", err, r.Config, r)
	}
}

// Without a record, the version is "". What is no regular file, or too large, is no record.
func TestRecordThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	target, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if r, err := target.Record(nil); err != nil || r.Vbot != "" || r.Files != nil {
		t.Errorf("%+v, %v", r, err)
	}
	const want = RecordName + ": must be a regular file of at most 1 MiB"
	filetest.Put(t, dir, RecordName, strings.Repeat(" ", maxSize+1))
	if _, err := target.Record(nil); err == nil || err.Error() != want {
		t.Error(err)
	}
	filetest.Put(t, dir, RecordName, strings.Repeat(" ", maxSize))
	if _, err := target.Record(nil); err == nil || err.Error() == want {
		t.Error(err)
	}
	dir = t.TempDir()
	filetest.Put(t, dir, RecordName+"/x", "")
	other, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Record(nil); err == nil || err.Error() != want {
		t.Error(err)
	}
}
