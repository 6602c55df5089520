package main

import (
	"fmt"
	"slices"
)

// version is the semantic version of this source tree. As a constant it is also
// correct in a plain `go build` and in a build from the tarball.
const version = "0.1.0"

// commit is the commit of this source tree in a tarball: git archive writes it here
// (see .gitattributes), so builds from a tarball know it without git.
const commit = "$Format:%H$"

// compareVersion compares the version at the beginning of s with this one: -1 if it is
// older, 0 if equal, 1 if newer. It reports false if there is none.
func compareVersion(s string) (order int, ok bool) {
	const form = "%d.%d.%d"
	var other, this [3]int
	_, err := fmt.Sscanf(s, form, &other[0], &other[1], &other[2])
	fmt.Sscanf(version, form, &this[0], &this[1], &this[2])
	return slices.Compare(other[:], this[:]), err == nil
}
