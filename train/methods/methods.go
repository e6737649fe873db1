// Package methods lists all methods, LAGO and the baselines, and finds them by name. Named is
// a method with its settings, as configuration files and flags set them.
package methods

import (
	"encoding/json"
	"slices"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
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

	Correction model.Correction // of the scores, by default
	Logarithms bool             // scores are logarithms of probabilities, which model.Subtract corrects
}

// LAGO is the name of LAGO, with any variant.
const LAGO = "lago"

// All lists LAGO and the baselines in the order of table 1 of the paper.
var All = []Entry{
	{
		Name: LAGO, Title: "LAGO", New: with(lago.New, model.SemanticHard), Seeded: true,
		Correction: model.Correction{Kind: model.Subtract, Omega: 0.5}, Logarithms: true,
	},
	{Name: "dap", Title: "DAP", New: func() method.Method {
		return dap.New()
	}, Correction: subtracted, Logarithms: true},
	{Name: "ale", Title: "ALE", New: with(ranking.New, ranking.ALE), Seeded: true, Correction: uncorrected},
	{Name: "eszsl", Title: "ESZSL", New: func() method.Method {
		return eszsl.New()
	}, Closed: true, Correction: standardised},
	{Name: "sync", Title: "SynC", New: func() method.Method {
		return synclassifier.New()
	}, Correction: standardised},
	{Name: "sje", Title: "SJE", New: with(ranking.New, ranking.SJE), Seeded: true, Correction: uncorrected},
	{
		Name: "devise", Title: "DeViSE", New: with(ranking.New, ranking.DeViSE), Seeded: true,
		Correction: uncorrected,
	},
	{
		Name: "kernel", Title: "Kernel alignment", New: func() method.Method { return kernelalign.New() },
		Seeded:     true,
		Correction: uncorrected,
	},
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

// Labels lists the variants of LAGO and the baselines.
func Labels() []string { return append(format.Strings(model.Variants), Names()[1:]...) }

// Labelled returns the method of a label with its defaults.
func Labelled(label string) (Named, error) {
	known, err := invalid.OneOf(label, Labels()...)
	if err != nil {
		return Named{}, err
	}
	if v := model.Variant(known); slices.Contains(model.Variants, v) {
		return Variant(v), nil
	}
	e, err := Find(known)
	return e.Default(), err
}

// Find returns the method with a name, in lower or upper case. The error is an *invalid.Error.
func Find(name string) (Entry, error) {
	known, err := invalid.OneOf(name, Names()...)
	if err != nil {
		return Entry{}, err
	}
	return All[slices.IndexFunc(All, func(e Entry) bool { return e.Name == known })], nil
}

// Named is a method with its name and settings. The zero value is no method.
type Named struct {
	Name string
	method.Method
}

// Entry is that of the method, zero if it is unknown.
func (m Named) Entry() Entry {
	e, _ := Find(m.Name)
	return e
}

// Default returns the method with its defaults.
func (e Entry) Default() Named { return Named{e.Name, e.New()} }

// Variant returns a variant of LAGO with its defaults.
func Variant(v model.Variant) Named { return Named{LAGO, lago.New(v)} }

// Variant is that of LAGO, "" for a baseline.
func (m Named) Variant() model.Variant {
	if l, ok := m.Method.(*lago.Settings); ok {
		return l.Variant
	}
	return ""
}

// Label is the variant of LAGO, or the name of the baseline.
func (m Named) Label() string {
	if v := m.Variant(); v != "" {
		return string(v)
	}
	return m.Name
}

// Clone copies the method, so that a change of the copy does not change m.
func (m Named) Clone() Named {
	e, err := Find(m.Name)
	if err != nil {
		return m
	}
	c := e.Default()
	m.Settings().CopyTo(c.Settings())
	return c
}

// Canonical returns m with the defaults of settings that make no difference, so that
// methods with equal results are equal.
func (m Named) Canonical() Named {
	c := m.Clone()
	c.Settings().Canonical()
	return c
}

// Set reads the value of a setting from text. The error is an *invalid.Error.
func (m Named) Set(key, text string) error {
	return m.Settings().Set(setting.Assignment{Key: key, Text: text})
}

// Check returns the *invalid.Error of an unknown method or of its first invalid setting.
func (m Named) Check() error {
	if _, err := Find(m.Name); err != nil {
		return invalid.At("method", err)
	}
	return invalid.At(m.Name, m.Settings().Check())
}

// MarshalJSON writes the name and all settings.
func (m Named) MarshalJSON() ([]byte, error) {
	v := struct {
		Name     string       `json:"name"`
		Settings setting.List `json:"settings"`
	}{Name: m.Name}
	if m.Method != nil {
		v.Settings = m.Settings()
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON writes; missing settings have their defaults.
func (m *Named) UnmarshalJSON(data []byte) error {
	members, err := fileio.ParseObject(data)
	if err != nil {
		return err
	}
	var name string
	settings := []byte("{}")
	for _, member := range members {
		switch member.Key {
		case "name":
			err = json.Unmarshal(member.Value, &name)
		case "settings":
			settings = member.Value
		default:
			err = &invalid.Error{Field: member.Key, Want: "name or settings"}
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
	read := e.Default()
	missing := read.Settings().Keys()
	for _, g := range given {
		if err := read.Settings().Set(g); err != nil {
			return invalid.At(e.Name, err)
		}
		missing = slices.DeleteFunc(missing, func(key string) bool { return key == g.Key })
	}
	for _, d := range read.Settings() { // of the variant that is now set
		if slices.Contains(missing, d.Key) {
			d.Set(d.Default)
		}
	}
	*m = read
	return nil
}

// The default corrections of baselines.
var (
	subtracted   = model.Correction{Kind: model.Subtract, Omega: 1}
	standardised = model.Correction{Kind: model.Standardise, Omega: 1}
	uncorrected  = model.Correction{Kind: model.NoCorrection, Omega: 0.5}
)

// omegas are those of each kind of correction. A run is evaluated with all.
var omegas = []float64{0.25, 0.5, 1}

// kinds are the corrections that the scores of the method can have, none first.
func (e Entry) kinds() []model.CorrectionKind {
	if e.Logarithms {
		return []model.CorrectionKind{model.NoCorrection, model.Subtract, model.Standardise}
	}
	return []model.CorrectionKind{model.NoCorrection, model.Standardise}
}

// Corrections lists those that a search tries, none first.
func (e Entry) Corrections() []model.Correction {
	list := []model.Correction{{Kind: model.NoCorrection}}
	for _, kind := range e.kinds()[1:] {
		for _, omega := range omegas {
			list = append(list, model.Correction{Kind: kind, Omega: omega})
		}
	}
	return list
}

// CorrectionKeys are the settings of the correction. No weight depends on them.
var CorrectionKeys = []string{"correction", "omega"}

// CorrectedSettings lists the settings of the method, and those of the correction of its scores, bound to c.
func (m Named) CorrectedSettings(c *model.Correction) setting.List {
	e := m.Entry()
	return append(m.Settings(),
		setting.Choice("correction", &c.Kind, e.Correction.Kind, e.kinds()...).
			Describe("correction of the scores by those of seen classes: none, evidence (their mean is "+
				"subtracted) or standardise").
			Try(setting.All(e.kinds()...)...),
		setting.OneOf("omega", &c.Omega, e.Correction.Omega, omegas...).
			If(c.Kind != model.NoCorrection, "corrections evidence and standardise").
			Describe("`VALUE` strength of the correction: 0.25, 0.5 or 1").Try(setting.All(omegas...)...))
}

// Decide returns the decision of a correction alone. Without one, its kind is that which suits the scores.
func (m Named) Decide(c model.Correction) model.Decision {
	if !c.On() {
		c = model.Correction{Kind: m.Corrections()[1].Kind}
	}
	return model.Decision{Kind: c.Kind, Scoring: model.Scoring{Omega: c.Omega}}
}

// Corrections lists those that a search tries for the method, none first.
func (m Named) Corrections() []model.Correction { return m.Entry().Corrections() }
