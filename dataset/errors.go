package dataset

import "fmt"

// Error says what is wrong with a data set in a way that a person can act on.
type Error struct {
	File  string // path of the file, or the name of the data set where no one file is to blame
	Field string // the variable, line or field
	Want  string // what was expected
	Got   string // what was found
	Err   error  // the cause, if another error is
}

func (e *Error) Error() string {
	s := e.File
	if e.Field != "" {
		s += ": " + e.Field
	}
	switch {
	case e.Want != "" && e.Got != "":
		s += fmt.Sprintf(": expected %s, found %s", e.Want, e.Got)
	case e.Want != "":
		s += ": expected " + e.Want
	case e.Got != "":
		s += ": found " + e.Got
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
