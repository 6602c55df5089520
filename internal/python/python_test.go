package python

import (
	"slices"
	"testing"
)

// Names in comments and strings are not code, except in the braces of an f-string.
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

// Imports are sorted, wrapped and deduplicated as ruff does it.
func TestFormatImports(t *testing.T) {
	const source = `import agent
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

import agent
`
	imports := ParseImports(source)
	if got := FormatImports(slices.Clone(imports)); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := FormatImports(nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}

// A variable is replaced; attributes, strings and keyword arguments of the same name are not.
func TestSubstitute(t *testing.T) {
	for code, want := range map[string]string{
		"language=language,":                      "language=LANGUAGE,",
		"hints=[Language(language)]":              "hints=[Language(LANGUAGE)]",
		`{"language": language, "a": x.language}`: `{"language": LANGUAGE, "a": x.language}`,
		`tag = language.split("-")[0]`:            `tag = LANGUAGE.split("-")[0]`,
		"a = language":                            "a = LANGUAGE",
		"language_code=language_code(language), " +
			"language2": "language_code=language_code(LANGUAGE), language2",
	} {
		if got := Substitute(code, "language", "LANGUAGE"); got != want {
			t.Errorf("%s becomes %s, want %s", code, got, want)
		}
	}
}

// Only whole words count as uses of a name.
func TestUses(t *testing.T) {
	for code, want := range map[string]bool{
		"x = Frame()":           true,
		"Frame":                 true,
		"MyFrame()":             false,
		"Frames":                false,
		"_Frame(Frame2, Frame)": true,
		"":                      false,
	} {
		if got := Uses(code, "Frame"); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}
