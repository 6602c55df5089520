package project

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Diff returns a patch from the existing files to the updated ones, with conflicts between markers. If only
// is not "", it has the file of that path alone. With check, it also has files that were deleted or cannot be
// merged.
func (p *Plan) Diff(only string, check bool) string {
	var b strings.Builder
	for _, s := range p.Steps {
		switch {
		case IsInternal(s.Path) || s.Path == RecordName || only != "" && s.Path != only:
		case s.Action == Created: // also a guide, which has no state
			b.WriteString(unified(s.Path, nil, s.data))
		case s.State == Unchanged || s.State == "":
		case s.State != Missing && s.Before == "":
			const why = "it is not a regular file, is too large or cannot be read"
			fmt.Fprintf(&b, "%s differs, but cannot be compared: %s\n", s.Path, why)
		case s.overwrites(), s.Action == Removed, check && (s.Action == Missing || s.State == Pending):
			b.WriteString(unified(s.Path, s.found, s.data))
		}
	}
	return b.String()
}

// unified returns the unified diff from before to after, for `patch -p1`. The two files must
// differ; nil means no file. Files that take too long to compare are only named.
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
	case len(list) == 0: // patch would misread a header without changes; vbot writes no empty file
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

// A change replaces the lines [from, to) of the old file by lines of the new one. Indices are from 0.
type change struct {
	from, to int
	lines    []string
	at       int // the index in the new file of its first line or, if it has none, of the next line
}

// end is the index of the line after the change.
func (c change) end() int { return c.at + len(c.lines) }

// changes returns the changes from a to b, in order. It reports false if finding them would take
// too long. It finds the same changes as git (2.39, xdiff: Myers's algorithm, with the same lines
// left out before it and the same alignment after it), so that merges are the same, too.
func changes(a, b []string) (list []change, ok bool) {
	x, y := newSides(a, b)
	x.leaveOut(y)
	y.leaveOut(x)
	d := &differ{a: x, b: y}
	for _, f := range []*frontier{&d.forward, &d.backward} {
		f.reached, f.middle = make([]int, len(a)+len(b)+3), len(b)+1
	}
	if !d.findChanges(0, len(x.kept), 0, len(y.kept)) {
		return nil, false
	}
	x.align(y)
	y.align(x)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if !x.changed[i] && !y.changed[j] {
			i, j = i+1, j+1
			continue
		}
		c := change{from: i, at: j}
		for x.changed[i] {
			i++
		}
		for y.changed[j] {
			j++
		}
		c.to, c.lines = i, b[c.at:j]
		list = append(list, c)
	}
	return list, true
}

// A side is one of two files that are compared.
type side struct {
	lines      []int // its lines; equal lines of both files have equal numbers
	count      []int // how often each distinct line is in the file
	changed    []bool
	start, end int   // the lines between the common beginning and the common end of both files
	kept       []int // the indices of the lines to compare
}

// newSides numbers the lines of both files.
func newSides(a, b []string) (x, y *side) {
	numbers := map[string]int{}
	number := func(lines []string) *side {
		// The last element is always false, and ends the last change.
		s := &side{changed: make([]bool, len(lines)+1)}
		for _, line := range lines {
			n, ok := numbers[line]
			if !ok {
				n = len(numbers)
				numbers[line] = n
			}
			s.lines = append(s.lines, n)
		}
		return s
	}
	x, y = number(a), number(b)
	for _, s := range []*side{x, y} {
		s.count = make([]int, len(numbers))
		for _, n := range s.lines {
			s.count[n]++
		}
	}
	shorter := min(len(a), len(b))
	start := 0
	for start < shorter && x.lines[start] == y.lines[start] {
		start++
	}
	end := 0
	for end < shorter-start && x.lines[len(a)-1-end] == y.lines[len(b)-1-end] {
		end++
	}
	x.start, x.end = start, len(a)-end
	y.start, y.end = start, len(b)-end
	return x, y
}

// How many lines of the other file equal a line.
const (
	unmatched = iota // none
	matched
	common // many: see leaveOut
)

// leaveOut chooses the lines to compare. Lines that are not in the other file are changed in any case.
// Frequent lines, such as blank ones, among these count as changed, too.
func (s *side) leaveOut(other *side) {
	many := 1 // about the square root of the number of lines
	for n := len(s.lines); n > 0; n >>= 2 {
		many <<= 1
	}
	many = min(many, 1024)
	kinds := make([]int, len(s.lines))
	for i := s.start; i < s.end; i++ {
		switch n := other.count[s.lines[i]]; {
		case n >= many:
			kinds[i] = common
		case n > 0:
			kinds[i] = matched
		}
	}
	for i := s.start; i < s.end; i++ {
		if kinds[i] == matched || kinds[i] == common && !amongUnmatched(kinds, i, s.start, s.end) {
			s.kept = append(s.kept, i)
		} else {
			s.changed[i] = true
		}
	}
}

// amongUnmatched reports whether the common line i is in a run of unmatched and common lines that are
// mostly unmatched, with unmatched lines on both sides of it.
func amongUnmatched(kinds []int, i, start, end int) bool {
	const window = 100 // lines to look at on each side
	run := func(step, limit int) (alone, shared int) {
		for at := i + step; at != limit && kinds[at] != matched; at += step {
			if distance := max(at-i, i-at); distance > window {
				break
			}
			if kinds[at] == unmatched {
				alone++
			} else {
				shared++
			}
		}
		return alone, shared
	}
	aloneBefore, sharedBefore := run(-1, start-1)
	aloneAfter, sharedAfter := run(1, end)
	if aloneBefore == 0 || aloneAfter == 0 {
		return false
	}
	alone, shared := aloneBefore+aloneAfter, sharedBefore+sharedAfter+2 // line i counts on both sides
	return 4*shared < shared+alone
}

// A differ finds the shortest edit script from a to b (Myers 1986, "An O(ND) Difference Algorithm and Its
// Variations", the linear refinement).
type differ struct {
	a, b              *side
	forward, backward frontier // of the search from the beginning, and from the end
}

// A frontier is how far a search has come on each diagonal. A diagonal is a difference of indices in a and b.
type frontier struct {
	reached   []int // the furthest index in a on each diagonal
	middle    int   // the index of diagonal 0 in reached
	low, high int   // the diagonals of the search so far
}

// on returns the furthest index in a on a diagonal.
func (f *frontier) on(diagonal int) *int { return &f.reached[f.middle+diagonal] }

// start begins a search at an index in a.
func (f *frontier) start(diagonal, index int) {
	f.low, f.high = diagonal, diagonal
	*f.on(diagonal) = index
}

// widen adds a diagonal at each end, or takes one away where it would be outside of [lowest, highest].
// unreached is the index in a of a diagonal that the search has not reached yet.
func (f *frontier) widen(lowest, highest, unreached int) {
	if f.low > lowest {
		f.low--
		*f.on(f.low - 1) = unreached
	} else {
		f.low++
	}
	if f.high < highest {
		f.high++
		*f.on(f.high + 1) = unreached
	} else {
		f.high--
	}
}

// has reports whether the search has reached a diagonal.
func (f *frontier) has(diagonal int) bool { return f.low <= diagonal && diagonal <= f.high }

// maxCost is the maximum number of removed and added lines; with more, comparing stops. vbot writes
// no file of 2,000 lines.
const maxCost = 4000

// same reports whether the kept lines i of a and j of b are equal.
func (d *differ) same(i, j int) bool {
	return d.a.lines[d.a.kept[i]] == d.b.lines[d.b.kept[j]]
}

// findChanges notes what is changed in the kept lines [a0, a1) and [b0, b1). It reports false if that
// would take too long.
func (d *differ) findChanges(a0, a1, b0, b1 int) bool {
	for a0 < a1 && b0 < b1 && d.same(a0, b0) {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.same(a1-1, b1-1) {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		for i := a0; i < a1; i++ {
			d.a.changed[d.a.kept[i]] = true
		}
		for j := b0; j < b1; j++ {
			d.b.changed[d.b.kept[j]] = true
		}
		return true
	}
	i, j, ok := d.split(a0, a1, b0, b1)
	return ok && d.findChanges(a0, i, b0, j) && d.findChanges(i, a1, j, b1)
}

// split returns a point on a shortest path through the box. It searches from both ends.
func (d *differ) split(a0, a1, b0, b1 int) (i, j int, ok bool) {
	lowest, highest := a0-b1, a1-b0 // the diagonals of the box
	first, last := a0-b0, a1-b1
	odd := (first-last)%2 != 0
	forward, backward := &d.forward, &d.backward
	forward.start(first, a0)
	backward.start(last, a1)
	for range maxCost {
		forward.widen(lowest, highest, -1)
		for k := forward.high; k >= forward.low; k -= 2 {
			i := max(*forward.on(k + 1), *forward.on(k - 1)+1)
			for i < a1 && i-k < b1 && d.same(i, i-k) {
				i++
			}
			*forward.on(k) = i
			if odd && backward.has(k) && *backward.on(k) <= i {
				return i, i - k, true
			}
		}
		backward.widen(lowest, highest, math.MaxInt)
		for k := backward.high; k >= backward.low; k -= 2 {
			i := min(*backward.on(k + 1)-1, *backward.on(k - 1))
			for i > a0 && i-k > b0 && d.same(i-1, i-k-1) {
				i--
			}
			*backward.on(k) = i
			if !odd && forward.has(k) && i <= *forward.on(k) {
				return i, i - k, true
			}
		}
	}
	return 0, 0, false
}

// A group is a run of changed lines, which may be empty: there is one between any two unchanged lines.
type group struct{ start, end int }

// next returns the group after the next unchanged line, and false if there is none.
func (s *side) next(g group) (group, bool) {
	if g.end == len(s.lines) {
		return g, false
	}
	n := group{g.end + 1, g.end + 1}
	for s.changed[n.end] {
		n.end++
	}
	return n, true
}

// previous returns the group before the previous unchanged line, and false if there is none.
func (s *side) previous(g group) (group, bool) {
	if g.start == 0 {
		return g, false
	}
	p := group{g.start - 1, g.start - 1}
	for p.start > 0 && s.changed[p.start-1] {
		p.start--
	}
	return p, true
}

// slideUp moves the group up by a line if that means the same: its last line equals the line above
// it. It joins the group that it then touches.
func (s *side) slideUp(g *group) bool {
	if g.start == 0 || s.lines[g.start-1] != s.lines[g.end-1] {
		return false
	}
	g.start, g.end = g.start-1, g.end-1
	s.changed[g.start], s.changed[g.end] = true, false
	for g.start > 0 && s.changed[g.start-1] {
		g.start--
	}
	return true
}

// slideDown is slideUp in the other direction.
func (s *side) slideDown(g *group) bool {
	if g.end == len(s.lines) || s.lines[g.start] != s.lines[g.end] {
		return false
	}
	s.changed[g.start], s.changed[g.end] = false, true
	g.start, g.end = g.start+1, g.end+1
	for s.changed[g.end] {
		g.end++
	}
	return true
}

// align moves each group down as far as possible, or to where the other file has a group, too, so
// that replaced lines are next to their replacement.
func (s *side) align(other *side) {
	first := func(s *side) (g group) {
		for s.changed[g.end] {
			g.end++
		}
		return g
	}
	g, o := first(s), first(other)
	for more := true; more; {
		if g.start < g.end {
			highest, beside := 0, false
			for size := 0; size != g.end-g.start; {
				size, beside = g.end-g.start, false
				for s.slideUp(&g) {
					o, _ = other.previous(o)
				}
				highest, beside = g.end, o.start < o.end
				for s.slideDown(&g) {
					o, _ = other.next(o)
					beside = beside || o.start < o.end
				}
			}
			if g.end != highest && beside {
				for o.start == o.end {
					s.slideUp(&g)
					o, _ = other.previous(o)
				}
			}
		}
		if g, more = s.next(g); more {
			o, _ = other.next(o)
		}
	}
}
