package render

import (
	"slices"
	"strings"

	"vbot/internal/bot"
	"vbot/internal/catalog"
)

// Does returns what the service does in a conversation: "listens".
func (s Service) Does() string {
	return map[string]string{
		catalog.KindSTT:      "listens",
		catalog.KindLLM:      "thinks",
		catalog.KindTTS:      "speaks",
		catalog.KindRealtime: "listens and speaks",
		catalog.KindVideo:    "shows a face",
	}[s.Kind]
}

// ServiceNames returns the variables of the services in bot.py: "stt, llm, tts".
func (d *Data) ServiceNames() string {
	var names []string
	for _, s := range d.Services {
		names = append(names, s.Name())
	}
	return strings.Join(names, ", ")
}

// Summary returns a sentence about what each service does: "Deepgram listens, OpenAI thinks, ...".
func (d *Data) Summary() string {
	var parts []string
	for _, s := range d.Services {
		parts = append(parts, s.Label+" "+s.Does())
	}
	return strings.Join(parts, ", ") + "."
}

// The services of the bot by kind, nil if it has none.

func (d *Data) STT() *Service      { return d.service(catalog.KindSTT) }
func (d *Data) LLM() *Service      { return d.service(catalog.KindLLM) }
func (d *Data) TTS() *Service      { return d.service(catalog.KindTTS) }
func (d *Data) Realtime() *Service { return d.service(catalog.KindRealtime) }
func (d *Data) Video() *Service    { return d.service(catalog.KindVideo) }

func (d *Data) service(kind string) *Service {
	for i := range d.Services {
		if d.Services[i].Kind == kind {
			return &d.Services[i]
		}
	}
	return nil
}

// Reads reports whether a service reads the variable.
func (d *Data) Reads(name string) bool {
	_, ok := d.variable(name)
	return ok
}

// variable returns the variable of the first service that reads it.
func (d *Data) variable(name string) (v catalog.Variable, ok bool) {
	for _, s := range d.Services {
		for _, v := range s.Env {
			if v.Name == name {
				return v, true
			}
		}
	}
	return catalog.Variable{}, false
}

// CanLook reports whether the language model has a tool to see the camera. Realtime
// services see it anyway.
func (d *Data) CanLook() bool { return d.VideoInput && d.Mode == bot.ModeCascade }

// StartsWithContext reports whether the model hears nothing before it receives a
// context, even an empty one.
func (d *Data) StartsWithContext() bool {
	return d.Realtime() != nil && d.Realtime().Starts == "context"
}

// NeedsSession reports whether a service takes an aiohttp session.
func (d *Data) NeedsSession() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.NeedsSession })
}

// NeedsTools reports whether the constructor of a service takes the tools.
func (d *Data) NeedsTools() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.NeedsTools })
}

// NeedsLoop reports whether the constructor of a service needs the event loop.
func (d *Data) NeedsLoop() bool {
	return slices.ContainsFunc(d.Services, func(s Service) bool { return s.NeedsLoop })
}

// LocalModels returns the services whose models run in the bot's process.
func (d *Data) LocalModels() []Service {
	return slices.DeleteFunc(slices.Clone(d.Services), func(s Service) bool { return s.Model.Megabytes == 0 })
}

// LocalNames returns the labels of the services that run on the owner's machines: "Moonshine, Ollama and
// Piper".
func (d *Data) LocalNames() string {
	var names []string
	for _, s := range d.Services {
		if s.Local() {
			names = append(names, s.Label)
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// LocalLLM reports whether the language model is a server on the owner's machines.
func (d *Data) LocalLLM() bool { return d.LLM() != nil && d.LLM().Local() }

// LoadsModels reports whether a model has to be loaded or warmed up before the first session.
func (d *Data) LoadsModels() bool { return d.LocalLLM() || len(d.LocalModels()) > 0 }

// Runs reports whether one of these services, by first name, runs a model in the bot's process.
func (d *Data) Runs(names ...string) bool {
	isOne := func(s Service) bool { return slices.Contains(names, s.Names[0]) }
	return slices.ContainsFunc(d.LocalModels(), isOne)
}

// OnThisMachine reports whether the services are those of the preset, whose requirements were measured.
func (d *Data) OnThisMachine() bool {
	preset := bot.OnThisMachine()
	for _, o := range []*bot.Option{bot.OptSTT, bot.OptLLM, bot.OptTTS} {
		service := d.cat.Find(o.Kind, preset[o].Text)
		if !slices.ContainsFunc(d.Services, func(s Service) bool { return s.ID == service.ID }) {
			return false
		}
	}
	return true
}

// Measured returns the measured requirements of that preset, and the size of Ollama.
func (d *Data) Measured() bot.Requirements { return bot.Measured() }

// CloudNeeds returns the variables for addresses of services whose default is on localhost, such as
// "OLLAMA_BASE_URL"; "" if the bot is not deployed to the cloud, or has no such service.
func (d *Data) CloudNeeds() string {
	var names []string
	for _, s := range d.Services {
		if d.DeployToCloud && s.OnLocalhost() {
			names = append(names, s.AddressVariables()...)
		}
	}
	return strings.Join(names, ", ")
}

// OfOthers returns the services and carriers of other companies, which process what people say.
func (d *Data) OfOthers() []Service {
	isOwn := func(s Service) bool { return s.Local() || s.KeysURL == "" }
	return slices.DeleteFunc(d.all(), isOwn)
}
