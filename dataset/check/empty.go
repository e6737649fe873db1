package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Empty reports descriptions of which no cell says no, though some are empty: a list of what classes have,
// by which a model could tell none apart. It is an error until it is said what the empty cells mean.
func Empty(d *dataset.Dataset) error { return run(d, []func(*checker){(*checker).onlyYes}) }

// emptyHint is what to do about a table of which it is not said what empty cells mean.
func (c *checker) emptyHint() string {
	return fmt.Sprintf("If an empty cell means that the class lacks the attribute: lago-train dataset "+
		"describe %s --empty no. "+
		"If it means that nobody knows: --empty unknown. Folders of .mat files are converted first, "+
		"by lago-train dataset convert.", c.Name)
}

func (c *checker) onlyYes() {
	given := dataset.Described(c.Descriptions.Data)
	empty := len(c.Descriptions.Data) - given
	if c.EmptyUnknown || empty == 0 || given == 0 ||
		slices.ContainsFunc(c.Descriptions.Data, func(p float64) bool { return p < 0.5 }) {
		return
	}
	c.report("empty", "descriptions", "cells that say no", fmt.Sprintf("none below one half, and %d of %d "+
		"cells empty", empty, len(c.Descriptions.Data)), c.emptyHint())
}

// strongest reports descriptions that seem to leave out what classes hardly have: most attributes with empty
// cells have no entry near 0.
func (c *checker) strongest() {
	const nearNo, leastEmpty = 0.03, 0.05
	u, with, without, empty := c.Descriptions, 0, 0, 0
	for m := range u.Cols {
		least, holes := math.Inf(1), 0
		for z := range u.Rows {
			if p := u.Row(z)[m]; math.IsNaN(p) {
				holes++
			} else {
				least = min(least, p)
			}
		}
		if empty += holes; holes == 0 || math.IsInf(least, 1) {
			continue
		}
		if with++; least > nearNo {
			without++
		}
	}
	if c.EmptyUnknown || float64(empty) < leastEmpty*float64(len(u.Data)) || 2*without <= with {
		return
	}
	c.report("strongest", "descriptions", "entries near 0 of the attributes that have empty cells",
		fmt.Sprintf("none in %d of %d such attributes", without, with),
		"Classes seem to leave out what they lack. "+c.emptyHint())
}
