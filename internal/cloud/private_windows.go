package cloud

import "io/fs"

// checkOwner returns nil: Windows has no Unix owners.
func checkOwner(fs.FileInfo) error { return nil }

// checkPrivate returns nil: Windows has neither Unix modes nor Unix owners.
func checkPrivate(fs.FileInfo) error { return nil }
