package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Stage says which classes are trained on and which are evaluated.
type Stage string

// The two stages of the paper's protocol.
const (
	Dev  Stage = "dev"  // trains on the train classes; early stopping and evaluation by the val classes
	Test Stage = "test" // trains on the train and val classes; one evaluation, on the test classes
)

func (s Stage) check() error {
	if s != Dev && s != Test {
		return &invalid.Error{Field: "stage", Want: "dev or test", Got: fmt.Sprintf("%q", string(s))}
	}
	return nil
}

// Trial is one configuration and seed: all that defines the numbers of a run. Equal
// trials are the same run.
type Trial struct {
	Dataset     string           `json:"dataset"`
	Fingerprint string           `json:"fingerprint"` // of the data set
	Stage       Stage            `json:"stage"`
	Model       model.Config     `json:"model,omitzero"`
	Preprocess  preprocess.Chain `json:"preprocess"`
	Ridge       float64          `json:"ridge"` // of whiten
	Training    Training         `json:"training"`
	// HoldOut excludes Dataset.TestSeen, the samples of generalised zero-shot evaluation,
	// from training and validation.
	HoldOut bool `json:"hold_out"`
	// Baseline, if set, is trained instead of LAGO; Model is then zero. It uses epochs,
	// patience and seed of Training.
	Baseline methods.Spec `json:"baseline,omitzero"`
}

// Method is the variant of LAGO, or the name of the baseline.
func (t Trial) Method() string { return cmp.Or(t.Baseline.Method, string(t.Model.Variant)) }

// Training is how a method is trained.
type Training struct {
	Epochs        int     `json:"epochs"`      // at most this many
	LearningRate  float64 `json:"lr"`          // of W
	BiasFactor    float64 `json:"bias_factor"` // the learning rate of b, as a multiple of that of W
	LearningRateV float64 `json:"lr_v"`        // of V
	Batch         int     `json:"batch"`
	Patience      int     `json:"patience"` // epochs without a better validation accuracy
	Seed          uint64  `json:"seed"`     // of the initialisation and the shuffling
}

// Check returns an *invalid.Error for the first setting that LAGO cannot be trained with.
func (s Training) Check() error {
	if err := s.CheckEpochs(); err != nil {
		return err
	}
	for _, r := range []struct {
		field string
		value float64
	}{{"lr", s.LearningRate}, {"bias_factor", s.BiasFactor}, {"lr_v", s.LearningRateV}} {
		if !(r.value > 0 && finite.Is(r.value)) {
			return &invalid.Error{Field: r.field, Want: "a finite number above 0", Got: fmt.Sprint(r.value)}
		}
	}
	return atLeastOne("batch", s.Batch)
}

// CheckEpochs is Check for the settings that every method has.
func (s Training) CheckEpochs() error {
	return cmp.Or(atLeastOne("epochs", s.Epochs), atLeastOne("patience", s.Patience))
}

func atLeastOne(field string, n int) error {
	if n < 1 {
		return &invalid.Error{Field: field, Want: "at least 1", Got: fmt.Sprint(n)}
	}
	return nil
}

// Preparation is the part of a trial that decides on its Data. Trials with equal
// preparations can share them.
type Preparation struct {
	Stage      Stage
	Preprocess preprocess.Chain
	Ridge      float64
	HoldOut    bool
}

// Preparation returns that of t.
func (t Trial) Preparation() Preparation {
	return Preparation{t.Stage, t.Preprocess, t.Ridge, t.HoldOut}
}

// Check returns an *invalid.Error for the first invalid field.
func (t Trial) Check() error {
	if err := t.Stage.check(); err != nil {
		return err
	}
	if err := t.checkMethod(); err != nil {
		return err
	}
	if !(t.Ridge >= 0 && finite.Is(t.Ridge)) {
		return &invalid.Error{Field: "ridge", Want: "a finite number, 0 or above", Got: fmt.Sprint(t.Ridge)}
	}
	return nil
}

func (t Trial) checkMethod() error {
	if t.Baseline.Method != "" {
		return cmp.Or(t.Baseline.Check(), t.Training.CheckEpochs())
	}
	return cmp.Or(t.Model.Check(), t.Training.Check())
}

// Name is the name of the trial's folder. It ends in a digest of all settings. The trial
// must pass Check.
func (t Trial) Name() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("a trial does not marshal: " + err.Error()) // Check refuses NaN and infinity
	}
	digest := sha256.Sum256(data)
	dataset := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) {
			return '_'
		}
		return r
	}, t.Dataset)
	return fmt.Sprintf("%s-%s-%s-seed%d-%s", dataset, t.Method(), t.Stage, t.Training.Seed, hex.EncodeToString(digest[:6]))
}
