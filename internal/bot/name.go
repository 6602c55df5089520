package bot

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"vbot/internal/report"
)

// NameFromDir derives a project name from the last element of dir. It trims
// invalid characters at both ends, and returns "" if no valid name remains.
func NameFromDir(dir string) string {
	name := strings.TrimLeftFunc(filepath.Base(dir), func(r rune) bool { return !startsName(r) })
	runes := []rune(name)
	name = string(runes[:min(len(runes), maxName)])
	name = strings.TrimRightFunc(name, func(r rune) bool { return !inName(r) })
	if CheckName(name) != nil {
		return ""
	}
	return name
}

// maxName is the maximum length of a project name, in characters.
const maxName = 64

func startsName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inName also accepts combining marks: in some scripts, and in the file names of
// some systems, they are part of a letter.
func inName(r rune) bool {
	return startsName(r) || unicode.IsMark(r) || strings.ContainsRune(" ._-", r)
}

// reservedName reports whether Windows reserves the name for a device, with or without an
// extension. (It reserves COM¹, too, which inName refuses.)
func reservedName(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	base = strings.TrimRight(base, " ")
	if len(base) == 4 && base[3] >= '0' && base[3] <= '9' {
		return base[:3] == "com" || base[:3] == "lpt"
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, base)
}

// CheckName returns an error if a name cannot be that of a project.
func CheckName(name string) error {
	runes := []rune(name)
	switch {
	case len(runes) == 0:
		return errors.New("the name is empty")
	case len(runes) > maxName:
		return fmt.Errorf("the name has %d characters; the maximum is %d", len(runes), maxName)
	case !startsName(runes[0]) || slices.ContainsFunc(runes, func(r rune) bool { return !inName(r) }):
		return errors.New(report.Typed(name) + " is not a valid name: use letters, digits, spaces " +
			"and . _ -, and begin with a letter or digit")
	case reservedName(name):
		return fmt.Errorf("%q is a reserved name on Windows", name)
	}
	return nil
}

// Slug converts a project name to a package and agent name: lower-case ASCII
// letters and digits joined by single hyphens, or "bot" if none remain. At most 55
// characters, so that SLUG-secrets is a valid name for a secret set.
func Slug(name string) string {
	other := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }
	s := strings.Join(strings.FieldsFunc(strings.ToLower(name), other), "-")
	return cmp.Or(strings.TrimRight(s[:min(len(s), 55)], "-"), "bot")
}
