package secrets

import (
	"context"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// A CheckRequest asks whether a secret set has the keys of a file.
type CheckRequest struct {
	Name      string
	File      string       // the file's name for messages
	Pairs     []cloud.Pair // its keys
	SkipEmpty bool         // leave out keys without a value
	Exact     bool         // fail for extra keys, too
}

// A Comparison is the JSON of check.
type Comparison struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Status  report.OrNull `json:"status"`
	Missing []string      `json:"missing"`
	Extra   []string      `json:"extra"`

	set    string // the set, for messages
	file   string
	differ bool
}

// Check compares the keys of a set with those of a file. It fails for keys that are missing; if the
// request is exact, for extra ones, too.
func Check(ctx context.Context, api *cloud.Client, r CheckRequest) (*Comparison, error) {
	set, err := getSet(ctx, api, r.Name)
	if err != nil {
		return nil, err
	}
	if set.Source == cloud.SourceReferenced {
		return nil, referencedError(r.Name)
	}
	out := &Comparison{
		Name:    r.Name,
		Region:  report.OrNull(set.Region),
		Status:  report.OrNull(set.Status),
		Missing: []string{},
		Extra:   append([]string{}, set.Keys...),
		set:     "secret set " + r.Name + " of " + location(api, ""),
		file:    r.File,
	}
	for _, p := range r.Pairs {
		out.Extra = slices.DeleteFunc(out.Extra, func(key string) bool { return key == p.Key })
		isLeftOut := r.SkipEmpty && p.Value.Empty()
		if !isLeftOut && !slices.Contains(set.Keys, p.Key) {
			out.Missing = append(out.Missing, p.Key)
		}
	}
	slices.Sort(out.Missing)
	err = out.differences(r.Exact)
	out.differ = err != nil
	return out, err
}

// differences returns the failure that names the keys that differ, or nil.
func (c *Comparison) differences(exact bool) error {
	var faults []string
	if n := len(c.Missing); n > 0 {
		keys := report.Plural(n, "key") + " from " + c.file + ": " + strings.Join(c.Missing, ", ")
		faults = append(faults, "is missing "+keys)
	}
	if n := len(c.Extra); n > 0 && exact {
		keys := report.Plural(n, "extra key") + " not in " + c.file + ": " + strings.Join(c.Extra, ", ")
		faults = append(faults, "has "+keys)
	}
	if faults == nil {
		return nil
	}
	return report.Errorf(report.Differs, "%s %s", c.set, strings.Join(faults, "; it "))
}

// Text prints a table of the keys that differ.
func (c *Comparison) Text(out *report.Printer) {
	var table strings.Builder
	table.WriteString("KEY\tSTATE\n")
	for _, key := range c.Missing {
		table.WriteString(key + "\tmissing\n")
	}
	for _, key := range c.Extra {
		table.WriteString(key + "\textra\n")
	}
	out.PrintColumns(table.String())
	if !c.differ {
		out.Note("%s has all keys of %s", c.set, c.file)
	}
}
