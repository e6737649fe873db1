package decision

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
)

// ChooseForOutcome chooses on the validation classes of an outcome, by the dev run of one seed for each fold,
// since further seeds have the same samples, and stores what it chose in the models of all runs of the
// outcome. Without a dev stage it does nothing.
func ChooseForOutcome(ctx context.Context, o *engine.Outcome) (*Chosen, error) {
	var folds []Fold
	for _, v := range o.Folds {
		i := slices.IndexFunc(o.Val, func(r lab.Run) bool { return r.Fingerprint == v.Fingerprint })
		if i >= 0 {
			folds = append(folds, Fold{Model: lab.ModelFiles(o.Val[i : i+1])[0], Data: v.Data, HoldOut: o.Val[i].HoldOut})
		}
	}
	return ChooseAndStore(ctx, folds, lab.ModelFiles(slices.Concat(o.Val, o.Test)))
}
