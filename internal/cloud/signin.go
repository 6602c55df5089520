package cloud

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/report"
)

// Signing in: the command line, the environment and the login file become a client.

const howToSignIn = "run `vbot cloud login` or set VBOT_TOKEN"

// Open returns a client without a token, to use only if there are no problems. The API's
// address and the organization come from the environment; organization is that of the command
// line, "" if it was not given.
func Open(d Deps, organization string) (c *Client, problems []report.Problem) {
	invalid := func(variable, message string) {
		problems = append(problems, report.Problem{Field: variable, Where: variable, Message: message})
	}
	base, err := parseAddress(cmp.Or(d.Getenv("VBOT_API_URL"), Address))
	if err != nil {
		invalid("VBOT_API_URL", err.Error())
	}
	if proxy := cmp.Or(d.Getenv("HTTPS_PROXY"), d.Getenv("https_proxy")); proxy != "" && !IsProxy(proxy) {
		invalid("HTTPS_PROXY", "must be the address of a proxy, such as http://proxy.example.com:3128")
	}
	var roots *x509.CertPool
	if name := d.Getenv("VBOT_CA_FILE"); name != "" {
		name = d.Path(name)
		if roots, err = authorities(name); err != nil {
			invalid("VBOT_CA_FILE", fmt.Sprintf("%s: %v", name, report.Cause(err)))
		}
	}
	c = New(base, roots, d)
	if organization != "" {
		c.Organization = organization
	} else if c.Organization = d.Getenv("VBOT_ORGANIZATION"); c.Organization != "" && !IsSegment(c.Organization) {
		invalid("VBOT_ORGANIZATION", cmp.Or(pasted(c.Organization), SegmentRule))
	}
	return c, problems
}

// SignIn returns a client with a token and, if it is known, the organization. It sends no
// request. The error has all that is wrong.
func SignIn(d Deps, organization string) (*Client, error) {
	c, problems := Open(d, organization)
	token, from := strings.TrimRight(d.Getenv("VBOT_TOKEN"), "\r\n"), "VBOT_TOKEN"
	// Read the file only if it is needed: it may be broken.
	if token == "" || c.Organization == "" {
		var stored Login
		file, err := FindLoginFile(d)
		if err == nil {
			stored, err = file.Read()
			if err != nil && token != "" {
				d.Note(fmt.Sprintf("ignoring %s, as the token is in VBOT_TOKEN: %v", file.Path, report.Cause(err)))
			} else if err != nil {
				problems = append(problems, report.Problem{Field: "config_file", Where: file.Path, Message: report.Cause(err).Error()})
			}
		} else if token == "" && len(problems) == 0 {
			return nil, err
		}
		if len(problems) == 0 && stored.Token != "" && stored.APIURL != c.Base.String() {
			// What is stored is for that address alone.
			if token == "" {
				return nil, &report.Failure{
					Code: report.Unauthorized, Hint: howToSignIn,
					Message: fmt.Sprintf("the token in %s is for %s and is not sent to %s", file.Path, stored.APIURL, c.Base),
				}
			}
			stored = Login{}
		}
		if token == "" {
			token, from = stored.Token, file.Path
		}
		c.Organization = cmp.Or(c.Organization, stored.Organization)
	}
	if fault := TokenFault(token); token != "" && fault != "" {
		problems = append(problems, report.Problem{Field: "token", Where: "the token from " + from, Message: fault})
	}
	switch {
	case len(problems) > 0:
		return nil, &report.Failure{Code: report.InvalidConfig, Problems: problems}
	case token == "":
		return nil, &report.Failure{Code: report.Unauthorized, Message: "not signed in", Hint: howToSignIn}
	}
	c.Use(NewSecret(token), from)
	return c, nil
}

// otherToken says what to do about a token that the API rejects.
func (c *Client) otherToken() string {
	switch c.TokenFrom {
	case "":
		return "copy the token again, or create a new one in the dashboard of Pipecat Cloud"
	case "VBOT_TOKEN":
		return "correct VBOT_TOKEN, or unset it to use the token that `vbot cloud login` stores"
	}
	return "run `vbot cloud login` with a new token"
}

// Use sets the token. from is its source, for messages: a variable, a file, or "".
func (c *Client) Use(token Secret, from string) {
	c.token, c.TokenFrom = token, from
	c.carry(token)
}

// FindOrganization asks the API for the organization, unless it is known or implied by
// the token. pick chooses one of several; it is nil if nobody can be asked.
func (c *Client) FindOrganization(ctx context.Context, pick func(context.Context, []string) (string, error)) error {
	if c.Organization != "" || !c.personal() {
		return nil
	}
	names, err := c.organizations(ctx)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return report.Errorf(report.NotFound, "the token belongs to no organization")
	case len(names) == 1:
		c.Organization = names[0]
		return nil
	case pick == nil:
		return noOrganization(report.Usage, names, "the token belongs to several organizations; choose one here or in VBOT_ORGANIZATION")
	}
	c.Organization, err = pick(ctx, names)
	return err
}

// noOrganization is the failure of a choice, or of none, among these.
func noOrganization(code string, names []string, message string) error {
	return &report.Failure{Code: code, Problems: []report.Problem{{Field: "organization", Where: "--organization", Message: message, Allowed: names}}}
}

// Verify finds the organization, and checks with the API that the token is valid for it.
func (c *Client) Verify(ctx context.Context, pick func(context.Context, []string) (string, error)) error {
	c.doing = "checking the token"
	err := c.FindOrganization(ctx, pick)
	switch {
	case err != nil || c.accepted:
	case !c.personal():
		_, err = c.List(ctx, "")
	default:
		var names []string
		if names, err = c.organizations(ctx); err == nil && !slices.Contains(names, c.Organization) {
			err = noOrganization(report.NotFound, names, "the token does not belong to "+c.Organization)
		}
	}
	return err
}
