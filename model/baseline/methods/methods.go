package methods

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/dap"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/kernelalign"
	"github.com/lago-train/lago-train/model/baseline/ranking"
	"github.com/lago-train/lago-train/model/baseline/synclassifier"
)

// Method is one baseline.
type Method struct {
	Name    string // on the command line
	Title   string // in tables and figures
	Default baseline.Hyperparameters
	// Seeded reports that training depends on the seed.
	Seeded bool
}

// All lists the baselines in the order of table 1 of the paper.
var All = []Method{
	{Name: "dap", Title: "DAP", Default: dap.Default(dap.Direct)},
	{Name: "iap", Title: "IAP", Default: dap.Default(dap.Indirect)},
	{Name: "ale", Title: "ALE", Default: ranking.Default(ranking.ALE), Seeded: true},
	{Name: "eszsl", Title: "ESZSL", Default: eszsl.Default()},
	{Name: "sync", Title: "SynC", Default: synclassifier.Default()},
	{Name: "sje", Title: "SJE", Default: ranking.Default(ranking.SJE), Seeded: true},
	{Name: "devise", Title: "DeViSE", Default: ranking.Default(ranking.DeViSE), Seeded: true},
	{Name: "kernel", Title: "Kernel alignment", Default: kernelalign.Default(), Seeded: true},
}

// Names lists the names of All.
func Names() []string {
	names := make([]string, len(All))
	for i, m := range All {
		names[i] = m.Name
	}
	return names
}

// Find returns the method with a name, in lower or upper case. The error is an
// *invalid.Error.
func Find(name string) (Method, error) {
	known, err := invalid.OneOf(name, Names()...)
	if err != nil {
		return Method{}, invalid.At("method", err)
	}
	return All[slices.IndexFunc(All, func(m Method) bool { return m.Name == known })], nil
}

// Spec is a method with its hyperparameters. The zero value is no method. Specs can be
// compared with ==.
type Spec struct {
	Method   string                   `json:"method"`
	Settings baseline.Hyperparameters `json:"settings"`
}

// Applies reports whether a setting makes a difference with the others as they are.
func (s Spec) Applies(name string) bool {
	return slices.ContainsFunc(s.Settings.Settings(), func(h baseline.Setting) bool { return h.Name == name && !h.Unused })
}

// Canonical returns s with the defaults of settings that make no difference, so that
// settings with equal results are equal.
func (s Spec) Canonical() Spec {
	m, err := Find(s.Method)
	if err != nil {
		return s
	}
	defaults := Spec{m.Name, m.Default}.encode()
	values := map[string]json.RawMessage{}
	for _, h := range s.Settings.Settings() {
		if h.Unused {
			values[h.Name] = defaults[h.Name]
		}
	}
	if s.Settings, err = s.decode(values); err != nil {
		panic("the defaults of " + s.Method + " are refused: " + err.Error())
	}
	return s
}

// Check returns the *invalid.Error of an unknown method or of its first invalid setting.
func (s Spec) Check() error {
	m, err := Find(s.Method)
	if err != nil {
		return err
	}
	if err := baseline.Check(s.Settings); err != nil {
		return invalid.At(s.Method, err)
	}
	given, own := s.encode(), Spec{m.Name, m.Default}.encode()
	for _, h := range s.Settings.Settings() {
		if h.Fixed && !bytes.Equal(given[h.Name], own[h.Name]) {
			return &invalid.Error{Where: s.Method, Field: h.Name, Want: string(own[h.Name]), Got: string(given[h.Name]), Hint: "Other values are other methods."}
		}
	}
	return nil
}

// Set returns s with one setting changed. The error is an *invalid.Error that names the
// setting.
func (s Spec) Set(name string, value json.RawMessage) (Spec, error) {
	settings, err := s.decode(map[string]json.RawMessage{name: value})
	if err != nil {
		return s, err
	}
	s.Settings = settings
	return s, nil
}

// Values returns the settings by name.
func (s Spec) Values() map[string]any {
	values := map[string]any{}
	for name, data := range s.encode() {
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			panic("a setting marshals to what is no JSON: " + err.Error())
		}
		values[name] = value
	}
	return values
}

// encode returns the JSON of each setting.
func (s Spec) encode() map[string]json.RawMessage {
	data, err := json.Marshal(s.Settings)
	if err != nil {
		panic("settings that passed Check do not marshal: " + err.Error())
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		panic("settings do not marshal to an object: " + err.Error())
	}
	return values
}

// UnmarshalJSON reads a method and its settings; missing settings have their defaults.
func (s *Spec) UnmarshalJSON(data []byte) error {
	var read struct {
		Method   string                     `json:"method"`
		Settings map[string]json.RawMessage `json:"settings"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	m, err := Find(read.Method)
	if err != nil {
		return err
	}
	spec := Spec{m.Name, m.Default}
	if read.Settings == nil {
		return &invalid.Error{Where: read.Method, Field: "settings", Want: "an object", Got: "none"}
	}
	if spec.Settings, err = spec.decode(read.Settings); err != nil {
		return err
	}
	*s = spec
	return nil
}

// decode returns the settings with the given values changed.
func (s Spec) decode(values map[string]json.RawMessage) (baseline.Hyperparameters, error) {
	to := reflect.New(reflect.TypeOf(s.Settings))
	to.Elem().Set(reflect.ValueOf(s.Settings))
	all := s.Settings.Settings()
	names := make([]string, len(all))
	for i, setting := range all {
		names[i] = setting.Name
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known, err := invalid.OneOf(name, names...)
		if err != nil {
			return nil, invalid.At(s.Method, err)
		}
		value := values[name]
		data, err := json.Marshal(map[string]json.RawMessage{known: value})
		if err == nil {
			err = json.Unmarshal(data, to.Interface())
		}
		if null := string(value) == "null"; null || err != nil {
			field, _ := reflect.TypeOf(s.Settings).FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, known) })
			return nil, &invalid.Error{Where: s.Method, Field: known, Want: kindNames[field.Type.Kind()], Got: string(value)}
		}
	}
	return to.Elem().Interface().(baseline.Hyperparameters), nil
}

// kindNames say what JSON value a setting expects.
var kindNames = map[reflect.Kind]string{
	reflect.Float64: "a finite number", reflect.Int: "an integer", reflect.Bool: "true or false", reflect.String: "a name",
}
