package linear_test

import (
	"errors"
	"math"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

func TestScores(t *testing.T) {
	x := dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{3, 4, 0, 0, 1, 0}}
	w := dataset.Matrix[float32]{Rows: 2, Cols: 3, Data: []float32{1, 0, 2, 0, 1, 1}}
	for _, c := range []struct {
		unit bool
		want []float32
	}{
		{false, []float32{1, 0, 2, 0, 0, 0, 3, 4, 10}},
		{true, []float32{1, 0, 2, 0, 0, 0, 0.6, 0.8, 2}},
	} {
		s, err := linear.Scores(w, c.unit, x, []int{2, 1, 0})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range s.Data {
			if math.Abs(float64(v-c.want[i])) > 1e-6 {
				t.Errorf("unit %t: %v, expected %v", c.unit, s.Data, c.want)
				break
			}
		}
	}
	if s, err := linear.Scores(w, true, x, nil); err != nil || s.Rows != 0 || s.Cols != 3 {
		t.Errorf("no samples: %v, %v", s, err)
	}
	var wrong *invalid.Error
	if _, err := linear.Scores(w, false, dataset.NewMatrix[float32](1, 3), []int{0}); !errors.As(err, &wrong) || wrong.Field != "features" {
		t.Errorf("other features: %v", err)
	}
}

// Rows in several blocks score as they do by themselves.
func TestScoresOfManyRows(t *testing.T) {
	p, _ := regression(600, 3, 1, 5)
	w := dataset.Matrix[float32]{Rows: 3, Cols: 1, Data: []float32{1, -2, 0.5}}
	all, err := linear.Scores(w, true, p.X, p.Rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 255, 256, 599} {
		one, err := linear.Scores(w, true, p.X, p.Rows[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(one.Data[0]-all.Data[i])) > 1e-6 {
			t.Errorf("row %d scores %g by itself and %g among all", i, one.Data[0], all.Data[i])
		}
	}
}
