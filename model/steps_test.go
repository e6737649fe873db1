package model_test

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
)

// learned is a configuration whose graphs use every op.
var learned = model.Config{
	Variant: model.SemanticSoft, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 10,
	Alpha: 0.5, Beta: 0.01, Lambda: 0.02, Psi: 0.1,
}

// machines of a trial in the precision of training, by name.
func machines(t *testing.T, tr trial[float64]) map[string]machine {
	return map[string]machine{"W": single(tr).byW(t), "V": single(tr).byV(t)}
}

// Two steps on one batch give equal gradients; dual values of Gorgonia would add up.
func TestGradientsDoNotAddUpOverSteps(t *testing.T) {
	for name, m := range machines(t, newTrial(t, learned, sizes{n: 4, d: 5, m: 6, k: 3, z: 4}, 1)) {
		t.Run(name, func(t *testing.T) {
			first := take(t, m)
			for range 3 {
				identical(t, take(t, m), first)
			}
		})
	}
}

func identical(t testing.TB, got, want outcome) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("not bit-identical (-want +got):\n%s", diff)
	}
}

// A step changes neither the gradients of the other machine nor the parameters.
func TestMachinesAreIndependent(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 4, d: 5, m: 6, k: 3, z: 4}, 1))
	before := tr.params.Clone()
	byW, byV := take(t, tr.byW(t)), take(t, tr.byV(t))
	w, v := tr.byW(t), tr.byV(t)
	for range 3 {
		identical(t, take(t, w), byW)
		identical(t, take(t, v), byV)
	}
	if diff := cmp.Diff(before, tr.params); diff != "" {
		t.Errorf("steps changed the parameters:\n%s", diff)
	}
}

// Machines use a changed V, independent of its earlier values. Here it is soft or exactly
// one-hot, in which case the complement of a group is impossible.
func TestMachinesUseAChangedV(t *testing.T) {
	c := learned
	c.Zeta = 1000
	tr := newTrial(t, c, sizes{n: 4, d: 5, m: 6, k: 3, z: 4}, 1)
	setColumn(tr.described, 5, 1)
	setColumn(tr.described, 2, 0) // the other of its group
	tr = tr.describe(t)
	soft, hard := tr.params.Clone(), tr.params.Clone()
	for i := range hard.V.Data {
		hard.V.Data[i] = math.Round(hard.V.Data[i])
		soft.V.Data[i] = tr.params.V.Data[i] / 1000
	}
	w, v := tr.byW(t), tr.byV(t)
	for range 2 {
		for _, params := range []*model.Parameters[float64]{hard, soft} {
			anew := tr
			anew.params = params
			tr.params.Set(params)
			w.Begin()
			identical(t, take(t, w), take(t, anew.byW(t)))
			identical(t, take(t, v), take(t, anew.byV(t)))
		}
	}
}

// Results are bit-identical in a new machine and for any number of workers.
func TestStepsAreReproducible(t *testing.T) {
	t.Cleanup(func() { parallel.Limit(0) })
	for variant, s := range map[model.Variant]sizes{ // large enough for every loop to run in parallel
		model.Singletons:   {n: 64, d: 300, m: 60, z: 40},
		model.SemanticSoft: {n: 64, d: 300, m: 300, k: 5, z: 20},
	} {
		c := learned
		if c.Variant = variant; variant == model.Singletons {
			c.Psi = 0
		}
		tr := newTrial(t, c, s, 3)
		want := map[string]outcome{}
		for _, workers := range []int{1, 2, 5} {
			parallel.Limit(workers)
			for name, m := range machines(t, tr) {
				t.Run(fmt.Sprintf("%s, %s, %d workers", variant, name, workers), func(t *testing.T) {
					got := take(t, m)
					if _, done := want[name]; !done {
						want[name] = got
					}
					identical(t, got, want[name])
				})
			}
		}
	}
}

// Machines that share parameters can run concurrently.
func TestMachinesRunConcurrently(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 16, d: 20, m: 12, k: 4, z: 8}, 2))
	byW, byV := take(t, tr.byW(t)), take(t, tr.byV(t))
	const steps = 20
	var wg sync.WaitGroup
	run := func(build func() machine, want outcome) {
		wg.Go(func() {
			m := build()
			for range steps {
				terms, err := m.Step()
				if err != nil {
					t.Error(err)
					return
				}
				if terms != want.Terms {
					t.Errorf("concurrently the terms are %+v, alone %+v", terms, want.Terms)
				}
			}
			for i, p := range m.Learnables() {
				if diff := cmp.Diff(want.Grads[i], grad(t, p)); diff != "" {
					t.Errorf("gradient %d differs from that of a single machine:\n%s", i, diff)
				}
			}
		})
	}
	for range 2 {
		run(func() machine { return tr.byW(t) }, byW)
		run(func() machine { return tr.byV(t) }, byV)
	}
	wg.Wait()
}

// The memory that a step allocates does not grow with the batch.
func TestStepAllocatesConstantMemory(t *testing.T) {
	parallel.Limit(1) // each worker has its own scratch memory
	t.Cleanup(func() { parallel.Limit(0) })
	const small, large = 32, 192 // gonum splits products above 3 blocks of 64 x 64, and allocates for each
	bytes := map[string][]float64{}
	for _, n := range []int{small, large} {
		for name, m := range machines(t, newTrial(t, learned, sizes{n: n, d: 8, m: 8, k: 3, z: 5}, 1)) {
			bytes[name] = append(bytes[name], bytesPerStep(t, m))
		}
	}
	for name, b := range bytes {
		if perSample := (b[1] - b[0]) / (large - small); perSample > 4 {
			t.Errorf("a step of %s allocates %.0f bytes with %d samples and %.0f with %d: %.1f per sample", name, b[0], small, b[1], large, perSample)
		}
	}
}

// bytesPerStep is the minimum over several steps, since a sync.Pool may drop its content.
func bytesPerStep(t *testing.T, m machine) float64 {
	t.Helper()
	const steps = 50
	take(t, m)
	least := uint64(math.MaxUint64)
	for range steps {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := m.Step(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return float64(least)
}
