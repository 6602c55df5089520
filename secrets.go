package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"vbot/internal/cli"
	"vbot/internal/cloud"
	"vbot/internal/cloudcmd"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// The commands of `vbot cloud`. For each there is a cli.Command, and a function that registers its options in
// a command of package cloudcmd and returns its runner.

// maxFile is the maximum size of a file with secrets, in bytes.
const maxFile = 16 << 20

// A cloudRunner runs a command in an organization: it signs in, and finds the organization if that was not
// given. It calls prepare, ask and run in this order; the first two may be nil.
type cloudRunner struct {
	organization string        // "" if --organization was not given
	timeout      time.Duration // 0 if --timeout was not given

	// prepare takes the arguments and reads files; see cli.Preparer.
	prepare func(ctx context.Context, env *cli.Env) report.Problems
	// ask asks for values that were not given, after vbot has signed in and before the first request.
	ask func(ctx context.Context, env *cli.Env) error
	// given returns the name of the secret that the command is about, and the pairs that it has read and
	// asked for. It may be nil.
	given func() (name string, pairs []secret.Pair)
	// run is the method Run of the command.
	run func(ctx context.Context, api *cloud.Client) (report.Result, error)
	// done is a word such as "stored", for the message if a person cancels the command: nothing was stored.
	// It is "" for a command that only reads.
	done string
}

// withAccountOptions registers --organization and --timeout, and returns the runner.
func (r *cloudRunner) withAccountOptions(f *cli.Flags) cli.Runner {
	organizationOption(f, "organization (default: the current one)", &r.organization)
	timeoutOption(f, aboutTimeout, &r.timeout)
	return r
}

// Prepare implements cli.Preparer.
func (r *cloudRunner) Prepare(ctx context.Context, env *cli.Env) report.Problems {
	if r.prepare == nil {
		return nil
	}
	return r.prepare(ctx, env)
}

// Run implements cli.Runner.
func (r *cloudRunner) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	api, err := cloud.SignIn(env.System, r.organization)
	if err != nil {
		return nil, err
	}
	api.Limit(r.timeout)
	if r.ask != nil {
		if err := r.ask(ctx, env); err != nil {
			return nil, err
		}
	}
	if r.given != nil {
		api.ProtectValues(r.given())
	}
	if err := api.FindOrganization(ctx, nil); err != nil {
		return nil, err
	}
	result, err := r.run(ctx, api)
	if r.done != "" {
		err = cancelled(err, r.done)
	}
	return result, err
}

// takeName returns a function for cloudRunner.prepare that stores the first argument in *name.
func takeName(name *string) func(context.Context, *cli.Env) report.Problems {
	return func(_ context.Context, env *cli.Env) report.Problems {
		*name = env.Arg(0)
		return nil
	}
}

// Options that several commands have.

func organizationOption(f *cli.Flags, about string, p *string) {
	f.String("o organization", "ORG", about, p).Check = func(name string) error {
		if strings.EqualFold(name, "json") { // as with kubectl -o json
			return errors.New("takes the name of an organization; --json prints JSON")
		}
		return cloud.CheckSegment(name)
	}
}

const aboutTimeout = "give up a request, with all its tries, after DURATION (default: 2m)"

// timeoutOption registers --timeout.
func timeoutOption(f *cli.Flags, about string, limit *time.Duration) {
	put := func(text string) { *limit, _ = time.ParseDuration(text) } // Check reports the error
	f.Func("timeout", "DURATION", about, put).Check = checkDuration("timeout")
}

// checkDuration returns a function that checks a duration. option is the name of its option.
func checkDuration(option string) func(text string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		_, notNumber := strconv.ParseUint(text, 10, 32)
		switch {
		case notNumber == nil && text != "0":
			return fmt.Errorf("add a unit: --%s=%ss", option, text)
		case err != nil:
			return errors.New("must be a duration such as 90s or 5m")
		case d <= 0:
			return errors.New("must be longer than 0s")
		}
		return nil
	}
}

func regionOption(f *cli.Flags, about string, p *string) *cli.Option {
	o := f.String("r region", "REGION", about, p)
	o.Check = cloud.CheckSegment
	return o
}

// aboutNewRegion describes --region of a command that stores a secret.
func aboutNewRegion(noun string) string {
	return "region of a new " + noun +
		"; must be the region of the agents that use it (default: the organization's)"
}

// defaultWait is how long vbot waits until a secret is ready.
const defaultWait = 2 * time.Minute

// waitOption registers --wait, --wait=DURATION and --wait=false.
func waitOption(f *cli.Flags, noun string, limit *time.Duration) {
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
		About:       "wait until " + noun + " is ready, at most DURATION (default: no; without DURATION: 2m)",
		Check:       checkDuration("wait"),
		Recognize:   recognize,
		Put: func(s string) (err error) {
			switch s {
			case "true":
				*limit = defaultWait
			case "false":
				*limit = 0
			default:
				if err := checkDuration("wait")(s); err != nil {
					return err
				}
				*limit, err = time.ParseDuration(s)
			}
			return err
		},
	})
}

// needlessSkipOption registers --skip for a command that never asks, so that a script may always pass it.
func needlessSkipOption(f *cli.Flags) {
	ignored := false
	f.Bool("s skip", "no effect: this command never asks", &ignored)
}

// dryRunOption registers --dry-run. done is a word such as "stored".
func dryRunOption(f *cli.Flags, done string, p *bool) {
	f.Bool("dry-run", "show what would be "+done+"; change nothing", p)
}

// vbot cloud login, logout and whoami

var loginCommand = cli.Command{
	Name:    "login",
	New:     newLogin,
	Results: cli.Results{"": cloudcmd.LoginResult{}},
}

type loginRunner struct{ login cloudcmd.Login }

func newLogin(f *cli.Flags) cli.Runner {
	r := &loginRunner{}
	const about = "organization (default: the token's; if the token has several, vbot asks)"
	organizationOption(f, about, &r.login.Organization)
	timeoutOption(f, aboutTimeout, &r.login.Timeout)
	return r
}

func (r *loginRunner) Run(ctx context.Context, env *cli.Env) (report.Result, error) {
	r.login.Token = func(ctx context.Context) (secret.Value, error) { return askToken(ctx, env) }
	if canAsk(env) {
		r.login.Choose = func(ctx context.Context, names []string) (string, error) {
			return chooseOrganization(ctx, env, names)
		}
	}
	return r.login.Run(ctx, env.System)
}

var logoutCommand = cli.Command{
	Name:    "logout",
	New:     newLogout,
	Results: cli.Results{"": cloudcmd.LogoutResult{}},
}

func newLogout(*cli.Flags) cli.Runner {
	return cli.RunnerFunc(func(env *cli.Env) (report.Result, error) { return cloudcmd.Logout(env.System) })
}

var whoamiCommand = cli.Command{
	Name:    "whoami",
	New:     newWhoami,
	Results: cli.Results{"": cloudcmd.WhoamiResult{}},
}

func newWhoami(f *cli.Flags) cli.Runner {
	r := &cloudRunner{run: cloudcmd.Whoami}
	return r.withAccountOptions(f)
}

// vbot cloud secrets list

var listCommand = cli.Command{
	Name:    "list",
	New:     newList,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Optional: true, Check: cloudcmd.CheckName}}},
	Results: cli.Results{"": cloudcmd.ListResult{}, "name": cloudcmd.ShowResult{}},
}

func newList(f *cli.Flags) cli.Runner {
	list, show := &cloudcmd.List{}, &cloudcmd.Show{}
	f.Toggle("s sets", "list secret sets only (default: no)", &list.SetsOnly)
	regionOption(f, "list this region only (default: all)", &list.Region)
	r := &cloudRunner{
		prepare: takeName(&show.Name),
		run: func(ctx context.Context, api *cloud.Client) (report.Result, error) {
			if show.Name == "" {
				return list.Run(ctx, api)
			}
			show.Region = list.Region
			return show.Run(ctx, api)
		},
	}
	return r.withAccountOptions(f)
}

// vbot cloud secrets set

var setCommand = cli.Command{
	Name: "set",
	New:  newSet,
	Args: cli.Args{
		Named: []cli.Arg{{Name: "name", Check: cloudcmd.CheckNewName}},
		Rest:  true,
	},
	Results: cli.Results{"": cloudcmd.SetResult{}},
}

// setOptions are the options of set.
type setOptions struct {
	cloudcmd.Set
	files      []string // "-" is stdin
	valueFiles []string // KEY=PATH
	skipEmpty  bool
	skip       bool // do not ask
}

func newSet(f *cli.Flags) cli.Runner {
	o := &setOptions{}
	f.List("f file", "FILE", "read pairs from a file; - is stdin; repeatable", &o.files)
	f.List("value-file", "KEY=PATH", "store a file byte for byte; - is stdin; repeatable", &o.valueFiles)
	f.Bool("skip-empty", "leave out keys of FILE that have no value", &o.skipEmpty)
	f.Bool("prune", "remove keys of the set that are neither given nor in FILE", &o.Prune)
	f.Bool("s skip", "store without asking", &o.skip)
	dryRunOption(f, "stored", &o.DryRun)
	waitOption(f, "the set", &o.Wait)
	regionOption(f, aboutNewRegion("set"), &o.Region)
	given := func() (string, []secret.Pair) { return o.Name, o.Pairs.List }
	r := &cloudRunner{prepare: o.prepare, ask: o.ask, given: given, run: o.Run, done: "stored"}
	return r.withAccountOptions(f)
}

// prepare reads the pairs from the arguments and the files.
func (o *setOptions) prepare(ctx context.Context, env *cli.Env) (problems report.Problems) {
	o.Name = env.Arg(0)
	o.Confirm = confirmation(env, o.skip || o.DryRun, "stored")
	words := env.Args[min(1, len(env.Args)):]
	isEmpty := len(words)+len(o.files)+len(o.valueFiles) == 0 && len(env.Args) > 0
	if o.Confirm != nil && !isEmpty {
		problems = requireTerminal(env)
	}
	o.Pairs.MayAsk = o.DryRun || canAsk(env)
	o.Pairs.IsFile = func(word string) bool {
		info, err := os.Stat(env.Path(word))
		return err == nil && !info.IsDir()
	}
	for _, name := range o.files {
		problems = append(problems, addPairsFile(ctx, env, &o.Pairs, name, o.skipEmpty)...)
		warnIfReadable(env, "file", name)
	}
	if o.skipEmpty && o.files == nil {
		problems.Add("skip-empty", "--skip-empty", "needs --file").Usage = true
	}
	problems = append(problems, o.Pairs.AddArguments(words)...)
	for _, arg := range o.valueFiles {
		problems = append(problems, addValueFile(ctx, env, &o.Pairs, arg)...)
		_, path, _ := strings.Cut(arg, "=")
		warnIfReadable(env, "value-file", path)
	}
	if isEmpty {
		const nothing = "nothing to store: pass KEY, KEY=VALUE or --file"
		problems.Add("secrets", "", nothing).Usage = true
	}
	return append(problems, o.Pairs.Finish()...)
}

// ask warns about the values that were given, and asks for the others.
func (o *setOptions) ask(ctx context.Context, env *cli.Env) error {
	isServiceKey := serviceKeys()
	for _, w := range o.Pairs.Warnings(isServiceKey) {
		env.Warn(w.Field, w.Field, "%s", w.Message)
	}
	if len(o.Pairs.LeftOut) > 0 {
		env.Note("left out keys without a value: %s", strings.Join(o.Pairs.LeftOut, ", "))
	}
	if o.DryRun { // it shows only keys
		return nil
	}
	questions := valueQuestions{env: env, set: o.Name, isServiceKey: isServiceKey, isLast: o.skip}
	return questions.fill(ctx, o.Pairs.List)
}

// warnIfReadable warns if every user of the machine can read the file of the option. Where modes mean
// nothing, such as on the drives of Windows in WSL, all files are executable.
func warnIfReadable(env *cli.Env, option, name string) {
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
	ctx context.Context, env *cli.Env, pairs *cloudcmd.Pairs, name string, allowBlank bool,
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
	ctx context.Context, env *cli.Env, pairs *cloudcmd.Pairs, arg string,
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
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: cloudcmd.CheckName}}},
	Results: cli.Results{"": cloudcmd.CheckResult{}},
}

func newCheck(f *cli.Flags) cli.Runner {
	check := &cloudcmd.Check{}
	var files []string // "-" is stdin
	const aboutFile = "file with the keys, such as .env; - is stdin; repeatable"
	f.List("f file", "FILE", aboutFile, &files).Required = true
	f.Bool("skip-empty", "leave out keys without a value, as set does", &check.SkipEmpty)
	f.Bool("exact", "fail for extra keys, too", &check.Exact)
	r := &cloudRunner{
		prepare: func(ctx context.Context, env *cli.Env) (problems report.Problems) {
			check.Name = env.Arg(0)
			for _, name := range files {
				problems = append(problems, addPairsFile(ctx, env, &check.Pairs, name, true)...)
			}
			return problems
		},
		given: func() (string, []secret.Pair) { return check.Name, check.Pairs.List },
		run:   check.Run,
	}
	return r.withAccountOptions(f)
}

// vbot cloud secrets wait

var waitCommand = cli.Command{
	Name:    "wait",
	New:     newWait,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: cloudcmd.CheckName}}},
	Results: cli.Results{"": cloudcmd.WaitResult{}},
}

func newWait(f *cli.Flags) cli.Runner {
	wait := &cloudcmd.Wait{Limit: defaultWait}
	r := &cloudRunner{prepare: takeName(&wait.Name), run: wait.Run}
	organizationOption(f, "organization (default: the current one)", &r.organization)
	timeoutOption(f, "wait at most DURATION (default: 2m)", &wait.Limit)
	return r
}

// vbot cloud secrets unset and delete

var unsetCommand = cli.Command{
	Name: "unset",
	New:  newUnset,
	Args: cli.Args{Named: []cli.Arg{
		{Name: "name", Check: cloudcmd.CheckName},
		{Name: "key", Check: cloudcmd.CheckKey, Repeated: true},
	}},
	Results: cli.Results{"": cloudcmd.RemoveResult{}},
}

var deleteCommand = cli.Command{
	Name:    "delete",
	New:     newDelete,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: cloudcmd.CheckName, Repeated: true}}},
	Results: cli.Results{"": cloudcmd.RemoveResult{}},
}

func newUnset(f *cli.Flags) cli.Runner {
	remove := &cloudcmd.Remove{}
	return newRemove(f, remove, "removed", "remove without asking", func(args []string) {
		remove.Names, remove.Keys = args[:1], args[1:]
	})
}

func newDelete(f *cli.Flags) cli.Runner {
	remove := &cloudcmd.Remove{}
	const aboutSkip = "delete without asking; this cannot be undone"
	return newRemove(f, remove, "deleted", aboutSkip, func(args []string) { remove.Names = args })
}

// newRemove returns the runner of unset and delete. take stores the arguments in remove.
func newRemove(
	f *cli.Flags, remove *cloudcmd.Remove, done, aboutSkip string, take func(args []string),
) cli.Runner {
	skip := false
	f.Bool("s skip", aboutSkip, &skip)
	f.Bool("if-exists", "succeed even if there is nothing to remove", &remove.IfExists)
	dryRunOption(f, done, &remove.DryRun)
	r := &cloudRunner{
		prepare: func(_ context.Context, env *cli.Env) report.Problems {
			if len(env.Args) > 0 {
				take(env.Args)
			}
			remove.Again = env.Command + " --if-exists" + report.ShellWords(env.Typed)
			remove.Confirm = confirmation(env, skip || remove.DryRun, done)
			if remove.Confirm == nil {
				return nil
			}
			return requireTerminal(env)
		},
		run:  remove.Run,
		done: done,
	}
	return r.withAccountOptions(f)
}

// vbot cloud secrets reference

var referenceCommand = cli.Command{
	Name:    "reference",
	New:     newReference,
	Args:    cli.Args{Named: []cli.Arg{{Name: "name", Check: cloudcmd.CheckReferenceName}}},
	Results: cli.Results{"": cloudcmd.ReferenceResult{}},
}

func newReference(f *cli.Flags) cli.Runner {
	reference := &cloudcmd.Reference{}
	regionOption(f, "self-hosted region of the Secret", &reference.Region).Required = true
	needlessSkipOption(f)
	dryRunOption(f, "registered", &reference.DryRun)
	r := &cloudRunner{prepare: takeName(&reference.Name), run: reference.Run, done: "registered"}
	return r.withAccountOptions(f)
}

// vbot cloud secrets image-pull-secret

var imagePullCommand = cli.Command{
	Name: "image-pull-secret",
	New:  newPullSecret,
	Args: cli.Args{Named: []cli.Arg{
		{Name: "name", Check: cloudcmd.CheckNewName},
		{Name: "host", Check: cloudcmd.CheckHost},
		{Name: "credentials", Optional: true},
	}},
	Results: cli.Results{"": cloudcmd.PullSecretResult{}},
}

// pullSecretOptions are the options of image-pull-secret.
type pullSecretOptions struct {
	cloudcmd.PullSecret
	fromStdin bool // the credentials are
}

func newPullSecret(f *cli.Flags) cli.Runner {
	o := &pullSecretOptions{}
	o.Encode = true
	const aboutEncode = "encode USER:PASSWORD in base64 (default: yes); --no-encode sends it unchanged"
	f.Toggle("encode", aboutEncode, &o.Encode)
	needlessSkipOption(f)
	dryRunOption(f, "stored", &o.DryRun)
	waitOption(f, "the secret", &o.Wait)
	regionOption(f, aboutNewRegion("secret"), &o.Region)
	r := &cloudRunner{prepare: o.prepare, ask: o.ask, run: o.Run, done: "stored"}
	return r.withAccountOptions(f)
}

// prepare takes the credentials from the arguments or from stdin. They stay empty if vbot has to ask for
// them.
func (o *pullSecretOptions) prepare(ctx context.Context, env *cli.Env) report.Problems {
	o.Name = env.Arg(0)
	host := env.Arg(1)
	o.Host = cloudcmd.RegistryURL(host)
	if host != "" && cloudcmd.CheckHost(host) == nil {
		if warning := cloudcmd.HostWarning(host); warning != "" {
			env.Warn("host", "", "%s", warning)
		}
	}
	switch {
	case len(env.Args) > 2:
		o.Credentials = secret.New(env.Args[2])
	case host != "" && !canAsk(env): // without a host there is nothing to read
		credentials, err := secretFromStdin(ctx, env, "credentials", true)
		if err != nil {
			problems := report.As(err).Problems
			isMissing := func(p report.Problem) bool { return p.Missing }
			if o.DryRun && slices.ContainsFunc(problems, isMissing) {
				return nil // a dry run needs no credentials, but checks them
			}
			return problems
		}
		o.Credentials = credentials
		o.fromStdin = true
	}
	if o.Credentials.Empty() {
		return nil
	}
	return o.checkCredentials()
}

// checkCredentials returns the problems with the credentials.
func (o *pullSecretOptions) checkCredentials() (problems report.Problems) {
	err := cloudcmd.CheckCredentials(o.Credentials, o.Encode)
	if err == nil {
		return nil
	}
	p := problems.Add("credentials", "CREDENTIALS", "%v", err)
	if o.fromStdin {
		p.Where = "stdin"
		p.Hint = "if stdin is from Docker's config.json: a credential helper may have the login instead"
	}
	return problems
}

// ask asks for the credentials if they were not given: for USER:PASSWORD, and then for the password if only a
// user was entered.
func (o *pullSecretOptions) ask(ctx context.Context, env *cli.Env) error {
	if !o.Credentials.Empty() || o.DryRun {
		return nil
	}
	question := "USER:PASSWORD for " + o.Host + " (hidden):"
	if !o.Encode {
		question = "Encoded credentials for " + o.Host + " (hidden):"
	}
	isComplete := func(typed string) bool { return !o.Encode || strings.Contains(typed, ":") }
	credentials, err := readSecret(ctx, env, question, true, isComplete)
	if err != nil {
		return err
	}
	if credentials.Empty() {
		return report.One(report.Usage, "credentials", "CREDENTIALS", "missing")
	}
	if !isComplete(credentials.Reveal()) {
		password, err := readSecret(ctx, env, "Password for that user (hidden):", true, isLastAnswer)
		if err != nil {
			return err
		}
		credentials = secret.New(credentials.Reveal() + ":" + password.Reveal())
	}
	o.Credentials = credentials
	return o.checkCredentials().Err()
}
