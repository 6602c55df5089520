package python

import (
	"slices"
	"testing"
)

// Names in comments and texts are no code, but those that an f-string fills in are.
func TestCode(t *testing.T) {
	for source, want := range map[string]bool{
		"A()":        true,
		"x = A":      true,
		"# A\n":      false,
		"x = 1  # A": false,
		`x = "A"`:    false,
		`x = 'A'`:    false,
		"def f():\n    \"\"\"A.\n\n    A.\"\"\"\n": false,
		`x = f"{A}"`:      true,
		`x = f"A {B}"`:    false,
		`x = "it's"; A()`: true,
		`x = "\""; A()`:   true,
		"BA()":            false,
		"A_B":             false,
	} {
		if got := Uses(Code(source), "A"); got != want {
			t.Errorf("%q uses A: %v, want %v", source, got, want)
		}
	}
}

// Imports come out as ruff sorts and breaks them, each once.
func TestFormatImports(t *testing.T) {
	const source = `import call
from pipecat.b import c, B, A_B
import aiohttp
from os import path
import asyncio
from pipecat.a import (
    Long,
)
import asyncio
`
	const want = `import asyncio
from os import path

import aiohttp
from pipecat.a import Long
from pipecat.b import A_B, B, c

import call
`
	imports := ParseImports(source)
	if got := FormatImports(slices.Clone(imports)); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := FormatImports(nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}
