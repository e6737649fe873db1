package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/version"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Stage says which classes are learned from and which are judged.
type Stage string

// The two stages of the paper's protocol.
const (
	Dev  Stage = "dev"  // learns from the train classes, is stopped by the val classes
	Test Stage = "test" // learns from train and val classes, is judged once on the test classes
)

// Trial is one configuration and seed: all that defines the numbers of a run. Two
// equal trials are the same run.
type Trial struct {
	Dataset     string          `json:"dataset"`
	Fingerprint string          `json:"fingerprint"` // of the data set
	Stage       Stage           `json:"stage"`
	Model       model.Config    `json:"model,omitzero"`
	Preprocess  preprocess.Kind `json:"preprocess"`
	Ridge       float64         `json:"ridge"` // of whiten
	Training    Training        `json:"training"`
	// HoldOut leaves the samples that generalised zero-shot learning judges by,
	// Dataset.TestSeen, out of what is learned from.
	HoldOut bool `json:"hold_out"`
	// Baseline is the method in place of LAGO, which Model is that of where there is none.
	// Of Training, it has epochs, patience and seed.
	Baseline methods.Spec `json:"baseline,omitzero"`
}

// Method names what is trained: a variant of LAGO, or a baseline.
func (t Trial) Method() string { return cmp.Or(t.Baseline.Method, string(t.Model.Variant)) }

// Preparation is what of a trial decides on the data that it is carried out with.
// Trials that agree in it can share their Data.
type Preparation struct {
	Stage      Stage
	Preprocess preprocess.Kind
	Ridge      float64
	HoldOut    bool
}

// Preparation returns that of t.
func (t Trial) Preparation() Preparation {
	return Preparation{t.Stage, t.Preprocess, t.Ridge, t.HoldOut}
}

// Check returns an error for the first field that no run can be made of.
func (t Trial) Check() error {
	if t.Stage != Dev && t.Stage != Test {
		return fmt.Errorf("train: stage: expected dev or test, found %q", t.Stage)
	}
	if err := t.checkMethod(); err != nil {
		return err
	}
	if !(t.Ridge >= 0) || math.IsInf(t.Ridge, 0) {
		return fmt.Errorf("train: ridge: expected a finite number, 0 or above, found %v", t.Ridge)
	}
	return nil
}

func (t Trial) checkMethod() error {
	if t.Baseline.Method != "" {
		return cmp.Or(t.Baseline.Check(), t.Training.CheckEpochs())
	}
	return cmp.Or(t.Model.Check(), t.Training.Check())
}

// Name is that of the trial's folder: what a person looks for, and a digest of all
// the rest. The trial must pass Check.
func (t Trial) Name() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("train: a trial does not marshal: " + err.Error()) // only of numbers that Check refuses
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

// Environment is what a run was trained with beside its trial: it can change the last
// bits of a result.
type Environment struct {
	Versions map[string]string `json:"versions"` // of the program, Go, the platform and the numeric libraries
	BLAS     blas.Info         `json:"blas"`
}

func currentEnvironment() Environment { return Environment{version.All(), blas.Current()} }

// Record is the content of trial.json.
type Record struct {
	Trial
	Environment
}

// ReadRecord reads the trial.json of a run's folder.
func ReadRecord(dir string) (r Record, err error) {
	path := filepath.Join(dir, TrialFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return r, invalid.File(path, err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, &invalid.Error{Where: path, Want: "the settings of a run", Err: err}
	}
	return r, nil
}
