// Package scaffold has the jobs of `vbot init`: Create, Guides, Check and Update. Each is a struct with its
// options, whose Run returns a Written, Compared, Preview or UpdatePreview. Its errors are *report.Failure.
// Run may return a result with an error: what was done or found before it.
package scaffold

import (
	"context"
	"maps"
	"slices"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// An Env is what jobs use of the program that runs them.
type Env struct {
	Version    string // of vbot
	Catalog    *catalog.Catalog
	CatalogDir string                           // the value of --catalog, for command lines; or ""
	Path       func(name string) string         // makes a path absolute
	Note       func(format string, args ...any) // prints a message while a job runs
	// Warn prints a warning; see system.System.Warn.
	Warn func(field, where, format string, args ...any)
	// Confirm asks a person whether to go ahead. The error is a *report.Failure if the answer is no. Confirm
	// is nil if nobody can be asked; then jobs go ahead.
	Confirm func(ctx context.Context, question string) error
}

// A Project is a directory and the bot in it, as the command line or the wizard describes them.
type Project struct {
	Target string      // the directory, as it was typed
	Bot    bot.Values  // from the options that describe the bot
	File   *ConfigFile // nil if there is none
}

// A ConfigFile is the file of --config.
type ConfigFile struct {
	Path string // as it was typed; "-" is stdin
	Name string // for messages
	Data []byte
}

// dir returns the absolute path of the target.
func (p Project) dir(env Env) string { return env.Path(p.Target) }

// name returns the directory's name as the default for the project's name, "" if it cannot be one.
func (p Project) name(env Env) string { return bot.NameFromDir(p.dir(env)) }

// configure returns the configuration of the bot. Values that no option gives come from the configuration
// file or, without one, from the record.
func (p Project) configure(env Env, recorded bot.Values) (cfg bot.Config, err error) {
	var problems report.Problems
	inFile, source := recorded, project.RecordName
	if p.File != nil {
		source = "the configuration file"
		inFile, problems = bot.ParseConfig(p.File.Name, p.File.Data)
		if inFile == nil { // do not report its keys as missing
			return cfg, problems.Err()
		}
	}
	values := bot.Values{}
	maps.Copy(values, inFile)
	maps.Copy(values, p.Bot)
	cfg, dropped, refused := bot.Resolve(env.Catalog, values, p.name(env))
	problems = append(problems, refused...)
	if len(problems) > 0 {
		f := &report.Failure{Code: report.InvalidConfig, Problems: problems}
		if slices.ContainsFunc(problems, isMissingMode) {
			f.Hint = "`vbot init --help` ends with complete examples"
		}
		return cfg, f
	}
	for _, o := range bot.Options {
		if value := values[o]; value.Alias != "" {
			env.Warn(o.Key, "", "reading %s as %s", value.Alias, o.CalledBy(value))
		}
	}
	for _, d := range dropped {
		field := bot.OptTransports.Key // of a transport that names its mode
		if d.Option != nil {
			field = d.Option.Key
		}
		env.Warn(field, "", "ignoring %s from %s: %s", d.What, source, d.Why)
	}
	return cfg, nil
}

func isMissingMode(p report.Problem) bool { return p.Missing && p.Field == bot.OptMode.Key }

// options returns the options that describe the bot as they are typed, each with a space before it.
func (p Project) options(env Env) string {
	args := p.Bot.Arguments(env.Catalog, p.name(env))
	if p.File != nil {
		args = append([]string{"--config", p.File.Path}, args...)
	}
	return report.ShellWords(args) + catalogOption(env)
}

// catalogOption returns the option --catalog as it is typed, after a space; "" if it was not given.
func catalogOption(env Env) string {
	if env.CatalogDir == "" {
		return ""
	}
	return " --catalog " + report.ShellQuote(env.CatalogDir)
}

// A draft has the files that a job would write for a bot.
type draft struct {
	bot   *render.Data
	files map[string][]byte
}

// lock opens the directory of a project for writing.
func lock(env Env, dir string) (*project.Target, error) {
	t, err := project.Lock(dir)
	if err == nil && t.Unlocked != nil {
		const unlocked = "%s cannot be locked (%v): run no other vbot there until this one has ended"
		env.Warn("directory", "", unlocked, dir, t.Unlocked)
	}
	return t, err
}
