package checkup

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Problem is one thing that is wrong. Its JSON keys are stable.
type Problem struct {
	File     string `json:"file"`     // path, or the name of the data set where no one file is to blame
	Field    string `json:"field"`    // the line, column or variable; empty for a file as a whole
	Expected string `json:"expected"` // empty where the error of another says it all
	Found    string `json:"found"`
}

func (p Problem) String() string {
	return (&invalid.Error{Where: p.File, Field: p.Field, Want: p.Expected, Got: p.Found}).Error()
}

// Problems lists the errors that err joins, in their order.
func Problems(err error) []Problem {
	switch err := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var all []Problem
		for _, e := range err.Unwrap() {
			all = append(all, Problems(e)...)
		}
		return all
	case *invalid.Error:
		return []Problem{{err.Where, err.Field, err.Want, found(err.Got, err.Err)}}
	case *matlab.Error:
		field := err.Variable
		if field == "" && err.Offset > 0 {
			field = fmt.Sprintf("byte %d", err.Offset)
		}
		return []Problem{{err.File, field, err.Want, found(err.Got, err.Err)}}
	}
	return []Problem{{Found: err.Error()}}
}

func found(got string, cause error) string {
	switch {
	case cause == nil:
		return got
	case got == "":
		return cause.Error()
	}
	return got + ": " + cause.Error()
}
