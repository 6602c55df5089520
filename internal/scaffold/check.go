package scaffold

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/project"
	"vbot/internal/report"
)

// Check is `vbot init --check`: it compares a project with what this version of vbot writes, for the recorded
// bot or the one that options describe. It writes nothing.
type Check struct {
	Project
	Diff    bool   // show a patch
	DiffOf  string // the only file of the patch, with slashes; "" for all files
	DryRun  bool   // return a Preview
	Verbose bool   // name unchanged files, too
}

// Run returns the states of the files. The error has the code Differs if any is not unchanged.
func (c Check) Run(ctx context.Context, env Env) (report.Result, error) {
	t, err := project.Open(c.dir(env))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	was, err := readRecord(t, env.Version)
	if err != nil {
		return nil, err
	}
	describesBot := len(c.Bot) > 0 || c.File != nil
	if was.Vbot == "" && !describesBot {
		return nil, noRecord(env, c.Target, "--check")
	}
	if was.isLaterThan(env.Version) {
		const older = "vbot %s wrote %s; this is vbot %s, which is older"
		env.Warn("written_by", "", older, was.Vbot, t.Dir, env.Version)
	}
	const acceptMissing = true // the files of a folder that is gone are missing
	found, err := c.compare(ctx, env, t, was, acceptMissing)
	if err != nil {
		return nil, err
	}
	if err := found.checkName(c.DiffOf); err != nil {
		return nil, err
	}
	found.warnOfOptions(env, c.Bot)
	if c.DryRun {
		return Preview{Config: found.config, Changes: changesOf(found.plan, found.needed())}, nil
	}
	out := Compared{
		Directory: t.Dir,
		Config:    found.config,
		WrittenBy: report.OrNull(was.Vbot),
		plan:      found.plan,
		version:   env.Version,
		verbose:   c.Verbose,
	}
	if c.Diff {
		out.patch = found.plan.Diff(c.DiffOf, true)
	}
	for _, s := range found.plan.Steps {
		if s.State != "" {
			file := ComparedFile{Path: s.Path, State: fileState(s.State), SHA256: report.OrNull(s.Before)}
			out.Files = append(out.Files, file)
		}
	}
	return out, out.differences(c.Target)
}

// Compared is the result of --check.
type Compared struct {
	Directory string         `json:"directory" about:"absolute path of the directory"`
	Config    bot.Config     `json:"config" about:"the bot that the files are compared with"`
	WrittenBy report.OrNull  `json:"written_by" about:"version that wrote the project; null if unknown"`
	Files     []ComparedFile `json:"files" about:"each file of vbot, sorted by path"`

	plan    *project.Plan
	patch   string
	version string // of vbot
	verbose bool
}

// A ComparedFile is the state of one file.
type ComparedFile struct {
	Path   string        `json:"path" about:"path in the directory, with slashes"`
	State  fileState     `json:"state" about:"how it differs from what this version writes"`
	SHA256 report.OrNull `json:"sha256" about:"SHA-256 of the existing file; null if it was not read"`
}

// A fileState is one of the states of package project.
type fileState string

// Enum returns the allowed values, for the JSON Schema.
func (fileState) Enum() []string {
	return []string{project.Unchanged, project.Edited, project.Pending, project.Missing, project.Outdated}
}

// Text lists the files that differ; with --verbose, all files.
func (c Compared) Text(page *report.Printer) {
	list := ""
	for _, s := range c.plan.Steps {
		if s.State != "" && (s.State != project.Unchanged || c.verbose) {
			list += fmt.Sprintf("%-9s  %s\n", s.State, nameOf(s))
		}
	}
	page.PrintFiles(list + c.patch)
	if c.count(project.Unchanged) == len(c.Files) {
		page.Note("all %d files are what vbot %s writes", len(c.Files), c.version)
	}
}

// count returns how many files are in the state.
func (c Compared) count(state string) (n int) {
	for _, f := range c.Files {
		if string(f.State) == state {
			n++
		}
	}
	return n
}

// restore is a pair of commands that writes the files of a project that are missing; %s is the target.
const restore = "vbot init %s --check --dry-run | vbot init %[1]s --config - --keep-existing"

// differences returns a failure with the number of files that differ, or nil. target is the directory as it
// was typed.
func (c Compared) differences(target string) error {
	differ := len(c.Files) - c.count(project.Unchanged)
	if differ == 0 {
		return nil
	}
	var parts []string
	for _, state := range []string{project.Edited, project.Pending, project.Missing, project.Outdated} {
		if n := c.count(state); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	f := report.Errorf(report.Differs, "%d of %d files differ from what vbot %s writes: %s",
		differ, len(c.Files), c.version, strings.Join(parts, ", "))
	updateHelps := func(s project.Step) bool {
		return s.State == project.Outdated || s.Action == project.Created || s.Action == project.Merged
	}
	switch gone := c.plan.GoneFolders; {
	case len(gone) > 0:
		f.Hint = "no file of " + strings.Join(gone, "/ and of ") + "/ is there: if you renamed it, give it " +
			"its old name; to restore what is missing: " + fmt.Sprintf(restore, report.ShellPath(target))
	case c.WrittenBy != "" && slices.ContainsFunc(c.plan.Steps, updateHelps):
		f.Hint = "the same command with --update instead of --check brings it up to date"
		if c.plan.Conflicts != nil {
			f.Hint = "the same command with --update instead of --check shows the conflicts"
		}
	case slices.ContainsFunc(c.plan.Steps, isUndelivered):
		f.Hint = "the same command with --diff shows what is pending; " +
			"with --update --conflict-markers instead of --check, vbot writes it"
	}
	return f
}
