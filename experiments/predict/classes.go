package predict

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/train"
)

// Classes are those that are chosen between.
type Classes struct {
	Names []string                // Z
	U     dataset.Matrix[float64] // Z x M, their descriptions, NaN where an attribute is not described
}

// Part says which classes of a data set are meant.
type Part string

// The parts.
const (
	Test  Part = "test"
	Val   Part = "val"
	Train Part = "train"
	Seen  Part = "seen" // train and val
	All   Part = "all"  // those in no part of the split too
)

// UnmarshalText reads the name of a part.
func (p *Part) UnmarshalText(text []byte) error {
	switch Part(text) {
	case Test, Val, Train, Seen, All:
		*p = Part(text)
		return nil
	}
	return fmt.Errorf("expected test, val, train, seen (train and val) or all, found %q", text)
}

// Of returns the classes of a split that are meant, of so many in all.
func (p Part) Of(s dataset.Split, classes int) []int {
	switch p {
	case Test:
		return s.Test
	case Val:
		return s.Val
	case Train:
		return s.Train
	case Seen:
		return s.Seen()
	}
	all := make([]int, classes)
	for z := range all {
		all[z] = z
	}
	return all
}

// Known returns the classes of some parts of the data set d, each once.
func Known(d *dataset.Dataset, parts ...Part) Classes {
	var list []int
	for _, p := range parts {
		for _, z := range p.Of(d.Split, len(d.Classes)) {
			if !slices.Contains(list, z) {
				list = append(list, z)
			}
		}
	}
	c := Classes{U: d.Describe(list)}
	for _, z := range list {
		c.Names = append(c.Names, d.Classes[z])
	}
	return c
}

// Described reads the classes that a file describes by the attributes of d.
func Described(path string, d *dataset.Dataset) (Classes, error) {
	names, u, err := descriptions.Read(path, d.Attributes, d.Groups)
	return Classes{names, u}, err
}

// And returns the classes of c and, behind them, those of more. Names must differ.
func (c Classes) And(more Classes) (Classes, error) {
	for _, name := range more.Names {
		if slices.Contains(c.Names, name) {
			return c, fmt.Errorf("classes: expected names that differ, found %q twice: leave it out, or give it another name", name)
		}
	}
	u := dataset.NewMatrix[float64](c.U.Rows+more.U.Rows, max(c.U.Cols, more.U.Cols))
	copy(u.Data[copy(u.Data, c.U.Data):], more.U.Data)
	return Classes{slices.Concat(c.Names, more.Names), u}, nil
}

// Traveller is what a model knows of the data set that it was trained on: all but
// features and labels.
func Traveller(s *train.Saved) *dataset.Dataset {
	d := &dataset.Dataset{
		Name: s.Dataset, Classes: s.Classes, Groups: s.Groups, Descriptions: s.Descriptions, Split: s.Split,
		Attributes: make([]dataset.Attribute, len(s.Attributes)),
	}
	for m, name := range s.Attributes {
		d.Attributes[m] = dataset.Attribute{Name: name, Group: -1}
		if s.Semantic != nil {
			d.Attributes[m].Group = s.Semantic[m]
		}
	}
	return d
}
