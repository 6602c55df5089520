package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"vbot/internal/python"
	"vbot/internal/report"
	"vbot/templates"
)

// Ids and names are unique within a kind, every id has the form of its kind, and
// every file can be cut up.
func TestCatalog(t *testing.T) {
	cat := New()
	for _, kind := range ServiceKinds {
		for _, problem := range idProblems(kind, cat.List(kind)) {
			t.Error(problem)
		}
	}
	for _, kind := range append(ServiceKinds, KindTransport) {
		services := cat.List(kind)
		seen := map[string]string{}
		for _, p := range services {
			for _, name := range append(p.Names, p.ID) {
				if other, ok := seen[name]; ok && other != p.ID {
					t.Errorf("%s: %s and %s are both called %s", kind, other, p.ID, name)
				}
				seen[name] = p.ID
				if name != strings.ToLower(name) || strings.ContainsAny(name, " -") {
					t.Errorf("%s: %q is not a name to type", p.file, name)
				}
			}
			if hears := kind == KindSTT || kind == KindTTS ||
				kind == KindRealtime; hears != (p.languages != nil) {
				t.Errorf("%s: a line `# languages:` is there, and should be: %v, %v", p.file, !hears, hears)
			}
			if p.hasNoCode() {
				continue // a transport that stands for several ways of dialing
			}
			if !strings.HasSuffix(p.file, "/"+p.Names[0]+".py") {
				t.Errorf("%s: the first name is %s", p.file, p.Names[0])
			}
			for _, problem := range append(p.checkFrontMatter(), p.checkCode()...) {
				t.Error(problem.Line())
			}
		}
	}
}

// idProblems returns what is wrong with the ids of a kind: each letter is given once, in order.
func idProblems(kind string, services []*Service) (problems []string) {
	byID := map[string][]string{} // files
	for _, s := range services {
		byID[s.ID] = append(byID[s.ID], s.file)
	}
	next := kind + "_" + letters(len(byID))
	for id, files := range byID {
		if len(files) > 1 {
			slices.Sort(files)
			problems = append(problems, fmt.Sprintf("%s have the id %s; the newer one gets %s",
				strings.Join(files, " and "), id, next))
		}
	}
	for i := range len(byID) {
		want := kind + "_" + letters(i)
		if byID[want] == nil {
			problems = append(problems, "no file has the id "+want+
				"; a letter that was given is never given again")
		}
		delete(byID, want)
	}
	for id, files := range byID {
		if len(files) == 1 { // else it was named above
			problems = append(problems, fmt.Sprintf("%s: the id %s is not the next letter", files[0], id))
		}
	}
	slices.Sort(problems)
	return problems
}

// An id that two files have is blamed on these two.
func TestIDsThatClash(t *testing.T) {
	for ids, want := range map[string]string{
		"tts_a tts_b tts_c":       "",
		"tts_a tts_b tts_b tts_c": "1.py and 2.py have the id tts_b; the newer one gets tts_d",
		"tts_a tts_c": "1.py: the id tts_c is not the next letter\n" +
			"no file has the id tts_b; a letter that was given is never given again",
		"tts_a acme": "1.py: the id acme is not the next letter\n" +
			"no file has the id tts_b; a letter that was given is never given again",
	} {
		var services []*Service
		for i, id := range strings.Fields(ids) {
			services = append(services, &Service{ID: id, file: fmt.Sprintf("%d.py", i)})
		}
		if got := strings.Join(idProblems(KindTTS, services), "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", ids, got, want)
		}
	}
}

// A file of one's own that takes the name of another is named, whichever is read first.
func TestNamesThatClash(t *testing.T) {
	file := func(name, names string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("# id: " + name + "\n# label: " + strings.ToUpper(name) +
			"\n# names: " + names + "\nfrom acme import Acme\n\n\ndef build() -> Acme:\n" +
			"    stt = Acme()\n    return stt\n")}
	}
	for _, c := range []struct{ first, second, want string }{
		{"acme_a", "acme_b", ""},
		{"acme_a, acme_b", "acme_b", "own/stt/acme_a.py:3: acme_b is a name of ACME_B"},
		{"acme_a", "acme_b, acme_a", "own/stt/acme_b.py:3: acme_a is a name of ACME_A"},
		{"acme_a, x", "acme_b, x", "own/stt/acme_b.py:3: x is a name of ACME_A"},
		{"acme_a, deepgram", "acme_b", "own/stt/acme_a.py:3: deepgram is a name of Deepgram"},
		{"acme_a, stt_z", "acme_b", "own/stt/acme_a.py:3: stt_z is a name of Soniox"},
		{"acme_a, stt_zz", "acme_b", "own/stt/acme_a.py:3: stt_zz is reserved for ids of vbot"},
		{"acme_a, stt_zzz", "acme_b", ""},
	} {
		folder := fstest.MapFS{
			"stt/acme_a.py": file("acme_a", c.first),
			"stt/acme_b.py": file("acme_b", c.second),
		}
		var lines []string
		for _, p := range New().Add(folder, "own") {
			lines = append(lines, p.Line())
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s and %s: %s", c.first, c.second, got)
		}
	}
}

// The constants are the ids of the transports with these names.
func TestTransports(t *testing.T) {
	cat := New()
	known := map[string]string{
		"daily":            Daily,
		"smallwebrtc":      SmallWebRTC,
		"livekit":          LiveKit,
		"websocket":        WebSocket,
		"twilio":           Twilio,
		"telnyx":           Telnyx,
		"plivo":            Plivo,
		"exotel":           Exotel,
		"asterisk":         Asterisk,
		"daily_pstn":       DailyPSTN,
		"twilio_daily_sip": TwilioDailySIP,
	}
	for _, s := range cat.List(KindTransport) {
		if s.ModeOf == "" && known[s.Names[0]] != s.ID {
			t.Errorf("%s: transports.go has the id %q, not %q", s.file, known[s.Names[0]], s.ID)
		}
		delete(known, s.Names[0])
	}
	if len(known) > 0 {
		t.Errorf("transports.go has ids that no file has: %v", known)
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
	check := func(kind, file string, imports []python.Import) {
		for _, i := range imports {
			module, names := i.Module, i.Names
			if len(names) == 0 {
				name, _, _ := strings.Cut(i.Module, ".")
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
	check("", "bot.py.tmpl", python.ParseImports(block))
	cat := New()
	for _, kind := range append(ServiceKinds, KindTransport) {
		for _, p := range cat.List(kind) {
			if !p.hasNoCode() {
				check(kind, p.file, python.ParseImports(p.Build.Imports))
			}
		}
	}
}

// What a program requires at its start follows from the words of its variables.
func TestRequirements(t *testing.T) {
	for env, want := range map[string]string{
		"MODEL optional model: model": "",
		"KEY required secret: key":    "KEY",
		"KEY required secret unless URL: key\nURL optional url =https://a: " +
			"address": "KEY or URL",
		"KEY required secret unless OWN: key\nOWN optional url else URL: address\nURL optional url: " +
			"address": "KEY or OWN or URL",
		"NAME required id: name\nSECRET optional secret server with NAME: " +
			"secret": "NAME, SECRET if NAME",
		"TOKEN required secret unless KEY: token\nKEY optional id without TOKEN: key\nSECRET optional " +
			"secret with KEY: secret": "TOKEN xor KEY, SECRET if KEY",
	} {
		var vs []Variable
		for line := range strings.SplitSeq(env, "\n") {
			if err := readVariable(&vs, line); err != nil {
				t.Fatal(line, err)
			}
		}
		var got []string
		for _, v := range vs {
			if text := v.Rule(vs).String(); text != "" {
				got = append(got, text)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", env, got, want)
		}
	}
}

// What bot.py says to check if a service does not work.
func TestKeysToCheck(t *testing.T) {
	cat := New()
	for _, c := range []struct{ kind, name, want string }{
		{KindSTT, "deepgram", "DEEPGRAM_API_KEY"},
		{KindLLM, "bedrock", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{KindTTS, "google", "the GOOGLE_ variables"},
		{KindLLM, "ollama", "that it runs, OLLAMA_BASE_URL"},
		{KindSTT, "whisper", "its settings"},
	} {
		if got := cat.Find(c.kind, c.name).Keys(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	secret := Variable{Name: "KEY", Required: true, Kind: "secret"}
	if got := (&Service{Env: []Variable{secret, secret, secret}}).Keys(); got != "KEY and KEY" {
		t.Errorf("of three: %q", got)
	}
}

// What a list says of a service comes from its file.
func TestGist(t *testing.T) {
	c := New()
	has := map[string]bool{"DEEPGRAM_API_KEY": true}
	for _, want := range []struct{ kind, name, group, gist string }{
		{KindSTT, "deepgram", "Usual", "55 languages; no further key"},
		{KindSTT, "openai", "Usual", "57 languages; key from openai.com"},
		{KindSTT, "assemblyai", "Others", "31 languages; key from assemblyai.com"},
		{KindSTT, "together", "Others", "language detected; key from api.together.ai"},
		{KindSTT, "nvidia", "Others", "en only; key from build.nvidia.com"},
		{KindSTT, "moonshine", "On your own machine", "11 languages; 460 MB of memory; no key"},
		{KindLLM, "ollama", "On your own machine", "no key"},
		{KindLLM, "bedrock", "Others", "key from aws.amazon.com"}, // or the machine's own
		{KindTTS, "elevenlabs", "Usual", "32 languages; key and voice from elevenlabs.io"},
		{KindTTS, "deepgram", "Others", "language by voice; no further key"},
		{KindTTS, "xtts", "On your own machine", "16 languages; no key; deprecated"},
		{KindRealtime, "gemini_live", "Usual", "25 languages; video; key from aistudio.google.com"},
		{KindVideo, "heygen", "", "key from liveavatar.com"},
		{KindTransport, "smallwebrtc", "To try it without a phone", "no key"},
	} {
		if p := c.Find(want.kind, want.name); p.Heading().String() != want.group ||
			p.Summary(has) != want.gist {
			t.Errorf("%s %s: %q, %q", want.kind, want.name, p.Heading().String(), p.Summary(has))
		}
	}
}

// A port is a number, also before /udp, where it may be a range, or several.
func TestPortsOfHosts(t *testing.T) {
	text := func(host string) string {
		return "# id: acme\n# label: Acme\n# names: acme, acme_stt\n# host: " + host + "\n"
	}
	for host, ok := range map[string]bool{
		"example.com": true, "example.com: note": true, "example.com:9000": true,
		"*.example.com:3478/udp": true, "{HOST}:1-2,5/udp: media": true, "example.com:65535": true,
		"example.com:x": false, "example.com:x/udp": false, "example.com:/udp": false, "example.com:": false,
		"example.com:1-2": false, "example.com:0": false, "example.com:65536/udp": false,
		"example.com:1-x/udp": false, "example.com:1\\n2/udp": false, "example.com:80/tcp": false,
		"example.com:-1": false, "example.com:1 # x": false,
	} {
		wrong := slices.ContainsFunc((&Service{Kind: KindSTT}).parse(text(host)),
			func(p report.Problem) bool { return strings.Contains(p.Message, "expected HOST[:PORT[/udp]]") })
		if wrong == ok {
			t.Errorf("host: %s is refused: %v", host, wrong)
		}
	}
}
