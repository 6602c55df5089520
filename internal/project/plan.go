// Package project writes and updates the folder of a project. Open or Lock opens a Target; PlanCreate or
// PlanUpdate compares files with what is there; Apply carries out the Plan, or nothing. A record in the
// folder says which files vbot wrote, so that a later run knows which of them are unedited.
package project

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"vbot/internal/report"
)

// The actions of a Step, as in the JSON result. Unchanged and Missing are states, too.
const (
	Created   = "created"
	Kept      = "kept"      // something else exists and stays
	Unchanged = "unchanged" // it exists with the same text
	Replaced  = "replaced"
	Merged    = "merged" // changes are merged with edits; see also Step.Conflicts
	Removed   = "removed"
	Missing   = "missing" // this version writes it, but it does not exist: it is new, or was deleted
)

// The other states of a Step, as in the JSON of --check.
const (
	Edited   = "edited"   // different from this version's file and from the recorded one
	Pending  = "pending"  // edited, and this version has changes for it
	Outdated = "outdated" // as recorded; this version writes another file, or none
)

// A Step is what a run does, or would do, with one file. PlanCreate or PlanUpdate chooses the action by what
// exists at the path and what this version writes. Apply carries it out.
type Step struct {
	Path   string // relative to the target, with slashes
	Action string // Created to Missing
	State  string // Unchanged or Missing to Outdated; "" in a new project, and for guides and internal files
	Why    string // for people: the reason for the action, or ""
	Before string // SHA-256 in hex of the existing file, "" if there is none or it was not read
	found  []byte // the existing file, nil if there is none or it was not read
	data   []byte // what to write, nil for a file that is no longer written

	// Only of an update.
	Marked    int    // the line, from 1, at which the file has markers of an earlier conflict, or 0
	Conflicts []int  // the lines of the file, from 1, at which conflicts begin; data then has markers
	base      []byte // what vbot had written, nil if that is unknown
	newBase   []byte // the base after the run, nil if it is unknown or there is none
	isThere   bool   // something exists at the path
	isLeftOut bool   // its owner deleted the whole folder
	phase     phase
}

// A phase determines the order in which steps are carried out.
type phase int

// The zero value is filePhase.
const (
	basePhase   phase = iota - 1 // bases, and the file of attributes beside them
	filePhase                    // the project's files
	recordPhase                  // the record
)

// isReadable reports whether the existing file was read.
func (s *Step) isReadable() bool { return s.Before != "" }

// overwrites reports whether the step replaces the text of a file.
func (s *Step) overwrites() bool { return s.Action == Replaced || s.Action == Merged }

// Sum returns the SHA-256 in hex of the file after the run, "" if it was not read or does not exist.
func (s Step) Sum() string {
	switch s.Action {
	case Kept, Unchanged:
		return s.Before
	case Removed, Missing:
		return ""
	}
	return hexSum(s.data)
}

// A Plan is everything that a run would do in a directory. It is complete before the first byte is written.
type Plan struct {
	Dir       string // absolute
	Steps     []Step // sorted by path
	Conflicts []report.Problem
	// GoneFolders are the folders without any of their files, which UpdateRequest.AcceptMissing accepted.
	GoneFolders []string
	interim     []byte   // the record that an update writes first, nil if there is no need
	dirs        []string // of all files that were compared, for temporaryFiles
	leaves      []string // paths of files that are no longer written; their directories are removed if empty
	unneeded    []string // paths of bases to remove once the record is written
	// Blocked says that --keep-existing or, for an update, --conflict-markers does not resolve all conflicts.
	Blocked bool
}

// conflict adds a conflict of the whole plan. lines are where it is in the file, from 1, if that is known.
func (p *Plan) conflict(at, why string, lines ...int) {
	if !slices.ContainsFunc(p.Conflicts, func(c report.Problem) bool { return c.Field == at }) {
		conflict := report.Problem{Field: at, Where: at, Message: why}
		if len(lines) > 0 {
			conflict.AtLine = report.Number(lines[0])
		}
		p.Conflicts = append(p.Conflicts, conflict)
	}
}

// block adds a conflict that no option resolves.
func (p *Plan) block(at, why string) {
	p.conflict(at, why)
	p.Blocked = true
}

// Paths returns the paths of the files with the action.
func (p *Plan) Paths(action string) (paths []string) {
	for _, s := range p.Steps {
		if s.Action == action {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// Shown returns the paths of the files with the action, without internal files.
func (p *Plan) Shown(action string) []string { return slices.DeleteFunc(p.Paths(action), IsInternal) }

// Count returns the number of files with the action.
func (p *Plan) Count(action string) int { return len(p.Paths(action)) }

// Writes returns how many files the plan changes.
func (p *Plan) Writes() int {
	return p.Count(Created) + p.Count(Replaced) + p.Count(Merged) + p.Count(Removed)
}

// noteDir notes the directory of a file that was compared.
func (p *Plan) noteDir(name string) {
	if dir := path.Dir(name); !slices.Contains(p.dirs, dir) {
		p.dirs = append(p.dirs, dir)
	}
}

// inOrder returns the paths of files in the order of comparePaths. Because the record is last, a killed run
// leaves no record or the previous one, which is still correct.
func inOrder(files map[string][]byte) []string {
	return slices.SortedFunc(maps.Keys(files), comparePaths)
}

// comparePaths compares two paths of a project: internal files come after the others, and the record is last.
func comparePaths(a, b string) int {
	rank := func(name string) int {
		switch {
		case name == RecordName:
			return 2
		case IsInternal(name):
			return 1
		}
		return 0
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}
