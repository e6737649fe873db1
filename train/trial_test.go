package train

import (
	"encoding/json"
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
)

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
	if diff := cmp.Diff(want, got); diff != "" || got.Name() != want.Name() {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if !strings.HasPrefix(want.Name(), "birds-k-soft-dev-seed1-") {
		t.Errorf("the name %s does not begin with data set, method, stage and seed", want.Name())
	}
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
		"stage: expected one of dev, test":                       func(t *Trial) { t.Stage = "" },
		"stage: expected one of dev, test, found val":            func(t *Trial) { t.Stage = "val" },
		"ridge: expected a number, 0 or above, found +Inf":       func(t *Trial) { t.Ridge = math.Inf(1) },
		"ridge: expected a number, 0 or above, found NaN":        func(t *Trial) { t.Ridge = math.NaN() },
		"epochs: expected a whole number, at least 1, found 0":   func(t *Trial) { t.Epochs = 0 },
		"patience: expected a whole number, at least 1, found 0": func(t *Trial) { t.Patience = 0 },
		"lago: zeta: expected a number above 0, found NaN":       func(t *Trial) { lagoOf(*t).Zeta = math.NaN() },
		"method: expected one of lago, dap, ":                    func(t *Trial) { t.Method.Name = "svm" },
	} {
		trial := someTrial()
		change(&trial)
		testkit.WantError(t, trial.Check(), want)
	}
}

func TestSamplesAtMost(t *testing.T) {
	s := Samples{Rows: []int{3, 4, 6, 7, 9}, Labels: []int{0, 1, 0, 2, 2}}
	for n, want := range map[int]Samples{
		5: s, 9: s,
		4: {Rows: []int{3, 6, 9}, Labels: []int{0, 0, 2}},
		1: {Rows: []int{3}, Labels: []int{0}},
	} {
		if diff := cmp.Diff(want, s.atMost(n)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
	}
}

func TestPrepareSelectsTheClassesOfTheStage(t *testing.T) {
	d := tiny.Small()
	for stage, want := range map[Stage][2][]int{
		Dev:  {d.Split.Train, d.Split.Val},
		Test: {slices.Concat(d.Split.Train, d.Split.Val), d.Split.Test},
	} {
		p := testkit.Must(Prepare(d, Preparation{Stage: stage, Preprocess: preprocess.None}))(t)
		if got := [2][]int{p.TrainClasses, p.EvaluationClasses}; !cmp.Equal(got, want) {
			t.Errorf("%s uses the classes %v", stage, got)
		}
		for i, s := range []Samples{p.train, p.evaluation} {
			if &s.X.Data[0] != &d.Features.Data[0] || !slices.Equal(s.Rows, d.SamplesOf(want[i])) {
				t.Errorf("%s: samples %v, or the features were copied without preprocessing", stage, s.Rows)
			}
		}
	}
}

// The preprocessing is fitted on the training samples and applied to all.
func TestPreparePreprocesses(t *testing.T) {
	d := tiny.Learnable()
	p := testkit.Must(Prepare(d, Preparation{Stage: Dev, Preprocess: preprocess.Standardize}))(t)
	want := testkit.Must(preprocess.Fit(preprocess.Standardize, 0, d.Features, d.SamplesOf(d.Split.Train)))(t)
	for _, c := range []struct {
		classes []int
		got     Samples
	}{{d.Split.Train, p.train}, {d.Split.Val, p.evaluation}} {
		x := testkit.Must(want.Apply(d.Features, d.SamplesOf(c.classes)))(t)
		if !cmp.Equal(x, c.got.X) || !slices.Equal(c.got.Rows, x.AllRows()) {
			t.Errorf("the samples of %v are preprocessed in another way", c.classes)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	d := tiny.Learnable()
	d.TestSeen = nil
	for want, o := range map[string]Preparation{
		`stage: expected one of dev, test, found "val"`: {Stage: "val", Preprocess: preprocess.None},
		"ridge: ":      {Stage: Dev, Preprocess: preprocess.Whiten, Ridge: -1},
		"preprocess: ": {Stage: Test, Preprocess: "pca"},
		"hold_out: expected a data set with held-out samples of seen classes": {Stage: Dev, Preprocess: preprocess.None, HoldOut: true},
	} {
		_, err := Prepare(d, o)
		testkit.WantError(t, err, want)
	}
}

// Held-out samples are not trained on, in either stage, nor do they choose epochs or settings.
func TestHoldOut(t *testing.T) {
	d := tiny.Learnable()
	for _, stage := range []Stage{Dev, Test} {
		all := testkit.Must(Prepare(d, Preparation{Stage: stage, Preprocess: preprocess.None}))(t)
		held := *d
		held.TestSeen = []int{all.train.Rows[0], all.train.Rows[7]}
		evaluated := slices.Clone(all.evaluation.Rows)
		if stage == Dev {
			held.TestSeen = slices.Sorted(slices.Values(append(held.TestSeen, evaluated[2])))
			evaluated = slices.Delete(evaluated, 2, 3)
		}
		p := testkit.Must(Prepare(&held, Preparation{Stage: stage, Preprocess: preprocess.None, HoldOut: true}))(t)
		if want := slices.Delete(slices.Delete(slices.Clone(all.train.Rows), 7, 8), 0, 1); !slices.Equal(p.train.Rows, want) {
			t.Errorf("%s: trains on %v, expected %v", stage, p.train.Rows, want)
		}
		for i, row := range p.train.Rows {
			if z := p.TrainClasses[p.train.Labels[i]]; z != d.Labels[row] {
				t.Errorf("%s: sample %d is labelled %d, expected %d", stage, row, z, d.Labels[row])
			}
		}
		if !slices.Equal(p.evaluation.Rows, evaluated) {
			t.Errorf("%s: evaluates on %v, expected %v", stage, p.evaluation.Rows, evaluated)
		}
	}
}
