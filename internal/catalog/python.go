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

// Name returns the variable to which the code assigns what it builds.
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

// checkCode returns problems with code that would be lost in bot.py, or break it. Only
// Python's own tools can check the syntax and the types.
func (s *Service) checkCode() (problems report.Problems) {
	first := strings.Count(s.frontMatter, "\n") + 1 // the first line below the front matter
	name := s.Name()
	b := s.Build
	whole := b.Imports + "\ndef build(" + b.Parameters + ") -> " + b.Class + ":\n" +
		b.Statements + "\n    return " + name + "\n"
	isMade := strings.Contains("\n"+b.Statements, "\n    "+name+" = ")
	if s.source != whole || !python.Uses(b.Imports, b.Class) || !isMade {
		const expected = "expected imports, then `def build(...) -> CLASS:` " +
			"with a line `    %s = CLASS(...)`, and at its end `    return %s`"
		s.refuse(&problems, first, expected, name, name)
		return problems
	}
	s.checkImports(&problems, first)
	s.checkParameters(&problems, first)
	s.checkStatements(&problems, first)
	for _, v := range s.Env {
		isReadElsewhere := v.ReadByLibrary || v.Server || s.ModeOf != ""
		if !isReadElsewhere && !strings.Contains(s.source, `"`+v.Name+`"`) {
			const unread = "build does not read %s; if the framework does, add the word library"
			s.refuse(&problems, s.line("env: "+v.Name+" "), unread, v.Name)
		}
	}
	return problems
}

// checkImports checks the lines above build. first is the number of the first line of code.
func (s *Service) checkImports(problems *report.Problems, first int) {
	var formatted []string
	for _, i := range python.ParseImports(s.Build.Imports) {
		formatted = append(formatted, strings.Split(i.String(), "\n")...)
	}
	for i, line := range strings.Split(s.Build.Imports, "\n") {
		isRelative := strings.Contains(line, " .")
		if line != "" && (isRelative || !slices.Contains(formatted, line)) {
			s.refuse(problems, first+i, "only imports may be above build: "+
				"import MODULE, or from MODULE import NAME, NAME; as ruff formats them")
		}
	}
}

// checkParameters checks the parameters of build. first is the number of the first line of code.
func (s *Service) checkParameters(problems *report.Problems, first int) {
	at := first // of `def build`
	if s.Build.Imports != "" {
		at += strings.Count(s.Build.Imports, "\n") + 1
	}
	allowed := buildParameters
	if s.Kind != KindTransport {
		allowed = allowed[:4]
	}
	for parameter := range strings.SplitSeq(s.Build.Parameters, ",") {
		parameter = strings.TrimSpace(parameter)
		if parameter != "" && !slices.Contains(allowed, parameter) {
			list := strings.Join(allowed, ", ")
			s.refuse(problems, at, "build has no parameter %q, only %s", parameter, list)
		}
	}
	takesLanguage := strings.Contains(s.Build.Parameters, "language:")
	if takesLanguage && s.Language() != "told" {
		const listSome = "build takes a language, so the front matter must list some: " +
			"# languages: en, de, pt-BR"
		s.refuse(problems, at, listSome)
	}
}

// checkStatements checks the conditions of lines, and the variables that are read. first is the number
// of the first line of code.
func (s *Service) checkStatements(problems *report.Problems, first int) {
	isBody := false
	for i, line := range strings.Split(s.source, "\n") {
		isBody = isBody || strings.Contains(line, ") -> ")
		_, condition, isConditional := strings.Cut(line, WhenMark)
		if isConditional && !slices.Contains(conditions, condition) {
			s.refuse(problems, first+i, "unknown condition %q", condition)
		}
		code, _, _ := strings.Cut(line, "#")
		readsLanguage := python.Substitute(code, "language", "") != code
		if isBody && strings.HasPrefix(line, " ") && readsLanguage && condition != "language" {
			s.refuse(problems, first+i, "a line that reads language must end in `# when: language`")
		}
		_, read, _ := strings.Cut(line, `os.environ["`)
		name, _, isRead := strings.Cut(read, `"`)
		if isRead && s.line("env: "+name+" ") == 0 {
			const noLine = "the front matter has no line for %s; add # env: %s required ..."
			s.refuse(problems, first+i, noLine, name, name)
		}
	}
}
