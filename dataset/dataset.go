package dataset

import "slices"

// Matrix is a dense matrix, row by row.
type Matrix[T float32 | float64] struct {
	Rows, Cols int
	Data       []T // Rows x Cols
}

// NewMatrix returns a matrix of zeros.
func NewMatrix[T float32 | float64](rows, cols int) Matrix[T] {
	return Matrix[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// Row returns row i, sharing its memory.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Attribute is one column of the class descriptions.
type Attribute struct {
	Name  string // as in "has_wing_color::olive"
	Group int    // index into Dataset.Groups, -1 where groups are unknown
}

// Split names the classes of each part by their index into Dataset.Classes, in
// ascending order. Test classes are never trained on.
type Split struct {
	Train, Val, Test []int
}

// Dataset is one zero-shot problem.
type Dataset struct {
	Name   string // as in "cub"
	Source string // a folder, or how it was made

	Features Matrix[float32] // samples x D
	Labels   []int           // samples; index into Classes

	Classes      []string
	Attributes   []Attribute
	Groups       []string        // nil where the source does not say which attributes belong together
	Descriptions Matrix[float64] // classes x attributes, p(a_m = T | z) in [0, 1]; NaN means not described

	Split Split

	// TestSeen are the samples of seen classes, ascending, that generalised
	// zero-shot learning judges, and that a model which is judged by it must not
	// learn from. It is nil where the source names none.
	TestSeen []int

	// FeaturesSum identifies the features where a reader already knows a
	// checksum of them; Fingerprint makes one where it is empty.
	FeaturesSum string
}

// GroupOf returns the group of each attribute, the form in which models take it.
// It is nil where groups are unknown.
func (d *Dataset) GroupOf() []int {
	if d.Groups == nil {
		return nil
	}
	g := make([]int, len(d.Attributes))
	for m, a := range d.Attributes {
		g[m] = a.Group
	}
	return g
}

// SamplesPerClass counts the samples of each class; labels outside the classes
// are not counted.
func (d *Dataset) SamplesPerClass() []int {
	n := make([]int, len(d.Classes))
	for _, z := range d.Labels {
		if d.hasClass(z) {
			n[z]++
		}
	}
	return n
}

// SamplesOf returns the indices of the samples whose class is among classes, in
// the order of the data set.
func (d *Dataset) SamplesOf(classes []int) []int {
	in := make([]bool, len(d.Classes))
	for _, z := range classes {
		in[z] = true
	}
	var rows []int
	for i, z := range d.Labels {
		if in[z] {
			rows = append(rows, i)
		}
	}
	return rows
}

// Describe returns the descriptions of the given classes, one row a class in
// their order.
func (d *Dataset) Describe(classes []int) Matrix[float64] {
	u := NewMatrix[float64](len(classes), len(d.Attributes))
	for i, z := range classes {
		copy(u.Row(i), d.Descriptions.Row(z))
	}
	return u
}

// Seen returns the classes of train and val together, ascending: what is trained
// on before the test classes are judged.
func (s Split) Seen() []int {
	return mergeSorted(s.Train, s.Val)
}

func mergeSorted(a, b []int) []int {
	m := slices.Concat(a, b)
	slices.Sort(m)
	return m
}
