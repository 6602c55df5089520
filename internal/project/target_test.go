package project

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"vbot/internal/filetest"
)

// While one run writes into a target, another one fails with a hint to try again, and leaves the directories
// that the first one made.
func TestTwoRunsAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "parent", "target")
	files := map[string][]byte{"a": []byte("ours"), "b/c": []byte("ours")}
	target, p := lockAndPlan(t, dir, files, false, nil)
	if other, err := Lock(dir); err == nil ||
		err.Error() != "another vbot is writing to "+dir+"; nothing was written" {
		t.Errorf("a second run beside the first: %v, %v", other, err)
	}
	if err := target.Apply(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	target.Close()
	target, p = lockAndPlan(t, dir, files, false, nil)
	if err := target.Apply(context.Background(), p); err != nil || p.Count(Unchanged) != 2 {
		t.Errorf("after the first run: %v, %v", err, p.Steps)
	}
}

// Closing a target into which nothing was written removes the directories that locking made.
func TestLockAlone(t *testing.T) {
	dir := t.TempDir()
	target, _ := lockAndPlan(t, filepath.Join(dir, "parent", "target"), nil, false, nil)
	target.Close()
	if left := filetest.Listing(t, dir); strings.Contains(left, "parent") {
		t.Errorf("left:\n%s", left)
	}
}

// A target that another program removed or replaced while it was opened is noticed.
func TestTargetThatIsReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open directory cannot be removed")
	}
	dir := filepath.Join(t.TempDir(), "target")
	target, _ := lockAndPlan(t, dir, nil, false, nil)
	if !target.isAt(dir) {
		t.Error("the target is not at its place")
	}
	for _, replace := range []func(string) error{
		os.Remove, func(dir string) error { return os.Mkdir(dir, 0o755) },
	} {
		if err := replace(dir); err != nil {
			t.Fatal(err)
		}
		if target.isAt(dir) {
			t.Error("another directory is taken for the target")
		}
	}
}

// If the last directory of a path cannot be created, its new parents are removed.
func TestTargetThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	target, err := Lock(filepath.Join(dir, "a", "b", strings.Repeat("x", 300)))
	if err == nil {
		target.Close()
	}
	if err == nil || Has(dir, "a") {
		t.Errorf("%v, left:\n%s", err, filetest.Listing(t, dir))
	}
}
