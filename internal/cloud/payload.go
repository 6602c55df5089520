package cloud

import (
	"cmp"
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

// A payload has the keys that vbot reads of responses, and of the elements of their lists. The tag text is
// that of decode.
type payload struct {
	Ref
	Status  string  `json:"status" text:"identifier"`
	Source  string  `json:"source" text:"identifier"`
	Message string  `json:"errorMessage" text:"prose"`
	Error   string  `json:"error" text:"prose"`
	Denied  isFalse `json:"success"`
}

// An isFalse is set if the response has false. Any other value counts as a missing one, as the API's
// documents do not describe the key.
type isFalse bool

// UnmarshalJSON never fails.
func (f *isFalse) UnmarshalJSON(data []byte) error {
	*f = string(data) == "false"
	return nil
}

// contradicts returns how the response contradicts what was asked for, or "".
func (r *payload) contradicts(asked Ref) string {
	if r.Error != "" {
		return "error: " + r.Error
	}
	if r.Denied {
		return "success is false"
	}
	differs := func(what, got, want string) string {
		if got == "" || want == "" || got == want {
			return ""
		}
		return fmt.Sprintf("%s %s instead of %s", what, got, want)
	}
	return cmp.Or(
		differs("name", r.Name, asked.Name),
		differs("type", r.Type, asked.Type),
		differs("region", r.Region, asked.Region),
	)
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

// incomplete returns what is missing in the response that describes a secret, or "".
func (r *payload) incomplete() string {
	switch {
	case r.Name == "":
		return "no name"
	case r.Status == StatusFailed:
		return r.Failed()
	}
	return r.complaint()
}

// complaint returns the error message of the response, or "".
func (r *payload) complaint() string {
	if r.Message == "" {
		return ""
	}
	return "error: " + r.Message
}

// Failed says that the status is failed, and why if the API said so.
func (r *payload) Failed() string {
	return strings.TrimSuffix("its status is failed: "+r.Message, ": ")
}
