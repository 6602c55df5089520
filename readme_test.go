package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
)

// madeSection compares what stands in file between the lines `<!-- name -->` and
// `<!-- /name -->` with want, and rewrites it with -update.
func madeSection(t *testing.T, file, name, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "<!-- "+name+" -->\n")
	got, after, ok2 := strings.Cut(rest, "<!-- /"+name+" -->\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no section %s", file, name)
	}
	want = "\n" + want + "\n"
	if got == want {
		return
	}
	if !updating() {
		t.Errorf("the section %s of %s is out of date; `make golden` makes it anew", name, file)
		return
	}
	text := before + "<!-- " + name + " -->\n" + want + "<!-- /" + name + " -->\n" + after
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The tables of providers are made from the catalog: a row a kind in README.md, a
// row a provider in PROVIDERS.md.
func TestProviderTables(t *testing.T) {
	cat := newCatalog()
	var short, long bytes.Buffer
	short.WriteString("| kind | option | names |\n| --- | --- | --- |\n")
	for _, k := range []struct {
		title, option string
		providers     []*provider
	}{
		{"Web transports", "--transport", cat.transports(false)},
		{"Telephony transports", "--transport", cat.transports(true)},
		{"Speech to text", "--stt", cat.all(kindSTT)},
		{"Language models", "--llm", cat.all(kindLLM)},
		{"Text to speech", "--tts", cat.all(kindTTS)},
		{"Speech to speech", "--realtime", cat.all(kindRealtime)},
		{"Video avatars", "--video", cat.all(kindVideo)},
	} {
		var names []string
		fmt.Fprintf(&long, "## %s (`%s`)\n\n| id | provider | names | needed variables | also needs |\n| --- | --- | --- | --- | --- |\n", k.title, k.option)
		for _, p := range k.providers {
			p.load()
			names = append(names, p.names[0])
			label := p.label
			if p.keysURL != "" {
				label = "[" + label + "](" + p.keysURL + ")"
			}
			var needed []string
			for _, v := range p.env {
				if other := p.unless(v); other != "" {
					needed = append(needed, v.name+"` or `"+other)
				} else if v.required {
					needed = append(needed, v.name)
				}
			}
			fmt.Fprintf(&long, "| `%s` | %s | %s | %s | %s |\n", p.id, label, quoted(p.names), quoted(needed), quoted(p.needs()))
		}
		fmt.Fprintln(&long)
		fmt.Fprintf(&short, "| %s (%d) | `%s` | %s |\n", k.title, len(names), k.option, quoted(names))
	}
	madeSection(t, "README.md", "providers", short.String())
	madeSection(t, "PROVIDERS.md", "providers", strings.TrimSuffix(long.String(), "\n"))
}

// quoted lists words as code.
func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, "`"+w+"`")
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// The session in README.md is what a terminal shows.
func TestReadmeSession(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("```console\n")
	for _, c := range []struct {
		args string
		code int
	}{
		{"init quickstart", 0},
		{"init my-bot -t twilio -m realtime --realtime openai --video tavus --enable-noise-cancel --no-deploy-to-cloud", 2},
		{"init vbot-quickstart -t twilio -m realtime --realtime openai", 1},
	} {
		r := vbot(t, dir, strings.Fields(c.args)...)
		r.wantCode(t, c.code)
		b.WriteString("$ vbot " + c.args + "\n" + strings.ReplaceAll(r.stdout+r.stderr, dir, "/home/you"))
	}
	b.WriteString("```\n")
	madeSection(t, "README.md", "session", b.String())
}
