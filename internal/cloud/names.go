package cloud

import (
	"errors"
	"strings"

	"vbot/internal/secret"
)

// The form of names in the API's paths, and of tokens.

// IsSegment reports whether s can be an organization or a region. Anything else might
// lead to another path of the API: servers and proxies may undo the escaping.
func IsSegment(s string) bool { return secret.IsName(s, 128, "._-") }

// IsToken reports whether s is not empty and fits in a header.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// CheckSegment checks an organization or a region.
func CheckSegment(s string) error {
	if IsSegment(s) {
		return nil
	}
	return errors.New("must be letters, digits, hyphens, dots and underscores, " +
		"and begin and end with a letter or digit")
}

// CheckToken returns an error if s cannot be a token of the API.
func CheckToken(s string) error {
	if s == "" {
		return errors.New("missing")
	}
	if err := checkPasted(s); err != nil {
		return err
	}
	if !IsToken(s) {
		return errors.New("must not contain white space, control characters or non-ASCII text")
	}
	return nil
}

// checkPasted returns an error if more than a name or a token was pasted. s must not be empty.
func checkPasted(s string) error {
	switch {
	case strings.HasPrefix(s, "Bearer "):
		return errors.New("begins with Bearer; leave that out")
	case strings.ContainsAny(s[:1]+s[len(s)-1:], "\"'"):
		return errors.New("is in quotes; leave them out")
	case strings.ContainsAny(s, "${}<>"): // $TOKEN, ${{ secrets.TOKEN }}, <token>, {"token": ...}
		return errors.New("is a placeholder or in brackets; pass the value itself")
	case isAssignment(s):
		return errors.New("begins with a name and =; leave that out")
	}
	return nil
}

// isAssignment reports whether s is a line such as VBOT_TOKEN=x, and not one that ends in the = of base64.
func isAssignment(s string) bool {
	name, value, _ := strings.Cut(s, "=")
	isVariable := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	return isVariable && strings.Trim(value, "=") != ""
}
