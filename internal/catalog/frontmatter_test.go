package catalog

import (
	"slices"
	"strings"
	"testing"
)

// frontMatterProblems are what is wrong with front matter, a line each, without the name of the file.
func frontMatterProblems(kind string, lines ...string) (problems []string) {
	s := &Service{Kind: kind, file: "acme.py"}
	found := s.parse("# " + strings.Join(lines, "\n# ") + "\n")
	for _, p := range append(found, s.checkFrontMatter()...) {
		problems = append(problems, strings.TrimPrefix(p.Line(), "acme.py:"))
	}
	return problems
}

func TestFrontMatter(t *testing.T) {
	acme := []string{"id: acme", "label: Acme", "names: acme"}
	for line, want := range map[string]string{
		"":                                     "",
		"model: 400 MB, 0.5 cores":             "",
		"model: 1 MB, 0.1 cores":               "",
		"model: 400 MB, 2 cores, each session": "",
		"model: 0 MB, 0.5 cores":               "4: model: expected something like 400 MB, 0.5 cores",
		"model: 400 MB, 0 cores":               "4: model: expected something like 400 MB, 0.5 cores",
		"model: 400 MB, 100 cores":             "4: model: expected something like 400 MB, 0.5 cores",
		"label: Other":                         "4: label is already on line 2",
		"python: 3.12":                         "4: python: expected something like >=3.12",
		"python: >=3.":                         "4: python: expected something like >=3.12",
		"keys: https://a/<% .Slug %>":          "4: keys: a value must not contain \" \\ | ` or <%",
		"colour: red":                          "4: colour: unknown key",
		"languages: de, pt-BR":                 "",
		"languages: auto":                      "",
		"languages: auto, de": "4: languages: expected auto, voice, or tags such as en, de," +
			" pt-BR",
		"languages: pt-br": "4: languages: expected auto, voice, or tags such as en, de, " +
			"pt-BR",
		"host: a.example.com: media":       "",
		"host: a.example.com:65535: media": "",
		"host: a.example.com:0: media": "4: host: expected HOST[:PORT[/udp]]: NOTE, " +
			"such as media.example.com:3478/udp: media",
		"license: MIT OR Apache-2.0: acme-sdk, the model": "",
		"license: MIT": "4: license: expected LICENSE: PACKAGE, " +
			"such as GPL-3.0-or-later: piper-tts",
		"env: KEY required secret: key": "",
		"env: KEY required text: key": "4: env: expected NAME required|optional " +
			"secret|id|model|voice|region|url|path [=VALUE]: NOTE",
		"env: KEY needed secret: key": "4: env: expected NAME required|optional " +
			"secret|id|model|voice|region|url|path [=VALUE]: NOTE",
		"env: KEY required secret maybe: k":  `4: env: unknown word "maybe"`,
		"env: KEY required secret unless: k": `4: env: unknown word "unless"`,
	} {
		lines := acme
		if line != "" {
			lines = append(slices.Clone(acme), line)
		}
		if got := strings.Join(frontMatterProblems(KindSTT, lines...), "\n"); got != want {
			t.Errorf("%s: %s\nwant %s", line, got, want)
		}
	}
}

func TestFrontMatterWithoutKeys(t *testing.T) {
	got := frontMatterProblems(KindVideo, "label: Acme")
	want := []string{
		"1: missing: a line like `# id: acme_stt`",
		"1: missing: a line like `# names: acme_stt, acme`",
		"1: missing: a line like `# size: 1280x720`",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestVariableWithEverything(t *testing.T) {
	var read []Variable
	const line = "A_1 optional url library server unless B with C without D else E =https://a: note: more"
	if err := readVariable(&read, line); err != nil {
		t.Fatal(err)
	}
	want := Variable{
		Name:          "A_1",
		Kind:          "url",
		ReadByLibrary: true,
		Server:        true,
		unless:        "B",
		With:          "C",
		Without:       "D",
		Other:         "E",
		Fallback:      "https://a",
		Note:          "note: more",
	}
	if len(read) != 1 || read[0] != want {
		t.Errorf("%+v", read)
	}
}

func TestFind(t *testing.T) {
	c := New()
	for _, word := range []string{"stt_a", "STT_A", "deepgram", "Deepgram", "deepgram_stt"} {
		if s := c.Find(KindSTT, word); s == nil || s.ID != "stt_a" {
			t.Errorf("%s: %+v", word, s)
		}
	}
	if c.Find(KindTTS, "stt_a") != nil || c.Nearest(KindSTT, "deepgrm") != "deepgram" {
		t.Error("stt_a is a voice, or deepgrm is not near to deepgram")
	}
	if !c.HasSecret("OPENAI_API_KEY") || c.HasSecret("OPENAI_MODEL") || c.HasSecret("PATH") {
		t.Error("the secrets are others")
	}
	if c.HasCustom() {
		t.Error("there are services of one's own")
	}
}

func TestFirstNames(t *testing.T) {
	var services []*Service
	for _, name := range strings.Fields("deepgram assemblyai cartesia elevenlabs gladia google whisper") {
		services = append(services, &Service{Names: []string{name}})
	}
	for n, want := range map[int]string{
		2: "allowed: deepgram, assemblyai",
		7: "allowed: deepgram, assemblyai, cartesia, elevenlabs, gladia, ... (and so on)",
	} {
		if got := FirstNames("allowed", services[:n], "and so on"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
