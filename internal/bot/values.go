package bot

import (
	"reflect"

	"vbot/internal/report"
)

// A Value is what was given for an option. Which of Text, List and On counts depends on the option.
type Value struct {
	Text string
	List []string
	On   bool

	FromFlag bool         // from the command line, not from the configuration file
	Alias    string       // the option's name in `pipecat init`, if it was given by that name; or ""
	at       report.Place // in the configuration file; zero if it is not from a file
	// reported says that the value cannot be used, and that a problem was added for it.
	reported bool
}

// Values are the values that were given, by option.
type Values map[*Option]Value

// set stores the value in the configuration.
func (o *Option) set(c *Config, v Value) {
	field := o.field(c)
	switch o.kind() {
	case reflect.Bool:
		field.SetBool(v.On)
	case reflect.Slice:
		field.Set(reflect.ValueOf(v.List))
	default:
		field.SetString(v.Text)
	}
}

// get returns the value in the configuration, and whether there is one: an optional text may be missing.
func (o *Option) get(c *Config) (v Value, ok bool) {
	field := o.field(c)
	switch o.kind() {
	case reflect.Bool:
		return Value{On: field.Bool()}, true
	case reflect.Slice:
		return Value{List: field.Interface().([]string)}, true
	}
	return Value{Text: field.String()}, field.String() != ""
}

// Values returns the values that Resolve turns into c.
func (c Config) Values() Values {
	values := Values{}
	for _, o := range Options {
		if v, ok := o.get(&c); ok {
			values[o] = v
		}
	}
	return values
}

// Quickstart returns the preset of `vbot init quickstart`.
func Quickstart() Values {
	return Values{
		OptName:       {Text: "vbot-quickstart"},
		OptTransports: {List: []string{"smallwebrtc", "daily"}},
		OptMode:       {Text: ModeCascade},
		OptSTT:        {Text: "deepgram"},
		OptLLM:        {Text: "openai"},
		OptTTS:        {Text: "cartesia"},
	}
}

// OnThisMachine returns the preset of a bot that needs no key and no account. Its services answer
// soonest on two cores without a GPU: machine.go and docs/performance.md have the figures.
func OnThisMachine() Values {
	return Values{
		OptTransports: {List: []string{"smallwebrtc"}},
		OptMode:       {Text: ModeCascade},
		OptSTT:        {Text: "moonshine"},
		OptLLM:        {Text: "ollama"},
		OptTTS:        {Text: "piper"},
	}
}
