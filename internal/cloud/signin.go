package cloud

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Signing in: the command line, the environment and the login file become a client.

const howToSignIn = "run `vbot cloud login` or set VBOT_TOKEN"

// wrong returns the error for an option, a variable or a file. shown is what people call it.
func wrong(field, shown, message string) *Error {
	return &Error{code: InvalidConfig, field: field, shown: shown, Message: message}
}

// cause removes the operation and path of an fs.PathError.
func cause(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return err.Error()
}

// Open returns a client without a token. The API's address and the organization come from
// the environment; organization is that of the command line, nil if it was not given. The
// error joins all that is wrong.
func Open(w World, organization *string) (*Client, error) {
	var faults []error
	bad := func(variable, message string) { faults = append(faults, wrong(variable, variable, message)) }
	base, err := parseAddress(cmp.Or(w.Getenv("VBOT_API_URL"), Address))
	if err != nil {
		bad("VBOT_API_URL", err.Error())
	}
	if proxy := cmp.Or(w.Getenv("HTTPS_PROXY"), w.Getenv("https_proxy")); proxy != "" && !IsProxy(proxy) {
		bad("HTTPS_PROXY", "must be the address of a proxy, such as http://proxy.example.com:3128")
	}
	var roots *x509.CertPool
	if name := w.Getenv("VBOT_CA_FILE"); name != "" {
		name = w.Path(name)
		if roots, err = authorities(name); err != nil {
			bad("VBOT_CA_FILE", name+": "+cause(err))
		}
	}
	c := New(base, roots, w)
	if organization != nil {
		c.Organization = *organization
	} else if c.Organization = w.Getenv("VBOT_ORGANIZATION"); c.Organization != "" && !IsSegment(c.Organization) {
		bad("VBOT_ORGANIZATION", SegmentRule)
	}
	c.Keep(c.Organization)
	return c, errors.Join(faults...)
}

// LoginFile returns the file in which login stores the token.
func LoginFile(w World) (File, error) {
	if path := w.Getenv("VBOT_CONFIG"); path != "" {
		return File{w.Path(path)}, nil
	}
	path, err := defaultPath()
	if err != nil {
		return File{}, &Error{code: IO, Message: "cannot find your configuration directory: " + err.Error() + "; set VBOT_CONFIG to a file", err: err}
	}
	return File{path}, nil
}

// SignIn returns a client with a token and, if it is known, the organization. It sends no
// request. The error joins all that is wrong.
func SignIn(w World, organization *string) (*Client, error) {
	c, err := Open(w, organization)
	token, from := strings.TrimRight(w.Getenv("VBOT_TOKEN"), "\r\n"), "VBOT_TOKEN"
	// Read the file only if it is needed: it may be broken.
	if token == "" || c.Organization == "" {
		var stored Settings
		file, fileErr := LoginFile(w)
		if fileErr == nil {
			if stored, fileErr = file.Read(); fileErr != nil {
				err = errors.Join(err, wrong("config_file", file.Path, cause(fileErr)))
			}
		} else if token == "" && err == nil {
			return nil, fileErr
		}
		if err == nil && stored.Token != "" && stored.APIURL != c.Base.String() {
			// What is stored is for that address alone.
			if token == "" {
				return nil, &Error{code: Unauthorized, hint: howToSignIn,
					Message: fmt.Sprintf("the token in %s is for %s and is not sent to %s", file.Path, stored.APIURL, c.Base)}
			}
			stored = Settings{}
		}
		if token == "" {
			token, from = stored.Token, file.Path
		}
		c.Organization = cmp.Or(c.Organization, stored.Organization)
	}
	if token != "" && !IsToken(token) {
		err = errors.Join(err, wrong("token", "the token from "+from, TokenRule))
	}
	if err != nil {
		return nil, err
	}
	if token == "" {
		return nil, &Error{code: Unauthorized, Message: "not signed in", hint: howToSignIn}
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
	c.Hide(token)
}

// FindOrganization asks the API for the organization, unless it is known or implied by
// the token. pick chooses one of several; it is nil if nobody can be asked.
func (c *Client) FindOrganization(ctx context.Context, pick func(context.Context, []string) (string, error)) error {
	if c.Organization != "" || !c.Personal() {
		return nil
	}
	names, err := c.Organizations(ctx)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return &Error{code: NotFound, Message: "the token belongs to no organization"}
	case len(names) == 1:
		c.Organization = names[0]
		return nil
	case pick == nil:
		return &Error{code: Usage, field: "organization", shown: "--organization", allowed: names,
			Message: "the token belongs to several organizations; choose one here or in VBOT_ORGANIZATION"}
	}
	c.Organization, err = pick(ctx, names)
	return err
}

// Verify finds the organization, and checks with the API that the token is valid for it.
func (c *Client) Verify(ctx context.Context, pick func(context.Context, []string) (string, error)) error {
	err := c.FindOrganization(ctx, pick)
	switch {
	case err != nil || c.accepted:
	case !c.Personal():
		_, err = c.List(ctx, "")
	default:
		var names []string
		if names, err = c.Organizations(ctx); err == nil && !slices.Contains(names, c.Organization) {
			return &Error{code: NotFound, field: "organization", shown: "--organization", allowed: names,
				Message: "the token does not belong to " + c.Organization}
		}
	}
	if e := asError(err); e != nil && e.Doing != "" {
		e.Doing = "checking the token" // and not what was asked for that
	}
	return err
}
