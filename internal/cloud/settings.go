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

const maxSettings = 64 << 10 // bytes

// Settings are stored by login.
type Settings struct {
	Token        string `json:"token"`
	Organization string `json:"organization,omitempty"`
}

// A File is the file with the settings.
type File struct {
	Path string
	Own  bool         // its directory contains nothing else
	Note func(string) // tells the person about modes that were too open
}

// DefaultPath returns the default path of the settings.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "vbot", "config.json"), err
}

// Read reads the file. Missing settings are empty.
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
	// Do not return the decoder's error: it may quote the token.
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

// closeToOthers removes the permissions of other users.
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

// Write replaces the file atomically.
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

// Remove removes the file and reports whether it existed.
func (f File) Remove() (bool, error) {
	err := os.Remove(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
