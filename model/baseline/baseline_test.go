package baseline_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline"
)

func fieldOf(err error) string {
	if wrong := (*invalid.Error)(nil); errors.As(err, &wrong) {
		return wrong.Field
	}
	return fmt.Sprint(err)
}

func TestExamplesCheck(t *testing.T) {
	u := dataset.NewMatrix[float64](3, 2)
	for name, c := range map[string]struct {
		rows, labels []int
		field        string
	}{
		"good":            {[]int{4, 4, 0}, []int{0, 2, 1}, "<nil>"},
		"none":            {nil, nil, "samples"},
		"a label short":   {[]int{4, 0}, []int{0}, "labels"},
		"a label more":    {[]int{4}, []int{0, 1}, "labels"},
		"a class below":   {[]int{4, 0}, []int{0, -1}, "labels"},
		"a class too far": {[]int{4, 0}, []int{3, 0}, "labels"},
	} {
		err := baseline.Examples{Rows: c.rows, Labels: c.labels, U: u}.Check()
		if got := fieldOf(err); got != c.field {
			t.Errorf("%s: an error of %s, expected of %s", name, got, c.field)
		}
	}
}

type key struct{ n int }

// A value is made once, however many ask for it at the same time, and a key is its
// own.
func TestShareOnce(t *testing.T) {
	var s baseline.Cache
	var made [3]atomic.Int64
	var wg sync.WaitGroup
	for i := range 60 {
		k := i % 3
		wg.Go(func() {
			v, err := baseline.Cached(&s, key{k}, func() (*int64, error) {
				n := made[k].Add(1)
				n += int64(10 * k)
				return &n, nil
			})
			if want := int64(10*k + 1); err != nil || *v != want {
				t.Errorf("key %d: %d, %v; expected %d", k, *v, err, want)
			}
		})
	}
	wg.Wait()
	for k := range made {
		if n := made[k].Load(); n != 1 {
			t.Errorf("the value of key %d was made %d times", k, n)
		}
	}
}

// An error is shared as a value is; without a place to share, everything is made anew.
func TestShareErrorsAndNil(t *testing.T) {
	var s baseline.Cache
	failure := errors.New("out of order")
	for range 2 {
		v, err := baseline.Cached(&s, key{1}, func() (int, error) { return 7, failure })
		if v != 0 || !errors.Is(err, failure) {
			t.Errorf("%d, %v; expected 0 and the error", v, err)
		}
	}
	made := 0
	for range 2 {
		v, err := baseline.Cached(nil, key{1}, func() (int, error) { made++; return made, nil })
		if v != made || err != nil {
			t.Errorf("%d, %v; expected %d", v, err, made)
		}
	}
	if made != 2 {
		t.Errorf("made %d times, expected 2", made)
	}
}

// An order is a permutation that the seed and the epoch decide.
func TestShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		seed, epoch := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 1000).Draw(t, "epoch")
		order := baseline.Shuffled(n, seed, epoch)
		if !slices.Equal(order, baseline.Shuffled(n, seed, epoch)) {
			t.Fatal("the same seed and epoch give another order")
		}
		for i, v := range slices.Sorted(slices.Values(order)) {
			if v != i {
				t.Fatalf("not a permutation: %v", order)
			}
		}
		if len(order) != n {
			t.Fatalf("%d of %d", len(order), n)
		}
	})
	first := baseline.Shuffled(50, 1, 1)
	for name, other := range map[string][]int{
		"epoch": baseline.Shuffled(50, 1, 2), "seed": baseline.Shuffled(50, 2, 1), "neither": baseline.Shuffled(50, 2, 2),
	} {
		if slices.Equal(first, other) || slices.IsSorted(other) {
			t.Errorf("another %s: %v after %v", name, other, first)
		}
	}
}

// More samples than are projected at a time come out as one by one.
func TestProject(t *testing.T) {
	const samples, dims, k = 600, 3, 2
	x, w := dataset.NewMatrix[float32](samples, dims), dataset.NewMatrix[float32](dims, k)
	for i := range x.Data {
		x.Data[i] = float32(i % 11)
	}
	copy(w.Data, []float32{1, 0, 0, 1, 2, -1})
	var rows []int
	for i := range 2*samples - 90 {
		rows = append(rows, (7*i)%samples)
	}
	a, err := baseline.Project(w, x, rows, func(block, x dataset.Matrix[float32], part []int) {
		for i, r := range part {
			copy(block.Row(i), x.Row(r))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		v := x.Row(r)
		if got := a.Row(i); got[0] != v[0]+2*v[2] || got[1] != v[1]-v[2] {
			t.Fatalf("row %d, sample %d: %v of %v", i, r, got, v)
		}
	}
	if _, err := baseline.Project(w, dataset.NewMatrix[float32](1, 2), []int{0}, nil); err == nil {
		t.Error("features of 2 dimensions passed a map of 3")
	}
}
