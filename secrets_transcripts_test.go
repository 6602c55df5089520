package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
)

// A secretsCase is a command line of `vbot cloud secrets`, with its conditions and expected results. Its
// output is in golden/cloud/COMMAND.txt.
type secretsCase struct {
	name  string
	args  []string
	setup func(s *cloudtest.Standin)
	want  []string // requests
	code  int
}

// Commands against the stand-in: their output, even if there is none, and their
// requests.
func TestSecretsTranscripts(t *testing.T) {
	parallel(t)
	for _, c := range slices.Concat(
		listCases, setCases, unsetCases, deleteCases, imagePullCases, referenceCases,
	) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// check runs the command, and compares its transcript with the golden one. No value is in it.
func (c secretsCase) check(t *testing.T) {
	t.Helper()
	s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
	if c.setup != nil {
		c.setup(s)
	}
	r := runOn(t, s, append([]string{"cloud", "secrets"}, c.args...)...)
	r.wantCode(t, c.code)
	for _, hidden := range []string{"hunter2", "aHVudGVyMg", "c2VjcmV0", "pa:ss", cloudtest.Token, "n3w"} {
		if strings.Contains(r.stdout+r.stderr, hidden) {
			t.Errorf("%s was printed", hidden)
		}
	}
	section(t, "cloud/"+c.args[0]+".txt", c.name, transcriptOn(s, r))
}

const (
	postRef = "POST ~/secrets/references"
	getList = "GET ~/secrets"
	getSet  = "GET ~/secrets/app-secrets"
	putSet  = "PUT ~/secrets/app-secrets"
	getNew  = "GET ~/secrets/fresh"
	putNew  = "PUT ~/secrets/fresh"
	getHub  = "GET ~/secrets/hub"
)

// many has a secret of each kind and state.
func many(s *cloudtest.Standin) {
	s.Keep("app-secrets", "us-west", "ready", "API_KEY", "DB_URL")
	s.Keep("broken", "eu-central", "failed", "A").
		Message = "Provisioning failed.\n\x1b[2JRe-create the secret."
	s.Keep("hub", "us-west", "ready").Kind = cloud.TypeImagePull
	s.Keep("cluster", "pce-acme", "unknown").Source = "referenced"
	s.Keep("ours", "us-west", "ready", "A").Source = "managed"
	s.Keep("bare", "", "")
	s.Keep("forged  secret_set", "us-west", "ready")
	s.Keep("new-kind", "us-west", "paused").Kind = "certificate"
}

// noMore accepts two keys, one per request, and then no more.
func noMore(s *cloudtest.Standin) {
	s.Keep("app-secrets", "us-west", "ready", "API_KEY")
	s.NoBulk = true
	s.Misbehave("PUT", cloudtest.Right, cloudtest.Right,
		cloudtest.Status(403, "FORBIDDEN", "No more today"))
}

// inCluster has Kubernetes Secrets to register.
func inCluster(s *cloudtest.Standin) {
	s.Cluster = map[string]string{
		"team.keys": cloud.TypeSet,
		"registry":  cloud.TypeImagePull,
		"taken":     cloud.TypeSet,
	}
	s.Keep("taken", "us-west", "ready", "A")
}

// listCases are the cases of `vbot cloud secrets list`.
var listCases = []secretsCase{
	{name: "list", args: []string{"list"}, setup: many, want: []string{getList}, code: 0},
	{name: "list-json", args: []string{"list", "--json"}, setup: many, want: []string{getList}, code: 0},
	{
		name:  "list-sets",
		args:  []string{"list", "--sets", "--json"},
		setup: many,
		want:  []string{getList},
		code:  0,
	},
	{
		name:  "list-no-sets",
		args:  []string{"list", "-s", "--no-sets"},
		setup: many,
		want:  []string{getList},
		code:  0,
	},
	{
		name:  "list-region",
		args:  []string{"list", "-r", "eu-central"},
		setup: many,
		want:  []string{getList + "?region=eu-central"},
		code:  0,
	},
	{
		name:  "list-region-none",
		args:  []string{"list", "--region=ap-south"},
		setup: many,
		want:  []string{getList + "?region=ap-south", "GET ~/regions"},
		code:  0,
	},
	{name: "list-empty", args: []string{"list"}, want: []string{getList}, code: 0},
	{name: "list-empty-json", args: []string{"list", "--json"}, want: []string{getList}, code: 0},
	{
		name:  "list-set",
		args:  []string{"list", "app-secrets"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name:  "list-set-json",
		args:  []string{"list", "app-secrets", "--json"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name:  "list-set-failed",
		args:  []string{"list", "broken"},
		setup: many,
		want:  []string{"GET ~/secrets/broken"},
		code:  0,
	},
	{
		name:  "list-set-failed-json",
		args:  []string{"list", "broken", "--json"},
		setup: many,
		want:  []string{"GET ~/secrets/broken"},
		code:  0,
	},
	{
		name:  "list-set-bare-json",
		args:  []string{"list", "bare", "--json"},
		setup: many,
		want:  []string{"GET ~/secrets/bare"},
		code:  0,
	},
	{
		name:  "list-set-region",
		args:  []string{"list", "app-secrets", "--region", "us-west"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name:  "list-set-elsewhere",
		args:  []string{"list", "app-secrets", "--region", "us-east"},
		setup: many,
		want:  []string{getSet},
		code:  4,
	},
	{
		name:  "list-region-unknown",
		args:  []string{"list", "--region=us-wst"},
		setup: many,
		want:  []string{getList + "?region=us-wst", "GET ~/regions"},
		code:  4,
	},
	{
		name:  "list-region-unknown-json",
		args:  []string{"list", "--region=us-wst", "--json"},
		setup: many,
		want:  []string{getList + "?region=us-wst", "GET ~/regions"},
		code:  4,
	},
	{
		name: "list-region-no-regions", args: []string{"list", "--region=us-wst"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("GET", cloudtest.Right, cloudtest.Status(403, "FORBIDDEN", "No"))
		}, want: []string{getList + "?region=us-wst", "GET ~/regions"}, code: 0,
	},
	{
		name:  "list-set-near",
		args:  []string{"list", "app-secret"},
		setup: many,
		want:  []string{"GET ~/secrets/app-secret", getList},
		code:  4,
	},
	{
		name:  "list-set-unknown",
		args:  []string{"list", "nothing"},
		setup: many,
		want:  []string{"GET ~/secrets/nothing", getList},
		code:  4,
	},
	{
		name:  "list-set-unknown-json",
		args:  []string{"list", "nothing", "--json"},
		setup: many,
		want:  []string{"GET ~/secrets/nothing", getList},
		code:  4,
	},
	{
		name:  "list-set-referenced",
		args:  []string{"list", "cluster"},
		setup: many,
		want:  []string{"GET ~/secrets/cluster"},
		code:  0,
	},
	{
		name:  "list-set-referenced-json",
		args:  []string{"list", "cluster", "--json"},
		setup: many,
		want:  []string{"GET ~/secrets/cluster"},
		code:  0,
	},
	{
		name:  "list-image-pull",
		args:  []string{"list", "hub"},
		setup: many,
		want:  []string{getHub, getList},
		code:  4,
	},
	{
		name: "list-bad-arguments",
		args: []string{"list", "../x", "y", "--region", "a/b", "-o", ".."},
		code: 2,
	},
}

// setCases are the cases of `vbot cloud secrets set`.
var setCases = []secretsCase{
	{
		name:  "set-new-near",
		args:  []string{"set", "app-secret", "A=1", "--skip"},
		setup: many,
		want:  []string{"GET ~/secrets/app-secret", "PUT ~/secrets/app-secret"},
		code:  0,
	},

	{
		name: "set-new",
		args: []string{"set", "fresh", "A=1", "B=2", "--skip"},
		want: []string{getNew, putNew},
		code: 0,
	},
	{
		name: "set-new-json",
		args: []string{"set", "fresh", "A=1", "--skip", "--json", "--region", "eu-central"},
		want: []string{getNew, "GET ~/regions", putNew},
		code: 0,
	},
	{
		name:  "set-replace",
		args:  []string{"set", "app-secrets", "-s", "API_KEY=n3w", "Z=1"},
		setup: many,
		want:  []string{getSet, putSet},
		code:  0,
	},
	{
		name:  "set-replace-json",
		args:  []string{"set", "app-secrets", "-s", "API_KEY=n3w", "Z=1", "--json"},
		setup: many,
		want:  []string{getSet, putSet},
		code:  0,
	},
	{
		name:  "set-dry-run",
		args:  []string{"set", "app-secrets", "API_KEY=n3w", "Z=1", "LATER", "--dry-run"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name:  "set-dry-run-json",
		args:  []string{"set", "app-secrets", "API_KEY=n3w", "Z=1", "LATER", "--dry-run", "--json"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name: "set-dry-run-new",
		args: []string{"set", "fresh", "A=1", "--dry-run", "--region", "us-east"},
		want: []string{getNew, "GET ~/regions"},
		code: 0,
	},
	{
		name:  "set-prune",
		args:  []string{"set", "app-secrets", "API_KEY=n3w", "Z=1", "--prune", "--skip"},
		setup: many,
		want:  []string{getSet, putSet, "DELETE ~/secrets/app-secrets/DB_URL"},
		code:  0,
	},
	{
		name:  "set-prune-json",
		args:  []string{"set", "app-secrets", "Z=1", "--prune", "--skip", "--json"},
		setup: many,
		want: []string{
			getSet, putSet, "DELETE ~/secrets/app-secrets/API_KEY", "DELETE ~/secrets/app-secrets/DB_URL",
		},
		code: 0,
	},
	{
		name:  "set-prune-dry-run",
		args:  []string{"set", "app-secrets", "API_KEY=n3w", "Z=1", "--prune", "--dry-run"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name:  "set-prune-dry-run-json",
		args:  []string{"set", "app-secrets", "API_KEY=n3w", "Z=1", "--prune", "--dry-run", "--json"},
		setup: many,
		want:  []string{getSet},
		code:  0,
	},
	{
		name:  "set-prune-new",
		args:  []string{"set", "fresh", "A=1", "--prune", "--skip", "--json"},
		setup: many,
		want:  []string{getNew, getList, putNew},
		code:  0,
	},
	{
		name: "set-prune-not-found",
		args: []string{"set", "app-secrets", "A=1", "--prune", "--skip"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("GET", cloudtest.Status(404, "X", "Organization not found"))
		},
		want: []string{getSet, getList},
		code: 4,
	},
	{
		name:  "set-prune-one-by-one",
		args:  []string{"set", "app-secrets", "A=1", "B=2", "--prune", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) { many(s); s.NoBulk = true },
		want: []string{
			getSet, putSet, putSet, putSet, "DELETE ~/secrets/app-secrets/API_KEY",
			"DELETE ~/secrets/app-secrets/DB_URL",
		},
		code: 0,
	},
	{
		name: "set-prune-store-failed",
		args: []string{"set", "app-secrets", "A=1", "--prune", "--skip"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("PUT",
				cloudtest.Status(403, "FORBIDDEN", "No"))
		},
		want: []string{getSet, putSet},
		code: 5,
	},
	{
		name:  "set-prune-store-partial",
		args:  []string{"set", "app-secrets", "A=1", "API_KEY=2", "C=3", "--prune", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) { noMore(s); s.Sets["app-secrets"].Values["OLD"] = "old" },
		want:  []string{getSet, putSet, putSet, putSet},
		code:  7,
	},
	{
		name: "set-prune-partial",
		args: []string{"set", "app-secrets", "Z=1", "--prune", "--skip"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("DELETE", cloudtest.Right, cloudtest.Status(403, "FORBIDDEN", "No more today"))
		},
		want: []string{
			getSet, putSet, "DELETE ~/secrets/app-secrets/API_KEY", "DELETE ~/secrets/app-secrets/DB_URL",
		},
		code: 7,
	},
	{
		name: "set-prune-partial-json",
		args: []string{"set", "app-secrets", "Z=1", "--prune", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("DELETE", cloudtest.Status(403, "FORBIDDEN", "No more today"))
		},
		want: []string{getSet, putSet, "DELETE ~/secrets/app-secrets/API_KEY"},
		code: 7,
	},
	{
		name: "set-skip-empty-no-file",
		args: []string{"set", "fresh", "A=1", "--skip-empty", "--skip"},
		code: 2,
	},
	{
		name: "set-words",
		args: []string{
			"set", "fresh", "hunter2", "hunter2", "A=1", "A", "aHVudGVyMg==", "c2VjcmV0=", "--no-input",
			"--skip",
		},
		code: 2,
	},
	{
		name: "set-words-json",
		args: []string{"set", "fresh", "hunter2", "--no-input", "--skip", "--json"},
		code: 2,
	},
	{name: "set-cannot-ask", args: []string{"set", "fresh", "A=1", "KEY"}, code: 2},
	{name: "set-cannot-ask-json", args: []string{"set", "fresh", "A=1", "--json"}, code: 2},
	{name: "set-nothing", args: []string{"set"}, code: 2},
	{name: "set-no-pairs", args: []string{"set", "fresh", "--skip"}, code: 2},
	{
		name: "set-all-wrong",
		args: []string{
			"set", "my.set", "--region", "", "A=1", "A=2", "B=", "sk hunter2", "C=x\xff", "-o", "a/../b",
			"--file", "none.env",
		},
		code: 2,
	},
	{
		name: "set-all-wrong-json",
		args: []string{"set", "references", "A=1", "A=2", "B=", "--json"},
		code: 2,
	},
	{name: "set-ambiguous", args: []string{"set", "fresh", "DSN=host=h port=1", "--skip"}, code: 2},
	{
		name:  "set-other-region",
		args:  []string{"set", "app-secrets", "A=1", "--skip", "--region", "us-east"},
		setup: many,
		want:  []string{getSet},
		code:  1,
	},
	{
		name:  "set-other-region-json",
		args:  []string{"set", "app-secrets", "A=1", "--skip", "--region", "us-east", "--json"},
		setup: many,
		want:  []string{getSet},
		code:  1,
	},
	{
		name: "set-unknown-region",
		args: []string{"set", "fresh", "A=1", "--skip", "--region", "mars"},
		want: []string{getNew, "GET ~/regions"},
		code: 4,
	},
	{
		name:  "set-image-pull",
		args:  []string{"set", "hub", "A=1", "--skip"},
		setup: many,
		want:  []string{getHub, getList},
		code:  1,
	},
	{
		name:  "set-referenced",
		args:  []string{"set", "cluster", "A=1", "--skip"},
		setup: many,
		want:  []string{"GET ~/secrets/cluster"},
		code:  1,
	},
	{
		name:  "set-one-by-one",
		args:  []string{"set", "fresh", "A=1", "B=2", "C=3", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) { s.NoBulk = true },
		want:  []string{getNew, putNew, putNew, putNew, putNew},
		code:  0,
	},
	{
		name:  "set-partial",
		args:  []string{"set", "app-secrets", "A=1", "API_KEY=2", "C=3", "D=4", "--skip"},
		setup: noMore,
		want:  []string{getSet, putSet, putSet, putSet},
		code:  7,
	},
	{
		name:  "set-partial-json",
		args:  []string{"set", "app-secrets", "A=1", "API_KEY=2", "C=3", "D=4", "--skip", "--json"},
		setup: noMore,
		want:  []string{getSet, putSet, putSet, putSet},
		code:  7,
	},
	{
		name: "set-partial-unavailable-json",
		args: []string{"set", "app-secrets", "A=1", "B=2", "C=3", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) {
			s.Keep("app-secrets", "us-west", "ready", "A")
			s.NoBulk = true
			s.Misbehave("PUT", cloudtest.Right, cloudtest.Right)
			s.Misbehave("PUT", cloudtest.Times(4, cloudtest.Status(503, "X", "later"))...)
		}, want: []string{getSet, putSet, putSet, putSet, putSet, putSet, putSet}, code: 7,
	},
	{
		name: "set-one-by-one-unavailable-json",
		args: []string{"set", "fresh", "A=1", "B=2", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) {
			s.NoBulk = true
			s.Misbehave("PUT", cloudtest.Right)
			s.Misbehave("PUT", cloudtest.Times(4, cloudtest.Status(503, "X", "later"))...)
		}, want: []string{getNew, putNew, putNew, putNew, putNew, putNew}, code: 6,
	},
	{
		name: "set-one-by-one-lost", args: []string{"set", "fresh", "A=1", "B=2", "C=3", "--skip"},
		setup: func(s *cloudtest.Standin) {
			s.NoBulk = true
			s.Misbehave("PUT", cloudtest.Right, cloudtest.Right)
			s.Misbehave("PUT", cloudtest.Times(4, cloudtest.LoseAnswer)...)
		}, want: []string{getNew, putNew, putNew, putNew, putNew, putNew, putNew}, code: 7,
	},
	{
		name: "set-lost-json", args: []string{"set", "fresh", "A=1", "B=2", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) {
			s.Misbehave("PUT", cloudtest.Times(4, cloudtest.LoseAnswer)...)
		}, want: []string{getNew, putNew, putNew, putNew, putNew}, code: 6,
	},
	{
		name: "set-one-by-one-after-a-lost-answer",
		args: []string{"set", "fresh", "A=1", "B=2", "--skip", "--json"},
		setup: func(s *cloudtest.Standin) {
			s.NoBulk = true
			s.Misbehave("PUT", cloudtest.Drop, cloudtest.Right, cloudtest.Status(401, "X", "no"))
		}, want: []string{getNew, putNew, putNew, putNew}, code: 5,
	},
	{
		name: "set-prune-gone", args: []string{"set", "app-secrets", "API_KEY=1", "--prune", "--skip"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("DELETE", func(_ http.ResponseWriter, _ *http.Request, _ []byte, serve func()) {
				s.Mu.Lock()
				delete(s.Sets["app-secrets"].Values, "DB_URL")
				s.Mu.Unlock()
				serve()
			})
		}, want: []string{getSet, putSet, "DELETE ~/secrets/app-secrets/DB_URL", getSet}, code: 0,
	},
	{
		name:  "set-wait",
		args:  []string{"set", "fresh", "A=1", "--skip", "--wait", "--json"},
		setup: func(s *cloudtest.Standin) { s.Statuses = []string{"pending", "ready"} },
		want:  []string{getNew, putNew, getNew, getNew},
		code:  0,
	},
	{
		name:  "set-wait-failed",
		args:  []string{"set", "fresh", "A=1", "--skip", "--wait=1m"},
		setup: func(s *cloudtest.Standin) { s.Statuses = []string{"pending", "failed"} },
		want:  []string{getNew, putNew, getNew, getNew},
		code:  1,
	},
	{
		name:  "set-wait-timeout-json",
		args:  []string{"set", "fresh", "A=1", "--skip", "--wait=6s", "--json"},
		setup: func(s *cloudtest.Standin) { s.Statuses = []string{"pending"} },
		want:  []string{getNew, putNew, getNew, getNew, getNew},
		code:  6,
	},
	{name: "set-wait-nonsense", args: []string{"set", "fresh", "A=1", "--skip", "--wait=soon"}, code: 2},
	{
		name: "set-wait-with-a-space",
		args: []string{"set", "fresh", "A=1", "--skip", "--wait", "30s"},
		code: 2,
	},
}

// unsetCases are the cases of `vbot cloud secrets unset`.
var unsetCases = []secretsCase{
	{
		name:  "unset-key-near",
		args:  []string{"unset", "app-secrets", "APIKEY", "--skip"},
		setup: many,
		want:  []string{getSet},
		code:  4,
	},

	{
		name:  "unset",
		args:  []string{"unset", "app-secrets", "API_KEY", "--skip"},
		setup: many,
		want:  []string{getSet, "DELETE ~/secrets/app-secrets/API_KEY"},
		code:  0,
	},
	{
		name:  "unset-json",
		args:  []string{"unset", "app-secrets", "API_KEY", "-s", "--json"},
		setup: many,
		want:  []string{getSet, "DELETE ~/secrets/app-secrets/API_KEY"},
		code:  0,
	},
	{
		name:  "unset-no-key",
		args:  []string{"unset", "app-secrets", "NOPE", "--skip", "--json"},
		setup: many,
		want:  []string{getSet},
		code:  4,
	},
	{
		name:  "unset-no-set",
		args:  []string{"unset", "nothing", "A", "--skip"},
		setup: many,
		want:  []string{"GET ~/secrets/nothing", getList},
		code:  4,
	},
	{
		name:  "unset-image-pull",
		args:  []string{"unset", "hub", "A", "--skip"},
		setup: many,
		want:  []string{getHub, getList},
		code:  1,
	},
	{
		name:  "unset-referenced",
		args:  []string{"unset", "cluster", "A", "--skip"},
		setup: many,
		want:  []string{"GET ~/secrets/cluster"},
		code:  1,
	},
	{
		name:  "unset-if-exists",
		args:  []string{"unset", "app-secrets", "NOPE", "--if-exists", "--skip"},
		setup: many,
		want:  []string{getSet, getSet},
		code:  0,
	},
	{
		name:  "unset-if-exists-no-set",
		args:  []string{"unset", "nothing", "A", "--if-exists", "--skip", "--json"},
		setup: many,
		want:  []string{"GET ~/secrets/nothing", "GET ~/secrets/nothing", getList},
		code:  0,
	},
	{
		name:  "unset-if-exists-it-does",
		args:  []string{"unset", "app-secrets", "API_KEY", "--if-exists", "--skip"},
		setup: many,
		want:  []string{getSet, "DELETE ~/secrets/app-secrets/API_KEY"},
		code:  0,
	},
	{name: "unset-cannot-ask", args: []string{"unset", "app-secrets", "API_KEY"}, setup: many, code: 2},
	{name: "unset-missing", args: []string{"unset"}, code: 2},
	{name: "unset-bad", args: []string{"unset", "..", "API_KEY?force=1", "extra", "--skip"}, code: 2},
}

// deleteCases are the cases of `vbot cloud secrets delete`.
var deleteCases = []secretsCase{
	{
		name:  "delete",
		args:  []string{"delete", "app-secrets", "--skip"},
		setup: many,
		want:  []string{getSet, "DELETE ~/secrets/app-secrets"},
		code:  0,
	},
	{
		name:  "delete-json",
		args:  []string{"delete", "app-secrets", "--skip", "--json"},
		setup: many,
		want:  []string{getSet, "DELETE ~/secrets/app-secrets"},
		code:  0,
	},
	{
		name:  "delete-image-pull",
		args:  []string{"delete", "hub", "--skip"},
		setup: many,
		want:  []string{getHub, getList, "DELETE ~/secrets/hub"},
		code:  0,
	},
	{
		name:  "delete-unknown",
		args:  []string{"delete", "nothing", "--skip"},
		setup: many,
		want:  []string{"GET ~/secrets/nothing", getList},
		code:  4,
	},
	{
		name:  "delete-if-exists",
		args:  []string{"delete", "nothing", "--if-exists", "--skip", "--json"},
		setup: many,
		want:  []string{"GET ~/secrets/nothing", getList},
		code:  0,
	},
	{
		name: "delete-if-exists-elsewhere",
		args: []string{"delete", "nothing", "--if-exists", "--skip"},
		setup: func(s *cloudtest.Standin) {
			s.Misbehave("GET",
				cloudtest.Times(2, cloudtest.Status(404, "X", "Organization not found"))...)
		},
		want: []string{"GET ~/secrets/nothing", getList, getList},
		code: 4,
	},
	{
		name: "delete-if-exists-meanwhile",
		args: []string{"delete", "app-secrets", "--if-exists", "--skip"},
		setup: func(s *cloudtest.Standin) {
			many(s)
			s.Misbehave("DELETE", func(_ http.ResponseWriter, _ *http.Request, _ []byte, serve func()) {
				s.Mu.Lock()
				delete(s.Sets, "app-secrets")
				s.Mu.Unlock()
				serve()
			})
		},
		want: []string{getSet, "DELETE ~/secrets/app-secrets", getList},
		code: 0,
	},
	{
		name:  "delete-referenced",
		args:  []string{"delete", "cluster", "--skip"},
		setup: many,
		want:  []string{"GET ~/secrets/cluster", "DELETE ~/secrets/cluster"},
		code:  0,
	},
	{
		name:  "delete-cannot-ask",
		args:  []string{"delete", "app-secrets", "--no-input"},
		setup: many,
		code:  2,
	},
	{name: "delete-bad", args: []string{"delete", "../services/my-agent", "--skip"}, code: 2},
}

// imagePullCases are the cases of `vbot cloud secrets image-pull-secret`.
var imagePullCases = []secretsCase{
	{
		name: "image-pull-region-unknown",
		args: []string{"image-pull-secret", "reg", "ghcr.io", "bob:pa:ss", "--region=us-wst"},
		want: []string{getList, "GET ~/regions"},
		code: 4,
	},

	{
		name: "image-pull-new",
		args: []string{"image-pull-secret", "reg", "ghcr.io", "bob:pa:ss"},
		want: []string{getList, "PUT ~/secrets/reg"},
		code: 0,
	},
	{
		name: "image-pull-new-json",
		args: []string{
			"image-pull-secret", "reg", "https://ghcr.io/", "bob:pa:ss", "--json", "--region=us-east",
		},
		want: []string{getList, "GET ~/regions", "PUT ~/secrets/reg"},
		code: 0,
	},
	{
		name:  "image-pull-update-json",
		args:  []string{"image-pull-secret", "hub", "ghcr.io", "bob:pa:ss", "--json", "--wait"},
		setup: many,
		want:  []string{getList, "PUT ~/secrets/hub", getList},
		code:  0,
	},
	{
		name:  "image-pull-of-a-set",
		args:  []string{"image-pull-secret", "app-secrets", "ghcr.io", "bob:pa:ss"},
		setup: many,
		want:  []string{getList},
		code:  1,
	},
	{
		name:  "image-pull-other-region",
		args:  []string{"image-pull-secret", "hub", "ghcr.io", "bob:pa:ss", "-r", "us-east"},
		setup: many,
		want:  []string{getList},
		code:  1,
	},
	{
		name: "image-pull-docker-hub",
		args: []string{"image-pull-secret", "reg", "docker.io", "bob:pa:ss"},
		want: []string{getList, "PUT ~/secrets/reg"},
		code: 0,
	},
	{
		name: "image-pull-docker-config",
		args: []string{"image-pull-secret", "reg", "ghcr.io", `{"auths": {"ghcr.io": {"auth": "c2VjcmV0"}}}`},
		code: 2,
	},
	{name: "image-pull-nothing", args: []string{"image-pull-secret"}, code: 2},
	{
		name: "image-pull-no-credentials",
		args: []string{"image-pull-secret", "hub", "ghcr.io", "--json"},
		code: 2,
	},
	{
		name: "image-pull-too-many",
		args: []string{
			"image-pull-secret", "my_hub", "ftp://weird host", "nocolon", "more", "--encode=maybe",
		},
		code: 2,
	},
	{
		name: "image-pull-bad-values",
		args: []string{"image-pull-secret", "my_hub", "https://bob:pass@ghcr.io", "nocolon"},
		code: 2,
	},
	{
		name: "image-pull-two-lines-user",
		args: []string{"image-pull-secret", "hub", "ghcr.io", "two\nlines:pw"},
		code: 2,
	},
	{
		name: "image-pull-control-character",
		args: []string{"image-pull-secret", "hub", "ghcr.io", "bob:a\x1b[2Jb"},
		code: 2,
	},
	{
		name: "image-pull-encode-with-a-space",
		args: []string{"image-pull-secret", "hub", "ghcr.io", "a:b", "--encode", "false"},
		code: 2,
	},
	{
		name: "secret-like-an-option",
		args: []string{"image-pull-secret", "hub", "ghcr.io", "-bob:hunter2"},
		code: 2,
	},
}

// referenceCases are the cases of `vbot cloud secrets reference`.
var referenceCases = []secretsCase{
	{
		name:  "reference",
		args:  []string{"reference", "team.keys", "--region", "pce-acme"},
		setup: inCluster,
		want:  []string{postRef},
		code:  0,
	},
	{
		name:  "reference-json",
		args:  []string{"reference", "registry", "-r=pce-acme", "--json"},
		setup: inCluster,
		want:  []string{postRef},
		code:  0,
	},
	{
		name:  "reference-hosted",
		args:  []string{"reference", "registry", "-r=us-west", "--json"},
		setup: inCluster,
		want:  []string{postRef},
		code:  1,
	},
	{
		name:  "reference-unknown",
		args:  []string{"reference", "nothing", "-r=pce-acme"},
		setup: inCluster,
		want:  []string{postRef},
		code:  4,
	},
	{
		name:  "reference-taken",
		args:  []string{"reference", "taken", "-r=pce-acme"},
		setup: inCluster,
		want:  []string{postRef},
		code:  1,
	},
	{
		name:  "reference-lost-answer",
		args:  []string{"reference", "registry", "-r=pce-acme"},
		setup: func(s *cloudtest.Standin) { inCluster(s); s.Misbehave("POST", cloudtest.LoseAnswer) },
		want:  []string{postRef, postRef},
		code:  0,
	},
	{
		name:  "reference-unreadable",
		args:  []string{"reference", "registry", "-r=pce-acme"},
		setup: func(s *cloudtest.Standin) { s.Misbehave("POST", cloudtest.With200(`{"status":"OK"}`)) },
		want:  []string{postRef},
		code:  1,
	},
	{name: "reference-missing", args: []string{"reference"}, code: 2},
	{
		name: "reference-bad",
		args: []string{"reference", "references", "more", "--region", "", "--json"},
		code: 2,
	},
}
