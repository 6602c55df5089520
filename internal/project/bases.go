package project

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// BaseDir is the folder of the bases: the files of the project as vbot wrote them, which are the common
// ancestors in merges. A base is compressed, and its name is the SHA-256 of its text in hex. So no program
// that walks a project reads or changes it (formatters, linters, search and replace, Renovate, Dependabot),
// Git keeps the bases of two branches side by side, and a base that somebody changed is noticed.
const BaseDir = ".vbot/base"

// basePath returns where the base with this SHA-256, in hex, is.
func basePath(sum string) string { return path.Join(BaseDir, sum) }

// isBaseName reports whether the name is that of a base: a SHA-256 in hex.
func isBaseName(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == 32
}

// Base returns the path of the base of a text, and what the base holds.
func Base(text []byte) (name string, data []byte) { return basePath(hexSum(text)), pack(text) }

// pack returns a text in the form of a base.
func pack(text []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // a constant level
	w.Write(text)                                      // into memory
	w.Close()
	return b.Bytes()
}

// unpack returns the text of a base with this SHA-256, or nil if the data is not that of such a base.
func unpack(data []byte, sum string) []byte {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxSize+1))
	if err != nil || hexSum(text) != sum {
		return nil
	}
	if text == nil {
		text = []byte{}
	}
	return text
}

// bases returns the texts of the valid bases in the target, by their SHA-256 in hex, and the names of all
// bases, valid or not.
func (t *Target) bases() (texts map[string][]byte, names []string, err error) {
	texts = map[string][]byte{}
	root := t.dirs["."]
	if root == nil {
		return texts, nil, nil
	}
	if found, err := t.look(BaseDir); err != nil || !found.mode.IsDir() {
		return texts, nil, err // nothing, or a link, which is not followed
	}
	entries, err := fs.ReadDir(root.FS(), BaseDir)
	if err != nil {
		return nil, nil, ioFailure("reading "+t.path(BaseDir), err)
	}
	for _, e := range entries {
		if !isBaseName(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		names = append(names, e.Name())
		found, err := t.look(basePath(e.Name()))
		if err != nil {
			return nil, nil, ioFailure("reading "+t.path(basePath(e.Name())), err)
		}
		if text := unpack(found.data, e.Name()); found.hash != "" && text != nil {
			texts[e.Name()] = text
		}
	}
	return texts, names, nil
}

// planBases adds the bases that the files need after the run, and the removal of the others.
func (u *updatePlanner) planBases(t *Target) error {
	u.plan.noteDir(basePath("x"))
	for _, sum := range slices.Sorted(maps.Keys(u.needed)) {
		if u.bases[sum] != nil {
			continue
		}
		s := Step{Path: basePath(sum), data: pack(u.needed[sum]), Action: Created, phase: basePhase}
		found, err := u.plan.examine(t, s.Path)
		switch {
		case err != nil:
			return err
		case found.at != s.Path: // nothing, or a conflict of the whole directory
		case found.mode.IsRegular(): // a damaged one, of whatever size
			s.Action, s.Before = Replaced, found.hash
		default:
			u.plan.block(s.Path, "a "+typeName(found.mode)+" is in the way of a file of vbot")
			continue
		}
		u.plan.Steps = append(u.plan.Steps, s)
	}
	return u.planUnneededBases(t)
}

// planUnneededBases adds the removal of bases that no file needs, once the record is written. But the base
// of a file that is removed goes before the file: a missing file with a base counts as deleted by its owner,
// and this one must not if the run is killed and the next one writes it again.
func (u *updatePlanner) planUnneededBases(t *Target) error {
	ofRemoved := map[string]bool{}
	for _, s := range u.plan.Steps {
		if s.Action == Removed {
			ofRemoved[u.Was.Files[s.Path]] = true
		}
	}
	for _, sum := range u.baseNames {
		switch {
		case u.needed[sum] != nil:
		case !ofRemoved[sum]:
			u.plan.unneeded = append(u.plan.unneeded, basePath(sum))
		default:
			found, err := u.plan.examine(t, basePath(sum))
			if err != nil {
				return err
			}
			s := Step{Path: basePath(sum), Action: Removed, Before: found.hash, phase: basePhase}
			u.plan.Steps = append(u.plan.Steps, s)
		}
	}
	return nil
}
