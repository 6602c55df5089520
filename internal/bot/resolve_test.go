package bot_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vbot/internal/bot"
	"vbot/internal/bottest"
	"vbot/internal/catalog"
	"vbot/internal/filetest"
	"vbot/internal/report"
)

var update = flag.Bool("update", false, "write what Resolve returns to testdata/resolve.txt")

// parseOptions returns the values of a command line with only options that describe a bot.
func parseOptions(t *testing.T, words []string) bot.Values {
	t.Helper()
	values := bot.Values{}
	for len(words) > 0 {
		word := words[0]
		i := slices.IndexFunc(bot.Options, func(o *bot.Option) bool {
			return slices.Contains([]string{"--" + o.Flag, "--no-" + o.Flag, "-" + o.Short}, word)
		})
		if i < 0 {
			t.Fatalf("no option is called %s", word)
		}
		o := bot.Options[i]
		words = words[1:]
		if o.IsToggle() {
			values[o] = bot.Value{On: !strings.HasPrefix(word, "--no-"), FromFlag: true}
			continue
		}
		value := strings.ReplaceAll(words[0], "_EMPTY_", "")
		if o.IsList() {
			values[o] = bot.Value{FromFlag: true, List: append(values[o].List, value)}
		} else {
			values[o] = bot.Value{FromFlag: true, Text: value}
		}
		words = words[1:]
	}
	return values
}

// A case of testdata/resolve.txt begins with `=== ` and what it is about. Lines that begin with `$ ` are its
// options, one with `> ` its configuration file. The other lines are what Resolve makes of them: the values
// that differ from the defaults, the values that were dropped, and the problems. The directory is called dir.
// `go test ./internal/bot -update` writes these lines.
func TestResolve(t *testing.T) {
	cat := catalog.New()
	filetest.Cases(t, "testdata/resolve.txt", *update, func(lines string) string {
		values := bot.Values{}
		var got strings.Builder
		input := ""
		for line := range strings.Lines(lines) {
			options, isOptions := strings.CutPrefix(line, "$ ")
			file, isFile := strings.CutPrefix(line, "> ")
			if isOptions || isFile {
				input += line
			}
			switch {
			case isOptions:
				for o, v := range parseOptions(t, strings.Fields(options)) {
					values[o] = v
				}
			case isFile:
				read, problems := bot.ParseConfig("bot.json", []byte(file))
				for o, v := range read {
					values[o] = v
				}
				printProblems(&got, problems)
			}
		}
		cfg, dropped, problems := bot.Resolve(cat, values, "dir")
		if len(problems) == 0 {
			printConfig(t, &got, cfg)
		}
		for _, d := range dropped {
			fmt.Fprintf(&got, "dropped %s: %s\n", d.What, d.Why)
		}
		printProblems(&got, problems)
		return input + got.String()
	})
}

// printConfig writes the values that differ from the defaults as JSON in one line.
func printConfig(t *testing.T, to *strings.Builder, cfg bot.Config) {
	t.Helper()
	var members []string
	defaults := bot.Defaults().Values()
	for _, o := range bot.Options {
		value, isThere := cfg.Values()[o]
		if !isThere || reflect.DeepEqual(value, defaults[o]) {
			continue
		}
		data, err := json.Marshal(value.Text)
		if o.IsList() {
			data, err = json.Marshal(value.List)
		} else if o.IsToggle() {
			data, err = json.Marshal(value.On)
		}
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, fmt.Sprintf("%s %s", o.Key, data))
	}
	fmt.Fprintln(to, strings.Join(members, ", "))
}

// printProblems writes a line for each problem.
func printProblems(to *strings.Builder, problems report.Problems) {
	for _, p := range problems {
		kind := "wrong"
		if p.Missing {
			kind = "missing"
		}
		fmt.Fprintf(to, "%s %s: %s\n", kind, p.Field, p.Line())
	}
}

// A bot may have many transports, but not so many that finding their problems takes long.
func TestManyTransports(t *testing.T) {
	for n, want := range map[int]int{100: 0, 101: 1} {
		list := slices.Repeat([]string{"daily"}, n)
		values := bot.Quickstart()
		values[bot.OptTransports] = bot.Value{List: list}
		if _, _, problems := bot.Resolve(catalog.New(), values, ""); len(problems) != want {
			t.Errorf("%d transports: %v", n, problems)
		}
	}
}

// The options that give a configuration give it, whatever it is.
func TestArguments(t *testing.T) {
	cat := catalog.New()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		cfg := bottest.Random(cat, rng)
		for _, dirName := range []string{"random bot", "another", ""} {
			args := cfg.Values().Arguments(cat, dirName)
			got, dropped, problems := bot.Resolve(cat, parseOptions(t, args), dirName)
			if len(dropped)+len(problems) > 0 || !reflect.DeepEqual(got, cfg) {
				t.Fatalf("seed %d: %+v gives %q, which gives %+v, %v", seed, cfg, args, got, problems)
			}
		}
	}
}

// Nothing is typed that is a default, or follows from something else.
func TestShortestArguments(t *testing.T) {
	cat := catalog.New()
	for _, c := range []struct{ options, want string }{
		{
			"-t smallwebrtc -m cascade --stt stt_a --llm openai --tts cartesia --deploy-to-cloud",
			"-t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia",
		},
		{
			"--name dir --bot-type web -t daily -m realtime --realtime openai --no-recording",
			"-t daily -m realtime --realtime openai",
		},
		{
			"--name other -t twilio -m realtime --realtime openai --recording --no-deploy-to-cloud",
			"--name other -t twilio -m realtime --recording --no-deploy-to-cloud --realtime openai",
		},
		{
			"-t daily_pstn --daily-pstn-mode dial-out -m realtime --realtime openai",
			"-t daily_pstn -m realtime --realtime openai --daily-pstn-mode dial-out",
		},
	} {
		args := parseOptions(t, strings.Fields(c.options)).Arguments(cat, "dir")
		if got := strings.Join(args, " "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.options, got, c.want)
		}
	}
}

// A configuration is recorded completely, and reads back as itself.
func TestConfigurationsReadBack(t *testing.T) {
	cat := catalog.New()
	for _, cfg := range bottest.Full(cat) {
		data, err := json.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(data, &members); err != nil || len(members) != len(bot.Options) {
			t.Errorf("%s: %d members, %v", data, len(members), err)
		}
		values, problems := bot.ParseConfig("bot.json", data)
		again, dropped, refused := bot.Resolve(cat, values, "other")
		if len(problems)+len(dropped)+len(refused) > 0 || !reflect.DeepEqual(again, cfg) {
			t.Errorf("%s: %v, %v, %v", data, problems, dropped, refused)
		}
	}
}

// What is accepted reads back as itself.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(`{"mode": "cascade", "transports": ["daily"], "recording": true}`))
	f.Add([]byte(`{"a": {"b": [1, null]}}`))
	f.Add([]byte("\xff{"))
	cat := catalog.New()
	f.Fuzz(func(t *testing.T, data []byte) {
		values, problems := bot.ParseConfig("fuzz.json", data)
		if values == nil {
			return
		}
		cfg, _, refused := bot.Resolve(cat, values, "name")
		if len(problems)+len(refused) > 0 {
			return
		}
		var b bytes.Buffer
		if err := report.WriteJSON(&b, cfg); err != nil {
			t.Fatal(err)
		}
		again, problems := bot.ParseConfig("again.json", b.Bytes())
		if len(problems) > 0 {
			t.Fatalf("%s: %v", b.Bytes(), problems)
		}
		back, dropped, refused := bot.Resolve(cat, again, "other")
		if len(dropped)+len(refused) > 0 || fmt.Sprint(back) != fmt.Sprint(cfg) {
			t.Fatalf("%+v reads back as %+v: %v %v", cfg, back, dropped, refused)
		}
	})
}
