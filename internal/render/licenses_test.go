package render

import (
	"regexp"
	"slices"
	"testing"

	"vbot/internal/bottest"
	"vbot/internal/catalog"
)

// expression has the form of an SPDX expression.
var expression = regexp.MustCompile(`^[\w-.]+( (AND|OR|WITH) [\w-.]+)*$`)

// packageName is the name at the beginning of a requirement.
var packageName = regexp.MustCompile(`^[\w-]+`)

// DEPLOY.md has the license of each package that pyproject.toml names.
func TestEveryPackageHasALicense(t *testing.T) {
	cat := catalog.New()
	for _, cfg := range bottest.Full(cat) {
		d := New(cfg, cat, "0.1.0")
		var listed []string
		for _, row := range d.Licenses() {
			listed = append(listed, row.Of...)
		}
		for _, requirement := range d.Dependencies {
			if name := packageName.FindString(requirement); !slices.Contains(listed, "`"+name+"`") {
				t.Errorf("%s has no license in %q", name, listed)
			}
		}
	}
	for _, kind := range append(slices.Clone(catalog.ServiceKinds), catalog.KindTransport) {
		for _, s := range cat.List(kind) {
			var listed []string
			for _, l := range s.Licenses {
				listed = append(listed, l.Of...)
			}
			for _, requirement := range s.Pip {
				if name := packageName.FindString(requirement); !slices.Contains(listed, name) {
					t.Errorf("%s: %s has no license", s.ID, name)
				}
			}
			for _, l := range s.Licenses {
				if !expression.MatchString(l.SPDX) {
					t.Errorf("%s: %q is no SPDX expression", s.ID, l.SPDX)
				}
			}
		}
	}
}
