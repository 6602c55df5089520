package files

import (
	"errors"
	"strings"
	"testing"
)

func TestReadUpToTheLimit(t *testing.T) {
	if data, err := Read(strings.NewReader("1234"), 4); string(data) != "1234" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	data, err := Read(strings.NewReader("12345"), 4)
	if _, ok := errors.AsType[*TooLargeError](err); !ok || data != nil ||
		err.Error() != "larger than 4 bytes" {
		t.Errorf("%q, %v", data, err)
	}
}
