package cli

import (
	"strings"
	"testing"
)

func TestQuoteOn(t *testing.T) {
	for _, c := range []struct{ text, unix, windows string }{
		{`my-bot/server`, `my-bot/server`, `my-bot/server`},
		{`my bot`, `'my bot'`, `"my bot"`},
		{`C:\bots\it's`, `'C:\bots\it'\''s'`, `"C:\bots\it's"`},
		{`C:\bots`, `'C:\bots'`, `C:\bots`},
		{``, `''`, `""`},
	} {
		if unix, windows := QuoteOn("linux", c.text), QuoteOn("windows", c.text); unix != c.unix || windows != c.windows {
			t.Errorf("%s: %s, %s", c.text, unix, windows)
		}
	}
}

func TestShellPath(t *testing.T) {
	for path, want := range map[string]string{"-x": "./-x", "x-": "x-"} {
		if got := ShellPath(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestParse(t *testing.T) {
	type parsed struct {
		name, list string
		on         bool
		rest       string
		problems   int
	}
	for _, c := range []struct {
		args string
		want parsed
	}{
		{"a --name x b", parsed{name: "x", rest: "a b"}},
		{"--name=x", parsed{name: "x"}},
		{"-n x", parsed{name: "x"}},
		{"-n=x", parsed{name: "x"}},
		{"--name x --name y", parsed{name: "y"}},
		{"-t a -t b", parsed{list: "a,b"}},
		{"--on", parsed{on: true}},
		{"--on --no-on", parsed{}},
		{"--no-on --on", parsed{on: true}},
		{"--on=false", parsed{}},
		{"--no-on=false", parsed{on: true}},
		{"-- --name x", parsed{rest: "--name x"}},
		{"a -- -b", parsed{rest: "a -b"}},
		{"--name=-- -", parsed{name: "--", rest: "-"}},
		{"--name -", parsed{name: "-"}},
		{"--name -5", parsed{name: "-5"}},
		{"--name --", parsed{problems: 1}},
		{"--on true x", parsed{rest: "x", problems: 1}},
		{"--on yes --no-on OFF x", parsed{rest: "x", problems: 2}},
		{"--x --y", parsed{problems: 2}},
	} {
		var got parsed
		inv := newInvocation(&Command{})
		inv.Root.Setup = func(*Invocation) RunFunc {
			inv.Text("n name", "NAME", "", func(s string) { got.name = s })
			inv.Text("t transport", "ID", "", func(s string) { got.list = strings.TrimPrefix(got.list+","+s, ",") })
			inv.Toggle("on", "", func(on bool) { got.on = on })
			return nil
		}
		inv.setup()
		rest, problems := inv.parse(strings.Fields(c.args))
		got.rest, got.problems = strings.Join(rest, " "), len(problems)
		if got != c.want {
			t.Errorf("parse(%s) = %+v, want %+v", c.args, got, c.want)
		}
	}
}
