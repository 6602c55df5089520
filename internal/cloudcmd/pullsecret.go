package cloudcmd

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// PullSecret is `vbot cloud secrets image-pull-secret`: it stores the credentials of an image registry,
// replacing those of the same name.
type PullSecret struct {
	Name        string
	Region      string // "" for the API's choice
	Host        string // the registry's URL; see RegistryURL
	Credentials secret.Value
	Encode      bool          // the credentials are USER:PASSWORD, to be encoded in base64
	Wait        time.Duration // how long to wait until the secret is ready; 0 for not at all
	DryRun      bool          // store nothing
}

// A PullSecretResult is the JSON of image-pull-secret.
type PullSecretResult struct {
	Name string `json:"name" about:"name of the secret"`
	Place
	Host    string        `json:"host" about:"URL of the registry"`
	Created bool          `json:"created" about:"it is new, or would be"`
	Status  report.OrNull `json:"status" about:"its last status, with --wait"`
	Result  string        `json:"result" enum:"planned,stored" about:"planned with --dry-run"`

	isPrinted bool // what was stored was printed before the wait
}

// Run returns a *PullSecretResult. If only the wait fails, it returns the result with the error.
func (p *PullSecret) Run(ctx context.Context, api *cloud.Client) (report.Result, error) {
	existing, err := p.existing(ctx, api)
	if err != nil {
		return nil, err
	}
	out := &PullSecretResult{Name: p.Name, Host: p.Host, Created: existing == nil, Result: resultPlanned}
	region := p.Region
	if existing != nil {
		region = cmp.Or(region, existing.Region)
	}
	out.Place = placeIn(api, region)
	if p.DryRun {
		return out, nil
	}
	value := p.Credentials
	if p.Encode {
		value = secret.New(base64.StdEncoding.EncodeToString([]byte(value.Reveal())))
	}
	ref := cloud.Ref{Name: p.Name, Type: cloud.TypeImagePull, Region: p.Region}
	storedIn, err := api.StoreImagePull(ctx, ref, p.Host, value)
	if err != nil {
		return nil, err
	}
	out.Region, out.Result = report.OrNull(cmp.Or(storedIn, region)), resultStored
	if p.Wait > 0 {
		out.isPrinted = true
		out.Status, err = waitReady(ctx, api, ref, p.Wait, out.describe("stored"))
	}
	return out, err
}

// existing returns the image pull secret of that name, or nil. It fails if the credentials cannot be stored
// under the name, or in the region.
func (p *PullSecret) existing(ctx context.Context, api *cloud.Client) (*cloud.Entry, error) {
	existing, err := api.Find(ctx, p.Name)
	switch {
	case err != nil:
		return nil, err
	case existing == nil:
		return nil, checkRegionExists(ctx, api, p.Region)
	case existing.Type != cloud.TypeImagePull:
		return nil, nameTaken(api, *existing)
	case existing.Source == cloud.SourceReferenced:
		return nil, referencedError(api, p.Name)
	}
	return existing, checkRegion(api, p.Name, p.Region, existing.Region)
}

// describe says what was done, or would be. verb is "stored" or "would store".
func (p *PullSecretResult) describe(verb string) string {
	effect := "updated"
	if p.Created {
		effect = "new"
	}
	return fmt.Sprintf("%s image pull secret %s for %s in %s (%s)", verb, p.Name, p.Host, p.label(), effect)
}

// Text prints the plan of a dry run, or says what was stored.
func (p *PullSecretResult) Text(out *report.Printer) {
	switch {
	case p.Result == resultPlanned:
		out.Print(report.Printable(p.describe("would store")) + "\n")
	case !p.isPrinted:
		out.Note("%s", p.describe("stored"))
	}
}

// CheckCredentials checks the credentials of a registry. With encode, they must be USER:PASSWORD. The
// password may have several lines, because Google's registries accept a key file as the password.
func CheckCredentials(credentials secret.Value, encode bool) error {
	text := credentials.Reveal()
	user, password, hasColon := strings.Cut(text, ":")
	isControl := func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune("\t\r\n", c) }
	isUnprintable := !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) ||
		encode && strings.ContainsFunc(user, unicode.IsControl)
	switch {
	case encode && isObject(text):
		return jsonCredentialsError(text)
	case isUnprintable:
		return errors.New("has control characters or invalid UTF-8")
	case encode && !hasColon:
		return errors.New("has no colon, but must be USER:PASSWORD; " +
			"use --no-encode to send other text unchanged")
	case encode && (user == "" || password == ""):
		return errors.New("must be USER:PASSWORD, and neither may be empty")
	}
	return nil
}

// isObject reports whether a text is a JSON object. No USER:PASSWORD is one.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}

// jsonCredentialsError says what to pass instead of a JSON object. Docker's config.json has the credentials
// of all registries, and a key file of Google lacks the user.
func jsonCredentialsError(text string) error {
	var config struct {
		Auths, CredHelpers map[string]any
		CredsStore         string
	}
	err := json.Unmarshal([]byte(text), &config)
	if err == nil && (config.Auths != nil || config.CredHelpers != nil || config.CredsStore != "") {
		return errors.New("is Docker's config.json; pass the login of one registry, unless a credential " +
			"helper has it: " + `jq -r '.auths["HOST"].auth | @base64d' ~/.docker/config.json`)
	}
	return errors.New("is JSON, but must be USER:PASSWORD; put _json_key: before a key file of Google")
}

// dockerHub is the address under which Docker stores the credentials of Docker Hub.
const dockerHub = "https://index.docker.io/v1/"

// HostWarning returns a warning about a HOST that is probably a web page of Docker Hub or the name of an
// image, and not a registry; "" for any other.
func HostWarning(typed string) string {
	u, err := url.Parse(RegistryURL(typed))
	if err != nil {
		return "" // CheckHost reports it
	}
	host, path := u.Host, strings.Trim(u.Path, "/")
	isHub := slices.Contains([]string{"docker.io", "hub.docker.com", "registry-1.docker.io"}, host) ||
		host == "index.docker.io" && path != "v1"
	isOnHub := path != "" && !strings.ContainsAny(host, ".:") && host != "localhost"
	isImage := strings.ContainsAny(path, ":@") // otherwise it may be a path of the registry
	switch {
	case isHub, isOnHub:
		return "check HOST: the registry of Docker Hub is " + dockerHub + "; vbot stores " + typed
	case isImage:
		return "check HOST: " + typed + " names an image; its registry is " + host
	}
	return ""
}

// CheckHost checks the address of a registry as it was typed.
func CheckHost(typed string) error {
	s := RegistryURL(typed)
	u, err := url.Parse(s)
	if err == nil {
		isHTTP := u.Scheme == "https" || u.Scheme == "http"
		hasExtraParts := u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#")
		hasBlank := strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsFunc(s, unicode.IsControl)
		if isHTTP && isHost(u.Hostname()) && !hasExtraParts && !hasBlank {
			return nil
		}
	}
	return errors.New("must be a bare host, or an http or https URL without user, query and fragment")
}

// RegistryURL returns the URL of a registry. The default scheme is https.
func RegistryURL(s string) string {
	if strings.Contains(s, "://") {
		return s
	}
	return "https://" + s
}

// isHost reports whether s is a host name or an IP address.
func isHost(s string) bool {
	return secret.IsName(s, 253, ".-") || s != "" && strings.Trim(s, "0123456789abcdefABCDEF:.") == ""
}
