package secrets

import (
	"strings"

	"vbot/internal/secret"
)

// The rules for names are the API's (openapi.json) or stricter: the API would refuse other names without a
// reason. Each function returns what is wrong, or "". Messages never repeat an argument, which may be a
// misplaced secret.

const maxName = 63 // characters

// NewNameFault checks the name of a secret that vbot may create.
func NewNameFault(name string) string {
	switch {
	case secret.IsName(name, maxName, "-"):
		return reservedFault(name)
	case secret.IsName(strings.ReplaceAll(name, "_", "-"), maxName, "-"):
		return "must not contain _; write - instead"
	}
	return "must be 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit"
}

// NameFault checks the name of a secret that another tool may have created.
func NameFault(name string) string {
	if secret.IsName(name, maxName, "-._") {
		return ""
	}
	return "must be 1 to 63 letters, digits, hyphens, dots and underscores, " +
		"and begin and end with a letter or digit"
}

// ReferenceNameFault checks the name of a Kubernetes Secret to register.
func ReferenceNameFault(name string) string {
	if fault := NameFault(name); fault != "" {
		return fault
	}
	return reservedFault(name)
}

// reservedFault refuses a name that is a route of the API.
func reservedFault(name string) string {
	if strings.EqualFold(name, "references") {
		return "the API reserves this name"
	}
	return ""
}

// KeyFault checks a key of a secret set.
func KeyFault(key string) string {
	if secret.IsKey(key) {
		return ""
	}
	return secret.KeyRule
}
