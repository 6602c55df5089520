package main

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

const helpCompletion = `Print a shell completion script for commands, options and values.

Usage:
  vbot completion bash|zsh|fish|powershell    the script for that shell
  vbot completion words -- WORD...            completions of the last WORD; the
                                              scripts call this

Options:
      --json    print the result as JSON
  -h, --help    print this help

The scripts ask vbot, which completes from its help pages and its catalog and
opens no connection. Each line of its answer is a word, a tab and a description;
:files and :dirs stand for file and directory names.

Examples:
  eval "$(vbot completion bash)"    in ~/.bashrc
  eval "$(vbot completion zsh)"     in ~/.zshrc, after compinit
  vbot completion fish > ~/.config/fish/completions/vbot.fish
  vbot completion powershell | Out-String | Invoke-Expression    in $PROFILE
`

// The scripts ask vbot for the completions at the cursor.
var (
	// Bash splits --mode=cascade into three words and expects completions of the last
	// one only. Bash 3.2, on macOS, has no compopt.
	//go:embed completion/vbot.bash
	bashScript string

	// Zsh keeps words as typed: (Q) removes quotes, and (qq) adds them for
	// _call_program, which evaluates its arguments. PREFIX lacks an open quote. For a
	// word without a description, _describe would repeat the word.
	//go:embed completion/vbot.zsh
	zshScript string

	//go:embed completion/vbot.fish
	fishScript string

	// PowerShell before 7.3 drops empty arguments: two quotes stand for one.
	//go:embed completion/vbot.ps1
	powershellScript string

	completionScripts = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
)

func setupCompletion(*invocation) runFunc {
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		if len(args) > 0 && args[0] == "words" {
			return writeWords(a, inv, args[1:])
		}
		if len(args) != 1 || completionScripts[args[0]] == "" {
			return usageError("expected one shell: bash, zsh, fish or powershell; see `%s --help`", inv.path)
		}
		if inv.json {
			return writeJSON(a.stdout, completionAnswer{args[0], completionScripts[args[0]]})
		}
		_, err := fmt.Fprint(a.stdout, completionScripts[args[0]])
		return err
	}
}

// The JSON of `vbot completion SHELL` and of `vbot completion words`.
type (
	completionAnswer struct {
		Shell  string `json:"shell"`
		Script string `json:"script"`
	}
	wordsAnswer struct {
		Words []suggestion `json:"words"`
	}
)

func writeWords(a *app, inv *invocation, typed []string) error {
	words := suggest(a, inv.root, typed)
	if inv.json {
		return writeJSON(a.stdout, wordsAnswer{words})
	}
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.Word)
		if w.About != "" {
			b.WriteString("\t" + w.About)
		}
		b.WriteString("\n")
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

// A suggestion is a completion: a word with a description, anyFile or anyDir.
type suggestion struct {
	Word  string `json:"word"`
	About string `json:"about"`
}

const (
	anyFile = ":files"
	anyDir  = ":dirs"
)

// suggest returns the completions of the last word in typed, the words after "vbot".
// The last word may be empty.
func suggest(a *app, root *command, typed []string) []suggestion {
	out := []suggestion{}
	if len(typed) == 0 {
		typed = []string{""}
	}
	before, last := typed[:len(typed)-1], typed[len(typed)-1]
	if last == `""` { // from PowerShell
		last = ""
	}
	inv := newInvocation(root)
	for ; len(before) > 0 && inv.cmd.sub != nil; before = before[1:] {
		if before[0] == "help" {
			inv.help = true
		} else if !strings.HasPrefix(before[0], "-") && !inv.enter(before[0]) {
			return out
		}
	}
	inv.flags()
	inv.parse(before)
	cat, err := openCatalog(a, inv)
	if err != nil {
		cat = newCatalog() // init says what is wrong
	}

	arguments := 0
	wanted := "" // the option whose value comes next
	for _, word := range before {
		switch name := strings.TrimLeft(word, "-"); {
		case wanted != "":
			wanted = ""
		case word == "--":
			return out // only arguments follow, and they cannot be completed
		case name == word || name == "":
			arguments++
		case inv.takesValue(name):
			wanted = name
		}
	}
	add := func(prefix string, words []suggestion) {
		for _, w := range words {
			if w.Word == anyFile || w.Word == anyDir {
				out = append(out, w)
			} else if w.Word = prefix + w.Word; strings.HasPrefix(w.Word, last) {
				out = append(out, w)
			}
		}
	}
	opt, value, inline := strings.Cut(last, "=")
	switch {
	case wanted != "":
		add("", inv.values(cat, wanted, last))
	case inline && strings.HasPrefix(last, "--"):
		add(opt+"=", inv.values(cat, opt[2:], value))
	case strings.HasPrefix(last, "-"):
		for _, l := range optionLines(inv.cmd.page()) {
			for i, name := range l.Names {
				about := brief(l.About)
				if i > 0 && strings.HasPrefix(name, "--no-") {
					about = "" // the description is for the positive form
				}
				add("", []suggestion{{name, about}})
			}
		}
	case inv.cmd.sub != nil:
		for _, c := range inv.cmd.sub {
			about, _, _ := strings.Cut(c.help, "\n")
			if inv.help || !c.pageOnly {
				add("", []suggestion{{c.name, brief(about)}})
			}
		}
		if inv.cmd == inv.root && !inv.help {
			add("", []suggestion{{"help", "Print help for a command or a topic"}})
		}
	case arguments == 0:
		for _, w := range inv.cmd.first {
			add("", []suggestion{{w, ""}})
		}
	}
	return out
}

// brief returns the beginning of a description, up to the first sentence or aside.
func brief(about string) string {
	for _, end := range []string{"; ", " (", ". "} {
		about, _, _ = strings.Cut(about, end)
	}
	return strings.TrimSuffix(about, ".")
}

// values returns the known values of the option that begin with typed. A provider
// has several names: the first that fits stands for it.
func (inv *invocation) values(cat *catalog, name, typed string) (out []suggestion) {
	if key, ok := inv.fields[name]; ok {
		o := optionOf(key)
		for _, w := range o.words {
			out = append(out, suggestion{w.name, w.meaning})
		}
		if o.kind == "" {
			return out
		}
		for _, p := range cat.list(o.kind) {
			names := append(slices.Clone(p.names), p.id)
			i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, typed) })
			if i < 0 {
				continue
			}
			s := suggestion{names[i], p.label}
			if strings.EqualFold(s.Word, strings.ReplaceAll(s.About, " ", "_")) {
				s.About = "" // it would only repeat the word
			}
			out = append(out, s)
		}
		return out
	}
	if name == "describe-options" {
		for _, kind := range append([]string{kindTransport}, serviceKinds...) {
			out = append(out, suggestion{Word: kind})
		}
	}
	for _, l := range optionLines(inv.cmd.page()) {
		what := map[string]string{"FILE": anyFile, "DIR": anyDir}[l.Value]
		if slices.Contains(l.Names, dashed(name)) && what != "" {
			return []suggestion{{Word: what}}
		}
	}
	return out
}
