package protocol

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// The groups of settings in the help.
const (
	DataGroup     = "data"
	ProtocolGroup = "protocol"
	ModelGroup    = "model"
	TrainingGroup = "training"
)

// Setting describes one setting of a run. Flags, config files, presets, checks, the
// search space, lists of settings and the documentation all derive from it.
type Setting struct {
	Key   string // in config files
	Group string
	Help  string // begins with a placeholder of the value in backquotes, unless it is a choice
	Valid string // the valid values, in words; "" for a choice
	For   string // what it applies to, in words; "" for every run

	standard  any                   // default
	byVariant map[model.Variant]any // defaults of some variants
	note      string                // on the default, in place of standard
	options   []string              // of a choice, or the steps of a chain
	inRange   func(float64) bool    // of a number
	applies   func(Config) bool     // nil for every run
	field     func(*Config) any     // pointer to its field
	trial     func(*train.Trial) any
	space     func(attributes int) []any // nil if a search leaves it alone
	searchIf  func(model.Variant) bool   // nil if a search varies it wherever it applies
}

// All lists the settings. A search draws those with a search space in this order.
func All() []Setting { return settings }

// Find returns the setting of a key.
func Find(key string) (Setting, error) {
	for _, s := range settings {
		if s.Key == key {
			return s, nil
		}
	}
	keys := make([]string, len(settings))
	for i, s := range settings {
		keys[i] = s.Key
	}
	return Setting{}, &invalid.Error{Field: key, Want: "the name of a setting", Hint: invalid.DidYouMean(key, keys)}
}

// IsBool reports whether the value is true or false.
func (s Setting) IsBool() bool { return s.standard == false }

// AppliesTo reports whether the setting makes a difference to a run of c.
func (s Setting) AppliesTo(c Config) bool { return s.applies == nil || s.applies(c) }

// SearchValues returns the values that a search tries for a variant and a number of
// attributes, nil if it leaves the setting alone: numbers in ascending order, as float64,
// or words.
func (s Setting) SearchValues(v model.Variant, attributes int) []any {
	c := Config{Variant: v, Preprocess: preprocess.Whiten} // a search tries this too
	if s.space == nil || !s.AppliesTo(c) || s.searchIf != nil && !s.searchIf(v) {
		return nil
	}
	return s.space(attributes)
}

// Value returns the value in c, a number, a word or a bool.
func (s Setting) Value(c Config) any { return reflect.ValueOf(s.field(&c)).Elem().Interface() }

// SetValue sets the value in c: a number of any type, a word or a bool.
func (s Setting) SetValue(c *Config, value any) {
	field := reflect.ValueOf(s.field(c)).Elem()
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
}

// Set reads the value in c from text. The error is an *invalid.Error without a place.
func (s Setting) Set(c *Config, text string) error {
	refused := &invalid.Error{Want: s.Valid, Got: strconv.Quote(text)}
	var err error
	switch to := s.field(c).(type) {
	case *int:
		*to, err = strconv.Atoi(text)
	case *uint64:
		*to, err = strconv.ParseUint(text, 10, 64)
	case *float64:
		*to, err = strconv.ParseFloat(text, 64)
	case *bool:
		*to, err = strconv.ParseBool(text)
	case *preprocess.Chain:
		if strings.EqualFold(text, string(AutoPreprocess)) {
			*to = AutoPreprocess
			return nil
		}
		return to.UnmarshalText([]byte(text))
	case *string:
		*to = strings.ToLower(text)
		if text == "" {
			err = refused
		}
	default:
		word, bad := invalid.OneOf(text, s.options...)
		if bad != nil {
			return bad
		}
		s.SetValue(c, word)
	}
	if err != nil || !s.inside(*c) {
		return refused
	}
	return nil
}

// valid describes the valid values in words.
func (s Setting) valid() string { return cmp.Or(s.Valid, "one of "+strings.Join(s.options, ", ")) }

// inside reports whether the value in c is valid.
func (s Setting) inside(c Config) bool {
	if chain, ok := s.Value(c).(preprocess.Chain); ok {
		canonical := chain
		return chain == AutoPreprocess || canonical.UnmarshalText([]byte(chain)) == nil && canonical == chain
	}
	if s.inRange == nil {
		return s.options == nil || slices.Contains(s.options, fmt.Sprint(s.Value(c)))
	}
	return s.inRange(reflect.ValueOf(s.Value(c)).Convert(reflect.TypeFor[float64]()).Float())
}

// DefaultText returns the general defaults for the help.
func (s Setting) DefaultText() string {
	if s.note != "" {
		return s.note
	}
	text, last := fmt.Sprint(s.standard), any(nil)
	for _, v := range model.Variants {
		switch value, ok := s.byVariant[v]; {
		case ok && value == last: // "0.001; singletons, k-soft: 0.003"
			text = strings.Replace(text, fmt.Sprintf(": %v", value), fmt.Sprintf(", %s: %v", v, value), 1)
		case ok:
			text, last = text+fmt.Sprintf("; %s: %v", v, value), value
		}
	}
	return text
}

// Words returns the words of a choice, or of a list of several if list is true.
func (s Setting) Words() (words []string, list bool) {
	_, list = s.standard.(preprocess.Chain)
	return s.options, list
}

// TrialSetting is one of the settings that define a trial.
type TrialSetting struct {
	Name  string `json:"name"` // as in config files
	Value any    `json:"value"`
}

// OfTrial lists what defines a trial. The list of two trials of LAGO, or of two
// baselines, has the same names.
func OfTrial(t train.Trial) []TrialSetting {
	isBaseline := t.Baseline.Method != ""
	var list []TrialSetting
	for _, s := range settings {
		if s.trial == nil {
			continue
		}
		if isBaseline && !slices.Contains([]string{"dataset", "variant", "stage", "seed", "hold_out", "epochs", "preprocess", "ridge", "patience"}, s.Key) {
			continue
		}
		if isBaseline && s.Key == "variant" {
			list = append(list, TrialSetting{"method", t.Baseline.Method}, TrialSetting{"settings", t.Baseline.Settings})
			continue
		}
		list = append(list, TrialSetting{s.Key, reflect.ValueOf(s.trial(&t)).Elem().Interface()})
		if s.Key == "dataset" {
			list = append(list, TrialSetting{"fingerprint", t.Fingerprint})
		}
	}
	return list
}

// MarshalJSON writes the settings that apply, in the form of a config file.
func (c Config) MarshalJSON() ([]byte, error) {
	var parts []string
	for _, s := range settings {
		if !s.AppliesTo(c) || s.Key == "epochs" && c.Epochs == 0 {
			continue
		}
		value, err := json.Marshal(s.Value(c))
		if err != nil {
			return nil, err
		}
		parts = append(parts, fmt.Sprintf("%q:%s", s.Key, value))
	}
	return []byte("{" + strings.Join(parts, ",") + "}"), nil
}

// UnmarshalJSON reads a config file over c.
func (c *Config) UnmarshalJSON(data []byte) error {
	given, err := parse(data)
	if err != nil {
		return err
	}
	for _, g := range given {
		if err := g.set(c); err != nil {
			return err
		}
	}
	return nil
}
