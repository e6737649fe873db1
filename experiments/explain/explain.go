package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

const (
	mostLikely = 5  // classes that are told
	flipLimit  = 20 // changes in a set that flips
)

// asked is a question to a model.
type asked struct {
	Question
	model     *train.Saved
	lago      *model.LAGO
	explainer *model.Explainer
	a         []float64 // p(a_m|x)
	logP      []float64 // of the candidates
	order     []int     // the candidates, the likeliest first
}

// Explain answers a question. Where the prediction is wrong and nothing else was
// asked for, it is compared with the runner-up and with the true class.
func Explain(m *train.Saved, q Question) (*Explanation, error) {
	w, err := ask(m, q)
	if err != nil {
		return nil, err
	}
	x := &Explanation{
		Dataset: m.Dataset, Variant: w.lago.Config.Variant, Prior: w.lago.Config.Prior, Complement: w.lago.Config.Complement,
		Attributes: len(m.Attributes), Sample: q.Sample, Among: q.Candidates.What, Classes: len(q.Candidates.Names),
		Predicted: q.Candidates.Names[w.order[0]],
	}
	for rank := range min(mostLikely, len(w.order)) {
		x.Likely = append(x.Likely, w.odds(rank))
	}
	label := w.label()
	if label >= 0 {
		odds, correct := w.odds(slices.Index(w.order, label)), label == w.order[0]
		x.LabelAt, x.Correct = &odds, &correct
	}
	pairs, err := w.pairs(label)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		c, err := w.compare(p.against, p.why)
		if err != nil {
			return nil, err
		}
		x.Comparisons = append(x.Comparisons, *c)
	}
	return x, nil
}

// ask judges the sample.
func ask(m *train.Saved, q Question) (*asked, error) {
	lago, err := m.LAGO("explain")
	if err != nil {
		return nil, err
	}
	if err := q.Candidates.check(); err != nil {
		return nil, err
	}
	w := &asked{Question: q, model: m, lago: lago}
	if w.explainer, err = lago.Explainer(q.Candidates.U); err != nil {
		return nil, err
	}
	if w.a, err = lago.DetectOne(q.X, q.Row); err != nil {
		return nil, err
	}
	l, err := w.explainer.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(w.a), Data: w.a})
	if err != nil {
		return nil, err
	}
	w.logP = l.Data
	for z := range w.logP {
		w.order = append(w.order, z)
	}
	slices.SortStableFunc(w.order, func(x, y int) int { return cmp.Compare(w.logP[y], w.logP[x]) })
	return w, nil
}

// odds is how sure the model is of the candidate of a rank, from 0.
func (w *asked) odds(rank int) Odds {
	z := w.order[rank]
	return Odds{Class: w.Candidates.Names[z], Rank: rank + 1, P: math.Exp(w.logP[z]), LogP: w.logP[z]}
}

// label is the sample's class among the candidates, -1 where it is not known or not
// one of them.
func (w *asked) label() int {
	if w.Sample.Label == nil {
		return -1
	}
	return slices.Index(w.Candidates.Names, *w.Sample.Label)
}

// pair is a class to compare the predicted one with.
type pair struct {
	against int
	why     Why
}

func (w *asked) pairs(label int) ([]pair, error) {
	predicted, runnerUp := w.order[0], w.order[1]
	if w.Against != "" {
		z, err := findClass(w.Candidates, w.Against)
		if err != nil {
			return nil, err
		}
		if z == predicted {
			return nil, fmt.Errorf("explain: against: expected another class than the predicted one, found %s; the runner-up is %s",
				quote(w.Candidates.Names[z]), quote(w.Candidates.Names[runnerUp]))
		}
		return []pair{{z, Asked}}, nil
	}
	list := []pair{{runnerUp, RunnerUp}}
	switch label {
	case -1, predicted:
	case runnerUp:
		list[0].why = TrueClass
	default:
		list = append(list, pair{label, TrueClass})
	}
	return list, nil
}
