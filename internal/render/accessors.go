package render

import (
	"cmp"
	"fmt"
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
	switch phones := d.PhoneTransports(); {
	case d.ClientFramework != "" || d.HasServer():
	case d.has("rtc_small") || d.has("rtc_hosted") || d.has("websocket"):
	case d.has("rtc_room"):
		return "uv run bot.py -t livekit"
	case d.has("rtc_hosted_pstn"):
		return "uv run bot.py -t daily"
	case len(phones) > 0:
		return "uv run bot.py -t " + phones[0].Key + " -x YOUR_TUNNEL_HOST"
	}
	return "uv run bot.py"
}

// HasPage reports whether the bot serves a page of its own: server/page.html.
func (d *Data) HasPage() bool { return d.has("rtc_small") && d.ClientFramework == "" }

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
func (d *Data) CallsOut() bool { return strings.HasSuffix(d.Dial, "dial-out") }

// isDialed reports whether webhooks.py starts the transport's calls.
func (s Service) isDialed() bool { return s.Key == "" }

// callsOverDaily reports whether Daily connects telephone calls to the bot.
func (d *Data) callsOverDaily() bool { return d.Dial != "" }

// onlyCalls reports whether every session is a call that webhooks.py starts.
func (d *Data) onlyCalls() bool {
	hasOther := slices.ContainsFunc(d.Transports, func(t Service) bool { return !t.isDialed() })
	return !hasOther && !d.EnableEval
}

// ClientPackage is the transport's package for browsers, and ClientRange the range of versions
// that was tested: "^1.6.9".
func (s Service) ClientPackage() string { name, _, _ := strings.Cut(s.Client, " "); return name }

func (s Service) ClientRange() string { _, versions, _ := strings.Cut(s.Client, " "); return versions }

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

// UsesUDP reports whether the bot sends audio over UDP.
func (d *Data) UsesUDP() bool {
	return d.Dial != "" || d.has("rtc_small") || d.has("rtc_hosted") || d.has("rtc_room")
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

// Takes returns one of the measured requirements of that preset, or the size of Ollama.
func (d *Data) Takes(what string) (string, error) {
	figure, ok := map[string]string{
		"answers":   bot.MachineAnswers,
		"memory":    bot.MachineMemory,
		"bot":       bot.MachineBot,
		"model":     bot.MachineModel,
		"downloads": bot.MachineDownloads,
		"ollama":    bot.OllamaDownload,
	}[what]
	if !ok {
		return "", fmt.Errorf("%q was not measured", what)
	}
	return figure, nil
}

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

// OfOthers are the services and carriers that other companies run, so that they process what people say.
func (d *Data) OfOthers() (others []Service) {
	for _, s := range d.all() {
		if !s.Local() && s.KeysURL != "" {
			others = append(others, s)
		}
	}
	return others
}

// LoadsModels reports whether a model has to be loaded or warmed up before the first session.
func (d *Data) LoadsModels() bool { return d.LocalLLM() || len(d.LocalModels()) > 0 }

// Runs reports whether a service of one of these classes runs a model in the bot's process.
func (d *Data) Runs(classes ...string) bool {
	isOne := func(s Service) bool { return slices.Contains(classes, s.Class()) }
	return slices.ContainsFunc(d.LocalModels(), isOne)
}

// fetchesModels reports whether vbot/downloads can download the files of one of the bot's models.
func (d *Data) fetchesModels() bool {
	return d.Runs("FunASRSTTService", "KokoroTTSService", "MoonshineSTTService", "PiperTTSService",
		"PocketTTSService", "WhisperSTTService")
}

// PhoneTransports are the transports over which a carrier connects calls to the bot, without webhooks.py.
func (d *Data) PhoneTransports() []Service {
	isOther := func(t Service) bool { return !t.Service.Telephony || t.ModeOf != "" }
	return slices.DeleteFunc(slices.Clone(d.Transports), isOther)
}

// OverTwilio reports whether calls come over Twilio, whose API can transfer them to a person.
func (d *Data) OverTwilio() bool { return d.has("tel_a") || d.Dial == "sip dial-in" }

// carrierAsks reports whether a carrier asks self_host.py what to do with a call. Exotel does not.
func (d *Data) carrierAsks() bool { return d.has("tel_a") || d.has("tel_b") || d.has("tel_c") }

// knowsItsAddress reports whether self_host.py sends its own address to carriers or to WebSocket clients.
func (d *Data) knowsItsAddress() bool { return d.carrierAsks() || d.has("websocket") }

// StartsByRequest reports whether POST /start begins sessions.
func (d *Data) StartsByRequest() bool {
	return d.has("rtc_small") || d.has("rtc_room") || d.has("rtc_hosted") || d.has("websocket")
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
	if !d.has("rtc_small") && !d.has("rtc_room") && !d.has("websocket") {
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
	hasLine := d.has("rtc_hosted") || d.Dial != "" || len(d.PhoneTransports()) > 0
	return hasLine || slices.ContainsFunc(d.Services, isHosted)
}

// BaseLanguage is the language without script and region, "" if none is set.
func (d *Data) BaseLanguage() string {
	base, _, _ := strings.Cut(d.Language, "-")
	return base
}

// English reports whether the bot speaks English, as one without a language does.
func (d *Data) English() bool { return d.Language == "" || d.BaseLanguage() == "en" }

// ChooseVoice reports whether a person has to choose a voice of the bot's language.
func (d *Data) ChooseVoice() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.ChooseVoice() })
}

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
			if strings.HasSuffix(h.Note, "at the first start") && !slices.Contains(hosts, h.Address) {
				hosts = append(hosts, h.Address)
			}
		}
	}
	return hosts
}
