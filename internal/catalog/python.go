package catalog

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"vbot/internal/report"
)

// The files of templates/services are plain Python. This file extracts what bot.py
// needs of them.

// Code is the code of one service, as bot.py has it.
type Code struct {
	Imports      []Import
	Body         string // the statements that build it, indented by four, without the last line's end
	NeedsSession bool   // build takes an aiohttp session
}

// A Import is `import MODULE`, or with names `from MODULE import NAMES`.
type Import struct {
	Module string
	Names  []string
}

// Code splits the service's file into imports and body. Lines that end in
// `# when: CONDITION` are kept only if the condition is true.
func (s *Service) Code(when map[string]bool) Code {
	code := Code{Imports: ParseImports(s.imports), NeedsSession: strings.Contains(s.parameters, "session:")}
	var body []string
	for line := range strings.SplitSeq(s.statements, "\n") {
		kept, mark, ok := strings.Cut(line, whenMark)
		if ok && mark == "language" {
			kept = substitute(kept, "language", "LANGUAGE")
		}
		if !ok || when[mark] {
			body = append(body, kept)
		}
	}
	for i := 1; i+1 < len(body); i++ { // a call with one argument, as the rest of it was left out
		call := body[i-1] + strings.TrimSuffix(strings.TrimSpace(body[i]), ",") + strings.TrimSpace(body[i+1])
		if strings.HasSuffix(body[i-1], "(") && strings.TrimSpace(body[i+1]) == ")," && strings.HasSuffix(body[i], ",") && !strings.Contains(call, "#") && len(call) <= 100 {
			body = slices.Replace(body, i-1, i+2, call)
		}
	}
	// bot.py has constants in place of these parameters; the lengths are the same.
	code.Body = substitute(strings.Join(body, "\n"), "system_instruction", "SYSTEM_INSTRUCTION")
	return code
}

const whenMark = "  # when: "

var conditions = []string{"language", "telephony", "noise_cancel", "video_in", "video_out", "avatar"}

// Name is the name that the code gives what it builds.
func (s *Service) Name() string {
	switch s.Kind {
	case KindRealtime:
		return "llm" // it takes the language model's place
	case KindTransport:
		return "params"
	}
	return s.Kind
}

// buildParameters are those of build. Only transports have the ones after the fourth.
var buildParameters = []string{"system_instruction: str", "language: str", "session: aiohttp.ClientSession", "hang_up: DirectFunction",
	"krisp_filter: BaseAudioFilter | None", "video_width: int", "video_height: int"}

// checkCode returns what would get lost on the way to bot.py, or break it. Whether it
// is Python, and of the right types, only Python's own tools can say.
func (s *Service) checkCode() (problems []report.Problem) {
	top := strings.Count(s.head, "\n") + 1 // the first line below the head
	at := top
	add := func(format string, args ...any) { problems = append(problems, s.problem(at, format, args...)) }
	name := s.Name()
	whole := s.imports + "\ndef build(" + s.parameters + ") -> " + s.Class + ":\n" + s.statements + "\n    return " + name + "\n"
	if s.source != whole || !uses(s.imports, s.Class) || !strings.Contains("\n"+s.statements, "\n    "+name+" = ") {
		add("expected imports, then `def build(...) -> CLASS:` with a line `    %s = CLASS(...)`, and at its end `    return %s`", name, name)
		return problems
	}
	var formatted []string
	for _, i := range ParseImports(s.imports) {
		formatted = append(formatted, strings.Split(i.String(), "\n")...)
	}
	for i, line := range strings.Split(s.imports, "\n") {
		if at = top + i; line != "" && (!slices.Contains(formatted, line) || strings.Contains(line, " .")) {
			add("only imports may stand above build: import MODULE, or from MODULE import NAME, NAME; as ruff formats them")
		}
	}
	may := buildParameters
	if s.Kind != KindTransport {
		may = may[:4]
	}
	for parameter := range strings.SplitSeq(s.parameters, ",") {
		if parameter = strings.TrimSpace(parameter); parameter != "" && !slices.Contains(may, parameter) {
			add("build has no parameter %q, only %s", parameter, strings.Join(may, ", "))
		}
	}
	if told := strings.Contains(s.parameters, "language:"); told && s.Language() != "told" {
		add("build takes a language, so a line in the head must list some: # languages: en, de, pt-BR")
	}
	body := false
	for i, line := range strings.Split(s.source, "\n") {
		at = top + i
		body = body || strings.Contains(line, ") -> ")
		_, mark, ok := strings.Cut(line, whenMark)
		if ok && !slices.Contains(conditions, mark) {
			add("unknown condition %q", mark)
		}
		code, _, _ := strings.Cut(line, "#")
		if mark != "language" && body && strings.HasPrefix(line, " ") && substitute(code, "language", "") != code {
			add("a line that reads language must end in `# when: language`")
		}
		_, read, _ := strings.Cut(line, `os.environ["`)
		if name, _, ok := strings.Cut(read, `"`); ok && s.line("env: "+name+" ") == 0 {
			add("the head has no line for %s; add # env: %s required ...", name, name)
		}
	}
	for _, v := range s.Env {
		if at = s.line("env: " + v.Name + " "); !v.ReadByLibrary && !v.Server && s.ModeOf == "" && !strings.Contains(s.source, `"`+v.Name+`"`) {
			add("build does not read %s; if the framework does, add the word library", v.Name)
		}
	}
	return problems
}

// AsExpression converts `    params = X(...)` to X(...), for the dictionary of transports, in
// as few lines as fit into 100 columns.
func AsExpression(key, body string) string {
	_, expression, _ := strings.Cut(body, " = ")
	line := strings.NewReplacer("(\n        ", "(", ",\n    )", ")", "\n        ", " ").Replace(expression)
	class, arguments, _ := strings.Cut(strings.TrimSuffix(line, ")"), "(")
	switch {
	case strings.Contains(line, "#"):
	case len(`        "": lambda: ,`+key+line) <= 100:
		return line
	case len("            "+arguments) <= 100:
		return class + "(\n            " + arguments + "\n        )"
	}
	return strings.ReplaceAll(expression, "\n", "\n    ")
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

// TidyImports merges the imports between the markers of a template with the extra
// ones, drops those that the code does not use, and formats them as ruff does.
func TidyImports(src string, extra []Import) string {
	before, rest, ok := strings.Cut(src, "# imports\n")
	if !ok {
		return src
	}
	block, code, _ := strings.Cut(rest, "# end of imports\n")
	var imports []Import
	names := map[string][]string{} // by module
	for _, i := range append(ParseImports(block), extra...) {
		top, _, _ := strings.Cut(i.Module, ".")
		if i.Names != nil {
			names[i.Module] = append(names[i.Module], i.Names...)
		} else if uses(code, top) && !strings.Contains(before, i.String()+"\n") {
			imports = append(imports, i)
		}
	}
	for module, names := range names {
		if used := slices.DeleteFunc(names, func(n string) bool { return !uses(code, n) }); len(used) > 0 {
			imports = append(imports, Import{module, used})
		}
	}
	slices.SortFunc(imports, func(a, b Import) int {
		return cmp.Or(cmp.Compare(a.origin(), b.origin()), cmp.Compare(min(len(a.Names), 1), min(len(b.Names), 1)), strings.Compare(a.Module, b.Module))
	})
	var lines []string
	for n, i := range imports {
		if n > 0 && i.origin() != imports[n-1].origin() {
			lines = append(lines, "")
		}
		lines = append(lines, i.String())
	}
	return before + strings.Join(slices.Compact(lines), "\n") + "\n" + code
}

// origin is the rank of the paragraph in which ruff has the import: Python's own modules, packages,
// and files beside bot.py.
func (i Import) origin() int {
	top, _, _ := strings.Cut(i.Module, ".")
	switch {
	case slices.Contains(pythonStandard, top):
		return 0
	case slices.Contains([]string{"call", "settings", "watch"}, top):
		return 2
	}
	return 1
}

// pythonStandard lists the modules of the standard library that a service may import.
var pythonStandard = strings.Fields(`
	abc argparse array asyncio base64 binascii bisect codecs collections concurrent configparser contextlib
	contextvars copy csv ctypes dataclasses datetime decimal difflib email encodings enum errno fnmatch
	fractions functools gettext glob gzip hashlib heapq hmac html http importlib inspect io ipaddress
	itertools json locale logging math mimetypes mmap multiprocessing numbers operator os pathlib pickle
	platform pprint queue quopri random re secrets select selectors shlex shutil signal socket socketserver
	sqlite3 ssl stat statistics string struct subprocess sys tempfile textwrap threading time tomllib
	traceback types typing unicodedata urllib uuid warnings wave weakref xml zipfile zlib zoneinfo`)

// words yields where name stands in the code as a whole word.
func words(code, name string) iter.Seq[int] {
	letter := func(at int) bool {
		return at >= 0 && at < len(code) && (code[at] == '_' || code[at] >= '0' && code[at] <= '9' || code[at]|0x20 >= 'a' && code[at]|0x20 <= 'z')
	}
	return func(yield func(int) bool) {
		for end := 0; name != ""; {
			at := strings.Index(code[end:], name) + end
			if at < end {
				return
			}
			end = at + len(name)
			if !letter(at-1) && !letter(end) && !yield(at) {
				return
			}
		}
	}
}

// substitute puts other in the place of the parameter name in the code. It leaves keywords,
// attributes and texts of that name alone.
func substitute(code, name, other string) string {
	var b strings.Builder
	rest := 0
	for at := range words(code, name) {
		end := at + len(name)
		if !strings.ContainsAny(code[max(0, at-1):at], `."'`) && !strings.HasPrefix(code[end:], "=") {
			b.WriteString(code[rest:at] + other)
			rest = end
		}
	}
	return b.String() + code[rest:]
}

// uses reports whether the code contains name as a whole word.
func uses(code, name string) bool {
	for range words(code, name) {
		return true
	}
	return false
}

// String returns the statement as ruff formats it at 100 columns, its names in this order:
// constants, classes, then the rest, each sorted.
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
		return cmp.Or(cmp.Compare(class(a), class(b)), strings.Compare(a, b))
	}))
	line := "from " + i.Module + " import " + strings.Join(names, ", ")
	if len(line) <= 100 {
		return line
	}
	return "from " + i.Module + " import (\n    " + strings.Join(names, ",\n    ") + ",\n)"
}
