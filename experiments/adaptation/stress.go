package adaptation

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// Condition is the effect of adaptation on random batches of one kind. Changes are
// differences of per-class accuracy, over the classes that are present.
type Condition struct {
	Name    string  `json:"condition"`
	Samples int     `json:"samples,omitempty"` // of a small batch
	Mean    float64 `json:"mean_change"`
	Worst   float64 `json:"worst_change"`
	Draws   int     `json:"draws"`
	Warned  bool    `json:"warned"` // predict would warn that the batch is too small
}

// condition selects the samples of a batch.
type condition struct {
	name    string
	samples int                             // at most; 0 is all
	keep    func(rank, classes int) float64 // the share kept of the class with a random rank
}

// conditions are in the order of falling size.
var conditions = []condition{
	{"a third of the classes absent", 0, func(rank, classes int) float64 { return present(rank >= classes/3) }},
	{"nine tenths of the classes absent", 0, func(rank, classes int) float64 { return present(rank < max(2, (classes+5)/10)) }},
	{"imbalanced, 20 to 1", 0, func(rank, classes int) float64 { return math.Pow(0.05, float64(rank)/float64(max(classes-1, 1))) }},
	{"500 samples", 500, nil},
	{"200 samples", 200, nil},
	{"50 samples", 50, nil},
}

func present(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Stress adapts to random batches from each of some batches, draws for each condition:
// classes that are absent but still candidates, geometrically imbalanced classes, and few
// samples. Conditions for which there are not more samples are left out.
func Stress(ctx context.Context, folds []*Batch, s adapt.Settings, draws int) ([]Condition, error) {
	var table []Condition
	for i, c := range conditions {
		row := Condition{Name: c.name, Samples: c.samples, Worst: math.Inf(1)}
		for f, fold := range folds {
			if len(fold.Labels) <= c.samples {
				continue
			}
			for draw := range draws {
				r := rand.New(rand.NewPCG(uint64(draw), uint64(i*len(folds)+f)))
				b := fold.pick(c.draw(fold, r))
				after, err := b.adapted(ctx, s)
				if err != nil {
					return nil, err
				}
				change := meanOf(after) - meanOf(metrics.ClassAccuracy(b.Scores, b.Labels))
				row.Mean += change
				row.Worst = min(row.Worst, change)
				row.Draws++
			}
		}
		if row.Draws > 0 {
			row.Mean /= float64(row.Draws)
			table = append(table, row)
		}
	}
	return table, nil
}

// draw returns the rows of a random batch: at least two of them.
func (c condition) draw(b *Batch, r *rand.Rand) []int {
	rank := r.Perm(b.Scores.Cols)
	var rows, others []int
	for _, i := range r.Perm(len(b.Labels)) {
		switch {
		case c.samples > 0 && len(rows) == c.samples:
		case c.keep == nil || r.Float64() < c.keep(rank[b.Labels[i]], b.Scores.Cols):
			rows = append(rows, i)
		default:
			others = append(others, i)
		}
	}
	if len(rows) == 0 { // all classes that were drawn have no samples
		rows = others
	}
	return rows
}
