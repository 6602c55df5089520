package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	commit     = "0123456789abcdef0123456789abcdef01234567"
	provenance = "vbot-1.0.0.intoto.json"
)

// A release as it is signed, and what the tests change of it.
type release struct {
	dir, key, signers string
	program, binary   string // what is in the binary, and its name
	commit            string // that is asked for
	statement         *statement
}

func TestVerify(t *testing.T) {
	program := build(t)
	for _, c := range []struct {
		name   string
		change func(*testing.T, *release) // before it is signed, and the provenance is written
		after  func(*testing.T, *release)
		want   string // in the error; none if it is sound
	}{
		{name: "as it should be"},
		{"another commit than asked for", func(t *testing.T, r *release) { r.commit = strings.Repeat("f", 40) }, nil, "the release is of commit "},
		{"a changed byte", nil, func(t *testing.T, r *release) {
			edit(t, r.path("vbot.fish"), "complete", "compleTe")
		}, "vbot.fish is not as "},
		{"two files swapped", nil, func(t *testing.T, r *release) {
			one, other := read(t, r.path("vbot.fish")), read(t, r.path("vbot.bash"))
			write(t, r.path("vbot.fish"), other)
			write(t, r.path("vbot.bash"), one)
		}, "vbot.bash is not as "},
		{"a missing file", nil, func(t *testing.T, r *release) { os.Remove(r.path("vbot.fish")) }, "vbot.fish, which is not there"},
		{"one more file", nil, func(t *testing.T, r *release) {
			write(t, r.path("extra"), "")
		}, "does not name extra"},
		{"a link", nil, func(t *testing.T, r *release) {
			os.Remove(r.path("vbot.fish"))
			os.Symlink(r.path("vbot.bash"), r.path("vbot.fish"))
		}, "no regular file"},
		{"the sums through a link", nil, func(t *testing.T, r *release) {
			os.Rename(r.path(sumsFile), r.signers+".sums")
			os.Symlink(r.signers+".sums", r.path(sumsFile))
		}, "SHA256SUMS is no regular file"},
		{"a folder", nil, func(t *testing.T, r *release) { os.Mkdir(r.path("folder.sig"), 0o755) }, "folder.sig is no regular file"},
		{"one more signature", nil, func(t *testing.T, r *release) { r.sign(t, "vbot.fish", namespace) }, "does not name vbot.fish.sig"},
		{"a signature of other provenance", nil, func(t *testing.T, r *release) {
			write(t, r.path("vbot-1.0.1.intoto.json.sig"), read(t, r.path(provenance+".sig")))
		}, "does not name vbot-1.0.1.intoto.json.sig"},
		{"provenance of another version", func(t *testing.T, r *release) {
			r.statement.Predicate.BuildDefinition.ExternalParameters.Version = "1.0.1"
		}, nil, provenance + ` is of version "1.0.1"`},
		{"a file of another version", func(t *testing.T, r *release) {
			os.Rename(r.path("vbot-1.0.0-src.tar.gz"), r.path("vbot-1.0.0-rc1-src.tar.gz"))
			r.describe(t)
		}, nil, `vbot-1.0.0-rc1-src.tar.gz: the provenance is of version "1.0.0"`},
		{"a changed byte, and the sums to fit", nil, func(t *testing.T, r *release) {
			edit(t, r.path("vbot.fish"), "complete", "compleTe")
			r.sum(t)
		}, "the signature of "},
		{"sums of another file, signed", nil, func(t *testing.T, r *release) {
			edit(t, r.path(sumsFile), "vbot.fish", "other.fish")
			r.sign(t, sumsFile, namespace)
		}, "does not name vbot.fish"},
		{"another key", func(t *testing.T, r *release) { r.key = newKey(t) }, nil, "the signature of "},
		{"the key for another purpose", nil, func(t *testing.T, r *release) { r.sign(t, sumsFile, "git") }, "the signature of "},
		{"the key under another name", nil, func(t *testing.T, r *release) { edit(t, r.signers, "vbot ", "other ") }, "the signature of "},
		{"no signature", nil, func(t *testing.T, r *release) { os.Remove(r.path(provenance + ".sig")) }, "the signature of "},
		{"no provenance", nil, func(t *testing.T, r *release) { os.Remove(r.path(provenance)) }, "has 0 files"},
		{"provenance with another digest", func(t *testing.T, r *release) {
			r.statement.Subject[0].Digest["sha256"] = strings.Repeat("0", 64)
		}, nil, "is not as "},
		{"provenance of fewer files", func(t *testing.T, r *release) {
			r.statement.Subject = r.statement.Subject[1:]
		}, nil, "does not name "},
		{"another source", func(t *testing.T, r *release) {
			r.statement.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"] = strings.Repeat("f", 40)
		}, nil, "source is not as "},
		{"a tarball of another commit", func(t *testing.T, r *release) {
			other := strings.Repeat("f", 40)
			r.commit = other
			r.statement.Predicate.BuildDefinition.ExternalParameters.Commit = other
			r.statement.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"] = other
		}, nil, "main.go does not name commit"},
		{"a binary of another Go", func(t *testing.T, r *release) {
			r.statement.Predicate.RunDetails.Builder.Version["go"] = "go1.0"
		}, nil, "built with " + runtime.Version() + ", not with go1.0"},
		{"a module that the provenance does not name", func(t *testing.T, r *release) {
			definition := &r.statement.Predicate.BuildDefinition
			definition.ResolvedDependencies = definition.ResolvedDependencies[:2]
		}, nil, "links pkg:golang/golang.org/x/"},
		{"a binary that does not use the FIPS 140 module", func(t *testing.T, r *release) {
			os.Rename(r.path(r.binary), r.path(r.binary+"-fips"))
			r.describe(t)
		}, nil, "this is a binary for "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRelease(t, program)
			if c.change != nil {
				c.change(t, r)
			}
			text, _ := json.Marshal(r.statement)
			write(t, r.path(provenance), string(text))
			r.sum(t)
			r.sign(t, sumsFile, namespace)
			r.sign(t, provenance, namespace)
			if c.after != nil {
				c.after(t, r)
			}
			_, err := verify(r.dir, r.signers, r.commit)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("verify returned %v, want %q", err, c.want)
			}
		})
	}
}

// Statements that are not what release/provenance writes.
func TestStatement(t *testing.T) {
	r := newRelease(t, build(t))
	sound, _ := json.Marshal(r.statement)
	if _, err := parse(sound); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{"in-toto.io/Statement/v1", "in-toto.io/Statement/v0.1"},
		{"slsa.dev/provenance/v1", "slsa.dev/provenance/v0.2"},
		{"urn:example:type", "type"},
		{"urn:example:builder", "builder"},
		{commit, "HEAD"},
		{`{"_type"`, `{"signature":"","_type"`},
		{`{"name":"source"`, `{"name":"nothing"},{"name":"source"`},
		{`{"name":"source"`, `{"name":"other"`},
		{`{"_type"`, `{}{"_type"`},
		{`{"_type"`, `"_type"`},
	} {
		text := strings.ReplaceAll(string(sound), c.old, c.new)
		if _, err := parse([]byte(text)); err == nil || text == string(sound) {
			t.Errorf("%s in place of %s is taken", c.new, c.old)
		}
	}
	if _, err := parse(append(sound, "{}"...)); err == nil {
		t.Error("two statements are taken for one")
	}
}

func newRelease(t *testing.T, program string) *release {
	r := &release{dir: t.TempDir(), program: program, commit: commit, key: newKey(t), signers: filepath.Join(t.TempDir(), "signers")}
	write(t, r.signers, "vbot "+read(t, r.key+".pub"))
	write(t, r.path("vbot.fish"), "complete -c vbot\n")
	write(t, r.path("vbot.bash"), "complete -F _vbot vbot\n")

	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	packed := tar.NewWriter(zipped)
	code := fmt.Sprintf("package main\n\nconst commit = %q\n", commit)
	packed.WriteHeader(&tar.Header{Name: "vbot-1.0.0/main.go", Mode: 0o644, Size: int64(len(code))})
	io.WriteString(packed, code)
	packed.Close()
	zipped.Close()
	write(t, r.path("vbot-1.0.0-src.tar.gz"), archive.String())

	r.binary = "vbot-1.0.0-" + runtime.GOOS + "-" + runtime.GOARCH
	write(t, r.path(r.binary), program)
	r.describe(t)
	return r
}

var built string // what build returns

// build returns the bytes of vbot as a release has it.
func build(t *testing.T) string {
	for _, tool := range []string{"ssh-keygen", "go"} {
		if _, err := exec.LookPath(tool); err != nil && (os.Getenv("CI") != "true" || runtime.GOOS == "windows") {
			t.Skip(err)
		}
	}
	if built == "" {
		program := filepath.Join(t.TempDir(), "vbot")
		cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", program, "../..")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFIPS140=off")
		must(t, cmd)
		built = read(t, program)
	}
	return built
}

// describe makes the statement of the files that are there.
func (r *release) describe(t *testing.T) {
	files, err := digests(r.dir, provenance)
	if err != nil {
		t.Fatal(err)
	}
	s := &statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for name, digest := range files {
		s.Subject = append(s.Subject, resource{Name: name, Digest: map[string]string{"sha256": digest}})
	}
	definition := &s.Predicate.BuildDefinition
	definition.BuildType = "urn:example:type"
	definition.ExternalParameters.Commit, definition.ExternalParameters.Version = commit, "1.0.0"
	definition.ResolvedDependencies = []resource{{Name: "source", Digest: map[string]string{"gitCommit": commit}}}
	info, err := buildinfo.Read(strings.NewReader(r.program))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		uri := "pkg:golang/" + m.Path + "@" + m.Version
		definition.ResolvedDependencies = append(definition.ResolvedDependencies, resource{Name: m.Path, URI: uri})
	}
	s.Predicate.RunDetails.Builder.ID = "urn:example:builder"
	s.Predicate.RunDetails.Builder.Version = map[string]string{"go": runtime.Version()}
	r.statement = s
}

func (r *release) path(name string) string { return filepath.Join(r.dir, name) }

// sum writes SHA256SUMS of the files that are there.
func (r *release) sum(t *testing.T) {
	files, err := digests(r.dir, provenance)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for name, digest := range files {
		lines = append(lines, digest+"  "+name+"\n")
	}
	write(t, r.path(sumsFile), strings.Join(slices.Sorted(slices.Values(lines)), ""))
}

func (r *release) sign(t *testing.T, name, namespace string) {
	os.Remove(r.path(name + ".sig"))
	must(t, exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", r.key, "-n", namespace, r.path(name)))
}

func newKey(t *testing.T) string {
	key := filepath.Join(t.TempDir(), "key")
	must(t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key))
	return key
}

func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", cmd.Args, err, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	write(t, path, strings.Replace(read(t, path), old, new, 1))
}
