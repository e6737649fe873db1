package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

func lago(tr trial[float32]) *model.Pipeline {
	return &model.Pipeline{
		Transform:  &preprocess.Transform{Chain: preprocess.None},
		Classifier: &model.LAGO{Config: tr.Config, Params: tr.params, Semantic: tr.Semantic},
	}
}

// Score returns log p(z|x) of the given rows, in their order; the last of several batches
// is not full.
func TestScore(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 150, d: 5, m: 6, k: 3, z: 4}, 1))
	rows := make([]int, 0, 140)
	for i := range cap(rows) {
		rows = append(rows, (i*7)%150)
	}
	got, err := model.Score(lago(tr), tr.x, rows, tr.described)
	if err != nil {
		t.Fatal(err)
	}
	all := tr.logP(t)
	for i, r := range rows {
		within(t, "log p(z|x)", 1e-5, floats(got.Row(i)), all[r*4:(r+1)*4])
	}
	if none, err := model.Score(lago(tr), tr.x, nil, tr.described); err != nil || none.Rows != 0 {
		t.Errorf("no rows score %d rows, %v", none.Rows, err)
	}
}

// The same detections can be classified among any classes.
func TestDetectThenClassifyIsScore(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 70, d: 5, m: 6, k: 3, z: 4}, 1))
	rows := []int{69, 3, 3, 12}
	a, err := lago(tr).Detect(tr.x, rows)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		u := uniform(newRand(seed), 2+int(seed), 6, 0, 1)
		want, err := model.Score(lago(tr), tr.x, rows, u)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lago(tr).Classify(a, u)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d classes (-Score +Classify):\n%s", u.Rows, diff)
		}
	}
}

func TestScoreErrors(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 3, d: 5, m: 6, k: 3, z: 4}, 1))
	_, err := model.Score(lago(tr), dataset.NewMatrix[float32](3, 4), []int{0}, tr.described)
	names(t, err, "features")
	_, err = model.Score(lago(tr), tr.x, []int{0}, dataset.NewMatrix[float64](4, 0))
	names(t, err, "descriptions")
	_, err = lago(tr).Classify(dataset.NewMatrix[float32](1, 5), tr.described)
	names(t, err, "detections")
}
