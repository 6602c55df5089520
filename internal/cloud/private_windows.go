package cloud

import "io/fs"

// own returns nil: Windows has no Unix owners.
func own(fs.FileInfo) error { return nil }

// private returns nil: Windows has neither Unix modes nor Unix owners.
func private(fs.FileInfo) error { return nil }
