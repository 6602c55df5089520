// Package templates holds the texts in vbot: the sources of all generated files, the help
// pages, the completion scripts, and the JSON Schemas, which a test makes.
package templates

import "embed"

// Files are the files of this folder. The patterns match files: a folder would omit
// .env.example, or with `all:` include the caches of linters.
//
//go:embed *.tmpl */*.tmpl */*/*.tmpl */*/*/*.tmpl */*/*/*/*.tmpl */*/*/*/*/*/*.tmpl
//go:embed services/*/*.py server/*.py completion/vbot.* help/*.txt schemas/*.json
var Files embed.FS
