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
// wheel: where uv has to fetch Python, it takes the newest that a project allows. e2e/services/newest
// compares it with the package index.
const pythonEnd = 15

// macs are those on which a bot runs: pipecat-ai requires onnxruntime, which has wheels for no others.
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
	Transports   []Service
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

// New returns the data of a valid configuration.
func New(cfg bot.Config, cat *catalog.Catalog, version string) *Data {
	d := &Data{
		Config:  cfg,
		cat:     cat,
		Version: version,
		Slug:    bot.Slug(cfg.ProjectName),
		Range:   frameworkRange,
		Macs:    macs,
	}
	for _, o := range []struct{ kind, id string }{
		{catalog.KindSTT, cfg.STTService},
		{catalog.KindLLM, cfg.LLMService},
		{catalog.KindTTS, cfg.TTSService},
		{catalog.KindRealtime, cfg.RealtimeService},
		{catalog.KindVideo, cfg.VideoService},
	} {
		if o.id != "" {
			d.Services = append(d.Services, d.find(o.kind, o.id))
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
	service := d.cat.Find(kind, id).Speaking(d.Language)
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
		id = d.cat.DialMode(id, d.DailyPSTNMode).ID
	case catalog.TwilioDailySIP:
		id = d.cat.DialMode(id, d.TwilioDailySIPMode).ID
	}
	s := d.find(catalog.KindTransport, id)
	arguments := []string{"=krisp_filter", "=noise_filter()"}
	if avatar := d.Video(); avatar != nil { // send its picture in its own size
		arguments = append(arguments, "=video_width", "="+avatar.Width)
		arguments = append(arguments, "=video_height", "="+avatar.Height)
	}
	s.Body = asExpression(s.Entry(), strings.NewReplacer(arguments...).Replace(s.Body))
	d.Transports = append(d.Transports, s)
}

// The services of the bot by kind, nil if it has none.

func (d *Data) STT() *Service      { return d.service(catalog.KindSTT) }
func (d *Data) LLM() *Service      { return d.service(catalog.KindLLM) }
func (d *Data) TTS() *Service      { return d.service(catalog.KindTTS) }
func (d *Data) Realtime() *Service { return d.service(catalog.KindRealtime) }
func (d *Data) Video() *Service    { return d.service(catalog.KindVideo) }

func (d *Data) service(kind string) *Service {
	for i := range d.Services {
		if d.Services[i].Kind == kind {
			return &d.Services[i]
		}
	}
	return nil
}

// ClientTransports are the transports with a package for browsers, which the web client can use.
func (d *Data) ClientTransports() []Service {
	hasNone := func(t Service) bool { return t.Client.Package == "" }
	return slices.DeleteFunc(slices.Clone(d.Transports), hasNone)
}

// NeedsSession reports whether a service takes an aiohttp session.
func (d *Data) NeedsSession() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.NeedsSession })
}

// NeedsTools reports whether the constructor of a service takes the tools.
func (d *Data) NeedsTools() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.NeedsTools })
}

// NeedsLoop reports whether the constructor of a service needs the event loop.
func (d *Data) NeedsLoop() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.Service.NeedsLoop })
}

// all are the services and the transports.
func (d *Data) all() []Service { return slices.Concat(d.Services, d.Transports) }

// isChoice reports whether the service is one of several ways to connect.
func (d *Data) isChoice(s Service) bool {
	return s.Kind == catalog.KindTransport && len(d.Transports) > 1
}

// has reports whether the bot has the transport with the id.
func (d *Data) has(id string) bool { return slices.Contains(d.Config.Transports, id) }

// dials reports whether the bot has the transport with the id in this dial mode.
func (d *Data) dials(id, mode string) bool {
	return slices.ContainsFunc(d.Transports, func(t Service) bool { return t.ModeOf == id && t.Mode == mode })
}

// Has reports whether the bot has the transport, for templates, which use its first name: "daily",
// "daily_pstn_dialin". It fails if there is no such transport.
func (d *Data) Has(name string) (bool, error) {
	t := d.cat.Find(catalog.KindTransport, name)
	switch {
	case t == nil || t.Names[0] != name:
		return false, fmt.Errorf("no transport is called %q", name)
	case t.ModeOf != "":
		return d.dials(t.ModeOf, t.Mode), nil
	}
	return d.has(t.ID), nil
}

// Reads reports whether a service reads the variable.
func (d *Data) Reads(name string) bool {
	_, ok := d.variable(name)
	return ok
}

// variable returns the variable of the first service that reads it.
func (d *Data) variable(name string) (v catalog.Variable, ok bool) {
	for _, s := range d.Services {
		for _, v := range s.Env {
			if v.Name == name {
				return v, true
			}
		}
	}
	return catalog.Variable{}, false
}
