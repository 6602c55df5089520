package report

import (
	"runtime"
	"strings"
)

// ShellQuote quotes s, if necessary, for a command line that people copy: for a POSIX shell, or on
// Windows for PowerShell and cmd.
func ShellQuote(s string) string { return QuoteOn(runtime.GOOS, s) }

// QuoteOn is ShellQuote on the system goos.
func QuoteOn(goos, s string) string {
	safe := "_@%+=:,./-"
	if goos == "windows" {
		safe += `\`
	}
	isSpecial := func(r rune) bool {
		isDigit := r >= '0' && r <= '9'
		isLetter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return !isDigit && !isLetter && !strings.ContainsRune(safe, r)
	}
	switch {
	case s != "" && strings.IndexFunc(s, isSpecial) < 0:
		return s
	case goos == "windows":
		return `"` + s + `"` // paths on Windows contain no double quotes
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShellPath quotes a path, and keeps it from looking like an option.
func ShellPath(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	return ShellQuote(s)
}

// ShellWords returns arguments as they are typed, each with a space before it.
func ShellWords(args []string) string {
	var text strings.Builder
	for _, arg := range args {
		text.WriteString(" " + ShellQuote(arg))
	}
	return text.String()
}
