// Package tiny has the data sets on which tests train in milliseconds.
package tiny

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/testkit/simulate"
)

// Small has 160 samples of 16 classes, 8, 4 and 4 of which are train, validation and test
// classes, with 9 attributes in 3 groups. A trial of 4 epochs takes milliseconds.
func Small() *dataset.Dataset {
	return simulate.Make(simulate.Spec{
		Name: "simulated-small", Samples: 160, Dims: 16, Attributes: 9, Groups: 3,
		TrainClasses: 8, ValClasses: 4, TestClasses: 4,
	})
}

// Learnable has 605 samples of 60 classes, 40, 10 and 10 of which are train, validation and test classes,
// with 20 attributes in 5 groups: enough for an accuracy well above chance after 6 epochs.
func Learnable() *dataset.Dataset {
	return simulate.Make(simulate.Spec{
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
	return fileio.Write(path, func(w io.Writer) error { return npy.Write(w, x.Rows, x.Cols, x.Data) })
}
