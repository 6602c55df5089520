//go:build unix

package project

import (
	"syscall"
	"testing"
)

// Closing a target unlocks it, even while a process that is being started has a copy of the lock's file.
func TestUnlockedWhileAProcessStarts(t *testing.T) {
	dir := t.TempDir()
	target, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(target.lock.(unlocker).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if _, err := Lock(dir); err == nil {
		t.Error("two have the lock")
	}
	target.Close()
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
