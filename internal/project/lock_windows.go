package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// lock keeps other runs of vbot from writing below root until it is closed or the process ends, even if it is
// killed: then Windows removes the file. The error is errLocked if another run has the lock; any other error
// says why locking is impossible.
func lock(root *os.Root) (io.Closer, error) {
	const deleteOnClose = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE
	f, err := root.OpenFile(".vbot.lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL|deleteOnClose, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, errLocked
	case err != nil:
		return nil, err
	}
	return f, nil
}
