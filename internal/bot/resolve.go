package bot

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// The rules that turn answers into a configuration. They rewrite the answers to
// canonical ids and drop those that do not apply. Then every option stores its
// answer in the configuration.

// A resolver turns answers into a configuration. It continues after a problem, so
// that all problems are reported at once.
type resolver struct {
	cat      *catalog.Catalog
	answers  Answers
	cfg      Config             // starts with the defaults
	found    []*catalog.Service // the transports
	typed    map[string]string  // the word given for each transport, by id
	dropped  []dropped
	problems []report.Problem
}

// dropped is a value of the file that the command line overrides.
type dropped struct {
	Option *Option
	What   string // the option's key; a description if option is nil
	Why    string
}

// Resolve applies every rule to answers and fills in the defaults. dirName is the
// default project name, or "" if there is none.
func Resolve(cat *catalog.Catalog, answers Answers, dirName string) (Config, []dropped, []report.Problem) {
	r := &resolver{cat: cat, answers: maps.Clone(answers), typed: map[string]string{}}
	for _, o := range Options {
		if a, ok := r.answers[o]; ok && o.text != nil && a.Text == "" && !a.broken {
			r.refuse(o, "the value is empty")
			r.answers[o] = Answer{Flag: a.Flag, broken: true}
		}
		if o.On {
			o.set(&r.cfg, Answer{On: true})
		}
	}
	r.name(dirName)
	r.mode()
	r.transports()
	r.botType()
	for _, o := range []*Option{OptSTT, OptLLM, OptTTS, OptRealtime, OptVideo} {
		r.checkService(o)
	}
	r.language()
	r.cloud()
	r.video()
	r.client()
	for _, o := range Options {
		if o.Words != nil {
			r.word(o)
		}
		if r.has(o) {
			o.set(&r.cfg, r.answers[o])
		}
	}
	slices.SortStableFunc(r.problems, func(a, b report.Problem) int { return cmp.Compare(position(a.Field), position(b.Field)) })
	return r.cfg, r.dropped, r.problems
}

// refuse records a problem with the option, where its value is. The caller may add to it.
func (r *resolver) refuse(o *Option, format string, args ...any) *report.Problem {
	p := report.Problem{Field: o.Key, Where: o.Where(), Message: fmt.Sprintf(format, args...)}
	if at := r.answers[o].at; at != "" {
		p.Where, p.Message = "", at+": "+o.Key+": "+p.Message
	}
	r.problems = append(r.problems, p)
	return &r.problems[len(r.problems)-1]
}

// oneOf records a problem together with the allowed values.
func (r *resolver) oneOf(o *Option, format string, args ...any) *report.Problem {
	p := r.refuse(o, format, args...)
	p.Allowed, p.Names = o.Values(r.cat)
	return p
}

// Values returns the values of the option if they are fixed, and for people as many as fit a
// line; "" if these are all.
func (o *Option) Values(cat *catalog.Catalog) (all []string, line string) {
	if o.Kind == "" {
		return o.Allowed(), ""
	}
	services := cat.List(o.Kind)
	return catalog.IDs(services), catalog.FirstNames(services, showsAll(o.Kind))
}

func showsAll(kind string) string { return "`vbot init --describe-options=" + kind + "` shows all" }

// unknown records that no service has the name, with the nearest one.
func (r *resolver) unknown(o *Option, noun, name string) {
	near := r.cat.Nearest(o.Kind, name)
	aside := report.DidYouMean(near)
	if s := r.cat.OfModel(o.Kind, name); s != nil {
		noun, near = "service", s.Names[0]
		aside = ": it is a model, such as " + near + " has; name it in .env"
	}
	if near == "" && o != OptTransports && !r.answers[o].Flag && r.cat.Own == 0 {
		aside = " (is --catalog or VBOT_CATALOG missing?)"
	}
	p := r.oneOf(o, "unknown %s %q%s", noun, name, aside)
	if near != "" {
		p.Names = showsAll(o.Kind)
	}
}

// missing records that a required option was not given.
func (r *resolver) missing(o *Option, format string, args ...any) {
	r.oneOf(o, format, args...).Missing = true
}

// has reports whether the option has a usable value.
func (r *resolver) has(o *Option) bool {
	a, ok := r.answers[o]
	return ok && !a.broken
}

// given reports whether the option was given, usable or not.
func (r *resolver) given(o *Option) bool {
	_, ok := r.answers[o]
	return ok
}

// yields resolves a conflict in which o loses against winner. If o comes from the
// file and winner from the command line, o is dropped with a note. Otherwise the
// conflict is a problem.
func (r *resolver) yields(o, winner *Option, why string) {
	a := r.answers[o]
	if !a.Flag && r.answers[winner].Flag {
		r.dropped = append(r.dropped, dropped{o, o.Key, why})
		delete(r.answers, o)
		return
	}
	r.refuse(o, "%s", why)
	r.answers[o] = Answer{Flag: a.Flag, broken: true}
}

// word returns the value of an option with fixed values, or "" if it has none.
func (r *resolver) word(o *Option) string {
	if !r.has(o) {
		return ""
	}
	a := r.answers[o]
	if word := strings.ToLower(a.Text); slices.Contains(o.Allowed(), word) {
		a.Text = word
		r.answers[o] = a
		return word
	}
	r.oneOf(o, "unknown value %q%s", a.Text, report.DidYouMean(report.Nearest(a.Text, o.Allowed())))
	r.answers[o] = Answer{broken: true}
	return ""
}

func (r *resolver) name(dirName string) {
	r.cfg.ProjectName = dirName
	if r.has(OptName) {
		if why := NameProblem(r.answers[OptName].Text); why != "" {
			r.refuse(OptName, "%s", why)
		}
	} else if dirName == "" && !r.given(OptName) {
		r.missing(OptName, "missing: the directory's name cannot be a project name")
	}
	namespace := Slug(cmp.Or(r.answers[OptName].Text, dirName))
	if r.answers[optSelfHost].On && (namespace == "default" || strings.HasPrefix(namespace, "kube-")) {
		r.refuse(OptName, "the bot's namespace in Kubernetes would be %q, which is the cluster's own; choose another name", namespace)
	}
}

// mode has no default. While it is missing, its problem has the services of each mode.
func (r *resolver) mode() {
	if !r.given(OptMode) {
		likely, realtime := "", r.given(OptRealtime)
		switch cascade := r.given(OptSTT) || r.given(OptLLM) || r.given(OptTTS); {
		case cascade && !realtime:
			likely = "-m " + ModeCascade
		case realtime && !cascade:
			likely = "-m " + ModeRealtime
		}
		r.missing(OptMode, "missing: cascade takes --stt, --llm and --tts, realtime takes --realtime%s", report.DidYouMean(likely))
	}
	r.word(OptMode)
}

// maxTransports bounds the list of problems, and the time to find them.
const maxTransports = 100

// transports replaces the given transports by canonical ids. An id such as
// rtc_hosted_pstn_dialin becomes the generic transport and its dial mode.
func (r *resolver) transports() {
	r.cfg.Transports = []string{}
	given := r.answers[OptTransports]
	if !r.given(OptTransports) || r.has(OptTransports) && len(given.List) == 0 {
		r.missing(OptTransports, "missing: a transport is how people reach the bot")
		return
	}
	if len(given.List) > maxTransports {
		r.refuse(OptTransports, "%d transports; the maximum is %d", len(given.List), maxTransports)
		r.answers[OptTransports] = Answer{Flag: given.Flag, broken: true}
		return
	}
	ids := []string{}
	modes := map[*Option]string{} // dial modes named by transport ids
	for _, word := range given.List {
		p := r.cat.Find(catalog.KindTransport, word)
		if p == nil {
			r.unknownTransport(word, given.Flag)
			continue
		}
		id := p.ID
		if p.ModeOf != "" {
			id = p.ModeOf
			o := dialed[id]
			if other := modes[o]; other != "" && other != p.Mode {
				r.refuse(OptTransports, "%s and %s cannot be combined", r.typed[id], word)
			}
			modes[o] = p.Mode
		}
		if r.typed[id] == "" || p.ModeOf != "" {
			r.typed[id] = word
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
			r.found = append(r.found, p)
		}
	}
	given.List = ids
	r.answers[OptTransports] = given
	if pstn, sip := r.typed["rtc_hosted_pstn"], r.typed["tel_a_rtc_hosted_sip"]; pstn != "" && sip != "" {
		r.refuse(OptTransports, "%s and %s cannot be combined: each needs a server.py of its own", pstn, sip)
	}
	r.dialMode("rtc_hosted_pstn", modes)
	r.dialMode("tel_a_rtc_hosted_sip", modes)
}

// unknownTransport records a word that names no transport, or several.
func (r *resolver) unknownTransport(word string, flag bool) {
	several := strings.FieldsFunc(word, func(c rune) bool { return c == ',' || c == ' ' })
	switch {
	case word == "":
		r.refuse(OptTransports, "the value is empty")
	case word == BotWeb || word == BotTelephony || word == "phone":
		r.refuse(OptTransports, "%q is a kind of bot; %s", word, catalog.FirstNames(r.cat.Transports(word != BotWeb), showsAll(catalog.KindTransport)))
	case len(several) < 2:
		r.unknown(OptTransports, "transport", word)
	case flag:
		r.refuse(OptTransports, "%q is not one transport; repeat -t: -t %s", word, strings.Join(several, " -t "))
	default:
		r.refuse(OptTransports, "%q is not one transport; write [%s]", word, strings.Join(report.QuoteAll(several), ", "))
	}
}

// dialMode finds the mode of the dialed transport with the id. It comes from the
// option, from a transport id that names the mode, or from both if they agree.
func (r *resolver) dialMode(id string, modes map[*Option]string) {
	o := dialed[id]
	named, there := modes[o], slices.Contains(r.answers[OptTransports].List, id)
	if r.has(o) && !there {
		r.yields(o, OptTransports, "the bot has no "+r.cat.Find(catalog.KindTransport, id).Names[0]+" transport")
		return
	}
	given, word := r.given(o), r.word(o)
	switch {
	case word == "" && named != "":
		r.answers[o] = Answer{Text: named}
	case word == "" && there && !given:
		r.missing(o, "missing: %s needs it", r.typed[id])
	case word == "" || named == "" || word == named:
	case r.answers[o].Flag && !r.answers[OptTransports].Flag:
		r.dropped = append(r.dropped, dropped{nil, "the mode " + named, o.Where() + " says " + word})
	default:
		r.yields(o, OptTransports, "the transport "+r.typed[id]+" means "+named)
		if !r.given(o) {
			r.answers[o] = Answer{Text: named}
		}
	}
}

func (r *resolver) botType() {
	i := slices.IndexFunc(r.found, func(p *catalog.Service) bool { return p.Telephony })
	if r.word(OptBotType) == BotWeb && i >= 0 {
		r.yields(OptBotType, OptTransports, "a web bot cannot use the telephony transport "+r.typed[cmp.Or(r.found[i].ModeOf, r.found[i].ID)])
	}
	r.cfg.BotType = BotWeb
	if i >= 0 {
		r.cfg.BotType = BotTelephony
	}
}

// Update returns the recorded answers for an update with what was typed. The type of the bot follows
// its transports, unless a telephony bot without a telephone was asked for.
func Update(cat *catalog.Catalog, recorded, typed Answers) Answers {
	answers := maps.Clone(recorded)
	askedFor := recorded[OptBotType].Text == BotTelephony && !hasTelephone(cat, recorded[OptTransports].List)
	if len(typed[OptTransports].List) > 0 && !askedFor {
		delete(answers, OptBotType)
	}
	return answers
}

// HasTelephone reports whether one of the bot's transports carries telephone calls.
func (c Config) HasTelephone(cat *catalog.Catalog) bool { return hasTelephone(cat, c.Transports) }

func hasTelephone(cat *catalog.Catalog, transports []string) bool {
	return slices.ContainsFunc(transports, func(id string) bool {
		found := cat.Find(catalog.KindTransport, id)
		return found != nil && found.Telephony
	})
}

// checkService checks a service against the mode and replaces it by its canonical id.
func (r *resolver) checkService(o *Option) {
	mode := r.answers[OptMode].Text
	switch {
	case r.has(o) && mode != "" && o.mode != "" && o.mode != mode:
		r.yields(o, OptMode, "only "+o.mode+" mode uses it; the mode is "+mode)
	case r.has(o):
		a := r.answers[o]
		p := r.cat.Find(o.Kind, a.Text)
		if p == nil {
			r.unknown(o, o.noun, a.Text)
			return
		}
		a.Text = p.ID
		r.answers[o] = a
	case !r.given(o) && mode != "" && mode == o.mode:
		r.missing(o, "missing: %s mode needs a %s", o.mode, o.noun)
	}
}

// cloud applies the rules for deployment and noise cancelling.
func (r *resolver) cloud() {
	if len(r.found) > 0 && !slices.ContainsFunc(r.found, func(p *catalog.Service) bool { return p.CloudRuns() }) {
		r.cfg.DeployToCloud = false
		why := "Pipecat Cloud does not run " + r.found[0].Label + " bots"
		if r.answers[optDeploy].On {
			r.yields(optDeploy, OptTransports, why)
		}
		if r.answers[optNoiseCancel].On && !r.given(optDeploy) {
			r.yields(optNoiseCancel, OptTransports, "it needs cloud deployment, but "+why)
		}
	}
	if r.answers[optNoiseCancel].On && r.has(optDeploy) && !r.answers[optDeploy].On {
		// Either of the two may come from the command line.
		if r.answers[optDeploy].Flag {
			r.yields(optNoiseCancel, optDeploy, "it needs cloud deployment, which is turned off")
		} else {
			r.yields(optDeploy, optNoiseCancel, "noise cancelling needs cloud deployment")
		}
	}
}

// webOnly reports whether it refused the option, because this is a telephony bot.
func (r *resolver) webOnly(o *Option) bool {
	phone, winner := r.cfg.BotType == BotTelephony, OptTransports
	if r.has(OptBotType) {
		phone, winner = r.answers[OptBotType].Text == BotTelephony, OptBotType
	}
	if phone {
		r.yields(o, winner, "only web bots can have "+o.web+"; this is a telephony bot")
	}
	return phone
}

// video applies the rules for video. An avatar turns video output on.
func (r *resolver) video() {
	if r.has(optVideoOutput) && !r.answers[optVideoOutput].On && r.has(OptVideo) {
		if r.answers[optVideoOutput].Flag && !r.answers[OptVideo].Flag {
			r.yields(OptVideo, optVideoOutput, "video output is turned off")
		} else {
			r.yields(optVideoOutput, OptVideo, "a video avatar needs video output")
		}
	}
	for _, o := range []*Option{optVideoInput, optVideoOutput, OptVideo} {
		carries := func(p *catalog.Service) bool { return p.VideoOut }
		if o == optVideoInput {
			carries = func(p *catalog.Service) bool { return p.VideoIn }
		}
		// Turning it off is always allowed.
		if a := r.answers[o]; !a.On && a.Text == "" || r.webOnly(o) {
			continue
		}
		if len(r.found) > 0 && !slices.ContainsFunc(r.found, carries) {
			r.yields(o, OptTransports, "none of the bot's transports supports video")
		} else if o == optVideoInput && r.has(OptRealtime) {
			if p := r.cat.Find(catalog.KindRealtime, r.answers[OptRealtime].Text); p != nil && !p.VideoIn {
				r.yields(o, OptRealtime, p.Label+" does not accept video")
			}
		}
	}
	r.cfg.VideoOutput = r.has(OptVideo)
}

// client applies the rules for the web client and its server.
func (r *resolver) client() {
	framework := r.word(OptClient)
	if framework != "" && framework != ClientNone {
		r.webOnly(OptClient)
	}
	if framework != "" && !r.given(OptClient) && !r.answers[OptClientServer].Flag {
		delete(r.answers, OptClientServer) // it belonged to the client that was dropped
	}
	if !r.has(OptClient) || framework == ClientNone {
		framework = ""
	}
	server := r.word(OptClientServer)
	switch {
	case framework == "" && server != "" && !r.answers[OptClient].broken:
		r.yields(OptClientServer, OptClient, "needs a web client: --client-framework react"+map[bool]string{true: " or vanilla"}[server != ServerNext])
	case framework == ClientVanilla && server == ServerNext:
		r.yields(OptClientServer, OptClient, "nextjs needs the react client")
	}
	if framework == "" {
		delete(r.answers, OptClient)
	} else {
		r.cfg.ClientServer = ServerVite
	}
}

// Arguments returns the shortest list of command-line options that says the same.
// dirName is the same as for resolve. Services appear under their real names.
func (answers Answers) Arguments(cat *catalog.Catalog, dirName string) (args []string) {
	answers = maps.Clone(answers)
	want, _, before := Resolve(cat, answers, dirName)
	sorted := slices.SortedFunc(maps.Keys(answers), func(a, b *Option) int { return cmp.Compare(position(a.Key), position(b.Key)) })
	for _, o := range sorted {
		a := answers[o]
		delete(answers, o)
		if without, _, problems := Resolve(cat, answers, dirName); reflect.DeepEqual(problems, before) && reflect.DeepEqual(without, want) {
			continue
		}
		answers[o] = a
		flag := "--" + o.Flag
		if o.Short != "" && o != OptName {
			flag = "-" + o.Short
		}
		words := a.List
		switch {
		case o.Toggle != nil && !a.On:
			args = append(args, "--no-"+o.Flag)
			continue
		case o.Toggle != nil:
			args = append(args, flag)
			continue
		case o.text != nil:
			words = []string{a.Text}
		}
		for _, word := range words {
			if o.Kind != "" {
				word = cat.Find(o.Kind, word).Names[0]
			}
			args = append(args, flag, word)
		}
	}
	return args
}

// language checks the language, and every service for it.
func (r *resolver) language() {
	if !r.has(OptLanguage) {
		return
	}
	a := r.answers[OptLanguage]
	tag, ok := catalog.LanguageTag(a.Text)
	if !ok {
		near := cmp.Or(catalog.TagOf(a.Text), strings.ReplaceAll(a.Text, "_", "-"))
		if _, ok := catalog.LanguageTag(near); !ok {
			near = ""
		}
		r.refuse(OptLanguage, "%q is not a language tag; expected one such as de or pt-BR%s", a.Text, report.DidYouMean(near))
		r.answers[OptLanguage] = Answer{broken: true}
		return
	}
	a.Text = tag
	r.answers[OptLanguage] = a
	for _, o := range Options {
		if !slices.Contains(catalog.ServiceKinds, o.Kind) || !r.has(o) {
			continue
		}
		p := r.cat.Find(o.Kind, r.answers[o].Text)
		if p == nil || p.Speaks(tag) {
			continue
		}
		able := slices.DeleteFunc(slices.Clone(r.cat.List(o.Kind)), func(p *catalog.Service) bool { return !p.Speaks(tag) })
		blamed := o
		if a.Flag && !r.answers[o].Flag {
			blamed = OptLanguage // the service was there before
		}
		problem := r.refuse(blamed, "%s does not support the language %s", p.Label, tag)
		problem.Allowed = catalog.IDs(able)
		if len(able) > 0 {
			problem.Names = catalog.FirstNames(able, "`vbot init --describe-options="+o.Kind+" --json` has all languages")
		}
	}
}
