// Package invalid describes bad input: a flag, a file, a configuration key or an argument that the program
// cannot use. Error says where the input came from, what was expected, what was found and what to do about
// it; List collects the errors of one file; OneOf parses a name and suggests the nearest valid ones.
//
// Failures that are not caused by input, such as a full disk, are not its subject.
package invalid

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/lago-train/lago-train/internal/format"
)

// Error is one problem of the input.
type Error struct {
	Where string // the flag as typed (--lr), the file, or the argument
	Field string // the key, variable or line within Where
	Want  string // what was expected
	Got   string // what was found
	Hint  string // what to do, one or more full sentences
	Err   error  // the cause, if another error is

	// Usage is set where the command line is wrong (exit code 2), not what it names: a file,
	// a data set or a model (exit code 1).
	Usage bool
}

// Expected returns the error of a field that is not as wanted: want is a format of args.
func Expected(field string, got any, want string, args ...any) *Error {
	return &Error{Field: field, Want: fmt.Sprintf(want, args...), Got: fmt.Sprint(got)}
}

// Error returns "WHERE: FIELD: expected WANT, found GOT: CAUSE. HINT", without the parts that are empty. A
// place or value that a terminal would obey, or that is longer than any name or list, is quoted.
func (e *Error) Error() string {
	var values []string
	if e.Want != "" {
		values = append(values, "expected "+e.Want)
	}
	if e.Got != "" {
		values = append(values, "found "+shown(e.Got))
	}
	parts := []string{shown(e.Where), shown(e.Field), strings.Join(values, ", ")}
	if cause := e.Cause(); cause != "" {
		parts = append(parts, cause)
	}
	s := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": ")
	if e.Hint != "" {
		s = strings.TrimSuffix(s, ".") + ". " + e.Hint
	}
	return s
}

// maxShown is longer than any name, path or list of values that a message needs.
const maxShown = 1000

func shown(part string) string {
	if HasControl(part) || len(part) > maxShown {
		return Quote(part)
	}
	return part
}

func (e *Error) Unwrap() error { return e.Err }

// Cause is the text of the cause, "" for none and for an error of the system that Got has in words.
func (e *Error) Cause() string {
	if e.Err == nil || e.Got != "" && errors.As(e.Err, new(syscall.Errno)) {
		return ""
	}
	return e.Err.Error()
}

// At returns err with where added as the place of the problem: in front of the place
// that err names itself, if any. It returns nil for nil.
func At(where string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := err.(*Error)
	if !ok {
		return &Error{Where: where, Err: err}
	}
	c := *e
	c.Where = where
	if e.Where != "" {
		c.Where += ": " + e.Where
	}
	return &c
}

// File returns the error of reading or writing a file. The path is named once, even where the system's error
// repeats it.
func File(path string, err error) error { return ofSystem(path, "a file", err) }

// Folder returns the error of reading or making a folder of a kind, such as "a folder of runs".
func Folder(path, kind string, err error) error { return ofSystem(path, kind, err) }

// ofSystem says what an error of the system means, and keeps it as the cause.
func ofSystem(path, want string, err error) error {
	if err == nil {
		return nil
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		err = system.Err
	} else if system := (*os.LinkError)(nil); errors.As(err, &system) {
		err = system.Err
	}
	to, notLink := os.Readlink(path)
	there, missing := path, path // the first on the way up that is there, and the one below it
	for _, gone := os.Stat(there); gone != nil && there != filepath.Dir(there); _, gone = os.Stat(there) {
		there, missing = filepath.Dir(there), there
	}
	e, noun := &Error{Where: path, Want: want, Err: err}, "file or folder"
	for _, one := range []string{"file", "folder"} {
		if strings.HasPrefix(want, "a "+one) {
			noun = one
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && notLink == nil:
		e.Got, e.Err = "a link to "+to+", which is not there", nil // no file that may be left out
	case errors.Is(err, fs.ErrNotExist) && missing != path:
		e.Got = "no folder " + missing
	case errors.Is(err, fs.ErrNotExist):
		e.Got = "no such " + noun
	case errors.Is(err, fs.ErrExist):
		e.Want, e.Got = "a new "+noun, "one that is there"
	case errors.Is(err, syscall.EISDIR):
		e.Got = "a folder"
	case errors.Is(err, syscall.ENOTDIR) && there != path:
		e.Got = "a file in place of the folder " + there
	case errors.Is(err, syscall.ENOTDIR):
		e.Got = "a file"
	case errors.Is(err, fs.ErrPermission):
		e.Want, e.Got = "permission to read or write it", "none"
	default:
		e.Want = ""
	}
	return e
}

// MaxOfKind is the number of errors of one kind that a List reports one by one. The rest are counted.
const MaxOfKind = 5

// List collects the errors of one or more files, so that all problems are reported at once and one cause with
// thousands of symptoms does not hide another. The zero value is empty and ready to use.
type List struct {
	errs   []error
	counts map[kind]int
	rests  map[kind]*Error // in errs; counts the errors after the first MaxOfKind
}

type kind struct{ name, where string }

// Add adds an error of a kind: a word that is the same for errors with one cause. Of
// one kind in one file the first MaxOfKind errors are kept, the others counted.
func (l *List) Add(name string, e *Error) {
	if l.counts == nil {
		l.counts, l.rests = map[kind]int{}, map[kind]*Error{}
	}
	key := kind{name, e.Where}
	l.counts[key]++
	more := l.counts[key] - MaxOfKind
	if more == 1 {
		l.rests[key] = &Error{Where: e.Where}
		l.errs = append(l.errs, l.rests[key])
	}
	if more < 1 {
		l.errs = append(l.errs, e)
		return
	}
	l.rests[key].Want = e.Want
	l.rests[key].Got = fmt.Sprintf("%d more, the last at %s", more, e.Field)
}

// Full reports whether a further error of a kind and file would only be counted.
func (l *List) Full(name, where string) bool { return l.counts[kind{name, where}] >= MaxOfKind }

// AddError adds an error that belongs to no kind; nil adds nothing.
func (l *List) AddError(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// Len returns the number of errors that Err joins.
func (l *List) Len() int { return len(l.errs) }

// Err joins the errors; it is nil if there are none.
func (l *List) Err() error { return errors.Join(l.errs...) }

// OneOf returns the option that text names. Upper and lower case are the same. The
// error is an *Error that lists the options and suggests the nearest ones.
func OneOf[T ~string](text string, options ...T) (T, error) {
	if i := slices.IndexFunc(options, func(o T) bool { return strings.EqualFold(text, string(o)) }); i >= 0 {
		return options[i], nil
	}
	names := format.Strings(options)
	return "", &Error{
		Want: "one of " + strings.Join(names, ", "), Got: Quote(text), Hint: DidYouMean(text, names),
	}
}

// maxNamed bounds the names that are compared, so that a file of thousands of unknown
// names is reported within a second.
const maxNamed = 2000

// DidYouMean returns a question that suggests up to three of the names that differ from text by a few letters
// at most, or that begin with it, nearest first. It is "" where none is near, and for a number.
func DidYouMean(text string, names []string) string {
	const most = 3
	near, distances := []string{}, map[string]int{}
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return ""
	}
	// flags without dashes
	plain := func(name string) string { return strings.ToLower(strings.TrimLeft(name, "-")) }
	text = plain(text)
	for _, name := range names[:min(len(names), maxNamed)] {
		lower := plain(name)
		d := distance(text, lower)
		if len(text) > 1 && strings.HasPrefix(lower, text) {
			d = min(d, 1)
		}
		if shorter := min(len(text), len(lower)); d <= min(1+shorter/4, (shorter+1)/3) {
			near = append(near, name)
			distances[name] = d
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return distances[a] - distances[b] })
	if len(near) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(near[:min(len(near), most)], " or ") + "?"
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to turn a into b
// (optimal string alignment). Names longer than 100 bytes count as far apart.
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

// HasControl reports whether a name has characters that a terminal would obey instead of show, or
// that files of text do not keep: control characters, marks that change the direction of writing,
// separators of lines, byte order marks, and bytes that are not UTF-8.
func HasControl(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return r == '\ufeff' || unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}
