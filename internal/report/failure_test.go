package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

// What is wrong with a command line is one failure: problems of usage come first, and one wrong value makes
// it invalid_config.
func TestFailureOfProblems(t *testing.T) {
	var none, usage, both Problems
	if err := none.Err(); err != nil {
		t.Errorf("no problems: %v", err)
	}
	usage.Add("name", "NAME", "missing").Usage = true
	if f := As(usage.Err()); f.Code != Usage || f.ExitCode() != 2 {
		t.Errorf("%+v", f)
	}
	both.Add("a", "--a", "is wrong").Hint = "try b"
	both.Add("name", "NAME", "missing").Usage = true
	both.Add("c", "--c", "is wrong, %s", "too").Hint = "try d"
	f := As(both.Err())
	var lines []string
	for _, p := range f.Problems {
		lines = append(lines, p.Line())
	}
	want := []string{"NAME: missing", "--a: is wrong", "--c: is wrong, too"}
	if f.Code != InvalidConfig || f.Hint != "try b" || !slices.Equal(lines, want) {
		t.Errorf("%+v", f)
	}
}

func TestFailureAsText(t *testing.T) {
	problem := Problem{Field: "stt", Where: "--stt", Message: "unknown", Allowed: []string{"a", "b"}}
	named := Problem{Message: "unknown\nvalue", Allowed: []string{"a"}, Names: "see the list"}
	for _, c := range []struct {
		failure Failure
		colour  bool
		want    string
	}{
		{failure: Failure{Code: IO, Message: "reading x: no"}, want: "error: reading x: no\n"},
		{failure: Failure{Code: IO, Message: "no"}, colour: true, want: "\x1b[1;31merror:\x1b[m no\n"},
		{failure: Failure{Code: Declined, Message: "cancelled"}, colour: true, want: "cancelled\n"},
		{
			failure: Failure{Code: Usage, Problems: []Problem{problem, named}, Hint: "try c"},
			want: "error: --stt: unknown; allowed: a, b\nerror: unknown value; see the list\n" +
				"hint: try c\n",
		},
		{
			failure: Failure{Code: Conflict, Message: "in the way", Problems: []Problem{problem}},
			want:    "error: in the way\n  --stt: unknown; allowed: a, b\n",
		},
	} {
		if got := c.failure.Text(c.colour); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestFailureAsJSON(t *testing.T) {
	problems := []Problem{
		{Field: "a", Message: "one", Where: "A", AtLine: 2, AtColumn: 5},
		{Field: "b", Message: "two"},
	}
	for _, c := range []struct {
		failure Failure
		result  any
		want    string
	}{
		{
			failure: Failure{Code: Unavailable, Message: "m", Hint: "h", Retryable: true, HTTPStatus: 503},
			want: `{"error":{"code":"unavailable","message":"m","retryable":true,"http_status":503,` +
				`"hint":"h","problems":[]}}`,
		},
		{
			failure: Failure{Code: Usage, Problems: problems, MaybeApplied: true},
			result:  1,
			want: `{"error":{"code":"usage","message":"A: one; and 1 more problem","retryable":false,` +
				`"http_status":null,"hint":null,"problems":[{"field":"a","message":"one","allowed":[],` +
				`"line":2,"column":5},{"field":"b","message":"two","allowed":[],"line":null,"column":null}` +
				`]},"result":1}`,
		},
	} {
		got, err := json.Marshal(c.failure.JSON(c.result))
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v\nwant %s", got, err, c.want)
		}
	}
}

// Every error becomes a failure with a code and an exit code.
func TestAs(t *testing.T) {
	wrapped := fmt.Errorf("doing it: %w", Errorf(NotFound, "no %s", "x"))
	for _, c := range []struct {
		err  error
		code string
		exit int
	}{
		{Usagef("no"), Usage, 2},
		{wrapped, NotFound, 4},
		{fmt.Errorf("asking: %w", context.Canceled), Interrupted, 130},
		{errors.New("odd"), Failed, 1},
		{Errorf(Differs, ""), Differs, 3},
		{Errorf(Forbidden, ""), Forbidden, 5},
		{Errorf(Timeout, ""), Timeout, 6},
		{Errorf(Partial, ""), Partial, 7},
		{IOError("reading x", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}), IO, 1},
	} {
		f := As(c.err)
		if f.Code != c.code || f.ExitCode() != c.exit || !HasCode(c.err, c.code) {
			t.Errorf("%v: %s, %d", c.err, f.Code, f.ExitCode())
		}
	}
	if HasCode(nil, Failed) {
		t.Error("no error has a code")
	}
	missing := &fs.PathError{Op: "open", Path: "y", Err: fs.ErrNotExist}
	if f := IOError("reading x", missing); f.Message != "reading x: file does not exist" {
		t.Errorf("%s", f.Message)
	}
}
