package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"vbot/internal/report"
)

// maxFileName is the maximum length of a file name on common systems, in bytes.
const maxFileName = 255

// Suggest suggests a directory for the project: dir itself if it contains only
// hidden files, otherwise a new directory in it.
func Suggest(dir string) string {
	entries, _ := os.ReadDir(dir)
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		return "."
	}
	name := "my-bot"
	for n := 2; Has(dir, name); n++ {
		name = fmt.Sprintf("my-bot-%d", n)
	}
	return name
}

// Describe describes what is at dir. It returns an error if a project cannot go
// there, and changes nothing.
func Describe(dir string) (note string, err error) {
	root, err := openTarget(dir)
	if err != nil {
		return "", err
	}
	if root == nil {
		up := dir
		for _, err := os.Stat(up); err != nil; _, err = os.Stat(up) {
			if len(filepath.Base(up)) > maxFileName {
				return "", ioFailure("creating "+dir, errors.New("file name too long"))
			}
			up = filepath.Dir(up)
		}
		if err := writable(up); err != nil {
			return "", ioFailure("creating "+dir, err)
		}
		return "a new directory", nil
	}
	root.Close()
	if err := writable(dir); err != nil {
		return "", ioFailure("writing to "+dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", ioFailure("reading "+dir, err)
	}
	if _, err := os.Readlink(dir); err == nil {
		note = "a link to a directory; "
	}
	if len(entries) == 0 {
		return note + "an empty directory", nil
	}
	var names []string
	for _, e := range entries[:min(len(entries), 3)] {
		names = append(names, strings.Join(strings.Fields(e.Name()), " "))
	}
	if more := len(entries) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return note + "contains " + strings.Join(names, ", ") + "; existing files are not overwritten", nil
}

// BotName is the file of a project that every bot has.
const BotName = "server/bot.py"

// Has reports whether dir has a file of this name, which has slashes.
func Has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// openTarget opens dir, or returns nil if it does not exist yet.
func openTarget(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, obstacle(dir)
	}
	if err != nil {
		return nil, ioFailure("reading "+dir, err)
	}
	if !info.IsDir() {
		return nil, inTheWay(dir, "a "+typeName(info.Mode())+", not a directory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, ioFailure("opening "+dir, err)
	}
	return root, nil
}

// obstacle returns the error if dir, which does not exist, cannot be made: it or
// something above it is a link that leads nowhere or not a directory.
func obstacle(dir string) error {
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err == nil && info.IsDir() {
			return nil
		}
		if err == nil {
			return inTheWay(d, "a "+typeName(info.Mode())+", not a directory")
		}
		if _, err := os.Lstat(d); err == nil {
			return inTheWay(d, "a dangling link")
		}
	}
	return nil
}

func inTheWay(dir, what string) error {
	return &report.Failure{Code: report.Conflict, Message: fmt.Sprintf("%s is %s; nothing was written", dir, what)}
}

// ioFailure says what was attempted, and that nothing was written.
func ioFailure(attempt string, err error) error {
	if f, ok := errors.AsType[*report.Failure](err); ok {
		return f
	}
	cause := err
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	f := report.IOError(attempt, cause)
	f.Message += "; nothing was written"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		f.Hint = "free some space and run the same command again"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		f.Hint = "choose a directory that you can write to"
	case errors.Is(err, fs.ErrExist), errors.Is(err, errChanged):
		f.Hint = "another program wrote there at the same time; run the same command again"
	}
	return f
}

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
