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
)

// A PullSecretRequest asks to store the credentials of an image registry.
type PullSecretRequest struct {
	Name   string
	Region string // "" is the API's choice
	Host   string // of the registry, a URL; see RegistryURL
	Login  cloud.Secret
	Encode bool          // the login is USER:PASSWORD, to be encoded in base64
	Wait   time.Duration // how long to wait until the secret is ready; 0 is not at all
}

// A PullSecret is the JSON of image-pull-secret.
type PullSecret struct {
	Name    string        `json:"name"`
	Region  report.OrNull `json:"region"`
	Host    string        `json:"host"`
	Created bool          `json:"created"`
	Status  report.OrNull `json:"status"`

	message string // "" if it was printed before the wait
}

// Text says what was stored.
func (s *PullSecret) Text(out *report.Printer) {
	if s.message != "" {
		out.Note("%s", s.message)
	}
}

// StorePullSecret stores an image pull secret, replacing one of the same name.
func StorePullSecret(ctx context.Context, api *cloud.Client, r PullSecretRequest) (*PullSecret, error) {
	value := r.Login
	if r.Encode {
		value = cloud.NewSecret(base64.StdEncoding.EncodeToString([]byte(value.Reveal())))
	}
	existing, err := api.Find(ctx, r.Name)
	region := r.Region
	switch {
	case err != nil:
	case existing == nil:
		err = unknownRegion(ctx, api, r.Region)
	case existing.Type != cloud.TypeImagePull:
		const exists = "a %s named %s already exists; nothing was written"
		err = report.Errorf(report.Rejected, exists, kindWords(existing.Kind()), r.Name)
	default:
		err = sameRegion(r.Name, r.Region, existing.Region)
		region = cmp.Or(region, existing.Region)
	}
	if err != nil {
		return nil, err
	}
	ref := cloud.Ref{Name: r.Name, Type: cloud.TypeImagePull, Region: r.Region}
	storedIn, err := api.StoreImagePull(ctx, ref, r.Host, value)
	if err != nil {
		return nil, err
	}
	region = cmp.Or(storedIn, region)
	out := &PullSecret{Name: r.Name, Region: report.OrNull(region), Host: r.Host, Created: existing == nil}
	message := fmt.Sprintf("stored image pull secret %s for %s in %s (%s)",
		r.Name, r.Host, location(api, region), newOr("updated", existing != nil))
	if r.Wait == 0 {
		out.message = message
		return out, nil
	}
	out.Status, err = await(ctx, api, ref, r.Wait, message)
	return out, err
}

// CheckLogin checks the credentials of a registry. With encode, they must be USER:PASSWORD. The password
// may have several lines, because Google's registries accept a key file as the password.
func CheckLogin(faults *report.Faults, login cloud.Secret, encode bool) {
	text := login.Reveal()
	user, password, hasColon := strings.Cut(text, ":")
	isControl := func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune("\t\r\n", c) }
	isOdd := !utf8.ValidString(text) || strings.ContainsFunc(text, isControl)
	isOddUser := encode && strings.ContainsFunc(user, unicode.IsControl)
	isComplete := hasColon && user != "" && password != ""
	add := func(message string) { faults.Values.Add("credentials", "CREDENTIALS", "%s", message) }
	switch {
	case encode && isObject(text):
		add(jsonLogin(text))
	case isOdd || isOddUser:
		add("must not contain control characters or invalid UTF-8")
	case encode && !isComplete:
		add("must be USER:PASSWORD; use --no-encode to send other text unchanged")
	}
}

// isObject reports whether a text is a JSON object. No USER:PASSWORD is one.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}

// jsonLogin returns a message that says what to pass instead of a JSON object. Docker's config.json has
// the logins of all registries, and a key file of Google lacks the user.
func jsonLogin(text string) string {
	var config struct {
		Auths, CredHelpers map[string]any
		CredsStore         string
	}
	err := json.Unmarshal([]byte(text), &config)
	if err == nil && (config.Auths != nil || config.CredHelpers != nil || config.CredsStore != "") {
		return "is Docker's config.json; pass the login of one registry, unless a credential helper " +
			"has it: " + `jq -r '.auths["HOST"].auth | @base64d' ~/.docker/config.json`
	}
	return "must be USER:PASSWORD, not JSON; put _json_key: before a key file of Google"
}

// dockerHub is the address under which Docker keeps the login of Docker Hub.
const dockerHub = "https://index.docker.io/v1/"

// HostNote returns a note about the HOST that was typed if it is probably not a registry but a web page of
// Docker Hub or the name of an image, otherwise "".
func HostNote(typed string) string {
	u, err := url.Parse(withScheme(typed))
	if err != nil {
		return "" // RegistryURL refuses it
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

// RegistryURL returns the URL of a registry, and whether it is valid. The default scheme is https.
func RegistryURL(s string) (string, bool) {
	s = withScheme(s)
	u, err := url.Parse(s)
	if err != nil {
		return s, false
	}
	isWeb := u.Scheme == "https" || u.Scheme == "http"
	hasMore := u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#")
	isOdd := strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsFunc(s, unicode.IsControl)
	return s, isWeb && isHost(u.Hostname()) && !hasMore && !isOdd
}

// withScheme returns s with the default scheme, if it has none.
func withScheme(s string) string {
	if strings.Contains(s, "://") {
		return s
	}
	return "https://" + s
}

// isHost reports whether s is a host name or an IP address.
func isHost(s string) bool {
	return cloud.IsName(s, 253, ".-") || s != "" && strings.Trim(s, "0123456789abcdefABCDEF:.") == ""
}
