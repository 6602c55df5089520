package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// injected is a run of vbot in which strace makes system calls fail or wait.
func injected(t *testing.T, dir, faults string, args ...string) *exec.Cmd {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("CI has strace for this test: ", err)
		}
		skip(t, "strace is not installed")
	}
	cmd := vbotCommand(t, dir, args...)
	cmd.Args = []string{"strace", "-f", "-qq", "-o", filepath.Join(t.TempDir(), "trace"), "-e", "trace=linkat,renameat,unlinkat"}
	for fault := range strings.FieldsSeq(faults) {
		cmd.Args = append(cmd.Args, "-e", "inject="+fault)
	}
	cmd.Args = append(append(cmd.Args, cmd.Path), args...)
	cmd.Path = strace
	return cmd
}

// What a login leaves that is killed before it moves the token to its place, only the
// user can read.
func TestKilledLogin(t *testing.T) {
	s := newStandin(t).want("GET /v1/organizations")
	dir := t.TempDir()
	cmd := injected(t, dir, "renameat:error=EIO:signal=KILL", "cloud", "login")
	cmd.Env = append(cmd.Env, "VBOT_API_URL="+s.URL, "VBOT_CONFIG="+filepath.Join(dir, "config.json"))
	cmd.Stdin = strings.NewReader(testToken)
	out, err := cmd.CombinedOutput()
	left, globErr := filepath.Glob(filepath.Join(dir, ".config.json.vbot-*"))
	if err == nil || globErr != nil || len(left) != 1 || !strings.Contains(readTree(t, dir)[filepath.Base(left[0])], testToken) {
		t.Fatalf("%v, left: %q\n%s", err, readTree(t, dir), out)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A file is taken back, too, if it is in place and its temporary name cannot be
// removed; or it is named.
func TestTemporaryFileThatStays(t *testing.T) {
	dir := t.TempDir()
	// The first removal of each thread fails, and an undo may be in another thread.
	out, err := injected(t, dir, "unlinkat:error=EIO:when=1", initArgs()...).CombinedOutput()
	left := readTree(t, dir)
	if err == nil || strings.Contains(string(out), "; nothing was written\n") != (len(left) == 0) {
		t.Errorf("%v, left: %q\n%s", err, left, out)
	}
	_, named, _ := strings.Cut(string(out), "could not be removed: ")
	for name := range left {
		if !strings.Contains("\n"+named, "\n"+filepath.Base(name)+": input/output error") {
			t.Errorf("%s is left, which nothing says:\n%s", name, out)
		}
	}
}

// Where the file system has no hard links, files are renamed into place, and one
// that appears in the meantime is not overwritten.
func TestNoHardLinks(t *testing.T) {
	whole := t.TempDir()
	vbot(t, whole, initArgs()...).wantCode(t, 0)
	dir := t.TempDir()
	if out, err := injected(t, dir, "linkat:error=EPERM", initArgs()...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !equalTrees(readTree(t, whole), readTree(t, dir)) {
		t.Errorf("the files differ:\n%s", listing(t, dir))
	}
	put(t, dir, "target/AGENTS.md", "mine")
	if out, err := injected(t, dir, "linkat:error=EPERM", initArgs("--overwrite-guide")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !equalTrees(readTree(t, whole), readTree(t, dir)) {
		t.Errorf("the guide was not replaced:\n%s", listing(t, dir))
	}

	for _, when := range []string{"linkat:error=EPERM:delay_enter=1s", "linkat:error=EPERM renameat:delay_enter=1s"} {
		dir := t.TempDir()
		cmd := injected(t, dir, when+":when=1", initArgs()...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for len(readTree(t, dir)) == 0 { // until the first file is written under its temporary name
			time.Sleep(time.Millisecond)
		}
		// Whoever creates it first keeps it.
		mine, err := os.OpenFile(filepath.Join(dir, "target/.gitignore"), os.O_CREATE|os.O_EXCL, 0o644)
		mine.Close()
		cmd.Wait()
		want := 0
		if err == nil {
			want = 1
		}
		if tree := readTree(t, dir); cmd.ProcessState.ExitCode() != want || err == nil && (len(tree) != 1 || tree["target/.gitignore"] != "") {
			t.Errorf("%s: exit code %d, want %d; left: %q", when, cmd.ProcessState.ExitCode(), want, tree)
		}
	}
}
