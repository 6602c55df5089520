package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
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
			played, errs := playScenario(t, document(t, file), updating())
			golden(t, "scenarios/"+name, []byte(played))
			for _, fault := range errs {
				t.Error(fault)
			}
		})
	}
}

// A scenario is what the commands of a file run in.
type scenario struct {
	t      testing.TB
	dir    string          // where its commands run
	api    *cloudtest.Fake // nil before the first line `api:`
	env    []string        // by which vbot finds the API, signed in
	update bool            // see playScenario
	errs   []string        // what is wrong even with -update
}

// playScenario runs the commands of a scenario, and returns its text with what they do now. Faults are what
// is wrong even with -update: a secret that was printed and, if update is true, an exit code or a list of
// requests that differs from the recorded one.
func playScenario(t testing.TB, text string, update bool) (played string, errs []string) {
	t.Helper()
	steps, inputs, err := parseScenario(text)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, dir: t.TempDir(), update: update}
	for name, data := range inputFiles(inputs) {
		filetest.Put(t, s.dir, name, data)
		if err := os.Chmod(filepath.Join(s.dir, name), 0o600); err != nil { // as files of secrets should be
			t.Fatal(err)
		}
	}
	for _, step := range steps {
		played += step.line + "\n"
		setting, value, isSetting := strings.Cut(step.line, ": ")
		switch {
		case step.line == "" || strings.HasPrefix(step.line, "#"):
		case strings.HasPrefix(step.line, "$ "):
			played += s.run(step)
		case isSetting:
			if err := s.set(setting, strings.Fields(value)); err != nil {
				t.Fatalf("%s: %v", step.line, err)
			}
		default:
			t.Fatalf("%q is not a comment, a setting or a command", step.line)
		}
	}
	return played + inputs, s.errs
}

// A scenarioStep is a line of a scenario. If it is a command, recorded is what an earlier run recorded of it,
// up to the line `--- exit N`, or "".
type scenarioStep struct{ line, recorded string }

// parseScenario returns the steps of a scenario, and its end, with input files.
func parseScenario(text string) (steps []scenarioStep, inputs string, err error) {
	for text != "" && !inputHead.MatchString(text) {
		step := scenarioStep{}
		step.line, text, _ = strings.Cut(text, "\n")
		if strings.HasPrefix(step.line, "$ ") && strings.HasPrefix(text, "--- ") {
			end := recordedEnd.FindStringIndex(text)
			if end == nil {
				return nil, "", fmt.Errorf("there is no line `--- exit N` below %s", step.line)
			}
			step.recorded, text = text[:end[1]], text[end[1]:]
		}
		steps = append(steps, step)
	}
	return steps, text, nil
}

var (
	recordedEnd      = regexp.MustCompile(`(?m)^--- exit -?\d+\n`)
	recordedRequests = regexp.MustCompile(`(?m)^--- requests\n((?:[^-].*\n)*)`)
	inputHead        = regexp.MustCompile(`^-- (.+) --\n`)
)

// inputFiles returns the files in the text, each of which begins with a line `-- NAME --`.
func inputFiles(text string) map[string]string {
	files := map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		if head := inputHead.FindStringSubmatch(line); head != nil {
			name = head[1]
			files[name] = ""
		} else {
			files[name] += line
		}
	}
	return files
}

// set does what a line `setting: words` says.
func (s *scenario) set(setting string, words []string) error {
	if setting == "api" {
		s.api = cloudtest.New(s.t, "vbot/"+version)
		s.api.AnyRequest = true // the scenario has the requests
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
		s.api.Put(words[0], words[1], words[2], words[3:]...)
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
		s.api.FailNext(method, cloudtest.Repeat(times, fault)...)
	default:
		return errors.New("it is none of `api: CONTENT...`, `keep: SET REGION STATUS KEY...`, " +
			"`status: STATUS...` and `fault: METHOD [Nx] FAULT`")
	}
	return nil
}

// fault returns what the API does instead of a correct response.
func (s *scenario) fault(words []string) (cloudtest.Fault, error) {
	api := s.api
	switch strings.Join(words, " ") {
	case "right":
		return cloudtest.Succeed, nil
	case "drop":
		return cloudtest.Drop, nil
	case "lose-answer":
		return cloudtest.LoseResponse, nil
	case "done-before":
		return func(_ http.ResponseWriter, r *http.Request, body []byte, serve func()) {
			api.Respond(httptest.NewRecorder(), r, body)
			serve()
		}, nil
	}
	if len(words) == 2 && words[0] == "200" {
		return cloudtest.Respond(words[1]), nil
	}
	if len(words) > 2 {
		if status, err := strconv.Atoi(words[0]); err == nil {
			return cloudtest.Status(status, words[1], strings.Join(words[2:], " ")), nil
		}
	}
	return nil, errors.New("a fault is `right` (none), `drop` (the connection), `lose-answer`, " +
		"`done-before` (by somebody else), `200 BODY` or `STATUS CODE MESSAGE`")
}

// apis are what an API holds at first, for a line `api:`.
var apis = map[string]func(s *cloudtest.Fake){
	"empty": func(*cloudtest.Fake) {},
	// A secret of each kind and state.
	"many": func(s *cloudtest.Fake) {
		s.Put("app-secrets", "us-west", "ready", "API_KEY", "DB_URL")
		s.Put("broken", "eu-central", "failed", "A").
			Message = "Provisioning failed.\n\x1b[2JRe-create the secret."
		s.Put("hub", "us-west", "ready").Kind = cloud.TypeImagePull
		s.Put("cluster", "pce-acme", "unknown").Source = "referenced"
		s.Put("ours", "us-west", "ready", "A").Source = "managed"
		s.Put("bare", "", "")
		s.Put("forged  secret_set", "us-west", "ready")
		s.Put("new-kind", "us-west", "paused").Kind = "certificate"
	},
	// It accepts one key in a request.
	"one-key": func(s *cloudtest.Fake) { s.NoBulk = true },
	// Kubernetes Secrets to register.
	"cluster": func(s *cloudtest.Fake) {
		s.Cluster = map[string]string{
			"team.keys": cloud.TypeSet,
			"registry":  cloud.TypeImagePull,
			"taken":     cloud.TypeSet,
		}
		s.Put("taken", "us-west", "ready", "A")
	},
}

// run runs the command, and returns what it printed, sent and wrote, as it is to be recorded.
func (s *scenario) run(step scenarioStep) string {
	s.t.Helper()
	words, err := splitWords(strings.TrimPrefix(step.line, "$ "))
	if err != nil {
		s.t.Fatalf("%s: %v", step.line, err)
	}
	if len(words) == 2 && words[0] == "stored" && s.api != nil {
		return recording("stdout", storedValues(s.api.Values(words[1]))) + "--- exit 0\n"
	}
	in, args := s.command(step.line, words)
	sent := len(s.log())
	before := filetest.Tree(s.t, s.dir)
	r := in.vbot(s.t, args...)
	for _, secret := range neverPrinted {
		if strings.Contains(r.stdout+r.stderr, secret) {
			s.errs = append(s.errs, fmt.Sprintf("%s: the secret %s was printed", step.line, secret))
		}
	}
	requests := ""
	for _, request := range s.log()[sent:] {
		requests += request + "\n"
	}
	exit := fmt.Sprintf("--- exit %d\n", r.code)
	if s.update && step.recorded != "" && !step.has(requests, exit) {
		s.errs = append(s.errs, fmt.Sprintf("%s: the exit code is %d, and the requests are %q. -update "+
			"changes neither: if they are right, delete what is recorded of this command, and update again",
			step.line, r.code, requests))
		return step.recorded
	}
	return recording("stdout", s.lasting(r.stdout)) + recording("stderr", s.lasting(r.stderr)) +
		recording("requests", requests) +
		recording("files", changedFiles(before, filetest.Tree(s.t, s.dir))) + exit
}

// log returns the requests that the API has got so far.
func (s *scenario) log() []string {
	if s.api == nil {
		return nil
	}
	s.api.Mu.Lock()
	defer s.api.Mu.Unlock()
	return slices.Clone(s.api.Log)
}

// has reports whether the requests and the exit code are the recorded ones.
func (step scenarioStep) has(requests, exit string) bool {
	recorded := recordedRequests.FindStringSubmatch(step.recorded)
	return strings.HasSuffix(step.recorded, exit) &&
		(recorded == nil && requests == "" || recorded != nil && recorded[1] == requests)
}

// command returns how the words `NAME=VALUE... vbot ARGUMENT... < FILE` are run.
func (s *scenario) command(line string, words []string) (in inProcess, args []string) {
	s.t.Helper()
	in = inProcess{dir: s.dir, env: slices.Clone(s.env)}
	if s.api != nil {
		in.clock = s.api.Clock
	}
	vbot := slices.Index(words, "vbot")
	if vbot < 0 || !isEnvironment(words[:vbot]) {
		s.t.Fatalf("%s: a command is `[NAME=VALUE...] vbot ARGUMENT... [< FILE]`, or, after `api:`, "+
			"`stored SET`", line)
	}
	in.env = append(in.env, words[:vbot]...)
	args = words[vbot+1:]
	if file := len(args) - 1; file > 0 && args[file-1] == "<" {
		in.stdin = strings.NewReader(document(s.t, filepath.Join(s.dir, args[file])))
		args = args[:file-1]
	}
	return in, args
}

// isEnvironment reports whether each word is NAME=VALUE.
func isEnvironment(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(word, "=") })
}

// lasting is text without what differs in each run.
func (s *scenario) lasting(text string) string {
	text = withoutDir(text, s.dir)
	if s.api != nil {
		text = strings.ReplaceAll(text, s.api.Listener.Addr().String(), "API")
	}
	return text
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

// recording returns the text below a line `--- name`, or "" if there is none.
func recording(name, text string) string {
	switch {
	case text == "":
		return ""
	case !strings.HasSuffix(text, "\n"):
		text += "\n\\ no newline at the end\n"
	}
	return "--- " + name + "\n" + text
}

// changedFiles lists the files that differ, by path, with what happened to them.
func changedFiles(before, after map[string]string) string {
	var changes []string
	for path, text := range after {
		switch was, existed := before[path]; {
		case !existed:
			changes = append(changes, path+" created\n")
		case was != text:
			changes = append(changes, path+" changed\n")
		}
	}
	for path := range before {
		if _, exists := after[path]; !exists {
			changes = append(changes, path+" removed\n")
		}
	}
	slices.Sort(changes)
	return strings.Join(changes, "")
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
writing only guides for a coding agent, and no bot: no option describes one
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
		played, errs := playScenario(t, text, true)
		if fault != "" {
			if !strings.Contains(strings.Join(errs, "\n"), fault) {
				t.Errorf("%q instead of %q for\n%s", errs, fault, text)
			}
			continue
		}
		if isOther := strings.Contains(text, "another"); len(errs) > 0 ||
			(played == exampleScenario) == isOther {
			t.Errorf("%q, and\n%s\nbecomes\n%s", errs, text, played)
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
