package train

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/version"
	"github.com/lago-train/lago-train/model/method"
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

// ResultsVersion is raised with each change of the program that can change results.
// Runs of another version are neither reused nor listed.
const ResultsVersion = 4

// trainAgain is what to do about damaged files of a run.
const trainAgain = "Delete the folder to train again."

// readFile reads a regular file. It refuses named pipes, which it would wait for.
func readFile(path string) ([]byte, error) {
	const limit = 1 << 30 // far more than a run writes
	if _, err := fileio.SizeOfRegular(path); err != nil {
		return nil, err
	}
	return fileio.ReadFile(context.Background(), path, limit)
}

// found reports whether err is nil, and passes on errors other than fs.ErrNotExist.
func found(err error) (bool, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Environment is what a run was trained with in addition to its trial. It can change the
// last bits of a result.
type Environment struct {
	Versions map[string]string `json:"versions"` // of the program, Go, the platform and the numeric libraries
	BLAS     blas.Info         `json:"blas"`
}

func currentEnvironment() Environment { return Environment{version.All(), blas.Current()} }

// changes lists what differs now, as in "go go1.25.0, now go1.26.1".
func (e Environment) changes(now Environment) string {
	values := func(e Environment) map[string]string {
		v := map[string]string{"BLAS": e.BLAS.String()}
		maps.Copy(v, e.Versions)
		return v
	}
	old, current := values(e), values(now)
	names := maps.Clone(old)
	maps.Copy(names, current)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if old[name] != current[name] {
			changed = append(changed, fmt.Sprintf("%s %s, now %s", name, cmp.Or(old[name], "unknown"), cmp.Or(current[name], "unknown")))
		}
	}
	return strings.Join(changed, "; ")
}

// Record is the content of trial.json.
type Record struct {
	Trial
	Environment                  // in which the run began
	ResultsVersion int           `json:"results_version"`
	Resumed        []Environment `json:"resumed,omitempty"` // other environments in which it was resumed
}

// ReadRecord reads the trial.json of a run's folder. The error is an *invalid.Error if the
// run is of a program with another ResultsVersion.
func ReadRecord(dir string) (r Record, err error) {
	path := filepath.Join(dir, TrialFile)
	data, err := readFile(path)
	if err != nil {
		return r, err
	}
	var made struct {
		Version int `json:"results_version"`
	}
	if err = json.Unmarshal(data, &made); err == nil && made.Version != ResultsVersion {
		return r, &invalid.Error{
			Where: path, Field: "results_version", Want: fmt.Sprint(ResultsVersion), Got: fmt.Sprint(made.Version),
			Hint: "Another version of the program, whose results can differ, made this run. Delete the folder, or choose another, to train again.",
		}
	}
	if err = cmp.Or(err, json.Unmarshal(data, &r)); err == nil {
		err = r.Trial.Check()
	}
	if err == nil {
		return r, nil
	}
	damaged := &invalid.Error{Where: path, Want: "the settings of a run", Got: "damaged JSON", Hint: trainAgain}
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		damaged.Want, damaged.Got, damaged.Err = "", "", e
	}
	return Record{}, damaged
}

// readRecord reads trial.json, which must be of the trial.
func (t Trial) readRecord(dir string) (Record, error) {
	r, err := ReadRecord(dir)
	if err == nil && r.Trial.Name() != t.Name() {
		err = &invalid.Error{
			Where: filepath.Join(dir, TrialFile), Want: "the settings of " + t.Name(), Got: "others",
			Hint: "The folder holds another run. Delete it to train again.",
		}
	}
	return r, err
}

// Epoch is one line of curve.jsonl. Accuracies are fractions.
type Epoch struct {
	Epoch         int            `json:"epoch"` // from 1
	Phases        []method.Phase `json:"phases"`
	TrainAccuracy float64        `json:"train_accuracy"` // per class, after the epoch, of 1,000 train samples at most

	// Of the samples of the val classes; nil in the test stage.
	ValAccuracy          *float64 `json:"val_accuracy"` // per class
	ValAccuracyPerSample *float64 `json:"val_accuracy_per_sample"`
}

// Curve is the history of a run, one element per epoch.
type Curve []Epoch

// Write writes curve.jsonl.
func (c Curve) Write(path string) error {
	return fileio.Write(path, func(w io.Writer) error {
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
	path := filepath.Join(dir, CurveFile)
	for _, file := range []string{filepath.Join(dir, TrialFile), path} {
		_, err := fileio.SizeOfRegular(file)
		if ok, err := found(err); err != nil {
			return nil, err
		} else if !ok {
			return nil, &invalid.Error{Where: file, Want: "a file, since there is a " + ResultFile, Got: "none", Hint: trainAgain}
		}
	}
	if _, err := t.readRecord(dir); err != nil {
		return nil, err
	}
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
