package scaffold

import (
	"errors"
	"path/filepath"

	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// readRecord returns the record of the target, and the values of the configuration in it. Without a record,
// its Vbot is "".
func readRecord(t *project.Target, version string) (*project.Record, bot.Values, error) {
	record, err := t.Record(render.Paths())
	var recorded bot.Values
	if err == nil && record.Vbot != "" {
		var problems report.Problems
		recorded, problems = bot.ParseConfig(project.RecordName, record.Config)
		err = problems.Err()
	}
	if f, ok := errors.AsType[*report.Failure](err); ok && record != nil {
		f.Hint = "to create it again, remove it and run init with the bot's options and --keep-existing"
		if errors.Is(err, project.ErrMergeConflict) {
			f.Hint = "choose one side: take .vbot.json and every unedited file from it, " +
				"then run --update with the options that the other side changed"
		}
		if age, _ := project.CompareVersions(record.Vbot, version); age > 0 {
			f.Hint = "vbot " + record.Vbot + " wrote it; use that version or a later one"
		}
	}
	return record, recorded, err
}

// checkVersion fails if the project has no record that the job could start from, or if a later version wrote
// a project that is to be updated.
func (c *comparison) checkVersion() error {
	isUpdate := c.job.Mode == Update
	withoutBot := len(c.job.Bot) == 0 && c.job.File == nil
	by, dir := c.record.Vbot, c.job.dir(c.env)
	age, _ := project.CompareVersions(by, c.env.Version)
	switch {
	case by == "" && (isUpdate || withoutBot):
		return c.job.noRecord(c.env)
	case age > 0 && isUpdate:
		const newer = "vbot %s wrote %s; this is vbot %s, which cannot update it"
		f := report.Errorf(report.InvalidConfig, newer, by, dir, c.env.Version)
		f.Hint = "use vbot " + by + " or a later one"
		return f
	case age > 0:
		const older = "vbot %s wrote %s; this is vbot %s, which is older"
		c.env.Warn("written_by", "", older, by, dir, c.env.Version)
	}
	return nil
}

// noRecord returns the failure of a comparison in a directory without a record. Somebody who followed the
// README is in a subfolder of the project, which the hint then names.
func (j Job) noRecord(env Env) error {
	dir := j.dir(env)
	f := report.Errorf(report.NotFound, "there is no %s in %s, so vbot cannot know what it wrote there",
		project.RecordName, dir)
	f.Hint = "to compare, pass the bot's options with --check; " +
		"to create the file, run init with these options and --keep-existing"
	if !project.Has(dir, ".") {
		f.Message = "there is no directory " + dir
		f.Hint = ""
	}
	option := " --check"
	if j.Mode == Update {
		option = " --update"
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if project.Has(up, project.RecordName) {
			path, _ := filepath.Rel(env.Path("."), up)
			f.Hint = "the project is in " + up + ": vbot init " + report.ShellPath(path) + option
			break
		}
	}
	return f
}
