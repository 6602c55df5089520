package report

import "testing"

func TestQuoteOn(t *testing.T) {
	for _, c := range []struct{ text, unix, windows string }{
		{`my-bot/server`, `my-bot/server`, `my-bot/server`},
		{`my bot`, `'my bot'`, `"my bot"`},
		{`C:\bots\it's`, `'C:\bots\it'\''s'`, `"C:\bots\it's"`},
		{`C:\bots`, `'C:\bots'`, `C:\bots`},
		{``, `''`, `""`},
	} {
		unix, windows := QuoteOn("linux", c.text), QuoteOn("windows", c.text)
		if unix != c.unix || windows != c.windows {
			t.Errorf("%s: %s, %s", c.text, unix, windows)
		}
	}
}

func TestShellPath(t *testing.T) {
	for path, want := range map[string]string{"-x": "./-x", "x-": "x-"} {
		if got := ShellPath(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
