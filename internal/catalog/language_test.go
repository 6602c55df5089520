package catalog

import (
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
