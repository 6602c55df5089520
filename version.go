package main

// version is the version of this source tree, in semantic versioning. It is a
// constant, so that a plain `go build` and a tarball know it.
const version = "0.1.0"
