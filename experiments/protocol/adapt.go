package protocol

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// ChooseAdaptation chooses temperature and tau of the adaptation to unlabelled samples on
// the validation classes of the dev runs of one method, one model per view, and stores them
// in the models of all runs. Without a dev run it does nothing.
func ChooseAdaptation(ctx context.Context, views []lab.View, runs []lab.Run) (*train.Adaptation, error) {
	var folds []adaptation.Fold
	for _, v := range views {
		i := slices.IndexFunc(runs, func(r lab.Run) bool { return r.Stage == train.Dev && r.Fingerprint == v.Fingerprint })
		if i >= 0 { // further seeds have the same validation samples
			folds = append(folds, adaptation.Fold{Model: filepath.Join(runs[i].Dir, train.ModelFile), Data: v.Data, HoldOut: runs[i].HoldOut})
		}
	}
	return adaptation.ChooseAndStore(ctx, folds, ModelFiles(runs))
}

// Adapt sets o.Adaptation to the settings in the models of its runs or, where a model has
// none, to new ones from ChooseAdaptation, which can take as long as a few epochs: it calls
// onChoose before.
func (o *Outcome) Adapt(ctx context.Context, l *lab.Lab, onChoose func()) error {
	var runs []lab.Run
	for _, dir := range o.RunDirs {
		r, _, err := lab.ReadRun(dir)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	var err error
	o.Adaptation, err = adaptation.Stored(ModelFiles(runs))
	if err != nil || o.Adaptation != nil || !slices.ContainsFunc(runs, func(r lab.Run) bool { return r.Stage == train.Dev }) {
		return err
	}
	onChoose()
	o.Adaptation, err = ChooseAdaptation(ctx, l.Parts, runs)
	return err
}
