package method_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/method"
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
		testkit.Equal(t, fmt.Sprint("computations of key ", k), computed[k].Load(), int64(1))
	}
	failure := errors.New("failed")
	for range 2 {
		if _, err := method.Cached(&cache, key{5}, func() (int, error) { return 7, failure }); !errors.Is(err, failure) {
			t.Errorf("%v, expected the error of computing", err)
		}
	}
	testkit.Equal(t, "without a cache", testkit.Must(method.Cached(nil, key{0}, func() (int, error) { return 8, nil }))(t), 8)
}

func TestShuffledFollowsSeedAndEpoch(t *testing.T) {
	first := method.Shuffled(50, 1, 1)
	if slices.Equal(first, method.Shuffled(50, 1, 2)) || slices.Equal(first, method.Shuffled(50, 2, 1)) || !slices.Equal(first, method.Shuffled(50, 1, 1)) {
		t.Error("the order does not follow from seed and epoch")
	}
}

func TestReaderGet(t *testing.T) {
	all := method.Tensors{
		{Name: "W", Matrix: dataset.NewMatrix[float32](3, 2)},
		{Name: "empty", Matrix: dataset.NewMatrix[float32](0, 2)},
		{Name: "short", Matrix: dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: make([]float32, 3)}},
	}
	for _, c := range []struct {
		name       string
		rows, cols int
		want       string
	}{
		{"W", 3, 2, ""},
		{"W", -1, 2, ""},
		{"W", 2, 2, "tensor W: expected a matrix of 2 x 2, found 3 x 2"},
		{"W", -1, 3, "tensor W: expected a matrix of any x 3, found 3 x 2"},
		{"empty", -1, 2, "tensor empty: expected a matrix of any x 2, found 0 x 2"},
		{"short", 2, 2, "tensor short: expected a matrix of 2 x 2, found 2 x 2"},
		{"V", 3, -1, "tensor V: expected a matrix of 3 x any, found none"},
	} {
		r := method.Reader{Tensors: all}
		m := r.Get(c.name, c.rows, c.cols)
		r.Get("W", 3, 2)
		if c.want == "" && (r.Err != nil || &m.Data[0] != &all[0].Matrix.Data[0]) || c.want != "" && (r.Err == nil || r.Err.Error() != c.want) {
			t.Errorf("found %v, expected %q", r.Err, c.want)
		}
	}
}
