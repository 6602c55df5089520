package bot

import (
	"strings"
	"testing"

	"vbot/templates"
)

// Ids and names are unique within a kind, every id has the form of its kind, and
// every file can be cut up.
func TestCatalog(t *testing.T) {
	cat := NewCatalog()
	for _, kind := range ServiceKinds {
		for i, p := range cat.List(kind) {
			if want := kind + "_" + letters(i); p.ID != want {
				t.Errorf("%s: id %s, want %s: a letter that was given is never given again", p.file, p.ID, want)
			}
		}
	}
	for _, kind := range append(ServiceKinds, KindTransport) {
		providers := cat.All(kind)
		seen := map[string]string{}
		for _, p := range providers {
			for _, name := range append(p.Names, p.ID) {
				if other, ok := seen[name]; ok && other != p.ID {
					t.Errorf("%s: %s and %s are both called %s", kind, other, p.ID, name)
				}
				seen[name] = p.ID
				if name != strings.ToLower(name) || strings.ContainsAny(name, " -") {
					t.Errorf("%s: %q is not a name to type", p.file, name)
				}
			}
			if p.standsFor() {
				continue // a transport that stands for several ways of dialing
			}
			if !strings.HasSuffix(p.file, "/"+p.Names[0]+".py") {
				t.Errorf("%s: the first name is %s", p.file, p.Names[0])
			}
			for _, problem := range p.checkCode() {
				t.Error(problem.Line())
			}
		}
	}
}

// letters are a, b, ... z, aa, ab, ...
func letters(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letters(i/26-1) + letters(i%26)
}

// No two files whose code meets in one bot import a name from different places:
// one would hide the other. Of each kind of service a bot has one.
func TestImportsAgree(t *testing.T) {
	bot, err := templates.Files.ReadFile("server/bot.py.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(bot), "# imports\n")
	block, _, _ := strings.Cut(rest, "# end of imports\n")
	type origin struct{ kind, module string }
	origins := map[string][]origin{}
	check := func(kind, file string, imports []pythonImport) {
		for _, i := range imports {
			module, names := i.module, i.names
			if len(names) == 0 {
				name, _, _ := strings.Cut(i.module, ".")
				module, names = "", []string{name} // the module itself
			}
			for _, n := range names {
				for _, o := range origins[n] {
					if o.module != module && (o.kind != kind || kind == KindTransport) {
						t.Errorf("%s imports %s from %q, and another file from %q", file, n, module, o.module)
					}
				}
				origins[n] = append(origins[n], origin{kind, module})
			}
		}
	}
	check("", "bot.py.tmpl", parseImports(block))
	cat := NewCatalog()
	for _, kind := range append(ServiceKinds, KindTransport) {
		for _, p := range cat.All(kind) {
			if !p.standsFor() {
				check(kind, p.file, p.parseCode(map[string]bool{"noise_cancel": true, "video_in": true, "video_out": true, "avatar": true}).imports)
			}
		}
	}
}

// What a program checks at its start follows from the words of its variables.
func TestNeeds(t *testing.T) {
	const missing = `    if missing := [name for name in required if not os.getenv(name)]:
        sys.exit(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")`
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"MODEL optional model: model"}, ""},
		{[]string{"KEY required secret: key"}, "    required = [\n        \"KEY\",\n    ]\n" + missing},
		{[]string{"KEY required secret unless URL: key", "URL optional url =https://a: address"}, `    required: list[str] = []
    if not os.getenv("URL"):
        required.append("KEY")
` + missing},
		{[]string{"KEY required secret unless OWN: key", "OWN optional url else URL: address", "URL optional url: address"}, `    required: list[str] = []
    if not (os.getenv("OWN") or os.getenv("URL")):
        required.append("KEY")
` + missing},
		{[]string{"KEY required secret unless OWN: key", "--", "KEY required secret unless URL: key", "--", "KEY required secret unless URL: key"}, `    required: list[str] = []
    if not os.getenv("OWN"):
        required.append("KEY")
    if not os.getenv("URL"):
        required.append("KEY")
` + strings.Replace(missing, "in required", "in dict.fromkeys(required)", 1)},
		{[]string{"NAME required id: name", "SECRET optional secret server with NAME: secret"}, `    required = [
        "NAME",
    ]
    if os.getenv("NAME"):
        required.append("SECRET")
` + missing},
		{[]string{"TOKEN required secret unless KEY: token", "KEY optional id without TOKEN: key", "SECRET optional secret with KEY: secret"}, `    required: list[str] = []
    if os.getenv("KEY"):
        required.append("SECRET")
    else:
        required.append("TOKEN")
` + missing + `
    if os.getenv("KEY") and os.getenv("TOKEN"):
        sys.exit("Set TOKEN or KEY in .env, not both.")`},
		{[]string{"KEY optional id without TOKEN: key"}, `    if os.getenv("KEY") and os.getenv("TOKEN"):
        sys.exit("Set TOKEN or KEY in .env, not both.")`},
	} {
		var start startCheck
		for _, lines := range strings.Split(strings.Join(c.env, "\n"), "\n--\n") {
			var env []variable
			for line := range strings.Lines(lines) {
				v, why := parseVariable(strings.TrimSpace(line))
				if why != "" {
					t.Fatal(line, why)
				}
				env = append(env, v)
			}
			for _, v := range env {
				start.add(v, env)
			}
		}
		if got, err := start.code("sys.exit"); err != nil || got != c.want {
			t.Errorf("%q:\n%s\nwant:\n%s", c.env, got, c.want)
		}
	}
}

// What bot.py says to check if a service does not work.
func TestKeysToCheck(t *testing.T) {
	cat := NewCatalog()
	for _, c := range []struct{ kind, name, want string }{
		{KindSTT, "deepgram", "DEEPGRAM_API_KEY"},
		{KindLLM, "bedrock", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{KindTTS, "google", "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CREDENTIALS_JSON"},
		{KindLLM, "ollama", "its settings"},
	} {
		if got := cat.Find(c.kind, c.name).Keys(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
