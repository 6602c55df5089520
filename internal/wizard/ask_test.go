package wizard

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/filetest"
	"vbot/internal/scaffold"
	"vbot/internal/tty"
)

var update = flag.Bool("update", false, "write what the wizard shows to testdata/ask.txt")

// A reply is what a person types at a question.
type reply struct {
	question string // "" for any
	typed    string
	hangsUp  bool // instead of an answer
}

// A person answers each question as soon as it is asked: with the next answer if that is for this question,
// otherwise with Enter. A person hangs up when no answer is left.
type person struct {
	answers    []reply
	keyboard   *os.File
	transcript bytes.Buffer
}

func (p *person) Write(b []byte) (int, error) {
	p.transcript.Write(b)
	text := string(b)
	if !strings.HasSuffix(text, ": ") && !strings.HasSuffix(text, "] ") {
		return len(b), nil
	}
	now := reply{hangsUp: true}
	if len(p.answers) > 0 {
		now = p.answers[0]
		if now.question == "" || now.question == lastQuestion(p.transcript.String()) {
			p.answers = p.answers[1:]
		} else {
			now = reply{} // Enter, at a question that the case does not know
		}
	}
	if now.hangsUp {
		p.transcript.WriteString(hangsUp + "\n")
		return len(b), p.keyboard.Close()
	}
	p.transcript.WriteString("{" + now.typed + "}\n")
	_, err := p.keyboard.WriteString(now.typed + "\n")
	return len(b), err
}

const hangsUp = "(hangs up)"

// lastQuestion returns the last question of the wizard in the conversation so far.
func lastQuestion(conversation string) (question string) {
	questions := []string{"Directory", "How do you want to start?", "Proceed?", "Which answer?", "AGENT"}
	for _, o := range bot.Options {
		questions = append(questions, o.Question())
	}
	for line := range strings.Lines(conversation) {
		for _, q := range questions {
			if strings.HasPrefix(line, q) {
				question = q
			}
		}
	}
	return question
}

// answersIn returns the answers in a conversation.
func answersIn(conversation string) (answers []reply) {
	places := regexp.MustCompile(`\{(.*?)\}|\(hangs up\)`).FindAllStringSubmatchIndex(conversation, -1)
	for _, at := range places {
		a := reply{question: lastQuestion(conversation[:at[0]]), hangsUp: at[2] < 0}
		if !a.hangsUp {
			a.typed = conversation[at[2]:at[3]]
		}
		answers = append(answers, a)
	}
	return answers
}

// choices are the lines of menus and their headings.
var choices = regexp.MustCompile(`(?m)^( +\d+  .*| {5,7}\S.*| [A-Z][^:\n]*:)\n`)

// counts are the numbers of files, which change with templates.
var counts = regexp.MustCompile(`\b\d+( missing)? file`)

// converse runs the wizard in dir with these answers. target is the one of the command line, or "". It
// returns what the wizard shows, without the choices of menus and with N for numbers of files, and the
// command line that would do the same.
func converse(t *testing.T, dir, target string, answers []reply) string {
	t.Helper()
	in, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keyboard.Close()
	someone := &person{answers: answers, keyboard: keyboard}
	terminal := tty.Open(in, someone, true, false, strings.Clone)
	path := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	env := scaffold.Env{Version: "1.2.3", Catalog: catalog.New(), Path: path}
	expand := func(path string) (string, error) { return strings.Replace(path, "~", dir+"/home", 1), nil }
	given := scaffold.Create{Project: scaffold.Project{Target: target}}
	job, err := Ask(t.Context(), terminal, env, expand, given)
	out := &someone.transcript
	if err != nil {
		out.WriteString("error: " + err.Error() + "\n")
	}
	if job != nil {
		out.WriteString(job.CommandLine(env) + "\n")
	}
	for _, a := range someone.answers {
		out.WriteString("nobody asked for " + a.typed + "\n")
	}
	shown := counts.ReplaceAllString(choices.ReplaceAllString(out.String(), ""), "N$1 file")
	return strings.ReplaceAll(shown, dir, "DIR")
}

// A case of testdata/ask.txt begins with `=== ` and what it is about. Lines that begin with `+ ` are files
// that exist, `target: ` is the directory of the command line. The rest is the conversation: answers are in
// braces, each for the question above it. To add a case, write the answers, and run
// `go test ./internal/wizard -update`.
func TestAsk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths have other separators")
	}
	filetest.Cases(t, "testdata/ask.txt", *update, func(lines string) string {
		dir := filepath.Join(t.TempDir(), "here")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		target, setup, conversation := "", "", ""
		for line := range strings.Lines(lines) {
			file, isFile := strings.CutPrefix(line, "+ ")
			name, isTarget := strings.CutPrefix(line, "target: ")
			switch {
			case isFile:
				filetest.Put(t, dir, filepath.FromSlash(strings.TrimSpace(file)), "# mine\n")
			case isTarget:
				target = strings.TrimSpace(name)
			default:
				conversation += line
				continue
			}
			setup += line
		}
		return setup + strings.TrimSpace(converse(t, dir, target, answersIn(conversation))) + "\n"
	})
}

// The questions are about all options, each once, in order.
func TestTopics(t *testing.T) {
	asked := map[*bot.Option]bool{}
	last := 0
	for _, topic := range topics() {
		for _, o := range topic.options {
			if asked[o] {
				t.Errorf("%s is asked for twice", o.Key)
			}
			asked[o] = true
		}
		if topic.subject == aboutOptions {
			if order := topic.options[0].Order; order < last {
				t.Errorf("%s is asked for too late", topic.label)
			}
			last = topic.options[0].Order
		}
	}
	if len(asked) != len(bot.Options) {
		t.Errorf("%d of %d options are asked for", len(asked), len(bot.Options))
	}
}

// Any option with a text can be typed, without a line of the wizard's code for it: Enter gives none.
func TestAnyTextCanBeTyped(t *testing.T) {
	thing := &bot.Option{Key: "language", Flag: "thing", Ask: "Which thing?", Label: "Thing"}
	for typed, want := range map[string]bot.Value{"\n": {}, "a thing\n": {Text: "a thing"}} {
		w := newWizard(catalog.New(), bot.Quickstart())
		keys, keyboard, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keyboard.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		var shown bytes.Buffer
		w.terminal = tty.Open(keys, &shown, true, false, strings.Clone)
		about := &topic{subject: aboutOptions, label: thing.Label, options: []*bot.Option{thing}}
		err = w.askTopic(t.Context(), about, false)
		if got := w.Bot[thing].Text; err != nil || got != want.Text ||
			!w.hasChoice(about, false) || shown.String() != "Which thing? (Enter: none): " {
			t.Errorf("%q: %q, %v\n%s", typed, got, err, &shown)
		}
		_, _ = keys.Close(), keyboard.Close()
	}
}
