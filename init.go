//go:build !nocreate

package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/project"
	"vbot/internal/report"
	"vbot/internal/scaffold"
	"vbot/internal/tty"
	"vbot/internal/wizard"
	"vbot/templates"
)

// maxConfig is the maximum size of a configuration file, in bytes.
const maxConfig = 1 << 20

var initCommand = cli.Command{
	Name: "init",
	New:  newInit,
	Args: cli.Args{
		Words: []string{"quickstart", cli.AnyDir},
		Rest:  true,
	},
	Results: cli.Results{
		"":                 scaffold.Written{},
		"check":            scaffold.Compared{},
		"dry-run":          scaffold.Preview{Config: bot.Defaults()},
		"list-options":     cli.Document{Value: bot.Sections[[]string]{}},
		"describe-options": cli.Document{Value: bot.Sections[[]bot.ServiceInfo]{}},
	},
}

// An initRun holds the options of one run of init.
type initRun struct {
	project        scaffold.Project // Run adds the target and the file
	config         string           // a file, or "-"; "" if it was not given
	catalog        string           // a directory, "" if it was not given
	check          bool
	update         bool
	dryRun         bool
	keepExisting   bool
	overwriteGuide bool
	verbose        bool

	acceptMissing bool // with update
	markers       bool // with update

	// With check or update.
	diff   bool
	diffOf string // the file, with slashes; "" for all files
}

func newInit(f *cli.Flags) cli.Runner {
	r := &initRun{project: scaffold.Project{Bot: bot.Values{}}}
	for _, o := range bot.Options {
		r.botOption(f, o)
	}
	const aboutConfig = "read options from a JSON file; - is stdin; command-line options override it"
	f.String("c config", "FILE", aboutConfig, &r.config).Once = "vbot reads one configuration file"
	f.Bool("dry-run", "print the configuration as JSON; write nothing", &r.dryRun)

	f.Section()
	const aboutCheck = "list edited, missing and outdated files; write nothing; exit with 3 if there are any"
	f.Bool("check", aboutCheck, &r.check)
	f.Bool("update", "bring the files up to date and keep your edits; bot options change the bot", &r.update)
	f.OptionalValue(cli.OptionalValueFlag{
		Name:        "diff",
		Placeholder: "FILE",
		About:       "with --check or --update, print a patch, of one file or of all; write nothing",
		Recognize:   func(string) string { return "" },
		Put:         r.putDiff,
	})
	const aboutMarkers = "with --update, write conflicts between markers, for you to resolve"
	f.Bool("conflict-markers", aboutMarkers, &r.markers)
	const aboutMissing = "with --update, accept that a whole folder was deleted, and not moved"
	f.Bool("accept-missing", aboutMissing, &r.acceptMissing)

	f.Section()
	for _, o := range bot.Options {
		r.peerOption(f, o)
	}
	f.Ignored("no-context-hub", "vbot never registers the hub")

	f.Section()
	f.EarlyExit("list-options", "print the ids that options take, as JSON", r.listOptions)
	r.describeOption(f)
	const aboutCatalog = "add the services in the directory DIR (default: VBOT_CATALOG)"
	f.String("catalog", "DIR", aboutCatalog, &r.catalog)
	f.Bool("keep-existing", "keep existing files; write only missing ones", &r.keepExisting)
	f.Bool("overwrite-guide", "replace existing guides with current ones", &r.overwriteGuide)
	f.Bool("verbose", "list each file (default: only without a terminal)", &r.verbose)
	return r
}

// putDiff reads the value of --diff: a path in the project, or a truth value.
func (r *initRun) putDiff(text string) error {
	isOn, err := strconv.ParseBool(text)
	r.diff, r.diffOf = isOn || err != nil, ""
	if err != nil {
		r.diffOf = path.Clean(filepath.ToSlash(text))
	}
	return nil
}

// botOption registers an option that describes the bot.
func (r *initRun) botOption(f *cli.Flags, o *bot.Option) {
	values := r.project.Bot
	names := strings.TrimSpace(o.Short + " " + o.Flag)
	var option *cli.Option
	switch {
	case o.IsToggle():
		option = f.ToggleFunc(names, o.Help, func(on bool) { values[o] = bot.Value{On: on, FromFlag: true} })
	case o.IsList():
		option = f.Func(names, o.Placeholder, o.Help, func(s string) {
			values[o] = bot.Value{List: append(values[o].List, s), FromFlag: true}
		})
	default:
		option = f.Func(names, o.Placeholder, o.Help,
			func(s string) { values[o] = bot.Value{Text: s, FromFlag: true} })
	}
	option.Key = o.Key
	option.Repeatable = o.IsList()
	option.Allowed = func() ([]string, string) { return o.AllowedIn(catalog.New()) }
	option.Complete = func(env *cli.Env, typed string) []string { return r.complete(env, o, typed) }
}

// peerOption registers the option under its name in `pipecat init`, if that is different.
func (r *initRun) peerOption(f *cli.Flags, o *bot.Option) {
	if o.PipecatName == "" {
		return
	}
	name := strings.ReplaceAll(o.PipecatName, "_", "-")
	option := f.ToggleFunc(name, "the same as --"+o.Flag, func(on bool) {
		typed := "--no-" + name
		if on {
			typed = "--" + name
		}
		r.project.Bot[o] = bot.Value{On: on, FromFlag: true, Alias: typed}
	})
	option.Key = o.Key
}

// complete returns the values of the option that begin with typed. A service has several
// names: the first one that matches is returned.
func (r *initRun) complete(env *cli.Env, o *bot.Option, typed string) (out []string) {
	if o.Kind == "" {
		return o.Allowed()
	}
	cat, err := openCatalog(env, r.catalog)
	if err != nil {
		cat = catalog.New() // Run says what is wrong
	}
	isCompletion := func(name string) bool { return strings.HasPrefix(name, typed) }
	for _, s := range cat.List(o.Kind) {
		names := append(slices.Clone(s.Names), s.ID)
		if i := slices.IndexFunc(names, isCompletion); i >= 0 {
			out = append(out, names[i])
		}
	}
	return out
}

// Run finds out which job the options ask for, and runs it.
func (r *initRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	for _, arg := range env.Args {
		if err := report.CheckFileName(arg); err != nil {
			return nil, report.Usagef("the directory: %v", err)
		}
	}
	if len(env.Args) > 1 {
		const expected = "expected one directory, got %s; put a name with spaces in quotes"
		return nil, report.Usagef(expected, strings.Join(report.QuoteAll(env.Args), " "))
	}
	cat, err := openCatalog(env, r.catalog)
	if err != nil {
		return nil, err
	}
	if err := r.checkOptions(env); err != nil {
		return nil, err
	}
	if r.project.Target, err = env.Expand(env.Arg(0)); err != nil {
		return nil, report.Usagef("the directory: %v", err)
	}
	if r.project.Target == "quickstart" {
		if err := r.usePreset(cat); err != nil {
			return nil, err
		}
	}
	if err := r.readConfig(ctx, env); err != nil {
		return nil, err
	}
	return r.runJob(ctx, env, r.jobEnv(env, cat))
}

// jobEnv returns what a job uses of env.
func (r *initRun) jobEnv(env *cli.Env, cat *catalog.Catalog) scaffold.Env {
	jobEnv := scaffold.Env{
		Version:    version,
		Catalog:    cat,
		CatalogDir: r.catalog,
		Path:       env.Path,
		Note:       env.Note,
		Warn:       env.Warn,
	}
	if canAsk(env) {
		jobEnv.Confirm = func(ctx context.Context, question string) error {
			return mustConfirm(ctx, env, question, "written")
		}
	}
	return jobEnv
}

// runJob runs the job that the options ask for, or asks a person for one.
func (r *initRun) runJob(ctx context.Context, env *cli.Env, jobEnv scaffold.Env) (report.Result, error) {
	describesBot := len(r.project.Bot) > 0 || r.project.File != nil || r.dryRun
	if !r.check && !r.update && !describesBot {
		return r.runWithoutBot(ctx, env, jobEnv)
	}
	r.project.Target = cmp.Or(r.project.Target, ".")
	switch {
	case r.check:
		return scaffold.Check{
			Project: r.project,
			Diff:    r.diff,
			DiffOf:  r.diffOf,
			DryRun:  r.dryRun,
			Verbose: r.verbose,
		}.Run(ctx, jobEnv)
	case r.update:
		return scaffold.Update{
			Project:       r.project,
			AcceptMissing: r.acceptMissing,
			Markers:       r.markers,
			Diff:          r.diff,
			DiffOf:        r.diffOf,
			DryRun:        r.dryRun,
			Verbose:       r.verbose,
		}.Run(ctx, jobEnv)
	}
	return r.create(env).Run(ctx, jobEnv)
}

// runWithoutBot asks a person what to write or, if nobody can be asked, writes the guides.
func (r *initRun) runWithoutBot(
	ctx context.Context, env *cli.Env, jobEnv scaffold.Env,
) (report.Result, error) {
	if canAsk(env) {
		return r.ask(ctx, env, jobEnv)
	}
	if err := r.checkTargetOfGuides(env); err != nil {
		return nil, err
	}
	const guidesOnly = "writing only guides for a coding agent, and no bot: no option describes one"
	env.Warn("config", "", guidesOnly)
	return scaffold.Guides{
		Target:        r.project.Target,
		ReplaceGuides: r.guidesToReplace(),
		ListFiles:     r.listsFiles(env),
	}.Run(ctx, jobEnv)
}

// create returns the job that writes the bot of the options.
func (r *initRun) create(env *cli.Env) scaffold.Create {
	return scaffold.Create{
		Project:       r.project,
		KeepExisting:  r.keepExisting,
		ReplaceGuides: r.guidesToReplace(),
		ListFiles:     r.listsFiles(env),
		DryRun:        r.dryRun,
	}
}

func (r *initRun) guidesToReplace() []string {
	if r.overwriteGuide {
		return project.GuideFiles
	}
	return nil
}

func (r *initRun) listsFiles(env *cli.Env) bool { return r.verbose || !tty.IsTerminal(env.Stderr) }

// checkOptions returns an error if the options cannot be combined.
func (r *initRun) checkOptions(env *cli.Env) error {
	compares := r.check || r.update
	writes := r.keepExisting || r.overwriteGuide
	if len(env.Args) == 1 && env.Args[0] == "" {
		return report.Usagef("the directory's name is empty")
	}
	switch {
	case r.check && r.update:
		return report.Usagef("--check and --update cannot be combined")
	case r.diff && !compares:
		return report.Usagef("--diff needs --check or --update")
	case r.acceptMissing && !r.update:
		return report.Usagef("--accept-missing needs --update")
	case r.markers && !r.update:
		return report.Usagef("--conflict-markers needs --update")
	case r.diff && env.JSON:
		return report.Usagef("--diff prints text: leave out --json")
	case compares && writes:
		return report.Usagef("--keep-existing and --overwrite-guide cannot be combined " +
			"with --check or --update")
	}
	return nil
}

// checkTargetOfGuides returns an error if a target without options is probably a mistake, and not a directory
// for guides.
func (r *initRun) checkTargetOfGuides(env *cli.Env) error {
	target := r.project.Target
	isWord := !strings.ContainsAny(target, `./\`) && !strings.Contains(target, "quickstart")
	isMisspelt := isWord && report.Nearest(target, []string{"quickstart"}) != ""
	switch {
	case target == "":
		return report.Usagef("missing directory or bot options; " +
			"try `vbot init quickstart`, or see `vbot init --help`")
	case isMisspelt && !project.Has(env.Path(target), "."):
		return report.Usagef("there is no directory %s%s; to create it: vbot init ./%[1]s",
			target, report.DidYouMean("`vbot init quickstart`"))
	}
	return nil
}

// usePreset makes this the job of `vbot init quickstart`, which accepts no bot options.
func (r *initRun) usePreset(cat *catalog.Catalog) error {
	compares := r.check || r.update
	preset := bot.Quickstart()
	name := preset[bot.OptName].Text
	var problems report.Problems
	refuse := func(field, where string) { problems.Add(field, where, "quickstart takes no bot options") }
	for _, o := range bot.Options {
		if _, given := r.project.Bot[o]; given {
			refuse(o.Key, o.Where())
		}
	}
	if r.config != "" {
		refuse("config", "--config")
	}
	if len(problems) > 0 {
		hint := "to change its options: vbot init " + name + " --update OPTIONS"
		if !compares {
			hint = "to choose options, pass another directory: vbot init my-bot" +
				report.ShellWords(preset.Arguments(cat, name)) +
				" OPTIONS; for one named quickstart, pass ./quickstart"
		}
		return &report.Failure{Code: report.InvalidConfig, Problems: problems, Hint: hint}
	}
	if !compares { // --check and --update read the record
		r.project.Bot = preset
	}
	r.project.Target = name
	return nil
}

// readConfig reads the configuration file, if there is one.
func (r *initRun) readConfig(ctx context.Context, env *cli.Env) error {
	if r.config == "" {
		return nil
	}
	name := fileLabel(r.config)
	data, err := env.ReadAll(ctx, r.config, maxConfig)
	switch {
	case ctx.Err() != nil:
		return report.Interruption()
	case err != nil:
		return report.One(report.InvalidConfig, "config", "--config", "%s: %v", name, err)
	}
	r.project.File = &scaffold.ConfigFile{Path: r.config, Name: name, Data: data}
	return nil
}

// ask asks a person for the job, runs it, and notes the command line that does the same.
func (r *initRun) ask(ctx context.Context, env *cli.Env, jobEnv scaffold.Env) (report.Result, error) {
	job, err := wizard.Ask(ctx, env.Terminal(), jobEnv, env.Expand, r.create(env))
	var result report.Result
	if err == nil {
		result, err = job.Run(ctx, jobEnv)
	}
	switch {
	case err == nil:
		return asked{result, job.CommandLine(jobEnv)}, nil
	case job != nil:
		title := "Your answers so far, as a command line"
		if create, ok := job.(scaffold.Create); ok {
			if missing := create.Missing(jobEnv); missing != nil {
				title += " (it still needs " + strings.Join(missing, ", ") + ")"
			}
		}
		env.Note("\n%s:\n  %s", title, job.CommandLine(jobEnv))
	}
	return nil, cancelled(err, "written")
}

// asked is the result of a job that the wizard asked for.
type asked struct {
	report.Result
	command string // the command line that does the same
}

// JSON returns the result of the job.
func (a asked) JSON() any { return cli.JSONOf(a.Result) }

// Text prints the result of the job, and the command line that does the same without questions.
func (a asked) Text(out *report.Printer) {
	a.Result.Text(out)
	out.Note("\nTo do the same without questions:\n  %s", a.command)
}

// listOptions returns the ids that options take.
func (r *initRun) listOptions(env *cli.Env) (report.Result, error) {
	cat, err := openCatalog(env, r.catalog)
	if err != nil {
		return nil, err
	}
	return cli.Document{Value: bot.ListOptions(cat)}, nil
}

// describeOption registers --describe-options[=KIND].
func (r *initRun) describeOption(f *cli.Flags) {
	kinds := append([]string{catalog.KindTransport}, catalog.ServiceKinds...)
	kindOf := func(word string) string {
		if slices.Contains(kinds, word) {
			return word
		}
		return ""
	}
	option := f.OptionalValue(cli.OptionalValueFlag{
		Name:        "describe-options",
		Placeholder: "KIND",
		About: "print all services and transports with names and variables; " +
			"KIND is transports, stt, llm, tts, realtime or video",
		Recognize: kindOf,
		Put: func(kind string) error {
			switch {
			case kind == "false":
				f.SetEarlyExit(nil)
				return nil
			case kind != "true" && kindOf(kind) == "":
				return errors.New("unknown kind")
			}
			f.SetEarlyExit(func(env *cli.Env) (report.Result, error) { return r.describe(env, kindOf(kind)) })
			return nil
		},
	})
	option.Complete = func(*cli.Env, string) []string { return kinds }
	option.Allowed = func() ([]string, string) { return kinds, "" }
}

// describe returns every id with its names and requirements, or only those under the key kind of the
// listing, if it is not "".
func (r *initRun) describe(env *cli.Env, kind string) (report.Result, error) {
	cat, err := openCatalog(env, r.catalog)
	if err != nil {
		return nil, err
	}
	if env.JSON {
		return cli.Document{Value: bot.Describe(cat, kind)}, nil
	}
	return description{cat, kind}, nil
}

// A description is the result of --describe-options for people.
type description struct {
	cat  *catalog.Catalog
	kind string // of service, or ""
}

// Text has a paragraph for each service.
func (d description) Text(out *report.Printer) { out.Print(bot.DescribeText(d.cat, d.kind)) }

// creates says that vbot has the command init.
const creates = true

// helpPages returns the folder with the help pages.
func helpPages() fs.FS { return templates.Files }

// configSchema returns the JSON Schema of the configuration file, with the services in the folder dir.
func configSchema(env *cli.Env, dir string) (map[string]any, error) {
	cat, err := openCatalog(env, dir)
	if err != nil {
		return nil, err
	}
	return bot.Schema(cat), nil
}

// serviceKeys returns a function that reports whether a key is the secret of a service.
func serviceKeys() func(key string) bool {
	services := sync.OnceValue(catalog.New) // only a few values need it
	return func(key string) bool { return services().HasSecret(key) }
}

// openCatalog returns the catalog with the services in the folder that --catalog or
// VBOT_CATALOG names. Nothing in it is run, and links that lead out of it are not
// followed. dir is the value of --catalog, "" if it was not given.
func openCatalog(env *cli.Env, dir string) (*catalog.Catalog, error) {
	c := catalog.New()
	source := "--catalog"
	if dir == "" {
		dir, source = env.Getenv("VBOT_CATALOG"), "VBOT_CATALOG"
	}
	if dir == "" {
		return c, nil
	}
	path, err := env.Expand(dir)
	err = cmp.Or(report.CheckFileName(dir), err)
	if err != nil {
		return nil, report.One(report.InvalidConfig, strings.TrimPrefix(source, "--"), source, "%v", err)
	}
	root, err := os.OpenRoot(env.Path(path))
	if err == nil {
		defer root.Close()
		if problems := c.Add(root.FS(), dir); len(problems) > 0 {
			return nil, problems.Err()
		}
		if !c.HasCustom() {
			err = errors.New("contains no services; expected files such as stt/acme.py")
		}
	}
	if err != nil {
		field := strings.TrimPrefix(source, "--")
		return nil, report.One(report.InvalidConfig, field, source, "%q: %v", dir, report.Cause(err))
	}
	return c, nil
}
