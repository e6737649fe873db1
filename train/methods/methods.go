// Package methods lists all methods, LAGO and the baselines, and finds them by name. Named is
// a method with its settings, as configuration files and flags set them.
package methods

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	Seeded bool   // training depends on the seed
	Closed bool   // a closed form, so fast that a search tries its whole grid

	Correction model.Correction // of the scores, by default; the zero value is none
	Logarithms bool             // scores are logarithms of probabilities, which model.Subtract corrects

	empty func() method.Method // without values of its settings
}

// LAGO is the name of LAGO, with any variant.
const LAGO = "lago"

// All lists LAGO and the baselines in the order of table 1 of the paper.
var All = []Entry{
	{
		Name: LAGO, Title: "LAGO", empty: with(lago.New, model.SemanticHard), Seeded: true,
		Correction: model.Correction{Kind: model.Subtract, Omega: 0.5}, Logarithms: true,
	},
	{
		Name: "dap", Title: "DAP", empty: settings[dap.Settings],
		Correction: model.Correction{Kind: model.Subtract, Omega: 1}, Logarithms: true,
	},
	{Name: "ale", Title: "ALE", empty: with(ranking.New, ranking.ALE), Seeded: true},
	{Name: "eszsl", Title: "ESZSL", empty: settings[eszsl.Settings], Closed: true, Correction: standardised},
	{Name: "sync", Title: "SynC", empty: settings[synclassifier.Settings], Correction: standardised},
	{Name: "sje", Title: "SJE", empty: with(ranking.New, ranking.SJE), Seeded: true},
	{Name: "devise", Title: "DeViSE", empty: with(ranking.New, ranking.DeViSE), Seeded: true},
	{Name: "kernel", Title: "Kernel alignment", empty: settings[kernelalign.Settings], Seeded: true},
}

var standardised = model.Correction{Kind: model.Standardise, Omega: 1}

func settings[T any, M interface {
	*T
	method.Method
}]() method.Method {
	return M(new(T))
}

// with returns the constructor of one method of several of a package.
func with[T any, M method.Method](construct func(T) M, which T) func() method.Method {
	return func() method.Method { return construct(which) }
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

// TitleOf returns the title of the method with a name, and any other label as it is.
func TitleOf(label string) string {
	if e, err := Find(label); err == nil {
		return e.Title
	}
	return label
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
func (e Entry) Default() Named {
	m := e.empty()
	m.Settings().SetDefaults()
	return Named{e.Name, m}
}

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

// Check returns the *invalid.Error of an unknown method or of its first invalid setting.
func (m Named) Check() error {
	if _, err := Find(m.Name); err != nil {
		return invalid.At("method", err)
	}
	return invalid.At(m.Name, m.Settings().Check())
}

// form is the version of what the settings mean, 0 for those whose meaning never changed.
func (m Named) form() int {
	if l, ok := m.Method.(*lago.Settings); ok && l.Smoothing > 0 && l.Variant.Semantic() {
		return 2 // earlier programs scaled the groups of smoothed descriptions otherwise
	}
	return 0
}

// MarshalJSON writes the name, all settings, and the form unless it is 0.
func (m Named) MarshalJSON() ([]byte, error) {
	v := struct {
		Name     string       `json:"name"`
		Settings setting.List `json:"settings"`
		Form     int          `json:"form,omitempty"`
	}{Name: m.Name, Form: m.form()}
	if m.Method != nil {
		v.Settings = m.Settings()
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON writes; missing settings have their defaults.
func (m *Named) UnmarshalJSON(data []byte) error {
	var v struct {
		Name     string
		Settings json.RawMessage
		Form     int
	}
	if err := fileio.Unmarshal(data, &v); err != nil {
		return err
	}
	e, err := Find(v.Name)
	if err != nil {
		return invalid.At("method", err)
	}
	values, err := setting.ParseJSON(v.Settings)
	if err != nil {
		return invalid.At(e.Name, err)
	}
	read, given := e.Default(), map[string]bool{}
	for _, value := range values {
		if err := read.Settings().Set(value); err != nil {
			return invalid.At(e.Name, err)
		}
		given[value.Key] = true
	}
	for _, s := range read.Settings() { // of the variant that is now set
		if !given[s.Key] {
			s.Set(s.Default)
		}
	}
	if form := read.form(); v.Form != form {
		return invalid.At(e.Name, &invalid.Error{
			Field: "form", Want: fmt.Sprint(form), Got: fmt.Sprint(v.Form),
			Hint: "Another version of the program, which smooths descriptions otherwise, trained it: " +
				"train it again.",
		})
	}
	*m = read
	return nil
}

// omegas are those of each kind of correction. A run is evaluated with all.
var omegas = []float64{0.25, 0.5, 1}

// kinds are the corrections that the scores of the method can have, none first.
func (e Entry) kinds() []model.CorrectionKind {
	if e.Logarithms {
		return []model.CorrectionKind{model.NoCorrection, model.Subtract, model.Standardise}
	}
	return []model.CorrectionKind{model.NoCorrection, model.Standardise}
}

// Corrections lists those that a search tries for the method, none first.
func (m Named) Corrections() []model.Correction {
	list := []model.Correction{{Kind: model.NoCorrection}}
	for _, kind := range m.Entry().kinds()[1:] {
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
	kind, omega := cmp.Or(e.Correction.Kind, model.NoCorrection), cmp.Or(e.Correction.Omega, 0.5)
	return append(m.Settings(),
		setting.Choice("correction", &c.Kind, kind, e.kinds()...).
			Describe("correction of the scores by those of seen classes: none, evidence (their mean is "+
				"subtracted) or standardise").
			Try(setting.All(e.kinds()...)...),
		setting.OneOf("omega", &c.Omega, omega, omegas...).
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
