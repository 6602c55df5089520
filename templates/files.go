//go:build !nocreate

// Package templates holds the texts in vbot: the sources of all generated files, the help
// pages, the completion scripts, and the list of paths
// that versions of vbot have written.
package templates

import "embed"

// Files are the files of this folder. The patterns match files: a folder would omit
// .env.example, or with `all:` include the caches of linters.
//
//go:embed *.tmpl */*.tmpl */*/*.tmpl */*/*/*.tmpl */*/*/*/*.tmpl */*/*/*/*/*/*.tmpl
//go:embed services/*/*.py server/*.py server/tests/*.py
//go:embed server/vbot/records/README.md server/vbot/records/schema.json
//go:embed server/vbot/*.py server/vbot/*/*.py server/vbot/*/*/*.py server/vbot/*/*/*/*.py
//go:embed completion/vbot.* help/*.txt paths.txt languages.txt translations/*.txt
var Files embed.FS
