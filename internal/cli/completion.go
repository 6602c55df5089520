package cli

import (
	"slices"
	"strings"
)

// A Completion is a word that completes what is typed, or AnyFile or AnyDir.
type Completion struct {
	Word  string `json:"word" about:"the word, or :files or :dirs for any name"`
	About string `json:"about" about:"what it is, or empty"`
}

// The shell completes these itself; see templates/completion.
const (
	AnyFile = ":files" // the names of files
	AnyDir  = ":dirs"  // the names of directories
)

// Complete returns the completions of the last word in typed, the words after "vbot". The
// last word may be empty.
func Complete(e *Env, root *Command, typed []string) []Completion {
	out := []Completion{}
	if len(typed) == 0 {
		typed = []string{""}
	}
	before, last := typed[:len(typed)-1], typed[len(typed)-1]
	if last == `""` { // what PowerShell passes for an empty word
		last = ""
	}
	inv := newInvocation(root)
	others, _, known := inv.find(before)
	if !known || slices.Contains(others, "--") {
		return out // after "--", only arguments follow, and they cannot be completed
	}
	flags, _ := inv.register()
	arguments, _ := flags.parse(others)
	add := func(word, about string) {
		if strings.HasPrefix(word, last) || word == AnyFile || word == AnyDir {
			out = append(out, Completion{Word: word, About: about})
		}
	}
	name, value, inline := strings.Cut(strings.TrimPrefix(last, "--"), "=")
	switch {
	case flags.wanting != "":
		for _, word := range flags.completions(e, flags.wanting, last) {
			add(word, "")
		}
	case inline && strings.HasPrefix(last, "--"):
		for _, word := range flags.completions(e, name, value) {
			if word[0] != ':' {
				word = "--" + name + "=" + word
			}
			add(word, "")
		}
	case strings.HasPrefix(last, "-"):
		for _, o := range flags.options {
			for i, name := range o.Names {
				about := o.About
				if i > 0 && strings.HasPrefix(name, "--no-") {
					about = "" // the description is that of the positive form
				}
				add(name, about)
			}
		}
	case inv.command.Sub != nil:
		for _, c := range inv.command.Sub {
			if inv.help || !c.Topic {
				add(c.Name, c.summary())
			}
		}
		if inv.command == inv.root && !inv.help {
			add("help", aboutHelp)
		}
	case len(arguments) == 0:
		for _, word := range inv.command.Args.Words {
			add(word, "")
		}
	}
	return out
}

// completions returns the known values of the option that begin with typed.
func (f *Flags) completions(e *Env, name, typed string) []string {
	switch o := f.option(name); {
	case o == nil:
	case o.Complete != nil:
		return o.Complete(e, typed)
	case o.Placeholder == "FILE":
		return []string{AnyFile}
	case o.Placeholder == "DIR":
		return []string{AnyDir}
	}
	return nil
}
