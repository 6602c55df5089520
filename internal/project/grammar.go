package project

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"vbot/internal/python"
)

// A grammar is what a merge knows about the syntax of a kind of file.
type grammar struct {
	// split returns the units of a text that are compared: its lines, or statements of several lines.
	split func(text []byte) []string
	// both merges two changes of base that conflict as lines, if it can.
	both func(base, mine, theirs []string, at surroundings) (units []string, ok bool)
}

// surroundings are the units above and below in mine, each with its line end, or "".
type surroundings struct{ above, below string }

// grammarOf returns the grammar of the file with this name.
func grammarOf(name string) grammar {
	switch {
	case path.Ext(name) == ".toml":
		return grammar{linesOf, ofLists(sortedIfBoth)}
	case path.Base(name) == ".env.example", path.Base(name) == ".gitignore":
		return grammar{linesOf, ofLists(vbotFirst)}
	case path.Ext(name) == ".py":
		return grammar{statementsOf, ofPython}
	}
	return plainText
}

// plainText is the grammar of a text whose syntax is unknown.
var plainText = grammar{linesOf, neverBoth}

func neverBoth(_, _, _ []string, _ surroundings) ([]string, bool) { return nil, false }

// ofLists returns the function both for a file whose lines are independent: two lines can be added in the
// same place.
func ofLists(arrange arrangement) func(base, mine, theirs []string, at surroundings) ([]string, bool) {
	return func(base, mine, theirs []string, at surroundings) ([]string, bool) {
		return union(base, mine, theirs, at, func(string) bool { return true }, arrange)
	}
}

// ofPython merges imports by what they import, and lists in bot.py and similar files by their entries.
func ofPython(base, mine, theirs []string, at surroundings) ([]string, bool) {
	if !inOrderOfImports(append(slices.Clone(mine), at.below)) {
		if units, ok := union(base, mine, theirs, at, isImport, byPackage); ok {
			return units, true
		}
	}
	if units, ok := mergeImports(base, mine, theirs, at.below); ok {
		return units, true
	}
	return union(base, mine, theirs, at, isEntry, vbotFirst)
}

// isEntry reports whether a unit is an entry of a list or a dictionary whose order does not matter: of TOOLS
// or REQUIRED, a transport's parameters under its name, or a service for monitor.py. The entries of the
// pipeline are indented further.
func isEntry(unit string) bool {
	body, ok := strings.CutSuffix(unit, ",\n")
	text := strings.TrimLeft(body, " ")
	indent := len(body) - len(text)
	if !ok || indent == 0 {
		return false
	}
	isNeeds := strings.HasPrefix(text, "Needs(") && strings.HasSuffix(text, ")")
	if indent == 4 && (isName(text) || isQuoted(text) || isNeeds) {
		return true
	}
	key, value, ok := strings.Cut(text, ": ")
	if ok && isName(key) {
		return strings.HasPrefix(value, "Service(") && strings.HasSuffix(value, ")")
	}
	return ok && isQuoted(key)
}

// isName reports whether the text is a Python identifier.
func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !isNameRune(r) })
}

func isNameRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isQuoted reports whether the text is one string in double quotes.
func isQuoted(text string) bool {
	return len(text) > 1 && text[0] == '"' && strings.IndexByte(text[1:], '"') == len(text)-2
}

// opens reports whether a line is the first line of an import or an entry of several lines, and returns the
// indentation of its last line.
func opens(line string) (indent string, ok bool) {
	body, ok := strings.CutSuffix(line, "(\n")
	if !ok {
		return "", false
	}
	if strings.HasPrefix(body, "from ") && strings.HasSuffix(body, " import ") {
		return "", true
	}
	text := strings.TrimLeft(body, " ")
	indent = body[:len(body)-len(text)]
	key, value, ok := strings.Cut(text, ": ")
	if !ok || indent == "" || value == "" {
		return "", false
	}
	return indent, isName(key) && value == "Service" || isQuoted(key) && isNameRune(rune(value[len(value)-1]))
}

// statementsOf returns the lines of Python code. Each import and each entry of several lines is one unit.
func statementsOf(text []byte) (units []string) {
	lines := linesOf(text)
	for len(lines) > 0 {
		n := 1
		if indent, ok := opens(lines[0]); ok {
			inside := func(line string) bool { return strings.HasPrefix(line, indent+"    ") }
			for n < len(lines) && inside(lines[n]) {
				n++
			}
			if n < len(lines) && strings.TrimRight(lines[n], ",\n") == indent+")" {
				n++
			} else {
				n = 1
			}
		}
		units = append(units, strings.Join(lines[:n], ""))
		lines = lines[n:]
	}
	return units
}

// mergeImports merges import statements, if the units are nothing else: an import that either side adds is
// added, and one that either removes is removed. The result is sorted. next is the unit that follows in
// mine, or "".
func mergeImports(base, mine, theirs []string, next string) (units []string, ok bool) {
	var sides [3]map[string][]string // names by module; `import MODULE` is a key without names
	written := map[string]string{}   // the owner's text of each import, by its text as formatted here
	for n, side := range [][]string{base, mine, theirs} {
		sides[n] = map[string][]string{}
		for _, unit := range side {
			if unit == "\n" {
				continue
			}
			found := importsOf(unit)
			if len(found) != 1 || strings.Contains(unit, " as ") || strings.ContainsAny(unit, "#;\\") {
				return nil, false
			}
			i := found[0]
			if n == 1 {
				written[i.String()] = unit
			}
			key := i.Module
			if i.Names == nil {
				key = i.String()
			}
			sides[n][key] = append(sides[n][key], i.Names...)
		}
	}
	var imports []python.Import
	for module := range mergedKeys(sides[0], sides[1], sides[2]) {
		if name, plain := strings.CutPrefix(module, "import "); plain {
			imports = append(imports, python.Import{Module: name})
			continue
		}
		names := mergedNames(sides[0][module], sides[1][module], sides[2][module])
		if len(names) > 0 {
			imports = append(imports, python.Import{Module: module, Names: names})
		}
	}
	for _, unit := range statementsOf([]byte(python.FormatImports(imports))) {
		if own, ok := written[strings.TrimSuffix(unit, "\n")]; ok {
			unit = own
		}
		units = append(units, unit)
	}
	return between(units, mine, theirs, next), true
}

// isImport reports whether a unit is an import statement or a blank line.
func isImport(unit string) bool { return unit == "\n" || len(importsOf(unit)) == 1 }

// importsOf returns the import statement of a unit, if it is one without indentation.
func importsOf(unit string) []python.Import {
	if strings.HasPrefix(unit, " ") || strings.HasPrefix(unit, "\t") {
		return nil
	}
	return python.ParseImports(unit)
}

// byPackage is the arrangement of imports that are not sorted: vbot's come before the owner's if their
// package comes before that of the owner's first import, and otherwise after them.
func byPackage(_ string, own, vbots []string) []string {
	vbots = without(vbots, own)
	split := 0
	for n, unit := range vbots {
		if len(own) > 0 && unit != "\n" && comparePackages(unit, own[0]) < 0 {
			split = n + 1
			for split < len(vbots) && vbots[split] == "\n" {
				split++
			}
		}
	}
	return slices.Concat(vbots[:split], own, vbots[split:])
}

// comparePackages compares the packages from which two units import.
func comparePackages(a, b string) int {
	x, y := importsOf(a), importsOf(b)
	if len(x) == 0 || len(y) == 0 {
		return len(x) - len(y)
	}
	top := func(i python.Import) string { name, _, _ := strings.Cut(i.Module, "."); return name }
	return cmp.Or(cmp.Compare(x[0].Origin(), y[0].Origin()), strings.Compare(top(x[0]), top(y[0])))
}

// inOrderOfImports reports whether the imports among the units are sorted, each module once.
func inOrderOfImports(units []string) bool {
	var imports []python.Import
	for _, unit := range units {
		imports = append(imports, importsOf(unit)...)
	}
	for n := 1; n < len(imports); n++ {
		if python.Compare(imports[n-1], imports[n]) >= 0 {
			return false
		}
	}
	return true
}

// mergedKeys returns the modules that may be imported after both changes. Whether names are imported from
// a module is decided by mergedNames.
func mergedKeys(base, mine, theirs map[string][]string) map[string]bool {
	all := map[string]bool{}
	for _, side := range []map[string][]string{base, mine, theirs} {
		for module := range side {
			_, was := base[module]
			_, here := mine[module]
			_, there := theirs[module]
			if !strings.HasPrefix(module, "import ") || here && there || !was {
				all[module] = true
			}
		}
	}
	return all
}

// mergedNames returns the names that are imported from a module after both changes.
func mergedNames(base, mine, theirs []string) (names []string) {
	for _, name := range slices.Concat(base, mine, theirs) {
		was := slices.Contains(base, name)
		stays := slices.Contains(mine, name) && slices.Contains(theirs, name)
		if (stays || !was) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// between returns the imports with the blank lines before and after them: those of the side that the first
// or the last import comes from, and one at the end of a paragraph.
func between(units, mine, theirs []string, next string) []string {
	if len(units) == 0 {
		return units
	}
	first, last := units[0], units[len(units)-1]
	var before, after []string
	for _, side := range [][]string{mine, theirs} {
		if len(side) == 0 {
			continue
		}
		if side[0] == "\n" && mentions(side, first) {
			before = []string{"\n"}
		}
		if side[len(side)-1] == "\n" && mentions(side, last) {
			after = []string{"\n"}
		}
	}
	if follows, ends := importsOf(next), importsOf(last); len(follows) == 1 && len(ends) == 1 {
		after = nil
		if follows[0].Origin() != ends[0].Origin() {
			after = []string{"\n"}
		}
	}
	return slices.Concat(before, units, after)
}

// mentions reports whether an import of the same module is among the units.
func mentions(units []string, unit string) bool {
	return slices.ContainsFunc(units, func(other string) bool {
		a, b := importsOf(unit), importsOf(other)
		return len(a) == 1 && len(b) == 1 && a[0].Module == b[0].Module
	})
}

// importsInUse returns vbot's imports that a merge removes although the owner's code still uses them: they
// are in base and mine, but merged has only their use.
func importsInUse(base, mine, merged []byte) (needed []python.Import) {
	vbots, left := bindings(base), bindings(merged)
	code := python.Code(string(merged))
	for name, i := range bindings(mine) {
		_, was := vbots[name]
		_, is := left[name]
		if was && !is && python.Uses(code, name) {
			needed = append(needed, i)
		}
	}
	return needed
}

// bindings returns the imports of Python code that are not indented, by the name that they bind.
func bindings(code []byte) map[string]python.Import {
	found := map[string]python.Import{}
	for _, unit := range statementsOf(code) {
		if strings.Contains(unit, " as ") || !isImport(unit) {
			continue
		}
		for _, i := range importsOf(unit) {
			if i.Names == nil {
				top, _, _ := strings.Cut(i.Module, ".")
				found[top] = i
			}
			for _, name := range i.Names {
				found[name] = python.Import{Module: i.Module, Names: []string{name}}
			}
		}
	}
	return found
}

// withImports returns Python code with more imports, which it adds to the longest paragraph of imports.
func withImports(code []byte, more []python.Import) []byte {
	units := statementsOf(code)
	start, end := 0, 0
	for from := 0; from < len(units); from++ {
		to := from
		for to < len(units) && units[to] != "\n" && isImport(units[to]) {
			to++
		}
		if to-from > end-start {
			start, end = from, to
		}
		from = max(from, to)
	}
	var added []string
	for _, i := range more {
		added = append(added, i.String()+"\n")
	}
	block := units[start:end]
	if all, ok := mergeImports(nil, block, added, ""); ok {
		block = all
	}
	return []byte(strings.Join(slices.Concat(units[:start], block, units[end:]), ""))
}
