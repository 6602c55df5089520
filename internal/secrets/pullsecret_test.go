package secrets

import "testing"

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
		got, ok := RegistryURL(in)
		if ok != (want != "") || ok && got != want {
			t.Errorf("RegistryURL(%q) = %q, %v", in, got, ok)
		}
	}
}
