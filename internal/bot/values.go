package bot

// A Value is a given value of an option. Which of Text, List and On counts depends on the option.
type Value struct {
	Text string
	List []string
	On   bool

	Flag  bool   // from the command line, not from the configuration file
	Alias string // the option's name in `pipecat init`, if it was given by that name; or ""
	at    string // its place in the configuration file: "bot.json:3:5"; "" if it is not from a file
	// reported says that the value cannot be used, and that a problem was added for it.
	reported bool
}

// Values are the values that were given, by option.
type Values map[*Option]Value

// set stores the value in the configuration.
func (o *Option) set(c *Config, v Value) {
	switch {
	case o.Toggle != nil:
		*o.Toggle(c) = v.On
	case o.List != nil:
		*o.List(c) = v.List
	default:
		*o.text(c) = v.Text
	}
}

// get returns the value in the configuration, and whether there is one: an optional text may be missing.
func (o *Option) get(c *Config) (v Value, ok bool) {
	switch {
	case o.Toggle != nil:
		return Value{On: *o.Toggle(c)}, true
	case o.List != nil:
		return Value{List: *o.List(c)}, true
	}
	text := *o.text(c)
	return Value{Text: text}, text != ""
}

// Values returns the values that produce c.
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
