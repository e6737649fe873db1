package method_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

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
