package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// What may stand at the cursor, for each place where one can be.
func TestCompletion(t *testing.T) {
	var got bytes.Buffer
	for _, typed := range []string{
		"", "in", "cloud ", "cloud secrets ", "cloud secrets un", "help clo", "--json cloud l",
		"init ", "init dir ", "init -", "init --no-", "init --no-input --mode ", "init --mode=re", "init -b ",
		"init --stt deepgram", "init --stt stt_a", "init -t rtc", "init --client-framework ", "init --name ", "init --config ",
		"init -- ", "inti ", "cloud secrets set set --file ", "cloud secrets set set --file=", "cloud secrets set set --wait",
		"cloud secrets list --region ", "cloud secrets list ", "completion ", "version ",
		"schema cl", "schema config ", "init --describe-options=", "init --describe-options ",
	} {
		words := strings.Split(typed, " ")
		r := vbot(t, t.TempDir(), append([]string{"completion", "words", "--"}, words...)...)
		r.wantCode(t, 0)
		got.WriteString("$ vbot " + typed + "<Tab>\n" + r.stdout)
	}
	golden(t, "completion/words.txt", got.Bytes())
	r := vbot(t, t.TempDir(), "completion", "words", "--json", "--", "init", "--mode", "")
	r.wantCode(t, 0)
	golden(t, "completion/words.json", []byte(r.stdout))
}

// Every value that is suggested for an option is one that the option takes.
func TestCompletionKnowsEveryService(t *testing.T) {
	cat, a := newCatalog(), &app{getenv: func(string) string { return "" }}
	for _, o := range options {
		if o.kind == "" {
			continue
		}
		if words := suggest(a, commandTree(), []string{"init", "--" + o.flag, ""}); len(words) != len(cat.ids(o.kind)) {
			t.Errorf("--%s: %d words, for %d providers", o.flag, len(words), len(cat.ids(o.kind)))
		}
		for _, p := range cat.list(o.kind) {
			for _, name := range append([]string{p.id}, p.names...) {
				words := suggest(a, commandTree(), []string{"init", "--" + o.flag, name})
				if !slices.ContainsFunc(words, func(s suggestion) bool { return cat.find(o.kind, s.Word) == p }) {
					t.Errorf("--%s %s: the provider is not suggested", o.flag, name)
				}
			}
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := vbot(t, t.TempDir(), "completion", shell)
		r.wantCode(t, 0)
		if r.stdout != completionScripts[shell] || r.stderr != "" {
			t.Errorf("vbot completion %s printed %q and %q", shell, r.stdout, r.stderr)
		}
	}
}

// The schemas, whole: what a change of an answer's type means for its readers is seen here.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	golden(t, "help/schema.txt", []byte(vbot(t, dir, "schema", "--help").stdout))
	list := vbot(t, dir, "schema")
	golden(t, "schemas/names.txt", list.transcript(dir))
	for _, name := range strings.Fields(list.stdout) {
		golden(t, "schemas/"+name+".json", []byte(vbot(t, dir, "schema", name).stdout))
	}
	golden(t, "schemas/unknown.txt", vbot(t, dir, "schema", "confg").transcript(dir))
}
