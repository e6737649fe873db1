package lab

import (
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// preprocessed returns a trial of a stage with whitened features.
func preprocessed(stage train.Stage, ridge float64, seed uint64) train.Trial {
	t := trialOf(small(), model.SemanticHard, stage, seed)
	t.Preprocess, t.Ridge = preprocess.Whiten, ridge
	return t
}

func views(d *dataset.Dataset) map[string]*dataset.Dataset {
	return map[string]*dataset.Dataset{d.Fingerprint(): d}
}

func TestTrialsShareTheirData(t *testing.T) {
	var trials []train.Trial
	for seed := range uint64(8) {
		trials = append(trials, preprocessed(train.Dev, 1, seed))
	}
	p := newPrepared(views(small()), trials)
	got := make([]*train.Data, len(trials))
	var wg sync.WaitGroup
	for i, trial := range trials {
		wg.Go(func() {
			var err error
			if got[i], err = p.get(trial); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, data := range got {
		if data != got[0] {
			t.Errorf("trial %d has other data", i)
		}
	}
}

func TestTrialsThatDifferInPreparationHaveOtherData(t *testing.T) {
	standardized := preprocessed(train.Dev, 0, 1)
	standardized.Preprocess = preprocess.Standardize
	trials := []train.Trial{
		preprocessed(train.Dev, 1, 1), preprocessed(train.Test, 1, 1), preprocessed(train.Dev, 2, 1), standardized,
	}
	p := newPrepared(views(small()), trials)
	seen := map[*train.Data]int{}
	for i, trial := range trials {
		data, err := p.get(trial)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[data]; ok {
			t.Errorf("trials %d and %d share their data", other, i)
		}
		seen[data] = i
	}
}

func TestDataAreFreedAfterTheLastTrial(t *testing.T) {
	trials := []train.Trial{preprocessed(train.Dev, 1, 1), preprocessed(train.Dev, 1, 2)}
	p := newPrepared(views(small()), trials)
	held := func(trial train.Trial) weak.Pointer[train.Data] {
		data, err := p.get(trial)
		if err != nil {
			t.Fatal(err)
		}
		return weak.Make(data)
	}
	data := held(trials[0])
	p.release(trials[0])
	runtime.GC()
	if data.Value() == nil || held(trials[1]) != data {
		t.Error("the data are dropped before their last trial")
	}
	p.release(trials[1])
	runtime.GC()
	if data.Value() != nil {
		t.Error("the data are still in memory")
	}
	runtime.KeepAlive(p) // which must not hold them
}

func TestTrialReleasesItsData(t *testing.T) {
	d := small()
	for _, trial := range []train.Trial{trialOf(d, model.SemanticHard, train.Dev, 1), failing(d)} {
		p := newPrepared(views(d), []train.Trial{trial})
		New(d, t.TempDir()).one(t.Context(), &Run{Trial: trial}, p, &counter{})
		if len(p.entries) != 0 {
			t.Errorf("the data are kept after %s", trial.Name())
		}
	}
}

func TestPreparationErrorReachesEveryTrial(t *testing.T) {
	trials := []train.Trial{preprocessed(train.Dev, -1, 1), preprocessed(train.Dev, -1, 2)}
	p := newPrepared(views(small()), trials)
	for i, trial := range trials {
		if data, err := p.get(trial); err == nil {
			t.Errorf("trial %d: %v, expected an error on a ridge of -1", i, data)
		}
		p.release(trial)
	}
}
