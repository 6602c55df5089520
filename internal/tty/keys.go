package tty

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The input of a terminal: a decoder turns bytes into keys, an editor applies keys to a line of text.

// A key is a pressed key or a pasted text.
type key struct {
	Name keyName
	Text string // for keyText, keyPaste and keyCut; for keys of one byte, that byte
}

// A keyName identifies a key.
type keyName int

const (
	keyText keyName = iota
	keyPaste
	keyCut // an incomplete pasted text
	keyPasteBegin
	keyEnter
	keyTab
	keyBackTab // Shift-Tab
	keyEscape
	keyUp
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyPageUp
	keyPageDown
	keyBackspace
	keyDelete
	keyStart     // Ctrl-A
	keyFinish    // Ctrl-E
	keyKill      // Ctrl-U: deletes the text before the cursor
	keyKillRest  // Ctrl-K: deletes the text after the cursor
	keyKillWord  // Ctrl-W: deletes the word before the cursor
	keyInterrupt // Ctrl-C
	keyEOF       // Ctrl-D
	keyOther     // any other key
	keyNone      // no key, such as a reply of the terminal
)

// controls maps the control characters to keys.
var controls = map[byte]keyName{
	1: keyStart, 2: keyLeft, 3: keyInterrupt, 4: keyEOF, 5: keyFinish, 6: keyRight, 8: keyBackspace,
	'\t': keyTab, '\n': keyEnter, 11: keyKillRest, '\r': keyEnter, 14: keyDown, 16: keyUp, 21: keyKill,
	23: keyKillWord, 127: keyBackspace,
}

// sequences maps what follows ESC [ or ESC O to keys: the final letter, or a number and
// a tilde (XTerm Control Sequences, PC-Style Function Keys; they include those of the
// Linux console).
var sequences = map[string]keyName{
	"A": keyUp, "B": keyDown, "C": keyRight, "D": keyLeft, "F": keyEnd, "H": keyHome, "Z": keyBackTab,
	"1~": keyHome, "3~": keyDelete, "4~": keyEnd, "5~": keyPageUp, "6~": keyPageDown, "7~": keyHome,
	"8~": keyEnd, "200~": keyPasteBegin,
}

const (
	escape = 27
	bell   = 7
	// The characters after ESC that start a control string (DCS, SOS, OSC, PM, APC of ECMA-48). With
	// such a string, a terminal answers a query, perhaps of another program that has ended.
	stringStarts = "PX]^_"
	maxString    = 1 << 10                // bytes; the rest is dropped
	keyPause     = 100 * time.Millisecond // after it, a key is complete: its bytes arrive together
	pastePause   = time.Second            // after it, a paste counts as cut
	// maxPaste is the size from which a paste is truncated, in bytes.
	maxPaste = 1 << 16
	pasteEnd = "\x1b[201~"
)

// A decoder turns bytes into keys. The zero value is ready to use.
type decoder struct {
	held    []byte // an incomplete key, or the paste so far
	pasting bool
}

// timeout returns how long to wait for more bytes before Flush.
func (d *decoder) timeout() time.Duration {
	if d.pasting {
		return pastePause
	}
	return keyPause
}

// takePasted takes one byte of a paste.
func (d *decoder) takePasted(b byte) []key {
	d.held = append(d.held, b)
	if text, ended := bytes.CutSuffix(d.held, []byte(pasteEnd)); ended {
		d.held = text
		keys := d.Flush()
		if len(text) < maxPaste {
			keys[0].Name = keyPaste
		}
		return keys
	}
	if len(d.held) > maxPaste+len(pasteEnd) { // keep the end, which may be that of pasteEnd
		d.held = slices.Delete(d.held, maxPaste, maxPaste+1)
	}
	return nil
}

// Take takes one byte and returns the keys that it completes.
func (d *decoder) Take(b byte) []key {
	if d.pasting && controls[b] != keyInterrupt {
		return d.takePasted(b)
	}
	isHolding := len(d.held) > 0
	inSequence := isHolding && d.held[0] == escape
	// A byte that can belong neither to a sequence nor to a letter of several bytes.
	isForeign := b < ' ' || inSequence && b == 127 || isHolding && !inSequence && b < utf8.RuneSelf
	switch {
	case d.inString() && b == bell: // its end
		return d.Flush()
	case d.pasting, isHolding && isForeign:
		// The held bytes are not a complete key, or Ctrl-C ends a paste that may never end. This
		// byte begins a new key.
		return append(d.Flush(), d.Take(b)...)
	case len(d.held) == maxString:
		return nil
	case len(d.held) > 0 || b == escape || b >= utf8.RuneSelf:
		d.held = append(d.held, b)
		k, ok := keyOf(d.held)
		if !ok {
			return nil
		}
		d.held, d.pasting = nil, k.Name == keyPasteBegin
		if d.pasting {
			return nil
		}
		return []key{k}
	case b >= ' ' && b != 127:
		return []key{{keyText, string(rune(b))}}
	}
	return []key{{cmp.Or(controls[b], keyOther), string(rune(b))}}
}

// inString reports whether the held bytes are of a control string. It ends with BEL, or at
// the next control character, such as the ESC of ESC \.
func (d *decoder) inString() bool {
	return len(d.held) > 2 && d.held[0] == escape && strings.IndexByte(stringStarts, d.held[1]) >= 0
}

// keyOf returns the key of a character or of a sequence. ok is false if that is
// incomplete.
func keyOf(held []byte) (k key, ok bool) {
	last := held[len(held)-1]
	switch {
	case held[0] != escape:
		return key{keyText, string(held)}, utf8.FullRune(held)
	case len(held) == 1:
		return key{}, false
	case strings.IndexByte(stringStarts, held[1]) >= 0: // see inString
		return key{}, false
	case held[1] == '\\': // the end of a control string
		return key{Name: keyNone}, true
	case held[1] != '[' && held[1] != 'O': // Alt and a character
		return key{Name: keyOther}, utf8.FullRune(held[1:])
	case len(held) == 2 || string(held) == "\x1b[[":
		return key{}, false
	case held[2] == '[': // F1 to F5 of the Linux console
		return key{Name: keyOther}, true
	case last < '@' || last > '~':
		return key{Name: keyOther}, len(held) > 32
	case held[2] >= '<' && held[2] <= '?': // also a reply of the terminal
		return key{Name: keyNone}, true
	case held[1] == 'O' && last == 'M': // of the keypad
		return key{Name: keyEnter}, true
	}
	final := string(rune(last))
	if last == '~' {
		number, _, _ := strings.Cut(string(held[2:len(held)-1]), ";")
		final = number + "~"
	}
	return key{Name: cmp.Or(sequences[final], keyOther)}, true
}

// Flush returns the held bytes as a key.
func (d *decoder) Flush() []key {
	held, pasting, reply := string(d.held), d.pasting, d.inString()
	d.held, d.pasting = nil, false
	switch {
	case pasting:
		return []key{{keyCut, held}}
	case held == "":
		return nil
	case reply:
		return []key{{Name: keyNone}}
	case held == "\x1b":
		return []key{{Name: keyEscape}}
	case held[0] == escape:
		return []key{{Name: keyOther}}
	}
	return []key{{keyText, held}} // not UTF-8
}

// An editor is a line of text being typed.
type editor struct {
	typed []rune
	at    int // position of the cursor, in runes
}

// maxEdited is the maximum length of the text, in runes.
const maxEdited = 4096

// press applies a key, if it is an editing key.
func (e *editor) press(k key) {
	switch k.Name {
	case keyText, keyPaste, keyCut:
		e.insert(k.Text)
	case keyBackspace:
		e.delete(e.next(-1), e.at)
	case keyDelete, keyEOF:
		e.delete(e.at, e.next(1))
	case keyLeft:
		e.at = e.next(-1)
	case keyRight:
		e.at = e.next(1)
	case keyHome, keyStart:
		e.at = 0
	case keyEnd, keyFinish:
		e.at = len(e.typed)
	case keyKill:
		e.delete(0, e.at)
	case keyKillRest:
		e.delete(e.at, len(e.typed))
	case keyKillWord:
		before := strings.TrimRight(string(e.typed[:e.at]), " ")
		before = before[:strings.LastIndexByte(before, ' ')+1]
		e.delete(utf8.RuneCountInString(before), e.at)
	}
}

// insert inserts text at the cursor. Line ends inside it become spaces; line ends at
// its end and unprintable characters are dropped.
func (e *editor) insert(text string) {
	for _, r := range strings.TrimRight(text, "\r\n") {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) || len(e.typed) >= maxEdited {
			continue
		}
		e.typed = slices.Insert(e.typed, e.at, r)
		e.at++
	}
}

func (e *editor) delete(from, to int) {
	e.typed = slices.Delete(e.typed, from, to)
	e.at = from
}

// next returns the position of the cursor after a step to the left (-1) or to the right (1). It is never
// between a letter and its combining marks.
func (e *editor) next(step int) int {
	at := e.at + step
	for at > 0 && at < len(e.typed) && runeWidth(e.typed[at]) == 0 {
		at += step
	}
	return max(0, min(at, len(e.typed)))
}

// window returns the part of the text around the cursor that fits into width columns,
// and the column of the cursor in it.
func (e *editor) window(width int) (string, int) {
	from, column := e.at, 0
	for from > 0 && column+runeWidth(e.typed[from-1]) < width {
		from--
		column += runeWidth(e.typed[from])
	}
	for from < e.at && runeWidth(e.typed[from]) == 0 {
		from++ // skip a mark whose letter is not shown
	}
	return Cut(string(e.typed[from:]), width), column
}
