package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// %s stands for the bot options, which come from the table.
const helpInit = `Scaffold a voice bot, or write guides for a coding agent.

Usage:
  vbot init quickstart [OPTIONS]           a ready-made bot in ./vbot-quickstart
  vbot init [TARGET_DIR] BOT_OPTIONS...    the bot that the options describe
  vbot init [TARGET_DIR]                   in a terminal: ask what to write
  vbot init TARGET_DIR                     elsewhere, or with --no-input:
                                           AGENTS.md, AGENT_IMPORT.md and
                                           GETTING_STARTED.md
  vbot init [TARGET_DIR] --check           what changed since vbot wrote it
  vbot init [TARGET_DIR] --update          bring it up to date

vbot creates TARGET_DIR if it does not exist. With bot options it defaults to
the current directory. For a directory named quickstart, write ./quickstart.
Existing files are never overwritten, except guides with --overwrite-guide, and
with --update those that nobody edited since vbot wrote them.

Bot options (any of them disables the questions):
%s  -c, --config FILE           read options from a JSON file; - is stdin;
                              command-line options override it
      --dry-run               print the configuration as JSON; write nothing

An ID is a name such as deepgram, or an id from --list-options.

Options for an existing project, from its .vbot.json:
      --check                 list edited, missing and outdated files; write
                              nothing; the exit code is 1 if there are any
      --update                replace files that nobody edited, write new ones,
                              remove old ones; bot options change the bot
      --diff                  with --check or --update, print a patch

Options of pipecat init; a file from its --dry-run works with --config, too:
      --enable-krisp, --no-enable-krisp
                              the same as --enable-noise-cancel
      --context-hub, --no-context-hub
                              refused (run pipecat context-hub install);
                              the second has nothing to do

Other options:
      --list-options          print the ids that options take, as JSON
      --describe-options[=KIND]
                              print all services and transports with names and
                              variables; KIND is transports, stt, llm, tts,
                              realtime or video
      --catalog DIR           add the services in DIR to those of vbot
                              (default: the folder in VBOT_CATALOG)
      --keep-existing         keep existing files; write only missing ones
      --overwrite-guide       replace existing guides with current ones
      --json                  print the result as JSON
      --verbose               list each file, as without a terminal
      --no-input              never ask
  -h, --help                  print this help

Examples:
  vbot init
  vbot init quickstart
  vbot init my-bot -t smallwebrtc -m cascade \
      --stt deepgram --llm openai --tts cartesia
  vbot init my-bot -t twilio -m realtime --realtime openai --no-deploy-to-cloud
  vbot init my-bot -t smallwebrtc -m realtime --realtime openai \
      --client-framework react
  vbot init my-bot --config bot.json --dry-run
  vbot init my-bot --check --diff
  vbot init . --no-input                   guides for a coding agent
`

// initOptions are the parsed options of init.
type initOptions struct {
	cat            *catalog
	said           answers
	config         *string
	dryRun         bool
	keepExisting   bool
	overwriteGuide bool
	check          bool
	update         bool
	diff           bool
	verbose        bool
	contextHub     *bool
}

func setupInit(inv *invocation) runFunc {
	o := &initOptions{said: answers{}}
	inv.fields = map[string]string{}
	for _, opt := range options {
		for _, name := range []string{opt.flag, cmp.Or(opt.short, opt.flag), "no-" + opt.flag} {
			inv.fields[name] = opt.key
		}
		switch {
		case opt.toggle != nil:
			put := func(on bool) { o.said[opt] = answer{on: on, flag: true} }
			inv.set.Var(toggle{put, true}, opt.flag, "")
			inv.set.Var(toggle{put, false}, "no-"+opt.flag, "")
			if opt.peer != "" {
				name := strings.ReplaceAll(opt.peer, "_", "-")
				take := func(on bool) { o.said[opt] = answer{on: on, flag: true, taken: "--" + name} }
				inv.set.Var(toggle{take, true}, name, "")
				inv.set.Var(toggle{take, false}, "no-"+name, "")
				inv.fields[name], inv.fields["no-"+name] = opt.key, opt.key
			}
		case opt.list != nil:
			textFlag(inv.set, func(s string) {
				o.said[opt] = answer{list: append(o.said[opt].list, s), flag: true}
			}, opt.flag, opt.short)
		default:
			textFlag(inv.set, func(s string) { o.said[opt] = answer{text: s, flag: true} }, opt.flag, opt.short)
		}
	}
	textFlag(inv.set, func(s string) { o.config = &s }, "config", "c")
	boolFlag(inv.set, &o.dryRun, "dry-run")
	boolFlag(inv.set, &o.keepExisting, "keep-existing")
	boolFlag(inv.set, &o.overwriteGuide, "overwrite-guide")
	boolFlag(inv.set, &o.check, "check")
	boolFlag(inv.set, &o.update, "update")
	boolFlag(inv.set, &o.diff, "diff")
	boolFlag(inv.set, &inv.noInput, "no-input")
	boolFlag(inv.set, &o.verbose, "verbose")
	hub := func(on bool) { o.contextHub = &on }
	inv.set.Var(toggle{hub, true}, "context-hub", "")
	inv.set.Var(toggle{hub, false}, "no-context-hub", "")
	inv.catalogFlag()
	inv.insteadFlag(listOptions, "list-options")
	inv.set.Var(describeFlag{inv}, "describe-options", "")
	return o.do
}

// do carries out one of the jobs of init: quickstart, scaffold, ask, or guides.
func (o *initOptions) do(ctx context.Context, a *app, inv *invocation, args []string) error {
	if len(args) > 1 {
		return usageError("expected one directory, got %s", strings.Join(quoteAll(args), " "))
	}
	cat, err := openCatalog(a, inv)
	if err != nil {
		return err
	}
	o.cat = cat
	target := ""
	if len(args) == 1 {
		if target = args[0]; target == "" {
			return usageError("the directory's name is empty")
		}
	}
	if o.contextHub != nil && *o.contextHub {
		return &failure{Code: codeInvalidConfig, Problems: []problem{{Field: "context_hub", where: "--context-hub",
			Message: "vbot runs no other program; register the hub with `pipecat context-hub install`"}}}
	} else if o.contextHub != nil {
		a.note("--no-context-hub: nothing to do, as vbot registers no hub")
	}
	compares := o.check || o.update
	switch {
	case o.check && o.update:
		return usageError("--check and --update exclude each other")
	case o.diff && !compares:
		return usageError("--diff needs --check or --update")
	case o.diff && inv.json:
		return usageError("--diff prints text: leave out --json")
	case compares && (o.keepExisting || o.overwriteGuide):
		return usageError("--keep-existing and --overwrite-guide do not go with --check and --update")
	case target == "quickstart":
		return o.quickstart(ctx, a, inv)
	case compares:
		return o.compare(ctx, a, inv, cmp.Or(target, "."))
	case o.shapesBot():
		return o.scaffold(ctx, a, inv, cmp.Or(target, "."))
	case canAsk(a):
		return o.ask(ctx, a, inv, target)
	case target == "":
		return usageError("missing directory or bot options; see `vbot init --help`")
	}
	return o.writeGuides(ctx, a, inv, target)
}

// shapesBot reports whether any bot option was given.
func (o *initOptions) shapesBot() bool {
	return len(o.said) > 0 || o.config != nil || o.dryRun
}

// quickstart scaffolds the preset into ./vbot-quickstart.
func (o *initOptions) quickstart(ctx context.Context, a *app, inv *invocation) error {
	var problems []problem
	refuse := func(field, where string) {
		problems = append(problems, problem{Field: field, where: where,
			Message: "quickstart takes no bot options; choose another directory, or ./quickstart"})
	}
	for _, opt := range options {
		if _, ok := o.said[opt]; ok {
			refuse(opt.key, opt.where())
		}
	}
	if o.config != nil {
		refuse("config", "--config")
	}
	if len(problems) > 0 {
		return &failure{Code: codeInvalidConfig, Problems: problems}
	}
	preset := quickstart()
	target := preset[optName].text
	if o.check || o.update {
		return o.compare(ctx, a, inv, target)
	}
	o.said = preset
	return o.scaffold(ctx, a, inv, target)
}

// configure returns the configuration that the options describe, and its files. What
// no option says is as in the configuration file, or else as in recorded.
func (o *initOptions) configure(ctx context.Context, a *app, dir string, recorded answers) (cfg config, files []generatedFile, err error) {
	var problems []problem
	fromFile, source := recorded, recordName
	if o.config != nil {
		source = "the configuration file"
		if fromFile, problems, err = readConfig(ctx, a, *o.config); err != nil {
			return cfg, nil, err
		}
		if fromFile == nil { // an unreadable file: do not report its keys as missing
			return cfg, nil, &failure{Code: codeInvalidConfig, Problems: problems}
		}
	}
	for opt, value := range fromFile {
		if _, ok := o.said[opt]; !ok {
			o.said[opt] = value
		}
	}
	cfg, left, wrong := resolve(o.cat, o.said, nameFromDir(dir))
	if problems = append(problems, wrong...); len(problems) > 0 {
		hint := ""
		if slices.ContainsFunc(problems, func(p problem) bool { return p.missing && p.Field == optMode.key }) {
			hint = "`vbot init --help` ends with complete examples"
		}
		return cfg, nil, &failure{Code: codeInvalidConfig, Problems: problems, hint: hint}
	}
	for _, opt := range options {
		if name := o.said[opt].taken; strings.HasPrefix(name, "--") {
			a.note("%s is taken for --%s", name, opt.flag)
		} else if name != "" {
			a.note("%s is taken for %s", name, opt.key)
		}
	}
	for _, l := range left {
		a.note("ignoring %s from %s: %s", l.what, source, l.why)
	}
	files, err = render(cfg, o.cat)
	return cfg, files, err
}

// scaffold writes the bot that the options and the configuration file describe.
func (o *initOptions) scaffold(ctx context.Context, a *app, inv *invocation, target string) error {
	dir := absolute(a.dir, target)
	cfg, files, err := o.configure(ctx, a, dir, nil)
	if err != nil {
		return err
	}
	p, err := makePlan(dir, files, o.keepExisting, o.overwriteGuide)
	if o.dryRun {
		if err != nil {
			a.note("would fail: %v", err)
		} else {
			p.preview(a)
		}
		return writeJSON(a.stdout, cfg)
	}
	if err != nil {
		return err
	}
	if err := p.refuse(); err != nil {
		return err
	}
	return o.carryOut(ctx, a, inv, p, target, &cfg)
}

// compare compares a project with what this version writes, and with --update brings
// it up to date.
func (o *initOptions) compare(ctx context.Context, a *app, inv *invocation, target string) error {
	dir := absolute(a.dir, target)
	was, err := readOrigin(dir)
	if err != nil {
		return err
	}
	age, _ := compareVersion(was.version)
	switch {
	case was.version == "" && (o.update || len(o.said) == 0 && o.config == nil):
		return &failure{Code: codeNotFound, Message: "there is no " + recordName + " in " + dir + ", so vbot cannot know what it wrote there",
			hint: "to compare, give --check the options of the bot; to add the file, run init with these options and --keep-existing"}
	case age > 0 && o.update:
		return &failure{Code: codeInvalidConfig, Message: "vbot " + was.version + " wrote " + dir + "; this is vbot " + version + ", which cannot update it",
			hint: "use vbot " + was.version + " or a later one"}
	case age > 0:
		a.note("vbot %s wrote %s; this is vbot %s, which is older", was.version, dir, version)
	}
	cfg, files, err := o.configure(ctx, a, dir, was.said)
	if err != nil {
		return err
	}
	p, err := planUpdate(dir, files, was.files)
	if err != nil {
		return err
	}
	diff := ""
	if o.diff {
		diff = p.diff(o.update)
	}
	preview := fmt.Sprintf("vbot %s wrote %s; vbot %s would:\n%s%s", was.version, dir, version, p.changes(), diff)
	switch {
	case o.dryRun:
		if o.update {
			a.note("%s", preview)
		}
		return writeJSON(a.stdout, cfg)
	case o.check:
		return o.reportStates(a, inv, projectAnswer{Directory: dir, Config: cfg, WrittenBy: orNull(was.version)}, p, diff)
	}
	asks := p.writes() > 0 && canAsk(a)
	if asks {
		a.note("%s", preview)
		if err := mustConfirm(ctx, a, "Go ahead?", "nothing was written"); err != nil {
			return err
		}
		diff = "" // it was shown
	}
	if err := p.apply(ctx); err != nil {
		return err
	}
	if err := p.report(a, inv, &cfg, o.verbose || !asks); err != nil {
		return err
	}
	if slices.ContainsFunc(p.steps, func(s step) bool { return s.state == stateEdited }) {
		a.note("edited files stay as they are; to see how they differ: vbot init %s --check --diff", shellPath(target))
	}
	return printFiles(a, diff)
}

// reportStates prints the states of all files; to a terminal only of those that differ.
func (o *initOptions) reportStates(a *app, inv *invocation, out projectAnswer, p *plan, diff string) error {
	var summary string
	out.Files, summary = p.states()
	list := ""
	same := true
	for _, f := range out.Files {
		same = same && f.State == stateUnchanged
		if f.State != stateUnchanged || o.verbose || !readByPerson(a.stdout) {
			list += fmt.Sprintf("%-9s  %s\n", f.State, f.Path)
		}
	}
	if !inv.json {
		if err := printFiles(a, list+diff); err != nil {
			return err
		}
	}
	if !same {
		hint := ""
		helps := func(s step) bool { return s.state == stateOutdated || s.action == actionCreated }
		if out.WrittenBy != "" && slices.ContainsFunc(p.steps, helps) {
			hint = "the same command with --update instead of --check brings it up to date"
		}
		return &failure{Code: codeDiffers, Message: summary, result: out, hint: hint}
	}
	a.note("%s", summary)
	return inv.report(a, out)
}

// printFiles prints text from files to stdout, byte for byte, but to a terminal only
// what cannot move the cursor.
func printFiles(a *app, text string) error {
	if readByPerson(a.stdout) {
		text = printable(text)
	}
	_, err := io.WriteString(a.stdout, text)
	return err
}

// carryOut applies the plan and reports the result. cfg is nil for guides.
func (o *initOptions) carryOut(ctx context.Context, a *app, inv *invocation, p *plan, target string, cfg *config) error {
	if err := p.apply(ctx); err != nil {
		return err
	}
	if err := p.report(a, inv, cfg, o.verbose || !readByPerson(a.stderr)); err != nil {
		return err
	}
	if cfg != nil {
		p.nextSteps(a, o.cat, target, *cfg)
	} else if p.count(actionCreated) > 0 {
		a.note("\nNext: start your coding agent in %s and ask it for the bot you want.", shellPath(target))
	}
	return nil
}

// ask runs the wizard, then scaffolds a bot or writes the guides.
func (o *initOptions) ask(ctx context.Context, a *app, inv *invocation, target string) error {
	p := a.prompter()
	release, err := p.Hold()
	if err != nil {
		return err
	}
	defer release()
	w := newWizard(a, p, o.cat, target)
	w.catalog = inv.catalogDir
	w.keepExisting, w.overwriteGuide = o.keepExisting, o.overwriteGuide
	err = o.askAndWrite(ctx, a, inv, w, release)
	release()
	w.overwriteGuide = o.overwriteGuide // see offerRefresh
	line, title := w.command(), "To do the same without questions:"
	if err != nil {
		title = "Your answers so far, as a command line:"
	}
	if line != "" {
		a.note("\n%s\n  %s", title, line)
	}
	return err
}

// askAndWrite calls release when the last question is answered: from then on Ctrl-C is
// a signal again.
func (o *initOptions) askAndWrite(ctx context.Context, a *app, inv *invocation, w *wizard, release func()) error {
	cfg, planned, err := w.ask(ctx)
	if err != nil {
		return err
	}
	if cfg == nil {
		release()
		return o.writeGuides(ctx, a, inv, w.target)
	}
	if err := o.offerRefresh(ctx, a, planned); err != nil {
		return err
	}
	release()
	return o.carryOut(ctx, a, inv, planned, w.target, cfg)
}

// writeGuides writes the guides for a coding agent.
func (o *initOptions) writeGuides(ctx context.Context, a *app, inv *invocation, target string) error {
	dir := absolute(a.dir, target)
	files, err := renderGuides()
	if err != nil {
		return err
	}
	// GETTING_STARTED.md is only for directories without a bot.
	if hasBot(dir) {
		files = slices.DeleteFunc(files, func(f generatedFile) bool { return f.path == gettingStarted })
	}
	p, err := makePlan(dir, files, o.keepExisting, o.overwriteGuide)
	if err != nil {
		return err
	}
	if err := p.refuse(); err != nil {
		return err
	}
	if canAsk(a) {
		if err := o.offerRefresh(ctx, a, p); err != nil {
			return err
		}
	}
	return o.carryOut(ctx, a, inv, p, target, nil)
}

// Reports.

// preview prints what a run would keep or refuse.
func (p *plan) preview(a *app) {
	for _, c := range p.conflicts {
		a.note("would conflict: %s", c.line())
	}
	for _, s := range p.steps {
		if s.action == actionKept && !s.guide {
			a.note("would keep: %s", s.path)
		}
	}
	p.explainGuides(a)
}

// refuse returns an error that lists the conflicts, or nil.
func (p *plan) refuse() error {
	if len(p.conflicts) == 0 {
		return nil
	}
	f := &failure{Code: codeConflict, Problems: p.conflicts,
		Message: fmt.Sprintf("existing files in %s are in the way; nothing was written", p.dir),
		hint:    "choose another directory, move them away, or use --keep-existing to write only missing files"}
	if slices.ContainsFunc(p.steps, func(s step) bool { return s.path == recordName && s.before != "" }) {
		f.hint = "`vbot init " + shellQuote(p.dir) + " --update`, with options to change the configuration, replaces only files that nobody edited"
	}
	if p.stuck {
		f.hint = "choose another directory, or move them away; --keep-existing does not help with directories and links"
	}
	return f
}

// report prints what was done: to stderr, with list each file, and with --json to
// stdout.
func (p *plan) report(a *app, inv *invocation, cfg *config, list bool) error {
	for _, action := range []string{actionCreated, actionReplaced, actionRemoved, actionKept, actionMissing} {
		if p.count(action) == 0 {
			continue
		}
		did := action
		if action == actionMissing {
			did = "did not restore"
		}
		text := fmt.Sprintf("%s %s in %s", did, plural(p.count(action), "file"), p.dir)
		if list {
			text += ":"
		}
		for _, s := range p.steps {
			if list && s.action == action {
				text += "\n  " + s.path
			}
		}
		a.note("%s", text)
	}
	if p.count(actionUnchanged) == len(p.steps) {
		a.note("nothing to do: all %s in %s are up to date", plural(len(p.steps), "file"), p.dir)
	}
	p.explainGuides(a)
	if !inv.json {
		return nil // only the JSON has sums
	}
	files := []fileAnswer{}
	for _, s := range p.steps {
		files = append(files, fileAnswer{s.path, s.action, s.sum()})
	}
	return inv.report(a, initAnswer{p.dir, cfg, files})
}

// An initAnswer is the JSON of a run that writes. Config is null for the guides.
type initAnswer struct {
	Directory string       `json:"directory"`
	Config    *config      `json:"config"`
	Files     []fileAnswer `json:"files"`
}

type fileAnswer struct {
	Path   string `json:"path"`
	Action string `json:"action" enum:"created,kept,unchanged,replaced,removed,missing"`
	SHA256 string `json:"sha256"`
}

// nextSteps prints commands for running the new bot.
func (p *plan) nextSteps(a *app, cat *catalog, target string, cfg config) {
	then := "README.md explains how to reach the bot."
	if cfg.hasTransport("rtc_small") {
		then = "Then open http://localhost:7860 and talk. README.md says more."
	}
	if cfg.ClientFramework != "" {
		then = fmt.Sprintf(`Then, in another terminal, with Node.js:
  cd %s
  npm install
  npm run dev               # then open the address it prints
README.md says more.`, shellPath(filepath.Join(target, "client")))
	}
	needed := newProject(cfg, cat).keys()
	fill := ""
	if len(needed) > 0 {
		fill = "      # fill in the keys below"
	}
	a.note(`
Next, with uv (https://docs.astral.sh/uv):
  cd %s
  cp .env.example .env%s
  uv run bot.py
%s`, shellPath(filepath.Join(target, "server")), fill, then)
	for i, k := range needed {
		if i == 0 {
			a.note("\nKeys, and where to get them:")
		}
		line := k.names + "  " + k.page
		if k.only != "" {
			line += " (only for " + k.only + ")"
		}
		if len(line) > 78 {
			line = strings.Replace(line, "  ", "\n    ", 1)
		}
		a.note("  %s", line)
	}
}

// The guides.

// guideAge compares the version stamp of a guide with this version: -1 if it is
// older, 0 if equal, 1 if it is newer or cannot be read.
func guideAge(guide []byte) int {
	text := strings.TrimSpace(string(guide))
	stamp, ok := strings.CutPrefix(text[strings.LastIndex(text, "\n")+1:], "<!-- vbot ")
	if !ok || !strings.HasSuffix(stamp, "-->") {
		return 1
	}
	age, ok := compareVersion(stamp)
	if !ok {
		return 1
	}
	return age
}

// explainGuides lists the guides that were kept although they differ.
func (p *plan) explainGuides(a *app) {
	for _, s := range p.steps {
		if !s.guide || s.action != actionKept {
			continue
		}
		if s.before == "" {
			a.note("kept %s, which is a link or cannot be read", s.path)
			continue
		}
		why := "differs from this version's guide"
		if guideAge(s.found) < 0 {
			why = "an older vbot wrote"
		}
		a.note("kept %s, which %s; to replace it: vbot init --overwrite-guide %s", s.path, why, shellQuote(p.dir))
	}
}

// offerRefresh asks whether to replace guides that an older vbot wrote. It sets
// overwriteGuide if that replaces every guide that differs.
func (o *initOptions) offerRefresh(ctx context.Context, a *app, p *plan) error {
	for i, s := range p.steps {
		if !s.guide || s.action != actionKept || guideAge(s.found) >= 0 {
			continue
		}
		yes, err := confirm(ctx, a, s.path+" was written by an older vbot. Replace it and lose any changes you made?")
		if err != nil {
			return err
		}
		if yes {
			p.steps[i].action = actionReplaced
		}
	}
	kept := func(s step) bool { return s.guide && s.action == actionKept }
	o.overwriteGuide = o.overwriteGuide || p.count(actionReplaced) > 0 && !slices.ContainsFunc(p.steps, kept)
	return nil
}

// maxConfig is the maximum size of a configuration file, in bytes.
const maxConfig = 1 << 20

// readConfig reads a configuration file; "-" is stdin. The answers are nil if the
// file cannot be read. It returns an error only if interrupted.
func readConfig(ctx context.Context, a *app, name string) (answers, []problem, error) {
	data, err := readAll(ctx, a, name, maxConfig)
	if name == "-" {
		name = "stdin"
	}
	if ctx.Err() != nil {
		return nil, nil, interrupted()
	}
	if err != nil {
		return nil, []problem{{Field: "config", where: "--config", Message: name + ": " + err.Error()}}, nil
	}
	said, problems := parseConfig(name, data)
	return said, problems, nil
}
