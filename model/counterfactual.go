package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Counterfactual is the prediction if one attribute were detected for sure, or not at
// all.
type Counterfactual struct {
	Attribute int
	From, To  float64 // p(a_m|x); To is 1 or 0
	LogOdds   float64 // between the two classes, after this change and those before it
	Predicted int     // candidate class, after this change and those before it
}

// Changes evaluates each single detection set to 1 and to 0, and returns the changes by
// how far they move the log odds between two classes, the furthest first. Detections
// that already have the value are left out.
func (e *Explainer) Changes(a []float64, class, against int) ([]Counterfactual, error) {
	now, err := e.logPOf(a, class, against)
	if err != nil {
		return nil, err
	}
	list, err := e.single(a, class, against, nil)
	if err != nil {
		return nil, err
	}
	odds := now[class] - now[against]
	slices.SortStableFunc(list, func(x, y Counterfactual) int {
		return cmp.Compare(math.Abs(y.LogOdds-odds), math.Abs(x.LogOdds-odds))
	})
	return list, nil
}

// Flip looks for at most limit changes after which against is ahead of class. The search
// is greedy: each change is the one that lowers the log odds most, given those before
// it, and changes that turn out not to be needed are removed. It finds one change where
// one is enough; of several, there may be a smaller set. If found is false, the changes
// are those tried.
func (e *Explainer) Flip(a []float64, class, against, limit int) (changes []Counterfactual, found bool, err error) {
	now, err := e.logPOf(a, class, against)
	if err != nil {
		return nil, false, err
	}
	odds, at := now[class]-now[against], slices.Clone(a)
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

// single evaluates each single change, except of attributes changed before.
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
	return list, e.evaluate(changed, class, against, list)
}

// evaluate fills in the outcome of each change. A row of changed is the sample after it.
func (e *Explainer) evaluate(changed dataset.Matrix[float64], class, against int, list []Counterfactual) error {
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

// prune removes changes as long as the others still put against ahead, and evaluates
// those that are left one after the other.
func (e *Explainer) prune(a []float64, class, against int, changes []Counterfactual) ([]Counterfactual, error) {
	for i := 0; i < len(changes); {
		less := slices.Delete(slices.Clone(changes), i, i+1)
		if err := e.evaluateInTurn(a, class, against, less); err != nil {
			return nil, err
		}
		if len(less) > 0 && less[len(less)-1].LogOdds < 0 {
			changes = less
		} else {
			i++
		}
	}
	return changes, e.evaluateInTurn(a, class, against, changes)
}

// evaluateInTurn evaluates the sample after the first change, after the first two, and
// so on.
func (e *Explainer) evaluateInTurn(a []float64, class, against int, changes []Counterfactual) error {
	after := dataset.NewMatrix[float64](len(changes), len(a))
	at := slices.Clone(a)
	for i, c := range changes {
		at[c.Attribute] = c.To
		copy(after.Row(i), at)
	}
	return e.evaluate(after, class, against, changes)
}
