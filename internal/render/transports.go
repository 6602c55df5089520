package render

import (
	"fmt"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// has reports whether the bot has the transport with the id.
func (d *Data) has(id string) bool {
	return slices.ContainsFunc(d.Transports, func(t Service) bool { return t.ID == id || t.ModeOf == id })
}

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

// isChoice reports whether the service is one of several ways to connect.
func (d *Data) isChoice(s Service) bool {
	return s.Kind == catalog.KindTransport && len(d.Transports) > 1
}

// ClientTransports returns the transports with a package for browsers, which the web client can use.
func (d *Data) ClientTransports() []Service {
	hasNone := func(t Service) bool { return t.Client.Package == "" }
	return slices.DeleteFunc(slices.Clone(d.Transports), hasNone)
}

// PhoneTransports returns the transports over which a carrier or Asterisk connects calls to the bot, without
// webhooks.py.
func (d *Data) PhoneTransports() []Service {
	isOther := func(t Service) bool { return !t.Telephony || t.ModeOf != "" }
	return slices.DeleteFunc(slices.Clone(d.Transports), isOther)
}

// Carriers returns the transports over which a carrier connects calls to the bot.
func (d *Data) Carriers() []Service {
	isAsterisk := func(t Service) bool { return t.ID == catalog.Asterisk }
	return slices.DeleteFunc(d.PhoneTransports(), isAsterisk)
}

// Telephony reports whether the bot is a telephony bot, which may also have web transports.
func (d *Data) Telephony() bool { return d.BotType == bot.BotTelephony }

// HasVideo reports whether the bot sees or sends video.
func (d *Data) HasVideo() bool { return d.VideoInput || d.VideoOutput }

// HasPage reports whether the bot serves a page of its own: server/page.html.
func (d *Data) HasPage() bool { return d.has(catalog.SmallWebRTC) && d.ClientFramework == "" }

// StartCommand returns the command that starts the bot for the transport that needs the least set-up: a
// page of the bot or of a client, a room, or a telephone through a tunnel.
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
	case d.has(catalog.Asterisk):
		return start + " -t asterisk"
	case len(phones) > 0:
		return start + " -t " + phones[0].Key + " -x YOUR_TUNNEL_HOST"
	}
	return start
}

// StartsByRequest reports whether POST /start begins sessions, as it does over all web transports.
func (d *Data) StartsByRequest() bool {
	return slices.ContainsFunc(d.Transports, func(t Service) bool { return !t.Telephony })
}

// TakesRequests reports whether pages, carriers or Daily send requests to the bot itself, not only to
// webhooks.py.
func (d *Data) TakesRequests() bool {
	return !d.HasServer() || d.StartsByRequest() || len(d.PhoneTransports()) > 0
}

// UsesUDP reports whether the bot sends audio over UDP. Over SmallWebRTC it sends to browsers, which the
// catalog does not list as hosts.
func (d *Data) UsesUDP() bool {
	hasUDP := func(t Service) bool { return slices.ContainsFunc(t.Hosts, catalog.Host.IsUDP) }
	return d.has(catalog.SmallWebRTC) || slices.ContainsFunc(d.Transports, hasUDP)
}

// OverTwilio reports whether calls come over Twilio, whose API can transfer them to a person.
func (d *Data) OverTwilio() bool {
	return d.has(catalog.Twilio) || d.dials(catalog.TwilioDailySIP, bot.ModeDialIn)
}

// CallsOverDaily reports whether Daily connects telephone calls to the bot, in one of the dial modes.
func (d *Data) CallsOverDaily() bool {
	return d.has(catalog.DailyPSTN) || d.has(catalog.TwilioDailySIP)
}

// CallsOut reports whether the bot calls people.
func (d *Data) CallsOut() bool { return d.DialsOut() || d.has(catalog.Asterisk) }

// DialsOut reports whether the bot calls people over Daily, by webhooks.py.
func (d *Data) DialsOut() bool {
	return d.dials(catalog.DailyPSTN, bot.ModeDialOut) || d.dials(catalog.TwilioDailySIP, bot.ModeDialOut)
}

// DetectsVoicemail reports whether the bot detects answering machines. Realtime models cannot tell one from
// a person.
func (d *Data) DetectsVoicemail() bool { return d.CallsOut() && d.TTS() != nil }

// HasServer reports whether webhooks.py starts the calls.
func (d *Data) HasServer() bool { return slices.ContainsFunc(d.Transports, Service.isDialed) }

// isDialed reports whether webhooks.py starts the transport's calls.
func (s Service) isDialed() bool { return s.Key == "" }

// Entry returns the transport's key of TRANSPORTS in bot.py: the framework's, "dialin" for calls that Daily
// takes, and "call" for calls that webhooks.py starts.
func (s Service) Entry() string {
	switch {
	case s.isDialed():
		return "call"
	case s.ModeOf != "":
		return "dialin"
	}
	return s.Key
}

// Shared returns the parameters, indented for a function, that most entries of TRANSPORTS share; "" if a
// function for them would not make bot.py shorter.
func (d *Data) Shared() (shared string) {
	const function = 4 // lines that the function itself takes
	entries := map[string]int{}
	most := 0 // lines saved
	for _, t := range d.Transports {
		_, parameters, _ := strings.Cut(t.Body, "(")
		saved := entries[parameters]*strings.Count(parameters, "\n") - function
		if saved > most {
			most, shared = saved, parameters
		}
		entries[parameters]++
	}
	return shared
}

// Params returns the code that makes the transport's parameters: a call of shared, or the constructor.
func (s Service) Params(shared string) string {
	class, parameters, _ := strings.Cut(s.Body, "(")
	if shared != "" && parameters == shared {
		return "shared(" + class + ")"
	}
	return s.Body
}
