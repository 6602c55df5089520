package bot

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLanguageTag(t *testing.T) {
	for text, want := range map[string]string{
		"de": "de", "DE": "de", "pt-br": "pt-BR", "zh-hans-cn": "zh-Hans-CN", "sr-latn": "sr-Latn", "es-419": "es-419", "yue": "yue",
		"": "", "d": "", "german": "", "de_DE": "", "de-": "", "-de": "", "de-DE-AT": "", "de-DE-419": "", "de-DE-1996": "", "Deutsch": "", "none": "", "\u212ae": "", "d3": "", "es-41": "",
	} {
		if got, ok := LanguageTag(text); got != want || ok != (want != "") {
			t.Errorf("LanguageTag(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

// A parameter of build becomes a constant; what only has its name stays.
func TestSubstitute(t *testing.T) {
	for code, want := range map[string]string{
		"language=language,":                               "language=LANGUAGE,",
		"hints=[Language(language)]":                       "hints=[Language(LANGUAGE)]",
		`{"language": language, "a": x.language}`:          `{"language": LANGUAGE, "a": x.language}`,
		`tag = language.split("-")[0]`:                     `tag = LANGUAGE.split("-")[0]`,
		"a = language":                                     "a = LANGUAGE",
		"language_code=language_code(language), language2": "language_code=language_code(LANGUAGE), language2",
	} {
		if got := substitute(code, "language", "LANGUAGE"); got != want {
			t.Errorf("%s becomes %s, want %s", code, got, want)
		}
	}
}

// A name is used where it stands alone.
func TestUses(t *testing.T) {
	for code, want := range map[string]bool{"x = Frame()": true, "Frame": true, "MyFrame()": false, "Frames": false, "_Frame(Frame2, Frame)": true, "": false} {
		if got := uses(code, "Frame"); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}

// A service is refused where it does not support the language, together with those that do.
// One that finds out by itself is not, nor one of one's own that says nothing.
func TestLanguageOfServices(t *testing.T) {
	cat, files := NewCatalog(), fstest.MapFS{}
	for name, c := range map[string][2]string{
		"told": {"# languages: en, de, pt-BR, zh-Hans\n# languages: es, es-MX\n", "language: str"}, "fixed": {"# languages: en\n", ""},
		"auto": {"# languages: auto\n", ""}, "silent": {}, "voice": {"# languages: voice\n", ""},
	} {
		code := "stt = Acme(\n        voice=os.getenv(\"ACME_VOICE\", \"joe\"),\n"
		if c[1] != "" {
			code += "        settings=Settings(language=language),  # when: language\n"
		}
		files["stt/acme_"+name+".py"] = &fstest.MapFile{Data: []byte("# id: acme_" + name + "\n# label: Acme " + name + "\n# names: acme_" + name + "\n" + c[0] +
			"# env: ACME_VOICE optional voice =joe: voice\nimport os\n\nfrom acme import Acme, Settings\n\n\ndef build(" + c[1] + ") -> Acme:\n    " + code + "    )\n    return stt\n")}
	}
	if problems := cat.Add(files, "services"); len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range []struct{ service, tag, want string }{
		{"told", "de", ""}, {"told", "de-at", ""}, {"told", "pt-BR", ""}, {"told", "zh-hans-cn", ""}, {"told", "zh-Hant", "Acme told does not support the language zh-Hant"},
		{"told", "pt", "Acme told does not support the language pt"}, {"told", "es", ""}, {"told", "es-MX", ""}, {"told", "es-AR", "Acme told does not support the language es-AR"}, {"fixed", "en-GB", ""}, {"fixed", "fr", "Acme fixed does not support the language fr"},
		{"auto", "fr", ""}, {"silent", "fr", ""}, {"voice", "fr", ""}, {"told", "German", `"German" is not a language tag; expected one such as de or pt-BR`},
	} {
		said := Quickstart()
		said[OptSTT], said[OptLLM], said[OptTTS] = Answer{Text: "acme_" + c.service}, Answer{Text: "openai"}, Answer{Text: "elevenlabs"}
		said[OptLanguage] = Answer{Text: c.tag}
		cfg, _, problems := Resolve(cat, said, "")
		got := ""
		for _, p := range problems {
			if got = p.Message; p.Field == OptSTT.Key && (!slices.Contains(p.Allowed, "acme_silent") || slices.Contains(p.Allowed, "acme_"+c.service) || !strings.Contains(p.Names, "--json")) {
				t.Errorf("%v: it allows %q, %s", c, p.Allowed, p.Names)
			}
		}
		if got != c.want {
			t.Errorf("%v: %q", c, got)
		}
		if got != "" {
			continue
		}
		if bot := New(cfg, cat); bot.English() != strings.HasPrefix(c.tag, "en") {
			t.Errorf("%v: it speaks English: %v", c, bot.English())
		}
		written, err := New(cfg, cat).Files("0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		code, env := string(written["server/bot.py"]), string(written["server/.env.example"])
		tag, _ := LanguageTag(c.tag)
		if !strings.Contains(code, `LANGUAGE = "`+tag+`"`) || strings.Contains(code, "Settings(language=LANGUAGE)") != (c.service == "told") {
			t.Errorf("%v: %s", c, code)
		}
		if strings.Contains(env, "# one that speaks fr: voice\nACME_VOICE=") != (c.service == "voice") {
			t.Errorf("%v: %s", c, env)
		}
	}
	if v := cat.Find(KindSTT, "acme_voice").Env[0]; v.Required || v.Fallback != "joe" {
		t.Errorf("the bots changed the catalog: %+v", v)
	}
}
