package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/train/metrics"
)

// The files of a run's folder.
const (
	TrialFile      = "trial.json"
	CurveFile      = "curve.jsonl"
	ResultFile     = "result.json"
	ModelFile      = "model.safetensors"
	checkpointFile = "checkpoint.safetensors"
	LockFile       = "lock"
)

// ResultsVersion is raised with each change of the program that can change results.
// Runs of another version are neither reused nor listed.
const ResultsVersion = 13

func damaged(path string, err error) error {
	e := &invalid.Error{Want: "what a run writes", Got: "damaged JSON"}
	errors.As(err, &e) // else it is of encoding/json
	return &invalid.Error{Where: path, Err: e, Hint: "Delete the folder to train again."}
}

// Keys of the metadata of files of tensors.
const (
	modelKey    = "lago"
	progressKey = "progress"
)

func writeTensors(path string, f *safetensors.File) error {
	return fileio.Write(path, func(w io.Writer) error { return safetensors.Write(w, f.Tensors, f.Metadata) })
}

func readTensors(path string) (*safetensors.File, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !f.Checksummed {
		return nil, &invalid.Error{
			Where: path, Field: "checksum", Want: "one in the metadata", Got: "none",
			Hint: "The file is damaged.",
		}
	}
	return f, nil
}

func parse(metadata map[string]string, key string, v any) error {
	err := json.Unmarshal([]byte(metadata[key]), v)
	if err == nil {
		return nil
	}
	e := &invalid.Error{Field: "metadata", Want: "a model or checkpoint of lago-train"}
	if cause := (*invalid.Error)(nil); errors.As(err, &cause) {
		e.Err = cause
	}
	return e
}

func named(prefix string, t method.Tensors) []safetensors.Tensor {
	list := make([]safetensors.Tensor, len(t))
	for i, m := range t {
		list[i] = safetensors.Tensor{
			Name: prefix + m.Name, Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data,
		}
	}
	return list
}

// Environment is what a run was trained with in addition to its trial. It can change the
// last bits of a result.
type Environment struct {
	Versions map[string]string `json:"versions"` // of the program, Go, the platform and the numeric libraries
	BLAS     blas.Info         `json:"blas"`
}

func currentEnvironment() Environment { return Environment{blas.Versions(), blas.Current()} }

// Record is the content of trial.json.
type Record struct {
	Trial
	Environment // in which the run began
	// of the code; finished runs of another version are not reused
	ResultsVersion int           `json:"results_version"`
	Resumed        []Environment `json:"resumed,omitempty"` // other environments in which it was resumed
}

// ReadRecord reads the trial.json of a run's folder. The error is an *invalid.Error if the
// run is of a program with another ResultsVersion.
func ReadRecord(dir string) (Record, error) {
	path := filepath.Join(dir, TrialFile)
	data, err := fileio.ReadRegular(path)
	if err != nil {
		return Record{}, err
	}
	var made struct {
		Version int `json:"results_version"`
	}
	if err = json.Unmarshal(data, &made); err == nil && made.Version != ResultsVersion {
		return Record{}, &invalid.Error{
			Where: path, Field: "results_version", Want: fmt.Sprint(ResultsVersion),
			Got: fmt.Sprint(made.Version),
			Hint: "Another version of the program, whose results can differ, made this run. Delete the " +
				"folder, or choose another, to train again.",
		}
	}
	var r Record
	if err = fileio.Unmarshal(data, &r); err == nil {
		err = r.Trial.Check()
	}
	if err != nil {
		return Record{}, damaged(path, err)
	}
	return r, nil
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
	Epoch  int            `json:"epoch"` // from 1
	Phases []method.Phase `json:"phases"`
	// per class, after the epoch, of 1,000 train samples at most
	TrainAccuracy float64 `json:"train_accuracy"`

	// Of the samples of the val classes; nil in the test stage.
	ValAccuracy          *float64 `json:"val_accuracy"` // per class
	ValAccuracyPerSample *float64 `json:"val_accuracy_per_sample"`
}

// Curve is the history of a run, one element per epoch.
type Curve []Epoch

// Write writes curve.jsonl.
func (c Curve) Write(path string) error { return fileio.Write(path, c.encode) }

func (c Curve) encode(w io.Writer) error {
	e := json.NewEncoder(w)
	for _, epoch := range c {
		if err := e.Encode(epoch); err != nil {
			return err
		}
	}
	return nil
}

// sum is the SHA-256 of what Write writes, in hex.
func (c Curve) sum() string {
	h := sha256.New()
	_ = c.encode(h) // what is written has no error
	return hex.EncodeToString(h.Sum(nil))
}

// verify returns an *invalid.Error unless the curve of the file at path has a checksum, which
// another file holds.
func (c Curve) verify(path, want, holder string) error {
	if c.sum() == want {
		return nil
	}
	return &invalid.Error{Where: path, Want: "the curve whose checksum is in " + holder, Got: "another"}
}

// ReadCurve reads the curve.jsonl of a run of the stage, which must be as a run writes it: a value that is
// missing or null would be read as 0. Errors are *invalid.Error and name the file.
func ReadCurve(path string, stage Stage) (c Curve, err error) {
	data, err := fileio.ReadRegular(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var e Epoch
		if fileio.Unmarshal(line, &e) != nil || e.Epoch != len(c)+1 ||
			stage == Dev && (e.ValAccuracy == nil || e.ValAccuracyPerSample == nil) {
			break
		}
		c = append(c, e)
	}
	var written bytes.Buffer
	if err := c.encode(&written); err != nil || !bytes.Equal(data, written.Bytes()) {
		return nil, damaged(path, invalid.Expected("", "other text",
			"a JSON object per line for each epoch of a run of the %s stage", stage))
	}
	return c, nil
}

func (c Curve) seconds() float64 {
	var s float64
	for _, e := range c {
		for _, p := range e.Phases {
			s += p.Seconds
		}
	}
	return s
}

// Status says why a run ended.
type Status string

const (
	Patience  Status = "patience"   // no better validation accuracy for as many epochs as the patience
	Epochs    Status = "epochs"     // all epochs were run
	Converged Status = "converged"  // a further epoch would change nothing: a closed form, or an optimum
	NotFinite Status = "not finite" // a term of the loss or a parameter was NaN or infinite
	// the data and the settings do not go together, or an optimum was not found
	Failed    Status = "failed"
	Cancelled Status = "cancelled" // interrupted; the run resumes from its checkpoint
)

// Result is the content of result.json. Accuracies are fractions.
type Result struct {
	// why the run ended: patience, epochs, converged, not finite or failed
	Status    Status  `json:"status"`
	Error     string  `json:"error,omitempty"` // why there is no model
	Epochs    int     `json:"epochs"`          // number of epochs run
	BestEpoch int     `json:"best_epoch"`      // the epoch whose parameters were kept
	Seconds   float64 `json:"seconds"`         // of training, without evaluation

	TrainAccuracy float64 `json:"train_accuracy"` // per class, at the best epoch
	// names of the evaluated classes: validation in the dev stage, test in the test stage
	Classes []string `json:"classes,omitempty"`
	// with no correction, and with each of the method
	Evaluations []Evaluation `json:"evaluations,omitempty"`
}

// Evaluation is that of the best epoch's model, with a correction of its scores.
type Evaluation struct {
	model.Correction
	PerClass  float64 `json:"per_class_accuracy"`
	PerSample float64 `json:"per_sample_accuracy"`
	// for each pair of classes that has samples: their class, their predicted class, both from 0, and their
	// number
	Confusion metrics.Confusion `json:"confusion"`
}

// Evaluation returns that with a correction, nil if it was not measured.
func (r *Result) Evaluation(c model.Correction) *Evaluation {
	i := slices.IndexFunc(r.Evaluations, func(e Evaluation) bool { return e.Correction == c.Canonical() })
	if i < 0 {
		return nil
	}
	return &r.Evaluations[i]
}

// StoredResult is the content of result.json, which ends in its checksum.
type StoredResult struct {
	Run   string `json:"run"`          // name of the run, which is that of its folder
	Curve string `json:"curve_sha256"` // of curve.jsonl
	*Result
}

// Failure is the error of a run that ended without a model.
func (r *Result) Failure() error {
	if r.Status == NotFinite || r.Status == Failed {
		return errors.New(r.Error)
	}
	return nil
}

// WriteResult writes the curve and, last, the result, which marks the run in a folder as finished.
func (t Trial) WriteResult(dir string, r *Result, c Curve) error {
	if err := c.Write(filepath.Join(dir, CurveFile)); err != nil {
		return err
	}
	return fileio.WriteSealed(filepath.Join(dir, ResultFile), StoredResult{t.Name(), c.sum(), r})
}

// ReadResult reads the result of the finished run of the trial in a folder. The error is
// fs.ErrNotExist for an unfinished run. It is an *invalid.Error where the files of the folder do
// not belong to the trial, were changed or were made by a program with another ResultsVersion.
func (t Trial) ReadResult(dir string) (*Result, error) {
	path, curvePath := filepath.Join(dir, ResultFile), filepath.Join(dir, CurveFile)
	data, err := fileio.ReadRegular(path)
	if err != nil {
		return nil, err
	}
	var curve Curve
	if _, err = t.readRecord(dir); err == nil {
		curve, err = ReadCurve(curvePath, t.Stage)
	}
	if missing := (*invalid.Error)(nil); errors.Is(err, fs.ErrNotExist) && errors.As(err, &missing) {
		return nil, damaged(missing.Where,
			invalid.Expected("", "none", "a file, since there is a %s", ResultFile))
	}
	if err != nil {
		return nil, err
	}
	stored := StoredResult{Result: new(Result)}
	if err = fileio.DecodeSealed(data, &stored); err == nil {
		err = t.checkRun(stored.Run)
	}
	if err != nil {
		return nil, damaged(path, err)
	}
	if err := curve.verify(curvePath, stored.Curve, ResultFile); err != nil {
		return nil, damaged("", err)
	}
	return stored.Result, nil
}

// checkRun returns an *invalid.Error unless a file is of the run with the name of the trial.
func (t Trial) checkRun(name string) error {
	if name == t.Name() {
		return nil
	}
	return &invalid.Error{Field: "run", Want: t.Name(), Got: invalid.Quote(name)}
}
