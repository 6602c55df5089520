package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The table has a row for each field of the configuration, and each row leads to
// its own field.
func TestEveryFieldHasARow(t *testing.T) {
	if fields := reflect.TypeFor[config]().NumField(); fields != len(options) {
		t.Errorf("the configuration has %d fields, and the table %d rows", fields, len(options))
	}
	for _, o := range options {
		if position(o.key) < 0 {
			t.Errorf("the configuration has no %s", o.key)
		}
		if o.help == "" || o.label == "" || o.turn == 0 || o.ask == "" && o.toggle == nil {
			t.Errorf("%s: the row says too little for the help or the wizard", o.key)
		}
	}
}

// Every option, set by its flag, by a file and in the wizard, comes back in the
// dry run and in the report, and changes what is written.
func TestEveryOption(t *testing.T) {
	cat := newCatalog()
	for _, o := range options {
		values := samples(cat, o)
		for i, value := range values {
			said, want := bed(t, cat, o, value)
			whole, err := json.MarshalIndent(want, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			for way, got := range map[string]string{
				"flag":   dryRun(t, "", typed(said)...),
				"file":   dryRun(t, string(whole), "--config", "-"),
				"wizard": wizardAnswers(t, cat, want),
			} {
				if got != string(whole)+"\n" {
					t.Errorf("%s by %s is %s and not %s", o.key, way, got, whole)
				}
			}
			if o == optMode {
				continue // each mode has services of its own
			}
			said[o] = append(values, answer{on: o.on})[(i+1)%(len(values)+1)]
			if said[o].text == "" && o.toggle == nil {
				delete(said, o)
			}
			other, _, problems := resolve(cat, said, "there")
			if len(problems) == 0 && sameFiles(t, cat, want, other) {
				t.Errorf("%s changes no file", o.key)
			}
		}
	}
}

// samples are values of the option: a toggle that is not as by default, each of a
// few words, two services.
func samples(cat *catalog, o *option) (values []answer) {
	switch {
	case o.toggle != nil:
		return []answer{{on: !o.on}}
	case o.list != nil:
		return []answer{{list: []string{"rtc_hosted"}}, {list: []string{"tel_b", "websocket"}}}
	case o.kind != "":
		ids := cat.ids(o.kind)
		return []answer{{text: ids[0]}, {text: ids[len(ids)-1]}}
	case o.words != nil:
		for _, w := range o.words {
			if w.name != clientNone { // null in the dry run
				values = append(values, answer{text: w.name})
			}
		}
		return values
	}
	return []answer{{text: "Another name"}}
}

// bed is a bot that takes the value: what is said for it, and what comes of it.
func bed(t *testing.T, cat *catalog, o *option, value answer) (answers, config) {
	t.Helper()
	realtime := answers{optTransports: {list: []string{"websocket"}}, optMode: {text: modeRealtime}, optRealtime: {text: "openai"}}
	react, pstn, sip := quickstart(), quickstart(), quickstart()
	react[optClient] = answer{text: clientReact}
	pstn[optTransports], pstn[optPSTNMode] = answer{list: []string{"daily_pstn"}}, answer{text: modeDialIn}
	sip[optTransports], sip[optSIPMode] = answer{list: []string{"twilio_daily_sip"}}, answer{text: modeDialIn}
	for _, said := range []answers{quickstart(), realtime, react, pstn, sip} {
		said[o] = value
		if cfg, _, problems := resolve(cat, said, "there"); len(problems) == 0 {
			return said, cfg
		}
	}
	t.Fatalf("%s: no bot of this test takes %+v", o.key, value)
	return nil, config{}
}

// typed are the flags that say the same.
func typed(said answers) (args []string) {
	for o, a := range said {
		switch {
		case o.toggle != nil:
			args = append(args, fmt.Sprintf("--%s=%v", o.flag, a.on))
		case o.list != nil:
			for _, word := range a.list {
				args = append(args, "--"+o.flag, word)
			}
		default:
			args = append(args, "--"+o.flag, a.text)
		}
	}
	return args
}

// dryRun is what a dry run prints.
func dryRun(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr, dir: t.TempDir(), getenv: func(string) string { return "" }}
	if code := run(context.Background(), append([]string{"init", "there", "--dry-run"}, args...), a); code != 0 {
		t.Errorf("%q: exit code %d, %s", args, code, &stderr)
	}
	return stdout.String()
}

// wizardAnswers is the configuration that the wizard reports when it is answered
// so that want comes of it.
func wizardAnswers(t *testing.T, cat *catalog, want config) string {
	t.Helper()
	in, person, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer person.Close()
	answers := map[string]string{"How do you want to start?": "scaffold", "Proceed?": "1"}
	said := want.answers()
	for _, topic := range topics() {
		if len(topic.options) == 0 {
			continue
		}
		o := topic.options[0]
		words := said[o].list
		switch {
		case o.ask == "":
			for _, o := range topic.options {
				if said[o].on {
					words = append(words, o.label)
				}
			}
		case o.toggle != nil:
			words = []string{map[bool]string{true: "y", false: "n"}[said[o].on]}
		case o.list == nil:
			words = []string{cmp.Or(said[o].text, o.none, clientNone)}
		}
		answers[topic.ask] = cmp.Or(strings.Join(words, ","), "none")
	}
	var stdout bytes.Buffer
	asked := &asker{answers: answers, person: person}
	a := &app{stdin: in, stdout: &stdout, stderr: asked, getenv: func(string) string { return "" }, dir: t.TempDir()}
	inv := newInvocation(commandTree())
	inv.json = true
	if err := (&initOptions{cat: newCatalog()}).ask(context.Background(), a, inv, "there"); err != nil {
		t.Fatalf("the wizard: %v, after\n%s", err, &asked.shown)
	}
	var report struct{ Config json.RawMessage }
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, report.Config, "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// An asker answers each question as soon as it is asked, and leaves at one that it
// has no answer to.
type asker struct {
	answers map[string]string
	person  io.WriteCloser
	shown   bytes.Buffer
	seen    int
}

func (a *asker) Write(b []byte) (int, error) {
	a.shown.Write(b)
	text := "\n" + a.shown.String()[a.seen:]
	if !strings.HasSuffix(text, ": ") && !strings.HasSuffix(text, "] ") {
		return len(b), nil
	}
	a.seen = a.shown.Len()
	for question, said := range a.answers {
		if _, shown, ok := strings.Cut(text, "\n"+question); ok {
			// What an avatar takes along is not offered.
			words := slices.DeleteFunc(strings.Split(said, ","), func(w string) bool { return question == "Which features?" && !strings.Contains(shown, w) })
			fmt.Fprintln(a.person, cmp.Or(strings.Join(words, ","), "none"))
			return len(b), nil
		}
	}
	a.person.Close()
	return len(b), nil
}

// sameFiles says whether both give the same files.
func sameFiles(t *testing.T, cat *catalog, a, b config) bool {
	t.Helper()
	var all [2][]generatedFile
	for i, cfg := range []config{a, b} {
		files, err := render(cfg, cat)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = files
	}
	return reflect.DeepEqual(all[0], all[1])
}

// A configuration file full of unknown transports is refused in a few lines.
func TestTooManyTransports(t *testing.T) {
	dir := t.TempDir()
	var transports []string
	for i := range 90000 {
		transports = append(transports, fmt.Sprintf(`"x%d"`, i))
	}
	put(t, dir, "bot.json", `{"transports":[`+strings.Join(transports, ",")+`]}`)
	r := vbot(t, dir, "init", "target", "--config", "bot.json")
	r.wantCode(t, 2)
	if !strings.Contains(r.stderr, "90000 transports; the maximum is 100\n") || strings.Contains(r.stderr, "unknown transport") {
		t.Errorf("%d bytes on stderr: %.500s", len(r.stderr), r.stderr)
	}
}

// A word that is far longer than a name is not compared with it letter by letter.
func TestNearestOfALongWord(t *testing.T) {
	if got := testing.AllocsPerRun(1, func() { nearest(strings.Repeat("x", 100_000), newCatalog().ids(kindSTT)) }); got > 10_000 {
		t.Errorf("%.0f allocations", got)
	}
}

// What `pipecat init` calls otherwise is taken, and a sentence says for what.
func TestNamesOfPipecatInit(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "peer.json", `{"project_name": "x", "bot_type": "web", "transports": ["daily"], "mode": "realtime",
 "realtime_service": "openai_realtime", "enable_krisp": true, "generate_client": false, "client_framework": null}`)
	put(t, dir, "twice.json", `{"enable_krisp": true, "enable_noise_cancel": true, "generate_client": "yes"}`)
	var all []byte
	for _, args := range []string{
		"x --config peer.json --dry-run",
		"x --config peer.json --dry-run --no-enable-krisp --no-context-hub --client-framework vanilla",
		"x --config twice.json --no-input", "x --context-hub", "quickstart --enable-krisp", "x --enable-krisp=perhaps",
	} {
		all = append(all, vbot(t, dir, append([]string{"init"}, strings.Fields(args)...)...).transcript(dir)...)
	}
	golden(t, "config/pipecat-init.txt", all)
}
