package render

import (
	"fmt"

	"vbot/internal/catalog"
)

// A pod has the resources of a bot's pod in a cluster, and its limits.
type pod struct {
	MaxSessions     int    // sessions at a time
	SessionsTarget  string // 60 % of these, as Kubernetes writes fractions
	SessionSeconds  int    // that a session may last, unless MAX_SESSION_SECONDS is set
	CallSeconds     int    // that a telephone call may last, likewise
	StartsPerMinute int    // sessions that one address may start, unless STARTS_PER_MINUTE is set
	CPURequest      string // in steps of a tenth of a core
	MemoryRequest   string // in steps of a quarter of 1 Gi
	MemoryLimit     string // leaves room for long conversations
	RecordingRate   int    // samples per second: 8000, or Asterisk's 16000, if all transports are telephones
	RecordingMB     int    // of an hour of one session on the disk, with two bytes per sample
	RecordingsLimit string // for a day of MaxSessions, in steps of 1 Gi
}

// sizePod calculates the size of a pod. 8 telephone calls took 0.45 cores, 4 sessions over SmallWebRTC
// 0.63 (`e2e/run -m cost` on an idle Xeon): with SmallWebRTC, each session does its own encryption, in
// Python. A recording takes 7 MB of memory, whatever its length. With local models, a pod has as many
// sessions as two cores can handle, and at least one. With Ollama it has one, because a second person
// would wait until the first has been answered (docs/performance.md has the seconds).
func (d *Data) sizePod() pod {
	sessions := 8
	if d.has(catalog.SmallWebRTC) {
		sessions = 4
	}
	cpu, modelCPU := 500/sessions, 0 // thousandths of a core for each session, the latter with local models
	perSession, shared := 90, 155    // MB for each session, and for all of them together
	if d.Recording {
		perSession += 7
	}
	for _, s := range d.LocalModels() {
		modelCPU = max(modelCPU, s.Model.CPU) // not the sum: people and bot do not speak at the same time
		if s.Model.Apart {
			perSession += s.Model.Megabytes
		} else {
			shared += s.Model.Megabytes
		}
	}
	if modelCPU > 0 {
		cpu += modelCPU
		sessions = max(1, min(sessions, 2000/cpu))
	}
	if d.LocalLLM() {
		sessions = 1
	}
	cpu = max(500, sessions*cpu)
	memory := max(1024, shared+sessions*perSession)
	rate := 24000
	if len(d.PhoneTransports()) == len(d.Transports) {
		rate = 8000
		if d.has(catalog.Asterisk) {
			rate = 16000
		}
	}
	recording := (rate*2*3600 + 999_999) / 1_000_000
	return pod{
		MaxSessions:     sessions,
		SessionsTarget:  fmt.Sprintf("%dm", sessions*600),
		SessionSeconds:  3600,
		CallSeconds:     900,
		StartsPerMinute: sessions + 2,
		CPURequest:      fmt.Sprintf("%dm", (cpu+99)/100*100),
		MemoryRequest:   quantity(memory),
		MemoryLimit:     quantity(memory + 1024),
		RecordingRate:   rate,
		RecordingMB:     recording,
		RecordingsLimit: fmt.Sprintf("%dGi", (24*sessions*recording+1073)/1074),
	}
}

// quantity returns an amount of memory in Kubernetes' notation, in steps of a quarter of 1 Gi.
func quantity(megabytes int) string {
	mi := (megabytes + 255) / 256 * 256
	if mi%1024 == 0 {
		return fmt.Sprintf("%dGi", mi/1024)
	}
	return fmt.Sprintf("%dMi", mi)
}
