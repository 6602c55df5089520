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
		pairs, errs := dotenv.Parse(text, true)
		if strings.Contains(path, "own-machine") && len(pairs) == 0 {
			continue // it needs none
		}
		if len(pairs) == 0 || len(errs) > 0 {
			t.Errorf("%s: %d pairs, %v", path, len(pairs), errs)
			continue
		}
		dir := t.TempDir()
		filetest.Put(t, dir, ".env",
			filled(text, map[string]string{pairs[0].Key: "the-value # of the first"}))
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/fresh", "PUT ~/secrets/fresh",
			"GET ~/secrets/fresh")
		inProcess{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "fresh", "--file", ".env",
			"--skip-empty", "--skip").wantCode(t, 0)
		if got := s.Values("fresh"); len(got) == 0 || got[pairs[0].Key] != "the-value" {
			t.Errorf("%s: stored %q", path, got)
		}
		r := inProcess{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "check", "fresh", "--file", ".env")
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
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	r := inProcess{env: s.Env(), dir: dir}.vbot(t, args...)
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
	for _, name := range []string{"empty", "line", "zero", "latin1", "large"} { // TestFileThatOthersCanRead
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
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
		r = inProcess{env: s.Env(), dir: dir, stdin: strings.NewReader("not read")}.vbot(t, args...)
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
		s := cloudtest.NewLenient(t, "vbot/"+version)
		s.Put("app", "us-west", "ready", "K")
		s.FailNext("GET", cloudtest.Status(400, "X", "no"))
		r := runOn(t, s, append([]string{"cloud", "secrets"}, strings.Fields(args)...)...)
		s.Close()
		if r.wantCode(t, 1); strings.Contains(r.stderr, "image pull secret") ||
			!strings.Contains(r.stderr, "the API answered 400") {
			t.Errorf("vbot cloud secrets %s: %s", args, r.stderr)
		}
	}
}
