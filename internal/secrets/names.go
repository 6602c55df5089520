package secrets

import (
	"strings"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// The rules for names are the API's (openapi.json) or stricter: the API would refuse other names without a
// reason. Messages never repeat an argument, which may be a misplaced secret.

// CheckNewName checks the name of a secret that vbot may create.
func CheckNewName(faults *report.Faults, name string) {
	switch {
	case secret.IsName(name, 63, "-"):
	case secret.IsName(strings.ReplaceAll(name, "_", "-"), 63, "-"):
		faults.Values.Add("name", "NAME", "must not contain _; write - instead")
	default:
		faults.Values.Add("name", "NAME",
			"must be 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit")
	}
	checkReserved(faults, name)
}

// CheckReferenceName checks the name of a Kubernetes Secret to register.
func CheckReferenceName(faults *report.Faults, name string) {
	CheckName(faults, name)
	checkReserved(faults, name)
}

// checkReserved refuses a name that is a route of the API.
func checkReserved(faults *report.Faults, name string) {
	if strings.EqualFold(name, "references") {
		faults.Values.Add("name", "NAME", "the API reserves this name")
	}
}

// CheckName checks the name of a secret that another tool may have created.
func CheckName(faults *report.Faults, name string) {
	if !secret.IsName(name, 63, "-._") {
		faults.Values.Add("name", "NAME", "must be 1 to 63 letters, digits, hyphens, dots and underscores, "+
			"and begin and end with a letter or digit")
	}
}

// CheckKey checks a key of a secret set.
func CheckKey(faults *report.Faults, key string) {
	if !secret.IsKey(key) {
		faults.Values.Add("key", "KEY", "%s", secret.KeyRule)
	}
}
