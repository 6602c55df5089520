package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A Result is what a command did or found. Text writes it for people. --json prints the result itself
// or, if it has a method JSON() any, what that method returns.
type Result interface {
	Text(*Printer)
}

// A Printer writes a result for people, in the order in which they read it: the result
// itself goes to stdout, messages about it go to stderr.
type Printer struct {
	Stdout   io.Writer // nil if the result is printed as JSON; then Text writes only messages
	Stderr   io.Writer
	Terminal bool  // stdout is a terminal
	Err      error // of the first failed write to stdout; after it, nothing is written there
}

// JSON reports whether the result is printed as JSON, so that messages need not repeat it.
func (p *Printer) JSON() bool { return p.Stdout == nil }

// Print writes a part of the result.
func (p *Printer) Print(text string) {
	if p.Stdout == nil || p.Err != nil || text == "" { // a full disk would fail an empty write, too
		return
	}
	_, p.Err = io.WriteString(p.Stdout, text)
}

// PrintFiles writes text from files unchanged, but to a terminal without characters that move the cursor.
func (p *Printer) PrintFiles(text string) {
	if p.Terminal {
		text = Printable(text)
	}
	p.Print(text)
}

// PrintJSON writes a result that is JSON even without --json.
func (p *Printer) PrintJSON(v any) {
	if p.Stdout != nil && p.Err == nil {
		p.Err = WriteJSON(p.Stdout, v)
	}
}

// PrintColumns writes text whose columns are separated by tabs.
func (p *Printer) PrintColumns(text string) { p.Print(Columns(text)) }

// Note writes a message.
func (p *Printer) Note(format string, args ...any) {
	fmt.Fprintln(p.Stderr, Printable(fmt.Sprintf(format, args...)))
}

// Columns aligns text whose columns are separated by tabs.
func Columns(text string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	io.WriteString(w, Printable(text))
	w.Flush()
	return b.String()
}
