package bot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"vbot/internal/catalog"
	"vbot/internal/report"
)

// maxTransports limits the number of problems, and the time to find them.
const maxTransports = 100

// findTransports replaces the given transports by canonical ids. An id such as
// rtc_hosted_pstn_dialin becomes the generic transport and its dial mode.
func (r *resolver) findTransports() {
	r.config.Transports = []string{}
	given := r.values[OptTransports]
	if !r.given(OptTransports) || r.has(OptTransports) && len(given.List) == 0 {
		r.missing(OptTransports, "missing: a transport is how people reach the bot")
		return
	}
	if len(given.List) > maxTransports {
		r.refuse(OptTransports, "%d transports; the maximum is %d", len(given.List), maxTransports)
		r.values[OptTransports] = Value{FromFlag: given.FromFlag, reported: true}
		return
	}
	ids := []string{}
	modes := map[*Option]string{} // dial modes named by transport ids
	for _, word := range given.List {
		s := r.cat.Find(catalog.KindTransport, word)
		if s == nil {
			r.unknownTransport(word, given.FromFlag)
			continue
		}
		id := s.ID
		if s.ModeOf != "" {
			id = s.ModeOf
			o := dialed[id]
			if other := modes[o]; other != "" && other != s.Mode {
				r.refuse(OptTransports, "%s and %s cannot be combined", r.typed[id], word)
			}
			modes[o] = s.Mode
		}
		if r.typed[id] == "" || s.ModeOf != "" {
			r.typed[id] = word
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
			r.transports = append(r.transports, s)
		}
	}
	given.List = ids
	r.values[OptTransports] = given
	pstn, sip := r.typed[catalog.DailyPSTN], r.typed[catalog.TwilioDailySIP]
	if pstn != "" && sip != "" {
		r.refuse(OptTransports, "%s and %s cannot be combined: each needs its own webhooks.py", pstn, sip)
	}
	r.dialMode(catalog.DailyPSTN, modes)
	r.dialMode(catalog.TwilioDailySIP, modes)
}

// unknownTransport adds the problem with a word that names no transport, or several transports.
func (r *resolver) unknownTransport(word string, flag bool) {
	several := strings.FieldsFunc(word, func(c rune) bool { return c == ',' || c == ' ' })
	switch {
	case word == "":
		r.refuse(OptTransports, "the value is empty")
	case word == BotWeb || word == BotTelephony || word == "phone":
		ofKind := r.cat.Transports(word != BotWeb)
		names := catalog.FirstNames("allowed", ofKind, showsAll(catalog.KindTransport))
		r.refuse(OptTransports, "%q is a kind of bot; %s", word, names)
	case len(several) < 2 || strings.Contains(word, "="):
		r.unknown(OptTransports, "transport", word)
	case flag:
		repeated := strings.Join(several, " -t ")
		r.refuse(OptTransports, "%q is not one transport; repeat -t: -t %s", word, repeated)
	default:
		list := strings.Join(report.QuoteAll(several), ", ")
		r.refuse(OptTransports, "%q is not one transport; write [%s]", word, list)
	}
}

// dialMode finds the mode of the dialed transport with the id. It comes from the
// option, from a transport id that names the mode, or from both if they agree.
func (r *resolver) dialMode(id string, modes map[*Option]string) {
	o := dialed[id]
	named := modes[o]
	hasTransport := slices.Contains(r.values[OptTransports].List, id)
	if r.has(o) && !hasTransport {
		name := r.cat.Find(catalog.KindTransport, id).Names[0]
		r.overrule(o, OptTransports, "the bot has no "+name+" transport")
		return
	}
	given := r.given(o)
	word := r.checkEnum(o)
	switch {
	case word == "" && named != "":
		r.values[o] = Value{Text: named}
	case word == "" && hasTransport && !given:
		r.missing(o, "missing: %s needs it", r.typed[id])
	case word == "" || named == "" || word == named:
	case r.values[o].FromFlag && !r.values[OptTransports].FromFlag:
		r.dropped = append(r.dropped, Dropped{What: "the mode " + named, Why: o.Where() + " says " + word})
	default:
		r.overrule(o, OptTransports, "the transport "+r.typed[id]+" means "+named)
		if !r.given(o) {
			r.values[o] = Value{Text: named}
		}
	}
}

// botType checks the type of the bot. If it is not given, it depends on the transports.
func (r *resolver) botType() {
	i := slices.IndexFunc(r.transports, func(s *catalog.Service) bool { return s.Telephony })
	r.config.BotType = BotWeb
	if i >= 0 {
		r.config.BotType = BotTelephony
	}
	if r.checkEnum(OptBotType) == BotWeb && i >= 0 {
		phone := r.transports[i]
		typed := r.typed[cmp.Or(phone.ModeOf, phone.ID)]
		r.overrule(OptBotType, OptTransports, "a web bot cannot use the telephony transport "+typed)
	}
}

// Update returns the recorded values that an update with the typed ones starts from. The type of the bot
// depends on its transports again, unless somebody asked for a telephony bot without a telephone.
func Update(cat *catalog.Catalog, recorded, typed Values) Values {
	values := maps.Clone(recorded)
	hadTelephone := hasTelephone(cat, recorded[OptTransports].List)
	wasAskedFor := recorded[OptBotType].Text == BotTelephony && !hadTelephone
	if len(typed[OptTransports].List) > 0 && !wasAskedFor {
		delete(values, OptBotType)
	}
	return values
}

// HasTelephone reports whether one of the bot's transports carries telephone calls.
func (c Config) HasTelephone(cat *catalog.Catalog) bool { return hasTelephone(cat, c.Transports) }

func hasTelephone(cat *catalog.Catalog, transports []string) bool {
	return slices.ContainsFunc(transports, func(id string) bool {
		found := cat.Find(catalog.KindTransport, id)
		return found != nil && found.Telephony
	})
}
