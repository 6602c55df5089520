package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"unicode"
)

// The codes of the JSON contract. Scripts match on them: they never change.
const (
	codeUsage         = "usage"          // the command line could not be parsed, or nobody can be asked
	codeInvalidConfig = "invalid_config" // it was parsed, and asks for something that cannot be
	codeConflict      = "conflict"       // existing files are in the way
	codeDeclined      = "declined"       // a person said no
	codeInterrupted   = "interrupted"
	codeIO            = "io"
	codeUnauthorized  = "unauthorized" // not signed in, or the API does not know the token
	codeForbidden     = "forbidden"
	codeNotFound      = "not_found"
	codeRejected      = "rejected"    // the API understood, and refuses
	codeUnavailable   = "unavailable" // no answer, or "not now"; later may be better
	codeTimeout       = "timeout"
	codePartial       = "partial" // some of it was done
	codeFailed        = "failed"  // anything else
)

// A failure is an error that a person and a script can act on.
type failure struct {
	Code     string    `json:"code"`
	Message  string    `json:"message"`
	Problems []problem `json:"problems"`
	hint     string    // what to do, printed last
	result   any       // what was done all the same, for --json
	err      error     // the cause, if there is one
}

// A problem is one thing that is wrong: one line of text.
type problem struct {
	Field   string   `json:"field"` // the long configuration key or the argument's name
	Message string   `json:"message"`
	Allowed []string `json:"allowed"`
	where   string   // the field as the person knows it, "--stt (stt_service)"
	missing bool     // nothing was said that is wrong: something was not said
}

func (f *failure) Error() string {
	if f.Message == "" && len(f.Problems) > 0 {
		return f.Problems[0].line()
	}
	return f.Message
}

func (f *failure) Unwrap() error { return f.err }

// text is what a person reads of the failure of the command at path.
func (f *failure) text(path string) string {
	var b strings.Builder
	for _, p := range f.Problems {
		fmt.Fprintf(&b, "%s: %s\n", path, p.line())
	}
	if f.Message != "" {
		fmt.Fprintf(&b, "%s: %s\n", path, f.Message)
	}
	if f.hint != "" {
		fmt.Fprintln(&b, f.hint)
	}
	return printable(b.String())
}

// MarshalJSON fills in a message where the problems say it all, and keeps
// arrays from being null.
func (f *failure) MarshalJSON() ([]byte, error) {
	type plain failure
	out := plain(*f)
	if out.Message == "" {
		out.Message = plural(len(f.Problems), "problem")
	}
	out.Message = printable(out.Message)
	out.Problems = []problem{}
	for _, p := range f.Problems {
		p.Message = printable(p.Message)
		if p.Allowed == nil {
			p.Allowed = []string{}
		}
		out.Problems = append(out.Problems, p)
	}
	return json.Marshal(out)
}

// exitCode is the one place that maps failures to exit codes.
func (f *failure) exitCode() int {
	switch f.Code {
	case codeUsage, codeInvalidConfig:
		return 2
	case codeInterrupted:
		return 130
	}
	return 1
}

// line is the problem as text: where, what is wrong, what is allowed.
func (p problem) line() string {
	s := p.Message
	if p.where != "" {
		s = p.where + ": " + s
	}
	if len(p.Allowed) > 0 {
		s += "; allowed: " + strings.Join(p.Allowed, ", ")
	}
	return strings.ReplaceAll(s, "\n", " ") // a key of a file may hold one
}

// A coded error knows itself which code of the contract it has.
type coded interface {
	error
	Code() string
}

// asFailure finds the failure in err's chain, or makes one.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[coded](err); ok {
		return &failure{Code: e.Code(), Message: e.Error(), err: err}
	}
	if errors.Is(err, context.Canceled) {
		return interrupted()
	}
	return &failure{Code: codeFailed, Message: err.Error(), err: err}
}

// oneProblem is a failure that one problem makes.
func oneProblem(code, field, where, format string, args ...any) *failure {
	return &failure{Code: code, Problems: []problem{{Field: field, where: where, Message: fmt.Sprintf(format, args...)}}}
}

// withResult is err with what was done all the same.
func withResult(err error, result any) error {
	f := *asFailure(err)
	f.result = result
	return &f
}

func usageError(format string, args ...any) error {
	return &failure{Code: codeUsage, Message: fmt.Sprintf(format, args...)}
}

func interrupted() *failure {
	return &failure{Code: codeInterrupted, Message: "interrupted; nothing was written"}
}

// Text and JSON.

// printable drops control characters from text that may come from a file, a
// name or a server, so that it cannot move the cursor or forge a line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

// writeJSON writes v as indented JSON. It does not escape <, > and &, which
// encoding/json does for the sake of HTML.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// didYouMean is " (did you mean X?)" for the nearest of names, if one is near.
func didYouMean(word string, names []string) string {
	if best := nearest(word, names); best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ""
}

// nearest is the name that takes the fewest edits to reach from word, or "" if
// all are more than a third of the word away. Of equals, the first wins.
func nearest(word string, names []string) string {
	best, limit := "", max(1, len([]rune(word))/3)+1
	if len([]rune(word)) < 2 {
		return ""
	}
	for _, name := range names {
		if len([]rune(name)) < 2 {
			continue
		}
		if d := edits(strings.ToLower(word), name); d < limit {
			best, limit = name, d
		}
	}
	return best
}

// edits counts the letters to insert, delete, change or swap with a neighbour to
// get from a to b.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1)
	for i := range d {
		d[i] = make([]int, len(t)+1)
		d[i][0] = i
	}
	for j := range t {
		d[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			d[i+1][j+1] = d[i][j]
			if s[i] != t[j] {
				d[i+1][j+1] = 1 + min(d[i][j+1], d[i+1][j], d[i][j])
				if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
					d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
				}
			}
		}
	}
	return d[len(s)][len(t)]
}

// plural is "1 file", "2 files".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// orNull is a string that is null in JSON when it is empty: it does not apply.
type orNull string

func (s orNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

func quoteAll(words []string) (out []string) {
	for _, w := range words {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return out
}

// rootCause drops the operation and path that os adds to an error.
func rootCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
