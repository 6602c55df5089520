// Package files reads files of unknown size, up to a limit.
package files

import (
	"fmt"
	"io"
)

// A TooLargeError is the error of a file that is larger than a limit.
type TooLargeError struct {
	Limit int64 // bytes
}

func (e *TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Limit) }

// Read reads all of r, at most limit bytes. If there is more, it returns a *TooLargeError and no data.
func Read(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &TooLargeError{limit}
	}
	return data, err
}
