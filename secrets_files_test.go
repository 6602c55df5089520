package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vbot/internal/cloudtest"
	"vbot/internal/dotenv"
	"vbot/internal/filetest"
)

// filled is a .env.example with the given variables filled in, and the rest unchanged.
func filled(example string, values map[string]string) string {
	var b strings.Builder
	for line := range strings.Lines(example) {
		key, _, _ := strings.Cut(line, "=")
		if v, ok := values[key]; ok {
			line = key + "=" + v + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// A fileCase is a case of TestSetFromFiles.
type fileCase struct {
	name string
	args string
	want []string // requests
	code int
	held map[string]string
}

func fileCases() []fileCase {
	const getNew, putNew = "GET ~/secrets/fresh", "PUT ~/secrets/fresh"
	return []fileCase{
		{name: "gaps", args: "--file gaps.env", code: 2},
		{
			name: "skip-empty",
			args: "--file gaps.env --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1", "B": "two words"},
		},
		{
			name: "skip-empty-json",
			args: "--file gaps.env --skip-empty --json",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1", "B": "two words"},
		},
		{
			name: "skip-empty-given",
			args: "EMPTY=3 --file gaps.env --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1", "B": "two words", "EMPTY": "3"},
		},
		{name: "skip-empty-twice", args: "A=3 --file gaps.env --skip-empty", code: 2},
		{
			name: "two",
			args: "--file gaps.env --file later.env --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "2", "B": "two words", "C": "3"},
		},
		{name: "stdin-twice", args: "--file - --file -", code: 2},
		{name: "skip-empty-nothing", args: "--file blank.env --skip-empty", code: 2},
		{name: "skip-empty-nothing-pruned", args: "--file blank.env --skip-empty --prune", code: 2},
		{name: "skip-empty-bad", args: "--file bad.env --skip-empty", code: 2},
		{
			name: "skip-empty-dry-run",
			args: "--file gaps.env --skip-empty --dry-run",
			want: []string{getNew},
			code: 0,
		},
		{
			name: "expanded",
			args: "--file vars.env",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{
				"HOST":   "h",
				"URL":    "http://${HOST}/",
				"QUOTED": "${HOST}",
				"PLAIN":  "$HOST",
			},
		},
		{
			name: "pasted", args: "--file pasted.env --value-file CARTESIA_API_KEY=key --value-file " +
				"AWS_SECRET_ACCESS_KEY=pem --value-file PEM=pem", want: []string{getNew, putNew}, code: 0,
			held: map[string]string{
				"OPENAI_API_KEY": "'hunter2'", "MINE": "'hunter2'", "DEEPGRAM_API_KEY": "hunter2\u2019s",
				"UMLAUT": "hunter2\u00e4 2", "AND": "'hunter2' & 'hunter2'", "BLANK": "hunter2 ",
				"CARTESIA_API_KEY":      "hunter2\n",
				"AWS_SECRET_ACCESS_KEY": "-----BEGIN PRIVATE KEY-----\nhunter2\n",
				"PEM":                   "-----BEGIN PRIVATE KEY-----\nhunter2\n",
			},
		},
		{
			name: "object",
			args: "--file s.json C=3",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1\né", "B-b": "${X} <&>", "C": "3"},
		},
		{
			name: "object-skip-empty",
			args: "--file gaps.json --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1"},
		},
		{name: "object-bad", args: "--file bad.json", code: 2},
		{name: "object-bad-json", args: "--file bad.json --json", code: 2},
		{name: "object-cut", args: "--file cut.json", code: 2},
		{name: "object-word", args: "--file word.json", code: 2},
		{name: "object-two", args: "--file two.json", code: 2},
		{name: "object-none", args: "--file none.json", code: 2},
	}
}

// Files with secrets: the messages about them, and the stored pairs.
func TestSetFromFiles(t *testing.T) {
	parallel(t)

	const getApp, putApp = "GET ~/secrets/app", "PUT ~/secrets/app"
	dir := t.TempDir()
	filetest.Put(t, dir, "gaps.env", "A=1\nEMPTY=\nB='two words'\nALSO=\"\"\n")
	filetest.Put(t, dir, "later.env", "A=2\nB=\nC=3\n")
	filetest.Put(t, dir, "blank.env", "A=\nB=\n")
	filetest.Put(t, dir, "bad.env", "A=\nhunter2\nB=\nB=2\nA=3\nA=4\n")
	filetest.Put(t, dir, "vars.env", "HOST=h\nURL=http://${HOST}/\nQUOTED='${HOST}'\nPLAIN=$HOST\n")
	filetest.Put(t, dir, "s.json", "\ufeff{\"A\": \"1\\n\\u00e9\",\n \"B-b\": \"${X} <&>\"}\n")
	filetest.Put(t, dir, "gaps.json", `{"A": "1", "EMPTY": ""}`)
	filetest.Put(t, dir, "bad.json",
		"{\"A\": \"hunter2\",\n\"A\": \"hunter2\", \"B\": 5,\n\"C\": null, \"bad key\": \"hunter2\",\n\n"+
			"\"D\": {\"x\": [\"hunter2\"]},\n"+
			`"E": "", "F": "a\u0000", "G": "a\ud800b"`+"}")
	filetest.Put(t, dir, "cut.json", "{\"A\": \"1\",\n\"B\": \"hunter2")
	filetest.Put(t, dir, "word.json", "{\n\"A\": \"1\",\nhunter2}")
	filetest.Put(t, dir, "two.json", `{"A": "1"} {"B": "hunter2"}`)
	filetest.Put(t, dir, "none.json", "{}\n")
	filetest.Put(t, dir, "pasted.env",
		"OPENAI_API_KEY=\"'hunter2'\"\nMINE=\"'hunter2'\"\nDEEPGRAM_API_KEY=hunter2\u2019s\n"+
			"UMLAUT=hunter2\u00e4 2\nAND=\"'hunter2' & 'hunter2'\"\nBLANK='hunter2 '\n")
	filetest.Put(t, dir, "key", "hunter2\n")
	filetest.Put(t, dir, "pem", "-----BEGIN PRIVATE KEY-----\nhunter2\n")
	for _, c := range fileCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
			r := here{env: s.Env(), dir: dir}.vbot(t,
				strings.Fields("cloud secrets set fresh --skip "+c.args)...)
			r.wantCode(t, c.code)
			if strings.Contains(r.stdout+r.stderr, "hunter2") {
				t.Error("a value was printed")
			}
			if got, want := fmt.Sprintf("%q", s.Values("fresh")), fmt.Sprintf("%q", c.held); got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
			section(t, "cloud/set.txt", "set-file-"+c.name, transcriptOn(s, r))
		})
	}
	// A key that is in the file stays, with or without a value; others are removed.
	s := cloudtest.New(t, "vbot/"+version).Want(getApp, putApp, "DELETE ~/secrets/app/GONE")
	s.Keep("app", "us-west", "ready", "A", "EMPTY", "GONE")
	r := here{env: s.Env(), dir: dir}.vbot(t,
		strings.Fields("cloud secrets set app --file gaps.env --skip-empty --prune --skip")...)
	r.wantCode(t, 0)
	if got := fmt.Sprint(s.Values("app")); got != "map[A:1 B:two words EMPTY:old]" {
		t.Errorf("the set holds %s", got)
	}
}

// A freshly copied .env.example of every golden project can be stored once some of its
// lines are filled in.
func TestEnvExamplesCanBeStored(t *testing.T) {
	parallel(t)
	var examples []string
	for path := range filetest.Tree(t, "golden") {
		if filepath.Base(path) == ".env.example" && filepath.Base(filepath.Dir(path)) == "server" {
			examples = append(examples, path)
		}
	}
	if len(examples) < 9 {
		t.Fatalf("found only %q", examples)
	}
	for _, path := range examples {
		text := document(t, filepath.Join("golden", path))
		pairs, faults := dotenv.Parse(text, true)
		if strings.Contains(path, "own-machine") && len(pairs) == 0 {
			continue // it needs none
		}
		if len(pairs) == 0 || len(faults) > 0 {
			t.Errorf("%s: %d pairs, %v", path, len(pairs), faults)
			continue
		}
		dir := t.TempDir()
		filetest.Put(t, dir, ".env",
			filled(text, map[string]string{pairs[0].Key: "the-value # of the first"}))
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh",
			"GET ~/secrets/fresh")
		here{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "fresh", "--file", ".env",
			"--skip-empty", "--skip").wantCode(t, 0)
		if got := s.Values("fresh"); len(got) == 0 || got[pairs[0].Key] != "the-value" {
			t.Errorf("%s: stored %q", path, got)
		}
		r := here{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "check", "fresh", "--file", ".env")
		if missing := strings.Count(r.stdout, "  missing\n"); missing != len(pairs)-len(s.Values("fresh")) ||
			r.code != 3*min(missing, 1) {
			t.Errorf("%s: exit code %d, and check says\n%s", path, r.code, r.stdout)
		}
	}
}

// The whole file is the value, byte for byte.
func TestValueFiles(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	values := map[string]string{
		"PEM":  "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n",
		"JSON": "{\r\n  \"private_key\": \"a\\nb\"\r\n}",
		"ODD":  "\ufeff \"$x ${y}\" 'z' # é\u2028\x1b\t\n\n ",
		"ONE":  "=",
	}
	args := []string{"cloud", "secrets", "set", "fresh", "--skip", "PLAIN=1"}
	for key, value := range values {
		filetest.Put(t, dir, "of="+key, value)
		args = append(args, "--value-file", key+"=of="+key)
	}
	values["PLAIN"] = "1"
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	r := here{env: s.Env(), dir: dir}.vbot(t, args...)
	r.wantCode(t, 0)
	if got, want := fmt.Sprintf("%q", s.Values("fresh")), fmt.Sprintf("%q", values); got != want {
		t.Errorf("stored %s, want %s", got, want)
	}

	filetest.Put(t, dir, "empty", "")
	filetest.Put(t, dir, "line", "\r\n")
	filetest.Put(t, dir, "zero", "hunter2\x00")
	filetest.Put(t, dir, "latin1", "hunter2\xe9")
	filetest.Put(t, dir, "-", "a file")
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	s = cloudtest.New(t, "vbot/"+version)
	args = []string{"cloud", "secrets", "set", "fresh", "--skip", "SAME=1"}
	for _, arg := range []string{
		"EMPTY=empty", "LINE=line", "NUL=zero",
		"LATIN=latin1", "LARGE=large", "DIR=.", "NONE=hunter2-as-a-value",
		"SAME=-", "hunter2", "PATH=", "bad key=hunter2", "=hunter2",
	} {
		args = append(args, "--value-file="+arg)
	}
	for _, end := range []string{"", "-json"} {
		if end != "" {
			args = append(args, "--json")
		}
		r = here{env: s.Env(), dir: dir, stdin: strings.NewReader("not read")}.vbot(t, args...)
		r.wantCode(t, 2)
		if strings.Contains(strings.SplitN(string(transcriptOn(s, r)), "\n", 2)[1], "hunter2") {
			t.Errorf("what may be a value was printed: %s%s", r.stdout, r.stderr)
		}
		section(t, "cloud/set.txt", "set-value-file-bad"+end, transcriptOn(s, r))
	}
}

// A refusal is explained as that of an image pull secret only if it is one.
func TestRefusedReading(t *testing.T) {
	parallel(t)
	for _, args := range []string{"list app", "set app A=1 --skip", "unset app K --skip"} {
		s := cloudtest.Bare(t, "vbot/"+version)
		s.Keep("app", "us-west", "ready", "K")
		s.Misbehave("GET", cloudtest.Status(400, "X", "no"))
		r := runOn(t, s, append([]string{"cloud", "secrets"}, strings.Fields(args)...)...)
		s.Close()
		if r.wantCode(t, 1); strings.Contains(r.stderr, "image pull secret") ||
			!strings.Contains(r.stderr, "the API answered 400") {
			t.Errorf("vbot cloud secrets %s: %s", args, r.stderr)
		}
	}
}
