// Package bot describes bots: the table of options, the configuration, the values that people give, and
// the rules that turn these values into a configuration.
package bot

import (
	"strings"

	"vbot/internal/catalog"
)

// The fixed words of the configuration.
const (
	BotWeb        = "web"
	BotTelephony  = "telephony"
	ModeCascade   = "cascade"
	ModeRealtime  = "realtime"
	ModeDialIn    = "dial-in"
	modeDialOut   = "dial-out"
	ClientReact   = "react"
	ClientVanilla = "vanilla"
	ClientNone    = "none"
	ServerVite    = "vite"
	ServerNext    = "nextjs"
)

// An Option is a row of the table: everything about one configuration key. Command line,
// configuration file, help, completion, wizard, dry run and the resolver iterate over
// the table. Rules that involve several options are in rules.go.
type Option struct {
	Key   string // in the configuration
	Peer  string // the key for it in a configuration of `pipecat init`, if that differs
	Flag  string // its name on the command line, without hyphens
	Short string // one letter, or ""

	// Exactly one of these is set: it returns the field in the configuration.
	text   func(*Config) *string
	List   func(*Config) *[]string
	Toggle func(*Config) *bool

	Placeholder string // of its value in the help: "ID"
	Help        string // description
	Words       []Word // the allowed values, if they are fixed
	Kind        string // of the services that are its values, or ""
	noun        string // what messages call such a service: "language model"
	On          bool   // default of a toggle

	mode string // the only mode that uses it, or ""
	web  string // if only web bots can have it, its noun for messages: "video"; or ""

	// The wizard's question. Toggles may share it.
	Rank  int    // position among the questions, from 1
	Ask   string // the question
	Label string // in the summary
	Note  string // explains a toggle
	First string // preselected answer
	None  string // label of the answer without a value, if that is allowed
}

// The questions that toggles share.
const (
	AskWhere   = "Where will it run?"
	AskOptions = "Which options?"
)

// A Word is a value of an option, with its meaning.
type Word struct{ Name, Meaning string }

var dialModes = []Word{
	{Name: ModeDialIn, Meaning: "people call the bot"},
	{Name: modeDialOut, Meaning: "the bot calls people"},
}

// The rows, in the order of the help page.
var (
	OptName = &Option{
		Key:         "project_name",
		Flag:        "name",
		Short:       "n",
		text:        func(c *Config) *string { return &c.ProjectName },
		Placeholder: "NAME",
		Help:        "project name (default: the directory's name)",
		Rank:        1,
		Ask:         "Project name",
		Label:       "Name",
	}
	OptBotType = &Option{
		Key:         "bot_type",
		Flag:        "bot-type",
		Short:       "b",
		text:        func(c *Config) *string { return &c.BotType },
		Placeholder: "web|telephony",
		Help:        "kind of bot (default: depends on the transports)",
		Words: []Word{
			{Name: BotWeb, Meaning: "in a browser or an app"},
			{Name: BotTelephony, Meaning: "on the phone"},
		},
		Rank:  2,
		Ask:   "What kind of bot?",
		Label: "Bot type",
		First: BotWeb,
	}
	OptTransports = &Option{
		Key:         "transports",
		Flag:        "transport",
		Short:       "t",
		List:        func(c *Config) *[]string { return &c.Transports },
		Placeholder: "ID",
		Help:        "transport; repeatable",
		Kind:        catalog.KindTransport,
		Rank:        3,
		Ask:         "How do people connect?",
		Label:       "Transports",
		First:       "smallwebrtc",
	}
	OptMode = &Option{
		Key:         "mode",
		Flag:        "mode",
		Short:       "m",
		text:        func(c *Config) *string { return &c.Mode },
		Placeholder: "cascade|realtime",
		Help:        "cascade uses --stt, --llm and --tts; realtime uses --realtime",
		Words: []Word{
			{Name: ModeCascade, Meaning: "speech to text, language model, text to speech"},
			{Name: ModeRealtime, Meaning: "one speech-to-speech model"},
		},
		Rank:  4,
		Ask:   "How does the bot process speech?",
		Label: "Mode",
		First: ModeCascade,
	}
	OptSTT = &Option{
		Key:         "stt_service",
		Flag:        "stt",
		text:        func(c *Config) *string { return &c.STTService },
		Placeholder: "ID",
		Help:        "speech-to-text service",
		Kind:        catalog.KindSTT,
		noun:        "speech-to-text service",
		mode:        ModeCascade,
		Rank:        8,
		Ask:         "Speech to text",
		Label:       "Speech to text",
		First:       "deepgram",
	}
	OptLLM = &Option{
		Key:         "llm_service",
		Flag:        "llm",
		text:        func(c *Config) *string { return &c.LLMService },
		Placeholder: "ID",
		Help:        "language model",
		Kind:        catalog.KindLLM,
		noun:        "language model",
		mode:        ModeCascade,
		Rank:        9,
		Ask:         "Language model",
		Label:       "Language model",
		First:       "openai",
	}
	OptTTS = &Option{
		Key:         "tts_service",
		Flag:        "tts",
		text:        func(c *Config) *string { return &c.TTSService },
		Placeholder: "ID",
		Help:        "text-to-speech service",
		Kind:        catalog.KindTTS,
		noun:        "text-to-speech service",
		mode:        ModeCascade,
		Rank:        10,
		Ask:         "Text to speech",
		Label:       "Text to speech",
		First:       "cartesia",
	}
	OptRealtime = &Option{
		Key:         "realtime_service",
		Flag:        "realtime",
		text:        func(c *Config) *string { return &c.RealtimeService },
		Placeholder: "ID",
		Help:        "speech-to-speech service",
		Kind:        catalog.KindRealtime,
		noun:        "speech-to-speech service",
		mode:        ModeRealtime,
		Rank:        11,
		Ask:         "Realtime model",
		Label:       "Realtime model",
		First:       "openai",
	}
	OptVideo = &Option{
		Key:         "video_service",
		Flag:        "video",
		text:        func(c *Config) *string { return &c.VideoService },
		Placeholder: "ID",
		Help:        "video avatar; web bots only",
		Kind:        catalog.KindVideo,
		noun:        "video avatar service",
		web:         "video",
		Rank:        12,
		Ask:         "Video avatar",
		Label:       "Video avatar",
		None:        "no avatar",
	}
	OptLanguage = &Option{
		Key:         "language",
		Flag:        "language",
		text:        func(c *Config) *string { return &c.Language },
		Placeholder: "TAG",
		Help:        "language of the conversation, such as de or pt-BR (default: each service's own)",
		Rank:        7,
		Ask:         "Language, such as de or German",
		Label:       "Language",
		None:        "English",
	}
	OptClient = &Option{
		Key:         "client_framework",
		Flag:        "client-framework",
		text:        func(c *Config) *string { return &c.ClientFramework },
		Placeholder: "FRAMEWORK",
		Help:        "web client: react, vanilla or none (default: none)",
		Words: []Word{
			{Name: ClientReact, Meaning: "a React app in TypeScript"},
			{Name: ClientVanilla, Meaning: "a plain JavaScript page"},
			{Name: ClientNone, Meaning: "README.md explains how to reach the bot"},
		},
		web:   "a web client",
		Rank:  13,
		Ask:   "Web client",
		Label: "Web client",
		First: ClientNone,
	}
	OptClientServer = &Option{
		Key:         "client_server",
		Flag:        "client-server",
		text:        func(c *Config) *string { return &c.ClientServer },
		Placeholder: "SERVER",
		Help:        "server of the web client: vite or nextjs; nextjs needs react (default: vite)",
		Words: []Word{
			{Name: ServerVite, Meaning: "a static page for any web server"},
			{Name: ServerNext, Meaning: "a Next.js app"},
		},
		Rank:  14,
		Ask:   "What serves the client?",
		Label: "Client server",
		First: ServerVite,
	}
	OptPSTNMode = &Option{
		Key:         "daily_pstn_mode",
		Flag:        "daily-pstn-mode",
		text:        func(c *Config) *string { return &c.DailyPSTNMode },
		Placeholder: "MODE",
		Help:        "dial-in or dial-out, for daily_pstn",
		Words:       dialModes,
		Rank:        5,
		Ask:         "Who places the calls over Daily PSTN?",
		Label:       "Calls (Daily)",
		First:       ModeDialIn,
	}
	OptSIPMode = &Option{
		Key:         "twilio_daily_sip_mode",
		Flag:        "twilio-daily-sip-mode",
		text:        func(c *Config) *string { return &c.TwilioDailySIPMode },
		Placeholder: "MODE",
		Help:        "dial-in or dial-out, for twilio_daily_sip",
		Words:       dialModes,
		Rank:        6,
		Ask:         "Who places the calls over Twilio and SIP?",
		Label:       "Calls (SIP)",
		First:       ModeDialIn,
	}
	optVideoInput = &Option{
		Key:    "video_input",
		Flag:   "video-input",
		Toggle: func(c *Config) *bool { return &c.VideoInput },
		Help:   "see the user's camera; web bots only (default: no)",
		web:    "video",
		Rank:   17,
		Ask:    AskOptions,
		Label:  "video input",
		Note:   "the bot sees the user's camera",
	}
	optVideoOutput = &Option{
		Key:    "video_output",
		Flag:   "video-output",
		Toggle: func(c *Config) *bool { return &c.VideoOutput },
		Help:   "send video; web bots only (default: no)",
		web:    "video",
		Rank:   17,
		Ask:    AskOptions,
		Label:  "video output",
		Note:   "the bot sends video",
	}
	optDeploy = &Option{
		Key:    "deploy_to_cloud",
		Flag:   "deploy-to-cloud",
		Toggle: func(c *Config) *bool { return &c.DeployToCloud },
		Help: "write Dockerfile and cloud-deploy.toml " +
			"(default: yes, except with only LiveKit or a model on localhost)",
		On:    true,
		Rank:  15,
		Ask:   AskWhere,
		Label: "Pipecat Cloud",
		Note:  "Dockerfile, cloud-deploy.toml",
		None:  "this machine, for now",
	}
	optNoiseCancel = &Option{
		Key:    "enable_noise_cancel",
		Peer:   "enable_krisp",
		Flag:   "enable-noise-cancel",
		Toggle: func(c *Config) *bool { return &c.EnableNoiseCancel },
		Help:   "filter noise; needs cloud deployment (default: no)",
		Rank:   16,
		Ask:    AskOptions,
		Label:  "noise cancelling",
		Note:   "by Krisp, on Pipecat Cloud",
	}

	optSelfHost = &Option{
		Key:    "self_host",
		Flag:   "self-host",
		Toggle: func(c *Config) *bool { return &c.SelfHost },
		Help:   "write files for Docker and Kubernetes to deploy/ (default: no)",
		Rank:   15,
		Ask:    AskWhere,
		Label:  "your own machines",
		Note:   "files for Docker and Kubernetes",
	}

	// Options are all rows. A row that no rule mentions needs no variable.
	Options = []*Option{
		OptName, OptBotType, OptTransports, OptMode, OptSTT, OptLLM, OptTTS, OptRealtime, OptVideo,
		OptLanguage,
		OptClient, OptClientServer, OptPSTNMode, OptSIPMode,
		{
			Key:    "recording",
			Flag:   "recording",
			Toggle: func(c *Config) *bool { return &c.Recording },
			Help:   "record the conversation (default: no)",
			Rank:   16,
			Ask:    AskOptions,
			Label:  "recording",
			Note:   "the audio of each conversation",
		},
		{
			Key:    "transcription",
			Flag:   "transcription",
			Toggle: func(c *Config) *bool { return &c.Transcription },
			Help:   "log what is said (default: no)",
			Rank:   16,
			Ask:    AskOptions,
			Label:  "transcription",
			Note:   "a log of what is said",
		},
		optVideoInput, optVideoOutput, optDeploy, optNoiseCancel,
		{
			Key:    "enable_observability",
			Flag:   "observability",
			Toggle: func(c *Config) *bool { return &c.EnableObservability },
			Help:   "watch the pipeline live (default: no)",
			Rank:   16,
			Ask:    AskOptions,
			Label:  "observability",
			Note:   "watch the pipeline live",
		},
		{
			Key:    "enable_eval",
			Flag:   "eval",
			Toggle: func(c *Config) *bool { return &c.EnableEval },
			Help:   "write tests and evals (default: no)",
			Rank:   16,
			Ask:    AskOptions,
			Label:  "tests and evals",
			Note:   "tests without keys, and conversations with the real services",
		},
		optSelfHost,
	}
)

// dialed maps the transports that need a dial mode to the option for it.
var dialed = map[string]*Option{catalog.DailyPSTN: OptPSTNMode, catalog.TwilioDailySIP: OptSIPMode}

// optionOf returns the option with the key, or nil.
func optionOf(key string) *Option {
	for _, o := range Options {
		if key != "" && (o.Key == key || o.Peer == key) {
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

// Allowed returns the names of the words.
func (o *Option) Allowed() (names []string) {
	for _, w := range o.Words {
		names = append(names, w.Name)
	}
	return names
}

// Values returns the values of the option if they are fixed, and a line of the first ones for
// people; "" if people should see all.
func (o *Option) Values(cat *catalog.Catalog) (all []string, line string) {
	if o.Kind == "" {
		return o.Allowed(), ""
	}
	services := cat.List(o.Kind)
	return catalog.IDs(services), catalog.FirstNames(services, showsAll(o.Kind))
}

func showsAll(kind string) string { return "`vbot init --describe-options=" + kind + "` shows all" }
