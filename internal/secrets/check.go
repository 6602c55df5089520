package secrets

import (
	"context"
	"fmt"
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
	Name string `json:"name" about:"name of the set"`
	Place
	Status  report.OrNull `json:"status" about:"ready, pending, failed, or another word of the API"`
	Missing []string      `json:"missing" about:"keys that only the files have, sorted"`
	Extra   []string      `json:"extra" about:"keys that only the set has, sorted"`
	LeftOut []string      `json:"left_out" about:"keys without a value that --skip-empty left out"`

	set   string // the set, for messages
	files []string
	err   error // the failure of Run
}

// Run fails with report.Differs for keys that are missing and, if it is exact, for extra ones; otherwise
// with report.Failed if the set's status is failed. With both failures, it also returns the comparison.
func (c Check) Run(ctx context.Context, api *cloud.Client) (*Comparison, error) {
	set, err := getSet(ctx, api, c.Name)
	if err != nil {
		return nil, err
	}
	if set.Source == cloud.SourceReferenced {
		return nil, referencedError(api, c.Name)
	}
	out := &Comparison{
		Name:    c.Name,
		Place:   placeIn(api, set.Region),
		Status:  report.OrNull(set.Status),
		Missing: []string{},
		Extra:   append([]string{}, set.Keys...),
		LeftOut: []string{},
		set:     "secret set " + c.Name + " of " + location(api, ""),
		files:   c.Pairs.files,
	}
	for _, p := range c.Pairs.List {
		out.Extra = slices.DeleteFunc(out.Extra, func(key string) bool { return key == p.Key })
		switch {
		case c.SkipEmpty && p.Value.Empty():
			out.LeftOut = append(out.LeftOut, p.Key)
		case !slices.Contains(set.Keys, p.Key):
			out.Missing = append(out.Missing, p.Key)
		}
	}
	slices.Sort(out.Missing)
	isFailed := set.Status == cloud.StatusFailed
	out.err = out.differences(api, c.Exact)
	switch {
	case isFailed && out.err == nil:
		out.err = api.Errorf(report.Failed, "%s has all keys, but %s", out.set, set.Failed())
	case isFailed:
		api.Warn("status", "", "%s: %s", c.Name, set.Failed())
	}
	return out, out.err
}

// differences returns the failure that names the keys that differ, or nil.
func (c *Comparison) differences(api *cloud.Client, exact bool) error {
	files := strings.Join(c.files, " and ")
	has, lack := "has", "lacks"
	if len(c.files) > 1 {
		has, lack = "have", "lack"
	}
	var faults []string
	if len(c.Missing) > 0 {
		fault := fmt.Sprintf("lacks %s, which %s %s", strings.Join(c.Missing, ", "), files, has)
		faults = append(faults, fault)
	}
	if len(c.Extra) > 0 && exact {
		fault := fmt.Sprintf("has %s, which %s %s", strings.Join(c.Extra, ", "), files, lack)
		faults = append(faults, fault)
	}
	if faults == nil {
		return nil
	}
	return api.Errorf(report.Differs, "%s %s", c.set, strings.Join(faults, "; it "))
}

// Text prints a table of the keys that differ, unless the comparison failed for another reason.
func (c *Comparison) Text(out *report.Printer) {
	if c.err != nil && !report.HasCode(c.err, report.Differs) {
		return
	}
	var table strings.Builder
	table.WriteString("KEY\tSTATE\n")
	for _, key := range c.Missing {
		table.WriteString(key + "\tmissing\n")
	}
	for _, key := range c.Extra {
		table.WriteString(key + "\textra\n")
	}
	out.PrintColumns(table.String())
	if c.err == nil {
		out.Note("%s has all keys of %s", c.set, strings.Join(c.files, " and "))
	}
}
