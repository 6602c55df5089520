package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
	"vbot/internal/wizard"
)

// An initRun is one run of init: its options, and what do sets besides.
type initRun struct {
	catalog        *string // nil if it was not given
	typed          bot.Answers
	config         *string // a file, or "-"; nil if it was not given
	dryRun         bool
	keepExisting   bool
	overwriteGuide bool
	check          bool
	update         bool
	diff           bool
	markers        bool
	verbose        bool
	contextHub     *bool

	a       *cli.App
	inv     *cli.Invocation
	cat     *catalog.Catalog
	target  string   // as it was typed, or "."
	refresh []string // guides that a person lets vbot replace
}

func setupInit(inv *cli.Invocation) cli.RunFunc {
	r := &initRun{typed: bot.Answers{}}
	for _, opt := range bot.Options {
		var shown *cli.Option
		names := strings.TrimSpace(opt.Short + " " + opt.Flag)
		switch {
		case opt.Toggle != nil:
			shown = inv.Toggle(names, opt.Help, func(on bool) { r.typed[opt] = bot.Answer{On: on, Flag: true} })
		case opt.List != nil:
			shown = inv.Text(names, opt.Value, opt.Help, func(s string) {
				r.typed[opt] = bot.Answer{List: append(r.typed[opt].List, s), Flag: true}
			})
		default:
			shown = inv.Text(names, opt.Value, opt.Help, func(s string) { r.typed[opt] = bot.Answer{Text: s, Flag: true} })
		}
		shown.Key, shown.Allowed = opt.Key, func() ([]string, string) { return opt.Values(catalog.New()) }
		shown.Complete = func(a *cli.App, typed string) []string { return r.complete(a, opt, typed) }
	}
	inv.Text("c config", "FILE", "read options from a JSON file; - is stdin; command-line options override it", func(s string) { r.config = &s })
	inv.Bool("dry-run", "print the configuration as JSON; write nothing", &r.dryRun)
	inv.Section()
	inv.Bool("check", "list edited, missing and outdated files; write nothing; exit with 3 if there are any", &r.check)
	inv.Bool("update", "bring the files up to date and keep your edits; bot options change the bot", &r.update)
	inv.Bool("diff", "with --check or --update, print a patch; write nothing", &r.diff)
	const aboutMarkers = "with --update, write conflicts between markers, for you to resolve"
	inv.Bool("conflict-markers", aboutMarkers, &r.markers)
	inv.Section()
	for _, opt := range bot.Options {
		if opt.Peer != "" {
			name := strings.ReplaceAll(opt.Peer, "_", "-")
			inv.Toggle(name, "the same as --"+opt.Flag, func(on bool) { r.typed[opt] = bot.Answer{On: on, Flag: true, Taken: switchPrefix(on) + name} }).Key = opt.Key
		}
	}
	inv.Toggle("context-hub", "refused: run pipecat context-hub install (--no-context-hub is ignored)", func(on bool) { r.contextHub = &on })
	inv.Section()
	inv.InsteadOption("list-options", "print the ids that options take, as JSON", r.list)
	r.describeOption(inv)
	inv.Text("catalog", "DIR", "add the services in the directory DIR (default: VBOT_CATALOG)", func(s string) { r.catalog = &s })
	inv.Bool("keep-existing", "keep existing files; write only missing ones", &r.keepExisting)
	inv.Bool("overwrite-guide", "replace existing guides with current ones", &r.overwriteGuide)
	inv.Bool("verbose", "list each file (default: only without a terminal)", &r.verbose)
	return r.do
}

// switchPrefix is what stands before the name of a switch that is on or off.
func switchPrefix(on bool) string {
	if on {
		return "--"
	}
	return "--no-"
}

// complete returns the values of the option that begin with typed. A service has several
// names: the first that fits stands for it.
func (r *initRun) complete(a *cli.App, opt *bot.Option, typed string) (out []string) {
	if opt.Kind == "" {
		return opt.Allowed()
	}
	cat, err := openCatalog(a, r.catalog)
	if err != nil {
		cat = catalog.New() // do says what is wrong
	}
	for _, p := range cat.List(opt.Kind) {
		names := append(slices.Clone(p.Names), p.ID)
		if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, typed) }); i >= 0 {
			out = append(out, names[i])
		}
	}
	return out
}

// do carries out one of the jobs of init: quickstart, scaffold, ask, or guides.
func (r *initRun) do(ctx context.Context, a *cli.App, inv *cli.Invocation, args []string) error {
	if len(args) > 1 {
		return report.Usagef("expected one directory, got %s; put a name with spaces in quotes", strings.Join(report.QuoteAll(args), " "))
	}
	cat, err := openCatalog(a, r.catalog)
	if err != nil {
		return err
	}
	r.a, r.inv, r.cat = a, inv, cat
	target := strings.Join(args, "")
	if len(args) == 1 && target == "" {
		return report.Usagef("the directory's name is empty")
	}
	if r.contextHub != nil && *r.contextHub {
		return report.One(report.InvalidConfig, "context_hub", "--context-hub",
			"vbot runs no other program; register the hub with `pipecat context-hub install`")
	} else if r.contextHub != nil {
		a.Note("--no-context-hub has no effect: vbot never registers the hub")
	}
	compares := r.check || r.update
	switch {
	case r.check && r.update:
		return report.Usagef("--check and --update cannot be combined")
	case r.diff && !compares:
		return report.Usagef("--diff needs --check or --update")
	case r.markers && !r.update:
		return report.Usagef("--conflict-markers needs --update")
	case r.diff && inv.JSON:
		return report.Usagef("--diff prints text: leave out --json")
	case compares && (r.keepExisting || r.overwriteGuide):
		return report.Usagef("--keep-existing and --overwrite-guide cannot be combined with --check or --update")
	case target == "quickstart":
		if target, err = r.quickstart(compares); err != nil {
			return err
		}
	}
	r.target = cmp.Or(target, ".")
	switch {
	case compares:
		return r.compare(ctx)
	case len(r.typed) > 0 || r.config != nil || r.dryRun:
		return r.scaffold(ctx)
	case canAsk(a):
		return r.ask(ctx, target)
	case target == "":
		return report.Usagef("missing directory or bot options; try `vbot init quickstart`, or see `vbot init --help`")
	case nearQuickstart(target) && !project.Has(a.Path(target), "."):
		return report.Usagef("there is no directory %s%s; to create it: vbot init ./%[1]s", target, report.DidYouMean("`vbot init quickstart`"))
	}
	return r.write(ctx, nil)
}

// nearQuickstart reports whether the target looks like a misspelt quickstart.
func nearQuickstart(target string) bool {
	return report.Nearest(target, []string{"quickstart"}) != "" && !strings.ContainsAny(target, `./\`) && !strings.Contains(target, "quickstart")
}

// quickstart sets the options of the preset, which takes none besides, and returns its
// target.
func (r *initRun) quickstart(compares bool) (target string, err error) {
	var problems []report.Problem
	preset := bot.Quickstart()
	name := preset[bot.OptName].Text
	refuse := func(field, where string) {
		problems = append(problems, report.Problem{
			Field: field, Where: where,
			Message: "quickstart takes no bot options",
		})
	}
	for _, opt := range bot.Options {
		if _, ok := r.typed[opt]; ok {
			refuse(opt.Key, opt.Where())
		}
	}
	if r.config != nil {
		refuse("config", "--config")
	}
	if len(problems) > 0 {
		hint := "to change its options: vbot init " + name + " --update OPTIONS"
		if !compares {
			hint = "to choose options, pass another directory: vbot init my-bot" + typedWords(preset.Arguments(r.cat, name)) + " OPTIONS; for one named quickstart, pass ./quickstart"
		}
		return "", &report.Failure{Code: report.InvalidConfig, Problems: problems, Hint: hint}
	}
	if !compares { // these read the record
		r.typed = preset
	}
	return name, nil
}

// configure returns the configuration that the options describe. What no option says is
// as in the configuration file, or else as in recorded.
func (r *initRun) configure(ctx context.Context, recorded bot.Answers) (cfg bot.Config, err error) {
	fail := func(problems []report.Problem, hint string) (bot.Config, error) {
		return cfg, &report.Failure{Code: report.InvalidConfig, Problems: problems, Hint: hint}
	}
	var problems []report.Problem
	fromFile, source := recorded, project.RecordName
	if r.config != nil {
		source = "the configuration file"
		data, err := cli.ReadAll(ctx, r.a, *r.config, maxConfig)
		name := fileLabel(*r.config)
		if ctx.Err() != nil {
			return cfg, report.Interruption()
		}
		if err != nil {
			return fail([]report.Problem{{Field: "config", Where: "--config", Message: name + ": " + err.Error()}}, "")
		}
		if fromFile, problems = bot.ParseConfig(name, data); fromFile == nil { // do not report its keys as missing
			return fail(problems, "")
		}
	}
	given := bot.Answers{}
	maps.Copy(given, fromFile)
	maps.Copy(given, r.typed)
	cfg, left, refused := bot.Resolve(r.cat, given, bot.NameFromDir(r.a.Path(r.target)))
	if problems = append(problems, refused...); len(problems) > 0 {
		hint := ""
		if slices.ContainsFunc(problems, func(p report.Problem) bool { return p.Missing && p.Field == bot.OptMode.Key }) {
			hint = "`vbot init --help` ends with complete examples"
		}
		return fail(problems, hint)
	}
	for _, opt := range bot.Options {
		if name := given[opt].Taken; strings.HasPrefix(name, "--") {
			r.a.Note("reading %s as %s", name, switchPrefix(given[opt].On)+opt.Flag)
		} else if name != "" {
			r.a.Note("reading %s as %s", name, opt.Key)
		}
	}
	for _, l := range left {
		r.a.Note("ignoring %s from %s: %s", l.What, source, l.Why)
	}
	return cfg, nil
}

// maxConfig is the maximum size of a configuration file, in bytes.
const maxConfig = 1 << 20

// A draft is what a run would write: a bot, or the guides for a coding agent.
type draft struct {
	bot   *render.Data // nil for the guides
	files map[string][]byte
}

// newDraft renders a bot with its record, or without a configuration the guides.
func newDraft(cat *catalog.Catalog, cfg *bot.Config, version string) (d draft, err error) {
	if cfg == nil {
		d.files, err = render.Guides(version)
		return d, err
	}
	d.bot = render.New(*cfg, cat, version)
	if d.files, err = d.bot.Files(); err == nil {
		err = project.AddRecord(version, *cfg, d.files)
	}
	return d, err
}

// plan returns what writing the draft to the target does.
func (r *initRun) plan(t *project.Target, d draft, keepExisting bool) (*project.Plan, error) {
	overwrite := r.refresh
	if r.overwriteGuide {
		overwrite = project.Guides
	}
	if d.bot == nil && project.Has(t.Dir, project.BotName) {
		delete(d.files, render.GettingStarted) // it is only for directories without a bot
	}
	return t.Plan(d.files, keepExisting, overwrite)
}

// open opens the target, to write there or only to read.
func (r *initRun) open(writes bool) (*project.Target, error) {
	dir := r.a.Path(r.target)
	if !writes {
		return project.Open(dir)
	}
	t, err := project.Lock(dir)
	if err == nil && t.Unlocked != nil {
		r.a.Note("%s cannot be locked (%v): run no other vbot there until this one has ended", dir, t.Unlocked)
	}
	return t, err
}

// scaffold writes the bot that the options and the configuration file describe.
func (r *initRun) scaffold(ctx context.Context) error {
	cfg, err := r.configure(ctx, nil)
	if err != nil {
		return err
	}
	return r.write(ctx, &cfg)
}

// write writes a bot or, if cfg is nil, the guides for a coding agent.
func (r *initRun) write(ctx context.Context, cfg *bot.Config) error {
	d, err := newDraft(r.cat, cfg, version)
	if err != nil {
		return err
	}
	var p *project.Plan
	t, err := r.open(!r.dryRun)
	if err == nil {
		defer t.Close()
		p, err = r.plan(t, d, r.keepExisting)
	}
	if r.dryRun {
		if err != nil {
			r.a.Note("would fail: %v", err)
		} else {
			preview(r.a, p)
		}
		return report.WriteJSON(r.a.Stdout, cfg)
	}
	if err == nil {
		err = r.conflictError(p)
	}
	text, next := "", []string{}
	switch {
	case err != nil:
		return err
	case cfg != nil:
		guide := "README.md"
		if slices.Contains(p.Paths(project.Kept), guide) {
			guide = "AGENTS.md" // README.md is not vbot's
		}
		text, next, err = d.bot.NextSteps(cli.ShellPath(filepath.Join(r.target, "server")), cli.ShellPath(filepath.Join(r.target, "client")), guide)
	case p.Count(project.Created) > 0:
		text = fmt.Sprintf("\nNext: start your coding agent in %s and ask it for the bot you want.", cli.ShellPath(r.target))
	}
	if err == nil {
		err = r.apply(ctx, t, p, cfg, next, !readByPerson(r.a.Stderr), nil)
	}
	if err == nil && text != "" {
		r.a.Note("%s", text)
	}
	return err
}

// compare compares a project with what this version writes, and with --update brings
// it up to date.
func (r *initRun) compare(ctx context.Context) error {
	a, dir, writes := r.a, r.a.Path(r.target), r.update && !r.dryRun && !r.diff
	// If it writes, it locks until the end, so that what is read stays true.
	t, err := r.open(writes && project.Has(dir, project.RecordName))
	if err != nil {
		return err
	}
	defer t.Close()
	was, recorded, err := readRecord(t)
	if err != nil {
		return err
	}
	age, _ := project.CompareVersions(was.Vbot, version)
	switch {
	case was.Vbot == "" && (r.update || len(r.typed) == 0 && r.config == nil):
		return r.noRecord(dir)
	case age > 0 && r.update:
		return &report.Failure{
			Code: report.InvalidConfig, Message: "vbot " + was.Vbot + " wrote " + dir + "; this is vbot " + version + ", which cannot update it",
			Hint: "use vbot " + was.Vbot + " or a later one",
		}
	case age > 0:
		a.Note("vbot %s wrote %s; this is vbot %s, which is older", was.Vbot, dir, version)
	}
	cfg, err := r.configure(ctx, bot.Update(r.cat, recorded, r.typed))
	if err != nil {
		return err
	}
	d := draft{bot: render.New(cfg, r.cat, version)}
	if d.files, err = d.bot.Files(); err != nil {
		return err
	}
	now, err := project.NewRecord(version, cfg, d.files)
	if err != nil {
		return err
	}
	before := sync.OnceValue(func() *draft { return r.rendered(was) })
	p, err := t.Update(&project.Update{
		Files:   d.files,
		Was:     was,
		Now:     now,
		Paths:   render.Paths(),
		Markers: r.markers,
		Rendered: func() map[string][]byte {
			if d := before(); d != nil {
				return d.files
			}
			return nil
		},
	})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return report.Interruption()
	}
	if len(r.typed[bot.OptTransports].List) > 0 {
		r.noteLostTelephone(before(), cfg)
	}
	diff := ""
	if r.diff {
		diff = p.Diff(r.check)
	}
	refused := r.conflictOfUpdate(p)
	preview := fmt.Sprintf("vbot %s wrote %s; vbot %s would:\n%s", was.Vbot, dir, version, changes(p))
	switch {
	case r.check && r.dryRun:
		return report.WriteJSON(a.Stdout, cfg)
	case r.check:
		return r.reportStates(projectAnswer{Directory: dir, Config: cfg, WrittenBy: report.OrNull(was.Vbot)}, p, diff)
	case r.dryRun || r.diff:
		a.Note("%s", preview)
		if err := printFiles(a, diff); err != nil {
			return err
		}
		switch {
		case refused != nil:
			return refused
		case !r.dryRun:
			return nil
		}
		return report.WriteJSON(a.Stdout, cfg)
	case refused != nil && (!r.markers || unresolvable(p)):
		return refused
	}
	asks := p.Writes() > 0 && canAsk(a)
	if asks {
		a.Note("%s", preview)
		if err := mustConfirm(ctx, a, "Go ahead?", "written"); err != nil {
			return err
		}
	}
	err = r.apply(ctx, t, p, &cfg, []string{}, !asks, refused)
	if err != nil && refused == nil {
		return err
	}
	if p.Writes() > 0 && before() != nil {
		noteCredentials(a, d.bot.NewCredentials(before().bot))
	}
	return err
}

// noteCredentials says what a person has to get for the bot after an update.
func noteCredentials(a *cli.App, needed []catalog.Credential) {
	if len(needed) == 0 {
		return
	}
	text := "now needed in server/.env, and where to get it:"
	for _, c := range needed {
		text += "\n  " + c.Line()
	}
	a.Note("%s", text)
}

// noteLostTelephone says what goes with the last telephone transport of a bot.
func (r *initRun) noteLostTelephone(was *draft, now bot.Config) {
	if was == nil || !was.bot.HasTelephone(r.cat) || now.HasTelephone(r.cat) {
		return
	}
	goes := "the tool hang_up, the telephone parts of README.md, and handing a call to a person in DEPLOY.md"
	if was.bot.SelfHost {
		goes = "PHONE_TOKEN, " + goes
	}
	if now.BotType == bot.BotWeb {
		goes += "; it becomes a web bot (bot_type)"
	}
	r.a.Note("without its last telephone transport, the bot loses %s", goes)
}

// rendered returns what this version writes for the recorded configuration, or nil if it cannot.
func (r *initRun) rendered(was *project.Record) *draft {
	answers, faulty := bot.ParseConfig(project.RecordName, was.Config)
	cfg, _, refused := bot.Resolve(r.cat, answers, "")
	if len(faulty)+len(refused) > 0 {
		return nil
	}
	d := &draft{bot: render.New(cfg, r.cat, was.Vbot)}
	var err error
	if d.files, err = d.bot.Files(); err != nil {
		return nil
	}
	return d
}

// noRecord returns the failure of a comparison in dir, where no project is. Whoever followed the
// README stands in a folder of one.
func (r *initRun) noRecord(dir string) error {
	f := report.Errorf(report.NotFound, "there is no %s in %s, so vbot cannot know what it wrote there", project.RecordName, dir)
	f.Hint = "to compare, pass the bot's options with --check; to create the file, run init with these options and --keep-existing"
	if !project.Has(dir, ".") {
		f.Message, f.Hint = "there is no directory "+dir, ""
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if project.Has(up, project.RecordName) {
			job := map[bool]string{true: "--update", false: "--check"}[r.update]
			path, _ := filepath.Rel(r.a.Dir, up)
			f.Hint = "the project is in " + up + ": vbot init " + cli.ShellPath(path) + " " + job
			break
		}
	}
	return f
}

// readRecord returns the record of the target, and the configuration in it.
func readRecord(t *project.Target) (r *project.Record, answers bot.Answers, err error) {
	r, err = t.Record(render.Paths())
	if err == nil && r.Vbot != "" {
		var problems []report.Problem
		if answers, problems = bot.ParseConfig(project.RecordName, r.Config); len(problems) > 0 {
			err = &report.Failure{Code: report.InvalidConfig, Problems: problems}
		}
	}
	if f, ok := errors.AsType[*report.Failure](err); ok && r != nil {
		f.Hint = "to create it again, remove it and run init with the bot's options and --keep-existing"
		if strings.HasSuffix(f.Error(), report.MergeConflict) {
			f.Hint = "choose one side: take .vbot.json and every unedited file from it, then run --update with the options that the other side changed"
		}
		if age, _ := project.CompareVersions(r.Vbot, version); age > 0 {
			f.Hint = "vbot " + r.Vbot + " wrote it; use that version or a later one"
		}
	}
	return r, answers, err
}

// printFiles prints text from files to stdout, byte for byte, but to a terminal only
// what cannot move the cursor.
func printFiles(a *cli.App, text string) error {
	if text == "" {
		return nil // a full disk would fail that, too
	}
	if readByPerson(a.Stdout) {
		text = report.Printable(text)
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// ask runs the wizard, and then does what its answers say, like options. target is the one that
// was given, or "".
func (r *initRun) ask(ctx context.Context, target string) error {
	a := r.a
	w := &wizard.Wizard{Terminal: a.Terminal(), Catalog: r.cat, Path: a.Path, Home: cmp.Or(a.Getenv("HOME"), a.Getenv("USERPROFILE")), Quote: cli.ShellPath}
	w.Plan = func(target string, cfg *bot.Config, keepExisting bool) (*project.Plan, error) {
		d, err := newDraft(r.cat, cfg, version)
		if err != nil {
			return nil, err
		}
		t, err := project.Open(a.Path(target))
		if err != nil {
			return nil, err
		}
		defer t.Close()
		p, err := r.plan(t, d, keepExisting)
		if err == nil && cfg == nil { // the wizard shows a bot's conflicts itself
			err = r.conflictError(p)
		}
		return p, err
	}
	got, err := w.Ask(ctx, wizard.Answers{Target: target, KeepExisting: r.keepExisting, OverwriteGuide: r.overwriteGuide})
	r.typed, r.target, r.keepExisting, r.overwriteGuide, r.refresh = got.Bot, got.Target, got.KeepExisting, got.OverwriteGuide, got.Refresh
	line, title := "", "To do the same without questions:"
	if got.Located {
		line = r.commandLine(got.Guides)
	}
	switch {
	case err != nil:
	case got.Guides:
		err = r.write(ctx, nil)
	default:
		err = r.scaffold(ctx)
	}
	if err != nil {
		title = "Your answers so far, as a command line"
		if missing := r.stillMissing(); missing != nil && !got.Guides {
			title += " (it still needs " + strings.Join(missing, ", ") + ")"
		}
		title += ":"
	}
	if line != "" {
		a.Note("\n%s\n  %s", title, line)
	}
	return err
}

// stillMissing names the options without which the answers are no bot.
func (r *initRun) stillMissing() (missing []string) {
	_, _, problems := bot.Resolve(r.cat, r.typed, bot.NameFromDir(r.a.Path(r.target)))
	for _, p := range problems {
		if p.Missing {
			missing = append(missing, strings.Fields(p.Where)[0])
		}
	}
	return missing
}

// commandLine returns a command line that says the same as the options.
func (r *initRun) commandLine(guides bool) string {
	options := r.typedOptions()
	if guides {
		options = " --no-input"
	}
	if r.catalog != nil {
		options += " --catalog " + cli.ShellQuote(*r.catalog)
	}
	if r.keepExisting {
		options += " --keep-existing"
	}
	if r.overwriteGuide {
		options += " --overwrite-guide"
	}
	return "vbot init " + cli.ShellPath(r.target) + options
}

// typedOptions returns the options of the command line that shape the bot, each with a space before it.
func (r *initRun) typedOptions() string {
	args := r.typed.Arguments(r.cat, bot.NameFromDir(r.a.Path(r.target)))
	if r.config != nil {
		args = append([]string{"--config", *r.config}, args...)
	}
	return typedWords(args)
}

// typedWords returns arguments as one types them, each with a space before it.
func typedWords(args []string) (text string) {
	for _, arg := range args {
		text += " " + cli.ShellQuote(arg)
	}
	return text
}

// Reports.

// preview prints what a run would keep or refuse.
func preview(a *cli.App, p *project.Plan) {
	for _, c := range p.Conflicts {
		a.Note("would conflict: %s", c.Line())
	}
	for _, s := range p.Steps {
		if s.Action == project.Kept && !s.Guide && shown(s) {
			a.Note("would keep: %s", s.Path)
		}
	}
	explainGuides(a, p)
}

// conflictError returns an error that lists the conflicts, or nil.
func (r *initRun) conflictError(p *project.Plan) error {
	if len(p.Conflicts) == 0 {
		return nil
	}
	f := &report.Failure{
		Code: report.Conflict, Problems: p.Conflicts,
		Message: fmt.Sprintf("existing files in %s are in the way; nothing was written", p.Dir),
		Hint:    "choose another directory, move them away, or use --keep-existing to write only missing files",
	}
	if slices.ContainsFunc(p.Steps, func(s project.Step) bool { return s.Path == project.RecordName && s.Before != "" }) {
		f.Hint = "to change the project and keep your edits: `vbot init " + cli.ShellQuote(p.Dir) + " --update" + r.typedOptions() + "`"
	}
	if p.Stuck {
		f.Hint = "choose another directory, or move them away; --keep-existing does not help with directories and links"
	}
	return f
}

// fates are what may happen to files, as done, and as what an update would do.
var fates = []struct{ done, would string }{
	{"wrote conflicts between markers into", "conflicts"},
	{"merged with your edits", "merge with your edits"},
	{"created", "create"},
	{"replaced", "replace"},
	{"removed", "remove"},
	{"kept", "keep"},
	{"did not restore", "not restore, as you deleted them"},
}

// fateOf returns the index in fates of what happens to a file, or -1 if nothing does.
func fateOf(s project.Step) int {
	switch {
	case len(s.Conflicts) > 0:
		return 0
	case s.Merged:
		return 1
	}
	of := []string{project.Created, project.Replaced, project.Removed, project.Kept, project.Missing}
	if n := slices.Index(of, s.Action); n >= 0 {
		return n + 2
	}
	return -1
}

// shown reports whether a step is listed for people: not what only vbot reads.
func shown(s project.Step) bool { return !project.IsOwn(s.Path) }

// apply carries out the plan and prints what was done: with --json to stdout, and to stderr,
// with list each file. refused is the failure of an update that writes conflicts, or nil.
func (r *initRun) apply(
	ctx context.Context, t *project.Target, p *project.Plan,
	cfg *bot.Config, next []string, list bool, refused *report.Failure,
) error {
	if err := t.Apply(ctx, p); err != nil {
		return err
	}
	answer := initAnswer{p.Dir, cfg, []fileAnswer{}, next}
	for _, s := range p.Steps {
		if r.inv.JSON { // which alone has sums
			answer.Files = append(answer.Files, fileAnswer{s.Path, s.Action, s.Sum()})
		}
	}
	var err error
	if refused == nil {
		err = r.inv.Report(r.a, answer, "")
	}
	for n, fate := range fates {
		names := namesOf(p, func(s project.Step) bool { return fateOf(s) == n })
		switch text := fmt.Sprintf("%s %s in %s", fate.done, report.Plural(len(names), "file"), p.Dir); {
		case len(names) == 0:
		case list || r.verbose:
			r.a.Note("%s:\n  %s", text, strings.Join(names, "\n  "))
		default:
			r.a.Note("%s", text)
		}
	}
	unchanged := func(s project.Step) bool { return s.Action == project.Unchanged }
	if all := len(namesOf(p, shown)); len(namesOf(p, unchanged)) == all && p.Writes() == 0 {
		r.a.Note("nothing to do: all %s in %s are up to date", report.Plural(all, "file"), p.Dir)
	}
	if names := p.Paths(project.Missing); len(names) > 0 {
		const restore = "vbot init %s --check --dry-run | vbot init %[1]s --config - --keep-existing"
		r.a.Note("to restore what you deleted: "+restore, cli.ShellPath(r.target))
	}
	if slices.ContainsFunc(p.Steps, undelivered) {
		r.a.Note("the next update offers what is pending again; --check --diff shows it, " +
			"and --update --conflict-markers writes it")
	}
	explainGuides(r.a, p)
	if refused != nil {
		refused.Result = answer
		return refused
	}
	return err
}

// undelivered reports whether this version has more for a file that an update cannot merge.
func undelivered(s project.Step) bool { return s.State == project.Pending && !s.Merged }

// namesOf returns the files of the plan of which is is true, each with what there is to say of it.
func namesOf(p *project.Plan, is func(project.Step) bool) (names []string) {
	for _, s := range p.Steps {
		if shown(s) && is(s) {
			names = append(names, s.Path+aside(s.Why))
		}
	}
	return names
}

// changes says for people what an update does.
func changes(p *project.Plan) string {
	var b strings.Builder
	for n, fate := range fates {
		names := namesOf(p, func(s project.Step) bool { return !s.Guide && fateOf(s) == n })
		if len(names) > 0 {
			fmt.Fprintf(&b, "  %s:\n    %s\n", fate.would, strings.Join(names, "\n    "))
		}
	}
	return cmp.Or(b.String(), "  change nothing\n")
}

// conflictOfUpdate returns the failure of an update with conflicts, or nil.
func (r *initRun) conflictOfUpdate(p *project.Plan) *report.Failure {
	if len(p.Conflicts) == 0 {
		return nil
	}
	f := &report.Failure{
		Code:     report.Conflict,
		Problems: p.Conflicts,
		Message:  "the update conflicts with your files; nothing was written",
	}
	switch {
	case unresolvable(p):
		f.Hint = "move it away or rename it, and run the same command again"
		if slices.ContainsFunc(p.Steps, func(s project.Step) bool { return s.Marked > 0 }) {
			f.Hint = "choose what to keep between the lines <<<<<<< and >>>>>>>, remove these lines, " +
				"and run the same command again"
		}
	case r.markers && !r.dryRun && !r.diff:
		f.Message = "the update is written, with conflicts between markers"
		f.Hint = "choose what to keep between the lines <<<<<<< and >>>>>>>, and remove these lines"
	default:
		f.Hint = "the same command with --conflict-markers writes it all the same, " +
			"with both texts between markers; with --diff it shows them"
	}
	return f
}

// unresolvable reports whether there are conflicts that no markers can show.
func unresolvable(p *project.Plan) bool {
	return len(p.Conflicts) > len(namesOf(p, func(s project.Step) bool { return len(s.Conflicts) > 0 }))
}

// aside returns what there is to say of a file besides its name, in brackets.
func aside(texts ...string) string {
	text := strings.Trim(strings.Join(texts, "; "), "; ")
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// An initAnswer is the JSON of a run that writes. Config is null for the guides.
type initAnswer struct {
	Directory string       `json:"directory"`
	Config    *bot.Config  `json:"config"`
	Files     []fileAnswer `json:"files"`
	Next      []string     `json:"next"` // the commands that run a new bot, in their order
}

type fileAnswer struct {
	Path   string `json:"path"`
	Action string `json:"action" enum:"created,kept,unchanged,replaced,removed,missing"`
	SHA256 string `json:"sha256"`
}

// A projectAnswer is the JSON of --check.
type projectAnswer struct {
	Directory string        `json:"directory"`
	Config    bot.Config    `json:"config"`
	WrittenBy report.OrNull `json:"written_by"` // the version in the record
	Files     []stateAnswer `json:"files"`
}

type stateAnswer struct {
	Path   string        `json:"path"`
	State  string        `json:"state" enum:"unchanged,edited,pending,missing,outdated"`
	SHA256 report.OrNull `json:"sha256"` // of the file that is there
}

// reportStates prints the files that differ, with --verbose all, and counts the rest.
func (r *initRun) reportStates(out projectAnswer, p *project.Plan, diff string) error {
	list, count := "", map[string]int{}
	for _, s := range p.Steps {
		if s.State == "" {
			continue
		}
		out.Files = append(out.Files, stateAnswer{s.Path, s.State, report.OrNull(s.Before)})
		count[s.State]++
		if s.State != project.Unchanged || r.verbose {
			list += fmt.Sprintf("%-9s  %s%s\n", s.State, s.Path, aside(s.Why))
		}
	}
	if !r.inv.JSON {
		if err := printFiles(r.a, list+diff); err != nil {
			return err
		}
	}
	if count[project.Unchanged] == len(out.Files) {
		return r.inv.Report(r.a, out, "all %d files match vbot %s", len(out.Files), version)
	}
	var parts []string
	for _, state := range []string{project.Edited, project.Pending, project.Missing, project.Outdated} {
		if count[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[state], state))
		}
	}
	f := report.Errorf(report.Differs, "%d of %d files do not match vbot %s: %s",
		len(out.Files)-count[project.Unchanged], len(out.Files), version, strings.Join(parts, ", "))
	f.Result = out
	helps := func(s project.Step) bool {
		return s.State == project.Outdated || s.Action == project.Created || s.State == project.Pending && s.Merged
	}
	if out.WrittenBy != "" && slices.ContainsFunc(p.Steps, helps) {
		f.Hint = "the same command with --update instead of --check brings it up to date"
		if p.Conflicts != nil {
			f.Hint = "the same command with --update instead of --check says what conflicts"
		}
	} else if slices.ContainsFunc(p.Steps, undelivered) {
		f.Hint = "the same command with --diff shows what is pending; " +
			"with --update --conflict-markers instead of --check, vbot writes it"
	}
	return f
}

// explainGuides lists the guides that were kept although they differ.
func explainGuides(a *cli.App, p *project.Plan) {
	for _, s := range p.Steps {
		if !s.Guide || s.Action != project.Kept {
			continue
		}
		if s.Before == "" {
			a.Note("kept %s, which is a link, unreadable or larger than 1 MiB", s.Path)
			continue
		}
		why := "differs from this version's guide"
		if s.HasOldGuide() {
			why = "an older vbot wrote"
		}
		a.Note("kept %s, which %s; to replace it: vbot init --no-input --overwrite-guide %s", s.Path, why, cli.ShellQuote(p.Dir))
	}
}

// Listings.

// list prints the ids that options take, as JSON.
func (r *initRun) list(a *cli.App, _ *cli.Invocation) error {
	cat, err := openCatalog(a, r.catalog)
	if err != nil {
		return err
	}
	return report.WriteJSON(a.Stdout, bot.ListOptions(cat))
}

// describeOption registers --describe-options[=KIND].
func (r *initRun) describeOption(inv *cli.Invocation) {
	kinds := append([]string{catalog.KindTransport}, catalog.ServiceKinds...)
	isKind := func(s string) string {
		if slices.Contains(kinds, s) {
			return s
		}
		return ""
	}
	about := "print all services and transports with names and variables; KIND is transports, stt, llm, tts, realtime or video"
	shown := inv.Switch("describe-options", "KIND", about, "", isKind, func(kind string) error {
		switch {
		case kind == "false":
			inv.Instead = nil
			return nil
		case kind != "true" && isKind(kind) == "":
			return errors.New("unknown kind")
		}
		inv.Instead = func(a *cli.App, inv *cli.Invocation) error { return r.describe(a, inv, isKind(kind)) }
		return nil
	})
	shown.Complete = func(*cli.App, string) []string { return kinds }
	shown.Allowed = func() ([]string, string) { return kinds, "" }
}

// describe prints every id with its names and requirements, for people or, with --json,
// under the same keys as list. kind limits it to one key; "" is all.
func (r *initRun) describe(a *cli.App, inv *cli.Invocation, kind string) error {
	cat, err := openCatalog(a, r.catalog)
	if err != nil {
		return err
	}
	if inv.JSON {
		return report.WriteJSON(a.Stdout, bot.Describe(cat, kind))
	}
	_, err = io.WriteString(a.Stdout, bot.DescribeText(cat, kind))
	return err
}

// openCatalog returns the catalog with the services in the folder that --catalog or
// VBOT_CATALOG names. Nothing in it is run, and links in it that lead elsewhere cannot be
// followed. option is that of --catalog, or nil.
func openCatalog(a *cli.App, option *string) (*catalog.Catalog, error) {
	c, dir, where := catalog.New(), a.Getenv("VBOT_CATALOG"), "VBOT_CATALOG"
	if option != nil {
		dir, where = *option, "--catalog"
	} else if dir == "" {
		return c, nil
	}
	path := dir
	if dir != "" {
		path = a.Path(dir)
	}
	root, err := os.OpenRoot(path)
	if err == nil {
		defer root.Close()
		if problems := c.Add(root.FS(), dir); len(problems) > 0 {
			return nil, &report.Failure{Code: report.InvalidConfig, Problems: problems}
		}
		if c.Own == 0 {
			err = errors.New("no service is there; expected files such as stt/acme.py")
		}
	}
	if err != nil {
		return nil, report.One(report.InvalidConfig, strings.TrimPrefix(where, "--"), where, "%q: %v", dir, report.Cause(err))
	}
	return c, nil
}
