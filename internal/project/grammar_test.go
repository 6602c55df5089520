package project

import (
	"strings"
	"testing"
)

// grammarsCases are the cases of TestGrammars.
var grammarsCases = []struct{ about, file, base, mine, theirs, want string }{
	{
		about:  "imports that both add in one place",
		file:   "bot.py",
		base:   "from a import A\nfrom z import Z\n",
		mine:   "from a import A\nfrom n import N\nfrom z import Z\n",
		theirs: "from a import A\nfrom m import M\nfrom z import Z\n",
		want:   "from a import A\nfrom m import M\nfrom n import N\nfrom z import Z\n",
	},
	{
		about:  "names of one module",
		file:   "bot.py",
		base:   "from a import B, D\n",
		mine:   "from a import B, C, D\n",
		theirs: "from a import A, B\n",
		want:   "from a import A, B, C\n",
	},
	{
		about:  "a statement of several lines",
		file:   "bot.py",
		base:   "from a import (\n    A,\n    B,\n)\nfrom b import B\n",
		mine:   "from a import (\n    A,\n    B,\n    C,\n)\nfrom b import B\n",
		theirs: "from a import A\nfrom b import B\n",
		want:   "from a import A, C\nfrom b import B\n",
	},
	{
		about:  "a paragraph of the owner's before a package of vbot's",
		file:   "bot.py",
		base:   "x = 1\n\nfrom pipecat import A\n",
		mine:   "x = 1\n\nimport asyncio\n\nfrom pipecat import A\n",
		theirs: "x = 1\n\nimport aiohttp\nfrom pipecat import A\n",
		want:   "x = 1\n\nimport asyncio\n\nimport aiohttp\nfrom pipecat import A\n",
	},
	{
		about:  "a module that the owner took away and vbot imports more of",
		file:   "bot.py",
		base:   "from a import A\n",
		mine:   "",
		theirs: "from a import A, B\n",
		want:   "from a import B\n",
	},
	{
		about:  "imports with other names",
		file:   "bot.py",
		base:   "from a import A\n",
		mine:   "from a import A as B\n",
		theirs: "from a import A, C\n",
	},
	{
		about:  "entries of a list",
		file:   "bot.py",
		base:   "TOOLS = [\n    # yours\n]\n",
		mine:   "TOOLS = [\n    days_until,\n    # yours\n]\n",
		theirs: "TOOLS = [\n    hang_up,\n    # yours\n]\n",
		want:   "TOOLS = [\n    hang_up,\n    days_until,\n    # yours\n]\n",
	},
	{
		about:  "the last entry, and one beside it",
		file:   "bot.py",
		base:   "REQUIRED = [\n    \"A\",\n]\n",
		mine:   "REQUIRED = [\n    \"A\",\n    \"MINE\",\n]\n",
		theirs: "REQUIRED = [\n    Needs(\"B\", if_set=\"C\"),\n]\n",
		want:   "REQUIRED = [\n    Needs(\"B\", if_set=\"C\"),\n    \"MINE\",\n]\n",
	},
	{
		about:  "the order of a pipeline means something",
		file:   "bot.py",
		base:   "p = (\n        [\n            stt,\n            llm,\n        ]\n",
		mine:   "p = (\n        [\n            stt,\n            mine,\n            llm,\n        ]\n",
		theirs: "p = (\n        [\n            stt,\n            theirs,\n            llm,\n        ]\n",
	},
	{
		about: "what is known of services",
		file:  "bot.py",
		base:  "{\n        llm: Service(\"A\", \"B\"),\n        tts: Service(\"C\", \"D\"),\n    }\n",
		mine: "{\n        llm: Service(\"A\", \"B\", x=1),\n        tts: Service(\"C\", \"D\"),\n    " +
			"}\n",
		theirs: "{\n        llm: Service(\"A\", \"B\"),\n        tts: Service(\"E\", \"F\"),\n    }\n",
		want: "{\n        llm: Service(\"A\", \"B\", x=1),\n        tts: Service(\"E\", \"F\"),\n    " +
			"}\n",
	},
	{
		about:  "variables, each with its own comment",
		file:   "server/.env.example",
		base:   "A=\n\n",
		mine:   "A=\n\n# API key\nMINE=\n\n",
		theirs: "A=\n\n# API key\nTHEIRS=\n\n",
		want:   "A=\n\n# API key\nTHEIRS=\n\n# API key\nMINE=\n\n",
	},
	{
		about:  "a package that both add",
		file:   "pyproject.toml",
		base:   "d = [\n]\n",
		mine:   "d = [\n    \"a\",\n    \"b\",\n]\n",
		theirs: "d = [\n    \"b\",\n    \"c\",\n]\n",
		want:   "d = [\n    \"a\",\n    \"b\",\n    \"c\",\n]\n",
	},
	{
		about:  "a text in which the order means something",
		file:   "README.md",
		base:   "a\n",
		mine:   "a\nb\n",
		theirs: "a\nc\n",
	},
}

// What conflicts as lines merges where a file's grammar says that it means two things.
func TestGrammars(t *testing.T) {
	for _, c := range grammarsCases {
		m, ok := merge3([]byte(c.base), []byte(c.mine), []byte(c.theirs), grammarOf(c.file), "1.0.0")
		switch got := string(m.text); {
		case !ok:
			t.Errorf("%s: it cannot be compared", c.about)
		case c.want == "":
			if len(m.conflicts) == 0 || !strings.Contains(got, markMiddle) {
				t.Errorf("%s: no conflict:\n%s", c.about, got)
			}
		case got != c.want || len(m.conflicts) > 0:
			t.Errorf("%s: conflicts %v\n%s\nwant:\n%s", c.about, m.conflicts, got, c.want)
		}
	}
}

// The line of a conflict is the one in the owner's file, also below a statement of several lines.
func TestLineOfAConflict(t *testing.T) {
	const imports = "from a import (\n    A,\n    B,\n)\n"
	base := []byte(imports + "x = 1\n")
	mine, theirs := []byte("# mine\n"+imports+"x = 2\n"), []byte(imports+"x = 3\n")
	m, ok := merge3(base, mine, theirs, grammarOf("bot.py"), "1.0.0")
	if !ok || len(m.conflicts) != 1 || m.conflicts[0] != 6 {
		t.Errorf("conflicts at %v:\n%s", m.conflicts, m.text)
	}
}
