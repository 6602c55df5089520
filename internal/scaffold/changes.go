package scaffold

import (
	"fmt"
	"slices"

	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/report"
)

// Changes are what a job does, or would do, in a directory.
type Changes struct {
	Files     []WrittenFile    `json:"files" about:"each file of vbot, sorted by path"`
	Variables []NeededVariable `json:"variables" about:"what server/.env needs, or needs since an update"`
	Changed   bool             `json:"changed" about:"a file was written or removed, or would be"`
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
	Name      string        `json:"name" about:"name in server/.env"`
	Or        [][]string    `json:"or" about:"what may be set instead: the variables of one of these lists"`
	OnlyOne   bool          `json:"only_one" about:"name and the lists of or exclude each other"`
	From      string        `json:"from" about:"the page where you get the value, or what it is"`
	Only      report.OrNull `json:"only_for" about:"id of the only transport that needs it, or null"`
	OnlyLabel report.OrNull `json:"only_for_label" about:"the name of that transport for people, or null"`
}

// changesOf returns what the plan does. needed are the variables whose values a person has to get.
func changesOf(plan *project.Plan, needed []catalog.Requirement) Changes {
	out := Changes{Files: []WrittenFile{}, Variables: []NeededVariable{}, Changed: plan.Writes() > 0}
	for _, s := range plan.Steps {
		file := WrittenFile{Path: s.Path, Action: fileAction(s.Action), SHA256: report.OrNull(s.Sum())}
		if slices.ContainsFunc(plan.Conflicts, func(c report.Problem) bool { return c.Field == s.Path }) {
			file.Action = conflict
		}
		out.Files = append(out.Files, file)
	}
	seen := map[string]bool{}
	for _, r := range needed {
		v := NeededVariable{
			Name:      r.Name,
			Or:        append([][]string{}, r.Instead...),
			OnlyOne:   r.Rule.OnlyOne,
			From:      r.Page,
			Only:      report.OrNull(r.OnlyID),
			OnlyLabel: report.OrNull(r.Only),
		}
		if entry := fmt.Sprint(v); !seen[entry] { // two services may have the same key
			seen[entry] = true
			out.Variables = append(out.Variables, v)
		}
	}
	return out
}
