package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Epoch is one line of curve.jsonl. Accuracies are fractions.
type Epoch struct {
	Epoch         int     `json:"epoch"` // from 1
	Phases        []Phase `json:"phases"`
	TrainAccuracy float64 `json:"train_accuracy"` // per class, after the epoch, of 1,000 train samples at most

	// Of the samples of the val classes; nil in the test stage.
	ValAccuracy          *float64 `json:"val_accuracy"` // per class
	ValAccuracyPerSample *float64 `json:"val_accuracy_per_sample"`
}

// validate sets the validation accuracies.
func (e *Epoch) validate(c metrics.Confusion) {
	a := c.Accuracy()
	e.ValAccuracy, e.ValAccuracyPerSample = &a.PerClass, &a.PerSample
}

// Phase is an epoch of W or of V of LAGO, or of a baseline. The loss and its terms are
// means over samples, each at the step that used the sample.
type Phase struct {
	Name    string      `json:"name"` // W, V or the baseline
	Steps   int         `json:"steps"`
	Seconds float64     `json:"seconds"`
	Loss    float64     `json:"loss"`
	Terms   model.Terms `json:"terms"`
}

// Curve is the history of a run, one element per epoch.
type Curve []Epoch

// Write writes curve.jsonl.
func (c Curve) Write(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, epoch := range c {
			if err := e.Encode(epoch); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadCurve reads the curve.jsonl of a run of the stage. In the dev stage each epoch has
// validation accuracies. Errors are *invalid.Error and name the line.
func ReadCurve(path string, stage Stage) (c Curve, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		n := len(c) + 1
		bad := func(want, got string) error {
			return &invalid.Error{Where: path, Field: fmt.Sprintf("line %d", n), Want: want, Got: got, Hint: trainAgain}
		}
		var e Epoch
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, bad("the JSON object of an epoch", "other text")
		}
		if e.Epoch != n {
			return nil, bad(fmt.Sprintf("epoch %d", n), fmt.Sprintf("epoch %d", e.Epoch))
		}
		if stage == Dev && (e.ValAccuracy == nil || e.ValAccuracyPerSample == nil) {
			return nil, bad("val_accuracy and val_accuracy_per_sample", "null")
		}
		for _, a := range []*float64{&e.TrainAccuracy, e.ValAccuracy, e.ValAccuracyPerSample} {
			if a != nil && !(*a >= 0 && *a <= 1) {
				return nil, bad("accuracies from 0 to 1", fmt.Sprint(*a))
			}
		}
		c = append(c, e)
	}
	if lines.Err() != nil {
		return nil, &invalid.Error{Where: path, Field: fmt.Sprintf("line %d", len(c)+1), Want: "at most 1 MB", Got: "more"}
	}
	return c, nil
}

// seconds is the time that the phases took.
func (c Curve) seconds() float64 {
	var s float64
	for _, e := range c {
		for _, p := range e.Phases {
			s += p.Seconds
		}
	}
	return s
}
