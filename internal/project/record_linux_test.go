package project

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"vbot/internal/filetest"
	"vbot/internal/report"
)

// unprivileged runs f as a user for whom permissions count: root may read everything.
func unprivileged(t *testing.T, dir string, f func()) {
	t.Helper()
	runtime.LockOSThread() // Setfsuid is for one thread
	defer runtime.UnlockOSThread()
	user := os.Geteuid()
	if user == 0 {
		user = 65534
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := syscall.Setfsuid(user); err != nil {
		t.Fatal(err)
	}
	f()
	syscall.Setfsuid(os.Geteuid())
}

// An unreadable record is an I/O error, and not an invalid record.
func TestUnreadableRecord(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, RecordName, "{}")
	if err := os.Chmod(filepath.Join(dir, RecordName), 0); err != nil {
		t.Fatal(err)
	}
	target, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	unprivileged(t, dir, func() { _, err = target.Record(nil) })
	if report.As(err).Code != report.IO {
		t.Errorf("the record: %v", err)
	}
}

// An unreadable file is a conflict in a new project, and counts as edited in an update.
func TestUnreadableFile(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "a", "mine")
	if err := os.Chmod(filepath.Join(dir, "a"), 0); err != nil {
		t.Fatal(err)
	}
	target, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	unprivileged(t, dir, func() {
		p, err := target.PlanCreate(map[string][]byte{"a": nil, "b": nil}, false, nil)
		if err != nil || len(p.Conflicts) != 1 ||
			p.Conflicts[0].Message != "exists, and is unreadable or larger than 1 MiB" {
			t.Errorf("a new project: %+v, %v", p, err)
		}
		was := &Record{Files: map[string]string{"a": hexSum([]byte("mine"))}}
		p, err = target.PlanUpdate(updateTo(t, map[string][]byte{"a": []byte("x")}, was))
		if err != nil || p.Steps[0].Path != "a" || p.Steps[0].State != Pending || p.Steps[0].Before != "" {
			t.Errorf("an old one: %+v, %v", p, err)
		}
	})
}

// A pipe in the place of a base is a conflict that names it. It is not opened, which would wait forever.
func TestPipeInPlaceOfABase(t *testing.T) {
	files := texts{"a.py": "1\n2\n3\n"}
	f := newFolder(t, "0.1.0", files)
	base := basePath(hexSum([]byte(files["a.py"])))
	at := filepath.Join(f.dir, filepath.FromSlash(base))
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at, 0o644); err != nil {
		t.Fatal(err)
	}
	target, err := Lock(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	was, err := target.Record([]string{"a.py"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := target.PlanUpdate(updateTo(t, files.bytes(), was))
	if err != nil {
		t.Fatal(err)
	}
	want := base + ": a device or pipe is in the way of a file of vbot"
	if len(p.Conflicts) != 1 || p.Conflicts[0].Line() != want {
		t.Error(p.Conflicts)
	}
}
