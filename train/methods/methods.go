// Package methods lists all methods, LAGO and the baselines, and finds them by name. A Spec
// is a method with its settings, as configuration files and flags set them.
package methods

import (
	"encoding/json"
	"slices"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/dap"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/kernelalign"
	"github.com/lago-train/lago-train/model/baseline/ranking"
	"github.com/lago-train/lago-train/model/baseline/synclassifier"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/train/lago"
)

// Entry is one method.
type Entry struct {
	Name   string // on the command line
	Title  string // in tables and figures
	New    func() method.Method
	Seeded bool // training depends on the seed
	Closed bool // a closed form, so fast that a search tries its whole grid
}

// LAGO is the name of LAGO, with any variant.
const LAGO = "lago"

// All lists LAGO and the baselines in the order of table 1 of the paper.
var All = []Entry{
	{Name: LAGO, Title: "LAGO", New: with(lago.New, model.SemanticHard), Seeded: true},
	{Name: "dap", Title: "DAP", New: with(dap.New, dap.Direct)},
	{Name: "iap", Title: "IAP", New: with(dap.New, dap.Indirect)},
	{Name: "ale", Title: "ALE", New: with(ranking.New, ranking.ALE), Seeded: true},
	{Name: "eszsl", Title: "ESZSL", New: func() method.Method { return eszsl.New() }, Closed: true},
	{Name: "sync", Title: "SynC", New: func() method.Method { return synclassifier.New() }},
	{Name: "sje", Title: "SJE", New: with(ranking.New, ranking.SJE), Seeded: true},
	{Name: "devise", Title: "DeViSE", New: with(ranking.New, ranking.DeViSE), Seeded: true},
	{Name: "kernel", Title: "Kernel alignment", New: func() method.Method { return kernelalign.New() }, Seeded: true},
}

// with returns the constructor of one method of several of a package.
func with[T any, M method.Method](construct func(T) M, of T) func() method.Method {
	return func() method.Method { return construct(of) }
}

// Names lists the names of All.
func Names() []string {
	names := make([]string, len(All))
	for i, e := range All {
		names[i] = e.Name
	}
	return names
}

// Find returns the method with a name, in lower or upper case. The error is an
// *invalid.Error.
func Find(name string) (Entry, error) {
	known, err := invalid.OneOf(name, Names()...)
	if err != nil {
		return Entry{}, err
	}
	return All[slices.IndexFunc(All, func(e Entry) bool { return e.Name == known })], nil
}

// Spec is a method with its settings. The zero value is no method.
type Spec struct {
	Name     string
	Settings method.Method
}

// Spec returns the method with its defaults.
func (e Entry) Spec() Spec { return Spec{e.Name, e.New()} }

// Parse returns the method with a name, or LAGO with the variant of that name, with the
// defaults. The error is an *invalid.Error.
func Parse(name string) (Spec, error) {
	names := Names()
	for _, v := range model.Variants {
		names = append(names, string(v))
	}
	known, err := invalid.OneOf(name, names...)
	if err != nil {
		return Spec{}, err
	}
	if v := model.Variant(known); slices.Contains(model.Variants, v) {
		return Of(v), nil
	}
	e, err := Find(known)
	return e.Spec(), err
}

// Of returns a variant of LAGO with its defaults.
func Of(v model.Variant) Spec { return Spec{LAGO, lago.New(v)} }

// List returns the settings.
func (s Spec) List() setting.List { return s.Settings.Settings() }

// Variant is that of LAGO, "" for a baseline.
func (s Spec) Variant() model.Variant {
	if l, ok := s.Settings.(*lago.Settings); ok {
		return l.Variant
	}
	return ""
}

// Label is the variant of LAGO, or the name of the baseline.
func (s Spec) Label() string {
	if v := s.Variant(); v != "" {
		return string(v)
	}
	return s.Name
}

// Clone copies the method, so that a change of the copy does not change s.
func (s Spec) Clone() Spec {
	e, err := Find(s.Name)
	if err != nil {
		return s
	}
	c := e.Spec()
	s.List().CopyTo(c.List())
	return c
}

// Canonical returns s with the defaults of settings that make no difference, so that
// methods with equal results are equal.
func (s Spec) Canonical() Spec {
	c := s.Clone()
	c.List().Canonical()
	return c
}

// Set reads the value of a setting from text. The error is an *invalid.Error.
func (s Spec) Set(key, text string) error {
	return s.List().Set(setting.Given{Key: key, Text: text})
}

// Check returns the *invalid.Error of an unknown method or of its first invalid setting.
func (s Spec) Check() error {
	if _, err := Find(s.Name); err != nil {
		return invalid.At("method", err)
	}
	return invalid.At(s.Name, s.List().Check())
}

// MarshalJSON writes the name and all settings.
func (s Spec) MarshalJSON() ([]byte, error) {
	v := struct {
		Name     string       `json:"name"`
		Settings setting.List `json:"settings"`
	}{Name: s.Name}
	if s.Settings != nil {
		v.Settings = s.List()
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON writes; missing settings have their defaults.
func (s *Spec) UnmarshalJSON(data []byte) error {
	members, err := fileio.ParseObject(data)
	if err != nil {
		return err
	}
	var name string
	settings := []byte("{}")
	for _, m := range members {
		switch m.Key {
		case "name":
			err = json.Unmarshal(m.Value, &name)
		case "settings":
			settings = m.Value
		default:
			err = &invalid.Error{Field: m.Key, Want: "name or settings"}
		}
		if err != nil {
			return err
		}
	}
	e, err := Find(name)
	if err != nil {
		return invalid.At("method", err)
	}
	given, err := setting.ParseJSON(settings)
	if err != nil {
		return invalid.At(e.Name, err)
	}
	read := e.Spec()
	missing := read.List().Keys()
	for _, g := range given {
		if err := read.List().Set(g); err != nil {
			return invalid.At(e.Name, err)
		}
		missing = slices.DeleteFunc(missing, func(key string) bool { return key == g.Key })
	}
	for _, d := range read.List() { // of the variant that is now set
		if slices.Contains(missing, d.Key) {
			d.Set(d.Default)
		}
	}
	*s = read
	return nil
}
