package cloudcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// List is `vbot cloud secrets list`: it lists all secrets of the organization, by name.
type List struct {
	Region   string // "" for all regions
	SetsOnly bool   // no image pull secrets
}

// A ListResult is the JSON of list.
type ListResult struct {
	Organization report.OrNull  `json:"organization" about:"their organization; null for that of an API key"`
	Region       report.OrNull  `json:"region" about:"the region of --region; null for all"`
	Secrets      []ListedSecret `json:"secrets" about:"the secrets, sorted by name"`
}

// A ListedSecret is a secret of a listing.
type ListedSecret struct {
	Name string        `json:"name" about:"name of the secret"`
	Kind report.OrNull `json:"kind" about:"secret_set, image_pull_secret, or another word of the API"`
	State
}

// Run returns a *ListResult. It fails for a region that the API does not know.
func (l *List) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	entries, err := api.List(ctx, l.Region)
	if err == nil && len(entries) == 0 {
		err = checkRegionExists(ctx, api, l.Region)
	}
	if err != nil {
		return nil, err
	}
	if l.SetsOnly {
		isPullSecret := func(e cloud.Entry) bool { return e.Type == cloud.TypeImagePull }
		entries = slices.DeleteFunc(entries, isPullSecret)
	}
	out := &ListResult{
		Organization: report.OrNull(api.Organization),
		Region:       report.OrNull(l.Region),
		Secrets:      []ListedSecret{},
	}
	for _, e := range entries {
		out.Secrets = append(out.Secrets, listed(api, e))
	}
	return out, nil
}

func listed(api *cloud.Client, e cloud.Entry) ListedSecret {
	return ListedSecret{Name: e.Name, Kind: report.OrNull(e.Kind()), State: stateOf(api, e)}
}

// Text prints a table, and the messages of the API about single secrets.
func (l *ListResult) Text(out *report.Printer) {
	if out.JSON() {
		return
	}
	if len(l.Secrets) == 0 {
		place := Place{Organization: l.Organization}.label()
		if l.Region != "" {
			place = "region " + string(l.Region) + " in " + place
		}
		out.Note("no secrets in %s", place)
	}
	var table strings.Builder
	table.WriteString("NAME\tKIND\tSTATUS\tREGION\tSOURCE\n")
	for _, s := range l.Secrets {
		fmt.Fprintf(&table, "%s\t%s\t%s\t%s\t%s\n",
			s.Name, orDash(s.Kind), orDash(s.Status), orDash(s.Region), orDash(s.Source))
	}
	out.PrintColumns(table.String())
	for _, s := range l.Secrets {
		if s.Message != "" {
			out.Note("%s: %s", s.Name, s.Message)
		}
	}
}

// Show is `vbot cloud secrets list NAME`: it lists the keys of a secret set.
type Show struct {
	Name   string
	Region string // where the set must be; "" for any
}

// A ShowResult is the JSON of list NAME.
type ShowResult struct {
	Name string `json:"name" about:"name of the set"`
	Kind string `json:"kind" about:"secret_set"`
	State
	Keys []string `json:"keys" about:"its keys, sorted; empty for a referenced set"`
}

// Run returns a *ShowResult. It fails with code report.NotFound if there is no such set in the region.
func (s *Show) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	set, err := getSet(ctx, api, s.Name)
	if err != nil {
		return nil, err
	}
	if s.Region != "" && set.Region != s.Region {
		const elsewhere = "%s is in region %s, not in %s"
		err := api.Errorf(report.NotFound, elsewhere, s.Name, orDash(set.Region), s.Region)
		return nil, about("region", err)
	}
	return &ShowResult{
		Name:  s.Name,
		Kind:  cloud.KindSet,
		State: stateOf(api, set.Entry),
		Keys:  append([]string{}, set.Keys...), // never null
	}, nil
}

// Text prints the state of the set, and a line for each key.
func (s *ShowResult) Text(out *report.Printer) {
	var table strings.Builder
	fmt.Fprintf(&table, "Name:\t%s\nKind:\t%s\n", s.Name, s.Kind)
	fmt.Fprintf(&table, "Status:\t%s\nRegion:\t%s\n", orDash(s.Status), orDash(s.Region))
	fmt.Fprintf(&table, "Source:\t%s\n", orDash(s.Source))
	if s.Message != "" {
		fmt.Fprintf(&table, "Message:\t%s\n", s.Message)
	}
	keys := fmt.Sprint(len(s.Keys))
	if s.Source == cloud.SourceReferenced {
		keys = "in your cluster"
	}
	fmt.Fprintf(&table, "Keys:\t%s\n", keys)
	for _, k := range s.Keys {
		fmt.Fprintln(&table, "  "+k)
	}
	out.PrintColumns(table.String())
}
