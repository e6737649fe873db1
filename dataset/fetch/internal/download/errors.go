package download

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
)

// Error says why a file could not be downloaded, and what is there of it.
type Error struct {
	URL      string // without a password
	Want     string // what was expected of the server
	Got      string // what it did
	Err      error  // the cause, if another error is
	Attempts int    // that failed in a row
	Part     string // file that holds what was downloaded; empty where nothing can be gone on from
	Done     int64  // bytes in it

	final bool // another attempt would fail as well
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.URL)
	b.WriteString(": ")
	b.WriteString(e.reason())
	if e.Attempts > 1 {
		fmt.Fprintf(&b, ", after %d attempts", e.Attempts)
	}
	if e.Part != "" {
		fmt.Fprintf(&b, "; %s are kept in %s, and the same command goes on from there", format.Bytes(e.Done), e.Part)
	}
	return b.String()
}

// reason is what went wrong, without where.
func (e *Error) reason() string {
	var parts []string
	if e.Want != "" {
		parts = append(parts, fmt.Sprintf("expected %s, found %s", e.Want, e.Got))
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

func (e *Error) Unwrap() error { return e.Err }

// errStalled ends an attempt in which nothing comes any more.
var errStalled = errors.New("the server has stalled")
