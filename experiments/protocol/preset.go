package protocol

import (
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Preset is the settings that a run of a variant on a data set starts from.
type Preset struct {
	Config
	TestEpochs int // of the test stage without a dev stage
	// Expect is the published test accuracy for each seed, a fraction; empty where the
	// settings were not published for this data set.
	Expect []float64
	Source string
	// ChosenOn is the fingerprint of the data on which a search chose the settings, "" if
	// none did.
	ChosenOn string
	// Origins says where the value of each setting comes from, by key: "default",
	// "preset", or the flag or file that gave it.
	Origins map[string]string
}

// The origins of values that nobody gave.
const (
	fromDefault = "default"
	fromPreset  = "preset"
)

// presetOf names the data sets that take the settings of another one.
var presetOf = map[string]string{"cub127": "cub"}

// DefaultsOf returns the general defaults of a variant, for data without a preset.
func DefaultsOf(v model.Variant) Config {
	var c Config
	for _, s := range settings {
		value, ok := s.byVariant[v]
		if !ok {
			value = s.standard
		}
		s.SetValue(&c, value)
	}
	c.Variant = v
	return c
}

// GeneralFor returns the general defaults of a variant for a data set, whether or not its
// settings were published.
func GeneralFor(dataset string, v model.Variant) Preset {
	p := Preset{Config: DefaultsOf(v), TestEpochs: defaultTest, Source: "general defaults", Origins: map[string]string{}}
	for _, s := range settings {
		p.Origins[s.Key] = fromDefault
	}
	p.Dataset = strings.ToLower(dataset)
	return p
}

// PresetFor returns the settings that a run of a variant on a data set starts from:
// those that the authors of the paper published, otherwise the general defaults.
func PresetFor(dataset string, v model.Variant) Preset {
	p := GeneralFor(dataset, v)
	of := p.Dataset
	if other, ok := presetOf[of]; ok {
		of = other
	}
	r, ok := published.Find(of, v, string(train.Test))
	if !ok {
		return p
	}
	p.LR, p.Beta, p.Lambda, p.Alpha, p.Psi, p.Zeta = r.LearningRate, r.Beta, r.Lambda, r.Alpha, r.Psi, r.Zeta
	p.Batch, p.K, p.TestEpochs, p.Preprocess = r.Batch, r.K, r.Epochs, preprocess.None
	p.LRV, p.BiasFactor = defaultLRV, 1
	if r.LearningRateV > 0 {
		p.LRV = r.LearningRateV
	}
	for _, key := range []string{"lr", "bias_factor", "lr_v", "beta", "lambda", "alpha", "psi", "zeta", "batch", "k", "preprocess"} {
		p.Origins[key] = fromPreset
	}
	p.Source = fmt.Sprintf("the authors' settings for %s on %s", v, r.Dataset)
	if of == p.Dataset {
		for _, percent := range r.Accuracy {
			p.Expect = append(p.Expect, percent/100)
		}
	}
	return p
}

// EpochsOf returns the number of epochs of the preset's stage, where 0 stands for the
// default.
func (p Preset) EpochsOf() int {
	if p.Epochs == 0 && p.Stage == OnlyTest {
		return p.TestEpochs
	}
	return p.DevEpochs()
}
