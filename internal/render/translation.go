package render

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"vbot/templates"
)

// translations are functions that return the texts of a file in templates/translations by key. They are
// stored by the tag of the language, and each reads its file once, when it is needed.
var translations = sync.OnceValue(func() map[string]func() map[string]string {
	const folder = "translations"
	byTag := map[string]func() map[string]string{}
	entries, _ := templates.Files.ReadDir(folder) // embedded, like its files
	for _, entry := range entries {
		byTag[strings.TrimSuffix(entry.Name(), ".txt")] = sync.OnceValue(func() map[string]string {
			data, _ := templates.Files.ReadFile(folder + "/" + entry.Name())
			return readTranslation(string(data))
		})
	}
	return byTag
})

// readTranslation reads lines of the form `key: text`. A line that begins with # is a comment.
func readTranslation(data string) map[string]string {
	texts := map[string]string{}
	for line := range strings.Lines(data) {
		key, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && !strings.HasPrefix(key, "#") {
			texts[key] = text
		}
	}
	return texts
}

// translationTag returns the tag of the translation for a bot with this language: the language's own, or that
// of a more general language; "en" if there is none.
func translationTag(language string) string {
	for tag := language; tag != ""; {
		if translations()[tag] != nil {
			return tag
		}
		tag = tag[:max(0, strings.LastIndexByte(tag, '-'))]
	}
	return "en"
}

// Say returns what the bot or its page says, in the bot's language, or in English if there is no
// translation. The values replace each {} in the text.
func (d *Data) Say(key string, values ...string) (string, error) {
	text, ok := translations()[translationTag(d.LanguageTag())]()[key]
	if !ok {
		return "", fmt.Errorf("templates/translations have no text %q", key)
	}
	if places := strings.Count(text, "{}"); places != len(values) {
		return "", fmt.Errorf("%q has %d places for %d values", key, places, len(values))
	}
	for _, value := range values {
		text = strings.Replace(text, "{}", value, 1)
	}
	return text, nil
}

// Translated reports whether the texts of the bot and its page are in a language other than English.
func (d *Data) Translated() bool { return translationTag(d.LanguageTag()) != "en" }

// PageLanguage returns the tag of the language in which the page is written.
func (d *Data) PageLanguage() string {
	if d.Translated() {
		return d.LanguageTag()
	}
	return "en"
}

// RightToLeft reports whether the page is written from right to left.
func (d *Data) RightToLeft() bool {
	return d.Translated() && slices.Contains([]string{"ar", "fa", "he", "ur"}, d.BaseLanguage())
}
