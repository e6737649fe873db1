package comparison

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// Adapted is the accuracy of a method that is adapted to the unlabelled samples of the
// evaluated classes (transductive), as fractions.
type Adapted struct {
	Method     string             `json:"method"`
	Test       float64            `json:"test_per_class_accuracy"` // mean over classes and seeds
	Interval   metrics.Interval   `json:"interval"`                // over classes
	Difference metrics.Difference `json:"difference"`              // transductive minus inductive
	Settings   []adapt.Settings   `json:"settings"`                // that validation chose, one for each part
}

// adaptedPart is a method adapted to the test classes of one part.
type adaptedPart struct {
	settings adapt.Settings
	byClass  []float64 // mean over seeds
}

// adapt adapts the models of each method, and compares them.
func (r *Result) adapt(ctx context.Context, l *lab.Lab) error {
	parts := map[string]adaptedPart{} // by folder of a run: the row of LAGO has the models of a variant
	var accuracies [][]float64
	for _, m := range r.Methods {
		l.Step("adapt %s", m.Name)
		a := Adapted{Method: m.Name}
		var after []float64
		for _, o := range m.Outcomes {
			if err := ctx.Err(); err != nil {
				return err
			}
			p, done := parts[o.Test[0].Dir]
			if !done {
				var err error
				if p, err = adaptPart(ctx, o); err != nil {
					return err
				}
				parts[o.Test[0].Dir] = p
			}
			a.Settings, after = append(a.Settings, p.settings), append(after, p.byClass...)
		}
		a.Test, a.Interval, a.Difference = stat.Mean(after, nil), metrics.ClassInterval(after), metrics.PairedDifference(after, m.Test.ByClass)
		r.Adapted, accuracies = append(r.Adapted, a), append(accuracies, after)
	}
	r.AdaptedDifferences = r.differences(accuracies, func(int, int) []float64 { return nil })
	return nil
}

// adaptPart chooses the settings over the folds of a part, on the dev runs, and adapts the
// models of the test stage.
func adaptPart(ctx context.Context, o *engine.Outcome) (p adaptedPart, err error) {
	chosen, err := o.ChooseAdaptation(ctx)
	if err != nil {
		return p, err
	}
	p.settings = chosen.Adaptation.Settings
	data := o.Part.Data
	mean := make([]float64, len(data.Split.Test))
	for _, path := range lab.ModelFiles(o.Test) {
		adapted, err := adaptation.ClassAccuracy(path, data, data.Split.Test)
		if err != nil {
			return p, err
		}
		floats.AddScaled(mean, 1/float64(len(o.Test)), adapted)
	}
	for i, z := range data.Split.Test {
		if data.SamplesPerClass()[z] > 0 {
			p.byClass = append(p.byClass, mean[i])
		}
	}
	return p, nil
}
