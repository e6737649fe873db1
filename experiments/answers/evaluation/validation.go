package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/answers/decision"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
)

// devRun returns the run to validate with, or says why there is none.
func (q Request) devRun() (dev *predictor.Model, missing string) {
	if q.Split == ValSplit {
		return nil, "the validation classes themselves are evaluated"
	}
	if q.Dev != nil {
		return q.Dev, ""
	}
	dev, err := devRun(q.Model)
	if err == nil {
		err = invalid.At("the run of the dev stage beside "+q.Model.Dir()+" cannot validate",
			q.checkModel(dev, true))
	}
	if err != nil {
		return nil, err.Error()
	}
	return dev, ""
}

// devRun returns the model itself if it is of the dev stage, otherwise that of the run of the dev stage
// beside it that has the same settings except epochs and patience. Of several it is the one with
// the most epochs.
func devRun(model *predictor.Model) (*predictor.Model, error) {
	if model.Trial.Stage == train.Dev {
		return model, nil
	}
	runs, err := lab.ReadRuns(filepath.Dir(model.Dir()))
	if err != nil {
		return nil, err
	}
	name := model.Trial.Name()
	runs = slices.DeleteFunc(runs, func(r lab.Run) bool {
		same := r.Trial
		same.Stage, same.Epochs, same.Patience = model.Trial.Stage, model.Trial.Epochs, model.Trial.Patience
		return r.Stage != train.Dev || r.Missing != nil || same.Name() != name
	})
	if len(runs) == 0 {
		return nil, fmt.Errorf("no finished run of the dev stage with the settings of %s was found beside "+
			"it (run --stage full trains both unless there are fewer than %d validation classes, run "+
			"--stage dev one; --dev gives another)", model.Dir(), check.FewVal)
	}
	longest := slices.MaxFunc(runs, func(a, b lab.Run) int {
		return cmp.Or(cmp.Compare(a.Epochs, b.Epochs), cmp.Compare(a.Patience, b.Patience))
	})
	return ReadModel(filepath.Join(longest.Dir, train.ModelFile))
}

// adapt evaluates the model adapted to the samples. A model without the settings gets them
// from the run of the dev stage.
func (q Request) adapt(ctx context.Context, r *Result, dev *predictor.Model, missing string) (err error) {
	model := q.Model
	if q.Split == ValSplit {
		dev = q.Model
		r.note("the settings of the adaptation were chosen on these classes: its accuracy is optimistic")
	}
	if _, none := model.AdaptationSettings(); none != nil {
		if dev == nil {
			return errors.Join(none, errors.New(missing))
		}
		chosen, err := decision.Choose(ctx, []decision.Fold{
			{Model: dev.Path, Data: q.Data, HoldOut: dev.Trial.HoldOut},
		})
		if err != nil {
			return err
		}
		if err := decision.SetAdaptation(model.Saved, q.Data, chosen.Adaptation); err != nil {
			return err
		}
	}
	s := train.Samples{X: q.Data.Features, Rows: r.scored.rows, Labels: r.scored.labels}
	r.Adapted, err = decision.Evaluate(model.Saved, s, r.scored.scores)
	return err
}
