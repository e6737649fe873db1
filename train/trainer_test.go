package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

func TestTrainingImproves(t *testing.T) {
	d := tiny.Learnable()
	chance := 1 / float64(len(d.Split.Val))
	for _, v := range model.Variants {
		curve := trained(t, d, trialOn(d, v, Dev), Epochs).curve
		first, last := curve[0], curve[5]
		for i, p := range last.Phases {
			if !(p.Loss < first.Phases[i].Loss) {
				t.Errorf("%s, phase %s: the loss went from %g to %g", v, p.Name, first.Phases[i].Loss, p.Loss)
			}
		}
		// There are 4 times as many train classes.
		for _, a := range []float64{*last.ValAccuracy, *last.ValAccuracyPerSample, last.TrainAccuracy} {
			if a < 4*chance {
				t.Errorf("%s: accuracy %g, expected 4 times chance (%g) at least", v, a, chance)
			}
		}
	}
}

func TestEarlyStopping(t *testing.T) {
	d := tiny.Learnable()
	for _, v := range []model.Variant{model.SemanticHard, model.KSoft} {
		t.Run(string(v), func(t *testing.T) {
			trial := trialOn(d, v, Dev)
			trial.Epochs, trial.Patience = 100, 4
			lagoOf(trial).LR = 0.1 // overshoots
			tr := trained(t, d, trial, Patience)
			curve, b := tr.curve, tr.top
			if len(curve) != b.Epoch+4 {
				t.Errorf("%d epochs with the best at %d, expected %d", len(curve), b.Epoch, b.Epoch+4)
			}
			for _, e := range curve {
				if e.Epoch < b.Epoch && *e.ValAccuracy >= b.Accuracy || *e.ValAccuracy > b.Accuracy+accuracyError {
					t.Errorf("epoch %d has accuracy %g, but epoch %d was kept with %g", e.Epoch, *e.ValAccuracy, b.Epoch, b.Accuracy)
				}
			}
			confusion := testkit.Must(evaluate(testkit.Must(tr.pipeline())(t), tr.val, d.Describe(d.Split.Val)))(t)
			want := metrics.Accuracy{PerClass: b.Accuracy, PerSample: *curve[b.Epoch-1].ValAccuracyPerSample}
			if got := confusion.Accuracy(); got != want {
				t.Errorf("the kept weights score %+v, expected %+v as in epoch %d", got, want, b.Epoch)
			}
			// The same run, ended at this epoch, must have the same weights.
			trial.Epochs = b.Epoch
			short := trained(t, d, trial, Epochs)
			if !cmp.Equal(short.learner.Model().Tensors(), tr.kept) {
				t.Error("the kept weights are not those of the best epoch")
			}
			if cmp.Equal(tr.learner.Model().Tensors(), tr.kept) {
				t.Error("the 4 epochs after the best changed nothing")
			}
		})
	}
}

// Without val classes there is no early stopping, and the last weights are kept.
func TestTestStageRunsAllEpochs(t *testing.T) {
	d := tiny.Learnable()
	trial := trialOn(d, model.SemanticSoft, Test)
	trial.Patience = 1
	tr := trained(t, d, trial, Epochs)
	if n := len(tr.curve); n != trial.Epochs {
		t.Errorf("%d epochs, expected %d", n, trial.Epochs)
	}
	if !cmp.Equal(tr.kept, tr.learner.Model().Tensors()) {
		t.Error("the kept weights are not the last")
	}
	for _, e := range tr.curve {
		if e.ValAccuracy != nil || e.ValAccuracyPerSample != nil {
			t.Errorf("epoch %d has a val accuracy without val classes", e.Epoch)
		}
	}
}

func TestCancelEndsAfterAnEpoch(t *testing.T) {
	d := tiny.Learnable()
	tr := newTrainerOf(t, d, trialOn(d, model.SemanticHard, Dev))
	ctx, cancel := context.WithCancel(context.Background())
	tr.OnEpoch = func(Epoch) error {
		if len(tr.curve) == 2 {
			cancel()
		}
		return nil
	}
	if status, err := tr.run(ctx); status != Cancelled || err != nil || len(tr.curve) != 2 {
		t.Errorf("run = %q, %v after %d epochs, expected %q after 2", status, err, len(tr.curve), Cancelled)
	}
	// A run that has finished is not cancelled.
	tr.trial.Epochs = 2
	if status, err := tr.run(ctx); status != Epochs || err != nil {
		t.Errorf("run = %q, %v, expected %q", status, err, Epochs)
	}
	if _, err := Fit(ctx, d, tr.trial); !errors.Is(err, context.Canceled) {
		t.Errorf("Fit: error %v, expected that of the context", err)
	}
}

func TestErrorOfOnEpochEndsTheRun(t *testing.T) {
	d := tiny.Small()
	tr := newTrainerOf(t, d, trialOn(d, model.SemanticHard, Dev))
	full := errors.New("disk full")
	tr.OnEpoch = func(Epoch) error { return full }
	if status, err := tr.run(context.Background()); status != "" || !errors.Is(err, full) || len(tr.curve) != 1 {
		t.Errorf("run = %q, %v after %d epochs, expected %v after 1", status, err, len(tr.curve), full)
	}
}

func TestBestIsTheFirstOfEquals(t *testing.T) {
	var b bestEpoch
	// The first is better than none; the fourth is equal but for rounding.
	accuracies := []float64{0, 0, 0.3, math.Nextafter(0.3, 1), 0.29, 0.31, 0.3}
	for i, want := range []int{1, 1, 3, 3, 3, 6, 6} {
		better := b.improve(i+1, accuracies[i])
		if b.Epoch != want || b.Accuracy != accuracies[want-1] || better != (want == i+1) {
			t.Errorf("after epoch %d the best is %+v, expected epoch %d", i+1, b, want)
		}
	}
}

// garble changes the descriptions, names, features and labels of the test classes.
func garble(d *dataset.Dataset) {
	test := d.Split.Test
	next := make(map[int]int)
	for i, z := range test {
		next[z] = test[(i+1)%len(test)]
		row := d.Descriptions.Row(z)
		for m := range row {
			row[m] = 0.9 * float64((z+m)%2)
		}
		d.Classes[z] += " (garbled)"
	}
	for _, i := range d.SamplesOf(test) {
		for j := range d.Features.Row(i) {
			d.Features.Row(i)[j] = float32(1000 * (i - j))
		}
		d.Labels[i] = next[d.Labels[i]]
	}
}

func TestTrainingDoesNotUseTheTestClasses(t *testing.T) {
	for _, name := range []string{"semantic-hard", "k-soft", "ale"} {
		for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
			t.Run(fmt.Sprintf("%s/%s", name, chain), func(t *testing.T) {
				d, garbled := tiny.Learnable(), tiny.Learnable()
				garble(garbled)
				trial := methodTrial(d, testkit.Must(methods.Parse(name))(t), Test)
				trial.Preprocess, trial.Ridge, trial.Epochs = chain, 10, 2
				want, got := trained(t, d, trial, Epochs), trained(t, garbled, trial, Epochs)
				if !cmp.Equal(want.kept, got.kept) {
					t.Error("other test samples gave different weights")
				}
				if diff := cmp.Diff(want.curve, got.curve, butSeconds); diff != "" {
					t.Errorf("other test samples gave a different curve:\n%s", diff)
				}
			})
		}
	}
}
