package main

import (
	"cmp"
	"context"
	"fmt"

	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/tty"
)

// picker returns a function that asks which organization to use; nil if vbot cannot ask.
func picker(a *cli.App) func(context.Context, []string) (string, error) {
	if !canAsk(a) {
		return nil
	}
	return func(ctx context.Context, names []string) (string, error) {
		var choices []tty.Choice
		for _, name := range names {
			choices = append(choices, tty.Choice{Label: name})
		}
		i, err := a.Terminal().Choose(ctx, "Which organization?", choices, 0)
		return names[i], err
	}
}

// The JSON of login, logout and whoami.
type (
	loginAnswer struct {
		Organization report.OrNull `json:"organization"`
		APIURL       string        `json:"api_url"`
		ConfigFile   string        `json:"config_file"`
	}
	logoutAnswer struct {
		Removed    bool   `json:"removed"`
		ConfigFile string `json:"config_file"`
	}
	whoamiAnswer struct {
		Organization report.OrNull `json:"organization"`
		APIURL       string        `json:"api_url"`
		TokenFrom    string        `json:"token_from"`
	}
)

func setupLogin(inv *cli.Invocation) cli.RunFunc {
	return cloudCommand(inv, "organization (default: the token's; if the token has several, vbot asks)", "", func(ctx context.Context, r *cloudRun, args []string) error {
		r.arguments(args, 0, nil)
		if err := r.faults(ctx); err != nil {
			return err
		}
		a := r.app
		file, err := loginFile(a)
		if err != nil {
			return err
		}
		r.api, r.valueProblems = cloud.Open(deps(a), r.given["organization"])
		if err := r.faults(ctx); err != nil {
			return err
		}
		var token cloud.Secret
		if canAsk(a) {
			a.Note("Paste a personal access token or a private API key: Pipecat Cloud's dashboard makes them.")
			token, err = hidden(ctx, a, "Token (hidden):", false, always)
		} else {
			token, err = secretFromStdin(ctx, a, "token", false)
		}
		if err != nil {
			return err
		}
		if fault := cloud.TokenFault(token.Reveal()); fault != "" {
			return report.One(report.InvalidConfig, "token", "token", "%s", fault)
		}
		r.api.Use(token, "")
		if err := r.api.Verify(ctx, picker(a)); err != nil {
			return err
		}
		if err := file.Write(cloud.Login{Token: token.Reveal(), Organization: r.api.Organization, APIURL: r.api.Base.String()}); err != nil {
			f := report.IOError("storing the token in "+file.Path, err)
			f.Hint = "set VBOT_CONFIG to a file that you can write"
			return f
		}
		said := fmt.Sprintf("signed in to %s; token stored in %s", r.where(""), file.Path)
		if a.Getenv("VBOT_TOKEN") != "" {
			said += "\nVBOT_TOKEN is set and overrides the stored token"
		}
		return inv.Report(a, loginAnswer{report.OrNull(r.api.Organization), r.api.Base.String(), file.Path}, "%s", said)
	})
}

// loginFile returns the file in which login stores the token, which vbot may replace and
// remove.
func loginFile(a *cli.App) (cloud.LoginFile, error) {
	file, err := cloud.FindLoginFile(deps(a))
	if err == nil {
		if err = file.Foreign(); err != nil {
			err = &report.Failure{Code: report.Conflict, Message: fmt.Sprintf("%s %v", file.Path, report.Cause(err)), Err: err}
		}
	}
	return file, err
}

func setupLogout(inv *cli.Invocation) cli.RunFunc {
	return cloudCommand(inv, "", "", func(ctx context.Context, r *cloudRun, args []string) error {
		r.arguments(args, 0, nil)
		if err := r.faults(ctx); err != nil {
			return err
		}
		file, err := loginFile(r.app)
		if err != nil {
			return err
		}
		removed, err := file.Remove()
		if err != nil {
			f := report.IOError("removing "+file.Path, err)
			f.Message += "; the token is still stored there"
			return f
		}
		said := "nothing to do: " + file.Path + " does not exist"
		if removed {
			said = "signed out: removed " + file.Path
		}
		if r.app.Getenv("VBOT_TOKEN") != "" {
			said += "\nVBOT_TOKEN is set; you are still signed in"
		}
		return inv.Report(r.app, logoutAnswer{removed, file.Path}, "%s", said)
	})
}

func setupWhoami(inv *cli.Invocation) cli.RunFunc {
	return cloudCommand(inv, currentOrg, "", func(ctx context.Context, r *cloudRun, args []string) error {
		r.arguments(args, 0, nil)
		if err := r.signIn(ctx); err != nil {
			return err
		}
		if err := r.api.Verify(ctx, nil); err != nil {
			return err
		}
		out := whoamiAnswer{report.OrNull(r.api.Organization), r.api.Base.String(), r.api.TokenFrom}
		return r.show(out, fmt.Sprintf("Organization:\t%s\nAPI:\t%s\nToken source:\t%s\n",
			cmp.Or(out.Organization, "the API key's own"), out.APIURL, out.TokenFrom))
	})
}
