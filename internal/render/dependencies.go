package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/bot"
)

// dotenvRange is the range of python-dotenv versions that settings.py needs: from 1.2 on,
// PYTHON_DOTENV_DISABLED keeps the framework from reading .env, too.
const dotenvRange = "python-dotenv>=1.2,<2"

// webhooksRange is the range of versions of the package that signs what vbot/records sends; older ones need
// other packages.
const webhooksRange = "standardwebhooks>=1.1,<2"

// dependencies returns the packages for pyproject.toml, and the oldest Python that all of them support.
func (d *Data) dependencies() (packages []string, floor string) {
	extras := map[string]bool{
		"runner":  true,
		"silero":  d.Mode == bot.ModeCascade, // a realtime model detects turns itself
		"tracing": d.EnableObservability,
	}
	newest := pythonFloor
	for _, s := range d.all() {
		for _, e := range s.Extras {
			extras[e] = true
		}
		minor, _ := strconv.Atoi(strings.TrimPrefix(s.Python, ">=3."))
		newest = max(newest, minor)
		packages = append(packages, s.Pip...)
	}
	if d.EnableObservability {
		packages = append(packages,
			"opentelemetry-exporter-otlp-proto-http>=1.33,<2",
			"pipecat-ai-whisker>=2.0.1,<3")
	}
	if d.SelfHost {
		packages = append(packages, "prometheus-client>=0.22,<1")
		for _, t := range d.Transports {
			packages = append(packages, t.SelfHostPip...)
		}
	}
	maps.DeleteFunc(extras, func(_ string, on bool) bool { return !on })
	list := strings.Join(slices.Sorted(maps.Keys(extras)), ",")
	framework := "pipecat-ai[" + list + "]" + frameworkRange
	packages = append([]string{framework, dotenvRange, webhooksRange}, packages...)
	return packages, fmt.Sprintf("3.%d", newest)
}
