//go:build nocreate

package templates

import "embed"

// Files are the completion scripts and the help pages: all that a vbot without init needs.
//
//go:embed completion/vbot.* help/*.txt
var Files embed.FS
