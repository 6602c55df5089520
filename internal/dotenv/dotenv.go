// Package dotenv reads what people write secrets in: dotenv files, JSON objects and
// arguments.
package dotenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"vbot/internal/cloud"
	"vbot/internal/report"
)

// A Fault is an error in a line of a file. The message may repeat keys but no other
// text of the file, which may be secret.
type Fault struct {
	Line    int
	Message string
}

// A secretsFile is what was read of a file. Use the pairs only if there are no
// faults.
type secretsFile struct {
	pairs  []cloud.Pair
	faults []Fault
	blank  bool // a value may be empty
	first  map[string]int
}

// Parse reads one JSON object of strings, if data begins with a brace, or a
// dotenv file. A byte-order mark is skipped. Invalid and duplicate keys are faults,
// and so are empty values unless blank is set.
func Parse(data string, blank bool) ([]cloud.Pair, []Fault) {
	if strings.HasPrefix(data, "\xff\xfe") || strings.HasPrefix(data, "\xfe\xff") {
		return nil, []Fault{{1, report.UTF16}}
	}
	number := 0
	for line := range strings.Lines(data) {
		if number++; !utf8.ValidString(line) {
			return nil, []Fault{{number, "the file is not valid UTF-8"}}
		}
	}
	data = strings.TrimPrefix(data, "\ufeff")
	f := &secretsFile{blank: blank, first: map[string]int{}}
	if strings.HasPrefix(data, "{") {
		f.readJSON(data)
	} else {
		f.readDotenv(data)
	}
	return f.pairs, f.faults
}

// Empty ends the message of a fault where a value is missing that may not be empty.
const Empty = "the value is empty"

// add takes a key with its value, or the fault that it has.
func (f *secretsFile) add(line int, key, value, message string) {
	secret := cloud.NewSecret(value)
	was, twice := f.first[key]
	switch {
	case !cloud.IsKey(key):
		message = "invalid key; " + cloud.KeyRule // do not repeat it: it may be part of a secret
	case message != "":
		message = key + ": " + message
	case value == "" && !f.blank:
		message = key + ": " + Empty
	case ValueFault(secret) != "":
		message = key + ": " + ValueFault(secret)
	case twice:
		message = fmt.Sprintf("%s is already set on line %d", key, was)
	default:
		f.first[key] = line
		f.pairs = append(f.pairs, cloud.Pair{Key: key, Value: secret, Line: line})
		return
	}
	f.faults = append(f.faults, Fault{line, message})
}

// ValueFault returns why a value cannot be stored unchanged, or "".
func ValueFault(value cloud.Secret) string {
	if !utf8.ValidString(value.Reveal()) {
		return "the value is not valid UTF-8" // JSON would change it
	}
	if strings.ContainsRune(value.Reveal(), 0) {
		return "the value contains a NUL character"
	}
	return ""
}

// readJSON reads one JSON object key by key. What is wrong with JSON may quote a value.
func (f *secretsFile) readJSON(data string) {
	last, lines := 0, 1
	line := func(offset int) int { // which only grows
		lines, last = lines+strings.Count(data[last:offset], "\n"), offset
		return lines
	}
	members, at, fault := report.Members([]byte(data))
	if fault != "" {
		f.faults = []Fault{{line(at), "invalid JSON"}}
		return
	}
	for _, m := range members {
		var value string
		message := ""
		if json.Unmarshal(m.Value, &value) != nil || string(m.Value) == "null" {
			message = "the value must be a string"
		} else if strings.ContainsRune(value, utf8.RuneError) {
			message = "the value contains U+FFFD, which stands for text that was lost" // or half a surrogate pair
		}
		f.add(line(m.At), m.Key, value, message)
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
// becomes LF. Nothing is expanded. Anything else is a fault.
func (f *secretsFile) readDotenv(data string) {
	p := &dotenv{text: data, line: 1}
	for p.text != "" {
		line := p.line
		p.skipBlanks()
		if p.text == "" || strings.ContainsRune("#\r\n", rune(p.text[0])) {
			p.rest()
		} else if key, ok := p.key(); ok {
			value, message := p.value()
			f.add(line, key, value, message)
		} else {
			p.rest()
			f.faults = append(f.faults, Fault{line, "missing =; a value of several lines needs quotes"})
		}
	}
}

// dotenv is the state of the parser: the rest of the file, and its line number.
type dotenv struct {
	text string
	line int
}

// key reads the text before the =. ok is false if the line has none.
func (p *dotenv) key() (key string, ok bool) {
	if after, ok := strings.CutPrefix(p.text, "export"); ok {
		if bare := strings.TrimLeft(after, " \t"); bare != after && !strings.HasPrefix(bare, "=") {
			p.text = bare
		}
	}
	end := strings.IndexAny(p.text, "=\r\n")
	if end < 0 || p.text[end] != '=' {
		return "", false
	}
	key = strings.TrimRight(p.text[:end], " \t")
	p.text = p.text[end+1:]
	return key, true
}

// value reads the text after the = up to the end of the line.
func (p *dotenv) value() (value, message string) {
	blank := p.skipBlanks()
	if p.text == "" || p.text[0] != '\'' && p.text[0] != '"' {
		return unquoted(p.rest(), blank), ""
	}
	quote := p.text[0]
	value, ok := p.quoted(quote)
	if !ok {
		p.text = "" // the rest of the file is inside the quotes
		return "", fmt.Sprintf("missing closing %c", quote)
	}
	blank = p.skipBlanks()
	if rest := p.rest(); rest != "" && (!blank || rest[0] != '#') {
		return "", fmt.Sprintf("unexpected text after the closing %c", quote)
	}
	return value, ""
}

// unquoted returns a bare value, which ends before a # that follows white space.
// after reports whether white space precedes s.
func unquoted(s string, after bool) string {
	for i := range len(s) {
		if s[i] == '#' && after {
			s = s[:i]
			break
		}
		after = s[i] == ' ' || s[i] == '\t'
	}
	return strings.TrimRight(s, " \t")
}

// quoted reads a value between quotes, which may span lines. Each line ends in LF.
func (p *dotenv) quoted(quote byte) (value string, ok bool) {
	var b strings.Builder
	s := p.text
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			p.text = s[i+1:]
			return b.String(), true
		case c == '\\' && quote == '"' && i+1 < len(s) && strings.IndexByte(`nt"\`, s[i+1]) >= 0:
			i++
			b.WriteByte(map[byte]byte{'n': '\n', 't': '\t', '"': '"', '\\': '\\'}[s[i]])
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			// the LF follows
		case c == '\r' || c == '\n':
			p.line++
			b.WriteByte('\n')
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// skipBlanks skips spaces and tabs and reports whether there were any.
func (p *dotenv) skipBlanks() bool {
	was := len(p.text)
	p.text = strings.TrimLeft(p.text, " \t")
	return len(p.text) < was
}

// rest returns the rest of the line and moves to the next one.
func (p *dotenv) rest() string {
	end := strings.IndexAny(p.text, "\r\n")
	if end < 0 {
		line := p.text
		p.text = ""
		return line
	}
	line, next := p.text[:end], p.text[end+1:]
	if p.text[end] == '\r' {
		next = strings.TrimPrefix(next, "\n")
	}
	p.text, p.line = next, p.line+1
	return line
}

// Split reads an argument with several pairs, in which values with white space
// are in double quotes: A=1 B="two words". It returns nil if the argument does not
// consist of several pairs, and errAmbiguous if it may be one pair or several.
func Split(arg string) (pairs []cloud.Pair, err error) {
	const blanks = " \t\r\n"
	inner := false // the last value is unquoted and contains an =
	for rest := strings.Trim(arg, blanks); rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || !cloud.IsKey(key) {
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
		pairs = append(pairs, cloud.Pair{Key: key, Value: cloud.NewSecret(value)})
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

var errAmbiguous = errors.New("this may be one pair or several; pass each pair as its own argument, put the value in double quotes, or use --file")

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
func One(arg string) (p cloud.Pair, ok bool) {
	key, value, ok := strings.Cut(arg, "=")
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' && strings.ContainsAny(value, " \t\r\n") {
		value = value[1 : n-1]
	}
	return cloud.Pair{Key: key, Value: cloud.NewSecret(value)}, ok
}
