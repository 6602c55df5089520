//go:build unix

package project

import (
	"io"
	"os"
	"syscall"
)

// lock keeps other runs of vbot from writing below root until it is closed or the process ends, even if it is
// killed. It leaves no file. The error is errLocked if another run has the lock; any other error says why
// locking is impossible, as on file systems without locks. NFS cannot lock a directory.
func lock(root *os.Root) (io.Closer, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		dir.Close()
		return nil, errLocked
	}
	return unlocker{dir}, err
}

// An unlocker unlocks explicitly when it is closed. Closing the file is not enough: a child process
// has copies of all files until it executes its program, and the last copy holds the lock.
type unlocker struct{ *os.File }

func (u unlocker) Close() error {
	syscall.Flock(int(u.Fd()), syscall.LOCK_UN)
	return u.File.Close()
}
