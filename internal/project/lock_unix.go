//go:build unix

package project

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// lock keeps other runs of vbot from writing below root until it is closed or the
// process ends, even killed. It leaves no file. The error is fs.ErrExist if another run
// has the lock; any other says why there is none, as on file systems without locks. NFS
// locks no directory.
func lock(root *os.Root) (io.Closer, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		dir.Close()
		return nil, fs.ErrExist
	}
	return unlocker{dir}, err
}

// An unlocker unlocks when it is closed. A process that is being started has a copy of every
// file until it runs its program, and the lock is held until the last copy is closed.
type unlocker struct{ *os.File }

func (u unlocker) Close() error {
	syscall.Flock(int(u.Fd()), syscall.LOCK_UN)
	return u.File.Close()
}
