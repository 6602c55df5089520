package cloud

import (
	"errors"
	"fmt"
	"strings"
)

// A Ref identifies the secret of a request. Type and Region are "" for any.
type Ref struct {
	Name   string `json:"name" text:"identifier"`
	Type   string `json:"type" text:"identifier"`
	Region string `json:"region" text:"identifier"`
}

// An Entry is a secret set or image pull secret in a response.
type Entry struct{ payload }

// A payload has the keys that vbot reads in responses, and in the elements of their lists. See decode for the
// tag text.
type payload struct {
	Ref
	Status  string  `json:"status" text:"identifier"`
	Source  string  `json:"source" text:"identifier"`
	Message string  `json:"errorMessage" text:"prose"`
	Error   string  `json:"error" text:"prose"`
	Denied  isFalse `json:"success"`
}

// An isFalse is true for the JSON value false, and false for any other value: the API's documents do not
// describe the key.
type isFalse bool

// UnmarshalJSON never fails.
func (f *isFalse) UnmarshalJSON(data []byte) error {
	*f = string(data) == "false"
	return nil
}

// matches returns an error if the response reports one, or is not about the secret that was asked for.
func (p *payload) matches(ref Ref) error {
	if p.Error != "" {
		return errors.New("error: " + p.Error)
	}
	if p.Denied {
		return errors.New("success is false")
	}
	for _, field := range []struct{ name, got, want string }{
		{"name", p.Name, ref.Name},
		{"type", p.Type, ref.Type},
		{"region", p.Region, ref.Region},
	} {
		if field.got != "" && field.want != "" && field.got != field.want {
			return fmt.Errorf("%s %s instead of %s", field.name, field.got, field.want)
		}
	}
	return nil
}

// checkMessage is matches for a response that is not about one secret: any message is an error.
func (p *payload) checkMessage(ref Ref) error {
	if err := p.matches(ref); err != nil {
		return err
	}
	if p.Message != "" {
		return errors.New("error: " + p.Message)
	}
	return nil
}

// check checks a response that describes one secret.
func (p *payload) check(ref Ref) error {
	if err := p.matches(ref); err != nil {
		return err
	}
	switch {
	case p.Name == "":
		return errors.New("no name")
	case p.Status == StatusFailed:
		return errors.New(p.FailedText())
	case p.Message != "":
		return errors.New("error: " + p.Message)
	}
	return nil
}

// Kind returns vbot's name for the type. Unknown types are returned unchanged.
func (r Ref) Kind() string {
	switch r.Type {
	case TypeSet:
		return KindSet
	case TypeImagePull:
		return KindImagePull
	}
	return r.Type
}

// The API's types, and vbot's names for them.
const (
	TypeSet       = "secret"
	TypeImagePull = "imagePullSecret"
	KindSet       = "secret_set"
	KindImagePull = "image_pull_secret"
)

// Statuses of secrets. The API may have others.
const (
	StatusReady  = "ready"
	StatusFailed = "failed"
)

// SourceReferenced marks a set that refers to a Kubernetes Secret in the organization's
// own cluster. The API knows neither its keys nor its values.
const SourceReferenced = "referenced"

// FailedText says that the status is failed, and why if the API said so.
func (p *payload) FailedText() string {
	return strings.TrimSuffix("its status is failed: "+p.Message, ": ")
}
