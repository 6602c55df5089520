package secrets

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vbot/internal/cloud"
	"vbot/internal/dotenv"
	"vbot/internal/report"
	"vbot/internal/secret"
)

// Pairs collects the pairs of a command line: first those of secrets files, then those of the arguments
// and of --value-file. The latter replace a pair of a file only if it has no value. The pair of an argument
// without a value has an empty value, which is to be asked for. The methods that add pairs return what is
// wrong with them.
type Pairs struct {
	// MayAsk says that a missing value can be asked for, or is not needed.
	MayAsk bool
	// IsFile reports whether a word that is not a key is the name of a file.
	IsFile func(word string) bool

	List    []secret.Pair // in the order in which they are stored
	LeftOut []string      // keys without a value in the files

	files    []string // the names of the files, for messages
	replaced []string // notes about values that a later file replaced
	blank    []string // notes about keys that were left out
}

// Files returns the names of the files for messages, such as "a.env and b.env".
func (p *Pairs) Files() string { return strings.Join(p.files, " and ") }

// AddFile adds the pairs of a file in dotenv syntax. label is its name for messages. If allowBlank is
// true, a key without a value is not an error. A value of a later file replaces that of an earlier one,
// but a key without a value replaces nothing.
func (p *Pairs) AddFile(label string, data []byte, allowBlank bool) (problems report.Problems) {
	pairs, faults := dotenv.Parse(string(data), allowBlank)
	for _, f := range faults {
		at := fmt.Sprintf("%s:%d", label, f.Line)
		problem := problems.Add(at, at, "%s", f.Message)
		if f.IsEmpty {
			problem.Hint = "--skip-empty leaves out keys without a value"
		}
	}
	if len(pairs) == 0 && len(faults) == 0 {
		problems.Add("file", "--file", "%s contains no KEY=VALUE", label)
	}
	p.files = append(p.files, label)
	index := map[string]int{} // of each key in p.List
	for i, pair := range p.List {
		index[pair.Key] = i
	}
	var replaced []secret.Pair
	for _, pair := range pairs {
		pair.File = label
		at, isGiven := index[pair.Key]
		switch {
		case !isGiven:
			p.List = append(p.List, pair)
		case !pair.Value.Empty():
			if earlier := p.List[at]; !earlier.Value.Empty() && earlier.File != label {
				replaced = append(replaced, earlier)
			}
			p.List[at] = pair
		}
	}
	for _, in := range byFile(replaced) {
		p.replaced = append(p.replaced, "values of "+label+" replace those of "+in.file+": "+in.keys)
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

// add adds a pair of the command line if it is valid. n is its number, from 1, for messages. toBeAsked
// says that its value is still to be asked for.
func (p *Pairs) add(pair secret.Pair, n int, toBeAsked bool) (problems report.Problems) {
	if pair.Value.Empty() || !secret.IsKey(pair.Key) {
		pair.Number = n
	}
	field := pair.Field()
	at := p.index(pair.Key)
	if fault := p.fault(pair, at, toBeAsked); fault != "" {
		problems.Add(field, field, "%s", fault)
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
	if toBeAsked && !p.MayAsk {
		const cannotAsk = "no value, and vbot cannot ask for one; use --file - or KEY=VALUE"
		problems.Add(field, field, cannotAsk).Usage = true
	}
	p.List = append(p.List, pair)
	return problems
}

// fault returns what is wrong with a pair of the command line, or "". at is the index of a pair with the
// same key, or -1.
func (p *Pairs) fault(pair secret.Pair, at int, toBeAsked bool) string {
	switch {
	case !secret.IsKey(pair.Key) && p.IsFile(pair.Key):
		return "is a file; to read pairs from it: --file FILE"
	case !secret.IsKey(pair.Key):
		return "expected KEY or KEY=VALUE; " + secret.KeyRule
	case at >= 0 && p.List[at].File == "":
		return "given twice"
	}
	return dotenv.ValueFault(pair.Value, toBeAsked)
}

// Finish leaves out keys of the files that have no value. Afterwards, every empty value is to be asked for.
func (p *Pairs) Finish() (problems report.Problems) {
	isBlank := func(pair secret.Pair) bool { return pair.File != "" && pair.Value.Empty() }
	var blank []secret.Pair
	for _, pair := range p.List {
		if isBlank(pair) {
			blank = append(blank, pair)
			p.LeftOut = append(p.LeftOut, pair.Key)
		}
	}
	for _, in := range byFile(blank) {
		p.blank = append(p.blank, in.file+": left out keys without a value: "+in.keys)
	}
	p.List = slices.DeleteFunc(p.List, isBlank)
	if len(p.List) == 0 && len(p.LeftOut) > 0 {
		problems.Add("file", "--file", "no key in %s has a value", p.Files())
	}
	return problems
}

// Notes returns what a person should know about the pairs, in sentences without values. isServiceKey
// reports whether a key is the secret of a service.
func (p *Pairs) Notes(isServiceKey func(key string) bool) []string {
	var notes []string
	var expanded []secret.Pair
	for _, pair := range p.List {
		if pair.File != "" && strings.Contains(pair.Value.Reveal(), "${") {
			expanded = append(expanded, pair)
		}
		if s := Suspect(pair, isServiceKey); s.Looks != "" {
			notes = append(notes, "check "+pair.Key+": the value "+s.Looks+"; vbot stores it unchanged")
		}
	}
	notes = slices.Concat(p.replaced, notes, p.blank)
	for _, in := range byFile(expanded) {
		const note = "%s: python-dotenv would expand ${...} in %s; vbot stores it unchanged"
		notes = append(notes, fmt.Sprintf(note, in.file, in.keys))
	}
	return notes
}

// fileKeys are keys of a secrets file.
type fileKeys struct {
	file string // its name for messages
	keys string // "A, B"
}

// byFile groups the keys of pairs by their file. The pairs must be from files.
func byFile(pairs []secret.Pair) (out []fileKeys) {
	for _, pair := range pairs {
		at := slices.IndexFunc(out, func(in fileKeys) bool { return in.file == pair.File })
		if at < 0 {
			out = append(out, fileKeys{pair.File, pair.Key})
		} else {
			out[at].keys += ", " + pair.Key
		}
	}
	return out
}

// A Suspicion describes what looks like a mistake in a value, such as one made when pasting it. The value
// may still be right.
type Suspicion struct {
	Looks  string       // "is in quotes"; "" if nothing looks like a mistake
	Better secret.Value // the value without the mistake; empty if that is unknown
}

// quotes are pairs of quotation marks that are often pasted together with a value.
var quotes = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}}

// blanks are invisible characters that are often pasted together with a value.
const blanks = " \t\u00a0\u200b\u2060\ufeff"

// Suspect looks for mistakes in the value of a pair. isServiceKey reports whether a key is the secret of
// a service.
func Suspect(pair secret.Pair, isServiceKey func(key string) bool) Suspicion {
	value := pair.Value.Reveal()
	trimmed := strings.Trim(value, blanks)
	for _, marks := range quotes {
		rest, begins := strings.CutPrefix(trimmed, marks[0])
		rest, ends := strings.CutSuffix(rest, marks[1])
		if begins && ends && !strings.ContainsAny(rest, marks[0]+marks[1]) {
			return Suspicion{Looks: "is in quotes", Better: secret.New(rest)}
		}
	}
	isOther := cloud.IsToken(value) || strings.HasPrefix(value, "{") || IsPEM(value)
	line := strings.TrimRight(value, "\r\n")
	isLine := !strings.ContainsAny(line, "\r\n")
	standsForSecret := unusable(line)
	switch {
	case value == "": // it is to be asked for
	case isLine && line != value && !strings.HasPrefix(value, "{"):
		return Suspicion{Looks: "ends in a line break", Better: secret.New(line)}
	case standsForSecret != "":
		return Suspicion{Looks: standsForSecret}
	case IsPEM(trimmed) && strings.Contains(trimmed, `\n`):
		return Suspicion{
			Looks: `has \n where a PEM has line breaks (in a file, double quotes turn \n into one)`,
		}
	case trimmed != value:
		return Suspicion{Looks: "has blanks around it", Better: secret.New(trimmed)}
	case isEncodedText(pair.Key, value):
		return Suspicion{Looks: "is base64 of a text, as .data is in what kubectl get secret -o yaml prints"}
	case !isOther && isServiceKey(pair.Key):
		return Suspicion{Looks: "has characters that no key has, such as blanks, line breaks or curly quotes"}
	}
	return Suspicion{}
}

// unusable describes a value that only stands for a secret, so that no bot can use it. It returns "" for
// any other value.
func unusable(value string) string {
	inner, isOpen := strings.CutPrefix(value, "<")
	inner, isClosed := strings.CutSuffix(inner, ">")
	switch {
	case strings.HasPrefix(value, "op://"):
		return "is a reference of 1Password, not the secret itself"
	case strings.HasPrefix(value, "encrypted:") && cloud.IsToken(value):
		return "is encrypted by dotenvx"
	case strings.HasPrefix(value, "ENC[") && strings.HasSuffix(value, "]"):
		return "is encrypted by SOPS"
	case isOpen && isClosed && inner != "" && !strings.ContainsAny(inner, "<>"), isPlaceholder(value):
		return "looks like a placeholder"
	}
	return ""
}

const (
	minEncoded = 16      // bytes; shorter values may be base64 of a text by chance
	maxEncoded = 1 << 20 // bytes; the limit of a Kubernetes Secret
)

// isEncodedText reports whether a value is base64 of a text, as if it came from a Secret of Kubernetes. A
// value may be right in base64 if its key says so, and so may a login (such as Inworld's keys), a JSON file
// or an id with a time in it.
func isEncodedText(key, value string) bool {
	if len(value) < minEncoded || len(value) > maxEncoded || strings.Contains(key, "64") {
		return false
	}
	data, err := base64.StdEncoding.Strict().DecodeString(value)
	text := strings.TrimRight(string(data), "\r\n")
	isOdd := func(r rune) bool {
		return r == utf8.RuneError || r != '\n' && r != '\r' && unicode.IsControl(r)
	}
	if err != nil || text == "" || strings.ContainsFunc(text, isOdd) {
		return false
	}
	isLogin := strings.Contains(text, ":") && !strings.Contains(text, "://") && !IsPEM(text)
	return !isLogin && !strings.HasPrefix(text, "{") && !isDated(text)
}

// isDated reports whether a text is an id of 32 hexadecimal digits, a hyphen and a time in decimal digits.
// The keys of some services are such a text in base64.
func isDated(text string) bool {
	id, time, _ := strings.Cut(text, "-")
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" &&
		time != "" && strings.Trim(time, "0123456789") == ""
}

// maxPlaceholder is the maximum length of a placeholder, in bytes. Longer values are not split into words, as
// a value may have 16 MiB.
const maxPlaceholder = 256

// isPlaceholder reports whether a value is a placeholder from an example or a template, such as
// your_api_key_here or changeme.
func isPlaceholder(value string) bool {
	if len(value) > maxPlaceholder {
		return false
	}
	isBetweenWords := func(c rune) bool { return strings.ContainsRune("-_ ", c) }
	words := strings.FieldsFunc(strings.ToLower(value), isBetweenWords)
	if len(words) > 0 && words[0] == "sk" { // the beginning of OpenAI's keys
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	wholes := []string{"changeme", "changeit", "replaceme", "placeholder", "todo", "xxx", "xxxxx", "..."}
	ends := []string{"key", "token", "secret", "password", "sid", "id", "value", "here"}
	last := words[len(words)-1]
	return slices.Contains(wholes, strings.Join(words, "")) ||
		len(words) > 1 && words[0] == "your" && slices.Contains(ends, last)
}

// IsPEM reports whether the line is the first of a key or certificate.
func IsPEM(line string) bool { return strings.HasPrefix(line, "-----BEGIN ") }
