package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vbot/internal/cloudtest"
	"vbot/internal/filetest"
	"vbot/internal/project"
	"vbot/internal/ptytest"
)

// terminal runs vbot at a terminal, signed in to the fake.
func terminalOn(t testing.TB, s *cloudtest.Fake, args ...string) *ptytest.Terminal {
	t.Helper()
	cmd := vbotCommand(t, t.TempDir(), append([]string{"cloud"}, args...)...)
	cmd.Env = append(cmd.Env, s.Env()...)
	return ptytest.Open(t, cmd)
}

// The session in README.md is the same as at a real terminal.
func TestReadmeSession(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	term := ptytest.Open(t, vbotCommand(t, dir, "init", "quickstart"))
	if code := term.Ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	shown := strings.ReplaceAll(term.Text(), dir, "/home/you")
	madeSection(t, "README.md", "session", "```console\n$ vbot init quickstart\n"+shown+"```\n")
}

// A value that is typed at a prompt is not shown. The keys and the set are shown before vbot stores them.
func TestHiddenPrompt(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
	s.Put("app", "us-west", "ready", "OLD")
	term := terminalOn(t, s, "secrets", "set", "app", "OLD", "NEW", "THIRD=3")
	term.Sees("OLD for app (hidden): ")
	term.Types("hunter2-first\r")
	term.Sees("NEW for app (hidden): ")
	term.Types("hunter2-wrong\x15hunter2-é\x7f2nd\r") // Ctrl-U, backspace
	term.Sees("Store 3 keys? [y/N] ")
	term.Types("y\n")
	if code := term.Ends(); code != 0 || term.State() != term.Before {
		t.Errorf("exit code %d, terminal as before: %v", code, term.State() == term.Before)
	}
	if strings.Contains(term.Text(), "hunter2") {
		t.Errorf("the value was shown:\n%s", term.Text())
	}
	if v := s.Values("app"); v["OLD"] != "hunter2-first" || v["NEW"] != "hunter2-2nd" || v["THIRD"] != "3" {
		t.Errorf("stored %q", v)
	}
	section(t, "cloud/terminal.txt", "set", []byte(term.Text()))
}

// Keys to be removed are shown and confirmed together with the others.
func TestPruneIsConfirmed(t *testing.T) {
	parallel(t)
	for _, answer := range []string{"y", "n"} {
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app")
		s.Put("app", "us-west", "ready", "OLD", "GONE")
		if answer == "y" {
			s.Expect("PUT ~/secrets/app", "DELETE ~/secrets/app/GONE")
		}
		term := terminalOn(t, s, "secrets", "set", "app", "OLD=1", "NEW=2", "--prune")
		term.Sees("Store 2 keys and remove 1 key? [y/N] ")
		term.Types(answer + "\n")
		term.Ends()
		section(t, "cloud/terminal.txt", "prune: "+answer, []byte(term.Text()))
	}
}

// A typed value is not shown even if the API repeats it.
func TestHiddenPromptAndAnAPIThatEchoes(t *testing.T) {
	parallel(t)
	for _, args := range [][]string{
		{"secrets", "set", "app", "KEY", "--skip"}, {"secrets", "set", "app", "KEY", "--skip", "--json"},
	} {
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app",
			"PUT ~/secrets/app").FailNext("PUT", cloudtest.Echo(400), cloudtest.Echo(400))
		term := terminalOn(t, s, args...)
		term.Sees("KEY for app (hidden): ")
		term.Types("hunter2-pl4nted\r")
		if code := term.Ends(); code != 1 || strings.Contains(term.Text(), "hunter2") ||
			strings.Contains(term.Text(), "pl4nted") {
			t.Errorf("exit code %d\n%s", code, term.Text())
		}
	}
}

// A value of several lines is refused, however it is pasted, and no other program receives the lines after
// the first.
func TestSeveralLinesAtAHiddenQuestion(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ args, keys string }{
		{"--skip", "-----BEGIN PRIVATE KEY-----\r"},
		{"--skip", "\x1b[200~hunter2\rhunter2\r\x1b[201~\r"},
		{"--skip", "first\rhunter2\r"},
		{"", "-----BEGIN PRIVATE KEY-----\rhunter2\nhunter2\n"},
	} {
		s := cloudtest.New(t, "vbot/"+version)
		cmd := vbotCommand(t, t.TempDir())
		cmd.Env = append(cmd.Env, s.Env()...)
		cmd.Path, cmd.Args = "/bin/sh", []string{
			"sh", "-c",
			`"$0" cloud secrets set app KEY ` + c.args +
				`; code=$?; timeout --foreground 0.3 cat; exit $code`,
			cmd.Path,
		}
		term := ptytest.Open(t, cmd)
		term.Sees("KEY for app (hidden): ")
		term.Types(c.keys)
		if code := term.Ends(); code != 2 || !strings.Contains(term.Text(), "--value-file") ||
			strings.Contains(term.Text(), "hunter2") {
			t.Errorf("%s, %q: exit code %d\n%s", c.args, c.keys, code, term.Text())
		}
	}
}

// Text that is typed ahead answers the next question.
func TestAnswerTypedAhead(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "GET ~/secrets", "PUT ~/secrets/app")
	term := terminalOn(t, s, "secrets", "set", "app", "KEY")
	term.Sees("KEY for app (hidden): ")
	term.Types("hunter2\ry\n")
	if code := term.Ends(); code != 0 || s.Values("app")["KEY"] != "hunter2" {
		t.Errorf("exit code %d\n%s", code, term.Text())
	}
}

// However a hidden prompt is interrupted, the terminal is restored, nothing is sent, and the typed text is
// not shown.
func TestHiddenPromptIsLeft(t *testing.T) {
	parallel(t)
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
		{"sigquit", "hunter2", syscall.SIGQUIT, 130},
		{"sigabrt", "hunter2", syscall.SIGABRT, 130},
		{"empty", "\r\x03", 0, 130},
		{"as long as a terminal may cut it", strings.Repeat("hunter2", 1000)[:4095] + "\r", 0, 2},
		{"longer", strings.Repeat("hunter2", 1000) + "\r", 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := cloudtest.New(t, "vbot/"+version)
			term := terminalOn(t, s, "secrets", "set", "app", "KEY")
			term.Sees("KEY for app (hidden): ")
			term.Types(c.keys)
			if c.signal != 0 {
				time.Sleep(20 * time.Millisecond) // the keys arrive first
				term.Cmd.Process.Signal(c.signal)
			}
			if code := term.Ends(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, term.Text())
			}
			if term.State() != term.Before {
				t.Error("the terminal is not as it was")
			}
			// vbot cannot hide keys that reach the terminal after its last line.
			shown, _, _ := strings.Cut(term.Text(), "cancelled; nothing was stored\n")
			if strings.Contains(shown, "hunter2") {
				t.Errorf("what was typed was shown:\n%s", term.Text())
			}
			if c.code == 2 && !strings.Contains(term.Text(), "--file") &&
				!strings.Contains(term.Text(), "use a file") {
				t.Errorf("it does not name the way out:\n%s", term.Text())
			}
		})
	}
}

// A signal that the parent process ignores, as nohup does, does not end vbot.
func TestNohup(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
	cmd := vbotCommand(t, t.TempDir(), "cloud", "secrets", "set", "app", "KEY", "--skip")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`, cmd.Path},
		cmd.Args[1:]...)
	cmd.Env = append(cmd.Env, s.Env()...)
	term := ptytest.Open(t, cmd)
	term.Sees("KEY for app (hidden): ")
	cmd.Process.Signal(syscall.SIGHUP)
	time.Sleep(50 * time.Millisecond)
	term.Types("hunter2\r")
	if code := term.Ends(); code != 0 || s.Values("app")["KEY"] != "hunter2" {
		t.Errorf("exit code %d\n%s", code, term.Text())
	}
}

// A value one byte below the limit is stored whole.
func TestHiddenPromptTakesALongLine(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
	long := strings.Repeat("0123456789", 410)[:4094]
	term := terminalOn(t, s, "secrets", "set", "app", "KEY", "--skip")
	term.Sees("KEY for app (hidden): ")
	term.Types(long + "\r")
	if code := term.Ends(); code != 0 || s.Values("app")["KEY"] != long {
		t.Errorf("exit code %d, stored %d bytes", code, len(s.Values("app")["KEY"]))
	}
}

// A pasted value is not shown, either. It does not include the terminal's late replies to an earlier program.
func TestHiddenPromptTakesAPaste(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
	term := terminalOn(t, s, "secrets", "set", "app", "KEY", "--skip")
	term.Sees("KEY for app (hidden): ")
	term.Types("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[200~hunter2\n\x1b[201~\x1b[?62c\r")
	if code := term.Ends(); code != 0 || s.Values("app")["KEY"] != "hunter2" ||
		strings.Contains(term.Text(), "hunter2") {
		t.Errorf("exit code %d, stored %q\n%s", code, s.Values("app"), term.Text())
	}
}

// pastedValuesCases are the cases of TestPastedValues.
var pastedValuesCases = []struct{ key, keys, says, answer, stored string }{
	{
		key:    "DEEPGRAM_API_KEY",
		keys:   "'hunter2'\r",
		says:   "DEEPGRAM_API_KEY: the value is in quotes; store it without them? [Y/n] ",
		answer: "\r",
		stored: "hunter2",
	},
	{
		key:    "DEEPGRAM_API_KEY",
		keys:   "\u201chunter2\u201d \r",
		says:   "is in quotes; store it without them? [Y/n] ",
		answer: "y\r",
		stored: "hunter2",
	},
	{
		key:    "MINE",
		keys:   "'hunter2'\r",
		says:   "is in quotes; store it without them? [Y/n] ",
		answer: "n\r",
		stored: "'hunter2'",
	},
	{
		key:    "MINE",
		keys:   " hunter2\r",
		says:   "has blanks around it; store it without them? [Y/n] ",
		answer: "\r",
		stored: "hunter2",
	},
	{
		key:  "DEEPGRAM_API_KEY",
		keys: "hunter2\u2019s\r",
		says: "has characters that no key has, such as blanks, line breaks or curly quotes; enter it " +
			"again? [Y/n] ",
		answer: "\r",
		stored: "hunter2",
	},
	{
		key:    "DEEPGRAM_API_KEY",
		keys:   "hunter 2\r",
		says:   "enter it again? [Y/n] ",
		answer: "n\r",
		stored: "hunter 2",
	},
	{key: "MINE", keys: "\r", says: "MINE is empty; enter it again, or press Ctrl-C", stored: "hunter2"},
	{key: "MINE", keys: "hunt\u2019s 2 b\u00e4ume\r", stored: "hunt\u2019s 2 b\u00e4ume"},
	{key: "MINE", keys: "'a' or 'b'\r", stored: "'a' or 'b'"},
	{key: "GOOGLE_CREDENTIALS_JSON", keys: "{\"a\": \"\u00e4\"}\r", stored: "{\"a\": \"\u00e4\"}"},
}

// vbot asks about a value that looks like a pasting mistake, and asks again for an empty one. It stores every
// value as the person decides.
func TestPastedValues(t *testing.T) {
	parallel(t)
	for _, c := range pastedValuesCases {
		s := cloudtest.New(t, "vbot/"+version).Expect(
			"GET ~/secrets/app", "GET ~/secrets", "PUT ~/secrets/app")
		term := terminalOn(t, s, "secrets", "set", "app", c.key)
		term.Sees(c.key + " for app (hidden): ")
		term.Types(c.keys)
		if c.says != "" {
			term.Sees(c.says)
			term.Types(c.answer)
		}
		if strings.Contains(c.says, "enter it again") && c.answer != "n\r" {
			term.Sees(c.says + "\n\r" + c.key + " for app (hidden): ")
			term.Types("hunter2\r")
		}
		term.Sees("Store 1 key? [y/N] ")
		term.Types("y\r")
		if code := term.Ends(); code != 0 || s.Values("app")[c.key] != c.stored {
			t.Errorf("%q: exit code %d, stored %q\n%s", c.keys, code, s.Values("app"), term.Text())
		}
		if c.says == "" && strings.Contains(term.Text(), "[Y/n]") || strings.Contains(term.Text(), "hunter") {
			t.Errorf("%q: %s", c.keys, term.Text())
		}
	}
}

// Arrow keys leave no letters in a hidden value.
func TestHiddenPromptAsksAgain(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
	term := terminalOn(t, s, "secrets", "set", "app", "KEY", "--skip")
	term.Sees("KEY for app (hidden): ")
	term.Types("hunter\x1b[D2\r")
	term.Sees("Try again")
	term.Types("hunter2\r")
	if code := term.Ends(); code != 0 || s.Values("app")["KEY"] != "hunter2" {
		t.Errorf("exit code %d, stored %q", code, s.Values("app"))
	}
}

// After SIGSTOP and SIGCONT, vbot hides typed text again, even if a shell has changed the terminal's mode
// meanwhile. Ctrl-Z does nothing.
func TestHiddenPromptAfterAStop(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app", "PUT ~/secrets/app")
	term := terminalOn(t, s, "secrets", "set", "app", "KEY", "--skip")
	term.Sees("KEY for app (hidden): ")
	term.Waits(false)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := term.Cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := unix.IoctlSetTermios(int(term.TTY.Fd()), unix.TCSETS, &term.Before)
		if sig == syscall.SIGSTOP && err != nil {
			t.Fatal(err)
		}
	}
	term.Waits(false)
	term.Types("hunter2\r")
	if code := term.Ends(); code != 0 || term.State() != term.Before || s.Values("app")["KEY"] != "hunter2" {
		t.Errorf("exit code %d, stored %q", code, s.Values("app"))
	}
	if strings.Contains(term.Text(), "hunter2") || strings.Count(term.Text(), "hidden") < 2 {
		t.Errorf("the terminal shows\n%s", term.Text())
	}
}

// Enter means no, and nothing is written.
func TestEnterMeansNo(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ name, args, question, done string }{
		{"set", "secrets set app K=1 N=2", "Store 2 keys? [y/N] ", "stored"},
		{
			"unset", "secrets unset app K",
			"Remove key K of secret set app of organization acme, region us-west? [y/N] ", "removed",
		},
		{"delete", "secrets delete app", "with 1 key? This cannot be undone. [y/N] ", "deleted"},
	} {
		for _, keys := range []string{"\n", "n\n", "nonsense\n", "yesterday\n"} {
			s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app")
			s.Put("app", "us-west", "ready", "K")
			term := terminalOn(t, s, strings.Fields(c.args)...)
			term.Sees(c.question)
			term.Types(keys)
			if code := term.Ends(); code != 1 {
				t.Errorf("vbot cloud %s, %q: exit code %d", c.args, keys, code)
			}
			if keys == "\n" {
				section(t, "cloud/terminal.txt", "declined: "+c.name, []byte(term.Text()))
			}
		}
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets/app")
		s.Put("app", "us-west", "ready", "K")
		term := terminalOn(t, s, strings.Fields(c.args)...)
		term.Sees(c.question)
		term.Types("\x03")
		if code := term.Ends(); code != 130 ||
			!strings.HasSuffix(term.Text(), "\ncancelled; nothing was "+c.done+"\n") {
			t.Errorf("vbot cloud %s, Ctrl-C: exit code %d\n%s", c.args, code, term.Text())
		}
	}
}

// The user and the password of a registry can be typed ahead.
func TestImagePullAtATerminal(t *testing.T) {
	parallel(t)
	for _, keys := range []string{"bob:hunter2\r", "bob\rhunter2\r", "bob\r\x1b[200~hunter2\r\x1b[201~\r"} {
		s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "PUT ~/secrets/reg")
		term := terminalOn(t, s, "secrets", "image-pull-secret", "reg", "ghcr.io")
		term.Sees("USER:PASSWORD for https://ghcr.io (hidden): ")
		term.Types(keys)
		if code := term.Ends(); code != 0 || s.Values("reg")["value"] != "Ym9iOmh1bnRlcjI=" {
			t.Errorf("%q: exit code %d, stored %q\n%s", keys, code, s.Values("reg"), term.Text())
		}
		if strings.Contains(term.Text(), "hunter2") || strings.Contains(term.Text(), "bob") {
			t.Errorf("it was shown:\n%s", term.Text())
		}
	}
	s := cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "PUT ~/secrets/reg")
	term := terminalOn(t, s, "secrets", "image-pull-secret", "reg", "ghcr.io")
	term.Sees("USER:PASSWORD for https://ghcr.io (hidden): ")
	term.Types("bob\r")
	term.Sees("Password for that user (hidden): ")
	term.Types("hunter2\r")
	if code := term.Ends(); code != 0 || strings.Contains(term.Text(), "hunter2") {
		t.Errorf("the password alone: exit code %d\n%s", code, term.Text())
	}
	// A password of several lines is stored whole or refused.
	s = cloudtest.New(t, "vbot/"+version).Expect("GET ~/secrets", "PUT ~/secrets/reg")
	term = terminalOn(t, s, "secrets", "image-pull-secret", "reg", "gcr.io")
	term.Sees("(hidden): ")
	term.Types("\x1b[200~_json_key:{\r}\x1b[201~\r")
	if code := term.Ends(); code != 0 || s.Values("reg")["value"] != "X2pzb25fa2V5OnsKfQ==" {
		t.Errorf("several lines: exit code %d, stored %q\n%s", code, s.Values("reg"), term.Text())
	}
	for _, plain := range []string{"", "VBOT_PLAIN_PROMPTS=1"} {
		s = cloudtest.New(t, "vbot/"+version)
		cmd := vbotCommand(t, t.TempDir(), "cloud", "secrets", "image-pull-secret", "reg", "gcr.io")
		cmd.Env = append(append(cmd.Env, s.Env()...), plain)
		term = ptytest.Open(t, cmd)
		term.Sees("(hidden): ")
		term.Types("_json_key:{\rhunter2\r}\r")
		if code := term.Ends(); code != 2 || strings.Contains(term.Text(), "hunter2") ||
			!strings.Contains(term.Text(), "several were pasted") {
			t.Errorf("several lines as single keys: exit code %d\n%s", code, term.Text())
		}
	}
	s = cloudtest.New(t, "vbot/"+version)
	term = terminalOn(t, s, "secrets", "image-pull-secret", "reg", "ghcr.io", "--no-input")
	if code := term.Ends(); code != 2 || !strings.Contains(term.Text(), "vbot cannot ask for it") {
		t.Errorf("--no-input: exit code %d\n%s", code, term.Text())
	}
}

// Login asks for the token at a hidden prompt, and then for one of several organizations.
func TestLoginAtATerminal(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect(
		"GET /v1/organizations", "GET /v1/organizations/beta/secrets")
	s.Orgs = []string{"gamma", "acme", "beta"}
	dir := t.TempDir()
	env := append(s.Env()[:1], "VBOT_CONFIG="+dir+"/config.json")
	cmd := vbotCommand(t, dir, "cloud", "login")
	cmd.Env = append(cmd.Env, env...)
	term := ptytest.Open(t, cmd)
	term.Sees("Token (hidden): ")
	term.Types(cloudtest.Token + "\r")
	term.Sees("Number or name (Enter: acme): ")
	term.Types("7\n")
	term.Sees("is not a choice; enter a number from 1 to 3 or a name\nNumber or name (Enter: acme): ")
	term.Types("beta\n")
	if code := term.Ends(); code != 0 || strings.Contains(term.Text(), cloudtest.Token) {
		t.Errorf("exit code %d\n%s", code, term.Text())
	}
	section(t, "cloud/terminal.txt", "login",
		bytes.ReplaceAll([]byte(term.Text()), []byte(dir), []byte("DIR")))
	subprocess{env: env}.vbot(t, dir, "cloud", "secrets", "list").wantCode(t, 0)
}

// --file - is refused at a terminal, because typed text would be shown.
func TestFileFromATerminalIsRefused(t *testing.T) {
	parallel(t)
	term := terminalOn(t, cloudtest.New(t, "vbot/"+version), "secrets", "set", "app", "--file", "-", "--skip")
	if code := term.Ends(); code != 2 || !strings.Contains(term.Text(), "stdin is a terminal") {
		t.Errorf("exit code %d\n%s", code, term.Text())
	}
}

// At a terminal vbot offers to refresh a guide that an older version wrote; only
// a yes replaces it.
func TestRefreshIsOffered(t *testing.T) {
	parallel(t)
	old := "from long ago\n" + strings.Replace(stamp, "%s", "0.0.9", 1)
	for _, c := range []struct {
		name, keys string
		code       int
		replaced   bool
	}{
		{"yes", "y\n", 0, true},
		{"YES", "YES\n", 0, true},
		{"enter", "\n", 0, false},
		{"no", "n\n", 0, false},
		{"nonsense", "perhaps\n", 0, false},
		{"ctrl-c", "\x03", 130, false},
		{"ctrl-d", "\x04", 130, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			filetest.Put(t, dir, "target/AGENTS.md", old)
			term := ptytest.Open(t, vbotCommand(t, dir, "init", "target"))
			term.Types("guides\n")
			term.Sees("AGENTS.md was written by an older vbot. Replace it and lose any changes you made? " +
				"[y/N] ")
			term.Types(c.keys)
			if code := term.Ends(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, term.Text())
			}
			if term.State() != term.Before {
				t.Error("the terminal is not as it was")
			}
			tree := filetest.Tree(t, dir)
			if replaced := tree["target/AGENTS.md"] != old; replaced != c.replaced {
				t.Errorf("replaced: %v, want %v", replaced, c.replaced)
			}
			if c.code == 130 && len(tree) != 1 {
				t.Errorf("interrupted, and it wrote %d files", len(tree)-1)
			}
		})
	}
}

// With --no-input, a pipe as stdin, or any bot option, nothing is asked. Nor is there a question about a
// guide that the owner wrote.
func TestNothingIsAsked(t *testing.T) {
	parallel(t)
	old := "from long ago\n" + strings.Replace(stamp, "%s", "0.0.9", 1)
	for _, own := range []string{
		"mine", "edited\n" + strings.Replace(stamp, "%s", version, 1),
		"new\n" + strings.Replace(stamp, "%s", "99.0.0", 1),
	} {
		dir := t.TempDir()
		filetest.Put(t, dir, "target/AGENTS.md", own)
		term := ptytest.Open(t, vbotCommand(t, dir, "init", "target"))
		term.Types("guides\n")
		term.Types("y\n")
		if code := term.Ends(); code != 0 || filetest.Tree(t, dir)["target/AGENTS.md"] != own {
			t.Errorf("%q: exit code %d", own, code)
		}
	}
	for _, args := range [][]string{{"init", "target", "--no-input"}, initArgs()} {
		dir := t.TempDir()
		filetest.Put(t, dir, "target/AGENTS.md", old)
		term := ptytest.Open(t, vbotCommand(t, dir, args...))
		if code := term.Ends(); code != 0 {
			t.Errorf("vbot %q: exit code %d", args, code)
		}
		term.Sees("kept AGENTS.md, which an older vbot wrote; to replace it: vbot init --no-input " +
			"--overwrite-guide")
	}
	dir := t.TempDir()
	filetest.Put(t, dir, "target/AGENTS.md", old)
	cmd := vbotCommand(t, dir, "init", "target")
	cmd.Stdin = strings.NewReader("y\n")
	term := ptytest.Open(t, cmd)
	if term.Ends(); filetest.Tree(t, dir)["target/AGENTS.md"] != old {
		t.Error("a pipe answered a question")
	}
	cmd = vbotCommand(t, dir, "init", "target")
	cmd.Stderr = new(bytes.Buffer)
	term = ptytest.Open(t, cmd)
	term.Types("guides\ny\n")
	if term.Ends(); filetest.Tree(t, dir)["target/AGENTS.md"] != old {
		t.Error("a question that nobody saw was answered")
	}
}

// At a terminal, an update shows what it would do, and does it only after a yes. Text from files that it
// shows cannot move the cursor.
func TestUpdateIsConfirmed(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		name, args, keys string
		code             int
		conflicts        bool // a file does
		updated          bool
	}{
		{name: "yes", args: "--update", keys: "y\n", code: 0, updated: true},
		{name: "diff", args: "--update --diff", conflicts: true, code: 1},
		{name: "enter", args: "--update", keys: "\n", code: 1},
		{name: "ctrl-c", args: "--update", keys: "\x03", code: 130},
		{name: "no-input", args: "--update --no-input", code: 0, updated: true},
		{name: "check", args: "--check --diff", code: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			vbot(t, dir, initArgs()...).wantCode(t, 0)
			old := map[string]string{"server/bot.py": "old\x1b[2J\n", "server/vbot/monitor.py": "1\n2\n"}
			makeOlder(t, dir, old)
			readme := filetest.Tree(t, dir)["target/README.md"]
			filetest.Put(t, dir, "target/README.md", readme+"mine\x1b[2J\n")
			if c.conflicts {
				filetest.Put(t, dir, "target/server/vbot/monitor.py", "1\n2\nmine\n")
			}
			before := filetest.Tree(t, dir)
			term := ptytest.Open(t,
				vbotCommand(t, dir, append([]string{"init", "target"}, strings.Fields(c.args)...)...))
			if c.keys != "" {
				term.Sees("Go ahead? [y/N] ")
				term.Types(c.keys)
			}
			if code := term.Ends(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			text := term.Text()
			if strings.Contains(text, "\x1b") {
				t.Errorf("the terminal was sent %q", text)
			}
			section(t, "update/terminal.txt", c.name, outlined([]byte(withoutDir(text, dir))))
			after := filetest.Tree(t, dir)
			const kept = "target/README.md"
			if equalTrees(before, after) == c.updated || after[kept] != before[kept] {
				t.Errorf("after: %q", after)
			}
		})
	}
}

// Output to a file is unchanged, byte for byte, even if messages go to a terminal.
func TestDiffIntoAFile(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	vbot(t, dir, initArgs()...).wantCode(t, 0)
	makeOlder(t, dir, map[string]string{"server/bot.py": "old\n"})
	filetest.Put(t, dir, "target/server/bot.py", "mine\x1b[2J\n")
	cmd := vbotCommand(t, dir, "init", "target", "--check", "--diff")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	term := ptytest.Open(t, cmd)
	if code := term.Ends(); code != 3 || !strings.Contains(stdout.String(), " mine\x1b[2J\n") {
		t.Errorf("exit code %d, %q", code, &stdout)
	}
}

// injected is a run of vbot in which strace makes system calls fail or wait.
func injected(t *testing.T, dir, faults string, args ...string) *exec.Cmd {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("CI has strace for this test: ", err)
		}
		skip(t, "strace is not installed")
	}
	cmd := vbotCommand(t, dir, args...)
	cmd.Args = []string{
		"strace", "-f", "-qq", "-o", filepath.Join(t.TempDir(), "trace"), "-e",
		"trace=flock,linkat,renameat,unlinkat,fsync",
	}
	for fault := range strings.FieldsSeq(faults) {
		cmd.Args = append(cmd.Args, "-e", "inject="+fault)
	}
	cmd.Args = append(append(cmd.Args, cmd.Path), args...)
	cmd.Path = strace
	return cmd
}

// If login is killed before it moves the token to its place, only the user can read the file that is left.
func TestKilledLogin(t *testing.T) {
	parallel(t)
	s := cloudtest.New(t, "vbot/"+version).Expect("GET /v1/organizations")
	dir := t.TempDir()
	cmd := injected(t, dir, "renameat:error=EIO:signal=KILL", "cloud", "login")
	cmd.Env = append(cmd.Env, "VBOT_API_URL="+s.URL, "VBOT_CONFIG="+filepath.Join(dir, "config.json"))
	cmd.Stdin = strings.NewReader(cloudtest.Token)
	out, err := cmd.CombinedOutput()
	left, globErr := filepath.Glob(filepath.Join(dir, ".config.json.vbot-*"))
	if err == nil || globErr != nil || len(left) != 1 ||
		!strings.Contains(filetest.Tree(t, dir)[filepath.Base(left[0])], cloudtest.Token) {
		t.Fatalf("%v, left: %q\n%s", err, filetest.Tree(t, dir), out)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// login fails if the token may not be on the disk, and logout fails if it may still be there.
func TestTokenOnAFailingDisk(t *testing.T) {
	parallel(t)
	for _, c := range []struct{ fault, args, want string }{
		{"fsync:error=EIO", "login", "storing the token in PATH: input/output error\n"},
		{"renameat:error=EIO", "login", "storing the token in PATH: rename "},
		{
			"unlinkat:error=EROFS", "logout",
			"removing PATH: read-only file system; the token is still stored there\n",
		},
	} {
		s := cloudtest.NewLenient(t, "vbot/"+version)
		text := `{"token":"old","api_url":"` + s.URL + `"}`
		path := storedConfig(t, text)
		cmd := injected(t, t.TempDir(), c.fault, "cloud", c.args)
		cmd.Env = append(cmd.Env, "VBOT_API_URL="+s.URL, "VBOT_CONFIG="+path)
		cmd.Stdin = strings.NewReader(cloudtest.Token)
		out, err := cmd.CombinedOutput()
		s.Close()
		tree := filetest.Tree(t, filepath.Dir(path))
		if err == nil || len(tree) != 1 || tree["config.json"] != text ||
			!strings.Contains(string(out), strings.Replace(c.want, "PATH", path, 1)) {
			t.Errorf("%s with %s: %v, left: %q\n%s", c.args, c.fault, err, tree, out)
		}
	}
}

// A file that is in place is removed again if its temporary name cannot be removed. If that fails, too, it is
// named.
func TestTemporaryFileThatStays(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	// The first removal of each thread fails, and the undo may run in another thread.
	out, err := injected(t, dir, "unlinkat:error=EIO:when=1", initArgs()...).CombinedOutput()
	left := filetest.Tree(t, dir)
	if len(left) == 0 && project.Has(dir, "target") {
		left["target"] = "a directory"
	}
	if err == nil || strings.Contains(string(out), "; nothing was written\n") != (len(left) == 0) {
		t.Errorf("%v, left: %q\n%s", err, left, out)
	}
	_, named, _ := strings.Cut(string(out), "could not be removed: ")
	for name := range left {
		if named := "\n" + named; !strings.Contains(named, "\n"+filepath.Base(name)+": input/output error") &&
			!strings.Contains(named, "\n"+filepath.Join(dir, name)+": input/output error") {
			t.Errorf("%s is left, which nothing says:\n%s", name, out)
		}
	}
}

// A run that is killed leaves whole files, and one under a temporary name. The next run removes that, and
// finishes the work.
func TestKilledAnywhere(t *testing.T) {
	parallel(t)
	whole := t.TempDir()
	vbot(t, whole, initArgs()...).wantCode(t, 0)
	want := filetest.Tree(t, whole)
	temporary := 0
	for _, fault := range []string{
		"linkat:signal=KILL:when=1", "linkat:signal=KILL:when=4", "unlinkat:signal=KILL:when=2",
	} {
		dir := t.TempDir()
		if _, err := injected(t, dir, fault, initArgs()...).CombinedOutput(); err == nil {
			continue // strace counts the calls of each thread
		}
		for path, data := range filetest.Tree(t, dir) {
			if strings.HasPrefix(filepath.Base(path), ".vbot-") {
				temporary++
			} else if data != want[path] {
				t.Errorf("%s: %s is half-written", fault, path)
			}
		}
		vbot(t, dir, initArgs()...).wantCode(t, 0)
		if got := filetest.Tree(t, dir); !equalTrees(got, want) {
			t.Errorf("%s: after the next run, there are %q", fault, differing(want, got))
		}
	}
	if temporary == 0 {
		t.Error("no run was killed while it wrote a file")
	}
}

// If an update is killed at any system call that changes something, or that call fails, no file then counts
// as edited or deleted, and the next update finishes the work, even with other options. An update that
// reports success leaves no temporary files.
func TestUpdateThatFailsAnywhere(t *testing.T) {
	parallel(t)
	var before map[string]string // of an older vbot
	fresh := map[string]map[string]string{}
	for _, options := range []string{"", "--tts elevenlabs"} {
		dir := t.TempDir()
		vbot(t, dir, initArgs(strings.Fields(options)...)...).wantCode(t, 0)
		fresh[options] = filetest.Tree(t, dir)
		fresh[options]["target/DEPLOY.md"] += "mine\n"
		filetest.Put(t, dir, "target/DEPLOY.md", fresh[options]["target/DEPLOY.md"])
		if options == "" {
			makeOlder(t, dir, map[string]string{
				"server/bot.py":       "old",
				"client/src/views.js": "old",
				"README.md":           "old",
			}, "server/Dockerfile")
			before = filetest.Tree(t, dir)
		}
	}
	for _, call := range []string{"linkat", "renameat", "unlinkat"} {
		failed := 0
		// The first round always fails: it kills vbot at the first call of any thread.
		for n := 3; n < filetest.Rounds(24, 90); n += filetest.Rounds(7, 1) {
			dir := t.TempDir()
			for name, data := range before {
				filetest.Put(t, dir, name, data)
			}
			// strace counts calls for each thread, and a run may change threads, so the undo of a change
			// may fail, too. With a range it does.
			fault := fmt.Sprintf("%s:%s:when=%d", call,
				[]string{"signal=KILL", "error=EIO", "error=EIO"}[n%3], (n+2)/3)
			if n%3 == 2 {
				fault += fmt.Sprintf("..%d", (n+2)/3+2)
			}
			out, err := injected(t, dir, fault, "init", "target", "--update", "--tts", "elevenlabs").
				CombinedOutput()
			if err == nil {
				if left := filetest.Tree(t, dir); !equalTrees(fresh["--tts elevenlabs"], left) {
					t.Fatalf("%s: it succeeded and left:\n%s", fault, filetest.Listing(t, dir))
				}
				continue
			}
			failed++
			killed, stays := n%3 == 0, strings.Contains(string(out), "could not be removed")
			if stays && strings.Contains(string(out), "nothing was written") ||
				!stays && !killed && !strings.Contains(string(out), "all files are written") &&
					strings.Contains(filetest.Listing(t, dir), "/.vbot-") {
				t.Fatalf("%s: %s\nleft:\n%s", fault, out, filetest.Listing(t, dir))
			}
			r := vbot(t, dir, "init", "target", "--check")
			touched := regexp.MustCompile(`(?m)^(edited|pending) +(\S+)`).FindAllStringSubmatch(r.stdout, -1)
			if len(touched) != 1 || touched[0][2] != "DEPLOY.md" {
				t.Fatalf("%s: %s", fault, r.stdout)
			}
			options := []string{"", "--tts elevenlabs", "--tts cartesia"}[n/3%3]
			r = vbot(t, dir, append([]string{"init", "target", "--update"}, strings.Fields(options)...)...)
			if r.code != 0 {
				t.Fatalf("%s, then %q: %s\nthe first one said\n%s", fault, options, r.stderr, out)
			}
			if options == "" &&
				strings.Contains(filetest.Tree(t, dir)["target/.vbot.json"], `"tts_service": "tts_b"`) {
				options = "--tts elevenlabs" // what failed had come to writing this
			}
			want, got := fresh[strings.TrimSuffix(options, "--tts cartesia")], filetest.Tree(t, dir)
			if !equalTrees(want, got) || strings.Contains(filetest.Listing(t, dir), "/client") {
				t.Errorf("%s, then %q: not as in a fresh project: %q", fault, options, differing(want, got))
				t.Fatalf("it said\n%s", out)
			}
		}
		if failed == 0 {
			t.Errorf("%s: no update failed", call)
		}
	}
}

// If the file system has no locks, which NFS reports as EBADF, a run prints a note and continues.
func TestNoLocks(t *testing.T) {
	parallel(t)
	for _, fault := range []string{"ENOLCK", "EBADF", "EOPNOTSUPP"} {
		dir := t.TempDir()
		for _, args := range [][]string{initArgs(), {"init", "target", "--update", "--recording"}} {
			out, err := injected(t, dir, "flock:error="+fault, args...).CombinedOutput()
			if err != nil || strings.Count(string(out), dir+"/target cannot be locked (") != 1 {
				t.Errorf("%s: %v: %s", fault, err, out)
			}
		}
	}
}

// If two runs create the same target, the second one to lock it fails. Here another run locks the directory
// just after this one has created it.
func TestTargetThatAnotherRunLocks(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	out, err := injected(t, dir, "flock:error=EAGAIN", initArgs()...).CombinedOutput()
	said := strings.Contains(string(out), "another vbot is writing to ")
	if err == nil || !said || !project.Has(dir, "target") {
		t.Errorf("left %s\n%s", filetest.Listing(t, dir), out)
	}
}

// If the file system has no hard links, files are renamed into place. A file that appears meanwhile is not
// overwritten.
func TestNoHardLinks(t *testing.T) {
	parallel(t)
	whole := t.TempDir()
	vbot(t, whole, initArgs()...).wantCode(t, 0)
	dir := t.TempDir()
	if out, err := injected(t, dir, "linkat:error=EPERM", initArgs()...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !equalTrees(filetest.Tree(t, whole), filetest.Tree(t, dir)) {
		t.Errorf("the files differ:\n%s", filetest.Listing(t, dir))
	}
	filetest.Put(t, dir, "target/AGENTS.md", "mine")
	if out, err := injected(t, dir, "linkat:error=EPERM", initArgs("--overwrite-guide")...).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !equalTrees(filetest.Tree(t, whole), filetest.Tree(t, dir)) {
		t.Errorf("the guide was not replaced:\n%s", filetest.Listing(t, dir))
	}

	// If the rename fails, too, nothing is left, not even the empty file that reserves the name.
	dir = t.TempDir()
	if out, err := injected(t, dir, "linkat:error=EPERM renameat:error=EIO", initArgs()...).
		CombinedOutput(); err == nil || len(filetest.Tree(t, dir)) > 0 {
		t.Errorf("%v: %s\nleft:\n%s", err, out, filetest.Listing(t, dir))
	}

	for _, when := range []string{
		"linkat:error=EPERM:delay_enter=200ms", "linkat:error=EPERM renameat:delay_enter=200ms",
	} {
		dir := t.TempDir()
		cmd := injected(t, dir, when+":when=1", initArgs()...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for len(filetest.Tree(t, dir)) == 0 { // until the first file is written under its temporary name
			time.Sleep(time.Millisecond)
		}
		// The program that creates the file first keeps it.
		mine, err := os.OpenFile(filepath.Join(dir, "target/.gitignore"), os.O_CREATE|os.O_EXCL, 0o644)
		mine.Close()
		cmd.Wait()
		want := 0
		if err == nil {
			want = 1
		}
		if tree := filetest.Tree(t, dir); cmd.ProcessState.ExitCode() != want ||
			err == nil && (len(tree) != 1 || tree["target/.gitignore"] != "") {
			t.Errorf("%s: exit code %d, want %d; left: %q", when, cmd.ProcessState.ExitCode(), want, tree)
		}
	}
}
