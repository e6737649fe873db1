package train

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"time"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/metrics"
)

// Decisions are what is chosen after training. No weight depends on them: they are no part of a
// Trial, and a model file holds them apart from the checksum of its tensors.
type Decisions struct {
	model.Correction              // of the scores
	Calibration      *Calibration `json:"calibration,omitempty"` // nil if it was not chosen, or if no temperature fits
	Adaptation       *Adaptation  `json:"adaptation,omitempty"`  // nil if it was not chosen
}

// Calibration is what makes probabilities of the scores s, softmax(s/T), as chosen on validation
// classes. A model has none if it was not chosen, or if no temperature fits.
type Calibration struct {
	Temperature float64 `json:"temperature"` // T
	// expected calibration error on the validation classes with T = 1; null for baselines
	ErrorBefore *float64 `json:"error_before"`
	ErrorAfter  float64  `json:"error_after"` // the same with T
	Samples     int      `json:"samples"`
	Classes     int      `json:"classes"`
}

// Adaptation is how predictions are adapted to a batch of unlabelled samples, as chosen on
// validation classes. Accuracies are those on these, as fractions.
type Adaptation struct {
	adapt.Settings // with Tau 0 adaptation is off
	// of the features that are adapted to, if not that of the model
	Preprocess preprocess.Chain      `json:"preprocess,omitempty"`
	Transform  *preprocess.Transform `json:"-"`
	Before     float64               `json:"before"`   // validation accuracy without adaptation
	After      float64               `json:"after"`    // validation accuracy with it
	Interval   *metrics.Interval     `json:"interval"` // of the change, over classes; null if adaptation is off
	// samples from which the 10th percentile of the change is not below 0
	Smallest int `json:"smallest_batch"`
	Samples  int `json:"samples"`
	Classes  int `json:"classes"`
}

// decisionsKey is that of the metadata of a model file, and adaptationPrefix that of the tensors of
// Adaptation.Transform.
const (
	decisionsKey     = safetensors.Added + "decisions"
	adaptationPrefix = safetensors.Added + "adaptation."
)

// Decide changes the decisions of the model in the folder of a run, under the lock of the run, for
// which it waits. change replaces values; what they point to stays as it is. The file is replaced
// as a whole, or not at all if nothing changes.
func Decide(ctx context.Context, dir string, change func(*Decisions) error) error {
	lock := lockOf(dir)
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return cmp.Or(ctx.Err(), invalid.File(lock.Path(), err))
	}
	defer func() { _ = lock.Unlock() }() // the system frees it, too
	path := filepath.Join(dir, ModelFile)
	f, err := readTensors(path)
	if err != nil {
		return err
	}
	before, err := readDecisions(f)
	if err != nil {
		return invalid.At(path, err)
	}
	d := before
	if err := change(&d); err != nil || reflect.DeepEqual(before, d) {
		return err
	}
	if err := d.addTo(f); err != nil {
		return err
	}
	return writeTensors(path, f)
}

// ReadCorrection reads the correction that was decided for the model in the folder of a run.
func ReadCorrection(dir string) (model.Correction, error) {
	path := filepath.Join(dir, ModelFile)
	metadata, err := safetensors.ReadMetadata(path)
	if err != nil {
		return model.Correction{}, err
	}
	var d Decisions
	err = parse(metadata, decisionsKey, &d)
	return d.Correction, invalid.At(path, err)
}

// addTo replaces the decisions in a model file.
func (d Decisions) addTo(f *safetensors.File) error {
	f.RemoveAdded()
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	f.Metadata[decisionsKey] = string(text)
	if d.Adaptation != nil && d.Adaptation.Transform != nil {
		f.Tensors = append(f.Tensors, transformTensors(adaptationPrefix, d.Adaptation.Transform)...)
	}
	return nil
}

// readDecisions reads those of a model file.
func readDecisions(f *safetensors.File) (d Decisions, err error) {
	if err := parse(f.Metadata, decisionsKey, &d); err != nil {
		return d, err
	}
	const leastTemperature, mostTemperature = 1e-18, 1e18 // quotients of scores stay finite
	if c := d.Calibration; c != nil && !(c.Temperature >= leastTemperature && c.Temperature <= mostTemperature) {
		return d, &invalid.Error{
			Field: "calibration: temperature", Want: fmt.Sprintf("a number from %g to %g", leastTemperature, mostTemperature), Got: fmt.Sprint(c.Temperature),
			Hint: "Train the model again.",
		}
	}
	if a := d.Adaptation; a != nil && a.Preprocess != "" {
		a.Transform, err = readTransform(f, adaptationPrefix, a.Preprocess, -1)
	}
	return d, err
}
