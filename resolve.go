package main

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The rules that turn answers into a configuration. They rewrite the answers to
// canonical ids and drop those that do not apply. Then every option stores its
// answer in the configuration.

// A resolver turns answers into a configuration. It continues after a problem, so
// that all problems are reported at once.
type resolver struct {
	cat      *catalog
	said     answers
	cfg      config            // starts with the defaults
	found    []*provider       // the transports
	typed    map[string]string // the word given for each transport, by id
	dropped  []dropped
	problems []problem
}

// dropped is a value of the file that the command line overrides.
type dropped struct {
	option *option
	what   string // the option's key; a description if option is nil
	why    string
}

// resolve applies every rule to said and fills in the defaults. dirName is the
// default project name, or "" if there is none.
func resolve(cat *catalog, said answers, dirName string) (config, []dropped, []problem) {
	r := &resolver{cat: cat, said: maps.Clone(said), typed: map[string]string{}}
	for _, o := range options {
		if a, ok := r.said[o]; ok && o.text != nil && a.text == "" && !a.broken {
			r.wrong(o, "the value is empty")
			r.said[o] = answer{flag: a.flag, broken: true}
		}
		if o.on {
			o.set(&r.cfg, answer{on: true})
		}
	}
	r.name(dirName)
	r.mode()
	r.transports()
	r.botType()
	for _, o := range []*option{optSTT, optLLM, optTTS, optRealtime, optVideo} {
		r.checkService(o)
	}
	r.cloud()
	r.video()
	r.client()
	for _, o := range options {
		if o.words != nil {
			r.word(o)
		}
		if r.has(o) {
			o.set(&r.cfg, r.said[o])
		}
	}
	slices.SortStableFunc(r.problems, func(a, b problem) int { return cmp.Compare(position(a.Field), position(b.Field)) })
	return r.cfg, r.dropped, r.problems
}

// wrong records a problem with the option, where its value is.
func (r *resolver) wrong(o *option, format string, args ...any) {
	p := problem{Field: o.key, where: o.where(), Message: fmt.Sprintf(format, args...)}
	if at := r.said[o].at; at != "" {
		p.where, p.Message = "", at+": "+o.key+": "+p.Message
	}
	r.problems = append(r.problems, p)
}

// oneOf records a problem together with the allowed values.
func (r *resolver) oneOf(o *option, format string, args ...any) {
	r.wrong(o, format, args...)
	p := &r.problems[len(r.problems)-1]
	p.Allowed = o.allowed()
	if o.kind != "" {
		p.Allowed, p.names = r.cat.ids(o.kind), r.cat.names(o.kind)
	}
}

// unknown records that no provider has the name, with the nearest one.
func (r *resolver) unknown(o *option, noun, name string) {
	near := r.cat.nearest(o.kind, name)
	aside := didYouMean(near)
	if near == "" && o != optTransports && !r.said[o].flag && r.cat.own == 0 {
		aside = " (is --catalog or VBOT_CATALOG missing?)"
	}
	r.oneOf(o, "unknown %s %q%s", noun, name, aside)
	if near != "" {
		r.problems[len(r.problems)-1].names = "`vbot init --describe-options=" + o.kind + "` shows all"
	}
}

// missing records that a required option was not given.
func (r *resolver) missing(o *option, format string, args ...any) {
	r.oneOf(o, format, args...)
	r.problems[len(r.problems)-1].missing = true
}

// has reports whether the option has a usable value.
func (r *resolver) has(o *option) bool {
	a, ok := r.said[o]
	return ok && !a.broken
}

// given reports whether the option was given, usable or not.
func (r *resolver) given(o *option) bool {
	_, ok := r.said[o]
	return ok
}

// yields resolves a conflict in which o loses against winner. If o comes from the
// file and winner from the command line, o is dropped with a note. Otherwise the
// conflict is a problem.
func (r *resolver) yields(o, winner *option, why string) {
	a := r.said[o]
	if !a.flag && r.said[winner].flag {
		r.dropped = append(r.dropped, dropped{o, o.key, why})
		delete(r.said, o)
		return
	}
	r.wrong(o, "%s", why)
	r.said[o] = answer{flag: a.flag, broken: true}
}

// word returns the value of an option with fixed values, or "" if it has none.
func (r *resolver) word(o *option) string {
	if !r.has(o) {
		return ""
	}
	value := r.said[o].text
	if slices.ContainsFunc(o.words, func(w allowedWord) bool { return w.name == value }) {
		return value
	}
	r.oneOf(o, "unknown value %q%s", value, didYouMean(nearest(value, o.allowed())))
	r.said[o] = answer{broken: true}
	return ""
}

func (r *resolver) name(dirName string) {
	r.cfg.ProjectName = dirName
	if r.has(optName) {
		if why := nameProblem(r.said[optName].text); why != "" {
			r.wrong(optName, "%s", why)
		}
	} else if dirName == "" && !r.given(optName) {
		r.missing(optName, "missing: the directory's name cannot be a project name")
	}
}

// mode has no default. While it is missing, service lists what each mode needs.
func (r *resolver) mode() {
	if !r.given(optMode) {
		r.missing(optMode, "missing: cascade chains three services, realtime uses one")
	}
	r.word(optMode)
}

// maxTransports bounds the list of problems, and the time to find them.
const maxTransports = 100

// transports replaces the given transports by canonical ids. An id such as
// rtc_hosted_pstn_dialin becomes the generic transport and its dial mode.
func (r *resolver) transports() {
	r.cfg.Transports = []string{}
	said := r.said[optTransports]
	if !r.given(optTransports) || r.has(optTransports) && len(said.list) == 0 {
		r.missing(optTransports, "missing: how people reach the bot")
		return
	}
	if len(said.list) > maxTransports {
		r.wrong(optTransports, "%d transports; the maximum is %d", len(said.list), maxTransports)
		r.said[optTransports] = answer{flag: said.flag, broken: true}
		return
	}
	ids := []string{}
	modes := map[*option]string{} // dial modes named by transport ids
	for _, word := range said.list {
		p := r.cat.find(kindTransport, word)
		if p == nil {
			r.unknownTransport(word, said.flag)
			continue
		}
		id := p.id
		if p.generic != "" {
			id = p.generic
			o := dialed[id]
			if other := modes[o]; other != "" && other != p.mode {
				r.wrong(optTransports, "%s and %s exclude each other", r.typed[id], word)
			}
			modes[o] = p.mode
		}
		if r.typed[id] == "" || p.generic != "" {
			r.typed[id] = word
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
			r.found = append(r.found, p)
		}
	}
	said.list = ids
	r.said[optTransports] = said
	if pstn, sip := r.typed["rtc_hosted_pstn"], r.typed["tel_a_rtc_hosted_sip"]; pstn != "" && sip != "" {
		r.wrong(optTransports, "%s and %s exclude each other: each needs a server.py of its own", pstn, sip)
	}
	r.dialMode("rtc_hosted_pstn", modes)
	r.dialMode("tel_a_rtc_hosted_sip", modes)
}

// unknownTransport records a word that names no transport, or several.
func (r *resolver) unknownTransport(word string, flag bool) {
	several := strings.FieldsFunc(word, func(c rune) bool { return c == ',' || c == ' ' })
	switch {
	case word == "":
		r.wrong(optTransports, "the value is empty")
	case len(several) < 2:
		r.unknown(optTransports, "transport", word)
	case flag:
		r.wrong(optTransports, "%q is not one transport; repeat -t: -t %s", word, strings.Join(several, " -t "))
	default:
		r.wrong(optTransports, "%q is not one transport; write [%s]", word, strings.Join(quoteAll(several), ", "))
	}
}

// dialMode finds the mode of the dialed transport with the id. It comes from the
// option, from a transport id that names the mode, or from both if they agree.
func (r *resolver) dialMode(id string, modes map[*option]string) {
	o := dialed[id]
	named, there := modes[o], slices.Contains(r.said[optTransports].list, id)
	if r.has(o) && !there {
		r.yields(o, optTransports, "the bot has no "+r.cat.find(kindTransport, id).names[0]+" transport")
		return
	}
	given := r.given(o)
	said := r.word(o)
	switch {
	case said == "" && named != "":
		r.said[o] = answer{text: named}
	case said == "" && there && !given:
		r.missing(o, "missing: %s needs it", r.typed[id])
	case said == "" || named == "" || said == named:
	case r.said[o].flag && !r.said[optTransports].flag:
		r.dropped = append(r.dropped, dropped{nil, "the mode " + named, o.where() + " says " + said})
	default:
		r.yields(o, optTransports, "the transport "+r.typed[id]+" means "+named)
		if !r.given(o) {
			r.said[o] = answer{text: named}
		}
	}
}

func (r *resolver) botType() {
	i := slices.IndexFunc(r.found, func(p *provider) bool { return p.telephony })
	if r.word(optBotType) == botWeb && i >= 0 {
		r.yields(optBotType, optTransports, "a web bot cannot use the telephony transport "+r.typed[cmp.Or(r.found[i].generic, r.found[i].id)])
	}
	r.cfg.BotType = botWeb
	if i >= 0 {
		r.cfg.BotType = botTelephony
	}
}

// telephony reports whether this is a telephony bot, and which option decided it.
func (r *resolver) telephony() (bool, *option) {
	if r.has(optBotType) {
		return r.said[optBotType].text == botTelephony, optBotType
	}
	return r.cfg.BotType == botTelephony, optTransports
}

// checkService checks a service against the mode and replaces it by its canonical id.
func (r *resolver) checkService(o *option) {
	mode := r.said[optMode].text
	switch {
	case r.has(o) && mode != "" && o.mode != "" && o.mode != mode:
		r.yields(o, optMode, "only "+o.mode+" mode uses it; the mode is "+mode)
	case r.has(o):
		a := r.said[o]
		p := r.cat.find(o.kind, a.text)
		if p == nil {
			r.unknown(o, o.noun, a.text)
			return
		}
		a.text = p.id
		r.said[o] = a
	case r.given(o) || o.mode == "":
	case mode == "":
		r.missing(o, "missing if the mode is %s", o.mode)
	case mode == o.mode:
		r.missing(o, "missing: %s mode needs a %s", o.mode, o.noun)
	}
}

// cloud applies the rules for deployment and noise cancelling.
func (r *resolver) cloud() {
	if len(r.found) > 0 && !slices.ContainsFunc(r.found, func(p *provider) bool { return !p.notCloud }) {
		r.cfg.DeployToCloud = false
		why := "Pipecat Cloud does not run " + r.found[0].label + " bots"
		if r.said[optDeploy].on {
			r.yields(optDeploy, optTransports, why)
		}
		if r.said[optNoiseCancel].on && !r.given(optDeploy) {
			r.yields(optNoiseCancel, optTransports, "it needs cloud deployment, but "+why)
		}
	}
	if r.said[optNoiseCancel].on && r.has(optDeploy) && !r.said[optDeploy].on {
		// Either of the two may come from the command line.
		if r.said[optDeploy].flag {
			r.yields(optNoiseCancel, optDeploy, "it needs cloud deployment, which is turned off")
		} else {
			r.yields(optDeploy, optNoiseCancel, "noise cancelling needs cloud deployment")
		}
	}
}

// webOnly reports whether it refused the option, because this is a telephony bot.
func (r *resolver) webOnly(o *option) bool {
	phone, winner := r.telephony()
	if phone {
		r.yields(o, winner, "only web bots can have "+o.web+"; this is a telephony bot")
	}
	return phone
}

// video applies the rules for video. An avatar turns video output on.
func (r *resolver) video() {
	if r.has(optVideoOutput) && !r.said[optVideoOutput].on && r.has(optVideo) {
		if r.said[optVideoOutput].flag && !r.said[optVideo].flag {
			r.yields(optVideo, optVideoOutput, "video output is turned off")
		} else {
			r.yields(optVideoOutput, optVideo, "a video avatar needs video output")
		}
	}
	for _, o := range []*option{optVideoInput, optVideoOutput, optVideo} {
		carries := func(p *provider) bool { return p.videoOut }
		if o == optVideoInput {
			carries = func(p *provider) bool { return p.videoIn }
		}
		// Turning it off is always allowed.
		if a := r.said[o]; !a.on && a.text == "" || r.webOnly(o) {
			continue
		}
		if len(r.found) > 0 && !slices.ContainsFunc(r.found, carries) {
			r.yields(o, optTransports, "none of the bot's transports supports video")
		} else if o == optVideoInput && r.has(optRealtime) {
			if p := r.cat.find(kindRealtime, r.said[optRealtime].text); p != nil && !p.videoIn {
				r.yields(o, optRealtime, p.label+" does not accept video")
			}
		}
	}
	r.cfg.VideoOutput = r.has(optVideo)
}

// client applies the rules for the web client and its server.
func (r *resolver) client() {
	framework := r.word(optClient)
	if framework != "" && framework != clientNone {
		r.webOnly(optClient)
	}
	if framework != "" && !r.given(optClient) && !r.said[optClientServer].flag {
		delete(r.said, optClientServer) // it belonged to the client that was dropped
	}
	if !r.has(optClient) || framework == clientNone {
		framework = ""
	}
	server := r.word(optClientServer)
	switch {
	case framework == "" && server != "" && !r.said[optClient].broken:
		r.yields(optClientServer, optClient, "there is no web client to serve")
	case framework == clientVanilla && server == serverNext:
		r.yields(optClientServer, optClient, "nextjs needs the react client")
	}
	if framework == "" {
		delete(r.said, optClient)
	} else {
		r.cfg.ClientServer = serverVite
	}
}

// arguments returns the shortest list of command-line options that says the same.
// dirName is the same as for resolve. Providers appear under their real names.
func (said answers) arguments(cat *catalog, dirName string) (args []string) {
	said = maps.Clone(said)
	want, _, wrong := resolve(cat, said, dirName)
	sorted := slices.SortedFunc(maps.Keys(said), func(a, b *option) int { return cmp.Compare(position(a.key), position(b.key)) })
	for _, o := range sorted {
		a := said[o]
		delete(said, o)
		if without, _, problems := resolve(cat, said, dirName); reflect.DeepEqual(problems, wrong) && reflect.DeepEqual(without, want) {
			continue
		}
		said[o] = a
		flag := "--" + o.flag
		if o.short != "" && o != optName {
			flag = "-" + o.short
		}
		words := a.list
		switch {
		case o.toggle != nil && !a.on:
			args = append(args, "--no-"+o.flag)
			continue
		case o.toggle != nil:
			args = append(args, flag)
			continue
		case o.text != nil:
			words = []string{a.text}
		}
		for _, word := range words {
			if o.kind != "" {
				word = cat.find(o.kind, word).names[0]
			}
			args = append(args, flag, word)
		}
	}
	return args
}
