package render

import (
	"cmp"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// Does says what the service does in a conversation: "listens".
func (s Service) Does() string {
	return map[string]string{
		catalog.KindSTT:      "listens",
		catalog.KindLLM:      "thinks",
		catalog.KindTTS:      "speaks",
		catalog.KindRealtime: "listens and speaks",
		catalog.KindVideo:    "shows a face",
	}[s.Kind]
}

// ServiceNames are the names of the services in bot.py: "stt, llm, tts".
func (d *Data) ServiceNames() string {
	var names []string
	for _, s := range d.Services {
		names = append(names, s.Name())
	}
	return strings.Join(names, ", ")
}

// StartCommand starts the bot for its transport that needs the least: a page of the bot or of a client, a
// room, or a telephone through a tunnel.
func (d *Data) StartCommand() string {
	const start = "uv run bot.py"
	hasPage := d.has(catalog.SmallWebRTC) || d.has(catalog.Daily) || d.has(catalog.WebSocket)
	phones := d.PhoneTransports()
	switch {
	case d.ClientFramework != "" || d.HasServer() || hasPage:
		return start
	case d.has(catalog.LiveKit):
		return start + " -t livekit"
	case d.has(catalog.DailyPSTN):
		return start + " -t daily"
	case len(phones) > 0:
		return start + " -t " + phones[0].Key + " -x YOUR_TUNNEL_HOST"
	}
	return start
}

// HasPage reports whether the bot serves a page of its own: server/page.html.
func (d *Data) HasPage() bool { return d.has(catalog.SmallWebRTC) && d.ClientFramework == "" }

func (d *Data) Telephony() bool { return d.BotType == bot.BotTelephony }
func (d *Data) HasVideo() bool  { return d.VideoInput || d.VideoOutput }

// Entry is the transport's key of TRANSPORTS in bot.py: the framework's, "dialin" for calls that Daily takes,
// and "call" for calls that webhooks.py starts.
func (s Service) Entry() string {
	switch {
	case s.isDialed():
		return "call"
	case s.ModeOf != "":
		return "dialin"
	}
	return s.Key
}

// Shared are the parameters, indented for a function, that several entries share, if that saves
// lines; otherwise "".
func (d *Data) Shared() (shared string) {
	saves, users := 0, map[string]int{}
	for _, e := range d.Transports {
		_, parameters, _ := strings.Cut(e.Body, "(")
		users[parameters]++
		if lines := strings.Count(parameters, "\n"); (users[parameters]-1)*lines-4 > saves {
			saves, shared = (users[parameters]-1)*lines-4, parameters
		}
	}
	return shared
}

// Params is the code for the parameters of the transport, which may be the shared ones.
func (s Service) Params(shared string) string {
	class, parameters, _ := strings.Cut(s.Body, "(")
	if shared != "" && parameters == shared {
		return "shared(" + class + ")"
	}
	return s.Body
}

// CanLook reports whether the language model has a tool to see the camera. Realtime
// services see it anyway.
func (d *Data) CanLook() bool { return d.VideoInput && d.Mode == bot.ModeCascade }

// StartsWithContext reports whether the model hears nothing before it receives a
// context, even an empty one.
func (d *Data) StartsWithContext() bool {
	return d.Realtime() != nil && d.Realtime().Starts == "context"
}

// DetectsVoicemail reports whether the bot detects answering machines. Realtime models cannot be asked
// whether one answered.
func (d *Data) DetectsVoicemail() bool { return d.CallsOut() && d.TTS() != nil }

// CallsOut reports whether the bot calls people.
func (d *Data) CallsOut() bool {
	return d.dials(catalog.DailyPSTN, bot.ModeDialOut) || d.dials(catalog.TwilioDailySIP, bot.ModeDialOut)
}

// isDialed reports whether webhooks.py starts the transport's calls.
func (s Service) isDialed() bool { return s.Key == "" }

// CallsOverDaily reports whether Daily connects telephone calls to the bot, in one of the dial modes.
func (d *Data) CallsOverDaily() bool {
	return d.has(catalog.DailyPSTN) || d.has(catalog.TwilioDailySIP)
}

// onlyCalls reports whether every session is a call that webhooks.py starts.
func (d *Data) onlyCalls() bool {
	hasOther := slices.ContainsFunc(d.Transports, func(t Service) bool { return !t.isDialed() })
	return !hasOther && !d.EnableEval
}

// HasServer reports whether webhooks.py starts the calls.
func (d *Data) HasServer() bool { return slices.ContainsFunc(d.Transports, Service.isDialed) }

// A hostRow is a row of DEPLOY.md's table of hosts.
type hostRow struct{ Host, Port, For string }

// Hosts are the hosts that the bot contacts, each address once.
func (d *Data) Hosts() (rows []hostRow) {
	for _, s := range d.all() {
		for _, h := range s.Hosts {
			name, port, _ := strings.Cut(h.Address, ":")
			if name[0] == '{' && name[len(name)-1] == '}' {
				port = cmp.Or(port, "the address's")
			}
			row := hostRow{name, strings.Replace(cmp.Or(port, "443"), "/udp", ", UDP", 1), s.Label}
			if h.Note != "" {
				row.For += ": " + h.Note
			}
			isSame := func(r hostRow) bool { return r.Host == row.Host && r.Port == row.Port }
			i := slices.IndexFunc(rows, isSame)
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

// OtherPorts are the TCP ports other than 443 that the bot connects to.
func (d *Data) OtherPorts() (ports []string) {
	for _, row := range d.Hosts() {
		known := strings.Trim(row.Port, "0123456789") == "" // only TCP ports are plain numbers
		if known && row.Port != "443" && row.Host != "localhost" && !slices.Contains(ports, row.Port) {
			ports = append(ports, row.Port)
		}
	}
	return ports
}

// UsesUDP reports whether the bot sends audio over UDP. Over SmallWebRTC it sends to browsers, which are no
// hosts of the catalog.
func (d *Data) UsesUDP() bool {
	hasUDP := func(t Service) bool { return slices.ContainsFunc(t.Hosts, catalog.Host.IsUDP) }
	return d.has(catalog.SmallWebRTC) || slices.ContainsFunc(d.Transports, hasUDP)
}

// LocalModels are the services whose models run in the bot's process.
func (d *Data) LocalModels() []Service {
	return slices.DeleteFunc(slices.Clone(d.Services), func(s Service) bool { return s.Model.Megabytes == 0 })
}

// LocalLLM reports whether the language model is a server on the owner's machines.
func (d *Data) LocalLLM() bool { return d.LLM() != nil && d.LLM().Local() }

// OnThisMachine reports whether the services are those of the preset, whose requirements were measured.
func (d *Data) OnThisMachine() bool {
	preset := bot.OnThisMachine()
	for _, o := range []*bot.Option{bot.OptSTT, bot.OptLLM, bot.OptTTS} {
		service := d.cat.Find(o.Kind, preset[o].Text)
		if !slices.ContainsFunc(d.Services, func(s Service) bool { return s.ID == service.ID }) {
			return false
		}
	}
	return true
}

// Measured returns the measured requirements of that preset, and the size of Ollama.
func (d *Data) Measured() bot.Requirements { return bot.Measured() }

// CloudNeeds names the variables for addresses of services whose default is on localhost, such as
// "OLLAMA_BASE_URL"; "" if the bot is not deployed to the cloud, or has no such service.
func (d *Data) CloudNeeds() string {
	var names []string
	for _, s := range d.Services {
		if d.DeployToCloud && s.OnLocalhost() {
			names = append(names, s.AddressVariables()...)
		}
	}
	return strings.Join(names, ", ")
}

// LoadsModels reports whether a model has to be loaded or warmed up before the first session.
func (d *Data) LoadsModels() bool { return d.LocalLLM() || len(d.LocalModels()) > 0 }

// Runs reports whether one of these services, by first name, runs a model in the bot's process.
func (d *Data) Runs(names ...string) bool {
	isOne := func(s Service) bool { return slices.Contains(names, s.Names[0]) }
	return slices.ContainsFunc(d.LocalModels(), isOne)
}

// PhoneTransports are the transports over which a carrier connects calls to the bot, without webhooks.py.
func (d *Data) PhoneTransports() []Service {
	isOther := func(t Service) bool { return !t.Service.Telephony || t.ModeOf != "" }
	return slices.DeleteFunc(slices.Clone(d.Transports), isOther)
}

// OverTwilio reports whether calls come over Twilio, whose API can transfer them to a person.
func (d *Data) OverTwilio() bool {
	return d.has(catalog.Twilio) || d.dials(catalog.TwilioDailySIP, bot.ModeDialIn)
}

// StartsByRequest reports whether POST /start begins sessions, as it does over all web transports.
func (d *Data) StartsByRequest() bool {
	return slices.ContainsFunc(d.Transports, func(t Service) bool { return !t.Service.Telephony })
}

// TakesRequests reports whether pages, carriers or Daily send requests to the bot itself, not only to
// webhooks.py.
func (d *Data) TakesRequests() bool {
	return !d.HasServer() || d.StartsByRequest() || len(d.PhoneTransports()) > 0
}

// Offline lists the variables with which the bot needs no internet: addresses of your own
// servers, models, and variables that are required anyway. It is empty if a service, or every
// transport, is available only on the internet.
func (d *Data) Offline() (lines []string) {
	if !d.has(catalog.SmallWebRTC) && !d.has(catalog.LiveKit) && !d.has(catalog.WebSocket) {
		return nil
	}
	var required []string
	for _, s := range d.Services {
		here := s.Local()
		before := len(lines)
		for _, v := range s.Env {
			switch needed := v.Required && !v.Server && s.Unless(v) == ""; {
			case v.Kind == "url", here && (needed || v.Kind == "model" || v.Kind == "path"):
				lines = append(lines, "`"+v.Name+"`: "+v.Note)
			case needed:
				required = append(required, "`"+v.Name+"`: "+v.Note+", or any text if your server needs none")
			}
		}
		if len(lines) == before && !here {
			return nil
		}
	}
	lines = append(lines, required...)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// Charges reports whether the bot uses anything that costs money.
func (d *Data) Charges() bool {
	isHosted := func(s Service) bool { return !s.Local() }
	hasLine := d.has(catalog.Daily) || d.CallsOverDaily() || len(d.PhoneTransports()) > 0
	return hasLine || slices.ContainsFunc(d.Services, isHosted)
}

// BaseLanguage is the language without script and region, "" if none is set.
func (d *Data) BaseLanguage() string {
	base, _, _ := strings.Cut(d.Language, "-")
	return base
}

// English reports whether the bot speaks English, as one without a language does.
func (d *Data) English() bool { return d.Language == "" || d.BaseLanguage() == "en" }

// Summary says who listens, thinks and speaks, in a sentence.
func (d *Data) Summary() string {
	var parts []string
	for _, s := range d.Services {
		parts = append(parts, s.Label+" "+s.Does())
	}
	return strings.Join(parts, ", ") + "."
}

// LocalNames are the services that run on the owner's machines: "Moonshine, Ollama and Piper".
func (d *Data) LocalNames() string {
	var names []string
	for _, s := range d.Services {
		if s.Local() {
			names = append(names, s.Label)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Downloads are the hosts from which the models in the bot's process are downloaded.
func (d *Data) Downloads() (hosts []string) {
	for _, s := range d.Services {
		for _, h := range s.Hosts {
			if h.ForDownload && !slices.Contains(hosts, h.Address) {
				hosts = append(hosts, h.Address)
			}
		}
	}
	return hosts
}
