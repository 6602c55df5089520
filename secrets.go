package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"vbot/internal/catalog"
	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/secrets"
)

// maxFile is the maximum size of a file with secrets, in bytes.
const maxFile = 16 << 20

// cloudOptions are the options that most commands of `vbot cloud` have.
type cloudOptions struct {
	organization *string // nil if it was not given
	region       *string // nil if it was not given
}

// currentOrg describes --organization for commands that work in one organization.
const currentOrg = "organization (default: the current one)"

func (o *cloudOptions) addOrganization(f *cli.Flags, about string) {
	f.Optional("o organization", "ORG", about, &o.organization)
}

func (o *cloudOptions) addRegion(f *cli.Flags, about string) {
	f.Optional("r region", "REGION", about, &o.region)
}

// regionOfNew describes --region where a secret is stored.
func regionOfNew(what string) string {
	return "region of a new " + what +
		"; must be the region of the agents that use it (default: the organization's)"
}

// text returns the value of an option, "" if it was not given.
func text(option *string) string {
	if option == nil {
		return ""
	}
	return *option
}

// check checks the name, which is the first argument, by the rule, and the options.
func (o *cloudOptions) check(env *cli.Env, rule func(*report.Faults, string)) {
	if name := env.Arg(0); name != "" {
		rule(&env.Faults, name)
	}
	o.checkOptions(env)
}

func (o *cloudOptions) checkOptions(env *cli.Env) {
	segment := func(field string, option *string) {
		if option != nil && !cloud.IsSegment(*option) {
			env.Faults.Values.Add(field, "--"+field, cloud.SegmentRule)
		}
	}
	segment("organization", o.organization)
	segment("region", o.region)
}

// mayConfirm checks that vbot can ask for confirmation. name is the command's.
func mayConfirm(env *cli.Env, name string) {
	if !canAsk(env) {
		const needed = "%s needs confirmation, and vbot cannot ask; use --skip to go ahead without it"
		env.Faults.Usage.Add("skip", "", needed, name)
	}
}

// faults returns what is wrong with the command line, or nil. If ctx has ended, it returns an
// interruption: reading a file may have failed only because of it.
func faults(ctx context.Context, env *cli.Env) error {
	if ctx.Err() != nil {
		return report.Interruption()
	}
	return env.Faults.Failure()
}

// signIn returns a client of the API, unless something is wrong with the command line. It sends no request.
func (o *cloudOptions) signIn(ctx context.Context, env *cli.Env) (*cloud.Client, error) {
	if err := faults(ctx, env); err != nil {
		return nil, err
	}
	return cloud.SignIn(cloudDeps(env), text(o.organization))
}

// connect signs in and finds the organization to work in.
func (o *cloudOptions) connect(ctx context.Context, env *cli.Env) (*cloud.Client, error) {
	api, err := o.signIn(ctx, env)
	if err != nil {
		return nil, err
	}
	return api, api.FindOrganization(ctx, nil)
}

// cloudDeps returns what the API's client needs of the program.
func cloudDeps(env *cli.Env) cloud.Deps {
	return cloud.Deps{
		UserAgent:   "vbot/" + version,
		Getenv:      env.Getenv,
		Path:        env.Path,
		Now:         env.Now,
		Pause:       env.Pause,
		Random:      env.Random,
		WithTimeout: env.WithTimeout,
		Note:        func(s string) { env.Note("%s", s) },
	}
}

// resultOf returns what a job returned. A nil pointer becomes a nil interface.
func resultOf[T any, P interface {
	*T
	report.Result
}](result P, err error) (report.Result, error) {
	if result == nil {
		return nil, err
	}
	return result, err
}

// confirmation returns a function that shows what would be done, and asks whether to do it; nil if skip
// is set. done is a word such as "stored", for the message if the answer is no.
func confirmation(env *cli.Env, skip bool, done string) secrets.Confirm {
	if skip {
		return nil
	}
	return func(ctx context.Context, summary, question string) error {
		if summary != "" {
			env.Note("%s", summary)
		}
		return mustConfirm(ctx, env, question, done)
	}
}

// waitOption registers --wait, --wait=DURATION and --wait=false.
func waitOption(f *cli.Flags, what string, limit *time.Duration) {
	const withoutDuration = 2 * time.Minute
	reads := func(word string) string {
		for _, s := range []string{word, word + "s"} { // also --wait 30
			if _, err := time.ParseDuration(s); err == nil {
				return s
			}
		}
		return ""
	}
	f.Switch(cli.Switch{
		Name:        "wait",
		Placeholder: "DURATION",
		About:       "wait until " + what + " is ready, at most DURATION (default: no; without DURATION: 2m)",
		Values:      "a duration such as 90s",
		Reads:       reads,
		Put: func(s string) (err error) {
			switch s {
			case "true":
				*limit = withoutDuration
			case "false":
				*limit = 0
			default:
				*limit, err = time.ParseDuration(s)
				if err == nil && *limit <= 0 {
					err = errors.New("not a time to wait")
				}
			}
			return err
		},
	})
}

// login, logout, whoami.

var loginCommand = cli.Command{Name: "login", New: newLogin, Results: cli.Results{"": secrets.SignIn{}}}

type loginRun struct{ cloudOptions }

func newLogin(f *cli.Flags) cli.Runner {
	r := &loginRun{}
	r.addOrganization(f, "organization (default: the token's; if the token has several, vbot asks)")
	return r
}

func (r *loginRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.checkOptions(env)
	if err := faults(ctx, env); err != nil {
		return nil, err
	}
	request := secrets.LoginRequest{
		Organization: text(r.organization),
		Token:        func(ctx context.Context) (secret.Value, error) { return askToken(ctx, env) },
	}
	if canAsk(env) {
		request.Choose = func(ctx context.Context, names []string) (string, error) {
			return chooseOrganization(ctx, env, names)
		}
	}
	return resultOf(secrets.Login(ctx, cloudDeps(env), request))
}

var logoutCommand = cli.Command{Name: "logout", New: newLogout, Results: cli.Results{"": secrets.SignOut{}}}

type logoutRun struct{}

func newLogout(*cli.Flags) cli.Runner { return &logoutRun{} }

func (r *logoutRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	if err := faults(ctx, env); err != nil {
		return nil, err
	}
	return resultOf(secrets.Logout(cloudDeps(env)))
}

var whoamiCommand = cli.Command{Name: "whoami", New: newWhoami, Results: cli.Results{"": secrets.Identity{}}}

type whoamiRun struct{ cloudOptions }

func newWhoami(f *cli.Flags) cli.Runner {
	r := &whoamiRun{}
	r.addOrganization(f, currentOrg)
	return r
}

func (r *whoamiRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.checkOptions(env)
	api, err := r.signIn(ctx, env)
	if err != nil {
		return nil, err
	}
	return resultOf(secrets.Identify(ctx, api))
}

// list.

var listCommand = cli.Command{
	Name:    "list",
	New:     newList,
	Args:    cli.Args{Names: []string{"name"}},
	Results: cli.Results{"": secrets.Listing{}, "name": secrets.ShownSet{}},
}

type listRun struct {
	cloudOptions
	sets bool
}

func newList(f *cli.Flags) cli.Runner {
	r := &listRun{}
	f.Toggle("s sets", "list secret sets only (default: no)", func(on bool) { r.sets = on })
	r.addRegion(f, "list this region only (default: all)")
	r.addOrganization(f, currentOrg)
	return r
}

func (r *listRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check(env, secrets.CheckName)
	api, err := r.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	region := text(r.region)
	if name := env.Arg(0); name != "" {
		return resultOf(secrets.Show(ctx, api, secrets.ShowRequest{Name: name, Region: region}))
	}
	return resultOf(secrets.List(ctx, api, secrets.ListRequest{Region: region, SetsOnly: r.sets}))
}

// set.

var setCommand = cli.Command{
	Name:    "set",
	New:     newSet,
	Args:    cli.Args{Names: []string{"name"}, Required: 1, Rest: true},
	Results: cli.Results{"": secrets.SetResult{}},
}

type setRun struct {
	cloudOptions
	files      []string // "-" is stdin
	valueFiles []string // KEY=PATH
	skipEmpty  bool
	prune      bool
	skip       bool
	dryRun     bool
	wait       time.Duration
}

func newSet(f *cli.Flags) cli.Runner {
	r := &setRun{}
	f.List("f file", "FILE", "read pairs from a file; - is stdin; repeatable", &r.files)
	f.List("value-file", "KEY=PATH", "store a file byte for byte; repeatable", &r.valueFiles)
	f.Bool("skip-empty", "leave out keys of FILE that have no value", &r.skipEmpty)
	f.Bool("prune", "remove keys of the set that are neither given nor in FILE", &r.prune)
	f.Bool("s skip", "store without asking", &r.skip)
	f.Bool("dry-run", "show what would be stored; store nothing", &r.dryRun)
	waitOption(f, "the set", &r.wait)
	r.addRegion(f, regionOfNew("set"))
	r.addOrganization(f, currentOrg)
	return r
}

func (r *setRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check(env, secrets.CheckNewName)
	pairs := r.readPairs(ctx, env)
	if err := faults(ctx, env); err != nil {
		return nil, err
	}
	services := sync.OnceValue(catalog.New) // only a few values need it
	isServiceKey := func(key string) bool { return services().HasSecret(key) }
	for _, note := range pairs.Notes(isServiceKey) {
		env.Note("%s", note)
	}
	api, err := r.signIn(ctx, env)
	if err != nil {
		return nil, err
	}
	if !r.dryRun { // a dry run shows only names
		ask := valueQuestions{env: env, set: env.Arg(0), isServiceKey: isServiceKey, isLast: r.skip}
		if err := ask.fill(ctx, pairs.List); err != nil {
			return nil, err
		}
	}
	if err := api.FindOrganization(ctx, nil); err != nil {
		return nil, err
	}
	return resultOf(secrets.Set(ctx, api, secrets.SetRequest{
		Name:    env.Arg(0),
		Region:  text(r.region),
		Pairs:   pairs.List,
		LeftOut: pairs.LeftOut,
		Prune:   r.prune,
		DryRun:  r.dryRun,
		Wait:    r.wait,
		Confirm: confirmation(env, r.skip || r.dryRun, "stored"),
	}))
}

// readPairs reads the arguments and the files, and adds errors in them to the faults of env.
func (r *setRun) readPairs(ctx context.Context, env *cli.Env) *secrets.Pairs {
	words := env.Args[min(1, len(env.Args)):]
	isEmpty := len(words)+len(r.files)+len(r.valueFiles) == 0 && len(env.Args) > 0
	if !r.skip && !r.dryRun && !isEmpty {
		mayConfirm(env, "set")
	}
	pairs := &secrets.Pairs{
		Faults: &env.Faults,
		MayAsk: r.dryRun || canAsk(env),
		IsFile: func(word string) bool {
			info, err := os.Stat(env.Path(word))
			return err == nil && !info.IsDir()
		},
	}
	for _, name := range r.files {
		readPairsFile(ctx, env, pairs, name, r.skipEmpty)
	}
	if r.skipEmpty && r.files == nil {
		env.Faults.Usage.Add("skip-empty", "--skip-empty", "needs --file")
	}
	pairs.AddArguments(words)
	for _, arg := range r.valueFiles {
		readValueFile(ctx, env, pairs, arg)
	}
	if isEmpty {
		env.Faults.Usage.Add("secrets", "", "nothing to store: pass KEY, KEY=VALUE or --file")
	}
	pairs.Finish()
	return pairs
}

// readPairsFile adds the pairs of a file; "-" is stdin. With allowBlank, keys without a value are not
// faults.
func readPairsFile(ctx context.Context, env *cli.Env, pairs *secrets.Pairs, name string, allowBlank bool) {
	if name == "-" && stdinEchoes(env) {
		env.Faults.Values.Add("file", "--file", "stdin is a terminal, which would show the values; "+
			"pass KEY to enter its value in a hidden prompt")
		return
	}
	data, err := env.ReadAll(ctx, name, maxFile)
	if err != nil {
		env.Faults.Values.Add("file", "--file", "%s: %v", fileLabel(name), err)
		return
	}
	pairs.AddFile(fileLabel(name), data, allowBlank)
}

// readValueFile adds the pair of a --value-file. By mistake, the text after the = may be a secret
// value, so messages do not repeat it.
func readValueFile(ctx context.Context, env *cli.Env, pairs *secrets.Pairs, arg string) {
	key, path, ok := strings.Cut(arg, "=")
	if !ok || !secret.IsKey(key) || path == "" {
		env.Faults.Values.Add("value-file", "--value-file", "must be KEY=PATH; %s", secret.KeyRule)
		return
	}
	data, err := env.ReadAll(ctx, path, maxFile)
	if err != nil {
		env.Faults.Values.Add(key, "--value-file "+key, "the file cannot be read: %v", err)
		return
	}
	pairs.AddValueFile(key, data)
}

// check.

var checkCommand = cli.Command{
	Name:    "check",
	New:     newCheck,
	Args:    cli.Args{Names: []string{"name"}, Required: 1},
	Results: cli.Results{"": secrets.Comparison{}},
}

type checkRun struct {
	cloudOptions
	files     []string // "-" is stdin
	skipEmpty bool
	exact     bool
}

func newCheck(f *cli.Flags) cli.Runner {
	r := &checkRun{}
	f.List("f file", "FILE", "file with the keys, such as .env; - is stdin; repeatable", &r.files)
	f.Bool("skip-empty", "leave out keys without a value, as set does", &r.skipEmpty)
	f.Bool("exact", "fail for extra keys, too", &r.exact)
	r.addOrganization(f, currentOrg)
	return r
}

func (r *checkRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check(env, secrets.CheckName)
	pairs := &secrets.Pairs{Faults: &env.Faults}
	for _, name := range r.files {
		readPairsFile(ctx, env, pairs, name, true)
	}
	if r.files == nil {
		env.Faults.Usage.Add("file", "--file", "missing")
	}
	api, err := r.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return resultOf(secrets.Check(ctx, api, secrets.CheckRequest{
		Name:      env.Arg(0),
		File:      pairs.Files(),
		Pairs:     pairs.List,
		SkipEmpty: r.skipEmpty,
		Exact:     r.exact,
	}))
}

// unset and delete.

var unsetCommand = cli.Command{
	Name:    "unset",
	New:     newUnset,
	Args:    cli.Args{Names: []string{"name", "key"}, Required: 2},
	Results: cli.Results{"": secrets.Removal{}},
}

var deleteCommand = cli.Command{
	Name:    "delete",
	New:     newDelete,
	Args:    cli.Args{Names: []string{"name"}, Required: 1},
	Results: cli.Results{"": secrets.Removal{}},
}

type removeRun struct {
	cloudOptions
	name     string // the command's
	skip     bool
	ifExists bool
}

func newUnset(f *cli.Flags) cli.Runner { return newRemove(f, "remove without asking") }

func newDelete(f *cli.Flags) cli.Runner {
	return newRemove(f, "delete without asking; this cannot be undone")
}

func newRemove(f *cli.Flags, aboutSkip string) cli.Runner {
	r := &removeRun{name: f.Command.Name}
	f.Bool("s skip", aboutSkip, &r.skip)
	f.Bool("if-exists", "succeed even if there is nothing to remove", &r.ifExists)
	r.addOrganization(f, currentOrg)
	return r
}

func (r *removeRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check(env, secrets.CheckName)
	key := ""
	done := "deleted"
	if r.name == "unset" {
		key = env.Arg(1)
		done = "removed"
	}
	if key != "" {
		secrets.CheckKey(&env.Faults, key)
	}
	if !r.skip {
		mayConfirm(env, r.name)
	}
	api, err := r.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return resultOf(secrets.Remove(ctx, api, secrets.RemoveRequest{
		Name:     env.Arg(0),
		Key:      key,
		IfExists: r.ifExists,
		Confirm:  confirmation(env, r.skip, done),
	}))
}

// reference.

var referenceCommand = cli.Command{
	Name:    "reference",
	New:     newReference,
	Args:    cli.Args{Names: []string{"name"}, Required: 1},
	Results: cli.Results{"": secrets.Reference{}},
}

type referenceRun struct{ cloudOptions }

func newReference(f *cli.Flags) cli.Runner {
	r := &referenceRun{}
	r.addRegion(f, "self-hosted region of the Secret")
	r.addOrganization(f, currentOrg)
	return r
}

func (r *referenceRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check(env, secrets.CheckReferenceName)
	if r.region == nil {
		env.Faults.Usage.Add("region", "--region", "missing")
	}
	api, err := r.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	request := secrets.ReferenceRequest{Name: env.Arg(0), Region: *r.region}
	return resultOf(secrets.Register(ctx, api, request))
}

// image-pull-secret.

var imagePullCommand = cli.Command{
	Name:    "image-pull-secret",
	New:     newImagePull,
	Args:    cli.Args{Names: []string{"name", "host", "credentials"}, Required: 2},
	Results: cli.Results{"": secrets.PullSecret{}},
}

type imagePullRun struct {
	cloudOptions
	encode bool
	wait   time.Duration
}

func newImagePull(f *cli.Flags) cli.Runner {
	r := &imagePullRun{encode: true}
	const aboutEncode = "encode USER:PASSWORD in base64 (default: yes); --no-encode sends it unchanged"
	f.Toggle("encode", aboutEncode, func(on bool) { r.encode = on })
	waitOption(f, "the secret", &r.wait)
	r.addRegion(f, regionOfNew("secret"))
	r.addOrganization(f, currentOrg)
	return r
}

func (r *imagePullRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check(env, secrets.CheckNewName)
	request := secrets.PullSecretRequest{
		Name:   env.Arg(0),
		Region: text(r.region),
		Encode: r.encode,
		Wait:   r.wait,
	}
	if host := env.Arg(1); host != "" {
		url, ok := secrets.RegistryURL(host)
		if !ok {
			env.Faults.Values.Add("host", "HOST",
				"must be a bare host, or an http or https URL without user, query and fragment")
		}
		request.Host = url
		if note := secrets.HostNote(host); ok && note != "" {
			env.Note("%s", note)
		}
	}
	var err error
	if request.Login, err = r.givenLogin(ctx, env, request.Host); err != nil {
		return nil, err
	}
	api, err := r.signIn(ctx, env)
	if err != nil {
		return nil, err
	}
	if request.Login.Empty() {
		if request.Login, err = r.askLogin(ctx, env, request.Host); err != nil {
			return nil, err
		}
	}
	if err := api.FindOrganization(ctx, nil); err != nil {
		return nil, err
	}
	return resultOf(secrets.StorePullSecret(ctx, api, request))
}

// givenLogin returns the login from the command line or from stdin; it is empty if vbot has to ask for it.
func (r *imagePullRun) givenLogin(
	ctx context.Context, env *cli.Env, host string,
) (login secret.Value, err error) {
	switch {
	case len(env.Args) > 2:
		login = secret.New(env.Args[2])
	case host != "" && !canAsk(env): // without a host there is nothing to read
		login, err = secretFromStdin(ctx, env, "credentials", true)
		if f, ok := errors.AsType[*report.Failure](err); ok && f.Code == report.Usage {
			env.Faults.Usage = append(env.Faults.Usage, f.Problems...)
			err = nil
		}
	}
	if err == nil && !login.Empty() {
		secrets.CheckLogin(&env.Faults, login, r.encode)
	}
	return login, err
}

// askLogin asks for the login, then for the password if only a user was entered.
func (r *imagePullRun) askLogin(ctx context.Context, env *cli.Env, host string) (secret.Value, error) {
	question := "USER:PASSWORD for " + host + " (hidden):"
	if !r.encode {
		question = "Encoded credentials for " + host + " (hidden):"
	}
	isWhole := func(typed string) bool { return !r.encode || strings.Contains(typed, ":") }
	login, err := hidden(ctx, env, question, true, isWhole)
	if err != nil {
		return login, err
	}
	if !login.Empty() && !isWhole(login.Reveal()) {
		password, err := hidden(ctx, env, "Password for that user (hidden):", true, always)
		if err != nil {
			return login, err
		}
		login = secret.New(login.Reveal() + ":" + password.Reveal())
	}
	if login.Empty() {
		env.Faults.Usage.Add("credentials", "CREDENTIALS", "missing")
	} else {
		secrets.CheckLogin(&env.Faults, login, r.encode)
	}
	return login, faults(ctx, env)
}
