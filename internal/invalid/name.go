package invalid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// OneOf returns the option that text names. Upper and lower case are the same. The
// error is an *Error that lists the options and suggests the nearest ones.
func OneOf[T ~string](text string, options ...T) (T, error) {
	names := make([]string, len(options))
	for i, o := range options {
		if strings.EqualFold(text, string(o)) {
			return o, nil
		}
		names[i] = string(o)
	}
	var none T
	return none, &Error{
		Want: "one of " + strings.Join(names, ", "),
		Got:  fmt.Sprintf("%q", text),
		Hint: DidYouMean(text, names),
	}
}

// SetOneOf sets to the option that text names, as OneOf does. It is the body of the
// UnmarshalText of a set of names.
func SetOneOf[T ~string](to *T, text []byte, options ...T) (err error) {
	*to, err = OneOf(string(text), options...)
	return err
}

// DidYouMean returns a question that suggests the names nearest to text, or "" where
// none is near.
func DidYouMean(text string, names []string) string {
	near := Nearest(text, names)
	if len(near) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(near, " or ") + "?"
}

// maxNamed bounds the names that are compared, so that a file of thousands of unknown
// names is reported within a second.
const maxNamed = 2000

// Nearest returns up to three of the names that differ from text by a few letters at
// most, or that begin with it, nearest first.
func Nearest(text string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	const most = 3
	text = strings.ToLower(text)
	var near []candidate
	for _, name := range names[:min(len(names), maxNamed)] {
		lower := strings.ToLower(name)
		d := distance(text, lower)
		if len(text) > 1 && strings.HasPrefix(lower, text) {
			d = min(d, 1)
		}
		if d <= 1+min(len(text), len(name))/4 {
			near = append(near, candidate{name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	found := make([]string, 0, most)
	for _, c := range near[:min(len(near), most)] {
		found = append(found, c.name)
	}
	return found
}

// distance is the number of letters to insert, delete, replace or swap with their
// neighbour to turn a into b (optimal string alignment). Names longer than 100 bytes
// count as far apart.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return len(a) + len(b)
	}
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range t {
		rows[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			replace := rows[i][j]
			if s[i] != t[j] {
				replace++
			}
			d := min(rows[i][j+1]+1, rows[i+1][j]+1, replace)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(s)][len(t)]
}

// Quote returns text in quotes, with control characters escaped and a long text cut
// short, to be shown in an error.
func Quote(text string) string {
	const most = 60
	if runes := []rune(text[:min(len(text), 4*most+4)]); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}

// HasControl reports whether a name has characters that a terminal would obey instead
// of show: control characters and marks that change the direction of writing.
func HasControl(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}
