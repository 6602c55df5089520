package secrets

import (
	"fmt"
	"slices"
	"strings"

	"vbot/internal/cloud"
	"vbot/internal/dotenv"
	"vbot/internal/report"
)

// Pairs collects the pairs of a command line: first those of a file, then those of its arguments and
// of --value-file, which replace a key of the file that has no value. What is wrong with them goes to
// Faults. A pair of an argument without a value stays in the list, with an empty value to be asked for.
type Pairs struct {
	Faults *report.Faults
	// MayAsk says that a value that is missing can be asked for, or is not needed.
	MayAsk bool
	// IsFile reports whether a word that is no key is the name of a file.
	IsFile func(word string) bool

	List    []cloud.Pair
	LeftOut []string // keys of the file without a value
	File    string   // the name of the file for messages; "" if there is none
}

// AddFile adds the pairs of a file in dotenv syntax. label is its name for messages. allowBlank says
// that keys without a value are no fault.
func (p *Pairs) AddFile(label string, data []byte, allowBlank bool) {
	pairs, faults := dotenv.Parse(string(data), allowBlank)
	for _, f := range faults {
		if strings.HasSuffix(f.Message, dotenv.Empty) {
			p.Faults.Hint = "--skip-empty leaves out keys without a value"
		}
		at := fmt.Sprintf("%s:%d", label, f.Line)
		p.Faults.Values.Add(at, at, "%s", f.Message)
	}
	if len(pairs) == 0 && len(faults) == 0 {
		p.Faults.Values.Add("file", "--file", "%s contains no KEY=VALUE", label)
	}
	p.List = pairs
	p.File = label
}

// AddValueFile adds a key whose value is the content of a file.
func (p *Pairs) AddValueFile(key string, content []byte) {
	p.add(cloud.Pair{Key: key, Value: cloud.NewSecret(string(content))}, 0, false)
}

// AddArguments adds the pairs of arguments: KEY, KEY=VALUE, or one argument with several KEY=VALUE.
func (p *Pairs) AddArguments(args []string) {
	if len(args) == 1 {
		several, err := dotenv.Split(args[0])
		if err != nil {
			p.Faults.Values.Add("secrets", "SECRETS", "%v", err)
			return
		}
		for i, pair := range several {
			p.add(pair, i+1, false)
		}
		if several != nil {
			return
		}
	}
	for i, arg := range args {
		pair, hasValue := dotenv.One(arg)
		p.add(pair, i+1, !hasValue)
	}
}

// add adds a pair of the command line to those of the file, if it is valid. n is its number,
// from 1, for messages. toBeAsked says that its value is still to be asked for.
func (p *Pairs) add(pair cloud.Pair, n int, toBeAsked bool) {
	if pair.Value.Empty() || !cloud.IsKey(pair.Key) {
		pair.Number = n
	}
	field := pair.Field()
	at := slices.IndexFunc(p.List, func(other cloud.Pair) bool { return other.Key == pair.Key })
	if fault := p.fault(pair, at, toBeAsked); fault != "" {
		p.Faults.Values.Add(field, field, "%s", fault)
		return
	}
	if at >= 0 { // it is from the file
		if line := p.List[at].Line; !p.List[at].Value.Empty() {
			p.Faults.Values.Add(field, field, "given twice; it is also on line %d of the file", line)
		} else {
			p.List = slices.Delete(p.List, at, at+1)
		}
	}
	if toBeAsked && !p.MayAsk {
		const cannotAsk = "no value, and vbot cannot ask for one; use --file - or KEY=VALUE"
		p.Faults.Usage.Add(field, field, cannotAsk)
	}
	p.List = append(p.List, pair)
}

// fault returns what is wrong with a pair of the command line, or "". at is the index of a pair with the
// same key, or -1.
func (p *Pairs) fault(pair cloud.Pair, at int, toBeAsked bool) string {
	switch {
	case !cloud.IsKey(pair.Key) && p.IsFile(pair.Key):
		return "is a file; to read pairs from it: --file FILE"
	case !cloud.IsKey(pair.Key):
		return "expected KEY or KEY=VALUE; " + cloud.KeyRule
	case at >= 0 && p.List[at].Line == 0:
		return "given twice"
	}
	return dotenv.ValueFault(pair.Value, toBeAsked)
}

// Finish leaves out the keys of the file without a value. Afterwards, an empty value is one to be asked
// for.
func (p *Pairs) Finish() {
	isBlank := func(pair cloud.Pair) bool { return pair.Line > 0 && pair.Value.Empty() }
	for _, pair := range p.List {
		if isBlank(pair) {
			p.LeftOut = append(p.LeftOut, pair.Key)
		}
	}
	p.List = slices.DeleteFunc(p.List, isBlank)
	if len(p.List) == 0 && len(p.LeftOut) > 0 {
		p.Faults.Values.Add("file", "--file", "no key in %s has a value", p.File)
	}
}

// Notes returns what a person should know about the pairs, in sentences without values. isServiceKey
// reports whether a key is the secret of a service.
func (p *Pairs) Notes(isServiceKey func(key string) bool) (notes []string) {
	var expanded []string
	for _, pair := range p.List {
		if pair.Line > 0 && strings.Contains(pair.Value.Reveal(), "${") {
			expanded = append(expanded, pair.Key)
		}
		if s := Suspect(pair, isServiceKey); s.Looks != "" {
			notes = append(notes, "check "+pair.Key+": the value "+s.Looks+"; vbot stores it unchanged")
		}
	}
	if len(p.LeftOut) > 0 {
		notes = append(notes, p.File+": left out keys without a value: "+strings.Join(p.LeftOut, ", "))
	}
	if len(expanded) > 0 {
		note := p.File + ": python-dotenv would expand ${...} in " + strings.Join(expanded, ", ")
		notes = append(notes, note+"; vbot stores it unchanged")
	}
	return notes
}

// A Suspicion is what looks like a mistake in a value that somebody pasted. The value may be right all
// the same.
type Suspicion struct {
	Looks  string       // "is in quotes"; "" if nothing looks like a mistake
	Better cloud.Secret // the value without the mistake; empty if that is unknown
}

// quotes are pairs of quotation marks, as they come along with a value that is pasted.
var quotes = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}}

// Suspect looks for mistakes in the value of a pair. isServiceKey reports whether a key is the secret of
// a service.
func Suspect(pair cloud.Pair, isServiceKey func(key string) bool) Suspicion {
	value := pair.Value.Reveal()
	trimmed := strings.Trim(value, " \t\u00a0")
	for _, marks := range quotes {
		rest, begins := strings.CutPrefix(trimmed, marks[0])
		rest, ends := strings.CutSuffix(rest, marks[1])
		if begins && ends && !strings.ContainsAny(rest, marks[0]+marks[1]) {
			return Suspicion{Looks: "is in quotes", Better: cloud.NewSecret(rest)}
		}
	}
	isOther := cloud.IsToken(value) || strings.HasPrefix(value, "{") || IsPEM(value)
	switch {
	case value == "": // it is to be asked for
	case trimmed != value:
		return Suspicion{Looks: "has blanks around it", Better: cloud.NewSecret(trimmed)}
	case !isOther && isServiceKey(pair.Key):
		return Suspicion{Looks: "has characters that no key has, such as blanks, line breaks or curly quotes"}
	}
	return Suspicion{}
}

// IsPEM reports whether the line is the first of a key or certificate.
func IsPEM(line string) bool { return strings.HasPrefix(line, "-----BEGIN ") }
