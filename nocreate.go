//go:build nocreate

package main

import (
	"embed"
	"io/fs"
	"slices"
	"strings"

	"vbot/internal/cli"
	"vbot/templates"
)

// With -tags nocreate, vbot has no command init, and contains nothing that makes projects.

const creates = false

var initCommand cli.Command // commandTree leaves it out

// configSchema returns nothing: there is no configuration file.
func configSchema(*cli.Env, string) (map[string]any, error) { return nil, nil }

// serviceKeys returns a function that knows no service.
func serviceKeys() func(key string) bool { return func(string) bool { return false } }

// helpPages returns the folder with the help pages, whose lines about init are left out.
func helpPages() fs.FS { return pages{templates.Files} }

type pages struct{ embed.FS }

func (p pages) ReadFile(name string) ([]byte, error) {
	page, err := p.FS.ReadFile(name)
	isAboutInit := func(line string) bool {
		words := append(strings.Fields(line), "", "")
		return words[0] == "init" || words[0] == "vbot" && words[1] == "init"
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(page), "\n"), isAboutInit)
	return []byte(strings.Join(lines, "")), err
}
