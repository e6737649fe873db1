package experiments

import (
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train"
)

// No pair of ridges that was offered does better on the val classes, and the model
// is one of the train and val classes.
func TestFitESZSLChoosesOnTheValClasses(t *testing.T) {
	d := simulatedLab(t).Data
	e, err := FitESZSL(d)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := newESZSLStage(d, d.Split.Train, d.Split.Val)
	if err != nil {
		t.Fatal(err)
	}
	for _, gamma := range []float64{1e-2, 1, 100, 1e4, 1e6} {
		r, err := dev.sums.Regress(gamma)
		if err != nil {
			t.Fatal(err)
		}
		for _, lambda := range []float64{1e-3, 0.1, 1, 1000} {
			_, val, err := dev.fit(r, lambda)
			if err != nil {
				t.Fatal(err)
			}
			if val.PerClass.Mean > e.Val.PerClass.Mean {
				t.Errorf("gamma %g, lambda %g score %g, the chosen %g and %g only %g",
					gamma, lambda, val.PerClass.Mean, e.Gamma, e.Lambda, e.Val.PerClass.Mean)
			}
		}
	}
	a, err := accuracyOf(e.Model, train.Select(d, d.Features, d.Split.Test), d.Describe(d.Split.Test))
	if err != nil {
		t.Fatal(err)
	}
	if a.PerClass != e.Test.PerClass.Mean || a.PerSample != e.Test.PerSample.Mean || e.Test.Classes != 4 {
		t.Errorf("the model scores %+v on the test classes, expected what was measured, %+v", a, e.Test)
	}
	if a.PerClass < 2*e.Test.Chance() {
		t.Errorf("per-class accuracy on the test classes is %g, expected at least twice chance, %g", a.PerClass, e.Test.Chance())
	}
}

// The samples of the test classes have no say in the choice or in the fit.
func TestFitESZSLLearnsNothingFromTheTestClasses(t *testing.T) {
	d := simulatedLab(t).Data
	before, err := FitESZSL(d)
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range d.Labels {
		if slices.Contains(d.Split.Test, z) {
			clear(d.Features.Row(i))
		}
	}
	after, err := FitESZSL(d)
	if err != nil {
		t.Fatal(err)
	}
	if before.Gamma != after.Gamma || before.Lambda != after.Lambda {
		t.Errorf("gamma %g, lambda %g, and %g, %g with other test samples", before.Gamma, before.Lambda, after.Gamma, after.Lambda)
	}
	u := d.Describe(d.Split.Test)
	rows := d.SamplesOf(d.Split.Val)
	was, err1 := before.Model.Score(d.Features, rows, u)
	is, err2 := after.Model.Score(d.Features, rows, u)
	if err1 != nil || err2 != nil || !slices.Equal(was.Data, is.Data) {
		t.Errorf("the model differs with other test samples (%v, %v)", err1, err2)
	}
}

func TestFitESZSLWithoutTrainClasses(t *testing.T) {
	d := *simulatedLab(t).Data
	d.Split = dataset.Split{Val: d.Split.Val, Test: d.Split.Test}
	if _, err := FitESZSL(&d); err == nil {
		t.Error("expected an error")
	}
}
