package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
)

// Options may come before their command, on every level.
func TestFlagsBeforeTheCommand(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "GET ~/secrets")
	for _, args := range []string{"cloud --json secrets list", "--json cloud secrets list"} {
		if r := runOn(t, s, strings.Fields(args)...); !json.Valid([]byte(r.stdout)) {
			t.Errorf("vbot %s printed %s", args, r.stdout)
		}
	}
}

// Limits on the effect of the API's responses.

// repeatInResponse responds like the API, but with text for all prose, and with name for every identifier but
// the few that vbot must understand.
func repeatInResponse(name, text string) cloudtest.Fault {
	return func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
		answer := httptest.NewRecorder()
		r.Context().Value(http.ServerContextKey).(*http.Server).Handler.(*cloudtest.Fake).Respond(answer, r,
			body)
		var v any
		json.Unmarshal(answer.Body.Bytes(), &v)
		var walk func(key string, v any) any
		walk = func(key string, v any) any {
			switch v := v.(type) {
			case string:
				if key == "error" || key == "errorMessage" {
					return text
				} else if v != "OK" && v != "imagePullSecret" {
					return name
				}
			case []any:
				for i := range v {
					v[i] = walk("", v[i])
				}
			case map[string]any:
				for k := range v {
					v[k] = walk(k, v[k])
				}
			}
			return v
		}
		cloudtest.SendJSON(w, answer.Code, walk("", v))
	}
}

// Neither a value nor the token is printed, whichever field the API repeats it in: as an
// identifier, and in any form in prose.
func TestRepeatedSecretsNeverComeOut(t *testing.T) {
	parallel(t)
	const value = "pl4nted-value-that-is-long"
	login := base64.StdEncoding.EncodeToString([]byte("bob:" + value))
	commands := []string{
		"secrets list", "secrets list app", "secrets list hub", "secrets set app A=" + value + " K=x --skip",
		"secrets set fresh A=" + value + " --skip --wait=3s",
		"secrets set app A=" + value + " --skip --prune",
		"secrets set app A=" + value + " --skip --region=us-east", "secrets unset app K --skip",
		"secrets delete app --skip",
		"secrets delete hub --skip", "secrets image-pull-secret hub ghcr.io bob:" + value + " --wait=3s",
		"secrets image-pull-secret hub ghcr.io --no-encode " + login, "whoami", "login",
		"secrets reference team --region=pce-acme", "secrets wait app",
	}
	var ofSecrets []string
	for _, line := range commands {
		if rest, ok := strings.CutPrefix(line, "secrets "); ok {
			ofSecrets = append(ofSecrets, rest)
		}
	}
	wantEachSecretsCommand(t, ofSecrets, map[string]string{"check": "its request is that of list NAME"})
	for _, c := range []struct {
		name, text string
		sent       func(args string) bool
	}{
		{cloudtest.Token, "Bearer " + cloudtest.Token, nil},
		{cloudtest.Token, url.QueryEscape("Bearer\n" + cloudtest.Token), nil},
		{
			value, "bad: " + strings.ToUpper(value),
			func(args string) bool { return strings.Contains(args, value) || strings.Contains(args, login) },
		},
		{
			value, "pl4nted\x1b-va\u200blue-that-is-long",
			func(args string) bool { return strings.Contains(args, value) || strings.Contains(args, login) },
		},
		{
			value, base64.StdEncoding.EncodeToString([]byte(value)),
			func(args string) bool { return strings.Contains(args, value) || strings.Contains(args, login) },
		},
		{login, "got " + login, func(args string) bool { return strings.Contains(args, "hub ghcr.io") }},
	} {
		for _, args := range commands {
			if c.sent != nil && !c.sent(args) {
				continue
			}
			for _, end := range []string{"", " --json"} {
				for _, organization := range []string{"acme", ""} {
					s := cloudtest.NewLenient(t, "vbot/"+version)
					s.Put("app", "us-west", "ready", "K", "L").Message = "oops"
					s.Put("hub", "us-west", "ready").Kind = cloud.TypeImagePull
					if c.sent != nil { // what comes before a value is sent repeats none
						s.FailNext("GET",
							cloudtest.Repeat(2-len(organization)/4+strings.Count(args, "set fresh"),
								cloudtest.Succeed)...)
					}
					for _, method := range []string{"GET", "PUT", "POST", "DELETE"} {
						s.FailNext(method, cloudtest.Repeat(20, repeatInResponse(c.name, c.text))...)
					}
					env := append(s.Env(), "VBOT_ORGANIZATION="+organization)
					in := inProcess{env: env, stdin: strings.NewReader(cloudtest.Token), dir: "/nowhere"}
					r := in.vbot(t,
						strings.Fields("cloud "+args+end)...)
					s.Close()
					for _, secret := range []string{
						"tok3n-of-the", "pl4nted", "PL4NTED", "cGw0bnRlZC", login,
					} {
						if strings.Contains(r.stdout+r.stderr, secret) {
							t.Errorf("%q and %q in answers to vbot cloud %s%s: it printed\n%s%s", c.name,
								c.text, args, end, r.stdout, r.stderr)
						}
					}
				}
			}
		}
	}
}

// Names are shown even if a value equals them, or is part of them.
func TestValuesThatLookLikeNames(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect(
		"GET ~/secrets/app", "PUT ~/secrets/app", "GET ~/secrets/app")
	s.Put("app", "eu-central", "ready", "KEY_1", "eu-central")
	r := runOn(t, s, "cloud", "secrets", "set", "app", "A=1", "B=ready", "C=eu-central", "D=OK", "E=app",
		"KEY_1=KEY_1", "F=acme", "--skip", "--wait", "--json")
	r.wantCode(t, 0)
	section(t, "cloud/set.txt", "set-values-like-names", transcriptOn(s, r))
	// Part of a key that is to be removed, of a region, and of a status.
	s = cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/PROD_URL", "GET ~/secrets/app")
	s.Put("app", "us-west", "ready", "PROD_URL")
	s.Statuses = []string{"pending", "ready"}
	r = runOn(t, s, "cloud", "secrets", "set", "app", "ENV=prod", "DIRECTION=west", "CLOUD_REGION=us-west",
		"MODE=pending", "API_KEY=abcdef", "--skip", "--prune", "--wait", "--json")
	r.wantCode(t, 0)
	section(t, "cloud/set.txt", "set-prune-values-like-names", transcriptOn(s, r))
	// A long name, which the command line or an earlier response contains.
	s = cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations",
		"GET /v1/organizations/a-long-organization/secrets/a-long-name-of-a-set",
		"PUT /v1/organizations/a-long-organization/secrets/a-long-name-of-a-set",
		"GET /v1/organizations/a-long-organization/secrets/a-long-name-of-a-set")
	s.Orgs = []string{"a-long-organization"}
	s.Put("a-long-name-of-a-set", "pce-acme-production", "ready", "A_KEY_THAT_IS_OLD")
	r = inProcess{env: append(s.Env(), "VBOT_ORGANIZATION=")}.vbot(t, "cloud", "secrets", "set",
		"a-long-name-of-a-set", "A=pce-acme-production", "B=A_KEY_THAT_IS_OLD",
		"A_KEY_THAT_IS_NEW=A_KEY_THAT_IS_NEW", "C=a-long-organization", "D=a-long-name-of-a-set", "--skip",
		"--wait")
	r.wantCode(t, 0)
	// A region that was asked for.
	s = cloudtest.New(t, "vbot/"+version).
		Expect("GET ~/secrets/fresh", "GET ~/regions", "PUT ~/secrets/fresh").
		FailNext("PUT", cloudtest.Respond(`{"status":"OK","region":"pce-acme-production"}`))
	runOn(t, s, "cloud", "secrets", "set", "fresh", "A=pce-acme-production", "--region=pce-acme-production",
		"--skip").wantCode(t, 0)
	// The name of a new set, which no answer had before.
	s = cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/the-name-of-a-new-set",
		"PUT ~/secrets/the-name-of-a-new-set").FailNext("PUT",
		cloudtest.Respond(`{"status":"OK","name":"the-name-of-a-new-set"}`))
	runOn(t, s, "cloud", "secrets", "set", "the-name-of-a-new-set", "A=the-name-of-a-new-set", "--skip").
		wantCode(t, 0)
	// The name and the region of an image pull secret.
	s = cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "PUT ~/secrets/my-hub", "GET ~/secrets")
	s.Put("my-hub", "eu-central", "ready").Kind = cloud.TypeImagePull
	runOn(t, s, "cloud", "secrets", "image-pull-secret", "my-hub", "ghcr.io", "eu-central:my-hub", "--wait").
		wantCode(t, 0)
}
