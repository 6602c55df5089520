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
	return dir, err
}
