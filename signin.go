package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
)

// Signing in, for every `vbot cloud` command: flags, environment and the login file
// become a client of the API.

// A scope holds --organization and --region; nil means not given.
type scope struct {
	org    *string
	region *string
}

func (sc *scope) orgFlag(inv *invocation) {
	textFlag(inv.set, func(s string) { sc.org = &s }, "organization", "o")
}

func (sc *scope) regionFlag(inv *invocation) {
	textFlag(inv.set, func(s string) { sc.region = &s }, "region", "r")
}

// problems checks both flags.
func (sc *scope) problems() (problems []problem) {
	check := func(field string, said *string) {
		if said != nil && !cloud.IsSegment(*said) {
			problems = append(problems, problem{Field: field, where: "--" + field, Message: cloud.SegmentRule})
		}
	}
	check("organization", sc.org)
	check("region", sc.region)
	return problems
}

// regionGiven returns the requested region, or "".
func (sc *scope) regionGiven() string { return deref(sc.region) }

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// A session is a client with a token.
type session struct {
	*cloud.Client
	app       *app
	tokenFrom string // "VBOT_TOKEN" or the path of the login file
	// pick chooses one of several organizations; nil if vbot cannot ask.
	pick func(ctx context.Context, a *app, names []string) (string, error)
}

// newSession returns a session without a token. The API address and organization
// come from the command line or the environment.
func newSession(a *app, sc scope) (*session, []problem) {
	var problems []problem
	wrong := func(name, message string) {
		problems = append(problems, problem{Field: name, where: name, Message: message})
	}
	base, err := cloud.ParseAddress(cmp.Or(a.getenv("VBOT_API_URL"), cloud.Address))
	if err != nil {
		wrong("VBOT_API_URL", err.Error())
	}
	if proxy := cmp.Or(a.getenv("HTTPS_PROXY"), a.getenv("https_proxy")); proxy != "" && !cloud.IsProxy(proxy) {
		wrong("HTTPS_PROXY", "is not the address of a proxy, such as http://proxy.example.com:3128")
	}
	var roots *x509.CertPool
	if name := a.getenv("VBOT_CA_FILE"); name != "" {
		name = absolute(a.dir, name)
		if roots, err = cloud.Authorities(name); err != nil {
			wrong("VBOT_CA_FILE", name+": "+rootCause(err).Error())
		}
	}
	org := a.getenv("VBOT_ORGANIZATION")
	if sc.org == nil && org != "" && !cloud.IsSegment(org) {
		wrong("VBOT_ORGANIZATION", cloud.SegmentRule)
	}
	c := cloud.New(base, roots, cloud.World{
		UserAgent: "vbot/" + version, Now: a.now, Pause: a.pause, Random: a.random,
		Note: func(s string) { a.note("%s", s) }, Printable: printable,
	})
	c.Organization = cmp.Or(deref(sc.org), org)
	c.Keep(c.Organization, sc.regionGiven())
	return &session{Client: c, app: a}, problems
}

// loginFile returns the file in which login stores the token.
func loginFile(a *app) (cloud.File, error) {
	file := cloud.File{Note: func(s string) { a.note("%s", s) }}
	if path := a.getenv("VBOT_CONFIG"); path != "" {
		file.Path = absolute(a.dir, path)
		return file, nil
	}
	path, err := cloud.DefaultPath()
	if err != nil {
		return file, &failure{Code: codeIO, Message: "cannot find your configuration directory: " + err.Error() + "; set VBOT_CONFIG to a file", err: err}
	}
	file.Path, file.Own = path, true
	return file, nil
}

// signIn returns a session with a token and, if known, the organization. It sends
// no request.
func signIn(a *app, sc scope) (*session, error) {
	c, problems := newSession(a, sc)
	token, from := strings.TrimRight(a.getenv("VBOT_TOKEN"), "\r\n"), "VBOT_TOKEN"
	// Read the file only if it is needed: it may be broken.
	if token == "" || c.Organization == "" {
		var stored cloud.Settings
		file, err := loginFile(a)
		if err == nil {
			if stored, err = file.Read(); err != nil {
				problems = append(problems, problem{Field: "config_file", where: file.Path, Message: rootCause(err).Error()})
			}
		}
		if len(problems) == 0 && stored.Token != "" && stored.APIURL != c.Base.String() {
			// What is stored is for that address alone.
			if token == "" {
				return nil, &failure{Code: codeUnauthorized, hint: howToSignIn,
					Message: fmt.Sprintf("the token in %s is for %s and is not sent to %s", file.Path, stored.APIURL, c.Base)}
			}
			stored = cloud.Settings{}
		}
		if token == "" {
			token, from = stored.Token, file.Path
		}
		c.Organization = cmp.Or(c.Organization, stored.Organization)
	}
	if token != "" && !cloud.IsToken(token) {
		problems = append(problems, problem{Field: "token", where: "the token from " + from, Message: cloud.TokenRule})
	}
	if len(problems) > 0 {
		return nil, &failure{Code: codeInvalidConfig, Problems: problems}
	}
	if token == "" {
		return nil, &failure{Code: codeUnauthorized, Message: "not signed in", hint: howToSignIn}
	}
	c.use(cloud.NewSecret(token), from)
	return c, nil
}

const howToSignIn = "run `vbot cloud login` or set VBOT_TOKEN"

// use sets the token; from is its source, or "".
func (c *session) use(token cloud.Secret, from string) {
	c.tokenFrom = from
	if from != "" {
		from = " from " + from
	}
	c.Use(token, "the token"+from+" is not valid", howToSignIn)
}

// findOrganization asks the API for the organization, unless it is known or implied
// by the token.
func (c *session) findOrganization(ctx context.Context) error {
	if c.Organization != "" || !c.Personal() {
		return nil
	}
	names, err := c.Organizations(ctx)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return &failure{Code: codeNotFound, Message: "the token belongs to no organization"}
	case len(names) == 1:
		c.Organization = names[0]
		return nil
	case c.pick == nil:
		return &failure{Code: codeUsage, Problems: []problem{{Field: "organization", where: "--organization",
			Message: "the token belongs to several organizations; choose one here or in VBOT_ORGANIZATION", Allowed: names}}}
	}
	c.Organization, err = c.pick(ctx, c.app, names)
	return err
}

// verify finds the organization and checks with the API that the token is valid for
// it.
func (c *session) verify(ctx context.Context) error {
	err := c.tryToken(ctx)
	if e := cloud.AsError(err); e != nil {
		e.Doing = "checking the token" // and not what was asked for that
	}
	return err
}

func (c *session) tryToken(ctx context.Context) error {
	if err := c.findOrganization(ctx); err != nil || c.Accepted {
		return err
	}
	if !c.Personal() {
		_, err := c.List(ctx, "")
		return err
	}
	names, err := c.Organizations(ctx)
	if err == nil && !slices.Contains(names, c.Organization) {
		err = &failure{Code: codeNotFound, Problems: []problem{{Field: "organization", where: "--organization",
			Message: fmt.Sprintf("the token does not belong to %s", c.Organization), Allowed: names}}}
	}
	return err
}

// orgLabel returns the organization as shown to people.
func (c *session) orgLabel() string {
	if c.Organization == "" {
		return "the API key's organization"
	}
	return "organization " + c.Organization
}
