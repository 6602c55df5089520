package project

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
)

// BaseDir is the folder of the bases: the files of the project as vbot wrote them, of which every merge
// starts. A base is compressed, and its name is the SHA-256 of its text in hex. So no program that walks a
// project reads or changes it (formatters, linters, search and replace, Renovate, Dependabot), Git keeps the
// bases of two branches side by side, and a base that somebody changed is noticed.
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
