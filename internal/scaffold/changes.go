package scaffold

import (
	"slices"

	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/report"
)

// Changes are what a job does, or would do, in a directory.
type Changes struct {
	Files     []WrittenFile    `json:"files" about:"each file of vbot, sorted by path"`
	Variables []NeededVariable `json:"variables" about:"what server/.env needs, or needs since an update"`
}

// A WrittenFile says what happened to a file.
type WrittenFile struct {
	Path   string        `json:"path" about:"path in the directory, with slashes"`
	Action fileAction    `json:"action" about:"missing: it was deleted; conflict: it is in the way"`
	SHA256 report.OrNull `json:"sha256" about:"SHA-256 of the file afterwards; null if it was not read"`
}

// A fileAction is one of the actions of package project, or conflict.
type fileAction string

// conflict is the action of a file that is in the way of the job. With conflict markers, it has them.
const conflict fileAction = "conflict"

// Enum returns the allowed values, for the JSON Schema.
func (fileAction) Enum() []string {
	return []string{
		project.Created, project.Kept, project.Unchanged, project.Replaced, project.Merged, project.Removed,
		project.Missing, string(conflict),
	}
}

// A NeededVariable is a variable whose value a person has to get.
type NeededVariable struct {
	Name string        `json:"name" about:"name in server/.env"`
	Or   []string      `json:"or" about:"variables of which one may be set instead"`
	From string        `json:"from" about:"the page where you get the value, or what it is"`
	Only report.OrNull `json:"only_for" about:"the only transport that needs it; null if each does"`
}

// changesOf returns what the plan does. needed are the variables whose values a person has to get.
func changesOf(plan *project.Plan, needed []catalog.Requirement) Changes {
	out := Changes{Files: []WrittenFile{}, Variables: []NeededVariable{}}
	for _, s := range plan.Steps {
		file := WrittenFile{Path: s.Path, Action: fileAction(s.Action), SHA256: report.OrNull(s.Sum())}
		if slices.ContainsFunc(plan.Conflicts, func(c report.Problem) bool { return c.Field == s.Path }) {
			file.Action = conflict
		}
		out.Files = append(out.Files, file)
	}
	seen := map[string]bool{}
	for _, r := range needed {
		if seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		v := NeededVariable{Name: r.Name, Or: []string{}, From: r.Page, Only: report.OrNull(r.Only)}
		for _, name := range r.Rule.Names {
			if name != r.Name {
				v.Or = append(v.Or, name)
			}
		}
		out.Variables = append(out.Variables, v)
	}
	return out
}
