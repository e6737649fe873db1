package synclassifier

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// A class at 0 and phantoms at 0, 1 and 2, with sigma = 1: exp(0), exp(-1) and exp(-4),
// of which the sum is 1.386. With sigma = 2, squares of distances are a quarter.
func TestSimilaritiesByHand(t *testing.T) {
	b := baselinetest.Matrix(1, 0, 1, 2)
	baselinetest.Near(t, "sigma 1", 1e-12, similarities(baselinetest.Matrix(1, 0), b, 1).Data,
		[]float64{1 / 1.3861950800601765, 0.36787944117144233 / 1.3861950800601765, 0.01831563888873418 / 1.3861950800601765})
	sum := 1 + math.Exp(-0.25) + math.Exp(-1)
	baselinetest.Near(t, "sigma 2", 1e-12, similarities(baselinetest.Matrix(1, 0), b, 2).Data, []float64{1 / sum, math.Exp(-0.25) / sum, math.Exp(-1) / sum})
}

// Weights of phantoms are above 0 or 0, and sum to 1, however narrow or wide the kernel.
func TestSimilaritiesAreConvexWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attributes := rapid.IntRange(1, 4).Draw(t, "attributes")
		classes, b := draw(t, "classes", rapid.IntRange(1, 6).Draw(t, "C"), attributes), draw(t, "phantoms", rapid.IntRange(1, 6).Draw(t, "R"), attributes)
		sigma := math.Exp2(rapid.Float64Range(-600, 600).Draw(t, "log2 sigma"))
		s := similarities(classes, b, sigma)
		for z := range s.Rows {
			var sum float64
			for _, v := range s.Row(z) {
				if !(v >= 0) {
					t.Fatalf("%v", s.Row(z))
				}
				sum += v
			}
			baselinetest.Near(t, "sum", 1e-12, []float64{sum}, []float64{1})
		}
	})
}

// With a narrow kernel, a class is its own phantom and no other.
func TestNarrowKernel(t *testing.T) {
	classes := baselinetest.Matrix(2, 0, 0, 0.1, 0, 0.5, 0.5)
	baselinetest.Near(t, "similarities", 1e-12, similarities(classes, classes, 1e-3).Data, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
}

// Two clusters and a class by itself: the phantoms are their means.
func TestPhantomsAreMeansOfClusters(t *testing.T) {
	classes := baselinetest.Matrix(2, 0, 0, 10, 10, 1, 0, 10, 11, 0, 1, 30, 0)
	b := phantoms(classes, 3)
	var rows [][]float64
	for r := range 3 {
		rows = append(rows, b.Row(r))
	}
	slices.SortFunc(rows, slices.Compare)
	baselinetest.Near(t, "phantoms", 1e-12, slices.Concat(rows...), []float64{1. / 3, 1. / 3, 10, 10.5, 30, 0})
	// The one in the middle, 10.1, 0, and then 0.2, which is further from these than 10 is.
	line := phantoms(baselinetest.Matrix(1, 0, 10, 0.2, 10.1, 5), 4)
	slices.Sort(line.Data)
	baselinetest.Near(t, "on a line", 1e-12, line.Data, []float64{0, 0.2, 5, 10.05})
	baselinetest.Near(t, "of all", 1e-12, phantoms(classes, 6).Data, classes.Data)
	baselinetest.Near(t, "of one", 1e-12, phantoms(classes, 1).Data, []float64{51. / 6, 22. / 6})
}

// Whatever the classes, also if some are the same: phantoms lie between them, and the
// same every time.
func TestPhantoms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "classes")
		value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1}))
		classes := baselinetest.Matrix(2, rapid.SliceOfN(value, n*2, n*2).Draw(t, "u")...)
		count := rapid.IntRange(1, n).Draw(t, "phantoms")
		b := phantoms(classes, count)
		if b.Rows != count || b.Cols != 2 {
			t.Fatalf("%d x %d phantoms", b.Rows, b.Cols)
		}
		for j := range 2 {
			column := func(m dataset.Matrix[float64]) (values []float64) {
				for z := range m.Rows {
					values = append(values, m.Row(z)[j])
				}
				return values
			}
			all := column(classes)
			for _, v := range column(b) {
				if !(v >= slices.Min(all)-1e-12 && v <= slices.Max(all)+1e-12) {
					t.Fatalf("a phantom at %g, the classes are at %v", v, all)
				}
			}
		}
		baselinetest.Near(t, "again", 0, phantoms(classes, count).Data, b.Data)
	})
}

func TestMedianDistance(t *testing.T) {
	for want, classes := range map[float64]dataset.Matrix[float64]{
		4:    baselinetest.Matrix(2, 0, 0, 3, 0, 3, 4), // of 3, 4 and 5
		4.25: baselinetest.Matrix(1, 0, 2, 3, 7, 7.5),  // of 0.5, 1, 2, 3, 4, 4.5, 5, 5.5, 7 and 7.5
		2:    baselinetest.Matrix(1, 1, 3, 1),          // of 2 and 2: what is the same has no distance
		1:    baselinetest.Matrix(1, 5, 5),             // of none
	} {
		if got := medianDistance(classes); got != want {
			t.Errorf("%v: %g, expected %g", classes.Data, got, want)
		}
	}
}
