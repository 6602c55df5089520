package render

import (
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/templates"
)

// testsFolder is the folder of the package for tests.
const testsFolder = "server/vbot/testing/"

// A standIn plays a service in the tests of a project: a role in tests/cast.py.
type standIn struct {
	Service   Service
	Class     string // that plays it, or "" if the framework's class is replaced by one without a service
	Key       string // the variable with the key that it expects, or ""
	Addresses []catalog.Address
	InsteadOf string // the framework's class, if no variable has the service's address
	Untimed   bool
	TLS       bool
	file      string // of this class, in the folder stand_ins
}

// substitutes are the stand-ins of services that have none, by kind. A class of the framework that talks
// with it, and needs no packages other than the framework's, takes the place of the service's class.
var substitutes = map[string]string{
	catalog.KindSTT:      "openai",
	catalog.KindLLM:      "openai_chat",
	catalog.KindTTS:      "openai",
	catalog.KindRealtime: "realtime_api",
}

// standIns returns the stand-ins for the bot's services, in the order in which bot.py builds these.
func (d *Data) standIns() (list []standIn) {
	for _, s := range d.Services {
		one := standIn{Service: s, Untimed: s.StandIn.Untimed, TLS: s.StandIn.TLS}
		name := s.StandIn.File
		if name == "" {
			name = substitutes[s.Kind] // a face has none
			one.InsteadOf = s.Build.Class
		} else {
			one.Addresses = s.StandIn.Addresses
			if i := slices.IndexFunc(s.Env, isKey); i >= 0 {
				one.Key = s.Env[i].Name
			}
		}
		if name != "" {
			one.file = s.Kind + "/" + name
			one.Class = lastClass("stand_ins/" + one.file)
		}
		list = append(list, one)
	}
	return list
}

func isKey(v catalog.Variable) bool { return v.Kind == "secret" && v.Required }

// testsTLS reports whether the framework connects to a stand-in only with TLS.
func (d *Data) testsTLS() bool {
	return slices.ContainsFunc(d.StandIns, func(s standIn) bool { return s.TLS })
}

// A caller plays somebody who connects to the bot over a transport, which evals do not.
type caller struct {
	Transport Service
	Class     string // that plays somebody
}

// callers returns the callers over the bot's transports.
func (d *Data) callers() (list []caller) {
	for _, t := range d.Transports {
		if t.StandIn.File != "" {
			list = append(list, caller{t, lastClass("people/" + t.StandIn.File)})
		}
	}
	return list
}

// PhoneCallers returns the callers by telephone.
func (d *Data) PhoneCallers() []caller {
	return slices.DeleteFunc(d.callers(), func(c caller) bool { return !c.Transport.Telephony })
}

// WebCallers returns the callers over web transports.
func (d *Data) WebCallers() []caller {
	return slices.DeleteFunc(d.callers(), func(c caller) bool { return c.Transport.Telephony })
}

// CastImports returns the import statements of tests/cast.py, except those of the framework.
func (d *Data) CastImports() (lines []string) {
	add := func(file, class string) {
		lines = append(lines, "from vbot.testing."+strings.ReplaceAll(file, "/", ".")+" import "+class)
	}
	for _, s := range d.StandIns {
		if s.Class != "" {
			add("stand_ins/"+s.file, s.Class)
		}
	}
	for _, c := range d.callers() {
		add("people/"+c.Transport.StandIn.File, c.Class)
	}
	if d.testsTLS() {
		add("tls", "certify")
	}
	return lines
}

// standInFiles returns the bot's files in the folders people and stand_ins of the package for tests.
func (d *Data) standInFiles() (paths []string) {
	if !d.EnableEval {
		return nil
	}
	paths = withImported(paths, "people/person")
	for _, s := range d.StandIns {
		if s.file != "" {
			paths = withImported(paths, "stand_ins/"+s.file)
		}
	}
	for _, c := range d.callers() {
		paths = withImported(paths, "people/"+c.Transport.StandIn.File)
	}
	slices.Sort(paths)
	return paths
}

// withImported adds the path of a module, of the packages that it is in, and of those modules in the folders
// people and stand_ins that it imports.
func withImported(paths []string, file string) []string {
	path := testsFolder + file + ".py"
	if slices.Contains(paths, path) {
		return paths
	}
	paths = append(paths, path)
	for folder := file; strings.Contains(folder, "/"); {
		folder = folder[:strings.LastIndex(folder, "/")]
		if init := testsFolder + folder + "/__init__.py"; !slices.Contains(paths, init) {
			paths = append(paths, init)
		}
	}
	for line := range strings.Lines(textOf(file)) {
		module, isOfVbot := strings.CutPrefix(line, "from vbot.testing.")
		module, _, _ = strings.Cut(module, " ")
		if imported := strings.ReplaceAll(module, ".", "/"); isOfVbot && strings.Contains(imported, "/") {
			paths = withImported(paths, imported)
		}
	}
	return paths
}

// lastClass returns the class of the module that plays a service or a person: the last one with a base.
func lastClass(file string) (name string) {
	for line := range strings.Lines(textOf(file)) {
		class, isClass := strings.CutPrefix(line, "class ")
		if before, _, hasBase := strings.Cut(class, "("); isClass && hasBase {
			name = before
		}
	}
	return name
}

// textOf returns the text of a module of the package for tests, "" if it does not exist. A test makes sure
// that all exist.
func textOf(file string) string {
	text, _ := templates.Files.ReadFile(testsFolder + file + ".py")
	return string(text)
}
