// Package scaffold has the jobs of `vbot init`: create a bot, write the guides for a coding agent, check a
// project, and update it. Job.Run returns a Written, Compared, Preview or UpdatePreview.
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

// A Mode is the kind of a job.
type Mode int

// The modes. The first two write missing files; the others start from the record of a project.
const (
	Create         Mode = iota // write a bot
	GenerateGuides             // write the guides for a coding agent, which makes the bot
	Check                      // list edited, missing and outdated files
	Update                     // bring the files up to date
)

// A Job is what `vbot init` is asked to do in one directory.
type Job struct {
	Mode           Mode
	Target         string      // the directory, as it was typed
	Bot            bot.Values  // from the options that describe the bot
	File           *ConfigFile // nil if there is none
	CatalogDir     string      // the value of --catalog, for CommandLine; "" if it was not given
	KeepExisting   bool        // write only what is missing
	OverwriteGuide bool        // replace guides that exist
	Refresh        []string    // the guides of an older vbot to replace
	DryRun         bool        // write nothing
	Diff           bool        // check or update: show a patch, and write nothing
	DiffOf         string      // the only file of the patch, with slashes; "" for all files
	Markers        bool        // update: write conflicts between markers
	AcceptMissing  bool        // check or update: a folder without its files was deleted, and not moved
	ListFiles      bool        // name each file that was written, even if nobody was asked
	Verbose        bool        // name each file, also those that did not change
}

// A ConfigFile is the file of --config.
type ConfigFile struct {
	Path string // as it was typed; "-" is stdin
	Name string // for messages
	Data []byte
}

// An Env is what jobs use of the program that runs them.
type Env struct {
	Version string // of vbot
	Catalog *catalog.Catalog
	Path    func(name string) string         // makes a path absolute
	Note    func(format string, args ...any) // prints a message while a job runs
	// Warn prints a warning; see system.System.Warn.
	Warn func(field, where, format string, args ...any)
	// Confirm asks a person whether to go ahead. The error is a *report.Failure if the answer is no. Confirm
	// is nil if nobody can be asked; then jobs go ahead.
	Confirm func(ctx context.Context, question string) error
}

// Run runs the job. An error is a *report.Failure. The result is what was done or found, also with an error;
// it is nil if that is nothing.
func (j Job) Run(ctx context.Context, env Env) (report.Result, error) {
	switch j.Mode {
	case GenerateGuides:
		return j.write(ctx, env, nil)
	case Check, Update:
		return j.compare(ctx, env)
	}
	cfg, err := j.configure(env, nil)
	if err != nil {
		return nil, err
	}
	return j.write(ctx, env, &cfg)
}

// dir returns the absolute path of the target.
func (j Job) dir(env Env) string { return env.Path(j.Target) }

// name returns the project's name if no option gives it, made of the directory's; "" if it cannot be.
func (j Job) name(env Env) string { return bot.NameFromDir(j.dir(env)) }

// configure returns the configuration that the job asks for. Values that no option gives come from the
// configuration file or, without one, from the record.
func (j Job) configure(env Env, recorded bot.Values) (cfg bot.Config, err error) {
	var problems report.Problems
	inFile, source := recorded, project.RecordName
	if j.File != nil {
		source = "the configuration file"
		inFile, problems = bot.ParseConfig(j.File.Name, j.File.Data)
		if inFile == nil { // do not report its keys as missing
			return cfg, problems.Err()
		}
	}
	values := bot.Values{}
	maps.Copy(values, inFile)
	maps.Copy(values, j.Bot)
	cfg, dropped, refused := bot.Resolve(env.Catalog, values, j.name(env))
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

// Missing returns the required options that the job does not have, such as "--mode".
func (j Job) Missing(env Env) (options []string) {
	_, _, problems := bot.Resolve(env.Catalog, j.Bot, j.name(env))
	for _, p := range problems {
		isIt := func(o *bot.Option) bool { return o.Key == p.Field }
		if i := slices.IndexFunc(bot.Options, isIt); p.Missing && i >= 0 {
			options = append(options, "--"+bot.Options[i].Flag)
		}
	}
	return options
}

// CommandLine returns the command line that does the same as the job without asking.
func (j Job) CommandLine(env Env) string {
	options := j.options(env)
	if j.Mode == GenerateGuides {
		options = " --no-input"
	}
	if j.CatalogDir != "" {
		options += " --catalog " + report.ShellQuote(j.CatalogDir)
	}
	if j.KeepExisting {
		options += " --keep-existing"
	}
	if j.OverwriteGuide {
		options += " --overwrite-guide"
	}
	return "vbot init " + report.ShellPath(j.Target) + options
}

// options returns the options that describe the bot as they are typed, each with a space before it.
func (j Job) options(env Env) string {
	args := j.Bot.Arguments(env.Catalog, j.name(env))
	if j.File != nil {
		args = append([]string{"--config", j.File.Path}, args...)
	}
	return report.ShellWords(args)
}

// A draft has the files that a job would write.
type draft struct {
	bot   *render.Data // nil for the guides
	files map[string][]byte
}

// toGet returns the variables whose values a person has to get.
func (d draft) toGet() []catalog.Requirement {
	if d.bot == nil {
		return nil
	}
	return d.bot.ToGet(nil)
}

// newDraft renders a bot with its record or, without a configuration, the guides.
func newDraft(env Env, cfg *bot.Config) (d draft, err error) {
	if cfg == nil {
		d.files, err = render.GuideFiles(env.Version)
		return d, err
	}
	d.bot = render.New(*cfg, env.Catalog, env.Version)
	d.files, err = d.bot.Files()
	if err == nil {
		err = project.AddRecord(env.Version, *cfg, d.files)
	}
	return d, err
}

// open opens the target for writing or only for reading.
func (j Job) open(env Env, writes bool) (*project.Target, error) {
	dir := j.dir(env)
	if !writes {
		return project.Open(dir)
	}
	t, err := project.Lock(dir)
	if err == nil && t.Unlocked != nil {
		const unlocked = "%s cannot be locked (%v): run no other vbot there until this one has ended"
		env.Warn("directory", "", unlocked, dir, t.Unlocked)
	}
	return t, err
}
