package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

const helpCompletion = `Print a shell completion script for commands, options and values.

Usage:
  vbot completion bash|zsh|fish       the script for that shell
  vbot completion words -- WORD...    completions of the last WORD; the scripts call this

Options:
      --json    print the result as JSON
  -h, --help    print this help

The scripts ask vbot, which completes from its help pages and its catalog and opens no
connection. Each line of its answer is a word, a tab and a description; :files and
:dirs stand for file and directory names.

Examples:
  eval "$(vbot completion bash)"                                    in ~/.bashrc
  eval "$(vbot completion zsh)"                                     in ~/.zshrc, after compinit
  vbot completion fish > ~/.config/fish/completions/vbot.fish
`

// completionScripts holds a script per shell. Each asks vbot for the completions at
// the cursor.
var completionScripts = map[string]string{
	// Bash splits --mode=cascade into three words and expects completions of the
	// last one only. Bash 3.2, on macOS, has no compopt.
	"bash": `# bash completion for vbot
_vbot() {
    local -a words=()
    local word line glue= current=${COMP_WORDS[COMP_CWORD]} n=0
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $n -gt 0 && ( $word == = || $glue ) ]]; then
            words[n-1]+=$word
            [[ $word == = ]] && glue=1 || glue=
        else
            words[n++]=$word
        fi
    done
    [[ $current == = ]] && current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :dirs)
            local action=file
            [[ $line == :dirs ]] && action=directory
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                COMPREPLY+=("$word")
            done < <(compgen -A "$action" -- "$current")
            ;;
        *)
            word=${line%%$'\t'*}
            [[ $word == --*=* ]] && word=${word#*=}
            COMPREPLY+=("$word")
            ;;
        esac
    done < <("${COMP_WORDS[0]}" completion words -- "${words[@]}" 2>/dev/null)
}
complete -F _vbot vbot
`,
	"zsh": `#compdef vbot
# zsh completion for vbot
_vbot() {
    local line
    local -a answers found
    answers=("${(@f)$(_call_program words "${(q)words[1]}" completion words -- "${(@qQ)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $answers; do
        case $line in
        :files) compset -P '--*='; _files ;;
        :dirs) _directories ;;
        *) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#found )) && _describe vbot found
}
if [[ $funcstack[1] == _vbot ]]; then
    _vbot "$@"
else
    compdef _vbot vbot
fi
`,
	"fish": `# fish completion for vbot
function __vbot_words
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] completion words -- $words[2..] $current 2>/dev/null)
        switch $line
            case ':files'
                set -l option (string match -r -- '^--[^=]*=' $current)
                for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $current))
                    echo "$option$path"
                end
            case ':dirs'
                __fish_complete_directories $current ''
            case '*'
                echo $line
        end
    end
end
complete -c vbot -f -a '(__vbot_words)'
`,
}

func setupCompletion(*invocation) runFunc {
	return func(_ context.Context, a *app, inv *invocation, args []string) error {
		if len(args) > 0 && args[0] == "words" {
			return writeWords(a, inv, args[1:])
		}
		if len(args) != 1 || completionScripts[args[0]] == "" {
			return usageError("expected one shell: bash, zsh or fish; see `%s --help`", inv.path)
		}
		if inv.json {
			return writeJSON(a.stdout, struct {
				Shell  string `json:"shell"`
				Script string `json:"script"`
			}{args[0], completionScripts[args[0]]})
		}
		_, err := fmt.Fprint(a.stdout, completionScripts[args[0]])
		return err
	}
}

func writeWords(a *app, inv *invocation, typed []string) error {
	words := suggest(inv.root, typed)
	if inv.json {
		return writeJSON(a.stdout, struct {
			Words []suggestion `json:"words"`
		}{words})
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
func suggest(root *command, typed []string) []suggestion {
	out := []suggestion{}
	if len(typed) == 0 {
		typed = []string{""}
	}
	before, last := typed[:len(typed)-1], typed[len(typed)-1]
	inv := newInvocation(root)
	for ; len(before) > 0 && inv.cmd.sub != nil; before = before[1:] {
		if before[0] != "help" && !strings.HasPrefix(before[0], "-") && !inv.enter(before[0]) {
			return out
		}
	}
	inv.flags()

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
	option, _, inline := strings.Cut(last, "=")
	switch {
	case wanted != "":
		add("", inv.values(wanted))
	case inline && strings.HasPrefix(last, "--"):
		add(option+"=", inv.values(option[2:]))
	case strings.HasPrefix(last, "-"):
		for _, l := range optionLines(inv.cmd.page()) {
			for i, name := range l.Names {
				about := l.About
				if i > 0 && strings.HasPrefix(name, "--no-") {
					about = "" // the description is for the positive form
				}
				add("", []suggestion{{name, about}})
			}
		}
	case inv.cmd.sub != nil:
		for _, c := range inv.cmd.sub {
			about, _, _ := strings.Cut(c.help, "\n")
			add("", []suggestion{{c.name, strings.TrimSuffix(about, ".")}})
		}
	case arguments == 0:
		for _, w := range inv.cmd.first {
			add("", []suggestion{{w, ""}})
		}
	}
	return out
}

// values returns the known values of the option.
func (inv *invocation) values(name string) (out []suggestion) {
	if key, ok := inv.fields[name]; ok {
		o := optionOf(key)
		for _, w := range o.allowed() {
			out = append(out, suggestion{w, ""})
		}
		if o.kind != "" {
			for _, p := range newCatalog().list(o.kind) {
				for _, word := range append([]string{p.id}, p.names...) {
					out = append(out, suggestion{word, p.label})
				}
			}
		}
		return out
	}
	for _, l := range optionLines(inv.cmd.page()) {
		if slices.Contains(l.Names, dashed(name)) && l.Value == "FILE" {
			return []suggestion{{Word: anyFile}}
		}
	}
	return nil
}
