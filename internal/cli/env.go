// Package cli implements the command line: the environment of a command, its options and arguments,
// dispatch, help, completion, and printing of results. It does not depend on any command.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"vbot/internal/files"
	"vbot/internal/report"
	"vbot/internal/system"
	"vbot/internal/tty"
)

// Env is what a command gets: the system that it runs on, its streams, and its command line.
type Env struct {
	system.System
	Stdin  io.Reader
	Stdout io.Writer
	// HandleSignals ends the command's context when a signal asks the program to end. Tests that run
	// commands in their own process leave it off.
	HandleSignals bool

	// The command line. Run sets these.
	Command string   // the command as typed: "vbot cloud secrets set"
	Args    []string // its arguments, without the options
	Typed   []string // its options and arguments, as typed
	JSON    bool     // --json was given
	NoInput bool     // --no-input was given

	stdinIsRead bool                         // a second option cannot read it
	terminal    atomic.Pointer[tty.Terminal] // nil before the first question
}

// Arg returns the argument with the index, "" if it was not given.
func (e *Env) Arg(i int) string {
	if i >= len(e.Args) {
		return ""
	}
	return e.Args[i]
}

// Expand replaces ~ at the beginning of a path with the home directory. A shell does so too, but not
// within quotes and not after --config=.
func (e *Env) Expand(path string) (string, error) {
	rest, isHome := strings.CutPrefix(path, "~")
	home := cmp.Or(e.Getenv("HOME"), e.Getenv("USERPROFILE"))
	switch {
	case !isHome:
		return path, nil
	case rest != "" && rest[0] != '/' && rest[0] != filepath.Separator:
		return "", fmt.Errorf("only ~ and ~/ are expanded; write the full path, or ./%s", path)
	case home == "":
		return "", errors.New("the home directory is unknown; write the full path")
	}
	return filepath.Join(home, rest), nil
}

// ReadAll reads a file or pipe of at most limit bytes; "-" is stdin, which can be read only once. Its errors
// do not name the file.
func (e *Env) ReadAll(ctx context.Context, name string, limit int64) ([]byte, error) {
	if name == "-" {
		if e.stdinIsRead {
			return nil, errors.New("already read for another option")
		}
		e.stdinIsRead = true
	}
	return interruptible(ctx, func() ([]byte, error) {
		in := e.Stdin
		if name != "-" {
			path, err := e.Expand(name)
			if err != nil {
				return nil, err
			}
			f, err := os.Open(e.Path(path))
			if err != nil {
				return nil, report.Cause(err)
			}
			defer f.Close()
			in = f
		}
		data, err := files.Read(in, limit)
		return data, report.Cause(err)
	})
}

// Terminal returns the terminal on which vbot asks: stdin and stderr. Call it only if both are terminals.
func (e *Env) Terminal() *tty.Terminal {
	if e.terminal.Load() == nil {
		in, _ := e.Stdin.(*os.File) // a terminal is a file
		plain := e.isDumb() || e.Getenv("VBOT_PLAIN_PROMPTS") != ""
		e.terminal.Store(tty.Open(in, e.Stderr, plain, e.Getenv("NO_COLOR") == "", report.Printable))
	}
	return e.terminal.Load()
}

// isDumb reports whether the terminal supports neither colors nor cursor movement, or is
// unknown, as on Windows.
func (e *Env) isDumb() bool {
	kind := e.Getenv("TERM")
	return kind == "" || kind == "dumb"
}

// hasColors reports whether messages on stderr may have colors (https://no-color.org).
func (e *Env) hasColors() bool {
	return tty.IsTerminal(e.Stderr) && !e.isDumb() && e.Getenv("NO_COLOR") == ""
}
