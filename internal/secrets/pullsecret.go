package secrets

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
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

// StorePullSecret is `vbot cloud secrets image-pull-secret`: it stores the credentials of an image registry,
// replacing those of the same name.
type StorePullSecret struct {
	Name   string
	Region string // "" for the API's choice
	Host   string // the registry's URL; see RegistryURL
	Login  secret.Value
	Encode bool          // the login is USER:PASSWORD, to be encoded in base64
	Wait   time.Duration // how long to wait until the secret is ready; 0 for not at all
	DryRun bool          // store nothing
}

// A PullSecret is the JSON of image-pull-secret.
type PullSecret struct {
	Name string `json:"name" about:"name of the secret"`
	Place
	Host    string        `json:"host" about:"URL of the registry"`
	Created bool          `json:"created" about:"it is new, or would be"`
	Status  report.OrNull `json:"status" about:"its last status, with --wait"`
	Result  string        `json:"result" enum:"planned,stored" about:"planned with --dry-run"`

	message string // "" if it was printed before the wait
}

// Text says what was stored, or would be.
func (s *PullSecret) Text(out *report.Printer) { printDone(out, s.Result == planned, s.message) }

// Run stores the secret, and waits for it. If only the wait fails, the result is returned, too.
func (r StorePullSecret) Run(ctx context.Context, api *cloud.Client) (*PullSecret, error) {
	value := r.Login
	if r.Encode {
		value = secret.New(base64.StdEncoding.EncodeToString([]byte(value.Reveal())))
	}
	existing, err := api.Find(ctx, r.Name)
	region := r.Region
	switch {
	case err != nil:
	case existing == nil:
		err = refuseUnknownRegion(ctx, api, r.Region)
	case existing.Type != cloud.TypeImagePull:
		err = nameTaken(api, *existing)
	default:
		err = refuseOtherRegion(api, r.Name, r.Region, existing.Region)
		region = cmp.Or(region, existing.Region)
	}
	if err != nil {
		return nil, err
	}
	effect := "new"
	if existing != nil {
		effect = "updated"
	}
	out := &PullSecret{
		Name:    r.Name,
		Place:   placeIn(api, region),
		Host:    r.Host,
		Created: existing == nil,
		Result:  planned,
	}
	describe := func(verb string) string {
		const secret = "%s image pull secret %s for %s in %s (%s)"
		return fmt.Sprintf(secret, verb, r.Name, r.Host, location(api, string(out.Region)), effect)
	}
	if r.DryRun {
		out.message = describe("would store")
		return out, nil
	}
	ref := cloud.Ref{Name: r.Name, Type: cloud.TypeImagePull, Region: r.Region}
	storedIn, err := api.StoreImagePull(ctx, ref, r.Host, value)
	if err != nil {
		return nil, err
	}
	out.Region, out.Result = report.OrNull(cmp.Or(storedIn, region)), "stored"
	message := describe("stored")
	if r.Wait == 0 {
		out.message = message
		return out, nil
	}
	out.Status, err = waitReady(ctx, api, ref, r.Wait, message)
	return out, err
}

// LoginFault returns what is wrong with the credentials of a registry, or "". With encode, they must be
// USER:PASSWORD. The password may have several lines, because Google's registries accept a key file as the
// password.
func LoginFault(login secret.Value, encode bool) string {
	text := login.Reveal()
	user, password, hasColon := strings.Cut(text, ":")
	isControl := func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune("\t\r\n", c) }
	isOdd := !utf8.ValidString(text) || strings.ContainsFunc(text, isControl)
	isOddUser := encode && strings.ContainsFunc(user, unicode.IsControl)
	isComplete := hasColon && user != "" && password != ""
	switch {
	case encode && isObject(text):
		return jsonLoginFault(text)
	case isOdd || isOddUser:
		return "has control characters or invalid UTF-8"
	case encode && !hasColon:
		return "has no colon, but must be USER:PASSWORD; use --no-encode to send other text unchanged"
	case encode && !isComplete:
		return "must be USER:PASSWORD, and neither may be empty"
	}
	return ""
}

// isObject reports whether a text is a JSON object. No USER:PASSWORD is one.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}

// jsonLoginFault says what to pass instead of a JSON object. Docker's config.json has the logins of all
// registries, and a key file of Google lacks the user.
func jsonLoginFault(text string) string {
	var config struct {
		Auths, CredHelpers map[string]any
		CredsStore         string
	}
	err := json.Unmarshal([]byte(text), &config)
	if err == nil && (config.Auths != nil || config.CredHelpers != nil || config.CredsStore != "") {
		return "is Docker's config.json; pass the login of one registry, unless a credential helper " +
			"has it: " + `jq -r '.auths["HOST"].auth | @base64d' ~/.docker/config.json`
	}
	return "is JSON, but must be USER:PASSWORD; put _json_key: before a key file of Google"
}

// dockerHub is the address under which Docker keeps the login of Docker Hub.
const dockerHub = "https://index.docker.io/v1/"

// HostNote returns a note about the HOST that was typed if it is probably not a registry but a web page of
// Docker Hub or the name of an image, otherwise "".
func HostNote(typed string) string {
	u, err := url.Parse(RegistryURL(typed))
	if err != nil {
		return "" // RegistryFault refuses it
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

// RegistryFault returns what is wrong with the address of a registry as it was typed, or "".
func RegistryFault(typed string) string {
	s := RegistryURL(typed)
	u, err := url.Parse(s)
	if err == nil {
		isWeb := u.Scheme == "https" || u.Scheme == "http"
		hasMore := u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#")
		isOdd := strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsFunc(s, unicode.IsControl)
		if isWeb && isHost(u.Hostname()) && !hasMore && !isOdd {
			return ""
		}
	}
	return "must be a bare host, or an http or https URL without user, query and fragment"
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
