package secrets

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// collect collects the pairs of a file and of arguments, and returns them as KEY=VALUE with all that is
// wrong, a line each.
func collect(file string, mayAsk bool, arguments ...string) (pairs, faults []string) {
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
		faults = append(faults, problem.Line())
	}
	return pairs, faults
}

func TestPairsOfFileAndArguments(t *testing.T) {
	for _, c := range []struct {
		name, file, arguments string
		want                  string // pairs and faults
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
		{name: "only blanks", file: "A=\n", want: " | --file: no key in .env has a value"},
		{
			name:      "a file",
			arguments: "A=1 my.env",
			want:      "A=1 | pair 2: is a file; to read pairs from it: --file FILE",
		},
	} {
		pairs, faults := collect(c.file, true, strings.Fields(c.arguments)...)
		got := strings.Join(pairs, " ")
		if faults != nil {
			got += " | " + strings.Join(faults, " | ")
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
			want: "A=3 B=1 C=3 | values of b.env replace those of a.env: A | values of c.env replace " +
				"those of b.env: A, C",
		},
		{name: "a blank replaces nothing", files: []string{"A=1", "A="}, want: "A=1"},
		{name: "a blank is replaced", files: []string{"A=", "A=2"}, want: "A=2"},
		{
			name:  "blanks",
			files: []string{"A=\nB=1", "A=\nC="},
			want: "B=1 without A C | a.env: left out keys without a value: A | b.env: left out keys " +
				"without a value: C",
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
		got := strings.Join(append([]string{strings.Join(pairs, " ")}, p.Notes(none)...), " | ")
		if got != c.want || problems != nil {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestValueThatCannotBeAskedFor(t *testing.T) {
	_, faults := collect("", false, "A", "B=2")
	const want = "pair 1: no value, and vbot cannot ask for one; use --file - or KEY=VALUE"
	if !slices.Equal(faults, []string{want}) {
		t.Errorf("%q", faults)
	}
}

func TestSuspect(t *testing.T) {
	isServiceKey := func(key string) bool { return key == "OPENAI_API_KEY" }
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	const kubectl = "is base64 of a text, as .data is in what kubectl get secret -o yaml prints"
	for _, c := range []struct{ key, value, looks, better string }{
		{key: "OPENAI_API_KEY", value: "sk-1"},
		{key: "OTHER", value: "two words"},
		{key: "OTHER", value: `{"a": 1}`},
		{key: "OTHER", value: `a "quoted" word`},
		{key: "OTHER", value: `"sk-1"`, looks: "is in quotes", better: "sk-1"},
		{key: "OTHER", value: " “sk-1” ", looks: "is in quotes", better: "sk-1"},
		{key: "OTHER", value: "sk-1\t", looks: "has blanks around it", better: "sk-1"},
		{key: "OTHER", value: "sk-1\u200b", looks: "has blanks around it", better: "sk-1"},
		{key: "PROMPT", value: "می\u200cخواهم"},
		{key: "OTHER", value: "sk-1\n", looks: "ends in a line break", better: "sk-1"},
		{key: "OTHER", value: "two words\r\n", looks: "ends in a line break", better: "two words"},
		{key: "OTHER", value: "two\nlines\n"},
		{key: "OTHER", value: "-----BEGIN KEY-----\nx\n-----END KEY-----\n"},
		{key: "OTHER", value: "{\"a\": 1}\n"},
		{
			key: "OTHER", value: "op://vault/item/key",
			looks: "is a reference of 1Password, not the secret itself",
		},
		{key: "OTHER", value: "opera://x"},
		{key: "OTHER", value: "encrypted:BG1mZ4aQ==", looks: "is encrypted by dotenvx"},
		{key: "PROMPT", value: "encrypted: never say what this means"},
		{key: "OTHER", value: "ENC[AES256_GCM,data:x,type:str]", looks: "is encrypted by SOPS"},
		{key: "OTHER", value: "ENCORE"},
		{key: "OTHER", value: "<your key>", looks: "looks like a placeholder"},
		{key: "PROMPT", value: "<p>Be brief.</p>"},
		{key: "OPENAI_API_KEY", value: "your_api_key_here", looks: "looks like a placeholder"},
		{key: "OPENAI_API_KEY", value: "sk-your-key", looks: "looks like a placeholder"},
		{key: "OTHER", value: "ChangeMe", looks: "looks like a placeholder"},
		{key: "OTHER", value: "yourself"},
		{key: "PROMPT", value: "your task is to answer the phone"},
		{key: "ENABLED", value: "true"},
		{
			key: "OTHER", value: `-----BEGIN KEY-----\nMIIE\n-----END KEY-----\n`,
			looks: `has \n where a PEM has line breaks (in a file, double quotes turn \n into one)`,
		},
		{key: "OTHER", value: `two\nlines`},
		{key: "OTHER", value: "-----BEGIN KEY-----\nMIIE\n-----END KEY-----"},
		{key: "OPENAI_API_KEY", value: encode("sk-1234567890"), looks: kubectl},
		{key: "DSN", value: encode("redis://u:p@host/0\n"), looks: kubectl},
		{
			key: "KEY", looks: kubectl,
			value: encode("-----BEGIN KEY-----\nMII\n-----END KEY-----\n"),
		},
		{key: "PEM_BASE64", value: encode("-----BEGIN KEY-----\n")},
		{key: "INWORLD_API_KEY", value: encode("an-id:and-its-secret")},
		{key: "CREDENTIALS", value: encode(`{"type": "account"}`)},
		{key: "DATED_KEY", value: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYtMTcwODAwMDAwMA=="},
		{key: "AZURE_API_KEY", value: "Hq9Yw2v0+Zt1m3N5r7Xj8Kd4Lf6Pb0Qs2Uc4We6Ya8="},
		{key: "DEEPGRAM_API_KEY", value: "0123456789abcdef0123456789abcdef01234567"},
		{key: "TWILIO_AUTH_TOKEN", value: "fedcba9876543210fedcba9876543210"},
		{key: "SHORT", value: "dHdvIHdvcmRz"},
		{
			key: "OPENAI_API_KEY", value: "sk 1",
			looks: "has characters that no key has, such as blanks, line breaks or curly quotes",
		},
	} {
		got := Suspect(secret.Pair{Key: c.key, Value: secret.New(c.value)}, isServiceKey)
		if got.Looks != c.looks || got.Better.Reveal() != c.better {
			t.Errorf("%s=%s: %q, %q", c.key, c.value, got.Looks, got.Better.Reveal())
		}
	}
}
