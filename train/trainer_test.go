package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
			curve, b := tr.curve, tr.Best
			testkit.Equal(t, "epochs", len(curve), b.Epoch+4)
			for _, e := range curve {
				if e.Epoch < b.Epoch && *e.ValAccuracy >= b.Accuracy || *e.ValAccuracy > b.Accuracy+accuracyError {
					t.Errorf("epoch %d has accuracy %g, but epoch %d was kept with %g", e.Epoch, *e.ValAccuracy, b.Epoch, b.Accuracy)
				}
			}
			confusion := testkit.Must(evaluate(testkit.Must(tr.pipeline())(t), tr.val, d.Describe(d.Split.Val)))(t)
			want := metrics.Accuracy{PerClass: b.Accuracy, PerSample: *curve[b.Epoch-1].ValAccuracyPerSample}
			testkit.Equal(t, "accuracy of the kept weights", confusion.Accuracy(), want)
			// The same run, ended at this epoch, must have the same weights.
			trial.Epochs = b.Epoch
			short := trained(t, d, trial, Epochs)
			testkit.Equal(t, "kept weights", tr.kept, short.learner.Model().Tensors())
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
	testkit.Equal(t, "epochs", len(tr.curve), trial.Epochs)
	testkit.Equal(t, "kept weights", tr.kept, tr.learner.Model().Tensors())
	for _, e := range tr.curve {
		if e.ValAccuracy != nil || e.ValAccuracyPerSample != nil {
			t.Errorf("epoch %d has a val accuracy without val classes", e.Epoch)
		}
	}
}

// Patience does not end a run that still learns its training samples, and whose validation is at chance.
func TestUnlearned(t *testing.T) {
	with := func(val float64, training ...float64) *trainer {
		r := &trainer{trial: Trial{Patience: 3}, val: Samples{Rows: make([]int, 100)}}
		r.valClasses.Rows = 5 // chance is 0.2, with a standard error of 0.04
		r.Epochs, r.Best = len(training), bestEpoch{1, val}
		for i, a := range training {
			r.curve = append(r.curve, Epoch{Epoch: i + 1, TrainAccuracy: a})
		}
		return r
	}
	for _, c := range []struct {
		*trainer
		want bool
	}{
		{with(0.2, 0.1, 0.2, 0.3, 0.4, 0.5), true},
		{with(0.27, 0.1, 0.2, 0.5, 0.4, 0.4), true},
		{with(0.29, 0.1, 0.2, 0.3, 0.4, 0.5), false}, // above chance
		{with(0.2, 0.1, 0.5, 0.3, 0.4, 0.5), false},  // no rise since epoch 2
	} {
		testkit.Equal(t, fmt.Sprint(c.Best, c.curve), c.unlearned(), c.want)
	}
}

// A run that has finished is not cancelled.
func TestCancel(t *testing.T) {
	d := tiny.Small()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tr := trained(t, d, trialOn(d, model.SemanticHard, Dev), Epochs)
	testkit.Equal(t, "status", testkit.Must(tr.run(ctx))(t), Epochs)
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
				trial := methodTrial(d, testkit.Must(methods.Labelled(name))(t), Test)
				trial.Preprocess, trial.Ridge, trial.Epochs = chain, 10, 2
				want, got := trained(t, d, trial, Epochs), trained(t, garbled, trial, Epochs)
				testkit.Equal(t, "weights with other test samples", got.kept, want.kept)
				testkit.Equal(t, "curve with other test samples", got.curve, want.curve, butSeconds)
			})
		}
	}
}

func someTrial() Trial {
	return trialOn(&dataset.Dataset{Name: "birds"}, model.KSoft, Dev)
}

// All that defines a trial is in its JSON, of which its name is a digest.
func TestTrialSurvivesJSON(t *testing.T) {
	want := someTrial()
	want.Fingerprint, want.Ridge, want.HoldOut = "ab", 7, true
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("%s is zero, so that the test would not miss it", v.Type().Field(i).Name)
		}
	}
	var got Trial
	testkit.NoError(t, json.Unmarshal(testkit.Must(json.Marshal(want))(t), &got))
	testkit.Equal(t, "read", got, want)
	testkit.Equal(t, "name", got.Name(), want.Name())
	testkit.WantText(t, want.Name(), "birds-k-soft-dev-seed1-")
	lagoOf(got).Beta = math.Nextafter(lagoOf(got).Beta, 1)
	if got.Name() == want.Name() {
		t.Error("another setting gives the same name")
	}
}

// Any name of a data set gives a folder below that of the runs.
func TestNamesAreFolders(t *testing.T) {
	for _, name := range []string{"cub", "a/b", `a\b`, "../../etc", "C:", "simulated tiny", "", ".", ".."} {
		trial := someTrial()
		trial.Dataset = name
		folder := trial.Name()
		if strings.ContainsAny(folder, `/\: `) || filepath.Base(folder) != folder || !filepath.IsLocal(folder) {
			t.Errorf("the trial on %q is named %q", name, folder)
		}
	}
}

func TestBadTrialsAreRefused(t *testing.T) {
	testkit.NoError(t, someTrial().Check())
	for want, change := range map[string]func(*Trial){
		"stage: expected one of dev, test":                           func(t *Trial) { t.Stage = "" },
		"ridge: expected a number, 0 or above, found +Inf":           func(t *Trial) { t.Ridge = math.Inf(1) },
		"epochs: expected a whole number from 1 to 1000000, found 0": func(t *Trial) { t.Epochs = 0 },
		"lago: zeta: expected a number above 0, found NaN":           func(t *Trial) { lagoOf(*t).Zeta = math.NaN() },
		"method: expected one of lago, dap, ":                        func(t *Trial) { t.Method.Name = "svm" },
	} {
		trial := someTrial()
		change(&trial)
		testkit.WantError(t, trial.Check(), want)
	}
}

// The preprocessing is fitted on the training samples of the stage and applied to all; without
// any the features are not copied.
func TestPrepare(t *testing.T) {
	d := tiny.Small()
	for stage, want := range map[Stage][2][]int{
		Dev:  {d.Split.Train, d.Split.Val},
		Test: {slices.Concat(d.Split.Train, d.Split.Val), d.Split.Test},
	} {
		for _, chain := range []preprocess.Chain{preprocess.None, preprocess.Standardise} {
			p := testkit.Must(Prepare(d, Trial{Stage: stage, Preprocess: chain}))(t)
			testkit.Equal(t, fmt.Sprint("classes of ", stage), [2][]int{p.TrainClasses, p.EvaluationClasses}, want)
			fitted := testkit.Must(preprocess.Fit(chain, 0, d.Features, d.SamplesOf(want[0])))(t)
			for i, s := range []Samples{p.train, p.evaluation} {
				rows := d.SamplesOf(want[i])
				x := testkit.Must(fitted.Apply(d.Features, rows))(t)
				if !cmp.Equal(x, s.X.Gather(s.Rows)) || chain == preprocess.None && &s.X.Data[0] != &d.Features.Data[0] {
					t.Errorf("%s, %s: the samples of %v are selected or preprocessed in another way", stage, chain, want[i])
				}
			}
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	d := tiny.Learnable()
	d.TestSeen = nil
	testkit.Fails(Prepare(d, Trial{Stage: Dev, Preprocess: preprocess.None, HoldOut: true}))(t,
		"hold_out: expected a data set with held-out samples of seen classes")
}

// Held-out samples are not trained on, in either stage, nor do they choose epochs or settings.
func TestHoldOut(t *testing.T) {
	d := tiny.Learnable()
	for _, stage := range []Stage{Dev, Test} {
		all := testkit.Must(Prepare(d, Trial{Stage: stage, Preprocess: preprocess.None}))(t)
		held := *d
		held.TestSeen = []int{all.train.Rows[0], all.train.Rows[7]}
		if stage == Dev {
			held.TestSeen = slices.Sorted(slices.Values(append(held.TestSeen, all.evaluation.Rows[2])))
		}
		p := testkit.Must(Prepare(&held, Trial{Stage: stage, Preprocess: preprocess.None, HoldOut: true}))(t)
		isHeld := func(row int) bool { return slices.Contains(held.TestSeen, row) }
		for i, s := range []Samples{p.train, p.evaluation} {
			want := slices.DeleteFunc(slices.Clone([]Samples{all.train, all.evaluation}[i].Rows), isHeld)
			testkit.Equal(t, fmt.Sprint("samples of ", stage), s.Rows, want)
		}
		for i, row := range p.train.Rows {
			testkit.Equal(t, fmt.Sprintf("%s: label of sample %d", stage, row), p.TrainClasses[p.train.Labels[i]], d.Labels[row])
		}
	}
}
