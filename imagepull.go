package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vbot/internal/cloud"
)

const helpImagePull = `Store the credentials of a private image registry.

Usage: vbot cloud secrets image-pull-secret NAME HOST [USER:PASSWORD] [OPTIONS]

NAME is 1 to 63 letters and digits, with hyphens only between them. HOST is a
bare host or an https URL. An existing secret of that name is updated without
asking.

Without USER:PASSWORD, vbot asks for it in a hidden prompt or, if stdin is not a
terminal, reads the first line of stdin. Both keep the password out of the
shell's history and out of the process list, which every user of the machine can
read. So does --docker-config, which takes what "docker login" stored for HOST,
unless Docker left that to a credential helper.

Options:
      --docker-config FILE     read the credentials from a config.json of Docker
      --encode, --no-encode    encode USER:PASSWORD in base64 (default: yes);
                               otherwise send it unchanged
      --wait[=DURATION]        wait until it is ready, at most DURATION
                               (default: no; without DURATION: 2m)
  -r, --region REGION          region of a new secret; must be the region of the
                               agents that use it (default: the organization's)
  -o, --organization ORG       organization (default: the current one)
      --no-input               never ask
      --json                   print the result as JSON
  -h, --help                   print this help

Examples:
  vbot cloud secrets image-pull-secret hub ghcr.io
  vbot cloud secrets image-pull-secret hub ghcr.io < user-and-token.txt
  vbot cloud secrets image-pull-secret hub docker.io --docker-config config.json
`

type imagePullOptions struct {
	scope
	docker *string // file
	encode bool
	wait   time.Duration
}

// An imagePullResult is the JSON result of image-pull-secret.
type imagePullResult struct {
	Name    string `json:"name"`
	Region  orNull `json:"region"`
	Host    string `json:"host"`
	Created bool   `json:"created"`
	Status  orNull `json:"status"`
}

func setupImagePull(inv *invocation) runFunc {
	o := &imagePullOptions{encode: true}
	o.orgFlag(inv)
	o.regionFlag(inv)
	textFlag(inv.set, func(s string) { o.docker = &s }, "docker-config")
	boolFlag(inv.set, &o.encode, "encode")
	boolFlag(inv.set, &inv.noInput, "no-input")
	inv.set.Var(waitFlag{&o.wait}, "wait", "")
	return o.do
}

func (o *imagePullOptions) do(ctx context.Context, a *app, inv *invocation, args []string) error {
	name, host, login, err := o.read(ctx, a, args)
	if err != nil {
		return err
	}
	c, err := signIn(a, o.scope)
	if err != nil {
		return err
	}
	if login.Empty() {
		if login, err = o.ask(ctx, a, host); err != nil {
			return err
		}
	}
	value := login
	if o.encode {
		value = cloud.NewSecret(base64.StdEncoding.EncodeToString([]byte(login.Reveal())))
		_, password, _ := strings.Cut(login.Reveal(), ":")
		c.Hide(cloud.NewSecret(password))
	}
	c.Hide(login, value)
	if err := c.findOrganization(ctx); err != nil {
		return err
	}
	was, err := c.Find(ctx, name)
	if err != nil {
		return err
	}
	region := o.regionGiven()
	if was != nil {
		if was.Type != cloud.TypeImagePull {
			return &failure{Code: codeRejected, Message: fmt.Sprintf("a %s named %s already exists; nothing was written", kindWords(was.Kind()), name)}
		}
		if region != "" && was.Region != "" && region != was.Region {
			return wrongRegion(name, was.Region, region)
		}
		region = cmp.Or(region, was.Region)
	}
	now, err := c.StoreImagePull(ctx, name, region, host, value)
	if err != nil {
		return err
	}
	result := imagePullResult{name, orNull(cmp.Or(now, region)), host, was == nil, ""}
	a.note("stored image pull secret %s for %s in %s%s (%s)", name, host, c.orgLabel(), inRegion(string(result.Region)), newOrReplaced(was != nil, "updated"))
	if o.wait > 0 {
		status, err := c.waitReady(ctx, name, o.wait, func(ctx context.Context) (*cloud.Entry, error) { return c.Find(ctx, name) })
		if result.Status = orNull(status); err != nil {
			return withResult(err, result)
		}
	}
	return inv.report(a, result)
}

// read checks the command line. login is empty if it is still to be asked for.
func (o *imagePullOptions) read(ctx context.Context, a *app, args []string) (name, host string, login cloud.Secret, err error) {
	var ch checker
	named := ch.arguments(args, 2, "name", "host", "credentials")
	name = named[0]
	ch.newName(name)
	ch.wrong = append(ch.wrong, o.problems()...)
	if named[1] != "" {
		var ok bool
		if host, ok = registryURL(named[1]); !ok {
			ch.invalid("host", "HOST", "must be a bare host, or an http or https URL without user, query and fragment")
		}
	}
	switch {
	case len(args) > 2 && o.docker != nil:
		ch.missing("credentials", "CREDENTIALS", "are given twice: as an argument and with --docker-config")
	case len(args) > 2:
		login = cloud.NewSecret(named[2])
	case host == "":
		// Without a host there is nothing to ask for.
	case o.docker != nil:
		data, err := readReady(ctx, a, *o.docker, maxFile)
		if err == nil {
			login, err = dockerLogin(data, host)
		}
		if err != nil {
			ch.invalid("docker-config", "--docker-config", "%s: %v", *o.docker, err)
		}
	case canAsk(a):
		return name, host, cloud.Secret{}, ch.err(ctx)
	default:
		login, err = secretLine(ctx, a, "credentials", "")
		if f, ok := errors.AsType[*failure](err); ok && f.Code == codeUsage {
			ch.usage = append(ch.usage, f.Problems...)
		} else if err != nil {
			return "", "", cloud.Secret{}, err
		}
	}
	if !login.Empty() {
		ch.credentials(login, o.encode)
	}
	return name, host, login, ch.err(ctx)
}

// credentials checks the USER:PASSWORD argument.
func (ch *checker) credentials(login cloud.Secret, encode bool) {
	user, password, ok := strings.Cut(login.Reveal(), ":")
	switch {
	case !utf8.ValidString(login.Reveal()) || strings.ContainsFunc(login.Reveal(), unicode.IsControl):
		ch.invalid("credentials", "CREDENTIALS", "contain a control character or invalid UTF-8")
	case encode && (!ok || user == "" || password == ""):
		ch.invalid("credentials", "CREDENTIALS", "are not USER:PASSWORD; use --no-encode to send other text unchanged")
	}
}

// ask asks for the credentials, then for the password if only a user was entered.
func (o *imagePullOptions) ask(ctx context.Context, a *app, host string) (cloud.Secret, error) {
	question := "USER:PASSWORD for " + host + " (hidden):"
	if !o.encode {
		question = "Encoded credentials for " + host + " (hidden):"
	}
	login, err := hidden(ctx, a, question)
	if err != nil {
		return cloud.Secret{}, err
	}
	if o.encode && !login.Empty() && !strings.Contains(login.Reveal(), ":") {
		password, err := hidden(ctx, a, "Password for that user (hidden):")
		if err != nil {
			return cloud.Secret{}, err
		}
		login = cloud.NewSecret(login.Reveal() + ":" + password.Reveal())
	}
	var ch checker
	if login.Empty() {
		ch.missing("credentials", "CREDENTIALS", "missing")
	} else {
		ch.credentials(login, o.encode)
	}
	return login, ch.err(ctx)
}

// registryURL returns the URL of a registry; the default scheme is https.
func registryURL(s string) (string, bool) {
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	ok := err == nil && (u.Scheme == "https" || u.Scheme == "http") && isHost(u.Hostname()) &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(s, "#") &&
		!strings.ContainsFunc(s, unicode.IsSpace) && !strings.ContainsFunc(s, unicode.IsControl)
	return s, ok
}

// isHost reports whether s is a host name or an IP address.
func isHost(s string) bool {
	return cloud.IsName(s, 253, ".-") || s != "" && strings.Trim(s, "0123456789abcdefABCDEF:.") == ""
}

// dockerLogin returns the USER:PASSWORD that a config.json of Docker has for the
// registry. Its errors repeat nothing of the file.
func dockerLogin(data []byte, registry string) (cloud.Secret, error) {
	type entry struct{ Auth, Username, Password, IdentityToken string }
	var docker struct {
		Auths       map[string]entry
		CredsStore  string
		CredHelpers map[string]string
	}
	if json.Unmarshal(data, &docker) != nil {
		return cloud.Secret{}, errors.New("not a config.json of Docker")
	}
	// Of several entries for the host, the one with the same path counts, or the first.
	var found entry
	for _, same := range []func(string) string{dockerHost, bareURL} {
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(docker.Auths))) {
			if same(key) == same(registry) {
				found = docker.Auths[key]
			}
		}
	}
	helper := docker.CredsStore != ""
	for key := range docker.CredHelpers {
		helper = helper || dockerHost(key) == dockerHost(registry)
	}
	login := found.Username + ":" + found.Password
	if found.Auth != "" {
		decoded, err := base64.StdEncoding.DecodeString(found.Auth)
		if err != nil {
			return cloud.Secret{}, errors.New("the auth of " + dockerHost(registry) + " is not base64")
		}
		login = string(decoded)
	}
	user, password, _ := strings.Cut(login, ":")
	switch {
	case user != "" && password != "":
		return cloud.NewSecret(login), nil
	case found.IdentityToken != "":
		return cloud.Secret{}, errors.New("only an identity token for " + dockerHost(registry) + ", which is not a password; create an access token at the registry")
	case helper:
		return cloud.Secret{}, errors.New("the credentials for " + dockerHost(registry) + " are in a credential helper, which vbot does not run; pass them on stdin")
	}
	return cloud.Secret{}, errors.New("no credentials for " + dockerHost(registry))
}

// bareURL returns a registry without its scheme and a slash at the end.
func bareURL(registry string) string {
	_, bare, ok := strings.Cut(registry, "://")
	if !ok {
		bare = registry
	}
	return strings.ToLower(strings.TrimSuffix(bare, "/"))
}

// dockerHost returns the host of a registry. Docker Hub has several.
func dockerHost(registry string) string {
	host, _, _ := strings.Cut(bareURL(registry), "/")
	if host == "docker.io" || host == "registry-1.docker.io" {
		return "index.docker.io"
	}
	return host
}
