package scaffold

import (
	"context"
	"slices"
	"sync"

	"vbot/internal/bot"
	"vbot/internal/catalog"
	"vbot/internal/project"
	"vbot/internal/render"
	"vbot/internal/report"
)

// A comparison compares a project with what this version writes for a configuration.
type comparison struct {
	config bot.Config
	now    *render.Data
	// before returns what this version writes for the recorded configuration, nil if it cannot.
	before func() *draft
	plan   *project.Plan // of an update
}

// compare compares the project in the target with what this version writes for the recorded bot, as options
// and the configuration file change it.
func (p Project) compare(
	ctx context.Context, env Env, t *project.Target, was record, acceptMissing bool,
) (*comparison, error) {
	cfg, err := p.configure(env, bot.Update(env.Catalog, was.bot, p.Bot))
	if err != nil {
		return nil, err
	}
	c := &comparison{
		config: cfg,
		now:    render.New(cfg, env.Catalog, env.Version),
		before: sync.OnceValue(func() *draft { return renderRecorded(env, was) }),
	}
	files, err := c.now.Files()
	if err != nil {
		return nil, err
	}
	now, err := project.NewRecord(env.Version, cfg, files)
	if err != nil {
		return nil, err
	}
	c.plan, err = t.PlanUpdate(&project.UpdateRequest{
		Files:         files,
		Was:           was.Record,
		Now:           now,
		AcceptMissing: acceptMissing,
		Rendered: func() map[string][]byte {
			if d := c.before(); d != nil {
				return d.files
			}
			return nil
		},
	})
	if err == nil && ctx.Err() != nil {
		err = report.Interruption()
	}
	return c, err
}

// renderRecorded returns what this version writes for the recorded configuration, or nil if it cannot.
func renderRecorded(env Env, was record) *draft {
	cfg, _, problems := bot.Resolve(env.Catalog, was.bot, "")
	if len(problems) > 0 {
		return nil
	}
	d := &draft{bot: render.New(cfg, env.Catalog, was.Vbot)}
	var err error
	if d.files, err = d.bot.Files(); err != nil {
		return nil
	}
	return d
}

// checkName returns an error if vbot writes no file of this path. The name may be "".
func (c *comparison) checkName(name string) error {
	isNamed := func(s project.Step) bool { return s.Path == name }
	if name != "" && !slices.ContainsFunc(c.plan.Steps, isNamed) {
		const expected = "vbot writes no file %s; expected a path such as server/bot.py"
		return report.One(report.NotFound, "diff", "--diff", expected, report.Typed(name))
	}
	return nil
}

// needed returns what server/.env needs that the recorded bot did not.
func (c *comparison) needed() []catalog.Requirement {
	if was := c.before(); was != nil && c.plan.Writes() > 0 {
		return c.now.ToGet(was.bot)
	}
	return nil
}

// warnOfOptions says what the options take away, or leave as it is, although a person may expect something
// else.
func (c *comparison) warnOfOptions(env Env, options bot.Values) {
	was := c.before()
	if was == nil {
		return
	}
	if len(options[bot.OptTransports].List) > 0 {
		c.warnOfLostTelephone(env, was.bot)
	}
	if names := c.now.CloudNeeds(); names != "" && was.bot.CloudNeeds() == "" {
		const notHere = "in the cloud, localhost is not your machine: set %s in server/.env to the address " +
			"of a server that the cloud can reach"
		env.Warn("deploy_to_cloud", "", notHere, names)
	}
	if was.bot.Language != c.config.Language {
		const stays = "server/agent.py stays in the language in which it was written: the model answers in " +
			"the new one, but translate a GREETING that is spoken as it is"
		env.Warn(bot.OptLanguage.Key, "", stays)
	}
	if was.bot.TTS() != nil && c.now.TTS() == nil {
		const unspoken = "a realtime model speaks for itself, and nothing speaks a TTSSpeakFrame of your " +
			"tools: DEPLOY.md has hand_over without one"
		env.Warn(bot.OptMode.Key, "", unspoken)
	}
	if was.bot.EnableEval && !c.config.EnableEval {
		const untested = "nothing runs the tests in server/tests any more: pytest and the stand-ins go"
		env.Warn("enable_eval", "", untested)
	}
}

// warnOfLostTelephone says what a bot loses with its last telephone transport.
func (c *comparison) warnOfLostTelephone(env Env, was *render.Data) {
	if !was.HasTelephone(env.Catalog) || c.config.HasTelephone(env.Catalog) {
		return
	}
	parts := "the tool hang_up, the telephone parts of README.md, and the transfer of calls in DEPLOY.md"
	if was.SelfHost {
		parts = "PHONE_TOKEN, " + parts
	}
	if c.config.BotType == bot.BotWeb {
		parts += "; it becomes a web bot (bot_type)"
	}
	env.Warn(bot.OptTransports.Key, "", "without its last telephone transport, the bot loses %s", parts)
}
