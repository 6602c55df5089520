package cloudcmd

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vbot/internal/cloud"
	"vbot/internal/secret"
)

// A Mistake is a probable mistake in a value, such as one made when pasting it. The value may still be right.
type Mistake struct {
	Description string       // what the value is or has: "is in quotes"; "" if it looks right
	Fixed       secret.Value // the value without the mistake; empty if that is unknown
}

// quotes are pairs of quotation marks that are often pasted together with a value.
var quotes = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}}

// blanks are invisible characters that are often pasted together with a value.
const blanks = " \t\u00a0\u200b\u2060\ufeff"

// FindMistake looks for a mistake in the value of a pair. isServiceKey reports whether a key is the secret of
// a service of the catalog.
func FindMistake(pair secret.Pair, isServiceKey func(key string) bool) Mistake {
	value := pair.Value.Reveal()
	trimmed := strings.Trim(value, blanks)
	for _, marks := range quotes {
		rest, begins := strings.CutPrefix(trimmed, marks[0])
		rest, ends := strings.CutSuffix(rest, marks[1])
		if begins && ends && !strings.ContainsAny(rest, marks[0]+marks[1]) {
			return Mistake{Description: "is in quotes", Fixed: secret.New(rest)}
		}
	}
	isKnownForm := cloud.IsToken(value) || strings.HasPrefix(value, "{") || IsPEM(value)
	line := strings.TrimRight(value, "\r\n")
	isLine := !strings.ContainsAny(line, "\r\n")
	reference := unusable(line)
	switch {
	case value == "": // vbot asks for it
	case isLine && line != value && !strings.HasPrefix(value, "{"):
		return Mistake{Description: "ends in a line break", Fixed: secret.New(line)}
	case reference != "":
		return Mistake{Description: reference}
	case IsPEM(trimmed) && strings.Contains(trimmed, `\n`):
		return Mistake{
			Description: `has \n where a PEM has line breaks (in a file, double quotes turn \n into one)`,
		}
	case trimmed != value:
		return Mistake{Description: "has blanks around it", Fixed: secret.New(trimmed)}
	case isEncodedText(pair.Key, value):
		return Mistake{
			Description: "is base64 of a text, as .data is in what kubectl get secret -o yaml prints",
		}
	case !isKnownForm && isServiceKey(pair.Key):
		return Mistake{
			Description: "has characters that no key has, such as blanks, line breaks or curly quotes",
		}
	}
	return Mistake{}
}

// unusable describes a value that only stands for a secret, so that no bot can use it. It returns "" for
// any other value.
func unusable(value string) string {
	inner, isOpen := strings.CutPrefix(value, "<")
	inner, isClosed := strings.CutSuffix(inner, ">")
	switch {
	case strings.HasPrefix(value, "op://"):
		return "is a reference of 1Password, not the secret itself"
	case strings.HasPrefix(value, "encrypted:") && cloud.IsToken(value):
		return "is encrypted by dotenvx"
	case strings.HasPrefix(value, "ENC[") && strings.HasSuffix(value, "]"):
		return "is encrypted by SOPS"
	case isOpen && isClosed && inner != "" && !strings.ContainsAny(inner, "<>"), isPlaceholder(value):
		return "looks like a placeholder"
	}
	return ""
}

const (
	minEncoded = 16      // bytes; shorter values may be base64 of a text by chance
	maxEncoded = 1 << 20 // bytes; the limit of a Kubernetes Secret
)

// isEncodedText reports whether a value is base64 of a text, as if it was copied from a Kubernetes Secret. It
// accepts base64 if the key says so, and that of USER:PASSWORD (Inworld's keys), of a JSON file and of an id
// with a time in it.
func isEncodedText(key, value string) bool {
	if len(value) < minEncoded || len(value) > maxEncoded || strings.Contains(key, "64") {
		return false
	}
	data, err := base64.StdEncoding.Strict().DecodeString(value)
	text := strings.TrimRight(string(data), "\r\n")
	isBinary := func(r rune) bool {
		return r == utf8.RuneError || r != '\n' && r != '\r' && unicode.IsControl(r)
	}
	if err != nil || text == "" || strings.ContainsFunc(text, isBinary) {
		return false
	}
	isUserAndPassword := strings.Contains(text, ":") && !strings.Contains(text, "://") && !IsPEM(text)
	return !isUserAndPassword && !strings.HasPrefix(text, "{") && !isDated(text)
}

// isDated reports whether a text is an id of 32 hexadecimal digits, a hyphen and a time in decimal digits.
// Some services' keys are such a text in base64.
func isDated(text string) bool {
	id, time, _ := strings.Cut(text, "-")
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" &&
		time != "" && strings.Trim(time, "0123456789") == ""
}

// maxPlaceholder is the maximum length of a placeholder, in bytes. Longer values are not split into words, as
// a value may have 16 MiB.
const maxPlaceholder = 256

// isPlaceholder reports whether a value is a placeholder from an example or a template, such as
// your_api_key_here or changeme.
func isPlaceholder(value string) bool {
	if len(value) > maxPlaceholder {
		return false
	}
	isBetweenWords := func(c rune) bool { return strings.ContainsRune("-_ ", c) }
	words := strings.FieldsFunc(strings.ToLower(value), isBetweenWords)
	if len(words) > 0 && words[0] == "sk" { // the beginning of OpenAI's keys
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	wholes := []string{"changeme", "changeit", "replaceme", "placeholder", "todo", "xxx", "xxxxx", "..."}
	ends := []string{"key", "token", "secret", "password", "sid", "id", "value", "here"}
	last := words[len(words)-1]
	return slices.Contains(wholes, strings.Join(words, "")) ||
		len(words) > 1 && words[0] == "your" && slices.Contains(ends, last)
}

// IsPEM reports whether a text begins like a key or a certificate in PEM.
func IsPEM(text string) bool { return strings.HasPrefix(text, "-----BEGIN ") }
