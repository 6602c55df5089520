package cloud

import (
	"cmp"
	"context"
	"crypto/x509"
	"slices"
	"strings"

	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/system"
)

const howToSignIn = "run `vbot cloud login` or set VBOT_TOKEN"

// Open returns a client without a token, for the API's address in the environment. Use it only if there are
// no problems. organization is that of the command line; if it is "", the environment may have one.
func Open(s system.System, organization string) (c *Client, problems report.Problems) {
	base, err := parseAddress(cmp.Or(s.Getenv("VBOT_API_URL"), Address))
	if err != nil {
		problems.Add("VBOT_API_URL", "VBOT_API_URL", "%v", err)
	}
	proxy := cmp.Or(s.Getenv("HTTPS_PROXY"), s.Getenv("https_proxy"))
	if proxy != "" && !IsProxy(proxy) {
		problems.Add("HTTPS_PROXY", "HTTPS_PROXY",
			"must be the address of a proxy, such as http://proxy.example.com:3128; "+
				"percent-encode special characters of its user and password")
	}
	var roots *x509.CertPool
	name := s.Getenv("VBOT_CA_FILE")
	if err := report.CheckFileName(name); err != nil {
		problems.Add("VBOT_CA_FILE", "VBOT_CA_FILE", "%v", err)
	} else if name != "" {
		name = s.Path(name)
		if roots, err = authorities(name); err != nil {
			problems.Add("VBOT_CA_FILE", "VBOT_CA_FILE", "%s: %v", name, report.Cause(err))
		}
	}
	c = New(base, roots, s)
	c.Organization = organization
	if env := s.Getenv("VBOT_ORGANIZATION"); organization == "" && env != "" {
		c.Organization, c.organizationFrom = env, "VBOT_ORGANIZATION"
		if err := CheckSegment(env); err != nil {
			err = cmp.Or(checkPasted(env), err)
			problems.Add("VBOT_ORGANIZATION", "VBOT_ORGANIZATION", "%v", err)
		}
	}
	return c, problems
}

// SignIn returns a client with the token of the environment or of the token file, and with the organization
// if that is known. It sends no request. The error lists all problems.
func SignIn(s system.System, organization string) (*Client, error) {
	c, problems := Open(s, organization)
	token := strings.TrimRight(s.Getenv("VBOT_TOKEN"), "\r\n")
	source, field, hint := "VBOT_TOKEN", "VBOT_TOKEN", howToSignIn
	// Read the file only if it is needed, because it may be broken.
	if token == "" || c.Organization == "" {
		file, stored, err := c.readTokenFile(token != "", &problems)
		if err != nil {
			return nil, err
		}
		if token == "" {
			token = stored.Token
			source, field = file.Path, "config_file"
		}
		if file.Path == "" { // login could not store a token
			hint = "set VBOT_TOKEN"
		}
		if c.Organization == "" && stored.Organization != "" {
			c.Organization, c.organizationFrom = stored.Organization, file.Path
		}
	}
	if err := CheckToken(token); token != "" && err != nil {
		problems.Add(field, "the token from "+source, "%v", err)
	}
	switch {
	case len(problems) > 0:
		return nil, problems.Err()
	case token == "":
		return nil, &report.Failure{Code: report.Unauthorized, Message: "not signed in", Hint: hint}
	}
	c.Use(secret.New(token), source)
	return c, nil
}

// readTokenFile reads the token file. With hasToken, only the organization is needed from it; then neither a
// broken file nor a token for another address is a problem.
func (c *Client) readTokenFile(hasToken bool, problems *report.Problems) (TokenFile, StoredToken, error) {
	file, err := FindTokenFile(c.System)
	switch {
	case report.HasCode(err, report.InvalidConfig) && !hasToken:
		*problems = append(*problems, report.As(err).Problems...)
		return file, StoredToken{}, nil
	case err != nil:
		return file, StoredToken{}, nil // nobody has signed in
	}
	stored, err := file.Read()
	switch {
	case err != nil && hasToken:
		const ignored = "ignoring %s, as the token is in VBOT_TOKEN: %v"
		c.Warn("config_file", "", ignored, file.Path, report.Cause(err))
	case err != nil:
		problems.Add("config_file", file.Path, "%v", report.Cause(err))
	}
	isForOtherAPI := len(*problems) == 0 && stored.Token != "" && stored.APIURL != c.Base.String()
	switch {
	case isForOtherAPI && hasToken:
		return file, StoredToken{}, nil
	case isForOtherAPI:
		const notSent = "the token in %s is for %s and is not sent to %s"
		f := report.Errorf(report.Unauthorized, notSent, file.Path, stored.APIURL, c.Base)
		f.Hint = howToSignIn
		return file, StoredToken{}, f
	}
	return file, stored, nil
}

// tokenWithSource returns "the token from FILE", or "the token" if the source is not known.
func (c *Client) tokenWithSource() string {
	if c.TokenFrom == "" {
		return "the token"
	}
	return "the token from " + c.TokenFrom
}

// otherToken returns the hint for a token that the API rejects.
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
func (c *Client) Use(token secret.Value, from string) {
	c.token = token
	c.TokenFrom = from
	c.protect(token)
}

// A Choose chooses one of several organizations. It is nil if vbot cannot ask.
type Choose func(ctx context.Context, names []string) (string, error)

// FindOrganization asks the API for the organization, unless it is known or implied by the token.
func (c *Client) FindOrganization(ctx context.Context, choose Choose) error {
	return c.findOrganization(ctx, "listing your organizations", choose)
}

// findOrganization is FindOrganization with the action of its request.
func (c *Client) findOrganization(ctx context.Context, action string, choose Choose) error {
	if c.Organization != "" || !c.isPersonal() {
		return nil
	}
	names, err := c.organizations(ctx, action)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return report.About("organization", c.Errorf(report.NotFound, "the token belongs to no organization"))
	case len(names) == 1:
		c.Organization = names[0]
		return nil
	case choose == nil:
		const several = "the token belongs to several organizations; choose one here or in VBOT_ORGANIZATION"
		return c.noOrganization(report.Usage, names, several)
	}
	c.Organization, err = choose(ctx, names)
	return err
}

// noOrganization returns a failure that lists the allowed names of the organization.
func (c *Client) noOrganization(code string, names []string, message string) error {
	field := "config_file"
	switch c.organizationFrom {
	case "--organization":
		field = "organization"
	case "VBOT_ORGANIZATION":
		field = c.organizationFrom
	}
	var problems report.Problems
	problems.Add(field, c.organizationFrom, "%s", message).Allowed = names
	return &report.Failure{Code: code, Problems: problems, HTTPStatus: c.status}
}

// Verify finds the organization, and checks with the API that the token is valid for it.
func (c *Client) Verify(ctx context.Context, choose Choose) error {
	const action = "checking the token"
	err := c.findOrganization(ctx, action, choose)
	switch {
	case err != nil || c.tokenGood:
	case !c.isPersonal():
		_, err = c.list(ctx, action, "")
	default:
		var names []string
		names, err = c.organizations(ctx, action)
		if err == nil && !slices.Contains(names, c.Organization) {
			err = c.noOrganization(report.NotFound, names, "the token does not belong to "+c.Organization)
		}
	}
	return err
}
