package scaffold

import (
	"errors"
	"path/filepath"

	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// A record is the record of a project, with the values of the configuration in it.
type record struct {
	*project.Record            // its Vbot is "" if there is no record
	bot             bot.Values // nil if there is no record
}

// readRecord reads the record of the target.
func readRecord(t *project.Target, version string) (was record, err error) {
	was.Record, err = t.Record(render.Paths())
	if err == nil && was.Vbot != "" {
		var problems report.Problems
		was.bot, problems = bot.ParseConfig(project.RecordName, was.Config)
		err = problems.Err()
	}
	if f, ok := errors.AsType[*report.Failure](err); ok && was.Record != nil {
		f.Hint = "to create it again, remove it and run init with the bot's options and --keep-existing"
		if errors.Is(err, project.ErrMergeConflict) {
			f.Hint = "choose one side: take .vbot.json and every unedited file from it, " +
				"then run --update with the options that the other side changed"
		}
		if was.isLaterThan(version) {
			f.Hint = "vbot " + was.Vbot + " wrote it; use that version or a later one"
		}
	}
	return was, err
}

// isLaterThan reports whether a later version of vbot wrote the project.
func (r record) isLaterThan(version string) bool {
	order, _ := project.CompareVersions(r.Vbot, version)
	return order > 0
}

// noRecord returns the failure of a comparison in a directory without a record; option is --check or
// --update. Somebody who followed the README is in a subfolder of the project, which the hint then names.
func noRecord(env Env, target, option string) error {
	dir := env.Path(target)
	f := report.Errorf(report.NotFound, "there is no %s in %s, so vbot cannot know what it wrote there",
		project.RecordName, dir)
	f.Hint = "to compare, pass the bot's options with --check; " +
		"to create the file, run init with these options and --keep-existing"
	if !project.Has(dir, ".") {
		f.Message = "there is no directory " + dir
		f.Hint = ""
	}
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if project.Has(up, project.RecordName) {
			path, _ := filepath.Rel(env.Path("."), up)
			f.Hint = "the project is in " + up + ": vbot init " + report.ShellPath(path) + " " + option
			break
		}
	}
	return report.About(project.RecordName, f)
}
