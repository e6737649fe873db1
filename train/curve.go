package train

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Epoch is one line of curve.jsonl. Accuracies are fractions.
type Epoch struct {
	Epoch         int     `json:"epoch"` // from 1
	Phases        []Phase `json:"phases"`
	TrainAccuracy float64 `json:"train_accuracy"` // per class, after the epoch

	// Of the samples of the val classes, nil where a run has none.
	ValAccuracy          *float64 `json:"val_accuracy"` // per class
	ValAccuracyPerSample *float64 `json:"val_accuracy_per_sample"`
}

// validate notes how the val classes were named.
func (e *Epoch) validate(named metrics.Confusion) {
	a := named.Accuracy()
	e.ValAccuracy, e.ValAccuracyPerSample = &a.PerClass, &a.PerSample
}

// Phase is an epoch of one of the two parameters of LAGO, or of a baseline. The loss and its terms are
// means over its samples, each as it was when the sample came.
type Phase struct {
	Name    string      `json:"name"` // W or V, or the baseline
	Steps   int         `json:"steps"`
	Seconds float64     `json:"seconds"`
	Loss    float64     `json:"loss"`
	Terms   model.Terms `json:"terms"`
}

// Curve is the history of a run, an element an epoch.
type Curve []Epoch

// Write writes curve.jsonl, whole or not at all.
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

// ReadCurve reads a curve.jsonl. The error names the file and the line.
func ReadCurve(path string) (c Curve, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		n := len(c) + 1
		var e Epoch
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s: line %d: expected an epoch: %w", path, n, err)
		}
		if e.Epoch != n {
			return nil, fmt.Errorf("%s: line %d: expected epoch %d, found epoch %d", path, n, n, e.Epoch)
		}
		c = append(c, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, len(c)+1, err)
	}
	return c, nil
}
