package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vbot/internal/cloud"
	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
)

// Each file of golden/scenarios has commands, and what each prints, sends and writes. Anything else than
// that is a failure. golden/README.md describes the form.
func TestScenarios(t *testing.T) {
	parallel(t)
	files, err := filepath.Glob("golden/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scenarios: ", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			t.Parallel()
			played, faults := playScenario(t, document(t, file), updating())
			golden(t, "scenarios/"+name, []byte(played))
			for _, fault := range faults {
				t.Error(fault)
			}
		})
	}
}

// A scenario is in the middle of its commands.
type scenario struct {
	t      testing.TB
	dir    string             // where its commands run
	api    *cloudtest.Standin // nil before the first line `api:`
	env    []string           // by which vbot finds the API, signed in
	update bool
	faults []string
}

// playScenario runs the commands of a scenario, and returns its text with what they do now. Faults are what
// is wrong even with -update: a secret that was printed, and an exit code or a list of requests that differs
// from the recorded one.
func playScenario(t testing.TB, text string, update bool) (played string, faults []string) {
	t.Helper()
	s := &scenario{t: t, dir: t.TempDir(), update: update}
	lines := strings.Split(text, "\n")
	lines, files := cutFiles(t, lines)
	for name, text := range files {
		filetest.Put(t, s.dir, name, text)
	}
	var out []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out = append(out, line)
		setting, value, isSetting := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "$ "):
			recorded := recordedOutput(t, lines[i+1:])
			i += len(recorded)
			out = append(out, s.run(line, recorded)...)
		case isSetting:
			if err := s.set(setting, strings.Fields(value)); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		default:
			t.Fatalf("%q is not a comment, a setting or a command", line)
		}
	}
	played = strings.Join(out, "\n")
	if len(files) > 0 {
		played = strings.TrimRight(played, "\n") + "\n\n" + text[strings.Index(text, "\n-- ")+1:]
	}
	return played, s.faults
}

// recordedOutput returns the lines that an earlier run recorded: those up to `--- exit`, if the first of
// them begins with ---.
func recordedOutput(t testing.TB, lines []string) []string {
	t.Helper()
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "--- ") {
		return nil
	}
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "--- exit ") })
	if end < 0 {
		t.Fatalf("there is no line `--- exit` after %q", lines[0])
	}
	return lines[:end+1]
}

// cutFiles returns the lines before the first `-- NAME --`, and the files that such lines begin.
func cutFiles(t testing.TB, lines []string) (before []string, files map[string]string) {
	t.Helper()
	name := ""
	files = map[string]string{}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		middle, isHead := strings.CutPrefix(line, "-- ")
		middle, ends := strings.CutSuffix(middle, " --")
		switch {
		case isHead && ends:
			name = middle
			files[name] = ""
		case name != "":
			files[name] += line + "\n"
		default:
			before = append(before, line)
			if strings.HasPrefix(line, "$ ") {
				recorded := recordedOutput(t, lines[i+1:])
				before = append(before, recorded...)
				i += len(recorded)
			}
		}
	}
	if name != "" { // the last line of the text is empty
		files[name] = strings.TrimSuffix(files[name], "\n")
	}
	return before, files
}

// set does what a line `setting: words` says.
func (s *scenario) set(setting string, words []string) error {
	if setting == "api" {
		s.api = cloudtest.New(s.t, "vbot/"+version)
		s.api.Anything = true // the scenario has the requests
		s.env = s.api.Env()
		for _, word := range words {
			fill, ok := apis[word]
			if !ok {
				return fmt.Errorf("there is no %q; there are %q", word, slices.Sorted(maps.Keys(apis)))
			}
			fill(s.api)
		}
		return nil
	}
	if s.api == nil {
		return errors.New("it needs a line `api:` before")
	}
	switch {
	case setting == "keep" && len(words) >= 3:
		s.api.Keep(words[0], words[1], words[2], words[3:]...)
	case setting == "status" && len(words) > 0:
		s.api.Statuses = words
	case setting == "fault" && len(words) >= 2:
		method, words := words[0], words[1:]
		times := 1
		if count, isCount := strings.CutSuffix(words[0], "x"); isCount {
			n, err := strconv.Atoi(count)
			if err != nil {
				return err
			}
			times, words = n, words[1:]
		}
		fault, err := s.fault(words)
		if err != nil {
			return err
		}
		s.api.Misbehave(method, cloudtest.Times(times, fault)...)
	default:
		return errors.New("it is none of `api: CONTENT...`, `keep: SET REGION STATUS KEY...`, " +
			"`status: STATUS...` and `fault: METHOD [Nx] FAULT`")
	}
	return nil
}

// fault returns what the API does instead of a correct response.
func (s *scenario) fault(words []string) (cloudtest.Fault, error) {
	api := s.api
	words = append(words, "")[:max(1, len(words))]
	status, err := strconv.Atoi(words[0])
	switch {
	case words[0] == "right":
		return cloudtest.Right, nil
	case words[0] == "drop":
		return cloudtest.Drop, nil
	case words[0] == "lose-answer":
		return cloudtest.LoseAnswer, nil
	case words[0] == "done-before":
		return func(_ http.ResponseWriter, r *http.Request, body []byte, serve func()) {
			api.Answer(httptest.NewRecorder(), r, body)
			serve()
		}, nil
	case err == nil && status == 200 && len(words) == 2:
		return cloudtest.With200(words[1]), nil
	case err == nil && len(words) > 2:
		return cloudtest.Status(status, words[1], strings.Join(words[2:], " ")), nil
	}
	return nil, errors.New("a fault is `right` (none), `drop` (the connection), `lose-answer`, " +
		"`done-before` (by somebody else), `200 BODY` or `STATUS CODE MESSAGE`")
}

// apis are what an API holds at first, for a line `api:`.
var apis = map[string]func(s *cloudtest.Standin){
	"empty": func(*cloudtest.Standin) {},
	// A secret of each kind and state.
	"many": func(s *cloudtest.Standin) {
		s.Keep("app-secrets", "us-west", "ready", "API_KEY", "DB_URL")
		s.Keep("broken", "eu-central", "failed", "A").
			Message = "Provisioning failed.\n\x1b[2JRe-create the secret."
		s.Keep("hub", "us-west", "ready").Kind = cloud.TypeImagePull
		s.Keep("cluster", "pce-acme", "unknown").Source = "referenced"
		s.Keep("ours", "us-west", "ready", "A").Source = "managed"
		s.Keep("bare", "", "")
		s.Keep("forged  secret_set", "us-west", "ready")
		s.Keep("new-kind", "us-west", "paused").Kind = "certificate"
	},
	// It accepts one key in a request.
	"one-key": func(s *cloudtest.Standin) { s.NoBulk = true },
	// Kubernetes Secrets to register.
	"cluster": func(s *cloudtest.Standin) {
		s.Cluster = map[string]string{
			"team.keys": cloud.TypeSet,
			"registry":  cloud.TypeImagePull,
			"taken":     cloud.TypeSet,
		}
		s.Keep("taken", "us-west", "ready", "A")
	},
}

// run runs the command, and returns what it printed, sent and wrote, as lines to be recorded.
func (s *scenario) run(line string, recorded []string) []string {
	s.t.Helper()
	words, err := splitWords(strings.TrimPrefix(line, "$ "))
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	if len(words) == 2 && words[0] == "stored" && s.api != nil {
		return append(block("stdout", storedValues(s.api.Values(words[1]))), "--- exit 0")
	}
	in := inProcess{dir: s.dir, env: slices.Clone(s.env)}
	for len(words) > 0 && words[0] != "vbot" && strings.Contains(words[0], "=") {
		in.env = append(in.env, words[0])
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "vbot" {
		s.t.Fatalf("%s: a command is `[NAME=VALUE...] vbot ARGUMENT... [< FILE]`, or, after `api:`, "+
			"`stored SET`", line)
	}
	args := words[1:]
	if at := slices.Index(args, "<"); at >= 0 && at+2 == len(args) {
		text := document(s.t, filepath.Join(s.dir, args[at+1]))
		in.stdin, args = strings.NewReader(text), args[:at]
	}
	sent := 0
	if s.api != nil {
		sent, in.clock = len(s.api.Log), s.api.Clock
	}
	before := filetest.Tree(s.t, s.dir)
	r := in.vbot(s.t, args...)
	for _, secret := range neverPrinted {
		if strings.Contains(r.stdout+r.stderr, secret) {
			s.faults = append(s.faults, fmt.Sprintf("%s: the secret %s was printed", line, secret))
		}
	}
	stdout, stderr := withoutDir(r.stdout, s.dir), withoutDir(r.stderr, s.dir)
	var requests []string
	if s.api != nil {
		api := s.api.Listener.Addr().String()
		stdout = strings.ReplaceAll(stdout, api, "API")
		stderr = strings.ReplaceAll(stderr, api, "API")
		requests = s.api.Log[sent:]
	}
	lines := slices.Concat(block("stdout", stdout), block("stderr", stderr))
	if len(requests) > 0 {
		lines = append(append(lines, "--- requests"), requests...)
	}
	if changes := changedFiles(before, filetest.Tree(s.t, s.dir)); len(changes) > 0 {
		lines = append(append(lines, "--- files"), changes...)
	}
	exit := fmt.Sprintf("--- exit %d", r.code)
	isAsBefore := len(recorded) == 0 ||
		recorded[len(recorded)-1] == exit && slices.Equal(recordedRequests(recorded), requests)
	if s.update && !isAsBefore {
		s.faults = append(s.faults, fmt.Sprintf("%s: the exit code is %d, and the requests are %q. -update "+
			"changes neither: if they are right, delete what is recorded of this command, and update again",
			line, r.code, requests))
		return recorded
	}
	return append(lines, exit)
}

// neverPrinted are the values of secrets in scenarios, as given and encoded.
var neverPrinted = []string{"hunter2", "aHVudGVyMg", "c2VjcmV0", "pa:ss", "n3w", cloudtest.Token}

// storedValues lists what a set holds.
func storedValues(set map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(set)) {
		fmt.Fprintf(&b, "%s=%q\n", key, set[key])
	}
	return b.String()
}

// block returns the text as lines below `--- name`, or nothing if there is no text.
func block(name, text string) []string {
	switch {
	case text == "":
		return nil
	case !strings.HasSuffix(text, "\n"):
		text += "\n\\ no newline at the end\n"
	}
	return append([]string{"--- " + name}, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
}

// recordedRequests returns the requests in a recorded output.
func recordedRequests(recorded []string) (requests []string) {
	begin := slices.Index(recorded, "--- requests")
	if begin < 0 {
		return nil
	}
	requests = recorded[begin+1:]
	end := slices.IndexFunc(requests, func(line string) bool { return strings.HasPrefix(line, "--- ") })
	return requests[:end]
}

// changedFiles lists the files that differ, by path, with what happened to them.
func changedFiles(before, after map[string]string) (changes []string) {
	for path, text := range after {
		switch was, existed := before[path]; {
		case !existed:
			changes = append(changes, path+" created")
		case was != text:
			changes = append(changes, path+" changed")
		}
	}
	for path := range before {
		if _, exists := after[path]; !exists {
			changes = append(changes, path+" removed")
		}
	}
	slices.Sort(changes)
	return changes
}

// splitWords splits a command line at spaces. Part of a word may be quoted: '...' as a shell reads it, or
// "..." as Go reads it, with escapes such as \n.
func splitWords(line string) (words []string, err error) {
	word, inWord := "", false
	for line != "" {
		switch line[0] {
		case ' ':
			if inWord {
				words = append(words, word)
			}
			word, inWord, line = "", false, line[1:]
			continue
		case '\'':
			text, rest, ok := strings.Cut(line[1:], "'")
			if !ok {
				return nil, errors.New("missing closing '")
			}
			word, line = word+text, rest
		case '"':
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, errors.New("missing closing \", or an escape that Go does not have")
			}
			text, _ := strconv.Unquote(quoted)
			word, line = word+text, line[len(quoted):]
		default:
			word, line = word+line[:1], line[1:]
		}
		inWord = true
	}
	if inWord {
		words = append(words, word)
	}
	return words, nil
}

const exampleScenario = `# A value of several lines: it is stored as it is.
api: empty
keep: app us-west ready OLD
fault: GET right

$ VBOT_ORGANIZATION=acme vbot cloud secrets set app 'A=a b' --value-file B=two/lines --skip
--- stderr
stored in secret set app of organization acme, region us-west:
  A  new
  B  new
--- requests
GET ~/secrets/app
PUT ~/secrets/app
--- exit 0

$ stored app
--- stdout
A="a b"
B="one\ntwo\n"
OLD="old"
--- exit 0

$ vbot init "guides"
--- stderr
created 3 files in DIR/guides:
  AGENTS.md
  AGENT_IMPORT.md
  GETTING_STARTED.md

Next: start your coding agent in guides and ask it for the bot you want.
--- files
guides/AGENTS.md created
guides/AGENT_IMPORT.md created
guides/GETTING_STARTED.md created
--- exit 0

-- two/lines --
one
two
`

// Whatever is recorded of a command, the scenario has what it does now. -update changes neither an exit code
// nor requests that are recorded.
func TestScenarioForm(t *testing.T) {
	parallel(t)
	withoutOutputs := ""
	recorded := false
	for line := range strings.Lines(exampleScenario) {
		recorded = recorded || strings.HasPrefix(line, "--- ")
		if !recorded {
			withoutOutputs += line
		}
		recorded = recorded && !strings.HasPrefix(line, "--- exit ")
	}
	for text, fault := range map[string]string{
		exampleScenario: "",
		withoutOutputs:  "",
		strings.Replace(exampleScenario, "  A  new\n", "", 1):                 "",
		strings.Replace(exampleScenario, "guides/AGENTS.md created\n", "", 1): "",
		strings.Replace(exampleScenario, "--- exit 0", "--- exit 3", 1):       "the exit code is 0",
		strings.Replace(exampleScenario, "GET ~/secrets/app\n", "", 1):        "the requests are",
		strings.Replace(exampleScenario, "'A=a b'", "A=hunter2 hunter2=1", 1): "hunter2 was printed",
		strings.Replace(exampleScenario, "stored app", "stored another", 1):   "",
	} {
		played, faults := playScenario(t, text, true)
		if fault != "" {
			if !strings.Contains(strings.Join(faults, "\n"), fault) {
				t.Errorf("%q instead of %q for\n%s", faults, fault, text)
			}
			continue
		}
		if isOther := strings.Contains(text, "another"); len(faults) > 0 ||
			(played == exampleScenario) == isOther {
			t.Errorf("%q, and\n%s\nbecomes\n%s", faults, text, played)
		}
	}
	for line, want := range map[string][]string{
		`a  'b c'd"\n"`: {"a", "b cd\n"},
		`'' "" "\xff"`:  {"", "", "\xff"},
		`'a`:            nil,
		`"\q"`:          nil,
	} {
		if words, err := splitWords(line); !slices.Equal(words, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %q, %v", line, words, err)
		}
	}
}
