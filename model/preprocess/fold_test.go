package preprocess

import (
	"errors"
	"math"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// A linear layer of preprocessed features is its fold of features as they are.
func TestFold(t *testing.T) {
	x := features(30, 8, 1)
	w := features(8, 5, 2)
	b := []float32{1, -2, 3, 0, 0.5}
	layer := func(x, w dataset.Matrix[float32], b []float32) []float64 {
		var s []float64
		for i := range x.Rows {
			for j := range w.Cols {
				sum := float64(b[j])
				for d, v := range x.Row(i) {
					sum += float64(v) * float64(w.Row(d)[j])
				}
				s = append(s, sum)
			}
		}
		return s
	}
	for _, kind := range []Kind{None, Standardize, Whiten} {
		m, err := Fit(kind, 1, x, all(20))
		if err != nil {
			t.Fatal(err)
		}
		preprocessed, err := m.Apply(x, all(30))
		if err != nil {
			t.Fatal(err)
		}
		folded, shifted, err := m.Fold(w, b)
		if err != nil {
			t.Fatal(err)
		}
		want := layer(preprocessed, w, b)
		for i, got := range layer(x, folded, shifted) {
			if math.Abs(got-want[i]) > 1e-4*max(1, math.Abs(want[i])) {
				t.Errorf("%s: %g at %d, expected %g", kind, got, i, want[i])
			}
		}
		var wrong *invalid.Error
		if _, _, err := m.Fold(features(7, 5, 2), b); (kind != None) != errors.As(err, &wrong) {
			t.Errorf("%s: a layer of other dimensions: %v", kind, err)
		}
	}
}
