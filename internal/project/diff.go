package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

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
	old := linesOf(before)
	list, ok := changes(old, linesOf(after))
	switch {
	case !ok:
		return fmt.Sprintf("%s and %s differ, in too many lines to list\n", from, to)
	case len(list) == 0: // a head alone would mislead patch; vbot writes no empty file
		return fmt.Sprintf("%s and %s differ: only one of them exists, and it is empty\n", from, to)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	write := func(sign string, lines []string) {
		for _, line := range lines {
			b.WriteString(sign + line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	const around = 3 // the lines to show before and after a change
	for len(list) > 0 {
		n := 1 // the changes of this hunk
		for n < len(list) && list[n].from-list[n-1].to <= 2*around {
			n++
		}
		first, last := list[0], list[n-1]
		start, end := max(0, first.from-around), min(len(old), last.to+around)
		at := first.at - (first.from - start) // where start is in the new file
		size, newSize := end-start, last.at+len(last.lines)+(end-last.to)-at
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", start+min(size, 1), size, at+min(newSize, 1), newSize)
		for _, c := range list[:n] {
			write(" ", old[start:c.from])
			write("-", old[c.from:c.to])
			write("+", c.lines)
			start = c.to
		}
		write(" ", old[start:end])
		list = list[n:]
	}
	return b.String()
}

// linesOf returns the lines of a file, with their line ends.
func linesOf(data []byte) []string { return slices.Collect(strings.Lines(string(data))) }

// A change is what a file has instead of the lines [from, to) of the file that it was made of.
type change struct {
	from, to int
	lines    []string
	at       int // the index of its first line, or of the line after it
}

// changes returns in order what became of a in b, with as few lines as there can be. It
// reports false if finding out would take too long.
func changes(a, b []string) (list []change, ok bool) {
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
	// A change ends at the next line in common. What it removes comes first: once skipping a[i]
	// would lose a line in common, a[i] is that line, and lines of b are skipped up to it.
	i, j := 0, 0
	differ := func() bool { return i == len(a) || j == len(b) || a[i] != b[j] }
	for i < len(a) || j < len(b) {
		if !differ() {
			i, j = i+1, j+1
			continue
		}
		c := change{from: i, at: j}
		for i < len(a) && differ() && (j == len(b) || same[i+1][j] >= same[i][j+1]) {
			i++
		}
		for j < len(b) && differ() {
			j++
		}
		c.to, c.lines = i, b[c.at:j]
		list = append(list, c)
	}
	return list, true
}

// merge returns mine with what became of base in theirs. Changes of both need room: a line
// between them that has a word and that nobody changed. Lines that stand for themselves, such
// as imports and all of a list, need only not be in the same place. Where changes lack room,
// meet has the numbers of these lines of mine, from 1. It reports false if comparing would
// take too long.
func merge(base, mine, theirs []byte, list bool) (merged []byte, meet []int, ok bool) {
	old := linesOf(base)
	ours, ok := changes(old, linesOf(mine))
	others, fits := changes(old, linesOf(theirs))
	if !ok || !fits {
		return nil, nil, false
	}
	alone := func(line string) bool {
		return list || strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "from ")
	}
	room := func(a, b change) bool {
		touched := slices.Concat(old[a.from:a.to], a.lines, old[b.from:b.to], b.lines)
		if !slices.ContainsFunc(touched, func(line string) bool { return !alone(line) }) {
			return a.to < b.from || a.to == b.from && (a.from < a.to || b.from < b.to)
		}
		return a.to < b.from && strings.ContainsFunc(strings.Join(old[a.to:b.from], ""), unicode.IsLetter)
	}
	var out []string
	var last [2]*change // of mine and of theirs
	end := 0            // of what is done in old
	for len(ours)+len(others) > 0 {
		side, from := 0, &ours
		if len(ours) == 0 || len(others) > 0 && cmp.Or(others[0].from-ours[0].from, others[0].to-ours[0].to) < 0 {
			side, from = 1, &others
		}
		c, other := &(*from)[0], last[1-side]
		*from, last[side] = (*from)[1:], c
		switch {
		case other != nil && other.from == c.from && other.to == c.to && slices.Equal(other.lines, c.lines):
			// both made it
		case other != nil && !room(*other, *c):
			meet = append(meet, last[0].at+1)
		case meet == nil:
			out, end = append(append(out, old[end:c.from]...), c.lines...), c.to
		}
	}
	if meet != nil {
		return nil, slices.Compact(meet), true
	}
	return []byte(strings.Join(append(out, old[end:]...), "")), nil, true
}
