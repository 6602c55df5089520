package project

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// merge merges the changes of this version into an edited file. If that is impossible, the file is a
// conflict.
func (u *updatePlanner) merge(s *Step) {
	mine := withLF(s.found)
	if line := markersAt(mine); line > 0 {
		s.Marked = line
		const unresolved = "it has conflict markers from line %d on: resolve them first"
		u.keepWithConflict(s, fmt.Sprintf(unresolved, line))
		return
	}
	base := s.base
	if s.isReadable() && u.hasChanges(s.Path, base, mine) {
		base = u.Rendered()[s.Path]
	}
	if base != nil && bytes.Equal(base, s.data) {
		s.Action = Kept
		return
	}
	s.State = Pending
	if !s.isReadable() {
		u.keepWithConflict(s, "it is no regular file of at most 1 MiB, so vbot's changes cannot be merged "+
			"into it")
		return
	}
	m, ok := merge3(base, mine, s.data, u.Now.Vbot) // without a base, everything that differs conflicts
	switch {
	case !ok:
		u.keepWithConflict(s, "too many lines differ to compare them")
	case len(m.conflicts) > 0:
		s.Why = "your edits conflict with vbot's changes at line " + lineNumbers(m.conflicts)
		if base == nil {
			s.Why = "its base in " + BaseDir + " is missing or damaged, so vbot cannot tell what you edited"
		}
		u.plan.conflict(s.Path, s.Why, m.conflicts...)
		s.Conflicts = m.conflicts
		s.replaceBy(m.text)
	case bytes.Equal(m.text, mine): // the file already has all changes
		s.State, s.Action = Edited, Kept
	default:
		s.Why = "your edits stay"
		s.replaceBy(m.text)
	}
}

// hasChanges reports whether a file already has all changes of the recorded configuration to its base: an
// update to that configuration merged the file before it was killed.
func (u *updatePlanner) hasChanges(name string, base, mine []byte) bool {
	rendered := u.Rendered()[name]
	if base == nil || rendered == nil || bytes.Equal(base, rendered) {
		return false
	}
	m, ok := merge3(base, mine, rendered, u.Now.Vbot)
	return ok && len(m.conflicts) == 0 && bytes.Equal(m.text, mine)
}

// replaceBy makes the step write a merged text, with the line ends of the existing file.
func (s *Step) replaceBy(text []byte) {
	if n := bytes.Count(s.found, crlf); n > 0 && n == bytes.Count(s.found, newline) {
		text = bytes.ReplaceAll(text, newline, crlf)
	}
	s.Action, s.data = Merged, text
}

// markersAt returns the number of the first line with a conflict marker, from 1, or 0. One of vbot's markers
// is enough; of Git's markers, the first and the last must be there.
func markersAt(text []byte) int {
	first, n := 0, 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		begins := strings.HasPrefix(line, markBegin)
		switch {
		case line == markMine, strings.HasPrefix(line, markTheirs):
			return cmp.Or(first, n)
		case begins && first == 0:
			first = n
		case strings.HasPrefix(line, markEnd) && first > 0:
			return first
		}
	}
	return 0
}

// withLinesOf returns the text, followed by the lines of before that it lacks: the files that Git ignored
// because of these may still exist, and must not be committed.
func withLinesOf(text, before []byte) []byte {
	has := linesOf(text)
	for _, line := range linesOf(before) {
		if strings.TrimSpace(line) != "" && !slices.Contains(has, line) {
			has = append(ended(has), line)
		}
	}
	return []byte(strings.Join(has, ""))
}

// lineNumbers returns the numbers as a list for people: "3, 17".
func lineNumbers(lines []int) string {
	var words []string
	for _, line := range lines {
		words = append(words, strconv.Itoa(line))
	}
	return strings.Join(words, ", ")
}
