// Command vbot scaffolds voice bots and manages their secrets in the cloud.
//
// Output. stdout carries only the result: JSON, a listing, requested help or the
// version. Progress, notes, questions, warnings and errors go to stderr. With
// --json, stdout holds exactly one object, on failure too. Without --json, a
// failing command leaves stdout empty, unless it found a difference and lists it.
//
// Exit codes. 0: success. 1: failure (disk, network, API, existing files, not
// found, declined, not signed in). 2: the command line or an input file is wrong
// or incomplete, or vbot cannot ask for a missing answer. 130: interrupted; the
// second signal ends vbot at once, and what it wrote stays.
package main

import (
	"context"
	"crypto/fips140"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	// If the directory was deleted, only relative names fail.
	dir, _ := os.Getwd()
	os.Exit(run(context.Background(), os.Args[1:], &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, dir: dir,
		now: time.Now, pause: sleep, random: rand.Float64,
	}))
}

// commandTree returns the tree of all commands.
func commandTree() *command {
	return &command{name: "vbot", help: helpTop, setup: setupTop, quick: true, sub: []command{
		{name: "init", help: helpInit, fill: helpOptions, setup: setupInit, first: []string{"quickstart", anyDir}, shapes: []shape{
			{"", initAnswer{}}, {"check", projectAnswer{}}, {"dry-run", config{}}, {"list-options", sections[[]string]{}}, {"describe-options", sections[[]providerAnswer]{}},
		}},
		{name: "cloud", help: helpCloud, setup: setupGroup, sub: []command{
			{name: "login", help: helpLogin, setup: setupLogin, shapes: oneShape(loginAnswer{})},
			{name: "logout", help: helpLogout, setup: setupLogout, shapes: oneShape(logoutAnswer{})},
			{name: "whoami", help: helpWhoami, setup: setupWhoami, shapes: oneShape(whoamiAnswer{})},
			{name: "secrets", help: helpSecrets, setup: setupGroup, sub: []command{
				{name: "list", help: helpList, setup: setupList, shapes: []shape{{"", listAnswer{}}, {"name", showAnswer{}}}},
				{name: "set", help: helpSet, setup: setupSet, shapes: oneShape(setResult{})},
				{name: "check", help: helpCheck, setup: setupCheck, shapes: oneShape(checkResult{})},
				{name: "unset", help: helpUnset, setup: setupUnset, shapes: oneShape(removeResult{})},
				{name: "delete", help: helpDelete, setup: setupDelete, shapes: oneShape(removeResult{})},
				{name: "image-pull-secret", help: helpImagePull, setup: setupImagePull, shapes: oneShape(imagePullResult{})},
				{name: "reference", help: helpReference, setup: setupReference, shapes: oneShape(referenceResult{})},
			}},
		}},
		{name: "completion", help: helpCompletion, setup: setupCompletion, quick: true, first: []string{"bash", "zsh", "fish", "powershell"}, shapes: []shape{{"", completionAnswer{}}, {"words", wordsAnswer{}}}},
		{name: "schema", help: helpSchema, setup: setupSchema, quick: true, shapes: oneShape(schemaList{})},
		{name: "version", help: helpVersion, setup: setupVersion, quick: true, shapes: oneShape(versionAnswer{})},
		{name: "environment", help: helpEnvironment, setup: setupGroup, pageOnly: true},
		{name: "exit-codes", help: helpExitCodes, setup: setupGroup, pageOnly: true},
		{name: "json", help: helpJSON, setup: setupGroup, pageOnly: true},
	}}
}

const helpTop = `vbot scaffolds voice bots and manages their secrets in the cloud.

Usage: vbot COMMAND [ARGUMENTS] [OPTIONS]

Commands:
  init           scaffold a voice bot, or write guides for a coding agent
  cloud          sign in to Pipecat Cloud and manage secrets
  completion     print a shell completion script
  schema         print the JSON Schemas of what vbot reads and writes
  version        print the version
  help           print help for a command or a topic

Help topics:
  environment    the environment variables that vbot reads
  exit-codes     exit codes, and the error codes of --json
  json           what --json prints

Options:
  -h, --help     print this help; works after every command
      --version  print the version; works after every command
      --json     print the result as JSON

Examples:
  vbot init quickstart         a ready-made bot in ./vbot-quickstart
  vbot init --help             all options of init
  vbot init --list-options     services and transports, as JSON
  vbot cloud secrets --help    the commands for secrets
  vbot help environment        a help topic
`

const helpEnvironment = `The environment variables that vbot reads.

An empty variable counts as unset.

Questions and output:
  NO_COLOR              if set, print no colors
  TERM                  if dumb or unset, print no colors, and ask with numbered
                        lines
  VBOT_PLAIN_PROMPTS    if set, ask with numbered lines, for screen readers
  HOME                  what ~ means where vbot asks for a directory
  USERPROFILE           the same on Windows

Services of your own:
  VBOT_CATALOG          the folder to use where --catalog is not given

Cloud:
` + cloudVariables + `
AUDIT.md also lists what the Go runtime and the system's libraries read.
`

const helpExitCodes = `Exit codes, and the error codes of --json.

  0      success
  1      failure
  2      the command line or an input file is wrong or incomplete, or an answer
         is missing and vbot cannot ask
  130    interrupted

With --json, a failure has one of these codes, which never change. The exit code
is in parentheses:

  usage (2)             the command line cannot be parsed, or an answer is
                        missing
  invalid_config (2)    the options or an input file ask for something
                        impossible
  conflict (1)          existing files are in the way
  declined (1)          a person answered no
  io (1)                disk or permissions
  unauthorized (1)      not signed in, or the API rejects the token
  forbidden (1)         the token lacks the permission
  not_found (1)         no such set, key, organization or .vbot.json
  rejected (1)          the API refused the request, or vbot did in advance
  unavailable (1)       cannot connect, or the API reports that it is down
  differs (1)           a check found a difference; the answer lists it
  timeout (1)           no answer in time, or not ready in time
  partial (1)           some keys are stored; result beside error says which
  failed (1)            anything else
  interrupted (130)     Ctrl-C or a signal
`

const helpJSON = `What --json prints.

With --json, every command prints exactly one JSON object to stdout. Messages
for people stay on stderr. On failure the object is this:

  {
    "error": {
      "code": "invalid_config",
      "message": "--stt (stt_service): unknown speech-to-text service ...",
      "retryable": false,
      "http_status": null,
      "hint": null,
      "problems": [
        {
          "field": "stt_service",
          "message": "unknown speech-to-text service \"deepgrm\"",
          "allowed": ["stt_a", "stt_b"]
        }
      ]
    }
  }

The codes are listed in "vbot help exit-codes". The message is what people see;
of several problems it has the first, and how many more there are. Retryable
means that the same command may succeed later; the hint says what to do. A field
is a key of the configuration file, the name of an argument, a variable or
FILE:LINE; it is empty if the problem belongs to none. Allowed values are ids;
an empty list means that vbot does not know them.

Arrays are never null; unknown values are. The order of keys is fixed. Later
versions may add keys, but remove none.

"vbot help COMMAND --json" prints a help page with its commands and options.
`

const helpVersion = `Print the version of vbot.

Usage: vbot version [--json]

Options:
  --json        print JSON, with the Go version, the linked modules, the commit
                and the FIPS 140 mode
  -h, --help    print this help

Examples:
  vbot version
  vbot version --json
`

// run executes one command line and returns its exit code. Only main and a second
// signal exit, so every defer runs.
func run(ctx context.Context, args []string, a *app) int {
	inv := newInvocation(commandTree())
	err := dispatch(ctx, args, a, inv)
	if err == nil {
		return 0
	}
	f := asFailure(err)
	if inv.json {
		if err := writeJSON(a.stdout, failureEnvelope{f.forJSON(), f.result}); err != nil {
			fmt.Fprintln(a.stderr, "error: writing the answer:", err)
		}
	}
	fmt.Fprint(a.stderr, f.text(a.colours()))
	return f.exitCode()
}

func setupTop(inv *invocation) runFunc {
	inv.insteadFlag(printVersion, "version")
	return setupGroup(inv)
}

func setupVersion(*invocation) runFunc {
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		if len(args) > 0 {
			return usageError("unexpected argument %q; see `%s --help`", args[0], inv.path)
		}
		return printVersion(a, inv)
	}
}

// A versionAnswer is the JSON of version.
type versionAnswer struct {
	Version string         `json:"version"`
	Go      string         `json:"go"`
	Modules []moduleAnswer `json:"modules"`
	Commit  orNull         `json:"commit"` // null if the build did not know it, or files were changed
	FIPS140 string         `json:"fips140" enum:"off,on"`
	Module  string         `json:"fips140_module"` // "latest": the code of this Go version, not a validated one
}

type moduleAnswer struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func printVersion(a *app, inv *invocation) error {
	out := versionAnswer{version, runtime.Version(), []moduleAnswer{}, "", "off", fips140.Version()}
	if fips140.Enabled() {
		out.FIPS140 = "on"
	}
	if !inv.json {
		text := "vbot " + version
		if out.FIPS140 == "on" {
			text += "\nFIPS 140 mode: on, module " + out.Module
		}
		_, err := fmt.Fprintln(a.stdout, text)
		return err
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			out.Modules = append(out.Modules, moduleAnswer{m.Path, m.Version})
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if settings["vcs.modified"] == "false" {
			out.Commit = orNull(settings["vcs.revision"])
		}
	}
	// A tarball may be unpacked in a repository of another project.
	if !strings.HasPrefix(commit, "$") {
		out.Commit = commit
	}
	return writeJSON(a.stdout, out)
}
