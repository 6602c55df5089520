package scaffold

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/report"
)

// Written is the result of a job that writes. Config is null for the guides.
type Written struct {
	Directory string        `json:"directory"`
	Config    *bot.Config   `json:"config"`
	Files     []WrittenFile `json:"files"`
	Next      []string      `json:"next"` // the commands to run now, in order

	job       Job
	plan      *project.Plan
	listFiles bool
	advice    string               // what to do next, or ""
	needed    []catalog.Credential // variables that server/.env needs since an update
}

// A WrittenFile says what happened to a file.
type WrittenFile struct {
	Path   string `json:"path"`
	Action string `json:"action" enum:"created,kept,unchanged,replaced,removed,missing"`
	SHA256 string `json:"sha256"` // in hex, "" if the file was not read or does not exist
}

// JSON returns the result with its files and their hashes, which Text does not need.
func (w Written) JSON() any {
	w.Files = []WrittenFile{}
	for _, s := range w.plan.Steps {
		w.Files = append(w.Files, WrittenFile{Path: s.Path, Action: s.Action, SHA256: s.Sum()})
	}
	return w
}

// Text says what happened to the files, and what to do next.
func (w Written) Text(page *report.Printer) {
	for _, o := range outcomes {
		names := namesOf(w.plan, o.is)
		text := fmt.Sprintf("%s %s in %s", o.done, report.Plural(len(names), "file"), w.Directory)
		switch {
		case len(names) == 0:
		case w.listFiles || w.job.Verbose:
			page.Note("%s:\n  %s", text, strings.Join(names, "\n  "))
		default:
			page.Note("%s", text)
		}
	}
	unchanged := namesOf(w.plan, func(s project.Step) bool { return s.Action == project.Unchanged })
	all := len(namesOf(w.plan, isShown))
	if len(unchanged) == all && w.plan.Writes() == 0 {
		page.Note("nothing to do: all %s in %s are up to date", report.Plural(all, "file"), w.Directory)
	}
	if w.plan.Count(project.Missing) > 0 {
		const restore = "vbot init %s --check --dry-run | vbot init %[1]s --config - --keep-existing"
		page.Note("to restore what you deleted: "+restore, report.ShellPath(w.job.Target))
	}
	if slices.ContainsFunc(w.plan.Steps, isUndelivered) {
		page.Note("the next update offers what is pending again; --check --diff shows it, " +
			"and --update --conflict-markers writes it")
	}
	noteGuides(page, w.plan)
	if w.advice != "" {
		page.Note("%s", w.advice)
	}
	if len(w.needed) > 0 {
		lines := "server/.env now also needs:"
		for _, c := range w.needed {
			lines += "\n  " + c.Line()
		}
		page.Note("%s", lines)
	}
}

// locks lists lock files with their manifests and the commands that update them; the folder follows.
var locks = []struct{ manifest, lock, command string }{
	{"server/pyproject.toml", "server/uv.lock", "uv lock --directory"},
	{"client/package.json", "client/package-lock.json", "npm install --prefix"},
	{"client/package.json", "client/pnpm-lock.yaml", "pnpm install --dir"},
	{"client/package.json", "client/yarn.lock", "yarn install --cwd"},
}

// adviseLocks adds what to do about lock files that stand beside a manifest which was replaced.
func (w *Written) adviseLocks() {
	replaced := w.plan.Paths(project.Replaced)
	for _, l := range locks {
		if slices.Contains(replaced, l.manifest) && project.Has(w.Directory, l.lock) {
			folder := filepath.Join(w.job.Target, path.Dir(l.lock))
			w.Next = append(w.Next, l.command+" "+report.ShellPath(folder))
		}
	}
	if len(w.Next) > 0 {
		w.advice = "dependencies changed; refresh their lock files:\n  " + strings.Join(w.Next, "\n  ")
	}
}

// outcomes are what may happen to a file: in the words of a run that is done, and of an update that asks
// first. A step has one of them, or none.
var outcomes = []struct {
	done, would string
	is          func(project.Step) bool
}{
	{"wrote conflicts between markers into", "conflicts", hasNewConflicts},
	{"merged with your edits", "merge with your edits", isMergedInFull},
	{"created", "create", hasAction(project.Created)},
	{"replaced", "replace", hasAction(project.Replaced)},
	{"removed", "remove", hasAction(project.Removed)},
	{"kept", "keep", hasAction(project.Kept)},
	{"did not restore", "not restore, because you deleted them", hasAction(project.Missing)},
}

func hasNewConflicts(s project.Step) bool { return len(s.Conflicts) > 0 }

func isMergedInFull(s project.Step) bool { return s.Merged && !hasNewConflicts(s) }

// hasAction returns a function that reports whether a step that merges nothing has the action.
func hasAction(action string) func(project.Step) bool {
	return func(s project.Step) bool { return s.Action == action && !s.Merged }
}

// describeChanges describes for people what an update would do.
func describeChanges(p *project.Plan) string {
	var b strings.Builder
	for _, o := range outcomes {
		if names := namesOf(p, o.is); len(names) > 0 {
			fmt.Fprintf(&b, "  %s:\n    %s\n", o.would, strings.Join(names, "\n    "))
		}
	}
	return cmp.Or(b.String(), "  change nothing\n")
}

// isShown reports whether a step is listed for people: those of internal files are not.
func isShown(s project.Step) bool { return !project.IsInternal(s.Path) }

// isUndelivered reports whether this version has changes for a file that an update cannot merge.
func isUndelivered(s project.Step) bool { return s.State == project.Pending && !s.Merged }

// namesOf returns the files of the plan that are listed and for which is returns true, as nameOf writes them.
func namesOf(p *project.Plan, is func(project.Step) bool) (names []string) {
	for _, s := range p.Steps {
		if isShown(s) && is(s) {
			names = append(names, nameOf(s))
		}
	}
	return names
}

// nameOf returns the file of a step, with the reason for its action in brackets if there is one.
func nameOf(s project.Step) string {
	if s.Why == "" {
		return s.Path
	}
	return s.Path + " (" + s.Why + ")"
}

// noteGuides notes the guides that were kept although they differ.
func noteGuides(page *report.Printer, p *project.Plan) {
	for _, s := range p.Steps {
		if !s.Guide || s.Action != project.Kept {
			continue
		}
		if s.Before == "" {
			page.Note("kept %s, which is a link, unreadable or larger than 1 MiB", s.Path)
			continue
		}
		why := "differs from this version's guide"
		if s.HasOldGuide() {
			why = "an older vbot wrote"
		}
		const kept = "kept %s, which %s; to replace it: vbot init --no-input --overwrite-guide %s"
		page.Note(kept, s.Path, why, report.ShellQuote(p.Dir))
	}
}
