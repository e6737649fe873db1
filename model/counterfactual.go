package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Counterfactual is what would have been had one attribute been detected otherwise.
type Counterfactual struct {
	Attribute int
	From, To  float64 // p(a_m|x); To is 1 or 0
	LogOdds   float64 // between the two classes, after this change and those before it
	Predicted int     // of the classes at hand, after them
}

// Changes judges the sample anew for each single detection set to 1 and to 0, and
// returns them by how far they move the log odds between two classes, the furthest
// first. Detections that are there already are left out.
func (e *Explainer) Changes(a []float64, class, against int) ([]Counterfactual, error) {
	if err := e.checkPair(class, against); err != nil {
		return nil, err
	}
	now, err := e.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(a), Data: a})
	if err != nil {
		return nil, err
	}
	list, err := e.single(a, class, against, nil)
	if err != nil {
		return nil, err
	}
	odds := now.Data[class] - now.Data[against]
	slices.SortStableFunc(list, func(x, y Counterfactual) int {
		return cmp.Compare(math.Abs(y.LogOdds-odds), math.Abs(x.LogOdds-odds))
	})
	return list, nil
}

// Flip looks for few changes after which against is ahead of class, at most limit of
// them. It is greedy: each is the one that lowers the log odds most, given those
// before; any that turns out not to be needed is taken back. Where one change is
// enough, one is found; of more, there may be a smaller set. found is false where
// none was, and the changes are then as far as it came.
func (e *Explainer) Flip(a []float64, class, against, limit int) (changes []Counterfactual, found bool, err error) {
	if err := e.checkPair(class, against); err != nil {
		return nil, false, err
	}
	now, err := e.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(a), Data: a})
	if err != nil {
		return nil, false, err
	}
	odds, at := now.Data[class]-now.Data[against], slices.Clone(a)
	for odds >= 0 && len(changes) < limit {
		list, err := e.single(at, class, against, changes)
		if err != nil {
			return nil, false, err
		}
		if len(list) == 0 {
			break
		}
		best := slices.MinFunc(list, func(x, y Counterfactual) int { return cmp.Compare(x.LogOdds, y.LogOdds) })
		if best.LogOdds >= odds {
			break
		}
		odds = best.LogOdds
		at[best.Attribute] = best.To
		changes = append(changes, best)
	}
	if odds >= 0 {
		return changes, false, nil
	}
	changes, err = e.prune(a, class, against, changes)
	return changes, true, err
}

// single judges the sample with each single detection changed, but for those of the
// attributes that were changed before.
func (e *Explainer) single(a []float64, class, against int, before []Counterfactual) ([]Counterfactual, error) {
	var list []Counterfactual
	for m, p := range a {
		if slices.ContainsFunc(before, func(c Counterfactual) bool { return c.Attribute == m }) {
			continue
		}
		for _, to := range []float64{1, 0} {
			if p != to {
				list = append(list, Counterfactual{Attribute: m, From: p, To: to})
			}
		}
	}
	changed := dataset.NewMatrix[float64](len(list), len(a))
	for i, c := range list {
		copy(changed.Row(i), a)
		changed.Row(i)[c.Attribute] = c.To
	}
	return list, e.judgeEach(changed, class, against, list)
}

// judgeEach fills in what comes of each change; a row of changed is the sample after
// it.
func (e *Explainer) judgeEach(changed dataset.Matrix[float64], class, against int, list []Counterfactual) error {
	l, err := e.LogP(changed)
	if err != nil {
		return err
	}
	for i := range list {
		row := l.Row(i)
		list[i].LogOdds = row[class] - row[against]
		list[i].Predicted = slices.Index(row, slices.Max(row))
	}
	return nil
}

// prune takes changes back as long as the rest of them still puts against ahead, and
// judges what is left one after the other.
func (e *Explainer) prune(a []float64, class, against int, changes []Counterfactual) ([]Counterfactual, error) {
	for i := 0; i < len(changes); {
		less := slices.Delete(slices.Clone(changes), i, i+1)
		if err := e.oneByOne(a, class, against, less); err != nil {
			return nil, err
		}
		if len(less) > 0 && less[len(less)-1].LogOdds < 0 {
			changes = less
		} else {
			i++
		}
	}
	return changes, e.oneByOne(a, class, against, changes)
}

// oneByOne judges the sample after the first change, after the first two, and so on.
func (e *Explainer) oneByOne(a []float64, class, against int, changes []Counterfactual) error {
	after := dataset.NewMatrix[float64](len(changes), len(a))
	at := slices.Clone(a)
	for i, c := range changes {
		at[c.Attribute] = c.To
		copy(after.Row(i), at)
	}
	return e.judgeEach(after, class, against, changes)
}
