package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The fixed words of the configuration.
const (
	botWeb        = "web"
	botTelephony  = "telephony"
	modeCascade   = "cascade"
	modeRealtime  = "realtime"
	modeDialIn    = "dial-in"
	modeDialOut   = "dial-out"
	clientReact   = "react"
	clientVanilla = "vanilla"
	clientNone    = "none"
	serverVite    = "vite"
	serverNext    = "nextjs"
)

// A config describes a bot completely. --dry-run prints it as JSON and --config
// reads it. The order of the keys is fixed.
type config struct {
	ProjectName         string   `json:"project_name"`
	BotType             string   `json:"bot_type"`
	Transports          []string `json:"transports"` // canonical ids, in the order given
	Mode                string   `json:"mode"`
	STTService          orNull   `json:"stt_service"` // services are canonical ids
	LLMService          orNull   `json:"llm_service"`
	TTSService          orNull   `json:"tts_service"`
	Recording           bool     `json:"recording"`
	Transcription       bool     `json:"transcription"`
	DeployToCloud       bool     `json:"deploy_to_cloud"`
	EnableNoiseCancel   bool     `json:"enable_noise_cancel"`
	EnableObservability bool     `json:"enable_observability"`
	RealtimeService     orNull   `json:"realtime_service"`
	VideoService        orNull   `json:"video_service"`
	ClientFramework     orNull   `json:"client_framework"`
	ClientServer        orNull   `json:"client_server"`
	DailyPSTNMode       orNull   `json:"daily_pstn_mode"`
	TwilioDailySIPMode  orNull   `json:"twilio_daily_sip_mode"`
	VideoInput          bool     `json:"video_input"`
	VideoOutput         bool     `json:"video_output"`
	EnableEval          bool     `json:"enable_eval"`
	SelfHost            bool     `json:"self_host"`
}

func (c config) hasTransport(id string) bool { return slices.Contains(c.Transports, id) }

// The options that shape a bot.

// An option is a row of the table: everything about one configuration key. Flags,
// configuration file, help, completion, wizard, dry run and resolver iterate over
// the table. Rules that involve several options are in resolve.go.
type option struct {
	key   string // in the configuration
	peer  string // the key for it in a configuration of `pipecat init`, if that differs
	flag  string
	short string // the flag's short form, or ""

	// Exactly one of these is set: it returns the field in the configuration.
	text   func(*config) *string
	list   func(*config) *[]string
	toggle func(*config) *bool

	value string        // placeholder in the help: "ID"
	help  string        // description; may have several lines
	words []allowedWord // the allowed values, if they are fixed
	kind  string        // of the providers that are its values, or ""
	noun  string        // such a provider in messages: "language model"
	on    bool          // default of a toggle

	mode string // the only mode that uses it, or ""
	web  string // what it adds, if only web bots can have it: "video"; or ""

	// The wizard's question. Toggles without one share a question.
	turn    int    // position among the questions, from 1
	ask     string // the question
	label   string // in the summary
	note    string // explains a toggle
	first   string // preselected answer
	none    string // label for no value, if that is allowed
	yes, no string // a toggle with its own question, in the summary
}

// An allowedWord is a value of an option, with its meaning.
type allowedWord struct{ name, meaning string }

var dialModes = []allowedWord{{modeDialIn, "people call the bot"}, {modeDialOut, "the bot calls people"}}

// The rows, in the order of the help page.
var (
	optName = &option{
		key: "project_name", flag: "name", short: "n", text: func(c *config) *string { return &c.ProjectName },
		value: "NAME", help: "project name (default: the directory's name)",
		turn: 1, ask: "Project name", label: "Name",
	}
	optBotType = &option{
		key: "bot_type", flag: "bot-type", short: "b", text: func(c *config) *string { return &c.BotType },
		value: "web|telephony", help: "kind of bot (default: depends on the transports)",
		words: []allowedWord{{botWeb, "in a browser or an app"}, {botTelephony, "on the phone"}},
		turn:  2, ask: "What kind of bot?", label: "Bot type", first: botWeb,
	}
	optTransports = &option{
		key: "transports", flag: "transport", short: "t", list: func(c *config) *[]string { return &c.Transports },
		value: "ID", help: "transport; repeatable", kind: kindTransport,
		turn: 3, ask: "How do people connect?", label: "Transports", first: "smallwebrtc",
	}
	optMode = &option{
		key: "mode", flag: "mode", short: "m", text: func(c *config) *string { return &c.Mode },
		value: "cascade|realtime", help: "use --stt, --llm and --tts, or use --realtime",
		words: []allowedWord{{modeCascade, "speech to text, language model, text to speech"}, {modeRealtime, "one speech-to-speech model"}},
		turn:  4, ask: "How does it process speech?", label: "Mode", first: modeCascade,
	}
	optSTT = &option{
		key: "stt_service", flag: "stt", text: func(c *config) *string { return (*string)(&c.STTService) },
		value: "ID", help: "speech-to-text service", kind: kindSTT, noun: "speech-to-text service", mode: modeCascade,
		turn: 7, ask: "Speech to text", label: "Speech to text", first: "deepgram",
	}
	optLLM = &option{
		key: "llm_service", flag: "llm", text: func(c *config) *string { return (*string)(&c.LLMService) },
		value: "ID", help: "language model", kind: kindLLM, noun: "language model", mode: modeCascade,
		turn: 8, ask: "Language model", label: "Language model", first: "openai",
	}
	optTTS = &option{
		key: "tts_service", flag: "tts", text: func(c *config) *string { return (*string)(&c.TTSService) },
		value: "ID", help: "text-to-speech service", kind: kindTTS, noun: "text-to-speech service", mode: modeCascade,
		turn: 9, ask: "Text to speech", label: "Text to speech", first: "cartesia",
	}
	optRealtime = &option{
		key: "realtime_service", flag: "realtime", text: func(c *config) *string { return (*string)(&c.RealtimeService) },
		value: "ID", help: "speech-to-speech service", kind: kindRealtime, noun: "speech-to-speech service", mode: modeRealtime,
		turn: 10, ask: "Realtime model", label: "Realtime model", first: "openai",
	}
	optVideo = &option{
		key: "video_service", flag: "video", text: func(c *config) *string { return (*string)(&c.VideoService) },
		value: "ID", help: "video avatar; web bots only", kind: kindVideo, noun: "video avatar service", web: "video",
		turn: 11, ask: "Video avatar", label: "Video avatar", none: "no avatar",
	}
	optClient = &option{
		key: "client_framework", flag: "client-framework", text: func(c *config) *string { return (*string)(&c.ClientFramework) },
		value: "FRAMEWORK", help: "web client: react, vanilla or none\n(default: none)",
		words: []allowedWord{{clientReact, "a React app in TypeScript"}, {clientVanilla, "a plain JavaScript page"}, {clientNone, "no web client"}},
		web:   "a web client",
		turn:  12, ask: "Web client", label: "Web client", first: clientNone,
	}
	optClientServer = &option{
		key: "client_server", flag: "client-server", text: func(c *config) *string { return (*string)(&c.ClientServer) },
		value: "SERVER", help: "vite, or nextjs with react (default: vite)",
		words: []allowedWord{{serverVite, "a static page for any web server"}, {serverNext, "a Next.js app"}},
		turn:  13, ask: "What serves the client?", label: "Client server", first: serverVite,
	}
	optPSTNMode = &option{
		key: "daily_pstn_mode", flag: "daily-pstn-mode", text: func(c *config) *string { return (*string)(&c.DailyPSTNMode) },
		value: "MODE", help: "dial-in or dial-out, for daily_pstn",
		words: dialModes,
		turn:  5, ask: "Who places the calls over Daily PSTN?", label: "Calls (Daily)", first: modeDialIn,
	}
	optSIPMode = &option{
		key: "twilio_daily_sip_mode", flag: "twilio-daily-sip-mode", text: func(c *config) *string { return (*string)(&c.TwilioDailySIPMode) },
		value: "MODE", help: "dial-in or dial-out, for twilio_daily_sip",
		words: dialModes,
		turn:  6, ask: "Who places the calls over Twilio and SIP?", label: "Calls (SIP)", first: modeDialIn,
	}
	optVideoInput = &option{
		key: "video_input", flag: "video-input", toggle: func(c *config) *bool { return &c.VideoInput },
		help: "see the user's camera; web bots only\n(default: no)", web: "video",
		turn: 15, label: "video input", note: "the bot sees the user's camera",
	}
	optVideoOutput = &option{
		key: "video_output", flag: "video-output", toggle: func(c *config) *bool { return &c.VideoOutput },
		help: "send video; web bots only (default: no)", web: "video",
		turn: 15, label: "video output", note: "the bot sends video",
	}
	optDeploy = &option{
		key: "deploy_to_cloud", flag: "deploy-to-cloud", toggle: func(c *config) *bool { return &c.DeployToCloud },
		help: "write Dockerfile and cloud-deploy.toml (default:\nyes, unless LiveKit is the only transport)", on: true,
		turn: 16, ask: "Add files to deploy it to Pipecat Cloud?", label: "Deployment", yes: "Dockerfile, cloud-deploy.toml", no: "none",
	}
	optNoiseCancel = &option{
		key: "enable_noise_cancel", peer: "enable_krisp", flag: "enable-noise-cancel", toggle: func(c *config) *bool { return &c.EnableNoiseCancel },
		help: "filter noise; needs cloud deployment\n(default: no)",
		turn: 14, label: "noise cancelling", note: "by Krisp, on Pipecat Cloud",
	}

	// options are all rows. A row that no rule mentions needs no variable.
	options = []*option{
		optName, optBotType, optTransports, optMode, optSTT, optLLM, optTTS, optRealtime, optVideo,
		optClient, optClientServer, optPSTNMode, optSIPMode,
		{
			key: "recording", flag: "recording", toggle: func(c *config) *bool { return &c.Recording },
			help: "record the conversation (default: no)",
			turn: 14, label: "recording", note: "the audio of each conversation",
		}, {
			key: "transcription", flag: "transcription", toggle: func(c *config) *bool { return &c.Transcription },
			help: "log what is said (default: no)",
			turn: 14, label: "transcription", note: "a log of what is said",
		},
		optVideoInput, optVideoOutput, optDeploy, optNoiseCancel,
		{
			key: "enable_observability", flag: "observability", toggle: func(c *config) *bool { return &c.EnableObservability },
			help: "watch the pipeline live (default: no)",
			turn: 14, label: "observability", note: "watch the pipeline live",
		}, {
			key: "enable_eval", flag: "eval", toggle: func(c *config) *bool { return &c.EnableEval },
			help: "write evals to server/evals (default: no)",
			turn: 14, label: "evals", note: "scripted conversations that test the bot",
		}, {
			key: "self_host", flag: "self-host", toggle: func(c *config) *bool { return &c.SelfHost },
			help: "write files for Docker and Kubernetes to deploy\n(default: no)",
			turn: 14, label: "self-hosting", note: "files for Docker and Kubernetes on your own machines",
		},
	}
)

// quickstart returns the preset of `vbot init quickstart`.
func quickstart() answers {
	return answers{
		optName:       {text: "vbot-quickstart"},
		optTransports: {list: []string{"smallwebrtc", "daily"}},
		optMode:       {text: modeCascade},
		optSTT:        {text: "deepgram"},
		optLLM:        {text: "openai"},
		optTTS:        {text: "cartesia"},
	}
}

// dialed maps the transports that need a dial mode to the option for it.
var dialed = map[string]*option{"rtc_hosted_pstn": optPSTNMode, "tel_a_rtc_hosted_sip": optSIPMode}

// optionOf returns the option with the key, or nil.
func optionOf(key string) *option {
	for _, o := range options {
		if key != "" && (o.key == key || o.peer == key) {
			return o
		}
	}
	return nil
}

// where returns the option as shown in messages: "--stt (stt_service)".
func (o *option) where() string { return "--" + o.flag + " (" + o.key + ")" }

// allowed returns the names of the words.
func (o *option) allowed() (names []string) {
	for _, w := range o.words {
		names = append(names, w.name)
	}
	return names
}

// helpOptions returns the lines of all options in the help page.
func helpOptions() string {
	var b strings.Builder
	for _, o := range options {
		b.WriteString(o.usage())
	}
	return b.String()
}

// usage returns the lines of the option in the help page.
func (o *option) usage() string {
	left := "      --" + o.flag
	if o.short != "" {
		left = "  -" + o.short + ", --" + o.flag
	}
	if o.toggle != nil {
		left += ", --no-" + o.flag
	} else {
		left += " " + o.value
	}
	var b strings.Builder
	if len(left) > 28 {
		b.WriteString(left + "\n")
		left = ""
	}
	for line := range strings.SplitSeq(o.help, "\n") {
		fmt.Fprintf(&b, "%-30s%s\n", left, line)
		left = ""
	}
	return b.String()
}

// position returns the index of the key in the JSON of a config, or -1.
func position(key string) int {
	fields := reflect.TypeFor[config]()
	for i := range fields.NumField() {
		if fields.Field(i).Tag.Get("json") == key {
			return i
		}
	}
	return -1
}

// An answer is the value given for an option, and its source.
type answer struct {
	at     string // its place in the configuration file: "bot.json:3:5"
	text   string
	list   []string
	on     bool
	taken  string // the name that `pipecat init` has for the option, if that was given
	flag   bool   // given on the command line, not in the configuration file
	broken bool   // unusable, and already reported
}

// answers holds the given values by option.
type answers map[*option]answer

// set stores the answer in the configuration.
func (o *option) set(c *config, a answer) {
	switch {
	case o.toggle != nil:
		*o.toggle(c) = a.on
	case o.list != nil:
		*o.list(c) = a.list
	default:
		*o.text(c) = a.text
	}
}

// answers returns the answers that produce c.
func (c config) answers() answers {
	said := answers{}
	for _, o := range options {
		switch {
		case o.toggle != nil:
			said[o] = answer{on: *o.toggle(&c)}
		case o.list != nil:
			said[o] = answer{list: *o.list(&c)}
		case *o.text(&c) != "":
			said[o] = answer{text: *o.text(&c)}
		}
	}
	return said
}

// parseConfig reads the JSON object in data key by key. encoding/json alone silently
// accepts duplicate keys, unknown keys and keys in another case. name is the file's
// name in problems. The answers are nil if data is no JSON object.
func parseConfig(name string, data []byte) (answers, []problem) {
	var problems []problem
	at := func(offset int) string { return place(name, data, offset) }
	wrong := func(key string, offset int, format string, args ...any) {
		problems = append(problems, problem{Field: key, Message: at(offset) + ": " + fmt.Sprintf(format, args...)})
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if offset, message := jsonFault(data); message != "" {
		wrong("config", offset, "%s", message)
		return nil, problems
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	// next is where the next token begins, behind the punctuation.
	next := func(punctuation string) int {
		return len(data) - len(bytes.TrimLeft(data[dec.InputOffset():], " \t\r\n"+punctuation))
	}
	if start, _ := dec.Token(); start != json.Delim('{') {
		wrong("config", 0, "expected a JSON object: {...}")
		return nil, problems
	}
	said, first := answers{}, map[*option]string{}
	for dec.More() { // jsonFault has found no error
		begins := next(",")
		token, _ := dec.Token()
		key := token.(string)
		value, here := any(nil), next(":")
		dec.Decode(&value)
		o := optionOf(key)
		switch {
		case key == "$schema": // for editors; see `vbot schema`
			continue
		case key == "generate_client": // of `pipecat init`, beside client_framework
			if on, ok := value.(bool); !ok {
				wrong(key, here, "%s: expected true or false, not %s", key, jsonType(value))
			} else if _, ok := said[optClient]; !ok && !on {
				said[optClient] = answer{text: clientNone, taken: key, at: at(here)}
			}
			continue
		case o == nil:
			wrong(key, begins, "unknown key %q%s", key, didYouMean(nearestKey(key)))
			continue
		case first[o] != "":
			wrong(key, begins, "%s is already given in %s", key, first[o])
			continue
		}
		first[o] = at(begins)
		if value == nil {
			continue
		}
		got, message := o.convert(value)
		if message != "" {
			wrong(key, here, "%s: %s", key, message)
		}
		if got.at = at(here); key != o.key {
			got.taken = key
		}
		said[o] = got
	}
	dec.Token()
	if end := next(""); end < len(data) {
		wrong("config", end, "unexpected text after the JSON object")
	}
	return said, problems
}

// place returns where the offset is in the file: "bot.json:3:5".
func place(name string, data []byte, offset int) string {
	before := data[:offset]
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d", name, 1+bytes.Count(before, []byte("\n")), column)
}

// jsonFault returns the first error of syntax in data and its offset; "" if data
// begins with a JSON value.
func jsonFault(data []byte) (offset int, message string) {
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(data)).Decode(&value)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return 0, ""
	case errors.Is(err, io.EOF):
		return 0, "the file is empty; expected a JSON object"
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.IndexByte(data[:min(4, len(data))], 0) >= 0:
		return 0, "the file is in UTF-16; save it as UTF-8"
	case !ok: // io.ErrUnexpectedEOF
		return len(data), "the JSON ends too early: a bracket or quote is not closed"
	}
	offset = int(syntax.Offset) - 1
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }
	offset = bytes.LastIndexFunc(data[:offset], notLetter) + 1 // in the middle of `ture`
	word := string(data[offset:])
	if end := strings.IndexFunc(word, notLetter); end >= 0 {
		word = word[:end]
	}
	before := bytes.TrimRight(data[:offset], " \t\r\n")
	switch c := data[offset]; {
	case (c == '}' || c == ']') && bytes.HasSuffix(before, []byte(",")):
		return len(before) - 1, "remove the comma before " + string(c)
	case c == '/' || c == '#':
		return offset, "JSON has no comments"
	case bytes.HasPrefix(data[offset:], []byte("<<<<<<< ")):
		return offset, "a merge conflict; keep one of its sides"
	case c == '\'':
		return offset, "JSON has no single quotes; use double quotes"
	case strings.EqualFold(word, "true") || strings.EqualFold(word, "false"):
		return offset, "write " + strings.ToLower(word) + ", not " + word
	case word != "":
		return offset, word + " is not JSON; put text in double quotes"
	}
	return offset, syntax.Error()
}

// nearestKey returns the key that word may mean, "" if there is none. It knows the
// names of the flags too.
func nearestKey(word string) string {
	keys := map[string]string{}
	var names []string
	for _, o := range options {
		for _, name := range []string{o.key, strings.ReplaceAll(o.flag, "-", "_")} {
			keys[name], names = o.key, append(names, name)
		}
	}
	return keys[nearest(strings.ReplaceAll(word, "-", "_"), names)]
}

// convert turns a JSON value into an answer. The string is the problem, or "".
func (o *option) convert(value any) (answer, string) {
	broken := answer{broken: true}
	switch {
	case o.toggle != nil:
		if on, ok := value.(bool); ok {
			return answer{on: on}, ""
		}
		return broken, "expected true or false, not " + jsonType(value)
	case o.list != nil:
		elements, ok := value.([]any)
		if !ok {
			return broken, "expected a list of strings, not " + jsonType(value)
		}
		out := answer{list: []string{}}
		for _, e := range elements {
			s, ok := e.(string)
			if !ok {
				return broken, "expected a list of strings, but one element is " + jsonType(e)
			}
			out.list = append(out.list, s)
		}
		return out, ""
	}
	if s, ok := value.(string); ok {
		return answer{text: s}, ""
	}
	return broken, "expected a string, not " + jsonType(value)
}

func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}

// Names.

// nameFromDir derives a project name from the last element of dir. It trims
// invalid characters at both ends, and returns "" if no valid name remains.
func nameFromDir(dir string) string {
	runes := []rune(filepath.Base(dir))
	for len(runes) > 0 && !startsName(runes[0]) {
		runes = runes[1:]
	}
	if len(runes) > maxName {
		runes = runes[:maxName]
	}
	for len(runes) > 0 && !inName(runes[len(runes)-1]) {
		runes = runes[:len(runes)-1]
	}
	if nameProblem(string(runes)) != "" {
		return ""
	}
	return string(runes)
}

// maxName is the maximum length of a project name, in characters.
const maxName = 64

func startsName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inName also accepts combining marks: in some scripts, and in the file names of
// some systems, they are part of a letter.
func inName(r rune) bool {
	return startsName(r) || unicode.IsMark(r) || strings.ContainsRune(" ._-", r)
}

// reservedName reports whether Windows reserves the name for a device.
func reservedName(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	if len(base) == 4 && base[3] >= '0' && base[3] <= '9' {
		return base[:3] == "com" || base[:3] == "lpt"
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, base)
}

// nameProblem returns what is wrong with a project name, or "".
func nameProblem(name string) string {
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

// slug converts a project name to a package and agent name: lower-case ASCII
// letters and digits joined by single hyphens, or "bot" if none remain. At most 55
// characters, so that SLUG-secrets is a valid name for a secret set.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	s := b.String()
	s = strings.Trim(s[:min(len(s), 55)], "-")
	if s == "" {
		return "bot"
	}
	return s
}

// The kinds of provider, each a folder of templates/services.
const (
	kindSTT       = "stt"
	kindLLM       = "llm"
	kindTTS       = "tts"
	kindRealtime  = "realtime"
	kindVideo     = "video"
	kindTransport = "transports"
)

// serviceKinds are the kinds of AI service, in the order of listings.
var serviceKinds = []string{kindSTT, kindLLM, kindTTS, kindRealtime, kindVideo}
