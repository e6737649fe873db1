package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of a run's folder.
const (
	TrialFile      = "trial.json"
	CurveFile      = "curve.jsonl"
	ResultFile     = "result.json"
	ModelFile      = "model.safetensors"
	checkpointFile = "checkpoint.safetensors"
	damagedFile    = "checkpoint.damaged.safetensors"
	lockFile       = "lock"
)

// trainAgain is what to do about damaged files of a run.
const trainAgain = "Delete the folder to train again."

// readFile reads a regular file. It refuses named pipes, which it would wait for.
func readFile(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	return data, invalid.File(path, err)
}

// regular is nil for a regular file.
func regular(path string) error {
	_, err := input.SizeOfRegular(path)
	return err
}

// Result is the content of result.json. Accuracies are fractions.
type Result struct {
	Status    Status  `json:"status"`
	Error     string  `json:"error,omitempty"`
	Epochs    int     `json:"epochs"`     // number of epochs run
	BestEpoch int     `json:"best_epoch"` // the epoch whose parameters were kept
	Seconds   float64 `json:"seconds"`    // of training, without evaluation

	TrainAccuracy float64     `json:"train_accuracy"` // per class, at the best epoch
	Evaluation    *Evaluation `json:"evaluation,omitempty"`
}

// Evaluation is that of the best epoch's model on the val classes (dev stage) or the
// test classes (test stage).
type Evaluation struct {
	PerClass  float64  `json:"per_class_accuracy"`
	PerSample float64  `json:"per_sample_accuracy"`
	Classes   []string `json:"classes"`
	Confusion [][]int  `json:"confusion"` // samples by class (row) and predicted class (column)
}

// Failure is the error of a run that ended without a model.
func (r *Result) Failure() error {
	if r.failed() {
		return errors.New(r.Error)
	}
	return nil
}

func (r *Result) failed() bool { return r.Status == NotFinite || r.Status == Failed }

// ReadResult reads the result.json of a run's folder. The error is fs.ErrNotExist for an
// unfinished run, and an *invalid.Error for a file without a complete result.
func ReadResult(dir string) (*Result, error) {
	path := filepath.Join(dir, ResultFile)
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Result)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, &invalid.Error{Where: path, Want: "the result of a run", Got: "damaged JSON", Hint: trainAgain}
	}
	if err := r.check(); err != nil {
		err.Where, err.Hint = path, trainAgain
		return nil, err
	}
	return r, nil
}

// check returns an error where r cannot be what a run wrote.
func (r *Result) check() *invalid.Error {
	if !slices.Contains([]Status{Patience, Epochs, Converged, NotFinite, Failed}, r.Status) {
		return &invalid.Error{Field: "status", Want: "the status of a finished run", Got: fmt.Sprintf("%q", string(r.Status))}
	}
	if r.failed() {
		return nil
	}
	if r.Epochs < 1 {
		return &invalid.Error{Field: "epochs", Want: "at least 1", Got: fmt.Sprint(r.Epochs)}
	}
	if r.BestEpoch < 1 || r.BestEpoch > r.Epochs {
		return &invalid.Error{Field: "best_epoch", Want: fmt.Sprintf("1 to %d", r.Epochs), Got: fmt.Sprint(r.BestEpoch)}
	}
	e := r.Evaluation
	if e == nil || len(e.Classes) == 0 {
		return &invalid.Error{Field: "evaluation", Want: "the accuracy on at least one class", Got: "none"}
	}
	square := len(e.Confusion) == len(e.Classes)
	for _, row := range e.Confusion {
		square = square && len(row) == len(e.Classes)
	}
	if !square {
		return &invalid.Error{Field: "evaluation.confusion", Want: fmt.Sprintf("%d rows and columns, one per class", len(e.Classes))}
	}
	for _, a := range []float64{e.PerClass, e.PerSample, r.TrainAccuracy} {
		if !(a >= 0 && a <= 1) {
			return &invalid.Error{Field: "accuracy", Want: "a fraction from 0 to 1", Got: fmt.Sprint(a)}
		}
	}
	return nil
}

// ReadResult reads the result of the finished run of the trial in a folder, for reuse. The
// error is fs.ErrNotExist for an unfinished run. It is an *invalid.Error where the files
// of the folder do not belong to the trial, contradict each other or were made by a
// program with another ResultsVersion.
func (t Trial) ReadResult(dir string) (*Result, error) {
	result, err := ReadResult(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range []string{TrialFile, CurveFile} {
		if ok, err := found(regular(filepath.Join(dir, file))); err != nil {
			return nil, err
		} else if !ok {
			return nil, &invalid.Error{Where: filepath.Join(dir, file), Want: "a file, since there is a " + ResultFile, Got: "none", Hint: trainAgain}
		}
	}
	record, err := t.readRecord(dir)
	if err != nil {
		return nil, err
	}
	if v := record.ResultsVersion; !t.hasResultsOf(v) {
		return nil, &invalid.Error{
			Where: filepath.Join(dir, TrialFile), Field: "results_version", Want: fmt.Sprint(ResultsVersion), Got: fmt.Sprint(v),
			Hint: "Another version of the program, whose results can differ, finished this run. Delete the folder, or choose another, to train again.",
		}
	}
	path := filepath.Join(dir, CurveFile)
	curve, err := ReadCurve(path, t.Stage)
	if err != nil {
		return nil, err
	}
	if len(curve) != result.Epochs {
		return nil, &invalid.Error{
			Where: path, Want: fmt.Sprintf("the %d epochs of %s", result.Epochs, ResultFile), Got: fmt.Sprint(len(curve)),
			Hint: trainAgain,
		}
	}
	return result, nil
}

// chance reports whether an evaluation predicts one class for every sample, which is
// exactly chance.
func (e *Evaluation) chance() bool {
	predicted := -1
	for _, row := range e.Confusion {
		for z, n := range row {
			if n > 0 && predicted >= 0 && predicted != z {
				return false
			}
			if n > 0 {
				predicted = z
			}
		}
	}
	return predicted >= 0 && len(e.Classes) > 1
}

// found reports whether err is nil, and passes on errors other than fs.ErrNotExist.
func found(err error) (bool, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
