// Package simulate generates zero-shot data sets of any size from random numbers, for tests. They can be
// learned, but accuracies on them say nothing about photographs.
package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distmv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// A feature is max(0, bias + signal + noise), where the signal has variance 1 if every
// group has a value. About a third of the features are 0, as for a ResNet.
const (
	bias          = 0.5
	noise         = 1.0 // standard deviation
	concentration = 0.2 // of the Dirichlet distribution; below 1, most classes prefer one or two values
)

// Make generates a data set. A class has, in every group of attributes, a Dirichlet distribution over the
// values and over none of them: its description. A sample draws one value per group from it, and its features
// are a random linear map of these values, with noise, cut off at zero. Every fifth sample of a seen class is
// held out for generalised zero-shot learning.
//
// The same specification gives the same bits on any number of processors.
func Make(s Spec) *dataset.Dataset {
	ds := &dataset.Dataset{
		Name: s.Name, Source: "simulated",
		Features: dataset.NewMatrix[float32](s.Samples, s.Dims),
	}
	for z, end := range ends(s.Samples, s.TrainClasses+s.ValClasses+s.TestClasses) {
		ds.Classes = append(ds.Classes, fmt.Sprintf("class%03d", z+1))
		subset := &ds.Split.Train
		if z >= s.TrainClasses+s.ValClasses {
			subset = &ds.Split.Test
		} else if z >= s.TrainClasses {
			subset = &ds.Split.Val
		}
		*subset = append(*subset, z)
		for n := 1; len(ds.Labels) < end; n++ {
			if n%5 == 0 && subset != &ds.Split.Test {
				ds.TestSeen = append(ds.TestSeen, len(ds.Labels))
			}
			ds.Labels = append(ds.Labels, z)
		}
	}
	groups := ends(s.Attributes, s.Groups)
	for k, end := range groups {
		name := fmt.Sprintf("group%02d", k+1)
		ds.Groups = append(ds.Groups, name)
		for n := 1; len(ds.Attributes) < end; n++ {
			ds.Attributes = append(ds.Attributes, dataset.Attribute{
				Name: fmt.Sprintf("%s::value%02d", name, n), Group: k,
			})
		}
	}

	// Samples are drawn from sequences 0 to Samples-1, all else from the last.
	rng := rand.NewPCG(0, math.MaxUint64)
	ds.Descriptions = describe(ds, groups, rng)
	// What each attribute adds to the features. A sample has at most one per group.
	effects := dataset.NewMatrix[float32](s.Attributes, s.Dims)
	sd, normal := 1/math.Sqrt(float64(s.Groups)), rand.New(rng)
	for i := range effects.Data {
		effects.Data[i] = float32(sd * normal.NormFloat64())
	}
	parallel.For(s.Samples, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			drawSample(ds.Features.Row(i), ds.Descriptions.Row(ds.Labels[i]), groups, effects,
				rand.New(rand.NewPCG(0, uint64(i))))
		}
	})
	return ds
}

// ends returns the index after the last item of each part if n items are divided into parts of
// equal length, give or take one: the first parts are the longer ones.
func ends(n, parts int) []int {
	v := make([]int, parts)
	for i := range v {
		v[i] = (i+1)*(n/parts) + min(i+1, n%parts)
	}
	return v
}

// describe draws the descriptions of all classes. groups are the ends of the groups.
func describe(ds *dataset.Dataset, groups []int, src rand.Source) dataset.Matrix[float64] {
	u := dataset.NewMatrix[float64](len(ds.Classes), len(ds.Attributes))
	start := 0
	for _, end := range groups {
		alpha := slices.Repeat([]float64{concentration}, end-start+1) // one more, for none of the values
		dirichlet := distmv.NewDirichlet(alpha, src)
		p := make([]float64, len(alpha))
		for z := range ds.Classes {
			copy(u.Row(z)[start:end], dirichlet.Rand(p))
		}
		start = end
	}
	return u
}

// drawSample fills x, the features of one sample of a class described by u.
func drawSample(x []float32, u []float64, groups []int, effects dataset.Matrix[float32], rng *rand.Rand) {
	for d := range x {
		x[d] = float32(bias + noise*rng.NormFloat64())
	}
	m := 0
	for _, end := range groups {
		// The value at which the running sum of u exceeds r, if there is one.
		for r := rng.Float64(); m < end && r >= 0; m++ {
			if r -= u[m]; r < 0 {
				for d, v := range effects.Row(m) {
					x[d] += v
				}
			}
		}
		m = end
	}
	for d, v := range x {
		x[d] = max(v, 0)
	}
}

// Spec is the size of a data set. Every number must be positive, and there must be an attribute for each
// group.
type Spec struct {
	Name string // of the data set

	Samples    int // at least one per class; classes have the same number, give or take one
	Dims       int // of the features
	Attributes int
	Groups     int // have the same number of attributes, give or take one

	TrainClasses, ValClasses, TestClasses int
}
