package runs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

// Detail is all of a run.
type Detail struct {
	Line
	Why      string                  `json:"why"` // why the run ended
	Settings []protocol.TrialSetting `json:"settings"`
	Versions map[string]string       `json:"versions"`
	BLAS     blas.Info               `json:"blas"`

	TrainAccuracy     *float64 `json:"train_accuracy"`      // per class, at the best epoch
	PerSampleAccuracy *float64 `json:"per_sample_accuracy"` // of the evaluated classes
	EvaluatedClasses  int      `json:"evaluated_classes"`
	Seconds           float64  `json:"seconds"`

	Files []File `json:"files"`
}

// File is a file of a run.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Holds string `json:"holds"`
}

// holds describes the files of a run.
var holds = map[string]string{
	train.TrialFile:  "settings of the run, versions and BLAS",
	train.CurveFile:  "loss and accuracy, one line per epoch",
	train.ResultFile: "why the run ended, and its accuracy",
	train.ModelFile:  "the trained model",
}

// Show reads the run of a folder.
func Show(dir string) (*Detail, error) {
	t, r, err := lab.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &invalid.Error{Where: dir, Want: "the folder of a run, with a " + train.TrialFile, Got: "none"}
	}
	if err != nil {
		return nil, err
	}
	d := &Detail{
		Line: lineOf(t), Why: whyEnded(t), Settings: protocol.OfTrial(t.Trial), Versions: r.Versions, BLAS: r.BLAS,
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

// whyEnded explains the status of a run.
func whyEnded(t lab.Run) string {
	if t.Result == nil {
		if unfinished := (*lab.Unfinished)(nil); errors.As(t.Err, &unfinished) {
			return t.Why() + "; repeat the command that started it to resume"
		}
		return t.Why()
	}
	switch t.Result.Status {
	case train.Patience:
		return fmt.Sprintf("%s passed without a better validation accuracy than in epoch %d", format.Count(t.Training.Patience, "epoch"), t.Result.BestEpoch)
	case train.Epochs:
		return fmt.Sprintf("all %d epochs were run", t.Result.Epochs)
	case train.Converged:
		return fmt.Sprintf("converged in epoch %d", t.Result.Epochs)
	case train.NotFinite:
		return "its numbers went out of range: " + t.Result.Error
	case train.Failed:
		return "failed: " + t.Result.Error
	}
	return string(t.Result.Status)
}

// runFiles lists the files of a folder, except the lock, which is empty.
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

// evaluatedOn names the classes that a stage evaluates.
var evaluatedOn = map[train.Stage]string{train.Dev: "validation", train.Test: "test"}

// WriteText writes all of a run.
func (d *Detail) WriteText(w io.Writer) error {
	var b strings.Builder
	ended := d.Why
	if d.Status != statusUnfinished { // which Why repeats
		ended = fmt.Sprintf("%s: %s", d.Status, d.Why)
	}
	fmt.Fprintf(&b, "%s\n\nended     %s\n", d.Dir, ended)
	fmt.Fprintf(&b, "epochs    %s in %.1f s\n", format.Count(d.Epochs, "epoch"), d.Seconds)
	if d.Accuracy != nil {
		fmt.Fprintf(&b, "accuracy  %s per class and %s per sample on %d %s classes, %s on the training classes; epoch %d\n",
			format.Percent(*d.Accuracy), format.Percent(*d.PerSampleAccuracy), d.EvaluatedClasses, evaluatedOn[d.Stage], format.Percent(*d.TrainAccuracy), d.BestEpoch)
	}
	fmt.Fprint(&b, "\nsettings\n")
	for _, s := range d.Settings {
		fmt.Fprintf(&b, "  %-12s %v\n", s.Name, s.Value)
	}
	fmt.Fprint(&b, "\nversions\n")
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		fmt.Fprintf(&b, "  %s %s\n", name, d.Versions[name])
	}
	fmt.Fprintf(&b, "  %s\n\nfiles\n", d.BLAS)
	for _, f := range d.Files {
		fmt.Fprintf(&b, "  %-24s %9s  %s\n", f.Name, format.Bytes(f.Bytes), f.Holds)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
