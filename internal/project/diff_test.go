package project

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vbot/internal/filetest"
)

// patched applies a unified diff of one file, as patch would without fuzz: each line must be where the diff
// says.
func patched(before []byte, diff string) ([]byte, error) {
	old := slices.Collect(strings.Lines(string(before)))
	lines := slices.Collect(strings.Lines(diff))
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return nil, fmt.Errorf("no head: %q", diff)
	}
	var out []string
	taken := 0 // of old
	for lines = lines[2:]; len(lines) > 0; {
		var start, n, to, m int
		if _, err := fmt.Sscanf(lines[0], "@@ -%d,%d +%d,%d @@\n", &start, &n, &to, &m); err != nil {
			return nil, fmt.Errorf("%q: %w", lines[0], err)
		}
		if n > 0 {
			start-- // the lines before it
		}
		if m > 0 {
			to--
		}
		if start < taken || start > len(old) {
			return nil, fmt.Errorf("%q after line %d of %d", lines[0], taken, len(old))
		}
		out, taken = append(out, old[taken:start]...), start
		if len(out) != to {
			return nil, fmt.Errorf("%q after line %d of the new file", lines[0], len(out))
		}
		for lines = lines[1:]; n > 0 || m > 0; lines = lines[1:] {
			if len(lines) == 0 {
				return nil, fmt.Errorf("a hunk is too short: %q", diff)
			}
			sign, text := lines[0][0], lines[0][1:]
			if len(lines) > 1 && lines[1][0] == '\\' {
				text = strings.TrimSuffix(text, "\n")
				lines = lines[1:]
			}
			if sign != '+' {
				if taken == len(old) || old[taken] != text {
					return nil, fmt.Errorf("line %d is not %q", taken+1, text)
				}
				taken, n = taken+1, n-1
			}
			if sign != '-' {
				out, m = append(out, text), m-1
			}
		}
	}
	return []byte(strings.Join(append(out, old[taken:]...), "")), nil
}

// The diff of any two files, applied to the first, gives the second.
func FuzzUnified(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nx\nc"))
	f.Add([]byte(""), []byte("\n"))
	f.Add([]byte("--- a\n+++ b\n@@ -1 +1 @@\n"), []byte("\\ No newline at end of file\n"))
	f.Add([]byte("a\r\nb\r\n"), []byte("a\nb\r\n\x00\xff"))
	f.Add([]byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), []byte("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if bytes.Equal(before, after) {
			return
		}
		diff := unified("x", before, after)
		if strings.HasSuffix(diff, " differ, in too many lines to list\n") {
			return
		}
		got, err := patched(before, diff)
		if err != nil || !bytes.Equal(got, after) {
			t.Errorf("%q to %q: %v, %q\n%s", before, after, err, got, diff)
		}
	})
}

// No diff has more changes than needed, and hunks have three lines around them.
func TestUnified(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := func() (b []byte) {
			for range rng.IntN(9) {
				b = append(b, "abc"[rng.IntN(3)], '\n')
			}
			return b
		}
		before, after := text(), text()
		if bytes.Equal(before, after) {
			continue
		}
		diff := unified("x", before, after)
		got, err := patched(before, diff)
		if err != nil || !bytes.Equal(got, after) {
			t.Fatalf("%q to %q: %v, %q\n%s", before, after, err, got, diff)
		}
		changes := strings.Count(diff, "\n-") + strings.Count(diff, "\n+") - 1 // the head
		if least := fewestChanges(string(before), string(after)); changes != least {
			t.Fatalf("%q to %q: %d changes, want %d\n%s", before, after, changes, least, diff)
		}
	}
	// Lines that are all there, but in the opposite order, take the longest to compare.
	var inOrder strings.Builder
	var backwards []byte
	for n := range 5000 {
		fmt.Fprintln(&inOrder, n)
		backwards = fmt.Appendln(backwards, 4999-n)
	}
	for _, c := range []struct {
		before, after []byte
		want          string
	}{
		{[]byte{}, nil, "a/x and /dev/null differ: only one of them exists, and it is empty\n"},
		{nil, []byte("a\n"), "--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n"},
		{[]byte("a"), nil, "--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"},
		{
			[]byte("a\n"), []byte("a"),
			"--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n",
		},
		{
			[]byte("1\n2\n3\n4\n5\n6\n7\n8\n"), []byte("1\n2\n3\n4\nfive\n6\n7\n8\n"),
			"--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
		},
		{backwards, []byte(inOrder.String()), "a/x and b/x differ, in too many lines to list\n"},
	} {
		if got := unified("x", c.before, c.after); got != c.want {
			t.Errorf("%.20q to %.20q:\n%s", c.before, c.after, got)
		}
	}
}

// fewestChanges returns the least number of lines, of two characters each, to remove from a or add to it.
func fewestChanges(a, b string) int {
	switch {
	case a == "" || b == "":
		return (len(a) + len(b)) / 2
	case a[:2] == b[:2]:
		return fewestChanges(a[2:], b[2:])
	}
	return 1 + min(fewestChanges(a[2:], b), fewestChanges(a, b[2:]))
}

// A file of up to 1 MiB is compared; a larger one is not read.
func TestDiffOfALargeFile(t *testing.T) {
	for size, want := range map[int]string{
		maxSize: "--- a/a\n+++ b/a\n@@ -1,1 +1,5 @@\n-xx",
		maxSize + 1: "a differs, but cannot be compared: it is not a regular file, is too large or cannot " +
			"be read\n",
	} {
		dir := t.TempDir()
		filetest.Put(t, dir, "a", strings.Repeat("x", size))
		_, p := updating(t, dir, map[string][]byte{"a": []byte("new")}, "a")
		if diff := p.Diff("", true); !strings.HasPrefix(diff, want) || len(p.Conflicts) != 1 {
			t.Errorf("%d bytes: %.200q", size, diff)
		}
	}
}
