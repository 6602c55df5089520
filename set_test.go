package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filled is a .env.example with the given variables filled in, and the rest as it is.
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

// Files with secrets, what is said about them, and what is stored of them.
func TestSetFromFiles(t *testing.T) {
	const getNew, putNew = "GET ~/secrets/fresh", "PUT ~/secrets/fresh"
	const getApp, putApp = "GET ~/secrets/app", "PUT ~/secrets/app"
	dir := t.TempDir()
	put(t, dir, "gaps.env", "A=1\nEMPTY=\nB='two words'\nALSO=\"\"\n")
	put(t, dir, "blank.env", "A=\nB=\n")
	put(t, dir, "bad.env", "A=\nhunter2\nB=\nB=2\nA=3\nA=4\n")
	put(t, dir, "vars.env", "HOST=h\nURL=http://${HOST}/\nQUOTED='${HOST}'\nPLAIN=$HOST\n")
	put(t, dir, "s.json", "\ufeff{\"A\": \"1\\n\\u00e9\",\n \"B-b\": \"${X} <&>\"}\n")
	put(t, dir, "gaps.json", `{"A": "1", "EMPTY": ""}`)
	put(t, dir, "bad.json", "{\"A\": \"hunter2\",\n\"A\": \"hunter2\", \"B\": 5,\n\"C\": null, \"bad key\": \"hunter2\",\n\n\"D\": {\"x\": [\"hunter2\"]},\n"+
		`"E": "", "F": "a\u0000", "G": "a\ud800b"`+"}")
	put(t, dir, "cut.json", "{\"A\": \"1\",\n\"B\": \"hunter2")
	put(t, dir, "word.json", "{\n\"A\": \"1\",\nhunter2}")
	put(t, dir, "two.json", `{"A": "1"} {"B": "hunter2"}`)
	put(t, dir, "none.json", "{}\n")
	for _, c := range []struct {
		name string
		args string
		want []string // requests
		code int
		held map[string]string
	}{
		{"gaps", "--file gaps.env", nil, 2, nil},
		{"skip-empty", "--file gaps.env --skip-empty", []string{getNew, putNew}, 0, map[string]string{"A": "1", "B": "two words"}},
		{"skip-empty-json", "--file gaps.env --skip-empty --json", []string{getNew, putNew}, 0, map[string]string{"A": "1", "B": "two words"}},
		{"skip-empty-given", "EMPTY=3 --file gaps.env --skip-empty", []string{getNew, putNew}, 0, map[string]string{"A": "1", "B": "two words", "EMPTY": "3"}},
		{"skip-empty-twice", "A=3 --file gaps.env --skip-empty", nil, 2, nil},
		{"skip-empty-nothing", "--file blank.env --skip-empty", nil, 2, nil},
		{"skip-empty-nothing-pruned", "--file blank.env --skip-empty --prune", nil, 2, nil},
		{"skip-empty-bad", "--file bad.env --skip-empty", nil, 2, nil},
		{"skip-empty-dry-run", "--file gaps.env --skip-empty --dry-run", []string{getNew}, 0, nil},
		{"expanded", "--file vars.env", []string{getNew, putNew}, 0, map[string]string{"HOST": "h", "URL": "http://${HOST}/", "QUOTED": "${HOST}", "PLAIN": "$HOST"}},
		{"object", "--file s.json C=3", []string{getNew, putNew}, 0, map[string]string{"A": "1\né", "B-b": "${X} <&>", "C": "3"}},
		{"object-skip-empty", "--file gaps.json --skip-empty", []string{getNew, putNew}, 0, map[string]string{"A": "1"}},
		{"object-bad", "--file bad.json", nil, 2, nil},
		{"object-bad-json", "--file bad.json --json", nil, 2, nil},
		{"object-cut", "--file cut.json", nil, 2, nil},
		{"object-word", "--file word.json", nil, 2, nil},
		{"object-two", "--file two.json", nil, 2, nil},
		{"object-none", "--file none.json", nil, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStandin(t).want(c.want...)
			r := here{env: s.env(), dir: dir}.vbot(t, strings.Fields("cloud secrets set fresh --skip "+c.args)...)
			r.wantCode(t, c.code)
			if strings.Contains(r.stdout+r.stderr, "hunter2") {
				t.Error("a value was printed")
			}
			if got, want := fmt.Sprintf("%q", s.values("fresh")), fmt.Sprintf("%q", c.held); got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
			golden(t, "cloud/set-file-"+c.name+".txt", s.transcript(r))
		})
	}
	// A key that is in the file stays, with and without a value; others go.
	s := newStandin(t).want(getApp, putApp, "DELETE ~/secrets/app/GONE")
	s.keep("app", "us-west", "ready", "A", "EMPTY", "GONE")
	r := here{env: s.env(), dir: dir}.vbot(t, strings.Fields("cloud secrets set app --file gaps.env --skip-empty --prune --skip")...)
	r.wantCode(t, 0)
	if got := fmt.Sprint(s.values("app")); got != "map[A:1 B:two words EMPTY:old]" {
		t.Errorf("the set holds %s", got)
	}
}

// In a large object each key is found without reading all before it again.
func TestManyKeysInJSON(t *testing.T) {
	const n = 200_000
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, "\"K%d\": \"v\",\n", i)
	}
	b.WriteString(`"K0": "again"}`)
	pairs, faults := parseSecrets(b.String(), false)
	if want := fmt.Sprint([]fault{{n + 1, "K0 is already set on line 1"}}); len(pairs) != n || fmt.Sprint(faults) != want {
		t.Errorf("%d pairs, faults %v", len(pairs), faults)
	}
}

// A freshly copied .env.example of every golden project can be stored once some of its
// lines are filled in.
func TestEnvExamplesCanBeStored(t *testing.T) {
	var examples []string
	for path := range readTree(t, "golden") {
		if filepath.Base(path) == ".env.example" && filepath.Base(filepath.Dir(path)) == "server" {
			examples = append(examples, path)
		}
	}
	if len(examples) < 10 {
		t.Fatalf("found only %q", examples)
	}
	for _, path := range examples {
		text := document(t, filepath.Join("golden", path))
		pairs, faults := parseSecrets(text, true)
		if len(pairs) == 0 || len(faults) > 0 {
			t.Errorf("%s: %d pairs, %v", path, len(pairs), faults)
			continue
		}
		dir := t.TempDir()
		put(t, dir, ".env", filled(text, map[string]string{pairs[0].Key: "the-value # of the first"}))
		s := newStandin(t).want("GET ~/secrets/fresh", "PUT ~/secrets/fresh", "GET ~/secrets/fresh")
		here{env: s.env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "fresh", "--file", ".env", "--skip-empty", "--skip").wantCode(t, 0)
		if got := s.values("fresh"); len(got) == 0 || got[pairs[0].Key] != "the-value" {
			t.Errorf("%s: stored %q", path, got)
		}
		r := here{env: s.env(), dir: dir}.vbot(t, "cloud", "secrets", "check", "fresh", "--file", ".env")
		if missing := strings.Count(r.stdout, "  missing\n"); missing != len(pairs)-len(s.values("fresh")) || r.code != min(missing, 1) {
			t.Errorf("%s: exit code %d, and check says\n%s", path, r.code, r.stdout)
		}
	}
}

// The whole file is the value, byte for byte.
func TestValueFiles(t *testing.T) {
	dir := t.TempDir()
	values := map[string]string{
		"PEM":  "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n",
		"JSON": "{\r\n  \"private_key\": \"a\\nb\"\r\n}",
		"ODD":  "\ufeff \"$x ${y}\" 'z' # é\u2028\x1b\t\n\n ",
		"ONE":  "=",
	}
	args := []string{"cloud", "secrets", "set", "fresh", "--skip", "PLAIN=1"}
	for key, value := range values {
		put(t, dir, "of="+key, value)
		args = append(args, "--value-file", key+"=of="+key)
	}
	values["PLAIN"] = "1"
	s := newStandin(t).want("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	r := here{env: s.env(), dir: dir}.vbot(t, args...)
	r.wantCode(t, 0)
	if got, want := fmt.Sprintf("%q", s.values("fresh")), fmt.Sprintf("%q", values); got != want {
		t.Errorf("stored %s, want %s", got, want)
	}

	put(t, dir, "empty", "")
	put(t, dir, "zero", "hunter2\x00")
	put(t, dir, "latin1", "hunter2\xe9")
	put(t, dir, "-", "a file")
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	s = newStandin(t)
	args = []string{"cloud", "secrets", "set", "fresh", "--skip", "SAME=1"}
	for _, arg := range []string{"EMPTY=empty", "NUL=zero", "LATIN=latin1", "LARGE=large", "DIR=.", "NONE=hunter2-as-a-value", "SAME=-", "hunter2", "PATH=", "bad key=hunter2", "=hunter2"} {
		args = append(args, "--value-file="+arg)
	}
	for _, end := range []string{"", "-json"} {
		if end != "" {
			args = append(args, "--json")
		}
		r = here{env: s.env(), dir: dir, stdin: strings.NewReader("not read")}.vbot(t, args...)
		r.wantCode(t, 2)
		if strings.Contains(strings.SplitN(string(s.transcript(r)), "\n", 2)[1], "hunter2") {
			t.Errorf("what may be a value was printed: %s%s", r.stdout, r.stderr)
		}
		golden(t, "cloud/set-value-file-bad"+end+".txt", s.transcript(r))
	}
}

// A key of the set that reads like a value is not shown, and yet removed.
func TestPruneOfAHiddenKey(t *testing.T) {
	const word = "A_KEY_AND_A_VALUE"
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app", "DELETE ~/secrets/app/"+word)
	s.keep("app", "us-west", "ready", word)
	r := here{env: s.env(), stdin: strings.NewReader("NEW=" + word + "\n")}.vbot(t, strings.Fields("cloud secrets set app --file - --prune --skip")...)
	r.wantCode(t, 0)
	if strings.Contains(r.stderr, word) || len(s.values("app")) != 1 {
		t.Errorf("the set holds %q, and it printed %s", s.values("app"), r.stderr)
	}
}

// check compares the keys of a file with those of a set.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "same.env", "A=\n# C=\nB=hunter2\n")
	put(t, dir, "more.env", "Z=hunter2\nB=\nA=1\nC=${A}\n")
	put(t, dir, "less.json", `{"A": ""}`)
	put(t, dir, "bad.env", "A=1\nhunter2\n")
	const getApp = "GET ~/secrets/app"
	for _, c := range []struct {
		name, args string
		want       []string
		code       int
	}{
		{"same", "app --file same.env", []string{getApp}, 0},
		{"same-json", "app --file same.env --json", []string{getApp}, 0},
		{"differs", "app --file more.env", []string{getApp}, 1},
		{"differs-json", "app --file more.env --json", []string{getApp}, 1},
		{"extra", "app --file less.json", []string{getApp}, 0},
		{"extra-json", "app --file less.json --json", []string{getApp}, 0},
		{"stdin", "app --file -", []string{getApp}, 1},
		{"bad-file", "app --file bad.env", nil, 2},
		{"no-file", "app", nil, 2},
		{"nothing", "--json", nil, 2},
		{"unknown", "nothing --file same.env --json", []string{"GET ~/secrets/nothing"}, 1},
		{"image-pull", "hub --file same.env", []string{"GET ~/secrets/hub", "GET ~/secrets"}, 1},
		{"referenced", "cluster --file same.env", []string{"GET ~/secrets/cluster"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStandin(t).want(c.want...)
			s.keep("app", "us-west", "pending", "B", "A")
			s.keep("hub", "us-west", "ready").kind = "imagePullSecret"
			s.keep("cluster", "pce-acme", "ready").source = "referenced"
			r := here{env: s.env(), dir: dir, stdin: strings.NewReader("NEW=1\n")}.vbot(t, strings.Fields("cloud secrets check "+c.args)...)
			r.wantCode(t, c.code)
			if strings.Contains(r.stdout+r.stderr, "hunter2") || strings.HasSuffix(c.name, "-json") && !json.Valid([]byte(r.stdout)) {
				t.Errorf("it printed %s%s", r.stdout, r.stderr)
			}
			golden(t, "cloud/check-"+c.name+".txt", s.transcript(r))
		})
	}
}

// Interrupted between storing and removing: what was stored is told.
func TestPruneIsInterrupted(t *testing.T) {
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app", "DELETE ~/secrets/app/OLD")
	s.keep("app", "us-west", "ready", "OLD")
	ctx, cancel := context.WithCancel(context.Background())
	s.misbehave("DELETE", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
		cancel()
		<-r.Context().Done()
	})
	r := here{ctx: ctx, env: s.env()}.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--prune", "--skip", "--json")
	r.wantCode(t, 130)
	golden(t, "cloud/set-prune-interrupted.txt", s.transcript(r))
}
