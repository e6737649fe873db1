package engine

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// BaselineArm is the arm of a baseline with its defaults and, of common, the preprocessing and
// what all methods have.
func BaselineArm(name string, common config.Config, tune int) (Arm, error) {
	e, err := methods.Find(name)
	if err != nil {
		return Arm{}, err
	}
	c := common.WithMethodOf(config.Defaults(e.Default()))
	return Arm{Name: e.Name, Title: e.Title, Starts: []config.Config{c}, Tune: tune}, nil
}

// SearchedBudget is the number of settings that a baseline tries beside variants that are not
// searched.
const SearchedBudget = 16

// RunFull carries out the full protocol for variants with their settings, and for baselines,
// which try SearchedBudget settings with the preprocessing, seeds, epochs, patience and held-out
// samples of like.
func RunFull(ctx context.Context, l *lab.Lab, variants []config.Config, baselines []string, like config.Config) (*Result, error) {
	p := Plan{Stage: config.DevThenTest}
	for _, c := range variants {
		p.Arms = append(p.Arms, Arm{Name: c.Method.Label(), Title: c.Method.Variant().Info().Title, Starts: []config.Config{c}})
	}
	for _, name := range baselines {
		arm, err := BaselineArm(name, like, SearchedBudget)
		if err != nil {
			return nil, err
		}
		arm.Fixed = []string{"preprocess", "ridge"}
		p.Arms = append(p.Arms, arm)
	}
	return Run(ctx, l, p)
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
// Without variants it is otherwise.
func ForBaselines(variants []config.Config, otherwise config.Config) config.Config {
	for i, c := range variants {
		if i == 0 || c.Method.Variant() == model.SemanticHard {
			otherwise = c
		}
	}
	return otherwise
}

// ChooseAdaptation chooses the settings of the adaptation to unlabelled samples, and the
// temperature of the probabilities, on the validation classes of the outcome, by the dev run of one seed for each fold, since further
// seeds have the same samples, and stores them in the models of all its runs. Without a dev
// stage it does nothing.
func (o *Outcome) ChooseAdaptation(ctx context.Context) (*adaptation.Chosen, error) {
	var folds []adaptation.Fold
	for _, v := range o.Folds {
		i := slices.IndexFunc(o.Val, func(r lab.Run) bool { return r.Fingerprint == v.Fingerprint })
		if i >= 0 {
			folds = append(folds, adaptation.Fold{Model: lab.ModelFiles(o.Val[i : i+1])[0], Data: v.Data, HoldOut: o.Val[i].HoldOut})
		}
	}
	return adaptation.ChooseAndStore(ctx, folds, lab.ModelFiles(slices.Concat(o.Val, o.Test)))
}
