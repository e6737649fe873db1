package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// echo returns the features as detections and scores by their product with u.
type echo struct{}

func (echo) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return x.Gather(rows), nil
}

func (echo) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	for i := range a.Rows {
		for z := range u.Rows {
			for m, v := range a.Row(i) {
				scores.Row(i)[z] += v * float32(u.Row(z)[m])
			}
		}
	}
	return scores, nil
}

func TestPreprocessedTransformsFeatures(t *testing.T) {
	x := dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{1, 2, 3, 4, 5, 6}}
	u := dataset.Matrix[float64]{Rows: 1, Cols: 2, Data: []float64{1, 1}}
	rows := []int{2, 0}
	for _, c := range []struct {
		m    *preprocess.Transform
		want []float32
	}{
		{&preprocess.Transform{Chain: preprocess.None}, []float32{11, 3}},
		// (5-1)*2 + (6-2)*1 and 0.
		{&preprocess.Transform{Chain: preprocess.Standardize, Shift: []float32{1, 2}, Scale: []float32{2, 1}}, []float32{12, 0}},
	} {
		got, err := model.Score(&model.Pipeline{Classifier: echo{}, Transform: c.m}, x, rows, u)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.m.Chain, diff)
		}
	}
	m := &preprocess.Transform{Chain: preprocess.Standardize, Shift: []float32{1}, Scale: []float32{2}}
	if _, err := model.Score(&model.Pipeline{Classifier: echo{}, Transform: m}, x, rows, u); err == nil {
		t.Error("features of two dimensions passed a transform of one")
	}
}

func TestPreprocessedImputes(t *testing.T) {
	rule, err := impute.New(dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{0, 0.5, 1, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &model.Pipeline{Classifier: echo{}, Transform: &preprocess.Transform{Chain: preprocess.None}, Impute: rule}
	x := dataset.Matrix[float32]{Rows: 1, Cols: 2, Data: []float32{1, 2}}
	got, err := model.Score(c, x, []int{0}, dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, nan, nan, 1}})
	if err != nil {
		t.Fatal(err)
	}
	// 1*1 + 2*0.75 and 1*0.5 + 2*1.
	if diff := cmp.Diff([]float32{2.5, 2.5}, got.Data); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Classify(x, dataset.Matrix[float64]{Rows: 1, Cols: 1, Data: []float64{nan}}); err == nil {
		t.Error("descriptions with other attributes were accepted")
	}
}
