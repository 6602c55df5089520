package scaffold

import (
	"context"
	"fmt"

	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// Guides is `vbot init` without a bot: it writes the guides for a coding agent, which then makes the bot.
type Guides struct {
	Target        string   // the directory, as it was typed
	ReplaceGuides []string // the guides to replace if they exist, by path
	ListFiles     bool     // name each file that was written, not only how many there are
}

// Run writes the guides.
func (g Guides) Run(ctx context.Context, env Env) (report.Result, error) {
	t, err := lock(env, env.Path(g.Target))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	plan, err := g.plan(env, t)
	if err != nil {
		return nil, err
	}
	if err := t.Apply(ctx, plan); err != nil {
		return nil, err
	}
	warnOfGuides(env, plan)
	out := Written{
		Directory: plan.Dir,
		Changes:   changesOf(plan, nil),
		Next:      []string{},
		plan:      plan,
		listFiles: g.ListFiles,
	}
	if plan.Count(project.Created) > 0 {
		const start = "\nNext: start your coding agent in %s and ask it for the bot you want."
		out.advice = fmt.Sprintf(start, report.ShellPath(g.Target))
	}
	return out, nil
}

// Plan plans to write the guides, and changes nothing. Conflicts are an error.
func (g Guides) Plan(env Env) (*project.Plan, error) {
	t, err := project.Open(env.Path(g.Target))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return g.plan(env, t)
}

func (g Guides) plan(env Env, t *project.Target) (*project.Plan, error) {
	files, err := render.GuideFiles(env.Version)
	if err != nil {
		return nil, err
	}
	if project.Has(t.Dir, project.BotName) {
		delete(files, render.GettingStarted) // only for directories without a bot
	}
	plan, err := t.PlanCreate(files, false, g.ReplaceGuides)
	if err != nil {
		return nil, err
	}
	return plan, conflictFailure(plan, "")
}

// CommandLine returns the command line that does the same as the job without asking.
func (g Guides) CommandLine(env Env) string {
	line := "vbot init " + report.ShellPath(g.Target) + " --no-input" + catalogOption(env)
	return line + overwriteOption(g.ReplaceGuides)
}

// overwriteOption returns the option that replaces the guides, after a space; "" unless it means all guides.
func overwriteOption(guides []string) string {
	if len(guides) < len(project.GuideFiles) {
		return ""
	}
	return " --overwrite-guide"
}

// warnOfGuides says why guides were kept although they are not this version's, and how to replace them.
func warnOfGuides(env Env, plan *project.Plan) {
	for _, s := range plan.Steps {
		if !project.IsGuide(s.Path) || s.Action != project.Kept {
			continue
		}
		why := "differs from this version's guide"
		if s.HasOldGuide() {
			why = "an older vbot wrote"
		}
		why += "; to replace it: vbot init --no-input --overwrite-guide " + report.ShellQuote(plan.Dir)
		if s.Before == "" {
			why = "is a link, unreadable or larger than 1 MiB"
		}
		env.Warn(s.Path, "", "kept %s, which %s", s.Path, why)
	}
}
