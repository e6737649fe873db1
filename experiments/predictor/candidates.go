package predictor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Candidates are the classes that a prediction chooses from: classes of a data set, and new ones
// that a file describes by the same attributes.
type Candidates struct {
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

// SelectedCandidates returns the classes of some selections from d, each class once.
func SelectedCandidates(d *dataset.Dataset, selections ...Selection) Candidates {
	var classes []int
	var distinct []string
	for _, s := range selections {
		if !slices.Contains(distinct, string(s)) {
			distinct = append(distinct, string(s))
		}
		for _, z := range s.Classes(d) {
			if !slices.Contains(classes, z) {
				classes = append(classes, z)
			}
		}
	}
	c := Candidates{What: strings.Join(distinct, " and ") + " classes", U: d.Describe(classes)}
	for _, z := range classes {
		c.Names = append(c.Names, d.Classes[z])
	}
	return c
}

// NewCandidates returns the classes of some selections from d and those that a file describes by the
// attributes of d. Without both it returns the classes of otherwise.
func NewCandidates(ctx context.Context, d *dataset.Dataset, selections []Selection, file string, otherwise Selection) (Candidates, error) {
	if file == "" {
		if selections == nil {
			selections = []Selection{otherwise}
		}
		return SelectedCandidates(d, selections...), nil
	}
	t, err := descriptions.Read(ctx, file, descriptions.AttributesOf(d))
	if err != nil {
		return Candidates{}, err
	}
	described := Candidates{"classes of " + file, t.Classes, t.Values()}
	if selections == nil {
		return described, nil
	}
	return SelectedCandidates(d, selections...).join(described)
}

// join returns the classes of c followed by those of more. Names must differ.
func (c Candidates) join(more Candidates) (Candidates, error) {
	for _, name := range more.Names {
		if slices.Contains(c.Names, name) {
			return c, &invalid.Error{
				Where: more.What, Want: "names that differ from the " + c.What, Got: fmt.Sprintf("%q", name),
				Hint: "Rename the class or leave it out.",
			}
		}
	}
	u := dataset.Matrix[float64]{Rows: c.U.Rows + more.U.Rows, Cols: c.U.Cols, Data: slices.Concat(c.U.Data, more.U.Data)}
	return Candidates{c.What + " and " + more.What, slices.Concat(c.Names, more.Names), u}, nil
}
