package explain

import (
	"cmp"
	"fmt"
	"image"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// Together is a batch of samples that predictions are adapted to.
type Together struct {
	Rows []int // of Question.X; the sample's among them
	IDs  []string
	// Picture returns the picture of a row, nil if there is none.
	Picture func(row int) (image.Image, error)
}

// Adapted is the prediction adapted to a batch (transductive), and the samples that moved it.
type Adapted struct {
	Samples   int     `json:"samples"` // of the batch
	Predicted string  `json:"predicted"`
	P         float64 `json:"p"`        // its adapted probability
	LogOdds   float64 `json:"log_odds"` // of LAGO itself, its own class over this one
	Changed   bool    `json:"changed"`
	// Neighbours are the samples that favour the adapted class most over LAGO's own, at most
	// five; none if the prediction did not change.
	Neighbours []Neighbour `json:"neighbours"`
}

// Neighbour is another sample of the batch.
type Neighbour struct {
	Sample    int         `json:"index"`
	ID        string      `json:"id,omitempty"`
	Predicted string      `json:"predicted"` // adapted
	Cosine    float64     `json:"cosine"`    // of the preprocessed, centred features
	LogOdds   float64     `json:"log_odds"`  // that it adds to the adapted class over LAGO's own
	Picture   image.Image `json:"-"`
}

const neighbours = 5

// adapted fits the mixture to the batch. The features' part of the log odds between two
// classes is a sum over its samples, up to a constant for each class:
//
//	tau x (mu_a - mu_b) = sum_n tau x x_n (P[n,a]/(mass_a + Shrinkage) - P[n,b]/(mass_b + Shrinkage))
func (e *explainer) adapted(t *Together) (*Adapted, error) {
	scores, err := model.Score(e.lago, e.X, t.Rows, e.Candidates.U)
	if err != nil {
		return nil, err
	}
	x, err := e.saved.AdaptedFeatures().Apply(e.X, t.Rows)
	if err != nil {
		return nil, err
	}
	blocks := []adapt.Block{{X: x, Scores: scores}}
	adapt.Normalize(blocks)
	r, err := adapt.Fit(blocks, e.saved.Adaptation.Settings)
	if err != nil {
		return nil, err
	}
	place := slices.Index(t.Rows, e.Row)
	own, class := e.order[0], metrics.Argmax(r.P.Row(place))
	a := &Adapted{
		Samples: len(t.Rows), Predicted: e.Candidates.Names[class], P: float64(r.P.Row(place)[class]),
		LogOdds: e.logP[own] - e.logP[class], Changed: own != class, Neighbours: []Neighbour{},
	}
	if !a.Changed {
		return a, nil
	}
	mass := func(z int) (m float64) {
		for i := range r.P.Rows {
			m += float64(r.P.Row(i)[z])
		}
		return m + adapt.Shrinkage
	}
	massOfClass, massOfOwn := mass(class), mass(own)
	for i, row := range t.Rows {
		if i == place {
			continue
		}
		p := r.P.Row(i)
		n := Neighbour{Sample: row, Predicted: e.Candidates.Names[metrics.Argmax(p)], Cosine: cosine(x, place, i)}
		n.LogOdds = e.saved.Adaptation.Tau * n.Cosine * (float64(p[class])/massOfClass - float64(p[own])/massOfOwn)
		if t.IDs != nil {
			n.ID = t.IDs[row]
		}
		a.Neighbours = append(a.Neighbours, n)
	}
	a.Neighbours = slices.DeleteFunc(a.Neighbours, func(n Neighbour) bool { return n.LogOdds <= 0 })
	slices.SortStableFunc(a.Neighbours, func(x, y Neighbour) int { return cmp.Compare(y.LogOdds, x.LogOdds) })
	a.Neighbours = slices.Clip(a.Neighbours[:min(neighbours, len(a.Neighbours))])
	for i := range a.Neighbours {
		if t.Picture == nil {
			break
		}
		if a.Neighbours[i].Picture, err = t.Picture(a.Neighbours[i].Sample); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// cosine of two normalised samples.
func cosine(x dataset.Matrix[float32], a, b int) float64 {
	return float64(blas32.Implementation().Sdot(x.Cols, x.Row(a), 1, x.Row(b), 1))
}

// Headline says whether the batch changed the prediction.
func (a *Adapted) Headline(own string) string {
	if !a.Changed {
		return fmt.Sprintf("Adapted to %s together, the prediction stays (p = %s)", format.Count(a.Samples, "sample"), probability(a.P))
	}
	return fmt.Sprintf("Adapted to %s together, the prediction changes to %s (p = %s); LAGO itself prefers %s, %s",
		format.Count(a.Samples, "sample"), className(a.Predicted), probability(a.P), className(own), odds(a.LogOdds))
}

// name is the id of the neighbour, or else its index.
func (n Neighbour) name() string { return cmp.Or(format.Printable(n.ID), fmt.Sprint(n.Sample)) }

func (a *Adapted) table() *format.Table {
	t := format.NewTable("sample", "adapted prediction", "similarity (cosine)", "effect")
	t.Right(3, 4)
	for _, n := range a.Neighbours {
		t.Row(n.name(), className(n.Predicted), fixed(n.Cosine), odds(n.LogOdds))
	}
	return t
}
