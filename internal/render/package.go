package render

import (
	"path"
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// conditions says which bots have a file or a folder of templates/server. All bots have the others, unless
// the template of a file says otherwise. The condition of a folder holds for its files, too.
var conditions = map[string]func(*Data) bool{
	"appointments.py": func(d *Data) bool { return d.EnableEval },
	"conftest.py":     func(d *Data) bool { return d.EnableEval },
	"tests":           func(d *Data) bool { return d.EnableEval },

	"vbot/asterisk":         reachedOver(catalog.Asterisk),
	"vbot/bearer.py":        (*Data).CallsOut,
	"vbot/camera.py":        (*Data).CanLook,
	"vbot/daily":            (*Data).CallsOverDaily,
	"vbot/downloads":        runs("funasr", "kokoro", "moonshine", "piper", "pocket_tts", "whisper"),
	"vbot/first_clause.py":  (*Data).LocalLLM,
	"vbot/google.py":        func(d *Data) bool { return d.Reads("GOOGLE_CREDENTIALS_JSON") },
	"vbot/models.py":        (*Data).LoadsModels,
	"vbot/noise.py":         func(d *Data) bool { return d.EnableNoiseCancel },
	"vbot/observability.py": func(d *Data) bool { return d.EnableObservability },
	"vbot/ollama.py":        (*Data).LocalLLM,
	"vbot/reading.py":       (*Data).LocalLLM,
	"vbot/recording.py":     func(d *Data) bool { return d.Recording },
	"vbot/voicemail.py":     (*Data).DetectsVoicemail,

	"vbot/downloads/funasr.py":     runs("funasr"),
	"vbot/downloads/hub.py":        runs("pocket_tts", "whisper"),
	"vbot/downloads/kokoro.py":     runs("kokoro"),
	"vbot/downloads/moonshine.py":  runs("moonshine"),
	"vbot/downloads/piper.py":      runs("piper"),
	"vbot/downloads/pocket_tts.py": runs("pocket_tts"),
	"vbot/downloads/whisper.py":    runs("whisper"),

	"vbot/webhooks":            (*Data).HasServer,
	"vbot/webhooks/dialout.py": (*Data).DialsOut,
	"vbot/webhooks/twilio.py":  dials(catalog.TwilioDailySIP, bot.ModeDialIn),

	"vbot/hosting":                func(d *Data) bool { return d.SelfHost },
	"vbot/hosting/asterisk.py":    reachedOver(catalog.Asterisk),
	"vbot/hosting/calls.py":       (*Data).HasServer,
	"vbot/hosting/carriers.py":    func(d *Data) bool { return len(d.PhoneTransports()) > 0 },
	"vbot/hosting/daily.py":       reachedOver(catalog.Daily),
	"vbot/hosting/dialin.py":      dials(catalog.DailyPSTN, bot.ModeDialIn),
	"vbot/hosting/livekit.py":     reachedOver(catalog.LiveKit),
	"vbot/hosting/plivo.py":       reachedOver(catalog.Plivo),
	"vbot/hosting/smallwebrtc.py": reachedOver(catalog.SmallWebRTC),
	"vbot/hosting/telnyx.py":      reachedOver(catalog.Telnyx),
	"vbot/hosting/twilio.py":      reachedOver(catalog.Twilio),
	"vbot/hosting/websocket.py":   reachedOver(catalog.WebSocket),

	"vbot/testing":                      func(d *Data) bool { return d.EnableEval },
	"vbot/testing/test_calls.py":        func(d *Data) bool { return len(d.PhoneCallers()) > 0 },
	"vbot/testing/test_conversation.py": func(d *Data) bool { return d.Mode == bot.ModeCascade },
	"vbot/testing/test_evals.py":        func(d *Data) bool { return d.TTS() != nil },
	"vbot/testing/test_hosting.py":      func(d *Data) bool { return d.SelfHost },
	"vbot/testing/test_realtime.py":     func(d *Data) bool { return d.Realtime() != nil },
	"vbot/testing/test_recording.py":    func(d *Data) bool { return d.Recording },
	"vbot/testing/test_visits.py":       func(d *Data) bool { return len(d.WebCallers()) > 0 },
}

// reachedOver returns the condition that people reach the bot over the transport.
func reachedOver(id string) func(*Data) bool {
	return func(d *Data) bool { return d.has(id) }
}

// dials returns the condition that the bot has the transport in this dial mode.
func dials(id, mode string) func(*Data) bool {
	return func(d *Data) bool { return d.dials(id, mode) }
}

// runs returns the condition that one of these services, by first name, runs a model in the bot's process.
func runs(names ...string) func(*Data) bool {
	return func(d *Data) bool { return d.Runs(names...) }
}

// hasServerFile reports whether the bot has this file or folder of templates/server.
func (d *Data) hasServerFile(name string) bool {
	inServer := strings.TrimPrefix(name, "server/")
	if condition := conditions[inServer]; condition != nil && !condition(d) {
		return false
	}
	if path.Ext(name) != ".py" || !isPlayer(name) {
		return true
	}
	return slices.Contains(d.standInFiles(), name)
}

// isPlayer reports whether the file plays a service or a person in tests.
func isPlayer(name string) bool {
	return strings.HasPrefix(name, testsFolder+"people/") || strings.HasPrefix(name, testsFolder+"stand_ins/")
}
