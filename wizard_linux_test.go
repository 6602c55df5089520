package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"vbot/internal/tty"

	"golang.org/x/sys/unix"
)

// screen is what a terminal of the size shows after the output: its lines, those
// that were scrolled away first, and where the cursor stands among them. It knows
// only what prompt.go uses; a sequence that it does not know is an error.
func screen(output string, width, height int) (lines []string, row, column int, err error) {
	cells := [][]string{{}}
	top := 0 // the first line that is not scrolled away
	wraps := true
	put := func(r rune) {
		w := tty.Width(string(r))
		if column+w > width && wraps {
			column, row = 0, row+1
		}
		column = min(column, width-w)
		for len(cells) <= row {
			cells = append(cells, nil)
		}
		for len(cells[row]) < column+w {
			cells[row] = append(cells[row], " ")
		}
		if w == 0 && column > 0 {
			cells[row][column-1] += string(r)
			return
		}
		cells[row][column] = string(r)
		if w == 2 {
			cells[row][column+1] = ""
		}
		column += w
	}
	for i := 0; i < len(output); {
		switch c := output[i]; {
		case c == '\r':
			column, i = 0, i+1
		case c == '\n':
			row, i = row+1, i+1
		case c == 0x1b:
			rest := output[i+1:]
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
			if end < 0 {
				return nil, 0, 0, nil // the rest is on its way
			}
			n := 1
			fmt.Sscanf(rest, "[%d", &n)
			switch sequence := rest[:end+1]; {
			case rest[end] == 'A':
				row = max(top, row-n)
			case rest[end] == 'C':
				column = min(width-1, column+n)
			case sequence == "[K" && row < len(cells):
				cells[row] = cells[row][:min(column, len(cells[row]))]
			case sequence == "[?7l", sequence == "[?7h":
				wraps = sequence == "[?7h"
			case sequence == "[K", sequence == "[?2004h", sequence == "[?2004l", rest[end] == 'm':
			case sequence == "[J":
				if row < len(cells) {
					cells = cells[:row+1]
					cells[row] = cells[row][:min(column, len(cells[row]))]
				}
			default:
				return nil, 0, 0, fmt.Errorf("the terminal was sent %q", sequence)
			}
			i += end + 2
		default:
			for n, r := range output[i:] {
				if n > 0 {
					break
				}
				put(r)
				i += len(string(r))
			}
		}
		for len(cells) <= row {
			cells = append(cells, nil)
		}
		top = max(top, row-height+1)
	}
	for _, line := range cells {
		lines = append(lines, strings.TrimRight(strings.Join(line, ""), " "))
	}
	return lines, row, column, nil
}

// A person sits at a terminal and reads.
type person struct {
	*terminal
	width, height int
	read          int // how much of the text was read, where questions are plain
}

// sitDown starts vbot in dir at a terminal of this kind (TERM; "" for plain
// questions) and size.
func sitDown(t testing.TB, dir, kind string, width, height int, args ...string) *person {
	t.Helper()
	cmd := vbotCommand(t, dir, args...)
	cmd.Env = append(cmd.Env, "TERM="+kind)
	return &person{openTerminalOf(t, cmd, width, height), width, height, 0}
}

// raw is all that was printed, as it was.
func (p *person) raw() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.screen.String(), allPrinted, "")
}

// lines are the lines on the screen.
func (p *person) lines() (lines []string, row, column int) {
	p.t.Helper()
	// The directory has another name, and may be broken in another place, each time.
	lines, row, column, err := screen(strings.ReplaceAll(p.raw(), p.cmd.Dir, "DIR"), p.width, p.height)
	if err != nil {
		p.t.Fatal(err)
	}
	return lines, row, column
}

// until waits for the condition, which is called what.
func (p *person) until(what string, condition func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			lines, _, _ := p.lines()
			p.t.Fatalf("%s never came; the terminal shows\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// questions are all that the wizard asks.
var questions = []string{"Directory", "How do you want to start?", "Project name", "What kind of bot?", "How do people connect?",
	"How does it process speech?", "Who places the calls over Daily PSTN?", "Who places the calls over Twilio and SIP?", "Speech to text", "Language model", "Text to speech",
	"Realtime model", "Video avatar", "Web client", "What serves the client?", "Which features?", "Add files to deploy it to Pipecat Cloud?", "Proceed?",
	"Which answer?", "AGENTS.md was written by an older vbot."}

// open is the question that is open, and the line that it stands in; or "".
func (p *person) open() (question, line string) {
	if text := p.text(); strings.Contains(text, "\x1b") {
		lines, row, column := p.lines()
		if column == 0 || row >= len(lines) {
			return "", ""
		}
		for ; row > 0 && !strings.HasPrefix(lines[row], "? "); row-- {
		}
		line = strings.TrimPrefix(lines[row], "? ")
	} else if text = text[min(p.read, len(text)):]; strings.HasSuffix(text, ": ") || strings.HasSuffix(text, "] ") {
		lines := strings.Split(text, "\n")
		i := len(lines) - 1
		if strings.HasPrefix(lines[i], "Number") {
			for i--; i > 0 && strings.HasPrefix(lines[i], " "); i-- {
			}
		}
		line = lines[i]
	}
	for _, q := range questions {
		if strings.HasPrefix(line, q) {
			return q, line
		}
	}
	return "", line
}

// asked waits until a question is open whose line begins so.
func (p *person) asked(line string) {
	p.t.Helper()
	p.until("the question "+line, func() bool {
		_, open := p.open()
		return strings.HasPrefix(open, line)
	})
}

// asksNext waits for the question after the last one, and returns it.
func (p *person) asksNext(last string) (question string) {
	p.t.Helper()
	p.until("a question after "+last, func() bool {
		question, _ = p.open()
		return question != "" && question != last
	})
	p.read = len(p.text())
	return question
}

// answers are what to type at each question of the wizard to get the bot: what
// Enter is to follow.
func (cfg configFile) answers(target string, plain bool) map[string]string {
	mark := func(ids []string) string {
		if plain {
			return strings.Join(ids, ",")
		}
		return strings.Join(ids, "\t") + "\t"
	}
	video := cfg.VideoService
	if video == "" {
		video = "no avatar"
	}
	client := cfg.ClientFramework
	if client == "" {
		client = "none"
	}
	var features []string
	for _, f := range []struct {
		on   bool
		word string
	}{
		{cfg.Recording, "recording"}, {cfg.Transcription, "transcription"}, {cfg.EnableNoiseCancel, "noise"}, {cfg.EnableObservability, "observability"},
		{cfg.EnableEval, "evals"}, {cfg.SelfHost, "self-hosting"}, {cfg.VideoInput, "video input"}, {cfg.VideoOutput && cfg.VideoService == "", "video output"},
	} {
		if word := f.word; f.on {
			if !plain { // there a space marks
				_, word, _ = strings.Cut(" "+word, " ")
				word = strings.TrimPrefix(word, "video ")
			}
			features = append(features, word)
		}
	}
	marked := mark(features)
	if len(features) == 0 {
		marked = ""
	}
	deploy := "n"
	if cfg.DeployToCloud {
		deploy = "y"
	}
	return map[string]string{
		"Directory": target, "How do you want to start?": "scaffold", "Project name": cfg.ProjectName, "What kind of bot?": cfg.BotType,
		"How do people connect?": mark(cfg.Transports), "How does it process speech?": cfg.Mode,
		"Who places the calls over Daily PSTN?": cfg.DailyPSTNMode, "Who places the calls over Twilio and SIP?": cfg.TwilioDailySIPMode,
		"Speech to text": cfg.STTService, "Language model": cfg.LLMService, "Text to speech": cfg.TTSService, "Realtime model": cfg.RealtimeService,
		"Video avatar": video, "Web client": client, "What serves the client?": cfg.ClientServer,
		"Which features?": marked, "Add files to deploy it to Pipecat Cloud?": deploy, "Proceed?": "yes",
	}
}

// configFile reads what a config writes.
type configFile struct {
	ProjectName         string   `json:"project_name"`
	BotType             string   `json:"bot_type"`
	Transports          []string `json:"transports"`
	Mode                string   `json:"mode"`
	STTService          string   `json:"stt_service"`
	LLMService          string   `json:"llm_service"`
	TTSService          string   `json:"tts_service"`
	Recording           bool     `json:"recording"`
	Transcription       bool     `json:"transcription"`
	DeployToCloud       bool     `json:"deploy_to_cloud"`
	EnableNoiseCancel   bool     `json:"enable_noise_cancel"`
	EnableObservability bool     `json:"enable_observability"`
	RealtimeService     string   `json:"realtime_service"`
	VideoService        string   `json:"video_service"`
	ClientFramework     string   `json:"client_framework"`
	ClientServer        string   `json:"client_server"`
	DailyPSTNMode       string   `json:"daily_pstn_mode"`
	TwilioDailySIPMode  string   `json:"twilio_daily_sip_mode"`
	VideoInput          bool     `json:"video_input"`
	VideoOutput         bool     `json:"video_output"`
	EnableEval          bool     `json:"enable_eval"`
	SelfHost            bool     `json:"self_host"`
}

// The answers that describe a bot give the same bytes as its configuration file,
// whichever way they are asked; and so does the command line that the wizard
// prints.
func TestWizardEqualsOptions(t *testing.T) {
	bin := t.TempDir() // where a shell finds vbot
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "vbot"))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, bot := range goldenBots(t) {
		data, err := os.ReadFile("golden/" + bot + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var cfg configFile
		if err := json.Unmarshal(data, &cfg); err != nil {
			t.Fatal(err)
		}
		options := t.TempDir()
		with{stdin: string(data)}.vbot(t, options, "init", "it's here", "--config", "-").wantCode(t, 0)
		want := readTree(t, filepath.Join(options, "it's here"))
		for _, kind := range []string{"xterm", "dumb"} {
			t.Run(bot+" "+kind, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				p := sitDown(t, dir, kind, 80, 24, "init")
				answers := cfg.answers("it's here", kind == "dumb")
				for last := ""; last != "Proceed?"; {
					last = p.asksNext(last)
					answer, ok := answers[last]
					if !ok {
						t.Fatalf("it asks %q", last)
					}
					p.types(answer + "\n")
				}
				if code := p.ends(); code != 0 || p.state() != p.before {
					t.Fatalf("exit code %d, terminal as before: %v\n%s", code, p.state() == p.before, p.text())
				}
				if got := readTree(t, filepath.Join(dir, "it's here")); !equalTrees(got, want) {
					t.Errorf("the wizard wrote other files than the options: %q", p.text())
				}
				// The last line is the command.
				lines := strings.Split(strings.TrimSpace(p.text()), "\n")
				again := t.TempDir()
				cmd := exec.Command("sh", "-e", "-c", lines[len(lines)-1])
				cmd.Dir, cmd.Env = again, testEnv(t.TempDir(), bin)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", lines[len(lines)-1], err, out)
				}
				if got := readTree(t, filepath.Join(again, "it's here")); !equalTrees(got, want) {
					t.Errorf("it gives other files: %s", lines[len(lines)-1])
				}
			})
		}
	}
}

// plays types the keys in turn, and compares each screen that they lead to with
// golden/wizard/NAME.
func (p *person) plays(name string, keys ...string) {
	t := p.t.(*testing.T)
	t.Helper()
	path := filepath.Join("golden", "wizard", name)
	data, err := os.ReadFile(path)
	if err != nil && !updating() {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(data), "\n=====\n")
	var got strings.Builder
	for i, k := range append([]string{""}, keys...) {
		read := p.bytesRead()
		p.types(k)
		p.settles(read + len(k))
		lines, row, column := p.lines()
		if row < len(lines) {
			line := lines[row]
			before := tty.Cut(line, column)
			lines[row] = before + strings.Repeat(" ", max(0, column-tty.Width(before))) + "|" + line[len(before):]
		}
		lines = lines[max(0, len(lines)-p.height):]
		section := fmt.Sprintf("%q\n%s\n=====\n", k, strings.Join(lines, "\n"))
		got.WriteString(section)
		if !updating() && (i >= len(want) || section != want[i]) {
			break
		}
	}
	golden(t, "wizard/"+name, []byte(got.String()))
	if t.Failed() {
		t.FailNow() // what is still to be typed never comes
	}
}

func TestWizardScreens(t *testing.T) {
	const down, up, left = "\x1b[B", "\x1b[A", "\x1b[D"
	for _, c := range []struct {
		name          string
		width, height int
		kind          string
		args          string
		keys          []string
		code          int
	}{
		{"cascade", 80, 24, "xterm", "init", []string{"parlour", "\r", down, "\r", "\r", "\r", "\r", "\r", "flux", "\r", "\r", "eleven", "\r", "\r", "\r",
			down, " ", down, down, " ", "\r", "\r", "\r"}, 0},
		{"small-window", 40, 10, "xterm", "init", []string{"\r", "own\r", "Das Café", "\r", "\r", " " + down + down + " ", "\r", "real", "\r", "\r", "\r", "\r",
			"\r", "n", "\r", down, "\r", down + down, "\r", up + up, "\r", "no\r"}, 1},
		{"narrow", 20, 12, "xterm", "init", []string{"\r", "own\r", "\r", "tele", "\r", "tel_a\tsip\tpstn\t", "\x15\r", "real\r", "out\r", up, "\r", "\r", "\r", "no\r"}, 1},
		{"plain", 80, 24, "dumb", "init", []string{"talker\n", "2\n", "\n", "telephony\n", "twilio_daily_sip, daily_pstn\n", "tel_a webrtc\n", "<\n", "\n",
			"2\n", "gem\n", "?\n", "ai li\n", "gemini_live\n",
			"1,5\n", "perhaps\n", "no\n", "9\n", "yes\n"}, 0},
		{"change", 80, 24, "xterm", "init parlour", []string{"own\r\r\r\r\r\r\r\rtavus\r\r", "noise\t\r", // an avatar sends video: there is no choice
			"cha\rdepl\rn\r",        // noise cancelling needs deployment
			"cha\rmode\rreal\r",     // other services
			"\r", "cha\rbot\rtel\r", // other transports, no video
			"tel_a\tsip\t\r", "\r",
			"cha\rdirect\rsalon\r", // another name
			"cha\rname\rGuest room\r", "cha\rtransp\r", "tel_a\t\r", "cha\rfeat\r", "evals\trecor\t\r", "cha\rnone of\r", "no\r"}, 1},
		{"back", 80, 24, "xterm", "init", []string{left + "\x1b[Z" + "parlour\r", left, "\r", "own\r", "Guest room\r", "\r", "daily\tlive\t\r", "real\r",
			left + left, "unused\x1b[Z", "tele\r", left, "web\r", left + left, "\r\r\r\r\r\r\r", "evals\t\r", "\r",
			left + left, "\r\r", "cha\r" + left, "cha\rmode\r" + left, "cha\rmode\rcas\r", left, "real\r", "\r", "no\r"}, 1},
		{"recommended", 80, 24, "xterm", "init", []string{"\r", "\r", "cha\rlang\ranth\r", left + left, "own\r", "\x03"}, 130},
		{"unchanged", 80, 40, "xterm", "init parlour", []string{"\r", "cha\rmode\r" + left, "no\r"}, 1},
		{"guides", 80, 24, "xterm", "init", []string{"notes", "\r", up, "\r"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			put(t, dir, "file", "")
			p := sitDown(t, dir, c.kind, c.width, c.height, strings.Fields(c.args)...)
			p.plays(c.name+".txt", c.keys...)
			if code := p.ends(); code != c.code || p.state() != p.before {
				t.Errorf("exit code %d, want %d; terminal as before: %v", code, c.code, p.state() == p.before)
			}
			if tree := readTree(t, dir); c.code != 0 && len(tree) != 1 {
				t.Errorf("nothing was to be written, and there is %v", tree)
			}
		})
	}
}

// Files in the way are shown before anything is written; they can be kept.
func TestWizardFilesInTheWay(t *testing.T) {
	answers := strings.Repeat("\r", 11)
	for _, c := range []struct {
		name string
		keys []string
		code int
	}{
		{"kept", []string{"scaff\r", answers, "\r"}, 0},
		{"elsewhere", []string{"scaff\r", answers, "change\rdirectory\rother\r", "\r"}, 0},
		{"cancelled", []string{"scaff\r", answers, "no\r"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			put(t, dir, "bot/README.md", "mine")
			put(t, dir, "bot/server/bot.py", "mine")
			p := sitDown(t, dir, "xterm", 80, 44, "init", "bot")
			p.plays("files-"+c.name+".txt", c.keys...)
			if code := p.ends(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			tree := readTree(t, dir)
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
		put(t, dir, "bot/notes", "mine")
		if err := os.Symlink("/etc", filepath.Join(dir, "bot/server")); err != nil {
			t.Fatal(err)
		}
		p := sitDown(t, dir, "xterm", 80, 44, "init", "bot")
		p.plays("files-link.txt", "own\r"+answers, "\x1b[B\r")
		if code := p.ends(); code != 1 {
			t.Errorf("exit code %d", code)
		}
	})
	// The same answers once more: nothing to do. Who wants another bot is told how.
	dir := t.TempDir()
	for again := range 2 {
		p := sitDown(t, dir, "xterm", 80, 24, "init", "bot")
		p.asked("How do you want to start?")
		if told := strings.Contains(p.text(), "change its options: vbot init bot --update"); told != (again == 1) {
			t.Errorf("told of --update: %v\n%s", told, p.text())
		}
		p.types("own\r" + strings.Repeat("\r", 12))
		if code := p.ends(); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.text())
		}
	}
}

// In the wizard, too, an older guide can be refreshed; the command line says so.
func TestWizardRefreshesGuides(t *testing.T) {
	for keys, replaced := range map[string]bool{"y\r": true, "\r": false} {
		dir := t.TempDir()
		put(t, dir, "bot/AGENTS.md", "from long ago\n"+strings.Replace(stamp, "%s", "0.0.9", 1))
		p := sitDown(t, dir, "xterm", 80, 44, "init", "bot")
		p.types("own\r" + strings.Repeat("\r", 12))
		p.asked("AGENTS.md was written by an older vbot.")
		p.types(keys)
		if code := p.ends(); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.text())
		}
		got := readTree(t, dir)["bot/AGENTS.md"]
		if strings.HasPrefix(got, "from long ago") == replaced || strings.Contains(p.text(), "cartesia --overwrite-guide") != replaced {
			t.Errorf("%q: replaced, want %v\n%s", keys, replaced, p.text())
		}
	}
}

// The answer of --json goes to stdout, all else to the terminal.
func TestWizardAndJSON(t *testing.T) {
	dir := t.TempDir()
	cmd := vbotCommand(t, dir, "init", "bot", "--json")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	p := &person{openTerminal(t, cmd), 80, 24, 0}
	p.types("own\r" + strings.Repeat("\r", 12))
	if code := p.ends(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.text())
	}
	var answer struct {
		Config configFile
		Files  []struct{ Path, Action string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil || answer.Config.STTService != "stt_a" || len(answer.Files) < 9 {
		t.Errorf("%v: %s", err, &stdout)
	}
}

// Left at any question in any way, the terminal is as it was and nothing is
// written.
func TestWizardIsLeft(t *testing.T) {
	var met sync.Map // the questions that were left
	ways := []struct {
		name   string
		keys   string
		signal syscall.Signal
	}{{"Ctrl-C", "\x03", 0}, {"Ctrl-D", "\x04", 0}, {"SIGTERM", "", syscall.SIGTERM}, {"SIGHUP", "", syscall.SIGHUP}, {"SIGINT", "", syscall.SIGINT}}
	for _, kind := range []string{"xterm", "dumb"} {
		for _, way := range ways {
			for _, answers := range []map[string]string{longWay, webWay, realtimeWay} {
				t.Run(kind+" "+way.name, func(t *testing.T) {
					t.Parallel()
					var asked []string
					for last := ""; last != "Proceed?"; {
						dir := t.TempDir()
						p := sitDown(t, dir, kind, 80, 24, "init")
						question := ""
						for range asked {
							question = p.asksNext(question)
							p.types(answers[question] + "\n")
						}
						last = p.asksNext(question)
						asked = append(asked, last)
						p.types(way.keys)
						if way.signal != 0 {
							p.cmd.Process.Signal(way.signal)
						}
						if code := p.ends(); code != 130 || !strings.HasSuffix(p.text(), " interrupted; nothing was written\n") {
							t.Errorf("%s: exit code %d\n%s", last, code, p.text())
						}
						if p.state() != p.before {
							t.Errorf("%s: the terminal is not as it was", last)
						}
						// What was answered is not lost.
						if strings.Contains(p.text(), "as a command line:\n  vbot init .") != (last != "Directory") {
							t.Errorf("%s: the command line so far\n%s", last, p.text())
						}
						if tree := readTree(t, dir); len(tree) > 0 {
							t.Errorf("%s: there is %v", last, tree)
						}
					}
					if len(asked) < 11 {
						t.Errorf("only %d questions were asked: %q", len(asked), asked)
					}
					for _, q := range asked {
						met.Store(q, true)
					}
				})
			}
		}
	}
	t.Cleanup(func() {
		for _, q := range questions {
			if _, ok := met.Load(q); !ok && q != "Which answer?" && q != "AGENTS.md was written by an older vbot." {
				t.Errorf("no way leads to the question %s", q)
			}
		}
	})
}

const start = "How do you want to start?"

// Answers that lead to all questions of the wizard, one way or another; where none
// is given, Enter is.
var (
	longWay     = map[string]string{start: "scaffold", "What kind of bot?": "telephony", "How do people connect?": "daily_pstn"}
	webWay      = map[string]string{start: "scaffold", "Web client": "react"}
	realtimeWay = map[string]string{start: "scaffold", "What kind of bot?": "telephony", "How do people connect?": "twilio_daily_sip", "How does it process speech?": "realtime"}
)

// A run that fails after the last question leaves the command line, too.
func TestWizardFailsLate(t *testing.T) {
	dir := t.TempDir()
	p := sitDown(t, dir, "xterm", 80, 24, "init", "bot")
	p.types("own\r" + strings.Repeat("\r", 11))
	p.asked("Proceed?")
	put(t, dir, "bot", "a file now")
	p.types("\r")
	if code := p.ends(); code != 1 || !strings.Contains(p.text(), "\n  vbot init bot -t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia\n\x1b[1;31merror:\x1b[m ") {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
}

// The directory is checked at its question, and nothing is created.
func TestWizardChecksTheDirectory(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "around/file", "")
	put(t, dir, "around/full/a", "")
	for _, name := range []string{"b", "c", "d"} {
		put(t, dir, "around/full/"+name, "")
	}
	put(t, dir, "around/closed/a", "")
	readOnly(t, filepath.Join(dir, "around/closed"))
	for link, to := range map[string]string{"dangling": "nowhere", "linked": "full"} {
		if err := os.Symlink(to, filepath.Join(dir, "around", link)); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, dir)
	around := filepath.Join(dir, "around")
	long := strings.Repeat("x", 300)
	for typed, want := range map[string]string{
		"new/er": "a new directory", "dangling": "DIR/dangling is a dangling link", "dangling/new": "DIR/dangling is a dangling link",
		"file": "DIR/file is a file, not a directory", "file/new": "DIR/file is a file, not a directory", "full": "contains a, b, c, 1 more; existing files are not overwritten",
		"linked": "a link to a directory; contains a, b, c, 1 more; existing files are not overwritten", "closed": "writing to DIR/closed: ", "closed/new": "creating DIR/closed/new: ",
		long: "reading DIR/" + long + ": file name too long", "new/" + long: "creating DIR/new/" + long + ": file name too long",
	} {
		note, err := describeTarget(filepath.Join(around, typed))
		if err != nil {
			note = err.Error()
		}
		if !strings.HasPrefix(strings.ReplaceAll(note, around, "DIR"), want) {
			t.Errorf("%.20s: %q", typed, note)
		}
	}
	p := sitDown(t, around, "xterm", 80, 24, "init")
	p.asked("Directory")
	p.types("dangling\r")
	p.sees("is a dangling")
	p.types("\x15~bob\r")
	p.sees("only ~ and ~/ are expanded; write the full path, or ./~bob")
	p.types("\x15~/bots/one\r")
	p.asked("How do you want to start?")
	if after := listing(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	p.types("\r\r")
	home := strings.TrimPrefix(p.cmd.Env[1], "HOME=")
	if code := p.ends(); code != 0 || len(readTree(t, filepath.Join(home, "bots/one"))) < 9 {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
	p = sitDown(t, around, "xterm", 80, 24, "init", "dangling")
	if code := p.ends(); code != 1 || !strings.HasSuffix(p.text(), "\x1b[?2004l\x1b[1;31merror:\x1b[m "+around+"/dangling is a dangling link; nothing was written\n") {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
}

// Three keys make a bot that runs. At a terminal the report is short, unless more is
// asked for.
func TestRecommendedBot(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"init bot", "created 10 files in DIR/bot\n\nNext"},
		{"init bot --verbose", "created 10 files in DIR/bot:\n  .gitignore\n  AGENTS.md\n"},
	} {
		dir := t.TempDir()
		p := sitDown(t, dir, "xterm", 80, 24, strings.Fields(c.args)...)
		p.types("\r\r")
		text := ""
		if code := p.ends(); code == 0 {
			text = strings.ReplaceAll(p.text(), dir, "DIR")
		}
		if !strings.Contains(text, c.want) || !strings.HasSuffix(text, "\n  vbot init bot -t smallwebrtc -t daily -m cascade --stt deepgram --llm openai --tts cartesia\n") {
			t.Errorf("vbot %s: %s", c.args, p.text())
		}
		want := t.TempDir()
		vbot(t, want, "init", "quickstart").wantCode(t, 0)
		if got, want := readTree(t, dir)["bot/server/bot.py"], readTree(t, want)["vbot-quickstart/server/bot.py"]; got == "" || got != want {
			t.Errorf("bot.py differs from the quickstart's")
		}
	}
}

// A terminal that goes away ends the program.
func TestWizardAndAClosedTerminal(t *testing.T) {
	for _, kind := range []string{"xterm", "dumb"} {
		p := sitDown(t, t.TempDir(), kind, 80, 24, "init")
		p.asksNext("")
		p.hangsUp()
		done := make(chan error, 1)
		go func() { done <- p.cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("it goes on without a terminal")
		}
		if code := p.cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%s: exit code %d", kind, code)
		}
	}
}

// At a terminal that takes no more output, the second signal ends the wizard, and
// leaves the terminal as it was.
func TestWizardAndAFrozenTerminal(t *testing.T) {
	p := sitDown(t, t.TempDir(), "xterm", 80, 24, "init")
	p.asksNext("")
	p.mu.Lock() // the one who reads stops
	p.types(strings.Repeat("x", 2000))
	for last := ""; ; time.Sleep(50 * time.Millisecond) {
		states, wakes := p.threads()
		if strings.Trim(states, "S") == "" && wakes == last {
			break
		}
		last = wakes
	}
	stubborn(t, p.cmd)
	p.mu.Unlock()
	if code := p.cmd.ProcessState.ExitCode(); code != 130 || p.state() != p.before {
		t.Errorf("exit code %d, the mode is as before: %v", code, p.state() == p.before)
	}
}

// What is typed ahead answers the questions to come.
func TestWizardTypedAhead(t *testing.T) {
	dir := t.TempDir()
	p := sitDown(t, dir, "xterm", 80, 24, "init")
	p.types("parlour\rscaff\r\r\r\r\rdeepgram_flux\ranthropic\relevenlabs\r\r\r\r\r\r")
	if code := p.ends(); code != 0 || !strings.Contains(p.text(), "--stt deepgram_flux --llm anthropic --tts elevenlabs\n") {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
	if strings.Contains(p.text(), "parlour\n?") {
		t.Error("what was typed ahead is shown by itself")
	}
}

// A paste types, and no more than that.
func TestWizardAndAPaste(t *testing.T) {
	dir := t.TempDir()
	p := sitDown(t, dir, "xterm", 80, 24, "init")
	p.asked("Directory")
	p.types("\x1b[200~parlour\n\n\n\n\n\x1b[201~")
	p.asked("Directory (.): parlour")
	p.types("\x1b[200~\ny\n\x1b[201~\x03")
	if code := p.ends(); code != 130 || len(readTree(t, dir)) > 0 {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
}

// The name of a directory does nothing to the terminal.
func TestWizardAndAHostileName(t *testing.T) {
	for _, kind := range []string{"xterm", ""} {
		dir := t.TempDir()
		p := sitDown(t, dir, kind, 80, 24, "init", "a\x1b]0;owned\a\u202eb")
		for question := ""; question != "Proceed?"; {
			switch question = p.asksNext(question); question {
			case "Project name":
				p.types("parlour\r")
			case "Proceed?":
			default:
				p.types("\r")
			}
		}
		p.sees("a]0;ownedb")
		p.types("\x03")
		p.ends()
		if raw := p.raw(); strings.Contains(raw, "\x1b]0;") || strings.ContainsRune(raw, '\u202e') {
			t.Errorf("TERM=%q: %q", kind, raw)
		}
	}
}

// The window changes its size while a question is open.
func TestWizardAndAResizedWindow(t *testing.T) {
	p := sitDown(t, t.TempDir(), "xterm", 80, 24, "init", "parlour")
	p.types("own\r\r\r\r\r")
	p.asked("Speech to text")
	services := len(newCatalog().list(kindSTT))
	p.sees(fmt.Sprintf("%d of %d", services, services))
	for _, size := range [][2]int{{40, 8}, {100, 30}, {20, 3}, {80, 24}} {
		p.width, p.height = size[0], size[1]
		before := len(p.raw())
		unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size[1]), Col: uint16(size[0])})
		p.until("another drawing", func() bool {
			drawn := p.raw()[before:]
			rows := strings.Count(drawn, "\x1b[K")
			return rows > 1 && rows <= size[1] && strings.Contains(drawn, "\x1b[J")
		})
	}
	p.types("\x03")
	if code := p.ends(); code != 130 || p.state() != p.before {
		t.Errorf("exit code %d", code)
	}
}

// A window that has become narrower shows what was drawn before the program noticed.
func TestWizardAndANarrowerWindow(t *testing.T) {
	p := sitDown(t, t.TempDir(), "xterm", 80, 24, "init", "parlour")
	p.width = 50
	p.types("own\r\r\r\r\r")
	p.asked("Speech to text")
	p.types("\x1b[B")
	p.sees("> OpenAI")
	lines, _, _ := p.lines()
	if n := strings.Count(strings.Join(lines, "\n"), "? Speech to text"); n != 1 {
		t.Errorf("the question is there %d times:\n%s", n, strings.Join(lines, "\n"))
	}
	p.types("\x03")
	p.ends()
}

// Errors begin in colour at a terminal; NO_COLOR, a terminal that has none, and a file
// get the same text without it.
func TestColourOfErrors(t *testing.T) {
	const plain = "error: --bogus: unknown option; see `vbot init --help`\n"
	for env, want := range map[string]string{
		"TERM=xterm":            strings.Replace(plain, "error:", "\x1b[1;31merror:\x1b[m", 1),
		"TERM=xterm NO_COLOR=1": plain, "TERM=xterm NO_COLOR=": strings.Replace(plain, "error:", "\x1b[1;31merror:\x1b[m", 1),
		"TERM=dumb": plain, "TERM=": plain,
	} {
		cmd := vbotCommand(t, t.TempDir(), "init", "--bogus")
		cmd.Env = append(cmd.Env, strings.Fields(env)...)
		term := openTerminal(t, cmd)
		if code := term.ends(); code != 2 || term.text() != want {
			t.Errorf("%s: exit code %d, %q", env, code, term.text())
		}
	}
}

// Plain questions have no colour and leave the cursor alone. NO_COLOR takes the
// colour away and nothing else.
func TestWizardColours(t *testing.T) {
	for _, c := range []struct {
		env            string
		colour, cursor bool
	}{{"TERM=xterm", true, true}, {"TERM=xterm NO_COLOR=1", false, true}, {"TERM=xterm NO_COLOR=", true, true},
		{"TERM=", false, false}, {"TERM=dumb", false, false}, {"TERM=xterm VBOT_PLAIN_PROMPTS=1", false, false}} {
		cmd := vbotCommand(t, t.TempDir(), "init", "bot")
		cmd.Env = append(cmd.Env, strings.Fields(c.env)...)
		p := &person{openTerminal(t, cmd), 80, 24, 0}
		p.sees("How do you want to start?")
		p.types(strings.Repeat("\n", 13))
		if code := p.ends(); code != 0 {
			t.Errorf("%s: exit code %d", c.env, code)
		}
		if colour, cursor := regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(p.raw()), strings.Contains(p.raw(), "\x1b["); colour != c.colour || cursor != c.cursor {
			t.Errorf("%s: colour %v, cursor %v", c.env, colour, cursor)
		}
	}
}

// Without a person, or with --no-input, nothing is asked.
func TestWizardNeedsAPerson(t *testing.T) {
	dir := t.TempDir()
	p := sitDown(t, dir, "xterm", 80, 24, "init", "--no-input")
	if code := p.ends(); code != 2 {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
	p = sitDown(t, dir, "xterm", 80, 24, "init", "guides", "--no-input")
	if code := p.ends(); code != 0 || len(readTree(t, dir)) != 3 {
		t.Errorf("exit code %d\n%s", code, p.text())
	}
}

// Whoever leans on the keyboard ends somewhere, and nowhere else is written.
func TestRandomKeys(t *testing.T) {
	seed := rand.Uint64()
	pool := []string{"\r", "\r", "\r", "\n", " ", "\t", "\x1b[A", "\x1b[B", "\x1b[C", "\x1bOD", "\x1b[H", "\x1b[F", "\x1b[5~", "\x1b[6~", "\x1b[3~", "\x1b",
		"\x1b[D", "\x1b[Z", "<\n", "\x7f", "\x01", "\x05", "\x15", "\x17", "\x0b", "a", "e", "o", "n", "y", "1", "2", ",", "日", "\u0301", "\xff", "\x00", "\x1b[200~x\ry\x1b[201~", "\x1b[1;5C", "-"}
	for i := range 24 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			dir := t.TempDir()
			put(t, dir, "around/file", "mine")
			kind := []string{"xterm", "dumb"}[i%2]
			p := sitDown(t, filepath.Join(dir, "around"), kind, 1+rng.IntN(100), 1+rng.IntN(40), "init")
			var typed strings.Builder
			for range 300 {
				typed.WriteString(pool[rng.IntN(len(pool))])
			}
			for b := range slices.Chunk([]byte(typed.String()), 64) {
				p.master.Write(b)
			}
			// Before the first question Ctrl-C just ends the process.
			p.until("the first question", func() bool {
				return strings.Contains(p.raw(), "\x1b[?2004h") || strings.Contains(p.raw(), "Directory (")
			})
			// Once the keys are read, this is what ends any question.
			ended, signalled := make(chan struct{}), false
			go func() { p.cmd.Wait(); close(ended) }()
			for deadline := time.Now().Add(20 * time.Second); ; {
				select {
				case <-ended:
				case <-time.After(50 * time.Millisecond):
					// Before anything is shown, Ctrl-C may kill it, as any program that starts.
					// Between questions it is a signal, and a second one ends vbot where it is.
					if asks := p.state() != p.before; p.raw() != "" && (asks || !signalled) {
						p.master.WriteString("\x03")
						signalled = signalled || !asks
					}
					if time.Now().After(deadline) {
						t.Fatalf("seed %d, no. %d: it never ends after %q\n%q", seed, i, typed.String(), p.raw())
					}
					continue
				}
				break
			}
			code := p.cmd.ProcessState.ExitCode()
			if !slices.Contains([]int{0, 1, 2, 130}, code) || strings.Contains(p.raw(), "goroutine ") {
				t.Errorf("seed %d, no. %d: exit code %d after %q\n%s", seed, i, code, typed.String(), p.raw())
			}
			if p.state() != p.before {
				t.Errorf("seed %d, no. %d: the terminal is not as it was", seed, i)
			}
			tops := map[string]bool{}
			for path := range readTree(t, dir) {
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

// A fault of this program, too, leaves the terminal as it was.
func TestPanicAtAQuestion(t *testing.T) {
	p := openTerminal(t, exec.Command("sleep", "60"))
	a := &app{stdin: p.tty, stderr: p.tty, getenv: func(string) string { return "xterm" }}
	asks := a.prompter()
	asks.Plain = false
	p.types("x")
	func() {
		defer func() { recover() }()
		asks.line(context.Background(), "Name", "", func(s string) (string, bool) {
			if p.state() == p.before {
				t.Error("the terminal is not in raw mode")
			}
			if s != "" {
				panic("a fault")
			}
			return "", true
		})
		t.Error("there was no panic")
	}()
	if p.state() != p.before {
		t.Error("the terminal is not as it was")
	}
}
