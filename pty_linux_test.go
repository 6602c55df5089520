package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal is the person's side of a pseudo-terminal on which a command runs.
type terminal struct {
	t      testing.TB
	master *os.File
	tty    *os.File     // the command's side
	before unix.Termios // how the terminal was set before the command ran
	cmd    *exec.Cmd
	mu     sync.Mutex
	screen bytes.Buffer
	leave  bool // the person goes away
	closed chan struct{}
}

// openTerminal starts cmd on a new terminal of 80 columns and 24 lines, which
// is its controlling terminal: Ctrl-C reaches it as a signal. Streams of cmd
// that are set already stay as they are.
func openTerminal(t testing.TB, cmd *exec.Cmd) *terminal {
	t.Helper()
	return openTerminalOf(t, cmd, 80, 24)
}

// openTerminalOf is openTerminal for one of another size.
func openTerminalOf(t testing.TB, cmd *exec.Cmd, width, height int) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	if cmd.Stdin == nil {
		cmd.Stdin = tty
	}
	if cmd.Stdout == nil {
		cmd.Stdout = tty
	}
	if cmd.Stderr == nil {
		cmd.Stderr = tty
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if cmd.Stdin != tty {
		cmd.SysProcAttr.Ctty = 2
	}
	term := &terminal{t: t, master: master, tty: tty, cmd: cmd, closed: make(chan struct{})}
	term.before = term.state()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(term.closed)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			term.mu.Lock()
			term.screen.Write(buf[:n])
			leave := term.leave
			term.mu.Unlock()
			if err != nil || leave {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		tty.Close()
		master.Close()
		<-term.closed
	})
	return term
}

// text is all that was printed so far, with plain line ends.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return strings.ReplaceAll(strings.ReplaceAll(term.screen.String(), allPrinted, ""), "\r\n", "\n")
}

// sees waits until the command has printed want.
func (term *terminal) sees(want string) {
	term.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(term.text(), want); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			term.t.Fatalf("the terminal never showed %q, but\n%s", want, term.text())
		}
	}
}

// types sends keys as a person would.
func (term *terminal) types(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.master, keys); err != nil {
		term.t.Fatal(err)
	}
}

// hangsUp closes the terminal under the command.
func (term *terminal) hangsUp() {
	term.mu.Lock()
	term.leave = true
	term.mu.Unlock()
	term.tty.WriteString("x") // the one who reads wakes up, and lets go
	<-term.closed
	term.tty.Close()
	term.master.Close()
}

// allPrinted is what the test prints to see that all before it has arrived.
const allPrinted = "\x00all printed\x00"

// ends waits for the command and all that it printed, and returns its exit code.
func (term *terminal) ends() int {
	term.t.Helper()
	done := make(chan struct{})
	go func() { term.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		term.t.Fatalf("the command did not end; the terminal shows\n%s", term.text())
	}
	term.catchesUp()
	return term.cmd.ProcessState.ExitCode()
}

// catchesUp waits until all that was printed has come through the terminal: it
// prints something itself, which comes last.
func (term *terminal) catchesUp() {
	term.t.Helper()
	marks := func() int {
		term.mu.Lock()
		defer term.mu.Unlock()
		return strings.Count(term.screen.String(), allPrinted)
	}
	before := marks()
	if _, err := io.WriteString(term.tty, allPrinted); err != nil {
		term.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); marks() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			term.t.Fatal("the terminal does not pass on what is printed")
		}
	}
}

// settles waits until the command has printed something, has read that many bytes
// in its life, and waits for more; or until it has ended.
func (term *terminal) settles(read int) {
	term.t.Helper()
	var last string
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		states, wakes := term.threads()
		if states == "Z" {
			break
		}
		// At two looks each thread was asleep, and none woke up in between.
		if strings.Trim(states, "S") == "" && wakes == last && term.text() != "" && term.bytesRead() >= read {
			break
		}
		last = wakes
		if time.Now().After(deadline) {
			term.t.Fatalf("the command does not come to rest; the terminal shows\n%s", term.text())
		}
	}
	term.catchesUp()
}

// threads is a letter for the state of each thread of the command, S where it is
// asleep, and how often each was given a processor.
func (term *terminal) threads() (states, wakes string) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", term.cmd.Process.Pid))
	if err != nil {
		term.t.Fatal(err)
	}
	for _, f := range files {
		data, _ := os.ReadFile(f) // a thread may end
		for line := range strings.Lines(string(data)) {
			if state, ok := strings.CutPrefix(line, "State:\t"); ok {
				states += state[:1]
			} else if strings.Contains(line, "ctxt_switches") {
				wakes += f + line
			}
		}
	}
	return states, wakes
}

// bytesRead is how much the command has read in its life.
func (term *terminal) bytesRead() (n int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", term.cmd.Process.Pid))
	if err != nil {
		term.t.Fatal(err)
	}
	fmt.Sscanf(string(data), "rchar: %d", &n)
	return n
}

// state is how the terminal is set: what `stty -a` prints.
func (term *terminal) state() unix.Termios {
	term.t.Helper()
	s, err := unix.IoctlGetTermios(int(term.tty.Fd()), unix.TCGETS)
	if err != nil {
		term.t.Fatal(err)
	}
	return *s
}

// At a terminal vbot offers to refresh a guide that an older version wrote; only
// a yes replaces it.
func TestRefreshIsOffered(t *testing.T) {
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
			put(t, dir, "target/AGENTS.md", old)
			term := openTerminal(t, vbotCommand(t, dir, "init", "target"))
			term.types("3\n") // the guides
			term.sees("AGENTS.md was written by an older vbot. Replace it and lose any changes you made? [y/N] ")
			term.types(c.keys)
			if code := term.ends(); code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, term.text())
			}
			if term.state() != term.before {
				t.Error("the terminal is not as it was")
			}
			tree := readTree(t, dir)
			if replaced := tree["target/AGENTS.md"] != old; replaced != c.replaced {
				t.Errorf("replaced: %v, want %v", replaced, c.replaced)
			}
			if c.code == 130 && len(tree) != 1 {
				t.Errorf("interrupted, and it wrote %d files", len(tree)-1)
			}
		})
	}
}

// --no-input, a pipe for stdin, or any bot option: nothing is asked.
func TestNothingIsAsked(t *testing.T) {
	old := "from long ago\n" + strings.Replace(stamp, "%s", "0.0.9", 1)
	for _, args := range [][]string{{"init", "target", "--no-input"}, initArgs()} {
		dir := t.TempDir()
		put(t, dir, "target/AGENTS.md", old)
		term := openTerminal(t, vbotCommand(t, dir, args...))
		if code := term.ends(); code != 0 {
			t.Errorf("vbot %q: exit code %d", args, code)
		}
		term.sees("kept AGENTS.md, which an older vbot wrote; to replace it: vbot init --overwrite-guide")
	}
	dir := t.TempDir()
	put(t, dir, "target/AGENTS.md", old)
	cmd := vbotCommand(t, dir, "init", "target")
	cmd.Stdin = strings.NewReader("y\n")
	term := openTerminal(t, cmd)
	if term.ends(); readTree(t, dir)["target/AGENTS.md"] != old {
		t.Error("a pipe answered a question")
	}
}

// At a terminal an update shows what it would do, and only a yes lets it. What it shows of
// files moves no cursor.
func TestUpdateIsConfirmed(t *testing.T) {
	for _, c := range []struct {
		name, args, keys string
		code             int
		updated          bool
	}{
		{"yes", "--update", "y\n", 0, true},
		{"yes-with-diff", "--update --diff", "y\n", 0, true},
		{"enter", "--update", "\n", 1, false},
		{"ctrl-c", "--update", "\x03", 130, false},
		{"no-input", "--update --no-input", "", 0, true},
		{"check", "--check --diff", "", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			vbot(t, dir, initArgs()...).wantCode(t, 0)
			aged(t, dir, map[string]string{"server/bot.py": "old\x1b[2J\n"})
			put(t, dir, "target/.gitignore", "mine\x1b[2J\n")
			before := readTree(t, dir)
			term := openTerminal(t, vbotCommand(t, dir, append([]string{"init", "target"}, strings.Fields(c.args)...)...))
			if c.keys != "" {
				term.sees("Go ahead? [y/N] ")
				term.types(c.keys)
			}
			if code := term.ends(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			text := term.text()
			if strings.Contains(text, "\x1b") {
				t.Errorf("the terminal was sent %q", text)
			}
			if start, rest, ok := strings.Cut(text, "\n+\"\"\"A voice bot"); ok { // the rest of bot.py
				text = start + "\n[...]\n" + rest[strings.LastIndex(rest, "\n+"):]
			}
			golden(t, "update/terminal/"+c.name+".txt", []byte(withoutDir(text, dir)))
			if after := readTree(t, dir); equalTrees(before, after) == c.updated || after["target/.gitignore"] != before["target/.gitignore"] {
				t.Errorf("after: %q", after)
			}
		})
	}
}
