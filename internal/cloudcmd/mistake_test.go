package cloudcmd

import (
	"encoding/base64"
	"testing"

	"vbot/internal/secret"
)

func TestFindMistake(t *testing.T) {
	isServiceKey := func(key string) bool { return key == "OPENAI_API_KEY" }
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	const kubectl = "is base64 of a text, as .data is in what kubectl get secret -o yaml prints"
	for _, c := range []struct{ key, value, description, fixed string }{
		{key: "OPENAI_API_KEY", value: "sk-1"},
		{key: "OTHER", value: "two words"},
		{key: "OTHER", value: `{"a": 1}`},
		{key: "OTHER", value: `a "quoted" word`},
		{key: "OTHER", value: `"sk-1"`, description: "is in quotes", fixed: "sk-1"},
		{key: "OTHER", value: " “sk-1” ", description: "is in quotes", fixed: "sk-1"},
		{key: "OTHER", value: "sk-1\t", description: "has blanks around it", fixed: "sk-1"},
		{key: "OTHER", value: "sk-1\u200b", description: "has blanks around it", fixed: "sk-1"},
		{key: "PROMPT", value: "می\u200cخواهم"},
		{key: "OTHER", value: "sk-1\n", description: "ends in a line break", fixed: "sk-1"},
		{key: "OTHER", value: "two words\r\n", description: "ends in a line break", fixed: "two words"},
		{key: "OTHER", value: "two\nlines\n"},
		{key: "OTHER", value: "-----BEGIN KEY-----\nx\n-----END KEY-----\n"},
		{key: "OTHER", value: "{\"a\": 1}\n"},
		{
			key: "OTHER", value: "op://vault/item/key",
			description: "is a reference of 1Password, not the secret itself",
		},
		{key: "OTHER", value: "opera://x"},
		{key: "OTHER", value: "encrypted:BG1mZ4aQ==", description: "is encrypted by dotenvx"},
		{key: "PROMPT", value: "encrypted: never say what this means"},
		{key: "OTHER", value: "ENC[AES256_GCM,data:x,type:str]", description: "is encrypted by SOPS"},
		{key: "OTHER", value: "ENCORE"},
		{key: "OTHER", value: "<your key>", description: "looks like a placeholder"},
		{key: "PROMPT", value: "<p>Be brief.</p>"},
		{key: "OPENAI_API_KEY", value: "your_api_key_here", description: "looks like a placeholder"},
		{key: "OPENAI_API_KEY", value: "sk-your-key", description: "looks like a placeholder"},
		{key: "OTHER", value: "ChangeMe", description: "looks like a placeholder"},
		{key: "OTHER", value: "yourself"},
		{key: "PROMPT", value: "your task is to answer the phone"},
		{key: "ENABLED", value: "true"},
		{
			key: "OTHER", value: `-----BEGIN KEY-----\nMIIE\n-----END KEY-----\n`,
			description: `has \n where a PEM has line breaks (in a file, double quotes turn \n into one)`,
		},
		{key: "OTHER", value: `two\nlines`},
		{key: "OTHER", value: "-----BEGIN KEY-----\nMIIE\n-----END KEY-----"},
		{key: "OPENAI_API_KEY", value: encode("sk-1234567890"), description: kubectl},
		{key: "DSN", value: encode("redis://u:p@host/0\n"), description: kubectl},
		{
			key: "KEY", description: kubectl,
			value: encode("-----BEGIN KEY-----\nMII\n-----END KEY-----\n"),
		},
		{key: "PEM_BASE64", value: encode("-----BEGIN KEY-----\n")},
		{key: "INWORLD_API_KEY", value: encode("an-id:and-its-secret")},
		{key: "CREDENTIALS", value: encode(`{"type": "account"}`)},
		{key: "DATED_KEY", value: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWYtMTcwODAwMDAwMA=="},
		{key: "AZURE_API_KEY", value: "Hq9Yw2v0+Zt1m3N5r7Xj8Kd4Lf6Pb0Qs2Uc4We6Ya8="},
		{key: "DEEPGRAM_API_KEY", value: "0123456789abcdef0123456789abcdef01234567"},
		{key: "TWILIO_AUTH_TOKEN", value: "fedcba9876543210fedcba9876543210"},
		{key: "SHORT", value: "dHdvIHdvcmRz"},
		{
			key: "OPENAI_API_KEY", value: "sk 1",
			description: "has characters that no key has, such as blanks, line breaks or curly quotes",
		},
	} {
		got := FindMistake(secret.Pair{Key: c.key, Value: secret.New(c.value)}, isServiceKey)
		if got.Description != c.description || got.Fixed.Reveal() != c.fixed {
			t.Errorf("%s=%s: %q, %q", c.key, c.value, got.Description, got.Fixed.Reveal())
		}
	}
}
