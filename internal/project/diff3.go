package project

import (
	"slices"
	"strings"
)

// A merged file has the edits of its owner and the changes of vbot.
type merged struct {
	// text has, where edits and changes conflict, both between markers.
	text []byte
	// conflicts are the line numbers, from 1, at which conflicts begin in the owner's file.
	conflicts []int
}

// The markers around and between the two texts of a conflict, as Git writes them.
const (
	markBegin  = "<<<<<<< " // and a name of the first text
	markMine   = markBegin + "yours"
	markMiddle = "======="
	markEnd    = ">>>>>>> "        // and a name of the second text
	markTheirs = markEnd + "vbot " // and a version
)

// merge3 returns mine with the changes from base to theirs, by the rules of `git merge-file` (diff3):
// changes conflict where they overlap or touch, one unchanged line separates them, and equal changes
// count once. What the lines mean makes no difference. mine is the owner's text and theirs is vbot's, with
// its version for the markers. merge3 reports false if comparing would take too long.
func merge3(base, mine, theirs []byte, version string) (m merged, ok bool) {
	baseLines, mineLines, theirLines := linesOf(base), linesOf(mine), linesOf(theirs)
	edits, ok := changes(baseLines, mineLines)
	updates, fits := changes(baseLines, theirLines)
	if !ok || !fits {
		return merged{}, false
	}
	var out []string
	done := 0 // lines of mine that are in out
	for _, r := range regions(edits, updates) {
		out = append(out, mineLines[done:r.mine.start]...)
		done = r.mine.end
		yours, vbots := mineLines[r.mine.start:r.mine.end], theirLines[r.theirs.start:r.theirs.end]
		if !r.conflict || slices.Equal(yours, vbots) {
			out = append(out, vbots...)
			continue
		}
		lines, before := conflictLines(yours, vbots, version)
		m.conflicts = append(m.conflicts, r.mine.start+before+1)
		out = append(out, lines...)
	}
	m.text = []byte(strings.Join(append(out, mineLines[done:]...), ""))
	return m, true
}

// conflictLines returns two different texts between markers. Lines that both begin or end with are outside;
// before is the number of those above the markers.
func conflictLines(yours, vbots []string, version string) (lines []string, before int) {
	shorter := min(len(yours), len(vbots))
	for before < shorter && yours[before] == vbots[before] {
		before++
	}
	after := 0
	for after < shorter-before && yours[len(yours)-1-after] == vbots[len(vbots)-1-after] {
		after++
	}
	end := len(yours) - after
	lines = slices.Concat(
		yours[:before],
		[]string{markMine + "\n"},
		ended(yours[before:end]),
		[]string{markMiddle + "\n"},
		ended(vbots[before:len(vbots)-after]),
		[]string{markTheirs + version + "\n"},
		yours[end:],
	)
	return lines, before
}

// ended returns the lines, with a line end after the last one.
func ended(lines []string) []string {
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		return append(slices.Clone(lines[:n-1]), lines[n-1]+"\n")
	}
	return lines
}

// A span is a range of lines, [start, end).
type span struct{ start, end int }

// A region has the lines of all three files where theirs differs from base, and mine perhaps as well.
type region struct {
	base, mine, theirs span
	conflict           bool // mine differs from base, too, and otherwise than theirs
}

// regions returns, in order, the regions of mine that need changes from theirs. Changes that are only
// in mine, or the same in both, need nothing.
func regions(mine, theirs []change) (list []region) {
	// add adds a region, or joins it with the last one if they touch.
	add := func(r region, ofMine bool) {
		if n := len(list); n > 0 {
			last := &list[n-1]
			if r.mine.start <= last.mine.end || r.theirs.start <= last.theirs.end {
				last.conflict = last.conflict || r.conflict || ofMine
				last.base.end, last.mine.end, last.theirs.end = r.base.end, r.mine.end, r.theirs.end
				return
			}
		}
		if !ofMine {
			list = append(list, r)
		}
	}
	toMine, toTheirs := 0, 0 // what to add to an index of base, after the changes so far
	for len(mine) > 0 || len(theirs) > 0 {
		var m, t change
		switch {
		case len(theirs) == 0 || len(mine) > 0 && mine[0].to < theirs[0].from:
			m, mine = mine[0], mine[1:]
			add(region{
				base:   span{m.from, m.to},
				mine:   span{m.at, m.end()},
				theirs: span{m.from + toTheirs, m.to + toTheirs},
			}, true)
			toMine = m.end() - m.to
			continue
		case len(mine) == 0 || theirs[0].to < mine[0].from:
			t, theirs = theirs[0], theirs[1:]
			add(region{
				base:   span{t.from, t.to},
				mine:   span{t.from + toMine, t.to + toMine},
				theirs: span{t.at, t.end()},
			}, false)
			toTheirs = t.end() - t.to
			continue
		}
		m, t = mine[0], theirs[0]
		if equal := m.from == t.from && m.to == t.to && slices.Equal(m.lines, t.lines); !equal {
			from, to := min(m.from, t.from), max(m.to, t.to)
			add(region{
				base:     span{from, to},
				mine:     span{m.at - (m.from - from), m.end() + (to - m.to)},
				theirs:   span{t.at - (t.from - from), t.end() + (to - t.to)},
				conflict: true,
			}, false)
		}
		if m.to >= t.to {
			theirs, toTheirs = theirs[1:], t.end()-t.to
		}
		if t.to >= m.to {
			mine, toMine = mine[1:], m.end()-m.to
		}
	}
	return list
}
