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

// Suggest suggests a directory for the project: dir itself, as ".", if it contains a project or only hidden
// files, otherwise the name of a new directory in it.
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

// Describe describes what is at dir, for people. The error is a *report.Failure if a project cannot be
// written there.
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

// Writable returns a *report.Failure if nothing can be created at dir, which need not exist. It creates and
// removes a directory, because permissions say nothing about a read-only file system, /proc, or root.
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

// BotName is the path of the file that every bot has.
const BotName = "server/bot.py"

// Has reports whether there is anything, also a dangling link, at a path below dir. name has slashes.
func Has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}
