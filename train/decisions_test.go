package train

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
)

// Another correction trains nothing: its accuracy, also for an omega that no search tries, is that of
// a new run which was asked for it, and the model with this decision has it too. All models store
// what corrections need.
func TestDecideCorrection(t *testing.T) {
	d := tiny.Small()
	for _, name := range []string{"semantic-hard", "eszsl"} {
		for _, stage := range []Stage{Dev, Test} {
			trial := methodTrial(d, testkit.Must(methods.Parse(name))(t), stage)
			root := t.TempDir()
			dir, first := finished(t, root, d, trial)
			before := testkit.Must(Load(filepath.Join(dir, ModelFile)))(t)
			asked := []model.Correction{{Kind: model.Standardise, Omega: 0.5}, {Kind: model.Standardise, Omega: 0.3}}
			again := testkit.Must(Run(t.Context(), root, trial, asked, data(d, trial), Options{
				OnEpoch: func(Trial, Epoch) { t.Error("trained again") },
			}))(t)
			fresh := testkit.Must(Run(t.Context(), t.TempDir(), trial, asked, data(d, trial), Options{}))(t)
			testkit.Equal(t, fmt.Sprintf("%s, %s: evaluations", name, stage), again, fresh, butSeconds)
			testkit.Equal(t, "number of evaluations", len(again.Evaluations), len(first.Evaluations)+1)
			for _, c := range asked {
				testkit.NoError(t, Decide(t.Context(), dir, func(d *Decisions) error {
					d.Correction = c
					return nil
				}))
				s := testkit.Must(Load(filepath.Join(dir, ModelFile)))(t)
				reproduces(t, s, d, stage, again.Evaluation(c))
				if got := testkit.Must(ReadCorrection(dir))(t); got != c || s.Correction != c {
					t.Errorf("decided %v, the model has %v", c, s.Correction)
				}
				testkit.Equal(t, fmt.Sprintf("%s, %s: weights after a correction", name, stage), s.Classifier.(method.Model).Tensors(), before.Classifier.(method.Model).Tensors())
			}
		}
	}
}

// Decisions leave the checksum of the tensors as it is. They are waited for while the run is locked,
// and what does not change is not written.
func TestDecideAdaptation(t *testing.T) {
	d := tiny.Small()
	before, dir, _ := loaded(t, d, short(d, model.SemanticHard, "sqrt,l2,whiten"))
	path := filepath.Join(dir, ModelFile)
	fit := testkit.Must(preprocess.Fit("standardize,whiten", 10, d.Features, d.SamplesOf(d.Split.Seen())))(t)
	want := &Adaptation{
		Settings: adapt.Settings{Temperature: 2, Tau: 60}, Preprocess: fit.Chain, Transform: fit, Before: 0.5, After: 0.75, Smallest: 50,
		Samples: 40, Classes: 4,
	}
	decide := func(change func(*Decisions)) {
		t.Helper()
		lock := testkit.Must(Lock(dir))(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := Decide(ctx, dir, func(*Decisions) error { return nil })
		testkit.WantError(t, err, "context canceled")
		testkit.NoError(t, lock.Unlock())
		testkit.NoError(t, Decide(t.Context(), dir, func(d *Decisions) error {
			change(d)
			return nil
		}))
	}
	decide(func(d *Decisions) { d.Adaptation, d.Calibration = want, &Calibration{Temperature: 1.5} })
	written := files(t, dir)
	decide(func(d *Decisions) { d.Calibration = &Calibration{Temperature: 1.5} })
	testkit.Equal(t, "files after equal decisions", files(t, dir), written)
	after := testkit.Must(Load(path))(t)
	if diff := cmp.Diff(want, after.Adaptation); diff != "" || after.Calibration.Temperature != 1.5 || after.AdaptedFeatures() != after.Adaptation.Transform {
		t.Errorf("(-decided +loaded):\n%s", diff)
	}
	after.Adaptation, after.Calibration = nil, nil
	testkit.Equal(t, "model without the decisions", after, before, butImputer)
	decide(func(d *Decisions) { d.Adaptation = nil })
	f := testkit.Must(safetensors.ReadFile(path))(t)
	for _, tensor := range f.Tensors {
		if tensor.Name == adaptationPrefix+"matrix" {
			t.Error("the features of an adaptation that was dropped are in the file")
		}
	}
	decide(func(d *Decisions) { d.Calibration = &Calibration{Temperature: 1e308} })
	_, err := Load(path)
	testkit.WantError(t, err, path+": calibration: temperature: expected a number from 1e-18 to 1e+18, found 1e+308")
}

// The share of held-out samples with a lower fit is 0 below all, 1 above all, and interpolated.
func TestFitShare(t *testing.T) {
	var fits []float64
	for i := range 1000 {
		fits = append(fits, float64((i*7)%1000))
	}
	f := NewFit(fits, 10)
	for fit, want := range map[float64]float64{-1: 0, 250: 0.25, 333.3: 0.333, 999: 1, 2000: 1} {
		testkit.Near(t, "share", f.Share(fit), want, 0.002)
	}
	if f := NewFit([]float64{3}, 1); f.Share(3) != 0 || f.Share(4) != 1 {
		t.Errorf("of one sample: %g and %g", f.Share(3), f.Share(4))
	}
}
