package cloudcmd

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

// A CheckResult is the JSON of check.
type CheckResult struct {
	Name string `json:"name" about:"name of the set"`
	Place
	Status  report.OrNull `json:"status" about:"ready, pending, failed, or another word of the API"`
	Missing []string      `json:"missing" about:"keys that only the files have, sorted"`
	Extra   []string      `json:"extra" about:"keys that only the set has, sorted"`
	LeftOut []string      `json:"left_out" about:"keys without a value that --skip-empty left out"`

	files []string // their names
	exact bool     // extra keys are a difference, too
}

// Run returns a *CheckResult. The error has code report.Failed if the status of the set is failed, else
// report.Differs if keys differ; the result is returned with either of them.
func (c *Check) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	set, err := getSet(ctx, api, c.Name)
	if err != nil {
		return nil, err
	}
	if set.Source == cloud.SourceReferenced {
		return nil, referencedError(api, c.Name)
	}
	out := &CheckResult{
		Name:    c.Name,
		Place:   placeIn(api, set.Region),
		Status:  report.OrNull(set.Status),
		Missing: []string{},
		Extra:   append([]string{}, set.Keys...),
		LeftOut: []string{},
		files:   c.Pairs.files,
		exact:   c.Exact,
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
	switch {
	case out.isFailed() && out.differs():
		return out, api.Errorf(report.Failed, "%s; and %s", out.differences(), set.FailedText())
	case out.isFailed():
		return out, api.Errorf(report.Failed, "%s has all keys, but %s", out.set(), set.FailedText())
	case out.differs():
		return out, api.Errorf(report.Differs, "%s", out.differences())
	}
	return out, nil
}

func (c *CheckResult) differs() bool  { return len(c.Missing) > 0 || c.exact && len(c.Extra) > 0 }
func (c *CheckResult) isFailed() bool { return c.Status == cloud.StatusFailed }

// set returns the set for messages: "secret set app of organization acme".
func (c *CheckResult) set() string {
	return "secret set " + c.Name + " of " + Place{Organization: c.Organization}.label()
}

// differences returns a sentence that names the keys that differ.
func (c *CheckResult) differences() string {
	files := strings.Join(c.files, " and ")
	has, lack := "has", "lacks"
	if len(c.files) > 1 {
		has, lack = "have", "lack"
	}
	var clauses []string
	if len(c.Missing) > 0 {
		keys := strings.Join(c.Missing, ", ")
		clauses = append(clauses, fmt.Sprintf("lacks %s, which %s %s", keys, files, has))
	}
	if len(c.Extra) > 0 && c.exact {
		keys := strings.Join(c.Extra, ", ")
		clauses = append(clauses, fmt.Sprintf("has %s, which %s %s", keys, files, lack))
	}
	return c.set() + " " + strings.Join(clauses, "; it ")
}

// Text prints a table of the keys that only one side has. If the status is wrong, the failure says all.
func (c *CheckResult) Text(out *report.Printer) {
	if c.isFailed() {
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
	if !c.differs() {
		out.Note("%s has all keys of %s", c.set(), strings.Join(c.files, " and "))
	}
}
