// Command vbot scaffolds voice bots and manages their secrets in the cloud.
//
// Output. stdout carries only the result: JSON, a listing, requested help or the
// version. Progress, notes, questions, warnings and errors go to stderr. With
// --json, stdout holds exactly one object, on failure too. Without --json, a
// failing command leaves stdout empty, unless it found a difference and lists it.
//
// Exit codes. 0: success. 1: failure (disk, existing files, declined, refused by the
// API). 2: the command line or an input file is wrong or incomplete, or vbot cannot ask
// for a missing answer. 3: a check found a difference. 4: not found. 5: not signed in, or
// not allowed. 6: no answer, or not in time; the same command may succeed later. 7: some
// of it is done. 130: interrupted; the second signal ends vbot at once, and what it wrote
// stays.
package main

import (
	"context"
	"crypto/fips140"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"vbot/internal/bot"
	"vbot/internal/cli"
	"vbot/internal/report"
	"vbot/templates"
)

// version is the semantic version of this source tree. As a constant it is also
// correct in a plain `go build` and in a build from the tarball.
const version = "0.1.0"

// commit is the commit of this source tree in a tarball: git archive writes it here
// (see .gitattributes), so builds from a tarball know it without git.
const commit = "$Format:%H$"

func main() {
	debug.SetMemoryLimit(150 << 20) // above it, garbage is collected sooner: a value may have 16 MiB, and is copied
	// If the directory was deleted, only relative names fail.
	dir, _ := os.Getwd()
	a := &cli.App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir,
		Now: time.Now, Pause: cli.Sleep, WithTimeout: context.WithTimeout, Random: rand.Float64,
	}
	os.Exit(run(cli.UntilInterrupted(context.Background(), a), os.Args[1:], a))
}

// commandTree returns the tree of all commands.
func commandTree() *cli.Command {
	return cli.WithPages(templates.Files, &cli.Command{Name: "vbot", Setup: setupTop, Other: otherCommands, Sub: []cli.Command{
		{Name: "init", Setup: setupInit, First: []string{"quickstart", cli.AnyDir}},
		{Name: "cloud", Sub: []cli.Command{
			{Name: "login", Setup: setupLogin},
			{Name: "logout", Setup: setupLogout},
			{Name: "whoami", Setup: setupWhoami},
			{Name: "secrets", Sub: []cli.Command{
				{Name: "list", Setup: setupList},
				{Name: "set", Setup: setupSet},
				{Name: "check", Setup: setupCheck},
				{Name: "unset", Setup: setupUnset},
				{Name: "delete", Setup: setupDelete},
				{Name: "image-pull-secret", Setup: setupImagePull},
				{Name: "reference", Setup: setupReference},
			}},
		}},
		{Name: "completion", Setup: setupCompletion, First: []string{"bash", "zsh", "fish", "powershell"}},
		{Name: "schema", Setup: setupSchema},
		{Name: "version", Setup: setupVersion},
		{Name: "environment", Topic: true},
		{Name: "exit-codes", Topic: true},
		{Name: "json", Topic: true},
	}})
}

// pipecats begins what is said of a command of Pipecat's own tool (pipecat-ai 1.14.0, pipecatcloud 1.4.0).
const pipecats = "Pipecat's own tool has it: pipecat "

// otherCommands are commands that people may look for here.
var otherCommands = map[string]string{
	"agent": pipecats + "cloud agent", "agents": pipecats + "cloud agent", "auth": pipecats + "cloud auth", "build": pipecats + "cloud build",
	"deploy": pipecats + "cloud deploy", "docker": pipecats + "cloud docker", "eval": pipecats + "eval", "logs": pipecats + "cloud agent logs",
	"organizations": pipecats + "cloud organizations", "regions": pipecats + "cloud regions", "context-hub": pipecats + "context-hub",
	"get": noValues, "show": noValues, "remove": unsetOrDelete, "rm": unsetOrDelete,
}

const (
	noValues      = "values are never shown: `vbot cloud secrets list NAME` shows the keys of a set"
	unsetOrDelete = "`vbot cloud secrets unset` removes a key, `vbot cloud secrets delete` a whole secret"
)

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, a *cli.App) int {
	return cli.Run(ctx, commandTree(), args, a)
}

func setupTop(inv *cli.Invocation) cli.RunFunc {
	inv.InsteadOption("version", "print the version; works after every command", printVersion)
	return nil
}

func setupVersion(inv *cli.Invocation) cli.RunFunc {
	inv.About("json", "print JSON, with the Go version, the linked modules, the commit and the FIPS 140 mode")
	return func(_ context.Context, a *cli.App, inv *cli.Invocation, args []string) error {
		if len(args) > 0 {
			return report.Usagef("unexpected argument %q; see `%s --help`", args[0], inv.Path)
		}
		return printVersion(a, inv)
	}
}

// A versionAnswer is the JSON of version.
type versionAnswer struct {
	Version string         `json:"version"`
	Go      string         `json:"go"`
	Modules []moduleAnswer `json:"modules"`
	Commit  report.OrNull  `json:"commit"` // null if the build did not know it, or files were changed
	FIPS140 string         `json:"fips140" enum:"off,on"`
	Module  string         `json:"fips140_module"` // "latest": the code of this Go version, not a validated one
}

type moduleAnswer struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func printVersion(a *cli.App, inv *cli.Invocation) error {
	out := versionAnswer{version, runtime.Version(), []moduleAnswer{}, "", "off", fips140.Version()}
	text := "vbot " + version + "\n"
	if fips140.Enabled() {
		out.FIPS140 = "on"
		text += "FIPS 140 mode: on, module " + out.Module + "\n"
	}
	if !inv.JSON { // which alone has the build
		return inv.Print(a, out, text)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			out.Modules = append(out.Modules, moduleAnswer{m.Path, m.Version})
		}
		out.Commit = report.OrNull(revision(info.Settings))
	}
	// A tarball may be unpacked in a repository of another project.
	if !strings.HasPrefix(commit, "$") {
		out.Commit = commit
	}
	return report.WriteJSON(a.Stdout, out)
}

// revision returns the commit that was built, or "" if the checkout had been edited.
func revision(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	if values["vcs.modified"] != "false" {
		return ""
	}
	return values["vcs.revision"]
}

// completionScripts are the files with the script of each shell.
var completionScripts = map[string]string{"bash": "vbot.bash", "zsh": "vbot.zsh", "fish": "vbot.fish", "powershell": "vbot.ps1"}

func setupCompletion(*cli.Invocation) cli.RunFunc {
	return func(_ context.Context, a *cli.App, inv *cli.Invocation, args []string) error {
		if len(args) > 0 && args[0] == "words" {
			return writeWords(a, inv, args[1:])
		}
		if len(args) != 1 || completionScripts[args[0]] == "" {
			return report.Usagef("expected one shell: bash, zsh, fish or powershell; see `%s --help`", inv.Path)
		}
		script, err := templates.Files.ReadFile("completion/" + completionScripts[args[0]])
		if err != nil {
			return err
		}
		return inv.Print(a, completionAnswer{args[0], string(script)}, string(script))
	}
}

// The JSON of `vbot completion SHELL` and of `vbot completion words`.
type (
	completionAnswer struct {
		Shell  string `json:"shell"`
		Script string `json:"script"`
	}
	wordsAnswer struct {
		Words []cli.Completion `json:"words"`
	}
)

func writeWords(a *cli.App, inv *cli.Invocation, typed []string) error {
	words := cli.Complete(a, inv.Root, typed)
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.TrimSuffix(w.Word+"\t"+w.About, "\t") + "\n")
	}
	return inv.Print(a, wordsAnswer{words}, b.String())
}

// A schemaList is the JSON of `vbot schema`.
type schemaList struct {
	Schemas []string `json:"schemas"`
}

// answers are the types of which there is a schema, by name: a failure, a help page, and the
// answer of each command. The configuration file has one besides.
var answers = map[string]any{
	"failure": report.Envelope{}, "help": cli.HelpAnswer{}, "version": versionAnswer{}, "schema": schemaList{},
	"init": initAnswer{}, "init-check": projectAnswer{}, "init-dry-run": bot.Config{},
	"init-list-options": bot.Sections[[]string]{}, "init-describe-options": bot.Sections[[]bot.ServiceAnswer]{},
	"completion": completionAnswer{}, "completion-words": wordsAnswer{},
	"cloud-login": loginAnswer{}, "cloud-logout": logoutAnswer{}, "cloud-whoami": whoamiAnswer{},
	"cloud-secrets-list": listAnswer{}, "cloud-secrets-list-name": showAnswer{}, "cloud-secrets-set": setResult{},
	"cloud-secrets-check": checkResult{}, "cloud-secrets-unset": removeResult{}, "cloud-secrets-delete": removeResult{},
	"cloud-secrets-image-pull-secret": imagePullResult{}, "cloud-secrets-reference": referenceResult{},
}

func setupSchema(inv *cli.Invocation) cli.RunFunc {
	var catalog *string
	inv.Text("catalog", "DIR", `allow the services in DIR, too; see "vbot init --help"`, func(s string) { catalog = &s })
	inv.About("json", "print the list as JSON; a schema is always JSON")
	list := schemaList{append(slices.Collect(maps.Keys(answers)), "config")}
	slices.Sort(list.Schemas)
	inv.Cmd.First = list.Schemas
	return func(_ context.Context, a *cli.App, inv *cli.Invocation, args []string) error {
		switch {
		case len(args) == 0:
			return inv.Print(a, list, strings.Join(list.Schemas, "\n")+"\n")
		case len(args) > 1:
			return report.Usagef("expected one name; see `%s --help`", inv.Path)
		case !slices.Contains(list.Schemas, args[0]):
			return report.Usagef("unknown schema %q; `vbot schema` lists them", args[0])
		}
		cat, err := openCatalog(a, catalog)
		if err != nil {
			return err
		}
		schema := bot.Schema(cat)
		if answer, ok := answers[args[0]]; ok {
			schema = cli.SchemaOf(reflect.TypeOf(answer))
		}
		schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		schema["title"] = "vbot " + args[0]
		return report.WriteJSON(a.Stdout, schema)
	}
}
