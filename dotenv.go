package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"vbot/internal/cloud"
)

// A pair is one key of a secret set with its value.
type pair struct {
	cloud.Pair
	line int // where it begins in its file; 0 if it came from elsewhere
}

// A fault is something wrong in a line of a file. Its message holds no text of
// the file but keys: the rest may be a secret.
type fault struct {
	line    int
	message string
}

// parseDotenv reads the pairs of a file in the form that people call dotenv:
//
//	# a comment; it may follow a value after white space
//	KEY=value                   up to the end of the line, trimmed
//	export KEY = value          the same
//	KEY='as it is, $ and \ too'
//	KEY="a \"quoted\" value\n"  with \n, \t, \" and \\; other \ stay
//
// A quoted value may hold line ends. Lines end in LF, CRLF or CR; a CRLF inside
// quotes counts as LF. A byte-order mark is skipped. Nothing is ever expanded. An
// empty value, a key given twice and anything else is a fault; the pairs are good
// for something only if there is none.
func parseDotenv(data string) (pairs []pair, faults []fault) {
	p := &dotenv{text: strings.TrimPrefix(data, "\ufeff"), line: 1}
	if !utf8.ValidString(data) {
		line := 1 + strings.Count(data[:invalidAt(data)], "\n")
		return nil, []fault{{line, "the file is not valid UTF-8"}}
	}
	first := map[string]int{}
	for p.text != "" {
		line := p.line
		pr, message := p.pair()
		if message == "" && pr.Key != "" {
			if was, ok := first[pr.Key]; ok {
				message = fmt.Sprintf("%s is already set on line %d", pr.Key, was)
			} else {
				first[pr.Key] = line
			}
		}
		switch {
		case message != "":
			faults = append(faults, fault{line, message})
		case pr.Key != "":
			pr.line = line
			pairs = append(pairs, pr)
		}
	}
	return pairs, faults
}

// invalidAt is the index of the first byte that is not UTF-8.
func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}

// dotenv is a file that is being read: what is left of it, and the line that
// begins there.
type dotenv struct {
	text string
	line int
}

// pair reads one line, or several if a quoted value spans them. It returns the
// zero pair for a line that holds none.
func (p *dotenv) pair() (pr pair, message string) {
	p.skipBlanks()
	if p.text == "" || strings.ContainsRune("#\r\n", rune(p.text[0])) {
		p.rest()
		return pair{}, ""
	}
	if after, ok := strings.CutPrefix(p.text, "export"); ok {
		if bare := strings.TrimLeft(after, " \t"); bare != after && !strings.HasPrefix(bare, "=") {
			p.text = bare
		}
	}
	end := strings.IndexAny(p.text, "=\r\n")
	if end < 0 || p.text[end] != '=' {
		p.rest()
		return pair{}, "missing ="
	}
	pr.Key = strings.TrimRight(p.text[:end], " \t")
	p.text = p.text[end+1:]
	value, message := p.value()
	switch {
	// The key is not repeated: a line that was cut may have a secret there.
	case !cloud.IsKey(pr.Key):
		message = "the text before = is not a key; " + cloud.KeyRule
	case message != "":
		message = pr.Key + ": " + message
	case value == "":
		message = pr.Key + ": the value is empty"
	case strings.ContainsRune(value, 0):
		message = pr.Key + ": the value contains a NUL character"
	}
	pr.Value = cloud.NewSecret(value)
	return pr, message
}

// value reads what follows the = up to the end of the line.
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

// unquoted is a bare value: it ends before a # that follows white space. after
// says that white space stands before it.
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

// quoted reads a value between quotes, which may span lines.
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
		default:
			if c == '\n' || c == '\r' {
				p.line++
			}
			b.WriteByte(c)
		}
	}
	return "", false
}

// skipBlanks skips spaces and tabs and says whether there were any.
func (p *dotenv) skipBlanks() bool {
	was := len(p.text)
	p.text = strings.TrimLeft(p.text, " \t")
	return len(p.text) < was
}

// rest reads up to the end of the line, and past it.
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

// splitPairs reads an argument that may hold several pairs, with values that hold
// white space in double quotes: A=1 B="two words". It returns nil where the
// argument is one pair or none, because its pieces do not all read KEY=..., and
// an error where it could be read both ways.
func splitPairs(arg string) (pairs []pair, err error) {
	const blanks = " \t\r\n"
	inner := false // the last value has an = inside, without quotes
	for rest := strings.Trim(arg, blanks); rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || !cloud.IsKey(key) {
			return nil, nil
		}
		quoted := strings.HasPrefix(after, `"`) && closingQuote(after) > 0
		// A value of several lines, or one that ends in words and ==, may be meant.
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
		pairs = append(pairs, pair{Pair: cloud.Pair{Key: key, Value: cloud.NewSecret(value)}})
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

// closingQuote is the index of the quote that ends s and stands before white
// space or the end, or -1.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '"' && (i+1 == len(s) || strings.IndexByte(" \t\r\n", s[i+1]) >= 0) {
			return i
		}
	}
	return -1
}

// onePair reads KEY=VALUE as the shell gave it, but for double quotes round a
// whole value that holds white space. ok is false if there is no =.
func onePair(arg string) (p pair, ok bool) {
	key, value, ok := strings.Cut(arg, "=")
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' && strings.ContainsAny(value, " \t\r\n") {
		value = value[1 : n-1]
	}
	return pair{Pair: cloud.Pair{Key: key, Value: cloud.NewSecret(value)}}, ok
}
