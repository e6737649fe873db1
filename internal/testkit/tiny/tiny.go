// Package tiny has the data sets on which tests train in milliseconds.
package tiny

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distmv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Small has 160 samples of 16 classes, 8, 4 and 4 of which are train, validation and test
// classes, with 9 attributes in 3 groups. A trial of 4 epochs takes milliseconds.
func Small() *dataset.Dataset {
	return Simulate(Spec{
		Name: "simulated-small", Samples: 160, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
}

// Learnable has 605 samples of 60 classes, 40, 10 and 10 of which are train, validation and test classes,
// with 20 attributes in 5 groups: enough for an accuracy well above chance after 6 epochs.
func Learnable() *dataset.Dataset {
	return Simulate(Spec{
		Name: "simulated-tiny", Samples: 605, Dims: 64, Attributes: 20, Groups: 5,
		TrainClasses: 40, ValClasses: 10, TestClasses: 10,
	})
}

// Distinct returns a data set of different classes with two samples each: class z has the
// description e_z and samples 2z and 2z+1.
func Distinct(names ...string) *dataset.Dataset {
	n := len(names)
	d := &dataset.Dataset{
		Name: "birds", Classes: names, Features: dataset.NewMatrix[float32](2*n, 2),
		Descriptions: dataset.NewMatrix[float64](n, n),
	}
	for z := range n {
		d.Attributes = append(d.Attributes, dataset.Attribute{Name: fmt.Sprintf("a%d", z), Group: -1})
		d.Descriptions.Row(z)[z] = 1
		d.Labels = append(d.Labels, z, z)
	}
	for i := range d.Features.Data {
		d.Features.Data[i] = float32(i + 1)
	}
	return d
}

// Sound returns a data set of 4 classes with 2 samples each, in which check.Errors finds none.
func Sound() *dataset.Dataset {
	d := &dataset.Dataset{
		Name:     "sound",
		Features: dataset.NewMatrix[float32](8, 3),
		Labels:   []int{0, 1, 2, 3, 3, 2, 1, 0},
		Classes:  []string{"ant", "bee", "cat", "dog"},
		Attributes: []dataset.Attribute{
			{Name: "legs::four", Group: 0},
			{Name: "legs::six", Group: 0},
			{Name: "flies", Group: 1},
		},
		Groups:       []string{"legs", "flies"},
		Descriptions: dataset.NewMatrix[float64](4, 3),
		Split:        dataset.Split{Train: []int{0, 2}, Val: []int{1}, Test: []int{3}},
	}
	for i := range d.Features.Data {
		d.Features.Data[i] = float32(i) / 2
	}
	for i := range d.Descriptions.Data {
		d.Descriptions.Data[i] = float64(i%5) / 4
	}
	return d
}

// Write writes a data set in the open layout, with d.Split as the first of its splits.
func Write(dir string, d *dataset.Dataset, others ...dataset.Split) error {
	attributes, classes := [][]string{{"name", "group"}}, [][]string{{"class"}}
	for _, a := range d.Attributes {
		group := ""
		if a.Group >= 0 {
			group = d.Groups[a.Group]
		}
		attributes = append(attributes, []string{a.Name, group})
		classes[0] = append(classes[0], a.Name)
	}
	labels := [][]string{{"class", "test_seen"}}
	splits := [][]string{[]string{"class", "part", "part2", "part3"}[:2+len(others)]}
	for z, name := range d.Classes {
		cells, parts := []string{name}, []string{name}
		for _, p := range d.Descriptions.Row(z) {
			cell := ""
			if p == p {
				cell = strconv.FormatFloat(p, 'g', -1, 64)
			}
			cells = append(cells, cell)
		}
		for _, s := range append([]dataset.Split{d.Split}, others...) {
			part := ""
			for _, subset := range s.Subsets() {
				if slices.Contains(subset.Classes, z) {
					part = subset.Name
				}
			}
			parts = append(parts, part)
		}
		classes, splits = append(classes, cells), append(splits, parts)
	}
	for i, z := range d.Labels {
		labels = append(labels, []string{d.Classes[z], strconv.FormatBool(slices.Contains(d.TestSeen, i))})
	}
	err := os.MkdirAll(dir, 0o777)
	files := map[string][][]string{
		"attributes.csv": attributes, "classes.csv": classes, "labels.csv": labels,
		"splits.csv": splits,
	}
	for name, rows := range files {
		err = errors.Join(err, fileio.WriteCSV(filepath.Join(dir, name), rows))
	}
	return errors.Join(err, WriteNPY(filepath.Join(dir, "features.npy"), d.Features))
}

// WriteNPY writes features as a NumPy array.
func WriteNPY(path string, x dataset.Matrix[float32]) error {
	return fileio.Write(path, func(w io.Writer) error {
		return cmp.Or(npy.WriteHeader(w, x.Rows, x.Cols), matrix.Write(w, x.Data))
	})
}

// A feature is max(0, bias + signal + noise), where the signal has variance 1 if every
// group has a value. About a third of the features are 0, as for a ResNet.
const (
	bias          = 0.5
	noise         = 1.0 // standard deviation
	concentration = 0.2 // of the Dirichlet distribution; below 1, most classes prefer one or two values
)

// Simulate generates a data set of any size from random numbers. It can be learned, but accuracies on it say
// nothing about photographs. A class has, in every group of attributes, a Dirichlet distribution over the
// values and over none of them: its description. A sample draws one value per group from it, and its features
// are a random linear map of these values, with noise, cut off at zero. Every fifth sample of a seen class is
// held out for generalised zero-shot learning.
//
// The same specification gives the same bits on any number of processors.
func Simulate(s Spec) *dataset.Dataset {
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
