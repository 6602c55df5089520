// Package ptytest runs commands at pseudo-terminals in tests.
package ptytest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vbot/internal/tty"

	"golang.org/x/sys/unix"
)

// How long a test waits for output, and how often it checks. A busy machine is slow.
const (
	patience  = 20 * time.Second
	pollEvery = 2 * time.Millisecond
)

// A Terminal is the person's side of a pseudo-terminal on which a command runs.
type Terminal struct {
	T       testing.TB
	Master  *os.File
	TTY     *os.File     // the command's side
	Before  unix.Termios // the settings of the terminal before the command ran
	Cmd     *exec.Cmd
	Mu      sync.Mutex
	printed bytes.Buffer
	leave   bool // the person closes the terminal
	closed  chan struct{}
}

// Open starts cmd on a new terminal of 80 columns and 24 lines, its controlling
// terminal, so that Ctrl-C sends it a signal. It does not change streams of cmd
// that are already set.
func Open(t testing.TB, cmd *exec.Cmd) *Terminal {
	t.Helper()
	return OpenSize(t, cmd, 80, 24)
}

// Pair opens a pseudo-terminal of this size: the person's side and the command's.
func Pair(t testing.TB, width, height int) (master, tty *os.File) {
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
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	size := &unix.Winsize{Row: uint16(height), Col: uint16(width)}
	unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, size)
	return master, tty
}

// OpenSize is Open for a terminal of another size.
func OpenSize(t testing.TB, cmd *exec.Cmd, width, height int) *Terminal {
	t.Helper()
	master, tty := Pair(t, width, height)
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
	term := &Terminal{T: t, Master: master, TTY: tty, Cmd: cmd, closed: make(chan struct{})}
	term.Before = term.State()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(term.closed)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			term.Mu.Lock()
			term.printed.Write(buf[:n])
			leave := term.leave
			term.Mu.Unlock()
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

// Text is all that was printed so far, with plain line ends.
func (term *Terminal) Text() string {
	term.Mu.Lock()
	defer term.Mu.Unlock()
	return strings.ReplaceAll(strings.ReplaceAll(term.printed.String(), allPrinted, ""), "\r\n", "\n")
}

// Sees waits until the command has printed want.
func (term *Terminal) Sees(want string) {
	term.T.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(term.Text(), want); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			term.T.Fatalf("the terminal never showed %q, but\n%s", want, term.Text())
		}
	}
}

// Types sends keys as a person would.
func (term *Terminal) Types(keys string) {
	term.T.Helper()
	if _, err := io.WriteString(term.Master, keys); err != nil {
		term.T.Fatal(err)
	}
}

// HangsUp closes the terminal under the command.
func (term *Terminal) HangsUp() {
	term.Mu.Lock()
	term.leave = true
	term.Mu.Unlock()
	term.TTY.WriteString("x") // wake up the reader, so that it ends
	<-term.closed
	term.TTY.Close()
	term.Master.Close()
}

// allPrinted is a mark that the test prints, to see that all output before it has arrived.
const allPrinted = "\x00all printed\x00"

// Ends waits for the end of the command and for all its output, and returns its exit code.
func (term *Terminal) Ends() int {
	term.T.Helper()
	done := make(chan struct{})
	go func() { term.Cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		term.T.Fatalf("the command did not end; the terminal shows\n%s", term.Text())
	}
	term.catchesUp()
	return term.Cmd.ProcessState.ExitCode()
}

// catchesUp waits until all output has come through the terminal: it prints a mark,
// which comes last.
func (term *Terminal) catchesUp() {
	term.T.Helper()
	marks := func() int {
		term.Mu.Lock()
		defer term.Mu.Unlock()
		return strings.Count(term.printed.String(), allPrinted)
	}
	before := marks()
	if _, err := io.WriteString(term.TTY, allPrinted); err != nil {
		term.T.Fatal(err)
	}
	for deadline := time.Now().Add(patience); marks() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			term.T.Fatal("the terminal does not pass on what is printed")
		}
	}
}

// Settles waits until the command has printed something, has read that many bytes
// in total, and waits for more; or until it has ended.
func (term *Terminal) Settles(read int) {
	term.T.Helper()
	var last string
	var since time.Time
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		states, wakes := term.Threads()
		if states == "Z" {
			break
		}
		if strings.Trim(states, "S") != "" || wakes != last || term.Text() == "" || term.BytesRead() < read {
			since = time.Now()
		}
		// All threads have been asleep for longer than the pause before a question is drawn.
		if time.Since(since) > 10*time.Millisecond {
			break
		}
		last = wakes
		if time.Now().After(deadline) {
			term.T.Fatalf("the command does not come to rest; the terminal shows\n%s", term.Text())
		}
	}
	term.catchesUp()
}

// Threads returns a letter for the state of each thread of the command, S if it is
// asleep, and how often each was scheduled.
func (term *Terminal) Threads() (states, wakes string) {
	dir := fmt.Sprintf("/proc/%d/task", term.Cmd.Process.Pid)
	threads, _ := os.ReadDir(dir) // the process or a thread may have ended
	for _, thread := range threads {
		f := filepath.Join(dir, thread.Name(), "status")
		data, _ := os.ReadFile(f)
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

// BytesRead is how many bytes the command has read in total.
func (term *Terminal) BytesRead() (n int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", term.Cmd.Process.Pid))
	if err != nil {
		term.T.Fatal(err)
	}
	fmt.Sscanf(string(data), "rchar: %d", &n)
	return n
}

// State returns the settings of the terminal, as `stty -a` prints them.
func (term *Terminal) State() unix.Termios {
	term.T.Helper()
	s, err := unix.IoctlGetTermios(int(term.TTY.Fd()), unix.TCGETS)
	if err != nil {
		term.T.Fatal(err)
	}
	return *s
}

// Raw is all that was printed, as it was.
func (term *Terminal) Raw() string {
	term.Mu.Lock()
	defer term.Mu.Unlock()
	return strings.ReplaceAll(term.printed.String(), allPrinted, "")
}

// Screen returns what a terminal of this size shows after the output: its lines,
// including those that scrolled away, and the position of the cursor in them. It knows
// only sequences that internal/tty uses; an unknown sequence is an error.
func Screen(output string, width, height int) (lines []string, row, column int, err error) {
	cells := [][]string{{}}
	top := 0 // the first line that is not scrolled away
	wraps := true
	put := func(r rune) {
		w := tty.Width(string(r))
		if column+w > width && wraps {
			column, row = 0, row+1
		}
		column = min(column, width-w)
		for len(cells) <= row {
			cells = append(cells, nil)
		}
		for len(cells[row]) < column+w {
			cells[row] = append(cells[row], " ")
		}
		if w == 0 && column > 0 {
			cells[row][column-1] += string(r)
			return
		}
		cells[row][column] = string(r)
		if w == 2 {
			cells[row][column+1] = ""
		}
		column += w
	}
	for i := 0; i < len(output); {
		switch c := output[i]; {
		case c == '\r':
			column, i = 0, i+1
		case c == '\n':
			row, i = row+1, i+1
		case c == 0x1b:
			rest := output[i+1:]
			isLetter := func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }
			end := strings.IndexFunc(rest, isLetter)
			if end < 0 {
				return nil, 0, 0, nil // the sequence is incomplete
			}
			n, err := strconv.Atoi(strings.TrimPrefix(rest[:end], "["))
			if err != nil {
				n = 1
			}
			switch sequence := rest[:end+1]; {
			case rest[end] == 'A':
				row = max(top, row-n)
			case rest[end] == 'C':
				column = min(width-1, column+n)
			case sequence == "[K" && row < len(cells):
				cells[row] = cells[row][:min(column, len(cells[row]))]
			case sequence == "[?7l", sequence == "[?7h":
				wraps = sequence == "[?7h"
			case sequence == "[K", sequence == "[?2004h", sequence == "[?2004l", rest[end] == 'm':
			case sequence == "[J":
				if row < len(cells) {
					cells = cells[:row+1]
					cells[row] = cells[row][:min(column, len(cells[row]))]
				}
			default:
				return nil, 0, 0, fmt.Errorf("the terminal was sent %q", sequence)
			}
			i += end + 2
		default:
			for n, r := range output[i:] {
				if n > 0 {
					break
				}
				put(r)
				i += len(string(r))
			}
		}
		for len(cells) <= row {
			cells = append(cells, nil)
		}
		top = max(top, row-height+1)
	}
	for _, line := range cells {
		lines = append(lines, strings.TrimRight(strings.Join(line, ""), " "))
	}
	return lines, row, column, nil
}

// echoes reports whether the terminal shows what is typed.
func (term *Terminal) echoes() bool { return term.State().Lflag&unix.ECHO != 0 }

// Waits waits until the terminal shows what is typed, or no longer does.
func (term *Terminal) Waits(echo bool) {
	term.T.Helper()
	for deadline := time.Now().Add(patience); term.echoes() != echo; time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			term.T.Fatalf("echo is never %v; the terminal shows\n%s", echo, term.Text())
		}
	}
}
