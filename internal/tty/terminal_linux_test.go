package tty_test

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vbot/internal/ptytest"
	"vbot/internal/tty"
)

// open returns a Terminal in raw mode, the person's side of it, and how much was printed so far.
func open(t *testing.T) (term *tty.Terminal, keys *os.File, printed *atomic.Int64) {
	keys, file := ptytest.Pair(t, 80, 24)
	printed = new(atomic.Int64)
	closed := make(chan bool)
	go func() {
		defer close(closed)
		buf := make([]byte, 4096)
		for n, err := keys.Read(buf); err == nil; n, err = keys.Read(buf) {
			printed.Add(int64(n))
		}
	}()
	term = tty.Open(file, file, false, true, strings.Clone)
	release, err := term.Hold()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		release()
		io.WriteString(keys, "\n") // for a read that waits
		file.Close()
		<-closed
		keys.Close()
	})
	return term, keys, printed
}

// Text that a terminal pastes as single keys is drawn when it is there, not at each.
func TestDrawsOnce(t *testing.T) {
	term, keys, printed := open(t)
	go io.WriteString(keys, strings.Repeat("0123456789", 1000)+"\r")
	said, err := term.Text(t.Context(), "Directory", "",
		func(string) (string, bool) { return "a note", true })
	if n := printed.Load(); err != nil || len(said) != 4096 || n > 100_000 {
		t.Errorf("%v: took %d bytes, and printed %d", err, len(said), n)
	}
}

// The keys that leave a question move and delete where something is typed.
func TestKeysThatLeave(t *testing.T) {
	for typed, want := range map[string]struct {
		said string
		err  error
	}{
		"ac\x1b[Db\r":     {"abc", nil},
		"abc\x1b[D\x04\r": {"ab", nil},
		"\x1b[D":          {"", tty.ErrBack},
		"a\x1b[Z":         {"a", tty.ErrBack},
		"\x04":            {"", context.Canceled},
	} {
		term, keys, _ := open(t)
		term.Back = true
		io.WriteString(keys, typed)
		if said, err := term.Text(t.Context(), "Name", "",
			func(string) (string, bool) { return "", true }); said != want.said || err != want.err {
			t.Errorf("%q: %q, %v", typed, said, err)
		}
	}
}

// A hiddenCase is a case of TestHidden.
type hiddenCase struct {
	name, keys string
	lines      bool
	want       string
	err        error
}

func hiddenCases() []hiddenCase {
	const file = "_json_key:{\n\t\"type\": \"service_account\"\n}"
	paste := func(text string) string { return "\x1b[200~" + text + "\x1b[201~\r" }
	long := strings.Repeat("x", 4094)
	return []hiddenCase{
		{name: "a line", keys: paste("one"), want: "one"},
		{name: "a line with its ends", keys: paste("one\r\n\r\n"), want: "one"},
		{name: "lines where there may be one", keys: paste("one\rtwo"), err: tty.ErrLines},
		{
			name: "a key where there may be one line",
			keys: paste("-----BEGIN PRIVATE KEY-----\nMII"),
			err:  tty.ErrLines,
		},
		{name: "lines, taken back", keys: "\x1b[200~one\ntwo\x1b[201~\x15three\r", want: "three"},
		{name: "lines", keys: paste(file), lines: true, want: file},
		{
			name:  "lines, as terminals paste them",
			keys:  paste(strings.ReplaceAll(file, "\n", "\r") + "\r"),
			lines: true,
			want:  file,
		},
		{
			name:  "lines with CRLF",
			keys:  paste(strings.ReplaceAll(file, "\n", "\r\n") + "\r\n"),
			lines: true,
			want:  file,
		},
		{name: "a blank line at the end", keys: paste("one\n\n"), lines: true, want: "one\n"},
		{name: "lines after what was typed", keys: "bob:" + paste(file), lines: true, want: "bob:" + file},
		{
			name:  "more than a line may have",
			keys:  paste(long + "\n" + long),
			lines: true,
			want:  long + "\n" + long,
		},
		{
			name:  "a line as long as one that was cut",
			keys:  paste("one\n" + long + "x\ntwo"),
			lines: true,
			err:   tty.ErrCut,
		},
		{
			name:  "a paste that is cut",
			keys:  paste(strings.Repeat("x\n", 1<<15)),
			lines: true,
			err:   tty.ErrCut,
		},
		{name: "a paste without an end", keys: "\x1b[200~one(1200ms)\r", lines: true, err: tty.ErrCut},
		{
			name:  "a paste with a pause",
			keys:  "\x1b[200~one\nt(300ms)wo\x1b[201~\r",
			lines: true,
			want:  "one\ntwo",
		},
		{name: "an odd key, taken back", keys: "\x1b[Aone\x15two\r", lines: true, want: "two"},
		{name: "Ctrl-D in a line", keys: "one\x04two\r", lines: true, want: "onetwo"},
	}
}

// What comes as a hidden answer is taken whole, or refused.
func TestHidden(t *testing.T) {
	for _, c := range hiddenCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term, keys, _ := open(t)
			first, rest, _ := strings.Cut(c.keys, "(")
			wait, later, _ := strings.Cut(rest, ")")
			go func() {
				io.WriteString(keys, first)
				pause, _ := time.ParseDuration(wait)
				time.Sleep(pause)
				io.WriteString(keys, later)
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if said, err := term.Hidden(ctx, "Password:", c.lines, never); said != c.want || err != c.err {
				t.Errorf("%v, %d bytes; want %v, %d bytes", err, len(said), c.err, len(c.want))
			}
		})
	}
}

func never(string) bool { return false }

// The rest of a paste that came line by line is noticed and read away.
func TestRestOfAPaste(t *testing.T) {
	for _, c := range []struct {
		first string   // the answer and what comes with it
		later []string // each after a part of the pause
		err   error
	}{
		{"one\r", nil, nil},
		{"one\r\n", nil, nil},
		{"one\rtwo\rthree\r", nil, tty.ErrLines},
		{"one\r", []string{"\r", "two\r", "three"}, tty.ErrLines},
		{"one\r", []string{"\x1b]11;rgb:0000/0000/0000\a"}, nil},
	} {
	again:
		term, keys, _ := open(t)
		late := make(chan bool, 1) // whether a part came after the pause, on a machine that is busy
		go func() {
			last, longest := time.Now(), time.Duration(0)
			io.WriteString(keys, c.first)
			for _, text := range c.later {
				time.Sleep(10 * time.Millisecond)
				wrote := time.Now()
				io.WriteString(keys, text)
				last, longest = wrote, max(longest, time.Since(last))
			}
			late <- longest > 80*time.Millisecond
		}()
		said, err := term.Hidden(t.Context(), "Password:", true,
			func(said string) bool { return said == "one" })
		if <-late {
			goto again
		}
		if err != c.err || err == nil && said != "one" {
			t.Errorf("%q, %q: %q, %v", c.first, c.later, said, err)
		}
		io.WriteString(keys, "next\r")
		if said, err := term.Hidden(t.Context(), "Password:", true, never); said != "next" || err != nil {
			t.Errorf("%q, %q: then %q, %v", c.first, c.later, said, err)
		}
	}
}
