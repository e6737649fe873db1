package adaptation

import (
	"cmp"
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
)

// Choose chooses temperature and tau on batches of validation classes, one per fold. Of
// settings whose accuracies differ by less than the 95 % interval over classes, the one with
// the smallest tau, then the smallest temperature, comes first; the others follow by accuracy.
// The first that does not lose with absent or imbalanced classes is chosen. If there is none,
// or its gain is within the interval, Tau is 0.
func Choose(folds []*Batch) (*train.Adaptation, error) {
	a := &train.Adaptation{Settings: adapt.Settings{Temperature: 1}}
	r := rand.New(rand.NewPCG(13, 0))
	whole := make([]*Batch, len(folds))
	scale := 0.0
	var before []float64
	for i, f := range folds {
		rows := r.Perm(len(f.Labels))
		whole[i] = f.pick(rows[:min(maxSamples, len(rows))])
		before = append(before, metrics.ClassAccuracy(whole[i].Scores, whole[i].Labels)...)
		a.Samples += len(f.Labels)
		a.Classes += f.Scores.Cols
		t, err := metrics.FitTemperature(whole[i].Scores, whole[i].Labels)
		if err != nil {
			scale = math.NaN() // scores at chance, or without a mistake
		}
		scale += t / float64(len(folds))
	}
	a.Before = meanOf(before)
	a.After = a.Before
	if math.IsNaN(scale) {
		return a, nil
	}
	ranked, err := rank(whole, scale)
	if err != nil {
		return nil, err
	}
	for _, c := range ranked {
		gain := metrics.PairedDifference(c.after, before)
		if !(gain.Interval.Low > 0) {
			continue
		}
		table, err := Stress(whole, c.Settings, choiceDraws)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(table, func(row Condition) bool { return row.Samples == 0 && row.Mean < 0 }) {
			continue
		}
		a.Settings, a.After, a.Interval, a.Smallest = c.Settings, meanOf(c.after), gain.Interval, smallest(table, whole)
		break
	}
	return a, nil
}

// candidate is settings with the accuracy on complete batches, by class of all folds.
type candidate struct {
	adapt.Settings
	after []float64
}

// rank returns all settings in the order of Choose.
func rank(folds []*Batch, scale float64) ([]candidate, error) {
	var list []candidate
	for _, tau := range taus {
		for _, t := range temperatures {
			c := candidate{Settings: adapt.Settings{Temperature: t * scale, Tau: tau}}
			for _, f := range folds {
				after, err := f.adapted(c.Settings)
				if err != nil {
					return nil, err
				}
				c.after = append(c.after, after...)
			}
			list = append(list, c)
		}
	}
	byAccuracy := func(x, y candidate) int { return cmp.Compare(meanOf(y.after), meanOf(x.after)) }
	best := slices.MinFunc(list, byAccuracy)
	var tied, others []candidate
	for _, c := range list {
		if metrics.PairedDifference(best.after, c.after).Interval.Low > 0 {
			others = append(others, c)
		} else {
			tied = append(tied, c)
		}
	}
	slices.SortStableFunc(others, byAccuracy)
	return append(tied, others...), nil
}

// smallest returns the least number of samples from which all batches gained.
func smallest(table []Condition, folds []*Batch) int {
	least := len(slices.MaxFunc(folds, func(a, b *Batch) int { return len(a.Labels) - len(b.Labels) }).Labels)
	for _, row := range table {
		switch {
		case row.Samples == 0:
		case row.Mean <= 0:
			return least
		default:
			least = row.Samples
		}
	}
	return least
}

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
