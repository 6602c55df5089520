package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/report"
	"vbot/internal/secret"
	"vbot/internal/secrets"
)

// The commands of `vbot cloud`. Each holds a command of package secrets, in which its options are stored,
// and what only the command line has. Prepare reads the arguments and the files; Run signs in, asks, and
// runs the command.

// maxFile is the maximum size of a file with secrets, in bytes.
const maxFile = 16 << 20

// An account is the organization in which a command works, and how long it waits for the API.
type account struct {
	organization string        // "" if --organization was not given
	timeout      time.Duration // 0 if --timeout was not given
}

func (a *account) addOptions(f *cli.Flags) {
	organizationOption(f, "organization (default: the current one)", &a.organization)
	timeoutOption(f, aboutTimeout, &a.timeout)
}

// signIn returns a client of the API. It sends no request.
func (a *account) signIn(env *cli.Env) (*cloud.Client, error) {
	api, err := cloud.SignIn(env.System, a.organization)
	if err == nil {
		api.Limit(a.timeout)
	}
	return api, err
}

// connect signs in and finds the organization to work in.
func (a *account) connect(ctx context.Context, env *cli.Env) (*cloud.Client, error) {
	api, err := a.signIn(env)
	if err != nil {
		return nil, err
	}
	return api, api.FindOrganization(ctx, nil)
}

// pointer is a pointer to the result of a command.
type pointer[T any] interface {
	*T
	report.Result
}

// resultOf returns what a command returned. A nil pointer becomes a nil interface.
func resultOf[T any, P pointer[T]](result P, err error) (report.Result, error) {
	if result == nil {
		return nil, err
	}
	return result, err
}

// connected connects, and returns what run returns.
func connected[T any, P pointer[T]](
	ctx context.Context, env *cli.Env, a *account, run func(context.Context, *cloud.Client) (P, error),
) (report.Result, error) {
	api, err := a.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return resultOf(run(ctx, api))
}

// Options that several commands have.

func organizationOption(f *cli.Flags, about string, p *string) {
	f.String("o organization", "ORG", about, p).Check = func(name string) string {
		if strings.EqualFold(name, "json") { // as with kubectl -o json
			return "takes the name of an organization; --json prints JSON"
		}
		return segmentFault(name)
	}
}

const aboutTimeout = "give up a request, with all its tries, after DURATION (default: 2m)"

// timeoutOption registers --timeout.
func timeoutOption(f *cli.Flags, about string, limit *time.Duration) {
	put := func(text string) { *limit, _ = time.ParseDuration(text) } // the check says what is wrong
	f.Func("timeout", "DURATION", about, put).Check = durationFault("timeout")
}

// durationFault returns a function that says what is wrong with a duration, or "".
func durationFault(option string) func(text string) string {
	return func(text string) string {
		d, err := time.ParseDuration(text)
		_, notNumber := strconv.ParseUint(text, 10, 32)
		switch {
		case notNumber == nil && text != "0":
			return "add a unit: --" + option + "=" + text + "s"
		case err != nil:
			return "must be a duration such as 90s or 5m"
		case d <= 0:
			return "must be longer than 0s"
		}
		return ""
	}
}

func regionOption(f *cli.Flags, about string, p *string) *cli.Option {
	o := f.String("r region", "REGION", about, p)
	o.Check = segmentFault
	return o
}

// segmentFault returns what is wrong with a name that becomes a segment of the API's paths, or "".
func segmentFault(name string) string {
	if cloud.IsSegment(name) {
		return ""
	}
	return cloud.SegmentRule
}

// regionOfNew describes --region where a secret is stored.
func regionOfNew(what string) string {
	return "region of a new " + what +
		"; must be the region of the agents that use it (default: the organization's)"
}

// defaultWait is how long vbot waits until a secret is ready.
const defaultWait = 2 * time.Minute

// waitOption registers --wait, --wait=DURATION and --wait=false.
func waitOption(f *cli.Flags, what string, limit *time.Duration) {
	recognize := func(word string) string {
		for _, s := range []string{word, word + "s"} { // also --wait 30
			if _, err := time.ParseDuration(s); err == nil {
				return s
			}
		}
		return ""
	}
	f.OptionalValue(cli.OptionalValueFlag{
		Name:        "wait",
		Placeholder: "DURATION",
		About:       "wait until " + what + " is ready, at most DURATION (default: no; without DURATION: 2m)",
		Fault:       durationFault("wait"),
		Recognize:   recognize,
		Put: func(s string) (err error) {
			switch s {
			case "true":
				*limit = defaultWait
			case "false":
				*limit = 0
			default:
				if durationFault("wait")(s) != "" {
					return errors.New("not a time to wait")
				}
				*limit, err = time.ParseDuration(s)
			}
			return err
		},
	})
}

// vbot cloud login, logout and whoami

var loginCommand = cli.Command{Name: "login", New: newLogin, Results: cli.Results{"": secrets.SignIn{}}}

type loginRun struct{ login secrets.Login }

func newLogin(f *cli.Flags) cli.Runner {
	r := &loginRun{}
	const about = "organization (default: the token's; if the token has several, vbot asks)"
	organizationOption(f, about, &r.login.Organization)
	timeoutOption(f, aboutTimeout, &r.login.Timeout)
	return r
}

func (r *loginRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.login.Token = func(ctx context.Context) (secret.Value, error) { return askToken(ctx, env) }
	if canAsk(env) {
		r.login.Choose = func(ctx context.Context, names []string) (string, error) {
			return chooseOrganization(ctx, env, names)
		}
	}
	return resultOf(r.login.Run(ctx, env.System))
}

var logoutCommand = cli.Command{Name: "logout", New: newLogout, Results: cli.Results{"": secrets.SignOut{}}}

func newLogout(*cli.Flags) cli.Runner {
	return cli.RunnerFunc(func(env *cli.Env) (report.Result, error) {
		return resultOf(secrets.Logout(env.System))
	})
}

var whoamiCommand = cli.Command{Name: "whoami", New: newWhoami, Results: cli.Results{"": secrets.Identity{}}}

type whoamiRun struct{ account }

func newWhoami(f *cli.Flags) cli.Runner {
	r := &whoamiRun{}
	r.account.addOptions(f)
	return r
}

func (r *whoamiRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	api, err := r.signIn(env)
	if err != nil {
		return nil, err
	}
	return resultOf(secrets.Whoami(ctx, api))
}

// vbot cloud secrets list

var listCommand = cli.Command{
	Name:    "list",
	New:     newList,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Optional: true, Check: secrets.NameFault}}},
	Results: cli.Results{"": secrets.Listing{}, "name": secrets.ShownSet{}},
}

type listRun struct {
	account
	list secrets.List
}

func newList(f *cli.Flags) cli.Runner {
	r := &listRun{}
	f.Toggle("s sets", "list secret sets only (default: no)", &r.list.SetsOnly)
	regionOption(f, "list this region only (default: all)", &r.list.Region)
	r.account.addOptions(f)
	return r
}

func (r *listRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	if name := env.Arg(0); name != "" {
		return connected(ctx, env, &r.account, secrets.Show{Name: name, Region: r.list.Region}.Run)
	}
	return connected(ctx, env, &r.account, r.list.Run)
}

// vbot cloud secrets set

var setCommand = cli.Command{
	Name: "set",
	New:  newSet,
	Args: cli.Args{
		Named: []cli.Arg{{Name: "name", Check: secrets.NewNameFault}},
		Rest:  true,
	},
	Results: cli.Results{"": secrets.SetResult{}},
}

type setRun struct {
	account
	set        secrets.Set
	files      []string // "-" is stdin
	valueFiles []string // KEY=PATH
	skipEmpty  bool
	skip       bool // do not ask
}

func newSet(f *cli.Flags) cli.Runner {
	r := &setRun{}
	f.List("f file", "FILE", "read pairs from a file; - is stdin; repeatable", &r.files)
	f.List("value-file", "KEY=PATH", "store a file byte for byte; - is stdin; repeatable", &r.valueFiles)
	f.Bool("skip-empty", "leave out keys of FILE that have no value", &r.skipEmpty)
	f.Bool("prune", "remove keys of the set that are neither given nor in FILE", &r.set.Prune)
	f.Bool("s skip", "store without asking", &r.skip)
	dryRunOption(f, "stored", &r.set.DryRun)
	waitOption(f, "the set", &r.set.Wait)
	regionOption(f, regionOfNew("set"), &r.set.Region)
	r.account.addOptions(f)
	return r
}

// Prepare reads the pairs from the arguments and the files.
func (r *setRun) Prepare(ctx context.Context, env *cli.Env) (problems report.Problems) {
	words := env.Args[min(1, len(env.Args)):]
	isEmpty := len(words)+len(r.files)+len(r.valueFiles) == 0 && len(env.Args) > 0
	if !r.skip && !r.set.DryRun && !isEmpty {
		problems = requireTerminal(env)
	}
	pairs := &r.set.Pairs
	pairs.MayAsk = r.set.DryRun || canAsk(env)
	pairs.IsFile = func(word string) bool {
		info, err := os.Stat(env.Path(word))
		return err == nil && !info.IsDir()
	}
	for _, name := range r.files {
		problems = append(problems, addPairsFile(ctx, env, pairs, name, r.skipEmpty)...)
		noteReaders(env, "file", name)
	}
	if r.skipEmpty && r.files == nil {
		problems.Add("skip-empty", "--skip-empty", "needs --file").Usage = true
	}
	problems = append(problems, pairs.AddArguments(words)...)
	for _, arg := range r.valueFiles {
		problems = append(problems, addValueFile(ctx, env, pairs, arg)...)
		_, path, _ := strings.Cut(arg, "=")
		noteReaders(env, "value-file", path)
	}
	if isEmpty {
		const nothing = "nothing to store: pass KEY, KEY=VALUE or --file"
		problems.Add("secrets", "", nothing).Usage = true
	}
	return append(problems, pairs.Finish()...)
}

func (r *setRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.set.Name = env.Arg(0)
	r.set.Confirm = confirmation(env, r.skip || r.set.DryRun, "stored")
	isServiceKey := serviceKeys()
	for _, w := range r.set.Pairs.Warnings(isServiceKey) {
		env.Warn(w.Field, w.Field, "%s", w.Message)
	}
	if len(r.set.Pairs.LeftOut) > 0 {
		env.Note("left out keys without a value: %s", strings.Join(r.set.Pairs.LeftOut, ", "))
	}
	api, err := r.signIn(env)
	if err != nil {
		return nil, err
	}
	if !r.set.DryRun { // a dry run shows only names
		ask := valueQuestions{env: env, set: r.set.Name, isServiceKey: isServiceKey, isLast: r.skip}
		if err := ask.fill(ctx, r.set.Pairs.List); err != nil {
			return nil, err
		}
	}
	if err := api.FindOrganization(ctx, nil); err != nil {
		return nil, err
	}
	result, err := r.set.Run(ctx, api)
	return resultOf(result, cancelled(err, "stored"))
}

// noteReaders says so if every user of the machine can read the file of the option. All files are executable
// where modes mean nothing, such as on Windows' drives in WSL.
func noteReaders(env *cli.Env, option, name string) {
	path, err := env.Expand(name)
	if name == "-" || err != nil || runtime.GOOS == "windows" {
		return
	}
	info, err := os.Stat(env.Path(path))
	if err == nil && info.Mode().IsRegular() && info.Mode()&0o004 != 0 && info.Mode()&0o111 == 0 {
		const readable = "any user of this machine can read %s: chmod 600 %s"
		env.Warn(option, "", readable, name, report.ShellPath(name))
	}
}

// addPairsFile adds the pairs of a file; "-" is stdin. With allowBlank, a key without a value is not a
// problem.
func addPairsFile(
	ctx context.Context, env *cli.Env, pairs *secrets.Pairs, name string, allowBlank bool,
) (problems report.Problems) {
	if name == "-" && stdinEchoes(env) {
		problems.Add("file", "--file", "stdin is a terminal, which would show the values; "+
			"pass KEY to enter its value in a hidden prompt")
		return problems
	}
	data, err := env.ReadAll(ctx, name, maxFile)
	if err != nil {
		problems.Add("file", "--file", "%s: %v", fileLabel(name), err)
		return problems
	}
	return pairs.AddFile(fileLabel(name), data, allowBlank)
}

// addValueFile adds the pair of a --value-file. By mistake, the text after the = may be a secret
// value, so messages do not repeat it.
func addValueFile(
	ctx context.Context, env *cli.Env, pairs *secrets.Pairs, arg string,
) (problems report.Problems) {
	key, path, ok := strings.Cut(arg, "=")
	if !ok || !secret.IsKey(key) || path == "" {
		problems.Add("value-file", "--value-file", "must be KEY=PATH; %s", secret.KeyRule)
		return problems
	}
	data, err := env.ReadAll(ctx, path, maxFile)
	if err != nil {
		problems.Add(key, "--value-file "+key, "the file cannot be read: %v", err)
		return problems
	}
	return pairs.AddValueFile(key, data)
}

// vbot cloud secrets check

var checkCommand = cli.Command{
	Name:    "check",
	New:     newCheck,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: secrets.NameFault}}},
	Results: cli.Results{"": secrets.Comparison{}},
}

type checkRun struct {
	account
	check secrets.Check
	files []string // "-" is stdin
}

func newCheck(f *cli.Flags) cli.Runner {
	r := &checkRun{}
	const aboutFile = "file with the keys, such as .env; - is stdin; repeatable"
	f.List("f file", "FILE", aboutFile, &r.files).Required = true
	f.Bool("skip-empty", "leave out keys without a value, as set does", &r.check.SkipEmpty)
	f.Bool("exact", "fail for extra keys, too", &r.check.Exact)
	r.account.addOptions(f)
	return r
}

// Prepare reads the keys from the files.
func (r *checkRun) Prepare(ctx context.Context, env *cli.Env) (problems report.Problems) {
	for _, name := range r.files {
		problems = append(problems, addPairsFile(ctx, env, &r.check.Pairs, name, true)...)
	}
	return problems
}

func (r *checkRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.check.Name = env.Arg(0)
	return connected(ctx, env, &r.account, r.check.Run)
}

// vbot cloud secrets wait

var waitCommand = cli.Command{
	Name:    "wait",
	New:     newWait,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: secrets.NameFault}}},
	Results: cli.Results{"": secrets.WaitResult{}},
}

type waitRun struct {
	account
	wait secrets.Wait
}

func newWait(f *cli.Flags) cli.Runner {
	r := &waitRun{wait: secrets.Wait{Limit: defaultWait}}
	organizationOption(f, "organization (default: the current one)", &r.organization)
	timeoutOption(f, "wait at most DURATION (default: 2m)", &r.wait.Limit)
	return r
}

func (r *waitRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.wait.Name = env.Arg(0)
	return connected(ctx, env, &r.account, r.wait.Run)
}

// vbot cloud secrets unset and delete

var unsetCommand = cli.Command{
	Name: "unset",
	New:  newUnset,
	Args: cli.Args{Named: []cli.Arg{
		{Name: "name", Check: secrets.NameFault},
		{Name: "key", Check: secrets.KeyFault, Repeated: true},
	}},
	Results: cli.Results{"": secrets.Removal{}},
}

var deleteCommand = cli.Command{
	Name:    "delete",
	New:     newDelete,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: secrets.NameFault, Repeated: true}}},
	Results: cli.Results{"": secrets.Removal{}},
}

type removeRun struct {
	account
	remove  secrets.Remove
	hasKeys bool   // the arguments after the first one are keys
	done    string // "removed" or "deleted"
	skip    bool   // do not ask
}

func newUnset(f *cli.Flags) cli.Runner {
	r := &removeRun{hasKeys: true, done: "removed"}
	r.addOptions(f, "remove without asking")
	return r
}

func newDelete(f *cli.Flags) cli.Runner {
	r := &removeRun{done: "deleted"}
	r.addOptions(f, "delete without asking; this cannot be undone")
	return r
}

func (r *removeRun) addOptions(f *cli.Flags, aboutSkip string) {
	f.Bool("s skip", aboutSkip, &r.skip)
	f.Bool("if-exists", "succeed even if there is nothing to remove", &r.remove.IfExists)
	dryRunOption(f, r.done, &r.remove.DryRun)
	r.account.addOptions(f)
}

// dryRunOption registers --dry-run. done is a word such as "stored".
func dryRunOption(f *cli.Flags, done string, p *bool) {
	f.Bool("dry-run", "show what would be "+done+"; change nothing", p)
}

func (r *removeRun) Prepare(_ context.Context, env *cli.Env) report.Problems {
	if r.skip || r.remove.DryRun {
		return nil
	}
	return requireTerminal(env)
}

func (r *removeRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.remove.Names = env.Args
	if r.hasKeys {
		r.remove.Names, r.remove.Keys = env.Args[:1], env.Args[1:]
	}
	r.remove.Confirm = confirmation(env, r.skip, r.done)
	api, err := r.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	result, err := r.remove.Run(ctx, api)
	return resultOf(result, cancelled(err, r.done))
}

// vbot cloud secrets reference

var referenceCommand = cli.Command{
	Name:    "reference",
	New:     newReference,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: secrets.ReferenceNameFault}}},
	Results: cli.Results{"": secrets.Reference{}},
}

type referenceRun struct {
	account
	register secrets.Register
}

func newReference(f *cli.Flags) cli.Runner {
	r := &referenceRun{}
	regionOption(f, "self-hosted region of the Secret", &r.register.Region).Required = true
	dryRunOption(f, "registered", &r.register.DryRun)
	r.account.addOptions(f)
	return r
}

func (r *referenceRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.register.Name = env.Arg(0)
	api, err := r.connect(ctx, env)
	if err != nil {
		return nil, err
	}
	result, err := r.register.Run(ctx, api)
	return resultOf(result, cancelled(err, "registered"))
}

// vbot cloud secrets image-pull-secret

var imagePullCommand = cli.Command{
	Name: "image-pull-secret",
	New:  newImagePull,
	Args: cli.Args{Named: []cli.Arg{
		{Name: "name", Check: secrets.NewNameFault},
		{Name: "host", Check: secrets.RegistryFault},
		{Name: "credentials", Optional: true},
	}},
	Results: cli.Results{"": secrets.PullSecret{}},
}

type imagePullRun struct {
	account
	store     secrets.StorePullSecret
	fromStdin bool // the login is
}

func newImagePull(f *cli.Flags) cli.Runner {
	r := &imagePullRun{}
	r.store.Encode = true
	const aboutEncode = "encode USER:PASSWORD in base64 (default: yes); --no-encode sends it unchanged"
	f.Toggle("encode", aboutEncode, &r.store.Encode)
	dryRunOption(f, "stored", &r.store.DryRun)
	waitOption(f, "the secret", &r.store.Wait)
	regionOption(f, regionOfNew("secret"), &r.store.Region)
	r.account.addOptions(f)
	return r
}

// Prepare reads the login from the arguments or from stdin. It stays empty if vbot has to ask for it.
func (r *imagePullRun) Prepare(ctx context.Context, env *cli.Env) (problems report.Problems) {
	host := env.Arg(1)
	if host != "" && secrets.RegistryFault(host) == "" {
		if note := secrets.HostNote(host); note != "" {
			env.Warn("host", "", "%s", note)
		}
	}
	switch {
	case len(env.Args) > 2:
		r.store.Login = secret.New(env.Args[2])
	case host != "" && !canAsk(env): // without a host there is nothing to read
		login, err := secretFromStdin(ctx, env, "credentials", true)
		if err != nil {
			problems = report.As(err).Problems
			isMissing := func(p report.Problem) bool { return p.Missing }
			if r.store.DryRun && slices.ContainsFunc(problems, isMissing) {
				return nil // a dry run needs no login, but checks one
			}
			return problems
		}
		r.store.Login = login
		r.fromStdin = true
	}
	if !r.store.Login.Empty() {
		problems = r.checkLogin()
	}
	return problems
}

// checkLogin returns what is wrong with the login.
func (r *imagePullRun) checkLogin() (problems report.Problems) {
	fault := secrets.LoginFault(r.store.Login, r.store.Encode)
	if fault == "" {
		return nil
	}
	p := problems.Add("credentials", "CREDENTIALS", "%s", fault)
	if r.fromStdin {
		p.Where = "stdin"
		p.Hint = "if stdin is from Docker's config.json: a credential helper may have the login instead"
	}
	return problems
}

func (r *imagePullRun) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.store.Name = env.Arg(0)
	r.store.Host = secrets.RegistryURL(env.Arg(1))
	api, err := r.signIn(env)
	if err != nil {
		return nil, err
	}
	if r.store.Login.Empty() && !r.store.DryRun {
		if err := r.askLogin(ctx, env); err != nil {
			return nil, err
		}
	}
	if err := api.FindOrganization(ctx, nil); err != nil {
		return nil, err
	}
	result, err := r.store.Run(ctx, api)
	return resultOf(result, cancelled(err, "stored"))
}

// askLogin asks for the login, then for the password if only a user was entered.
func (r *imagePullRun) askLogin(ctx context.Context, env *cli.Env) error {
	question := "USER:PASSWORD for " + r.store.Host + " (hidden):"
	if !r.store.Encode {
		question = "Encoded credentials for " + r.store.Host + " (hidden):"
	}
	isWhole := func(typed string) bool { return !r.store.Encode || strings.Contains(typed, ":") }
	login, err := readSecret(ctx, env, question, true, isWhole)
	if err != nil {
		return err
	}
	if login.Empty() {
		return report.One(report.Usage, "credentials", "CREDENTIALS", "missing")
	}
	if !isWhole(login.Reveal()) {
		password, err := readSecret(ctx, env, "Password for that user (hidden):", true, nothingFollows)
		if err != nil {
			return err
		}
		login = secret.New(login.Reveal() + ":" + password.Reveal())
	}
	r.store.Login = login
	return r.checkLogin().Err()
}
