package cloudcmd

import (
	"strings"
	"testing"

	"vbot/internal/secret"
)

func TestRegistryURL(t *testing.T) {
	for in, want := range map[string]string{ // "" is none
		"ghcr.io":                     "https://ghcr.io",
		"localhost:5000":              "https://localhost:5000",
		"https://index.docker.io/v1/": "https://index.docker.io/v1/",
		"http://10.0.0.1:5000":        "http://10.0.0.1:5000",
		"registry.example.com/team":   "https://registry.example.com/team",
		"ftp://x":                     "",
		"https://":                    "",
		"":                            "",
		"a b":                         "",
		"bob:pass@ghcr.io":            "",
		"https://ghcr.io?x":           "",
		"https://ghcr.io#x":           "",
		"-x":                          "",
		"https://ghcr.io:port":        "",
	} {
		got, err := RegistryURL(in), CheckHost(in)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("RegistryURL(%q) = %q, %v", in, got, err)
		}
	}
}

func TestHostWarning(t *testing.T) {
	const hub = "https://index.docker.io/v1/"
	for in, want := range map[string]string{ // "" is no warning
		"https://hub.docker.com":      hub,
		"hub.docker.com/r/acme/bot":   hub,
		"docker.io":                   hub,
		"registry-1.docker.io":        hub,
		"https://index.docker.io":     hub,
		"acme/bot:1":                  hub,
		"ghcr.io/acme/bot:1":          "its registry is ghcr.io",
		"localhost:5000/bot@sha256:1": "its registry is localhost:5000",

		"https://index.docker.io/v1/":       "",
		"ghcr.io":                           "",
		"localhost:5000":                    "",
		"us-docker.pkg.dev":                 "",
		"registry.example.com/team":         "",
		"https://registry.example.com/v2/":  "",
		"1.dkr.ecr.us-east-1.amazonaws.com": "",
	} {
		if got := HostWarning(in); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("HostWarning(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCheckCredentials(t *testing.T) {
	for credentials, want := range map[string]string{ // "" is right
		"bob:pass":                        "",
		"bob:{\"auths\": {}}":             "",
		"_json_key:{\n\"type\": \"x\"}":   "",
		"{\"auths\": {\"ghcr.io\": {}}}":  `jq -r '.auths["HOST"].auth | @base64d'`,
		"\n{\"credsStore\": \"desktop\"}": "Docker's config.json",
		"{\"type\": \"service_account\"}": "put _json_key:",
		"{bob:pass":                       "",
		"bob":                             "must be USER:PASSWORD",
	} {
		err := CheckCredentials(secret.New(credentials), true)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", credentials, err, want)
		}
	}
}
