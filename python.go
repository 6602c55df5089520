package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The files of templates/services are plain Python. This file extracts what bot.py
// needs of them.

// pythonCode is the code of one provider, as used in bot.py.
type pythonCode struct {
	imports      []pythonImport
	body         string // the statements that build it, indented by four
	needsSession bool
	needsIfSet   bool
}

// A pythonImport is `import MODULE`, or with names `from MODULE import NAMES`.
type pythonImport struct {
	module string
	names  []string
}

// parseCode splits the provider's file into imports and body. Lines that end in
// `# when: CONDITION` are kept only if the condition is true.
func (p *provider) parseCode(when map[string]bool) pythonCode {
	imports, rest, isFunction := strings.Cut(p.source, "\ndef build(")
	signature, rest, hasBody := strings.Cut(rest, ":\n")
	statements, last, returns := strings.Cut(rest, "\n    return ")
	if !isFunction || !hasBody || !returns || strings.Count(last, "\n") != 1 {
		panic(p.file + ": imports and one function build(...) that ends in a return are needed")
	}
	code := pythonCode{imports: parseImports(imports), needsSession: strings.Contains(signature, "session:"), needsIfSet: strings.HasPrefix(signature, "if_set")}
	var body []string
	for line := range strings.Lines(statements) {
		line = strings.TrimSuffix(line, "\n")
		if kept, condition, ok := strings.Cut(line, "  # when: "); ok {
			on, known := when[condition]
			if !known {
				panic(fmt.Sprintf("%s: unknown condition %q", p.file, condition))
			}
			if !on {
				continue
			}
			line = kept
		}
		body = append(body, line)
	}
	// bot.py has a constant in place of the parameter; the length is the same.
	code.body = strings.ReplaceAll(strings.Join(body, "\n"), "=system_instruction", "=SYSTEM_INSTRUCTION")
	return code
}

// asExpression converts `    params = X(...)` to X(...), indented for the dictionary
// of transports.
func asExpression(body string) string {
	_, expression, _ := strings.Cut(body, " = ")
	return strings.ReplaceAll(expression, "\n", "\n    ")
}

// parseImports parses src, which contains only import statements.
func parseImports(src string) (imports []pythonImport) {
	src = strings.NewReplacer("(\n", "", ",\n)", "", "\n    ", " ").Replace(src)
	for line := range strings.Lines(src) {
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		switch {
		case len(words) == 2 && words[0] == "import":
			imports = append(imports, pythonImport{module: words[1]})
		case len(words) > 3 && words[0] == "from":
			imports = append(imports, pythonImport{words[1], words[3:]})
		}
	}
	return imports
}

// tidyImports merges the imports between the markers of a template with the extra
// ones, drops those that the code does not use, and formats them as ruff does.
func tidyImports(src string, extra []pythonImport) string {
	before, rest, ok := strings.Cut(src, "# imports\n")
	if !ok {
		return src
	}
	block, code, _ := strings.Cut(rest, "# end of imports\n")
	names := map[string]map[string]bool{} // by module; an empty name is a plain import
	for _, i := range append(parseImports(block), extra...) {
		if names[i.module] == nil {
			names[i.module] = map[string]bool{}
		}
		top, _, _ := strings.Cut(i.module, ".")
		if len(i.names) == 0 && uses(code, top) && !strings.Contains(before, "import "+i.module+"\n") {
			names[i.module][""] = true
		}
		for _, n := range i.names {
			if uses(code, n) {
				names[i.module][n] = true
			}
		}
	}
	var standard, thirdParty []string
	for _, module := range slices.Sorted(maps.Keys(names)) {
		to := &thirdParty
		if slices.Contains(pythonStandard, strings.Split(module, ".")[0]) {
			to = &standard
		}
		if names[module][""] {
			*to = append(*to, "import "+module)
		}
		delete(names[module], "")
		if len(names[module]) > 0 {
			*to = append(*to, fromImport(module, slices.Collect(maps.Keys(names[module]))))
		}
	}
	var sections []string
	for _, s := range [][]string{standard, thirdParty} {
		// Plain imports come before the others.
		slices.SortStableFunc(s, func(a, b string) int { return -cmp.Compare(a[:1], b[:1]) })
		if len(s) > 0 {
			sections = append(sections, strings.Join(s, "\n"))
		}
	}
	return before + strings.Join(sections, "\n\n") + "\n" + code
}

// pythonStandard lists the standard-library modules that templates and providers
// import.
var pythonStandard = []string{"asyncio", "collections", "contextlib", "datetime", "hmac", "importlib", "json", "os", "pathlib", "sys", "typing", "urllib", "wave", "xml"}

// uses reports whether the code contains name as a whole word.
func uses(code, name string) bool {
	letter := func(s string, at int) bool {
		return at >= 0 && at < len(s) && (s[at] == '_' || s[at] >= '0' && s[at] <= '9' || s[at]|0x20 >= 'a' && s[at]|0x20 <= 'z')
	}
	for from := 0; ; {
		i := strings.Index(code[from:], name)
		if i < 0 {
			return false
		}
		from += i + len(name)
		if !letter(code, from-len(name)-1) && !letter(code, from) {
			return true
		}
	}
}

// fromImport returns one import statement as ruff formats it at 100 columns:
// constants, classes, then the rest, each sorted.
func fromImport(module string, names []string) string {
	class := func(n string) int {
		switch {
		case len(n) > 1 && n == strings.ToUpper(n):
			return 0
		case n[0] >= 'A' && n[0] <= 'Z':
			return 1
		}
		return 2
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), strings.Compare(a, b))
	})
	line := "from " + module + " import " + strings.Join(names, ", ")
	if len(line) <= 100 {
		return line
	}
	return "from " + module + " import (\n    " + strings.Join(names, ",\n    ") + ",\n)"
}
