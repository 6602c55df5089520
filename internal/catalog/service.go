package catalog

import (
	"slices"
	"strings"
)

// A Service is what a bot uses, or a transport: one file of templates/services. Its front
// matter describes it, its code builds it.
type Service struct {
	Kind  string
	file  string   // its path in templates
	ID    string   // canonical: "stt_a", "rtc_small"
	Label string   // "Deepgram"
	Names []string // names for the id, the usual one first

	Extras  []string // of pipecat-ai, without brackets
	Pip     []string // requirements other than pipecat-ai
	Python  string   // a newer Python than the framework needs, ">=3.12"; or ""
	flags   []string // "local" (runs on the bot's machine), "deprecated"
	KeysURL string   // where a person gets the keys
	Region  Region   // where it offers to process what it is sent in the EU
	// NeedsLoop says that its constructor needs the event loop, and so cannot run in a thread.
	NeedsLoop bool
	// Starts is "context" if a realtime session starts with the first context, "" if with the connection.
	Starts string
	// Turns is Python code that makes the service wait longer before the person's turn ends, if the
	// service decides that by default; otherwise "".
	Turns string
	// TurnsImport is the import statement that Turns needs, if the service's own code does not have it;
	// otherwise "".
	TurnsImport string
	Env         []Variable
	// languages are BCP 47 tags, or only "auto" (the service detects it) or "voice" (each voice
	// has its own); none if the service neither hears nor speaks.
	languages []string
	voices    map[string]string // the default voice by language
	anyVoice  bool              // each voice speaks each language
	Model     LocalModel
	Licenses  []License
	Hosts     []Host // that it contacts unless .env sets another address
	StandIn   StandIn
	VideoIn   bool // a transport supports the user's camera, a realtime service sees it

	frontMatter string // the comments at the top of the file, with the end of the last line
	source      string // the file without its front matter
	isCustom    bool   // a user's own, not one of vbot's

	Build Build

	// Video avatars only.
	Width, Height string // of the picture, in pixels

	// Transports only.
	order     string // two digits
	ModeOf    string // if the file is for one dial mode of a transport, the id of that transport; or ""
	Mode      string // this dial mode: "dial-in" or "dial-out"
	Telephony bool   // it connects calls, not sessions of a browser or an app
	Key       string // the entry in create_transport's dictionary
	VideoOut  bool   // it supports the bot's video
	// notInCloud says that Pipecat Cloud's runner (pipecatcloud 1.4) starts no bot with it.
	notInCloud  bool
	Client      Client     // its package for browsers
	SelfHost    []Variable // that self_host.py reads
	SelfHostPip []string   // requirements of self_host.py
}

// A Build is the code of a service's file: its imports, and the function build, which makes the service.
type Build struct {
	Imports    string // without an empty line at the end
	Parameters string // of build, as they stand between its brackets
	Class      string // that build returns
	Statements string // of build above its return, indented by four
}

// A Client is a package of the npm registry for web clients. It is zero if a transport has none.
type Client struct {
	Package string // "@pipecat-ai/daily-transport"
	Range   string // of the versions that were tested: "^1.6.9"
}

// A LocalModel has the requirements of a model in the bot's process. It is zero if there is none.
type LocalModel struct {
	Megabytes int
	CPU       int  // thousandths of a core that it needs to keep up with one session
	Apart     bool // each session loads its own copy
}

// A License is what a service brings under one license.
type License struct {
	SPDX string   // an expression: "GPL-3.0-or-later"
	Of   []string // packages that its extras and Pip install, and models, whose names have a space
}

// A StandIn plays the service in a project's tests, or a caller over the transport. It is a file of
// vbot/testing/stand_ins, in the folder of the service's kind, or of vbot/testing/people. It is zero if there
// is none, or if no variable has the service's address.
type StandIn struct {
	File string // without .py
	TLS  bool   // the framework connects only with TLS, whatever the address says
	// Untimed says that the framework (1.14) does not know when the service speaks which sentence, so it
	// cannot tell the model where a person interrupted an answer.
	Untimed   bool
	Addresses []Address
}

// An Address is a variable that points a service at its stand-in, with {} in the value for HOST:PORT.
type Address struct{ Name, Value string }

// A Host is what a firewall has to let through.
type Host struct {
	Address     string // HOST[:PORT[/udp]], where {NAME} is the value of a variable; the default port is 443
	Note        string // what for, or ""
	ForDownload bool   // a model is downloaded from it when the bot first starts
}

// IsUDP reports whether the ports are UDP ports.
func (h Host) IsUDP() bool { return strings.HasSuffix(h.Address, "/udp") }

// A Variable is an environment variable that a service reads.
type Variable struct {
	Name          string
	Required      bool
	Kind          string // secret, id, model, voice, region, url or path
	ReadByLibrary bool   // read by the framework, not by the generated code
	Server        bool   // read by webhooks.py, not by bot.py
	unless        string // though required, not needed if that variable is set
	With          string // though optional, needed if that variable is set
	Without       string // refused if that variable is set
	Other         string // the variable that is read if this one is unset
	Fallback      string // the default when unset or blank; "" if it is not fixed
	Page          string // where a person gets the value, if not at the service's KeysURL; or ""
	Note          string // a short description, with Page
}

// The kinds of service, each a folder of templates/services.
const (
	KindSTT       = "stt"
	KindLLM       = "llm"
	KindTTS       = "tts"
	KindRealtime  = "realtime"
	KindVideo     = "video"
	KindTransport = "transports"
)

// ServiceKinds are the kinds of AI service, in the order of listings.
var ServiceKinds = []string{KindSTT, KindLLM, KindTTS, KindRealtime, KindVideo}

// Unless returns the variable that replaces v, or "". If webhooks.py starts the calls, v is
// always needed, because webhooks.py checks with it who signed a request.
func (s *Service) Unless(v Variable) string {
	if s.ModeOf != "" || s.hasNoCode() {
		return ""
	}
	return v.unless
}

// hasNoCode reports whether the service is a transport with dial modes: the file of each mode has the code.
func (s *Service) hasNoCode() bool { return strings.TrimSpace(s.source) == "" }

// Addresses returns the addresses of the service's hosts.
func (s *Service) Addresses() []string {
	out := []string{}
	for _, h := range s.Hosts {
		out = append(out, h.Address)
	}
	return out
}

// Needs returns what the service needs other than variables.
func (s *Service) Needs() (out []string) {
	if s.Python != "" {
		out = append(out, "python"+s.Python)
	}
	return append(out, s.flags...)
}

// Local reports whether the service runs on the owner's machines, and so does not charge.
func (s *Service) Local() bool { return slices.Contains(s.flags, "local") }

// OnLocalhost reports whether the service is a server on the bot's machine, unless a variable has another
// address.
func (s *Service) OnLocalhost() bool {
	return slices.ContainsFunc(s.Hosts, func(h Host) bool {
		host, _, _ := strings.Cut(h.Address, ":")
		return host == "localhost" || host == "127.0.0.1"
	})
}

// AddressVariables returns the variables for addresses of the service.
func (s *Service) AddressVariables() (names []string) {
	for _, v := range s.Env {
		if v.Kind == "url" {
			names = append(names, v.Name)
		}
	}
	return names
}

// Deprecated reports whether the framework will remove the service.
func (s *Service) Deprecated() bool { return slices.Contains(s.flags, "deprecated") }

// CloudRuns reports whether Pipecat Cloud runs bots with the transport.
func (s *Service) CloudRuns() bool { return !s.notInCloud }
