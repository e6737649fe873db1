package decision

import (
	"context"
	"math/rand/v2"

	"github.com/lago-train/lago-train/model"
)

const (
	fitDraws    = 5    // of candidates, for each number of them
	mostFitting = 1024 // candidates, and validation classes of a draw: work grows with their product
)

// measureFit measures how well samples of validation classes fit their best class among numbers of
// candidates, theirs among them: random parts of the validation classes, then all of these with random train
// classes.
func measureFit(ctx context.Context, folds []*validated) (*model.Fit, error) {
	f, classes, most := new(model.Fit), map[int]bool{}, mostFitting
	for _, v := range folds {
		most = min(most, len(v.Data.Split.Seen()))
		f.Samples += len(v.samples.Rows)
		for _, z := range v.scores.classes {
			classes[z] = true
		}
	}
	f.Classes = len(classes)
	for n := 1; ; n = min(n+max(n/2, 1), most) {
		var fits []float64
		r := rand.New(rand.NewPCG(17, uint64(n)))
		for range fitDraws {
			for _, v := range folds {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				drawn, err := v.fits(n, r)
				if err != nil {
					return nil, err
				}
				fits = append(fits, drawn...)
			}
		}
		if f.Add(n, fits); n == most {
			return f, nil
		}
	}
}

// fits returns the fits of the samples, each among n candidates.
func (v *validated) fits(n int, r *rand.Rand) (all []float64, err error) {
	val, seen := v.scores.classes, v.Data.Split.Train
	others := max(n-len(val), 0) // train classes
	order := r.Perm(len(val))
	order = order[:min(len(order), mostFitting)]
	of := make([][]int, len(val))
	for i, z := range v.samples.Labels {
		of[z] = append(of[z], i)
	}
	for from := 0; from < len(order); from += n {
		to := min(from+n, len(order))
		from = max(to-n, 0) // the last part has n classes, too
		part := order[from:to]
		var candidates, rows []int
		for _, z := range part {
			candidates, rows = append(candidates, val[z]), append(rows, of[z]...)
		}
		for _, z := range r.Perm(len(seen))[:others] {
			candidates = append(candidates, seen[z])
		}
		fits, err := v.BestFit(v.detected.Gather(rows), v.Data.Describe(candidates))
		if err != nil {
			return nil, err
		}
		all = append(all, fits...)
	}
	return all, nil
}
