// Package setting describes the settings of a configuration. Each setting is written once,
// bound to the field that holds it: flags, config files, checks, defaults, the search and
// the documentation derive from it.
//
// A configuration lists its settings, bound to its own fields:
//
//	func (c *Config) Settings() setting.List {
//		return setting.List{
//			setting.Number("gamma", &c.Gamma, 1e3, setting.Positive).
//				Describe("`G` ridge of the features").Try(1, 10, 100),
//		}
//	}
package setting

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
)

// Scope says what a setting belongs to.
type Scope string

// The scopes, which are also the groups of the settings in the help.
const (
	Data     Scope = "data"
	Protocol Scope = "protocol"
	Method   Scope = "model"
	Training Scope = "training"
)

// Setting is one setting, bound to the field that holds its value.
type Setting struct {
	Key     string   // in config files; the flag has - for _
	Scope   Scope    // Method unless another is given
	Help    string   // begins with a placeholder of the value in backquotes, unless it is a choice
	Valid   string   // the valid values in words
	Options []string // the words of a choice, or of the steps of a list
	List    bool     // the value is a comma-separated list of Options
	Note    string   // on the default, in place of its value
	Default any      // with the other settings as they are
	Search  []any    // the values that a search tries, numbers in ascending order; nil if it leaves the setting alone

	// For says in words what the setting applies to, "" for every configuration. Unused is
	// set where it makes no difference with the other settings as they are.
	For    string
	Unused bool
	UpToAttributes bool // search values above the number of attributes are left out
	// Identity is set where the value tells two methods apart, so that none may change it.
	Identity bool

	value value
}

// value is the typed pointer of a setting.
type value interface {
	get() any
	set(any) bool // false if the type is wrong; numbers are of any type
	parse(text string) error
	check() bool
}

// Range is the valid values of a number.
type Range struct {
	Least, Most float64
	Above       bool // Least itself is not valid
	Text        string
}

// The ranges of most settings. Squares, products and inverses of the bounded ones stay
// within float32.
var (
	Positive        = Range{0, math.MaxFloat64, true, "a number above 0"}
	NotNegative     = Range{0, math.MaxFloat64, false, "a number, 0 or above"}
	BoundedPositive = Range{1e-18, 1e18, false, "a number from 1e-18 to 1e+18"}
	BoundedWeight   = Range{0, 1e18, false, "a number from 0 to 1e+18"}
)

// AtLeast is the whole numbers from a least one on.
func AtLeast(least int) Range {
	return Range{float64(least), math.MaxFloat64, false, fmt.Sprintf("a whole number, at least %d", least)}
}

// Between is the whole numbers from least to most.
func Between(least, most int) Range {
	return Range{float64(least), float64(most), false, fmt.Sprintf("a whole number from %d to %d", least, most)}
}

func (r Range) has(x float64) bool { return x >= r.Least && x <= r.Most && !(r.Above && x == r.Least) }

// Number binds a number.
func Number(key string, to *float64, standard float64, r Range) Setting {
	return Setting{Key: key, Scope: Method, Valid: r.Text, Default: standard, value: number[float64]{to, r}}
}

// Whole binds a whole number.
func Whole(key string, to *int, standard int, r Range) Setting {
	return Setting{Key: key, Scope: Method, Valid: r.Text, Default: standard, value: number[int]{to, r}}
}

// Seed binds a random seed.
func Seed(key string, to *uint64) Setting {
	r := Range{0, math.MaxFloat64, false, "a whole number from 0 to 2^64-1"}
	return Setting{Key: key, Scope: Protocol, Valid: r.Text, Default: uint64(0), value: number[uint64]{to, r}}
}

// Switch binds a setting that is true or false.
func Switch(key string, to *bool, standard bool) Setting {
	return Setting{Key: key, Scope: Method, Valid: "true or false", Default: standard, value: truth{to}}
}

// Text binds a name.
func Text(key string, to *string, standard string) Setting {
	return Setting{Key: key, Scope: Method, Valid: "a name", Default: standard, value: text{to}}
}

// Choice binds one of several words.
func Choice[T ~string](key string, to *T, standard T, options ...T) Setting {
	words := make([]string, len(options))
	for i, o := range options {
		words[i] = string(o)
	}
	return Setting{Key: key, Scope: Method, Valid: "one of " + strings.Join(words, ", "), Options: words, Default: standard, value: choice[T]{to, options}}
}

// Steps binds a list of steps that T reads from text, or one of the words beside. valid
// describes the texts.
func Steps[T ~string, P interface {
	*T
	encoding.TextUnmarshaler
}](key string, to P, standard T, valid string, words ...T) Setting {
	return Setting{Key: key, Scope: Method, Valid: valid, List: true, Default: standard, value: steps[T, P]{to, words}}
}

// Describe sets the help.
func (s Setting) Describe(help string) Setting {
	s.Help = help
	return s
}

// In sets the scope.
func (s Setting) In(scope Scope) Setting {
	s.Scope = scope
	return s
}

// If marks the setting as unused unless the condition, which is described in words, holds.
func (s Setting) If(used bool, of string) Setting {
	s.Unused, s.For = !used, of
	return s
}

// Noted replaces the default in the help.
func (s Setting) Noted(note string) Setting {
	s.Note = note
	return s
}

// WithOptions sets the words that the help and the completion offer.
func (s Setting) WithOptions(options ...string) Setting {
	s.Options = options
	return s
}

// AsIdentity marks a setting that tells methods apart.
func (s Setting) AsIdentity() Setting {
	s.Identity = true
	return s
}

// Try sets the values that a search tries, numbers in ascending order.
func (s Setting) Try(values ...any) Setting {
	s.Search = make([]any, len(values))
	for i, v := range values {
		s.Search[i] = v
		if n, isInt := v.(int); isInt {
			s.Search[i] = float64(n)
		}
	}
	return s
}

// All returns a list as the arguments of Try.
func All[T any](list ...T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

// Value returns the value: a float64, int, uint64, bool, string or a type of words.
func (s Setting) Value() any { return s.value.get() }

// Set sets the value. It panics if the type is wrong.
func (s Setting) Set(v any) {
	if !s.value.set(v) {
		panic(fmt.Sprintf("setting %s: a %T", s.Key, v))
	}
}

// Parse reads the value from text. The error is an *invalid.Error without a place.
func (s Setting) Parse(text string) error {
	err := s.value.parse(text)
	if _, described := err.(*invalid.Error); described {
		return err
	}
	if err != nil || !s.value.check() {
		return &invalid.Error{Want: s.Valid, Got: invalid.Quote(text)}
	}
	return nil
}

// Check returns an *invalid.Error that names the setting if its value is not valid.
func (s Setting) Check() error {
	if s.value.check() {
		return nil
	}
	e := &invalid.Error{Field: s.Key, Want: s.Valid, Got: fmt.Sprint(s.Value())}
	if s.Options != nil && !s.List {
		e.Hint = invalid.DidYouMean(e.Got, s.Options)
	}
	return e
}

// Kind names the JSON type of the value.
func (s Setting) Kind() string {
	switch s.value.get().(type) {
	case int, uint64, float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "string"
}

// IsDefault reports whether the setting has its default.
func (s Setting) IsDefault() bool { return s.Value() == s.Default }

type number[T float64 | int | uint64] struct {
	to *T
	Range
}

func (n number[T]) get() any    { return *n.to }
func (n number[T]) check() bool { return n.has(float64(*n.to)) }

func (n number[T]) set(v any) bool {
	switch v := v.(type) {
	case float64:
		*n.to = T(v)
	case int:
		*n.to = T(v)
	case uint64:
		*n.to = T(v)
	default:
		return false
	}
	return true
}

func (n number[T]) parse(text string) (err error) {
	switch to := any(n.to).(type) {
	case *float64:
		*to, err = strconv.ParseFloat(text, 64)
	case *int:
		*to, err = strconv.Atoi(text)
	case *uint64:
		*to, err = strconv.ParseUint(text, 10, 64)
	}
	return err
}

type truth struct{ to *bool }

func (b truth) get() any    { return *b.to }
func (b truth) check() bool { return true }

func (b truth) set(v any) (ok bool) {
	*b.to, ok = v.(bool)
	return ok
}

func (b truth) parse(text string) (err error) {
	*b.to, err = strconv.ParseBool(text)
	return err
}

type text struct{ to *string }

func (s text) get() any    { return *s.to }
func (s text) check() bool { return *s.to != "" }

func (s text) set(v any) (ok bool) {
	*s.to, ok = v.(string)
	return ok
}

func (s text) parse(text string) error {
	*s.to = strings.ToLower(text)
	return nil
}

type choice[T ~string] struct {
	to      *T
	options []T
}

func (c choice[T]) get() any    { return *c.to }
func (c choice[T]) check() bool { return slices.Contains(c.options, *c.to) }
func (c choice[T]) set(v any) bool {
	return setWord(c.to, v)
}

func (c choice[T]) parse(text string) (err error) {
	*c.to, err = invalid.OneOf(text, c.options...)
	return err
}

func setWord[T ~string](to *T, v any) bool {
	switch v := v.(type) {
	case T:
		*to = v
	case string:
		*to = T(v)
	default:
		return false
	}
	return true
}

type steps[T ~string, P interface {
	*T
	encoding.TextUnmarshaler
}] struct {
	to    P
	words []T
}

func (s steps[T, P]) get() any       { return *s.to }
func (s steps[T, P]) set(v any) bool { return setWord((*T)(s.to), v) }

func (s steps[T, P]) parse(text string) error {
	for _, w := range s.words {
		if strings.EqualFold(text, string(w)) {
			*s.to = w
			return nil
		}
	}
	return s.to.UnmarshalText([]byte(text))
}

func (s steps[T, P]) check() bool {
	canonical := *s.to
	return slices.Contains(s.words, *s.to) || P(&canonical).UnmarshalText([]byte(*s.to)) == nil && canonical == *s.to
}

// DefaultText returns the default for the help.
func (s Setting) DefaultText() string { return cmp.Or(s.Note, fmt.Sprint(s.Default)) }
