package render

import (
	"fmt"
	"slices"

	"vbot/internal/catalog"
)

// An envGroup is one paragraph of .env.example.
type envGroup struct {
	Title     string
	Variables []string // lines
}

// envGroups returns the paragraphs of .env.example. Several services may need the same
// variable, which is listed once.
func (d *Data) envGroups() (groups []envGroup) {
	seen := map[string]bool{}
	add := func(title string, variables []catalog.Variable) {
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
	recordsFirst := d.SelfHost && d.Telephony()
	if recordsFirst {
		add(recordsTitle, recordVariables)
	}
	for _, s := range d.all() {
		add(d.envTitle(s), s.Env)
	}
	add("Sessions", d.sessionVariables())
	add("Limits of a session; the defaults are far above what people need", limitVariables)
	if !recordsFirst {
		add(recordsTitle, recordVariables)
	}
	if d.Recording {
		add("Recording", recordingVariables)
	}
	if d.EnableObservability {
		add("Observability", observabilityVariables)
	}
	if d.Telephony() {
		add("Calls", d.callVariables())
	}
	if d.EnableNoiseCancel {
		groups = append(groups, noiseCancelling)
	}
	if d.DeployToCloud {
		add("Pipecat Cloud", cloudVariables)
	}
	add("Your own machines; see deploy/README.md", d.selfHost)
	return groups
}

// envTitle returns the title of a service's variables: its label, and where a person gets the keys.
func (d *Data) envTitle(s Service) string {
	title := s.Label
	if s.KeysURL != "" {
		title += ": " + s.KeysURL
	}
	if d.isChoice(s) && s.ModeOf == "" {
		title += " (only to connect over " + s.Label + ")"
	}
	return title
}

// recordingVariables are the variables that recording.py reads.
var recordingVariables = []catalog.Variable{{
	Name:     "RECORD",
	Note:     "when to record: always, ask (once the person has agreed) or never",
	Fallback: "always",
}, {
	Name: "RECORDINGS_KEPT_DAYS",
	Note: "days after which recordings are deleted (default: never)",
}}

// observabilityVariables are the variables that observability.py reads.
var observabilityVariables = []catalog.Variable{{
	Name: "OTEL_EXPORTER_OTLP_ENDPOINT",
	Note: "where to send traces over OTLP, such as http://localhost:4318",
}}

// cloudVariables are the variables that Pipecat Cloud's base image reads.
var cloudVariables = []catalog.Variable{{
	Name:     "PIPECAT_LOG_LEVEL",
	Note:     "of the log in the cloud: at DEBUG it has what people say, at INFO it has not",
	Fallback: "DEBUG",
}}

// noiseCancelling has the variables that Krisp's SDK reads.
var noiseCancelling = envGroup{
	Title: "Noise cancelling (Pipecat Cloud sets these; set them only elsewhere)",
	Variables: []string{
		"# path of the Krisp VIVA model", "# KRISP_VIVA_FILTER_MODEL_PATH=",
		"# license key of the Krisp SDK", "# KRISP_VIVA_API_KEY=",
	},
}

// callVariables returns the variables that silence.py and voicemail.py read.
func (d *Data) callVariables() []catalog.Variable {
	variables := []catalog.Variable{{
		Name:     "SILENCE_SECONDS",
		Note:     "seconds before a silent caller is asked (twice, then the call ends); 0 means never",
		Fallback: "10",
	}}
	if d.DetectsVoicemail() {
		variables = append(variables, catalog.Variable{
			Name:     "VOICEMAIL",
			Note:     "what to do when a machine answers: hang_up or leave_message",
			Fallback: "hang_up",
		})
	}
	return variables
}

// sessionVariables returns the variables that facts.py and transfer.py read.
func (d *Data) sessionVariables() []catalog.Variable {
	variables := []catalog.Variable{{
		Name: "TIME_ZONE",
		Note: "time zone of the times that the model is told, such as Europe/Berlin (default: the machine's)",
	}}
	if d.LocalLLM() {
		variables = append(variables, catalog.Variable{
			Name:     "READ_AHEAD",
			Note:     "whether a model on this machine reads what a person says while they speak: on or off",
			Fallback: "on",
		})
	}
	if d.Telephony() {
		variables = append(variables, catalog.Variable{
			Name: "FALLBACK_NUMBER",
			Note: "number to connect the caller to when a service fails, such as +15551234567; see DEPLOY.md",
		})
	}
	if d.has(catalog.Plivo) {
		variables = append(variables, catalog.Variable{
			Name: "PLIVO_TRANSFER_URL",
			Note: "XML with which Plivo connects a call that the bot hands over; see DEPLOY.md",
		})
	}
	return variables
}

const recordsTitle = "Records of what happens in each session; see vbot/records/README.md"

// recordVariables are the variables that vbot/records reads.
var recordVariables = []catalog.Variable{{
	Name: "RECORDS",
	Note: "folder for the records, such as records (default: none are made)",
}, {
	Name: "RECORDS_TEXT",
	Note: "whether records contain what is said: true or false; if unset, only with --transcription",
}, {
	Name:     "RECORDS_NUMBERS",
	Note:     "telephone numbers in records: full or last4, the last four digits",
	Fallback: "full",
}, {
	Name:     "RECORDS_KEPT_DAYS",
	Note:     "days after which records are deleted",
	Fallback: "30",
}, {
	Name: "RECORDS_WEBHOOK",
	Note: "https address that gets each record by POST",
}, {
	Name: "RECORDS_WEBHOOK_SECRET",
	Note: "signs what is sent there: whsec_ and what `openssl rand -base64 32` prints",
}, {
	Name: "BOT_VERSION",
	Note: "version of the bot in its records (default: the one in pyproject.toml)",
}}

// limitVariables are the variables that limits.py reads.
var limitVariables = []catalog.Variable{{
	Name:     "MAX_MESSAGE_CHARS",
	Note:     "characters of a typed message",
	Fallback: "4000",
}, {
	Name:     "MAX_MESSAGES_PER_MINUTE",
	Note:     "typed messages and files of a session in a minute",
	Fallback: "30",
}, {
	Name:     "MAX_CONTEXT_CHARS",
	Note:     "characters of a conversation that the model gets; the oldest turns are left out",
	Fallback: "100000",
}, {
	Name:     "MAX_MODEL_REQUESTS",
	Note:     "requests to the model, after which a session ends",
	Fallback: "1000",
}, {
	Name:     "FILES",
	Note:     "whether pages may send files and images to the model: on or off",
	Fallback: "off",
}, {
	Name:     "MAX_FILES",
	Note:     "files of a session",
	Fallback: "10",
}, {
	Name:     "MAX_FILE_BYTES",
	Note:     "bytes of a file",
	Fallback: "5000000",
}}

// longest returns the default of MAX_SESSION_SECONDS, as a text.
func (d *Data) longest() string {
	switch call, session := fmt.Sprint(d.Pod.CallSeconds), fmt.Sprint(d.Pod.SessionSeconds); {
	case !d.StartsByRequest():
		return call
	case d.Telephony():
		return call + " for a call, else " + session
	default:
		return session
	}
}

// selfHostVariables returns the variables that self_host.py and deploy/ read. Required ones
// come first, because the first of several with the same name counts.
func (d *Data) selfHostVariables() (variables []catalog.Variable) {
	if !d.SelfHost {
		return nil
	}
	variables = append(variables, catalog.Variable{
		Name: "DOMAIN",
		Note: "with Docker Compose, the name that browsers and carriers connect to, such as bot.example.com",
	})
	if len(d.PhoneTransports()) > 0 {
		variables = append(variables, catalog.Variable{
			Name:     "PHONE_TOKEN",
			Required: true,
			Note: "part of the bot's address: a long random text, such as `openssl rand -hex 32` prints; " +
				"while you change it, NEW,OLD",
		})
	}
	for _, t := range d.Transports {
		variables = append(variables, t.SelfHost...)
	}
	if d.StartsByRequest() {
		variables = append(variables, d.startVariables()...)
	}
	variables = append(variables, catalog.Variable{
		Name:     "MAX_SESSION_SECONDS",
		Note:     "how long a session may last",
		Fallback: d.longest(),
	})
	if d.has(catalog.SmallWebRTC) {
		variables = append(variables, iceVariables...)
	}
	isRequired := func(v catalog.Variable) bool { return v.Required }
	isOptional := func(v catalog.Variable) bool { return !v.Required }
	optional := slices.DeleteFunc(slices.Clone(variables), isRequired)
	required := slices.DeleteFunc(variables, isOptional)
	return append(required, optional...)
}

// startVariables returns the variables about requests for sessions.
func (d *Data) startVariables() []catalog.Variable {
	return []catalog.Variable{{
		Name: "PIPECAT_ALLOWED_ORIGINS",
		Note: "other origins whose pages may start sessions, such as https://example.com",
	}, {
		Name: "START_TOKEN",
		Note: "the bearer token that a request for a session must send",
	}, {
		Name:     "STARTS_PER_MINUTE",
		Note:     "sessions that one address may start with a bot",
		Fallback: fmt.Sprint(d.Pod.StartsPerMinute),
	}, {
		Name: "MAX_SESSIONS_PER_ADDRESS",
		Note: "sessions that one address may have at a time with a bot (default: half of them)",
	}}
}

// iceVariables are the variables about the STUN and TURN servers of SmallWebRTC.
var iceVariables = []catalog.Variable{{
	Name: "PIPECAT_ICE_SERVERS",
	Note: "STUN and TURN servers, as URLs or JSON",
}, {
	Name: "TURN_URL",
	With: "TURN_SECRET",
	Note: "your TURN server, such as turn:turn.example.com:3478",
}, {
	Name: "TURN_SECRET",
	Note: "a long random text, the same as on the TURN server",
}}
