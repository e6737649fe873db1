package methods

import (
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
)

// The default corrections of baselines.
var (
	subtracted   = model.Correction{Kind: model.Subtract, Omega: 1}
	standardised = model.Correction{Kind: model.Standardise, Omega: 1}
	uncorrected  = model.Correction{Kind: model.NoCorrection, Omega: 0.5}
)

// omegas are those that a search tries, with each kind of correction.
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

// CorrectedSettings lists the settings of the method, and those of the correction of its scores,
// bound to c.
func (m Named) CorrectedSettings(c *model.Correction) setting.List {
	e := m.entry()
	return append(m.Settings(),
		setting.Choice("correction", &c.Kind, e.Correction.Kind, e.kinds()...).
			Describe("correction of the scores by those of seen classes: none, evidence (their mean is subtracted) or standardise").
			Try(setting.All(e.kinds()...)...),
		setting.Number("omega", &c.Omega, e.Correction.Omega, setting.Fraction).
			If(c.Kind != model.NoCorrection, "corrections evidence and standardise").
			Describe("`VALUE` strength of the correction, from 0 to 1").Try(setting.All(omegas...)...))
}

// Corrections lists those that a search tries for the method, none first.
func (m Named) Corrections() []model.Correction { return m.entry().Corrections() }
