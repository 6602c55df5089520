package project

import (
	"fmt"
	"slices"
	"strings"
)

// A diffLine is a line of one or both files: ' ' in both, '-' in the old one, '+' in the
// new one. Its text ends in a newline, but for the last one of some files.
type diffLine struct {
	sign byte
	text string
}

// maxCells bounds the time and memory to compare two files: 16 MiB for two of 2,000 lines.
// No file that vbot writes has 1,000.
const maxCells = 4 << 20

// unified returns the shortest unified diff from before to after, for `patch -p1`. The
// bytes are as in the files, which differ; nil means no file. Files that take too long to
// compare are only named.
func unified(name string, before, after []byte) string {
	from, to := "a/"+name, "b/"+name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	lines, ok := compareLines(slices.Collect(strings.Lines(string(before))), slices.Collect(strings.Lines(string(after))))
	switch {
	case !ok:
		return fmt.Sprintf("%s and %s differ, in too many lines to list\n", from, to)
	case len(lines) == 0: // a head alone would mislead patch; vbot writes no empty file
		return fmt.Sprintf("%s and %s differ: only one of them exists, and it is empty\n", from, to)
	}
	shown := make([]bool, len(lines)) // up to three lines around each change
	for i, l := range lines {
		for j := max(0, i-3); l.sign != ' ' && j < min(len(lines), i+4); j++ {
			shown[j] = true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for i, old, new := 0, 0, 0; i < len(lines); { // old and new are the lines so far
		if !shown[i] {
			i, old, new = i+1, old+1, new+1
			continue
		}
		var hunk strings.Builder
		n, m := 0, 0
		for ; i < len(lines) && shown[i]; i++ {
			hunk.WriteString(string(lines[i].sign) + lines[i].text)
			if !strings.HasSuffix(lines[i].text, "\n") {
				hunk.WriteString("\n\\ No newline at end of file\n")
			}
			if lines[i].sign != '+' {
				n++
			}
			if lines[i].sign != '-' {
				m++
			}
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", old+min(n, 1), n, new+min(m, 1), m, &hunk)
		old, new = old+n, new+m
	}
	return b.String()
}

// compareLines returns the lines of both files in order, with as few changes as there
// can be. It reports false if that would take too long.
func compareLines(a, b []string) (lines []diffLine, ok bool) {
	if (len(a)+1)*(len(b)+1) > maxCells {
		return nil, false
	}
	// same[i][j] is the most lines that a[i:] and b[j:] can have in common.
	same := make([][]int32, len(a)+1)
	same[len(a)] = make([]int32, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		same[i] = make([]int32, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); a[i] == b[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && same[i+1][j] >= same[i][j+1]:
			lines = append(lines, diffLine{'-', a[i]})
			i++
		default:
			lines = append(lines, diffLine{'+', b[j]})
			j++
		}
	}
	return lines, true
}
