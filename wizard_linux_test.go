package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/ptytest"
	"vbot/internal/system"
	"vbot/internal/tty"
)

// A person uses vbot at a terminal.
type person struct {
	*ptytest.Terminal
	width, height int
	read          int // how much of the text was read, if questions are plain
	looked        look
}

// A look is a result of open and the state of the terminal that it was found in.
type look struct {
	text, read, width, height int
	question, line            string
}

// startWizard starts vbot in dir at a terminal of this size. kind is the value of TERM; "" means plain
// questions.
func startWizard(t testing.TB, dir, kind string, width, height int, args ...string) *person {
	t.Helper()
	cmd := vbotCommand(t, dir, args...)
	cmd.Env = append(cmd.Env, "TERM="+kind)
	return &person{Terminal: ptytest.OpenSize(t, cmd, width, height), width: width, height: height}
}

// lines are the lines on the screen.
func (p *person) lines() (lines []string, row, column int) {
	p.T.Helper()
	// The name of the directory differs in each run, and so may the point where its line is broken.
	lines, row, column, err := ptytest.Screen(strings.ReplaceAll(p.Raw(), p.Cmd.Dir, "DIR"), p.width,
		p.height)
	if err != nil {
		p.T.Fatal(err)
	}
	return lines, row, column
}

// until waits for the condition. what describes it in the failure message.
func (p *person) until(what string, condition func() bool) {
	p.T.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			lines, _, _ := p.lines()
			p.T.Fatalf("%s never came; the terminal shows\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

const start = "How do you want to start?"

// questions are the beginnings of all questions of the wizard.
var questions = func() []string {
	all := []string{
		"Directory", start, "Proceed?", "Which answer?", "AGENTS.md was written by an older vbot.",
	}
	for _, o := range bot.Options {
		all = append(all, o.Question())
	}
	return all
}()

// open returns the question that waits for an answer and the line that it is in, or "".
func (p *person) open() (question, line string) {
	text := p.Text()
	now := look{
		text:     len(text),
		read:     p.read,
		width:    p.width,
		height:   p.height,
		question: p.looked.question,
		line:     p.looked.line,
	}
	if now != p.looked {
		now.question, now.line = p.find(text)
		p.looked = now
	}
	return now.question, now.line
}

// find looks for the open question in everything printed so far.
func (p *person) find(text string) (question, line string) {
	if strings.Contains(text, "\x1b") {
		line = p.menuQuestion()
	} else {
		line = plainQuestion(text[min(p.read, len(text)):])
	}
	for _, q := range questions {
		if strings.HasPrefix(line, q) {
			return q, line
		}
	}
	return "", line
}

// menuQuestion returns the question that the cursor is in or below, and all lines that follow it, joined by
// spaces, without its "? "; or "".
func (p *person) menuQuestion() string {
	lines, row, column := p.lines()
	const narrow = 20 // there the cursor may be alone in a line, at its beginning
	if column == 0 && p.width > narrow || row >= len(lines) {
		return ""
	}
	for row > 0 && !strings.HasPrefix(lines[row], "? ") {
		row--
	}
	// In a narrow window, a question takes several lines.
	return strings.TrimPrefix(strings.Join(strings.Fields(strings.Join(lines[row:], " ")), " "), "? ")
}

// plainQuestion returns the line of the question that text ends with, or "". It may end with a prompt for a
// number, below the question and its choices, which are indented.
func plainQuestion(text string) string {
	if !strings.HasSuffix(text, ": ") && !strings.HasSuffix(text, "] ") {
		return ""
	}
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	if !strings.HasPrefix(lines[last], "Number") {
		return lines[last]
	}
	last--
	for last > 0 && strings.HasPrefix(lines[last], " ") {
		last--
	}
	return lines[last]
}

// asked waits until a question is open whose line begins with this text.
func (p *person) asked(line string) {
	p.T.Helper()
	p.until("the question "+line, func() bool {
		_, open := p.open()
		return strings.HasPrefix(open, line)
	})
}

// asksNext waits for the question after the last one, and returns it.
func (p *person) asksNext(last string) (question string) {
	p.T.Helper()
	p.until("a question after "+last, func() bool {
		question, _ = p.open()
		return question != "" && question != last
	})
	p.read = len(p.Text())
	return question
}

// reaches presses Enter at each question until the one that begins with this text. The screen must be
// settled.
func (p *person) reaches(text string) {
	p.T.Helper()
	for question, _ := p.open(); !strings.HasPrefix(question, text); {
		if question == "Proceed?" || question == "" {
			p.T.Fatalf("it asks %q, and not %s", question, text)
		}
		last, read := question, p.BytesRead()
		p.Types("\r")
		p.until("a question after "+last, func() bool {
			question, _ = p.open()
			return question != "" && question != last
		})
		p.Settles(read + 1)
	}
}

// answers types these answers, and Enter after each and at all other questions, until a question follows
// that begins with this text. It does not answer that one.
func (p *person) answers(typed map[string]string, until string) {
	p.T.Helper()
	for question := p.asksNext(""); !strings.HasPrefix(question, until); question = p.asksNext(question) {
		p.Types(typed[question] + "\r")
	}
}

// ownBot are the answers that lead to a bot of one's own.
var ownBot = map[string]string{start: "own"}

// typedFor returns the text to type at each question of the wizard, before Enter, to get these values.
func typedFor(said bot.Values, target string, plain bool) map[string]string {
	mark := func(words []string) string {
		if len(words) == 0 || plain {
			return strings.Join(words, ",")
		}
		return strings.Join(words, "\t") + "\t"
	}
	answers := map[string]string{
		"Directory":                 target,
		"How do you want to start?": "scaffold",
		"Proceed?":                  "yes",
	}
	toggles := map[string][]string{}
	for _, o := range bot.Options {
		switch a := said[o]; {
		case o.IsList():
			answers[o.Question()] = mark(a.List)
		case !o.IsToggle():
			answers[o.Question()] = cmp.Or(a.Text, o.NoneLabel, "none")
		case a.On && (o.Key != "video_output" || said[bot.OptVideo].Text == ""): // an avatar turns it on
			words := strings.Fields(o.Label)
			if !plain { // there a space marks
				words = words[len(words)-1:]
			}
			toggles[o.Question()] = append(toggles[o.Question()], strings.Join(words, " "))
		}
	}
	answers[bot.AskOptions.Text] = mark(toggles[bot.AskOptions.Text])
	answers[bot.AskWhere.Text] = cmp.Or(mark(toggles[bot.AskWhere.Text]), "this machine")
	return answers
}

// The wizard writes the same bytes as a configuration file with the same values, both with menus and with
// plain questions. So does the command line that it prints.
func TestWizardEqualsOptions(t *testing.T) {
	parallel(t)
	for i, data := range configurations(t) {
		said, problems := bot.ParseConfig("any", data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		kinds := []string{"xterm", "dumb"}
		if !filetest.Thorough() { // only one kind, by turns
			kinds = kinds[i%2:][:1]
		}
		options := t.TempDir()
		inProcess{stdin: bytes.NewReader(data), dir: options}.vbot(t, "init", "it's here", "--config", "-").
			wantCode(t, 0)
		want := filetest.Tree(t, filepath.Join(options, "it's here"))
		dry := inProcess{stdin: bytes.NewReader(data), dir: options}.vbot(t, "init", "it's here", "--config",
			"-", "--dry-run")
		for _, kind := range kinds {
			t.Run(said[bot.OptName].Text+" "+kind, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				p := startWizard(t, dir, kind, 80, 24, "init")
				answers := typedFor(said, "it's here", kind == "dumb")
				for last := ""; last != "Proceed?"; {
					last = p.asksNext(last)
					answer, ok := answers[last]
					if !ok {
						t.Fatalf("it asks %q", last)
					}
					p.Types(answer + "\n")
				}
				if code := p.Ends(); code != 0 || p.State() != p.Before {
					t.Fatalf("exit code %d, terminal as before: %v\n%s", code, p.State() == p.Before,
						p.Text())
				}
				if got := filetest.Tree(t, filepath.Join(dir, "it's here")); !equalTrees(got, want) {
					t.Errorf("the wizard wrote other files than the options: %q", p.Text())
				}
				// The last line is the command, as a shell reads it.
				lines := strings.Split(strings.TrimSpace(p.Text()), "\n")
				args, err := exec.Command("sh", "-e", "-c",
					`vbot() { printf '%s\0' "$@"; }`+"\n"+lines[len(lines)-1]).Output()
				if err != nil {
					t.Fatalf("%s: %v\n%s", lines[len(lines)-1], err, args)
				}
				again := vbot(t, dir,
					append(strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00"), "--dry-run")...)
				if again.wantCode(t, 0); again.stdout != dry.stdout {
					t.Errorf("%s gives another bot: %s", lines[len(lines)-1], again.stdout)
				}
			})
		}
	}
}

// section is the part of a transcript with the screen after these keys, and | at the cursor.
func (p *person) section(keys string) string {
	p.T.Helper()
	lines, row, column := p.lines()
	if row < len(lines) {
		line := lines[row]
		before := tty.Cut(line, column)
		lines[row] = before + strings.Repeat(" ", max(0, column-tty.Width(before))) + "|" + line[len(before):]
	}
	lines = lines[max(0, len(lines)-p.height):]
	return fmt.Sprintf("%q\n%s\n=====\n", keys, strings.Join(lines, "\n"))
}

// plays types the keys one after the other, and compares the screen after each with golden/wizard/NAME. In
// "Speech to text | flux", the keys are for that question: Enter answers those before it.
func (p *person) plays(name string, steps ...string) {
	t := p.T.(*testing.T)
	t.Helper()
	path := filepath.Join("golden", "wizard", name)
	data, err := os.ReadFile(path)
	if err != nil && !updating() {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(data), "\n=====\n")
	var got strings.Builder
	for i, step := range append([]string{""}, steps...) {
		question, k, isFor := strings.Cut(step, " | ")
		if !isFor {
			k = step
		} else {
			p.reaches(question)
		}
		if states, _ := p.Threads(); states == "Z" {
			t.Fatalf("vbot ended before %q was typed; the terminal shows\n%s", k, p.Text())
		}
		read := p.BytesRead()
		p.Types(k)
		p.Settles(read + len(k))
		section := p.section(k)
		// On a busy machine, the screen may look settled before vbot has drawn it.
		for deadline := time.Now().Add(5 * time.Second); !updating() && i < len(want) && section != want[i] &&
			time.Now().Before(deadline); section = p.section(k) {
			time.Sleep(time.Millisecond)
		}
		got.WriteString(section)
		if !updating() && (i >= len(want) || section != want[i]) {
			break
		}
	}
	golden(t, "wizard/"+name, []byte(got.String()))
	if t.Failed() {
		t.FailNow() // the remaining keys would not be typed
	}
}

// A screenCase is a case of TestWizardScreens.
type screenCase struct {
	name          string
	width, height int
	kind          string
	args          string
	keys          []string
	code          int
}

func screenCases() []screenCase {
	const down, up, left = "\x1b[B", "\x1b[A", "\x1b[D"
	return []screenCase{
		{name: "cascade", width: 80, height: 24, kind: "xterm", args: "init", keys: []string{
			"parlour", "\r", down, down, "\r", "\r", "\r", "\r", "\r", "\r",
			"Speech | flux", "\r", "\r",
			"Text to | eleven", "\r", "\r", "\r", "\r",
			"Which options? | " + down, down, "\r",
			"Proceed? | \r",
		}, code: 0},
		{
			name:   "large-window",
			width:  120,
			height: 50,
			kind:   "xterm",
			args:   "init parlour",
			keys: []string{
				"own\r", "How do people | daily\r", "Language, | \r",
				"Speech | stt_b", "\r",
				"Language model | stt", "\x1b" + up + up + "\r",
				"Web client | \x03",
			},
			code: 130,
		},
		{name: "small-window", width: 40, height: 10, kind: "xterm", args: "init", keys: []string{
			"\r", "own\r",
			"Project name | Das Café", "\r", "\r",
			"How do people |  " + down + down + " ", "\r",
			"How does the bot | real", "\r", "\r", "\r", "\r", "\r",
			"Where will it run? | " + up, "\r", "\r",
			"Proceed? | " + down, "\r", down + down, "\r", up + up, "\r",
			"Proceed? | no\r",
		}, code: 1},
		{
			name:   "narrow",
			width:  20,
			height: 12,
			kind:   "xterm",
			args:   "init",
			keys: []string{
				"\r", "own\r", "\r",
				"What kind of bot? | tele", "\r",
				"How do people | tel_a\tsip\tpstn\t", "\x15\r",
				"How does the bot | real\r",
				"Who places | out\r",
				"Language, | " + up, "\r", "\r", "\r", "\r",
				"Proceed? | no\r",
			},
			code: 1,
		},
		{name: "plain", width: 80, height: 24, kind: "dumb", args: "init", keys: []string{
			"talker\n", "3\n", "\n",
			"What kind of bot? | telephony\n",
			"How do people | twilio_daily_sip, daily_pstn\n", "tel_a webrtc\n", "<\n", "\n",
			"How does the bot | 2\n",
			"Language, | de_DE\n", "German\n",
			"Realtime model | gem\n", "?\n", "ai li\n", "gemini_live\n",
			"Where will it run? | this\n",
			"Which options? | 1,2\n", "2,5\n",
			"Proceed? | 9\n", "yes\n",
		}, code: 0},
		{name: "change", width: 80, height: 24, kind: "xterm", args: "init parlour", keys: []string{
			"own\r", "Video avatar | tavus\r",
			"Which options? | noise\t\r",               // an avatar sends video: there is no choice
			"Proceed? | cha\rruns\r", "\t" + up + "\r", // noise cancelling needs deployment
			"Proceed? | cha\rmode\rreal\r", // other services
			"Proceed? | cha\rbot\rtel\r",   // other transports, no video
			"How do people | tel_a\tsip\t\r",
			"Proceed? | cha\rdirect\rsalon\r", // another name
			"cha\rname\rGuest room\r", "cha\rtransp\r", "tel_a\t\r", "cha\ropt\r", "evals\trecor\t\r",
			"cha\rnone of\r", "no\r",
		}, code: 1},
		{name: "back", width: 80, height: 24, kind: "xterm", args: "init", keys: []string{
			left + "\x1b[Z" + "parlour\r", left, "\r", "own\r",
			"Project name | Guest room\r",
			"How do people | daily\tlive\t\r",
			"How does the bot | real\r", left + left, "unused\x1b[Z", "tele\r", left, "web\r", left + left,
			"Which options? | evals\t\r", left + left,
			"Proceed? | cha\r" + left, "cha\rmode\r" + left, "cha\rmode\rcas\r", left, "real\r",
			"Proceed? | no\r",
		}, code: 1},
		{
			name:   "recommended",
			width:  80,
			height: 24,
			kind:   "xterm",
			args:   "init",
			keys:   []string{"\r", "\r", "cha\rlanguage m\ranth\r", left + left, "own\r", "\x03"},
			code:   130,
		},
		{
			name:   "unchanged",
			width:  80,
			height: 40,
			kind:   "xterm",
			args:   "init parlour",
			keys:   []string{"\r", "cha\rmode\r" + left, "no\r"},
			code:   1,
		},
		{
			name:   "guides",
			width:  80,
			height: 24,
			kind:   "xterm",
			args:   "init",
			keys:   []string{"notes", "\r", up, "\r"},
			code:   0,
		},
	}
}

func TestWizardScreens(t *testing.T) {
	parallel(t)

	for _, c := range screenCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			filetest.Put(t, dir, "file", "")
			p := startWizard(t, dir, c.kind, c.width, c.height, strings.Fields(c.args)...)
			p.plays(c.name+".txt", c.keys...)
			if code := p.Ends(); code != c.code || p.State() != p.Before {
				t.Errorf("exit code %d, want %d; terminal as before: %v", code, c.code, p.State() == p.Before)
			}
			if tree := filetest.Tree(t, dir); c.code != 0 && len(tree) != 1 {
				t.Errorf("nothing was to be written, and there is %v", tree)
			}
		})
	}
}

// Existing files that the bot would replace are shown before anything is written, and can be kept.
func TestWizardFilesInTheWay(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		name string
		keys []string
		code int
	}{
		{"kept", []string{"scaff\r", "Proceed? | \r"}, 0},
		{"elsewhere", []string{"scaff\r", "Proceed? | change\rdirectory\rother\r", "\r"}, 0},
		{"cancelled", []string{"scaff\r", "Proceed? | no\r"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			filetest.Put(t, dir, "bot/README.md", "mine")
			filetest.Put(t, dir, "bot/server/bot.py", "mine")
			p := startWizard(t, dir, "xterm", 80, 44, "init", "bot")
			p.plays("files-"+c.name+".txt", c.keys...)
			if code := p.Ends(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			tree := filetest.Tree(t, dir)
			if tree["bot/README.md"] != "mine" || tree["bot/server/bot.py"] != "mine" {
				t.Error("a file was written over")
			}
			if n := len(tree); c.code == 1 && n != 2 || c.code == 0 && n < 9 {
				t.Errorf("%d files", n)
			}
		})
	}
	t.Run("a link", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "work")
		filetest.Put(t, dir, "bot/notes", "mine")
		if err := os.Symlink("/etc", filepath.Join(dir, "bot/server")); err != nil {
			t.Fatal(err)
		}
		p := startWizard(t, dir, "xterm", 80, 44, "init", "bot")
		p.plays("files-link.txt", "own\r", "Proceed? | \x1b[B\r")
		if code := p.Ends(); code != 1 {
			t.Errorf("exit code %d", code)
		}
	})
	// With the same answers again, there is nothing to do. With others, vbot says how to change the bot.
	dir := t.TempDir()
	for again := range 2 {
		p := startWizard(t, dir, "xterm", 80, 24, "init", "bot")
		p.asked("How do you want to start?")
		told := strings.Contains(p.Text(), "change its options: vbot init bot --update")
		if told != (again == 1) {
			t.Errorf("told of --update: %v\n%s", told, p.Text())
		}
		p.answers(ownBot, "Proceed?")
		p.Types("\r")
		if code := p.Ends(); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.Text())
		}
	}
	p := startWizard(t, filepath.Join(dir, "bot"), "xterm", 80, 24, "init")
	p.asked("Directory (.)") // where the bot is
	p.Types("\x03")
	p.Ends()
}

// The wizard, too, can refresh an older guide, and its command line has the option for that.
func TestWizardRefreshesGuides(t *testing.T) {
	parallel(t)
	for keys, replaced := range map[string][2]bool{
		"y\ry\r": {true, true},
		"y\r\r":  {true, false},
		"\r\r":   {},
	} {
		dir := t.TempDir()
		for _, name := range []string{"AGENTS.md", "AGENT_IMPORT.md"} {
			filetest.Put(t, dir, "bot/"+name, "from long ago\n"+strings.Replace(stamp, "%s", "0.0.9", 1))
		}
		p := startWizard(t, dir, "xterm", 80, 44, "init", "bot")
		p.answers(ownBot, "AGENTS.md was written by an older vbot.")
		p.Types(keys)
		if code := p.Ends(); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.Text())
		}
		tree := filetest.Tree(t, dir)
		got := [2]bool{
			!strings.HasPrefix(tree["bot/AGENTS.md"], "from long ago"),
			!strings.HasPrefix(tree["bot/AGENT_IMPORT.md"], "from long ago"),
		}
		if got != replaced || strings.Contains(p.Text(),
			"cartesia --overwrite-guide") != (got == [2]bool{true, true}) {
			t.Errorf("%q: replaced, want %v\n%s", keys, replaced, p.Text())
		}
	}
}

// With --json, the result goes to stdout and everything else to the terminal.
func TestWizardAndJSON(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	cmd := vbotCommand(t, dir, "init", "bot", "--json")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	p := &person{Terminal: ptytest.Open(t, cmd), width: 80, height: 24}
	p.answers(ownBot, "Proceed?")
	p.Types("\r")
	if code := p.Ends(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Text())
	}
	var answer struct {
		Config bot.Config
		Files  []struct{ Path, Action string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil || answer.Config.STTService != "stt_a" ||
		len(answer.Files) < 9 {
		t.Errorf("%v: %s", err, &stdout)
	}
}

// After the wizard is left at any question, the terminal is restored and nothing is written. The ways to
// leave take turns: each question is left in several ways, and each way is used at several questions.
func TestWizardIsLeft(t *testing.T) {
	parallel(t)
	var left sync.Map // the questions that were left, by kind of terminal
	ways := []struct {
		name   string
		keys   string
		signal syscall.Signal
	}{
		{"Ctrl-C", "\x03", 0},
		{"Ctrl-D", "\x04", 0},
		{"SIGTERM", "", syscall.SIGTERM},
		{"SIGHUP", "", syscall.SIGHUP},
		{"SIGINT", "", syscall.SIGINT},
	}
	for k, kind := range []string{"xterm", "dumb"} {
		for i, answers := range []map[string]string{longWay, webWay, realtimeWay} {
			t.Run(fmt.Sprint(kind, " ", i), func(t *testing.T) {
				t.Parallel()
				var asked []string // the questions in the order of the first run
				for n := 99; n >= 0; n-- {
					if n < len(asked) {
						if _, done := left.Load(kind + asked[n]); done && !filetest.Thorough() {
							continue
						}
					}
					dir := t.TempDir()
					p := startWizard(t, dir, kind, 80, 24, "init")
					last, all := p.asksNext(""), []string{}
					for ; len(all) < n && last != "Proceed?"; last = p.asksNext(last) {
						all = append(all, last)
						p.Types(answers[last] + "\n")
					}
					if asked == nil {
						asked = append(all, last)
						n = len(all)
					}
					left.Store(kind+last, true)
					way := ways[(n+i+3*k)%len(ways)]
					p.Types(way.keys)
					if way.signal != 0 {
						p.Cmd.Process.Signal(way.signal)
					}
					if code := p.Ends(); code != 130 ||
						!strings.HasSuffix(p.Text(), "cancelled; nothing was written\n") ||
						strings.Contains(p.Text(), "error:") {
						t.Errorf("%s, %s: exit code %d\n%s", last, way.name, code, p.Text())
					}
					if p.State() != p.Before {
						t.Errorf("%s, %s: the terminal is not as it was", last, way.name)
					}
					// The answers so far are printed as a command line.
					if strings.Contains(p.Text(), "\nYour answers so far, as a command line") &&
						strings.Contains(p.Text(), ":\n  vbot init .") != (last != "Directory") {
						t.Errorf("%s, %s: the command line so far\n%s", last, way.name, p.Text())
					}
					if tree := filetest.Tree(t, dir); len(tree) > 0 {
						t.Errorf("%s, %s: there is %v", last, way.name, tree)
					}
				}
				if len(asked) < 11 {
					t.Errorf("only %d questions were asked: %q", len(asked), asked)
				}
			})
		}
	}
	t.Cleanup(func() {
		for _, q := range questions {
			_, drawn := left.Load("xterm" + q)
			_, plain := left.Load("dumb" + q)
			if !(drawn && plain) && q != "Which answer?" && q != "AGENTS.md was written by an older vbot." {
				t.Errorf("no way leads to the question %s", q)
			}
		}
	})
}

// Answers that together lead to all questions of the wizard. Questions that are not listed are answered
// with Enter.
var (
	longWay = map[string]string{
		start:                    "scaffold",
		"What kind of bot?":      "telephony",
		"How do people connect?": "daily_pstn",
	}
	webWay      = map[string]string{start: "scaffold", "Web client": "react"}
	realtimeWay = map[string]string{
		start:                              "scaffold",
		"What kind of bot?":                "telephony",
		"How do people connect?":           "twilio_daily_sip",
		"How does the bot process speech?": "realtime",
	}
)

// A run that fails after the last question prints the command line, too.
func TestWizardFailsLate(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	p := startWizard(t, dir, "xterm", 80, 24, "init", "bot")
	p.answers(ownBot, "Proceed?")
	filetest.Put(t, dir, "bot", "a file now")
	p.Types("\r")
	if code := p.Ends(); code != 1 ||
		!strings.Contains(p.Text(),
			"\n  vbot init bot -t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia\n"+
				"\x1b[1;31merror:\x1b[m ") {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
}

// The directory is checked when it is entered, and nothing is created.
func TestWizardChecksTheDirectory(t *testing.T) {
	dir := t.TempDir()
	filetest.Put(t, dir, "around/file", "")
	filetest.Put(t, dir, "around/full/a", "")
	for _, name := range []string{"b", "c", "d"} {
		filetest.Put(t, dir, "around/full/"+name, "")
	}
	filetest.Put(t, dir, "around/closed/a", "")
	readOnly(t, filepath.Join(dir, "around/closed"))
	for link, to := range map[string]string{"dangling": "nowhere", "linked": "full"} {
		if err := os.Symlink(to, filepath.Join(dir, "around", link)); err != nil {
			t.Fatal(err)
		}
	}
	before := filetest.Listing(t, dir)
	around := filepath.Join(dir, "around")
	long := strings.Repeat("x", 300)
	for typed, want := range map[string]string{
		"new/er": "a new directory", "dangling": "DIR/dangling is a dangling link",
		"dangling/new": "DIR/dangling is a dangling link",
		"file":         "DIR/file is a file, not a directory",
		"file/new":     "DIR/file is a file, not a directory",
		"full":         "contains a, b, c, 1 more; existing files are not overwritten",
		"linked":       "a link to a directory; contains a, b, c, 1 more; existing files are not overwritten",
		"closed":       "writing to DIR/closed: ", "closed/new": "creating DIR/closed/new: ",
		long:          "reading DIR/" + long + ": file name too long",
		"new/" + long: "creating DIR/new/" + long + ": file name too long",
	} {
		note, err := project.Describe(filepath.Join(around, typed))
		if err == nil {
			err = project.Writable(filepath.Join(around, typed))
		}
		if err != nil {
			note = err.Error()
		}
		if !strings.HasPrefix(strings.ReplaceAll(note, around, "DIR"), want) {
			t.Errorf("%.20s: %q", typed, note)
		}
	}
	p := startWizard(t, around, "xterm", 80, 24, "init")
	p.asked("Directory")
	p.Types("dangling\r")
	p.Sees("link\x1b[m") // the end of the note
	p.Types("\x15~bob\r")
	p.Sees("only ~ and ~/ are expanded; write the full path, or ./~bob")
	p.Types("\x15/proc/x\r")
	p.Sees("creating /proc/x: ")
	p.Types("\x15 ~/bots/one \r")
	p.asked("How do you want to start?")
	if after := filetest.Listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	p.Types("\r\r")
	home := strings.TrimPrefix(p.Cmd.Env[1], "HOME=")
	if code := p.Ends(); code != 0 || len(filetest.Tree(t, filepath.Join(home, "bots/one"))) < 9 {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
	p = startWizard(t, around, "xterm", 80, 24, "init")
	p.Types("quickstart\r\r\r") // a directory of that name, not the preset
	if code := p.Ends(); code != 0 || !strings.Contains(p.Text(), "\n  vbot init ./quickstart ") {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
	p = startWizard(t, around, "xterm", 80, 24, "init", "dangling")
	if code := p.Ends(); code != 1 ||
		!strings.HasSuffix(p.Text(),
			"\x1b[?2004l\x1b[1;31merror:\x1b[m "+around+
				"/dangling is a dangling link; nothing was written\n") {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
}

// Pressing Enter twice creates a bot that runs. At a terminal the report is short, except with --verbose.
func TestRecommendedBot(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ args, want string }{
		{"init bot", "created %d files in DIR/bot\n\nNext"},
		{"init bot --verbose", "created %d files in DIR/bot:\n  .gitignore\n  AGENTS.md\n"},
	} {
		dir := t.TempDir()
		p := startWizard(t, dir, "xterm", 80, 24, strings.Fields(c.args)...)
		p.Types("\r\r")
		text := ""
		if code := p.Ends(); code == 0 {
			text = strings.ReplaceAll(p.Text(), dir, "DIR")
		}
		named := filetest.Tree(t, dir)
		maps.DeleteFunc(named, func(name, _ string) bool {
			return project.IsInternal(strings.TrimPrefix(name,
				"bot/"))
		})
		const line = "\n  vbot init bot -t smallwebrtc -t daily -m cascade " +
			"--stt deepgram --llm openai --tts cartesia\n"
		want := fmt.Sprintf(c.want, len(named))
		if !strings.Contains(text, want) || !strings.HasSuffix(text, line) {
			t.Errorf("vbot %s: %s", c.args, p.Text())
		}
		quickstart := t.TempDir()
		vbot(t, quickstart, "init", "quickstart").wantCode(t, 0)
		fresh := filetest.Tree(t, quickstart)["vbot-quickstart/server/bot.py"]
		if got := filetest.Tree(t, dir)["bot/server/bot.py"]; got == "" || got != fresh {
			t.Errorf("bot.py differs from the quickstart's")
		}
	}
}

// vbot ends when its terminal is closed.
func TestWizardAndAClosedTerminal(t *testing.T) {
	parallel(t)
	for _, kind := range []string{"xterm", "dumb"} {
		p := startWizard(t, t.TempDir(), kind, 80, 24, "init")
		p.asksNext("")
		p.HangsUp()
		done := make(chan error, 1)
		go func() { done <- p.Cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("it goes on without a terminal")
		}
		if code := p.Cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%s: exit code %d", kind, code)
		}
	}
}

// At a terminal that takes no more output, the second signal ends the wizard, and
// leaves the terminal as it was.
func TestWizardAndAFrozenTerminal(t *testing.T) {
	p := startWizard(t, t.TempDir(), "xterm", 80, 24, "init")
	p.asksNext("")
	p.Mu.Lock()                             // stops the reader
	for last := -1; p.BytesRead() > last; { // until it has stopped
		last = p.BytesRead()
		for range 20 {
			p.Types(strings.Repeat("x", 80))
			time.Sleep(10 * time.Millisecond) // it draws when keys pause
		}
	}
	stubborn(t, p.Cmd)
	p.Mu.Unlock()
	if code := p.Cmd.ProcessState.ExitCode(); code != 130 || p.State() != p.Before {
		t.Errorf("exit code %d, the mode is as before: %v", code, p.State() == p.Before)
	}
}

// Text that is typed ahead answers the following questions.
func TestWizardTypedAhead(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	p := startWizard(t, dir, "xterm", 80, 24, "init")
	p.Types("parlour\rscaff\rsalon\rtelephony\rtelnyx\t\rcascade\r")
	p.asked("Language,")
	p.answers(nil, "Proceed?")
	p.Types("\r")
	if code := p.Ends(); code != 0 ||
		!strings.Contains(p.Text(), "vbot init parlour --name salon -t telnyx -m cascade ") {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
	if strings.Contains(p.Text(), "parlour\n?") {
		t.Error("what was typed ahead is shown by itself")
	}
}

// Pasted text is typed, but its line ends do not press Enter.
func TestWizardAndAPaste(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	p := startWizard(t, dir, "xterm", 80, 24, "init")
	p.asked("Directory")
	p.Types("\x1b]11;rgb:0000/0000/0000\a\x1b[200~parlour\n\n\n\n\n\x1b[201~\x1bP>|XTerm\x1b\\")
	p.asked("Directory (.): parlour")
	p.Types("\x1b[200~\ny\n\x1b[201~\x03")
	if code := p.Ends(); code != 130 || len(filetest.Tree(t, dir)) > 0 {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
}

// Escape sequences in the name of a directory have no effect on the terminal.
func TestWizardAndAHostileName(t *testing.T) {
	parallel(t)
	for _, kind := range []string{"xterm", ""} {
		dir := t.TempDir()
		p := startWizard(t, dir, kind, 80, 24, "init", "a\x1b]0;owned\a\u202eb")
		p.answers(map[string]string{"Project name": "parlour"}, "Proceed?")
		p.Sees("a]0;ownedb")
		p.Types("\x03")
		p.Ends()
		if raw := p.Raw(); strings.Contains(raw, "\x1b]0;") || strings.ContainsRune(raw, '\u202e') {
			t.Errorf("TERM=%q: %q", kind, raw)
		}
	}
}

// A bot with files for Kubernetes cannot get a name that is one of the cluster's own namespaces.
func TestWizardAndANameOfTheCluster(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	p := startWizard(t, dir, "", 80, 24, "init", "bot")
	typed := map[string]string{
		"How do you want to start?": "scaffold",
		bot.AskWhere.Text:           "your own machines",
		"Proceed?":                  "change",
		"Which answer?":             "directory",
		"Directory":                 "default",
	}
	for question := ""; question != "Directory"; {
		question = p.asksNext(question)
		p.Types(typed[question] + "\r")
	}
	p.asked("Project name")
	p.Types("\r")
	p.Sees("choose another name")
	p.Types("parlour\r")
	p.asked("Proceed?")
	p.Types("yes\r")
	if code := p.Ends(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
	kustomization := filetest.Tree(t, dir)["default/deploy/kubernetes/kustomization.yaml"]
	if !strings.Contains(kustomization, "namespace: \"parlour\"") {
		t.Error(kustomization)
	}
}

// A question is drawn correctly after the window is resized.
func TestWizardAndAResizedWindow(t *testing.T) {
	parallel(t)
	p := startWizard(t, t.TempDir(), "xterm", 80, 24, "init", "parlour")
	p.answers(ownBot, "Speech to text")
	services := len(catalog.New().List(catalog.KindSTT))
	p.Sees(fmt.Sprintf("%d of %d", services, services))
	for _, size := range [][2]int{{40, 8}, {100, 30}, {20, 3}, {80, 24}} {
		p.width, p.height = size[0], size[1]
		before := len(p.Raw())
		unix.IoctlSetWinsize(int(p.TTY.Fd()), unix.TIOCSWINSZ,
			&unix.Winsize{Row: uint16(size[1]), Col: uint16(size[0])})
		p.until("another drawing", func() bool {
			drawn := p.Raw()[before:]
			rows := strings.Count(drawn, "\x1b[K")
			// It erases all rows that the terminal may have rewrapped, and everything below the new ones.
			return rows > 1 && rows <= size[1] &&
				strings.Index(drawn, "\x1b[J") < strings.Index(drawn, "\x1b[K") &&
				strings.Count(drawn, "\x1b[J") > 1
		})
	}
	p.Types("\x03")
	if code := p.Ends(); code != 130 || p.State() != p.Before {
		t.Errorf("exit code %d", code)
	}
}

// A terminal without a size is treated as one of 80 by 24.
func TestWizardWithoutASize(t *testing.T) {
	parallel(t)
	p := startWizard(t, t.TempDir(), "xterm", 0, 0, "init", "bot")
	p.width, p.height = 80, 24
	p.asked("How do you want to start?")
	p.Types("\x03")
	if code := p.Ends(); code != 130 {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
}

// After SIGSTOP and SIGCONT, the wizard goes on below what other programs have printed meanwhile.
func TestWizardAfterAStop(t *testing.T) {
	parallel(t)
	p := startWizard(t, t.TempDir(), "xterm", 14, 24, "init")
	p.asked("Directory")
	p.Cmd.Process.Signal(syscall.SIGSTOP)
	p.until("a stop", func() bool { states, _ := p.Threads(); return strings.Trim(states, "T") == "" })
	if err := unix.IoctlSetTermios(int(p.TTY.Fd()), unix.TCSETS, &p.Before); err != nil {
		t.Fatal(err)
	}
	p.TTY.WriteString("\n$ echo\x1b[K\n$ fg\x1b[K\n")
	p.Cmd.Process.Signal(syscall.SIGCONT)
	p.Waits(false)
	p.Types("parlour")
	p.Sees("parlour")
	if lines, _, _ := p.lines(); !strings.Contains(strings.Join(lines, "\n"), "\n$ echo\n$ fg\n? Directory") {
		t.Errorf("the terminal shows\n%s", strings.Join(lines, "\n"))
	}
	p.Types("\x03")
	p.Ends()
}

// A window that becomes narrower still shows what was drawn before vbot noticed.
func TestWizardAndANarrowerWindow(t *testing.T) {
	parallel(t)
	p := startWizard(t, t.TempDir(), "xterm", 80, 24, "init", "parlour")
	p.width = 50
	p.answers(ownBot, "Speech to text")
	p.Types("\x1b[B")
	p.Sees("> OpenAI")
	lines, _, _ := p.lines()
	if n := strings.Count(strings.Join(lines, "\n"), "? Speech to text"); n != 1 {
		t.Errorf("the question is there %d times:\n%s", n, strings.Join(lines, "\n"))
	}
	p.Types("\x03")
	p.Ends()
}

// At a terminal, the beginning of an error is in colour. With NO_COLOR, at a terminal without colours, and
// in a file, the same text has no colour.
func TestColourOfErrors(t *testing.T) {
	parallel(t)
	const plain = "error: --bogus: unknown option; see `vbot init --help`\n"
	for env, want := range map[string]string{
		"TERM=xterm":            strings.Replace(plain, "error:", "\x1b[1;31merror:\x1b[m", 1),
		"TERM=xterm NO_COLOR=1": plain,
		"TERM=xterm NO_COLOR=":  strings.Replace(plain, "error:", "\x1b[1;31merror:\x1b[m", 1),
		"TERM=dumb":             plain, "TERM=": plain,
	} {
		cmd := vbotCommand(t, t.TempDir(), "init", "--bogus")
		cmd.Env = append(cmd.Env, strings.Fields(env)...)
		term := ptytest.Open(t, cmd)
		if code := term.Ends(); code != 2 || term.Text() != want {
			t.Errorf("%s: exit code %d, %q", env, code, term.Text())
		}
	}
}

// Plain questions have no colour and do not move the cursor. NO_COLOR removes only the colour.
func TestWizardColours(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		env            string
		colour, cursor bool
	}{
		{"TERM=xterm", true, true},
		{"TERM=xterm NO_COLOR=1", false, true},
		{"TERM=xterm NO_COLOR=", true, true},
		{"TERM=", false, false},
		{"TERM=dumb", false, false},
		{"TERM=xterm VBOT_PLAIN_PROMPTS=1", false, false},
	} {
		cmd := vbotCommand(t, t.TempDir(), "init", "bot")
		cmd.Env = append(cmd.Env, strings.Fields(c.env)...)
		p := &person{Terminal: ptytest.Open(t, cmd), width: 80, height: 24}
		p.answers(nil, "Proceed?")
		p.Types("\r")
		if code := p.Ends(); code != 0 {
			t.Errorf("%s: exit code %d", c.env, code)
		}
		if colour, cursor := regexp.MustCompile("\x1b\\[[0-9;]*m").
			MatchString(p.Raw()), strings.Contains(p.Raw(), "\x1b["); colour != c.colour ||
			cursor != c.cursor {
			t.Errorf("%s: colour %v, cursor %v", c.env, colour, cursor)
		}
	}
}

// Without a terminal, or with --no-input, nothing is asked.
func TestWizardNeedsAPerson(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	p := startWizard(t, dir, "xterm", 80, 24, "init", "--no-input")
	if code := p.Ends(); code != 2 {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
	p = startWizard(t, dir, "xterm", 80, 24, "init", "guides", "--no-input")
	if code := p.Ends(); code != 0 || len(filetest.Tree(t, dir)) != 3 {
		t.Errorf("exit code %d\n%s", code, p.Text())
	}
}

// After random keys, vbot ends, restores the terminal, and writes only into one directory.
func TestRandomKeys(t *testing.T) {
	parallel(t)
	seed := rand.Uint64()
	pool := []string{
		"\r", "\r", "\r", "\n", " ", "\t", "\x1b[A", "\x1b[B", "\x1b[C", "\x1bOD", "\x1b[H", "\x1b[F",
		"\x1b[5~", "\x1b[6~", "\x1b[3~", "\x1b",
		"\x1b[D", "\x1b[Z", "<\n", "\x7f", "\x01", "\x05", "\x15", "\x17", "\x0b", "a", "e", "o", "n", "y",
		"1", "2", ",", "日", "\u0301", "\xff", "\x00", "\x1b[200~x\ry\x1b[201~", "\x1b[1;5C", "-",
	}
	for i := range filetest.Rounds(8, 200) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			dir := t.TempDir()
			filetest.Put(t, dir, "around/file", "mine")
			kind := []string{"xterm", "dumb"}[i%2]
			p := startWizard(t, filepath.Join(dir, "around"), kind, 1+rng.IntN(100), 1+rng.IntN(40), "init")
			var typed strings.Builder
			for range 300 {
				typed.WriteString(pool[rng.IntN(len(pool))])
			}
			for b := range slices.Chunk([]byte(typed.String()), 64) {
				p.Master.Write(b)
			}
			// Before the first question, Ctrl-C ends the process immediately.
			p.until("the first question", func() bool {
				return strings.Contains(p.Raw(), "\x1b[?2004h") || strings.Contains(p.Raw(), "Directory (")
			})
			// Once the keys are read, Ctrl-C ends any question.
			ended, signalled := make(chan struct{}), false
			go func() { p.Cmd.Wait(); close(ended) }()
			for deadline := time.Now().Add(20 * time.Second); ; {
				select {
				case <-ended:
				case <-time.After(50 * time.Millisecond):
					// Before anything is shown, Ctrl-C may kill vbot, as it does any starting program.
					// Between questions it is a signal, and a second one would end vbot immediately.
					if asks := p.State() != p.Before; p.Raw() != "" && (asks || !signalled) {
						p.Master.WriteString("\x03")
						signalled = signalled || !asks
					}
					if time.Now().After(deadline) {
						t.Fatalf("seed %d, no. %d: it never ends after %q\n%q", seed, i, typed.String(),
							p.Raw())
					}
					continue
				}
				break
			}
			code := p.Cmd.ProcessState.ExitCode()
			if !slices.Contains([]int{0, 1, 2, 130}, code) || strings.Contains(p.Raw(), "goroutine ") {
				t.Errorf("seed %d, no. %d: exit code %d after %q\n%s", seed, i, code, typed.String(), p.Raw())
			}
			if p.State() != p.Before {
				t.Errorf("seed %d, no. %d: the terminal is not as it was", seed, i)
			}
			tops := map[string]bool{}
			for path := range filetest.Tree(t, dir) {
				rest, ok := strings.CutPrefix(path, "around/")
				top, _, _ := strings.Cut(rest, "/")
				if rest != "file" {
					tops[top] = true
				}
				if !ok {
					t.Errorf("seed %d, no. %d: it wrote %s", seed, i, path)
				}
			}
			if code != 0 && len(tops) > 0 {
				t.Errorf("seed %d, no. %d: exit code %d, and there is %v", seed, i, code, tops)
			}
		})
	}
}

// A panic, too, restores the terminal.
func TestPanicAtAQuestion(t *testing.T) {
	parallel(t)
	p := ptytest.Open(t, exec.Command("sleep", "60"))
	a := &cli.Env{
		System: system.System{Stderr: p.TTY, Getenv: func(string) string { return "xterm" }},
		Stdin:  p.TTY,
	}
	asks := a.Terminal()
	asks.Plain = false
	p.Types("x")
	func() {
		defer func() { recover() }()
		asks.Text(context.Background(), "Name", "", func(s string) (string, bool) {
			if p.State() == p.Before {
				t.Error("the terminal is not in raw mode")
			}
			if s != "" {
				panic("a fault")
			}
			return "", true
		})
		t.Error("there was no panic")
	}()
	p.Types("\n") // ends the read that still waits
	if p.State() != p.Before {
		t.Error("the terminal is not as it was")
	}
}
