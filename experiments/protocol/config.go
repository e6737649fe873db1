package protocol

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Stages says which stages of the paper's protocol a run has.
type Stages string

// The choices of stages.
const (
	OnlyDev     Stages = "dev"  // on the train classes, stopped by the validation classes, for every seed
	OnlyTest    Stages = "test" // on train and validation classes for a fixed number of epochs, evaluated once on the test classes
	DevThenTest Stages = "full" // dev, the number of epochs from the average curve, then test
)

// Config is the settings of a run. Its JSON is that of config files.
type Config struct {
	Dataset    string
	DevSplit   int // 1 to 3
	Variant    model.Variant
	Stage      Stages
	Seeds      int
	Seed       uint64 // the first
	Epochs     int    // of dev at most, of test exactly; 0 is the default of the stage
	LR         float64
	LRV        float64
	BiasFactor float64 // of LR, for b
	Beta       float64
	Lambda     float64
	Alpha      float64
	Psi        float64
	Zeta       float64
	K          int // 0 is 30, or the number of attributes if that is smaller
	Batch      int
	Patience   int
	Prior      model.Prior
	Complement model.Complement
	Preprocess preprocess.Chain
	Ridge      float64 // of whiten; 0 takes one from the scale of the features
	HoldOut    bool
}

// AutoPreprocess leaves the preprocessing to the data, see Config.On.
const AutoPreprocess preprocess.Chain = "auto"

// On returns c with the settings that it leaves to the data: K and the preprocessing, which is
// l2 for singletons and for features with negative values, and sqrt,l2,whiten otherwise.
func (c Config) On(d *dataset.Dataset) Config {
	if c.K == 0 {
		c.K = min(defaultK, len(d.Attributes))
	}
	if c.Preprocess == AutoPreprocess {
		c.Preprocess = "sqrt,l2,whiten"
		if c.Variant == model.Singletons || signed(d) {
			c.Preprocess = preprocess.L2
		}
	}
	return c
}

// signed reports whether features have negative values, which a few training samples show:
// the output of a ReLU has none, and other features have many in each sample.
func signed(d *dataset.Dataset) bool {
	rows := d.SamplesOf(d.Split.Train)
	return slices.ContainsFunc(rows[:min(100, len(rows))], func(row int) bool {
		return slices.ContainsFunc(d.Features.Row(row), func(v float32) bool { return v < 0 })
	})
}

// DevEpochs returns the largest number of epochs of the dev stage.
func (c Config) DevEpochs() int {
	if c.Epochs == 0 {
		return defaultEpochs
	}
	return c.Epochs
}

// Trial returns the run of one seed and stage.
func (c Config) Trial(stage train.Stage, fingerprint string, seed uint64, epochs int) train.Trial {
	t := train.Trial{Fingerprint: fingerprint}
	for _, s := range settings {
		if s.trial == nil || !s.AppliesTo(c) {
			continue // what a run does not use must not tell two trials apart
		}
		from, to := reflect.ValueOf(s.field(&c)).Elem(), reflect.ValueOf(s.trial(&t)).Elem()
		if from.Type() == to.Type() {
			to.Set(from)
		}
	}
	t.Stage, t.Training.Seed, t.Training.Epochs, t.Training.Patience = stage, seed, epochs, c.Patience
	if !c.Variant.Learned() {
		t.Training.LearningRateV = defaultLRV
	}
	if stage == train.Test {
		t.Training.Patience = epochs
	}
	return t
}

// Check returns an *invalid.Error for the first setting that no run can have. Errors
// that only the data can show, such as more groups than attributes, are left to it.
func (c Config) Check() error {
	for _, s := range settings {
		unset := s.Key == "epochs" && c.Epochs == 0
		if !unset && s.AppliesTo(c) && !s.inside(c) {
			return &invalid.Error{Field: s.Key, Want: s.valid(), Got: fmt.Sprint(s.Value(c))}
		}
	}
	if c.Variant != model.SemanticSoft && c.Psi != 0 {
		return &invalid.Error{Field: "psi", Want: "0 except for semantic-soft", Got: fmt.Sprint(c.Psi)}
	}
	if last := uint64(c.Seeds - 1); c.Seed > math.MaxUint64-last {
		return &invalid.Error{
			Field: "seed", Want: fmt.Sprintf("at most 2^64-%d, so that all %d seeds exist", c.Seeds, c.Seeds), Got: strconv.FormatUint(c.Seed, 10),
		}
	}
	return nil
}

// Write writes a config file. The fingerprint, if not "", is that of the data set and
// split on which the settings were chosen.
func (c Config) Write(path, fingerprint string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if fingerprint != "" {
		data = append([]byte(`{"`+fingerprintKey+`":`+strconv.Quote(fingerprint)+","), data[1:]...)
	}
	return atomicfile.WriteJSON(path, json.RawMessage(data))
}
