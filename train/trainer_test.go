package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// names returns the names of the phases of an epoch.
func names(e Epoch) []string {
	var list []string
	for _, p := range e.Phases {
		list = append(list, p.Name)
	}
	return list
}

func TestTrainingImproves(t *testing.T) {
	d := tiny(t)
	chance := 1 / float64(len(d.Split.Val))
	for _, v := range model.Variants {
		t.Run(string(v), func(t *testing.T) {
			trial := trialOn(d, v, Dev)
			tr := trained(t, d, trial, Epochs)
			curve := tr.curve
			if len(curve) != trial.Training.Epochs {
				t.Fatalf("%d epochs, expected %d", len(curve), trial.Training.Epochs)
			}
			first, last := curve[0], curve[len(curve)-1]
			for i, p := range last.Phases {
				if !(p.Loss < first.Phases[i].Loss) {
					t.Errorf("phase %s: the loss went from %g to %g", p.Name, first.Phases[i].Loss, p.Loss)
				}
			}
			if *last.ValAccuracy < 4*chance || *last.ValAccuracyPerSample < 4*chance {
				t.Errorf("val accuracy %g per class, %g per sample, expected 4 times chance (%g) at least",
					*last.ValAccuracy, *last.ValAccuracyPerSample, chance)
			}
			// There are 4 times as many train classes.
			if last.TrainAccuracy < 4*chance {
				t.Errorf("train accuracy %g, expected %g at least", last.TrainAccuracy, 4*chance)
			}
		})
	}
}

// In its first step b moves by its learning rate, which is a multiple of that of W.
func TestBiasFactor(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticHard, Test)
	trial.Training.Epochs, trial.Training.Batch = 1, len(d.Labels)
	for _, factor := range []float64{1, 5} {
		trial.Training.BiasFactor = factor
		tr := lagoTrainerOf(t, d, trial)
		before := tr.model.Params.Clone()
		if _, err := tr.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		moved := math.Abs(float64(tr.model.Params.B[0] - before.B[0]))
		if want := trial.Training.LearningRate * factor; math.Abs(moved-want) > 0.01*want {
			t.Errorf("factor %g: b moved by %g, expected %g", factor, moved, want)
		}
	}
	trial.Training.BiasFactor = -1
	if err := trial.Check(); err == nil || !strings.Contains(err.Error(), "bias_factor: expected a finite number above 0") {
		t.Errorf("factor -1: error %v", err)
	}
}

// An epoch of W does not change V, an epoch of V does not change W and b, and the hard
// variants have no epochs of V.
func TestPhases(t *testing.T) {
	d := tiny(t)
	for _, v := range model.Variants {
		t.Run(string(v), func(t *testing.T) {
			trial := trialOn(d, v, Dev)
			tr := lagoTrainerOf(t, d, trial)
			start := bits(tr.model.Params)
			if _, err := tr.phaseW(1); err != nil {
				t.Fatal(err)
			}
			afterW := bits(tr.model.Params)
			if cmp.Equal(start[0], afterW[0]) || cmp.Equal(start[1], afterW[1]) || !cmp.Equal(start[2], afterW[2]) {
				t.Error("expected W and b to change in an epoch of W, and V to stay")
			}
			want := []string{"W"}
			if v.Learned() {
				want = []string{"W", "V"}
				if _, err := tr.phaseV(1); err != nil {
					t.Fatal(err)
				}
				afterV := bits(tr.model.Params)
				if !cmp.Equal(afterW[:2], afterV[:2]) || cmp.Equal(afterW[2], afterV[2]) {
					t.Error("expected V to change in an epoch of V, and W and b to stay")
				}
			}
			tr = trained(t, d, trial, Epochs)
			for _, e := range tr.curve {
				if !slices.Equal(names(e), want) {
					t.Errorf("epoch %d has the phases %q, expected %q", e.Epoch, names(e), want)
				}
				for _, p := range e.Phases {
					if p.Steps != 13 { // 405 samples, 32 per step
						t.Errorf("epoch %d, phase %s: %d steps, expected 13", e.Epoch, p.Name, p.Steps)
					}
				}
			}
			if !v.Learned() && !cmp.Equal(start[2], bits(tr.model.Params)[2]) {
				t.Error("a hard variant changed V")
			}
		})
	}
}

func TestEarlyStopping(t *testing.T) {
	d := tiny(t)
	for _, v := range []model.Variant{model.SemanticHard, model.KSoft} {
		t.Run(string(v), func(t *testing.T) {
			trial := trialOn(d, v, Dev)
			trial.Training.Epochs, trial.Training.Patience = 100, 4
			trial.Training.LearningRate = 0.1 // overshoots
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
			val := tr.task
			confusion, err := tr.Evaluate(val.val, val.valClasses)
			if err != nil {
				t.Fatal(err)
			}
			want := metrics.Accuracy{PerClass: b.Accuracy, PerSample: *curve[b.Epoch-1].ValAccuracyPerSample}
			if got := confusion.Accuracy(); got != want {
				t.Errorf("the kept weights score %+v, expected %+v as in epoch %d", got, want, b.Epoch)
			}
			// The same run, ended at this epoch, must have the same weights.
			trial.Training.Epochs = b.Epoch
			short := trained(t, d, trial, Epochs)
			if !cmp.Equal(bits(short.model.Params), bits(tr.kept)) {
				t.Error("the kept weights are not those of the best epoch")
			}
			if cmp.Equal(bits(tr.model.Params), bits(tr.kept)) {
				t.Error("the 4 epochs after the best changed nothing")
			}
		})
	}
}

// Without val classes there is no early stopping, and the last weights are kept.
func TestTestStageRunsAllEpochs(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticSoft, Test)
	trial.Training.Patience = 1
	tr := trained(t, d, trial, Epochs)
	if n := len(tr.curve); n != trial.Training.Epochs {
		t.Errorf("%d epochs, expected %d", n, trial.Training.Epochs)
	}
	if tr.kept != tr.model.Params {
		t.Error("the kept weights are not the last")
	}
	for _, e := range tr.curve {
		if e.ValAccuracy != nil || e.ValAccuracyPerSample != nil {
			t.Errorf("epoch %d has a val accuracy without val classes", e.Epoch)
		}
	}
	confusion, err := tr.Evaluate(tr.train, tr.trainClasses)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := confusion.Accuracy().PerClass, tr.curve[len(tr.curve)-1].TrainAccuracy; got != want {
		t.Errorf("the kept weights score %g on the train samples, the last epoch %g", got, want)
	}
}

func TestCancelEndsAfterAnEpoch(t *testing.T) {
	d := tiny(t)
	tr := lagoTrainerOf(t, d, trialOn(d, model.SemanticHard, Dev))
	ctx, cancel := context.WithCancel(context.Background())
	tr.OnEpoch = func(Epoch) error {
		if len(tr.curve) == 2 {
			cancel()
		}
		return nil
	}
	if status, err := tr.Run(ctx); status != Cancelled || err != nil || len(tr.curve) != 2 {
		t.Errorf("Run = %q, %v after %d epochs, expected %q after 2", status, err, len(tr.curve), Cancelled)
	}
	// A run that has finished is not cancelled.
	tr.settings.Epochs = 2
	if status, err := tr.Run(ctx); status != Epochs || err != nil {
		t.Errorf("Run = %q, %v, expected %q", status, err, Epochs)
	}
}

func TestErrorOfOnEpochEndsTheRun(t *testing.T) {
	d := tiny(t)
	tr := lagoTrainerOf(t, d, trialOn(d, model.SemanticHard, Dev))
	full := errors.New("disk full")
	tr.OnEpoch = func(Epoch) error { return full }
	if status, err := tr.Run(context.Background()); status != "" || !errors.Is(err, full) || len(tr.curve) != 1 {
		t.Errorf("Run = %q, %v after %d epochs, expected %v after 1", status, err, len(tr.curve), full)
	}
}

func TestBestIsTheFirstOfEquals(t *testing.T) {
	var b bestEpoch
	for i, c := range []struct {
		accuracy float64
		better   bool
	}{
		{0, true}, // the first is better than none
		{0, false},
		{0.3, true},
		{math.Nextafter(0.3, 1), false}, // equal but for rounding
		{0.29, false},
		{0.31, true},
		{0.3, false},
	} {
		if got := b.improve(i+1, c.accuracy); got != c.better {
			t.Errorf("epoch %d with %g: better %v, expected %v", i+1, c.accuracy, got, c.better)
		}
	}
	if want := (bestEpoch{6, 0.31}); b != want {
		t.Errorf("best %+v, expected %+v", b, want)
	}
}
