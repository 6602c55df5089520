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

// Input without a terminal: a Decoder turns bytes into keys, an Editor applies keys
// to a line of text.

// Keys.

// A Key is a pressed key or a pasted text.
type Key struct {
	Name KeyName
	Text string // for KeyText and KeyPaste; for keys of one byte, that byte
}

// A KeyName identifies a key.
type KeyName int

const (
	KeyText KeyName = iota
	KeyPaste
	keyPasteBegin
	KeyEnter
	KeyTab
	keyBackTab // Shift-Tab
	KeyEscape
	KeyUp
	KeyDown
	keyLeft
	keyRight
	KeyHome
	KeyEnd
	KeyPageUp
	KeyPageDown
	KeyBackspace
	keyDelete
	keyStart     // Ctrl-A
	keyFinish    // Ctrl-E
	keyKill      // Ctrl-U: deletes the text before the cursor
	keyKillRest  // Ctrl-K: deletes the text after the cursor
	keyKillWord  // Ctrl-W: deletes the word before the cursor
	KeyInterrupt // Ctrl-C
	KeyEOF       // Ctrl-D
	keyOther     // any other key
	KeyNone      // no key: redraw the screen
)

// controls maps the control characters to keys.
var controls = map[byte]KeyName{
	1: keyStart, 2: keyLeft, 3: KeyInterrupt, 4: KeyEOF, 5: keyFinish, 6: keyRight, 8: KeyBackspace, '\t': KeyTab, '\n': KeyEnter,
	11: keyKillRest, '\r': KeyEnter, 14: KeyDown, 16: KeyUp, 21: keyKill, 23: keyKillWord, 127: KeyBackspace,
}

// sequences maps what follows ESC [ or ESC O to keys: the final letter, or a number and
// a tilde (XTerm Control Sequences, PC-Style Function Keys; they include those of the
// Linux console).
var sequences = map[string]KeyName{
	"A": KeyUp, "B": KeyDown, "C": keyRight, "D": keyLeft, "F": KeyEnd, "H": KeyHome, "Z": keyBackTab,
	"1~": KeyHome, "3~": keyDelete, "4~": KeyEnd, "5~": KeyPageUp, "6~": KeyPageDown, "7~": KeyHome, "8~": KeyEnd, "200~": keyPasteBegin,
}

const (
	escape = 27
	// The bytes of a key arrive together; after this pause the key is complete.
	keyPause   = 100 * time.Millisecond
	pastePause = time.Second
	// maxPaste is the maximum size of a paste, in bytes; the rest is dropped.
	maxPaste = 1 << 16
	pasteEnd = "\x1b[201~"
)

// A Decoder turns bytes into keys. The zero value is ready to use.
type Decoder struct {
	held    []byte // an incomplete key, or the paste so far
	pasting bool
}

// patience returns how long to wait for more bytes before Flush, or 0 if no bytes are
// held.
func (d *Decoder) patience() time.Duration {
	switch {
	case d.pasting:
		return pastePause
	case len(d.held) > 0:
		return keyPause
	}
	return 0
}

// Take takes one byte and returns the keys that it completes.
func (d *Decoder) Take(b byte) []Key {
	if d.pasting && controls[b] == KeyInterrupt {
		return append(d.Flush(), Key{KeyInterrupt, ""}) // a way out of a paste that never ends
	}
	if d.pasting {
		d.held = append(d.held, b)
		if text, ok := bytes.CutSuffix(d.held, []byte(pasteEnd)); ok {
			d.held = text
			return d.Flush()
		}
		if len(d.held) > maxPaste+len(pasteEnd) {
			d.held = slices.Delete(d.held, maxPaste, maxPaste+1)
		}
		return nil
	}
	switch {
	case len(d.held) > 0 && (b < ' ' || b == 127 && d.held[0] == escape || d.held[0] != escape && b < utf8.RuneSelf):
		// The held bytes never became a key. This byte starts anew.
		return append(d.Flush(), d.Take(b)...)
	case len(d.held) > 0 || b == escape || b >= utf8.RuneSelf:
		d.held = append(d.held, b)
		return d.complete()
	case b >= ' ' && b != 127:
		return []Key{{KeyText, string(rune(b))}}
	}
	return []Key{{cmp.Or(controls[b], keyOther), string(rune(b))}}
}

// complete returns the held key if it is complete.
func (d *Decoder) complete() []Key {
	k, ok := keyOf(d.held)
	switch {
	case !ok:
		return nil
	case k.Name == keyPasteBegin:
		d.held, d.pasting = nil, true
		return nil
	}
	d.held = nil
	return []Key{k}
}

// keyOf returns the key of a character or of a sequence. ok is false if that is
// incomplete.
func keyOf(held []byte) (k Key, ok bool) {
	last := held[len(held)-1]
	switch {
	case held[0] != escape:
		return Key{KeyText, string(held)}, utf8.FullRune(held)
	case len(held) == 1:
		return Key{}, false
	case held[1] != '[' && held[1] != 'O': // Alt and a character
		return Key{Name: keyOther}, utf8.FullRune(held[1:])
	case len(held) == 2 || string(held) == "\x1b[[":
		return Key{}, false
	case held[2] == '[': // F1 to F5 of the Linux console
		return Key{Name: keyOther}, true
	case last < '@' || last > '~':
		return Key{Name: keyOther}, len(held) > 32
	case held[1] == 'O' && last == 'M': // of the keypad
		return Key{Name: KeyEnter}, true
	}
	final := string(rune(last))
	if last == '~' {
		number, _, _ := strings.Cut(string(held[2:len(held)-1]), ";")
		final = number + "~"
	}
	return Key{Name: cmp.Or(sequences[final], keyOther)}, true
}

// Flush returns the held bytes as a key.
func (d *Decoder) Flush() []Key {
	held, pasting := string(d.held), d.pasting
	d.held, d.pasting = nil, false
	switch {
	case pasting:
		return []Key{{KeyPaste, held}}
	case held == "":
		return nil
	case held == "\x1b":
		return []Key{{Name: KeyEscape}}
	case held[0] == escape:
		return []Key{{Name: keyOther}}
	}
	return []Key{{KeyText, held}} // not UTF-8
}

// An Editor is a line of text being typed.
type Editor struct {
	Typed []rune
	at    int // position of the cursor, in runes
}

// maxEdited is the maximum length of the text, in runes.
const maxEdited = 4096

// Press applies a key and reports whether it is an editing key.
func (e *Editor) Press(k Key) bool {
	switch k.Name {
	case KeyText, KeyPaste:
		e.Insert(k.Text)
	case KeyBackspace:
		e.delete(e.before(), e.at)
	case keyDelete, KeyEOF:
		e.delete(e.at, e.after())
	case keyLeft:
		e.at = e.before()
	case keyRight:
		e.at = e.after()
	case KeyHome, keyStart:
		e.at = 0
	case KeyEnd, keyFinish:
		e.at = len(e.Typed)
	case keyKill:
		e.delete(0, e.at)
	case keyKillRest:
		e.delete(e.at, len(e.Typed))
	case keyKillWord:
		from := e.at
		for from > 0 && unicode.IsSpace(e.Typed[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(e.Typed[from-1]) {
			from--
		}
		e.delete(from, e.at)
	default:
		return false
	}
	return true
}

// Insert inserts text at the cursor. Line ends inside it become spaces; line ends at
// its end and unprintable characters are dropped.
func (e *Editor) Insert(text string) {
	for _, r := range strings.TrimRight(text, "\r\n") {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) || len(e.Typed) >= maxEdited {
			continue
		}
		e.Typed = slices.Insert(e.Typed, e.at, r)
		e.at++
	}
}

func (e *Editor) delete(from, to int) {
	e.Typed = slices.Delete(e.Typed, from, to)
	e.at = from
}

// before and after return the positions next to the cursor, which never stands
// between a letter and its combining marks.
func (e *Editor) before() int {
	at := max(0, e.at-1)
	for at > 0 && runeWidth(e.Typed[at]) == 0 {
		at--
	}
	return at
}

func (e *Editor) after() int {
	at := min(len(e.Typed), e.at+1)
	for at < len(e.Typed) && runeWidth(e.Typed[at]) == 0 {
		at++
	}
	return at
}

// window returns the part of the text around the cursor that fits into width columns,
// and the column of the cursor in it.
func (e *Editor) window(width int) (string, int) {
	from, column := e.at, 0
	for from > 0 && column+runeWidth(e.Typed[from-1]) < width {
		from--
		column += runeWidth(e.Typed[from])
	}
	for from < e.at && runeWidth(e.Typed[from]) == 0 {
		from++ // a mark whose letter is not shown
	}
	return Cut(string(e.Typed[from:]), width), column
}
