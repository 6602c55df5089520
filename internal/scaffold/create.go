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

// Create is `vbot init` with options that describe a bot: it writes that bot.
type Create struct {
	Project
	KeepExisting  bool     // write only missing files
	ReplaceGuides []string // the guides to replace if they exist, by path
	ListFiles     bool     // name each file that was written, not only how many there are
	DryRun        bool     // write nothing
}

// Run writes the bot, or returns a Preview.
func (c Create) Run(ctx context.Context, env Env) (report.Result, error) {
	cfg, err := c.configure(env, nil)
	if err != nil {
		return nil, err
	}
	d, err := newDraft(env, cfg)
	if err != nil {
		return nil, err
	}
	if c.DryRun {
		return c.preview(env, d), nil
	}
	t, err := lock(env, c.dir(env))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	plan, err := t.PlanCreate(d.files, c.KeepExisting, c.ReplaceGuides)
	if err != nil {
		return nil, err
	}
	if err := conflictFailure(plan, c.updateInstead(env, plan)); err != nil {
		return nil, err
	}
	advice, next, err := c.nextSteps(d.bot, plan)
	if err != nil {
		return nil, err
	}
	if err := t.Apply(ctx, plan); err != nil {
		return nil, err
	}
	warnOfGuides(env, plan)
	return Written{
		Directory: plan.Dir,
		Config:    &cfg,
		Changes:   changesOf(plan, d.bot.ToGet(nil)),
		Next:      next,
		plan:      plan,
		listFiles: c.ListFiles,
		advice:    advice,
	}, nil
}

// Plan plans to write the bot with this configuration, and changes nothing. Conflicts are in the plan.
func (c Create) Plan(env Env, cfg bot.Config) (*project.Plan, error) {
	d, err := newDraft(env, cfg)
	if err != nil {
		return nil, err
	}
	return c.plan(env, d)
}

// plan plans to write the draft.
func (c Create) plan(env Env, d draft) (*project.Plan, error) {
	t, err := project.Open(c.dir(env))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.PlanCreate(d.files, c.KeepExisting, c.ReplaceGuides)
}

// newDraft renders a bot with its record.
func newDraft(env Env, cfg bot.Config) (d draft, err error) {
	d.bot = render.New(cfg, env.Catalog, env.Version)
	d.files, err = d.bot.Files()
	if err == nil {
		err = project.AddRecord(env.Version, cfg, d.files)
	}
	return d, err
}

// nextSteps returns what to do next, as text and as commands.
func (c Create) nextSteps(
	data *render.Data, plan *project.Plan,
) (advice string, commands []string, err error) {
	guide := "README.md"
	if slices.Contains(plan.Paths(project.Kept), guide) {
		guide = "AGENTS.md" // README.md is not vbot's
	}
	server := report.ShellPath(filepath.Join(c.Target, "server"))
	client := report.ShellPath(filepath.Join(c.Target, "client"))
	return data.NextSteps(server, client, guide)
}

// updateInstead returns the command line that would update the existing project, "" if there is none.
func (c Create) updateInstead(env Env, plan *project.Plan) string {
	hasRecord := func(s project.Step) bool { return s.Path == project.RecordName && s.Before != "" }
	if !slices.ContainsFunc(plan.Steps, hasRecord) {
		return ""
	}
	return "vbot init " + report.ShellQuote(plan.Dir) + " --update" + c.options(env)
}

// conflictFailure returns the failure that lists what is in the way of new files, or nil. update is the
// command line to use instead, or "".
func conflictFailure(plan *project.Plan, update string) error {
	if len(plan.Conflicts) == 0 {
		return nil
	}
	f := &report.Failure{
		Code:     report.Conflict,
		Problems: plan.Conflicts,
		Message:  fmt.Sprintf("existing files in %s are in the way; nothing was written", plan.Dir),
		Hint: "choose another directory, move them away, " +
			"or use --keep-existing to write only missing files",
	}
	if update != "" {
		f.Hint = "to change the project and keep your edits: `" + update + "`"
	}
	if plan.Blocked {
		f.Hint = "choose another directory, or move them away; " +
			"--keep-existing does not help with directories and links"
	}
	return f
}

// Missing returns the required options that the job does not have, such as "--mode".
func (c Create) Missing(env Env) (options []string) {
	_, _, problems := bot.Resolve(env.Catalog, c.Bot, c.name(env))
	for _, p := range problems {
		if o := bot.ByKey(p.Field); p.Missing && o != nil {
			options = append(options, "--"+o.Flag)
		}
	}
	return options
}

// CommandLine returns the command line that does the same as the job without asking.
func (c Create) CommandLine(env Env) string {
	line := "vbot init " + report.ShellPath(c.Target) + c.options(env)
	if c.KeepExisting {
		line += " --keep-existing"
	}
	return line + overwriteOption(c.ReplaceGuides)
}
