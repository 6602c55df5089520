package tty

import (
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

// finals maps the letter after ESC [ or ESC O to keys, numbered the number between
// ESC [ and a tilde (XTerm Control Sequences, PC-Style Function Keys; they include
// those of the Linux console).
var (
	finals   = map[byte]KeyName{'A': KeyUp, 'B': KeyDown, 'C': keyRight, 'D': keyLeft, 'F': KeyEnd, 'H': KeyHome, 'Z': keyBackTab}
	numbered = map[string]KeyName{"1": KeyHome, "3": keyDelete, "4": KeyEnd, "5": KeyPageUp, "6": KeyPageDown, "7": KeyHome, "8": KeyEnd}
)

const (
	escape = 27
	// The bytes of a key arrive together; after this pause the key is complete.
	keyPause   = 100 * time.Millisecond
	pastePause = time.Second
	// maxPaste is the maximum size of a paste, in bytes; the rest is dropped.
	maxPaste   = 1 << 16
	pasteBegin = "200"
	pasteEnd   = "\x1b[201~"
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
		if text, ok := strings.CutSuffix(string(d.held[max(0, len(d.held)-len(pasteEnd)):]), pasteEnd); ok && text == "" {
			d.held = d.held[:len(d.held)-len(pasteEnd)]
			return d.Flush()
		}
		if len(d.held) > maxPaste+len(pasteEnd) {
			d.held = slices.Delete(d.held, maxPaste, maxPaste+1)
		}
		return nil
	}
	if len(d.held) == 0 {
		switch {
		case b == escape || b >= utf8.RuneSelf:
			d.held = append(d.held, b)
			return d.complete()
		case b >= ' ' && b != 127:
			return []Key{{KeyText, string(rune(b))}}
		}
		name, ok := controls[b]
		if !ok {
			name = keyOther
		}
		return []Key{{name, string(rune(b))}}
	}
	sequence := d.held[0] == escape
	if b < ' ' || b == 127 && sequence || !sequence && b < utf8.RuneSelf {
		// The held bytes never became a key. This byte starts anew.
		return append(d.Flush(), d.Take(b)...)
	}
	d.held = append(d.held, b)
	return d.complete()
}

// complete returns the held key if it is complete.
func (d *Decoder) complete() []Key {
	done := func(k Key) []Key {
		d.held = nil
		return []Key{k}
	}
	h := d.held
	if h[0] != escape {
		if !utf8.FullRune(h) {
			return nil
		}
		return done(Key{KeyText, string(h)})
	}
	if len(h) == 1 {
		return nil
	}
	last := h[len(h)-1]
	switch {
	case h[1] != '[' && h[1] != 'O':
		if len(h) == 2 && last < utf8.RuneSelf {
			return done(Key{Name: keyOther}) // Alt and a letter
		}
		if utf8.FullRune(h[1:]) {
			return done(Key{Name: keyOther})
		}
		return nil
	case len(h) == 2:
		return nil
	case h[1] == '[' && h[2] == '[': // F1 to F5 of the Linux console
		if len(h) == 3 {
			return nil
		}
		return done(Key{Name: keyOther})
	case last < '@' || last > '~':
		if len(h) > 32 {
			return done(Key{Name: keyOther})
		}
		return nil
	}
	parameter, _, _ := strings.Cut(string(h[2:len(h)-1]), ";")
	if last == '~' && parameter == pasteBegin {
		d.held, d.pasting = nil, true
		return nil
	}
	name, ok := finals[last]
	if last == '~' {
		name, ok = numbered[parameter]
	}
	if last == 'M' && h[1] == 'O' {
		name, ok = KeyEnter, true // of the keypad
	}
	if !ok {
		name = keyOther
	}
	return done(Key{Name: name})
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
