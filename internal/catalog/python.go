package catalog

import (
	"slices"
	"strings"

	"vbot/internal/python"
	"vbot/internal/report"
)

// The files of templates/services are plain Python. This file extracts what bot.py
// needs of them.

// Code is the code of one service, as bot.py has it.
type Code struct {
	Imports      []python.Import
	Body         string // the statements that build it, indented by four, without the last line's end
	NeedsSession bool   // build takes an aiohttp session
}

// Code splits the service's file into imports and body. Lines that end in
// `# when: CONDITION` are kept only if the condition is true.
func (s *Service) Code(when map[string]bool) Code {
	code := Code{
		Imports:      python.ParseImports(s.imports),
		NeedsSession: strings.Contains(s.parameters, "session:"),
	}
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
	code.Body = substitute(code.Body, "tools", "TOOLS")
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
var buildParameters = []string{
	"system_instruction: str",
	"language: str",
	"session: aiohttp.ClientSession",
	"tools: list[DirectFunction]",
	"krisp_filter: BaseAudioFilter | None",
	"video_width: int",
	"video_height: int",
}

// checkCode returns what would get lost on the way to bot.py, or break it. Whether it
// is Python, and of the right types, only Python's own tools can say.
func (s *Service) checkCode() (problems []report.Problem) {
	top := strings.Count(s.head, "\n") + 1 // the first line below the head
	at := top
	add := func(format string, args ...any) { problems = append(problems, s.problem(at, format, args...)) }
	name := s.Name()
	whole := s.imports + "\ndef build(" + s.parameters + ") -> " + s.Class + ":\n" + s.statements + "\n    return " + name + "\n"
	makes := strings.Contains("\n"+s.statements, "\n    "+name+" = ")
	if s.source != whole || !python.Uses(s.imports, s.Class) || !makes {
		add("expected imports, then `def build(...) -> CLASS:` with a line `    %s = CLASS(...)`, and at its end `    return %s`", name, name)
		return problems
	}
	var formatted []string
	for _, i := range python.ParseImports(s.imports) {
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

// TidyImports merges the imports between the markers of a template with the extra
// ones, drops those that the code does not use, and formats them as ruff does.
func TidyImports(src string, extra []python.Import) string {
	before, rest, ok := strings.Cut(src, "# imports\n")
	if !ok {
		return src
	}
	block, code, _ := strings.Cut(rest, "# end of imports\n")
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
		if used := slices.DeleteFunc(names, func(n string) bool { return !python.Uses(code, n) }); len(used) > 0 {
			imports = append(imports, python.Import{Module: module, Names: used})
		}
	}
	return before + python.FormatImports(imports) + code
}

// substitute puts other in the place of the parameter name in the code. It leaves keywords,
// attributes and texts of that name alone.
func substitute(code, name, other string) string {
	var b strings.Builder
	rest := 0
	for at := range python.Words(code, name) {
		end := at + len(name)
		if !strings.ContainsAny(code[max(0, at-1):at], `."'`) && !strings.HasPrefix(code[end:], "=") {
			b.WriteString(code[rest:at] + other)
			rest = end
		}
	}
	return b.String() + code[rest:]
}
