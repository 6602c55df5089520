package project

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"vbot/internal/report"
)

// An Update is what --check and --update compare a project with.
type Update struct {
	// Files are the files of this version and configuration, by path, without the record and the bases.
	Files map[string][]byte
	// Was is the record in the project. Now has the version and the configuration of Files.
	Was, Now *Record
	// Rendered returns what this version writes for the configuration in Was, or nil if it cannot.
	Rendered func() map[string][]byte
	// Guides returns the guides as this version writes them where there is no bot yet.
	Guides func() map[string][]byte
	// AcceptMissing says that a folder without any of its files was deleted, and not moved.
	AcceptMissing bool
}

// Update compares the project with what this version writes. Unedited files are replaced or removed.
// For edited files, the base, the file and the new text are merged by the rules of merge3. An edited file
// without a base, and a new one whose name is in use, are conflicts. CRLF counts as LF. An empty file that
// vbot did not write empty was left by a power failure, and is not an edit.
//
// No journal is needed to recover from a killed run. New bases are written first, so that each file that
// vbot wrote has a base of that text. Then the record is written with the new version and configuration and
// the old hashes, then the files, and the record with the new hashes. A merge done twice gives the same
// result. Bases that no file needs any more are removed last.
func (t *Target) Update(u *Update) (*Plan, error) {
	c := &comparison{Update: u, plan: &Plan{Dir: t.Dir}}
	c.hashes, c.needed = map[string]string{}, map[string][]byte{}
	var err error
	if c.bases, c.names, err = t.bases(); err != nil {
		return nil, err
	}
	if found, err := t.look(BaseDir); err == nil && found.at != "" && !found.mode.IsDir() {
		c.plan.conflict(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
	}
	files := maps.Clone(u.Files)
	for name := range u.Was.Files {
		if _, ok := files[name]; !ok {
			files[name] = nil
		}
	}
	for _, name := range inOrder(files) {
		found, err := t.look(name)
		if err != nil {
			return nil, ioFailure("reading "+t.path(name), err)
		}
		c.plan.noteDir(name)
		c.plan.Steps = append(c.plan.Steps, c.compare(name, files[name], found))
	}
	if err := c.checkFolders(); err != nil {
		return nil, err
	}
	if err := t.keepNeeded(c.plan); err != nil {
		return nil, err
	}
	for _, s := range c.plan.Steps {
		if hasBase(s.Path) {
			c.record(s)
		}
	}
	c.plan.Steps = slices.DeleteFunc(c.plan.Steps, func(s Step) bool { return s.Action == "" })
	return c.plan, c.finish(t)
}

// A comparison turns an Update into a plan.
type comparison struct {
	*Update
	bases  map[string][]byte // the texts of the valid bases, by their SHA-256 in hex
	names  []string          // of all existing bases
	hashes map[string]string // of the files after the run, for the record
	needed map[string][]byte // the texts of the bases after the run, by their SHA-256
	plan   *Plan
}

var crlf, newline = []byte("\r\n"), []byte("\n")

// withLF returns the text with LF line ends, as it was before Git on Windows checked it out.
func withLF(text []byte) []byte { return bytes.ReplaceAll(text, crlf, newline) }

// notVbots is the hash in the record of a path that is its owner's affair: a file that was there before the
// project, or one that was deleted with its folder.
const notVbots = ""

// compare chooses the action for a file. text is what this version writes, nil if it no longer does.
func (c *comparison) compare(name string, text []byte, found existing) Step {
	s := Step{Path: name, data: text, Guide: IsGuide(name), found: found.data, Before: found.hash}
	s.isThere = found.at == name
	if text == nil {
		c.plan.leaves = append(c.plan.leaves, name)
	}
	recorded, isRecorded := c.Was.Files[name]
	mine := withLF(found.data)
	isReadable := found.hash != ""
	s.base = c.bases[recorded]
	if s.base == nil && isReadable && hexSum(mine) == recorded {
		s.base = mine
	}
	if s.base == nil && text != nil && hexSum(text) == recorded {
		s.base = text
	}
	if path.Base(name) == ".gitignore" && text != nil {
		text = withLinesOf(text, s.base)
		s.data = text
	}
	s.newBase = text
	_, isOfVbot := c.bases[hexSum(mine)]
	isEmptied := isRecorded && isReadable && len(found.data) == 0
	isUntouched := isReadable && (isOfVbot || recorded != notVbots && hexSum(mine) == recorded || isEmptied)
	isUpToDate := isReadable && text != nil && bytes.Equal(mine, text)
	if isEmptied {
		s.Why = "empty, as after a power failure"
	}
	switch {
	case s.Guide:
		c.compareGuide(&s, found)
	case IsWrittenOnce(name):
		c.compareWrittenOnce(&s, found)
	case found.at == "" && text == nil:
		// Nothing exists, and nothing is written.
	case found.at == "" && isRecorded && (recorded == notVbots || s.base != nil): // somebody deleted it
		s.State, s.Action = Missing, Missing
	case found.at == "":
		s.State, s.Action = Missing, Created
	case isUpToDate:
		s.State, s.Action = Unchanged, Unchanged
	case isRecorded && recorded == notVbots && !isUntouched:
		// It is the owner's.
	case isUntouched && text == nil:
		s.State, s.Action = Outdated, Removed
	case isUntouched:
		s.State, s.Action = Outdated, Replaced
	case text == nil:
		s.newBase = s.base // a later update may write it again
		if isRecorded {
			s.Action = Kept
		}
	case !isRecorded:
		c.refuse(&s, "it is your own file, and vbot would write a file of that name")
		s.State = Edited
	default:
		s.State = Edited
		c.merge(&s, mine, isReadable)
	}
	return s
}

// refuse leaves a file alone, and makes its change a conflict of the whole update.
func (c *comparison) refuse(s *Step, why string) {
	s.State, s.Action, s.Why = Pending, Kept, why
	c.plan.conflict(s.Path, why)
}

// compareWrittenOnce chooses the action for a file that belongs to the project's owner: a new one is written,
// an unedited one that is no longer written is removed, and any other stays as it is.
func (c *comparison) compareWrittenOnce(s *Step, found existing) {
	recorded, isRecorded := c.Was.Files[s.Path]
	switch {
	case found.at == "" && s.data == nil:
		// Nothing exists, and nothing is written.
	case found.at == "" && isRecorded:
		s.State, s.Action = Missing, Missing // somebody deleted it
	case found.at == "":
		s.State, s.Action = Missing, Created
	case s.data == nil && hexSum(withLF(found.data)) == recorded:
		s.State, s.Action = Outdated, Removed
	}
	if s.data != nil {
		c.hashes[s.Path] = cmp.Or(recorded, hexSum(s.data))
	}
}

// compareGuide chooses the action for a guide. A new guide is written. An existing one is replaced only if
// this version wrote it for the recorded configuration or without a bot, or if a killed update was replacing
// it.
func (c *comparison) compareGuide(s *Step, found existing) {
	isOurs := func(files map[string][]byte) bool { return found.hash == hexSum(files[s.Path]) }
	wasOurs := found.hash != "" && found.hash == c.Was.Guides[s.Path]
	switch {
	case s.data == nil:
	case found.at == "":
		s.Action = Created
	case found.hash == hexSum(s.data):
		s.Action = Unchanged
	case found.at == s.Path && (wasOurs || isOurs(c.Guides()) || isOurs(c.Rendered())):
		s.Action = Replaced
	default:
		s.Action = Kept
	}
}

// merge merges the changes of this version into an edited file, or sets the reason why it cannot. mine is
// the file with LF line ends.
func (c *comparison) merge(s *Step, mine []byte, isReadable bool) {
	base := s.base
	if isReadable && c.has(s.Path, base, mine) {
		base = c.Rendered()[s.Path]
	}
	hasChange := base == nil || !bytes.Equal(base, s.data)
	switch line := markersAt(mine); {
	case line > 0:
		c.refuse(s, fmt.Sprintf("it has conflict markers from line %d on: resolve them first", line))
		s.State, s.Marked = Edited, line
		return
	case !hasChange:
		s.Action = Kept
		return
	case !isReadable:
		c.refuse(s, "it is no regular file of at most 1 MiB, so vbot's changes cannot be merged into it")
		return
	}
	m, ok := merge3(base, mine, s.data, c.Now.Vbot) // without a base, everything that differs conflicts
	switch {
	case !ok:
		c.refuse(s, "too many lines differ to compare them")
	case len(m.conflicts) > 0:
		lines := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.conflicts), " ", ", "), "[]")
		why := "your edits conflict with vbot's changes at line " + lines
		if base == nil {
			why = "its base in " + BaseDir + " is missing or damaged, so vbot cannot tell what you edited"
		}
		c.refuse(s, why)
		s.Conflicts = m.conflicts
		s.write(m.text)
	case bytes.Equal(m.text, mine):
		s.Action = Kept // the file already has all changes
	default:
		s.State, s.Why = Pending, "your edits stay"
		s.write(m.text)
	}
}

// has reports whether a file already has all changes of the recorded configuration to its base. That is so
// if an update to that configuration was killed after it had merged the file.
func (c *comparison) has(name string, base, mine []byte) bool {
	rendered := c.Rendered()[name]
	if base == nil || rendered == nil || bytes.Equal(base, rendered) {
		return false
	}
	m, ok := merge3(base, mine, rendered, c.Now.Vbot)
	return ok && len(m.conflicts) == 0 && bytes.Equal(m.text, mine)
}

// write makes the step write a merged text, with the line ends of the existing file.
func (s *Step) write(text []byte) {
	if n := bytes.Count(s.found, crlf); n > 0 && n == bytes.Count(s.found, newline) {
		text = bytes.ReplaceAll(text, newline, crlf)
	}
	s.Action, s.Merged, s.data = Replaced, true, text
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

// withLinesOf returns the text, followed by the lines of before that it does not have: files that Git
// ignored may still exist, and must not be committed.
func withLinesOf(text, before []byte) []byte {
	has := linesOf(text)
	for _, line := range linesOf(before) {
		if strings.TrimSpace(line) != "" && !slices.Contains(has, line) {
			has = append(ended(has), line)
		}
	}
	return []byte(strings.Join(has, ""))
}

// checkFolders fails if all files of a top-level folder of the record are gone, as after renaming it, unless
// its owner said that they were deleted. Then and from there on, nothing is written in this folder.
func (c *comparison) checkFolders() error {
	wasIn, isIn, isUndecided := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range c.plan.Steps {
		folder, _, isInside := strings.Cut(s.Path, "/")
		recorded, isRecorded := c.Was.Files[s.Path]
		switch {
		case !isInside || !isRecorded:
		case s.isThere:
			isIn[folder] = true
		case s.data != nil:
			wasIn[folder] = true
			isUndecided[folder] = isUndecided[folder] || recorded != notVbots
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(wasIn)) {
		switch {
		case isIn[folder]:
		case isUndecided[folder] && !c.AcceptMissing:
			return movedFolder(folder)
		default:
			c.leaveOut(folder)
		}
	}
	return nil
}

// movedFolder returns the failure of an update of a project without any of the files of a folder.
func movedFolder(folder string) error {
	f := report.Errorf(report.Conflict, "a folder of the project is gone; nothing was written")
	const none = "none of the files that vbot wrote here exists"
	f.Problems = report.Problems{{Field: folder, Where: folder + "/", Message: none}}
	f.Hint = "if you renamed the folder, give it its old name for the update; " +
		"if you deleted it, --accept-missing goes ahead without it"
	return f
}

// leaveOut lets the update write nothing in a folder.
func (c *comparison) leaveOut(folder string) {
	for i, s := range c.plan.Steps {
		if strings.HasPrefix(s.Path, folder+"/") && (s.Action == Created || s.Action == Missing) {
			c.plan.Steps[i].Action, c.plan.Steps[i].isLeftOut = Missing, true
			c.hashes[s.Path] = notVbots
		}
	}
}

// record notes the hash of a file for the new record, and the base that it needs.
func (c *comparison) record(s Step) {
	recorded, isRecorded := c.Was.Files[s.Path]
	base := s.newBase
	isRefused := s.Action == Kept && s.State == Pending && !s.Merged
	switch {
	case isRefused:
		base = s.base
	case s.isLeftOut:
		return
	case s.Action == "" && isRecorded && recorded == notVbots:
		if s.data != nil {
			c.hashes[s.Path] = notVbots
		}
		return
	}
	isGone := s.Action == Removed || s.Action == ""
	switch {
	case s.data == nil && isGone: // vbot no longer writes it
	case base != nil:
		c.hashes[s.Path] = hexSum(base)
		c.needed[hexSum(base)] = base
	case isRecorded:
		c.hashes[s.Path] = recorded // of a base that does not exist
	}
}

// finish adds what happens to the bases and to the record.
func (c *comparison) finish(t *Target) error {
	for _, sum := range slices.Sorted(maps.Keys(c.needed)) {
		if c.bases[sum] != nil {
			continue
		}
		s := Step{Path: basePath(sum), data: pack(c.needed[sum]), Action: Created, phase: bases}
		found, err := t.look(s.Path)
		switch {
		case err != nil:
			return ioFailure("reading "+t.path(s.Path), err)
		case found.at != s.Path: // nothing, or a conflict of the whole directory
		case found.mode.IsRegular(): // a damaged one, of whatever size
			s.Action, s.Before = Replaced, found.hash
		default:
			c.plan.conflict(s.Path, "a "+typeName(found.mode)+" is in the way of a file of vbot")
			continue
		}
		c.plan.Steps = append(c.plan.Steps, s)
	}
	if err := c.removeBases(t); err != nil {
		return err
	}
	c.plan.noteDir(basePath("x"))
	return c.finishRecord(t)
}

// removeBases adds the removal of bases that no file needs: after the record is written. The base of a file
// that is removed goes before it: a file without a base that is missing was not deleted by its owner.
func (c *comparison) removeBases(t *Target) error {
	removed := map[string]bool{}
	for _, s := range c.plan.Steps {
		if s.Action == Removed {
			removed[c.Was.Files[s.Path]] = true
		}
	}
	for _, sum := range c.names {
		switch {
		case c.needed[sum] != nil:
		case !removed[sum]:
			c.plan.unneeded = append(c.plan.unneeded, basePath(sum))
		default:
			found, err := t.look(basePath(sum))
			if err != nil {
				return ioFailure("reading "+t.path(basePath(sum)), err)
			}
			s := Step{Path: basePath(sum), Action: Removed, Before: found.hash, phase: bases}
			c.plan.Steps = append(c.plan.Steps, s)
		}
	}
	return nil
}

// finishRecord adds what happens to the record, and to the file of attributes beside the bases.
func (c *comparison) finishRecord(t *Target) error {
	attributes, err := t.look(attributesName)
	if err != nil {
		return ioFailure("reading "+t.path(attributesName), err)
	}
	c.plan.noteDir(attributesName)
	if attributes.at == "" {
		c.plan.Steps = append(c.plan.Steps, Step{
			Path: attributesName, data: attributesData, Action: Created, phase: bases,
		})
	}
	found, err := t.look(RecordName)
	if err != nil {
		return ioFailure("reading "+t.path(RecordName), err)
	}
	c.plan.noteDir(RecordName)
	now := &Record{Vbot: c.Now.Vbot, Config: c.Now.Config, Files: c.hashes}
	s := Step{Path: RecordName, found: found.data, Before: found.hash, phase: last}
	if s.data, err = now.bytes(); err != nil {
		return err
	}
	switch {
	case found.at == "":
		s.Action = Created
	case found.hash == hexSum(s.data) || found.hash == hexSum(bytes.ReplaceAll(s.data, newline, crlf)):
		s.Action = Unchanged
	default:
		s.Action = Replaced
		if !c.Was.sameOrigin(now) {
			c.plan.interim, err = c.interim(now).bytes()
		}
	}
	c.plan.Steps = append(c.plan.Steps, s)
	slices.SortStableFunc(c.plan.Steps, func(a, b Step) int { return comparePaths(a.Path, b.Path) })
	return err
}

// interim is the record while an update runs: that of the new version and configuration, but with the old
// hashes.
func (c *comparison) interim(now *Record) *Record {
	r := &Record{Vbot: now.Vbot, Config: now.Config, Files: c.Was.Files, Guides: map[string]string{}}
	for _, s := range c.plan.Steps {
		if s.Guide && s.Action == Replaced {
			r.Guides[s.Path] = s.Before
		}
	}
	return r
}

// Diff returns the diffs from the existing files to the updated ones, with conflicts between markers: of all
// files, or of the one called only. With check, it also has the diffs of files that were deleted or cannot be
// merged.
func (p *Plan) Diff(only string, check bool) string {
	var b strings.Builder
	for _, s := range p.Steps {
		switch {
		case IsOwn(s.Path) || s.Path == RecordName || only != "" && s.Path != only:
		case !s.Guide && (s.State == Unchanged || s.State == ""):
		case s.Guide && s.Action != Created && s.Action != Replaced:
		case s.State != Missing && s.Before == "":
			const why = "it is not a regular file, is too large or cannot be read"
			fmt.Fprintf(&b, "%s differs, but cannot be compared: %s\n", s.Path, why)
		case s.Action == Created, s.Action == Replaced, s.Action == Removed,
			check && (s.Action == Missing || s.State == Pending):
			b.WriteString(unified(s.Path, s.found, s.data))
		}
	}
	return b.String()
}

// conflict adds a conflict to the plan.
func (p *Plan) conflict(name, why string) {
	p.Conflicts = append(p.Conflicts, report.Problem{Field: name, Where: name, Message: why})
}
