package scaffold

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// Plan plans to create the bot with this configuration or, if cfg is nil, to write the guides. It changes
// nothing. Conflicts of a bot are in the plan; those of the guides are an error, a *report.Failure.
func (j Job) Plan(env Env, cfg *bot.Config) (*project.Plan, error) {
	d, err := newDraft(env, cfg)
	if err != nil {
		return nil, err
	}
	t, err := project.Open(j.dir(env))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	p, err := j.planWrite(t, d)
	if err == nil && cfg == nil {
		err = j.conflictFailure(env, p)
	}
	return p, err
}

// planWrite plans to write the draft to the target.
func (j Job) planWrite(t *project.Target, d draft) (*project.Plan, error) {
	overwrite := j.Refresh
	if j.OverwriteGuide {
		overwrite = project.GuideFiles
	}
	if d.bot == nil && project.Has(t.Dir, project.BotName) {
		delete(d.files, render.GettingStarted) // only for directories without a bot
	}
	return t.PlanCreate(d.files, j.KeepExisting, overwrite)
}

// write writes a bot or, if cfg is nil, the guides for a coding agent.
func (j Job) write(ctx context.Context, env Env, cfg *bot.Config) (report.Result, error) {
	d, err := newDraft(env, cfg)
	if err != nil {
		return nil, err
	}
	t, err := j.open(env, !j.DryRun)
	if err == nil {
		defer t.Close()
	}
	var p *project.Plan
	if err == nil {
		p, err = j.planWrite(t, d)
	}
	if j.DryRun {
		return j.preview(env, *cfg, d, p, err), nil
	}
	if err == nil {
		err = j.conflictFailure(env, p)
	}
	if err != nil {
		return nil, err
	}
	out := Written{
		Directory: p.Dir,
		Config:    cfg,
		Changes:   changesOf(p, d.toGet()),
		Next:      []string{},
		job:       j,
		plan:      p,
		listFiles: j.ListFiles,
	}
	if err := j.advise(&out, d); err != nil {
		return nil, err
	}
	if err := t.Apply(ctx, p); err != nil {
		return nil, err
	}
	j.warn(env, p)
	return out, nil
}

// advise adds to the result what to do next, as text and as commands.
func (j Job) advise(out *Written, d draft) (err error) {
	switch {
	case d.bot != nil:
		guide := "README.md"
		if slices.Contains(out.plan.Paths(project.Kept), guide) {
			guide = "AGENTS.md" // README.md is not vbot's
		}
		server := report.ShellPath(filepath.Join(j.Target, "server"))
		client := report.ShellPath(filepath.Join(j.Target, "client"))
		out.advice, out.Next, err = d.bot.NextSteps(server, client, guide)
	case out.plan.Count(project.Created) > 0:
		const start = "\nNext: start your coding agent in %s and ask it for the bot you want."
		out.advice = fmt.Sprintf(start, report.ShellPath(j.Target))
	}
	return err
}

// conflictFailure returns the failure that lists the conflicts of writing a bot or guides, or nil.
func (j Job) conflictFailure(env Env, p *project.Plan) error {
	if len(p.Conflicts) == 0 {
		return nil
	}
	f := &report.Failure{
		Code:     report.Conflict,
		Problems: p.Conflicts,
		Message:  fmt.Sprintf("existing files in %s are in the way; nothing was written", p.Dir),
		Hint: "choose another directory, move them away, " +
			"or use --keep-existing to write only missing files",
	}
	hasRecord := func(s project.Step) bool { return s.Path == project.RecordName && s.Before != "" }
	if slices.ContainsFunc(p.Steps, hasRecord) {
		update := "vbot init " + report.ShellQuote(p.Dir) + " --update" + j.options(env)
		f.Hint = "to change the project and keep your edits: `" + update + "`"
	}
	if p.Blocked {
		f.Hint = "choose another directory, or move them away; " +
			"--keep-existing does not help with directories and links"
	}
	return f
}
