package lab

import (
	"runtime"
	"testing"
	"weak"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Preprocessed features are in memory without those of the data set.
func TestMemoryOfLargeFeatures(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files are not mapped here")
	}
	const dims = 2048
	d := simulate.Make(simulate.Spec{
		Name: "simulated-large", Samples: fileio.Large / dims, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
	wide := dataset.NewMatrix[float32](d.Features.Rows, dims)
	for i := range wide.Rows {
		for row := wide.Row(i); len(row) > 0; row = row[d.Features.Cols:] {
			copy(row, d.Features.Row(i))
		}
	}
	d.Features = wide
	l := New(d, t.TempDir())
	trial := trialOf(l.Data, model.SemanticHard, train.Test, 1)
	trial.Preprocess, trial.Epochs = preprocess.Standardize, 1
	var m runtime.MemStats
	l.Options.OnEpoch = func(train.Trial, train.Epoch) { runtime.ReadMemStats(&m) }
	do(t, l, []train.Trial{trial})
	const features = 4 * fileio.Large
	if got := float64(m.HeapInuse) / features; got < 1 || got > 1.4 {
		t.Errorf("the heap is %.2f times the features, expected at most 1.4", got)
	}
}

// Trials share their preprocessed features, unless they differ in what these depend on, and
// the last one frees them.
func TestTrialsShareTheirData(t *testing.T) {
	d := tiny.Small()
	whitened := func(stage train.Stage, ridge float64, seed uint64) train.Trial {
		trial := trialOf(d, model.SemanticHard, stage, seed)
		trial.Preprocess, trial.Ridge = preprocess.Whiten, ridge
		return trial
	}
	trials := []train.Trial{
		whitened(train.Dev, 1, 1), whitened(train.Dev, 1, 2), whitened(train.Test, 1, 1), whitened(train.Dev, 2, 1),
		trialOf(d, model.SemanticHard, train.Dev, 1), whitened(train.Dev, -1, 1),
	}
	p := newPrepared(map[string]*dataset.Dataset{d.Fingerprint(): d}, trials)
	got := make([]weak.Pointer[train.Data], len(trials))
	for i, trial := range trials {
		data, err := p.get(trial)
		if (err != nil) != (trial.Ridge < 0) {
			t.Fatalf("trial %d: error %v", i, err)
		}
		got[i] = weak.Make(data)
		for j := range i {
			if equal := got[i] == got[j]; equal != (i == 1) {
				t.Errorf("trials %d and %d share their data: %v", i, j, equal)
			}
		}
	}
	p.release(trials[0])
	runtime.GC()
	if got[0].Value() == nil {
		t.Error("the data are freed before their last trial")
	}
	p.release(trials[1])
	runtime.GC()
	if got[0].Value() != nil || got[2].Value() == nil {
		t.Error("expected the data of the first two trials alone to be freed")
	}
	runtime.KeepAlive(p)
}
