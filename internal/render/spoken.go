package render

import "strings"

// carrierRegions are the regions with which carriers know a language that --language names
// without one. Of Twilio, Telnyx and Plivo each says its own list; these are in the lists of all three
// where all three speak the language.
var carrierRegions = map[string]string{
	"ar": "AE", "cs": "CZ", "da": "DK", "de": "DE", "el": "GR",
	"en": "US", "es": "ES", "fi": "FI", "fr": "FR", "hi": "IN",
	"hu": "HU", "it": "IT", "ja": "JP", "ko": "KR", "nb": "NO",
	"nl": "NL", "pl": "PL", "pt": "BR", "ro": "RO", "ru": "RU",
	"sv": "SE", "tr": "TR", "uk": "UA", "vi": "VN", "zh": "CN",
}

// SayLanguage is the language of what a carrier says, as its XML names it: "de-DE".
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
