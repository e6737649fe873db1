package comparison

import (
	"context"
	"maps"

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
	Test       float64            `json:"test_per_class_accuracy"` // mean over classes and seeds
	Interval   metrics.Interval   `json:"interval"`                // over classes
	Difference metrics.Difference `json:"difference"`              // transductive minus inductive
	Settings   []adapt.Settings   `json:"settings"`                // that validation chose, one for each part
}

// adaptedPart is a method adapted to the test classes of one part.
type adaptedPart struct {
	settings adapt.Settings
	accuracy map[string]float64 // by class, mean over seeds
}

// adaptMethods adapts the models of each method.
func adaptMethods(ctx context.Context, l *lab.Lab, methods []Method) error {
	done := map[string]*adaptedPart{} // by folder of a run: the row of LAGO has the models of a variant
	for i, m := range methods {
		l.Step("adapt %s", m.Name)
		a, accuracy := &Adapted{}, map[string]float64{}
		for _, o := range m.Outcomes {
			if err := ctx.Err(); err != nil {
				return err
			}
			first := o.Test[0].Dir
			if done[first] == nil {
				p, err := adaptPart(ctx, o)
				if err != nil {
					return err
				}
				done[first] = p
			}
			a.Settings = append(a.Settings, done[first].settings)
			maps.Copy(accuracy, done[first].accuracy)
		}
		after := make([]float64, len(m.Test.ByClass))
		for j, class := range m.Test.ClassNames {
			after[j] = accuracy[class]
		}
		a.Test, a.Interval, a.Difference = stat.Mean(after, nil), metrics.ClassInterval(after), metrics.PairedDifference(after, m.Test.ByClass)
		methods[i].Adapted, methods[i].adapted = a, after
	}
	return nil
}

// adaptPart chooses the settings over the folds of a part, on the dev runs, and adapts the
// models of the test stage.
func adaptPart(ctx context.Context, o *engine.Outcome) (*adaptedPart, error) {
	chosen, err := o.ChooseAdaptation(ctx)
	if err != nil {
		return nil, err
	}
	p := &adaptedPart{chosen.Adaptation.Settings, map[string]float64{}}
	data := o.Part.Data
	for _, path := range lab.ModelFiles(o.Test) {
		adapted, err := adaptation.ClassAccuracy(path, data, data.Split.Test)
		if err != nil {
			return nil, err
		}
		for i, z := range data.Split.Test {
			p.accuracy[data.Classes[z]] += adapted[i] / float64(len(o.Test))
		}
	}
	return p, nil
}
