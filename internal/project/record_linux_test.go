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

// A record that may not be read is not a broken one.
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
	// Root may read all. As another user, this thread may not.
	runtime.LockOSThread()
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
	_, err = target.Record()
	syscall.Setfsuid(os.Geteuid())
	if report.As(err).Code != report.IO {
		t.Errorf("the record: %v", err)
	}
}
