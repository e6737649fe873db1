package metrics

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Ensemble averages the probabilities of several models.
type Ensemble struct {
	sum     dataset.Matrix[float64] // of probabilities
	members int
}

// Add adds the scores of a model and its temperature. All models must score the same
// samples and classes.
func (e *Ensemble) Add(scores dataset.Matrix[float32], temperature float64) error {
	if e.members == 0 {
		e.sum = dataset.NewMatrix[float64](scores.Rows, scores.Cols)
	}
	if scores.Rows != e.sum.Rows || scores.Cols != e.sum.Cols {
		return &invalid.Error{
			Field: "scores", Want: fmt.Sprintf("%d samples and %d classes, as of the models before", e.sum.Rows, e.sum.Cols),
			Got: fmt.Sprintf("%d and %d", scores.Rows, scores.Cols),
		}
	}
	e.members++
	p := make([]float64, scores.Cols)
	for i := range scores.Rows {
		softmax(p, scores.Row(i), temperature)
		sum := e.sum.Row(i)
		for z, v := range p {
			sum[z] += v
		}
	}
	return nil
}

// Scores returns the logs of the mean probabilities; their temperature is 1.
func (e *Ensemble) Scores() dataset.Matrix[float32] {
	scores := dataset.NewMatrix[float32](e.sum.Rows, e.sum.Cols)
	for i, sum := range e.sum.Data {
		scores.Data[i] = float32(math.Log(max(sum/float64(e.members), math.SmallestNonzeroFloat64)))
	}
	return scores
}
