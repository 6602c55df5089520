package scaffold

import (
	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/report"
)

// A Preview is the result of a dry run: the configuration, which is printed as JSON even without --json.
// With it, the changes that the run would make follow.
type Preview struct {
	bot.Config
	Changes

	plan *project.Plan // of creating the bot, nil if there is none
}

// preview returns what the job would do, with warnings of why it would fail.
func (c Create) preview(env Env, d draft) Preview {
	needed := d.bot.ToGet(nil)
	plan, err := c.plan(env, d)
	if err != nil {
		f := *report.As(err)
		f.Effect = "" // nothing is written anyway
		env.Warn("directory", "", "would fail: %v", &f)
		return Preview{Config: d.bot.Config, Changes: changesOf(&project.Plan{}, needed)}
	}
	for _, conflict := range plan.Conflicts {
		env.Warn(conflict.Field, "would conflict: "+conflict.Where, "%s", conflict.Message)
	}
	warnOfGuides(env, plan)
	return Preview{Config: d.bot.Config, Changes: changesOf(plan, needed), plan: plan}
}

// Text says which files the run would keep, and prints the configuration.
func (p Preview) Text(page *report.Printer) {
	if p.plan != nil {
		for _, s := range p.plan.Steps {
			if s.Action == project.Kept && !project.IsGuide(s.Path) && isShown(s) {
				page.Note("would keep: %s", s.Path)
			}
		}
	}
	page.PrintJSON(p.Config)
}

// An UpdatePreview is the result of an update that writes nothing: with --dry-run the configuration, with
// --diff a patch.
type UpdatePreview struct {
	Preview
	summary string
	patch   string
	dryRun  bool // print the configuration
}

// Text says what the update would do.
func (p UpdatePreview) Text(page *report.Printer) {
	page.Note("%s", p.summary)
	page.PrintFiles(p.patch)
	if p.dryRun {
		page.PrintJSON(p.Config)
	}
}
