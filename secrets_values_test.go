package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
)

// planted is a value that must never be printed. It has the characters that are escaped in URLs, JSON,
// shells or dotenv files.
const planted = "pl4nted\"value+with/line\nand-a-second-one=="

// plantedFile is a file with planted as the value of KEY.
var plantedFile = "KEY=\"" + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(planted) + "\"\n"

// An inputCase is a way to pass a secret value to vbot.
type inputCase struct {
	name   string
	args   []string
	stdin  string
	hidden []string
	env    []string
	stores bool // it stores planted under KEY
	huge   bool // it is also tried with huge responses, which take long
}

// inputCases returns all ways to pass a value, both correct and wrong ones.
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
		{
			name: "pair", args: set("KEY="+planted, "B=1", "--skip"), hidden: parts, stores: true,
			huge: true,
		},
		{name: "pair that reads both ways", args: set("KEY="+planted, "--skip"), hidden: parts},
		{name: "pair that has to be confirmed", args: set("KEY="+planted, "B=1"), hidden: parts},
		{name: "pair, dry run", args: set("KEY="+planted, "B=1", "--dry-run"), hidden: parts},
		{
			name: "pair, wait", args: set("KEY="+planted, "B=1", "--skip", "--wait=3s"), hidden: parts,
			stores: true,
		},
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
		{name: "file", args: set("--file", "s.env", "--skip"), hidden: parts, stores: true},
		{name: "broken file", args: set("--file", "broken.env", "--skip"), hidden: parts},
		{
			name:   "wrapped value",
			args:   set("--skip", "--file", "wrapped.env"),
			hidden: append([]string{"cGw0bnRlZC1hbmQt", "d3JhcHBlZA"}, parts...),
		},
		{
			name:   "wrapped value to compare",
			args:   []string{"cloud", "secrets", "check", "app", "--file", "wrapped.env", "--skip-empty"},
			hidden: append([]string{"cGw0bnRlZC1hbmQt", "d3JhcHBlZA"}, parts...),
		},
		{
			name:   "PEM without quotes",
			args:   set("--skip", "--file", "pem.env"),
			hidden: append([]string{"cGw0bnRlZC1hbmQt", "d3JhcHBlZA", "BEGIN", "Proc-Type"}, parts...),
		},
		{name: "stdin", args: set("--file", "-", "--skip"), stdin: plantedFile, hidden: parts, stores: true},
		{name: "object", args: set("--file", "s.json", "--skip", "--prune"), hidden: parts, stores: true},
		{name: "broken object", args: set("--file", "broken.json", "--skip"), hidden: parts},
		{name: "value file", args: set("--value-file", "KEY=value", "--skip"), hidden: parts, stores: true},
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

// outcomesOfARequest are the possible outcomes of a request, by name; nil is success.
func outcomesOfARequest() map[string]cloudtest.Fault {
	outcomes := map[string]cloudtest.Fault{
		"success":     nil,
		"drop":        cloudtest.Drop,
		"lost answer": cloudtest.LoseResponse,
		"half":        cloudtest.Truncate,
		"html":        cloudtest.Respond("<html>"),
		"huge":        cloudtest.Huge,
		"null":        cloudtest.Respond("null"),
		"array":       cloudtest.Respond("[1]"),
		"redirect":    cloudtest.Status(307, "X", "moved", "Location", "https://example.com/pl4nted"),
	}
	for _, code := range []int{400, 401, 403, 404, 409, 413, 418, 422, 429, 500, 501, 502, 503, 504} {
		outcomes["echo "+strconv.Itoa(code)] = cloudtest.Echo(code)
	}
	return outcomes
}

// A value is never printed, however it is passed and whatever the API responds.
func TestValuesNeverComeOut(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "s.env", plantedFile)
	filetest.Put(t, dir, "broken.env", plantedFile+"pl4nted\nKEY=pl4nted\nX='pl4nted\n")
	wrapped := strings.Repeat("cGw0bnRlZC1hbmQt", 4) + "\nd3JhcHBlZA==\n"
	filetest.Put(t, dir, "wrapped.env", "A=1\nKEY="+wrapped+"B=2\n")
	filetest.Put(t, dir, "pem.env", "KEY=-----BEGIN KEY-----\nProc-Type: 4\n"+wrapped+"-----END KEY-----\n")
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
						isHalf := asJSON != (method == "PUT") // half of the combinations
						isSame := fault == nil && method == "PUT" ||
							name == "huge" && (asJSON || !in.huge)
						if isSame || isHalf && fault != nil && !filetest.Thorough() {
							continue
						}
						s := cloudtest.NewLenient(t, "vbot/"+version)
						if fault != nil {
							s.FailNext(method, cloudtest.Repeat(8, fault)...)
						}
						in.check(t, s, dir, name+" on "+method, asJSON)
					}
				}
			}
		})
	}
}

// check runs the command in the directory; outcome names the outcome of its requests.
func (in inputCase) check(t *testing.T, s *cloudtest.Fake, dir, outcome string, asJSON bool) {
	t.Helper()
	args := slices.Clone(in.args)
	if asJSON {
		args = append(args, "--json")
	}
	env := append(s.Env(), in.env...)
	r := inProcess{env: env, dir: dir, stdin: strings.NewReader(in.stdin)}.vbot(t, args...)
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
	v := s.Values("app")
	if r.code == 0 && in.stores && v["KEY"] != planted {
		t.Errorf("%s: reported as stored, and holds %v", outcome, v)
	}
}

// KEY=VALUE in the place of a file's name is refused and not repeated; ./KEY=VALUE is a name.
func TestValueInPlaceOfAFile(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	filetest.Put(t, dir, "KEY=odd name", "A=1\n")
	for _, line := range []string{
		"cloud secrets set app --skip --file KEY=pl4nted",
		"cloud secrets set app --skip --file=KEY=pl4nted",
		"cloud secrets set app --skip --value-file A=KEY=pl4nted",
		"cloud secrets check app --file KEY=pl4nted",
		"init bot --config KEY=pl4nted",
		"init bot --catalog KEY=pl4nted --list-options",
		"init bot --update --diff=KEY=pl4nted",
		"init KEY=pl4nted --check",
		"init KEY=pl4nted bot",
		"schema config --catalog KEY=pl4nted",
		"VBOT_CATALOG=KEY=pl4nted init --list-options",
		"VBOT_CONFIG=KEY=pl4nted VBOT_TOKEN= cloud whoami",
		"VBOT_CA_FILE=KEY=pl4nted cloud whoami",
	} {
		env := []string{"VBOT_TOKEN=x", "VBOT_API_URL=http://127.0.0.1:1"}
		args := strings.Fields(line)
		for strings.HasPrefix(args[0], "VBOT_") {
			env, args = append(env, args[0]), args[1:]
		}
		for _, args := range [][]string{args, append(slices.Clone(args), "--json")} {
			r := inProcess{env: env, dir: dir}.vbot(t, args...)
			if r.code != 2 || strings.Contains(r.stdout+r.stderr, "pl4nted") {
				t.Errorf("%s: exit code %d\n%s%s", line, r.code, r.stdout, r.stderr)
			}
		}
	}
	s := cloudtest.NewLenient(t, "vbot/"+version)
	r := inProcess{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "app", "--skip", "--file",
		"./KEY=odd name")
	if r.code != 0 || s.Values("app")["A"] != "1" {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}

// A file of secrets that every user can read is noted. The modes that are not noted are right, or those of a
// file system without modes.
func TestFileThatOthersCanRead(t *testing.T) {
	parallel(t)
	if runtime.GOOS == "windows" {
		skip(t, "files have no modes")
	}
	modes := map[os.FileMode]bool{0o644: true, 0o604: true, 0o600: false, 0o640: false, 0o777: false}
	for mode, noted := range modes {
		s, dir := cloudtest.NewLenient(t, "vbot/"+version), t.TempDir()
		filetest.Put(t, dir, "s.env", plantedFile)
		if err := os.Chmod(filepath.Join(dir, "s.env"), mode); err != nil {
			t.Fatal(err)
		}
		for _, option := range []string{"--file=s.env", "--value-file=KEY=s.env"} {
			r := inProcess{env: s.Env(), dir: dir}.vbot(t, "cloud", "secrets", "set", "app", "--skip", option)
			const note = "any user of this machine can read s.env: chmod 600 s.env\n"
			if r.code != 0 || strings.Contains(r.stderr, note) != noted {
				t.Errorf("%s, %o: exit code %d\n%s", option, mode, r.code, r.stderr)
			}
		}
	}
}

// withoutEffect are faults in which the API does nothing and sends no valid response.
func withoutEffect() (faults []cloudtest.Fault) {
	for _, body := range []string{
		"", "<html>", "{}", "null", `{"status":"failed"}`, `{"status":"OK","name":"other"}`,
		`{"status":"OK","region":"eu-central","type":"else","name":"other"}`,
		`{"status":"OK","error":"nothing done"}`, `{"name":"team","region":"pce-b"}`,
		`{"name":"team","status":"failed"}`, `{"sets":[{}],"secrets":[{}],"status":"ok "}`,
		`{"sets":[],"secrets":[],"status":"OK","error":"nothing done"}`,
	} {
		faults = append(faults, cloudtest.Respond(body))
	}
	for _, status := range []int{301, 400, 401, 403, 409, 422, 429, 500, 502, 503, 504} {
		faults = append(faults, cloudtest.Status(status, "X", "Organization not found"),
			cloudtest.Echo(status))
	}
	return append(faults,
		cloudtest.Drop,
		cloudtest.Truncate,
		cloudtest.OnlyInformational(101),
		cloudtest.OnlyInformational(102),
		cloudtest.OnlyInformational(slices.Repeat([]int{103}, 20)...),
		cloudtest.Status(409, "X", "referenced"))
}

// randomFaults chooses the faults of requests at random.
type randomFaults struct {
	*rand.Rand
	reads, writes []cloudtest.Fault
}

// newRandomFaults returns random faults that are the same in every run. Reads do not get "set not found",
// because that is a valid response to them.
func newRandomFaults() *randomFaults {
	m := &randomFaults{Rand: rand.New(rand.NewPCG(1, 2)), reads: withoutEffect()}
	m.writes = append(withoutEffect(), setNotFound)
	for _, f := range m.writes {
		m.writes = append(m.writes, cloudtest.Apply(f))
	}
	return m
}

var setNotFound = cloudtest.Status(404, "X", "Organization not found")

// next returns the fault of the next request of the method.
func (m *randomFaults) next(method string) cloudtest.Fault {
	faults := m.writes
	if method == "GET" {
		faults = m.reads
	}
	f := faults[m.IntN(len(faults))]
	switch m.IntN(4) {
	case 0:
		return cloudtest.Succeed
	case 1:
		return cloudtest.Informational(100, 103)
	case 2:
		lost := cloudtest.Apply(cloudtest.Status(502, "X", "x"))
		return []cloudtest.Fault{cloudtest.Drop, cloudtest.LoseResponse, lost}[m.IntN(3)]
	case 3:
		if method == "DELETE" {
			return setNotFound
		}
	}
	return f
}

// isDone reports whether the API's data is as the command line asks.
func isDone(s *cloudtest.Fake, line string) bool {
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

// A command that succeeds has changed the API's data, whatever fails at whatever moment.
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
	wantEachSecretsCommand(t, lines, map[string]string{
		"list": "it reads", "check": "it reads", "wait": "it reads",
	})
	m := newRandomFaults()
	var all sync.WaitGroup
	var done, runs atomic.Int32
	for range filetest.Rounds(300, 5000) {
		s := cloudtest.NewLenient(t, "vbot/"+version)
		s.Put("app", "us-east", "ready", "K", "L")
		s.Cluster = map[string]string{"team": cloud.TypeSet}
		s.NoBulk = m.IntN(2) == 0
		for _, method := range []string{"GET", "PUT", "POST", "DELETE"} {
			for range m.IntN(5) {
				s.FailNext(method, m.next(method))
			}
		}
		line := lines[m.IntN(len(lines))]
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
		if m.IntN(8) == 0 {
			all.Wait()
		}
	}
	all.Wait()
	if done.Load() < runs.Load()/15 || runs.Load()-done.Load() < runs.Load()/15 {
		t.Errorf("%d of %d runs succeeded", done.Load(), runs.Load())
	}
}
