package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/train"
)

// RunDetail is all of a run.
type Detail struct {
	Line
	Why      string             `json:"why"` // it ended
	Settings []protocol.Setting `json:"settings"`
	Versions map[string]string  `json:"versions"`
	BLAS     blas.Info          `json:"blas"`

	TrainAccuracy     *float64 `json:"train_accuracy"`      // per class, at the best epoch
	PerSampleAccuracy *float64 `json:"per_sample_accuracy"` // of the judged classes
	EvaluatedClasses  int      `json:"evaluated_classes"`
	Seconds           float64  `json:"seconds"`

	Files []File `json:"files"`
}

// RunFile is a file of a run.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Holds string `json:"holds"`
}

// holds says what the files of a run are for.
var holds = map[string]string{
	train.TrialFile:  "what defines the run, and what it was carried out with",
	train.CurveFile:  "loss and accuracy of each epoch, a line an epoch",
	train.ResultFile: "why the run ended, and what its model scores",
	train.ModelFile:  "the trained model",
}

// ShowRun reads the run of a folder.
func Show(dir string) (*Detail, error) {
	t, r, err := lab.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: expected the folder of a run, with a %s: %w", dir, train.TrialFile, err)
	}
	if err != nil {
		return nil, err
	}
	d := &Detail{
		Line: lineOf(t), Why: whyEnded(t), Settings: protocol.Settings(t.Trial), Versions: r.Versions, BLAS: r.BLAS,
	}
	if t.Result != nil {
		d.Seconds = t.Result.Seconds
		if j := t.Result.Evaluation; j != nil {
			d.TrainAccuracy, d.PerSampleAccuracy, d.EvaluatedClasses = &t.Result.TrainAccuracy, &j.PerSample, len(j.Classes)
		}
	}
	d.Files, err = runFiles(dir)
	return d, err
}

// whyEnded says in words what the status of a run says in one.
func whyEnded(t lab.Run) string {
	if t.Result == nil {
		return fmt.Sprintf("it has not ended: %v; a command that asks for this run goes on from there", t.Err)
	}
	switch t.Result.Status {
	case train.Patience:
		return fmt.Sprintf("%d epochs passed without a better val accuracy than that of epoch %d", t.Training.Patience, t.Result.BestEpoch)
	case train.Epochs:
		return fmt.Sprintf("all %d epochs were run", t.Result.Epochs)
	case train.Converged:
		return fmt.Sprintf("after epoch %d, a further one would have changed nothing", t.Result.Epochs)
	case train.NotFinite:
		return "its numbers went out of range: " + t.Result.Error
	}
	return string(t.Result.Status)
}

// runFiles lists the files of a folder by name, but for the lock, which is empty.
func runFiles(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() == 0 {
			continue
		}
		files = append(files, File{e.Name(), info.Size(), holds[e.Name()]})
	}
	return files, nil
}
