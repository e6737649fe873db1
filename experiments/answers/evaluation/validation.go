package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
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
		chosen, err := predictor.Choose(ctx, []predictor.Fold{
			{Model: dev.Path, Data: q.Data, HoldOut: dev.Trial.HoldOut},
		})
		if err != nil {
			return err
		}
		if err := predictor.SetAdaptation(model.Saved, q.Data, chosen.Adaptation); err != nil {
			return err
		}
	}
	s := train.Samples{X: q.Data.Features, Rows: r.scored.rows, Labels: r.scored.labels}
	r.Adapted, err = adapted(model.Saved, s, r.scored.scores)
	return err
}

// Transductive compares inductive predictions, each sample by itself, with transductive ones,
// adapted to the batch. Accuracies are fractions.
type Transductive struct {
	PerClass   float64            `json:"per_class_accuracy"`
	PerSample  float64            `json:"per_sample_accuracy"`
	Interval   metrics.Interval   `json:"interval"`   // over classes
	Difference metrics.Difference `json:"difference"` // transductive minus inductive, over classes
	adapt.Settings
	Changed int `json:"changed"` // number of predictions
	// whether nothing was adapted, since most candidates seem to be absent
	Declined bool   `json:"declined"`
	Rounds   int    `json:"rounds"`            // of EM
	Warning  string `json:"warning,omitempty"` // why nothing is adapted

	inductive metrics.Accuracy
	interval  metrics.Interval // of inductive.PerClass
}

// adapted adapts a model with settings to labelled samples that it has scored.
func adapted(m *train.Saved, s train.Samples, scores dataset.Matrix[float32]) (*Transductive, error) {
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	if err != nil {
		return nil, err
	}
	a := m.Decision.Adaptation
	fitted, err := predictor.Adapt([]adapt.Block{{X: x.Gather(x.AllRows()), Scores: scores}}, a.Settings)
	if err != nil {
		return nil, err
	}
	tally, alone := metrics.Count(fitted.P, s.Labels), metrics.Count(scores, s.Labels)
	before, after, accuracy := alone.Recall(), tally.Recall(), tally.Accuracy()
	return &Transductive{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: fitted.Changed, Declined: fitted.Declined, Rounds: len(fitted.Objective) - 1,
		Warning:   predictor.AdaptationWarning(a),
		inductive: alone.Accuracy(), interval: metrics.ClassInterval(before),
	}, nil
}

// Table compares the predictions.
func (r *Transductive) Table() *table.Table {
	title := fmt.Sprintf("Adapted to the unlabelled batch (transductive): temperature %.3g, "+
		"tau %g, %s, %s changed",
		r.Temperature, r.Tau, format.Count(r.Rounds, "round"), format.Count(r.Changed, "prediction"))
	t := table.New(title, "predictions", "per class", "95 % over classes", "per sample").Right(2, 3, 4)
	t.Row("inductive", format.Percent(r.inductive.PerClass), r.interval,
		format.Percent(r.inductive.PerSample))
	t.Row("transductive", format.Percent(r.PerClass), r.Interval, format.Percent(r.PerSample))
	t.Row("difference", format.Points(r.Difference.Mean), r.Difference.Interval,
		format.Points(r.PerSample-r.inductive.PerSample))
	t.Note("p = %.2g by paired permutation over classes", r.Difference.P)
	if r.Warning != "" {
		t.Note("Warning: %s.", r.Warning)
	}
	if r.Declined {
		t.Note("Not adapted: most of the candidate classes seem to be absent.")
	}
	return t
}
