package dotenv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"vbot/internal/secret"
)

// read returns what Parse returns, as text: the pairs or, if there are any, the errs.
func read(data string) string {
	pairs, errs := Parse(data, false)
	var out []string
	for _, f := range errs {
		out = append(out, fmt.Sprintf("%d: %s", f.Line, f.Message))
	}
	if errs == nil {
		for _, p := range pairs {
			out = append(out, fmt.Sprintf("%s=%q", p.Key, p.Value.Reveal()))
		}
	}
	return strings.Join(out, "\n")
}

// A fileCase is a case of TestDotenv.
type fileCase struct{ in, want string }

func fileCases() []fileCase {
	const after = `: unexpected text after the closing "`
	long := strings.Repeat("K", 64)
	return []fileCase{
		// Syntax that tools read in different ways.
		{`K='a b'`, `K="a b"`},
		{`K=v # note`, `K="v"`},
		{`K="v" # note`, `K="v"`},
		{`K="a" and "b"`, "1: K" + after},
		{`K="a\nb"`, `K="a\nb"`},
		{`K="a \"q\" b"`, `K="a \"q\" b"`},
		{"K=one\nK=two", "2: K is already set on line 1"},
		{"K=a\x00b", "1: K: the value contains a NUL character"},
		{"export K=v", `K="v"`},
		{"\ufeffK=v", `K="v"`},
		{
			"K=\"-----BEGIN-----\nYQ==\n-----END-----\"\nL=1",
			"K=\"-----BEGIN-----\\nYQ==\\n-----END-----\"\nL=\"1\"",
		},
		{"K=", "1: K: the value is empty"},
		{"api_key=", "1: api_key: the value is empty"},
		{"K=eyJhbGciOi\nQwErTyUi=", "2: the value is empty"}, // the end of a value in base64
		{`K="\n"`, "1: K: the value is empty"},
		{`K="\n " L=`, "1: K: unexpected text after the closing \""},
		{"[section]\nK=v", "1: the file is TOML or INI; expected lines KEY=VALUE, or a JSON object"},
		{`[{"name": "K", "value": "v"}]`, "1: " + jsonArray},
		{`K=""`, "1: K: the value is empty"},
		{`K="`, `1: K: missing closing "`},
		{"K=\xe9", "1: the file is not valid UTF-8"},
		{"\xff\xfeK\x00", "1: the file is UTF-16; save it as UTF-8"},
		{"K\x00=\x00v\x00", "1: the file is UTF-16; save it as UTF-8"},
		{"\x00K\x00=\x00v", "1: the file is UTF-16; save it as UTF-8"},
		{"K=v\n\ufeffL=w\n\ufeff# c", "K=\"v\"\nL=\"w\""},
		{"\n \r\n{\"K\":\n\"v\", \"L\": 1}", "4: L: the value must be a string"},
		{"{\"K\": \"v\",\n}", "2: remove the comma before }"},
		{"{\n// c\n\"K\": \"v\"}", "2: JSON has no comments; remove this one"},
		{"{'K': 'v'}", "1: JSON strings need double quotes"},
		{"{\"K\": v}", "1: invalid JSON"},
		{"{\"K\" \"v\"}", "1: invalid JSON"},
		{"{\"K\":\n\"v\" \"L\"}", "2: invalid JSON"},
		{"{\"K\": \"\\x\"}", "1: invalid JSON"},
		{"{\"K\": \"a\tb\"}", "1: invalid JSON"},
		{"{K: 1}", "1: invalid JSON"},
		{"{\"K\": \"v\"", "1: the JSON ends too early: a bracket or quote is not closed"},
		{"{\"K\": \"v\"}x", "1: unexpected text after the JSON object"},
		{"# c\n\nK: v\nL: w", "3: the file is YAML; expected lines KEY=VALUE, or a JSON object"},
		{"---\nK: v", "1: the file is YAML; expected lines KEY=VALUE, or a JSON object"},
		{"[env]\nK = 'v'", "1: the file is TOML or INI; expected lines KEY=VALUE, or a JSON object"},
		{"K=v\nL: w", "2: missing =; a value of several lines needs quotes"},
		{"K='[x]'\nL=a: b", "K=\"[x]\"\nL=\"a: b\""},
		{"A=1\nB=\xe9", "2: the file is not valid UTF-8"},
		{
			"a bad line\nK=\nL=1\n=x",
			"1: missing =; a value of several lines needs quotes\n2: K: the value is empty\n4: invalid " +
				"key; " + secret.KeyRule,
		},
		{"K=a#b", `K="a#b"`},
		{"K=a=b==", `K="a=b=="`},
		{"K = v", `K="v"`},
		{"K=v\r\nL=w\r\n", "K=\"v\"\nL=\"w\""},
		{"K=v\r\nL=\r\n", "2: L: the value is empty"},
		{"K=v\rL=w", "K=\"v\"\nL=\"w\""},
		{"K=v", `K="v"`},
		{"K=${A}", `K="${A}"`},
		{"K=é漢🙂", `K="é漢🙂"`},
		{"K=" + strings.Repeat("x", 2<<20), `K="` + strings.Repeat("x", 2<<20) + `"`},

		// The rest of the grammar.
		{"", ""},
		{"\n\n# c\n  # d\n\t\r\n", ""},
		{"K=v\n\n# c = d\nL=w # e", "K=\"v\"\nL=\"w\""},
		{"  export\tK\t=\tv\t", `K="v"`},
		{"export=1", `export="1"`},
		{"export =1", `export="1"`},
		{"exported=1", `exported="1"`},
		{"export K", "1: missing =; a value of several lines needs quotes"},
		{"K=#v", `K="#v"`},
		{"K= #v", "1: K: the value is empty"},
		{"K=v #", `K="v"`},
		{"K=v\t# c", `K="v"`},
		{"K=two words", `K="two words"`},
		{`K=a"b'c`, `K="a\"b'c"`},
		{`K='a"\n$x#'`, `K="a\"\\n$x#"`},
		{"K='a\nb'", `K="a\nb"`},
		{
			"K=\"\"\"a\nb\"\"\"\nL=\nM='''c''' # d\nN=\"\"\"e",
			"1: K: three quotes; one quote at each end is enough, also for several lines\n" +
				"3: L: the value is empty\n" +
				"4: M: three quotes; one quote at each end is enough, also for several lines\n" +
				"5: N: three quotes; one quote at each end is enough, also for several lines",
		},
		{`K="" # c`, "1: K: the value is empty"},
		{"K='a\r\nb'", `K="a\nb"`},
		{"K='a\rb\r\r\nc'", `K="a\nb\n\nc"`},
		{"K='a\rb'\nL=", "3: L: the value is empty"},
		{`K="\t\\ \d \$x"`, `K="\t\\ \\d \\$x"`},
		{`K="a\`, `1: K: missing closing "`},
		{`K='it''s'`, "1: K: unexpected text after the closing '"},
		{`K="v"#c`, "1: K" + after},
		{"K=\"a\nb\" x\nL=\"\"", "1: K" + after + "\n3: L: the value is empty"},
		{"K='open\nL=1\na bad line", "1: K: missing closing '"},
		{
			"bad key='x\ny'\nL=1\nK",
			"1: invalid key; " + secret.KeyRule + "\n4: missing =; a value of several lines needs quotes",
		},
		{long + "=v", long + `="v"`},
		{long + "K=v", "1: invalid key; " + secret.KeyRule},
		{"1-a_B=v", `1-a_B="v"`},
		{"K:v", "1: missing =; a value of several lines needs quotes"},
		{"é=v", "1: invalid key; " + secret.KeyRule},
		{"K=1\nK=\nK=2", "2: K: the value is empty\n3: K is already set on line 1"},
	}
}

func TestDotenv(t *testing.T) {
	for _, c := range fileCases() {
		if got := read(c.in); got != c.want {
			t.Errorf("%.80q is read as\n%.200s\nwant\n%.200s", c.in, got, c.want)
		}
	}
}

// A e says by a field, not by its text, that a value is empty.
func TestEmptyValues(t *testing.T) {
	for in, want := range map[string]bool{
		"K=": true, "K=''": true, `K="\n"`: true, `{"K": ""}`: true, `{"K": "\n"}`: true,
		"K='": false, "K=\x00": false, `{"K": 1}`: false, `{"K": null}`: false, "k k=": false, "K": false,
	} {
		_, errs := Parse(in, false)
		if len(errs) != 1 || errs[0].IsEmpty != want {
			t.Errorf("%q: %+v", in, errs)
		}
		if pairs, errs := Parse(in, true); want && (len(pairs) != 1 || errs != nil) {
			t.Errorf("%q, blank: %+v", in, errs)
		}
	}
}

// quoteDotenv writes a pair in double quotes, in which every value can be written.
func quoteDotenv(key, value string) string {
	return key + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + "\"\n"
}

// No file makes Parse panic, and pairs that are written again are read as the same pairs.
func FuzzDotenv(f *testing.F) {
	for _, s := range []string{
		"", "K=v", "export K = 'a\nb' # c\r\nL=\"\\n\\\\\"", "\ufeffK=#", "K=\"", "K", "=", "K='\r'\rL=\xff",
		"K='\r\r\n'", "K=\\", "a b='c\nd'",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if isJSON(data) {
			return // another format
		}
		pairs, errs := Parse(data, false)
		lines := 1 + strings.Count(data, "\n") + strings.Count(data, "\r")
		for _, e := range errs {
			if e.Line < 1 || e.Line > lines || e.Message == "" {
				t.Errorf("%q: e %+v in a file of %d lines", data, e, lines)
			}
		}
		var again strings.Builder
		var keys []string
		for _, p := range pairs {
			if v := p.Value.Reveal(); v == "" || !utf8.ValidString(v) || strings.Contains(v, "\x00") ||
				strings.Contains(v, "\r") || !secret.IsKey(p.Key) || slices.Contains(keys, p.Key) {
				t.Fatalf("%q: bad pair %s", data, p.Key)
			}
			keys = append(keys, p.Key)
			again.WriteString(quoteDotenv(p.Key, p.Value.Reveal()))
		}
		second, errs := Parse(again.String(), false)
		if len(second) != len(pairs) || errs != nil {
			t.Fatalf("%q: %d pairs, read again %d, with %v", data, len(pairs), len(second), errs)
		}
		for i, p := range second {
			if p.Key != pairs[i].Key || p.Value.Reveal() != pairs[i].Value.Reveal() {
				t.Errorf("%q: %s is %q, and read again %q", data, p.Key, pairs[i].Value.Reveal(),
					p.Value.Reveal())
			}
		}
	})
}

// Of a JSON object, Parse reads the same strings as encoding/json.
func FuzzObject(f *testing.F) {
	for _, s := range []string{
		"{}", `{"K": "v"}`, "{\"K\":\n\"\\ud83d\\ude00\", \"L\": \"\"}", `{"K": "v", "K": "w"}`,
		`{"K": 1e999, "L": [{}], "M": null}`, `{"K": "\ud800"}`, `{"K"`, `{"K": "v"}x`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		data = "{" + strings.TrimPrefix(data, "{")
		pairs, errs := Parse(data, true)
		for _, e := range errs {
			if e.Line < 1 || e.Line > 1+strings.Count(data, "\n") || e.Message == "" {
				t.Errorf("%q: e %+v", data, e)
			}
		}
		var want map[string]string
		if err := json.Unmarshal([]byte(data), &want); err != nil && errs == nil {
			t.Errorf("%q is not an object of strings: %v", data, err)
		}
		for _, p := range pairs {
			if errs == nil && (p.Value.Reveal() != want[p.Key] || len(pairs) != len(want)) {
				t.Errorf("%q: %s is %q in %q", data, p.Key, p.Value.Reveal(), want)
			}
		}
	})
}

// No argument makes Split panic, and it never changes a value without quotes.
func FuzzSplitPairs(f *testing.F) {
	for _, s := range []string{"", "A", "A=1 B=2", `A="x y" B=`, "A=b=c D=e", "A=\"", "A=\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		pairs, err := Split(arg)
		if err != nil && pairs != nil || len(pairs) == 1 {
			t.Errorf("%q: %d pairs and %v", arg, len(pairs), err)
		}
		for _, p := range pairs {
			if !strings.Contains(arg, p.Key+"=") || !strings.Contains(arg, p.Value.Reveal()) {
				t.Errorf("%q holds no %s=%q", arg, p.Key, p.Value.Reveal())
			}
		}
	})
}

func BenchmarkDotenv(b *testing.B) {
	var file strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&file, "export KEY_%d = \"value \\\"%d\\\"\" # note\n", i, i)
	}
	for b.Loop() {
		if pairs, _ := Parse(file.String(), false); len(pairs) != 1000 {
			b.Fatal(len(pairs))
		}
	}
}

func TestSplitPairs(t *testing.T) {
	for arg, want := range map[string]string{
		`A=1 B="two words"`: `A="1" B="two words"`,
		`A="x"y" B=x"y`:     `A="x\"y" B="x\"y"`,
		" A=b==\tB= ":       `A="b==" B=""`,
	} {
		pairs, err := Split(arg)
		var got []string
		for _, p := range pairs {
			got = append(got, fmt.Sprintf("%s=%q", p.Key, p.Value.Reveal()))
		}
		if got := strings.Join(got, " "); got != want || err != nil {
			t.Errorf("splitPairs(%q) = %s, %v, want %s", arg, got, err, want)
		}
	}
	for _, arg := range []string{
		"DSN=host=h port=1", "A=x=y B=1 C=2", "URL=http://x?a=b KEY=1", "A=1\nB=2\n", "A=1\n B=2",
		"A=aGVsbG8\nd29ybGQ==", "A=two words==",
	} {
		if pairs, err := Split(arg); err == nil {
			t.Errorf("splitPairs(%q) finds %d, want an error", arg, len(pairs))
		}
	}
	for _, arg := range []string{
		"", "KEY", "A=1", "A=two words", "A=x=y words", `A="two words"`, "two words", "A B=1",
	} {
		if pairs, err := Split(arg); pairs != nil || err != nil {
			t.Errorf("splitPairs(%q) finds %d, %v, want none", arg, len(pairs), err)
		}
	}
}

// One argument is one pair, whose value is not changed, but for quotes around white space.
func TestOne(t *testing.T) {
	for arg, want := range map[string]string{
		`A=1`: `A "1"`, `A=`: `A ""`, `=`: ` ""`, `A=b=c`: `A "b=c"`, `A= 1 `: `A " 1 "`, "A=\n": `A "\n"`,
		`A="two words"`: `A "two words"`, `A="a` + "\t" + `b"`: `A "a\tb"`,
		"A=\"a\n\"": `A "a\n"`, `A=" "`: `A " "`,
		`A="x"`: `A "\"x\""`, `A=""`: `A "\"\""`, `A="`: `A "\""`, `A="a b`: `A "\"a b"`,
		`A=a b"`:  `A "a b\""`,
		`A='a b'`: `A "'a b'"`, `A=two words`: `A "two words"`,
	} {
		pair, ok := One(arg)
		if got := fmt.Sprintf("%s %q", pair.Key, pair.Value.Reveal()); got != want || !ok {
			t.Errorf("One(%q) is %s, %v, want %s", arg, got, ok, want)
		}
	}
	for _, arg := range []string{"", "KEY", "two words"} {
		if pair, ok := One(arg); ok || pair.Key != arg || !pair.Value.Empty() {
			t.Errorf("One(%q) is a pair of %q", arg, pair.Key)
		}
	}
}

// Reading a large object takes time in proportion to its keys.
func TestManyKeysInJSON(t *testing.T) {
	const n = 200_000
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, "\"K%d\": \"v\",\n", i)
	}
	b.WriteString(`"K0": "again"}`)
	pairs, errs := Parse(b.String(), false)
	if want := fmt.Sprint([]Error{{Line: n + 1, Message: "K0 is already set on line 1"}}); len(pairs) != n ||
		fmt.Sprint(errs) != want {
		t.Errorf("%d pairs, errs %v", len(pairs), errs)
	}
}
