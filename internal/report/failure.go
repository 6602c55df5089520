// Package report has the failures of commands with their codes, the problems of a command line or a file, and
// text and JSON that are safe to print. Only Printer prints.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Error codes of the JSON contract. Scripts match on them, so they never change.
const (
	Usage         = "usage"          // the command line cannot be parsed, or vbot cannot ask for an answer
	InvalidConfig = "invalid_config" // options or an input file ask for something impossible
	Conflict      = "conflict"       // existing files are in the way
	Declined      = "declined"       // a person answered no
	Interrupted   = "interrupted"
	IO            = "io"
	Unauthorized  = "unauthorized" // not signed in, or the API rejects the token
	Forbidden     = "forbidden"
	NotFound      = "not_found"
	Rejected      = "rejected"    // the API refused it, or would
	Unavailable   = "unavailable" // no answer; a later try may succeed
	Timeout       = "timeout"
	Partial       = "partial" // some keys are stored
	Differs       = "differs" // a comparison found a difference, which stdout lists
	Failed        = "failed"  // anything else
)

// codes are all error codes, in the order of `vbot schema failure`.
var codes = []string{
	Usage, InvalidConfig, Conflict, Declined, Interrupted, IO, Unauthorized, Forbidden, NotFound, Rejected,
	Unavailable, Timeout, Partial, Differs, Failed,
}

// A Failure is the error of a command, with a code for scripts and text for people. Its fields are set where
// it is created; a function that wraps it copies them, as Reword does.
type Failure struct {
	Code         string // one of the codes above
	Message      string // "" if the problems say everything
	Effect       string // what the run has changed, such as "nothing was written"; ends the message; or ""
	Problems     Problems
	Hint         string // what to do next; printed last
	Retryable    bool   // the same command may succeed later
	HTTPStatus   int    // of the API's response; 0 if there was none
	MaybeApplied bool   // the request may have taken effect, as no valid response came
	Err          error  // the cause, or nil
}

// A Problem is one mistake, shown as one line of text.
type Problem struct {
	Field    string   `json:"field" about:"key, option, argument, variable, name, path, FILE:LINE, or empty"`
	Message  string   `json:"message" about:"what is wrong"`
	Allowed  []string `json:"allowed" about:"the values that are accepted; empty if unknown"`
	AtLine   Number   `json:"line" about:"line of the file, from 1; null if none applies"`
	AtColumn Number   `json:"column" about:"column of the line in characters, from 1; null if none applies"`
	Where    string   `json:"-"` // the field as shown to people: "--stt (stt_service)"
	Names    string   `json:"-"` // the allowed values as shown to people; "" if these are Allowed
	Missing  bool     `json:"-"` // an option was not given, rather than wrong
	// Usage says that the command line lacks something or has too much, as opposed to a wrong value.
	Usage bool   `json:"-"`
	Hint  string `json:"-"` // what to do about it, or ""
}

// Problems collects problems, so that a person reads all of them at once.
type Problems []Problem

// Add adds a problem, and returns it so that the caller can set its other fields.
func (p *Problems) Add(field, where, format string, args ...any) *Problem {
	*p = append(*p, Problem{Field: field, Where: where, Message: fmt.Sprintf(format, args...)})
	return &(*p)[len(*p)-1]
}

// AddAt adds a problem with a place in a file. The message begins with the place.
func (p *Problems) AddAt(at Place, field, format string, args ...any) *Problem {
	problem := p.Add(field, "", "%v: %s", at, fmt.Sprintf(format, args...))
	problem.AtLine, problem.AtColumn = Number(at.Line), Number(at.Column)
	return problem
}

// Err returns the failure with these problems, nil if there are none. Its code is Usage if all of them are
// about usage, else InvalidConfig. Problems about usage come first. The hint is the first one of a problem.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	f := &Failure{Code: Usage}
	var values []Problem
	for _, problem := range p {
		f.Hint = cmp.Or(f.Hint, problem.Hint)
		if problem.Usage {
			f.Problems = append(f.Problems, problem)
		} else {
			f.Code = InvalidConfig
			values = append(values, problem)
		}
	}
	f.Problems = append(f.Problems, values...)
	return f
}

func (f *Failure) Error() string {
	text := f.Message
	if text == "" && len(f.Problems) > 0 {
		text = f.Problems[0].Line()
		if more := len(f.Problems) - 1; more > 0 {
			text += "; and " + Plural(more, "more problem")
		}
	}
	if f.Effect != "" {
		text += "; " + f.Effect
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// Text returns the text for people: the message, if there is one, the problems, and the hint. It begins with
// "error:", unless a person declined or interrupted the command.
func (f *Failure) Text(colour bool) string {
	start := "error: "
	if f.Code == Declined || f.Code == Interrupted {
		start = ""
	} else if colour {
		start = "\x1b[1;31merror:\x1b[m "
	}
	var b strings.Builder
	if f.Message != "" {
		b.WriteString(start + Printable(f.Error()) + "\n")
		start = "  "
	}
	for _, p := range f.Problems {
		b.WriteString(start + Printable(p.Line()) + "\n")
	}
	if f.Message == "" && f.Effect != "" {
		b.WriteString(Printable(f.Effect) + "\n")
	}
	if f.Hint != "" {
		b.WriteString("hint: " + Printable(f.Hint) + "\n")
	}
	return b.String()
}

// FailureJSON is what --json prints when a command fails.
type FailureJSON struct {
	Error struct {
		Code       ErrorCode `json:"code" about:"what kind of failure it is"`
		Message    string    `json:"message" about:"what went wrong; of several problems, the first one"`
		Retryable  bool      `json:"retryable" about:"the same command may succeed later"`
		HTTPStatus Number    `json:"http_status" about:"status of the API's response; null if there was none"`
		Hint       OrNull    `json:"hint" about:"what to do"`
		Problems   []Problem `json:"problems" about:"each mistake"`
	} `json:"error" about:"why the command failed"`
	Result any `json:"result,omitempty" about:"what the command did or found nevertheless"`
}

// An ErrorCode is one of the codes above in JSON.
type ErrorCode string

// Enum returns the allowed values, for the JSON Schema, in its order.
func (ErrorCode) Enum() []string { return codes }

// JSON returns what --json prints. result is what the command did or found nevertheless, or nil.
func (f *Failure) JSON(result any) FailureJSON {
	out := FailureJSON{Result: result}
	e := &out.Error
	e.Code = ErrorCode(f.Code)
	e.Message = Printable(f.Error())
	e.Retryable = f.Retryable
	e.HTTPStatus = Number(f.HTTPStatus)
	e.Hint = OrNull(Printable(f.Hint))
	e.Problems = []Problem{} // never null
	for _, p := range f.Problems {
		p.Message = Printable(p.Message)
		if p.Allowed == nil {
			p.Allowed = []string{}
		}
		e.Problems = append(e.Problems, p)
	}
	return out
}

// exitCodes maps error codes to exit codes. Codes that are not in it have exit code 1.
var exitCodes = map[string]int{
	Usage: 2, InvalidConfig: 2,
	Differs:      3,
	NotFound:     4,
	Unauthorized: 5, Forbidden: 5,
	Unavailable: 6, Timeout: 6,
	Partial:     7,
	Interrupted: 130,
}

// ExitCode returns the exit code of a command that fails with f.
func (f *Failure) ExitCode() int { return cmp.Or(exitCodes[f.Code], 1) }

// Line returns the problem as one line: where, what, and the allowed values.
func (p Problem) Line() string {
	s := p.Message
	if p.Where != "" {
		s = p.Where + ": " + s
	}
	if p.Names != "" {
		s += "; " + p.Names
	} else if len(p.Allowed) > 0 {
		s += "; allowed: " + strings.Join(p.Allowed, ", ")
	}
	return strings.ReplaceAll(s, "\n", " ") // a key in a file may contain one
}

// As returns the failure in err's chain, or converts err to one.
func As(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if errors.Is(err, context.Canceled) {
		return &Failure{Code: Interrupted, Message: "interrupted", Retryable: true}
	}
	return &Failure{Code: Failed, Message: err.Error(), Err: err}
}

// HasCode reports whether err is a failure with the code.
func HasCode(err error, code string) bool { return err != nil && As(err).Code == code }

// Reword returns err with another message, and without its effect.
func Reword(err error, format string, args ...any) *Failure {
	f := *As(err)
	f.Message, f.Effect, f.Err = fmt.Sprintf(format, args...), "", err
	return &f
}

// One returns a failure with a single problem.
func One(code, field, where, format string, args ...any) *Failure {
	var problems Problems
	problems.Add(field, where, format, args...).Usage = code == Usage
	return &Failure{Code: code, Problems: problems}
}

// Errorf returns a failure with a message.
func Errorf(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// About returns err with its message as a problem of the field, if it has no problems yet.
func About(field string, err error) *Failure {
	f := *As(err)
	if f.Problems == nil && f.Message != "" {
		f.Problems.Add(field, "", "%s", f.Message)
		f.Message = ""
	}
	return &f
}

// Usagef returns a failure for a command line that cannot be parsed.
func Usagef(format string, args ...any) error { return Errorf(Usage, format, args...) }

// IOError returns a failure for an attempt such as "reading NAME".
func IOError(attempt string, err error) *Failure {
	return &Failure{Code: IO, Message: fmt.Sprintf("%s: %v", attempt, Cause(err)), Err: err}
}

// Cancelled returns the failure of a run that a person ended before it changed anything. code is Declined or
// Interrupted; done is the participle of the change, such as "written".
func Cancelled(code, done string) *Failure {
	effect := "nothing was " + done
	return &Failure{Code: code, Message: "cancelled", Effect: effect, Retryable: code == Interrupted}
}

// Interruption returns the failure of a run that ended before it wrote anything.
func Interruption() *Failure { return Cancelled(Interrupted, "written") }
