package cloudcmd

import (
	"errors"
	"strings"

	"vbot/internal/secret"
)

// The rules for names are the API's (openapi.json) or stricter: the API would refuse other names without a
// reason. Errors never repeat an argument, which may be a misplaced secret.

const maxName = 63 // characters

// CheckNewName checks the name of a secret that vbot may create.
func CheckNewName(name string) error {
	switch {
	case secret.IsName(name, maxName, "-"):
		return checkReserved(name)
	case secret.IsName(strings.ReplaceAll(name, "_", "-"), maxName, "-"):
		return errors.New("must not contain _; write - instead")
	}
	return errors.New("must be 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit")
}

// CheckName checks the name of a secret that another tool may have created.
func CheckName(name string) error {
	if secret.IsName(name, maxName, "-._") {
		return nil
	}
	return errors.New("must be 1 to 63 letters, digits, hyphens, dots and underscores, " +
		"and begin and end with a letter or digit")
}

// CheckReferenceName checks the name of a Kubernetes Secret to register.
func CheckReferenceName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return checkReserved(name)
}

// checkReserved checks that a name is not a route of the API.
func checkReserved(name string) error {
	if strings.EqualFold(name, "references") {
		return errors.New("the API reserves this name")
	}
	return nil
}

// CheckKey checks a key of a secret set.
func CheckKey(key string) error {
	if secret.IsKey(key) {
		return nil
	}
	return errors.New(secret.KeyRule)
}
