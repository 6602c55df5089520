package render

import "fmt"

// A pod is what a process gets in a cluster, and how much it carries.
type pod struct {
	MaxSessions     int    // sessions at a time
	SessionsTarget  string // 60 % of these, as Kubernetes writes fractions
	SessionSeconds  int    // that a session may last, unless MAX_SESSION_SECONDS is set
	CallSeconds     int    // that a telephone call may last, likewise
	StartsPerMinute int    // sessions that an address may ask a bot for, unless STARTS_PER_MINUTE is set
	CPURequest      string // in steps of a tenth of a core
	MemoryRequest   string // in steps of a quarter of 1 Gi
	MemoryLimit     string // leaves room for long conversations
	RecordingRate   int    // samples a second: those of telephone lines if a bot has no others
	RecordingMB     int    // what an hour of one session takes on the disk: two bytes a sample
	RecordingsLimit string // what a day of MaxSessions takes, in steps of 1 Gi
}

// sizePod measures a pod. 8 telephone calls took 0.45 cores, 4 sessions over SmallWebRTC
// 0.63 (`e2e/run -m cost` on an idle Xeon): with SmallWebRTC each does its own encryption, in
// Python. A recording takes 7 MB, however long it gets. With local models it is as many sessions
// as two cores carry, and one at least: one with Ollama, where of two people at once one waits for
// the answer to the other (docs/performance.md has the seconds).
func (d *Data) sizePod() pod {
	sessions := 8
	if d.has("rtc_small") {
		sessions = 4
	}
	// Of each session: thousandths of a core, without and with local models, and MB; and MB of all.
	cpu, modelCPU, perSession, shared := 500/sessions, 0, 90, 155
	if d.Recording {
		perSession += 7
	}
	for _, s := range d.LocalModels() {
		modelCPU = max(modelCPU, s.Model.CPU) // not their sum: people and bot speak in turn
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

// quantity is an amount of memory as Kubernetes has it, in steps of a quarter of 1 Gi.
func quantity(megabytes int) string {
	mi := (megabytes + 255) / 256 * 256
	if mi%1024 == 0 {
		return fmt.Sprintf("%dGi", mi/1024)
	}
	return fmt.Sprintf("%dMi", mi)
}
