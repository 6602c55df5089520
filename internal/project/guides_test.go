package project

import (
	"fmt"
	"testing"
)

func TestHasOldGuide(t *testing.T) {
	const stamp = "<!-- vbot %s -->\n"
	for _, c := range []struct {
		text string
		want bool
	}{
		{fmt.Sprintf(stamp, "0.1.9"), true},
		{fmt.Sprintf(stamp, "0.2.0"), false},
		{fmt.Sprintf(stamp, "0.10.0"), false},
		{"x\n" + fmt.Sprintf(stamp, "0.0.1") + "\n\n", true},
		{fmt.Sprintf(stamp, "0.0.1") + "and more", false},
		{"", false},
		{"<!-- vbot 999999999999999999999.0.0 -->", false},
	} {
		if got := (Step{
			found: []byte(c.text),
			data:  []byte(fmt.Sprintf(stamp, "0.2.0")),
		}).HasOldGuide(); got != c.want {
			t.Errorf("HasOldGuide of %q: %t, want %t", c.text, got, c.want)
		}
	}
}
