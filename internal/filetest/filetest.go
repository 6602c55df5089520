// Package filetest has helpers for tests that create files and compare directories.
package filetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	dirs  sync.Map     // the directory of each test
	fresh atomic.Int64 // how many paths Fresh has returned
)

// Dir returns a temporary directory of the test, the same one each time: creating one may take longer than
// the rest of a test.
func Dir(t testing.TB) string {
	t.Helper()
	if dir, ok := dirs.Load(t); ok {
		return dir.(string)
	}
	dir, loaded := dirs.LoadOrStore(t, t.TempDir())
	if !loaded {
		t.Cleanup(func() { dirs.Delete(t) })
	}
	return dir.(string)
}

// Fresh returns a path in Dir at which nothing exists.
func Fresh(t testing.TB) string {
	t.Helper()
	return filepath.Join(Dir(t), strconv.FormatInt(fresh.Add(1), 10))
}

// Put writes a file below dir, and creates the folders above it. Only its owner can read a .env.
func Put(t testing.TB, dir, name, data string) {
	t.Helper()
	path, mode := filepath.Join(dir, name), fs.FileMode(0o644)
	if filepath.Ext(path) == ".env" {
		mode = 0o600
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(data), mode))
	if err != nil {
		t.Fatal(err)
	}
}

// Link creates a symbolic link called at to the path to. It skips the test under Wine, which has no links.
func Link(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(at)
	isLink := err == nil && info.Mode().Type() == fs.ModeSymlink
	if runtime.GOOS == "windows" && !isLink {
		t.Skip("Wine makes no links")
	}
}

// Tree returns the contents of all files below dir, by path with slashes. That of a link is "link to " and
// its target. Tree is empty if dir does not exist.
func Tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			tree[rel] = "link to " + to
			return err
		}
		data, err := os.ReadFile(path)
		tree[rel] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return tree
}

// Listing returns a line for dir and each path below it: its type, and the SHA-256 of a file or a link's
// target.
func Listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		if d.Name() == ".vbot.lock" { // on Windows, while a run has it
			return nil
		}
		b.WriteString(d.Type().String() + " " + path)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(" " + Sum(string(data)))
		} else if to, err := os.Readlink(path); err == nil {
			b.WriteString(" -> " + to)
		}
		b.WriteString("\n")
		return nil
	})
	return b.String()
}

// Cases plays the cases of a text file. Each begins with a line `=== ` and what it is about. play gets the
// other lines of a case, reads its input from them, and returns them as they should be. With update, Cases
// writes these to the file.
func Cases(t *testing.T, file string, update bool, play func(lines string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var updated []string
	for _, section := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		about, lines, _ := strings.Cut(section, "\n")
		want := strings.TrimSpace(lines) + "\n"
		got := play(want)
		updated = append(updated, "=== "+about+"\n"+got)
		if got != want && !update {
			t.Errorf("%s:\n%s\nwant\n%s", about, got, want)
		}
	}
	if update {
		if err := os.WriteFile(file, []byte(strings.Join(updated, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Thorough reports whether tests are to try all cases instead of a sample: VBOT_TEST_THOROUGH is set.
func Thorough() bool { return os.Getenv("VBOT_TEST_THOROUGH") != "" }

// Rounds returns the number of random inputs for a test: sample or, if tests are thorough, all.
func Rounds(sample, all int) int {
	if Thorough() {
		return all
	}
	return sample
}

// Sum returns the SHA-256 of data in hex.
func Sum(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }
