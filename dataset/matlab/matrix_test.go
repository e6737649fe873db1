package matlab

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// limits are the integers that fit both a storage type and a float32.
var limits = map[uint32]struct{ low, high int64 }{
	kindInt8: {-128, 127}, kindUint8: {0, 255},
	kindInt16: {-1 << 15, 1<<15 - 1}, kindUint16: {0, 1<<16 - 1},
	kindInt32: {-1 << 24, 1 << 24}, kindUint32: {0, 1 << 24},
	kindInt64: {-1 << 24, 1 << 24}, kindUint64: {0, 1 << 24},
	kindSingle: {-1 << 24, 1 << 24}, kindDouble: {-1 << 24, 1 << 24},
}

// Numbers of any class, stored in any type and byte order, compressed or not, are read
// as they were written.
func TestNumbersProperty(t *testing.T) {
	kinds := slices.Sorted(func(yield func(uint32) bool) {
		for k := range limits {
			if !yield(k) {
				return
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]writer{little, big}).Draw(t, "order")
		kind := rapid.SampledFrom(kinds).Draw(t, "storage")
		class := rapid.SampledFrom([]Class{Double, Single, Int8, Uint8, Int16, Uint16, Int32, Uint32, Int64, Uint64}).Draw(t, "class")
		dims := rapid.SliceOfN(rapid.IntRange(0, 9), 2, 4).Draw(t, "dims")
		n, ok := elements(dims)
		if !ok {
			t.Fatalf("%v are too many elements", dims)
		}
		ints := rapid.SliceOfN(rapid.Int64Range(limits[kind].low, limits[kind].high), int(n), int(n)).Draw(t, "values")
		values, want := make([]float64, n), make([]float32, n)
		for i, v := range ints {
			values[i], want[i] = float64(v), float32(v)
		}
		element := w.array("x", class, 0, dims, w.numbers(kind, values...))
		if rapid.Bool().Draw(t, "compressed") {
			element = w.compressed(element)
		}
		arrays, err := read(w.file(element), "x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&Array{Header: Header{"x", class, dims}, Float32: want}, arrays["x"]); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestFractionsAndLimits(t *testing.T) {
	values := []float64{0.1, -2.5, math.Pi, math.Inf(1), math.Inf(-1), 1e300, math.SmallestNonzeroFloat64}
	want := []float32{0.1, -2.5, math.Pi, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Inf(1)), 0}
	for _, w := range []writer{little, big} {
		a := mustRead(t, w.file(w.doubles("x", []int{7, 1}, values...)))
		if diff := cmp.Diff(want, a.Float32); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		a = mustRead(t, w.file(w.doubles("x", []int{1, 1}, math.NaN())))
		if got := a.Float32[0]; got == got {
			t.Errorf("not a number became %v", got)
		}
	}
}

func TestLogical(t *testing.T) {
	a := mustRead(t, little.file(little.array("x", Uint8, flagLogical, []int{1, 3}, little.numbers(kindUint8, 1, 0, 1))))
	want := &Array{Header: Header{"x", Logical, []int{1, 3}}, Float32: []float32{1, 0, 1}}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A matrix of several buffers; "constant" is compressed so well that its size is proven
// before memory is allocated.
func TestLargeCompressed(t *testing.T) {
	const rows, columns = 512, 300
	for name, value := range map[string]func(i int) float64{
		"noise":    func(i int) float64 { return float64(float32(math.Sin(float64(i * i)))) },
		"constant": func(int) float64 { return 0.5 },
	} {
		t.Run(name, func(t *testing.T) {
			values := make([]float64, rows*columns)
			want := make([]float32, len(values))
			for i := range values {
				values[i] = value(i)
				want[i] = float32(values[i])
			}
			compressed := little.compressed(little.doubles("x", []int{rows, columns}, values...))
			a := mustRead(t, little.file(compressed, little.word("y", "after")))
			if !slices.Equal(a.Float32, want) {
				t.Error("the values differ")
			}
		})
	}
}
