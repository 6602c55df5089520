package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
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

// A config says all there is to know about a bot. Its JSON form is what
// --dry-run prints and what --config reads; the order of the keys is fixed.
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
}

func (c config) hasTransport(id string) bool { return slices.Contains(c.Transports, id) }

// The options that shape a bot, in the order of the dry run.

type optionType int

const (
	text optionType = iota
	list
	toggled
)

// An option is one key of the configuration, with its flags.
type option struct {
	key   string
	flag  string
	short string
	typ   optionType
	kind  string   // of the providers it names, if it names some
	words []string // it takes, if it takes one of a few
}

var options = []option{
	{"project_name", "name", "n", text, "", nil},
	{"bot_type", "bot-type", "b", text, "", []string{botWeb, botTelephony}},
	{"transports", "transport", "t", list, kindTransport, nil},
	{"mode", "mode", "m", text, "", []string{modeCascade, modeRealtime}},
	{"stt_service", "stt", "", text, kindSTT, nil},
	{"llm_service", "llm", "", text, kindLLM, nil},
	{"tts_service", "tts", "", text, kindTTS, nil},
	{"recording", "recording", "", toggled, "", nil},
	{"transcription", "transcription", "", toggled, "", nil},
	{"deploy_to_cloud", "deploy-to-cloud", "", toggled, "", nil},
	{"enable_noise_cancel", "enable-noise-cancel", "", toggled, "", nil},
	{"enable_observability", "observability", "", toggled, "", nil},
	{"realtime_service", "realtime", "", text, kindRealtime, nil},
	{"video_service", "video", "", text, kindVideo, nil},
	{"client_framework", "client-framework", "", text, "", []string{clientReact, clientVanilla, clientNone}},
	{"client_server", "client-server", "", text, "", []string{serverVite, serverNext}},
	{"daily_pstn_mode", "daily-pstn-mode", "", text, "", []string{modeDialIn, modeDialOut}},
	{"twilio_daily_sip_mode", "twilio-daily-sip-mode", "", text, "", []string{modeDialIn, modeDialOut}},
	{"video_input", "video-input", "", toggled, "", nil},
	{"video_output", "video-output", "", toggled, "", nil},
	{"enable_eval", "eval", "", toggled, "", nil},
}

// optionOf is the option with the key.
func optionOf(key string) option { return options[position(key)] }

// position is where the option with the key stands among all.
func position(key string) int {
	return slices.IndexFunc(options, func(o option) bool { return o.key == key })
}

// where is how messages name the option: "--stt (stt_service)".
func (o option) where() string { return "--" + o.flag + " (" + o.key + ")" }

// An answer is what was said about one option, and where.
type answer struct {
	text   string
	list   []string
	on     bool
	flag   bool // on the command line; else in the configuration file
	broken bool // already reported, and good for nothing else
}

// answers holds what was said, by key; what was not said is absent.
type answers map[string]answer

// A resolver turns what was said into a configuration. It goes on after a
// problem, so that all are reported at once.
type resolver struct {
	cat      *catalog
	said     answers
	leftOut  []leftOut
	problems []problem
}

// leftOut is a value of the file that the command line made inapplicable.
type leftOut struct {
	what string // the option's key, or else what it was in words
	why  string
}

// resolve checks what was said against every rule and fills in the defaults.
// dirName is the project's name where none was given, or "".
func resolve(cat *catalog, said answers, dirName string) (config, []leftOut, []problem) {
	r := &resolver{cat: cat, said: maps.Clone(said)}
	for _, o := range options {
		if a, ok := r.said[o.key]; ok && o.typ == text && a.text == "" && !a.broken {
			r.wrong(o.key, "the value is empty")
			r.said[o.key] = answer{flag: a.flag, broken: true}
		}
	}
	cfg := config{ProjectName: r.name(dirName), Mode: r.mode(), DeployToCloud: true}
	transports := r.transports(&cfg)
	cfg.BotType = r.botType(transports)
	r.services(&cfg)
	r.features(&cfg, transports)
	r.webOnly(&cfg, transports)
	slices.SortStableFunc(r.problems, func(a, b problem) int { return cmp.Compare(position(a.Field), position(b.Field)) })
	return cfg, r.leftOut, r.problems
}

// wrong reports a problem of the option with the key.
func (r *resolver) wrong(key, format string, args ...any) {
	r.problems = append(r.problems, problem{Field: key, where: optionOf(key).where(), Message: fmt.Sprintf(format, args...)})
}

// oneOf reports a problem with what would be allowed instead.
func (r *resolver) oneOf(key string, allowed []string, format string, args ...any) {
	r.wrong(key, format, args...)
	r.problems[len(r.problems)-1].Allowed = allowed
}

// missing reports that the option has to be given.
func (r *resolver) missing(key string, allowed []string, format string, args ...any) {
	r.oneOf(key, allowed, "missing: "+format, args...)
	r.problems[len(r.problems)-1].missing = true
}

// has says whether the option was given a usable value.
func (r *resolver) has(key string) bool {
	a, ok := r.said[key]
	return ok && !a.broken
}

// given says whether the option was given at all.
func (r *resolver) given(key string) bool {
	_, ok := r.said[key]
	return ok
}

// yields settles that the value of key cannot stand beside that of winner. The
// command line beats the file: a value of the file is dropped with a note. Two
// values from one place are a problem.
func (r *resolver) yields(key, winner, why string) {
	a := r.said[key]
	if !a.flag && r.said[winner].flag {
		r.leftOut = append(r.leftOut, leftOut{key, why})
		delete(r.said, key)
		return
	}
	r.wrong(key, "%s", why)
	r.said[key] = answer{flag: a.flag, broken: true}
}

// word is the value of an option that takes one of a few words, or "".
func (r *resolver) word(key string) string {
	if !r.has(key) {
		return ""
	}
	value, allowed := r.said[key].text, optionOf(key).words
	if slices.Contains(allowed, value) {
		return value
	}
	r.oneOf(key, allowed, "%q is unknown%s", value, didYouMean(value, allowed))
	r.said[key] = answer{broken: true}
	return ""
}

func (r *resolver) name(dirName string) string {
	if r.has("project_name") {
		name := r.said["project_name"].text
		if why := nameProblem(name); why != "" {
			r.wrong("project_name", "%s", why)
		}
		return name
	}
	if dirName == "" && !r.given("project_name") {
		r.missing("project_name", nil, "the directory's name does not make a project's name")
	}
	return dirName
}

// mode is never guessed: while it is missing, services does name what either
// mode needs.
func (r *resolver) mode() string {
	if !r.given("mode") {
		r.missing("mode", optionOf("mode").words, "cascade joins three services, realtime uses one")
	}
	return r.word("mode")
}

// dialed are the transports that need a mode, with the option that says which.
var dialed = map[string]string{"rtc_hosted_pstn": "daily_pstn_mode", "tel_a_rtc_hosted_sip": "twilio_daily_sip_mode"}

// transports returns the transports given, and puts their canonical ids and
// modes into cfg.
func (r *resolver) transports(cfg *config) (found []*provider) {
	const key = "transports"
	allowed := func() []string { return append(r.cat.transportIDs(false), r.cat.transportIDs(true)...) }
	cfg.Transports = []string{}
	if !r.given(key) || r.has(key) && len(r.said[key].list) == 0 {
		r.missing(key, allowed(), "how people reach the bot")
		return nil
	}
	modes := map[string]string{} // that the ids of ways of dialing named, by option
	for _, word := range r.said[key].list {
		p := r.cat.find(kindTransport, word)
		if p == nil {
			r.oneOf(key, allowed(), "%q is unknown%s", word, r.cat.didYouMean(kindTransport, word))
			continue
		}
		id := p.id
		if p.generic != "" {
			id = p.generic
			option := dialed[id]
			if other := modes[option]; other != "" && other != p.mode {
				r.wrong(key, "%s is either %s or %s, not both", id, other, p.mode)
			}
			modes[option] = p.mode
		}
		if !slices.Contains(cfg.Transports, id) {
			cfg.Transports = append(cfg.Transports, id)
			found = append(found, p)
		}
	}
	if cfg.hasTransport("rtc_hosted_pstn") && cfg.hasTransport("tel_a_rtc_hosted_sip") {
		r.wrong(key, "rtc_hosted_pstn and tel_a_rtc_hosted_sip exclude each other: both would be served by one server.py")
	}
	cfg.DailyPSTNMode = r.dialMode("rtc_hosted_pstn", modes, cfg)
	cfg.TwilioDailySIPMode = r.dialMode("tel_a_rtc_hosted_sip", modes, cfg)
	return found
}

// dialMode is the mode of the dialed transport with the id: said by its option,
// or by the id of a way of dialing, or by both alike.
func (r *resolver) dialMode(id string, modes map[string]string, cfg *config) orNull {
	option := dialed[id]
	named := modes[option]
	if r.has(option) && !cfg.hasTransport(id) {
		r.yields(option, "transports", "there is no "+id+" transport")
		return ""
	}
	said := r.word(option)
	if said != "" && named != "" && said != named && r.said[option].flag && !r.said["transports"].flag {
		r.leftOut = append(r.leftOut, leftOut{"the mode " + named, optionOf(option).where() + " says " + said})
		return orNull(said)
	}
	if said != "" && named != "" && said != named {
		r.yields(option, "transports", "the transport "+id+"_"+strings.ReplaceAll(named, "-", "")+" says "+named)
	} else if said != "" {
		return orNull(said)
	}
	if named == "" && cfg.hasTransport(id) && !r.given(option) {
		r.missing(option, optionOf(option).words, "%s needs it", id)
	}
	return orNull(named)
}

func (r *resolver) botType(transports []*provider) string {
	i := slices.IndexFunc(transports, func(p *provider) bool { return p.telephony })
	said := r.word("bot_type")
	if said == botWeb && i >= 0 {
		r.yields("bot_type", "transports", "a web bot takes no telephony transport, and "+transports[i].id+" is one")
		said = ""
	}
	if said != "" {
		return said
	}
	if i >= 0 {
		return botTelephony
	}
	return botWeb
}

// services resolves the AI services that the mode needs, and refuses those of
// the other.
func (r *resolver) services(cfg *config) {
	for _, s := range []struct {
		key, kind, mode, noun string
		to                    *orNull
	}{
		{"stt_service", kindSTT, modeCascade, "speech-to-text service", &cfg.STTService},
		{"llm_service", kindLLM, modeCascade, "language model", &cfg.LLMService},
		{"tts_service", kindTTS, modeCascade, "text-to-speech service", &cfg.TTSService},
		{"realtime_service", kindRealtime, modeRealtime, "realtime service", &cfg.RealtimeService},
		{"video_service", kindVideo, "", "video avatar service", &cfg.VideoService},
	} {
		if r.has(s.key) && cfg.Mode != "" && s.mode != "" && s.mode != cfg.Mode {
			r.yields(s.key, "mode", s.mode+" mode uses it, and the mode is "+cfg.Mode)
			continue
		}
		if r.has(s.key) {
			word := r.said[s.key].text
			if p := r.cat.find(s.kind, word); p != nil {
				*s.to = orNull(p.id)
				continue
			}
			r.oneOf(s.key, r.cat.ids(s.kind), "%q is not a %s%s", word, s.noun, r.cat.didYouMean(s.kind, word))
			continue
		}
		if !r.given(s.key) && s.mode != "" && (s.mode == cfg.Mode || cfg.Mode == "") {
			r.missing(s.key, r.cat.ids(s.kind), "the %s of %s mode", s.noun, s.mode)
		}
	}
}

// features takes the options that every bot may have.
func (r *resolver) features(cfg *config, transports []*provider) {
	if len(transports) > 0 && !slices.ContainsFunc(transports, func(p *provider) bool { return !p.notCloud }) {
		cfg.DeployToCloud = false
		why := "Pipecat Cloud does not run " + transports[0].label + " bots"
		if r.said["deploy_to_cloud"].on {
			r.yields("deploy_to_cloud", "transports", why)
		}
		if r.said["enable_noise_cancel"].on && !r.given("deploy_to_cloud") {
			r.yields("enable_noise_cancel", "transports", "it needs cloud deployment, and "+why)
		}
	}
	if r.said["enable_noise_cancel"].on && r.given("deploy_to_cloud") && !r.said["deploy_to_cloud"].on && !r.said["deploy_to_cloud"].broken {
		// The command line may have said either of the two.
		if r.said["deploy_to_cloud"].flag {
			r.yields("enable_noise_cancel", "deploy_to_cloud", "it needs cloud deployment, which is turned off")
		} else {
			r.yields("deploy_to_cloud", "enable_noise_cancel", "noise cancelling needs cloud deployment")
		}
	}
	if r.has("deploy_to_cloud") {
		cfg.DeployToCloud = r.said["deploy_to_cloud"].on
	}
	cfg.EnableNoiseCancel = r.said["enable_noise_cancel"].on
	cfg.Recording = r.said["recording"].on
	cfg.Transcription = r.said["transcription"].on
	cfg.EnableObservability = r.said["enable_observability"].on
	cfg.EnableEval = r.said["enable_eval"].on
}

// webOnly takes video and the client, which only web bots have. Turning one of
// them off never is a problem.
func (r *resolver) webOnly(cfg *config, transports []*provider) {
	r.videoAgrees()
	video := map[string]func(*provider) bool{
		"video_input":   func(p *provider) bool { return p.videoIn },
		"video_output":  func(p *provider) bool { return p.videoOut },
		"video_service": func(p *provider) bool { return p.videoOut },
	}
	for _, key := range []string{"video_input", "video_output", "video_service"} {
		a := r.said[key]
		switch {
		case a.broken || !a.on && a.text == "":
		case cfg.BotType == botTelephony:
			r.yields(key, r.reason(cfg), "only a web bot has video, and this is a telephony bot")
		case len(transports) > 0 && !slices.ContainsFunc(transports, video[key]):
			r.yields(key, "transports", "no transport of this bot carries video")
		case key == "video_input" && cfg.RealtimeService != "":
			if p := r.cat.find(kindRealtime, string(cfg.RealtimeService)); !p.videoIn {
				r.yields(key, "realtime_service", p.label+" does not take video")
			}
		}
	}
	if !r.has("video_service") {
		cfg.VideoService = ""
	}
	cfg.VideoInput = r.said["video_input"].on
	cfg.VideoOutput = r.said["video_output"].on || cfg.VideoService != ""

	r.client(cfg, transports)
}

// client takes the web client and what serves it.
func (r *resolver) client(cfg *config, transports []*provider) {
	const key = "client_framework"
	framework := r.word(key)
	if framework != "" && framework != clientNone {
		switch {
		case cfg.BotType == botTelephony:
			r.yields(key, r.reason(cfg), "only a web bot has a web client, and this is a telephony bot")
		case len(transports) > 0 && !slices.ContainsFunc(transports, func(p *provider) bool { return p.client != "" }):
			r.yields(key, "transports", "no transport of this bot has a client package for browsers ("+transports[0].label+" has none)")
		}
	}
	if framework != "" && !r.given(key) && !r.said["client_server"].flag {
		delete(r.said, "client_server") // it goes with the client of the file
	}
	if !r.has(key) || framework == clientNone {
		framework = ""
	}
	server := r.word("client_server")
	switch {
	case framework == "" && server != "" && !r.said[key].broken:
		r.yields("client_server", key, "there is no web client to serve")
	case framework == clientVanilla && server == serverNext:
		r.yields("client_server", key, "nextjs serves React, and this client is plain JavaScript")
	}
	if framework == "" {
		return
	}
	cfg.ClientFramework, cfg.ClientServer = orNull(framework), serverVite
	if r.has("client_server") {
		cfg.ClientServer = orNull(r.said["client_server"].text)
	}
}

// videoAgrees settles a video avatar beside video output that is turned off.
func (r *resolver) videoAgrees() {
	off := r.has("video_output") && !r.said["video_output"].on
	if !off || !r.has("video_service") {
		return
	}
	if r.said["video_output"].flag && !r.said["video_service"].flag {
		r.yields("video_service", "video_output", "video output is turned off")
	} else {
		r.yields("video_output", "video_service", "a video avatar needs it")
	}
}

// reason is the option that made the bot a telephony bot.
func (r *resolver) reason(cfg *config) string {
	if r.has("bot_type") {
		return "bot_type"
	}
	return "transports"
}

// answers is what would have to be said to get c.
func (c config) answers() answers {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	said, _, err := parseConfig(data)
	if err != nil {
		panic(err)
	}
	return said
}

// arguments are the options that give c, without those that go without saying.
// dirName is as for resolve. Providers have their real names.
func (c config) arguments(cat *catalog, dirName string) (args []string) {
	said := c.answers()
	for _, o := range options {
		a, ok := said[o.key]
		if !ok {
			continue
		}
		delete(said, o.key)
		if without, _, problems := resolve(cat, said, dirName); len(problems) == 0 && reflect.DeepEqual(without, c) {
			continue
		}
		said[o.key] = a
		flag := "--" + o.flag
		if o.short != "" && o.key != "project_name" {
			flag = "-" + o.short
		}
		switch {
		case o.typ == toggled && !a.on:
			args = append(args, "--no-"+o.flag)
		case o.typ == toggled:
			args = append(args, flag)
		case o.typ == list:
			for _, word := range a.list {
				args = append(args, flag, cat.find(o.kind, word).names[0])
			}
		case o.kind != "":
			args = append(args, flag, cat.find(o.kind, a.text).names[0])
		default:
			args = append(args, flag, a.text)
		}
	}
	return args
}

// parseConfig reads one JSON object key by key. encoding/json alone would take
// keys twice, in another case, or not at all without a word.
func parseConfig(data []byte) (answers, []problem, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	located := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON ends too early")
		}
		line := 1 + bytes.Count(data[:min(int(dec.InputOffset()), len(data))], []byte("\n"))
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			line = 1 + bytes.Count(data[:max(0, min(int(se.Offset)-1, len(data)))], []byte("\n"))
		}
		return fmt.Errorf("not JSON: line %d: %w", line, err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil, errors.New("it is empty; a JSON object is needed")
	}
	open, err := dec.Token()
	if err != nil {
		return nil, nil, located(err)
	}
	if open != json.Delim('{') {
		return nil, nil, errors.New("a JSON object is needed: {...}")
	}
	var keys []string
	for _, o := range options {
		keys = append(keys, o.key)
	}
	said, seen := answers{}, map[string]bool{}
	var problems []problem
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, nil, located(err)
		}
		key := token.(string) // the decoder takes nothing else here
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, nil, located(err)
		}
		wrong := func(format string, args ...any) {
			problems = append(problems, problem{Field: key, where: key, Message: fmt.Sprintf(format, args...)})
		}
		if !slices.Contains(keys, key) {
			wrong("unknown key%s", didYouMean(key, keys))
			continue
		}
		if seen[key] {
			wrong("the key stands there twice")
			continue
		}
		seen[key] = true
		if value == nil {
			continue
		}
		got, message := convert(optionOf(key).typ, value)
		if message != "" {
			wrong("%s", message)
		}
		said[key] = got
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, located(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		problems = append(problems, problem{Field: "config", where: "--config", Message: "something follows the JSON object"})
	}
	return said, problems, nil
}

// convert turns a JSON value into an answer, or says what is wrong with it.
func convert(typ optionType, value any) (answer, string) {
	broken := answer{broken: true}
	switch typ {
	case toggled:
		if on, ok := value.(bool); ok {
			return answer{on: on}, ""
		}
		return broken, "true or false is needed, not " + jsonType(value)
	case list:
		elements, ok := value.([]any)
		if !ok {
			return broken, "a list of strings is needed, not " + jsonType(value)
		}
		out := answer{list: []string{}}
		for _, e := range elements {
			s, ok := e.(string)
			if !ok {
				return broken, "a list of strings is needed, and one element is " + jsonType(e)
			}
			out.list = append(out.list, s)
		}
		return out, ""
	}
	if s, ok := value.(string); ok {
		return answer{text: s}, ""
	}
	return broken, "a string is needed, not " + jsonType(value)
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

// nameFromDir makes a project's name of the base of a directory's path: what
// does not fit at its ends is cut off. It is "" if nothing fits.
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

// maxName bounds a project's name, in characters.
const maxName = 64

func startsName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inName also takes combining marks: in some scripts, and in file names of some
// systems, they are part of a letter.
func inName(r rune) bool {
	return startsName(r) || unicode.IsMark(r) || strings.ContainsRune(" ._-", r)
}

// reservedName says whether Windows keeps the name for a device.
func reservedName(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	if len(base) == 4 && base[3] >= '0' && base[3] <= '9' {
		return base[:3] == "com" || base[:3] == "lpt"
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, base)
}

// nameProblem says what is wrong with a project's name, or "".
func nameProblem(name string) string {
	runes := []rune(name)
	switch {
	case len(runes) == 0:
		return "a name is needed"
	case len(runes) > maxName:
		return fmt.Sprintf("the name has %d characters, and at most %d fit", len(runes), maxName)
	case !startsName(runes[0]) || slices.ContainsFunc(runes, func(r rune) bool { return !inName(r) }):
		return fmt.Sprintf("%q does not fit: a letter or digit, then letters, digits, spaces and . _ -", name)
	case reservedName(name):
		return fmt.Sprintf("%q is a reserved name on Windows", name)
	}
	return ""
}

// slug is the name in the stricter form of package and agent names: lower-case
// ASCII letters and digits joined by single hyphens, at most 55 characters, so
// that SLUG-secrets is still a name for a secret set; "bot" if none remain.
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
