package catalog

import (
	"slices"
	"strings"

	"vbot/internal/python"
	"vbot/internal/report"
)

// WhenMark ends a line that is kept only where the condition after it is true.
const WhenMark = "  # when: "

// conditions may stand after WhenMark.
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
	whole := s.Build.Imports + "\ndef build(" + s.Build.Parameters + ") -> " + s.Build.Class + ":\n" + s.Build.Statements + "\n    return " + name + "\n"
	makes := strings.Contains("\n"+s.Build.Statements, "\n    "+name+" = ")
	if s.source != whole || !python.Uses(s.Build.Imports, s.Build.Class) || !makes {
		add("expected imports, then `def build(...) -> CLASS:` with a line `    %s = CLASS(...)`, and at its end `    return %s`", name, name)
		return problems
	}
	var formatted []string
	for _, i := range python.ParseImports(s.Build.Imports) {
		formatted = append(formatted, strings.Split(i.String(), "\n")...)
	}
	for i, line := range strings.Split(s.Build.Imports, "\n") {
		if at = top + i; line != "" && (!slices.Contains(formatted, line) || strings.Contains(line, " .")) {
			add("only imports may stand above build: import MODULE, or from MODULE import NAME, NAME; as ruff formats them")
		}
	}
	may := buildParameters
	if s.Kind != KindTransport {
		may = may[:4]
	}
	for parameter := range strings.SplitSeq(s.Build.Parameters, ",") {
		if parameter = strings.TrimSpace(parameter); parameter != "" && !slices.Contains(may, parameter) {
			add("build has no parameter %q, only %s", parameter, strings.Join(may, ", "))
		}
	}
	if told := strings.Contains(s.Build.Parameters, "language:"); told && s.Language() != "told" {
		add("build takes a language, so a line in the head must list some: # languages: en, de, pt-BR")
	}
	body := false
	for i, line := range strings.Split(s.source, "\n") {
		at = top + i
		body = body || strings.Contains(line, ") -> ")
		_, mark, ok := strings.Cut(line, WhenMark)
		if ok && !slices.Contains(conditions, mark) {
			add("unknown condition %q", mark)
		}
		code, _, _ := strings.Cut(line, "#")
		if mark != "language" && body && strings.HasPrefix(line, " ") && python.Substitute(code, "language", "") != code {
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
