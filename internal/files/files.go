// Package files reads files of unknown size, up to a limit.
package files

import (
	"fmt"
	"io"
)

// A TooLargeError says that a file is larger than a limit.
type TooLargeError struct {
	Limit int64 // bytes
}

func (e *TooLargeError) Error() string { return "larger than " + size(e.Limit) }

// size returns a number of bytes in words, such as "16 MiB".
func size(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case bytes >= mib && bytes%mib == 0:
		return fmt.Sprintf("%d MiB", bytes/mib)
	case bytes >= kib && bytes%kib == 0:
		return fmt.Sprintf("%d KiB", bytes/kib)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// Read reads all of r. If that is more than limit bytes, it returns a *TooLargeError and no data.
func Read(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &TooLargeError{limit}
	}
	return data, err
}
