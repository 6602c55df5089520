// Package bot describes bots: the table of options, the configuration, the values that people give, and
// the rules that turn these values into a configuration.
package bot

import (
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// The fixed words of the configuration.
const (
	BotWeb        = "web"
	BotTelephony  = "telephony"
	ModeCascade   = "cascade"
	ModeRealtime  = "realtime"
	ModeDialIn    = "dial-in"
	ModeDialOut   = "dial-out"
	ClientReact   = "react"
	ClientVanilla = "vanilla"
	ClientNone    = "none"
	ServerVite    = "vite"
	ServerNext    = "nextjs"
)

// A Config describes a bot completely. --dry-run prints it as JSON, --config reads it, and .vbot.json
// records it. The order of the keys is fixed.
//
// Each field belongs to the row of Options that has its JSON key. Other packages get configurations from
// Resolve or Defaults, never from a literal, which would lack the defaults.
type Config struct {
	ProjectName         string        `json:"project_name"`
	BotType             string        `json:"bot_type"`
	Transports          []string      `json:"transports"` // canonical ids, in the order given
	Mode                string        `json:"mode"`
	STTService          report.OrNull `json:"stt_service"` // services are canonical ids: "stt_a"
	LLMService          report.OrNull `json:"llm_service"`
	TTSService          report.OrNull `json:"tts_service"`
	Recording           bool          `json:"recording"`
	Transcription       bool          `json:"transcription"`
	DeployToCloud       bool          `json:"deploy_to_cloud"`
	EnableNoiseCancel   bool          `json:"enable_noise_cancel"`
	EnableObservability bool          `json:"enable_observability"`
	RealtimeService     report.OrNull `json:"realtime_service"`
	VideoService        report.OrNull `json:"video_service"`
	ClientFramework     report.OrNull `json:"client_framework"`
	ClientServer        report.OrNull `json:"client_server"`
	DailyPSTNMode       report.OrNull `json:"daily_pstn_mode"`
	TwilioDailySIPMode  report.OrNull `json:"twilio_daily_sip_mode"`
	VideoInput          bool          `json:"video_input"`
	VideoOutput         bool          `json:"video_output"`
	EnableEval          bool          `json:"enable_eval"`
	SelfHost            bool          `json:"self_host"`
	Language            report.OrNull `json:"language"` // a BCP 47 tag
}

// An Option is a row of the table: everything about one configuration key. Command line, configuration
// file, JSON Schema, help, completion, wizard, dry run and the resolver iterate over the table. Rules that
// involve several options are in rules.go.
type Option struct {
	// Key is the JSON key of the option's field of Config. The type of that field says what its values are:
	// a text, a list of texts, or on and off (a toggle).
	Key         string
	PipecatName string // the key for it in a configuration of `pipecat init`, if that differs
	Flag        string // its name on the command line, without hyphens
	Short       string // one letter, or ""

	Placeholder string      // of its value in the help: "ID"
	Help        string      // description
	Enum        []EnumValue // the allowed values, if they are fixed
	Kind        string      // of the services that are its values, or ""
	noun        string      // what messages call such a service: "language model"
	Default     bool        // of a toggle

	mode string // the only mode that uses it, or ""
	web  string // if only web bots can have it, its noun for messages: "video"; or ""

	// The wizard's question.
	Order       int       // position among the questions, from 1
	Shared      *Question // the question that it shares with other toggles, or nil
	Ask         string    // the text of its own question
	Label       string    // in the summary
	Note        string    // explains a toggle
	Preselected string    // the value at which the cursor starts
	NoneLabel   string    // label of the choice without a value, if that is allowed
}

// A Question is one that several toggles share.
type Question struct {
	Text      string
	Label     string // of the answer in the summary
	NoneLabel string // of the choice that turns all of them off
}

// The questions that toggles share.
var (
	AskWhere   = &Question{Text: "Where will it run?", Label: "Runs on", NoneLabel: "this machine, for now"}
	AskOptions = &Question{Text: "Which options?", Label: "Options", NoneLabel: "none"}
)

// An EnumValue is an allowed value of an option, with its meaning.
type EnumValue struct{ Name, Meaning string }

var dialModes = []EnumValue{
	{Name: ModeDialIn, Meaning: "people call the bot"},
	{Name: ModeDialOut, Meaning: "the bot calls people"},
}

// The rows, in the order of the help page.
var (
	OptName = &Option{
		Key:         "project_name",
		Flag:        "name",
		Short:       "n",
		Placeholder: "NAME",
		Help:        "project name (default: the directory's name)",
		Order:       1,
		Ask:         "Project name",
		Label:       "Name",
	}
	OptBotType = &Option{
		Key:         "bot_type",
		Flag:        "bot-type",
		Short:       "b",
		Placeholder: "web|telephony",
		Help:        "kind of bot (default: depends on the transports)",
		Enum: []EnumValue{
			{Name: BotWeb, Meaning: "in a browser or an app"},
			{Name: BotTelephony, Meaning: "on the phone"},
		},
		Order:       2,
		Ask:         "What kind of bot?",
		Label:       "Bot type",
		Preselected: BotWeb,
	}
	OptTransports = &Option{
		Key:         "transports",
		Flag:        "transport",
		Short:       "t",
		Placeholder: "ID",
		Help:        "transport; repeatable",
		Kind:        catalog.KindTransport,
		Order:       3,
		Ask:         "How do people connect?",
		Label:       "Transports",
		Preselected: "smallwebrtc",
	}
	OptMode = &Option{
		Key:         "mode",
		Flag:        "mode",
		Short:       "m",
		Placeholder: "cascade|realtime",
		Help:        "cascade uses --stt, --llm and --tts; realtime uses --realtime",
		Enum: []EnumValue{
			{Name: ModeCascade, Meaning: "speech to text, language model, text to speech"},
			{Name: ModeRealtime, Meaning: "one speech-to-speech model"},
		},
		Order:       4,
		Ask:         "How does the bot process speech?",
		Label:       "Mode",
		Preselected: ModeCascade,
	}
	OptSTT = &Option{
		Key:         "stt_service",
		Flag:        "stt",
		Placeholder: "ID",
		Help:        "speech-to-text service",
		Kind:        catalog.KindSTT,
		noun:        "speech-to-text service",
		mode:        ModeCascade,
		Order:       8,
		Ask:         "Speech to text",
		Label:       "Speech to text",
		Preselected: "deepgram",
	}
	OptLLM = &Option{
		Key:         "llm_service",
		Flag:        "llm",
		Placeholder: "ID",
		Help:        "language model",
		Kind:        catalog.KindLLM,
		noun:        "language model",
		mode:        ModeCascade,
		Order:       9,
		Ask:         "Language model",
		Label:       "Language model",
		Preselected: "openai",
	}
	OptTTS = &Option{
		Key:         "tts_service",
		Flag:        "tts",
		Placeholder: "ID",
		Help:        "text-to-speech service",
		Kind:        catalog.KindTTS,
		noun:        "text-to-speech service",
		mode:        ModeCascade,
		Order:       10,
		Ask:         "Text to speech",
		Label:       "Text to speech",
		Preselected: "cartesia",
	}
	OptRealtime = &Option{
		Key:         "realtime_service",
		Flag:        "realtime",
		Placeholder: "ID",
		Help:        "speech-to-speech service",
		Kind:        catalog.KindRealtime,
		noun:        "speech-to-speech service",
		mode:        ModeRealtime,
		Order:       11,
		Ask:         "Realtime model",
		Label:       "Realtime model",
		Preselected: "openai",
	}
	OptVideo = &Option{
		Key:         "video_service",
		Flag:        "video",
		Placeholder: "ID",
		Help:        "video avatar; web bots only",
		Kind:        catalog.KindVideo,
		noun:        "video avatar service",
		web:         "video",
		Order:       12,
		Ask:         "Video avatar",
		Label:       "Video avatar",
		NoneLabel:   "no avatar",
	}
	OptLanguage = &Option{
		Key:         "language",
		Flag:        "language",
		Placeholder: "TAG",
		Help:        "language of the conversation, such as de or pt-BR (default: each service's own)",
		Order:       7,
		Ask:         "Language, such as de or German",
		Label:       "Language",
		NoneLabel:   "English",
	}
	OptClient = &Option{
		Key:         "client_framework",
		Flag:        "client-framework",
		Placeholder: "FRAMEWORK",
		Help:        "web client: react, vanilla or none (default: none)",
		Enum: []EnumValue{
			{Name: ClientReact, Meaning: "a React app in TypeScript"},
			{Name: ClientVanilla, Meaning: "a plain JavaScript page"},
			{Name: ClientNone, Meaning: "README.md explains how to reach the bot"},
		},
		web:         "a web client",
		Order:       13,
		Ask:         "Web client",
		Label:       "Web client",
		Preselected: ClientNone,
	}
	OptClientServer = &Option{
		Key:         "client_server",
		Flag:        "client-server",
		Placeholder: "SERVER",
		Help:        "server of the web client: vite or nextjs; nextjs needs react (default: vite)",
		Enum: []EnumValue{
			{Name: ServerVite, Meaning: "a static page for any web server"},
			{Name: ServerNext, Meaning: "a Next.js app"},
		},
		Order:       14,
		Ask:         "What serves the client?",
		Label:       "Client server",
		Preselected: ServerVite,
	}
	OptPSTNMode = &Option{
		Key:         "daily_pstn_mode",
		Flag:        "daily-pstn-mode",
		Placeholder: "MODE",
		Help:        "dial-in or dial-out, for daily_pstn",
		Enum:        dialModes,
		Order:       5,
		Ask:         "Who places the calls over Daily PSTN?",
		Label:       "Calls (Daily)",
		Preselected: ModeDialIn,
	}
	OptSIPMode = &Option{
		Key:         "twilio_daily_sip_mode",
		Flag:        "twilio-daily-sip-mode",
		Placeholder: "MODE",
		Help:        "dial-in or dial-out, for twilio_daily_sip",
		Enum:        dialModes,
		Order:       6,
		Ask:         "Who places the calls over Twilio and SIP?",
		Label:       "Calls (SIP)",
		Preselected: ModeDialIn,
	}
	optVideoInput = &Option{
		Key:    "video_input",
		Flag:   "video-input",
		Help:   "see the user's camera; web bots only (default: no)",
		web:    "video",
		Order:  17,
		Shared: AskOptions,
		Label:  "video input",
		Note:   "the bot sees the user's camera",
	}
	optVideoOutput = &Option{
		Key:    "video_output",
		Flag:   "video-output",
		Help:   "send video; web bots only (default: no)",
		web:    "video",
		Order:  17,
		Shared: AskOptions,
		Label:  "video output",
		Note:   "the bot sends video",
	}
	optDeploy = &Option{
		Key:  "deploy_to_cloud",
		Flag: "deploy-to-cloud",
		Help: "write Dockerfile and cloud-deploy.toml " +
			"(default: yes, except with LiveKit or Asterisk alone, or a model on localhost)",
		Default: true,
		Order:   15,
		Shared:  AskWhere,
		Label:   "Pipecat Cloud",
		Note:    "Dockerfile, cloud-deploy.toml",
	}
	optNoiseCancel = &Option{
		Key:         "enable_noise_cancel",
		PipecatName: "enable_krisp",
		Flag:        "enable-noise-cancel",
		Help:        "filter noise; needs cloud deployment (default: no)",
		Order:       16,
		Shared:      AskOptions,
		Label:       "noise cancelling",
		Note:        "by Krisp, on Pipecat Cloud",
	}

	optSelfHost = &Option{
		Key:    "self_host",
		Flag:   "self-host",
		Help:   "write files for Docker and Kubernetes to deploy/ (default: no)",
		Order:  15,
		Shared: AskWhere,
		Label:  "your own machines",
		Note:   "files for Docker and Kubernetes",
	}

	// Options are all rows. Those that rules mention are also variables, above.
	Options = []*Option{
		OptName, OptBotType, OptTransports, OptMode, OptSTT, OptLLM, OptTTS, OptRealtime, OptVideo,
		OptLanguage,
		OptClient, OptClientServer, OptPSTNMode, OptSIPMode,
		{
			Key:    "recording",
			Flag:   "recording",
			Help:   "record the conversation (default: no)",
			Order:  16,
			Shared: AskOptions,
			Label:  "recording",
			Note:   "the audio of each conversation",
		},
		{
			Key:    "transcription",
			Flag:   "transcription",
			Help:   "log what is said (default: no)",
			Order:  16,
			Shared: AskOptions,
			Label:  "transcription",
			Note:   "a log of what is said",
		},
		optVideoInput, optVideoOutput, optDeploy, optNoiseCancel,
		{
			Key:    "enable_observability",
			Flag:   "observability",
			Help:   "watch the pipeline live (default: no)",
			Order:  16,
			Shared: AskOptions,
			Label:  "observability",
			Note:   "watch the pipeline live",
		},
		{
			Key:    "enable_eval",
			Flag:   "eval",
			Help:   "write tests and evals (default: no)",
			Order:  16,
			Shared: AskOptions,
			Label:  "tests and evals",
			Note:   "tests without keys, and conversations with the real services",
		},
		optSelfHost,
	}
)

// ServiceOptions are the options whose values are AI services, in the order in which bot.py builds these.
var ServiceOptions = []*Option{OptSTT, OptLLM, OptTTS, OptRealtime, OptVideo}

// dialed maps the transports that need a dial mode to the option for it.
var dialed = map[string]*Option{catalog.DailyPSTN: OptPSTNMode, catalog.TwilioDailySIP: OptSIPMode}

// ByKey returns the option with this key, or with this key in `pipecat init`; nil if there is none.
func ByKey(key string) *Option {
	for _, o := range Options {
		if key != "" && (o.Key == key || o.PipecatName == key) {
			return o
		}
	}
	return nil
}

// Where returns the option as shown in messages: "--stt (stt_service)".
func (o *Option) Where() string { return "--" + o.Flag + " (" + o.Key + ")" }

// CalledBy returns the name of the option where the value was given: "--recording" or "--no-recording" on
// the command line, its key in a file.
func (o *Option) CalledBy(value Value) string {
	switch {
	case !strings.HasPrefix(value.Alias, "--"):
		return o.Key
	case value.On:
		return "--" + o.Flag
	}
	return "--no-" + o.Flag
}

// Question returns the text of the question that asks for the option.
func (o *Option) Question() string {
	if o.Shared != nil {
		return o.Shared.Text
	}
	return o.Ask
}

// Allowed returns the allowed values if they are fixed, otherwise nil.
func (o *Option) Allowed() (names []string) {
	for _, v := range o.Enum {
		names = append(names, v.Name)
	}
	return names
}

// AllowedIn returns the allowed values if they are fixed or services of the catalog, and a line of the first
// ones for people; "" if people should see all.
func (o *Option) AllowedIn(cat *catalog.Catalog) (all []string, line string) {
	if o.Kind == "" {
		return o.Allowed(), ""
	}
	services := cat.List(o.Kind)
	return catalog.IDs(services), catalog.FirstNames("allowed", services, showsAll(o.Kind))
}

func showsAll(kind string) string { return "`vbot init --describe-options=" + kind + "` shows all" }
