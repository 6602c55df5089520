//go:build unix

package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner returns an error if the file belongs to another user.
func checkOwner(info fs.FileInfo) error {
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return errors.New("belongs to another user; set VBOT_CONFIG to a file of your own")
	}
	return nil
}

// checkPrivate returns an error if other users own or can access a file.
func checkPrivate(info fs.FileInfo) error {
	if err := checkOwner(info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("other users have access to the token in it (mode %04o); run chmod 600 on it", mode)
	}
	return nil
}
