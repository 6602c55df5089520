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
	"unicode/utf16"
	"unicode/utf8"
)

// Error codes of the JSON contract. Scripts match on them, so they never change.
const (
	codeUsage         = "usage"          // the command line cannot be parsed, or vbot cannot ask for an answer
	codeInvalidConfig = "invalid_config" // options or an input file ask for something impossible
	codeConflict      = "conflict"       // existing files are in the way
	codeDeclined      = "declined"       // a person answered no
	codeInterrupted   = "interrupted"
	codeIO            = "io"
	codeUnauthorized  = "unauthorized" // not signed in, or the API rejects the token
	codeForbidden     = "forbidden"
	codeNotFound      = "not_found"
	codeRejected      = "rejected"    // refused by the API, or because the API would
	codeUnavailable   = "unavailable" // no answer; a later try may succeed
	codeTimeout       = "timeout"
	codePartial       = "partial" // some keys are stored
	codeDiffers       = "differs" // a comparison found a difference; the listing stands on stdout
	codeFailed        = "failed"  // anything else
)

// A failure is an error with a code for scripts and text for people.
type failure struct {
	Code     string
	Message  string
	Problems []problem
	hint     string // what to do next; printed last
	result   any    // what succeeded nevertheless, for --json
	err      error  // the cause, or nil
}

// A failureEnvelope is what --json prints when a command fails.
type failureEnvelope struct {
	Error  failureAnswer `json:"error"`
	Result any           `json:"result,omitempty"` // what a success would have printed
}

// A failureAnswer is the JSON of a failure.
type failureAnswer struct {
	Code       string    `json:"code" enum:"usage,invalid_config,conflict,declined,interrupted,io,unauthorized,forbidden,not_found,rejected,unavailable,timeout,partial,differs,failed"`
	Message    string    `json:"message"`
	Retryable  bool      `json:"retryable"`   // the same command may succeed later
	HTTPStatus *int      `json:"http_status"` // of the API's answer, if there was one
	Hint       orNull    `json:"hint"`        // what to do
	Problems   []problem `json:"problems"`
}

// A problem is one mistake, shown as one line of text.
type problem struct {
	Field   string   `json:"field"` // configuration key, argument, variable or file:line
	Message string   `json:"message"`
	Allowed []string `json:"allowed"`
	where   string   // the field as shown to people: "--stt (stt_service)"
	names   string   // the allowed values as shown to people; "" if these are Allowed
	missing bool     // an option was not given, as opposed to wrong
}

func (f *failure) Error() string {
	if f.Message == "" && len(f.Problems) > 0 {
		return f.Problems[0].line()
	}
	return f.Message
}

func (f *failure) Unwrap() error { return f.err }

// text returns what a person sees: the problems below the message, if there is one.
func (f *failure) text(colour bool) string {
	start := "error: "
	if colour {
		start = "\x1b[1;31merror:\x1b[m "
	}
	var b strings.Builder
	if f.Message != "" {
		b.WriteString(start + printable(f.Message) + "\n")
		start = "  "
	}
	for _, p := range f.Problems {
		b.WriteString(start + printable(p.line()) + "\n")
	}
	if hint := f.advice(); hint != "" {
		b.WriteString("hint: " + printable(hint) + "\n")
	}
	return b.String()
}

// advice returns what to do, or "".
func (f *failure) advice() string {
	if e, ok := errors.AsType[coded](f); ok && f.hint == "" {
		return e.Hint()
	}
	return f.hint
}

// forJSON keeps arrays from being null. If there are only problems, the message is the
// first of them.
func (f *failure) forJSON() failureAnswer {
	out := failureAnswer{Code: f.Code, Message: printable(f.Error()), Hint: orNull(printable(f.advice())), Problems: []problem{}}
	if more := len(f.Problems) - 1; f.Message == "" && more > 0 {
		out.Message += "; and " + plural(more, "more problem")
	}
	switch f.Code {
	case codeInterrupted, codeTimeout, codePartial:
		out.Retryable = true
	}
	if e, ok := errors.AsType[coded](f); ok {
		out.Retryable = out.Retryable || e.Retryable()
		if status := e.HTTPStatus(); status != 0 {
			out.HTTPStatus = &status
		}
	}
	for _, p := range f.Problems {
		p.Message = printable(p.Message)
		if p.Allowed == nil {
			p.Allowed = []string{}
		}
		out.Problems = append(out.Problems, p)
	}
	return out
}

// exitCode is the only mapping from codes to exit codes.
func (f *failure) exitCode() int {
	switch f.Code {
	case codeUsage, codeInvalidConfig:
		return 2
	case codeInterrupted:
		return 130
	}
	return 1
}

// line returns the problem as one line: where, what, and the allowed values.
func (p problem) line() string {
	s := p.Message
	if p.where != "" {
		s = p.where + ": " + s
	}
	if p.names != "" {
		s += "; " + p.names
	} else if len(p.Allowed) > 0 {
		s += "; allowed: " + strings.Join(p.Allowed, ", ")
	}
	return strings.ReplaceAll(s, "\n", " ") // a key in a file may contain one
}

// A coded error knows what the contract says about it.
type coded interface {
	error
	Code() string
	Retryable() bool
	HTTPStatus() int // 0 if there was no answer
	Hint() string
}

// asFailure returns the failure in err's chain, or converts err to one.
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

// oneProblem returns a failure with a single problem.
func oneProblem(code, field, where, format string, args ...any) *failure {
	return &failure{Code: code, Problems: []problem{{Field: field, where: where, Message: fmt.Sprintf(format, args...)}}}
}

// withResult adds to err what succeeded nevertheless.
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

// isHidden reports whether a terminal shows nothing for r: it is a control,
// bidirectional, zero-width or filling character. With those, text from files, names
// or servers could move the cursor or look like another text.
func isHidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// printable drops what is hidden.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, s)
}

// writeJSON writes v as indented JSON, without the HTML escapes of <, > and &. It
// escapes what is hidden: a name in it stays the same name.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	var out []byte
	for _, r := range b.String() {
		if !isHidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	_, err := w.Write(out)
	return err
}

// didYouMean returns " (did you mean X?)", or "" if there is no suggestion.
func didYouMean(likely string) string {
	if likely == "" {
		return ""
	}
	return " (did you mean " + likely + "?)"
}

// nearest returns the name with the fewest edits from word, the first of equals. If
// the edits exceed a third of the word's length, it returns the first name that
// begins with word, or "".
func nearest(word string, names []string) string {
	length := len([]rune(word))
	best, limit := "", max(1, length/3)+1
	if length < 2 {
		return ""
	}
	for _, name := range names {
		n := len([]rune(name))
		if n < 2 || max(n-length, length-n) >= limit { // too many edits already
			continue
		}
		if d := edits(strings.ToLower(word), name); d < limit {
			best, limit = name, d
		}
	}
	for _, name := range names {
		if best == "" && len(word) > 2 && strings.HasPrefix(name, word) {
			best = name
		}
	}
	return best
}

// edits returns the edit distance from a to b: insertions, deletions, changes and
// swaps of neighbouring letters.
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

// plural returns "1 file", "2 files".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// orNull is a string that becomes null in JSON when it is empty.
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

// rootCause removes the operation and path of an fs.PathError.
func rootCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
