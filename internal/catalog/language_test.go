package catalog

import (
	"testing"

	"vbot/internal/python"
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
		if got := python.Uses(code, "Frame"); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}
