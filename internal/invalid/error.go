package invalid

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
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

// Error returns "WHERE: FIELD: expected WANT, found GOT: CAUSE. HINT", without the
// parts that are empty.
func (e *Error) Error() string {
	var values []string
	if e.Want != "" {
		values = append(values, "expected "+e.Want)
	}
	if e.Got != "" {
		values = append(values, "found "+e.Got)
	}
	parts := []string{e.Where, e.Field, strings.Join(values, ", ")}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	s := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": ")
	if e.Hint != "" {
		s = strings.TrimSuffix(s, ".") + ". " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

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

// File returns the error of reading or writing a file. The path is named once, even
// where the system's error repeats it.
func File(path string, err error) error {
	if err == nil {
		return nil
	}
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		err = system.Err
	} else if system := (*os.LinkError)(nil); errors.As(err, &system) {
		err = system.Err
	}
	return &Error{Where: path, Err: err}
}
