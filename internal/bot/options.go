package bot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

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
	modeDialOut   = "dial-out"
	ClientReact   = "react"
	ClientVanilla = "vanilla"
	ClientNone    = "none"
	ServerVite    = "vite"
	ServerNext    = "nextjs"
)

// A Config describes a bot completely. --dry-run prints it as JSON and --config
// reads it. The order of the keys is fixed.
type Config struct {
	ProjectName         string        `json:"project_name"`
	BotType             string        `json:"bot_type"`
	Transports          []string      `json:"transports"` // canonical ids, in the order given
	Mode                string        `json:"mode"`
	STTService          report.OrNull `json:"stt_service"` // services are canonical ids
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

// The options that shape a bot.

// An Option is a row of the table: everything about one configuration key. Flags,
// configuration file, help, completion, wizard, dry run and resolver iterate over
// the table. Rules that involve several options are in resolve.go.
type Option struct {
	Key   string // in the configuration
	Peer  string // the key for it in a configuration of `pipecat init`, if that differs
	Flag  string
	Short string // the flag's short form, or ""

	// Exactly one of these is set: it returns the field in the configuration.
	text   func(*Config) *string
	List   func(*Config) *[]string
	Toggle func(*Config) *bool

	Value string // placeholder in the help: "ID"
	Help  string // description
	Words []Word // the allowed values, if they are fixed
	Kind  string // of the services that are its values, or ""
	noun  string // such a service in messages: "language model"
	On    bool   // default of a toggle

	mode string // the only mode that uses it, or ""
	web  string // what it adds, if only web bots can have it: "video"; or ""

	// The wizard's question. Toggles may share it.
	Rank  int    // position among the questions, from 1
	Ask   string // the question
	Label string // in the summary
	Note  string // explains a toggle
	First string // preselected answer
	None  string // label for no value, if that is allowed
}

// The questions that toggles share.
const (
	AskWhere   = "Where will it run?"
	AskOptions = "Which options?"
)

// A Word is a value of an option, with its meaning.
type Word struct{ Name, Meaning string }

var dialModes = []Word{{ModeDialIn, "people call the bot"}, {modeDialOut, "the bot calls people"}}

// The rows, in the order of the help page.
var (
	OptName = &Option{
		Key: "project_name", Flag: "name", Short: "n", text: func(c *Config) *string { return &c.ProjectName },
		Value: "NAME", Help: "project name (default: the directory's name)",
		Rank: 1, Ask: "Project name", Label: "Name",
	}
	OptBotType = &Option{
		Key: "bot_type", Flag: "bot-type", Short: "b", text: func(c *Config) *string { return &c.BotType },
		Value: "web|telephony", Help: "kind of bot (default: depends on the transports)",
		Words: []Word{{BotWeb, "in a browser or an app"}, {BotTelephony, "on the phone"}},
		Rank:  2, Ask: "What kind of bot?", Label: "Bot type", First: BotWeb,
	}
	OptTransports = &Option{
		Key: "transports", Flag: "transport", Short: "t", List: func(c *Config) *[]string { return &c.Transports },
		Value: "ID", Help: "transport; repeatable", Kind: catalog.KindTransport,
		Rank: 3, Ask: "How do people connect?", Label: "Transports", First: "smallwebrtc",
	}
	OptMode = &Option{
		Key: "mode", Flag: "mode", Short: "m", text: func(c *Config) *string { return &c.Mode },
		Value: "cascade|realtime", Help: "cascade uses --stt, --llm and --tts; realtime uses --realtime",
		Words: []Word{{ModeCascade, "speech to text, language model, text to speech"}, {ModeRealtime, "one speech-to-speech model"}},
		Rank:  4, Ask: "How does the bot process speech?", Label: "Mode", First: ModeCascade,
	}
	OptSTT = &Option{
		Key: "stt_service", Flag: "stt", text: func(c *Config) *string { return (*string)(&c.STTService) },
		Value: "ID", Help: "speech-to-text service", Kind: catalog.KindSTT, noun: "speech-to-text service", mode: ModeCascade,
		Rank: 8, Ask: "Speech to text", Label: "Speech to text", First: "deepgram",
	}
	OptLLM = &Option{
		Key: "llm_service", Flag: "llm", text: func(c *Config) *string { return (*string)(&c.LLMService) },
		Value: "ID", Help: "language model", Kind: catalog.KindLLM, noun: "language model", mode: ModeCascade,
		Rank: 9, Ask: "Language model", Label: "Language model", First: "openai",
	}
	OptTTS = &Option{
		Key: "tts_service", Flag: "tts", text: func(c *Config) *string { return (*string)(&c.TTSService) },
		Value: "ID", Help: "text-to-speech service", Kind: catalog.KindTTS, noun: "text-to-speech service", mode: ModeCascade,
		Rank: 10, Ask: "Text to speech", Label: "Text to speech", First: "cartesia",
	}
	OptRealtime = &Option{
		Key: "realtime_service", Flag: "realtime", text: func(c *Config) *string { return (*string)(&c.RealtimeService) },
		Value: "ID", Help: "speech-to-speech service", Kind: catalog.KindRealtime, noun: "speech-to-speech service", mode: ModeRealtime,
		Rank: 11, Ask: "Realtime model", Label: "Realtime model", First: "openai",
	}
	OptVideo = &Option{
		Key: "video_service", Flag: "video", text: func(c *Config) *string { return (*string)(&c.VideoService) },
		Value: "ID", Help: "video avatar; web bots only", Kind: catalog.KindVideo, noun: "video avatar service", web: "video",
		Rank: 12, Ask: "Video avatar", Label: "Video avatar", None: "no avatar",
	}
	OptLanguage = &Option{
		Key: "language", Flag: "language", text: func(c *Config) *string { return (*string)(&c.Language) },
		Value: "TAG", Help: "language of the conversation, such as de or pt-BR (default: each service's own)",
		Rank: 7, Ask: "Language, such as de or German", Label: "Language", None: "English",
	}
	OptClient = &Option{
		Key: "client_framework", Flag: "client-framework", text: func(c *Config) *string { return (*string)(&c.ClientFramework) },
		Value: "FRAMEWORK", Help: "web client: react, vanilla or none (default: none)",
		Words: []Word{{ClientReact, "a React app in TypeScript"}, {ClientVanilla, "a plain JavaScript page"}, {ClientNone, "README.md explains how to reach the bot"}},
		web:   "a web client",
		Rank:  13, Ask: "Web client", Label: "Web client", First: ClientNone,
	}
	OptClientServer = &Option{
		Key: "client_server", Flag: "client-server", text: func(c *Config) *string { return (*string)(&c.ClientServer) },
		Value: "SERVER", Help: "what serves the web client: vite or nextjs; nextjs needs react (default: vite)",
		Words: []Word{{ServerVite, "a static page for any web server"}, {ServerNext, "a Next.js app"}},
		Rank:  14, Ask: "What serves the client?", Label: "Client server", First: ServerVite,
	}
	OptPSTNMode = &Option{
		Key: "daily_pstn_mode", Flag: "daily-pstn-mode", text: func(c *Config) *string { return (*string)(&c.DailyPSTNMode) },
		Value: "MODE", Help: "dial-in or dial-out, for daily_pstn",
		Words: dialModes,
		Rank:  5, Ask: "Who places the calls over Daily PSTN?", Label: "Calls (Daily)", First: ModeDialIn,
	}
	OptSIPMode = &Option{
		Key: "twilio_daily_sip_mode", Flag: "twilio-daily-sip-mode", text: func(c *Config) *string { return (*string)(&c.TwilioDailySIPMode) },
		Value: "MODE", Help: "dial-in or dial-out, for twilio_daily_sip",
		Words: dialModes,
		Rank:  6, Ask: "Who places the calls over Twilio and SIP?", Label: "Calls (SIP)", First: ModeDialIn,
	}
	optVideoInput = &Option{
		Key: "video_input", Flag: "video-input", Toggle: func(c *Config) *bool { return &c.VideoInput },
		Help: "see the user's camera; web bots only (default: no)", web: "video",
		Rank: 17, Ask: AskOptions, Label: "video input", Note: "the bot sees the user's camera",
	}
	optVideoOutput = &Option{
		Key: "video_output", Flag: "video-output", Toggle: func(c *Config) *bool { return &c.VideoOutput },
		Help: "send video; web bots only (default: no)", web: "video",
		Rank: 17, Ask: AskOptions, Label: "video output", Note: "the bot sends video",
	}
	optDeploy = &Option{
		Key: "deploy_to_cloud", Flag: "deploy-to-cloud", Toggle: func(c *Config) *bool { return &c.DeployToCloud },
		Help: "write Dockerfile and cloud-deploy.toml (default: yes, unless LiveKit is the only transport)", On: true,
		Rank: 15, Ask: AskWhere, Label: "Pipecat Cloud", Note: "Dockerfile, cloud-deploy.toml", None: "this machine, for now",
	}
	optNoiseCancel = &Option{
		Key: "enable_noise_cancel", Peer: "enable_krisp", Flag: "enable-noise-cancel", Toggle: func(c *Config) *bool { return &c.EnableNoiseCancel },
		Help: "filter noise; needs cloud deployment (default: no)",
		Rank: 16, Ask: AskOptions, Label: "noise cancelling", Note: "by Krisp, on Pipecat Cloud",
	}

	optSelfHost = &Option{
		Key: "self_host", Flag: "self-host", Toggle: func(c *Config) *bool { return &c.SelfHost },
		Help: "write files for Docker and Kubernetes to deploy/ (default: no)",
		Rank: 15, Ask: AskWhere, Label: "your own machines", Note: "files for Docker and Kubernetes",
	}

	// Options are all rows. A row that no rule mentions needs no variable.
	Options = []*Option{
		OptName, OptBotType, OptTransports, OptMode, OptSTT, OptLLM, OptTTS, OptRealtime, OptVideo, OptLanguage,
		OptClient, OptClientServer, OptPSTNMode, OptSIPMode,
		{
			Key: "recording", Flag: "recording", Toggle: func(c *Config) *bool { return &c.Recording },
			Help: "record the conversation (default: no)",
			Rank: 16, Ask: AskOptions, Label: "recording", Note: "the audio of each conversation",
		},
		{
			Key: "transcription", Flag: "transcription", Toggle: func(c *Config) *bool { return &c.Transcription },
			Help: "log what is said (default: no)",
			Rank: 16, Ask: AskOptions, Label: "transcription", Note: "a log of what is said",
		},
		optVideoInput, optVideoOutput, optDeploy, optNoiseCancel,
		{
			Key: "enable_observability", Flag: "observability", Toggle: func(c *Config) *bool { return &c.EnableObservability },
			Help: "watch the pipeline live (default: no)",
			Rank: 16, Ask: AskOptions, Label: "observability", Note: "watch the pipeline live",
		},
		{
			Key: "enable_eval", Flag: "eval", Toggle: func(c *Config) *bool { return &c.EnableEval },
			Help: "write evals to server/evals/ (default: no)",
			Rank: 16, Ask: AskOptions, Label: "evals", Note: "scripted conversations that test the bot",
		},
		optSelfHost,
	}
)

// Quickstart returns the preset of `vbot init quickstart`.
func Quickstart() Answers {
	return Answers{
		OptName:       {Text: "vbot-quickstart"},
		OptTransports: {List: []string{"smallwebrtc", "daily"}},
		OptMode:       {Text: ModeCascade},
		OptSTT:        {Text: "deepgram"},
		OptLLM:        {Text: "openai"},
		OptTTS:        {Text: "cartesia"},
	}
}

// OnThisMachine returns the preset of a bot that needs no key and no account. Its services answer
// soonest on two cores without a GPU: docs/performance.md has the figures.
func OnThisMachine() Answers {
	return Answers{
		OptTransports: {List: []string{"smallwebrtc"}},
		OptMode:       {Text: ModeCascade},
		OptSTT:        {Text: "moonshine"},
		OptLLM:        {Text: "ollama"},
		OptTTS:        {Text: "piper"},
	}
}

// dialed maps the transports that need a dial mode to the option for it.
var dialed = map[string]*Option{"rtc_hosted_pstn": OptPSTNMode, "tel_a_rtc_hosted_sip": OptSIPMode}

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

// TakenAs returns the option as it is called where the value was given: on the command line "--recording"
// or "--no-recording", in a file its key.
func (o *Option) TakenAs(value Answer) string {
	switch {
	case !strings.HasPrefix(value.Taken, "--"):
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

// position returns the index of the key in the JSON of a config, or -1.
func position(key string) int {
	fields := reflect.TypeFor[Config]()
	for i := range fields.NumField() {
		if fields.Field(i).Tag.Get("json") == key {
			return i
		}
	}
	return -1
}

// Schema returns the JSON Schema of a configuration file: a null means "not given". Ids and
// real names are listed, as far as they are fixed.
func Schema(cat *catalog.Catalog) map[string]any {
	properties := map[string]any{"$schema": map[string]any{"type": "string"}, "generate_client": map[string]any{"type": "boolean"}}
	for _, o := range Options {
		words := o.Allowed()
		for _, s := range cat.List(o.Kind) {
			words = append(words, slices.Compact(append([]string{s.ID}, s.Names...))...)
		}
		value := map[string]any{"type": "string"}
		if words != nil {
			value = map[string]any{"enum": words}
		}
		if o.Toggle != nil {
			value = map[string]any{"type": "boolean"}
		} else if o.List != nil {
			value = map[string]any{"type": "array", "items": value}
		}
		for _, key := range []string{o.Key, cmp.Or(o.Peer, o.Key)} {
			properties[key] = map[string]any{"description": o.Help, "anyOf": []any{value, map[string]any{"type": "null"}}}
		}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// An Answer is the value given for an option, and its source.
type Answer struct {
	at     string // its place in the configuration file: "bot.json:3:5"
	Text   string
	List   []string
	On     bool
	Taken  string // the name that `pipecat init` has for the option, if that was given
	Flag   bool   // given on the command line, not in the configuration file
	broken bool   // unusable, and already reported
}

// Answers holds the given values by option.
type Answers map[*Option]Answer

// set stores the answer in the configuration.
func (o *Option) set(c *Config, a Answer) {
	switch {
	case o.Toggle != nil:
		*o.Toggle(c) = a.On
	case o.List != nil:
		*o.List(c) = a.List
	default:
		*o.text(c) = a.Text
	}
}

// Answers returns the answers that produce c.
func (c Config) Answers() Answers {
	answers := Answers{}
	for _, o := range Options {
		switch {
		case o.Toggle != nil:
			answers[o] = Answer{On: *o.Toggle(&c)}
		case o.List != nil:
			answers[o] = Answer{List: *o.List(&c)}
		case *o.text(&c) != "":
			answers[o] = Answer{Text: *o.text(&c)}
		}
	}
	return answers
}

// maxProblems bounds the list of problems with a configuration file, and the time to place
// them.
const maxProblems = 100

// ParseConfig reads the JSON object in data. name is the file's name in problems. The
// answers are nil if data is no JSON object.
func ParseConfig(name string, data []byte) (Answers, []report.Problem) {
	var problems []report.Problem
	at := func(offset int) string { return report.Place(name, data, offset) }
	add := func(key string, offset int, format string, args ...any) {
		problems = append(problems, report.Problem{Field: key, Message: at(offset) + ": " + fmt.Sprintf(format, args...)})
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	members, end, fault := report.Members(data)
	if members == nil {
		add("config", end, "%s", fault)
		return nil, problems
	}
	answers, first := Answers{}, map[*Option]string{}
	wanted := 0 // where generate_client asks for a client
	for _, m := range members {
		o := optionOf(m.Key)
		if len(problems) == maxProblems {
			add("config", m.At, "there are more problems")
			break
		}
		switch {
		case m.Key == "$schema": // for editors; see `vbot schema`
			if m.Value[0] != '"' {
				add(m.Key, m.ValueAt, "$schema: expected a string")
			}
			continue
		case m.Key == "generate_client": // of `pipecat init`, beside client_framework
			var on bool
			if json.Unmarshal(m.Value, &on) != nil {
				add(m.Key, m.ValueAt, "%s: expected true or false", m.Key)
			} else if _, ok := answers[OptClient]; !ok && !on {
				answers[OptClient] = Answer{Text: ClientNone, Taken: m.Key, at: at(m.ValueAt)}
			} else if on {
				wanted = m.ValueAt
			}
			continue
		case o == nil:
			near := nearestKey(m.Key)
			add(m.Key, m.At, "unknown key %q%s", m.Key, report.DidYouMean(near))
			if meant := optionOf(near); meant != nil && first[meant] == "" {
				answers[meant] = Answer{broken: true} // so that it is not missing, too
			}
			continue
		case first[o] != "":
			add(m.Key, m.At, "%s is already given in %s", m.Key, first[o])
			continue
		}
		first[o] = at(m.At)
		if string(m.Value) == "null" {
			continue
		}
		var got Answer
		into, what := any(&got.Text), "a string"
		if o.Toggle != nil {
			into, what = &got.On, "true or false"
		} else if o.List != nil {
			into, what = &got.List, "a list of strings"
		}
		if json.Unmarshal(m.Value, into) != nil {
			got = Answer{broken: true}
			add(m.Key, m.ValueAt, "%s: expected %s", m.Key, what)
		}
		if got.at = at(m.ValueAt); m.Key != o.Key {
			got.Taken = m.Key
		}
		answers[o] = got
	}
	if _, ok := answers[OptClient]; wanted > 0 && !ok {
		add(OptClient.Key, wanted, "generate_client needs client_framework: react or vanilla")
	}
	if fault != "" {
		add("config", end, "%s", fault)
	}
	return answers, problems
}

// nearestKey returns the key that word may mean, "" if there is none. It knows the
// names of the flags too.
func nearestKey(word string) string {
	keys := map[string]string{}
	var names []string
	for _, o := range Options {
		for _, name := range []string{o.Key, strings.ReplaceAll(o.Flag, "-", "_")} {
			keys[name], names = o.Key, append(names, name)
		}
	}
	return keys[report.Nearest(strings.ReplaceAll(word, "-", "_"), names)]
}

// Names.

// NameFromDir derives a project name from the last element of dir. It trims
// invalid characters at both ends, and returns "" if no valid name remains.
func NameFromDir(dir string) string {
	name := strings.TrimLeftFunc(filepath.Base(dir), func(r rune) bool { return !startsName(r) })
	runes := []rune(name)
	name = strings.TrimRightFunc(string(runes[:min(len(runes), maxName)]), func(r rune) bool { return !inName(r) })
	if NameProblem(name) != "" {
		return ""
	}
	return name
}

// maxName is the maximum length of a project name, in characters.
const maxName = 64

func startsName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inName also accepts combining marks: in some scripts, and in the file names of
// some systems, they are part of a letter.
func inName(r rune) bool {
	return startsName(r) || unicode.IsMark(r) || strings.ContainsRune(" ._-", r)
}

// reservedName reports whether Windows reserves the name for a device, with or without what
// looks like an extension. (It reserves COM¹, too, which inName refuses.)
func reservedName(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	base = strings.TrimRight(base, " ")
	if len(base) == 4 && base[3] >= '0' && base[3] <= '9' {
		return base[:3] == "com" || base[:3] == "lpt"
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, base)
}

// NameProblem returns what is wrong with a project name, or "".
func NameProblem(name string) string {
	runes := []rune(name)
	switch {
	case len(runes) == 0:
		return "the name is empty"
	case len(runes) > maxName:
		return fmt.Sprintf("the name has %d characters; the maximum is %d", len(runes), maxName)
	case !startsName(runes[0]) || slices.ContainsFunc(runes, func(r rune) bool { return !inName(r) }):
		return fmt.Sprintf("%q is not a valid name: use letters, digits, spaces and . _ -, and begin with a letter or digit", name)
	case reservedName(name):
		return fmt.Sprintf("%q is a reserved name on Windows", name)
	}
	return ""
}

// Slug converts a project name to a package and agent name: lower-case ASCII
// letters and digits joined by single hyphens, or "bot" if none remain. At most 55
// characters, so that SLUG-secrets is a valid name for a secret set.
func Slug(name string) string {
	other := func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }
	s := strings.Join(strings.FieldsFunc(strings.ToLower(name), other), "-")
	return cmp.Or(strings.TrimRight(s[:min(len(s), 55)], "-"), "bot")
}
