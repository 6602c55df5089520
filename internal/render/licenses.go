package render

import (
	"maps"
	"slices"
	"strings"

	"vbot/internal/catalog"
)

// packageLicenses are the SPDX expressions of what pyproject.toml names without a line `# license:` in the
// file of a service. e2e/test_golden_bots.py compares them with the packages.
var packageLicenses = map[string]string{
	"opentelemetry-exporter-otlp-proto-http": "Apache-2.0",
	"pipecat-ai":                             "BSD-2-Clause",
	"pipecat-ai-whisker":                     "BSD-2-Clause",
	"plivo":                                  "MIT",
	"prometheus-client":                      "Apache-2.0 AND BSD-2-Clause",
	"python-dotenv":                          "BSD-3-Clause",
	"standardwebhooks":                       "MIT",
}

// A licenseRow is a row of DEPLOY.md's table of licenses.
type licenseRow struct {
	License string   // an SPDX expression
	Of      []string // packages as code, and models in words
}

// Licenses returns the licenses of the packages that the bot asks for, of those that its services bring, and
// of models, in the order of the SPDX expressions.
func (d *Data) Licenses() (rows []licenseRow) {
	of := map[string][]string{}
	add := func(license string, names ...string) {
		for _, name := range names {
			if !strings.Contains(name, " ") {
				name = "`" + name + "`"
			}
			if !slices.Contains(of[license], name) {
				of[license] = append(of[license], name)
			}
		}
	}
	for _, requirement := range d.Dependencies {
		end := strings.IndexAny(requirement, "[<>=!~; ")
		if license := packageLicenses[requirement[:end]]; license != "" {
			add(license, requirement[:end])
		}
	}
	// The only ones that the framework needs in every bot, and that have such a license.
	add("LGPL-2.1-or-later", "num2words", "soxr")
	for _, s := range d.all() {
		for _, l := range s.Licenses {
			add(l.SPDX, l.Of...)
		}
	}
	if d.VideoInput && d.has(catalog.SmallWebRTC) { // otherwise pyproject.toml leaves it out
		add("Apache-2.0", "opencv-python-headless")
	}
	for _, license := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, licenseRow{license, of[license]})
	}
	return rows
}
