package train

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Data is what the trials of one stage and one preprocessing share: the features
// are in memory once, whatever the number of trials that read them.
type Data struct {
	Dataset   *dataset.Dataset
	Transform *preprocess.Transform // fitted on the samples that are learned from

	Learned    []int // classes that are learned from
	Evaluation []int // classes that are judged: val or test
	train      Samples
	judge      Samples
	shared     *baseline.Cache // between baselines that learn from them
}

// Prepare selects the samples of a stage and preprocesses their features. With
// preprocess.None they stay where they are in the data set.
func Prepare(d *dataset.Dataset, o Preparation) (*Data, error) {
	p := &Data{Dataset: d, shared: new(baseline.Cache)}
	switch o.Stage {
	case Dev:
		p.Learned, p.Evaluation = d.Split.Train, d.Split.Val
	case Test:
		p.Learned, p.Evaluation = d.Split.Seen(), d.Split.Test
	default:
		return nil, fmt.Errorf("train: stage: expected dev or test, found %q", o.Stage)
	}
	learned := Select(d, d.Features, p.Learned)
	if o.HoldOut {
		if d.TestSeen == nil {
			return nil, fmt.Errorf("train: hold_out: expected a data set that names the samples of seen classes to hold out (test_seen_loc), found none in %s", d.Name)
		}
		learned = learned.without(d.TestSeen)
	}
	var err error
	if p.Transform, err = preprocess.Fit(o.Preprocess, o.Ridge, d.Features, learned.Rows); err != nil {
		return nil, err
	}
	if p.train, err = p.preprocess(learned); err != nil {
		return nil, err
	}
	p.judge, err = p.preprocess(Select(d, d.Features, p.Evaluation))
	return p, err
}

func (p *Data) preprocess(s Samples) (Samples, error) {
	if p.Transform.Kind == preprocess.None {
		return s, nil
	}
	x, err := p.Transform.Apply(s.X, s.Rows)
	if err != nil {
		return s, err
	}
	s.X, s.Rows = x, inOrder(s.Len())
	return s, nil
}

// problem is what a trainer of this stage is given: the test classes stay out of
// its sight.
func (p *Data) problem(stage Stage) Problem {
	q := Problem{Train: p.train, TrainClasses: p.Dataset.Describe(p.Learned), Semantic: p.Dataset.GroupOf()}
	if stage == Dev {
		q.Val, q.ValClasses = p.judge, p.Dataset.Describe(p.Evaluation)
	}
	return q
}
