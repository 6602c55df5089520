package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
	"vbot/internal/secret"
)

// A givenCase is a case of TestSetStoresWhatWasGiven.
type givenCase struct {
	name string
	args []string
	file string
	want map[string]string
}

func givenCases() []givenCase {
	pem := "-----BEGIN KEY-----\nYQ==\n-----END KEY-----\n"
	return []givenCase{
		{"plain", []string{"A=1", "B=2"}, "", map[string]string{"A": "1", "B": "2"}},
		{"blanks stay", []string{"K=  padded  ", "X=1"}, "", map[string]string{"K": "  padded  ", "X": "1"}},
		{"blanks stay, alone", []string{"K=  padded  "}, "", map[string]string{"K": "  padded  "}},
		{
			"quotes stay",
			[]string{`K="keep"`, `L='keep'`},
			"",
			map[string]string{"K": `"keep"`, "L": "'keep'"},
		},
		{"the notation", []string{`A="two words"`, "B=1"}, "", map[string]string{"A": "two words", "B": "1"}},
		{"the notation, alone", []string{`A="two words"`}, "", map[string]string{"A": "two words"}},
		{"equals signs", []string{"A=x=y==", "B==z"}, "", map[string]string{"A": "x=y==", "B": "=z"}},
		{
			"nothing is special",
			[]string{"A=-", "B=@x", "C=$HOME", `D=\n`},
			"",
			map[string]string{"A": "-", "B": "@x", "C": "$HOME", "D": `\n`},
		},
		{
			"several in one",
			[]string{`API_KEY=123 API_KEY_2="value with spaces"`},
			"",
			map[string]string{"API_KEY": "123", "API_KEY_2": "value with spaces"},
		},
		{
			"several with quotes round one word",
			[]string{`A="x" B=2`},
			"",
			map[string]string{"A": "x", "B": "2"},
		},
		{
			"several, the last with an inner =",
			[]string{"A=1 B=x=y"},
			"",
			map[string]string{"A": "1", "B": "x=y"},
		},
		{"several, padded base64", []string{"A=YQ== B=1"}, "", map[string]string{"A": "YQ==", "B": "1"}},
		{
			"several, quoted =",
			[]string{`DSN="host=h port=1" B=1`},
			"",
			map[string]string{"DSN": "host=h port=1", "B": "1"},
		},
		{"one with words", []string{"A=two words"}, "", map[string]string{"A": "two words"}},
		{
			"one with words and =",
			[]string{"A=x=y B=1 and more"},
			"",
			map[string]string{"A": "x=y B=1 and more"},
		},
		{"one that is a key file", []string{"PEM=" + pem}, "", map[string]string{"PEM": pem}},
		{"no end of the quote", []string{`A="two words`}, "", map[string]string{"A": `"two words`}},
		{"file", nil, "\ufeffexport A = 1 # one\r\nB='$x'\n", map[string]string{"A": "1", "B": "$x"}},
		{"file and arguments", []string{"C=3"}, "A=1\n", map[string]string{"A": "1", "C": "3"}},
		{
			"other scripts",
			[]string{"A=é漢字🙂", "B=<&>\u2028"},
			"",
			map[string]string{"A": "é漢字🙂", "B": "<&>\u2028"},
		},
		{
			"control characters",
			[]string{"A=\x1b[2J\x01", "B=\t"},
			"",
			map[string]string{"A": "\x1b[2J\x01", "B": "\t"},
		},
		{"after --", []string{"--", "-A=1", "B=-x"}, "", map[string]string{"-A": "1", "B": "-x"}},
		{
			"64 KiB",
			[]string{"A=" + strings.Repeat("x", 64<<10)},
			"",
			map[string]string{"A": strings.Repeat("x", 64<<10)},
		},
	}
}

// The stored values are exactly the given ones.
func TestSetStoresWhatWasGiven(t *testing.T) {
	parallel(t)

	for _, c := range givenCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
			dir := t.TempDir()
			args := []string{"cloud", "secrets", "set", "fresh", "--skip"}
			if c.file != "" {
				filetest.Put(t, dir, "f.env", c.file)
				args = append(args, "--file", "f.env")
			}
			r := inProcess{env: s.Env(), dir: dir}.vbot(t, append(args, c.args...)...)
			r.wantCode(t, 0)
			if got, want := fmt.Sprintf("%q", s.Values("fresh")), fmt.Sprintf("%q", c.want); got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
		})
	}
}

// --file refuses text in UTF-16 and NUL characters, which no scenario can hold.
func TestSetRefusesOtherEncodings(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	dir := t.TempDir()
	filetest.Put(t, dir, "utf16.env", "\xff\xfeA\x00=\x001\x00")
	filetest.Put(t, dir, "zero.env", "A=x\x00y\n")
	for name, file := range map[string]string{"file-utf16": "utf16.env", "file-nul": "zero.env"} {
		r := inProcess{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "app", "--skip", "--file",
			file)
		r.wantCode(t, 2)
		section(t, "cloud/set.txt", name, transcriptOn(s, r))
	}
}

// A run that reads an endless pipe can be interrupted.
func TestSetIsInterruptedWhileReading(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	r := inProcess{ctx: ctx, env: s.Env(), stdin: in}.vbot(t, "cloud", "secrets", "set", "fresh", "--file",
		"-", "--skip")
	r.wantCode(t, 130)
}

// If a run is interrupted while the API stores keys, unknown results are not reported as stored.
func TestSetIsInterruptedWhileStoring(t *testing.T) {
	parallel(t)
	for name, isOneByOne := range map[string]bool{
		"set-interrupted":            false,
		"set-interrupted-one-by-one": true,
	} {
		t.Run(name, func(t *testing.T) {
			s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
			ctx, cancel := context.WithCancel(context.Background())
			if s.NoBulk = isOneByOne; s.NoBulk {
				s.Expect("PUT ~/secrets/fresh", "PUT ~/secrets/fresh").FailNext("PUT", cloudtest.Succeed,
					cloudtest.Succeed)
			}
			s.FailNext("PUT", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				cancel()
				<-r.Context().Done()
			})
			r := inProcess{ctx: ctx, env: s.Env()}.vbot(t, "cloud", "secrets", "set", "fresh", "A=1", "B=2",
				"C=3", "--skip", "--json")
			r.wantCode(t, 130)
			section(t, "cloud/set.txt", name, transcriptOn(s, r))
		})
	}
}

// A name that is a path, such as one to another organization or route, is never sent.
func TestNamesNeverLeadElsewhere(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	with := func(name string) [][]string {
		return [][]string{
			{"list", "--", name},
			{"set", "--skip", "--", name, "A=1"},
			{"unset", "--skip", "--", name, "A"},
			{"unset", "a", name + "/", "--skip"},
			{"check", "--file=-", "--", name},
			{"wait", "--", name},
			{"reference", "--region=pce-a", "--", name},
			{"reference", "a", "-r=" + name + "?"},
			{"delete", "--skip", "--", name},
			{"image-pull-secret", "--", name, "ghcr.io", "a:b"},
			{"list", "-o=" + name + "/"},
			{"list", "-r=" + name + "?"},
		}
	}
	var lines []string
	for _, args := range with("") {
		lines = append(lines, args[0])
	}
	wantEachSecretsCommand(t, lines, nil)
	for _, name := range []string{
		"", ".", "..", "../services/a", "a/b", "a%2fb", "a?x=1", "a#b", "a b", "-a", "a-", "ä", "a\n",
		strings.Repeat("a", 64), `a\b`, "*",
	} {
		for _, args := range with(name) {
			r := runOn(t, s, append([]string{"cloud", "secrets"}, args...)...)
			if r.code != 2 {
				t.Errorf("vbot cloud secrets %q: exit code %d", args, r.code)
			}
		}
	}
}

// A name with a line end cannot imitate a line of vbot's output.
func TestNamesMakeNoLines(t *testing.T) {
	parallel(t)
	r := runOn(t, cloudtest.New(t, "vbot/"+version), "cloud", "secrets", "set", "app", "--skip", "--file",
		"none\nerror: all of it was sent")
	r.wantCode(t, 2)
	if strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("it said\n%s", r.stderr)
	}
}

// A secret that is too long is refused, not cut.
func TestSecretOnStdinThatIsTooLong(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	r := inProcess{env: s.Env(), stdin: strings.NewReader("bob:" + strings.Repeat("x", maxSecret))}.vbot(t,
		"cloud", "secrets", "image-pull-secret", "reg", "ghcr.io")
	r.wantCode(t, 2)
	if r.stderr != "error: credentials: stdin: larger than 64 KiB\n" {
		t.Errorf("it said\n%s", r.stderr)
	}
}

// Credentials without a user or a password are not stored: a registry would refuse them later.
func TestImagePullNeedsUserAndPassword(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	for _, login := range []string{"bob:", ":pw", ":", "bob"} {
		for _, args := range [][]string{{"hub", "ghcr.io", login}, {"hub", "ghcr.io"}} {
			r := inProcess{env: s.Env(), stdin: strings.NewReader(login + "\n")}.vbot(t,
				append([]string{"cloud", "secrets", "image-pull-secret"}, args...)...)
			if r.wantCode(t, 2); !strings.Contains(r.stderr, "must be USER:PASSWORD") {
				t.Errorf("%s: %s", login, r.stderr)
			}
		}
	}
}

// A password may have several lines. It is stored whole.
func TestImagePullStoresWhatWasGiven(t *testing.T) {
	parallel(t)
	const keyFile = "_json_key:{\n\t\"type\": \"service_account\"\r\n}\n"
	for _, c := range []struct{ args, stdin, want string }{
		{"bob:t0k:en", "", "Ym9iOnQwazplbg=="},
		{"--encode bob:t0k", "", "Ym9iOnQwaw=="},
		{"--no-encode Ym9iOnQwaw==", "", "Ym9iOnQwaw=="},
		{"--encode=false as-it-is", "", "as-it-is"},
		{"", "bob:t0k\r\n", "Ym9iOnQwaw=="},
		{"", keyFile + "\n", base64.StdEncoding.EncodeToString([]byte(keyFile))},
		{"--no-encode", keyFile, strings.TrimSuffix(keyFile, "\n")},
		{"-- KEYFILE", "", base64.StdEncoding.EncodeToString([]byte(keyFile))},
		{"--no-input", "bob:t0k", "Ym9iOnQwaw=="},
	} {
		args := strings.Fields(c.args)
		if i := slices.Index(args, "KEYFILE"); i >= 0 {
			args[i] = keyFile
		}
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "PUT ~/secrets/reg")
		r := inProcess{env: s.Env(), stdin: strings.NewReader(c.stdin)}.vbot(t,
			append([]string{"cloud", "secrets", "image-pull-secret", "reg", "ghcr.io"}, args...)...)
		r.wantCode(t, 0)
		if got := s.Values("reg")["value"]; got != c.want {
			t.Errorf("%s stored %q, want %q", c.args, got, c.want)
		}
	}
}

// Load.

func TestThousandKeysInOneRequest(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/big", "PUT ~/secrets/big")
	var file bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&file, "KEY_%04d='value %d'\n", i, i)
	}
	r := inProcess{env: s.Env(), stdin: &file}.vbot(t, "cloud", "secrets", "set", "big", "--file", "-",
		"--skip", "--json")
	r.wantCode(t, 0)
	if n := strings.Count(r.stdout, `"stored"`); n != 1000 || len(s.Values("big")) != 1000 ||
		s.Values("big")["KEY_0999"] != "value 999" {
		t.Errorf("%d reported as stored, %d stored", n, len(s.Values("big")))
	}
}

func TestLongValues(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/big", "PUT ~/secrets/big")
	value := strings.Repeat("0123456789abcde\n", 4<<10)
	var file bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&file, "KEY_%d=\"%s\"\n", i, value)
	}
	r := inProcess{env: s.Env(), stdin: &file}.vbot(t, "cloud", "secrets", "set", "big", "--file", "-",
		"--skip")
	r.wantCode(t, 0)
	if len(s.Values("big")) != 100 || s.Values("big")["KEY_99"] != value {
		t.Errorf("stored %d keys, the last with %d bytes", len(s.Values("big")),
			len(s.Values("big")["KEY_99"]))
	}
}

func TestListOfTwoHundred(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "GET ~/secrets")
	for i := range 200 {
		s.Put(fmt.Sprintf("set-%03d", i), "us-west", "ready")
	}
	r := runOn(t, s, "cloud", "secrets", "list")
	r.wantCode(t, 0)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != 201 || !strings.HasPrefix(lines[1], "set-000 ") ||
		!strings.HasPrefix(lines[200], "set-199 ") {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[1], lines[len(lines)-1])
	}
	r = runOn(t, s, "cloud", "secrets", "list", "--json")
	if n := strings.Count(r.stdout, `"name"`); n != 200 {
		t.Errorf("%d in the JSON", n)
	}
}

// If one connection in three is dropped, no key is lost, and every report is correct.
func TestOneConnectionInThreeIsDropped(t *testing.T) {
	parallel(t)
	for name, how := range map[string]cloudtest.Fault{
		"before": cloudtest.Drop,
		"after":  cloudtest.LoseResponse,
		"half":   cloudtest.Truncate,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.NewLenient(t, "vbot/"+version)
			defer s.Close()
			n := 0
			inThree := func(w http.ResponseWriter, r *http.Request, body []byte, serve func()) {
				s.Mu.Lock()
				n++
				dropped := n%3 == 0
				s.Mu.Unlock()
				if dropped {
					how(w, r, body, serve)
					return
				}
				serve()
			}
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				s.FailNext(method, cloudtest.Repeat(1000, inThree)...)
			}
			for i := range 30 {
				name, key := fmt.Sprintf("set-%d", i), fmt.Sprintf("K%d", i)
				runOn(t, s, "cloud", "secrets", "set", name, key+"=v1", "OTHER=v2", "--skip").wantCode(t, 0)
				if v := s.Values(name); v[key] != "v1" || v["OTHER"] != "v2" {
					t.Fatalf("%s holds %v", name, v)
				}
				runOn(t, s, "cloud", "secrets", "unset", name, key, "--skip").wantCode(t, 0)
				if v := s.Values(name); v[key] != "" || v["OTHER"] != "v2" {
					t.Fatalf("%s holds %v", name, v)
				}
				runOn(t, s, "cloud", "secrets", "list", name).wantCode(t, 0)
				runOn(t, s, "cloud", "secrets", "delete", name, "--skip").wantCode(t, 0)
				if s.Values(name) != nil {
					t.Fatalf("%s is still there", name)
				}
			}
			if n < 180 {
				t.Errorf("only %d requests", n)
			}
		})
	}
}

// Several runs write one set at the same time. The API refuses overlapping writes, and in the end the set has
// all keys.
func TestOverlappingWrites(t *testing.T) {
	parallel(t)
	s := cloudtest.NewLenient(t, "vbot/"+version)
	defer s.Close()
	s.Slow = 30 * time.Millisecond
	env := s.Env()
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			r := inProcess{
				env:   env,
				dir:   "/nowhere",
				clock: &cloudtest.Clock{Second: time.Duration(60+90*i) * time.Millisecond},
			}.
				vbot(t, "cloud", "secrets", "set", "app", fmt.Sprintf("K%d=v", i), "--skip")
			if r.code != 0 {
				t.Errorf("exit code %d: %s", r.code, r.stderr)
			}
		})
	}
	all.Wait()
	if v := s.Values("app"); len(v) != 3 || s.Overlaps == 0 {
		t.Errorf("%d overlaps, and the API holds %v", s.Overlaps, v)
	}
}

func BenchmarkSet(b *testing.B) {
	for _, n := range []int{1, 50, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := cloudtest.NewLenient(b, "vbot/"+version)
			defer s.Close()
			args := []string{"cloud", "secrets", "set", "app", "--skip"}
			for i := range n {
				args = append(args, fmt.Sprintf("KEY_%d=value", i))
			}
			for b.Loop() {
				runOn(b, s, args...).wantCode(b, 0)
			}
		})
	}
}

func BenchmarkListOfTwoHundred(b *testing.B) {
	s := cloudtest.NewLenient(b, "vbot/"+version)
	defer s.Close()
	for i := range 200 {
		s.Put(fmt.Sprintf("set-%03d", i), "us-west", "ready")
	}
	for b.Loop() {
		runOn(b, s, "cloud", "secrets", "list").wantCode(b, 0)
	}
}

// If a run is interrupted in the pause before another try, keys that were not stored are not reported as
// failed.
func TestInterruptedPauseOfPrune(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/OLD")
	s.Put("app", "us-west", "ready", "OLD")
	ctx, cancel := context.WithCancel(context.Background())
	s.FailNext("DELETE", cloudtest.Status(503, "X", "oops"))
	s.Clock.Begin = cancel
	h := inProcess{ctx: ctx, env: s.Env(), clock: s.Clock}
	r := h.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--prune", "--skip", "--json")
	if r.wantCode(t, 130); !strings.Contains(r.stdout, `"not_tried"`) ||
		strings.Contains(r.stdout, `"failed"`) {
		t.Errorf("it said %s", r.stdout)
	}
}

// A region that the API chose is not sent back to it.
func TestRegionOfTheAPI(t *testing.T) {
	parallel(t)
	for args, want := range map[string]string{"": "", "--region=us-west": `"region":"us-west"`} {
		body := ""
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
		s.FailNext("PUT", func(_ http.ResponseWriter, _ *http.Request, data []byte, serve func()) {
			body = string(data)
			serve()
		})
		s.Put("app", "us-west", "ready", "A")
		runOn(t, s, strings.Fields("cloud secrets set app A=1 --skip "+args)...).wantCode(t, 0)
		s.Close() // what its handler wrote is there
		if strings.Contains(body, "region") != (want != "") || !strings.Contains(body, want) {
			t.Errorf("%q: it sent %s", args, body)
		}
	}
}

// --prune removes a key by its name, whatever the values are. It removes none whose name could
// lead to another path of the API.
func TestPruneOfAnOddKey(t *testing.T) {
	parallel(t)
	for key, want := range map[string]string{
		"a/b": "--prune: key a/b cannot be removed: " + secret.KeyRule + "; nothing was written\n",
		"B C": "--prune: key B C cannot be removed: ", strings.Repeat("x", 65): "--prune: key xxx",
		"B\u200bC": "unexpected answer (200): a name that cannot be shown\n",
		"BC\n":     "unexpected answer (200): a name that cannot be shown\n",
	} {
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app")
		s.Put("app", "us-west", "ready", "BC", key)
		r := runOn(t, s, "cloud", "secrets", "set", "app", "NEW=1", "--prune", "--skip")
		if r.wantCode(t, 1); !strings.Contains(r.stderr, want) || len(s.Values("app")) != 2 {
			t.Errorf("the set holds %q, and it printed %s", s.Values("app"), r.stderr)
		}
	}
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/A_KEY_AND_A_VALUE")
	s.Put("app", "us-west", "ready", "A_KEY_AND_A_VALUE")
	r := inProcess{env: s.Env(), stdin: strings.NewReader("NEW=A_KEY_AND_A_VALUE\n")}.vbot(t,
		strings.Fields("cloud secrets set app --file - --prune --skip")...)
	if r.wantCode(t, 0); len(s.Values("app")) != 1 {
		t.Errorf("the set holds %q", s.Values("app"))
	}
}

// If a run is interrupted between storing and removing, it reports the stored keys.
func TestPruneIsInterrupted(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/OLD")
	s.Put("app", "us-west", "ready", "OLD")
	ctx, cancel := context.WithCancel(context.Background())
	s.FailNext("DELETE", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
		cancel()
		<-r.Context().Done()
	})
	r := inProcess{ctx: ctx, env: s.Env()}.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--prune",
		"--skip", "--json")
	r.wantCode(t, 130)
	section(t, "cloud/set.txt", "set-prune-interrupted", transcriptOn(s, r))
}
