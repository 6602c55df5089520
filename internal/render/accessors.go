package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// WatchEntry is its entry of `services` in bot.py, as ruff formats it at 100 columns.
func (s Service) WatchEntry() string {
	name, label, keys := s.Name(), `"`+s.Label+`"`, `"`+s.Keys()+`"`
	line := name + ": Service(" + label + ", " + keys + ")"
	if len(line) <= 91 {
		return line
	}
	const indent = "\n            "
	if len(label+keys) <= 86 {
		return name + ": Service(" + indent + label + ", " + keys + "\n        )"
	}
	return name + ": Service(" + indent + label + "," + indent + keys + ",\n        )"
}

// ServiceNames are the names of the services in bot.py: "stt, llm, tts".
func (p *Project) ServiceNames() string {
	var names []string
	for _, s := range p.Services {
		names = append(names, s.Name())
	}
	return strings.Join(names, ", ")
}

// BuildArguments are those of build in bot.py: "transport, session".
func (p *Project) BuildArguments() string {
	arguments := "transport"
	if p.Recording || p.Transcription {
		arguments += ", runner_args"
	}
	if p.NeedsSession {
		arguments += ", session"
	}
	if p.CallsOut() && !p.OnlyCalls() {
		arguments += ", call"
	}
	return arguments
}

// LooksAtContext says whether bot.py asks how many messages there are.
func (p *Project) LooksAtContext() bool {
	return p.Telephony() && p.has("rtc_small") && !p.CallsOut()
}

// ServicesApart says whether bot.py builds the services in a function of their own, so
// that no function is longer than 70 lines, and so that models.py can call it.
func (p *Project) ServicesApart() bool {
	lines := 0
	for _, s := range p.Services {
		lines += 1 + strings.Count(s.Body, "\n")
	}
	for _, on := range []bool{p.Recording, p.Transcription, p.EnableObservability, p.HasServer(), p.Dial != ""} {
		if on {
			lines += 5
		}
	}
	return lines > 25 || len(p.LocalModels()) > 0
}

// CallImport is what bot.py imports from call.py: "from call import Call, recorder".
func (p *Project) CallImport() string {
	var names []string
	for _, n := range []struct {
		name string
		on   bool
	}{{"Call", p.HasServer()}, {"camera_tool", p.CanLook()}, {"end_call", p.Dial != ""}, {"handle_call", p.Dial == "pstn dial-in"}, {"log_transcript", p.Transcription}, {"noise_filter", p.EnableNoiseCancel && len(p.Entries()) > 0}, {"observe", p.EnableObservability}, {"recorder", p.Recording}, {"guard", p.Dial != ""}} {
		if n.on {
			names = append(names, n.name)
		}
	}
	if names == nil {
		return ""
	}
	return catalog.FromImport("call", names)
}

// HasPage says whether the bot serves a page of its own: server/page.html.
func (p *Project) HasPage() bool { return p.has("rtc_small") && p.ClientFramework == "" }

func (p *Project) Telephony() bool { return p.BotType == bot.BotTelephony }
func (p *Project) HasVideo() bool  { return p.VideoInput || p.VideoOutput }

// Entries are the transports that create_transport makes. Two may share an entry:
// Daily's rooms, and calls that come into them.
func (p *Project) Entries() (entries []Service) {
	for _, t := range p.Transports {
		if t.Key != "" && !slices.ContainsFunc(entries, func(e Service) bool { return e.Key == t.Key }) {
			entries = append(entries, t)
		}
	}
	return entries
}

// Shared are the parameters, indented for a function, that several of the entries have in
// common, if that saves lines. "" if there are none.
func (p *Project) Shared() (shared string) {
	saves, users := 0, map[string]int{}
	for _, e := range p.Entries() {
		_, parameters, _ := strings.Cut(e.Body, "(")
		users[parameters]++
		if lines := strings.Count(parameters, "\n"); (users[parameters]-1)*lines-4 > saves {
			saves, shared = (users[parameters]-1)*lines-4, parameters
		}
	}
	return shared
}

// Params is the code that makes the parameters of the transport, where those are shared.
func (s Service) Params(shared string) string {
	class, parameters, _ := strings.Cut(s.Body, "(")
	if shared != "" && parameters == shared {
		return "shared(" + class + ")"
	}
	return s.Body
}

// CanLook says whether the language model has a tool to see the camera: realtime
// services are shown it anyway.
func (p *Project) CanLook() bool { return p.VideoInput && p.Mode == bot.ModeCascade }

// StartsWithContext says whether the model hears nothing before it is given a
// context, be it empty.
func (p *Project) StartsWithContext() bool {
	return p.Realtime != nil && p.Realtime.Starts == "context"
}

// CallsOut says whether the bot calls people.
func (p *Project) CallsOut() bool { return strings.HasSuffix(p.Dial, "dial-out") }

// OnlyCalls says whether every session is a call that server.py starts.
func (p *Project) OnlyCalls() bool {
	return p.HasServer() && len(p.Entries()) == 0 && !p.EnableEval
}

// ClientPackage is the transport's package for browsers, and ClientRange the range of versions
// that was tested: "^1.6.9".
func (s Service) ClientPackage() string { name, _, _ := strings.Cut(s.Client, " "); return name }
func (s Service) ClientRange() string   { _, versions, _ := strings.Cut(s.Client, " "); return versions }

// HasServer says whether server.py starts the calls.
func (p *Project) HasServer() bool { return p.DialParams != "" }

// A hostRow is a row of DEPLOY.md's table of hosts.
type hostRow struct{ Host, Port, For string }

// Hosts are the hosts that the bot contacts, each address once.
func (p *Project) Hosts() (rows []hostRow) {
	for _, s := range slices.Concat(p.Services, p.Transports) {
		for _, h := range s.Hosts {
			name, port, _ := strings.Cut(h.Address, ":")
			row := hostRow{name, strings.Replace(cmp.Or(port, "443"), "/udp", ", UDP", 1), s.Label}
			if h.Note != "" {
				row.For += ": " + h.Note
			}
			i := slices.IndexFunc(rows, func(r hostRow) bool { return r.Host == row.Host && r.Port == row.Port })
			switch {
			case i < 0:
				rows = append(rows, row)
			case rows[i].For != row.For:
				rows[i].For += "; " + row.For
			}
		}
	}
	return rows
}

// OtherPorts are the TCP ports other than 443 at which the bot contacts hosts.
func (p *Project) OtherPorts() (ports []string) {
	for _, row := range p.Hosts() {
		udp := strings.HasSuffix(row.Port, "UDP")
		if !udp && row.Port != "443" && row.Host != "localhost" && !slices.Contains(ports, row.Port) {
			ports = append(ports, row.Port)
		}
	}
	return ports
}

// UsesUDP says whether the bot sends audio over UDP.
func (p *Project) UsesUDP() bool {
	return p.Dial != "" || p.has("rtc_small") || p.has("rtc_hosted") || p.has("rtc_room")
}

// LocalModels are the services whose models self_host.py loads before the first session.
func (p *Project) LocalModels() (models []Service) {
	for _, s := range p.Services {
		if p.SelfHost && s.Model.Megabytes > 0 {
			models = append(models, s)
		}
	}
	return models
}

func (p *Project) PhoneTransports() (phones []Service) {
	for _, t := range p.Transports {
		if t.Service.Telephony && t.Generic == "" {
			phones = append(phones, t)
		}
	}
	return phones
}

// StartsByRequest says whether POST /start begins sessions.
func (p *Project) StartsByRequest() bool {
	return p.has("rtc_small") || p.has("rtc_room") || p.has("rtc_hosted") || p.has("websocket")
}

// Offline lists the variables with which the bot needs no internet: addresses of one's
// own servers, and which models. There are none if a service is only elsewhere, or if
// every transport is.
func (p *Project) Offline() (lines []string) {
	if !p.has("rtc_small") && !p.has("rtc_room") && !p.has("websocket") {
		return nil
	}
	for _, s := range p.Services {
		here := s.Local()
		before := len(lines)
		for _, v := range s.Env {
			if v.Kind == "url" || here && (v.Kind == "model" || v.Kind == "path") {
				lines = append(lines, "`"+v.Name+"`: "+v.Note)
			}
		}
		if len(lines) == before && !here {
			return nil
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Charges says whether the bot uses anything that charges.
func (p *Project) Charges() bool {
	hosted := func(s Service) bool { return !s.Local() }
	return slices.ContainsFunc(p.Services, hosted) || p.has("rtc_hosted") || p.Dial != "" || len(p.PhoneTransports()) > 0
}

// BaseLanguage is the language without script and region, "" if none is set.
func (p *Project) BaseLanguage() string {
	base, _, _ := strings.Cut(string(p.Language), "-")
	return base
}

// English says whether the bot speaks English, as one without a language does.
func (p *Project) English() bool { return p.Language == "" || p.BaseLanguage() == "en" }

// Summary says who listens, thinks and speaks, in a sentence.
func (p *Project) Summary() string {
	s := ""
	if p.Realtime != nil {
		s = p.Realtime.Label + " listens and speaks"
	} else {
		s = fmt.Sprintf("%s listens, %s thinks, %s speaks", p.STT.Label, p.LLM.Label, p.TTS.Label)
	}
	if p.Video != nil {
		s += ", " + p.Video.Label + " shows a face"
	}
	return s + "."
}

// LocalNames are the services that run on the owner's machines: "Moonshine, Ollama and Piper".
func (p *Project) LocalNames() string {
	var names []string
	for _, s := range p.Services {
		if s.Local() {
			names = append(names, s.Label)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Downloads are the hosts from which models come that run in the bot.
func (p *Project) Downloads() (hosts []string) {
	for _, s := range p.Services {
		for _, h := range s.Hosts {
			if strings.HasSuffix(h.Note, "at the first start") && !slices.Contains(hosts, h.Address) {
				hosts = append(hosts, h.Address)
			}
		}
	}
	return hosts
}
