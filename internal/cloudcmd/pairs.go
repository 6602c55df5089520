package cloudcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vbot/internal/dotenv"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// Pairs collects the pairs of a command line: first those of secrets files, then those of the arguments
// and of --value-file. The latter replace a pair of a file only if that has no value. An argument without a
// value becomes a pair with an empty value, for which the caller asks. The methods that add pairs return
// the problems with them.
type Pairs struct {
	// MayAsk is true if vbot can ask for a missing value, or does not need it.
	MayAsk bool
	// IsFile reports whether a word that is not a key is the name of a file. It only improves a message.
	IsFile func(word string) bool

	List    []secret.Pair // in the order in which they are stored
	LeftOut []string      // keys without a value in the files

	files    []string         // the names of the files, for messages
	replaced []report.Warning // about values that a later file replaced
}

// AddFile adds the pairs of a file in dotenv syntax. label is its name for messages. With allowBlank, a key
// without a value is not a problem. A value of a later file replaces that of an earlier one; a key without a
// value replaces nothing.
func (p *Pairs) AddFile(label string, data []byte, allowBlank bool) (problems report.Problems) {
	pairs, errs := dotenv.Parse(string(data), allowBlank)
	for _, e := range errs {
		at := fmt.Sprintf("%s:%d", label, e.Line)
		problem := problems.Add(at, at, "%s", e.Message)
		problem.AtLine = report.Number(e.Line)
		if e.IsEmpty {
			problem.Hint = "--skip-empty leaves out keys without a value"
		}
	}
	if len(pairs) == 0 && len(errs) == 0 {
		problems.Add("file", "--file", "%s contains no KEY=VALUE", label)
	}
	p.files = append(p.files, label)
	index := map[string]int{} // of each key in p.List
	for i, pair := range p.List {
		index[pair.Key] = i
	}
	for _, pair := range pairs {
		pair.File = label
		at, isGiven := index[pair.Key]
		switch {
		case !isGiven:
			p.List = append(p.List, pair)
		case !pair.Value.Empty():
			if earlier := p.List[at]; !earlier.Value.Empty() && earlier.File != label {
				message := "the value of " + label + " replaces that of " + earlier.File
				p.replaced = append(p.replaced, report.Warning{Field: pair.Key, Message: message})
			}
			p.List[at] = pair
		}
	}
	return problems
}

// index returns the index of the pair with the key, or -1.
func (p *Pairs) index(key string) int {
	return slices.IndexFunc(p.List, func(pair secret.Pair) bool { return pair.Key == key })
}

// AddValueFile adds a key whose value is the content of a file.
func (p *Pairs) AddValueFile(key string, content []byte) report.Problems {
	return p.add(secret.Pair{Key: key, Value: secret.New(string(content))}, 0, false)
}

// AddArguments adds the pairs of arguments: KEY, KEY=VALUE, or one argument with several KEY=VALUE.
func (p *Pairs) AddArguments(args []string) (problems report.Problems) {
	if len(args) == 1 {
		several, err := dotenv.Split(args[0])
		if err != nil {
			problems.Add("secrets", "SECRETS", "%v", err)
			return problems
		}
		for i, pair := range several {
			problems = append(problems, p.add(pair, i+1, false)...)
		}
		if several != nil {
			return problems
		}
	}
	for i, arg := range args {
		pair, hasValue := dotenv.One(arg)
		problems = append(problems, p.add(pair, i+1, !hasValue)...)
	}
	return problems
}

// add adds a pair of the command line if it is valid. n is its number, from 1, for messages. With isMissing,
// the argument has no value, and vbot will ask for it.
func (p *Pairs) add(pair secret.Pair, n int, isMissing bool) (problems report.Problems) {
	if pair.Value.Empty() || !secret.IsKey(pair.Key) {
		pair.Number = n
	}
	field := pair.Field()
	at := p.index(pair.Key)
	if err := p.check(pair, at, isMissing); err != nil {
		problems.Add(field, field, "%v", err)
		return problems
	}
	if at >= 0 { // a file has the key, too
		if other := p.List[at]; !other.Value.Empty() {
			const twice = "given twice; it is also on line %d of %s"
			problems.Add(field, field, twice, other.Line, other.File)
		} else {
			p.List = slices.Delete(p.List, at, at+1)
		}
	}
	if isMissing && !p.MayAsk {
		const cannotAsk = "no value, and vbot cannot ask for one; use --file - or KEY=VALUE"
		problems.Add(field, field, cannotAsk).Usage = true
	}
	p.List = append(p.List, pair)
	return problems
}

// check checks a pair of the command line. at is the index of a pair with the same key, or -1.
func (p *Pairs) check(pair secret.Pair, at int, isMissing bool) error {
	switch {
	case !secret.IsKey(pair.Key) && p.IsFile(pair.Key):
		return errors.New("is a file; to read pairs from it: --file FILE")
	case !secret.IsKey(pair.Key):
		return errors.New("expected KEY or KEY=VALUE; " + secret.KeyRule)
	case at >= 0 && p.List[at].File == "":
		return errors.New("given twice")
	}
	return dotenv.CheckValue(pair.Value, isMissing)
}

// Finish moves keys of the files without a value to LeftOut. The pairs in List that are still without one
// come from arguments.
func (p *Pairs) Finish() (problems report.Problems) {
	isBlank := func(pair secret.Pair) bool { return pair.File != "" && pair.Value.Empty() }
	for _, pair := range p.List {
		switch {
		case isBlank(pair) && pair.HasUsualKey():
			p.LeftOut = append(p.LeftOut, pair.Key)
		case isBlank(pair):
			p.LeftOut = append(p.LeftOut, fmt.Sprintf("line %d of %s", pair.Line, pair.File))
		}
	}
	p.List = slices.DeleteFunc(p.List, isBlank)
	if len(p.List) == 0 && len(p.LeftOut) > 0 {
		problems.Add("file", "--file", "no key in %s has a value", strings.Join(p.files, " and "))
	}
	return problems
}

// Warnings returns warnings about probable mistakes, without values. isServiceKey reports whether a key is
// the secret of a service of the catalog.
func (p *Pairs) Warnings(isServiceKey func(key string) bool) []report.Warning {
	warnings := p.replaced
	for _, pair := range p.List {
		if m := FindMistake(pair, isServiceKey); m.Description != "" {
			message := "check it: the value " + m.Description + "; vbot stores it unchanged"
			warnings = append(warnings, report.Warning{Field: pair.Key, Message: message})
		}
		if pair.File != "" && strings.Contains(pair.Value.Reveal(), "${") {
			message := "python-dotenv would expand ${...} in it; vbot stores it unchanged"
			warnings = append(warnings, report.Warning{Field: pair.Key, Message: message})
		}
	}
	return warnings
}
