package cloudcmd

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
	Choose  cloud.Choose  // nil if vbot cannot ask
	Timeout time.Duration // of a request with all its tries; 0 for the default
}

// A LoginResult is the JSON of login.
type LoginResult struct {
	Organization report.OrNull `json:"organization" about:"the organization; null for that of an API key"`
	APIURL       string        `json:"api_url" about:"address of the API"`
	ConfigFile   string        `json:"config_file" about:"file in which the token is stored"`
}

// Run returns a *LoginResult.
func (l *Login) Run(ctx context.Context, s system.System) (report.Result, error) {
	file, err := ownTokenFile(s)
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
	if err := cloud.CheckToken(token.Reveal()); err != nil {
		return nil, report.One(report.InvalidConfig, "token", "token", "%v", err)
	}
	api.Use(token, "")
	if err := api.Verify(ctx, l.Choose); err != nil {
		return nil, err
	}
	stored := cloud.StoredToken{
		Token:        token.Reveal(),
		Organization: api.Organization,
		APIURL:       api.Base.String(),
	}
	if err := file.Write(stored); err != nil {
		f := report.IOError("storing the token in "+file.Path, err)
		f.Hint = "set VBOT_CONFIG to a file that you can write"
		return nil, f
	}
	if s.Getenv("VBOT_TOKEN") != "" {
		s.Warn("VBOT_TOKEN", "", "VBOT_TOKEN is set and overrides the stored token")
	}
	return &LoginResult{
		Organization: report.OrNull(stored.Organization),
		APIURL:       stored.APIURL,
		ConfigFile:   file.Path,
	}, nil
}

// Text says where the token is stored.
func (l *LoginResult) Text(out *report.Printer) {
	organization := Place{Organization: l.Organization}.label()
	out.Note("signed in to %s; token stored in %s", organization, l.ConfigFile)
}

// ownTokenFile returns the file in which login stores the token. It fails if vbot may not replace or remove
// the file.
func ownTokenFile(s system.System) (cloud.TokenFile, error) {
	file, err := cloud.FindTokenFile(s)
	if err != nil {
		return file, err
	}
	if err := file.CheckOwned(); err != nil {
		return file, report.One(report.InvalidConfig, "config_file", file.Path, "%v", report.Cause(err))
	}
	return file, nil
}

// A LogoutResult is the JSON of logout.
type LogoutResult struct {
	Removed    bool   `json:"removed" about:"there was a file"`
	ConfigFile string `json:"config_file" about:"file in which login stores the token"`
}

// Logout is `vbot cloud logout`: it removes the stored token. It returns a *LogoutResult.
func Logout(s system.System) (report.Result, error) {
	file, err := ownTokenFile(s)
	if err != nil {
		return nil, err
	}
	removed, err := file.Remove()
	if err != nil {
		f := report.IOError("removing "+file.Path, err)
		f.Message += "; the token is still stored there"
		return nil, f
	}
	if s.Getenv("VBOT_TOKEN") != "" {
		s.Warn("VBOT_TOKEN", "", "VBOT_TOKEN is set; you are still signed in")
	}
	return &LogoutResult{Removed: removed, ConfigFile: file.Path}, nil
}

// Text says whether there was a token.
func (l *LogoutResult) Text(out *report.Printer) {
	if l.Removed {
		out.Note("signed out: removed %s", l.ConfigFile)
	} else {
		out.Note("nothing to do: %s does not exist", l.ConfigFile)
	}
}

// A WhoamiResult is the JSON of whoami.
type WhoamiResult struct {
	Organization report.OrNull `json:"organization" about:"the organization; null for that of an API key"`
	APIURL       string        `json:"api_url" about:"address of the API"`
	TokenFrom    string        `json:"token_from" about:"variable or file that has the token"`
}

// Whoami is `vbot cloud whoami`: it checks the token with the API. It returns a *WhoamiResult.
func Whoami(ctx context.Context, api *cloud.Client) (report.Result, error) {
	if err := api.Verify(ctx, nil); err != nil {
		return nil, err
	}
	return &WhoamiResult{
		Organization: report.OrNull(api.Organization),
		APIURL:       api.Base.String(),
		TokenFrom:    api.TokenFrom,
	}, nil
}

// Text prints a table.
func (w *WhoamiResult) Text(out *report.Printer) {
	organization := cmp.Or(w.Organization, "the API key's own")
	out.PrintColumns(fmt.Sprintf("Organization:\t%s\nAPI:\t%s\nToken source:\t%s\n",
		organization, w.APIURL, w.TokenFrom))
}
