package cloud

import (
	"strings"

	"vbot/internal/secret"
)

// The form of names in the API's paths, and of tokens.

// IsSegment reports whether s can be an organization or a region. Anything else might
// lead to another path of the API: servers and proxies may undo the escaping.
func IsSegment(s string) bool { return secret.IsName(s, 128, "._-") }

// SegmentRule describes what IsSegment accepts.
const SegmentRule = "must be letters, digits, hyphens, dots and underscores, " +
	"and begin and end with a letter or digit"

// IsToken reports whether s is not empty and fits in a header.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// TokenFault returns why s cannot be a token of the API, or "".
func TokenFault(s string) string {
	switch {
	case s == "":
		return "missing"
	case pastedAlong(s) != "":
		return pastedAlong(s)
	case !IsToken(s):
		return "must not contain white space, control characters or non-ASCII text"
	}
	return ""
}

// pastedAlong returns what was pasted together with a name or a token, or "".
func pastedAlong(s string) string {
	switch {
	case strings.HasPrefix(s, "Bearer "):
		return "begins with Bearer; leave that out"
	case strings.ContainsAny(s[:1]+s[len(s)-1:], "\"'"):
		return "is in quotes; leave them out"
	case strings.ContainsAny(s, "${}<>"): // $TOKEN, ${{ secrets.TOKEN }}, <token>, {"token": ...}
		return "is a placeholder or in brackets; pass the value itself"
	case isAssignment(s):
		return "begins with a name and =; leave that out"
	}
	return ""
}

// isAssignment reports whether s is a line such as VBOT_TOKEN=x, and not one that ends in the = of base64.
func isAssignment(s string) bool {
	name, value, _ := strings.Cut(s, "=")
	isVariable := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	return isVariable && strings.Trim(value, "=") != ""
}
