package protocol

import "github.com/lago-train/lago-train/train"

// Setting is one of those that define a trial.
type Setting struct {
	Name  string `json:"name"` // in config files and trial.json
	Value any    `json:"value"`
}

// Settings lists what defines a trial.
func Settings(t train.Trial) []Setting {
	m, s := t.Model, t.Training
	if t.Baseline.Method != "" {
		return baselineSettings(t)
	}
	return []Setting{
		{"dataset", t.Dataset},
		{"fingerprint", t.Fingerprint},
		{"stage", t.Stage},
		{"variant", m.Variant},
		{"prior", m.Prior},
		{"complement", m.Complement},
		{"zeta", m.Zeta},
		{"k", m.K},
		{"alpha", m.Alpha},
		{"beta", m.Beta},
		{"lambda", m.Lambda},
		{"psi", m.Psi},
		{"preprocess", t.Preprocess},
		{"ridge", t.Ridge},
		{"hold_out", t.HoldOut},
		{"epochs", s.Epochs},
		{"lr", s.LearningRate},
		{"lr_v", s.LearningRateV},
		{"batch", s.Batch},
		{"patience", s.Patience},
		{"seed", s.Seed},
	}
}

// baselineSettings is Settings for a baseline.
func baselineSettings(t train.Trial) []Setting {
	return []Setting{
		{"dataset", t.Dataset},
		{"fingerprint", t.Fingerprint},
		{"stage", t.Stage},
		{"method", t.Baseline.Method},
		{"settings", t.Baseline.Settings},
		{"preprocess", t.Preprocess},
		{"ridge", t.Ridge},
		{"hold_out", t.HoldOut},
		{"epochs", t.Training.Epochs},
		{"patience", t.Training.Patience},
		{"seed", t.Training.Seed},
	}
}
