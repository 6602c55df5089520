package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal runs vbot at a terminal against the stand-in, signed in.
func (s *standin) terminal(t testing.TB, args ...string) *terminal {
	t.Helper()
	cmd := vbotCommand(t, t.TempDir(), append([]string{"cloud"}, args...)...)
	cmd.Env = append(cmd.Env, s.env()...)
	return openTerminal(t, cmd)
}

// echoes says whether the terminal shows what is typed.
func (term *terminal) echoes() bool { return term.state().Lflag&unix.ECHO != 0 }

// waits until the terminal hides what is typed, or does so no more.
func (term *terminal) waits(echo bool) {
	term.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); term.echoes() != echo; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			term.t.Fatalf("echo is never %v; the terminal shows\n%s", echo, term.text())
		}
	}
}

// A value that is asked for is not shown, and what goes where is shown before it
// goes there.
func TestHiddenPrompt(t *testing.T) {
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app")
	s.keep("app", "us-west", "ready", "OLD")
	term := s.terminal(t, "secrets", "set", "app", "OLD", "NEW", "THIRD=3")
	term.sees("OLD for app (hidden): ")
	term.types("hunter2-first\r")
	term.sees("NEW for app (hidden): ")
	term.types("hunter2-wrong\x15hunter2-é\x7f2nd\r") // Ctrl-U, backspace
	term.sees("Store 3 keys? [y/N] ")
	term.types("y\n")
	if code := term.ends(); code != 0 || term.state() != term.before {
		t.Errorf("exit code %d, terminal as before: %v", code, term.state() == term.before)
	}
	if strings.Contains(term.text(), "hunter2") {
		t.Errorf("the value was shown:\n%s", term.text())
	}
	if v := s.values("app"); v["OLD"] != "hunter2-first" || v["NEW"] != "hunter2-2nd" || v["THIRD"] != "3" {
		t.Errorf("stored %q", v)
	}
	golden(t, "cloud/terminal-set.txt", []byte(term.text()))
}

// What would be removed is shown and confirmed with the rest.
func TestPruneIsConfirmed(t *testing.T) {
	for _, answer := range []string{"y", "n"} {
		s := newStandin(t).want("GET ~/secrets/app")
		s.keep("app", "us-west", "ready", "OLD", "GONE")
		if answer == "y" {
			s.want("PUT ~/secrets/app", "DELETE ~/secrets/app/GONE")
		}
		term := s.terminal(t, "secrets", "set", "app", "OLD=1", "NEW=2", "--prune")
		term.sees("Store 2 keys and remove 1 key? [y/N] ")
		term.types(answer + "\n")
		term.ends()
		golden(t, "cloud/terminal-prune-"+answer+".txt", []byte(term.text()))
	}
}

// What was typed does not come back from an API that repeats it, either.
func TestHiddenPromptAndAnAPIThatEchoes(t *testing.T) {
	for _, args := range [][]string{{"secrets", "set", "app", "KEY", "--skip"}, {"secrets", "set", "app", "KEY", "--skip", "--json"}} {
		s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app", "PUT ~/secrets/app").misbehave("PUT", echo(400), echo(400))
		term := s.terminal(t, args...)
		term.sees("KEY for app (hidden): ")
		term.types("hunter2-pl4nted\r")
		if code := term.ends(); code != 1 || strings.Contains(term.text(), "hunter2") || strings.Contains(term.text(), "pl4nted") {
			t.Errorf("exit code %d\n%s", code, term.text())
		}
	}
	s := newStandin(t)
	term := s.terminal(t, "secrets", "set", "app", "KEY", "--skip")
	term.sees("KEY for app (hidden): ")
	term.types("-----BEGIN PRIVATE KEY-----\r")
	if code := term.ends(); code != 2 || !strings.Contains(term.text(), "--value-file") {
		t.Errorf("the first line of a key: exit code %d\n%s", code, term.text())
	}
}

// Whatever ends a hidden question, the terminal is as it was, nothing is sent, and
// what was typed is not shown.
func TestHiddenPromptIsLeft(t *testing.T) {
	for _, c := range []struct {
		name   string
		keys   string
		signal syscall.Signal
		code   int
	}{
		{"ctrl-c", "hunter2\x03", 0, 130},
		{"ctrl-d", "\x04", 0, 130},
		{"ctrl-d after text does nothing", "hunter2\x04\x03", 0, 130},
		{"sigterm", "hunter2", syscall.SIGTERM, 130},
		{"sighup", "hunter2", syscall.SIGHUP, 130},
		{"sigint", "hunter2", syscall.SIGINT, 130},
		{"empty", "\r", 0, 2},
		{"as long as a terminal may cut it", strings.Repeat("hunter2", 1000)[:4095] + "\r", 0, 2},
		{"longer", strings.Repeat("hunter2", 1000) + "\r", 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStandin(t)
			term := s.terminal(t, "secrets", "set", "app", "KEY")
			term.sees("KEY for app (hidden): ")
			term.types(c.keys)
			if c.signal != 0 {
				time.Sleep(20 * time.Millisecond) // the keys arrive first
				term.cmd.Process.Signal(c.signal)
			}
			if code := term.ends(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, term.text())
			}
			if term.state() != term.before {
				t.Error("the terminal is not as it was")
			}
			// Keys that reach the terminal after vbot's last line are not its to hide.
			shown, _, _ := strings.Cut(term.text(), "error: interrupted; nothing was written\n")
			if strings.Contains(shown, "hunter2") {
				t.Errorf("what was typed was shown:\n%s", term.text())
			}
			if c.code == 2 && c.keys != "\r" && !strings.Contains(term.text(), "--file") && !strings.Contains(term.text(), "use a file") {
				t.Errorf("it does not name the way out:\n%s", term.text())
			}
		})
	}
}

// One byte less than the limit is stored whole.
func TestHiddenPromptTakesALongLine(t *testing.T) {
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app")
	long := strings.Repeat("0123456789", 410)[:4094]
	term := s.terminal(t, "secrets", "set", "app", "KEY", "--skip")
	term.sees("KEY for app (hidden): ")
	term.types(long + "\r")
	if code := term.ends(); code != 0 || s.values("app")["KEY"] != long {
		t.Errorf("exit code %d, stored %d bytes", code, len(s.values("app")["KEY"]))
	}
}

// A pasted value is not shown, either.
func TestHiddenPromptTakesAPaste(t *testing.T) {
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app")
	term := s.terminal(t, "secrets", "set", "app", "KEY", "--skip")
	term.sees("KEY for app (hidden): ")
	term.types("\x1b[200~hunter2\n\x1b[201~\r")
	if code := term.ends(); code != 0 || s.values("app")["KEY"] != "hunter2" || strings.Contains(term.text(), "hunter2") {
		t.Errorf("exit code %d, stored %q\n%s", code, s.values("app"), term.text())
	}
}

// An arrow key would leave letters in the value that nobody sees.
func TestHiddenPromptAsksAgain(t *testing.T) {
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app")
	term := s.terminal(t, "secrets", "set", "app", "KEY", "--skip")
	term.sees("KEY for app (hidden): ")
	term.types("hunter\x1b[D2\r")
	term.sees("Try again")
	term.types("hunter2\r")
	if code := term.ends(); code != 0 || s.values("app")["KEY"] != "hunter2" {
		t.Errorf("exit code %d, stored %q", code, s.values("app"))
	}
}

// Stopped from outside, the program hides what is typed as soon as it goes on, even
// where a shell has set the terminal its own way meanwhile. Ctrl-Z does nothing.
func TestHiddenPromptAfterAStop(t *testing.T) {
	s := newStandin(t).want("GET ~/secrets/app", "PUT ~/secrets/app")
	term := s.terminal(t, "secrets", "set", "app", "KEY", "--skip")
	term.sees("KEY for app (hidden): ")
	term.waits(false)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := term.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := unix.IoctlSetTermios(int(term.tty.Fd()), unix.TCSETS, &term.before); sig == syscall.SIGSTOP && err != nil {
			t.Fatal(err)
		}
	}
	term.waits(false)
	term.types("hunter2\r")
	if code := term.ends(); code != 0 || term.state() != term.before || s.values("app")["KEY"] != "hunter2" {
		t.Errorf("exit code %d, stored %q", code, s.values("app"))
	}
	if strings.Contains(term.text(), "hunter2") || strings.Count(term.text(), "hidden") < 2 {
		t.Errorf("the terminal shows\n%s", term.text())
	}
}

// Enter means no, and nothing is written.
func TestEnterMeansNo(t *testing.T) {
	for _, c := range []struct{ name, args, question string }{
		{"set", "secrets set app K=1 N=2", "Store 2 keys? [y/N] "},
		{"unset", "secrets unset app K", "Remove key K of secret set app of organization acme, region us-west? [y/N] "},
		{"delete", "secrets delete app", "with 1 key? This cannot be undone. [y/N] "},
	} {
		for _, keys := range []string{"\n", "n\n", "nonsense\n"} {
			s := newStandin(t).want("GET ~/secrets/app")
			s.keep("app", "us-west", "ready", "K")
			term := s.terminal(t, strings.Fields(c.args)...)
			term.sees(c.question)
			term.types(keys)
			if code := term.ends(); code != 1 {
				t.Errorf("vbot cloud %s, %q: exit code %d", c.args, keys, code)
			}
			if keys == "\n" {
				golden(t, "cloud/terminal-declined-"+c.name+".txt", []byte(term.text()))
			}
		}
		s := newStandin(t).want("GET ~/secrets/app")
		s.keep("app", "us-west", "ready", "K")
		term := s.terminal(t, strings.Fields(c.args)...)
		term.sees(c.question)
		term.types("\x03")
		if code := term.ends(); code != 130 {
			t.Errorf("vbot cloud %s, Ctrl-C: exit code %d", c.args, code)
		}
	}
}

// Credentials: a user and then the password, typed ahead.
func TestImagePullAtATerminal(t *testing.T) {
	for _, keys := range []string{"bob:hunter2\r", "bob\rhunter2\r"} {
		s := newStandin(t).want("GET ~/secrets", "PUT ~/secrets/reg")
		term := s.terminal(t, "secrets", "image-pull-secret", "reg", "ghcr.io")
		term.sees("USER:PASSWORD for https://ghcr.io (hidden): ")
		term.types(keys)
		if code := term.ends(); code != 0 || s.values("reg")["value"] != "Ym9iOmh1bnRlcjI=" {
			t.Errorf("%q: exit code %d, stored %q\n%s", keys, code, s.values("reg"), term.text())
		}
		if strings.Contains(term.text(), "hunter2") || strings.Contains(term.text(), "bob") {
			t.Errorf("it was shown:\n%s", term.text())
		}
	}
	s := newStandin(t).want("GET ~/secrets", "PUT ~/secrets/reg")
	term := s.terminal(t, "secrets", "image-pull-secret", "reg", "ghcr.io")
	term.sees("USER:PASSWORD for https://ghcr.io (hidden): ")
	term.types("bob\r")
	term.sees("Password for that user (hidden): ")
	term.types("hunter2\r")
	if code := term.ends(); code != 0 || strings.Contains(term.text(), "hunter2") {
		t.Errorf("the password alone: exit code %d\n%s", code, term.text())
	}
	s = newStandin(t)
	term = s.terminal(t, "secrets", "image-pull-secret", "reg", "ghcr.io", "--no-input")
	if code := term.ends(); code != 2 || !strings.Contains(term.text(), "vbot cannot ask for it") {
		t.Errorf("--no-input: exit code %d\n%s", code, term.text())
	}
}

// Login asks for the token, hidden, and which of several organizations.
func TestLoginAtATerminal(t *testing.T) {
	s := newStandin(t).want("GET /v1/organizations", "GET /v1/organizations/beta/secrets")
	s.orgs = []string{"gamma", "acme", "beta"}
	dir := t.TempDir()
	env := append(s.env()[:1], "VBOT_CONFIG="+dir+"/config.json")
	cmd := vbotCommand(t, dir, "cloud", "login")
	cmd.Env = append(cmd.Env, env...)
	term := openTerminal(t, cmd)
	term.sees("Token (hidden): ")
	term.types(testToken + "\r")
	term.sees("Number or name (Enter: acme): ")
	term.types("7\n")
	term.sees("is not a choice; enter a number from 1 to 3 or a name\nNumber or name (Enter: acme): ")
	term.types("beta\n")
	if code := term.ends(); code != 0 || strings.Contains(term.text(), testToken) {
		t.Errorf("exit code %d\n%s", code, term.text())
	}
	golden(t, "cloud/terminal-login.txt", bytes.ReplaceAll([]byte(term.text()), []byte(dir), []byte("DIR")))
	with{env: env}.vbot(t, dir, "cloud", "secrets", "list").wantCode(t, 0)
}

// --file - at a terminal would show what is typed.
func TestFileFromATerminalIsRefused(t *testing.T) {
	term := newStandin(t).terminal(t, "secrets", "set", "app", "--file", "-", "--skip")
	if code := term.ends(); code != 2 || !strings.Contains(term.text(), "stdin is a terminal") {
		t.Errorf("exit code %d\n%s", code, term.text())
	}
}
