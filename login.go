package main

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"vbot/internal/cloud"
)

const helpCloud = `Sign in to Pipecat Cloud and manage secrets.

Usage: vbot cloud COMMAND [ARGUMENTS] [OPTIONS]

Commands:
  login      store a token and select an organization
  logout     remove the stored token and organization
  whoami     show the organization, the API address and the source of the token
  secrets    list, set, unset and delete secrets

Options:
      --json    print the result as JSON
  -h, --help    print this help

Environment:
` + cloudVariables + `
Examples:
  vbot cloud login
  vbot cloud secrets list
`

// cloudVariables are the lines about the variables that `vbot cloud` reads.
const cloudVariables = `  VBOT_TOKEN            token; overrides the stored one
  VBOT_ORGANIZATION     organization; overrides the stored one
  VBOT_CONFIG           file in which login stores the token
                        (default: vbot/config.json in your configuration
                        directory)
  VBOT_API_URL          API address (default: ` + cloud.Address + `)
  VBOT_CA_FILE          PEM file of additional certificate authorities
  HTTPS_PROXY           proxy
  NO_PROXY              hosts to reach without the proxy
`

const helpLogin = `Store a token and select an organization.

Usage: vbot cloud login [OPTIONS]

The token is a Pipecat Cloud personal access token (pcc_pat_...) or private API
key. vbot asks for it in a hidden prompt or, if stdin is not a terminal, reads
the first line of stdin. It checks the token with the API, then stores it in a
file that only you can read.

Options:
  -o, --organization ORG    organization (default: the token's only one; if
                            it has several, vbot asks)
      --no-input            never ask
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud login
  vbot cloud login --organization acme < token.txt
`

const helpLogout = `Remove the stored token and organization.

Usage: vbot cloud logout [OPTIONS]

Options:
      --json    print the result as JSON
  -h, --help    print this help

Examples:
  vbot cloud logout
`

const helpWhoami = `Show the organization, the API address and the source of the token.

Usage: vbot cloud whoami [OPTIONS]

vbot checks the token with the API and never shows it.

Options:
  -o, --organization ORG    organization (default: the current one)
      --json                print the result as JSON
  -h, --help                print this help

Examples:
  vbot cloud whoami
  vbot cloud whoami --json
`

func setupLogin(inv *invocation) runFunc {
	var sc scope
	sc.orgFlag(inv)
	boolFlag(inv.set, &inv.noInput, "no-input")
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		if err := noArguments(args, sc); err != nil {
			return err
		}
		return runLogin(ctx, a, inv, sc)
	}
}

// pickOrganization asks which organization to use.
func pickOrganization(ctx context.Context, a *app, names []string) (string, error) {
	var choices []choice
	for _, name := range names {
		choices = append(choices, choice{label: name})
	}
	i, err := a.prompter().choose(ctx, "Which organization?", choices, 0)
	if err != nil {
		return "", err
	}
	return names[i], nil
}

// noArguments refuses arguments. It does not repeat them: one may be a token.
func noArguments(args []string, sc scope) error {
	problems := sc.problems()
	if len(args) > 0 {
		problems = append([]problem{{Field: "arguments", Message: fmt.Sprintf("takes no arguments (%d given)", len(args))}}, problems...)
	}
	if len(problems) == 0 {
		return nil
	}
	return &failure{Code: codeUsage, Problems: problems}
}

func runLogin(ctx context.Context, a *app, inv *invocation, sc scope) error {
	file, err := loginFile(a)
	if err != nil {
		return err
	}
	if err := file.Foreign(); err != nil {
		return foreign(file, err)
	}
	c, problems := newSession(a, sc)
	if len(problems) > 0 {
		return &failure{Code: codeInvalidConfig, Problems: problems}
	}
	token, err := secretLine(ctx, a, "token", "Token (hidden):")
	if err != nil {
		return err
	}
	if !cloud.IsToken(token.Reveal()) {
		message := cloud.TokenRule
		if token.Empty() {
			message = "missing"
		}
		return oneProblem(codeInvalidConfig, "token", "token", "%s", message)
	}
	c.use(token, "")
	if canAsk(a) {
		c.pick = pickOrganization
	}
	if err := c.verify(ctx); err != nil {
		return err
	}
	if err := file.Write(cloud.Settings{Token: token.Reveal(), Organization: c.Organization, APIURL: c.Base.String()}); err != nil {
		return ioFailure("storing the token in "+file.Path, err)
	}
	a.note("signed in to %s; token stored in %s", c.orgLabel(), file.Path)
	if a.getenv("VBOT_TOKEN") != "" {
		a.note("VBOT_TOKEN is set and overrides it")
	}
	return inv.report(a, loginAnswer{orNull(c.Organization), c.Base.String(), file.Path})
}

// The JSON of login, logout and whoami.
type (
	loginAnswer struct {
		Organization orNull `json:"organization"`
		APIURL       string `json:"api_url"`
		ConfigFile   string `json:"config_file"`
	}
	logoutAnswer struct {
		Removed    bool   `json:"removed"`
		ConfigFile string `json:"config_file"`
	}
	whoamiAnswer struct {
		Organization orNull `json:"organization"`
		APIURL       string `json:"api_url"`
		TokenFrom    string `json:"token_from"`
	}
)

// foreign returns the error for a file that vbot may not replace or remove.
func foreign(file cloud.File, err error) error {
	return &failure{Code: codeConflict, Message: fmt.Sprintf("%s %v", file.Path, rootCause(err)), err: err}
}

func setupLogout(*invocation) runFunc {
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		if err := noArguments(args, scope{}); err != nil {
			return err
		}
		file, err := loginFile(a)
		if err != nil {
			return err
		}
		if err := file.Foreign(); err != nil {
			return foreign(file, err)
		}
		removed, err := file.Remove()
		if err != nil {
			return ioFailure("removing "+file.Path, err)
		}
		if removed {
			a.note("signed out: removed %s", file.Path)
		} else {
			a.note("nothing to do: %s does not exist", file.Path)
		}
		if a.getenv("VBOT_TOKEN") != "" {
			a.note("VBOT_TOKEN is set; you are still signed in")
		}
		return inv.report(a, logoutAnswer{removed, file.Path})
	}
}

func setupWhoami(inv *invocation) runFunc {
	var sc scope
	sc.orgFlag(inv)
	return func(ctx context.Context, a *app, inv *invocation, args []string) error {
		if err := noArguments(args, sc); err != nil {
			return err
		}
		c, err := signIn(a, sc)
		if err != nil {
			return err
		}
		if err := c.verify(ctx); err != nil {
			return err
		}
		if inv.json {
			return writeJSON(a.stdout, whoamiAnswer{orNull(c.Organization), c.Base.String(), c.tokenFrom})
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "Organization:\t%s\nAPI:\t%s\nToken source:\t%s\n",
			cmp.Or(c.Organization, "the API key's own"), printable(c.Base.String()), printable(c.tokenFrom))
		return w.Flush()
	}
}
