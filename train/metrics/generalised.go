package metrics

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Generalised is per-class accuracy where every sample, of a seen class or not, may
// be named as any class (Xian et al. 2018, section 4.3).
type Generalised struct {
	Seen   float64 `json:"seen"`          // of the samples of seen classes
	Unseen float64 `json:"unseen"`        // of the samples of unseen classes
	Mean   float64 `json:"harmonic_mean"` // of the two
}

func generalised(seen, unseen float64) Generalised {
	return Generalised{seen, unseen, HarmonicMean(seen, unseen)}
}

// HarmonicMean is 2 s u / (s + u), 0 where both are 0.
func HarmonicMean(seen, unseen float64) float64 {
	if seen+unseen == 0 {
		return 0
	}
	return 2 * seen * unseen / (seen + unseen)
}

// Among keeps of the scores the given classes, and the samples of these. Labels are
// places in the list of classes that is given.
func Among(scores dataset.Matrix[float32], labels, classes []int) (dataset.Matrix[float32], []int) {
	kept := dataset.Matrix[float32]{Cols: len(classes)}
	var keptLabels []int
	for i, label := range labels {
		place := slices.Index(classes, label)
		if place < 0 {
			continue
		}
		row := scores.Row(i)
		for _, z := range classes {
			kept.Data = append(kept.Data, row[z])
		}
		kept.Rows++
		keptLabels = append(keptLabels, place)
	}
	return kept, keptLabels
}

// Sides says of each class, a column of the scores, whether it is unseen.
type Sides []bool

// NewSides returns the sides of as many classes, of which the given ones are unseen.
func NewSides(classes int, unseen []int) (Sides, error) {
	s := make(Sides, classes)
	for _, z := range unseen {
		if z < 0 || z >= classes {
			return nil, fmt.Errorf("unseen: expected classes from 0 to %d, found %d", classes-1, z)
		}
		s[z] = true
	}
	return s, nil
}

// Classes lists the classes of one side, ascending.
func (s Sides) Classes(unseen bool) []int {
	var list []int
	for z, u := range s {
		if u == unseen {
			list = append(list, z)
		}
	}
	return list
}

// Check returns an error where either side has no class or no sample.
func (s Sides) Check(labels []int) error {
	if !slices.Contains(s, true) {
		return errors.New("unseen: expected at least one class, found none")
	}
	if !slices.Contains(s, false) {
		return fmt.Errorf("unseen: expected at least one of the %d classes to be seen, found that none is", len(s))
	}
	var unseen int
	for _, z := range labels {
		if s[z] {
			unseen++
		}
	}
	if unseen == 0 || unseen == len(labels) {
		return fmt.Errorf("labels: expected samples of seen and of unseen classes, found %d and %d", len(labels)-unseen, unseen)
	}
	return nil
}
