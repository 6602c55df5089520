package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const maxSettings = 64 << 10

// Settings are what login stores.
type Settings struct {
	Token        string `json:"token"`
	Organization string `json:"organization,omitempty"`
}

// A File holds settings.
type File struct {
	Path string
	Own  bool         // its directory is for it alone
	Note func(string) // tells the person that others could read it
}

// DefaultPath is where the settings are if nothing else is said.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "vbot", "config.json"), err
}

// Read reads the file; what is missing is empty.
func (f File) Read() (Settings, error) {
	file, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	if err != nil {
		return Settings{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSettings+1))
	if err != nil {
		return Settings{}, err
	}
	var s *Settings
	// The decoder's own words may quote the file, and so the token.
	if len(data) > maxSettings || json.Unmarshal(data, &s) != nil || s == nil ||
		s.Organization != "" && !IsSegment(s.Organization) {
		return Settings{}, errors.New("is not a file that `vbot cloud login` wrote; sign in again to replace it")
	}
	s.Token = strings.TrimRight(s.Token, "\r\n")
	f.closeToOthers(f.Path, 0o600)
	if f.Own {
		f.closeToOthers(filepath.Dir(f.Path), 0o700)
	}
	return *s, nil
}

// closeToOthers takes away what others may do with the file or directory.
func (f File) closeToOthers(path string, mode fs.FileMode) {
	info, err := os.Stat(path)
	if runtime.GOOS == "windows" || err != nil || info.Mode().Perm()&^mode == 0 {
		return
	}
	if err := os.Chmod(path, mode); err != nil {
		f.Note(fmt.Sprintf("warning: other users can access %s, and its mode cannot be changed: %v", path, errors.Unwrap(err)))
		return
	}
	f.Note(fmt.Sprintf("other users had access to %s; its mode is now %04o", path, mode))
}

// Write stores the settings: beside the file, then by renaming.
func (f File) Write(s Settings) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if f.Own {
		f.closeToOthers(dir, 0o700)
	}
	tmp, err := os.CreateTemp(dir, ".config-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // no-op after the rename
	_, err = tmp.Write(append(data, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.Path)
}

// Remove removes the file, and says whether it was there.
func (f File) Remove() (bool, error) {
	err := os.Remove(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
