package render

import "strings"

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

// SayLanguage is the language for text that a carrier speaks, as in its XML: "de-DE".
func (d *Data) SayLanguage() string {
	base, rest, _ := strings.Cut(d.Language, "-")
	switch {
	case base == "":
		return "en-US"
	case rest != "":
		return d.Language
	case carrierRegions[base] != "":
		return base + "-" + carrierRegions[base]
	}
	return base
}
