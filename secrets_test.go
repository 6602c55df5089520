package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
	"vbot/internal/dotenv"
	"vbot/internal/filetest"
)

// A life of a set, in the real binary.
func TestSecretsInTheRealBinary(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh", "GET ~/secrets",
		"GET ~/secrets/fresh", "DELETE ~/secrets/fresh/A", "GET ~/secrets/fresh", "DELETE ~/secrets/fresh")
	dir := t.TempDir()
	filetest.Put(t, dir, "my.env", "export A=1\nB='two words' # note\n")
	for _, c := range []struct{ args, want string }{
		{"set fresh --file my.env --skip --json", `"result": "stored"`},
		{"list --json", `"name": "fresh"`},
		{"unset fresh A --skip --json", `"key": "A"`},
		{"delete fresh --skip --json", `"deleted": true`},
	} {
		r := with{env: s.Env()}.vbot(t, dir,
			append([]string{"cloud", "secrets"}, strings.Fields(c.args)...)...)
		r.wantCode(t, 0)
		if !strings.Contains(r.stdout, c.want) || !json.Valid([]byte(r.stdout)) {
			t.Errorf("vbot cloud secrets %s printed %s", c.args, r.stdout)
		}
	}
	if left := s.Values("fresh"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

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

// What is stored is exactly what was given.
func TestSetStoresWhatWasGiven(t *testing.T) {
	parallel(t)

	for _, c := range givenCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
			dir := t.TempDir()
			args := []string{"cloud", "secrets", "set", "fresh", "--skip"}
			if c.file != "" {
				filetest.Put(t, dir, "f.env", c.file)
				args = append(args, "--file", "f.env")
			}
			r := here{env: s.Env(), dir: dir}.vbot(t, append(args, c.args...)...)
			r.wantCode(t, 0)
			if got, want := fmt.Sprintf("%q", s.Values("fresh")), fmt.Sprintf("%q", c.want); got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
		})
	}
}

// Stdin, and files that are none.
func TestSetReadsStdinAndFiles(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	r := here{env: s.Env(), stdin: strings.NewReader("A=1\nB=2\n")}.vbot(t, "cloud", "secrets", "set",
		"fresh", "--file", "-", "--skip")
	r.wantCode(t, 0)
	if s.Values("fresh")["B"] != "2" {
		t.Errorf("stored %v", s.Values("fresh"))
	}
	s = cloudtest.New(t, "vbot/"+version)
	dir := t.TempDir()
	filetest.Put(t, dir, "bad.env",
		"A=1\nnonsense hunter2\nB=\"x\ny\" hunter2\nC=\n# ok\nA=2\nbad key=hunter2\nD='hunter2\n")
	filetest.Put(t, dir, "utf16.env", "\xff\xfeA\x00=\x001\x00")
	filetest.Put(t, dir, "empty.env", "# nothing\n")
	filetest.Put(t, dir, "zero.env", "A=x\x00y\n")
	for _, c := range []struct{ name, file, stdin string }{
		{"file-bad", "bad.env", ""},
		{"file-utf16", "utf16.env", ""},
		{"file-empty", "empty.env", ""},
		{"file-nul", "zero.env", ""},
		{"file-missing", "none.env", ""},
		{"file-directory", ".", ""},
		{"file-stdin-bad", "-", "ok=1\noops\n"},
	} {
		for _, end := range []string{"", "-json"} {
			args := []string{"cloud", "secrets", "set", "fresh", "--file", c.file, "--skip"}
			if end != "" {
				args = append(args, "--json")
			}
			r := here{env: s.Env(), dir: dir, stdin: strings.NewReader(c.stdin)}.vbot(t, args...)
			r.wantCode(t, 2)
			if strings.Contains(r.stdout+r.stderr, "hunter2") {
				t.Errorf("a value was printed: %s", r.stderr)
			}
			section(t, "cloud/set.txt", c.name+end, transcriptOn(s, r))
		}
	}
	r = here{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "fresh", "A=1", "--file", "bad.env",
		"A=3", "--skip")
	r.wantCode(t, 2)
}

// A pipe that never ends does not keep vbot from being interrupted.
func TestSetIsInterruptedWhileReading(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	r := here{ctx: ctx, env: s.Env(), stdin: in}.vbot(t, "cloud", "secrets", "set", "fresh", "--file", "-",
		"--skip")
	r.wantCode(t, 130)
}

// Interrupted while the API stores: what is not known is not called done.
func TestSetIsInterruptedWhileStoring(t *testing.T) {
	parallel(t)
	for _, name := range []string{"set-interrupted", "set-interrupted-one-by-one"} {
		t.Run(name, func(t *testing.T) {
			s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
			ctx, cancel := context.WithCancel(context.Background())
			if s.NoBulk = strings.HasSuffix(name, "one"); s.NoBulk {
				s.Want("PUT ~/secrets/fresh", "PUT ~/secrets/fresh").Misbehave("PUT", cloudtest.Right,
					cloudtest.Right)
			}
			s.Misbehave("PUT", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
				cancel()
				<-r.Context().Done()
			})
			r := here{ctx: ctx, env: s.Env()}.vbot(t, "cloud", "secrets", "set", "fresh", "A=1", "B=2", "C=3",
				"--skip", "--json")
			r.wantCode(t, 130)
			section(t, "cloud/set.txt", name, transcriptOn(s, r))
		})
	}
}

// Names that are paths, of other organizations or routes never become a request.
func TestNamesNeverLeadElsewhere(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	for _, name := range []string{
		"", ".", "..", "../services/a", "a/b", "a%2fb", "a?x=1", "a#b", "a b", "-a", "a-", "ä", "a\n",
		strings.Repeat("a", 64), `a\b`, "*",
	} {
		for _, args := range [][]string{
			{"list", "--", name},
			{"set", "--skip", "--", name, "A=1"},
			{"unset", "--skip", "--", name, "A"},
			{"unset", "a", name + "/", "--skip"},
			{"check", "--file=-", "--", name},
			{"reference", "--region=pce-a", "--", name},
			{"reference", "a", "-r=" + name + "?"},
			{"delete", "--skip", "--", name},
			{"image-pull-secret", "--", name, "ghcr.io", "a:b"},
			{"list", "-o=" + name + "/"},
			{"list", "-r=" + name + "?"},
		} {
			r := runOn(t, s, append([]string{"cloud", "secrets"}, args...)...)
			if r.code != 2 {
				t.Errorf("vbot cloud secrets %q: exit code %d", args, r.code)
			}
		}
	}
}

// A name with a line end makes no line that looks like one of vbot's.
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
	r := here{env: s.Env(), stdin: strings.NewReader("bob:" + strings.Repeat("x", maxSecret))}.vbot(t,
		"cloud", "secrets", "image-pull-secret", "reg", "ghcr.io")
	r.wantCode(t, 2)
	if r.stderr != "error: credentials: stdin: larger than 65536 bytes\n" {
		t.Errorf("it said\n%s", r.stderr)
	}
}

// Credentials without a user or a password are not stored: a registry would refuse them later.
func TestImagePullNeedsUserAndPassword(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version)
	for _, login := range []string{"bob:", ":pw", ":", "bob"} {
		for _, args := range [][]string{{"hub", "ghcr.io", login}, {"hub", "ghcr.io"}} {
			r := here{env: s.Env(), stdin: strings.NewReader(login + "\n")}.vbot(t,
				append([]string{"cloud", "secrets", "image-pull-secret"}, args...)...)
			if r.wantCode(t, 2); !strings.Contains(r.stderr, "must be USER:PASSWORD; ") {
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
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets", "PUT ~/secrets/reg")
		r := here{env: s.Env(), stdin: strings.NewReader(c.stdin)}.vbot(t,
			append([]string{"cloud", "secrets", "image-pull-secret", "reg", "ghcr.io"}, args...)...)
		r.wantCode(t, 0)
		if got := s.Values("reg")["value"]; got != c.want {
			t.Errorf("%s stored %q, want %q", c.args, got, c.want)
		}
	}
}

// planted is a value that must not come out, with all that has to be escaped somewhere.
const planted = "pl4nted\"value+with/line\nand-a-second-one=="

// plantedFile is a file with planted as the value of KEY.
var plantedFile = "KEY=\"" + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(planted) + "\"\n"

// An inputCase is a way in which a secret value comes to vbot.
type inputCase struct {
	name   string
	args   []string
	stdin  string
	hidden []string
	env    []string
}

// inputCases are all of them, right and wrong.
func inputCases() []inputCase {
	parts := []string{"pl4nted", "and-a-second-one"}
	login := []string{"pl4nted", "Ym9iOnBsNG50ZWQtcHc"}
	set := func(args ...string) []string {
		return append([]string{"cloud", "secrets", "set", "app"}, args...)
	}
	pull := func(args ...string) []string {
		return append([]string{"cloud", "secrets", "image-pull-secret", "reg"}, args...)
	}
	return []inputCase{
		{name: "pair", args: set("KEY="+planted, "B=1", "--skip"), hidden: parts},
		{name: "pair that reads both ways", args: set("KEY="+planted, "--skip"), hidden: parts},
		{name: "pair that has to be confirmed", args: set("KEY="+planted, "B=1"), hidden: parts},
		{name: "pair, dry run", args: set("KEY="+planted, "B=1", "--dry-run"), hidden: parts},
		{name: "pair, wait", args: set("KEY="+planted, "B=1", "--skip", "--wait=3s"), hidden: parts},
		{name: "pair without its key", args: set("--skip", planted, "pl4nted?x=1"), hidden: parts},
		{
			name:   "pair in place of a name",
			args:   []string{"cloud", "secrets", "set", "TOKEN=pl4nted", "app"},
			hidden: parts,
		},
		{
			name:   "pair in place of a command",
			args:   []string{"cloud", "secrets", "TOKEN=pl4nted", "set", "app"},
			hidden: parts,
		},
		{name: "pair, twice", args: set("KEY="+planted, "KEY="+planted, "--skip"), hidden: parts},
		{
			name:   "option",
			args:   set("A=1", "-Pl4nted-pl4nted", "--tokn=pl4nted", "--skip=pl4nted", "--wait=pl4nted"),
			hidden: parts,
		},
		{name: "file", args: set("--file", "s.env", "--skip"), hidden: parts},
		{name: "broken file", args: set("--file", "broken.env", "--skip"), hidden: parts},
		{name: "stdin", args: set("--file", "-", "--skip"), stdin: plantedFile, hidden: parts},
		{name: "object", args: set("--file", "s.json", "--skip", "--prune"), hidden: parts},
		{name: "broken object", args: set("--file", "broken.json", "--skip"), hidden: parts},
		{name: "value file", args: set("--value-file", "KEY=value", "--skip"), hidden: parts},
		{
			name:   "value in place of a file",
			args:   set("--value-file", "KEY=pl4nted", "--value-file=pl4nted", "--skip"),
			hidden: parts,
		},
		{name: "words", args: set("pl4nted", "pl4nted", "pl4nted=", "--skip", "--no-input"), hidden: parts},
		{name: "check", args: []string{"cloud", "secrets", "check", "app", "--file", "s.env"}, hidden: parts},
		{name: "credentials", args: pull("ghcr.io", "bob:pl4nted-pw"), hidden: login},
		{name: "credentials as they are", args: pull("ghcr.io", "pl4nted-pw", "--no-encode"), hidden: login},
		{name: "credentials on stdin", args: pull("ghcr.io"), stdin: "bob:pl4nted-pw\n", hidden: login},
		{name: "credentials in the host", args: pull("https://bob:pl4nted-pw@ghcr.io"), hidden: login},
		{name: "credentials without a colon", args: pull("ghcr.io", "pl4nted-pw"), hidden: login},
		{
			name:   "token",
			args:   []string{"cloud", "secrets", "list"},
			hidden: parts,
			env:    []string{"VBOT_TOKEN=pcc_pat_pl4nted"},
		},
		{
			name:   "token with a blank",
			args:   []string{"cloud", "secrets", "list"},
			hidden: parts,
			env:    []string{"VBOT_TOKEN=pcc_pat_pl4nted x"},
		},
		{
			name:   "token for login",
			args:   []string{"cloud", "login"},
			stdin:  "pcc_pat_pl4nted\n",
			hidden: parts,
		},
		{name: "token as an argument", args: []string{"cloud", "login", "pcc_pat_pl4nted"}, hidden: parts},
		{
			name:   "address with a password",
			args:   []string{"cloud", "whoami"},
			hidden: parts,
			env:    []string{"VBOT_API_URL=https://u:pl4nted@x"},
		},
	}
}

// outcomesOfARequest are what a request may meet, by name; nil is success.
func outcomesOfARequest() map[string]cloudtest.Fault {
	outcomes := map[string]cloudtest.Fault{
		"success":     nil,
		"drop":        cloudtest.Drop,
		"lost answer": cloudtest.LoseAnswer,
		"half":        cloudtest.Half,
		"html":        cloudtest.With200("<html>"),
		"huge":        cloudtest.Huge,
		"null":        cloudtest.With200("null"),
		"array":       cloudtest.With200("[1]"),
		"redirect":    cloudtest.Status(307, "X", "moved", "Location", "https://example.com/pl4nted"),
	}
	for _, code := range []int{400, 401, 403, 404, 409, 413, 418, 422, 429, 500, 501, 502, 503, 504} {
		outcomes["echo "+strconv.Itoa(code)] = cloudtest.Echo(code)
	}
	return outcomes
}

// A value never comes out again, whichever way it went in and whatever happens.
func TestValuesNeverComeOut(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "s.env", plantedFile)
	filetest.Put(t, dir, "broken.env", plantedFile+"pl4nted\nKEY=pl4nted\nX='pl4nted\n")
	object, err := json.Marshal(map[string]string{"KEY": planted})
	if err != nil {
		t.Fatal(err)
	}
	filetest.Put(t, dir, "s.json", string(object))
	filetest.Put(t, dir, "broken.json", string(object)+`, "pl4nted": "pl4nted"}`)
	filetest.Put(t, dir, "value", planted)
	for _, in := range inputCases() {
		t.Run(in.name, func(t *testing.T) {
			t.Parallel()
			for name, fault := range outcomesOfARequest() {
				for _, method := range []string{"GET", "PUT"} {
					for _, asJSON := range []bool{false, true} {
						isHalf := asJSON != (method == "PUT") // of the combinations
						isSame := fault == nil && method == "PUT" ||
							name == "huge" && (asJSON || in.name != "pair")
						if isSame || isHalf && fault != nil && !filetest.Thorough() {
							continue
						}
						s := cloudtest.Bare(t, "vbot/"+version)
						if fault != nil {
							s.Misbehave(method, cloudtest.Times(8, fault)...)
						}
						in.check(t, s, dir, name+" on "+method, asJSON)
					}
				}
			}
		})
	}
}

// check runs the command in the directory; outcome says what its requests meet.
func (in inputCase) check(t *testing.T, s *cloudtest.Standin, dir, outcome string, asJSON bool) {
	t.Helper()
	args := slices.Clone(in.args)
	if asJSON {
		args = append(args, "--json")
	}
	env := append(s.Env(), in.env...)
	r := here{env: env, dir: dir, stdin: strings.NewReader(in.stdin)}.vbot(t, args...)
	s.Close()
	for _, part := range in.hidden {
		if strings.Contains(r.stdout+r.stderr, part) {
			const cameOut = "%s: exit code %d, and %q came out:\n%s%s"
			t.Errorf(cameOut, outcome, r.code, part, r.stdout, r.stderr)
		}
	}
	isListing := strings.HasPrefix(r.stdout, "KEY  STATE\n")
	isOdd := r.code != 0 && r.stdout != "" && !isListing
	if asJSON {
		isOdd = !json.Valid([]byte(r.stdout))
	}
	if isOdd {
		t.Errorf("%s: exit code %d, and stdout is %q", outcome, r.code, r.stdout)
	}
	stores := []string{"pair", "pair, wait", "file", "stdin", "object", "value file"}
	v := s.Values("app")
	if r.code == 0 && slices.Contains(stores, in.name) && v["KEY"] != planted {
		t.Errorf("%s: reported as stored, and holds %v", outcome, v)
	}
}

// A type that prints nothing of itself guards against what no test thinks of.
func TestSecretPrintsNothing(t *testing.T) {
	parallel(t)
	p := cloud.Pair{Key: "K", Value: cloud.NewSecret("hunter2")}
	data, err := json.Marshal(map[string]any{"v": p.Value})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{
		fmt.Sprint(p, &p), fmt.Sprintf("%v %+v %#v %v %#v", p, p, p, p.Value, p.Value), string(data),
	} {
		if strings.Contains(got, "hunter2") || strings.Contains(got, "68756e") {
			t.Errorf("a secret printed itself: %s", got)
		}
	}
}

// Load.

func TestThousandKeysInOneRequest(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/big", "PUT ~/secrets/big")
	var file bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&file, "KEY_%04d='value %d'\n", i, i)
	}
	r := here{env: s.Env(), stdin: &file}.vbot(t, "cloud", "secrets", "set", "big", "--file", "-", "--skip",
		"--json")
	r.wantCode(t, 0)
	if n := strings.Count(r.stdout, `"stored"`); n != 1000 || len(s.Values("big")) != 1000 ||
		s.Values("big")["KEY_0999"] != "value 999" {
		t.Errorf("%d reported as stored, %d stored", n, len(s.Values("big")))
	}
}

func TestLongValues(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/big", "PUT ~/secrets/big")
	value := strings.Repeat("0123456789abcde\n", 4<<10)
	var file bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&file, "KEY_%d=\"%s\"\n", i, value)
	}
	r := here{env: s.Env(), stdin: &file}.vbot(t, "cloud", "secrets", "set", "big", "--file", "-", "--skip")
	r.wantCode(t, 0)
	if len(s.Values("big")) != 100 || s.Values("big")["KEY_99"] != value {
		t.Errorf("stored %d keys, the last with %d bytes", len(s.Values("big")),
			len(s.Values("big")["KEY_99"]))
	}
}

func TestListOfTwoHundred(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets", "GET ~/secrets")
	for i := range 200 {
		s.Keep(fmt.Sprintf("set-%03d", i), "us-west", "ready")
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

// withoutEffect are faults of requests that did nothing, and of which none is a response that fits.
func withoutEffect() (faults []cloudtest.Fault) {
	for _, body := range []string{
		"", "<html>", "{}", "null", `{"status":"failed"}`, `{"status":"OK","name":"other"}`,
		`{"status":"OK","region":"eu-central","type":"else","name":"other"}`,
		`{"status":"OK","error":"nothing done"}`, `{"name":"team","region":"pce-b"}`,
		`{"name":"team","status":"failed"}`, `{"sets":[{}],"secrets":[{}],"status":"ok "}`,
		`{"sets":[],"secrets":[],"status":"OK","error":"nothing done"}`,
	} {
		faults = append(faults, cloudtest.With200(body))
	}
	for _, status := range []int{301, 400, 401, 403, 409, 422, 429, 500, 502, 503, 504} {
		faults = append(faults, cloudtest.Status(status, "X", "Organization not found"),
			cloudtest.Echo(status))
	}
	return append(faults,
		cloudtest.Drop,
		cloudtest.Half,
		cloudtest.Informed(101),
		cloudtest.Informed(102),
		cloudtest.Informed(slices.Repeat([]int{103}, 20)...),
		cloudtest.Status(409, "X", "referenced"))
}

// A misfortune chooses what requests meet at random.
type misfortune struct {
	random        *rand.Rand
	reads, writes []cloudtest.Fault
}

// newMisfortune returns one that is the same in every run. That there is no such set is a response
// that fits, to a read.
func newMisfortune() *misfortune {
	m := &misfortune{random: rand.New(rand.NewPCG(1, 2)), reads: withoutEffect()}
	m.writes = append(withoutEffect(), setNotFound)
	for _, f := range m.writes {
		m.writes = append(m.writes, cloudtest.Do(f))
	}
	return m
}

var setNotFound = cloudtest.Status(404, "X", "Organization not found")

// next is what the next request of the method meets.
func (m *misfortune) next(method string) cloudtest.Fault {
	faults := m.writes
	if method == "GET" {
		faults = m.reads
	}
	f := faults[m.random.IntN(len(faults))]
	switch m.random.IntN(4) {
	case 0:
		return cloudtest.Right
	case 1:
		return cloudtest.Inform(100, 103)
	case 2:
		lost := cloudtest.Do(cloudtest.Status(502, "X", "x"))
		return []cloudtest.Fault{cloudtest.Drop, cloudtest.LoseAnswer, lost}[m.random.IntN(3)]
	case 3:
		if method == "DELETE" {
			return setNotFound
		}
	}
	return f
}

// isDone reports whether the API holds what the command line says.
func isDone(s *cloudtest.Standin, line string) bool {
	app := s.Values("app")
	switch strings.Fields(line)[0] {
	case "set":
		_, isLeft := app["L"]
		return app["A"] == plantedValue && app["K"] == "2" && isLeft != strings.Contains(line, "--prune")
	case "unset":
		_, isLeft := app["K"]
		return app != nil && !isLeft
	case "delete":
		return app == nil
	case "image-pull-secret":
		return s.Values("reg")["value"] != ""
	}
	return s.Sets["team"] != nil
}

const plantedValue = "pl4nted-value"

// Whatever goes wrong, and whenever: what is reported as done is done.
func TestDoneMeansDone(t *testing.T) {
	parallel(t)
	lines := []string{
		"set app A=" + plantedValue + " K=2 --region us-east --skip",
		"set app A=" + plantedValue + " K=2 --prune --skip",
		"unset app K --skip",
		"delete app --skip",
		"image-pull-secret reg ghcr.io bob:" + plantedValue + " --region us-east",
		"reference team --region pce-acme",
	}
	m := newMisfortune()
	var all sync.WaitGroup
	var done, runs atomic.Int32
	for range filetest.Rounds(300, 5000) {
		s := cloudtest.Bare(t, "vbot/"+version)
		s.Keep("app", "us-east", "ready", "K", "L")
		s.Cluster = map[string]string{"team": cloud.TypeSet}
		s.NoBulk = m.random.IntN(2) == 0
		for _, method := range []string{"GET", "PUT", "POST", "DELETE"} {
			for range m.random.IntN(5) {
				s.Misbehave(method, m.next(method))
			}
		}
		line := lines[m.random.IntN(len(lines))]
		all.Go(func() {
			r := runOn(t, s, strings.Fields("cloud secrets "+line)...)
			s.Close()
			if strings.Contains(r.stdout+r.stderr, plantedValue) {
				t.Errorf("vbot cloud secrets %s: it printed %s%s", line, r.stdout, r.stderr)
			}
			if runs.Add(1); r.code != 0 {
				return
			}
			if done.Add(1); !isDone(s, line) {
				const notDone = "vbot cloud secrets %s: exit code 0, and the API holds %v after %q\n%s"
				t.Errorf(notDone, line, s.Values("app"), s.Log, r.stderr)
			}
		})
		if m.random.IntN(8) == 0 {
			all.Wait()
		}
	}
	all.Wait()
	if done.Load() < runs.Load()/15 || runs.Load()-done.Load() < runs.Load()/15 {
		t.Errorf("%d of %d runs succeeded", done.Load(), runs.Load())
	}
}

// With one connection in three dropped nothing is lost, and nothing is reported
// that is not so.
func TestOneConnectionInThreeIsDropped(t *testing.T) {
	parallel(t)
	for name, how := range map[string]cloudtest.Fault{
		"before": cloudtest.Drop,
		"after":  cloudtest.LoseAnswer,
		"half":   cloudtest.Half,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.Bare(t, "vbot/"+version)
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
				s.Misbehave(method, cloudtest.Times(1000, inThree)...)
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

// Several who write one set at once: the API refuses overlaps, and in the end the
// keys of all are there.
func TestOverlappingWrites(t *testing.T) {
	parallel(t)
	s := cloudtest.Bare(t, "vbot/"+version)
	defer s.Close()
	s.Slow = 30 * time.Millisecond
	env := s.Env()
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			r := here{
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
			s := cloudtest.Bare(b, "vbot/"+version)
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
	s := cloudtest.Bare(b, "vbot/"+version)
	defer s.Close()
	for i := range 200 {
		s.Keep(fmt.Sprintf("set-%03d", i), "us-west", "ready")
	}
	for b.Loop() {
		runOn(b, s, "cloud", "secrets", "list").wantCode(b, 0)
	}
}

// filled is a .env.example with the given variables filled in, and the rest as it is.
func filled(example string, values map[string]string) string {
	var b strings.Builder
	for line := range strings.Lines(example) {
		key, _, _ := strings.Cut(line, "=")
		if v, ok := values[key]; ok {
			line = key + "=" + v + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// A fileCase is a case of TestSetFromFiles.
type fileCase struct {
	name string
	args string
	want []string // requests
	code int
	held map[string]string
}

func fileCases() []fileCase {
	const getNew, putNew = "GET ~/secrets/fresh", "PUT ~/secrets/fresh"
	return []fileCase{
		{name: "gaps", args: "--file gaps.env", code: 2},
		{
			name: "skip-empty",
			args: "--file gaps.env --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1", "B": "two words"},
		},
		{
			name: "skip-empty-json",
			args: "--file gaps.env --skip-empty --json",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1", "B": "two words"},
		},
		{
			name: "skip-empty-given",
			args: "EMPTY=3 --file gaps.env --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1", "B": "two words", "EMPTY": "3"},
		},
		{name: "skip-empty-twice", args: "A=3 --file gaps.env --skip-empty", code: 2},
		{name: "skip-empty-nothing", args: "--file blank.env --skip-empty", code: 2},
		{name: "skip-empty-nothing-pruned", args: "--file blank.env --skip-empty --prune", code: 2},
		{name: "skip-empty-bad", args: "--file bad.env --skip-empty", code: 2},
		{
			name: "skip-empty-dry-run",
			args: "--file gaps.env --skip-empty --dry-run",
			want: []string{getNew},
			code: 0,
		},
		{
			name: "expanded",
			args: "--file vars.env",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{
				"HOST":   "h",
				"URL":    "http://${HOST}/",
				"QUOTED": "${HOST}",
				"PLAIN":  "$HOST",
			},
		},
		{
			name: "pasted", args: "--file pasted.env --value-file CARTESIA_API_KEY=key --value-file " +
				"AWS_SECRET_ACCESS_KEY=pem --value-file PEM=pem", want: []string{getNew, putNew}, code: 0,
			held: map[string]string{
				"OPENAI_API_KEY": "'hunter2'", "MINE": "'hunter2'", "DEEPGRAM_API_KEY": "hunter2\u2019s",
				"UMLAUT": "hunter2\u00e4 2", "AND": "'hunter2' & 'hunter2'", "BLANK": "hunter2 ",
				"CARTESIA_API_KEY":      "hunter2\n",
				"AWS_SECRET_ACCESS_KEY": "-----BEGIN PRIVATE KEY-----\nhunter2\n",
				"PEM":                   "-----BEGIN PRIVATE KEY-----\nhunter2\n",
			},
		},
		{
			name: "object",
			args: "--file s.json C=3",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1\né", "B-b": "${X} <&>", "C": "3"},
		},
		{
			name: "object-skip-empty",
			args: "--file gaps.json --skip-empty",
			want: []string{getNew, putNew},
			code: 0,
			held: map[string]string{"A": "1"},
		},
		{name: "object-bad", args: "--file bad.json", code: 2},
		{name: "object-bad-json", args: "--file bad.json --json", code: 2},
		{name: "object-cut", args: "--file cut.json", code: 2},
		{name: "object-word", args: "--file word.json", code: 2},
		{name: "object-two", args: "--file two.json", code: 2},
		{name: "object-none", args: "--file none.json", code: 2},
	}
}

// Files with secrets, what is said about them, and what is stored of them.
func TestSetFromFiles(t *testing.T) {
	parallel(t)

	const getApp, putApp = "GET ~/secrets/app", "PUT ~/secrets/app"
	dir := t.TempDir()
	filetest.Put(t, dir, "gaps.env", "A=1\nEMPTY=\nB='two words'\nALSO=\"\"\n")
	filetest.Put(t, dir, "blank.env", "A=\nB=\n")
	filetest.Put(t, dir, "bad.env", "A=\nhunter2\nB=\nB=2\nA=3\nA=4\n")
	filetest.Put(t, dir, "vars.env", "HOST=h\nURL=http://${HOST}/\nQUOTED='${HOST}'\nPLAIN=$HOST\n")
	filetest.Put(t, dir, "s.json", "\ufeff{\"A\": \"1\\n\\u00e9\",\n \"B-b\": \"${X} <&>\"}\n")
	filetest.Put(t, dir, "gaps.json", `{"A": "1", "EMPTY": ""}`)
	filetest.Put(t, dir, "bad.json",
		"{\"A\": \"hunter2\",\n\"A\": \"hunter2\", \"B\": 5,\n\"C\": null, \"bad key\": \"hunter2\",\n\n"+
			"\"D\": {\"x\": [\"hunter2\"]},\n"+
			`"E": "", "F": "a\u0000", "G": "a\ud800b"`+"}")
	filetest.Put(t, dir, "cut.json", "{\"A\": \"1\",\n\"B\": \"hunter2")
	filetest.Put(t, dir, "word.json", "{\n\"A\": \"1\",\nhunter2}")
	filetest.Put(t, dir, "two.json", `{"A": "1"} {"B": "hunter2"}`)
	filetest.Put(t, dir, "none.json", "{}\n")
	filetest.Put(t, dir, "pasted.env",
		"OPENAI_API_KEY=\"'hunter2'\"\nMINE=\"'hunter2'\"\nDEEPGRAM_API_KEY=hunter2\u2019s\n"+
			"UMLAUT=hunter2\u00e4 2\nAND=\"'hunter2' & 'hunter2'\"\nBLANK='hunter2 '\n")
	filetest.Put(t, dir, "key", "hunter2\n")
	filetest.Put(t, dir, "pem", "-----BEGIN PRIVATE KEY-----\nhunter2\n")
	for _, c := range fileCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
			r := here{env: s.Env(), dir: dir}.vbot(t,
				strings.Fields("cloud secrets set fresh --skip "+c.args)...)
			r.wantCode(t, c.code)
			if strings.Contains(r.stdout+r.stderr, "hunter2") {
				t.Error("a value was printed")
			}
			if got, want := fmt.Sprintf("%q", s.Values("fresh")), fmt.Sprintf("%q", c.held); got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
			section(t, "cloud/set.txt", "set-file-"+c.name, transcriptOn(s, r))
		})
	}
	// A key that is in the file stays, with and without a value; others go.
	s := cloudtest.New(t, "vbot/"+version).Want(getApp, putApp, "DELETE ~/secrets/app/GONE")
	s.Keep("app", "us-west", "ready", "A", "EMPTY", "GONE")
	r := here{env: s.Env(), dir: dir}.vbot(t,
		strings.Fields("cloud secrets set app --file gaps.env --skip-empty --prune --skip")...)
	r.wantCode(t, 0)
	if got := fmt.Sprint(s.Values("app")); got != "map[A:1 B:two words EMPTY:old]" {
		t.Errorf("the set holds %s", got)
	}
}

// A freshly copied .env.example of every golden project can be stored once some of its
// lines are filled in.
func TestEnvExamplesCanBeStored(t *testing.T) {
	parallel(t)
	var examples []string
	for path := range filetest.Tree(t, "golden") {
		if filepath.Base(path) == ".env.example" && filepath.Base(filepath.Dir(path)) == "server" {
			examples = append(examples, path)
		}
	}
	if len(examples) < 9 {
		t.Fatalf("found only %q", examples)
	}
	for _, path := range examples {
		text := document(t, filepath.Join("golden", path))
		pairs, faults := dotenv.Parse(text, true)
		if strings.Contains(path, "own-machine") && len(pairs) == 0 {
			continue // it needs none
		}
		if len(pairs) == 0 || len(faults) > 0 {
			t.Errorf("%s: %d pairs, %v", path, len(pairs), faults)
			continue
		}
		dir := t.TempDir()
		filetest.Put(t, dir, ".env",
			filled(text, map[string]string{pairs[0].Key: "the-value # of the first"}))
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh",
			"GET ~/secrets/fresh")
		here{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "fresh", "--file", ".env",
			"--skip-empty", "--skip").wantCode(t, 0)
		if got := s.Values("fresh"); len(got) == 0 || got[pairs[0].Key] != "the-value" {
			t.Errorf("%s: stored %q", path, got)
		}
		r := here{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "check", "fresh", "--file", ".env")
		if missing := strings.Count(r.stdout, "  missing\n"); missing != len(pairs)-len(s.Values("fresh")) ||
			r.code != 3*min(missing, 1) {
			t.Errorf("%s: exit code %d, and check says\n%s", path, r.code, r.stdout)
		}
	}
}

// The whole file is the value, byte for byte.
func TestValueFiles(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	values := map[string]string{
		"PEM":  "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n",
		"JSON": "{\r\n  \"private_key\": \"a\\nb\"\r\n}",
		"ODD":  "\ufeff \"$x ${y}\" 'z' # é\u2028\x1b\t\n\n ",
		"ONE":  "=",
	}
	args := []string{"cloud", "secrets", "set", "fresh", "--skip", "PLAIN=1"}
	for key, value := range values {
		filetest.Put(t, dir, "of="+key, value)
		args = append(args, "--value-file", key+"=of="+key)
	}
	values["PLAIN"] = "1"
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/fresh", "PUT ~/secrets/fresh")
	r := here{env: s.Env(), dir: dir}.vbot(t, args...)
	r.wantCode(t, 0)
	if got, want := fmt.Sprintf("%q", s.Values("fresh")), fmt.Sprintf("%q", values); got != want {
		t.Errorf("stored %s, want %s", got, want)
	}

	filetest.Put(t, dir, "empty", "")
	filetest.Put(t, dir, "zero", "hunter2\x00")
	filetest.Put(t, dir, "latin1", "hunter2\xe9")
	filetest.Put(t, dir, "-", "a file")
	large, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.Truncate(maxFile + 1); err != nil {
		t.Fatal(err)
	}
	s = cloudtest.New(t, "vbot/"+version)
	args = []string{"cloud", "secrets", "set", "fresh", "--skip", "SAME=1"}
	for _, arg := range []string{
		"EMPTY=empty", "NUL=zero", "LATIN=latin1", "LARGE=large", "DIR=.", "NONE=hunter2-as-a-value",
		"SAME=-", "hunter2", "PATH=", "bad key=hunter2", "=hunter2",
	} {
		args = append(args, "--value-file="+arg)
	}
	for _, end := range []string{"", "-json"} {
		if end != "" {
			args = append(args, "--json")
		}
		r = here{env: s.Env(), dir: dir, stdin: strings.NewReader("not read")}.vbot(t, args...)
		r.wantCode(t, 2)
		if strings.Contains(strings.SplitN(string(transcriptOn(s, r)), "\n", 2)[1], "hunter2") {
			t.Errorf("what may be a value was printed: %s%s", r.stdout, r.stderr)
		}
		section(t, "cloud/set.txt", "set-value-file-bad"+end, transcriptOn(s, r))
	}
}

// Interrupted in a pause before another try, what was not stored is not called failed.
func TestInterruptedPauseOfPrune(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/OLD")
	s.Keep("app", "us-west", "ready", "OLD")
	ctx, cancel := context.WithCancel(context.Background())
	s.Misbehave("DELETE", cloudtest.Status(503, "X", "oops"))
	s.Clock.Begin = cancel
	h := here{ctx: ctx, env: s.Env(), clock: s.Clock}
	r := h.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--prune", "--skip", "--json")
	if r.wantCode(t, 130); !strings.Contains(r.stdout, `"not_tried"`) ||
		strings.Contains(r.stdout, `"failed"`) {
		t.Errorf("it said %s", r.stdout)
	}
}

// Only of an image pull secret is a refusal explained as one.
func TestRefusedReading(t *testing.T) {
	parallel(t)
	for _, args := range []string{"list app", "set app A=1 --skip", "unset app K --skip"} {
		s := cloudtest.Bare(t, "vbot/"+version)
		s.Keep("app", "us-west", "ready", "K")
		s.Misbehave("GET", cloudtest.Status(400, "X", "no"))
		r := runOn(t, s, append([]string{"cloud", "secrets"}, strings.Fields(args)...)...)
		s.Close()
		if r.wantCode(t, 1); strings.Contains(r.stderr, "image pull secret") ||
			!strings.Contains(r.stderr, "the API answered 400") {
			t.Errorf("vbot cloud secrets %s: %s", args, r.stderr)
		}
	}
}

// A region that the API chose is not sent back to it.
func TestRegionOfTheAPI(t *testing.T) {
	parallel(t)
	for args, want := range map[string]string{"": "", "--region=us-west": `"region":"us-west"`} {
		body := ""
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app").Misbehave("PUT",
			func(_ http.ResponseWriter, _ *http.Request, data []byte, serve func()) {
				body = string(data)
				serve()
			})
		s.Keep("app", "us-west", "ready", "A")
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
		"a/b": "--prune: key a/b cannot be removed: " + cloud.KeyRule + "; nothing was written\n",
		"B C": "--prune: key B C cannot be removed: ", strings.Repeat("x", 65): "--prune: key xxx",
		"B\u200bC": "unexpected answer (200): a name that cannot be shown\n",
		"BC\n":     "unexpected answer (200): a name that cannot be shown\n",
	} {
		s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app")
		s.Keep("app", "us-west", "ready", "BC", key)
		r := runOn(t, s, "cloud", "secrets", "set", "app", "NEW=1", "--prune", "--skip")
		if r.wantCode(t, 1); !strings.Contains(r.stderr, want) || len(s.Values("app")) != 2 {
			t.Errorf("the set holds %q, and it printed %s", s.Values("app"), r.stderr)
		}
	}
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/A_KEY_AND_A_VALUE")
	s.Keep("app", "us-west", "ready", "A_KEY_AND_A_VALUE")
	r := here{env: s.Env(), stdin: strings.NewReader("NEW=A_KEY_AND_A_VALUE\n")}.vbot(t,
		strings.Fields("cloud secrets set app --file - --prune --skip")...)
	if r.wantCode(t, 0); len(s.Values("app")) != 1 {
		t.Errorf("the set holds %q", s.Values("app"))
	}
}

// check compares the keys of a file with those of a set.
func TestCheck(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "same.env", "A=\n# C=\nB=hunter2\n")
	filetest.Put(t, dir, "more.env", "Z=hunter2\nB=\nA=1\nC=${A}\n")
	filetest.Put(t, dir, "less.json", `{"A": ""}`)
	filetest.Put(t, dir, "other.env", "A=1\nZ=\n")
	filetest.Put(t, dir, "blank.env", "A=\nB=hunter2\nD=\n")
	filetest.Put(t, dir, "bad.env", "A=1\nhunter2\n")
	const getApp = "GET ~/secrets/app"
	for _, c := range []struct {
		name, args string
		want       []string
		code       int
	}{
		{"same", "app --file same.env", []string{getApp}, 0},
		{"same-json", "app --file same.env --json", []string{getApp}, 0},
		{"differs", "app --file more.env", []string{getApp}, 3},
		{"differs-json", "app --file more.env --json", []string{getApp}, 3},
		{"extra", "app --file less.json", []string{getApp}, 0},
		{"extra-json", "app --file less.json --json", []string{getApp}, 0},
		{"exact", "app --file less.json --exact", []string{getApp}, 3},
		{"exact-json", "app --file other.env --exact --json", []string{getApp}, 3},
		{"exact-differs", "app --file other.env --exact", []string{getApp}, 3},
		{"skip-empty", "app --file blank.env --skip-empty --exact", []string{getApp}, 0},
		{"not-skip-empty", "app --file blank.env", []string{getApp}, 3},
		{"stdin", "app --file -", []string{getApp}, 3},
		{"bad-file", "app --file bad.env", nil, 2},
		{"no-file", "app", nil, 2},
		{"nothing", "--json", nil, 2},
		{"unknown", "nothing --file same.env --json", []string{"GET ~/secrets/nothing", "GET ~/secrets"}, 4},
		{"image-pull", "hub --file same.env", []string{"GET ~/secrets/hub", "GET ~/secrets"}, 4},
		{"referenced", "cluster --file same.env", []string{"GET ~/secrets/cluster"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version).Want(c.want...)
			s.Keep("app", "us-west", "pending", "B", "A")
			s.Keep("hub", "us-west", "ready").Kind = "imagePullSecret"
			s.Keep("cluster", "pce-acme", "ready").Source = "referenced"
			r := here{env: s.Env(), dir: dir, stdin: strings.NewReader("NEW=1\n")}.vbot(t,
				strings.Fields("cloud secrets check "+c.args)...)
			r.wantCode(t, c.code)
			if strings.Contains(r.stdout+r.stderr, "hunter2") ||
				strings.HasSuffix(c.name, "-json") && !json.Valid([]byte(r.stdout)) {
				t.Errorf("it printed %s%s", r.stdout, r.stderr)
			}
			section(t, "cloud/check.txt", c.name, transcriptOn(s, r))
		})
	}
}

// Interrupted between storing and removing: what was stored is told.
func TestPruneIsInterrupted(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Want("GET ~/secrets/app", "PUT ~/secrets/app",
		"DELETE ~/secrets/app/OLD")
	s.Keep("app", "us-west", "ready", "OLD")
	ctx, cancel := context.WithCancel(context.Background())
	s.Misbehave("DELETE", func(_ http.ResponseWriter, r *http.Request, _ []byte, _ func()) {
		cancel()
		<-r.Context().Done()
	})
	r := here{ctx: ctx, env: s.Env()}.vbot(t, "cloud", "secrets", "set", "app", "A=1", "--prune", "--skip",
		"--json")
	r.wantCode(t, 130)
	section(t, "cloud/set.txt", "set-prune-interrupted", transcriptOn(s, r))
}
