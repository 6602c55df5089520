package cloudcmd

import (
	"slices"
	"strings"
	"testing"

	"vbot/internal/report"
)

// collect collects the pairs of a file and of arguments, and returns them as KEY=VALUE with all that is
// wrong, a line each.
func collect(file string, mayAsk bool, arguments ...string) (pairs, errs []string) {
	p := &Pairs{
		MayAsk: mayAsk,
		IsFile: func(word string) bool { return word == "my.env" },
	}
	var problems report.Problems
	if file != "" {
		problems = p.AddFile(".env", []byte(file), true)
	}
	problems = slices.Concat(problems, p.AddArguments(arguments), p.Finish())
	for _, pair := range p.List {
		pairs = append(pairs, pair.Key+"="+pair.Value.Reveal())
	}
	for _, problem := range problems {
		errs = append(errs, problem.Line())
	}
	for _, key := range p.LeftOut {
		if strings.Contains(key, " ") {
			errs = append(errs, "left out: "+key)
		}
	}
	return pairs, errs
}

func TestPairsOfFileAndArguments(t *testing.T) {
	for _, c := range []struct {
		name, file, arguments string
		want                  string // pairs and errs
	}{
		{name: "several arguments", arguments: "A=1 B=2", want: "A=1 B=2"},
		{name: "a value with a =", arguments: "A=1=2 B=", want: "A=1=2 | pair 2: the value is empty"},
		{name: "a value to be asked for", arguments: "A B=2", want: "A= B=2"},
		{name: "twice", arguments: "A=1 A=2", want: "A=1 | A: given twice"},
		{
			name:      "also in the file",
			file:      "A=1\nB=2\n",
			arguments: "B=3 C=4",
			want:      "A=1 B=2 B=3 C=4 | B: given twice; it is also on line 2 of .env",
		},
		{name: "instead of a blank", file: "A=1\nB=\n", arguments: "B=3 C=4", want: "A=1 B=3 C=4"},
		{name: "the end of a value", file: "A=eyJ\nQwErTy=\n", want: "A=eyJ | left out: line 2 of .env"},
		{name: "only blanks", file: "A=\n", want: " | --file: no key in .env has a value"},
		{
			name:      "a file",
			arguments: "A=1 my.env",
			want:      "A=1 | pair 2: is a file; to read pairs from it: --file FILE",
		},
	} {
		pairs, errs := collect(c.file, true, strings.Fields(c.arguments)...)
		got := strings.Join(pairs, " ")
		if errs != nil {
			got += " | " + strings.Join(errs, " | ")
		}
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Files are read in their order: a later value counts, and the keys that two files give are named.
func TestPairsOfSeveralFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string // a.env, b.env and so on
		want  string   // pairs, keys that are left out and notes
	}{
		{name: "different keys", files: []string{"A=1", "B=2"}, want: "A=1 B=2"},
		{
			name:  "the same key",
			files: []string{"A=1\nB=1", "C=2\nA=2", "A=3\nC=3"},
			want: "A=3 B=1 C=3 | A: the value of b.env replaces that of a.env | A: the value of c.env " +
				"replaces that of b.env | C: the value of c.env replaces that of b.env",
		},
		{name: "a blank replaces nothing", files: []string{"A=1", "A="}, want: "A=1"},
		{name: "a blank is replaced", files: []string{"A=", "A=2"}, want: "A=2"},
		{
			name:  "blanks",
			files: []string{"A=\nB=1", "A=\nC="},
			want:  "B=1 without A C",
		},
	} {
		p := &Pairs{}
		var problems report.Problems
		for i, text := range c.files {
			problems = append(problems, p.AddFile(string(rune('a'+i))+".env", []byte(text), true)...)
		}
		problems = append(problems, p.Finish()...)
		var pairs []string
		for _, pair := range p.List {
			pairs = append(pairs, pair.Key+"="+pair.Value.Reveal())
		}
		if p.LeftOut != nil {
			pairs = append(append(pairs, "without"), p.LeftOut...)
		}
		none := func(string) bool { return false }
		got := strings.Join(pairs, " ")
		for _, w := range p.Warnings(none) {
			got += " | " + w.Field + ": " + w.Message
		}
		if got != c.want || problems != nil {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestValueThatCannotBeAskedFor(t *testing.T) {
	_, errs := collect("", false, "A", "B=2")
	const want = "pair 1: no value, and vbot cannot ask for one; use --file - or KEY=VALUE"
	if !slices.Equal(errs, []string{want}) {
		t.Errorf("%q", errs)
	}
}
