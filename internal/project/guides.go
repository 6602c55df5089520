package project

import (
	"fmt"
	"slices"
	"strings"
)

// GuideFiles are the paths of the guides for coding agents. They depend only on vbot's version, which their
// last line names. Existing ones are kept unless somebody asks to replace them, so the record lacks them.
var GuideFiles = []string{"AGENTS.md", "AGENT_IMPORT.md", "GETTING_STARTED.md"}

// IsGuide reports whether the path is one of GuideFiles.
func IsGuide(name string) bool { return slices.Contains(GuideFiles, name) }

// HasOldGuide reports whether an older vbot wrote the existing guide, by the versions in the last lines of
// both.
func (s Step) HasOldGuide() bool {
	stamp := func(guide []byte) string {
		text := strings.TrimSpace(string(guide))
		version, ok := strings.CutPrefix(text[strings.LastIndex(text, "\n")+1:], "<!-- vbot ")
		if !ok || !strings.HasSuffix(version, "-->") {
			return ""
		}
		return version
	}
	age, ok := CompareVersions(stamp(s.found), stamp(s.data))
	return ok && age < 0
}

// CompareVersions compares the versions at the beginning of a and b: -1 if a is older, 0 if
// they are equal, 1 if a is newer. It reports false if a has none.
func CompareVersions(a, b string) (order int, ok bool) {
	const form = "%d.%d.%d"
	var x, y [3]int
	_, err := fmt.Sscanf(a, form, &x[0], &x[1], &x[2])
	fmt.Sscanf(b, form, &y[0], &y[1], &y[2])
	return slices.Compare(x[:], y[:]), err == nil
}
