package render

import (
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/python"
	"vbot/templates"
)

// A standIn plays a service in the tests of a project.
type standIn struct {
	Service
	Class     string // of stand_ins.py
	Key       string // the variable with the key that it expects, or ""
	Addresses []catalog.Address
	// Substitute is set if no variable has the service's address, or no stand-in knows its protocol. Then
	// another service of the framework replaces it.
	Substitute *substitute
	file       string
}

// A substitute is a service of the framework that replaces another one in tests.
type substitute struct {
	Module, Class     string // of the service that is replaced
	ByModule, ByClass string // of the service that replaces it
	Variable          string // for the address of its stand-in
	Address           string // with {} for HOST:PORT
	Thinks            bool   // it takes the system instruction
	file              string // of the stand-in
}

// substitutes are the services that replace others, by kind. They need no packages other than the
// framework's.
var substitutes = map[string]substitute{
	catalog.KindSTT: {
		ByModule: "pipecat.services.openai.stt",
		ByClass:  "OpenAISTTService",
		Address:  "http://{}/v1",
		file:     "openai",
	},
	catalog.KindLLM: {
		ByModule: "pipecat.services.openai.llm",
		ByClass:  "OpenAILLMService",
		Address:  "http://{}/v1",
		Thinks:   true,
		file:     "openai_chat",
	},
	catalog.KindTTS: {
		ByModule: "pipecat.services.openai.tts",
		ByClass:  "OpenAITTSService",
		Address:  "http://{}/v1",
		file:     "openai",
	},
	catalog.KindRealtime: {
		ByModule: "pipecat.services.openai.realtime.llm",
		ByClass:  "OpenAIRealtimeLLMService",
		Address:  "ws://{}/v1/realtime",
		Thinks:   true,
		file:     "realtime_api",
	},
}

// standIns returns the stand-ins for the bot's services, in the order in which bot.py builds these.
func (d *Data) standIns() (list []standIn) {
	for _, s := range d.Services {
		if s.Kind == catalog.KindVideo {
			continue // see Avatar
		}
		one := standIn{Service: s, file: s.StandIn.File, Addresses: s.StandIn.Addresses}
		if one.file == "" {
			other := substitutes[s.Kind]
			other.Module, other.Class = moduleOf(s), s.Build.Class
			other.Variable = strings.ToUpper(s.Name()) + "_STAND_IN"
			one.file, one.Substitute = other.file, &other
			one.Addresses = []catalog.Address{{Name: other.Variable, Value: other.Address}}
		} else if i := slices.IndexFunc(s.Env, isKey); i >= 0 {
			one.Key = s.Env[i].Name
		}
		one.file = s.Kind + "/" + one.file
		one.Class = standInClass(one.file)
		list = append(list, one)
	}
	return list
}

// TestsTLS reports whether the framework connects to a stand-in only with TLS.
func (d *Data) TestsTLS() bool {
	return slices.ContainsFunc(d.StandIns, func(s standIn) bool { return s.Service.StandIn.TLS })
}

// Avatar is the class of the video avatar's service, and its module; nil if there is none. In tests, there
// is no avatar: the substitute only passes the audio on.
func (d *Data) Avatar() *substitute {
	if d.Video() == nil {
		return nil
	}
	return &substitute{Module: moduleOf(*d.Video()), Class: d.Video().Build.Class}
}

// Substitutes are the stand-ins of services that are replaced in tests.
func (d *Data) Substitutes() []standIn {
	return slices.DeleteFunc(slices.Clone(d.StandIns), func(s standIn) bool { return s.Substitute == nil })
}

// HangsUp are the carriers that the framework asks to end a call, which no test may: the class of each one's
// serializer, and its module.
func (d *Data) HangsUp() (list []substitute) {
	for _, t := range d.PhoneTransports() {
		if t.StandIn.HangsUp {
			class := t.Label + "FrameSerializer"
			list = append(list, substitute{Module: "pipecat.serializers." + t.Key, Class: class})
		}
	}
	return list
}

// Settings are the variables that point the bot at the stand-in, with their values as Python expressions.
func (s standIn) Settings() (list []setting) {
	for _, a := range s.Addresses {
		value := `f"` + strings.ReplaceAll(a.Value, "{}", "{"+s.Name()+"}") + `"`
		if a.Value == "{}" {
			value = s.Name()
		}
		list = append(list, setting{a.Name, value})
	}
	return list
}

func isKey(v catalog.Variable) bool { return v.Kind == "secret" && v.Required }

// moduleOf returns the module of the service's class.
func moduleOf(s Service) string {
	for _, i := range s.Imports {
		if slices.Contains(i.Names, s.Build.Class) {
			return i.Module
		}
	}
	return ""
}

// A setting is a variable with the value that it has in tests.
type setting struct{ Name, Value string }

// TestVariables are the variables of .env in tests: those that the bot requires, except addresses of
// stand-ins.
func (d *Data) TestVariables() (list []setting) {
	seen := map[string]bool{}
	kinds := map[string]string{}
	for _, s := range d.all() {
		for _, v := range s.Env {
			kinds[v.Name] = v.Kind
		}
	}
	for _, s := range d.StandIns {
		for _, a := range s.Addresses {
			seen[a.Name] = true
		}
	}
	add := func(name, value string) {
		if !seen[name] {
			list = append(list, setting{name, value})
		}
		seen[name] = true
	}
	for _, s := range d.StandIns {
		if s.Key != "" {
			add(s.Key, testValue(s.Key, "secret"))
		}
	}
	isSet := func(name string) bool { return seen[name] }
	for _, r := range d.requirements {
		rule := r.Rule
		if r.Server || rule.IsZero() || rule.IfSet != "" || slices.ContainsFunc(rule.Names, isSet) {
			continue
		}
		add(rule.Names[0], testValue(rule.Names[0], kinds[rule.Names[0]]))
	}
	for _, v := range d.selfHost { // tests that use PHONE_TOKEN or BOT_PUBLIC_URL set them
		if v.Required && v.Name != "PHONE_TOKEN" && v.Name != "BOT_PUBLIC_URL" {
			add(v.Name, testValue(v.Name, v.Kind))
		}
	}
	return list
}

// testValue is the value of a variable of that kind in tests.
func testValue(name, kind string) string {
	switch kind {
	case "url":
		return "https://test.example"
	case "region":
		return "us-east-1"
	}
	return "test-" + strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// A caller plays somebody who connects to the bot over a transport, unlike evals.
type caller struct {
	Service
	Class string // of people.py
}

// Callers are the callers in test_call.py.
func (d *Data) Callers() (list []caller) {
	for _, t := range d.Transports {
		if t.StandIn.File != "" {
			list = append(list, caller{t, standInClass("people/" + t.StandIn.File)})
		}
	}
	return list
}

// PhoneCallers are the callers by telephone, WebCallers the others.
func (d *Data) PhoneCallers() []caller {
	return slices.DeleteFunc(d.Callers(), func(c caller) bool { return !c.Service.Service.Telephony })
}

func (d *Data) WebCallers() []caller {
	return slices.DeleteFunc(d.Callers(), func(c caller) bool { return c.Service.Service.Telephony })
}

// StandInFiles and PeopleFiles are the files that make up stand_ins.py and people.py.
func (d *Data) StandInFiles() (files []string) {
	for _, s := range d.StandIns {
		files = withNeeded(files, s.file)
	}
	return files
}

func (d *Data) PeopleFiles() []string {
	files := []string{"people/person"}
	for _, c := range d.Callers() {
		files = withNeeded(files, "people/"+c.Service.StandIn.File)
	}
	return files
}

// withNeeded adds a file of templates/stand_ins, after those that it imports.
func withNeeded(files []string, file string) []string {
	if slices.Contains(files, file) {
		return files
	}
	imports, _ := standInSource(file)
	for _, i := range imports {
		if needed := neighbour(file, i.Module); needed != "" {
			files = withNeeded(files, needed)
		}
	}
	return append(files, file)
}

// neighbour returns the file of templates/stand_ins that a file imports as this module, and is joined with:
// a file of the same folder, or stand_in; "" if the module is not one of them.
func neighbour(file, module string) string {
	folder, _, isInFolder := strings.Cut(file, "/")
	switch name := folder + "/" + module; {
	case isInFolder && module == "stand_in":
		return module
	case isInFolder && standInText(name) != "":
		return name
	}
	return ""
}

// Imports are the import statements of files of templates/stand_ins, except imports of each other. Code is
// the rest of the files.
func (d *Data) Imports(files []string) string {
	var all []string
	for _, f := range files {
		imports, _ := standInSource(f)
		for _, i := range imports {
			if neighbour(f, i.Module) == "" {
				all = append(all, i.String())
			}
		}
	}
	return strings.Join(all, "\n")
}

func (d *Data) Code(files []string) string {
	var parts []string
	for _, f := range files {
		_, code := standInSource(f)
		parts = append(parts, strings.TrimSpace(code))
	}
	return strings.Join(parts, "\n\n\n")
}

// Source is the unchanged text of a file of templates/stand_ins.
func (d *Data) Source(file string) string { return strings.TrimSuffix(standInText(file), "\n") }

// standInText returns the text of a file of templates/stand_ins, "" if it does not exist; a test renders all.
func standInText(file string) string {
	text, _ := templates.Files.ReadFile("stand_ins/" + file + ".py")
	return string(text)
}

// standInSource splits a file of templates/stand_ins into its import statements and what follows them.
func standInSource(file string) (imports []python.Import, code string) {
	_, rest, _ := strings.Cut(standInText(file), `"""`)
	_, rest, _ = strings.Cut(rest, "\"\"\"\n")
	var head strings.Builder
	for line := range strings.Lines(rest) {
		if !isImport(line) {
			break
		}
		head.WriteString(line)
	}
	return python.ParseImports(head.String()), rest[head.Len():]
}

// isImport reports whether the line is part of import statements as ruff formats them: a first, middle or
// last line, or an empty one.
func isImport(line string) bool {
	for _, start := range []string{"import ", "from ", "    ", ")", "\n"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// standInClass returns the last class of the file that plays a service or a person.
func standInClass(file string) (name string) {
	for line := range strings.Lines(standInText(file)) {
		class, isClass := strings.CutPrefix(line, "class ")
		of, base, hasBase := strings.Cut(class, "(")
		isOther := strings.HasPrefix(base, "AudioStreamTrack") || strings.HasPrefix(base, "Exception")
		if isClass && hasBase && !isOther {
			name = of
		}
	}
	return name
}

// TestGreeting is the greeting of the bot in tests, as a Python expression.
func (d *Data) TestGreeting() string {
	if d.LocalLLM() {
		return "GREETING"
	}
	return "script.greeting"
}
