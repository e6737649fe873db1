package lab

import (
	"runtime"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/mapped"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// large makes a data set of the size from which memory is saved.
func large(t *testing.T) *dataset.Dataset {
	const dims = 2048
	d, err := simulate.Make(simulate.Spec{
		Name: "large", Samples: mapped.Large / dims, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	wide := dataset.NewMatrix[float32](d.Features.Rows, dims)
	for i := range wide.Rows {
		for row := wide.Row(i); len(row) > 0; row = row[d.Features.Cols:] {
			copy(row, d.Features.Row(i))
		}
	}
	d.Features = wide
	return d
}

// Preprocessed features are in memory without those of the data set.
func TestMemoryOfLargeFeatures(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files are not mapped here")
	}
	l := New(large(t), t.TempDir())
	trial := trialOf(l.Data, model.SemanticHard, train.Test, 1)
	trial.Preprocess, trial.Training.Epochs = preprocess.Standardize, 1
	var m runtime.MemStats
	l.Options.OnEpoch = func(train.Trial, train.Epoch) { runtime.ReadMemStats(&m) }
	do(t, l, []train.Trial{trial})
	const features = 4 * mapped.Large
	if got := float64(m.HeapInuse) / features; got < 1 || got > 1.4 {
		t.Errorf("the heap is %.2f times the features, expected at most 1.4", got)
	}
}
