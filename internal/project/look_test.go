package project

import (
	"strings"
	"testing"

	"vbot/internal/filetest"
)

// Reading stops at the limit, even if the file was smaller when its size was checked.
func TestInspectALargeFile(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "a", strings.Repeat("x", maxSize+1))
	target, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if hash, data, err := inspect(target.dirs["."], "a"); hash != "" || data != nil || err != nil {
		t.Errorf("%q, %d bytes, %v", hash, len(data), err)
	}
}
