package protocol

import (
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Settings where none were published.
const (
	defaultLRV = 0.1
	defaultK   = 30
)

// elsewhere completes the preset of a data set that the authors did not run.
func (p Preset) elsewhere() Preset {
	p.Preprocess = preprocess.Whiten
	p.LR, p.LRV, p.Beta, p.Lambda, p.Zeta = 3e-4, defaultLRV, 1e-6, 1e-4, 10
	p.TestEpochs = 50
	switch p.Variant {
	case model.KSoft:
		p.Zeta = 1
		p.LRV = 1
	case model.SemanticSoft:
		p.Zeta = 3
		p.Psi = 1e-4
	}
	p.Source = "general settings"
	return p
}
