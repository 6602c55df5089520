// Package render makes the files of a project from its configuration.
package render

import (
	"fmt"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// frameworkRange is the range of pipecat-ai versions that the templates were
// tested with.
const frameworkRange = ">=1.14,<2"

// pythonFloor is the minor version of Python 3 that pipecat-ai 1.14 needs; some services need more.
const pythonFloor = 11

// pythonEnd is the first minor version of Python 3 for which onnxruntime, which every bot needs, has no
// wheel. If uv has to download Python, it takes the newest version that a project allows.
// e2e/services/newest compares it with the package index.
const pythonEnd = 15

// macs says on which Macs a bot runs: pipecat-ai requires onnxruntime, which has wheels for no others.
// e2e/test_platforms.py compares that with the package index.
const macs = "Apple silicon and macOS 14 or later"

// Data is the data of the templates: a configuration and everything derived from it. New
// completes it, and nothing changes it afterwards.
type Data struct {
	bot.Config
	cat          *catalog.Catalog
	Version      string // of vbot
	Slug         string
	Range        string // of pipecat-ai
	Macs         string // on which it runs
	Dependencies []string
	PythonFloor  string    // the oldest Python that all packages support
	PythonLast   string    // the newest one
	PythonEnd    string    // the first one after it
	Services     []Service // in the order in which bot.py builds them
	Transports   []Service // those of Config.Transports; of one with dial modes, its mode
	StandIns     []standIn // of the services, in the same order; none without tests
	requirements []catalog.Requirement
	selfHost     []catalog.Variable // that self_host.py and deploy/ read, required ones first
	Env          []envGroup
	Pod          pod
}

// A Service is a service of the catalog as this bot uses it.
type Service struct {
	*catalog.Service
	Code
}

// New returns the data for a valid configuration.
func New(cfg bot.Config, cat *catalog.Catalog, version string) *Data {
	d := &Data{
		Config:  cfg,
		cat:     cat,
		Version: version,
		Slug:    bot.Slug(cfg.ProjectName),
		Range:   frameworkRange,
		Macs:    macs,
	}
	values := cfg.Values()
	for _, o := range bot.ServiceOptions {
		if id := values[o].Text; id != "" {
			d.Services = append(d.Services, d.find(o.Kind, id))
		}
	}
	for _, id := range cfg.Transports {
		d.addTransport(id)
	}
	if cfg.EnableEval {
		d.StandIns = d.standIns()
	}
	for _, s := range d.all() {
		d.requirements = append(d.requirements, s.Requirements(d.isChoice(s))...)
	}
	d.Pod = d.sizePod()
	d.selfHost = d.selfHostVariables()
	d.Env = d.envGroups()
	d.Dependencies, d.PythonFloor = d.dependencies()
	d.PythonLast, d.PythonEnd = fmt.Sprintf("3.%d", pythonEnd-1), fmt.Sprintf("3.%d", pythonEnd)
	return d
}

// find returns the service as this bot uses it.
func (d *Data) find(kind, id string) Service {
	service := d.cat.Find(kind, id).Speaking(d.LanguageTag())
	return Service{service, codeOf(service, map[string]bool{
		"language":     d.Language != "",
		"telephony":    d.Telephony(),
		"noise_cancel": d.EnableNoiseCancel,
		"video_in":     d.VideoInput,
		"video_out":    d.VideoOutput,
		"avatar":       d.VideoService != "",
	})}
}

// addTransport adds a transport. One with dial modes is generated from the file of its mode.
func (d *Data) addTransport(id string) {
	switch id {
	case catalog.DailyPSTN:
		id = d.cat.DialMode(id, string(d.DailyPSTNMode)).ID
	case catalog.TwilioDailySIP:
		id = d.cat.DialMode(id, string(d.TwilioDailySIPMode)).ID
	}
	s := d.find(catalog.KindTransport, id)
	arguments := []string{"=krisp_filter", "=noise_filter()"}
	if avatar := d.Video(); avatar != nil { // send its picture in its own size
		arguments = append(arguments, "=video_width", "="+avatar.Width)
		arguments = append(arguments, "=video_height", "="+avatar.Height)
	}
	_, constructor, _ := strings.Cut(s.Body, " = ") // params = DailyParams(...)
	s.Body = strings.NewReplacer(arguments...).Replace(constructor)
	d.Transports = append(d.Transports, s)
}

// all returns the services and the transports.
func (d *Data) all() []Service { return slices.Concat(d.Services, d.Transports) }
