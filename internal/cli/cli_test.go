package cli

import (
	"strings"
	"testing"
)

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
		// Dashes in the place of hyphens; what is no option with them stays an argument.
		{"\u2014on a \u2013n x \u2014name=y -\u2013no-on", parsed{rest: "a", problems: 4}},
		{
			"\u2014notes \u2212 --name \u2014on -- \u2014on",
			parsed{name: "\u2014on", rest: "\u2014notes \u2212 \u2014on"},
		},
	} {
		var got parsed
		root := &Command{New: func(f *Flags) Runner {
			f.String("n name", "NAME", "", &got.name)
			f.Func("t transport", "ID", "", func(s string) {
				got.list = strings.TrimPrefix(got.list+","+s, ",")
			})
			f.Toggle("on", "", &got.on)
			return nil
		}}
		flags, _ := newInvocation(root).register()
		rest, problems := flags.parse(strings.Fields(c.args))
		got.rest, got.problems = strings.Join(rest, " "), len(problems)
		if got != c.want {
			t.Errorf("parse(%s) = %+v, want %+v", c.args, got, c.want)
		}
	}
}
