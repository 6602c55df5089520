package scaffold

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// A comparison compares a project with what this version writes.
type comparison struct {
	job    Job
	env    Env
	record *project.Record
	config bot.Config
	now    *render.Data
	// before returns what this version writes for the recorded configuration, nil if it cannot.
	before func() *draft
	plan   *project.Plan
}

// compare compares a project with what this version writes, and brings it up to date if that is the job.
func (j Job) compare(ctx context.Context, env Env) (report.Result, error) {
	// If the job writes, it holds the lock until the end, so that nothing changes after it was read.
	writes := j.Mode == Update && !j.DryRun && !j.Diff
	t, err := j.open(env, writes && project.Has(j.dir(env), project.RecordName))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	c := &comparison{job: j, env: env}
	if err := c.read(ctx, t); err != nil {
		return nil, err
	}
	if len(j.Bot[bot.OptTransports].List) > 0 {
		c.noteLostTelephone()
	}
	c.noteCloudNeeds()
	c.noteLanguage()
	if j.Mode == Check {
		return c.check()
	}
	return c.apply(ctx, t)
}

// read reads the project, and plans its update.
func (c *comparison) read(ctx context.Context, t *project.Target) error {
	var recorded bot.Values
	var err error
	if c.record, recorded, err = readRecord(t, c.env.Version); err != nil {
		return err
	}
	if err := c.checkVersion(); err != nil {
		return err
	}
	c.config, err = c.job.configure(c.env, bot.Update(c.env.Catalog, recorded, c.job.Bot))
	if err != nil {
		return err
	}
	c.before = sync.OnceValue(func() *draft { return renderRecorded(c.env, c.record.Vbot, recorded) })
	c.now = render.New(c.config, c.env.Catalog, c.env.Version)
	if err := c.makePlan(t); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return report.Interruption()
	}
	isDiffed := func(s project.Step) bool { return s.Path == c.job.DiffOf }
	if c.job.DiffOf != "" && !slices.ContainsFunc(c.plan.Steps, isDiffed) {
		const expected = "--diff: vbot writes no file %q; expected a path such as server/bot.py"
		return report.Errorf(report.NotFound, expected, c.job.DiffOf)
	}
	return nil
}

// makePlan renders the files of the new configuration, and compares the target with them.
func (c *comparison) makePlan(t *project.Target) error {
	files, err := c.now.Files()
	if err != nil {
		return err
	}
	now, err := project.NewRecord(c.env.Version, c.config, files)
	if err != nil {
		return err
	}
	c.plan, err = t.PlanUpdate(&project.UpdateRequest{
		Files:         files,
		Was:           c.record,
		Now:           now,
		AcceptMissing: c.job.AcceptMissing,
		Rendered: func() map[string][]byte {
			if d := c.before(); d != nil {
				return d.files
			}
			return nil
		},
	})
	return err
}

// renderRecorded returns what this version writes for the recorded values, or nil if it cannot.
func renderRecorded(env Env, version string, recorded bot.Values) *draft {
	cfg, _, problems := bot.Resolve(env.Catalog, recorded, "")
	if len(problems) > 0 {
		return nil
	}
	d := &draft{bot: render.New(cfg, env.Catalog, version)}
	var err error
	if d.files, err = d.bot.Files(); err != nil {
		return nil
	}
	return d
}

// noteLostTelephone notes what a bot loses with its last telephone transport.
func (c *comparison) noteLostTelephone() {
	was := c.before()
	if was == nil || !was.bot.HasTelephone(c.env.Catalog) || c.config.HasTelephone(c.env.Catalog) {
		return
	}
	parts := "the tool hang_up, the telephone parts of README.md, and the transfer of calls in DEPLOY.md"
	if was.bot.SelfHost {
		parts = "PHONE_TOKEN, " + parts
	}
	if c.config.BotType == bot.BotWeb {
		parts += "; it becomes a web bot (bot_type)"
	}
	c.env.Warn(bot.OptTransports.Key, "", "without its last telephone transport, the bot loses %s", parts)
}

// noteCloudNeeds notes which variables to set if a bot with a server on localhost is now deployed.
func (c *comparison) noteCloudNeeds() {
	was := c.before()
	names := c.now.CloudNeeds()
	if names != "" && was != nil && was.bot.CloudNeeds() == "" {
		const notHere = "in the cloud, localhost is not your machine: set %s in server/.env to the address " +
			"of a server that the cloud can reach"
		c.env.Warn("deploy_to_cloud", "", notHere, names)
	}
}

// noteLanguage notes what another language does not change.
func (c *comparison) noteLanguage() {
	was := c.before()
	if was == nil || was.bot.Language == c.config.Language {
		return
	}
	const stays = "server/agent.py stays in the language in which it was written: the model answers in the " +
		"new one, but translate a GREETING that is spoken as it is"
	c.env.Warn(bot.OptLanguage.Key, "", stays)
}

// patch returns the differences as a patch if the job asks for one, or "".
func (c *comparison) patch() string {
	if !c.job.Diff {
		return ""
	}
	return c.plan.Diff(c.job.DiffOf, c.job.Mode == Check)
}

// apply brings the project up to date, or says what that would do.
func (c *comparison) apply(ctx context.Context, t *project.Target) (report.Result, error) {
	refused := c.conflictFailure()
	summary := fmt.Sprintf("vbot %s wrote %s; vbot %s would:\n%s",
		c.record.Vbot, t.Dir, c.env.Version, describeChanges(c.plan))
	switch {
	case c.job.DryRun || c.job.Diff:
		preview := UpdatePreview{
			Preview: Preview{Config: c.config, Changes: changesOf(c.plan, c.needed())},
			summary: summary,
			patch:   c.patch(),
			dryRun:  c.job.DryRun && refused == nil,
		}
		return preview, refused
	case refused != nil && (!c.job.Markers || c.plan.Blocked):
		return nil, refused
	}
	asks := c.plan.Writes() > 0 && c.env.Confirm != nil
	if asks {
		c.env.Note("%s", summary)
		if err := c.env.Confirm(ctx, "Go ahead?"); err != nil {
			return nil, err
		}
	}
	if err := t.Apply(ctx, c.plan); err != nil {
		return nil, err
	}
	needed := c.needed()
	out := Written{
		Directory: c.plan.Dir,
		Config:    &c.config,
		Changes:   changesOf(c.plan, needed),
		Next:      []string{},
		job:       c.job,
		plan:      c.plan,
		listFiles: !asks,
		added:     catalog.Credentials(needed),
	}
	out.adviseLocks()
	c.job.warn(c.env, c.plan)
	return out, refused
}

// needed returns what server/.env needs since the update.
func (c *comparison) needed() []catalog.Requirement {
	if was := c.before(); was != nil && c.plan.Writes() > 0 {
		return c.now.ToGet(was.bot)
	}
	return nil
}

// conflictFailure returns the failure of an update with conflicts, or nil.
func (c *comparison) conflictFailure() error {
	if len(c.plan.Conflicts) == 0 {
		return nil
	}
	f := &report.Failure{
		Code:     report.Conflict,
		Problems: c.plan.Conflicts,
		Message:  "the update conflicts with your files",
		Effect:   "nothing was written",
	}
	const choose = "choose what to keep between the lines <<<<<<< and >>>>>>>"
	switch {
	case c.plan.Blocked:
		f.Hint = "move it away or rename it, and run the same command again"
		if slices.ContainsFunc(c.plan.Steps, func(s project.Step) bool { return s.Marked > 0 }) {
			f.Hint = choose + ", remove these lines, and run the same command again"
		}
	case c.job.Markers && !c.job.DryRun && !c.job.Diff:
		f.Message, f.Effect = "the update is written, with conflicts between markers", ""
		f.Hint = choose + ", and remove these lines"
	default:
		f.Hint = "the same command with --conflict-markers writes the update anyway, " +
			"with both texts between markers; with --diff it shows the conflicts"
	}
	return f
}
