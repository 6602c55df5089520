package cloud

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"vbot/internal/secret"
	"vbot/internal/system"
)

// test has what a client needs, and does not pause.
var test = system.System{
	Now:         time.Now,
	Pause:       func(context.Context, time.Duration) error { return nil },
	WithTimeout: context.WithTimeout,
	Random:      func() float64 { return 0 },
	Stderr:      io.Discard,
}

// clientThatSent returns a client that has sent the values.
func clientThatSent(values ...string) *Client {
	c := New(nil, nil, test)
	for _, value := range values {
		c.protect(secret.New(value))
	}
	return c
}

// A message that repeats no value is shown as it is, but on one line and without hidden characters.
func TestProseIsShownWhole(t *testing.T) {
	c := clientThatSent("hunter2", "1", "us", "x!", "4711", "%%%", "prod-eu", "\t\n", "dXM6NzcK")
	for _, text := range []string{
		"", "no such set", "prod, eu, hunter, unter2", `100% of C:\u and \ are taken`,
		strings.Repeat("é", maxProse/2),
		"v1 of 11, 31, MQ", "focus, status, must", "KEY_1X", "PCC-1006, 10% of it", // a short value is a word
	} {
		if got := c.redact(text); got != text {
			t.Errorf("redact(%q) = %q", text, got)
		}
	}
	if got := c.redact("a\nb\x1b[2J\tc\u200b\u202e\x00"); got != "a b[2J c" {
		t.Errorf("what is hidden: %q", got)
	}
	for _, escapes := range []string{
		strings.Repeat("25", maxResponse/2), strings.Repeat(`u005c`, maxResponse/5),
	} { // undoing these would take an hour
		if got := c.redact("%" + escapes); got != "the API's message is too long to be shown" {
			t.Errorf("many escapes: %.60q", got)
		}
	}
	if got := c.redact(strings.Repeat("x", maxProse+1)); got != "the API's message is too long to be shown" {
		t.Errorf("a long message: %q", got)
	}
}

func quote(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

func inBase64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// everyByte is each byte as in a URL: "%41%42".
func everyByte(s string) string { return "%" + strings.ReplaceAll(fmt.Sprintf("% x", s), " ", "%") }

// between puts a text between all characters.
func between(s, text string) string { return strings.Join(strings.Split(s, ""), text) }

// formsOfAValue are the forms in which the API may repeat a value.
var formsOfAValue = map[string]func(string) string{
	"as it is":     func(s string) string { return s },
	"upper case":   strings.ToUpper,
	"lower case":   strings.ToLower,
	"JSON":         quote,
	"JSON in JSON": func(s string) string { return quote(quote(s)) },
	"JSON, ASCII": func(s string) string {
		return regexp.MustCompile(`[^ -~]`).ReplaceAllStringFunc(quote(s),
			func(r string) string { return escaped(r, `\u%04x`) })
	},
	"JSON, every character": func(s string) string { return escaped(s, `\u%04x`) },
	"JSON, upper case":      func(s string) string { return escaped(s, `\u%04X`) },
	"URL":                   url.QueryEscape,
	"URL, a path":           url.PathEscape,
	"URL, every byte":       everyByte,
	"URL in a URL":          func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"JSON in a URL":         func(s string) string { return url.QueryEscape(quote(s)) },
	"base64":                inBase64,
	"base64, URL": func(s string) string {
		return base64.URLEncoding.EncodeToString([]byte(s))
	},
	"base64, upper case": func(s string) string {
		return strings.ToUpper(inBase64(s))
	},
	"base64, in a URL": func(s string) string {
		return url.QueryEscape(inBase64(s))
	},
	"base64, one byte further": func(s string) string { return inBase64("x" + s) },
	"base64, two bytes further": func(s string) string {
		return base64.RawURLEncoding.EncodeToString([]byte("xy" + s))
	},
	"base64 of JSON":             func(s string) string { return inBase64(`{"value":"` + s + `"}`) },
	"base64 of its middle":       func(s string) string { return inBase64("a" + s + "b") },
	"hex":                        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex, upper case":            func(s string) string { return fmt.Sprintf("%X", s) },
	"with control characters":    func(s string) string { return between(s, "\x1b") },
	"with zero-width characters": func(s string) string { return between(s, "\u200b") },
}

// A message that repeats a value, in any of the forms that AUDIT.md lists, is not shown.
func TestProseThatRepeatsAValue(t *testing.T) {
	for _, value := range []string{
		"hunter2-hunter2", "hunter2", "4711", "multi\nline-secret\n", "geheimnis é \"quoted\"",
		"ümlaut\n<x>&'", "a/b c?d=e%25f+g", `C:\new\table`,
		"pässwort\U0001f600x", "e\u200bsc\x1bape", "!!??", "-----BEGIN KEY-----\nMIIE\n-----END KEY-----\n",
		"a\rb\r\nc\bd\fe", " padded ", "Kelvin \u212a \u017f",
	} {
		c := clientThatSent("other", value)
		for name, form := range formsOfAValue {
			for _, text := range []string{
				form(value), "bad value " + form(value) + ", sorry", `{"secretValue":"` + form(value) + `"}`,
			} {
				if got := c.redact(text); got != "the API's message repeats a value, so it is not shown" {
					t.Errorf("%q, %s: %q", value, name, got)
				}
			}
		}
	}
}

// A short value is found only as a whole word.
func TestProseThatRepeatsAShortValue(t *testing.T) {
	for _, value := range []string{"1", "us", "Xy7", "é"} {
		for _, text := range []string{
			value, "bad " + strings.ToUpper(value) + ".", `"` + value + `"`, "a-" + value + "-b",
		} {
			if got := clientThatSent(value).redact(text); got == text {
				t.Errorf("%q: %q", value, got)
			}
		}
	}
}

// A value in base64 protects the text that it encodes, and the password in that.
func TestProseThatRepeatsWhatWasEncoded(t *testing.T) {
	for _, value := range []string{
		inBase64("bob:pa:ss-w0rd"),
		inBase64("bob:pa:ss-w0rd") + "\r\n",
		base64.RawStdEncoding.EncodeToString([]byte("bob:pa:ss-w0rd")) + "\n",
	} {
		for _, text := range []string{
			"bob:pa:ss-w0rd", "password PA:SS-W0RD", inBase64("pa:ss-w0rd"),
		} {
			if got := clientThatSent(value).redact(text); got == text {
				t.Errorf("%q: %q", value, got)
			}
		}
	}
}

// escaped writes each UTF-16 code unit of s in a form such as \u%04x.
func escaped(s, form string) string {
	out := ""
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			out += fmt.Sprintf(form+form, 0xd800+r>>10, 0xdc00+r&0x3ff)
			continue
		}
		out += fmt.Sprintf(form, r)
	}
	return out
}

// An identifier is shown unchanged, or the response is refused.
func TestIdentifiers(t *testing.T) {
	c := clientThatSent(
		"prod", "pending", "us-west", "a-value-of-sixteen", "fifteen-letters", "sixteen--letters")
	for name, want := range map[string]string{
		"PROD_URL": "", "prod": "", "pending": "", "us-west": "", "my set": "", "été": "", "a.b_c-d": "",
		"fifteen-letters": "", "SIXTEEN--LETTERS": "",
		strings.Repeat("x", maxIdentifier): "", "x-a-value-of-sixteen": "a name that repeats a value",
		"a-value-of-sixteen": "a name that repeats a value",
		"sixteen--letters":   "a name that repeats a value",
		"a\nb":               "a name that cannot be shown", "a\tb": "a name that cannot be shown",
		"a\x1b[2J": "a name that cannot be shown", "a\u200bb": "a name that cannot be shown",
		"a\u202eb": "a name that cannot be shown", "a\u2028b": "a name that cannot be shown",
		"a\u00a0b": "a name that cannot be shown", "a\ufffdb": "a name that cannot be shown",
		strings.Repeat("x", maxIdentifier+1): "a name that cannot be shown",
	} {
		if got := message(c.checkIdentifier("name", name)); got != want {
			t.Errorf("identifier(%q): %q, want %q", name, got, want)
		}
	}
	for _, key := range []string{"name", "region", "status", "TYPE", "source"} {
		err := c.decode([]byte(`{"`+key+`":"a-value-of-sixteen"}`), &Entry{})
		if want := "a " + strings.ToLower(key) + " that repeats a value"; message(err) != want {
			t.Errorf("%s: %v, want %q", key, err, want)
		}
	}
	err := c.decode([]byte(`{"fieldName":"a-value-of-sixteen"}`), &setKey{})
	if message(err) != "a name that repeats a value" {
		t.Errorf("fieldName: %v", err)
	}
	// What the API said before it received the value does not repeat it.
	c = clientThatSent()
	if err := c.checkIdentifier("region", "pce-acme-production"); err != nil {
		t.Fatal(err)
	}
	c.protect(secret.New("pce-acme-production"))
	if err := c.checkIdentifier("region", "pce-acme-production"); err != nil {
		t.Error(err)
	}
	// Its prose does: it may know the value from an earlier run, before vbot sends it.
	c = clientThatSent()
	c.ProtectValues("acme-production-keys", []secret.Pair{
		{Key: "K", Value: secret.New("acme-production-keys")},
		{Key: "A_KEY_OF_MANY_LETTERS", Value: secret.New("another-value")},
	})
	if err := c.checkIdentifier("region", "another-value"); err != nil {
		t.Error(err)
	}
	for text, isShown := range map[string]bool{
		"bad value another-value":     false,
		"no set acme-production-keys": true, "no key A_KEY_OF_MANY_LETTERS": true,
	} {
		if got := c.redact(text) == text; got != isShown {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// The search in one message for a thousand values, short and long.
func BenchmarkProse(b *testing.B) {
	for _, size := range []int{16, 4 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			c := clientThatSent()
			for i := range 1000 {
				c.protect(secret.New(fmt.Sprintf("value-%d-%s", i, strings.Repeat("x", size))))
			}
			for b.Loop() {
				c.redact("the API does not take the value of KEY_17, and says so at some length: " +
					"value-17-xxxxxxxx")
			}
		})
	}
}
