package explain

import (
	"fmt"
	"image"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/predict"
)

// Question is what to explain.
type Question struct {
	Sample     Sample
	X          dataset.Matrix[float32] // features as they are in the data set, one of its rows the sample's
	Row        int                     // which
	Candidates Candidates
	Against    string // the class to compare the prediction with, by name; empty for the runner-up
	Top        int    // how many changes of single detections to tell; 0 for none
}

// Sample is what is known of a sample beside its features.
type Sample struct {
	Index   int         `json:"index"` // in the data set or the file, from 0
	ID      string      `json:"id,omitempty"`
	From    string      `json:"from"`  // the data set or the file
	Label   *string     `json:"label"` // the name of its class, null where it is not known
	Picture image.Image `json:"-"`     // nil where there is none
}

// Candidates are the classes that are chosen between.
type Candidates struct {
	predict.Classes
	What string // as in "test classes"
}

func (c Candidates) check() error {
	if len(c.Names) < 2 {
		return fmt.Errorf("explain: %s: expected at least two classes to choose between, found %d", c.What, len(c.Names))
	}
	if c.U.Rows != len(c.Names) {
		panic(fmt.Sprintf("explain: %d classes with %d descriptions", len(c.Names), c.U.Rows))
	}
	return nil
}
