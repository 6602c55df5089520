package catalog

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// acme is a complete service; tests replace parts of it.
const acme = `# id: acme
# label: Acme
# names: acme
# env: ACME_API_KEY required secret: API key
# env: ACME_VOICE optional voice =joe: voice
import os

from acme import Acme


def build() -> Acme:
    stt = Acme(
        key=os.environ["ACME_API_KEY"],
        voice=os.getenv("ACME_VOICE", "joe"),
    )
    return stt
`

// problemsOf returns the problems with the file stt/acme.py, a line each, without the name of the file.
func problemsOf(text string) string {
	folder := fstest.MapFS{"stt/acme.py": {Data: []byte(text)}}
	var lines []string
	for _, p := range New().Add(folder, "own") {
		lines = append(lines, strings.TrimPrefix(p.Line(), "own/stt/acme.py:"))
	}
	return strings.Join(lines, "\n")
}

// A service of one's own must have code that bot.py can take.
func TestCodeOfCustomServices(t *testing.T) {
	const form = "6: expected imports, then `def build(...) -> CLASS:` with a line `    stt = CLASS(...)`, " +
		"and at its end `    return stt`"
	const imports = ": only imports may be above build: import MODULE, or from MODULE import NAME, NAME; " +
		"as ruff formats them"
	const parameters = "only system_instruction: str, language: str, session: aiohttp.ClientSession, " +
		"tools: list[DirectFunction]"
	const hidden = "a tab or a hidden character; save the file as UTF-8 without a byte-order mark"
	const name = `1: id and the first name must be "acme", the name of the file`
	for _, c := range []struct{ about, old, new, want string }{
		{"complete", "", "", ""},
		{"line ends of Windows", "\n", "\r\n", ""},
		{"no line end", "    return stt\n", "    return stt", ""},
		{"a tab", "        key=", "\tkey=", "13: " + hidden},
		{"a hidden character", "# label: ", "# label: \u200b", "2: " + hidden},
		{"no return", "    return stt\n", "", form},
		{"another class", "-> Acme", "-> Other", form},
		{"another variable", "    stt = ", "    x = ", form},
		{"more below", "    return stt\n", "    return stt\n\n\nx = 1\n", form},
		{"a statement above build", "import os\n", "import os\n\nx = 1\n", "8" + imports},
		{"a relative import", "from acme import", "from .acme import", "8" + imports},
		{"an import of several modules", "import os\n", "import os, sys\n", "6" + imports},
		{"a parameter", "build()", "build(session: aiohttp.ClientSession)", ""},
		{
			"another parameter", "build()", "build(who: str)",
			`11: build has no parameter "who: str", ` + parameters,
		},
		{
			"a parameter of transports", "build()", "build(video_width: int)",
			`11: build has no parameter "video_width: int", ` + parameters,
		},
		{
			"a language without a list", "build()", "build(language: str)",
			"11: build takes a language, so the front matter must list some: # languages: en, de, pt-BR",
		},
		{
			"a language without a condition", `"joe"),`, "\"joe\"),\n        language=language,",
			"15: a line that reads language must end in `# when: language`",
		},
		{"a condition", `"joe"),`, `"joe"),  # when: telephony`, ""},
		{"another condition", `"joe"),`, `"joe"),  # when: raining`, `14: unknown condition "raining"`},
		{
			"a variable that is not listed", `os.environ["ACME_API_KEY"]`, `os.environ["ACME_KEY"]`,
			"13: the front matter has no line for ACME_KEY; add # env: ACME_KEY required ...\n" +
				"4: build does not read ACME_API_KEY; if the framework does, add the word library",
		},
		{
			"a variable that is not read", `        voice=os.getenv("ACME_VOICE", "joe"),` + "\n", "",
			"5: build does not read ACME_VOICE; if the framework does, add the word library",
		},
		{"another name", "# names: acme", "# names: other", name},
		{"another id", "# id: acme", "# id: other", name},
		{"words for on and off", "# names: acme", "# names: acme\n# loop: yes\n# cloud: no", ""},
		{
			"another word", "# names: acme", "# names: acme\n# loop: no",
			"4: loop: expected yes, or no such line",
		},
		{"flags", "# names: acme", "# names: acme\n# flags: local, deprecated", ""},
		{
			"a flag that is misspelt", "# names: acme", "# names: acme\n# flags: locl",
			"4: flags: expected local, deprecated, daily_pstn_mode, twilio_daily_sip_mode",
		},
		{"a model", "# names: acme", "# names: acme\n# model: 400 MB, 0.5 cores, each session", ""},
		{
			"text after a number", "# names: acme", "# names: acme\n# model: 400 MB, 0.5 coresXYZ",
			"4: model: expected something like 400 MB, 0.5 cores",
		},
		{
			"a number that goes on", "# names: acme", "# names: acme\n# model: 400x MB, 0.5 cores",
			"4: model: expected something like 400 MB, 0.5 cores",
		},
		{"a size", "# names: acme", "# names: acme\n# size: 1280x720", ""},
		{
			"a size without a height", "# names: acme", "# names: acme\n# size: 1280",
			"4: size: expected WIDTHxHEIGHT, such as 1280x720",
		},
		{
			"a size that Python does not read", "# names: acme", "# names: acme\n# size: 0128x720",
			"4: size: expected WIDTHxHEIGHT, such as 1280x720",
		},
		{"video", "# names: acme", "# names: acme\n# video: in, out", ""},
		{
			"another video", "# names: acme", "# names: acme\n# video: inside",
			"4: video: expected in, out",
		},
		{
			"another type", "# names: acme", "# names: acme\n# type: telefony",
			"4: type: expected web, telephony",
		},
		{
			"another start", "# names: acme", "# names: acme\n# starts: late",
			"4: starts: expected context",
		},
		{
			"a client without a version", "# names: acme", "# names: acme\n# client: acme-transport",
			"4: client: expected PACKAGE RANGE, such as @pipecat-ai/daily-transport ^1.6.9",
		},
		{
			"a voice of no language", "# names: acme", "# names: acme\n# voices: joe",
			"4: voices: expected any, or LANGUAGE VOICE, such as de de_DE-thorsten-medium",
		},
		{
			"a stand-in", "# names: acme", "# names: acme\n# stand-in:  ",
			"4: stand-in: expected FILE NAME=VALUE..., such as openai_chat ACME_BASE_URL=http://{}/v1",
		},
	} {
		text := acme
		if c.old != "" {
			text = strings.ReplaceAll(acme, c.old, c.new)
		}
		if got := problemsOf(text); got != c.want {
			t.Errorf("%s: %s\nwant\n%s", c.about, got, c.want)
		}
	}
}

// Only files that can be services are read, and everything that seems to be meant as one is named.
func TestFilesOfCustomServices(t *testing.T) {
	big := strings.Repeat("# \n", maxService/3+1)
	for _, c := range []struct {
		name string
		file *fstest.MapFile
		want string
	}{
		{"stt/acme.py", &fstest.MapFile{Data: []byte(acme)}, ""},
		{"stt/README.md", &fstest.MapFile{Data: []byte("# x")}, ""},
		{"README.md", &fstest.MapFile{Data: []byte("# x")}, ""},
		{"setup.py", &fstest.MapFile{Data: []byte("import x\n")}, ""},
		{"stt/_acme.py", &fstest.MapFile{Data: []byte("x")}, ""},
		{"stt/.acme.py", &fstest.MapFile{Data: []byte("x")}, ""},
		{".venv/stt/acme.py", &fstest.MapFile{Data: []byte("x")}, ""},
		{"stt/more/deep/acme.py", &fstest.MapFile{Data: []byte("# id: acme\n")}, ""},
		{"stt", &fstest.MapFile{Data: []byte("x")}, "own/stt: expected a folder"},
		{
			"stt/acme.py", &fstest.MapFile{Data: []byte(big)},
			"own/stt/acme.py: expected a file of at most 64 KiB",
		},
		{
			"stt/acme.py", &fstest.MapFile{Mode: fs.ModeNamedPipe},
			"own/stt/acme.py: expected a file of at most 64 KiB",
		},
		{
			"acme.py", &fstest.MapFile{Data: []byte(acme)},
			"own/acme.py: not in a folder stt, llm, tts, realtime or video",
		},
		{
			"sst/acme.py", &fstest.MapFile{Data: []byte(acme)},
			"own/sst/acme.py: not in a folder stt, llm, tts, realtime or video (did you mean stt?)",
		},
		{"other/acme.py", &fstest.MapFile{Data: []byte("import x\n")}, ""},
	} {
		var lines []string
		cat := New()
		for _, p := range cat.Add(fstest.MapFS{c.name: c.file}, "own") {
			lines = append(lines, p.Line())
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		isService := c.name == "stt/acme.py" && c.want == ""
		if found := cat.Find(KindSTT, "acme"); (found != nil) != isService || cat.HasCustom() != isService {
			t.Errorf("%s: the catalog has %+v", c.name, found)
		}
		if New().Find(KindSTT, "acme") != nil {
			t.Errorf("%s: other catalogs have the service, too", c.name)
		}
	}
}
