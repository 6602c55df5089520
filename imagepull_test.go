package main

import (
	"encoding/base64"
	"strings"
	"testing"
)

// What Docker stores, and what is taken of it.
func TestDockerLogin(t *testing.T) {
	auth := func(login string) string {
		return `{"auth": "` + base64.StdEncoding.EncodeToString([]byte(login)) + `"}`
	}
	hub := `{"auths": {"https://index.docker.io/v1/": ` + auth("bob:hub:2") + `, "https://index.docker.io/v1/refresh-token": ` + auth("bob:other") + `,
		"ghcr.io": ` + auth("eve:t0ken") + `, "https://quay.io/v2/": {"username": "al", "password": "pw"}, "quay.io/team": ` + auth("al:team") + `,
		"localhost:5000": ` + auth("a:b") + `, "helped.example": {}, "bad.example": {"auth": "b:b"}, "word.example": ` + auth("word") + `,
		"azure.example": {"auth": "MDAwMDo=", "identitytoken": "t0ken"}}, "credHelpers": {"gcr.io": "gcloud"}}`
	desktop := `{"auths": {"ghcr.io": {}, "left.example": ` + auth("a:b") + `}, "credsStore": "desktop"}`
	for _, c := range []struct{ config, host, want, fault string }{
		{hub, "https://docker.io", "bob:hub:2", ""},
		{hub, "https://index.docker.io/v1/", "bob:hub:2", ""},
		{hub, "https://registry-1.docker.io", "bob:hub:2", ""},
		{hub, "https://ghcr.io", "eve:t0ken", ""},
		{hub, "https://GHCR.io/", "eve:t0ken", ""},
		{hub, "http://localhost:5000", "a:b", ""},
		{hub, "https://localhost:5001", "", "no credentials for localhost:5001"},
		{hub, "https://quay.io", "al:pw", ""},
		{hub, "https://quay.io/team", "al:team", ""},
		{hub, "https://quay.io/others", "al:pw", ""},
		{hub, "https://helped.example", "", "no credentials for helped.example"},
		{hub, "https://bad.example", "", "is not base64"},
		{hub, "https://word.example", "", "no credentials for word.example"},
		{hub, "https://azure.example", "", "only an identity token"},
		{hub, "https://gcr.io", "", "credential helper"},
		{desktop, "https://ghcr.io", "", "credential helper"},
		{desktop, "https://quay.io", "", "credential helper"},
		{desktop, "https://left.example", "a:b", ""},
		{`{}`, "https://ghcr.io", "", "no credentials"},
		{`[]`, "https://ghcr.io", "", "not a config.json"},
		{`{"auths": {"ghcr.io": "hunter2"}}`, "https://ghcr.io", "", "not a config.json"},
		{`nonsense`, "https://ghcr.io", "", "not a config.json"},
	} {
		login, err := dockerLogin([]byte(c.config), c.host)
		if got := login.Reveal(); got != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: got %q, %v, want %q, %q", c.host, got, err, c.want, c.fault)
		}
	}
}

func TestImagePullFromDocker(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "config.json", `{"auths": {"https://index.docker.io/v1/": {"auth": "Ym9iOnQwaw=="}, "odd.example": {"username": "a", "password": "hunter2\u0007"}}, "credsStore": "pass"}`)
	for _, c := range []struct {
		name string
		args string
		code int
		held string
	}{
		{"docker", "docker.io --docker-config config.json", 0, "Ym9iOnQwaw=="},
		{"docker-as-it-is", "docker.io --docker-config=config.json --no-encode --no-input", 0, "bob:t0k"},
		{"docker-helper", "ghcr.io --docker-config config.json --json", 2, ""},
		{"docker-odd", "odd.example --docker-config config.json", 2, ""},
		{"docker-twice", "docker.io hunter2:hunter2 --docker-config config.json", 2, ""},
		{"docker-missing", "docker.io --docker-config none.json", 2, ""},
		{"docker-all-wrong", "ftp://x --docker-config none.json --region=", 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStandin(t)
			if c.code == 0 {
				s.want("GET ~/secrets", "PUT ~/secrets/reg")
			}
			r := here{env: s.env(), dir: dir, stdin: strings.NewReader("not:read\n")}.vbot(t, strings.Fields("cloud secrets image-pull-secret reg "+c.args)...)
			r.wantCode(t, c.code)
			if strings.Contains(r.stdout+r.stderr, "hunter2") || s.values("reg")["value"] != c.held {
				t.Errorf("stored %q, want %q; printed %s%s", s.values("reg")["value"], c.held, r.stdout, r.stderr)
			}
			golden(t, "cloud/image-pull-"+c.name+".txt", s.transcript(r))
		})
	}
}
