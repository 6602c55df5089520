package dotenv

import (
	"fmt"
	"strings"
	"testing"
)

// long is a line of base64, wrapped at 76 columns.
var long = strings.Repeat("c2VjcmV0", 9) + "aGVh"

// A value without quotes that continues in the next line is refused, and no part of it is shown.
func TestWrappedValues(t *testing.T) {
	const (
		missing = "missing =; a value of several lines needs quotes"
		pem     = " a PEM without quotes; put one quote at each end of it, or store it from a file of its " +
			"own: --value-file KEY=PATH"
		noEnd = " a PEM without quotes and without its END line"
	)
	key := "-----BEGIN KEY-----\n" + long + "\n" + long + "\nc2VjcmV0LXRhaWw=\n-----END KEY-----"
	crlf := strings.ReplaceAll(key, "\n", "\r\n")
	for _, c := range []struct {
		name, in string
		want     string // the errs
	}{
		{name: "two lines", in: "K=" + long + "\nc2VjcmV0LXRhaWw=\nL=1", want: "2: " + continues},
		{name: "two padding characters", in: "K=" + long + "\nc2VjcmV0LXRhaA==", want: "2: " + continues},
		{name: "blanks", in: " K = " + long + " \r\n  c2VjcmV0LXRhaWw= \r\nL=1", want: "2: " + continues},
		{name: "CR", in: "export K=" + long + "\rc2VjcmV0LXRhaWw=\rL=1", want: "2: " + continues},
		{name: "as in a shell", in: "K=" + long + "\\\nc2VjcmV0LXRhaWw=", want: "2: " + continues},
		{name: "of /", in: "K=" + long + "\nc2Vj/mV0+XRhaWw=", want: "2: " + continues},
		{name: "for URLs", in: "K=" + long + "\nc2Vj_mV0-XRhaWw=", want: "2: " + continues},
		{name: "wrapped narrowly", in: "K=" + long[:32] + "\nc2VjcmV0LXRhaWw=", want: "2: " + continues},
		{
			name: "three lines",
			in:   "K=" + long + "\n" + long + "\nc2VjcmV0LXRhaWw=",
			want: "2: " + missing + "\n3: " + continues,
		},
		{
			name: "an end in capitals",
			in:   "K=" + long + "\n" + long + "\nU0VDUkVU5EVE0==\nL=1",
			want: "2: " + missing + "\n3: " + continues,
		},
		{
			name: "a refused value, and an empty one",
			in:   "K=" + long + "\n" + long + "\nEMPTY=",
			want: "2: " + missing + "\n3: EMPTY: the value is empty",
		},
		{name: "without a key", in: long + "\nc2VjcmV0LXRhaWw=", want: "1: " + missing + "\n2: " + continues},

		{name: "PEM", in: "A=1\nK=" + key + "\nL=1", want: "2: lines 2 to 6 are" + pem},
		{name: "PEM, CRLF", in: "K=" + crlf, want: "1: lines 1 to 5 are" + pem},
		{
			name: "PEM with blanks",
			in:   "K= " + key + " \nL=",
			want: "1: lines 1 to 5 are" + pem + "\n6: L: the value is empty",
		},
		{name: "PEM without its key", in: key + "\nL=1", want: "1: lines 1 to 5 are" + pem},
		{name: "PEM in the next line", in: "K=x\n" + key, want: "2: lines 2 to 6 are" + pem},
		{
			name: "two PEMs",
			in:   "K=" + key + "\n" + key + "\n",
			want: "1: lines 1 to 5 are" + pem + "\n6: lines 6 to 10 are" + pem,
		},
		{
			name: "headers of a PEM",
			in:   "K=-----BEGIN KEY-----\nProc-Type: 4,ENCRYPTED\nc2VjcmV0=x\nL='y\n-----END KEY-----",
			want: "1: lines 1 to 5 are" + pem,
		},
		{
			name: "PEM without its end",
			in:   "K=-----BEGIN KEY-----\n" + long + "\nc2VjcmV0=",
			want: "1: lines 1 to 3 are" + noEnd,
		},
		{name: "only the beginning", in: "K=-----BEGIN KEY-----", want: "1: line 1 is" + noEnd},
		{
			name: "a PEM behind a comment sign",
			in:   "# K=-----BEGIN KEY-----\n" + long + "\nc2VjcmV0LXRhaWw=\n-----END KEY-----",
			want: "2: " + missing + "\n3: " + continues + "\n4: " + missing,
		},
	} {
		got := read(c.in)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		for _, part := range []string{"c2Vj", "aGVh", "U0VD", "BEGIN", "Proc"} {
			if strings.Contains(got, part) {
				t.Errorf("%s: %s came out: %s", c.name, part, got)
			}
		}
	}
}

// Lines that only resemble a continued value are read as pairs.
func TestLinesThatContinueNothing(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"an empty value", "K=" + long + "\nEMPTY=\nL2_=", `K="` + long + `" EMPTY="" L2_=""`},
		{"small letters", "K=" + long + "\nlower_case=x==", `K="` + long + `" lower_case="x=="`},
		{"small letters, empty", "K=" + long + "\nlower_case=", `K="` + long + `" lower_case=""`},
		{"empty quotes", "K=" + long + "\nlower=\"\"", `K="` + long + `" lower=""`},
		{"one line", "K=" + long + "aA==\nlower=", `K="` + long + `aA==" lower=""`},
		{"short", "K=c2VjcmV0\nlower=", `K="c2VjcmV0" lower=""`},
		{"other characters", "K=" + long + ".x\nlower=", `K="` + long + `.x" lower=""`},
		{"in quotes", `K="` + long + "\"\nlower=", `K="` + long + `" lower=""`},
		{"a comment between", "K=" + long + "\n# and\nlower=", `K="` + long + `" lower=""`},
		{"a comment", "# K=" + long + "\nlower=", `lower=""`},
		{"a comment about a PEM", "K=v # not -----BEGIN\nL=w", `K="v" L="w"`},
		{
			"a PEM in one line", `K=-----BEGIN KEY-----\nMII=\n-----END KEY-----\n` + "\nL=w",
			`K="-----BEGIN KEY-----\\nMII=\\n-----END KEY-----\\n" L="w"`,
		},
		{
			"a PEM in single quotes", "K='-----BEGIN KEY-----\nMII=\n-----END KEY-----'",
			`K="-----BEGIN KEY-----\nMII=\n-----END KEY-----"`,
		},
	} {
		pairs, errs := Parse(c.in, true)
		var got []string
		for _, p := range pairs {
			got = append(got, fmt.Sprintf("%s=%q", p.Key, p.Value.Reveal()))
		}
		if got := strings.Join(got, " "); got != c.want || errs != nil {
			t.Errorf("%s: %s, %v\nwant %s", c.name, got, errs, c.want)
		}
	}
}

// A Secret of Kubernetes is YAML with base64 in it.
func TestSecretOfKubernetes(t *testing.T) {
	const data = "apiVersion: v1\ndata:\n  KEY: c2VjcmV0\nkind: Secret\n"
	if got := read(data); got != "1: "+kubernetesSecret {
		t.Error(got)
	}
}
