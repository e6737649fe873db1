// Package candidates gathers the classes that a prediction chooses from: classes of a
// data set, and new ones that a file describes by the same attributes.
package candidates

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

// Set is the classes to choose from.
type Set struct {
	What  string                  // describes the set, as in "test classes"
	Names []string                // Z
	U     dataset.Matrix[float64] // Z x M, the class descriptions; NaN where an entry is missing
}

// Selection names classes of a data set by their role in its split.
type Selection string

// The selections.
const (
	Test  Selection = "test"
	Val   Selection = "val"
	Train Selection = "train"
	Seen  Selection = "seen" // train and val
	All   Selection = "all"  // including classes without a role
)

// Selections are all selections.
var Selections = []Selection{Test, Val, Train, Seen, All}

// Classes returns the indices of the selected classes.
func (s Selection) Classes(d *dataset.Dataset) []int {
	if s == All {
		return d.Descriptions.AllRows()
	}
	return map[Selection][]int{Test: d.Split.Test, Val: d.Split.Val, Train: d.Split.Train, Seen: d.Split.Seen()}[s]
}

// SelectionOf returns the selection that a class belongs to: train, val or test, and test
// for a class without a role.
func SelectionOf(d *dataset.Dataset, class int) Selection {
	for _, s := range []Selection{Train, Val} {
		if slices.Contains(s.Classes(d), class) {
			return s
		}
	}
	return Test
}

// Of returns the classes of some selections from d, each class once.
func Of(d *dataset.Dataset, selections ...Selection) Set {
	var classes []int
	for _, s := range selections {
		for _, z := range s.Classes(d) {
			if !slices.Contains(classes, z) {
				classes = append(classes, z)
			}
		}
	}
	set := Set{What: strings.Join(format.Strings(selections), " and ") + " classes", U: d.Describe(classes)}
	for _, z := range classes {
		set.Names = append(set.Names, d.Classes[z])
	}
	return set
}

// Read reads classes from a file that describes them by the attributes of d.
func Read(ctx context.Context, path string, d *dataset.Dataset) (Set, error) {
	t, err := descriptions.Read(ctx, path, descriptions.AttributesOf(d))
	if err != nil {
		return Set{}, err
	}
	return Set{"classes of " + path, t.Classes, t.Values()}, nil
}

// Join returns the classes of s followed by those of more. Names must differ.
func (s Set) Join(more Set) (Set, error) {
	for _, name := range more.Names {
		if slices.Contains(s.Names, name) {
			return s, &invalid.Error{
				Where: more.What, Want: "names that differ from the " + s.What, Got: fmt.Sprintf("%q", name),
				Hint: "Rename the class or leave it out.",
			}
		}
	}
	u := dataset.NewMatrix[float64](s.U.Rows+more.U.Rows, max(s.U.Cols, more.U.Cols))
	copy(u.Data[copy(u.Data, s.U.Data):], more.U.Data)
	return Set{s.What + " and " + more.What, slices.Concat(s.Names, more.Names), u}, nil
}

// TrainingData returns the data set that a model was trained on, as far as the model
// file records it: without features and labels.
func TrainingData(m *train.Saved) *dataset.Dataset {
	d := &dataset.Dataset{
		Name: m.Dataset, Classes: m.Classes, Groups: m.Groups, Descriptions: m.Descriptions, Split: m.Split,
		Attributes: make([]dataset.Attribute, len(m.Attributes)),
	}
	for i, name := range m.Attributes {
		d.Attributes[i] = dataset.Attribute{Name: name, Group: -1}
		if m.Semantic != nil {
			d.Attributes[i].Group = m.Semantic[i]
		}
	}
	return d
}
