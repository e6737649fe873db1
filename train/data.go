package train

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/mapped"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Data is shared by the trials of one stage and one preprocessing, so that the features
// are in memory once.
type Data struct {
	Dataset   *dataset.Dataset
	Transform *preprocess.Transform // fitted on the training samples

	TrainClasses      []int // classes trained on
	EvaluationClasses []int // val or test classes
	train             Samples
	evaluation        Samples
	shared            *baseline.Cache // between baselines that train on them
}

// Prepare selects the samples of a stage and preprocesses their features. With
// preprocess.None the features are not copied.
func Prepare(d *dataset.Dataset, o Preparation) (*Data, error) {
	p := &Data{Dataset: d, shared: new(baseline.Cache)}
	switch o.Stage {
	case Dev:
		p.TrainClasses, p.EvaluationClasses = d.Split.Train, d.Split.Val
	case Test:
		p.TrainClasses, p.EvaluationClasses = d.Split.Seen(), d.Split.Test
	default:
		return nil, o.Stage.check()
	}
	train, evaluation := Select(d, d.Features, p.TrainClasses), Select(d, d.Features, p.EvaluationClasses)
	if o.HoldOut {
		if d.TestSeen == nil {
			return nil, &invalid.Error{
				Field: "hold_out", Want: "a data set with held-out samples of seen classes (test_seen_loc)", Got: "none in " + d.Name,
			}
		}
		train, evaluation = train.Without(d.TestSeen), evaluation.Without(d.TestSeen)
	}
	var err error
	if p.Transform, err = preprocess.Fit(o.Preprocess, o.Ridge, d.Features, train.Rows); err != nil {
		return nil, err
	}
	if len(d.Features.Data) >= mapped.Large {
		debug.FreeOSMemory() // of the fit and of other stages, before the features are copied
	}
	if p.train, err = p.preprocess(train); err != nil {
		return nil, err
	}
	p.evaluation, err = p.preprocess(evaluation)
	return p, err
}

func (p *Data) preprocess(s Samples) (Samples, error) {
	if p.Transform.Identity() {
		return s, nil
	}
	x, err := p.Transform.Apply(s.X, s.Rows)
	if err != nil {
		return s, err
	}
	s.X, s.Rows = x, x.AllRows()
	return s, nil
}

// task is what a trainer of the stage gets, which never includes the test classes.
func (p *Data) task(stage Stage) task {
	k := task{train: p.train, trainClasses: p.Dataset.Describe(p.TrainClasses), groups: p.Dataset.GroupOf(), preprocessing: p.Transform}
	if stage == Dev {
		k.val, k.valClasses = p.evaluation, p.Dataset.Describe(p.EvaluationClasses)
	}
	return k
}

// Samples are rows of a feature matrix with the class of each.
type Samples struct {
	X      dataset.Matrix[float32] // features; shared, never written
	Rows   []int                   // of X
	Labels []int                   // one per row, an index into the train, val or test classes
}

// Select returns the samples of the given classes, labelled by their place in
// that list. x holds the features of all samples of d, preprocessed or not.
func Select(d *dataset.Dataset, x dataset.Matrix[float32], classes []int) Samples {
	place := make(map[int]int, len(classes))
	for i, z := range classes {
		place[z] = i
	}
	s := Samples{X: x, Rows: d.SamplesOf(classes)}
	s.Labels = make([]int, len(s.Rows))
	for i, row := range s.Rows {
		s.Labels[i] = place[d.Labels[row]]
	}
	return s
}

// Without returns the samples except some rows of X, in ascending order.
func (s Samples) Without(rows []int) Samples {
	left := Samples{X: s.X}
	for i, row := range s.Rows {
		if _, out := slices.BinarySearch(rows, row); !out {
			left.Rows, left.Labels = append(left.Rows, row), append(left.Labels, s.Labels[i])
		}
	}
	return left
}

// recorded is the number of train samples on which the accuracy of each epoch is recorded.
// On all of them it takes a fifth of the time of a run.
const recorded = 1000

// atMost returns up to n of the samples, evenly spaced.
func (s Samples) atMost(n int) Samples {
	step := max((s.Len()+n-1)/n, 1)
	some := Samples{X: s.X}
	for i := 0; i < s.Len(); i += step {
		some.Rows, some.Labels = append(some.Rows, s.Rows[i]), append(some.Labels, s.Labels[i])
	}
	return some
}

// Len returns the number of samples.
func (s Samples) Len() int { return len(s.Rows) }

// gather copies samples, by their place in s, into the first rows of to.
func (s Samples) gather(to dataset.Matrix[float32], places []int) {
	for i, p := range places {
		copy(to.Row(i), s.X.Row(s.Rows[p]))
	}
}

// shuffled returns 0..n-1 in an order that depends on the seed, the epoch and the phase
// alone, so that a resumed run is bit-identical to an uninterrupted one.
func shuffled(n int, seed uint64, epoch, phase int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch)<<8|uint64(phase))).Perm(n)
}

// labels returns the labels of samples by their place.
func (s Samples) labels(places []int) []int {
	l := make([]int, len(places))
	for i, p := range places {
		l[i] = s.Labels[p]
	}
	return l
}
