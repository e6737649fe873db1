package adaptation

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// The settings to choose from: temperatures relative to the one with the lowest negative
// log-likelihood on the validation classes, and tau.
var (
	temperatures = []float64{1, 2, 4}
	taus         = []float64{15, 30, 60, 120, 240}
)

const (
	maxSamples  = 2000 // of a fold, to bound the time of a choice
	choiceDraws = 5    // of each condition
	finalists   = 3    // settings to try under all conditions
)

// choose chooses temperature and tau on samples of validation classes, one batch per fold, and
// one of the kinds of features that the batches have. Settings are ruled out if the 95 % interval
// of their gain over classes includes 0, or if they lose with absent or imbalanced classes. Of
// the finalists, the most accurate settings, the one whose smallest gain over these conditions is
// the largest is chosen; if all are ruled out, the next most accurate one that is not. If there is
// none, Tau is 0.
func choose(ctx context.Context, folds []*batch) (a *train.Adaptation, kind int, err error) {
	a = &train.Adaptation{Settings: adapt.Settings{Temperature: 1}}
	whole := make([]*batch, len(folds))
	r := rand.New(rand.NewPCG(13, 0))
	scale := 0.0
	var before []float64
	for i, b := range folds {
		rows := r.Perm(len(b.labels))
		whole[i] = b.pick(rows[:min(maxSamples, len(rows))])
		before = append(before, whole[i].before()...)
		a.Samples += len(b.labels)
		t, err := metrics.FitTemperature(whole[i].scores, whole[i].labels)
		if err != nil {
			scale = math.NaN() // scores at chance, or without a mistake
		}
		scale += t / float64(len(folds))
	}
	a.Before = meanOf(before)
	a.After = a.Before
	perClass := byClass(whole, before)
	a.Classes = len(perClass)
	if math.IsNaN(scale) {
		return a, 0, nil
	}
	ranked, err := rank(ctx, whole, scale)
	if err != nil {
		return nil, 0, err
	}
	most := 0.0
	for i, c := range ranked {
		if i >= finalists && a.Tau > 0 {
			break
		}
		gain := metrics.PairedDifference(byClass(whole, c.after), perClass)
		if !(gain.Interval.Low > 0) {
			continue
		}
		table, err := stress(ctx, only(whole, c.kind), c.Settings, choiceDraws)
		if err != nil {
			return nil, 0, err
		}
		least := meanOf(c.after) - a.Before
		for _, row := range table {
			if row.Samples == 0 {
				least = min(least, row.Mean)
			}
		}
		if least > most {
			most, kind = least, c.kind
			a.Settings, a.After, a.Interval, a.Smallest = c.Settings, meanOf(c.after), gain.Interval, smallest(table, whole)
		}
	}
	return a, kind, nil
}

// candidate is settings with the accuracy on complete batches, by class of all folds.
type candidate struct {
	adapt.Settings
	kind  int // of features
	after []float64
}

// rank returns all settings by accuracy, the highest first.
func rank(ctx context.Context, folds []*batch, scale float64) ([]candidate, error) {
	var list []candidate
	for kind := range folds[0].x {
		for _, tau := range taus {
			for _, t := range temperatures {
				c := candidate{Settings: adapt.Settings{Temperature: t * scale, Tau: tau}, kind: kind}
				for _, f := range only(folds, kind) {
					after, err := f.after(ctx, c.Settings)
					if err != nil {
						return nil, err
					}
					c.after = append(c.after, after...)
				}
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(x, y candidate) int { return cmp.Compare(meanOf(y.after), meanOf(x.after)) })
	return list, nil
}

// only returns the batches with one kind of features.
func only(folds []*batch, kind int) []*batch {
	list := make([]*batch, len(folds))
	for i, b := range folds {
		one := *b
		one.x = b.x[kind : kind+1]
		list[i] = &one
	}
	return list
}

// byClass averages accuracies, by class of all folds, over the folds that have the class. The
// order is that in which the folds have them.
func byClass(folds []*batch, accuracies []float64) []float64 {
	of := map[int][]float64{}
	var classes []int
	for _, f := range folds {
		for i, z := range f.classes {
			if of[z] == nil {
				classes = append(classes, z)
			}
			of[z] = append(of[z], accuracies[i])
		}
		accuracies = accuracies[len(f.classes):]
	}
	means := make([]float64, len(classes))
	for i, z := range classes {
		means[i] = meanOf(of[z])
	}
	return means
}

// smallest returns the least number of samples from which batches gained on average.
func smallest(table []Condition, folds []*batch) int {
	least := 0
	for _, b := range folds {
		least = max(least, len(b.labels))
	}
	for _, row := range table {
		if row.Samples == 0 {
			continue
		}
		if row.Mean <= 0 {
			break
		}
		least = row.Samples
	}
	return least
}

// meanOf leaves out NaN.
func meanOf(perClass []float64) float64 {
	var sum, n float64
	for _, v := range perClass {
		if v == v {
			sum += v
			n++
		}
	}
	return sum / n
}
