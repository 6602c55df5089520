//go:build unix

package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// lock keeps other runs of vbot from writing below root until it is closed or the
// process ends, even killed. It leaves no file. The error is fs.ErrExist if another run
// has the lock. File systems without locks go without.
func lock(root *os.Root) (io.Closer, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		dir.Close()
		return nil, fs.ErrExist
	}
	return dir, nil
}
