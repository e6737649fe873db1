package baseline_test

import (
	"errors"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
)

func TestTensorsGet(t *testing.T) {
	all := baseline.Tensors{
		{"W", dataset.NewMatrix[float32](3, 2)},
		{"b", dataset.NewMatrix[float32](1, 2)},
		{"none", dataset.NewMatrix[float32](0, 2)},
		{"torn", dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: make([]float32, 3)}},
	}
	for _, c := range []struct {
		name       string
		rows, cols int
		fails      string
	}{
		{"W", 3, 2, ""},
		{"W", -1, -1, ""},
		{"W", -1, 2, ""},
		{"b", 1, -1, ""},
		{"W", 2, 2, "W: expected a matrix of 2 x 2, found 3 x 2"},
		{"W", -1, 3, "W: expected a matrix of any x 3, found 3 x 2"},
		{"none", -1, 2, "none: expected a matrix of any x 2, found 0 x 2"},
		{"torn", 2, 2, "torn: expected a matrix of 2 x 2, found 2 x 2"},
		{"V", 3, -1, "V: expected a matrix of 3 x any, found none"},
	} {
		m, err := all.Get(c.name, c.rows, c.cols)
		if c.fails != "" {
			if wrong := (*invalid.Error)(nil); !errors.As(err, &wrong) || err.Error() != c.fails {
				t.Errorf("%s, %d x %d: %v, expected %s", c.name, c.rows, c.cols, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %d x %d: %v", c.name, c.rows, c.cols, err)
			continue
		}
		m.Data[0] = 5 // shared, not copied
		if again, _ := all.Get(c.name, -1, -1); again.Data[0] != 5 {
			t.Errorf("%s is a copy", c.name)
		}
		m.Data[0] = 0
	}
}
