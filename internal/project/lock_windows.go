package project

import (
	"io"
	"os"
)

// lock keeps other runs of vbot from writing below root until it is closed or the
// process ends, even if it is killed: then Windows removes the file. The error is
// fs.ErrExist if another run has the lock; any other error says why locking is impossible.
func lock(root *os.Root) (io.Closer, error) {
	const deleteOnClose = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE
	return root.OpenFile(".vbot.lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL|deleteOnClose, 0o644)
}
