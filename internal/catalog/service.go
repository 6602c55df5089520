package catalog

import (
	"slices"
	"strings"
)

// A Service is what a bot uses, or a transport: one file of templates/services. Its head
// describes it, its code builds it.
type Service struct {
	Kind  string
	file  string   // its path in templates
	ID    string   // canonical: "stt_a", "rtc_small"
	Label string   // "Deepgram"
	Names []string // names for the id, the usual one first

	Extras  []string // of pipecat-ai, without brackets
	Pip     []string // requirements beside pipecat-ai
	Python  string   // a bound that is stricter than the framework's, ">=3.12"; "" if there is none
	flags   []string // "local" (runs on the bot's machine), "deprecated"
	Loop    string   // "yes" where its constructor needs the event loop, and so cannot run in a thread
	KeysURL string   // where a person gets the keys
	// Starts is "context" where a realtime session starts with the first context, "" with the connection.
	Starts string
	// Turns is Python that makes the service wait longer before a turn of the person ends, where the
	// service decides that by default; else "".
	Turns string
	// TurnsImport is the import statement that this Python needs and the service's own code does not have;
	// else "".
	TurnsImport string
	Env         []Variable
	// languages are BCP 47 tags, or "auto" (it finds out by itself) or "voice" (each voice
	// has its own) alone; none where nothing is heard or spoken.
	languages []string
	voices    map[string]string // by language, those that speak it where nobody chose another one
	anyVoice  bool              // each voice speaks each language
	Model     LocalModel
	Hosts     []Host // that it contacts, if .env holds no address of one's own
	StandIn   StandIn
	VideoIn   bool   // a transport carries the person's camera, a realtime service looks at it
	head      string // of the file, with the end of its last line
	source    string // the file without its head
	own       bool   // not one of vbot's

	Build Build

	// Video avatars only.
	Width, Height string // of the picture, in pixels

	// Transports only.
	order     string // two digits
	ModeOf    string // of one way of dialing: the id of the transport that it is a mode of
	Mode      string // and that mode, "dial-in" or "dial-out"
	Telephony bool   // it carries calls, not sessions of a browser or an app
	Key       string // the entry in create_transport's dictionary
	VideoOut  bool   // it carries the bot's picture
	cloud     string // "no": Pipecat Cloud's runner (pipecatcloud 1.4) starts no bot with it
	// Client is its package for browsers with the tested range, "@pipecat-ai/daily-transport ^1.6.9"; "" if
	// there is none.
	Client      string
	SelfHost    []Variable // that self_host.py reads
	SelfHostPip []string   // requirements of self_host.py
}

// A Build is the code of a service's file: its imports and the function build, which makes it.
type Build struct {
	Imports    string // without an empty line at the end
	Parameters string // of build, as they stand between its brackets
	Class      string // that build returns
	Statements string // of build above its return, indented by four
}

// A LocalModel is what a model in the bot's process takes: there is none if it takes no memory.
type LocalModel struct {
	Megabytes int
	CPU       int  // thousandths of a core, while it works for one session, so that it keeps up
	Apart     bool // each session loads its own
}

// A StandIn plays the service in a project's tests, or somebody who comes over the transport: a file of
// templates/stand_ins, in the folder of the service's kind, or in people. The zero value says that there is
// none, or that no variable holds the service's address.
type StandIn struct {
	File string // without .py
	TLS  bool   // the framework connects with TLS alone, whatever the address says
	// Untimed says that the framework (1.14) does not know when the service speaks which sentence, so
	// that the model is not told where a person interrupted an answer.
	Untimed bool
	// HangsUp says that the framework asks the carrier's API to end a call, which no test may.
	HangsUp   bool
	Addresses []Address
}

// An Address is a variable that points a service at its stand-in, with {} in the value for HOST:PORT.
type Address struct{ Name, Value string }

// A Host is what a firewall has to let through.
type Host struct {
	Address string // HOST[:PORT[/udp]], with {NAME} for what a variable holds; without a port it is 443
	Note    string
}

// A Variable is an environment variable that a service reads.
type Variable struct {
	Name          string
	Required      bool
	Kind          string // secret, id, model, voice, region, url or path
	ReadByLibrary bool   // read by the framework, not by the generated code
	Server        bool   // read by webhooks.py, not by bot.py
	unless        string // though required, not needed where that variable is set
	With          string // though optional, needed where that variable is set
	Without       string // refused where that variable is set
	Other         string // though optional, that variable is read where this one is unset
	Fallback      string // the default when unset or blank; "" if it is not fixed
	Note          string // a short description
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

// Unless is the variable that takes the place of v, or "". Where webhooks.py starts
// the calls it holds for bot.py alone: webhooks.py needs v itself, to know who
// signed a request.
func (s *Service) Unless(v Variable) string {
	if s.ModeOf != "" || s.standsFor() {
		return ""
	}
	return v.unless
}

// standsFor reports whether the service is a transport that stands for several ways of
// dialing: their files have the code.
func (s *Service) standsFor() bool { return strings.TrimSpace(s.source) == "" }

// Addresses are those of the service's hosts.
func (s *Service) Addresses() []string {
	out := []string{}
	for _, h := range s.Hosts {
		out = append(out, h.Address)
	}
	return out
}

// Needs returns what the service needs besides its variables.
func (s *Service) Needs() (out []string) {
	if s.Python != "" {
		out = append(out, "python"+s.Python)
	}
	return append(out, s.flags...)
}

// Local says whether it runs on the owner's machines, and so does not charge.
func (s *Service) Local() bool { return slices.Contains(s.flags, "local") }

// OnLocalhost says whether it is a server on the bot's machine, unless a variable has another address.
func (s *Service) OnLocalhost() bool {
	return slices.ContainsFunc(s.Hosts, func(h Host) bool {
		host, _, _ := strings.Cut(h.Address, ":")
		return host == "localhost" || host == "127.0.0.1"
	})
}

// AddressVariables are those that hold an address of the service.
func (s *Service) AddressVariables() (names []string) {
	for _, v := range s.Env {
		if v.Kind == "url" {
			names = append(names, v.Name)
		}
	}
	return names
}

// Deprecated says whether the framework will not have it for long.
func (s *Service) Deprecated() bool { return slices.Contains(s.flags, "deprecated") }

// CloudRuns says whether Pipecat Cloud runs bots with the transport.
func (s *Service) CloudRuns() bool { return s.cloud != "no" }
