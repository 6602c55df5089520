package render

import (
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/python"
)

// Code is the code with which bot.py builds a service.
type Code struct {
	Imports      []python.Import
	Body         string // the statements that build it, indented by four, without the last line end
	NeedsSession bool   // build takes an aiohttp session
	NeedsTools   bool   // build takes the tools that the model may call
}

// Class returns the class of the object that the code builds.
func (s Service) Class() string { return s.Build.Class }

// codeOf returns the code of a service. Lines that end in `# when: CONDITION` are kept only if the
// condition is true.
func codeOf(s *catalog.Service, when map[string]bool) Code {
	code := Code{
		Imports:      python.ParseImports(s.Build.Imports),
		NeedsSession: strings.Contains(s.Build.Parameters, "session:"),
		NeedsTools:   strings.Contains(s.Build.Parameters, "tools:"),
	}
	var body []string
	for line := range strings.SplitSeq(s.Build.Statements, "\n") {
		kept, condition, conditional := strings.Cut(line, catalog.WhenMark)
		if conditional && condition == "language" {
			kept = python.Substitute(kept, "language", "LANGUAGE")
		}
		if !conditional || when[condition] {
			body = append(body, kept)
		}
	}
	code.Body = strings.Join(body, "\n")
	return code
}

// tidyImports merges the imports between the markers of a template with the extra
// ones, drops those that the code does not use, and formats them as ruff does.
func tidyImports(src string, extra []python.Import) string {
	before, rest, ok := strings.Cut(src, "# imports\n")
	if !ok {
		return src
	}
	block, after, _ := strings.Cut(rest, "# end of imports\n")
	code := python.Code(after)
	var imports []python.Import
	names := map[string][]string{} // by module
	for _, i := range append(python.ParseImports(block), extra...) {
		top, _, _ := strings.Cut(i.Module, ".")
		if i.Names != nil {
			names[i.Module] = append(names[i.Module], i.Names...)
		} else if python.Uses(code, top) && !strings.Contains(before, i.String()+"\n") {
			imports = append(imports, i)
		}
	}
	for module, names := range names {
		used := slices.DeleteFunc(names, func(n string) bool { return !python.Uses(code, n) })
		if len(used) > 0 {
			imports = append(imports, python.Import{Module: module, Names: used})
		}
	}
	return before + python.FormatImports(imports) + after
}
