package report

import (
	"slices"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// choice is the configuration that stands for a variant: the best by mean val
// accuracy, and what it scored on the test classes. Either is nil where it wasn't
// run.
type choice struct {
	Variant   model.Variant
	Dev, Test *Configuration
}

// choices are in the order of the variants in the paper; a variant that was not
// run has none.
func (d *Dataset) choices() []choice {
	var list []choice
	for _, v := range model.Variants {
		of := func(c *Configuration) bool { return c.Variant() == v }
		c := choice{Variant: v}
		if i := slices.IndexFunc(d.Dev, of); i >= 0 {
			c.Dev = d.Dev[i]
			c.Test = d.testOf(c.Dev)
		} else if i := slices.IndexFunc(d.Test, of); i >= 0 {
			c.Test = d.Test[i]
		}
		if c.Dev != nil || c.Test != nil {
			list = append(list, c)
		}
	}
	return list
}

// testOf returns the test trials of a dev configuration. Of several that differ in
// their number of epochs, those count that ran as many as the average dev curve
// says.
func (d *Dataset) testOf(dev *Configuration) *Configuration {
	var found *Configuration
	for _, c := range d.Test {
		if converged(c.Trial()) != converged(dev.Trial()) {
			continue
		}
		if found == nil || c.Trial().Training.Epochs == protocol.BestEpoch(dev.Curves) {
			found = c
		}
	}
	return found
}

// converged is a trial without what the two stages of a configuration differ in.
func converged(t train.Trial) train.Trial {
	t.Stage, t.Training.Epochs, t.Training.Patience, t.Training.Seed = "", 0, 0, 0
	return t
}

// best is the choice with the highest mean val accuracy among those that fit; ok is
// false where none does.
func best(choices []choice, fits func(choice) bool) (c choice, ok bool) {
	for _, other := range choices {
		if fits(other) && (!ok || other.val() > c.val()) {
			c, ok = other, true
		}
	}
	return c, ok
}

// val is the mean val accuracy, below any other where there is none.
func (c choice) val() float64 {
	if c.Dev == nil {
		return -1
	}
	return c.Dev.PerClass.Mean
}
