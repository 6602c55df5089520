// Package render makes the files of a project from its configuration.
package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// frameworkRange is the range of pipecat-ai versions that the templates were
// tested with.
const frameworkRange = ">=1.14,<2"

// pythonFloor is the minor version of Python 3 that pipecat-ai 1.14 needs; some services need more.
const pythonFloor = 11

// Data is what the templates are filled with: a configuration and everything derived from
// it. It is complete once it is made, and does not change.
type Data struct {
	bot.Config
	cat          *catalog.Catalog
	Version      string // of vbot
	Slug         string
	Range        string // of pipecat-ai
	Dependencies []string
	PythonFloor  string
	Services     []Service // in the order in which bot.py builds them
	STT, LLM     *Service
	TTS          *Service
	Realtime     *Service
	Video        *Service
	Transports   []Service
	// ClientTransports are those that the web client can use: for them there is a
	// package for browsers.
	ClientTransports []Service
	NeedsSession     bool // some service takes an aiohttp session
	NeedsLoop        bool // the constructor of some service needs the event loop
	// Dial is how a call comes about that server.py or Daily starts: "pstn dial-in",
	// "pstn dial-out", "sip dial-in", "sip dial-out", or "".
	Dial         string
	DialParams   string // the parameters of its transport, where bot.py builds that
	requirements []catalog.Requirement
	selfHost     []catalog.Variable // that self_host.py and deploy/ read, those that are required first
	Env          []envGroup
	Pod          pod
}

// A Service is a service of the catalog as this bot uses it.
type Service struct {
	*catalog.Service
	Code
}

// An envGroup is one paragraph of .env.example.
type envGroup struct {
	Title     string
	Variables []string // lines
}

// New returns the data of a valid configuration.
func New(cfg bot.Config, cat *catalog.Catalog, version string) *Data {
	d := &Data{Config: cfg, cat: cat, Version: version, Slug: bot.Slug(cfg.ProjectName), Range: frameworkRange}
	when := map[string]bool{
		"language":     cfg.Language != "",
		"telephony":    d.Telephony(),
		"noise_cancel": cfg.EnableNoiseCancel,
		"video_in":     cfg.VideoInput,
		"video_out":    cfg.VideoOutput,
		"avatar":       cfg.VideoService != "",
	}
	find := func(kind, id string) Service {
		found := cat.Find(kind, id).Speaking(cfg.Language)
		return Service{found, codeOf(found, when)}
	}
	for _, c := range []struct {
		kind string
		id   string
		to   **Service
	}{
		{catalog.KindSTT, cfg.STTService, &d.STT},
		{catalog.KindLLM, cfg.LLMService, &d.LLM},
		{catalog.KindTTS, cfg.TTSService, &d.TTS},
		{catalog.KindRealtime, cfg.RealtimeService, &d.Realtime},
		{catalog.KindVideo, cfg.VideoService, &d.Video},
	} {
		if c.id != "" {
			s := find(c.kind, c.id)
			*c.to = &s
			d.Services = append(d.Services, s)
			d.NeedsSession = d.NeedsSession || s.NeedsSession
			d.NeedsLoop = d.NeedsLoop || s.Loop != ""
		}
	}
	for _, id := range cfg.Transports {
		switch id { // a dialed transport is generated from the file of its mode
		case "rtc_hosted_pstn":
			d.Dial = "pstn " + cfg.DailyPSTNMode
			id += "_" + strings.ReplaceAll(cfg.DailyPSTNMode, "-", "")
		case "tel_a_rtc_hosted_sip":
			d.Dial = "sip " + cfg.TwilioDailySIPMode
			id += "_" + strings.ReplaceAll(cfg.TwilioDailySIPMode, "-", "")
		}
		s := find(catalog.KindTransport, id)
		arguments := []string{"=krisp_filter", "=noise_filter()"}
		if d.Video != nil { // what it shows goes out as it is
			arguments = append(arguments, "=video_width", "="+d.Video.Width, "=video_height", "="+d.Video.Height)
		}
		s.Body = asExpression(s.Key, strings.NewReplacer(arguments...).Replace(s.Body))
		if s.Key == "" {
			d.DialParams = s.Body
		}
		d.Transports = append(d.Transports, s)
		if s.Service.Client != "" {
			d.ClientTransports = append(d.ClientTransports, s)
		}
	}
	for _, s := range d.all() {
		d.requirements = append(d.requirements, s.Requirements(d.chosen(s))...)
	}
	d.Pod = d.sizePod()
	d.selfHost = d.selfHostVariables()
	d.Env = d.envGroups()
	d.Dependencies, d.PythonFloor = d.dependencies()
	return d
}

// all are the services and the transports.
func (d *Data) all() []Service { return slices.Concat(d.Services, d.Transports) }

// chosen reports whether the service is one of several ways to connect.
func (d *Data) chosen(s Service) bool {
	return s.Kind == catalog.KindTransport && len(d.Transports) > 1
}

// has reports whether the bot has the transport with the id.
func (d *Data) has(id string) bool { return slices.Contains(d.Config.Transports, id) }

// Has is has for templates: it fails where there is no such transport.
func (d *Data) Has(id string) (bool, error) {
	if t := d.cat.Find(catalog.KindTransport, id); t == nil || t.ID != id {
		return false, fmt.Errorf("no transport has the id %q", id)
	}
	return d.has(id), nil
}

// Reads reports whether some service reads the variable.
func (d *Data) Reads(name string) bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool {
		return slices.ContainsFunc(s.Env, func(v catalog.Variable) bool { return v.Name == name })
	})
}

// Required are what bot.py requires of .env when it starts; ServerRequired and
// SelfHostRequired are what server.py and self_host.py require besides, as settings.require
// reads it.
func (d *Data) Required() []string       { return d.rules(false) }
func (d *Data) ServerRequired() []string { return d.rules(true) }
func (d *Data) SelfHostRequired() (rules []string) {
	for _, v := range d.selfHost {
		if rule := v.Rule(nil); rule != "" {
			rules = append(rules, rule)
		}
	}
	return rules
}

// rules are those for bot.py or for server.py, each once. Those of one transport share a line of
// 100 columns, as far as they fit.
func (d *Data) rules(server bool) (rules []string) {
	for _, r := range d.requirements {
		tail := ""
		if r.Runs != "" {
			tail = " for " + r.Runs
		}
		if r.Server != server || r.Rule == "" || slices.Contains(rules, r.Rule+tail) {
			continue
		}
		last := len(rules) - 1
		if tail != "" && last >= 0 {
			if before, same := strings.CutSuffix(rules[last], tail); same && len(before+r.Rule+tail) <= 88 {
				rules[last] = before + " and " + r.Rule + tail
				continue
			}
		}
		rules = append(rules, r.Rule+tail)
	}
	return rules
}

// MustBeSet are the variables without which no session works, as README.md lists them.
func (d *Data) MustBeSet() (texts []string) {
	seen := map[string]bool{}
	for _, r := range d.requirements {
		if r.Text != "" && r.Rule != "" && r.Runs == "" && !r.Server && !seen[r.Name] {
			seen[r.Name] = true
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// Needed are the variables of one transport among several, for a sentence.
func (d *Data) Needed(t Service) string {
	var texts []string
	for _, r := range d.requirements {
		if r.Text != "" && r.Only == t.Label {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, " and ")
}

// Keyless are the variables for an address of one's own that make a required key
// optional.
func (d *Data) Keyless() string {
	var names []string
	for _, r := range d.requirements {
		if r.Address != "" {
			names = append(names, "`"+r.Address+"`")
		}
	}
	return strings.Join(slices.Compact(names), ", ")
}

// Credentials are what a person has to get.
func (d *Data) Credentials() []catalog.Credential { return catalog.Credentials(d.requirements) }

// NewCredentials are what a person has to get besides what another bot already needed.
func (d *Data) NewCredentials(was *Data) []catalog.Credential {
	had := map[string]bool{}
	for _, r := range was.requirements {
		had[r.Name] = had[r.Name] || r.Text != ""
	}
	var needed []catalog.Requirement
	for _, r := range d.requirements {
		if !had[r.Name] {
			needed = append(needed, r)
		}
	}
	return catalog.Credentials(needed)
}

// envGroups returns the paragraphs of .env.example, with each variable once: services may
// need the same one.
func (d *Data) envGroups() (groups []envGroup) {
	seen := map[string]bool{}
	add := func(title string, variables ...catalog.Variable) {
		group := envGroup{Title: title}
		for _, v := range variables {
			if !seen[v.Name] {
				group.Variables = append(group.Variables, v.Lines()...)
			}
			seen[v.Name] = true
		}
		if group.Variables != nil {
			groups = append(groups, group)
		}
	}
	for _, s := range d.all() {
		title := s.Label
		if s.KeysURL != "" {
			title += ": " + s.KeysURL
		}
		if d.chosen(s) && s.ModeOf == "" {
			title += " (only to connect over " + s.Label + ")"
		}
		add(title, s.Env...)
	}
	if d.EnableObservability {
		add("Observability", catalog.Variable{Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Note: "where traces go over OTLP, such as http://localhost:4318"})
	}
	if d.EnableNoiseCancel {
		groups = append(groups, envGroup{"Noise cancelling (Pipecat Cloud sets these; set them only elsewhere)", []string{
			"# path of the Krisp VIVA model", "# KRISP_VIVA_FILTER_MODEL_PATH=",
			"# licence key of the Krisp SDK", "# KRISP_VIVA_API_KEY=",
		}})
	}
	add("Your own machines; see deploy/README.md", d.selfHost...)
	return groups
}

// selfHostVariables returns the variables that self_host.py and deploy/ read. Those that are
// required come first: of several with one name, the first counts.
func (d *Data) selfHostVariables() (variables []catalog.Variable) {
	if !d.SelfHost {
		return nil
	}
	if len(d.PhoneTransports()) > 0 {
		variables = append(variables, catalog.Variable{Name: "PHONE_TOKEN", Required: true, Note: "part of the bot's address: a long random text, such as `openssl rand -hex 32` prints; while you change it, NEW,OLD"})
	}
	for _, t := range d.Transports {
		variables = append(variables, t.Service.SelfHost...)
	}
	if d.StartsByRequest() {
		variables = append(variables,
			catalog.Variable{Name: "PIPECAT_ALLOWED_ORIGINS", Note: "other origins whose pages may start sessions, such as https://example.com"},
			catalog.Variable{Name: "START_TOKEN", Note: "what a request for a session must send as a bearer token"},
			catalog.Variable{Name: "STARTS_PER_MINUTE", Note: "sessions that one address gets of a bot", Fallback: fmt.Sprint(d.Pod.StartsPerMinute)})
	}
	variables = append(variables, catalog.Variable{Name: "MAX_SESSION_SECONDS", Note: "how long a session may last", Fallback: "3600"})
	if d.has("rtc_small") {
		variables = append(variables,
			catalog.Variable{Name: "PIPECAT_ICE_SERVERS", Note: "STUN and TURN servers, as URLs or JSON"},
			catalog.Variable{Name: "TURN_URL", With: "TURN_SECRET", Note: "your TURN server, such as turn:turn.example.com:3478"},
			catalog.Variable{Name: "TURN_SECRET", Note: "a long random text, the same as on the TURN server"})
	}
	optional := slices.DeleteFunc(slices.Clone(variables), func(v catalog.Variable) bool { return v.Required })
	required := slices.DeleteFunc(variables, func(v catalog.Variable) bool { return !v.Required })
	return append(required, optional...)
}

// dependencies returns what pyproject.toml lists, and the oldest Python that all of it takes.
func (d *Data) dependencies() (packages []string, floor string) {
	extras := map[string]bool{"runner": true, "silero": d.Mode == bot.ModeCascade, "tracing": d.EnableObservability} // a realtime model detects turns itself
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
		packages = append(packages, "opentelemetry-exporter-otlp-proto-http>=1.33,<2", "pipecat-ai-whisker>=2.0.1,<3")
	}
	if d.SelfHost {
		packages = append(packages, "prometheus-client>=0.22,<1")
		for _, t := range d.Transports {
			packages = append(packages, t.SelfHostPip...)
		}
	}
	maps.DeleteFunc(extras, func(_ string, on bool) bool { return !on })
	framework := fmt.Sprintf("pipecat-ai[%s]%s", strings.Join(slices.Sorted(maps.Keys(extras)), ","), frameworkRange)
	return append([]string{framework}, packages...), fmt.Sprintf("3.%d", newest)
}

// A pod is what a process gets in a cluster, and how much it carries.
type pod struct {
	MaxSessions     int    // sessions at a time
	SessionsTarget  string // 60 % of these, as Kubernetes writes fractions
	StartsPerMinute int    // sessions that an address may ask a bot for, unless STARTS_PER_MINUTE is set
	CPURequest      string // in steps of a tenth of a core
	MemoryRequest   string // in steps of a quarter of 1 Gi
	MemoryLimit     string // leaves room for long conversations
	RecordingRate   int    // samples a second: those of telephone lines, if a bot has nothing but them, and otherwise those of the framework
	RecordingMB     int    // what an hour of one session takes on the disk: two bytes a sample
	RecordingsLimit string // what a day of MaxSessions takes, in steps of 1 Gi
}

// sizePod measures a pod. 8 telephone calls took 0.45 cores, 4 sessions over SmallWebRTC
// 0.63 (`e2e/run -m cost` on an idle Xeon): with SmallWebRTC each does its own encryption, in
// Python. A recording takes 7 MB, however long it gets. With local models it is as many sessions
// as two cores carry, and one at least.
func (d *Data) sizePod() pod {
	sessions := 8
	if d.has("rtc_small") {
		sessions = 4
	}
	cpu, busy, memory, own := 500/sessions, 0, 155, 90 // of a session: thousandths of a core, with models; MB in all and for each
	if d.Recording {
		own += 7
	}
	for _, s := range d.LocalModels() {
		busy = max(busy, s.Model.CPU) // not their sum: people and bot speak in turn
		if s.Model.Apart {
			own += s.Model.Megabytes
		} else {
			memory += s.Model.Megabytes
		}
	}
	if busy > 0 {
		cpu += busy
		sessions = max(1, min(sessions, 2000/cpu))
	}
	cpu, memory = max(500, sessions*cpu), max(1024, memory+sessions*own)
	rate := 24000
	if len(d.PhoneTransports()) == len(d.Transports) {
		rate = 8000
	}
	recording := (rate*2*3600 + 999_999) / 1_000_000
	return pod{
		MaxSessions:     sessions,
		SessionsTarget:  fmt.Sprintf("%dm", sessions*600),
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
