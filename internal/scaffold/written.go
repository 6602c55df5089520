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
	Directory string      `json:"directory" about:"absolute path of the directory"`
	Config    *bot.Config `json:"config" about:"the bot, as --dry-run prints it; null for the guides"`
	Changes
	Next []string `json:"next" about:"the commands to run now, in order"`

	plan      *project.Plan
	listFiles bool
	advice    string               // what to do next, or ""
	added     []catalog.Credential // what server/.env needs since an update
}

// Text says what happened to the files, and what to do next.
func (w Written) Text(page *report.Printer) {
	for _, o := range outcomes {
		names := namesOf(w.plan, o.applies)
		text := fmt.Sprintf("%s %s in %s", o.done, report.Plural(len(names), "file"), w.Directory)
		switch {
		case len(names) == 0:
		case w.listFiles:
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
	if w.advice != "" {
		page.Note("%s", w.advice)
	}
	if len(w.added) > 0 {
		lines := "What the change needs in server/.env, if it is not there yet:"
		for _, c := range w.added {
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

// adviseLocks adds what to do about lock files that stand beside a manifest which was replaced. target is the
// directory as it was typed.
func (w *Written) adviseLocks(target string) {
	changed := append(w.plan.Paths(project.Replaced), w.plan.Paths(project.Merged)...)
	for _, l := range locks {
		if slices.Contains(changed, l.manifest) && project.Has(w.Directory, l.lock) {
			folder := filepath.Join(target, path.Dir(l.lock))
			w.Next = append(w.Next, l.command+" "+report.ShellPath(folder))
		}
	}
	if len(w.Next) > 0 {
		w.advice = "dependencies changed; refresh their lock files:\n  " + strings.Join(w.Next, "\n  ")
	}
}

// outcomes are what can happen to a file, in words for a finished run and for an update that asks first. A
// step has at most one of them.
var outcomes = []struct {
	done, would string
	applies     func(project.Step) bool
}{
	{"wrote conflicts between markers into", "conflicts", hasNewConflicts},
	{"merged with your edits", "merge with your edits", hasAction(project.Merged)},
	{"created", "create", hasAction(project.Created)},
	{"replaced", "replace", hasAction(project.Replaced)},
	{"removed", "remove", hasAction(project.Removed)},
	{"kept", "keep", hasAction(project.Kept)},
	{"did not restore", "not restore, because you deleted them", hasAction(project.Missing)},
}

func hasNewConflicts(s project.Step) bool { return len(s.Conflicts) > 0 }

// hasAction returns a function that reports whether a step without conflicts has the action.
func hasAction(action string) func(project.Step) bool {
	return func(s project.Step) bool { return s.Action == action && !hasNewConflicts(s) }
}

// describeChanges describes for people what an update would do.
func describeChanges(plan *project.Plan) string {
	var b strings.Builder
	for _, o := range outcomes {
		if names := namesOf(plan, o.applies); len(names) > 0 {
			fmt.Fprintf(&b, "  %s:\n    %s\n", o.would, strings.Join(names, "\n    "))
		}
	}
	return cmp.Or(b.String(), "  change nothing\n")
}

// isShown reports whether a step is listed for people: those of internal files are not.
func isShown(s project.Step) bool { return !project.IsInternal(s.Path) }

// isUndelivered reports whether this version has changes for a file that an update cannot merge.
func isUndelivered(s project.Step) bool {
	return s.State == project.Pending && s.Action != project.Merged
}

// namesOf returns the listed files of the plan for which applies returns true, as nameOf writes them.
func namesOf(plan *project.Plan, applies func(project.Step) bool) (names []string) {
	for _, s := range plan.Steps {
		if isShown(s) && applies(s) {
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
