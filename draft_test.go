package main

import (
	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/render"
)

// A draft has the files that a run writes for a bot.
type draft struct{ files map[string][]byte }

// newDraft returns the files of a bot with their record.
func newDraft(cat *catalog.Catalog, cfg *bot.Config, version string) (d draft, err error) {
	d.files, err = render.New(*cfg, cat, version).Files()
	if err == nil {
		err = project.AddRecord(version, *cfg, d.files)
	}
	return d, err
}
