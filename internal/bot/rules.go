package bot

import (
	"cmp"
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// checkService checks a service against the mode and replaces it by its canonical id.
func (r *resolver) checkService(o *Option) {
	mode := r.values[OptMode].Text
	switch {
	case r.has(o) && mode != "" && o.mode != "" && o.mode != mode:
		r.overrule(o, OptMode, "only "+o.mode+" mode uses it; the mode is "+mode)
	case r.has(o):
		v := r.values[o]
		service := r.cat.Find(o.Kind, v.Text)
		if service == nil {
			r.unknown(o, o.noun, v.Text)
			return
		}
		v.Text = service.ID
		r.values[o] = v
	case !r.given(o) && mode != "" && mode == o.mode:
		r.missing(o, "missing: %s mode needs a %s", o.mode, o.noun)
	}
}

// cloud applies the rules for deployment and noise cancelling. The cloud cannot reach a service on
// localhost, so a bot with such a service is deployed only if somebody asks for it.
func (r *resolver) cloud() {
	if r.onLocalhost() && !r.values[optNoiseCancel].On {
		r.config.DeployToCloud = false
	}
	if len(r.transports) > 0 && !slices.ContainsFunc(r.transports, (*catalog.Service).CloudRuns) {
		r.config.DeployToCloud = false
		why := "Pipecat Cloud does not run " + r.transports[0].Label + " bots"
		if r.values[optDeploy].On {
			r.overrule(optDeploy, OptTransports, why)
		}
		if r.values[optNoiseCancel].On && !r.given(optDeploy) {
			r.overrule(optNoiseCancel, OptTransports, "it needs cloud deployment, but "+why)
		}
	}
	if r.values[optNoiseCancel].On && r.has(optDeploy) && !r.values[optDeploy].On {
		// Either of the two may come from the command line.
		if r.values[optDeploy].FromFlag {
			r.overrule(optNoiseCancel, optDeploy, "it needs cloud deployment, which is turned off")
		} else {
			r.overrule(optDeploy, optNoiseCancel, "noise cancelling needs cloud deployment")
		}
	}
}

// onLocalhost reports whether one of the services is a server on the bot's machine.
func (r *resolver) onLocalhost() bool {
	return slices.ContainsFunc(ServiceOptions, func(o *Option) bool {
		if !r.has(o) {
			return false
		}
		service := r.cat.Find(o.Kind, r.values[o].Text)
		return service != nil && service.OnLocalhost()
	})
}

// webOnly refuses the option if this is a telephony bot, and reports whether it did.
func (r *resolver) webOnly(o *Option) bool {
	isPhone := r.config.BotType == BotTelephony
	winner := OptTransports
	if r.has(OptBotType) {
		isPhone = r.values[OptBotType].Text == BotTelephony
		winner = OptBotType
	}
	if isPhone {
		r.overrule(o, winner, "only web bots can have "+o.web+"; this is a telephony bot")
	}
	return isPhone
}

// video applies the rules for video. An avatar turns video output on.
func (r *resolver) video() {
	if r.has(optVideoOutput) && !r.values[optVideoOutput].On && r.has(OptVideo) {
		if r.values[optVideoOutput].FromFlag && !r.values[OptVideo].FromFlag {
			r.overrule(OptVideo, optVideoOutput, "video output is turned off")
		} else {
			r.overrule(optVideoOutput, OptVideo, "a video avatar needs video output")
		}
	}
	for _, o := range []*Option{optVideoInput, optVideoOutput, OptVideo} {
		v := r.values[o]
		isOff := !v.On && v.Text == "" // always allowed
		if isOff || r.webOnly(o) {
			continue
		}
		carries := func(s *catalog.Service) bool { return s.VideoOut }
		if o == optVideoInput {
			carries = func(s *catalog.Service) bool { return s.VideoIn }
		}
		if len(r.transports) > 0 && !slices.ContainsFunc(r.transports, carries) {
			r.overrule(o, OptTransports, "none of the bot's transports supports video")
			continue
		}
		if o != optVideoInput || !r.has(OptRealtime) {
			continue
		}
		model := r.cat.Find(catalog.KindRealtime, r.values[OptRealtime].Text)
		if model != nil && !model.VideoIn {
			r.overrule(o, OptRealtime, model.Label+" does not accept video")
		}
	}
	r.config.VideoOutput = r.has(OptVideo)
}

// client applies the rules for the web client and its server.
func (r *resolver) client() {
	framework := r.checkEnum(OptClient)
	if framework != "" && framework != ClientNone {
		r.webOnly(OptClient)
	}
	if framework != "" && !r.given(OptClient) && !r.values[OptClientServer].FromFlag {
		delete(r.values, OptClientServer) // it belonged to the client that was dropped
	}
	if !r.has(OptClient) || framework == ClientNone {
		framework = ""
	}
	server := r.checkEnum(OptClientServer)
	switch {
	case framework == "" && server != "" && !r.values[OptClient].reported:
		why := "needs a web client: --client-framework react"
		if server != ServerNext {
			why += " or vanilla"
		}
		r.overrule(OptClientServer, OptClient, why)
	case framework == ClientVanilla && server == ServerNext:
		r.overrule(OptClientServer, OptClient, "nextjs needs the react client")
	}
	if framework == "" {
		delete(r.values, OptClient)
	} else {
		r.config.ClientServer = ServerVite
	}
}

// language checks the language, and that every service supports it.
func (r *resolver) language() {
	if !r.has(OptLanguage) {
		return
	}
	v := r.values[OptLanguage]
	tag, ok := catalog.LanguageTag(v.Text)
	if !ok {
		locale, _, _ := strings.Cut(strings.ReplaceAll(v.Text, "@", "."), ".") // of LANG, such as en_US.UTF-8
		near := cmp.Or(catalog.TagOf(v.Text), strings.ReplaceAll(locale, "_", "-"))
		if _, ok := catalog.LanguageTag(near); !ok {
			near = ""
		}
		const expected = "%s is not a language tag; expected one such as de or pt-BR%s"
		r.refuse(OptLanguage, expected, report.Typed(v.Text), report.DidYouMean(near))
		r.values[OptLanguage] = Value{reported: true}
		return
	}
	v.Text = tag
	r.values[OptLanguage] = v
	for _, o := range ServiceOptions {
		if !r.has(o) {
			continue
		}
		service := r.cat.Find(o.Kind, r.values[o].Text)
		if service == nil || service.Speaks(tag) {
			continue
		}
		cannot := func(s *catalog.Service) bool { return !s.Speaks(tag) }
		others := slices.DeleteFunc(slices.Clone(r.cat.List(o.Kind)), cannot)
		blamed := o
		if v.FromFlag && !r.values[o].FromFlag {
			blamed = OptLanguage // the service was given before
		}
		problem := r.refuse(blamed, "%s does not support the language %s", service.Label, tag)
		problem.Allowed = catalog.IDs(others)
		if blamed == OptLanguage {
			problem.Allowed = service.Languages()
		}
		if len(others) > 0 {
			all := "`vbot init --describe-options=" + o.Kind + " --json` has all languages"
			problem.Names = catalog.FirstNames("services that support it", others, all)
		}
	}
}
