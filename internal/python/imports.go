// Package python reads and writes Python's import statements as ruff formats them.
package python

import (
	"cmp"
	"slices"
	"strings"
)

// An Import is `import MODULE` or, if it has names, `from MODULE import NAMES`.
type Import struct {
	Module string
	Names  []string
}

// ParseImports parses src, which contains only import statements.
func ParseImports(src string) (imports []Import) {
	src = strings.NewReplacer("(\n", "", ",\n)", "", "\n    ", " ").Replace(src)
	for line := range strings.Lines(src) {
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		switch {
		case len(words) == 2 && words[0] == "import":
			imports = append(imports, Import{Module: words[1]})
		case len(words) > 3 && words[0] == "from":
			imports = append(imports, Import{words[1], words[3:]})
		}
	}
	return imports
}

// compare compares two statements in ruff's order: -1 if a comes first, 1 if b does, and 0 if they are of the
// same form and module.
func compare(a, b Import) int {
	named := func(i Import) int { return min(len(i.Names), 1) }
	return cmp.Or(
		cmp.Compare(a.paragraph(), b.paragraph()),
		cmp.Compare(named(a), named(b)),
		strings.Compare(a.Module, b.Module),
	)
}

// FormatImports returns the statements as lines, without duplicates, sorted and in paragraphs like ruff's;
// "" if there are none.
func FormatImports(imports []Import) string {
	if len(imports) == 0 {
		return ""
	}
	slices.SortFunc(imports, compare)
	var lines []string
	for n, i := range imports {
		if n > 0 && i.paragraph() != imports[n-1].paragraph() {
			lines = append(lines, "")
		}
		lines = append(lines, i.String())
	}
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// paragraph returns the index of the paragraph in which ruff puts the import: 0 for the standard library, 1
// for packages, and 2 for modules of the project.
func (i Import) paragraph() int {
	top, _, _ := strings.Cut(i.Module, ".")
	switch {
	case slices.Contains(standardModules, top):
		return 0
	case slices.Contains(projectModules, top):
		return 2
	}
	return 1
}

// projectModules lists the modules of a project: files beside bot.py and in tests/, and the package vbot.
var projectModules = []string{"agent", "bot", "cast", "conftest", "sentences", "vbot"}

// standardModules lists the modules of the standard library that a service may import.
var standardModules = strings.Fields(`
	abc argparse array asyncio audioop base64 binascii bisect codecs collections concurrent
	configparser contextlib contextvars copy csv ctypes dataclasses datetime decimal difflib email
	encodings enum errno fnmatch fractions functools gettext glob gzip hashlib heapq hmac html http
	importlib inspect io ipaddress itertools json locale logging math mimetypes mmap multiprocessing
	numbers operator os pathlib pickle platform pprint queue quopri random re runpy secrets select
	selectors shlex shutil signal socket socketserver sqlite3 ssl stat statistics string struct
	subprocess sys tempfile textwrap threading time tomllib traceback types typing unicodedata unittest
	urllib uuid warnings wave weakref xml zipfile zlib zoneinfo`)

// String returns the statement as ruff formats it at 100 columns: first constants, then classes, then other
// names, each sorted without regard to case.
func (i Import) String() string {
	if i.Names == nil {
		return "import " + i.Module
	}
	class := func(n string) int {
		switch {
		case len(n) > 1 && n == strings.ToUpper(n):
			return 0
		case n[0] >= 'A' && n[0] <= 'Z':
			return 1
		}
		return 2
	}
	names := slices.Compact(slices.SortedFunc(slices.Values(i.Names), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(class(a), class(b)),
			strings.Compare(strings.ToLower(a), strings.ToLower(b)),
			strings.Compare(a, b),
		)
	}))
	line := "from " + i.Module + " import " + strings.Join(names, ", ")
	if len(line) <= 100 {
		return line
	}
	return "from " + i.Module + " import (\n    " + strings.Join(names, ",\n    ") + ",\n)"
}
