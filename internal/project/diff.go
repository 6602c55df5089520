package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
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
	lines, ok := compareLines(linesOf(before), linesOf(after))
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

// linesOf returns the lines of a file, with their line ends.
func linesOf(data []byte) []string { return slices.Collect(strings.Lines(string(data))) }

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

// A change is what a file has instead of the lines [from, to) of the file that it was made of.
type change struct {
	from, to int
	lines    []string
	at       int // the index of its first line, or of the line after it
}

// changes returns in order what became of a in b. It reports false if finding out would take
// too long.
func changes(a, b []string) (list []change, ok bool) {
	lines, ok := compareLines(a, b)
	i, j, inside := 0, 0, false
	for _, l := range lines {
		if l.sign == ' ' {
			i, j, inside = i+1, j+1, false
			continue
		}
		if !inside {
			list, inside = append(list, change{from: i, to: i, at: j}), true
		}
		if c := &list[len(list)-1]; l.sign == '-' {
			i, c.to = i+1, c.to+1
		} else {
			j, c.lines = j+1, append(c.lines, l.text)
		}
	}
	return list, ok
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
