package main

// version is the semantic version of this source tree. As a constant it is also
// correct in a plain `go build` and in a build from the tarball.
const version = "0.1.0"
