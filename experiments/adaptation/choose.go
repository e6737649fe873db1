package adaptation

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
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

// batch is samples with the scores of a model.
type batch struct {
	adapt.Block       // preprocessed features, and scores
	labels      []int // columns of the scores
	classes     []int // of the columns, by which choose knows those that are in several folds
}

// score returns samples with their scores for the classes that u describes.
func score(m *train.Saved, s train.Samples, u dataset.Matrix[float64]) (*batch, error) {
	scores, err := model.Score(m, s.X, s.Rows, u)
	if err != nil {
		return nil, err
	}
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	return &batch{Block: adapt.Block{X: x, Scores: scores}, labels: s.Labels}, err
}

// pick returns a normalised copy of some samples.
func (b *batch) pick(rows []int) *batch {
	s := &batch{Block: adapt.Block{X: b.X.Gather(rows), Scores: b.Scores.Gather(rows)}, classes: b.classes}
	for _, r := range rows {
		s.labels = append(s.labels, b.labels[r])
	}
	adapt.Normalise([]adapt.Block{s.Block})
	return s
}

// before is the accuracy by class of the scores.
func (b *batch) before() []float64 { return metrics.ClassAccuracy(b.Scores, b.labels) }

// after is the accuracy by class after adaptation; b is normalised.
func (b *batch) after(ctx context.Context, s adapt.Settings) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := adapt.Fit([]adapt.Block{b.Block}, s)
	if err != nil {
		return nil, err
	}
	return metrics.ClassAccuracy(r.P, b.labels), nil
}

// choose chooses temperature and tau on samples of validation classes, and a kind of features:
// kinds has one batch per fold for each, with the same samples and scores. Settings are ruled out
// if the 95 % interval of their gain over classes includes 0, or if they lose with absent or
// imbalanced classes. Of the finalists, the most accurate settings, the one whose smallest gain
// over these conditions is the largest is chosen; if all are ruled out, the next most accurate
// one that is not. If there is none, Tau is 0.
func choose(ctx context.Context, kinds [][]*batch) (a *train.Adaptation, kind int, err error) {
	a = &train.Adaptation{Settings: adapt.Settings{Temperature: 1}}
	whole := make([][]*batch, len(kinds))
	r := rand.New(rand.NewPCG(13, 0))
	scale := 0.0
	var before []float64
	for i, b := range kinds[0] {
		rows := r.Perm(len(b.labels))
		for k := range kinds {
			whole[k] = append(whole[k], kinds[k][i].pick(rows[:min(maxSamples, len(rows))]))
		}
		before = append(before, whole[0][i].before()...)
		a.Samples += len(b.labels)
		t, err := metrics.FitTemperature(whole[0][i].Scores, whole[0][i].labels)
		if err != nil {
			scale = math.NaN() // scores at chance, or without a mistake
		}
		scale += t / float64(len(kinds[0]))
	}
	a.Before = meanOf(before)
	a.After = a.Before
	perClass := byClass(whole[0], before)
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
		folds := whole[c.kind]
		gain := metrics.PairedDifference(byClass(folds, c.after), perClass)
		if !(gain.Interval.Low > 0) {
			continue
		}
		table, err := stress(ctx, folds, c.Settings, choiceDraws)
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
			a.Settings, a.After, a.Interval, a.Smallest = c.Settings, meanOf(c.after), gain.Interval, smallest(table, folds)
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
func rank(ctx context.Context, kinds [][]*batch, scale float64) ([]candidate, error) {
	var list []candidate
	for kind, folds := range kinds {
		for _, tau := range taus {
			for _, t := range temperatures {
				c := candidate{Settings: adapt.Settings{Temperature: t * scale, Tau: tau}, kind: kind}
				for _, f := range folds {
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
	keep    func(rank, classes int) float64 // the share kept of the class with a random rank; nil is 1
}

func present(is bool) float64 {
	if is {
		return 1
	}
	return 0
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

// stress adapts to random batches from each of some batches, draws for each condition:
// classes that are absent but still candidates, geometrically imbalanced classes, and few
// samples. Conditions for which there are not more samples are left out.
func stress(ctx context.Context, folds []*batch, s adapt.Settings, draws int) ([]Condition, error) {
	var table []Condition
	for i, c := range conditions {
		row := Condition{Name: c.name, Samples: c.samples, Worst: math.Inf(1)}
		for f, fold := range folds {
			if len(fold.labels) <= c.samples {
				continue
			}
			for draw := range draws {
				r := rand.New(rand.NewPCG(uint64(draw), uint64(i*len(folds)+f)))
				b := fold.pick(c.draw(fold, r))
				after, err := b.after(ctx, s)
				if err != nil {
					return nil, err
				}
				change := meanOf(after) - meanOf(b.before())
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

// draw returns the rows of a random batch.
func (c condition) draw(b *batch, r *rand.Rand) []int {
	rank := r.Perm(b.Scores.Cols)
	var rows, others []int
	for _, i := range r.Perm(len(b.labels)) {
		switch {
		case c.samples > 0 && len(rows) == c.samples:
		case c.keep == nil || r.Float64() < c.keep(rank[b.labels[i]], b.Scores.Cols):
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
