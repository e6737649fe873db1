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
		for _, r := range runs {
			if r.Stage != train.Dev || r.Fingerprint != v.Fingerprint {
				continue
			}
			saved, err := train.Load(filepath.Join(r.Dir, train.ModelFile))
			if err != nil {
				return nil, err
			}
			folds = append(folds, adaptation.Fold{Model: saved, Data: v.Data, HoldOut: r.HoldOut})
			break // further seeds have the same validation samples
		}
	}
	if len(folds) == 0 {
		return nil, nil
	}
	chosen, err := adaptation.ChooseOn(ctx, folds)
	if err != nil {
		return nil, err
	}
	return chosen, adaptation.Store(views[0].Data, ModelFiles(runs), chosen)
}

// Adapt sets o.Adaptation to the settings in the models of its runs or, where a model has
// none, to new ones from ChooseAdaptation, which can take as long as a few epochs: it calls
// onChoose before.
func (o *Outcome) Adapt(ctx context.Context, l *lab.Lab, onChoose func()) error {
	var runs []lab.Run
	complete := true
	for _, dir := range o.RunDirs {
		r, _, err := lab.ReadRun(dir)
		if err != nil {
			return err
		}
		saved, err := train.Load(filepath.Join(dir, train.ModelFile))
		if err != nil {
			return err
		}
		complete = complete && saved.Adaptation != nil
		o.Adaptation = saved.Adaptation
		runs = append(runs, r)
	}
	if complete || !slices.ContainsFunc(runs, func(r lab.Run) bool { return r.Stage == train.Dev }) {
		return nil
	}
	onChoose()
	var err error
	o.Adaptation, err = ChooseAdaptation(ctx, l.Parts, runs)
	return err
}
