package secrets

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/system"
)

// Login is `vbot cloud login`: it checks a token with the API, and stores it.
type Login struct {
	Organization string // "" for the token's only one, or the one that Choose returns
	// Token asks for the token, after everything else was checked.
	Token   func(ctx context.Context) (secret.Value, error)
	Choose  cloud.Choose  // nil if nobody can be asked
	Timeout time.Duration // of a request with all its tries; 0 for the default
}

// A SignIn is the JSON of login.
type SignIn struct {
	Organization report.OrNull `json:"organization" about:"the organization; null for that of an API key"`
	APIURL       string        `json:"api_url" about:"address of the API"`
	ConfigFile   string        `json:"config_file" about:"file in which the token is stored"`

	message string
}

// Text says what was stored.
func (s *SignIn) Text(out *report.Printer) { out.Note("%s", s.message) }

// Run returns what was stored where.
func (l Login) Run(ctx context.Context, s system.System) (*SignIn, error) {
	file, err := loginFile(s)
	if err != nil {
		return nil, err
	}
	api, problems := cloud.Open(s, l.Organization)
	if len(problems) > 0 {
		return nil, problems.Err()
	}
	api.Limit(l.Timeout)
	token, err := l.Token(ctx)
	if err != nil {
		return nil, err
	}
	if fault := cloud.TokenFault(token.Reveal()); fault != "" {
		return nil, report.One(report.InvalidConfig, "token", "token", "%s", fault)
	}
	api.Use(token, "")
	if err := api.Verify(ctx, l.Choose); err != nil {
		return nil, err
	}
	stored := cloud.Login{Token: token.Reveal(), Organization: api.Organization, APIURL: api.Base.String()}
	if err := file.Write(stored); err != nil {
		f := report.IOError("storing the token in "+file.Path, err)
		f.Hint = "set VBOT_CONFIG to a file that you can write"
		return nil, f
	}
	out := &SignIn{
		Organization: report.OrNull(api.Organization),
		APIURL:       api.Base.String(),
		ConfigFile:   file.Path,
		message:      fmt.Sprintf("signed in to %s; token stored in %s", location(api, ""), file.Path),
	}
	if s.Getenv("VBOT_TOKEN") != "" {
		s.Warn("VBOT_TOKEN", "", "VBOT_TOKEN is set and overrides the stored token")
	}
	return out, nil
}

// loginFile returns the file in which login stores the token, which vbot may replace and
// remove.
func loginFile(s system.System) (cloud.LoginFile, error) {
	file, err := cloud.FindLoginFile(s)
	if err != nil {
		return file, err
	}
	var problems report.Problems
	if err := file.CheckOwned(); err != nil {
		problems.Add("config_file", file.Path, "%v", report.Cause(err))
	}
	return file, problems.Err()
}

// A SignOut is the JSON of logout.
type SignOut struct {
	Removed    bool   `json:"removed" about:"there was a file"`
	ConfigFile string `json:"config_file" about:"file in which login stores the token"`

	message string
}

// Text says what was removed.
func (s *SignOut) Text(out *report.Printer) { out.Note("%s", s.message) }

// Logout is `vbot cloud logout`: it removes the stored token.
func Logout(s system.System) (*SignOut, error) {
	file, err := loginFile(s)
	if err != nil {
		return nil, err
	}
	removed, err := file.Remove()
	if err != nil {
		f := report.IOError("removing "+file.Path, err)
		f.Message += "; the token is still stored there"
		return nil, f
	}
	out := &SignOut{Removed: removed, ConfigFile: file.Path}
	out.message = "nothing to do: " + file.Path + " does not exist"
	if removed {
		out.message = "signed out: removed " + file.Path
	}
	if s.Getenv("VBOT_TOKEN") != "" {
		s.Warn("VBOT_TOKEN", "", "VBOT_TOKEN is set; you are still signed in")
	}
	return out, nil
}

// An Identity is the JSON of whoami.
type Identity struct {
	Organization report.OrNull `json:"organization" about:"the organization; null for that of an API key"`
	APIURL       string        `json:"api_url" about:"address of the API"`
	TokenFrom    string        `json:"token_from" about:"variable or file that has the token"`
}

// Whoami is `vbot cloud whoami`: it checks the token with the API, and returns its organization.
func Whoami(ctx context.Context, api *cloud.Client) (*Identity, error) {
	if err := api.Verify(ctx, nil); err != nil {
		return nil, err
	}
	return &Identity{
		Organization: report.OrNull(api.Organization),
		APIURL:       api.Base.String(),
		TokenFrom:    api.TokenFrom,
	}, nil
}

// Text prints a table.
func (i *Identity) Text(out *report.Printer) {
	organization := cmp.Or(i.Organization, "the API key's own")
	out.PrintColumns(fmt.Sprintf("Organization:\t%s\nAPI:\t%s\nToken source:\t%s\n",
		organization, i.APIURL, i.TokenFrom))
}
