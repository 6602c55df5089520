package cloud

import "vbot/internal/secret"

type (
	Secret = secret.Value
	Pair   = secret.Pair
)

const KeyRule = secret.KeyRule

var (
	NewSecret = secret.New
	IsKey     = secret.IsKey
	IsName    = secret.IsName
)
