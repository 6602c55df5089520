package project

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vbot/internal/filetest"
)

// merge3 finds conflicts in the same files as `git merge-file`, and merges the others to the same bytes. The
// files are small and have few distinct lines, so that many of them can be aligned in more than one way.
func TestMergesAsGitDoes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	clean := 0
	for n := range filetest.Rounds(300, 20000) {
		base := randomFile(rng, nil)
		mine, theirs := randomFile(rng, base), randomFile(rng, base)
		for name, data := range map[string][]byte{"base": base, "mine": mine, "theirs": theirs} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(git, "merge-file", "-p", "-q", "mine", "base", "theirs")
		cmd.Dir = dir
		want, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() > 127) {
			t.Fatal(err)
		}
		got, ok := merge3(base, mine, theirs, "1.2.3")
		if !ok || (err == nil) != (len(got.conflicts) == 0) || err == nil && !bytes.Equal(got.text, want) {
			t.Errorf("seed %d, round %d:\nbase %q\nmine %q\ntheirs %q", seed, n, base, mine, theirs)
			t.Fatalf("git: %v\n%q\nvbot: conflicts %d\n%q", err, want, got.conflicts, got.text)
		}
		if err == nil {
			clean++
		}
	}
	t.Logf("%d merged", clean)
}

// randomFile returns a file of some random lines or, if there is a base, base with random edits.
func randomFile(rng *rand.Rand, base []byte) []byte {
	words := []string{"a", "b", "c", "", ")", "    )", "def f():", "return x"}
	some := words[:2+rng.IntN(len(words)-1)]
	line := func() string { return some[rng.IntN(len(some))] + "\n" }
	var lines []string
	if base == nil {
		for range rng.IntN(40) {
			if rng.IntN(3) == 0 {
				lines = append(lines, fmt.Sprintf("line %d\n", len(lines)))
			} else {
				lines = append(lines, line())
			}
		}
		return []byte(strings.Join(lines, ""))
	}
	lines = linesOf(base)
	for range rng.IntN(5) {
		at := rng.IntN(len(lines) + 1)
		end := min(len(lines), at+rng.IntN(4))
		var with []string
		for range rng.IntN(4) {
			with = append(with, line())
		}
		lines = append(append(append([]string{}, lines[:at]...), with...), lines[end:]...)
	}
	return []byte(strings.Join(lines, ""))
}
