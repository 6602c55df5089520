// Command vbot scaffolds voice bots and manages their secrets in the cloud.
//
// Output. stdout carries only the result: JSON, a listing, requested help or the
// version. Progress, notes, questions, warnings and errors go to stderr. With
// --json, stdout holds exactly one object, on failure too. Without --json, a
// failing command leaves stdout empty, unless it found a difference and lists it.
// Only internal/cli prints results: a command returns its own.
//
// Exit codes. 0: success. 1: failure (disk, existing files, declined, refused by the
// API). 2: the command line or an input file is wrong or incomplete, or vbot cannot ask
// for a missing answer. 3: a check found a difference. 4: not found. 5: not signed in, or
// not allowed. 6: no answer, or not in time; the same command may succeed later. 7: partly
// done. 130: interrupted; a second signal ends vbot immediately, and files that it wrote
// stay.
package main

import (
	"context"
	"crypto/fips140"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"vbot/internal/cli"
	"vbot/internal/report"
	"vbot/internal/system"
	"vbot/templates"
)

// version is the semantic version of this source tree. It is a constant so that a plain
// `go build` and a build from the tarball have it, too.
const version = "0.1.0"

// commit is the commit of this source tree in a tarball: git archive writes it here
// (see .gitattributes), so builds from a tarball know it without git.
const commit = "$Format:%H$"

func main() {
	// Collect garbage earlier near this limit: a value may have 16 MiB, and is copied.
	debug.SetMemoryLimit(150 << 20)
	// net/http logs unsolicited bytes from a server; nothing else in vbot uses the logger.
	log.SetOutput(io.Discard)
	// If the directory was deleted, only relative paths fail.
	dir, _ := os.Getwd()
	env := &cli.Env{
		System: system.System{
			Dir:         dir,
			Getenv:      os.Getenv,
			Stderr:      os.Stderr,
			Now:         time.Now,
			Pause:       system.Pause,
			WithTimeout: context.WithTimeout,
			Random:      rand.Float64,
		},
		Stdin:         os.Stdin,
		Stdout:        os.Stdout,
		HandleSignals: true,
	}
	cli.SurviveClosedPipes()
	os.Exit(run(context.Background(), os.Args[1:], env))
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, env *cli.Env) int {
	env.Program = "vbot/" + version
	return cli.Run(ctx, commandTree(), args, env)
}

// commandTree returns the tree of all commands.
func commandTree() *cli.Command {
	root := &cli.Command{
		Name:  "vbot",
		New:   newRoot,
		Other: otherCommands,
		Sub: []cli.Command{
			initCommand,
			{Name: "cloud", Sub: []cli.Command{
				loginCommand,
				logoutCommand,
				whoamiCommand,
				{Name: "secrets", Sub: []cli.Command{
					listCommand,
					setCommand,
					checkCommand,
					waitCommand,
					unsetCommand,
					deleteCommand,
					imagePullCommand,
					referenceCommand,
				}},
			}},
			completionCommand,
			schemaCommand,
			versionCommand,
			{Name: "environment", Topic: true},
			{Name: "exit-codes", Topic: true},
			{Name: "json", Topic: true},
		},
	}
	if !creates {
		root.Sub = root.Sub[1:] // without initCommand
	}
	return cli.WithPages(helpPages(), root)
}

// pipecatHasIt begins the message about a command of Pipecat's own tool (pipecat-ai 1.14.0,
// pipecatcloud 1.4.0).
const pipecatHasIt = "Pipecat's own tool has it: pipecat "

// otherCommands are commands that people may look for here: at any level, or under the whole path.
var otherCommands = map[string]string{
	"agent":         pipecatHasIt + "cloud agent",
	"agents":        pipecatHasIt + "cloud agent",
	"auth":          pipecatHasIt + "cloud auth",
	"build":         pipecatHasIt + "cloud build",
	"deploy":        pipecatHasIt + "cloud deploy",
	"docker":        pipecatHasIt + "cloud docker",
	"eval":          pipecatHasIt + "eval",
	"logs":          pipecatHasIt + "cloud agent logs",
	"organizations": pipecatHasIt + "cloud organizations",
	"regions":       pipecatHasIt + "cloud regions",
	"context-hub":   pipecatHasIt + "context-hub",
	"get":           noValues,
	"ls":            "`vbot cloud secrets list` lists the secrets",
	"show":          noValues,
	"remove":        unsetOrDelete,
	"rm":            unsetOrDelete,

	"vbot init":   "it was built with -tags nocreate",
	"vbot new":    toCreate,
	"vbot create": toCreate,
	"vbot update": "`vbot init DIR --update` brings a project up to date",

	"vbot cloud secrets create": toStore,
	"vbot cloud secrets add":    toStore,
	"vbot cloud secrets update": toStore,
	"vbot cloud secrets import": "`vbot cloud secrets set NAME --file FILE` stores the keys of a file",
}

const (
	noValues      = "values are never shown: `vbot cloud secrets list NAME` shows the keys of a set"
	toCreate      = "`vbot init` creates a project"
	toStore       = "`vbot cloud secrets set NAME KEY` creates a set, or stores a key in one"
	unsetOrDelete = "`vbot cloud secrets unset` removes a key, `vbot cloud secrets delete` removes a set"
)

func newRoot(f *cli.Flags) cli.Runner {
	f.EarlyExit("version", "print the version; works after every command", showVersion)
	return nil
}

// vbot version

var versionCommand = cli.Command{
	Name:       "version",
	New:        newVersion,
	EndsAtOnce: true,
	Args:       cli.Args{Rest: true},
	Results:    cli.Results{"": versionResult{}},
}

func newVersion(f *cli.Flags) cli.Runner {
	f.About("json", "print JSON, with the Go version, the linked modules, the commit, the FIPS 140 mode "+
		"and cgo")
	return cli.RunnerFunc(func(env *cli.Env) (report.Result, error) {
		if len(env.Args) > 0 {
			typed := report.Typed(env.Args[0])
			return nil, report.Usagef("unexpected argument %s; see `%s --help`", typed, env.Command)
		}
		return showVersion(env)
	})
}

// A versionResult is the JSON of version.
type versionResult struct {
	Version string        `json:"version" about:"version of vbot"`
	Go      string        `json:"go" about:"version of Go that built it"`
	Modules []module      `json:"modules" about:"the modules in it"`
	Commit  report.OrNull `json:"commit" about:"commit that was built; null if unknown or edited"`
	FIPS140 string        `json:"fips140" enum:"off,on" about:"whether the FIPS 140 mode is on"`
	Module  string        `json:"fips140_module" about:"its version; latest: that of Go, not validated"`
	Cgo     report.OrNull `json:"cgo" null:"unknown" enum:"off,on" about:"whether it was built with cgo"`
}

type module struct {
	Path    string `json:"path" about:"path of the module"`
	Version string `json:"version" about:"version of the module"`
}

// Text prints the version and, if they are on, cgo and the FIPS 140 mode.
func (v versionResult) Text(out *report.Printer) {
	out.Print("vbot " + v.Version + "\n")
	if v.Cgo == "on" {
		out.Print("cgo: on; releases are built with CGO_ENABLED=0\n")
	}
	if v.FIPS140 == "on" {
		out.Print("FIPS 140 mode: on, module " + v.Module + "\n")
	}
}

func showVersion(env *cli.Env) (report.Result, error) {
	result := versionResult{
		Version: version,
		Go:      runtime.Version(),
		Modules: []module{},
		FIPS140: "off",
		Module:  fips140.Version(),
	}
	if fips140.Enabled() {
		result.FIPS140 = "on"
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			result.Modules = append(result.Modules, module{m.Path, m.Version})
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		result.Commit = report.OrNull(revision(settings))
		switch settings["CGO_ENABLED"] {
		case "0":
			result.Cgo = "off"
		case "1":
			result.Cgo = "on"
		}
	}
	// A tarball may have been unpacked in the repository of another project.
	if !strings.HasPrefix(commit, "$") {
		result.Commit = commit
	}
	return result, nil
}

// revision returns the commit that was built, or "" if the checkout had been edited.
func revision(settings map[string]string) string {
	if settings["vcs.modified"] != "false" {
		return ""
	}
	return settings["vcs.revision"]
}

// vbot completion

var completionCommand = cli.Command{
	Name:    "completion",
	New:     newCompletion,
	Args:    cli.Args{Words: []string{"bash", "zsh", "fish", "powershell"}, Rest: true},
	Results: cli.Results{"": completionScript{}, "words": completionWords{}},
}

// completionFiles are the files with the script of each shell.
var completionFiles = map[string]string{
	"bash": "vbot.bash", "zsh": "vbot.zsh", "fish": "vbot.fish", "powershell": "vbot.ps1",
}

// The JSON of `vbot completion SHELL` and of `vbot completion words`.
type (
	completionScript struct {
		Shell  string `json:"shell" about:"the shell"`
		Script string `json:"script" about:"text of the script"`
	}
	completionWords struct {
		Words []cli.Completion `json:"words" about:"completions of the last word"`
	}
)

func (c completionScript) Text(out *report.Printer) { out.Print(c.Script) }

// Text prints a line for each word: the word, a tab and a description, if there is one.
func (c completionWords) Text(out *report.Printer) {
	for _, w := range c.Words {
		out.Print(strings.TrimSuffix(w.Word+"\t"+w.About, "\t") + "\n")
	}
}

func newCompletion(f *cli.Flags) cli.Runner {
	return cli.RunnerFunc(func(env *cli.Env) (report.Result, error) {
		if env.Arg(0) == "words" {
			return completionWords{cli.Complete(env, f.Root, env.Args[1:])}, nil
		}
		file := completionFiles[env.Arg(0)]
		if len(env.Args) != 1 || file == "" {
			const expected = "expected one shell: bash, zsh, fish or powershell; see `%s --help`"
			return nil, report.Usagef(expected, env.Command)
		}
		script, err := templates.Files.ReadFile("completion/" + file)
		if err != nil {
			return nil, err
		}
		return completionScript{Shell: env.Arg(0), Script: string(script)}, nil
	})
}

// vbot schema

var schemaCommand = cli.Command{
	Name:    "schema",
	New:     newSchema,
	Args:    cli.Args{Rest: true},
	Results: cli.Results{"": schemaList{}},
}

// A schemaList is the JSON of `vbot schema`.
type schemaList struct {
	Schemas []string `json:"schemas" about:"names of the schemas"`
}

// Text prints one name per line.
func (s schemaList) Text(out *report.Printer) { out.Print(strings.Join(s.Schemas, "\n") + "\n") }

// A schemaRun is one run of schema.
type schemaRun struct {
	catalog string         // the directory of --catalog, "" if it was not given
	results map[string]any // by name
	list    schemaList
}

func newSchema(f *cli.Flags) cli.Runner {
	s := &schemaRun{results: cli.Schemas(f.Root)}
	names := slices.Collect(maps.Keys(s.results))
	if creates {
		f.String("catalog", "DIR", `include the services in DIR; see "vbot init --help"`, &s.catalog)
		names = append(names, "config")
	}
	f.About("json", "print the list as JSON; a schema is always JSON")
	s.list.Schemas = slices.Sorted(slices.Values(names))
	f.Command.Args.Words = s.list.Schemas
	return s
}

func (s *schemaRun) Run(_ context.Context, env *cli.Env) (report.Result, error) {
	name := env.Arg(0)
	switch {
	case len(env.Args) == 0:
		return s.list, nil
	case len(env.Args) > 1:
		return nil, report.Usagef("expected one name; see `%s --help`", env.Command)
	case !slices.Contains(s.list.Schemas, name):
		return nil, report.Usagef("unknown schema %s; `vbot schema` lists them", report.Typed(name))
	}
	var schema map[string]any
	if result, ok := s.results[name]; ok {
		schema = cli.SchemaOfResult(result)
	} else {
		var err error
		if schema, err = configSchema(env, s.catalog); err != nil {
			return nil, err
		}
	}
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "vbot " + name
	return cli.Document{Value: schema}, nil
}
