// Package dotenv parses the formats of secrets: dotenv files, JSON objects and
// arguments.
package dotenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"vbot/internal/report"
	"vbot/internal/secret"
)

// An Error is an error in a line of a file. The message may repeat keys, but no other text of the file, which
// may be secret.
type Error struct {
	Line    int // from 1
	Message string
	IsEmpty bool // the error is that a key has no value
}

// A reader reads one file. Use the pairs only if there are no errors.
type reader struct {
	text   string // the rest of the file
	line   int    // the number of its first line, from 1
	pairs  []secret.Pair
	errs   []Error
	blank  bool           // a value may be empty
	first  map[string]int // the line of each key
	before previousLine
}

// Parse reads one JSON object of strings, if data begins with a brace, or a dotenv file. A byte-order
// mark is skipped, also at the beginning of a line, where two files were joined. Invalid and duplicate
// keys are errors, and so are empty values unless blank is set.
func Parse(data string, blank bool) ([]secret.Pair, []Error) {
	if report.IsUTF16([]byte(data[:min(2, len(data))])) {
		return nil, []Error{{Line: 1, Message: report.UTF16}}
	}
	number := 0
	for line := range strings.Lines(data) {
		if number++; !utf8.ValidString(line) {
			return nil, []Error{{Line: number, Message: "the file is not valid UTF-8"}}
		}
	}
	data = strings.TrimPrefix(data, "\ufeff")
	r := &reader{text: data, line: 1, blank: blank, first: map[string]int{}}
	if isJSON(data) {
		r.readJSON()
	} else if e := otherFormat(data); e != nil {
		r.errs = []Error{*e}
	} else {
		r.readDotenv()
	}
	return r.pairs, r.errs
}

// jsonArray is what to do with an array of names and values, as other tools print it.
const jsonArray = "a JSON array; expected one object of strings. If its items have a name and a value: " +
	"jq 'map({(.name): .value}) | add' FILE | vbot cloud secrets set NAME --file -"

// kubernetesSecret is what to do with a Secret as kubectl prints it.
const kubernetesSecret = "the file is a Secret of Kubernetes, whose .data is base64; expected lines " +
	"KEY=VALUE, or a JSON object: kubectl get secret SECRET -o json | " +
	"jq '.data | map_values(@base64d)' | vbot cloud secrets set NAME --file -"

// isKubernetesSecret reports whether YAML is a Secret of Kubernetes.
func isKubernetesSecret(data string) bool {
	for line := range strings.Lines(data) {
		if strings.TrimSpace(line) == "kind: Secret" {
			return true
		}
	}
	return false
}

// isJSON reports whether a file of secrets is a JSON object.
func isJSON(data string) bool {
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(data, "\ufeff"), " \t\r\n"), "{")
}

// otherFormat returns the error for a file whose first line, apart from comments, is one of another
// format, or nil.
func otherFormat(data string) *Error {
	if strings.HasPrefix(strings.TrimSpace(data), "[") && json.Valid([]byte(data)) {
		return &Error{Line: 1, Message: jsonArray}
	}
	const expected = "expected lines KEY=VALUE, or a JSON object"
	if json.Valid([]byte(data)) { // such as null, which jq prints for a key that does not exist
		return &Error{Line: 1, Message: expected}
	}
	number := 0
	for line := range strings.Lines(data) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, isMapping := strings.Cut(line, ":")
		switch {
		case line == "---", isMapping && secret.IsKey(name) && (rest == "" || rest[0] == ' '):
			if isKubernetesSecret(data) {
				return &Error{Line: number, Message: kubernetesSecret}
			}
			return &Error{Line: number, Message: "the file is YAML; " + expected}
		case line[0] == '[' && secret.IsName(strings.Trim(line, "[]"), len(line), "._- "):
			return &Error{Line: number, Message: "the file is TOML or INI; " + expected}
		}
		return nil
	}
	return nil
}

// addError adds an error in a line.
func (r *reader) addError(line int, message string) {
	r.errs = append(r.errs, Error{Line: line, Message: message})
}

// add adds a key with its value, or the error in either. message is that of an error in the value which was
// found before, or "".
func (r *reader) add(line int, key, value, message string) {
	if isOnlyLineEnds(value) {
		value = ""
	}
	pair := secret.Pair{Key: key, Value: secret.New(value), Line: line}
	err := CheckValue(pair.Value, r.blank)
	if message != "" {
		err = errors.New(message)
	}
	was, twice := r.first[key]
	switch {
	case !secret.IsKey(key):
		r.addError(line, "invalid key; "+secret.KeyRule) // do not repeat it: it may be part of a secret
	case err != nil:
		isEmpty := message == "" && value == ""
		text := fmt.Sprintf("%s: %v", key, err)
		if isEmpty && !pair.HasUsualKey() {
			text = err.Error()
		}
		r.errs = append(r.errs, Error{Line: line, Message: text, IsEmpty: isEmpty})
	case twice:
		r.addError(line, fmt.Sprintf("%s is already set on line %d", key, was))
	default:
		r.first[key] = line
		r.pairs = append(r.pairs, pair)
	}
}

// isOnlyLineEnds reports whether nothing but ends of lines is in a value, as in a file to which an
// unset variable was written.
func isOnlyLineEnds(value string) bool { return strings.Trim(value, "\r\n") == "" }

// CheckValue returns an error if a value cannot be stored unchanged. blank allows an empty one.
func CheckValue(value secret.Value, blank bool) error {
	switch {
	case isOnlyLineEnds(value.Reveal()) && !blank:
		return errors.New("the value is empty")
	case !utf8.ValidString(value.Reveal()):
		return errors.New("the value is not valid UTF-8") // JSON would change it
	case strings.ContainsRune(value.Reveal(), 0):
		return errors.New("the value contains a NUL character")
	}
	return nil
}

// readJSON reads one JSON object key by key. An error does not repeat a message of encoding/json, which may
// quote a value.
func (r *reader) readJSON() {
	last := 0
	line := func(offset int) int { // offset only grows
		r.line, last = r.line+strings.Count(r.text[last:offset], "\n"), offset
		return r.line
	}
	members, at, err := report.Members([]byte(r.text))
	if err != nil {
		message := err.Error()
		if _, quotes := errors.AsType[*json.SyntaxError](err); quotes {
			message = "invalid JSON"
		}
		r.errs = []Error{{Line: line(at), Message: message}}
		return
	}
	for _, m := range members {
		var value string
		message := ""
		if json.Unmarshal(m.Value, &value) != nil || string(m.Value) == "null" {
			message = "the value must be a string"
		} else if strings.ContainsRune(value, utf8.RuneError) {
			// It may also be half a surrogate pair.
			message = "the value contains U+FFFD, which stands for text that was lost"
		}
		r.add(line(m.At), m.Key, value, message)
	}
}

// readDotenv reads the lines of a dotenv file:
//
//	# a comment, also after a value and white space
//	KEY=value                   up to the end of the line, trimmed
//	export KEY = value          the same
//	KEY='as it is, $ and \ too'
//	KEY="a \"quoted\" value\n"  with \n, \t, \" and \\; other \ stay
//
// A quoted value may span lines. Lines end in LF, CRLF or CR; a CRLF inside quotes
// becomes LF. Nothing is expanded. Anything else is an error, also a line that looks like the
// rest of a value without quotes: what it has before its = is no key, and may be secret.
func (r *reader) readDotenv() {
	for r.text != "" {
		line := r.line
		r.text = strings.TrimPrefix(r.text, "\ufeff")
		r.skipBlanks()
		text, previous := r.peek(), r.before
		r.before = newPreviousLine(text)
		switch {
		case text == "" || text[0] == '#':
			r.rest()
			r.before = previousLine{}
		case beginsPEM(text):
			r.skipPEM()
		case previous.continuesIn(text):
			r.rest()
			r.addError(line, continues)
		default:
			r.readPair(line)
		}
	}
}

// readPair reads a line with a key, and its value up to the closing quote.
func (r *reader) readPair(line int) {
	if key, ok := r.key(); ok {
		value, message := r.value()
		r.add(line, key, value, message)
		return
	}
	r.rest()
	r.addError(line, "missing =; a value of several lines needs quotes")
}

// key reads the text before the =. ok is false if the line has none.
func (r *reader) key() (key string, ok bool) {
	if after, ok := strings.CutPrefix(r.text, "export"); ok {
		if bare := strings.TrimLeft(after, " \t"); bare != after && !strings.HasPrefix(bare, "=") {
			r.text = bare
		}
	}
	end := strings.IndexAny(r.text, "=\r\n")
	if end < 0 || r.text[end] != '=' {
		return "", false
	}
	key = strings.TrimRight(r.text[:end], " \t")
	r.text = r.text[end+1:]
	return key, true
}

// value reads the text after the = up to the end of the line.
func (r *reader) value() (value, message string) {
	blank := r.skipBlanks()
	if r.text == "" || r.text[0] != '\'' && r.text[0] != '"' {
		return unquoted(r.rest(), blank), ""
	}
	quote := r.text[0]
	if three := strings.Repeat(r.text[:1], 3); strings.HasPrefix(r.text, three) {
		inside, after, _ := strings.Cut(r.text[3:], three)
		r.line += strings.Count(inside, "\n")
		r.text = after
		r.rest()
		return "", "three quotes; one quote at each end is enough, also for several lines"
	}
	value, ok := r.quoted(quote)
	if !ok {
		r.text = "" // the rest of the file is inside the quotes
		return "", fmt.Sprintf("missing closing %c", quote)
	}
	blank = r.skipBlanks()
	if rest := r.rest(); rest != "" && (!blank || rest[0] != '#') {
		return "", fmt.Sprintf("unexpected text after the closing %c", quote)
	}
	return value, ""
}

// unquoted returns a bare value, which ends before a # that follows white space.
// after says whether white space precedes s.
func unquoted(s string, after bool) string {
	for i := range len(s) {
		if s[i] == '#' && after {
			return strings.TrimRight(s[:i], " \t")
		}
		after = s[i] == ' ' || s[i] == '\t'
	}
	return strings.TrimRight(s, " \t")
}

// quoted reads a value between quotes, which may span lines. Each line ends in LF.
func (r *reader) quoted(quote byte) (value string, ok bool) {
	var b strings.Builder
	s := r.text
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			r.text = s[i+1:]
			return b.String(), true
		case c == '\\' && quote == '"' && i+1 < len(s) && strings.IndexByte(`nt"\`, s[i+1]) >= 0:
			i++
			b.WriteByte(map[byte]byte{'n': '\n', 't': '\t', '"': '"', '\\': '\\'}[s[i]])
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			// the LF follows
		case c == '\r' || c == '\n':
			r.line++
			b.WriteByte('\n')
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// skipBlanks skips spaces and tabs and reports whether there were any.
func (r *reader) skipBlanks() bool {
	was := len(r.text)
	r.text = strings.TrimLeft(r.text, " \t")
	return len(r.text) < was
}

// peek returns the rest of the line.
func (r *reader) peek() string {
	if end := strings.IndexAny(r.text, "\r\n"); end >= 0 {
		return r.text[:end]
	}
	return r.text
}

// rest returns the rest of the line and moves to the next one.
func (r *reader) rest() string {
	line, next := r.peek(), ""
	if end := len(line); end < len(r.text) {
		next = r.text[end+1:]
		if r.text[end] == '\r' {
			next = strings.TrimPrefix(next, "\n")
		}
	}
	r.text, r.line = next, r.line+1
	return line
}

// Split reads an argument with several pairs, in which values with white space
// are in double quotes: A=1 B="two words". It returns nil if the argument does not
// consist of several pairs, and errAmbiguous if it may be one pair or several.
func Split(arg string) (pairs []secret.Pair, err error) {
	const blanks = " \t\r\n"
	inner := false // the last value is unquoted and contains an =
	for rest := strings.Trim(arg, blanks); rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || !secret.IsKey(key) {
			return nil, nil
		}
		quoted := strings.HasPrefix(after, `"`) && closingQuote(after) > 0
		// It may also be one value with several lines, or with words that end in ==.
		if inner || len(pairs) > 0 && strings.HasPrefix(after, "=") {
			err = errAmbiguous
		}
		end := strings.IndexAny(after+" ", blanks)
		value := after[:end]
		if quoted {
			end = closingQuote(after) + 1
			value = after[1 : end-1]
		}
		inner = !quoted && strings.Contains(strings.TrimRight(value, "="), "=")
		pairs = append(pairs, secret.Pair{Key: key, Value: secret.New(value)})
		rest = strings.TrimLeft(after[end:], blanks)
		if rest != "" && strings.ContainsAny(after[end:len(after)-len(rest)], "\r\n") {
			err = errAmbiguous
		}
	}
	if len(pairs) < 2 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

var errAmbiguous = errors.New("this may be one pair or several; pass each pair as its own argument, " +
	"put the value in double quotes, or use --file")

// closingQuote returns the index of the closing quote of s, which white space or the
// end follows, or -1.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '"' && (i+1 == len(s) || strings.IndexByte(" \t\r\n", s[i+1]) >= 0) {
			return i
		}
	}
	return -1
}

// One reads KEY=VALUE literally, except that it removes double quotes around a
// value with white space. ok is false if there is no =.
func One(arg string) (p secret.Pair, ok bool) {
	key, value, ok := strings.Cut(arg, "=")
	n := len(value)
	isQuoted := n >= 2 && value[0] == '"' && value[n-1] == '"'
	if isQuoted && strings.ContainsAny(value, " \t\r\n") {
		value = value[1 : n-1]
	}
	return secret.Pair{Key: key, Value: secret.New(value)}, ok
}
