package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestLanguageTag(t *testing.T) {
	for text, want := range map[string]string{
		"de": "de", "DE": "de", "pt-br": "pt-BR", "zh-hans-cn": "zh-Hans-CN", "sr-latn": "sr-Latn",
		"es-419": "es-419", "yue": "yue",
		// These are none.
		"": "", "d": "", "german": "", "de_DE": "", "de-": "", "-de": "", "de-DE-AT": "", "de-DE-419": "",
		"de-DE-1996": "", "Deutsch": "", "none": "", "\u212ae": "", "d3": "", "es-41": "",
	} {
		if got, ok := LanguageTag(text); got != want || ok != (want != "") {
			t.Errorf("LanguageTag(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

// Each voice of the catalog is the default of a bot with its language, in its code and in .env.example, and
// nobody has to choose one. Where there is none, the note on the variable says to choose one, unless each
// voice speaks each language; it is required if the voice alone decides.
func TestVoices(t *testing.T) {
	voiceOf := func(s *Service) (v Variable) {
		i := slices.IndexFunc(s.Env, func(v Variable) bool { return v.Kind == "voice" })
		if i >= 0 {
			v = s.Env[i]
		}
		return v
	}
	mustChoose := func(v Variable) bool { return strings.HasPrefix(v.Note, "one that speaks ") }
	cat := New()
	for _, kind := range ServiceKinds {
		for _, s := range cat.List(kind) {
			if len(s.voices) > 0 && s.anyVoice {
				t.Errorf("%s: lists voices, though any speaks each language", s.file)
			}
			for tag, voice := range s.voices {
				speaking := s.Speaking(tag)
				v := voiceOf(speaking)
				reads := `os.getenv("` + v.Name + `", "` + voice + `")`
				if v.Required || v.Fallback != voice || !strings.Contains(speaking.Build.Statements, reads) ||
					mustChoose(v) {
					t.Errorf("%s, %s: %+v in\n%s", s.file, tag, v, speaking.Build.Statements)
				}
				if !s.Speaks(tag) {
					t.Errorf("%s has a voice for %s, which it does not speak", s.file, tag)
				}
			}
		}
	}
	const (
		given  = "has a voice"
		asked  = "one has to be chosen"
		wanted = "one should be chosen"
		free   = "any will do, but one has to be chosen"
	)
	for _, c := range []struct{ kind, name, tag, want string }{
		{KindTTS, "cartesia", "uk", wanted},
		{KindTTS, "cartesia", "de-AT", given},
		{KindTTS, "cartesia", "en-GB", given},
		{KindTTS, "azure", "sw", asked},
		{KindTTS, "azure", "en", given},
		{KindTTS, "bland", "en", asked},
		{KindTTS, "rime", "de", asked},
		{KindTTS, "elevenlabs", "de", free},
		{KindTTS, "openai", "de", given},
		{KindRealtime, "nova_sonic", "pt", wanted},
		{KindRealtime, "nova_sonic", "fr", given},
		{KindRealtime, "gemini_live", "de", given},
	} {
		s := cat.Find(c.kind, c.name).Speaking(c.tag)
		got := given
		switch v := voiceOf(s); {
		case v.Required && mustChoose(v):
			got = asked
		case v.Required:
			got = free
		case mustChoose(v):
			got = wanted
		}
		if got != c.want {
			t.Errorf("%s, %s: %s", c.name, c.tag, got)
		}
	}
}
