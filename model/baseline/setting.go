package baseline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Setting is one hyperparameter of a method. A method declares its settings with
// Positive, NonNegative, AtLeast, OneOf and Switch; checks, the search and the list of
// names derive from these declarations.
type Setting struct {
	Name   string // its JSON key
	Search []any  // the values to search; empty if the setting is not searched
	Unused bool   // its value makes no difference with the other settings as they are
	Fixed  bool   // it tells methods apart, so that none may change it
	err    error  // why its value is invalid
}

// If returns the setting, unused unless the condition holds.
func (s Setting) If(used bool) Setting {
	s.Unused = !used
	return s
}

// AsMethod returns the setting as one that tells methods apart.
func (s Setting) AsMethod() Setting {
	s.Fixed = true
	return s
}

// Check returns the *invalid.Error of the first setting with an invalid value.
func Check(h Hyperparameters) error {
	for _, s := range h.Settings() {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// Numbers outside of this range are invalid: their squares, products and inverses would
// leave the range of float32 or float64.
const (
	smallest = 1e-18
	largest  = 1e18
)

// Positive declares a number above 0.
func Positive(name string, value float64, search ...float64) Setting {
	return number(name, value, smallest, search)
}

// NonNegative declares a number that is 0 or above.
func NonNegative(name string, value float64, search ...float64) Setting {
	return number(name, value, 0, search)
}

func number(name string, value, least float64, search []float64) Setting {
	s := newSetting(name, search)
	if !(value >= least && value <= largest) {
		s.err = &invalid.Error{Field: name, Want: fmt.Sprintf("a number from %g to %g", least, largest), Got: fmt.Sprint(value)}
	}
	return s
}

// AtLeast declares an integer that is not below a minimum.
func AtLeast(name string, value, minimum int, search ...int) Setting {
	s := newSetting(name, search)
	if value < minimum {
		s.err = &invalid.Error{Field: name, Want: fmt.Sprintf("at least %d", minimum), Got: fmt.Sprint(value)}
	}
	return s
}

// OneOf declares a name out of several.
func OneOf[T ~string](name string, value T, options []T, search ...T) Setting {
	s := newSetting(name, search)
	if !slices.Contains(options, value) {
		names := make([]string, len(options))
		for i, o := range options {
			names[i] = string(o)
		}
		s.err = &invalid.Error{
			Field: name, Want: "one of " + strings.Join(names, ", "), Got: fmt.Sprintf("%q", string(value)),
			Hint: invalid.DidYouMean(string(value), names),
		}
	}
	return s
}

// Switch declares a setting that is true or false.
func Switch(name string, search ...bool) Setting { return newSetting(name, search) }

func newSetting[T any](name string, search []T) Setting {
	s := Setting{Name: name}
	for _, v := range search {
		s.Search = append(s.Search, v)
	}
	return s
}
