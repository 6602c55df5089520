package scaffold

import (
	"context"
	"fmt"
	"slices"

	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/report"
)

// Update is `vbot init --update`: it brings a project up to date with this version of vbot, and with options
// that change the bot.
type Update struct {
	Project
	AcceptMissing bool   // a folder without its files was deleted, and not moved
	Markers       bool   // write conflicts between markers
	Diff          bool   // show a patch, and write nothing
	DiffOf        string // the only file of the patch, with slashes; "" for all files
	DryRun        bool   // write nothing
	Verbose       bool   // name each file afterwards, even if it was listed before a question
}

// Run updates the project, or returns an UpdatePreview.
func (u Update) Run(ctx context.Context, env Env) (report.Result, error) {
	t, err := u.open(env)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	was, err := readRecord(t, env.Version)
	if err != nil {
		return nil, err
	}
	if was.Vbot == "" {
		return nil, noRecord(env, u.Target, "--update")
	}
	if was.isLaterThan(env.Version) {
		const newer = "vbot %s wrote %s; this is vbot %s, which cannot update it"
		f := report.Errorf(report.InvalidConfig, newer, was.Vbot, t.Dir, env.Version)
		f.Hint = "use vbot " + was.Vbot + " or a later one"
		return nil, f
	}
	found, err := u.compare(ctx, env, t, was, u.AcceptMissing)
	if err != nil {
		return nil, err
	}
	if err := found.checkName(u.DiffOf); err != nil {
		return nil, err
	}
	found.warnOfOptions(env, u.Bot)
	refused := u.conflictFailure(found.plan)
	summary := fmt.Sprintf("vbot %s wrote %s; vbot %s would:\n%s",
		was.Vbot, t.Dir, env.Version, describeChanges(found.plan))
	switch {
	case u.writesNothing():
		return u.preview(found, summary, refused != nil), refused
	case refused != nil && (!u.Markers || found.plan.Blocked):
		return nil, refused
	}
	asks := found.plan.Writes() > 0 && env.Confirm != nil
	if asks {
		env.Note("%s", summary)
		if err := env.Confirm(ctx, "Go ahead?"); err != nil {
			return nil, err
		}
	}
	if err := t.Apply(ctx, found.plan); err != nil {
		return nil, err
	}
	u.warnOfWhatStays(env, found.plan)
	needed := found.needed()
	out := Written{
		Directory: t.Dir,
		Config:    &found.config,
		Changes:   changesOf(found.plan, needed),
		Next:      []string{},
		plan:      found.plan,
		listFiles: u.Verbose || !asks,
		added:     catalog.Credentials(needed),
	}
	out.adviseLocks(u.Target)
	return out, refused
}

func (u Update) writesNothing() bool { return u.DryRun || u.Diff }

// open opens the target. An update that writes keeps it locked, so that nothing changes after it was read.
func (u Update) open(env Env) (*project.Target, error) {
	dir := u.dir(env)
	if u.writesNothing() || !project.Has(dir, project.RecordName) {
		return project.Open(dir)
	}
	return lock(env, dir)
}

// preview returns what the update would do. With conflicts, it has no configuration for people.
func (u Update) preview(found *comparison, summary string, hasConflicts bool) UpdatePreview {
	out := UpdatePreview{
		Preview: Preview{Config: found.config, Changes: changesOf(found.plan, found.needed())},
		summary: summary,
		dryRun:  u.DryRun && !hasConflicts,
	}
	if u.Diff {
		out.patch = found.plan.Diff(u.DiffOf, false)
	}
	return out
}

// warnOfWhatStays says what the update left as it is, although a person may expect something else.
func (u Update) warnOfWhatStays(env Env, plan *project.Plan) {
	if plan.Count(project.Missing) > 0 {
		env.Warn("files", "", "to restore what you deleted: "+restore, report.ShellPath(u.Target))
	}
	if slices.ContainsFunc(plan.Steps, isUndelivered) {
		env.Warn("files", "", "the next update offers what is pending again; --check --diff shows it, "+
			"and --update --conflict-markers writes it")
	}
	warnOfGuides(env, plan)
}

// conflictFailure returns the failure of an update with conflicts, or nil.
func (u Update) conflictFailure(plan *project.Plan) error {
	if len(plan.Conflicts) == 0 {
		return nil
	}
	f := &report.Failure{
		Code:     report.Conflict,
		Problems: plan.Conflicts,
		Message:  "the update conflicts with your files",
		Effect:   "nothing was written",
	}
	const choose = "choose what to keep between the lines <<<<<<< and >>>>>>>"
	switch {
	case plan.Blocked:
		f.Hint = "move it away or rename it, and run the same command again"
		if slices.ContainsFunc(plan.Steps, func(s project.Step) bool { return s.Marked > 0 }) {
			f.Hint = choose + ", remove these lines, and run the same command again"
		}
	case u.Markers && !u.writesNothing():
		f.Message, f.Effect = "the update is written, with conflicts between markers", ""
		f.Hint = choose + ", and remove these lines"
	default:
		f.Hint = "the same command with --conflict-markers writes the update anyway, " +
			"with both texts between markers; with --diff it shows the conflicts"
	}
	return f
}
