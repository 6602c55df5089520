package secrets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// A ListRequest asks for all secrets.
type ListRequest struct {
	Region   string // "" is all
	SetsOnly bool   // no image pull secrets
}

// A Listing is the JSON of list.
type Listing struct {
	Secrets []ListedSecret `json:"secrets"`

	location string // where vbot looked, for messages
}

// A ListedSecret is a secret of a listing.
type ListedSecret struct {
	Name string        `json:"name"`
	Kind report.OrNull `json:"kind"`
	State
}

// List returns all secrets of the organization, by name.
func List(ctx context.Context, api *cloud.Client, r ListRequest) (*Listing, error) {
	entries, err := api.List(ctx, r.Region)
	if err == nil && len(entries) == 0 {
		err = unknownRegion(ctx, api, r.Region)
	}
	if err != nil {
		return nil, err
	}
	if r.SetsOnly {
		isPullSecret := func(e cloud.Entry) bool { return e.Type == cloud.TypeImagePull }
		entries = slices.DeleteFunc(entries, isPullSecret)
	}
	out := &Listing{Secrets: []ListedSecret{}, location: location(api, "")}
	if r.Region != "" {
		out.location = "region " + r.Region + " in " + out.location
	}
	for _, e := range entries {
		secret := ListedSecret{Name: e.Name, Kind: report.OrNull(e.Kind()), State: stateOf(e)}
		out.Secrets = append(out.Secrets, secret)
	}
	return out, nil
}

// Text prints a table.
func (l *Listing) Text(out *report.Printer) {
	if out.JSON() {
		return
	}
	if len(l.Secrets) == 0 {
		out.Note("no secrets in %s", l.location)
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

// A ShowRequest asks for one secret set.
type ShowRequest struct {
	Name   string
	Region string // where the set must be; "" for any
}

// A ShownSet is the JSON of list NAME.
type ShownSet struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	State
	Keys []string `json:"keys"`
}

// Show returns the keys of a secret set.
func Show(ctx context.Context, api *cloud.Client, r ShowRequest) (*ShownSet, error) {
	set, err := getSet(ctx, api, r.Name)
	if err != nil {
		return nil, err
	}
	if r.Region != "" && set.Region != r.Region {
		const elsewhere = "%s is in region %s, not in %s"
		return nil, report.Errorf(report.NotFound, elsewhere, r.Name, orDash(set.Region), r.Region)
	}
	keys := append([]string{}, set.Keys...)
	return &ShownSet{Name: r.Name, Kind: cloud.KindSet, State: stateOf(set.Entry), Keys: keys}, nil
}

// Text prints a line for each fact, and one for each key.
func (s *ShownSet) Text(out *report.Printer) {
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
