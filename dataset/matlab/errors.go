package matlab

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnsupported is the cause of an error about a variable that is well-formed as
// far as it was read, but of a kind that this package does not decode.
var ErrUnsupported = errors.New("this kind of variable is not supported")

// Error says what is wrong with the contents of a MAT-file, and where.
type Error struct {
	File     string
	Variable string // empty where the name is not known or none is to blame
	Offset   int64  // bytes from the start of the file; in compressed data, where those begin
	Inflated int64  // bytes from the start of the inflated data; 0 for data that are not compressed
	Want     string // what was expected
	Got      string // what was found
	Err      error  // the cause, if another error is
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Variable != "" {
		fmt.Fprintf(&b, ": variable %s", e.Variable)
	}
	if e.Offset > 0 {
		fmt.Fprintf(&b, ": at byte %d", e.Offset)
	}
	if e.Inflated > 0 {
		fmt.Fprintf(&b, " (inflated byte %d)", e.Inflated)
	}
	if e.Want != "" {
		fmt.Fprintf(&b, ": expected %s", e.Want)
	}
	if e.Got != "" {
		fmt.Fprintf(&b, ", found %s", e.Got)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }
