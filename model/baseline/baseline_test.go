package baseline_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

type key struct{ n int }

func TestCachedComputesOnce(t *testing.T) {
	var cache method.Cache
	var computed [3]atomic.Int64
	var wg sync.WaitGroup
	for i := range 60 {
		k := i % 3
		wg.Go(func() {
			v, err := method.Cached(&cache, key{k}, func() (*int64, error) {
				n := computed[k].Add(1)
				n += int64(10 * k)
				return &n, nil
			})
			if want := int64(10*k + 1); err != nil || *v != want {
				t.Errorf("key %d: %d, %v; expected %d", k, *v, err, want)
			}
		})
	}
	wg.Wait()
	for k := range computed {
		if n := computed[k].Load(); n != 1 {
			t.Errorf("the value of key %d was computed %d times", k, n)
		}
	}
	failure := errors.New("failed")
	for range 2 {
		v, err := method.Cached(&cache, key{5}, func() (int, error) { return 7, failure })
		if v != 0 || !errors.Is(err, failure) {
			t.Errorf("%d, %v; expected 0 and the error", v, err)
		}
	}
	if v, err := method.Cached(nil, key{0}, func() (int, error) { return 8, nil }); v != 8 || err != nil {
		t.Errorf("without a cache: %d, %v", v, err)
	}
}

func TestShuffledIsAPermutationBySeedAndEpoch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		order := method.Shuffled(n, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 1000).Draw(t, "epoch"))
		for i, v := range slices.Sorted(slices.Values(order)) {
			if v != i || len(order) != n {
				t.Fatalf("not a permutation of %d: %v", n, order)
			}
		}
	})
	first := method.Shuffled(50, 1, 1)
	if slices.Equal(first, method.Shuffled(50, 1, 2)) || slices.Equal(first, method.Shuffled(50, 2, 1)) || !slices.Equal(first, method.Shuffled(50, 1, 1)) {
		t.Error("the order does not follow from seed and epoch")
	}
}

func TestReaderGet(t *testing.T) {
	all := method.Tensors{
		{"W", dataset.NewMatrix[float32](3, 2)},
		{"empty", dataset.NewMatrix[float32](0, 2)},
		{"short", dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: make([]float32, 3)}},
	}
	for _, c := range []struct {
		name       string
		rows, cols int
		want       string
	}{
		{"W", 3, 2, ""},
		{"W", -1, 2, ""},
		{"W", 2, 2, "W: expected a matrix of 2 x 2, found 3 x 2"},
		{"W", -1, 3, "W: expected a matrix of any x 3, found 3 x 2"},
		{"empty", -1, 2, "empty: expected a matrix of any x 2, found 0 x 2"},
		{"short", 2, 2, "short: expected a matrix of 2 x 2, found 2 x 2"},
		{"V", 3, -1, "V: expected a matrix of 3 x any, found none"},
	} {
		r := method.Reader{Tensors: all}
		m := r.Get(c.name, c.rows, c.cols)
		r.Get("W", 3, 2)
		if c.want == "" && (r.Err != nil || &m.Data[0] != &all[0].Matrix.Data[0]) || c.want != "" && (r.Err == nil || r.Err.Error() != c.want) {
			t.Errorf("found %v, expected %q", r.Err, c.want)
		}
	}
}

// More samples than a block holds.
func TestProject(t *testing.T) {
	const samples = 600
	x, w := dataset.NewMatrix[float32](samples, 3), baselinetest.Single(2, 1, 0, 0, 1, 2, -1)
	for i := range x.Data {
		x.Data[i] = float32(i % 11)
	}
	var rows []int
	for i := range 2*samples - 90 {
		rows = append(rows, (7*i)%samples)
	}
	a, err := baseline.Project(w, x, rows, baseline.CopyRows)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		v := x.Row(r)
		if got := a.Row(i); got[0] != v[0]+2*v[2] || got[1] != v[1]-v[2] {
			t.Fatalf("row %d, sample %d: %v of %v", i, r, got, v)
		}
	}
	_, err = baseline.Project(w, dataset.NewMatrix[float32](1, 2), []int{0}, baseline.CopyRows)
	baselinetest.WantField(t, "features", err)
}

func TestDescribe(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		u         dataset.Matrix[float64]
		normalise bool
		want      []float64
	}{
		"complete":           {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), false, []float64{0.3, 0.4, 0, 1}},
		"length 1":           {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), true, []float64{0.6, 0.8, 0, 1}},
		"zeros":              {baselinetest.Matrix(2, 0, 0, 0, 0.5), true, []float64{0, 0, 0, 1}},
		"missing":            {baselinetest.Matrix(2, 0.2, 1, nan, 0.5, 0.6, 0), false, []float64{0.2, 1, 0.4, 0.5, 0.6, 0}},
		"missing and scaled": {baselinetest.Matrix(2, 0.2, 1, nan, 0.3, 0.6, 0), true, []float64{0.2 / math.Sqrt(1.04), 1 / math.Sqrt(1.04), 0.8, 0.6, 1, 0}},
	} {
		before := slices.Clone(c.u.Data)
		d, err := baseline.Describe(c.u, c.normalise)
		if err != nil {
			t.Fatal(err)
		}
		baselinetest.Near(t, name, 1e-12, d.Data, c.want)
		if !floats.Same(before, c.u.Data) {
			t.Errorf("%s: the argument changed", name)
		}
	}
	for _, wrong := range []float64{-0.1, 1.1, math.Inf(1)} {
		_, err := baseline.Describe(baselinetest.Matrix(2, 0.3, wrong), false)
		baselinetest.WantField(t, "descriptions", err)
	}
}
