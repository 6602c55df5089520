package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A topic is one question of the wizard. What may be answered is not written down
// here: the rules of the configuration are asked (suits).
type topic struct {
	label string   // in the summary
	ask   string   // the question
	keys  []string // of the options that it settles; of several, each is on or off
	first string   // where the cursor stands before there is an answer
	none  string   // what it is called to want none, where that may be
}

// topics are all questions, in their order. One that has a single answer, or none,
// is not asked.
var topics = []topic{
	{"Name", "Name of the project", []string{"project_name"}, "", ""},
	{"Bot type", "What kind of bot?", []string{"bot_type"}, botWeb, ""},
	{"Transports", "How do people reach it?", []string{"transports"}, "smallwebrtc", ""},
	{"Mode", "How does it think?", []string{"mode"}, modeCascade, ""},
	{"Calls (Daily)", "Who calls, over Daily PSTN?", []string{"daily_pstn_mode"}, modeDialIn, ""},
	{"Calls (SIP)", "Who calls, over Twilio and SIP?", []string{"twilio_daily_sip_mode"}, modeDialIn, ""},
	{"Speech to text", "Speech to text", []string{"stt_service"}, "deepgram", ""},
	{"Language model", "Language model", []string{"llm_service"}, "openai", ""},
	{"Text to speech", "Text to speech", []string{"tts_service"}, "cartesia", ""},
	{"Realtime model", "Realtime model", []string{"realtime_service"}, "openai", ""},
	{"Video avatar", "Video avatar", []string{"video_service"}, "", "no avatar"},
	{"Web client", "Web client", []string{"client_framework"}, clientNone, ""},
	{"Client server", "What serves the client?", []string{"client_server"}, serverVite, ""},
	{"Features", "Which features?", []string{"recording", "transcription", "enable_noise_cancel", "enable_observability", "enable_eval",
		"video_input", "video_output"}, "", "none"},
	{"Deployment", "Files to deploy it to Pipecat Cloud?", []string{"deploy_to_cloud"}, "", ""},
}

// meanings say what the words of options mean.
var meanings = map[string]string{
	botWeb:       "in a browser or an app",
	botTelephony: "on the phone",

	modeCascade:  "speech to text, language model, text to speech",
	modeRealtime: "one model that hears and speaks",

	modeDialIn:  "people call the bot",
	modeDialOut: "the bot calls people",

	clientReact:   "a React app in TypeScript",
	clientVanilla: "a page in plain JavaScript",
	clientNone:    "no client is written",
	serverVite:    "a page that any web server serves",
	serverNext:    "a Next.js app",
}

// features are the options that the wizard asks about in one question, by key.
var features = map[string]choice{
	"recording":            {label: "recording", note: "the sound of each conversation"},
	"transcription":        {label: "transcription", note: "a log of what was said"},
	"enable_noise_cancel":  {label: "noise cancelling", note: "by Krisp, in Pipecat Cloud"},
	"enable_observability": {label: "observability", note: "follow the pipeline live"},
	"enable_eval":          {label: "evals", note: "conversations that test the bot"},
	"video_input":          {label: "video input", note: "the bot sees the camera"},
	"video_output":         {label: "video output", note: "the bot sends video"},
}

// A wizard asks what the bot shall be.
type wizard struct {
	p       prompter
	cat     *catalog
	options *initOptions
	dir     string // the working directory
	target  string // as it was typed
	said    answers
	done    map[string]bool // the labels of topics that were asked
}

// wizard asks for all that is needed, and scaffolds a bot or writes the guides.
func (o *initOptions) wizard(ctx context.Context, a *app, inv *invocation, target string) error {
	p, err := a.prompter()
	if err != nil {
		return err
	}
	release, err := p.Hold()
	if err != nil {
		return err
	}
	defer release()
	w := &wizard{p: p, cat: newCatalog(), options: o, dir: a.dir, target: target, said: answers{}, done: map[string]bool{}}
	if target == "" {
		if err := w.askTarget(ctx); err != nil {
			return err
		}
	}
	scaffold, err := w.askHow(ctx)
	if err != nil {
		return err
	}
	if !scaffold {
		release()
		if err := o.writeGuides(ctx, a, inv, w.target); err != nil {
			return err
		}
		a.note("\nThe same, without questions:\n  %s", w.command([]string{"--no-input"}))
		return nil
	}
	cfg, plan, err := w.settle(ctx)
	if err != nil {
		return err
	}
	if err := o.offerRefresh(ctx, a, plan); err != nil {
		return err
	}
	release() // from here on Ctrl-C is a signal again
	if err := o.carryOut(ctx, a, inv, plan, w.target, cfg); err != nil {
		return err
	}
	a.note("\nThe same, without questions:\n  %s", w.command(cfg.arguments(w.cat, w.name())))
	return nil
}

// path is the target directory, absolute.
func (w *wizard) path() string { return absolute(w.dir, w.target) }

// name is the project's name, if none is given.
func (w *wizard) name() string { return nameFromDir(w.path()) }

// command is the command line that does the same, for a POSIX shell.
func (w *wizard) command(args []string) string {
	words := []string{"vbot init", shellPath(w.target)}
	for _, arg := range args {
		words = append(words, shellQuote(arg))
	}
	if w.options.keepExisting {
		words = append(words, "--keep-existing")
	}
	if w.options.overwriteGuide {
		words = append(words, "--overwrite-guide")
	}
	return strings.Join(words, " ")
}

func (w *wizard) askTarget(ctx context.Context) error {
	standard := w.target
	if standard == "" {
		standard = newTarget(w.dir)
	}
	target, err := w.p.line(ctx, "Directory", standard, func(s string) (string, bool) { return describeTarget(absolute(w.dir, s), s) })
	if err != nil {
		return err
	}
	if target == "quickstart" {
		target = "./quickstart" // a directory, not the preset of that name
	}
	w.target = target
	return nil
}

// askHow asks for the bot or the guides.
func (w *wizard) askHow(ctx context.Context) (scaffold bool, err error) {
	choices := []choice{
		{label: "Scaffold a bot now", note: "some questions, then a project that runs"},
		{label: "Build with a coding agent", note: "the guides that it needs"},
	}
	at := 0
	if hasBot(w.path()) {
		w.p.say("A bot is there already: %s", filepath.Join(w.target, "server", "bot.py"))
	}
	if w.options.overwriteGuide || hasBot(w.path()) {
		at = 1
	}
	i, err := w.p.choose(ctx, "How do you want to start?", choices, at)
	return i == 0, err
}

// settle asks all questions, shows what would come of the answers, and lets them
// be changed until the person agrees.
func (w *wizard) settle(ctx context.Context) (config, *plan, error) {
	for {
		for _, t := range topics {
			if !w.answered(t) {
				if err := w.put(ctx, t, false); err != nil {
					return config{}, nil, err
				}
			}
		}
		cfg, _, problems := resolve(w.cat, w.said, w.name())
		if len(problems) > 0 {
			return cfg, nil, &failure{Code: codeInvalidConfig, Problems: problems, hint: "nothing was written"}
		}
		files, err := render(cfg, w.cat)
		if err != nil {
			return cfg, nil, err
		}
		plan, err := makePlan(w.path(), files, w.options.keepExisting, w.options.overwriteGuide)
		if err != nil {
			return cfg, nil, err
		}
		w.show(cfg, plan)
		what, err := w.askWhatNow(ctx, plan)
		switch {
		case err != nil:
			return cfg, nil, err
		case what == cancel:
			return cfg, nil, &failure{Code: codeDeclined, Message: "nothing was written"}
		case what == change:
			if err := w.askChange(ctx, cfg); err != nil {
				return cfg, nil, err
			}
			continue
		case what == keep:
			w.options.keepExisting = true
			plan, err = makePlan(w.path(), files, true, w.options.overwriteGuide)
		}
		return cfg, plan, err
	}
}

// answered says whether the topic was asked, or need not be.
func (w *wizard) answered(t topic) bool {
	return w.done[t.label] || slices.ContainsFunc(t.keys, func(key string) bool { _, ok := w.said[key]; return ok })
}

// suits says whether the option may have the value, given all other answers.
func (w *wizard) suits(key string, a answer) bool {
	return w.objection(key, a) == ""
}

// objection is what the rules say against the value of the option, or "".
func (w *wizard) objection(key string, a answer) string {
	said := maps.Clone(w.said)
	said[key] = a
	_, _, problems := resolve(w.cat, said, w.name())
	for _, p := range problems {
		if !p.missing {
			return p.Message
		}
	}
	return ""
}

// put asks a question, if there is anything to choose.
//
// An answer that is changed counts as an option of the command line does beside
// the file: other answers that it makes impossible are left out, with a note.
func (w *wizard) put(ctx context.Context, t topic, changed bool) error {
	var err error
	key := t.keys[0]
	switch {
	case key == "project_name":
		err = w.putName(ctx, t)
	case len(t.keys) > 1:
		err = w.putFeatures(ctx, t, changed)
	case optionOf(key).typ == list:
		err = w.putTransports(ctx, t, changed)
	case optionOf(key).typ == toggled:
		err = w.putToggle(ctx, t, changed)
	default:
		err = w.putChoice(ctx, t, changed)
	}
	if err != nil {
		return err
	}
	w.agree()
	return nil
}

// agree leaves out what does not go together with the answers that were changed.
func (w *wizard) agree() {
	_, left, _ := resolve(w.cat, w.said, w.name())
	for _, l := range left {
		delete(w.said, l.what)
		for _, t := range topics {
			if slices.Contains(t.keys, l.what) {
				what := t.label
				if len(t.keys) == 1 {
					delete(w.done, t.label)
				} else {
					what = features[l.what].label
				}
				w.p.say("  %s is left out: %s", what, l.why)
			}
		}
	}
	for key, a := range w.said {
		a.flag = false
		w.said[key] = a
	}
}

func (w *wizard) putName(ctx context.Context, t topic) error {
	standard := w.name()
	if a, ok := w.said[t.keys[0]]; ok {
		standard = a.text
	}
	name, err := w.p.line(ctx, t.ask, standard, func(s string) (string, bool) {
		why := nameProblem(s)
		return why, why == ""
	})
	w.said[t.keys[0]] = answer{text: name}
	return err
}

// putChoice asks for one of the values of an option.
func (w *wizard) putChoice(ctx context.Context, t topic, changed bool) error {
	key := t.keys[0]
	was, transports := w.said[key], w.said["transports"]
	if key == "bot_type" {
		delete(w.said, "transports") // another kind of bot is reached in another way
	}
	values, choices := w.offer(t, changed)
	if len(choices) < 2 {
		return nil
	}
	at := 0
	for i, value := range values {
		if current, ok := w.said[key]; ok && current.text == value || !ok && choices[i].is(t.first) {
			at = i
		}
	}
	i, err := w.p.choose(ctx, t.ask, choices, at)
	if err != nil {
		return err
	}
	w.done[t.label] = true
	delete(w.said, key)
	if values[i] != "" {
		w.said[key] = answer{text: values[i], flag: changed}
	}
	if key == "bot_type" && was.text == values[i] {
		w.said["transports"] = transports
	}
	return nil
}

// offer is what the topic's option may be: the values, "" for none, and how they
// are presented.
func (w *wizard) offer(t topic, changed bool) (values []string, choices []choice) {
	key := t.keys[0]
	o := optionOf(key)
	add := func(value string, c choice) {
		a := answer{text: value, flag: changed}
		if o.typ == list {
			a = answer{list: []string{value}, flag: changed}
		}
		if value == "" || w.suits(key, a) {
			values, choices = append(values, value), append(choices, c)
		}
	}
	if t.none != "" {
		add("", choice{label: t.none})
	}
	for _, word := range o.words {
		add(word, choice{label: word, note: meanings[word]})
	}
	if o.kind == "" {
		return values, choices
	}
	providers := w.cat.all(o.kind)
	if o.kind == kindTransport && w.said["bot_type"].text == botTelephony {
		providers = slices.Concat(w.cat.transports(true), w.cat.transports(false))
	}
	for _, p := range providers {
		if p.generic != "" {
			continue // who calls is a question of its own
		}
		c := choice{label: p.label, id: p.id, names: p.names}
		if o.kind != kindTransport {
			c.note = strings.Join(p.needs(), ", ")
		}
		add(p.id, c)
	}
	return values, choices
}

// open says whether there is anything to choose.
func (w *wizard) open(t topic) bool {
	if len(t.keys) > 1 {
		return true
	}
	values, _ := w.offer(t, true)
	return len(values) > 1
}

// putTransports asks for one or more.
func (w *wizard) putTransports(ctx context.Context, t topic, changed bool) error {
	key := t.keys[0]
	values, choices := w.offer(t, changed)
	m := &menu{ask: t.ask, choices: choices, several: true, needed: true}
	pick := func(marked []int) answer {
		a := answer{flag: changed}
		for _, i := range marked {
			a.list = append(a.list, values[i])
		}
		return a
	}
	m.allow = func(marked []int) string { return w.objection(key, pick(marked)) }
	for i, c := range choices {
		if c.is(t.first) && w.said["bot_type"].text == botWeb {
			m.at = i
		}
	}
	for _, id := range w.said[key].list {
		if i := slices.Index(values, id); i >= 0 {
			m.marked, m.at = append(m.marked, i), i
		}
	}
	if err := w.p.ask(ctx, m); err != nil {
		return err
	}
	w.said[key] = pick(m.marked)
	return nil
}

// putFeatures asks which of several options shall be on.
func (w *wizard) putFeatures(ctx context.Context, t topic, changed bool) error {
	m := &menu{ask: t.ask, several: true}
	var keys []string
	for _, key := range t.keys {
		// An avatar takes video output along: where off is impossible there is no choice.
		if w.suits(key, answer{on: true, flag: changed}) && w.suits(key, answer{on: false}) {
			if w.said[key].on {
				m.marked = append(m.marked, len(keys))
			}
			keys = append(keys, key)
			m.choices = append(m.choices, features[key])
		}
	}
	if err := w.p.ask(ctx, m); err != nil {
		return err
	}
	w.done[t.label] = true
	for i, key := range keys {
		w.said[key] = answer{on: slices.Contains(m.marked, i), flag: changed}
	}
	return nil
}

// putToggle asks for yes or no; the option is on by itself.
func (w *wizard) putToggle(ctx context.Context, t topic, changed bool) error {
	key := t.keys[0]
	if !w.suits(key, answer{on: false, flag: changed}) || !w.suits(key, answer{on: true, flag: changed}) {
		return nil
	}
	standard := true
	if a, ok := w.said[key]; ok {
		standard = a.on
	}
	yes, err := w.p.confirm(ctx, t.ask, standard)
	w.said[key] = answer{on: yes, flag: changed}
	return err
}

// The summary.

// show prints what the answers come to, and which files that means.
func (w *wizard) show(cfg config, p *plan) {
	w.p.say("")
	for _, f := range w.facts(cfg) {
		w.p.say("  %-14s  %s", f.label, f.value)
	}
	w.p.say("")
	for _, c := range p.conflicts {
		w.p.say("  In the way: %s", c.line())
	}
	if p.stuck {
		w.p.say("  No file is written past a directory or a link: move them, or choose another directory.")
	}
	for _, step := range p.steps {
		if step.action == actionKept {
			w.p.say("  Stays as it is: %s", step.path)
		}
	}
	if len(p.conflicts) > 0 || p.count(actionKept) > 0 {
		w.p.say("")
	}
}

// A fact is an answer as the summary has it. Without a topic it is the directory.
type fact struct {
	label, value string
	topic        *topic
}

// facts are the answers, in the order of the questions.
func (w *wizard) facts(cfg config) []fact {
	facts := []fact{{"Directory", w.target, nil}}
	said := cfg.answers()
	for i, t := range topics {
		key := t.keys[0]
		o, a := optionOf(key), said[key]
		value := a.text
		switch {
		case len(t.keys) > 1:
			var on []string
			for _, key := range t.keys {
				if said[key].on {
					on = append(on, features[key].label)
				}
			}
			value = strings.Join(on, ", ")
		case o.typ == list:
			var labels []string
			for _, id := range a.list {
				labels = append(labels, w.cat.find(o.kind, id).label)
			}
			value = strings.Join(labels, ", ")
		case o.typ == toggled && a.on:
			value = "Dockerfile, cloud-deploy.toml"
		case o.typ == toggled:
			value = "no files for it"
		case o.kind != "" && value != "":
			value = w.cat.find(o.kind, value).label
		}
		if value == "" && w.done[t.label] && w.open(t) {
			value = "none"
		}
		if value != "" {
			facts = append(facts, fact{t.label, value, &topics[i]})
		}
	}
	return facts
}

// What a person may want once the summary is there.
const (
	write = iota
	keep
	change
	cancel
)

func (w *wizard) askWhatNow(ctx context.Context, p *plan) (int, error) {
	var actions []int
	var choices []choice
	add := func(action int, label, name string) {
		actions, choices = append(actions, action), append(choices, choice{label: label, names: []string{name}})
	}
	n := p.count(actionCreated) + p.count(actionReplaced)
	switch {
	case len(p.conflicts) == 0 && n == 0:
		add(write, "Finish: all files are there already", "yes")
	case len(p.conflicts) == 0:
		add(write, "Write "+plural(n, "file")+" to "+w.target, "yes")
	case !p.stuck:
		add(keep, "Keep what is there, write what is missing: "+plural(n-len(p.conflicts), "file"), "keep")
	}
	add(change, "Change an answer", "change")
	add(cancel, "Cancel, and write nothing", "no")
	i, err := w.p.choose(ctx, "All right?", choices, 0)
	return actions[i], err
}

// askChange asks which answer to change, and for another one.
func (w *wizard) askChange(ctx context.Context, cfg config) error {
	var choices []choice
	facts := w.facts(cfg)
	for _, f := range facts {
		choices = append(choices, choice{label: f.label, note: f.value})
	}
	choices = append(choices, choice{label: "None of them"})
	i, err := w.p.choose(ctx, "Which one?", choices, 0)
	if err != nil || i == len(facts) {
		return err
	}
	if facts[i].topic != nil {
		return w.put(ctx, *facts[i].topic, true)
	}
	was := w.name()
	if err := w.askTarget(ctx); err != nil {
		return err
	}
	if was != w.name() && w.said["project_name"].text == was {
		delete(w.said, "project_name") // it came from the directory
	}
	return nil
}
