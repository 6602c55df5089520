package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"

	"vbot/internal/files"
)

// existing describes what exists at a path below the target.
type existing struct {
	at   string // the path, or a parent that is not a directory; "" if nothing exists
	mode fs.FileMode
	size int64  // in bytes
	hash string // SHA-256 of a regular file in hex, "" if it is too large or cannot be read
	data []byte
}

// look returns what exists at a path below the target. It follows no link, and opens only regular files: a
// link may lead anywhere, and a pipe may never end.
func (t *Target) look(name string) (found existing, err error) {
	root := t.dirs["."]
	if root == nil {
		return existing{}, nil
	}
	for _, at := range append(parents(name), name) {
		info, err := root.Lstat(at)
		if err != nil {
			return existing{}, ignoreMissing(err)
		}
		if found = (existing{at: at, mode: info.Mode(), size: info.Size()}); !info.IsDir() {
			break
		}
	}
	if found.at == name && found.mode.IsRegular() {
		found.hash, found.data, err = inspect(root, name)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return found, err
}

// examine looks at a file that the plan may write, and notes its directory, where Apply removes temporary
// files. The error is a *report.Failure that names the file.
func (p *Plan) examine(t *Target, name string) (existing, error) {
	p.noteDir(name)
	found, err := t.look(name)
	if err != nil {
		return found, ioFailure("reading "+t.path(name), err)
	}
	return found, nil
}

// maxSize is the size of the largest file that is read, in bytes. All that vbot writes is smaller.
const maxSize = 1 << 20

// inspect returns the SHA-256 of a file in hex, and its content; "" and nil if it is larger than maxSize.
func inspect(root *os.Root, name string) (hash string, data []byte, err error) {
	f, err := root.Open(name)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	data, err = files.Read(f, maxSize)
	if _, ok := errors.AsType[*files.TooLargeError](err); ok {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	return hexSum(data), data, nil
}

// ignoreMissing returns err, but nil if it says that a file does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// hexSum returns the SHA-256 of data in hex.
func hexSum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// parents returns the directories above a slash-separated path, outermost first.
func parents(name string) (dirs []string) {
	for i, r := range name {
		if r == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}

// typeName returns the type of a file for messages.
func typeName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "link"
	case m.IsRegular():
		return "file"
	}
	return "device or pipe"
}
