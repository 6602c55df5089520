package scaffold

import (
	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/report"
)

// A Preview is the result of a dry run: the configuration, which is printed as JSON even without --json.
type Preview struct {
	bot.Config

	plan  *project.Plan // of creating the bot, nil if there is none
	fault error         // why the run would fail, or nil
}

// JSON returns the configuration.
func (p Preview) JSON() any { return p.Config }

// Text says which files the run would keep and which conflict, and prints the configuration.
func (p Preview) Text(page *report.Printer) {
	switch {
	case p.fault != nil:
		page.Note("would fail: %v", p.fault)
	case p.plan != nil:
		for _, c := range p.plan.Conflicts {
			page.Note("would conflict: %s", c.Line())
		}
		for _, s := range p.plan.Steps {
			if s.Action == project.Kept && !s.Guide && isShown(s) {
				page.Note("would keep: %s", s.Path)
			}
		}
		noteGuides(page, p.plan)
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

// JSON returns the configuration with --dry-run, unless the update would fail.
func (p UpdatePreview) JSON() any {
	if p.dryRun {
		return p.Config
	}
	return nil
}

// Text says what the update would do.
func (p UpdatePreview) Text(page *report.Printer) {
	page.Note("%s", p.summary)
	page.PrintFiles(p.patch)
	if p.dryRun {
		page.PrintJSON(p.Config)
	}
}
