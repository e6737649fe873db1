package table

import (
	"io"
	"os"
	"regexp"

	"golang.org/x/term"
)

// Colours reports whether a writer is a terminal that shows colours.
func Colours(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The escape sequences of a terminal. The colours are those of its theme.
const (
	Warning = "\x1b[33m"
	Failure = "\x1b[31m"
	Bold    = "\x1b[1m"
	Plain   = "\x1b[0m"
	higher  = "\x1b[34m"
)

var inColour = []struct {
	part *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`(?m)^(warning:|doubtful:)`), Warning + "$1" + Plain},
	{regexp.MustCompile(`(?m)^((?:next|then): [^#\n]*[^# \n])`), Bold + "$1" + Plain},
	{regexp.MustCompile(`(█+)│`), Warning + "$1" + Plain + "│"},
	{regexp.MustCompile(`│(█+)`), "│" + higher + "$1" + Plain},
}

// coloured marks warnings, the next command, and bars by their direction.
func coloured(text string) string {
	for _, c := range inColour {
		text = c.part.ReplaceAllString(text, c.as)
	}
	return text
}
