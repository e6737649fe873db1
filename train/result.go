package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The files of a run's folder.
const (
	TrialFile      = "trial.json"
	CurveFile      = "curve.jsonl"
	ResultFile     = "result.json"
	ModelFile      = "model.safetensors"
	checkpointFile = "checkpoint.safetensors"
	lockFile       = "lock"
)

// Result is what a run came to; accuracies are fractions.
type Result struct {
	Status    Status  `json:"status"` // why it ended
	Error     string  `json:"error,omitempty"`
	Epochs    int     `json:"epochs"`     // that were run
	BestEpoch int     `json:"best_epoch"` // whose weights were kept
	Seconds   float64 `json:"seconds"`    // of its phases

	TrainAccuracy float64     `json:"train_accuracy"` // per class, at the best epoch
	Evaluation    *Evaluation `json:"evaluation,omitempty"`
}

// Evaluation is how the kept weights name the classes of a stage that training did
// not learn from: val in dev, test in test.
type Evaluation struct {
	PerClass  float64  `json:"per_class_accuracy"`
	PerSample float64  `json:"per_sample_accuracy"`
	Classes   []string `json:"classes"`
	Confusion [][]int  `json:"confusion"` // samples of the row's class that were named the column's
}

// ReadResult reads the result of a finished run; the error is fs.ErrNotExist for
// one that is not.
func ReadResult(dir string) (*Result, error) {
	r := new(Result)
	return r, readJSON(filepath.Join(dir, ResultFile), r)
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
