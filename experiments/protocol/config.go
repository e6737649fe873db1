package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Stage is what a run does of the paper's protocol.
type Stages string

// The stages of a run.
const (
	OnlyDev     Stages = "dev"  // train classes, stopped by the val classes, for every seed
	OnlyTest    Stages = "test" // train and val classes for a number of epochs, judged once on the test classes
	DevThenTest Stages = "full" // dev, the number of epochs from the average curve, then test
)

// UnmarshalText reads "dev", "test" or "full".
func (s *Stages) UnmarshalText(text []byte) error {
	switch Stages(text) {
	case OnlyDev, OnlyTest, DevThenTest:
		*s = Stages(text)
		return nil
	}
	return fmt.Errorf("expected one of dev, test, full, found %q", text)
}

// Config is all that a run is told. Its JSON is that of config files; the same
// names, with - for _, are flags.
type Config struct {
	Dataset    string           `json:"dataset"`
	DevSplit   int              `json:"dev_split"` // 1 to 3, which of the three splits into train and val
	Variant    model.Variant    `json:"variant"`
	Stage      Stages           `json:"stage"`
	Seeds      int              `json:"seeds"`
	Seed       uint64           `json:"seed"`   // the first of them
	Epochs     int              `json:"epochs"` // of dev at most, of test exactly; 0 means what the preset or the dev stage says
	LR         float64          `json:"lr"`
	LRV        float64          `json:"lr_v"`
	Beta       float64          `json:"beta"`
	Lambda     float64          `json:"lambda"`
	Alpha      float64          `json:"alpha"`
	Psi        float64          `json:"psi"`
	Zeta       float64          `json:"zeta"`
	K          int              `json:"k"` // of k-soft; 0 for 30, or as many as there are attributes
	Batch      int              `json:"batch"`
	Patience   int              `json:"patience"`
	Prior      model.Prior      `json:"prior"`
	Complement model.Complement `json:"complement"`
	Preprocess preprocess.Kind  `json:"preprocess"`
	Ridge      float64          `json:"ridge"`    // of whiten; 0 for one by the scale of the features
	HoldOut    bool             `json:"hold_out"` // learns from no sample that generalised zero-shot learning judges by
}

// Preset is the settings of a variant on a data set, and what they should score.
type Preset struct {
	Config
	TestEpochs int // that the test stage runs where no dev stage was asked for
	// Expect is the published test accuracy over seeds, a fraction; empty where
	// the settings were not published for this data set.
	Expect []float64
	Source string
}

// presetOf names the data sets whose settings another one takes.
var presetOf = map[string]string{"cub127": "cub"}

// devEpochs is how long the dev stage may go on while its patience lasts.
const devEpochs = 200

// PresetFor returns the settings that a run of a variant on a data set starts
// from: those that the authors of the paper released where they did, and what was
// measured to serve elsewhere.
func PresetFor(dataset string, v model.Variant) Preset {
	dataset = strings.ToLower(dataset)
	p := Preset{Config: Config{
		Dataset: dataset, DevSplit: 1, Variant: v, Stage: DevThenTest, Seeds: 5,
		Batch: 64, Patience: 50, Prior: model.Uniform, Complement: model.Const,
		Preprocess: preprocess.None,
	}}
	of := dataset
	if other, ok := presetOf[dataset]; ok {
		of = other
	}
	r, ok := published.Find(of, v, string(train.Test))
	if !ok {
		return p.elsewhere()
	}
	p.LR, p.LRV, p.Beta, p.Lambda, p.Alpha = r.LearningRate, r.LearningRateV, r.Beta, r.Lambda, r.Alpha
	p.Psi, p.Zeta, p.Batch, p.TestEpochs = r.Psi, r.Zeta, r.Batch, r.Epochs
	p.K = r.K
	if p.LRV == 0 {
		p.LRV = defaultLRV
	}
	p.Source = fmt.Sprintf("the authors' settings for %s on %s", v, r.Dataset)
	if of == dataset {
		for _, percent := range r.Accuracy {
			p.Expect = append(p.Expect, percent/100)
		}
	}
	return p
}

// ReadConfig reads a config file over c: what the file leaves out stays. A key that
// is not known, a value of the wrong type and anything after the object are errors
// that name the file and the key.
func (c *Config) ReadConfig(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return fmt.Errorf("%s: expected one JSON object of settings: %w", path, err)
	}
	if keys == nil {
		return fmt.Errorf("%s: expected one JSON object of settings, found null", path)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if err := c.set(key, keys[key]); err != nil {
			return fmt.Errorf("%s: key %q: %w", path, key, err)
		}
	}
	return nil
}

// set sets one field from JSON.
func (c *Config) set(key string, value json.RawMessage) error {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if f.Tag.Get("json") != key {
			continue
		}
		if string(value) == "null" { // which Unmarshal passes over
			return fmt.Errorf("expected a %s, found null", jsonType(f.Type))
		}
		err := json.Unmarshal(value, reflect.ValueOf(c).Elem().FieldByIndex(f.Index).Addr().Interface())
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("expected a %s, found a %s", jsonType(f.Type), wrong.Value)
		}
		return err
	}
	return errors.New("no setting has this name")
}

// jsonType names the JSON that a field is read from.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "bool"
	}
	return "whole number"
}

// trial is the run of one seed and stage.
func (c Config) Trial(stage train.Stage, fingerprint string, seed uint64, epochs int) train.Trial {
	t := train.Trial{
		Dataset: c.Dataset, Fingerprint: fingerprint, Stage: stage,
		Model: model.Config{
			Variant: c.Variant, Prior: c.Prior, Complement: c.Complement, Zeta: c.Zeta,
			Alpha: c.Alpha, Beta: c.Beta, Lambda: c.Lambda, Psi: c.Psi,
		},
		Preprocess: c.Preprocess, HoldOut: c.HoldOut,
		Training: train.Training{
			Epochs: epochs, LearningRate: c.LR, LearningRateV: c.LRV, Batch: c.Batch, Patience: c.Patience, Seed: seed,
		},
	}
	// What a variant does not use must not tell two trials apart.
	if c.Variant == model.KSoft {
		t.Model.K = c.K
	}
	if !c.Variant.Learned() {
		t.Training.LearningRateV = defaultLRV
	}
	if c.Preprocess == preprocess.Whiten {
		t.Ridge = c.Ridge
	}
	if stage == train.Test {
		t.Training.Patience = epochs
	}
	return t
}

// Check returns an error for the first setting that no run can be made of. What
// only the data can refuse, such as more groups than attributes, is left to it.
func (c Config) Check() error {
	if c.Seeds < 1 {
		return fmt.Errorf("seeds: expected at least 1, found %d", c.Seeds)
	}
	if c.Epochs < 0 {
		return fmt.Errorf("epochs: expected at least 1, found %d", c.Epochs)
	}
	if c.DevSplit < 1 || c.DevSplit > 3 {
		return fmt.Errorf("dev_split: expected 1, 2 or 3, found %d", c.DevSplit)
	}
	if c.K == 0 {
		c.K = 1 // any number will do for the checks that need no data
	}
	t := c.Trial(train.Dev, "", c.Seed, max(c.Epochs, 1))
	return t.Check()
}

// WriteConfig writes a config file, which ReadConfig reads.
func (c Config) WriteConfig(path string) error { return atomicfile.WriteJSON(path, c) }
