package project

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
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
	// Rendered returns what this version writes for the configuration in Was, or nil if it cannot. It
	// replaces the bases in a project of an older vbot, which kept none.
	Rendered func() map[string][]byte
	// Guides returns the guides as this version writes them where there is no bot yet.
	Guides func() map[string][]byte
	// Paths are the paths of all files that any version wrote. Other bases are not vbot's, and not read.
	Paths []string
	// Markers says to write conflicts between markers instead of refusing them.
	Markers bool
}

// Update compares the project with what this version writes. Unedited files are replaced or removed.
// For edited files, the base, the file and the new text are merged by the rules of merge3. A new file
// whose name is in use is a conflict. CRLF counts as LF. An empty file that vbot did not write empty
// was left by a power failure, and is not an edit.
//
// No journal is needed to recover from a killed run. The record is written twice: first with the new
// version and configuration and the old hashes, last with the new hashes. In between, the base of an
// unedited file is written before the file, so that the file always matches the record or its base.
// The base of a merged file is written after it, because merging twice gives the same result.
func (t *Target) Update(u *Update) (*Plan, error) {
	bases, err := t.bases(u.Paths)
	if err != nil {
		return nil, err
	}
	c := &comparison{Update: u, bases: bases, hashes: map[string]string{}, plan: &Plan{Dir: t.Dir}}
	if found, err := t.look(attributesName); err == nil {
		c.complete = found.at == attributesName
	}
	if found, err := t.look(BaseDir); err == nil && found.at != "" && !found.mode.IsDir() {
		c.plan.conflict(found.at, "a "+typeName(found.mode)+" is in the way of a directory")
	}
	files := maps.Clone(u.Files)
	for _, more := range []func(func(string) bool){maps.Keys(u.Was.Files), maps.Keys(bases)} {
		for name := range more {
			if _, ok := files[name]; !ok {
				files[name] = nil
			}
		}
	}
	for _, name := range inOrder(files) {
		found, err := t.look(name)
		if err != nil {
			return nil, ioFailure("reading "+t.path(name), err)
		}
		c.plan.noteDir(name)
		c.plan.noteDir(basePath(name))
		s := c.compare(name, files[name], found)
		c.plan.Steps = append(c.plan.Steps, s)
	}
	if err := t.keepNeeded(c.plan); err != nil {
		return nil, err
	}
	for _, s := range c.plan.Steps {
		if hasBase(s.Path) {
			c.moveBase(s)
		}
	}
	c.plan.Steps = slices.DeleteFunc(c.plan.Steps, func(s Step) bool { return s.Action == "" })
	return c.plan, c.finish(t)
}

// A comparison turns an Update into a plan.
type comparison struct {
	*Update
	bases  map[string]existing // the existing bases, by the path of their file
	hashes map[string]string   // of the bases after the run, for the record
	// complete says that an update wrote all bases that it could. Those of an older vbot wrote none.
	complete bool
	own      []Step // what happens to the bases
	plan     *Plan
}

var crlf, newline = []byte("\r\n"), []byte("\n")

// withLF returns the text with LF line ends, as it was before Git on Windows checked it out.
func withLF(text []byte) []byte { return bytes.ReplaceAll(text, crlf, newline) }

// bases returns the existing, readable bases of these paths, by the path of their file.
func (t *Target) bases(paths []string) (map[string]existing, error) {
	bases, root := map[string]existing{}, t.dirs["."]
	if root == nil {
		return bases, nil
	}
	if found, err := t.look(BaseDir); err != nil || !found.mode.IsDir() {
		return bases, err // nothing, or a link, which is not followed
	}
	err := fs.WalkDir(root.FS(), BaseDir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || isTemporary(d.Name()) {
			return ignoreMissing(err)
		}
		name := strings.TrimPrefix(at, BaseDir+"/")
		if !slices.Contains(paths, name) || !hasBase(name) {
			return nil
		}
		found, err := t.look(at)
		if err == nil && found.hash != "" {
			bases[name] = found
		}
		return err
	})
	if err != nil {
		err = ioFailure("reading "+t.path(BaseDir), err)
	}
	return bases, err
}

// compare chooses the action for a file. text is what this version writes, nil if it no longer does.
func (c *comparison) compare(name string, text []byte, found existing) Step {
	s := Step{Path: name, data: text, Guide: IsGuide(name), found: found.data, Before: found.hash}
	if text == nil {
		c.plan.leaves = append(c.plan.leaves, name, basePath(name))
	}
	recorded := c.Was.Files[name]
	mine := withLF(found.data)
	s.base = c.base(name, text, mine, found.hash != "")
	base, onDisk := c.bases[name]
	if path.Base(name) == ".gitignore" && text != nil {
		text = withLinesOf(withLinesOf(text, s.base), withLF(base.data)) // either may be newer
		s.data = text
	}
	s.newBase = text
	isKnown := recorded != "" || onDisk // vbot wrote a file of this name
	isReadable := found.hash != ""
	isEmptied := isKnown && isReadable && len(found.data) == 0
	isAsBase := s.base != nil && bytes.Equal(mine, s.base) || onDisk && bytes.Equal(mine, withLF(base.data))
	isUntouched := isReadable && (hexSum(mine) == recorded || isAsBase || isEmptied)
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
	case found.at == "" && recorded != "" && (onDisk || !c.complete):
		// Somebody deleted it. (A killed update would have removed its base, too.)
		s.State, s.Action = Missing, Missing
	case found.at == "":
		s.State, s.Action = Missing, Created
	case text != nil && bytes.Equal(mine, text):
		s.State, s.Action = Unchanged, Unchanged
	case isUntouched && text == nil:
		s.State, s.Action = Outdated, Removed
	case isUntouched:
		s.State, s.Action = Outdated, Replaced
	case text == nil:
		s.newBase = s.base // a later update may write it again
		if recorded != "" {
			s.Action = Kept
		}
	case !isKnown:
		s.State, s.Action = Edited, Kept
		s.Why = "it is your own file, and vbot would write a file of that name"
		c.plan.conflict(s.Path, s.Why)
	case !isReadable: // it cannot be merged
		c.leave(&s)
		s.State = Edited
	default:
		s.State = Edited
		c.merge(&s, mine)
	}
	return s
}

// compareWrittenOnce chooses the action for a file that belongs to the project's owner: a new one is written,
// an unedited one that is no longer written is removed, and any other stays as it is.
func (c *comparison) compareWrittenOnce(s *Step, found existing) {
	recorded := c.Was.Files[s.Path]
	switch {
	case found.at == "" && s.data == nil:
		// Nothing exists, and nothing is written.
	case found.at == "" && recorded != "":
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

// base returns what vbot had written of a file, or nil if that is unknown: its base, if it matches the
// record or the new text; the file itself, if it matches the record; or what this version writes for
// the recorded configuration.
func (c *comparison) base(name string, text, mine []byte, readable bool) []byte {
	recorded := c.Was.Files[name]
	if base, ok := c.bases[name]; ok {
		data := withLF(base.data)
		if recorded == "" || hexSum(data) == recorded || bytes.Equal(data, text) {
			return data
		}
	}
	if recorded == "" {
		return nil
	}
	if readable && hexSum(mine) == recorded {
		return mine
	}
	if text != nil && hexSum(text) == recorded {
		return text
	}
	if _, ok := c.bases[name]; !ok && c.complete { // an older file, or the base was deleted
		return nil
	}
	if rendered := c.Rendered()[name]; rendered != nil && hexSum(rendered) == recorded {
		return rendered
	}
	return nil
}

// leave leaves a file and its base alone: the next update offers the change again.
func (c *comparison) leave(s *Step) {
	s.Action = Kept
	s.newBase = s.base
	if s.base == nil || !bytes.Equal(s.base, s.data) {
		s.State = Pending
	}
}

// merge merges the changes of this version into an edited file, or sets the reason why it cannot. mine is
// the file with LF line ends.
func (c *comparison) merge(s *Step, mine []byte) {
	if line := markersAt(mine); line > 0 {
		c.leave(s)
		s.State, s.Marked = Edited, line
		s.Why = fmt.Sprintf("it has conflict markers from line %d on", line)
		c.plan.conflict(s.Path, "resolve its conflict first: "+s.Why)
		return
	}
	base := s.base
	if c.has(s.Path, base, mine) {
		base = c.Rendered()[s.Path]
	}
	if base == nil && c.Markers {
		base = []byte{} // everything that differs conflicts
	}
	if base == nil {
		c.leave(s)
		s.Why = "without a copy in .vbot/base, vbot cannot tell your edits from its own changes"
		return
	}
	m, ok := merge3(base, mine, s.data, c.Now.Vbot)
	switch {
	case !ok:
		c.leave(s)
		s.Why = "too many lines differ to compare them"
	case len(m.conflicts) > 0:
		s.State = Pending
		s.Conflicts = m.conflicts
		lines := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.conflicts), " ", ", "), "[]")
		s.Why = "your edits conflict with vbot's changes at line " + lines
		c.plan.conflict(s.Path, s.Why)
		s.write(m.text)
	case bytes.Equal(m.text, mine):
		s.Action = Kept // the file already has all changes
	default:
		s.State, s.Why = Pending, "your edits stay"
		s.write(m.text)
	}
}

// has reports whether a file already has all changes of the recorded configuration to its base. That is so
// if an update to that configuration was killed between merging the file and writing its base.
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
		begins := strings.HasPrefix(line, "<<<<<<< ")
		switch {
		case line == markMine, strings.HasPrefix(line, markTheirs):
			return cmp.Or(first, n)
		case begins && first == 0:
			first = n
		case strings.HasPrefix(line, ">>>>>>> ") && first > 0:
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

// moveBase adds what happens to the base of a file, and its hash to the new record.
func (c *comparison) moveBase(s Step) {
	now := s.newBase
	if hash := c.Was.Files[s.Path]; now == nil && s.Action == Kept && s.data != nil && hash != "" {
		c.hashes[s.Path] = hash // of a base that does not exist
	} else if now != nil && (s.data != nil || s.needed) {
		c.hashes[s.Path] = hexSum(now)
	}
	was, ok := c.bases[s.Path]
	b := Step{Path: basePath(s.Path), data: now, Before: was.hash, phase: before}
	if s.Merged {
		b.phase = after
	}
	switch {
	case now == nil && !ok:
		return
	case now == nil:
		b.Action = Removed
	case !ok:
		b.Action = Created
	case bytes.Equal(withLF(was.data), now):
		return
	default:
		b.Action = Replaced
	}
	c.own = append(c.own, b)
}

// finish adds what happens to the bases and to the record.
func (c *comparison) finish(t *Target) error {
	for name, data := range besideBases {
		found, err := t.look(name)
		if err != nil {
			return ioFailure("reading "+t.path(name), err)
		}
		c.plan.noteDir(name)
		if found.at == "" { // after the bases
			c.own = append(c.own, Step{Path: name, data: data, Action: Created, phase: complete})
		}
	}
	c.plan.Steps = append(c.plan.Steps, c.own...)
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
			interim := &Record{Vbot: now.Vbot, Config: now.Config, Files: c.Was.Files}
			interim.Guides = map[string]string{} // of the configuration that this record no longer has
			for _, s := range c.plan.Steps {
				if s.Guide && s.Action == Replaced {
					interim.Guides[s.Path] = s.Before
				}
			}
			c.plan.interim, err = interim.bytes()
		}
	}
	c.plan.Steps = append(c.plan.Steps, s)
	slices.SortStableFunc(c.plan.Steps, func(a, b Step) int { return comparePaths(a.Path, b.Path) })
	return err
}

// Diff returns the diffs from the existing files to the updated ones, with conflicts between markers. With
// check, it also has the diffs of files that were deleted or cannot be merged.
func (p *Plan) Diff(check bool) string {
	var b strings.Builder
	for _, s := range p.Steps {
		switch {
		case IsOwn(s.Path) || s.Path == RecordName || s.Guide || s.State == Unchanged || s.State == "":
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
