package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFileName is the maximum length of a file name on common systems, in bytes.
const maxFileName = 255

// Suggest suggests a directory for the project: dir itself if it contains a project or only
// hidden files, otherwise a new directory in it.
func Suggest(dir string) string {
	entries, _ := os.ReadDir(dir)
	isVisible := func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }
	if Has(dir, RecordName) || !slices.ContainsFunc(entries, isVisible) {
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
	root, err := openRoot(dir)
	if err != nil {
		return "", err
	}
	if root == nil {
		return "a new directory", nil
	}
	root.Close()
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

// Writable returns an error if nothing can be created at dir, which need not exist. It tries,
// because permissions do not tell for a read-only file system, for /proc, or for root.
func Writable(dir string) error {
	up, attempt := dir, "writing to "
	for _, err := os.Stat(up); err != nil; _, err = os.Stat(up) {
		if len(filepath.Base(up)) > maxFileName {
			return ioFailure("creating "+dir, errors.New("file name too long"))
		}
		up, attempt = filepath.Dir(up), "creating "
	}
	made, err := os.MkdirTemp(up, ".vbot-*.tmp")
	if err == nil {
		err = os.Remove(made)
	}
	if err != nil {
		return ioFailure(attempt+dir, err)
	}
	return nil
}

// BotName is the file of a project that every bot has.
const BotName = "server/bot.py"

// Has reports whether dir has a file of this name, which has slashes.
func Has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}
