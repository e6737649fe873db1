// Package setting describes the settings of a configuration. Each setting is written once, bound to the field
// that holds it: flags, config files, checks, defaults, the search and the documentation derive from it.
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
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
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

	Classes   Scope = "classes"
	Methods   Scope = "methods"
	Searching Scope = "search"
	Output    Scope = "output"
)

// Setting is one setting, bound to the field that holds its value.
type Setting struct {
	Key     string   // in config files; the flag has - for _
	Scope   Scope    // Method unless another is given
	Help    string   // begins with a placeholder of the value in backquotes, unless it is a choice
	Valid   string   // the valid values in words
	Options []string // words that the help offers
	List    bool     // the value is a comma-separated list of Options
	Note    string   // on the default, in place of its value
	Default any      // with the other settings as they are
	// the values that a search tries, numbers in ascending order; nil if it leaves the setting alone
	Search []any

	// For says in words what the setting applies to, "" for every configuration. Unused is
	// set where it makes no difference with the other settings as they are.
	For            string
	Unused         bool
	UpToAttributes bool // search values above the number of attributes are left out

	Flag

	to    any // pointer to the value
	parse func(text string) error
	check func() bool
}

// Flag is how a setting is given on a command line, which is nothing to the configuration that has it.
type Flag struct {
	Alias    string   // another name of the flag, which the help lists if it is one letter
	Short    bool     // in the short help
	Needed   []string // settings of which one must be given beside this one
	Excluded []string // settings that must not be given beside this one
}

// Range is the valid values of a number.
type Range struct {
	Least, Most float64
	Above       bool // Least itself is not valid
	Text        string
}

// The ranges of most numbers; squares, products and inverses of bounded ones stay within float32.
var (
	Positive        = Range{0, math.MaxFloat64, true, "a number above 0"}
	NotNegative     = Range{0, math.MaxFloat64, false, "a number, 0 or above"}
	BoundedPositive = Range{1e-18, 1e18, false, "a number from 1e-18 to 1e+18"}
	BoundedWeight   = Range{0, 1e18, false, "a number from 0 to 1e+18"}
	Fraction        = Range{0, 1, false, "a number from 0 to 1"}
)

// The ranges of most counts. They are wider than any use, and narrow enough for memory.
var (
	Count   = Between(1, 1_000_000)
	Threads = Between(1, 1024) // of which each takes memory
	Seeds   = Between(1, 100_000)
)

// maxSeed leaves room for Seeds from any first one on, without an overflow.
const maxSeed = math.MaxInt64

// Between is the whole numbers from least to most.
func Between(least, most int) Range {
	return Range{
		float64(least), float64(most), false, fmt.Sprintf("a whole number from %d to %d", least, most),
	}
}

func (r Range) has(x float64) bool { return x >= r.Least && x <= r.Most && !(r.Above && x == r.Least) }

func bind[T any](key string, to *T, standard T, valid string, parse func(string) (T, error),
	check func(T) bool,
) Setting {
	read := func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
	return Setting{
		Key: key, Scope: Method, Valid: valid, Default: standard,
		to: to, parse: read, check: func() bool { return check(*to) },
	}
}

// Number binds a number.
func Number(key string, to *float64, standard float64, r Range) Setting {
	return bind(key, to, standard, r.Text, number, r.has)
}

// OneOf binds one of several numbers.
func OneOf(key string, to *float64, standard float64, options ...float64) Setting {
	valid := "one of " + format.Join(options)
	return bind(key, to, standard, valid, number, func(x float64) bool { return slices.Contains(options, x) })
}

// Whole binds a whole number.
func Whole(key string, to *int, standard int, r Range) Setting {
	return bind(key, to, standard, r.Text, strconv.Atoi, func(n int) bool { return r.has(float64(n)) })
}

// Seed binds a random seed.
func Seed(key string, to *uint64) Setting {
	parse := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }
	return bind(key, to, 0, "a whole number from 0 to 2^63-1", parse, func(n uint64) bool {
		return n <= maxSeed
	}).In(Protocol)
}

// Switch binds a setting that is true or false.
func Switch(key string, to *bool, standard bool) Setting {
	return Of(key, to, standard, "true or false", strconv.ParseBool)
}

// Of binds a value of any type. valid describes the texts that parse accepts.
func Of[T any](key string, to *T, standard T, valid string, parse func(string) (T, error)) Setting {
	return bind(key, to, standard, valid, parse, func(T) bool { return true })
}

// Raw binds a text, such as a path.
func Raw(key string, to *string, standard string) Setting {
	return Of(key, to, standard, "a text", func(text string) (string, error) { return text, nil })
}

// words divides a comma-separated list. A word with commas stands in quotes, as in CSV.
func words(text string) ([]string, error) {
	if !strings.Contains(text, `"`) {
		return strings.Split(text, ","), nil
	}
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	list, err := r.Read()
	if _, more := r.Read(); err != nil || more != io.EOF {
		return nil, invalid.Expected("", invalid.Quote(text),
			`words between commas, those with commas or quotes in quotes, such as "one, two"`)
	}
	return list, nil
}

// Several binds a comma-separated list. Parse adds to what it read before.
func Several[T any](key string, to *[]T, standard []T, valid string, parse func(string) (T, error)) Setting {
	var read []T
	return Of(key, to, standard, valid, func(text string) ([]T, error) {
		list, err := words(text)
		if err != nil {
			return nil, err
		}
		for _, word := range list {
			value, err := parse(strings.TrimSpace(word))
			if err != nil && !errors.As(err, new(*invalid.Error)) {
				err = &invalid.Error{Want: valid, Got: invalid.Quote(word)}
			}
			if err != nil {
				return nil, err
			}
			read = append(read, value)
		}
		return read, nil
	})
}

// Choices binds several of some words, each at most once.
func Choices[T ~string](key string, to *[]T, standard []T, options ...T) Setting {
	var read []T
	s := Several(key, to, standard, "", func(text string) (T, error) {
		word, err := invalid.OneOf(text, options...)
		if err == nil && slices.Contains(read, word) {
			err = &invalid.Error{Want: "each once", Got: string(word) + " twice"}
		}
		read = append(read, word)
		return word, err
	})
	s.List, s.Options = true, format.Strings(options)
	return s
}

// Numbers binds several numbers.
func Numbers(key string, to *[]float64, standard ...float64) Setting {
	return Several(key, to, standard, "numbers, separated by commas", number)
}

// number refuses the underscores and hexadecimal numbers of Go's source.
func number(text string) (float64, error) {
	if strings.ContainsAny(text, "_xX") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// Text binds a name, which canonical spells in one way.
func Text(key string, to *string, standard string, canonical func(string) string) Setting {
	parse := func(text string) (string, error) { return canonical(text), nil }
	return bind(key, to, standard, "a name", parse, func(name string) bool { return name != "" })
}

// Choice binds one of several words.
func Choice[T ~string](key string, to *T, standard T, options ...T) Setting {
	parse := func(text string) (T, error) { return invalid.OneOf(text, options...) }
	s := bind(key, to, standard, "", parse, func(word T) bool { return slices.Contains(options, word) })
	s.Options = format.Strings(options)
	s.Valid = "one of " + strings.Join(s.Options, ", ")
	return s
}

// Steps binds a list of steps that T reads from text, or the default, which need not be one. valid
// describes the texts.
func Steps[T ~string, P interface {
	*T
	encoding.TextUnmarshaler
}](key string, to P, standard T, valid string, options ...T) Setting {
	parse := func(text string) (T, error) {
		if strings.EqualFold(text, string(standard)) {
			return standard, nil
		}
		var steps T
		err := P(&steps).UnmarshalText([]byte(text))
		return steps, err
	}
	canonical := func(steps T) bool {
		read, err := parse(string(steps))
		return err == nil && read == steps
	}
	s := bind(key, (*T)(to), standard, valid, parse, canonical)
	s.List, s.Options = true, format.Strings(options)
	return s
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

// WithOptions sets the words that the help offers.
func (s Setting) WithOptions(options ...string) Setting {
	s.Options = options
	return s
}

// Common shows the setting in the short help.
func (s Setting) Common() Setting {
	s.Short = true
	return s
}

// OrAs adds another name of the flag.
func (s Setting) OrAs(name string) Setting {
	s.Alias = name
	return s
}

// Needs refuses the setting without one of some others.
func (s Setting) Needs(others ...string) Setting {
	s.Needed = others
	return s
}

// Excludes refuses the setting beside others.
func (s Setting) Excludes(others ...string) Setting {
	s.Excluded = others
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
func (s Setting) Value() any { return reflect.ValueOf(s.to).Elem().Interface() }

// Set sets the value: numbers from numbers of any type, words from text. It panics if the type is wrong.
func (s Setting) Set(v any) {
	to, from := reflect.ValueOf(s.to).Elem(), reflect.ValueOf(v)
	if !from.CanConvert(to.Type()) || (to.Kind() == reflect.String) != (from.Kind() == reflect.String) {
		panic(fmt.Sprintf("setting %s: a %T", s.Key, v))
	}
	to.Set(from.Convert(to.Type()))
}

// Parse reads the value from text. The error is an *invalid.Error without a place.
func (s Setting) Parse(text string) error {
	err := s.parse(text)
	if described := (*invalid.Error)(nil); errors.As(err, &described) {
		return err
	}
	if err != nil || !s.check() {
		found := invalid.Quote(text)
		if errors.Is(err, strconv.ErrRange) {
			found += ", which is out of range"
		}
		return &invalid.Error{Want: s.Valid, Got: found}
	}
	return nil
}

// Check returns an *invalid.Error that names the setting if its value is not valid.
func (s Setting) Check() error {
	if s.check() {
		return nil
	}
	e := &invalid.Error{Field: s.Key, Want: s.Valid, Got: fmt.Sprint(s.Value())}
	if s.Options != nil && !s.List {
		e.Hint = invalid.DidYouMean(e.Got, s.Options)
	}
	return e
}

// DefaultText returns the default for the help.
func (s Setting) DefaultText() string {
	text := fmt.Sprint(s.Default)
	if reflect.ValueOf(s.Default).Kind() == reflect.Slice { // [a b]
		text = strings.ReplaceAll(strings.Trim(text, "[]"), " ", ",")
	}
	return cmp.Or(s.Note, text)
}

// Kind names the JSON type of the value.
func (s Setting) Kind() string {
	switch s.to.(type) {
	case *int, *uint64, *float64:
		return "number"
	case *bool:
		return "boolean"
	}
	return "string"
}
