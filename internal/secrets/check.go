package secrets

import (
	"context"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// Check is `vbot cloud secrets check`: it compares the keys of a secret set with those of files.
type Check struct {
	Name      string
	Pairs     Pairs // of the files; only the keys matter, and which of them have a value
	SkipEmpty bool  // leave out keys without a value
	Exact     bool  // fail for extra keys, too
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

// Run fails with report.Differs for keys that are missing and, if it is exact, for extra ones. Then the
// comparison is returned, too.
func (c Check) Run(ctx context.Context, api *cloud.Client) (*Comparison, error) {
	set, err := getSet(ctx, api, c.Name)
	if err != nil {
		return nil, err
	}
	if set.Source == cloud.SourceReferenced {
		return nil, referencedError(c.Name)
	}
	out := &Comparison{
		Name:    c.Name,
		Region:  report.OrNull(set.Region),
		Status:  report.OrNull(set.Status),
		Missing: []string{},
		Extra:   append([]string{}, set.Keys...),
		set:     "secret set " + c.Name + " of " + location(api, ""),
		file:    c.Pairs.Files(),
	}
	for _, p := range c.Pairs.List {
		out.Extra = slices.DeleteFunc(out.Extra, func(key string) bool { return key == p.Key })
		isLeftOut := c.SkipEmpty && p.Value.Empty()
		if !isLeftOut && !slices.Contains(set.Keys, p.Key) {
			out.Missing = append(out.Missing, p.Key)
		}
	}
	slices.Sort(out.Missing)
	err = out.differences(c.Exact)
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
