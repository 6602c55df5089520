//go:build unix

package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// own returns an error if the file belongs to another user.
func own(info fs.FileInfo) error {
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return errors.New("belongs to another user; set VBOT_CONFIG to a file of your own")
	}
	return nil
}

// private returns an error if other users own or can access a file.
func private(info fs.FileInfo) error {
	if err := own(info); err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("other users have access to the token in it (mode %04o); run chmod 600 on it", mode)
	}
	return nil
}
