package render

import (
	"strings"

	"vbot/internal/catalog"
)

// LanguageTag returns the BCP 47 tag of the bot's language, "" if none is set.
func (d *Data) LanguageTag() string { return string(d.Language) }

// BaseLanguage returns the language without script and region, "" if none is set.
func (d *Data) BaseLanguage() string {
	base, _, _ := strings.Cut(d.LanguageTag(), "-")
	return base
}

// English reports whether the bot speaks English, as one without a language does.
func (d *Data) English() bool { return d.Language == "" || d.BaseLanguage() == "en" }

// AnswerIn returns the sentence of the prompt that names the language, such as "Answer in German." If the
// language has a region, it includes the tag: "Answer in Portuguese (pt-BR)."
func (d *Data) AnswerIn() string {
	name := catalog.LanguageName(d.BaseLanguage())
	switch {
	case name == "":
		return "Answer in the language with the BCP 47 tag " + d.LanguageTag() + "."
	case d.LanguageTag() != d.BaseLanguage():
		return "Answer in " + name + " (" + d.LanguageTag() + ")."
	}
	return "Answer in " + name + "."
}

// carrierRegions are the regions that carriers expect for a language that --language names without a
// region. Twilio, Telnyx and Plivo each document a list; if all three speak the language, the region
// is in all three lists.
var carrierRegions = map[string]string{
	"ar": "AE", "cs": "CZ", "da": "DK", "de": "DE", "el": "GR",
	"en": "US", "es": "ES", "fi": "FI", "fr": "FR", "hi": "IN",
	"hu": "HU", "it": "IT", "ja": "JP", "ko": "KR", "nb": "NO",
	"nl": "NL", "pl": "PL", "pt": "BR", "ro": "RO", "ru": "RU",
	"sv": "SE", "tr": "TR", "uk": "UA", "vi": "VN", "zh": "CN",
}

// SayLanguage returns the language for text that a carrier speaks, as in its XML: "de-DE".
func (d *Data) SayLanguage() string {
	base, rest, _ := strings.Cut(d.LanguageTag(), "-")
	switch {
	case base == "":
		return "en-US"
	case rest != "":
		return d.LanguageTag()
	case carrierRegions[base] != "":
		return base + "-" + carrierRegions[base]
	}
	return base
}
