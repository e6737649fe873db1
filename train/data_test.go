package train

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

func TestSelectLabelsByPlace(t *testing.T) {
	d := &dataset.Dataset{Classes: []string{"ant", "bee", "cat", "dog"}, Labels: []int{3, 0, 1, 3, 2, 0}}
	for _, c := range []struct {
		name    string
		classes []int
		want    Samples
	}{
		{"some", []int{0, 3}, Samples{Rows: []int{0, 1, 3, 5}, Labels: []int{1, 0, 1, 0}}},
		{"in another order", []int{3, 0}, Samples{Rows: []int{0, 1, 3, 5}, Labels: []int{0, 1, 0, 1}}},
		{"all", []int{0, 1, 2, 3}, Samples{Rows: []int{0, 1, 2, 3, 4, 5}, Labels: []int{3, 0, 1, 3, 2, 0}}},
		{"none", nil, Samples{Labels: []int{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Select(d, dataset.Matrix[float32]{}, c.classes)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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
	d := tiny(t)
	for _, c := range []struct {
		stage              Stage
		trained, evaluated []int
	}{
		{Dev, d.Split.Train, d.Split.Val},
		{Test, append(append([]int{}, d.Split.Train...), d.Split.Val...), d.Split.Test},
	} {
		data := prepare(t, d, trialOn(d, model.SemanticHard, c.stage))
		if !cmp.Equal(c.trained, data.TrainClasses) || !cmp.Equal(c.evaluated, data.EvaluationClasses) {
			t.Errorf("%s trains on %v and evaluates %v", c.stage, data.TrainClasses, data.EvaluationClasses)
		}
		if &data.train.X.Data[0] != &d.Features.Data[0] || &data.evaluation.X.Data[0] != &d.Features.Data[0] {
			t.Errorf("%s copied the features without preprocessing", c.stage)
		}
		for _, s := range []struct {
			samples Samples
			classes []int
		}{{data.train, c.trained}, {data.evaluation, c.evaluated}} {
			if s.samples.Len() != len(d.SamplesOf(s.classes)) {
				t.Errorf("%s: %d samples, expected all %d of the classes %v", c.stage, s.samples.Len(), len(d.SamplesOf(s.classes)), s.classes)
			}
			for i, row := range s.samples.Rows {
				if s.classes[s.samples.Labels[i]] != d.Labels[row] {
					t.Fatalf("%s: sample %d has the wrong label", c.stage, row)
				}
			}
		}
	}
}

// The preprocessing is fitted on the training samples and applied to all.
func TestPreparePreprocesses(t *testing.T) {
	d := tiny(t)
	trial := trialOn(d, model.SemanticHard, Dev)
	trial.Preprocess = preprocess.Standardize
	data := prepare(t, d, trial)
	for j := range d.Features.Cols {
		var mean, square float64
		for i := range data.train.Len() {
			x := float64(data.train.X.Row(data.train.Rows[i])[j])
			mean += x / float64(data.train.Len())
			square += x * x / float64(data.train.Len())
		}
		if math.Abs(mean) > 1e-5 || math.Abs(square-1) > 1e-4 {
			t.Errorf("dimension %d of the train samples has mean %g and second moment %g, expected 0 and 1", j, mean, square)
		}
	}
	val := d.SamplesOf(d.Split.Val)
	want, err := data.Transform.Apply(d.Features, val)
	if err != nil {
		t.Fatal(err)
	}
	for i := range val {
		if !cmp.Equal(want.Row(i), data.evaluation.X.Row(data.evaluation.Rows[i])) {
			t.Fatalf("val sample %d is not preprocessed as the train samples are", i)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	d := tiny(t)
	for _, c := range []struct {
		stage Stage
		chain preprocess.Chain
		want  string
	}{
		{"val", preprocess.None, `stage: expected dev or test, found "val"`},
		{Dev, preprocess.Whiten, "ridge: "},
		{Test, "pca", "preprocess: "},
	} {
		if _, err := Prepare(d, Preparation{Stage: c.stage, Preprocess: c.chain, Ridge: -1}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, expected %s", err, c.want)
		}
	}
}
