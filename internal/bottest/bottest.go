// Package bottest makes configurations of bots for tests.
package bottest

import (
	"math/rand/v2"
	"slices"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/report"
)

// Full returns bots that have all that can be combined: for each mode and type of bot, every toggle,
// transport and client that the rules allow, and an avatar where one can be.
func Full(cat *catalog.Catalog) (all []bot.Config) {
	for _, botType := range bot.OptBotType.Allowed() {
		for _, mode := range bot.OptMode.Allowed() {
			all = append(all, full(cat, botType, mode))
		}
	}
	return all
}

// full returns the full bot of a type and mode.
func full(cat *catalog.Catalog, botType, mode string) bot.Config {
	values := bot.Values{
		bot.OptBotType:    {Text: botType},
		bot.OptMode:       {Text: mode},
		bot.OptTransports: {},
	}
	isWrong := func(p report.Problem) bool { return !p.Missing }
	try := func(o *bot.Option, v bot.Value) {
		was, had := values[o]
		values[o] = v
		if _, _, problems := bot.Resolve(cat, values, "full"); slices.ContainsFunc(problems, isWrong) {
			if delete(values, o); had {
				values[o] = was
			}
		}
	}
	for _, t := range cat.List(catalog.KindTransport) {
		try(bot.OptTransports, bot.Value{List: append(slices.Clone(values[bot.OptTransports].List), t.ID)})
	}
	for _, o := range bot.Options {
		switch {
		case o.IsToggle():
			try(o, bot.Value{On: true})
		case slices.Contains(catalog.ServiceKinds, o.Kind):
			try(o, bot.Value{Text: cat.List(o.Kind)[0].ID})
		case o == bot.OptClient || o == bot.OptClientServer:
			try(o, bot.Value{Text: o.Enum[0].Name})
		}
	}
	cfg, _, problems := bot.Resolve(cat, values, "full")
	if len(problems) > 0 {
		panic(problems[0].Line())
	}
	return cfg
}

// Random returns a valid configuration, chosen by rng.
func Random(cat *catalog.Catalog, rng *rand.Rand) bot.Config {
	for {
		cfg, _, problems := bot.Resolve(cat, randomValues(cat, rng), "random bot")
		if len(problems) == 0 {
			return cfg
		}
	}
}

// randomValues returns values that the rules may refuse. Services have any of their names.
func randomValues(cat *catalog.Catalog, rng *rand.Rand) bot.Values {
	pick := func(kind string) string {
		s := cat.List(kind)[rng.IntN(len(cat.List(kind)))]
		return s.Names[rng.IntN(len(s.Names))]
	}
	var transports []string
	for range 1 + rng.IntN(3) {
		transports = append(transports, pick(catalog.KindTransport))
	}
	values := bot.Values{bot.OptTransports: {List: transports}}
	if rng.IntN(4) == 0 {
		values[bot.OptMode] = bot.Value{Text: bot.ModeRealtime}
		values[bot.OptRealtime] = bot.Value{Text: pick(catalog.KindRealtime)}
	} else {
		values[bot.OptMode] = bot.Value{Text: bot.ModeCascade}
		values[bot.OptSTT] = bot.Value{Text: pick(catalog.KindSTT)}
		values[bot.OptLLM] = bot.Value{Text: pick(catalog.KindLLM)}
		values[bot.OptTTS] = bot.Value{Text: pick(catalog.KindTTS)}
	}
	if rng.IntN(4) == 0 {
		values[bot.OptVideo] = bot.Value{Text: pick(catalog.KindVideo)}
	}
	if rng.IntN(3) == 0 {
		values[bot.OptLanguage] = bot.Value{Text: []string{"de", "pt-br", "zh-Hant-TW"}[rng.IntN(3)]}
	}
	for _, o := range bot.Options {
		if o.IsToggle() && rng.IntN(2) == 0 {
			values[o] = bot.Value{On: rng.IntN(2) == 0}
		}
	}
	return values
}

// ServiceOption returns the option whose values are services of the kind.
func ServiceOption(kind string) *bot.Option {
	return bot.Options[slices.IndexFunc(bot.Options, func(o *bot.Option) bool { return o.Kind == kind })]
}
